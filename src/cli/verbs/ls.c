/* cli/verbs/ls.c: `chorus ls`: the runs of a results folder. */
#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/moment.h"
#include "cli/args/options.h"
#include "cli/args/sort.h"
#include "cli/out/json.h"
#include "cli/out/print.h"
#include "cli/out/results.h"
#include "cli/out/table.h"
#include "cli/sweeps/sweeps.h"
#include "cli/verbs.h"
#include "record/columns.h"
#include "record/find.h"
#include "record/list.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "spec/spec.h"
#include "study/compare.h"
#include "wire/wire.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_usage usage = {
    "ls [RUN or FILTER...] [--sort COLUMN] [--since WHEN] [-n N]", "Lists runs, the newest last.",
    "RUN is what runs or a sweep were called, else a part of runs' names, @ (newest), @2, @best,\n"
    "@all, or a folder; several unite. Commands that do more than list take a part of one name\n"
    "only. FILTER is COLUMN=VALUE, and a run must pass all of them:\n"
    "  model=cnn,lenet  lr!=0.1  seed=0..4  test_acc=0.9..  'lr<0.1'  state=dead  tags=paper\n"
    "COLUMN is one of run.csv or epochs.csv, its value that of the best epoch (last.test_acc: of\n"
    "the last), or model.NAME; an accuracy above 1 is per cent. With filters, @ and @best choose\n"
    "among the runs that pass.\n"
    "\n"
    "A run that was killed is shown as dead: `chorus resume` goes on with it. The best accuracy\n"
    "is the test set's at the best epoch; `picked on` says whether that epoch was chosen by the\n"
    "test set itself or by validation images. --since takes today, yesterday, 3h, 2d or a date,\n"
    "in UTC.\n"};

#define LEAST_NAME 16 /* of a run where there is little room: some of its end, with the hash */

struct wish {
    bool json;
    const char *sort, *since;
    int64_t n;
};

/* Which columns say something of these runs. */
struct shown {
    bool seed, train_limit, shared, sweep, tags;
    int lr_digits, sorted_digits;
    char sorted[64]; /* the column that they are sorted by, where it has no place of its own */
};

/* The last part of a path; "train.csv:test.csv" is shown as it is. */
static void add_data(struct text *out, const struct spec *spec)
{
    const char *slash = strrchr(spec->data, '/');

    text_add(out, slash && slash[1] ? slash + 1 : spec->data);
}

static void add_cell(struct cli_table *t, struct text *cell)
{
    cli_table_add(t, text_str(cell));
    text_clear(cell);
}

/* An average of runs that differ in a key has no value of it. */
static bool add_several(struct text *cell, const struct record_run *run, const char *key)
{
    bool several = record_run_is_several(run, key);

    if (several)
        text_add(cell, RECORD_SEVERAL);
    return several;
}

static void add_row(struct cli_table *t, const struct record_entry *entry,
                    const struct shown *shown)
{
    const struct record_run *run = &entry->run;
    struct text cell = {0};
    char number[TEXT_NUMBER_ROOM], age[CLOCK_UTC_ROOM];
    bool ensemble = run->spec.mode == SPEC_ENSEMBLE;

    cli_table_add(t, entry->name);
    cli_table_add(t, record_entry_state(entry));
    if (entry->broken) {
        for (size_t i = 2; i < t->columns; i++)
            cli_table_add(t, "");
        return;
    }
    if (!add_several(&cell, run, "model"))
        cli_add_model(&cell, &run->spec);
    add_cell(t, &cell);
    if (!add_several(&cell, run, "data"))
        add_data(&cell, &run->spec);
    add_cell(t, &cell);
    cli_table_add(t, ensemble ? "ensemble" : "data-parallel");
    cli_table_addf(t, "%d", run->spec.devices);
    if (ensemble)
        text_addf(&cell, "%d", run->spec.members > 0 ? run->spec.members : run->spec.devices);
    add_cell(t, &cell);
    record_run_value(run, "batch", &cell);
    add_cell(t, &cell);
    if (!add_several(&cell, run, "lr"))
        text_add_short(&cell, text_double(number, run->spec.lr), shown->lr_digits);
    add_cell(t, &cell);
    if (shown->seed) {
        record_run_value(run, "seed", &cell);
        add_cell(t, &cell);
    }
    if (shown->train_limit) {
        record_run_value(run, "train_limit", &cell);
        text_add(&cell, cell.n ? "" : study_none("train_limit"));
        add_cell(t, &cell);
    }
    text_addf(&cell, "%lld", (long long)run->epochs_done);
    if (!record_run_is_several(run, "epochs"))
        text_addf(&cell, "/%lld", (long long)run->spec.epochs);
    add_cell(t, &cell);
    cli_add_fraction(&cell, run->best_test_acc);
    add_cell(t, &cell);
    cli_table_add(t, run->best_test_acc == RECORD_EMPTY ? "" : run->best_by);
    cli_table_add(t, clock_age(age, clock_wall(), run->started_utc));
    if (shown->shared)
        cli_table_addf(t, "%lld", (long long)run->shared);
    if (shown->sorted[0]) {
        struct text value = {0};

        record_entry_value(entry, shown->sorted, &value);
        text_add_short(&cell, text_str(&value), shown->sorted_digits);
        add_cell(t, &cell);
        text_free(&value);
    }
    if (shown->sweep)
        cli_table_add(t, run->sweep);
    if (shown->tags)
        cli_table_add(t, run->tags);
    text_free(&cell);
}

