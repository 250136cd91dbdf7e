/* Training: spans, the stop flag, state, devices, members, keys, optimizers. */
#include "base/clock.h"
#include "tests/unit/ref/kit.h"

#include <pthread.h>

#define CONVNET                                                                                    \
    "input 1 8 8\nconv 4 3 same\nrelu\navgpool 2\nconv 6 3\ntanh\ndense 9\nrelu\ndense classes\n"
#define NORMED                                                                                     \
    "input 1 8 8\nconv 4 3\nbatchnorm\nrelu\nresidual {\nconv 4 3 same\nbatchnorm\n}\nrelu\n"      \
    "dropout 0.3\ndense classes\n"

static const struct {
    enum spec_optimizer is;
    int slots;
} optimizers[] = {
    {SPEC_SGD, 0}, {SPEC_MOMENTUM, 1}, {SPEC_NESTEROV, 1}, {SPEC_ADAM, 2}, {SPEC_ADAMW, 2},
};
#define OPTIMIZERS ((int)(sizeof optimizers / sizeof *optimizers))

/* ---- spans, stop, state ---- */

struct trained {
    void *state;
    size_t bytes;
    struct backend_step rows[64 * KIT_MEMBERS];
};

static bool set_up(struct kit *k, enum spec_optimizer optimizer, enum spec_precision precision,
                   bool ensemble)
{
    if (!kit_make(k, NORMED, 8))
        return false;
    k->plan.optimizer = optimizer;
    k->plan.precision = precision;
    k->plan.weight_decay = 0.01;
    k->plan.grad_clip = 0.8;
    k->plan.devices = 2;
    k->plan.augment = SPEC_FLIP | SPEC_CROP | SPEC_ERASE;
    k->plan.crop_pad = 2;
    if (ensemble) {
        k->plan.mode = SPEC_ENSEMBLE;
        k->plan.members = 3;
    }
    return kit_open(k);
}

static bool same_rows(const struct backend_step *a, const struct backend_step *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i].loss_sum, &b[i].loss_sum, sizeof a[i].loss_sum) ||
            a[i].right != b[i].right || a[i].not_finite != b[i].not_finite)
            return false;
    return true;
}

TEST(spans_cut_differently_give_the_same_bytes)
{
    static const size_t cuts[][6] = {{12}, {1, 11}, {5, 1, 6}, {3, 3, 3, 3}};

    for (int variant = 0; variant < 4 * OPTIMIZERS; variant++) {
        enum spec_optimizer optimizer = optimizers[variant % OPTIMIZERS].is;
        bool ensemble = variant / OPTIMIZERS % 2;
        enum spec_precision precision = variant / (2 * OPTIMIZERS) ? SPEC_FP64 : SPEC_FP32;
        struct trained whole = {0};

        for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
            struct kit k;
            struct trained cut = {0};
            int units;

            REQUIRE(set_up(&k, optimizer, precision, ensemble));
            units = backend_units(&k.plan);
            for (size_t i = 0, at = 0; i < 6 && cuts[c][i]; at += cuts[c][i++])
                CHECK_INT(kit_train(&k, at, cuts[c][i], cut.rows + at * (size_t)units, NULL),
                          cuts[c][i]);
            cut.state = kit_everything(&k, &cut.bytes);
            kit_free(&k);
            if (c == 0) {
                whole = cut;
                continue;
            }
            CHECK(cut.bytes == whole.bytes && !memcmp(cut.state, whole.state, cut.bytes));
            CHECK(same_rows(cut.rows, whole.rows, 12 * (size_t)units));
            free(cut.state);
        }
        free(whole.state);
    }
}

