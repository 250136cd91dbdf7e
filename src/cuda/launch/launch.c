/* cuda/launch/launch.c: lists of launches. */
#include "cuda/launch/launch.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static struct cuda_launch *more(struct cuda_list *l)
{
    l->at = mem_grow(l->at, &l->room, l->n + 1, sizeof *l->at);
    memset(&l->at[l->n], 0, sizeof l->at[l->n]);
    return &l->at[l->n++];
}

void cuda_list_add(struct cuda_list *l, const struct dev_kernel *kernel, size_t x, size_t y,
                   size_t z, size_t shared, const void *args, size_t args_bytes)
{
    struct cuda_launch *c;

    assert(args_bytes <= CUDA_ARGS);
    if (x == 0 || y == 0 || z == 0) /* nothing to do, which a GPU refuses */
        return;
    c = more(l);
    c->kernel = kernel;
    c->grid[0] = (unsigned)x;
    c->grid[1] = (unsigned)y;
    c->grid[2] = (unsigned)z;
    c->block = (unsigned)kernel->threads;
    c->shared = shared;
    c->args_bytes = args_bytes;
    memcpy(c->args, args, args_bytes);
}

void cuda_list_call(struct cuda_list *l, cuda_call *call, void *user)
{
    struct cuda_launch *c = more(l);

    c->call = call;
    c->user = user;
}

void cuda_list_free(struct cuda_list *l)
{
    free(l->at);
    *l = (struct cuda_list){0};
}

enum err_code cuda_list_load(const struct cuda_list *l, int gpu, struct err *e)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct dev_kernel *k = l->at[i].kernel;
        int error = k ? cuda_rt()->load(k) : 0;

        if (error)
            return cuda_rt_fail(e, error, "loading kernel %s onto GPU %d", k->name, gpu);
    }
    return ERR_OK;
}

enum err_code cuda_list_run(const struct cuda_list *l, int gpu, struct cuda_stream *s,
                            struct err *e)
{
    const struct cuda_rt *rt = cuda_rt();

    for (size_t i = 0; i < l->n; i++) {
        const struct cuda_launch *c = &l->at[i];
        int error;

        if (!c->kernel) {
            TRY(c->call(c->user, s, e));
            continue;
        }
        error = rt->launch(c->kernel, c->grid, c->block, c->shared, c->args, c->args_bytes, s);
        if (error)
            return cuda_rt_fail(e, error, "starting kernel %s of %u x %u x %u blocks on GPU %d",
                                c->kernel->name, c->grid[0], c->grid[1], c->grid[2], gpu);
    }
    return ERR_OK;
}
