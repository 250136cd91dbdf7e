/* The twin of the CUDA runtime: as late as it may be, as strict as the real one or stricter. */
#include "tests/test.h"

#include "tests/twin/twin.h"
#include "tests/unit/cuda/emu_kernels.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define RT (cuda_rt())

static void *taken(size_t bytes)
{
    void *p = NULL;

    CHECK_INT(RT->take(&p, bytes), 0);
    return p;
}

static void *pinned(size_t bytes)
{
    void *p = NULL;

    CHECK_INT(RT->take_pinned(&p, NULL, bytes), 0);
    return p;
}

static struct cuda_stream *opened(void)
{
    struct cuda_stream *s = NULL;

    CHECK_INT(RT->stream_open(&s), 0);
    return s;
}

static struct cuda_event *event(void)
{
    struct cuda_event *e = NULL;

    CHECK_INT(RT->event_open(&e), 0);
    return e;
}

static int add(float *y, float by, int n, struct cuda_stream *s)
{
    struct add_args a = {.y = y, .by = by, .n = n};
    unsigned grid[3] = {(unsigned)(n + 255) / 256, 1, 1};

    return RT->launch(&k_add, grid, 256, 0, &a, sizeof a, s);
}

static float *zeros(int n, struct cuda_stream *s)
{
    float *p = taken((size_t)n * 4);

    CHECK_INT(RT->set(p, 0, (size_t)n * 4, s), 0);
    CHECK_INT(RT->stream_wait(s), 0);
    return p;
}

static void begin(int gpus)
{
    twin_reset(gpus);
    twin_quiet(true);
}

/* ---- the driver, GPUs and memory ---- */

TEST(drivers_are_told_apart_as_by_the_real_runtime)
{
    static const struct {
        enum twin_driver driver;
        int count, version_error, version;
    } want[] = {
        {TWIN_DRIVER_FINE, 0, 0, 13000},
        {TWIN_DRIVER_NONE, CUDA_RT_OLD_DRIVER, 0, 0},
        {TWIN_DRIVER_OLD, CUDA_RT_OLD_DRIVER, 0, 12040},
        {TWIN_DRIVER_BUSY, CUDA_RT_BUSY, 0, 13000},
        {TWIN_DRIVER_NO_DEVICE, CUDA_RT_NO_DEVICE, 0, 13000},
        {TWIN_DRIVER_STUB, CUDA_RT_STUB, CUDA_RT_STUB, 13000},
    };
    struct cuda_gpu_facts facts;
    int gpus, version;
    void *p;

    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        begin(2);
        twin_set_driver(want[i].driver);
        CHECK_INT(RT->count(&gpus), want[i].count);
        CHECK_INT(gpus, i ? 0 : 2);
        CHECK_INT(RT->driver_version(&version), want[i].version_error);
        CHECK_INT(version, want[i].version);
        CHECK_INT(RT->take(&p, 16), want[i].count);
        CHECK_INT(RT->use(0), want[i].count);
    }
    begin(2);
    CHECK_INT(RT->facts(1, &facts), 0);
    CHECK_STR(facts.bus, "00000000:02:00.0");
    CHECK_INT(facts.major, 9);
    CHECK_INT(facts.shared_block, 227 * 1024);
    CHECK_INT(RT->facts(2, &facts), 101);
    CHECK_INT(RT->use(2), 101);
    CHECK_STR(RT->text(2), "out of memory");
}

TEST(memory_is_counted_limited_and_full_of_nan)
{
    size_t room, total;
    float *a, *b = NULL;

    begin(1);
    twin_limit_memory(1 << 20);
    a = taken(1000 * 4);
    CHECK(isnan(a[0]) && isnan(a[999]));
    CHECK_INT((size_t)a % 256, 0);
    CHECK_INT(RT->memory(&room, &total), 0);
    CHECK_INT(total, 1 << 20);
    CHECK_INT(room, (1 << 20) - 4000);
    CHECK_INT(RT->take((void **)&b, (1 << 20) - 3999), CUDA_RT_NOMEM);
    CHECK(!b);
    CHECK_INT(RT->take((void **)&b, (1 << 20) - 4000), 0);
    CHECK_INT(twin_counted().blocks, 2);
    CHECK_INT(RT->give(b), 0);
    CHECK_INT(RT->give(a), 0);
    CHECK_INT(RT->give(NULL), 0);
    CHECK_INT(RT->give_pinned(NULL), 0);
    CHECK_INT(twin_counted().blocks, 0);
    CHECK_INT(RT->give(a), 1);
    CHECK_HAS(twin_report(), "is not the start of memory that take gave");
}

