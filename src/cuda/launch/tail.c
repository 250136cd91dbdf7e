/* cuda/launch/tail.c: the launch of a network's end. */
#include "cuda/launch/steps.h"

#include "cuda/kernels/grid.h"
#include "cuda/kernels/tail_args.h"

bool cuda_tail_can(const struct cuda_tail *t)
{
    return t->outputs <= TAIL_MOST;
}

size_t cuda_tail_scratch(const struct cuda_tail *t)
{
    return (size_t)t->models * (size_t)t->n * sizeof(struct tail_image);
}

size_t cuda_tail_turns(const struct cuda_tail *t)
{
    return ((size_t)t->models * (size_t)t->shards + 2) * sizeof(uint32_t);
}

void cuda_tail(struct cuda_list *l, const struct cuda_tail *t, const struct dev_clock *clock,
               const struct cuda_tail_at *at, struct cuda_result *results, float *flag)
{
    size_t element = cuda_element(t->math);
    struct tail_args a = {
        .clock = clock,
        .x = at->x.p,
        .x_stride = at->x.stride,
        .weight = at->weight.p,
        .weight_stride = at->weight.stride,
        .bias = at->bias.p,
        .bias_stride = at->bias.stride,
        .z = at->z.p,
        .z_stride = at->z.stride,
        .dz = at->dz.p,
        .dz_stride = at->dz.stride,
        .dx = at->dx.p,
        .dx_stride = at->dx.stride,
        .label = at->label,
        .label_stride = at->label_stride,
        .label_turn = at->label_turn,
        .image = at->scratch,
        .turn = at->turns,
        .results = results,
        .flag = flag,
        .n = t->n,
        .c = t->c,
        .outputs = t->outputs,
        .shards = t->shards,
        .images = t->n / t->shards,
        .blocks = (t->n / t->shards + TAIL_IMAGES - 1) / TAIL_IMAGES,
        .act = (int)t->act,
        .gated = t->gated,
        .pair = t->outputs % 2 == 0 &&
                grid_aligned(at->weight.p, at->weight.stride, element, 2 * element),
        .weight_of = t->weight,
    };

    cuda_list_add(l, t->math == CUDA_BF16 ? &k_tail_bf16 : &k_tail_float,
                  (size_t)a.blocks * (size_t)t->shards, 1, (size_t)t->models, TAIL_ROOM, &a,
                  sizeof a);
}
