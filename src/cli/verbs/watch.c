/* cli/verbs/watch.c: chorus watch [RUN or SWEEP]: follows it by its files, whoever owns it. */
#include "base/again.h"
#include "base/err.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/runs.h"
#include "cli/args/signals.h"
#include "cli/jobs/drive.h"
#include "cli/jobs/run_lines.h"
#include "cli/jobs/sweep.h"
#include "cli/jobs/sweep_lines.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "cli/verbs.h"
#include "live/feed.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "wire/sweep.h"

#include <poll.h>
#include <stdio.h>

#define LOOK_MS 100

static const struct cli_usage usage = {
    "watch [RUN or SWEEP]",
    "Follows a run or a sweep of this or another process until it ends; without a name, the newest "
    "run.",
    "Ctrl-C ends the watching, not the run. The exit code is that of the run.\n"};

/* 0: go on; else the exit code with which the watching ends. */
static int sleep_a_little(void)
{
    struct pollfd wake = {.fd = cli_wake, .events = POLLIN};

    poll(&wake, 1, LOOK_MS);
    cli_wake_clear();
    if (!cli_interrupts && !cli_terminated && !cli_hung_up)
        return 0;
    return err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
}

/* ---- a run ---- */

static bool is_over(const struct feed_run *run)
{
    bool ended = wire_state_ended(run->state) && !run->live && feed_is_read(run);

    return run->broken || run->dead || (run->known && ended);
}

static int follow_run(const char *folder, bool quiet)
{
    struct feed *feed = feed_new(NULL, cli_results());
    struct feed_run *run = feed_follow(feed, folder);
    struct run_lines lines;
    int code = 0;

    feed_watch(feed, run);
    run_lines_start(&lines, quiet);
    for (bool over = false; !over && !code;) {
        feed_take(feed, NULL, NULL);
        run_lines_look(&lines, run);
        over = is_over(run);
        if (!over)
            run_lines_draw(&lines);
        code = over ? 0 : sleep_a_little();
    }
    run_lines_end(&lines);
    feed_free(feed);
    return code;
}

static int finish_run(const char *folder, bool quiet, bool json)
{
    struct record_entry entry;
    struct drive_end end = {0};
    struct err e;
    int code;

    if (record_find(cli_results(), folder, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    end.state = entry.run.state;
    snprintf(end.path, sizeof end.path, "%s", entry.folder);
    snprintf(end.reason, sizeof end.reason, "%s", entry.run.reason);
    if (record_check_whole(&entry, &e) != ERR_OK) {
        code = cli_fail(&e);
    } else if (entry.dead) {
        cli_talk("chorus: nobody runs it any more: its process is gone; chorus resume %s goes on",
                 entry.folder);
        code = err_exit_code(ERR_FAILED);
    } else {
        code = drive_finish(&end, quiet, json);
    }
    record_free_entry(&entry);
    return code;
}

/* ---- a sweep ---- */

static int watch_sweep(const char *name, bool quiet, bool json)
{
    const struct sweep_wish wish = {.name = name, .quiet = quiet, .json = json};
    struct feed *feed = feed_new(NULL, cli_results());
    struct sweep_lines *lines = sweep_lines_other(feed, &wish);
    const struct wire_sweep_status *status = sweep_lines_status(lines);
    int code = 0;

    cli_signals_start();
    for (bool live = true; live && !code;) {
        live = sweeps_live(name);
        sweep_lines_look(lines, !live, false);
        feed_take(feed, NULL, NULL);
        if (live)
            sweep_lines_draw(lines);
        code = live ? sleep_a_little() : 0;
    }
    if (!code) {
        sweep_lines_summary(lines);
        code = status->state == WIRE_DONE ? 0 : err_exit_code(ERR_STOPPED);
        if (sweeps_print(name, json, wire_state_name(status->state)) && !code)
            code = err_exit_code(ERR_FAILED);
    }
    sweep_lines_free(lines);
    feed_free(feed);
    return code;
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
        return watch_sweep(sweep, quiet, json);
    if (argc > 2 ? record_find_one(cli_results(), argv + 1, (size_t)argc - 1, &entry, &e) != ERR_OK
                 : cli_find_run(argc == 2 ? argv[1] : NULL, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    cli_signals_start();
    code = entry.broken ? 0 : follow_run(entry.folder, quiet);
    if (!code)
        code = finish_run(entry.folder, quiet, json);
    record_free_entry(&entry);
    return code;
}
