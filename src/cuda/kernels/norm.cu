/* cuda/kernels/norm.cu: batch norm. Sums over pixels are taken by each thread in fp32 over at most a few
 * dozen rows, about a value of its own, and from there on in double and in a fixed order: one pass
 * over x is then as exact as taking the mean first. */
#include "cuda/kernels/norm_args.h"
#include "cuda/kernels/wide.h"

#define EPSILON 1e-5f

struct pair {
    double a, b;
};

/* Where a thread stands in its group's matrix. */
struct stand {
    size_t first, end; /* rows of this block */
    unsigned lane;
    int channel;
    bool works;
};

template <int N> DEV stand stand_of(const norm_args &a)
{
    unsigned part = blockIdx.x / a.tiles, tile = blockIdx.x % a.tiles;
    stand s;

    s.first = part * a.part_rows;
    s.end = s.first + a.part_rows < a.rows ? s.first + a.part_rows : a.rows;
    s.lane = threadIdx.x / a.across;
    s.channel = (int)((tile * a.across + threadIdx.x % a.across) * N);
    s.works = s.lane < a.lanes && s.channel < a.c;
    return s;
}

/* Channel `channel` of row r of this block's group. */
DEV size_t row_at(const norm_args &a, size_t r, int channel)
{
    return (blockIdx.y * a.rows + r) * (size_t)a.c + (size_t)channel;
}

/* How many of the block's rows a lane has. */
DEV unsigned rows_of(const norm_args &a, const stand &s, unsigned lane)
{
    unsigned rows = (unsigned)(s.end - s.first);

    return lane < rows ? (rows - lane + a.lanes - 1) / a.lanes : 0;
}

/* N channels of something that is one value a channel. */
template <int N> DEV void channels(float (&v)[N], const float *p, size_t stride, size_t group)
{
    p += blockIdx.z * stride + blockIdx.y * group;
#pragma unroll
    for (int j = 0; j < N; j++)
        v[j] = p[j];
}

/* ---- sums over a part's rows ---- */

/* What a thread gathers of each channel in its rows: up to three floats. */
enum { MOMENTS, SUM, SQUARES, PRODUCTS };

template <int MODE> struct gathers {
    enum { N = MODE == MOMENTS ? 3 : MODE == PRODUCTS ? 2 : 1 };
};

/* The sums of the rows that this thread has, the first of which is s.first + s.lane. */
template <int MODE, int N, typename T>
DEV void gather(const norm_args &a, const stand &s, float (&got)[gathers<MODE>::N][N])
{
    const size_t first = row_at(a, s.first + s.lane, s.channel), step = (size_t)a.lanes * a.c;
    const unsigned rows = rows_of(a, s, s.lane);
    const T *x = (const T *)a.x + blockIdx.z * a.x_stride + first;
    const T *dy = MODE == PRODUCTS ? (const T *)a.dy + blockIdx.z * a.dy_stride + first : nullptr;
    float about[N], v[N], d[N];

    if (MODE == SQUARES || MODE == PRODUCTS)
        channels(about, a.mean + s.channel, a.mean_stride, a.group_stride);
    if (MODE == MOMENTS) {
        wide_load(about, x);
#pragma unroll
        for (int j = 0; j < N; j++)
            got[gathers<MODE>::N - 1][j] = about[j];
    }
#pragma unroll 4
    for (unsigned i = 0; i < rows; i++) {
        wide_load(v, x + i * step);
        if (MODE == PRODUCTS)
            wide_load(d, dy + i * step);
#pragma unroll
        for (int j = 0; j < N; j++) {
            if (MODE == SUM) {
                got[0][j] += v[j];
            } else if (MODE == SQUARES) {
                got[0][j] += (v[j] - about[j]) * (v[j] - about[j]);
            } else if (MODE == PRODUCTS) {
                got[0][j] += d[j] * (v[j] - about[j]);
                got[1][j] += d[j];
            } else {
                got[0][j] += v[j] - about[j];
                got[1][j] += (v[j] - about[j]) * (v[j] - about[j]);
            }
        }
    }
}

