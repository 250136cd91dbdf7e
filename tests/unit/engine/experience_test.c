/* How long a run will take, by made-up runs whose true price is known. */
#include "engine/forecast/experience.h"
#include "record/run/run.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A machine that trains an image in 60 us and tests one in 20; a step has a price of its own. */
#define TRAIN   60e-6
#define TESTING 20e-6

static void ran(struct experience *x, double images, double epochs, double tested, double first)
{
    struct record_run run = {.state = WIRE_DONE};

    spec_default(&run.spec);
    snprintf(run.spec.data, sizeof run.spec.data, "fashion-mnist");
    snprintf(run.backend_used, sizeof run.backend_used, "cpu");
    snprintf(run.isa, sizeof run.isa, "avx512");
    snprintf(run.precision_used, sizeof run.precision_used, "fp32");
    run.threads_used = 2;
    run.flops_per_image = 1e6;
    run.epochs_done = (int64_t)epochs;
    run.images = run.model_images = (int64_t)(images * epochs);
    run.train_seconds = first + images * epochs * TRAIN;
    run.eval_seconds = tested * epochs * TESTING;
    CHECK(experience_learn(x, &run));
}

static struct experience_ask wanted(double images, double epochs)
{
    return (struct experience_ask){.backend = "cpu",
                                   .isa = "avx512",
                                   .precision = "fp32",
                                   .data = "fashion-mnist",
                                   .flops = 1e6,
                                   .batch = 128,
                                   .threads = 2,
                                   .members = 1,
                                   .model_images = images * epochs,
                                   .evaluations = epochs,
                                   .test_images = 10000};
}

static int guessed;

static bool near(double got, double right, double factor)
{
    return got > right / factor && got < right * factor;
}

TEST(a_tiny_run_does_not_spoil_it)
{
    struct experience known[3];
    struct experience_ask ask = wanted(60000, 2);
    double right = 120000 * TRAIN + 20000 * TESTING;

    ran(&known[1], 60000, 2, 10000, 0);
    CHECK(near(experience_seconds(&known[1], 1, &ask, &guessed), right, 1.02));
    ran(&known[0], 256, 1, 10000, 0.05); /* newer; its first steps were slow */
    CHECK(near(experience_seconds(known, 2, &ask, &guessed), right, 1.1));
    CHECK_INT(guessed, 0);
    /* and alone it tells the order of size: its evaluation took most of its time */
    CHECK(near(experience_seconds(known, 1, &ask, &guessed), right, 2.5));
    CHECK_INT(guessed, 1);
    /* nor does the long one spoil what a tiny one is expected to take */
    ask = wanted(256, 1);
    CHECK(
        near(experience_seconds(&known[1], 1, &ask, &guessed), 256 * TRAIN + 10000 * TESTING, 1.1));
}

TEST(members_and_epochs_are_priced)
{
    struct experience known[1];
    struct experience_ask ask = wanted(60000, 10);

    ran(&known[0], 60000, 2, 10000, 0);
    CHECK(near(experience_seconds(known, 1, &ask, &guessed), 10 * (60000 * TRAIN + 10000 * TESTING),
               1.02));
    ask.members = 4;
    ask.model_images *= 4;
    CHECK(near(experience_seconds(known, 1, &ask, &guessed), 40 * (60000 * TRAIN + 10000 * TESTING),
               1.02));
}

TEST(beginning_costs_each_run_the_same)
{
    struct experience known[2];
    struct experience_ask ask = wanted(256, 1);

    ran(&known[0], 60000, 2, 10000, 0);
    ran(&known[1], 60000, 2, 10000, 0);
    known[0].other_seconds = 0.5;
    known[1].other_seconds = 2; /* it waited for the disk */
    CHECK(near(experience_seconds(known, 1, &ask, &guessed), 0.5 + 256 * TRAIN + 10000 * TESTING,
               1.1));
    CHECK(near(experience_seconds(known, 2, &ask, &guessed), 0.95 + 256 * TRAIN + 10000 * TESTING,
               1.1));
}

TEST(like_runs_count_for_more)
{
    struct experience known[2];
    struct experience_ask ask = wanted(60000, 1);

    ran(&known[0], 60000, 2, 10000, 0); /* a model of fifty times the size, at half the price */
    known[0].flops *= 50;
    known[0].train_seconds *= 50 / 2.0;
    ran(&known[1], 60000, 2, 10000, 0);
    CHECK(
        near(experience_seconds(known, 2, &ask, &guessed), 60000 * TRAIN + 10000 * TESTING, 1.02));
}

