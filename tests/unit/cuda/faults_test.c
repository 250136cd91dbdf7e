/* Sessions of the CUDA backend that cannot be, or that end badly: memory, errors of the runtime, GPUs and
 * sums that do not answer. */
#include "tests/parity/cuda_kit.h"

#include "base/log.h"
#include "tests/twin/nccl.h"

static const char plain[] = "input auto\ndense 12\nrelu\ndense 10\n";
static const struct net_shape shape = {9, 8, 1};

/* ---- memory and errors ---- */

TEST(too_little_memory_is_said_in_words)
{
    struct kit b;
    struct err e = {0};
    struct backend_session *s = NULL;
    size_t unused, total;

    kit_twin(1);
    twin_limit_memory(1 << 20);
    REQUIRE(kit_open(&b, net_builtin("lenet"), (struct net_shape){28, 28, 1}, 250, 64));
    CHECK_INT(BE->open(&b.plan, &s, &e), ERR_NOMEM);
    CHECK(s == NULL);
    CHECK_HAS(e.text, "GPU 0");
    CHECK_HAS(e.text, "GPU 0 has 1.0 MB free, this takes ");
    CHECK_HAS(e.text, "no smaller batch would fit");
    CHECK_HAS(e.text, "64 images");
    cuda_rt()->memory(&unused, &total);
    CHECK_INT(unused, total);
    kit_close(&b);
}

/* What is said before it is opened, and then: the same, with a batch that fits, which does. */
TEST(what_does_not_fit_is_said_with_what_would)
{
    struct backend_estimate estimate;
    struct backend_session *s = NULL;
    struct err e = {0};
    size_t whole, batch = 0;
    struct kit b;

    kit_twin(1);
    cuda_hooks.keep = false;
    REQUIRE(kit_open(&b, net_builtin("cnn"), (struct net_shape){28, 28, 1}, 250, 200));
    kit_ensemble(&b, 5, 1, false);
    REQUIRE_OK(BE->estimate(&b.plan, &estimate, &e));
    CHECK(!estimate.never && !estimate.lacking[0]);
    whole = estimate.bytes[0];
    /* NVML's twin has 64 MiB in use already: too little is free, though the GPU could have it. */
    twin_limit_memory(whole + ((size_t)10 << 20));
    REQUIRE_OK(BE->estimate(&b.plan, &estimate, &e));
    CHECK(estimate.unused > 0 && !estimate.never);
    CHECK_HAS(estimate.lacking, " free, this takes ");
    twin_limit_memory(whole * 3 / 4);
    REQUIRE_OK(BE->estimate(&b.plan, &estimate, &e));
    CHECK(estimate.never);
    CHECK_HAS(estimate.lacking, " in all, this takes ");
    CHECK_INT(BE->open(&b.plan, &s, &e), ERR_NOMEM);
    CHECK_HAS(e.text, "a batch of ");
    CHECK_HAS(e.text, " would fit; fewer members need less; precision = bf16 needs less");
    CHECK(sscanf(strstr(e.text, "a batch of ") ? strstr(e.text, "a batch of ") : "",
                 "a batch of %zu", &batch) == 1);
    CHECK(batch > 0 && batch < 200);
    b.plan.batch = batch;
    REQUIRE_OK(BE->open(&b.plan, &s, &e));
    BE->close(s);
    kit_close(&b);
}

TEST(memory_that_is_refused_though_it_is_there)
{
    struct backend_session *s = NULL;
    struct err e = {0};
    struct kit b;

    kit_twin(1);
    twin_quiet(true);
    REQUIRE(kit_open(&b, plain, shape, 100, 10));
    twin_fail("take", 1, CUDA_RT_NOMEM);
    CHECK_INT(BE->open(&b.plan, &s, &e), ERR_NOMEM);
    CHECK_HAS(e.text, "GPU 0 gave no memory for ");
    CHECK_HAS(e.text, " though 8.6 GB were free");
    kit_close(&b);
}

