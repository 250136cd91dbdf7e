/* cpu/update.c: the gradients of all threads, summed in a fixed order, and the step along them. */
#include "cpu/session_int.h"

#include <math.h>
#include <string.h>

/* A dense layer's weights on tiles are packed by whoever updates them, while they are in the cache:
 * but not where they are updated later, all at once. */
bool cpu_packs_at_once(const struct backend_session *s, const struct cpu_layer *c)
{
    return c->tiles && c->units && !(s->plan.grad_clip > 0);
}

/* All but the kernels of dense layers on tiles, which are rounded as they are packed. */
static void round_weights(struct cpu_worker *w, struct cpu_model *m)
{
    const struct backend_session *s = w->team->s;

    for (int i = 0; i < s->plan.net->params; i++) {
        const struct net_tensor *t = &s->plan.net->param[i];
        const struct cpu_layer *c = &s->layer[t->layer];
        int from, to;
        if (c->tiles && c->l.kernel == i)
            continue;
        cpu_units(w, t->count, &from, &to);
        s->k->round_bf16((size_t)(to - from), m->param + t->offset + from,
                         m->rounded + t->offset + from);
    }
}

/* Weights in the order that the kernels read them; the threads share out every convolution. */
void cpu_pack(struct cpu_worker *w, struct cpu_model *m, bool all)
{
    struct backend_session *s = w->team->s;

    if (s->bf16) {
        round_weights(w, m);
        cpu_barrier(w);
    }
    for (int i = 0; i < s->layers; i++) {
        const struct cpu_layer *c = &s->layer[i];
        if (c->l.op == NET_CONV && !s->spare)
            c->ops_train->pack(&c->conv, !c->first, m->rounded + c->kernel,
                               m->packed + c->pack_train, w->rank, w->team->size);
    }
    for (int i = 0; i < s->layers; i++) {
        const struct cpu_layer *c = &s->layer[i];
        int from, to;
        if (!c->tiles || (cpu_packs_at_once(s, c) && !all))
            continue;
        cpu_units(w, c->in, &from, &to);
        if (to > from)
            s->tiles->dense_pack((int)c->in, (int)c->out, !c->first, from, to, m->param + c->kernel,
                                 m->tiles + c->tile);
    }
}

void cpu_pack_to_evaluate(struct cpu_worker *w, struct cpu_model *m)
{
    const struct backend_session *s = w->team->s;

    for (int i = 0; i < s->layers && !s->spare; i++) {
        const struct cpu_layer *c = &s->layer[i];
        if (c->ops != c->ops_train)
            c->ops->pack(&c->conv, !c->first, m->rounded + c->kernel, m->packed + c->pack, w->rank,
                         w->team->size);
    }
}

void cpu_update_begin(struct cpu_worker *w, double lr, uint64_t step)
{
    const struct backend_plan *p = &w->team->s->plan;
    bool decoupled = p->optimizer == SPEC_ADAMW;

    w->update = (struct cpu_update){
        .optimizer = p->optimizer,
        .lr = (float)lr,
        .scale = 1,
        .momentum = (float)p->momentum,
        .b1 = (float)p->beta1,
        .b2 = (float)p->beta2,
        .epsilon = (float)p->epsilon,
        .coupled = decoupled ? 0 : (float)p->weight_decay,
        .decoupled = decoupled ? (float)p->weight_decay : 0,
        .fix1 = (float)(1 / (1 - pow(p->beta1, (double)(step + 1)))),
        .fix2 = (float)(1 / (1 - pow(p->beta2, (double)(step + 1)))),
    };
}

static void update_slice(struct cpu_worker *w, struct cpu_model *m, size_t from, size_t n)
{
    w->team->s->k->update(&w->update, m->param + from, m->slot1 ? m->slot1 + from : NULL,
                          m->slot2 ? m->slot2 + from : NULL, w->team->dparam + from, n);
}

void cpu_update_now(struct cpu_worker *w, struct cpu_model *m, size_t from, size_t n)
{
    if (w->team->s->plan.grad_clip > 0)
        w->square += w->team->s->k->square(n, w->team->dparam + from); /* the step waits for all */
    else
        update_slice(w, m, from, n);
}

/* What this worker does of the ranges: their concatenation is dealt out in equal slices. */
static size_t slice_of(const struct cpu_worker *w, const struct cpu_range *r, size_t *from)
{
    size_t all = w->team->s->own_count, size = (size_t)w->team->size, rank = (size_t)w->rank;
    size_t slice = (all / size + 16) / 16 * 16; /* whole lines */
    size_t begin = slice * rank, end = begin + slice, n = r->to - r->from;

    begin = begin > r->own ? begin - r->own : 0;
    end = end > r->own ? end - r->own : 0;
    begin = begin < n ? begin : n;
    end = end < n ? end : n;
    *from = begin;
    return end - begin;
}

/* Adds the other threads' gradients of some parameters, but those that are merged already. */
static void add_threads(struct cpu_team *t, size_t from, size_t n)
{
    const struct net *net = t->s->plan.net;

    for (int i = 0; i < net->params; i++) {
        const struct net_tensor *p = &net->param[i];
        const struct cpu_layer *c = &t->s->layer[p->layer];
        bool kernel = c->l.kernel == i;
        size_t begin = from > p->offset ? from : p->offset, end = p->offset + p->count;
        end = from + n < end ? from + n : end;
        if ((kernel && c->merge) || begin >= end)
            continue;
        size_t own = (kernel ? c->kernel_own : c->bias_own) + begin - p->offset;
        for (int k = 1; k < t->size; k++)
            t->s->k->add_into(end - begin, t->dparam + begin, t->worker[k].own + own);
    }
}

/* Sums the threads' gradients always in the same order. */
static void reduce(struct cpu_worker *w)
{
    struct cpu_team *t = w->team;
    const struct backend_session *s = t->s;

    for (int i = 0; i < s->ranges; i++) {
        const struct cpu_range *r = &s->range[i];
        size_t at, n = slice_of(w, r, &at);
        add_threads(t, r->from + at, n);
        if (s->plan.grad_clip > 0)
            w->square += s->k->square(n, t->dparam + r->from + at);
    }
}

/* The global norm is cut back to grad_clip: nothing was updated yet, so all parameters are. */
static void update_clipped(struct cpu_worker *w, struct cpu_model *m)
{
    struct cpu_team *t = w->team;
    double square = 0, clip = t->s->plan.grad_clip;
    int from, to;

    cpu_barrier(w);
    for (int r = 0; r < t->size; r++)
        square += t->worker[r].square;
    if (sqrt(square) > clip)
        w->update.scale = (float)(clip / sqrt(square));
    cpu_units(w, t->s->params, &from, &to);
    update_slice(w, m, (size_t)from, (size_t)(to - from));
}

void cpu_update(struct cpu_worker *w, struct cpu_model *m)
{
    struct cpu_team *t = w->team;
    struct backend_session *s = t->s;

    reduce(w);
    if (s->plan.grad_clip > 0) {
        update_clipped(w, m);
    } else {
        for (int i = 0; i < s->ranges; i++) {
            size_t at, n = slice_of(w, &s->range[i], &at);
            update_slice(w, m, s->range[i].from + at, n);
        }
    }
    if (w->rank == 0 && s->stats)
        memcpy(m->stat, t->next_stat, s->stats * sizeof *m->stat);
    if (s->packed_count || s->bf16) {
        cpu_barrier(w);
        cpu_pack(w, m, false);
    }
}
