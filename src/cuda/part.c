/* cuda/part.c: the one symbol of the part for GPUs, and what it finds when it looks for them. */
#include "cuda/part.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/system/trace.h"
#include "cuda/comm/comm.h"
#include "cuda/cuda_int.h"
#include "cuda/dnn/dnn.h"
#include "cuda/gauge.h"
#include "cuda/rt/work.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the kernels were compiled for: "90a", with PTX that newer GPUs compile when they first run it. */
#ifndef CUDA_ARCHES
#define CUDA_ARCHES "90a"
#endif
/* The oldest GPUs that have mma.sync with tf32 and bf16, and cp.async. */
#define OLDEST 80

/* The oldest GPUs that the kernels were compiled for. */
static int least_arch(void)
{
    const char *c = CUDA_ARCHES;
    int least = 0;

    while (*c) {
        int arch = (int)strtol(c, NULL, 10);

        least = least == 0 || (arch > 0 && arch < least) ? arch : least;
        c += strcspn(c, " ");
        c += strspn(c, " ");
    }
    return least;
}

bool cuda_gpu_fits(const struct cuda_gpu_facts *facts, char *why, size_t room)
{
    int arch = facts->major * 10 + facts->minor;

    if (arch < OLDEST)
        snprintf(why, room, "compute capability %d.%d: chorus needs 8.0 (Ampere) or newer",
                 facts->major, facts->minor);
    else if (arch < least_arch())
        snprintf(why, room,
                 "compute capability %d.%d, and this program was built for sm_%s: build it with "
                 "`make CUDA_ARCH=%d`",
                 facts->major, facts->minor, CUDA_ARCHES, arch);
    else
        return true;
    return false;
}

static void version_text(int version, char out[16])
{
    snprintf(out, 16, "%d.%d", version / 1000, version % 1000 / 10);
}

/* Why the runtime does not count any GPU. "No driver" and "too old" are one error to it. */
static void explain(int error, char *out, size_t room)
{
    char driver[16], runtime[16];
    int speaks = 0, needed = 0;

    cuda_rt()->driver_version(&speaks);
    cuda_rt()->runtime_version(&needed);
    version_text(speaks, driver);
    version_text(needed, runtime);
    switch (error) {
    case CUDA_RT_OK:
    case CUDA_RT_NO_DEVICE:
        snprintf(out, room, "the NVIDIA driver sees no GPU here");
        break;
    case CUDA_RT_OLD_DRIVER:
        if (speaks == 0)
            snprintf(out, room, "there is no NVIDIA driver here");
        else
            snprintf(out, room,
                     "the NVIDIA driver is too old: it speaks CUDA %s, this program needs %s or "
                     "newer",
                     driver, runtime);
        break;
    case CUDA_RT_STUB:
        snprintf(out, room,
                 "the libcuda.so.1 found first is the CUDA toolkit's stub, not a driver: take its "
                 "folder out of LD_LIBRARY_PATH");
        break;
    case CUDA_RT_BUSY:
        snprintf(out, room,
                 "the GPU is busy: another process holds it alone, or its compute mode forbids "
                 "more (nvidia-smi tells)");
        break;
    default:
        snprintf(out, room, "the GPU does not answer: %s (%d)", cuda_rt()->text(error), error);
    }
}

#define ANSWER_NS 1000000000u /* so long what a trial said holds: it keeps others out, too */

/* GPUs that one process has alone: whether it is this one, and else what a trial said, and when. */
static struct holder {
    pthread_mutex_t lock;
    bool ours;
    int answer;
    uint64_t asked_ns; /* 0: never */
} holders[CUDA_GPUS] = {[0 ... CUDA_GPUS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

int cuda_gpu_use(int gpu)
{
    struct holder *h = &holders[gpu];
    int error;

    pthread_mutex_lock(&h->lock);
    error = cuda_rt()->use(gpu);
    h->ours |= !error;
    pthread_mutex_unlock(&h->lock);
    return error;
}

/* A driver counts a GPU that is held by another process, and tells all about it: only who takes it into
 * use hears of that. */
static int try_alone(int gpu)
{
    struct holder *h = &holders[gpu];
    int error = 0;

    pthread_mutex_lock(&h->lock);
    if (!h->ours) {
        if (!h->asked_ns || clock_ns() - h->asked_ns > ANSWER_NS) {
            h->answer = cuda_rt()->try_alone(gpu);
            h->asked_ns = clock_ns();
        }
        error = h->answer;
    }
    pthread_mutex_unlock(&h->lock);
    return error;
}

int cuda_gpu_usable(int gpu, struct cuda_gpu_facts *facts, char *why, size_t room)
{
    const struct cuda_rt *rt = cuda_rt();
    int error = rt->facts(gpu, facts);

    if (!error && !cuda_gpu_fits(facts, why, room))
        return CUDA_RT_NO_IMAGE;
    if (!error && facts->closed)
        error = CUDA_RT_BUSY;
    if (!error && facts->alone)
        error = try_alone(gpu);
    if (error)
        explain(error, why, room);
    return error;
}

static void look_for_libraries(struct cuda_survey *s)
{
    struct err why = {0};

    s->nccl = cuda_nccl(&why) ? cuda_nccl_version() : 0;
    if (!s->nccl)
        snprintf(s->no_nccl, sizeof s->no_nccl, "%.399s", why.text);
    s->cudnn = cuda_dnn_usable(&why) ? cuda_dnn_version() : 0;
    if (!s->cudnn)
        snprintf(s->no_cudnn, sizeof s->no_cudnn, "%.399s", why.text);
}

static void survey(struct cuda_survey *s)
{
    const struct cuda_rt *rt = cuda_rt();
    int error, usable = 0;

    memset(s, 0, sizeof *s);
    rt->runtime_version(&s->runtime);
    rt->driver_version(&s->driver);
    error = rt->count(&s->gpus);
    if (error || s->gpus < 0)
        s->gpus = 0;
    if (s->gpus > CUDA_GPUS)
        s->gpus = CUDA_GPUS;
    for (int i = 0; i < s->gpus; i++) {
        struct cuda_gpu *g = &s->gpu[i];
        struct cuda_gpu_facts facts = {0};

        g->usable = !cuda_gpu_usable(i, &facts, g->why, sizeof g->why);
        snprintf(g->name, sizeof g->name, "%s", *facts.name ? facts.name : "unknown");
        g->major = facts.major;
        g->minor = facts.minor;
        g->memory = facts.memory;
        usable += g->usable;
    }
    cuda_gauge_survey(s);
    if (usable)
        look_for_libraries(s);
    if (s->gpus == 0)
        explain(error, s->reason, sizeof s->reason);
    else if (!usable)
        snprintf(s->reason, sizeof s->reason, "GPU 0 (%.90s) cannot be used: %.180s",
                 s->gpu[0].name, s->gpu[0].why);
}

__attribute__((visibility("default"))) const struct cuda_part *chorus_cuda_part(void);

const struct cuda_part *chorus_cuda_part(void)
{
    static struct cuda_part part = {
        .version = CUDA_PART_VERSION,
        .backend = &cuda_session_backend,
        .survey = survey,
        .gauge = cuda_gauge_read,
        .log = log_to,
        .clock = cuda_work_by,
    };
    struct err ignored;

    (void)!trace_start(&ignored); /* the program has refused what is wrong */
    trace_io();
    part.build = !strcmp(cuda_rt()->name, "twin") ? "host twin" : "sm_" CUDA_ARCHES " and PTX";
    return &part;
}
