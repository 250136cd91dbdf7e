/* cli/jobs/take.c: the engine takes; what it took is followed here as `run` follows its own. One thing runs
 * at a time, and WIRE_TAKEN in the row of events says where the next one begins. */
#include "cli/jobs/take.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "cli/jobs/drive.h"
#include "cli/jobs/restart.h"
#include "cli/args/signals.h"
#include "cli/jobs/stuck.h"
#include "engine/engine.h"
#include "record/queue/queue.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS    1024
#define SLEEP_MS  500
#define REDRAW_MS 100
#define GRACE_NS  4000000000ull

struct taker {
    struct wire *wire;
    struct engine *engine;
    bool quiet, json;

    uint32_t number; /* of what is followed; 0: nothing */
    bool sweep;
    struct drive *run;
    const char *resumed;     /* its folder where it goes on; "" */
    struct sweeper *sweeper; /* NULL until its folder stands */
    struct spec_sweep spec;
    struct sweep_wish wish;
    char name[128];

    bool failed;    /* something that was taken has no good end */
    bool in_vain;   /* nothing more can be taken before somebody mends it */
    char file[256]; /* taken last, if nothing began of it */
    char held[512]; /* what was said last about why nothing is taken */
    bool quitting, missed;
    int interrupts, terminated;
    uint64_t give_up; /* clock_ns; 0: not yet */
};

static void say_clean(const char *before, const char *text)
{
    struct text t = {0};

    text_add_clean(&t, text);
    cli_talk("%s%s", before, text_str(&t));
    text_free(&t);
}

static void end_run(struct taker *t, bool gave_up)
{
    struct drive_end end;
    struct err e = {0};
    enum err_code code = drive_end(t->run, t->resumed, gave_up, &end, &e);

    if (code == ERR_OK && drive_is_stuck(&end)) {
        ; /* that is not its end */
    } else if (code == ERR_OK) {
        int exit_code = drive_finish(&end, t->quiet, t->json);

        t->failed |= exit_code && end.state != WIRE_STOPPED;
    } else if (t->resumed[0]) { /* of what comes from the queue the engine has told */
        t->failed |= code != ERR_STOPPED;
        (void)cli_fail(&e);
    }
    t->run = NULL;
}

static void end_sweep(struct taker *t, bool gave_up)
{
    struct wire_sweep_status status;

    if (t->sweeper && !gave_up && wire_sweep_status(t->wire, t->number, &status) &&
        sweep_is_stuck(&status)) {
        sweep_leave(t->sweeper);
    } else if (t->sweeper)
        t->failed |=
            sweep_end(t->sweeper, gave_up) && !(wire_sweep_status(t->wire, t->number, &status) &&
                                                status.state == WIRE_STOPPED && status.path[0]);
    t->sweeper = NULL;
    spec_sweep_free(&t->spec);
}

static bool has_folder(const struct taker *t)
{
    struct wire_sweep_status sweep;
    struct wire_status run;

    if (t->sweep)
        return wire_sweep_status(t->wire, t->number, &sweep) && sweep.path[0];
    return wire_status(t->wire, t->number, &run) && run.path[0];
}

static void end_current(struct taker *t, bool gave_up)
{
    if (t->number && has_folder(t))
        t->file[0] = 0; /* the next file of this name is another one */
    if (t->run)
        end_run(t, gave_up);
    else if (t->sweep)
        end_sweep(t, gave_up);
    t->number = 0;
    t->sweep = false;
    t->resumed = "";
}

/* What a sweep walks stands in its folder. */
static void open_sweep(struct taker *t)
{
    struct wire_sweep_status status;
    struct err e;

    if (!t->sweep || t->sweeper || !wire_sweep_status(t->wire, t->number, &status) ||
        !status.path[0])
        return;
    memcpy(t->name, status.name, sizeof t->name);
    t->wish = (struct sweep_wish){.name = t->name, .quiet = t->quiet, .json = t->json};
    spec_sweep_init(&t->spec);
    if (sweeps_read(t->name, &t->spec, &t->wish, &e) == ERR_OK)
        t->sweeper = sweep_follow(t->wire, t->number, &t->spec, &t->wish);
}

static void begin(struct taker *t, uint32_t number, bool sweep)
{
    end_current(t, false);
    t->number = number;
    t->sweep = sweep;
    if (!sweep)
        t->run = drive_follow(t->wire, number, 0, t->quiet);
    open_sweep(t);
}

