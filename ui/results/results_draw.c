/* ui/results/results_draw.c: the screen Results: what is new, the table, the chosen run. */
#include "ui/results/results_int.h"

#include "base/clock.h"
#include "base/loss.h"
#include "base/mem.h"
#include "draw/ink/words.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of what stands still: mark, fold, state, hash, best accuracy, age. */
#define AT_STATE 3
#define AT_HASH  12
#define AT_ACC   17
#define AGE      6

static void add_order(const struct results *r, struct text *out)
{
    static const char *const folds[] = {"", ", repeats folded", ", sweeps and repeats folded"};
    bool falling = r->sort[0] == '-';
    struct results_column c;

    if (!r->sort[0]) {
        text_add(out, "newest first");
    } else {
        results_set_column(&c, r->sort + falling);
        text_addf(out, "by %s, %s", c.head, falling ? "falling" : "rising");
    }
    text_add(out, folds[r->fold]);
}

static void draw_news(const struct results *r, struct grid *g, struct rect in)
{
    const struct results_view *v = &r->view;
    size_t marks = library_marks(r->app->library), hidden = results_hidden(r);
    struct text right = {0}, left = {0};
    char number[TEXT_NUMBER_ROOM];

    if (marks)
        text_addf(&right, "%s marked", text_count(number, marks));
    if (hidden)
        text_addf(&right, ", %s of them hidden by the filter", text_count(number, hidden));
    text_add(&right, marks ? " " : "");
    if (v->news[0])
        text_add(&left, v->news);
    else if (v->total)
        text_addf(&left, "%s run%s in %s", text_count(number, v->total), text_s(v->total),
                  TEXT_CLEAN(r->app->config.results));
    if (v->running)
        text_addf(&left, "%s%s running", left.n ? "  ·  " : "", text_count(number, v->running));
    grid_cut(g, in, 0, 1, in.columns - 3 - text_width(text_str(&right)),
             v->news[0] ? GRID_GOOD : GRID_DIM, false, text_str(&left));
    grid_right(g, in, 0, in.columns, GRID_MARKED, text_str(&right));
    text_free(&left);
    text_free(&right);
}

enum { MOST_WRONG = 2 }; /* rows of what is wrong with a filter: its end names what is right */

/* Returns how many rows it takes. */
static int draw_filter(const struct results *r, struct grid *g, struct rect in)
{
    const struct results_view *v = &r->view;
    struct rect wrong = {in.row + 1, in.column + 3, 0, in.columns - 4};
    char count[80], shown[TEXT_NUMBER_ROOM], all[TEXT_NUMBER_ROOM];
    int end;

    if (!r->filtering && !r->filter[0])
        return 0;
    snprintf(count, sizeof count, "%s of %s%s ", text_count(shown, v->count),
             text_count(all, v->total), v->pending ? ", reading" : "");
    end = grid_text(g, in, 0, 1, GRID_KEY, "/");
    end = grid_text(g, in, 0, end, GRID_TEXT, " ");
    if (r->filtering) {
        struct rect field = {in.row, in.column + end, 1, in.columns - end - (int)strlen(count) - 2};

        line_draw(&r->field, g, field);
    } else {
        grid_cut(g, in, 0, end, in.columns - end - (int)strlen(count) - 2, GRID_TEXT, false,
                 r->filter);
    }
    grid_right(g, in, 0, in.columns, v->count ? GRID_DIM : GRID_WARN, count);
    wrong.rows = grid_count_rows(g, wrong.columns, r->wrong);
    wrong.rows = wrong.rows < MOST_WRONG ? wrong.rows : MOST_WRONG;
    grid_words(g, wrong, 0, GRID_BAD, r->wrong);
    return 1 + wrong.rows;
}

static int head_role(const struct results *r, int column)
{
    return r->heading && r->head == column ? GRID_CHOSEN : GRID_HEAD;
}

int results_moving_at(const struct results *r)
{
    return AT_ACC + r->view.acc_width + 2 + AGE + 1 + 2;
}

/* Behind the last of the moving columns that is seen. Words may be cut, numbers not. */
static int columns_end(const struct results *r, struct rect in, int x)
{
    const struct results_view *v = &r->view;
    int c = r->left;

    for (int at = x; c < v->columns; at += v->column[c++].width + 2)
        if (!grid_shows_column(in, at, v->column[c].width, !v->column[c].right))
            break;
    return c;
}

