/* record/disk.c: where results can be written, and how much of them. */
#include "record/disk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#define ELSEWHERE "--results DIR keeps runs in another folder"

bool record_disk_free(const char *folder, uint64_t *bytes)
{
    struct statvfs fs;

    if (statvfs(folder, &fs) < 0)
        return false;
    *bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    return true;
}

enum err_code record_say_elsewhere(const char *folder, struct err *e)
{
    size_t n = e ? strlen(e->text) : 0;

    if (e && (e->sys == ENOSPC || e->sys == EDQUOT))
        snprintf(e->text, sizeof e->text,
                 "nothing can be written in %.800s: %s; make room, or " ELSEWHERE, folder,
                 strerror(e->sys));
    else if (e && (e->sys == ENOENT || e->sys == EACCES || e->sys == EROFS))
        snprintf(e->text + n, sizeof e->text - n, "; " ELSEWHERE);
    return e ? e->code : ERR_IO;
}
