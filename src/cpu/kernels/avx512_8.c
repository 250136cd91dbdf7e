#ifdef __AVX512VL__
#define LANES        8
#define KERNELS      cpu_kernels_avx512_8
#define KERNELS_NAME "avx512"
#define DENSE_G      2
#define DW_V         4
#define WINO_SUMS    24
#define WINO_T       4
#define WINO_B4      6
#include "cpu/kernels/kernels.inc"
#endif
typedef int kernels_avx512_8_may_be_empty;
