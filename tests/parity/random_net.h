/* tests/parity/random_net.h: networks drawn from a number: every kind of layer, odd sizes, at a cost
 * that the naive backend can pay. The same number gives the same network for ever. Even numbers are
 * mixed networks; odd ones go by turns to the edges: layers of few units and many weights, dense layers
 * alone, pools, many channels of few pixels, windows that hardly fit, batch norms of odd sizes. */
#ifndef CHORUS_TESTS_RANDOM_NET_H
#define CHORUS_TESTS_RANDOM_NET_H

#include "base/text.h"
#include "net/net.h"
#include "rng/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct draw {
    struct rng_key key;
    uint64_t n;
};

static inline double draw_unit(struct draw *d) /* [0, 1) */
{
    return (double)rng_bits_at(d->key, d->n++) / 4294967296.0;
}

static inline int draw_int(struct draw *d, int low, int high)
{
    return low + (int)(draw_unit(d) * (high - low + 1));
}

/* Small ones as often as large ones: each doubling is equally likely. */
static inline int draw_size(struct draw *d, int low, int high)
{
    int size = (int)(low * pow((high + 0.999) / low, draw_unit(d)));

    return size < low ? low : size > high ? high : size;
}

static inline bool draw_chance(struct draw *d, int per_cent)
{
    return draw_unit(d) * 100 < per_cent;
}

/* What a network may cost. */
#define RANDOM_FLOPS   60e6 /* an image, forward and backward */
#define RANDOM_PARAMS  900000
#define RANDOM_OUTPUTS 400000 /* elements of all layers, an image */

struct random_net {
    struct text text;
    struct net_shape input;
    int classes;
    bool odd; /* not mixed */
    /* the writer's state */
    struct draw d;
    struct net_shape at;
    double flops, most_flops, params, outputs;
    int indent;
    bool normed;     /* has batch norm, ... */
    int norm_pixels; /* ... whose smallest picture has so many pixels */
};

static inline void random_line(struct random_net *r, const char *line)
{
    text_addf(&r->text, "%*s%s\n", r->indent, "", line);
}

static inline bool random_afford(struct random_net *r, struct net_shape out, double flops,
                                 double params)
{
    double outputs = (double)out.h * out.w * out.c;

    if (out.h < 1 || out.w < 1 || r->flops + flops > r->most_flops ||
        r->params + params > RANDOM_PARAMS || r->outputs + outputs > RANDOM_OUTPUTS)
        return false;
    r->flops += flops;
    r->params += params;
    r->outputs += outputs;
    r->at = out;
    return true;
}

/* pad < 0: same. Nothing is written where it would cost too much. */
static inline bool random_conv(struct random_net *r, int channels, int k, int stride, int pad,
                               bool bias)
{
    struct net_shape out = {.c = channels};
    char line[80];

    if (pad < 0) {
        out.h = (r->at.h + stride - 1) / stride;
        out.w = (r->at.w + stride - 1) / stride;
    } else {
        if (r->at.h + 2 * pad < k || r->at.w + 2 * pad < k)
            return false;
        out.h = (r->at.h + 2 * pad - k) / stride + 1;
        out.w = (r->at.w + 2 * pad - k) / stride + 1;
    }
    double taps = (double)k * k * r->at.c * channels;
    if (!random_afford(r, out, 6 * taps * out.h * out.w, taps + channels))
        return false;
    int n = snprintf(line, sizeof line, "conv %d %d", channels, k);
    if (pad < 0)
        n += snprintf(line + n, sizeof line - (size_t)n, " same");
    if (stride > 1 || draw_chance(&r->d, 10))
        n += snprintf(line + n, sizeof line - (size_t)n, " stride %d", stride);
    if (pad > 0)
        n += snprintf(line + n, sizeof line - (size_t)n, " pad %d", pad);
    if (!bias)
        snprintf(line + n, sizeof line - (size_t)n, " nobias");
    random_line(r, line);
    return true;
}

static inline bool random_dense(struct random_net *r, int units)
{
    double inputs = (double)r->at.h * r->at.w * r->at.c;
    char line[40];

    if (!random_afford(r, (struct net_shape){1, 1, units}, 6 * inputs * units,
                       (inputs + 1) * units))
        return false;
    snprintf(line, sizeof line, "dense %d", units);
    random_line(r, line);
    return true;
}

static inline void random_norm(struct random_net *r)
{
    int pixels = r->at.h * r->at.w;

    if (!random_afford(r, r->at, 0, 2.0 * r->at.c))
        return;
    random_line(r, "batchnorm");
    if (!r->normed || pixels < r->norm_pixels)
        r->norm_pixels = pixels;
    r->normed = true;
}

