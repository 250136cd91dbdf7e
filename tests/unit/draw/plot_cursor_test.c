/* What a cursor reads, and where its steps lead. */
#include "tests/unit/draw/plot_frame.h"

#define N 10
static double train_x[N], train_y[N], test_x[N], test_y[N];

/* Training values stand half an epoch earlier; the test curve ends at epoch 6 and has a gap at 3. */
static struct plot two(struct plot_series s[2])
{
    for (int i = 0; i < N; i++) {
        train_x[i] = i + 0.5;
        train_y[i] = 1.0 / (i + 1);
        test_x[i] = i + 1;
        test_y[i] = i == 2 ? NAN : 10 + i;
    }
    s[0] = (struct plot_series){.label = "train", .x = train_x, .y = train_y, .n = N};
    s[1] = (struct plot_series){.label = "test", .x = test_x, .y = test_y, .n = 6, .colour = 1};
    return (struct plot){.title = "loss",
                         .x_label = "epoch",
                         .series = s,
                         .count = 2,
                         .whole_x = true,
                         .values = true,
                         .columns = 60,
                         .rows = 12};
}

TEST(reads_the_last_point_before)
{
    struct plot_series s[2];
    struct plot p = two(s);
    static const struct {
        double x, train, test;
    } want[] = {
        {0.4, NAN, NAN},       {0.5, 1, NAN},      {1, 1, 10},        {1.49, 1, 10},
        {1.5, 1. / 2, 10},     {2, 1. / 2, 11},    {3, 1. / 3, NAN},  {3.9, 1. / 4, NAN},
        {6, 1. / 6, 15},       {6.9, 1. / 7, 15},  {7, 1. / 7, NAN},  {10, 1. / 10, NAN},
        {10.5, NAN, NAN},      {-1e300, NAN, NAN}, {1e300, NAN, NAN}, {INFINITY, NAN, NAN},
        {-INFINITY, NAN, NAN},
    };

    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < MEM_COUNT(want); i++) {
            double got[2];

            p.cursor_x = want[i].x;
            plot_read(&p, got);
            if (!((got[0] == want[i].train || (isnan(got[0]) && isnan(want[i].train))) &&
                  (got[1] == want[i].test || (isnan(got[1]) && isnan(want[i].test)))))
                TEST_FAILED("at %g: %g and %g", want[i].x, got[0], got[1]);
        }
        /* The same points in another order: the last two stay last, for how far the end reaches. */
        for (int k = 0; k < 2; k++) {
            double x = test_x[k], y = test_y[k];

            test_x[k] = test_x[3 - k];
            test_y[k] = test_y[3 - k];
            test_x[3 - k] = x;
            test_y[3 - k] = y;
        }
    }
}

TEST(reads_one_point)
{
    double x = 0.5, y = 7, got;
    struct plot_series s = {.x = &x, .y = &y, .n = 1};
    struct plot p = {.series = &s, .count = 1};

    p.cursor_x = 0.4;
    plot_read(&p, &got);
    CHECK(isnan(got));
    p.cursor_x = 0.99;
    plot_read(&p, &got);
    CHECK(got == 7);
    p.cursor_x = 4;
    plot_read(&p, &got);
    CHECK(isnan(got));
    s.n = 0;
    plot_read(&p, &got);
    CHECK(isnan(got));
}

/* Whole epochs where x counts them, the front curve's own points where it has none of those. */
TEST(steps_from_point_to_point)
{
    struct plot_series s[2];
    struct plot p = two(s);

    CHECK_NEAR(plot_step_cursor(&p, 1), 6, 0); /* none yet: on the last */
    p.cursor = true;
    p.cursor_x = 2;
    CHECK_NEAR(plot_step_cursor(&p, -1), 1, 0);
    CHECK_NEAR(plot_step_cursor(&p, 1), 4, 0); /* nothing is drawn at 3 */
    CHECK_NEAR(plot_step_cursor(&p, 0), 2, 0);
    p.cursor_x = 6;
    CHECK_NEAR(plot_step_cursor(&p, 1), 6, 0);
    CHECK_NEAR(plot_step_cursor(&p, -1000), 1, 0);
    p.cursor_x = 1;
    CHECK_NEAR(plot_step_cursor(&p, 1000), 6, 0);
    p.front = 1;
    p.cursor_x = 2.5;
    CHECK_NEAR(plot_step_cursor(&p, 1), 3.5, 0);
    CHECK_NEAR(plot_step_cursor(&p, 1000), 9.5, 0);
    p.front = 0;
    p.whole_x = false;
    p.cursor_x = 2;
    CHECK_NEAR(plot_step_cursor(&p, 1), 2.5, 0);
    p.cursor_x = 1e9; /* from outside back to the last */
    CHECK_NEAR(plot_step_cursor(&p, 1), 9.5, 0);
    CHECK_NEAR(plot_step_cursor(&p, -1), 9.5, 0);
    p.x_lo = 3.2;
    p.x_hi = 5.6;
    CHECK_NEAR(plot_step_cursor(&p, 1), 5.5, 0);
    p.columns = p.rows = 1; /* no frame: still a point */
    CHECK_NEAR(plot_step_cursor(&p, 1), 5.5, 0);
    p.count = 0;
    CHECK(isnan(plot_step_cursor(&p, 1)));
    CHECK(isnan(plot_cursor_at(&p, 1)));
}

