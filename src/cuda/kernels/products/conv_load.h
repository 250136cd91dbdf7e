/* cuda/kernels/products/conv_load.h: how slabs of both operands get into shared memory. */
#ifndef CHORUS_CUDA_KERNELS_PRODUCTS_CONV_LOAD_H
#define CHORUS_CUDA_KERNELS_PRODUCTS_CONV_LOAD_H

#include "cuda/kernels/products/conv_args.h"
#include "cuda/kernels/dev.h"

template <int MATH> struct conv_store {
    typedef float type;
};
template <> struct conv_store<CUDA_BF16> {
    typedef dev_bf16 type;
};

/* WM, WN: what a warp computes of the tile. */
template <int MATH_, int OP_, int BM_, int BN_, int SLICES_, int STAGES_> struct conv_tile {
    typedef typename conv_store<MATH_>::type T;
    static constexpr int MATH = MATH_, OP = OP_, BM = BM_, BN = BN_;
    static constexpr int SLICES = SLICES_, STAGES = STAGES_, SIZE = (int)sizeof(T);
    static constexpr int WM = MATH != CUDA_FP32 && BM == 128 && BN > 32 ? 64 : 32, WN = 32;
    static constexpr int WARPS = BM / WM * (BN / WN), THREADS = 32 * WARPS * SLICES;
    static constexpr int BK = CONV_SLAB(SIZE, SLICES);
    static constexpr bool A_DEEP = OP != CONV_WEIGHTS, B_DEEP = OP == CONV_INPUT;
    static constexpr int LDA = A_DEEP ? BK + 16 / SIZE : BM + 8;
    static constexpr int LDB = B_DEEP ? BK + 16 / SIZE : BN + 8;
    static constexpr int A = CONV_A(SIZE, OP, BM, SLICES), B = CONV_B(SIZE, OP, BN, SLICES);
    static constexpr int PLACES = CONV_PLACES(OP, BM), FRONT = (int)CONV_FRONT(OP, BM);
    static_assert(FRONT % 128 == 0, "alignment of stages");
    static constexpr int COLUMNS = (2 * BN + THREADS - 1) / THREADS; /* half sums of a thread */
    static constexpr int GROUPS = WM * WN / 128; /* of four results of a thread */
};

/* What a block works on. */
struct conv_job {
    uint32_t m0, n0, rows;      /* rows: of this remainder */
    uint32_t from_depth, depth; /* where the depth begins and ends */
    int kh, kw;                 /* taps */
    int first_r, first_q;       /* input: the remainder's first pixel */
    int count_h, count_w;       /* and how many there are */
    int tap_r, tap_q;           /* and its first tap */
    uint32_t part;              /* weights: of the depth */
};

DEV uint32_t conv_by(const conv_by &d, uint32_t n)
{
    return (uint32_t)((uint64_t)n * d.times >> d.shift);
}

template <int BYTES, class T> DEV void conv_copy(T *to, const T *from, bool there)
{
    if constexpr (BYTES == 16)
        dev_copy16(to, from, there ? 16 : 0);
    else if constexpr (BYTES == 8)
        dev_copy8(to, from, there ? 8 : 0);
    else if constexpr (BYTES == 4)
        dev_copy4(to, from, there ? 4 : 0);
    else
        *to = there ? *from : T();
}

/* Rows of pixels, their taps and channels contiguous: x for forward, dy for the input's gradient. */
template <class C, int BYTES>
DEV void conv_gather_deep(typename C::T *to, const typename C::T *from, const conv_place *place,
                          const conv_args &a, const conv_job &j, uint32_t k0)
{
    constexpr int V = BYTES / C::SIZE, CHUNKS = C::BK / V, STEP = C::THREADS / CHUNKS;
    static_assert(C::BM % STEP == 0, "threads and rows");
    int col = (int)threadIdx.x % CHUNKS * V, row = (int)threadIdx.x / CHUNKS;
    uint32_t k = k0 + (uint32_t)col, tap = conv_by(a.by_c, k);
    int kr = (int)conv_by(j.kw == (int)a.by_k.by ? a.by_k : a.by_k_less, tap);
    int kq = (int)tap - kr * j.kw;
    size_t off = (size_t)(kr * a.w + kq) * (size_t)a.c + (k - tap * a.by_c.by);

    if (k >= j.depth)
        kr = -(1 << 29);
#pragma unroll 4
    for (int i = 0; i < C::BM; i += STEP, row += STEP) {
        conv_place p = place[row];
        bool there = (unsigned)(p.r + kr) < (unsigned)a.h && (unsigned)(p.q + kq) < (unsigned)a.w;

        conv_copy<BYTES>(to + row * C::LDA + col, there ? from + (p.at + off) : from, there);
    }
}

/* The tap and channel that a thread copies from all pixels, for the weights' gradient. */
struct conv_column {
    int r, q;
    size_t off;
};

template <class C> DEV conv_column conv_column_of(const conv_args &a, const conv_job &j)
{
    int v = a.from_bytes / C::SIZE, col = (int)threadIdx.x % (C::BM / v) * v;
    uint32_t m = j.m0 + (uint32_t)col, tap = conv_by(a.by_c, m);
    conv_column at;

    at.r = (int)conv_by(a.by_k, tap);
    at.q = (int)tap - at.r * a.k;
    at.off = (size_t)(at.r * a.w + at.q) * (size_t)a.c + (m - tap * a.by_c.by);
    if (m >= j.rows)
        at.r = -(1 << 29);
    return at;
}