static inline void random_bend(struct random_net *r)
{
    if (random_afford(r, r->at, 0, 0))
        random_line(r, draw_chance(&r->d, 75) ? "relu" : "tanh");
}

static inline void random_pool_of(struct random_net *r, int k, int stride)
{
    struct net_shape out = {(r->at.h - k) / stride + 1, (r->at.w - k) / stride + 1, r->at.c};
    char line[40];
    int n;

    if (r->at.h < k || r->at.w < k || !random_afford(r, out, 0, 0))
        return;
    n = snprintf(line, sizeof line, "%s %d", draw_chance(&r->d, 50) ? "avgpool" : "maxpool", k);
    if (stride != k)
        snprintf(line + n, sizeof line - (size_t)n, " stride %d", stride);
    random_line(r, line);
}

static inline void random_pool(struct random_net *r)
{
    int k = draw_int(&r->d, 1, 10) <= 6 ? 2 : draw_int(&r->d, 2, 4);

    random_pool_of(r, k, draw_chance(&r->d, 70) ? k : draw_int(&r->d, 1, 3));
}

static inline void random_dropout(struct random_net *r)
{
    char line[40];

    if (!random_afford(r, r->at, 0, 0))
        return;
    snprintf(line, sizeof line, "dropout 0.%d", draw_int(&r->d, 1, 6));
    random_line(r, line);
}

/* What Winograd is for, a bit more often than the rest. */
static inline int random_kernel(struct random_net *r)
{
    return draw_chance(&r->d, 35) ? 3 : draw_chance(&r->d, 25) ? 5 : draw_int(&r->d, 1, 7);
}

/* A convolution with what usually follows one. */
static inline void random_conv_group(struct random_net *r)
{
    bool norm = draw_chance(&r->d, 25), pool_first = draw_chance(&r->d, 25);

    for (int tries = 0; tries < 6; tries++) {
        int most = tries < 3 ? 2048 : 64 >> (tries - 3);
        int k = random_kernel(r), stride = draw_chance(&r->d, 70) ? 1 : draw_int(&r->d, 2, 3);
        int pad = draw_chance(&r->d, 35) ? -1 : draw_chance(&r->d, 50) ? 0 : draw_int(&r->d, 1, 3);
        int least = tries < 2 && draw_chance(&r->d, 60) ? 8 : 1;
        if (random_conv(r, draw_size(&r->d, least, most), k, stride, pad,
                        !(norm && draw_chance(&r->d, 50))))
            break;
        if (tries == 5)
            return;
    }
    if (norm)
        random_norm(r);
    if (pool_first)
        random_pool(r);
    if (draw_chance(&r->d, 85))
        random_bend(r);
    if (!pool_first && draw_chance(&r->d, 50))
        random_pool(r);
    if (draw_chance(&r->d, 8))
        random_dropout(r);
}

static inline void random_residual(struct random_net *r)
{
    struct random_net before = *r;
    size_t length = r->text.n;
    int k = 2 * draw_int(&r->d, 0, 3) + 1, last = 2 * draw_int(&r->d, 0, 2) + 1;
    int stride = draw_chance(&r->d, 35) ? draw_int(&r->d, 2, 3) : 1;
    int channels = stride == 1 && draw_chance(&r->d, 60) ? r->at.c : draw_size(&r->d, 1, 128);
    bool norm = draw_chance(&r->d, 50), short_cut = stride > 1 || channels != r->at.c;
    struct net_shape end;

    random_line(r, "residual {");
    r->indent = 1;
    bool fits = random_conv(r, draw_chance(&r->d, 50) ? channels : draw_size(&r->d, 1, 64), k,
                            stride, k / 2, true);
    if (norm)
        random_norm(r);
    random_bend(r);
    fits = fits && random_conv(r, channels, last, 1, draw_chance(&r->d, 50) ? -1 : last / 2, true);
    if (norm)
        random_norm(r);
    end = r->at;
    if (short_cut || draw_chance(&r->d, 15)) {
        r->indent = 0;
        random_line(r, "} shortcut {");
        r->indent = 1;
        r->at = before.at;
        fits = fits && random_conv(r, channels, 1, stride, 0, true);
        if (draw_chance(&r->d, 40))
            random_norm(r);
    }
    r->indent = 0;
    random_line(r, "}");
    if (!fits) { /* as if nothing had been written */
        struct text text = r->text;
        struct draw d = r->d;
        *r = before;
        r->text = text;
        r->text.n = length;
        r->text.s[length] = 0;
        r->d = d;
        return;
    }
    r->at = end;
    if (draw_chance(&r->d, 80))
        random_bend(r);
}

