/* engine/forecast/look.h: what is found out once for many plans, of a sweep's cells or of a form that is typed
 * into: the machine's memory, the folder of results, weights, models' files, data. Nothing is written. */
#ifndef CHORUS_ENGINE_FORECAST_LOOK_H
#define CHORUS_ENGINE_FORECAST_LOOK_H

#include "engine/engine.h"
#include "engine/plan.h"

struct look;

/* All of it is one thread's; the configuration is the caller's. */
struct look *look_new(const struct engine_config *config);
void look_free(struct look *l);                /* may be NULL */
const char *look_folder(const struct look *l); /* of the results */
/* Before each plan, while none of those before is left. Another number, the number 0, or that of a look
 * that began a while ago: everything but the facts about data is looked at again. Nets stay as long as
 * their texts do. */
void look_begin(struct look *l, uint32_t number);

/* How closely: by the heads of data, as long as somebody waits for it; or as a start would find it, with
 * the data opened and RUN weights by their names. LOOK_SUMS: plan_hash will be asked for, which synthetic
 * images must be made for. */
enum look_depth { LOOK_HEADS, LOOK_DATA, LOOK_SUMS };
/* The plan is good until four other sets of data were opened. Threads are those of the caller. */
enum err_code look_plan(struct look *l, struct plan **plan, const struct spec *spec,
                        enum look_depth depth, struct err *e) MUST_USE;
/* As plan_estimate. What the CPU would hold is remembered from look to look. */
enum err_code look_estimate(struct look *l, const struct plan *p, struct backend_estimate *out,
                            struct err *e) MUST_USE;
/* What a start would meet. Of weights in a file the header is read; many: of so many runs reading every
 * run.csv takes too long, and whether weights can be a RUN is told from the names alone. */
enum err_code look_results(struct look *l, struct err *e) MUST_USE;
enum err_code look_weights(struct look *l, const struct plan *p, bool many, struct err *e) MUST_USE;
/* Whether the weights that it starts from fit, of one that was planned with its data: they are read. */
enum err_code look_read_weights(struct look *l, const struct plan *p, struct err *e) MUST_USE;
/* How many texts of models were parsed. */
size_t look_parsed(const struct look *l);

#endif
