/* Every number of engine/metrics against one that was worked out by hand. */
#include "engine/run/metrics.h"
#include "tests/test.h"

#define LN2 0.69314718055994530942
#define LN3 1.09861228866810969140

/* Probabilities 1/2 and 1/4 are logits ln 2 and 0: sums of powers of two. Two members, four images,
 * three classes.
 *
 * member 0           member 1           mean                  label
 * 1/2 1/4 1/4 -> 0   1/4 1/2 1/4 -> 1   3/8 3/8 1/4  -> 0     0
 * 1/4 1/2 1/4 -> 1   1/4 1/2 1/4 -> 1   1/4 1/2 1/4  -> 1     1
 * 1/4 1/4 1/2 -> 2   1/2 1/4 1/4 -> 0   3/8 1/4 3/8  -> 0     2
 * 1/2 1/4 1/4 -> 0   1/2 1/4 1/4 -> 0   1/2 1/4 1/4  -> 0     2
 */
static void two_members(float logits[24])
{
    static const int high[2][4] = {{0, 1, 2, 0}, {1, 1, 0, 0}};

    for (int m = 0; m < 2; m++)
        for (int i = 0; i < 4; i++)
            for (int c = 0; c < 3; c++)
                logits[(m * 4 + i) * 3 + c] = c == high[m][i] ? (float)LN2 : 0;
}

static const uint16_t labels[4] = {0, 1, 2, 2};

TEST(two_members_by_hand)
{
    struct metrics m;
    float logits[24];

    two_members(logits);
    metrics_compute(&m, logits, 2, 4, 3, labels);
    CHECK_INT(m.members, 2);
    CHECK(m.member_acc[0] == 0.75 && m.member_acc[1] == 0.25);
    CHECK(m.member_acc_mean == 0.5 && m.member_acc_min == 0.25 && m.member_acc_max == 0.75);
    /* -ln 1/2 thrice and -ln 1/4; -ln 1/4 thrice and -ln 1/2 */
    CHECK_NEAR(m.member_loss[0], 5 * LN2 / 4, 1e-7);
    CHECK_NEAR(m.member_loss[1], 7 * LN2 / 4, 1e-7);
    CHECK_NEAR(m.member_loss_mean, 6 * LN2 / 4, 1e-7);
    /* 3/8, 1/2, 3/8, 1/4 */
    CHECK_NEAR(m.loss, (2 * (3 * LN2 - LN3) + LN2 + 2 * LN2) / 4, 1e-7);
    CHECK(m.acc == 0.5);
    CHECK(m.prefix_acc[0] == 0.75 && m.prefix_acc[1] == 0.5);
    CHECK(m.disagreement == 0.5); /* on the first and the third image */
    /* 3/8 lies in bin 5 (5/15, 6/15]: two images, one right; 1/2 in bin 7: two images, one right */
    CHECK_NEAR(m.ece, fabs(1 - 0.75) / 4 + fabs(1 - 1.0) / 4, 1e-7);
    metrics_free(&m);
    CHECK(m.member_loss == NULL);
}

TEST(a_single_model_is_its_own_mean)
{
    struct metrics m;
    float logits[24];

    two_members(logits);
    metrics_compute(&m, logits, 1, 4, 3, labels);
    CHECK(m.loss == m.member_loss[0] && m.loss == m.member_loss_mean);
    CHECK(m.acc == 0.75 && m.member_acc_min == 0.75 && m.member_acc_max == 0.75);
    CHECK(m.prefix_acc[0] == 0.75);
    CHECK(m.disagreement == 0);
    /* four images at 1/2, three right: |3 - 2| / 4 */
    CHECK_NEAR(m.ece, 0.25, 1e-7);
    metrics_free(&m);
}

/* Three members that answer 0, 0, 1: two of the three pairs differ. All three apart: three. */
TEST(disagreement_is_over_pairs)
{
    struct metrics m;
    float logits[3 * 2 * 3] = {0};
    static const int high[3][2] = {{0, 0}, {0, 1}, {1, 2}};
    static const uint16_t zeros[2] = {0, 0};

    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 2; i++)
            logits[(k * 2 + i) * 3 + high[k][i]] = 1;
    metrics_compute(&m, logits, 3, 2, 3, zeros);
    CHECK_NEAR(m.disagreement, (2.0 / 3 + 1) / 2, 1e-15);
    metrics_free(&m);
}

TEST(bins_hold_their_upper_end)
{
    struct metrics m;
    float logits[2] = {0, 0};
    static const uint16_t one[1] = {1};

    /* 1/2 and 1/2: the lowest class answers, and is wrong: ece is 1/2 */
    metrics_compute(&m, logits, 1, 1, 2, one);
    CHECK(m.acc == 0);
    CHECK_NEAR(m.ece, 0.5, 1e-15);
    metrics_free(&m);
    /* sure and right: 1 lies in the last bin */
    logits[1] = 1000;
    metrics_compute(&m, logits, 1, 1, 2, one);
    CHECK(m.acc == 1 && m.ece == 0 && m.loss == 0);
    metrics_free(&m);
}

TEST(a_probability_that_underflows_has_a_finite_loss)
{
    struct metrics m;
    float logits[4] = {2000, 0, 1000, 0};
    static const uint16_t one[1] = {1};

    metrics_compute(&m, logits, 1, 1, 2, one);
    CHECK_NEAR(m.loss, 2000, 1e-9);
    metrics_free(&m);
    /* of two members: the mean is half of exp(-1000) */
    metrics_compute(&m, logits, 2, 1, 2, one);
    CHECK_NEAR(m.loss, 1000 + LN2, 1e-9);
    CHECK_NEAR(m.member_loss_mean, 1500, 1e-9);
    metrics_free(&m);
}

TEST(what_is_not_a_number_is_never_right)
{
    struct metrics m;
    float logits[6] = {NAN, 0, 0, INFINITY, 0, 0};
    static const uint16_t zeros[2] = {0, 0};

    metrics_compute(&m, logits, 1, 2, 3, zeros);
    CHECK(isnan(m.loss) || isinf(m.loss));
    CHECK(m.acc == 0);
    metrics_free(&m);
}

TEST(softmax_by_hand)
{
    float logits[3] = {(float)LN2, 0, (float)-LN2};
    double p[3];

    metrics_softmax(logits, 3, p);
    CHECK_NEAR(p[0], 4.0 / 7, 1e-7);
    CHECK_NEAR(p[1], 2.0 / 7, 1e-7);
    CHECK_NEAR(p[2], 1.0 / 7, 1e-7);
}
