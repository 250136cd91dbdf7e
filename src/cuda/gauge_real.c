/* cuda/gauge_real.c: NVML of a machine with GPUs, opened when it is first asked for. */
#include "cuda/gauge.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct cuda_nvml *held;

static void load_nvml(void)
{
    held = cuda_nvml_load();
}

const struct cuda_nvml *cuda_nvml(void)
{
    pthread_once(&once, load_nvml);
    return held;
}
