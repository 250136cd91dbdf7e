/* record/sweep/order.h: the cells of a sweep in the order in which they were moved to run. */
#ifndef CHORUS_RECORD_SWEEP_ORDER_H
#define CHORUS_RECORD_SWEEP_ORDER_H

#include "base/err.h"
#include "record/stamp.h"

#include <stdbool.h>
#include <stddef.h>

/* The order that its cells were moved to, all that were known then. None where nothing was moved. */
struct record_place {
    size_t number; /* spec_sweep_cell's */
    char cell[17]; /* its hash, which stays where lists get longer */
    bool waits;
};
enum err_code record_order_write(const char *results, const char *name,
                                 const struct record_place *place, size_t n,
                                 struct err *e) MUST_USE;
/* The caller frees *out. */
enum err_code record_order_read(const char *results, const char *name, struct record_place **out,
                                size_t *n, struct err *e) MUST_USE;
/* rank: (n) where each of these cells, by its hash, stands among the places; SIZE_MAX: nowhere. */
void record_order_rank(const struct record_place *place, size_t places, const char *const *cell,
                       size_t n, size_t *rank);
/* Cells that have a rank change places among themselves: where slot[k] is now, from[k] was. Returns how many
 * have one. */
size_t record_order_move(const size_t *rank, size_t n, size_t *slot, size_t *from);
/* Another one where the order was written anew, were it the same; all 0: there is none. */
struct record_stamp record_order_stamp(const char *results, const char *name);

#endif