static void draw_heads(struct results *r, struct grid *g, struct rect in, int x)
{
    const struct results_view *v = &r->view;
    int acc_end = AT_ACC + v->acc_width, at = x, end = columns_end(r, in, x);
    struct text head = {0};

    grid_text(g, in, 0, AT_STATE, head_role(r, 0), "state");
    grid_text(g, in, 0, AT_HASH, head_role(r, 1), "hash");
    grid_right(g, in, 0, acc_end - 1, head_role(r, 2), share_in_per_cent() ? "best %" : "best acc");
    grid_right(g, in, 0, acc_end + 2 + AGE, head_role(r, 3), "age");
    for (int c = r->left; c < end; c++) {
        const struct results_column *column = &v->column[c];

        text_clear(&head);
        results_add_head(column, &head);
        if (column->right)
            grid_right(g, in, 0, at + column->width, head_role(r, 4 + c), text_str(&head));
        else
            grid_cut(g, in, 0, at, in.columns - at, head_role(r, 4 + c), false, text_str(&head));
        at += column->width + 2;
    }
    text_free(&head);
    if (r->left > 0)
        grid_text(g, in, 0, x - 1, GRID_KEY, "‹");
    if (end < v->columns || at - 2 > in.columns)
        grid_text(g, in, 0, in.columns - 1, GRID_KEY, "›");
}

static void draw_best(const struct results *r, struct grid *g, struct rect in, int row,
                      const struct results_line *line)
{
    const struct results_view *v = &r->view;
    struct text cell = {0};
    double acc;

    if (line->kind == RESULTS_GROUP) {
        const struct results_group *group = &v->group[line->at];

        if (group->sweep && group->n)
            text_add(&cell, "best ");
        if (group->n)
            share_add(&cell, group->sweep ? group->best : group->mean);
        if (isfinite(group->sd) && !group->sweep) {
            text_add(&cell, " ±");
            share_add(&cell, group->sd);
        }
    } else if (line->kind == RESULTS_RUN) {
        const struct library_run *run = results_run(r, line);
        char number[TEXT_NUMBER_ROOM];

        if (text_to_double(results_raw(r, run, "best_test_acc", number), &acc)) {
            share_add(&cell, acc);
            if (v->on_valid && v->on_test)
                text_add(&cell, strcmp(library_cell(run, "best_by"), "valid") ? "t" : "v");
        }
    }
    grid_right(g, in, row, AT_ACC + v->acc_width - (v->on_valid && v->on_test ? 0 : 1), GRID_TEXT,
               text_str(&cell));
    text_free(&cell);
}

static void draw_member(struct results *r, struct grid *g, struct rect in, int row, int x,
                        const struct results_line *line)
{
    const struct library_run *run = results_run(r, line);
    const struct results_members *m = results_members_of(r, run->name);
    struct text cell = {0};
    char loss[LOSS_ROOM];

    if ((size_t)line->member >= m->n)
        return;
    grid_textf(g, in, row, AT_STATE, GRID_DIM, "member");
    grid_textf(g, in, row, AT_HASH, GRID_DIM, "%4d", line->member);
    share_add(&cell, m->member[line->member].acc);
    grid_right(g, in, row, AT_ACC + r->view.acc_width - 1, GRID_TEXT, text_str(&cell));
    text_clear(&cell);
    text_addf(&cell, "alone, at epoch %lld; device %d; loss %s; members 0 to %d averaged ",
              (long long)m->epoch, m->member[line->member].device,
              loss_text(loss, m->member[line->member].loss), line->member);
    share_tell(&cell, m->member[line->member].prefix);
    grid_cut(g, in, row, x, in.columns - x, GRID_DIM, false, text_str(&cell));
    text_free(&cell);
}

static void draw_fold(const struct results *r, struct grid *g, struct rect in, int row,
                      const struct results_line *line, int role)
{
    bool open = results_is_open(r, line->key);

    grid_put(g, in, row, 1, g->ascii ? (open ? '-' : '+') : open ? 0x25be : 0x25b8, role, 0);
}

