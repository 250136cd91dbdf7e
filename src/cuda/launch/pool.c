/* cuda/launch/pool.c: launches of pools. */
#include "cuda/launch/layers.h"

#include "cuda/kernels/pool_args.h"

/* [bf16][16 bytes at a time] */
#define KERNELS(NAME)                                                                              \
    static const struct dev_kernel *const NAME[2][2] = {                                           \
        {&k_pool_##NAME##_float, &k_pool_##NAME##_float4},                                         \
        {&k_pool_##NAME##_bf16, &k_pool_##NAME##_bf16x8}}

KERNELS(max);
KERNELS(average);
KERNELS(max_apart);
KERNELS(average_apart);
KERNELS(max_overlap);
KERNELS(average_overlap);
KERNELS(mean);
KERNELS(spread);

/* Items are rows x columns cells of each image and their channels. Images of a launch are few enough
 * for 32-bit numbers of items. */
static void add(struct cuda_list *l, const struct cuda_shape *s,
                const struct dev_kernel *const kernels[2][2], int rows, int columns,
                struct pool_args *a)
{
    size_t element = cuda_element(s->math), vector = 16 / element, cells, at_once;
    int wide = s->c % (int)vector == 0 && grid_aligned(a->x, a->x_stride, element, 16) &&
               grid_aligned(a->dy, a->dy_stride, element, 16) &&
               grid_aligned(a->gate, a->gate_stride, element, 16) &&
               grid_aligned(a->y, a->y_stride, element, 16) &&
               grid_aligned(a->dx, a->dx_stride, element, 16);
    const struct dev_kernel *kernel = kernels[s->math == CUDA_BF16][wide];

    a->h = s->h;
    a->w = s->w;
    a->c = s->c;
    a->by_channels = grid_divisor((size_t)s->c / (wide ? vector : 1));
    a->by_w = grid_divisor((size_t)columns);
    a->by_h = grid_divisor((size_t)rows);
    cells = (size_t)rows * (size_t)columns * a->by_channels.by;
    at_once = (((size_t)1 << 31) - 1) / cells;
    for (size_t i = 0; i < (size_t)s->n; i += at_once) {
        size_t images = (size_t)s->n - i < at_once ? (size_t)s->n - i : at_once;

        a->image = i;
        a->items = (uint32_t)(images * cells);
        cuda_list_add(l, kernel, grid_parts(a->items, (size_t)kernel->threads), 1,
                      (size_t)s->models, 0, a, sizeof *a);
    }
}

static struct pool_args args(const struct cuda_pool *p)
{
    return (struct pool_args){.oh = p->oh, .ow = p->ow, .k = p->k, .stride = p->stride};
}

void cuda_pool_forward(struct cuda_list *l, const struct cuda_shape *s, const struct cuda_pool *p,
                       struct cuda_view x, struct cuda_view y)
{
    struct pool_args a = args(p);

    a.x = x.p;
    a.x_stride = x.stride;
    a.y = y.p;
    a.y_stride = y.stride;
    add(l, s, p->max ? max : average, p->oh, p->ow, &a);
}

static void backward(struct pool_args *a, struct cuda_view dy, struct cuda_view gate,
                     enum cuda_act act, bool add_to, struct cuda_view dx)
{
    a->dy = dy.p;
    a->dy_stride = dy.stride;
    a->gate = act == CUDA_LINEAR ? NULL : gate.p;
    a->gate_stride = a->gate ? gate.stride : 0;
    a->act = (int)act;
    a->add = add_to;
    a->dx = dx.p;
    a->dx_stride = dx.stride;
}

void cuda_pool_backward(struct cuda_list *l, const struct cuda_shape *s, const struct cuda_pool *p,
                        struct cuda_view x, struct cuda_view dy, struct cuda_view gate,
                        enum cuda_act act, bool add_to, struct cuda_view dx)
{
    struct pool_args a = args(p);

    if (p->max) {
        a.x = x.p;
        a.x_stride = x.stride;
    }
    backward(&a, dy, gate, act, add_to, dx);
    if (p->k > p->stride)
        add(l, s, p->max ? max_overlap : average_overlap, s->h, s->w, &a);
    else
        add(l, s, p->max ? max_apart : average_apart, (s->h + p->stride - 1) / p->stride,
            (s->w + p->stride - 1) / p->stride, &a);
}

void cuda_mean_forward(struct cuda_list *l, const struct cuda_shape *s, struct cuda_view x,
                       struct cuda_view y)
{
    struct pool_args a = {.x = x.p, .x_stride = x.stride, .y = y.p, .y_stride = y.stride};

    add(l, s, mean, 1, 1, &a);
}

void cuda_mean_backward(struct cuda_list *l, const struct cuda_shape *s, struct cuda_view dy,
                        struct cuda_view gate, enum cuda_act act, bool add_to, struct cuda_view dx)
{
    struct pool_args a = {0};

    backward(&a, dy, gate, act, add_to, dx);
    add(l, s, spread, s->h, s->w, &a);
}
