/* cuda/launch/launch.h: work for a stream, written down: the program of a step is a list of launches that
 * is put into the stream again and again, or captured as a graph. */
#ifndef CHORUS_CUDA_LAUNCH_LAUNCH_H
#define CHORUS_CUDA_LAUNCH_LAUNCH_H

#include "cuda/rt/rt.h"

#define CUDA_ARGS 1536 /* bytes of a kernel's arguments, at most */

/* Work that is no kernel of ours: cuDNN, NCCL. Returns an error with a text. */
typedef enum err_code cuda_call(void *user, struct cuda_stream *s, struct err *e);

struct cuda_launch {
    const struct dev_kernel *kernel; /* NULL: call */
    cuda_call *call;
    void *user;
    unsigned grid[3], block;
    size_t shared;
    size_t args_bytes;
    unsigned char args[CUDA_ARGS] __attribute__((aligned(16)));
};

struct cuda_list {
    struct cuda_launch *at;
    size_t n, room;
};

/* blocks: grid.x, .y, .z; the block has kernel->threads threads. */
void cuda_list_add(struct cuda_list *l, const struct dev_kernel *kernel, size_t x, size_t y,
                   size_t z, size_t shared, const void *args, size_t args_bytes);
void cuda_list_call(struct cuda_list *l, cuda_call *call, void *user);
void cuda_list_free(struct cuda_list *l);
/* Loads all its kernels; puts all into a stream. gpu: the one in use, as errors name it. */
enum err_code cuda_list_load(const struct cuda_list *l, int gpu, struct err *e);
enum err_code cuda_list_run(const struct cuda_list *l, int gpu, struct cuda_stream *s,
                            struct err *e);

/* A tensor of all models of a place: model m's lies at p + m * stride elements; stride 0: all models
 * read the same. p may be NULL where a function says so. */
struct cuda_view {
    void *p;
    size_t stride;
};

#endif
