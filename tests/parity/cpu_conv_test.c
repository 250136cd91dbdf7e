/* The convolutions of the CPU backend that multiply directly, each instruction set's that this machine
 * has, against plain loops in double: outputs, the bits that let gradients pass, all gradients. Those
 * on tiles, emulated, the processor's and vectors in their place, compute with numbers of bf16, whose products are exact: so
 * they have the limits of float on numbers of bf16, but where a mean over nine is rounded; their outputs
 * are rounded to bf16. */
#include "cpu/cpu_int.h"
#include "base/mem.h"
#include "rng/rng.h"
#include "tests/test.h"

#include <float.h>

static int lanes = CPU_LANES; /* those at hand: sets of others have their turn */

static const struct {
    const struct cpu_kernels *k;
    const char *name;
    const struct cpu_tiles *tiles;
} isas[] = {
#if defined(__x86_64__)
    {&cpu_kernels_avx512, "avx512", NULL},
    {&cpu_kernels_avx512_8, "avx512", NULL},
    {&cpu_kernels_avx2, "avx2", NULL},
    {&cpu_kernels_avx2_8, "avx2", NULL},
    {NULL, "amx", &cpu_tiles_amx},
    {NULL, "amx-emulated", &cpu_tiles_emulated},
    {NULL, "avx512bf16-dot", &cpu_tiles_dot},
#endif
    {&cpu_kernels_base, "base", NULL},
};
#define ISAS ((int)(sizeof isas / sizeof *isas))

static const struct cpu_tiles
    *tiles; /* those at hand: numbers are bf16, other sets have their turn */

static const struct cpu_conv_ops *ops_of(int isa)
{
    return isas[isa].tiles ? isas[isa].tiles->conv : isas[isa].k->direct;
}

static bool take_tiles(const char *name)
{
    setenv("CHORUS_ISA", name, 1);
    tiles = cpu_tiles_choose();
    unsetenv("CHORUS_ISA");
    return tiles != NULL;
}

static bool has(int isa)
{
    if (tiles || isas[isa].tiles)
        return tiles == isas[isa].tiles;
    if (isas[isa].k->lanes != lanes)
        return false;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!strcmp(isas[isa].name, "avx512"))
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (!strcmp(isas[isa].name, "avx2"))
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return isa >= 0;
}

struct numbers { /* a fixed stream of numbers */
    uint64_t next;
};

static uint32_t bits(struct numbers *r)
{
    return rng_bits_at(rng_key(4711), r->next++);
}

static int among(struct numbers *r, int from, int to)
{
    return from + (int)(bits(r) % (uint32_t)(to - from + 1));
}

static float number(struct numbers *r)
{
    uint32_t b = bits(r);

    return tiles ? ((float)(b >> 24) - 127.5f) / 128 : (float)(b >> 8) / (float)(1 << 23) - 1.0f;
}

/* 64-byte aligned, with a border in front and behind that nobody may write to. */
#define BORDER 64
static const float border_is = 1234.5f;

static float *array(size_t n)
{
    float *p = aligned_alloc(64, ((n + 2 * BORDER) * sizeof *p + 63) / 64 * 64);
    if (!p)
        abort();
    for (size_t i = 0; i < n + 2 * BORDER; i++)
        p[i] = border_is;
    return p + BORDER;
}

static bool intact(const float *p, size_t n)
{
    for (size_t i = 0; i < BORDER; i++) {
        if (p[(ptrdiff_t)i - BORDER] != border_is || p[n + i] != border_is)
            return false;
    }
    return true;
}

static void drop(float *p)
{
    free(p - BORDER);
}

struct bench { /* a layer, its inputs, and what plain loops make of them */
    struct cpu_conv_layer c;
    int groups;
    size_t nin, nout, nconv, nw; /* floats; nconv: bits too, by lanes */
    float *w, *bias, *in, *dy, *dx0;
    double *conv, *out; /* conv: behind the relu */
    double top;         /* largest of conv */
};

static size_t at_in(const struct cpu_conv_layer *c, int g, int i, int y, int x)
{
    return ((((size_t)g * (size_t)c->cin + (size_t)i) * (size_t)c->in_h + (size_t)y) *
                (size_t)c->in_w +
            (size_t)x) *
           lanes;
}

