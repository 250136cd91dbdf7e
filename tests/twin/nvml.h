/* tests/twin/nvml.h: what tests tell the twin of NVML. From the command line CHORUS_TWIN_NVML="missing"
 * says that there is none. */
#ifndef CHORUS_TESTS_TWIN_NVML_H
#define CHORUS_TESTS_TWIN_NVML_H

#include <stdbool.h>

void twin_nvml_missing(bool missing);
/* Its n-th question from now on (utilisation, memory, temperature, power: 0 ... 3) is not answered on
 * any GPU; -1: all are. */
void twin_nvml_unknown(int question);
/* Its GPUs have seven times the memory that CUDA has of them, for who asks for the first time. */
void twin_nvml_slices(bool slices);
/* How often any GPU was asked for its utilisation. */
unsigned long twin_nvml_asked(void);

#endif