TEST(leaving_a_block_of_memory_is_found)
{
    struct cuda_stream *s;
    float *y;

    begin(1);
    s = opened();
    y = zeros(100, s);
#ifdef __SANITIZE_ADDRESS__ /* ends the process where it happens */
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        fclose(stderr);
        add(y, 1, 101, s);
        RT->stream_wait(s);
        _exit(0);
    }
    waitpid(child, &status, 0);
    CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
#else
    CHECK_INT(add(y, 1, 101, s), 0);
    CHECK_INT(RT->stream_wait(s), 0);
    CHECK_INT(RT->give(y), CUDA_RT_ILLEGAL);
    CHECK_HAS(twin_report(), "behind a block of 400 bytes");
#endif
}

TEST(copies_and_sets_stay_inside_their_blocks)
{
    struct cuda_stream *s;
    char *a, host[64] = {0};

    begin(1);
    s = opened();
    a = taken(64);
    CHECK_INT(RT->copy(a + 1, host, 64, s), 1);
    CHECK_HAS(twin_report(), "copy to: 64 bytes, but its block ends after 63");
    CHECK_INT(RT->copy(host, a + 32, 33, s), 1);
    CHECK_INT(RT->set(a, 0, 65, s), 1);
    CHECK_INT(RT->set(host, 0, 64, s), 1);
    CHECK_INT(RT->copy(a, host, 64, s), 0);
    CHECK_INT(RT->copy_rows(a, 8, host, 4, 4, 8, s), 0);
    /* also of one row */
    CHECK_INT(RT->copy_rows(a, 8, host, 4, 8, 1, s), 1);
    CHECK_INT(RT->copy_rows(a, 4, host, 8, 8, 1, s), 1);
    CHECK_INT(RT->stream_wait(s), 0);
    CHECK(!memcmp(a, host, 64));
}

/* ---- streams ---- */

TEST(work_is_done_when_it_is_waited_for)
{
    struct cuda_stream *s;
    float *p, *d, out[4] = {9, 9, 9, 9}, plain[4] = {1, 2, 3, 4};

    begin(1);
    s = opened();
    p = pinned(16);
    d = taken(32);
    for (int i = 0; i < 4; i++)
        p[i] = 1;
    CHECK_INT(RT->copy(d, p, 16, s), 0);
    CHECK_INT(RT->copy(d + 4, plain, 16, s), 0);
    CHECK_INT(add(d, 10, 4, s), 0);
    CHECK_INT(RT->copy(out, d, 16, s), 0);
    CHECK(isnan(d[0]) && out[0] == 9);
    p[2] = 5;     /* pinned memory is looked at when the copy runs */
    plain[0] = 7; /* other memory was, when it was asked for */
    CHECK_INT(twin_counted().kernels, 0);
    CHECK_INT(RT->stream_wait(s), 0);
    CHECK(out[0] == 11 && out[2] == 15 && out[3] == 11);
    CHECK(d[4] == 1 && d[7] == 4);
    CHECK_INT(twin_counted().kernels, 1);
}

TEST(a_query_goes_on_a_little)
{
    struct cuda_stream *s;
    float *d;
    int asked = 0, error;

    begin(1);
    s = opened();
    d = zeros(4, s);
    for (int i = 0; i < 1000; i++)
        add(d, 1, 4, s);
    while ((error = RT->stream_query(s)) == CUDA_RT_NOT_READY) {
        CHECK(d[0] < 1000);
        asked++;
    }
    CHECK_INT(error, 0);
    CHECK(asked >= 4 && asked <= 200);
    CHECK(d[0] == 1000);
}

