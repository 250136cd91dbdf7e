/* cuda/kernels/products/block_gemm.h: a tile of a block's product: as cuda/kernels/products/conv_gemm.h's,
 * but that forward ends with the pool, and that the map's gradient is made as it is read. */
#ifndef CHORUS_CUDA_KERNELS_PRODUCTS_BLOCK_GEMM_H
#define CHORUS_CUDA_KERNELS_PRODUCTS_BLOCK_GEMM_H

#include "cuda/kernels/products/block_load.h"
#include "cuda/kernels/products/conv_gemm.h"

/* ---- forward ---- */

/* The window of a tile's row, and which of its pixels it is. */
DEV uint32_t block_window(const conv_job &j, int row, int *sub)
{
    *sub = row / 8 % 4;
    return j.m0 / 4 + (uint32_t)(row / 32 * 8 + row % 8);
}

template <class C> DEV conv_place block_place_of(const block_args &a, const conv_job &j, int row)
{
    int sub;
    uint32_t window = block_window(j, row, &sub), windows = (uint32_t)(a.ph * a.pw);
    uint32_t image = conv_by(a.conv.by_pixels, window * 4), left = window - image * windows;
    int r = (int)conv_by(a.conv.by_tw, left * 2), q = (int)left - r * a.pw;
    conv_place p;

    p.r = (2 * r + sub / 2) * a.conv.stride - a.conv.pad_top;
    p.q = (2 * q + sub % 2) * a.conv.stride - a.conv.pad_left;
    p.at = ((size_t)image * (size_t)a.conv.h + (size_t)p.r) * (size_t)a.conv.w + (size_t)p.q;
    p.at *= (size_t)a.conv.c;
    if (window * 4 >= j.rows)
        p.r = -(1 << 29);
    return p;
}

/* A thread's results hold, of 32 rows, UNITS windows times WIDE columns. */
template <class C> struct block_result {
    static constexpr bool PLAIN = C::MATH == CUDA_FP32;
    static constexpr int WIDE = PLAIN ? 4 : 2, UNITS = C::GROUPS * 4 / (4 * WIDE);
    static constexpr int IN_ROWS = PLAIN ? 2 : C::WN / 8; /* units of the same 32 rows */
};

/* The group and the element of pixel `sub` of a unit's column. */
template <class C> DEV void block_result_at(int unit, int sub, int column, int *group, int *e)
{
    typedef block_result<C> R;
    int block = unit / R::IN_ROWS, i = unit % R::IN_ROWS;

    if constexpr (R::PLAIN) {
        *group = block * 8 + 2 * sub + i;
        *e = column;
    } else {
        *group = (block * 2 + sub / 2) * (C::WN / 8) + i;
        *e = sub % 2 * 2 + column;
    }
}

/* Bias, activation and pool of one window, as layers of their own would do it. */
template <class C>
DEV float block_pool(const block_args &a, const float v[4], float bias, unsigned *mask)
{
    typedef typename C::T T;
    float y[4], best, sum = 0;
    int where = 0;
    unsigned alive = 0;

#pragma unroll
    for (int s = 0; s < 4; s++) {
        y[s] = dev_float(dev_to<T>(act_of(a.conv.act, v[s] + bias)));
        if (a.conv.act != CUDA_RELU || y[s] > 0)
            alive |= 1u << s;
        sum += y[s];
    }
    best = y[0];
#pragma unroll
    for (int s = 1; s < 4; s++)
        if (y[s] > best || (dev_nan_is(y[s]) && !dev_nan_is(best))) {
            best = y[s];
            where = s;
        }
    *mask = a.max ? alive & 1u << where : alive;
    return a.max ? best : sum / 4;
}

