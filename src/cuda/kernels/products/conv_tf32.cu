/* cuda/kernels/products/conv_tf32.cu: the products of operands rounded to tf32. */
#include "cuda/kernels/products/conv_gemm.h"
#include "cuda/kernels/products/side_gemm.h"

CONV_TILES(CONV_KERNEL, tf32, CUDA_TF32)
SIDE_CONV_KERNELS(tf32, CUDA_TF32)
