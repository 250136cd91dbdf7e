/* cpu/step.c: one model's layers forward and backward over a worker's groups, and the update. */
#include "cpu/cpu_int.h"

#include <math.h>
#include <string.h>

static float *source(struct cpu_worker *w, int src)
{
    return src == NET_IMAGES ? w->images : w->act[src];
}

/* Images of lane groups that a batch norm takes its statistics over: those of one device, or all. */
static void norm_span(const struct backend_session *s, int g, int *from, int *to)
{
    *from = 0;
    *to = s->batch_groups;
    if (s->split) {
        int each = s->batch_groups / s->plan.devices;
        *from = g / each * each;
        *to = *from + each;
    }
}

/* What normalises one channel of a group: mean and 1 / sqrt(variance + epsilon). */
static void norm_of(const struct cpu_worker *w, int g, int channel, int channels, double *mean,
                    double *variance)
{
    const struct backend_session *s = w->team->s;
    int from, to;
    double n = 0, average = 0, m2 = 0;
    const double *sums = w->team->sums;

    norm_span(s, g, &from, &to);
    for (int i = from; i < to; i++) { /* Chan's way to join means and squares, in a fixed order */
        size_t first;
        int lanes;
        cpu_group(s, i, &first, &lanes);
        const double *pair = sums + 2 * ((size_t)i * (size_t)channels + (size_t)channel);
        double more = lanes, apart = pair[0] - average;
        average += apart * more / (n + more);
        m2 += pair[1] + apart * apart * n * more / (n + more);
        n += more;
    }
    *mean = average;
    *variance = m2 / n;
}

#define NORM_EPSILON 1e-5
#define NORM_KEEP    0.9

/* A group's pixels of one channel are worth the same in every group, so lanes serve as weights and
 * the squares are those of a mean pixel: m2 / pixels. */
static void norm_collect(struct cpu_worker *w, const struct cpu_layer *c, int from, int n)
{
    const struct net_layer *l = c->l;
    size_t pixels = (size_t)l->in.h * (size_t)l->in.w;
    const float *x = source(w, l->src);

    for (int g = 0; g < n; g++) {
        size_t first;
        int lanes;
        cpu_group(w->team->s, from + g, &first, &lanes);
        for (int i = 0; i < l->in.c; i++) {
            double *pair = w->team->sums + 2 * ((size_t)(from + g) * (size_t)l->in.c + (size_t)i);
            w->team->s->k->moments(
                pixels, lanes, x + (size_t)g * c->in * CPU_LANES + (size_t)i * pixels * CPU_LANES,
                &pair[0], &pair[1]);
            pair[1] /= (double)pixels;
        }
    }
}

/* Running statistics after this step: the mean over devices of each device's batch statistics. */
static void norm_run(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c)
{
    const struct backend_session *s = w->team->s;
    int parts = s->split ? s->plan.devices : 1, each = s->batch_groups / parts;

    for (int i = 0; i < c->l->in.c; i++) {
        double mean = 0, variance = 0;
        for (int d = 0; d < parts; d++) {
            double a, v;
            norm_of(w, d * each, i, c->l->in.c, &a, &v);
            mean += a;
            variance += v;
        }
        float *next = w->team->next_stat;
        size_t at = c->mean + (size_t)i, var = c->var + (size_t)i;
        next[at] = (float)(NORM_KEEP * (double)m->stat[at] + (1 - NORM_KEEP) * (mean / parts));
        next[var] =
            (float)(NORM_KEEP * (double)m->stat[var] + (1 - NORM_KEEP) * (variance / parts));
    }
}

static void norm_forward(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                         float *y, int from, int n, bool training, bool compute)
{
    const struct net_layer *l = c->l;
    size_t pixels = (size_t)l->in.h * (size_t)l->in.w;
    const float *x = source(w, l->src);

    if (training) {
        if (compute)
            norm_collect(w, c, from, n);
        cpu_barrier(w);
        /* rank 0 may have no groups of its own; what an abandoned step leaves here is not used */
        if (w->rank == 0)
            norm_run(w, m, c);
    }
    for (int g = 0; compute && g < n; g++) {
        for (int i = 0; i < l->in.c; i++) {
            double mean, variance;
            if (training) {
                norm_of(w, from + g, i, l->in.c, &mean, &variance);
            } else {
                mean = (double)m->stat[c->mean + (size_t)i];
                variance = (double)m->stat[c->var + (size_t)i];
            }
            double scale = (double)m->param[c->kernel + (size_t)i] / sqrt(variance + NORM_EPSILON);
            double shift = (double)m->param[c->bias + (size_t)i] - mean * scale;
            size_t at = (size_t)g * c->in * CPU_LANES + (size_t)i * pixels * CPU_LANES;
            w->team->s->k->normalize(pixels, x + at, (float)scale, (float)shift, y + at);
        }
    }
    if (training)
        cpu_barrier(w); /* nobody may collect for the next batch norm while others read sums */
}

