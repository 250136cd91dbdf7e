/* cuda/kernels/dev_ptx.h: the kernels' language through nvcc: thin wrappers of PTX. */
#ifndef CHORUS_CUDA_KERNELS_DEV_PTX_H
#define CHORUS_CUDA_KERNELS_DEV_PTX_H

#define DEV __device__ __forceinline__

#define KERNEL_BOUND(NAME, ARGS, THREADS, ...)                                                     \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__)                                      \
        NAME##_entry(const __grid_constant__ ARGS a);                                              \
    DEV_TABLE const struct dev_kernel NAME;                                                        \
    const struct dev_kernel NAME = {#NAME, (const void *)NAME##_entry, THREADS};                   \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__)                                      \
        NAME##_entry(const __grid_constant__ ARGS a)
#define KERNEL(NAME, ARGS, THREADS)             KERNEL_BOUND(NAME, ARGS, THREADS, THREADS)
#define KERNEL_FEW(NAME, ARGS, THREADS, BLOCKS) KERNEL_BOUND(NAME, ARGS, THREADS, THREADS, BLOCKS)

/* All kernels' shared memory is this one array; its type is the strictest alignment. */
extern __shared__ __align__(128) unsigned char dev_shared_bytes[];
#define SHARED(T, name) T *name = (T *)dev_shared_bytes

DEV size_t dev_index(void)
{
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

DEV void dev_sync(void)
{
    __syncthreads();
}

DEV void dev_sync_warp(void)
{
    __syncwarp();
}

DEV void dev_fence(void)
{
    __threadfence();
}

template <typename T> DEV T dev_shfl(T v, int lane)
{
    return __shfl_sync(0xffffffffu, v, lane);
}

template <typename T> DEV T dev_shfl_xor(T v, int mask)
{
    return __shfl_xor_sync(0xffffffffu, v, mask);
}

template <typename T> DEV T dev_shfl_down(T v, unsigned by)
{
    return __shfl_down_sync(0xffffffffu, v, by);
}

DEV bool dev_any(bool v)
{
    return __any_sync(0xffffffffu, v) != 0;
}

DEV uint32_t dev_atomic_add(uint32_t *p, uint32_t v)
{
    return atomicAdd(p, v);
}

DEV uint32_t dev_atomic_or(uint32_t *p, uint32_t v)
{
    return atomicOr(p, v);
}

DEV uint32_t dev_shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

DEV void dev_copy16(void *to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dev_shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes)
                 : "memory");
}

DEV void dev_copy8(void *to, const void *from, int bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(dev_shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes)
                 : "memory");
}

DEV void dev_copy4(void *to, const void *from, int bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(dev_shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes)
                 : "memory");
}

DEV void dev_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int N> DEV void dev_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

DEV uint32_t dev_tf32(float x)
{
    uint32_t r;

    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
}

DEV void dev_mma_tf32(float c[4], const uint32_t a[4], const uint32_t b[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

DEV void dev_mma_bf16(float c[4], const uint32_t a[4], const uint32_t b[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

DEV void dev_ldmatrix4(uint32_t r[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(dev_shared_address(row))
                 : "memory");
}

DEV void dev_ldmatrix4_t(uint32_t r[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(dev_shared_address(row))
                 : "memory");
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
    return __uint_as_float((uint32_t)x.u << 16);
}

template <typename T> DEV T dev_to(float x);

template <> DEV float dev_to<float>(float x)
{
    return x;
}

template <> DEV dev_bf16 dev_to<dev_bf16>(float x)
{
    dev_bf16 r;

    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.u) : "f"(x));
    return r;
}

DEV uint32_t dev_pack(float lo, float hi)
{
    uint32_t r;

    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
    return r;
}

DEV void dev_load4(float v[4], const float *p)
{
    const float4 q = *(const float4 *)p;

    v[0] = q.x;
    v[1] = q.y;
    v[2] = q.z;
    v[3] = q.w;
}

DEV void dev_store4(float *p, const float v[4])
{
    *(float4 *)p = make_float4(v[0], v[1], v[2], v[3]);
}

DEV void dev_load16(uint32_t v[4], const void *p)
{
    const uint4 q = *(const uint4 *)p;

    v[0] = q.x;
    v[1] = q.y;
    v[2] = q.z;
    v[3] = q.w;
}

DEV void dev_store16(void *p, const uint32_t v[4])
{
    *(uint4 *)p = make_uint4(v[0], v[1], v[2], v[3]);
}

DEV float dev_fma(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}

DEV float dev_mul(float a, float b)
{
    return __fmul_rn(a, b);
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
    return __fsqrt_rn(x);
}

DEV float dev_rsqrt(float x)
{
    return __frsqrt_rn(x);
}

DEV float dev_pow(float x, float y)
{
    return powf(x, y);
}

#endif
