/* cuda/kernels/products/side_gemm.h: kernels that do two jobs side by side. */
#ifndef CHORUS_CUDA_KERNELS_PRODUCTS_SIDE_GEMM_H
#define CHORUS_CUDA_KERNELS_PRODUCTS_SIDE_GEMM_H

#include "cuda/kernels/products/conv_gemm.h"
#include "cuda/kernels/gather_image.h"
#include "cuda/kernels/products/side_args.h"

#define SIDE_THREADS 128 /* of every tile that stands here */

template <class C> DEV void block_either(const block_args &a, uint32_t tile, uint32_t turn);

/* A convolution's or a block's product C, and what ends it. */
template <class C, bool BLOCK> struct side_job {
    static_assert(C::THREADS == SIDE_THREADS, "threads");
    typedef typename C::T T;
    static DEV void run(const block_args &a, uint32_t block, uint32_t width)
    {
        uint32_t turn = block / width, tile = block - turn * width;

        if constexpr (BLOCK)
            block_either<C>(a, tile, turn);
        else
            conv_run<C>(a.conv, tile, turn);
        if constexpr (C::OP == CONV_WEIGHTS)
            conv_finish<C>(a.conv, tile, turn);
    }
};

template <class A, class B> DEV void side_run(const side_args &a)
{
    if (blockIdx.x < a.first[0])
        A::run(a.job[0], blockIdx.x, a.width[0]);
    else if (blockIdx.x < a.first[1])
        B::run(a.job[1], blockIdx.x - a.first[0], a.width[1]);
    else if (blockIdx.z == 0 || a.gather.models > 1)
        gather_image<typename A::T>(a.gather, blockIdx.x - a.first[1]);
    tick_at_end(a.tick);
}

#define SIDE_JOB(NUMBER, OP, ROWS, COLS, SLICES, BLOCK)                                            \
    side_job<conv_tile<NUMBER, OP, ROWS, COLS, SLICES, 4>, BLOCK>

#define SIDE_CONV_KERNELS(MATH, NUMBER)                                                            \
    typedef SIDE_JOB(NUMBER, CONV_INPUT, 32, 32, 4, false) side_input_32;                          \
    typedef SIDE_JOB(NUMBER, CONV_INPUT, 64, 64, 1, false) side_input_64;                          \
    typedef SIDE_JOB(NUMBER, CONV_WEIGHTS, 32, 32, 4, false) side_weights_32;                      \
    typedef SIDE_JOB(NUMBER, CONV_WEIGHTS, 64, 64, 1, false) side_weights_64;                      \
    KERNEL(k_side_conv_input_##MATH##_32x32, struct side_args, SIDE_THREADS)                       \
    {                                                                                              \
        side_run<side_input_32, side_weights_32>(a);                                               \
    }                                                                                              \
    KERNEL(k_side_conv_input_##MATH##_64x64, struct side_args, SIDE_THREADS)                       \
    {                                                                                              \
        side_run<side_input_64, side_weights_32>(a);                                               \
    }                                                                                              \
    KERNEL(k_side_conv_weights_##MATH, struct side_args, SIDE_THREADS)                             \
    {                                                                                              \
        side_run<side_weights_64, side_weights_64>(a);                                             \
    }

#define SIDE_BLOCK_KERNELS(MATH, NUMBER)                                                           \
    typedef SIDE_JOB(NUMBER, CONV_INPUT, 128, 32, 1, true) side_input_128;                         \
    typedef SIDE_JOB(NUMBER, CONV_WEIGHTS, 64, 64, 1, false) side_weights_64;                      \
    typedef SIDE_JOB(NUMBER, CONV_WEIGHTS, 32, 32, 4, true) side_block_32;                         \
    KERNEL(k_side_block_input_##MATH, struct side_args, SIDE_THREADS)                              \
    {                                                                                              \
        side_run<side_input_128, side_weights_64>(a);                                              \
    }                                                                                              \
    KERNEL_FEW(k_side_block_weights_##MATH, struct side_args, SIDE_THREADS, 2)                     \
    {                                                                                              \
        side_run<side_block_32, side_block_32>(a);                                                 \
    }

#endif
