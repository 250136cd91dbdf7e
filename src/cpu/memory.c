/* cpu/memory.c: all memory that a session needs. Every piece is noted, so that close and a failed
 * open free the same way; an estimate counts the pieces instead of taking them. */
#include "cpu/session_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE        ((size_t)2 << 20)
#define EVALUATION_IMAGES 64 /* at least, at a time: dense weights are read once for them */

static size_t elements(const struct net_shape *s)
{
    return (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

/* Large pieces in large pages, where the system has them: kernels go down columns of weights, whose
 * rows lie a small page apart. What is left of a piece behind whole ones takes small ones. */
static void *take(size_t count, size_t size, bool zeros)
{
    size_t bytes;
    void *p;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes < LARGE_PAGE || bytes > SIZE_MAX / 2)
        return mem_try(count, size);
    bytes = (bytes + 63) & ~(size_t)63; /* as mem_try does */
    if (posix_memalign(&p, LARGE_PAGE, bytes))
        return NULL;
#ifdef MADV_HUGEPAGE
    madvise(p, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE); /* refused: as good as before */
#endif
    return zeros ? memset(p, 0, bytes) : p;
}

static void *note(struct backend_session *s, void *p)
{
    s->memory = mem_grow(s->memory, &s->memory_room, s->pieces + 1, sizeof *s->memory);
    s->memory[s->pieces++] = p;
    return p;
}

static void *take_piece(struct backend_session *s, size_t count, size_t size, bool zeros)
{
    if (s->counting) {
        s->counted += (double)count * (double)size;
        return s->memory; /* any address: what was taken is not taken again */
    }
    void *p = s->failed_bytes ? NULL : take(count, size, zeros);
    if (!p) {
        if (!s->failed_bytes && __builtin_mul_overflow(count, size, &s->failed_bytes))
            s->failed_bytes = SIZE_MAX;
        return NULL;
    }
    return note(s, p);
}

void *cpu_take(struct backend_session *s, size_t count, size_t size)
{
    return take_piece(s, count, size, true);
}

void *cpu_take_room(struct backend_session *s, size_t count, size_t size)
{
    return take_piece(s, count, size, false);
}

void *cpu_take_table(struct backend_session *s, size_t count, size_t size)
{
    return note(s, mem_new(count, size));
}

int cpu_groups_train(const struct backend_session *s, const struct cpu_team *t)
{
    int share = (s->batch_groups + t->size - 1) / t->size;

    return s->piece ? s->piece : share;
}

/* Groups of a batch that the team's buffers hold. */
static size_t groups_held(const struct backend_session *s, const struct cpu_team *t)
{
    return (size_t)(s->piece ? s->piece * t->size : s->batch_groups);
}

int cpu_groups_each(const struct backend_session *s, const struct cpu_team *t)
{
    int share = cpu_groups_train(s, t), least = EVALUATION_IMAGES / (int)s->lanes;
    const struct data_set *data = s->plan.data;

    if (data) { /* no more than there are to evaluate */
        size_t images = data->test.count > data->valid.count ? data->test.count : data->valid.count;
        size_t at_once = s->lanes * (size_t)t->size, each = (images + at_once - 1) / at_once;
        least = each < (size_t)least ? (int)each : least;
    }
    return share < least ? least : share;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Of a convolution, also where training and evaluating take different kernels. */
static size_t scratch_of_both(const struct backend_session *s, int layer, int groups)
{
    const struct cpu_layer *c = &s->layer[layer];

    if (c->l.op == NET_CONV)
        return larger(c->ops->scratch(&c->conv, groups, !c->first),
                      c->ops_train->scratch(&c->conv, groups, !c->first));
    if (c->tiles)
        return s->tiles->dense_scratch(groups, (int)c->in, (int)c->out);
    return c->l.op == NET_DENSE ? (size_t)groups * s->lanes * cpu_round_up(c->out) : 0;
}

size_t cpu_scratch(const struct backend_session *s, int layer, int groups, bool back)
{
    const struct cpu_layer *c = &s->layer[layer];

    return c->l.op == NET_CONV && c->ops == c->ops_train && c->ops->scratch_of
               ? c->ops->scratch_of(&c->conv, groups, back)
               : scratch_of_both(s, layer, groups);
}

/* Gradients to the layers' outputs, but those that workers have of the chunk at hand. */
static void equip_gradients(struct backend_session *s, struct cpu_team *t)
{
    for (int i = s->layers - 1; i >= 0 && !s->failed_bytes; i--) {
        const struct cpu_layer *c = &s->layer[i];
        int want[3] = {c->tail, c->l.src, c->l.src2};
        for (int j = 0; j < 3 && !c->fused; j++) {
            int k = want[j];
            bool chunk = k >= 0 && k < s->pictures && !s->whole && !s->layer[k].boundary;
            if (k < 0 || t->grad[k] || chunk || s->layer[k].idle)
                continue;
            if (j == 1 && c->grad_in_place)
                t->grad[k] = t->grad[c->tail];
            else
                t->grad[k] =
                    cpu_take(s, groups_held(s, t) * s->layer[k].out * s->lanes, sizeof **t->grad);
        }
    }
}

static void equip_worker(struct backend_session *s, struct cpu_team *t, struct cpu_worker *w)
{
    size_t scratch = 0;
    int each = cpu_groups_each(s, t);

    w->grad = cpu_take_table(s, (size_t)s->layers, sizeof *w->grad);
    if (w->rank > 0)
        w->own = cpu_take(s, cpu_round_up(s->own_room), sizeof *w->own);
    w->picture = cpu_take(s, elements(&s->plan.net->input), sizeof *w->picture);
    w->channel = cpu_take(s, s->channels, sizeof *w->channel);
    for (int i = s->layers - 1; i >= 0 && !s->spare && !s->failed_bytes; i--) {
        const struct cpu_layer *c = &s->layer[i];
        bool chunk = i < s->pictures && s->chunk < each;
        size_t want = scratch_of_both(s, i, chunk ? s->chunk : c->units ? t->places : each);
        scratch = want > scratch ? want : scratch;
        int own = c->tail;
        if (i >= s->pictures || c->fused || c->idle || s->whole)
            continue;
        if (!s->layer[own].boundary && !w->grad[own])
            w->grad[own] =
                cpu_take(s, (size_t)s->chunk * s->layer[own].out * s->lanes, sizeof **w->grad);
        if (c->grad_in_place) /* its source's gradient lies where its own does, whole or not */
            w->grad[c->l.src] = w->grad[own];
    }
    w->act = w->back = t->act;
    w->scratch = s->spare ? NULL : cpu_take(s, scratch, sizeof *w->scratch);
}

static void equip_team(struct backend_session *s, struct cpu_team *t)
{
    t->s = s;
    t->places = t->size * cpu_groups_each(s, t);
    size_t places = (size_t)t->places, trained = groups_held(s, t);
    size_t images = larger(places, (size_t)s->batch_groups);
    t->act = cpu_take_table(s, (size_t)s->layers, sizeof *t->act);
    t->grad = cpu_take_table(s, (size_t)s->layers, sizeof *t->grad);
    t->keep = cpu_take_table(s, (size_t)s->layers, sizeof *t->keep);
    t->pass = cpu_take_table(s, (size_t)s->layers, sizeof *t->pass);
    t->worker = cpu_take_table(s, (size_t)t->size, sizeof *t->worker);
    t->images = cpu_take(s, images * elements(&s->plan.net->input) * s->lanes, sizeof *t->images);
    t->dparam = cpu_take(s, cpu_round_up(s->params), sizeof *t->dparam);
    for (int i = 0; i < s->layers && !s->failed_bytes; i++) {
        const struct cpu_layer *c = &s->layer[i];
        if (c->fused)
            continue;
        if (c->in_place)
            t->act[c->tail] = t->act[c->l.src];
        else if (!s->spare)
            t->act[c->tail] =
                cpu_take(s, places * s->layer[c->tail].out * s->lanes, sizeof **t->act);
        if (c->l.op == NET_DROPOUT)
            t->keep[i] = cpu_take(s, trained * c->out, sizeof **t->keep);
        if (c->l.op == NET_CONV && cpu_conv_masks(&c->conv)) {
            size_t plane = (size_t)c->conv.conv_h * (size_t)c->conv.conv_w;
            t->pass[i] = cpu_take(s,
                                  larger(trained * (size_t)c->conv.cout * plane,
                                         c->conv.blocks ? cpu_blocks_bits(c->conv.blocks) : 0),
                                  sizeof **t->pass);
        }
    }
    if (!s->spare)
        equip_gradients(s, t);
    t->sums = cpu_take(s, 2 * s->channels * cpu_norm_segments(s), sizeof *t->sums);
    t->norm = cpu_take(s, 2 * s->norm_count * (size_t)s->spans, sizeof *t->norm);
    t->next_stat = cpu_take(s, s->stats, sizeof *t->next_stat);
    t->image_loss = cpu_take(s, s->plan.batch, sizeof *t->image_loss);
    t->image_right = cpu_take(s, s->plan.batch, sizeof *t->image_right);
    for (int r = 0; r < t->size && !s->failed_bytes; r++) {
        t->worker[r] = (struct cpu_worker){.team = t, .rank = r};
        equip_worker(s, t, &t->worker[r]);
    }
    if (s->spare)
        cpu_spare_equip(s, t);
}

void cpu_equip_models(struct backend_session *s)
{
    int slots = backend_slots(s->plan.optimizer);

    s->model = cpu_take_table(s, (size_t)s->plan.members, sizeof *s->model);
    for (int m = 0; m < s->plan.members && !s->failed_bytes; m++) {
        struct cpu_model *model = &s->model[m];
        model->param = cpu_take(s, s->params, sizeof *model->param);
        model->stat = cpu_take(s, s->stats, sizeof *model->stat);
        if (!s->spare)
            model->packed = cpu_take(s, s->packed_count, sizeof *model->packed);
        model->tiles = cpu_take(s, s->tile_count, sizeof *model->tiles);
        model->rounded = s->bf16 ? cpu_take(s, s->params, sizeof *model->rounded) : model->param;
        if (slots > 0)
            model->slot1 = cpu_take(s, s->params, sizeof *model->slot1);
        if (slots > 1)
            model->slot2 = cpu_take(s, s->params, sizeof *model->slot2);
        model->key = s->plan.model_key[m];
    }
}

/* All threads on one model after the other; or, where that fills their time as well, each thread on
 * members of its own, without a barrier. */
void cpu_equip_teams(struct backend_session *s)
{
    int size = s->threads / s->teams; /* teams of one, or one of all */

    s->team = cpu_take_table(s, (size_t)s->teams, sizeof *s->team);
    for (int i = 0; i < s->layers; i++) { /* pictures' gradients that layers behind them write */
        const struct cpu_layer *c = &s->layer[i];
        if (i >= s->pictures && c->l.src >= 0 && c->l.src < s->pictures)
            s->layer[c->l.src].boundary = true;
    }
    if (s->pictures == s->layers && s->layers)
        s->layer[s->layers - 1].boundary = true; /* the loss writes it */
    for (int t = 0; t < s->teams && !s->failed_bytes; t++) {
        s->team[t].size = size;
        s->team[t].first_model = t;
        s->team[t].model_step = s->teams;
        s->whole = s->chunk >= cpu_groups_each(s, &s->team[t]);
        if (s->spare && t == 0)
            cpu_spare_plan(s);
        equip_team(s, &s->team[t]);
    }
}
