/* cli/jobs/leave.h: what becomes of what runs when the screens of the workbench have gone. */
#ifndef CHORUS_CLI_JOBS_LEAVE_H
#define CHORUS_CLI_JOBS_LEAVE_H

#include "ui/app/app.h"
#include "wire/wire.h"

struct engine;

/* Ends the engine and frees the wire; returns the exit code: where it opened on a run or sweep of its own
 * (started, else 0) that of this one, unless it goes on elsewhere. Signals may have come. */
int leave_workbench(enum app_end end, uint32_t started, struct wire *wire, struct engine *engine);

#endif
