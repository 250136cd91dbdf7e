/* cpu/isa.c: which of the kernels this processor can run. */
#include "cpu/cpu_int.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#define HAS_TILES 1
#else
#define HAS_TILES 0
#endif

static bool isa_has(const struct cpu_kernels *k)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    if (k == &cpu_kernels_avx512bf16 && !cpu_has_bf16())
        return false;
    if (k == &cpu_kernels_avx512 || k == &cpu_kernels_avx512bf16)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("fma");
    if (k == &cpu_kernels_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return k == &cpu_kernels_base;
}

const struct cpu_kernels *cpu_kernels_choose(enum spec_precision precision)
{
    static const struct cpu_kernels *const all[] = {
#if defined(__x86_64__) || defined(__i386__)
        &cpu_kernels_avx512bf16,
        &cpu_kernels_avx512,
        &cpu_kernels_avx2,
#endif
        &cpu_kernels_base,
    };
    const char *forced = getenv("CHORUS_ISA");
    const struct cpu_kernels *floats = NULL;

    /* the others beside tiles */
    if (forced && (!strncmp(forced, "amx", 3) || !strcmp(forced, "avx512bf16-dot"))) {
        if (!cpu_tiles_choose())
            return NULL;
        forced = "avx512bf16";
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!isa_has(all[i]) || (forced && *forced && strcmp(forced, all[i]->name)))
            continue;
        if (precision == SPEC_BF16 || strcmp(all[i]->name, "avx512bf16"))
            return all[i];
        floats = all[i + 1]; /* avx512: it does all the rest, so that is what is used */
    }
    return floats;
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

/* Asked of the processor, never timed: a run that goes on must compute as it did before. Zen 4 (of AMD's
 * family 25, whose others have no AVX-512) has units half as wide as its registers. */
bool cpu_halves_pay(void)
{
#if HAS_TILES
    unsigned a, b, c, d;

    __builtin_cpu_init();
    return __builtin_cpu_is("amd") && __get_cpuid(1, &a, &b, &c, &d) &&
           (a >> 8 & 0xf) + (a >> 20 & 0xff) == 25;
#else
    return false;
#endif
}

#if HAS_TILES
#define TILE_DATA        18 /* of the processor's extended state: the kernel gives it on request */
#define ASK_FOR_STATE    0x1023 /* ARCH_REQ_XCOMP_PERM */
#define TILE_STATE       (3u << 17)
#define LEAF7_AMX_BF16   (1u << 22)
#define LEAF7_AMX_TILE   (1u << 24)
#define LEAF1_SAVES_MORE (1u << 27)

/* Whether the processor has tiles, the system saves them, and this process may use them: all threads
 * that begin from here on, too. */
static bool tiles_permitted(void)
{
    unsigned a, b, c, d;

    if (!isa_has(&cpu_kernels_avx512) || !cpu_has_bf16() || !__get_cpuid(1, &a, &b, &c, &d) ||
        !(c & LEAF1_SAVES_MORE) || !__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
        !(d & LEAF7_AMX_TILE) || !(d & LEAF7_AMX_BF16))
        return false;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (a & TILE_STATE) == TILE_STATE && !syscall(SYS_arch_prctl, ASK_FOR_STATE, TILE_DATA);
}

static float half_of(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float x;

    memcpy(&x, &wide, sizeof x);
    return x;
}

/* Two products of whole tiles, compared with those of tiles in plain C: of small whole numbers, whose
 * sums are exact in any order; and of others, where an order of its own is forgiven, but not less
 * precision. */
bool cpu_tiles_agree(const struct cpu_tiles *t)
{
    for (int turn = 0; turn < 2; turn++) {
        uint16_t a[512] __attribute__((aligned(64))), b[512] __attribute__((aligned(64)));
        float got[256] __attribute__((aligned(64))), want[256] __attribute__((aligned(64)));
        uint32_t next = 1;
        for (int i = 0; i < 1024; i++) {
            next = next * 1664525u + 1013904223u;
            float x = (float)(int)(next >> 24) - 128;
            uint32_t bits;
            if (turn)
                x = ((float)(next >> 24) + 0.5f) / (1 + (float)(next >> 16 & 15)) - 40;
            memcpy(&bits, &x, sizeof bits);
            *(i < 512 ? a + i : b + i - 512) = (uint16_t)(bits >> 16);
        }
        for (int i = 0; i < 256; i++)
            got[i] = want[i] = (float)(i % 7);
        t->product(a, b, got);
        cpu_tiles_emulated.product(a, b, want);
        for (int i = 0; i < 256; i++) {
            double size = (double)want[i];
            for (int k = 0; k < 32; k++)
                size += fabs((double)half_of(a[i / 16 * 32 + k]) *
                             (double)half_of(b[k / 2 * 32 + i % 16 * 2 + k % 2]));
            if (!(fabs((double)got[i] - (double)want[i]) <= (turn ? 4e-7 * size : 0)))
                return false;
        }
    }
    return true;
}

static bool tiles_here;

static void find_tiles(void)
{
    tiles_here = tiles_permitted() && cpu_tiles_agree(&cpu_tiles_amx);
}
#endif

/* Whether products of bf16 by vectors are faster than those of floats. Asked of the processor's maker,
 * never timed: a run that goes on must compute as it did before. All of AMD's that have them (Zen 4
 * and later) do as many a cycle as multiply-adds of floats, which are half as much: measured on a Zen
 * 4, 234 GFLOP/s a core, not 117, and on a Zen 5, 541, not 272. Intel's do one in two cycles (Emerald
 * Rapids: 91, not 179), so that rounded floats are multiplied there. */
static bool dots_pay(void)
{
#if HAS_TILES
    __builtin_cpu_init();
    return __builtin_cpu_is("amd") && isa_has(&cpu_kernels_avx512bf16);
#else
    return false;
#endif
}

const struct cpu_tiles *cpu_tiles_choose(void)
{
#if HAS_TILES
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *forced = getenv("CHORUS_ISA");

    if (forced && !strcmp(forced, cpu_tiles_emulated.name))
        return isa_has(&cpu_kernels_avx512) && cpu_has_bf16() ? &cpu_tiles_emulated : NULL;
    if (forced && !strcmp(forced, cpu_tiles_dot.name))
        return isa_has(&cpu_kernels_avx512bf16) ? &cpu_tiles_dot : NULL;
    if (forced && *forced && strcmp(forced, cpu_tiles_amx.name))
        return NULL;
    pthread_once(&once, find_tiles);
    if (tiles_here)
        return &cpu_tiles_amx;
    return dots_pay() && (!forced || !*forced) ? &cpu_tiles_dot : NULL;
#else
    return NULL;
#endif
}
