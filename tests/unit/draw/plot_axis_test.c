#include "tests/test.h"

#include "base/mem.h"
#include "draw/plot/plot_int.h"

TEST(ticks_are_round)
{
    double t[8], step;

    CHECK_INT(plot_ticks(0, 1, t, &step), 6);
    CHECK_NEAR(step, 0.2, 1e-12);
    CHECK_INT(plot_ticks(0, 10, t, &step), 6);
    CHECK_NEAR(step, 2, 0);
    CHECK_INT(plot_ticks(0.8, 0.93, t, &step), 6);
    CHECK_NEAR(step, 0.025, 1e-12);
    CHECK_NEAR(t[0], 0.8, 1e-12);
    CHECK_INT(plot_ticks(-1, 1, t, &step), 5);
    CHECK(t[2] == 0 && !signbit(t[2]));
}

TEST(four_to_six_within)
{
    uint64_t state = 42;

    for (int i = 0; i < 200000; i++) {
        double lo, length, t[8], step;
        int n;

        state = state * 6364136223846793005u + 1442695040888963407u;
        length = pow(10, (double)(state >> 33) / 2147483648.0 * 40 - 20);
        state = state * 6364136223846793005u + 1442695040888963407u;
        lo = ((double)(state >> 33) / 2147483648.0 - 0.5) * length * 200;
        n = plot_ticks(lo, lo + length, t, &step);
        if (n < 4 || n > 6) {
            TEST_FAILED("%d ticks from %.17g to %.17g", n, lo, lo + length);
            return;
        }
        for (int j = 0; j < n; j++) {
            REQUIRE(t[j] >= lo - 1e-6 * length && t[j] <= lo + length * (1 + 1e-6));
            REQUIRE(fabs(t[j] / step - round(t[j] / step)) < 1e-6 * fmax(1, fabs(t[j] / step)));
        }
    }
}

TEST(no_ticks_where_there_is_no_range)
{
    double t[8], step;

    CHECK_INT(plot_ticks(NAN, 1, t, &step), 0);
    CHECK_INT(plot_ticks(0, INFINITY, t, &step), 0);
    CHECK_INT(plot_ticks(2, 1, t, &step), 0);
    CHECK_INT(plot_ticks(3, 3, t, &step), 1);
    CHECK_INT(plot_ticks(1e17, 1e17 + 16, t, &step), 1);
    CHECK_INT(plot_ticks(-1e308, 1e308, t, &step), 0);
}

static struct plot_axis axis_of(double lo, double hi, bool log, bool whole_x, struct plot_axis *x)
{
    double xs[2] = {lo, hi}, ys[2] = {lo, hi};
    struct plot_series s = {.label = "s", .x = xs, .y = ys, .n = 2};
    struct plot p = {.series = &s, .count = 1, .log_y = log, .whole_x = whole_x};
    struct plot_view v;
    struct plot_axis y;

    CHECK(plot_look(&p, 80, &v));
    *x = v.x;
    y = v.y;
    plot_view_free(&v);
    return y;
}

TEST(labels)
{
    struct plot_axis x, y = axis_of(0.8, 0.93, false, false, &x);

    CHECK_STR(y.label[0], "0.800");
    CHECK_STR(y.label[1], "0.825");
    y = axis_of(0, 60000, false, false, &x);
    CHECK_STR(x.label[1], "20k");
    y = axis_of(0, 3e6, false, true, &x);
    CHECK_STR(x.label[x.ticks - 1], "3M");
    y = axis_of(1e-7, 5e-7, false, false, &x);
    CHECK(y.ticks >= 4);
    CHECK(strlen(y.label[1]) <= 9);
    y = axis_of(1e-4, 10, true, false, &x);
    CHECK_STR(y.label[0], "0.0001");
    CHECK_STR(y.label[y.ticks - 1], "10");
    y = axis_of(1000, 1e8, true, false, &x);
    CHECK_STR(y.label[y.ticks - 1], "100M");
    y = axis_of(1000, 1e15, true, false, &x); /* beyond the units all are without one */
    CHECK(y.ticks >= 4);
    for (int i = 0; i < y.ticks; i++)
        CHECK(!strpbrk(y.label[i], "GMk"));
}

TEST(whole_numbers_alone)
{
    struct plot_axis x;

    axis_of(1, 2, false, true, &x);
    CHECK_INT(x.ticks, 3); /* 0, 1, 2 */
    axis_of(1, 10, false, true, &x);
    for (int i = 0; i < x.ticks; i++)
        CHECK(x.tick[i] == floor(x.tick[i]));
    axis_of(0.5, 3, false, true, &x);
    CHECK_INT(x.ticks, 4);
}

