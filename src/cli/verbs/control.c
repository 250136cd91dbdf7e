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

#define WAIT_MS    10000
#define WAIT_WORDS "10 s"
#define LOOK_MS    50
#define NEXT_MS    2000 /* until the next cell of a sweep begins */
#define HEARD_MS   1000 /* until a word that is not waited for is heard, where that is seen */
struct word {           /* of a verb */
    const char *verb, *line;
    enum wire_wish wish;
};

struct target { /* a run or a sweep, and how it stood when it was told */
    char *run;  /* its folder; NULL: it is a sweep */
    char *name; /* of either */
    int code;   /* CLI_ON: it was told */
    enum wire_wish before;
    bool paused;
};

struct targets {
    struct target *list;
    size_t n, room;
};

static void add_target(struct targets *t, const char *run, const char *name)
{
    t->list = mem_grow(t->list, &t->room, t->n + 1, sizeof *t->list);
    t->list[t->n++] = (struct target){.run = run ? mem_text(run) : NULL, .name = mem_text(name)};
}

static void free_targets(struct targets *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->list[i].run);
        free(t->list[i].name);
    }
    free(t->list);
}

/* Of a stop that comes later nobody waits for the end. */
static bool is_awaited(const struct word *w)
{
    return !wire_wish_stops_later(w->wish);
}

static enum wire_state wanted(const struct word *w)
{
    return wire_wish_stops(w->wish)     ? WIRE_STOPPED
           : w->wish == WIRE_WISH_PAUSE ? WIRE_PAUSED
                                        : WIRE_RUNNING;
}

/* It may have ended by itself meanwhile. */
static bool reached(const struct record_entry *entry, const struct word *w)
{
    enum wire_wish wish;

    if (entry->broken)
        return false;
    if (wire_wish_stops(w->wish) || wire_state_ended(entry->run.state))
        return wire_state_ended(entry->run.state) && !entry->live;
    if (entry->run.state != wanted(w))
        return false;
    (void)record_working_full(entry->folder, &wish);
    return w->wish != WIRE_WISH_RUN || !wire_wish_stops(wish);
}

/* ": the stop after this epoch is cancelled", where one was still to come. */
static void add_cancelled(const struct word *w, enum wire_wish before, struct text *out)
{
    if (w->wish == WIRE_WISH_RUN && wire_wish_stops(before))
        text_addf(out, ": the %s is cancelled", wire_wish_words(before));
}

static int say_reached(const struct record_entry *entry, const struct word *w,
                       enum wire_wish before)
{
    struct text name = {0}, cancelled = {0};
    bool dead = entry->dead, stop = wire_wish_stops(w->wish);
    int code = dead && !stop ? err_exit_code(ERR_FAILED) : 0;

    text_add_clean(&name, entry->name);
    if (entry->run.state == WIRE_RUNNING)
        add_cancelled(w, before, &cancelled);
    if (w->wish == WIRE_WISH_RUN && !dead && entry->run.state == WIRE_STOPPED)
        code = control_refuse_idle(entry, w->verb); /* it had obeyed a stop before */
    else if (dead && stop)
        cli_talk("%s has no end in its files (was it killed, or is the disk full?): its "
                 "process is gone; chorus resume %s%s %s",
                 text_str(&name), text_str(&name), again(),
                 record_has_checkpoint(entry->folder)
                     ? "goes on from its last checkpoint"
                     : "begins it again: it has no checkpoint yet");
    else
        cli_talk("%s is %s%s", text_str(&name),
                 dead ? "dead: its process is gone" : wire_state_words(entry->run.state),
                 text_str(&cancelled));
    text_free(&name);
    text_free(&cancelled);
    return code;
}

/* CLI_ON: its file does not show yet that the word was obeyed. */
static int look_at_run(const struct target *t, const struct word *w)
{
    struct record_entry entry;
    struct err e;
    int code = CLI_ON;

    /* Once more where it ended between the two looks of one record_find, or its owner died. */
    for (int look = 0; code == CLI_ON && look < 2; look++) {
        if (record_find(cli_results(), t->run, &entry, &e) != ERR_OK)
            return cli_fail(&e);
        if (reached(&entry, w) || (look && entry.dead))
            code = say_reached(&entry, w, t->before);
        else if (entry.live || entry.broken)
            look = 2;
        record_free_entry(&entry);
    }
    return code;
}

/* Whether all cells of a sweep that somebody runs have come to this state. */
static bool cells_reached(const char *name, const struct word *w)
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
            all = reached(&entry, w);
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
static bool sweep_reached(const char *name, const struct word *w, int waited)
{
    struct wire_sweep_status is;
    bool full;

    if (!sweeps_live(name))
        return true;
    if (wire_wish_stops(w->wish))
        return false;
    if (!sweeps_standing(name, &is))
        return waited > 500 && cells_reached(name, w);
    full = wire_sweep_lacks_room(&is);
    if (w->wish == WIRE_WISH_PAUSE)
        return is.state == WIRE_PAUSED && (full || is.paused == is.running);
    return is.state != WIRE_PAUSED && !wire_sweep_closes(&is) &&
           (full || (!wire_sweep_is_paused(&is) && cells_reached(name, w)));
}

