/* The learning rate, against values worked out by hand from the formulas. */
#include "tests/test.h"
#include "spec/spec.h"

TEST(constant)
{
    struct spec s;

    spec_default(&s);
    CHECK(spec_lr_at(&s, 0.1, 0, 100) == 0.1);
    CHECK(spec_lr_at(&s, 0.1, 999, 100) == 0.1);
    CHECK(spec_lr_at(&s, 0.1, 5000, 100) == 0.1); /* T binds no constant rate */
}

TEST(warmup_rises_to_the_full_rate_in_w_steps)
{
    struct spec s;

    spec_default(&s);
    s.warmup = 0.5; /* W = 4 of 8 steps an epoch */
    CHECK_NEAR(spec_lr_at(&s, 0.2, 0, 8), 0.05, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.2, 1, 8), 0.1, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.2, 2, 8), 0.15, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.2, 3, 8), 0.2, 1e-15);
    CHECK(spec_lr_at(&s, 0.2, 4, 8) == 0.2);
}

TEST(cosine_falls_from_lr_to_lr_min)
{
    struct spec s;

    spec_default(&s);
    s.schedule = SPEC_COSINE;
    s.epochs = 3;
    s.lr_min = 0.02;
    s.warmup = 1; /* 4 steps an epoch: T = 12, W = 4 */
    CHECK_NEAR(spec_lr_at(&s, 0.1, 0, 4), 0.025, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.1, 3, 4), 0.1, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.1, 4, 4), 0.1, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.1, 6, 4), 0.02 + 0.04 * (1 + sqrt(0.5)), 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.1, 8, 4), 0.06, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.1, 10, 4), 0.02 + 0.04 * (1 - sqrt(0.5)), 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.1, 11, 4), 0.023044818699548532, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.1, 12, 4), 0.02, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.1, 50, 4), 0.02, 1e-15); /* and stays there */

    s.warmup = 3; /* nothing but warmup: no division by T - W = 0 */
    CHECK_NEAR(spec_lr_at(&s, 0.1, 11, 4), 0.1, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.1, 12, 4), 0.02, 1e-15);
    s.warmup = 0;
    s.epochs = 0;
    CHECK_NEAR(spec_lr_at(&s, 0.1, 0, 4), 0.02, 1e-15);
}

TEST(step_multiplies_by_whole_steps)
{
    struct spec s;

    spec_default(&s);
    s.schedule = SPEC_STEP;
    s.step_epochs = 2;
    s.step_factor = 0.5;
    CHECK(spec_lr_at(&s, 0.8, 0, 5) == 0.8);
    CHECK(spec_lr_at(&s, 0.8, 9, 5) == 0.8);
    CHECK_NEAR(spec_lr_at(&s, 0.8, 10, 5), 0.4, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.8, 19, 5), 0.4, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.8, 20, 5), 0.2, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.8, 49, 5), 0.05, 1e-15);
    s.step_epochs = 0.5; /* every 2.5 steps */
    CHECK(spec_lr_at(&s, 0.8, 2, 5) == 0.8);
    CHECK_NEAR(spec_lr_at(&s, 0.8, 3, 5), 0.4, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.8, 5, 5), 0.2, 1e-15);
    s.warmup = 1; /* the steps count from t = 0, not from the end of the warmup */
    s.step_epochs = 2;
    CHECK_NEAR(spec_lr_at(&s, 0.8, 4, 5), 0.8, 1e-15);
    CHECK_NEAR(spec_lr_at(&s, 0.8, 10, 5), 0.4, 1e-15);
}

TEST(the_rules_grow_with_the_batch)
{
    struct spec s;

    spec_default(&s);
    s.lr = 0.1;
    CHECK(spec_base_lr(&s, 1024) == 0.1);
    s.lr_rule = SPEC_LR_LINEAR;
    CHECK_NEAR(spec_base_lr(&s, 1024), 0.4, 1e-15);
    CHECK_NEAR(spec_base_lr(&s, 64), 0.025, 1e-15);
    s.lr_batch = 128;
    CHECK_NEAR(spec_base_lr(&s, 64), 0.05, 1e-15);
    s.lr_rule = SPEC_LR_SQRT;
    CHECK_NEAR(spec_base_lr(&s, 512), 0.2, 1e-15);
    CHECK_NEAR(spec_base_lr(&s, 32), 0.05, 1e-15);
    CHECK_NEAR(spec_base_lr(&s, 128), 0.1, 1e-15);
}