TEST(what_it_cannot_do_is_said)
{
    struct kit b;
    struct err e = {0};

    kit_twin(1);
    REQUIRE(kit_open(&b, plain, shape, 200, 20));
    b.plan.precision = SPEC_FP64;
    CHECK_INT(BE->can(&b.plan, &e), ERR_INPUT);
    CHECK_HAS(e.text, "ref");
    b.plan.precision = SPEC_FP32;
    CHECK_INT(BE->can(&b.plan, &e), ERR_OK);
    kit_devices(&b, 3);
    CHECK_INT(BE->can(&b.plan, &e), ERR_INPUT);
    CHECK_HAS(e.text, "does not divide");
    kit_devices(&b, 1);
    b.plan.batch = 1 << 24; /* of dense layers, which see a pixel an image */
    CHECK_INT(BE->can(&b.plan, &e), ERR_OK);
    b.plan.batch = 20;
    b.set.shape.c = 2;
    CHECK_INT(BE->can(&b.plan, &e), ERR_INPUT);
    CHECK_HAS(e.text, "9x8x2");
    b.set.shape.c = 1;
    twin_set_driver(TWIN_DRIVER_NONE);
    CHECK(BE->can(&b.plan, &e) != ERR_OK);
    kit_close(&b);
}

/* Kernels count in numbers of 32 bits: what an image is padded to counts, too. */
TEST(more_pixels_than_kernels_count_are_refused)
{
    struct kit b;
    struct err e = {0};

    kit_twin(1);
    REQUIRE(kit_open(&b, "input auto\nconv 4 1 pad 20\nrelu\nglobalavgpool\ndense 10\n",
                     (struct net_shape){1, 1, 1}, 40, 20));
    b.plan.batch = 1100000;
    CHECK_INT(BE->can(&b.plan, &e), ERR_OK);
    b.plan.batch = 1200000;
    CHECK_INT(BE->can(&b.plan, &e), ERR_INPUT);
    CHECK_HAS(e.text, " sees 2017200000 pixels of 1200000 images at once, at most 2e9: a smaller");
    kit_close(&b);
}

/* Every call of the runtime may fail, at any time: an error with a text, nothing left open. */
TEST(every_failure_climbs)
{
    static const char *const functions[] = {
        "use",          "memory", "take",         "take_pinned",  "stream_open",   "copy",
        "set",          "launch", "event_open",   "event_record", "capture_begin", "capture_end",
        "graph_launch", "kernel", "stream_query", "event_query",  "load"};

    for (size_t f = 0; f < MEM_COUNT(functions); f++)
        for (int n = 1; n <= 40; n = n * 2 + 1) {
            struct kit b;
            struct err e = {0};
            struct backend_session *s = NULL;
            struct backend_step rows[8];
            double lr[4] = {0.1, 0.1, 0.1, 0.1};
            float logits[20 * 10];
            atomic_bool stop = false;
            size_t done;
            enum err_code code;

            kit_twin(1);
            twin_quiet(true);
            cuda_hooks.graph = 2;
            cuda_hooks.cold = false;
            REQUIRE(kit_open(&b, plain, shape, 40, 10));
            twin_fail(functions[f], n, f % 2 ? CUDA_RT_ILLEGAL : CUDA_RT_NOMEM);
            code = BE->open(&b.plan, &s, &e);
            struct backend_span span = {.count = 4, .order = b.orders, .lr = lr, .stop = &stop};
            if (code == ERR_OK)
                code = BE->train(s, &span, rows, &done, &e);
            if (code == ERR_OK)
                code = BE->evaluate(s, &b.set.test, 0, 20, NULL, logits, &e);
            if (code != ERR_OK && (code != e.code || !strstr(e.text, "GPU 0")))
                TEST_FAILED("%s: error %d, \"%s\"", functions[f], code, e.text);
            if (n == 1 && code == ERR_OK && strncmp(functions[f], "event_q", 7))
                TEST_FAILED("%s failed, and nobody noticed", functions[f]);
            BE->close(s);
            kit_close(&b);
        }
}

/* 8 steps: one launch by launch, then graphs that are captured on the way. */
static enum err_code eight_steps(struct kit *b, struct backend_session *s,
                                 struct backend_step rows[8], struct err *e)
{
    double lr[8] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    atomic_bool stop = false;
    size_t done;
    struct backend_span span = {.count = 8, .order = b->orders, .lr = lr, .stop = &stop};

