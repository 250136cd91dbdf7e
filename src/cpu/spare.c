/* cpu/spare.c: less memory for nets with batch norm or residuals whose activations are many. Of what
 * going backward reads, only what is dear is kept: convolutions' outputs. A batch norm's output and
 * a residual's sum are computed again, by the same kernels from the same numbers, when a layer wants
 * them. Each worker has a part of the arena for its own groups, so that no other thread's numbers
 * ever lie there; a planner knows when each piece is held and lays pieces over each other that never
 * are at the same time. Winograd's packed weights, four times the size of the weights themselves,
 * are made for one layer at a time, all before an evaluation. Gradients of large kernels are summed
 * over the threads layer by layer. */
#include "cpu/team.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHEAP_PRODUCTS 64   /* of an output of a convolution that is computed again, not kept */
#define DEEPEST_SUM    2    /* sums of sums that are computed again */
#define MERGE_FROM     4096 /* floats of a kernel */

size_t cpu_spare_from = (size_t)1 << 24;

bool cpu_spares(const struct backend_session *s)
{
    double floats = (double)s->packed_count;

    for (int i = 0; i < s->layers; i++)
        floats += (double)s->layer[i].out * CPU_LANES * s->batch_groups;
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
            c->again = c->first && !cpu_conv_masks(&c->conv) && c->conv.pool == 1 &&
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
        size_t packed = c->l.op == NET_CONV ? c->ops->packed(&c->conv, !c->first) : 0;
        if (!c->again)
            s->slot = packed > s->slot ? packed : s->slot;
    }
    s->slot = cpu_round_up(s->slot);
    for (int i = 0; i < s->layers; i++) {
        struct cpu_layer *c = &s->layer[i];
        if (c->l.op != NET_CONV || !c->again)
            continue;
        c->pack_train = s->slot;
        s->slot += cpu_round_up(c->ops->packed(&c->conv, !c->first));
    }
}

/* The plan of a worker's part. Time goes on by one with each layer: layer i goes forward at i, the
 * loss is taken at `layers`, layer i goes backward at 2 * layers - i. */

struct piece {
    size_t floats, at;
    int begin, end; /* held from here to here, both included */
};