/* Broken runs get their reason below the table, one line each. */
static void add_problems(struct text *out, const struct record_entry *list, const size_t *order,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct record_entry *entry = &list[order[i]];
        if (entry->broken)
            text_addf(out, "%s is broken: %s\n", TEXT_CLEAN(entry->name),
                      TEXT_CLEAN(entry->problem));
    }
}

static bool has_place(const char *column)
{
    static const char *const placed[] = {
        "run",   "state", "model",         "data",        "mode",          "devices",  "members",
        "batch", "lr",    "epochs",        "seed",        "best_test_acc", "test_acc", "best_by",
        "sweep", "tags",  "best.test_acc", "epochs_done", "started_utc"};

    return TEXT_IS_AMONG(column, placed);
}

/* Whether two of the runs have other values of the key; an average of several has none. */
static bool key_varies(const struct record_entry *list, const size_t *order, size_t count,
                       const char *key)
{
    struct text first = {0}, value = {0};
    bool varies = false;

    for (size_t i = 0; i < count && !varies; i++) {
        const struct record_entry *entry = &list[order[i]];

        if (entry->broken || record_run_is_several(&entry->run, key))
            continue;
        text_clear(&value);
        record_run_value(&entry->run, key, &value);
        text_add(&value, value.n ? "" : study_none(key));
        varies = first.n && strcmp(text_str(&first), text_str(&value)) != 0;
        if (!first.n)
            text_add(&first, text_str(&value));
    }
    text_free(&first);
    text_free(&value);
    return varies;
}

static struct shown choose_columns(const struct record_entry *list, const size_t *order,
                                   size_t count, const char *sort)
{
    struct shown shown = {.seed = key_varies(list, order, count, "seed"),
                          .train_limit = key_varies(list, order, count, "train_limit")};

    for (size_t i = 0; i < count; i++) {
        const struct record_run *run = &list[order[i]].run;
        if (list[order[i]].broken)
            continue;
        shown.shared = shown.shared || run->shared > 1;
        shown.sweep = shown.sweep || run->sweep[0];
        shown.tags = shown.tags || run->tags[0];
    }
    if (sort) {
        sort += *sort == '-' || *sort == '+';
        snprintf(shown.sorted, sizeof shown.sorted, "%.*s", (int)strcspn(sort, ","), sort);
        if (has_place(shown.sorted) || (shown.shared && !strcmp(shown.sorted, "shared")) ||
            (shown.train_limit && !strcmp(shown.sorted, "train_limit")))
            shown.sorted[0] = 0;
    }
    return shown;
}

static bool differs(const struct cli_table *t, const char *head)
{
    size_t column = 0;

    while (column < t->columns && strcmp(text_str(&t->cell[column]), head) != 0)
        column++;
    for (size_t i = column + 2 * t->columns; column < t->columns && i < t->cells; i += t->columns)
        if (strcmp(text_str(&t->cell[i]), text_str(&t->cell[i - t->columns])) != 0)
            return true;
    return false;
}

/* Names begin with a time: they go without it before a column goes. */
static void shorten_names(struct cli_table *t, int limit)
{
    if (cli_table_width(t) <= limit)
        return;
    for (size_t i = t->columns; i < t->cells; i += t->columns) {
        char *name = mem_text(study_short_name(text_str(&t->cell[i])));

        text_clear(&t->cell[i]);
        text_add(&t->cell[i], name);
        free(name);
    }
}

