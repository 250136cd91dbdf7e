/* live/feed_work.c: what is at work here and elsewhere, and what of it waits. */
#include "live/feed_int.h"

#include "base/mem.h"
#include "record/best.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool run_trouble(const struct feed *f, uint32_t number, struct wire_status *out)
{
    return f->wire && number && wire_status(f->wire, number, out) && out->code == ERR_IO &&
           !wire_state_ended(out->state);
}

static bool sweep_trouble(const struct feed *f, uint32_t number, struct wire_sweep_status *out)
{
    return f->wire && number && wire_sweep_status(f->wire, number, out) && out->code != ERR_OK &&
           !wire_state_ended(out->state);
}

bool feed_lacks_room(const struct feed *f, const struct feed_run *run)
{
    struct wire_status status;

    return run->live && (run->own ? run_trouble(f, run->number, &status) : run->full);
}

bool feed_only_tries(const struct feed *f, const struct feed_run *run)
{
    struct wire_sweep_status status;

    return run->own && run->live && run->state == WIRE_WAITING && !run->path[0] &&
           sweep_trouble(f, run->sweep, &status);
}

bool feed_has_trouble(const struct feed *f, uint32_t number)
{
    struct wire_sweep_status sweep;
    struct wire_status run;

    return run_trouble(f, number, &run) || sweep_trouble(f, number, &sweep);
}

static bool seeds_differ(const struct spec *a, const struct spec *b)
{
    return a->seed != b->seed;
}

static bool tests_differ(const struct spec *a, const struct spec *b)
{
    return a->test_limit != b->test_limit || strcmp(a->data, b->data) != 0;
}

/* Whether runs of it here do. */
static bool any_differ(const struct feed *f, uint32_t sweep,
                       bool (*differ)(const struct spec *a, const struct spec *b))
{
    const struct feed_run *first = NULL;

    for (size_t i = 0; i < f->count; i++) {
        const struct feed_run *run = f->run[i];

        if (run->sweep != sweep || !run->started_utc[0]) /* its settings are not read yet */
            continue;
        if (first && differ(&first->spec, &run->spec))
            return true;
        first = run;
    }
    return false;
}

static void take_best(const struct feed *f, const struct wire_sweep_status *s,
                      struct feed_sweep *out)
{
    size_t room = wire_cells(f->wire, s->sweep, NULL, 0), n, best;
    struct wire_cell *all = mem_new(room + 1, sizeof *all);

    n = wire_cells(f->wire, s->sweep, all, room);
    n = n < room ? n : room; /* more may have come */
    best = record_best_cell(all, n, &out->by_valid);
    out->best = best < n && !any_differ(f, s->sweep, tests_differ) ? all[best].acc : NAN;
    free(all);
}

bool feed_running_sweep(const struct feed *f, const struct feed_run *run,
                        struct wire_sweep_status *out)
{
    struct wire_sweep_status *all;
    bool found = false;
    size_t n;

    if (!f->wire)
        return false;
    if (run && run->own && run->live)
        return run->sweep && wire_sweep_status(f->wire, run->sweep, out) &&
               !wire_state_ended(out->state);
    all = wire_sweeps(f->wire, &n);
    for (size_t i = 0; i < n && !found; i++)
        if (all[i].state == WIRE_RUNNING || all[i].state == WIRE_PAUSED) {
            *out = all[i];
            found = true;
        }
    free(all);
    return found;
}

bool feed_trains_elsewhere(const struct feed_run *run)
{
    return run && !run->own && run->live && !run->dead && run->state == WIRE_RUNNING;
}

const struct wire_sweep_status *feed_sweep_elsewhere(const struct feed *f)
{
    const struct wire_sweep_status *is = &f->elsewhere.is;

    return is->name[0] && !wire_state_ended(is->state) && !wire_sweep_rests(is) ? is : NULL;
}

bool feed_sees_busy(struct feed *f)
{
    return feed_busy(f) || feed_trains_elsewhere(feed_current(f)) || feed_sweep_elsewhere(f);
}

bool feed_forget_over(struct feed *f)
{
    const struct feed_run *run = feed_current(f);
    struct wire_sweep_status s;
    /* of its own cells one may be known for longer to have been at work */
    bool other = run && (run->own || strcmp(run->sweep_name, f->elsewhere.is.name) != 0);

    if (!wire_state_ended(f->elsewhere.is.state) || !f->elsewhere.is.name[0] ||
        !((other && run->live && !run->dead) || feed_running_sweep(f, run, &s)))
        return false;
    f->elsewhere.is.name[0] = 0; /* from now on that is told of */
    return true;
}

struct feed_work feed_work(const struct feed *f)
{
    size_t sweeps;
    struct wire_sweep_status *sweep = wire_sweeps(f->wire, &sweeps);
    struct feed_work work = {0};

