/* tests/twin/nvml.c: NVML over the twin's GPUs: GPU g is 10 g per cent busy, 40 + g degrees warm, ... */
#include "tests/twin/nvml.h"

#include "cuda/gauge.h"
#include "cuda/rt/rt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_SUPPORTED 3
#define NOT_FOUND     6

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool missing, slices;
static atomic_int unknown = -1;
static atomic_ulong asked;

static int init(void)
{
    return 0;
}

/* The device is the GPU's number, and one. */
static int by_bus(const char *bus, void **device)
{
    struct cuda_gpu_facts facts;
    int n = 0;

    cuda_rt()->count(&n);
    for (int g = 0; g < n; g++)
        if (cuda_rt()->facts(g, &facts) == 0 && !strcmp(facts.bus, bus)) {
            *device = (void *)(uintptr_t)(g + 1);
            return 0;
        }
    return NOT_FOUND;
}

static unsigned gpu_of(const void *device)
{
    return (unsigned)(uintptr_t)device - 1;
}

static int utilisation(void *device, unsigned out[2])
{
    atomic_fetch_add(&asked, 1);
    if (atomic_load(&unknown) == 0)
        return NOT_SUPPORTED;
    out[0] = 10 * gpu_of(device) + 5;
    out[1] = 10 * gpu_of(device) + 2;
    return 0;
}

static int memory(void *device, unsigned long long out[3])
{
    struct cuda_gpu_facts facts;

    if (atomic_load(&unknown) == 1 || cuda_rt()->facts((int)gpu_of(device), &facts) != 0)
        return NOT_SUPPORTED;
    out[0] = facts.memory * (atomic_load(&slices) ? 7 : 1);
    out[2] = (gpu_of(device) + 1) * (64ull << 20);
    out[1] = out[0] > out[2] ? out[0] - out[2] : 0;
    return 0;
}

static int temperature(void *device, int sensor, unsigned *celsius)
{
    if (atomic_load(&unknown) == 2 || sensor != 0)
        return NOT_SUPPORTED;
    *celsius = 40 + gpu_of(device);
    return 0;
}

static int power(void *device, unsigned *milliwatts)
{
    if (atomic_load(&unknown) == 3)
        return NOT_SUPPORTED;
    *milliwatts = 70500 + 1000 * gpu_of(device);
    return 0;
}

static int driver(char *version, unsigned room)
{
    snprintf(version, room, "580.65.06");
    return 0;
}

static void read_environment(void)
{
    const char *env = getenv("CHORUS_TWIN_NVML");

    if (env && !strcmp(env, "missing"))
        atomic_store(&missing, true);
}

const struct cuda_nvml *cuda_nvml(void)
{
    static const struct cuda_nvml table = {
        .init = init,
        .by_bus = by_bus,
        .utilisation = utilisation,
        .memory = memory,
        .temperature = temperature,
        .power = power,
        .driver = driver,
    };

    pthread_once(&once, read_environment);
    return atomic_load(&missing) ? NULL : &table;
}

void twin_nvml_missing(bool is)
{
    atomic_store(&missing, is);
}

void twin_nvml_slices(bool are)
{
    atomic_store(&slices, are);
}

void twin_nvml_unknown(int question)
{
    atomic_store(&unknown, question);
}

unsigned long twin_nvml_asked(void)
{
    return atomic_load(&asked);
}
