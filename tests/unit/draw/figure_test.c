#include "tests/test.h"

#include "base/mem.h"
#include "draw/figure.h"
#include "draw/ink/ink.h"

static double xs[6] = {1, 2, 3, 4, 5, 6}, ys[6] = {1, 0.5, NAN, 0.3, 0.2, 0.1};

static struct plot sample(struct plot_series *s)
{
    *s = (struct plot_series){.label = "test", .x = xs, .y = ys, .n = 6};
    return (struct plot){.title = "loss", .x_label = "epoch", .series = s, .count = 1};
}

static void draw_panels(const struct plot *p, int panels, double width, double height,
                        void (*form)(const struct figure *, struct text *), struct text *t)
{
    struct figure_panel panel[3];

    for (int i = 0; i < panels; i++)
        panel[i] = (struct figure_panel){.plot = &p[i]};
    form(&(struct figure){.panel = panel, .panels = panels, .width_mm = width, .height_mm = height},
         t);
}

static void svg(const struct plot *p, double width, double height, struct text *t)
{
    draw_panels(p, 1, width, height, figure_svg, t);
}

static int count(const char *s, const char *part)
{
    int n = 0;

    for (; (s = strstr(s, part)); s++)
        n++;
    return n;
}

/* Every tag is closed in order: enough to catch what our writer could get wrong. */
static bool balanced(const char *s)
{
    char open[16][16];
    int depth = 0;

    while ((s = strchr(s, '<'))) {
        const char *end = strchr(s, '>');
        char name[16] = "";

        if (!end)
            return false;
        if (end[-1] == '/') {
            s = end;
            continue;
        }
        sscanf(s + 1 + (s[1] == '/'), "%15[a-z]", name);
        if (s[1] == '/') {
            if (!depth || strcmp(open[--depth], name) != 0)
                return false;
        } else {
            if (depth == 16)
                return false;
            strcpy(open[depth++], name);
        }
        s = end;
    }
    return depth == 0;
}