/* Epochs have halves, steps have none. */
TEST(parts_of_epochs)
{
    static const struct {
        double hi;
        int ticks;
        double step;
    } wanted[] = {{1, 5, 0.25}, {2, 5, 0.5}, {3, 4, 1}, {10, 6, 2}};
    double xs[2] = {0.1}, ys[2] = {1, 2};
    struct plot_series s = {.label = "s", .x = xs, .y = ys, .n = 2};
    struct plot p = {.series = &s, .count = 1, .whole_x = true, .parts_x = true};
    struct plot_view v;

    for (size_t i = 0; i < MEM_COUNT(wanted); i++) {
        xs[1] = wanted[i].hi;
        CHECK(plot_look(&p, 80, &v));
        CHECK_INT(v.x.ticks, wanted[i].ticks);
        CHECK_NEAR(v.x.step, wanted[i].step, 0);
        plot_view_free(&v);
    }
    p.x_lo = 0.3; /* a part of one */
    p.x_hi = 0.9;
    CHECK(plot_look(&p, 80, &v));
    CHECK(v.x.ticks >= 4 && v.x.ticks <= 6);
    plot_view_free(&v);
}

TEST(log_ticks)
{
    static const double ranges[][2] = {{1, 1e5},      {0.9, 1.1},      {1e-30, 1}, {0.2, 3},
                                       {1, 20},       {1e-300, 1e300}, {3, 700},   {1, 1.02},
                                       {0.0112, 1e5}, {0.0112, 1e9}};
    struct plot_axis x;

    for (size_t i = 0; i < MEM_COUNT(ranges); i++) {
        struct plot_axis y = axis_of(ranges[i][0], ranges[i][1], true, false, &x);

        if (y.ticks < 4 || y.ticks > 6)
            TEST_FAILED("%d ticks from %g to %g", y.ticks, ranges[i][0], ranges[i][1]);
        for (int j = 0; j < y.ticks; j++)
            CHECK(plot_place(&y, y.tick[j]) > -1e-6 && plot_place(&y, y.tick[j]) < 1 + 1e-6);
    }
}

static bool is_round(double step)
{
    double first = step / pow(10, floor(log10(step) + 1e-9));

    return fabs(first - 1) < 1e-6 || fabs(first - 2) < 1e-6 || fabs(first - 2.5) < 1e-6 ||
           fabs(first - 5) < 1e-6;
}

/* Whether four round ticks have rows of their own in a frame that shows the values over three fifths of it
 * or more: all lengths and all places of the axis are tried. Three distances of ticks take at most the
 * length of the axis, and all four rows are taken only where they take about seven tenths of it. From one
 * round step to the next but one it is more than that, and accuracies leave no other place: 0.1 to 0.98 has
 * 0.2, 0.4, 0.6 and 0.8, of which the lowest is not in the lowest row, or 0.25, 0.5 and 0.75 alone. */
static bool could_have_four(const struct plot_canvas *c, double lo, double hi)
{
    static const double steps[] = {1, 2, 2.5, 5, 10, 20, 25, 50};
    double length = hi - lo, power = pow(10, floor(log10(length)) - 1), part = length / 80;

    for (double longer = length; longer <= length / 0.605; longer += part)
        for (double from = lo; from >= hi - longer - 1e-12; from -= part) {
            bool outside = from < -1e-12 || (hi <= 1 && from + longer > 1 + 1e-9);

            for (size_t i = 0; i < MEM_COUNT(steps) && !outside; i++) {
                struct plot_axis a = {
                    .lo = from, .hi = from + longer, .from = from, .length = longer};
                bool apart = true;

                a.ticks = plot_multiples(a.lo, a.hi, steps[i] * power, a.tick, PLOT_TICKS);
                for (int k = 1; k < a.ticks && a.ticks <= 6; k++)
                    apart = apart && plot_row(c, plot_place(&a, a.tick[k])) <
                                         plot_row(c, plot_place(&a, a.tick[k - 1]));
                if (a.ticks >= 4 && a.ticks <= 6 && apart)
                    return true;
            }
        }
    return false;
}

static int missed;