static size_t at_conv(const struct cpu_conv_layer *c, int g, int o, int y, int x)
{
    return (((size_t)g * (size_t)c->cout + (size_t)o) * (size_t)c->conv_h + (size_t)y) *
               (size_t)c->conv_w +
           (size_t)x;
}

static size_t at_out(const struct cpu_conv_layer *c, int g, int o, int y, int x)
{
    return (((size_t)g * (size_t)c->cout + (size_t)o) * (size_t)cpu_conv_out_h(c) + (size_t)y) *
               (size_t)cpu_conv_out_w(c) +
           (size_t)x;
}

/* Calls do(in, weight) for all that output (o, y, x) is made of. */
#define FOR_TAPS(c_, g_, o_, y_, x_)                                                               \
    for (int ky = 0; ky < (c_)->k; ky++)                                                           \
        for (int kx = 0; kx < (c_)->k; kx++)                                                       \
            for (int iy = (y_) * (c_)->stride + ky - (c_)->pad_top,                                \
                     ix = (x_) * (c_)->stride + kx - (c_)->pad_left, once_ = 1;                    \
                 once_ && iy >= 0 && ix >= 0 && iy < (c_)->in_h && ix < (c_)->in_w; once_ = 0)     \
                for (int i = 0; i < (c_)->cin; i++)

static size_t tap_of(const struct cpu_conv_layer *c, int ky, int kx, int i, int o)
{
    return ((size_t)(ky * c->k + kx) * (size_t)c->cin + (size_t)i) * (size_t)c->cout + (size_t)o;
}

static void bench_open(struct bench *b, const struct cpu_conv_layer *layer, int groups,
                       struct numbers *r)
{
    const struct cpu_conv_layer *c = &b->c;
    int p = layer->pool;

    *b = (struct bench){.c = *layer, .groups = groups};
    b->nin = at_in(c, groups, 0, 0, 0);
    b->nconv = at_conv(c, groups, 0, 0, 0) * lanes;
    b->nout = b->nconv / (size_t)(p * p);
    b->nw = (size_t)(c->k * c->k) * (size_t)c->cin * (size_t)c->cout;
    b->w = array(b->nw);
    b->bias = array((size_t)c->cout);
    b->in = array(b->nin);
    b->dy = array(b->nout);
    b->dx0 = array(b->nin);
    b->conv = mem_new(b->nconv, sizeof *b->conv);
    b->out = mem_new(b->nout, sizeof *b->out);
    float range = 1.0f / sqrtf((float)(c->k * c->k * c->cin));
    range = tiles ? exp2f(floorf(log2f(range))) : range; /* bf16 stays bf16 */
    for (size_t i = 0; i < b->nw; i++)
        b->w[i] = number(r) * range;
    for (int o = 0; o < c->cout; o++)
        b->bias[o] = number(r) * 0.1f;
    for (size_t i = 0; i < b->nin; i++) {
        b->in[i] = number(r);
        b->dx0[i] = number(r);
    }
    for (size_t i = 0; i < b->nout; i++)
        b->dy[i] = number(r);
}

static void bench_close(struct bench *b)
{
    drop(b->w);
    drop(b->bias);
    drop(b->in);
    drop(b->dy);
    drop(b->dx0);
    free(b->conv);
    free(b->out);
}

/* The convolution, and the relu where there is one. */
static void plain_conv(struct bench *b, const float *bias)
{
    const struct cpu_conv_layer *c = &b->c;

    b->top = 0;
    for (int g = 0; g < b->groups; g++) {
        for (int o = 0; o < c->cout; o++) {
            for (int y = 0; y < c->conv_h; y++) {
                for (int x = 0; x < c->conv_w; x++) {
                    double *to = b->conv + at_conv(c, g, o, y, x) * lanes;
                    for (int l = 0; l < lanes; l++)
                        to[l] = bias ? (double)bias[o] : 0;
                    FOR_TAPS(c, g, o, y, x)
                    {
                        double w = (double)b->w[tap_of(c, ky, kx, i, o)];
                        const float *from = b->in + at_in(c, g, i, iy, ix);
                        for (int l = 0; l < lanes; l++)
                            to[l] += w * (double)from[l];
                    }
                    for (int l = 0; l < lanes; l++) {
                        b->top = fmax(b->top, fabs(to[l]));
                        if (c->relu && to[l] <= 0)
                            to[l] = 0;
                    }
                }
            }
        }
    }
}

