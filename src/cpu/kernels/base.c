#define KERNELS      cpu_kernels_base
#define KERNELS_NAME "base"
#define DENSE_G      1
#define DENSE_1      3
#define DW_V         1
#define WINO_SUMS    3
#define WINO_T       1
#define WINO_B4      1
#include "cpu/kernels/kernels.inc"
