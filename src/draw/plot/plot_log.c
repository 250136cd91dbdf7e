/* draw/plot/plot_log.c: ticks of a logarithmic axis: 1, 2 and 5 of each decade, every second of these, whole
 * decades; and where a range has too few of all of them, multiples of a round step. */
#include "draw/plot/plot_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* Of 1, 2, 5, 10, 20, 50, ... one of every so many, from the phase-th on. */
static const struct {
    int every, phase;
} rows[] = {{1, 0},   {2, 0},  {2, 1},   {3, 0},   {6, 0},    {6, 3},   {9, 0},
            {9, 3},   {9, 6},  {15, 0},  {15, 6},  {30, 0},   {30, 15}, {60, 0},
            {60, 30}, {90, 0}, {90, 45}, {150, 0}, {150, 75}, {300, 0}, {300, 150}};

#define MANY 30 /* to one: what spans more has no multiples of one step */

/* pow alone would take most of the time: thousands of rows are tried for one axis. */
static double power_of_ten(int decade)
{
    static const double small[] = {1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4,
                                   1e-3,  1e-2,  1e-1,  1,    1e1,  1e2,  1e3,  1e4,  1e5,
                                   1e6,   1e7,   1e8,   1e9,  1e10, 1e11, 1e12};

    return abs(decade) <= 12 ? small[decade + 12] : pow(10, decade);
}

static void tick_row(struct plot_axis *a, int every, int phase)
{
    static const double mantissa[] = {1, 2, 5};
    int from, end;

    a->step = 0;
    a->ticks = 0;
    if (!(a->lo > 0) || !isfinite(a->hi)) /* stretched beyond all numbers */
        return;
    from = 3 * (int)floor(a->from - 1e-9);
    end = 3 * (int)ceil(a->from + a->length + 1e-9);
    from += ((phase - from) % every + every) % every;
    for (int k = from; k <= end && a->ticks <= PLOT_TICKS; k += every) {
        int decade = (k - (k % 3 + 3) % 3) / 3;
        double t = mantissa[k - 3 * decade] * power_of_ten(decade);

        if (t < a->lo * (1 - 1e-9) || t > a->hi * (1 + 1e-9))
            continue;
        if (a->ticks < PLOT_TICKS)
            a->tick[a->ticks] = t;
        a->ticks++;
    }
}

bool plot_log_row(struct plot_axis *a, int index)
{
    static const double steps[] = {0.2, 0.25, 0.5, 1, 2, 2.5};

    if (index < (int)MEM_COUNT(rows)) {
        tick_row(a, rows[index].every, rows[index].phase);
        return true;
    }
    index -= (int)MEM_COUNT(rows);
    if (index >= (int)MEM_COUNT(steps) || a->hi > MANY * a->lo)
        return false;
    a->step = steps[index] * pow(10, floor(log10(a->hi - a->lo)));
    a->ticks = plot_multiples(a->lo, a->hi, a->step, a->tick, PLOT_TICKS);
    return true;
}

/* By how much the distances of ticks differ, 0 to 1; more where there are not four to six of them. */
static double uneven(const struct plot_axis *a)
{
    double least = INFINITY, most = 0;

    if (a->ticks < 4 || a->ticks > 6)
        return INFINITY;
    for (int i = 1; i < a->ticks; i++) {
        double distance = log10(a->tick[i] / a->tick[i - 1]);

        least = fmin(least, distance);
        most = fmax(most, distance);
    }
    return (most - least) / (most + least);
}

void plot_log_ticks(struct plot_axis *a)
{
    struct plot_axis one = *a;
    double best = INFINITY;

    for (int i = 0; plot_log_row(&one, i); i++)
        if (uneven(&one) < best - 1e-6) {
            best = uneven(&one);
            *a = one;
        }
    if (!isfinite(best))
        a->ticks = plot_ticks(a->lo, a->hi, a->tick, &a->step);
}
