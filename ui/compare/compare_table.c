/* ui/compare/compare_table.c: the table of what differs between runs and what came of it. */
#include "ui/compare/compare_int.h"

#include "base/loss.h"
#include "draw/ink/words.h"
#include "study/compare.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST 24 /* columns of a cell */
#define HEAD 48 /* bytes of a column's head */

#define READ_WIDTH 9 /* columns of what is read at the cursor, at least */

/* Accuracies are, speed-ups and what a step is made of are not. */
static bool is_share(const struct compare *c, int column)
{
    return !c->scaling && c->table.column[column].kind == STUDY_SHARE;
}

static void cell_words(const struct compare *c, size_t row, int column, struct text *out)
{
    struct study_table *t = (struct study_table *)&c->table; /* its cell is only read */
    const struct study_cell *cell = study_table_cell(t, row, column);
    const char *slash;

    if (is_share(c, column) && isfinite(cell->value)) {
        share_add(out, cell->value);
        text_add(out, isfinite(cell->sd) ? " ± " : "");
        if (isfinite(cell->sd))
            share_add(out, cell->sd);
        return;
    }
    if (t->column[column].kind == STUDY_TEXT && strcmp(t->column[column].name, "read_at") != 0) {
        slash = strrchr(cell->text, '/');
        if (slash && slash[1]) {
            text_add(out, slash + 1);
            return;
        }
    }
    study_cell_text(&c->table, row, column, NULL, out);
}

static const char *head_of(const struct compare *c, int column, char out[HEAD])
{
    static const char *const heads[][2] = {
        {"train_seconds", "seconds"},     {"last.test_acc", "last"},
        {"best_epoch", "best at"},        {"difference_n", "pairs"},
        {"difference", "difference"},     {"difference_lo", "from"},
        {"difference_hi", "to"},          {"member_acc_mean", "mean member"},
        {"member_acc_max", "best member"}};

    const char *name = c->table.column[column].name;

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (!strcmp(name, heads[i][0]))
            name = heads[i][1];
    snprintf(out, HEAD, "%s%s", name, is_share(c, column) ? share_unit() : "");
    return out;
}

/* Text columns hold settings, which may be numbers. */
static bool is_words(const struct compare *c, int column)
{
    const struct study_table *t = &c->table;

    if (t->column[column].kind != STUDY_TEXT)
        return false;
    for (size_t i = 0; i < t->rows; i++) {
        const char *text = t->cell[i * t->columns + (size_t)column].text;
        double value;

        if (*text && !text_to_double(text, &value))
            return true;
    }
    return false;
}

static int width_of(const struct compare *c, int column)
{
    char head[HEAD];
    int width = text_width(head_of(c, column, head)), most;
    struct text cell = {0};

    for (size_t i = 0; i < c->table.rows; i++) {
        int w;

        text_clear(&cell);
        cell_words(c, i, column, &cell);
        w = text_width(text_str(&cell));
        width = w > width ? w : width;
    }
    text_free(&cell);
    most = !strcmp(c->table.column[column].name, "read_at") ? 40 : MOST;
    return width < most ? width : most;
}

/* One column of the table, from its head down. */
static int draw_column(const struct compare *c, struct grid *g, struct rect in, int at, int column)
{
    char head[HEAD];
    int width = width_of(c, column);
    bool words = is_words(c, column);
    struct text cell = {0}, cut = {0};

    if (!grid_shows_column(in, at, width, words))
        return at + width;
    if (words)
        grid_cut(g, in, 0, at, in.columns - at, GRID_HEAD, false, head_of(c, column, head));
    else
        grid_right(g, in, 0, at + width, GRID_HEAD, head_of(c, column, head));
    for (int i = 0; i + 1 < in.rows && c->top + (size_t)i < c->table.rows; i++) {
        size_t row = c->order[c->top + (size_t)i];
        bool best = study_table_cell((struct study_table *)&c->table, row, column)->best;

        text_clear(&cell);
        text_clear(&cut);
        cell_words(c, row, column, &cell);
        words_add_cut(&cut, text_str(&cell), width, g->ascii);
        if (words)
            grid_cut(g, in, 1 + i, at, in.columns - at, GRID_TEXT, false, text_str(&cut));
        else if (best)
            grid_bold(g, in, 1 + i, at + width - text_width(text_str(&cut)), GRID_GOOD,
                      text_str(&cut));
        else
            grid_right(g, in, 1 + i, at + width, GRID_TEXT, text_str(&cut));
    }
    text_free(&cell);
    text_free(&cut);
    return at + width;
}

