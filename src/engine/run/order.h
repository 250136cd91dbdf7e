/* engine/run/order.h: in which order an epoch takes the images, for each member. Where the engine's thread
 * has nothing else to compute (a GPU trains), the next epoch's order is made while this one runs. */
#ifndef CHORUS_ENGINE_RUN_ORDER_H
#define CHORUS_ENGINE_RUN_ORDER_H

#include "engine/plan.h"

struct order; /* of one session */

/* ahead: the next epoch's in a thread of its own. */
struct order *order_open(const struct plan *plan, bool ahead);
void order_close(struct order *o); /* NULL is fine */
/* *out: (members), good until the next call: the same pointer for all who share an order. */
enum err_code order_of(struct order *o, int64_t epoch, const uint32_t *const **out,
                       struct err *e) MUST_USE;

/* The order of the next epoch, once it is made; else NULL. user: the orders. Good as long as the one
 * that order_of gave. Any thread, between two calls of order_of. */
const uint32_t *const *order_next(void *user);

#endif