static int look_at_sweep(const struct target *t, const struct word *w, int waited)
{
    struct wire_sweep_status is = {.state = WIRE_STOPPED};
    struct text shown = {0};

    if (!sweep_reached(t->name, w, waited))
        return CLI_ON;
    if (w->wish == WIRE_WISH_RUN && !sweeps_live(t->name))
        return sweeps_refuse_idle(t->name);
    if (sweeps_live(t->name) && !sweeps_standing(t->name, &is))
        is.state = wanted(w);
    text_add_clean(&shown, t->name);
    text_addf(&shown, " %s%s", wire_sweep_lacks_room(&is) ? "" : "is ",
              wire_sweep_words(&is, false));
    add_cancelled(w, t->before, &shown);
    cli_talk("%s", text_str(&shown));
    text_free(&shown);
    return 0;
}

static int tell_sweep(struct target *t, const struct word *w)
{
    struct wire_sweep_status is;
    struct err e;

    if (!sweeps_live(t->name))
        return sweeps_refuse_idle(t->name);
    if (sweeps_standing(t->name, &is)) {
        t->before = is.wish;
        t->paused = wire_sweep_is_paused(&is);
    }
    return sweeps_control(t->name, w->line, &e) == ERR_OK ? CLI_ON : cli_fail(&e);
}

