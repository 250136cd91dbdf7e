/* Kernels for the tests of the emulator: right ones, and mistakes to be found. */
#include "tests/unit/cuda/emu_kernels.h"

#include "cuda/kernels/dev.h"

#define SLAB 16

/* c = a b^T: tiles of 64 x 64, four warps of 32 x 32, k in slabs of 16 in two buffers. */
KERNEL(k_gemm_tf32, struct gemm_args, 128)
{
    SHARED(float, shared);
    float *sa = shared, *sb = shared + 2 * 64 * GEMM_STRIDE;
    int t = (int)threadIdx.x, lane = t & 31, w = t >> 5;
    int wm = (w & 1) * 32, wn = (w >> 1) * 32, g = lane >> 2, q = lane & 3;
    int m0 = (int)blockIdx.y * 64, n0 = (int)blockIdx.x * 64;
    int slabs = (a.k + SLAB - 1) / SLAB;
    float acc[2][4][4] = {};

    auto load = [&](int buffer, int k0) {
        for (int i = t; i < 64 * SLAB / 4; i += 128) {
            int row = i / (SLAB / 4), col = i % (SLAB / 4) * 4, k = k0 + col;
            int na = m0 + row < a.m && k < a.k ? 16 : 0, nb = n0 + row < a.n && k < a.k ? 16 : 0;

            dev_copy16(sa + (buffer * 64 + row) * GEMM_STRIDE + col,
                       a.a + (na ? (size_t)(m0 + row) * a.k + k : 0), na);
            dev_copy16(sb + (buffer * 64 + row) * GEMM_STRIDE + col,
                       a.b + (nb ? (size_t)(n0 + row) * a.k + k : 0), nb);
        }
        dev_commit();
    };

    load(0, 0);
    for (int i = 0; i < slabs; i++) {
        const float *pa = sa + (i & 1) * 64 * GEMM_STRIDE, *pb = sb + (i & 1) * 64 * GEMM_STRIDE;

        if (i + 1 < slabs) {
            load((i + 1) & 1, (i + 1) * SLAB);
            if (a.bug != GEMM_WAIT)
                dev_wait<1>();
        } else {
            dev_wait<0>();
        }
        if (a.bug != GEMM_READ)
            dev_sync();
#pragma unroll
        for (int k = 0; k < SLAB; k += 8) {
            uint32_t fa[2][4], fb[4][2];

#pragma unroll
            for (int m = 0; m < 2; m++) {
                const float *p = pa + (wm + m * 16 + g) * GEMM_STRIDE + k + q;

                fa[m][0] = dev_tf32(p[0]) | (a.bug == GEMM_ROUND);
                fa[m][1] = dev_tf32(p[8 * GEMM_STRIDE]);
                fa[m][2] = dev_tf32(p[4]);
                fa[m][3] = dev_tf32(p[8 * GEMM_STRIDE + 4]);
            }
#pragma unroll
            for (int n = 0; n < 4; n++) {
                const float *p = pb + (wn + n * 8 + g) * GEMM_STRIDE + k + q;

                fb[n][0] = dev_tf32(p[0]);
                fb[n][1] = dev_tf32(p[a.bug == GEMM_FRAGMENT ? 3 : 4]);
            }
#pragma unroll
            for (int m = 0; m < 2; m++)
#pragma unroll
                for (int n = 0; n < 4; n++)
                    dev_mma_tf32(acc[m][n], fa[m], fb[n]);
        }
        if (a.bug != GEMM_OVERWRITE)
            dev_sync();
    }
    for (int m = 0; m < 2; m++)
        for (int n = 0; n < 4; n++)
            for (int e = 0; e < 4; e++) {
                int row = m0 + wm + m * 16 + g + (e >> 1) * 8;
                int col = n0 + wn + n * 8 + q * 2 + (e & 1);

                if (row < a.m && col < a.n)
                    a.c[(size_t)row * a.n + col] = acc[m][n][e];
            }
}

/* Both operands through ldmatrix, b turned round; two products of 16 x 8. */
KERNEL(k_half, struct half_args, 32)
{
    SHARED(uint16_t, sa);
    uint16_t *sb = sa + 16 * HALF_STRIDE;
    int lane = (int)threadIdx.x, row = lane & 15, col = (lane >> 4) * 8;
    float c[2][4] = {};
    uint32_t fa[4], fb[4];

    dev_copy16(sa + row * HALF_STRIDE + col, a.a + row * 16 + col, 16);
    dev_copy16(sb + row * HALF_STRIDE + col, a.b + row * 16 + col, 16);
    dev_commit();
    dev_wait<0>();
    dev_sync_warp();
    dev_ldmatrix4(fa, sa + row * HALF_STRIDE + col);
    dev_ldmatrix4_t(fb, sb + row * HALF_STRIDE + col);
    dev_mma_bf16(c[0], fa, fb);
    dev_mma_bf16(c[1], fa, fb + 2);
    for (int n = 0; n < 2; n++)
        for (int e = 0; e < 4; e++)
            a.c[((lane >> 2) + (e >> 1) * 8) * 16 + n * 8 + (lane & 3) * 2 + (e & 1)] = c[n][e];
}

