/* Frames of what screens show: levels, weights, the front curve, long legends, windows, times. */
#include "draw/plot/plot_int.h"
#include "tests/unit/draw/plot_frame.h"

#define N      200
#define CURVES 24
static double x[N], y[CURVES][N];

/* An ensemble of four, its mean and the averaged model. */
static struct plot ensemble(struct plot_series s[6])
{
    static const char *const names[] = {"member 0", "member 1", "member 2", "member 3"};

    for (int i = 0; i < N; i++) {
        y[4][i] = 0;
        x[i] = i + 1;
        for (int k = 0; k < 4; k++) {
            y[k][i] = 0.86 + 0.01 * k - (0.3 - 0.04 * k) * exp(-i / (18. + 9 * k)) +
                      0.004 * sin(i * (0.7 + 0.13 * k));
            y[4][i] += y[k][i] / 4;
        }
        y[5][i] = y[4][i] + 0.06 * (1 - exp(-i / 30.));
    }
    for (int k = 0; k < 4; k++)
        s[k] = (struct plot_series){names[k], x, y[k], N, k, false, PLOT_THIN, NULL};
    s[4] = (struct plot_series){
        .label = "mean member", .x = x, .y = y[4], .n = N, .colour = 4, .dashed = true};
    s[5] = (struct plot_series){"ensemble", x, y[5], N, 5, false, PLOT_THICK, NULL};
    return (struct plot){.title = "test accuracy",
                         .x_label = "epoch",
                         .series = s,
                         .count = 6,
                         .whole_x = true,
                         .values = true,
                         .columns = 78,
                         .rows = 20};
}

TEST(levels)
{
    struct plot_series s[6];
    struct plot p = ensemble(s);

    check("ensemble", &p);
    p.level = PLOT_BLOCK;
    check("ensemble-block", &p);
    p.level = PLOT_ASCII;
    check("ensemble-ascii", &p);
}

/* Characters of a level, and no others, in the place of curves. */
TEST(levels_keep_to_their_characters)
{
    struct plot_series s[6];
    struct plot p = ensemble(s);
    struct plot_cell *cells = mem_new((size_t)(p.rows * p.columns), sizeof *cells);

    for (int level = 0; level < 3; level++) {
        int lines = 0;

        p.level = (enum plot_level)level;
        plot_draw(&p, cells);
        for (int i = 0; i < p.rows * p.columns; i++) {
            uint32_t code = cells[i].code;
            bool braille = code >= 0x2800 && code < 0x2900;
            bool block = code >= 0x2580 && code < 0x25a0;

            lines += braille || block;
            CHECK(!braille || p.level == PLOT_BRAILLE);
            CHECK(!block || p.level == PLOT_BLOCK);
            CHECK(code < 0x7f || p.level != PLOT_ASCII);
            CHECK(cells[i].colour >= PLOT_CURSOR && cells[i].colour < PLOT_ROLES);
        }
        CHECK(p.level == PLOT_ASCII || lines > 60);
    }
    free(cells);
}

/* A thick curve alone takes more cells' dots than a thin one, at every slope. */
TEST(thick_is_thicker)
{
    double a[2] = {0, 1}, flat[2] = {0.5, 0.5}, steep[2] = {0, 1};

    for (int slope = 0; slope < 2; slope++) {
        int dots[3] = {0};

        for (int w = 0; w < 3; w++) {
            struct plot_series s = {"s", a,     slope ? steep : flat, 2,
                                    0,   false, (enum plot_weight)w,  NULL};
            struct plot p = {.series = &s, .count = 1, .columns = 40, .rows = 20};
            struct plot_cell *cells = mem_new(800, sizeof *cells);

            plot_draw(&p, cells);
            for (int i = 0; i < 800; i++)
                if (cells[i].code >= 0x2800 && cells[i].code < 0x2900)
                    dots[w] += __builtin_popcount(cells[i].code & 0xff);
            free(cells);
        }
        CHECK_INT(dots[PLOT_THIN], dots[PLOT_NORMAL]);
        CHECK(dots[PLOT_THICK] > 1.8 * dots[PLOT_NORMAL]);
    }
}

