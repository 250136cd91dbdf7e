/* cli/verbs/control.c: chorus pause, go, stop: for a run of this or another process. A line in RUN/control
 * is obeyed by its owner within a second; run.csv then says so. */
#include "base/again.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/runs.h"
#include "cli/out/print.h"
#include "cli/sweeps/cells.h"
#include "cli/sweeps/sweeps.h"
#include "cli/verbs.h"
#include "cli/jobs/control_talk.h"
#include "record/columns.h"
#include "record/filter.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "record/sweep/ledger.h"
#include "record/working.h"
#include "wire/sweep.h"
#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>

#define WAIT_MS 10000
#define LOOK_MS 50
#define NEXT_MS 2000 /* until the next cell of a sweep begins */
#define BACK_MS 1000 /* until a stop that is not taken back stays */

static bool reached(const struct record_entry *entry, enum wire_state wanted)
{
    if (entry->broken)
        return false;
    if (wanted == WIRE_STOPPED)
        return wire_state_ended(entry->run.state) && !entry->live;
    /* It may have ended by itself meanwhile. */
    return entry->run.state == wanted || wire_state_ended(entry->run.state);
}

/* Of what was paused, and is no more. */
static void say_still_stops(bool after_cells, const char *name)
{
    cli_talk("it still stops after %s; chorus go %s%s again takes that back",
             after_cells ? "the running cells" : "this epoch", name, again());
}

