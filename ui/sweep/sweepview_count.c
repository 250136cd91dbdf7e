/* How many of a sweep's cells are what, and how it stands by them. */
#include "ui/sweep/sweepview_int.h"

#include "base/mem.h"
#include "wire/time_left.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Of what --max-cells leaves, nothing is begun again. */
static bool is_asked_for(const struct sweepview_sweep *s, const struct sweepview_cell *c)
{
    return c->known ? !c->beyond : !s->options.max_cells;
}

static bool is_open(const struct sweepview_cell *c)
{
    return !c->known || !wire_state_is_final(c->state);
}

size_t sweepview_open(const struct sweepview_sweep *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++)
        n += s->cell[i].known && is_open(&s->cell[i]) && !s->cell[i].beyond;
    return n;
}

size_t sweepview_possible(const struct sweepview_sweep *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++)
        n += !s->cell[i].left_out;
    return n;
}

size_t sweepview_beyond(const struct sweepview_sweep *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++)
        n += !s->cell[i].left_out && is_open(&s->cell[i]) && !is_asked_for(s, &s->cell[i]);
    return n;
}

size_t sweepview_failed(const struct sweepview_sweep *s, bool beyond)
{
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++) {
        const struct sweepview_cell *c = &s->cell[i];

        n += c->known && c->state > WIRE_DONE && c->beyond == beyond;
    }
    return n;
}

#define MOST_NAMED 3

void sweepview_add_failed_beyond(const struct sweepview_sweep *s, struct text *out)
{
    size_t n = sweepview_failed(s, true), named = 0;

    if (!n)
        return;
    text_addf(out, " %s more lie%s beyond --max-cells %lld (", TEXT_COUNT(n), n == 1 ? "s" : "",
              (long long)s->options.max_cells);
    for (size_t i = 0; i < s->groups && named < MOST_NAMED; i++) {
        bool any = false;

        for (size_t r = 0; r < s->repeats; r++) {
            const struct sweepview_cell *c = &s->cell[sweepview_cell_of(s, i, r)];

            any |= c->known && c->state > WIRE_DONE && c->beyond;
        }
        if (!any)
            continue;
        text_add(out, named++ ? "; " : "");
        sweepview_add_setting(s, i, out);
    }
    text_addf(out, "%s): chorus resume ", n > named ? "; ..." : "");
    jobs_add_word(out, s->name);
    text_addf(out, " --failed --max-cells %zu has %s too.", sweepview_possible(s),
              n == 1 ? "it" : "them");
}

void sweepview_add_beyond(const struct sweepview_sweep *s, struct text *out)
{
    text_addf(out, "--max-cells %lld left %s of %s cells", (long long)s->options.max_cells,
              TEXT_COUNT(sweepview_beyond(s)), TEXT_COUNT(sweepview_possible(s)));
}

/* Of a run of another program nobody knows here whether its own sweep or the user has paused it. */
static enum wire_state state_by_cells(const struct sweepview_sweep *s,
                                      const struct wire_sweep_status *is)
{
    if (!s->live)
        return sweepview_open(s) ? WIRE_STOPPED : WIRE_DONE;
    return is->paused && is->paused == is->running ? WIRE_PAUSED : WIRE_RUNNING;
}

void sweepview_stand(struct sweepview_sweep *s)
{
    struct wire_sweep_status *t = &s->is;
    int64_t *const of_state[] = {
        [WIRE_WAITING] = &t->waiting, [WIRE_RUNNING] = &t->running, [WIRE_PAUSED] = &t->running,
        [WIRE_STOPPED] = &t->stopped, [WIRE_DONE] = &t->done,       [WIRE_DIVERGED] = &t->diverged,
        [WIRE_OOM] = &t->oom,         [WIRE_FAILED] = &t->failed,   [WIRE_SKIPPED] = &t->skipped};

    *t = (struct wire_sweep_status){0};
    snprintf(t->name, sizeof t->name, "%s", s->name);
    for (size_t i = 0; i < s->cells; i++) {
        const struct sweepview_cell *c = &s->cell[i];

        t->cells += !c->left_out && is_asked_for(s, c); /* as its own program has them */
        if (!c->known || c->beyond)
            continue;
        ++*of_state[c->state];
        t->paused += c->state == WIRE_PAUSED;
        t->full |= c->full;
    }
    t->state = state_by_cells(s, t);
    t->left_seconds = sweepview_left_seconds(s);
}

double sweepview_left_seconds(const struct sweepview_sweep *s)
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
        const struct sweepview_cell *c = &s->cell[i];
        bool runs = c->known && (c->state == WIRE_RUNNING || c->state == WIRE_PAUSED);

        running += runs;
        if (runs)
            time_left_count(&left, each * (isfinite(c->share) ? 1 - c->share : 0.5), 1);
        else if (c->known && c->state == WIRE_WAITING)
            time_left_count(&left, each, 1);
    }
    return left.runs ? time_left_side_by_side(&left, running > 1 ? running : 1) : NAN;
}