struct plan {
    struct backend_session *s;
    int groups;
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

static void hold(struct plan *p, int *piece, size_t floats, int time)
{
    if (*piece < 0) {
        *piece = p->pieces++;
        p->piece[*piece] = (struct piece){.begin = time};
    }
    struct piece *at = &p->piece[*piece];
    at->floats = floats > at->floats ? floats : at->floats;
    at->end = time > at->end ? time : at->end;
}

static void hold_pixels(struct plan *p, int *list, int layer, int time)
{
    if (layer >= 0)
        hold(p, &list[layer], p->s->layer[layer].out * CPU_LANES * (size_t)p->groups, time);
}

static void hold_scratch(struct plan *p, int *list, int at, int layer, int time)
{
    size_t floats = cpu_round_up(cpu_scratch(p->s, layer, p->groups));

    if (floats)
        hold(p, &list[at], floats, time);
}

static void plan_forward(struct plan *p)
{
    const struct backend_session *s = p->s;

    for (int i = 0; i < s->layers; i++) {
        const struct cpu_layer *c = &s->layer[i];
        if (c->fused)
            continue;
        p->owner[c->tail] = i;
        hold_pixels(p, p->act, c->l.src, i);
        hold_pixels(p, p->act, c->l.src2, i);
        if (c->in_place)
            p->act[c->tail] = p->act[c->l.src];
        hold_pixels(p, p->act, c->tail, i);
        hold_scratch(p, p->scratch, i, i, i);
    }
    hold_pixels(p, p->act, s->layers - 1, s->layers);
}

/* A batch norm over a convolution that is computed again: both in one step, in the same place. */
static const struct cpu_layer *conv_below(const struct backend_session *s,
                                          const struct cpu_layer *c)
{
    const struct cpu_layer *src = c->l.src >= 0 ? &s->layer[c->l.src] : NULL;
    return c->l.op == NET_BATCHNORM && src && src->l.op == NET_CONV && src->again ? src : NULL;
}

/* A tail's numbers must be there when layer i goes backward, and before that what they are computed
 * from. */
static void want_back(struct plan *p, int tail, int i)
{
    struct backend_session *s = p->s;
    int time = 2 * s->layers - i;

    if (tail < 0)
        return;
    const struct cpu_layer *c = &s->layer[p->owner[tail]];
    if (!c->again) {
        hold_pixels(p, p->act, tail, time);
        p->back[tail] = p->act[tail];
    } else if (p->back[tail] >= 0) {
        hold_pixels(p, p->back, tail, time);
    } else {
        const struct cpu_layer *conv = conv_below(s, c);
        if (!conv)
            want_back(p, c->l.src, i);
        want_back(p, c->l.op == NET_ADD ? c->l.src2 : -1, i);
        if (c->in_place)
            p->back[tail] = p->back[c->l.src];
        hold_pixels(p, p->back, tail, time);
        hold_scratch(p, p->scratch_back, i, conv ? conv->index : c->index, time);
        s->redo[p->redone++] = c->index;
    }
}

static void plan_backward(struct plan *p)
{
    struct backend_session *s = p->s;
    int last = s->layers - 1;

    hold_pixels(p, p->grad, last, s->layers);
    for (int i = last; i >= 0; i--) {
        struct cpu_layer *c = &s->layer[i];
        int time = 2 * s->layers - i, tail[2];
        if (c->fused)
            continue;
        c->redo_from = p->redone;
        for (int n = reads_back(c, tail), j = 0; j < n; j++)
            want_back(p, tail[j], i);
        c->redo_to = p->redone;
        hold_pixels(p, p->grad, c->tail, time);
        if (c->grad_in_place)
            p->grad[c->l.src] = p->grad[c->tail];
        hold_pixels(p, p->grad, c->l.src, time);
        hold_pixels(p, p->grad, c->l.src2, time);
        hold_scratch(p, p->scratch_back, i, i, time);
    }
    hold_pixels(p, p->act, last, 2 * s->layers + 1); /* for peek */
    hold_pixels(p, p->grad, last, 2 * s->layers + 1);
}

static int by_floats(const void *a, const void *b)
{
    const struct piece *x = *(struct piece *const *)a, *y = *(struct piece *const *)b;

    if (x->floats != y->floats)
        return x->floats < y->floats ? 1 : -1;
    return x < y ? -1 : x > y;
}

static int by_place(const void *a, const void *b)
{
    const struct piece *x = *(struct piece *const *)a, *y = *(struct piece *const *)b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Large pieces first, each at the lowest place that is free as long as it is held. Returns the floats
 * of all. */
static size_t place(struct plan *p)
{
    size_t n = (size_t)p->pieces, most = 0;
    struct piece **order = mem_new(n + 1, sizeof *order), **near = mem_new(n + 1, sizeof *near);

    for (size_t i = 0; i < n; i++)
        order[i] = &p->piece[i];
    qsort(order, n, sizeof(struct piece *), by_floats);
    for (size_t i = 0; i < n; i++) {
        struct piece *piece = order[i];
        size_t nears = 0;
        for (size_t j = 0; j < i; j++) {
            if (order[j]->begin <= piece->end && order[j]->end >= piece->begin)
                near[nears++] = order[j];
        }
        qsort(near, nears, sizeof(struct piece *), by_place);
        for (size_t j = 0; j < nears && near[j]->at < piece->at + piece->floats; j++) {
            size_t end = near[j]->at + near[j]->floats;
            piece->at = end > piece->at ? end : piece->at;
        }
        most = piece->at + piece->floats > most ? piece->at + piece->floats : most;
    }
    free(order);
    free(near);
    return most;
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

void cpu_spare_plan(struct backend_session *s)
{
    size_t layers = (size_t)s->layers;
    const struct cpu_team *t = &s->team[0];

    s->redo = cpu_take_table(s, layers, sizeof *s->redo);
    s->lease = cpu_take_table(s, layers, sizeof *s->lease);
    s->lease_evaluate = cpu_take_table(s, layers, sizeof *s->lease_evaluate);
    s->part = plan_part(s, cpu_groups_train(s, t), true, s->lease);
    s->part_evaluate = plan_part(s, cpu_groups_each(s, t), false, s->lease_evaluate);
}

/* Where a worker's part of the arena begins. */
static float *part_of(const struct cpu_worker *w, bool training)
{
    const struct backend_session *s = w->team->s;
    size_t rank = (size_t)w->rank;

    return w->team->arena +
           (training ? s->slot + rank * s->part : s->packed_count + rank * s->part_evaluate);
}

static float *leased(float *part, size_t at)
{
    return at == CPU_NOWHERE ? NULL : part + at;
}

static size_t arena_floats(const struct backend_session *s, int size)
{
    size_t train = s->slot + (size_t)size * s->part;
    size_t evaluate = s->packed_count + (size_t)size * s->part_evaluate;

    return train > evaluate ? train : evaluate;
}

void cpu_spare_equip(struct backend_session *s, struct cpu_team *t)
{
    size_t layers = (size_t)s->layers;

    t->arena = cpu_take(s, arena_floats(s, t->size), sizeof *t->arena);
    for (int r = 0; r < t->size && t->arena && !s->counting; r++) {
        struct cpu_worker *w = &t->worker[r];
        float *train_part = part_of(w, true), *evaluate_part = part_of(w, false);
        w->train = cpu_take_table(s, layers, sizeof *w->train);
        w->evaluate = cpu_take_table(s, layers, sizeof *w->evaluate);
        w->back = cpu_take_table(s, layers, sizeof *w->back);
        for (int i = 0; i < s->layers; i++) {
            w->train[i] = leased(train_part, s->lease[i].act);
            w->back[i] = leased(train_part, s->lease[i].back != CPU_NOWHERE ? s->lease[i].back
                                                                            : s->lease[i].act);
            w->grad[i] = leased(train_part, s->lease[i].grad);
            w->evaluate[i] = leased(evaluate_part, s->lease_evaluate[i].act);
        }
    }
}

void cpu_spare_begin(struct cpu_worker *w, bool training, int base)
{
    const struct backend_session *s = w->team->s;

    w->act = training ? w->train : w->evaluate;
    w->arena = part_of(w, training);
    w->lease = training ? s->lease : s->lease_evaluate;
    w->base = w->chunk = base;
    w->packed = w->merged = w->barriers - 1;
}

static void pack(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                 float *to)
{
    c->ops->pack(&c->conv, !c->first, m->rounded + c->kernel, to, w->rank, w->team->size);
}

void cpu_spare_layer(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                     bool training, bool back)
{
    const struct cpu_lease *lease = &w->lease[c->index];

    w->scratch = leased(w->arena, back ? lease->scratch_back : lease->scratch);
    if (back && c->merge && w->merged == w->barriers)
        cpu_barrier(w); /* the others may be reading the last one's gradient */
    if (back && c->merge && w->rank > 0)
        memset(w->own + c->kernel_own, 0,
               w->team->s->plan.net->param[c->l.kernel].count * sizeof *w->own);
    if (!training || c->l.op != NET_CONV || (back && c->first))
        return;
    /* free for this layer as soon as a barrier was passed since the last that used it */
    if (w->packed == w->barriers)
        cpu_barrier(w);
    if (!atomic_load_explicit(&w->team->abandon, memory_order_relaxed))
        pack(w, m, c, w->team->arena + c->pack_train);
    cpu_barrier(w);
    w->packed = w->barriers;
}

static void conv_again(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                       int place, int n, float *y)
{
    const struct cpu_kernels *k = w->team->s->k;
    size_t floats = (size_t)n * c->out * CPU_LANES;

    c->ops->forward(&c->conv, n, w->team->arena + c->pack_train,
                    c->l.bias >= 0 ? m->rounded + c->bias : NULL, cpu_back(w, c->l.src, place), y,
                    NULL, w->scratch);
    if (w->team->s->bf16)
        k->round_bf16(floats, y, y);
}

void cpu_spare_again(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                     int place, int n)
{
    const struct backend_session *s = w->team->s;

    for (int r = c->redo_from; r < c->redo_to; r++) {
        const struct cpu_layer *redo = &s->layer[s->redo[r]];
        size_t floats = (size_t)n * redo->out * CPU_LANES;
        const struct cpu_layer *conv = redo->l.op == NET_CONV ? redo : conv_below(s, redo);
        float *y = cpu_back(w, redo->tail, place);
        if (conv)
            conv_again(w, m, conv, place, n, y);
        if (redo->l.op == NET_BATCHNORM)
            cpu_norm_again(w, m, redo, place, n, conv ? y : cpu_back(w, redo->l.src, place));
        else if (redo->l.op == NET_ADD && redo->tail > redo->index)
            s->k->add_relu(floats, cpu_back(w, redo->l.src, place),
                           cpu_back(w, redo->l.src2, place), y);
        else if (redo->l.op == NET_ADD)
            s->k->add(floats, cpu_back(w, redo->l.src, place), cpu_back(w, redo->l.src2, place), y);
        if (s->bf16 && redo != conv)
            s->k->round_bf16(floats, y, y);
    }
}

void cpu_spare_pack_all(struct cpu_worker *w, const struct cpu_model *m)
{
    const struct backend_session *s = w->team->s;

    cpu_barrier(w);
    for (int i = 0; i < s->layers; i++) {
        if (s->layer[i].l.op == NET_CONV)
            pack(w, m, &s->layer[i], w->team->arena + s->layer[i].pack);
    }
    cpu_barrier(w);
}

/* The kernel's gradient of all threads, in the order of their ranks. */
void cpu_spare_merge(struct cpu_worker *w, const struct cpu_layer *c)
{
    struct cpu_team *t = w->team;
    int from, to;

    if (t->size == 1)
        return;
    cpu_barrier(w);
    cpu_units(w, t->s->plan.net->param[c->l.kernel].count, &from, &to);
    for (int r = 1; r < t->size && to > from; r++)
        t->s->k->add_into((size_t)(to - from), t->dparam + c->kernel + from,
                          t->worker[r].own + c->kernel_own + from);
    w->merged = w->barriers;
}

void cpu_spare_give_back(struct backend_session *s)
{
    size_t floats = arena_floats(s, s->team->size), page = (size_t)sysconf(_SC_PAGESIZE);

    for (int t = 0; t < s->teams && !s->given_back; t++) {
        uintptr_t from = ((uintptr_t)s->team[t].arena + page - 1) / page * page;
        uintptr_t to = (uintptr_t)(s->team[t].arena + floats) / page * page;
        if (to > from)
            madvise((void *)from, to - from, MADV_DONTNEED);
    }
    s->given_back = true;
}