static void add_read(enum study_kind kind, double value, struct text *out)
{
    char number[TEXT_NUMBER_ROOM];

    if (kind == STUDY_COUNT && value >= 0 && value < 1e18)
        text_add(out, text_count(number, (uint64_t)(value + 0.5)));
    else if (kind == STUDY_NUMBER)
        text_addf(out, "%.4g", value);
    else if (kind == STUDY_SHARE)
        share_add(out, value);
    else
        text_add(out, loss_text(number, value));
}

/* What the curves of the first plot read at the cursor. */
static int draw_read(const struct compare *c, struct grid *g, struct rect in, int at)
{
    const char *metric = compare_metric(compare_first_metric(c), NULL);
    enum study_kind kind = study_kind_of(metric);
    char number[PLOT_LABEL], head[64];
    int end = at + READ_WIDTH;

    plot_x_text(&c->plot[0], c->cursor_x, number);
    snprintf(head, sizeof head, "%s%s at %s", metric, kind == STUDY_SHARE ? share_unit() : "",
             number);
    end = at + text_width(head) > end ? at + text_width(head) : end;
    grid_right(g, in, 0, end, GRID_KEY, head);
    for (int i = 0; i + 1 < in.rows && c->top + (size_t)i < c->table.rows; i++) {
        size_t group = compare_row_group(c, c->top + (size_t)i);
        struct text value = {0};

        if (group >= c->groups || !isfinite(c->read[group]))
            continue;
        add_read(kind, c->read[group], &value);
        grid_right(g, in, 1 + i, end, GRID_SERIES + (int)group % GRID_SERIES_COLOURS,
                   text_str(&value));
        text_free(&value);
    }
    return end;
}

static void draw_marks(const struct compare *c, struct grid *g, struct rect in)
{
    for (int i = 0; i + 1 < in.rows && c->top + (size_t)i < c->table.rows; i++) {
        size_t group = compare_row_group(c, c->top + (size_t)i);
        int role = GRID_SERIES + (int)group % GRID_SERIES_COLOURS;

        if (c->equal.on || c->scaling || group < c->groups)
            grid_put(g, in, 1 + i, 1, plot_mark((int)group, g->ascii ? PLOT_ASCII : PLOT_BRAILLE),
                     role, GRID_BOLD);
        if (compare_has_twin(c, group))
            grid_put(g, in, 1 + i, 2, '=', GRID_WARN, GRID_BOLD);
        if (c->top + (size_t)i == c->row)
            grid_bold(g, in, 1 + i, 0, GRID_KEY, "›");
    }
}

static void draw_rows(struct compare *c, struct grid *g, struct rect in)
{
    int rows = in.rows - 1, at;

    c->page = rows > 1 ? rows : 1;
    c->top = grid_first(c->top, c->row, c->table.rows, rows);
    draw_marks(c, g, in);
    at = draw_column(c, g, in, 3, c->column[0]);
    if (c->cursor && !c->scaling)
        at = draw_read(c, g, in, at + 2);
    c->hidden = c->left;
    for (int i = 1 + c->left; i < c->columns; i++) {
        bool room = at + 2 < in.columns;

        at = room ? draw_column(c, g, in, at + 2, c->column[i]) : at;
        c->hidden += !room || at > in.columns;
    }
    if (c->hidden > c->left || at > in.columns)
        grid_text(g, in, 0, in.columns - 1, GRID_KEY, "›");
    for (int i = 0; i < rows && c->top + (size_t)i < c->table.rows; i++)
        if (c->top + (size_t)i == c->row)
            grid_paint(g, in, 1 + i, 3, in.columns - 3, GRID_CHOSEN);
}

