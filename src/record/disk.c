/* record/disk.c: where results can be written, and how much of them. */
#include "record/disk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

bool record_disk_free(const char *folder, uint64_t *bytes)
{
    struct statvfs fs;

    if (statvfs(folder, &fs) < 0)
        return false;
    *bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    return true;
}

/* What the user's own folder lacks is said in place of the file that showed it. */
static void say(const char *folder, const char *room, struct err *e)
{
    snprintf(e->text, sizeof e->text,
             "nothing can be written in %.800s: %s; %s--results DIR keeps runs in another folder",
             folder, strerror(e->sys), room);
}

enum err_code record_say_read_only(const char *folder, struct err *e)
{
    if (e && (e->sys == EACCES || e->sys == EROFS))
        say(folder, "", e);
    return e ? e->code : ERR_IO;
}

enum err_code record_say_elsewhere(const char *folder, struct err *e)
{
    size_t n = e ? strlen(e->text) : 0;

    if (e && (e->sys == ENOSPC || e->sys == EDQUOT))
        say(folder, "make room, or ", e);
    else if (e && e->sys == ENOENT)
        snprintf(e->text + n, sizeof e->text - n, "; --results DIR keeps runs in another folder");
    return record_say_read_only(folder, e);
}
