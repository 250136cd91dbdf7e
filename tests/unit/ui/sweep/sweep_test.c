#include "base/io.h"
#include "base/mem.h"
#include "record/working.h"
#include "draw/paper.h"
#include "tests/unit/record/help.h"
#include "tests/unit/ui/other_kit.h"
#include "ui/app/app_int.h"
#include "ui/app/claim.h"
#include "ui/app/screens.h"
#include "ui/app/status.h"
#include "ui/screens.h"
#include "ui/setup/setup_int.h"
#include "ui/widgets/share.h"
#include "ui/sweep/sweepview_int.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct sweepview_sweep *sweep_of(const char *text)
{
    struct spec_sweep spec;
    struct err e;

    spec_sweep_init(&spec);
    if (spec_sweep_parse(&spec, text, strlen(text), "sweep.ini", &e) != ERR_OK ||
        spec_sweep_close(&spec, &e) != ERR_OK) {
        printf("  %s\n", e.text);
        return NULL;
    }
    return sweepview_new(live_sweep_new("board", &spec, SWEEPVIEW_MOST_CELLS));
}

/* A cell by the values of all axes. */
static struct live_cell *cell_at(struct sweepview_sweep *s, const char *const *values)
{
    size_t i = live_sweep_find(s->now, values);

    return i < s->now->cells ? &s->now->cell[i] : NULL;
}

static struct live_cell *set(struct sweepview_sweep *s, const char *const *values,
                             enum wire_state state, double acc)
{
    struct live_cell *c = cell_at(s, values);

    if (!c) {
        printf("  there is no cell %s, ...\n", values[0]);
        abort();
    }
    c->known = true;
    c->state = state;
    c->acc = acc;
    return c;
}

static uint64_t no_ns(void)
{
    return 0;
}

#define VALUES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void draw(struct sweepview *v, int rows, int columns, struct text *out)
{
    struct grid g;

    grid_init(&g, rows, columns, false);
    sweepview_draw(v, &g, grid_all(&g));
    text_clear(out);
    grid_to_text(&g, out);
    grid_free(&g);
}

/* The role of the last letter in the board's title line. */
static int role_of_standing_drawn(struct sweepview *v)
{
    struct grid g;
    int role;

    grid_init(&g, 21, 80, false);
    sweepview_draw(v, &g, grid_all(&g));
    role = g.cell[80 - 4].role;
    grid_free(&g);
    return role;
}

TEST(lists_become_dimensions_and_seeds_repeats)
{
    struct sweepview_sweep *s = sweep_of("lr = geom:0.01:1:5\nbatch = 64, 128\nrepeats = 3\n");

    REQUIRE(s && !s->now->problem);
    CHECK_INT(s->now->cells, 30);
    CHECK_INT(s->dims, 3);
    CHECK_INT(s->repeats, 3);
    CHECK_INT(s->groups, 10);
    CHECK_STR(s->dim[0].name, "lr");
    CHECK_STR(s->dim[0].brief[0], "0.01");
    CHECK_STR(s->dim[0].brief[1], "0.0316");
    CHECK(s->dim[2].repeats);
    sweepview_free(s);
}

TEST(each_group_has_its_own_cells)
{
    struct sweepview_sweep *s = sweep_of("devices = 1, 2\nlr = 0.1, 0.2, 0.3\nrepeats = 2\n"
                                         "batch = 64, 128\n");
    bool *seen;
    size_t *place, at[SWEEPVIEW_MOST_DIMS], back[SWEEPVIEW_MOST_DIMS];

    REQUIRE(s && s->now->cells == 24);
    seen = mem_new(s->now->cells, sizeof *seen);
    place = mem_new(s->now->spec.axes, sizeof *place);
    for (size_t g = 0; g < s->groups; g++) {
        sweepview_place(s, g, at);
        CHECK_INT(sweepview_group_at(s, at), g);
        for (size_t r = 0; r < s->repeats; r++) {
            size_t cell = sweepview_cell_of(s, g, r);

            REQUIRE(cell < s->now->cells);
            CHECK(!seen[cell]);
            seen[cell] = true;
            /* the grid's own word on where it lies */
            spec_sweep_place(&s->now->spec, cell, place);
            for (size_t d = 0; d < s->dims; d++) {
                back[d] = d == s->repeats_dim ? r : at[d];
                CHECK_INT(place[s->dim[d].axis], back[d]);
            }
        }
    }
    free(seen);
    free(place);
    sweepview_free(s);
}

TEST(axes_that_walk_together_are_one_dimension)
{
    struct sweepview_sweep *s = sweep_of("zip = devices, batch\ndevices = 1, 2\nbatch = 256, 512\n"
                                         "lr = 0.1, 0.2\n");

    REQUIRE(s && s->now->cells == 4);
    CHECK_INT(s->dims, 2);
    CHECK(cell_at(s, VALUES("1", "256", "0.2")) != NULL);
    sweepview_free(s);
}

TEST(impossible_cells_are_left_out_with_their_reason)
{
    struct sweepview_sweep *s = sweep_of("devices = 1, 8\nbatch = 64, 100\n");
    struct live_cell *c;
    struct text words = {0};

    REQUIRE(s && s->now->cells == 4);
    c = cell_at(s, VALUES("8", "100"));
    REQUIRE(c);
    CHECK(c->left_out);
    CHECK_HAS(c->why, "100");
    sweepview_add_counts(s, &words);
    CHECK_STR(text_str(&words), "3 not begun, 1 impossible");
    text_free(&words);
    sweepview_free(s);
}

/* Accuracies of three seeds: means 0.85, 0.90, 0.89; sd 0.01 each. */
static struct sweepview_sweep *three_seeds(void)
{
    static const char *const lr[] = {"0.1", "0.2", "0.4"}, *const seed[] = {"0", "1", "2"};
    static const double acc[3][3] = {{0.84, 0.85, 0.86}, {0.89, 0.90, 0.91}, {0.90, 0.89, 0.88}};
    struct sweepview_sweep *s = sweep_of("lr = 0.1, 0.2, 0.4\nrepeats = 3\n");

    for (int l = 0; s && l < 3; l++)
        for (int r = 0; r < 3; r++)
            set(s, VALUES(lr[l], seed[r]), WIRE_DONE, acc[l][r]);
    if (s)
        sweepview_sum(s);
    return s;
}

TEST(what_cannot_be_told_from_the_best_is_grey)
{
    struct sweepview_sweep *s = three_seeds();
    struct text words = {0};
    struct sweepview_look look;
    struct sweepview_board b;

    REQUIRE(s);
    CHECK_INT(s->best, 1);
    CHECK_NEAR(s->group[1].mean, 0.90, 1e-12);
    CHECK_NEAR(s->group[1].sd, 0.01, 1e-12);
    CHECK(s->told == 1 && s->even == 1 && !s->few);
    /* Differences to lr 0.1: 0.05 thrice, so that nothing is left to chance. */
    CHECK(!s->group[0].even);
    /* To lr 0.4: -0.01, 0.01, 0.03: mean 0.01, sd 0.02, standard error 0.011547, t 4.3027 with two
     * degrees of freedom: -0.0397 to 0.0597. */
    CHECK(s->group[2].even);
    CHECK_NEAR(s->group[2].gap.lo, -0.039683, 1e-5);
    CHECK_NEAR(s->group[2].gap.hi, 0.059683, 1e-5);
    sweepview_first_look(s, &look);
    CHECK_INT(look.view.row, 1);
    sweepview_make_board(s, &look, &b);
    CHECK_INT(b.board.rows, 3);
    CHECK_INT(b.board.columns, 1);
    CHECK_STR(b.words[0], "0.8500 ± 0.0100");
    CHECK_STR(b.words[1], "*0.9000 ± 0.0100");
    CHECK_STR(b.words[2], "≈0.8900 ± 0.0100");
    CHECK_STR(b.brief[2], "≈0.8900");
    CHECK(!b.grey[0] && !b.grey[1] && b.grey[2]);
    CHECK_INT(look.view.best, 2);
    sweepview_add_footer(s, &words);
    CHECK_HAS(text_str(&words), "1 setting that cannot be told from the best");
    CHECK_HAS(text_str(&words), "picked on test");
    text_free(&words);
    sweepview_free_board(&b);
    sweepview_free(s);
}

static void check_footer(struct sweepview_sweep *s, const char *words)
{
    struct text footer = {0};

    sweepview_sum(s);
    sweepview_add_footer(s, &footer);
    CHECK_HAS(text_str(&footer), words);
    text_free(&footer);
}

TEST(settings_with_too_few_seeds_are_not_called_worse_than_the_best)
{
    struct sweepview_sweep *s = sweep_of("lr = 0.1, 0.2, 0.4\nrepeats = 2\n");

    REQUIRE(s);
    set(s, VALUES("0.2", "0"), WIRE_DONE, 0.91);
    set(s, VALUES("0.4", "0"), WIRE_DONE, 0.90);
    check_footer(s, "1 setting has too few seeds in common with the best to tell.");
    set(s, VALUES("0.2", "1"), WIRE_DONE, 0.89);
    s->now->cell[live_sweep_find(s->now, VALUES("0.4", "0"))].state = WIRE_WAITING;
    check_footer(s, "No other setting has a result yet.");
    set(s, VALUES("0.4", "0"), WIRE_DONE, 0.90);
    set(s, VALUES("0.1", "0"), WIRE_DONE, 0.60);
    s->now->cell[live_sweep_find(s->now, VALUES("0.4", "0"))].acc = 0.89;
    check_footer(s, "2 settings have too few seeds in common with the best to tell.");
    set(s, VALUES("0.1", "1"), WIRE_DONE, 0.58);
    check_footer(s, "1 setting can be told from the best: the 95 % interval");
    check_footer(s, "does not hold 0. 1 setting has too few seeds in common with the best");
    set(s, VALUES("0.4", "1"), WIRE_DONE, 0.87);
    check_footer(s, "The best stands out:");
    sweepview_free(s);
}

