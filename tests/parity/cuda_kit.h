/* tests/parity/cuda_kit.h: the kit for the CUDA backend on its twin. */
#ifndef CHORUS_TESTS_PARITY_CUDA_KIT_H
#define CHORUS_TESTS_PARITY_CUDA_KIT_H

#include "cuda/cuda_int.h"
#include "cuda/twin/twin.h"
#include "tests/parity/kit.h"

#define BE (&cuda_session_backend)

/* A twin with so many GPUs, hooks as most tests want them. */
static inline void kit_twin(int gpus)
{
    twin_reset(gpus);
    cuda_hooks = (struct cuda_hooks){.keep = true, .cold = true};
}

static inline void kit_compare(struct kit *b, const char *what, size_t steps,
                               const struct kit_limits *limits)
{
    kit_compare_with(BE, b, what, steps, limits);
    if (twin_report()[0])
        TEST_FAILED("%s: %s", what, twin_report());
}

#endif
