/* Groups of GPUs that add up, over the twin: exact sums, and how a group ends when one of its ranks
 * does. Nothing here may wait longer than the group's limit. */
#include "tests/test.h"

#include "base/clock.h"
#include "cuda/comm/comm.h"
#include "tests/twin/nccl.h"
#include "tests/twin/twin.h"

#include <pthread.h>
#include <stdatomic.h>

#define RANKS 8
#define MANY  20000 /* ms: longer than anything here takes */
#define FEW   1500

struct rank {
    struct cuda_group *group;
    int rank, ranks;
    struct cuda_stream *stream;
    float *buffer;
    size_t count;
    enum err_code code;
    struct err e;
    int wrong; /* numbers */
};

static pthread_barrier_t together;
static atomic_bool gone_on; /* what a test lets its ranks wait for */

typedef void part(struct rank *r);
static part *played;

static void *play_one(void *of)
{
    struct rank *r = of;

    cuda_rt()->use(r->rank);
    cuda_rt()->stream_open(&r->stream);
    cuda_rt()->take((void **)&r->buffer, r->count * sizeof *r->buffer);
    played(r);
    cuda_rt()->stream_close(r->stream);
    cuda_rt()->give(r->buffer);
    return NULL;
}

/* Every rank does p in a thread of its own; then the group is closed. How long it took, in ms. */
static double play(struct rank *r, int ranks, size_t count, int limit_ms, part *p)
{
    pthread_t thread[RANKS];
    struct cuda_group *group;
    struct err e = {0};
    uint64_t begun = clock_ns();

    memset(r, 0, (size_t)ranks * sizeof *r);
    atomic_store(&gone_on, false);
    if (cuda_group_open(&group, ranks, limit_ms, &e) != ERR_OK) {
        TEST_FAILED("no group: %s", e.text);
        return 0;
    }
    played = p;
    pthread_barrier_init(&together, NULL, (unsigned)ranks);
    for (int i = 0; i < ranks; i++) {
        r[i].group = group;
        r[i].rank = i;
        r[i].ranks = ranks;
        r[i].count = count;
        pthread_create(&thread[i], NULL, play_one, &r[i]);
    }
    for (int i = 0; i < ranks; i++)
        pthread_join(thread[i], NULL);
    cuda_group_close(group);
    pthread_barrier_destroy(&together);
    return (double)(clock_ns() - begun) / 1e6;
}

static void begin(int gpus)
{
    twin_reset(gpus);
    twin_nccl_reset();
    twin_quiet(true);
}

static void check_clean(int destroyed, int aborted)
{
    struct twin_nccl_counts c = twin_nccl_counted();

    CHECK_INT(c.open, 0);
    CHECK_INT(c.destroyed, destroyed);
    CHECK_INT(c.aborted, aborted);
    CHECK_STR(c.wrong, "");
    CHECK_INT(twin_counted().graphs, 0);
    CHECK_INT(twin_counted().streams, 0);
    CHECK_INT(twin_counted().blocks, 0);
}

/* Numbers whose sum depends on the order of its terms. */
static float part_of(int rank, size_t i)
{
    static const float scale[] = {1e8f, 1.0f, -1e8f, 0.37f};

    return scale[(rank + (int)i) % 4] * (1.0f + (float)((i * 7 + (size_t)rank * 3) % 11));
}

static bool put(struct rank *r, float (*value)(int, size_t))
{
    float *host = malloc(r->count * sizeof *host);
    int error;

    for (size_t i = 0; i < r->count; i++)
        host[i] = value(r->rank, i);
    error = cuda_rt()->copy(r->buffer, host, r->count * sizeof *host, r->stream);
    free(host); /* taken at once: it is no pinned memory */
    return error == 0;
}

static float one(int rank, size_t i)
{
    (void)rank;
    (void)i;
    return 1.0f;
}

static float first_rank_only(int rank, size_t i)
{
    (void)i;
    return rank == 0 ? 1.0f : 0.0f;
}

/* ---- all is well ---- */

