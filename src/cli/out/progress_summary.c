/* cli/out/progress_summary.c: what is said of a run that has ended. */
#include "cli/out/progress.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "draw/plot/curves.h"
#include "record/run/checkpoint.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "wire/wire.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static void add_cell(struct cli_table *t, const struct sheet *s, size_t row, const char *column)
{
    struct text cell = {0};
    double value = sheet_number(s, row, sheet_column(s, column));

    if (*sheet_cell(s, row, sheet_column(s, column)))
        cli_add_fraction(&cell, value);
    cli_table_add(t, text_str(&cell));
    text_free(&cell);
}

static void add_epoch(struct cli_table *t, const char *name, const struct sheet *s, int64_t epoch,
                      bool valid)
{
    for (size_t row = 0; row < s->rows; row++) {
        if (sheet_number(s, row, sheet_column(s, "epoch")) != (double)epoch)
            continue;
        cli_table_add(t, name);
        cli_table_addf(t, "%lld", (long long)epoch);
        add_cell(t, s, row, "train_loss");
        add_cell(t, s, row, "train_acc");
        if (valid) {
            add_cell(t, s, row, "val_loss");
            add_cell(t, s, row, "val_acc");
        }
        add_cell(t, s, row, "test_loss");
        add_cell(t, s, row, "test_acc");
        return;
    }
}

static void say_lines(const struct text *t)
{
    if (t->n)
        cli_talk("%.*s", (int)(t->n - 1), t->s);
}

static void add_table(struct text *out, const struct record_run *run, const struct sheet *s)
{
    static const char *const drop[] = {"train acc", "train loss", "valid loss", "test loss", NULL};
    bool valid = !strcmp(run->best_by, "valid");
    struct cli_table t;

    cli_table_start(&t, valid ? "|-epoch|-train loss|-train acc|-valid loss|-valid acc|-test loss|"
                                "-test acc"
                              : "|-epoch|-train loss|-train acc|-test loss|-test acc");
    if (run->best_epoch != run->epochs_done)
        add_epoch(&t, valid ? "best (by valid)" : "best (picked on test)", s, run->best_epoch,
                  valid);
    add_epoch(&t, run->best_epoch == run->epochs_done ? "last, and best" : "last", s,
              run->epochs_done, valid);
    cli_table_fit(&t, cli_limit(STDERR_FILENO), drop, NULL, false);
    if (t.cells > t.columns)
        cli_table_text(&t, out);
    cli_table_free(&t);
}

static void add_times(struct text *out, const struct record_run *run)
{
    char images[TEXT_NUMBER_ROOM], speed[TEXT_NUMBER_ROOM];
    char train[CLOCK_UTC_ROOM], test[CLOCK_UTC_ROOM];
    struct text line = {0};

    if (!(run->train_seconds > 0) || run->model_images <= 0)
        return;
    clock_span(train, run->train_seconds);
    clock_span(test, run->eval_seconds);
    text_addf(&line, "%s images trained on in %s (%s img/s)",
              text_count(images, (uint64_t)run->model_images), train,
              text_count(speed, (uint64_t)((double)run->model_images / run->train_seconds + 0.5)));
    if (run->eval_seconds > 0 &&
        text_width(text_str(&line)) + 13 + text_width(test) <= cli_limit(STDERR_FILENO))
        text_addf(&line, ", evaluation %s", test);
    text_addf(out, "%s\n", text_str(&line));
    text_free(&line);
}

static int count_lines(const struct text *t)
{
    int n = 0;

    for (size_t i = 0; i < t->n; i++)
        n += t->s[i] == '\n';
    return n;
}

