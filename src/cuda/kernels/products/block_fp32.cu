/* cuda/kernels/products/block_fp32.cu: blocks of convolution and pool in fp32. */
#include "cuda/kernels/products/block_gemm.h"
#include "cuda/kernels/products/side_gemm.h"

CONV_SMALLER_TILES(BLOCK_KERNEL, fp32, CUDA_FP32)
SIDE_BLOCK_KERNELS(fp32, CUDA_FP32)
