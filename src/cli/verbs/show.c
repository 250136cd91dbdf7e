/* cli/verbs/show.c: `chorus show RUN`: all there is to know of one run. */
#include "base/again.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/loss.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/json.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "cli/verbs.h"
#include "record/columns.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "spec/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_usage usage = {
    "show RUN", "Shows one run whole: settings, state, machine, results, its last epochs.",
    "RUN is a folder, the name that a run was given, any other part of a folder's name that no\n"
    "other has, @ for the newest, @2 for the one before, @best, or filters that one run passes, such\n"
    "as model=cnn seed=3; `chorus ls --help` tells what filters there are.\n"};

#define LAST_EPOCHS 5

static void add_line(struct text *out, const char *name, const char *value)
{
    if (*value)
        text_addf(out, "  %-16s %s\n", name, TEXT_CLEAN(value));
}

/* A column of run.csv under its own name, left out where it is empty. */
static void add_column(struct text *out, const struct record_run *run, const char *column)
{
    struct text value = {0};

    record_run_value(run, column, &value);
    add_line(out, column, text_str(&value));
    text_free(&value);
}

static void add_columns(struct text *out, const struct record_run *run, const char *const *columns)
{
    for (; *columns; columns++)
        add_column(out, run, *columns);
}

static void add_state(struct text *out, const struct record_entry *entry)
{
    static const char *const after[] = {"reason",  "started_utc", "ended_utc", "sweep", "cell",
                                        "version", "tags",        "note",      NULL};
    const struct record_run *run = &entry->run;
    char *state = mem_textf(
        "%s, %lld of %lld epoch%s%s%s%s%s", record_entry_state(entry), (long long)run->epochs_done,
        (long long)run->spec.epochs, text_s(run->spec.epochs),
        entry->dead ? "; its process is gone: chorus resume " : "", entry->dead ? entry->name : "",
        entry->dead ? again() : "", entry->dead ? " goes on with it" : "");

    add_line(out, "folder", entry->folder);
    add_line(out, "state", state);
    if (entry->live)
        add_column(out, run, "pid");
    add_columns(out, run, after);
    free(state);
}

/* model.NAME stands in experiment.ini alone; it is shown with the other settings. */
static void add_params(struct text *out, const struct record_entry *entry)
{
    struct spec *spec = mem_new(1, sizeof *spec);
    char *path = io_path(entry->folder, "experiment.ini");

    spec_default(spec);
    if (spec_read(spec, path, NULL) == ERR_OK) {
        for (int i = 0; i < spec->params; i++) {
            char *name = mem_textf("model.%s", spec->param[i].name);
            add_line(out, name, spec->param[i].value);
            free(name);
        }
    }
    free(path);
    free(spec);
}

static void add_settings(struct text *out, const struct record_entry *entry)
{
    struct text value = {0}, plain = {0};

    text_add(out, "\nsettings\n");
    for (int i = 0; spec_keys[i].name; i++) {
        if (!spec_applies(&entry->run.spec, i))
            continue;
        text_clear(&value);
        spec_value(&entry->run.spec, i, &value);
        text_clear(&plain);
        spec_add_plain(&plain, text_str(&value));
        add_line(out, spec_keys[i].name,
                 record_run_is_several(&entry->run, spec_keys[i].name) ? RECORD_SEVERAL
                                                                       : text_str(&plain));
        if (!strcmp(spec_keys[i].name, "model"))
            add_params(out, entry);
    }
    text_free(&value);
    text_free(&plain);
}

static void add_seconds(struct text *out, const char *name, double seconds)
{
    char span[CLOCK_UTC_ROOM];

    if (seconds == RECORD_EMPTY)
        return;
    clock_span(span, seconds);
    add_line(out, name, span);
}

static void add_count(struct text *out, const char *name, double value, const char *unit)
{
    char count[TEXT_NUMBER_ROOM];
    char *line;

    if (value == RECORD_EMPTY || !(value >= 0) || value > 1e18)
        return;
    line = mem_textf("%s%s", text_count(count, (uint64_t)value), unit);
    add_line(out, name, line);
    free(line);
}

static void add_accuracy(struct text *out, const char *name, int64_t epoch, double acc, double loss,
                         const char *behind)
{
    struct text line = {0};

    if (acc == RECORD_EMPTY)
        return;
    cli_add_fraction(&line, acc);
    text_add(&line, ", loss ");
    cli_add_fraction(&line, loss);
    text_addf(&line, ", epoch %lld%s", (long long)epoch, behind);
    add_line(out, name, text_str(&line));
    text_free(&line);
}

static void add_results(struct text *out, const struct record_run *run)
{
    char bytes[TEXT_NUMBER_ROOM];

    text_add(out, "\nresults\n");
    add_accuracy(out, "best test acc", run->best_epoch, run->best_test_acc, run->best_test_loss,
                 strcmp(run->best_by, "valid") ? ", picked on test" : ", picked on valid");
    add_accuracy(out, "last test acc", run->epochs_done, run->last_test_acc, run->last_test_loss,
                 "");
    if (!record_run_is_several(run, "images"))
        add_count(out, "images", (double)run->images, "");
    add_count(out, "model images", (double)run->model_images, "");
    add_seconds(out, "training", run->train_seconds);
    add_seconds(out, "evaluation", run->eval_seconds);
    add_seconds(out, "wall clock", run->wall_seconds);
    if (run->spec.target_acc > 0)
        add_seconds(out, "to target_acc", run->target_seconds);
    if (run->peak_memory_bytes != RECORD_EMPTY && run->peak_memory_bytes >= 0)
        add_line(out, "peak memory", text_bytes(bytes, (uint64_t)run->peak_memory_bytes));
}

