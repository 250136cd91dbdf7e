/* cuda/kernels/products/conv_multiply.h: a warp's share of the product of two slabs in shared memory. */
#ifndef CHORUS_CUDA_KERNELS_PRODUCTS_CONV_MULTIPLY_H
#define CHORUS_CUDA_KERNELS_PRODUCTS_CONV_MULTIPLY_H

#include "cuda/kernels/products/conv_load.h"

#include <string.h>

DEV uint32_t conv_rounded(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, 4);
    return dev_tf32(f);
}

/* Fragments of 16 x 8 (tf32) or 16 x 16 (bf16) of A, rows from m, depth from k. */
template <class C>
DEV void conv_fragment_a(uint32_t f[4], const typename C::T *a, int m, int k, int lane)
{
    int matrix = lane >> 3, at = lane & 7;

    if constexpr (C::A_DEEP) {
        dev_ldmatrix4(f,
                      a + (m + at + (matrix & 1) * 8) * C::LDA + k + (matrix >> 1) * 16 / C::SIZE);
    } else if constexpr (C::MATH == CUDA_BF16) {
        dev_ldmatrix4_t(f, a + (k + at + (matrix >> 1) * 8) * C::LDA + m + (matrix & 1) * 8);
    } else {
        const float *p = a + (k + (lane & 3)) * C::LDA + m + (lane >> 2);

        f[0] = dev_tf32(p[0]);
        f[1] = dev_tf32(p[8]);
        f[2] = dev_tf32(p[4 * C::LDA]);
        f[3] = dev_tf32(p[4 * C::LDA + 8]);
        return;
    }
    if constexpr (C::MATH == CUDA_TF32)
        for (int i = 0; i < 4; i++)
            f[i] = conv_rounded(f[i]);
}

/* Two neighbouring fragments of B, 8 columns each. */
template <class C>
DEV void conv_fragment_b(uint32_t f[4], const typename C::T *b, int n, int k, int lane)
{
    int matrix = lane >> 3, at = lane & 7;

    if constexpr (C::B_DEEP) {
        dev_ldmatrix4(f,
                      b + (n + at + (matrix >> 1) * 8) * C::LDB + k + (matrix & 1) * 16 / C::SIZE);
    } else if constexpr (C::MATH == CUDA_BF16) {
        dev_ldmatrix4_t(f, b + (k + at + (matrix & 1) * 8) * C::LDB + n + (matrix >> 1) * 8);
    } else {
        const float *p = b + (k + (lane & 3)) * C::LDB + n + (lane >> 2);

        f[0] = dev_tf32(p[0]);
        f[1] = dev_tf32(p[4 * C::LDB]);
        f[2] = dev_tf32(p[8]);
        f[3] = dev_tf32(p[4 * C::LDB + 8]);
        return;
    }
    if constexpr (C::MATH == CUDA_TF32)
        for (int i = 0; i < 4; i++)
            f[i] = conv_rounded(f[i]);
}

/* Where result e of a thread's group stands in its warp's tile. */
template <class C> DEV void conv_result_at(int group, int e, int lane, int *row, int *col)
{
    if constexpr (C::MATH != CUDA_FP32) {
        *row = group / (C::WN / 8) * 16 + (lane >> 2) + (e >> 1) * 8;
        *col = group % (C::WN / 8) * 8 + (lane & 3) * 2 + (e & 1);
    } else {
        int m = lane >> 3, n = lane & 7;

        *row = C::A_DEEP ? m + 4 * group : m * 4 + (group & 3) + 16 * (group >> 2);
        *col = C::B_DEEP ? n + 8 * e : n * 4 + e;
    }
}

/* fp32: a thread has rows of 4 results; slabs that lie deep are read four steps of depth at once. */
template <class C>
DEV void conv_multiply_plain(float acc[][4], const float *a, const float *b, int k, int lane)
{
    struct alignas(16) four {
        float v[4];
    };
    int m = lane >> 3, n = lane & 7;
    four fa[C::GROUPS], fb[4];

    if constexpr (C::A_DEEP) {
#pragma unroll
        for (int g = 0; g < C::GROUPS; g++)
            fa[g] = *(const four *)(a + (m + 4 * g) * C::LDA + k);
    }
    if constexpr (C::B_DEEP) {
#pragma unroll
        for (int e = 0; e < 4; e++)
            fb[e] = *(const four *)(b + (n + 8 * e) * C::LDB + k);
    }
#pragma unroll
    for (int s = 0; s < 4; s++) {
        four wa[C::GROUPS / 4], wb;

        if constexpr (!C::A_DEEP) {
#pragma unroll
            for (int g = 0; g < C::GROUPS / 4; g++)
                wa[g] = *(const four *)(a + (k + s) * C::LDA + m * 4 + 16 * g);
        }
        if constexpr (!C::B_DEEP)
            wb = *(const four *)(b + (k + s) * C::LDB + n * 4);
#pragma unroll
        for (int g = 0; g < C::GROUPS; g++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                acc[g][e] += (C::A_DEEP ? fa[g].v[s] : wa[g / 4].v[g & 3]) *
                             (C::B_DEEP ? fb[e].v[s] : wb.v[e]);
    }
}

/* acc += A * B over the slice's part of a slab; wm, wn: where the warp's tile begins. */
template <class C>
DEV void conv_multiply(float acc[][4], const typename C::T *a, const typename C::T *b, int wm,
                       int wn, int slice, int lane)
{
    constexpr int SHARE = C::BK / C::SLICES;

    if constexpr (C::MATH == CUDA_FP32) {
        if constexpr (C::A_DEEP)
            a += wm * C::LDA;
        else
            a += wm;
        if constexpr (C::B_DEEP)
            b += wn * C::LDB;
        else
            b += wn;
#pragma unroll
        for (int k = 0; k < SHARE; k += 4)
            conv_multiply_plain<C>(acc, a, b, slice * SHARE + k, lane);
    } else {
        constexpr int STEP = 32 / C::SIZE, MT = C::WM / 16, NT = C::WN / 8;

#pragma unroll
        for (int k = 0; k < SHARE; k += STEP) {
            uint32_t fa[MT][4], fb[NT / 2][4];

#pragma unroll
            for (int m = 0; m < MT; m++)
                conv_fragment_a<C>(fa[m], a, wm + m * 16, slice * SHARE + k, lane);
#pragma unroll
            for (int n = 0; n < NT / 2; n++)
                conv_fragment_b<C>(fb[n], b, wn + n * 16, slice * SHARE + k, lane);
#pragma unroll
            for (int m = 0; m < MT; m++)
#pragma unroll
                for (int n = 0; n < NT; n++)
                    if constexpr (C::MATH == CUDA_BF16)
                        dev_mma_bf16(acc[m * NT + n], fa[m], fb[n / 2] + n % 2 * 2);
                    else
                        dev_mma_tf32(acc[m * NT + n], fa[m], fb[n / 2] + n % 2 * 2);
        }
    }
}

#endif
