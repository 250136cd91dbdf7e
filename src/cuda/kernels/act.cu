/* cuda/kernels/act.cu: activations and residual sums, 16 bytes a thread. */
#include "cuda/kernels/act_args.h"
#include "cuda/kernels/wide.h"

/* y = act(x + x2) */
template <typename T> DEV void forward(const act_args &a)
{
    const int N = wide<T>::N;
    size_t i = dev_index() * N, m = blockIdx.z;
    float x[N], x2[N];

    if (i >= a.n)
        return;
    wide_load_some(x, (const T *)a.x + m * a.x_stride + i, a.n - i, a.wide);
    if (a.x2) {
        wide_load_some(x2, (const T *)a.x2 + m * a.x2_stride + i, a.n - i, a.wide);
#pragma unroll
        for (int j = 0; j < N; j++)
            x[j] += x2[j];
    }
#pragma unroll
    for (int j = 0; j < N; j++)
        x[j] = act_of(a.act, x[j]);
    wide_store_some((T *)a.y + m * a.y_stride + i, x, a.n - i, a.wide);
}

/* dx (+)= dy * act'(y) */
template <typename T> DEV void backward(const act_args &a)
{
    const int N = wide<T>::N;
    size_t i = dev_index() * N, m = blockIdx.z;
    T *to = (T *)a.y + m * a.y_stride + i;
    float y[N], dx[N];

    if (i >= a.n)
        return;
    wide_load_some(dx, (const T *)a.x2 + m * a.x2_stride + i, a.n - i, a.wide);
    if (a.x) {
        wide_load_some(y, (const T *)a.x + m * a.x_stride + i, a.n - i, a.wide);
#pragma unroll
        for (int j = 0; j < N; j++)
            dx[j] = act_back(a.act, y[j], dx[j]);
    }
    if (a.add) {
        wide_load_some(y, to, a.n - i, a.wide);
#pragma unroll
        for (int j = 0; j < N; j++)
            dx[j] += y[j];
    }
    wide_store_some(to, dx, a.n - i, a.wide);
}

KERNEL(k_act_float, struct act_args, 256)
{
    forward<float>(a);
}

KERNEL(k_act_bf16, struct act_args, 256)
{
    forward<dev_bf16>(a);
}

KERNEL(k_act_back_float, struct act_args, 256)
{
    backward<float>(a);
}

KERNEL(k_act_back_bf16, struct act_args, 256)
{
    backward<dev_bf16>(a);
}
