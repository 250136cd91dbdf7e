#ifdef __AVX2__
#define LANES        8
#define KERNELS      cpu_kernels_avx2_8
#define KERNELS_NAME "avx2"
#define DENSE_G      2
#define DW_V         2
#define WINO_SUMS    12
#define WINO_T       2
#define WINO_B4      2
#include "cpu/kernels/kernels.inc"
#endif
typedef int kernels_avx2_8_may_be_empty;
