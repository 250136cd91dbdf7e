/* cli/jobs/drive.c: events come from the engine, signals from the user; the snapshot of states decides
 * when it is over, since events may be dropped and it cannot. */
#include "cli/jobs/drive.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/backends.h"
#include "cli/args/options.h"
#include "cli/out/json.h"
#include "cli/out/print.h"
#include "cli/out/progress.h"
#include "cli/version.h"
#include "cli/args/signals.h"
#include "engine/engine.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "record/sweep/sweeps.h"
#include "record/working.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS    1024 /* the ring */
#define GRACE_NS  4000000000ull
#define SLEEP_MS  500 /* between two looks at the snapshot where nothing is heard */
#define REDRAW_MS 100

struct drive {
    struct wire *wire;
    uint32_t number; /* of the run */
    struct progress progress;
    int64_t max_steps;
    int64_t shown; /* the last epoch that has its line */
    bool prepare_only, quiet;
    struct drive_signals signals;
    bool gave_up;
    bool over;
    bool started;
    bool refused;
    struct err refusal;
};

static void say_clean(const char *before, const char *text)
{
    struct text t = {0};

    text_add_clean(&t, text);
    cli_talk("%s%s", before, text_str(&t));
    text_free(&t);
}

static void say_facts(const struct drive *d, const struct wire_facts *f)
{
    char parameters[TEXT_NUMBER_ROOM], train[TEXT_NUMBER_ROOM], test[TEXT_NUMBER_ROOM];
    char steps[TEXT_NUMBER_ROOM], batch[TEXT_NUMBER_ROOM];
    struct text line = {0}, behind = {0};

    if (d->quiet)
        return;
    say_clean("", f->name);
    if (f->mode == SPEC_ENSEMBLE)
        text_addf(&line, "%d member%s of ", f->members, text_s(f->members));
    text_addf(&line, "%s parameters, %s training and %s test images",
              text_count(parameters, f->parameters), text_count(train, (uint64_t)f->train_images),
              text_count(test, (uint64_t)f->test_images));
    text_addf(&behind, "%s step%s of %s an epoch", text_count(steps, (uint64_t)f->steps_per_epoch),
              text_s(f->steps_per_epoch), text_count(batch, (uint64_t)f->batch));
    if (f->dropped)
        text_addf(&behind, " (%lld image%s dropped)", (long long)f->dropped, text_s(f->dropped));
    if (text_width(text_str(&line)) + 2 + text_width(text_str(&behind)) <= cli_limit(STDERR_FILENO))
        cli_talk("%s, %s", text_str(&line), text_str(&behind));
    else
        cli_talk("%s\n%s", text_str(&line), text_str(&behind));
    text_clear(&line);
    text_addf(&line, "%s (%s), %d thread%s", f->backend, f->isa, f->threads, text_s(f->threads));
    /* of virtual ones the engine tells */
    if (f->devices > 1 && f->devices <= f->real_devices)
        text_addf(&line, ", %d devices", f->devices);
    text_addf(&line, ", %s", f->precision);
    cli_talk("%s", text_str(&line));
    text_free(&line);
    text_free(&behind);
}

/* Where a run goes on, the first epoch's own seconds are what it adds to those on disk. */
static void read_seconds_before(struct progress *p, const struct wire_facts *f)
{
    struct sheet s;
    struct err e;

    if (!f->epochs_done || record_read_sheet(f->path, "epochs", &s, &e) != ERR_OK)
        return;
    for (size_t row = 0; row < s.rows; row++) {
        if (sheet_number(&s, row, sheet_column(&s, "epoch")) > (double)f->epochs_done)
            break;
        p->last_train_seconds = sheet_number(&s, row, sheet_column(&s, "train_seconds"));
        p->last_eval_seconds = sheet_number(&s, row, sheet_column(&s, "eval_seconds"));
    }
    sheet_free(&s);
}