/* Many curves at hardly any distance stay lines: no cell has dots of two of them. */
TEST(many_curves_do_not_fill_cells)
{
    static const double at[2] = {0, 1};
    double level[CURVES][2];
    struct plot_series s[CURVES];
    struct plot p = {.series = s, .count = CURVES, .columns = 60, .rows = 12};
    struct plot_cell *cells = mem_new(720, sizeof *cells);
    int lines = 0;

    for (int i = 0; i < CURVES; i++) {
        level[i][0] = level[i][1] = i;
        s[i] = (struct plot_series){NULL, at, level[i], 2, i, false, PLOT_THIN, NULL};
    }
    plot_draw(&p, cells);
    for (int i = 0; i < 720; i++) {
        int dots = cells[i].code >= 0x2800 && cells[i].code < 0x2900
                       ? __builtin_popcount(cells[i].code & 0xff)
                       : 0;

        CHECK(dots <= 2);
        lines += dots > 0;
    }
    CHECK(lines > 400);
    free(cells);
}

/* A curve whose only points are two lone ones, in corners of the place for curves. */
static void make_corners(struct plot_series *s)
{
    static const double at[3] = {1, 100, N}, low[3] = {0.6, NAN, 0.95};

    s->x = at;
    s->y = low;
    s->n = 3;
}

/* Where the front curve runs, nothing of another one is seen: the same dots as with hardly any other
 * curve, whichever is in front. */
TEST(the_front_one_hides_the_others)
{
    struct plot_series s[6], few[6];
    struct plot p = ensemble(s), q;
    size_t cells = (size_t)(p.rows * p.columns);
    struct plot_cell *all = mem_new(cells, sizeof *all), *alone = mem_new(cells, sizeof *alone);

    for (int k = 0; k < 5; k++) /* the same ranges with and without the others */
        for (int i = 0; i < N; i++)
            y[k][i] = fmin(fmax(y[k][i], 0.6), 0.95);
    y[5][0] = 0.6;
    y[5][N - 1] = 0.95;
    p.values = false;
    for (int level = 0; level < 3; level += 2) {
        for (p.front = 1; p.front <= 6; p.front++) {
            int same = 0, other = 0;

            p.level = (enum plot_level)level;
            memcpy(few, s, sizeof few);
            for (int k = 0; k < 6; k++)
                if (k != p.front - 1)
                    make_corners(&few[k]);
            q = p;
            q.series = few;
            plot_draw(&p, all);
            plot_draw(&q, alone);
            for (size_t i = (size_t)(3 * p.columns); i < cells; i++) {
                bool line = (alone[i].code >= 0x2800 && alone[i].code < 0x2900) ||
                            (alone[i].code >= 0x2580 && alone[i].code < 0x25a0);

                if (!line || alone[i].colour != p.front - 1)
                    continue;
                if (all[i].code == alone[i].code && all[i].colour == p.front - 1)
                    same++;
                else
                    other++; /* a mark of another curve */
            }
            CHECK(same > 30 && other < same / 3);
        }
    }
    p = ensemble(s);
    p.front = 1;
    check("front", &p);
    free(all);
    free(alone);
}

static struct plot many(struct plot_series s[CURVES], char names[CURVES][48], const char *name)
{
    for (int k = 0; k < CURVES; k++) {
        for (int i = 0; i < N; i++) {
            x[i] = i;
            y[k][i] = 0.5 + 0.02 * k + exp(-i / (10. + 2 * k));
        }
        snprintf(names[k], sizeof names[k], "%s-%02x", name, k);
        s[k] = (struct plot_series){.label = names[k], .x = x, .y = y[k], .n = N, .colour = k};
    }
    return (struct plot){.title = "loss",
                         .x_label = "step",
                         .series = s,
                         .count = 20,
                         .whole_x = true,
                         .values = true,
                         .columns = 160,
                         .rows = 45};
}

