/* cuda/kernels/products/conv_bf16.cu: the products in bf16. */
#include "cuda/kernels/products/conv_gemm.h"
#include "cuda/kernels/products/side_gemm.h"

CONV_TILES(CONV_KERNEL, bf16, CUDA_BF16)
SIDE_CONV_KERNELS(bf16, CUDA_BF16)
