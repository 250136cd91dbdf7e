/* cuda/gauge.c: what NVML says of a GPU. It knows GPUs by their place on the bus: its numbers are not
 * CUDA's, which the environment may have changed. */
#include "cuda/gauge.h"

#include "cuda/rt.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

/* NVML's GPU, or NULL. It is asked for once: what is at a place on the bus stays there. */
static void *device_of(const struct cuda_nvml *nvml, int gpu)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        char bus[32];
        void *device;
    } known[CUDA_GPUS];
    struct cuda_gpu_facts facts;
    void *device = NULL;

    if (!nvml || gpu < 0 || gpu >= CUDA_GPUS)
        return NULL;
    pthread_mutex_lock(&lock);
    if (known[gpu].device) {
        device = known[gpu].device;
    } else if (cuda_rt()->facts(gpu, &facts) == 0 && nvml->by_bus(facts.bus, &device) == 0) {
        known[gpu].device = device;
    } else {
        device = NULL;
    }
    pthread_mutex_unlock(&lock);
    return device;
}

void cuda_gauge_read(int gpu, struct cuda_gauge *out)
{
    const struct cuda_nvml *nvml = cuda_nvml();
    void *device = device_of(nvml, gpu);
    unsigned rates[2], value;
    unsigned long long memory[3];

    *out = (struct cuda_gauge){NAN, NAN, NAN, NAN, NAN};
    if (!device)
        return;
    if (nvml->utilisation(device, rates) == 0) {
        out->percent = rates[0];
        out->memory_percent = rates[1];
    }
    if (nvml->memory(device, memory) == 0)
        out->memory_used = (double)memory[2];
    if (nvml->temperature(device, 0, &value) == 0)
        out->celsius = value;
    if (nvml->power(device, &value) == 0)
        out->watts = value / 1000.0;
}

bool cuda_gauge_free(int gpu, size_t *bytes)
{
    const struct cuda_nvml *nvml = cuda_nvml();
    void *device = device_of(nvml, gpu);
    unsigned long long memory[3];

    if (!device || nvml->memory(device, memory) != 0)
        return false;
    *bytes = (size_t)memory[1];
    return true;
}

static bool own_version(char out[32])
{
    const struct cuda_nvml *nvml = cuda_nvml();

    return nvml && nvml->driver(out, 32) == 0;
}

bool cuda_gauge_driver(char out[32])
{
    int speaks = 0;

    if (own_version(out))
        return true;
    if (cuda_rt()->driver_version(&speaks))
        return false;
    snprintf(out, 32, "%d", speaks);
    return true;
}

void cuda_gauge_survey(struct cuda_survey *s)
{
    const struct cuda_nvml *nvml = s->gpus ? cuda_nvml() : NULL;

    if (!nvml)
        return;
    if (!own_version(s->nvidia_driver))
        s->nvidia_driver[0] = '\0';
    for (int i = 0; i < s->gpus; i++)
        (void)cuda_gauge_free(i, &s->gpu[i].memory_free);
}
