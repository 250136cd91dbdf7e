/* cuda/launch/norm.c: launches of batch norm. */
#include "cuda/launch/layers.h"

#include "cuda/kernels/grid.h"
#include "cuda/kernels/norm_args.h"

/* [bf16][16 bytes at a time] */
#define KERNELS(NAME)                                                                              \
    static const struct dev_kernel *const NAME[2][2] = {                                           \
        {&k_norm_##NAME##_float, &k_norm_##NAME##_float4},                                         \
        {&k_norm_##NAME##_bf16, &k_norm_##NAME##_bf16x8}}

KERNELS(moments);
KERNELS(sum);
KERNELS(squares);
KERNELS(products);
KERNELS(forward);
KERNELS(backward);

/* Rows that a thread takes, at most and at least where there are so many: what is summed in fp32
 * stays exact enough, and a block has something to do. */
#define MOST_ROWS  64
#define LEAST_ROWS 4

/* Lays a group's rows out over blocks, about `blocks` of them in all. Returns the channels a thread
 * takes. */
static size_t lay(struct norm_args *a, const struct cuda_shape *s, int groups, bool wide,
                  size_t blocks, size_t most)
{
    size_t vector = wide ? 16 / cuda_element(s->math) : 1, vectors = (size_t)s->c / vector;
    size_t across = vectors < NORM_THREADS ? vectors : NORM_THREADS, lanes = NORM_THREADS / across;
    size_t tiles = grid_parts(vectors, across), rows, passes;

    rows = (size_t)(s->n / groups) * (size_t)s->h * (size_t)s->w;
    /* Not by how many models there are: a model's bits must not depend on its neighbours. */
    passes = grid_parts(rows * tiles * (size_t)groups, blocks * lanes);
    passes = passes < LEAST_ROWS ? LEAST_ROWS : passes < most ? passes : most;
    a->c = s->c;
    a->rows = rows;
    a->part_rows = passes * lanes;
    a->parts = (unsigned)grid_parts(rows, a->part_rows);
    a->tiles = (unsigned)tiles;
    a->across = (unsigned)across;
    a->lanes = (unsigned)lanes;
    return vector;
}

static bool wide_for(const struct cuda_shape *s, const struct norm_args *a)
{
    size_t element = cuda_element(s->math);

    return (size_t)s->c % (16 / element) == 0 && grid_aligned(a->x, a->x_stride, element, 16) &&
           grid_aligned(a->dy, a->dy_stride, element, 16) &&
           grid_aligned(a->x2, a->x2_stride, element, 16) &&
           grid_aligned(a->y, a->y_stride, element, 16);
}

static void take_stats(struct norm_args *a, const struct cuda_norm_stats *stats)
{
    a->mean = stats->mean.p;
    a->mean_stride = stats->mean.stride;
    a->var = stats->var.p;
    a->var_stride = stats->var.stride;
    a->group_stride = stats->group_stride;
}

/* ---- sums ---- */

/* Sums of parts into scratch by one of `kernels` (floats: what it keeps of a channel), then from
 * there to a->out by `end`. */
static void add_sums(struct cuda_list *l, const struct cuda_shape *s, int groups,
                     const struct dev_kernel *const kernels[2][2], size_t floats,
                     const struct dev_kernel *end, void *scratch, struct cuda_view out,
                     struct norm_args *a)
{
    bool wide = wide_for(s, a);
    size_t vector = lay(a, s, groups, wide, GRID_BLOCKS, MOST_ROWS), shared;

    a->scratch = scratch;
    a->out = out.p;
    a->out_stride = out.stride;
    shared = floats * NORM_THREADS * vector * sizeof(float) + NORM_THREADS * 2 * sizeof(double);
    cuda_list_add(l, kernels[s->math == CUDA_BF16][wide], (size_t)a->parts * a->tiles,
                  (size_t)groups, (size_t)s->models, shared, a, sizeof *a);
    cuda_list_add(l, end, grid_parts((size_t)s->c, NORM_CHANNELS), (size_t)groups,
                  (size_t)s->models, NORM_THREADS / 32 * NORM_CHANNELS * 3 * sizeof(double), a,
                  sizeof *a);
}

/* With one group what is to be added up over groups is written where the sums end. */
static void also(struct norm_args *a, float *first, size_t first_stride, float *second,
                 size_t second_stride, double factor)
{
    a->first = first;
    a->first_stride = first_stride;
    a->second = second;
    a->second_stride = second_stride;
    a->factor = (float)factor;
}

size_t cuda_norm_scratch(const struct cuda_shape *s, const struct cuda_norm *b)
{
    size_t most = 0;

    for (int groups = 1; groups <= b->groups; groups += b->groups > 1 ? b->groups - 1 : 1)
        for (int wide = 0; wide < 2; wide++) {
            struct norm_args a;
            size_t bytes;

            if (wide && (size_t)s->c % (16 / cuda_element(s->math)))
                continue;
            lay(&a, s, groups, wide, GRID_BLOCKS, MOST_ROWS);
            bytes =
                (size_t)s->models * (size_t)groups * a.parts * (size_t)s->c * 2 * sizeof(double);
            most = bytes > most ? bytes : most;
        }
    return most;
}

void cuda_norm_statistics(struct cuda_list *l, const struct cuda_shape *s,
                          const struct cuda_norm *b, struct cuda_view x, void *scratch,
                          struct cuda_view stats)
{
    struct norm_args a = {.x = x.p, .x_stride = x.stride};
    struct cuda_norm_stats of = {stats, {(float *)stats.p + s->c, stats.stride}, 2 * (size_t)s->c};

    if (b->groups == 1 && b->mean_stats.p)
        also(&a, b->mean_stats.p, b->mean_stats.stride, (float *)b->mean_stats.p + s->c,
             b->mean_stats.stride, b->mean_factor);
    add_sums(l, s, b->groups, moments, 3, &k_norm_end_moments, scratch, stats, &a);
    if (b->groups > 1 && b->mean_stats.p)
        cuda_norm_batch_mean(l, s, b, b->mean_factor, &of, b->mean_stats);
}

void cuda_norm_sum(struct cuda_list *l, const struct cuda_shape *s, struct cuda_view x,
                   void *scratch, struct cuda_view sums)
{
    struct norm_args a = {.x = x.p, .x_stride = x.stride};

    add_sums(l, s, 1, sum, 1, &k_norm_end_sum, scratch, sums, &a);
}

void cuda_norm_squares(struct cuda_list *l, const struct cuda_shape *s, struct cuda_view x,
                       void *scratch, struct cuda_view stats, struct cuda_view sums)
{
    struct norm_args a = {
        .x = x.p, .x_stride = x.stride, .mean = stats.p, .mean_stride = stats.stride};

    add_sums(l, s, 1, squares, 1, &k_norm_end_sum, scratch, sums, &a);
}

void cuda_norm_back_sums(struct cuda_list *l, const struct cuda_shape *s, const struct cuda_norm *b,
                         struct cuda_view x, const struct cuda_norm_stats *stats,
                         struct cuda_view dy, void *scratch, struct cuda_view sums)
{
    struct norm_args a = {.x = x.p, .x_stride = x.stride, .dy = dy.p, .dy_stride = dy.stride};

    take_stats(&a, stats);
    if (b->groups == 1 && b->dscale.p)
        also(&a, b->dscale.p, b->dscale.stride, b->dbias.p, b->dbias.stride, 1);
    add_sums(l, s, b->groups, products, 2, &k_norm_end_products, scratch, sums, &a);
    if (b->groups > 1 && b->dscale.p)
        cuda_norm_gradient(l, s, b, sums, b->dscale, b->dbias);
}

/* ---- a value a channel ---- */

static void add_small(struct cuda_list *l, const struct cuda_shape *s, struct norm_small_args *a)
{
    cuda_list_add(l, &k_norm_small, grid_parts((size_t)s->c, (size_t)k_norm_small.threads), 1,
                  (size_t)s->models, 0, a, sizeof *a);
}

static void shares(struct cuda_list *l, const struct cuda_shape *s, double count,
                   struct cuda_view sums, float *to, size_t to_stride)
{
    struct norm_small_args a = {.from = sums.p,
                                .from_stride = sums.stride,
                                .to = to,
                                .to_stride = to_stride,
                                .c = s->c,
                                .groups = 1,
                                .factor = 1,
                                .divisor = (float)count};

    add_small(l, s, &a);
}

void cuda_norm_mean(struct cuda_list *l, const struct cuda_shape *s, double count,
                    struct cuda_view sums, struct cuda_view stats)
{
    shares(l, s, count, sums, stats.p, stats.stride);
}

void cuda_norm_variance(struct cuda_list *l, const struct cuda_shape *s, double count,
                        struct cuda_view sums, struct cuda_view stats)
{
    shares(l, s, count, sums, (float *)stats.p + s->c, stats.stride);
}

void cuda_norm_gradient(struct cuda_list *l, const struct cuda_shape *s, const struct cuda_norm *b,
                        struct cuda_view sums, struct cuda_view dscale, struct cuda_view dbias)
{
    struct norm_small_args a = {.from = sums.p,
                                .from_stride = sums.stride,
                                .from2 = (const float *)sums.p + s->c,
                                .from2_stride = sums.stride,
                                .group_stride = 2 * (size_t)s->c,
                                .to = dscale.p,
                                .to_stride = dscale.stride,
                                .to2 = dbias.p,
                                .to2_stride = dbias.stride,
                                .c = s->c,
                                .groups = b->groups,
                                .factor = 1,
                                .divisor = 1};

    add_small(l, s, &a);
}

void cuda_norm_batch_mean(struct cuda_list *l, const struct cuda_shape *s,
                          const struct cuda_norm *b, double factor,
                          const struct cuda_norm_stats *stats, struct cuda_view out)
{
    struct norm_small_args a = {.from = stats->mean.p,
                                .from_stride = stats->mean.stride,
                                .from2 = stats->var.p,
                                .from2_stride = stats->var.stride,
                                .group_stride = stats->group_stride,
                                .to = out.p,
                                .to_stride = out.stride,
                                .to2 = (float *)out.p + s->c,
                                .to2_stride = out.stride,
                                .c = s->c,
                                .groups = b->groups,
                                .factor = (float)factor,
                                .divisor = 1};

    add_small(l, s, &a);
}

/* ---- forwards and backwards ---- */

static void add_map(struct cuda_list *l, const struct cuda_shape *s, const struct cuda_norm *b,
                    const struct dev_kernel *const kernels[2][2], struct norm_args *a)
{
    bool wide = wide_for(s, a);

    lay(a, s, b->groups, wide, 4 * GRID_BLOCKS, 16);
    cuda_list_add(l, kernels[s->math == CUDA_BF16][wide], (size_t)a->parts * a->tiles,
                  (size_t)b->groups, (size_t)s->models, 0, a, sizeof *a);
}

void cuda_norm_forward(struct cuda_list *l, const struct cuda_shape *s, const struct cuda_norm *b,
                       struct cuda_view x, const struct cuda_norm_stats *stats,
                       struct cuda_view scale, struct cuda_view bias, struct cuda_view x2,
                       enum cuda_act act, struct cuda_view y)
{
    struct norm_args a = {
        .x = x.p,
        .x_stride = x.stride,
        .x2 = x2.p,
        .x2_stride = x2.stride,
        .scale = scale.p,
        .scale_stride = scale.stride,
        .bias = bias.p,
        .bias_stride = bias.stride,
        .act = (int)act,
        .y = y.p,
        .y_stride = y.stride,
    };

    take_stats(&a, stats);
    add_map(l, s, b, forward, &a);
}

void cuda_norm_back_input(struct cuda_list *l, const struct cuda_shape *s,
                          const struct cuda_norm *b, double count, struct cuda_view x,
                          const struct cuda_norm_stats *stats, struct cuda_view scale,
                          struct cuda_view sums, struct cuda_view dy, bool add, struct cuda_view dx)
{
    struct norm_args a = {
        .x = x.p,
        .x_stride = x.stride,
        .dy = dy.p,
        .dy_stride = dy.stride,
        .scale = scale.p,
        .scale_stride = scale.stride,
        .sums = sums.p,
        .sums_stride = sums.stride,
        .count = (float)count,
        .add = add,
        .y = dx.p,
        .y_stride = dx.stride,
    };

    take_stats(&a, stats);
    add_map(l, s, b, backward, &a);
}
