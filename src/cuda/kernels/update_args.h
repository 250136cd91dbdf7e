/* cuda/kernels/update_args.h: what the kernels of the update are told. */
#ifndef CHORUS_CUDA_KERNELS_UPDATE_ARGS_H
#define CHORUS_CUDA_KERNELS_UPDATE_ARGS_H

#include "cuda/kernels/kernel.h"

enum update_rule { UPDATE_SGD, UPDATE_MOMENTUM, UPDATE_NESTEROV, UPDATE_ADAM, UPDATE_ADAMW };

struct update_core { /* how a parameter is updated */
    const struct dev_clock *clock;
    const double *lr;
    double exact_beta1, exact_beta2;
    int rule;
    float momentum, beta1, beta2, rest1, rest2, epsilon, decay, clip;
};

struct update_args {
    struct update_core core;
    const float *norm; /* (models), NULL where nothing is clipped */
    const float *gradient, *batch_stats;
    float *params, *slot1, *slot2, *running;
    void *half; /* NULL: no copy in bf16 */
    size_t gradient_stride, params_stride, slot1_stride, slot2_stride, half_stride;
    size_t batch_stats_stride, running_stride;
    size_t n, stats;
    unsigned blocks; /* of the parameters; those after them have the running statistics */
    int wide;
};

/* An update by the kernel that ends a gradient. All these lie as the gradient of all models does: an
 * element's place in it is its place in each. */
struct update_here {
    struct update_core core; /* clock NULL: none */
    const float *gradient;
    float *params, *slot1, *slot2;
    void *half;
};

struct update_norm_args { /* of the gradient */
    const struct dev_clock *clock;
    const float *gradient;
    size_t gradient_stride, n;
    double *parts; /* (models; count) */
    float *norm;   /* (models) */
    unsigned count;
};

/* The clock goes on: the end of a step. */
struct tick_args {
    struct dev_clock *clock; /* NULL where another kernel does it */
    const float *flag;
    uint32_t *turn; /* of the kernel's blocks, the last of which does it; 0 between kernels */
};

struct halve_args {
    const float *from;
    void *to;
    size_t from_stride, to_stride, n;
    int wide;
};

struct parts_args {
    const float *from;
    float *to;
    size_t n;
    int parts;
    float factor;
};

DEV_TABLE const struct dev_kernel k_update, k_update_norm_parts, k_update_norm, k_tick, k_halve;
DEV_TABLE const struct dev_kernel k_mean_parts;

#endif
