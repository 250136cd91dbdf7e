/* cuda/kernels/products/conv_fp32.cu: the products in fp32, by fused multiply-adds. */
#include "cuda/kernels/products/conv_gemm.h"
#include "cuda/kernels/products/side_gemm.h"

CONV_TILES(CONV_KERNEL, fp32, CUDA_FP32)
SIDE_CONV_KERNELS(fp32, CUDA_FP32)