TEST(a_session_given_its_state_back_goes_on_bit_for_bit)
{
    for (int variant = 0; variant < 4 * OPTIMIZERS; variant++) {
        struct kit a, b;
        size_t bytes, other;
        void *x, *y;
        struct backend_step rows[12 * KIT_MEMBERS];

        REQUIRE(set_up(&a, optimizers[variant % OPTIMIZERS].is,
                       variant / (2 * OPTIMIZERS) ? SPEC_FP64 : SPEC_FP32,
                       variant / OPTIMIZERS % 2));
        CHECK_INT(kit_train(&a, 0, 7, rows, NULL), 7);
        REQUIRE(set_up(&b, optimizers[variant % OPTIMIZERS].is,
                       variant / (2 * OPTIMIZERS) ? SPEC_FP64 : SPEC_FP32,
                       variant / OPTIMIZERS % 2));
        for (int m = 0; m < a.plan.members; m++)
            for (int kind = 0; kind < 2 + backend_slots(a.plan.optimizer); kind++) {
                struct err e;
                void *part = kit_state(&a, m, (enum backend_kind)kind);

                CHECK(ref_backend.state(b.s, m, (enum backend_kind)kind, true, part, &e) == ERR_OK);
                free(part);
            }
        CHECK_INT(kit_train(&a, 7, 5, rows, NULL), 5);
        CHECK_INT(kit_train(&b, 7, 5, rows, NULL), 5);
        x = kit_everything(&a, &bytes);
        y = kit_everything(&b, &other);
        CHECK(bytes == other && !memcmp(x, y, bytes));
        free(x);
        free(y);
        kit_free(&a);
        kit_free(&b);
    }
}

TEST(state_is_set_and_read_back_and_slots_are_the_optimizers)
{
    for (int i = 0; i < OPTIMIZERS; i++) {
        struct kit k;
        struct err e;
        double *buffer;

        REQUIRE(kit_make(&k, CONVNET, 8));
        k.plan.optimizer = optimizers[i].is;
        REQUIRE(kit_open(&k));
        CHECK_INT(backend_slots(optimizers[i].is), optimizers[i].slots);
        buffer = calloc(k.net->parameter_count, sizeof *buffer);
        for (int kind = BACKEND_SLOT1; kind <= BACKEND_SLOT2; kind++) {
            bool has = kind - BACKEND_SLOT1 < optimizers[i].slots;

            CHECK_INT(ref_backend.state(k.s, 0, (enum backend_kind)kind, false, buffer, &e) ==
                          ERR_OK,
                      has);
            if (has)
                CHECK(buffer[0] == 0);
        }
        CHECK(ref_backend.state(k.s, 1, BACKEND_PARAMS, false, buffer, &e) == ERR_FAILED);
        CHECK(ref_backend.state(k.s, -1, BACKEND_PARAMS, false, buffer, &e) == ERR_FAILED);
        free(buffer);
        kit_free(&k);
    }
}

struct stopper {
    pthread_t thread;
    atomic_bool stop;
    uint64_t after_ns, at;
};

static void *stop_later(void *user)
{
    struct stopper *s = user;
    uint64_t start = clock_ns();

    while (clock_ns() - start < s->after_ns)
        ;
    s->at = clock_ns();
    atomic_store(&s->stop, true);
    return NULL;
}

/* The thread's own processor time, so that a busy machine does not matter. */
static double work_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Stops at moments spread over a step; what was abandoned leaves no trace, what follows is as if
 * nothing had happened. */
TEST(a_stop_in_the_middle_of_a_step_leaves_no_trace)
{
    struct kit whole;
    size_t bytes, other;
    void *want, *got;
    struct backend_step rows[8 * KIT_MEMBERS];
    int abandoned = 0;

    for (int ensemble = 0; ensemble < 2; ensemble++) {
        double six;

        REQUIRE(set_up(&whole, SPEC_ADAM, SPEC_FP32, ensemble));
        six = work_ms();
        CHECK_INT(kit_train(&whole, 0, 6, rows, NULL), 6);
        six = work_ms() - six;
        want = kit_everything(&whole, &bytes);
        for (int i = 0; i < 40; i++) {
            struct kit k;
            struct stopper s = {.after_ns = (uint64_t)(six * 1e6 * i / 40)};
            size_t done;

            REQUIRE(set_up(&k, SPEC_ADAM, SPEC_FP32, ensemble));
            atomic_init(&s.stop, false);
            REQUIRE(pthread_create(&s.thread, NULL, stop_later, &s) == 0);
            done = kit_train(&k, 0, 6, rows, &s.stop);
            pthread_join(s.thread, NULL);
            CHECK(done <= 6);
            abandoned += done < 6;
            if (done < 6)
                CHECK_INT(kit_train(&k, done, 6 - done, rows, NULL), 6 - done);
            got = kit_everything(&k, &other);
            CHECK(bytes == other && !memcmp(want, got, bytes));
            free(got);
            kit_free(&k);
        }
        free(want);
        kit_free(&whole);
    }
    CHECK(abandoned > 10);
}

