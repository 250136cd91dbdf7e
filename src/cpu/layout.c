/* cpu/layout.c: how a net's layers lie in memory, and all memory that a session needs. */
#include "cpu/cpu_int.h"

#include "base/mem.h"

#include <stdlib.h>

/* Geometry. */

static struct cpu_conv conv_of(const struct net_layer *l)
{
    return (struct cpu_conv){.cin = l->in.c,
                             .cout = l->out.c,
                             .k = l->k,
                             .stride = l->stride,
                             .in_h = l->in.h + l->pad_top + l->pad_bottom,
                             .in_w = l->in.w + l->pad_left + l->pad_right,
                             .out_h = l->out.h,
                             .out_w = l->out.w};
}

static struct cpu_conv back_of(const struct net_layer *l)
{
    return (struct cpu_conv){.cin = l->out.c,
                             .cout = l->in.c,
                             .k = l->k,
                             .stride = 1,
                             .in_h = l->in.h + l->k - 1,
                             .in_w = l->in.w + l->k - 1,
                             .out_h = l->in.h,
                             .out_w = l->in.w};
}

static size_t elements(const struct net_shape *s)
{
    return (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

static bool overwrites(const struct net *net, int i)
{
    const struct net_layer *l = &net->layer[i];
    int readers = 0;

    if (l->op != NET_RELU || l->src < 0)
        return false;
    for (int j = 0; j < net->layers; j++)
        readers += (net->layer[j].src == l->src) + (net->layer[j].src2 == l->src);
    /* a layer that needs its own output to go backward must keep it */
    enum net_op op = net->layer[l->src].op;
    return readers == 1 && (op == NET_CONV || op == NET_DENSE || op == NET_BATCHNORM ||
                            op == NET_ADD || op == NET_AVGPOOL);
}

static size_t round_up(size_t n)
{
    return (n + CPU_LANES - 1) / CPU_LANES * CPU_LANES;
}

void cpu_lay_out(struct backend_session *s)
{
    const struct net *net = s->plan.net;
    bool *written = mem_new((size_t)net->layers, sizeof *written);

    for (int i = 0; i < net->layers; i++) {
        const struct net_layer *l = &net->layer[i];
        struct cpu_layer *c = &s->layer[i];
        c->l = l;
        c->in = elements(&l->in);
        c->out = elements(&l->out);
        c->first = l->src == NET_IMAGES;
        c->in_place = overwrites(net, i);
        if (l->kernel >= 0)
            c->kernel = net->param[l->kernel].offset;
        if (l->bias >= 0)
            c->bias = net->param[l->bias].offset;
        if (l->op == NET_BATCHNORM) {
            c->mean = net->stat[l->mean].offset;
            c->var = net->stat[l->var].offset;
            s->norm = true;
        }
        if (l->op == NET_CONV) {
            c->conv = conv_of(l);
            c->back = back_of(l);
            c->padded = l->pad_top || l->pad_bottom || l->pad_left || l->pad_right;
            c->pack = s->packed_count;
            s->packed_count += round_up(s->k->conv_packed(&c->conv));
            c->pack_back = s->packed_count;
            if (!c->first)
                s->packed_count += round_up(s->k->conv_packed(&c->back));
        }
    }
    for (int i = net->layers - 1; i >= 0; i--) { /* who writes a gradient first, who adds to it */
        const struct net_layer *l = &net->layer[i];
        if (l->src >= 0) {
            s->layer[i].add = written[l->src];
            written[l->src] = true;
        }
        if (l->src2 >= 0) {
            s->layer[i].add2 = written[l->src2];
            written[l->src2] = true;
        }
    }
    free(written);
}

/* Floats that a worker needs for one group. */
size_t cpu_group_floats(const struct backend_session *s)
{
    size_t n = elements(&s->plan.net->input);

    for (int i = 0; i < s->layers; i++) {
        const struct cpu_layer *c = &s->layer[i];
        n += c->out * (c->in_place ? 1 : 2);
        if (c->padded)
            n += (size_t)c->conv.in_h * (size_t)c->conv.in_w * (size_t)c->conv.cin;
    }
    return n * CPU_LANES;
}

#define CACHE_FLOATS ((size_t)1 << 19) /* 2 MiB: what a core's share of the caches holds */

int cpu_groups_at_a_time(const struct backend_session *s, int share)
{
    size_t fit = CACHE_FLOATS / cpu_group_floats(s);
    bool pictures = false;

    for (int i = 0; i < s->layers; i++)
        pictures = pictures || s->layer[i].l->op == NET_CONV;
    if (s->norm || fit >= (size_t)share)
        return share; /* batch norm looks at all groups at once */
    if (!pictures && share <= 16)
        return share; /* dense weights are read once for all groups */
    return fit < 1 ? 1 : (int)fit;
}

/* Memory: every piece is noted, so that close and a failed open free the same way. */

void *cpu_take(struct backend_session *s, size_t count, size_t size)
{
    void *p = s->failed_bytes ? NULL : mem_try(count, size);

    if (!p) {
        if (!s->failed_bytes && __builtin_mul_overflow(count, size, &s->failed_bytes))
            s->failed_bytes = SIZE_MAX;
        return NULL;
    }
    s->memory = mem_grow(s->memory, &s->memory_room, s->pieces + 1, sizeof *s->memory);
    s->memory[s->pieces++] = p;
    return p;
}

static void equip_worker(struct backend_session *s, struct cpu_worker *w)
{
    size_t n = (size_t)w->groups * CPU_LANES, layers = (size_t)s->layers, spread = 0, dense = 0;

    w->images = cpu_take(s, n * elements(&s->plan.net->input), sizeof *w->images);
    w->act = cpu_take(s, layers, sizeof *w->act);
    w->grad = cpu_take(s, layers, sizeof *w->grad);
    w->frame = cpu_take(s, layers, sizeof *w->frame);
    w->keep = cpu_take(s, layers, sizeof *w->keep);
    w->dparam = cpu_take(s, round_up(s->params), sizeof *w->dparam);
    w->picture = cpu_take(s, elements(&s->plan.net->input), sizeof *w->picture);
    for (int i = 0; i < s->layers && !s->failed_bytes; i++) {
        const struct cpu_layer *c = &s->layer[i];
        w->act[i] = c->in_place ? w->act[c->l->src] : cpu_take(s, n * c->out, sizeof **w->act);
        w->grad[i] = cpu_take(s, n * c->out, sizeof **w->grad);
        if (c->padded)
            w->frame[i] =
                cpu_take(s, n * (size_t)c->conv.in_h * (size_t)c->conv.in_w * (size_t)c->conv.cin,
                         sizeof **w->frame);
        if (c->l->op == NET_DROPOUT)
            w->keep[i] = cpu_take(s, (size_t)w->groups * c->out, sizeof **w->keep);
        if (c->l->op == NET_CONV && !c->first) {
            size_t want = (size_t)c->back.in_h * (size_t)c->back.in_w * (size_t)c->back.cin;
            spread = want > spread ? want : spread;
        }
        if (c->l->op == NET_DENSE && c->out > dense)
            dense = c->out;
    }
    w->spread = cpu_take(s, spread * CPU_LANES, sizeof *w->spread);
    w->scratch = cpu_take(s, n * round_up(dense), sizeof *w->scratch);
}

static void equip_team(struct backend_session *s, struct cpu_team *t)
{
    size_t channels = 0;

    for (int i = 0; i < s->layers; i++) {
        if (s->layer[i].l->op == NET_BATCHNORM && (size_t)s->layer[i].l->in.c > channels)
            channels = (size_t)s->layer[i].l->in.c;
    }
    t->s = s;
    t->sums = cpu_take(s, 2 * channels * (size_t)s->batch_groups, sizeof *t->sums);
    t->norm = cpu_take(s, 2 * channels * (size_t)s->batch_groups, sizeof *t->norm);
    t->next_stat = cpu_take(s, s->stats, sizeof *t->next_stat);
    t->image_loss = cpu_take(s, s->plan.batch, sizeof *t->image_loss);
    t->image_right = cpu_take(s, s->plan.batch, sizeof *t->image_right);
    t->worker = cpu_take(s, (size_t)t->size, sizeof *t->worker);
    for (int r = 0; r < t->size && !s->failed_bytes; r++) {
        int share = (s->batch_groups + t->size - 1) / t->size;
        t->worker[r] = (struct cpu_worker){.team = t, .rank = r};
        t->worker[r].groups = cpu_groups_at_a_time(s, share);
        s->whole = t->worker[r].groups == share;
        equip_worker(s, &t->worker[r]);
    }
}

void cpu_equip_models(struct backend_session *s)
{
    int slots = backend_slots(s->plan.optimizer);

    s->model = cpu_take(s, (size_t)s->plan.members, sizeof *s->model);
    for (int m = 0; m < s->plan.members && !s->failed_bytes; m++) {
        struct cpu_model *model = &s->model[m];
        model->param = cpu_take(s, s->params, sizeof *model->param);
        model->stat = cpu_take(s, s->stats, sizeof *model->stat);
        model->packed = cpu_take(s, s->packed_count, sizeof *model->packed);
        if (slots > 0)
            model->slot1 = cpu_take(s, s->params, sizeof *model->slot1);
        if (slots > 1)
            model->slot2 = cpu_take(s, s->params, sizeof *model->slot2);
        model->key = s->plan.model_key[m];
    }
}

/* All threads on one model after the other; or, where the members share out evenly, each thread on
 * members of its own, without a barrier. */
void cpu_arrange(struct backend_session *s)
{
    const struct backend_plan *p = &s->plan;
    bool alone = p->mode == SPEC_ENSEMBLE && p->members % s->threads == 0;

    s->split = p->mode == SPEC_DATA_PARALLEL && s->norm && !p->sync_bn && p->devices > 1;
    s->group_images = s->split ? p->batch / (size_t)p->devices : p->batch;
    s->batch_groups =
        (int)((s->group_images + CPU_LANES - 1) / CPU_LANES) * (s->split ? p->devices : 1);
    s->teams = alone ? s->threads : 1;
    s->team = cpu_take(s, (size_t)s->teams, sizeof *s->team);
    for (int t = 0; t < s->teams && !s->failed_bytes; t++) {
        s->team[t].size = alone ? 1 : s->threads;
        s->team[t].first_model = t;
        s->team[t].model_step = s->teams;
        equip_team(s, &s->team[t]);
    }
}
