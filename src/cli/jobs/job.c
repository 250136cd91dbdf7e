/* cli/jobs/job.c: the loop of every command that computes. One thing runs at a time: what was asked for, then what
 * the engine takes from the queue; WIRE_TAKEN in the row of events says where the next one begins. */
#include "cli/jobs/job.h"

#include "base/again.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/signals.h"
#include "cli/jobs/drive.h"
#include "cli/jobs/handover.h"
#include "cli/jobs/run_lines.h"
#include "cli/jobs/stuck.h"
#include "cli/jobs/sweep_lines.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "engine/engine.h"
#include "record/queue/queue.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS    1024
#define SLEEP_MS  500 /* between two looks at the snapshot where nothing is heard */
#define REDRAW_MS 100
#define LOOK_MS   50
#define GRACE_NS  4000000000ull
#define READ_NS   10000000000ull /* of what has ended: until its last rows are read */

struct doing {
    const struct job *job;
    bool quiet;
    struct wire *wire;
    struct engine *engine;
    struct feed *feed;

    uint32_t number;   /* of what is followed; 0: nothing */
    bool sweep, asked; /* asked: by the command, not by the queue */
    struct run_lines run;
    struct sweep_lines *cells; /* NULL until its folder stands */
    struct spec_sweep spec;    /* of one from the queue */
    struct sweep_wish wish;
    char name[128];
    bool refused;
    struct err refusal;
    uint64_t ended_ns; /* seen first; 0: not yet */

    int code;       /* of what was asked for */
    bool failed;    /* something has no good end */
    bool in_vain;   /* nothing more can be taken before somebody mends it */
    char file[256]; /* taken last, if nothing began of it */
    char held[512]; /* what was said last about why nothing is taken */
    bool quitting, missed;
    int interrupts, terminated;
    uint64_t give_up; /* clock_ns; 0: not yet */
};

static int stopped_code(void)
{
    return err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
}

/* ---- how it ends ---- */

static const char *resumed(const struct doing *d)
{
    return d->asked && d->job->run ? d->job->run->resume : "";
}

static enum err_code take_end(struct doing *d, bool gave_up, struct drive_end *end, struct err *e)
{
    struct wire_status status = {0};
    const struct feed_run *run = feed_by_number(d->feed, d->number);
    bool known = wire_status(d->wire, d->number, &status);

    *end = (struct drive_end){.state = status.state, .code = status.code, .abandoned = gave_up};
    snprintf(end->path, sizeof end->path, "%s", status.path);
    snprintf(end->reason, sizeof end->reason, "%s", status.reason);
    if (d->refused && !(run && run->known && run->own)) {
        if (d->refusal.code != ERR_OK)
            return err_set(e, d->refusal.code, "%s", d->refusal.text);
        /* It was finished by another process after we had looked. */
        cli_talk("%s", d->refusal.text);
        end->state = WIRE_DONE;
        end->abandoned = false;
        snprintf(end->path, sizeof end->path, "%s", resumed(d));
        return ERR_OK;
    }
    if (gave_up)
        return ERR_OK;
    if (!known)
        return err_set(e, ERR_STOPPED, "stopped before the run began");
    if (!status.path[0])
        return err_set(e, status.code ? status.code : ERR_FAILED, "%s",
                       status.reason[0] ? status.reason : "the run could not begin");
    return ERR_OK;
}

static void end_run(struct doing *d, bool gave_up)
{
    struct drive_end end;
    struct err e = {0};
    enum err_code code = take_end(d, gave_up, &end, &e);
    int exit_code;

    run_lines_end(&d->run);
    if (code == ERR_STOPPED && cli_terminated)
        code = e.code = ERR_TERMINATED;
    if (code == ERR_OK && d->asked && d->job->background && end.state == WIRE_WAITING && !gave_up) {
        d->code = handover_run(end.path, 0, false, d->job->quiet, d->job->json);
    } else if (code == ERR_OK) {
        if (end.state == WIRE_STOPPED && end.code == ERR_STUCK && !gave_up)
            return; /* that is not its end */
        exit_code = drive_finish(&end, d->job->quiet, d->job->json);
        d->failed |= exit_code && end.state != WIRE_STOPPED;
        d->code = d->asked ? exit_code : d->code;
    } else if (d->asked) { /* of what comes from the queue the engine has told */
        d->failed |= code != ERR_STOPPED && code != ERR_TERMINATED;
        d->code = cli_fail(&e);
    }
}