/* Without a colour: many end in the same cells. */
TEST(thin_curves_have_marks_on_their_way)
{
    struct plot_series s[CURVES];
    char names[CURVES][48];
    struct plot p = many(s, names, "run");
    struct plot_cell *cells = mem_new(78 * 18, sizeof *cells);

    p.count = 12;
    p.columns = 78;
    p.rows = 18;
    p.front = 1;
    for (int k = 0; k < 12; k++) {
        s[k].weight = k ? PLOT_THIN : PLOT_THICK;
        for (int i = 0; i < N; i++)
            y[k][i] = 0.05 * k * (1 - exp(-i / 60.)) * (1 - i / (N - 1.));
    }
    for (int level = 0; level < 3; level++) {
        p.level = (enum plot_level)level;
        plot_draw(&p, cells);
        for (int k = 1; k < 12; k++) {
            int marks = 0;

            for (int row = 6; row < 16; row++) /* below the legend */
                for (int column = 6; column < 70; column++)
                    marks += cells[row * 78 + column].code == plot_mark(k, p.level);
            if (marks < 1 || (marks > 6 && level != PLOT_ASCII))
                TEST_FAILED("level %d: curve %d has %d marks", level, k, marks);
        }
    }
    free(cells);
}

TEST(legends_of_twenty)
{
    struct plot_series s[CURVES];
    char names[CURVES][48];
    struct plot p = many(s, names, "2026-03-04-resnet18-fashion-lr");

    check("twenty-large", &p);
    p.columns = 78;
    p.rows = 20;
    check("twenty", &p);
    p.columns = 38;
    p.rows = 12;
    p.front = 17; /* it is named though others are not */
    check("twenty-small", &p);
    p.level = PLOT_ASCII;
    check("twenty-small-ascii", &p);
}

/* A flat curve at a tick's value runs through the row of its label, an upright one through the column
 * of its mark, at each level and on both kinds of axis. */
TEST(ticks_stand_where_their_values_are)
{
    enum { COLUMNS = 101, ROWS = 33 };
    struct plot_cell *cells = mem_new(COLUMNS * ROWS, sizeof *cells);

    for (int way = 0; way < 6; way++) {
        double ends_x[2] = {0, 87}, ends_y[2] = {0.013, 1.37}, at_x[2], at_y[2];
        struct plot_series s[3] = {{.label = "a", .x = ends_x, .y = ends_y, .n = 2},
                                   {.label = "b", .x = ends_x, .y = at_y, .n = 2, .colour = 1},
                                   {.label = "c", .x = at_x, .y = ends_y, .n = 2, .colour = 2}};
        struct plot p = {.series = s, .count = 3, .columns = COLUMNS, .rows = ROWS};
        struct plot_canvas canvas = {.p = &p};
        struct plot_view v;

        p.log_y = way % 2;
        p.level = (enum plot_level)(way / 2);
        memcpy(at_x, ends_x, sizeof at_x);
        memcpy(at_y, ends_y, sizeof at_y);
        REQUIRE(plot_look(&p, 2 * COLUMNS, &v) && plot_lay_out(&canvas, &v));
        CHECK(v.x.ticks >= 4 && v.x.ticks <= 6 && v.y.ticks >= 4 && v.y.ticks <= 6);
        for (int i = 0; i < v.x.ticks || i < v.y.ticks; i++) {
            int row = -1, column = -1, rows = 0, columns = 0, n = 0;

            at_y[0] = at_y[1] = v.y.tick[i < v.y.ticks ? i : 0];
            at_x[0] = at_x[1] = v.x.tick[i < v.x.ticks ? i : 0];
            plot_draw(&p, cells);
            /* the tick's row and column by where its label stands */
            for (int r = 1; r < ROWS - 2; r++) {
                struct text line = {0};

                for (int c = 0;
                     c < 12 && cells[r * COLUMNS + c].code < 0x7f &&
                     cells[r * COLUMNS + c].code != '+' && cells[r * COLUMNS + c].code != '|';
                     c++)
                    text_addf(&line, "%c",
                              cells[r * COLUMNS + c].code ? (int)cells[r * COLUMNS + c].code : ' ');
                if (line.n && !strcmp(text_trim(line.s), v.y.label[i < v.y.ticks ? i : 0]))
                    row = r;
                text_free(&line);
            }
            for (int c = 0; c < COLUMNS; c++) {
                uint32_t code = cells[(ROWS - 2) * COLUMNS + c].code;

                if ((code == 0x252c ||
                     (code == '+' && (n || cells[(ROWS - 2) * COLUMNS + c - 1].code != 0))) &&
                    n++ == (i < v.x.ticks ? i : 0))
                    column = c;
            }
            for (int c = 0; c < COLUMNS; c++)
                rows += row >= 0 && cells[row * COLUMNS + c].colour == 1;
            for (int r = 1; r < ROWS - 2; r++)
                columns += column >= 0 && cells[r * COLUMNS + column].colour == 2;
            CHECK(rows > COLUMNS / 2);
            CHECK(columns > ROWS / 2);
        }
        plot_view_free(&v);
    }
    free(cells);
}

