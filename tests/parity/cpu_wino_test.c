/* Winograd's convolutions against plain loops in double: forward with relu and pool, the gradients of
 * input, weights and bias, the bits that let a gradient pass; each instruction set that this machine
 * has. */
#include "base/mem.h"
#include "cpu/cpu_int.h"
#include "tests/test.h"

#include <stdio.h>
#include <time.h>

static const struct {
    const char *name;
    const struct cpu_kernels *kernels;
} isas[] = {
#if defined(__x86_64__) || defined(__i386__)
    {"avx512", &cpu_kernels_avx512},
    {"avx2", &cpu_kernels_avx2},
#endif
    {"base", &cpu_kernels_base},
};

/* Largest error of a tensor in units of its largest value. The transforms cost accuracy: their
 * numbers are up to some tens of times as large as what they give. */
#define LIMIT_3 5e-6
#define LIMIT_5 2e-5

static size_t lanes; /* of the kernels at hand */
static uint64_t dice_state = 1;

static uint32_t dice(void)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(dice_state >> 32);
}

static int roll(int low, int high)
{
    return low + (int)(dice() % (uint32_t)(high - low + 1));
}

static float number(void) /* about normal, variance 1 */
{
    float sum = 0;

    for (int i = 0; i < 6; i++)
        sum += (float)dice() / 4294967296.0f - 0.5f;
    return sum * 1.4142135f;
}

static float *numbers(size_t n, float scale)
{
    float *p = mem_try(n + 64, sizeof *p);

    for (size_t i = 0; i < n; i++)
        p[i] = number() * scale;
    return p;
}

struct sizes { /* floats of a group, or of all */
    size_t in, conv, out, w;
};

static struct sizes sizes_of(const struct cpu_conv_layer *c)
{
    return (struct sizes){
        .in = (size_t)(c->cin * c->in_h * c->in_w) * lanes,
        .conv = (size_t)(c->cout * c->conv_h * c->conv_w) * lanes,
        .out = (size_t)(c->cout * cpu_conv_out_h(c) * cpu_conv_out_w(c)) * lanes,
        .w = (size_t)(c->k * c->k * c->cin * c->cout),
    };
}

/* All taps of a convolution that read inside the input: what happens to each is `what`. */
struct tap {
    size_t in, conv, w;
};
struct walk {
    const struct cpu_conv_layer *c;
    int o, y, x, i, ky, kx;
};

static bool walk_on(struct walk *s, struct tap *tap)
{
    const struct cpu_conv_layer *c = s->c;

    for (;;) {
        if (++s->kx == c->k) {
            s->kx = 0;
            if (++s->ky == c->k) {
                s->ky = 0;
                if (++s->i == c->cin) {
                    s->i = 0;
                    if (++s->x == c->conv_w) {
                        s->x = 0;
                        if (++s->y == c->conv_h) {
                            s->y = 0;
                            if (++s->o == c->cout)
                                return false;
                        }
                    }
                }
            }
        }
        int iy = s->y + s->ky - c->pad_top, ix = s->x + s->kx - c->pad_left;
        if (iy < 0 || ix < 0 || iy >= c->in_h || ix >= c->in_w)
            continue;
        tap->in = (size_t)((s->i * c->in_h + iy) * c->in_w + ix) * lanes;
        tap->conv = (size_t)((s->o * c->conv_h + s->y) * c->conv_w + s->x) * lanes;
        tap->w = (size_t)(((s->ky * c->k + s->kx) * c->cin + s->i) * c->cout + s->o);
        return true;
    }
}

static double largest(const double *p, size_t n)
{
    double top = 0;

    for (size_t i = 0; i < n; i++)
        top = fmax(top, fabs(p[i]));
    return top;
}

static double worst_seen[4]; /* forward, dx, dw, db */

