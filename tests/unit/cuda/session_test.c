/* Sessions of the CUDA backend on its twin: spans however cut, graphs of any size, state in and out,
 * stops, losses that are not finite, evaluation. */
#include "tests/parity/cuda_kit.h"

#include "base/clock.h"
#include "tests/twin/nvml.h"
#include "cuda/rt/work.h"

static const char small[] = "input auto\nconv 5 3\nrelu\nmaxpool 2\nbatchnorm\ndropout 0.2\n"
                            "dense 17\ntanh\ndense 10\n";
static const char plain[] = "input auto\ndense 12\nrelu\ndense 10\n";
static const struct net_shape shape = {9, 8, 1};

static void all_cuts(struct kit *b, const char *what)
{
    struct backend_step first[64], again[64];
    int units = backend_units(&b->plan);
    uint64_t whole = kit_steps(b, 8, first);

    for (int i = 0; i < 8; i++) {
        static const size_t cut[8] = {8, 1, 2, 3, 5, 7, 8, 8};
        static const int graph[8] = {0, 0, 0, 4, 2, 8, 64, 8};

        cuda_hooks.graph = graph[i];
        cuda_hooks.cold = i != 7 && i != 4;
        cuda_hooks.keep = i < 6;
        twin_seed((uint64_t)i + 7);
        if (kit_steps(b, cut[i], again) != whole)
            TEST_FAILED("%s: other bytes in spans of %zu and graphs of %d", what, cut[i], graph[i]);
        for (int k = 0; k < 8 * units; k++)
            CHECK(first[k].loss_sum == again[k].loss_sum && first[k].right == again[k].right);
    }
    if (twin_report()[0])
        TEST_FAILED("%s: %s", what, twin_report());
}

TEST(bytes_repeat_however_spans_are_cut)
{
    for (int members = 1; members <= 3; members++)
        for (int p = SPEC_FP32; p <= SPEC_BF16; p++) {
            struct kit b;
            char name[64];

            if ((p != SPEC_FP32 && p != SPEC_TF32 && p != SPEC_BF16) ||
                (members == 2 && p != SPEC_FP32) || (members == 3 && p != SPEC_BF16))
                continue;
            kit_twin(1);
            REQUIRE(kit_open(&b, small, shape, 64, 8));
            snprintf(name, sizeof name, "%d members, precision %d", members, p);
            b.plan.precision = (enum spec_precision)p;
            b.plan.optimizer = SPEC_ADAM;
            b.plan.augment = SPEC_FLIP | SPEC_CROP;
            b.plan.crop_pad = 1;
            if (members > 1)
                kit_ensemble(&b, members, 2, members == 3);
            else
                kit_devices(&b, 4);
            all_cuts(&b, name);
            kit_close(&b);
        }
}

TEST(blocking_launches_are_in_no_graph)
{
    struct kit b;

    kit_twin(1);
    REQUIRE(kit_open(&b, small, shape, 64, 8));
    uint64_t whole = kit_run(&b, 8);
    uint64_t graphs = twin_counted().graph_launches;
    CHECK(kit_on_twin() ? graphs > 0 : !graphs);
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    CHECK(kit_run(&b, 8) == whole);
    unsetenv("CUDA_LAUNCH_BLOCKING");
    CHECK(twin_counted().graph_launches == graphs);
    kit_close(&b);
}

