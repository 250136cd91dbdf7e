/* ui/feed.c: which runs are watched, and what the wire says of those of this process. */
#include "ui/feed_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS      250000000ull  /* at the files of a run that is at work */
#define ASK_NS       1000000000ull /* for its state */
#define SLICE        (1 << 18)     /* bytes of a file a turn */
#define EVENTS       4096          /* a turn */
#define FIRST_NUMBER 1000          /* of what screens start: below are those that others began */
#define STATUSES     256

struct feed {
    struct wire *wire;
    char *results;
    struct feed_watch **watch;
    size_t count, room;
    uint32_t next;
    size_t sweeps_room;
};

struct feed *feed_new(struct wire *wire, const char *results)
{
    struct feed *f = mem_new(1, sizeof *f);

    f->wire = wire;
    f->results = mem_text(results);
    f->next = FIRST_NUMBER;
    return f;
}

void feed_free(struct feed *f)
{
    for (size_t i = 0; i < f->count; i++)
        feed_watch_free(f->watch[i]);
    free(f->watch);
    free(f->results);
    free(f);
}

size_t feed_count(const struct feed *f)
{
    return f->count;
}

struct feed_run *feed_at(struct feed *f, size_t i)
{
    return i < f->count ? &f->watch[i]->run : NULL;
}

static struct feed_watch *watch_of_number(struct feed *f, uint32_t number)
{
    for (size_t i = 0; number && i < f->count; i++)
        if (f->watch[i]->run.number == number)
            return f->watch[i];
    return NULL;
}

struct feed_run *feed_find(struct feed *f, const char *path)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->watch[i]->run.path[0] && !strcmp(f->watch[i]->run.path, path))
            return &f->watch[i]->run;
    return NULL;
}

static struct feed_watch *add(struct feed *f, const char *folder)
{
    struct feed_watch *w = mem_new(1, sizeof *w);

    feed_watch_begin(w, folder);
    f->watch = mem_grow(f->watch, &f->room, f->count + 1, sizeof *f->watch);
    f->watch[f->count++] = w;
    return w;
}

/* What run.csv says: the experiment, and of another process's run its state. */
static void ask_state(struct feed_watch *w)
{
    struct feed_run *run = &w->run;
    struct record_entry entry;
    struct err e;

    w->asked = clock_ns();
    if (!run->path[0] || record_read_entry(run->path, &entry, &e) != ERR_OK)
        return;
    if (!entry.broken) {
        const struct record_run *r = &entry.run;

        if (!run->known || !run->facts.path[0]) {
            snprintf(run->facts.backend, sizeof run->facts.backend, "%s", r->backend_used);
            snprintf(run->facts.isa, sizeof run->facts.isa, "%s", r->isa);
            snprintf(run->facts.precision, sizeof run->facts.precision, "%s", r->precision_used);
            run->facts.mode = r->spec.mode;
            run->facts.devices = r->spec.devices;
            run->facts.real_devices = (int32_t)r->real_devices;
            run->facts.threads = (int32_t)r->threads_used;
            run->facts.parameters = (uint64_t)r->parameters;
            run->facts.flops_per_image = r->flops_per_image;
            run->facts.lr = r->lr_used;
            run->facts.batch = spec_batch(&r->spec);
            run->facts.epochs = r->spec.epochs;
            run->known = true;
        }
        run->spec = r->spec;
        if (!run->own) {
            run->live = entry.live;
            run->dead = entry.dead;
            if (run->state != r->state || strcmp(run->reason, r->reason) != 0)
                run->changed++;
            run->state = r->state;
            snprintf(run->reason, sizeof run->reason, "%s", r->reason);
        }
        run->by_valid = !strcmp(r->best_by, "valid");
    }
    record_free_entry(&entry);
}

struct feed_run *feed_follow(struct feed *f, const char *folder)
{
    struct feed_run *run = feed_find(f, folder);
    struct feed_watch *w;

    if (run)
        return run;
    w = add(f, folder);
    ask_state(w);
    feed_watch_read(w, SLICE);
    feed_watch_count(w);
    return &w->run;
}

