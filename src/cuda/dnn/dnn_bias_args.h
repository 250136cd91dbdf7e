/* cuda/dnn/dnn_bias_args.h: arguments of the kernels that add a bias to what cuDNN gave. */
#ifndef CHORUS_CUDA_DNN_DNN_BIAS_ARGS_H
#define CHORUS_CUDA_DNN_DNN_BIAS_ARGS_H

#include "cuda/kernels/kernel.h"

struct dnn_bias {
    size_t n; /* elements of a model: rows of c channels, c a multiple of 8 */
    int c, act;
    const float *bias;
    void *y;
    size_t bias_stride, y_stride;
};

DEV_TABLE const struct dev_kernel k_dnn_bias_float, k_dnn_bias_bf16;

#endif
