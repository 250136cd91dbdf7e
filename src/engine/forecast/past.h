/* engine/forecast/past.h: earlier runs on this machine, as far as they were read, newest first, and what a
 * plan would cost by them. */
#ifndef CHORUS_ENGINE_FORECAST_PAST_H
#define CHORUS_ENGINE_FORECAST_PAST_H

#include "engine/forecast/look.h"
#include "wire/forecast.h"

struct past;

/* All of it is one thread's; results is the caller's. Lists them, and reads none. */
struct past *past_open(const char *results);
void past_close(struct past *p); /* may be NULL */
/* Reads one run, the newest that was not read yet. Returns whether there are more. */
bool past_read(struct past *p);
bool past_read_for(struct past *p, uint64_t ns); /* as many as there is time for */
/* Lists them again, where that was a while ago or (ended) runs have ended since; those that are as they
 * were are not read again. */
void past_renew(struct past *p, bool ended);

struct past_beside { /* so many like it run at the same time, on so many cores all together */
    int cells, cores;
};
struct past_beside past_beside(size_t cells,
                               int jobs); /* of so many, on the cores of this thread */
/* What a run of this plan would cost, or why none can begin. */
void past_price(const struct past *p, struct look *l, const struct plan *plan,
                struct past_beside beside, struct wire_plan *out);
/* The same of an experiment, by the heads of its data alone. */
void past_price_spec(const struct past *p, struct look *l, const struct spec *spec,
                     struct past_beside beside, struct wire_plan *out);

#endif