void feed_forget(struct feed *f, struct feed_run *run)
{
    for (size_t i = 0; i < f->count; i++) {
        if (&f->watch[i]->run != run || run->own)
            continue;
        feed_watch_free(f->watch[i]);
        memmove(&f->watch[i], &f->watch[i + 1], (f->count - i - 1) * sizeof *f->watch);
        f->count--;
        return;
    }
}

struct feed_run *feed_current(struct feed *f)
{
    struct feed_run *newest = NULL;

    for (size_t i = 0; i < f->count; i++) {
        struct feed_run *run = &f->watch[i]->run;

        if (run->own && (run->state == WIRE_RUNNING || run->state == WIRE_PAUSED))
            return run;
        newest = run->own || !newest || !newest->own ? run : newest;
    }
    return newest;
}

/* The run of a number; where it is new, from the time when its folder is known. */
static struct feed_watch *own_run(struct feed *f, uint32_t number, const char *path)
{
    struct feed_watch *w = watch_of_number(f, number);

    if (w && path && path[0] && strcmp(w->run.path, path) != 0) {
        if (w->run.path[0])
            w = NULL; /* the number was another run's */
        else {
            uint32_t own = w->run.number;

            feed_watch_begin(w, path);
            w->run.number = own;
        }
    }
    if (!w && path && path[0]) {
        struct feed_run *known = feed_find(f, path);

        for (size_t i = 0; known && i < f->count; i++)
            if (&f->watch[i]->run == known)
                w = f->watch[i];
        if (!w)
            w = add(f, path);
        w->run.number = number;
    }
    if (w)
        w->run.own = true;
    return w;
}

static void on_started(struct feed *f, const struct wire_event *ev, const void *slot, size_t n)
{
    struct wire_facts facts;
    struct feed_watch *w;

    if (n != sizeof facts)
        return;
    memcpy(&facts, slot, n);
    w = own_run(f, ev->run, facts.path);
    if (!w)
        return;
    w->run.facts = facts;
    w->run.known = true;
    w->run.state = WIRE_RUNNING;
    w->run.step = facts.steps_done;
    w->first_step = w->first_seconds = NAN;
    w->finished = false;
    ask_state(w);
    w->looked = 0;
    w->run.changed++;
}

static void on_step(struct feed *f, const struct wire_event *ev)
{
    struct feed_watch *w = watch_of_number(f, ev->run);

    if (!w)
        return;
    w->run.step = ev->u.step.step;
    w->run.epoch = ev->u.step.epoch;
    w->run.facts.steps_per_epoch = ev->u.step.steps_per_epoch;
    w->run.loss = ev->u.step.loss;
    w->run.acc = ev->u.step.acc;
    w->run.lr = ev->u.step.lr;
    w->run.images_per_second = ev->u.step.images_per_second;
    if (!isfinite(w->first_step)) {
        w->first_step = (double)ev->u.step.step;
        w->first_seconds = ev->u.step.train_seconds;
    } else if ((double)ev->u.step.step > w->first_step) {
        w->step_seconds = (ev->u.step.train_seconds - w->first_seconds) /
                          ((double)ev->u.step.step - w->first_step);
    }
    w->run.changed++;
}

static void on_unit(struct feed *f, const struct wire_event *ev)
{
    struct feed_watch *w = watch_of_number(f, ev->run);

    if (!w || ev->u.unit.unit < 0 || (size_t)ev->u.unit.unit >= w->run.units)
        return;
    struct feed_unit *unit = &w->run.unit[ev->u.unit.unit];
    unit->loss = ev->u.unit.loss;
    unit->input = ev->u.unit.input_share;
    unit->compute = ev->u.unit.compute_share;
    unit->reduce = ev->u.unit.reduce_share;
    unit->wait = ev->u.unit.wait_share;
    if (w->run.spec.mode != SPEC_ENSEMBLE)
        unit->acc = ev->u.unit.acc;
    w->run.changed++;
}

