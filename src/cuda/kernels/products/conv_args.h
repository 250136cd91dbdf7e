/* cuda/kernels/products/conv_args.h: what the kernels of convolution are told. All three are one product of matrices,
 * to[row][col] = sum over depth of from[row][depth] * with[depth][col], whose first operand is
 * gathered from images where it is needed:
 *
 *               row               col   depth                  from       with
 *   forward     pixel of y        oc    tap, c                 x          weight
 *   input       pixel of x        c     tap, oc                dy         weight
 *   weights     tap, c            oc    pixel of y             x          dy
 *
 * The input's gradient with a stride is stride^2 products, one for each remainder of a pixel's row and
 * column: those pixels meet the same taps. The weights' depth is split over blocks, whose parts the last
 * of them adds up, in order: first in groups of `fan`, then the groups. */
#ifndef CHORUS_CUDA_KERNELS_PRODUCTS_CONV_ARGS_H
#define CHORUS_CUDA_KERNELS_PRODUCTS_CONV_ARGS_H

#include "cuda/kernels/update_args.h"

enum conv_op { CONV_FORWARD, CONV_INPUT, CONV_WEIGHTS };
#define CONV_OPS 3

/* n / by for n < 2^31, without a division. */
struct conv_by {
    uint32_t by, times;
    int shift;
};

#define CONV_FAN   16 /* parts of a group, and groups, at most */
#define CONV_TURNS (1 + CONV_FAN)

/* What ends the weights' gradient, behind the product. */
struct conv_end {
    float *to, *bias_to; /* the gradients */
    size_t to_stride, bias_to_stride;
    uint32_t *turns; /* (models; tiles, CONV_TURNS), 0 between kernels */
    uint32_t parts, fan, tiles;
    struct update_here update;
    struct tick_args tick;
};

struct conv_args {
    const void *from, *with, *gate;
    const float *bias;
    void *to;
    float *bias_to; /* weights: sums of the columns of `with` */
    size_t from_stride, with_stride, gate_stride, bias_stride, to_stride, bias_to_stride;
    size_t part;           /* weights: elements of `to` between splits */
    uint32_t rows, cols;   /* rows: input: of all remainders */
    uint32_t depth, chunk; /* chunk: depth of a split */
    uint32_t col_tiles;
    int n, h, w, c; /* of `from` */
    int th, tw;     /* of the image that pixels are counted in: y, or x for the input */
    int k, stride, pad_top, pad_left;
    struct conv_by by_c, by_k, by_k_less, by_tw,
        by_pixels; /* by_k: taps in a row: k / stride, up */
    int act, add;
    int from_bytes, with_bytes;    /* how much may be copied at once: 16, 8, 4, 2 */
    int pair;                      /* two results may be stored at once */
    const struct dev_clock *turns; /* of even and odd batches; NULL: `from` has one place */
    size_t from_turn;
    struct conv_end end; /* weights */
};

struct conv_place { /* a pixel of `from`, in shared memory */
    size_t at;
    int r, q;
};

/* The tiles: name, rows, cols, slices, stages. A slab of depth is 64 bytes for each slice; slices are
 * groups of warps that share a tile's depth. */
#define CONV_SMALLER_TILES(X, ...)                                                                 \
    X(128x64, 128, 64, 1, 4, __VA_ARGS__)                                                          \
    X(64x64, 64, 64, 1, 4, __VA_ARGS__)                                                            \
    X(128x32, 128, 32, 1, 4, __VA_ARGS__)                                                          \
    X(32x32, 32, 32, 4, 4, __VA_ARGS__)
#define CONV_TILES(X, ...)                                                                         \
    X(128x128, 128, 128, 1, 4, __VA_ARGS__)                                                        \
    CONV_SMALLER_TILES(X, __VA_ARGS__)
#define CONV_TILE_COUNT 5

/* A tile lies in shared memory with its depth contiguous (padded by 16 bytes), or with its rows or
 * columns contiguous (padded by 8 of them): both keep fragments free of bank conflicts. */
#define CONV_SLAB(ELEMENT, SLICES) ((SLICES)*64 / (ELEMENT))
#define CONV_DEEP(ELEMENT, SIDE, SLICES)                                                           \
    ((SIDE) * (CONV_SLAB(ELEMENT, SLICES) + 16 / (ELEMENT)) * (ELEMENT))
#define CONV_WIDE(ELEMENT, SIDE, SLICES) (CONV_SLAB(ELEMENT, SLICES) * ((SIDE) + 8) * (ELEMENT))
#define CONV_A(ELEMENT, OP, ROWS, SLICES)                                                          \
    ((OP) == CONV_WEIGHTS ? CONV_WIDE(ELEMENT, ROWS, SLICES) : CONV_DEEP(ELEMENT, ROWS, SLICES))
#define CONV_B(ELEMENT, OP, COLS, SLICES)                                                          \
    ((OP) == CONV_INPUT ? CONV_DEEP(ELEMENT, COLS, SLICES) : CONV_WIDE(ELEMENT, COLS, SLICES))
#define CONV_DECODED          128 /* pixels of the depth that are worked out at once */
#define CONV_PLACES(OP, ROWS) ((OP) == CONV_WEIGHTS ? 2 * CONV_DECODED : (ROWS))
/* Shared memory: the places and where rows go, then the stages of both operands, of which there are no
 * more than slabs. */
#define CONV_FRONT(OP, ROWS)                                                                       \
    ((size_t)CONV_PLACES(OP, ROWS) * sizeof(struct conv_place) +                                   \
     (size_t)((OP) == CONV_WEIGHTS ? 0 : (ROWS)) * sizeof(size_t))
#define CONV_SHARED(ELEMENT, OP, ROWS, COLS, SLICES, STAGES)                                       \
    (CONV_FRONT(OP, ROWS) +                                                                        \
     (STAGES) * (size_t)(CONV_A(ELEMENT, OP, ROWS, SLICES) + CONV_B(ELEMENT, OP, COLS, SLICES)))

#define CONV_DECLARE(NAME, ROWS, COLS, SLICES, STAGES, MATH)                                       \
    DEV_TABLE const struct dev_kernel k_conv_forward_##MATH##_##NAME,                              \
        k_conv_input_##MATH##_##NAME, k_conv_weights_##MATH##_##NAME;
CONV_TILES(CONV_DECLARE, fp32)
CONV_TILES(CONV_DECLARE, tf32)
CONV_TILES(CONV_DECLARE, bf16)

#endif