/* Adds what lane l gathered of a channel; moments about `about`. at: its floats, `apart` apart. */
template <int MODE>
DEV void merge(pair &sum, const float *at, unsigned apart, double about, double rows)
{
    if (MODE == MOMENTS) {
        double d = (double)at[2 * apart] - about, s = (double)at[0];

        sum.a += s + rows * d;
        sum.b += (double)at[apart] + d * (2 * s + rows * d);
    } else {
        sum.a += (double)at[0];
        if (MODE == PRODUCTS)
            sum.b += (double)at[apart];
    }
}

template <int MODE, int N, typename T> DEV void sums(const norm_args &a)
{
    SHARED(float, got);
    const unsigned C = a.across * N,
                   apart = a.lanes * C; /* channels of the tile; floats of a kind */
    const unsigned width = C < NORM_THREADS ? C : NORM_THREADS, segments = NORM_THREADS / width;
    const unsigned segment = threadIdx.x / width;
    const stand s = stand_of<N>(a);
    const unsigned rows = (unsigned)(s.end - s.first);
    pair *pairs = (pair *)(got + (gathers<MODE>::N * apart + 3) / 4 * 4);
    float mine[gathers<MODE>::N][N];

#pragma unroll
    for (int k = 0; k < gathers<MODE>::N; k++)
#pragma unroll
        for (int j = 0; j < N; j++)
            mine[k][j] = 0;
    if (s.works && s.lane < rows)
        gather<MODE, N, T>(a, s, mine);
    if (s.lane < a.lanes) {
#pragma unroll
        for (int k = 0; k < gathers<MODE>::N; k++)
#pragma unroll
            for (int j = 0; j < N; j++)
                got[k * apart + threadIdx.x * N + j] = mine[k][j];
    }
    dev_sync();

    /* Each channel's lanes in `segments` shares, then these in order. */
    for (unsigned first = 0; first < C; first += width) {
        unsigned in_tile = first + threadIdx.x % width;
        int channel = (int)(blockIdx.x % a.tiles * C + in_tile);
        bool works = segment < segments && in_tile < C && channel < a.c;
        pair sum = {0, 0};
        double about = MODE == MOMENTS && works ? (double)got[2 * apart + in_tile] : 0;

        for (unsigned lane = segment; works && lane < a.lanes && lane < rows; lane += segments)
            merge<MODE>(sum, got + lane * C + in_tile, apart, about, (double)rows_of(a, s, lane));
        if (segments > 1) {
            pairs[threadIdx.x] = sum;
            dev_sync();
            for (unsigned i = 1; works && segment == 0 && i < segments; i++) {
                sum.a += pairs[i * width + threadIdx.x].a;
                sum.b += pairs[i * width + threadIdx.x].b;
            }
        }
        if (works && segment == 0) {
            size_t part = blockIdx.x / a.tiles, group = blockIdx.z * gridDim.y + blockIdx.y;

            if (MODE == MOMENTS) {
                sum.b -= sum.a * sum.a / rows;
                sum.a += rows * about;
            }
            ((pair *)a.scratch)[(group * a.parts + part) * a.c + channel] = sum;
        }
    }
}

/* ---- from parts to the whole: in 64 shares, eight of a warp as a tree, then the warps in order ---- */

#define SHARES (NORM_THREADS / NORM_CHANNELS)

DEV double over_warp(double v)
{
    for (int by = NORM_CHANNELS; by < 32; by *= 2)
        v += dev_shfl_xor(v, by);
    return v;
}

struct trio {
    double total, other, off;
};

/* Of one channel: sums of the parts' two doubles; of moments the squares about `about` instead of
 * those about each part's mean, and what the values are off it. */
template <int MODE> DEV trio share_of(const norm_args &a, const pair *from, double about)
{
    trio t = {0, 0, 0};

#pragma unroll 8
    for (unsigned i = threadIdx.x / NORM_CHANNELS; i < a.parts; i += SHARES) {
        const pair p = from[(size_t)i * a.c];

        t.total += p.a;
        t.other += p.b;
        if (MODE == MOMENTS) {
            size_t left = a.rows - i * a.part_rows;
            double rows = (double)(left < a.part_rows ? left : a.part_rows);
            double d = p.a - rows * about;

            t.off += d;
            t.other += d * d / rows;
        }
    }
    return t;
}

