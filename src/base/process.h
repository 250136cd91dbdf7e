/* base/process.h: marks files with the process that writes them, so that what a dead process left
 * can be told from what a living one still needs. */
#ifndef CHORUS_BASE_PROCESS_H
#define CHORUS_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* "HOST-PID" of this process, fit for a file's name: HOST has no '-', '.' or '/' and at most 16
 * characters. The caller frees it. */
char *process_mark(void);
/* The pid in "HOST-PID", or in "HOST-PID-MORE"; 0: the process runs on another machine, which may
 * share the folder, or this is no mark. */
int64_t process_pid(const char *mark);
/* The mark is of a process on this machine, and that process is dead. */
bool process_is_dead(const char *mark);

#endif
