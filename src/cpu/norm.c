/* cpu/norm.c: batch norm, the one layer whose groups need each other: barriers of the team stand
 * between collecting sums and using them, so every thread must pass here, with groups or without.
 *
 * A span is the part of the batch that statistics are taken over: a device's images, or all. Groups are
 * those of all other layers, `lanes` images each, so one may hold the end of a span and the beginning
 * of others: kernels sum by lane, and a group's lanes of one span are a segment. */
#include "cpu/session_int.h"

#include <math.h>

#define NORM_EPSILON 1e-5
#define NORM_KEEP    0.9

struct segment {
    int group, from, to; /* lanes */
    int span;
    size_t id;  /* in the order of the images */
    size_t end; /* the image behind it */
};

static size_t span_images(const struct backend_session *s)
{
    return s->plan.batch / (size_t)s->spans;
}

/* The one that begins with an image of the batch. */
static struct segment segment_at(const struct backend_session *s, size_t image)
{
    size_t each = span_images(s), span = image / each, group = image / s->lanes;
    size_t even =
        each & -each; /* how often 2 divides it: each `apart`th span begins with a group */
    size_t apart = even < s->lanes ? s->lanes / even : 1;
    size_t end = (span + 1) * each, group_end = (group + 1) * s->lanes;

    end = end < group_end ? end : group_end;
    return (struct segment){.group = (int)group,
                            .from = (int)(image % s->lanes),
                            .to = (int)(end - group * s->lanes),
                            .span = (int)span,
                            .id = group + span - span / apart,
                            .end = end};
}

/* Where the batch ends in a group, or the group itself. */
static size_t group_end(const struct backend_session *s, int g)
{
    size_t end = ((size_t)g + 1) * s->lanes;
    return end < s->plan.batch ? end : s->plan.batch;
}

size_t cpu_norm_segments(const struct backend_session *s)
{
    return segment_at(s, s->plan.batch - 1).id + 1;
}

/* The pair of numbers that a segment, or in t->norm a span, has for a channel. */
static size_t pair_at(const struct cpu_layer *c, size_t of, int channel)
{
    return 2 * (of * (size_t)c->l.in.c + (size_t)channel);
}

/* Mean and variance of a channel over a span, joined as Chan does, in a fixed order. An image's pixels
 * of one channel are worth the same in every image, so images serve as weights and the squares are
 * those of a mean pixel. */
static void span_moments(const struct cpu_worker *w, const struct cpu_layer *c, int span,
                         int channel, double *mean, double *variance)
{
    const struct backend_session *s = w->team->s;
    size_t image = (size_t)span * span_images(s), end = image + span_images(s);
    double n = 0, average = 0, m2 = 0;

    for (struct segment at; image < end; image = at.end) {
        at = segment_at(s, image);
        const double *pair = w->team->sums + pair_at(c, at.id, channel);
        double more = at.to - at.from, apart = pair[0] - average;
        average += apart * more / (n + more);
        m2 += pair[1] + apart * apart * n * more / (n + more);
        n += more;
    }
    *mean = average;
    *variance = m2 / n;
}

/* A segment's pair from its lanes' means and squares of a picture's pixels. */
static void join_lanes(const struct segment *at, const double *mean, const double *m2,
                       double pixels, double pair[2])
{
    double lanes = at->to - at->from, average = 0, rest = 0;

    for (int lane = at->from; lane < at->to; lane++)
        average += mean[lane];
    average /= lanes;
    for (int lane = at->from; lane < at->to; lane++)
        rest += m2[lane] / pixels + (mean[lane] - average) * (mean[lane] - average);
    pair[0] = average;
    pair[1] = rest;
}

static void collect(struct cpu_worker *w, const struct cpu_layer *c, int place, int n)
{
    const struct backend_session *s = w->team->s;
    size_t pixels = (size_t)c->l.in.h * (size_t)c->l.in.w;
    enum cpu_rounding round = cpu_rounding_below(s, c);

    for (int g = place; g < place + n; g++) {
        for (int i = 0; i < c->l.in.c; i++) {
            double mean[CPU_LANES], m2[CPU_LANES];
            s->k->moments(pixels, round, cpu_act(w, c->l.src, g) + (size_t)i * pixels * s->lanes,
                          mean, m2);
            size_t image = (size_t)g * s->lanes;
            for (struct segment at; image < group_end(s, g); image = at.end) {
                at = segment_at(s, image);
                join_lanes(&at, mean, m2, (double)pixels, w->team->sums + pair_at(c, at.id, i));
            }
        }
    }
}