static inline void random_mean(struct random_net *r)
{
    if (r->at.h * r->at.w > 1)
        random_line(r, "globalavgpool");
    r->at.h = r->at.w = 1;
}

static inline void random_mixed(struct random_net *r)
{
    for (int groups = draw_int(&r->d, 1, 6); groups > 0; groups--) {
        int kind = draw_int(&r->d, 0, 99);

        if (kind < 55) {
            random_conv_group(r);
        } else if (kind < 72) {
            random_residual(r);
        } else if (kind < 82) {
            if (random_dense(r, draw_size(&r->d, 1, 2048)) || random_dense(r, 17)) {
                if (draw_chance(&r->d, 20))
                    random_norm(r);
                random_bend(r);
            }
        } else if (kind < 90) {
            random_pool(r);
        } else if (kind < 93) {
            random_norm(r);
        } else if (kind < 96) {
            random_bend(r);
        } else {
            random_dropout(r);
        }
    }
    if (draw_chance(&r->d, 25))
        random_mean(r);
    if (draw_chance(&r->d, 40) && random_dense(r, draw_size(&r->d, 2, 300)))
        random_bend(r);
}

enum random_kind {
    RANDOM_WIDE,
    RANDOM_DENSE,
    RANDOM_POOLS,
    RANDOM_TINY,
    RANDOM_WINDOWS,
    RANDOM_NORMS
};
#define RANDOM_KINDS 6

static inline void random_bend_often(struct random_net *r)
{
    if (draw_chance(&r->d, 75))
        random_bend(r);
    if (draw_chance(&r->d, 12))
        random_dropout(r);
}

/* Large pictures into so few units that the layer has many weights all the same. */
static inline void random_wide(struct random_net *r)
{
    double pixels = (double)r->at.h * r->at.w;
    int units = draw_chance(&r->d, 50) ? r->classes : draw_size(&r->d, 1, 60);
    double least = 262144 / (pixels * units), most = 0.9 * RANDOM_PARAMS / (pixels * units);
    int channels = (int)fmin(least * (1 + draw_unit(&r->d)) + 1, fmin(most, 350000 / pixels));

    r->most_flops = RANDOM_FLOPS;
    channels = channels < 1 ? 1 : channels;
    if ((channels > r->at.c || draw_chance(&r->d, 50)) &&
        !random_conv(r, channels, draw_int(&r->d, 2, 5), 1, -1, true))
        random_conv(r, channels, 1, 1, 0, true);
    if (r->outputs < 200000)
        random_bend_often(r);
    if (units != r->classes && random_dense(r, units))
        random_bend_often(r);
}

static inline void random_dense_only(struct random_net *r)
{
    for (int n = draw_int(&r->d, 0, 4); n > 0; n--) {
        int units = draw_chance(&r->d, 25) ? draw_int(&r->d, 1, 3) : draw_size(&r->d, 1, 2048);
        if (random_dense(r, units) || random_dense(r, draw_int(&r->d, 1, 20)))
            random_bend_often(r);
    }
}

/* Behind what learns, else nobody needs their gradients; and not done by a convolution. Of so many channels
 * a rectifier leaves some. */
static inline void random_pools(struct random_net *r)
{
    struct net_shape out = {r->at.h, r->at.w, 8};
    double taps = 8.0 * r->at.c;

    if (random_afford(r, out, 6 * taps * out.h * out.w, taps + 8)) {
        random_line(r, "conv 8 1");
        random_line(r, "tanh");
    }
    for (int n = draw_int(&r->d, 1, 4); n > 0; n--) {
        random_pool(r);
        if (draw_chance(&r->d, 30))
            random_bend_often(r);
    }
}

/* Many channels of few pixels. */
static inline void random_tiny(struct random_net *r)
{
    for (int n = draw_int(&r->d, 1, 4); n > 0; n--) {
        bool written = false;
        for (int most = 2048; most >= 8 && !written; most /= 4)
            written = random_conv(r, draw_size(&r->d, most / 8, most),
                                  draw_chance(&r->d, 50) ? 1 : draw_int(&r->d, 1, 7),
                                  draw_chance(&r->d, 80) ? 1 : draw_int(&r->d, 2, 3),
                                  draw_chance(&r->d, 70) ? -1 : draw_int(&r->d, 0, 3), true);
        if (draw_chance(&r->d, 20))
            random_norm(r);
        random_bend_often(r);
        if (draw_chance(&r->d, 20))
            random_pool(r);
    }
}

