/* Kernels for tests/unit/cuda/emu_test.c: right ones, and mistakes to be found. */
#ifndef CHORUS_TESTS_UNIT_CUDA_EMU_KERNELS_H
#define CHORUS_TESTS_UNIT_CUDA_EMU_KERNELS_H

#include "cuda/kernels/kernel.h"

struct gemm_args { /* c (m, n) = a (m, k) b (n, k)^T; k a multiple of 4 */
    const float *a, *b;
    float *c;
    int m, n, k;
    int bug;
};
enum gemm_bug {
    GEMM_RIGHT,
    GEMM_READ,      /* no barrier before what others copied is read */
    GEMM_FRAGMENT,  /* a lane takes the wrong element */
    GEMM_OVERWRITE, /* no barrier before a buffer is filled again */
    GEMM_WAIT,      /* the newest copies are not waited for */
    GEMM_ROUND,     /* an operand is not rounded to tf32 */
};
#define GEMM_STRIDE 20 /* floats of a row of a slab in shared memory */
#define GEMM_SHARED (2 * 2 * 64 * GEMM_STRIDE * 4)

struct half_args { /* c (16, 16) = a (16, 16) b (16, 16), b with k in rows; one warp */
    const uint16_t *a, *b;
    float *c;
};
#define HALF_STRIDE 24
#define HALF_SHARED (2 * 16 * HALF_STRIDE * 2)

struct warp_args { /* all (threads): one value of each lane, in every way between lanes */
    const float *in;
    float *by_lane, *by_xor, *by_down, *tf32, *half;
    double *wide;
    uint32_t *any, *packed, *bits, *sum;
    uint32_t key[2];
};

struct math_args { /* (n, 8): of in (n) */
    const float *in;
    float *out;
    int n;
};

struct wrong_args {
    float *out;
    int mistake;
};
enum wrong_mistake {
    WRONG_NONE,
    WRONG_BEHIND,      /* shared memory is left at its end */
    WRONG_UNSET,       /* and read before it was written */
    WRONG_DIVERGED,    /* lanes of a warp work at different things */
    WRONG_MISSING,     /* a lane does not come to its warp's work */
    WRONG_BARRIER,     /* a thread returns, the others wait */
    WRONG_LANES,       /* a lane reads what another wrote, without dev_sync_warp */
    WRONG_COPY,        /* an asynchronous copy to an address that is not aligned */
    WRONG_COPY_BEHIND, /* and one that leaves shared memory */
    WRONG_MATRIX,      /* rows of a matrix outside shared memory */
};
#define WRONG_SHARED (64 * 4 + 64)

struct order_args { /* who came when */
    uint32_t *next, *blocks, *warps;
};

struct add_args { /* y += by, n of them */
    float *y;
    float by;
    int n;
};

DEV_TABLE const struct dev_kernel k_gemm_tf32, k_half, k_warp, k_math, k_wrong, k_order, k_add;

#endif
