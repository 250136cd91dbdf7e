/* cpu/kernels/vector.h: lanes and the registers that hold them; part of kernels.inc. A vector is LANES floats
 * in memory, one pixel of so many images: 16, or 8 where the file that is compiled says so; a register
 * (reg) is what the instruction set computes with, and a vector is REGS of them. The compiler keeps vectors
 * that it must split itself in memory and compares them lane by lane: kernels compute with registers, and
 * go over a vector's in a loop. */
#ifndef CHORUS_CPU_KERNELS_VECTOR_H
#define CHORUS_CPU_KERNELS_VECTOR_H

#include "cpu/cpu_int.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif
#include <math.h>
#include <string.h>

#ifndef LANES
#define LANES CPU_LANES
#endif
#define LINE   16 /* floats of a cache's line */
#define ALWAYS static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 32")

typedef float vec __attribute__((vector_size(LANES * 4), may_alias));

#if defined(__AVX512F__) && LANES == 16
#define REG 16 /* floats of a register */
typedef vec reg;
#elif defined(__AVX2__)
#define REG 8
typedef float reg __attribute__((vector_size(32), may_alias));
#else
#define REG 4
typedef float reg __attribute__((vector_size(16), may_alias));
#endif
#define REGS (LANES / REG)

/* AVX-512, with registers of either width: masks, and twice as many registers. */
#ifdef __AVX512VL__
#define REGISTERS 32
#if REG == 16
#define WIDE(op_) _mm512_##op_
typedef __mmask16 wide_mask;
#else
#define WIDE(op_) _mm256_##op_
typedef __mmask8 wide_mask;
#endif
typedef __typeof__(WIDE(setzero_ps)()) wide_reg;
#else
#define REGISTERS 16
#endif
typedef int32_t regi __attribute__((vector_size(REG * 4), may_alias));
typedef uint32_t regu __attribute__((vector_size(REG * 4), may_alias));
typedef float reg_loose __attribute__((vector_size(REG * 4), aligned(4), may_alias));

ALWAYS vec load(const float *p)
{
    return *(const vec *)p;
}

ALWAYS void store(float *p, vec v)
{
    *(vec *)p = v;
}

ALWAYS vec all(float x)
{
    return x - (vec){0};
}

/* d into memory, or added to what is there. */
ALWAYS void put(float *p, vec d, bool add)
{
    if (add)
        d += load(p);
    store(p, d);
}

ALWAYS reg reg_load(const float *p)
{
    return *(const reg *)p;
}

ALWAYS void reg_store(float *p, reg v)
{
    *(reg *)p = v;
}

ALWAYS reg reg_all(float x)
{
    return x - (reg){0};
}

ALWAYS void reg_put(float *p, reg d, bool add)
{
    if (add)
        d += reg_load(p);
    reg_store(p, d);
}

/* Lane by lane a where the mask is set, else b. */
ALWAYS reg reg_pick(regi mask, reg a, reg b)
{
    return (reg)((mask & (regi)a) | (~mask & (regi)b));
}

/* Without the sign. */
ALWAYS reg reg_size(reg v)
{
    return (reg)((regi)v & 0x7fffffff);
}

/* The lesser one; b where one is no number. */
ALWAYS reg reg_least(reg a, reg b)
{
#if REGISTERS == 32
    return (reg)WIDE(min_ps)((wide_reg)a, (wide_reg)b);
#elif REG == 8
    return (reg)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (reg)_mm_min_ps((__m128)a, (__m128)b);
#else
    return reg_pick(a < b, a, b);
#endif
}

/* What is no number stays none. */
ALWAYS reg reg_relu(reg v)
{
    return reg_pick(v <= 0, (reg){0}, v);
}

/* Of a maximum: what is no number wins, and the earlier one of equals. */
ALWAYS reg reg_larger(reg best, reg v)
{
    return reg_pick((v > best) | (v != v), v, best);
}

/* A bit a lane, of a mask. */
ALWAYS unsigned reg_bits(regi mask)
{
#if REG == 16
    return _mm512_movepi32_mask((__m512i)mask);
#elif REG == 8 && defined(__AVX512VL__)
    return _mm256_movepi32_mask((__m256i)mask);
#elif REG == 8
    return (unsigned)_mm256_movemask_ps((__m256)mask);
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_ps((__m128)mask);
#else
    unsigned bits = 0;
    for (int i = 0; i < REG; i++)
        bits |= (unsigned)(mask[i] & 1) << i;
    return bits;
#endif
}

/* The mask of register r of a vector, from its bits. */
ALWAYS regi reg_mask(unsigned bits, int r)
{
#if REG == 16
    (void)r;
    return (regi)_mm512_movm_epi32((__mmask16)bits);
#elif defined(__AVX512VL__)
    return (regi)_mm256_movm_epi32((__mmask8)(bits >> r * REG));
#else
    static const int32_t bit[8] __attribute__((aligned(32))) = {1, 2, 4, 8, 16, 32, 64, 128};
    regi which = *(const regi *)bit;
    return (((int32_t)(bits >> r * REG) - (regi){0}) & which) == which;
#endif
}

