/* cpu/norm.c: batch norm, the one layer whose groups need each other: barriers of the team stand
 * between collecting sums and using them, so every thread must pass here, with groups or without. */
#include "cpu/team.h"

#include <math.h>

#define NORM_EPSILON 1e-5
#define NORM_KEEP    0.9

/* Groups that a batch norm takes its statistics over, those of one device or all: a span. */
static int spans(const struct backend_session *s)
{
    return s->split ? s->plan.devices : 1;
}

static int span_groups(const struct backend_session *s)
{
    return s->batch_groups / spans(s);
}

/* The pair of numbers that a group, or in t->norm a span, has for a channel. */
static size_t pair_at(const struct cpu_layer *c, int group, int channel)
{
    return 2 * ((size_t)group * (size_t)c->l.in.c + (size_t)channel);
}

/* Mean and variance of a channel over a span, joined as Chan does, in a fixed order. A group's pixels
 * of one channel are worth the same in every group, so lanes serve as weights and the squares are
 * those of a mean pixel. */
static void span_moments(const struct cpu_worker *w, const struct cpu_layer *c, int span,
                         int channel, double *mean, double *variance)
{
    const struct backend_session *s = w->team->s;
    double n = 0, average = 0, m2 = 0;

    for (int g = span * span_groups(s); g < (span + 1) * span_groups(s); g++) {
        size_t first;
        int lanes;
        cpu_group(s, g, &first, &lanes);
        const double *pair = w->team->sums + pair_at(c, g, channel);
        double more = lanes, apart = pair[0] - average;
        average += apart * more / (n + more);
        m2 += pair[1] + apart * apart * n * more / (n + more);
        n += more;
    }
    *mean = average;
    *variance = m2 / n;
}

static void collect(struct cpu_worker *w, const struct cpu_layer *c, int place, int n)
{
    size_t pixels = (size_t)c->l.in.h * (size_t)c->l.in.w;

    for (int g = place; g < place + n; g++) {
        size_t first;
        int lanes;
        cpu_group(w->team->s, g, &first, &lanes);
        for (int i = 0; i < c->l.in.c; i++) {
            double *pair = w->team->sums + pair_at(c, g, i);
            w->team->s->k->moments(pixels, lanes,
                                   cpu_act(w, c->l.src, g) + (size_t)i * pixels * CPU_LANES,
                                   &pair[0], &pair[1]);
            pair[1] /= (double)pixels;
        }
    }
}

/* What the batch says, for the way back; and the running statistics after this step: the mean over
 * devices of each device's. */
static void remember(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c)
{
    const struct backend_session *s = w->team->s;
    float *next = w->team->next_stat;
    int parts = spans(s);

    for (int i = 0; i < c->l.in.c; i++) {
        double mean = 0, variance = 0;
        for (int d = 0; d < parts; d++) {
            double *pair = w->team->norm + c->norm + pair_at(c, d, i);
            span_moments(w, c, d, i, &pair[0], &pair[1]);
            mean += pair[0];
            variance += pair[1];
        }
        size_t at = c->mean + (size_t)i, var = c->var + (size_t)i;
        next[at] = (float)(NORM_KEEP * (double)m->stat[at] + (1 - NORM_KEEP) * (mean / parts));
        next[var] =
            (float)(NORM_KEEP * (double)m->stat[var] + (1 - NORM_KEEP) * (variance / parts));
    }
}

/* A channel's way through: from the batch of a span, or from the running statistics (span -1). */
static struct cpu_norm channel_of(const struct cpu_worker *w, const struct cpu_model *m,
                                  const struct cpu_layer *c, int span, int i)
{
    double mean, variance;

    if (span < 0) {
        mean = (double)m->stat[c->mean + (size_t)i];
        variance = (double)m->stat[c->var + (size_t)i];
    } else {
        const double *pair = w->team->norm + c->norm + pair_at(c, span, i);
        mean = pair[0];
        variance = pair[1];
    }
    double inverse = 1 / sqrt(variance + NORM_EPSILON);
    double scale = (double)m->param[c->kernel + (size_t)i] * inverse;
    return (struct cpu_norm){.mean = (float)mean,
                             .inverse = (float)inverse,
                             .relu = c->tail > c->index,
                             .scale = (float)scale,
                             .shift =
                                 (float)((double)m->param[c->bias + (size_t)i] - mean * scale)};
}