TEST(what_was_tested_on_different_data_has_no_best)
{
    struct sweepview_sweep *s = sweep_of("test_limit = 64, 128\n");
    struct text words = {0};

    REQUIRE(s);
    set(s, VALUES("64"), WIRE_DONE, 0.9);
    set(s, VALUES("128"), WIRE_DONE, 0.8);
    sweepview_sum(s);
    CHECK_INT(s->best, s->groups);
    sweepview_add_footer(s, &words);
    CHECK_STR(text_str(&words), "No best: cells are tested on different data (test_limit).");
    text_free(&words);
    sweepview_free(s);
}

TEST(validation_data_pick_the_best_where_all_have_them)
{
    struct sweepview_sweep *s = sweep_of("lr = 0.1, 0.2, 0.4\nvalid = 60\n");
    struct sweepview v = {.pane = SWEEPVIEW_BOARD, .read = true};
    struct text out = {0};

    REQUIRE(s);
    set(s, VALUES("0.1"), WIRE_DONE, 0.98)->val_acc = 0.95;
    set(s, VALUES("0.2"), WIRE_DONE, 0.96)->val_acc = 0.97;
    set(s, VALUES("0.4"), WIRE_WAITING, NAN);
    sweepview_sum(s);
    CHECK_INT(s->best, 1);
    CHECK_NEAR(s->group[1].mean, 0.96, 1e-12);
    v.sweep = s;
    v.name = s->now->name;
    sweepview_first_look(s, &v.look);
    v.has_look = true;
    draw(&v, 24, 80, &out);
    CHECK_HAS(text_str(&out), "* best 0.9600, validation 0.9700  lr 0.2");
    CHECK_HAS(text_str(&out), "picked on validation");
    set(s, VALUES("0.4"), WIRE_DONE, 0.5); /* none of its own */
    sweepview_sum(s);
    CHECK_INT(s->best, 0);
    draw(&v, 24, 80, &out);
    CHECK_HAS(text_str(&out), "* best 0.9800  lr 0.1");
    CHECK_HAS(text_str(&out), "The best (*) is picked on");
    text_free(&out);
    sweepview_free(s);
}

TEST(with_one_run_a_cell_nothing_is_noise)
{
    struct sweepview_sweep *s = sweep_of("lr = 0.1, 0.2\ndata = mnist\n");
    struct text words = {0};

    REQUIRE(s);
    set(s, VALUES("0.1"), WIRE_DONE, 0.9);
    set(s, VALUES("0.2"), WIRE_DONE, 0.89);
    sweepview_sum(s);
    CHECK(!s->group[1].even);
    sweepview_add_footer(s, &words);
    /* sqrt(0.9 * 0.1 / 10000) */
    CHECK_HAS(text_str(&words), "an error of ± 0.0030 (10,000 images");
    text_clear(&words);
    share_choose(true);
    sweepview_add_footer(s, &words);
    share_choose(false);
    CHECK_HAS(text_str(&words), "an accuracy of 90.00 % an error of ± 0.30 points (10,000 images");
    text_free(&words);
    sweepview_free(s);
}

TEST(cells_tell_their_states_in_words)
{
    struct sweepview_sweep *s = sweep_of("lr = 1, 2, 3, 4, 5, 6, 7\n");
    struct sweepview_look look;
    struct sweepview_board b;
    struct text counts = {0};

    REQUIRE(s);
    set(s, VALUES("1"), WIRE_WAITING, NAN);
    set(s, VALUES("2"), WIRE_RUNNING, 0.5);
    cell_at(s, VALUES("2"))->share = 0.337;
    set(s, VALUES("3"), WIRE_DIVERGED, 0.7); /* never a best */
    set(s, VALUES("4"), WIRE_OOM, NAN);
    set(s, VALUES("5"), WIRE_FAILED, NAN);
    set(s, VALUES("6"), WIRE_SKIPPED, NAN);
    set(s, VALUES("7"), WIRE_DONE, 0.6);
    sweepview_sum(s);
    sweepview_first_look(s, &look);
    sweepview_make_board(s, &look, &b);
    CHECK_STR(b.words[0], "waiting");
    CHECK_STR(b.words[1], "running 33 %");
    CHECK_STR(b.brief[1], "33%");
    CHECK_STR(b.words[2], "diverged");
    CHECK_STR(b.words[3], "out of memory");
    CHECK_STR(b.brief[3], "oom");
    CHECK_STR(b.words[4], "failed");
    CHECK_STR(b.words[5], "skipped");
    CHECK_STR(b.words[6], "*0.6000");
    CHECK(isnan(b.value[2]));
    sweepview_add_counts(s, &counts);
    CHECK_STR(text_str(&counts), "1 done, 1 running, 1 diverged, 1 out of memory, 1 failed, "
                                 "1 skipped, 1 waiting");
    text_free(&counts);
    sweepview_free_board(&b);
    sweepview_free(s);
}

TEST(pages_and_axes_keep_the_chosen_cell)
{
    struct sweepview_sweep *s = sweep_of("batch = 64, 128\nlr = 0.1, 0.2, 0.4\ndevices = 1, 2\n"
                                         "optimizer = sgd, adam\n");
    struct sweepview_look look;
    struct text page = {0};
    size_t chosen;

    REQUIRE(s && s->groups == 24);
    sweepview_first_look(s, &look);
    CHECK_STR(s->dim[look.rows].name, "lr");
    CHECK_STR(s->dim[look.columns].name, "batch");
    CHECK_INT(sweepview_pages(s, &look), 4);
    for (size_t i = 0; i < 4; i++) {
        sweepview_set_page(s, &look, i);
        CHECK_INT(sweepview_page(s, &look), i);
    }
    sweepview_add_page(s, &look, &page);
    CHECK_STR(text_str(&page), "devices 2, optimizer adam");
    look.view.row = 2;
    look.view.column = 1;
    chosen = sweepview_chosen(s, &look);
    text_clear(&page);
    sweepview_add_setting(s, chosen, &page);
    CHECK_STR(text_str(&page), "batch 128, lr 0.4, devices 2, optimizer adam");
    for (int i = 0; i < 12; i++) { /* all ordered pairs of four keys */
        CHECK(sweepview_other_axes(s, &look));
        CHECK_INT(sweepview_chosen(s, &look), chosen);
    }
    CHECK_STR(s->dim[look.rows].name, "lr");
    CHECK_STR(s->dim[look.columns].name, "batch");
    text_free(&page);
    sweepview_free(s);
}

/* ---- the screen ---- */

TEST(the_screen_shows_board_cell_and_best)
{
    struct sweepview v = {.pane = SWEEPVIEW_BOARD, .read = true};
    struct text out = {0};

    v.sweep = three_seeds();
    REQUIRE(v.sweep);
    v.sweep->now->cell[v.sweep->group[1].best].run = mem_text("2026-11-21-175202-784-lenet-9e59");
    v.name = (char *)"board";
    sweepview_first_look(v.sweep, &v.look);
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "─ done ─");
    CHECK_HAS(text_str(&out), "9 done");
    CHECK_HAS(text_str(&out), "≈0.8900 ± 0.0100");
    CHECK_HAS(text_str(&out), "seed 2");
    CHECK_HAS(text_str(&out), "* best 0.9000 ± 0.0100 (n 3)  lr 0.2  2026-11-21-175202-784-lenet");
    CHECK_HAS(text_str(&out), "Grey, with ≈: 1 setting");
    draw(&v, 14, 60, &out); /* cells before the whole of the notes */
    CHECK_HAS(text_str(&out), " 0.1     0.8500 ± 0.0100");
    CHECK_HAS(text_str(&out), "*0.9000 ± 0.0100");
    CHECK_HAS(text_str(&out), " 0.4    ≈0.8900 ± 0.0100");
    CHECK_HAS(text_str(&out), "Grey, with ≈: 1 setting");
    text_free(&out);
    sweepview_free(v.sweep);
}

TEST(every_size_can_be_drawn)
{
    struct sweepview v = {.pane = SWEEPVIEW_BOARD, .read = true};
    struct sweepview_line lines[] = {{.name =
                                          (char *)"\033[31mred\033[0m and a very long name that "
                                                  "nobody would give to a sweep of theirs",
                                      .cells = 9,
                                      .best = 0.9}};
    struct text out = {0};

    v.sweep = three_seeds();
    REQUIRE(v.sweep);
    v.name = lines[0].name;
    v.line = lines;
    v.lines = 1;
    sweepview_first_look(v.sweep, &v.look);
    v.pane = SWEEPVIEW_BOARD;
    draw(&v, 24, 80, &out);
    CHECK_HAS(text_str(&out), "give to a sweep of theirs ─");
    CHECK_HAS(text_str(&out), "─ done ─");
    v.pane = SWEEPVIEW_LIST;
    draw(&v, 24, 60, &out); /* two that differ at their ends are told apart */
    CHECK_HAS(text_str(&out), "of theirs ");
    for (v.pane = 0; v.pane < 2; v.pane++)
        for (int rows = 0; rows < 50; rows += rows < 12 ? 1 : 7)
            for (int columns = 0; columns < 170; columns += columns < 30 ? 1 : 13) {
                draw(&v, rows, columns, &out);
                CHECK(!strchr(text_str(&out), '\033'));
            }
    text_free(&out);
    sweepview_free(v.sweep);
}

/* The roles of the cells of a board of one row, as drawn. */
static void draw_roles(const double *value, int n, struct board_view *view, int *role,
                       struct text *out)
{
    const char *words[16], *names[16];
    char word[16][16];
    struct board b = {.row_label = "lr",
                      .column_label = "batch",
                      .rows = 1,
                      .columns = n,
                      .row_name = (const char *const[]){"0.1"},
                      .column_name = names,
                      .value = value,
                      .words = words};
    struct grid g;

    for (int i = 0; i < n; i++) {
        snprintf(word[i], sizeof word[i], "%.4f", value[i]);
        words[i] = word[i];
        names[i] = "64";
    }
    view->row = view->column = -1;
    board_scale(value, (size_t)n, &b.scale);
    grid_init(&g, 6, 120, false);
    board_grid(&b, &g, grid_all(&g), view);
    for (int i = 0; i < n; i++)
        role[i] = g.cell[view->at.row * g.columns + view->at.column + i * view->wide].role;
    text_clear(out);
    grid_to_text(&g, out);
    grid_free(&g);
}

