/* ui/compare_draw.c: the screen Compare: curves above, the table below, what must be said last. */
#include "ui/compare_int.h"
#include "ui/results_int.h"
#include "draw/words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BESIDE 110 /* columns, from which on there are two plots */
#define MOST   24  /* columns of a cell */
#define LONG   60  /* of settings in a sentence */
#define TWINS  4   /* that are named */
#define APART  2   /* columns between entries of a legend */

static enum plot_level level_of(const struct grid *g)
{
    return g->ascii ? PLOT_ASCII : PLOT_BRAILLE;
}

/* ---- curves ---- */

/* What curves may be called: the settings that tell them apart, their values alone (the table's heads say
 * of what), as the table calls them, that without what all begin with, the end of their names. */
enum label { LABEL_WHOLE, LABEL_VALUES, LABEL_TABLE, LABEL_REST, LABEL_END, LABELS };

static const char *label_of(const struct compare *c, size_t group, enum label kind, size_t front)
{
    switch (kind) {
    case LABEL_WHOLE:
        return c->label[group];
    case LABEL_VALUES:
        return c->brief[group];
    case LABEL_TABLE:
        return c->plain[group];
    case LABEL_REST:
        return c->plain[group] + front;
    default:
        return c->tail[group];
    }
}

/* Bytes of ASCII with which all names of the table begin, up to the end of a word; of none the whole. */
static size_t common_front(const struct compare *c, const struct curves *of)
{
    const char *first = of->lines > 1 ? c->plain[of->line[0].group] : "";
    size_t n = 0;

    while (first[n] > 0 && first[n] < 0x7f)
        n++;
    for (size_t i = 1; i < of->lines; i++) {
        const char *name = c->plain[of->line[i].group];
        size_t k = 0;

        while (k < n && name[k] == first[k])
            k++;
        n = k;
    }
    while (n && isalnum((unsigned char)first[n - 1]))
        n--;
    return n;
}

/* Whether the legend has room for all of them uncut: in a row, or below each other as plot_legend does. */
static bool labels_fit(const struct compare *c, int panel, enum label kind, size_t front)
{
    const struct plot *p = &c->plot[panel];
    int rows = 1 + (p->rows - PLOT_LEAST_ROWS) / 3, total = -APART, most = 0;

    for (int i = 0; i < p->count; i++) {
        int width = 3 + (p->values ? 8 : 0) +
                    text_width(label_of(c, c->curves[panel].line[i].group, kind, front));

        total += width + APART;
        most = width > most ? width : most;
    }
    return total <= p->columns || (p->columns + APART) / (most + APART) * rows >= p->count;
}

static enum label longest_label(const struct compare *c, int panel, size_t front)
{
    enum label kind = LABEL_WHOLE;

    /* values of settings before a value of the curve would read as one list */
    while (kind + 1 < LABELS &&
           (!labels_fit(c, panel, kind, front) || (kind == LABEL_VALUES && c->plot[panel].values)))
        kind++;
    return kind;
}

/* What says most without being cut: the middle of a name cannot be missed. Without a cursor names say
 * more than the values at the end, which the table has too. */
static void choose_labels(struct compare *c, int panel)
{
    struct plot *p = &c->plot[panel];
    size_t front = common_front(c, &c->curves[panel]);
    enum label kind;

    p->values = p->count <= COMPARE_MANY;
    kind = longest_label(c, panel, front);
    if (kind + 1 == LABELS && p->values && !p->cursor) {
        p->values = false;
        kind = longest_label(c, panel, front);
    }
    for (int i = 0; i < p->count; i++)
        c->series[panel][i].label = label_of(c, c->curves[panel].line[i].group, kind, front);
}

static void draw_plot(struct compare *c, struct grid *g, struct rect at, int panel)
{
    struct rect in = grid_frame(g, at, c->title[panel], !c->table_pane && panel == 0);
    struct text words = {0};
    char number[PLOT_LABEL];

    plot_x_text(&c->plot[0], c->cursor_x, number);
    c->plot_at[panel] = in;
    c->plot[panel].columns = in.columns; /* a step of the cursor is a part of them */
    c->plot[panel].rows = in.rows;
    if (c->log_y && !c->scaling)
        text_add(&words, "log ");
    if (c->smooth && !c->scaling)
        text_addf(&words, "smooth %d ", c->smooth);
    if (c->over && !c->scaling)
        text_add(&words, "mean and sd over seed ");
    if (c->cursor && !c->scaling && panel == 0)
        text_addf(&words, "%s %s ",
                  c->equal.on ? study_budget_name[c->equal.budget] : compare_x_names[c->x], number);
    if (words.n)
        words.s[--words.n] = 0;
    if (words.n)
        grid_frame_right(g, at, GRID_DIM, text_str(&words));
    text_free(&words);
    if (!c->scaling)
        choose_labels(c, panel);
    if (!c->plot[panel].count || c->missing[panel][0])
        grid_words(g, rect_behind(rect_below(in, 1), 2), 0, GRID_DIM, c->missing[panel]);
    else
        grid_plot(g, in, &c->plot[panel]);
}

