/* cli/jobs/restart.h: the program started anew in its own process: after an error of a GPU that a process
 * cannot clear (ERR_STUCK). */
#ifndef CHORUS_CLI_JOBS_RESTART_H
#define CHORUS_CLI_JOBS_RESTART_H

#include <stdbool.h>
#include <stdint.h>

struct restart {
    const char *name;          /* of a sweep, or a run's folder; NULL: the queue alone */
    int64_t epochs;            /* of a run; 0: as they were */
    const char *failed_before; /* of a sweep: wire_sweep_status has it; "" or NULL: --failed was not
                                  given */
    bool queue;                /* then what waits there */
    bool bad_before;           /* queue: something had no good end already */
    bool quiet, json;
};

/* Nothing of the engine is left. Returns only where it cannot be done, or a signal says that it all
 * shall end: the exit code, and why was said. */
int restart_program(const struct restart *r);

#endif
