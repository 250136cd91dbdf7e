/* cli/out/report/export.c: every epoch of runs as one CSV, long or wide. */
#include "cli/out/report/export.h"

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/out/print.h"
#include "cli/out/results.h"
#include "record/run/params.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "spec/spec.h"
#include "study/runs.h"
#include "study/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)1 << 20)

/* Hands on what was collected, in pieces: a thousand runs shall not lie in memory. */
static enum err_code hand_on(struct export_job *x, size_t least, struct err *e)
{
    enum err_code code = ERR_OK;

    if (!x->out.n || x->out.n < least)
        return ERR_OK;
    if (x->to_file)
        code = io_draft_add(&x->draft, x->out.s, x->out.n, e);
    else if (cli_print(&x->out))
        code = err_set(e, ERR_IO, "stdout took no more");
    text_clear(&x->out);
    return code;
}

/* Numbers as they stand; a word is made safe. */
static void add_field(struct text *out, const char *field)
{
    double number;

    if (!*field || text_to_double(field, &number))
        sheet_add_text(out, field);
    else
        study_add_field(out, field);
}

/* The settings of a run as the beginning of each of its rows. */
static void add_settings(const struct export_job *x, const struct record_entry *entry,
                         struct text *row)
{
    struct record_params own = {0};
    struct text value = {0};
    static const char *const first[] = {"run", "sweep", "cell"};

    for (size_t i = 0; i < MEM_COUNT(first); i++) {
        text_clear(&value);
        record_run_value(&entry->run, first[i], &value);
        add_field(row, text_str(&value));
    }
    for (const struct spec_key *k = spec_keys; k->name; k++) {
        text_clear(&value);
        record_run_value(&entry->run, k->name, &value);
        add_field(row, text_str(&value));
    }
    if (x->params.count)
        record_read_params(entry->folder, &own);
    for (size_t i = 0; i < x->params.count; i++)
        add_field(row, record_param(&own, x->params.name[i]));
    record_free_params(&own);
    text_free(&value);
}

/* The parameters that any of the runs' models has. */
static void find_params(struct export_job *x, const struct record_entry *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct record_params own;

        record_read_params(runs[i].folder, &own);
        for (size_t k = 0; k < own.count; k++)
            record_params_add(&x->params, own.name[k]);
        record_free_params(&own);
    }
}

static void add_heads(struct export_job *x, const struct sheet *s)
{
    struct text row = {0};

    sheet_add_text(&row, "run");
    sheet_add_text(&row, "sweep");
    sheet_add_text(&row, "cell");
    for (const struct spec_key *k = spec_keys; k->name; k++)
        sheet_add_text(&row, k->name);
    for (size_t i = 0; i < x->params.count; i++)
        add_field(&row, x->params.name[i]);
    x->columns = s->columns;
    x->names = mem_new(s->columns + 1, sizeof *x->names);
    for (size_t i = 0; i < s->columns; i++) {
        x->names[i] = mem_text(s->names[i]);
        sheet_add_text(&row, strcmp(s->names[i], "lr") ? s->names[i] : "lr_now");
    }
    sheet_end_row(&row);
    text_add_n(&x->out, row.s, row.n);
    text_free(&row);
}

/* A run's rows in the first run's columns: another version may have others. */
static void add_rows(struct export_job *x, const struct record_entry *entry, const struct sheet *s)
{
    struct text row = {0};
    int *column = mem_new(x->columns + 1, sizeof *column);
    size_t settings;

    for (size_t i = 0; i < x->columns; i++)
        column[i] = sheet_column(s, x->names[i]);
    add_settings(x, entry, &row);
    settings = row.n;
    x->runs++;
    x->rows += s->rows;
    for (size_t r = 0; r < s->rows; r++) {
        row.n = settings;
        row.s[settings] = 0;
        for (size_t i = 0; i < x->columns; i++)
            add_field(&row, sheet_cell(s, r, column[i]));
        sheet_end_row(&row);
        text_add_n(&x->out, row.s, row.n);
    }
    free(column);
    text_free(&row);
}