TEST(state_goes_in_and_out_unchanged)
{
    struct err e = {0};
    struct kit b;

    kit_twin(1);
    REQUIRE(kit_open(&b, small, shape, 64, 16));
    b.plan.optimizer = SPEC_ADAM;
    b.plan.precision = SPEC_BF16;
    kit_ensemble(&b, 3, 2, false);
    struct backend_session *s = kit_session(BE, &b);
    size_t n = b.net->parameter_count + b.net->stat_count;
    float *in = mem_new(n, sizeof *in), *out = mem_new(n, sizeof *out);
    for (int m = 0; s && m < 3; m++)
        for (int kind = BACKEND_PARAMS; kind <= BACKEND_SLOT2; kind++) {
            for (size_t i = 0; i < n; i++)
                in[i] = (float)i + (float)(kind * 1000 + m * 10000);
            CHECK(BE->state(s, m, (enum backend_kind)kind, true, in, &e) == ERR_OK);
        }
    for (int m = 0; s && m < 3; m++)
        for (int kind = BACKEND_PARAMS; kind <= BACKEND_SLOT2; kind++) {
            size_t count = kind == BACKEND_STATS ? b.net->stat_count : b.net->parameter_count;

            CHECK(BE->state(s, m, (enum backend_kind)kind, false, out, &e) == ERR_OK);
            for (size_t i = 0; i < count; i++)
                if (out[i] != (float)i + (float)(kind * 1000 + m * 10000)) {
                    TEST_FAILED("element %zu of kind %d of member %d is %g", i, kind, m,
                                (double)out[i]);
                    break;
                }
        }
    CHECK_INT(BE->state(s, 3, BACKEND_PARAMS, false, out, &e), ERR_FAILED);
    BE->close(s);
    b.plan.optimizer = SPEC_MOMENTUM;
    s = kit_session(BE, &b);
    CHECK_INT(BE->state(s, 0, BACKEND_SLOT1, false, out, &e), ERR_OK);
    CHECK_INT(BE->state(s, 0, BACKEND_SLOT2, false, out, &e), ERR_FAILED);
    BE->close(s);
    free(in);
    free(out);
    kit_close(&b);
}

/* State carried into a session of another layout of memory goes on bit for bit. */
TEST(a_new_session_goes_on_where_the_old_one_stood)
{
    struct err e = {0};
    struct kit b;
    struct backend_step rows[16];

    for (int p = SPEC_FP32; p <= SPEC_BF16; p++) {
        if (p != SPEC_FP32 && p != SPEC_BF16)
            continue;
        kit_twin(1);
        REQUIRE(kit_open(&b, small, shape, 100, 12));
        b.plan.optimizer = SPEC_ADAMW;
        b.plan.precision = (enum spec_precision)p;
        b.plan.weight_decay = 0.01;
        uint64_t whole = kit_steps(&b, 8, rows);
        struct backend_session *s = kit_session(BE, &b);
        CHECK_INT(kit_train(BE, s, &b, 0, 3, rows), 3);
        size_t n = b.net->parameter_count + b.net->stat_count;
        float *state = mem_new(4 * n, sizeof *state);
        for (int kind = 0; kind < 4; kind++)
            REQUIRE_OK(BE->state(s, 0, (enum backend_kind)kind, false, state + kind * n, &e));
        BE->close(s);
        cuda_hooks.keep = false;
        s = kit_session(BE, &b);
        for (int kind = 0; kind < 4; kind++)
            REQUIRE_OK(BE->state(s, 0, (enum backend_kind)kind, true, state + kind * n, &e));
        CHECK_INT(kit_train(BE, s, &b, 3, 5, rows), 5);
        CHECK(kit_fingerprint(&b, s) == whole);
        BE->close(s);
        free(state);
        kit_close(&b);
    }
}

/* Another order at the same address, which begins as the one before did. */
TEST(orders_are_compared_not_where_they_lie)
{
    struct kit b;
    struct err e = {0};
    struct backend_step first[3], again[3], fresh[3];

    kit_twin(1);
    REQUIRE(kit_open(&b, plain, shape, 60, 10));
    struct backend_session *s = kit_session(BE, &b);
    float *param = mem_new(b.net->parameter_count, sizeof *param);
    REQUIRE_OK(BE->state(s, 0, BACKEND_PARAMS, false, param, &e));
    CHECK_INT(kit_train(BE, s, &b, 0, 3, first), 3);
    for (size_t i = 5; i < 30; i++)
        b.order[0][i] = (uint32_t)(i * 7 % 60);
    REQUIRE_OK(BE->state(s, 0, BACKEND_PARAMS, true, param, &e));
    CHECK_INT(kit_train(BE, s, &b, 0, 3, again), 3);
    BE->close(s);
    s = kit_session(BE, &b);
    CHECK_INT(kit_train(BE, s, &b, 0, 3, fresh), 3);
    for (int i = 0; i < 3; i++)
        CHECK(again[i].loss_sum == fresh[i].loss_sum && again[i].loss_sum != first[i].loss_sum);
    BE->close(s);
    free(param);
    kit_close(&b);
}