/* The pool over what conv holds. */
static void plain_pool(struct bench *b)
{
    const struct cpu_conv_layer *c = &b->c;
    int p = c->pool;

    for (int g = 0; g < b->groups; g++) {
        for (int o = 0; o < c->cout; o++) {
            for (int y = 0; y < c->conv_h; y += p) {
                for (int x = 0; x < c->conv_w; x += p) {
                    double *to = b->out + at_out(c, g, o, y / p, x / p) * lanes;
                    for (int l = 0; l < lanes; l++) {
                        double best = 0, sum = 0;
                        for (int q = 0; q < p * p; q++) {
                            double v =
                                b->conv[at_conv(c, g, o, y + q / p, x + q % p) * lanes + (size_t)l];
                            sum += v;
                            if (!q || v > best || isnan(v))
                                best = isnan(best) ? best : v;
                        }
                        to[l] = c->max ? best : sum / (p * p);
                    }
                }
            }
        }
    }
}

/* What the bits must be where rounding does not decide; -1 where it does. */
static int plain_bit(const struct bench *b, int g, int o, int y, int x, int l, double limit)
{
    const struct cpu_conv_layer *c = &b->c;
    int p = c->pool;
    double v = b->conv[at_conv(c, g, o, y, x) * lanes + (size_t)l];

    if (!c->max || p == 1)
        return v > limit ? 1 : v > 0 ? -1 : 0;
    for (int q = 0; q < p * p; q++) {
        int qy = y / p * p + q / p, qx = x / p * p + q % p;
        double u = b->conv[at_conv(c, g, o, qy, qx) * lanes + (size_t)l];
        if (qy == y && qx == x)
            continue;
        if (u > v + limit)
            return 0;
        if (u >= v - limit)
            return c->relu && v == 0 ? 0 : -1;
    }
    return !c->relu || v > limit ? 1 : v > 0 ? -1 : 0;
}

static double largest(const double *a, size_t n)
{
    double top = 1e-30;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, fabs(a[i]));
    return top;
}

/* To the nearest number of bf16, of two the even one. */
static double rounded(double x)
{
    float y = (float)x;
    uint32_t bits;

    memcpy(&bits, &y, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&y, &bits, sizeof y);
    return (double)y;
}

/* Whether a number is one that may come for `want`: of outputs in bf16, rounded. */
static bool is_near(double got, double want, double limit, bool rounds)
{
    if (rounds)
        return got >= rounded(want - limit) && got <= rounded(want + limit) && got == rounded(got);
    return fabs(got - want) <= limit;
}

static void near(const struct bench *b, const char *isa, const char *what, const float *got,
                 const double *want, size_t n, double limit, bool rounds)
{
    const struct cpu_conv_layer *c = &b->c;
    double worst = 0;
    bool bad = !intact(got, n);

    limit *= largest(want, n);
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - want[i]);
        bad |= !is_near((double)got[i], want[i], limit, rounds);
        worst = fmax(worst, d);
    }
    if (bad)
        TEST_FAILED("%s %s: off by %g, not %g (%d->%d k %d stride %d pad %d,%d in %dx%d conv %dx%d "
                    "%s pool %d %s, %d groups%s)",
                    isa, what, worst, limit, c->cin, c->cout, c->k, c->stride, c->pad_top,
                    c->pad_left, c->in_h, c->in_w, c->conv_h, c->conv_w, c->relu ? "relu" : "-",
                    c->pool, c->max ? "max" : "avg", b->groups,
                    intact(got, n) ? "" : "; wrote beside it");
}