/* Of a sweep that has ended, or is given up: says how, and prints its table. */
static int finish_sweep(struct doing *d, const struct sweep_wish *wish, bool gave_up)
{
    const struct wire_sweep_status *status = sweep_lines_status(d->cells);
    int code = wish->background ? 0 : sweep_exit_code(status);

    if (d->refused && !status->path[0]) {
        if (d->refusal.code == ERR_STOPPED && cli_terminated)
            d->refusal.code = ERR_TERMINATED;
        return cli_fail(&d->refusal);
    }
    /* A second signal may come when its run has just ended: the first one did what it asks for. */
    if (d->refused && !cli_terminated && !cli_interrupts)
        code = cli_fail(&d->refusal);
    else if (wish->background)
        return CLI_ON;
    else if (gave_up)
        cli_talk("stopped at once; to go on from the last checkpoints: chorus resume %s%s",
                 wish->name, again());
    else
        sweep_lines_summary(d->cells);
    if (!sweeps_has_table(wish->name)) /* nothing could be written, or there was no time */
        return code;
    if (sweeps_print(wish->name, wish->json, wire_state_name(status->state)) &&
        cli_print_failed() && !code)
        code = err_exit_code(ERR_FAILED);
    return code;
}

static void end_sweep(struct doing *d, bool gave_up)
{
    const struct sweep_wish *wish = d->asked ? d->job->wish : &d->wish;
    const struct wire_sweep_status *status;
    int code = 0;

    if (!d->cells)
        return;
    sweep_lines_look(d->cells, true, false);
    status = sweep_lines_status(d->cells);
    if (gave_up || !sweep_is_stuck(status)) {
        code = finish_sweep(d, wish, gave_up);
        d->failed |= code && code != CLI_ON && !(status->state == WIRE_STOPPED && status->path[0]);
    }
    d->code = d->asked ? code : d->code;
    sweep_lines_free(d->cells);
    d->cells = NULL;
    if (code == CLI_ON)
        d->code = handover_sweep(wish);
    if (!d->asked)
        spec_sweep_free(&d->spec);
}

static bool has_folder(const struct doing *d)
{
    struct wire_sweep_status sweep;
    struct wire_status run;

    if (d->sweep)
        return wire_sweep_status(d->wire, d->number, &sweep) && sweep.path[0];
    return wire_status(d->wire, d->number, &run) && run.path[0];
}

static void end_current(struct doing *d, bool gave_up)
{
    if (d->number && has_folder(d))
        d->file[0] = 0; /* the next file of this name is another one */
    if (d->number && d->sweep)
        end_sweep(d, gave_up);
    else if (d->number)
        end_run(d, gave_up);
    d->number = 0;
    d->sweep = d->asked = d->refused = false;
    d->ended_ns = 0;
}

/* ---- what is followed ---- */

/* What a sweep from the queue walks stands in its folder. */
static void open_sweep(struct doing *d)
{
    struct wire_sweep_status status;

    if (!d->sweep || d->cells || !wire_sweep_status(d->wire, d->number, &status) || !status.path[0])
        return;
    memcpy(d->name, status.name, sizeof d->name);
    d->wish = (struct sweep_wish){.name = d->name, .quiet = d->job->quiet, .json = d->job->json};
    spec_sweep_init(&d->spec);
    if (sweeps_read(d->name, &d->spec, &d->wish, NULL) == ERR_OK)
        d->cells = sweep_lines_own(d->feed, d->wire, d->number, &d->spec, &d->wish);
}

/* What is not watched the feed forgets at its end. */
static void begin_run(struct doing *d)
{
    run_lines_start(&d->run, d->quiet);
    feed_watch(d->feed, feed_by_number(d->feed, d->number));
}

static void begin(struct doing *d, uint32_t number, bool sweep)
{
    end_current(d, false);
    d->number = number;
    d->sweep = sweep;
    if (!sweep)
        begin_run(d);
    open_sweep(d);
}

