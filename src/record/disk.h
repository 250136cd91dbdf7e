/* record/disk.h: the room that there is for results. */
#ifndef CHORUS_RECORD_DISK_H
#define CHORUS_RECORD_DISK_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that this user may still write where the folder lies; false: nobody knows. */
bool record_disk_free(const char *folder, uint64_t *bytes);

#endif
