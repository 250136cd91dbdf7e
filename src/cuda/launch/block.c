/* cuda/launch/block.c: launches of blocks: those of the convolution on the part of its map that has windows,
 * with kernels that know of the pool. */
#include "cuda/launch/block.h"

#include "cuda/kernels/products/block_args.h"
#include "cuda/launch/conv_plan.h"

#include <assert.h>
#include <string.h>

#define KERNELS(NAME, ROWS, COLS, SLICES, STAGES, ...)                                             \
    {{&k_block_forward_fp32_##NAME, &k_block_forward_tf32_##NAME, &k_block_forward_bf16_##NAME},   \
     {&k_block_input_fp32_##NAME, &k_block_input_tf32_##NAME, &k_block_input_bf16_##NAME},         \
     {&k_block_weights_fp32_##NAME, &k_block_weights_tf32_##NAME, &k_block_weights_bf16_##NAME}},
static const struct dev_kernel *const kernels[CONV_TILE_COUNT - BLOCK_TILE][CONV_OPS][CUDA_MATHS] =
    {CONV_SMALLER_TILES(KERNELS, )};

bool cuda_block_can(const struct cuda_block *b, enum cuda_act act)
{
    return b->conv.oc % 2 == 0 && (b->max || act != CUDA_TANH);
}

struct cuda_conv cuda_block_conv(const struct cuda_block *b)
{
    struct cuda_conv c = b->conv;

    c.oh = c.oh / 2 * 2;
    c.ow = c.ow / 2 * 2;
    return c;
}

static struct conv_plan plan_of(const struct cuda_block *b, enum conv_op op)
{
    struct cuda_conv c = cuda_block_conv(b);
    double cost;

    return b->tile ? conv_plan_by(&c, op, b->tile - 1, &cost) : conv_plan_from(&c, op, BLOCK_TILE);
}

/* Whether n elements of dy, and n bytes of the mask, always lie together. */
static bool together(const struct cuda_conv *c, struct cuda_view dy, struct cuda_view mask,
                     size_t n)
{
    size_t element = cuda_element(c->math), oc = (size_t)c->oc;

    return (((size_t)(uintptr_t)dy.p | dy.stride * element | oc * element) % (n * element)) == 0 &&
           (((size_t)(uintptr_t)mask.p | mask.stride | oc) % n) == 0;
}

/* The convolution's launch `first` of the list becomes the block's. */
static void turn(struct cuda_list *l, size_t first, const struct cuda_block *b, enum conv_op op,
                 const struct conv_plan *p, struct cuda_view dy, struct cuda_view mask)
{
    struct cuda_launch *at = &l->at[first];
    struct block_args a = {.mask = mask.p,
                           .mask_stride = mask.stride,
                           .ph = b->conv.oh / 2,
                           .pw = b->conv.ow / 2,
                           .max = b->max,
                           .wide = together(&b->conv, dy, mask, 16 / cuda_element(b->conv.math))};

    _Static_assert(sizeof a <= CUDA_ARGS, "room for a kernel's arguments");
    assert(op == CONV_FORWARD || together(&b->conv, dy, mask, 2));
    memcpy(&a.conv, at->args, sizeof a.conv);
    memcpy(at->args, &a, sizeof a);
    at->args_bytes = sizeof a;
    at->kernel = kernels[p->tile - conv_tiles - BLOCK_TILE][op][b->conv.math];
}

void cuda_block_forward(struct cuda_list *l, const struct cuda_block *b, struct cuda_view x,
                        struct cuda_view weight, struct cuda_view bias, enum cuda_act act,
                        struct cuda_view y, struct cuda_view mask)
{
    struct cuda_conv c = cuda_block_conv(b);
    struct conv_plan p = plan_of(b, CONV_FORWARD);
    size_t first = l->n;

    conv_forward_by(l, &c, &p, x, weight, bias, act, y);
    turn(l, first, b, CONV_FORWARD, &p, y, mask);
}

void cuda_block_input(struct cuda_list *l, const struct cuda_block *b, struct cuda_view dy,
                      struct cuda_view mask, struct cuda_view weight, struct cuda_view gate,
                      enum cuda_act act, bool add, struct cuda_view dx)
{
    struct cuda_conv c = cuda_block_conv(b);
    struct conv_plan p = plan_of(b, CONV_INPUT);
    size_t first = l->n;

    conv_input_by(l, &c, &p, dy, weight, gate, act, add, dx);
    turn(l, first, b, CONV_INPUT, &p, dy, mask);
}

size_t cuda_block_scratch(const struct cuda_block *b)
{
    struct cuda_conv c = cuda_block_conv(b);
    struct conv_plan p = plan_of(b, CONV_WEIGHTS);

    return conv_scratch_by(&c, &p);
}

size_t cuda_block_turns(const struct cuda_block *b)
{
    struct cuda_conv c = cuda_block_conv(b);
    struct conv_plan p = plan_of(b, CONV_WEIGHTS);

    return conv_turns_by(&c, &p);
}

void cuda_block_weights(struct cuda_list *l, const struct cuda_block *b, struct cuda_view x,
                        struct cuda_view dy, struct cuda_view mask, const struct cuda_weights *to)
{
    struct cuda_conv c = cuda_block_conv(b);
    struct conv_plan p = plan_of(b, CONV_WEIGHTS);
    size_t first = l->n;

    conv_weights_by(l, &c, &p, x, dy, to);
    turn(l, first, b, CONV_WEIGHTS, &p, dy, mask);
}
