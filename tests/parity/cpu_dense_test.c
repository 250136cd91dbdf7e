/* The dense layers, pointwise layers, optimizers, loss and decoding of the fast CPU backend, each
 * instruction set that this machine has, against plain loops in double. Limits are multiples of
 * EPS = 2^-24, half a unit in the last place, times the sum of the absolute terms. */
#include "cpu/cpu_int.h"
#include "base/mem.h"
#include "rng/rng.h"
#include "tests/test.h"

#include <float.h>

#define EPS   (1.0 / (1 << 24))
#define LANES k->lanes /* of the kernels at hand */

static const char *const isas[] = {"avx512", "avx2", "base"};
static const struct cpu_kernels *k; /* those at hand */
static uint64_t drawn;

static unsigned draw(unsigned from, unsigned to)
{
    return from + (unsigned)(rng_bits_at(rng_key(41), drawn++) % (to - from + 1));
}

static float draw_float(void)
{
    return (float)(int32_t)rng_bits_at(rng_key(43), drawn++) * (1.0f / 2147483648.0f);
}

/* n floats at 64 bytes, followed by some that nobody may write. */
#define GUARD 64
static float *floats(size_t n, bool random)
{
    float *p = aligned_alloc(64, ((n + GUARD) * sizeof *p + 63) / 64 * 64);

    for (size_t i = 0; i < n + GUARD; i++)
        p[i] = i >= n ? 12345.0f : random ? draw_float() : 777.0f;
    return p;
}

static bool guarded(const float *p, size_t n)
{
    for (size_t i = n; i < n + GUARD; i++) {
        if (p[i] != 12345.0f)
            return false;
    }
    return true;
}

/* Each body runs for every instruction set, of 16 lanes and of 8; those that the machine lacks count as
 * skipped. */
static bool take_isa(const char *name)
{
    setenv("CHORUS_ISA", name, 1);
    k = cpu_kernels_choose(SPEC_FP32);
    unsetenv("CHORUS_ISA");
    return k != NULL;
}

static void with_lanes(void (*each)(void))
{
    for (; k; k = k->half)
        each();
}