TEST(events_order_streams)
{
    struct cuda_stream *a, *b;
    struct cuda_event *e, *first, *never;
    float *d, ms = -1;

    begin(1);
    a = opened();
    b = opened();
    e = event();
    first = event();
    never = event();
    d = zeros(4, a);
    CHECK_INT(RT->event_query(never), 0);
    CHECK_INT(RT->event_record(first, a), 0);
    CHECK_INT(add(d, 1, 4, a), 0);
    CHECK_INT(RT->event_record(e, a), 0);
    CHECK_INT(add(d, 100, 4, a), 0);
    CHECK_INT(RT->stream_after(b, never), 0);
    CHECK_INT(RT->stream_after(b, e), 0);
    CHECK_INT(add(d, 1, 4, b), 0);
    CHECK_INT(RT->event_ms(first, e, &ms), CUDA_RT_NOT_READY);
    CHECK_INT(RT->stream_wait(b), 0);
    CHECK(d[0] == 2); /* what follows the event was not needed */
    CHECK_INT(RT->event_query(e), 0);
    CHECK_INT(RT->event_ms(first, e, &ms), 0);
    CHECK(ms >= 0);
    CHECK_INT(RT->stream_wait(a), 0);
    CHECK(d[0] == 102);
    CHECK_INT(RT->event_ms(never, e, &ms), 400);
    CHECK_INT(RT->event_record(e, a), 0);
    while (RT->event_query(e) == CUDA_RT_NOT_READY)
        ;
    CHECK_INT(RT->event_query(e), 0);
    /* An event may go while others wait for it. */
    CHECK_INT(RT->event_record(e, a), 0);
    CHECK_INT(RT->stream_after(b, e), 0);
    CHECK_INT(RT->event_close(e), 0);
    CHECK_INT(RT->stream_close(b), 0);
    CHECK_INT(RT->stream_close(a), 0);
    CHECK_INT(RT->event_close(first), 0);
    CHECK_INT(RT->event_close(never), 0);
    CHECK_INT(twin_counted().streams + twin_counted().events, 0);
}

/* ---- graphs ---- */

TEST(a_graph_does_again_what_was_captured)
{
    struct cuda_stream *s;
    struct cuda_graph *g = NULL;
    float *d, *p;

    begin(1);
    s = opened();
    p = pinned(4);
    d = zeros(1, s);
    CHECK_INT(RT->capture_begin(s), 0);
    CHECK_INT(add(d, 1, 1, s), 0);
    CHECK_INT(add(d, 2, 1, s), 0);
    CHECK_INT(RT->copy(p, d, 4, s), 0);
    CHECK_INT(RT->capture_end(s, &g), 0);
    CHECK_INT(RT->stream_wait(s), 0);
    CHECK(d[0] == 0);
    for (int i = 0; i < 5; i++)
        CHECK_INT(RT->graph_launch(g, s), 0);
    CHECK_INT(RT->graph_close(g), 0); /* what was launched goes on */
    CHECK(d[0] == 0);
    CHECK_INT(RT->stream_wait(s), 0);
    CHECK(d[0] == 15 && p[0] == 15);
    CHECK_INT(twin_counted().graph_launches, 5);
    CHECK_INT(twin_counted().kernels, 10);
    CHECK_INT(twin_counted().graphs, 0);
}

/* Two streams of one capture; joined: whether what both write is ordered by an event. */
static float branches(bool ordered, int seed)
{
    struct cuda_stream *a, *b;
    struct cuda_event *fork_event, *join;
    struct cuda_graph *g = NULL;
    float *d;

    begin(1);
    twin_seed((uint64_t)seed);
    a = opened();
    b = opened();
    fork_event = event();
    join = event();
    d = zeros(2, a);
    CHECK_INT(RT->capture_begin(a), 0);
    CHECK_INT(add(d, 1, 1, a), 0);
    CHECK_INT(RT->event_record(fork_event, a), 0);
    CHECK_INT(RT->stream_after(b, fork_event), 0);
    CHECK(twin_capturing(b));
    CHECK_INT(add(d, 10, 1, b), 0);
    CHECK_INT(RT->event_record(join, b), 0);
    if (ordered)
        CHECK_INT(RT->stream_after(a, join), 0);
    CHECK_INT(RT->copy(d + 1, d, 4, a), 0);
    if (!ordered)
        CHECK_INT(RT->stream_after(a, join), 0);
    CHECK_INT(RT->capture_end(a, &g), 0);
    CHECK(!twin_capturing(b));
    CHECK_INT(RT->graph_launch(g, a), 0);
    CHECK_INT(RT->stream_wait(a), 0);
    CHECK(d[0] == 11);
    CHECK_INT(RT->graph_close(g), 0);
    CHECK_INT(RT->event_close(fork_event), 0);
    CHECK_INT(RT->event_close(join), 0);
    return d[1];
}

