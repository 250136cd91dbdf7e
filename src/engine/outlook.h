/* engine/outlook.h: experiments as a start would find them, before one is made: by their data, not by
 * the heads of these alone, and by the weights that they start from. Nothing is written. */
#ifndef CHORUS_ENGINE_OUTLOOK_H
#define CHORUS_ENGINE_OUTLOOK_H

#include "engine/engine.h"
#include "engine/plan.h"

struct outlook;

/* sums: plan_hash will be asked for, which data that are made up must be made for. */
struct outlook *outlook_open(const struct engine_config *config, bool sums);
/* Data are kept open for the next ones, and the plan is only good until then. Threads are those of the
 * caller. */
enum err_code outlook_plan(struct outlook *o, struct plan **plan, const struct spec *spec,
                           struct err *e) MUST_USE;
/* Whether the weights that it starts from fit. */
enum err_code outlook_check_weights(struct outlook *o, const struct plan *plan,
                                    struct err *e) MUST_USE;
void outlook_close(struct outlook *o); /* may be NULL */

#endif
