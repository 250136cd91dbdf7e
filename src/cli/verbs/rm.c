/* cli/verbs/rm.c: `chorus rm`: runs into the trash. */
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/runs.h"
#include "cli/out/print.h"
#include "cli/verbs.h"
#include "record/run/reader.h"
#include "record/sweep/sheet.h"
#include "record/trash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_usage usage = {
    "rm RUN... [--yes]",
    "Moves runs to the folder trash of the results; never one that is at work.",
    "RUNs and filters are those of `chorus ls --help`. Where they name more than one run, it asks\n"
    "first, or needs --yes. Undone by moving a folder back; emptied by deleting results/trash. A sweep\n"
    "runs a cell whose run was removed again, when it goes on.\n"};

static void add_names(struct text *out, const struct record_entry *list, size_t count)
{
    for (size_t i = 0; i < count && i < 5; i++)
        text_addf(out, "%s%s", i ? ", " : "", TEXT_CLEAN(list[i].name));
    if (count > 5)
        text_add(out, ", ...");
}

/* CLI_ON: go ahead. */
static int ask(const struct record_entry *list, size_t count)
{
    struct text names = {0};
    char answer[16] = "";
    int code = CLI_ON;

    add_names(&names, list, count);
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        code = cli_refuse("rm: these are %s runs (%s): --yes moves them all to the trash",
                          TEXT_COUNT(count), text_str(&names));
    } else {
        cli_talk("Move %s runs to the trash (%s)? [y/N]", TEXT_COUNT(count), text_str(&names));
        if (!fgets(answer, sizeof answer, stdin) || (answer[0] != 'y' && answer[0] != 'Y')) {
            cli_talk("nothing was moved");
            code = err_exit_code(ERR_FAILED);
        }
    }
    text_free(&names);
    return code;
}

/* For a shell. */
static void add_quoted(struct text *out, const char *path)
{
    bool plain = true;

    path = TEXT_CLEAN(path);
    for (const char *s = path; *s; s++)
        plain = plain &&
                (*s == '/' || *s == '.' || *s == '-' || *s == '_' || *s == '+' ||
                 (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z'));
    if (plain) {
        text_add(out, path);
    } else {
        text_add(out, "'");
        for (const char *s = path; *s; s++)
            text_add_n(out, *s == '\'' ? "'\\''" : s, *s == '\'' ? 4 : 1);
        text_add(out, "'");
    }
}

static void say_moved(const struct record_entry *entry, const char *to)
{
    struct text line = {0};

    text_addf(&line, "%s is in the trash; undo: mv ", TEXT_CLEAN(entry->name));
    add_quoted(&line, to);
    text_add(&line, " ");
    add_quoted(&line, entry->folder);
    cli_talk("%s", text_str(&line));
    text_free(&line);
}

/* Once for runs of one sweep behind each other. waits: whether a cell does for the run again. */
static void say_cells(const struct record_entry *list, const bool *waits, size_t count)
{
    const char *last = "";

    for (size_t i = 0; i < count; i++) {
        const char *sweep = waits[i] ? list[i].run.sweep : last;

        if (strcmp(sweep, last) != 0)
            cli_talk("the sweep %s runs what was removed again, when it goes on",
                     TEXT_CLEAN(sweep));
        last = sweep;
    }
}

/* A run's own sheet, which need not be one of these results. Returns whether a cell waits for it again. */
static bool tell_sweep(const struct record_entry *entry)
{
    char *results = io_folder_of(entry->folder);
    bool waits = false;
    struct err e;

    if (!entry->broken && record_sweep_drop_run(results, &entry->run, &waits, &e) != ERR_OK)
        cli_talk("%s/sweeps/%s/sweep.csv still names it: %s", results, entry->run.sweep, e.text);
    free(results);
    return waits;
}

static int move(const struct record_entry *list, size_t count)
{
    bool *waits = mem_new(count, sizeof *waits);
    char **to = mem_new(count, sizeof *to);
    struct text out = {0};
    struct err e = {0};
    int code = 0, failed;

    for (size_t i = 0; i < count; i++) {
        if (record_remove(&list[i], &to[i], &e) == ERR_OK) {
            waits[i] = tell_sweep(&list[i]);
            continue;
        }
        code = cli_fail(&e);
        free(to[i]);
        to[i] = NULL;
    }
    say_cells(list, waits, count);
    for (size_t i = 0; i < count; i++) {
        if (to[i]) {
            say_moved(&list[i], to[i]);
            text_addf(&out, "%s\n", to[i]);
        }
        free(to[i]);
    }
    failed = cli_print(&out);
    text_free(&out);
    free(to);
    free(waits);
    return code ? code : failed;
}

int cli_rm(int argc, char **argv)
{
    bool yes = false;
    const struct cli_option options[] = {
        {"--yes", NULL, "does not ask", &yes},
        {NULL, NULL, NULL, NULL},
    };
    struct record_entry *list;
    size_t count;
    struct err e;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc < 2)
        return cli_refuse("rm needs a RUN, such as a part of its name; `chorus ls` lists them");
    if (cli_find_runs(argc - 1, argv + 1, &list, &count, &e) != ERR_OK)
        return cli_fail(&e);
    code = count > 1 && !yes ? ask(list, count) : CLI_ON;
    if (code == CLI_ON)
        code = move(list, count);
    record_free_list(list, count);
    return code;
}
