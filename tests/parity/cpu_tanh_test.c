/* The hyperbolic tangent of every instruction set that this machine has, by the units of the result's
 * last place: a relative limit leaves up to twice as many. */
#include "cpu/cpu_int.h"
#include "tests/test.h"

#include <math.h>

#define MOST  2.5 /* units */
#define STEP  997 /* floats, of which one is looked at */
#define COUNT (16 * CPU_LANES)

static const struct cpu_kernels *k; /* those at hand */
static float x[COUNT] __attribute__((aligned(64))), y[COUNT] __attribute__((aligned(64)));

static float float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static void check_error(void)
{
    double worst = 0;
    float at = 0;

    for (uint32_t bits = bits_of(0x1p-30f); bits < bits_of(10.5f);) {
        for (int i = 0; i < COUNT; i++, bits += STEP)
            x[i] = i % 2 ? -float_of(bits) : float_of(bits);
        k->tanh(COUNT, x, CPU_ROUND_NOT, y);
        for (int i = 0; i < COUNT; i++) {
            double want = tanh((double)x[i]);
            int exponent;
            frexp(want, &exponent);
            double off = fabs((double)y[i] - want) / ldexp(1, exponent - 24);
            if (!(off <= worst)) {
                worst = off;
                at = x[i];
            }
        }
    }
    if (!(worst <= MOST))
        TEST_FAILED("%s of %d lanes: %.3g units at %a", k->name, k->lanes, worst, (double)at);
}

static void check_edges(void)
{
    /* small ones are their own hyperbolic tangent, also those below all normal numbers, and signs stay */
    for (int i = 0; i < COUNT; i++)
        x[i] = i % 2 ? -ldexpf(1, -i / 2) : ldexpf(1, -i / 2);
    x[2] = INFINITY, x[3] = -INFINITY, x[4] = NAN, x[5] = -NAN, x[6] = 0, x[7] = -0.0f;
    x[8] = 3e38f, x[9] = -3e38f;
    k->tanh(COUNT, x, CPU_ROUND_NOT, y);
    for (int i = 30; i < COUNT; i++)
        CHECK(bits_of(y[i]) == bits_of(x[i]));
    CHECK(y[2] == 1 && y[3] == -1 && isnan(y[4]) && isnan(y[5]) && y[8] == 1 && y[9] == -1);
    CHECK(bits_of(y[6]) == 0 && bits_of(y[7]) == bits_of(-0.0f));
}

static void check_isa(const char *name)
{
    setenv("CHORUS_ISA", name, 1);
    k = cpu_kernels_choose(SPEC_FP32);
    unsetenv("CHORUS_ISA");
    if (!k)
        SKIP("this machine has not its instructions");
    for (; k; k = k->half) {
        check_error();
        check_edges();
    }
}

TEST(tanh_on_avx512)
{
    check_isa("avx512");
}

TEST(tanh_on_avx2)
{
    check_isa("avx2");
}

TEST(tanh_on_base)
{
    check_isa("base");
}
