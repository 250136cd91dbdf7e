/* cuda/real_libs.c: the libraries of a machine with GPUs, each opened when first asked for. */
#include "cuda/comm/comm.h"
#include "cuda/dnn/dnn_abi.h"
#include "cuda/gauge.h"

#include <pthread.h>

static struct {
    pthread_once_t nccl_once, nvml_once;
    const struct cuda_nccl *nccl;
    const struct cuda_nvml *nvml;
    struct err why; /* there is no NCCL */
} held = {.nccl_once = PTHREAD_ONCE_INIT, .nvml_once = PTHREAD_ONCE_INIT};

static void load_nccl(void)
{
    held.nccl = cuda_nccl_load(&held.why);
}

const struct cuda_nccl *cuda_nccl(struct err *why)
{
    pthread_once(&held.nccl_once, load_nccl);
    if (!held.nccl && why)
        *why = held.why;
    return held.nccl;
}

static void load_nvml(void)
{
    held.nvml = cuda_nvml_load();
}

const struct cuda_nvml *cuda_nvml(void)
{
    pthread_once(&held.nvml_once, load_nvml);
    return held.nvml;
}

/* On real GPUs cuDNN is cuDNN. */
const struct cuda_dnn_api *cuda_dnn_replaced(void)
{
    return NULL;
}
