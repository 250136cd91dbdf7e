/* cpu/spare.c: less memory for nets with batch norm or residuals whose activations are many. Of what
 * going backward reads, only what is dear is kept: convolutions' outputs. A batch norm's output and
 * a residual's sum are computed again, by the same kernels from the same numbers, when a layer wants
 * them. Each worker has a part of the arena for its own groups, so that no other thread's numbers
 * ever lie there; a planner knows when each piece is held and lays pieces over each other that never
 * are at the same time. Winograd's packed weights, four times the size of the weights themselves,
 * are made for one layer at a time, all before an evaluation. Gradients of large kernels are summed
 * over the threads layer by layer. */
#include "cpu/session_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A batch of fewer groups than there are workers leaves some without one. These keep no numbers when
 * training, and help in the layers that all share. */
static bool is_helper(const struct cpu_worker *w)
{
    int from, to;

    cpu_share(w->team->s->batch_groups, w->team->size, w->rank, &from, &to);
    return from == to;
}

static size_t owners(const struct backend_session *s, int size)
{
    return (size_t)(s->batch_groups < size ? s->batch_groups : size);
}

/* Where a worker's part of the arena begins: when training, those of helpers lie behind the others. */
static float *part_of(const struct cpu_worker *w, bool training)
{
    const struct backend_session *s = w->team->s;
    size_t rank = (size_t)w->rank, all = owners(s, w->team->size), before = rank;
    int from, to;

    if (!training)
        return w->team->arena + s->packed_count + rank * s->part_evaluate;
    cpu_share(s->batch_groups, w->team->size, w->rank, &from, &to);
    if (all < (size_t)w->team->size)
        before = (size_t)from; /* a group each */
    return w->team->arena + s->slot +
           (from < to ? before * s->part : all * s->part + (rank - before) * s->part_helper);
}

static float *leased(float *part, size_t at)
{
    return at == CPU_NOWHERE ? NULL : part + at;
}

static size_t arena_floats(const struct backend_session *s, int size)
{
    size_t all = owners(s, size);
    size_t train = s->slot + all * s->part + ((size_t)size - all) * s->part_helper;
    size_t evaluate = s->packed_count + (size_t)size * s->part_evaluate;

    return train > evaluate ? train : evaluate;
}

void cpu_spare_equip(struct backend_session *s, struct cpu_team *t)
{
    size_t layers = (size_t)s->layers;

    t->arena = cpu_take_room(s, arena_floats(s, t->size), sizeof *t->arena);
    for (int r = 0; r < t->size && t->arena && !s->counting; r++) {
        struct cpu_worker *w = &t->worker[r];
        float *train_part = part_of(w, true), *evaluate_part = part_of(w, false);
        w->train = cpu_take_table(s, layers, sizeof *w->train);
        w->evaluate = cpu_take_table(s, layers, sizeof *w->evaluate);
        w->back = cpu_take_table(s, layers, sizeof *w->back);
        for (int i = 0; i < s->layers; i++) {
            w->evaluate[i] = leased(evaluate_part, s->lease_evaluate[i].act);
            if (is_helper(w))
                continue;
            w->train[i] = leased(train_part, s->lease[i].act);
            w->back[i] = leased(train_part, s->lease[i].back != CPU_NOWHERE ? s->lease[i].back
                                                                            : s->lease[i].act);
            w->grad[i] = leased(train_part, s->lease[i].grad);
        }
    }
}

void cpu_spare_begin(struct cpu_worker *w, bool training, int base)
{
    const struct backend_session *s = w->team->s;

    w->act = training ? w->train : w->evaluate;
    w->arena = part_of(w, training);
    w->lease = !training ? s->lease_evaluate : is_helper(w) ? NULL : s->lease;
    w->base = w->chunk = base;
    w->packed = w->merged = w->barriers - 1;
}

static void pack(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                 const struct cpu_conv_ops *ops, float *to)
{
    ops->pack(&c->conv, !c->first, m->rounded + c->kernel, to, w->rank, w->team->size);
}

void cpu_spare_layer(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                     bool training, bool back)
{
    const struct cpu_lease *lease = w->lease ? &w->lease[c->index] : NULL;

    w->scratch = lease ? leased(w->arena, back ? lease->scratch_back : lease->scratch) : w->arena;
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
        pack(w, m, c, c->ops_train, w->team->arena + c->pack_train);
    cpu_barrier(w);
    w->packed = w->barriers;
}

static void conv_again(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                       int place, int n, float *y)
{
    const struct cpu_kernels *k = w->team->s->k;
    size_t floats = (size_t)n * c->out * w->team->s->lanes;

    c->ops_train->forward(&c->conv, n, m->rounded + c->kernel, w->team->arena + c->pack_train,
                          c->l.bias >= 0 ? m->rounded + c->bias : NULL,
                          cpu_back(w, c->l.src, place), y, NULL, w->scratch);
    if (w->team->s->bf16 && !c->ops_train->rounds)
        k->round_bf16(floats, y, y);
}

void cpu_spare_again(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                     int place, int n)
{
    const struct backend_session *s = w->team->s;

    for (int r = c->redo_from; r < c->redo_to; r++) {
        const struct cpu_layer *redo = &s->layer[s->redo[r]];
        const struct cpu_layer *conv =
            redo->l.op == NET_CONV ? redo : cpu_spare_conv_below(s, redo);
        float *y = cpu_back(w, redo->tail, place);
        if (conv)
            conv_again(w, m, conv, place, n, y);
        if (redo->l.op == NET_BATCHNORM)
            cpu_norm_again(w, m, redo, place, n, conv ? y : cpu_back(w, redo->l.src, place));
        else if (redo->l.op == NET_ADD)
            cpu_add_forward(w, redo, (size_t)n * redo->out * s->lanes,
                            cpu_back(w, redo->l.src, place), cpu_back(w, redo->l.src2, place), y);
    }
}

void cpu_spare_pack_all(struct cpu_worker *w, const struct cpu_model *m)
{
    const struct backend_session *s = w->team->s;

    cpu_barrier(w);
    for (int i = 0; i < s->layers; i++) {
        if (s->layer[i].l.op == NET_CONV)
            pack(w, m, &s->layer[i], s->layer[i].ops, w->team->arena + s->layer[i].pack);
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
