/* cuda/launch/conv.h: convolution and dense layers (a dense layer is a convolution with k = 1 on 1 x 1 pixels
 * of `c` channels) as our own implicit GEMMs, for all models of a place at once (grid.z). Layouts:
 * activations (n, h, w, c), kernels (k, k, c, oc) as in Flax. Sums are taken in a fixed order: the same
 * call gives the same bits. */
#ifndef CHORUS_CUDA_LAUNCH_CONV_H
#define CHORUS_CUDA_LAUNCH_CONV_H

#include "cuda/launch/launch.h"
#include "cuda/kernels/update_args.h"

struct cuda_conv {
    int models;
    int n; /* images of a model */
    int h, w, c, oh, ow, oc;
    int k, stride, pad_top, pad_left;
    int pad_bottom, pad_right; /* what cuDNN wants to know besides */
    enum cuda_math math;
};

/* y = act(conv(x) + bias). bias: fp32, may be NULL. weight: fp32, or its bf16 copy in CUDA_BF16. */
void cuda_conv_forward(struct cuda_list *l, const struct cuda_conv *c, struct cuda_view x,
                       struct cuda_view weight, struct cuda_view bias, enum cuda_act act,
                       struct cuda_view y);
/* dx = gradient of the input, times act'(gate), where gate (may be NULL) is what the activation in
 * front of this layer gave out, x itself; add: added to dx instead. */
void cuda_conv_input(struct cuda_list *l, const struct cuda_conv *c, struct cuda_view dy,
                     struct cuda_view weight, struct cuda_view gate, enum cuda_act act, bool add,
                     struct cuda_view dx);
/* Where a weights' gradient goes, and what comes behind it. */
struct cuda_weights {
    struct cuda_view dweight, dbias; /* fp32; dbias may be NULL */
    void
        *scratch; /* cuda_conv_scratch bytes, free again when the list goes on: layers share them */
    uint32_t *turns; /* cuda_conv_turns bytes; 0, and 0 again when the list goes on */
    const struct update_here *update; /* NULL: none. The gradient's strides are then the update's */
};
/* Sums over all images, in a fixed order. */
size_t cuda_conv_scratch(const struct cuda_conv *c);
size_t cuda_conv_turns(const struct cuda_conv *c);
void cuda_conv_weights(struct cuda_list *l, const struct cuda_conv *c, struct cuda_view x,
                       struct cuda_view dy, const struct cuda_weights *to);
/* The last launch of the list, forward or of weights, reads x at x + turn elements where the clock's
 * batch is odd. */
struct cuda_turn {
    const struct dev_clock *clock; /* NULL: x has one place */
    size_t turn;
};
void cuda_conv_turn(struct cuda_list *l, const struct cuda_turn *t);
/* The last launch of the list is one of weights: the clock ticks when it ends. */
void cuda_conv_tick(struct cuda_list *l, const struct tick_args *tick);

/* The same by a given plan. */
struct conv_plan;
void conv_forward_by(struct cuda_list *l, const struct cuda_conv *c, const struct conv_plan *p,
                     struct cuda_view x, struct cuda_view weight, struct cuda_view bias,
                     enum cuda_act act, struct cuda_view y);
void conv_input_by(struct cuda_list *l, const struct cuda_conv *c, const struct conv_plan *p,
                   struct cuda_view dy, struct cuda_view weight, struct cuda_view gate,
                   enum cuda_act act, bool add, struct cuda_view dx);
size_t conv_scratch_by(const struct cuda_conv *c, const struct conv_plan *p);
size_t conv_turns_by(const struct cuda_conv *c, const struct conv_plan *p);
void conv_weights_by(struct cuda_list *l, const struct cuda_conv *c, const struct conv_plan *p,
                     struct cuda_view x, struct cuda_view dy, const struct cuda_weights *to);

#endif