/* One layer on all instruction sets, as dense layers too. */
static void try_layer(const struct cpu_conv_layer *layer, int groups, struct numbers *r)
{
    struct bench b;
    const struct cpu_conv_layer *c = &b.c;
    bool biased = bits(r) & 1;

    bench_open(&b, layer, groups, r);
    plain_conv(&b, biased ? b.bias : NULL);
    plain_pool(&b);
    int products = c->k * c->k * c->cin;
    double limit = 8 * FLT_EPSILON * sqrt(products);
    uint16_t *pass = mem_new(b.nconv / lanes, sizeof *pass);
    double *dw = mem_new(b.nw, sizeof *dw), *db = mem_new((size_t)c->cout, sizeof *db);
    double *dx = mem_new(b.nin, sizeof *dx), *dxa = mem_new(b.nin, sizeof *dxa);
    for (int isa = 0; isa < ISAS; isa++) {
        const char *name = isas[isa].name;
        if (!has(isa))
            continue;
        for (int way = 0; way < 4; way++) {
            if (way > 1 && tiles)
                break;
            const struct cpu_conv_ops *ops = way > 1 ? isas[isa].k->taps : ops_of(isa);
            bool want_dx = way & 1;
            size_t np = ops->packed(c, want_dx), ns = ops->scratch(c, groups, want_dx);
            float *packed = array(np), *scratch = array(ns), *out = array(b.nout);
            float *gw = array(b.nw), *gb = array((size_t)c->cout), *gx = array(b.nin);
            int parts = among(r, 1, 5);
            for (int part = parts - 1; part >= 0; part--)
                ops->pack(c, want_dx, b.w, packed, part, parts);
            memset(pass, 0x5a, b.nconv / lanes * sizeof *pass);
            bool masks = cpu_conv_masks(c);
            if (!want_dx) { /* evaluating: no bits are asked for */
                ops->forward(c, groups, b.w, packed, biased ? b.bias : NULL, b.in, out, NULL,
                             scratch);
                near(&b, name, "out, evaluating", out, b.out, b.nout, limit, tiles);
            }
            ops->forward(c, groups, b.w, packed, biased ? b.bias : NULL, b.in, out,
                         masks ? pass : NULL, scratch);
            near(&b, name, "out", out, b.out, b.nout, limit, tiles);
            /* The gradients that follow from the bits as the kernel set them. */
            memset(dx, 0, b.nin * sizeof *dx);
            memset(dw, 0, b.nw * sizeof *dw);
            memset(db, 0, (size_t)c->cout * sizeof *db);
            int wrong = 0;
            for (int g = 0; g < groups; g++) {
                for (int o = 0; o < c->cout; o++) {
                    for (int y = 0; y < c->conv_h; y++) {
                        for (int x = 0; x < c->conv_w; x++) {
                            double d[CPU_LANES];
                            uint16_t let = masks ? pass[at_conv(c, g, o, y, x)] : 0xffff;
                            for (int l = 0; l < lanes; l++) {
                                int bit = plain_bit(&b, g, o, y, x, l, limit * b.top);
                                wrong += masks && bit >= 0 && bit != (let >> l & 1);
                                d[l] =
                                    let >> l & 1
                                        ? (double)b.dy[at_out(c, g, o, y / c->pool, x / c->pool) *
                                                           lanes +
                                                       (size_t)l]
                                        : 0;
                                if (!c->max)
                                    d[l] /= c->pool * c->pool;
                                db[o] += d[l];
                            }
                            FOR_TAPS(c, g, o, y, x)
                            {
                                size_t t = tap_of(c, ky, kx, i, o), at = at_in(c, g, i, iy, ix);
                                double w = (double)b.w[t], sum = 0;
                                for (int l = 0; l < lanes; l++) {
                                    sum += d[l] * (double)b.in[at + (size_t)l];
                                    dx[at + (size_t)l] += w * d[l];
                                }
                                dw[t] += sum;
                            }
                        }
                    }
                }
            }
            if (wrong)
                TEST_FAILED("%s: %d bits are wrong (%d->%d k %d conv %dx%d %s pool %d %s)", name,
                            wrong, c->cin, c->cout, c->k, c->conv_h, c->conv_w,
                            c->relu ? "relu" : "-", c->pool, c->max ? "max" : "avg");
            double sum_limit =
                8 * FLT_EPSILON * sqrt((double)(groups * c->conv_h * c->conv_w) * 16);
            double back_limit = 8 * FLT_EPSILON * sqrt(c->k * c->k * c->cout);
            if (tiles && c->pool == 3 && !c->max) { /* of sums of both signs little may be left */
                sum_limit += 0x1p-6;
                back_limit += 0x1p-8;
            }
            for (int turn = 0; turn < 2; turn++) { /* the second adds to dx; dw and db add always */
                for (size_t i = 0; i < b.nw; i++)
                    gw[i] = 0.5f;
                for (int o = 0; o < c->cout; o++)
                    gb[o] = -0.25f;
                memcpy(gx, b.dx0, b.nin * sizeof *gx);
                for (size_t i = 0; i < b.nin; i++)
                    dxa[i] = dx[i] + (turn ? (double)b.dx0[i] : 0);
                ops->backward(c, groups, packed, b.in, b.dy, masks ? pass : NULL,
                              want_dx ? gx : NULL, turn, gw, biased ? gb : NULL, scratch);
                for (size_t i = 0; i < b.nw; i++)
                    gw[i] -= 0.5f;
                for (int o = 0; o < c->cout; o++)
                    gb[o] += 0.25f;
                near(&b, name, "dw", gw, dw, b.nw, sum_limit + FLT_EPSILON / largest(dw, b.nw),
                     false);
                if (biased)
                    near(&b, name, "db", gb, db, (size_t)c->cout,
                         sum_limit + FLT_EPSILON / largest(db, (size_t)c->cout), false);
                if (want_dx)
                    near(&b, name, turn ? "dx added" : "dx", gx, dxa, b.nin, back_limit, false);
            }
            CHECK(intact(packed, np) && intact(scratch, ns));
            drop(packed);
            drop(scratch);
            drop(out);
            drop(gw);
            drop(gb);
            drop(gx);
        }
    }
    free(pass);
    free(dw);
    free(db);
    free(dx);
    free(dxa);
    bench_close(&b);
}