static void read_max_steps(struct drive *d, const char *folder)
{
    struct record_entry entry;

    if (record_read_entry(folder, &entry, NULL) != ERR_OK)
        return;
    if (!entry.broken)
        d->max_steps = entry.run.spec.max_steps;
    record_free_entry(&entry);
}

static void on_started(struct drive *d, uint32_t slot)
{
    size_t n;
    struct wire_facts *f = wire_slot_take(d->wire, slot, &n);

    d->started = true;
    if (f && n == sizeof *f) {
        if (f->queued)
            read_max_steps(d, f->path);
        say_facts(d, f);
        d->shown = f->epochs_done;
        progress_set(&d->progress, f->epochs, f->steps_per_epoch, f->steps_done,
                     f->mode == SPEC_ENSEMBLE ? f->members : 1, d->max_steps);
        read_seconds_before(&d->progress, f);
    }
    free(f);
}

static void on_epoch(struct drive *d, const struct wire_event *ev)
{
    struct progress_row row = {
        .epoch = ev->u.epoch.epoch,
        .train_loss = ev->u.epoch.train_loss,
        .train_acc = ev->u.epoch.train_acc,
        .val_loss = ev->u.epoch.val_loss,
        .val_acc = ev->u.epoch.val_acc,
        .test_loss = ev->u.epoch.test_loss,
        .test_acc = ev->u.epoch.test_acc,
        .member_acc_min = ev->u.epoch.member_acc_min,
        .member_acc_mean = ev->u.epoch.member_acc_mean,
        .member_acc_max = ev->u.epoch.member_acc_max,
        .images_per_second = ev->u.epoch.images_per_second,
        .train_seconds = ev->u.epoch.train_seconds,
        .eval_seconds = ev->u.epoch.eval_seconds,
    };

    if (row.epoch <= d->shown) /* read from its file already */
        return;
    d->shown = row.epoch;
    progress_epoch(&d->progress, &row, ev->u.epoch.step);
}

static void on_log(struct drive *d, const struct wire_event *ev)
{
    size_t n;
    char *line = wire_slot_take(d->wire, ev->slot, &n);
    struct text t = {0};

    if (line && ev->u.log.level >= (d->quiet ? LOG_WARN : LOG_INFO)) {
        text_add_n(&t, line, n);
        say_clean("", text_str(&t));
    }
    text_free(&t);
    free(line);
}

static void on_refused(struct drive *d, const struct wire_event *ev)
{
    size_t n;
    char *line = wire_slot_take(d->wire, ev->slot, &n);
    struct text t = {0};

    text_add_n(&t, line ? line : "", line ? n : 0);
    d->refused = true;
    err_set(&d->refusal, ev->u.refused.code, "%s", text_str(&t));
    text_free(&t);
    free(line);
}

static void on_state(struct drive *d, const struct wire_event *ev)
{
    size_t n;

    if (ev->slot)
        free(wire_slot_take(d->wire, ev->slot, &n));
    if (ev->u.state.state == WIRE_PAUSED)
        progress_doing(&d->progress, "paused");
    else if (ev->u.state.state == WIRE_RUNNING)
        progress_doing(&d->progress, NULL);
}

static void on_event(struct drive *d, const struct wire_event *ev)
{
    size_t n;

    switch (ev->kind) {
    case WIRE_STARTED:
        on_started(d, ev->slot);
        break;
    case WIRE_STEP:
        progress_step(&d->progress, ev->u.step.step, ev->u.step.loss, ev->u.step.acc,
                      ev->u.step.images_per_second, ev->u.step.train_seconds);
        break;
    case WIRE_EPOCH:
        on_epoch(d, ev);
        break;
    case WIRE_STATE:
        on_state(d, ev);
        break;
    case WIRE_LOG:
        on_log(d, ev);
        break;
    case WIRE_REFUSED:
        on_refused(d, ev);
        break;
    case WIRE_UNIT:
    case WIRE_FORECAST:
    case WIRE_TAKEN:
    case WIRE_CELL:
        if (ev->slot)
            free(wire_slot_take(d->wire, ev->slot, &n));
        break;
    }
}

