/* cuda/kernels/tail.cu: a network's end as one kernel: the last dense layer of few outputs, the loss, its
 * gradient, and that of what the layer reads. A block has a few images of one unit; the last block of
 * a unit adds up its losses, the last of all counts the units that are not finite. */
#include "cuda/kernels/tail_args.h"
#include "cuda/kernels/update_rule.h"
#include "cuda/kernels/wide.h"

/* A row of the weights; beyond the outputs 0. */
template <typename T> DEV void tail_row(float (&w)[TAIL_MOST], const T *p, const tail_args &a)
{
#pragma unroll
    for (int j = 0; j < TAIL_MOST; j += 2) {
        float two[2] = {0, 0};

        if (j < a.outputs)
            wide_load_some(two, p + j, (size_t)(a.outputs - j), a.pair);
        w[j] = two[0];
        w[j + 1] = two[1];
    }
}

/* Sums of all threads' shares: each thread's in a column, a warp adds up a row. */
DEV void tail_sum(const tail_args &a, float *room, const float (&acc)[TAIL_IMAGES][TAIL_MOST])
{
    const int lane = (int)threadIdx.x % 32, rows = TAIL_IMAGES * a.outputs;
    constexpr int WIDTH = TAIL_THREADS + 4;

#pragma unroll
    for (int k = 0; k < TAIL_IMAGES; k++)
#pragma unroll
        for (int j = 0; j < TAIL_MOST; j++)
            if (j < a.outputs)
                room[(k * a.outputs + j) * WIDTH + (int)threadIdx.x] = acc[k][j];
    dev_sync();
    for (int row = (int)threadIdx.x / 32; row < rows; row += TAIL_THREADS / 32) {
        float *at = room + row * WIDTH, sum = 0;

#pragma unroll
        for (int i = 0; i < TAIL_THREADS; i += 32)
            sum += at[i + lane];
        for (int by = 16; by; by /= 2)
            sum += dev_shfl_xor(sum, by);
        dev_sync_warp();
        if (lane == 0)
            at[0] = sum;
    }
    dev_sync();
}

/* One image by a warp: logits z -> what stands in dz, both shared. */
template <typename T>
DEV tail_image tail_loss(const tail_args &a, const float *z, float *dz, uint32_t label)
{
    const int lane = (int)threadIdx.x % 32;
    float top = z[0], sum = 0, mine;
    int best = 0;

    for (int j = 1; j < a.outputs; j++) {
        top = z[j] > top ? z[j] : top;
        best = z[j] > z[best] ? j : best;
    }
    mine = lane < a.outputs ? dev_exp(z[lane] - top) : 0;
    for (int j = 0; j < a.outputs; j++) /* in the order of the outputs */
        sum += dev_shfl(mine, j);
    if (lane < a.outputs)
        dz[lane] = dev_float(dev_to<T>((mine / sum - (lane == (int)label)) * a.weight_of));
    return {dev_log(sum) - (z[label] - top), best == (int)label};
}

/* The sum of a unit's losses: each thread its own images in order, then the threads of a warp as a
 * tree, then the warps in order. */
DEV void tail_unit(const tail_args &a, const tail_image *of, uint32_t unit, uint32_t units)
{
    SHARED(unsigned char, shared);
    double *loss = (double *)(shared + 64);
    uint32_t *said = (uint32_t *)shared, *right = (uint32_t *)(loss + TAIL_THREADS / 32);
    uint32_t *turn = a.turn + units, *wrong = turn + 1;
    cuda_result *row = a.results + (size_t)a.clock->row * units;
    double sum = 0;
    uint32_t answers = 0;

    for (int i = (int)threadIdx.x; i < a.images; i += TAIL_THREADS) {
        sum += (double)of[i].loss;
        answers += of[i].right;
    }
    for (int by = 16; by; by /= 2) {
        sum += dev_shfl_xor(sum, by);
        answers += dev_shfl_xor(answers, by);
    }
    if (threadIdx.x % 32 == 0) {
        loss[threadIdx.x / 32] = sum;
        right[threadIdx.x / 32] = answers;
    }
    dev_sync();
    if (threadIdx.x == 0) {
        for (int i = 1; i < TAIL_THREADS / 32; i++) {
            sum += loss[i];
            answers += right[i];
        }
        row[unit].loss_sum = sum;
        row[unit].right = answers;
        row[unit].not_finite = !(sum - sum == 0);
        if (!(sum - sum == 0))
            dev_atomic_add(wrong, 1);
    }
    if (turn_is_last(turn, units, said) && threadIdx.x == 0) {
        *a.flag = (float)dev_atomic_add(wrong, 0);
        *wrong = 0;
    }
}

