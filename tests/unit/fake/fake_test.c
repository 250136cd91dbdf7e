/* The backend without mathematics keeps the table's promises. */
#include "base/clock.h"
#include "fake/fake.h"
#include "engine/backend.h"
#include "tests/test.h"

#include <pthread.h>
#include <unistd.h>

#define IMAGES 40
#define BATCH  8
#define STEPS  12

struct bench {
    struct net *net;
    struct data_set data;
    struct backend_plan plan;
    struct rng_key key[3];
    int place[3];
    uint16_t labels[IMAGES];
    uint32_t order[IMAGES];
    const uint32_t *orders[3];
    atomic_bool stop;
    double lr[STEPS];
};

static void make(struct bench *b, enum spec_mode mode, int members)
{
    static const char text[] = "input 1 6 6\nconv 2 3\nbatchnorm\nrelu\ndense classes\n";
    struct net_wants wants = {.classes = 5};
    struct err e;

    memset(b, 0, sizeof *b);
    if (net_parse(&b->net, text, sizeof text - 1, "tiny.net", &wants, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
        return;
    }
    for (uint32_t i = 0; i < IMAGES; i++) {
        b->labels[i] = (uint16_t)(i % 5);
        b->order[i] = i;
    }
    for (int i = 0; i < STEPS; i++)
        b->lr[i] = 0.1;
    b->data.shape = b->net->input;
    b->data.classes = 5;
    b->data.test = (struct data_part){.count = IMAGES, .labels = b->labels};
    for (int m = 0; m < members; m++) {
        b->key[m] = net_model_key(3, members, m);
        b->place[m] = m % 2;
        b->orders[m] = b->order;
    }
    b->plan = (struct backend_plan){.net = b->net,
                                    .data = &b->data,
                                    .mode = mode,
                                    .optimizer = SPEC_ADAM,
                                    .batch = BATCH,
                                    .devices = 2,
                                    .all_devices = 2,
                                    .members = members,
                                    .member_device = b->place,
                                    .model_key = b->key,
                                    .threads = 1};
}

static enum err_code train(struct bench *b, struct backend_session *s, int first, int count,
                           struct backend_step *results, size_t *done, struct err *e)
{
    struct backend_span span = {.first_step = (uint64_t)first,
                                .count = (size_t)count,
                                .order = b->orders,
                                .lr = b->lr,
                                .stop = &b->stop};

    return fake_backend.train(s, &span, results, done, e);
}

TEST(spans_and_a_state_given_back_change_nothing)
{
    struct bench b;
    struct backend_session *whole, *parts, *again;
    struct backend_step x[STEPS * 3], y[STEPS * 3];
    size_t done;
    struct err e;
    float logits[2][3 * IMAGES * 5];

    make(&b, SPEC_ENSEMBLE, 3);
    REQUIRE_OK(fake_backend.open(&b.plan, &whole, &e));
    REQUIRE_OK(fake_backend.open(&b.plan, &parts, &e));
    REQUIRE_OK(fake_backend.open(&b.plan, &again, &e));
    REQUIRE_OK(train(&b, whole, 0, STEPS, x, &done, &e));
    CHECK_INT(done, STEPS);
    REQUIRE_OK(train(&b, parts, 0, 5, y, &done, &e));
    for (int m = 0; m < 3; m++)
        for (int kind = BACKEND_PARAMS; kind <= BACKEND_SLOT2; kind++) {
            float buffer[256];

            REQUIRE_OK(fake_backend.state(parts, m, (enum backend_kind)kind, false, buffer, &e));
            REQUIRE_OK(fake_backend.state(again, m, (enum backend_kind)kind, true, buffer, &e));
        }
    REQUIRE_OK(train(&b, again, 5, STEPS - 5, y + 15, &done, &e));
    for (int i = 0; i < STEPS * 3; i++)
        CHECK(x[i].loss_sum == y[i].loss_sum && x[i].right == y[i].right);
    REQUIRE_OK(fake_backend.evaluate(whole, &b.data.test, 0, IMAGES, NULL, logits[0], &e));
    REQUIRE_OK(fake_backend.evaluate(again, &b.data.test, 0, IMAGES, NULL, logits[1], &e));
    CHECK(!memcmp(logits[0], logits[1], sizeof logits[0]));
    for (int kind = BACKEND_PARAMS; kind <= BACKEND_SLOT2; kind++) {
        float p[256] = {0}, q[256] = {0};

        REQUIRE_OK(fake_backend.state(whole, 2, (enum backend_kind)kind, false, p, &e));
        REQUIRE_OK(fake_backend.state(again, 2, (enum backend_kind)kind, false, q, &e));
        CHECK(!memcmp(p, q, sizeof p));
        CHECK(p[1] != 0);
    }
    fake_backend.close(whole);
    fake_backend.close(parts);
    fake_backend.close(again);
    fake_backend.close(NULL);
    net_free(b.net);
}

TEST(it_learns)
{
    struct bench b;
    struct backend_session *s;
    struct backend_step first[2], last[STEPS * 2];
    size_t done;
    struct err e;

    make(&b, SPEC_DATA_PARALLEL, 1);
    REQUIRE_OK(fake_backend.open(&b.plan, &s, &e));
    REQUIRE_OK(train(&b, s, 0, 1, first, &done, &e));
    REQUIRE_OK(train(&b, s, 200, STEPS, last, &done, &e));
    CHECK(last[0].loss_sum < first[0].loss_sum / 2);
    CHECK(last[1].right > first[1].right);
    CHECK(last[0].right <= BATCH / 2); /* a replica has half of the batch */
    fake_backend.close(s);
    net_free(b.net);
}

TEST(the_script_is_followed)
{
    struct bench b;
    struct backend_session *s;
    struct backend_step results[STEPS * 2];
    struct fake_script script = {.diverge_at = 4, .fail_at = 7};
    size_t done;
    struct err e;
    float logits[IMAGES * 5];

    make(&b, SPEC_DATA_PARALLEL, 1);
    fake_set_script(&script);
    REQUIRE_OK(fake_backend.open(&b.plan, &s, &e));
    REQUIRE_OK(train(&b, s, 0, STEPS, results, &done, &e));
    CHECK_INT(done, 4); /* the step counts as done and ends the span */
    CHECK(results[6].not_finite && isnan(results[6].loss_sum) && !results[4].not_finite);
    CHECK_INT(train(&b, s, 4, STEPS - 4, results, &done, &e), ERR_FAILED);
    CHECK_INT(done, 2);
    CHECK_HAS(e.text, "step 7");
    fake_backend.close(s);

    script = (struct fake_script){.oom = true};
    fake_set_script(&script);
    CHECK_INT(fake_backend.open(&b.plan, &s, &e), ERR_NOMEM);
    CHECK(s == NULL);
    script = (struct fake_script){.broken = true};
    fake_set_script(&script);
    CHECK_INT(fake_backend.open(&b.plan, &s, &e), ERR_FAILED);

    /* slow steps and evaluations obey the stop flag before the update */
    script = (struct fake_script){.step_ms = 60000, .evaluate_ms = 60000};
    fake_set_script(&script);
    REQUIRE_OK(fake_backend.open(&b.plan, &s, &e));
    atomic_store(&b.stop, true);
    REQUIRE_OK(train(&b, s, 0, STEPS, results, &done, &e));
    CHECK_INT(done, 0);
    CHECK_INT(fake_backend.evaluate(s, &b.data.test, 0, IMAGES, &b.stop, logits, &e), ERR_STOPPED);
    fake_backend.close(s);
    script = (struct fake_script){0};
    fake_set_script(&script);
    net_free(b.net);
}

static void *make_file(void *path)
{
    FILE *f;

    clock_sleep_ms(20);
    f = fopen(path, "w");
    if (f)
        fclose(f);
    return NULL;
}

TEST(a_step_that_may_stick_waits_for_its_file)
{
    struct bench b;
    struct backend_session *s;
    struct backend_step results[STEPS * 2];
    const char *base = getenv("TMPDIR");
    struct fake_script script = {.stuck_at = 3};
    pthread_t maker;
    size_t done;
    struct err e;
    char folder[200];
    FILE *f;

    snprintf(folder, sizeof folder, "%s/chorus-fake-XXXXXX", base && *base ? base : "/tmp");
    REQUIRE(mkdtemp(folder));
    snprintf(script.stuck_file, sizeof script.stuck_file, "%s/gate", folder);
    make(&b, SPEC_DATA_PARALLEL, 1);
    fake_set_script(&script);
    REQUIRE_OK(fake_backend.open(&b.plan, &s, &e));
    REQUIRE_OK(train(&b, s, 0, 2, results, &done, &e));
    CHECK_INT(done, 2);
    atomic_store(&b.stop, true); /* it hears of a stop, and is done when it is tried again */
    REQUIRE_OK(train(&b, s, 2, 2, results, &done, &e));
    CHECK_INT(done, 0);
    atomic_store(&b.stop, false);
    REQUIRE(pthread_create(&maker, NULL, make_file, script.stuck_file) == 0);
    REQUIRE_OK(train(&b, s, 2, 2, results, &done, &e));
    CHECK_INT(done, 2); /* without a byte it does not stick */
    pthread_join(maker, NULL);
    f = fopen(script.stuck_file, "w");
    REQUIRE(f && fputc(' ', f) == ' ' && fclose(f) == 0);
    CHECK_INT(train(&b, s, 2, 2, results, &done, &e), ERR_STUCK);
    CHECK_INT(done, 0);
    fake_backend.close(s);
    unlink(script.stuck_file);
    rmdir(folder);
    script = (struct fake_script){0};
    fake_set_script(&script);
    net_free(b.net);
}

TEST(a_precision_that_it_lacks_is_refused_in_words)
{
    struct bench b;
    struct err e;
    struct backend_estimate estimate;

    make(&b, SPEC_DATA_PARALLEL, 1);
    CHECK_INT(fake_backend.can(&b.plan, &e), ERR_OK);
    b.plan.precision = SPEC_BF16;
    CHECK_INT(fake_backend.can(&b.plan, &e), ERR_INPUT);
    CHECK_HAS(e.text, "bf16");
    REQUIRE_OK(fake_backend.estimate(&b.plan, &estimate, &e));
    CHECK_INT(estimate.places, 1);
    CHECK(estimate.bytes[0] >= 3 * 4 * b.net->parameter_count);
    net_free(b.net);
}