/* Of an axis in so many rows: its ticks, and what it shows beside the curves. */
static void check_axis(enum plot_level level, int rows, const double y[2])
{
    double x[2] = {0, 10}, seen;
    struct plot_series s = {.label = "s", .x = x, .y = y, .n = 2};
    struct plot p = {.series = &s, .count = 1, .columns = 60, .rows = rows + 3, .level = level};
    struct plot_canvas canvas = {.p = &p};
    int least = rows, most = 0, few = rows > 4 ? 4 : 3;
    double lo, hi;
    struct plot_view v;

    REQUIRE(plot_look(&p, 120, &v));
    seen = v.y.length;
    lo = v.y.lo;
    hi = v.y.hi;
    REQUIRE(plot_lay_out(&canvas, &v));
    CHECK_INT(canvas.height, rows);
    missed += v.y.ticks == 3 && could_have_four(&canvas, lo, hi);
    for (int i = 1; i < v.y.ticks; i++) {
        int distance = plot_row(&canvas, plot_place(&v.y, v.y.tick[i - 1])) -
                       plot_row(&canvas, plot_place(&v.y, v.y.tick[i]));

        least = distance < least ? distance : least;
        most = distance > most ? distance : most;
    }
    if (v.y.ticks < few || v.y.ticks > 6 || !is_round(v.y.step) || least < 1 || most > least + 1)
        TEST_FAILED("%d ticks, step %g, %d to %d rows apart, in %d rows from %g to %g", v.y.ticks,
                    v.y.step, least, most, rows, y[0], y[1]);
    if (v.y.lo > y[0] || v.y.lo < 0 || v.y.hi < y[1] * (1 - 1e-9) ||
        (y[1] <= 1 && v.y.hi > 1 + 1e-9) || seen < (rows < 12 ? 0.6 : 0.7) * v.y.length)
        TEST_FAILED("axis from %g to %g in %d rows for %g to %g", v.y.lo, v.y.hi, rows, y[0], y[1]);
    plot_view_free(&v);
}

/* Four to six multiples of 1, 2, 2.5 or 5, however high the frame, each on a row of its own. No axis of
 * accuracies says more than 1, no axis of losses leaves much of the frame empty. */
TEST(ticks_are_round_as_drawn)
{
    uint64_t state = 11;

    for (int rows = 4; rows <= 60; rows++)
        for (int i = 0; i < 300; i++) {
            double at[2], y[2];

            for (int k = 0; k < 2; k++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                at[k] = (double)(state >> 33) / 2147483648.0;
            }
            y[1] = i % 2 ? 1 - 0.9 * at[0] * at[0] : pow(10, 3 * at[0] - 2);
            y[0] = y[1] * (i % 4 < 2 ? 0.99 : 0.2) * at[1];
            check_axis((enum plot_level)(i % 3), rows, y);
        }
    check_axis(PLOT_BRAILLE, 9, (const double[2]){0, 1});
    if (missed > 2) /* fewer places are tried than there are */
        TEST_FAILED("%d axes in four rows have three ticks where four would fit", missed);
}

/* 1, 2 or 5 of a decade. */
static bool is_in_row(double tick)
{
    double first = tick / pow(10, floor(log10(tick) + 1e-9));

    return fabs(first - 1) < 1e-6 || fabs(first - 2) < 1e-6 || fabs(first - 5) < 1e-6;
}

/* Every so manieth of the ticks 1, 2, 5, 10, 20, ... alike. */
static bool is_even_row(const struct plot_axis *y)
{
    int last = 0, every = 0;

    for (int i = 0; i < y->ticks; i++) {
        int place = (int)lround(3 * log10(y->tick[i])); /* a third of a decade each */

        if (!is_in_row(y->tick[i]) || (i > 1 && place - last != every))
            return false;
        every = place - last;
        last = place;
    }
    return true;
}

/* Whatever a loss spans, four to six ticks that people read at once, over at least half of the rows. */
TEST(logarithmic_ticks_are_round_as_drawn)
{
    uint64_t state = 13;

    for (int rows = 4; rows <= 60; rows += rows < 20 ? 1 : 5)
        for (int i = 0; i < 300; i++) {
            double at[2], x[2] = {0, 10}, y[2], seen;
            struct plot_series s = {.label = "s", .x = x, .y = y, .n = 2};
            struct plot p = {.series = &s,
                             .count = 1,
                             .columns = 60,
                             .rows = rows + 3,
                             .log_y = true,
                             .level = (enum plot_level)(i % 3)};
            struct plot_canvas canvas = {.p = &p};
            struct plot_view v;
            bool round, apart = true;
            int first, last;

            for (int k = 0; k < 2; k++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                at[k] = (double)(state >> 33) / 2147483648.0;
            }
            y[0] = pow(10, 4 * at[0] - 3);
            y[1] = y[0] * pow(10, i % 5 ? 0.01 + 3 * at[1] * at[1] : 30 * at[1]);
            REQUIRE(plot_look(&p, 120, &v));
            seen = v.y.length;
            REQUIRE(plot_lay_out(&canvas, &v));
            first = last = plot_row(&canvas, plot_place(&v.y, v.y.tick[0]));
            for (int k = 1; k < v.y.ticks; k++) {
                int row = plot_row(&canvas, plot_place(&v.y, v.y.tick[k]));

                apart = apart && row < last && strcmp(v.y.label[k], v.y.label[k - 1]) != 0 &&
                        (!(v.y.step > 0) || v.y.tick[k] - v.y.tick[k - 1] < 1.5 * v.y.step);
                last = row;
            }
            round = v.y.step > 0 ? is_round(v.y.step) : is_even_row(&v.y);
            if (v.y.ticks < (rows > 4 ? 4 : 3) || v.y.ticks > 6 || !round || !apart ||
                2 * (first - last) < rows - 2)
                TEST_FAILED("%d ticks, step %g, in rows %d to %d of %d from %g to %g", v.y.ticks,
                            v.y.step, first, last, rows, y[0], y[1]);
            if (v.y.lo > y[0] * (1 + 1e-9) || v.y.hi < y[1] * (1 - 1e-9) ||
                (y[1] <= 1 && v.y.hi > 1 + 1e-9) || seen < 0.6 * v.y.length)
                TEST_FAILED("axis from %g to %g in %d rows for %g to %g", v.y.lo, v.y.hi, rows,
                            y[0], y[1]);
            plot_view_free(&v);
        }
}