/* Events were dropped: the files know what they said. */
static void read_missed(struct drive *d)
{
    struct wire_status status;

    if (wire_status(d->wire, d->number, &status) && status.path[0])
        d->shown = progress_epochs(&d->progress, status.path, d->shown);
}

static void stop(struct drive_signals *s, struct wire *wire, uint32_t number, enum wire_how how)
{
    struct wire_command command = {.kind = WIRE_STOP, .run = number, .how = how};

    /* A full queue means that the engine is stuck: then giving up is all that is left. */
    if (!wire_send(wire, &command) && !s->give_up)
        s->give_up = clock_ns() + GRACE_NS;
}

void drive_obey_signals(struct drive_signals *s, struct wire *wire, uint32_t number,
                        const char *words)
{
    cli_wake_clear();
    s->hung_up = cli_hung_up;
    if (cli_terminated > s->terminated) {
        s->terminated = cli_terminated;
        stop(s, wire, number, s->terminated > 1 ? WIRE_NOW : WIRE_AFTER_STEP);
        if (s->terminated > 1)
            s->give_up = clock_ns() + GRACE_NS;
    }
    if (cli_interrupts > s->interrupts) {
        s->interrupts = cli_interrupts;
        stop(s, wire, number, s->interrupts > 1 ? WIRE_NOW : WIRE_AFTER_STEP);
        if (s->interrupts > 1)
            s->give_up = clock_ns() + (s->interrupts > 2 ? 1 : GRACE_NS);
        else if (words)
            cli_talk("%s (Ctrl-C again: at once)", words);
    }
}

static bool is_over(struct drive *d)
{
    struct wire_status status;

    if (d->refused && !wire_status(d->wire, d->number, &status))
        return true;
    if (!wire_status(d->wire, d->number, &status))
        return false;
    return wire_state_ended(status.state) ||
           (d->prepare_only && status.state == WIRE_WAITING && status.path[0]);
}

static void loop(struct drive *d)
{
    struct pollfd fds[2] = {{.fd = wire_fd(d->wire), .events = POLLIN},
                            {.fd = cli_wake, .events = POLLIN}};
    struct wire_event event;

    while (!d->over) {
        bool ended;

        poll(fds, 2, d->progress.live ? REDRAW_MS : SLEEP_MS);
        drive_obey_signals(&d->signals, d->wire, d->number,
                           d->quiet ? NULL : "stopping after this step");
        if (d->signals.hung_up) /* the terminal is gone; the run goes on to its end */
            d->progress.live = false;
        /* The state is asked for first: what was posted before it ended is taken below. */
        ended = is_over(d);
        while (wire_take(d->wire, &event))
            on_event(d, &event);
        if (wire_missed(d->wire))
            read_missed(d);
        ended |= d->refused && is_over(d);
        d->gave_up = !ended && d->signals.give_up && clock_ns() > d->signals.give_up;
        d->over = ended || d->gave_up;
        if (!d->over)
            progress_draw(&d->progress);
    }
    progress_end(&d->progress);
}

enum err_code drive_send(struct wire *wire, const struct wire_start *start, struct err *e)
{
    struct wire_command command = {.kind = WIRE_START, .run = DRIVE_RUN};

    if (!wire_send_with(wire, command, start, sizeof *start))
        return err_set(e, ERR_FAILED, "the engine takes no commands");
    return ERR_OK;
}

static enum err_code take_end(struct drive *d, const char *resumed, struct drive_end *end,
                              struct err *e)
{
    struct wire_status status = {0};
    bool known = wire_status(d->wire, d->number, &status);

