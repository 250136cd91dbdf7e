/* cuda/comm/comm.c: a group of ranks that add up over their GPUs, and how it ends when one of them does.
 *
 * A communicator belongs to its rank's thread until the group is given up. Then it is taken away under
 * its lock and aborted by a thread of its own: the abort stops what it has on the GPU at once, but
 * comes back only when the graphs that hold it are closed, which its rank does after its wait. */
#include "cuda/comm/comm.h"

#include "base/mem.h"
#include "base/system/thread.h"
#include "cuda/rt/work.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define USUAL_LIMIT_MS 60000

enum { AWAY, JOINING, BETWEEN, WAITING, GONE };

struct member {
    struct cuda_group *group;
    int rank;
    atomic_int gpu; /* -1: not known yet */
    atomic_int at;
    pthread_mutex_t lock; /* over the communicator's use and its taking away */
    void *joined;         /* written by the library, whose own thread does so again at any time */
    void *comm;           /* NULL: not here yet, or taken away */
    void *taken;          /* what its own thread aborts */
    pthread_t aborter;
    bool aborting;
};

struct cuda_group {
    const struct cuda_nccl *nccl;
    struct cuda_nccl_id id;
    int ranks, limit_ms;
    pthread_mutex_t lock; /* over why and the start of aborts */
    atomic_bool failed;
    struct err why;
    struct member member[];
};

int cuda_nccl_version(void)
{
    const struct cuda_nccl *nccl = cuda_nccl(NULL);
    int version = 0;

    return nccl && nccl->version(&version) == 0 ? version : 0;
}

/* ---- names ---- */

#define NAME_ROOM 40

/* "GPU 2", or "rank 2" where it has not said which it has. */
static const char *name_of(const struct member *m, char out[NAME_ROOM])
{
    int gpu = atomic_load(&m->gpu);

    if (gpu >= 0)
        snprintf(out, NAME_ROOM, "GPU %d (rank %d)", gpu, m->rank);
    else
        snprintf(out, NAME_ROOM, "rank %d", m->rank);
    return out;
}

/* The others that are not at `at` or further on the way through a run: who is waited for. */
static void add_missing(const struct cuda_group *g, const struct member *me, int at, char *out,
                        size_t room)
{
    char name[NAME_ROOM];
    size_t n = 0;

    out[0] = '\0';
    for (int r = 0; r < g->ranks && n < room; r++) {
        const struct member *m = &g->member[r];
        int stands = atomic_load(&m->at);
        bool here = at == WAITING ? stands == WAITING : stands != AWAY && stands != GONE;

        if (m == me || here)
            continue;
        n += (size_t)snprintf(out + n, room - n, "%s%s", n ? ", " : "", name_of(m, name));
    }
}

/* ---- giving a group up ---- */

static void *abort_one(void *of)
{
    struct member *m = of;
    int gpu = atomic_load(&m->gpu);

    if (gpu >= 0)
        cuda_rt()->use(gpu);
    m->group->nccl->abort(m->taken);
    return NULL;
}

/* Takes the communicator away from its rank. A call of the library that never returns may hold the
 * lock: then it is aborted under its hands, which is what aborting is for. */
static void take_away(struct member *m)
{
    struct timespec until;
    bool locked;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    locked = pthread_mutex_timedlock(&m->lock, &until) == 0;
    if (m->comm) { /* where no thread can be had, all that waits ends by its limit */
        m->taken = m->comm;
        m->comm = NULL;
        m->aborting = thread_start(&m->aborter, abort_one, m) == 0;
    }
    if (locked)
        pthread_mutex_unlock(&m->lock);
}

static void give_up(struct cuda_group *g)
{
    pthread_mutex_lock(&g->lock);
    for (int r = 0; r < g->ranks; r++)
        take_away(&g->member[r]);
    pthread_mutex_unlock(&g->lock);
}

