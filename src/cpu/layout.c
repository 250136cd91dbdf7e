/* cpu/layout.c: how a net's layers are done: what is fused, what nobody looks at and is left out,
 * which family of kernels does a convolution, and how threads share the work. */
#include "cpu/session_int.h"

#include "base/mem.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARED_WEIGHTS ((size_t)1 << 18) /* dense layers from here on are shared out by units */
#define CHUNK_FLOATS   ((size_t)1 << 18) /* 1 MiB: half of a core's second cache */

#define PIECE_FLOATS ((size_t)5 << 17) /* 2.5 MiB: part of the third cache */
#define PIECE_LEAST  8                 /* groups: weights are gone through once for each piece */

int cpu_lanes_wanted, cpu_piece_wanted;

static size_t elements(const struct net_shape *s)
{
    return (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

static int readers(const struct net *net, int layer)
{
    int n = 0;

    for (int i = 0; i < net->layers; i++)
        n += (net->layer[i].src == layer) + (net->layer[i].src2 == layer);
    return n;
}

/* The only layer that reads this one, -1 where there are more or none. */
static int reader(const struct net *net, int layer)
{
    if (readers(net, layer) != 1)
        return -1;
    for (int i = layer + 1; i < net->layers; i++) {
        if (net->layer[i].src == layer || net->layer[i].src2 == layer)
            return i;
    }
    return -1;
}

/* Whether what a layer leaves as floats is rounded to bf16 by who reads it: a pass over memory less. */
static bool reader_rounds(const struct backend_session *s, const struct cpu_layer *c)
{
    const struct net *net = s->plan.net;
    int next = reader(net, c->index);
    enum net_op by = next < 0 ? NET_CONV : net->layer[next].op;

    return s->bf16 && c->tail == c->index && next < s->layers - 1 && /* the logits are not */
           (c->l.op == NET_DENSE || (c->l.op == NET_CONV && !c->ops_train->rounds)) &&
           (by == NET_BATCHNORM || by == NET_RELU || by == NET_TANH);
}

/* A chain of layers without residuals and batch norm: each output has one reader. */
static bool is_plain(const struct net *net)
{
    for (int i = 0; i < net->layers; i++) {
        if (net->layer[i].op == NET_ADD || net->layer[i].op == NET_BATCHNORM)
            return false;
    }
    return true;
}

/* Images lie there whole, and dropout counts the elements of whole pictures. */
static bool is_whole(const struct net *net, int layer)
{
    if (layer == NET_IMAGES)
        return true;
    const struct net_layer *l = &net->layer[layer];
    return l->op == NET_DROPOUT ||
           ((l->op == NET_RELU || l->op == NET_TANH) && is_whole(net, l->src));
}

/* Pools round down, so that outputs at the right and lower edge may reach no later layer, and no
 * gradient comes back to them. They are left out: shapes shrink to what is read. */
static void cut(struct backend_session *s)
{
    for (int i = s->layers - 1; i >= 0; i--) {
        struct net_layer *l = &s->layer[i].l;
        if (i < s->layers - 1)
            l->out = s->layer[i + 1].l.in; /* of a chain: as cut by the reader */
        switch (l->op) {
        case NET_CONV:
        case NET_AVGPOOL:
        case NET_MAXPOOL: {
            int h = (l->out.h - 1) * l->stride + l->k - l->pad_top;
            int w = (l->out.w - 1) * l->stride + l->k - l->pad_left;
            if (!is_whole(s->plan.net, l->src)) {
                l->in.h = h < 1 ? 1 : h < l->in.h ? h : l->in.h;
                l->in.w = w < 1 ? 1 : w < l->in.w ? w : l->in.w;
            }
            break;
        }
        case NET_RELU:
        case NET_TANH:
            l->in = l->out;
            break;
        default: /* all that comes in counts */
            break;
        }
    }
    for (int i = 0; i < s->layers; i++) {
        const struct net_shape *full = &s->plan.net->layer[i].out, *now = &s->layer[i].l.out;
        s->layer[i].cut = full->h != now->h || full->w != now->w;
    }
}

/* The relu and the pool that a convolution does by itself. */
static void fuse(struct backend_session *s, int i)
{
    const struct net *net = s->plan.net;
    struct cpu_layer *c = &s->layer[i];
    int next = reader(net, i);

    c->conv = (struct cpu_conv_layer){.cin = c->l.in.c,
                                      .cout = c->l.out.c,
                                      .k = c->l.k,
                                      .stride = c->l.stride,
                                      .pad_top = c->l.pad_top,
                                      .pad_left = c->l.pad_left,
                                      .in_h = c->l.in.h,
                                      .in_w = c->l.in.w,
                                      .conv_h = c->l.out.h,
                                      .conv_w = c->l.out.w,
                                      .pool = 1};
    if (next >= 0 && net->layer[next].op == NET_RELU) {
        c->conv.relu = true;
        c->tail = next;
        next = reader(net, next);
    }
    if (next >= 0) {
        const struct net_layer *l = &s->layer[next].l;
        if ((l->op == NET_AVGPOOL || l->op == NET_MAXPOOL) && l->k == l->stride && l->k <= 4) {
            c->conv.pool = l->k;
            c->conv.max = l->op == NET_MAXPOOL;
            c->conv.conv_h = l->out.h * l->k;
            c->conv.conv_w = l->out.w * l->k;
            c->tail = next;
            next = c->conv.max ? reader(net, next) : -1;
            /* a relu and a maximum are the same in either order */
            if (next >= 0 && net->layer[next].op == NET_RELU) {
                c->conv.relu = true;
                c->tail = next;
            }
        }
    }
    while (next >= 0 && net->layer[next].op == NET_MAXPOOL)
        next = reader(net, next);
    if (next >= 0 && net->layer[next].op == NET_RELU)
        c->conv.care = CPU_CONV_SIGNS;
    for (int j = i + 1; j <= c->tail; j++)
        s->layer[j].fused = true;
}

#define FAMILIES     4
#define BLOCKS_WORTH 0.9 /* of the time without a cut, at the most: costs are rough */

/* Those that round what they store are not for logits. */
static void families(const struct backend_session *s, const struct cpu_layer *c,
                     const struct cpu_kernels *k, const struct cpu_conv_ops *all[FAMILIES])
{
    all[0] = k->direct;
    all[1] = k->wino;
    all[2] = k->taps;
    all[3] = s->tiles && c->index < s->layers - 1 ? s->tiles->conv : NULL;
}

/* Of few images, blocks of their pictures in the lanes, where that is cheaper. */
static void choose_blocks(struct backend_session *s, struct cpu_layer *c)
{
    const struct cpu_kernels *sets[] = {s->whole_k, s->whole_k->half};
    double best =
        BLOCKS_WORTH * cpu_blocks_group((int)s->lanes) * c->ops->cost(&c->conv, !c->first);
    int threads = s->threads / s->teams;

    if (s->batch_groups > 1 || s->plan.batch >= CPU_LANES ||
        (s->plan.batch == s->lanes && threads == 1))
        return;
    for (int i = 0; i < 2 && sets[i]; i++) {
        const struct cpu_conv_ops *all[FAMILIES];
        families(s, c, sets[i], all);
        for (int j = 0; j < 2 * FAMILIES && !(i && s->tiles); j++) {
            const struct cpu_conv_ops *ops = all[j / 2];
            int sharing = j % 2 ? threads : 1;
            struct cpu_blocks cut;
            double cost =
                ops ? cpu_blocks_cut(&cut, &c->conv, ops, sets[i]->lanes, (int)s->plan.batch,
                                     (int)s->lanes, sharing, !c->first)
                    : INFINITY;
            if (cost < best) {
                best = cost;
                c->blocks = cut;
                c->dealt = sharing > 1;
                c->ops_train = &cpu_conv_blocks;
            }
        }
    }
    if (c->ops_train == c->ops)
        return;
    c->conv.blocks = &c->blocks;
    s->dealt = s->dealt || c->dealt;
}

static void choose_kernels(struct backend_session *s, struct cpu_layer *c)
{
    const struct cpu_conv_ops *all[FAMILIES];

    families(s, c, s->k, all);
    c->ops = all[0];
    for (size_t i = 1; i < FAMILIES; i++) {
        if (all[i] && all[i]->can(&c->conv) &&
            all[i]->cost(&c->conv, !c->first) < c->ops->cost(&c->conv, !c->first))
            c->ops = all[i];
    }
    c->ops_train = c->ops;
    choose_blocks(s, c);
    c->pack = s->packed_count;
    s->packed_count += cpu_round_up(c->ops->packed(&c->conv, !c->first));
}

/* Weights as an evaluation reads them lie in front, those of other kernels for training behind. */
static void place_packed(struct backend_session *s)
{
    for (int i = 0; i < s->layers; i++) {
        struct cpu_layer *c = &s->layer[i];
        c->pack_train = c->pack;
        if (c->ops == c->ops_train)
            continue;
        c->pack_train = s->packed_count;
        s->packed_count += cpu_round_up(c->ops_train->packed(&c->conv, !c->first));
    }
}

/* Whether a layer that goes over its input element by element may write over it: nobody else reads
 * the source, and the source does not need its output to go backward. */
static bool overwrites(const struct net *net, const struct cpu_layer *c)
{
    if ((c->l.op != NET_RELU && c->l.op != NET_ADD) || c->l.src < 0 || readers(net, c->l.src) != 1)
        return false;
    enum net_op op = net->layer[c->l.src].op;
    return op == NET_CONV || op == NET_DENSE || op == NET_BATCHNORM || op == NET_ADD ||
           op == NET_AVGPOOL || op == NET_GLOBALAVGPOOL;
}

/* Groups that a thread has at the most. */
static double rounds_of(const struct backend_session *s, const struct cpu_kernels *k)
{
    size_t at_once = (size_t)k->lanes * (size_t)(s->threads / s->teams);

    return (double)((s->plan.batch + at_once - 1) / at_once);
}

/* Groups of half as many images, where that takes less time: lanes without an image and threads without
 * a group are what small batches lose. It depends on the processor, threads and batch alone, never on
 * a clock, as the bytes that come out do. */
static bool halves_lanes(const struct backend_session *s)
{
    const struct cpu_kernels *half = s->tiles ? NULL : s->k->half;

    if (!half || cpu_lanes_wanted)
        return half && half->lanes == cpu_lanes_wanted;
    double time = rounds_of(s, half) * s->k->half_cost, whole = rounds_of(s, s->k);
    return time < whole || (time <= whole && (s->k->half_cost < 1 || cpu_halves_pay()));
}

static void choose_lanes(struct backend_session *s)
{
    if (halves_lanes(s))
        s->k = s->k->half;
    s->lanes = (size_t)s->k->lanes;
}

/* How much of the threads' time n equal pieces of work fill. */
static double share_of_time(size_t n, size_t threads)
{
    return (double)n / (double)((n + threads - 1) / threads * threads);
}

/* Whether each thread has models of its own, without a barrier in a step: where they fill the threads' time
 * as well as the groups of each model would. */
static bool trains_alone(const struct backend_session *s)
{
    const struct backend_plan *p = &s->plan;
    size_t threads = (size_t)s->threads, lanes = (size_t)s->k->lanes;

    return p->mode == SPEC_ENSEMBLE && p->members >= s->threads &&
           share_of_time((size_t)p->members, threads) >=
               share_of_time((p->batch + lanes - 1) / lanes, threads);
}

/* The batch's groups, and who has which models. */
static void deal_groups(struct backend_session *s)
{
    const struct backend_plan *p = &s->plan;

    s->teams = trains_alone(s) ? s->threads : 1;
    choose_lanes(s);
    size_t groups = (p->batch + s->lanes - 1) / s->lanes;
    s->spans = p->mode == SPEC_DATA_PARALLEL && !p->sync_bn ? p->devices : 1;
    s->batch_groups = groups < INT_MAX / 1024 ? (int)groups : INT_MAX / 1024;
}

static void share_out(struct backend_session *s)
{
    int shared = 0;

    for (int i = 0; i < s->layers; i++) {
        struct cpu_layer *c = &s->layer[i];
        const struct cpu_layer *src = c->l.src >= 0 ? &s->layer[c->l.src] : NULL;
        if (i < s->pictures)
            continue;
        if (c->l.op == NET_DENSE)
            c->units = is_plain(s->plan.net) && c->in * c->out >= SHARED_WEIGHTS;
        else if (c->l.op == NET_RELU || c->l.op == NET_TANH)
            c->units = src && src->units;
        bool whole = c->l.op == NET_DENSE && c->units; /* reads what all threads wrote */
        c->shared_before = shared;
        shared += whole;
        c->wait_forward = whole || (src && src->units != c->units);
        c->wait_backward = c->wait_backward || whole;
        if (src && src->units != c->units)
            s->layer[c->l.src].wait_backward = true;
    }
    if (s->layer[s->layers - 1].units) /* the loss is taken image by image */
        s->layer[s->layers - 1].wait_backward = true;
}

static void find_ranges(struct backend_session *s)
{
    const struct net *net = s->plan.net;
    size_t largest = 0;

    s->range = mem_new((size_t)net->params, sizeof *s->range);
    for (int i = 0; i < net->params; i++) {
        const struct net_tensor *t = &net->param[i];
        struct cpu_layer *c = &s->layer[t->layer];
        bool kernel = c->l.kernel == i;
        *(kernel ? &c->kernel : &c->bias) = t->offset;
        c->own_slice = !c->units;
        if (c->units)
            continue;
        if (kernel && c->merge) {
            largest = t->count > largest ? t->count : largest;
        } else {
            *(kernel ? &c->kernel_own : &c->bias_own) = s->own_kept;
            s->own_kept += t->count;
        }
        struct cpu_range *last = s->ranges ? &s->range[s->ranges - 1] : NULL;
        if (last && last->to == t->offset)
            last->to += t->count;
        else
            s->range[s->ranges++] =
                (struct cpu_range){t->offset, t->offset + t->count, s->own_count};
        s->own_count += t->count;
    }
    for (int i = 0; i < s->layers; i++) {
        if (s->layer[i].merge)
            s->layer[i].kernel_own = s->own_kept; /* all in one place, behind what is kept */
    }
    s->own_room = s->own_kept + largest;
}

/* What comes from no parameter needs no gradient, be it the images or what pools, rectifiers and dropout
 * make of them. */
static void find_idle(struct backend_session *s)
{
    for (int i = 0; i < s->layers; i++) {
        struct cpu_layer *c = &s->layer[i];
        c->first = c->l.src < 0 || !s->layer[c->l.src].l.learns;
        c->first2 = c->l.src2 < 0 || !s->layer[c->l.src2].l.learns;
        c->idle = !c->l.learns && i < s->layers - 1; /* the loss's */
    }
}

/* Who writes a gradient first, and who adds to it. */
static void find_writers(struct backend_session *s)
{
    bool *written = mem_new((size_t)s->layers, sizeof *written);

    for (int i = s->layers - 1; i >= 0; i--) {
        struct cpu_layer *c = &s->layer[i];
        if (c->fused)
            continue;
        if (!c->first) {
            c->add = written[c->l.src];
            written[c->l.src] = true;
        }
        if (!c->first2) {
            c->add2 = written[c->l.src2];
            written[c->l.src2] = true;
        }
        c->grad_in_place = (c->l.op == NET_RELU || c->l.op == NET_TANH || c->l.op == NET_ADD ||
                            c->l.op == NET_BATCHNORM) &&
                           c->l.src >= 0 && readers(s->plan.net, c->l.src) == 1 &&
                           (c->l.src < s->pictures) == (i < s->pictures);
    }
    free(written);
}

static int chunk_of(const struct backend_session *s)
{
    size_t floats = elements(&s->plan.net->input);

    for (int i = 0; i < s->pictures; i++)
        floats += s->layer[i].fused ? 0 : s->layer[s->layer[i].tail].out;
    size_t fit = CHUNK_FLOATS / (floats * s->lanes);
    return fit < 1 ? 1 : fit > 1024 ? 1024 : (int)fit;
}

/* A large share of a batch goes forward and backward piece by piece: what a layer writes is still in the
 * cache when the way back reads it, and of more images no more is held but their pixels. It goes where
 * nothing but the weights' gradient is summed over images, and no thread waits for another in between. */
static int piece_of(const struct backend_session *s)
{
    size_t floats = elements(&s->plan.net->input);
    int threads = s->threads / s->teams, share = (s->batch_groups + threads - 1) / threads;

    if (!is_plain(s->plan.net) || s->dealt)
        return 0;
    for (int i = 0; i < s->layers; i++) {
        const struct cpu_layer *c = &s->layer[i];
        if (c->units)
            return 0;
        floats += c->fused || c->in_place ? 0 : 2 * s->layer[c->tail].out;
    }
    size_t fit = PIECE_FLOATS / (floats * s->lanes);
    int piece = cpu_piece_wanted    ? cpu_piece_wanted
                : fit < PIECE_LEAST ? PIECE_LEAST
                : fit < INT_MAX     ? (int)fit
                                    : INT_MAX;
    return piece < share ? piece : 0;
}

void cpu_lay_out(struct backend_session *s)
{
    const struct net *net = s->plan.net;
    bool plain = is_plain(net);
    deal_groups(s);
    for (int i = 0; i < s->layers; i++) {
        s->layer[i].l = net->layer[i];
        s->layer[i].tail = s->layer[i].index = i;
    }
    if (plain) {
        cut(s);
        while (s->pictures < s->layers && net->layer[s->pictures].op != NET_DENSE)
            s->pictures++;
    }
    find_idle(s);
    for (int i = 0; i < s->layers; i++) {
        struct cpu_layer *c = &s->layer[i];
        c->in = elements(&c->l.in);
        c->out = elements(&c->l.out);
        if (c->l.op == NET_BATCHNORM) {
            c->mean = net->stat[c->l.mean].offset;
            c->var = net->stat[c->l.var].offset;
            c->norm = 2 * s->norm_count * (size_t)s->spans;
            s->norm_count += (size_t)c->l.in.c;
            s->channels = (size_t)c->l.in.c > s->channels ? (size_t)c->l.in.c : s->channels;
        }
        if (c->l.op == NET_DENSE && s->tiles) {
            c->tiles = true;
            c->tile = s->tile_count;
            s->tile_count +=
                cpu_round_up(s->tiles->dense_packed((int)c->in, (int)c->out, !c->first));
        }
        if (c->l.op == NET_CONV) {
            fuse(s, i);
            choose_kernels(s, c);
        } else if (c->l.op == NET_BATCHNORM || c->l.op == NET_ADD) {
            int next = reader(net, i);
            if (next >= 0 && net->layer[next].op == NET_RELU) {
                c->tail = next;
                s->layer[next].fused = true;
            }
        }
        c->reader_rounds = reader_rounds(s, c);
        c->in_place = !c->fused && overwrites(net, c);
    }
    s->spare = !plain && cpu_spares(s);
    if (s->spare)
        cpu_spare_choose(s);
    else
        place_packed(s);
    share_out(s);
    find_ranges(s);
    find_writers(s);
    s->chunk = chunk_of(s);
    s->piece = piece_of(s);
}

/* Flax's rows of a dense kernel behind pictures are (h, w, c), ours (c, h, w). */
void cpu_copy_tensor(const struct backend_session *s, const struct net_tensor *t, float *flat,
                     float *theirs, bool set)
{
    const struct net_layer *l = &s->plan.net->layer[t->layer];
    const struct net_shape *in = &l->in;

    if (l->op != NET_DENSE || t->kind != NET_KERNEL) {
        if (set)
            memcpy(flat, theirs, t->count * sizeof *flat);
        else
            memcpy(theirs, flat, t->count * sizeof *flat);
        return;
    }
    size_t width = t->shape[1];
    for (int c = 0; c < in->c; c++) {
        for (int y = 0; y < in->h; y++) {
            for (int x = 0; x < in->w; x++) {
                float *ours =
                    flat +
                    (((size_t)c * (size_t)in->h + (size_t)y) * (size_t)in->w + (size_t)x) * width;
                float *flax =
                    theirs +
                    (((size_t)y * (size_t)in->w + (size_t)x) * (size_t)in->c + (size_t)c) * width;
                memcpy(set ? ours : flax, set ? flax : ours, width * sizeof *flat);
            }
        }
    }
}
