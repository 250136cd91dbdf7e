/* live/feed_event.c: what the wire's events say of runs. */
#include "live/feed_int.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLD_NS 90000000u /* steps change a picture so often at most */

static void on_started(struct feed *f, const struct wire_event *ev, const void *slot, size_t n)
{
    const struct wire_facts *facts = slot;
    struct feed_run *run = feed_have_number(f, ev->run);

    if (!run || !facts || n != sizeof *facts)
        return;
    feed_take_folder(f, run, facts->path);
    run->facts = *facts;
    run->own = run->live = run->known = true;
    run->dead = run->broken = false;
    run->state = WIRE_RUNNING;
    run->step = facts->steps_done;
    run->train_seconds = 0;
    run->files->entry_due = true;
    run->files->units_told = false;
    feed_rows_all_due(run);
    time_left_start(&run->files->pace, facts->steps_done);
    feed_rows_units(run);
}

static bool on_step(struct feed *f, const struct wire_event *ev)
{
    struct feed_run *run = feed_by_number(f, ev->run);
    uint64_t now = f->ns();

    if (!run)
        return false;
    run->step = ev->u.step.step;
    run->loss = (double)ev->u.step.loss;
    run->acc = (double)ev->u.step.acc;
    run->lr = ev->u.step.lr;
    if (ev->u.step.images_per_second > 0)
        run->images_per_second = (double)ev->u.step.images_per_second;
    run->train_seconds = ev->u.step.train_seconds;
    time_left_step(&run->files->pace, run->step, run->train_seconds);
    run->files->dirty[FEED_FILE_STEPS] = true;
    if (now - run->files->told < TOLD_NS)
        return false;
    run->files->told = now;
    return true;
}

static void on_unit(struct feed *f, const struct wire_event *ev)
{
    struct feed_run *run = feed_by_number(f, ev->run);
    struct feed_unit *u;

    if (!run || ev->u.unit.unit < 0 || (size_t)ev->u.unit.unit >= run->units)
        return;
    u = &run->unit[ev->u.unit.unit];
    u->device = ev->u.unit.device;
    u->loss = (double)ev->u.unit.loss;
    u->acc = (double)ev->u.unit.acc;
    u->input = (double)ev->u.unit.input_share;
    u->compute = (double)ev->u.unit.compute_share;
    u->reduce = (double)ev->u.unit.reduce_share;
    u->wait = (double)ev->u.unit.wait_share;
    run->files->units_told = true;
}

static void end_run(struct feed_run *run)
{
    run->live = false;
    run->weights = true; /* as far as is known, until they are looked for */
    run->files->entry_due = true;
    feed_rows_all_due(run);
    run->files->looked = 0;
    feed_rows_units_again(run);
}

static void on_state(struct feed *f, const struct wire_event *ev, const char *reason)
{
    struct feed_run *run = feed_have_number(f, ev->run);
    struct wire_status status;

    if (!run)
        return;
    run->own = true;
    run->state = ev->u.state.state;
    run->live = !wire_state_ended(run->state);
    snprintf(run->reason, sizeof run->reason, "%.511s", reason);
    if (wire_status(f->wire, ev->run, &status) && status.path[0]) {
        feed_set_path(run, status.path);
        if (run->state == WIRE_PAUSED && status.step > run->step) /* no event tells of each step */
            run->step = status.step;
    }
    if (!run->live)
        end_run(run);
}

/* The cell waits again: whoever was to compute it could not begin. Where it has no folder nothing is left
 * of that. */
static void forget_tries(struct feed *f, const struct wire_event *ev)
{
    struct wire_status status;

    for (size_t i = f->count; i-- > 0;) {
        struct feed_run *run = f->run[i];
        bool tried = run->live || run->state == WIRE_STOPPED;

        if (run->sweep != ev->run || run->cell != ev->u.cell.cell || !run->own || !tried ||
            wire_status(f->wire, run->number, &status))
            continue;
        if (!run->path[0]) {
            feed_drop(f, i);
        } else if (run->live) {
            run->own = false;
            end_run(run);
        }
    }
}

static void on_cell(struct feed *f, const struct wire_event *ev)
{
    struct feed_run *run = ev->u.cell.run ? feed_have_number(f, ev->u.cell.run) : NULL;

    if (!run) {
        forget_tries(f, ev);
        return;
    }
    run->sweep = ev->run;
    run->cell = ev->u.cell.cell;
    if (run->live && wire_state_ended(ev->u.cell.state)) {
        run->state = ev->u.cell.state;
        end_run(run);
    }
}

