/* cuda/launch/gather.c: launches that fetch images. */
#include "cuda/launch/steps.h"

#include "cuda/kernels/gather_args.h"

static struct gather_args args(const struct cuda_images *from, enum cuda_math math,
                               struct cuda_view x)
{
    size_t size = (size_t)from->h * (size_t)from->w * (size_t)from->c;
    size_t element = cuda_element(math);

    return (struct gather_args){
        .from = *from,
        .size = size,
        .wide = size % 4 == 0 && grid_aligned(x.p, x.stride, element, 4 * element) &&
                grid_aligned(from->bytes, 0, 1, 4) && grid_aligned(from->values, 0, 4, 16),
        .by_w = grid_divisor((size_t)from->w),
        .by_c = grid_divisor((size_t)from->c),
        .x = x.p,
        .x_stride = x.stride,
    };
}

struct gather_args cuda_gather_args(const struct cuda_gather *g, const struct dev_clock *clock,
                                    struct cuda_view x, uint16_t *label)
{
    struct gather_args a = args(&g->from, g->math, x);

    a.clock = clock;
    a.batch = g->batch;
    a.first = g->first;
    a.order = g->order;
    a.order_stride = g->order_stride;
    a.label = label;
    a.label_stride = (size_t)g->n;
    a.x_turn = g->x_turn;
    a.label_turn = g->label_turn;
    a.models = g->models;
    a.flip = (g->augment & SPEC_FLIP) != 0;
    a.crop = g->augment & SPEC_CROP ? g->crop_pad : 0;
    a.erase = (g->augment & SPEC_ERASE) != 0;
    return a;
}

void cuda_gather(struct cuda_list *l, const struct cuda_gather *g, const struct dev_clock *clock,
                 struct cuda_view x, uint16_t *label)
{
    const struct dev_kernel *kernel = g->math == CUDA_BF16 ? &k_gather_bf16 : &k_gather_float;
    struct gather_args a = cuda_gather_args(g, clock, x, label);

    cuda_list_add(l, kernel, (size_t)g->n, 1, (size_t)g->models, 6 * sizeof(uint32_t), &a,
                  sizeof a);
}

void cuda_gather_plain(struct cuda_list *l, const struct cuda_images *from, enum cuda_math math,
                       int n, const uint32_t *at, struct cuda_view x)
{
    struct gather_args a = args(from, math, x);

    a.at = at;
    cuda_list_add(l, math == CUDA_BF16 ? &k_gather_plain_bf16 : &k_gather_plain_float, (size_t)n, 1,
                  1, 0, &a, sizeof a);
}
