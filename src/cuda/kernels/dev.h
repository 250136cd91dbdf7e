/* cuda/kernels/dev.h: the language that kernels are written in: CUDA through nvcc, and plain C++ through g++,
 * where every CUDA thread is a fiber of an emulator (tests/twin/emu.h). A kernel takes one struct by
 * value and has blocks of one dimension:
 *
 *     KERNEL(k_add, struct k_add_args, 256) { size_t i = dev_index(); if (i < a.n) a.y[i] += a.x[i]; }
 *
 * defines k_add, a struct dev_kernel that C code launches through the runtime's table. KERNEL_FEW says
 * besides how many blocks a processor has room for: they may have its registers. Shared memory
 * is dynamic alone: SHARED(float, tile) names what the launch asked for. Barriers must be met by all
 * threads of a block, warp collectives by all 32 of a warp. */
#ifndef CHORUS_CUDA_KERNELS_DEV_H
#define CHORUS_CUDA_KERNELS_DEV_H

#include "cuda/kernels/kernel.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#include "cuda/kernels/dev_ptx.h"
#else
#include "tests/twin/emu.h"
#endif

/* Provided by both:
 *
 *   DEV                              a function of the device
 *   dev_index()                      blockIdx.x * blockDim.x + threadIdx.x as size_t
 *   threadIdx.x blockIdx.{x,y,z} blockDim.x gridDim.{x,y,z}
 *   SHARED(T, name)                  T *name: the block's dynamic shared memory, 128-byte aligned
 *   dev_sync()                       barrier of the block
 *   dev_sync_warp()                  of the warp
 *   dev_shfl(v, lane), dev_shfl_xor(v, mask), dev_shfl_down(v, by)    for float, int, uint32_t, double
 *   dev_any(bool)                    over the warp
 *   dev_copy16(to, from, bytes)      cp.async of 16 bytes into shared memory, the rest zeroed; both
 *                                    aligned to 16; dev_copy8, dev_copy4 for 8, 4 (cp.async.ca)
 *   dev_commit(), dev_wait<N>()      groups of copies
 *   uint32_t dev_tf32(float)         cvt.rna
 *   dev_mma_tf32(float c[4], const uint32_t a[4], const uint32_t b[2])    m16n8k8
 *   dev_mma_bf16(float c[4], const uint32_t a[4], const uint32_t b[2])    m16n8k16
 *   dev_ldmatrix4(uint32_t r[4], const void *row), dev_ldmatrix4_t(...)   of shared memory, 8x8 b16
 *   struct dev_bf16 { uint16_t u; }; float dev_float(dev_bf16 or float); T dev_to<T>(float)
 *   uint32_t dev_pack(float lo, float hi)     two bf16, rounded to nearest even
 *   float dev_exp(float), dev_log, dev_tanh, dev_sqrt, dev_rsqrt, dev_pow: the accurate ones
 *   dev_fma(a, b, c)                 rounded once
 *   dev_mul(a, b)                    rounded by itself, whatever is added to it: for what two kernels
 *                                    must give the same bits of, as nvcc contracts in each as it likes
 *   dev_load4(float v[4], const float *), dev_store4(float *, const float v[4])     16 aligned bytes
 *   dev_load16(uint32_t v[4], const void *), dev_store16(void *, const uint32_t v[4])     likewise
 *   dev_atomic_add(uint32_t *, uint32_t), dev_atomic_or      give what was there before
 *   dev_fence()                      what was written before is seen before what is written after */

DEV bool dev_nan_is(float x)
{
    return x != x;
}

/* Of two numbers of one type; with NaN the first. */
template <typename T> DEV T dev_min(T a, T b)
{
    return b < a ? b : a;
}

template <typename T> DEV T dev_max(T a, T b)
{
    return a < b ? b : a;
}

/* Threefry-2x32 as rng/ has it, bit for bit. */
DEV void dev_threefry(uint32_t k0, uint32_t k1, uint32_t c0, uint32_t c1, uint32_t out[2])
{
    const uint32_t ks[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDAu};
    const int turn[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    uint32_t x = c0 + ks[0], y = c1 + ks[1];

#pragma unroll
    for (int group = 0; group < 5; group++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int r = turn[group & 1][i];

            x += y;
            y = (y << r | y >> (32 - r)) ^ x;
        }
        x += ks[(group + 1) % 3];
        y += ks[(group + 2) % 3] + (uint32_t)group + 1;
    }
    out[0] = x;
    out[1] = y;
}

/* rng_fold_in(key, data) */
DEV void dev_fold_in(const uint32_t key[2], uint32_t data, uint32_t out[2])
{
    dev_threefry(key[0], key[1], 0, data, out);
}

/* rng_bits_at(key, i) */
DEV uint32_t dev_bits_at(const uint32_t key[2], uint64_t i)
{
    uint32_t out[2];

    dev_threefry(key[0], key[1], (uint32_t)(i >> 32), (uint32_t)i, out);
    return out[0] ^ out[1];
}

#endif