/* below: the rows of what is said behind them, which must be seen together with them. */
static void say_curves(const struct record_entry *run, int below)
{
    struct curves curves;
    struct curves_wish wish = {0};
    struct text out = {0};
    struct err e;
    int columns = cli_columns(STDERR_FILENO), rows = live_rows(STDERR_FILENO) - below, least;

    if (run->run.epochs_done < 2 || columns < 17)
        return;
    columns = (columns > 130 ? 130 : columns) - 1;
    if (rows > (columns >= CURVES_BESIDE ? 13 : 22))
        rows = columns >= CURVES_BESIDE ? 13 : 22;
    least = curves_least_rows(NULL, columns);
    if (rows < least)
        wish.metric = "loss"; /* alone it needs fewer */
    if (curves_make(&curves, run, 1, &wish, &e) != ERR_OK)
        return;
    if (rows >= curves_least_rows(wish.metric, columns)) {
        curves_text(&curves, columns, rows, cli_utf8() ? PLOT_BRAILLE : PLOT_ASCII,
                    cli_colours(STDERR_FILENO), &out);
        out.s[--out.n] = 0; /* the talk ends the last line itself */
        cli_talk_drawn(&out);
    }
    text_free(&out);
    curves_free(&curves);
}

/* Epochs that a resume does not compute again; -1: there is no checkpoint to go on from. */
static enum err_code kept_epochs(const struct record_entry *entry, int64_t *epochs, struct err *e)
{
    struct safetensors checkpoint = {0};
    bool found = false;

    *epochs = -1;
    TRY(record_read_checkpoint(entry->folder, &checkpoint, &found, e));
    if (found && !record_unpack_int(&checkpoint, RECORD_NOTE_EPOCH, epochs))
        *epochs = entry->run.epochs_done;
    safetensors_free(&checkpoint);
    return ERR_OK;
}

static void say_stopped(const struct record_entry *entry, const char *reason, const char *folder)
{
    const struct record_run *run = &entry->run;
    struct err e;
    enum err_code code;
    int64_t kept;

    code = kept_epochs(entry, &kept, &e);
    reason = *reason ? reason : "stopped";
    if (code != ERR_OK)
        cli_talk("%s; chorus resume %s has nothing to go on from: %s", reason, folder, e.text);
    else if (kept < 0)
        cli_talk("%s; it has no checkpoint yet: chorus resume %s begins it again", reason, folder);
    else
        cli_talk("%s, %lld of %lld epoch%s %s; to go on: chorus resume %s", reason, (long long)kept,
                 (long long)run->spec.epochs, text_s(run->spec.epochs),
                 kept < run->epochs_done ? "kept in its last checkpoint" : "done", folder);
}

static void say_state(const struct record_entry *entry)
{
    const struct record_run *run = &entry->run;
    const char *reason = TEXT_CLEAN(run->reason);

    switch (run->state) {
    case WIRE_DONE:
        if (*reason)
            cli_talk("done: %s", reason);
        break;
    case WIRE_STOPPED:
        say_stopped(entry, reason, TEXT_CLEAN(entry->folder));
        break;
    case WIRE_DIVERGED:
    case WIRE_OOM:
    case WIRE_FAILED:
        cli_talk("chorus: the run %s%s%s",
                 run->state == WIRE_OOM      ? "ran out of memory"
                 : run->state == WIRE_FAILED ? "failed"
                                             : "diverged",
                 *reason ? ": " : "", reason);
        break;
    default:
        break;
    }
}

/* Rows that a sentence takes where the terminal breaks it. */
static int rows_of_state(const struct record_entry *run)
{
    int columns = cli_columns(STDERR_FILENO);
    size_t n = strlen(run->run.reason);

    if (run->run.state == WIRE_DONE && !n)
        return 0;
    return 1 + (int)((n + strlen(run->folder) + 50) / (size_t)columns);
}

void progress_summary(const struct record_entry *run, bool curves)
{
    struct text said = {0};
    struct sheet s;
    struct err e;

    if (record_read_sheet(run->folder, "epochs", &s, &e) == ERR_OK) {
        if (s.rows)
            add_table(&said, &run->run, &s);
        sheet_free(&s);
    }
    add_times(&said, &run->run);
    if (curves) /* and two rows for the folder and the prompt */
        say_curves(run, count_lines(&said) + rows_of_state(run) + 2);
    say_lines(&said);
    say_state(run);
    text_free(&said);
}
