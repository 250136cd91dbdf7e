/* live/sweep_int.h: what the files of sweep.h share: sweep_find.c knows which cell has which values. */
#ifndef CHORUS_LIVE_SWEEP_INT_H
#define CHORUS_LIVE_SWEEP_INT_H

#include "live/sweep.h"

void live_sweep_know_values(struct live_sweep *s); /* once its lists are there */
void live_sweep_forget_values(struct live_sweep *s);

#endif
