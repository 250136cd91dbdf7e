/* cli/jobs/handover.h: `chorus resume ...` or `chorus queue run` that goes on with what this process leaves: as a
 * process of its own, or as this very one anew. */
#ifndef CHORUS_CLI_JOBS_HANDOVER_H
#define CHORUS_CLI_JOBS_HANDOVER_H

#include "base/err.h"
#include "cli/sweeps/sweep_wish.h"

#include <stdbool.h>
#include <stdint.h>

struct handover {
    const char *name;          /* a run's folder, or a sweep; NULL: the queue alone */
    int64_t epochs;            /* of a run; 0: as they were */
    bool failed;               /* of a sweep */
    const char *failed_before; /* the same, of those older than that UTC; "" or NULL: not given */
    bool queue;                /* then what waits there */
    bool bad_before;           /* queue: something had no good end already */
    bool quiet, json;
};

/* The program started anew in its own process: after an error of a GPU that a process cannot clear (ERR_STUCK).
 * Nothing of the engine is left. Returns only where it cannot be done, or a signal says that it all shall end:
 * the exit code, and why was said. */
int handover_restart(const struct handover *h);
/* A process of its own, in a session of its own; returns when that has taken over. ERR_FAILED: it ended at once. */
enum err_code handover_leave(const char *name, struct err *e) MUST_USE;
/* `--background`: the same for a run's folder or a sweep, which is printed. Returns the exit code. */
int handover_run(const char *folder, int64_t epochs, bool queue, bool quiet, bool json);
int handover_sweep(const struct sweep_wish *wish);

#endif