static void check_labels(double lo, double hi, enum plot_unit unit, bool per_cent)
{
    struct plot_axis a = {.lo = lo, .hi = hi, .per_cent = per_cent};

    plot_label_axis(&a, PLOT_ANY, unit, 6);
    for (int i = 1; i < a.ticks; i++)
        if (!strcmp(a.label[i], a.label[i - 1]) || strlen(a.label[i]) > 20)
            TEST_FAILED("%s behind %s, from %.17g to %.17g", a.label[i], a.label[i - 1], lo, hi);
    for (int i = 0; i < a.ticks && unit == PLOT_NUMBER && !strpbrk(a.label[i], "kMG"); i++)
        if (fabs(strtod(a.label[i], NULL) - (per_cent ? 100 : 1) * a.tick[i]) >
            (per_cent ? 100 : 1) * 1e-3 * a.step)
            TEST_FAILED("%s stands for %.17g", a.label[i], a.tick[i]);
}

/* However near to each other: a label says where its tick is, and no two say the same. */
TEST(no_two_labels_are_alike)
{
    static const double ranges[][2] = {
        {0.912340001, 0.912340009},     {1e9, 1e9 + 5}, {1e15, 1e15 + 2e6},
        {1.00000001e-7, 1.00000009e-7}, {0, 4e-8},      {-1e13, 1e13}};
    uint64_t state = 19;

    for (size_t i = 0; i < MEM_COUNT(ranges); i++)
        for (int unit = PLOT_NUMBER; unit <= PLOT_TIME; unit++)
            check_labels(ranges[i][0], ranges[i][1], (enum plot_unit)unit, false);
    for (int i = 0; i < 100000; i++) {
        double at[3], lo;

        for (int k = 0; k < 3; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            at[k] = (double)(state >> 33) / 2147483648.0;
        }
        lo = pow(10, 24 * at[0] - 12) * (i % 8 == 7 ? -1 : 1);
        check_labels(lo, lo + fabs(lo) * pow(10, -9 * at[1]) * (1 + at[2]),
                     i % 4 == 3 ? PLOT_TIME : PLOT_NUMBER, i % 4 == 2);
    }
}

/* In a frame that is too narrow for a label its middle goes: the end alone would say another number. */
TEST(a_label_that_has_no_room_is_cut)
{
    double x[2] = {0, 10}, y[2] = {0.912340001, 0.912340009};
    struct plot_series s = {.label = "s", .x = x, .y = y, .n = 2};
    struct plot p = {.series = &s, .count = 1, .columns = 16, .rows = 8, .level = PLOT_ASCII};
    struct text t = {0};

    plot_text(&p, false, &t);
    CHECK_HAS(text_str(&t), "0.91~002+");
    text_free(&t);
}

TEST(places)
{
    struct plot_axis x, y = axis_of(-1, 3, false, false, &x);

    CHECK_NEAR(plot_place(&y, -1), 0, 0);
    CHECK_NEAR(plot_place(&y, 3), 1, 0);
    CHECK_NEAR(plot_place(&y, 1), 0.5, 1e-12);
    CHECK(isnan(plot_place(&y, NAN)));
    CHECK(isnan(plot_place(&y, INFINITY)));
    y = axis_of(0.01, 1, true, false, &x);
    CHECK_NEAR(plot_place(&y, 0.1), 0.5, 1e-12);
    CHECK(isnan(plot_place(&y, 0)));
}

/* A loss that comes near zero is read against zero, an accuracy is not. */
TEST(ranges)
{
    struct plot_axis x;
    struct plot_axis y = axis_of(0.2, 2.3, false, false, &x);

    CHECK(y.lo == 0);
    y = axis_of(0.8, 0.92, false, false, &x);
    CHECK(y.lo == 0.8 && y.hi == 0.92);
    CHECK(x.lo == 0.8);
}