/* A group's output, from a span's statistics or the running ones. */
static void normalize(const struct cpu_worker *w, const struct cpu_model *m,
                      const struct cpu_layer *c, int span, const float *x, float *y)
{
    size_t pixels = (size_t)c->l.in.h * (size_t)c->l.in.w, floats = pixels * CPU_LANES;

    for (int i = 0; i < c->l.in.c; i++) {
        struct cpu_norm k = channel_of(w, m, c, span, i);
        w->team->s->k->normalize(pixels, x + (size_t)i * floats, k.scale, k.shift, k.relu,
                                 y + (size_t)i * floats);
    }
}

void cpu_norm_forward(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                      int place, int n, bool training, bool compute)
{
    if (training) {
        if (compute)
            collect(w, c, place, n);
        cpu_barrier(w);
        /* rank 0 may have no groups of its own; what an abandoned step leaves here is not used */
        if (w->rank == 0)
            remember(w, m, c);
        cpu_barrier(w); /* from here on the groups' sums may be written again */
    }
    for (int g = place; compute && g < place + n; g++)
        normalize(w, m, c, training ? g / span_groups(w->team->s) : -1, cpu_act(w, c->l.src, g),
                  cpu_act(w, c->tail, g));
}

void cpu_norm_again(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                    int place, int n, const float *x)
{
    for (int g = place; g < place + n; g++, x += c->in * CPU_LANES)
        normalize(w, m, c, g / span_groups(w->team->s), x, cpu_back(w, c->tail, g));
}

/* a (dy - mean(dy) - xhat mean(dy xhat)), sorted by dy, x and the rest. */
static void way_back(const struct cpu_worker *w, const struct cpu_layer *c, int span, int channel,
                     double pixels, struct cpu_norm *k, double weight)
{
    const struct backend_session *s = w->team->s;
    const double *pair = w->team->norm + c->norm + pair_at(c, span, channel);
    double sum_dy = 0, sum_dy_x = 0, images = 0, inverse = 1 / sqrt(pair[1] + NORM_EPSILON);

    for (int g = span * span_groups(s); g < (span + 1) * span_groups(s); g++) {
        size_t first;
        int lanes;
        cpu_group(s, g, &first, &lanes);
        const double *sums = w->team->sums + pair_at(c, g, channel);
        sum_dy += sums[0];
        sum_dy_x += sums[1];
        images += lanes;
    }
    double a = weight * inverse, b = -a * inverse * sum_dy_x / (images * pixels);
    k->a = (float)a;
    k->b = (float)b;
    k->c = (float)(-a * sum_dy / (images * pixels) - b * pair[0]);
}

void cpu_norm_backward(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                       int place, int n, bool compute)
{
    struct backend_session *s = w->team->s;
    size_t pixels = (size_t)c->l.in.h * (size_t)c->l.in.w, floats = pixels * CPU_LANES;
    float *dscale = cpu_sum(w, c->own_slice, c->kernel, c->kernel_own);
    float *db = cpu_sum(w, c->own_slice, c->bias, c->bias_own);
    int span = -1;

    for (int g = place; compute && g < place + n; g++) {
        const float *x = cpu_back(w, c->l.src, g), *dy = cpu_grad(w, c->tail, g);
        for (int i = 0; i < c->l.in.c; i++) {
            double *sums = w->team->sums + pair_at(c, g, i);
            struct cpu_norm k = channel_of(w, m, c, g / span_groups(s), i);
            s->k->norm_sums(pixels, &k, x + (size_t)i * floats, dy + (size_t)i * floats, &sums[0],
                            &sums[1]);
            db[i] += (float)sums[0];
            dscale[i] += (float)sums[1];
        }
    }
    cpu_barrier(w);
    for (int g = place; compute && !c->first && g < place + n; g++) {
        const float *x = cpu_back(w, c->l.src, g), *dy = cpu_grad(w, c->tail, g);
        float *dx = cpu_grad(w, c->l.src, g);
        size_t first;
        int lanes;
        cpu_group(s, g, &first, &lanes);
        for (int i = 0; i < c->l.in.c; i++) {
            if (span != g / span_groups(s)) {
                w->channel[i] = channel_of(w, m, c, g / span_groups(s), i);
                way_back(w, c, g / span_groups(s), i, (double)pixels, &w->channel[i],
                         (double)m->param[c->kernel + (size_t)i]);
            }
            s->k->norm_back(pixels, &w->channel[i], lanes, x + (size_t)i * floats,
                            dy + (size_t)i * floats, c->add, dx + (size_t)i * floats);
        }
        span = g / span_groups(s);
    }
    cpu_barrier(w);
}
