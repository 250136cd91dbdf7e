/* cuda/launch/conv_plan.h: which tile computes a product, and into how many parts its depth is cut. */
#ifndef CHORUS_CUDA_LAUNCH_CONV_PLAN_H
#define CHORUS_CUDA_LAUNCH_CONV_PLAN_H

#include "cuda/launch/conv.h"
#include "cuda/kernels/products/conv_args.h"

struct conv_size {
    size_t rows, cols, depth; /* of one model; the input's gradient: of the largest remainder */
    int remainders;
};
struct conv_size conv_size_of(const struct cuda_conv *c, enum conv_op op);

struct conv_tile_facts {
    int rows, cols, slices, stages;
    const struct dev_kernel *kernel[CONV_OPS][CUDA_MATHS];
};
extern const struct conv_tile_facts conv_tiles[CONV_TILE_COUNT];
/* Bytes of shared memory of a block whose share of the depth is `depth`. */
size_t conv_tile_shared(const struct conv_tile_facts *t, enum conv_op op, enum cuda_math math,
                        size_t depth);

struct conv_plan {
    const struct conv_tile_facts *tile;
    size_t parts, chunk; /* of the depth */
};
/* The order of a model's sums depends on its own shape alone, not on how many models there are. */
struct conv_plan conv_plan_of(const struct cuda_conv *c, enum conv_op op);
/* By one of the tiles from `first` on. */
struct conv_plan conv_plan_from(const struct cuda_conv *c, enum conv_op op, int first);
/* By the given tile, of one model; *cost: clocks, as the rough model has them. */
struct conv_plan conv_plan_by(const struct cuda_conv *c, enum conv_op op, int tile, double *cost);

#endif