template <typename T> DEV void tail(const tail_args &a)
{
    SHARED(float, room);
    constexpr int WIDTH = TAIL_THREADS + 4;
    const uint32_t units = (uint32_t)a.shards * gridDim.z, shard = blockIdx.x / (uint32_t)a.blocks;
    const size_t m = blockIdx.z;
    const int first = (int)(blockIdx.x % (uint32_t)a.blocks) * TAIL_IMAGES;
    const int count = a.images - first < TAIL_IMAGES ? a.images - first : TAIL_IMAGES;
    const size_t image = shard * (size_t)a.images + (size_t)first;
    const T *x = (const T *)a.x + m * a.x_stride + image * (size_t)a.c;
    const T *weight = (const T *)a.weight + m * a.weight_stride;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    float acc[TAIL_IMAGES][TAIL_MOST] = {}, w[TAIL_MOST];

    const uint16_t *label =
        a.label + (a.clock->batch & 1) * a.label_turn + m * a.label_stride + image;

    if (a.clock->halted)
        return;
    for (int i = (int)threadIdx.x; i < a.c; i += TAIL_THREADS) {
        tail_row(w, weight + (size_t)i * (size_t)a.outputs, a);
#pragma unroll
        for (int k = 0; k < TAIL_IMAGES; k++) {
            float v = k < count ? dev_float(x[(size_t)k * (size_t)a.c + (size_t)i]) : 0;

#pragma unroll
            for (int j = 0; j < TAIL_MOST; j++)
                acc[k][j] += v * w[j];
        }
    }
    tail_sum(a, room, acc);

    /* Each image's logits, then its gradient, stand in its first row. */
    if (warp < count) {
        float *z = room + warp * a.outputs * WIDTH;
        size_t at = (image + (size_t)warp) * (size_t)a.outputs + (size_t)lane;
        float v = 0;
        tail_image t;

        if (lane < a.outputs) {
            T stored = dev_to<T>(z[lane * WIDTH] + (a.bias ? a.bias[m * a.bias_stride + lane] : 0));

            ((T *)a.z)[m * a.z_stride + at] = stored;
            v = dev_float(stored);
        }
        dev_sync_warp();
        if (lane < a.outputs)
            z[lane] = v;
        dev_sync_warp();
        t = tail_loss<T>(a, z, z + 32, label[warp]);
        if (lane == 0)
            a.image[m * (size_t)a.n + image + (size_t)warp] = t;
        if (lane < a.outputs)
            ((T *)a.dz)[m * a.dz_stride + at] = dev_to<T>(z[32 + lane]);
    }
    dev_sync();
    if (a.dx) {
        T *dx = (T *)a.dx + m * a.dx_stride + image * (size_t)a.c;

        for (int i = (int)threadIdx.x; i < a.c; i += TAIL_THREADS) {
            tail_row(w, weight + (size_t)i * (size_t)a.outputs, a);
            for (int k = 0; k < count; k++) {
                const float *dz = room + k * a.outputs * WIDTH + 32;
                size_t at = (size_t)k * (size_t)a.c + (size_t)i;
                float d = 0;

#pragma unroll
                for (int j = 0; j < TAIL_MOST; j++)
                    if (j < a.outputs)
                        d += dz[j] * w[j];
                if (a.gated)
                    d = act_back(a.act, dev_float(x[at]), d);
                dx[at] = dev_to<T>(d);
            }
        }
    }
    dev_sync();
    if (turn_is_last(a.turn + m * (size_t)a.shards + shard, (uint32_t)a.blocks, (uint32_t *)room))
        tail_unit(a, a.image + m * (size_t)a.n + shard * (size_t)a.images,
                  (uint32_t)m * (uint32_t)a.shards + shard, units);
}

KERNEL(k_tail_float, struct tail_args, TAIL_THREADS)
{
    tail<float>(a);
}

KERNEL(k_tail_bf16, struct tail_args, TAIL_THREADS)
{
    tail<dev_bf16>(a);
}