/* What the batch says, for the way back; and the running statistics after this step: the mean over
 * devices of each device's. */
static void remember(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c)
{
    float *next = w->team->next_stat;
    int spans = w->team->s->spans;

    for (int i = 0; i < c->l.in.c; i++) {
        double mean = 0, variance = 0;
        for (int d = 0; d < spans; d++) {
            double *pair = w->team->norm + c->norm + pair_at(c, (size_t)d, i);
            span_moments(w, c, d, i, &pair[0], &pair[1]);
            mean += pair[0];
            variance += pair[1];
        }
        size_t at = c->mean + (size_t)i, var = c->var + (size_t)i;
        next[at] = (float)(NORM_KEEP * (double)m->stat[at] + (1 - NORM_KEEP) * (mean / spans));
        next[var] =
            (float)(NORM_KEEP * (double)m->stat[var] + (1 - NORM_KEEP) * (variance / spans));
    }
}

static void set(float *lane, int from, int to, double x)
{
    for (int i = from; i < to; i++)
        lane[i] = (float)x;
}

/* A channel's way through, for some lanes. */
static void set_forward(const struct cpu_model *m, const struct cpu_layer *c, int i, double mean,
                        double variance, int from, int to, struct cpu_norm *k)
{
    double inverse = 1 / sqrt(variance + NORM_EPSILON);
    double scale = (double)m->param[c->kernel + (size_t)i] * inverse;

    set(k->mean, from, to, mean);
    set(k->inverse, from, to, inverse);
    set(k->scale, from, to, scale);
    set(k->shift, from, to, (double)m->param[c->bias + (size_t)i] - mean * scale);
}

/* The lanes that a segment's numbers are set in: the first for all where the group has no other
 * segment, and behind the batch's last image some numbers must stand too. */
static int last_lane(const struct backend_session *s, const struct segment *at, bool mixed)
{
    return !mixed ? 1 : at->end == s->plan.batch ? (int)s->lanes : at->to;
}

static bool is_mixed(const struct backend_session *s, int g)
{
    return segment_at(s, (size_t)g * s->lanes).end < group_end(s, g);
}

/* The way of a group's channel through, from the batch. */
static void channel_of(const struct cpu_worker *w, const struct cpu_model *m,
                       const struct cpu_layer *c, int g, int i, struct cpu_norm *k)
{
    const struct backend_session *s = w->team->s;
    size_t image = (size_t)g * s->lanes;

    k->relu = c->tail > c->index;
    k->mixed = is_mixed(s, g);
    for (struct segment at; image < group_end(s, g); image = at.end) {
        at = segment_at(s, image);
        const double *pair = w->team->norm + c->norm + pair_at(c, (size_t)at.span, i);
        set_forward(m, c, i, pair[0], pair[1], at.from, last_lane(s, &at, k->mixed), k);
    }
}