static void on_taken(struct doing *d, const struct wire_event *ev, const char *file)
{
    bool again;

    /* This ends what was before, and forgets its file if anything began of it. */
    begin(d, ev->run, ev->u.taken.sweep);
    again = !strcmp(file, d->file); /* it found no room the last time */
    if (!*file || again)
        return;
    snprintf(d->file, sizeof d->file, "%s", file);
    if (!d->job->quiet)
        cli_talk("from the queue: %s", file);
    d->held[0] = 0;
}

static void look(struct doing *d)
{
    const struct feed_run *run = d->number && !d->sweep ? feed_by_number(d->feed, d->number) : NULL;

    if (run && run->own && !d->refused) /* else its files tell of what it was before */
        run_lines_look(&d->run, run);
}

static void on_event(void *user, const struct wire_event *ev, const void *slot, size_t n)
{
    struct doing *d = user;
    struct text text = {0};

    if (slot && ev->kind != WIRE_STARTED && ev->kind != WIRE_FORECAST)
        text_add_n(&text, slot, strnlen(slot, n));
    if (ev->kind == WIRE_TAKEN) {
        on_taken(d, ev, text_str(&text));
    } else if (ev->kind == WIRE_REFUSED && ev->run == d->number && !d->refused) {
        d->refused = true; /* a stop of what was refused is refused too */
        err_set(&d->refusal, ev->u.refused.code, "%s", text_str(&text));
    } else if (d->cells && ev->run) {
        sweep_lines_event(d->cells, ev, text.n ? text_str(&text) : NULL);
    } else if (ev->kind == WIRE_LOG && ev->u.log.level >= (d->quiet ? LOG_WARN : LOG_INFO)) {
        cli_talk("%s", text_str(&text));
    } else if (ev->kind == WIRE_STARTED) {
        look(d);
    }
    text_free(&text);
}

/* ---- when it is over ---- */

static bool run_is_over(struct doing *d)
{
    struct wire_status status;

    if (!wire_status(d->wire, d->number, &status))
        return d->refused;
    return wire_state_ended(status.state) ||
           (d->asked && d->job->background && status.state == WIRE_WAITING && status.path[0]);
}

static bool sweep_is_over(struct doing *d)
{
    struct wire_sweep_status status;

    if (!wire_sweep_status(d->wire, d->number, &status))
        return false;
    return wire_state_ended(status.state) ||
           (d->asked && d->job->background && status.state == WIRE_WAITING && status.path[0]);
}

static bool is_over(struct doing *d)
{
    return d->number && (d->sweep ? sweep_is_over(d) : run_is_over(d));
}

/* Its last rows may still be in its files. */
static bool is_read(struct doing *d)
{
    const struct feed_run *run = d->sweep ? NULL : feed_by_number(d->feed, d->number);

    if (!d->ended_ns)
        d->ended_ns = clock_ns();
    return d->quiet || !run || !run->path[0] || !run->known || (!run->live && feed_is_read(run)) ||
           clock_ns() - d->ended_ns > READ_NS;
}

static void quit(struct doing *d, bool now)
{
    struct wire_command command = {.kind = WIRE_QUIT, .run = d->number, .now = now};

    /* A full row of commands means that the engine is stuck: giving up is all that is left. */
    if ((!wire_send(d->wire, &command) || now) && !d->give_up)
        d->give_up = clock_ns() + GRACE_NS;
    d->quitting = true;
}

static void obey_signals(struct doing *d)
{
    cli_wake_clear();
    if (cli_terminated > d->terminated) {
        d->terminated = cli_terminated;
        quit(d, d->terminated > 1);
    }
    if (cli_interrupts > d->interrupts) {
        d->interrupts = cli_interrupts;
        quit(d, d->interrupts > 1);
        if (d->interrupts > 2)
            d->give_up = 1;
        if (d->interrupts == 1 && !d->job->quiet)
            cli_talk("stopping %safter this step%s (Ctrl-C again: at once)",
                     d->job->sweep && !d->job->queue ? "all cells " : "",
                     d->job->queue ? "; what waits stays in the queue" : "");
    }
}

