/* cli/control.c: chorus pause, go, stop: for a run of this or another process. A line in RUN/control
 * is obeyed by its owner within a second; run.csv then says so. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/io.h"
#include "cli/cells.h"
#include "cli/sweeps.h"
#include "record/ledger.h"

#include <stdlib.h>
#include <string.h>

#define WAIT_MS 10000
#define LOOK_MS 50

static bool reached(const struct record_entry *entry, enum wire_state wanted)
{
    if (entry->broken)
        return false;
    if (wanted == WIRE_STOPPED)
        return wire_state_ended(entry->run.state) && !entry->live;
    /* It may have ended by itself meanwhile. */
    return entry->run.state == wanted || wire_state_ended(entry->run.state);
}

/* Waits until the run's file shows that the line was obeyed. */
static int wait_for(const char *folder, enum wire_state wanted)
{
    struct record_entry entry;
    struct err e;
    struct text name = {0};
    bool there = false;
    int code = 0;

    for (int waited = 0; !there && waited < WAIT_MS; waited += LOOK_MS) {
        if (record_find(cli_results(), folder, &entry, &e) != ERR_OK)
            return cli_fail(&e);
        there = reached(&entry, wanted);
        if (!there && !entry.live && !entry.broken) {
            record_free_entry(&entry);
            /* Ended between the two looks of one record_find, or its owner died. */
            if (record_find(cli_results(), folder, &entry, &e) != ERR_OK)
                return cli_fail(&e);
            there = reached(&entry, wanted) || entry.dead;
        }
        if (there) {
            text_add_clean(&name, entry.name);
            if (entry.dead && wanted == WIRE_STOPPED)
                cli_talk("%s has ended, but could not write so: is the disk full? chorus resume %s",
                         text_str(&name),
                         record_has_checkpoint(folder)
                             ? "goes on from its last checkpoint"
                             : "begins it again: it has no checkpoint yet");
            else
                cli_talk("%s is %s", text_str(&name),
                         entry.dead ? "dead: its process is gone"
                                    : wire_state_name(entry.run.state));
            if (entry.dead && wanted != WIRE_STOPPED)
                code = err_exit_code(ERR_FAILED);
        }
        record_free_entry(&entry);
        if (!there)
            clock_sleep_ms(LOOK_MS);
    }
    if (!there) {
        cli_talk("chorus: the run was told, but has not answered within %d s", WAIT_MS / 1000);
        code = err_exit_code(ERR_FAILED);
    }
    text_free(&name);
    return code;
}

/* The sweep that the run is a cell of and that somebody is at work on; false: it is none. */
static bool has_live_sweep(const struct record_entry *entry, struct text *name)
{
    if (entry->broken || !entry->run.sweep[0] || !sweeps_live(entry->run.sweep))
        return false;
    text_add_clean(name, entry->run.sweep);
    return true;
}

/* Between two cells the newest run is one that has ended. */
static int refuse_ended_cell(const struct record_entry *entry, const char *verb, const char *sweep)
{
    struct text name = {0};
    int code;

    text_add_clean(&name, entry->name);
    code = cli_refuse("nobody runs %s: it is %s; of the sweep %s, which goes on, it is one cell: "
                      "chorus %s %s is for the sweep",
                      text_str(&name), entry->dead ? "dead" : wire_state_name(entry->run.state),
                      sweep, verb, sweep);
    text_free(&name);
    return code;
}

/* A cell is not its sweep: which of the two is meant by this, and how to mean the other. */
static void say_of_cell(const struct record_entry *entry, const char *line)
{
    static const struct {
        const char *line, *verb, *does;
    } of[] = {{"pause", "pause",
               "holds this cell alone; what else runs goes on, and nothing "
               "begins in its place"},
              {"go", "go", "lets this cell alone go on"},
              {"skip", "stop", "drops this cell, which gets no result; the sweep goes on"},
              {"stop", "stop",
               "stops this cell alone; the sweep goes on with its others, and with "
               "this one when it is resumed"}};
    struct text sweep = {0};
    size_t i = 0;

    if (!has_live_sweep(entry, &sweep))
        return;
    while (i + 1 < sizeof of / sizeof *of && strncmp(of[i].line, line, strlen(of[i].line)) != 0)
        i++;
    cli_talk("a cell of the sweep %s: this %s. The whole sweep: chorus %s %s", text_str(&sweep),
             of[i].does, of[i].verb, text_str(&sweep));
    text_free(&sweep);
}

