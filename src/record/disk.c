#include "record/disk.h"

#include <sys/statvfs.h>

bool record_disk_free(const char *folder, uint64_t *bytes)
{
    struct statvfs fs;

    if (statvfs(folder, &fs) < 0)
        return false;
    *bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    return true;
}
