/* cuda/launch/update.c: launches of the update, the clock, and copies of weights. */
#include "cuda/launch/steps.h"

#include "cuda/kernels/grid.h"
#include "cuda/kernels/update_args.h"

/* ---- the gradient's norm ---- */

/* Parts that it is summed in; each has 1024 elements at least. */
static size_t norm_parts(const struct cuda_update *u)
{
    size_t parts = grid_parts(u->n, 1024);

    return parts < 1 ? 1 : parts < GRID_BLOCKS ? parts : GRID_BLOCKS;
}

size_t cuda_update_scratch(const struct cuda_update *u)
{
    size_t models = (size_t)u->models;

    return u->grad_clip > 0 ? models * (norm_parts(u) * sizeof(double) + sizeof(float)) : 0;
}

static const float *norm(struct cuda_list *l, const struct cuda_update *u,
                         const struct dev_clock *clock, void *scratch, struct cuda_view gradient)
{
    size_t models = (size_t)u->models, parts = norm_parts(u);
    struct update_norm_args a = {
        .clock = clock,
        .gradient = gradient.p,
        .gradient_stride = gradient.stride,
        .n = u->n,
        .parts = scratch,
        .norm = (float *)((double *)scratch + models * parts),
        .count = (unsigned)parts,
    };

    cuda_list_add(l, &k_update_norm_parts, parts, 1, models, 8 * sizeof(double), &a, sizeof a);
    cuda_list_add(l, &k_update_norm, 1, 1, models, 8 * sizeof(double), &a, sizeof a);
    return a.norm;
}

/* ---- the update ---- */

static enum update_rule rule_of(enum spec_optimizer o)
{
    switch (o) {
    case SPEC_SGD:
        return UPDATE_SGD;
    case SPEC_MOMENTUM:
        return UPDATE_MOMENTUM;
    case SPEC_NESTEROV:
        return UPDATE_NESTEROV;
    case SPEC_ADAM:
        return UPDATE_ADAM;
    case SPEC_ADAMW:
        break;
    }
    return UPDATE_ADAMW;
}

static struct update_core core_of(const struct cuda_update *u, const struct dev_clock *clock,
                                  const double *lr)
{
    return (struct update_core){
        .clock = clock,
        .lr = lr,
        .rule = rule_of(u->optimizer),
        .momentum = (float)u->momentum,
        .beta1 = (float)u->beta1,
        .beta2 = (float)u->beta2,
        .rest1 = (float)(1 - u->beta1),
        .rest2 = (float)(1 - u->beta2),
        .epsilon = (float)u->epsilon,
        .decay = (float)u->weight_decay,
        .clip = (float)u->grad_clip,
        .exact_beta1 = u->beta1,
        .exact_beta2 = u->beta2,
    };
}

struct update_here cuda_update_here(const struct cuda_update *u, const struct dev_clock *clock,
                                    const double *lr, const void *gradient, void *params,
                                    void *slot1, void *slot2, void *half)
{
    return (struct update_here){.core = core_of(u, clock, lr),
                                .gradient = gradient,
                                .params = params,
                                .slot1 = slot1,
                                .slot2 = slot2,
                                .half = half};
}

void cuda_update(struct cuda_list *l, const struct cuda_update *u, const struct dev_clock *clock,
                 const double *lr, void *scratch, struct cuda_view gradient,
                 struct cuda_view params, struct cuda_view slot1, struct cuda_view slot2,
                 struct cuda_view half, struct cuda_view batch_stats, struct cuda_view running)
{
    size_t threads = (size_t)k_update.threads, blocks = grid_parts(u->n, 4 * threads);
    size_t most = 4 * GRID_BLOCKS / (size_t)u->models + 1;
    struct update_args a = {
        .core = core_of(u, clock, lr),
        .gradient = gradient.p,
        .gradient_stride = gradient.stride,
        .params = params.p,
        .params_stride = params.stride,
        .slot1 = slot1.p,
        .slot1_stride = slot1.stride,
        .slot2 = slot2.p,
        .slot2_stride = slot2.stride,
        .half = half.p,
        .half_stride = half.stride,
        .batch_stats = batch_stats.p,
        .batch_stats_stride = batch_stats.stride,
        .running = running.p,
        .running_stride = running.stride,
        .n = u->n,
        .stats = u->stats,
        .blocks = (unsigned)(blocks < most ? blocks : most),
        .wide = grid_aligned(gradient.p, gradient.stride, 4, 16) &&
                grid_aligned(params.p, params.stride, 4, 16) &&
                grid_aligned(slot1.p, slot1.stride, 4, 16) &&
                grid_aligned(slot2.p, slot2.stride, 4, 16) &&
                grid_aligned(half.p, half.stride, 2, 8),
    };

    if (u->grad_clip > 0)
        a.norm = norm(l, u, clock, scratch, gradient);
    cuda_list_add(l, &k_update, a.blocks + grid_parts(u->stats, threads), 1, (size_t)u->models,
                  2 * sizeof(float), &a, sizeof a);
}

void cuda_tick(struct cuda_list *l, struct dev_clock *clock, const float *flag)
{
    struct tick_args a = {.clock = clock, .flag = flag};

    cuda_list_add(l, &k_tick, 1, 1, 1, 0, &a, sizeof a);
}

void cuda_halve(struct cuda_list *l, int models, size_t n, struct cuda_view params,
                struct cuda_view half)
{
    struct halve_args a = {
        .from = params.p,
        .from_stride = params.stride,
        .to = half.p,
        .to_stride = half.stride,
        .n = n,
        .wide =
            grid_aligned(params.p, params.stride, 4, 16) && grid_aligned(half.p, half.stride, 2, 8),
    };

    cuda_list_add(l, &k_halve, grid_parts(n, 4 * (size_t)k_halve.threads), 1, (size_t)models, 0, &a,
                  sizeof a);
}

void cuda_mean_parts(struct cuda_list *l, int parts, size_t n, double factor, const float *from,
                     float *to)
{
    struct parts_args a = {from, to, n, parts, (float)factor};

    cuda_list_add(l, &k_mean_parts, grid_parts(n, (size_t)k_mean_parts.threads), 1, 1, 0, &a,
                  sizeof a);
}
