/* live/sweep_count.c: how many of a sweep's cells are what, and how it stands by them. */
#include "live/sweep.h"

#include "base/mem.h"
#include "study/stats.h"
#include "wire/time_left.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Of what --max-cells leaves, nothing is begun again. */
static bool is_asked_for(const struct live_sweep *s, const struct live_cell *c)
{
    return c->known ? !c->beyond : !s->options.max_cells;
}

static bool is_open(const struct live_cell *c)
{
    return !c->known || !wire_state_is_final(c->state);
}

size_t live_sweep_open(const struct live_sweep *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++)
        n += s->cell[i].known && is_open(&s->cell[i]) && !s->cell[i].beyond;
    return n;
}

size_t live_sweep_possible(const struct live_sweep *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++)
        n += !s->cell[i].left_out;
    return n;
}

size_t live_sweep_beyond(const struct live_sweep *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++)
        n += !s->cell[i].left_out && is_open(&s->cell[i]) && !is_asked_for(s, &s->cell[i]);
    return n;
}

size_t live_sweep_failed(const struct live_sweep *s, bool beyond)
{
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++) {
        const struct live_cell *c = &s->cell[i];

        n += c->known && c->state > WIRE_DONE && c->beyond == beyond;
    }
    return n;
}

/* Of a run of another program nobody knows here whether its own sweep or the user has paused it. */
static enum wire_state state_by_cells(const struct live_sweep *s,
                                      const struct wire_sweep_status *is)
{
    if (!s->live)
        return live_sweep_open(s) ? WIRE_STOPPED : WIRE_DONE;
    return is->paused && is->paused == is->running ? WIRE_PAUSED : WIRE_RUNNING;
}

void live_sweep_stand(struct live_sweep *s)
{
    struct wire_sweep_status *t = &s->is;
    int64_t *const of_state[] = {
        [WIRE_WAITING] = &t->waiting, [WIRE_RUNNING] = &t->running, [WIRE_PAUSED] = &t->running,
        [WIRE_STOPPED] = &t->stopped, [WIRE_DONE] = &t->done,       [WIRE_DIVERGED] = &t->diverged,
        [WIRE_OOM] = &t->oom,         [WIRE_FAILED] = &t->failed,   [WIRE_SKIPPED] = &t->skipped};

    *t = (struct wire_sweep_status){0};
    snprintf(t->name, sizeof t->name, "%s", s->name);
    for (size_t i = 0; i < s->cells; i++) {
        const struct live_cell *c = &s->cell[i];

        t->cells += !c->left_out && is_asked_for(s, c); /* as its own program has them */
        if (!c->known || c->beyond)
            continue;
        ++*of_state[c->state];
        t->paused += c->state == WIRE_PAUSED;
        t->full |= c->full;
    }
    t->state = state_by_cells(s, t);
    t->left_seconds = live_sweep_left_seconds(s);
}

double live_sweep_left_seconds(const struct live_sweep *s)
{
    double *x = mem_new(s->cells + 1, sizeof *x), each;
    struct time_left_runs left = {0};
    size_t n = 0;
    int running = 0;

    for (size_t i = 0; i < s->cells; i++)
        if (s->cell[i].known && s->cell[i].state == WIRE_DONE && isfinite(s->cell[i].seconds))
            x[n++] = s->cell[i].seconds;
    each = study_median(x, n);
    free(x);
    for (size_t i = 0; i < s->cells; i++) {
        const struct live_cell *c = &s->cell[i];
        bool runs = c->known && (c->state == WIRE_RUNNING || c->state == WIRE_PAUSED);

        running += runs;
        if (runs)
            time_left_count(&left, each * (isfinite(c->share) ? 1 - c->share : 0.5), 1);
        else if (c->known && c->state == WIRE_WAITING)
            time_left_count(&left, each, 1);
    }
    return left.runs ? time_left_side_by_side(&left, running > 1 ? running : 1) : NAN;
}

bool live_cell_has_accuracy(const struct live_cell *c)
{
    return c->known && c->state == WIRE_DONE && isfinite(c->acc);
}
