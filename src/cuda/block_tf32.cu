/* cuda/block_tf32.cu: blocks of convolution and pool in tf32. */
#include "cuda/block_gemm.h"
#include "cuda/side_gemm.h"

CONV_SMALLER_TILES(BLOCK_KERNEL, tf32, CUDA_TF32)
SIDE_BLOCK_KERNELS(tf32, CUDA_TF32)