static void norm_backward(struct cpu_worker *w, const struct cpu_model *m,
                          const struct cpu_layer *c, const float *dy, float *dx, int from, int n,
                          bool compute)
{
    struct backend_session *s = w->team->s;
    const struct net_layer *l = c->l;
    size_t pixels = (size_t)l->in.h * (size_t)l->in.w;
    const float *x = source(w, l->src);
    int channels = l->in.c;
    double *means = w->team->norm, *sums = w->team->sums;

    if (compute)
        norm_collect(w, c, from, n);
    cpu_barrier(w);
    for (int g = 0; compute && g < n; g++) {
        for (int i = 0; i < channels; i++)
            norm_of(w, from + g, i, channels,
                    &means[2 * ((size_t)(from + g) * (size_t)channels + (size_t)i)],
                    &means[2 * ((size_t)(from + g) * (size_t)channels + (size_t)i) + 1]);
    }
    cpu_barrier(w);
    for (int g = 0; compute && g < n; g++) {
        for (int i = 0; i < channels; i++) {
            size_t pair = 2 * ((size_t)(from + g) * (size_t)channels + (size_t)i);
            size_t at = (size_t)g * c->in * CPU_LANES + (size_t)i * pixels * CPU_LANES;
            double inverse = 1 / sqrt(means[pair + 1] + NORM_EPSILON);
            s->k->norm_sums(pixels, x + at, dy + at, (float)means[pair], (float)inverse,
                            &sums[pair], &sums[pair + 1]);
            w->dparam[c->bias + (size_t)i] += (float)sums[pair];
            w->dparam[c->kernel + (size_t)i] += (float)sums[pair + 1];
        }
    }
    cpu_barrier(w);
    for (int g = 0; compute && dx && g < n; g++) {
        int begin, end, lanes;
        size_t first;
        norm_span(s, from + g, &begin, &end);
        cpu_group(s, from + g, &first, &lanes);
        for (int i = 0; i < channels; i++) {
            double sum_dy = 0, sum_dy_x = 0, images = 0;
            for (int j = begin; j < end; j++) {
                size_t pair = 2 * ((size_t)j * (size_t)channels + (size_t)i);
                size_t unused;
                int held;
                cpu_group(s, j, &unused, &held);
                sum_dy += sums[pair];
                sum_dy_x += sums[pair + 1];
                images += held;
            }
            size_t pair = 2 * ((size_t)(from + g) * (size_t)channels + (size_t)i);
            double count = images * (double)pixels, mean = means[pair];
            double inverse = 1 / sqrt(means[pair + 1] + NORM_EPSILON);
            double a = (double)m->param[c->kernel + (size_t)i] * inverse;
            /* a (dy - mean(dy) - xhat mean(dy xhat)), sorted by dy, x and the rest */
            double b = -a * inverse * sum_dy_x / count;
            double rest = -a * sum_dy / count - b * mean;
            size_t at = (size_t)g * c->in * CPU_LANES + (size_t)i * pixels * CPU_LANES;
            s->k->norm_back(pixels, lanes, x + at, dy + at, (float)a, (float)b, (float)rest, c->add,
                            dx + at);
        }
    }
    cpu_barrier(w);
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
    const float *x = source(w, l->src);
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
        k->dense(n, (int)c->in, (int)c->out, x, m->param + c->kernel, c->out, 1, bias, false, y);
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
        k->add(all, x, source(w, l->src2), y);
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
        double limit = l->rate * 4294967296.0;
        for (int g = 0; g < n; g++) {
            size_t first;
            int lanes;
            cpu_group(s, from + g, &first, &lanes);
            s->k->dropout_mask(key, first, s->layer[i].out, (uint32_t)ceil(limit),
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
            norm_forward(w, m, &s->layer[i], w->act[i], from, n, training, compute);
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
    const float *x = source(w, l->src), *y = w->act[i], *dy = w->grad[i];
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
        k->dense_weights(n, (int)c->in, (int)c->out, x, dy, w->dparam + c->kernel, db, w->scratch);
        if (dx)
            k->dense(n, (int)c->out, (int)c->in, dy, m->param + c->kernel, 1, c->out, NULL, c->add,
                     dx);
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
            norm_backward(w, m, c, w->grad[i], c->first ? NULL : w->grad[c->l->src], from, n,
                          compute);
        else if (compute)
            layer_backward(w, m, i, n);
    }
}

/* Weights in the order that the kernels read them; layers are dealt out to the team. */
void cpu_pack(struct cpu_worker *w, struct cpu_model *m)
{
    struct backend_session *s = w->team->s;
    int turn = 0;

    for (int i = 0; i < s->layers; i++) {
        const struct cpu_layer *c = &s->layer[i];
        if (c->l->op != NET_CONV)
            continue;
        if (turn++ % w->team->size == w->rank)
            s->k->conv_pack(&c->conv, m->param + c->kernel, false, m->packed + c->pack);
        if (!c->first && turn++ % w->team->size == w->rank)
            s->k->conv_pack(&c->back, m->param + c->kernel, true, m->packed + c->pack_back);
    }
}

/* Sums the threads' gradients of this worker's slice of the parameters, always in the same order,
 * into the first thread's. */
static double reduce(struct cpu_worker *w, size_t from, size_t to)
{
    struct cpu_team *t = w->team;
    float *sum = t->worker[0].dparam;
    double square = 0;

    for (int r = 1; r < t->size; r++) {
        const float *more = t->worker[r].dparam;
        for (size_t i = from; i < to; i++)
            sum[i] += more[i];
    }
    if (t->s->plan.grad_clip > 0) {
        for (size_t i = from; i < to; i++)
            square += (double)sum[i] * (double)sum[i];
    }
    return square;
}

static void update_slice(const struct backend_plan *p, struct cpu_model *m, const float *gradient,
                         float scale, double lr_, uint64_t step, size_t from, size_t to)
{
    float lr = (float)lr_, decay = (float)p->weight_decay, momentum = (float)p->momentum;
    float b1 = (float)p->beta1, b2 = (float)p->beta2, epsilon = (float)p->epsilon;
    float fix1 = (float)(1 - pow(p->beta1, (double)(step + 1)));
    float fix2 = (float)(1 - pow(p->beta2, (double)(step + 1)));
    float coupled = p->optimizer == SPEC_ADAMW ? 0 : decay;

    for (size_t i = from; i < to; i++) {
        float w = m->param[i], g = gradient[i] * scale + coupled * w, v;
        switch (p->optimizer) {
        case SPEC_SGD:
            w -= lr * g;
            break;
        case SPEC_MOMENTUM:
            v = m->slot1[i] = g + momentum * m->slot1[i];
            w -= lr * v;
            break;
        case SPEC_NESTEROV:
            v = m->slot1[i] = g + momentum * m->slot1[i];
            w -= lr * (g + momentum * v);
            break;
        case SPEC_ADAM:
        case SPEC_ADAMW:
            m->slot1[i] = b1 * m->slot1[i] + (1 - b1) * g;
            m->slot2[i] = b2 * m->slot2[i] + (1 - b2) * g * g;
            v = (m->slot1[i] / fix1) / (sqrtf(m->slot2[i] / fix2) + epsilon);
            if (p->optimizer == SPEC_ADAMW)
                v += decay * w;
            w -= lr * v;
            break;
        }
        m->param[i] = w;
    }
}

/* Called by the whole team after a barrier; ends with one. */
void cpu_update(struct cpu_worker *w, struct cpu_model *m, double lr, uint64_t step)
{
    struct cpu_team *t = w->team;
    struct backend_session *s = t->s;
    size_t slice = (s->params / (size_t)t->size + CPU_LANES) / CPU_LANES * CPU_LANES;
    size_t from = slice * (size_t)w->rank < s->params ? slice * (size_t)w->rank : s->params;
    size_t to = from + slice < s->params ? from + slice : s->params;
    float scale = 1;

    w->square = reduce(w, from, to);
    if (s->plan.grad_clip > 0) {
        double square = 0;
        cpu_barrier(w);
        for (int r = 0; r < t->size; r++)
            square += t->worker[r].square;
        if (sqrt(square) > s->plan.grad_clip)
            scale = (float)(s->plan.grad_clip / sqrt(square));
    }
    update_slice(&s->plan, m, t->worker[0].dparam, scale, lr, step, from, to);
    if (w->rank == 0 && s->stats)
        memcpy(m->stat, t->next_stat, s->stats * sizeof *m->stat);
    cpu_barrier(w);
    cpu_pack(w, m);
    cpu_barrier(w);
}
