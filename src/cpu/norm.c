/* cpu/norm.c: batch norm, the one layer whose groups need each other: barriers of the team stand
 * between collecting sums and using them, so every thread must pass here, with groups or without. */
#include "cpu/team.h"

#include <math.h>

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
    const struct net_layer *l = &c->l;
    size_t pixels = (size_t)l->in.h * (size_t)l->in.w;
    const float *x = n > 0 ? cpu_act(w, l->src, from) : NULL;

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

    for (int i = 0; i < c->l.in.c; i++) {
        double mean = 0, variance = 0;
        for (int d = 0; d < parts; d++) {
            double a, v;
            norm_of(w, d * each, i, c->l.in.c, &a, &v);
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

void cpu_norm_forward(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                      float *y, int from, int n, bool training, bool compute)
{
    const struct net_layer *l = &c->l;
    size_t pixels = (size_t)l->in.h * (size_t)l->in.w;
    const float *x = n > 0 ? cpu_act(w, l->src, from) : NULL;

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

void cpu_norm_backward(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                       const float *dy, float *dx, int from, int n, bool compute)
{
    struct backend_session *s = w->team->s;
    const struct net_layer *l = &c->l;
    size_t pixels = (size_t)l->in.h * (size_t)l->in.w;
    const float *x = n > 0 ? cpu_act(w, l->src, from) : NULL;
    int channels = l->in.c;
    double *means = w->team->norm, *sums = w->team->sums;
    float *dscale = cpu_sum(w, c->own_slice, c->kernel, c->kernel_own);
    float *db = cpu_sum(w, c->own_slice, c->bias, c->bias_own);

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
            db[i] += (float)sums[pair];
            dscale[i] += (float)sums[pair + 1];
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
