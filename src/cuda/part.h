/* cuda/part.h: what the program knows of its part for GPUs, chorus-cuda.so: one symbol that gives this
 * table. The part links the CUDA runtime statically and opens cuDNN, NCCL and NVML when needed. */
#ifndef CHORUS_CUDA_PART_H
#define CHORUS_CUDA_PART_H

#include "base/log.h"
#include "engine/backend.h"

#define CUDA_PART_VERSION 9 /* changes with this file, engine/backend.h and data/data.h */
#define CUDA_GPUS         64

struct cuda_gpu {
    char name[96];
    int major, minor; /* compute capability */
    size_t memory, memory_free;
    bool usable;
    char why[200]; /* not usable: one sentence */
};

struct cuda_survey {
    int driver, runtime, cudnn, nccl; /* versions as the libraries number them; 0: not here */
    char no_cudnn[400], no_nccl[400]; /* why not, where it is looked for */
    char nvidia_driver[32];           /* "580.65.06"; "" unknown */
    int gpus;
    struct cuda_gpu gpu[CUDA_GPUS];
    char reason[300]; /* no usable GPU: one sentence why */
};

struct cuda_gauge { /* NAN: unknown; per cent of its time that it, and its memory, were at work */
    double percent, memory_percent, memory_used, celsius, watts;
};

struct cuda_part {
    unsigned version;  /* CUDA_PART_VERSION */
    const char *build; /* "CUDA 13.0, sm_90a and PTX" or "host twin" */
    const struct backend *backend;
    /* Opens the driver, and takes into use what GPU is for one process alone; any thread. */
    void (*survey)(struct cuda_survey *out);
    void (*gauge)(int gpu, struct cuda_gauge *out);
    void (*log)(log_sink *sink, void *user);  /* where its talk goes: log_to of the part's own */
    void (*clock)(uint64_t (*work_ns)(void)); /* the program's: the part's own hears of no stop */
};

#define CUDA_PART_SYMBOL "chorus_cuda_part"
typedef const struct cuda_part *cuda_part_fn(void);

#endif