static void add_in_order(struct rank *r)
{
    r->code = cuda_group_join(r->group, r->rank, r->rank, &r->e);
    if (r->code == ERR_OK && put(r, part_of))
        r->code = cuda_group_sum(r->group, r->rank, r->buffer, r->count, r->stream, &r->e);
    if (r->code == ERR_OK)
        r->code = cuda_group_wait(r->group, r->rank, r->stream, &r->e);
    for (size_t i = 0; i < r->count && r->code == ERR_OK; i++) {
        float want = part_of(0, i);

        for (int other = 1; other < r->ranks; other++)
            want += part_of(other, i);
        r->wrong += memcmp(&want, &r->buffer[i], sizeof want) != 0;
    }
    cuda_group_leave(r->group, r->rank);
}

TEST(sums_are_in_the_order_of_ranks)
{
    struct rank r[RANKS];

    for (int ranks = 1; ranks <= RANKS; ranks += ranks == 1 ? 2 : 5) {
        begin(ranks);
        twin_seed((uint64_t)ranks);
        play(r, ranks, 333, MANY, add_in_order);
        for (int i = 0; i < ranks; i++) {
            CHECK_STR(r[i].e.text, "");
            CHECK_INT(r[i].code, ERR_OK);
            CHECK_INT(r[i].wrong, 0);
        }
        CHECK_INT(twin_nccl_counted().sums, ranks);
        check_clean(ranks, 0);
    }
}

/* Captured: 5 launches of 3 sums multiply by the number of ranks 15 times; the first sum collects the
 * one 1 of all ranks. */
static void add_in_graphs(struct rank *r)
{
    const struct cuda_rt *rt = cuda_rt();
    struct cuda_graph *graph = NULL;

    r->code = cuda_group_join(r->group, r->rank, r->rank, &r->e);
    if (r->code != ERR_OK || !put(r, first_rank_only))
        return;
    rt->stream_wait(r->stream);
    rt->capture_begin(r->stream);
    for (int i = 0; i < 3 && r->code == ERR_OK; i++)
        r->code = cuda_group_sum(r->group, r->rank, r->buffer, r->count, r->stream, &r->e);
    rt->capture_end(r->stream, &graph);
    for (int i = 0; i < 5 && r->code == ERR_OK; i++) {
        rt->graph_launch(graph, r->stream);
        if (i != 2) /* two launches behind each other */
            r->code = cuda_group_wait(r->group, r->rank, r->stream, &r->e);
    }
    for (size_t i = 0; i < r->count; i++)
        r->wrong += r->buffer[i] != 4782969.0f; /* 3^14 */
    rt->graph_close(graph);
    cuda_group_leave(r->group, r->rank);
}

TEST(sums_are_captured)
{
    struct rank r[3];

    begin(3);
    play(r, 3, 10, MANY, add_in_graphs);
    for (int i = 0; i < 3; i++) {
        CHECK_STR(r[i].e.text, "");
        CHECK_INT(r[i].wrong, 0);
    }
    CHECK_INT(twin_nccl_counted().sums, 3 * 15);
    check_clean(3, 0);
}

/* ---- one of them ends ---- */

/* Joins, and goes round after round, with a graph, until something happens; a fault of the twin. */
static void go_round(struct rank *r)
{
    const struct cuda_rt *rt = cuda_rt();
    struct cuda_graph *graph = NULL;

    r->code = cuda_group_join(r->group, r->rank, r->rank, &r->e);
    if (r->code == ERR_OK) {
        put(r, one);
        rt->capture_begin(r->stream);
        r->code = cuda_group_sum(r->group, r->rank, r->buffer, r->count, r->stream, &r->e);
        rt->capture_end(r->stream, &graph);
    }
    for (int i = 0; i < 10 && r->code == ERR_OK; i++) {
        rt->graph_launch(graph, r->stream);
        r->code = cuda_group_wait(r->group, r->rank, r->stream, &r->e);
    }
    rt->graph_close(graph);
    cuda_group_leave(r->group, r->rank);
}

/* All ranks ended with the same sentence. */
static void check_ends(struct rank *r, int ranks, const char *sentence)
{
    for (int i = 0; i < ranks; i++) {
        CHECK_INT(r[i].code, strstr(sentence, "can compute no more") ? ERR_STUCK : ERR_FAILED);
        CHECK_STR(r[i].e.text, sentence);
    }
}

