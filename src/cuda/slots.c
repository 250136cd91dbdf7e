/* cuda/slots.c: memory that is needed for a part of a step only, used again in another part. */
#include "cuda/cuda_int.h"

#include "base/mem.h"

#include <stdlib.h>

static bool meet(const struct cuda_slot *a, const struct cuda_slot *b)
{
    return a->from <= b->to && b->from <= a->to;
}

struct taken { /* by slots that are placed and needed at the same time */
    size_t from, to;
};

static int by_start(const void *a, const void *b)
{
    const struct taken *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
}

/* The lowest gap that is large enough. */
static size_t first_gap(const struct taken *taken, size_t n, size_t bytes)
{
    size_t at = 0;

    for (size_t i = 0; i < n && taken[i].from < at + bytes; i++)
        if (taken[i].to > at)
            at = taken[i].to;
    return at;
}

struct turn { /* large ones are placed first */
    size_t bytes;
    int slot;
};

static int by_size(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->slot - y->slot;
}

size_t cuda_slots_place(struct cuda_slot *slot, int n, bool keep)
{
    size_t all = 0;
    struct turn *turn = mem_new((size_t)n + 1, sizeof *turn);
    struct taken *taken = mem_new((size_t)n + 1, sizeof *taken);

    for (int i = 0; i < n; i++) {
        slot[i].bytes = cuda_round(slot[i].bytes, 256);
        turn[i] = (struct turn){slot[i].bytes, i};
    }
    qsort(turn, (size_t)n, sizeof *turn, by_size);
    for (int i = 0; i < n && turn[i].bytes; i++) {
        struct cuda_slot *s = &slot[turn[i].slot];
        size_t others = 0;

        for (int k = 0; k < i; k++) {
            const struct cuda_slot *o = &slot[turn[k].slot];

            if (keep || meet(s, o))
                taken[others++] = (struct taken){o->at, o->at + o->bytes};
        }
        qsort(taken, others, sizeof *taken, by_start);
        s->at = first_gap(taken, others, s->bytes);
        if (s->at + s->bytes > all)
            all = s->at + s->bytes;
    }
    for (int i = 0; i < n; i++) {
        slot[i].intact = true;
        for (int k = 0; k < n && slot[i].bytes; k++)
            if (slot[k].from > slot[i].from && slot[k].at < slot[i].at + slot[i].bytes &&
                slot[i].at < slot[k].at + slot[k].bytes)
                slot[i].intact = false;
    }
    free(turn);
    free(taken);
    return all;
}
