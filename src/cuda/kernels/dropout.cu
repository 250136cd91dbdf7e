/* cuda/kernels/dropout.cu: dropout, forwards and backwards: the mask is made anew from keys each time. */
#include "cuda/kernels/dropout_args.h"
#include "cuda/kernels/wide.h"

template <typename T> DEV void dropout(const dropout_args &a)
{
    const int N = wide<T>::N;
    SHARED(uint32_t, step);
    size_t i = dev_index() * N, m = blockIdx.z;
    T *to = (T *)a.to + m * a.to_stride + i;
    float v[N], old[N];

    if (threadIdx.x == 0)
        dev_fold_in(a.key + 2 * m, (uint32_t)a.clock->step, step);
    dev_sync();
    if (i >= a.n)
        return;

    const uint32_t key[2] = {step[0], step[1]};

    wide_load_some(v, (const T *)a.from + m * a.from_stride + i, a.n - i, a.wide);
#pragma unroll
    for (int j = 0; j < N; j++)
        v[j] = dev_bits_at(key, a.first + i + (unsigned)j) >= a.limit ? v[j] / a.keep : 0;
    if (a.add) {
        wide_load_some(old, to, a.n - i, a.wide);
#pragma unroll
        for (int j = 0; j < N; j++)
            v[j] += old[j];
    }
    wide_store_some(to, v, a.n - i, a.wide);
}

KERNEL(k_dropout_float, struct dropout_args, 256)
{
    dropout<float>(a);
}

KERNEL(k_dropout_bf16, struct dropout_args, 256)
{
    dropout<dev_bf16>(a);
}
