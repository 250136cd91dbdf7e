/* cuda/kernels/wide.h: for kernels: several neighbouring elements as one load, activations, and division by
 * what a layer's shape says. */
#ifndef CHORUS_CUDA_KERNELS_WIDE_H
#define CHORUS_CUDA_KERNELS_WIDE_H

#include "cuda/kernels/dev.h"
#include "cuda/kernels/grid.h"

template <typename T, int N> struct alignas(sizeof(T) * N) wide_of {
    T at[N];
};

/* Elements in 16 bytes. */
template <typename T> struct wide {
    enum { N = 16 / sizeof(T) };
};

/* p: aligned to its N elements. */
template <int N, typename T> DEV void wide_load(float (&v)[N], const T *p)
{
    const wide_of<T, N> w = *(const wide_of<T, N> *)p;

#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = dev_float(w.at[i]);
}

template <int N, typename T> DEV void wide_store(T *p, const float (&v)[N])
{
    wide_of<T, N> w;

#pragma unroll
    for (int i = 0; i < N; i++)
        w.at[i] = dev_to<T>(v[i]);
    *(wide_of<T, N> *)p = w;
}

/* The same where only `left` elements may be there, or p is not aligned; the others are 0. */
template <int N, typename T>
DEV void wide_load_some(float (&v)[N], const T *p, size_t left, bool aligned)
{
    if (aligned && left >= N) {
        wide_load(v, p);
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = (size_t)i < left ? dev_float(p[i]) : 0;
}

template <int N, typename T>
DEV void wide_store_some(T *p, const float (&v)[N], size_t left, bool aligned)
{
    if (aligned && left >= N) {
        wide_store(p, v);
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        if ((size_t)i < left)
            p[i] = dev_to<T>(v[i]);
}

/* A value that is not a number stays one. */
DEV float act_of(int act, float x)
{
    if (act == CUDA_RELU)
        return x < 0 ? 0 : x;
    return act == CUDA_TANH ? dev_tanh(x) : x;
}

/* dy times the activation's derivative where it gave out y. */
DEV float act_back(int act, float y, float dy)
{
    if (act == CUDA_RELU)
        return y > 0 ? dy : 0;
    return act == CUDA_TANH ? dev_mul(dy, 1 - dev_mul(y, y)) : dy;
}

/* n / d->by, n below 2^31. */
DEV uint32_t grid_divide(uint32_t n, const struct grid_divisor *d)
{
    return d->by == 1 ? n : (uint32_t)((uint64_t)n * d->factor >> 32) >> d->shift;
}

#endif
