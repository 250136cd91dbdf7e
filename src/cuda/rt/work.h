/* cuda/rt/work.h: the clock by which the part for GPUs counts work and waits. */
#ifndef CHORUS_CUDA_RT_WORK_H
#define CHORUS_CUDA_RT_WORK_H

#include <stdint.h>

/* As clock_work_ns. The part has a clock of its own, which hears of no stop: the program's is given to
 * it before anything else is asked of it. */
uint64_t cuda_work_ns(void);
uint64_t cuda_work_since(uint64_t begun); /* 0 where a stop came in between and set it back */
void cuda_work_by(uint64_t (*work_ns)(void));

#endif
