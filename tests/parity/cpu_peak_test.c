/* How near the CPU's kernels come to what the processor can do, each instruction set's that this
 * machine has: convolutions whose arithmetic dominates, by the share of the peak that is measured
 * beside them, and layers by the pixel, AVX2's by AVX-512's. The thread's own time counts, the best of
 * many short turns; what misses its limit is measured twice again. */
#include "cpu/cpu_int.h"
#include "cpu/peak.h"

#include "base/mem.h"
#include "rng/rng.h"
#include "tests/test.h"

#include <time.h>

#define LEAST_SHARE 0.40
#define MOST_RATIO  4.0 /* registers are half as wide: 2 is to be expected */
#define TRIES       12 /* of a layer, until it is fast enough: other work on the machine comes and goes */

/* Of the limit, unless all is tested: where other tests run beside, a core gives less than its clock, and
 * what should lie in its caches lies in memory. */
#define ROUGHLY 0.75

static const struct {
    const struct cpu_kernels *k;
    const char *name;
} isas[] = {
#if defined(__x86_64__)
    {&cpu_kernels_avx512, "avx512"},
    {&cpu_kernels_avx2, "avx2"},
#endif
    {&cpu_kernels_base, "base"},
};
#define ISAS ((int)(sizeof isas / sizeof *isas))

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The shortest turn of what do_ does `many_` times over, in `turns_` turns. */
#define SHORTEST(best_, turns_, many_, do_)                                                        \
    do {                                                                                           \
        (best_) = 1e9;                                                                             \
        for (int turn_ = 0; turn_ < (turns_); turn_++) {                                           \
            double begin_ = seconds();                                                             \
            for (int i_ = 0; i_ < (many_); i_++)                                                   \
                do_;                                                                               \
            double took_ = (seconds() - begin_) / (many_);                                         \
            (best_) = took_ < (best_) ? took_ : (best_);                                           \
        }                                                                                          \
    } while (0)

static float *some(size_t n, uint32_t seed, float range)
{
    float *p = aligned_alloc(64, (n * sizeof *p + 1023) / 64 * 64);

    if (!p)
        abort();
    for (size_t i = 0; i < n; i++)
        p[i] = ((float)(rng_bits_at(rng_key(seed), i) >> 8) / (float)(1 << 23) - 1.0f) * range;
    return p;
}

struct shape {
    int cin, cout, k, stride, side, pool, groups;
};

/* The share of the peak of both ways of a layer, counting each product of the convolution once a pass:
 * forward, the weights' gradient, and the input's where there is one. padded: to keep its size. */
