/* cuda/kernels/pool_args.h: what the kernels of pools are told. */
#ifndef CHORUS_CUDA_KERNELS_POOL_ARGS_H
#define CHORUS_CUDA_KERNELS_POOL_ARGS_H

#include "cuda/kernels/grid.h"
#include "cuda/kernels/kernel.h"

/* A thread has one item: neighbouring channels of one cell of an image. A cell is an output's place
 * (forward), the stride x stride inputs that a window begins with (backward, windows apart), or one
 * input (backward, windows that overlap, and means). */
struct pool_args {
    const void *x, *dy, *gate; /* what a kernel reads of these */
    void *y, *dx;
    size_t x_stride, dy_stride, gate_stride, y_stride, dx_stride;
    size_t image; /* the first one that this launch takes */
    uint32_t items;
    int h, w, c, oh, ow;
    int k, stride, act, add;
    struct grid_divisor by_channels, by_w,
        by_h; /* an item: its channels, then column, row, image */
};

#define POOL_OF(NAME)                                                                              \
    DEV_TABLE const struct dev_kernel k_pool_##NAME##_float, k_pool_##NAME##_float4,               \
        k_pool_##NAME##_bf16, k_pool_##NAME##_bf16x8

POOL_OF(max);
POOL_OF(average);
POOL_OF(max_apart);
POOL_OF(average_apart);
POOL_OF(max_overlap);
POOL_OF(average_overlap);
POOL_OF(mean);
POOL_OF(spread);

#endif
