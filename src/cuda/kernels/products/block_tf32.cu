/* cuda/kernels/products/block_tf32.cu: blocks of convolution and pool in tf32. */
#include "cuda/kernels/products/block_gemm.h"
#include "cuda/kernels/products/side_gemm.h"

CONV_SMALLER_TILES(BLOCK_KERNEL, tf32, CUDA_TF32)
SIDE_BLOCK_KERNELS(tf32, CUDA_TF32)
