/* cuda/launch/block.h: a convolution, its bias, relu or tanh and the pool of 2 x 2 behind it as one kernel.
 * The full map is never stored: forward writes the pooled output, and for each of its elements which of
 * the window's four hand their gradient on; backward makes the map's gradient of both as it is read.
 * Windows lie side by side; a last row or column without a window is never computed. */
#ifndef CHORUS_CUDA_LAUNCH_BLOCK_H
#define CHORUS_CUDA_LAUNCH_BLOCK_H

#include "cuda/launch/conv.h"

struct cuda_block {
    struct cuda_conv conv; /* oh, ow: of the map; pooled: half of them, rounded down */
    bool max;              /* or the average */
    int tile;              /* of cuda/launch/conv_plan.h, counted from 1; 0: the best */
};

/* The convolution on the part of its map that has windows. */
struct cuda_conv cuda_block_conv(const struct cuda_block *b);

/* Whether there are kernels for it: an average's gradient would need the map for tanh; channels are
 * read in pairs. */
bool cuda_block_can(const struct cuda_block *b, enum cuda_act act);

/* y: (n, oh / 2, ow / 2, oc). mask: a byte for each of them, or NULL: bit 2 * row + column of those
 * that have a part in y and a derivative; where tanh is the activation the derivative is left out. */
void cuda_block_forward(struct cuda_list *l, const struct cuda_block *b, struct cuda_view x,
                        struct cuda_view weight, struct cuda_view bias, enum cuda_act act,
                        struct cuda_view y, struct cuda_view mask);
/* As cuda_conv_input; dy: the gradient of y, for tanh times its derivative. dy and mask begin, in each
 * model, at an even element. */
void cuda_block_input(struct cuda_list *l, const struct cuda_block *b, struct cuda_view dy,
                      struct cuda_view mask, struct cuda_view weight, struct cuda_view gate,
                      enum cuda_act act, bool add, struct cuda_view dx);
/* As cuda_conv_weights. */
size_t cuda_block_scratch(const struct cuda_block *b);
size_t cuda_block_turns(const struct cuda_block *b);
void cuda_block_weights(struct cuda_list *l, const struct cuda_block *b, struct cuda_view x,
                        struct cuda_view dy, struct cuda_view mask, const struct cuda_weights *to);

#endif
