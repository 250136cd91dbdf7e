/* cli/ls.c: `chorus ls`: the runs of a results folder. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/io.h"
#include "cli/runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct cli_usage usage = {
    "ls [FILTER] [-n N]", "Lists runs, the newest last.",
    "FILTER is a part of a run's name. A run that was killed is shown as dead: `chorus resume`\n"
    "goes on with it. The best accuracy is the test set's at the best epoch; `picked on` says\n"
    "whether that epoch was chosen by the test set itself or by validation images.\n"};

const char *cli_run_state(const struct record_entry *entry)
{
    if (entry->broken)
        return "broken";
    return entry->dead ? "dead" : wire_state_name(entry->run.state);
}

void cli_add_model(struct text *out, const struct spec *spec)
{
    const char *slash = strrchr(spec->model, '/');
    const char *model = slash ? slash + 1 : spec->model;
    size_t n = strlen(model);

    text_add_n(out, model, n > 4 && !strcmp(model + n - 4, ".net") ? n - 4 : n);
}

/* The last part of a path; "train.csv:test.csv" is shown as it is. */
static void add_data(struct text *out, const struct spec *spec)
{
    const char *slash = strrchr(spec->data, '/');

    text_add(out, slash && slash[1] ? slash + 1 : spec->data);
}