    for (size_t i = 0; i < f->count; i++) {
        const struct feed_run *run = f->run[i];

        if (!run->own || !run->live)
            continue;
        if (feed_lacks_room(f, run))
            work.no_room++;
        else if (run->state == WIRE_PAUSED)
            work.paused++;
        else
            work.goes_on += run->state == WIRE_RUNNING;
    }
    for (size_t i = 0; i < sweeps; i++)
        if (!wire_state_ended(sweep[i].state))
            ++*(wire_sweep_lacks_room(&sweep[i]) ? &work.no_room
                : wire_sweep_rests(&sweep[i])    ? &work.paused
                                                 : &work.goes_on);
    free(sweep);
    return work;
}

static void show_own(const struct feed *f, const struct wire_sweep_status *s,
                     struct feed_shown *out)
{
    *out = (struct feed_shown){.own = true, .sweep.is = *s};
    take_best(f, s, &out->sweep);
    out->seeds = any_differ(f, s->sweep, seeds_differ);
}

/* That of a cell that was at work last here, until its files are read. */
static bool ended_sweep(const struct feed *f, const struct feed_run *run,
                        struct wire_sweep_status *out)
{
    return f->wire && run && run->own && !run->live && run->sweep &&
           wire_sweep_status(f->wire, run->sweep, out) && wire_state_ended(out->state) &&
           out->path[0];
}

/* What is at work here goes before what others are at. */
bool feed_shows_sweep(const struct feed *f, const struct feed_run *run, struct feed_shown *out)
{
    const struct wire_sweep_status *other = &f->elsewhere.is;
    bool known = run && run->known && !wire_state_ended(run->state);
    bool over = wire_state_ended(other->state);
    struct wire_sweep_status s;

    *out = (struct feed_shown){0};
    if (feed_running_sweep(f, run, &s)) {
        show_own(f, &s, out);
        out->cell = known && run->sweep == s.sweep ? run : NULL;
        return true;
    }
    if (!other->name[0] && ended_sweep(f, run, &s)) {
        show_own(f, &s, out);
        return true;
    }
    if (!other->name[0] || (run && run->live && (run->own || (over && !run->dead))))
        return false;
    out->sweep = f->elsewhere;
    if (!over && known && run->live && !run->dead && !strcmp(run->sweep_name, other->name))
        out->cell = run;
    return true;
}

void feed_set_elsewhere(struct feed *f, const struct feed_sweep *sweep)
{
    f->elsewhere = *sweep;
}

void feed_set_queued(struct feed *f, size_t count)
{
    f->queued = count;
}

bool feed_sweep_starts(struct feed *f, char *name, size_t room)
{
    struct wire_sweep_status status = {0};
    bool others = false; /* it waits for its turn behind them */

    if (!f->sweep_begun || !f->wire)
        return false;
    (void)wire_sweep_status(f->wire, f->sweep_begun, &status);
    for (size_t i = 0; i < f->count; i++) {
        if (feed_only_tries(f, f->run[i]))
            continue;
        others |= f->run[i]->own && f->run[i]->live;
        if (f->run[i]->sweep == f->sweep_begun)
            f->sweep_begun = 0; /* a cell stands for it from now on */
    }
    if (wire_state_ended(status.state) && status.name[0])
        f->sweep_begun = 0;
    snprintf(name, room, "%s", status.name);
    return f->sweep_begun && !others;
}

void feed_queue(const struct feed *f, struct wire_queue *out)
{
    *out = (struct wire_queue){0};
    if (f->wire)
        wire_queue(f->wire, out);
}

size_t feed_waiting(const struct feed *f, const struct feed_run *but)
{
    size_t waits = f->queued;

    for (size_t i = 0; i < f->count; i++)
        waits += f->run[i]->own && f->run[i] != but && f->run[i]->state == WIRE_WAITING &&
                 !f->run[i]->sweep;
    return waits;
}

bool feed_trouble(const struct feed *f, struct feed_trouble *out)
{
    size_t sweeps;
    struct wire_sweep_status *sweep = wire_sweeps(f->wire, &sweeps);
    struct wire_status run;

    *out = (struct feed_trouble){0};
    for (size_t i = 0; i < f->count && !out->code; i++)
        if (f->run[i]->own && f->run[i]->live && run_trouble(f, f->run[i]->number, &run)) {
            out->code = run.code;
            memcpy(out->reason, run.reason, sizeof out->reason);
        }
    for (size_t i = 0; i < sweeps && !out->code; i++)
        if (sweep[i].code != ERR_OK && !wire_state_ended(sweep[i].state)) {
            out->code = sweep[i].code;
            out->sweep = true;
            memcpy(out->reason, sweep[i].reason, sizeof out->reason);
        }
    free(sweep);
    return out->code != ERR_OK;
}