/* v in the lanes whose bit is set, else zero. */
ALWAYS reg reg_let(unsigned bits, int r, reg v)
{
#if REG == 16
    (void)r;
    return (reg)_mm512_maskz_mov_ps((__mmask16)bits, (__m512)v);
#elif defined(__AVX512VL__)
    return (reg)_mm256_maskz_mov_ps((__mmask8)(bits >> r * REG), (__m256)v);
#else
    return (reg)(reg_mask(bits, r) & (regi)v);
#endif
}

/* The mask of register r of a vector whose first n lanes are set. */
ALWAYS regi reg_first(int n, int r)
{
    regi mask;

    for (int i = 0; i < REG; i++)
        mask[i] = r * REG + i < n ? -1 : 0;
    return mask;
}

/* The first n floats (all, or none, where n is beyond), aligned to a float, zeros behind them. */
ALWAYS reg reg_load_some(const float *p, int n)
{
#if REG == 16
    return (reg)_mm512_maskz_loadu_ps((__mmask16)(n < REG ? (1u << n) - 1 : 0xffff), p);
#else
    reg v = {0};

    if (n >= REG)
        return *(const reg_loose *)p;
    if (n > 0)
        memcpy(&v, p, (size_t)n * sizeof *p);
    return v;
#endif
}

/* The first n lanes, fewer than all of them. */
ALWAYS void reg_store_some(float *p, reg v, int n)
{
#if REG == 16
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
#else
    memcpy(p, &v, (size_t)n * sizeof *p);
#endif
}

/* Adds the first n lanes to what is there. */
ALWAYS void reg_add_some(float *p, reg v, int n)
{
#if REG == 16
    __mmask16 mask = (__mmask16)(n < REG ? (1u << n) - 1 : 0xffff);
    _mm512_mask_storeu_ps(p, mask, (__m512)v + _mm512_maskz_loadu_ps(mask, p));
#else
    v += reg_load_some(p, n);
    if (n >= REG)
        *(reg_loose *)p = v;
    else if (n > 0)
        memcpy(p, &v, (size_t)n * sizeof *p);
#endif
}

/* The upper half is added to the lower one, until one is left: always in this order. */
ALWAYS float lanes_sum(vec v)
{
    typedef float eight __attribute__((vector_size(32)));
    typedef float four __attribute__((vector_size(16)));
    typedef int32_t four_i __attribute__((vector_size(16)));
    eight e[LANES / 8];
    four q[2];

    memcpy(e, &v, sizeof e);
    if (LANES == 16)
        e[0] += e[LANES / 8 - 1];
    memcpy(q, e, sizeof q);
    q[0] += q[1];
    q[0] += __builtin_shuffle(q[0], (four_i){2, 3, 2, 3});
    return q[0][0] + q[0][1];
}

/* Four registers' sums over lanes. */
ALWAYS void reg_sums(reg a, reg b, reg c, reg d, float *sums)
{
#if REG >= 8
    __m256 h[4];
#if REG == 16
    union {
        reg all;
        __m256 half[2];
    } u[4] = {{a}, {b}, {c}, {d}};
    UNROLL
    for (int i = 0; i < 4; i++)
        h[i] = u[i].half[0] + u[i].half[1];
#else
    h[0] = (__m256)a, h[1] = (__m256)b, h[2] = (__m256)c, h[3] = (__m256)d;
#endif
    __m256 quads = _mm256_hadd_ps(_mm256_hadd_ps(h[0], h[1]), _mm256_hadd_ps(h[2], h[3]));
    _mm_storeu_ps(sums, _mm256_castps256_ps128(quads) + _mm256_extractf128_ps(quads, 1));
#else
    const reg v[4] = {a, b, c, d};
    UNROLL
    for (int i = 0; i < 4; i++)
        sums[i] = (v[i][0] + v[i][2]) + (v[i][1] + v[i][3]);
#endif
}

/* To the nearest number of bf16, ties to even, as its 32 bits; too large ones become infinite. What
 * is not a number must not lose the bits that say so. */
ALWAYS reg rounded_bf16(reg x)
{
    regu bits = (regu)x;
    regu near = bits + 0x7fffu + (bits >> 16 & 1u);
    regi none = x != x;

    near = ((regu)none & (bits | 0x400000u)) | (~(regu)none & near);
    return (reg)(near & 0xffff0000u);
}

#if REG == 16
/* The same numbers, but what is below all normal ones becomes zero. Not an intrinsic: those want the rest of
 * their function to be for such processors, too. */
ALWAYS reg rounded_bf16_at_once(reg x)
{
    __m256i half;

    __asm__("vcvtneps2bf16 %1, %0" : "=v"(half) : "v"(x));
    return (reg)_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16);
}
#endif

ALWAYS reg reg_rounded(reg x, enum cpu_rounding how)
{
#if REG == 16
    if (how == CPU_ROUND_BF16_AT_ONCE)
        return rounded_bf16_at_once(x);
#endif
    return how == CPU_ROUND_NOT ? x : rounded_bf16(x);
}

/* A call for each way of rounding, so that what it is inlined into has a loop of its own for each. */
#define EACH_ROUNDING(round_, call_)                                                               \
    do {                                                                                           \
        if ((round_) == CPU_ROUND_NOT)                                                             \
            call_(CPU_ROUND_NOT);                                                                  \
        else if (REG < 16 || (round_) == CPU_ROUND_BF16)                                           \
            call_(CPU_ROUND_BF16);                                                                 \
        else                                                                                       \
            call_(CPU_ROUND_BF16_AT_ONCE);                                                         \
    } while (0)

#endif