TEST(branches_of_a_graph_run_in_any_order_that_events_leave)
{
    int early = 0, late = 0;

    for (int seed = 1; seed <= 16; seed++) {
        CHECK(branches(true, seed) == 11);
        *(branches(false, seed) == 11 ? &late : &early) += 1;
    }
    CHECK(early > 0 && late > 0);
}

TEST(captures_allow_what_the_real_ones_allow)
{
    struct cuda_stream *a, *b;
    struct cuda_event *inside, *outside;
    struct cuda_graph *g;
    void *p;

    begin(1);
    a = opened();
    b = opened();
    inside = event();
    outside = event();
    CHECK_INT(RT->event_record(outside, b), 0);
    CHECK_INT(RT->capture_end(a, &g), 1);
    CHECK_INT(RT->capture_begin(a), 0);
    CHECK_INT(RT->stream_wait(a), 900);
    CHECK_INT(RT->capture_end(a, &g), 901);
    CHECK(!g);
    CHECK_INT(RT->capture_begin(a), 0);
    CHECK_INT(RT->stream_after(a, outside), 905);
    CHECK_INT(RT->capture_end(a, &g), 901);
    /* What joined must be waited for. */
    CHECK_INT(RT->capture_begin(a), 0);
    CHECK_INT(RT->event_record(inside, a), 0);
    CHECK_INT(RT->event_query(inside), 907);
    CHECK_INT(RT->stream_after(b, inside), 0);
    CHECK_INT(RT->capture_end(b, &g), 903);
    CHECK_INT(add(NULL, 1, 0, b), 9);
    CHECK_INT(RT->capture_end(a, &g), 0);
    CHECK_INT(RT->graph_close(g), 0);
    CHECK_INT(RT->stream_after(b, inside), 907);
    CHECK_INT(RT->take(&p, 16), 0);
    CHECK_INT(RT->capture_begin(a), 0);
    CHECK_INT(RT->event_record(inside, a), 0);
    CHECK_INT(RT->stream_after(b, inside), 0);
    CHECK_INT(add(p, 1, 1, b), 0);
    CHECK_INT(RT->capture_end(a, &g), 904);
    CHECK(!g);
    CHECK_INT(RT->event_close(inside), 0);
    CHECK_INT(RT->event_close(outside), 0);
    CHECK_INT(RT->stream_wait(a), 0);
    CHECK_INT(RT->stream_wait(b), 0);
}

/* What may wait for the GPU, or changes its memory, costs the thread its captures, whatever it is of. */
TEST(a_capture_is_lost_by_calls_that_are_not_of_it)
{
    struct cuda_stream *a, *b;
    struct cuda_event *outside;
    void *memory, *pinned_memory, *p;

    begin(1);
    a = opened();
    b = opened();
    outside = event();
    memory = taken(16);
    pinned_memory = pinned(16);
    CHECK_INT(RT->event_record(outside, b), 0);
    for (int call = 0; call < 7; call++) {
        struct cuda_graph *g;

        CHECK_INT(RT->capture_begin(a), 0);
        CHECK_INT(call == 0   ? RT->event_query(outside)
                  : call == 1 ? RT->stream_query(b)
                  : call == 2 ? RT->stream_wait(b)
                  : call == 3 ? RT->take(&p, 16)
                  : call == 4 ? RT->take_pinned(&p, NULL, 16)
                  : call == 5 ? RT->give(memory)
                              : RT->give_pinned(pinned_memory),
                  900);
        CHECK_INT(RT->capture_end(a, &g), 901);
        CHECK(!g);
    }
    CHECK_INT(RT->stream_wait(b), 0);
    CHECK_INT(RT->event_query(outside), 0);
    CHECK_INT(RT->event_close(outside), 0);
    CHECK_INT(RT->give(memory), 0);
    CHECK_INT(RT->give_pinned(pinned_memory), 0);
}

/* ---- GPUs, and what goes wrong on them ---- */

