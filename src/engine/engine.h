/* engine/engine.h: the thread that owns the queue, schedules and records. It is spoken to over a
 * wire alone. Each open session has a thread of its own; a planner thread answers WIRE_ASK within
 * 50 ms and never touches a session. The engine never prints. */
#ifndef CHORUS_ENGINE_H
#define CHORUS_ENGINE_H

#include "base/err.h"
#include "data/data.h"
#include "engine/backend.h"
#include "spec/sweep.h"
#include "wire/wire.h"

struct engine;

struct engine_config {
    const char *results; /* folder of run folders; made where it is missing */
    struct data_places places;
    const struct backend *const *backends; /* NULL at the end; the first that can is `auto` */
    const char *version;
    int span_ms;        /* how long a span should take; 0: 20. Tests cut spans differently */
    int max_span_steps; /* 0: no limit */
    bool queue; /* take from results/queue whenever nothing runs or waits here (wire_queue tells) */
};

enum err_code engine_start(struct engine **out, const struct engine_config *config,
                           struct wire *wire, struct err *e) MUST_USE;
/* Whether it can compute no more where a run of it did: what was stopped for that has the code
 * ERR_STUCK, and goes on in another process. Any thread. */
bool engine_is_stuck(struct engine *engine);
/* Whether s may go on with the sweep of that name, if there is one: it walks all of its keys, with as
 * many cells side by side (whose share of the threads is part of a cell). s is closed. */
enum err_code engine_check_sweep(const char *results, const char *name, const struct spec_sweep *s,
                                 int64_t jobs, struct err *e) MUST_USE;
/* The same of those of that name that wait in results/queue. */
enum err_code engine_check_queued(const char *results, const char *name, const struct spec_sweep *s,
                                  int64_t jobs, struct err *e) MUST_USE;
/* Whether engine_join would not wait. */
bool engine_is_over(struct engine *engine);
/* Waits for the engine thread, which must have been sent WIRE_QUIT. */
void engine_join(struct engine *engine);

#endif