/* v: (WIDE; 4) the four pixels of each column of a unit. */
template <class C>
DEV void block_emit(const block_args &a, const conv_job &j, int wm, int wn, int unit, int lane,
                    const float v[][4])
{
    typedef typename C::T T;
    typedef block_result<C> R;
    int row, col, sub, group, e;

    block_result_at<C>(unit, 0, 0, &group, &e);
    conv_result_at<C>(group, e, lane, &row, &col);

    uint32_t window = block_window(j, row + wm, &sub), n = j.n0 + (uint32_t)(wn + col);
    size_t m = blockIdx.z, at = (size_t)window * a.conv.cols + n;
    T *y = (T *)a.conv.to + m * a.conv.to_stride + at;
    uint8_t *mask = a.mask + m * a.mask_stride + at;

    if (window * 4 >= j.rows)
        return;
#pragma unroll
    for (int i = 0; i < R::WIDE; i += 2) {
        float out[2];
        unsigned bits[2];

        if (n + (uint32_t)i >= a.conv.cols) /* which are an even number */
            return;
#pragma unroll
        for (int k = 0; k < 2; k++) {
            float bias =
                a.conv.bias ? a.conv.bias[m * a.conv.bias_stride + n + (uint32_t)(i + k)] : 0;

            out[k] = block_pool<C>(a, v[i + k], bias, &bits[k]);
        }
        if (a.conv.pair) {
            *(conv_pair<C> *)(y + i) = conv_pair<C>{dev_to<T>(out[0]), dev_to<T>(out[1])};
        } else {
            y[i] = dev_to<T>(out[0]);
            y[i + 1] = dev_to<T>(out[1]);
        }
        if (a.mask)
            *(uint16_t *)(mask + i) = (uint16_t)(bits[0] | bits[1] << 8);
    }
}

