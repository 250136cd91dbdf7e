#define KERNELS      cpu_kernels_base
#define KERNELS_NAME "base"
#define CONV_OC      3
#define CONV_X       1
#define WGT_OC       3
#define WGT_TAP      1
#define DENSE_N      3
#define DENSE_G      1
#define DENSE_1      3
#define DW_I         3
#define DW_V         1
#define WINO_SUMS    3
#define WINO_T       1
#define WINO_B4      1
#include "cpu/kernels.inc"
