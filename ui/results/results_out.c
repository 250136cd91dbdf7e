/* ui/results/results_out.c: what is seen as a command line and as tables for reports. */
#include "ui/results/results_int.h"

#include "base/mem.h"
#include "study/runs.h"
#include "study/table.h"

#include <stdlib.h>
#include <string.h>

/* A filter's < and > are the shell's own, where nothing quotes them. */
static void add_filter(const char *filter, struct text *out)
{
    char **words;
    size_t count;

    if (jobs_split(filter, &words, &count, NULL) != ERR_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        text_add(out, " ");
        jobs_add_word(out, words[i]);
    }
    jobs_free_args(words);
}

void results_command(void *screen, struct text *out)
{
    struct results *r = screen;

    text_add(out, "ls");
    if (!r->wrong[0])
        add_filter(r->filter, out);
    if (r->sort[0])
        text_addf(out, " --sort %s", r->sort);
}

/* It stands in front already. */
static bool has_place(const struct results_column *c)
{
    return !strcmp(c->name, "run") || !strcmp(c->name, "state") ||
           c->field == library_field("best_test_acc");
}

static void add_group_row(struct results *r, struct study_table *t, const struct results_line *line,
                          struct text *cell)
{
    const struct results_group *g = &r->view.group[line->at];

    study_table_word(t, "");
    study_table_number(t, (double)g->count);
    if (!g->n)
        study_table_empty(t);
    else
        study_table_mean(t, g->mean, g->sd);
    for (int c = 0; c < r->view.columns; c++) {
        if (has_place(&r->view.column[c]))
            continue;
        text_clear(cell);
        results_cell(r, line, &r->view.column[c], cell);
        study_table_word(t, strcmp(text_str(cell), "·") ? text_str(cell) : "");
    }
}

/* As it stands in the files, so that programs can read it. */
static void add_run_row(struct results *r, struct study_table *t, const struct results_line *line)
{
    const struct library_run *run = results_run(r, line);
    bool folded = r->fold != RESULTS_SINGLE;
    double value;

    study_table_word(t, run->name);
    if (folded)
        study_table_number(t, 1);
    else
        study_table_word(t, library_cell(run, "state"));
    if (text_to_double(library_cell(run, "best_test_acc"), &value))
        study_table_number(t, value);
    else
        study_table_empty(t);
    for (int c = 0; c < r->view.columns; c++) {
        const struct results_column *column = &r->view.column[c];
        const char *raw = results_value(r, run, column);

        if (has_place(column))
            continue;
        if (raw && !*raw && !run->broken)
            raw = study_none(column->name);
        if (raw && column->kind != STUDY_TEXT && text_to_double(raw, &value))
            study_table_number(t, value);
        else
            study_table_word(t, raw ? raw : "");
    }
}

enum err_code results_write(void *screen, const char *form, struct paper *out, struct err *e)
{
    struct results *r = screen;
    struct results_view *v = &r->view;
    struct study_table *t = &out->table;
    bool folded;
    struct text cell = {0};

    (void)form;
    if (results_is_old(r))
        results_make(r);
    folded = r->fold != RESULTS_SINGLE;
    if (!v->lines)
        return err_set(e, ERR_INPUT, "there is no run in the table to write");
    study_table_column(t, "run", STUDY_TEXT, false);
    study_table_column(t, folded ? "n" : "state", folded ? STUDY_COUNT : STUDY_TEXT, false);
    study_table_column(t, "best_test_acc", STUDY_SHARE, folded);
    for (int c = 0; c < v->columns; c++)
        if (!has_place(&v->column[c]))
            study_table_column(t, v->column[c].name, folded ? STUDY_TEXT : v->column[c].kind,
                               false);
    for (size_t i = 0; i < v->lines; i++) {
        if (v->line[i].kind == RESULTS_GROUP)
            add_group_row(r, t, &v->line[i], &cell);
        else if (v->line[i].kind == RESULTS_RUN)
            add_run_row(r, t, &v->line[i]);
    }
    if (v->on_test)
        study_table_note(t,
                         "best epochs %swere picked on test data: their accuracies are "
                         "optimistic",
                         v->on_valid ? "of runs without validation data " : "");
    text_free(&cell);
    return ERR_OK;
}
