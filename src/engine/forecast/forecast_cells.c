/* engine/forecast/forecast_cells.c: what becomes of each cell, as a start would find it. */
#include "engine/forecast/forecast_int.h"

#include "base/mem.h"
#include "engine/cores.h"
#include "engine/forecast/finder.h"
#include "engine/forecast/past.h"
#include "record/sweep/order.h"
#include "record/sweep/sweeps.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LOOKED_AT                                                                             \
    5000 /* cells; of more than these only where it matters which have a result */

struct closely {
    struct forecast *f;
    struct look *look;
    struct past *past;
    struct finder *finder;
    struct past_beside beside;
    size_t begun; /* cells as far as --max-cells goes */
};

static void set(struct forecast_cell *c, enum wire_fate fate, enum err_code code,
                const char *reason)
{
    free(c->reason);
    c->fate = fate;
    c->code = code;
    c->reason = mem_text(reason);
}

/* What its kind costs; NULL: there is no place for its kind. */
static const struct wire_plan *price_of(struct closely *c, size_t i, const struct plan *plan)
{
    struct kind *k = kind_at(c->f, i);

    if (!k)
        return NULL;
    if (k->priced)
        return &k->plan;
    if (plan) {
        past_price(c->past, c->look, plan, c->beside, &k->plan);
    } else {
        look_begin(c->look, 1);
        past_price_spec(c->past, c->look, k->spec, c->beside, &k->plan);
    }
    k->priced = true;
    return &k->plan;
}

/* A cell that can run, or has run, as far as --max-cells goes. */
static void begin(struct closely *c, struct forecast_cell *cell, const struct found *found)
{
    struct err e = {0};

    c->begun++;
    if (found->state == WIRE_SKIPPED) {
        set(cell, WIRE_NO_START, ERR_OK, RECORD_DROPPED_BEFORE);
    } else if (wire_state_is_final(found->state)) {
        cell->fate = WIRE_HAS_RESULT;
    } else if (cell->code == ERR_NOMEM) {
        cell->fate = WIRE_TOO_LARGE;
    } else if (found->plan && look_read_weights(c->look, found->plan, &e) != ERR_OK) {
        set(cell, WIRE_NO_WEIGHTS, e.code, e.text);
    } else {
        cell->fate = WIRE_RUNS;
    }
}

static void settle(struct closely *c, size_t i, bool close)
{
    struct forecast_cell *cell = &c->f->cell[i];
    bool within = !c->f->most || c->begun < c->f->most;
    struct found found = {.is = FOUND, .state = WIRE_WAITING};
    const struct wire_plan *price;

    if (close)
        finder_look(c->finder, cell->number, &found);
    if (within)
        memcpy(cell->name, found.hash, sizeof cell->name);
    if (found.is == FOUND_REFUSED) {
        set(cell, within ? WIRE_NO_START : WIRE_BEYOND, found.e.code, found.e.text);
        return;
    }
    price = price_of(c, i, found.plan);
    if (found.is == FOUND_TWIN) {
        cell->fate = WIRE_LEFT_OUT;
        cell->code = ERR_INPUT;
        cell->twin = found.twin;
        plan_free(found.plan);
        return;
    }
    if (price && price->code != ERR_OK)
        set(cell, WIRE_BEYOND, price->code, price->error);
    if (price && price->code != ERR_OK && price->code != ERR_NOMEM)
        cell->fate = within ? WIRE_NO_START : WIRE_BEYOND;
    else if (within)
        begin(c, cell, &found);
    plan_free(found.plan);
}

/* As the run does it: cells that were moved change places among themselves. */
static void put_as_moved(struct forecast *f, const struct record_place *place, size_t places)
{
    struct forecast_cell *was = mem_new(f->cells, sizeof *was);
    uint16_t *kind = mem_new(f->cells, sizeof *kind);
    const char **name = mem_new(f->cells, sizeof *name);
    size_t *rank = mem_new(f->cells, sizeof *rank), *slot = mem_new(f->cells, sizeof *slot);
    size_t *from = mem_new(f->cells, sizeof *from), n;

    memcpy(was, f->cell, f->cells * sizeof *was);
    memcpy(kind, f->kind_of, f->cells * sizeof *kind);
    for (size_t i = 0; i < f->cells; i++)
        name[i] = was[i].name;
    record_order_rank(place, places, name, f->cells, rank);
    n = record_order_move(rank, f->cells, slot, from);
    for (size_t i = 0; i < n; i++) {
        f->cell[slot[i]] = was[from[i]];
        f->kind_of[slot[i]] = kind[from[i]];
        f->moved |= slot[i] != from[i];
    }
    free(was);
    free(kind);
    free(name);
    free(rank);
    free(slot);
    free(from);
}

void forecast_look(struct forecast *f, const struct engine_config *config, const char *name,
                   bool failed)
{
    struct record_place *place = NULL; /* none in an order that cannot be read, as the run has it */
    size_t places = 0;
    struct closely c = {.f = f,
                        .look = look_new(config),
                        .past = past_open(config->results),
                        .beside = past_beside(f->cells, f->jobs)};
    bool moved =
        record_order_read(config->results, name, &place, &places, NULL) == ERR_OK && places;
    bool all;
    cpu_set_t before;

    cores_take(0, f->jobs,
               &before); /* threads = all is what a cell's share of the machine will be */
    while (past_read(c.past))
        ;
    c.finder = finder_open(c.look, &f->sweep, name, failed, moved);
    all = moved || finder_has_results(c.finder);
    while (!forecast_walk(f, UINT64_MAX, NULL))
        ;
    for (size_t i = 0; i < f->cells; i++)
        if (f->cell[i].fate != WIRE_LEFT_OUT)
            settle(&c, i, all || i < MOST_LOOKED_AT);
    if (moved)
        put_as_moved(f, place, places);
    cores_give_back(&before);
    free(place);
    finder_close(c.finder);
    past_close(c.past);
    look_free(c.look);
}
