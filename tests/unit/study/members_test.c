/* Ensemble numbers against sums by hand, and the sets of members against a naive enumeration. */
#include "study/members.h"
#include "study/table.h"
#include "study/tables.h"
#include "tests/test.h"

/* Three members, four images, two classes: the probability of class 1 in quarters.
 *
 *            image 0  1    2    3
 * label      1        0    1    0
 * member 0   3/4 r    1/4r 1/4  3/4     2 of 4
 * member 1   1/4      1/4r 3/4r 1/4 r   3 of 4
 * member 2   1/2 (0)  3/4  3/4r 1/4 r   2 of 4
 * mean       1/2 (0)  5/12 7/12 5/12    1, 2, 3 right: 3 of 4
 */
static const float quarters[3][4] = {
    {0.75F, 0.25F, 0.25F, 0.75F}, {0.25F, 0.25F, 0.75F, 0.25F}, {0.5F, 0.75F, 0.75F, 0.25F}};
static const int64_t labels[4] = {1, 0, 1, 0};

static void fill(float p[24])
{
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < 4; i++) {
            p[(m * 4 + i) * 2] = 1 - quarters[m][i];
            p[(m * 4 + i) * 2 + 1] = quarters[m][i];
        }
}

/* Of two classes. */
static void study(struct study_members *s, int members, size_t n, const float *p,
                  const double *log_p, const int64_t *label)
{
    study_members(s, &(struct study_answers){.members = members,
                                             .classes = 2,
                                             .n = n,
                                             .p = (float *)p,
                                             .log_p = (double *)log_p,
                                             .labels = (int64_t *)label});
}

TEST(three_members_by_hand)
{
    struct study_members s;
    float p[24];

    fill(p);
    study(&s, 3, 4, p, NULL, labels);
    CHECK(s.member[0].acc == 0.5 && s.member[1].acc == 0.75 && s.member[2].acc == 0.5);
    CHECK(s.whole.acc == 0.75);
    CHECK_INT(s.best, 1);
    CHECK_NEAR(s.gain_mean, 0.75 - 1.75 / 3, 1e-15);
    CHECK_NEAR(s.gain_best, 0, 1e-15);
    /* -log of the label's probability */
    CHECK_NEAR(s.member[0].nll, (-2 * log(0.75) - 2 * log(0.25)) / 4, 1e-15);
    CHECK_NEAR(s.whole.nll, (-log(0.5) - 3 * log(7 / 12.0)) / 4, 1e-7);
    /* member 0: all four in the bin of 3/4, two right: |2 - 3| / 4; the whole: 1/2 wrong in one bin
     * (its answer is class 0), three times 7/12 right in another */
    CHECK_NEAR(s.member[0].ece, 0.25, 1e-15);
    CHECK_NEAR(s.whole.ece, (0.5 + 3 * (1 - 7 / 12.0)) / 4, 1e-7);
    /* 0 and 1: images 0, 2, 3; 0 and 2: all four; 1 and 2: image 1 */
    CHECK(s.differ[0 * 3 + 1] == 0.75 && s.differ[2 * 3 + 0] == 1 && s.differ[1 * 3 + 2] == 0.25);
    CHECK(s.differ[0] == 0);
    CHECK_NEAR(s.disagreement, 2 / 3.0, 1e-15);
    CHECK(s.prefix[0] == 0.5 && s.prefix[2] == 0.75);
    /* mean of 0 and 1: 1/2 (0, wrong), 1/4, 1/2 (0, wrong), 1/2 (0): 2 of 4 */
    CHECK(s.prefix[1] == 0.5);
    study_members_free(&s);
}

static int bits(unsigned set)
{
    int n = 0;

    for (; set; set >>= 1)
        n += set & 1;
    return n;
}

TEST(all_sets_of_few_members)
{
    struct study_members s;
    float p[24];

    fill(p);
    study(&s, 3, 4, p, NULL, labels);
    for (int k = 1; k <= 3; k++) {
        double mean = 0, least = 1, most = 0;
        int sets = 0;

        for (unsigned set = 1; set < 8; set++) {
            int right = 0;

            if (bits(set) != k)
                continue;
            for (int i = 0; i < 4; i++) {
                double one = 0;

                for (int m = 0; m < 3; m++)
                    one += set >> m & 1 ? (double)quarters[m][i] : 0;
                right += (one > k - one) == (labels[i] == 1);
            }
            mean += right / 4.0;
            least = fmin(least, right / 4.0);
            most = fmax(most, right / 4.0);
            sets++;
        }
        CHECK_INT(s.of[k - 1].sets, sets);
        CHECK(!s.of[k - 1].sampled);
        CHECK_NEAR(s.of[k - 1].mean, mean / sets, 1e-15);
        CHECK(s.of[k - 1].least == least && s.of[k - 1].most == most);
    }
    study_members_free(&s);
}