/* ---- the table ---- */

static void cell_words(const struct compare *c, size_t row, int column, struct text *out)
{
    struct study_table *t = (struct study_table *)&c->table; /* its cell is only read */
    const struct study_cell *cell = study_table_cell(t, row, column);
    const char *slash;

    if (t->column[column].kind == STUDY_SHARE && isfinite(cell->value) && c->percent) {
        text_addf(out, "%.2f", 100 * cell->value);
        if (isfinite(cell->sd))
            text_addf(out, " ± %.2f", 100 * cell->sd);
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

static const char *head_of(const struct study_column *column)
{
    static const char *const heads[][2] = {
        {"train_seconds", "seconds"},     {"last.test_acc", "last"},
        {"best_epoch", "best at"},        {"difference_n", "pairs"},
        {"difference", "difference"},     {"difference_lo", "from"},
        {"difference_hi", "to"},          {"member_acc_mean", "mean member"},
        {"member_acc_max", "best member"}};

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (!strcmp(column->name, heads[i][0]))
            return heads[i][1];
    return column->name;
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
    int width = text_width(head_of(&c->table.column[column])), most;
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
    const struct study_column *of = &c->table.column[column];
    int width = width_of(c, column);
    bool words = is_words(c, column);
    struct text cell = {0}, cut = {0};

    if (!words && at + width > in.columns)
        return at + width;
    if (words)
        grid_cut(g, in, 0, at, in.columns - at, GRID_HEAD, false, head_of(of));
    else
        grid_right(g, in, 0, at + width, GRID_HEAD, head_of(of));
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

/* What the curves of the first plot read at the cursor. */
static int draw_read(const struct compare *c, struct grid *g, struct rect in, int at)
{
    char number[PLOT_LABEL], head[64];

    plot_x_text(&c->plot[0], c->cursor_x, number);
    snprintf(head, sizeof head, "at %s", number);
    grid_right(g, in, 0, at + 9, GRID_KEY, head);
    for (int i = 0; i + 1 < in.rows && c->top + (size_t)i < c->table.rows; i++) {
        size_t group = compare_row_group(c, c->top + (size_t)i);

        if (group < c->groups && isfinite(c->read[group])) {
            snprintf(head, sizeof head, "%.4f", c->read[group]);
            grid_right(g, in, 1 + i, at + 9, GRID_SERIES + (int)group % GRID_SERIES_COLOURS, head);
        }
    }
    return at + 9;
}

static bool has_twin(const struct compare *c, size_t group)
{
    for (size_t g = 0; group < c->groups && g < c->groups; g++)
        if (g != group && c->twin[g] == c->twin[group])
            return true;
    return false;
}

static void draw_marks(const struct compare *c, struct grid *g, struct rect in)
{
    for (int i = 0; i + 1 < in.rows && c->top + (size_t)i < c->table.rows; i++) {
        size_t group = compare_row_group(c, c->top + (size_t)i);
        int role = GRID_SERIES + (int)group % GRID_SERIES_COLOURS;

        if (c->equal.on || c->scaling || group < c->groups)
            grid_put(g, in, 1 + i, 1, plot_mark((int)group, level_of(g)), role, GRID_BOLD);
        if (has_twin(c, group))
            grid_put(g, in, 1 + i, 2, '=', GRID_WARN, GRID_BOLD);
        if (c->top + (size_t)i == c->row)
            grid_put(g, in, 1 + i, 0, g->ascii ? '>' : 0x203a, GRID_KEY, GRID_BOLD);
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
    if (at > in.columns)
        grid_put(g, in, 0, in.columns - 1, g->ascii ? '>' : 0x203a, GRID_KEY, 0);
    for (int i = 0; i < rows && c->top + (size_t)i < c->table.rows; i++)
        if (c->top + (size_t)i == c->row)
            grid_paint(g, in, 1 + i, 3, in.columns - 3, GRID_CHOSEN);
}

static void add_title(const struct compare *c, struct text *out)
{
    if (c->scaling)
        text_add(out, "scaling");
    else if (c->equal.on)
        text_addf(out, "at equal %s", study_budget_name[c->equal.budget]);
    else if (c->over)
        text_addf(out, "%zu settings of %zu runs, mean ± sd over seed", c->groups, c->set->count);
    else
        text_addf(out,
                  c->set->count == 1 ? "one run" : "%zu runs, what differs and what came of it",
                  c->set->count);
}

/* Runs that are not compared at all. */
static void add_left_out(const struct compare *c, struct text *out)
{
    char all[TEXT_NUMBER_ROOM];

    if (c->more)
        text_addf(out, "the newest of %s that are marked", text_count(all, c->count + c->more));
    if (c->set->left_out)
        text_addf(out, "%s%zu cannot be read", out->n ? ", " : "", c->set->left_out);
}

/* Both whole: what the table shows is told more briefly where they have no room beside each other. */
static struct rect draw_titles(const struct compare *c, struct grid *g, struct rect at)
{
    struct text title = {0}, left_out = {0};
    struct rect in;

    add_title(c, &title);
    add_left_out(c, &left_out);
    if (left_out.n && !c->over && !c->equal.on && !c->scaling &&
        text_width(text_str(&title)) + text_width(text_str(&left_out)) + 8 > at.columns) {
        text_clear(&title);
        text_addf(&title, "%zu run%s", c->set->count, c->set->count == 1 ? "" : "s");
    }
    in = grid_frame(g, at, text_str(&title), c->table_pane);
    if (left_out.n)
        grid_frame_right(g, at, GRID_WARN, text_str(&left_out));
    text_free(&title);
    text_free(&left_out);
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
        text_addf(&words, "rows %zu to %zu of %zu", c->top + 1,
                  last < c->table.rows ? last : c->table.rows, c->table.rows);
    if (c->hidden)
        text_addf(&words, "%s%d more column%s: Tab, Right", words.n ? ", " : "", c->hidden,
                  c->hidden == 1 ? "" : "s");
    if (words.n)
        grid_frame_right(g, rect_bottom(at, 1), GRID_DIM, text_str(&words));
    text_free(&words);
}

static void draw_table(struct compare *c, struct grid *g, struct rect at)
{
    struct rect in = draw_titles(c, g, at);

    c->table_at = in;
    if (c->wrong[0])
        grid_words(g, rect_behind(rect_below(in, 1), 2), 0, GRID_WARN, c->wrong);
    else if (c->table.rows)
        draw_rows(c, g, in);
    draw_hidden(c, g, at, in.rows - 1);
    if (c->table.rows > (size_t)(in.rows > 1 ? in.rows - 1 : 0))
        grid_scroll(g, rect_behind(rect_below(at, 2), at.columns - 1), (int)c->top, in.rows - 1,
                    (int)c->table.rows);
}

/* ---- what is said below ---- */

static double cell_value(const struct compare *c, size_t row, const char *column)
{
    struct study_table *t = (struct study_table *)&c->table;
    int at = study_table_find(t, column);

    return at >= 0 && row < t->rows ? study_table_cell(t, row, at)->value : NAN;
}

/* At an equal budget: how far the focused run is from the best of the others. */
static void add_distance(const struct compare *c, size_t row, struct text *out)
{
    double own = cell_value(c, row, "test_acc"), best = -INFINITY;
    size_t which = row;

    for (size_t i = 0; i < c->table.rows; i++) {
        double acc = cell_value(c, i, "test_acc");

        if (i != row && acc > best && study_same_test(&c->set->run[row], &c->set->run[i])) {
            best = acc;
            which = i;
        }
    }
    if (which == row || !isfinite(own))
        return;
    text_addf(out, "%s: %+.1f points against %s at equal %s\n", c->label[row], 100 * (own - best),
              c->label[which], study_budget_name[c->equal.budget]);
}

/* Of the focused row: what an ensemble gained, what a setting is behind the best. */
static void add_focused(const struct compare *c, struct text *out)
{
    size_t row = c->row < c->table.rows ? c->order[c->row] : 0;
    double lo = cell_value(c, row, "difference_lo"), hi = cell_value(c, row, "difference_hi");
    double difference = cell_value(c, row, "difference");
    const struct study_run *run = row < c->set->count ? &c->set->run[row] : NULL;

    if (c->equal.on && row < c->groups) {
        add_distance(c, row, out);
    } else if (c->over && isfinite(difference)) {
        text_addf(out, "%s: %+.2f points against the best", c->label[row], 100 * difference);
        if (isfinite(lo))
            text_addf(out, ", 95 %% interval %+.2f to %+.2f over pairs of seeds: %s", 100 * lo,
                      100 * hi, lo <= 0 && hi >= 0 ? "may be chance" : "more than chance");
        else
            text_add(out, "; one pair of seeds says nothing about chance");
        text_add(out, "\n");
    } else if (!c->over && !c->scaling && run && run->entry->run.spec.mode == SPEC_ENSEMBLE &&
               isfinite(study_number(run, "gain_mean"))) {
        int members = run->entry->run.spec.members > 0 ? run->entry->run.spec.members
                                                       : run->entry->run.spec.devices;

        text_addf(
            out,
            "%s: at epoch %.0f a gain of %+.1f points over the mean member (%.3f), %+.1f over the "
            "best, at ",
            c->label[row], (double)run->entry->run.best_epoch, 100 * study_number(run, "gain_mean"),
            study_number(run, "member_acc_mean"), 100 * study_number(run, "gain_best"));
        words_add_training(out, members,
                           study_is_average(run) ? study_unlike(&run->entry->run)
                                                 : (struct study_unlike){0});
        text_add(out, "\n");
    }
}

/* "a, b, c" of those whose curves lie under each other. */
static void add_twins(const struct compare *c, struct text *out)
{
    bool settings = c->groups < c->set->count;

    for (size_t g = 0; g < c->groups; g++) {
        size_t n = 0;

        for (size_t k = g; c->twin[g] == g && has_twin(c, g) && k < c->groups; k++)
            if (c->twin[k] == g && n++ < TWINS) {
                text_add(out, n > 1 ? ", " : "");
                words_add_cut(out, settings ? c->label[k] : c->plain[k], settings ? LONG : MOST,
                              false);
            }
        if (n > TWINS)
            text_addf(out, " and %zu more", n - TWINS);
        text_add(out, n ? ": the same curve\n" : "");
    }
}

static void add_notes(const struct compare *c, struct text *out)
{
    add_focused(c, out);
    add_twins(c, out);
    if (c->set->left_out)
        text_addf(out, "%s\n", c->set->problem);
    if (!c->scaling && c->panels)
        curves_add_short(&c->curves[0], c->label, out);
    text_add(out, text_str(&c->table.note));
    if (c->equal.on && !c->wrong[0])
        text_add(out, "a run that is not at its end there would have done better with a schedule "
                      "that ends there\n");
}

static void draw_notes(const struct compare *c, struct grid *g, struct rect in)
{
    struct text notes = {0};
    int row = 0;

    add_notes(c, &notes);
    for (char *line = notes.s, *next; line && *line && row < in.rows; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        row += grid_words(g, rect_behind(rect_before(in, 1), 1), row, GRID_DIM, line);
    }
    text_free(&notes);
}

static int note_rows(const struct compare *c, int columns)
{
    struct text notes = {0};
    int rows = 0;

    add_notes(c, &notes);
    for (const char *s = text_str(&notes); *s;) {
        size_t n = strcspn(s, "\n");

        rows += 1 + (int)n / (columns > 4 ? columns - 2 : 4);
        s += n + (s[n] == '\n');
    }
    text_free(&notes);
    return rows;
}

/* ---- nothing yet ---- */

static void draw_empty(const struct compare *c, struct grid *g, struct rect at)
{
    struct rect in = rect_behind(rect_below(grid_frame(g, at, "compare", true), 1), 2);
    char number[TEXT_NUMBER_ROOM];

    if (c->count && (c->loading || !c->set)) {
        grid_textf(g, in, 0, 0, GRID_DIM, "Reading %s runs ...",
                   text_count(number, c->count + c->more));
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
    int notes, table, plots;

    if (wide != c->wide) {
        c->wide = wide;
        c->stale = true;
    }
    if (c->stale)
        compare_make(c);
    if (!c->set || !c->set->count) {
        draw_empty(c, g, in);
        return;
    }
    notes = note_rows(c, in.columns);
    notes = notes > in.rows / 10 + 1 ? in.rows / 10 + 1 : notes;
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
    draw_table(c, g, rect_top(rect_below(in, plots), table));
    draw_notes(c, g, rect_below(in, plots + table));
}
