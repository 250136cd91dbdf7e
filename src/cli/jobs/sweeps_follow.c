/* cli/jobs/sweeps_follow.c: a sweep that another process runs: started in the background, watched. */
#include "cli/jobs/sweeps_follow.h"

#include "base/again.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "cli/sweeps/listed.h"
#include "cli/sweeps/sweeps.h"
#include "cli/jobs/drive.h"
#include "cli/args/signals.h"
#include "cli/jobs/watch.h"
#include "data/data.h"
#include "record/columns.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/sweep/ledger.h"
#include "spec/spec.h"
#include "wire/sweep.h"
#include "wire/wire.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 30000
#define LOOK_MS 20
#define READ_MS 500

static enum err_code start(const char *name, const struct sweep_wish *wish, const char *log,
                           pid_t *child, struct err *e)
{
    char *args[12] = {"chorus",  "resume",    (char *)name,
                      "--quiet", "--results", (char *)cli_results()};
    int n = 6;

    if (cli_places()->given) {
        args[n++] = "--data-dir";
        args[n++] = (char *)cli_places()->given;
    }
    if (wish->failed)
        args[n++] = "--failed";
    if (wish->queue)
        args[n++] = "--queue";
    return drive_spawn(args, log, child, e);
}

/* How much of it there was before. */
static void say_unfinished(const char *name, const struct sweep_wish *wish)
{
    struct sweeps_count c;
    struct text line = {0};

    if (!wish->goes_on || wish->failed || sweeps_count(name, &c, NULL) != ERR_OK)
        return;
    sweeps_add_before(&line, c.results, c.of_state[WIRE_SKIPPED], c.cells, "");
    text_addf(&line, ", %s to run", TEXT_COUNT(c.left));
    cli_talk("%s", text_str(&line));
    text_free(&line);
}

int sweeps_detach(const char *name, const struct sweep_wish *wish)
{
    char *folder = sweeps_folder(name), *log = io_path(folder, "log.txt");
    struct text why = {0};
    int status = 0, code = 0;
    bool ended = false;
    struct err e;
    pid_t child;

    if (!wish->quiet)
        say_unfinished(name, wish);
    if (start(name, wish, log, &child, &e) != ERR_OK) {
        code = cli_fail(&e);
        free(log);
        free(folder);
        return code;
    }
    for (int waited = 0; waited < WAIT_MS && !ended; waited += LOOK_MS) {
        ended = waitpid(child, &status, WNOHANG) == child;
        if (ended) /* a short one may be over before we looked */
            code = WIFEXITED(status) ? WEXITSTATUS(status) : err_exit_code(ERR_FAILED);
        else if (sweeps_live(name))
            break;
        else
            clock_sleep_ms(LOOK_MS);
    }
    if (code) {
        drive_add_last_line(&why, log);
        cli_talk("chorus: the sweep in the background ended at once: %s", text_str(&why));
    } else if (!wish->quiet) {
        text_add_clean(&why, name);
        cli_talk("runs in the background; chorus watch, pause or stop %s%s", text_str(&why),
                 again());
    }
    text_free(&why);
    free(log);
    free(folder);
    if (sweeps_print(name, wish->json, "running") && !code)
        code = err_exit_code(ERR_FAILED);
    return code;
}

struct running { /* a cell that somebody computes */
    struct watch watch;
    char *folder, *label;
};

struct watched {
    struct spec_sweep spec;
    struct listed *listed;
    struct record_ledger *ledger;
    bool *told; /* (tolds) whether a cell's end has its line; the ledger keeps their order */
    size_t tolds, room;
    struct running *running;
    size_t runnings, running_room;
    const char *standing; /* its words when they were said last */
    bool quiet;
};

/* The values that its cells differ in, by the run's own file. */
static void add_values(struct text *out, const struct spec_sweep *s,
                       const struct record_entry *entry)
{
    struct text value = {0}, clean = {0};

    for (size_t a = 0; a < s->axes; a++) {
        const char *key = s->axis[a].key;

        text_clear(&value);
        if (!strncmp(key, "model.", 6))
            record_entry_value(entry, key, &value);
        else
            record_run_value(&entry->run, key, &value);
        text_addf(out, " %s=", key);
        text_clear(&clean);
        text_add_clean(&clean, text_str(&value));
        text_add_short(out, text_str(&clean), s->axis[a].digits);
    }
    text_free(&clean);
}

static struct running *find_running(struct watched *w, const char *run)
{
    for (size_t i = 0; i < w->runnings; i++)
        if (!strcmp(strrchr(w->running[i].folder, '/') + 1, run))
            return &w->running[i];
    return NULL;
}

static struct running *add_running(struct watched *w, const struct record_entry *entry)
{
    struct running *r;
    struct text label = {0};

    w->running = mem_grow(w->running, &w->running_room, w->runnings + 1, sizeof *w->running);
    r = &w->running[w->runnings++];
    r->folder = io_path(cli_results(), entry->name);
    watch_start(&r->watch, r->folder, w->quiet);
    add_values(&label, &w->spec, entry);
    r->label = mem_text(text_str(&label) + strspn(text_str(&label), " "));
    r->watch.progress.label = r->label;
    watch_begin(&r->watch, entry);
    text_free(&label);
    return r;
}

