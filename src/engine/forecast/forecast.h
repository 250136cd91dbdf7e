/* engine/forecast/forecast.h: what a request would cost before it runs: what becomes of each cell of an
 * experiment with lists, a few or a million, and the sums. Cells that cost the same are one kind, and one
 * of them is priced. A look at each cell costs more: it tells which of them are the same and which have a
 * result, and it finds what only the data and the weights themselves can tell. */
#ifndef CHORUS_ENGINE_FORECAST_FORECAST_H
#define CHORUS_ENGINE_FORECAST_FORECAST_H

#include "engine/engine.h"
#include "spec/sweep.h"
#include "wire/forecast.h"
#include "wire/wire.h"

#include <stdatomic.h>

struct forecast;

#define FORECAST_KINDS                                                                             \
    512 /* of cells, that are told apart at a keystroke; further ones are unknown */

struct forecast_wish { /* how it is to be run */
    int64_t jobs;      /* cells side by side; 0: not given */
    int64_t max_cells; /* 0: all */
    bool grid;         /* in the order of the lists, not in the spread one */
    size_t kinds;      /* as many are told apart; at most 65,000 */
    bool cells;        /* each one is asked for: forecast_cell */
};
/* Takes the sweep, which is closed; *s is empty afterwards. */
struct forecast *forecast_new(struct spec_sweep *s, const struct forecast_wish *wish);
void forecast_free(struct forecast *f); /* may be NULL */

/* Looks on for so long, at one cell at least; stop (may be NULL) ends it sooner. True: all are seen. */
bool forecast_walk(struct forecast *f, uint64_t ns, const atomic_bool *stop);
/* How many cells it made for that: one of those that differ by nothing that costs or that is checked. */
size_t forecast_made(const struct forecast *f);

/* What a cell of a kind costs. */
typedef void forecast_price(void *user, const struct spec *cell, struct wire_plan *out);
/* Asks for a kind that was seen and has no price. False: there is none. */
bool forecast_ask(struct forecast *f, forecast_price *price, void *user);
void forecast_ask_again(struct forecast *f); /* of all kinds: more is known of earlier runs */

/* A cell that had this result before, or was dropped, by spec_sweep_cell's number. */
void forecast_has(struct forecast *f, size_t cell, enum wire_state state);

struct forecast_cell { /* in the order in which they run */
    size_t number;     /* spec_sweep_cell's */
    enum wire_fate fate;
    enum err_code code;           /* of the reason; ERR_OK: a person has dropped it */
    char *reason;                 /* why it does not train, or not for long; NULL */
    size_t twin;                  /* left out: the cell that it is the same as; SIZE_MAX: none is */
    const struct wire_plan *plan; /* what its kind costs; NULL: nobody knows */
    char name[17];                /* plan_hash's; empty: not known */
};
/* Looks at each cell, at the results of the sweep of that name, and at all earlier runs. Of a forecast that
 * was wished for with cells, which nobody has walked. failed: those without a good end are run again. */
void forecast_look(struct forecast *f, const struct engine_config *config, const char *name,
                   bool failed);
/* (cells) as they are; moved (may be NULL): a person has changed their order. */
const struct forecast_cell *forecast_cells(struct forecast *f, bool *moved);

void forecast_sum(const struct forecast *f, struct wire_forecast *out);

#endif
