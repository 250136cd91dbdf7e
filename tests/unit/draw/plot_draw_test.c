#include "tests/test.h"

#include "base/mem.h"
#include "draw/figure.h"
#include "draw/plot/plot_int.h"
#include "draw/ink/words.h"
#include "tests/unit/draw/plot_frame.h"

#include <time.h>

#define N 10
static double train_x[N], train_y[N], test_x[N], test_y[N];

/* Losses of ten epochs, the training ones half an epoch earlier. */
static struct plot losses(struct plot_series s[2])
{
    for (int i = 0; i < N; i++) {
        train_x[i] = i + 0.5;
        train_y[i] = 1.0 / (i + 1) + 0.2;
        test_x[i] = i + 1;
        test_y[i] = 0.8 / (i + 1) + 0.3;
    }
    s[0] = (struct plot_series){.label = "train", .x = train_x, .y = train_y, .n = N};
    s[1] = (struct plot_series){.label = "test", .x = test_x, .y = test_y, .n = N, .colour = 1};
    return (struct plot){.title = "loss",
                         .x_label = "epoch",
                         .series = s,
                         .count = 2,
                         .whole_x = true,
                         .columns = 60,
                         .rows = 14};
}

static void plot_svg(const struct plot *p, double width, double height, struct text *t)
{
    const struct figure_panel panel = {.plot = p};

    figure_svg(&(struct figure){&panel, 1, width, height, false}, t);
}

TEST(two_curves)
{
    struct plot_series s[2];
    struct plot p = losses(s);

    check("two", &p);
}

TEST(ascii)
{
    struct plot_series s[2];
    struct plot p = losses(s);

    p.level = PLOT_ASCII;
    check("ascii", &p);
}

TEST(dashed)
{
    struct plot_series s[2];
    struct plot p = losses(s);

    s[0].dashed = true;
    check("dashed", &p);
    p.level = PLOT_ASCII;
    check("dashed-ascii", &p);
}

/* A run of one epoch beside another one that began as well: its mark is all there is of it. */
TEST(a_curve_of_one_point_is_not_hidden)
{
    double xs[] = {1, 2, 3}, ys[] = {0.5, 0.7, 0.8};
    struct plot_series s[2] = {{.label = "a", .x = xs, .y = ys, .n = 1},
                               {"b", xs, ys, 3, 1, false, PLOT_THICK, NULL}};
    struct plot p = {.series = s, .count = 2, .columns = 40, .rows = 10, .whole_x = true};

    for (int front = 0; front <= 2; front++) {
        struct text t = {0};

        p.front = front;
        plot_text(&p, false, &t);
        CHECK_HAS(strchr(text_str(&t), '\n'), "●"); /* below the legend */
        text_free(&t);
    }
}

#define TWELVE 12

/* They differ by less than a cell is high: whatever is drawn last lies over the others. */
TEST(each_of_many_curves_keeps_a_mark_where_they_run_together)
{
    double xs[N], ys[TWELVE][N];
    struct plot_series s[TWELVE] = {{0}};
    struct plot p = {.series = s, .count = TWELVE, .columns = 40, .rows = 9, .whole_x = true};

    for (int k = 0; k < TWELVE; k++) {
        for (int i = 0; i < N; i++) {
            xs[i] = i + 1;
            ys[k][i] = 1.0 / (i + 1) + 0.001 * k;
        }
        s[k] = (struct plot_series){.x = xs, .y = ys[k], .n = N, .colour = k};
    }
    for (int way = 0; way < 3 * 2 * 2; way++) {
        struct text t = {0};

        p.level = (enum plot_level[]){PLOT_BRAILLE, PLOT_ASCII, PLOT_BLOCK}[way % 3];
        p.front = way / 3 % 2 ? 5 : 0;
        for (int k = 0; k < TWELVE; k++)
            s[k].weight = way / 6 ? PLOT_THIN : PLOT_NORMAL;
        plot_text(&p, false, &t);
        for (int k = 0; k < TWELVE; k++) {
            char mark[5];

            words_code(mark, plot_mark(k, p.level));
            if (!strstr(text_str(&t), mark))
                TEST_FAILED("no %s, way %d:\n%s", mark, way, text_str(&t));
        }
        text_free(&t);
    }
}

TEST(logarithmic)
{
    struct plot_series s[2];
    struct plot p = losses(s);

    for (int i = 0; i < N; i++)
        train_y[i] = pow(10, -i);
    p.log_y = true;
    p.count = 1;
    check("log", &p);
    train_y[4] = 0; /* has no logarithm: a gap */
    train_y[7] = -1;
    check("log-gap", &p);
}