template <int MODE> DEV void end(const norm_args &a)
{
    SHARED(trio, warps);
    const int channel = (int)(blockIdx.x * NORM_CHANNELS + threadIdx.x % NORM_CHANNELS);
    const size_t group = blockIdx.z * gridDim.y + blockIdx.y;
    const pair *from = (const pair *)a.scratch + group * a.parts * a.c + channel;
    double about = 0;
    trio t = {0, 0, 0};

    if (channel < a.c) {
        if (MODE == MOMENTS)
            about =
                (double)(float)(from->a / (double)(a.part_rows < a.rows ? a.part_rows : a.rows));
        t = share_of<MODE>(a, from, about);
    }
    t.total = over_warp(t.total);
    t.other = over_warp(t.other);
    if (MODE == MOMENTS)
        t.off = over_warp(t.off);
    if (threadIdx.x % 32 < NORM_CHANNELS)
        warps[threadIdx.x / 32 * NORM_CHANNELS + threadIdx.x % 32] = t;
    dev_sync();
    if (threadIdx.x >= NORM_CHANNELS || channel >= a.c)
        return;
    for (unsigned i = 1; i < NORM_THREADS / 32; i++) {
        t.total += warps[i * NORM_CHANNELS + threadIdx.x].total;
        t.other += warps[i * NORM_CHANNELS + threadIdx.x].other;
        t.off += warps[i * NORM_CHANNELS + threadIdx.x].off;
    }

    float *out = a.out + blockIdx.z * a.out_stride + blockIdx.y * 2 * a.c + channel;
    float first = (float)t.total, second = (float)t.other;

    if (MODE == MOMENTS) {
        double squares = t.other - t.off * t.off / (double)a.rows;

        first = (float)(t.total / (double)a.rows);
        second = (float)((squares < 0 ? 0 : squares) / (double)a.rows);
    } else if (MODE == PRODUCTS) {
        first /= dev_sqrt(a.var[blockIdx.z * a.var_stride + blockIdx.y * a.group_stride + channel] +
                          EPSILON);
    }
    out[0] = first;
    if (MODE != SUM)
        out[a.c] = second;
    if (MODE != SUM && a.first) {
        a.first[blockIdx.z * a.first_stride + channel] = first * a.factor;
        a.second[blockIdx.z * a.second_stride + channel] = second * a.factor;
    }
}

/* ---- forwards and backwards ---- */

template <int N, typename T> DEV void forward(const norm_args &a)
{
    const stand s = stand_of<N>(a);
    const T *x = (const T *)a.x + blockIdx.z * a.x_stride;
    const T *x2 = a.x2 ? (const T *)a.x2 + blockIdx.z * a.x2_stride : nullptr;
    T *y = (T *)a.y + blockIdx.z * a.y_stride;
    const size_t step = (size_t)a.lanes * a.c;
    const unsigned rows = rows_of(a, s, s.lane);
    size_t at = row_at(a, s.first + s.lane, s.channel);
    float mean[N], factor[N], bias[N], v[N], w[N];

    if (!s.works)
        return;
    channels(mean, a.mean + s.channel, a.mean_stride, a.group_stride);
    channels(v, a.var + s.channel, a.var_stride, a.group_stride);
    channels(factor, a.scale + s.channel, a.scale_stride, 0);
    channels(bias, a.bias + s.channel, a.bias_stride, 0);
#pragma unroll
    for (int j = 0; j < N; j++)
        factor[j] /= dev_sqrt(v[j] + EPSILON);
#pragma unroll 2
    for (unsigned i = 0; i < rows; i++, at += step) {
        wide_load(v, x + at);
        if (x2)
            wide_load(w, x2 + at);
#pragma unroll
        for (int j = 0; j < N; j++) {
            v[j] = (v[j] - mean[j]) * factor[j] + bias[j];
            v[j] = act_of(a.act, x2 ? v[j] + w[j] : v[j]);
        }
        wide_store(y + at, v);
    }
}

