/* ui/results/results_keys.c: moving about, filter and order; what is done to runs stands in results_act.c. */
#include "ui/results/results_int.h"

#include "record/columns.h"
#include "record/run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXED 4 /* heads that stand still */

void results_go(struct results *r, size_t line)
{
    if (!r->view.lines)
        return;
    r->at = line < r->view.lines ? line : r->view.lines - 1;
    r->chosen = r->view.line[r->at].key;
    r->moved = true;
}

static void move(struct results *r, int by)
{
    size_t back = by < 0 ? (size_t)-by : 0;

    results_go(r, by < 0 ? (r->at > back ? r->at - back : 0) : r->at + (size_t)by);
}

/* ---- the filter ---- */

static void close_filter(struct results *r, const char *text)
{
    snprintf(r->filter, sizeof r->filter, "%s", text);
    r->filtering = false;
    r->stale = true;
}

/* The table follows each keystroke. */
static bool filter_key(struct results *r, const struct key *key)
{
    bool changed;

    if (key->code == UI_ENTER && r->wrong[0])
        return true; /* the sentence stands there */
    if (key->code == UI_ENTER) {
        close_filter(r, text_str(&r->field.text));
        return true;
    }
    if (key->code == UI_ESC) {
        close_filter(r, r->before);
        return true;
    }
    if (key->code == UI_UP || key->code == UI_DOWN) {
        move(r, key->code == UI_UP ? -1 : 1);
        return true;
    }
    line_key(&r->field, key->code, &changed);
    if (changed)
        snprintf(r->filter, sizeof r->filter, "%s", text_str(&r->field.text));
    r->stale |= changed;
    return true;
}

static void open_filter(struct results *r)
{
    r->filtering = true;
    snprintf(r->before, sizeof r->before, "%s", r->filter);
    line_set(&r->field, r->filter);
}

/* ---- the order ---- */

static const char *head_name(const struct results *r, int head)
{
    static const char *const fixed[FIXED] = {"state", "run", "best_test_acc", ""};

    return head < FIXED ? fixed[head] : r->view.column[head - FIXED].name;
}

/* Accuracies fall at first, all else rises; once more the other way round. */
static void sort_by(struct results *r, const char *column)
{
    const char *now = r->sort + (r->sort[0] == '-');
    struct results_column c;
    bool falling;

    results_set_column(&c, column);
    falling = c.kind == STUDY_SHARE;
    if (*column && !strcmp(now, column))
        falling = r->sort[0] != '-';
    snprintf(r->sort, sizeof r->sort, "%s%s", falling && *column ? "-" : "", column);
    settings_set(r->app->settings, "results.sort", r->sort);
    r->stale = true;
}

static void turn_order(struct results *r)
{
    char other[sizeof r->sort];

    if (!r->sort[0])
        snprintf(other, sizeof other, "run");
    else if (r->sort[0] == '-')
        snprintf(other, sizeof other, "%s", r->sort + 1);
    else
        snprintf(other, sizeof other, "-%.60s", r->sort);
    snprintf(r->sort, sizeof r->sort, "%s", other);
    settings_set(r->app->settings, "results.sort", r->sort);
    r->stale = true;
}

static void see_head(struct results *r)
{
    int c = r->head - FIXED, at = 0;

    if (c < 0)
        return;
    if (c < r->left)
        r->left = c;
    for (int i = r->left; i <= c; i++)
        at += r->view.column[i].width + 2;
    while (r->left < c && at > r->table.columns - 34) {
        at -= r->view.column[r->left].width + 2;
        r->left++;
    }
}

static bool head_key(struct results *r, const struct key *key)
{
    int last = FIXED + r->view.columns - 1;

    switch (key->code) {
    case UI_LEFT:
    case 'h':
        r->head -= r->head > 0;
        break;
    case UI_RIGHT:
    case 'l':
        r->head += r->head < last;
        break;
    case UI_ENTER:
    case 's':
    case ' ':
        if (r->head <= last)
            sort_by(r, head_name(r, r->head));
        break;
    case UI_ESC:
    case UI_UP:
    case UI_DOWN:
        r->heading = false;
        break;
    default:
        r->heading = false;
        return false;
    }
    see_head(r);
    return true;
}

/* ---- the mouse ---- */

