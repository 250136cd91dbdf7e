/* draw/plot/plot_ticks.c: round ticks: of numbers, of what is counted, of times. */
#include "draw/plot/plot_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

int plot_multiples(double lo, double hi, double step, double *ticks, int room)
{
    double slack = 1e-9, first = ceil(lo / step - slack), last = floor(hi / step + slack);
    int n = 0;

    if (!(step > 0) || last - first > 1000)
        return room + 1;
    for (double i = first; i <= last; i++) {
        if (n < room)
            ticks[n] = i == 0 ? 0 : i * step; /* no -0 */
        n++;
    }
    return n;
}

/* 4 to most of them. The first list holds the steps that people like best. Together they always give 4 to
 * 6. */
static int find_ticks(double lo, double hi, bool whole, int most, double ticks[8], double *step)
{
    static const double liked[] = {1, 2, 5}, good[] = {2.5}, fair[] = {1.5, 3, 4, 6},
                        last[] = {7.5, 8};
    static const struct {
        const double *steps;
        int count;
    } lists[] = {{liked, 3}, {good, 1}, {fair, 4}, {last, 2}};
    double length = hi - lo, power = pow(10, floor(log10(length)) - 1);

    for (int list = 0; list < 4; list++) {
        for (int decade = 0; decade < 3; decade++) {
            for (int i = lists[list].count - 1; i >= 0; i--) {
                double s = lists[list].steps[i] * power * (decade == 0 ? 10 : decade == 1 ? 1 : .1);
                int n;

                if (whole && s != floor(s))
                    continue;
                n = plot_multiples(lo, hi, s, ticks, 8);
                if (n >= 4 && n <= most) {
                    *step = s;
                    return n;
                }
            }
        }
    }
    return 0;
}

static int any_ticks(double lo, double hi, int most, double ticks[8], double *step)
{
    *step = 0;
    if (!isfinite(lo) || !isfinite(hi) || lo > hi || fabs(lo) > PLOT_LARGEST ||
        fabs(hi) > PLOT_LARGEST)
        return 0;
    /* So near to each other that ticks between them could not be told apart. */
    if (hi - lo <= 1e-12 * fmax(fabs(lo), fabs(hi)) || hi - lo < 1e-290) {
        ticks[0] = lo;
        return 1;
    }
    return find_ticks(lo, hi, false, most, ticks, step);
}

int plot_ticks(double lo, double hi, double ticks[8], double *step)
{
    return any_ticks(lo, hi, 6, ticks, step);
}

static int whole_ticks(double lo, double hi, int most, double ticks[8], double *step)
{
    int n = find_ticks(lo, hi, true, most, ticks, step);

    if (n)
        return n;
    *step = 1;
    n = plot_multiples(lo, hi, 1, ticks, 8);
    return n <= most ? n : any_ticks(lo, hi, most, ticks, step);
}

/* Of what has parts halves and quarters too, where whole numbers are fewer than four. */
static int part_ticks(double lo, double hi, int most, double ticks[8], double *step)
{
    int n = find_ticks(lo, hi, true, most, ticks, step);

    for (double part = 1; part >= 0.25 && !n; part /= 2) {
        *step = part;
        n = plot_multiples(lo, hi, part, ticks, 8);
        n = n >= 4 && n <= most ? n : 0;
    }
    return n ? n : any_ticks(lo, hi, most, ticks, step);
}

/* Steps of clocks and calendars. The second list helps where none of the first gives 4 to 6. */
static int time_ticks(double lo, double hi, int most, double ticks[8], double *step)
{
    enum { MIN = 60, H = 3600, D = 86400 };
    static const int liked[] = {1,        2,        5,       10,      15,       20,
                                30,       MIN,      2 * MIN, 5 * MIN, 10 * MIN, 15 * MIN,
                                20 * MIN, 30 * MIN, H,       2 * H,   3 * H,    6 * H,
                                12 * H,   D,        2 * D,   5 * D,   10 * D};
    static const int others[] = {
        3,        4,        6,        8,        12,       25,      40,      45,
        50,       90,       3 * MIN,  4 * MIN,  6 * MIN,  7 * MIN, 8 * MIN, 12 * MIN,
        25 * MIN, 40 * MIN, 45 * MIN, 50 * MIN, 90 * MIN, 4 * H,   5 * H,   8 * H,
        9 * H,    15 * H,   18 * H,   36 * H,   3 * D,    4 * D,   6 * D,   7 * D};
    const int *const lists[2] = {liked, others};
    const size_t counts[2] = {MEM_COUNT(liked), MEM_COUNT(others)};

    for (int list = 0; list < 2; list++) {
        for (size_t i = counts[list]; i-- > 0;) {
            int n = plot_multiples(lo, hi, lists[list][i], ticks, 8);

            *step = lists[list][i];
            if (n >= 4 && n <= most)
                return n;
        }
    }
    if (hi - lo > 3 * 10 * D && hi < 1e15) {
        int n = find_ticks(lo / D, hi / D, true, most, ticks, step);

        *step *= D;
        for (int i = 0; i < n; i++)
            ticks[i] *= D;
        if (n)
            return n;
    }
    return any_ticks(lo, hi, most, ticks, step); /* parts of seconds */
}

void plot_label_axis(struct plot_axis *a, enum plot_count count, enum plot_unit unit, int most)
{
    a->step = 0;
    if (a->log)
        plot_log_ticks(a);
    else if (unit == PLOT_TIME)
        a->ticks = time_ticks(a->lo, a->hi, most, a->tick, &a->step);
    else
        a->ticks = (count == PLOT_WHOLE   ? whole_ticks
                    : count == PLOT_PARTS ? part_ticks
                                          : any_ticks)(a->lo, a->hi, most, a->tick, &a->step);
    plot_label(a, unit);
}

/* ---- of a logarithmic axis: 1, 2 and 5 of each decade, every second of these, whole decades; and where a
 * range has too few of all of them, multiples of a round step ---- */

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