/* A group all of whose runs are marked has the mark of a run, one with some of them half of one. */
static void draw_mark(const struct results *r, struct grid *g, struct rect in, int row,
                      const struct results_line *line)
{
    size_t room = line->kind == RESULTS_GROUP ? r->view.group[line->at].count : 1, n, marked = 0;
    const char **names;

    if (!library_marks(r->app->library))
        return;
    names = mem_new(room, sizeof *names);
    n = results_runs_of(r, line, names, room);
    for (size_t i = 0; i < n; i++)
        marked += library_marked(r->app->library, names[i]);
    if (marked)
        grid_put(g, in, row, 0, marked == n ? '*' : '~', GRID_MARKED, GRID_BOLD);
    free(names);
}

static void draw_state(const struct results *r, struct grid *g, struct rect in, int row,
                       const struct results_line *line, const struct library_run *run)
{
    char number[TEXT_NUMBER_ROOM];
    struct results_standing is;

    draw_mark(r, g, in, row, line);
    if (line->kind == RESULTS_GROUP) {
        grid_textf(g, in, row, AT_STATE, GRID_TEXT, "%s run%s",
                   text_count(number, r->view.group[line->at].count),
                   text_s(r->view.group[line->at].count));
        draw_fold(r, g, in, row, line, GRID_KEY);
        return;
    }
    is = results_standing(r, run);
    grid_text(g, in, row, AT_STATE, results_role(run, &is), is.words);
    grid_text(g, in, row, AT_HASH, GRID_DIM, results_hash(run->name));
    if (line->inside)
        grid_put(g, in, row, 1, g->ascii ? '|' : 0x2502, GRID_BORDER, 0);
    else if (!strcmp(library_cell(run, "mode"), "ensemble"))
        draw_fold(r, g, in, row, line, GRID_DIM);
}

static void draw_line(struct results *r, struct grid *g, struct rect in, int row, int x,
                      const struct results_line *line)
{
    const struct results_view *v = &r->view;
    const struct library_run *run = results_run(r, line);
    struct text cell = {0}, cut = {0};
    int at = x, end = columns_end(r, in, x);
    char age[CLOCK_UTC_ROOM];

    if (line->kind == RESULTS_MEMBER) {
        grid_put(g, in, row, 1, g->ascii ? '|' : 0x2502, GRID_BORDER, 0);
        draw_member(r, g, in, row, x, line);
        return;
    }
    draw_state(r, g, in, row, line, run);
    draw_best(r, g, in, row, line);
    grid_right(g, in, row, AT_ACC + v->acc_width + 2 + AGE, GRID_DIM,
               clock_age(age, app_wall(r->app), library_cell(run, "started_utc")));
    for (int c = r->left; c < end; c++) {
        const struct results_column *column = &v->column[c];

        text_clear(&cell);
        text_clear(&cut);
        results_cell(r, line, column, &cell);
        words_add_cut(&cut, text_str(&cell), column->width, g->ascii);
        if (column->right)
            grid_right(g, in, row, at + column->width, GRID_TEXT, text_str(&cut));
        else
            grid_cut(g, in, row, at, in.columns - at, GRID_TEXT, false, text_str(&cut));
        at += column->width + 2;
    }
    text_free(&cell);
    text_free(&cut);
}

static void draw_empty(const struct results *r, struct grid *g, struct rect in)
{
    const struct results_view *v = &r->view;
    const char *problem = library_problem(r->app->library);
    struct rect words = rect_behind(rect_below(in, 1), 2);
    const char *where = TEXT_CLEAN(r->app->config.results);
    struct text say = {0};
    char number[TEXT_NUMBER_ROOM];

    if (!library_ready(r->app->library)) {
        text_addf(&say, "Reading %s ...", where);
    } else if (problem) {
        text_add(&say, problem);
    } else if (!v->total) {
        grid_bold(g, words, 0, 0, GRID_TEXT, "No runs yet.");
        words = rect_below(words, 2);
        text_addf(&say,
                  "This looked in %s. The key 1 opens Setup, where r starts a run; runs that are "
                  "started elsewhere appear here by themselves. --results DIR and CHORUS_RESULTS "
                  "name another folder.",
                  where);
    } else {
        text_addf(&say, "None of the %s run%s passes this filter. / changes it, Esc takes it away.",
                  text_count(number, v->total), text_s(v->total));
        if (v->by_name) /* under that head stands a part of the folder's name */
            text_add(&say, " name is what a run was called; one that was not called anything "
                           "shows its model there. A word alone, as in /lenet, finds both.");
        if (*v->alone) {
            const char *column = results_headed(v->alone);

            text_addf(
                &say,
                " %s alone is a part of names; as a column it needs a value: /%s=VALUE, or < or > "
                "in place of =.",
                v->alone, column ? column : v->alone);
        }
    }
    grid_words(g, rect_before(words, 2), 0, problem ? GRID_BAD : GRID_TEXT, text_str(&say));
    text_free(&say);
}