static void compare(const char *what, int slot, const char *shape, const float *got,
                    const double *want, size_t n, double limit)
{
    double top = fmax(largest(want, n), 1e-20), worst = 0;

    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - want[i]);
        if (!(d <= worst))
            worst = d;
        if (d != d)
            break;
    }
    if (!(worst <= limit * top))
        TEST_FAILED("%s of %s is off by %.3g of its largest value", what, shape, worst / top);
    else
        worst_seen[slot] = fmax(worst_seen[slot], worst / top);
}

static void check(const char *isa, const struct cpu_conv_ops *ops, const struct cpu_conv_layer *c,
                  int groups, bool with_bias, bool with_dx, bool add)
{
    struct sizes n = sizes_of(c);
    size_t all = (size_t)groups, pool = (size_t)c->pool;
    double limit = c->k == 3 ? LIMIT_3 : LIMIT_5;
    char shape[200];

    snprintf(
        shape, sizeof shape,
        "%s, k %d, %d -> %d channels, in %d x %d, pads %d %d, conv %d x %d, pool %d%s%s, %d groups",
        isa, c->k, c->cin, c->cout, c->in_h, c->in_w, c->pad_top, c->pad_left, c->conv_h, c->conv_w,
        c->pool, c->max ? " max" : "", c->relu ? ", relu" : "", groups);
    if (!ops->can(c)) {
        TEST_FAILED("cannot do %s", shape);
        return;
    }
    float *in = numbers(all * n.in, 1), *w = numbers(n.w, 1 / sqrtf((float)(c->k * c->k * c->cin)));
    float *bias = numbers((size_t)c->cout, 0.3f), *dy = numbers(all * n.out, 1);
    float *dx = numbers(all * n.in, 1), *dw = numbers(n.w, 1), *db = numbers((size_t)c->cout, 1);
    float *out = numbers(all * n.out, 1), *packed = numbers(ops->packed(c, with_dx), 1);
    float *scratch = numbers(ops->scratch(c, groups, with_dx), 1);
    size_t bits = all * n.conv / lanes;
    uint16_t *pass = cpu_conv_masks(c) ? mem_new(bits + 1, sizeof *pass) : NULL;
    double *conv = mem_new(all * n.conv, sizeof *conv),
           *dconv = mem_new(all * n.conv, sizeof *dconv);
    double *want = mem_new(all * n.out, sizeof *want);
    double *dx_want = mem_new(all * n.in, sizeof *dx_want),
           *dw_want = mem_new(n.w, sizeof *dw_want);
    double *db_want = mem_new((size_t)c->cout, sizeof *db_want);
    struct tap tap;

    for (int part = 0; part < 3; part++)
        ops->pack(c, with_dx, w, packed, part, 3);
    if (pass)
        pass[bits] = 0xbeef; /* nothing is written behind the end */
    ops->forward(c, groups, w, packed, with_bias ? bias : NULL, in, out, pass, scratch);
    if (pass)
        CHECK_INT(pass[bits], 0xbeef);

    for (size_t g = 0; g < all; g++) {
        for (size_t i = 0; i < n.conv; i++)
            conv[g * n.conv + i] =
                with_bias ? (double)bias[i / lanes / (size_t)(c->conv_h * c->conv_w)] : 0;
        for (struct walk s = {.c = c, .kx = -1}; walk_on(&s, &tap);)
            for (size_t lane = 0; lane < lanes; lane++)
                conv[g * n.conv + tap.conv + lane] +=
                    (double)in[g * n.in + tap.in + lane] * (double)w[tap.w];
    }
    double close = limit * largest(conv, all * n.conv);
    size_t row = (size_t)c->conv_w, out_row = row / pool, cell = 0;
    for (size_t plane = 0; plane < all * (size_t)c->cout; plane++)
        for (size_t y = 0; y < (size_t)c->conv_h; y += pool)
            for (size_t x = 0; x < row; x += pool, cell++)
                for (size_t lane = 0; lane < lanes; lane++) {
                    size_t at = (plane * (size_t)c->conv_h + y) * row + x, first = 0;
                    double sum = 0, top = -INFINITY, second = -INFINITY;
                    float d = dy[cell * lanes + lane];
                    for (size_t q = 0; q < pool * pool; q++) {
                        double v = conv[(at + q / pool * row + q % pool) * lanes + lane];
                        sum += c->relu ? fmax(v, 0) : v;
                        if (v > top)
                            second = top, top = v, first = q;
                        else
                            second = fmax(second, v);
                    }
                    want[cell * lanes + lane] =
                        c->max ? (c->relu ? fmax(top, 0) : top) : sum / (double)(pool * pool);
                    for (size_t q = 0; q < pool * pool; q++) {
                        size_t i = at + q / pool * row + q % pool;
                        double v = conv[i * lanes + lane];
                        bool open = (!c->relu || v > 0) && (!c->max || q == first);
                        /* what rounding decides is taken as it was decided */
                        bool sure =
                            (!c->relu || fabs(v) > close) &&
                            (!c->max || pool == 1 || top - second > close || top - v > close);
                        if (pass) {
                            bool bit = pass[i] >> lane & 1;
                            if (sure && bit != open) {
                                TEST_FAILED("bit of %zu, lane %zu of %s is %d", i, lane, shape,
                                            bit);
                                goto out;
                            }
                            open = bit;
                        }
                        dconv[i * lanes + lane] =
                            open ? (double)d / (c->max ? 1 : (double)(pool * pool)) : 0;
                    }
                }
    (void)out_row;
    compare("the output", 0, shape, out, want, all * n.out, limit);
    struct cpu_conv_layer evaluating = *c;
    evaluating.care = CPU_CONV_NONE;
    memset(out, 0xff, all * n.out * sizeof *out);
    ops->forward(&evaluating, groups, w, packed, with_bias ? bias : NULL, in, out, NULL, scratch);
    compare("the output, evaluating", 0, shape, out, want, all * n.out, limit);

    for (size_t i = 0; i < all * n.in; i++)
        dx_want[i] = add ? (double)dx[i] : 0;
    for (size_t i = 0; i < n.w; i++)
        dw_want[i] = (double)dw[i];
    for (size_t i = 0; i < (size_t)c->cout; i++)
        db_want[i] = (double)db[i];
    for (size_t g = 0; g < all; g++) {
        for (size_t i = 0; i < n.conv; i++)
            db_want[i / lanes / (size_t)(c->conv_h * c->conv_w)] += dconv[g * n.conv + i];
        for (struct walk s = {.c = c, .kx = -1}; walk_on(&s, &tap);)
            for (size_t lane = 0; lane < lanes; lane++) {
                double d = dconv[g * n.conv + tap.conv + lane];
                dw_want[tap.w] += d * (double)in[g * n.in + tap.in + lane];
                dx_want[g * n.in + tap.in + lane] += d * (double)w[tap.w];
            }
    }
    ops->backward(c, groups, packed, in, dy, pass, with_dx ? dx : NULL, add, dw,
                  with_bias ? db : NULL, scratch);
    if (with_dx)
        compare("the input's gradient", 1, shape, dx, dx_want, all * n.in, limit);
    compare("the weights' gradient", 2, shape, dw, dw_want, n.w, limit);
    if (with_dx && !add && n.in == n.out && ops->dx_over_dy(c, groups)) {
        ops->backward(c, groups, packed, in, dy, pass, dy, false, dw, NULL, scratch);
        if (memcmp(dy, dx, all * n.in * sizeof *dx))
            TEST_FAILED("over its output's the input's gradient is another, of %s", shape);
    }
    if (with_bias)
        compare("the bias' gradient", 3, shape, db, db_want, (size_t)c->cout, limit);
out:
    free(in);
    free(w);
    free(bias);
    free(dy);
    free(dx);
    free(dw);
    free(db);
    free(out);
    free(packed);
    free(scratch);
    free(pass);
    free(conv);
    free(dconv);
    free(want);
    free(dx_want);
    free(dw_want);
    free(db_want);
}