TEST(small_frames)
{
    struct plot_series s[2];
    struct plot p = losses(s);
    static const int sizes[][2] = {{16, 5}, {20, 6}, {24, 8}, {40, 10}};

    for (size_t i = 0; i < MEM_COUNT(sizes); i++) {
        char name[32];

        p.columns = sizes[i][0];
        p.rows = sizes[i][1];
        snprintf(name, sizeof name, "size-%dx%d", p.columns, p.rows);
        check(name, &p);
    }
}

TEST(too_small_is_blank)
{
    struct plot_series s[2];
    struct plot p = losses(s);
    struct text t = {0};

    p.columns = p.rows = 1;
    plot_text(&p, true, &t);
    CHECK_STR(text_str(&t), "\n");
    text_clear(&t);
    p.columns = 15;
    p.rows = 4;
    plot_text(&p, true, &t);
    CHECK_STR(text_str(&t), "\n\n\n\n");
    text_clear(&t);
    p.columns = 80;
    plot_text(&p, false, &t);
    CHECK_STR(text_str(&t), "\n\n\n\n");
    text_clear(&t);
    p.columns = 0;
    plot_text(&p, false, &t);
    CHECK_STR(text_str(&t), "");
    text_free(&t);
}

TEST(gaps)
{
    struct plot_series s[2];
    struct plot p = losses(s);

    train_y[3] = NAN;
    train_y[6] = INFINITY;
    train_y[8] = -INFINITY; /* leaves the last point alone: it gets a mark */
    test_x[5] = NAN;
    check("gaps", &p);
    p.level = PLOT_ASCII;
    check("gaps-ascii", &p);
}

TEST(nothing_to_draw)
{
    struct plot_series s[2];
    struct plot p = losses(s);

    s[0].n = s[1].n = 0;
    check("empty", &p);
    s[0].n = s[1].n = 3;
    for (int i = 0; i < 3; i++)
        train_y[i] = test_y[i] = NAN;
    check("empty", &p);
    p.count = 0;
    check("no-series", &p);
}

TEST(one_point)
{
    struct plot_series s[2];
    struct plot p = losses(s);

    s[0].n = 1;
    p.count = 1;
    check("point", &p);
    s[1].n = 1;
    p.count = 2;
    check("points", &p);
}

TEST(constant)
{
    struct plot_series s[2];
    struct plot p = losses(s);

    p.count = 1;
    for (int i = 0; i < N; i++)
        train_y[i] = 2.303;
    check("constant", &p);
    for (int i = 0; i < N; i++)
        train_y[i] = 0;
    check("zero", &p);
}

TEST(extremes)
{
    static const double values[][4] = {
        {-1e308, 1e308, 5, 6},
        {1e-310, 2e-310, 3e-310, 0},
        {1e15, 1e15 + 1, 1e15 + 2, 1e15},
        {1e-300, 1e300, 1, 1},
        {-5, -4, -3, -2},
        {0, 1e-320, 0, 0},
        {NAN, NAN, INFINITY, -INFINITY},
        {1e299, -1e299, 0, 1},
    };
    double x[4] = {1, 2, 3, 4};

    for (size_t i = 0; i < MEM_COUNT(values); i++) {
        for (int log = 0; log < 2; log++) {
            for (int swap = 0; swap < 2; swap++) {
                struct plot_series s = {
                    "s", swap ? values[i] : x, swap ? x : values[i], 4, 0, false, PLOT_NORMAL,
                    NULL};
                struct plot p = {.series = &s, .count = 1, .columns = 40, .rows = 10, .log_y = log};
                struct text t = {0};
                int lines = 0;

                plot_text(&p, false, &t);
                for (const char *c = text_str(&t); *c; c++)
                    lines += *c == '\n';
                CHECK_INT(lines, 10);
                text_clear(&t);
                plot_svg(&p, 100, 60, &t);
                CHECK(!strstr(text_str(&t), "nan") && !strstr(text_str(&t), "inf"));
                text_free(&t);
            }
        }
    }
}

