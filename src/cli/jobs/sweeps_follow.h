/* cli/jobs/sweeps_follow.h: a sweep that another process runs. */
#ifndef CHORUS_CLI_WORK_SWEEPS_FOLLOW_H
#define CHORUS_CLI_WORK_SWEEPS_FOLLOW_H

#include "cli/sweeps/sweep_wish.h"
#include "cli/jobs/sweeps_follow.h"

/* "chorus resume NAME" in a process of its own; returns the exit code. */
int sweeps_detach(const char *name, const struct sweep_wish *wish);
/* `chorus watch` of a sweep; returns the exit code. */
int sweeps_watch(const char *name, bool quiet, bool json);

#endif
