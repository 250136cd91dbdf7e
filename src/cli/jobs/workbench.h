/* cli/jobs/workbench.h: the program without a verb, and `run --tui`. */
#ifndef CHORUS_CLI_JOBS_WORKBENCH_H
#define CHORUS_CLI_JOBS_WORKBENCH_H

#include "cli/sweeps/sweep_wish.h"
#include "spec/sweep.h"
#include "wire/wire.h"

#include <stdbool.h>

struct workbench_options {
    const char *theme, *keys, *frame;
    bool ascii, no_mouse;
};
/* On Results where there are runs, else on Setup. Returns the exit code. */
int workbench_open(const struct workbench_options *o);
/* `run --tui`: opens the workbench on the screen Run with that run or sweep begun. Returns the exit
 * code. */
int workbench_run(const struct wire_start *start);
int workbench_sweep(const struct spec_sweep *s, const struct sweep_wish *wish);
/* Whether there is a terminal to open it on. */
bool workbench_can(void);

#endif