/* All within a per cent: the least and the best have the ends of the scale, which is told. */
TEST(colours_tell_good_from_bad_within_a_per_cent)
{
    const double value[] = {0.8900, 0.8925, 0.8950, 0.8990};
    struct board_view view = {.legend = true};
    struct text out = {0};
    int role[4];

    draw_roles(value, 4, &view, role, &out);
    CHECK_INT(role[0], GRID_SHADE);
    CHECK_INT(role[1], GRID_SHADE + 4);
    CHECK_INT(role[2], GRID_SHADE + 8);
    CHECK_INT(role[3], GRID_SHADE + GRID_SHADES - 1);
    CHECK_HAS(text_str(&out), "0.8900  ▁ ▂ ▃ ▄ ▅ ▆ ▇ █ 0.8990"); /* the range */
    CHECK_HAS(text_str(&out), "0.8900 ▁ "); /* and marks, for whoever sees no colours */
    CHECK_HAS(text_str(&out), "0.8925 ▃");
    CHECK_HAS(text_str(&out), "0.8950 ▅");
    CHECK_HAS(text_str(&out), "0.8990 █");
    text_free(&out);
}

/* Where values have no room for marks, those that no cell has are not explained. */
TEST(no_marks_are_told_of_that_no_cell_has)
{
    double value[13];
    struct board_view view = {.legend = true};
    struct text out = {0};
    int role[13];

    for (int i = 0; i < 13; i++)
        value[i] = 0.8 + 0.01 * i;
    draw_roles(value, 13, &view, role, &out);
    CHECK_INT(view.columns, 13);
    CHECK_HAS(text_str(&out), "0.8000                  0.9200"); /* the ground alone */
    CHECK(!strstr(text_str(&out), "▁") && !strstr(text_str(&out), "█"));
    text_free(&out);
}

/* One that learned nothing leaves the others their colours. */
TEST(a_value_far_below_does_not_take_the_colours_away)
{
    const double value[] = {0.8900, 0.1000, 0.8925, 0.8990, 0.8950};
    struct board_view view = {.legend = true};
    struct board_scale scale;
    struct text out = {0};
    int role[5];

    draw_roles(value, 5, &view, role, &out);
    CHECK_INT(role[1], GRID_SHADE);
    CHECK_INT(role[0], GRID_SHADE);
    CHECK_INT(role[3], GRID_SHADE + GRID_SHADES - 1);
    CHECK_INT(role[4], GRID_SHADE + 8);
    CHECK_HAS(text_str(&out), "≤0.8900  ▁ ▂ ▃ ▄ ▅ ▆ ▇ █ 0.8990");
    /* Where half of them are far apart, that is what there is to be seen. */
    CHECK(board_scale((const double[]){0.1, 0.12, 0.88, 0.9}, 4, &scale));
    CHECK_NEAR(scale.lo, 0.1, 1e-12);
    CHECK(!scale.below);
    CHECK(board_scale((const double[]){0.9, NAN, 0.9, 0.9}, 4, &scale));
    CHECK(scale.lo == scale.hi && !scale.below);
    CHECK(!board_scale((const double[]){NAN}, 1, &scale));
    text_free(&out);
}

TEST(a_colour_means_the_same_on_all_pages)
{
    struct sweepview_sweep *s = sweep_of("lr = 0.1, 0.2\nbatch = 64, 128\ndevices = 1, 2\n");
    struct sweepview_look look;
    struct sweepview_board b;

    REQUIRE(s);
    set(s, VALUES("0.1", "64", "1"), WIRE_DONE, 0.80);
    set(s, VALUES("0.2", "64", "1"), WIRE_DONE, 0.82);
    set(s, VALUES("0.1", "64", "2"), WIRE_DONE, 0.90);
    set(s, VALUES("0.2", "128", "2"), WIRE_DIVERGED, 0.10);
    sweepview_sum(s);
    sweepview_first_look(s, &look);
    for (size_t page = 0; page < 2; page++) {
        sweepview_set_page(s, &look, page);
        sweepview_make_board(s, &look, &b);
        CHECK_NEAR(b.board.scale.lo, 0.80, 1e-12);
        CHECK_NEAR(b.board.scale.hi, 0.90, 1e-12);
        sweepview_free_board(&b);
    }
    sweepview_free(s);
}

static bool has_hint(const struct screen_key *k, const char *keys, const char *hint)
{
    while (k->keys && (strcmp(k->keys, keys) != 0 || strcmp(k->hint, hint) != 0))
        k++;
    return k->keys;
}

static bool has_hint_of(struct sweepview *v, char key)
{
    for (const struct screen_key *k = sweepview_hints(v); k->keys; k++)
        if (k->keys[0] == key)
            return true;
    return false;
}

static bool has_acts(struct sweepview *v, const char *want)
{
    bool all = true;

    for (const char *key = "pKRF"; *key; key++)
        all = all && has_hint_of(v, *key) == (strchr(want, *key) != NULL);
    return all;
}

TEST(only_keys_that_do_something_are_offered)
{
    struct sweepview_line line = {.name = (char *)"board"};
    struct sweepview v = {.read = true, .name = (char *)"board"};

    for (int pane = SWEEPVIEW_LIST; pane <= SWEEPVIEW_BOARD; pane++) {
        v.pane = pane;
        v.lines = 0;
        CHECK(!sweepview_hints(&v)->keys); /* there is none */
        v.line = &line;
        v.lines = 1;
        v.sweep = sweep_of("lr = 0.1, 0.2\n");
        REQUIRE(v.sweep);
        sweepview_first_look(v.sweep, &v.look);
        set(v.sweep, VALUES("0.1"), WIRE_STOPPED, NAN);
        CHECK(has_hint_of(&v, 'E') == (pane == SWEEPVIEW_LIST) && !has_hint_of(&v, 'r'));
        live_set_text(&cell_at(v.sweep, VALUES("0.1"))->run, "a-run");
        CHECK(has_hint_of(&v, 'E') && has_hint_of(&v, 'r') == (pane == SWEEPVIEW_BOARD));
        CHECK(has_acts(&v, "R") && !has_hint_of(&v, 'b') && !has_hint_of(&v, 'a'));
        set(v.sweep, VALUES("0.1"), WIRE_DONE, 0.9);
        set(v.sweep, VALUES("0.2"), WIRE_DONE, 0.8);
        sweepview_sum(v.sweep);
        CHECK(has_acts(&v, "") && has_hint_of(&v, 'e'));
        CHECK(has_hint_of(&v, 'b') == (pane == SWEEPVIEW_BOARD));
        set(v.sweep, VALUES("0.2"), WIRE_DIVERGED, NAN);
        CHECK(has_acts(&v, "F"));
        v.sweep->now->live = true;
        v.sweep->now->is = (struct wire_sweep_status){.state = WIRE_RUNNING, .running = 1};
        CHECK(has_acts(&v, "pK") && has_hint(sweepview_hints(&v), "p", "pause"));
        CHECK(!has_hint_of(&v, '+') && !has_hint_of(&v, 'd'));
        set(v.sweep, VALUES("0.1"), WIRE_WAITING, NAN); /* the chosen one */
        sweepview_sum(v.sweep);
        CHECK(has_hint_of(&v, '+') == (pane == SWEEPVIEW_BOARD));
        CHECK(has_hint_of(&v, 'd') == (pane == SWEEPVIEW_BOARD));
        v.sweep->now->is.wish = WIRE_WISH_STOP_CELLS;
        CHECK(has_acts(&v, "pKR") && has_hint(sweepview_hints(&v), "R", "take stop back"));
        v.sweep->now->is.wish = WIRE_WISH_RUN;
        v.sweep->now->is.closing = true;
        CHECK(has_acts(&v, "pK"));
        v.sweep->now->is.wish = WIRE_WISH_STOP_EPOCH;
        CHECK(has_acts(&v, "pKR"));
        v.sweep->now->is = (struct wire_sweep_status){.state = WIRE_PAUSED};
        CHECK(has_acts(&v, "pK") && has_hint(sweepview_hints(&v), "p", "go on"));
        v.sweep->now->is.wish = WIRE_WISH_STOP_CELLS;
        CHECK(has_acts(&v, "pKR") && has_hint(sweepview_hints(&v), "p", "go on"));
        CHECK(has_hint(sweepview_hints(&v), "R", "take stop back"));
        sweepview_free(v.sweep);
        v.sweep = NULL;
    }
}

TEST(marks_behind_values_are_told_where_there_are_any)
{
    struct sweepview v = {.pane = SWEEPVIEW_BOARD, .read = true, .name = (char *)"board"};
    struct text out = {0};

    v.sweep = sweep_of("lr = 0.1, 0.2\nrepeats = 2\n");
    REQUIRE(v.sweep);
    set(v.sweep, VALUES("0.1", "0"), WIRE_DONE, 0.9);
    set(v.sweep, VALUES("0.1", "1"), WIRE_PAUSED, NAN);
    sweepview_sum(v.sweep);
    sweepview_first_look(v.sweep, &v.look);
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "0.9000…");
    CHECK_HAS(text_str(&out), "… seeds to come");
    set(v.sweep, VALUES("0.2", "0"), WIRE_DONE, 0.8);
    set(v.sweep, VALUES("0.2", "1"), WIRE_DIVERGED, NAN);
    sweepview_sum(v.sweep);
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "0.8000!");
    CHECK_HAS(text_str(&out), "… seeds to come  ! some failed  0.8000 ");
    set(v.sweep, VALUES("0.1", "1"), WIRE_DONE, 0.9);
    set(v.sweep, VALUES("0.2", "1"), WIRE_DONE, 0.8);
    sweepview_sum(v.sweep);
    draw(&v, 21, 80, &out);
    CHECK(!strstr(text_str(&out), "seeds to come") && !strstr(text_str(&out), "failed"));
    set(v.sweep, VALUES("0.2", "0"), WIRE_DIVERGED, NAN); /* it is no cell like those that wait */
    set(v.sweep, VALUES("0.2", "1"), WIRE_WAITING, NAN);
    sweepview_sum(v.sweep);
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "waiting! ");
    CHECK_HAS(text_str(&out), "! some seeds failed");
    set(v.sweep, VALUES("0.2", "1"), WIRE_DIVERGED, NAN);
    sweepview_sum(v.sweep);
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "diverged ");
    CHECK(!strstr(text_str(&out), "failed"));
    text_free(&out);
    sweepview_free(v.sweep);
}