/* Where points lie closer than columns, a step is a column: there and back again. */
TEST(steps_over_many_points)
{
    enum { MANY = 100000 };
    static double x[MANY];
    struct plot_series s = {.label = "s", .x = x, .y = x, .n = MANY};
    struct plot p = {.series = &s, .count = 1, .columns = 110, .rows = 20, .cursor = true};
    int steps = 0;

    for (int i = 0; i < MANY; i++)
        x[i] = i;
    for (; p.cursor_x < MANY - 1 && steps < 1000; steps++) {
        double next = plot_step_cursor(&p, 1);

        CHECK(next > p.cursor_x && next - p.cursor_x < 1100 && next == floor(next));
        p.cursor_x = next;
    }
    CHECK(steps > 95 && steps < 110);
    p.cursor_x = 50000;
    CHECK_NEAR(plot_step_cursor(&p, 10) - 50000, 50000 - plot_step_cursor(&p, -10), 2);
}

TEST(a_click_finds_the_nearest_point)
{
    struct plot_series s[2];
    struct plot p = two(s);

    CHECK_NEAR(plot_cursor_at(&p, 0), 1, 0);
    CHECK_NEAR(plot_cursor_at(&p, -5), 1, 0);
    CHECK_NEAR(plot_cursor_at(&p, 59), 6, 0);
    CHECK_NEAR(plot_cursor_at(&p, 3 + (int)(0.4 * 57)), 4, 0);
}

/* The legend and the marks say what is read; a gap is a dash. */
TEST(frames)
{
    struct plot_series s[2];
    struct plot p = two(s);

    check("values", &p);
    p.cursor = true;
    p.cursor_x = 2;
    check("cursor", &p);
    p.level = PLOT_ASCII;
    check("cursor-ascii", &p);
    p.level = PLOT_BLOCK;
    p.cursor_x = 3;
    check("cursor-gap", &p);
    p.cursor_x = 10;
    check("cursor-end", &p);
    p.x_lo = 2;
    p.x_hi = 6;
    check("cursor-outside", &p); /* of the window: last values, no rule */
}

TEST(short_times_keep_three_digits)
{
    static const struct {
        double x;
        const char *words;
    } want[] = {{0.5546, "0.555 s"}, {5.546, "5.55 s"}, {0, "0"}, {55.46, "55 s"}};
    struct plot_series s[2];
    struct plot p = two(s);
    char words[PLOT_LABEL];

    p.x_unit = PLOT_TIME;
    for (size_t i = 0; i < MEM_COUNT(want); i++) {
        plot_x_text(&p, want[i].x, words);
        CHECK_STR(words, want[i].words);
    }
}

/* It may stand in the line of the axis, where the cursor has its foot. */
TEST(the_name_of_the_axis_is_whole_or_not_there_wherever_the_cursor_is)
{
    struct plot_series s[2];
    struct plot p = two(s);
    int named = 0;

    p.x_label = "device-seconds";
    p.whole_x = false;
    p.cursor = true;
    for (p.columns = 40; p.columns <= 80; p.columns += 5)
        for (p.cursor_x = 0.5; p.cursor_x <= 10; p.cursor_x += 0.1) {
            struct text t = {0};
            bool whole, part;

            plot_text(&p, false, &t);
            whole = strstr(text_str(&t), "device-seconds") != NULL;
            part = strstr(text_str(&t), "dev") || strstr(text_str(&t), "nds");
            if (part && !whole)
                TEST_FAILED("%d columns, cursor at %g:\n%s", p.columns, p.cursor_x, text_str(&t));
            named += whole;
            text_free(&t);
        }
    CHECK(named > 100);
}
