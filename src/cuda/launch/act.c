/* cuda/launch/act.c: launches of activations and residual sums. */
#include "cuda/launch/layers.h"

#include "cuda/kernels/act_args.h"
#include "cuda/kernels/grid.h"

static void add(struct cuda_list *l, const struct cuda_shape *s, const struct dev_kernel *f32,
                const struct dev_kernel *bf16, struct act_args *a)
{
    const struct dev_kernel *kernel = s->math == CUDA_BF16 ? bf16 : f32;
    size_t element = cuda_element(s->math);

    a->n = (size_t)s->n * (size_t)s->h * (size_t)s->w * (size_t)s->c;
    a->wide = grid_aligned(a->x, a->x_stride, element, 16) &&
              grid_aligned(a->x2, a->x2_stride, element, 16) &&
              grid_aligned(a->y, a->y_stride, element, 16);
    cuda_list_add(l, kernel, grid_parts(a->n, (size_t)kernel->threads * 16 / element), 1,
                  (size_t)s->models, 0, a, sizeof *a);
}

static void forward(struct cuda_list *l, const struct cuda_shape *s, struct cuda_view x,
                    struct cuda_view x2, enum cuda_act act, struct cuda_view y)
{
    struct act_args a = {.act = (int)act,
                         .x = x.p,
                         .x_stride = x.stride,
                         .x2 = x2.p,
                         .x2_stride = x2.stride,
                         .y = y.p,
                         .y_stride = y.stride};

    add(l, s, &k_act_float, &k_act_bf16, &a);
}

void cuda_act_forward(struct cuda_list *l, const struct cuda_shape *s, enum cuda_act act,
                      struct cuda_view x, struct cuda_view y)
{
    forward(l, s, x, (struct cuda_view){0}, act, y);
}

void cuda_add_forward(struct cuda_list *l, const struct cuda_shape *s, struct cuda_view x,
                      struct cuda_view x2, enum cuda_act act, struct cuda_view y)
{
    forward(l, s, x, x2, act, y);
}

void cuda_act_backward(struct cuda_list *l, const struct cuda_shape *s, enum cuda_act act,
                       struct cuda_view y, struct cuda_view dy, bool add_to, struct cuda_view dx)
{
    struct act_args a = {.act = (int)act,
                         .add = add_to,
                         .x = act == CUDA_LINEAR ? NULL : y.p,
                         .x_stride = act == CUDA_LINEAR ? 0 : y.stride,
                         .x2 = dy.p,
                         .x2_stride = dy.stride,
                         .y = dx.p,
                         .y_stride = dx.stride};

    add(l, s, &k_act_back_float, &k_act_back_bf16, &a);
}

void cuda_add_to(struct cuda_list *l, const struct cuda_shape *s, struct cuda_view from,
                 bool add_to, struct cuda_view to)
{
    cuda_act_backward(l, s, CUDA_LINEAR, (struct cuda_view){0}, from, add_to, to);
}