TEST(document)
{
    struct plot_series s;
    struct plot p = sample(&s);
    struct text t = {0};

    svg(&p, 120, 80, &t);
    CHECK(!strncmp(text_str(&t), "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39));
    CHECK_HAS(text_str(&t), "width=\"120mm\" height=\"80mm\"");
    CHECK_HAS(text_str(&t), "prefers-color-scheme: dark");
    CHECK_HAS(text_str(&t), ">epoch</text>");
    CHECK_HAS(text_str(&t), ">test</text>");
    CHECK_HAS(text_str(&t), ">loss</text>");
    CHECK(balanced(text_str(&t)));
    /* Nothing is fetched. */
    CHECK_INT(count(text_str(&t), "http"), 1);
    CHECK(!strstr(text_str(&t), "url("));
    text_free(&t);
}

/* As on a screen: its range is stretched to 12, where multiples of 1.5 alone would be four. */
TEST(ticks_on_paper_are_round)
{
    double y[2] = {4.1, 11.9};
    struct plot_series s = {.label = "test", .x = xs, .y = y, .n = 2};
    struct plot p = {.title = "loss", .series = &s, .count = 1};
    struct text t = {0};

    svg(&p, 120, 80, &t);
    CHECK_HAS(text_str(&t), ">12</text>");
    CHECK(!strstr(text_str(&t), ">10.5</text>"));
    text_free(&t);
}

TEST(gap_breaks_the_line)
{
    struct plot_series s;
    struct plot p = sample(&s);
    struct text t = {0};
    char *line;

    svg(&p, 120, 80, &t);
    line = strstr(text_str(&t), "<path class=\"line c0\" d=\"M");
    REQUIRE(line != NULL);
    line = strstr(line + 1, "<path class=\"line c0\" d=\"M"); /* behind the legend's */
    REQUIRE(line != NULL);
    *strchr(line, '>') = 0;
    CHECK_INT(count(line, "M"), 2);
    CHECK_INT(count(line, "L"), 3);
    text_free(&t);
}

TEST(labels_are_escaped)
{
    struct plot_series s;
    struct plot p = sample(&s);
    struct text t = {0};

    s.label = "a<script>&\"\033";
    p.title = "</text>";
    svg(&p, 120, 80, &t);
    CHECK(!strstr(text_str(&t), "<script"));
    CHECK_HAS(text_str(&t), "a&lt;script&gt;&amp;&quot;^[");
    CHECK_HAS(text_str(&t), "&lt;/text&gt;");
    CHECK(!strchr(text_str(&t), 033));
    CHECK(balanced(text_str(&t)));
    text_free(&t);
}

TEST(panels)
{
    struct plot_series s[3];
    struct plot p[3] = {sample(&s[0]), sample(&s[1]), sample(&s[2])};
    struct text t = {0};

    p[1].title = "accuracy";
    s[1].dashed = true;
    s[2].n = 0;
    draw_panels(p, 3, 210, 80, figure_svg, &t);
    CHECK_HAS(text_str(&t), "accuracy");
    CHECK_HAS(text_str(&t), "stroke-dasharray");
    CHECK_HAS(text_str(&t), "no values yet");
    CHECK(balanced(text_str(&t)));
    text_free(&t);
}

TEST(sizes)
{
    static const double sizes[][2] = {{1, 1}, {10, 5}, {84, 60}, {1000, 1000}};

    for (size_t i = 0; i < MEM_COUNT(sizes); i++) {
        struct plot_series s;
        struct plot p = sample(&s);
        struct text t = {0};

        svg(&p, sizes[i][0], sizes[i][1], &t);
        CHECK(balanced(text_str(&t)));
        text_free(&t);
    }
}

TEST(band_is_an_area_with_gaps)
{
    static const double lo[6] = {0.9, 0.4, NAN, 0.2, 0.1, 0}, hi[6] = {1, 0.6, 1, 0.4, 0.3, 0.2};
    const struct plot_band band = {xs, lo, hi, 6, 0};
    struct plot_series s;
    struct plot p = sample(&s);
    struct text t = {0};

    p.band = &band;
    p.bands = 1;
    svg(&p, 120, 80, &t);
    CHECK_INT(count(text_str(&t), "<path class=\"band c0\""), 2); /* before and behind the gap */
    text_free(&t);
}

TEST(black_alone)
{
    struct plot_series s;
    struct plot p = sample(&s);
    const struct figure_panel panel = {.plot = &p};
    struct text t = {0};

    figure_svg(&(struct figure){&panel, 1, 84, 60, true}, &t);
    CHECK_HAS(text_str(&t), ".c0 { stroke: #000000");
    CHECK(!strstr(text_str(&t), "#0072b2"));
    CHECK(!strstr(text_str(&t), "prefers-color-scheme"));
    text_free(&t);
}

/* The table at a PDF's end says where each object begins: readers believe it. */
TEST(pdf_is_what_its_table_says)
{
    struct plot_series s;
    struct plot p = sample(&s);
    struct text t = {0};
    const char *at, *stream;
    long long xref = 0, length = 0;

    s.label = "r\xc3\xa9sum\xc3\xa9 (\\) \xe2\x88\x92 \xe4\xb8\xad";
    draw_panels(&p, 1, 84, 60, figure_pdf, &t);
    CHECK(!strncmp(t.s, "%PDF-1.4\n", 9));
    CHECK(!strcmp(t.s + t.n - 6, "%%EOF\n"));
    at = memmem(t.s, t.n, "startxref\n", 10);
    REQUIRE(at && sscanf(at + 10, "%lld", &xref) == 1);
    REQUIRE(xref > 0 && (size_t)xref < t.n && !strncmp(t.s + xref, "xref\n0 7\n", 9));
    for (int i = 1; i < 7; i++) {
        char begin[32];
        long long place = atoll(t.s + xref + 9 + 20 * i);

        snprintf(begin, sizeof begin, "%d 0 obj\n", i);
        CHECK(place > 0 && !strncmp(t.s + place, begin, strlen(begin)));
    }
    at = strstr(t.s, "/Length ");
    REQUIRE(at && sscanf(at + 8, "%lld", &length) == 1);
    stream = strstr(at, "stream\n") + 7;
    CHECK(!strncmp(stream + length, "\nendstream", 10));
    CHECK_HAS(t.s, "MediaBox [0 0 238.11 170.08 ]");
    CHECK_HAS(t.s, "(r\xe9sum\xe9 \\(\\\\\\) - ?) Tj"); /* escaped; '?' for what it cannot say */
    CHECK_HAS(t.s, "(epoch) Tj");
    text_free(&t);
}

TEST(tex_reads_the_columns_of_its_csv)
{
    struct plot_series s[2];
    struct plot p[2] = {sample(&s[0]), sample(&s[1])};
    struct text tex = {0}, csv = {0};
    const struct figure_panel panel[2] = {{.plot = &p[0]}, {.plot = &p[1]}};
    const struct figure f = {panel, 2, 160, 70, false};

    s[0].label = "50 % & a_b";
    s[1].n = 3;
    p[0].zero_y = true;
    figure_tex(&f, "curves.csv", &tex);
    figure_csv(&f, &csv);
    CHECK_HAS(text_str(&tex), "skip first n=1, x index=2, y index=3] {curves.csv}");
    CHECK_HAS(text_str(&tex), "{50 \\% \\& a\\_b}");
    CHECK_HAS(text_str(&tex), "grid=major, ymin=0,");
    CHECK_HAS(text_str(&csv), "epoch of loss: 50 % & a_b,loss: 50 % & a_b,epoch of loss: test,"
                              "loss: test\n1,1,1,1\n");
    CHECK_HAS(text_str(&csv), "\n3,nan,3,nan\n4,0.3,nan,nan\n");
    text_free(&tex);
    text_free(&csv);
}

/* Every scaling has a line called ideal. A person's own table is not taken for a figure's. */
TEST(csv_names_each_curve_once_and_is_known_again)
{
    static const double lo[] = {1}, hi[] = {2};
    struct plot_series s[3] = {{.label = "ideal", .x = lo, .y = hi, .n = 1},
                               {.label = "ideal", .x = lo, .y = hi, .n = 1, .colour = 1},
                               {.x = lo, .y = hi, .n = 1, .colour = 2}};
    const struct plot_band band = {lo, lo, hi, 1, 1};
    struct plot p = {.title = "speed, \"real\"",
                     .x_label = "devices",
                     .series = s,
                     .count = 3,
                     .band = &band,
                     .bands = 1};
    const struct figure_panel panel = {.plot = &p};
    const struct figure f = {&panel, 1, 100, 60, false};
    struct text csv = {0};

    figure_csv(&f, &csv);
    CHECK_HAS(text_str(&csv),
              "\"devices of speed, \"\"real\"\": ideal\",\"speed, \"\"real\"\": ideal\",");
    CHECK_HAS(text_str(&csv), ",\"speed, \"\"real\"\": ideal (2)\",");
    CHECK_HAS(text_str(&csv), ",\"speed, \"\"real\"\" (3)\",");
    CHECK_HAS(text_str(&csv), ",\"band of speed, \"\"real\"\": ideal (2)\"\n");
    text_free(&csv);
}

static const char *const lrs[] = {"0.1", "0.2"}, *const batches[] = {"64", "128", "256"};
static const double accs[] = {0.5, 0.75, NAN, 0.625, 0.5, 0.75};
static const char *const words[] = {"0.500", "0.750", "diverged", "0.625", "0.500", "0.750"};

static struct board a_board(void)
{
    return (struct board){.title = "accuracy",
                          .row_label = "lr",
                          .column_label = "batch",
                          .rows = 2,
                          .columns = 3,
                          .row_name = lrs,
                          .column_name = batches,
                          .value = accs,
                          .words = words};
}

TEST(a_board_says_what_its_colours_mean)
{
    struct board b = a_board();
    const struct figure_panel panel = {.board = &b};
    const struct figure f = {&panel, 1, 100, 60, false};
    struct text t = {0};

    b.scale = (struct board_scale){0.25, 1, true};
    b.note = "page devices = 2";
    figure_svg(&f, &t);
    CHECK_HAS(text_str(&t), ">0.2500 or less</text>");
    CHECK_HAS(text_str(&t), ">1.0000</text>");
    CHECK_HAS(text_str(&t), ">page devices = 2</text>");
    CHECK_HAS(text_str(&t), "<title>accuracy, page devices = 2</title>");
    CHECK(balanced(text_str(&t)));
    text_clear(&t);
    b.per_cent = true;
    figure_pdf(&f, &t);
    CHECK_HAS(text_str(&t), "(25.00 or less) Tj");
    text_clear(&t);
    figure_tex(&f, "b.csv", &t);
    CHECK_HAS(text_str(&t), "title={accuracy, page devices = 2}");
    CHECK_HAS(text_str(&t), "colorbar");
    text_clear(&t);
    board_text(&b, 80, false, &t);
    CHECK(!strncmp(text_str(&t), "accuracy, page devices = 2\n", 27));
    text_free(&t);
}

TEST(board_as_text)
{
    struct board b = a_board();
    struct text t = {0};

    board_text(&b, 80, false, &t);
    CHECK_STR(text_str(&t), "accuracy\n"
                            "     batch\n"
                            " lr        64       128       256\n"
                            "0.1     0.500     0.750  diverged\n"
                            "0.2     0.625     0.500     0.750\n");
    text_clear(&t);
    board_text(&b, 24, false, &t); /* too narrow: cells lose their ends */
    CHECK_HAS(text_str(&t), "diver\n");
    text_clear(&t);
    board_text(&b, 80, true, &t);
    CHECK_INT(count(text_str(&t), "\033[48;5;"), 5); /* none behind the word */
    text_free(&t);
}

TEST(board_shades_from_least_to_most)
{
    struct board b = a_board();
    struct text t = {0};
    const struct figure_panel panel = {.board = &b};
    const struct figure f = {&panel, 1, 100, 60, false};
    struct board_scale scale;

    CHECK(board_find_scale(&b, &scale));
    CHECK_NEAR(board_shade_in(&b, 0, &scale), 0, 0);
    CHECK_NEAR(board_shade_in(&b, 1, &scale), 1, 0);
    CHECK_NEAR(board_shade_in(&b, 3, &scale), 0.5, 0);
    CHECK_NEAR(board_shade_in(&b, 2, &scale), -1, 0);
    figure_svg(&f, &t);
    CHECK_INT(count(text_str(&t), "<rect x="), 5 + GRID_SHADES); /* and the scale */
    CHECK_HAS(text_str(&t), ">diverged</text>");
    CHECK(balanced(text_str(&t)));
    text_clear(&t);
    figure_tex(&f, "b.csv", &t);
    CHECK_HAS(text_str(&t), "mesh/cols=3");
    CHECK_HAS(text_str(&t), "\\pgfplotsset{colormap={chorus}{rgb255=(");
    CHECK_HAS(text_str(&t), "xticklabels={{64},{128},{256}}");
    text_free(&t);
}

/* One that came to nothing leaves the others their colours. */
TEST(what_is_far_below_has_the_least_colour)
{
    static const double values[] = {0.1, 0.9, 0.91, 0.92, 0.93, 0.95};
    struct board b = a_board();
    const struct figure_panel panel = {.board = &b};
    struct text t = {0};
    struct board_scale scale;

    b.value = values;
    CHECK(board_find_scale(&b, &scale));
    CHECK_NEAR(scale.lo, 0.1, 0);
    b.far_below = true;
    CHECK(board_find_scale(&b, &scale));
    CHECK_NEAR(scale.lo, 0.9, 0);
    CHECK_NEAR(scale.hi, 0.95, 0);
    CHECK_NEAR(board_shade_in(&b, 0, &scale), 0, 0);
    CHECK_NEAR(board_shade_in(&b, 1, &scale), 0, 0);
    CHECK_NEAR(board_shade_in(&b, 5, &scale), 1, 0);
    figure_tex(&(struct figure){&panel, 1, 100, 60, false}, "b.csv", &t);
    CHECK_HAS(text_str(&t), ", point meta min=0.9, point meta max=0.95,");
    text_free(&t);
}

/* Counts: ten of a thousand are a third of the way, and none has no colour. */
TEST(a_board_by_magnitude_follows_logarithms_in_every_form)
{
    static const double counts[] = {1000, 10, 0, 1, 1000, 100};
    struct board b = a_board();
    struct text t = {0};
    struct grid g;
    struct board_view view = {.row = -1, .column = -1};
    const struct figure_panel panel = {.board = &b};
    const struct figure f = {&panel, 1, 100, 60, false};
    struct board_scale scale;

    b.value = counts;
    b.by_magnitude = true;
    CHECK(board_find_scale(&b, &scale));
    CHECK_NEAR(board_shade_in(&b, 1, &scale), 1.0 / 3, 1e-12);
    CHECK_NEAR(board_shade_in(&b, 2, &scale), -1, 0);
    figure_csv(&f, &t);
    CHECK_HAS(text_str(&t),
              "p0_column,p0_row,p0_value,p0_level\n0,0,1000,3\n1,0,10,1\n2,0,0,nan\n");
    text_clear(&t);
    figure_tex(&f, "b.csv", &t);
    CHECK_HAS(text_str(&t), "meta=p0_level]");
    text_clear(&t);
    figure_gnuplot(&f, "b.csv", "b.svg", &t);
    CHECK_HAS(text_str(&t), "column('p0_level')");
    CHECK_HAS(text_str(&t), "set cbrange [0:3]");
    text_free(&t);
    grid_init(&g, 8, 60, false);
    board_grid(&b, &g, grid_all(&g), &view);
    CHECK_INT(g.cell[view.at.row * 60 + view.at.column + view.wide].role,
              GRID_SHADE + GRID_SHADES / 3);
    grid_free(&g);
}

/* Equal values side by side and below each other are as many cells. */
TEST(cells_of_one_colour_do_not_touch)
{
    static const double equal[] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
    struct board b = a_board();
    struct board_view view = {.row = -1, .column = -1};

    b.value = equal;
    for (int rows = 6; rows <= 16; rows += 2) {
        struct grid g;
        int grounds[2] = {0}; /* that begin along a row, along a column */
        bool before[2] = {false};

        grid_init(&g, rows, 60, false);
        board_grid(&b, &g, grid_all(&g), &view);
        for (int i = 0; i < view.at.columns; i++) {
            bool here = g.cell[view.at.row * 60 + view.at.column + i].role >= GRID_SHADE;

            grounds[0] += here && !before[0];
            before[0] = here;
        }
        for (int i = 0; i < view.at.rows; i++) {
            bool here = g.cell[(view.at.row + i) * 60 + view.at.column].role >= GRID_SHADE;

            grounds[1] += here && !before[1];
            before[1] = here;
        }
        CHECK_INT(grounds[0], 3);
        CHECK_INT(grounds[1], 2);
        grid_free(&g);
    }
}

TEST(scale_of_boards_rises_in_lightness)
{
    double before = 0;

    for (int i = 0; i <= 20; i++) {
        unsigned rgb = ink_shade(i / 20.0);
        double light = 0.2126 * (rgb >> 16) + 0.7152 * (rgb >> 8 & 255) + 0.0722 * (rgb & 255);

        CHECK(light > before);
        before = light;
    }
}

/* Browsers show an SVG in the font they have: entries of a legend must not meet in the widest. */
TEST(words_of_an_svg_have_room_for_a_wide_font)
{
    struct text out = {0};
    struct ink svg, pdf;

    ink_begin_svg(&svg, 100, 50, "t", false, &out);
    ink_begin_pdf(&pdf, 100, 50, "t", false, &out);
    CHECK(ink_width(&svg, "optimizer=momentum lr=0.01") >
          1.12 * ink_width(&pdf, "optimizer=momentum lr=0.01"));
    CHECK_NEAR(ink_width(&svg, "mm"), 2 * 0.974 * INK_FONT, 1e-9);
    CHECK_NEAR(ink_width(&svg, "猫"), INK_FONT, 1e-9);
    ink_finish(&svg);
    ink_finish(&pdf);
    text_free(&out);
}