/* A start that came to nothing. One that was to go on with a run leaves that as its files say. */
static void end_refused(struct feed_run *run)
{
    run->files->refused = false;
    if (run->path[0])
        run->own = false;
    else
        run->state = WIRE_FAILED;
    end_run(run);
}

/* Other commands are refused to runs that there are: whether it was the start is said by the
 * snapshot, which the engine may set a moment later. */
static void on_refused(struct feed *f, const struct wire_event *ev, const char *reason)
{
    struct feed_run *run = feed_by_number(f, ev->run);

    if (ev->run == f->sweep_begun)
        f->sweep_begun = 0;
    if (!run || run->known || !run->live)
        return;
    run->files->refused = true;
    snprintf(run->reason, sizeof run->reason, "%.511s", reason);
}

bool feed_judge_refused(struct feed *f, struct feed_run *run)
{
    struct wire_status status;

    if (!run->files->refused)
        return false;
    if (run->known || !run->live) {
        run->files->refused = false;
        return false;
    }
    if (wire_status(f->wire, run->number, &status) && !wire_state_ended(status.state))
        return false;
    end_refused(run);
    return true;
}

bool feed_take_event(struct feed *f, const struct wire_event *ev, feed_other *other, void *user)
{
    size_t n = 0;
    void *slot = ev->slot ? wire_slot_take(f->wire, ev->slot, &n) : NULL;
    struct feed_run *run;
    struct text words = {0};
    bool changed = true;

    if (slot && (ev->kind == WIRE_STATE || ev->kind == WIRE_REFUSED))
        text_add_n(&words, slot, strnlen(slot, n));
    switch (ev->kind) {
    case WIRE_STARTED:
        on_started(f, ev, slot, n);
        break;
    case WIRE_STEP:
        changed = on_step(f, ev);
        break;
    case WIRE_UNIT: /* they come with a step */
        on_unit(f, ev);
        changed = false;
        break;
    case WIRE_EPOCH:
        if ((run = feed_by_number(f, ev->run))) {
            feed_rows_all_due(run);
            run->files->looked = 0;
        }
        break;
    case WIRE_STATE:
        on_state(f, ev, text_str(&words));
        break;
    case WIRE_REFUSED:
        on_refused(f, ev, text_str(&words));
        break;
    case WIRE_CELL:
        on_cell(f, ev);
        break;
    case WIRE_TAKEN:
        if (!ev->u.taken.sweep)
            feed_have_number(f, ev->run);
        break;
    case WIRE_LOG:
        if ((run = feed_by_number(f, ev->run))) {
            run->files->dirty[FEED_FILE_LOG] = true;
            run->files->settled = false; /* on_end may have its say after the end */
        }
        changed = false;
        break;
    case WIRE_FORECAST:
        changed = false;
        break;
    }
    if (other && ev->kind != WIRE_STEP && ev->kind != WIRE_UNIT)
        other(user, ev, slot, n);
    text_free(&words);
    free(slot);
    return changed;
}

/* It ended, and somebody else has gone on in its folder. */
static bool is_past(struct feed *f, const struct wire_status *status)
{
    const struct feed_run *run = status->path[0] ? feed_find(f, status->path) : NULL;

    return run && run->number != status->run && wire_state_ended(status->state);
}

/* Events were dropped: states stand in the snapshot, all else in files. */
void feed_read_missed(struct feed *f)
{
    size_t n;
    struct wire_status *all = wire_statuses(f->wire, &n);

    for (size_t i = 0; i < n; i++) {
        struct feed_run *run = is_past(f, &all[i]) ? NULL : feed_have_number(f, all[i].run);

        if (!run)
            continue;
        run->own = true;
        if (all[i].path[0])
            feed_set_path(run, all[i].path);
        if (!run->known || run->state != all[i].state)
            run->files->entry_due = true;
        run->state = all[i].state;
        run->step = all[i].step > run->step ? all[i].step : run->step;
        snprintf(run->reason, sizeof run->reason, "%s", all[i].reason);
        run->live = !wire_state_ended(run->state);
    }
    for (size_t i = f->count; i-- > 0;) {
        struct feed_run *run = f->run[i];
        struct wire_status status;

        feed_rows_all_due(run);
        if (!run->own || !run->live || wire_status(f->wire, run->number, &status))
            continue;
        /* A cell's status is dropped when it has ended: its file, where there is one, says how. */
        run->own = false;
        run->files->entry_due = true;
        if (!run->path[0] && run->sweep)
            feed_drop(f, i);
    }
    free(all);
}
