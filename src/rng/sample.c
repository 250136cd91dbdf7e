/* Whole arrays of random numbers, a block at a time. Every float operation is rounded and fused as
 * XLA does on a CPU: fmaf stands where XLA fuses, and nothing else may be contracted. The selects
 * are written as masks, since a branch would keep the compiler from using vectors. */
#include "rng/rng_int.h"

#include <math.h>
#include <string.h>

static const float sqrt_2 = 1.41421356237309504880f;

RNG_INLINE float float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

RNG_INLINE uint32_t bits_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* yes where the mask is all ones, no where it is 0 */
RNG_INLINE float pick(uint32_t mask, float yes, float no)
{
    return float_of((bits_of(yes) & mask) | (bits_of(no) & ~mask));
}

/* log(x) for positive normal x: Cephes' logf in the order in which XLA fuses it. */
RNG_INLINE float log_fused(float x)
{
    uint32_t bits = bits_of(x);
    float e = (float)((int32_t)(bits >> 23) - 126);
    float m = float_of((bits & 0x7fffffu) | 0x3f000000u); /* in [0.5, 1) */
    uint32_t small = -(uint32_t)(m < 0.707106781186547524f);
    float m1 = m - 1.0f;
    float t = pick(small, m1 + m, m1);
    float t2, t3, a, b, c, y;

    e = pick(small, e - 1.0f, e);
    t2 = t * t;
    t3 = t2 * t;
    a = fmaf(fmaf(t, 7.0376836292E-2f, -1.1514610310E-1f), t, 1.1676998740E-1f);
    b = fmaf(fmaf(t, -1.2420140846E-1f, 1.4249322787E-1f), t, -1.6668057665E-1f);
    c = fmaf(fmaf(t, 2.0000714765E-1f, -2.4999993993E-1f), t, 3.3333331174E-1f);
    y = fmaf(fmaf(fmaf(a, t3, b), t3, c), t3, -2.12194440e-4f * e);
    return (t - 0.5f * t2) + y + 0.693359375f * e;
}

/* log(1 + y) for y in (-1, 0]: Cephes' log1p near 0, else the logarithm of the sum. */
RNG_INLINE float log1p_fused(float y)
{
    uint32_t near = -(uint32_t)(fabsf(y) < 0.41421356237309504880f);
    float q = y * y, n = 4.5270000862445199635215E-5f, d = 1.0f;

    n = fmaf(n, y, 4.9854102823193375972212E-1f);
    n = fmaf(n, y, 6.5787325942061044846969E0f);
    n = fmaf(n, y, 2.9911919328553073277375E1f);
    n = fmaf(n, y, 6.0949667980987787057556E1f);
    n = fmaf(n, y, 5.7112963590585538103336E1f);
    n = fmaf(n, y, 2.0039553499201281259648E1f);
    d = fmaf(d, y, 1.5062909083469192043167E1f);
    d = fmaf(d, y, 8.3047565967967209469434E1f);
    d = fmaf(d, y, 2.2176239823732856465394E2f);
    d = fmaf(d, y, 3.0909872225312059774938E2f);
    d = fmaf(d, y, 2.1642788614495947685003E2f);
    d = fmaf(d, y, 6.0118660497603843919306E1f);
    return pick(near, y + (-0.5f * q + (y * q) * (n / d)), log_fused(1.0f + y));
}

/* Giles' polynomials for erfinv(x) / x, in w = -log(1 - x * x): the middle, where w < 5 ... */
RNG_INLINE float erfinv_middle(float w)
{
    float p = 2.81022636e-08f;

    w -= 2.5f;
    p = fmaf(p, w, 3.43273939e-07f);
    p = fmaf(p, w, -3.5233877e-06f);
    p = fmaf(p, w, -4.39150654e-06f);
    p = fmaf(p, w, 0.00021858087f);
    p = fmaf(p, w, -0.00125372503f);
    p = fmaf(p, w, -0.00417768164f);
    p = fmaf(p, w, 0.246640727f);
    return fmaf(p, w, 1.50140941f);
}

/* ... and the tails: 7 of 1,000 normal numbers. */
static float erfinv_tail(float w)
{
    float p = -0.000200214257f;

    w = sqrtf(w) - 3.0f;
    p = fmaf(p, w, 0.000100950558f);
    p = fmaf(p, w, 0.00134934322f);
    p = fmaf(p, w, -0.00367342844f);
    p = fmaf(p, w, 0.00573950773f);
    p = fmaf(p, w, -0.0076224613f);
    p = fmaf(p, w, 0.00943887047f);
    p = fmaf(p, w, 1.00167406f);
    return fmaf(p, w, 2.83297682f);
}