KERNEL(k_warp, struct warp_args, 64)
{
    SHARED(float, shared);
    size_t i = dev_index();
    int lane = (int)threadIdx.x & 31;
    float v;

    dev_copy4(shared + threadIdx.x, a.in + i, 4);
    dev_commit();
    dev_wait<0>();
    v = shared[threadIdx.x];
    a.by_lane[i] = dev_shfl(v, (lane * 7 + 3) & 31);
    a.by_xor[i] = dev_shfl_xor(v, 5);
    a.by_down[i] = dev_shfl_down(v, 9);
    a.wide[i] = dev_shfl_xor((double)v + 1e-12, 16);
    a.any[i] = dev_any(v > 2.5f && lane == 7);
    a.packed[i] = dev_pack(v, -v);
    a.tf32[i] = v;
    *(uint32_t *)&a.tf32[i] = dev_tf32(v);
    a.half[i] = dev_float(dev_to<dev_bf16>(v)) + 0 * dev_float(dev_to<float>(v));
    a.bits[i] = dev_bits_at(a.key, (uint64_t)i << 30);
    if (lane == 0) {
        uint32_t folded[2];

        dev_fold_in(a.key, (uint32_t)i, folded);
        dev_atomic_add(&a.sum[0], folded[0] & 0xffff);
        dev_atomic_or(&a.sum[1], 1u << (i / 32));
        dev_fence();
    }
}

KERNEL(k_math, struct math_args, 32)
{
    size_t i = dev_index();
    float x[4], four[4];
    uint32_t copy[4];

    if (i >= (size_t)a.n)
        return;
    x[0] = a.in[i];
    four[0] = dev_exp(x[0]);
    four[1] = dev_log(x[0]);
    four[2] = dev_tanh(x[0]);
    four[3] = dev_sqrt(x[0]);
    dev_store4(a.out + i * 8, four);
    four[0] = dev_rsqrt(x[0]);
    four[1] = dev_pow(x[0], 1.5f);
    four[2] = dev_fma(x[0], x[0], -1.0f);
    four[3] = dev_mul(x[0], x[0]) - 1.0f;
    four[3] = dev_nan_is(x[0]) ? -1.0f : dev_min(dev_max(four[3], 0.5f), 2.0f);
    dev_store4(a.out + i * 8 + 4, four);
    dev_load16(copy, a.out + i * 8 + 4);
    dev_store16(a.out + i * 8 + 4, copy);
    dev_load4(x, a.out + i * 8);
    dev_store4(a.out + i * 8, x);
}

KERNEL(k_wrong, struct wrong_args, 64)
{
    SHARED(float, shared);
    int t = (int)threadIdx.x, lane = t & 31;
    uint32_t r[4] = {};

    if (a.mistake != WRONG_UNSET)
        shared[t] = (float)t;
    if (a.mistake == WRONG_BEHIND && t == 63)
        shared[WRONG_SHARED / 4] = 1;
    if (a.mistake == WRONG_BARRIER && t == 5)
        return;
    dev_sync();
    if (a.mistake == WRONG_DIVERGED && lane >= 16)
        dev_any(true);
    else if (a.mistake != WRONG_MISSING || t != 40)
        a.out[t] = dev_shfl_xor(shared[63 - t], 1);
    dev_sync();
    shared[t] = (float)t + 100;
    if (a.mistake != WRONG_LANES)
        dev_sync_warp();
    a.out[t] += shared[t ^ 3];
    if (a.mistake == WRONG_COPY)
        dev_copy16(shared + 1 + t % 4, a.out, 16);
    if (a.mistake == WRONG_COPY_BEHIND)
        dev_copy16(shared + WRONG_SHARED / 4, a.out, 16);
    if (a.mistake == WRONG_MATRIX)
        dev_ldmatrix4(r, a.out);
    if (r[0] == 1)
        a.out[t] = 0;
}

KERNEL(k_order, struct order_args, 128)
{
    uint32_t when = 0;

    if ((threadIdx.x & 31) == 0)
        when = dev_atomic_add(a.next, 1);
    dev_sync();
    if ((threadIdx.x & 31) == 0)
        a.warps[blockIdx.x * 4 + threadIdx.x / 32] = when;
    if (threadIdx.x == 0)
        a.blocks[blockIdx.x] = when / 4;
}

KERNEL(k_add, struct add_args, 256)
{
    size_t i = dev_index();

    if (i < (size_t)a.n)
        a.y[i] += a.by;
}
