/* ui/feed.c: the runs that are known, and the wire's events. */
#include "ui/feed_int.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LOOK_NS      200000000u  /* between two looks at the rows of a run */
#define ENTRY_NS     500000000u  /* and at the run.csv of one that another process owns */
#define QUIET_NS     2000000000u /* at one that has ended, or that nobody watches */
#define TOLD_NS      90000000u   /* steps change a picture so often at most */
#define SLICE_NS     5000000u    /* all looks of one feed_take */
#define RUNS_KEPT    256
#define STEPS_KEPT   100000 /* of a run that is not watched any more: else they are read again */
#define FIRST_NUMBER 1000   /* of what screens start: below are those that others began */

struct feed *feed_new(struct wire *wire, const char *results)
{
    struct feed *f = mem_new(1, sizeof *f);

    f->wire = wire;
    f->results = mem_text(results);
    f->last_number = FIRST_NUMBER;
    f->ns = clock_ns;
    return f;
}

void feed_free(struct feed *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++)
        feed_rows_free(f->run[i]);
    free(f->run);
    free(f->results);
    free(f);
}

void feed_set_clock(struct feed *f, uint64_t (*ns)(void))
{
    f->ns = ns;
}

/* ---- the list ---- */

static struct feed_run *add_run(struct feed *f)
{
    struct feed_run *run = mem_new(1, sizeof *run);

    f->run = mem_grow(f->run, &f->room, f->count + 1, sizeof *f->run);
    f->run[f->count++] = run;
    run->id = ++f->last_id;
    run->files = mem_new(1, sizeof *run->files);
    memset(run->files->dirty, true, sizeof run->files->dirty);
    run->files->entry_due = true;
    run->state = WIRE_WAITING;
    run->epoch = 1;
    run->loss = run->acc = run->best_acc = run->best_picked = run->best_loss = NAN;
    run->left_seconds = run->epoch_share = run->run_share = NAN;
    run->gain_mean = run->gain_best = run->member_acc_mean = run->lr = NAN;
    pace_start(&run->files->pace, 0);
    return run;
}

static void drop_run(struct feed *f, size_t i)
{
    feed_rows_free(f->run[i]);
    memmove(&f->run[i], &f->run[i + 1], (--f->count - i) * sizeof *f->run);
}

size_t feed_count(const struct feed *f)
{
    return f->count;
}

struct feed_run *feed_at(struct feed *f, size_t i)
{
    return i < f->count ? f->run[i] : NULL;
}

