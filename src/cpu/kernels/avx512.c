#ifdef __AVX512F__
#define KERNELS      cpu_kernels_avx512
#define KERNELS_NAME "avx512"
#define KERNELS_HALF &cpu_kernels_avx512_8
#define DENSE_G      4
#define DENSE_1      24
#define DW_V         4
#define WINO_SUMS    24
#define WINO_T       4
#define WINO_B4      6
#include "cpu/kernels/kernels.inc"

static void round_bf16_at_once(size_t n, const float *x, float *y)
{
    round_by(n, x, CPU_ROUND_BF16_AT_ONCE, y);
}

#undef KERNELS_HALF
#define KERNELS_HALF NULL
KERNELS_TABLE(cpu_kernels_avx512bf16, "avx512bf16", CPU_ROUND_BF16_AT_ONCE, round_bf16_at_once);
#endif
typedef int kernels_avx512_may_be_empty;