#define FOR_EACH_ISA(name_)                                                                        \
    static void each_##name_(void);                                                                \
    TEST(name_##_avx512)                                                                           \
    {                                                                                              \
        if (!take_isa(isas[0]))                                                                    \
            SKIP("this machine has no AVX-512");                                                   \
        with_lanes(each_##name_);                                                                  \
    }                                                                                              \
    TEST(name_##_avx2)                                                                             \
    {                                                                                              \
        if (!take_isa(isas[1]))                                                                    \
            SKIP("this machine has no AVX2");                                                      \
        with_lanes(each_##name_);                                                                  \
    }                                                                                              \
    TEST(name_##_base)                                                                             \
    {                                                                                              \
        REQUIRE(take_isa(isas[2]));                                                                \
        with_lanes(each_##name_);                                                                  \
    }                                                                                              \
    static void each_##name_(void)

/* A dense layer of which a part of the units is done: forward, both gradients, sums of biases. */
struct dense_case {
    int images, inputs, outputs, first, units; /* units first, ..., of outputs */
    bool add, bias;
};

/* Their groups. */
static size_t groups_of(const struct dense_case *c)
{
    return (size_t)((c->images + LANES - 1) / LANES);
}

/* The lanes behind the last image, of n units a group. */
static void fill_rest(const struct dense_case *c, size_t n, float *x, float value)
{
    size_t groups = groups_of(c);

    for (size_t i = 0; i < n; i++) {
        for (size_t lane = (size_t)c->images; lane < groups * LANES; lane++)
            x[((groups - 1) * n + i) * LANES + lane % LANES] = value;
    }
}

static void check_forward(const struct dense_case *c, bool back)
{
    size_t in = (size_t)c->inputs, out = (size_t)c->outputs, groups = groups_of(c);
    size_t xs = groups * in * LANES, ys = groups * out * LANES;
    float *x = floats(xs, true), *w = floats(in * out, true), *b = floats(out, true);
    float *y = floats(ys, true), *was = floats(ys, false);
    size_t wk = back ? 1 : out, wn = back ? in : 1, first = (size_t)c->first;
    double worst = 0;
    bool kept = true;

    fill_rest(c, in, x, 0);
    memcpy(was, y, ys * sizeof *y);
    k->dense(c->images, c->inputs, c->units, x, in * LANES, w + first * wn, wk, wn,
             c->bias ? b + first : NULL, c->add, y + first * LANES, out * LANES);
    for (size_t g = 0; g < groups; g++) {
        for (size_t n = 0; n < out; n++) {
            for (size_t lane = 0; lane < (size_t)LANES; lane++) {
                size_t at = (g * out + n) * LANES + lane;
                if (n < first || n >= first + (size_t)c->units) {
                    kept = kept && y[at] == was[at];
                    continue;
                }
                if (g * LANES + lane >= (size_t)c->images) {
                    kept = kept && (y[at] == 0 || c->add || c->bias);
                    continue;
                }
                double sum = c->add ? (double)was[at] : c->bias ? (double)b[n] : 0;
                double size = fabs(sum);
                for (size_t i = 0; i < in; i++) {
                    double term =
                        (double)x[(g * in + i) * LANES + lane] * (double)w[i * wk + n * wn];
                    sum += term;
                    size += fabs(term);
                }
                double off = fabs((double)y[at] - sum) / (EPS * (size + (double)FLT_MIN));
                worst = off > worst ? off : worst;
            }
        }
    }
    /* errors of a chain of additions grow as the root of its length, here with room to spare */
    double limit = 4 + 2 * sqrt((double)in);
    if (!(worst <= limit) || !kept || !guarded(y, ys))
        TEST_FAILED("%s %dx%d (%d from %d), %d images%s%s: %.3g roundings, %g allowed%s%s",
                    back ? "back" : "forward", c->inputs, c->outputs, c->units, c->first, c->images,
                    c->add ? ", added" : "", c->bias ? ", bias" : "", worst, limit,
                    kept ? "" : ", other units written", guarded(y, ys) ? "" : ", written behind");
    free(x);
    free(w);
    free(b);
    free(y);
    free(was);
}

static void check_weights(const struct dense_case *c)
{
    size_t in = (size_t)c->inputs, out = (size_t)c->outputs, groups = groups_of(c);
    size_t first = (size_t)c->first, units = (size_t)c->units, width = (units + 15) / 16 * 16;
    size_t row = out;
    float *x = floats(groups * in * LANES, true), *dy = floats(groups * out * LANES, true);
    float *dw = floats(in * row, true), *was = floats(in * row, false);
    float *db = floats(out, true), *db_was = floats(out, false);
    float *turned = floats(groups * LANES * width, false), behind = 0;
    double worst = 0, limit = 4 + 2 * sqrt((double)groups * LANES);
    bool kept = true;

    fill_rest(c, in, x, NAN);
    fill_rest(c, out, dy, 0);
    memcpy(was, dw, in * row * sizeof *dw);
    memcpy(db_was, db, out * sizeof *db);
    for (size_t i = 0; i < groups * LANES * width; i++)
        turned[i] = NAN;
    int cut = c->units / 2 / 16 * 16; /* threads share the units */
    for (int part = 1; part >= 0; part--)
        k->turn((int)groups, part ? cut : 0, part ? c->units : cut, dy + first * LANES, out * LANES,
                turned, width);
    for (size_t i = 0; i < groups * LANES * width; i++)
        behind += 0 * turned[i];
    CHECK(behind == 0); /* all of it was written */
    k->dense_weights(c->images, c->inputs, c->units, x, in * LANES, turned, width, dw + first, row,
                     c->add);
    k->bias_sums((int)groups, c->units, dy + first * LANES, out * LANES, db + first, c->add);
    for (size_t i = 0; i <= in; i++) { /* the last: the bias */
        const float *got = i < in ? dw + i * row : db, *old = i < in ? was + i * row : db_was;
        for (size_t o = 0; o < out; o++) {
            if (o < first || o >= first + units) {
                kept = kept && got[o] == old[o];
                continue;
            }
            double sum = c->add ? (double)old[o] : 0, size = fabs(sum);
            for (size_t at = 0; at < (size_t)c->images; at++) {
                size_t g = at / LANES, lane = at % LANES;
                double term = (double)dy[(g * out + o) * LANES + lane] *
                              (i < in ? (double)x[(g * in + i) * LANES + lane] : 1);
                sum += term;
                size += fabs(term);
            }
            double off = fabs((double)got[o] - sum) / (EPS * (size + (double)FLT_MIN));
            worst = off > worst ? off : worst;
        }
    }
    bool whole =
        guarded(dw, in * row) && guarded(db, out) && guarded(turned, groups * LANES * width);
    if (!(worst <= limit) || !kept || !whole)
        TEST_FAILED("weights %dx%d (%d from %d), %d images%s: %.3g roundings, %g allowed%s%s",
                    c->inputs, c->outputs, c->units, c->first, c->images, c->add ? ", added" : "",
                    worst, limit, kept ? "" : ", others written", whole ? "" : ", written behind");
    free(x);
    free(dy);
    free(dw);
    free(was);
    free(db);
    free(db_was);
    free(turned);
}

static void check_case(const struct dense_case *c)
{
    check_forward(c, false);
    check_forward(c, true);
    check_weights(c);
}

FOR_EACH_ISA(dense_layers_of_any_shape)
{
    drawn = 0;
    for (int i = 0; i < 24; i++) {
        struct dense_case c = {.images = (int)draw(1, 270), .add = draw(0, 1), .bias = draw(0, 1)};
        bool large = i % 8 == 0; /* each side is large now and then, not all at a time */
        c.inputs = (int)draw(1, large ? 700 : 150);
        c.outputs = (int)draw(1, i % 8 == 4 ? 300 : 70);
        c.first = draw(0, 1) ? (int)draw(0, (unsigned)c.outputs - 1) : 0;
        c.units = c.first ? (int)draw(1, (unsigned)(c.outputs - c.first)) : c.outputs;
        check_case(&c);
    }
}

FOR_EACH_ISA(dense_layers_of_edge_shapes)
{
    static const int sizes[] = {1, 2, 6, 7, 15, 16, 17, 48, 49, 64, 65, 80, 112, 128, 129};

    drawn = 1 << 20;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int groups = 1; groups <= 5; groups += i % 2 ? 1 : 2) {
            int rest = (int)(i * 5) % LANES; /* lanes of the last group without an image */
            struct dense_case c = {
                groups * LANES - rest, sizes[i], sizes[(i * 7 + 3) % 15], 0, 0, i % 2, i % 3};
            c.units = c.outputs;
            check_case(&c);
        }
    }
}

/* One image's infinity must not reach another image. */
FOR_EACH_ISA(what_is_no_number_stays_in_its_lane)
{
    size_t in = 37, out = 19;
    float *x = floats(2 * in * LANES, true), *w = floats(in * out, true);
    float *y = floats(2 * out * LANES, false);

    x[(in + 3) * LANES + 5] = NAN;
    k->dense(2 * LANES, (int)in, (int)out, x, in * LANES, w, out, 1, NULL, false, y, out * LANES);
    for (size_t i = 0; i < 2 * out * LANES; i++)
        CHECK((isnan(y[i]) != 0) == (i >= out * LANES && i % LANES == 5));
    free(x);
    free(w);
    free(y);
}

static double exact_step(const struct cpu_update *u, double w, double *a, double *b, double g)
{
    double m = (double)u->momentum, b1 = (double)u->b1, b2 = (double)u->b2, v = 0;

    g = g * (double)u->scale + (double)u->coupled * w;
    switch (u->optimizer) {
    case SPEC_SGD:
        v = g;
        break;
    case SPEC_MOMENTUM:
        v = *a = g + m * *a;
        break;
    case SPEC_NESTEROV:
        *a = g + m * *a;
        v = g + m * *a;
        break;
    case SPEC_ADAM:
    case SPEC_ADAMW:
        *a = b1 * *a + (double)(1 - u->b1) * g;
        *b = b2 * *b + (double)(1 - u->b2) * g * g;
        v = *a * (double)u->fix1 / (sqrt(*b * (double)u->fix2) + (double)u->epsilon);
        if (u->optimizer == SPEC_ADAMW)
            v += (double)u->decoupled * w;
        break;
    }
    return w - (double)u->lr * v;
}

FOR_EACH_ISA(optimizers)
{
    static const size_t counts[] = {1, 15, 16, 17, 31, 333, 1024};
    struct cpu_update u = {.lr = 0.01f,
                           .scale = 0.75f,
                           .momentum = 0.9f,
                           .b1 = 0.9f,
                           .b2 = 0.999f,
                           .epsilon = 1e-8f,
                           .coupled = 0.01f,
                           .decoupled = 0.02f,
                           .fix1 = 1 / 0.271f,
                           .fix2 = 1 / 0.002997f};

    drawn = 2 << 20;
    for (int o = SPEC_SGD; o <= SPEC_ADAMW; o++) {
        u.optimizer = (enum spec_optimizer)o;
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            size_t n = counts[i], at = i % 3; /* aligned to a float only */
            float *w = floats(n + at, true), *a = floats(n + at, true), *b = floats(n + at, true);
            float *g = floats(n + at, true), was[3][1100];
            for (size_t j = 0; j < n + at; j++)
                b[j] = fabsf(b[j]);
            memcpy(was[0], w, (n + at) * sizeof *w);
            memcpy(was[1], a, (n + at) * sizeof *a);
            memcpy(was[2], b, (n + at) * sizeof *b);
            int slots = backend_slots(u.optimizer);
            k->update(&u, w + at, slots > 0 ? a + at : NULL, slots > 1 ? b + at : NULL, g + at, n);
            for (size_t j = 0; j < n + at; j++) {
                double s1 = (double)was[1][j], s2 = (double)was[2][j], old = (double)was[0][j];
                double want = exact_step(&u, old, &s1, &s2, (double)g[j]);
                if (j < at) {
                    CHECK(w[j] == was[0][j] && a[j] == was[1][j] && b[j] == was[2][j]);
                    continue;
                }
                double moved = fabs(want - old) + fabs((double)u.lr * (double)was[1][j]);
                CHECK_NEAR(w[j], want, EPS * (fabs(old) + fabs(want) + 8 * moved));
                CHECK_NEAR(a[j], slots > 0 ? s1 : (double)was[1][j], 4 * EPS * 2);
                CHECK_NEAR(b[j], slots > 1 ? s2 : (double)was[2][j], 4 * EPS);
            }
            CHECK(guarded(w, n + at) && guarded(a, n + at) && guarded(b, n + at));
            free(w);
            free(a);
            free(b);
            free(g);
        }
    }
}

FOR_EACH_ISA(sums_of_gradients)
{
    drawn = 3 << 20;
    for (size_t n = 0; n < 200; n += n < 70 ? 1 : 29) {
        float *a = floats(n, true), *b = floats(n, true), *was = floats(n, false);
        double sum = 0;
        memcpy(was, a, n * sizeof *a);
        for (size_t i = 0; i < n; i++)
            sum += (double)a[i] * (double)a[i];
        CHECK_NEAR(k->square(n, a), sum, 1e-14 * sum);
        k->add_into(n, a, b);
        for (size_t i = 0; i < n; i++)
            CHECK(a[i] == was[i] + b[i]);
        CHECK(guarded(a, n));
        free(a);
        free(b);
        free(was);
    }
}

static float float_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Every upper half, with lower halves just below, at and above the middle. flushes: what is below all
 * normal numbers may become zero, as in all arithmetic of the backend's threads. */
static void check_rounding(bool flushes)
{
    static const uint32_t low[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    float *x = floats(6 << 16, false), *y = floats(6 << 16, false);
    int wrong = 0;

    for (uint32_t i = 0; i < 6 << 16; i++)
        x[i] = float_of(i / 6 << 16 | low[i % 6]);
    k->round_bf16((6 << 16) - 5, x, y);
    k->round_bf16(5, x + (6 << 16) - 5, y + (6 << 16) - 5);
    for (uint32_t i = 0; i < 6 << 16; i++) {
        uint32_t half = i / 6, part = low[i % 6];
        if (isnan(x[i])) {
            wrong += !isnan(y[i]) || bits_of(y[i]) & 0xffff;
            continue;
        }
        half += part > 0x8000 || (part == 0x8000 && half & 1);
        if (flushes && !isnormal(x[i]) && !isinf(x[i]))
            half &= 0x8000;
        wrong += bits_of(y[i]) != half << 16;
    }
    CHECK_INT(wrong, 0);
    CHECK(guarded(y, 6 << 16));
    float same[3] = {1.00390625f, -3.14159f, 0.1f}; /* in place */
    k->round_bf16(3, same, same);
    CHECK(same[0] == 1.0f && same[1] == -3.140625f && same[2] == 0.10009765625f);
    free(x);
    free(y);
}

FOR_EACH_ISA(rounding_to_bf16)
{
    check_rounding(false);
}

TEST(rounding_to_bf16_by_its_instruction)
{
    setenv("CHORUS_ISA", "avx512bf16", 1);
    k = cpu_kernels_choose(SPEC_BF16);
    CHECK(!k || !strcmp(k->name, "avx512bf16"));
    CHECK(!k || !strcmp(cpu_kernels_choose(SPEC_FP32)->name, "avx512"));
    unsetenv("CHORUS_ISA");
    if (!k)
        SKIP("this machine has no AVX512_BF16");
    check_rounding(true);
}

FOR_EACH_ISA(softmax_cross_entropy)
{
    static const float sizes[] = {0.01f, 1, 10, 80, 1000, 1e30f};

    drawn = 4 << 20;
    for (int trial = 0; trial < 60; trial++) {
        int classes = trial % 4 ? (int)draw(1, 12) : (int)draw(1, 300);
        int lanes = trial % 3 ? LANES : (int)draw(1, (unsigned)LANES - 1);
        float size = sizes[trial % 6], scale = 1.0f / 64;
        size_t n = (size_t)classes * LANES;
        float *x = floats(n, true), *d = floats(n, false), each[CPU_LANES + 1];
        uint16_t labels[CPU_LANES];
        uint8_t right[CPU_LANES + 1];
        for (size_t i = 0; i < n; i++)
            x[i] *= size;
        for (int lane = 0; lane < LANES; lane++)
            labels[lane] = (uint16_t)draw(0, (unsigned)classes - 1);
        each[lanes] = 5;
        right[lanes] = 7;
        k->loss(classes, x, labels, lanes, scale, d, each, right);
        for (int lane = 0; lane < LANES; lane++) {
            double top = -INFINITY, sum = 0;
            int best = 0;
            for (int c = 0; c < classes; c++) {
                if ((double)x[c * LANES + lane] > top) {
                    top = (double)x[c * LANES + lane];
                    best = c;
                }
            }
            for (int c = 0; c < classes; c++)
                sum += exp((double)x[c * LANES + lane] - top);
            for (int c = 0; c < classes; c++) {
                double p = exp((double)x[c * LANES + lane] - top) / sum, got = d[c * LANES + lane];
                double want = lane < lanes ? (p - (c == labels[lane])) * (double)scale : 0;
                /* the exponent is rounded before it is raised, the sum is a chain of additions;
                 * what is below all normal numbers may be zero */
                double limit = 8 + (double)(p > 0 ? -log(p) : 0) + sqrt(classes);
                double about = p + (c == labels[lane] ? 1 : 0);
                CHECK_NEAR(got, want,
                           lane < lanes ? limit * EPS * about * (double)scale + 2e-38 : 0);
            }
            if (lane >= lanes)
                continue;
            double mine = (double)x[labels[lane] * LANES + lane];
            CHECK_NEAR(each[lane], log(sum) + top - mine,
                       EPS * (8 + sqrt(classes) + 2 * fabs(log(sum)) + 3 * fabs(top - mine) +
                              2 * fabs(top)));
            CHECK_INT(right[lane], best == labels[lane]);
        }
        CHECK(each[lanes] == 5 && right[lanes] == 7 && guarded(d, n));
        free(x);
        free(d);
    }
}

FOR_EACH_ISA(losses_at_the_edges)
{
    float x[4 * CPU_LANES] __attribute__((aligned(64)));
    float d[4 * CPU_LANES] __attribute__((aligned(64)));
    float each[CPU_LANES];
    uint16_t labels[CPU_LANES];
    uint8_t right[CPU_LANES];

    for (int lane = 0; lane < LANES; lane++) {
        labels[lane] = (uint16_t)(lane % 4);
        for (int c = 0; c < 4; c++)
            x[c * LANES + lane] = 1.5f; /* ties: the first is the answer */
    }
    k->loss(4, x, labels, LANES, 1, d, each, right);
    for (int lane = 0; lane < LANES; lane++) {
        CHECK_INT(right[lane], lane % 4 == 0);
        CHECK_NEAR(each[lane], log(4), 4 * EPS);
        CHECK_NEAR(d[lane], lane % 4 ? 0.25 : -0.75, 2 * EPS);
    }
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int lane = 0; lane < 12 && lane < LANES;
         lane++) /* each in each class, in a lane of its own */
        x[lane / 3 * LANES + lane] = bad[lane % 3];
    k->loss(4, x, labels, LANES, 1, d, each, right);
    for (int lane = 0; lane < LANES; lane++)
        CHECK((isfinite(each[lane]) != 0) == (lane >= 12));
    x[0] = -3e38f; /* a huge spread is no accident */
    x[LANES] = 3e38f;
    x[2 * LANES] = x[3 * LANES] = 0;
    labels[0] = 1;
    k->loss(4, x, labels, 1, 1, d, each, right);
    CHECK(each[0] == 0 && right[0] == 1 && d[LANES] == 0 && d[0] == 0);
}

FOR_EACH_ISA(decoding)
{
    static const size_t counts[] = {1, 9, 15, 16, 17, 49, 784, 1024, 1027};
    float lut[256];
    uint8_t *bytes = mem_new(CPU_LANES, 2048);

    for (int i = 0; i < 256; i++)
        lut[i] = (float)i * 0.0123f - 1.7f;
    for (size_t i = 0; i < (size_t)LANES * 2048; i++)
        bytes[i] = (uint8_t)rng_bits_at(rng_key(47), i);
    for (size_t t = 0; t < sizeof counts / sizeof *counts; t++) {
        size_t n = counts[t];
        const uint8_t *image[CPU_LANES];
        float *out = floats(n * LANES, false);
        int wrong = 0;
        /* the last image ends where the memory does, for the address sanitizer */
        for (size_t lane = 0; lane < (size_t)LANES; lane++)
            image[lane] = t % 2 && lane % 3 == 1 ? NULL : bytes + (lane + 1) * 2048 - n;
        k->decode(image, n, lut, out);
        for (size_t i = 0; i < n * LANES; i++) {
            const uint8_t *from = image[i % LANES];
            wrong += out[i] != (from ? lut[from[i / LANES]] : 0);
        }
        CHECK_INT(wrong, 0);
        CHECK(guarded(out, n * LANES));
        free(out);
    }
    free(bytes);
}

FOR_EACH_ISA(pointwise_layers)
{
    size_t n = 80 * LANES;
    float *x = floats(n, true), *y = floats(n, false), *dy = floats(n, true);
    float *dx = floats(n, true), *was = floats(n, false);

    drawn = 5 << 20;
    for (size_t i = 0; i < n; i++)
        x[i] *= i % 3 ? 1 : 30;
    x[3] = 0;
    x[4] = -0.0f;
    x[5] = NAN;
    x[6] = INFINITY;
    x[7] = -INFINITY;
    memcpy(was, dx, n * sizeof *dx);
    k->relu(n, x, CPU_ROUND_NOT, y);
    for (int add = 0; add < 2; add++) {
        memcpy(dx, was, n * sizeof *dx);
        k->relu_back(n, y, dy, add, CPU_ROUND_NOT, false, dx);
        for (size_t i = 0; i < n; i++)
            CHECK(dx[i] == (add ? was[i] : 0) + (y[i] > 0 ? dy[i] : 0));
    }
    for (size_t i = 0; i < n; i++)
        CHECK(i == 5 ? isnan(y[i]) : y[i] == (x[i] > 0 ? x[i] : 0));
    k->tanh(n, x, CPU_ROUND_NOT, y);
    for (size_t i = 0; i < n; i++) {
        double want = tanh((double)x[i]);
        if (i == 5)
            CHECK(isnan(y[i]));
        else
            CHECK_NEAR(y[i], want, 4 * EPS * fabs(want));
    }
    for (int add = 0; add < 2; add++) {
        memcpy(dx, was, n * sizeof *dx);
        k->tanh_back(n, y, dy, add, CPU_ROUND_NOT, false, dx);
        for (size_t i = 0; i < n; i++) {
            double want =
                (add ? (double)was[i] : 0) + (double)dy[i] * (1 - (double)y[i] * (double)y[i]);
            if (i != 5)
                CHECK_NEAR(dx[i], want, 8 * EPS);
        }
    }
    k->add(n, dy, was, CPU_ROUND_NOT, dx);
    for (size_t i = 0; i < n; i++)
        CHECK(dx[i] == dy[i] + was[i]);
    k->add_back(n, NULL, CPU_ROUND_NOT, dy, false, dx, false, y);
    CHECK(!memcmp(dx, dy, n * sizeof *dx) && !memcmp(y, dy, n * sizeof *y));
    k->add_back(n, was, CPU_ROUND_NOT, dy, true, dx, true, NULL); /* behind a relu */
    for (size_t i = 0; i < n; i++)
        CHECK(dx[i] == dy[i] + (was[i] > 0 ? dy[i] : 0));
    CHECK(guarded(y, n) && guarded(dx, n));
    free(x);
    free(y);
    free(dy);
    free(dx);
    free(was);
}