/* Runs `each` with every instruction set of this machine. */
static void on_all(void (*each)(const char *isa, const struct cpu_conv_ops *ops))
{
    const char *before = getenv("CHORUS_ISA");
    char *kept = before ? mem_text(before) : NULL;

    for (size_t i = 0; i < MEM_COUNT(isas); i++) {
        setenv("CHORUS_ISA", isas[i].name, 1);
        if (cpu_kernels_choose(SPEC_FP32) != isas[i].kernels)
            printf("  %s is not here\n", isas[i].name);
        else
            for (const struct cpu_kernels *k = isas[i].kernels; k; k = k->half) {
                char name[64];
                snprintf(name, sizeof name, "%s, %d lanes", k->name, k->lanes);
                lanes = (size_t)k->lanes;
                each(name, k->wino);
            }
    }
    if (kept)
        setenv("CHORUS_ISA", kept, 1);
    else
        unsetenv("CHORUS_ISA");
    free(kept);
}

static void report(const char *isa)
{
    printf("  %s: worst of the largest value: output %.2g, dx %.2g, dw %.2g, db %.2g\n", isa,
           worst_seen[0], worst_seen[1], worst_seen[2], worst_seen[3]);
    memset(worst_seen, 0, sizeof worst_seen);
}

static void known(const char *isa, const struct cpu_conv_ops *ops)
{
    /* the second convolutions of lenet and cnn; resnet18's, thinner */
    static const struct cpu_conv_layer layers[] = {
        {20, 50, 5, 1, 0, 0, 12, 12, 8, 8, true, 2, false, NULL, CPU_CONV_ZEROS},
        {32, 64, 3, 1, 1, 1, 14, 14, 14, 14, true, 2, false, NULL, CPU_CONV_ZEROS},
        {12, 16, 3, 1, 1, 1, 28, 28, 28, 28, false, 1, false, NULL, CPU_CONV_ZEROS},
        {16, 24, 3, 1, 1, 1, 14, 14, 14, 14, false, 1, false, NULL, CPU_CONV_ZEROS},
        {24, 70, 3, 1, 1, 1, 7, 7, 7, 7, false, 1, false, NULL, CPU_CONV_ZEROS},
        {128, 128, 3, 1, 1, 1, 4, 4, 4, 4, false, 1, false, NULL, CPU_CONV_ZEROS},
        /* gradients of weights in blocks, of either form */
        {256, 32, 3, 1, 1, 1, 4, 4, 4, 4, false, 1, false, NULL, CPU_CONV_ZEROS},
        {256, 24, 3, 1, 1, 1, 6, 4, 6, 4, false, 1, false, NULL, CPU_CONV_ZEROS},
    };
    for (size_t i = lanes < CPU_LANES ? 3 : 0; i < MEM_COUNT(layers); i++)
        check(isa, ops, &layers[i], i ? 2 : 3, i < 2, true, false);
    report(isa);
}

