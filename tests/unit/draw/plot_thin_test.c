/* What is left out of a picture, and what never is; smoothing, which comes before it; the time. */
#include "draw/plot/plot_int.h"
#include "tests/unit/draw/plot_frame.h"

#include <time.h>

static uint64_t state = 7;

static double draw_unit(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

/* Of each column the least and most of what can be drawn, by looking at every point. */
static void find_naive(const struct plot_series *s, bool log, double lo, double hi, int columns,
                       double *least, double *most)
{
    for (int k = 0; k < columns; k++) {
        least[k] = INFINITY;
        most[k] = -INFINITY;
    }
    for (size_t i = 0; i < s->n; i++) {
        int k = (int)((s->x[i] - lo) / (hi - lo) * columns);

        if (!isfinite(s->x[i]) || !isfinite(s->y[i]) || (log && s->y[i] <= 0) || s->x[i] < lo ||
            s->x[i] > hi)
            continue;
        k = k == columns ? k - 1 : k;
        least[k] = fmin(least[k], s->y[i]);
        most[k] = fmax(most[k], s->y[i]);
    }
}

#define COLUMNS 37

static void check_columns(const struct plot_series *s, bool sorted, bool log, double lo, double hi)
{
    double least[COLUMNS], most[COLUMNS];
    size_t n;
    struct plot_point *point = plot_thin(s, sorted, log, lo, hi, COLUMNS, &n);

    find_naive(s, log, lo, hi, COLUMNS, least, most);
    for (int k = 0; k < COLUMNS; k++) {
        double low = INFINITY, high = -INFINITY;

        for (size_t i = 0; i < n; i++) {
            int at = (int)((point[i].x - lo) / (hi - lo) * COLUMNS);

            /* where lines cross lo and hi is no point of the series */
            if ((at == COLUMNS ? at - 1 : at) != k || point[i].x == lo || point[i].x == hi)
                continue;
            low = fmin(low, point[i].y);
            high = fmax(high, point[i].y);
        }
        CHECK(low == least[k] || isinf(least[k]));
        CHECK(high == most[k] || isinf(most[k]));
    }
    if (sorted)
        CHECK(n <= s->n + 2);
    free(point);
}

TEST(every_column_keeps_its_ends)
{
    static const size_t sizes[] = {1, 2, 30, 100, 5000, 40000};

    for (size_t k = 0; k < 4 * MEM_COUNT(sizes); k++) {
        size_t n = sizes[k / 4];
        bool shuffled = k % 2, gaps = k / 2 % 2;
        double *x = mem_new(n, sizeof *x), *y = mem_new(n, sizeof *y), top = (double)n;
        struct plot_series s = {.x = x, .y = y, .n = n};

        for (size_t i = 0; i < n; i++) {
            x[i] = (double)i + 0.5;
            y[i] = draw_unit() - 0.2;
            if (gaps && draw_unit() < 0.01)
                y[i] = draw_unit() < 0.5 ? NAN : INFINITY;
        }
        for (size_t i = 0; shuffled && i + 1 < n; i++) {
            size_t other = i + (size_t)(draw_unit() * (double)(n - i));
            double swap = x[i];

            x[i] = x[other];
            x[other] = swap;
        }
        if (n > 2)
            CHECK(plot_extent(&s, false).sorted == !shuffled);
        for (int log = 0; log < 2; log++) {
            if (!shuffled)
                check_columns(&s, true, log, 0, top);
            check_columns(&s, false, log, 0, top);
            if (!shuffled)
                check_columns(&s, true, log, 0.31 * top, 0.62 * top);
            check_columns(&s, false, log, 0.31 * top, 0.62 * top);
        }
        free(x);
        free(y);
    }
}

/* Both ways of thinning give the same points where x rises. */
TEST(sorted_or_not_is_the_same)
{
    size_t n = 3000, count[2];
    double *x = mem_new(n, sizeof *x), *y = mem_new(n, sizeof *y);
    struct plot_series s = {.x = x, .y = y, .n = n};
    struct plot_point *point[2];

    for (size_t i = 0; i < n; i++) {
        x[i] = (double)(i / 3);
        y[i] = draw_unit() < 0.05 ? NAN : draw_unit();
    }
    for (int k = 0; k < 2; k++)
        point[k] = plot_thin(&s, k == 0, false, 100.5, 777.25, 64, &count[k]);
    CHECK_INT(count[0], count[1]);
    for (size_t i = 0; i < count[0] && i < count[1]; i++)
        CHECK(point[0][i].x == point[1][i].x && point[0][i].y == point[1][i].y &&
              point[0][i].gap == point[1][i].gap);
    for (int k = 0; k < 2; k++)
        free(point[k]);
    free(x);
    free(y);
}

/* Few points are kept as they are, and a line leads on except over a gap. */
TEST(gaps_are_kept)
{
    double x[9] = {0, 1, 2, 3, 4, 5, 6, NAN, 8}, y[9] = {NAN, 1, 2, NAN, 4, 5, -INFINITY, 7, 8};
    struct plot_series s = {.x = x, .y = y, .n = 9};
    static const double want[][3] = {{1, 1, 1}, {2, 2, 0}, {4, 4, 1}, {5, 5, 0}, {8, 8, 1}};
    size_t n;
    struct plot_point *point = plot_thin(&s, false, false, 0, 8, 100, &n);

    REQUIRE(n == MEM_COUNT(want));
    for (size_t i = 0; i < n; i++)
        CHECK(point[i].x == want[i][0] && point[i].y == want[i][1] && point[i].gap == want[i][2]);
    free(point);
}

/* A window cuts lines where they cross it, on a logarithmic axis along its straight line. */
TEST(a_window_cuts_lines)
{
    double x[4] = {0, 10, 20, 30}, y[4] = {1, 100, 1, 100};
    struct plot_series s = {.x = x, .y = y, .n = 4};

    for (int way = 0; way < 4; way++) {
        bool log = way % 2, sorted = way / 2;
        size_t n;
        struct plot_point *point = plot_thin(&s, sorted, log, 5, 15, 10, &n);

        REQUIRE(n == 3);
        CHECK(point[0].x == 5 && point[0].gap && point[1].x == 10 && !point[1].gap);
        CHECK(point[2].x == 15 && !point[2].gap && point[1].y == 100);
        CHECK_NEAR(point[0].y, log ? 10 : 50.5, 1e-9);
        CHECK_NEAR(point[2].y, log ? 10 : 50.5, 1e-9);
        free(point);
        point = plot_thin(&s, sorted, log, 12, 14, 10, &n); /* no point, but a line */
        REQUIRE(n == 2);
        CHECK(point[0].gap && !point[1].gap);
        free(point);
    }
}

/* One step of a million, at every level: its column reaches the top, its neighbours do not. */
TEST(a_spike_in_a_million)
{
    size_t n = 1000000, at = 654321;
    double *x = mem_new(n, sizeof *x), *y = mem_new(n, sizeof *y);
    struct plot_series s = {.label = "loss", .x = x, .y = y, .n = n};
    struct plot p = {.series = &s, .count = 1, .columns = 80, .rows = 12, .whole_x = true};
    static const char *const names[] = {"spike-braille", "spike-ascii", "spike-block"};

    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i;
        y[i] = 0.3 + 0.05 * draw_unit();
    }
    y[at] = 1;
    for (int level = 0; level < 3; level++) {
        p.level = (enum plot_level)level;
        check(names[level], &p);
    }
    free(x);
    free(y);
}

