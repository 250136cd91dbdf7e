/* cpu/step.c: one model's layers forward and backward over a worker's groups. */
#include "cpu/cpu_int.h"

#include <math.h>
#include <string.h>

static size_t round_up(size_t n)
{
    return (n + CPU_LANES - 1) / CPU_LANES * CPU_LANES;
}

/* The input of a convolution inside a frame of zeros. */
static void frame_fill(const struct cpu_layer *c, const float *x, float *frame)
{
    const struct net_layer *l = c->l;
    size_t row = (size_t)c->conv.in_w * CPU_LANES, plane = row * (size_t)c->conv.in_h;

    for (int i = 0; i < l->in.c; i++) {
        float *to =
            frame + (size_t)i * plane + (size_t)l->pad_top * row + (size_t)l->pad_left * CPU_LANES;
        for (int y = 0; y < l->in.h; y++, x += (size_t)l->in.w * CPU_LANES)
            memcpy(to + (size_t)y * row, x, (size_t)l->in.w * CPU_LANES * sizeof *x);
    }
}

/* The gradient to a convolution's output, stride - 1 zeros between its pixels, zeros around it, so
 * that the input gradient is a plain convolution with the flipped weights. */
static void spread_fill(const struct cpu_layer *c, const float *dy, float *spread)
{
    const struct net_layer *l = c->l;
    size_t row = (size_t)c->back.in_w * CPU_LANES, plane = row * (size_t)c->back.in_h;
    int top = l->k - 1 - l->pad_top, left = l->k - 1 - l->pad_left;

    memset(spread, 0, plane * (size_t)l->out.c * sizeof *spread);
    for (int o = 0; o < l->out.c; o++) {
        for (int y = 0; y < l->out.h; y++) {
            for (int x = 0; x < l->out.w; x++, dy += CPU_LANES) {
                int ty = top + y * l->stride, tx = left + x * l->stride;
                /* a pad wider than the kernel: these outputs saw only zeros */
                if (ty < 0 || tx < 0 || ty >= c->back.in_h || tx >= c->back.in_w)
                    continue;
                memcpy(spread + (size_t)o * plane + (size_t)ty * row + (size_t)tx * CPU_LANES, dy,
                       CPU_LANES * sizeof *dy);
            }
        }
    }
}

static void layer_forward(struct cpu_worker *w, const struct cpu_model *m, int i, int n,
                          bool training)
{
    struct backend_session *s = w->team->s;
    const struct cpu_kernels *k = s->k;
    const struct cpu_layer *c = &s->layer[i];
    const struct net_layer *l = c->l;
    const float *x = cpu_source(w, l->src);
    float *y = w->act[i];
    size_t in = c->in * CPU_LANES, out = c->out * CPU_LANES, all = (size_t)n * out;
    const float *bias = l->bias >= 0 ? m->param + c->bias : NULL;

    switch (l->op) {
    case NET_CONV:
        for (int g = 0; g < n; g++) {
            const float *from = x + (size_t)g * in;
            if (c->padded) {
                float *frame = w->frame[i] + (size_t)g * (size_t)c->conv.in_h *
                                                 (size_t)c->conv.in_w * (size_t)l->in.c * CPU_LANES;
                frame_fill(c, from, frame);
                from = frame;
            }
            k->conv(&c->conv, m->packed + c->pack, bias, false, from, y + (size_t)g * out);
        }
        break;
    case NET_DENSE:
        k->dense(n, (int)c->in, (int)c->out, x, in, m->param + c->kernel, c->out, 1, bias, false, y,
                 out);
        break;
    case NET_RELU:
        k->relu(all, x, y);
        break;
    case NET_TANH:
        k->tanh(all, x, y);
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
                k->dropout(l, x + (size_t)g * in, w->keep[i] + (size_t)g * c->out,
                           (float)(1 / (1 - l->rate)), false, y + (size_t)g * out);
            else
                k->copy(out, x + (size_t)g * in, false, y + (size_t)g * out);
        }
        break;
    case NET_ADD:
        k->add(all, x, cpu_source(w, l->src2), y);
        break;
    case NET_BATCHNORM: /* in cpu_forward, for its barriers */
        break;
    }
}

/* Which elements each dropout layer keeps: by the images' places in the global batch. */
static void draw_masks(struct cpu_worker *w, const struct cpu_model *m, int from, int n,
                       uint64_t step)
{
    struct backend_session *s = w->team->s;

    for (int i = 0; i < s->layers; i++) {
        const struct net_layer *l = s->layer[i].l;
        if (l->op != NET_DROPOUT)
            continue;
        struct rng_key key =
            rng_fold_in(rng_fold_in(m->key, 0x80000000u + (uint32_t)l->dropout), (uint32_t)step);
        /* kept are the bits from here on; rates end at 0.999, so this fits */
        uint32_t limit = (uint32_t)ceil(l->rate * 4294967296.0);
        for (int g = 0; g < n; g++) {
            size_t first;
            int lanes;
            cpu_group(s, from + g, &first, &lanes);
            s->k->dropout_mask(key, first, s->layer[i].out, limit,
                               w->keep[i] + (size_t)g * s->layer[i].out);
        }
    }
}

