/* ui/compare/compare_draw.c: the screen Compare: curves above, the table below, what must be said last. */
#include "ui/compare/compare_int.h"

#include <stdio.h>

#define BESIDE 110 /* columns, from which on there are two plots */

/* Of many curves the names take one row at 80x24, since the table below has their marks; of few every
 * third of those that the curves can spare. */
static int legend_rows(const struct compare *c, int panel, int rows)
{
    return c->plot[panel].count > COMPARE_MANY ? (rows + 4) / 9 : 1 + (rows - PLOT_LEAST_ROWS) / 3;
}

/* At 80x24 a second and third note are worth more than as many rows of curves; below it one is all. */
static int most_note_rows(int rows)
{
    return rows < 16 ? 1 : 1 + rows / 10;
}

static const char *comma(const struct text *t)
{
    return t->n ? ", " : "";
}

/* What is to be known of a plot besides its title. brief: where there is little room beside that. */
static void add_words(const struct compare *c, int panel, bool brief, struct text *out)
{
    char number[PLOT_LABEL];

    if (c->scaling)
        return;
    plot_x_text(&c->plot[0], c->cursor_x, number);
    text_add(out, c->log_y ? "log" : "");
    if (c->smooth)
        text_addf(out, brief ? "%ssmooth %d" : "%ssmoothed over %d points", comma(out), c->smooth);
    if (c->over)
        text_addf(out, brief ? "%smean ± sd" : "%smean and sd over seed", comma(out));
    if (c->cursor && panel == 0)
        text_addf(out, "%s%s %s", comma(out),
                  c->equal.on ? study_budget_name[c->equal.budget] : compare_x_names[c->x], number);
}

static void draw_plot(struct compare *c, struct grid *g, struct rect at, int panel)
{
    struct rect in = grid_frame(g, at, c->title[panel], !c->table_pane && panel == 0);
    struct text words = {0};

    c->plot_at[panel] = in;
    c->plot[panel].columns = in.columns; /* a step of the cursor is a part of them */
    c->plot[panel].rows = in.rows;
    c->plot[panel].legend = legend_rows(c, panel, in.rows);
    add_words(c, panel, false, &words);
    if (text_width(c->title[panel]) + text_width(text_str(&words)) + 8 > at.columns) {
        text_clear(&words);
        add_words(c, panel, true, &words);
    }
    if (words.n)
        grid_frame_right(g, at, GRID_DIM, text_str(&words));
    text_free(&words);
    if (!c->scaling)
        compare_choose_labels(c, panel);
    for (int brief = 0; c->scaling && brief < 3; brief++) {
        compare_name_scaling(c, panel, brief);
        if (plot_legend_fits(&c->plot[panel]))
            break;
    }
    if (!c->plot[panel].count || c->missing[panel][0])
        grid_words(g, rect_behind(rect_below(in, 1), 2), 0, GRID_DIM, c->missing[panel]);
    else
        grid_plot(g, in, &c->plot[panel]);
}

static void draw_empty(const struct compare *c, struct grid *g, struct rect at)
{
    struct rect in = rect_behind(rect_below(grid_frame(g, at, "compare", true), 1), 2);
    char number[TEXT_NUMBER_ROOM];

    if (c->count && (c->loading || !c->set)) {
        grid_textf(g, in, 0, 0, GRID_DIM, "Reading %s run%s ...",
                   text_count(number, c->count + c->more), text_s((int64_t)(c->count + c->more)));
        return;
    }
    if (c->count && c->set && c->set->left_out) {
        grid_words(g, rect_before(in, 2), 0, GRID_BAD, c->set->problem);
        return;
    }
    if (!library_ready(c->app->library)) { /* marks are those of runs that are there */
        grid_text(g, in, 0, 0, GRID_DIM, "Reading the runs ...");
        return;
    }
    grid_bold(g, in, 0, 0, GRID_TEXT, "Nothing is marked.");
    grid_words(g, rect_before(in, 2), 2, GRID_TEXT,
               "On Results (key 3) Space marks a run and * all that a filter leaves; then they are "
               "overlaid here, with a table of what differs. One run is enough to begin with; an "
               "ensemble and a single model answer most.");
}

void compare_draw(void *screen, struct grid *g, struct rect in)
{
    struct compare *c = screen;
    bool wide = in.columns >= BESIDE;
    int most = most_note_rows(in.rows), notes, table, plots;

    if (wide != c->wide) {
        c->wide = wide;
        c->stale = true;
    }
    compare_renew(c);
    if (!c->set || !c->set->count) {
        draw_empty(c, g, in);
        return;
    }
    notes = compare_draw_notes(c, g, rect_top(in, 0));
    c->notes_cut = notes > most;
    notes = notes > most ? most : notes;
    table = (int)c->table.rows + 3;
    if (table > (in.rows - notes) * 2 / 5) /* it scrolls; curves do not */
        table = (in.rows - notes) * 2 / 5;
    table = table < 4 ? 4 : table;
    plots = in.rows - notes - table;
    if (plots < PLOT_LEAST_ROWS + 2) { /* no room for curves */
        plots = 0;
        table = in.rows - notes;
    }
    if (plots && wide) {
        draw_plot(c, g, rect_left(rect_top(in, plots), in.columns / 2), 0);
        draw_plot(c, g, rect_behind(rect_top(in, plots), in.columns / 2), 1);
    } else if (plots) {
        draw_plot(c, g, rect_top(in, plots), 0);
    }
    compare_draw_table(c, g, rect_top(rect_below(in, plots), table));
    compare_draw_notes(c, g, rect_below(in, plots + table));
}
