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
#include "cpu/kernels.inc"

/* The same numbers as round_bf16 makes, but what is below all normal ones becomes zero. */
__attribute__((target("avx512bf16"))) static void round_bf16_at_once(size_t n, const float *x,
                                                                     float *y)
{
    for (size_t i = 0; i < n; i += LANES) {
        __mmask16 mask = (__mmask16)(n - i < LANES ? (1u << (n - i)) - 1 : 0xffff);
        __m512 v = _mm512_maskz_loadu_ps(mask, x + i);
        __m256i half = (__m256i)_mm512_cvtneps_pbh(v);
        _mm512_mask_storeu_ps(y + i, mask,
                              (__m512)_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
    }
}

#undef KERNELS_HALF
#define KERNELS_HALF NULL
KERNELS_TABLE(cpu_kernels_avx512bf16, "avx512bf16", round_bf16_at_once);
#endif
typedef int kernels_avx512_may_be_empty;