    return BE->train(s, &span, rows, &done, e);
}

/* The n-th call of it fails, with an error that does not stick. False: there was no such call. */
static bool fails_and_goes_on(const char *function, long n, uint64_t expected)
{
    struct backend_step rows[8];
    struct kit b;
    struct err e = {0};
    enum err_code code;

    kit_twin(1);
    twin_quiet(true);
    cuda_hooks.graph = 4;
    CHECK(kit_open(&b, plain, shape, 80, 10));
    struct backend_session *s = kit_session(BE, &b);
    float *first = mem_new(b.net->parameter_count, sizeof *first);

    CHECK_INT(BE->state(s, 0, BACKEND_PARAMS, false, first, &e), ERR_OK);
    twin_fail(function, n, CUDA_RT_NOMEM);
    code = eight_steps(&b, s, rows, &e);
    if (code != ERR_OK) {
        CHECK_INT(code, ERR_NOMEM);
        CHECK_INT(BE->state(s, 0, BACKEND_PARAMS, true, first, &e), ERR_OK);
        CHECK_INT(eight_steps(&b, s, rows, &e), ERR_OK);
    }
    if (kit_fingerprint(&b, s) != expected)
        TEST_FAILED("%s failed at its call %ld: other bits behind it", function, n);
    BE->close(s);
    CHECK_INT(twin_counted().graphs, 0);
    CHECK_INT(twin_counted().streams, 0);
    CHECK_INT(twin_counted().blocks, 0);
    free(first);
    kit_close(&b);
    return code != ERR_OK;
}

/* What was captured up to a failure is no graph to train with. */
TEST(a_capture_that_fails_leaves_nothing_behind)
{
    static const char *const functions[] = {"launch", "capture_begin", "capture_end",
                                            "graph_launch"};
    struct backend_step rows[8];
    struct kit b;
    struct err e = {0};

    if (!kit_on_twin())
        SKIP("a GPU does not fail when it is told to");
    kit_twin(1);
    cuda_hooks.graph = 4;
    REQUIRE(kit_open(&b, plain, shape, 80, 10));
    struct backend_session *s = kit_session(BE, &b);
    CHECK_INT(eight_steps(&b, s, rows, &e), ERR_OK);
    uint64_t expected = kit_fingerprint(&b, s);
    BE->close(s);
    kit_close(&b);
    for (size_t f = 0; f < MEM_COUNT(functions); f++) {
        long n = 1;

        while (n < 500 && fails_and_goes_on(functions[f], n, expected))
            n++;
        CHECK(n > 2 && n < 500);
    }
}

/* ---- one of several GPUs ---- */

/* One GPU's capture fails while the others wait for its sums, or have captured theirs: all end with what it
 * says, and communicators and graphs are given back. */
TEST(a_capture_that_fails_on_one_gpu_ends_all)
{
    static const char *const functions[] = {"launch", "capture_begin", "capture_end",
                                            "graph_launch"};

    if (!kit_on_twin())
        SKIP("a GPU does not fail when it is told to");
    for (size_t f = 0; f < MEM_COUNT(functions); f++) {
        enum err_code code = ERR_NOMEM;

        for (long n = 1; code != ERR_OK && n < 200; n += f ? 1 : 3) {
            struct backend_step rows[8 * 2];
            struct kit b;
            struct err e = {0};

            kit_twin(2);
            twin_nccl_reset();
            twin_quiet(true);
            cuda_hooks.graph = 4;
            REQUIRE(kit_open(&b, plain, shape, 80, 10));
            kit_devices(&b, 2);
            struct backend_session *s = kit_session(BE, &b);
            twin_fail(functions[f], n, CUDA_RT_NOMEM);
            code = eight_steps(&b, s, rows, &e);
            if (code != ERR_OK) {
                CHECK_INT(code, ERR_NOMEM);
                CHECK_HAS(e.text, "out of memory (2)");
            }
            BE->close(s);
            CHECK_INT(twin_nccl_counted().open, 0);
            CHECK_STR(twin_nccl_counted().wrong, "");
            CHECK_INT(twin_counted().graphs, 0);
            CHECK_INT(twin_counted().streams, 0);
            CHECK_INT(twin_counted().blocks, 0);
            kit_close(&b);
        }
        CHECK_INT(code, ERR_OK);
    }
}

