/* base/again.h: what a command that a sentence names must have behind it to mean the same results. */
#ifndef CHORUS_BASE_AGAIN_H
#define CHORUS_BASE_AGAIN_H

/* " --results DIR" as a shell takes it, or "" where a command without it finds the same folder.
 * Stands for as long as the program does. */
const char *again(void);
/* Before any thread is started. DIR is kept as it is; NULL: what a command without it takes. */
void again_set(const char *results);

#endif