static void networks_in_small(void)
{
    struct numbers r = {0};
    static const struct cpu_conv_layer layers[] = {
        {1, 20, 3, 1, 0, 0, 12, 12, 8, 8, true, 2, false, NULL, CPU_CONV_ZEROS},
        {1, 32, 3, 1, 1, 1, 8, 8, 8, 8, true, 2, false, NULL, CPU_CONV_ZEROS},
        {5, 13, 5, 1, 0, 0, 12, 12, 8, 8, true, 2, false, NULL, CPU_CONV_ZEROS},
        {8, 16, 3, 1, 1, 1, 14, 14, 14, 14, true, 2, false, NULL, CPU_CONV_ZEROS},
        {8, 16, 3, 1, 1, 1, 6, 6, 6, 6, true, 2, true, NULL, CPU_CONV_ZEROS},
        {8, 12, 1, 2, 0, 0, 8, 8, 4, 4, false, 1, false, NULL, CPU_CONV_ZEROS},
        {8, 12, 3, 2, 0, 0, 8, 8, 4, 4, false, 1, false, NULL, CPU_CONV_ZEROS},
        {8, 12, 3, 2, 1, 1, 8, 8, 4, 4, false, 1, false, NULL, CPU_CONV_ZEROS},
        {40, 33, 3, 1, 1, 1, 4, 4, 4, 4, false, 1, false, NULL, CPU_CONV_ZEROS},
        {3, 7, 7, 2, 3, 3, 16, 16, 8, 8, true, 1, false, NULL, CPU_CONV_ZEROS},
        {130, 3, 1, 1, 0, 0, 2, 2, 2, 2, false, 1, false, NULL, CPU_CONV_ZEROS},
        {5, 7, 2, 3, 0, 0, 11, 11, 3, 3, true, 3, true, NULL, CPU_CONV_ZEROS},
        {2, 3, 9, 1, 4, 4, 9, 9, 9, 9, true, 3, false, NULL, CPU_CONV_ZEROS},
        {7, 2, 1, 1, 0, 0, 1, 1, 1, 1, true, 1, false, NULL, CPU_CONV_ZEROS},
        {2, 4, 1, 3, 1, 1, 7, 7, 3, 3, true, 1, false, NULL, CPU_CONV_ZEROS},
        {2, 4, 2, 1, 3, 3, 3, 3, 8, 8, true, 4, true, NULL, CPU_CONV_ZEROS},
    };

    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        for (int groups = 1; groups <= 4; groups += 3)
            try_layer(&layers[i], groups, &r);
    }
}