struct feed_run *feed_by_id(struct feed *f, uint64_t id)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->run[i]->id == id)
            return f->run[i];
    return NULL;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool same_folder(const char *a, const char *b)
{
    struct stat x, y;

    if (!strcmp(a, b))
        return true;
    return !strcmp(last_part(a), last_part(b)) && stat(a, &x) == 0 && stat(b, &y) == 0 &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

struct feed_run *feed_find(struct feed *f, const char *path)
{
    for (size_t i = f->count; i-- > 0;)
        if (f->run[i]->path[0] && same_folder(f->run[i]->path, path))
            return f->run[i];
    return NULL;
}

static struct feed_run *find_number(struct feed *f, uint32_t number)
{
    for (size_t i = f->count; i-- > 0;)
        if (number && f->run[i]->number == number)
            return f->run[i];
    return NULL;
}

void feed_add_name(struct feed *f, uint32_t number, struct text *out)
{
    const struct feed_run *run = find_number(f, number);
    struct wire_sweep_status sweep;

    if (run)
        text_add(out, run->name);
    else if (number && wire_sweep_status(f->wire, number, &sweep))
        text_add(out, sweep.name);
}

void feed_set_path(struct feed_run *run, const char *path)
{
    char copy[1024];
    size_t n;

    snprintf(copy, sizeof copy, "%s", path);
    for (n = strlen(copy); n > 1 && copy[n - 1] == '/';)
        copy[--n] = 0;
    if (!strcmp(run->path, copy))
        return;
    snprintf(run->path, sizeof run->path, "%s", copy);
    snprintf(run->name, sizeof run->name, "%.255s", last_part(copy));
    memset(run->files->dirty, true, sizeof run->files->dirty);
    run->files->entry_due = true;
}

struct feed_run *feed_follow(struct feed *f, const char *folder)
{
    struct feed_run *run = feed_find(f, folder);

    if (!run) {
        run = add_run(f);
        feed_set_path(run, folder);
    }
    run->files->settled = false;
    run->files->run_looked = 0;
    return run;
}

void feed_watch(struct feed *f, struct feed_run *run)
{
    uint64_t id = run ? run->id : 0;
    struct feed_run *before = f->watched ? feed_by_id(f, f->watched) : NULL;

    if (f->watched == id)
        return;
    if (before && before->steps.n > STEPS_KEPT)
        feed_rows_drop_steps(before);
    f->watched = id;
    if (run) {
        memset(run->files->dirty, true, sizeof run->files->dirty);
        run->files->settled = false;
        run->files->looked = 0;
    }
}

struct feed_run *feed_current(struct feed *f)
{
    struct feed_run *best = NULL;
    int rank = 0;

    for (size_t i = f->count; i-- > 0;) {
        struct feed_run *run = f->run[i];
        int own = !run->own                      ? (run->live && !run->dead ? 3 : 1)
                  : run->state == WIRE_RUNNING   ? 6
                  : run->state == WIRE_PAUSED    ? 5
                  : wire_state_ended(run->state) ? 2
                                                 : 4;

        if (own > rank) {
            best = run;
            rank = own;
        }
    }
    return best;
}

/* Ten thousand cells of a sweep need not all be kept: what ended longest ago goes first. */
static void drop_old(struct feed *f)
{
    for (size_t i = 0; i < f->count && f->count > RUNS_KEPT;) {
        struct feed_run *run = f->run[i];

        if (run->id != f->watched && (run->own ? wire_state_ended(run->state) : !run->live))
            drop_run(f, i);
        else
            i++;
    }
}

/* ---- events ---- */

static bool is_sweep(struct feed *f, uint32_t number)
{
    struct wire_sweep_status status;

    return wire_sweep_status(f->wire, number, &status);
}

struct feed_run *feed_have_number(struct feed *f, uint32_t number)
{
    struct feed_run *run = find_number(f, number);

    if (!run && number && !is_sweep(f, number)) {
        run = add_run(f);
        run->number = number;
        run->own = run->live = true;
    }
    return run;
}

/* The folder is this run's: whoever was followed there before it went on here is the same. */
static void take_folder(struct feed *f, struct feed_run *run, const char *path)
{
    struct feed_run *other = feed_find(f, path);

    if (other && other != run) {
        if (f->watched == other->id)
            f->watched = run->id;
        for (size_t i = 0; i < f->count; i++)
            if (f->run[i] == other) {
                drop_run(f, i);
                break;
            }
    }
    feed_set_path(run, path);
}

/* A run has its folder while it is being prepared, and no event says so. */
static bool take_folders(struct feed *f)
{
    struct wire_status status;
    bool changed = false;

    for (size_t i = 0; i < f->count; i++) {
        struct feed_run *run = f->run[i];

        if (!f->wire || !run->own || !run->live || run->path[0] ||
            !wire_status(f->wire, run->number, &status) || !status.path[0])
            continue;
        take_folder(f, run, status.path);
        changed = true;
    }
    return changed;
}

static void on_started(struct feed *f, const struct wire_event *ev, const void *slot, size_t n)
{
    const struct wire_facts *facts = slot;
    struct feed_run *run = feed_have_number(f, ev->run);

    if (!run || !facts || n != sizeof *facts)
        return;
    take_folder(f, run, facts->path);
    run->facts = *facts;
    run->own = run->live = run->known = true;
    run->dead = run->broken = false;
    run->state = WIRE_RUNNING;
    run->step = facts->steps_done;
    run->train_seconds = 0;
    run->files->settled = false;
    run->files->entry_due = true;
    run->files->units_told = false;
    memset(run->files->dirty, true, sizeof run->files->dirty);
    pace_start(&run->files->pace, facts->steps_done);
    feed_rows_units(run);
}

static bool on_step(struct feed *f, const struct wire_event *ev)
{
    struct feed_run *run = find_number(f, ev->run);
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
    pace_step(&run->files->pace, run->step, run->train_seconds);
    run->files->dirty[FEED_FILE_STEPS] = true;
    if (now - run->files->told < TOLD_NS)
        return false;
    run->files->told = now;
    return true;
}

static void on_unit(struct feed *f, const struct wire_event *ev)
{
    struct feed_run *run = find_number(f, ev->run);
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
    run->files->entry_due = true;
    run->files->settled = false;
    memset(run->files->dirty, true, sizeof run->files->dirty);
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
    if (wire_status(f->wire, ev->run, &status) && status.path[0])
        feed_set_path(run, status.path);
    if (!run->live)
        end_run(run);
}

static void on_cell(struct feed *f, const struct wire_event *ev)
{
    struct feed_run *run = ev->u.cell.run ? feed_have_number(f, ev->u.cell.run) : NULL;

    if (!run)
        return;
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
    struct feed_run *run = find_number(f, ev->run);

    if (!run || run->known || !run->live)
        return;
    run->files->refused = true;
    snprintf(run->reason, sizeof run->reason, "%.511s", reason);
}

static bool judge_refused(struct feed *f, struct feed_run *run)
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

static bool take_event(struct feed *f, const struct wire_event *ev, feed_other *other, void *user)
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
        if ((run = find_number(f, ev->run))) {
            memset(run->files->dirty, true, sizeof run->files->dirty);
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
        if ((run = find_number(f, ev->run)))
            run->files->dirty[FEED_FILE_LOG] = true;
        changed = false;
        break;
    case WIRE_PLAN:
        changed = false;
        break;
    }
    if (other && ev->kind != WIRE_STEP && ev->kind != WIRE_UNIT)
        other(user, ev, slot, n);
    text_free(&words);
    free(slot);
    return changed;
}