TEST(wino_does_the_layers_of_the_known_networks)
{
    on_all(known);
}

static void odd(const char *isa, const struct cpu_conv_ops *ops)
{
    dice_state = 5;
    for (int i = 0; i < 60; i++) {
        static const int pools[] = {1, 1, 2, 2, 4};
        struct cpu_conv_layer c = {.k = roll(0, 1) ? 3 : 5, .stride = 1, .pool = pools[roll(0, 4)]};
        bool large = i % 6 == 0; /* many channels of a small picture, or few of a large one */
        c.cin = roll(1, large ? 70 : 13);
        c.cout = roll(1, large ? 70 : 13);
        c.in_h = roll(5, large ? 9 : i % 6 == 1 ? 33 : 17);
        c.in_w = roll(5, large ? 9 : i % 6 == 1 ? 33 : 17);
        c.pad_top = roll(0, 3);
        c.pad_left = roll(0, 3);
        c.relu = roll(0, 1);
        c.max = c.pool > 1 && roll(0, 1);
        /* up to 3 rows below and columns to the right of the input, or some that nobody needs */
        c.conv_h = (c.in_h + c.pad_top - c.k + 1 + roll(-1, 3)) / c.pool * c.pool;
        c.conv_w = (c.in_w + c.pad_left - c.k + 1 + roll(-1, 3)) / c.pool * c.pool;
        if (c.conv_h < 1 || c.conv_w < 1)
            continue;
        check(isa, ops, &c, roll(1, 3), roll(0, 1), roll(0, 3), roll(0, 1));
    }
    report(isa);
}

