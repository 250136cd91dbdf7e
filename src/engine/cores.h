/* engine/cores.h: parts of the cores, for runs side by side. */
#ifndef CHORUS_ENGINE_CORES_H
#define CHORUS_ENGINE_CORES_H

#include <sched.h>

/* This thread, and those that it starts, get the part `share` of the cores where they are shared out
 * evenly. before: what it had; NULL. */
void cores_take(int share, int shares, cpu_set_t *before);
/* What it had before. */
void cores_give_back(const cpu_set_t *before);

#endif