TEST(an_asynchronous_error_ends_all)
{
    struct rank r[4];

    begin(4);
    twin_nccl_fail(TWIN_NCCL_ASYNC, 2, 3, CUDA_NCCL_REMOTE);
    CHECK(play(r, 4, 10, MANY, go_round) < MANY / 2);
    check_ends(r, 4,
               "GPU 2 (rank 2): a sum over 4 GPUs failed: remote process exited or there was a "
               "network error (NCCL's error 6); another rank or its GPU is gone");
    check_clean(0, 4);
}

TEST(an_error_that_calls_give_ends_all)
{
    struct rank r[3];

    begin(3);
    twin_nccl_fail(TWIN_NCCL_CALL, 1, 1, CUDA_NCCL_CUDA_ERROR);
    CHECK(play(r, 3, 10, MANY, go_round) < MANY / 2);
    check_ends(
        r, 3,
        "GPU 1 (rank 1): a sum over 3 GPUs failed: unhandled cuda error (run with NCCL_DEBUG=INFO for details) (NCCL's error 1); "
        "memory may be short on that GPU");
    check_clean(0, 3);
}

TEST(a_sum_that_is_lost_ends_by_the_limit)
{
    struct rank r[2];

    begin(2);
    twin_nccl_fail(TWIN_NCCL_LOST, 1, 2, 0);
    CHECK(play(r, 2, 10, FEW, go_round) > FEW - 1);
    for (int i = 0; i < 2; i++) {
        CHECK_HAS(r[i].e.text, "waited 1.5 s for a sum: a GPU or a link between GPUs hangs, "
                               "`nvidia-smi` may tell which");
        CHECK_STR(r[i].e.text, r[0].e.text);
    }
    check_clean(0, 2);
}

TEST(joining_that_fails_ends_all)
{
    struct rank r[3];

    begin(3);
    twin_nccl_fail(TWIN_NCCL_INIT, 2, 0, CUDA_NCCL_SYSTEM_ERROR);
    CHECK(play(r, 3, 10, MANY, go_round) < MANY / 2);
    check_ends(r, 3,
               "GPU 2 (rank 2): joining the group over 3 GPUs failed: unhandled system error (run "
               "with NCCL_DEBUG=INFO for details) (NCCL's error 2)");
    /* Who comes when all is over makes no communicator. */
    check_clean(0, twin_nccl_counted().aborted);
}

TEST(joining_that_hangs_ends_by_the_limit)
{
    struct rank r[2];

    begin(2);
    twin_nccl_fail(TWIN_NCCL_INIT_HANGS, 1, 0, 0);
    play(r, 2, 10, FEW, go_round);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(r[i].code, ERR_FAILED);
        CHECK_STR(r[i].e.text, r[0].e.text);
    }
    CHECK_HAS(r[0].e.text, " waited 1.5 s for ");
    check_clean(0, 2);
}

static void last_never_joins(struct rank *r)
{
    if (r->rank < r->ranks - 1)
        go_round(r);
}

TEST(a_rank_that_never_joins_is_named)
{
    struct rank r[3];
    double ms;

    begin(3);
    ms = play(r, 3, 10, FEW, last_never_joins);
    CHECK(ms >= FEW && ms < MANY);
    CHECK_HAS(r[0].e.text, "waited 1.5 s for joining the group: rank 2 did not come");
    CHECK_STR(r[1].e.text, r[0].e.text);
    check_clean(0, 2);
}

/* Rank 1 joins, and then is busy with something else until the others have ended; it learns of it. */
static void one_stays_away(struct rank *r)
{
    if (r->rank != 1) {
        go_round(r);
        pthread_barrier_wait(&together);
        return;
    }
    r->code = cuda_group_join(r->group, r->rank, r->rank, &r->e);
    pthread_barrier_wait(&together);
    r->code = cuda_group_sum(r->group, r->rank, r->buffer, r->count, r->stream, &r->e);
    cuda_group_leave(r->group, r->rank);
}

TEST(a_rank_that_never_comes_to_a_sum_is_named)
{
    struct rank r[3];

    begin(3);
    CHECK(play(r, 3, 10, FEW, one_stays_away) < MANY);
    for (int i = 0; i < 3; i++) {
        CHECK_HAS(r[i].e.text, "waited 1.5 s for a sum: GPU 1 (rank 1) did not come");
        CHECK_STR(r[i].e.text, r[0].e.text);
    }
    check_clean(0, 3);
}