/* Columns go until there is room for names of so little width; then the names have all that is left. */
static void fit_names(struct cli_table *t, int limit, const char *const *drop)
{
    size_t rows = t->cells / t->columns;
    char **name = mem_new(rows, sizeof *name);

    for (size_t i = 1; i < rows; i++) {
        struct text *cell = &t->cell[i * t->columns];

        name[i] = mem_text(text_str(cell));
        text_clear(cell);
        text_addf(cell, "%.*s", LEAST_NAME, name[i]);
    }
    cli_table_fit(t, limit, drop, NULL, false);
    for (size_t i = 1; i < rows; i++) {
        struct text *cell = &t->cell[i * t->columns];

        text_clear(cell);
        text_add(cell, name[i]);
        free(name[i]);
    }
    free(name);
    cli_table_fit(t, limit, NULL, "run", true);
}

/* Where there is no room for all, what is the same in all runs goes first; that an accuracy was
 * picked on test data stands longer than anything but what tells the runs apart. */
static void fit(struct cli_table *t)
{
    static const char *const same[] = {"members", "devices", "mode", "data",   "batch", "seed",
                                       "sweep",   "tags",    "age",  "shared", "lr",    "model"};
    static const char *const then[] = {"age",    "picked on", "sweep",       "data", "mode",
                                       "shared", "devices",   "members",     "seed", "tags",
                                       "batch",  "model",     "train_limit", "lr"};
    const char *drop[MEM_COUNT(same) + MEM_COUNT(then) + 1] = {NULL};
    int limit = cli_limit(STDOUT_FILENO);
    size_t n = 0;

    for (size_t i = 0; i < MEM_COUNT(same); i++)
        if (!differs(t, same[i]))
            drop[n++] = same[i];
    memcpy(drop + n, then, sizeof then);
    shorten_names(t, limit);
    fit_names(t, limit, drop);
}

/* Digits that tell the values of a column apart. */
static int digits_of(const char *column, const struct record_entry *list, const size_t *order,
                     size_t count)
{
    struct text *value = mem_new(count + 1, sizeof *value);
    const char **words = mem_new(count + 1, sizeof *words);
    int digits;

    for (size_t i = 0; i < count; i++) {
        if (!list[order[i]].broken)
            record_entry_value(&list[order[i]], column, &value[i]);
        words[i] = text_str(&value[i]);
    }
    digits = text_least_digits(words, count);
    for (size_t i = 0; i < count; i++)
        text_free(&value[i]);
    free(words);
    free(value);
    return digits;
}

static void add_table(struct text *out, const struct record_entry *list, const size_t *order,
                      size_t count, const char *sort)
{
    struct shown shown = choose_columns(list, order, count, sort);
    struct cli_table t;
    char *head =
        mem_textf("run|state|model|data|mode|-devices|-members|-batch|-lr%s%s|-epochs|-best "
                  "acc|picked on|-age%s%s%s%s%s",
                  shown.seed ? "|-seed" : "", shown.train_limit ? "|-train_limit" : "",
                  shown.shared ? "|-shared" : "", shown.sorted[0] ? "|-" : "", shown.sorted,
                  shown.sweep ? "|sweep" : "", shown.tags ? "|tags" : "");

    shown.lr_digits = digits_of("lr", list, order, count);
    if (shown.sorted[0])
        shown.sorted_digits = digits_of(shown.sorted, list, order, count);
    cli_table_start(&t, head);
    for (size_t i = 0; i < count; i++)
        add_row(&t, &list[order[i]], &shown);
    fit(&t);
    if (count > 0)
        cli_table_text(&t, out);
    cli_table_dropped(&t, cli_limit(STDOUT_FILENO), "a pipe shows all", out);
    cli_table_free(&t);
    free(head);
    add_problems(out, list, order, count);
}

static void add_json(struct text *out, const struct record_entry *list, const size_t *order,
                     size_t count)
{
    text_add(out, "[");
    for (size_t i = 0; i < count; i++) {
        text_add(out, i ? ",\n " : "\n ");
        cli_json_entry(out, &list[order[i]]);
    }
    text_add(out, count ? "\n]\n" : "]\n");
}