    if (d->refused && !d->started) {
        if (d->refusal.code != ERR_OK)
            return err_set(e, d->refusal.code, "%s", d->refusal.text);
        /* It was finished by another process after we had looked. */
        say_clean("", d->refusal.text);
        end->state = WIRE_DONE;
        snprintf(end->path, sizeof end->path, "%s", resumed);
        return ERR_OK;
    }
    end->abandoned = d->gave_up;
    end->state = status.state;
    end->code = status.code;
    snprintf(end->path, sizeof end->path, "%s", status.path);
    snprintf(end->reason, sizeof end->reason, "%s", status.reason);
    if (d->gave_up)
        return ERR_OK;
    if (!known)
        return err_set(e, ERR_STOPPED, "stopped before the run began");
    if (!status.path[0])
        return err_set(e, status.code ? status.code : ERR_FAILED, "%s",
                       status.reason[0] ? status.reason : "the run could not begin");
    return ERR_OK;
}

enum err_code drive_open_on(struct wire *wire, bool queue, struct engine **engine, struct err *e)
{
    struct engine_config config = {.results = cli_results(),
                                   .places = *cli_places(),
                                   .backends = cli_backends(),
                                   .version = chorus_version,
                                   .queue = queue};
    enum err_code code;

    *engine = NULL;
    if (io_exists(cli_results()) && !io_is_folder(cli_results()))
        return err_set(e, ERR_INPUT, "results cannot lie in %s: it is no folder", cli_results());
    cli_signals_start();
    cli_signals_block();
    code = engine_start(engine, &config, wire, e);
    cli_signals_unblock();
    return code;
}

enum err_code drive_open(struct wire **wire, struct engine **engine, struct err *e)
{
    enum err_code code;

    *wire = wire_new(EVENTS);
    code = drive_open_on(*wire, false, engine, e);
    if (code != ERR_OK)
        wire_free(*wire);
    return code;
}

void drive_tell_others(const char *sweep, const char *behind)
{
    bool helps = sweep && record_sweep_live(cli_results(), sweep);
    struct record_working *others = NULL;
    size_t n = helps ? 0 : record_computing_list(&others);
    const char *slash = n ? strrchr(others[0].run, '/') : NULL;
    struct text run = {0};

    if (n) {
        text_add_clean(&run, slash && slash[1] ? slash + 1 : "a run");
        cli_talk("another chorus (process %lld) computes %s on this machine: beside each other "
                 "both are slower%s",
                 (long long)others[0].pid, text_str(&run), behind);
    }
    text_free(&run);
    free(others);
}

void drive_late(bool is)
{
    struct text results = {0};

    cli_signals_at_once(is);
    text_add_clean(&results, cli_results());
    if (is)
        cli_talk("process %ld does not come to its end: a disk may not answer, that of %s or "
                 "another one (Ctrl-C ends it at once)",
                 (long)getpid(), text_str(&results));
    text_free(&results);
}

void drive_quit(struct wire *wire, struct engine *engine, bool quiet)
{
    struct wire_command quit = {.kind = WIRE_QUIT};
    int heard = cli_interrupts + cli_terminated, nap = 1, waited = 0, urged = 0;

    while (!wire_send(wire, &quit))
        clock_sleep_ms(10);
    for (; !engine_is_over(engine); waited += nap, nap = nap < 32 ? 2 * nap : 50) {
        if (cli_interrupts + cli_terminated > heard) {
            heard = cli_interrupts + cli_terminated;
            quit.how = WIRE_NOW;
            (void)wire_send(wire, &quit);
            urged = waited;
        }
        clock_sleep_ms(nap);
        if (quit.how == WIRE_NOW && waited - urged < 2000 && waited + nap - urged >= 2000)
            drive_late(true);
        else if (!quiet && waited < 2000 && waited + nap >= 2000)
            cli_talk("still ending: what was begun, or on_end, is at work (Ctrl-C ends it)");
    }
    drive_late(false);
    engine_join(engine);
}

enum err_code drive_run(const struct wire_start *start, int64_t max_steps, bool quiet,
                        struct drive_end *end, struct err *e)
{
    struct drive d = {.number = DRIVE_RUN,
                      .max_steps = max_steps,
                      .prepare_only = start->prepare_only,
                      .quiet = quiet};
    struct wire_event event;
    struct engine *engine;
    enum err_code code;