/* "process 4711 is at work on ...": the same one, though it may have come to another run. */
static bool same_holder(const char *a, const char *b)
{
    size_t n = strspn(a, "proces ") + strspn(a + strspn(a, "proces "), "0123456789");

    return !strcmp(a, b) || (n > 8 && !strncmp(a, "process ", 8) && !strncmp(a, b, n + 1));
}

static void hear_held(struct doing *d, const struct wire_queue *q)
{
    bool held = q->state == WIRE_QUEUE_HELD && !d->number;

    d->in_vain = held && q->lasts && !d->quitting;
    if (!held || same_holder(q->reason, d->held))
        return;
    snprintf(d->held, sizeof d->held, "%s", q->reason);
    if (!d->job->quiet && !d->in_vain)
        cli_talk("the queue waits: %s", q->reason);
}

/* Nothing is followed, and nothing more comes. */
static bool nothing_comes(const struct doing *d, const struct wire_queue *q)
{
    return d->job->queue && !d->number && !d->quitting &&
           (q->state == WIRE_QUEUE_EMPTY ||
            (engine_is_stuck(d->engine) && stuck_all_ended(d->wire)));
}

static int pause_ms(const struct doing *d, bool live)
{
    if (d->ended_ns || (d->cells && sweep_lines_wait(d->cells)))
        return LOOK_MS;
    return live && !cli_hung_up ? REDRAW_MS : d->number ? SLEEP_MS : 2 * REDRAW_MS;
}

/* False: given up. */
static bool loop(struct doing *d)
{
    struct pollfd fds[2] = {{.fd = wire_fd(d->wire), .events = POLLIN},
                            {.fd = cli_wake, .events = POLLIN}};
    bool live = !d->job->quiet && cli_terminal(STDERR_FILENO);
    struct wire_queue q;

    for (;;) {
        uint32_t was = d->number;
        bool over, ended;

        poll(fds, 2, pause_ms(d, live));
        obey_signals(d);
        /* The states are asked for first: what was posted before is taken below. */
        over = d->quitting && engine_is_over(d->engine);
        wire_queue(d->wire, &q);
        ended = is_over(d);
        feed_take(d->feed, on_event, d);
        if (feed_missed(d->feed)) {
            d->missed = true;
            if (q.run && q.run != d->number && (!d->number || is_over(d)))
                begin(d, q.run, q.sweep);
        }
        open_sweep(d);
        look(d);
        if (d->cells) {
            sweep_lines_look(d->cells, ended, d->missed);
            d->missed = false;
        }
        ended |= d->refused && is_over(d);
        over |= ended && !d->job->queue && is_read(d); /* its last words come behind on_end */
        if (ended && d->job->queue && d->number == was && is_read(d))
            end_current(d, false);
        hear_held(d, &q);
        if (over || d->in_vain || nothing_comes(d, &q))
            return true;
        if (d->give_up && clock_ns() > d->give_up)
            return false;
        if (d->cells)
            sweep_lines_draw(d->cells);
        else if (d->number && !d->sweep)
            run_lines_draw(&d->run);
    }
}

/* ---- all of it ---- */

/* The program anew with what was stopped first; whatever else there is gets a process of its own. */
static int restart(struct doing *d, bool failed)
{
    const struct job *job = d->job;
    struct stuck_known known = {0};
    struct handover r = {.queue = job->queue,
                         .bad_before = failed && job->queue,
                         .epochs = job->run && !job->queue ? job->run->epochs : 0,
                         .quiet = job->quiet,
                         .json = job->json};
    char *first = stuck_next(d->wire, &known), failed_before[32];

    memcpy(failed_before, known.failed_before, sizeof failed_before);
    stuck_leave(d->wire, &known, job->quiet);
    free(known.number);
    r.name = first;
    r.failed_before = failed_before;
    return first || job->queue ? handover_restart(&r) : d->code;
}