static bool has_file(const struct record_entry *entry, const char *file)
{
    char *path = mem_textf("%s/%s.csv", entry->folder, file);
    bool has = io_exists(path);

    free(path);
    return has;
}

static enum err_code export_long(struct export_job *x, const struct record_entry *runs,
                                 size_t count, struct err *e)
{
    size_t bad = 0;

    find_params(x, runs, count);
    for (size_t i = 0; i < count; i++) {
        struct sheet s;

        if (!strcmp(x->file, "members") && !has_file(&runs[i], x->file))
            continue; /* only ensembles have one */
        if (record_read_sheet(runs[i].folder, x->file, &s, e) != ERR_OK) {
            if (count == 1)
                return e->code;
            results_say_left_out(&runs[i], e);
            bad++;
            continue;
        }
        if (!x->names)
            add_heads(x, &s);
        add_rows(x, &runs[i], &s);
        sheet_free(&s);
        TRY(hand_on(x, PIECE, e));
    }
    if (!x->names && bad)
        return err_set(e, ERR_INPUT, "none of these %s runs can be read", TEXT_COUNT(count));
    if (!x->names)
        return err_set(e, ERR_INPUT, "none of these runs is an ensemble: there is no members.csv");
    if (!strcmp(x->file, "epochs"))
        results_say_changed(runs, NULL, count);
    return ERR_OK;
}

void export_free(struct export_job *x)
{
    for (size_t i = 0; i < x->columns; i++)
        free(x->names[i]);
    free(x->names);
    record_free_params(&x->params);
}

void export_epochs(const struct study_run *runs, size_t count, struct text *out)
{
    struct export_job x = {.file = "epochs"};

    for (size_t i = 0; i < count; i++)
        find_params(&x, runs[i].entry, 1);
    for (size_t i = 0; i < count; i++) {
        if (!x.names)
            add_heads(&x, &runs[i].epochs);
        add_rows(&x, runs[i].entry, &runs[i].epochs);
    }
    export_free(&x);
    *out = x.out;
}

/* ---- wide: a row an epoch, a column a run ---- */

struct column {  /* of a run: its epochs are not kept, a thousand runs shall not lie in memory */
    char **cell; /* (rows) */
    double *epoch;
    size_t rows, next; /* next: the first row that is not written yet */
    bool bad;          /* its file cannot be read */
};

static void free_columns(struct column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t r = 0; r < columns[i].rows; r++)
            free(columns[i].cell[r]);
        free(columns[i].cell);
        free(columns[i].epoch);
    }
    free(columns);
}

static enum err_code read_column(const struct export_job *x, const struct record_entry *run,
                                 struct column *out, struct err *e)
{
    const char *near;
    struct sheet s;
    int column;

    if (record_read_sheet(run->folder, "epochs", &s, e) != ERR_OK) {
        out->bad = true;
        return e->code;
    }
    column = sheet_column(&s, x->metric);
    if (column >= 0) {
        out->rows = s.rows;
        out->cell = mem_new(s.rows + 1, sizeof *out->cell);
        out->epoch = mem_new(s.rows + 1, sizeof *out->epoch);
        for (size_t r = 0; r < s.rows; r++) {
            out->cell[r] = mem_text(sheet_cell(&s, r, column));
            out->epoch[r] = sheet_number(&s, r, sheet_column(&s, "epoch"));
        }
    }
    sheet_free(&s);
    if (column >= 0)
        return ERR_OK;
    near = text_nearest(x->metric, (const char *const[]){"test_acc", "test_loss", "train_loss",
                                                         "train_acc", "val_acc", "val_loss", NULL});
    return err_set(e, ERR_INPUT, "--metric %s is no column of epochs.csv%s%s%s", x->metric,
                   near ? "; did you mean " : ", such as test_acc", near ? near : "",
                   near ? "?" : "");
}

