/* cli/jobs/stuck.h: what was stopped because this process can compute no more (ERR_STUCK), and is to go on
 * in another one. */
#ifndef CHORUS_CLI_JOBS_STUCK_H
#define CHORUS_CLI_JOBS_STUCK_H

#include "wire/wire.h"

#include <stdbool.h>

struct engine;

/* Whether nothing runs or waits there. */
bool stuck_all_ended(struct wire *wire);
/* One that was stopped so: its name for `resume`, freed by the caller, or NULL. A sweep's cells are the
 * sweep's, but go on alone where it was to stop after them. Its number is added to those that are not meant
 * any more. */
struct stuck_known {
    uint32_t *number;
    size_t n, room;
    char failed_before[32]; /* of the newest, where it is a sweep: wire_sweep_status has it */
};
char *stuck_next(struct wire *wire, struct stuck_known *known);
/* Each that is not known gets a process of its own. */
void stuck_leave(struct wire *wire, struct stuck_known *known, bool quiet);

/* Of a workbench, which stays: a thread that gives each to a process of its own and says so. */
struct stuck_warden;
struct stuck_warden *stuck_watch(struct wire *wire, struct engine *engine);
void stuck_unwatch(struct stuck_warden *w); /* behind a last look; NULL is fine */

#endif
