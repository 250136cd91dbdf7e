/* cuda/kernels/loss.cu: softmax cross-entropy as ref/ref_layers.inc has it, its gradient, and right answers.
 * A block a unit, whose images' losses are summed in double: each thread its own images in order,
 * then the threads of a warp as a tree, then the warps in order. */
#include "cuda/kernels/loss_args.h"
#include "cuda/kernels/wide.h"

#define NOBODY 0x7fffffff

struct outcome {
    double loss;
    uint32_t right;
};

/* One image by one thread: the terms in the order of the outputs. */
template <typename T> DEV float one(const T *z, T *dz, int outputs, int label, float weight)
{
    float top = dev_float(z[0]), sum = 0;

    for (int i = 1; i < outputs; i++)
        top = dev_float(z[i]) > top ? dev_float(z[i]) : top;
    for (int i = 0; i < outputs; i++)
        sum += dev_exp(dev_float(z[i]) - top);

    float loss = dev_log(sum) - (dev_float(z[label]) - top);

    for (int i = 0; i < outputs; i++)
        dz[i] = dev_to<T>((dev_exp(dev_float(z[i]) - top) / sum - (i == label)) * weight);
    return loss;
}

/* The first of the largest. */
template <typename T> DEV int answer(const T *z, int outputs)
{
    int best = 0;

    for (int i = 1; i < outputs; i++)
        if (dev_float(z[i]) > dev_float(z[best]))
            best = i;
    return best;
}

template <typename T>
DEV void by_threads(const loss_args &a, const T *z, T *dz, const uint16_t *label, outcome &to)
{
    for (int j = (int)threadIdx.x; j < a.images; j += LOSS_THREADS) {
        const T *from = z + (size_t)j * a.outputs;

        to.right += answer(from, a.outputs) == label[j];
        to.loss += (double)one(from, dz + (size_t)j * a.outputs, a.outputs, label[j], a.weight);
    }
}

/* The first of the largest, of a warp's: who has none has `at` NOBODY. */
DEV void warp_answer(float &best, int &at)
{
    for (int by = 16; by; by /= 2) {
        float other = dev_shfl_xor(best, by);
        int place = dev_shfl_xor(at, by);

        if (place != NOBODY && (at == NOBODY || other > best || (other == best && place < at))) {
            best = other;
            at = place;
        }
    }
}

template <typename T>
DEV void by_warps(const loss_args &a, const T *z, T *dz, const uint16_t *label, outcome &to)
{
    const int lane = (int)threadIdx.x % 32;

    for (int j = (int)threadIdx.x / 32; j < a.images; j += LOSS_THREADS / 32) {
        const T *from = z + (size_t)j * a.outputs;
        float top = dev_float(from[0]), best = 0, sum = 0;
        int at = NOBODY;

        /* What is not a number is never larger, but wins where it is the first of all. */
        for (int i = lane; i < a.outputs; i += 32) {
            float v = dev_float(from[i]);

            if (v == v && (at == NOBODY || v > best)) {
                best = v;
                at = i;
            }
        }
        warp_answer(best, at);
        if (top == top && at != NOBODY)
            top = best;
        else
            at = 0;
        for (int i = lane; i < a.outputs; i += 32)
            sum += dev_exp(dev_float(from[i]) - top);
        for (int by = 16; by; by /= 2)
            sum += dev_shfl_xor(sum, by);
        if (lane == 0) {
            to.right += at == label[j];
            to.loss += (double)(dev_log(sum) - (dev_float(from[label[j]]) - top));
        }
        dev_sync_warp(); /* dz may be z */
        for (int i = lane; i < a.outputs; i += 32)
            dz[(size_t)j * a.outputs + i] =
                dev_to<T>((dev_exp(dev_float(from[i]) - top) / sum - (i == label[j])) * a.weight);
    }
}

template <typename T, bool FEW> DEV void loss(const loss_args &a)
{
    SHARED(outcome, warps);
    const size_t m = blockIdx.x / a.shards, shard = blockIdx.x % a.shards;
    const size_t first = shard * a.images;
    const T *z = (const T *)a.z + m * a.z_stride + first * a.outputs;
    T *dz = (T *)a.dz + m * a.dz_stride + first * a.outputs;
    const uint16_t *label = a.label + m * a.label_stride + first;
    outcome mine = {0, 0};

    if (a.clock->halted)
        return;
    if (FEW)
        by_threads(a, z, dz, label, mine);
    else
        by_warps(a, z, dz, label, mine);
    for (int by = 16; by; by /= 2) {
        mine.loss += dev_shfl_xor(mine.loss, by);
        mine.right += dev_shfl_xor(mine.right, by);
    }
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = mine;
    dev_sync();
    if (threadIdx.x)
        return;
    for (int i = 1; i < LOSS_THREADS / 32; i++) {
        mine.loss += warps[i].loss;
        mine.right += warps[i].right;
    }

    cuda_result *result = a.results + (size_t)a.clock->row * gridDim.x + blockIdx.x;

    result->loss_sum = mine.loss;
    result->right = mine.right;
    result->not_finite = !(mine.loss - mine.loss == 0);
    if (gridDim.x == 1)
        *a.flag = (float)result->not_finite;
}

KERNEL(k_loss_few_float, struct loss_args, LOSS_THREADS)
{
    loss<float, true>(a);
}

KERNEL(k_loss_few_bf16, struct loss_args, LOSS_THREADS)
{
    loss<dev_bf16, true>(a);
}

KERNEL(k_loss_many_float, struct loss_args, LOSS_THREADS)
{
    loss<float, false>(a);
}

KERNEL(k_loss_many_bf16, struct loss_args, LOSS_THREADS)
{
    loss<dev_bf16, false>(a);
}

KERNEL(k_loss_flag, struct loss_args, 32)
{
    const uint32_t units = (uint32_t)(a.models * a.shards);
    uint32_t wrong = 0;

    if (a.clock->halted)
        return;
    for (uint32_t i = threadIdx.x; i < units; i += 32)
        wrong += a.results[(size_t)a.clock->row * units + i].not_finite;
    for (int by = 16; by; by /= 2)
        wrong += dev_shfl_xor(wrong, by);
    if (threadIdx.x == 0)
        *a.flag = (float)wrong;
}
