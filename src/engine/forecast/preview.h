/* engine/forecast/preview.h: experiments as a start would find them, before one is made: by their data, not by
 * the heads of these alone, and by the weights that they start from. Nothing is written. */
#ifndef CHORUS_ENGINE_FORECAST_PREVIEW_H
#define CHORUS_ENGINE_FORECAST_PREVIEW_H

#include "engine/engine.h"
#include "engine/plan.h"

struct preview;

/* sums: plan_hash will be asked for, which data that are made up must be made for. */
struct preview *preview_open(const struct engine_config *config, bool sums);
/* Data are kept open for the next ones, and the plan is only good until then. Threads are those of the
 * caller. */
enum err_code preview_plan(struct preview *o, struct plan **plan, const struct spec *spec,
                           struct err *e) MUST_USE;
/* Whether the weights that it starts from fit. */
enum err_code preview_check_weights(struct preview *o, const struct plan *plan,
                                    struct err *e) MUST_USE;
void preview_close(struct preview *o); /* may be NULL */

#endif
