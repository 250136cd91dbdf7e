/* record/file/disk.h: the room that there is for results. */
#ifndef CHORUS_RECORD_FILE_DISK_H
#define CHORUS_RECORD_FILE_DISK_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes that this user may still write where the folder lies; false: nobody knows. */
bool record_disk_free(const char *folder, uint64_t *bytes);
/* An error at a run's folder, whatever was tried, as "nothing can be written in results: Read-only file
 * system" where it is that, or where this user may write to none of it; of a run that is another user's alone,
 * that nothing can be written in the run. Any other stays as it is, and so does that of a file which alone is
 * protected. Returns the error's code. */
enum err_code record_say_read_only(const char *run, struct err *e);
/* The same of a folder that lies deeper in the results, as a sweep's does. */
enum err_code record_say_read_only_in(const char *results, const char *folder, struct err *e);
/* The same of a new run in these results, with the advice that --results DIR keeps runs in another folder (a
 * run that is there is moved by no option); behind the words of a folder that is missing or not this user's
 * to write to it stands too, and of a full disk: "nothing can be written in results: No space left on device;
 * make room, or ...". */
enum err_code record_say_elsewhere(const char *folder, struct err *e);

#endif
