/* tests/twin/nccl.c: NCCL over host memory. A sum is a call in each rank's stream: the last to come
 * adds up all buffers in the order of ranks, so that results are the same each time; until then the
 * others are asked again. As in the library, a call that does not block comes back before its sum is in
 * the stream, an abort ends what is in the stream, and comes back when no graph holds the communicator
 * any more, and ranks destroy their communicators together. */
#include "tests/twin/nccl.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cuda/comm/comm.h"
#include "tests/twin/twin.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS   64
#define VERSION 22809

struct sum { /* of one rank: a call, in a stream or in a graph */
    struct comm *comm;
    const float *send;
    float *receive;
    size_t count;
    enum { NEW, OFFERED, ADDED } stage;
    struct sum *next; /* of all of its communicator */
};

struct comm {
    struct world *world;
    void **home; /* where the caller has it; NULL: joining has ended */
    int rank, gpu;
    int polls; /* of what is in progress */
    int state; /* what async_error tells */
    bool dead, aborted, finalizing, destroying;
    long calls, begun;
    int held; /* graphs' sums */
    struct sum *offer, *sums;
    struct sum *called; /* by all_reduce: goes into its stream when it was asked for often enough */
    struct cuda_stream *stream;
};

struct world { /* all ranks of one id */
    struct cuda_nccl_id id;
    int ranks, here;
    struct comm *comm[RANKS];
    struct world *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    struct world *worlds;
    unsigned ids;
    enum twin_nccl_fault fault;
    int rank, result;
    long n;
    struct twin_nccl_counts counts;
} twin = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static int wrong(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(twin.counts.wrong, sizeof twin.counts.wrong, fmt, ap);
    va_end(ap);
    return CUDA_NCCL_USAGE;
}

static bool due(enum twin_nccl_fault fault, const struct comm *c, long n)
{
    return twin.fault == fault && twin.rank == c->rank && (twin.n == 0 || twin.n == n);
}

static int version(int *out)
{
    *out = twin.fault == TWIN_NCCL_OLD ? 21602 : VERSION;
    return CUDA_NCCL_OK;
}

static const char *text(int result)
{
    static const char *const texts[] = {
        "no error",
        "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        "unhandled system error (run with NCCL_DEBUG=INFO for details)",
        "internal error - please report this issue to the NCCL developers",
        "invalid argument (run with NCCL_DEBUG=WARN for details)",
        "invalid usage (run with NCCL_DEBUG=WARN for details)",
        "remote process exited or there was a network error",
        "NCCL operation in progress",
    };

    return result >= 0 && result < (int)MEM_COUNT(texts) ? texts[result] : "unknown result code";
}

static int unique_id(struct cuda_nccl_id *id)
{
    int result = CUDA_NCCL_OK;

    pthread_mutex_lock(&twin.lock);
    memset(id, 0, sizeof *id);
    snprintf(id->bytes, sizeof id->bytes, "group %u", ++twin.ids);
    if (twin.fault == TWIN_NCCL_ID)
        result = twin.result;
    pthread_mutex_unlock(&twin.lock);
    return result;
}

/* ---- joining ---- */

static struct world *world_of(const struct cuda_nccl_id *id, int ranks)
{
    struct world *w = twin.worlds;

    while (w && memcmp(&w->id, id, sizeof *id) != 0)
        w = w->next;
    if (!w) {
        w = mem_new(1, sizeof *w);
        w->id = *id;
        w->ranks = ranks;
        w->next = twin.worlds;
        twin.worlds = w;
    }
    return w;
}

static int check_config(const struct cuda_nccl_config *config)
{
    if (config->magic != CUDA_NCCL_MAGIC || config->size != sizeof *config ||
        config->version != CUDA_NCCL_CONFIG)
        return wrong("a configuration that is not the library's");
    if (config->blocking != 0)
        return wrong("a communicator that blocks");
    return CUDA_NCCL_OK;
}

/* As the library's own thread does when joining ends, well or not. */
static void end_joining(struct comm *c)
{
    if (c->home)
        __atomic_store_n(c->home, c, __ATOMIC_RELEASE);
    c->home = NULL;
}

/* Of the calling thread: gone when the function returns. */
static bool on_stack(void *p)
{
    pthread_attr_t attr;
    void *stack = NULL;
    size_t bytes = 0;

    if (pthread_getattr_np(pthread_self(), &attr))
        return false;
    pthread_attr_getstack(&attr, &stack, &bytes);
    pthread_attr_destroy(&attr);
    return (uintptr_t)p - (uintptr_t)stack < bytes;
}

