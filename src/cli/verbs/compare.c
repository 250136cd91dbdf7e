/* cli/verbs/compare.c: chorus compare RUN... */
#include "study/compare.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/runs.h"
#include "cli/out/print.h"
#include "cli/out/results.h"
#include "cli/verbs.h"
#include "record/run/reader.h"
#include "spec/spec.h"
#include "study/tables.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum form { FORM_TEXT, FORM_CSV, FORM_MD, FORM_TEX, FORM_HTML, FORM_JSON, FORMS };

static const char *const endings[FORMS] = {".txt", ".csv", ".md", ".tex", ".html", ".json"};

struct wish {
    const char *csv, *file, *columns, *sort, *over, *equal, *heads, *digits, *target;
    bool md, tex, html, json, scaling;
    enum form form;
    struct study_wish study;
    struct study_style style;
    char *column_text, *head_text; /* cut up into: */
    const char **column, **head;
};

static const struct cli_usage usage = {
    "compare RUN... [--over seed] [--equal epochs]",
    "What differs between runs, and what came of it: results at the best epoch and at the last.",
    "  --cols   names of run.csv's columns, or of epochs.csv's (read at the best epoch; last.NAME\n"
    "           at the last), gain_mean, gain_best, last.gain_mean, last.gain_best, picked\n"
    "  --over   runs that differ in this key alone become one row: mean, standard deviation, n,\n"
    "           and the paired difference to the best row with its 95 % interval\n"
    "  --equal  epochs, model-images, seconds or device-seconds: every run is read at the end of\n"
    "           its last epoch within what the cheapest of them cost in all; a run's own end may lie\n"
    "           half an epoch beyond, as --match, which counts whole epochs, leaves it\n"
    "  gain_mean, gain_best: accuracy of an ensemble's averaged probabilities less that of its mean\n"
    "           member, of its best one, at the best epoch; last.gain_mean, last.gain_best: at the last\n"
    "Runs of one sweep stand in the order of their settings, others in that of their start; --sort\n"
    "chooses another.\n"
    "The best row is the one with the highest val_acc where the best epochs of all runs were picked on\n"
    "validation data, else with the highest test_acc; --target is crossed by the same.\n"};

/* "a,b" as a list that ends with NULL; text is cut up. */
static const char **split(char *text)
{
    const char **list = mem_new(strlen(text) + 2, sizeof *list);
    size_t n = 0;

    for (char *word; (word = strsep(&text, ","));) {
        word = text_trim(word);
        if (*word)
            list[n++] = word;
    }
    return list;
}

static bool check_heads(const struct wish *w)
{
    for (size_t i = 0; w->head && w->head[i]; i++)
        if (!strchr(w->head[i], '=')) {
            cli_refuse("--head %s is not COL=TEXT, such as test_acc=Accuracy", w->head[i]);
            return false;
        }
    return true;
}

static const char *file_of(const struct wish *w)
{
    return w->csv ? w->csv : w->file;
}

/* A file's ending says its form where nothing else does. */
static bool take_form_of_name(struct wish *w)
{
    const char *slash = w->file ? strrchr(w->file, '/') : NULL;
    const char *end = w->file ? strrchr(slash ? slash : w->file, '.') : NULL;
    int form = FORM_TEXT;

    while (end && form < FORMS && strcmp(end, endings[form]) != 0)
        form++;
    if (form == FORMS) {
        cli_refuse("compare -o %s: a table's name ends in .csv, .md, .tex, .html, .json or .txt",
                   w->file);
        return false;
    }
    w->form = (enum form)form;
    return true;
}

/* A table under the name of another form would be opened as what it is not. */
static bool take_form(struct wish *w)
{
    const bool asked[FORMS] = {[FORM_CSV] = w->csv != NULL,
                               [FORM_MD] = w->md,
                               [FORM_TEX] = w->tex,
                               [FORM_HTML] = w->html,
                               [FORM_JSON] = w->json};
    int n = 0;

    for (int form = 0; form < FORMS; form++)
        if (asked[form]) {
            w->form = (enum form)form;
            n++;
        }
    if (n > 1) {
        cli_refuse("compare writes one form at a time: --csv, --md, --tex, --html or --json");
        return false;
    }
    if (n == 0)
        return take_form_of_name(w);
    if (!cli_ends_in(file_of(w), endings[w->form])) {
        cli_refuse("compare %s %s: this is named for another form; name it *%s",
                   w->csv ? "--csv" : "-o", file_of(w), endings[w->form]);
        return false;
    }
    return true;
}

