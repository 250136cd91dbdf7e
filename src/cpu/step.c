/* cpu/step.c: one model's layers forward and backward over some groups. */
#include "cpu/session_int.h"

#include <math.h>
#include <string.h>

/* Of shared weights: their gradient is used while it is in the cache. Whole blocks of the kernels. */
#define ROWS_AT_ONCE 96
/* Of a large batch: what dense kernels go over again and again stays in the second cache. */
#define GROUPS_AT_ONCE 64

void cpu_units(const struct cpu_worker *w, size_t units, int *from, int *to)
{
    size_t size = (size_t)w->team->size;
    /* whole vectors of weights to each, so that no two threads write to one line; whole tiles */
    size_t whole = w->team->s->tiles ? 32 : 16;
    size_t each = (units + whole * size - 1) / (whole * size) * whole;
    size_t first = each * (size_t)w->rank, last = first + each;

    *from = (int)(first < units ? first : units);
    *to = (int)(last < units ? last : units);
}

/* The part of a layer that a worker does: all elements of its own groups, or its units of all. */
struct part {
    int place, n;      /* groups */
    size_t at, floats; /* within a group's output */
};

static struct part part_of(const struct cpu_worker *w, const struct cpu_layer *c, int place, int n)
{
    size_t lanes = w->team->s->lanes;
    int from, to;

    if (!c->units)
        return (struct part){place, n, 0, c->out * lanes};
    cpu_units(w, c->out, &from, &to);
    return (struct part){0, w->team->s->batch_groups, (size_t)from * lanes,
                         (size_t)(to - from) * lanes};
}

static const float *packed_of(const struct cpu_worker *w, const struct cpu_model *m,
                              const struct cpu_layer *c, bool training)
{
    return (w->team->s->spare ? w->team->arena : m->packed) + (training ? c->pack_train : c->pack);
}

static const float *bias_of(const struct cpu_layer *c, const struct cpu_model *m)
{
    return c->l.bias >= 0 ? m->rounded + c->bias : NULL;
}

static int at_once(int groups)
{
    return groups < GROUPS_AT_ONCE ? groups : GROUPS_AT_ONCE;
}

/* Images of n groups: lanes behind the batch's last image are not worth a product. All lanes where
 * that is not known: when evaluating. */
static int images_of(const struct cpu_worker *w, int place, int n, bool training)
{
    const struct backend_session *s = w->team->s;
    size_t lanes = (size_t)n * s->lanes, left = s->plan.batch - (size_t)place * s->lanes;

    return (int)(training && left < lanes ? left : lanes);
}

static void dense_forward(struct cpu_worker *w, const struct cpu_model *m, int i, struct part p,
                          bool training)
{
    const struct backend_session *s = w->team->s;
    const struct cpu_kernels *k = s->k;
    const struct cpu_layer *c = &s->layer[i];
    const float *bias = bias_of(c, m);
    size_t unit = p.at / s->lanes;

    if (!p.floats)
        return;
    if (c->tiles) {
        s->tiles->dense(images_of(w, p.place, p.n, training), (int)c->in, (int)c->out, (int)unit,
                        (int)(unit + p.floats / s->lanes), cpu_act(w, c->l.src, p.place),
                        m->tiles + c->tile, bias, cpu_act(w, i, p.place), w->scratch);
        return;
    }
    for (int g = p.place, end = p.place + p.n; g < end; g += GROUPS_AT_ONCE)
        k->dense(images_of(w, g, at_once(end - g), training), (int)c->in,
                 (int)(p.floats / s->lanes), cpu_act(w, c->l.src, g), c->in * s->lanes,
                 m->rounded + c->kernel + unit, c->out, 1, bias ? bias + unit : NULL, false,
                 cpu_act(w, i, g) + p.at, c->out * s->lanes);
}

/* Whether a layer's own kernels round to bf16 what it stores, and the gradient that it reads, or those of its
 * only reader do. */
static bool rounds(const struct cpu_layer *c, bool training)
{
    return c->l.op == NET_BATCHNORM || c->l.op == NET_ADD || c->l.op == NET_RELU ||
           c->l.op == NET_TANH || (training && c->reader_rounds) ||
           (c->l.op == NET_CONV && (training ? c->ops_train : c->ops)->rounds);
}

/* Of a layer's output. */
static enum cpu_rounding rounding_of(const struct backend_session *s, const struct cpu_layer *c)
{
    return c->index < s->layers - 1 ? cpu_rounding(s)
                                    : CPU_ROUND_NOT; /* the logits stay as they are */
}