/* A GPU that fails takes the others along, within the group's time. */
TEST(a_gpu_that_fails_ends_all)
{
    static const int after[] = {1, 9, 60, 150, 300};

    for (size_t i = 0; i < MEM_COUNT(after); i++) {
        struct kit b;
        struct err e = {0};
        struct backend_session *s = NULL;
        struct backend_step rows[16];
        double lr[8] = {0};
        atomic_bool stop = false;
        size_t done = 0;
        struct backend_span span = {.count = 8, .lr = lr, .stop = &stop};
        enum err_code code;

        kit_twin(2);
        twin_quiet(true);
        cuda_hooks.cold = false;
        REQUIRE(kit_open(&b, plain, shape, 200, 20));
        kit_devices(&b, 2);
        span.order = b.orders;
        twin_fail("kernel", after[i], CUDA_RT_ILLEGAL);
        code = BE->open(&b.plan, &s, &e);
        for (int k = 0; k < 40 && code == ERR_OK; k++)
            code = BE->train(s, &span, rows, &done, &e);
        CHECK_INT(code, ERR_STUCK);
        CHECK_HAS(e.text, "GPU");
        BE->close(s);
        kit_close(&b);
    }
}

/* Members' GPUs do not hear of each other: what ends the process is told, wherever it was, before what
 * does not, and of errors that are alike the first GPU's. */
TEST(an_error_that_sticks_is_told_before_others)
{
    for (int stuck = -1; stuck < 2; stuck++) {
        struct kit b;
        struct err e = {0};
        struct backend_session *s;
        struct backend_step rows[2];
        double lr[1] = {0.1};
        atomic_bool stop = false;
        size_t done, unused, total;
        struct backend_span span = {.count = 1, .lr = lr, .stop = &stop};

        kit_twin(2);
        twin_quiet(true);
        REQUIRE(kit_open(&b, plain, shape, 200, 20));
        kit_ensemble(&b, 2, 2, false);
        span.order = b.orders;
        s = kit_session(BE, &b);
        REQUIRE(s);
        if (stuck >= 0) {
            twin_fail("memory", 1, CUDA_RT_ILLEGAL);
            CHECK_INT(cuda_rt()->use(stuck), 0);
            CHECK_INT(cuda_rt()->memory(&unused, &total), CUDA_RT_ILLEGAL);
        } else {
            twin_fail("copy", 1, CUDA_RT_NOMEM);
        }
        twin_fail("copy", 1, CUDA_RT_NOMEM);
        CHECK_INT(BE->train(s, &span, rows, &done, &e), stuck < 0 ? ERR_NOMEM : ERR_STUCK);
        CHECK_HAS(e.text, stuck == 1 ? "GPU 1" : "GPU 0");
        BE->close(s);
        kit_close(&b);
    }
}

/* ---- GPUs that do not answer ---- */