/* Rank 0 is out of memory for something of its own while the others wait for its sum. */
static void one_fails(struct rank *r)
{
    struct err e;

    if (r->rank != 0) {
        go_round(r);
        return;
    }
    r->code = cuda_group_join(r->group, r->rank, r->rank, &r->e);
    cuda_rt_fail(&e, CUDA_RT_NOMEM, "memory for 1.2 GB of activations");
    CHECK_INT(e.code, ERR_NOMEM);
    cuda_group_fail(r->group, r->rank, &e);
    err_set(&e, ERR_FAILED, "what is no more than an echo of it");
    cuda_group_fail(r->group, r->rank, &e);
    r->code = cuda_group_wait(r->group, r->rank, r->stream, &r->e);
    cuda_group_leave(r->group, r->rank);
}

TEST(a_rank_that_fails_tells_the_others_why)
{
    struct rank r[4];

    begin(4);
    CHECK(play(r, 4, 10, MANY, one_fails) < MANY / 2);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(r[i].code, ERR_NOMEM);
        CHECK_INT(r[i].e.code, ERR_NOMEM);
        CHECK_STR(r[i].e.text, "GPU 0 (rank 0) failed: cuda: memory for 1.2 GB of activations: out "
                               "of memory (2)");
    }
    check_clean(0, 4);
}

/* A thread that ends in the middle, without a word. */
static void one_vanishes(struct rank *r)
{
    if (r->rank == 1) {
        r->code = cuda_group_join(r->group, r->rank, r->rank, &r->e);
        return;
    }
    go_round(r);
}

TEST(a_rank_that_vanishes_is_named)
{
    struct rank r[2];

    begin(2);
    CHECK(play(r, 2, 10, FEW, one_vanishes) < MANY);
    CHECK_STR(r[0].e.text, "GPU 0 (rank 0) waited 1.5 s for a sum: GPU 1 (rank 1) did not come");
    check_clean(0, 2);
}

static int breaks(void *user)
{
    (void)user;
    return CUDA_RT_ILLEGAL;
}

static void one_breaks(struct rank *r)
{
    if (r->rank != 1) {
        go_round(r);
        return;
    }
    r->code = cuda_group_join(r->group, r->rank, r->rank, &r->e);
    twin_enqueue(r->stream, breaks, NULL);
    if (r->code == ERR_OK)
        r->code = cuda_group_sum(r->group, r->rank, r->buffer, r->count, r->stream, &r->e);
    if (r->code == ERR_OK)
        r->code = cuda_group_wait(r->group, r->rank, r->stream, &r->e);
    cuda_group_leave(r->group, r->rank);
}

TEST(an_error_that_sticks_ends_all)
{
    struct rank r[3];

    begin(3);
    CHECK(play(r, 3, 10, MANY, one_breaks) < MANY / 2);
    check_ends(r, 3,
               "cuda: GPU 1 (rank 1): an illegal memory access was encountered (700); this process "
               "can compute no more on that GPU");
    CHECK_INT(twin_nccl_counted().open, 0);
    CHECK_INT(twin_nccl_counted().aborted, 3);
    CHECK_STR(twin_nccl_counted().wrong, "");
}

/* The graphs of a group that was given up are closed late: its end waits for them, nothing else. */
static void closes_late(struct rank *r)
{
    const struct cuda_rt *rt = cuda_rt();
    struct cuda_graph *graph = NULL;

    r->code = cuda_group_join(r->group, r->rank, r->rank, &r->e);
    rt->capture_begin(r->stream);
    if (r->code == ERR_OK)
        r->code = cuda_group_sum(r->group, r->rank, r->buffer, r->count, r->stream, &r->e);
    rt->capture_end(r->stream, &graph);
    pthread_barrier_wait(&together);
    if (r->rank == 0) {
        rt->graph_launch(graph, r->stream);
        r->code = cuda_group_wait(r->group, r->rank, r->stream, &r->e);
        r->wrong = twin_nccl_counted().aborted; /* none: graphs hold all of them */
    } else {
        struct err e;

        err_set(&e, ERR_FAILED, "it was tired");
        cuda_group_fail(r->group, r->rank, &e);
    }
    pthread_barrier_wait(&together);
    rt->graph_close(graph);
    cuda_group_leave(r->group, r->rank);
}