static bool click(struct results *r, const struct key *key)
{
    int row = key->row - r->table.row, column = key->column - r->table.column;
    int at = results_moving_at(r);

    if (!rect_holds(r->table, key->row, key->column))
        return false;
    if (row > 0) {
        size_t line = r->top + (size_t)row - 1;

        if (line >= r->view.lines)
            return true;
        results_go(r, line);
        return key->again ? results_act(r, UI_ENTER) : true;
    }
    if (column < at) {
        sort_by(r, head_name(r, column < 11                           ? 0
                                : column < 17                         ? 1
                                : column < 17 + r->view.acc_width + 1 ? 2
                                                                      : 3));
        return true;
    }
    for (int c = r->left; c < r->view.columns; c++) {
        at += r->view.column[c].width + 2;
        if (column < at) {
            sort_by(r, r->view.column[c].name);
            break;
        }
    }
    return true;
}

/* ---- columns ---- */

static void take_columns(void *user, const char *text)
{
    struct results *r = user;
    char *copy, *rest;

    if (!text)
        return;
    rest = copy = strdup(text);
    for (char *word; rest && (word = strsep(&rest, ","));) {
        const char *near;

        word = text_trim(word);
        if (!*word || record_column_is(word))
            continue;
        near = results_headed(word);
        near = near ? near : record_column_nearest(word);
        app_prompt_again(r->app, text);
        app_say(r->app, GRID_BAD, "runs have no column %s%s%s%s", word,
                near ? "; did you mean " : ": those of run.csv and epochs.csv are known",
                near ? near : "", near ? "?" : "");
        free(copy);
        return;
    }
    free(copy);
    snprintf(r->columns, sizeof r->columns, "%s", text);
    settings_set(r->app->settings, "results.columns", r->columns);
    r->left = 0;
    r->stale = true;
}

/* What the last word goes on with: what all columns that it can be have in common. */
static void complete_columns(const char *text, struct text *more, struct text *several)
{
    const char *comma = strrchr(text, ','), *word = comma ? comma + 1 : text, *found = NULL;
    size_t n, common = 0;

    word += strspn(word, " ");
    n = strlen(word);
    for (size_t i = 0; record_run_columns[i]; i++) {
        const char *name = record_run_columns[i];

        if (strncmp(name, word, n) != 0)
            continue;
        text_addf(several, "%s%s", found ? "  " : "", name);
        if (!found) {
            found = name;
            common = strlen(name);
        }
        while (strncmp(found, name, common) != 0)
            common--;
    }
    if (found && common > n)
        text_add_n(more, found + n, common - n);
    if (found && common == strlen(found)) /* it alone, or all go on from it */
        text_clear(several);
}

static void choose_columns(struct results *r)
{
    struct text now = {0};

    if (r->columns[0])
        text_add(&now, r->columns);
    for (int c = 0; !r->columns[0] && c < r->view.columns; c++)
        text_addf(&now, "%s%s", c ? "," : "", r->view.column[c].name);
    app_prompt(r->app, "columns (empty: what differs)", text_str(&now), take_columns,
               complete_columns, r);
    text_free(&now);
}

/* ---- all keys ---- */

static bool move_key(struct results *r, const struct key *key)
{
    int by = key_list_move(key->code, r->page), last = r->view.columns - 1;

    switch (key->code) {
    case UI_WHEEL_UP:
    case UI_WHEEL_DOWN:
        move(r, 3 * by);
        break;
    case UI_LEFT:
    case 'h':
        r->left -= r->left > 0;
        break;
    case UI_RIGHT:
    case 'l':
        r->left += r->left < last;
        break;
    case UI_CLICK:
        return click(r, key);
    default:
        if (by)
            move(r, by);
        return by != 0;
    }
    return true;
}

static bool look_key(struct results *r, int32_t code)
{
    switch (code) {
    case '/':
        open_filter(r);
        break;
    case 's':
        r->heading = r->view.lines > 0;
        if (r->head > FIXED + r->view.columns - 1)
            r->head = 0;
        break;
    case 'S':
        turn_order(r);
        break;
    case 'v':
        r->fold = (r->fold + 1) % RESULTS_FOLDS;
        settings_set_number(r->app->settings, "results.fold", r->fold);
        r->stale = true;
        break;
    case 'c':
        choose_columns(r);
        break;
    case UI_ESC:
        if (!r->filter[0])
            return false;
        close_filter(r, "");
        break;
    default:
        return false;
    }
    return true;
}

bool results_key_pressed(void *screen, const struct key *key)
{
    struct results *r = screen;

    if (results_is_old(r))
        results_make(r);
    if (r->filtering)
        return filter_key(r, key);
    if (r->heading && head_key(r, key))
        return true;
    return move_key(r, key) || look_key(r, key->code) || results_act(r, key->code);
}
