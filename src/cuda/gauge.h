/* cuda/gauge.h: what a GPU says of itself while it works, through NVML (declared by hand: its header
 * is not everywhere), which is opened when first asked. Unknown is told as unknown. */
#ifndef CHORUS_CUDA_GAUGE_H
#define CHORUS_CUDA_GAUGE_H

#include "cuda/part.h"

/* NVML's functions, results as the library numbers them: 0 success. device is the library's own. */
struct cuda_nvml {
    int (*init)(void);
    int (*by_bus)(const char *bus, void **device);
    int (*utilisation)(void *device, unsigned out[2]);      /* per cent: GPU, memory */
    int (*memory)(void *device, unsigned long long out[3]); /* total, free, used */
    int (*temperature)(void *device, int sensor, unsigned *celsius);
    int (*power)(void *device, unsigned *milliwatts);
    int (*driver)(char *version, unsigned room);
};
/* NULL where libnvidia-ml.so.1 is not here. */
const struct cuda_nvml *cuda_nvml(void);
/* What the part for GPUs has for it, where the twin has a table of its own; opened once. */
const struct cuda_nvml *cuda_nvml_load(void);

/* gpu: CUDA's number. Any thread. */
void cuda_gauge_read(int gpu, struct cuda_gauge *out);
/* Bytes that nobody uses on it right now, all processes counted; false: unknown. */
bool cuda_gauge_free(int gpu, size_t *bytes);
/* The driver's own version, "580.65.06"; where NVML does not tell, that of the CUDA which it speaks,
 * "13000". False: neither. */
bool cuda_gauge_driver(char out[32]);
/* The driver's version and each GPU's free memory, as far as they can be known. */
void cuda_gauge_survey(struct cuda_survey *s);

#endif
