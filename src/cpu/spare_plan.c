/* cpu/spare_plan.c: what is computed again where memory is spared (spare.c), and where each piece of a
 * worker's part of the arena lies: decided before any memory is taken. */
#include "cpu/session_int.h"

#include "base/mem.h"

#include <stdlib.h>

#define CHEAP_PRODUCTS 64   /* of an output of a convolution that is computed again, not kept */
#define DEEPEST_SUM    2    /* sums of sums that are computed again */
#define MERGE_FROM     4096 /* floats of a kernel */

size_t cpu_spare_from = (size_t)1 << 24;

bool cpu_spares(const struct backend_session *s)
{
    double floats = (double)s->packed_count;

    for (int i = 0; i < s->layers; i++)
        floats += (double)s->layer[i].out * (double)s->lanes * s->batch_groups;
    return floats > (double)cpu_spare_from;
}

/* The tails whose numbers a layer reads when it goes backward; returns how many. */
static int reads_back(const struct cpu_layer *c, int tail[2])
{
    int n = 0;

    switch (c->l.op) {
    case NET_CONV:
    case NET_DENSE:
    case NET_BATCHNORM:
        tail[n++] = c->l.src;
        break;
    case NET_MAXPOOL:
        tail[n++] = c->l.src;
        tail[n++] = c->tail;
        break;
    case NET_RELU:
    case NET_TANH:
        tail[n++] = c->tail;
        break;
    case NET_ADD:
        if (c->tail > c->index)
            tail[n++] = c->tail;
        break;
    default:
        break;
    }
    return n;
}

/* kept: by tail, whether something reads it going backward, or is computed from it then. */
static void choose_again(struct backend_session *s)
{
    bool *kept = mem_new((size_t)s->layers, sizeof *kept);
    bool *again = mem_new((size_t)s->layers, sizeof *again);
    int *depth = mem_new((size_t)s->layers, sizeof *depth);

    for (int i = 0; i < s->layers; i++) {
        int tail[2];
        for (int j = reads_back(&s->layer[i], tail); !s->layer[i].fused && j--;) {
            if (tail[j] >= 0)
                kept[tail[j]] = true;
        }
    }
    for (int i = 0; i < s->layers; i++) {
        struct cpu_layer *c = &s->layer[i];
        if (c->fused)
            continue;
        if (c->l.op == NET_CONV) {
            c->again = c->l.src == NET_IMAGES && !cpu_conv_masks(&c->conv) && c->conv.pool == 1 &&
                       c->conv.k * c->conv.k * c->conv.cin <= CHEAP_PRODUCTS;
        } else if (c->l.op == NET_BATCHNORM) {
            c->again = true;
            depth[c->tail] = c->l.src >= 0 ? depth[c->l.src] : 0;
        } else if (c->l.op == NET_ADD) {
            int a = c->l.src, b = c->l.src2, deep_a = a < 0 ? 0 : depth[a],
                deep_b = b < 0 ? 0 : depth[b], deep = 1 + (deep_a > deep_b ? deep_a : deep_b);
            c->again = (a < 0 || kept[a] || again[a]) && (b < 0 || kept[b] || again[b]) &&
                       deep <= DEEPEST_SUM;
            depth[c->tail] = c->again ? deep : 0;
        }
        again[c->tail] = c->again;
    }
    free(kept);
    free(again);
    free(depth);
}

void cpu_spare_choose(struct backend_session *s)
{
    choose_again(s);
    for (int i = 0; i < s->layers; i++) {
        struct cpu_layer *c = &s->layer[i];
        if (c->l.op != NET_CONV && c->l.op != NET_DENSE)
            continue;
        c->merge = s->plan.net->param[c->l.kernel].count >= MERGE_FROM;
        size_t packed = c->l.op == NET_CONV ? c->ops_train->packed(&c->conv, !c->first) : 0;
        if (!c->again)
            s->slot = packed > s->slot ? packed : s->slot;
    }
    s->slot = cpu_round_up(s->slot);
    for (int i = 0; i < s->layers; i++) {
        struct cpu_layer *c = &s->layer[i];
        if (c->l.op != NET_CONV || !c->again)
            continue;
        c->pack_train = s->slot;
        s->slot += cpu_round_up(c->ops_train->packed(&c->conv, !c->first));
    }
}

