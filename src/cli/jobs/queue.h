/* cli/jobs/queue.h: `run --queue`. */
#ifndef CHORUS_CLI_JOBS_QUEUE_H
#define CHORUS_CLI_JOBS_QUEUE_H

#include "cli/jobs/sweep.h"

/* s is closed and, where it does not vary, checked. Adds it to results/queue and prints its file.
 * Returns the exit code. */
int queue_run(const struct spec_sweep *s, const struct sweep_wish *wish);

#endif