/* However many and however long: names and counts stand above the axes, nothing beside the frame, and
 * what is not named is counted. */
TEST(legends_keep_off_the_curves)
{
    struct plot_series s[CURVES];
    char names[CURVES][48];

    for (int columns = PLOT_LEAST_COLUMNS; columns < 170; columns += 7) {
        for (int rows = PLOT_LEAST_ROWS; rows < 46; rows += 4) {
            for (int count = 1; count <= CURVES; count += 5) {
                struct plot p = many(s, names, count % 2 ? "a-very-long-name-of-a-run" : "run");
                struct plot_cell *cells;
                int axis = -1, first = rows, named = 0, left = 0;

                p.columns = columns;
                p.rows = rows;
                p.count = count;
                cells = mem_new((size_t)(rows * columns), sizeof *cells);
                plot_draw(&p, cells);
                for (int i = 0; i < rows * columns; i++) {
                    int row = i / columns;

                    if (cells[i].code == 0x2514)
                        axis = row;
                    if (axis < 0 && first == rows &&
                        (cells[i].code == 0x2502 || cells[i].code == 0x2524))
                        first = row;
                }
                CHECK_INT(axis, rows - 2);
                CHECK(first >= 1 && axis - first >= (rows - 3) / 2);
                for (int i = 0; i < first * columns; i++) {
                    named += i + 1 < first * columns && cells[i + 1].code == 0x2500 &&
                             cells[i].colour >= 0;
                    if (cells[i].code == '+')
                        for (int k = i + 1; k % columns && cells[k].code; k++)
                            left = 10 * left + (int)(cells[k].code - '0');
                }
                if (named)
                    CHECK_INT(named + left, count);
                CHECK(named || columns < 20);
                free(cells);
            }
        }
    }
}

/* 36 curves differ in colour or mark. */
TEST(colours_and_marks_tell_curves_apart)
{
    for (int level = 0; level < 2; level++)
        for (int a = 0; a < 36; a++)
            for (int b = 0; b < a; b++)
                CHECK((a % PLOT_ROLES != b % PLOT_ROLES && a >= 18) || /* without colours too */
                      plot_mark(a, (enum plot_level)level) != plot_mark(b, (enum plot_level)level));
}

TEST(windows)
{
    struct plot_series s[6];
    struct plot p = ensemble(s);

    p.x_lo = 40;
    p.x_hi = 90;
    check("window", &p);
    p.x_lo = 40.2; /* between two points: their line alone */
    p.x_hi = 40.7;
    p.count = 1;
    check("window-between", &p);
    p.x_lo = 1000;
    p.x_hi = 2000;
    check("window-empty", &p);
    p.x_lo = 90;
    p.x_hi = 40; /* none */
    p.count = 6;
    check("ensemble", &p);
}