/* A spike of one point among 200,000 must be seen whatever the width. */
TEST(spikes_survive_thinning)
{
    size_t n = 200000;
    double *x = mem_new(n, sizeof *x), *y = mem_new(n, sizeof *y);
    struct plot_series s = {.label = "s", .x = x, .y = y, .n = n};
    struct plot p = {.series = &s, .count = 1, .columns = 40, .rows = 12};
    struct plot_point *points;
    struct plot_view v;
    struct text t = {0};
    double low = 2, high = -1;
    size_t count;

    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i;
        y[i] = 0.5 + 0.01 * (double)(i % 3);
    }
    y[77777] = 1;
    y[123456] = 0;
    check("spikes", &p);
    REQUIRE(plot_look(&p, 100, &v));
    points = v.curve[0].point;
    count = v.curve[0].n;
    CHECK(count <= 4 * 101);
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, points[i].y);
        high = fmax(high, points[i].y);
        CHECK(i == 0 || points[i].x >= points[i - 1].x);
        CHECK(points[i].gap == (i == 0));
    }
    CHECK(low == 0 && high == 1);
    plot_svg(&p, 120, 80, &t);
    CHECK(t.n < 100000);
    plot_view_free(&v);
    text_free(&t);
    free(x);
    free(y);
}

TEST(long_legends_wrap)
{
    struct plot_series s[8];
    struct plot p = losses(s);

    for (int i = 2; i < 8; i++) {
        s[i] = s[1];
        s[i].colour = i;
        s[i].label = "run-with-a-long-name-7f3a";
    }
    p.count = 8;
    p.rows = 20;
    check("legend", &p);
}

/* Asked before names are chosen: whether none of them would be cut or left out. */
TEST(a_legend_tells_before_whether_it_fits)
{
    struct plot_series s[8];
    struct plot p = losses(s);
    int fits = 0, sizes = 0;

    for (int i = 0; i < 8; i++) {
        s[i] = s[i % 2];
        s[i].colour = i;
        s[i].label = i % 3 ? "a-name-7f3a" : "a-longer-name-of-a-run-90c2";
    }
    p.count = 8;
    for (p.columns = 20; p.columns < 340; p.columns += 7)
        for (p.rows = PLOT_LEAST_ROWS; p.rows < 30; p.rows++) {
            struct text t = {0};
            int whole = 0;

            p.values = p.rows % 2;
            plot_text(&p, false, &t);
            for (const char *at = text_str(&t); *at; at++)
                for (int i = 0; i < 2; i++)
                    whole += !strncmp(at, s[i].label, strlen(s[i].label));
            CHECK_INT(plot_legend_fits(&p), whole == 8);
            fits += whole == 8;
            sizes++;
            text_free(&t);
        }
    CHECK(fits > sizes / 4 && fits < sizes * 3 / 4);
}

/* What the names have in common stands at the title; what tells them apart is never cut out. */
TEST(legends_tell_settings_apart)
{
    static const char *const labels[] = {"lr=0.002 seed=0 train", "lr=0.002 seed=0 test",
                                         "lr=0.004 seed=0 train", "lr=0.004 seed=0 test",
                                         "lr=0.002 seed=1 test",  "lr=0.004 seed=1 test",
                                         "lr=0.002 seed=2 test",  "lr=0.004 seed=2 test"};
    struct plot_series s[8];
    struct plot p = losses(s);
    struct text t = {0};

    for (int i = 0; i < 8; i++) {
        s[i] = s[i % 2];
        s[i].colour = i;
        s[i].label = labels[i];
    }
    p.count = 8;
    p.title = "loss";
    p.columns = 80;
    p.rows = 12;
    plot_text(&p, false, &t);
    CHECK_HAS(text_str(&t), "loss by lr, seed\n");
    CHECK_HAS(text_str(&t), " 0.002 0 train ");
    CHECK_HAS(text_str(&t), " 0.004 2 test\n");
    CHECK(!strstr(text_str(&t), "\xe2\x80\xa6")); /* an ellipsis */
    s[7].label = "another"; /* not all are settings, and there is no room: fewer, not alike */
    p.columns = 40;
    text_clear(&t);
    plot_text(&p, false, &t);
    CHECK_HAS(text_str(&t), " lr=0.002\xe2\x80\xa6"
                            "0 train\n");
    CHECK_HAS(text_str(&t), " +5\n");
    text_free(&t);
}

/* A sweep's curves: what is asked of each name must not take all names. */
TEST(a_legend_of_thousands_is_made_at_once)
{
    static char label[20000][48];
    struct plot_series *s = mem_new(20000, sizeof *s);
    struct plot p = losses(s);
    struct text t = {0};
    clock_t start;

    for (int i = 0; i < 20000; i++) {
        s[i] = s[i % 2];
        snprintf(label[i], sizeof label[i], "a name that is cut %05d in its middle", i);
        s[i].label = label[i];
    }
    p.count = 20000;
    p.columns = 80;
    start = clock();
    plot_text(&p, false, &t);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    CHECK_HAS(text_str(&t),
              "a name that is cut 00000 in its middle"); /* cut, they would look alike */
    CHECK_HAS(text_str(&t), " +19997\n");
    text_free(&t);
    free(s);
}