/* brief: where there is little room. */
static void add_title(const struct compare *c, bool brief, struct text *out)
{
    size_t runs = c->set->count;

    if (c->scaling)
        text_add(out, "scaling");
    else if (c->equal.on)
        text_addf(out, "at equal %s", study_budget_name[c->equal.budget]);
    else if (c->over && brief)
        text_add(out, "mean ± sd");
    else if (c->over)
        text_addf(out, "%s setting%s of %s run%s, mean ± sd over seed", TEXT_COUNT(c->groups),
                  text_s(c->groups), TEXT_COUNT(runs), text_s(runs));
    else if (brief)
        text_addf(out, "%s run%s", TEXT_COUNT(runs), text_s(runs));
    else
        text_addf(out, runs == 1 ? "one run" : "%s runs, what differs and what came of it",
                  TEXT_COUNT(runs));
}

/* Whose runs these are, and those that are not compared at all. */
static void add_which(const struct compare *c, bool brief, struct text *out)
{
    char all[TEXT_NUMBER_ROOM];

    if (c->given)
        text_addf(out, "%s%s", c->what,
                  !brief && library_marks(c->app->library) ? ", not the marked runs" : "");
    if (c->more)
        text_addf(out, "%sthe newest of %s that are marked", out->n ? ", " : "",
                  text_count(all, c->count + c->more));
    if (c->set->left_out)
        text_addf(out, "%s%s cannot be read", out->n ? ", " : "", TEXT_COUNT(c->set->left_out));
}

/* Both whole: they are briefer where they have no room beside each other, the left one first. */
static struct rect draw_titles(const struct compare *c, struct grid *g, struct rect at)
{
    struct text title = {0}, which = {0};
    struct rect in;

    for (int brief = 0; brief <= 2; brief++) {
        text_clear(&title);
        text_clear(&which);
        add_title(c, brief > 0, &title);
        add_which(c, brief > 1, &which);
        if (!which.n ||
            text_width(text_str(&title)) + text_width(text_str(&which)) + 8 <= at.columns)
            break;
    }
    in = grid_frame(g, at, text_str(&title), c->table_pane);
    if (which.n)
        grid_frame_right(g, at, GRID_WARN, text_str(&which));
    text_free(&title);
    text_free(&which);
    return in;
}

/* What of the table has no room, in the frame's lower edge. */
static void draw_hidden(const struct compare *c, struct grid *g, struct rect at, int rows)
{
    size_t seen = rows > 0 ? (size_t)rows : 0, last = c->top + seen;
    struct text words = {0};

    if (c->wrong[0] || !c->table.rows)
        return;
    if (c->table.rows > seen)
        text_addf(&words, "rows %s to %s of %s", TEXT_COUNT(c->top + 1),
                  TEXT_COUNT(last < c->table.rows ? last : c->table.rows),
                  TEXT_COUNT(c->table.rows));
    if (c->hidden)
        text_addf(&words, "%s%d more column%s: %s%s%s%s", words.n ? ", " : "", c->hidden,
                  text_s(c->hidden), c->table_pane ? "" : "Tab, ", c->left ? "Left" : "",
                  c->left && c->hidden > c->left ? ", " : "", c->hidden > c->left ? "Right" : "");
    if (words.n)
        grid_frame_right(g, rect_bottom(at, 1), GRID_DIM, text_str(&words));
    if (c->notes_cut && text_width(text_str(&words)) + 24 <= at.columns)
        grid_text(g, at, at.rows - 1, 3, GRID_KEY, " i: all notes ");
    text_free(&words);
}

void compare_draw_table(struct compare *c, struct grid *g, struct rect at)
{
    struct rect in = draw_titles(c, g, at);

    c->table_at = in;
    if (c->wrong[0])
        grid_words(g, rect_behind(rect_below(in, 1), 2), 0, GRID_WARN, c->wrong);
    else if (c->table.rows)
        draw_rows(c, g, in);
    draw_hidden(c, g, at, in.rows - 1);
    if (c->table.rows > (size_t)(in.rows > 1 ? in.rows - 1 : 0))
        grid_scroll(g, rect_behind(rect_top(rect_below(at, 2), in.rows - 1), at.columns - 1),
                    (int)c->top, in.rows - 1, (int)c->table.rows);
}