static int refuse_idle(const struct record_entry *entry, const char *verb)
{
    struct text name = {0}, sweep = {0};
    int code;

    if (has_live_sweep(entry, &sweep)) {
        code = refuse_ended_cell(entry, verb, text_str(&sweep));
        text_free(&sweep);
        return code;
    }
    text_add_clean(&name, entry->name);
    if (entry->broken)
        code = cli_refuse("%s cannot be read", text_str(&name));
    else if (entry->dead)
        code = cli_refuse("nobody runs %s any more: its process is gone; chorus resume goes on",
                          text_str(&name));
    else
        code = cli_refuse("nobody runs %s: it is %s", text_str(&name),
                          wire_state_name(entry->run.state));
    text_free(&name);
    return code;
}

/* Whether all cells of a sweep that somebody runs have come to this state. */
static bool cells_reached(const char *name, enum wire_state wanted)
{
    struct record_ledger *ledger;
    struct record_cell *cells = NULL;
    bool all = true;
    size_t n = 0;

    if (record_ledger_open_to_read(&ledger, cli_results(), name, NULL) != ERR_OK)
        return false;
    all = record_ledger_cells(ledger, &cells, &n, NULL) == ERR_OK;
    for (size_t i = 0; i < n && all; i++) {
        char *folder = io_path(cli_results(), cells[i].run);
        struct record_entry entry;

        if (cells[i].owned && record_read_entry(folder, &entry, NULL) == ERR_OK) {
            all = reached(&entry, wanted);
            record_free_entry(&entry);
        }
        free(folder);
    }
    free(cells);
    record_ledger_close(ledger);
    return all;
}

static int send_to_sweep(const char *name, const char *line, enum wire_state wanted, bool wait)
{
    struct text shown = {0};
    struct err e;
    bool there = !wait;
    int code = 0;

    text_add_clean(&shown, name);
    if (!sweeps_live(name)) {
        code = cli_refuse("nobody works on the sweep %s; chorus resume %s goes on",
                          text_str(&shown), text_str(&shown));
    } else if (sweeps_control(name, line, &e) != ERR_OK) {
        code = cli_fail(&e);
    } else {
        for (int waited = 0; !there && waited < WAIT_MS; waited += LOOK_MS) {
            clock_sleep_ms(LOOK_MS);
            there = !sweeps_live(name) ||
                    (wanted != WIRE_STOPPED && waited > 500 && cells_reached(name, wanted));
        }
        if (!there)
            code = err_exit_code(ERR_FAILED);
        if (!there)
            cli_talk("chorus: the sweep was told, but has not answered within %d s",
                     WAIT_MS / 1000);
        else if (!wait)
            cli_talk("%s will stop after %s", text_str(&shown),
                     !strcmp(line, "stop cells") ? "its running cells" : "this epoch");
        else
            cli_talk("%s is %s", text_str(&shown),
                     sweeps_live(name) ? wire_state_name(wanted) : "stopped");
    }
    text_free(&shown);
    return code;
}

static int say_after_epoch(const struct record_entry *entry)
{
    struct text name = {0};

    text_add_clean(&name, entry->name);
    cli_talk(entry->run.state == WIRE_PAUSED
                 ? "%s is no longer paused: it goes on to the end of this epoch and stops there"
                 : "%s will stop after this epoch",
             text_str(&name));
    text_free(&name);
    return 0;
}

