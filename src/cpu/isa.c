/* cpu/isa.c: which of the kernels this processor can run. */
#include "cpu/cpu_int.h"

#include <stdlib.h>
#include <string.h>

static bool isa_has(const struct cpu_kernels *k)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    if (k == &cpu_kernels_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("fma");
    if (k == &cpu_kernels_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return k == &cpu_kernels_base;
}

const struct cpu_kernels *cpu_kernels_choose(void)
{
    static const struct cpu_kernels *const all[] = {
#if defined(__x86_64__) || defined(__i386__)
        &cpu_kernels_avx512,
        &cpu_kernels_avx2,
#endif
        &cpu_kernels_base,
    };
    const char *forced = getenv("CHORUS_ISA");

    /* the same kernels: bf16 by them, whatever better the processor has for it */
    if (forced && !strcmp(forced, "avx512bf16")) {
        if (!cpu_has_bf16())
            return NULL;
        forced = "avx512";
    }

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (isa_has(all[i]) && (!forced || !*forced || !strcmp(forced, all[i]->name)))
            return all[i];
    }
    return NULL;
}

bool cpu_has_bf16(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}