static void on_taken(struct taker *t, const struct wire_event *ev)
{
    size_t n = 0;
    char *file = wire_slot_take(t->wire, ev->slot, &n);
    bool again;

    /* This ends what was before, and forgets its file if anything began of it. */
    begin(t, ev->run, ev->u.taken.sweep);
    again = file && n && !strcmp(file, t->file); /* it found no room the last time */
    if (file && n && !again) {
        snprintf(t->file, sizeof t->file, "%s", file);
        if (!t->quiet)
            say_clean("from the queue: ", file);
        t->held[0] = 0;
    }
    free(file);
}

/* What is nobody's that is followed: the engine's own talk. */
static void on_other(struct taker *t, const struct wire_event *ev)
{
    size_t n = 0;
    char *text = ev->slot ? wire_slot_take(t->wire, ev->slot, &n) : NULL;

    if (ev->kind == WIRE_LOG && text && ev->u.log.level >= (t->quiet ? LOG_WARN : LOG_INFO))
        say_clean("", text);
    free(text);
}

static void hear(struct taker *t, const struct wire_event *ev)
{
    if (ev->kind == WIRE_TAKEN)
        on_taken(t, ev);
    else if (t->sweeper && ev->run)
        sweep_hear(t->sweeper, ev);
    else if (t->run && ev->run == t->number)
        drive_hear(t->run, ev);
    else
        on_other(t, ev);
}

static bool is_over(struct taker *t)
{
    struct wire_sweep_status sweep;
    struct wire_status run;

    if (t->sweep)
        return wire_sweep_status(t->wire, t->number, &sweep) && wire_state_ended(sweep.state);
    return t->number && wire_status(t->wire, t->number, &run) && wire_state_ended(run.state);
}

static void quit(struct taker *t, enum wire_how how)
{
    struct wire_command command = {.kind = WIRE_STOP, .run = t->number, .how = WIRE_NOW};

    if (how == WIRE_NOW && t->number)
        (void)wire_send(t->wire, &command);
    command = (struct wire_command){.kind = WIRE_QUIT, .how = how};
    /* A full row of commands means that the engine is stuck: giving up is all that is left. */
    if ((!wire_send(t->wire, &command) || how == WIRE_NOW) && !t->give_up)
        t->give_up = clock_ns() + GRACE_NS;
    t->quitting = true;
}

static void obey_signals(struct taker *t)
{
    cli_wake_clear();
    if (cli_terminated > t->terminated) {
        t->terminated = cli_terminated;
        quit(t, t->terminated > 1 ? WIRE_NOW : WIRE_AFTER_STEP);
    }
    if (cli_interrupts > t->interrupts) {
        t->interrupts = cli_interrupts;
        quit(t, t->interrupts > 1 ? WIRE_NOW : WIRE_AFTER_STEP);
        if (t->interrupts > 2)
            t->give_up = 1;
        if (t->interrupts == 1 && !t->quiet)
            cli_talk("stopping after this step; what waits stays in the queue (Ctrl-C again: at "
                     "once)");
    }
}

/* "process 4711 is at work on ...": the same one, though it may have come to another run. */
static bool same_holder(const char *a, const char *b)
{
    size_t n = strspn(a, "proces ") + strspn(a + strspn(a, "proces "), "0123456789");

    return !strcmp(a, b) || (n > 8 && !strncmp(a, "process ", 8) && !strncmp(a, b, n + 1));
}

static void hear_held(struct taker *t, const struct wire_queue *q)
{
    bool held = q->state == WIRE_QUEUE_HELD && !t->number;

    t->in_vain = held && q->lasts && !t->quitting;
    if (!held || same_holder(q->reason, t->held))
        return;
    snprintf(t->held, sizeof t->held, "%s", q->reason);
    if (!t->quiet && !t->in_vain)
        say_clean("the queue waits: ", q->reason);
}