static void fail_with(struct cuda_group *g, const struct err *why)
{
    pthread_mutex_lock(&g->lock);
    if (!atomic_load(&g->failed)) {
        g->why = *why;
        atomic_store(&g->failed, true);
    }
    pthread_mutex_unlock(&g->lock);
    give_up(g);
}

/* What the group, or this rank's part in it, ended with. */
static enum err_code failure(struct member *m, struct err *e)
{
    struct cuda_group *g = m->group;
    struct err why;
    char name[NAME_ROOM];

    pthread_mutex_lock(&g->lock);
    if (atomic_load(&g->failed))
        why = g->why;
    else
        err_set(&why, ERR_FAILED, "%s is not in the group of %d GPUs", name_of(m, name), g->ranks);
    pthread_mutex_unlock(&g->lock);
    if (e)
        *e = why;
    return why.code;
}

/* The library said so, about this rank. */
static enum err_code nccl_failed(struct member *m, int result, const char *doing, struct err *e)
{
    struct cuda_group *g = m->group;
    struct err why;
    char name[NAME_ROOM];

    err_set(&why, ERR_FAILED, "%s: %s over %d GPUs failed: %s (NCCL's error %d)%s",
            name_of(m, name), doing, g->ranks, g->nccl->text(result), result,
            result == CUDA_NCCL_REMOTE       ? "; another rank or its GPU is gone"
            : result == CUDA_NCCL_CUDA_ERROR ? "; memory may be short on that GPU"
                                             : "");
    fail_with(g, &why);
    return failure(m, e);
}

static enum err_code too_long(struct member *m, int at, const char *what, struct err *e)
{
    struct cuda_group *g = m->group;
    struct err why;
    char name[NAME_ROOM], missing[400];

    add_missing(g, m, at, missing, sizeof missing);
    if (*missing)
        err_set(&why, ERR_FAILED, "%s waited %g s for %s: %s did not come", name_of(m, name),
                g->limit_ms / 1000.0, what, missing);
    else
        err_set(&why, ERR_FAILED,
                "%s waited %g s for %s: a GPU or a link between GPUs hangs, `nvidia-smi` may tell "
                "which",
                name_of(m, name), g->limit_ms / 1000.0, what);
    fail_with(g, &why);
    return failure(m, e);
}

void cuda_group_fail(struct cuda_group *g, int rank, const struct err *why)
{
    struct err named = *why;
    char name[NAME_ROOM];

    err_context(&named, "%s failed", name_of(&g->member[rank], name));
    fail_with(g, &named);
}

/* ---- waiting ---- */

int cuda_limit_ms(int wanted)
{
    return wanted > 0 ? wanted : USUAL_LIMIT_MS;
}

void cuda_rest(unsigned tries)
{
    struct timespec t = {0, tries < 200 ? 20000 : 200000};

    if (tries < 50)
        sched_yield();
    else
        nanosleep(&t, NULL);
}

int cuda_wait_within(struct cuda_stream *s, int limit_ms)
{
    uint64_t begun = cuda_work_ns();
    int error;

    for (unsigned tries = 0; (error = cuda_rt()->stream_query(s)) == CUDA_RT_NOT_READY; tries++) {
        if (cuda_work_since(begun) > (uint64_t)limit_ms * 1000000)
            break;
        cuda_rest(tries);
    }
    return error;
}

static bool over(const struct cuda_group *g, uint64_t begun)
{
    return cuda_work_since(begun) > (uint64_t)g->limit_ms * 1000000;
}

/* What its communicator says of itself; true where there is none any more. */
static bool state_of(struct member *m, int *result)
{
    bool mine;

    *result = CUDA_NCCL_BUSY;
    pthread_mutex_lock(&m->lock);
    mine = m->comm != NULL;
    if (mine) {
        int error = m->group->nccl->async_error(m->comm, result);

        if (error)
            *result = error;
    }
    pthread_mutex_unlock(&m->lock);
    return !mine;
}

/* Until what was begun with the communicator is no longer in progress. */
static enum err_code settle(struct member *m, int at, const char *doing, struct err *e)
{
    struct cuda_group *g = m->group;
    uint64_t begun = cuda_work_ns();