TEST(memory_and_streams_belong_to_a_gpu)
{
    struct cuda_stream *s[2];
    float *d[2];

    begin(2);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(RT->use(i), 0);
        s[i] = opened();
        d[i] = zeros(4, s[i]);
    }
    CHECK_INT(twin_stream_gpu(s[1]), 1);
    CHECK_INT(add(d[0], 1, 4, s[0]), 400);
    CHECK_HAS(twin_report(), "a stream of GPU 0 while GPU 1 is in use");
    CHECK_INT(RT->copy(d[1], d[0], 16, s[1]), 1);
    CHECK_HAS(twin_report(), "memory of GPU 0 in a stream of GPU 1");
    CHECK_INT(add(d[0], 1, 4, s[1]), 0);
    CHECK_INT(RT->stream_wait(s[1]), CUDA_RT_ILLEGAL);
    CHECK_STR(twin_report(), "k_add on GPU 1 was given memory of GPU 0 (byte 0 of its arguments)");
    /* It sticks, on that GPU. */
    CHECK_INT(add(d[1], 1, 4, s[1]), CUDA_RT_ILLEGAL);
    CHECK_INT(RT->stream_query(s[1]), CUDA_RT_ILLEGAL);
    CHECK_INT(RT->use(1), CUDA_RT_ILLEGAL);
    CHECK_INT(RT->use(0), 0);
    CHECK_INT(add(d[0], 1, 4, s[0]), 0);
    CHECK_INT(RT->stream_wait(s[0]), 0);
    CHECK(d[0][3] == 1);
}

TEST(pointers_that_no_gpu_knows_are_found)
{
    static float host[4];
    struct cuda_stream *s;
    float *d, *p;

    begin(1);
    s = opened();
    p = pinned(16);
    p[0] = 1;
    CHECK_INT(add(p, 1, 1, s), 0);
    CHECK_INT(RT->stream_wait(s), 0);
    CHECK(p[0] == 2);
    CHECK_INT(add(host, 1, 4, s), 0);
    CHECK_INT(RT->stream_wait(s), CUDA_RT_ILLEGAL);
    CHECK_HAS(twin_report(), "neither a GPU's nor pinned");
    begin(1);
    s = opened();
    d = taken(16);
    CHECK_INT(RT->give(d), 0);
    CHECK_INT(add(d, 1, 4, s), 0);
    CHECK_INT(RT->stream_wait(s), CUDA_RT_ILLEGAL);
    CHECK_HAS(twin_report(), "was given back");
}

TEST(giving_memory_back_waits_for_its_gpu)
{
    struct cuda_stream *s;
    float *d, *p;

    begin(1);
    s = opened();
    d = zeros(1, s);
    p = pinned(4);
    CHECK_INT(add(d, 3, 1, s), 0);
    CHECK_INT(RT->copy(p, d, 4, s), 0);
    CHECK_INT(RT->give(d), 0);
    CHECK(p[0] == 3);
}

TEST(launches_have_the_limits_of_a_gpu)
{
    struct add_args a = {0};
    unsigned one[3] = {1, 1, 1}, none[3] = {1, 0, 1}, many[3] = {1, 65536, 1};
    struct cuda_stream *s;

    begin(1);
    s = opened();
    CHECK_INT(RT->launch(&k_add, one, 256, 0, &a, sizeof a, s), 0);
    CHECK_INT(RT->launch(&k_add, none, 256, 0, &a, sizeof a, s), 9);
    CHECK_INT(RT->launch(&k_add, many, 256, 0, &a, sizeof a, s), 9);
    CHECK_INT(RT->launch(&k_add, one, 512, 0, &a, sizeof a, s), 1);
    CHECK_INT(RT->launch(&k_add, one, 256, 227 << 10, &a, sizeof a, s), 0);
    CHECK_INT(RT->launch(&k_add, one, 256, (227 << 10) + 1, &a, sizeof a, s), 1);
    CHECK_INT(RT->launch(&k_add, one, 256, 0, &a, sizeof a, NULL), 400);
    twin_set_capability(8, 6);
    CHECK_INT(RT->launch(&k_add, one, 256, 100 << 10, &a, sizeof a, s), 1);
    twin_set_capability(7, 5);
    CHECK_INT(RT->launch(&k_add, one, 256, 0, &a, sizeof a, s), CUDA_RT_NO_IMAGE);
}