static void write_as(struct sweepview *v, const char *form, struct text *out)
{
    struct paper paper = {0};
    struct err e = {0};

    text_clear(out);
    REQUIRE_OK(sweepview_write(v, form, &paper, &e));
    REQUIRE_OK(paper_write(&paper, form, out, &e));
    paper_free(&paper);
}

TEST(a_board_is_written_as_a_table_of_its_settings)
{
    struct sweepview v = {.pane = SWEEPVIEW_BOARD, .read = true, .name = (char *)"board"};
    struct text out = {0};

    v.sweep = sweep_of("lr = 0.1, 0.2\nbatch = 16, 32\nrepeats = 2\n");
    REQUIRE(v.sweep);
    sweepview_first_look(v.sweep, &v.look);
    set(v.sweep, VALUES("0.1", "16", "0"), WIRE_DONE, 0.75);
    set(v.sweep, VALUES("0.1", "16", "1"), WIRE_DONE, 0.5);
    set(v.sweep, VALUES("0.1", "32", "0"), WIRE_DIVERGED, NAN);
    set(v.sweep, VALUES("0.1", "32", "1"), WIRE_WAITING, NAN);
    set(v.sweep, VALUES("0.2", "16", "0"), WIRE_WAITING, NAN);
    set(v.sweep, VALUES("0.2", "32", "1"), WIRE_WAITING, NAN);
    sweepview_sum(v.sweep);
    write_as(&v, "tex", &out);
    CHECK_HAS(text_str(&out), "\\textbf{0.6250");
    write_as(&v, "md", &out);
    CHECK_STR(text_str(&out), "| lr | batch | test\\_acc | n | state |\n"
                              "|---|---|--:|--:|---|\n"
                              "| 0.1 | 16 | **0.6250 ± 0.1768** | 2 | done |\n"
                              "| 0.1 | 32 |  | 0 | waiting! |\n"
                              "| 0.2 | 16 |  | 0 | waiting |\n"
                              "| 0.2 | 32 |  | 0 | waiting |\n");
    text_free(&out);
    sweepview_free(v.sweep);
}

TEST(it_says_whether_it_is_done_stopped_or_paused)
{
    struct sweepview v = {.pane = SWEEPVIEW_BOARD, .read = true, .name = (char *)"board"};
    struct text out = {0};

    v.sweep = three_seeds();
    REQUIRE(v.sweep);
    sweepview_first_look(v.sweep, &v.look);
    set(v.sweep, VALUES("0.4", "2"), WIRE_STOPPED, NAN);
    sweepview_sum(v.sweep);
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "stopped: R goes on");
    for (size_t i = 0; i < v.sweep->now->cells; i++)
        v.sweep->now->cell[i].dead = v.sweep->now->cell[i].state == WIRE_STOPPED;
    sweepview_sum(v.sweep);
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "its process is gone: R goes on");
    CHECK_HAS(text_str(&out), "1 dead");
    CHECK_INT(role_of_standing_drawn(&v), GRID_BAD);
    CHECK(!strstr(text_str(&out), "stopped"));
    v.sweep->now->live = true;
    set(v.sweep, VALUES("0.4", "2"), WIRE_PAUSED, NAN);
    live_sweep_stand(v.sweep->now);
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "─ paused elsewhere");
    set(v.sweep, VALUES("0.4", "2"), WIRE_WAITING, NAN); /* between two cells */
    live_sweep_stand(v.sweep->now);
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "─ running elsewhere");
    v.sweep->now->is.closing = true;
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "─ stopping: no further cell begins, elsewhere");
    v.sweep->now->is = (struct wire_sweep_status){.state = WIRE_PAUSED, .running = 1};
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "─ paused: no further cell begins, elsewhere");
    CHECK(has_hint(sweepview_hints(&v), "p", "go on"));
    v.own = true;
    v.status = (struct wire_sweep_status){.state = WIRE_RUNNING, .counting = true};
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "starting");
    text_free(&out);
    sweepview_free(v.sweep);
}

static int role_at(struct sweepview *v, const char *words)
{
    struct text line = {0};
    struct grid g;
    int role;

    grid_init(&g, 21, 80, false);
    sweepview_draw(v, &g, grid_all(&g));
    grid_to_text(&g, &line);
    CHECK_HAS(text_str(&line), words);
    role = g.cell[g.columns - 5].role; /* of the frame's right title */
    text_free(&line);
    grid_free(&g);
    return role;
}

TEST(no_time_is_left_for_what_waits_for_room)
{
    struct app_int own = {.said = ""};
    struct app app = {.config.screens = ui_screens, .own = &own, .shown = SCREEN_SWEEP};
    struct sweepview v = {.app = &app, .pane = SWEEPVIEW_BOARD, .read = true, .own = true};
    struct text out = {0};

    v.name = (char *)"board";
    v.status = (struct wire_sweep_status){.sweep = 9, .state = WIRE_RUNNING, .left_seconds = 90};
    v.sweep = three_seeds();
    REQUIRE(v.sweep);
    sweepview_first_look(v.sweep, &v.look);
    set(v.sweep, VALUES("0.4", "2"), WIRE_WAITING, NAN);
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "  1:30 left");
    CHECK_INT(role_at(&v, "─ running ─"), GRID_GOOD);
    v.status.code = ERR_IO;
    CHECK_INT(role_at(&v, "─ waits for room ─"), GRID_WARN);
    draw(&v, 21, 80, &out);
    CHECK(!strstr(strstr(text_str(&out), "waits for room") + 1, "waits for room"));
    CHECK(sweepview_act(&v, 'K'));
    CHECK_HAS(text_str(&own.question), "It waits for room on the disk.");
    REQUIRE(own.answers == 2);
    CHECK_STR(own.answer[0], "now; R goes on with it");
    popup_close(&app);
    v.status.state = WIRE_PAUSED;
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "─ waits for room, then pauses ─");
    CHECK(!strstr(text_str(&out), " left"));
    v.status.code = ERR_OK;
    CHECK_INT(role_at(&v, "─ paused ─"), GRID_WARN);
    text_free(&out);
    text_free(&own.question);
    free(v.asked_of);
    sweepview_free(v.sweep);
}

TEST(columns_keep_their_width_while_cells_run)
{
    struct sweepview v = {.pane = SWEEPVIEW_BOARD, .read = true, .name = (char *)"board"};
    struct text out = {0};
    int wide;

    v.sweep = sweep_of("lr = 0.1, 0.2\nbatch = 64, 128\n");
    REQUIRE(v.sweep);
    for (size_t i = 0; i < v.sweep->now->cells; i++)
        v.sweep->now->cell[i].known = true;
    sweepview_sum(v.sweep);
    sweepview_first_look(v.sweep, &v.look);
    draw(&v, 21, 80, &out);
    wide = v.look.view.wide;
    set(v.sweep, VALUES("0.1", "64"), WIRE_RUNNING, NAN);
    cell_at(v.sweep, VALUES("0.1", "64"))->share = 0.999;
    set(v.sweep, VALUES("0.2", "64"), WIRE_OOM, NAN);
    set(v.sweep, VALUES("0.2", "128"), WIRE_DONE, 0.9);
    sweepview_sum(v.sweep);
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "running 99 %");
    CHECK_INT(v.look.view.wide, wide);
    cell_at(v.sweep, VALUES("0.1", "64"))->full = true;
    sweepview_sum(v.sweep);
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "no room 99 %");
    CHECK_HAS(text_str(&out), "1 no room");
    CHECK(!strstr(text_str(&out), "running"));
    CHECK_INT(v.look.view.wide, wide);
    text_free(&out);
    sweepview_free(v.sweep);
}

TEST(a_sweep_that_begins_is_shown_once_without_being_asked_for)
{
    struct wire *wire = wire_new(16);
    struct app app = {.config = {.screens = ui_screens, .results = "/nonexistent", .wire = wire},
                      .shown = SCREEN_SWEEP};
    struct wire_sweep_status status = {
        .sweep = 7, .state = WIRE_RUNNING, .name = "new", .path = "/nonexistent/sweeps/new"};
    struct sweepview *v = screen_sweep.open(&app);

    screen_sweep_open(v, "old");
    screen_sweep.show(v);
    CHECK_STR(v->name, "old");
    wire_set_sweep(wire, &status);
    screen_sweep.show(v);
    CHECK_STR(v->name, "new");
    screen_sweep_open(v, "old"); /* what is chosen by hand stays */
    screen_sweep.show(v);
    CHECK_STR(v->name, "old");
    status.sweep = 8;
    memcpy(status.name, "next", 5);
    wire_set_sweep(wire, &status);
    screen_sweep.tick(v);
    CHECK_STR(v->name, "next");
    screen_sweep.close(v);
    wire_free(wire);
}

TEST(what_was_dropped_is_not_shown_as_waiting_where_the_sweep_goes_on)
{
    struct wire *wire = wire_new(16);
    struct app app = {.config = {.screens = ui_screens, .results = "/nonexistent", .wire = wire},
                      .shown = SCREEN_SWEEP};
    struct wire_sweep_status status = {
        .sweep = 7, .state = WIRE_PAUSED, .name = "board", .path = "/nonexistent/sweeps/board"};
    struct sweepview *v = screen_sweep.open(&app);

    v->sweep = sweep_of("lr = 0.1, 0.2\n");
    REQUIRE(v->sweep);
    set(v->sweep, VALUES("0.1"), WIRE_SKIPPED, NAN);
    wire_set_sweep(wire, &status);
    wire_set_cell(wire, 7,
                  &(struct wire_cell){.cell = 0, .known = true, .acc = NAN, .val_acc = NAN});
    wire_set_cell(
        wire, 7,
        &(struct wire_cell){.cell = 1, .known = true, .state = WIRE_RUNNING, .run = 9, .acc = NAN});
    CHECK(sweepview_merge(v));
    CHECK_INT(v->sweep->now->cell[0].state, WIRE_SKIPPED);
    CHECK_INT(v->sweep->now->cell[1].state, WIRE_RUNNING); /* only the sweep is paused */
    v->failed_again = true;
    CHECK(sweepview_merge(v));
    CHECK_INT(v->sweep->now->cell[0].state, WIRE_WAITING);
    screen_sweep.close(v);
    wire_free(wire);
}

