/* cpu/conv.h: a convolution with what is fused to it, as one step of the CPU backend. Families of
 * kernels fill in the table: `direct` does every convolution, `wino` those that Winograd's algorithm
 * makes cheaper, `taps` does every one by dense layers; `blocks` cuts pictures up for the others
 * (blocks.h). Layout of all pictures: batch in lanes, [c][h][w][lanes]; groups of images
 * lie behind each other without gaps. in, out, dy, dx, packed and scratch are 64-byte aligned; w,
 * bias, dw, db and pass are not. Lanes without an image hold any numbers, with zero gradients. */
#ifndef CHORUS_CPU_CONV_H
#define CHORUS_CPU_CONV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Gradients go by what is zero and what is above: */
enum cpu_conv_care {
    CPU_CONV_ZEROS, /* outputs that saw only zeros are the bias: they are equal maxima */
    CPU_CONV_SIGNS, /* signs are right, too: a relu stands farther behind */
    CPU_CONV_NONE,  /* evaluating: no gradient comes */
};

/* conv, then relu (if so), then a pool whose windows touch but do not overlap (pool > 1). */
struct cpu_conv_layer {
    int cin, cout, k, stride;
    int pad_top, pad_left; /* what is read outside the input, on any side, is zero */
    int in_h, in_w;        /* of the input, without padding */
    int conv_h, conv_w;    /* the convolution's outputs that somebody needs: multiples of pool; may
                              be fewer than the input allows */
    bool relu;
    int pool;                        /* window and stride; 1: none */
    bool max;                        /* the pool takes the maximum, else the mean */
    const struct cpu_blocks *blocks; /* of that family: how the pictures are cut */
    enum cpu_conv_care care;         /* of outputs near zero, beside what relu needs */
};

static inline int cpu_conv_out_h(const struct cpu_conv_layer *c)
{
    return c->conv_h / c->pool;
}

static inline int cpu_conv_out_w(const struct cpu_conv_layer *c)
{
    return c->conv_w / c->pool;
}

/* Whether going backward needs to know which of the convolution's outputs let the gradient pass. */
static inline bool cpu_conv_masks(const struct cpu_conv_layer *c)
{
    return c->relu || (c->pool > 1 && c->max);
}

struct cpu_conv_ops {
    /* Whether this family does such a layer, and what forward and backward of 16 images cost, in
     * cycles, roughly (dx: the gradient of the input is wanted): the cheaper family is taken. */
    bool (*can)(const struct cpu_conv_layer *c);
    double (*cost)(const struct cpu_conv_layer *c, bool dx);
    /* Floats of packed weights (with what dx needs, if wanted), and of scratch that forward and
     * backward of so many groups use. */
    size_t (*packed)(const struct cpu_conv_layer *c, bool dx);
    size_t (*scratch)(const struct cpu_conv_layer *c, int groups, bool dx);
    /* What forward alone, or backward alone, uses of that; NULL: all of it. */
    size_t (*scratch_of)(const struct cpu_conv_layer *c, int groups, bool back);
    /* w: Flax's (k, k, cin, cout). Part `part` of `parts` of the work; the parts are disjoint, and
     * threads do them at the same time. */
    void (*pack)(const struct cpu_conv_layer *c, bool dx, const float *w, float *packed, int part,
                 int parts);
    /* w: what packed was made of. bias may be NULL. pass: a bit a lane, [groups][cout][conv_h][conv_w]:
     * set where the gradient of the output reaches that output of the convolution (above zero where
     * there is a relu; the first of the equal maxima of a maximum); NULL when evaluating or where
     * cpu_conv_masks is false. What is not a number stays none through the relu and the pools. */
    void (*forward)(const struct cpu_conv_layer *c, int groups, const float *w, const float *packed,
                    const float *bias, const float *in, float *out, uint16_t *pass, float *scratch);
    /* From dy, the gradient to out: dw (k, k, cin, cout) += and db (cout; may be NULL) +=; dx, the
     * gradient to in, = or (add) +=, NULL where nobody needs it. */
    void (*backward)(const struct cpu_conv_layer *c, int groups, const float *packed,
                     const float *in, const float *dy, const uint16_t *pass, float *dx, bool add,
                     float *dw, float *db, float *scratch);
    /* Of products in bf16: what is stored in out is rounded, and dy is as it is read. */
    bool rounds;
    /* Whether dx may be dy, where both are as large and it is not added to, of so many groups and
     * fewer; NULL: never. */
    bool (*dx_over_dy)(const struct cpu_conv_layer *c, int groups);
};

#endif
