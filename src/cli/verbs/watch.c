/* cli/verbs/watch.c: chorus watch [RUN]: follows a run by reading its files, whoever owns it. */
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/runs.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "cli/verbs.h"
#include "cli/jobs/drive.h"
#include "cli/args/signals.h"
#include "cli/jobs/sweeps_follow.h"
#include "cli/jobs/watch.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "wire/wire.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOK_MS  250
#define DEAD_ASK 8 /* looks in a row that must find it dead: its owner may be starting */

static const struct cli_usage usage = {
    "watch [RUN or SWEEP]",
    "Follows a run or a sweep of this or another process until it ends; without a name, the newest "
    "run.",
    "Ctrl-C ends the watching, not the run. The exit code is that of the run.\n"};

static bool is_over(const struct record_entry *entry)
{
    return !entry->broken && wire_state_ended(entry->run.state) && !entry->live;
}

static void sleep_a_little(void)
{
    struct pollfd wake = {.fd = cli_wake, .events = POLLIN};

    poll(&wake, 1, LOOK_MS);
    cli_wake_clear();
}

static void say_name(const struct record_entry *entry)
{
    struct text name = {0};

    text_add_clean(&name, entry->name);
    cli_talk("%s", text_str(&name));
    text_free(&name);
}

/* 0: it ended; else the exit code with which the watching ends. *entry is what was read last. */
static int follow(struct record_entry *entry, bool quiet)
{
    struct watch watch, *w = &watch;
    char *folder = mem_text(entry->folder);
    int dead = 0, code = 0;
    struct err e;

    watch_start(w, folder, quiet);
    if (!quiet)
        say_name(entry);
    watch_begin(w, entry);
    for (;;) {
        watch_look(w, entry);
        if (is_over(entry))
            break;
        /* A run that waits is owned by nobody until somebody resumes it. */
        dead = entry->dead || entry->broken ? dead + 1 : 0;
        if (dead > DEAD_ASK)
            break;
        sleep_a_little();
        if (cli_interrupts || cli_terminated || cli_hung_up) {
            code = err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
            break;
        }
        record_free_entry(entry);
        if (record_find(cli_results(), folder, entry, &e) != ERR_OK) {
            code = cli_fail(&e);
            break;
        }
    }
    watch_look(w, entry);
    progress_end(&w->progress);
    free(folder);
    return code;
}

static int finish(const struct record_entry *entry, bool quiet, bool json)
{
    struct drive_end end = {.state = entry->run.state};
    struct text text = {0};
    struct err e;

    if (record_check_whole(entry, &e) != ERR_OK)
        return cli_fail(&e);
    if (entry->dead) {
        text_add_clean(&text, entry->folder);
        cli_talk("chorus: nobody runs it any more: its process is gone; chorus resume %s goes on",
                 text_str(&text));
        text_free(&text);
        return err_exit_code(ERR_FAILED);
    }
    snprintf(end.path, sizeof end.path, "%s", entry->folder);
    snprintf(end.reason, sizeof end.reason, "%s", entry->run.reason);
    return drive_finish(&end, quiet, json);
}

int cli_watch(int argc, char **argv)
{
    bool quiet = false, json = false;
    const struct cli_option options[] = {
        {"--quiet", NULL, "says nothing but the folder", &quiet},
        {"--json", NULL, "prints run.csv as an object instead of the folder", &json},
        {NULL, NULL, NULL, NULL},
    };
    struct record_entry entry;
    char sweep[128];
    struct err e;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc == 2 && sweeps_find(argv[1], sweep))
        return sweeps_watch(sweep, quiet, json);
    if (argc > 2 ? record_find_one(cli_results(), argv + 1, (size_t)argc - 1, &entry, &e) != ERR_OK
                 : cli_find_run(argc == 2 ? argv[1] : NULL, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    cli_signals_start();
    code = entry.broken ? 0 : follow(&entry, quiet);
    if (!code)
        code = finish(&entry, quiet, json);
    record_free_entry(&entry);
    return code;
}