/* A sum whose numbers are lost on the way: both GPUs are fine, and both are given back. */
TEST(a_sum_that_is_lost_ends_the_session)
{
    for (long n = 1; n <= 9; n += 4) {
        struct kit b;
        struct err e = {0};
        struct backend_session *s = NULL;
        struct backend_step rows[16];
        double lr[8] = {0};
        atomic_bool stop = false;
        size_t done = 0, unused, total;
        struct backend_span span = {.count = 8, .lr = lr, .stop = &stop};
        enum err_code code;

        kit_twin(2);
        twin_nccl_reset();
        twin_nccl_fail(TWIN_NCCL_LOST, 1, n, 0);
        cuda_hooks.cold = false;
        cuda_hooks.limit_ms = 900; /* more than a busy machine lets a thread wait */
        REQUIRE(kit_open(&b, plain, shape, 200, 20));
        kit_devices(&b, 2);
        span.order = b.orders;
        code = BE->open(&b.plan, &s, &e);
        for (int k = 0; k < 4 && code == ERR_OK; k++)
            code = BE->train(s, &span, rows, &done, &e);
        CHECK_INT(code, ERR_FAILED);
        CHECK_HAS(e.text, "waited 0.9 s for a sum: a GPU or a link between GPUs hangs");
        BE->close(s);
        CHECK_INT(twin_nccl_counted().open, 0);
        CHECK_INT(twin_nccl_counted().aborted, 2);
        CHECK_STR(twin_nccl_counted().wrong, "");
        CHECK_STR(twin_report(), "");
        REQUIRE(cuda_rt()->use(0) == 0 && cuda_rt()->memory(&unused, &total) == 0);
        CHECK_INT(unused, total);
        twin_nccl_reset();
        kit_close(&b);
    }
}

static int lost_lines;

static void count_lost(void *user, enum log_level level, const char *line)
{
    (void)user;
    lost_lines +=
        level == LOG_WARN && strstr(line, "does not answer: what was taken of GPUs stays");
}

/* A kernel that never ends: the run ends by the limit, and nothing waits for that GPU once more. The
 * last test here: aborts of its groups may never come back. */
TEST(a_gpu_that_hangs_is_left_alone)
{
    static const int after[] = {1, 20, 90};

    for (int gpus = 1; gpus <= 2; gpus++)
        for (size_t i = 0; i < MEM_COUNT(after); i++) {
            struct kit b;
            struct err e = {0};
            struct backend_session *s = NULL;
            struct backend_step rows[16];
            double lr[8] = {0};
            atomic_bool stop = false;
            size_t done = 0;
            struct backend_span span = {.count = 8, .lr = lr, .stop = &stop};
            enum err_code code;

            kit_twin(gpus);
            cuda_hooks.cold = false;
            cuda_hooks.limit_ms = 300;
            lost_lines = 0;
            log_to(count_lost, NULL);
            REQUIRE(kit_open(&b, plain, shape, 200, 20));
            kit_devices(&b, gpus);
            span.order = b.orders;
            twin_fail("kernel", after[i], CUDA_RT_NOT_READY);
            code = BE->open(&b.plan, &s, &e);
            for (int k = 0; k < 40 && code == ERR_OK; k++)
                code = BE->train(s, &span, rows, &done, &e);
            CHECK_INT(code, ERR_STUCK);
            CHECK_HAS(e.text, "did not answer for 0.3 s");
            CHECK_HAS(e.text, "this process can compute no more on that GPU");
            BE->close(s);
            /* On a busy machine the abort that sets the other GPU free may come behind the limit. */
            CHECK(lost_lines >= 1 && lost_lines <= gpus);
            CHECK_STR(twin_report(), "");
            log_to(NULL, NULL);
            kit_close(&b);
        }
}

/* Images that were taken onto the GPU for an evaluation stay there, too: who gave them back would wait. */
TEST(a_gpu_that_hangs_while_it_evaluates)
{
    struct kit b;
    struct err e = {0};
    struct backend_session *s = NULL;
    float logits[20 * 10];

    kit_twin(1);
    cuda_hooks.limit_ms = 300;
    REQUIRE(kit_open(&b, plain, shape, 200, 20));
    REQUIRE_OK(BE->open(&b.plan, &s, &e));
    struct data_part other = b.set.test;
    size_t bytes = other.count * 9 * 8;
    uint8_t *copy = mem_new(bytes, 1);
    REQUIRE(other.bytes && other.count >= 20);
    memcpy(copy, other.bytes, bytes);
    other.bytes = copy;
    twin_fail("kernel", 2, CUDA_RT_NOT_READY);
    CHECK_INT(BE->evaluate(s, &other, 0, 20, NULL, logits, &e), ERR_STUCK);
    CHECK_HAS(e.text, "did not answer for 0.3 s");
    CHECK_STR(twin_report(), "");
    BE->close(s);
    CHECK_STR(twin_report(), "");
    free(copy);
    kit_close(&b);
}
