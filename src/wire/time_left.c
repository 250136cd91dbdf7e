#include "wire/time_left.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>

void time_left_start(struct time_left *p, int64_t steps_done)
{
    *p = (struct time_left){.last_step = steps_done, .last_seconds = -1};
}

void time_left_step(struct time_left *p, int64_t step, double train_seconds)
{
    if (p->last_seconds >= 0 && step > p->last_step && train_seconds > p->last_seconds) {
        double now = (train_seconds - p->last_seconds) / (double)(step - p->last_step);

        p->step_seconds = p->step_seconds > 0 ? 0.8 * p->step_seconds + 0.2 * now : now;
    }
    p->last_step = step;
    p->last_seconds = train_seconds;
}

void time_left_evaluation(struct time_left *p, double seconds)
{
    if (seconds >= 0)
        p->eval_seconds = seconds;
}

double time_left_seconds(const struct time_left *p, int64_t steps, int64_t evaluations)
{
    if (p->step_seconds <= 0 || steps < 0)
        return NAN;
    return p->step_seconds * (double)steps +
           (steps > 0 ? p->eval_seconds * (double)evaluations : 0);
}

void time_left_add_span(struct text *out, double seconds)
{
    char span[CLOCK_UTC_ROOM];

    if (seconds < 59.5)
        snprintf(span, sizeof span, "%.0f s", seconds < 1 ? 1 : seconds);
    else
        clock_span(span, seconds);
    text_add(out, span);
}

void time_left_add(struct text *out, double seconds)
{
    if (!isfinite(seconds))
        return;
    time_left_add_span(out, seconds);
    text_add(out, " left");
}

void time_left_count(struct time_left_runs *t, double seconds, size_t runs)
{
    t->runs += runs;
    if (isnan(seconds)) {
        t->unknown += runs;
    } else if (runs) {
        t->seconds += (double)runs * seconds;
        t->longest = fmax(t->longest, seconds);
    }
}

double time_left_side_by_side(const struct time_left_runs *t, int jobs)
{
    size_t known = t->runs - t->unknown;

    if (!known)
        return t->runs ? NAN : 0;
    return fmax(t->seconds / jobs * (double)t->runs / (double)known, t->longest);
}
