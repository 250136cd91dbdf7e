#include "cuda/rt/work.h"

#include "base/clock.h"

static uint64_t (*program_ns)(void) = clock_work_ns;

uint64_t cuda_work_ns(void)
{
    return program_ns();
}

uint64_t cuda_work_since(uint64_t begun)
{
    uint64_t now = cuda_work_ns();

    return now > begun ? now - begun : 0;
}

void cuda_work_by(uint64_t (*work_ns)(void))
{
    program_ns = work_ns;
}
