/* cuda/kernels/act_args.h: what the kernels of activations and sums are told. */
#ifndef CHORUS_CUDA_KERNELS_ACT_ARGS_H
#define CHORUS_CUDA_KERNELS_ACT_ARGS_H

#include "cuda/kernels/kernel.h"

struct act_args {
    size_t n; /* elements of a model */
    int act, add, wide;
    const void *x, *x2; /* forward: x2 may be NULL. Backward: y, which may be NULL, and dy */
    void *y;            /* backward: dx */
    size_t x_stride, x2_stride, y_stride;
};

DEV_TABLE const struct dev_kernel k_act_float, k_act_bf16, k_act_back_float, k_act_back_bf16;

#endif
