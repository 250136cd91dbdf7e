/* record/file/disk.c: where results can be written, and how much of them. */
#include "record/file/disk.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ELSEWHERE "--results DIR keeps runs in another folder"

bool record_disk_free(const char *folder, uint64_t *bytes)
{
    struct statvfs fs;

    if (statvfs(folder, &fs) < 0)
        return false;
    *bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    return true;
}

static void say_nothing_can(const char *folder, const char *next, struct err *e)
{
    snprintf(e->text, sizeof e->text, "nothing can be written in %.800s: %s%s", folder,
             strerror(e->sys), next);
}

/* Where a file alone is protected, its name is what must be said. */
static bool can_only_be_read(const char *folder, const struct err *e)
{
    return e->sys == EROFS || ((e->sys == EACCES || e->sys == EPERM) &&
                               faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0);
}

enum err_code record_say_read_only_in(const char *results, const char *folder, struct err *e)
{
    if (e && can_only_be_read(folder, e))
        say_nothing_can(can_only_be_read(results, e) ? results : folder, "", e);
    return e ? e->code : ERR_IO;
}

enum err_code record_say_read_only(const char *run, struct err *e)
{
    char *results = io_folder_of(run);
    enum err_code code = record_say_read_only_in(results, run, e);

    free(results);
    return code;
}

enum err_code record_say_elsewhere(const char *folder, struct err *e)
{
    size_t n = e ? strlen(e->text) : 0;

    if (e && (e->sys == ENOSPC || e->sys == EDQUOT))
        say_nothing_can(folder, "; make room, or " ELSEWHERE, e);
    else if (e && can_only_be_read(folder, e))
        say_nothing_can(folder, "; " ELSEWHERE, e);
    else if (e && (e->sys == ENOENT || e->sys == EACCES))
        snprintf(e->text + n, sizeof e->text - n, "; " ELSEWHERE);
    return e ? e->code : ERR_IO;
}
