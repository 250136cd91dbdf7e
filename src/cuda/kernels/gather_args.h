/* cuda/kernels/gather_args.h: what the kernels that fetch images are told. */
#ifndef CHORUS_CUDA_KERNELS_GATHER_ARGS_H
#define CHORUS_CUDA_KERNELS_GATHER_ARGS_H

#include "cuda/kernels/grid.h"
#include "cuda/kernels/kernel.h"

struct gather_args {
    struct cuda_images from;
    size_t size; /* elements of an image */
    int wide;    /* four elements at a time */
    struct grid_divisor by_w, by_c;
    void *x;
    size_t x_stride;
    /* training */
    const struct dev_clock *clock;
    size_t batch, first, order_stride, label_stride;
    size_t x_turn, label_turn; /* between the places of even and of odd batches; 0: one place */
    int ahead;                 /* 1: the batch of the next step */
    int models;
    const uint32_t *order;
    uint16_t *label;
    int flip, crop, erase; /* crop: pixels of padding */
    /* evaluation */
    const uint32_t *at;
};

DEV_TABLE const struct dev_kernel k_gather_float, k_gather_bf16;
DEV_TABLE const struct dev_kernel k_gather_plain_float, k_gather_plain_bf16;

#endif