/* "12 s", "5 min", "3 h", "2 d", "" where the time cannot be read. */
static void add_age(struct text *out, const char *utc)
{
    struct tm tm = {0};
    double age;

    if (sscanf(utc, "%4d-%2d-%2dT%2d:%2d:%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec) != 6)
        return;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    age = clock_wall() - (double)timegm(&tm);
    if (age < 0) /* another machine's clock */
        age = 0;
    if (age < 60)
        text_addf(out, "%.0f s", floor(age));
    else if (age < 3600)
        text_addf(out, "%.0f min", floor(age / 60));
    else if (age < 48 * 3600)
        text_addf(out, "%.0f h", floor(age / 3600));
    else
        text_addf(out, "%.0f d", floor(age / 86400));
}

static void add_cell(struct cli_table *t, struct text *cell)
{
    cli_table_add(t, text_str(cell));
    text_clear(cell);
}

static void add_row(struct cli_table *t, const struct record_entry *entry)
{
    const struct record_run *run = &entry->run;
    struct text cell = {0};
    char number[TEXT_NUMBER_ROOM];
    bool ensemble = run->spec.mode == SPEC_ENSEMBLE;

    cli_table_add(t, entry->name);
    cli_table_add(t, cli_run_state(entry));
    if (entry->broken) {
        for (size_t i = 2; i < t->columns; i++)
            cli_table_add(t, "");
        return;
    }
    cli_add_model(&cell, &run->spec);
    add_cell(t, &cell);
    add_data(&cell, &run->spec);
    add_cell(t, &cell);
    cli_table_add(t, ensemble ? "ensemble" : "data-parallel");
    cli_table_addf(t, "%d", run->spec.devices);
    if (ensemble)
        text_addf(&cell, "%d", run->spec.members > 0 ? run->spec.members : run->spec.devices);
    add_cell(t, &cell);
    record_run_value(run, "batch", &cell);
    add_cell(t, &cell);
    cli_table_add(t, text_double(number, run->spec.lr));
    cli_table_addf(t, "%lld/%lld", (long long)run->epochs_done, (long long)run->spec.epochs);
    cli_add_fraction(&cell, run->best_test_acc);
    add_cell(t, &cell);
    cli_table_add(t, run->best_test_acc == RECORD_EMPTY ? "" : run->best_by);
    add_age(&cell, run->started_utc);
    add_cell(t, &cell);
    text_free(&cell);
}

void cli_json_entry(struct text *out, const struct record_entry *entry)
{
    if (entry->broken) {
        text_add(out, "{");
        cli_json_field(out, "run", entry->name);
        text_add(out, ", ");
        cli_json_field(out, "state", "broken");
        text_add(out, ", ");
        cli_json_field(out, "reason", entry->problem);
    } else {
        cli_json_run(out, &entry->run);
        out->s[--out->n] = 0; /* the brace: three more follow */
    }
    text_add(out, ", \"folder\": ");
    text_add_json(out, entry->folder);
    text_addf(out, ", \"live\": %s, \"dead\": %s}", entry->live ? "true" : "false",
              entry->dead ? "true" : "false");
}

static bool takes(const char *filter, const struct record_entry *entry)
{
    return !filter || strstr(entry->name, filter);
}

/* Broken runs get their reason below the table, one line each. */
static void add_problems(struct text *out, const struct record_entry *list, size_t first,
                         size_t count, const char *filter)
{
    for (size_t i = first; i < count; i++) {
        if (!list[i].broken || !takes(filter, &list[i]))
            continue;
        text_add_clean(out, list[i].name);
        text_add(out, " is broken: ");
        text_add_clean(out, list[i].problem);
        text_add(out, "\n");
    }
}

static size_t add_table(struct text *out, const struct record_entry *list, size_t first,
                        size_t count, const char *filter)
{
    static const char *const drop[] = {"batch", "lr",        "mode",  "devices", "members",
                                       "data",  "picked on", "model", "age",     NULL};
    size_t shown = 0;
    struct cli_table t;

    cli_table_start(&t, "run|state|model|data|mode|-devices|-members|-batch|-lr|-epochs|-best acc|"
                        "picked on|-age");
    for (size_t i = first; i < count; i++) {
        if (!takes(filter, &list[i]))
            continue;
        add_row(&t, &list[i]);
        shown++;
    }
    cli_table_fit(&t, cli_limit(STDOUT_FILENO), drop, "run", true);
    if (shown > 0)
        cli_table_text(&t, out);
    cli_table_free(&t);
    add_problems(out, list, first, count, filter);
    return shown;
}

static size_t add_json(struct text *out, const struct record_entry *list, size_t first,
                       size_t count, const char *filter)
{
    size_t shown = 0;

    text_add(out, "[");
    for (size_t i = first; i < count; i++) {
        if (!takes(filter, &list[i]))
            continue;
        text_add(out, shown++ ? ",\n " : "\n ");
        cli_json_entry(out, &list[i]);
    }
    text_add(out, shown ? "\n]\n" : "]\n");
    return shown;
}

/* The place in the list from which the newest n that the filter takes begin. */
static size_t newest(const struct record_entry *list, size_t count, const char *filter, int64_t n)
{
    size_t first = count;

    while (first > 0 && n > 0) {
        first--;
        if (takes(filter, &list[first]))
            n--;
    }
    return first;
}

static void say_empty(size_t count, const char *filter)
{
    struct text where = {0}, part = {0};

    text_add_clean(&where, cli_results());
    if (count == 0) {
        cli_talk("no runs in %s%s (--results DIR and CHORUS_RESULTS name another folder)",
                 text_str(&where), io_exists(cli_results()) ? "" : ", which is not there");
    } else {
        text_add_clean(&part, filter);
        cli_talk("none of the %zu run%s in %s has '%s' in its name", count, count == 1 ? "" : "s",
                 text_str(&where), text_str(&part));
    }
    text_free(&where);
    text_free(&part);
}

int cli_ls(int argc, char **argv)
{
    bool json = false;
    const char *number = NULL;
    const struct cli_option options[] = {
        {"-n", "N", "the newest N only", &number},
        {"--json", NULL, "objects with the names of run.csv", &json},
        {"--sort", "COLUMN", NULL, NULL},
        {"--since", "WHEN", NULL, NULL},
        {NULL, NULL, NULL, NULL},
    };
    struct record_entry *list;
    struct text out = {0};
    size_t count, first;
    int64_t n = INT64_MAX;
    struct err e = {0};
    const char *filter;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc > 2)
        return cli_refuse("ls takes one FILTER, a part of a run's name");
    filter = argc == 2 && *argv[1] ? argv[1] : NULL;
    if (filter && strpbrk(filter, "=<>!"))
        return cli_refuse("ls filters by a part of a run's name; filters with =, <, > or ! come "
                          "with a later version");
    if (!cli_number("-n", number, 1, INT32_MAX, &n))
        return err_exit_code(ERR_INPUT);
    if (record_list(cli_results(), &list, &count, &e) != ERR_OK)
        return cli_fail(&e);
    first = newest(list, count, filter, n);
    if ((json ? add_json : add_table)(&out, list, first, count, filter) == 0)
        say_empty(count, filter);
    code = cli_print(&out);
    text_free(&out);
    record_free_list(list, count);
    return code;
}