static bool is_told(struct wire *wire, enum wire_wish wish)
{
    struct wire_command command;

    return wire_next_command(wire, &command, 0) && command.kind == WIRE_WISH &&
           command.wish == wish;
}

TEST(a_cell_that_is_paused_alone_pauses_the_board)
{
    struct wire *wire = wire_new(16);
    struct app_int own = {.said = ""};
    struct app app = {.config = {.screens = ui_screens, .results = "/nonexistent", .wire = wire},
                      .own = &own,
                      .shown = SCREEN_SWEEP};
    struct wire_sweep_status status = {
        .sweep = 7, .state = WIRE_RUNNING, .name = "board", .path = "/nonexistent/sweeps/board"};
    struct wire_event event = {.kind = WIRE_STATE, .run = 9, .u.state.state = WIRE_PAUSED};
    struct wire_command command;
    struct text out = {0};
    struct sweepview *v = screen_sweep.open(&app);

    app.feed = feed_new(wire, "/nonexistent");
    app.tasks = tasks_new();
    tasks_patience(app.tasks, 20000);
    v->sweep = sweep_of("lr = 0.1, 0.2\n");
    REQUIRE(v->sweep);
    sweepview_first_look(v->sweep, &v->look);
    v->name = mem_text("board");
    wire_set_sweep(wire, &status);
    wire_set_cell(
        wire, 7,
        &(struct wire_cell){.cell = 1, .known = true, .state = WIRE_RUNNING, .run = 9, .acc = NAN});
    wire_post(wire, &event);
    feed_take(app.feed, NULL, NULL);
    CHECK(sweepview_merge(v));
    CHECK_INT(v->sweep->now->cell[1].state, WIRE_PAUSED);
    draw(v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "1 paused");
    status.wish = WIRE_WISH_STOP_CELLS;
    status.running = status.paused = 1;
    wire_set_sweep(wire, &status);
    CHECK(sweepview_merge(v));
    draw(v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "─ paused, then stops ─");
    CHECK(!strstr(text_str(&out), " left"));
    CHECK(!strstr(text_str(&out), "time known"));
    CHECK(!strstr(text_str(&out), "1 running"));
    CHECK(sweepview_act(v, 'p'));
    CHECK(is_told(wire, WIRE_WISH_RUN));
    CHECK_STR(text_str(&app.did), "go board");
    CHECK(sweepview_act(v, 'R')); /* does the same: one word ends the pause, and the stop */
    CHECK(is_told(wire, WIRE_WISH_RUN));
    CHECK(!wire_next_command(wire, &command, 0));
    CHECK_STR(text_str(&app.did), "go board");
    text_clear(&out);
    sweepview_offers(v, &out);
    CHECK_HAS(text_str(&out), "go board\nstop board\n");
    CHECK(sweepview_act(v, 'K'));
    CHECK_STR(text_str(&own.question), "It stops after the running cells. Something else?");
    CHECK_STR(own.answer[0], "take the stop back: the sweep goes on");
    popup_close(&app);
    status.wish = WIRE_WISH_RUN;
    wire_set_sweep(wire, &status);
    CHECK(sweepview_merge(v));
    CHECK(sweepview_act(v, 'R')); /* what is paused alone goes on, as with p */
    CHECK(is_told(wire, WIRE_WISH_RUN));
    CHECK(!wire_next_command(wire, &command, 0));
    status.wish = WIRE_WISH_STOP_CELLS;
    event.u.state.state = WIRE_RUNNING;
    wire_post(wire, &event);
    feed_take(app.feed, NULL, NULL);
    CHECK(sweepview_merge(v));
    CHECK_INT(v->sweep->now->cell[1].state, WIRE_RUNNING);
    status.running = 2; /* one of them is paused alone: that goes on too */
    wire_set_sweep(wire, &status);
    CHECK(sweepview_merge(v));
    CHECK(sweepview_act(v, 'R'));
    CHECK(is_told(wire, WIRE_WISH_RUN));
    CHECK(!wire_next_command(wire, &command, 0));
    status.running = 1;
    status.paused = 0;
    wire_set_sweep(wire, &status);
    CHECK(sweepview_merge(v));
    CHECK(sweepview_act(v, 'R')); /* where nothing is paused the stop is taken back */
    CHECK(is_told(wire, WIRE_WISH_RUN));
    CHECK(sweepview_act(v, 'p'));
    CHECK(is_told(wire, WIRE_WISH_PAUSE));
    status.wish = WIRE_WISH_STOP_EPOCH;
    wire_set_sweep(wire, &status);
    CHECK(sweepview_merge(v));
    draw(v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "─ stopping after this epoch ─");
    text_clear(&out);
    sweepview_offers(v, &out);
    CHECK(!strncmp(text_str(&out), "go board\n", 9));
    CHECK(sweepview_act(v, 'R'));
    CHECK(is_told(wire, WIRE_WISH_RUN));
    CHECK(sweepview_act(v, 'K'));
    CHECK_STR(text_str(&own.question), "It stops after this epoch. Something else?");
    REQUIRE(own.answers == 3);
    CHECK_STR(own.answer[0], "take the stop back: the sweep goes on");
    own.on_answer(own.user, 1);
    CHECK(is_told(wire, WIRE_WISH_STOP));
    own.on_answer(own.user, 2);
    CHECK(!wire_next_command(wire, &command, 0));
    own.on_answer(own.user, 0);
    CHECK_STR(text_str(&app.did), "go board");
    CHECK(is_told(wire, WIRE_WISH_RUN));
    popup_close(&app);
    claim_close(&app);
    tasks_free(app.tasks);
    text_free(&own.question);
    text_free(&out);
    text_free(&app.did);
    screen_sweep.close(v);
    feed_free(app.feed);
    wire_free(wire);
}

static void answer(struct app *app, int which)
{
    void (*to)(void *user, int answer) = app->own->on_answer;
    void *user = app->own->user;

    popup_close(app);
    if (to)
        to(user, which);
}

/* Where another program has taken the machine meanwhile. */
TEST(a_paused_sweep_goes_on_behind_a_question)
{
    struct wire *wire = wire_new(16);
    struct app_int own = {.said = ""};
    char *results = help_folder(), *cache = io_path(results, ".cache");
    struct app app = {.config = {.screens = ui_screens, .results = results, .wire = wire},
                      .own = &own,
                      .shown = SCREEN_SWEEP};
    struct wire_sweep_status status = {.sweep = 7,
                                       .state = WIRE_PAUSED,
                                       .name = "board",
                                       .path = "/nonexistent/sweeps/board",
                                       .running = 1,
                                       .paused = 1};
    const char *was = getenv("CHORUS_CACHE");
    char *before = mem_text(was ? was : "off");
    struct wire_command command;
    struct sweepview *v = screen_sweep.open(&app);
    pid_t child;
    int end;

    setenv("CHORUS_CACHE", cache, 1);
    child = other_program(results, "/r/other", &end);
    app.feed = feed_new(wire, results);
    app.screen[SCREEN_SETUP] = mem_new(1, sizeof(struct setup));
    ((struct setup *)app.screen[SCREEN_SETUP])->app = &app;
    app.tasks = tasks_new();
    tasks_patience(app.tasks, 20000);
    v->sweep = sweep_of("lr = 0.1, 0.2\n");
    REQUIRE(v->sweep);
    v->name = mem_text("board");
    for (int stops = 0; stops < 2; stops++) {
        status.wish = stops ? WIRE_WISH_STOP_CELLS : WIRE_WISH_PAUSE;
        wire_set_sweep(wire, &status);
        CHECK(sweepview_merge(v));
        for (const char *key = "pRK"; *key; key++) {
            CHECK(sweepview_act(v, *key));
            if (*key == 'K')
                answer(&app, 0);
            CHECK_HAS(text_str(&own.question), "Another chorus (process");
            CHECK(!wire_next_command(wire, &command, 0));
            answer(&app, 1); /* cancel */
            CHECK(!wire_next_command(wire, &command, 0));
        }
    }
    CHECK(sweepview_act(v, 'R'));
    answer(&app, 0);
    CHECK(is_told(wire, WIRE_WISH_RUN) && !wire_next_command(wire, &command, 0));
    claim_drop(&app);
    status.state = WIRE_RUNNING;
    v->sweep->now->cell[0] = (struct live_cell){.known = true, .state = WIRE_PAUSED, .acc = NAN};
    sweepview_first_look(v->sweep, &v->look);
    for (int paused = 1; paused >= 0; paused--) { /* a cell alone, in whose place another begins */
        wire_set_sweep(wire, &status);
        CHECK(sweepview_merge(v));
        CHECK(sweepview_act_cell(v, 'd'));
        answer(&app, 0);
        if (paused) {
            CHECK_HAS(text_str(&own.question), "Another chorus (process");
            CHECK(!wire_next_command(wire, &command, 0));
            answer(&app, 0);
        }
        CHECK(wire_next_command(wire, &command, 0) && command.kind == WIRE_SKIP);
        status.state = WIRE_PAUSED;
    }
    CHECK(sweepview_act(v, 'p'));
    live_set_text(&v->name, "other"); /* while it is thought about */
    answer(&app, 0);
    CHECK_STR(own.said, "Nothing was done: another sweep is shown now.");
    CHECK(!wire_next_command(wire, &command, 0));
    v->own = false; /* nor does one that a third program holds */
    v->sweep->now->live = true;
    v->sweep->now->is = status;
    text_clear(&own.question);
    CHECK(sweepview_act(v, 'p'));
    CHECK_HAS(text_str(&own.question), "Another chorus (process");
    answer(&app, 1);
    end_program(child, end);
    setenv("CHORUS_CACHE", before, 1);
    claim_close(&app);
    tasks_free(app.tasks);
    text_free(&own.question);
    text_free(&app.did);
    screen_sweep.close(v);
    feed_free(app.feed);
    wire_free(wire);
    free(app.screen[SCREEN_SETUP]);
    free(before);
    free(cache);
    help_remove(results);
}

