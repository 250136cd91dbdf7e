/* How long a sweep will take, by its cells of like cost: those that cost the same, else the nearest in
 * cost, scaled. Seeds and learning rates cost nothing. */
#include "engine/sweep/sweep_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

struct known {
    double seconds; /* of a whole cell; nan: unknown */
};

/* A cell that runs says something about its kind as soon as some of it is done. */
static double projected(const struct run *r, int64_t steps)
{
    const struct standing_counts *n = &r->at.n;

    if (!r->opened || steps <= 0 || n->step * 50 < steps)
        return NAN;
    return (double)(n->train_ns + n->eval_ns) * 1e-9 * (double)steps / (double)n->step;
}

static double distance(const struct kind *a, const struct kind *b)
{
    double d = fabs(log(a->cost / b->cost)) + 0.5 * fabs(log((double)a->batch / (double)b->batch));

    return d + 0.1 * (a->devices != b->devices) + 0.1 * (a->members != b->members) +
           10 * (a->backend != b->backend);
}

static double expected(const struct sweep *s, const struct known *known, size_t kind)
{
    const struct kind *k = &s->kind[kind];
    size_t best = s->kinds;

    if (!isnan(known[kind].seconds))
        return known[kind].seconds;
    for (size_t i = 0; i < s->kinds; i++)
        if (!isnan(known[i].seconds) &&
            (best == s->kinds || distance(&s->kind[i], k) < distance(&s->kind[best], k)))
            best = i;
    return best < s->kinds && s->kind[best].cost > 0
               ? known[best].seconds * k->cost / s->kind[best].cost
               : NAN;
}

static double sum_left(struct sweep *s, struct known *known)
{
    double left = 0, longest = 0;

    for (size_t i = 0; i < s->kinds; i++) {
        s->kind[i].waiting = 0;
        known[i].seconds = s->kind[i].done ? s->kind[i].seconds / (double)s->kind[i].done : NAN;
    }
    for (size_t i = 0; i < s->seen; i++) {
        const struct cell *c = &s->cell[i];

        if (c->kind < 0 || c->too_large)
            continue;
        s->kind[c->kind].waiting += c->state == WIRE_WAITING && !sweep_closes(s);
        if (c->run && isnan(known[c->kind].seconds))
            known[c->kind].seconds = projected(c->run, s->kind[c->kind].steps);
    }
    for (size_t i = 0; i < s->kinds; i++)
        if (s->kind[i].waiting)
            left += (double)s->kind[i].waiting * expected(s, known, i);
    for (size_t i = 0; i < s->seen; i++) {
        const struct cell *c = &s->cell[i];
        double rest;

        if (!c->run || c->kind < 0 || c->too_large)
            continue;
        rest = expected(s, known, (size_t)c->kind) *
               (1 - (double)c->run->at.n.step / (double)(s->kind[c->kind].steps + 1));
        rest = rest > 0 ? rest : isnan(rest) ? NAN : 0;
        left += rest;
        if (rest > longest)
            longest = rest;
    }
    return left / s->jobs < longest ? longest : left / s->jobs;
}

double sweep_time_left(struct sweep *s)
{
    struct known *known;
    double left;

    pthread_mutex_lock(&s->lock);
    known = mem_new(s->kinds + 1, sizeof *known);
    left = sum_left(s, known);
    pthread_mutex_unlock(&s->lock);
    free(known);
    return left;
}