    for (unsigned tries = 0;; tries++) {
        int result;

        if (atomic_load(&g->failed) || state_of(m, &result)) {
            give_up(g);
            return failure(m, e);
        }
        if (result == CUDA_NCCL_OK)
            return ERR_OK;
        if (result != CUDA_NCCL_BUSY)
            return nccl_failed(m, result, doing, e);
        if (over(g, begun))
            return too_long(m, at, doing, e);
        cuda_rest(tries);
    }
}

/* After an abort a stream runs out by itself, or its GPU hangs. */
static enum err_code drain(struct member *m, struct cuda_stream *s, enum err_code code,
                           struct err *e)
{
    uint64_t begun = cuda_work_ns();
    char name[NAME_ROOM];

    for (unsigned tries = 0; cuda_rt()->stream_query(s) == CUDA_RT_NOT_READY; tries++) {
        if (over(m->group, begun)) {
            struct err before = e ? *e : (struct err){0};

            return err_set(e, ERR_STUCK,
                           "%.700s; %s did not answer for %g s: this process can compute no more "
                           "on that GPU",
                           before.text, name_of(m, name), m->group->limit_ms / 1000.0);
        }
        cuda_rest(tries);
    }
    return code;
}

/* ---- the group ---- */

enum err_code cuda_group_open(struct cuda_group **out, int ranks, int limit_ms, struct err *e)
{
    struct err why;
    const struct cuda_nccl *nccl = cuda_nccl(&why);
    struct cuda_group *g;
    struct cuda_nccl_id id;
    int result;

    *out = NULL;
    if (!nccl)
        return err_set(e, ERR_FAILED, "%s; %d GPUs need NCCL, one (devices = gpu:0) does not",
                       why.text, ranks);
    result = nccl->unique_id(&id);
    if (result != CUDA_NCCL_OK)
        return err_set(e, ERR_FAILED, "NCCL cannot make a group of %d GPUs: %s (NCCL's error %d)",
                       ranks, nccl->text(result), result);
    g = mem_new(1, sizeof *g + (size_t)ranks * sizeof g->member[0]);
    g->nccl = nccl;
    g->id = id;
    g->ranks = ranks;
    g->limit_ms = cuda_limit_ms(limit_ms);
    pthread_mutex_init(&g->lock, NULL);
    atomic_init(&g->failed, false);
    for (int r = 0; r < ranks; r++) {
        struct member *m = &g->member[r];

        m->group = g;
        m->rank = r;
        atomic_init(&m->gpu, -1);
        atomic_init(&m->at, AWAY);
        pthread_mutex_init(&m->lock, NULL);
    }
    *out = g;
    return ERR_OK;
}

enum err_code cuda_group_join(struct cuda_group *g, int rank, int gpu, struct err *e)
{
    struct member *m = &g->member[rank];
    struct cuda_nccl_config config = {
        .size = sizeof config,
        .magic = CUDA_NCCL_MAGIC,
        .version = CUDA_NCCL_CONFIG,
        .blocking = 0,
        .cluster = INT_MIN,
        .least_blocks = INT_MIN,
        .most_blocks = INT_MIN,
        .net = NULL,
        .split_share = INT_MIN,
        .unused = INT_MIN,
    };
    int result;

    atomic_store(&m->gpu, gpu);
    atomic_store(&m->at, JOINING);
    if (atomic_load(&g->failed))
        return failure(m, e);
    pthread_mutex_lock(&m->lock);
    result = g->nccl->init(&m->joined, g->ranks, &g->id, rank, &config);
    m->comm = __atomic_load_n(&m->joined, __ATOMIC_ACQUIRE);
    pthread_mutex_unlock(&m->lock);
    if (result != CUDA_NCCL_OK && result != CUDA_NCCL_BUSY)
        return nccl_failed(m, result, "joining the group", e);
    TRY(settle(m, JOINING, "joining the group", e));
    atomic_store(&m->at, BETWEEN);
    return ERR_OK;
}

