/* cuda/conv_fp32.cu: the products in fp32, by fused multiply-adds. */
#include "cuda/conv_gemm.h"
#include "cuda/side_gemm.h"

CONV_TILES(CONV_KERNEL, fp32, CUDA_FP32)
SIDE_CONV_KERNELS(fp32, CUDA_FP32)