static void on_event(struct feed *f, const struct wire_event *ev, const void *slot, size_t n)
{
    struct feed_watch *w;

    switch (ev->kind) {
    case WIRE_STARTED:
        on_started(f, ev, slot, n);
        break;
    case WIRE_STEP:
        on_step(f, ev);
        break;
    case WIRE_UNIT:
        on_unit(f, ev);
        break;
    case WIRE_EPOCH:
        if ((w = watch_of_number(f, ev->run)))
            w->looked = 0; /* its rows are in the files */
        break;
    case WIRE_STATE:
        if ((w = watch_of_number(f, ev->run))) {
            w->run.state = ev->u.state.state;
            w->looked = 0;
            w->run.changed++;
        }
        break;
    case WIRE_CELL:
        if (ev->u.cell.run && (w = watch_of_number(f, ev->u.cell.run))) {
            w->run.sweep = ev->run;
            w->run.state = ev->u.cell.state;
            w->looked = 0;
            w->run.changed++;
        }
        break;
    default:
        break;
    }
}

/* What events may have missed. */
static bool read_statuses(struct feed *f)
{
    struct wire_status *all = mem_new(STATUSES, sizeof *all);
    size_t n = wire_statuses(f->wire, all, STATUSES);
    bool changed = false;

    for (size_t i = 0; i < n && i < STATUSES; i++) {
        struct feed_watch *w = own_run(f, all[i].run, all[i].path);

        if (!w)
            continue;
        if (!w->run.known)
            ask_state(w);
        if (w->run.state != all[i].state || strcmp(w->run.reason, all[i].reason) != 0) {
            w->run.state = all[i].state;
            snprintf(w->run.reason, sizeof w->run.reason, "%s", all[i].reason);
            w->looked = 0;
            w->run.changed++;
            changed = true;
        }
        w->run.live = !wire_state_ended(all[i].state);
    }
    free(all);
    return changed;
}

static bool look(struct feed_watch *w, uint64_t now)
{
    bool changed = false, at_work = !wire_state_ended(w->run.state);

    if (!w->run.path[0] || now - w->looked < LOOK_NS)
        return false;
    if (!w->run.own && now - w->asked > (w->finished ? 4 * ASK_NS : ASK_NS)) {
        uint64_t before = w->run.changed;

        ask_state(w);
        changed = w->run.changed != before;
    }
    if (!w->finished || at_work || changed) {
        bool read = feed_watch_read(w, SLICE);

        changed |= read;
        w->looked = read ? 0 : now; /* until all of a long file is read */
        w->finished = !at_work && !read;
    } else {
        w->looked = now;
    }
    return changed;
}

bool feed_take(struct feed *f, feed_other *other, void *user)
{
    struct wire_event event;
    bool changed = false;
    uint64_t now = clock_ns();

    for (int i = 0; f->wire && i < EVENTS && wire_take(f->wire, &event); i++) {
        size_t n = 0;
        void *slot = event.slot ? wire_slot_take(f->wire, event.slot, &n) : NULL;

        on_event(f, &event, slot, n);
        if (other)
            other(user, &event, slot, n);
        free(slot);
        changed = true;
    }
    if (f->wire && (changed || wire_missed(f->wire)))
        changed |= read_statuses(f);
    for (size_t i = 0; i < f->count; i++) {
        if (look(f->watch[i], now))
            changed = true;
        if (changed)
            feed_watch_count(f->watch[i]);
    }
    return changed;
}

static enum err_code send(struct feed *f, const struct wire_command *command, struct err *e)
{
    return f->wire && wire_send(f->wire, command)
               ? ERR_OK
               : err_set(e, ERR_FAILED, "the engine takes no commands now; try again");
}

enum err_code feed_pause(struct feed *f, struct feed_run *run, bool go, struct err *e)
{
    struct wire_command command = {.kind = go ? WIRE_GO : WIRE_PAUSE, .run = run->number};

    return run->own ? send(f, &command, e) : record_control(run->path, go ? "go" : "pause", e);
}

enum err_code feed_stop(struct feed *f, struct feed_run *run, enum wire_how how, struct err *e)
{
    struct wire_command command = {.kind = WIRE_STOP, .run = run->number, .how = how};

    if (run->own)
        return send(f, &command, e);
    return record_control(run->path,
                          how == WIRE_AFTER_EPOCH ? "stop epoch"
                          : how == WIRE_NOW       ? "stop now"
                                                  : "stop step",
                          e);
}

static uint32_t begin(struct feed *f, enum wire_command_kind kind, const void *slot, size_t bytes,
                      struct err *e)
{
    struct wire_command command = {.kind = kind, .run = f->next};

