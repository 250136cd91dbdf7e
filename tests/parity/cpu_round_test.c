/* What kernels of bf16 round on their way, each instruction set that this machine has: the bytes are those of the
 * same kernel without rounding and round_bf16 in front of it and behind. */
#include "cpu/cpu_int.h"
#include "base/mem.h"
#include "rng/rng.h"
#include "tests/test.h"

#define PIXELS 37
#define MOST   (PIXELS * CPU_LANES)

static const struct cpu_kernels *k; /* those at hand */
static size_t n;                    /* floats of their channel */
static float x[MOST] __attribute__((aligned(64))), y[MOST] __attribute__((aligned(64)));
static float dy[MOST] __attribute__((aligned(64))), dx[MOST] __attribute__((aligned(64)));
/* what the rounding kernel makes of the same */
static float xr[MOST] __attribute__((aligned(64))), yr[MOST] __attribute__((aligned(64)));
static float dyr[MOST] __attribute__((aligned(64))), dxr[MOST] __attribute__((aligned(64)));

static void fill(float *to, unsigned key)
{
    for (size_t i = 0; i < MOST; i++)
        to[i] = (float)(int32_t)rng_bits_at(rng_key(key), i) * 0x1p-30f;
}

/* Numbers between those of bf16, and a few that are odd ones. */
static void begin(void)
{
    n = (size_t)PIXELS * (size_t)k->lanes;
    fill(x, 1);
    fill(y, 2);
    fill(dy, 3);
    fill(dx, 4);
    x[3] = 0, x[4] = -0.0f, x[5] = INFINITY, x[6] = NAN, x[7] = 0x1.fffffep127f;
    dy[3] = -INFINITY, dy[4] = NAN;
    memcpy(xr, x, sizeof x);
    memcpy(yr, y, sizeof y);
    memcpy(dyr, dy, sizeof dy);
    memcpy(dxr, dx, sizeof dx);
}

static bool same(const float *a, const float *b)
{
    return !memcmp(a, b, MOST * sizeof *a);
}

static void round_all(float *p)
{
    k->round_bf16(n, p, p);
}

static void check_points(void)
{
    for (int both = 0; both < 2; both++) {
        begin();
        round_all(x);
        (both ? k->relu : k->tanh)(n, x, CPU_ROUND_NOT, y);
        round_all(y);
        (both ? k->relu : k->tanh)(n, xr, k->rounding, yr);
        CHECK(same(y, yr));
        (both ? k->add_relu : k->add)(n, x, dy, CPU_ROUND_NOT, y);
        round_all(y);
        (both ? k->add_relu : k->add)(n, x, dy, k->rounding, yr);
        CHECK(same(y, yr));
    }
    for (int how = 0; how < 8; how++) {
        bool relu = how & 1, add = how & 2, below = how & 4;
        begin();
        round_all(dy);
        (relu ? k->relu_back : k->tanh_back)(n, y, dy, add, CPU_ROUND_NOT, false, dx);
        if (below)
            round_all(dx);
        (relu ? k->relu_back : k->tanh_back)(n, y, dyr, add, k->rounding, below, dxr);
        CHECK(same(dx, dxr));
    }
    begin();
    round_all(dy);
    k->add_back(n, y, CPU_ROUND_NOT, dy, true, dx, false, x);
    k->add_back(n, y, k->rounding, dyr, true, dxr, false, xr);
    CHECK(same(dx, dxr) && same(x, xr) && same(dy, dyr)); /* dy stays rounded: others read it */
}

static void check_norm(struct cpu_norm *c)
{
    double mean[2][CPU_LANES] = {{0}}, m2[2][CPU_LANES] = {{0}};
    float sums[2][2][CPU_LANES] __attribute__((aligned(64))) = {{{0}}};

    begin();
    round_all(x);
    k->moments(PIXELS, CPU_ROUND_NOT, x, mean[0], m2[0]);
    k->moments(PIXELS, k->rounding, xr, mean[1], m2[1]);
    CHECK(same(x, xr) && !memcmp(mean[0], mean[1], sizeof mean[0]));
    CHECK(!memcmp(m2[0], m2[1], sizeof m2[0]));
    k->normalize(PIXELS, c, CPU_ROUND_NOT, x, y);
    round_all(y);
    k->normalize(PIXELS, c, k->rounding, x, yr);
    CHECK(same(y, yr));
    round_all(dy);
    k->norm_sums(PIXELS, c, x, CPU_ROUND_NOT, dy, sums[0][0], sums[0][1]);
    k->norm_sums(PIXELS, c, x, k->rounding, dyr, sums[1][0], sums[1][1]);
    CHECK(same(dy, dyr) && !memcmp(sums[0], sums[1], sizeof sums[0]));
    for (int add = 0; add < 2; add++) {
        memcpy(dxr, dx, sizeof dx);
        k->norm_back(PIXELS, c, k->lanes - 3, x, dy, add, CPU_ROUND_NOT, dx);
        round_all(dx);
        k->norm_back(PIXELS, c, k->lanes - 3, x, dy, add, k->rounding, dxr);
        CHECK(same(dx, dxr));
    }
}

static void check_isa(const char *name, enum spec_precision precision)
{
    setenv("CHORUS_ISA", name, 1);
    k = cpu_kernels_choose(precision);
    unsetenv("CHORUS_ISA");
    if (!k)
        SKIP("this machine has it not");
    for (; k; k = k->half) {
        struct cpu_norm c = {0};
        check_points();
        for (int lane = 0; lane < CPU_LANES; lane++) {
            float part = (float)lane / 16;
            c.mean[lane] = part, c.inverse[lane] = 1 + part, c.scale[lane] = 0.7f + part;
            c.shift[lane] = 0.1f - part, c.a[lane] = part - 0.3f, c.b[lane] = 0.9f,
            c.c[lane] = part;
        }
        for (int how = 0; how < 4; how++) {
            c.relu = how & 1;
            c.mixed = how & 2;
            check_norm(&c);
        }
    }
}

TEST(avx512bf16)
{
    check_isa("avx512bf16", SPEC_BF16);
}

TEST(avx512)
{
    check_isa("avx512", SPEC_BF16);
}

TEST(avx2)
{
    check_isa("avx2", SPEC_BF16);
}

TEST(base)
{
    check_isa("base", SPEC_BF16);
}