TEST(hostile_labels)
{
    struct plot_series s[2];
    struct plot p = losses(s);
    struct text t = {0};

    s[0].label = "\033[31mred\n\x80\xff";
    s[1].label =
        "gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2\xe2\x80\xae"; /* a wide one, a direction override */
    p.title = "a\tb";
    plot_text(&p, false, &t);
    for (const char *c = text_str(&t); *c; c++)
        CHECK((unsigned char)*c >= 0x20 || *c == '\n');
    CHECK_HAS(text_str(&t), "gr\xc3\xbc\xc3\x9f ??");
    CHECK_HAS(text_str(&t), "?[31mred???");
    text_free(&t);
}

TEST(colours)
{
    struct plot_series s[2];
    struct plot p = losses(s);
    struct text plain = {0}, coloured = {0}, stripped = {0};

    plot_text(&p, false, &plain);
    plot_text(&p, true, &coloured);
    CHECK_HAS(text_str(&coloured), "\033[36m");
    CHECK_HAS(text_str(&coloured), "\033[35m");
    for (const char *c = text_str(&coloured); *c; c++) {
        if (*c == '\033')
            c = strchr(c, 'm');
        else
            text_add_n(&stripped, c, 1);
    }
    CHECK_STR(text_str(&stripped), text_str(&plain));
    text_free(&plain);
    text_free(&coloured);
    text_free(&stripped);
}

/* Of random ranges, as they are drawn: at every height from eight rows on. */
TEST(four_to_six_ticks_are_drawn)
{
    static const int heights[] = {8, 9, 10, 12, 15, 20, 32};
    uint64_t state = 7;

    for (size_t h = 0; h < MEM_COUNT(heights); h++) {
        for (int i = 0; i < 4000; i++) {
            double at[2], x[2] = {0, 10}, y[2];
            struct plot_series s = {.label = "s", .x = x, .y = y, .n = 2};
            struct plot p = {.series = &s,
                             .count = 1,
                             .columns = 60,
                             .rows = heights[h],
                             .log_y = i % 4 == 3,
                             .whole_x = true};
            struct plot_cell cells[60 * 32];
            int n = 0;

            for (int k = 0; k < 2; k++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                at[k] = (double)(state >> 33) / 2147483648.0;
            }
            y[0] = p.log_y ? pow(10, -4 * at[0]) : at[0];
            y[1] = y[0] + at[1] * (p.log_y ? 3 * y[0] + at[1] : 1 - at[0]);
            if (y[1] - y[0] < 0.005)
                continue;
            plot_draw(&p, cells);
            for (int k = 0; k < 60 * p.rows; k++)
                n += cells[k].code == 0x2524;
            if (n < 4 || n > 6) {
                TEST_FAILED("%d ticks in %d rows from %.6g to %.6g%s", n, p.rows, y[0], y[1],
                            p.log_y ? ", log" : "");
                return;
            }
        }
    }
}

/* Every label stands on the row to which its value is drawn. */
TEST(ticks_stand_on_their_rows)
{
    for (int rows = 6; rows <= 100; rows += 7) {
        double y[2] = {0.2, 1.37}, x[2] = {0, 1};
        struct plot_series s = {.label = "s", .x = x, .y = y, .n = 2};
        struct plot p = {.series = &s, .count = 1, .columns = 300, .rows = rows};
        struct plot_canvas canvas = {.p = &p};
        struct plot_axis ay;
        struct plot_view v;
        struct plot_cell *cells = mem_new((size_t)rows * 300, sizeof *cells);

        REQUIRE(plot_look(&p, 600, &v) && plot_lay_out(&canvas, &v));
        ay = v.y;
        plot_view_free(&v);
        CHECK(ay.ticks <= 6 && (ay.ticks >= 4 || rows < 8));
        for (int i = 0; i < ay.ticks; i++) {
            double flat[2] = {ay.tick[i], ay.tick[i]};
            struct plot_series two[2] = {{.label = "a", .x = x, .y = y, .n = 2},
                                         {.label = "b", .x = x, .y = flat, .n = 2, .colour = 1}};
            struct plot q = p;
            int label_row = -1, line_row = -1;

            if (ay.tick[i] < y[0] || ay.tick[i] > y[1]) /* such a line is another range */
                continue;
            q.series = two;
            q.count = 2;
            plot_draw(&q, cells);
            for (int r = 1; r < rows - 2; r++) {
                char row[8] = "";

                for (int c = 0; c < 7 && cells[r * 300 + c].code != 0x2502; c++)
                    row[c] = (char)(cells[r * 300 + c].code < 128 ? cells[r * 300 + c].code : 0);
                if (!strcmp(row, ay.label[i]))
                    label_row = r;
                if (cells[r * 300 + 299].colour == 1)
                    line_row = r;
            }
            CHECK(label_row >= 0);
            CHECK_INT(label_row, line_row);
        }
        free(cells);
    }
}