void cpu_add_forward(const struct cpu_worker *w, const struct cpu_layer *c, size_t n,
                     const float *a, const float *b, float *y)
{
    const struct backend_session *s = w->team->s;
    const struct cpu_kernels *k = s->k;

    (c->tail > c->index ? k->add_relu : k->add)(n, a, b, rounding_of(s, c), y);
}

static void layer_forward(struct cpu_worker *w, const struct cpu_model *m, int i, int place, int n,
                          bool training)
{
    struct backend_session *s = w->team->s;
    const struct cpu_kernels *k = s->k;
    const struct cpu_layer *c = &s->layer[i];
    const struct net_layer *l = &c->l;
    size_t in = c->in * s->lanes, out = s->layer[c->tail].out * s->lanes;
    struct part p = part_of(w, c, place, n);

    if (!training && c->units) /* threads evaluate on their own */
        p = (struct part){place, n, 0, out};
    if (p.n < 1)
        return;
    const float *x = cpu_act(w, l->src, p.place);
    float *y = cpu_act(w, c->tail, p.place);
    enum cpu_rounding round = rounding_of(s, c);
    switch (l->op) {
    case NET_CONV: {
        const struct cpu_conv_ops *ops = training ? c->ops_train : c->ops;
        struct cpu_conv_layer conv = c->conv;
        conv.care = training ? conv.care : CPU_CONV_NONE;
        ops->forward(&conv, n, m->rounded + c->kernel, packed_of(w, m, c, training), bias_of(c, m),
                     x, y, training ? cpu_pass(w, c, place) : NULL, w->scratch);
        break;
    }
    case NET_DENSE:
        dense_forward(w, m, i, p, training);
        break;
    case NET_RELU:
    case NET_TANH:
        for (int g = 0; g < p.n; g++)
            (l->op == NET_RELU ? k->relu : k->tanh)(p.floats, x + (size_t)g * in + p.at, round,
                                                    y + (size_t)g * out + p.at);
        break;
    case NET_AVGPOOL:
    case NET_GLOBALAVGPOOL:
    case NET_MAXPOOL:
        for (int g = 0; g < n; g++)
            (l->op == NET_MAXPOOL ? k->maxpool : k->avgpool)(l, x + (size_t)g * in,
                                                             y + (size_t)g * out);
        break;
    case NET_DROPOUT:
        for (int g = 0; g < n; g++) {
            if (training)
                k->dropout(l, x + (size_t)g * in, cpu_keep(w, c, place + g),
                           (float)(1 / (1 - l->rate)), false, y + (size_t)g * out);
            else
                memcpy(y + (size_t)g * out, x + (size_t)g * in, out * sizeof *y);
        }
        break;
    case NET_ADD:
        cpu_add_forward(w, c, (size_t)n * out, x, cpu_act(w, l->src2, place), y);
        break;
    case NET_BATCHNORM: /* in cpu_forward, for its barriers */
        break;
    }
    if (round != CPU_ROUND_NOT && !rounds(c, training)) {
        for (int g = 0; g < p.n; g++) {
            float *at = y + (size_t)g * out + (c->units ? p.at : 0);
            k->round_bf16(c->units ? p.floats : out, at, at);
        }
    }
}

static bool stop_wanted(const struct cpu_worker *w)
{
    return w->job->stop && atomic_load_explicit(w->job->stop, memory_order_relaxed);
}

/* A step of a single model can be given up in the middle, but not once a thread has begun to change
 * weights; members would get out of step with each other. */
void cpu_look_for_stop(struct cpu_worker *w)
{
    if (w->team->s->plan.members == 1 && !w->committed && stop_wanted(w))
        atomic_store_explicit(&w->team->abandon, true, memory_order_relaxed);
}

/* Looks for the stop between any two layers: one may take 100 ms. */
static bool going(struct cpu_worker *w, int n)
{
    cpu_look_for_stop(w);
    return n > 0 && !atomic_load_explicit(&w->team->abandon, memory_order_relaxed);
}

/* The worker that has the only group of a batch, for layers whose blocks all threads share. */
static const struct cpu_worker *owner_of(const struct cpu_worker *w)
{
    return &w->team->worker[w->team->size - 1];
}

static void share_blocks(const struct cpu_worker *w, const struct cpu_layer *c, int *from, int *to)
{
    cpu_share(c->blocks.groups, w->team->size, w->rank, from, to);
}

