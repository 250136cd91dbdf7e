/* cpu/peak.c: multiply-adds from registers. Twelve chains hide the latency of four cycles on two
 * units and leave registers of AVX2's sixteen for the operands. The factor is just below one, so the
 * values stay finite and never become subnormal. */
#include "cpu/peak.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/system/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHAINS 12
#define ROUNDS 20000 /* of all chains a burst: some 30 to 100 microseconds */
#define BURSTS 20    /* that are timed together */

#define FACTOR 0.999999f
#define TERM   0.0000005f

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>

/* The loop over chains must vanish: an array of vectors that is not unrolled lies in memory. */
#define DEFINE_BURST(name, isa, vector, set1, fmadd, store, lanes)                                 \
    __attribute__((target(isa), noinline)) static float name(void)                                 \
    {                                                                                              \
        vector a = set1(FACTOR), b = set1(TERM), x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, xa, xb;   \
        float out[lanes], sum = 0;                                                                 \
                                                                                                   \
        x0 = x1 = x2 = x3 = x4 = x5 = x6 = x7 = x8 = x9 = xa = xb = set1(1.0f);                    \
        for (int i = 0; i < ROUNDS; i++) {                                                         \
            x0 = fmadd(x0, a, b);                                                                  \
            x1 = fmadd(x1, a, b);                                                                  \
            x2 = fmadd(x2, a, b);                                                                  \
            x3 = fmadd(x3, a, b);                                                                  \
            x4 = fmadd(x4, a, b);                                                                  \
            x5 = fmadd(x5, a, b);                                                                  \
            x6 = fmadd(x6, a, b);                                                                  \
            x7 = fmadd(x7, a, b);                                                                  \
            x8 = fmadd(x8, a, b);                                                                  \
            x9 = fmadd(x9, a, b);                                                                  \
            xa = fmadd(xa, a, b);                                                                  \
            xb = fmadd(xb, a, b);                                                                  \
            /* What is in a register after each round cannot be computed once for all chains. */   \
            __asm__ volatile(""                                                                    \
                             : "+x"(x0), "+x"(x1), "+x"(x2), "+x"(x3), "+x"(x4), "+x"(x5),         \
                               "+x"(x6), "+x"(x7), "+x"(x8), "+x"(x9), "+x"(xa), "+x"(xb));        \
        }                                                                                          \
        x0 = fmadd(x0, x1, fmadd(x2, x3, fmadd(x4, x5, x6)));                                      \
        x7 = fmadd(x7, x8, fmadd(x9, xa, xb));                                                     \
        store(out, fmadd(x0, a, x7));                                                              \
        for (int i = 0; i < (lanes); i++)                                                          \
            sum += out[i];                                                                         \
        return sum;                                                                                \
    }

#define MULTIPLY_ADD(x, y, z) _mm_add_ps(_mm_mul_ps(x, y), z)

DEFINE_BURST(burst_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps, _mm512_storeu_ps, 16)
DEFINE_BURST(burst_avx2, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_storeu_ps, 8)
DEFINE_BURST(burst_base, "sse2", __m128, _mm_set1_ps, MULTIPLY_ADD, _mm_storeu_ps, 4)

#else

#define LANES 4
typedef float lanes_of __attribute__((vector_size(4 * LANES)));

static float burst_base(void)
{
    lanes_of a = {FACTOR, FACTOR, FACTOR, FACTOR}, b = {TERM, TERM, TERM, TERM}, x[CHAINS];
    float sum = 0;

    for (int c = 0; c < CHAINS; c++)
        x[c] = (lanes_of){1, 1, 1, 1};
    for (int i = 0; i < ROUNDS; i++) {
#pragma GCC unroll 16
        for (int c = 0; c < CHAINS; c++)
            for (int k = 0; k < LANES; k++)
                x[c][k] = __builtin_fmaf(x[c][k], a[k], b[k]);
    }
    for (int c = 0; c < CHAINS; c++)
        for (int k = 0; k < LANES; k++)
            sum += x[c][k];
    return sum;
}
#endif

struct way {
    const char *name;
    float (*burst)(void);
    int lanes;
};

/* The widest of this machine, or the one of this name (burst NULL where the machine lacks it). */
static struct way way_of(const char *name)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && (!name || !strcmp(name, "avx512")))
        return (struct way){"avx512", burst_avx512, 16};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        (!name || !strcmp(name, "avx2")))
        return (struct way){"avx2", burst_avx2, 8};
#endif
    if (!name || !strcmp(name, "base"))
        return (struct way){"base", burst_base, 4};
    return (struct way){0};
}

const char *cpu_peak_isa(void)
{
    return way_of(NULL).name;
}

struct runner {
    pthread_t thread;
    const atomic_bool *go;
    struct way way;
    uint64_t ns;   /* how long */
    double best;   /* operations a second */
    float ignored; /* what was computed, so that it is */
};

static void *run(void *user)
{
    struct runner *r = user;
    uint64_t begin, end;

    while (!atomic_load(r->go))
        sched_yield();
    begin = clock_ns();
    do {
        uint64_t from = clock_ns();
        double rate;

        for (int i = 0; i < BURSTS; i++)
            r->ignored += r->way.burst();
        end = clock_ns();
        rate = 2.0 * CHAINS * ROUNDS * BURSTS * r->way.lanes / ((double)(end - from) * 1e-9);
        r->best = rate > r->best ? rate : r->best;
    } while (end - begin < r->ns);
    return NULL;
}

double cpu_peak_flops(int threads, double seconds)
{
    struct runner *r = mem_new((size_t)threads, sizeof *r);
    atomic_bool go = false;
    double sum = 0;
    int begun = 0;

    for (; begun < threads; begun++) {
        r[begun] =
            (struct runner){.go = &go, .way = way_of(NULL), .ns = (uint64_t)(seconds * 1e9) + 1};
        if (thread_start(&r[begun].thread, run, &r[begun]))
            break;
    }
    atomic_store(&go, true);
    for (int i = 0; i < begun; i++) {
        pthread_join(r[i].thread, NULL);
        sum += r[i].best;
    }
    free(r);
    return begun == threads ? sum : 0;
}

static double own_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double cpu_peak_flops_of(const char *isa, double seconds)
{
    struct way way = way_of(isa);
    double begin = own_seconds(), end = begin, best = 0;
    volatile float ignored = 0;

    while (way.burst && (best == 0 || end - begin < seconds)) {
        double from = end, rate;
        ignored += way.burst();
        end = own_seconds();
        rate = 2.0 * CHAINS * ROUNDS * way.lanes / (end - from);
        best = rate > best ? rate : best;
    }
    return best;
}