TEST(times)
{
    double seconds[5] = {70, 140, 211, 280, 352}, acc[5] = {0.8, 0.85, 0.87, 0.88, 0.885};
    struct plot_series s = {.label = "test", .x = seconds, .y = acc, .n = 5};
    struct plot p = {.title = "accuracy",
                     .x_label = "seconds of training",
                     .series = &s,
                     .count = 1,
                     .x_unit = PLOT_TIME,
                     .cursor = true,
                     .cursor_x = 211,
                     .columns = 70,
                     .rows = 9};

    check("times", &p);
}

static void check_labels(double lo, double hi, enum plot_unit unit, const char *want)
{
    struct plot_axis a = {.lo = lo, .hi = hi};
    struct text got = {0};

    plot_label_axis(&a, false, unit, 6);
    for (int i = 0; i < a.ticks; i++)
        text_addf(&got, "%s%s", i ? ", " : "", a.label[i]);
    CHECK_STR(text_str(&got), want);
    text_free(&got);
}

TEST(labels_of_times)
{
    check_labels(0, 0.9, PLOT_TIME, "0, 0.2 s, 0.4 s, 0.6 s, 0.8 s");
    check_labels(0, 55, PLOT_TIME, "0, 15 s, 30 s, 45 s");
    check_labels(0, 100, PLOT_TIME, "0, 30 s, 60 s, 90 s");
    check_labels(0, 140, PLOT_TIME, "0, 0:30, 1:00, 1:30, 2:00");
    check_labels(0, 400, PLOT_TIME, "0, 2 min, 4 min, 6 min");
    check_labels(0, 1300, PLOT_TIME, "0, 5 min, 10 min, 15 min, 20 min");
    check_labels(0, 6000, PLOT_TIME, "0, 30 min, 60 min, 90 min");
    check_labels(0, 9100, PLOT_TIME, "0, 0:30 h, 1:00 h, 1:30 h, 2:00 h, 2:30 h");
    check_labels(0, 40000, PLOT_TIME, "0, 3 h, 6 h, 9 h");
    check_labels(0, 400000, PLOT_TIME, "0, 1 d, 2 d, 3 d, 4 d");
    check_labels(7300, 7340, PLOT_TIME, "2:01:40, 2:01:50, 2:02:00, 2:02:10, 2:02:20");
}

TEST(labels_of_counts)
{
    check_labels(0, 9000, PLOT_NUMBER, "0, 2000, 4000, 6000, 8000");
    check_labels(0, 23000, PLOT_NUMBER, "0, 5k, 10k, 15k, 20k");
    check_labels(0, 2.4e6, PLOT_NUMBER, "0, 0.5M, 1.0M, 1.5M, 2.0M");
    check_labels(0, 5e9, PLOT_NUMBER, "0, 1G, 2G, 3G, 4G, 5G");
    check_labels(1000000, 1000010, PLOT_NUMBER,
                 "1000000, 1000002, 1000004, 1000006, 1000008, 1000010");
}

/* Half a second to three days, in the two plots of 80 columns and in one of 160: each tick of time that is
 * drawn has its label, and the axis its name's first word where two labels leave room for it. */
TEST(each_tick_of_time_has_its_label)
{
    static const int widths[] = {37, 38, 77, 78, 118, 157};

    for (int i = 0; i < 6 * 300; i++) {
        double hi = 0.5 * pow(2 * 259200, i / 6 / 299.0);
        double seconds[2] = {hi / 20, hi}, loss[2] = {0.9, 0.2};
        struct plot_series s = {.x = seconds, .y = loss, .n = 2};
        struct plot p = {.series = &s,
                         .count = 1,
                         .x_unit = PLOT_TIME,
                         .x_label = "seconds of training",
                         .columns = widths[i % 6],
                         .rows = 10};
        struct plot_canvas c = {.p = &p};
        struct plot_view v;
        struct text t = {0};
        const char *line, *at;

        CHECK(plot_look(&p, 2 * p.columns, &v) && plot_lay_out(&c, &v));
        plot_text(&p, false, &t);
        line = at = strstr(text_str(&t), "\u2514");
        REQUIRE(at != NULL);
        at = strchr(at, '\n');
        for (int k = 0; k < v.x.ticks && at; k++)
            at = strstr(at + 1, v.x.label[k]);
        if (!at || v.x.ticks < 4 || v.x.ticks > 6 || (p.columns > 70 && !strstr(line, "seconds")))
            TEST_FAILED("up to %g s in %d columns, %d ticks:\n%s", hi, p.columns, v.x.ticks, line);
        plot_view_free(&v);
        text_free(&t);
    }
}

