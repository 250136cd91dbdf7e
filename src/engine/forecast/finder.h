/* engine/forecast/finder.h: a sweep's cells one by one, as a start would find them: what each is called, and
 * whether it is the same as another one. Only so is it known which have a result. */
#ifndef CHORUS_ENGINE_FORECAST_FINDER_H
#define CHORUS_ENGINE_FORECAST_FINDER_H

#include "engine/forecast/look.h"
#include "spec/sweep.h"

struct finder;

/* sums: as a start, which names cells by their data too; false: where synthetic images would have to be
 * made for that, cells are named without them, which still tells one from another. All is the caller's. */
struct finder *finder_open(struct look *l, const struct spec_sweep *s, bool sums);
void finder_close(struct finder *f);

struct found {
    enum {
        FOUND_IMPOSSIBLE,
        FOUND_REFUSED,
        FOUND_TWIN,
        FOUND
    } is;              /* refused: it cannot be planned */
    struct plan *plan; /* of one that was not refused; the caller frees it before the next one */
    char hash[17],
        bare[17]; /* plan_hash's; of the settings alone, by which one is known that is refused */
    size_t twin;  /* the cell that it is the same as */
    struct err e; /* why it is no cell, or no run of it can begin */
};
void finder_look(struct finder *f, size_t cell, struct found *out);

#endif
