/* cuda/kernels/products/conv_gemm.h: one tile of one product: slabs come through a ring of stages in shared memory,
 * warps multiply them, and what is left to do with a result is done as it leaves. */
#ifndef CHORUS_CUDA_KERNELS_PRODUCTS_CONV_GEMM_H
#define CHORUS_CUDA_KERNELS_PRODUCTS_CONV_GEMM_H

#include "cuda/kernels/products/conv_multiply.h"
#include "cuda/kernels/update_rule.h"
#include "cuda/kernels/wide.h"

/* tile: of rows and columns; turn: the input's remainder, or the weights' part. False: nothing to do
 * here. */
template <class C>
DEV bool conv_job_of(conv_job &j, const conv_args &a, uint32_t tile, uint32_t turn)
{
    j.m0 = tile / a.col_tiles * C::BM;
    j.n0 = tile % a.col_tiles * C::BN;
    j.part = turn;
    j.rows = a.rows;
    j.from_depth = 0;
    j.depth = a.depth;
    j.kh = j.kw = a.k;
    j.first_r = j.first_q = j.tap_r = j.tap_q = 0;
    j.count_h = a.th;
    j.count_w = a.tw;
    if constexpr (C::OP == CONV_INPUT) {
        j.tap_r = (int)turn / a.stride;
        j.tap_q = (int)turn % a.stride;
        j.first_r = (j.tap_r + a.stride - a.pad_top % a.stride) % a.stride;
        j.first_q = (j.tap_q + a.stride - a.pad_left % a.stride) % a.stride;
        j.count_h = (a.th - j.first_r + a.stride - 1) / a.stride;
        j.count_w = (a.tw - j.first_q + a.stride - 1) / a.stride;
        j.kh = (a.k - j.tap_r + a.stride - 1) / a.stride;
        j.kw = (a.k - j.tap_q + a.stride - 1) / a.stride;
        j.rows = (uint32_t)(a.n * j.count_h * j.count_w);
        j.depth = (uint32_t)(j.kh * j.kw * a.c);
    }
    if constexpr (C::OP == CONV_WEIGHTS) {
        j.from_depth = turn * a.chunk;
        if (j.from_depth + a.chunk < j.depth)
            j.depth = j.from_depth + a.chunk;
    }
    return j.m0 < j.rows;
}

/* Where tap 0 of a pixel of the product stands in `from`. */
template <class C>
DEV conv_place conv_place_of(const conv_args &a, const conv_job &j, uint32_t pixel, bool in)
{
    conv_place p;
    int image, r, q;

    if constexpr (C::OP == CONV_INPUT) {
        uint32_t in_image = (uint32_t)(j.count_h * j.count_w);

        image = (int)(pixel / in_image);
        pixel -= (uint32_t)image * in_image;
        r = (int)(pixel / (uint32_t)j.count_w);
        q = (int)pixel - r * j.count_w;
        p.r = (j.first_r + r * a.stride + a.pad_top - j.tap_r) / a.stride - (j.kh - 1);
        p.q = (j.first_q + q * a.stride + a.pad_left - j.tap_q) / a.stride - (j.kw - 1);
    } else {
        image = (int)conv_by(a.by_pixels, pixel);
        pixel -= (uint32_t)image * a.by_pixels.by;
        r = (int)conv_by(a.by_tw, pixel);
        q = (int)pixel - r * a.tw;
        p.r = r * a.stride - a.pad_top;
        p.q = q * a.stride - a.pad_left;
    }
    p.at = ((size_t)image * (size_t)a.h + (size_t)p.r) * (size_t)a.w + (size_t)p.q;
    p.at *= (size_t)a.c;
    if (!in)
        p.r = -(1 << 29);
    return p;
}

/* Where a row of results goes: pixels of y, or of x. */
template <class C> DEV size_t conv_row_to(const conv_args &a, const conv_job &j, uint32_t row)
{
    if constexpr (C::OP == CONV_INPUT) {
        uint32_t in_image = (uint32_t)(j.count_h * j.count_w), image = row / in_image;
        int r, q;

        row -= image * in_image;
        r = (int)(row / (uint32_t)j.count_w);
        q = (int)row - r * j.count_w;
        return (((size_t)image * (size_t)a.th + (size_t)(j.first_r + r * a.stride)) * (size_t)a.tw +
                (size_t)(j.first_q + q * a.stride)) *
               a.cols;
    }
    return (size_t)row * a.cols;
}

