/* cuda/dnn/dnn_bias.cu: y = act(y + bias), 16 bytes a thread. */
#include "cuda/dnn/dnn_bias_args.h"
#include "cuda/kernels/wide.h"

template <typename T> DEV void add_bias(const struct dnn_bias &a)
{
    const int N = wide<T>::N;
    size_t i = dev_index() * N, m = blockIdx.z;
    T *at = (T *)a.y + m * a.y_stride + i;
    float y[N], bias[N];

    if (i >= a.n)
        return;
    wide_load(y, at);
    wide_load(bias, a.bias + m * a.bias_stride + i % (size_t)a.c);
#pragma unroll
    for (int j = 0; j < N; j++)
        y[j] = act_of(a.act, y[j] + bias[j]);
    wide_store(at, y);
}

KERNEL(k_dnn_bias_float, struct dnn_bias, 256)
{
    add_bias<float>(a);
}

KERNEL(k_dnn_bias_bf16, struct dnn_bias, 256)
{
    add_bias<dev_bf16>(a);
}