/* The last rows of one of the CSVs, by these columns; a column without any value is left out. */
static void add_rows(struct text *out, const char *title, const struct sheet *s, size_t first,
                     const char *const *columns)
{
    static const char *const drop[] = {
        "images_per_second", "lr",        "ece",      "prefix_acc", "device",
        "train_acc",         "test_loss", "val_loss", "train_loss", NULL};
    struct text head = {0};
    char number[LOSS_ROOM];
    int shown[16];
    size_t n = 0;
    struct cli_table t;

    for (; *columns && n < MEM_COUNT(shown); columns++) {
        int column = sheet_column(s, *columns);
        bool any = false;
        for (size_t row = first; row < s->rows; row++)
            any = any || *sheet_cell(s, row, column);
        if (!any)
            continue;
        shown[n++] = column;
        text_addf(&head, "%s-%s", head.n ? "|" : "", *columns);
    }
    if (n > 0) {
        cli_table_start(&t, text_str(&head));
        for (size_t row = first; row < s->rows; row++) {
            for (size_t i = 0; i < n; i++) {
                double value = sheet_number(s, row, shown[i]);
                const char *cell = sheet_cell(s, row, shown[i]);
                /* losses and accuracies to four places, counts as they are */
                if (!strcmp(s->names[shown[i]], "lr"))
                    cli_table_addf(&t, "%.4g", value);
                else if (strstr(s->names[shown[i]], "loss"))
                    cli_table_add(&t, loss_text(number, value));
                else if (strpbrk(cell, ".e"))
                    cli_table_add(&t, text_fixed(number, value, value >= 1000 ? 0 : 4));
                else
                    cli_table_add(&t, cell);
            }
        }
        text_addf(out, "\n%s\n", title);
        cli_table_fit(&t, cli_limit(STDOUT_FILENO), drop, NULL, false);
        cli_table_text(&t, out);
        cli_table_free(&t);
    }
    text_free(&head);
}

/* False: it says why. */
static bool read_sheet(struct text *out, const char *folder, const char *file, struct sheet *s)
{
    struct err e = {0};

    if (record_read_sheet(folder, file, s, &e) == ERR_OK)
        return true;
    text_addf(out, "\n%s.csv cannot be read: %s\n", file, TEXT_CLEAN(e.text));
    return false;
}

static void add_sheets(struct text *out, const struct record_entry *entry)
{
    static const char *const epochs[] = {"epoch",   "train_loss",        "train_acc", "val_loss",
                                         "val_acc", "test_loss",         "test_acc",  "ece",
                                         "lr",      "images_per_second", NULL};
    static const char *const members[] = {"epoch",      "member",     "device",
                                          "train_loss", "train_acc",  "test_loss",
                                          "test_acc",   "prefix_acc", NULL};
    struct sheet s;
    size_t first;

    if (read_sheet(out, entry->folder, "epochs", &s)) {
        first = s.rows > LAST_EPOCHS ? s.rows - LAST_EPOCHS : 0;
        add_rows(out, first ? "last epochs" : "epochs", &s, first, epochs);
        sheet_free(&s);
        if (record_rows_changed(entry))
            text_add(out, "\nepochs.csv was changed since it was written\n");
    }
    if (entry->run.spec.mode != SPEC_ENSEMBLE || !read_sheet(out, entry->folder, "members", &s))
        return;
    first = s.rows;
    while (first > 0 && !strcmp(sheet_cell(&s, first - 1, sheet_column(&s, "epoch")),
                                sheet_cell(&s, s.rows - 1, sheet_column(&s, "epoch"))))
        first--;
    add_rows(out, "members", &s, first, members);
    sheet_free(&s);
}

static void add_entry(struct text *out, const struct record_entry *entry)
{
    static const char *const machine[] = {"host",           "backend_used",
                                          "precision_used", "isa",
                                          "real_devices",   "threads_used",
                                          "lr_used",        "batch_per_device",
                                          "parameters",     "flops_per_image",
                                          "network_hash",   "data_hash",
                                          "plans",          NULL};

    text_addf(out, "%s\n", TEXT_CLEAN(entry->name));
    add_state(out, entry);
    add_settings(out, entry);
    text_add(out, "\nmachine\n");
    add_columns(out, &entry->run, machine);
    add_results(out, &entry->run);
    add_sheets(out, entry);
}

int cli_show(int argc, char **argv)
{
    bool json = false;
    const struct cli_option options[] = {
        {"--json", NULL, "an object with the names of run.csv", &json},
        {NULL, NULL, NULL, NULL},
    };
    struct record_entry entry;
    struct text out = {0};
    struct err e = {0};
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc < 2)
        return cli_refuse("show needs one RUN, such as @ for the newest");
    if (record_find_one(cli_results(), argv + 1, (size_t)argc - 1, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    if (!json && record_check_whole(&entry, &e) != ERR_OK) {
        code = cli_fail(&e);
        record_free_entry(&entry);
        return code;
    }
    if (json) {
        cli_json_entry(&out, &entry);
        text_add(&out, "\n");
    } else {
        add_entry(&out, &entry);
    }
    code = cli_print(&out);
    text_free(&out);
    record_free_entry(&entry);
    return code;
}
