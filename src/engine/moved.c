/* The order in which the user moved cells, kept in the sweep's folder: who resumes it goes on in that
 * order. */
#include "engine/sweep_int.h"

#include "base/mem.h"
#include "record/sweeps.h"

#include <stdlib.h>
#include <string.h>

struct rank {
    struct cell *cell;
    size_t rank;
};

static int by_rank(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct moved *)a)->cell, ((const struct moved *)b)->cell);
}

static void remember(struct sweep *s, const struct record_place *place, size_t n)
{
    free(s->order);
    s->order = mem_new(n + 1, sizeof *s->order);
    s->orders = n;
    for (size_t i = 0; i < n; i++) {
        memcpy(s->order[i].cell, place[i].cell, sizeof s->order[i].cell);
        s->order[i].rank = i;
    }
    qsort(s->order, n, sizeof *s->order, by_name);
}

void moved_read(struct sweep *s)
{
    struct record_place *place;
    struct err e;
    size_t n;

    if (record_order_read(s->engine->results, s->name, &place, &n, &e) != ERR_OK)
        sweep_tell(s, LOG_WARN, "%s: the cells run in the order of the sweep", e.text);
    remember(s, place, n);
    free(place);
    s->moved = s->moved || n;
}

void moved_apply(struct sweep *s)
{
    struct rank *found = mem_new(s->seen + 1, sizeof *found);
    size_t *slot = mem_new(s->seen + 1, sizeof *slot), n = 0;

    for (size_t i = 0; i < s->seen && s->orders; i++) {
        const struct moved *m =
            bsearch(s->cell[i].hash, s->order, s->orders, sizeof *s->order, by_name);

        if (!m)
            continue;
        slot[n] = i;
        found[n++] = (struct rank){&s->cell[i], m->rank};
    }
    qsort(found, n, sizeof *found, by_rank);
    for (size_t i = 0; i < n; i++) {
        if (found[i].cell->place == (int64_t)slot[i])
            continue;
        found[i].cell->place = (int64_t)slot[i];
        sweep_tell_cell(s, found[i].cell);
    }
    free(found);
    free(slot);
}

void moved_write(struct sweep *s)
{
    struct rank *all = mem_new(s->seen + 1, sizeof *all);
    struct record_place *place = mem_new(s->seen + 1, sizeof *place);
    struct err e;

    for (size_t i = 0; i < s->seen; i++)
        all[i] = (struct rank){&s->cell[i], (size_t)s->cell[i].place};
    qsort(all, s->seen, sizeof *all, by_rank);
    for (size_t i = 0; i < s->seen; i++) {
        const struct cell *c = all[i].cell;

        place[i] = (struct record_place){.number = c->number, .waits = c->state == WIRE_WAITING};
        memcpy(place[i].cell, c->hash, sizeof place[i].cell);
    }
    remember(s, place, s->seen);
    if (record_order_write(s->engine->results, s->name, place, s->seen, &e) != ERR_OK)
        sweep_tell(s, LOG_WARN, "%s: the new order is lost when the sweep is stopped", e.text);
    s->order_old = false;
    free(all);
    free(place);
}