/* Of a stop that comes later, to which what was paused goes on. */
static void say_later(const struct target *t, const struct word *w)
{
    struct text shown = {0};

    text_add_clean(&shown, t->name);
    if (!t->paused)
        text_addf(&shown, " will %s", wire_wish_words(w->wish));
    else if (w->wish == WIRE_WISH_STOP_CELLS)
        text_add(&shown, " is no longer paused: its running cells go on to their ends, and no "
                         "further one begins");
    else
        text_add(&shown,
                 " is no longer paused: it goes on to the end of this epoch and stops there");
    cli_talk("%s", text_str(&shown));
    text_free(&shown);
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

static bool is_heard(const struct target *t, const struct word *w)
{
    struct wire_sweep_status is;

    if (t->run)
        return record_control_is_read(t->run);
    return !sweeps_standing(t->name, &is) || is.wish == w->wish;
}

/* What is said next, to whomever, does not overtake it. */
static void wait_until_heard(const struct target *t, const struct word *w)
{
    for (int waited = 0; !is_heard(t, w) && waited < HEARD_MS; waited += LOOK_MS)
        clock_sleep_ms(LOOK_MS);
}

/* It is told in any case: it may have heard another word that it has not obeyed yet. */
static int tell_entry(const struct record_entry *entry, struct target *t, const struct word *w)
{
    struct err e;

    if (!entry->live || entry->broken)
        return control_refuse_idle(entry, w->verb);
    if (!strcmp(w->line, "skip") && check_skip(entry) != CLI_ON)
        return err_exit_code(ERR_INPUT);
    t->paused = entry->run.state == WIRE_PAUSED;
    (void)record_working_full(t->run, &t->before);
    if (record_control(t->run, w->line, &e) != ERR_OK)
        return cli_fail(&e);
    if (entry->run.state != wanted(w) || wire_wish_stops(t->before)) {
        control_say_of_cell(entry, w->line);
        return CLI_ON;
    }
    wait_until_heard(t, w);
    cli_talk("%s is %s already", TEXT_CLEAN(t->name),
             wanted(w) == WIRE_PAUSED ? "paused" : "running");
    return 0;
}

static int tell(struct target *t, const struct word *w)
{
    struct record_entry entry;
    struct err e;
    int code;

    if (!t->run)
        return tell_sweep(t, w);
    if (record_read_entry(t->run, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    code = tell_entry(&entry, t, w);
    record_free_entry(&entry);
    return code;
}

static int await(const struct target *t, const struct word *w)
{
    int code = CLI_ON;

    if (!is_awaited(w)) {
        wait_until_heard(t, w);
        say_later(t, w);
        return 0;
    }
    for (int waited = 0; code == CLI_ON && waited < WAIT_MS; waited += LOOK_MS) {
        clock_sleep_ms(LOOK_MS);
        code = t->run ? look_at_run(t, w) : look_at_sweep(t, w, waited);
    }
    if (code != CLI_ON)
        return code;
    cli_talk("chorus: the %s%s was told, but has not answered within %s", t->run ? "run" : "sweep ",
             TEXT_CLEAN(t->run ? "" : t->name), WAIT_WORDS);
    return err_exit_code(ERR_FAILED);
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

static int refuse_all_idle(const struct record_entry *list, size_t n)
{
    if (n == 1)
        return cli_refuse("nobody runs %s: it is %s; chorus ls%s state=running lists what runs",
                          TEXT_CLEAN(list[0].name), record_entry_state(&list[0]), again());
    return cli_refuse("nobody runs any of the %s runs that these names and filters "
                      "choose; chorus ls%s state=running lists what runs",
                      TEXT_COUNT(n), again());
}

/* Those that somebody computes among the runs that the words choose. */
static int choose_runs(int count, char **words, struct targets *t)
{
    struct record_entry *list;
    size_t n, before = t->n;
    struct err e;
    int code;

    if (cli_find_runs(count, words, &list, &n, &e) != ERR_OK)
        return cli_fail(&e);
    for (size_t i = 0; i < n; i++)
        if (record_is_owned(list[i].folder))
            add_target(t, list[i].folder, list[i].name);
    code = t->n > before ? 0 : refuse_all_idle(list, n);
    record_free_list(list, n);
    return code;
}

static int choose_run(char *word, struct targets *t)
{
    struct record_entry entry;
    struct err e;

    if (find_run(word, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    add_target(t, entry.folder, entry.name);
    record_free_entry(&entry);
    return 0;
}

static bool has_filter(int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (record_filter_is(words[i]))
            return true;
    return false;
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
 * cells that pass. Runs are waited for before sweeps. */
static int choose(int count, char **words, struct targets *t)
{
    bool filter = has_filter(count, words) || (count == 1 && !strcmp(words[0], "@all"));
    char **run = mem_new((size_t)count, sizeof *run), sweep[128];
    int runs = 0, code = 0;

    for (int i = 0; i < count; i++)
        if (filter || !sweeps_find(words[i], sweep))
            run[runs++] = words[i];
    if (runs)
        code = count == 1 && !filter ? choose_run(run[0], t) : choose_runs(runs, run, t);
    for (int i = 0; i < count && !filter; i++)
        if (sweeps_find(words[i], sweep))
            add_target(t, NULL, sweep);
    free(run);
    return code;
}

/* All are told before the first one is waited for. */
static int send(int count, char **words, const struct word *w)
{
    struct targets t = {0};
    int code = choose(each_once(count, words), words, &t), one;

    for (size_t i = 0; i < t.n; i++) {
        t.list[i].code = tell(&t.list[i], w);
        code = t.list[i].code > 0 ? t.list[i].code : code;
    }
    for (size_t i = 0; i < t.n; i++) {
        one = t.list[i].code == CLI_ON ? await(&t.list[i], w) : 0;
        code = one ? one : code;
    }
    free_targets(&t);
    return code;
}

static int need_run(int argc, char **argv)
{
    return argc > 1 ? CLI_ON : cli_refuse("%s needs a RUN, such as @ for the newest", argv[0]);
}

static int send_plain(const struct cli_usage *usage, int argc, char **argv, enum wire_wish wish)
{
    struct word w = {argv[0], wire_wish_line(wish), wish};
    int code = cli_options(usage, NULL, &argc, argv);

    if (code == CLI_ON)
        code = need_run(argc, argv);
    return code == CLI_ON ? send(argc - 1, argv + 1, &w) : code;
}

int cli_pause(int argc, char **argv)
{
    static const struct cli_usage usage = {
        "pause RUN, SWEEP or FILTER...",
        "Makes a run or a sweep of this or another process wait; `chorus go` lets it go on.",
        "  chorus pause @        the newest run; where that is a cell of a sweep, the cell alone\n"
        "  chorus pause board    a whole sweep\n"
        "  chorus pause model=cnn lr=0.1   all that compute and pass these filters (`chorus ls --help`)\n"};

    return send_plain(&usage, argc, argv, WIRE_WISH_PAUSE);
}

int cli_go(int argc, char **argv)
{
    static const struct cli_usage usage = {
        "go RUN, SWEEP or FILTER...",
        "Lets a run or sweep of this or another process go on, and cancels a stop that is still to come.",
        "A sweep's name lets all its cells go on, also those that were paused alone.\n"
        "What has stopped goes on with `chorus resume`.\n"};

    return send_plain(&usage, argc, argv, WIRE_WISH_RUN);
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
    struct word w = {.verb = "stop"};
    char name[128];
    int code = cli_options(&usage, options, &argc, argv);

    if (code == CLI_ON && skip && argc > 2 && strchr(argv[2], '=') && sweeps_find(argv[1], name) &&
        !epoch && !now && !cells)
        return cells_skip(name, argv + 2, argc - 2);
    if (code == CLI_ON)
        code = need_run(argc, argv);
    if (code != CLI_ON)
        return code;
    if (epoch + now + cells + skip > 1)
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
    w.wish = epoch   ? WIRE_WISH_STOP_EPOCH
             : now   ? WIRE_WISH_STOP_NOW
             : cells ? WIRE_WISH_STOP_CELLS
                     : WIRE_WISH_STOP;
    w.line = skip ? "skip" : wire_wish_line(w.wish);
    return send(argc - 1, argv + 1, &w);
}
