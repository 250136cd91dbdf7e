/* cuda/kernels/tail_args.h: what the kernel of a network's end is told. */
#ifndef CHORUS_CUDA_KERNELS_TAIL_ARGS_H
#define CHORUS_CUDA_KERNELS_TAIL_ARGS_H

#include "cuda/kernels/kernel.h"

#define TAIL_THREADS 128
#define TAIL_IMAGES  2  /* of a block, which reads the weights once for all of them */
#define TAIL_MOST    16 /* outputs */
#define TAIL_ROOM    ((TAIL_IMAGES * TAIL_MOST * (TAIL_THREADS + 4) + 8) * sizeof(float))

struct tail_image {
    float loss;
    uint32_t right;
};

struct tail_args {
    const struct dev_clock *clock;
    const void *x, *weight;
    const float *bias; /* may be NULL */
    void *z, *dz, *dx; /* dx may be NULL */
    const uint16_t *label;
    struct tail_image *image; /* (models; n) */
    uint32_t *turn; /* (units), of all units, how many are not finite; 0 between kernels */
    struct cuda_result *results;
    float *flag;
    size_t x_stride, weight_stride, bias_stride, z_stride, dz_stride, dx_stride, label_stride,
        label_turn;
    int n, c, outputs, shards, images; /* images: of a shard */
    int blocks;                        /* of a shard */
    int act, gated;                    /* dx is multiplied by the activation's derivative, from x */
    int pair;                          /* two neighbouring weights may be read at once */
    float weight_of;                   /* of an image's loss in the gradient */
};

DEV_TABLE const struct dev_kernel k_tail_float, k_tail_bf16;

#endif
