/* cli/jobs/leave.c: what runs is stopped so that it can be resumed, or goes on in a process of its own, or
 * goes on here without a terminal. */
#include "cli/jobs/leave.h"

#include "base/again.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/jobs/drive.h"
#include "cli/jobs/handover.h"
#include "cli/args/signals.h"
#include "cli/jobs/sweep.h"
#include "cli/jobs/job.h"
#include "engine/engine.h"
#include "record/queue/queue.h"
#include "record/run/reader.h"
#include "wire/wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS  10
#define PATIENCE 2000 /* ms without a word */

struct work { /* a run, or a sweep with all its cells */
    uint32_t number;
    bool sweep;
    char **cell; /* (cells) runs of a sweep that begins no more, which go on alone */
    size_t cells;
    enum wire_wish wish;
    bool prepared; /* what it has begun can be gone on with */
    bool told;     /* to let go */
};

struct works {
    struct work *list;
    size_t n, room;
};

/* Or what was added before; until the next one is. */
static struct work *add_work(struct works *w, uint32_t number, bool sweep)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->list[i].number == number)
            return &w->list[i];
    w->list = mem_grow(w->list, &w->room, w->n + 1, sizeof *w->list);
    w->list[w->n] = (struct work){.number = number, .sweep = sweep, .prepared = true};
    return &w->list[w->n++];
}

static void free_cells(struct work *w)
{
    for (size_t k = 0; k < w->cells; k++)
        free(w->cell[k]);
    free(w->cell);
    w->cell = NULL;
    w->cells = 0;
}

static void free_works(struct works *w)
{
    for (size_t i = 0; i < w->n; i++)
        free_cells(&w->list[i]);
    free(w->list);
}

/* One that has no folder yet could be gone on with by nobody. */
static void take_cells(struct work *w, struct wire *wire)
{
    size_t room = wire_cells(wire, w->number, NULL, 0), n;
    struct wire_cell *cells = mem_new(room + 1, sizeof *cells);
    struct wire_status run;

    n = wire_cells(wire, w->number, cells, room);
    w->cell = mem_new(room + 1, sizeof *w->cell);
    for (size_t i = 0; i < n && i < room; i++) {
        if (!cells[i].run || cells[i].state != WIRE_RUNNING)
            continue;
        if (!wire_status(wire, cells[i].run, &run) || !run.path[0])
            w->prepared = false;
        else if (!wire_state_ended(run.state))
            w->cell[w->cells++] = mem_text(run.path);
    }
    free(cells);
}

static void add_sweep(struct works *w, struct wire *wire, const struct wire_sweep_status *s)
{
    struct work *work = add_work(w, s->sweep, true);

    if (work->told)
        return;
    free_cells(work);
    work->wish = s->wish;
    work->prepared = true;
    if (wire_wish_stops_later(s->wish))
        take_cells(work, wire);
}

static bool has_cell(struct wire *wire, uint32_t sweep, uint32_t run)
{
    size_t room = wire_cells(wire, sweep, NULL, 0), n;
    struct wire_cell *cells = mem_new(room + 1, sizeof *cells);
    bool has = false;

    n = wire_cells(wire, sweep, cells, room);
    for (size_t i = 0; i < n && i < room && !has; i++)
        has = cells[i].run == run;
    free(cells);
    return has;
}

/* *more: one is at work. */
static struct wire_sweep_status *all_sweeps(struct wire *wire, size_t *n, bool *more)
{
    struct wire_sweep_status *list = wire_sweeps(wire, n);

    for (size_t i = 0; i < *n; i++)
        *more |= !wire_state_ended(list[i].state);
    return list;
}

static struct wire_status *all_runs(struct wire *wire, size_t *n, bool *more)
{
    struct wire_status *list = wire_statuses(wire, n);

    for (size_t i = 0; i < *n; i++)
        *more |= !wire_state_ended(list[i].state);
    return list;
}

/* What is at work and has a folder, so that it can be gone on with. False: nothing is at work, not even
 * without one. */
static bool find_work(struct works *w, struct wire *wire)
{
    size_t runs, sweeps;
    bool more = false;
    struct wire_status *run = all_runs(wire, &runs, &more);
    struct wire_sweep_status *sweep = all_sweeps(wire, &sweeps, &more);

    for (size_t i = 0; i < sweeps; i++)
        if (!wire_state_ended(sweep[i].state) && sweep[i].path[0])
            add_sweep(w, wire, &sweep[i]);
    for (size_t i = 0; i < runs; i++) {
        bool other = wire_state_ended(run[i].state) || !run[i].path[0];

        for (size_t k = 0; k < sweeps && !other; k++)
            other = has_cell(wire, sweep[k].sweep, run[i].run); /* which is the sweep's business */
        if (!other)
            add_work(w, run[i].run, false)->wish = run[i].wish;
    }
    free(run);
    free(sweep);
    return more;
}