template <class C>
DEV void block_emit_all(const block_args &a, const conv_job &j, float *room, float acc[][4], int wm,
                        int wn, int slice, int lane)
{
    typedef block_result<C> R;
    constexpr int WIDTH = 32 * C::WARPS;
    int at = (int)threadIdx.x % WIDTH;

    if constexpr (C::SLICES > 1) {
#pragma unroll
        for (int g = 0; g < C::GROUPS; g++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                room[((slice * C::GROUPS + g) * 4 + e) * WIDTH + at] = acc[g][e];
        dev_sync();
    }
#pragma unroll
    for (int unit = 0; unit < R::UNITS; unit++) {
        float v[R::WIDE][4];

        if (unit % C::SLICES != slice)
            continue;
#pragma unroll
        for (int i = 0; i < R::WIDE; i++)
#pragma unroll
            for (int s = 0; s < 4; s++) {
                int g, e;

                block_result_at<C>(unit, s, i, &g, &e);
                if constexpr (C::SLICES > 1) {
                    v[i][s] = room[(g * 4 + e) * WIDTH + at];
#pragma unroll
                    for (int part = 1; part < C::SLICES; part++)
                        v[i][s] += room[((part * C::GROUPS + g) * 4 + e) * WIDTH + at];
                } else {
                    v[i][s] = acc[g][e];
                }
            }
        block_emit<C>(a, j, wm, wn, unit, lane, v);
    }
}

/* ---- all three ---- */

/* V: elements of dy that are read at once. */
template <class C, int V> DEV void block_run(const block_args &a, uint32_t tile, uint32_t turn)
{
    typedef typename C::T T;
    constexpr bool FORWARD = C::OP == CONV_FORWARD, WEIGHTS = C::OP == CONV_WEIGHTS;
    SHARED(unsigned char, shared);
    const conv_args &c = a.conv;
    conv_place *place = (conv_place *)shared;
    size_t *row_to = (size_t *)(place + C::PLACES);
    unsigned char *ring = shared + C::FRONT;
    int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32;
    int slice = warp / C::WARPS, wm = warp % C::WARPS % (C::BM / C::WM) * C::WM;
    int wn = warp % C::WARPS / (C::BM / C::WM) * C::WN;
    const T *from = conv_from<C>(c);
    const T *with = (const T *)c.with + blockIdx.z * c.with_stride;
    float acc[C::GROUPS][4], column[C::COLUMNS] = {};
    conv_column fixed = {};
    block_share<C, V> share;
    conv_job j;

    if (!conv_job_of<C>(j, c, tile, turn))
        return;

    bool biased = WEIGHTS && c.bias_to && !j.m0;

    if constexpr (WEIGHTS)
        fixed = conv_column_of<C>(c, j);
#pragma unroll
    for (int g = 0; g < C::GROUPS; g++)
        for (int e = 0; e < 4; e++)
            acc[g][e] = 0;

    int slabs = (int)((j.depth - j.from_depth + C::BK - 1) / C::BK);
    constexpr int DECODED = CONV_DECODED / C::BK; /* slabs */
    auto stage = [&](int i) { return ring + i % C::STAGES * (C::A + C::B); };
    auto depth = [&](int i) { return j.from_depth + (uint32_t)(i * C::BK); };
    auto decode = [&](int i) {
        uint32_t k = depth(i) + threadIdx.x;

        if (WEIGHTS && i % DECODED == 0 && threadIdx.x < CONV_DECODED)
            place[i / DECODED % 2 * CONV_DECODED + (int)threadIdx.x] =
                conv_place_of<C>(c, j, k, k < j.depth);
    };
    /* What is copied as it lies, and the gradient's way into registers. */
    auto load = [&](int i) {
        if (i < slabs) {
            if constexpr (FORWARD || WEIGHTS)
                conv_load_from<C>((T *)stage(i), from,
                                  WEIGHTS ? place + i % (2 * DECODED) * C::BK : place, fixed, c, j,
                                  depth(i));
            if constexpr (!WEIGHTS)
                conv_load_with<C>((T *)(stage(i) + C::A), with, c, j, depth(i));
            if constexpr (WEIGHTS)
                block_fetch_wide<C, V>(share, a, j, depth(i));
            else if constexpr (!FORWARD)
                block_fetch_deep<C, V>(share, a, place, j, depth(i));
        }
        dev_commit();
    };
    auto put = [&](int i) {
        if (!FORWARD && i < slabs)
            block_put<C, V>(share, a, (T *)(stage(i) + (WEIGHTS ? C::A : 0)));
    };

    if constexpr (!WEIGHTS) {
        for (int row = (int)threadIdx.x; row < C::BM; row += C::THREADS) {
            uint32_t m = j.m0 + (uint32_t)row;

            if constexpr (FORWARD) {
                place[row] = block_place_of<C>(a, j, row);
            } else {
                conv_place p = conv_place_of<C>(c, j, m, m < j.rows);

                p.at = (size_t)(m / (uint32_t)(j.count_h * j.count_w)) * (size_t)(a.ph * a.pw) *
                       (size_t)c.c;
                place[row] = p;
                row_to[row] = conv_row_to<C>(c, j, m);
            }
        }
        dev_sync();
    }
    for (int i = 0; i < C::STAGES - 1; i++) {
        decode(i);
        if (WEIGHTS && i % DECODED == 0)
            dev_sync();
        load(i);
        put(i);
    }
    decode(C::STAGES - 1);
    for (int i = 0; i < slabs; i++) {
        const T *pa = (const T *)stage(i), *pb = (const T *)(stage(i) + C::A);

        dev_wait<C::STAGES - 2>();
        dev_sync();
        load(i + C::STAGES - 1);
        decode(i + C::STAGES);
        conv_multiply<C>(acc, pa, pb, wm, wn, slice, lane);
        if constexpr (WEIGHTS)
            if (biased)
                conv_add_columns<C>(column, pb);
        put(i + C::STAGES - 1);
    }
    if (C::SLICES > 1 || biased) {
        dev_wait<0>();
        dev_sync();
    }
    if constexpr (FORWARD)
        block_emit_all<C>(a, j, (float *)ring, acc, wm, wn, slice, lane);
    else
        conv_emit_all<C>(c, j, row_to, (float *)ring, acc, wm, wn, slice, lane);
    if constexpr (WEIGHTS)
        if (biased)
            conv_emit_columns<C>(c, j, (float *)place, column);
}

template <class C> DEV void block_either(const block_args &a, uint32_t tile, uint32_t turn)
{
    if (a.wide)
        block_run<C, 16 / C::SIZE>(a, tile, turn);
    else
        block_run<C, 2>(a, tile, turn);
}

template <class C> DEV void block_forward(const block_args &a, uint32_t tile, uint32_t turn)
{
    block_run<C, 2>(a, tile, turn);
}

#define BLOCK_KERNEL(...)                                                                          \
    GEMM_KERNEL(block, struct block_args, block_forward, block_either, a.conv, __VA_ARGS__)

#endif