    command.slot = f->wire ? wire_slot_put(f->wire, slot, bytes) : 0;
    if (!command.slot) {
        err_set(e, ERR_FAILED, "the engine takes no commands now; try again");
        return 0;
    }
    if (send(f, &command, e) != ERR_OK) {
        free(wire_slot_take(f->wire, command.slot, &bytes));
        return 0;
    }
    return f->next++;
}

uint32_t feed_start_run(struct feed *f, const struct wire_start *start, struct err *e)
{
    return begin(f, WIRE_START, start, sizeof *start, e);
}

uint32_t feed_start_sweep(struct feed *f, const struct wire_sweep *sweep, size_t bytes,
                          struct err *e)
{
    return begin(f, WIRE_SWEEP, sweep, bytes, e);
}

/* The sweep that is at work here; false: none. */
static bool busy_sweep(struct feed *f, struct wire_sweep_status *out)
{
    struct wire_sweep_status *all;
    size_t n = f->wire ? wire_sweeps(f->wire, NULL, 0) : 0;
    bool found = false;

    if (!n)
        return false;
    all = mem_new(n, sizeof *all);
    if (wire_sweeps(f->wire, all, n) < n)
        n = 0;
    for (size_t i = 0; i < n && !found; i++) {
        found = !wire_state_ended(all[i].state);
        if (found && out)
            *out = all[i];
    }
    free(all);
    return found;
}

bool feed_busy(struct feed *f)
{
    struct wire_status *all;
    bool busy = busy_sweep(f, NULL);
    size_t n;

    if (busy || !f->wire)
        return busy;
    all = mem_new(STATUSES, sizeof *all);
    n = wire_statuses(f->wire, all, STATUSES);
    for (size_t i = 0; i < n && i < STATUSES; i++)
        busy |= !wire_state_ended(all[i].state);
    free(all);
    return busy;
}

static void add_run(struct text *out, const struct feed_run *run, int columns)
{
    char span[CLOCK_UTC_ROOM];
    const char *state = run->dead ? "dead" : wire_state_name(run->state);

    text_addf(out, "%s %s  ",
              run->state == WIRE_RUNNING && !run->dead ? "●"
              : run->state == WIRE_DONE                ? "✓"
                                                       : "○",
              state);
    if (columns >= 100)
        text_addf(out, "%s  ", run->name);
    else
        text_addf(out, "%s  ", strlen(run->name) > 24 ? run->name + 24 : run->name);
    if (run->spec.epochs)
        text_addf(out, "epoch %lld of %lld  ",
                  (long long)(run->step && run->facts.steps_per_epoch
                                  ? (run->step - 1) / run->facts.steps_per_epoch + 1
                                  : run->epoch),
                  (long long)run->spec.epochs);
    if (isfinite(run->run_share) && !wire_state_ended(run->state))
        text_addf(out, "%.0f %%  ", 100 * run->run_share);
    if (isfinite(run->best_acc))
        text_addf(out, "best %.4f%s  ", run->best_acc, run->by_valid ? "" : " on test");
    if (isfinite(run->left_seconds) && !wire_state_ended(run->state) && !run->dead) {
        clock_span(span, run->left_seconds);
        text_addf(out, "%s left", span);
    }
}

void feed_add_status(struct feed *f, struct text *out, int columns)
{
    struct wire_sweep_status sweep;
    struct feed_run *run = feed_current(f);
    char span[CLOCK_UTC_ROOM];

    if (busy_sweep(f, &sweep)) {
        text_addf(
            out, "● sweep %s  %lld of %lld cells  ", sweep.name,
            (long long)(sweep.done + sweep.diverged + sweep.oom + sweep.failed + sweep.skipped),
            (long long)sweep.cells);
        if (sweep.diverged + sweep.oom + sweep.failed)
            text_addf(out, "%lld without an end  ",
                      (long long)(sweep.diverged + sweep.oom + sweep.failed));
        if (isfinite(sweep.left_seconds)) {
            clock_span(span, sweep.left_seconds);
            text_addf(out, "%s left", span);
        }
    } else if (run) {
        add_run(out, run, columns);
    } else {
        text_add(out, "○ nothing runs");
    }
}
