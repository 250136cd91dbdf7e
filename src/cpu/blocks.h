/* cpu/blocks.h: convolutions of fewer images than a group has lanes. A picture is cut into blocks of
 * outputs, and the blocks of all images lie in the lanes of groups of their own, as if they were
 * images: the layer's other kernels do these, and no lane has nothing to do. */
#ifndef CHORUS_CPU_BLOCKS_H
#define CHORUS_CPU_BLOCKS_H

#include "cpu/conv.h"

struct cpu_blocks {
    const struct cpu_conv_ops *ops; /* that do a group of blocks */
    int lanes;                      /* of these */
    struct cpu_conv_layer part;     /* a block: what lies around it is in its input, without pads */
    int images, apart;              /* of the layer itself: in the first lanes of so many */
    int down, across;               /* blocks of a picture */
    int groups;                     /* of blocks; lane (block * images + image) of all of them */
};

/* Cycles that threads must save to share a layer: tests change it. */
extern double cpu_blocks_meet;

/* The cheapest cut of a layer for kernels of `lanes` lanes, in *b, where so many threads share out
 * its groups. Returns its cost in cycles of conv.h, of all images: INFINITY where there is none. */
double cpu_blocks_cut(struct cpu_blocks *b, const struct cpu_conv_layer *c,
                      const struct cpu_conv_ops *ops, int lanes, int images, int apart, int threads,
                      bool dx);

/* The cut into blocks of h x w outputs, multiples of the pool. */
struct cpu_blocks cpu_blocks_of(const struct cpu_conv_layer *c, const struct cpu_conv_ops *ops,
                                int lanes, int images, int apart, int h, int w);

/* What a group of so many lanes takes, where one of 16 takes 1. */
double cpu_blocks_group(int lanes);

/* Of conv.h's pass, for all blocks. */
size_t cpu_blocks_bits(const struct cpu_blocks *b);

/* The family: layers have their cut in c->blocks, and one group. */
extern const struct cpu_conv_ops cpu_conv_blocks;

/* The same for threads that share a layer: groups from..to of blocks, each thread with a scratch of
 * its own. `out` holds zeros. Gradients to the inputs stay in scratch, ... */
void cpu_blocks_forward(const struct cpu_conv_layer *c, int from, int to, const float *w,
                        const float *packed, const float *bias, const float *in, float *out,
                        uint16_t *pass, float *scratch);
void cpu_blocks_backward(const struct cpu_conv_layer *c, int from, int to, const float *packed,
                         const float *in, const float *dy, const uint16_t *pass, bool dx, float *dw,
                         float *db, float *scratch);
/* ... until all are there: then those of groups from..to are added to dx, which (not add) is zero
 * before the first of them, in channels first..last. */
void cpu_blocks_give(const struct cpu_conv_layer *c, int from, int to, const float *scratch,
                     int first, int last, bool add, float *dx);

#endif
