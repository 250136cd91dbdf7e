/* cli/jobs/sweep_detach.h: a sweep goes on in a process of its own. */
#ifndef CHORUS_CLI_JOBS_SWEEP_DETACH_H
#define CHORUS_CLI_JOBS_SWEEP_DETACH_H

#include "cli/sweeps/sweep_wish.h"

/* "chorus resume NAME" in a process of its own; returns the exit code. */
int sweeps_detach(const char *name, const struct sweep_wish *wish);

#endif
