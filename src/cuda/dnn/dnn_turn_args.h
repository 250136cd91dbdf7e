/* cuda/dnn/dnn_turn_args.h: arguments of the kernels that turn weights. */
#ifndef CHORUS_CUDA_DNN_DNN_TURN_ARGS_H
#define CHORUS_CUDA_DNN_DNN_TURN_ARGS_H

#include "cuda/kernels/kernel.h"

#define TURN_TILE 32

struct k_turn {
    const void *from; /* (rows, columns) */
    void *to;         /* (columns, rows) */
    int rows, columns;
};

DEV_TABLE const struct dev_kernel k_turn_f32, k_turn_b16, k_turn_b16_to_f32;

#endif
