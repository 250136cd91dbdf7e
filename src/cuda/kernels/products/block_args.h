/* cuda/kernels/products/block_args.h: what the kernels of blocks are told: the convolution as conv_args.h has
 * it, on the part of its map that has windows, and the windows. `y` and `dy` there are the pooled ones.
 *
 * Forward counts windows: 32 rows of a tile are 8 windows, row % 8 says which, row / 8 % 4 which of its
 * pixels, so that a thread's own results hold whole windows in every arithmetic. */
#ifndef CHORUS_CUDA_KERNELS_PRODUCTS_BLOCK_ARGS_H
#define CHORUS_CUDA_KERNELS_PRODUCTS_BLOCK_ARGS_H

#include "cuda/kernels/products/conv_args.h"

struct block_args {
    struct conv_args conv;
    uint8_t *mask; /* (models; windows, oc), may be NULL forwards */
    size_t mask_stride;
    int ph, pw; /* windows of an image */
    int max;
    int wide; /* backward: 16 bytes of dy may be read at once, else two elements */
};

#define BLOCK_TILE 1 /* the first of CONV_TILES that blocks have */
#define BLOCK_DECLARE(NAME, ROWS, COLS, SLICES, STAGES, MATH)                                      \
    DEV_TABLE const struct dev_kernel k_block_forward_##MATH##_##NAME,                             \
        k_block_input_##MATH##_##NAME, k_block_weights_##MATH##_##NAME;
CONV_SMALLER_TILES(BLOCK_DECLARE, fp32)
CONV_SMALLER_TILES(BLOCK_DECLARE, tf32)
CONV_SMALLER_TILES(BLOCK_DECLARE, bf16)

#endif