/* What was stopped here and not gone on with since, here or (ERR_STUCK) in another process. */
static void find_stopped(struct works *w, struct wire *wire)
{
    size_t runs, sweeps;
    bool more = false;
    struct wire_status *run = all_runs(wire, &runs, &more);
    struct wire_sweep_status *sweep = all_sweeps(wire, &sweeps, &more);

    for (size_t i = 0; i < sweeps; i++) {
        bool other =
            sweep[i].state != WIRE_STOPPED || sweep[i].code == ERR_STUCK || !sweep[i].path[0];

        for (size_t k = i + 1; k < sweeps && !other; k++)
            other = !strcmp(sweep[i].path, sweep[k].path);
        if (!other)
            (void)add_work(w, sweep[i].sweep, true);
    }
    for (size_t i = 0; i < runs; i++) {
        bool other = run[i].state != WIRE_STOPPED || run[i].code == ERR_STUCK || !run[i].path[0];

        for (size_t k = i + 1; k < runs && !other; k++)
            other = !strcmp(run[i].path, run[k].path);
        for (size_t k = 0; k < sweeps && !other; k++)
            other = has_cell(wire, sweep[k].sweep, run[i].run);
        if (!other)
            (void)add_work(w, run[i].run, false);
    }
    free(run);
    free(sweep);
}

/* Its name for `resume`, where it has not come to an end of its own; else NULL. Freed by the caller. */
static char *open_name(struct wire *wire, const struct work *w)
{
    struct wire_sweep_status sweep;
    struct wire_status run;

    if (w->sweep)
        return wire_sweep_status(wire, w->number, &sweep) && sweep.state == WIRE_STOPPED
                   ? mem_text(sweep.name)
                   : NULL;
    return wire_status(wire, w->number, &run) && run.state == WIRE_STOPPED ? mem_text(run.path)
                                                                           : NULL;
}

static void drain(struct wire *wire)
{
    struct wire_event event;
    size_t n;

    while (wire_take(wire, &event))
        if (event.slot)
            free(wire_slot_take(wire, event.slot, &n));
}

/* Nobody takes commands from an engine that has ended. */
static void send(struct wire *wire, struct engine *engine, const struct wire_command *command)
{
    while (!engine_is_over(engine) && !wire_send(wire, command))
        clock_sleep_ms(LOOK_MS);
}

/* It waits for whoever lets it go on, perhaps for days: its own log says why, and how. */
static void note_paused(struct wire *wire)
{
    size_t runs;
    bool more = false;
    struct wire_status *run = all_runs(wire, &runs, &more);
    char utc[CLOCK_UTC_ROOM];

    clock_utc(utc, clock_wall());
    for (size_t i = 0; i < runs; i++) {
        char *path = io_path(run[i].path, "log.txt");
        struct text line = {0};
        int fd = -1;

        if (run[i].state == WIRE_PAUSED && run[i].path[0])
            (void)!io_open_own(path, O_WRONLY | O_APPEND, &fd, NULL);
        text_addf(&line, "%s the terminal is gone, and it stays paused: chorus go %s%s\n", utc,
                  io_last_part(run[i].path), again());
        if (fd >= 0) {
            (void)!io.write(fd, line.s, line.n);
            io.close(fd);
        }
        text_free(&line);
        free(path);
    }
    free(run);
}

/* w: what was found before. */
static int stop(struct works *w, struct wire *wire, struct engine *engine)
{
    (void)find_work(w, wire);
    drive_quit(wire, engine, false);
    for (size_t i = 0; i < w->n; i++) {
        char *name = open_name(wire, &w->list[i]);

        if (name)
            cli_talk("stopped; to go on: chorus resume %s%s", TEXT_CLEAN(name), again());
        free(name);
    }
    if (cli_terminated || cli_interrupts)
        return err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
    return 0;
}

static void tell(struct work *w, struct wire *wire, struct engine *engine)
{
    if (w->told || !w->prepared)
        return;
    w->told = true;
    send(wire, engine, &(struct wire_command){.kind = WIRE_HAND_OVER, .run = w->number});
}

/* Until each has written a checkpoint and let go of its folder. What has no folder yet is waited for:
 * nobody could go on with it. False: a signal says that all shall end. */
static bool let_go(struct works *w, struct wire *wire, struct engine *engine)
{
    struct wire_queue q;

    /* first of all, or the next one would begin when this one lets go */
    send(wire, engine, &(struct wire_command){.kind = WIRE_CLOSE});
    for (int waited = 0;; waited += LOOK_MS) {
        bool more = find_work(w, wire);

        for (size_t i = 0; i < w->n; i++)
            tell(&w->list[i], wire, engine);
        drain(wire);
        wire_queue(wire, &q);
        if ((!more && q.state == WIRE_QUEUE_OFF && !find_work(w, wire)) || engine_is_over(engine))
            return true;
        if (cli_interrupts + cli_terminated) /* one before would have ended the screens otherwise */
            return false;
        if (waited == PATIENCE && more)
            cli_talk("what runs is still being prepared (Ctrl-C ends it)");
        else if (waited == PATIENCE)
            drive_late(true); /* the engine looks at the queue, and does nothing else */
        clock_sleep_ms(LOOK_MS);
    }
}