TEST(a_stop_flag_that_is_set_already_does_nothing_at_all)
{
    struct kit k;
    atomic_bool stop = true;
    struct backend_step rows[4];
    float logits[5];
    size_t bytes, other;
    void *before, *after;
    struct err e;

    REQUIRE(set_up(&k, SPEC_MOMENTUM, SPEC_FP64, false));
    before = kit_everything(&k, &bytes);
    CHECK_INT(kit_train(&k, 0, 2, rows, &stop), 0);
    after = kit_everything(&k, &other);
    CHECK(bytes == other && !memcmp(before, after, bytes));
    CHECK(ref_backend.evaluate(k.s, &k.data.test, 0, 1, &stop, logits, &e) == ERR_STOPPED);
    free(before);
    free(after);
    kit_free(&k);
}

TEST(one_slow_step_sees_the_stop_flag_in_time)
{
    struct kit k;
    struct backend_step row;
    double whole;

    REQUIRE(kit_make(&k,
                     "input 16 32 32\nconv 24 7 same\nbatchnorm\ntanh\nconv 24 7 same\n"
                     "maxpool 2\ndropout 0.5\ndense classes\n",
                     8));
    REQUIRE(kit_open(&k));
    whole = work_ms();
    CHECK_INT(kit_train(&k, 0, 1, &row, NULL), 1);
    whole = work_ms() - whole;
    for (int at = 0; at < 6; at++) {
        struct stopper s = {.after_ns = (uint64_t)(whole * 1e6 / 8 * at)};
        double spent;

        atomic_init(&s.stop, false);
        REQUIRE(pthread_create(&s.thread, NULL, stop_later, &s) == 0);
        spent = work_ms();
        kit_train(&k, 1, 1, &row, &s.stop);
        spent = work_ms() - spent;
        pthread_join(s.thread, NULL);
        if (spent > (double)s.after_ns / 1e6 + 100)
            TEST_FAILED("%.0f ms of work for a stop after %.0f ms of %.0f", spent,
                        (double)s.after_ns / 1e6, whole);
    }
    kit_free(&k);
}

/* ---- devices ---- */

static void compare_devices(const char *text, bool sync, double limit)
{
    for (int optimizer = 0; optimizer < OPTIMIZERS; optimizer++) {
        struct kit one;
        struct backend_step rows[8 * KIT_MEMBERS];

        REQUIRE(kit_make(&one, text, 32));
        one.plan.optimizer = optimizers[optimizer].is;
        one.plan.sync_bn = sync;
        one.plan.epsilon = 1e-3; /* Adam divides rounding by rounding where gradients are 0 */
        REQUIRE(kit_open(&one));
        CHECK_INT(kit_train(&one, 0, 6, rows, NULL), 6);
        for (int devices = 2; devices <= 8; devices *= 2) {
            struct kit many;
            struct backend_step shards[8 * KIT_MEMBERS];

            REQUIRE(kit_make(&many, text, 32));
            many.plan = one.plan;
            many.plan.net = many.net;
            many.plan.data = &many.data;
            many.plan.model_key = many.key;
            many.plan.member_device = many.place;
            many.plan.devices = devices;
            REQUIRE(kit_open(&many));
            CHECK_INT(kit_train(&many, 0, 6, shards, NULL), 6);
            CHECK_NEAR(kit_distance(&one, &many, BACKEND_PARAMS), 0, limit);
            CHECK_NEAR(kit_distance(&one, &many, BACKEND_STATS), 0, limit);
            for (int step = 0; step < 6; step++) {
                double sum = 0;
                uint32_t right = 0;

                for (int d = 0; d < devices; d++) {
                    sum += shards[step * devices + d].loss_sum;
                    right += shards[step * devices + d].right;
                }
                CHECK_NEAR(sum, rows[step].loss_sum, 1e-9);
                CHECK_INT(right, rows[step].right);
            }
            kit_free(&many);
        }
        kit_free(&one);
    }
}