static void wait_for_byte(void *arg)
{
    char byte;

    (void)!read(*(int *)arg, &byte, 1);
}

static void forget(void *arg, bool dropped)
{
    (void)arg;
    (void)dropped;
}

/* While the machine is claimed for one the keys go on. */
TEST(a_cell_is_dropped_that_was_asked_about)
{
    struct wire *wire = wire_new(16);
    struct app_int own = {.said = ""};
    char *results = help_folder();
    struct app app = {.config = {.screens = ui_screens, .results = results, .wire = wire},
                      .own = &own,
                      .shown = SCREEN_SWEEP};
    struct wire_sweep_status status = {.sweep = 7,
                                       .state = WIRE_RUNNING,
                                       .name = "board",
                                       .path = "/nonexistent/sweeps/board",
                                       .running = 2,
                                       .paused = 2};
    struct wire_command command;
    struct sweepview *v = screen_sweep.open(&app);
    int gate[2];

    REQUIRE(pipe(gate) == 0);
    app.feed = feed_new(wire, results);
    app.tasks = tasks_new();
    tasks_patience(app.tasks, 0);
    (void)tasks_try(app.tasks, wait_for_byte, forget, &gate[0]); /* a slow disk */
    v->sweep = sweep_of("lr = 0.1, 0.2\n");
    REQUIRE(v->sweep);
    v->name = mem_text("board");
    wire_set_sweep(wire, &status);
    CHECK(sweepview_merge(v));
    for (int i = 0; i < 2; i++)
        v->sweep->now->cell[i] =
            (struct live_cell){.known = true, .state = WIRE_PAUSED, .acc = NAN};
    sweepview_first_look(v->sweep, &v->look);
    CHECK(sweepview_act_cell(v, 'd'));
    answer(&app, 0);
    v->look.view.row = 1;
    v->look.view.column = 0;
    CHECK_INT(sweepview_chosen(v->sweep, &v->look), 1);
    CHECK(sweepview_act_cell(v, 'd'));
    CHECK(!wire_next_command(wire, &command, 0));
    CHECK(write(gate[1], "g", 1) == 1);
    for (int drops = 0; drops < 2; drops++) {
        while (app.claiming) {
            struct pollfd fd = {.fd = tasks_fd(app.tasks), .events = POLLIN};

            poll(&fd, 1, 100);
            (void)tasks_take(app.tasks);
        }
        REQUIRE(wire_next_command(wire, &command, 0));
        CHECK_INT(command.kind, WIRE_SKIP);
        CHECK_INT(command.cell, drops);
        CHECK(!wire_next_command(wire, &command, 0));
        if (!drops)
            answer(&app, 0);
    }
    claim_close(&app);
    tasks_free(app.tasks);
    close(gate[0]);
    close(gate[1]);
    text_free(&own.question);
    text_free(&app.did);
    screen_sweep.close(v);
    feed_free(app.feed);
    wire_free(wire);
    help_remove(results);
}

TEST(what_keys_do_to_a_sweep_is_a_command_line_too)
{
    struct wire *wire = wire_new(16);
    struct app app = {.config = {.screens = ui_screens, .results = "/nonexistent", .wire = wire},
                      .shown = SCREEN_SWEEP};
    struct sweepview *v = screen_sweep.open(&app);

    v->sweep = sweep_of("lr = 0.1, 0.2\nbatch = 64, 128\nzip = devices, threads\n"
                        "devices = 1, 2\nthreads = 4, 2\nrepeats = 2\n");
    REQUIRE(v->sweep);
    for (size_t i = 0; i < v->sweep->now->cells; i++)
        v->sweep->now->cell[i] = (struct live_cell){.known = true, .acc = NAN, .val_acc = NAN};
    sweepview_sum(v->sweep);
    sweepview_first_look(v->sweep, &v->look);
    v->own = true;
    CHECK(sweepview_act_cell(v, '+'));
    CHECK_STR(text_str(&app.did), "queue move board lr=0.1 batch=64 devices=1 threads=4 -1");
    CHECK(sweepview_act_cell(v, '-'));
    CHECK_STR(text_str(&app.did), "queue move board lr=0.1 batch=64 devices=1 threads=4 1");
    sweepview_did_drop(v, 0);
    CHECK_STR(text_str(&app.did), "stop board --skip lr=0.1 batch=64 devices=1 threads=4");
    text_free(&app.did);
    screen_sweep.close(v);
    wire_free(wire);
}

TEST(without_sweeps_it_says_how_one_is_made)
{
    struct sweepview v = {.pane = SWEEPVIEW_BOARD, .read = true};
    struct text out = {0};

    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "There are no sweeps yet.");
    text_free(&out);
}

TEST(a_wide_board_scrolls_to_the_chosen_cell)
{
    struct sweepview v = {.pane = SWEEPVIEW_BOARD, .read = true};
    struct text out = {0};

    v.sweep = sweep_of("lr = lin:1:30:30\nbatch = step:1:40:1\n");
    REQUIRE(v.sweep);
    v.name = (char *)"board";
    sweepview_first_look(v.sweep, &v.look);
    set(v.sweep, VALUES("30", "40"), WIRE_DONE, 0.1234);
    sweepview_sum(v.sweep);
    draw(&v, 24, 80, &out);
    CHECK(!strstr(text_str(&out), "*0.1234"));
    v.look.view.row = 29;
    v.look.view.column = 39;
    draw(&v, 24, 80, &out);
    CHECK_HAS(text_str(&out), "*0.1234");
    CHECK_HAS(text_str(&out), "↑");
    text_free(&out);
    sweepview_free(v.sweep);
}

/* ---- from the disk ---- */

static char *new_folder(void)
{
    char *path = mem_textf("%s/sweeps-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");

    return mkdtemp(path) ? path : NULL;
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char *path = io_path(folder, name);

    if (io_replace_file(path, text, strlen(text), NULL) != ERR_OK)
        abort();
    free(path);
}

static void remove_all(char *folder)
{
    char *command = mem_textf("rm -rf '%s'", folder);

    if (system(command) != 0)
        printf("  %s stays\n", folder);
    free(command);
    free(folder);
}

TEST(a_sweep_of_another_program_is_read_from_its_files)
{
    char *results = new_folder(), *folder = mem_textf("%s/sweeps/board", results);
    struct sweepview_disk disk;
    struct err e;
    uint64_t stamp;

    REQUIRE_OK(io_make_folders(folder, &e));
    write_file(folder, "sweep.ini",
               "# options: --order grid\nlr = 0.1, 0.2, 0.4\nbatch = 64, 128\n");
    write_file(folder, "sweep.csv",
               "cell,run,state,reason,lr,batch,best_by,best_test_acc,wall_seconds,train_seconds,"
               "val_acc\n"
               "aa,,done,,0.1,64,valid,0.8,12.5,9.25,0.75\n"
               "bb,,diverged,\"the loss, it is not finite\",0.4,128,,,,,\n"
               "cc,,waiting,,0.2,128,,,,,\n");
    write_file(folder, "ledger.csv",
               "time,cell,run,state,reason\n2026-11-21T17:00:00.000Z,aa,,done,\n"
               "2026-11-21T17:00:01.000Z,bb,,diverged,\"the loss, it is not finite\"\n");
    sweepview_read(results, NULL, 0, NULL, 0, &disk);
    REQUIRE(disk.lines == 1 && disk.sweep && !disk.sweep->now->problem);
    CHECK_STR(disk.line[0].name, "board");
    CHECK_INT(disk.line[0].cells, 6);
    CHECK_INT(disk.line[0].ended, 2);
    CHECK_NEAR(disk.line[0].best, 0.8, 1e-12);
    CHECK(disk.sweep->now->options.grid);
    CHECK_INT(cell_at(disk.sweep, VALUES("0.1", "64"))->state, WIRE_DONE);
    CHECK_NEAR(cell_at(disk.sweep, VALUES("0.1", "64"))->seconds, 12.5, 1e-12);
    CHECK_NEAR(cell_at(disk.sweep, VALUES("0.1", "64"))->train, 9.25, 1e-12);
    CHECK_NEAR(cell_at(disk.sweep, VALUES("0.1", "64"))->val_acc, 0.75, 1e-12);
    CHECK_INT(cell_at(disk.sweep, VALUES("0.4", "128"))->state, WIRE_DIVERGED);
    CHECK_STR(cell_at(disk.sweep, VALUES("0.4", "128"))->why, "the loss, it is not finite");
    CHECK_INT(cell_at(disk.sweep, VALUES("0.2", "64"))->state, WIRE_WAITING);
    CHECK(!disk.sweep->now->live);
    stamp = disk.line[0].stamp;
    sweepview_free(disk.sweep);

    /* What has not changed is not read again; what is gone is said to be. */
    struct sweepview_disk again;
    sweepview_read(results, "board", stamp, disk.line, disk.lines, &again);
    CHECK(!again.sweep && !again.gone);
    CHECK_INT(again.line[0].ended, 2);
    sweepview_free_lines(again.line, again.lines);
    sweepview_read(results, "other", 0, disk.line, disk.lines, &again);
    CHECK(!again.sweep && again.gone);
    sweepview_free_lines(again.line, again.lines);
    sweepview_free_lines(disk.line, disk.lines);
    free(folder);
    remove_all(results);
}

