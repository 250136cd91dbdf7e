/* cuda/kernels/pool.cu: pools over windows and over whole images, forwards and backwards. */
#include "cuda/kernels/pool_args.h"
#include "cuda/kernels/wide.h"

struct item {
    size_t image;
    int r, q, c; /* row and column of the cell, first channel */
};

template <int N> DEV bool item_of(const pool_args &a, item &to)
{
    size_t i = dev_index();

    if (i >= a.items)
        return false;

    uint32_t cell = grid_divide((uint32_t)i, &a.by_channels);
    uint32_t row = grid_divide(cell, &a.by_w), image = grid_divide(row, &a.by_h);

    to.c = (int)((uint32_t)i - cell * a.by_channels.by) * N;
    to.q = (int)(cell - row * a.by_w.by);
    to.r = (int)(row - image * a.by_h.by);
    to.image = a.image + image;
    return true;
}

/* Element (r, q, c) of an image of h x w pixels. */
DEV size_t at(const pool_args &a, int h, int w, const item &i, int r, int q)
{
    return ((i.image * h + r) * w + q) * a.c + i.c;
}

/* The window that begins at corner: each channel's first maximum and where it lies; what is not a
 * number wins. UNROLL: as far as registers go. */
template <int UNROLL, int N, typename T>
DEV void maximum(const pool_args &a, const T *corner, float (&best)[N], int (&where)[N])
{
    float v[N];

    wide_load(best, corner);
#pragma unroll
    for (int j = 0; j < N; j++)
        where[j] = 0;
    for (int kr = 0; kr < a.k; kr++)
#pragma unroll UNROLL
        for (int kq = 0; kq < a.k; kq++) {
            wide_load(v, corner + (kr * a.w + kq) * a.c);
#pragma unroll
            for (int j = 0; j < N; j++)
                if (v[j] > best[j] || (dev_nan_is(v[j]) && !dev_nan_is(best[j]))) {
                    best[j] = v[j];
                    where[j] = kr * a.k + kq;
                }
        }
}

/* The first element of window (r, q). */
DEV size_t corner_at(const pool_args &a, const item &i, int r, int q)
{
    return at(a, a.h, a.w, i, r * a.stride, q * a.stride);
}

template <int N, typename T> DEV void maxima(const pool_args &a)
{
    float best[N];
    int where[N];
    item i;

    if (!item_of<N>(a, i))
        return;
    maximum<2>(a, (const T *)a.x + blockIdx.z * a.x_stride + corner_at(a, i, i.r, i.q), best,
               where);
    wide_store((T *)a.y + blockIdx.z * a.y_stride + at(a, a.oh, a.ow, i, i.r, i.q), best);
}

template <int N, typename T> DEV void averages(const pool_args &a)
{
    const float window = (float)a.k * (float)a.k;
    float sum[N], v[N];
    item i;

    if (!item_of<N>(a, i))
        return;

    const T *corner = (const T *)a.x + blockIdx.z * a.x_stride + corner_at(a, i, i.r, i.q);

#pragma unroll
    for (int j = 0; j < N; j++)
        sum[j] = 0;
    for (int kr = 0; kr < a.k; kr++)
        for (int kq = 0; kq < a.k; kq++) {
            wide_load(v, corner + (kr * a.w + kq) * a.c);
#pragma unroll
            for (int j = 0; j < N; j++)
                sum[j] += v[j];
        }
#pragma unroll
    for (int j = 0; j < N; j++)
        sum[j] /= window;
    wide_store((T *)a.y + blockIdx.z * a.y_stride + at(a, a.oh, a.ow, i, i.r, i.q), sum);
}

/* dx of element `to` (+)= d times act'(gate there). */
template <int N, typename T> DEV void put(const pool_args &a, size_t to, float (&d)[N])
{
    T *dx = (T *)a.dx + blockIdx.z * a.dx_stride + to;
    float v[N];

    if (a.gate) {
        wide_load(v, (const T *)a.gate + blockIdx.z * a.gate_stride + to);
#pragma unroll
        for (int j = 0; j < N; j++)
            d[j] = act_back(a.act, v[j], d[j]);
    }
    if (a.add) {
        wide_load(v, dx);
#pragma unroll
        for (int j = 0; j < N; j++)
            d[j] += v[j];
    }
    wide_store(dx, d);
}

/* Windows that do not overlap: each thread one window and the pixels up to the next, and what lies
 * behind the last windows. */
template <int N, typename T, bool MAX> DEV void apart(const pool_args &a)
{
    const float window = (float)a.k * (float)a.k;
    float dy[N], d[N];
    int where[N];
    item i;

    if (!item_of<N>(a, i))
        return;

    const size_t corner = corner_at(a, i, i.r, i.q);
    const int rows = dev_min(a.stride, a.h - i.r * a.stride);
    const int columns = dev_min(a.stride, a.w - i.q * a.stride);
    bool has = i.r < a.oh && i.q < a.ow;

#pragma unroll
    for (int j = 0; j < N; j++) {
        dy[j] = 0;
        where[j] = 0;
    }
    if (has) {
        if (MAX)
            maximum<2>(a, (const T *)a.x + blockIdx.z * a.x_stride + corner, d, where);
        wide_load(dy, (const T *)a.dy + blockIdx.z * a.dy_stride + at(a, a.oh, a.ow, i, i.r, i.q));
#pragma unroll
        for (int j = 0; !MAX && j < N; j++)
            dy[j] /= window;
    }
    for (int kr = 0; kr < rows; kr++)
#pragma unroll 1
        for (int kq = 0; kq < columns; kq++) {
            bool inside = kr < a.k && kq < a.k;

#pragma unroll
            for (int j = 0; j < N; j++)
                d[j] = inside && (!MAX || where[j] == kr * a.k + kq) ? dy[j] : 0;
            put<N, T>(a, corner + (kr * a.w + kq) * a.c, d);
        }
}