/* Twelve members: 924 sets of six are sampled, 66 of two are not. Members whose accuracy is the same
 * whichever are taken show that a sample is of sets of the right size. */
TEST(many_sets_are_sampled)
{
    enum { MEMBERS = 12, IMAGES = 50 };
    static float p[MEMBERS][IMAGES][2];
    static int64_t label[IMAGES];
    struct study_members s, again;

    for (int m = 0; m < MEMBERS; m++)
        for (int i = 0; i < IMAGES; i++) {
            label[i] = i % 2;
            p[m][i][1] = (float)((i * 7 + m * 13) % 17) / 17;
            p[m][i][0] = 1 - p[m][i][1];
        }
    study(&s, MEMBERS, IMAGES, &p[0][0][0], NULL, label);
    study(&again, MEMBERS, IMAGES, &p[0][0][0], NULL, label);
    CHECK_INT(s.of[1].sets, 66);
    CHECK_INT(s.of[5].sets, STUDY_MOST_SETS);
    CHECK(s.of[5].sampled && !s.of[1].sampled && !s.of[10].sampled);
    CHECK(s.of[5].mean == again.of[5].mean);
    CHECK(s.of[5].least <= s.of[5].mean && s.of[5].mean <= s.of[5].most);
    CHECK(s.of[11].mean == s.whole.acc && s.of[11].sets == 1);
    CHECK_NEAR(s.of[0].mean, s.mean.acc, 1e-12);
    study_members_free(&s);
    study_members_free(&again);
}

/* Who is worse than the best is below it. */
TEST(a_gain_says_which_side_it_is_on)
{
    struct study_members s;
    struct study_table t = {0};
    struct text out = {0};
    float p[24];

    fill(p);
    study(&s, 3, 4, p, NULL, labels);
    s.gain_best = -0.005;
    s.at_best.epoch = 1;
    s.at_best.best = 0.0025;
    study_members_table(&s, &t);
    CHECK_HAS(text_str(&t.note), " the mean member, 0.50 below the best one (member 1,");
    CHECK_HAS(text_str(&t.note), " the mean member, +0.25 over the best one then");
    study_add_gain(&out, 0, "best");
    CHECK_STR(text_str(&out), "+0.00 over best");
    text_free(&out);
    study_table_free(&t);
    study_members_free(&s);
}

/* A gain of 1.165 points: of sums, and of the decimals in a file. */
TEST(a_gain_is_rounded_once)
{
    struct study_members s;
    struct study_table t = {0};
    float p[24];
    double sum = 0;

    fill(p);
    study(&s, 3, 4, p, NULL, labels);
    for (int m = 0; m < 8; m++)
        sum += (m < 4 ? 0.8638 : 0.8639) / 8;
    s.gain_mean = 0.8755 - sum;
    s.at_best = (struct study_gain){1, true, 0.01165, 0.01165};
    CHECK(s.gain_mean < s.at_best.mean);
    study_members_table(&s, &t);
    CHECK_HAS(text_str(&t.note), "its gain is +1.17 points");
    CHECK_HAS(text_str(&t.note), "its gain was +1.17 points");
    CHECK_STR(STUDY_POINTS(-0.01165), "-1.17");
    CHECK_STR(STUDY_POINTS(-1e-17), "+0.00");
    study_table_free(&t);
    study_members_free(&s);
}

TEST(a_single_model)
{
    struct study_members s;
    float p[24];

    fill(p);
    study(&s, 1, 4, p, NULL, labels);
    CHECK(s.disagreement == 0 && s.gain_mean == 0 && s.gain_best == 0 && s.of[0].mean == 0.5);
    study_members_free(&s);
}

TEST(a_vanished_probability_is_no_infinite_loss)
{
    const float p[] = {1, 0};
    const int64_t label = 1;
    struct study_members s;

    study(&s, 1, 1, p, NULL, &label);
    CHECK(isfinite(s.whole.nll) && s.whole.nll > 100);
    study_members_free(&s);
}

/* What training's metrics say of logits far apart: 2168.9 and not the floor of a float. */
TEST(a_loss_from_logits_has_no_floor)
{
    const float p[] = {1, 0, 1, 0};
    const double log_p[] = {-4000, -10};
    const int64_t label = 1;
    struct study_members s;

    study(&s, 2, 1, p, log_p, &label);
    CHECK_NEAR(s.member[0].nll, 4000, 1e-9);
    CHECK_NEAR(s.mean.nll, 2005, 1e-9);
    CHECK_NEAR(s.whole.nll, 10 + log(2), 1e-9);
    study_members_free(&s);
}