/* A thick pen is wider than the cell of the mark. */
TEST(a_lone_point_is_its_mark_alone)
{
    struct plot_cell cells[40 * 12];

    for (int at = 0; at < 60; at++) {
        double x[3] = {0, at / 60.0, 1}, y[3] = {0, (at * 7 % 60) / 60.0, 1};
        struct plot_series s[2] = {
            {.x = x, .y = y, .n = 3, .weight = PLOT_THIN},
            {.x = x + 1, .y = y + 1, .n = 1, .weight = PLOT_THICK, .colour = 1}};
        struct plot p = {.series = s, .count = 2, .columns = 40, .rows = 12};
        int own = 0;

        plot_draw(&p, cells);
        for (int i = 0; i < 40 * 12; i++)
            own += cells[i].colour == 1;
        CHECK_INT(own, 1);
    }
}

TEST(parts_of_one_are_labelled_per_cent)
{
    double x[2] = {0, 1}, y[2] = {0.8125, 0.9};
    struct plot_series s = {.label = "s", .x = x, .y = y, .n = 2};
    struct plot p = {
        .series = &s, .count = 1, .per_cent = true, .values = true, .columns = 40, .rows = 12};
    struct text t = {0};

    plot_text(&p, false, &t);
    CHECK_HAS(t.s, "── s 90.00");
    CHECK_HAS(t.s, "90┤");
    CHECK_HAS(t.s, "82┤");
    text_free(&t);
}

/* The axis has its name, and no tick loses its number to it. */
TEST(name_of_the_x_axis)
{
    static const char *const names[] = {"epoch", "model-images"};
    double x[2] = {0, 10}, y[2] = {0, 1};
    struct plot_series s = {.label = "s", .x = x, .y = y, .n = 2};
    struct plot p = {.series = &s, .count = 1, .whole_x = true, .rows = 8};

    for (int i = 0; i < 2; i++) {
        p.x_label = names[i];
        for (p.columns = 20; p.columns < 160; p.columns++) {
            struct text t = {0};
            char *last;

            plot_text(&p, false, &t);
            t.s[t.n - 1] = 0;
            last = strrchr(t.s, '\n') + 1;
            CHECK_HAS(last, "10");
            if (p.columns >= (i ? 70 : 35)) {
                CHECK_HAS(t.s, names[i]);
                for (int tick = 0; tick <= 10; tick += 2) {
                    char number[16];

                    snprintf(number, sizeof number, " %d", tick);
                    CHECK_HAS(last, number);
                }
            }
            text_free(&t);
        }
    }
}

/* "0 time 5 s" would be read as so many times. */
TEST(name_of_the_x_axis_keeps_off_the_first_label)
{
    double x[2] = {0, 22}, y[2] = {0, 1};
    struct plot_series s = {.label = "s", .x = x, .y = y, .n = 2};
    struct plot p = {
        .series = &s, .count = 1, .x_label = "time", .x_unit = PLOT_TIME, .rows = 8, .columns = 36};

    for (; p.columns < 42; p.columns++) {
        struct text t = {0};

        plot_text(&p, false, &t);
        CHECK_HAS(t.s, "time");
        CHECK(!strstr(t.s, "0 time"));
        text_free(&t);
    }
}

TEST(large_frame)
{
    struct plot_series s[2];
    struct plot p = losses(s);
    struct text t = {0};
    int lines = 0, widest = 0;

    p.columns = 300;
    p.rows = 100;
    plot_text(&p, false, &t);
    for (char *rest = t.s, *line; (line = strsep(&rest, "\n")) && rest; lines++)
        if (text_width(line) > widest)
            widest = text_width(line);
    CHECK_INT(lines, 100);
    CHECK_INT(widest, 300);
    text_free(&t);
}