static int send(const char *run, const char *line, enum wire_state wanted, bool wait)
{
    struct record_entry entry;
    char sweep[128];
    struct err e;
    int code;

    if (sweeps_find(run, sweep))
        return send_to_sweep(sweep, line, wanted, wait);
    if (cli_find_run(run, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    if (!entry.live || entry.broken) {
        code = refuse_idle(&entry, wanted == WIRE_STOPPED ? "stop" : line);
    } else if (wanted != WIRE_STOPPED && entry.run.state == wanted) {
        struct text name = {0};

        text_add_clean(&name, entry.name);
        cli_talk("%s is %s already", text_str(&name), wire_state_name(wanted));
        text_free(&name);
        code = 0;
    } else if (record_control(entry.folder, line, &e) != ERR_OK) {
        code = cli_fail(&e);
    } else {
        say_of_cell(&entry, line);
        code = wait ? wait_for(entry.folder, wanted) : say_after_epoch(&entry);
    }
    record_free_entry(&entry);
    return code;
}

static int one_run(int argc, char **argv, const char **run)
{
    if (argc != 2)
        return cli_refuse("%s needs one RUN, such as @ for the newest", argv[0]);
    *run = argv[1];
    return CLI_ON;
}

int cli_pause(int argc, char **argv)
{
    static const struct cli_usage usage = {
        "pause RUN or SWEEP",
        "Makes a run or a sweep of this or another process wait; `chorus go` lets it go on.",
        "  chorus pause @        the newest run; where that is a cell of a sweep, the cell alone\n"
        "  chorus pause board    a whole sweep\n"};
    const char *run = NULL;
    int code = cli_options(&usage, NULL, &argc, argv);

    if (code == CLI_ON)
        code = one_run(argc, argv, &run);
    return code == CLI_ON ? send(run, "pause", WIRE_PAUSED, true) : code;
}

int cli_go(int argc, char **argv)
{
    static const struct cli_usage usage = {
        "go RUN or SWEEP", "Lets a paused run or sweep of this or another process go on.",
        "A cell that was paused alone goes on by its own name, a sweep with all its cells by "
        "the sweep's.\n"};
    const char *run = NULL;
    int code = cli_options(&usage, NULL, &argc, argv);

    if (code == CLI_ON)
        code = one_run(argc, argv, &run);
    return code == CLI_ON ? send(run, "go", WIRE_RUNNING, true) : code;
}

/* The line of RUN/control for one of the options, of which there may be one. NULL: several. */
static const char *line_of_stop(bool epoch, bool now, bool cells, bool skip)
{
    if (epoch + now + cells + skip > 1)
        return NULL;
    return epoch   ? "stop epoch"
           : now   ? "stop now"
           : cells ? "stop cells"
           : skip  ? "skip"
                   : "stop step";
}

int cli_stop(int argc, char **argv)
{
    static const struct cli_usage usage = {
        "stop RUN or SWEEP [--after-epoch, --now, --after-cells, --skip [KEY=VALUE...]]",
        "Stops a run or a sweep of this or another process after its step; `chorus resume` goes on.",
        "  chorus stop @                              the newest run; where that is a cell of a sweep,\n"
        "                                             the cell alone, and the sweep goes on\n"
        "  chorus stop board                          a whole sweep; chorus resume board goes on\n"
        "  chorus stop @ --skip                       drops the cell that runs: it gets no result\n"
        "  chorus stop board --skip lr=0.1 batch=64   drops these cells of the sweep, which goes on\n"
        "  chorus queue move board lr=0.1 -1          moves them in its order instead\n"};
    bool epoch = false, now = false, cells = false, skip = false, sweep;
    const struct cli_option options[] = {
        {"--after-epoch", NULL, "when the epoch is complete", &epoch},
        {"--now", NULL, "at once, without a checkpoint: steps are computed again later", &now},
        {"--after-cells", NULL, "a sweep, when the cells that run have ended", &cells},
        {"--skip", NULL, "one run of a sweep, or cells by their values: it goes on with the next",
         &skip},
        {NULL, NULL, NULL, NULL},
    };
    const char *run = NULL, *line;
    char name[128];
    int code = cli_options(&usage, options, &argc, argv);

    if (code == CLI_ON && skip && argc > 2 && strchr(argv[2], '=') && sweeps_find(argv[1], name) &&
        !epoch && !now && !cells)
        return cells_skip(name, argv + 2, argc - 2);
    if (code == CLI_ON)
        code = one_run(argc, argv, &run);
    if (code != CLI_ON)
        return code;
    line = line_of_stop(epoch, now, cells, skip);
    if (!line)
        return cli_refuse("stop takes one of --after-epoch, --now, --after-cells and --skip, not "
                          "both");
    sweep = sweeps_find(run, name);
    if (cells && !sweep)
        return cli_refuse("--after-cells is for a sweep, and %s is none", run);
    if (skip && sweep)
        return cli_refuse("--skip is for one run of a sweep (chorus ls names them), or for "
                          "cells by their values: --skip lr=0.1");
    return send(run, line, WIRE_STOPPED, !epoch && !cells);
}
