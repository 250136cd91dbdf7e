/* ui/results/results_columns.c: which columns the list of runs has, and how wide they are. */
#include "ui/results/results_int.h"

#include "base/mem.h"
#include "record/run/run.h"
#include "study/runs.h"

#include <stdlib.h>
#include <string.h>

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

/* The keys that choose what a hash names. all: those too that stand in files of each run; false: they
 * are not read yet. */
static bool add_choice(struct results *r, const struct library_run *run, const char *const *by,
                       bool all, struct text *out)
{
    const char *value;

    for (text_add(out, ""); *by; by++) {
        if (!all && library_field(*by) < 0)
            continue;
        if (!(value = library_value(r->app->library, run, *by)))
            return false;
        text_addf(out, "%s\n", value);
    }
    return true;
}

static bool is_unexplained(struct results *r, const struct library_run *runs, size_t field,
                           bool all)
{
    const struct results_view *v = &r->view;
    const char *const *by = study_chosen_by(record_run_columns[field]);
    struct study_hashed *of = mem_new(v->count + 1, sizeof *of);
    struct text *choice = mem_new(v->count + 1, sizeof *choice);
    size_t n = 0;
    bool changed;

    for (size_t i = 0; i < v->count; i++) {
        const struct library_run *run = &runs[v->order[i]];

        if (*run->cell[field] && add_choice(r, run, by, all, &choice[i]))
            of[n++] = (struct study_hashed){text_str(&choice[i]), run->cell[field]};
    }
    changed = study_hash_has_changed(of, n);
    for (size_t i = 0; i < v->count; i++)
        text_free(&choice[i]);
    free(choice);
    free(of);
    return changed;
}

/* As study_differences finds it; files are read only where the columns do not tell. */
static bool has_changed(struct results *r, const struct library_run *runs, size_t field)
{
    return is_unexplained(r, runs, field, false) && is_unexplained(r, runs, field, true);
}

/* Whether two of the runs have different values in it; where it does not apply it has none. */
static bool differs(struct results *r, const struct library_run *runs, size_t field)
{
    const struct results_view *v = &r->view;
    const char *first = NULL, *none = study_none(record_run_columns[field]);

    for (size_t i = 0; i < v->count; i++) {
        const struct library_run *run = &runs[v->order[i]];
        const char *cell = *run->cell[field] || run->broken ? run->cell[field] : none;

        if (!*cell)
            continue;
        if (first && cell != first && strcmp(cell, first) != 0)
            return !study_chosen_by(record_run_columns[field]) || has_changed(r, runs, field);
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
    bool model = false, mode = false;

    add_column(r, "run");
    for (size_t i = 0; record_run_columns[i]; i++) {
        /* How many epochs there are stands beside how many are done. */
        if (!study_is_setting(record_run_columns[i]) || !strcmp(record_run_columns[i], "epochs") ||
            !differs(r, runs, i))
            continue;
        model = model || !strcmp(record_run_columns[i], "model");
        mode = mode || !strcmp(record_run_columns[i], "mode");
        if (strcmp(record_run_columns[i], "mode") != 0)
            add_column(r, record_run_columns[i]);
    }
    if (mode) /* the name says it too, and it is wide */
        add_column(r, "mode");
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

/* Of a run at work as wide as it will be: its epochs come faster than columns are measured. */
static int growing_width(const struct library_run *run, const struct results_column *column)
{
    if (!run->live)
        return 0;
    if (!strcmp(column->name, "epochs_done"))
        return 2 * text_width(library_cell(run, "epochs")) + 1;
    return column->kind == STUDY_SHARE || column->kind == STUDY_LOSS ? 6 : 0; /* "0.8893" */
}

void results_measure_columns(struct results *r)
{
    struct results_view *v = &r->view;
    size_t step = v->lines / SAMPLED + 1;
    struct text cell = {0};

    for (int c = 0; c < v->columns; c++) {
        struct results_column *column = &v->column[c];

        text_clear(&cell);
        results_add_head(column, &cell);
        column->width = text_width(text_str(&cell));
        column->right = true;
        for (size_t i = 0; i < v->lines; i += step) {
            int width;

            text_clear(&cell);
            results_cell(r, &v->line[i], column, &cell);
            width = text_width(text_str(&cell));
            column->width = width > column->width ? width : column->width;
            width = v->line[i].kind == RESULTS_RUN
                        ? growing_width(results_run(r, &v->line[i]), column)
                        : 0;
            column->width = width > column->width ? width : column->width;
            column->right = column->right && looks_like_number(text_str(&cell));
        }
        if (column->width > RESULTS_CUT)
            column->width = RESULTS_CUT;
    }
    text_free(&cell);
}
