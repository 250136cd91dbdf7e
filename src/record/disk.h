/* record/disk.h: the room that there is for results. */
#ifndef CHORUS_RECORD_DISK_H
#define CHORUS_RECORD_DISK_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes that this user may still write where the folder lies; false: nobody knows. */
bool record_disk_free(const char *folder, uint64_t *bytes);
/* An error of a new run with the advice that --results DIR keeps runs in another folder (a run that is
 * there is moved by no option): behind the words of a folder that is missing or not this user's to write
 * to; of a full disk in one sentence, "nothing can be written in results: No space left on device; make
 * room, or ...". Any other stays as it is. Returns the error's code. */
enum err_code record_say_elsewhere(const char *folder, struct err *e);

#endif
