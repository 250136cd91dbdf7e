/* cpu/threads.c: the session's threads sleep until they are given a job, share out its groups, and
 * wait for each other. */
#include "cpu/session_int.h"

#include "base/mem.h"
#include "base/system/thread.h"

#include <sched.h>
#include <stdlib.h>

void cpu_share(int groups, int size, int rank, int *from, int *to)
{
    *from = (int)((int64_t)groups * rank / size);
    *to = (int)((int64_t)groups * (rank + 1) / size);
}

void cpu_group(const struct backend_session *s, int g, size_t *first, int *lanes)
{
    size_t left = s->plan.batch - (size_t)g * s->lanes;

    *first = (size_t)g * s->lanes;
    *lanes = (int)(left < s->lanes ? left : s->lanes);
}

void cpu_barrier(struct cpu_worker *w)
{
    struct cpu_team *t = w->team;

    w->barriers++;
    if (t->size == 1)
        return;
    unsigned phase = atomic_load_explicit(&t->phase, memory_order_acquire);
    if (atomic_fetch_add_explicit(&t->arrived, 1, memory_order_acq_rel) == t->size - 1) {
        atomic_store_explicit(&t->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&t->phase, phase + 1, memory_order_release);
        return;
    }
    for (int spins = 0; atomic_load_explicit(&t->phase, memory_order_acquire) == phase; spins++) {
        if (spins > 2000) /* the others may want this core */
            sched_yield();
    }
}

struct cpu_thread {
    struct backend_session *s;
    struct cpu_worker *w;
};

/* Numbers below 1e-38 count as zero: a processor takes a hundred times as long for them. */
static void flush_tiny(void)
{
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
}

static void *thread_main(void *user)
{
    struct cpu_thread mine = *(struct cpu_thread *)user;
    struct backend_session *s = mine.s;
    unsigned seen = 0;

    free(user);
    flush_tiny();
    for (;;) {
        pthread_mutex_lock(&s->lock);
        while (s->job_number == seen)
            pthread_cond_wait(&s->wake, &s->lock);
        seen = s->job_number;
        struct cpu_job job = s->job;
        pthread_mutex_unlock(&s->lock);
        if (job.kind == CPU_QUIT)
            return NULL;
        if (job.kind == CPU_TRAIN)
            cpu_train(mine.w, &job);
        else if (job.kind == CPU_EVALUATE)
            cpu_evaluate(mine.w, &job);
        else if (job.model % s->teams == mine.w->team->first_model % s->teams)
            cpu_pack(mine.w, &s->model[job.model], true);
        pthread_mutex_lock(&s->lock);
        if (--s->running == 0)
            pthread_cond_signal(&s->done);
        pthread_mutex_unlock(&s->lock);
    }
}

void cpu_run_job(struct backend_session *s, struct cpu_job job)
{
    pthread_mutex_lock(&s->lock);
    for (int t = 0; t < s->teams; t++)
        atomic_store(&s->team[t].abandon, false);
    s->job = job;
    s->job_number++;
    s->running = s->started;
    s->ending = false;
    s->furthest = -1;
    pthread_cond_broadcast(&s->wake);
    while (s->running && job.kind != CPU_QUIT)
        pthread_cond_wait(&s->done, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

/* A thread a core, where the session has as many threads as the process may use cores; with fewer,
 * another program's threads may want the very same ones, so the system places them. */
static void pin(const struct backend_session *s, int i)
{
    cpu_set_t allowed, one;

    if (sched_getaffinity(0, sizeof allowed, &allowed) || CPU_COUNT(&allowed) != s->threads)
        return;
    for (int cpu = 0, n = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || n++ != i)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(s->thread[i], sizeof one, &one);
        return;
    }
}

bool cpu_start_threads(struct backend_session *s)
{
    s->thread = cpu_take(s, (size_t)s->threads, sizeof *s->thread);
    for (int i = 0; i < s->threads && s->thread; i++) {
        struct cpu_team *t = &s->team[s->teams > 1 ? i : 0];
        struct cpu_thread *mine = mem_new(1, sizeof *mine);
        *mine = (struct cpu_thread){s, &t->worker[s->teams > 1 ? 0 : i]};
        if (thread_start(&s->thread[i], thread_main, mine)) {
            free(mine);
            return false;
        }
        pin(s, i);
        s->started++;
    }
    return s->started == s->threads;
}

void cpu_stop_threads(struct backend_session *s)
{
    if (!s->started)
        return;
    cpu_run_job(s, (struct cpu_job){.kind = CPU_QUIT});
    for (int i = 0; i < s->started; i++)
        pthread_join(s->thread[i], NULL);
}