TEST(layers_of_the_networks_in_small)
{
    networks_in_small();
}

static void random_layers(int layers)
{
    struct numbers r = {1 << 20};

    for (int n = 0; n < layers;) {
        struct cpu_conv_layer c = {.cin = among(&r, 1, 4) == 1 ? 1 : among(&r, 1, 20),
                                   .cout = among(&r, 1, 20),
                                   .k = among(&r, 1, 7),
                                   .stride = among(&r, 1, 3),
                                   .in_h = among(&r, 1, 12),
                                   .in_w = among(&r, 1, 12),
                                   .relu = bits(&r) & 1,
                                   .pool = among(&r, 1, 4),
                                   .max = bits(&r) & 1};
        c.pad_top = among(&r, 0, c.k);
        c.pad_left = among(&r, 0, c.k);
        int below = among(&r, 0, c.k), right = among(&r, 0, c.k);
        c.conv_h = (c.in_h + c.pad_top + below - c.k) / c.stride + 1;
        c.conv_w = (c.in_w + c.pad_left + right - c.k) / c.stride + 1;
        if (c.in_h + c.pad_top + below < c.k || c.in_w + c.pad_left + right < c.k)
            continue;
        c.conv_h = (c.conv_h - (c.conv_h > 1 ? among(&r, 0, 1) : 0)) / c.pool * c.pool;
        c.conv_w = (c.conv_w - (c.conv_w > 1 ? among(&r, 0, 1) : 0)) / c.pool * c.pool;
        if (!c.conv_h || !c.conv_w)
            continue;
        n++;
        try_layer(&c, among(&r, 1, 4), &r);
    }
}

/* Pictures of one pixel, with and without taps that see nothing. */
TEST(pictures_of_one_pixel)
{
    struct numbers r = {5 << 20};

    for (int n = 0; n < 40; n++) {
        int k = among(&r, 1, 4), pad_top = among(&r, 0, k - 1), pad_left = among(&r, 0, k - 1);
        struct cpu_conv_layer c = {among(&r, 1, 70),
                                   among(&r, 1, 70),
                                   k,
                                   among(&r, 1, 3),
                                   pad_top,
                                   pad_left,
                                   1,
                                   1,
                                   1,
                                   1,
                                   bits(&r) & 1,
                                   1,
                                   false,
                                   NULL,
                                   CPU_CONV_ZEROS};
        try_layer(&c, among(&r, 1, 9), &r);
    }
}

TEST(two_hundred_and_forty_random_layers)
{
    random_layers(240);
}

/* More channels than a tile has, also of odd numbers, runs that are no whole chunks, strides. */
static void wide_layers(void)
{
    struct numbers r = {4 << 20};
    static const struct cpu_conv_layer layers[] = {
        {33, 50, 3, 1, 1, 1, 6, 7, 6, 6, true, 2, true, NULL, CPU_CONV_ZEROS},
        {20, 50, 5, 1, 0, 0, 8, 8, 4, 4, true, 2, false, NULL, CPU_CONV_ZEROS},
        {48, 17, 3, 2, 1, 1, 7, 7, 4, 4, false, 1, false, NULL, CPU_CONV_ZEROS},
        {64, 32, 1, 2, 0, 0, 6, 5, 3, 3, false, 1, false, NULL, CPU_CONV_ZEROS},
        {17, 64, 3, 1, 1, 1, 5, 5, 5, 5, false, 1, false, NULL, CPU_CONV_ZEROS},
        {3, 40, 7, 3, 2, 2, 13, 11, 4, 3, true, 1, false, NULL, CPU_CONV_ZEROS},
    };

    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        try_layer(&layers[i], 1 + (int)i % 3, &r);
}