/* A process that works on the sweep "board" of these results, and tells so until it dies. */
static pid_t work_elsewhere(const char *results, const struct wire_sweep_status *is)
{
    char *work = mem_textf("%s/sweeps/board/work", results), byte;
    int ends[2];
    pid_t child = pipe(ends) ? -1 : fork();

    if (child == 0) {
        int fd = open(work, O_RDWR | O_CREAT, 0666);
        struct record_work *w = record_work_new(results);

        record_work_set_sweep(w, is);
        record_work_set(w, "", 0);
        if (flock(fd, LOCK_SH) == 0 && write(ends[1], "y", 1) == 1)
            pause();
        _exit(1);
    }
    CHECK(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    close(ends[1]);
    free(work);
    return child;
}

TEST(how_a_sweep_stands_its_own_program_tells_as_long_as_it_lives)
{
    const char *was = getenv("CHORUS_CACHE");
    char *before = was ? mem_text(was) : NULL, *results = new_folder();
    char *folder = mem_textf("%s/sweeps/board", results), *cache = io_path(results, "cache");
    struct sweepview v = {.pane = SWEEPVIEW_BOARD, .read = true, .name = (char *)"board"};
    struct wire_sweep_status is = {.name = "board",
                                   .state = WIRE_PAUSED,
                                   .cells = 3,
                                   .done = 1,
                                   .running = 1,
                                   .waiting = 1,
                                   .left_seconds = 26.2};
    struct feed_sweep told = {0};
    struct sweepview_disk disk;
    struct text out = {0};
    struct err e;
    pid_t other;

    setenv("CHORUS_CACHE", cache, 1);
    REQUIRE_OK(io_make_folders(folder, &e));
    write_file(folder, "sweep.ini", "lr = 0.1, 0.2, 0.4\n");
    write_file(folder, "ledger.csv",
               "time,cell,run,state,reason\n2026-11-21T17:00:00.000Z,aa,,done,\n");
    other = work_elsewhere(results, &is);
    CHECK(sweepview_read_live(results, NULL, 0, &told));
    CHECK(told.told && told.is.state == WIRE_PAUSED && told.is.running == 1);
    CHECK_NEAR(told.is.left_seconds, 27, 1e-9);
    CHECK_INT(wire_sweep_at(&told.is), 2);
    sweepview_read(results, NULL, 0, NULL, 0, &disk);
    REQUIRE(disk.lines == 1 && disk.sweep && !disk.sweep->now->problem);
    v.sweep = disk.sweep;
    sweepview_first_look(v.sweep, &v.look);
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "paused: no further cell begins, elsewhere");
    CHECK_HAS(text_str(&out), " 27 s left");
    CHECK(has_hint(sweepview_hints(&v), "p", "go on"));
    sweepview_free(disk.sweep);
    sweepview_free_lines(disk.line, disk.lines);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    CHECK(!sweepview_read_live(results, NULL, 0, &told));
    sweepview_read_over(results, "board", &told);
    CHECK(!told.told && told.is.state == WIRE_STOPPED);
    if (before)
        setenv("CHORUS_CACHE", before, 1);
    else
        unsetenv("CHORUS_CACHE");
    text_free(&out);
    free(before);
    free(cache);
    free(folder);
    remove_all(results);
}

/* List and board have all cells of the grid; the line of status what was asked for, as the sweep's own
 * program has. */
TEST(cells_that_max_cells_leaves_are_told_as_such)
{
    char *results = new_folder(), *folder = mem_textf("%s/sweeps/board", results);
    struct sweepview v = {.pane = SWEEPVIEW_BOARD, .read = true, .name = (char *)"board"};
    struct sweepview_disk disk;
    struct feed_sweep told = {0};
    struct text out = {0};
    struct err e;

    REQUIRE_OK(io_make_folders(folder, &e));
    write_file(folder, "sweep.ini", "# options: --max-cells 2\nlr = 0.1, 0.2, 0.4\n");
    write_file(folder, "sweep.csv",
               "cell,run,state,reason,lr,best_by,best_test_acc,wall_seconds,val_acc,listed\n"
               "aa,,done,,0.1,test,0.8,12.5,,yes\nbb,,waiting,,0.4,,,,,yes\n");
    write_file(folder, "ledger.csv",
               "time,cell,run,state,reason\n2026-11-21T17:00:00.000Z,aa,,done,\n");
    sweepview_read(results, NULL, 0, NULL, 0, &disk);
    REQUIRE(disk.lines == 1 && disk.sweep && !disk.sweep->now->problem);
    CHECK_INT(disk.line[0].ended, 1);
    CHECK_INT(disk.line[0].cells, 3);
    v.sweep = disk.sweep;
    sweepview_first_look(v.sweep, &v.look);
    draw(&v, 21, 100, &out);
    CHECK_HAS(text_str(&out), "1 done, 1 waiting, 1 left by --max-cells");
    CHECK_HAS(text_str(&out), "stopped: R goes on");
    CHECK_HAS(text_str(&out), "█▋░░"); /* two thirds are to do */
    CHECK_NEAR(live_sweep_left_seconds(v.sweep->now), 12.5, 1e-9);
    sweepview_read_over(results, "board", &told);
    CHECK(told.is.cells == 2 && wire_sweep_ended(&told.is) == 1 && told.is.state == WIRE_STOPPED);
    set(v.sweep, VALUES("0.4"), WIRE_DONE, 0.7);
    sweepview_sum(v.sweep);
    draw(&v, 21, 100, &out);
    CHECK_HAS(text_str(&out), "2 done, 1 left by --max-cells");
    CHECK_HAS(text_str(&out), "done up to --max-cells: R has the rest");
    CHECK(isnan(live_sweep_left_seconds(v.sweep->now)));
    text_free(&out);
    sweepview_free(disk.sweep);
    sweepview_free_lines(disk.line, disk.lines);
    free(folder);
    remove_all(results);
}

/* What --max-cells takes the sheet says, and with it every program: cells that are the same as others, or
 * that cannot be planned, it does not count. */
TEST(what_failed_beyond_max_cells_is_told_apart)
{
    char *results = new_folder(), *folder = mem_textf("%s/sweeps/board", results);
    struct app_int own = {.said = ""};
    struct app app = {.config.screens = ui_screens, .own = &own, .shown = SCREEN_SWEEP};
    struct sweepview v = {.app = &app, .read = true, .name = (char *)"board"};
    struct sweepview_disk disk;
    struct feed_sweep told = {0};
    struct err e;

    REQUIRE_OK(io_make_folders(folder, &e));
    write_file(folder, "sweep.ini", "# options: --max-cells 2\nlr = 0.1, 0.2, 0.4, 0.8\n");
    write_file(folder, "sweep.csv",
               "cell,run,state,reason,lr,best_by,best_test_acc,wall_seconds,val_acc,listed\n"
               "aa,,oom,,0.8,,,,,yes\nbb,,done,,0.2,test,0.8,12.5,,yes\n"
               "cc,,diverged,,0.4,,,,,\ndd,,stopped,,0.1,,,,,\n");
    write_file(folder, "ledger.csv", "time,cell,run,state,reason\n");
    sweepview_read(results, "board", 0, NULL, 0, &disk);
    REQUIRE(disk.sweep && !disk.sweep->now->problem);
    v.sweep = disk.sweep;
    CHECK_INT(live_sweep_failed(v.sweep->now, false), 1);
    CHECK_INT(live_sweep_failed(v.sweep->now, true), 1);
    CHECK_INT(live_sweep_open(v.sweep->now), 0);
    CHECK_INT(live_sweep_beyond(v.sweep->now), 1);
    CHECK_STR(sweepview_standing(&v), "done up to --max-cells: R has the rest");
    sweepview_read_over(results, "board", &told);
    CHECK(told.is.cells == 2 && wire_sweep_ended(&told.is) == 2 && told.is.state == WIRE_DONE);
    CHECK(sweepview_act(&v, 'F'));
    CHECK_STR(text_str(&own.question),
              "Train 1 cell without a good end again? 1 more lies beyond --max-cells 2 (lr 0.4): "
              "chorus resume board --failed --max-cells 4 has it too.");
    popup_close(&app);
    text_free(&own.question);
    free(v.asked_of);
    sweepview_free(disk.sweep);
    sweepview_free_lines(disk.line, disk.lines);
    free(folder);
    remove_all(results);
}

/* Then it has no row: with the other one it is done. */
TEST(what_comes_to_the_same_as_another_cell_does_not_wait)
{
    static const struct {
        const char *state, *listed, *options, *counts;
        size_t open;
    } looks[] = {
        {"waiting", "yes", "", "1 done, 2 waiting", 2},                 /* nobody knows yet */
        {"diverged", "so far", "", "1 done, 1 diverged, 1 waiting", 1}, /* stopped while counted */
        {"diverged", "yes", "", "1 done, 1 diverged, 1 the same as another", 0},
        {"diverged", "yes", "# options: --max-cells 3\n", /* as many as there are */
         "1 done, 1 diverged, 1 the same as another", 0},
    };
    char *results = new_folder(), *folder = mem_textf("%s/sweeps/board", results);
    struct sweepview v = {.pane = SWEEPVIEW_BOARD, .read = true, .name = (char *)"board"};
    struct sweepview_disk disk;
    struct text out = {0};
    struct err e;

    REQUIRE_OK(io_make_folders(folder, &e));
    write_file(folder, "ledger.csv", "time,cell,run,state,reason\n");
    for (size_t i = 0; i < MEM_COUNT(looks); i++) {
        const char *listed = looks[i].listed;
        char *sheet = mem_textf(
            "cell,run,state,reason,batch,best_by,best_test_acc,wall_seconds,val_acc,listed\n"
            "aa,,done,,64,test,0.8,12.5,,%s\nbb,,%s,,128,,,,,%s\n",
            listed, looks[i].state, listed);
        char *lists = mem_textf("%sdevices = 2\nbatch = 64, 32/device, 128\n", looks[i].options);

        write_file(folder, "sweep.ini", lists);
        write_file(folder, "sweep.csv", sheet);
        sweepview_read(results, NULL, 0, NULL, 0, &disk);
        REQUIRE(disk.lines == 1 && disk.sweep && !disk.sweep->now->problem);
        CHECK_INT(disk.line[0].cells, looks[i].open ? 3 : 2);
        CHECK_INT(live_sweep_open(disk.sweep->now), looks[i].open);
        CHECK_INT(live_sweep_beyond(disk.sweep->now), 0);
        v.sweep = disk.sweep;
        sweepview_first_look(v.sweep, &v.look);
        draw(&v, 21, 100, &out);
        CHECK_HAS(text_str(&out), looks[i].counts);
        CHECK_HAS(text_str(&out), looks[i].open ? "stopped: R goes on" : "─ done ─");
        free(lists);
        free(sheet);
        sweepview_free(disk.sweep);
        sweepview_free_lines(disk.line, disk.lines);
    }
    text_free(&out);
    free(folder);
    remove_all(results);
}