/* The plan of a worker's part. Time goes on by one with each layer that goes forward or backward and
 * with each that is computed again. */

struct piece {
    size_t floats, at;
    int begin, end; /* held from here to here, both included, ... */
    int gap[2];     /* ... but not between these, if the second is not 0 */
};

struct plan {
    struct backend_session *s;
    int groups;
    int now;
    struct piece *piece;
    int pieces;
    int *act, *back, *grad, *scratch, *scratch_back; /* (layers): pieces, -1 */
    int *owner;                                      /* (layers): whose tail it is */
    int redone;
};

static int *no_pieces(const struct backend_session *s)
{
    int *list = mem_new((size_t)s->layers, sizeof *list);

    for (int i = 0; i < s->layers; i++)
        list[i] = -1;
    return list;
}

/* Until now at least. */
static void hold(struct plan *p, int *piece, size_t floats)
{
    if (*piece < 0) {
        *piece = p->pieces++;
        p->piece[*piece] = (struct piece){.begin = p->now};
    }
    struct piece *at = &p->piece[*piece];
    at->floats = floats > at->floats ? floats : at->floats;
    at->end = p->now;
}

/* Whole lines, of groups of 8 images too: what lies behind is of kernels of 16, which want it so. */
static void hold_pixels(struct plan *p, int *list, int layer)
{
    if (layer >= 0)
        hold(p, &list[layer],
             cpu_round_up(p->s->layer[layer].out * p->s->lanes * (size_t)p->groups));
}

static void hold_scratch(struct plan *p, int *list, int at, int layer, bool back)
{
    size_t floats = cpu_round_up(cpu_scratch(p->s, layer, p->groups, back));

    if (floats)
        hold(p, &list[at], floats);
}

static void plan_forward(struct plan *p)
{
    const struct backend_session *s = p->s;

    for (int i = 0; i < s->layers; i++, p->now++) {
        const struct cpu_layer *c = &s->layer[i];
        if (c->fused)
            continue;
        p->owner[c->tail] = i;
        hold_pixels(p, p->act, c->l.src);
        hold_pixels(p, p->act, c->l.src2);
        if (c->in_place)
            p->act[c->tail] = p->act[c->l.src];
        hold_pixels(p, p->act, c->tail);
        hold_scratch(p, p->scratch, i, i, false);
    }
    hold_pixels(p, p->act, s->layers - 1);
}

/* A batch norm over a convolution that is computed again: both in one step, in the same place. */
const struct cpu_layer *cpu_spare_conv_below(const struct backend_session *s,
                                             const struct cpu_layer *c)
{
    const struct cpu_layer *src = c->l.src >= 0 ? &s->layer[c->l.src] : NULL;
    return c->l.op == NET_BATCHNORM && src && src->l.op == NET_CONV && src->again ? src : NULL;
}

static void compute_again(struct plan *p, const struct cpu_layer *c, int i)
{
    const struct cpu_layer *conv = cpu_spare_conv_below(p->s, c);

    if (!conv)
        hold_pixels(p, p->back, c->l.src);
    hold_pixels(p, p->back, c->l.op == NET_ADD ? c->l.src2 : -1);
    hold_pixels(p, p->back, c->tail);
    hold_scratch(p, p->scratch_back, i, conv ? conv->index : c->index, false);
    p->s->redo[p->redone++] = c->index;
    p->now++;
}

/* A tail's numbers must be there from now on, for layer i to go backward, and before that what they
 * are computed from. Where a convolution of few products and the batch norm over it have been
 * computed again already, that is done once more rather than keeping them until now. */