TEST(times_have_four_to_six_ticks)
{
    uint64_t state = 3;

    for (int i = 0; i < 100000; i++) {
        struct plot_axis a;
        double u, v;

        state = state * 6364136223846793005u + 1442695040888963407u;
        u = (double)(state >> 33) / 2147483648.0;
        state = state * 6364136223846793005u + 1442695040888963407u;
        v = (double)(state >> 33) / 2147483648.0;
        a = (struct plot_axis){.lo = i % 2 ? 0 : v * 1e5};
        a.hi = a.lo + pow(10, u * 8 - 2);
        plot_label_axis(&a, false, PLOT_TIME, 6);
        if (a.ticks < 4 || a.ticks > 6) {
            TEST_FAILED("%d ticks from %g to %g", a.ticks, a.lo, a.hi);
            return;
        }
        for (int k = 1; k < a.ticks; k++)
            if (!strcmp(a.label[k], a.label[k - 1])) {
                TEST_FAILED("%s twice from %g to %g", a.label[k], a.lo, a.hi);
                return;
            }
    }
}

TEST(values_in_four_digits)
{
    static const struct {
        double value;
        const char *words;
    } want[] = {{0, "0"},           {0.9071, "0.9071"}, {0.05, "0.0500"},   {2.30259, "2.303"},
                {98.25, "98.25"},   {1234.5, "1235"},   {12345, "12.35k"},  {1.5e6, "1.500M"},
                {-0.25, "-0.2500"}, {1e-5, "1.00e-05"}, {1e20, "1.00e+20"}, {NAN, "-"}};

    for (size_t i = 0; i < MEM_COUNT(want); i++) {
        char got[PLOT_LABEL];

        plot_number(want[i].value, false, got);
        CHECK_STR(got, want[i].words);
    }
}

/* A run of one epoch: the training value in the middle of it, the test's at its end. */
TEST(one_epoch)
{
    double half = 0.5, one = 1, loss[2] = {1.1, 0.7};
    struct plot_series s[2] = {{.label = "train", .x = &half, .y = &loss[0], .n = 1},
                               {.label = "test", .x = &one, .y = &loss[1], .n = 1, .colour = 1}};
    struct plot p = {.title = "loss",
                     .x_label = "epoch",
                     .series = s,
                     .count = 2,
                     .whole_x = true,
                     .parts_x = true,
                     .columns = 50,
                     .rows = 10};

    check("one-epoch", &p);
    p.zero_y = true;
    check("one-epoch-zero", &p);
}

TEST(a_band_behind_a_curve)
{
    double at[4] = {1, 2, 3, 4}, mean[4] = {1, 0.6, 0.5, 0.45}, lo[4] = {0.9, 0.4, 0.35, 0.3},
           hi[4] = {1.1, 0.8, 0.65, 0.6};
    struct plot_series s = {.label = "mean", .x = at, .y = mean, .n = 4};
    struct plot_band band = {at, lo, hi, 4, 0};
    struct plot p = {.series = &s,
                     .count = 1,
                     .band = &band,
                     .bands = 1,
                     .whole_x = true,
                     .columns = 50,
                     .rows = 12};

    check("band", &p);
    p.x_lo = 1.5;
    p.x_hi = 3.5;
    check("band-window", &p);
}