TEST(wino_does_odd_layers)
{
    on_all(odd);
}

/* Outputs of all remainders, so that the last tiles have fewer, or there are no others. */
static void edges(const char *isa, const struct cpu_conv_ops *ops)
{
    dice_state = 9;
    for (int k = 3; k <= 5; k += 2) {
        for (int h = 1; h <= 7; h++) {
            for (int w = 1; w <= 10; w += h % 2 + 1) {
                struct cpu_conv_layer c = {.cin = 18 + h % 3,
                                           .cout = 17 + w % 4,
                                           .k = k,
                                           .stride = 1,
                                           .pad_top = h % 3,
                                           .pad_left = w % 3,
                                           .in_h = h + 1,
                                           .in_w = w + 2,
                                           .conv_h = h,
                                           .conv_w = w,
                                           .relu = w % 2,
                                           .pool = 1};
                check(isa, ops, &c, 1 + (h + w) % 5, true, true, h % 2);
            }
        }
    }
    report(isa);
}

TEST(wino_does_edges_of_any_size)
{
    on_all(edges);
}

static void no_number(const char *isa, const struct cpu_conv_ops *ops)
{
    struct cpu_conv_layer c = {3, 5, 3, 1, 1, 1, 8, 8, 8, 8, true, 2, true, NULL, CPU_CONV_ZEROS};

    for (int way = 0; way < 3; way++) {
        c.pool = way == 0 ? 1 : 2;
        c.max = way == 2;
        struct sizes n = sizes_of(&c);
        float *in = numbers(n.in, 1), *w = numbers(n.w, 1), *out = numbers(n.out, 0);
        float *packed = numbers(ops->packed(&c, true), 1);
        float *scratch = numbers(ops->scratch(&c, 1, true), 1);
        ops->pack(&c, true, w, packed, 0, 1);
        in[(size_t)((8 + 2) * 8 + 5) * lanes + 7] = NAN; /* channel 1, (2, 5), image 7 */
        ops->forward(&c, 1, w, packed, NULL, in, out, NULL, scratch);
        for (int o = 0; o < c.cout; o++) {
            int side = 8 / c.pool;
            float got = out[(size_t)((o * side + 2 / c.pool) * side + 5 / c.pool) * lanes + 7];
            if (isfinite(got))
                TEST_FAILED("%s: NaN became %g, pool %d", isa, (double)got, c.pool);
        }
        for (size_t i = 0; i < n.out; i++) {
            if (i % lanes != 7 && !isfinite(out[i]))
                TEST_FAILED("%s: NaN reached image %zu", isa, i % lanes);
        }
        free(in);
        free(w);
        free(out);
        free(packed);
        free(scratch);
    }
}

TEST(wino_lets_no_number_through_as_none)
{
    on_all(no_number);
}

