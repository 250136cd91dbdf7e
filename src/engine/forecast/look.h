/* engine/forecast/look.h: what the planner finds out once for one look at a form. The questions about all kinds
 * of a sweep's cells come within some milliseconds, and the machine's memory, the folder of results,
 * the weights and the models' files are the same for all of them. */
#ifndef CHORUS_ENGINE_FORECAST_LOOK_H
#define CHORUS_ENGINE_FORECAST_LOOK_H

#include "engine/plan.h"

struct look;

/* All of it is one thread's. */
struct look *look_new(const char *results);
void look_free(struct look *l);
/* Before each question, while no plan of the one before is left. Another number, the number 0, or that
 * of a look that began a while ago: everything but the facts about data is looked at again. Nets stay
 * as long as their texts do. */
void look_begin(struct look *l, uint32_t number);

/* For plan_make_with. */
struct plan_source look_source(struct look *l);
/* As plan_estimate. What the CPU would hold is remembered from look to look. */
enum err_code look_estimate(struct look *l, const struct plan *p, struct backend_estimate *out,
                            struct err *e) MUST_USE;
/* What a start would meet. Of weights in a file the header is read; many: of so many runs reading every
 * run.csv takes too long, and whether weights can be a RUN is told from the names alone. */
enum err_code look_results(struct look *l, struct err *e) MUST_USE;
enum err_code look_weights(struct look *l, const struct plan *p, bool many, struct err *e) MUST_USE;
/* How many texts of models were parsed. */
size_t look_parsed(const struct look *l);

#endif