/* Kernels and windows that are large against the picture, and that go over it in large strides. */
static inline void random_windows(struct random_net *r)
{
    for (int n = draw_int(&r->d, 1, 5); n > 0; n--) {
        int k = draw_int(&r->d, 2, 5), stride = draw_int(&r->d, 1, 6);
        if (draw_chance(&r->d, 60))
            random_conv(r, draw_size(&r->d, 1, 40), draw_int(&r->d, 2, 7), draw_int(&r->d, 1, 3),
                        draw_int(&r->d, -1, 5), draw_chance(&r->d, 80));
        else
            random_pool_of(r, k, stride);
        if (draw_chance(&r->d, 10))
            random_norm(r);
        if (draw_chance(&r->d, 50))
            random_bend_often(r);
    }
}

/* Batch norms and sums of odd sizes. */
static inline void random_norms(struct random_net *r)
{
    if (draw_chance(&r->d, 15))
        random_norm(r);
    for (int n = draw_int(&r->d, 1, 4); n > 0; n--) {
        if (draw_chance(&r->d, 50) &&
            random_conv(r, 2 * draw_int(&r->d, 0, 12) + 1, random_kernel(r),
                        draw_chance(&r->d, 70) ? 1 : 2, draw_int(&r->d, -1, 2), false)) {
            random_norm(r);
            random_bend_often(r);
        } else {
            random_residual(r);
        }
    }
}

static inline void random_odd(struct random_net *r, enum random_kind kind)
{
    switch (kind) {
    case RANDOM_WIDE:
        random_wide(r);
        break;
    case RANDOM_DENSE:
        random_dense_only(r);
        break;
    case RANDOM_POOLS:
        random_pools(r);
        break;
    case RANDOM_TINY:
        random_tiny(r);
        break;
    case RANDOM_WINDOWS:
        random_windows(r);
        break;
    case RANDOM_NORMS:
        random_norms(r);
        break;
    }
}

/* Not drawn: on a black ground the second convolution, which is Winograd's, has equal outputs that saw
 * nothing, and the maximum behind it sends their gradients to the first of them, where the first
 * convolution's output takes them as they are. */
#define RANDOM_ZEROS (-1)

static inline void random_zeros(struct random_net *r)
{
    r->most_flops = RANDOM_FLOPS;
    r->input = r->at = (struct net_shape){16, 16, 1};
    r->classes = 10;
    random_line(r, "input auto");
    random_conv(r, 16, 3, 1, -1, true);
    random_conv(r, 32, 3, 1, -1, true);
    random_line(r, "maxpool 2");
    random_line(r, "relu");
    random_line(r, "dense classes");
}

/* number: says which kind it is. */
static inline void random_make(struct random_net *r, struct rng_key key, int number)
{
    static const int channels[] = {1, 1, 1, 3, 3, 2, 5};
    int kind = number / 2 % RANDOM_KINDS;
    char line[40];

    *r = (struct random_net){.odd = number % 2, .d = {.key = key}};
    if (number == RANDOM_ZEROS) {
        random_zeros(r);
        return;
    }
    int most = r->odd && kind == RANDOM_TINY ? 5 : 64;
    int least = r->odd && kind == RANDOM_WIDE ? 24 : 1;
    r->most_flops = 1e6 * pow(RANDOM_FLOPS / 1e6, draw_unit(&r->d));
    r->input.h = draw_chance(&r->d, 25) && most > 28 ? 28 : draw_int(&r->d, least, most);
    r->input.w = draw_chance(&r->d, 60) ? r->input.h : draw_int(&r->d, least, most);
    r->input.c = channels[draw_int(&r->d, 0, 6)];
    r->classes = draw_chance(&r->d, 60) ? 10 : draw_int(&r->d, 2, 40);
    r->at = r->input;
    random_line(r, "input auto");
    if (r->odd)
        random_odd(r, (enum random_kind)kind);
    else
        random_mixed(r);
    double inputs = (double)r->at.h * r->at.w * r->at.c;
    if (inputs * r->classes + r->params > RANDOM_PARAMS)
        random_mean(r);
    bool more = inputs * 41 + r->params < RANDOM_PARAMS && draw_chance(&r->d, 10);
    snprintf(line, sizeof line, "dense %s", more ? "41" : "classes");
    random_line(r, line);
}

#endif