/* Takes what tasks bring until nothing more comes; false: it goes on without end. */
static bool settle(struct app *app)
{
    for (int turns = 0; turns < 100;) {
        struct pollfd p = {tasks_fd(app->tasks), POLLIN, 0};

        if (tasks_idle(app->tasks) && !tasks_take(app->tasks))
            return true;
        poll(&p, 1, 20);
        turns += tasks_take(app->tasks) > 0;
    }
    return false;
}

TEST(what_a_sweep_was_told_is_said_until_it_has_obeyed)
{
    struct app_int own = {.said = ""};
    struct app app = {.own = &own,
                      .config = {.screens = ui_screens, .results = new_folder()},
                      .shown = SCREEN_SWEEP};
    struct sweepview *v = screen_sweep.open(&app);
    char *folder = mem_textf("%s/sweeps/board", app.config.results);
    struct err e;

    app.tasks = tasks_new();
    REQUIRE_OK(io_make_folders(folder, &e));
    write_file(folder, "control", "");
    v->name = mem_text("board");
    v->sweep = three_seeds();
    REQUIRE(v->sweep);
    v->sweep->now->live = true;
    v->sweep->now->is = (struct wire_sweep_status){.state = WIRE_RUNNING, .running = 1};
    CHECK(sweepview_act(v, 'p'));
    CHECK(settle(&app));
    CHECK_STR(own.said, "The program that works on it has been told to pause.");
    sweepview_keep_promise(v);
    CHECK(own.said[0]);
    v->sweep->now->is.state = WIRE_PAUSED;
    sweepview_keep_promise(v);
    CHECK_STR(own.said, "");
    snprintf(own.said, sizeof own.said, "something else");
    sweepview_keep_promise(v);
    CHECK_STR(own.said, "something else");
    tasks_free(app.tasks);
    text_free(&app.did);
    screen_sweep.close(v);
    free(folder);
    remove_all((char *)app.config.results);
}

/* It is told of as where another program shows it. */
TEST(a_sweep_that_ended_here_is_told_of_as_a_sweep)
{
    struct wire_sweep_status status = {.sweep = 9, .state = WIRE_RUNNING, .name = "board"};
    struct wire *wire = wire_new(8);
    struct app app = {
        .config = {.screens = ui_screens, .results = new_folder(), .ns = no_ns, .wire = wire}};
    char *folder = mem_textf("%s/sweeps/board", app.config.results);
    struct sweepview *v;
    struct text line = {0};
    struct err e;

    REQUIRE_OK(io_make_folders(folder, &e));
    write_file(folder, "sweep.ini", "lr = 0.1, 0.2\n");
    write_file(folder, "sweep.csv",
               "cell,run,state,reason,lr,best_by,best_test_acc\naa,,done,,0.1,test,0.8\n");
    write_file(folder, "ledger.csv",
               "time,cell,run,state,reason\n2026-11-21T17:00:00.000Z,aa,,done,\n");
    app.tasks = tasks_new();
    app.feed = feed_new(wire, app.config.results);
    v = screen_sweep.open(&app);
    wire_set_sweep(wire, &status);
    sweepview_tell_status(v);
    CHECK(settle(&app));
    status.state = WIRE_STOPPED;
    wire_set_sweep(wire, &status);
    v->tell_ns = 0;
    sweepview_tell_status(v);
    CHECK(settle(&app));
    status_add(app.feed, &line, 100);
    CHECK_STR(text_str(&line), "■ sweep stopped  board  1 of 2 cells  best 0.8000, picked on test");
    screen_sweep.close(v);
    tasks_free(app.tasks);
    feed_free(app.feed);
    wire_free(wire);
    text_free(&line);
    free(folder);
    remove_all((char *)app.config.results);
}

TEST(two_keys_before_the_first_look_ends_show_the_second_ones_sweep)
{
    struct app app = {.config = {.screens = ui_screens, .results = new_folder(), .ns = no_ns},
                      .shown = SCREEN_SWEEP};
    struct key down = {.code = UI_DOWN};
    struct sweepview *v;
    struct err e;

    for (int i = 0; i < 3; i++) {
        char *folder = mem_textf("%s/sweeps/%c", app.config.results, 'a' + i);

        REQUIRE_OK(io_make_folders(folder, &e));
        write_file(folder, "sweep.ini", "lr = 0.1, 0.2\n");
        write_file(folder, "ledger.csv", "time,cell,run,state,reason\n");
        free(folder);
    }
    app.tasks = tasks_new();
    v = screen_sweep.open(&app);
    screen_sweep.show(v);
    REQUIRE(settle(&app) && v->lines == 3 && v->sweep);
    CHECK_STR(v->sweep->now->name, "a");
    v->pane = SWEEPVIEW_LIST;
    screen_sweep.key(v, &down);
    screen_sweep.key(v, &down);
    CHECK(settle(&app));
    CHECK_STR(v->name, "c");
    REQUIRE(v->sweep);
    CHECK_STR(v->sweep->now->name, "c");
    screen_sweep.close(v);
    tasks_free(app.tasks);
    remove_all((char *)app.config.results);
}

/* Data that are again what they were: the later rows are those of other data. */
TEST(rows_that_are_not_listed_are_none_of_the_board)
{
    char *results = new_folder(), *folder = mem_textf("%s/sweeps/board", results);
    struct sweepview_disk disk;
    struct err e;

    REQUIRE_OK(io_make_folders(folder, &e));
    write_file(folder, "sweep.ini", "lr = 0.1, 0.2\n");
    write_file(folder, "sweep.csv",
               "cell,run,state,reason,lr,best_by,best_test_acc,wall_seconds,val_acc,listed\n"
               "aa,,done,,0.1,test,0.5,1,,yes\nbb,,done,,0.1,test,0.9,1,,no\n"
               "cc,,waiting,,0.2,,,,,yes\ndd,,diverged,,0.2,,,,,no\n");
    write_file(folder, "ledger.csv",
               "time,cell,run,state,reason\n2026-11-21T17:00:00.000Z,aa,,done,\n"
               "2026-11-21T17:00:01.000Z,bb,,done,\n2026-11-21T17:00:02.000Z,dd,,diverged,\n");
    sweepview_read(results, NULL, 0, NULL, 0, &disk);
    REQUIRE(disk.lines == 1 && disk.sweep && !disk.sweep->now->problem);
    CHECK_NEAR(cell_at(disk.sweep, VALUES("0.1"))->acc, 0.5, 1e-12);
    CHECK_INT(cell_at(disk.sweep, VALUES("0.2"))->state, WIRE_WAITING);
    CHECK_NEAR(disk.line[0].best, 0.5, 1e-12);
    CHECK_INT(disk.line[0].ended, 1);
    sweepview_free(disk.sweep);
    sweepview_free_lines(disk.line, disk.lines);
    free(folder);
    remove_all(results);
}

TEST(of_repeats_the_list_has_the_mean_that_the_board_has)
{
    char *results = new_folder(), *folder = mem_textf("%s/sweeps/board", results);
    struct feed_sweep over = {0};
    struct sweepview_disk disk;
    struct err e;

    REQUIRE_OK(io_make_folders(folder, &e));
    write_file(folder, "sweep.ini", "lr = 0.1, 0.2\nrepeats = 2\n");
    write_file(folder, "sweep.csv",
               "cell,run,state,reason,lr,seed,best_by,best_test_acc,wall_seconds,val_acc\n"
               "aa,,done,,0.1,0,test,0.9,1,\nbb,,done,,0.1,1,test,0.3,1,\n"
               "cc,,done,,0.2,0,test,0.7,1,\ndd,,done,,0.2,1,test,0.8,1,\n");
    write_file(folder, "ledger.csv",
               "time,cell,run,state,reason\n2026-11-21T17:00:00.000Z,aa,,done,\n");
    sweepview_read(results, NULL, 0, NULL, 0, &disk);
    REQUIRE(disk.lines == 1 && disk.sweep && !disk.sweep->now->problem);
    CHECK_NEAR(disk.line[0].best, 0.75, 1e-12); /* not 0.9, the luckiest */
    sweepview_read_over(results, "board", &over);
    CHECK(over.is.state == WIRE_DONE && over.mean);
    CHECK_NEAR(over.best, 0.75, 1e-12);
    CHECK_INT(wire_sweep_ended(&over.is), 4);
    sweepview_free(disk.sweep);
    sweepview_free_lines(disk.line, disk.lines);
    free(folder);
    remove_all(results);
}

TEST(a_damaged_sweep_says_what_is_wrong_with_it)
{
    char *results = new_folder(), *folder = mem_textf("%s/sweeps/bad", results);
    struct sweepview v = {.pane = SWEEPVIEW_BOARD, .read = true};
    struct sweepview_disk disk;
    struct text out = {0};
    struct err e;

    REQUIRE_OK(io_make_folders(folder, &e));
    write_file(folder, "ledger.csv", "time,cell,run,state,reason\n");
    write_file(folder, "sweep.ini", "lr = 0.1, 0.1\n");
    sweepview_read(results, "bad", 0, NULL, 0, &disk);
    REQUIRE(disk.sweep && disk.sweep->now->problem);
    CHECK_HAS(disk.sweep->now->problem, "sweep.ini");
    v.sweep = disk.sweep;
    v.name = disk.sweep->now->name;
    draw(&v, 21, 80, &out);
    CHECK_HAS(text_str(&out), "twice");
    v.line = disk.line;
    v.lines = disk.lines;
    draw(&v, 21, 120, &out);
    CHECK_HAS(text_str(&out), " bad                     -");
    CHECK(!strstr(text_str(&out), "0/0"));
    text_free(&out);
    sweepview_free(disk.sweep);
    sweepview_free_lines(disk.line, disk.lines);
    free(folder);
    remove_all(results);
}
