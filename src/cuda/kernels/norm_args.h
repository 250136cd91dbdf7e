/* cuda/kernels/norm_args.h: what the kernels of batch norm are told. */
#ifndef CHORUS_CUDA_KERNELS_NORM_ARGS_H
#define CHORUS_CUDA_KERNELS_NORM_ARGS_H

#include "cuda/kernels/kernel.h"

#define NORM_THREADS  256
#define NORM_CHANNELS 4 /* that a block takes from parts to the whole */

/* A group's values are a matrix of `rows` pixels by c channels. A block has a tile of it: `across`
 * threads have neighbouring channels, 1 or 16 bytes of them each, `lanes` of such rows of threads
 * take row after row of a part. grid: parts * tiles, groups, models. */
struct norm_args {
    const void *x, *dy, *x2; /* what a kernel reads of these */
    void *y;                 /* backward: dx */
    size_t x_stride, dy_stride, x2_stride, y_stride;
    const float *mean, *var, *scale, *bias, *sums;
    size_t mean_stride, var_stride, scale_stride, bias_stride, sums_stride;
    size_t group_stride; /* of mean and var; sums' is 2c */
    size_t rows, part_rows;
    unsigned parts, tiles, across, lanes;
    int c, act, add;
    float count;
    void *scratch; /* two doubles for each (models; groups, parts, c) */
    float *out;
    size_t out_stride;
    /* The whole's two values once more, times factor; NULL: not */
    float *first, *second;
    size_t first_stride, second_stride;
    float factor;
};

struct norm_small_args { /* a thread a channel */
    const float *from, *from2;
    float *to, *to2;
    size_t from_stride, from2_stride, group_stride, to_stride, to2_stride;
    int c, groups;
    float factor, divisor;
};

#define NORM_OF(NAME)                                                                              \
    DEV_TABLE const struct dev_kernel k_norm_##NAME##_float, k_norm_##NAME##_float4,               \
        k_norm_##NAME##_bf16, k_norm_##NAME##_bf16x8

NORM_OF(moments); /* of a part: sum, and squares about its mean */
NORM_OF(sum);
NORM_OF(squares);  /* about the mean */
NORM_OF(products); /* of dy and x - mean; and the sum of dy */
NORM_OF(forward);
NORM_OF(backward);

/* From parts to what they are parts of: a block NORM_CHANNELS channels. */
DEV_TABLE const struct dev_kernel k_norm_end_moments, k_norm_end_sum, k_norm_end_products;
/* to = groups' sums of `from`, times factor, by divisor; to2 of from2. */
DEV_TABLE const struct dev_kernel k_norm_small;

#endif