TEST(graphs_are_closed_before_their_communicators)
{
    struct rank r[2];

    begin(2);
    CHECK(play(r, 2, 10, MANY, closes_late) < MANY / 4);
    CHECK_STR(r[0].e.text, "GPU 1 (rank 1) failed: it was tired");
    CHECK_INT(r[0].wrong, 0);
    check_clean(0, 2);
}

TEST(leaving_that_hangs_ends_by_the_limit)
{
    struct rank r[2];

    begin(2);
    twin_nccl_fail(TWIN_NCCL_LEAVE_HANGS, 1, 0, 0);
    CHECK(play(r, 2, 10, FEW, go_round) < MANY);
    CHECK_INT(r[0].code, ERR_OK);
    CHECK_INT(r[1].code, ERR_OK);
    check_clean(1, 1);
}

static void both_on_gpu_0(struct rank *r)
{
    cuda_rt()->use(0);
    r->code = cuda_group_join(r->group, r->rank, 0, &r->e);
    cuda_group_leave(r->group, r->rank);
    cuda_rt()->use(r->rank);
}

TEST(two_ranks_on_one_gpu_are_refused)
{
    struct rank r[2];

    begin(2);
    CHECK(play(r, 2, 10, MANY, both_on_gpu_0) < MANY / 2);
    CHECK_HAS(
        r[0].e.text,
        "joining the group over 2 GPUs failed: invalid usage (run with NCCL_DEBUG=WARN for details) (NCCL's error 5)");
    CHECK_STR(r[1].e.text, r[0].e.text);
}

static void never_joins(struct rank *r)
{
    r->code = cuda_group_wait(r->group, r->rank, r->stream, &r->e);
    CHECK_INT(cuda_group_sum(r->group, r->rank, r->buffer, r->count, r->stream, NULL), ERR_FAILED);
    cuda_group_leave(r->group, r->rank);
}

TEST(who_did_not_join_does_not_wait)
{
    struct rank r[2];

    begin(2);
    CHECK(play(r, 2, 10, MANY, never_joins) < MANY / 2);
    CHECK_STR(r[0].e.text, "rank 0 is not in the group of 2 GPUs");
    CHECK_STR(r[1].e.text, "rank 1 is not in the group of 2 GPUs");
    check_clean(0, 0);
}

/* ---- the library ---- */

static void check_no_group(const char *sentence)
{
    struct cuda_group *group;
    struct err e = {0};

    CHECK_INT(cuda_group_open(&group, 4, MANY, &e), ERR_FAILED);
    CHECK(group == NULL);
    CHECK_STR(e.text, sentence);
}

TEST(without_a_library_there_is_a_sentence)
{
    begin(4);
    CHECK_INT(cuda_nccl_version(), 22809);
    twin_nccl_fail(TWIN_NCCL_MISSING, 0, 0, 0);
    CHECK_INT(cuda_nccl_version(), 0);
    check_no_group("libnccl.so.2 is not on this machine; 4 GPUs need NCCL, one (devices = gpu:0) "
                   "does not");
    twin_nccl_fail(TWIN_NCCL_OLD, 0, 0, 0);
    check_no_group(
        "the twin's libnccl.so.2 is NCCL 2.16.2, chorus needs 2.18 or newer: CHORUS_NCCL "
        "may name another; 4 GPUs need NCCL, one (devices = gpu:0) does not");
    twin_nccl_fail(TWIN_NCCL_ID, 0, 0, CUDA_NCCL_SYSTEM_ERROR);
    check_no_group(
        "NCCL cannot make a group of 4 GPUs: unhandled system error (run with NCCL_DEBUG=INFO for details) (NCCL's error 2)");
    twin_nccl_reset();
}

static int ancient(int *version)
{
    *version = 2708;
    return 0;
}

TEST(versions_are_read_as_they_are_numbered)
{
    struct cuda_nccl nccl = {.version = ancient};
    char text[16];
    struct err e = {0};

    cuda_nccl_version_text(22809, text);
    CHECK_STR(text, "2.28.9");
    CHECK(!cuda_nccl_fits(&nccl, "x.so", &e));
    CHECK_HAS(e.text, "x.so is NCCL 2.7.8, chorus needs 2.18 or newer");
}
