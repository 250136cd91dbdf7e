/* cuda/kernels/kernel.h: a kernel as C sees it, and what all kernels are told about numbers. */
#ifndef CHORUS_CUDA_KERNELS_KERNEL_H
#define CHORUS_CUDA_KERNELS_KERNEL_H

#include <stddef.h>
#include <stdint.h>

struct dev_kernel {
    const char *name;
    const void *entry; /* the runtime's handle: a device function, or the emulator's body */
    int threads;       /* of a block */
};

#ifdef __cplusplus
#define DEV_TABLE extern "C"
#else
#define DEV_TABLE extern
#endif

/* How products are computed and activations stored. */
enum cuda_math {
    CUDA_FP32, /* fused multiply-adds in fp32 */
    CUDA_TF32, /* operands rounded to tf32, sums and storage in fp32 */
    CUDA_BF16, /* activations, their gradients and a copy of the weights in bf16; sums in fp32 */
};
#define CUDA_MATHS 3

static inline size_t cuda_element(enum cuda_math m) /* bytes of an activation */
{
    return m == CUDA_BF16 ? 2 : 4;
}

enum cuda_act { CUDA_LINEAR, CUDA_RELU, CUDA_TANH };

/* Where a place stands, on the device: kernels read it, so that a graph of steps is the same for all
 * steps. One kernel (cuda/launch/steps.h) writes it at the end of each step. */
struct dev_clock {
    uint64_t step;   /* t: updates done before this step, over the whole run */
    uint32_t batch;  /* of the epoch: which one this step takes */
    uint32_t row;    /* of the span: where this step's results and learning rate stand */
    uint32_t halted; /* a loss was not finite: later steps of the span change nothing */
    uint32_t key[2]; /* the epoch's order key, for augmentation */
    uint32_t done;   /* steps of the span that were made */
};

struct cuda_images {      /* a part of the data set, on the device */
    const uint8_t *bytes; /* (count, h, w, c), or NULL */
    const float *values;  /* (count, h, w, c), or NULL */
    const float *lut;     /* (c, 256) */
    const uint16_t *labels;
    size_t count;
    int h, w, c;
};

/* A row of the results of a span, in pinned memory: (rows, units of this place). */
struct cuda_result {
    double loss_sum;
    uint32_t right, not_finite;
};

#endif
