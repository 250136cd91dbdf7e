/* cli/jobs/bench.h: the two halves of `chorus bench`: bench.c chooses the rows, bench_row.c measures each
 * and shows it. */
#ifndef CHORUS_CLI_JOBS_BENCH_H
#define CHORUS_CLI_JOBS_BENCH_H

#include "base/err.h"
#include "base/text.h"
#include "engine/plan.h"

#include <pthread.h>
#include <stdatomic.h>

struct bench {
    double seconds; /* a row */
    bool json, tune;
    bool tuned;        /* a row had plans to choose from */
    int threads, rows; /* as many threads as most rows use, on cores of their own; rows shown */
    char crowding[PLAN_CROWDING_ROOM]; /* of most rows on the CPU; "" */
    double load;                       /* before it began: how many threads wanted a core */
    double peak[2];                    /* fp32 operations a second of one thread and of `threads` */
    struct text out;
    bool broken;     /* stdout took no more */
    struct err last; /* why a row was left out, or what ended them all */
    /* The watch sets stop at the deadline and when the user wants to leave. */
    pthread_t watch;
    atomic_bool stop, over, done;
    _Atomic uint64_t deadline; /* of clock_ns; 0: none */
};

/* Between the two, signals only set bench_leaving. */
enum err_code bench_begin(struct bench *b, struct err *e) MUST_USE;
void bench_end(struct bench *b);
bool bench_leaving(const struct bench *b); /* no row is wanted any more */

/* Measures the session that is planned and prints its row (in JSON it waits in out). One that wants
 * too much memory is told on stderr and left out, as the last reason. An error is in b->last. */
enum err_code bench_row(struct bench *b, const struct plan *p) MUST_USE;
void bench_finish_rows(struct bench *b); /* what stands behind the last row */

#endif
