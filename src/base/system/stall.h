/* base/system/stall.h: a terminal that takes nothing (Ctrl-S, a dead line) keeps nobody from obeying a signal: a
 * second after the signal, what waits to be written there is given up. */
#ifndef CHORUS_BASE_SYSTEM_STALL_H
#define CHORUS_BASE_SYSTEM_STALL_H

#include <stdbool.h>

void stall_start(void);        /* called by the main thread, before it handles signals */
void stall_terminal(int fd);   /* where it writes beside stdout and stderr; -1: nowhere else */
void stall_after_signal(void); /* called by signal handlers */
bool stall_has_given_up(void); /* a terminal; what is written there now goes nowhere */
/* Around what another thread writes to stdout or stderr, one thread at a time. */
void stall_writing(bool is);

#endif