/* False: given up. */
static bool loop(struct taker *t)
{
    struct pollfd fds[2] = {{.fd = wire_fd(t->wire), .events = POLLIN},
                            {.fd = cli_wake, .events = POLLIN}};
    bool live = !t->quiet && cli_terminal(STDERR_FILENO);
    struct wire_event event;
    struct wire_queue q;

    for (;;) {
        uint32_t was = t->number;
        bool over, ended;

        poll(fds, 2, live && !cli_hung_up ? REDRAW_MS : t->number ? SLEEP_MS : 2 * REDRAW_MS);
        obey_signals(t);
        /* The states are asked for first: what was posted before is taken below. */
        over = t->quitting && engine_is_over(t->engine);
        wire_queue(t->wire, &q);
        ended = is_over(t);
        while (wire_take(t->wire, &event))
            hear(t, &event);
        t->missed = wire_missed(t->wire) > 0;
        if (t->missed && q.run && q.run != t->number && (!t->number || is_over(t)))
            begin(t, q.run, q.sweep);
        open_sweep(t);
        if (t->run)
            drive_draw(t->run, t->missed);
        else if (t->sweeper)
            sweep_draw(t->sweeper, t->missed);
        if (ended && t->number == was)
            end_current(t, false);
        hear_held(t, &q);
        if (over || t->in_vain ||
            (!t->quitting && !t->number &&
             (q.state == WIRE_QUEUE_EMPTY ||
              (engine_is_stuck(t->engine) && stuck_all_ended(t->wire)))))
            return true;
        if (t->give_up && clock_ns() > t->give_up)
            return false;
    }
}

/* The program anew with what was stopped first; whatever else there is gets a process of its own. */
static int restart(struct taker *t, bool failed)
{
    struct stuck_known known = {0};
    struct restart r = {.queue = true, .bad_before = failed, .quiet = t->quiet, .json = t->json};
    char *first = stuck_next(t->wire, &known), failed_before[32];

    memcpy(failed_before, known.failed_before, sizeof failed_before);
    stuck_leave(t->wire, &known, t->quiet);
    free(known.number);
    r.name = first;
    r.failed_before = failed_before;
    return restart_program(&r);
}

static int finish(struct taker *t, bool gave_up)
{
    struct wire_event event;
    struct wire_queue q;
    struct err e;
    bool stuck = !gave_up && !t->quitting && engine_is_stuck(t->engine);

    if (!gave_up) {
        drive_quit(t->wire, t->engine, t->quiet);
        while (wire_take(t->wire, &event))
            hear(t, &event);
    }
    end_current(t, gave_up);
    wire_queue(t->wire, &q);
    if (stuck)
        return restart(t, t->failed || q.rejected);
    if (!gave_up)
        wire_free(t->wire);
    if (t->quitting)
        return err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
    if (t->in_vain) {
        err_set(&e, ERR_IO, "nothing is taken from the queue: %s", t->held);
        return cli_fail(&e);
    }
    if (!q.taken && !q.rejected && !t->quiet)
        cli_talk("nothing waits in the queue; `chorus run --queue` adds to it");
    return t->failed || q.rejected ? err_exit_code(ERR_FAILED) : 0;
}

static int take(struct taker *t)
{
    struct err e;

    if (drive_open_on(t->wire, true, &t->engine, &e) != ERR_OK)
        return cli_fail(&e);
    return finish(t, !loop(t));
}

int take_queue(bool bad_before, bool quiet, bool json)
{
    struct taker t = {.failed = bad_before,
                      .quiet = quiet,
                      .json = json,
                      .resumed = "",
                      .wire = wire_new(EVENTS)};

    return take(&t);
}

int take_after_run(const struct wire_start *start, int64_t max_steps, bool bad_before, bool quiet,
                   bool json)
{
    struct taker t = {.failed = bad_before, .quiet = quiet, .json = json, .wire = wire_new(EVENTS)};
    struct err e;

    t.number = DRIVE_RUN;
    t.resumed = start->resume;
    t.run = drive_follow(t.wire, DRIVE_RUN, max_steps, quiet);
    /* Sent before there is an engine, it comes before anything that waits. */
    if (drive_send(t.wire, start, &e) != ERR_OK)
        return cli_fail(&e);
    return take(&t);
}

int take_after_sweep(const struct spec_sweep *s, const struct sweep_wish *wish)
{
    struct taker t = {.failed = wish->bad_before,
                      .quiet = wish->quiet,
                      .json = wish->json,
                      .resumed = "",
                      .wire = wire_new(EVENTS)};
    struct err e;

    t.number = DRIVE_RUN;
    t.sweep = true;
    spec_sweep_init(&t.spec);
    t.sweeper = sweep_follow(t.wire, t.number, s, wish);
    if (sweep_send(t.sweeper, &e) != ERR_OK)
        return cli_fail(&e);
    return take(&t);
}

int take_rest(struct wire *wire, struct engine *engine)
{
    /* Signals that came since the screens ended count: one before would have ended all. */
    struct taker t = {.quiet = true, .resumed = "", .wire = wire, .engine = engine};

    return finish(&t, !loop(&t));
}
