/* cuda/comm/comm_real.c: NCCL of a machine with GPUs, opened when it is first asked for. */
#include "cuda/comm/comm.h"

#include <pthread.h>

static struct {
    pthread_once_t once;
    const struct cuda_nccl *nccl;
    struct err why; /* there is no NCCL */
} held = {.once = PTHREAD_ONCE_INIT};

static void load_nccl(void)
{
    held.nccl = cuda_nccl_load(&held.why);
}

const struct cuda_nccl *cuda_nccl(struct err *why)
{
    pthread_once(&held.once, load_nccl);
    if (!held.nccl && why)
        *why = held.why;
    return held.nccl;
}
