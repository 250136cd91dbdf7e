/* record/disk.h: the room that there is for results. */
#ifndef CHORUS_RECORD_DISK_H
#define CHORUS_RECORD_DISK_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes that this user may still write where the folder lies; false: nobody knows. */
bool record_disk_free(const char *folder, uint64_t *bytes);
/* An error of a folder that this user may not write to, as one sentence: "nothing can be written in
 * results: Read-only file system; --results DIR keeps runs in another folder". say_elsewhere: of a full
 * one too, and behind the words of one that is not there. Any other error stays as it is. Both return
 * its code. */
enum err_code record_say_read_only(const char *folder, struct err *e);
enum err_code record_say_elsewhere(const char *folder, struct err *e);

#endif
