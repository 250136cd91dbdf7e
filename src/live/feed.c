/* live/feed.c: the runs that are known. */
#include "live/feed_int.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_KEPT    256
#define STEPS_KEPT   100000 /* of a run that nobody looks at any more: else they are read again */
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

void feed_use_tasks(struct feed *f, struct tasks *tasks)
{
    f->tasks = tasks;
}

void feed_read_little(struct feed *f)
{
    f->little = true;
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
    feed_rows_all_due(run);
    run->files->entry_due = true;
    run->state = WIRE_WAITING;
    run->epoch = 1;
    run->loss = run->acc = run->best_acc = run->best_picked = run->best_loss = NAN;
    run->left_seconds = run->epoch_share = run->run_share = NAN;
    run->gain_mean = run->gain_best = run->member_acc_mean = run->lr = NAN;
    time_left_start(&run->files->pace, 0);
    return run;
}

void feed_drop(struct feed *f, size_t i)
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

/* Names have the millisecond in which they were made. Whether two ways lead to one folder only the disk
 * could say, which may be slow. */
struct feed_run *feed_find(struct feed *f, const char *path)
{
    const char *name = io_last_part(path);

    for (size_t i = f->count; i-- > 0;)
        if (f->run[i]->path[0] && !strcmp(f->run[i]->name, name))
            return f->run[i];
    return NULL;
}

struct feed_run *feed_by_number(struct feed *f, uint32_t number)
{
    for (size_t i = f->count; i-- > 0;)
        if (number && f->run[i]->number == number)
            return f->run[i];
    return NULL;
}

void feed_add_name(struct feed *f, uint32_t number, struct text *out)
{
    const struct feed_run *run = feed_by_number(f, number);
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
    snprintf(run->name, sizeof run->name, "%.255s", io_last_part(copy));
    feed_rows_all_due(run);
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
    run->files->entry_due |= run->own && !run->live; /* somebody else may have gone on with it */
    return run;
}

void feed_found_dead(struct feed_run *run)
{
    if (run->own || run->dead)
        return;
    run->files->dead_looks = DEAD_LOOKS - 1;
    run->files->entry_due = true;
}

bool feed_is_read(const struct feed_run *run)
{
    bool read = run->files->settled;

    for (int i = 0; i < FEED_FILES; i++)
        read = read && !run->files->tail[i].more;
    return read;
}

static void let_go_of_steps(struct feed *f, uint64_t id)
{
    struct feed_run *run = id && id != f->watched && id != f->told ? feed_by_id(f, id) : NULL;

    if (run && run->steps.n > STEPS_KEPT)
        feed_rows_drop_steps(run);
}

void feed_tell(struct feed *f, const struct feed_run *run)
{
    uint64_t before = f->told;

    f->told = run ? run->id : 0;
    if (f->told != before)
        let_go_of_steps(f, before);
}

void feed_watch(struct feed *f, struct feed_run *run)
{
    uint64_t id = run ? run->id : 0, before = f->watched;

    if (before == id)
        return;
    f->watched = id;
    let_go_of_steps(f, before);
    if (run) {
        feed_rows_all_due(run);
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

        if (own > rank && !run->removed && !feed_only_tries(f, run)) {
            best = run;
            rank = own;
        }
    }
    return best;
}

/* Ten thousand cells of a sweep need not all be kept: what ended longest ago goes first. Of what was
 * removed only the one that is watched stays. */
static void drop_old(struct feed *f)
{
    for (size_t i = 0; i < f->count;) {
        struct feed_run *run = f->run[i];
        bool ended = run->own ? wire_state_ended(run->state) : !run->live;

        if (run->id != f->watched &&
            (run->removed || (ended && (f->little || f->count > RUNS_KEPT))))
            feed_drop(f, i);
        else
            i++;
    }
}

static bool is_sweep(struct feed *f, uint32_t number)
{
    struct wire_sweep_status status;

    return wire_sweep_status(f->wire, number, &status);
}

struct feed_run *feed_have_number(struct feed *f, uint32_t number)
{
    struct feed_run *run = feed_by_number(f, number);

    if (!run && number && !is_sweep(f, number)) {
        run = add_run(f);
        run->number = number;
        run->own = run->live = true;
    }
    return run;
}

/* Whoever was followed in its folder before it went on here is the same. */
static bool drop_twins(struct feed *f, const struct feed_run *run)
{
    bool any = false;

    for (size_t i = f->count; i-- > 0;) {
        const struct feed_run *other = f->run[i];

        if (other == run || !other->path[0] || strcmp(other->name, run->name) != 0)
            continue;
        if (f->watched == other->id)
            f->watched = run->id;
        feed_drop(f, i);
        any = true;
    }
    return any;
}

void feed_take_folder(struct feed *f, struct feed_run *run, const char *path)
{
    feed_set_path(run, path);
    drop_twins(f, run);
}

/* A run has its folder while it is being prepared, and no event says so; one that goes on has it from
 * its start. */
static bool take_folders(struct feed *f)
{
    struct wire_status status;
    bool changed = false;

    for (size_t i = 0; i < f->count; i++) {
        struct feed_run *run = f->run[i];

        if (!f->wire || !run->own || !run->live)
            continue;
        if (run->path[0]) {
            changed |= drop_twins(f, run);
        } else if (wire_status(f->wire, run->number, &status) && status.path[0]) {
            feed_take_folder(f, run, status.path);
            changed = true;
        }
    }
    return changed;
}

bool feed_take(struct feed *f, feed_other *other, void *user)
{
    struct wire_event event;
    uint64_t now = f->ns();
    bool changed = false;

    while (f->wire && wire_take(f->wire, &event))
        changed |= feed_take_event(f, &event, other, user);
    f->missed = f->wire && wire_missed(f->wire);
    if (f->missed) {
        feed_read_missed(f);
        changed = true;
    }
    changed |= take_folders(f);
    changed |= feed_look(f, now);
    drop_old(f);
    changed |= feed_forget_over(f);
    return changed;
}

bool feed_missed(const struct feed *f)
{
    return f->missed;
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
    size_t sweeps, runs;
    struct wire_sweep_status *sweep = wire_sweeps(wire, &sweeps);
    struct wire_status *run = wire_statuses(wire, &runs);
    bool busy = false;

    for (size_t i = 0; i < sweeps && !busy; i++)
        busy = !wire_state_ended(sweep[i].state);
    for (size_t i = 0; i < runs && !busy; i++)
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
    return wire_busy(f->wire);
}
