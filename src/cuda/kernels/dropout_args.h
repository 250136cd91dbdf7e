/* cuda/kernels/dropout_args.h: what the kernel of dropout is told. */
#ifndef CHORUS_CUDA_KERNELS_DROPOUT_ARGS_H
#define CHORUS_CUDA_KERNELS_DROPOUT_ARGS_H

#include "cuda/kernels/kernel.h"

struct dropout_args {
    const void *from;
    void *to;
    size_t from_stride, to_stride, n;
    uint64_t first;      /* the place of element 0 in the model's global batch */
    const uint32_t *key; /* (models, 2) */
    const struct dev_clock *clock;
    uint64_t limit; /* an element whose bits are at least this stays */
    float keep;
    int add, wide;
};

DEV_TABLE const struct dev_kernel k_dropout_float, k_dropout_bf16;

#endif