TEST(smoothing_by_hand)
{
    double y[5] = {2, 4, NAN, 8, 1}, out[5];
    struct plot_series s = {.y = y, .n = 5};

    plot_smooth(&s, 0.5, out);
    CHECK_NEAR(out[0], 2, 0);
    CHECK_NEAR(out[1], (0.5 * 2 + 4) / 1.5, 1e-15);
    CHECK(isnan(out[2]));
    CHECK_NEAR(out[3], (0.25 * 2 + 0.5 * 4 + 8) / 1.75, 1e-15);
    CHECK_NEAR(out[4], (0.125 * 2 + 0.25 * 4 + 0.5 * 8 + 1) / 1.875, 1e-15);
    plot_smooth(&s, 0, out);
    CHECK(out[0] == 2 && out[1] == 4 && out[3] == 8 && out[4] == 1);
    plot_smooth(&s, 1, out);
    CHECK_NEAR(out[4], 3.75, 1e-15);
    plot_smooth(&s, 0.5, y); /* into itself */
    CHECK_NEAR(y[4], 6.25 / 1.875, 1e-15);
    CHECK(plot_mean_weight(1) == 0 && plot_mean_weight(0) == 0);
    CHECK_NEAR(plot_mean_weight(9), 0.8, 1e-15);
}

/* TensorBoard's own recurrence, whose correction is a power. */
TEST(smoothing_as_tensorboard_does)
{
    enum { N = 5000 };
    static double y[N], out[N];
    struct plot_series s = {.y = y, .n = N};
    static const double weights[] = {0.1, 0.6, 0.9, 0.999};

    for (size_t i = 0; i < N; i++)
        y[i] = draw_unit() < 0.1 ? NAN : draw_unit() * 3 - 1;
    for (size_t k = 0; k < MEM_COUNT(weights); k++) {
        double last = 0, values = 0;

        plot_smooth(&s, weights[k], out);
        for (size_t i = 0; i < N; i++) {
            if (!isfinite(y[i])) {
                CHECK(isnan(out[i]));
                continue;
            }
            last = last * weights[k] + (1 - weights[k]) * y[i];
            values++;
            if (!(fabs(out[i] - last / (1 - pow(weights[k], values))) < 1e-12)) {
                TEST_FAILED("weight %g, point %zu", weights[k], i);
                return;
            }
        }
    }
}