/* Of those that have no row yet; infinite: all have theirs. A run may begin late: an average of
 * finished runs has one epoch, its last. */
static double next_epoch(const struct column *columns, size_t count)
{
    double next = INFINITY;

    for (size_t i = 0; i < count; i++)
        if (columns[i].next < columns[i].rows)
            next = fmin(next, columns[i].epoch[columns[i].next]);
    return next;
}

static void add_epoch(struct column *columns, size_t count, double epoch, struct text *row)
{
    sheet_add_int(row, (int64_t)epoch);
    for (size_t i = 0; i < count; i++) {
        struct column *c = &columns[i];
        bool has = c->next < c->rows && c->epoch[c->next] <= epoch;

        sheet_add_text(row, has ? c->cell[c->next] : "");
        c->next += has;
    }
    sheet_end_row(row);
}

static enum err_code export_wide(struct export_job *x, const struct record_entry *entry,
                                 size_t count, struct err *e)
{
    struct column *columns = mem_new(count + 1, sizeof *columns);
    struct text row = {0};
    enum err_code code = ERR_OK;
    double epoch;

    sheet_add_text(&row, "epoch");
    for (size_t i = 0; i < count && code == ERR_OK; i++) {
        struct column *c = &columns[x->runs];

        code = read_column(x, &entry[i], c, e);
        if (c->bad && count > 1) {
            results_say_left_out(&entry[i], e);
            c->bad = false;
            code = ERR_OK;
            continue;
        }
        study_add_field(&row, entry[i].name);
        x->runs++;
    }
    if (code == ERR_OK && !x->runs)
        code = err_set(e, ERR_INPUT, "none of these %s runs can be read", TEXT_COUNT(count));
    if (code == ERR_OK)
        results_say_changed(entry, NULL, count);
    sheet_end_row(&row);
    text_add_n(&x->out, row.s, row.n);
    while (code == ERR_OK && isfinite(epoch = next_epoch(columns, count))) {
        text_clear(&row);
        add_epoch(columns, count, epoch, &row);
        text_add_n(&x->out, row.s, row.n);
    }
    text_free(&row);
    free_columns(columns, count);
    return code;
}

static enum err_code write_all(struct export_job *x, const struct record_entry *runs, size_t count,
                               bool wide, struct err *e)
{
    TRY((wide ? export_wide : export_long)(x, runs, count, e));
    TRY(hand_on(x, 0, e));
    return x->to_file ? io_draft_finish(&x->draft, e) : ERR_OK;
}

static int say_written(const struct export_job *x, const char *path, bool wide)
{
    const char *shown = TEXT_CLEAN(path);
    char runs[TEXT_NUMBER_ROOM], rows[TEXT_NUMBER_ROOM];

    text_count(runs, x->runs);
    if (wide)
        cli_talk("%s: %s run%s, a column each", shown, runs, text_s(x->runs));
    else
        cli_talk("%s: %s run%s, %s row%s of %s.csv", shown, runs, text_s(x->runs),
                 text_count(rows, x->rows), text_s(x->rows), x->file);
    return cli_printf("%s\n", path);
}

int export_write(struct export_job *x, const char *path, const struct record_entry *runs,
                 size_t count, bool wide)
{
    struct err e;

    x->to_file = path && strcmp(path, "-") != 0;
    if (x->to_file && io_draft_open(&x->draft, path, &e) != ERR_OK)
        return cli_fail(&e);
    if (write_all(x, runs, count, wide, &e) == ERR_OK)
        return x->to_file ? say_written(x, path, wide) : 0;
    if (x->to_file)
        io_draft_drop(&x->draft);
    else if (cli_print_failed())
        return err_exit_code(ERR_FAILED); /* it was told already */
    return cli_fail(&e);
}
