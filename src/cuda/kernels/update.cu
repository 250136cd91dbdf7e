/* cuda/kernels/update.cu: from the mean gradient to new weights, the norm for clipping, and the clock. */
#include "cuda/kernels/update_rule.h"
#include "cuda/kernels/wide.h"

DEV void update_stats(const update_args &a)
{
    size_t i = ((size_t)blockIdx.x - a.blocks) * blockDim.x + threadIdx.x, m = blockIdx.z;
    float *running = a.running + m * a.running_stride + i;

    if (i < a.stats)
        *running = dev_mul(0.9f, *running) +
                   dev_mul(0.1f, a.batch_stats[m * a.batch_stats_stride + i]);
}

KERNEL(k_update, struct update_args, 256)
{
    SHARED(float, correct);
    const size_t m = blockIdx.z, step = (size_t)a.blocks * blockDim.x * 4;
    const bool slot1 = a.core.rule != UPDATE_SGD, adam = a.core.rule >= UPDATE_ADAM;
    update_rates r;
    float g[4], p[4], s1[4] = {0, 0, 0, 0}, s2[4] = {0, 0, 0, 0};

    if (a.core.clock->halted)
        return;
    if (blockIdx.x >= a.blocks) {
        update_stats(a);
        return;
    }
    r = update_rates_of(a.core, correct);
    if (a.norm) {
        r.norm = a.norm[m];
        r.clip = !(r.norm < a.core.clip);
    }
    for (size_t i = dev_index() * 4; i < a.n; i += step) {
        float *to = a.params + m * a.params_stride + i;
        float *to1 = slot1 ? a.slot1 + m * a.slot1_stride + i : nullptr;
        float *to2 = adam ? a.slot2 + m * a.slot2_stride + i : nullptr;
        size_t left = a.n - i;

        wide_load_some(g, a.gradient + m * a.gradient_stride + i, left, a.wide);
        wide_load_some(p, to, left, a.wide);
        if (slot1)
            wide_load_some(s1, to1, left, a.wide);
        if (adam)
            wide_load_some(s2, to2, left, a.wide);
#pragma unroll
        for (int j = 0; j < 4; j++)
            update_one(a.core, r, g[j], p[j], s1[j], s2[j]);
        wide_store_some(to, p, left, a.wide);
        if (slot1)
            wide_store_some(to1, s1, left, a.wide);
        if (adam)
            wide_store_some(to2, s2, left, a.wide);
        if (a.half)
            wide_store_some((dev_bf16 *)a.half + m * a.half_stride + i, p, left, a.wide);
    }
}

/* Sum of all threads' values: each warp's as a tree, then the warps in order. Thread 0 has it. */
DEV double block_sum(double v, double *warps)
{
    for (int by = 16; by; by /= 2)
        v += dev_shfl_xor(v, by);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = v;
    dev_sync();
    for (unsigned i = 1; threadIdx.x == 0 && i < blockDim.x / 32; i++)
        v += warps[i];
    return v;
}

KERNEL(k_update_norm_parts, struct update_norm_args, 256)
{
    SHARED(double, warps);
    const size_t m = blockIdx.z;
    double sum = 0;

    for (size_t i = dev_index(); i < a.n; i += (size_t)gridDim.x * blockDim.x) {
        double g = (double)a.gradient[m * a.gradient_stride + i];

        sum += g * g;
    }
    sum = block_sum(sum, warps);
    if (threadIdx.x == 0)
        a.parts[m * a.count + blockIdx.x] = sum;
}

KERNEL(k_update_norm, struct update_norm_args, 256)
{
    SHARED(double, warps);
    const size_t m = blockIdx.z;
    double sum = 0;

    for (unsigned i = threadIdx.x; i < a.count; i += blockDim.x)
        sum += a.parts[m * a.count + i];
    sum = block_sum(sum, warps);
    if (threadIdx.x == 0)
        a.norm[m] = (float)sqrt(sum);
}

KERNEL(k_tick, struct tick_args, 32)
{
    if (threadIdx.x == 0)
        tick_clock(a.clock, a.flag);
}

KERNEL(k_halve, struct halve_args, 256)
{
    size_t i = dev_index() * 4, m = blockIdx.z;
    float v[4];

    if (i >= a.n)
        return;
    wide_load_some(v, a.from + m * a.from_stride + i, a.n - i, a.wide);
    wide_store_some((dev_bf16 *)a.to + m * a.to_stride + i, v, a.n - i, a.wide);
}

#define PARTS_LEVELS 20 /* a tree over up to 2^20 parts */

/* Part after part, as a counter counts: level l holds the sum of 2^l neighbours that still waits for
 * the 2^l after them. */
KERNEL(k_mean_parts, struct parts_args, 256)
{
    size_t i = dev_index();
    float level[PARTS_LEVELS], sum = 0;

    if (i >= a.n)
        return;
    for (int j = 0; j < a.parts; j++) {
        bool carry = true;

        sum = a.from[(size_t)j * a.n + i];
#pragma unroll
        for (int k = 0; k < PARTS_LEVELS; k++) {
            if (carry && (j >> k & 1)) {
                sum = level[k] + sum;
            } else if (carry) {
                level[k] = sum;
                carry = false;
            }
        }
    }
    /* What is left: the levels of the bits of `parts`, the last part first. */
    bool begun = false;

#pragma unroll
    for (int k = 0; k < PARTS_LEVELS; k++)
        if (a.parts >> k & 1) {
            sum = begun ? level[k] + sum : level[k];
            begun = true;
        }
    a.to[i] = sum * a.factor;
}
