/* cuda/kernels/loss_args.h: what the kernels of the loss are told. */
#ifndef CHORUS_CUDA_KERNELS_LOSS_ARGS_H
#define CHORUS_CUDA_KERNELS_LOSS_ARGS_H

#include "cuda/kernels/kernel.h"

#define LOSS_THREADS 256
#define LOSS_FEW     64 /* outputs up to which a thread takes an image; of many, a warp does */

struct loss_args {
    const struct dev_clock *clock;
    const void *z;
    void *dz;
    const uint16_t *label;
    struct cuda_result *results;
    float *flag;
    size_t z_stride, dz_stride, label_stride;
    int models, shards, images, outputs; /* images: of a shard */
    float weight;
    uint32_t none; /* no padding, which holds what the stack did: that may look like an address */
};

/* A block a unit; then one block that counts the units that are not finite, where there are several. */
DEV_TABLE const struct dev_kernel k_loss_few_float, k_loss_few_bf16, k_loss_many_float,
    k_loss_many_bf16, k_loss_flag;

#endif
