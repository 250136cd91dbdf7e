/* cuda/rt/rt.h: the CUDA runtime as a table of functions: the real one (rt_real.c, the only user of
 * cuda_runtime_api.h) and its twin over host memory (tests/twin), where the same backend runs without a
 * GPU. Which one is decided by the linker: the part for GPUs has the real one, tests have the twin.
 *
 * Functions return 0 or the runtime's error number, which text() puts into words. A stream's work is
 * done in order and at any time until it is waited for: the twin does it as late as it may. */
#ifndef CHORUS_CUDA_RT_RT_H
#define CHORUS_CUDA_RT_RT_H

#include "base/err.h"
#include "cuda/kernels/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cuda_stream; /* the runtime's own */
struct cuda_event;
struct cuda_graph; /* ready to launch */

struct cuda_gpu_facts {
    char name[96], bus[32]; /* bus: "00000000:19:00.0", as NVML wants it */
    int major, minor;       /* compute capability */
    int processors;
    size_t memory, shared_block; /* bytes; shared_block: the most that a block may opt in to */
    size_t l2;
    bool closed;    /* its compute mode lets nobody compute on it */
    bool alone;     /* one process at a time: whether it may be this one, `try_alone` tells */
    size_t context; /* bytes that a process takes of it by using it at all; 0: none, or unknown */
};

/* Errors that callers tell apart, as the real runtime numbers them. */
enum {
    CUDA_RT_OK = 0,
    CUDA_RT_NOMEM = 2,
    CUDA_RT_OLD_DRIVER = 35, /* or none: ask driver_version */
    CUDA_RT_STUB = 34,
    CUDA_RT_BUSY = 46, /* devices unavailable */
    CUDA_RT_NO_DEVICE = 100,
    CUDA_RT_NO_IMAGE = 209, /* compiled for other GPUs */
    CUDA_RT_NOT_READY = 600,
    CUDA_RT_ILLEGAL = 700, /* sticks: every later call gives it again */
};

struct cuda_rt {
    const char *name; /* "cuda", "twin" */
    const char *(*text)(int error);
    int (*driver_version)(int *version); /* 13000; 0: no driver */
    int (*runtime_version)(int *version);
    int (*count)(int *gpus);
    int (*facts)(int gpu, struct cuda_gpu_facts *out);

    int (*use)(int gpu); /* for the calling thread */
    /* Takes a GPU that this process does not use into use, and gives it back. Behind it the thread has none
     * in use. */
    int (*try_alone)(int gpu);
    int (*memory)(size_t *free, size_t *total);
    int (*take)(void **out, size_t bytes); /* aligned to 256; contents undefined (twin: NaN) */
    int (*give)(void *p);                  /* NULL is fine */
    int (*take_pinned)(void **host, void **device, size_t bytes); /* both sides' addresses of it */
    int (*give_pinned)(void *host);

    int (*stream_open)(struct cuda_stream **out);
    int (*stream_close)(struct cuda_stream *s);
    int (*stream_query)(struct cuda_stream *s); /* 0: all done; CUDA_RT_NOT_READY; or an error */
    int (*stream_wait)(struct cuda_stream *s);  /* blocks */
    int (*stream_after)(struct cuda_stream *s, struct cuda_event *e); /* s goes on after e */
    int (*copy)(void *to, const void *from, size_t bytes,
                struct cuda_stream *s); /* any direction */
    /* Rows of `bytes` that begin to_pitch and from_pitch apart. */
    int (*copy_rows)(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes,
                     size_t rows, struct cuda_stream *s);
    int (*set)(void *p, int byte, size_t bytes, struct cuda_stream *s);
    /* Loads a kernel onto the GPU in use, which may wait until the GPU is idle: before anything runs that
     * waits for another GPU. */
    int (*load)(const struct dev_kernel *k);
    int (*launch)(const struct dev_kernel *k, const unsigned grid[3], unsigned block, size_t shared,
                  const void *args, size_t args_bytes, struct cuda_stream *s);
    int (*event_open)(struct cuda_event **out);
    int (*event_close)(struct cuda_event *e);
    int (*event_record)(struct cuda_event *e, struct cuda_stream *s);
    int (*event_query)(struct cuda_event *e);
    int (*event_ms)(struct cuda_event *from, struct cuda_event *to, float *ms);

    /* Between begin and end what is put into the stream becomes a graph instead of running; other
     * streams join through events. Arguments are copied, addresses must stay. */
    int (*capture_begin)(struct cuda_stream *s);
    int (*capture_end)(struct cuda_stream *s, struct cuda_graph **out);
    int (*graph_launch)(struct cuda_graph *g, struct cuda_stream *s);
    int (*graph_close)(struct cuda_graph *g);
};

const struct cuda_rt *cuda_rt(void);

/* What a failing call means to the run: "cuda: memory for 1.2 GB of activations on GPU 0: out of
 * memory (2)". doing: printf-like, without the error. ERR_NOMEM, ERR_FAILED, or of an error that sticks
 * ERR_STUCK, whose text says that this process can compute no more on that GPU. */
enum err_code cuda_rt_fail(struct err *e, int error, const char *doing, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether the process can compute no more on this GPU. */
bool cuda_rt_sticks(int error);

#endif
