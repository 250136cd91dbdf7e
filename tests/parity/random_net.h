/* tests/parity/random_net.h: networks drawn from a number: every kind of layer, odd sizes, at a cost
 * that the naive backend can pay. The same number gives the same network for ever. */
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

static inline void random_pool(struct random_net *r)
{
    int k = draw_int(&r->d, 1, 10) <= 6 ? 2 : draw_int(&r->d, 2, 4);
    int stride = draw_chance(&r->d, 70) ? k : draw_int(&r->d, 1, 3);
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

static inline void random_make(struct random_net *r, struct rng_key key)
{
    static const int channels[] = {1, 1, 1, 3, 3, 2, 5};
    char line[40];

    *r = (struct random_net){.d = {.key = key}};
    r->most_flops = 1e6 * pow(RANDOM_FLOPS / 1e6, draw_unit(&r->d));
    r->input.h = draw_chance(&r->d, 25) ? 28 : draw_int(&r->d, 1, 64);
    r->input.w = draw_chance(&r->d, 60) ? r->input.h : draw_int(&r->d, 1, 64);
    r->input.c = channels[draw_int(&r->d, 0, 6)];
    r->classes = draw_chance(&r->d, 60) ? 10 : draw_int(&r->d, 2, 40);
    r->at = r->input;
    random_line(r, "input auto");
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
    if (r->at.h * r->at.w > 1 &&
        (draw_chance(&r->d, 25) ||
         (double)r->at.h * r->at.w * r->at.c * r->classes + r->params > RANDOM_PARAMS)) {
        random_line(r, "globalavgpool");
        r->at.h = r->at.w = 1;
    }
    if (draw_chance(&r->d, 40) && random_dense(r, draw_size(&r->d, 2, 300)))
        random_bend(r);
    snprintf(line, sizeof line, "dense %s", draw_chance(&r->d, 90) ? "classes" : "41");
    random_line(r, line);
}

#endif