static void say_empty(int argc, char **argv, const struct wish *w)
{
    const char *where = TEXT_CLEAN(cli_results());
    struct text asked = {0};
    struct record_entry *list;
    size_t count = 0;

    for (int i = 1; i < argc; i++)
        text_addf(&asked, " %s", TEXT_CLEAN(argv[i]));
    if (record_list(cli_results(), &list, &count, NULL) == ERR_OK)
        record_free_list(list, count);
    if (count == 0)
        cli_talk("no runs in %s%s (--results DIR and CHORUS_RESULTS name another folder)", where,
                 io_exists(cli_results()) ? "" : ", which is not there");
    else if (argc > 1)
        cli_talk("none of the %s run%s in %s matches%s%s%s", TEXT_COUNT(count), text_s(count),
                 where, text_str(&asked), w->since ? ", since " : "", w->since ? w->since : "");
    else
        cli_talk("none of the %s run%s in %s began since %s", TEXT_COUNT(count), text_s(count),
                 where, w->since ? w->since : "then");
    text_free(&asked);
}

/* Takes those away that began before. */
static void keep_since(struct record_entry *list, size_t *count, double since)
{
    char utc[CLOCK_UTC_ROOM];
    size_t kept = 0;

    clock_utc(utc, since);
    for (size_t i = 0; i < *count; i++) {
        if (!list[i].broken && strcmp(list[i].run.started_utc, utc) >= 0) {
            if (kept < i) {
                struct record_entry held = list[kept];
                list[kept] = list[i];
                list[i] = held;
            }
            kept++;
        }
    }
    for (size_t i = kept; i < *count; i++)
        record_free_entry(&list[i]);
    *count = kept;
}

/* How sweeps stand that were named, and what --max-cells leaves of them: each once, whatever it is called. */
static void say_sweeps(int argc, char **argv)
{
    char(*told)[128] = mem_new((size_t)argc, sizeof *told);
    struct wire_sweep_status is;
    size_t n = 0;

    for (int i = 1; i < argc; i++) {
        size_t same = 0;

        if (!sweeps_find(argv[i], told[n]))
            continue;
        while (strcmp(told[same], told[n]) != 0)
            same++;
        if (same == n) {
            if (sweeps_standing(told[n], &is))
                sweeps_say_standing(told[n], &is);
            sweeps_say_cut(told[n++]);
        }
    }
    free(told);
}

static int list_runs(int argc, char **argv, const struct wish *w, double since)
{
    struct record_entry *list;
    struct text out = {0};
    size_t count, *order, first = 0, n;
    struct err e = {0};
    int code = cli_check_results();

    if (code != CLI_ON)
        return code;
    if (record_find_all(cli_results(), argv + 1, (size_t)argc - 1, true, &list, &count, &e) !=
        ERR_OK)
        return cli_fail(&e);
    if (w->since)
        keep_since(list, &count, since);
    order = mem_new(count + 1, sizeof *order);
    cli_order_runs(list, count, order);
    if (w->sort && cli_sort_runs(list, count, w->sort, order, &e) != ERR_OK) {
        code = cli_fail(&e);
    } else {
        n = count < (uint64_t)w->n ? count : (size_t)w->n;
        if (!w->sort) /* the newest are the last */
            first = count - n;
        if (w->json)
            add_json(&out, list, order + first, n);
        else
            add_table(&out, list, order + first, n, w->sort);
        if (n == 0)
            say_empty(argc, argv, w);
        say_sweeps(argc, argv);
        code = cli_print(&out);
        results_say_changed(list, order + first, n);
    }
    text_free(&out);
    free(order);
    record_free_list(list, count);
    return code;
}

int cli_ls(int argc, char **argv)
{
    struct wish w = {.n = INT64_MAX};
    const char *number = NULL;
    const struct cli_option options[] = {
        {"--sort", "COLUMN", "by a column, -COLUMN falling; several with commas", &w.sort},
        {"--since", "WHEN", "those that began since then", &w.since},
        {"-n", "N", "the newest N only; with --sort the first N", &number},
        {"--json", NULL, "objects with the names of run.csv", &w.json},
        {NULL, NULL, NULL, NULL},
    };
    double since = 0;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (!cli_number("-n", number, 1, INT32_MAX, &w.n))
        return err_exit_code(ERR_INPUT);
    if (w.since && !cli_moment(w.since, clock_wall(), &since))
        return cli_refuse("--since %s is no time: today, yesterday, 90min, 3h, 2d, 2026-11-20 or "
                          "2026-11-20T10:15 (UTC)",
                          TEXT_CLEAN(w.since));
    return list_runs(argc, argv, &w, since);
}