/* What is not a number reaches every output that its pixel reaches, and no other lane. */
static void not_a_number(void)
{
    struct numbers r = {2 << 20};

    for (int n = 0; n < 24; n++) {
        struct cpu_conv_layer c = {3,
                                   7,
                                   3,
                                   1,
                                   0,
                                   0,
                                   14,
                                   14,
                                   12,
                                   12,
                                   n % 2 == 0,
                                   1 + n / 2 % 4,
                                   n / 8 % 2 == 0,
                                   NULL,
                                   CPU_CONV_ZEROS};
        struct bench b;
        bench_open(&b, &c, 2, &r);
        for (int i = 0; i < 12; i++)
            b.in[bits(&r) % b.nin] = i % 2 ? NAN : -NAN;
        plain_conv(&b, b.bias);
        plain_pool(&b);
        for (int isa = 0; isa < ISAS; isa++) {
            const struct cpu_conv_ops *ops = ops_of(isa);
            if (!has(isa))
                continue;
            float *packed = array(ops->packed(&c, false)), *out = array(b.nout);
            float *scratch = array(ops->scratch(&c, 2, false));
            uint16_t *pass = mem_new(b.nconv / lanes, sizeof *pass);
            ops->pack(&c, false, b.w, packed, 0, 1);
            for (int bit = 0; bit < 2; bit++) {
                ops->forward(&c, 2, b.w, packed, b.bias, b.in, out, bit ? pass : NULL, scratch);
                size_t wrong = 0, none = 0;
                for (size_t i = 0; i < b.nout; i++) {
                    none += isnan(b.out[i]);
                    wrong += isnan(b.out[i]) != isnan(out[i]) ||
                             (!isnan(out[i]) && !is_near((double)out[i], b.out[i], 1e-5, tiles));
                }
                CHECK(none > 0);
                CHECK_INT(wrong, 0);
            }
            drop(packed);
            drop(out);
            drop(scratch);
            free(pass);
        }
        bench_close(&b);
    }
}

TEST(what_is_not_a_number_stays_none)
{
    not_a_number();
}

/* Of equal maxima the first takes the gradient. */
static void equal_maxima(void)
{
    struct numbers r = {3 << 20};

    for (int pool = 2; pool <= 4; pool++) {
        for (int isa = 0; isa < ISAS; isa++) {
            struct cpu_conv_layer c = {
                1, 2, 1, 1, 0, 0, 12, 12, 12, 12, isa % 2, pool, true, NULL, CPU_CONV_ZEROS};
            struct bench b;
            const struct cpu_conv_ops *ops = ops_of(isa);
            if (!has(isa))
                continue;
            bench_open(&b, &c, 1, &r);
            for (size_t i = 0; i < b.nin; i++)
                b.in[i] = (float)among(&r, -1, 2);
            b.w[0] = 1;
            b.w[1] = -2;
            plain_conv(&b, NULL);
            float *packed = array(ops->packed(&c, false)), *out = array(b.nout);
            float *scratch = array(ops->scratch(&c, 1, false));
            uint16_t *pass = mem_new(b.nconv / lanes, sizeof *pass);
            ops->pack(&c, false, b.w, packed, 0, 1);
            ops->forward(&c, 1, b.w, packed, NULL, b.in, out, pass, scratch);
            int wrong = 0;
            for (int o = 0; o < 2; o++) {
                for (int cell = 0; cell < 144 / (pool * pool); cell++) {
                    int top = cell / (12 / pool) * pool, left = cell % (12 / pool) * pool;
                    for (int l = 0; l < lanes; l++) {
                        int first = 0;
                        double best = -1e9;
                        for (int q = 0; q < pool * pool; q++) {
                            double v =
                                b.conv[at_conv(&c, 0, o, top + q / pool, left + q % pool) * lanes +
                                       (size_t)l];
                            if (v > best) {
                                best = v;
                                first = q;
                            }
                        }
                        for (int q = 0; q < pool * pool; q++) {
                            bool bit =
                                pass[at_conv(&c, 0, o, top + q / pool, left + q % pool)] >> l & 1;
                            wrong += bit != (q == first && (!c.relu || best > 0));
                        }
                    }
                }
            }
            CHECK_INT(wrong, 0);
            drop(packed);
            drop(out);
            drop(scratch);
            free(pass);
            bench_close(&b);
        }
    }
}