static void want_back(struct plan *p, int tail, int i)
{
    struct backend_session *s = p->s;

    if (tail < 0)
        return;
    const struct cpu_layer *c = &s->layer[p->owner[tail]];
    if (!c->again) {
        p->back[tail] = p->act[tail];
    } else if (p->back[tail] >= 0) {
        struct piece *held = &p->piece[p->back[tail]];
        if (cpu_spare_conv_below(s, c) && held->end + 1 < p->now && !held->gap[1]) {
            held->gap[0] = held->end;
            held->gap[1] = p->now;
            compute_again(p, c, i);
        }
    } else {
        if (!cpu_spare_conv_below(s, c))
            want_back(p, c->l.src, i);
        want_back(p, c->l.op == NET_ADD ? c->l.src2 : -1, i);
        if (c->in_place)
            p->back[tail] = p->back[c->l.src];
        compute_again(p, c, i);
        return;
    }
    hold_pixels(p, p->back, tail);
}

/* Whether a layer's gradient to its source takes the place of the one that it reads. */
static bool grad_over(const struct plan *p, const struct cpu_layer *c)
{
    const struct cpu_layer *layer = p->s->layer;

    if (c->grad_in_place)
        return true;
    return c->l.op == NET_CONV && c->ops_train->dx_over_dy &&
           c->ops_train->dx_over_dy(&c->conv, p->groups) && c->l.src >= 0 && !c->add &&
           layer[c->l.src].out == layer[c->tail].out;
}

static void plan_backward(struct plan *p)
{
    struct backend_session *s = p->s;
    int last = s->layers - 1;

    hold_pixels(p, p->grad, last); /* the loss is taken */
    for (int i = last; i >= 0; i--, p->now++) {
        struct cpu_layer *c = &s->layer[i];
        int tail[2];
        if (c->fused)
            continue;
        c->redo_from = p->redone;
        for (int n = reads_back(c, tail), j = 0; j < n; j++)
            want_back(p, tail[j], i);
        c->redo_to = p->redone;
        for (int n = reads_back(c, tail), j = 0; j < n; j++)
            hold_pixels(p, p->back, tail[j]);
        if (!c->idle)
            hold_pixels(p, p->grad, c->tail);
        if (!c->first) {
            if (grad_over(p, c))
                p->grad[c->l.src] = p->grad[c->tail];
            hold_pixels(p, p->grad, c->l.src);
        }
        if (!c->first2)
            hold_pixels(p, p->grad, c->l.src2);
        hold_scratch(p, p->scratch_back, i, i, true);
    }
    hold_pixels(p, p->act, last); /* for peek */
    hold_pixels(p, p->grad, last);
}

static int by_floats(const void *a, const void *b)
{
    const struct piece *x = *(struct piece *const *)a, *y = *(struct piece *const *)b;

    if (x->floats != y->floats)
        return x->floats < y->floats ? 1 : -1;
    return x < y ? -1 : x > y;
}

static int by_time(const void *a, const void *b)
{
    const struct piece *x = *(struct piece *const *)a, *y = *(struct piece *const *)b;
    int held = x->end - x->begin, other = y->end - y->begin;

    return held != other ? (held < other ? 1 : -1) : by_floats(a, b);
}

static bool in_gap(const struct piece *of, const struct piece *x)
{
    return x->begin > of->gap[0] && x->end < of->gap[1];
}

static bool meet(const struct piece *a, const struct piece *b)
{
    return a->begin <= b->end && b->begin <= a->end && !in_gap(a, b) && !in_gap(b, a);
}

typedef int comparison(const void *, const void *);

/* One after the other in some order, each at the lowest place that is free as long as it is held.
 * Returns the floats of all. */