void cpu_forward(struct cpu_worker *w, const struct cpu_model *m, int from, int n, bool training,
                 uint64_t step)
{
    struct backend_session *s = w->team->s;

    if (training && n > 0)
        draw_masks(w, m, from, n, step);
    for (int i = 0; i < s->layers; i++) {
        bool compute = n > 0 && !atomic_load_explicit(&w->team->abandon, memory_order_relaxed);
        if (s->layer[i].l->op == NET_BATCHNORM)
            cpu_norm_forward(w, m, &s->layer[i], w->act[i], from, n, training, compute);
        else if (compute)
            layer_forward(w, m, i, n, training);
    }
}

static void layer_backward(struct cpu_worker *w, const struct cpu_model *m, int i, int n)
{
    struct backend_session *s = w->team->s;
    const struct cpu_kernels *k = s->k;
    const struct cpu_layer *c = &s->layer[i];
    const struct net_layer *l = c->l;
    const float *x = cpu_source(w, l->src), *y = w->act[i], *dy = w->grad[i];
    float *dx = c->first ? NULL : w->grad[l->src];
    size_t in = c->in * CPU_LANES, out = c->out * CPU_LANES, all = (size_t)n * out;
    float *db = l->bias >= 0 ? w->dparam + c->bias : NULL;

    switch (l->op) {
    case NET_CONV: {
        size_t frame = (size_t)c->conv.in_h * (size_t)c->conv.in_w * (size_t)l->in.c * CPU_LANES;
        k->conv_weights(&c->conv, n, c->padded ? w->frame[i] : x, c->padded ? frame : in, dy, out,
                        w->dparam + c->kernel, db);
        for (int g = 0; dx && g < n; g++) {
            spread_fill(c, dy + (size_t)g * out, w->spread);
            k->conv(&c->back, m->packed + c->pack_back, NULL, c->add, w->spread,
                    dx + (size_t)g * in);
        }
        break;
    }
    case NET_DENSE:
        k->turn(n, (int)c->out, dy, out, w->scratch, round_up(c->out));
        k->dense_weights(n, (int)c->in, (int)c->out, x, in, w->scratch, round_up(c->out),
                         w->dparam + c->kernel, c->out, true);
        if (db)
            k->bias_sums(n, (int)c->out, dy, out, db, true);
        if (dx)
            k->dense(n, (int)c->out, (int)c->in, dy, out, m->param + c->kernel, 1, c->out, NULL,
                     c->add, dx, in);
        break;
    case NET_RELU:
        if (dx)
            k->relu_back(all, y, dy, c->add, dx);
        break;
    case NET_TANH:
        if (dx)
            k->tanh_back(all, y, dy, c->add, dx);
        break;
    case NET_AVGPOOL:
    case NET_GLOBALAVGPOOL:
    case NET_MAXPOOL:
        if (!dx)
            break;
        if (!c->add)
            memset(dx, 0, (size_t)n * in * sizeof *dx);
        for (int g = 0; g < n; g++) {
            if (l->op == NET_MAXPOOL)
                k->maxpool_back(l, x + (size_t)g * in, y + (size_t)g * out, dy + (size_t)g * out,
                                dx + (size_t)g * in);
            else
                k->avgpool_back(l, dy + (size_t)g * out, dx + (size_t)g * in);
        }
        break;
    case NET_DROPOUT:
        for (int g = 0; dx && g < n; g++)
            k->dropout(l, dy + (size_t)g * out, w->keep[i] + (size_t)g * c->out,
                       (float)(1 / (1 - l->rate)), c->add, dx + (size_t)g * in);
        break;
    case NET_ADD:
        if (dx)
            k->copy(all, dy, c->add, dx);
        if (l->src2 != NET_IMAGES)
            k->copy(all, dy, c->add2, w->grad[l->src2]);
        break;
    case NET_BATCHNORM:
        break;
    }
}

/* The gradient to the last layer's output stands in w->grad[layers - 1]. */
void cpu_backward(struct cpu_worker *w, const struct cpu_model *m, int from, int n)
{
    struct backend_session *s = w->team->s;

    for (int i = s->layers - 1; i >= 0; i--) {
        const struct cpu_layer *c = &s->layer[i];
        bool compute = n > 0 && !atomic_load_explicit(&w->team->abandon, memory_order_relaxed);
        if (c->l->op == NET_BATCHNORM)
            cpu_norm_backward(w, m, c, w->grad[i], c->first ? NULL : w->grad[c->l->src], from, n,
                              compute);
        else if (compute)
            layer_backward(w, m, i, n);
    }
}