TEST(a_stop_is_obeyed_before_an_update)
{
    struct err e = {0};
    struct kit b;
    double lr[8] = {0};
    atomic_bool stop = true;
    struct backend_step rows[8];
    size_t done = 99;

    kit_twin(1);
    REQUIRE(kit_open(&b, plain, shape, 200, 20));
    struct backend_session *s = kit_session(BE, &b);
    struct backend_span span = {.count = 8, .order = b.orders, .lr = lr, .stop = &stop};
    uint64_t before = kit_fingerprint(&b, s);
    REQUIRE_OK(BE->train(s, &span, rows, &done, &e));
    CHECK_INT(done, 0);
    CHECK(kit_fingerprint(&b, s) == before);
    BE->close(s);
    kit_close(&b);
}

static void *raise_flag(void *flag)
{
    struct timespec nap = {.tv_nsec = 30000000};

    nanosleep(&nap, NULL);
    atomic_store((atomic_bool *)flag, true);
    return NULL;
}

/* What a session captured when it opened is what its spans start, with orders of each member's own too. */
TEST(graphs_are_captured_before_the_first_step)
{
    for (int own = 0; own < 2; own++) {
        struct kit b;
        struct backend_step rows[8 * 3];

        if (!kit_on_twin())
            SKIP("a GPU captures whenever it is told to");
        kit_twin(1);
        cuda_hooks.cold = cuda_hooks.keep = false;
        REQUIRE(kit_open(&b, plain, shape, 200, 20));
        kit_ensemble(&b, 3, 2, own);
        struct backend_session *s = kit_session(BE, &b);
        REQUIRE(s);
        twin_fail("capture_begin", 1, CUDA_RT_NOMEM);
        CHECK_INT(kit_train(BE, s, &b, 0, 8, rows), 8);
        BE->close(s);
        kit_close(&b);
    }
}

/* A stop in the middle of a span: the steps that were made are those that count, and the run goes on
 * behind them as if nothing had been. */
TEST(a_stop_between_graphs)
{
    struct err e = {0};
    struct kit b;
    double lr[50];
    struct backend_step rows[50], whole[50];
    size_t done = 99;
    pthread_t other;

    kit_twin(1);
    REQUIRE(kit_open(&b, small, (struct net_shape){20, 20, 1}, 250, 5));
    struct backend_session *s = kit_session(BE, &b);
    CHECK_INT(kit_train(BE, s, &b, 0, 50, whole), 50);
    uint64_t hash = kit_fingerprint(&b, s);
    BE->close(s);
    s = kit_session(BE, &b);
    atomic_bool stop = false;
    for (int i = 0; i < 50; i++)
        lr[i] = 0.05;
    struct backend_span span = {
        .count = 50, .order = b.orders, .lr = lr, .order_key = b.order_key, .stop = &stop};
    REQUIRE(pthread_create(&other, NULL, raise_flag, &stop) == 0);
    REQUIRE_OK(BE->train(s, &span, rows, &done, &e));
    pthread_join(other, NULL);
    CHECK(done < 50 || !kit_on_twin()); /* a GPU has made them before */
    if (done < 50)
        kit_train(BE, s, &b, done, 50 - done, rows + done);
    for (int i = 0; i < 50; i++)
        CHECK(rows[i].loss_sum == whole[i].loss_sum);
    CHECK(kit_fingerprint(&b, s) == hash);
    BE->close(s);
    kit_close(&b);
}