static double share_of(int isa, const struct shape *s, bool padded, double peak)
{
    struct cpu_conv_layer c = {.cin = s->cin,
                               .cout = s->cout,
                               .k = s->k,
                               .stride = s->stride,
                               .in_h = s->side,
                               .in_w = s->side,
                               .relu = true,
                               .pool = s->pool,
                               .max = true};
    const struct cpu_kernels *k = isas[isa].k;
    bool dx = s->cin > 3;
    c.pad_top = c.pad_left = padded ? s->k / 2 : 0;
    c.conv_h = c.conv_w = ((s->side + c.pad_top * 2 - s->k) / s->stride + 1) / s->pool * s->pool;
    const struct cpu_conv_ops *ops =
        k->wino->can(&c) && k->wino->cost(&c, dx) < k->direct->cost(&c, dx) ? k->wino : k->direct;
    if (k->taps->can(&c) && k->taps->cost(&c, dx) < ops->cost(&c, dx))
        ops = k->taps;
    size_t groups = (size_t)s->groups, pixels = (size_t)c.conv_h * (size_t)c.conv_w;
    size_t weights = (size_t)s->k * (size_t)s->k * (size_t)s->cin * (size_t)s->cout;
    size_t ins = groups * (size_t)s->cin * (size_t)s->side * (size_t)s->side * CPU_LANES;
    size_t outs = groups * (size_t)s->cout * pixels * CPU_LANES;
    float *in = some(ins, 1, 1), *dy = some(outs, 2, 1), *w = some(weights, 3, 0.1f);
    float *bias = some((size_t)s->cout, 4, 0.1f), *out = some(outs, 5, 0), *din = some(ins, 6, 0);
    float *dw = some(weights, 7, 0), *db = some((size_t)s->cout, 8, 0);
    float *packed = some(ops->packed(&c, dx), 9, 0);
    float *scratch = some(ops->scratch(&c, s->groups, dx), 10, 0);
    uint16_t *pass = mem_new(outs / CPU_LANES, sizeof *pass);
    double took, flop = 2.0 * (double)(groups * CPU_LANES * pixels) * (double)weights;

    ops->pack(&c, dx, w, packed, 0, 1);
    SHORTEST(took, 5, 1, {
        ops->forward(&c, s->groups, w, packed, bias, in, out, pass, scratch);
        ops->backward(&c, s->groups, packed, in, dy, pass, dx ? din : NULL, false, dw, db, scratch);
    });
    float *all[] = {in, dy, w, bias, out, din, dw, db, packed, scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(pass);
    return flop * (dx ? 3 : 2) / took / peak;
}

/* Odd ones among them: channels that fill no block, strides, wide kernels, pictures of a few pixels or
 * of one, two output channels. */
static const struct shape shapes[] = {
    {3, 16, 3, 1, 32, 1, 2},   {3, 64, 7, 2, 32, 1, 2},   {6, 16, 5, 1, 14, 2, 4},
    {20, 50, 5, 1, 12, 2, 2},  {16, 32, 3, 2, 28, 1, 2},  {17, 33, 7, 3, 29, 1, 2},
    {32, 32, 7, 1, 14, 1, 2},  {64, 64, 3, 1, 14, 1, 2},  {64, 128, 1, 2, 14, 1, 2},
    {96, 80, 1, 1, 7, 1, 4},   {65, 100, 5, 2, 9, 1, 3},  {128, 128, 3, 1, 7, 1, 2},
    {256, 256, 4, 1, 4, 1, 4}, {512, 256, 1, 1, 4, 1, 4}, {256, 512, 3, 2, 4, 1, 8},
    {1, 64, 3, 1, 28, 1, 2},   {2, 64, 3, 1, 28, 1, 2},   {16, 2, 3, 1, 28, 1, 2},
    {64, 4, 3, 1, 14, 1, 4},   {64, 64, 1, 1, 1, 1, 4},   {512, 512, 1, 1, 1, 1, 16},
    {512, 512, 3, 1, 1, 1, 4}, {64, 64, 3, 3, 14, 1, 4},  {16, 32, 3, 3, 28, 1, 2},
    {8, 64, 7, 1, 14, 1, 2},
};

/* Not padded: kernels nearly as large as their pictures. */
static const struct shape bare[] = {
    {256, 256, 7, 1, 7, 1, 4}, {64, 64, 7, 1, 8, 2, 2},   {48, 16, 6, 1, 9, 1, 8},
    {128, 512, 3, 2, 3, 1, 8}, {512, 512, 4, 2, 4, 1, 4}, {64, 64, 7, 1, 10, 1, 1},
    {32, 32, 7, 1, 7, 1, 8},   {16, 120, 5, 1, 5, 1, 8},
};

static void convolutions(const char *name)
{
    double limit = getenv("CHORUS_TEST_ALL") ? LEAST_SHARE : LEAST_SHARE * ROUGHLY;

    for (int isa = 0; isa < ISAS; isa++) {
        double least = 1e9;
        if (strcmp(isas[isa].name, name))
            continue;
        if (cpu_peak_flops_of(name, 0.01) <= 0)
            SKIP("this machine has no such instructions");
        for (size_t i = 0; i < MEM_COUNT(shapes) + MEM_COUNT(bare); i++) {
            bool padded = i < MEM_COUNT(shapes);
            const struct shape *s = padded ? &shapes[i] : &bare[i - MEM_COUNT(shapes)];
            double share = 0;
            for (int try = 0; try < TRIES && share < limit; try++) {
                double now = share_of(isa, s, padded, cpu_peak_flops_of(name, 0.01));
                share = now > share ? now : share;
            }
            if (share < limit)
                TEST_FAILED("%d to %d channels, kernel %d, stride %d, %d x %d%s: %.2f of the peak",
                            s->cin, s->cout, s->k, s->stride, s->side, s->side,
                            padded ? "" : ", not padded", share);
            least = share < least ? share : least;
        }
        printf("  %s: at least %.2f of the peak of %.0f GFLOP/s\n", name, least,
               cpu_peak_flops_of(name, 0.01) * 1e-9);
    }
}

TEST(convolutions_with_avx512)
{
    convolutions("avx512");
}

TEST(convolutions_with_avx2)
{
    convolutions("avx2");
}

TEST(convolutions_with_base)
{
    convolutions("base");
}

#if defined(__x86_64__)
#define PIXELS 64 /* of a layer by the pixel: all of it stays in the first cache */

static const char *const by_pixel[] = {
    "relu",     "relu back",  "tanh",    "tanh back",     "mean pool", "maximum pool",
    "its back", "moments",    "norm",    "norm's sums",   "norm back", "sum",
    "sum back", "keep drops", "dropout", "cross entropy", "sgd",       "momentum",
    "nesterov", "adam",       "adamw",   "to bf16",       "squares",   "threads' sums"};

static double pixel_time(const struct cpu_kernels *k, int which, float *const a[4])
{
    size_t n = (size_t)PIXELS * CPU_LANES;
    struct net_layer pool = {
        .op = NET_MAXPOOL, .k = 2, .stride = 2, .in = {8, 8, 1}, .out = {4, 4, 1}};
    struct net_layer mean = pool, whole = {.in = {8, 8, 1}};
    struct cpu_norm norm = {
        .mean = {0.1f}, .inverse = {1.1f}, .relu = true, .scale = {0.9f}, .a = {1}};
    uint16_t keep[PIXELS], labels[CPU_LANES] = {1, 2, 3};
    uint8_t right[CPU_LANES];
    float each[CPU_LANES];
    double t = 0, x[CPU_LANES], y[CPU_LANES];
    float by[2][CPU_LANES] __attribute__((aligned(64)));
    struct cpu_update u = {.lr = 1e-6f,
                           .scale = 1,
                           .momentum = 0.9f,
                           .b1 = 0.9f,
                           .b2 = 0.99f,
                           .epsilon = 1e-3f,
                           .fix1 = 1,
                           .fix2 = 1};
    volatile double sink = 0;

    mean.op = NET_AVGPOOL;
    for (int i = 0; i < PIXELS; i++)
        keep[i] = (uint16_t)(i * 4711);
#define CASE(which_, do_)                                                                          \
    case which_:                                                                                   \
        SHORTEST(t, 30, 100, do_);                                                                 \
        break
    switch (which) {
        CASE(0, k->relu(n, a[0], CPU_ROUND_NOT, a[1]));
        CASE(1, k->relu_back(n, a[0], a[1], false, CPU_ROUND_NOT, false, a[2]));
        CASE(2, k->tanh(n, a[0], CPU_ROUND_NOT, a[1]));
        CASE(3, k->tanh_back(n, a[0], a[1], false, CPU_ROUND_NOT, false, a[2]));
        CASE(4, k->avgpool(&mean, a[0], a[1]));
        CASE(5, k->maxpool(&pool, a[0], a[1]));
        CASE(6, k->maxpool_back(&pool, a[0], a[1], a[2], a[3]));
        CASE(7, k->moments(PIXELS, CPU_ROUND_NOT, a[0], x, y));
        CASE(8, k->normalize(PIXELS, &norm, CPU_ROUND_NOT, a[0], a[1]));
        CASE(9, k->norm_sums(PIXELS, &norm, a[0], CPU_ROUND_NOT, a[1], by[0], by[1]));
        CASE(10, k->norm_back(PIXELS, &norm, CPU_LANES, a[0], a[1], false, CPU_ROUND_NOT, a[2]));
        CASE(11, k->add_relu(n, a[0], a[1], CPU_ROUND_NOT, a[2]));
        CASE(12, k->add_back(n, a[0], CPU_ROUND_NOT, a[1], false, a[2], false, a[3]));
        CASE(13, k->dropout_mask(rng_key(1), 0, PIXELS, 1u << 31, keep));
        CASE(14, k->dropout(&whole, a[0], keep, 2, false, a[1]));
        CASE(15, k->loss(PIXELS, a[0], labels, CPU_LANES, 0.1f, a[1], each, right));
        CASE(21, k->round_bf16(n, a[0], a[1]));
        CASE(22, sink = k->square(n, a[0]));
        CASE(23, k->add_into(n, a[1], a[0]));
    default: /* the optimizers, whose slots begin anew: they would become tiny */
        u.optimizer = (enum spec_optimizer)(which - 16);
        memset(a[1], 0, n * sizeof *a[1]);
        memset(a[2], 0, n * sizeof *a[2]);
        SHORTEST(t, 30, 100, k->update(&u, a[3], a[1], a[2], a[0], n));
        break;
    }
    (void)sink;
    return t;
}

TEST(avx2_by_the_pixel_near_avx512)
{
    float *a[4];
    double worst = 0;

    if (cpu_peak_flops_of("avx512", 0.001) <= 0)
        SKIP("this machine has no AVX-512");
    for (int i = 0; i < 4; i++)
        a[i] = some((size_t)PIXELS * CPU_LANES, (uint32_t)i, 1);
    for (int which = 0; which < (int)(sizeof by_pixel / sizeof *by_pixel); which++) {
        double ratio = 1e9;
        for (int try = 0; try < TRIES && ratio > MOST_RATIO; try++) {
            double wide = pixel_time(&cpu_kernels_avx512, which, a);
            double now = pixel_time(&cpu_kernels_avx2, which, a) / wide;
            ratio = now < ratio ? now : ratio;
        }
        if (ratio > MOST_RATIO)
            TEST_FAILED("%s: %.1f times as long as AVX-512", by_pixel[which], ratio);
        worst = ratio > worst ? ratio : worst;
    }
    printf("  at most %.1f times as long as AVX-512\n", worst);
    for (int i = 0; i < 4; i++)
        free(a[i]);
}
#endif
