/* cuda/kernels/products/block_bf16.cu: blocks of convolution and pool in bf16. */
#include "cuda/kernels/products/block_gemm.h"
#include "cuda/kernels/products/side_gemm.h"

CONV_SMALLER_TILES(BLOCK_KERNEL, bf16, CUDA_BF16)
SIDE_BLOCK_KERNELS(bf16, CUDA_BF16)
