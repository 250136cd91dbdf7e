/* cuda/kernels/products/block_load.h: a slab of the map's gradient, made of the pooled one and the mask. It
 * goes through registers: fetched before a product, put into shared memory after it. */
#ifndef CHORUS_CUDA_KERNELS_PRODUCTS_BLOCK_LOAD_H
#define CHORUS_CUDA_KERNELS_PRODUCTS_BLOCK_LOAD_H

#include "cuda/kernels/products/block_args.h"
#include "cuda/kernels/products/conv_load.h"
#include "cuda/kernels/wide.h"

/* A thread's share of a slab: V neighbouring elements of COUNT rows. */
template <class C, int V> struct block_share {
    static constexpr int WIDTH = C::OP == CONV_INPUT ? C::BK : C::BN;
    static constexpr int HEIGHT = C::OP == CONV_INPUT ? C::BM : C::BK;
    static constexpr int LD = C::OP == CONV_INPUT ? C::LDA : C::LDB;
    static constexpr int CHUNKS = WIDTH / V, STEP = C::THREADS / CHUNKS;
    static constexpr int COUNT = HEIGHT / STEP;
    static_assert(STEP * CHUNKS == C::THREADS && COUNT * STEP == HEIGHT, "threads and rows");
    static_assert(COUNT <= 16, "bits");
    wide_of<typename C::T, V> dy[COUNT];
    wide_of<uint8_t, V> mask[COUNT];
    uint32_t bits; /* two for each row: which pixel of its window it is */
};

template <class C, int V>
DEV void block_fetch(block_share<C, V> &s, int i, const typename C::T *dy, const uint8_t *mask,
                     size_t at, uint32_t bit, bool there)
{
    s.bits |= bit << 2 * i;
    s.mask[i] = wide_of<uint8_t, V>();
    if (there) {
        s.dy[i] = *(const wide_of<typename C::T, V> *)(dy + at);
        s.mask[i] = *(const wide_of<uint8_t, V> *)(mask + at);
    }
}

/* Rows are pixels of x, columns taps and output channels. */
template <class C, int V>
DEV void block_fetch_deep(block_share<C, V> &s, const block_args &a, const conv_place *place,
                          const conv_job &j, uint32_t k0)
{
    typedef block_share<C, V> S;
    const typename C::T *dy = (const typename C::T *)a.conv.from + blockIdx.z * a.conv.from_stride;
    const uint8_t *mask = a.mask + blockIdx.z * a.mask_stride;
    int row = (int)threadIdx.x / S::CHUNKS;
    uint32_t k = k0 + threadIdx.x % S::CHUNKS * V, tap = conv_by(a.conv.by_c, k);
    int kr = (int)conv_by(j.kw == (int)a.conv.by_k.by ? a.conv.by_k : a.conv.by_k_less, tap);
    int kq = (int)tap - kr * j.kw;
    uint32_t channel = k - tap * a.conv.by_c.by;

    if (k >= j.depth)
        kr = -(1 << 29);
    s.bits = 0;
#pragma unroll
    for (int i = 0; i < S::COUNT; i++, row += S::STEP) {
        conv_place p = place[row];
        int r = p.r + kr, q = p.q + kq;
        bool there = (unsigned)r < (unsigned)a.conv.h && (unsigned)q < (unsigned)a.conv.w;

        block_fetch<C, V>(s, i, dy, mask,
                          p.at + (size_t)(((r >> 1) * a.pw + (q >> 1)) * a.conv.c + (int)channel),
                          (uint32_t)((r & 1) * 2 + (q & 1)), there);
    }
}

/* Rows are pixels of the map, columns output channels. */
template <class C, int V>
DEV void block_fetch_wide(block_share<C, V> &s, const block_args &a, const conv_job &j, uint32_t k0)
{
    typedef block_share<C, V> S;
    const typename C::T *dy = (const typename C::T *)a.conv.with + blockIdx.z * a.conv.with_stride;
    const uint8_t *mask = a.mask + blockIdx.z * a.mask_stride;
    uint32_t n = j.n0 + threadIdx.x % S::CHUNKS * V, k = k0 + threadIdx.x / S::CHUNKS;

    s.bits = 0;
#pragma unroll
    for (int i = 0; i < S::COUNT; i++, k += S::STEP) {
        uint32_t r = conv_by(a.conv.by_tw, k), q = k - r * a.conv.by_tw.by;
        bool there = k < j.depth && n < a.conv.cols;

        block_fetch<C, V>(s, i, dy, mask,
                          ((size_t)(r >> 1) * (size_t)a.pw + (q >> 1)) * a.conv.cols + n,
                          (r & 1) * 2 + (q & 1), there);
    }
}

template <class C, int V>
DEV void block_put(const block_share<C, V> &s, const block_args &a, typename C::T *to)
{
    typedef block_share<C, V> S;
    typedef typename C::T T;
    int row = (int)threadIdx.x / S::CHUNKS, col = (int)threadIdx.x % S::CHUNKS * V;
    const float factor = a.max ? 1.0f : 0.25f;

#pragma unroll
    for (int i = 0; i < S::COUNT; i++, row += S::STEP) {
        const uint32_t bit = s.bits >> 2 * i & 3;
        wide_of<T, V> out;

#pragma unroll
        for (int v = 0; v < V; v++)
            out.at[v] = s.mask[i].at[v] >> bit & 1 ? dev_to<T>(dev_float(s.dy[i].at[v]) * factor)
                                                   : dev_to<T>(0.0f);
        *(wide_of<T, V> *)(to + row * S::LD + col) = out;
    }
}

#endif