/* A group's output, in bf16 rounded, from the batch's statistics (training) or the running ones. */
static void normalize(const struct cpu_worker *w, const struct cpu_model *m,
                      const struct cpu_layer *c, int g, bool training, const float *x, float *y)
{
    const struct backend_session *s = w->team->s;
    size_t pixels = (size_t)c->l.in.h * (size_t)c->l.in.w, floats = pixels * s->lanes;
    struct cpu_norm k = {.relu = c->tail > c->index};

    for (int i = 0; i < c->l.in.c; i++) {
        if (training)
            channel_of(w, m, c, g, i, &k);
        else
            set_forward(m, c, i, (double)m->stat[c->mean + (size_t)i],
                        (double)m->stat[c->var + (size_t)i], 0, 1, &k);
        s->k->normalize(pixels, &k, cpu_rounding(s), x + (size_t)i * floats,
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
        cpu_barrier(w); /* from here on the segments' sums may be written again */
    }
    for (int g = place; compute && g < place + n; g++)
        normalize(w, m, c, g, training, cpu_act(w, c->l.src, g), cpu_act(w, c->tail, g));
}

void cpu_norm_again(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                    int place, int n, const float *x)
{
    for (int g = place; g < place + n; g++, x += c->in * w->team->s->lanes)
        normalize(w, m, c, g, true, x, cpu_back(w, c->tail, g));
}

/* a (dy - mean(dy) - xhat mean(dy xhat)), sorted by dy, x and the rest, for some lanes. */
static void set_back(const struct cpu_worker *w, const struct cpu_layer *c, int span, int channel,
                     double weight, int from, int to, struct cpu_norm *k)
{
    const struct backend_session *s = w->team->s;
    const double *pair = w->team->norm + c->norm + pair_at(c, (size_t)span, channel);
    size_t image = (size_t)span * span_images(s), end = image + span_images(s);
    double n = (double)span_images(s) * c->l.in.h * c->l.in.w;
    double sum_dy = 0, sum_dy_x = 0, inverse = 1 / sqrt(pair[1] + NORM_EPSILON);

    for (struct segment at; image < end; image = at.end) {
        at = segment_at(s, image);
        const double *sums = w->team->sums + pair_at(c, at.id, channel);
        sum_dy += sums[0];
        sum_dy_x += sums[1];
    }
    double a = weight * inverse, b = -a * inverse * sum_dy_x / n;
    set(k->a, from, to, a);
    set(k->b, from, to, b);
    set(k->c, from, to, -a * sum_dy / n - b * pair[0]);
}

/* A group's sums of the gradient, which in bf16 is rounded, by segment; and of all its images into the
 * weights'. */
static void sum_back(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                     int g, float *dscale, float *db)
{
    const struct backend_session *s = w->team->s;
    size_t pixels = (size_t)c->l.in.h * (size_t)c->l.in.w, floats = pixels * s->lanes;
    const float *x = cpu_back(w, c->l.src, g);
    float *dy = cpu_grad(w, c->tail, g);
    float by[2][CPU_LANES] __attribute__((aligned(64)));
    struct cpu_norm k;

    for (int i = 0; i < c->l.in.c; i++) {
        double all[2] = {0};
        channel_of(w, m, c, g, i, &k);
        s->k->norm_sums(pixels, &k, x + (size_t)i * floats, cpu_rounding(s),
                        dy + (size_t)i * floats, by[0], by[1]);
        size_t image = (size_t)g * s->lanes;
        for (struct segment at; image < group_end(s, g); image = at.end) {
            at = segment_at(s, image);
            double *sums = w->team->sums + pair_at(c, at.id, i);
            for (int j = 0; j < 2; j++) {
                sums[j] = 0;
                for (int lane = at.from; lane < at.to; lane++)
                    sums[j] += (double)by[j][lane];
                all[j] += sums[j];
            }
        }
        db[i] += (float)all[0];
        dscale[i] += (float)all[1];
    }
}

void cpu_norm_backward(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                       int place, int n, bool compute)
{
    struct backend_session *s = w->team->s;
    size_t pixels = (size_t)c->l.in.h * (size_t)c->l.in.w, floats = pixels * s->lanes;
    int known = -1; /* the span that all of w->channel is of */

    for (int g = place; compute && g < place + n; g++)
        sum_back(w, m, c, g, cpu_sum(w, c->own_slice, c->kernel, c->kernel_own),
                 cpu_sum(w, c->own_slice, c->bias, c->bias_own));
    cpu_barrier(w);
    for (int g = place; compute && !c->first && g < place + n; g++) {
        const float *x = cpu_back(w, c->l.src, g), *dy = cpu_grad(w, c->tail, g);
        float *dx = cpu_grad(w, c->l.src, g);
        struct segment first = segment_at(s, (size_t)g * s->lanes);
        bool mixed = is_mixed(s, g), again = mixed || first.span != known;
        for (int i = 0; i < c->l.in.c; i++) {
            struct cpu_norm *k = &w->channel[i];
            if (again) {
                channel_of(w, m, c, g, i, k);
                size_t image = (size_t)g * s->lanes;
                for (struct segment at; image < group_end(s, g); image = at.end) {
                    at = segment_at(s, image);
                    set_back(w, c, at.span, i, (double)m->param[c->kernel + (size_t)i], at.from,
                             last_lane(s, &at, mixed), k);
                }
            }
            s->k->norm_back(pixels, k, (int)(group_end(s, g) - (size_t)g * s->lanes),
                            x + (size_t)i * floats, dy + (size_t)i * floats, c->add,
                            cpu_rounding_below(s, c), dx + (size_t)i * floats);
        }
        known = mixed ? -1 : first.span;
    }
    cpu_barrier(w);
}