TEST(data_parallel_equals_one_device)
{
    compare_devices(CONVNET, false, 1e-12);
}

TEST(data_parallel_with_synchronised_batchnorm_and_dropout_equals_one_device)
{
    compare_devices(NORMED, true, 1e-12);
}

/* Per device, batch norm makes the number of devices matter. */
TEST(batchnorm_per_device_depends_on_the_devices)
{
    struct kit a, b;
    struct backend_step rows[KIT_MEMBERS];

    REQUIRE(kit_make(&a, NORMED, 16));
    REQUIRE(kit_open(&a));
    REQUIRE(kit_make(&b, NORMED, 16));
    b.plan.devices = 4;
    REQUIRE(kit_open(&b));
    CHECK_INT(kit_train(&a, 0, 1, rows, NULL), 1);
    CHECK_INT(kit_train(&b, 0, 1, rows, NULL), 1);
    CHECK(kit_distance(&a, &b, BACKEND_PARAMS) > 1e-6);
    CHECK(kit_distance(&a, &b, BACKEND_STATS) > 1e-6);
    kit_free(&a);
    kit_free(&b);
}

/* The summed loss of a shard of s images trains as the mean does with s times the learning rate. */
TEST(a_summed_loss_is_the_mean_times_the_shard)
{
    for (int devices = 1; devices <= 4; devices *= 4) {
        struct kit mean, sum;
        struct backend_step rows[4 * KIT_MEMBERS];

        REQUIRE(kit_make(&mean, CONVNET, 16));
        REQUIRE(kit_make(&sum, CONVNET, 16));
        mean.plan.devices = sum.plan.devices = devices;
        sum.plan.sum_loss = true;
        mean.lr = 0.1;
        sum.lr = 0.1 / (16.0 / devices);
        REQUIRE(kit_open(&mean));
        REQUIRE(kit_open(&sum));
        CHECK_INT(kit_train(&mean, 0, 3, rows, NULL), 3);
        CHECK_INT(kit_train(&sum, 0, 3, rows, NULL), 3);
        CHECK_NEAR(kit_distance(&mean, &sum, BACKEND_PARAMS), 0, 1e-12);
        kit_free(&mean);
        kit_free(&sum);
    }
}

/* ---- running statistics ---- */

TEST(running_statistics_take_a_tenth_of_the_mean_over_devices)
{
    struct kit k;
    struct backend_step rows[2];
    double *stats, *x = calloc(8 * 36 * 2, sizeof *x);
    enum backend_peek answer;
    struct err e;

    REQUIRE(kit_make(&k, "input 1 7 7\nconv 2 2\nbatchnorm\nrelu\ndense classes\n", 8));
    k.plan.devices = 2;
    REQUIRE(kit_open(&k));
    CHECK_INT(kit_train(&k, 0, 1, rows, NULL), 1);
    REQUIRE_OK(ref_backend.peek(k.s, 0, 0, BACKEND_OUTPUT, x, 8 * 36 * 2, &answer, &e));
    stats = kit_state(&k, 0, BACKEND_STATS);
    for (int c = 0; c < 2; c++) {
        double mean[2] = {0}, var[2] = {0};

        for (int i = 0; i < 8 * 36; i++)
            mean[i / 144] += x[i * 2 + c] / 144;
        for (int i = 0; i < 8 * 36; i++)
            var[i / 144] += pow(x[i * 2 + c] - mean[i / 144], 2) / 144;
        CHECK_NEAR(stats[k.net->stat[k.net->layer[1].mean].offset + (size_t)c],
                   0.1 * (mean[0] + mean[1]) / 2, 1e-14);
        CHECK_NEAR(stats[k.net->stat[k.net->layer[1].var].offset + (size_t)c],
                   0.9 + 0.1 * (var[0] + var[1]) / 2, 1e-14);
    }
    free(stats);
    free(x);
    kit_free(&k);
}