/* Whether what was asked for is to go on in another process: then this one becomes that. */
static bool must_restart(struct doing *d)
{
    struct wire_sweep_status sweep;
    struct wire_status run;

    if (d->job->queue)
        return !d->quitting && engine_is_stuck(d->engine);
    if (d->job->sweep)
        return wire_sweep_status(d->wire, DRIVE_RUN, &sweep) && sweep_is_stuck(&sweep);
    return wire_status(d->wire, DRIVE_RUN, &run) && run.state == WIRE_STOPPED &&
           run.code == ERR_STUCK;
}

static int queue_code(struct doing *d, const struct wire_queue *q)
{
    struct err e;

    if (d->quitting)
        return stopped_code();
    if (d->in_vain) {
        err_set(&e, ERR_IO, "nothing is taken from the queue: %s", d->held);
        return cli_fail(&e);
    }
    if (!q->taken && !q->rejected && !d->job->quiet)
        cli_talk("nothing waits in the queue; `chorus run --queue` adds to it");
    return d->failed || q->rejected ? err_exit_code(ERR_FAILED) : 0;
}

/* Whoever stopped a sweep after its cells was told that they run to their ends. */
static void leave_cells(struct doing *d)
{
    struct stuck_known known = {0};

    stuck_leave(d->wire, &known, d->job->quiet);
    free(known.number);
}

static int finish(struct doing *d, bool gave_up)
{
    struct wire_queue q;
    bool again = false;
    int code;

    if (!gave_up) {
        drive_quit(d->wire, d->engine, d->job->quiet);
        feed_take(d->feed, on_event, d);
        look(d);
        again = must_restart(d);
    }
    end_current(d, gave_up);
    wire_queue(d->wire, &q);
    if (again)
        return restart(d, d->failed || q.rejected);
    if (!gave_up && d->job->sweep)
        leave_cells(d);
    code = d->job->queue ? queue_code(d, &q) : d->code;
    if (!gave_up) { /* else they are in use until the process ends */
        feed_free(d->feed);
        wire_free(d->wire);
    }
    return code;
}

static void open_feed(struct doing *d)
{
    d->feed = feed_new(d->wire, cli_results());
    feed_read_little(d->feed);
}

/* Sent before there is an engine, it comes before anything that waits. */
static enum err_code ask(struct doing *d, struct err *e)
{
    const struct job *job = d->job;
    bool sent = true;

    d->number = job->run || job->sweep ? DRIVE_RUN : 0;
    d->sweep = job->sweep != NULL;
    d->asked = d->number != 0;
    if (job->sweep) {
        TRY(sweep_say_left_out(job->sweep, job->quiet, e));
        sent = sweep_send(d->wire, job->sweep, job->wish);
        d->cells = sweep_lines_own(d->feed, d->wire, d->number, job->sweep, job->wish);
    } else if (job->run) {
        struct wire_start *start = mem_new(1, sizeof *start);

        *start = *job->run;
        start->prepare_only = job->background;
        sent = wire_send_with(d->wire, (struct wire_command){.kind = WIRE_START, .run = DRIVE_RUN},
                              start, sizeof *start);
        feed_expect(d->feed, DRIVE_RUN, start);
        begin_run(d);
        free(start);
    }
    return sent ? ERR_OK : err_set(e, ERR_FAILED, "the engine takes no commands");
}

/* Nothing has begun. */
static int refuse(struct doing *d, const struct err *e)
{
    if (d->cells)
        sweep_lines_free(d->cells);
    feed_free(d->feed);
    wire_free(d->wire);
    return cli_fail(e);
}

int job_run(const struct job *job)
{
    struct doing d = {.job = job,
                      .quiet = job->quiet || (job->run && job->background),
                      .failed = job->bad_before,
                      .wire = wire_new(EVENTS)};
    struct err e;

    open_feed(&d);
    if (ask(&d, &e) != ERR_OK || drive_open_on(d.wire, job->queue, &d.engine, &e) != ERR_OK)
        return refuse(&d, &e);
    return finish(&d, !loop(&d));
}

int job_rest(struct wire *wire, struct engine *engine)
{
    /* Signals that came since the screens ended count: one before would have ended all. */
    const struct job rest = {.queue = true, .quiet = true};
    struct doing d = {.job = &rest, .quiet = true, .wire = wire, .engine = engine};

    open_feed(&d);
    return finish(&d, !loop(&d));
}