/* A barrier in front, since one thread wrote the input, and one behind. */
static void dealt_forward(struct cpu_worker *w, const struct cpu_model *m,
                          const struct cpu_layer *c)
{
    const struct backend_session *s = w->team->s;
    const struct cpu_worker *owner = owner_of(w);
    float *y = cpu_act(owner, c->tail, 0);
    size_t out = s->layer[c->tail].out * s->lanes;
    int from, to;

    if (w == owner)
        memset(y, 0, out * sizeof *y);
    cpu_barrier(w);
    share_blocks(w, c, &from, &to);
    if (going(w, to - from))
        cpu_blocks_forward(&c->conv, from, to, m->rounded + c->kernel, packed_of(w, m, c, true),
                           bias_of(c, m), cpu_act(owner, c->l.src, 0), y, w->team->pass[c->index],
                           w->scratch);
    cpu_barrier(w);
    if (s->bf16 && w == owner)
        s->k->round_bf16(out, y, y);
}

/* Which elements each dropout layer keeps: by the images' places in the global batch. */
void cpu_draw_masks(struct cpu_worker *w, const struct cpu_model *m, int place, int n,
                    uint64_t step)
{
    struct backend_session *s = w->team->s;

    for (int i = 0; i < s->layers; i++) {
        const struct cpu_layer *c = &s->layer[i];
        if (c->l.op != NET_DROPOUT)
            continue;
        struct rng_key key =
            rng_fold_in(rng_fold_in(m->key, 0x80000000u + (uint32_t)c->l.dropout), (uint32_t)step);
        /* kept are the bits from here on; rates end at 0.999, so this fits */
        uint32_t limit = (uint32_t)ceil(c->l.rate * 4294967296.0);
        for (int g = place; g < place + n; g++) {
            size_t first;
            int lanes;
            cpu_group(s, g, &first, &lanes);
            s->k->dropout_mask(key, first, c->out, limit, cpu_keep(w, c, g));
        }
    }
}

void cpu_forward(struct cpu_worker *w, const struct cpu_model *m, int from, int to, int place,
                 int n, bool training)
{
    struct backend_session *s = w->team->s;

    for (int i = from; i < to; i++) {
        const struct cpu_layer *c = &s->layer[i];
        if (c->fused)
            continue;
        if (!training && stop_wanted(w)) {
            w->stopped = true; /* the flag may be down again before others look */
            return;
        }
        if (training && c->wait_forward)
            cpu_barrier(w);
        if (s->spare)
            cpu_spare_layer(w, m, c, training, false);
        bool compute = (!training && n > 0) || going(w, c->units ? 1 : n);
        if (training && c->dealt) {
            dealt_forward(w, m, c);
            continue;
        }
        if (c->l.op == NET_BATCHNORM) {
            cpu_norm_forward(w, m, c, place, n, training, compute);
        } else if (compute) {
            layer_forward(w, m, i, place, n, training);
        }
    }
}

/* Units from..to of the gradient to a shared layer's output, over all images, turned round. */
static void turn_units(struct cpu_worker *w, const struct cpu_layer *c, int from, int to,
                       float *turned)
{
    const struct backend_session *s = w->team->s;
    size_t out = c->out * s->lanes, width = cpu_round_up(c->out);
    const float *dy = cpu_grad(w, c->index, 0);
    int groups = s->batch_groups;

    if (c->tiles)
        s->tiles->dense_turn(groups, from, to, (int)c->in, (int)c->out, !c->first, dy, turned);
    for (int g = 0; !c->tiles && g < groups; g += GROUPS_AT_ONCE)
        s->k->turn(at_once(groups - g), from, to, dy + (size_t)g * out, out,
                   turned + (size_t)g * s->lanes * width, width);
}

/* Where all threads turn what each of them wrote, or rounds, in front of a barrier. Layers take two such
 * places by turns: one thread may be at the next layer while another still reads. */
static float *turned_by_all(const struct cpu_worker *w, const struct cpu_layer *c)
{
    return w->team->worker[w->team->s->bf16 ? 0 : c->shared_before % w->team->size].scratch;
}

/* Whether each thread wrote its own units of the gradient to a shared layer's output. */
static bool wrote_units(const struct backend_session *s, const struct cpu_layer *c)
{
    return c->index + 1 < s->layers && s->layer[c->index + 1].units;
}

