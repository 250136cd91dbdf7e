/* cli/sweep.h: the main thread of `run` where an experiment's values are lists. */
#ifndef CHORUS_CLI_SWEEP_H
#define CHORUS_CLI_SWEEP_H

#include "spec/sweep.h"

#include <stdbool.h>
#include <stdint.h>

enum sweep_order { SWEEP_SPREAD, SWEEP_GRID };

struct sweep_wish {   /* the options of `run` */
    const char *name; /* results/sweeps/NAME: never NULL, fit for a folder; the same command has the
                          same name, and a longer list too, so that it continues */
    enum sweep_order order;
    int64_t max_cells; /* the first so many of those possible, in that order; 0: all */
    int64_t jobs;      /* cells side by side; 0: not given */
    bool failed;       /* those that failed, diverged or ran out of memory again */
    bool quiet, json, background;
};

/* s is closed and varies. Runs what is missing of it, says how each cell ended, and prints the path
 * of sweep.csv. Returns the exit code. */
int sweep_run(const struct spec_sweep *s, const struct sweep_wish *wish);

#endif