TEST(unlike_runs_make_a_guess)
{
    struct experience known[2];
    struct experience_ask ask = wanted(60000, 1);

    ran(&known[0], 60000, 2, 10000, 0);
    ran(&known[1], 60000, 2, 10000, 0);
    known[0].flops *= 50;
    known[1].flops *= 3;
    (void)experience_seconds(known, 2, &ask, &guessed);
    CHECK_INT(guessed, 2);
    known[1].flops = ask.flops;
    (void)experience_seconds(known, 2, &ask, &guessed);
    CHECK_INT(guessed, 0);
}

/* A small net by what a large one took: a step costs it far more than its images do. One image takes as
 * long as eight, and one of two threads has nothing to do until there are more of them. */
TEST(a_step_has_a_price_of_its_own)
{
    const double rate = TRAIN / (1e6 + 3e5 + 5e6 / 256); /* of the large one, for an operation */
    struct experience known[1];
    struct experience_ask ask = wanted(1024, 1);
    double one;

    ran(&known[0], 60000, 2, 10000, 0);
    ask.flops = 3e4;
    ask.parameters = 7850;
    ask.test_images = 1;
    for (double batch = 1; batch <= 8; batch *= 2) {
        double right = 1024 / batch * (5e6 + 300 * 7850 + batch * 3e5 + 8 * ask.flops) * rate * 2;

        ask.batch = batch;
        CHECK(near(experience_seconds(known, 1, &ask, &guessed), right, 1.04));
    }
    one = experience_seconds(known, 1, &ask, &guessed);
    ask.batch = 16;
    CHECK(experience_seconds(known, 1, &ask, &guessed) < one / 2);
    /* eight members of one image each: both threads compute */
    ask.members = 8;
    ask.batch = 8;
    ask.model_images *= 8;
    CHECK(near(experience_seconds(known, 1, &ask, &guessed), 4 * one, 1.02));
}

/* What took a hundredth of a second tells of what takes as long. */
TEST(a_short_run_tells_of_one_as_short)
{
    struct experience known[1];
    struct experience_ask ask = wanted(256, 1);

    ran(&known[0], 256, 1, 100, 0);
    (void)experience_seconds(known, 1, &ask, &guessed);
    CHECK_INT(guessed, 0);
    ask = wanted(600, 1); /* of more it does not: of a slow start ten times as much came */
    CHECK(isnan(experience_seconds(known, 1, &ask, &guessed)));
}

TEST(what_was_too_short_to_tell_is_left_out)
{
    struct experience known[4];
    struct experience_ask ask = wanted(60000, 2);
    double right = 120000 * TRAIN + 20000 * TESTING;

    for (int i = 0; i < 3; i++)
        ran(&known[i], 16, 1, 16, 0.02); /* a step, 20 times as slow as the next ones */
    CHECK(isnan(experience_seconds(known, 3, &ask, &guessed)));
    ran(&known[3], 6000, 1, 1000, 0); /* 0.4 s: the oldest, and of another model */
    known[3].flops *= 3;
    known[3].train_seconds *= 3;
    known[3].eval_seconds *= 3;
    CHECK(near(experience_seconds(known, 4, &ask, &guessed), right, 1.3));
    CHECK_INT(guessed, 1);
}

TEST(another_backend_tells_nothing)
{
    struct experience known[1];
    struct experience_ask ask = wanted(60000, 1);

    ran(&known[0], 60000, 2, 10000, 0);
    ask.backend = "cuda";
    CHECK(isnan(experience_seconds(known, 1, &ask, &guessed)));
    CHECK(isnan(experience_seconds(known, 0, &ask, &guessed)));
}

TEST(what_never_trained_tells_nothing)
{
    struct record_run run = {.state = WIRE_DONE, .flops_per_image = 1e6, .eval_seconds = 1};
    struct experience x;

    spec_default(&run.spec);
    CHECK(!experience_learn(&x, &run));
    run.model_images = 100;
    run.train_seconds = 1;
    CHECK(experience_learn(&x, &run));
    run.state = WIRE_STOPPED;
    CHECK(!experience_learn(&x, &run));
}

TEST(what_was_weighed_before_tells_the_same)
{
    struct experience known[3];
    struct experience_ask ask = wanted(60000, 2);
    double before;

    ran(&known[0], 60000, 2, 10000, 0.5);
    ran(&known[1], 2560, 1, 10000, 0);
    ran(&known[2], 60000, 1, 500, 0);
    known[1].threads = 8;
    known[2].flops *= 1.7;
    before = experience_seconds(known, 3, &ask, &guessed);
    for (int i = 0; i < 3; i++)
        experience_weigh(&known[i]);
    CHECK(known[2].terms.work > 0);
    CHECK_NEAR(experience_seconds(known, 3, &ask, &guessed), before, 0);
}