/* bf16: a gradient to a layer's output is rounded when all that is added to it is there. */
static void round_gradient(struct cpu_worker *w, int i, struct part p)
{
    const struct backend_session *s = w->team->s;
    size_t floats = s->layer[i].out * s->lanes;

    for (int g = 0; g < p.n; g++) {
        float *at = cpu_grad(w, i, p.place) + (size_t)g * floats + p.at;
        s->k->round_bf16(p.floats, at, at);
    }
}

/* A shared layer's gradient is turned round, in bf16 rounded before, once for all who read it. */
static void share_gradient(struct cpu_worker *w, const struct cpu_layer *c, struct part p)
{
    const struct backend_session *s = w->team->s;
    int unit = (int)(p.at / s->lanes);

    if (s->bf16 || !wrote_units(s, c))
        cpu_barrier(w);
    if (!going(w, 1))
        return;
    if (s->bf16 && !c->reader_rounds)
        round_gradient(w, c->tail, p);
    if (p.floats) /* a layer of 10 units has none for a second thread */
        turn_units(w, c, unit, unit + (int)(p.floats / s->lanes), turned_by_all(w, c));
}

/* A dense layer whose rows the threads share out: each takes the gradient of its rows over all
 * images, of its inputs, and makes the step along it. */
static void shared_dense_backward(struct cpu_worker *w, struct cpu_model *m, int i)
{
    struct backend_session *s = w->team->s;
    const struct cpu_kernels *k = s->k;
    const struct cpu_tiles *tiles = s->layer[i].tiles ? s->tiles : NULL;
    const struct cpu_layer *c = &s->layer[i];
    int groups = s->batch_groups, images = images_of(w, 0, groups, true), from, to;
    size_t in = c->in * s->lanes, out = c->out * s->lanes, width = cpu_round_up(c->out);
    const float *x = cpu_back(w, c->l.src, 0), *dy = cpu_grad(w, i, 0);
    float *dx = c->first ? NULL : cpu_grad(w, c->l.src, 0);
    float *dparam = w->team->dparam, *turned = turned_by_all(w, c);

    cpu_units(w, c->in, &from, &to);
    /* before the weights': both gradients, as they are and turned, are more than the cache keeps */
    for (int g = 0; !tiles && dx && from < to && g < groups; g += GROUPS_AT_ONCE)
        k->dense(images_of(w, g, at_once(groups - g), true), (int)c->out, to - from,
                 dy + (size_t)g * out, out, m->rounded + c->kernel + (size_t)from * c->out, 1,
                 c->out, NULL, c->add, dx + (size_t)g * in + (size_t)from * s->lanes, in);
    for (int row = from, step = tiles ? tiles->rows : ROWS_AT_ONCE; row < to; row += step) {
        int rows = to - row < step ? to - row : step;
        size_t at = c->kernel + (size_t)row * c->out, lane = (size_t)row * s->lanes;
        if (tiles && dx)
            tiles->dense_back(images, (int)c->in, (int)c->out, row, row + rows, m->tiles + c->tile,
                              c->add, dx, turned, w->scratch);
        if (tiles)
            tiles->dense_weights(images, (int)c->in, (int)c->out, row, row + rows, x, false,
                                 dparam + at, turned, w->scratch);
        for (int g = 0; !tiles && g < groups; g += GROUPS_AT_ONCE)
            k->dense_weights(images_of(w, g, at_once(groups - g), true), rows, (int)c->out,
                             x + (size_t)g * in + lane, in, turned + (size_t)g * s->lanes * width,
                             width, dparam + at, c->out, g > 0);
        cpu_update_now(w, m, at, (size_t)rows * c->out);
        if (cpu_packs_at_once(s, c))
            tiles->dense_pack((int)c->in, (int)c->out, dx != NULL, row, row + rows,
                              m->param + c->kernel, m->tiles + c->tile);
    }
    if (c->l.bias < 0)
        return;
    cpu_units(w, c->out, &from, &to);
    if (to > from) {
        k->bias_sums(groups, to - from, dy + (size_t)from * s->lanes, out, dparam + c->bias + from,
                     false);
        cpu_update_now(w, m, c->bias + (size_t)from, (size_t)(to - from));
    }
}