/* The lower edge: on what best epochs were picked, and what has no room. */
static void draw_lower(const struct results *r, struct grid *g, struct rect frame, int end)
{
    const struct results_view *v = &r->view;
    int hidden = r->left + v->columns - end, from = 0;
    struct text words = {0};

    if (v->on_test || v->on_valid) {
        text_addf(&words, " best acc: %s ",
                  !v->on_valid  ? "picked on test"
                  : !v->on_test ? "picked on validation"
                                : "t picked on test, v on validation");
        from = grid_text(g, frame, frame.rows - 1, 3, GRID_DIM, text_str(&words));
        text_clear(&words);
    }
    text_addf(&words, "%d more column%s: Right", hidden, text_s(hidden));
    if (v->lines && hidden && from + text_width(text_str(&words)) + 6 < frame.columns)
        grid_frame_right(g, rect_bottom(frame, 1), GRID_DIM, text_str(&words));
    text_free(&words);
}

static void draw_table(struct results *r, struct grid *g, struct rect frame)
{
    const struct results_view *v = &r->view;
    struct rect in;
    struct text words = {0};
    char number[TEXT_NUMBER_ROOM], all[TEXT_NUMBER_ROOM];
    int x = results_moving_at(r), rows;

    if (v->count < v->total)
        text_addf(&words, "runs  %s of %s", text_count(number, v->count),
                  text_count(all, v->total));
    else
        text_addf(&words, "runs  %s", text_count(all, v->total));
    in = grid_frame(g, frame, text_str(&words), true);
    text_clear(&words);
    add_order(r, &words);
    grid_frame_right(g, frame, GRID_DIM, text_str(&words));
    draw_lower(r, g, frame, columns_end(r, in, x));
    text_free(&words);
    r->table = in;
    rows = in.rows - 1;
    r->page = rows > 1 ? rows : 1;
    if (!v->lines) {
        draw_empty(r, g, in);
        return;
    }
    r->top = grid_first(r->top, r->at, v->lines, rows);
    draw_heads(r, g, in, x);
    for (int i = 0; i < in.rows; i++)
        grid_put(g, in, i, x - 2, g->ascii ? '|' : 0x2502, GRID_BORDER, 0);
    for (int i = 0; i < rows && r->top + (size_t)i < v->lines; i++) {
        const struct results_line *line = &v->line[r->top + (size_t)i];

        draw_line(r, g, in, 1 + i, x, line);
        if (r->top + (size_t)i == r->at)
            grid_paint(g, in, 1 + i, 0, in.columns, GRID_CHOSEN);
    }
    if (r->left > 0 || v->lines > (size_t)(rows > 0 ? rows : 0))
        grid_scroll(g, rect_behind(rect_top(rect_below(frame, 2), rows), frame.columns - 1),
                    (int)r->top, rows, (int)v->lines);
}

void results_draw(void *screen, struct grid *g, struct rect in)
{
    struct results *r = screen;
    int detail = in.rows >= 34   ? 10
                 : in.rows >= 26 ? 5
                 : in.rows >= 20 ? 4
                 : in.rows >= 14 ? 2
                                 : 0,
        taken;

    if (results_is_old(r))
        results_make(r);
    draw_news(r, g, rect_top(in, 1));
    in = rect_below(in, 1);
    taken = draw_filter(r, g, in);
    in = rect_below(in, taken);
    results_draw_detail(r, g, rect_bottom(in, detail));
    draw_table(r, g, rect_above(in, detail));
}
