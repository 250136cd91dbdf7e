/* ui/results_columns.c: which columns the list of runs has, and how wide they are. */
#include "ui/results_int.h"

#include "base/mem.h"
#include "study/runs.h"

#include <stdlib.h>
#include <string.h>

#define NAMED   32   /* networks, or data sets, that are looked at */
#define SAMPLED 1000 /* lines whose cells say how wide a column is */

static void add_column(struct results *r, const char *name)
{
    struct results_view *v = &r->view;

    for (int i = 0; i < v->columns; i++)
        if (!strcmp(v->column[i].name, name))
            return;
    if (v->columns < RESULTS_COLUMNS)
        results_set_column(&v->column[v->columns++], name);
}

/* Whether the keys that choose what a hash names are the same in both. */
static bool chosen_alike(const char *const *key, const struct library_run *a,
                         const struct library_run *b)
{
    while (*key && !strcmp(library_cell(a, *key), library_cell(b, *key)))
        key++;
    return !*key;
}

/* Whether a hash differs in two of the runs for which the same was chosen by name. */
static bool has_changed(const struct results_view *v, const struct library_run *runs, size_t field)
{
    const char *const *by = study_chosen_by(record_run_columns[field]);
    const struct library_run *first[NAMED]; /* of each choice */
    size_t n = 0;

    for (size_t i = 0; i < v->count; i++) {
        const struct library_run *run = &runs[v->order[i]];
        size_t at = 0;

        if (!*run->cell[field])
            continue;
        while (at < n && !chosen_alike(by, first[at], run))
            at++;
        if (at < n && strcmp(first[at]->cell[field], run->cell[field]) != 0)
            return true;
        if (at == n && n < NAMED)
            first[n++] = run;
    }
    return false;
}

/* Whether two of the runs have different values in it; where it does not apply it has none. */
static bool differs(const struct results_view *v, const struct library_run *runs, size_t field)
{
    const char *first = NULL, *none = study_none(record_run_columns[field]);

    if (study_chosen_by(record_run_columns[field]))
        return has_changed(v, runs, field);
    for (size_t i = 0; i < v->count; i++) {
        const struct library_run *run = &runs[v->order[i]];
        const char *cell = *run->cell[field] || run->broken ? run->cell[field] : none;

        if (!*cell)
            continue;
        if (first && cell != first && strcmp(cell, first) != 0)
            return true;
        first = cell;
    }
    return false;
}

static bool any_has(const struct results_view *v, const struct library_run *runs,
                    const char *column)
{
    int field = library_field(column);

    for (size_t i = 0; i < v->count; i++)
        if (*runs[v->order[i]].cell[field])
            return true;
    return false;
}

static void usual_columns(struct results *r, const struct library_run *runs)
{
    static const char *const results[] = {"epochs_done", "last_test_acc", "train_seconds"};
    static const char *const words[] = {"tags", "sweep", "note"};
    struct results_view *v = &r->view;
    bool model = false;

    add_column(r, "run");
    for (size_t i = 0; record_run_columns[i]; i++) {
        /* How many epochs there are stands beside how many are done. */
        if (!study_is_setting(record_run_columns[i]) || !strcmp(record_run_columns[i], "epochs") ||
            !differs(v, runs, i))
            continue;
        model = model || !strcmp(record_run_columns[i], "model");
        add_column(r, record_run_columns[i]);
    }
    if (!model && v->columns < 2 && v->count)
        add_column(r, "model");
    for (size_t i = 0; i < MEM_COUNT(results); i++)
        add_column(r, results[i]);
    for (size_t i = 0; i < MEM_COUNT(words); i++)
        if (any_has(v, runs, words[i]))
            add_column(r, words[i]);
}

void results_choose_columns(struct results *r, const struct library_run *runs)
{
    char *copy = mem_text(r->columns), *rest = copy;
    const char *sorted = r->sort + (r->sort[0] == '-');

    for (char *word; (word = strsep(&rest, ","));) {
        word = text_trim(word);
        if (*word)
            add_column(r, word);
    }
    free(copy);
    if (!r->view.columns)
        usual_columns(r, runs);
    if (*sorted && strcmp(sorted, "best_test_acc") != 0 && strcmp(sorted, "state") != 0)
        add_column(r, sorted); /* what they are sorted by is seen */
}

static bool looks_like_number(const char *s)
{
    double value;

    return text_to_double(s, &value) || (strspn(s, "0123456789./,-· ±%") == strlen(s));
}

void results_measure_columns(struct results *r)
{
    struct results_view *v = &r->view;
    size_t step = v->lines / SAMPLED + 1;
    struct text cell = {0};

    for (int c = 0; c < v->columns; c++) {
        struct results_column *column = &v->column[c];

        column->width = text_width(column->head);
        column->right = true;
        for (size_t i = 0; i < v->lines; i += step) {
            int width;

            text_clear(&cell);
            results_cell(r, &v->line[i], column, &cell);
            width = text_width(text_str(&cell));
            column->width = width > column->width ? width : column->width;
            column->right = column->right && looks_like_number(text_str(&cell));
        }
        if (column->width > RESULTS_CUT)
            column->width = RESULTS_CUT;
    }
    text_free(&cell);
}
