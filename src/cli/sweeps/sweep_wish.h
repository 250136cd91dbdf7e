/* cli/sweeps/sweep_wish.h: how a sweep is to be walked. */
#ifndef CHORUS_CLI_SWEEPS_SWEEP_WISH_H
#define CHORUS_CLI_SWEEPS_SWEEP_WISH_H

#include <stdbool.h>
#include <stdint.h>

enum sweep_order { SWEEP_SPREAD, SWEEP_GRID };

struct sweep_wish {   /* the options of `run` */
    const char *name; /* results/sweeps/NAME: never NULL, fit for a folder; the same command has the
                          same name, and a longer list too, so that it continues */
    enum sweep_order order;
    int64_t max_cells;         /* the first so many of those possible, in that order; 0: all */
    int64_t jobs;              /* cells side by side; 0: not given */
    bool failed;               /* those that failed, diverged or ran out of memory again */
    const char *failed_before; /* failed: than this UTC; NULL: than now */
    bool goes_on;              /* `resume`: says how much there is, also where that is nothing */
    bool bad_before; /* of what was taken from the queue before something had no good end */
    bool quiet, json, background;
    bool alone; /* in the queue: its turn comes when no other chorus computes on this machine */
    bool queue; /* background: behind it what waits in the queue */
};

#endif