/* Events were dropped: states stand in the snapshot, all else in files. */
static void read_missed(struct feed *f)
{
    struct wire_status *all;
    size_t n = wire_statuses(f->wire, NULL, 0);

    all = mem_new(n + 1, sizeof *all);
    n = wire_statuses(f->wire, all, n);
    for (size_t i = 0; i < n; i++) {
        struct feed_run *run = feed_have_number(f, all[i].run);

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
    for (size_t i = 0; i < f->count; i++) {
        struct feed_run *run = f->run[i];
        struct wire_status status;

        memset(run->files->dirty, true, sizeof run->files->dirty);
        run->files->settled = false;
        if (run->own && run->live && !wire_status(f->wire, run->number, &status)) {
            /* A cell's status is dropped when it has ended: its file says how. */
            run->own = false;
            run->files->entry_due = true;
        }
    }
    free(all);
}

/* ---- files ---- */

static bool look(struct feed *f, struct feed_run *run, uint64_t now, uint64_t until)
{
    struct feed_files *files = run->files;
    bool watched = run->id == f->watched, changed = false;
    uint64_t pause = run->own                                                 ? 0
                     : watched && !run->dead && !wire_state_ended(run->state) ? ENTRY_NS
                                                                              : QUIET_NS;

    if (files->entry_due || (pause && now - files->run_looked >= pause) ||
        (run->own && !run->live && watched && now - files->run_looked >= QUIET_NS)) {
        bool due = files->entry_due;

        files->entry_due = false;
        files->run_looked = now;
        changed |= feed_rows_entry(run) || due;
        if (run->own && !run->known && run->state >= WIRE_RUNNING) { /* its facts were missed */
            enum wire_state state = run->state;
            bool live = run->live;

            run->own = false;
            feed_rows_entry(run);
            run->own = true;
            run->state = state;
            run->live = live;
        }
    }
    if (!run->live && files->settled && !run->reading)
        return changed;
    if (now - files->looked < LOOK_NS && !run->reading)
        return changed;
    files->looked = now;
    if (!run->own)
        memset(files->dirty, true, sizeof files->dirty);
    changed |= feed_rows_look(run, watched, f->ns, until);
    if (!run->live && !run->reading)
        files->settled = true;
    return changed;
}

/* The one that is watched always; of the others as many as the slice has time for, the next ones at the
 * next take: after events were missed all of them have files to be read. */
static bool look_at_all(struct feed *f, uint64_t now)
{
    size_t first = f->count ? f->next_look % f->count : 0;
    bool changed = false, late = false;

    for (size_t k = 0; k < f->count; k++) {
        size_t i = (first + k) % f->count;
        struct feed_run *run = f->run[i];
        bool moved = judge_refused(f, run);

        if (!late && f->ns() > now + SLICE_NS) {
            late = true;
            f->next_look = i;
        }
        if (!late || run->id == f->watched)
            moved |= look(f, run, now, now + SLICE_NS);
        run->changed += moved;
        changed |= moved;
        feed_rows_progress(run);
    }
    return changed;
}

bool feed_take(struct feed *f, feed_other *other, void *user)
{
    struct wire_event event;
    uint64_t now = f->ns();
    bool changed = false;

    while (f->wire && wire_take(f->wire, &event))
        changed |= take_event(f, &event, other, user);
    if (f->wire && wire_missed(f->wire)) {
        read_missed(f);
        changed = true;
    }
    changed |= take_folders(f);
    changed |= look_at_all(f, now);
    drop_old(f);
    return changed;
}

uint32_t feed_started(const struct feed *f)
{
    return f->last_number;
}

bool feed_starts(const struct feed *f, const struct feed_run *run)
{
    if (!run->own || !run->live || run->state != WIRE_WAITING)
        return false;
    for (size_t i = 0; i < f->count && f->run[i] != run; i++)
        if (f->run[i]->own && f->run[i]->live)
            return false;
    return true;
}

/* Of what was begun a moment ago only the wire knows yet. */
static bool wire_busy(struct wire *wire)
{
    size_t sweeps = wire_sweeps(wire, NULL, 0), runs = wire_statuses(wire, NULL, 0), n;
    struct wire_sweep_status *sweep = mem_new(sweeps + 1, sizeof *sweep);
    struct wire_status *run = mem_new(runs + 1, sizeof *run);
    bool busy = false;

    n = wire_sweeps(wire, sweep, sweeps);
    for (size_t i = 0; i < n && i < sweeps && !busy; i++)
        busy = !wire_state_ended(sweep[i].state);
    n = wire_statuses(wire, run, runs);
    for (size_t i = 0; i < n && i < runs && !busy; i++)
        busy = !wire_state_ended(run[i].state);
    free(sweep);
    free(run);
    return busy;
}

bool feed_busy(struct feed *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->run[i]->own && !wire_state_ended(f->run[i]->state))
            return true;
    return f->wire && wire_busy(f->wire);
}