static void dense_backward(struct cpu_worker *w, const struct cpu_model *m, int i, int place, int n)
{
    const struct backend_session *s = w->team->s;
    const struct cpu_kernels *k = s->k;
    const struct cpu_layer *c = &s->layer[i];
    size_t in = c->in * s->lanes, out = c->out * s->lanes, width = cpu_round_up(c->out);
    const struct cpu_tiles *tiles = c->tiles ? s->tiles : NULL;
    float *dw = cpu_sum(w, c->own_slice, c->kernel, c->kernel_own);

    if (tiles) {
        tiles->dense_turn(n, 0, (int)c->out, (int)c->in, (int)c->out, !c->first,
                          cpu_grad(w, i, place), w->scratch);
        tiles->dense_weights(images_of(w, place, n, true), (int)c->in, (int)c->out, 0, (int)c->in,
                             cpu_back(w, c->l.src, place), true, dw, w->scratch, w->scratch);
        if (!c->first)
            tiles->dense_back(images_of(w, place, n, true), (int)c->in, (int)c->out, 0, (int)c->in,
                              m->tiles + c->tile, c->add, cpu_grad(w, c->l.src, place), w->scratch,
                              w->scratch);
    }
    for (int g = place; !tiles && g < place + n; g += GROUPS_AT_ONCE) {
        int now = at_once(place + n - g), images = images_of(w, g, now, true);
        const float *x = cpu_back(w, c->l.src, g), *dy = cpu_grad(w, i, g);
        k->turn(now, 0, (int)c->out, dy, out, w->scratch, width);
        k->dense_weights(images, (int)c->in, (int)c->out, x, in, w->scratch, width, dw, c->out,
                         true);
        if (!c->first)
            k->dense(images, (int)c->out, (int)c->in, dy, out, m->rounded + c->kernel, 1, c->out,
                     NULL, c->add, cpu_grad(w, c->l.src, g), in);
    }
    if (c->l.bias >= 0)
        k->bias_sums(n, (int)c->out, cpu_grad(w, i, place), out,
                     cpu_sum(w, c->own_slice, c->bias, c->bias_own), true);
}

static void conv_backward(struct cpu_worker *w, const struct cpu_model *m, int i, int place, int n)
{
    const struct cpu_layer *c = &w->team->s->layer[i];

    c->ops_train->backward(&c->conv, n, packed_of(w, m, c, true), cpu_back(w, c->l.src, place),
                           cpu_grad(w, c->tail, place), cpu_pass(w, c, place),
                           c->first ? NULL : cpu_grad(w, c->l.src, place), c->add,
                           cpu_sum(w, c->own_slice, c->kernel, c->kernel_own),
                           c->l.bias >= 0 ? cpu_sum(w, c->own_slice, c->bias, c->bias_own) : NULL,
                           w->scratch);
}

/* As forward; what blocks give to pixels that others read, too, is added up by channels, when all is
 * there. */
static void dealt_backward(struct cpu_worker *w, const struct cpu_model *m,
                           const struct cpu_layer *c)
{
    const struct cpu_worker *owner = owner_of(w);
    float *dx = c->first ? NULL : cpu_grad(owner, c->l.src, 0);
    int from, to, first, last;

    cpu_barrier(w);
    share_blocks(w, c, &from, &to);
    if (going(w, to - from))
        cpu_blocks_backward(
            &c->conv, from, to, packed_of(w, m, c, true), cpu_back(owner, c->l.src, 0),
            cpu_grad(owner, c->tail, 0), w->team->pass[c->index], dx,
            cpu_sum(w, c->own_slice, c->kernel, c->kernel_own),
            c->l.bias >= 0 ? cpu_sum(w, c->own_slice, c->bias, c->bias_own) : NULL, w->scratch);
    cpu_barrier(w);
    if (!dx)
        return;
    cpu_share(c->conv.cin, w->team->size, w->rank, &first, &last);
    for (int r = 0; r < w->team->size && going(w, 1); r++) {
        cpu_share(c->blocks.groups, w->team->size, r, &from, &to);
        cpu_blocks_give(&c->conv, from, to, w->team->worker[r].scratch, first, last, c->add, dx);
    }
    cpu_barrier(w);
}

static void add_backward(const struct cpu_worker *w, const struct cpu_layer *c, size_t n,
                         const float *y, float *dy, float *dx, float *dx2)
{
    const struct cpu_kernels *k = w->team->s->k;
    enum cpu_rounding round = cpu_rounding(w->team->s);
    bool relu = c->tail > c->index, first = relu || dx != dy;

    if (first || dx2)
        k->add_back(n, relu ? y : NULL, round, dy, c->add, first ? dx : NULL, c->add2, dx2);
    else if (round != CPU_ROUND_NOT)
        k->round_bf16(n, dy, dy);
}

