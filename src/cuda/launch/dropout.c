/* cuda/launch/dropout.c: launches of dropout. */
#include "cuda/launch/layers.h"

#include "cuda/kernels/dropout_args.h"
#include "cuda/kernels/grid.h"

#include <math.h>

void cuda_dropout(struct cuda_list *l, const struct cuda_shape *s, double rate, const uint32_t *key,
                  const struct dev_clock *clock, size_t first, struct cuda_view from, bool add,
                  struct cuda_view to)
{
    const struct dev_kernel *kernel = s->math == CUDA_BF16 ? &k_dropout_bf16 : &k_dropout_float;
    size_t element = cuda_element(s->math), image = (size_t)s->h * (size_t)s->w * (size_t)s->c;
    struct dropout_args a = {
        .from = from.p,
        .from_stride = from.stride,
        .to = to.p,
        .to_stride = to.stride,
        .n = (size_t)s->n * image,
        .first = first * image,
        .key = key,
        .clock = clock,
        .limit = (uint64_t)ceil(rate * 4294967296.0),
        .keep = (float)(1 - rate),
        .add = add,
        .wide = grid_aligned(from.p, from.stride, element, 16) &&
                grid_aligned(to.p, to.stride, element, 16),
    };

    cuda_list_add(l, kernel, grid_parts(a.n, (size_t)kernel->threads * 16 / element), 1,
                  (size_t)s->models, 2 * sizeof(uint32_t), &a, sizeof a);
}