static int init(void **comm, int ranks, const struct cuda_nccl_id *id, int rank, void *config)
{
    int gpu = twin_gpu_in_use(), result;
    struct world *w;
    struct comm *c;

    *comm = NULL;
    pthread_mutex_lock(&twin.lock);
    result = check_config(config);
    if (on_stack(comm))
        result = wrong("a communicator on the stack, which may be gone when joining ends");
    w = world_of(id, ranks);
    if (result == CUDA_NCCL_OK && (ranks > RANKS || rank < 0 || rank >= ranks || ranks != w->ranks))
        result = wrong("rank %d of %d in a group of %d", rank, ranks, w->ranks);
    if (result == CUDA_NCCL_OK && w->comm[rank])
        result = wrong("rank %d joins twice", rank);
    for (int r = 0; r < ranks && result == CUDA_NCCL_OK; r++)
        if (w->comm[r] && w->comm[r]->gpu == gpu)
            result = wrong("ranks %d and %d are both on GPU %d", r, rank, gpu);
    if (result == CUDA_NCCL_OK) {
        c = mem_new(1, sizeof *c);
        c->world = w;
        c->home = comm;
        c->rank = rank;
        c->gpu = gpu;
        c->state = CUDA_NCCL_BUSY;
        w->comm[rank] = c;
        w->here++;
        twin.counts.open++;
        *comm = c;
        result = CUDA_NCCL_BUSY;
    }
    pthread_mutex_unlock(&twin.lock);
    return result;
}

static int run(void *user);
static void let_go(void *user);

/* The lock is let go meanwhile. */
static void put_into_stream(struct comm *c)
{
    struct sum *s = c->called;
    int error;

    c->called = NULL;
    pthread_mutex_unlock(&twin.lock);
    error = twin_enqueue_held(c->stream, run, s, let_go);
    pthread_mutex_lock(&twin.lock);
    c->state = error ? CUDA_NCCL_CUDA_ERROR : CUDA_NCCL_OK;
}

/* What has come of its joining, its call or its leaving since it was last asked. */
static void go_on(struct comm *c)
{
    if (c->state != CUDA_NCCL_BUSY)
        return;
    c->polls++;
    if (c->called) {
        if (c->polls > 2)
            put_into_stream(c);
    } else if (c->finalizing) {
        if (!due(TWIN_NCCL_LEAVE_HANGS, c, 0) && c->polls > 2)
            c->state = CUDA_NCCL_OK;
    } else if (due(TWIN_NCCL_INIT, c, 0) && c->polls > 2) {
        end_joining(c);
        c->state = twin.result;
    } else if (c->world->here == c->world->ranks && !due(TWIN_NCCL_INIT_HANGS, c, 0) &&
               c->polls > 2) {
        end_joining(c);
        c->state = CUDA_NCCL_OK;
    }
}

static int async_error(void *comm, int *result)
{
    struct comm *c = comm;

    pthread_mutex_lock(&twin.lock);
    if (c->dead) {
        *result = wrong("async_error of a communicator that is gone");
    } else {
        go_on(c);
        *result = c->state;
    }
    pthread_mutex_unlock(&twin.lock);
    return CUDA_NCCL_OK;
}

/* ---- sums ---- */

static void add_up(struct world *w)
{
    size_t count = w->comm[0]->offer->count;
    float *total;

    for (int r = 0; r < w->ranks; r++)
        if (w->comm[r]->offer->count != count) {
            wrong("rank %d adds %zu numbers, rank 0 adds %zu", r, w->comm[r]->offer->count, count);
            for (int i = 0; i < w->ranks; i++)
                w->comm[i]->state = CUDA_NCCL_USAGE;
            return;
        }
    total = mem_new(count, sizeof *total);
    memcpy(total, w->comm[0]->offer->send, count * sizeof *total);
    for (int r = 1; r < w->ranks; r++)
        for (size_t i = 0; i < count; i++)
            total[i] += w->comm[r]->offer->send[i];
    for (int r = 0; r < w->ranks; r++) {
        struct sum *s = w->comm[r]->offer;

        memcpy(s->receive, total, count * sizeof *total);
        s->stage = ADDED;
        w->comm[r]->offer = NULL;
        twin.counts.sums++;
    }
    free(total);
}

/* Offers this rank's part, once. */
static void offer(struct comm *c, struct sum *s)
{
    struct world *w = c->world;
    bool all = w->here == w->ranks;

    c->begun++;
    s->stage = OFFERED;
    if (due(TWIN_NCCL_ASYNC, c, c->begun)) {
        c->state = twin.result;
        return;
    }
    if (due(TWIN_NCCL_LOST, c, c->begun))
        return;
    c->offer = s;
    for (int r = 0; r < w->ranks && all; r++)
        all = w->comm[r]->offer != NULL;
    if (all)
        add_up(w);
}