TEST(a_loss_that_is_not_finite_ends_the_span)
{
    struct kit b;
    struct backend_step rows[16] = {0};
    struct err e = {0};

    for (int graph = 1; graph <= 8; graph *= 8) {
        kit_twin(1);
        cuda_hooks.graph = graph;
        REQUIRE(kit_open(&b, plain, shape, 200, 20));
        kit_ensemble(&b, 2, 2, false);
        struct backend_session *s = kit_session(BE, &b);
        size_t n = b.net->parameter_count;
        float *param = mem_new(n, sizeof *param), *other = mem_new(n, sizeof *param);
        CHECK_INT(kit_train(BE, s, &b, 0, 1, rows), 1);
        REQUIRE_OK(BE->state(s, 1, BACKEND_PARAMS, false, param, &e));
        param[0] = NAN;
        REQUIRE_OK(BE->state(s, 1, BACKEND_PARAMS, true, param, &e));
        CHECK_INT(kit_train(BE, s, &b, 1, 8, rows), 1);
        CHECK(rows[1].not_finite && !rows[0].not_finite);
        REQUIRE_OK(BE->state(s, 0, BACKEND_PARAMS, false, param, &e));
        BE->close(s);
        /* member 0 has made two steps, and no more */
        b.plan.members = 2;
        s = kit_session(BE, &b);
        CHECK_INT(kit_train(BE, s, &b, 0, 2, rows), 2);
        REQUIRE_OK(BE->state(s, 0, BACKEND_PARAMS, false, other, &e));
        CHECK(!memcmp(param, other, n * sizeof *param));
        BE->close(s);
        free(param);
        free(other);
        kit_close(&b);
    }
}

/* ---- evaluation ---- */

TEST(evaluation_of_any_count)
{
    static const size_t counts[] = {1, 2, 7, 63, 199};
    struct kit b;
    struct err e = {0};
    float *all = mem_new(2 * 200 * 10, sizeof *all), *some = mem_new(2 * 200 * 10, sizeof *some);

    kit_twin(1);
    REQUIRE(kit_open(&b, small, shape, 200, 12));
    kit_ensemble(&b, 2, 1, false);
    b.plan.precision = SPEC_BF16;
    struct backend_session *s = kit_session(BE, &b);
    uint64_t copies = twin_counted().copies;
    REQUIRE_OK(BE->evaluate(s, &b.set.test, 0, 200, NULL, all, &e));
    if (kit_on_twin())
        CHECK_INT(twin_counted().copies - copies, 1); /* of all members' logits */
    for (size_t i = 0; i < MEM_COUNT(counts); i++) {
        size_t first = (200 - counts[i]) / 2, n = counts[i];

        REQUIRE_OK(BE->evaluate(s, &b.set.test, first, n, NULL, some, &e));
        for (size_t m = 0; m < 2; m++)
            CHECK(!memcmp(some + m * n * 10, all + (m * 200 + first) * 10, n * 10 * sizeof *all));
    }
    /* images that the session does not hold */
    struct data_part strange = {.count = 30, .bytes = b.bytes + 72 * 50, .labels = b.labels};
    REQUIRE_OK(BE->evaluate(s, &strange, 5, 20, NULL, some, &e));
    for (size_t m = 0; m < 2; m++)
        CHECK(!memcmp(some + m * 200, all + (m * 200 + 55) * 10, 200 * sizeof *all));
    BE->close(s);
    kit_close(&b);
    free(all);
    free(some);
}

TEST(an_evaluation_that_was_stopped_says_so)
{
    struct err e = {0};
    struct kit b;
    float logits[40 * 10];
    atomic_bool stop = true;

    kit_twin(1);
    REQUIRE(kit_open(&b, plain, shape, 200, 20));
    struct backend_session *s = kit_session(BE, &b);
    CHECK_INT(BE->evaluate(s, &b.set.test, 0, 40, &stop, logits, &e), ERR_STOPPED);
    stop = false;
    CHECK_INT(BE->evaluate(s, &b.set.test, 0, 40, &stop, logits, &e), ERR_OK);
    BE->close(s);
    kit_close(&b);
}

/* ---- peek ---- */

TEST(peek_tells_what_is_fused)
{
    struct kit b;
    struct err e = {0};
    double out[12 * 7 * 6 * 5];
    enum backend_peek answer;
    struct backend_step rows[2];

    kit_twin(1);
    REQUIRE(kit_open(&b, small, shape, 100, 12));
    struct backend_session *s = kit_session(BE, &b);
    CHECK_INT(BE->peek(s, 0, 0, BACKEND_OUTPUT, out, 12 * 210, &answer, &e), ERR_FAILED);
    CHECK_INT(kit_train(BE, s, &b, 0, 1, rows), 1);
    REQUIRE_OK(BE->peek(s, 0, 0, BACKEND_OUTPUT, out, 12 * 210, &answer, &e));
    CHECK_INT(answer, BACKEND_FUSED); /* conv, whose relu is made with it */
    REQUIRE_OK(BE->peek(s, 0, 1, BACKEND_OUTPUT, out, 12 * 210, &answer, &e));
    CHECK_INT(answer, BACKEND_PEEKED);
    CHECK_INT(BE->peek(s, 0, 1, BACKEND_OUTPUT, out, 12 * 209, &answer, &e), ERR_FAILED);
    CHECK_INT(BE->peek(s, 0, 1, BACKEND_GRAD_KERNEL, out, 12, &answer, &e), ERR_FAILED);
    REQUIRE_OK(BE->peek(s, 0, 0, BACKEND_GRAD_KERNEL, out, 45, &answer, &e));
    CHECK_INT(answer, BACKEND_PEEKED);
    BE->close(s);
    kit_close(&b);
}