template <class C> struct alignas(2 * C::SIZE) conv_pair {
    typename C::T a, b;
};

template <class C> DEV conv_pair<C> conv_taken(const typename C::T *p, const conv_args &a, bool two)
{
    if (two && a.pair)
        return *(const conv_pair<C> *)p;
    return conv_pair<C>{p[0], p[two]};
}

/* One or two neighbouring results. */
template <class C>
DEV void conv_emit(const conv_args &a, size_t at, uint32_t n, float v0, float v1, bool two)
{
    size_t m = blockIdx.z;

    if constexpr (C::OP == CONV_WEIGHTS) {
        struct alignas(8) pair {
            float a, b;
        };
        float *to = (float *)a.to + m * a.to_stride + at;

        if (two && a.pair) {
            *(pair *)to = pair{v0, v1};
        } else {
            to[0] = v0;
            if (two)
                to[1] = v1;
        }
    } else {
        typedef typename C::T T;
        T *to = (T *)a.to + m * a.to_stride + at;

        if (C::OP == CONV_FORWARD) {
            const float *bias = a.bias + m * a.bias_stride + n;

            v0 = act_of(a.act, a.bias ? v0 + bias[0] : v0);
            if (two)
                v1 = act_of(a.act, a.bias ? v1 + bias[1] : v1);
        } else {
            if (a.gate) {
                conv_pair<C> y = conv_taken<C>((const T *)a.gate + m * a.gate_stride + at, a, two);

                v0 = act_back(a.act, dev_float(y.a), v0);
                v1 = act_back(a.act, dev_float(y.b), v1);
            }
            if (a.add) {
                conv_pair<C> before = conv_taken<C>(to, a, two);

                v0 += dev_float(before.a);
                v1 += dev_float(before.b);
            }
        }
        if (two && a.pair) {
            *(conv_pair<C> *)to = conv_pair<C>{dev_to<T>(v0), dev_to<T>(v1)};
        } else {
            to[0] = dev_to<T>(v0);
            if (two)
                to[1] = dev_to<T>(v1);
        }
    }
}

template <class C>
DEV void conv_emit_group(const conv_args &a, const conv_job &j, const size_t *row_to, int wm,
                         int wn, int group, int lane, const float v[4])
{
    constexpr int MOST = C::MATH == CUDA_FP32 ? 1 : 2;

#pragma unroll
    for (int e = 0; e < 4; e += MOST) {
        int row, col;
        uint32_t n;

        conv_result_at<C>(group, e, lane, &row, &col);
        row += wm;
        n = j.n0 + (uint32_t)(wn + col);
        if (j.m0 + (uint32_t)row >= j.rows || n >= a.cols)
            continue;

        size_t at = C::OP == CONV_WEIGHTS
                        ? j.part * a.part + (size_t)(j.m0 + (uint32_t)row) * a.cols
                        : row_to[row];

        conv_emit<C>(a, at + n, n, v[e], v[e + MOST - 1], MOST == 2 && n + 1 < a.cols);
    }
}

