/* How long a sweep will take, by its cells of like cost: those that cost the same, else the nearest in
 * cost, scaled, and before any of them tells something what the forecast says. Seeds and learning rates
 * cost nothing. */
#include "engine/sweep/sweep_int.h"
#include "wire/time_left.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* By what it took so far; nothing where that is too little. */
static struct time_left pace_of(const struct run *r, int64_t steps)
{
    const struct standing_counts *n = &r->at.n;
    struct time_left pace = {0};

    if (!r->opened || steps <= 0 || n->step * 50 < steps)
        return pace;
    pace.step_seconds = (double)n->train_ns * 1e-9 / (double)n->step;
    pace.eval_seconds = n->epoch > 0 ? (double)n->eval_ns * 1e-9 / (double)n->epoch : 0;
    return pace;
}

static double distance(const struct kind *a, const struct kind *b)
{
    double d = fabs(log(a->cost / b->cost)) + 0.5 * fabs(log((double)a->batch / (double)b->batch));

    return d + 0.1 * (a->devices != b->devices) + 0.1 * (a->members != b->members) +
           10 * (a->backend != b->backend);
}

/* seconds: (kinds) of a whole cell; nan: none tells it. */
static double expected(const struct sweep *s, const double *seconds, size_t kind)
{
    const struct kind *k = &s->kind[kind];
    size_t best = s->kinds;

    if (!isnan(seconds[kind]))
        return seconds[kind];
    for (size_t i = 0; i < s->kinds; i++)
        if (!isnan(seconds[i]) && s->kind[i].cost > 0 &&
            (best == s->kinds || distance(&s->kind[i], k) < distance(&s->kind[best], k)))
            best = i;
    return best < s->kinds ? seconds[best] * k->cost / s->kind[best].cost : k->forecast;
}

/* What each kind took, a cell that runs projected. */
static void find_seconds(struct sweep *s, double *seconds)
{
    for (size_t i = 0; i < s->kinds; i++) {
        s->kind[i].waiting = 0;
        seconds[i] = s->kind[i].done ? s->kind[i].seconds / (double)s->kind[i].done : NAN;
    }
    for (size_t i = 0; i < s->seen; i++) {
        const struct cell *c = &s->cell[i];
        struct time_left pace;

        if (c->kind < 0 || c->too_large)
            continue;
        s->kind[c->kind].waiting += c->state == WIRE_WAITING && !sweep_closes(s);
        if (!c->run || !isnan(seconds[c->kind]))
            continue;
        pace = pace_of(c->run, s->kind[c->kind].steps);
        seconds[c->kind] =
            time_left_seconds(&pace, s->kind[c->kind].steps, s->kind[c->kind].epochs);
    }
}

double sweep_time_left(struct sweep *s)
{
    struct time_left_runs left = {0};
    double *seconds;

    pthread_mutex_lock(&s->lock);
    seconds = mem_new(s->kinds + 1, sizeof *seconds);
    find_seconds(s, seconds);
    for (size_t i = 0; i < s->kinds; i++)
        if (s->kind[i].waiting)
            time_left_count(&left, expected(s, seconds, i), (size_t)s->kind[i].waiting);
    for (size_t i = 0; i < s->seen; i++) {
        const struct cell *c = &s->cell[i];
        double share;

        if (!c->run || c->kind < 0 || c->too_large)
            continue;
        share = (double)c->run->at.n.step / (double)(s->kind[c->kind].steps + 1);
        time_left_count(&left, expected(s, seconds, (size_t)c->kind) * fmax(1 - share, 0), 1);
    }
    pthread_mutex_unlock(&s->lock);
    free(seconds);
    return time_left_side_by_side(&left, s->jobs);
}
