#include "tests/test.h"

#include "wire/time_left.h"

#include <math.h>

/* The time left is that of the steps and evaluations to come; what was there before a resume counts nothing. */
TEST(of_steps_and_evaluations)
{
    struct time_left t;

    time_left_start(&t, 0);
    CHECK(isnan(time_left_seconds(&t, 400, 4)));
    time_left_step(&t, 50, 5);
    CHECK(isnan(time_left_seconds(&t, 350, 4)));
    time_left_step(&t, 100, 10);
    time_left_evaluation(&t, 2);
    time_left_step(&t, 200, 20);
    CHECK_NEAR(time_left_seconds(&t, 200, 3), 200 * 0.1 + 3 * 2, 1e-9);
    time_left_start(&t, 200);
    CHECK(isnan(time_left_seconds(&t, 200, 3)));
}

TEST(in_words)
{
    static const struct {
        double seconds;
        const char *words;
    } cases[] = {{0.1, "1 s left"}, {27.4, "27 s left"}, {72, "1:12 left"}, {NAN, ""}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text t = {0};

        time_left_add(&t, cases[i].seconds);
        CHECK_STR(text_str(&t), cases[i].words);
        text_free(&t);
    }
}
