/* The order in which the user moved cells, kept in the sweep's folder: who resumes it goes on in that
 * order. */
#include "engine/sweep/sweep_int.h"

#include "base/mem.h"
#include "record/sweep/order.h"

#include <stdio.h>
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

static void remember(struct sweep *s, const struct record_place *place, size_t n)
{
    free(s->order);
    s->order = mem_new(n + 1, sizeof *s->order);
    if (n)
        memcpy(s->order, place, n * sizeof *place);
    s->orders = n;
}

/* Of each cell seen so far its place in that order; SIZE_MAX: none. The caller frees it. */
static size_t *find_ranks(const struct sweep *s)
{
    const char **hash = mem_new(s->seen + 1, sizeof *hash);
    size_t *rank = mem_new(s->seen + 1, sizeof *rank);

    for (size_t i = 0; i < s->seen; i++)
        hash[i] = s->cell[i].hash;
    record_order_rank(s->order, s->orders, hash, s->seen, rank);
    free(hash);
    return rank;
}

void cell_order_read(struct sweep *s)
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

void cell_order_apply(struct sweep *s)
{
    size_t *rank = find_ranks(s), *slot = mem_new(s->seen + 1, sizeof *slot);
    size_t *from = mem_new(s->seen + 1, sizeof *from);
    size_t n = record_order_move(rank, s->seen, slot, from);

    for (size_t i = 0; i < n; i++) {
        struct cell *c = &s->cell[from[i]];

        if (c->place == (int64_t)slot[i])
            continue;
        c->place = (int64_t)slot[i];
        sweep_tell_cell(s, c);
    }
    free(rank);
    free(slot);
    free(from);
}

static struct record_place place_of(const struct cell *c)
{
    struct record_place place = {.number = c->number, .waits = c->state == WIRE_WAITING};

    memcpy(place.cell, c->hash, sizeof place.cell);
    return place;
}

/* Of an earlier order, by rank, those cells that may yet be found, or that --max-cells leaves for
 * another time; NULL in the place of the others. The
 * caller frees it. */
static const struct record_place **still_to_come(const struct sweep *s)
{
    const struct record_place **place = mem_new(s->orders + 1, sizeof *place);
    size_t *rank = find_ranks(s);

    for (size_t i = 0; i < s->orders && (s->status.counting || s->cut); i++)
        place[i] = &s->order[i];
    for (size_t i = 0; i < s->seen; i++)
        if (rank[i] != SIZE_MAX)
            place[rank[i]] = NULL;
    free(rank);
    return place;
}

void cell_order_write(struct sweep *s)
{
    struct rank *seen = mem_new(s->seen + 1, sizeof *seen);
    const struct record_place **to_come = still_to_come(s);
    struct record_place *place = mem_new(s->seen + s->orders + 1, sizeof *place);
    size_t n = 0, next = 0;
    struct err e;

    for (size_t i = 0; i < s->seen; i++)
        seen[i] = (struct rank){&s->cell[i], (size_t)s->cell[i].place};
    qsort(seen, s->seen, sizeof *seen, by_rank);
    for (size_t rank = 0; rank < s->orders || next < s->seen; rank++) {
        if (rank < s->orders && to_come[rank])
            place[n++] = *to_come[rank];
        else if (next < s->seen)
            place[n++] = place_of(seen[next++].cell);
    }
    free(to_come); /* it points into what is replaced */
    remember(s, place, n);
    if (record_order_write(s->engine->results, s->name, place, n, &e) != ERR_OK)
        sweep_tell(s, LOG_WARN, "%s: the new order is lost when the sweep is stopped", e.text);
    s->order_old = false;
    free(seen);
    free(place);
}