/* Pixels of a slab, taps and channels in columns: x for the weights' gradient. */
template <class C, int BYTES>
DEV void conv_gather_wide(typename C::T *to, const typename C::T *from, const conv_place *place,
                          const conv_args &a, const conv_column &at)
{
    constexpr int V = BYTES / C::SIZE, CHUNKS = C::BM / V, STEP = C::THREADS / CHUNKS;
    static_assert(C::BK % STEP == 0, "threads and rows");
    int col = (int)threadIdx.x % CHUNKS * V, row = (int)threadIdx.x / CHUNKS;

#pragma unroll(BYTES > 4 ? 4 : 2)
    for (int i = 0; i < C::BK; i += STEP, row += STEP) {
        conv_place p = place[row];
        bool there =
            (unsigned)(p.r + at.r) < (unsigned)a.h && (unsigned)(p.q + at.q) < (unsigned)a.w;

        conv_copy<BYTES>(to + row * C::LDA + col, there ? from + (p.at + at.off) : from, there);
    }
}

/* (depth, cols) as they lie: the weights, or dy. */
template <class C, int BYTES>
DEV void conv_take_wide(typename C::T *to, const typename C::T *from, const conv_args &a,
                        const conv_job &j, uint32_t k0)
{
    constexpr int V = BYTES / C::SIZE, CHUNKS = C::BN / V, STEP = C::THREADS / CHUNKS;
    static_assert(C::BK % STEP == 0, "threads and rows");
    int col = (int)threadIdx.x % CHUNKS * V, row = (int)threadIdx.x / CHUNKS;
    bool in = j.n0 + (uint32_t)col < a.cols;
    size_t at = (size_t)(k0 + (uint32_t)row) * a.cols + j.n0 + (uint32_t)col;

#pragma unroll(BYTES > 2 ? 4 : 2)
    for (int i = 0; i < C::BK; i += STEP, row += STEP, at += (size_t)STEP * a.cols) {
        bool there = in && k0 + (uint32_t)row < j.depth;

        conv_copy<BYTES>(to + row * C::LDB + col, there ? from + at : from, there);
    }
}

/* The weights' columns as rows, output channels contiguous, taps in falling order. */
template <class C, int BYTES>
DEV void conv_take_deep(typename C::T *to, const typename C::T *from, const conv_args &a,
                        const conv_job &j, uint32_t k0)
{
    constexpr int V = BYTES / C::SIZE, CHUNKS = C::BK / V, STEP = C::THREADS / CHUNKS;
    constexpr int ROWS = STEP < C::BN ? STEP : C::BN;
    int col = (int)threadIdx.x % CHUNKS * V, row = (int)threadIdx.x / CHUNKS;
    uint32_t k = k0 + (uint32_t)col, tap = conv_by(a.by_c, k);
    int kr = (int)conv_by(j.kw == (int)a.by_k.by ? a.by_k : a.by_k_less, tap);
    int kq = (int)tap - kr * j.kw;
    size_t turned = (size_t)(j.tap_r + a.stride * (j.kh - 1 - kr)) * (size_t)a.k +
                    (size_t)(j.tap_q + a.stride * (j.kw - 1 - kq));
    size_t at = (turned * a.cols + j.n0 + (uint32_t)row) * (size_t)a.c + (k - tap * a.by_c.by);

    if (STEP > C::BN && row >= C::BN)
        return;
#pragma unroll 4
    for (int i = 0; i < C::BN; i += ROWS, row += ROWS, at += (size_t)ROWS * (size_t)a.c) {
        bool there = k < j.depth && j.n0 + (uint32_t)row < a.cols;

        conv_copy<BYTES>(to + row * C::LDB + col, there ? from + at : from, there);
    }
}

template <class C, int BYTES>
DEV void conv_load_a(typename C::T *to, const typename C::T *from, const conv_place *place,
                     const conv_column &column, const conv_args &a, const conv_job &j, uint32_t k0)
{
    if constexpr (C::A_DEEP)
        conv_gather_deep<C, BYTES>(to, from, place, a, j, k0);
    else
        conv_gather_wide<C, BYTES>(to, from, place, a, column);
}

template <class C, int BYTES>
DEV void conv_load_b(typename C::T *to, const typename C::T *with, const conv_args &a,
                     const conv_job &j, uint32_t k0)
{
    if constexpr (C::B_DEEP)
        conv_take_deep<C, BYTES>(to, with, a, j, k0);
    else
        conv_take_wide<C, BYTES>(to, with, a, j, k0);
}

/* A slab of either operand, by the widest copies that its addresses allow. */
template <class C>
DEV void conv_load_from(typename C::T *to, const typename C::T *from, const conv_place *place,
                        const conv_column &column, const conv_args &a, const conv_job &j,
                        uint32_t k0)
{
    if (a.from_bytes == 16)
        conv_load_a<C, 16>(to, from, place, column, a, j, k0);
    else if (a.from_bytes == 8)
        conv_load_a<C, 8>(to, from, place, column, a, j, k0);
    else if (C::SIZE == 4 || a.from_bytes == 4)
        conv_load_a<C, 4>(to, from, place, column, a, j, k0);
    else if constexpr (C::SIZE == 2)
        conv_load_a<C, 2>(to, from, place, column, a, j, k0);
}

template <class C>
DEV void conv_load_with(typename C::T *to, const typename C::T *with, const conv_args &a,
                        const conv_job &j, uint32_t k0)
{
    if (a.with_bytes == 16)
        conv_load_b<C, 16>(to, with, a, j, k0);
    else if (a.with_bytes == 8)
        conv_load_b<C, 8>(to, with, a, j, k0);
    else if (C::SIZE == 4 || a.with_bytes == 4)
        conv_load_b<C, 4>(to, with, a, j, k0);
    else if constexpr (C::SIZE == 2)
        conv_load_b<C, 2>(to, with, a, j, k0);
}

#endif