/* A picture on a black ground: what saw only that is the bias, and not what the transforms leave. */
static void black(const char *isa, const struct cpu_conv_ops *ops)
{
    static const float bias[] = {0, 3e-7f, -1e-9f, -2e-5f, 0.3f};
    struct cpu_conv_layer c = {
        3, 5, 0, 1, 1, 2, 17, 14, 17, 15, false, 1, false, NULL, CPU_CONV_ZEROS};
    struct tap tap;

    for (c.k = 3; c.k <= 5; c.k += 2) {
        struct sizes n = sizes_of(&c);
        float *in = numbers(n.in, 1), *w = numbers(n.w, 1), *out = numbers(n.out, 0);
        float *packed = numbers(ops->packed(&c, false), 1);
        float *scratch = numbers(ops->scratch(&c, 1, false), 1);
        bool *saw = mem_new(n.out, sizeof *saw);
        size_t left = 0;
        for (size_t i = 0; i < n.in; i++) {
            size_t lane = i % lanes, at = i / lanes, y = at / 14 % 17, x = at % 14;
            if (y < lane / 2 || y > lane / 2 + 4 || x < 3 || x > 3 + lane / 3)
                in[i] = lane % 2 ? -0.0f : 0;
        }
        for (struct walk s = {.c = &c, .kx = -1}; walk_on(&s, &tap);)
            for (size_t lane = 0; lane < lanes; lane++)
                saw[tap.conv + lane] = saw[tap.conv + lane] || in[tap.in + lane] != 0;
        ops->pack(&c, false, w, packed, 0, 1);
        for (int with_bias = 0; with_bias < 2; with_bias++) {
            ops->forward(&c, 1, w, packed, with_bias ? bias : NULL, in, out, NULL, scratch);
            for (size_t i = 0; i < n.out; i++)
                left += !saw[i] && out[i] != (with_bias ? bias[i / (n.out / 5)] : 0);
        }
        if (left)
            TEST_FAILED("%s: %zu outputs of nothing are not the bias", isa, left);
        free(in);
        free(w);
        free(out);
        free(packed);
        free(scratch);
        free(saw);
    }
}

TEST(wino_gives_the_bias_for_nothing)
{
    on_all(black);
}

/* Outputs that are almost zero: which side of it they are on is told as doubles tell it, and not by what
 * the transforms leave. Each channel's bias takes one of its outputs there. The relu is part of it, or far
 * behind. */
static void almost(const char *isa, const struct cpu_conv_ops *ops)
{
    for (int way = 0; way < 18; way++) {
        static const int sides[] = {8, 5, 10};
        int side = sides[way % 3], pool = way / 6 == 1 ? 2 : 1;
        struct cpu_conv_layer c = {.cin = 20,
                                   .cout = 32,
                                   .k = way % 2 ? 3 : 5,
                                   .stride = 1,
                                   .pad_top = way % 3,
                                   .pad_left = way % 3,
                                   .in_h = side + 2,
                                   .in_w = side + 2,
                                   .conv_h = pool > 1 ? side / 2 * 2 : side,
                                   .conv_w = pool > 1 ? side / 2 * 2 : side,
                                   .relu = way < 12,
                                   .care = way >= 12 ? CPU_CONV_SIGNS : CPU_CONV_ZEROS,
                                   .pool = pool};
        struct sizes n = sizes_of(&c);
        float *in = numbers(n.in, 1), *w = numbers(n.w, 0.05f), *out = numbers(n.out, 0);
        float *packed = numbers(ops->packed(&c, false), 1);
        float *scratch = numbers(ops->scratch(&c, 1, false), 1);
        float bias[32];
        uint16_t *pass = mem_new(n.conv / lanes, sizeof *pass);
        double *conv = mem_new(n.conv, sizeof *conv);
        size_t wrong = 0, chosen[32];
        struct tap tap;

        for (struct walk s = {.c = &c, .kx = -1}; walk_on(&s, &tap);)
            for (size_t lane = 0; lane < lanes; lane++)
                conv[tap.conv + lane] += (double)in[tap.in + lane] * (double)w[tap.w];
        for (int o = 0; o < c.cout; o++) {
            chosen[o] = n.conv / 32 * (size_t)o + dice() % (n.conv / 32);
            bias[o] = (float)-conv[chosen[o]];
        }
        ops->pack(&c, false, w, packed, 0, 1);
        ops->forward(&c, 1, w, packed, bias, in, out, c.relu ? pass : NULL, scratch);
        for (int o = 0; o < c.cout; o++) {
            size_t i = chosen[o];
            bool above = c.relu ? pass[i / lanes] >> i % lanes & 1 : out[i] > 0;
            wrong += above != (conv[i] + (double)bias[o] > 0);
        }
        if (wrong)
            TEST_FAILED(
                "%s, k %d, %d x %d, pool %d: %zu of 32 outputs near zero are on its other side",
                isa, c.k, side, side, c.pool, wrong);
        free(in);
        free(w);
        free(out);
        free(packed);
        free(scratch);
        free(pass);
        free(conv);
    }
}