static void drop_running(struct watched *w, struct running *r)
{
    progress_end(&r->watch.progress);
    free(r->folder);
    free(r->label);
    *r = w->running[--w->runnings];
}

/* Its epochs; the first of those that run has the line that is redrawn. */
static void look_at_running(struct watched *w, const struct record_cell *c)
{
    char *folder = io_path(cli_results(), c->run);
    struct running *r = find_running(w, c->run);
    struct record_entry entry;

    if (c->run[0] && record_read_entry(folder, &entry, NULL) == ERR_OK) {
        if (!entry.broken && (r || (c->owned && entry.live))) {
            r = r ? r : add_running(w, &entry);
            r->watch.progress.live = r == w->running && !w->quiet && cli_terminal(STDERR_FILENO);
            watch_look(&r->watch, &entry);
        }
        record_free_entry(&entry);
    }
    free(folder);
}

static void say_cell(const struct spec_sweep *s, const struct record_cell *c)
{
    char *folder = io_path(cli_results(), c->run), span[CLOCK_UTC_ROOM];
    struct record_entry entry;
    struct text line = {0};

    text_addf(&line, "%s", wire_state_words(c->state));
    if (c->run[0] && record_read_entry(folder, &entry, NULL) == ERR_OK) {
        if (!entry.broken) {
            add_values(&line, s, &entry);
            text_add(&line, "  ");
            if (c->state == WIRE_DONE)
                cli_add_fraction(&line, entry.run.best_test_acc);
            clock_span(span, entry.run.train_seconds + entry.run.eval_seconds);
            text_addf(&line, "  %s", span);
        }
        record_free_entry(&entry);
    }
    if (c->reason[0]) {
        text_add(&line, "  ");
        text_add_clean(&line, c->reason);
    }
    cli_talk("%s", text_str(&line));
    text_free(&line);
    free(folder);
}

static enum err_code look(struct watched *w, struct err *e)
{
    struct record_cell *cells = NULL;
    enum err_code code;
    size_t n = 0;

    code = record_ledger_cells(w->ledger, &cells, &n, e);
    w->told = mem_grow(w->told, &w->room, n + 1, sizeof *w->told);
    for (; w->tolds < n; w->tolds++)
        w->told[w->tolds] = false;
    for (size_t i = 0; i < n; i++) {
        struct running *r = find_running(w, cells[i].run);

        if (!w->told[i] && (r || !wire_state_is_final(cells[i].state)))
            look_at_running(w, &cells[i]);
        r = find_running(w, cells[i].run);
        if (r && !cells[i].owned)
            drop_running(w, r);
        if (!wire_state_is_final(cells[i].state) || w->told[i])
            continue;
        w->told[i] = true;
        if (!w->quiet && listed_has(w->listed, cells[i].cell))
            say_cell(&w->spec, &cells[i]);
    }
    free(cells);
    return code;
}

/* Where that is another than before, and at first where it does not simply run. */
static void say_standing(struct watched *w, const char *name)
{
    struct wire_sweep_status is;
    const char *words;

    if (w->quiet || !sweeps_standing(name, &is))
        return;
    words = wire_sweep_words(&is, false);
    if (words != w->standing &&
        (w->standing || (strcmp(words, wire_state_name(WIRE_RUNNING)) != 0 && !is.counting)))
        sweeps_say_standing(name, &is);
    w->standing = words;
}

static enum err_code follow(struct watched *w, const char *name, int *code, struct err *e)
{
    bool live = true;

    while (live && !*code) {
        struct pollfd wake = {.fd = cli_wake, .events = POLLIN};

        live = sweeps_live(name);
        TRY(look(w, e));
        say_standing(w, name);
        if (live)
            poll(&wake, 1, READ_MS);
        cli_wake_clear();
        if (live && (cli_interrupts || cli_terminated || cli_hung_up))
            *code = err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
    }
    return ERR_OK;
}

int sweeps_watch(const char *name, bool quiet, bool json)
{
    struct watched w = {.quiet = quiet};
    struct sweep_wish wish = {0};
    struct sweeps_count c = {0};
    struct err e;
    int code = 0;
    enum err_code err;

    spec_sweep_init(&w.spec);
    cli_signals_start();
    err = sweeps_read(name, &w.spec, &wish, &e);
    if (err == ERR_OK)
        err = record_ledger_open_to_read(&w.ledger, cli_results(), name, &e);
    w.listed = listed_open(name, wish.max_cells > 0);
    if (err == ERR_OK)
        err = follow(&w, name, &code, &e);
    if (err == ERR_OK && !code)
        err = sweeps_count(name, &c, &e);
    record_ledger_close(w.ledger);
    listed_close(w.listed);
    spec_sweep_free(&w.spec);
    while (w.runnings)
        drop_running(&w, w.running);
    free(w.running);
    free(w.told);
    if (err != ERR_OK)
        return cli_fail(&e);
    if (code)
        return code;
    if (c.left) {
        code = err_exit_code(ERR_STOPPED);
        cli_talk("nobody works on it any more: %s cell%s no result; chorus resume %s%s goes on",
                 TEXT_COUNT(c.left), c.left == 1 ? " has" : "s have", name, again());
    }
    if (sweeps_print(name, json, c.left ? "stopped" : "done") && !code)
        code = err_exit_code(ERR_FAILED);
    return code;
}