/* The call in the stream. */
static int run(void *user)
{
    struct sum *s = user;
    struct comm *c = s->comm;
    int answer = CUDA_RT_NOT_READY;

    pthread_mutex_lock(&twin.lock);
    if (c->aborted) { /* what was added up so far is worth nothing */
        for (size_t i = 0; i < s->count; i++)
            s->receive[i] = NAN;
        s->stage = NEW;
        answer = 0;
    } else {
        if (s->stage == NEW && c->dead)
            wrong("a graph with a sum of a communicator that is gone was launched");
        else if (s->stage == NEW && !c->offer)
            offer(c, s);
        if (s->stage == ADDED) {
            s->stage = NEW;
            answer = 0;
        }
    }
    pthread_mutex_unlock(&twin.lock);
    return answer;
}

static void forget(struct sum *s)
{
    struct sum **at = &s->comm->sums;

    if (s->comm->offer == s)
        s->comm->offer = NULL;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    s->comm->held--;
    free(s);
}

/* The stream or the graph that held the sum holds it no more. */
static void let_go(void *user)
{
    pthread_mutex_lock(&twin.lock);
    forget(user);
    pthread_mutex_unlock(&twin.lock);
}

static int all_reduce(const void *send, void *receive, size_t count, int type, int op, void *comm,
                      void *stream)
{
    struct comm *c = comm;
    struct sum *s;
    int result = CUDA_NCCL_BUSY, gpu = twin_stream_gpu(stream);

    pthread_mutex_lock(&twin.lock);
    c->calls++;
    if (c->dead || c->state != CUDA_NCCL_OK)
        result = wrong("a sum with a communicator that is not ready");
    else if (type != CUDA_NCCL_FLOAT || op != CUDA_NCCL_SUM)
        result = wrong("a sum of type %d, operation %d", type, op);
    else if (gpu != c->gpu)
        result = wrong("a sum of GPU %d in a stream of GPU %d", c->gpu, gpu);
    else if (due(TWIN_NCCL_CALL, c, c->calls))
        result = twin.result;
    if (result == CUDA_NCCL_BUSY) {
        s = mem_new(1, sizeof *s);
        *s = (struct sum){
            .comm = c, .send = send, .receive = receive, .count = count, .next = c->sums};
        c->sums = s;
        c->held++;
        c->called = s;
        c->stream = stream;
        c->state = CUDA_NCCL_BUSY;
        c->polls = 0;
    }
    pthread_mutex_unlock(&twin.lock);
    return result;
}

/* ---- leaving ---- */

/* Until no stream and no graph holds a sum of it; the lock is let go meanwhile. */
static void outlive(struct comm *c, const char *what)
{
    uint64_t begun = clock_ns();

    while (c->held) {
        if (clock_ns() - begun > 10000000000u) {
            wrong("%s waits for a graph that nobody closes", what);
            break;
        }
        pthread_mutex_unlock(&twin.lock);
        clock_sleep_ms(1);
        pthread_mutex_lock(&twin.lock);
    }
    c->dead = true;
    twin.counts.open--;
}

static int finalize(void *comm)
{
    struct comm *c = comm;
    int result = CUDA_NCCL_BUSY;

    pthread_mutex_lock(&twin.lock);
    if (c->dead || c->finalizing || c->state != CUDA_NCCL_OK) {
        result = wrong("finalize of a communicator that is not ready");
    } else {
        c->finalizing = true;
        c->state = CUDA_NCCL_BUSY;
        c->polls = 0;
    }
    pthread_mutex_unlock(&twin.lock);
    return result;
}

/* Until all ranks that joined leave, too: on one machine they destroy their communicators together. */
static void await_others(const struct world *w)
{
    uint64_t begun = clock_ns();

    for (int r = 0; r < w->ranks; r++)
        while (w->comm[r] && !w->comm[r]->aborted && !w->comm[r]->destroying) {
            if (clock_ns() - begun > 10000000000u) {
                wrong("destroy waits for rank %d, which stays", r);
                return;
            }
            pthread_mutex_unlock(&twin.lock);
            clock_sleep_ms(1);
            pthread_mutex_lock(&twin.lock);
        }
}

