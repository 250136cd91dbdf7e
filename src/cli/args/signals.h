/* cli/args/signals.h: signals, as the main loop sees them. */
#ifndef CHORUS_CLI_ARGS_SIGNALS_H
#define CHORUS_CLI_ARGS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Signals. A verb that handles them calls cli_signals_start (others die of Ctrl-C as every program
 * does); threads are started between block and unblock, so that they never run a handler. The
 * handlers count and make cli_wake readable. */
extern volatile sig_atomic_t cli_interrupts; /* SIGINT: how often */
extern volatile sig_atomic_t cli_terminated; /* SIGTERM and those that count as it: how often */
extern volatile sig_atomic_t cli_hung_up;    /* SIGHUP */
extern int cli_wake;                         /* a descriptor for poll; -1 before the start */
void cli_signals_early(
    void); /* before a verb calls it: what ends a run ends the program as SIGTERM does */
void cli_signals_start(void);
/* Use it around a wait that may never end: while it is on, all of them but SIGHUP end the program at once. */
void cli_signals_at_once(bool are);
void cli_signals_block(void);
void cli_signals_unblock(void);
void cli_wake_clear(void);

#endif