/* Waits until the run's file shows that the line was obeyed. */
static int wait_for(const char *folder, const char *line, enum wire_state wanted)
{
    struct record_entry entry;
    struct err e;
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
            const char *name = TEXT_CLEAN(entry.name);

            if (entry.dead && wanted == WIRE_STOPPED)
                cli_talk("%s has no end in its files (was it killed, or is the disk full?): its "
                         "process is gone; chorus resume %s%s %s",
                         name, name, again(),
                         record_has_checkpoint(folder)
                             ? "goes on from its last checkpoint"
                             : "begins it again: it has no checkpoint yet");
            else
                cli_talk("%s is %s", name,
                         entry.dead ? "dead: its process is gone"
                                    : wire_state_words(entry.run.state));
            if (!strcmp(line, "go") && !entry.dead &&
                record_working_standing(folder) == RECORD_WORK_ENDS)
                say_still_stops(false, name);
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

/* By what its own program tells, where that is seen; a cell that waits for room comes to
 * no pause, and from none. */
static bool sweep_reached(const char *name, enum wire_state wanted, int waited)
{
    struct wire_sweep_status is;
    bool full;

    if (!sweeps_live(name))
        return true;
    if (wanted == WIRE_STOPPED)
        return false;
    if (!sweeps_standing(name, &is))
        return waited > 500 && cells_reached(name, wanted);
    full = wire_sweep_lacks_room(&is);
    if (wanted == WIRE_PAUSED)
        return is.state == WIRE_PAUSED && (full || is.paused == is.running);
    return is.state != WIRE_PAUSED && (!is.closing || waited > BACK_MS) &&
           (full || (!wire_sweep_is_paused(&is) && cells_reached(name, wanted)));
}

static void say_sweep(const char *name, const char *shown, enum wire_state wanted)
{
    struct wire_sweep_status is = {.state = WIRE_STOPPED};

    if (sweeps_live(name) && !sweeps_standing(name, &is))
        is.state = wanted;
    cli_talk("%s %s%s", shown, wire_sweep_lacks_room(&is) ? "" : "is ",
             wire_sweep_words(&is, false));
    if (wanted == WIRE_RUNNING && (is.after_cells || is.after_epoch))
        say_still_stops(is.after_cells, shown);
}

/* CLI_ON: it was told, and is to be waited for. paused: whether it was until then. */
static int tell_sweep(const char *name, const char *line, bool *paused)
{
    struct wire_sweep_status is;
    struct err e;

    if (!sweeps_live(name))
        return sweeps_refuse_idle(name);
    *paused = sweeps_standing(name, &is) && wire_sweep_is_paused(&is);
    return sweeps_control(name, line, &e) == ERR_OK ? CLI_ON : cli_fail(&e);
}

/* Of a stop that comes later, to which what was paused goes on. */
static void say_later(const char *shown, bool cells, bool paused)
{
    if (!paused)
        cli_talk("%s will stop after %s", shown, cells ? "the running cells" : "this epoch");
    else if (cells)
        cli_talk(
            "%s is no longer paused: its running cells go on to their ends, and no further one "
            "begins",
            shown);
    else
        cli_talk("%s is no longer paused: it goes on to the end of this epoch and stops there",
                 shown);
}

static int await_sweep(const char *name, const char *line, enum wire_state wanted, bool wait,
                       bool paused)
{
    const char *shown = TEXT_CLEAN(name);
    bool there = !wait;

    for (int waited = 0; !there && waited < WAIT_MS; waited += LOOK_MS) {
        clock_sleep_ms(LOOK_MS);
        there = sweep_reached(name, wanted, waited);
    }
    if (!there)
        cli_talk("chorus: the sweep %s was told, but has not answered within %d s", shown,
                 WAIT_MS / 1000);
    else if (!wait)
        say_later(shown, !strcmp(line, "stop cells"), paused);
    else
        say_sweep(name, shown, wanted);
    return there ? 0 : err_exit_code(ERR_FAILED);
}

static int send_to_sweep(const char *name, const char *line, enum wire_state wanted, bool wait)
{
    bool paused = false;
    int code = tell_sweep(name, line, &paused);

    return code == CLI_ON ? await_sweep(name, line, wanted, wait, paused) : code;
}

static int say_after_epoch(const struct record_entry *entry)
{
    cli_talk(entry->run.state == WIRE_PAUSED
                 ? "%s is no longer paused: it goes on to the end of this epoch and stops there"
                 : "%s will stop after this epoch",
             TEXT_CLEAN(entry->name));
    return 0;
}

/* CLI_ON: a sweep is at work that can go on without this run. */
static int check_skip(const struct record_entry *entry)
{
    const char *name = TEXT_CLEAN(entry->name);

    if (control_in_live_sweep(entry))
        return CLI_ON;
    return cli_refuse(
        "--skip drops a cell of a sweep that is at work, and %s is none: chorus stop %s%s "
        "stops it",
        name, name, again());
}

/* CLI_ON: it was told, and is to be waited for. */
static int tell(const struct record_entry *entry, const char *line, enum wire_state wanted)
{
    struct err e;

    if (!entry->live || entry->broken)
        return control_refuse_idle(entry, wanted == WIRE_STOPPED  ? "stop"
                                          : wanted == WIRE_PAUSED ? "pause"
                                                                  : "go");
    if (!strcmp(line, "skip") && check_skip(entry) != CLI_ON)
        return err_exit_code(ERR_INPUT);
    if (wanted != WIRE_STOPPED && entry->run.state == wanted) {
        if (wanted == WIRE_RUNNING && record_control(entry->folder, line, &e) != ERR_OK)
            return cli_fail(&e);
        cli_talk("%s is %s already%s", TEXT_CLEAN(entry->name), wire_state_name(wanted),
                 wanted == WIRE_RUNNING
                     ? "; a stop --after-epoch, if it was told one, is taken back"
                     : "");
        return 0;
    }
    if (record_control(entry->folder, line, &e) != ERR_OK)
        return cli_fail(&e);
    control_say_of_cell(entry, line);
    return CLI_ON;
}

static int await(const struct record_entry *entry, const char *line, enum wire_state wanted,
                 bool wait)
{
    return wait ? wait_for(entry->folder, line, wanted) : say_after_epoch(entry);
}

/* Between two cells of a sweep the newest run is one that has ended: the next one is meant. */
static enum err_code find_run(const char *run, struct record_entry *entry, struct err *e)
{
    for (int waited = 0;; waited += LOOK_MS) {
        TRY(cli_find_run(run, entry, e));
        if (strcmp(run, "@") != 0 || entry->live || entry->broken || !entry->run.sweep[0] ||
            !sweeps_live(entry->run.sweep) || waited >= NEXT_MS)
            return ERR_OK;
        record_free_entry(entry);
        clock_sleep_ms(LOOK_MS);
    }
}

static int send_to_run(const char *run, const char *line, enum wire_state wanted, bool wait)
{
    struct record_entry entry;
    struct err e;
    int code;

    if (find_run(run, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    code = tell(&entry, line, wanted);
    if (code == CLI_ON)
        code = await(&entry, line, wanted, wait);
    record_free_entry(&entry);
    return code;
}

static int refuse_all_idle(const struct record_entry *list, size_t n)
{
    if (n == 1)
        return cli_refuse("nobody runs %s: it is %s; chorus ls%s state=running lists what runs",
                          TEXT_CLEAN(list[0].name), record_entry_state(&list[0]), again());
    return cli_refuse("nobody runs any of the %s runs that these names and filters "
                      "choose; chorus ls%s state=running lists what runs",
                      TEXT_COUNT(n), again());
}

/* Those that somebody computes among the runs that the words choose. All are told before the first one
 * is waited for. */
static int send_to_all(int count, char **words, const char *line, enum wire_state wanted, bool wait)
{
    struct record_entry *list, now;
    size_t n, live = 0;
    struct err e;
    int code = 0, one, *told;

    if (cli_find_runs(count, words, &list, &n, &e) != ERR_OK)
        return cli_fail(&e);
    told = mem_new(n + 1, sizeof *told);
    for (size_t i = 0; i < n; i++) {
        if (!record_is_owned(list[i].folder) ||
            record_read_entry(list[i].folder, &now, NULL) != ERR_OK)
            continue;
        told[i] = tell(&now, line, wanted);
        code = told[i] > 0 ? told[i] : code;
        live++;
        record_free_entry(&now);
    }
    for (size_t i = 0; i < n; i++) {
        one = told[i] == CLI_ON ? await(&list[i], line, wanted, wait) : 0;
        code = one ? one : code;
    }
    if (!live)
        code = refuse_all_idle(list, n);
    free(told);
    record_free_list(list, n);
    return code;
}

static bool has_filter(int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (record_filter_is(words[i]))
            return true;
    return false;
}

/* Names of sweeps mean the whole sweeps; the runs are told, and waited for, before a sweep is. */
static int send_to_each(int count, char **words, const char *line, enum wire_state wanted,
                        bool wait)
{
    char(*sweep)[128] = mem_new((size_t)count, sizeof *sweep);
    char **run = mem_new((size_t)count, sizeof *run);
    bool *paused = mem_new((size_t)count, sizeof *paused);
    int sweeps = 0, runs = 0, code = 0, one;

    for (int i = 0; i < count; i++) {
        if (!sweeps_find(words[i], sweep[sweeps])) {
            run[runs++] = words[i];
            continue;
        }
        one = tell_sweep(sweep[sweeps], line, &paused[sweeps]);
        code = one == CLI_ON ? code : one;
        sweeps += one == CLI_ON;
    }
    if (runs) {
        one = send_to_all(runs, run, line, wanted, wait);
        code = one ? one : code;
    }
    for (int i = 0; i < sweeps; i++) {
        one = await_sweep(sweep[i], line, wanted, wait, paused[i]);
        code = one ? one : code;
    }
    free(sweep);
    free(run);
    free(paused);
    return code;
}

/* Who names the same twice means it once. */
static int each_once(int count, char **words)
{
    int kept = 0;

    for (int i = 0; i < count; i++) {
        bool again = false;

        for (int j = 0; j < kept && !again; j++)
            again = !strcmp(words[j], words[i]);
        if (!again)
            words[kept++] = words[i];
    }
    return kept;
}

/* A word alone names one run or one sweep. Among what several name a filter chooses: of a sweep the
 * cells that pass. */
static int send(int count, char **words, const char *line, enum wire_state wanted, bool wait)
{
    char sweep[128];

    count = each_once(count, words);
    if (has_filter(count, words) || (count == 1 && !strcmp(words[0], "@all")))
        return send_to_all(count, words, line, wanted, wait);
    if (count > 1)
        return send_to_each(count, words, line, wanted, wait);
    return sweeps_find(words[0], sweep) ? send_to_sweep(sweep, line, wanted, wait)
                                        : send_to_run(words[0], line, wanted, wait);
}

static int need_run(int argc, char **argv)
{
    return argc > 1 ? CLI_ON : cli_refuse("%s needs a RUN, such as @ for the newest", argv[0]);
}

int cli_pause(int argc, char **argv)
{
    static const struct cli_usage usage = {
        "pause RUN, SWEEP or FILTER...",
        "Makes a run or a sweep of this or another process wait; `chorus go` lets it go on.",
        "  chorus pause @        the newest run; where that is a cell of a sweep, the cell alone\n"
        "  chorus pause board    a whole sweep\n"
        "  chorus pause model=cnn lr=0.1   all that compute and pass these filters (`chorus ls --help`)\n"};
    int code = cli_options(&usage, NULL, &argc, argv);

    if (code == CLI_ON)
        code = need_run(argc, argv);
    return code == CLI_ON ? send(argc - 1, argv + 1, "pause", WIRE_PAUSED, true) : code;
}

int cli_go(int argc, char **argv)
{
    static const struct cli_usage usage = {
        "go RUN, SWEEP or FILTER... [--no-stop]",
        "Lets a paused run or sweep of this or another process go on.",
        "A cell that was paused alone goes on by its own name, a sweep with all its cells by "
        "the sweep's.\n"
        "Where nothing is paused it takes a stop --after-epoch back, and of a sweep a stop "
        "--after-cells.\n"};
    bool no_stop = false;
    const struct cli_option options[] = {
        {"--no-stop", NULL, "takes such a stop back also of what is paused", &no_stop},
        {NULL, NULL, NULL, NULL},
    };
    int code = cli_options(&usage, options, &argc, argv);

    if (code == CLI_ON)
        code = need_run(argc, argv);
    /* the first one ends the pause */
    return code == CLI_ON ? send(argc - 1, argv + 1, no_stop ? "go\ngo" : "go", WIRE_RUNNING, true)
                          : code;
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
        "stop RUN, SWEEP or FILTER... [--after-epoch, --now, --after-cells, --skip]",
        "Stops a run or a sweep of this or another process after its step; `chorus resume` goes on.",
        "  chorus stop @                              the newest run; where that is a cell of a sweep,\n"
        "                                             the cell alone, and the sweep goes on\n"
        "  chorus stop board                          a whole sweep; chorus resume board goes on\n"
        "  chorus stop model=cnn                      all that compute and pass the filter\n"
        "  chorus stop board lr=0.1                   of the sweep the cells that pass\n"
        "  chorus stop @ --skip                       drops the cell that runs: it gets no result\n"
        "  chorus stop board --skip lr=0.1 batch=64   drops these cells of the sweep, which goes on\n"
        "  chorus queue move board lr=0.1 -1          moves them in its order instead\n"};
    bool epoch = false, now = false, cells = false, skip = false;
    const struct cli_option options[] = {
        {"--after-epoch", NULL, "when the epoch is complete", &epoch},
        {"--now", NULL, "at once, without a checkpoint: steps are computed again later", &now},
        {"--after-cells", NULL, "a sweep, when the running cells have ended", &cells},
        {"--skip", NULL, "one run of a sweep, or cells by their values: it goes on with the next",
         &skip},
        {NULL, NULL, NULL, NULL},
    };
    const char *line;
    char name[128];
    int code = cli_options(&usage, options, &argc, argv);

    if (code == CLI_ON && skip && argc > 2 && strchr(argv[2], '=') && sweeps_find(argv[1], name) &&
        !epoch && !now && !cells)
        return cells_skip(name, argv + 2, argc - 2);
    if (code == CLI_ON)
        code = need_run(argc, argv);
    if (code != CLI_ON)
        return code;
    line = line_of_stop(epoch, now, cells, skip);
    if (!line)
        return cli_refuse("stop takes one of --after-epoch, --now, --after-cells and --skip, not "
                          "both");
    for (int i = 1; i < argc && (cells || skip); i++) {
        bool sweep = sweeps_find(argv[i], name);

        if (cells && !sweep)
            return cli_refuse("--after-cells is for a sweep, and %s is none", argv[i]);
        if (skip && sweep && !has_filter(argc - 1, argv + 1))
            return cli_refuse("--skip is for one run of a sweep (chorus ls names them), or for "
                              "cells by their values: --skip lr=0.1");
    }
    return send(argc - 1, argv + 1, line, WIRE_STOPPED, !epoch && !cells);
}