static int destroy(void *comm)
{
    struct comm *c = comm;

    pthread_mutex_lock(&twin.lock);
    if (c->dead || !c->finalizing || c->state != CUDA_NCCL_OK)
        wrong("destroy of a communicator that is not at its end");
    c->destroying = true;
    await_others(c->world);
    outlive(c, "destroy");
    twin.counts.destroyed++;
    pthread_mutex_unlock(&twin.lock);
    return CUDA_NCCL_OK;
}

static int abort_it(void *comm)
{
    struct comm *c = comm;

    pthread_mutex_lock(&twin.lock);
    if (c->dead || c->aborted || c->destroying)
        wrong("abort of a communicator that is gone or about to be");
    c->aborted = true;
    end_joining(c);
    if (c->called)
        forget(c->called);
    c->called = NULL;
    outlive(c, "abort");
    twin.counts.aborted++;
    pthread_mutex_unlock(&twin.lock);
    return CUDA_NCCL_OK;
}

/* ---- the table ---- */

static void read_environment(void)
{
    static const struct {
        const char *word;
        enum twin_nccl_fault fault;
    } words[] = {
        {"missing", TWIN_NCCL_MISSING},
        {"old", TWIN_NCCL_OLD},
        {"id", TWIN_NCCL_ID},
        {"init", TWIN_NCCL_INIT},
        {"init-hangs", TWIN_NCCL_INIT_HANGS},
        {"call", TWIN_NCCL_CALL},
        {"async", TWIN_NCCL_ASYNC},
        {"lost", TWIN_NCCL_LOST},
        {"leave-hangs", TWIN_NCCL_LEAVE_HANGS},
    };
    const char *env = getenv("CHORUS_TWIN_NCCL");
    char word[20] = "";
    int rank = 0, result = CUDA_NCCL_REMOTE;
    long n = 0;

    if (!env || sscanf(env, "%19[a-z-]:%d:%ld:%d", word, &rank, &n, &result) < 1)
        return;
    for (size_t i = 0; i < MEM_COUNT(words); i++)
        if (!strcmp(word, words[i].word)) {
            twin_nccl_fail(words[i].fault, rank, n, result);
            return;
        }
    fprintf(stderr, "CHORUS_TWIN_NCCL: %s is not understood\n", env);
}

const struct cuda_nccl *cuda_nccl(struct err *why)
{
    static const struct cuda_nccl table = {
        .version = version,
        .text = text,
        .unique_id = unique_id,
        .init = init,
        .async_error = async_error,
        .all_reduce = all_reduce,
        .finalize = finalize,
        .destroy = destroy,
        .abort = abort_it,
    };
    const struct cuda_nccl *given = &table;
    char path[] = "the twin's libnccl.so.2";

    pthread_once(&twin.once, read_environment);
    pthread_mutex_lock(&twin.lock);
    if (twin.fault == TWIN_NCCL_MISSING) {
        err_set(why, ERR_FAILED, "libnccl.so.2 is not on this machine");
        given = NULL;
    } else if (!cuda_nccl_fits(&table, path, why)) {
        given = NULL;
    }
    pthread_mutex_unlock(&twin.lock);
    return given;
}

/* ---- what tests say ---- */

void twin_nccl_reset(void)
{
    pthread_mutex_lock(&twin.lock);
    while (twin.worlds) {
        struct world *w = twin.worlds;

        twin.worlds = w->next;
        for (int r = 0; r < w->ranks; r++)
            free(w->comm[r]);
        free(w);
    }
    twin.fault = TWIN_NCCL_FINE;
    twin.counts = (struct twin_nccl_counts){0};
    pthread_mutex_unlock(&twin.lock);
}

void twin_nccl_fail(enum twin_nccl_fault fault, int rank, long n, int result)
{
    pthread_mutex_lock(&twin.lock);
    twin.fault = fault;
    twin.rank = rank;
    twin.n = n;
    twin.result = result;
    pthread_mutex_unlock(&twin.lock);
}

struct twin_nccl_counts twin_nccl_counted(void)
{
    struct twin_nccl_counts counts;

    pthread_mutex_lock(&twin.lock);
    counts = twin.counts;
    pthread_mutex_unlock(&twin.lock);
    return counts;
}

bool twin_nccl_summing(int gpu)
{
    bool is = false;

    pthread_mutex_lock(&twin.lock);
    for (const struct world *w = twin.worlds; w; w = w->next) {
        bool of = false, asked = false;

        for (int r = 0; r < w->ranks; r++)
            if (w->comm[r] && !w->comm[r]->dead) {
                of = of || w->comm[r]->gpu == gpu;
                asked = asked || w->comm[r]->calls > 0;
            }
        is = is || (of && asked);
    }
    pthread_mutex_unlock(&twin.lock);
    return is;
}