TEST(the_first_of_equal_maxima)
{
    equal_maxima();
}

/* An output that is zero lets nothing pass: of each family, whatever pool is behind it. */
static void zeros(const char *name, const struct cpu_conv_ops *ops, struct cpu_conv_layer c,
                  struct numbers *r)
{
    struct bench b;

    if (!ops->can(&c))
        return;
    bench_open(&b, &c, 2, r);
    for (size_t i = 0; i < b.nw; i += 2) /* output channel 0 */
        b.w[i] = 0;
    b.bias[0] = 0;
    float *packed = array(ops->packed(&c, false)), *out = array(b.nout);
    float *scratch = array(ops->scratch(&c, 2, false));
    uint16_t *pass = mem_new(b.nconv / lanes, sizeof *pass);
    ops->pack(&c, false, b.w, packed, 0, 1);
    for (int biased = 0; biased < 2; biased++) {
        int wrong = 0;
        memset(pass, 0x5a, b.nconv / lanes * sizeof *pass);
        ops->forward(&c, 2, b.w, packed, biased ? b.bias : NULL, b.in, out, pass, scratch);
        for (int i = 0; i < 2 * c.conv_h * c.conv_w; i++)
            wrong += pass[at_conv(&c, i % 2, 0, i / 2 / c.conv_w, i / 2 % c.conv_w)] != 0;
        if (wrong)
            TEST_FAILED("%s, k %d, pool %d%s: %d zeros let a gradient pass", name, c.k, c.pool,
                        c.max ? " max" : "", wrong);
    }
    drop(packed);
    drop(out);
    drop(scratch);
    free(pass);
    bench_close(&b);
}

static void zeros_of_all(void)
{
    struct numbers r = {5 << 20};

    for (int isa = 0; isa < ISAS; isa++) {
        if (!has(isa))
            continue;
        for (int way = 0; way < 14; way++) {
            int k = way % 2 ? 3 : 5, pool = way / 2 % 4 + 1;
            struct cpu_conv_layer c = {3,  2,    k,    1,        k / 2, k / 2,         12, 12, 12,
                                       12, true, pool, way >= 8, NULL,  CPU_CONV_ZEROS};
            char name[64];
            snprintf(name, sizeof name, "%s, %d lanes", isas[isa].name, lanes);
            zeros(name, ops_of(isa), c, &r);
            if (isas[isa].k) {
                zeros(name, isas[isa].k->wino, c, &r);
                zeros(name, isas[isa].k->taps, c, &r);
            }
        }
        struct cpu_conv_layer pixel = {
            3, 2, 3, 1, 1, 1, 1, 1, 1, 1, true, 1, false, NULL, CPU_CONV_ZEROS};
        if (isas[isa].k)
            zeros(isas[isa].name, isas[isa].k->taps, pixel, &r);
    }
}

TEST(zeros_let_no_gradient_pass)
{
    zeros_of_all();
}

static void in_small(void)
{
    networks_in_small();
    wide_layers();
    random_layers(80);
    not_a_number();
    equal_maxima();
    zeros_of_all();
}

TEST(all_of_it_in_groups_of_eight)
{
    lanes = 8;
    in_small();
    lanes = CPU_LANES;
}

static void on_tiles(void)
{
    in_small();
    tiles = NULL;
}

TEST(all_of_it_on_emulated_tiles)
{
    if (!take_tiles("amx-emulated"))
        SKIP("this machine has no AVX-512 with bf16");
    on_tiles();
}

TEST(all_of_it_on_vectors)
{
    if (!cpu_has_bf16())
        SKIP("this machine has no AVX-512 with bf16");
    tiles = &cpu_tiles_dot; /* also where others are faster */
    on_tiles();
}

TEST(all_of_it_on_tiles)
{
    if (!take_tiles("amx"))
        SKIP("this machine has no AMX");
    on_tiles();
}