enum err_code cuda_group_sum(struct cuda_group *g, int rank, float *buffer, size_t count,
                             struct cuda_stream *s, struct err *e)
{
    struct member *m = &g->member[rank];
    int result = CUDA_NCCL_OK;
    bool mine;

    if (atomic_load(&g->failed))
        return failure(m, e);
    pthread_mutex_lock(&m->lock);
    mine = m->comm != NULL;
    if (mine)
        result =
            g->nccl->all_reduce(buffer, buffer, count, CUDA_NCCL_FLOAT, CUDA_NCCL_SUM, m->comm, s);
    pthread_mutex_unlock(&m->lock);
    if (!mine)
        return failure(m, e);
    if (result != CUDA_NCCL_OK && result != CUDA_NCCL_BUSY)
        return nccl_failed(m, result, "a sum", e);
    return settle(m, BETWEEN, "a sum", e);
}

enum err_code cuda_group_wait(struct cuda_group *g, int rank, struct cuda_stream *s, struct err *e)
{
    struct member *m = &g->member[rank];
    uint64_t begun = cuda_work_ns();
    enum err_code code = ERR_OK;

    atomic_store(&m->at, WAITING);
    for (unsigned tries = 0;; tries++) {
        int state = cuda_rt()->stream_query(s), result;

        if (state != CUDA_RT_OK && state != CUDA_RT_NOT_READY) {
            char name[NAME_ROOM];
            struct err own;

            cuda_rt_fail(&own, state, "%s", name_of(m, name));
            fail_with(g, &own);
            code = failure(m, e);
            break;
        }
        if (atomic_load(&g->failed) || state_of(m, &result)) {
            give_up(g);
            code = failure(m, e);
        } else if (result != CUDA_NCCL_OK && result != CUDA_NCCL_BUSY) {
            code = nccl_failed(m, result, "a sum", e);
        } else if (state == CUDA_RT_OK) {
            break;
        } else if (over(g, begun)) {
            code = too_long(m, WAITING, "a sum", e);
        }
        if (code != ERR_OK) {
            code = drain(m, s, code, e);
            break;
        }
        cuda_rest(tries);
    }
    atomic_store(&m->at, BETWEEN);
    return code;
}

/* ---- the end ---- */

void cuda_group_leave(struct cuda_group *g, int rank)
{
    struct member *m = &g->member[rank];
    bool mine;

    pthread_mutex_lock(&m->lock);
    mine = m->comm != NULL;
    if (mine && !atomic_load(&g->failed))
        g->nccl->finalize(m->comm);
    pthread_mutex_unlock(&m->lock);
    if (mine && settle(m, BETWEEN, "leaving the group", NULL) == ERR_OK) {
        void *comm;

        /* Destroying may wait for the other ranks, and nobody may abort it meanwhile. */
        pthread_mutex_lock(&m->lock);
        comm = m->comm;
        m->comm = NULL;
        pthread_mutex_unlock(&m->lock);
        if (comm)
            g->nccl->destroy(comm);
    }
    atomic_store(&m->at, GONE);
}

/* Whether its abort has come to an end, or there was nothing to abort; else it is left to itself. */
static bool aborted(const struct cuda_group *g, struct member *m)
{
    struct timespec until;

    if (!m->aborting)
        return !m->taken;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += g->limit_ms / 1000 + 1;
    return pthread_timedjoin_np(m->aborter, NULL, &until) == 0;
}

void cuda_group_close(struct cuda_group *g)
{
    bool all = true;

    if (!g)
        return;
    give_up(g); /* what is left of ranks that did not leave */
    for (int r = 0; r < g->ranks; r++)
        all = aborted(g, &g->member[r]) && all;
    if (!all) /* its threads use it still: it is lost until the program ends */
        return;
    for (int r = 0; r < g->ranks; r++)
        pthread_mutex_destroy(&g->member[r].lock);
    pthread_mutex_destroy(&g->lock);
    free(g);
}