RNG_INLINE void uniform_block(struct rng_key key, uint64_t first, float lo, float hi,
                              float out[RNG_BLOCK])
{
    uint32_t bits[RNG_BLOCK];
    float span = hi - lo;

    rng_block(key, first, bits);
    for (int j = 0; j < RNG_BLOCK; j++) {
        float r = fmaf(float_of(bits[j] >> 9 | 0x3f800000u) - 1.0f, span, lo);

        out[j] = pick(-(uint32_t)(r > lo), r, lo);
    }
}

/* sqrt(2) * erfinv(uniform(lo, hi)) */
RNG_INLINE void normal_block(struct rng_key key, uint64_t first, float lo, float hi,
                             float out[RNG_BLOCK])
{
    float x[RNG_BLOCK], w[RNG_BLOCK];
    int tails = 0;

    uniform_block(key, first, lo, hi, x);
    for (int j = 0; j < RNG_BLOCK; j++) {
        w[j] = -log1p_fused(-x[j] * x[j]);
        tails |= !(w[j] < 5.0f);
        out[j] = sqrt_2 * (erfinv_middle(w[j]) * x[j]);
    }
    if (!tails)
        return;
    for (int j = 0; j < RNG_BLOCK; j++)
        if (!(w[j] < 5.0f))
            out[j] = sqrt_2 * (erfinv_tail(w[j]) * x[j]);
}

RNG_INLINE void clip_block(float out[RNG_BLOCK])
{
    const float most = 0x1.fffffep+0f; /* the float below 2 */

    for (int j = 0; j < RNG_BLOCK; j++) {
        float z = pick(-(uint32_t)(out[j] > most), most, out[j]);

        out[j] = pick(-(uint32_t)(z < -most), -most, z);
    }
}

/* n numbers of 4 bytes from counter `first` on. */
RNG_INLINE void fill(enum rng_sample what, struct rng_key key, uint64_t first, size_t n, float lo,
                     float hi, void *out)
{
    for (size_t i = 0; i < n; i += RNG_BLOCK) {
        size_t count = n - i < RNG_BLOCK ? n - i : RNG_BLOCK;
        union {
            uint32_t bits[RNG_BLOCK];
            float f[RNG_BLOCK];
        } block;

        if (what == RNG_BITS)
            rng_block(key, first + i, block.bits);
        else if (what == RNG_UNIFORM)
            uniform_block(key, first + i, lo, hi, block.f);
        else
            normal_block(key, first + i, lo, hi, block.f);
        if (what == RNG_TRUNCATED)
            clip_block(block.f);
        memcpy((char *)out + 4 * i, &block, 4 * count);
    }
}

/* Each kind in a copy of the loops of its own. */
RNG_INLINE void fill_kind(enum rng_sample what, struct rng_key key, uint64_t first, size_t n,
                          float lo, float hi, void *out)
{
    switch (what) {
    case RNG_BITS:
        fill(RNG_BITS, key, first, n, lo, hi, out);
        break;
    case RNG_UNIFORM:
        fill(RNG_UNIFORM, key, first, n, lo, hi, out);
        break;
    case RNG_NORMAL:
        fill(RNG_NORMAL, key, first, n, lo, hi, out);
        break;
    case RNG_TRUNCATED:
        fill(RNG_TRUNCATED, key, first, n, lo, hi, out);
        break;
    }
}

void rng_fill_plain(enum rng_sample what, struct rng_key key, uint64_t first, size_t n, float lo,
                    float hi, void *out)
{
    fill_kind(what, key, first, n, lo, hi, out);
}

/* fmaf is one instruction where the machine has it, a slow call of the C library elsewhere. */
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2,fma"))) static void fill_wide(enum rng_sample what, struct rng_key key,
                                                          uint64_t first, size_t n, float lo,
                                                          float hi, void *out)
{
    fill_kind(what, key, first, n, lo, hi, out);
}

static void fill_any(enum rng_sample what, struct rng_key key, uint64_t first, size_t n, float lo,
                     float hi, void *out)
{
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        fill_wide(what, key, first, n, lo, hi, out);
    else
        rng_fill_plain(what, key, first, n, lo, hi, out);
}
#else
#define fill_any rng_fill_plain
#endif

void rng_bits(struct rng_key key, uint64_t first, size_t count, uint32_t *out)
{
    fill_any(RNG_BITS, key, first, count, 0, 0, out);
}

void rng_uniform(struct rng_key key, size_t n, float lo, float hi, float *out)
{
    fill_any(RNG_UNIFORM, key, 0, n, lo, hi, out);
}

void rng_normal(struct rng_key key, size_t n, float *out)
{
    fill_any(RNG_NORMAL, key, 0, n, -0x1.fffffep-1f, 1.0f, out);
}

void rng_truncated_normal(struct rng_key key, size_t n, float *out)
{
    const float edge = 0.95449973610364158f; /* erf(2 / sqrt(2)) */

    fill_any(RNG_TRUNCATED, key, 0, n, -edge, edge, out);
}
