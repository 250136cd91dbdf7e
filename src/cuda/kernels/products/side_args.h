/* cuda/kernels/products/side_args.h: two products side by side in one launch, and the next step's images behind them.
 * They have nothing to do with each other; what each block does is decided by its number. */
#ifndef CHORUS_CUDA_KERNELS_PRODUCTS_SIDE_ARGS_H
#define CHORUS_CUDA_KERNELS_PRODUCTS_SIDE_ARGS_H

#include "cuda/kernels/products/block_args.h"
#include "cuda/kernels/gather_args.h"

struct side_args {
    struct block_args job[2]; /* of a convolution without a pool only what block_args begins with */
    uint32_t width[2];        /* blocks of a job that differ in their tile; others in their part */
    uint32_t first[2];        /* the first block of job 1, and that of the images */
    struct gather_args gather; /* of the next step */
    struct tick_args tick;
};

/* The pairs, each in one tile a job: the gradients of a dense layer's input and of the weights of the
 * one behind it; of a block's input and of a dense layer's weights; of two layers' weights. */
#define SIDE_DECLARE(MATH)                                                                         \
    DEV_TABLE const struct dev_kernel k_side_conv_input_##MATH##_32x32,                            \
        k_side_conv_input_##MATH##_64x64, k_side_conv_weights_##MATH, k_side_block_input_##MATH,   \
        k_side_block_weights_##MATH;
SIDE_DECLARE(fp32)
SIDE_DECLARE(tf32)
SIDE_DECLARE(bf16)

#endif
