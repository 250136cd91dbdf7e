/* tests/twin/twin.h: what tests tell the twin of the CUDA runtime, and ask of it. From the command line
 * the environment says the same: CHORUS_TWIN="gpus=2,memory=8G,seed=3,sm=90,driver=none,
 * fail=launch:100:700,left=PATH,closed=0,alone=PATH", read when the runtime is first used. closed: a GPU,
 * behind gpus, whose compute mode forbids to use it. alone: a GPU is used by one process at a time, which
 * has locked PATH.NUMBER. left: a file with a byte for each process that shall fail so, which is taken off;
 * behind what fails. */
#ifndef CHORUS_TESTS_TWIN_TWIN_H
#define CHORUS_TESTS_TWIN_TWIN_H

#include "cuda/rt/rt.h"

#ifdef __cplusplus
extern "C" {
#endif

enum twin_driver {
    TWIN_DRIVER_FINE,
    TWIN_DRIVER_NONE,
    TWIN_DRIVER_OLD,  /* for CUDA 12.4 */
    TWIN_DRIVER_BUSY, /* all devices are unavailable */
    TWIN_DRIVER_NO_DEVICE,
    TWIN_DRIVER_STUB,
    TWIN_DRIVER_CLOSED, /* GPUs answer, but their compute mode forbids to use them */
    TWIN_DRIVER_HELD,   /* GPUs answer, but another process has them alone */
};

struct twin_counts {
    uint64_t launches; /* calls */
    uint64_t kernels;  /* run, those of graphs too */
    uint64_t graph_launches, copies, sets, waits, takes;
    uint64_t early_graphs;                  /* made while their stream had work to do */
    size_t blocks, streams, events, graphs; /* that live: taken and not given back */
};

/* Everything anew: so many GPUs of 8 GiB, a driver, nothing failing; what was taken is gone. */
void twin_reset(int gpus);
void twin_limit_memory(size_t bytes); /* of each GPU */
/* The n-th call (1: the next) of the table's function, "launch" for one, gives the error, which sticks
 * where it is one of those. "kernel": the n-th kernel run fails so, which a later call tells; with
 * CUDA_RT_NOT_READY it never ends. */
void twin_fail(const char *function, long n, int error);
void twin_seed(uint64_t seed);
void twin_set_driver(enum twin_driver driver);
void twin_set_alone(const char *path);          /* as alone=PATH; "": not */
void twin_set_capability(int major, int minor); /* 9.0 */
void twin_quiet(bool quiet); /* what kernels and calls did wrong is not printed, only kept */
struct twin_counts twin_counted(void);
const char *twin_report(void); /* the last thing done wrong: one sentence, or "" */

/* Work of a library (NCCL's twin) in a stream, captured as everything else: 0, an error, or
 * CUDA_RT_NOT_READY: it is called again later, while other streams go on. Any thread may call it. */
typedef int twin_call(void *user);
int twin_enqueue(struct cuda_stream *s, twin_call *call, void *user);
/* The same; gone(user) is called once, when no stream and no graph holds the work any more, also where
 * it was refused. It may call nothing of the twin. */
typedef void twin_gone(void *user);
int twin_enqueue_held(struct cuda_stream *s, twin_call *call, void *user, twin_gone *gone);
bool twin_capturing(struct cuda_stream *s);
int twin_stream_gpu(struct cuda_stream *s);
int twin_gpu_in_use(void); /* of the calling thread */

#ifdef __cplusplus
}
#endif

#endif