TEST(a_constant_stays_one)
{
    enum { N = 10000 };
    static double y[N], out[N];
    struct plot_series s = {.y = y, .n = N};

    for (double value = 0.1; value < 1e6; value *= 7.3) {
        for (size_t i = 0; i < N; i++)
            y[i] = value;
        plot_smooth(&s, 0.97, out);
        for (size_t i = 0; i < N; i++)
            REQUIRE(out[i] == value);
    }
}

/* Over all points: how much longer the run is does not change what has been, and noise of every step
 * is gone from the picture, which the ends of each column would have kept. */
TEST(smoothing_comes_before_thinning)
{
    enum { N = 200000 };
    static double x[N], y[N], out[N], half[N / 2];
    struct plot_series s = {.label = "s", .x = x, .y = y, .n = N};
    struct plot_series lines[2] = {s, {.label = "whole", .x = x, .y = out, .n = N}};
    struct plot p = {.series = lines, .count = 1, .columns = 70, .rows = 12};
    struct plot_view v;
    double rough = 0, smooth = 0;

    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i;
        y[i] = i % 2 ? 1 : 0;
    }
    plot_smooth(&s, 0.995, out);
    s.n = N / 2;
    plot_smooth(&s, 0.995, half);
    for (size_t i = 0; i < N / 2; i++)
        REQUIRE(half[i] == out[i]);
    for (int k = 0; k < 2; k++) {
        p.series = &lines[k];
        REQUIRE(plot_look(&p, 140, &v));
        for (size_t i = 20; i < v.curve[0].n; i++) {
            double *most = k ? &smooth : &rough;
            double by = fabs(v.curve[0].point[i].y - v.curve[0].point[i - 1].y) * v.y.length;

            *most = fmax(*most, by);
        }
        plot_view_free(&v);
    }
    CHECK(rough == 1);
    CHECK(smooth < 0.01);
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The least and most of all y by a plain loop. */
static double plain_pass(const struct plot_series *s, int count)
{
    double lo = INFINITY, hi = -INFINITY;

    for (int k = 0; k < count; k++) {
        for (size_t i = 0; i < s[k].n; i++) {
            lo = s[k].y[i] < lo ? s[k].y[i] : lo;
            hi = s[k].y[i] > hi ? s[k].y[i] : hi;
        }
    }
    return hi - lo;
}

/* 20 series of 100,000 points on a screen of 160x45 cost a few passes over them. */
TEST(a_redraw_costs_a_few_passes)
{
    enum { SERIES = 20, N = 100000, TRIES = 12 };
    struct plot_series s[SERIES];
    struct plot_cell *cells = mem_new(160 * 45, sizeof *cells);
    double draw = INFINITY, plain = INFINITY, sum = 0;

    for (int k = 0; k < SERIES; k++) {
        double *x = mem_new(N, sizeof *x), *y = mem_new(N, sizeof *y);

        for (size_t i = 0; i < N; i++) {
            x[i] = (double)i;
            y[i] = 2.3 * exp(-(double)i / (20000 + 3000 * k)) + 0.3 * draw_unit();
        }
        s[k] = (struct plot_series){.label = "series", .x = x, .y = y, .n = N, .colour = k};
    }
    for (int log = 0; log < 2; log++) {
        struct plot p = {.series = s,
                         .count = SERIES,
                         .values = true,
                         .cursor = true,
                         .cursor_x = 50000,
                         .front = 3,
                         .log_y = log,
                         .columns = 160,
                         .rows = 45};

        draw = INFINITY;
        for (int i = 0; i < TRIES; i++) {
            double from = cpu_seconds(), between;

            plot_draw(&p, cells);
            between = cpu_seconds();
            sum += plain_pass(s, SERIES);
            draw = fmin(draw, between - from);
            plain = fmin(plain, cpu_seconds() - between);
        }
        printf("%s y: a redraw takes %.1f ms, a pass %.1f ms\n", log ? "logarithmic" : "linear",
               1e3 * draw, 1e3 * plain);
        CHECK(sum > 0);
        CHECK(draw < 8 * plain); /* 2.5 where memory is slow, 6 where it is fast */
    }
    for (int k = 0; k < SERIES; k++) {
        free((double *)s[k].x);
        free((double *)s[k].y);
    }
    free(cells);
}
