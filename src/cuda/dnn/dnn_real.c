/* cuda/dnn/dnn_real.c: on real GPUs cuDNN is cuDNN. */
#include "cuda/dnn/dnn_abi.h"

const struct cuda_dnn_api *cuda_dnn_replaced(void)
{
    return NULL;
}