template <int N, typename T> DEV void backward(const norm_args &a)
{
    const stand s = stand_of<N>(a);
    const T *x = (const T *)a.x + blockIdx.z * a.x_stride;
    const T *dy = (const T *)a.dy + blockIdx.z * a.dy_stride;
    T *dx = (T *)a.y + blockIdx.z * a.y_stride;
    const size_t step = (size_t)a.lanes * a.c;
    const unsigned rows = rows_of(a, s, s.lane);
    size_t at = row_at(a, s.first + s.lane, s.channel);
    float mean[N], root[N], factor[N], dscale[N], dbias[N], v[N], d[N];

    if (!s.works)
        return;
    channels(mean, a.mean + s.channel, a.mean_stride, a.group_stride);
    channels(root, a.var + s.channel, a.var_stride, a.group_stride);
    channels(factor, a.scale + s.channel, a.scale_stride, 0);
    channels(dscale, a.sums + s.channel, a.sums_stride, 2 * (size_t)a.c);
    channels(dbias, a.sums + a.c + s.channel, a.sums_stride, 2 * (size_t)a.c);
#pragma unroll
    for (int j = 0; j < N; j++) {
        root[j] = 1 / dev_sqrt(root[j] + EPSILON);
        factor[j] *= root[j];
        dscale[j] /= a.count;
        dbias[j] /= a.count;
    }
#pragma unroll 2
    for (unsigned i = 0; i < rows; i++, at += step) {
        wide_load(v, x + at);
        wide_load(d, dy + at);
#pragma unroll
        for (int j = 0; j < N; j++)
            d[j] = factor[j] * (d[j] - dbias[j] - (v[j] - mean[j]) * root[j] * dscale[j]);
        if (a.add) {
            wide_load(v, dx + at);
#pragma unroll
            for (int j = 0; j < N; j++)
                d[j] += v[j];
        }
        wide_store(dx + at, d);
    }
}

template <int N, typename T> DEV void moments(const norm_args &a)
{
    sums<MOMENTS, N, T>(a);
}

template <int N, typename T> DEV void sum(const norm_args &a)
{
    sums<SUM, N, T>(a);
}

template <int N, typename T> DEV void squares(const norm_args &a)
{
    sums<SQUARES, N, T>(a);
}

template <int N, typename T> DEV void products(const norm_args &a)
{
    sums<PRODUCTS, N, T>(a);
}

#define OF(NAME)                                                                                   \
    KERNEL(k_norm_##NAME##_float, struct norm_args, NORM_THREADS)                                  \
    {                                                                                              \
        NAME<1, float>(a);                                                                         \
    }                                                                                              \
    KERNEL(k_norm_##NAME##_float4, struct norm_args, NORM_THREADS)                                 \
    {                                                                                              \
        NAME<4, float>(a);                                                                         \
    }                                                                                              \
    KERNEL(k_norm_##NAME##_bf16, struct norm_args, NORM_THREADS)                                   \
    {                                                                                              \
        NAME<1, dev_bf16>(a);                                                                      \
    }                                                                                              \
    KERNEL(k_norm_##NAME##_bf16x8, struct norm_args, NORM_THREADS)                                 \
    {                                                                                              \
        NAME<8, dev_bf16>(a);                                                                      \
    }
OF(moments)
OF(sum)
OF(squares)
OF(products)
OF(forward)
OF(backward)

KERNEL(k_norm_end_moments, struct norm_args, NORM_THREADS)
{
    end<MOMENTS>(a);
}

KERNEL(k_norm_end_sum, struct norm_args, NORM_THREADS)
{
    end<SUM>(a);
}

KERNEL(k_norm_end_products, struct norm_args, NORM_THREADS)
{
    end<PRODUCTS>(a);
}

DEV float summed(const norm_small_args &a, const float *from, size_t stride, size_t i)
{
    float sum = 0;

    for (int g = 0; g < a.groups; g++)
        sum += from[blockIdx.z * stride + g * a.group_stride + i];
    return sum * a.factor / a.divisor;
}

KERNEL(k_norm_small, struct norm_small_args, 64)
{
    size_t i = dev_index();

    if (i >= (size_t)a.c)
        return;
    a.to[blockIdx.z * a.to_stride + i] = summed(a, a.from, a.from_stride, i);
    if (a.to2)
        a.to2[blockIdx.z * a.to2_stride + i] = summed(a, a.from2, a.from2_stride, i);
}