TEST(faults_come_at_the_call_that_was_named)
{
    struct cuda_stream *s;
    void *p;
    float *d;

    begin(1);
    s = opened();
    d = zeros(1, s);
    twin_fail("launch", 3, 1);
    twin_fail("take", 1, CUDA_RT_NOMEM);
    CHECK_INT(add(d, 1, 1, s), 0);
    CHECK_INT(RT->take(&p, 4), CUDA_RT_NOMEM);
    CHECK_INT(RT->take(&p, 4), 0);
    CHECK_INT(add(d, 1, 1, s), 0);
    CHECK_INT(add(d, 1, 1, s), 1);
    CHECK_INT(add(d, 1, 1, s), 0);
    CHECK_INT(RT->stream_wait(s), 0);
    CHECK(d[0] == 3);
    /* One of a kernel that runs is told by a later call, and sticks. */
    twin_fail("kernel", 2, 719);
    CHECK_INT(add(d, 1, 1, s), 0);
    CHECK_INT(add(d, 1, 1, s), 0);
    CHECK_INT(RT->stream_wait(s), 719);
    CHECK_INT(RT->take(&p, 4), 719);
    CHECK(d[0] == 4);
    begin(1);
    s = opened();
    twin_fail("stream_wait", 1, CUDA_RT_ILLEGAL);
    CHECK_INT(RT->stream_wait(s), CUDA_RT_ILLEGAL);
    CHECK_INT(RT->stream_query(s), CUDA_RT_ILLEGAL);
}

/* ---- libraries and threads ---- */

struct meeting {
    int ranks, here;
    bool came[8];
};
struct guest {
    struct meeting *at;
    int rank;
};

/* As an all-reduce: done when all ranks have come. */
static int meet(void *user)
{
    struct guest *g = user;

    if (!g->at->came[g->rank]) {
        g->at->came[g->rank] = true;
        __atomic_add_fetch(&g->at->here, 1, __ATOMIC_ACQ_REL);
    }
    return __atomic_load_n(&g->at->here, __ATOMIC_ACQUIRE) == g->at->ranks ? 0 : CUDA_RT_NOT_READY;
}

TEST(work_of_libraries_waits_for_other_streams)
{
    struct meeting at = {.ranks = 2};
    struct guest guest[2] = {{&at, 0}, {&at, 1}};
    struct cuda_stream *s[2];
    float *d[2];

    begin(2);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(RT->use(i), 0);
        s[i] = opened();
        d[i] = zeros(1, s[i]);
        CHECK_INT(add(d[i], 1, 1, s[i]), 0);
        CHECK_INT(twin_enqueue(s[i], meet, &guest[i]), 0);
        CHECK_INT(add(d[i], 1, 1, s[i]), 0);
    }
    /* One thread: waiting for one stream lets the other come as far as the meeting. */
    CHECK_INT(RT->stream_wait(s[1]), 0);
    CHECK(d[1][0] == 2 && d[0][0] >= 1);
    CHECK_INT(RT->use(0), 0);
    CHECK_INT(RT->stream_wait(s[0]), 0);
    CHECK(d[0][0] == 2);
}

struct worker {
    pthread_t thread;
    int gpu;
    struct guest guest;
    int wrong;
};

static void *work(void *user)
{
    struct worker *w = user;
    struct cuda_stream *s = NULL;
    struct cuda_graph *g = NULL;
    float *d = NULL, got[300];

    w->wrong += RT->use(w->gpu) != 0;
    w->wrong += RT->stream_open(&s) != 0;
    w->wrong += RT->take((void **)&d, sizeof got) != 0;
    w->wrong += RT->set(d, 0, sizeof got, s) != 0;
    w->wrong += RT->capture_begin(s) != 0;
    for (int i = 0; i < 10; i++)
        w->wrong += add(d, (float)(w->gpu + 1), 300, s) != 0;
    w->wrong += RT->capture_end(s, &g) != 0;
    for (int i = 0; i < 10; i++)
        w->wrong += RT->graph_launch(g, s) != 0;
    w->wrong += twin_enqueue(s, meet, &w->guest) != 0;
    w->wrong += RT->copy(got, d, sizeof got, s) != 0;
    while (w->guest.rank > 1 && RT->stream_query(s) == CUDA_RT_NOT_READY)
        usleep(100);
    w->wrong += RT->stream_wait(s) != 0;
    for (int i = 0; i < 300; i++)
        w->wrong += got[i] != 100 * (float)(w->gpu + 1);
    w->wrong += RT->graph_close(g) != 0;
    w->wrong += RT->give(d) != 0;
    w->wrong += RT->stream_close(s) != 0;
    return NULL;
}