/* Evaluation uses the running statistics and no dropout: with those of the batch put in as state,
 * it gives what training saw. */
TEST(evaluation_uses_running_statistics_and_no_dropout)
{
    struct kit k, dropped;
    struct backend_step row;
    double z[8 * 5], y[8 * 5];
    float logits[8 * 5], again[8 * 5], *stats;
    enum backend_peek answer;
    struct err e;
    size_t spatial = 36 * 2;
    double *x = calloc(8 * spatial, sizeof *x);

    REQUIRE(kit_make(&k, "input 1 7 7\nconv 2 2\nbatchnorm\nrelu\ndense classes\n", 8));
    k.lr = 0;
    for (uint32_t i = 0; i < 8; i++)
        k.order[i] = i;
    REQUIRE(kit_open(&k));
    CHECK_INT(kit_train(&k, 0, 1, &row, NULL), 1);
    REQUIRE_OK(ref_backend.peek(k.s, 0, 0, BACKEND_OUTPUT, x, 8 * spatial, &answer, &e));
    REQUIRE_OK(ref_backend.peek(k.s, 0, 3, BACKEND_OUTPUT, z, 40, &answer, &e));
    stats = calloc(k.net->stat_count, sizeof *stats);
    for (size_t c = 0; c < 2; c++) {
        double mean = 0, var = 0;

        for (size_t i = 0; i < 8 * 36; i++)
            mean += x[i * 2 + c] / 288;
        for (size_t i = 0; i < 8 * 36; i++)
            var += pow(x[i * 2 + c] - mean, 2) / 288;
        stats[k.net->stat[k.net->layer[1].mean].offset + c] = (float)mean;
        stats[k.net->stat[k.net->layer[1].var].offset + c] = (float)var;
    }
    REQUIRE(kit_set(&k, 0, BACKEND_STATS, stats, k.net->stat_count));
    REQUIRE_OK(ref_backend.evaluate(k.s, &k.data.test, 0, 8, NULL, logits, &e));
    for (int i = 0; i < 40; i++)
        CHECK_NEAR(logits[i], z[i], 1e-5);
    free(stats);
    free(x);
    kit_free(&k);

    REQUIRE(kit_make(&dropped, "input 1 5 5\nconv 3 2\ndropout 0.5\ndense classes\n", 8));
    REQUIRE(kit_make(&k, "input 1 5 5\nconv 3 2\ndense classes\n", 8));
    REQUIRE(kit_open(&dropped));
    REQUIRE(kit_open(&k));
    REQUIRE_OK(ref_backend.evaluate(dropped.s, &k.data.test, 3, 8, NULL, logits, &e));
    REQUIRE_OK(ref_backend.evaluate(k.s, &k.data.test, 3, 8, NULL, again, &e));
    CHECK(!memcmp(logits, again, sizeof logits));
    dropped.lr = 0;
    CHECK_INT(kit_train(&dropped, 0, 1, &row, NULL), 1);
    REQUIRE_OK(ref_backend.peek(dropped.s, 0, 2, BACKEND_OUTPUT, y, 40, &answer, &e));
    CHECK(fabs(y[0] - (double)logits[0]) > 1e-3);
    kit_free(&k);
    kit_free(&dropped);
}

/* Whatever images are asked for together, each gets the same logits. */
TEST(evaluation_does_not_depend_on_how_it_is_cut)
{
    struct kit k;
    float whole[100 * 5], part[100 * 5];
    struct err e;

    REQUIRE(kit_make(&k, CONVNET, 8));
    k.plan.precision = SPEC_FP32;
    REQUIRE(kit_open(&k));
    REQUIRE_OK(ref_backend.evaluate(k.s, &k.data.test, 10, 100, NULL, whole, &e));
    REQUIRE_OK(ref_backend.evaluate(k.s, &k.data.test, 10, 7, NULL, part, &e));
    REQUIRE_OK(ref_backend.evaluate(k.s, &k.data.test, 17, 93, NULL, part + 35, &e));
    CHECK(!memcmp(whole, part, sizeof whole));
    kit_free(&k);
}