static bool check(struct wish *w)
{
    int64_t digits = 0;

    if (!take_form(w))
        return false;
    if (w->csv && w->file && strcmp(w->csv, w->file) != 0) {
        cli_refuse("compare --csv %s already names the file; leave out -o %s", w->csv, w->file);
        return false;
    }
    if (w->over && w->equal) {
        cli_refuse("compare takes --over or --equal, not both");
        return false;
    }
    if (w->scaling && (w->over || w->equal || w->columns)) {
        cli_refuse("compare --scaling has its own columns: --over, --equal and --cols go without");
        return false;
    }
    if (w->equal && w->columns) {
        cli_refuse("compare --equal has its own columns: leave out --cols");
        return false;
    }
    if (w->over && spec_key_find(w->over) < 0) {
        cli_refuse("--over %s is no key of an experiment; most often it is --over seed", w->over);
        return false;
    }
    if (w->equal && !study_budget_find(w->equal, &w->study.budget)) {
        cli_refuse("--equal %s is not epochs, model-images, seconds or device-seconds", w->equal);
        return false;
    }
    if (w->target && (!text_to_double(w->target, &w->study.target) || !(w->study.target > 0) ||
                      w->study.target > 1)) {
        cli_refuse("--target %s is no accuracy above 0 and up to 1, such as 0.9", w->target);
        return false;
    }
    if (!cli_number("--digits", w->digits, 1, 12, &digits))
        return false;
    if (w->columns)
        w->column = split(w->column_text = mem_text(w->columns));
    if (w->heads)
        w->head = split(w->head_text = mem_text(w->heads));
    w->study.columns = w->column;
    w->study.over = w->over;
    w->study.equal = w->equal != NULL;
    w->style = (struct study_style){.digits = (int)digits, .head = w->head};
    return check_heads(w);
}

static enum err_code sort(const struct wish *w, struct study_table *t, struct err *e)
{
    bool falling = w->sort && *w->sort == '-';
    const char *name = w->sort ? w->sort + falling : NULL, *near;
    const char **words;
    int column;

    if (!name)
        return ERR_OK;
    column = study_table_find(t, name);
    if (column >= 0) {
        study_table_sort(t, column, falling);
        return ERR_OK;
    }
    words = mem_new(t->columns + 1, sizeof *words);
    for (size_t i = 0; i < t->columns; i++)
        words[i] = t->column[i].name;
    near = text_nearest(name, words);
    free(words);
    return err_set(e, ERR_INPUT, "--sort %s is no column of this table%s%s%s", w->sort,
                   near ? "; did you mean " : " (--cols chooses them)", near ? near : "",
                   near ? "?" : "");
}

static int write_out(const struct wish *w, const struct study_table *t)
{
    const char *file = file_of(w);
    struct text out = {0};
    int code;

    if (w->form == FORM_TEXT)
        cli_study_text(t, &w->style, file && strcmp(file, "-") != 0 ? -1 : STDOUT_FILENO, &out);
    else
        study_table_write(t, endings[w->form] + 1, &w->style, &out);
    code = cli_write_out(file, &out);
    text_free(&out);
    return code;
}

static int compare(const struct wish *w, const struct study_run *runs, size_t count)
{
    struct study_table t = {0};
    struct err e;
    int code;

    if (w->scaling)
        study_scaling_table(runs, count, &t);
    if (!w->scaling && study_compare(runs, count, &w->study, &t, &e) != ERR_OK)
        code = cli_fail(&e);
    else if (sort(w, &t, &e) != ERR_OK)
        code = cli_fail(&e);
    else
        code = write_out(w, &t);
    study_table_free(&t);
    return code;
}

int cli_compare(int argc, char **argv)
{
    struct wish w = {0};
    const struct cli_option options[] = {
        {"--over", "KEY", "one row for runs that differ in this key alone (seed)", &w.over},
        {"--equal", "WHAT", "read all runs where they had cost the same", &w.equal},
        {"--scaling", NULL, "speed-up and efficiency by devices", &w.scaling},
        {"--target", "ACC", "tell what reaching this accuracy cost", &w.target},
        {"--cols", "A,B", "which results", &w.columns},
        {"--sort", "COL", "by a column; -COL: falling", &w.sort},
        {"--csv", cli_written, "as CSV (-: on stdout)", &w.csv},
        {"--md", NULL, "as Markdown", &w.md},
        {"--tex", NULL, "as LaTeX (booktabs; a wide table also takes graphicx)", &w.tex},
        {"--html", NULL, "as an HTML table", &w.html},
        {"--json", NULL, "as JSON", &w.json},
        {"--digits", "N", "of accuracies and losses, for people (4)", &w.digits},
        {"--head", "COL=TEXT", "heads for people, separated by commas", &w.heads},
        {"-o", cli_written, "writes it there, in the form of its ending", &w.file},
        {NULL, NULL, NULL, NULL},
    };
    struct record_entry *entry;
    struct study_run *runs;
    size_t count;
    struct err e;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc < 2)
        return cli_refuse("compare needs RUNs, such as @ and @2; `chorus ls` lists them");
    if (!check(&w))
        code = err_exit_code(ERR_INPUT);
    else if (cli_find_runs(argc - 1, argv + 1, &entry, &count, &e) != ERR_OK)
        code = cli_fail(&e);
    else {
        code = results_open_runs(entry, &count, &runs, &e) == ERR_OK ? CLI_ON : cli_fail(&e);
        if (code == CLI_ON) {
            study_order(entry, runs, count);
            code = compare(&w, runs, count);
        }
        study_close(runs, count);
        record_free_list(entry, count);
    }
    free(w.column_text);
    free(w.head_text);
    free(w.column);
    free(w.head);
    return code;
}