TEST(threads_drive_their_gpus_at_once)
{
    struct meeting at = {.ranks = 4};
    struct worker w[4];

    begin(2); /* two threads for each GPU */
    for (int i = 0; i < 4; i++) {
        w[i] = (struct worker){.gpu = i % 2, .guest = {&at, i}};
        REQUIRE(pthread_create(&w[i].thread, NULL, work, &w[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(w[i].thread, NULL);
        CHECK_INT(w[i].wrong, 0);
    }
    CHECK_INT(twin_counted().blocks + twin_counted().streams + twin_counted().graphs, 0);
}

/* ---- words ---- */

TEST(errors_are_told_in_words)
{
    struct err e = {0};

    begin(1);
    CHECK_INT(cuda_rt_fail(&e, 2, "memory for %s of activations on GPU %d", "1.2 GB", 0),
              ERR_NOMEM);
    CHECK_STR(e.text, "cuda: memory for 1.2 GB of activations on GPU 0: out of memory (2)");
    CHECK_INT(cuda_rt_fail(&e, 700, "a step"), ERR_STUCK);
    CHECK_HAS(e.text, "an illegal memory access was encountered (700)");
    CHECK_HAS(e.text, "no more on that GPU");
    CHECK(!cuda_rt_sticks(0) && !cuda_rt_sticks(2) && !cuda_rt_sticks(600) && !cuda_rt_sticks(901));
}

/* Those of which CUDA's header says that the process must be ended, and three of which it says no less. */
TEST(errors_that_stick_are_those_of_the_header)
{
    const char *home = getenv("CUDA_HOME");
    char path[400], line[400];
    bool ends = false, sticks[1000] = {[214] = true, [220] = true, [709] = true};
    bool named[1000] = {false};
    int number, found = 0, version = 0;
    FILE *f;

    home = home && *home ? home : "/usr/local/cuda";
    snprintf(path, sizeof path, "%s/include/cuda_runtime_api.h", home);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, " #define CUDART_VERSION %d", &version);
    if (f)
        fclose(f);
    snprintf(path, sizeof path, "%s/include/driver_types.h", home);
    f = fopen(path, "r");
    if (!f)
        SKIP("there is no driver_types.h of CUDA");
    while (fgets(line, sizeof line, f)) {
        ends |= strstr(line, "relaunched") != NULL;
        if (sscanf(line, " cudaError%*[A-Za-z] = %d", &number) != 1)
            continue;
        if (number > 0 && number < 1000) {
            named[number] = true;
            sticks[number] |= ends;
            found += ends;
        }
        ends = false;
    }
    fclose(f);
    CHECK(version > 0 && found > 0);
    if (version == 13000)
        CHECK(found >= 13);
    /* Older ones lack some, newer ones may have more than the program knows. */
    for (int i = 0; i < 1000; i++) {
        if (cuda_rt_sticks(i) == sticks[i] || (version < 13000 && !named[i]))
            continue;
        if (version > 13000 && sticks[i])
            test_skipped = "this CUDA is newer than 13.0 and has more errors that stick";
        else
            TEST_FAILED("error %d %s", i, sticks[i] ? "sticks" : "does not stick");
    }
}

TEST(the_environment_says_the_same)
{
    int gpus, status;
    size_t room, total;
    pid_t child;

    if (!getenv("CHORUS_TWIN")) { /* in a process of its own, where nothing was asked yet */
        child = fork();
        if (child == 0) {
            setenv("CHORUS_TWIN", "gpus=3,memory=2.5G,sm=86,fail=use:2:46", 1);
            execl("/proc/self/exe", "cuda_rt_test", "the_environment", (char *)NULL);
            _exit(127);
        }
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        return;
    }
    CHECK_INT(RT->count(&gpus), 0);
    CHECK_INT(gpus, 3);
    CHECK_INT(RT->memory(&room, &total), 0);
    CHECK_INT(total, 5LL << 29);
    CHECK_INT(RT->use(2), 0);
    CHECK_INT(RT->use(1), 46);
    CHECK_INT(RT->use(1), 0);
}
