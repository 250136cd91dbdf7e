/* cuda/launch/loss.c: launches of the loss. */
#include "cuda/launch/steps.h"

#include "cuda/kernels/loss_args.h"

void cuda_loss(struct cuda_list *l, const struct cuda_loss *c, const struct dev_clock *clock,
               struct cuda_view z, const uint16_t *label, size_t label_stride, struct cuda_view dz,
               struct cuda_result *results, float *flag)
{
    struct loss_args a = {
        .clock = clock,
        .z = z.p,
        .z_stride = z.stride,
        .dz = dz.p,
        .dz_stride = dz.stride,
        .label = label,
        .label_stride = label_stride,
        .results = results,
        .flag = flag,
        .models = c->models,
        .shards = c->shards,
        .images = c->n / c->shards,
        .outputs = c->outputs,
        .weight = c->weight,
    };
    const struct dev_kernel *few = c->math == CUDA_BF16 ? &k_loss_few_bf16 : &k_loss_few_float;
    const struct dev_kernel *many = c->math == CUDA_BF16 ? &k_loss_many_bf16 : &k_loss_many_float;
    size_t units = (size_t)c->models * (size_t)c->shards;

    cuda_list_add(l, c->outputs <= LOSS_FEW ? few : many, units, 1, 1,
                  LOSS_THREADS / 32 * 2 * sizeof(double), &a, sizeof a);
    if (units > 1)
        cuda_list_add(l, &k_loss_flag, 1, 1, 1, 0, &a, sizeof a);
}
