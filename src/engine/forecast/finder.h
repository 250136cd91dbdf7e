/* engine/forecast/finder.h: a sweep's cells one by one, as a start would find them: what each is called, whether
 * it is the same as another one, and whether it has a result. */
#ifndef CHORUS_ENGINE_FORECAST_FINDER_H
#define CHORUS_ENGINE_FORECAST_FINDER_H

#include "engine/forecast/look.h"
#include "spec/sweep.h"
#include "wire/wire.h"

struct finder;

/* name: of the sweep whose results are looked at; NULL: of none. failed: those without a good end are none.
 * sums: cells are called as a start calls them, by their data too. Where nobody asks for that, and no cell has
 * a result, synthetic images are not made for it: the names still tell one from another. All is the caller's. */
struct finder *finder_open(struct look *l, const struct spec_sweep *s, const char *name,
                           bool failed, bool sums);
void finder_close(struct finder *f); /* may be NULL */
/* Whether any of its cells may have a result. */
bool finder_has_results(const struct finder *f);

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
    enum wire_state state; /* how it ended; WIRE_WAITING: it has no result */
    struct err e;          /* why it is no cell, or no run of it can begin */
};
void finder_look(struct finder *f, size_t cell, struct found *out);

#endif