TEST(peek_tells_that_a_pool_is_fused)
{
    struct kit b;
    struct err e = {0};
    double out[12 * 7 * 6 * 4];
    enum backend_peek answer;
    struct backend_step rows[2];

    kit_twin(1);
    REQUIRE(kit_open(&b, "input auto\nconv 4 3\nrelu\nmaxpool 2\ndense 10\n",
                     (struct net_shape){9, 8, 1}, 100, 12));
    for (int apart = 0; apart < 2; apart++) {
        cuda_hooks.apart = apart;
        struct backend_session *s = kit_session(BE, &b);
        REQUIRE(s);
        CHECK_INT(kit_train(BE, s, &b, 0, 1, rows), 1);
        for (int what = BACKEND_OUTPUT; what <= BACKEND_GRAD_OUTPUT; what++)
            for (int layer = 0; layer < 3; layer++) {
                bool seen = layer == 2 || (apart && layer == (what == BACKEND_OUTPUT));

                REQUIRE_OK(BE->peek(s, 0, layer, (enum backend_what)what, out,
                                    layer < 2 ? 12 * 7 * 6 * 4 : 12 * 3 * 3 * 4, &answer, &e));
                if (answer != (seen ? BACKEND_PEEKED : BACKEND_FUSED))
                    TEST_FAILED("layer %d, %d, apart %d: %d", layer, what, apart, answer);
            }
        REQUIRE_OK(BE->peek(s, 0, 0, BACKEND_GRAD_KERNEL, out, 36, &answer, &e));
        CHECK_INT(answer, BACKEND_PEEKED);
        BE->close(s);
    }
    kit_close(&b);
}

/* ---- what it says of a GPU ---- */

/* Eight virtual devices are one GPU, which is asked once. */
TEST(devices_of_a_gpu_share_what_it_says)
{
    struct kit b;
    unsigned long asked = twin_nvml_asked();

    if (!kit_on_twin())
        SKIP("a GPU says something else each time");
    kit_twin(1);
    REQUIRE(kit_open(&b, plain, shape, 60, 16));
    kit_devices(&b, 8);
    struct backend_session *s = kit_session(BE, &b);
    REQUIRE(s);
    for (int device = 0; device < 8; device++) {
        struct backend_gauge g;

        BE->gauge(s, device, &g);
        CHECK_INT(g.gpu, 0);
        CHECK_NEAR(g.percent, 5, 0);
        CHECK_NEAR(g.watts, 70.5, 1e-9);
    }
    CHECK(twin_nvml_asked() - asked < 8); /* once, on a machine that is not too busy */
    BE->close(s);
    kit_close(&b);
}

static uint64_t stands_still(void)
{
    return 1;
}

/* Ctrl-Z: the GPU's own clock goes on. */
TEST(while_the_program_is_stopped_no_step_takes_time)
{
    struct backend_step rows[8];
    struct kit b;

    kit_twin(1);
    REQUIRE(kit_open(&b, plain, shape, 60, 16));
    cuda_work_by(stands_still);
    struct backend_session *s = kit_session(BE, &b);
    REQUIRE(s);
    CHECK_INT(kit_train(BE, s, &b, 0, 3, rows), 3);
    for (int i = 0; i < 3; i++)
        CHECK(!rows[i].input_ns && !rows[i].compute_ns && !rows[i].reduce_ns && !rows[i].wait_ns);
    BE->close(s);
    cuda_work_by(clock_work_ns);
    kit_close(&b);
}