static bool queue_is_empty(void)
{
    struct record_queued *list;
    bool empty = true;
    size_t n;

    if (record_queue_list(cli_results(), &list, &n, NULL) == ERR_OK) {
        empty = n == 0;
        record_queue_free(list, n);
    }
    return empty;
}

/* What was to stop after its epoch is to there, too; it may have ended by itself. */
static int leave_one(const char *name, enum wire_wish wish)
{
    struct err e;
    int code;

    if (handover_leave(name, &e) == ERR_OK) {
        if (wish == WIRE_WISH_STOP_EPOCH)
            (void)!record_control(name, wire_wish_line(wish), NULL);
        cli_talk("%s goes on without this terminal; chorus %s",
                 TEXT_CLEAN(name ? name : "the queue"),
                 name ? "watch shows it" : "queue shows what waits");
        return 0;
    }
    code = cli_fail(&e);
    if (name)
        cli_talk("to go on: chorus resume %s%s", TEXT_CLEAN(name), again());
    return code;
}

static bool is_stopped(const char *run)
{
    struct record_entry entry;
    bool is;

    if (record_read_entry(run, &entry, NULL) != ERR_OK)
        return false;
    is = !entry.broken && entry.run.state == WIRE_STOPPED;
    record_free_entry(&entry);
    return is;
}

/* How many were left; what cannot be is said. */
static size_t leave_work(struct wire *wire, const struct work *w, int *code)
{
    bool cells = w->sweep && wire_wish_stops_later(w->wish);
    char *name = cells ? NULL : open_name(wire, w);
    size_t left = name != NULL;
    int failed = name ? leave_one(name, w->wish) : 0;

    *code = failed ? failed : *code;
    free(name);
    for (size_t i = 0; i < w->cells; i++) {
        if (!is_stopped(w->cell[i]))
            continue;
        failed = leave_one(w->cell[i], w->wish);
        *code = failed ? failed : *code;
        left++;
    }
    return left;
}

/* queue: what waits there is handed over too where nothing else is. */
static int hand_over(struct works *w, struct wire *wire, struct engine *engine, bool queue)
{
    size_t left = 0;
    int code = 0;

    if (!let_go(w, wire, engine))
        return stop(w, wire, engine);
    drive_late(false);
    drive_quit(wire, engine, true);
    for (size_t i = 0; i < w->n; i++)
        left += leave_work(wire, &w->list[i], &code);
    return left || !queue || queue_is_empty() ? code : leave_one(NULL, WIRE_WISH_RUN);
}

static bool is_among(const struct works *w, uint32_t number)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->list[i].number == number)
            return true;
    return false;
}

/* Of the newest run with that folder: it may have been gone on with since, and be among what was handed
 * over. */
static int run_code(struct wire *wire, const struct works *handed, struct wire_status last)
{
    size_t n;
    bool more = false;
    struct wire_status *run = all_runs(wire, &n, &more);

    for (size_t i = 0; i < n && last.path[0]; i++)
        if (!strcmp(run[i].path, last.path))
            last = run[i];
    free(run);
    return is_among(handed, last.run) || (last.state == WIRE_STOPPED && last.code == ERR_STUCK)
               ? 0 /* another process goes on with it */
               : drive_exit_code(last.state, last.code);
}

static int sweep_code(struct wire *wire, const struct works *handed, struct wire_sweep_status last)
{
    size_t n;
    bool more = false;
    struct wire_sweep_status *sweep = all_sweeps(wire, &n, &more);

    for (size_t i = 0; i < n && last.path[0]; i++)
        if (!strcmp(sweep[i].path, last.path))
            last = sweep[i];
    free(sweep);
    return is_among(handed, last.sweep) || sweep_is_stuck(&last) ? 0 : sweep_exit_code(&last);
}

static int started_code(struct wire *wire, const struct works *handed, uint32_t started)
{
    struct wire_sweep_status sweep;
    struct wire_status run;

    if (wire_sweep_status(wire, started, &sweep))
        return sweep_code(wire, handed, sweep);
    return wire_status(wire, started, &run) ? run_code(wire, handed, run)
                                            : err_exit_code(ERR_FAILED);
}

int leave_workbench(enum app_end end, uint32_t started, struct wire *wire, struct engine *engine)
{
    bool hands_over = end == APP_DETACH || end == APP_QUIT;
    struct works w = {0}, none = {0};
    int code;

    if (end == APP_HUNG_UP) {
        note_paused(wire);
        return job_rest(wire, engine);
    }
    if (end == APP_LEFT)
        find_stopped(&w, wire);
    /* Where nothing ran, what was taken from the queue in that very moment goes on: nobody said that
     * it shall not. */
    if (hands_over)
        code = hand_over(&w, wire, engine, end == APP_DETACH);
    else
        code = stop(&w, wire, engine);
    if (end == APP_INTERRUPTED && !code) /* as where Ctrl-C comes as a signal */
        code = err_exit_code(ERR_STOPPED);
    if (started && !code)
        code = started_code(wire, hands_over ? &w : &none, started);
    free_works(&w);
    drain(wire);
    wire_free(wire);
    return code;
}
