/* The statistics against tables and sums by hand. */
#include "study/stats.h"
#include "tests/test.h"

TEST(mean_deviation_and_median_by_hand)
{
    const double x[] = {4, 2, 9};

    CHECK(study_mean(x, 3) == 5);
    CHECK_NEAR(study_sd(x, 3), sqrt((1 + 9 + 16) / 2.0), 1e-15);
    CHECK(study_median(x, 3) == 4 && study_median(x, 2) == 3);
    CHECK(isnan(study_mean(x, 0)) && isnan(study_sd(x, 1)) && isnan(study_median(x, 0)));
}

/* t of 0.975 as every textbook prints it. */
TEST(t_as_in_the_tables)
{
    static const struct {
        size_t freedom;
        double t;
    } table[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},   {4, 2.776},
                 {5, 2.571},  {9, 2.262},  {10, 2.228},  {29, 2.045},
                 {30, 2.042}, {60, 2.000}, {120, 1.980}, {1000000, 1.960}};

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        CHECK_NEAR(study_t95(table[i].freedom), table[i].t, 5.1e-4);
    CHECK(isnan(study_t95(0)));
}

TEST(paired_interval_by_hand)
{
    /* differences 1, 2, 3: mean 2, sd 1, 4.3027 / sqrt 3 to each side */
    const double a[] = {11, 22, 33}, b[] = {10, 20, 30};
    struct study_interval i = study_paired(a, b, 3);

    CHECK_INT(i.n, 3);
    CHECK_NEAR(i.mean, 2, 1e-15);
    CHECK_NEAR(i.hi - 2, 2.48414, 1e-4);
    CHECK_NEAR(i.lo + i.hi, 4, 1e-12);
    i = study_paired(a, b, 1);
    CHECK(i.mean == 1 && isnan(i.lo) && isnan(i.hi));
}

TEST(error_of_an_accuracy)
{
    CHECK_NEAR(study_accuracy_error(0.9, 10000), 0.003, 1e-12);
}