TEST(wino_tells_on_which_side_of_zero_an_output_is)
{
    on_all(almost);
}

/* Pictures of ones with a number a million times as large here and there: beside it all outputs of a tile
 * are almost zero and computed again; lane by lane they took eighty times as long. Shares of the process's time, the
 * least of a few. */
static void apart(const char *isa, const struct cpu_conv_ops *ops)
{
    struct cpu_conv_layer c = {
        32, 16, 3, 1, 1, 1, 16, 16, 16, 16, true, 1, false, NULL, CPU_CONV_ZEROS};
    struct sizes n = sizes_of(&c);
    float *ones = numbers(n.in, 0.5f), *in = numbers(n.in, 0), *w = numbers(n.w, 0.05f);
    float *packed = numbers(ops->packed(&c, false), 1), *out = numbers(n.out, 0);
    float *scratch = numbers(ops->scratch(&c, 1, false), 1);
    uint16_t *pass = mem_new(n.conv / lanes, sizeof *pass);
    double least[2] = {INFINITY, INFINITY};

    for (size_t i = 0; i < n.in; i++) {
        size_t y = i / lanes / 16 % 16, x = i / lanes % 16;
        ones[i] += 0.5f;
        in[i] = y % 4 == 1 && x % 4 == 1 ? ones[i] * 1e6f : ones[i];
    }
    ops->pack(&c, false, w, packed, 0, 1);
    for (int i = 0; i < 10; i++) {
        struct timespec from, to;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
        for (int times = 0; times < 5; times++)
            ops->forward(&c, 1, w, packed, NULL, i % 2 ? in : ones, out, pass, scratch);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
        least[i % 2] = fmin(least[i % 2], (double)(to.tv_sec - from.tv_sec) +
                                              (double)(to.tv_nsec - from.tv_nsec) * 1e-9);
    }
    printf("  %s: numbers far apart take %.1f times as long\n", isa, least[1] / least[0]);
    if (least[1] > 20 * least[0])
        TEST_FAILED("%s: numbers far apart take %.1f times as long", isa, least[1] / least[0]);
    free(ones);
    free(in);
    free(w);
    free(packed);
    free(out);
    free(scratch);
    free(pass);
}

TEST(wino_takes_not_much_longer_for_numbers_far_apart)
{
    on_all(apart);
}

static void cannot(const char *isa, const struct cpu_conv_ops *ops)
{
    struct cpu_conv_layer c = {
        8, 8, 3, 1, 1, 1, 12, 12, 12, 12, true, 3, true, NULL, CPU_CONV_ZEROS};

    CHECK(!ops->can(&c));
    c.pool = 1;
    CHECK(ops->can(&c));
    c.stride = 2;
    CHECK(!ops->can(&c));
    c.stride = 1;
    c.k = 7;
    CHECK(!ops->can(&c));
    (void)isa;
}

TEST(wino_declines_what_it_cannot_do)
{
    on_all(cannot);
}