/* Slices hold parts of the same results: each warp adds up and emits a share of them. */
template <class C>
DEV void conv_emit_all(const conv_args &a, const conv_job &j, const size_t *row_to, float *room,
                       float acc[][4], int wm, int wn, int slice, int lane)
{
    if constexpr (C::SLICES == 1) {
#pragma unroll
        for (int g = 0; g < C::GROUPS; g++)
            conv_emit_group<C>(a, j, row_to, wm, wn, g, lane, acc[g]);
    } else {
        constexpr int WIDTH = 32 * C::WARPS;
        static_assert(C::SLICES * C::GROUPS * 4 * WIDTH * 4 <= C::A + C::B, "room in one stage");
        int at = (int)threadIdx.x % WIDTH;

#pragma unroll
        for (int g = 0; g < C::GROUPS; g++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                room[((slice * C::GROUPS + g) * 4 + e) * WIDTH + at] = acc[g][e];
        dev_sync();
        for (int g = slice; g < C::GROUPS; g += C::SLICES) {
            float v[4];

#pragma unroll
            for (int e = 0; e < 4; e++) {
                v[e] = room[(g * 4 + e) * WIDTH + at];
#pragma unroll
                for (int s = 1; s < C::SLICES; s++)
                    v[e] += room[((s * C::GROUPS + g) * 4 + e) * WIDTH + at];
            }
            conv_emit_group<C>(a, j, row_to, wm, wn, g, lane, v);
        }
    }
}

/* Sums of the columns of `with`, of odd and of even rows however large the tile is. */
template <class C> DEV void conv_add_columns(float *sum, const typename C::T *b)
{
#pragma unroll
    for (int i = 0; i < C::COLUMNS; i++) {
        int at = (int)threadIdx.x + i * C::THREADS;

        if (at < 2 * C::BN)
            for (int row = at / C::BN; row < C::BK; row += 2)
                sum[i] += dev_float(b[row * C::LDB + at % C::BN]);
    }
}

template <class C>
DEV void conv_emit_columns(const conv_args &a, const conv_job &j, float *room, const float *sum)
{
#pragma unroll
    for (int i = 0; i < C::COLUMNS; i++)
        if ((int)threadIdx.x + i * C::THREADS < 2 * C::BN)
            room[(int)threadIdx.x + i * C::THREADS] = sum[i];
    dev_sync();
    for (int col = (int)threadIdx.x; col < C::BN; col += C::THREADS)
        if (j.n0 + (uint32_t)col < a.cols)
            a.bias_to[blockIdx.z * a.bias_to_stride + j.part * a.part + j.n0 + (uint32_t)col] =
                room[col] + room[C::BN + col];
}

/* `from` of the block's model. */
template <class C> DEV const typename C::T *conv_from(const conv_args &a)
{
    const typename C::T *from = (const typename C::T *)a.from + blockIdx.z * a.from_stride;

    return C::OP != CONV_INPUT && a.turns ? from + (a.turns->batch & 1) * a.from_turn : from;
}

template <class C> DEV void conv_run(const conv_args &a, uint32_t tile, uint32_t turn)
{
    typedef typename C::T T;
    SHARED(unsigned char, shared);
    conv_place *place = (conv_place *)shared;
    size_t *row_to = (size_t *)(place + C::PLACES);
    unsigned char *ring = shared + C::FRONT;
    int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32;
    int slice = warp / C::WARPS, wm = warp % C::WARPS % (C::BM / C::WM) * C::WM;
    int wn = warp % C::WARPS / (C::BM / C::WM) * C::WN;
    const T *from = conv_from<C>(a);
    const T *with = (const T *)a.with + blockIdx.z * a.with_stride;
    bool biased = false;
    float acc[C::GROUPS][4], column[C::COLUMNS] = {};
    conv_column fixed = {};
    conv_job j;

    if (!conv_job_of<C>(j, a, tile, turn))
        return;
    if constexpr (C::OP == CONV_WEIGHTS) {
        biased = a.bias_to && !j.m0;
        fixed = conv_column_of<C>(a, j);
    }
#pragma unroll
    for (int g = 0; g < C::GROUPS; g++)
        for (int e = 0; e < 4; e++)
            acc[g][e] = 0;

    int slabs = (int)((j.depth - j.from_depth + C::BK - 1) / C::BK);
    constexpr int DECODED = CONV_DECODED / C::BK; /* slabs */
    static_assert(C::THREADS >= CONV_DECODED && CONV_DECODED % C::BK == 0, "decoding");
    /* The weights' product: pixels of slabs i, i + 1, ... are worked out while those before are
     * copied, into one half of the places. */
    auto decode = [&](int i) {
        uint32_t k = j.from_depth + (uint32_t)(i * C::BK) + threadIdx.x;

        if (C::OP == CONV_WEIGHTS && i % DECODED == 0 && threadIdx.x < CONV_DECODED)
            place[i / DECODED % 2 * CONV_DECODED + (int)threadIdx.x] =
                conv_place_of<C>(a, j, k, k < j.depth);
    };
    auto load = [&](int i) {
        const conv_place *at = place;

        if (C::OP == CONV_WEIGHTS)
            at += i % (2 * DECODED) * C::BK;
        if (i < slabs) {
            T *stage = (T *)(ring + i % C::STAGES * (C::A + C::B));
            uint32_t k0 = j.from_depth + (uint32_t)(i * C::BK);

            conv_load_from<C>(stage, from, at, fixed, a, j, k0);
            conv_load_with<C>(stage + C::A / C::SIZE, with, a, j, k0);
        }
        dev_commit();
    };

    if constexpr (C::OP != CONV_WEIGHTS) {
        for (int row = (int)threadIdx.x; row < C::BM; row += C::THREADS) {
            uint32_t m = j.m0 + (uint32_t)row;

            place[row] = conv_place_of<C>(a, j, m, m < j.rows);
            row_to[row] = conv_row_to<C>(a, j, m);
        }
        dev_sync();
    }
    for (int i = 0; i < C::STAGES - 1; i++) {
        decode(i);
        if (C::OP == CONV_WEIGHTS && i % DECODED == 0)
            dev_sync();
        load(i);
    }
    decode(C::STAGES - 1);
    for (int i = 0; i < slabs; i++) {
        const T *pa = (const T *)(ring + i % C::STAGES * (C::A + C::B));
        const T *pb = (const T *)(ring + i % C::STAGES * (C::A + C::B) + C::A);

        dev_wait<C::STAGES - 2>();
        dev_sync();
        load(i + C::STAGES - 1);
        decode(i + C::STAGES);
        conv_multiply<C>(acc, pa, pb, wm, wn, slice, lane);
        if constexpr (C::OP == CONV_WEIGHTS)
            if (biased)
                conv_add_columns<C>(column, pb);
    }
    if (C::SLICES > 1 || biased) {
        dev_wait<0>();
        dev_sync();
    }
    conv_emit_all<C>(a, j, row_to, (float *)ring, acc, wm, wn, slice, lane);
    if constexpr (C::OP == CONV_WEIGHTS)
        if (biased)
            conv_emit_columns<C>(a, j, (float *)place, column);
}

/* ---- the end of the weights' gradient ---- */

/* from[0] + from[stride] + ..., in order. */
DEV float conv_sum_of(const float *from, size_t stride, uint32_t count)
{
    float sum = 0;

    for (uint32_t i = 0; i < count; i += 4) {
        float v[4];

#pragma unroll
        for (uint32_t k = 0; k < 4; k++)
            v[k] = i + k < count ? from[(i + k) * stride] : 0;
#pragma unroll
        for (uint32_t k = 0; k < 4; k++)
            sum += v[k];
    }
    return sum;
}

/* Each element of the tile, and its biases: the sum of `count` parts in `from`, or what stands in the
 * gradient where count is 0, into the first of the parts or (last) into the gradient. */
template <class C>
DEV void conv_end_tile(const conv_args &a, const conv_job &j, float *from, size_t stride,
                       uint32_t count, bool last)
{
    constexpr int N = 4;
    SHARED(float, correct);
    const conv_end &to = a.end;
    const size_t weights = (size_t)a.rows * a.cols, m = blockIdx.z;
    const uint32_t rows = j.rows - j.m0 < (uint32_t)C::BM ? j.rows - j.m0 : (uint32_t)C::BM;
    const uint32_t all = (rows + (to.bias_to && !j.m0)) * (uint32_t)C::BN;
    bool update = last && to.update.core.clock && !to.update.core.clock->halted;
    update_rates r = {};

    if (update)
        r = update_rates_of(to.update.core, correct + 1);
    for (uint32_t e0 = threadIdx.x; e0 < all; e0 += N * C::THREADS) {
        size_t at[N];
        bool in[N];
        float g[N];

#pragma unroll
        for (int i = 0; i < N; i++) {
            uint32_t e = e0 + (uint32_t)(i * C::THREADS), row = e / C::BN, n = j.n0 + e % C::BN;
            bool bias = row == rows;
            size_t part_at = bias ? weights + n : (size_t)(j.m0 + row) * a.cols + n;
            float *there =
                bias ? to.bias_to + m * to.bias_to_stride + n : to.to + m * to.to_stride + part_at;

            in[i] = e < all && n < a.cols;
            at[i] = 0;
            g[i] = 0;
            if (!in[i])
                continue;
            g[i] = count ? conv_sum_of(from + part_at, stride, count) : *there;
            if (!last)
                from[part_at] = g[i];
            else if (count)
                *there = g[i];
            at[i] = (size_t)(there - to.update.gradient);
        }
        if (update)
            update_some<N>(to.update, r, at, in, g);
    }
}

/* Behind conv_run, for the same job. */
template <class C> DEV void conv_finish(const conv_args &a, uint32_t tile, uint32_t turn)
{
    SHARED(uint32_t, said);
    const conv_end &to = a.end;
    float *parts = (float *)a.to + blockIdx.z * a.to_stride, *from = parts;
    uint32_t *turns = nullptr, count = 0, groups = (to.parts + to.fan - 1) / to.fan;
    size_t stride = a.part;
    conv_job j;

    if (to.parts == 1 && !to.update.core.clock)
        return;
    conv_job_of<C>(j, a, tile, turn);
    if (to.parts > 1) {
        uint32_t group = turn / to.fan, first = group * to.fan, left = to.parts - first;

        turns = to.turns + (blockIdx.z * (size_t)to.tiles + tile) * CONV_TURNS;
        from += first * a.part;
        count = left < to.fan ? left : to.fan;
        if (!turn_is_last(turns + 1 + group, count, said))
            return;
    } else {
        dev_sync(); /* the block reads what its own threads have written */
    }
    for (;;) {
        conv_end_tile<C>(a, j, from, stride, count, groups == 1);
        if (groups == 1 || !turn_is_last(turns, groups, said))
            return;
        from = parts;
        stride = to.fan * a.part;
        count = groups;
        groups = 1;
    }
}

/* The three kernels of a tile. FORWARD, BACK: what computes a tile of them; CONV: the convolution's
 * arguments in those of the kernel. */
#define GEMM_KERNEL(KIND, ARGS, FORWARD, BACK, CONV, NAME, ROWS, COLS, SLICES, STAGES, MATH,       \
                    NUMBER)                                                                        \
    typedef conv_tile<NUMBER, CONV_FORWARD, ROWS, COLS, SLICES, STAGES> forward_##NAME;            \
    KERNEL(k_##KIND##_forward_##MATH##_##NAME, ARGS, forward_##NAME::THREADS)                      \
    {                                                                                              \
        FORWARD<forward_##NAME>(a, blockIdx.x, blockIdx.y);                                        \
    }                                                                                              \
    typedef conv_tile<NUMBER, CONV_INPUT, ROWS, COLS, SLICES, STAGES> input_##NAME;                \
    KERNEL(k_##KIND##_input_##MATH##_##NAME, ARGS, input_##NAME::THREADS)                          \
    {                                                                                              \
        BACK<input_##NAME>(a, blockIdx.x, blockIdx.y);                                             \
    }                                                                                              \
    typedef conv_tile<NUMBER, CONV_WEIGHTS, ROWS, COLS, SLICES, STAGES> weights_##NAME;            \
    KERNEL(k_##KIND##_weights_##MATH##_##NAME, ARGS, weights_##NAME::THREADS)                      \
    {                                                                                              \
        BACK<weights_##NAME>(a, blockIdx.x, blockIdx.y);                                           \
        conv_finish<weights_##NAME>(CONV, blockIdx.x, blockIdx.y);                                 \
        tick_at_end(CONV.end.tick);                                                                \
    }
#define CONV_KERNEL(...) GEMM_KERNEL(conv, struct conv_args, conv_run, conv_run, a, __VA_ARGS__)

#endif