static size_t place_in(struct plan *p, comparison *before)
{
    size_t n = (size_t)p->pieces, most = 0;
    struct piece **order = mem_new(n + 1, sizeof *order), **placed = mem_new(n + 1, sizeof *placed);

    for (size_t i = 0; i < n; i++)
        order[i] = &p->piece[i];
    qsort(order, n, sizeof(struct piece *), before);
    for (size_t i = 0; i < n; i++) { /* placed: the i in front of it, lowest first */
        struct piece *piece = order[i];
        size_t at = 0, j;
        for (j = 0; j < i && placed[j]->at < at + piece->floats; j++) {
            size_t end = placed[j]->at + placed[j]->floats;
            if (end > at && meet(placed[j], piece))
                at = end;
        }
        piece->at = at;
        for (j = i; j > 0 && placed[j - 1]->at > at; j--)
            placed[j] = placed[j - 1];
        placed[j] = piece;
        most = at + piece->floats > most ? at + piece->floats : most;
    }
    free(order);
    free(placed);
    return most;
}

/* The most that is held at once: no order takes less. */
static size_t held_at_once(const struct plan *p)
{
    size_t most = 0, *held = mem_new((size_t)p->now + 1, sizeof *held);

    for (int i = 0; i < p->pieces; i++) {
        const struct piece *x = &p->piece[i];
        for (int t = x->begin; t <= x->end; t++)
            held[t] += t > x->gap[0] && t < x->gap[1] ? 0 : x->floats;
    }
    for (int t = 0; t <= p->now; t++)
        most = held[t] > most ? held[t] : most;
    free(held);
    return most;
}

/* Those that are held longest first: what is kept for the way back lies like a stack. Or large ones
 * first, where that takes less. */
static size_t place(struct plan *p)
{
    size_t lasting = place_in(p, by_time), large;

    if (lasting == held_at_once(p))
        return lasting;
    large = place_in(p, by_floats);
    return large < lasting ? large : place_in(p, by_time);
}

static size_t at(const struct plan *p, int piece)
{
    return piece < 0 ? CPU_NOWHERE : p->piece[piece].at;
}

/* Returns the floats of a worker's part. */
static size_t plan_part(struct backend_session *s, int groups, bool training,
                        struct cpu_lease *lease)
{
    struct plan p = {.s = s,
                     .groups = groups,
                     .piece = mem_new(5 * (size_t)s->layers, sizeof *p.piece),
                     .act = no_pieces(s),
                     .back = no_pieces(s),
                     .grad = no_pieces(s),
                     .scratch = no_pieces(s),
                     .scratch_back = no_pieces(s),
                     .owner = no_pieces(s)};

    plan_forward(&p);
    if (training)
        plan_backward(&p);
    size_t floats = place(&p);
    for (int i = 0; i < s->layers; i++)
        lease[i] = (struct cpu_lease){.act = at(&p, p.act[i]),
                                      .back = at(&p, p.back[i]),
                                      .grad = at(&p, p.grad[i]),
                                      .scratch = at(&p, p.scratch[i]),
                                      .scratch_back = at(&p, p.scratch_back[i])};
    free(p.piece);
    free(p.act);
    free(p.back);
    free(p.grad);
    free(p.scratch);
    free(p.scratch_back);
    free(p.owner);
    return floats;
}

/* Of layers that all threads share, for those without groups. */
static size_t helper_scratch(const struct backend_session *s)
{
    size_t most = 0;

    for (int i = 0; i < s->layers; i++) {
        const struct cpu_layer *c = &s->layer[i];
        size_t floats = c->dealt ? cpu_round_up(c->ops_train->scratch(&c->conv, 1, !c->first)) : 0;
        most = floats > most ? floats : most;
    }
    return most;
}

void cpu_spare_plan(struct backend_session *s)
{
    size_t layers = (size_t)s->layers;
    const struct cpu_team *t = &s->team[0];

    s->redo = cpu_take_table(s, 2 * layers, sizeof *s->redo); /* none more than twice */
    s->lease = cpu_take_table(s, layers, sizeof *s->lease);
    s->lease_evaluate = cpu_take_table(s, layers, sizeof *s->lease_evaluate);
    s->part = plan_part(s, cpu_groups_train(s, t), true, s->lease);
    s->part_evaluate = plan_part(s, cpu_groups_each(s, t), false, s->lease_evaluate);
    s->part_helper = helper_scratch(s);
}
