/* The twin's controls where the real runtime runs: tests say what they want of a twin, and a GPU takes
 * no notice. */
#include "tests/twin/cudnn.h"
#include "tests/twin/nvml.h"
#include "tests/twin/twin.h"

void twin_reset(int gpus)
{
    (void)gpus;
}

void twin_limit_memory(size_t bytes)
{
    (void)bytes;
}

void twin_seed(uint64_t seed)
{
    (void)seed;
}

void twin_fail(const char *function, long n, int error)
{
    (void)function;
    (void)n;
    (void)error;
}

void twin_quiet(bool quiet)
{
    (void)quiet;
}

const char *twin_report(void)
{
    return "";
}

unsigned long twin_nvml_asked(void)
{
    return 0;
}

struct twin_counts twin_counted(void)
{
    return (struct twin_counts){0};
}

void twin_dnn(bool on)
{
    (void)on;
}

struct twin_dnn_counts twin_dnn_counted(void)
{
    return (struct twin_dnn_counts){0};
}