/* Layers without weights: dx from dy. */
static void point_backward(struct cpu_worker *w, int i, struct part p)
{
    struct backend_session *s = w->team->s;
    const struct cpu_kernels *k = s->k;
    const struct cpu_layer *c = &s->layer[i];
    const struct net_layer *l = &c->l;
    size_t in = c->in * s->lanes, out = c->out * s->lanes;
    const float *x = cpu_back(w, l->src, p.place), *y = cpu_back(w, c->tail, p.place);
    const float *dy = cpu_grad(w, c->tail, p.place);
    float *dx = c->first ? NULL : cpu_grad(w, l->src, p.place);
    enum cpu_rounding round = cpu_rounding(s);
    bool below = cpu_rounding_below(s, c) != CPU_ROUND_NOT;

    if (l->op == NET_ADD) {
        float *dx2 = c->first2 ? NULL : cpu_grad(w, l->src2, p.place);
        add_backward(w, c, (size_t)p.n * out, y, cpu_grad(w, c->tail, p.place), dx, dx2);
        return;
    }
    if (!dx)
        return;
    if ((l->op == NET_AVGPOOL || l->op == NET_MAXPOOL || l->op == NET_GLOBALAVGPOOL) && !c->add)
        memset(dx, 0, (size_t)p.n * in * sizeof *dx);
    for (int g = 0; g < p.n; g++, x += in, y += out, dy += out, dx += in) {
        switch (l->op) {
        case NET_RELU:
            k->relu_back(p.floats, y + p.at, dy + p.at, c->add, round, below, dx + p.at);
            break;
        case NET_TANH:
            k->tanh_back(p.floats, y + p.at, dy + p.at, c->add, round, below, dx + p.at);
            break;
        case NET_AVGPOOL:
        case NET_GLOBALAVGPOOL:
            k->avgpool_back(l, dy, dx);
            break;
        case NET_MAXPOOL:
            k->maxpool_back(l, x, y, dy, dx);
            break;
        case NET_DROPOUT:
            k->dropout(l, dy, cpu_keep(w, c, p.place + g), (float)(1 / (1 - l->rate)), c->add, dx);
            break;
        default:
            break;
        }
    }
}

static void layer_backward(struct cpu_worker *w, struct cpu_model *m, int i, struct part p)
{
    const struct cpu_layer *c = &w->team->s->layer[i];

    if (c->l.op == NET_DENSE && c->units)
        shared_dense_backward(w, m, i);
    else if (c->l.op == NET_DENSE)
        dense_backward(w, m, i, p.place, p.n);
    else if (c->l.op == NET_CONV)
        conv_backward(w, m, i, p.place, p.n);
    else
        point_backward(w, i, p);
}

/* The gradient to the output of the last of these layers stands in its buffer. */
void cpu_backward(struct cpu_worker *w, struct cpu_model *m, int from, int to, int place, int n)
{
    struct backend_session *s = w->team->s;

    for (int i = to - 1; i >= from; i--) {
        const struct cpu_layer *c = &s->layer[i];
        /* spared: what is computed again in front of an idle layer serves others, too */
        if (c->fused || (c->idle && !s->spare))
            continue;
        bool shared = c->l.op == NET_DENSE && c->units;
        struct part p = part_of(w, c, place, n);
        p.floats = c->units ? p.floats : s->layer[c->tail].out * s->lanes;
        if ((c->wait_backward || s->layer[c->tail].wait_backward) && i >= s->pictures) {
            if (shared)
                share_gradient(w, c, p);
            cpu_barrier(w);
        }
        if (shared)
            w->committed = true;
        if (s->spare)
            cpu_spare_layer(w, m, c, true, true);
        bool compute = going(w, c->units ? 1 : n);
        if (s->bf16 && compute && !shared && p.n > 0 && !rounds(c, true) && !c->idle)
            round_gradient(w, c->tail, p);
        if (compute)
            cpu_spare_again(w, m, c, place, n);
        if (c->l.op == NET_BATCHNORM)
            cpu_norm_backward(w, m, c, place, n, compute);
        else if (c->dealt)
            dealt_backward(w, m, c);
        else if (compute && !c->idle)
            layer_backward(w, m, i, p);
        if (c->merge)
            cpu_spare_merge(w, c);
    }
}