    memset(end, 0, sizeof *end);
    TRY(drive_open(&d.wire, &engine, e));
    progress_start(&d.progress, quiet);
    code = drive_send(d.wire, start, e);
    if (code == ERR_OK) {
        loop(&d);
        code = take_end(&d, start->resume, end, e);
        if (code == ERR_STOPPED && cli_terminated)
            code = e->code = ERR_TERMINATED;
    }
    if (d.gave_up)
        return code; /* wire and engine are in use until the process ends */
    drive_quit(d.wire, engine, quiet);
    while (wire_take(d.wire, &event))
        on_event(&d, &event);
    wire_free(d.wire);
    return code;
}

struct drive *drive_follow(struct wire *wire, uint32_t number, int64_t max_steps, bool quiet)
{
    struct drive *d = mem_new(1, sizeof *d);

    *d = (struct drive){.wire = wire, .number = number, .max_steps = max_steps, .quiet = quiet};
    progress_start(&d->progress, quiet);
    return d;
}

void drive_hear(struct drive *d, const struct wire_event *event)
{
    on_event(d, event);
}

void drive_draw(struct drive *d, bool missed)
{
    if (missed)
        read_missed(d);
    if (cli_hung_up)
        d->progress.live = false;
    progress_draw(&d->progress);
}

enum err_code drive_end(struct drive *d, const char *resumed, bool gave_up, struct drive_end *end,
                        struct err *e)
{
    enum err_code code;

    memset(end, 0, sizeof *end);
    d->gave_up = gave_up;
    progress_end(&d->progress);
    code = take_end(d, resumed, end, e);
    free(d);
    return code;
}

bool drive_is_stuck(const struct drive_end *end)
{
    return end->state == WIRE_STOPPED && end->code == ERR_STUCK && !end->abandoned;
}

int drive_exit_code(enum wire_state state, enum err_code code)
{
    switch (state) {
    case WIRE_DONE:
        return err_exit_code(ERR_OK);
    case WIRE_DIVERGED:
        return err_exit_code(ERR_DIVERGED);
    case WIRE_STOPPED:
        return err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
    default:
        return err_exit_code(code != ERR_OK ? code : ERR_FAILED);
    }
}

static int print_result(const struct record_entry *entry, bool json)
{
    struct text out = {0};
    int code;

    if (json) {
        cli_json_run(&out, &entry->run);
        text_add(&out, "\n");
    } else {
        text_addf(&out, "%s\n", entry->folder);
    }
    code = cli_print(&out);
    text_free(&out);
    return code;
}

int drive_finish(const struct drive_end *end, bool quiet, bool json)
{
    struct record_entry entry;
    struct err e;
    int code = drive_exit_code(end->state, end->code);

    if (end->abandoned) {
        code = err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
        say_clean(
            !end->path[0] ? "stopped at once, while the run was being prepared"
            : record_has_checkpoint(end->path)
                ? "stopped at once; to go on from the last checkpoint: chorus resume "
                : "stopped at once, before its first checkpoint; to begin it again: chorus resume ",
            end->path);
        if (!end->path[0])
            return code;
    }
    if (!io_exists(end->path)) { /* its end is known, whatever became of its folder */
        if (!code)
            say_clean("it succeeded, and was removed or renamed since: ", end->path);
        return code;
    }
    if (record_find(cli_results(), end->path, &entry, &e) != ERR_OK) {
        cli_fail(&e);
        return code ? code : err_exit_code(e.code);
    }
    if (!end->abandoned) {
        if (!quiet)
            progress_summary(&entry, cli_terminal(STDERR_FILENO) && !cli_hung_up);
        else if (code && end->state != WIRE_STOPPED)
            say_clean("chorus: ", end->reason);
    }
    /* The run is kept, but who asked for its folder did not get it. A reader that went away, or a
     * terminal, did not ask any more. */
    if (print_result(&entry, json) && cli_print_failed() && !code)
        code = err_exit_code(ERR_FAILED);
    record_free_entry(&entry);
    return code;
}
