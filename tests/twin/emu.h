/* tests/twin/emu.h: the kernels' language through g++: every CUDA thread is a fiber (emu.cpp). */
#ifndef CHORUS_TESTS_TWIN_EMU_H
#define CHORUS_TESTS_TWIN_EMU_H

#include "cuda/kernels/kernel.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Never a symbol: files may have functions of the same name. */
#define DEV inline __attribute__((always_inline))

#define KERNEL(NAME, ARGS, THREADS)                                                                \
    static void NAME##_entry(const void *args);                                                    \
    static void NAME##_body(const ARGS &a);                                                        \
    DEV_TABLE const struct dev_kernel NAME;                                                        \
    const struct dev_kernel NAME = {#NAME, (const void *)NAME##_entry, THREADS};                   \
    static void NAME##_entry(const void *args)                                                     \
    {                                                                                              \
        NAME##_body(*(const ARGS *)args);                                                          \
    }                                                                                              \
    static void NAME##_body(const ARGS &a)
#define KERNEL_FEW(NAME, ARGS, THREADS, BLOCKS) KERNEL(NAME, ARGS, THREADS)

struct emu_dim {
    unsigned x, y, z;
};

struct emu_place { /* of the fiber that runs */
    emu_dim thread, block, block_dim, grid;
    unsigned char *shared;
};
extern __thread struct emu_place emu_at __attribute__((tls_model("initial-exec")));

#define threadIdx (emu_at.thread)
#define blockIdx  (emu_at.block)
#define blockDim  (emu_at.block_dim)
#define gridDim   (emu_at.grid)

#define SHARED(T, name) T *name = (T *)emu_at.shared

enum emu_kind {
    EMU_SYNC_WARP,
    EMU_SHFL,
    EMU_ANY,
    EMU_TF32,
    EMU_BF16,
    EMU_LDMATRIX,
    EMU_LDMATRIX_T
};

void emu_sync(void);
void emu_sync_warp(void);
uint64_t emu_shuffle(uint64_t v, int from); /* from: the lane whose v this lane gets */
bool emu_any(bool v);
void emu_mma(enum emu_kind kind, float c[4], const uint32_t a[4], const uint32_t b[2]);
void emu_ldmatrix(enum emu_kind kind, uint32_t r[4], const void *row);
void emu_copy(void *to, const void *from, int bytes, int size);
void emu_commit(void);
void emu_wait(int groups);
void emu_aligned(const void *p, unsigned bytes, const char *what);

DEV size_t dev_index(void)
{
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

DEV void dev_sync(void)
{
    emu_sync();
}

DEV void dev_sync_warp(void)
{
    emu_sync_warp();
}

DEV void dev_fence(void)
{
}

template <typename T> DEV T emu_shuffled(T v, int from)
{
    uint64_t bits = 0;

    static_assert(sizeof v == 4 || sizeof v == 8, "float, int, uint32_t, double");
    memcpy(&bits, &v, sizeof v);
    bits = emu_shuffle(bits, from);
    memcpy(&v, &bits, sizeof v);
    return v;
}

template <typename T> DEV T dev_shfl(T v, int lane)
{
    return emu_shuffled(v, lane & 31);
}

template <typename T> DEV T dev_shfl_xor(T v, int mask)
{
    return emu_shuffled(v, (int)(threadIdx.x & 31) ^ (mask & 31));
}

template <typename T> DEV T dev_shfl_down(T v, unsigned by)
{
    unsigned lane = threadIdx.x & 31;

    return emu_shuffled(v, (int)(lane + by < 32 ? lane + by : lane));
}

DEV bool dev_any(bool v)
{
    return emu_any(v);
}

DEV uint32_t dev_atomic_add(uint32_t *p, uint32_t v)
{
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}

DEV uint32_t dev_atomic_or(uint32_t *p, uint32_t v)
{
    return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
}

DEV void dev_copy16(void *to, const void *from, int bytes)
{
    emu_copy(to, from, bytes, 16);
}

DEV void dev_copy8(void *to, const void *from, int bytes)
{
    emu_copy(to, from, bytes, 8);
}

DEV void dev_copy4(void *to, const void *from, int bytes)
{
    emu_copy(to, from, bytes, 4);
}

DEV void dev_commit(void)
{
    emu_commit();
}

template <int N> DEV void dev_wait(void)
{
    emu_wait(N);
}

DEV uint32_t dev_tf32(float x) /* to nearest, halves away from zero */
{
    uint32_t u;

    memcpy(&u, &x, 4);
    return x != x ? 0x7fffffffu : (u + 0x1000u) & ~0x1fffu;
}

DEV void dev_mma_tf32(float c[4], const uint32_t a[4], const uint32_t b[2])
{
    emu_mma(EMU_TF32, c, a, b);
}

DEV void dev_mma_bf16(float c[4], const uint32_t a[4], const uint32_t b[2])
{
    emu_mma(EMU_BF16, c, a, b);
}

DEV void dev_ldmatrix4(uint32_t r[4], const void *row)
{
    emu_ldmatrix(EMU_LDMATRIX, r, row);
}

DEV void dev_ldmatrix4_t(uint32_t r[4], const void *row)
{
    emu_ldmatrix(EMU_LDMATRIX_T, r, row);
}

struct dev_bf16 {
    uint16_t u;
};

DEV float dev_float(float x)
{
    return x;
}

DEV float dev_float(dev_bf16 x)
{
    uint32_t u = (uint32_t)x.u << 16;
    float f;

    memcpy(&f, &u, 4);
    return f;
}

template <typename T> DEV T dev_to(float x);

template <> DEV float dev_to<float>(float x)
{
    return x;
}

template <> DEV dev_bf16 dev_to<dev_bf16>(float x) /* to nearest, halves to even */
{
    uint32_t u;
    dev_bf16 r;

    memcpy(&u, &x, 4);
    r.u = x != x ? 0x7fffu : (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
    return r;
}

DEV uint32_t dev_pack(float lo, float hi)
{
    return dev_to<dev_bf16>(lo).u | (uint32_t)dev_to<dev_bf16>(hi).u << 16;
}

DEV void dev_load4(float v[4], const float *p)
{
    emu_aligned(p, 16, "dev_load4");
    memcpy(v, p, 16);
}

DEV void dev_store4(float *p, const float v[4])
{
    emu_aligned(p, 16, "dev_store4");
    memcpy(p, v, 16);
}

DEV void dev_load16(uint32_t v[4], const void *p)
{
    emu_aligned(p, 16, "dev_load16");
    memcpy(v, p, 16);
}

DEV void dev_store16(void *p, const uint32_t v[4])
{
    emu_aligned(p, 16, "dev_store16");
    memcpy(p, v, 16);
}

DEV float dev_fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

DEV float dev_mul(float a, float b)
{
    return a * b;
}

DEV float dev_exp(float x)
{
    return expf(x);
}

DEV float dev_log(float x)
{
    return logf(x);
}

DEV float dev_tanh(float x)
{
    return tanhf(x);
}

DEV float dev_sqrt(float x)
{
    return sqrtf(x);
}

DEV float dev_rsqrt(float x)
{
    return (float)(1.0 / sqrt((double)x));
}

DEV float dev_pow(float x, float y)
{
    return powf(x, y);
}

#endif
