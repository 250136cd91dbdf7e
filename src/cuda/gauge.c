/* cuda/gauge.c: what NVML says of a GPU. It knows GPUs by their place on the bus: its numbers are not
 * CUDA's, which the environment may have changed. */
#include "cuda/gauge.h"

#include "cuda/rt/rt.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

static struct {
    pthread_mutex_t lock;
    struct {
        void *device;
        bool slice; /* of a GPU that NVML tells of as a whole */
    } gpu[CUDA_GPUS];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A place on the bus is a whole GPU to NVML, where CUDA may have no more than a slice of it (MIG): what is
 * used and free of the whole says nothing of the slice. */
static bool is_slice(const struct cuda_nvml *nvml, void *device, const struct cuda_gpu_facts *facts)
{
    unsigned long long memory[3];

    return nvml->memory(device, memory) == 0 && memory[0] > facts->memory + facts->memory / 4;
}

/* NVML's GPU, or NULL. It is asked for once: what is at a place on the bus stays there. */
static void *device_of(const struct cuda_nvml *nvml, int gpu)
{
    struct cuda_gpu_facts facts;
    void *device = NULL;

    if (!nvml || gpu < 0 || gpu >= CUDA_GPUS)
        return NULL;
    pthread_mutex_lock(&known.lock);
    if (known.gpu[gpu].device) {
        device = known.gpu[gpu].device;
    } else if (cuda_rt()->facts(gpu, &facts) == 0 && nvml->by_bus(facts.bus, &device) == 0) {
        known.gpu[gpu].device = device;
        known.gpu[gpu].slice = is_slice(nvml, device, &facts);
    } else {
        device = NULL;
    }
    pthread_mutex_unlock(&known.lock);
    return device;
}

/* out: total, free, used; false: unknown. */
static bool memory_of(const struct cuda_nvml *nvml, int gpu, void *device,
                      unsigned long long out[3])
{
    bool slice;

    pthread_mutex_lock(&known.lock);
    slice = known.gpu[gpu].slice;
    pthread_mutex_unlock(&known.lock);
    return !slice && nvml->memory(device, out) == 0;
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
    if (memory_of(nvml, gpu, device, memory))
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

    if (!device || !memory_of(nvml, gpu, device, memory))
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
