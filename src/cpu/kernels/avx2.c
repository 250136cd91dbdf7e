#ifdef __AVX2__
#define KERNELS      cpu_kernels_avx2
#define KERNELS_NAME "avx2"
#define KERNELS_HALF &cpu_kernels_avx2_8
#define DENSE_G      1
#define DENSE_1      6
#define DW_V         1
#define WINO_SUMS    6
#define WINO_T       1
#define WINO_B4      2
#include "cpu/kernels/kernels.inc"
#endif
typedef int kernels_avx2_may_be_empty;