/* Windows that overlap: each thread one input, the windows over it row by row. */
template <int N, typename T, bool MAX> DEV void overlap(const pool_args &a)
{
    const float window = (float)a.k * (float)a.k;
    float dy[N], d[N], best[N];
    int where[N];
    item i;

    if (!item_of<N>(a, i))
        return;

    const T *x = (const T *)a.x + (MAX ? blockIdx.z * a.x_stride + corner_at(a, i, 0, 0) : 0);
    const T *from = (const T *)a.dy + blockIdx.z * a.dy_stride + at(a, a.oh, a.ow, i, 0, 0);
    const int top = i.r < a.k ? 0 : (i.r - a.k) / a.stride + 1;
    const int left = i.q < a.k ? 0 : (i.q - a.k) / a.stride + 1;
    const int bottom = dev_min(a.oh, i.r / a.stride + 1), right = dev_min(a.ow, i.q / a.stride + 1);

#pragma unroll
    for (int j = 0; j < N; j++)
        d[j] = 0;
    for (int r = top; r < bottom; r++)
#pragma unroll 1
        for (int q = left; q < right; q++) {
            const int row = r * a.stride, column = q * a.stride;

            wide_load(dy, from + (r * a.ow + q) * a.c);
            if (MAX)
                maximum<N == 1 ? 3 : 1>(a, x + (row * a.w + column) * a.c, best, where);
#pragma unroll
            for (int j = 0; j < N; j++)
                if (!MAX)
                    d[j] += dy[j] / window;
                else if (where[j] == (i.r - row) * a.k + (i.q - column))
                    d[j] += dy[j];
        }
    put<N, T>(a, at(a, a.h, a.w, i, i.r, i.q), d);
}

/* Mean over an image's pixels: an item is an image's channels. */
template <int N, typename T> DEV void mean(const pool_args &a)
{
    const T *x = (const T *)a.x + blockIdx.z * a.x_stride;
    const int pixels = a.h * a.w;
    float sum[N], v[N];
    item i;

    if (!item_of<N>(a, i))
        return;
#pragma unroll
    for (int j = 0; j < N; j++)
        sum[j] = 0;
#pragma unroll 4
    for (int p = 0; p < pixels; p++) {
        wide_load(v, x + at(a, pixels, 1, i, p, 0));
#pragma unroll
        for (int j = 0; j < N; j++)
            sum[j] += v[j];
    }
#pragma unroll
    for (int j = 0; j < N; j++)
        sum[j] /= (float)pixels;
    wide_store((T *)a.y + blockIdx.z * a.y_stride + at(a, 1, 1, i, 0, 0), sum);
}

/* Its gradient to each pixel. */
template <int N, typename T> DEV void spread(const pool_args &a)
{
    const float pixels = (float)(a.h * a.w);
    float d[N];
    item i;

    if (!item_of<N>(a, i))
        return;
    wide_load(d, (const T *)a.dy + blockIdx.z * a.dy_stride + at(a, 1, 1, i, 0, 0));
#pragma unroll
    for (int j = 0; j < N; j++)
        d[j] /= pixels;
    put<N, T>(a, at(a, a.h, a.w, i, i.r, i.q), d);
}

template <int N, typename T> DEV void max_apart(const pool_args &a)
{
    apart<N, T, true>(a);
}

template <int N, typename T> DEV void average_apart(const pool_args &a)
{
    apart<N, T, false>(a);
}

template <int N, typename T> DEV void max_overlap(const pool_args &a)
{
    overlap<N, T, true>(a);
}

template <int N, typename T> DEV void average_overlap(const pool_args &a)
{
    overlap<N, T, false>(a);
}

#define OF(NAME, FUNCTION)                                                                         \
    KERNEL(k_pool_##NAME##_float, struct pool_args, 256)                                           \
    {                                                                                              \
        FUNCTION<1, float>(a);                                                                     \
    }                                                                                              \
    KERNEL(k_pool_##NAME##_float4, struct pool_args, 256)                                          \
    {                                                                                              \
        FUNCTION<4, float>(a);                                                                     \
    }                                                                                              \
    KERNEL(k_pool_##NAME##_bf16, struct pool_args, 256)                                            \
    {                                                                                              \
        FUNCTION<1, dev_bf16>(a);                                                                  \
    }                                                                                              \
    KERNEL(k_pool_##NAME##_bf16x8, struct pool_args, 256)                                          \
    {                                                                                              \
        FUNCTION<8, dev_bf16>(a);                                                                  \
    }
OF(max, maxima)
OF(average, averages)
OF(max_apart, max_apart)
OF(average_apart, average_apart)
OF(max_overlap, max_overlap)
OF(average_overlap, average_overlap)
OF(mean, mean)
OF(spread, spread)
