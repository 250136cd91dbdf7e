/* draw/plot_ticks.c: round ticks and their labels: numbers, powers, times. */
#include "draw/plot_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Multiples of step within lo..hi, at most room. */
static int tick_multiples(double lo, double hi, double step, double *ticks, int room)
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

/* The first list holds the steps that people like best. Together they always give 4 to 6. */
static int find_ticks(double lo, double hi, bool whole, double ticks[8], double *step)
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
                n = tick_multiples(lo, hi, s, ticks, 8);
                if (n >= 4 && n <= 6) {
                    *step = s;
                    return n;
                }
            }
        }
    }
    return 0;
}

int plot_ticks(double lo, double hi, double ticks[8], double *step)
{
    int n;

    *step = 0;
    if (!isfinite(lo) || !isfinite(hi) || lo > hi || fabs(lo) > PLOT_LARGEST ||
        fabs(hi) > PLOT_LARGEST)
        return 0;
    /* So near to each other that ticks between them could not be told apart. */
    if (hi - lo <= 1e-12 * fmax(fabs(lo), fabs(hi)) || hi - lo < 1e-290) {
        ticks[0] = lo;
        return 1;
    }
    n = find_ticks(lo, hi, false, ticks, step);
    return n;
}

static int whole_ticks(double lo, double hi, double ticks[8], double *step)
{
    int n = find_ticks(lo, hi, true, ticks, step);

    if (n)
        return n;
    *step = 1;
    n = tick_multiples(lo, hi, 1, ticks, 8);
    return n <= 6 ? n : plot_ticks(lo, hi, ticks, step);
}

/* Of what has parts halves and quarters too, where whole numbers are fewer than four. */
static int part_ticks(double lo, double hi, double ticks[8], double *step)
{
    int n = find_ticks(lo, hi, true, ticks, step);

    for (double part = 1; part >= 0.25 && !n; part /= 2) {
        *step = part;
        n = tick_multiples(lo, hi, part, ticks, 8);
        n = n >= 4 && n <= 6 ? n : 0;
    }
    return n ? n : plot_ticks(lo, hi, ticks, step);
}

/* mantissas of each decade, or one power of every `every` decades, from the phase-th on */
static int log_series(double lo, double hi, const double *mantissa, int count, int every, int phase,
                      double ticks[8])
{
    int n = 0;

    for (int e = (int)floor(log10(lo)); e <= (int)ceil(log10(hi)); e++) {
        if ((e - phase) % every)
            continue;
        for (int i = 0; i < count; i++) {
            double t = mantissa[i] * pow(10, e);

            if (t < lo * (1 - 1e-9) || t > hi * (1 + 1e-9))
                continue;
            if (n < 8)
                ticks[n] = t;
            n++;
        }
    }
    return n;
}

/* How far apart the two nearest to each other are, as a part of the axis; 0 where there are too few or
 * too many, or where they leave half of it without one. */
static double log_gap(double lo, double hi, const double *ticks, int n)
{
    double length = log10(hi / lo), least = INFINITY;

    if (n < 4 || n > 6 || !(length > 0) || log10(ticks[n - 1] / ticks[0]) < 0.5 * length)
        return 0;
    for (int i = 1; i < n; i++)
        least = fmin(least, log10(ticks[i] / ticks[i - 1]) / length);
    return least;
}

static const struct {
    int count;
    double mantissa[6];
} log_lists[] = {{2, {1, 3}},       {3, {1, 2, 5}},
                 {2, {1, 5}},       {1, {3}},
                 {1, {2}},          {1, {5}},
                 {2, {2, 5}},       {4, {1, 2, 3, 5}},
                 {3, {1, 2, 4}},    {6, {1, 1.5, 2, 3, 5, 7}},
                 {4, {1, 2, 4, 7}}, {3, {1.5, 3, 7}}};

/* Powers of ten alone, as close as 4 to 6 of them are; 0: there are too few. */
static int log_powers(double lo, double hi, double ticks[8])
{
    static const double one = 1;
    int most = 8;

    for (int every = 1; every < 200 && most >= 4; every++) {
        most = 0;
        for (int phase = 0; phase < every; phase++) {
            int n = log_series(lo, hi, &one, 1, every, phase, ticks);

            if (n >= 4 && n <= 6)
                return n;
            most = n > most ? n : most;
        }
    }
    return 0;
}

/* The first list of which low plots can show all; else the one whose ticks are least crowded. */
static int log_ticks(double lo, double hi, double ticks[8], double *step)
{
    double best = 0;
    int n, chosen = -1;

    *step = 0;
    n = log_powers(lo, hi, ticks);
    if (n)
        return n;
    for (size_t i = 0; i < MEM_COUNT(log_lists) && best < 0.12; i++) {
        double gap;

        n = log_series(lo, hi, log_lists[i].mantissa, log_lists[i].count, 1, 0, ticks);
        gap = log_gap(lo, hi, ticks, n);
        if (gap > best) {
            best = gap;
            chosen = (int)i;
        }
    }
    n = plot_ticks(lo, hi, ticks, step);
    if (chosen < 0 || (best < 0.12 && log_gap(lo, hi, ticks, n) >= best))
        return n;
    *step = 0;
    return log_series(lo, hi, log_lists[chosen].mantissa, log_lists[chosen].count, 1, 0, ticks);
}

/* Steps of clocks and calendars. The second list helps where none of the first gives 4 to 6. */
static int time_ticks(double lo, double hi, double ticks[8], double *step)
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
            int n = tick_multiples(lo, hi, lists[list][i], ticks, 8);

            *step = lists[list][i];
            if (n >= 4 && n <= 6)
                return n;
        }
    }
    return plot_ticks(lo, hi, ticks, step); /* parts of seconds, months */
}

/* Digits behind the point that multiples of step need, at most 7. */
static int digits_of(double step)
{
    int digits = 0;

    while (digits < 7 && fabs(step * pow(10, digits) - round(step * pow(10, digits))) >
                             1e-6 * pow(10, digits) * step)
        digits++;
    return digits;
}

static const struct unit {
    double size;
    const char *name;
} units[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};

static const struct unit *unit_of(double largest)
{
    int i = 0;

    if (largest < 10000 || largest >= 1e12)
        return &units[3];
    while (largest < units[i].size)
        i++;
    return &units[i];
}

static double label_unit(const struct plot_axis *a)
{
    return a->per_cent ? 100 : 1;
}

/* Of what labels say. */
static double largest_of(const struct plot_axis *a)
{
    return a->ticks ? label_unit(a) * fmax(fabs(a->tick[0]), fabs(a->tick[a->ticks - 1])) : 0;
}

/* All labels with as many digits as their step (in the axis' unit) needs, in one unit: 0, 0.5M, 1.0M. */
static void label_numbers(struct plot_axis *a, double step)
{
    double largest = largest_of(a);
    const struct unit *unit = unit_of(largest);
    int digits = digits_of(step / unit->size);

    if (digits > 3 && unit->size > 1) { /* so near to each other that a unit hides nothing */
        unit = &units[3];
        digits = digits_of(step);
    }
    for (int i = 0; i < a->ticks; i++) {
        double v = label_unit(a) * a->tick[i] / unit->size;

        if (step > 0 && digits < 7 && largest < 1e12)
            snprintf(a->label[i], PLOT_LABEL, "%.*f%s", v == 0 && unit->size > 1 ? 0 : digits, v,
                     v == 0 ? "" : unit->name);
        else
            snprintf(a->label[i], PLOT_LABEL, "%.6g%s", v, unit->name);
    }
}

/* 90 as 1:30, 5400 as 1:30 h. unit: the largest that all labels of an axis are made of. */
static void label_time(double seconds, double step, double largest, char out[PLOT_LABEL])
{
    const char *sign = seconds < 0 ? "-" : "";
    double v = fabs(seconds), whole = floor(v + 1e-6 * step);

    if (v == 0)
        snprintf(out, PLOT_LABEL, "0");
    else if (!(step > 0) || largest >= 1e9)
        snprintf(out, PLOT_LABEL, "%s%.6g s", sign, v);
    else if (step < 1)
        snprintf(out, PLOT_LABEL, "%s%.*f s", sign, digits_of(step), v);
    else if (largest <= 90)
        snprintf(out, PLOT_LABEL, "%s%.0f s", sign, whole);
    else if (fmod(step, 86400) == 0 && largest >= 2 * 86400)
        snprintf(out, PLOT_LABEL, "%s%.0f d", sign, whole / 86400);
    else if (fmod(step, 3600) == 0)
        snprintf(out, PLOT_LABEL, "%s%.0f h", sign, whole / 3600);
    else if (fmod(step, 60) == 0 && largest < 7200)
        snprintf(out, PLOT_LABEL, "%s%.0f min", sign, whole / 60);
    else if (largest < 3600)
        snprintf(out, PLOT_LABEL, "%s%.0f:%02.0f", sign, floor(whole / 60), fmod(whole, 60));
    else if (fmod(step, 60) == 0)
        snprintf(out, PLOT_LABEL, "%s%.0f:%02.0f h", sign, floor(whole / 3600),
                 floor(fmod(whole, 3600) / 60));
    else
        snprintf(out, PLOT_LABEL, "%s%.0f:%02.0f:%02.0f", sign, floor(whole / 3600),
                 floor(fmod(whole, 3600) / 60), fmod(whole, 60));
}

/* Powers: each in its own unit, or none where the largest has none. */
static void label_powers(struct plot_axis *a)
{
    const struct unit *plain = unit_of(1);

    for (int i = 0; i < a->ticks; i++) {
        double v = label_unit(a) * a->tick[i];
        const struct unit *own = largest_of(a) >= 1e12 ? plain : unit_of(fabs(v));

        snprintf(a->label[i], PLOT_LABEL, "%.6g%s", v / own->size, own->name);
    }
}

void plot_label_axis(struct plot_axis *a, enum plot_count count, enum plot_unit unit)
{
    double step = 0;

    if (a->log)
        a->ticks = log_ticks(a->lo, a->hi, a->tick, &step);
    else if (unit == PLOT_TIME)
        a->ticks = time_ticks(a->lo, a->hi, a->tick, &step);
    else
        a->ticks = (count == PLOT_WHOLE   ? whole_ticks
                    : count == PLOT_PARTS ? part_ticks
                                          : plot_ticks)(a->lo, a->hi, a->tick, &step);
    a->step = step;
    if (unit == PLOT_TIME)
        for (int i = 0; i < a->ticks; i++)
            label_time(a->tick[i], step, largest_of(a), a->label[i]);
    else if (step > 0)
        label_numbers(a, label_unit(a) * step);
    else
        label_powers(a);
}

bool plot_tick_within(struct plot_axis *a)
{
    a->ticks = tick_multiples(a->lo, a->hi, a->step, a->tick, PLOT_TICKS);
    return a->ticks <= PLOT_TICKS;
}

void plot_label_numbers(struct plot_axis *a)
{
    label_numbers(a, label_unit(a) * a->step);
}

int plot_label_step(struct plot_axis *a, int index)
{
    /* the rounder the earlier: see plot_label_round */
    static const double steps[] = {5,   2,   1,    0.5, 0.2,  0.1,  2.5,  0.25, 4,
                                   3,   1.5, 0.4,  0.3, 0.15, 0.6,  1.25, 0.75, 0.125,
                                   0.8, 1.2, 0.12, 1.6, 0.16, 0.35, 0.7,  0.45, 0.9};
    int lists = a->log ? (int)MEM_COUNT(log_lists) : 0, n;
    double ticks[8];

    if (index < lists) {
        n = log_series(a->lo, a->hi, log_lists[index].mantissa, log_lists[index].count, 1, 0,
                       ticks);
        a->step = 0;
    } else if (index - lists < (int)MEM_COUNT(steps)) {
        a->step = steps[index - lists] * pow(10, floor(log10(a->hi - a->lo)));
        n = tick_multiples(a->lo, a->hi, a->step, ticks, 8);
    } else {
        return -1;
    }
    a->ticks = n < PLOT_TICKS ? n : PLOT_TICKS;
    memcpy(a->tick, ticks, (size_t)a->ticks * sizeof *ticks);
    if (a->step > 0)
        label_numbers(a, label_unit(a) * a->step);
    else
        label_powers(a);
    return n;
}

int plot_label_round(const struct plot_axis *a, int index)
{
    index -= a->log ? (int)MEM_COUNT(log_lists) : 0;
    return index < 8 ? 4 : index < 14 ? 3 : index < 15 ? 2 : index < 19 ? 1 : 0;
}

void plot_label_again(struct plot_axis *a)
{
    double step = label_unit(a) * a->step;
    int digits = 0, need = step > 0 ? digits_of(step) : 0;

    if (!need)
        return;
    for (int i = 0; i < a->ticks; i++) {
        double v = label_unit(a) * a->tick[i];

        while (digits < need && fabs(v * pow(10, digits) - round(v * pow(10, digits))) >
                                    1e-6 * pow(10, digits) * step)
            digits++;
    }
    label_numbers(a, pow(10, -digits));
}

void plot_number(double v, bool per_cent, char out[PLOT_LABEL])
{
    const struct unit *unit = unit_of(fabs(v));
    double size = fabs(v) / unit->size;
    int digits = size > 0 ? 3 - (int)floor(log10(size)) : 0;

    if (!isfinite(v))
        snprintf(out, PLOT_LABEL, "-");
    else if (per_cent)
        snprintf(out, PLOT_LABEL, "%.2f", 100 * v);
    else if (size > 0 && (size < 1e-3 || size >= 10000))
        snprintf(out, PLOT_LABEL, "%.2e", v);
    else
        snprintf(out, PLOT_LABEL, "%.*f%s",
                 digits < 0   ? 0
                 : digits > 4 ? 4
                              : digits,
                 v / unit->size, unit->name);
}

void plot_x_text(const struct plot *p, double x, char out[PLOT_LABEL])
{
    char number[TEXT_NUMBER_ROOM];
    double step = x != 0 && fabs(x) < 10 ? pow(10, floor(log10(fabs(x))) - 2) : 1;

    if (p->x_unit == PLOT_TIME)
        label_time(round(x / step) * step, step, fabs(x), out);
    else if (p->whole_x && (x == floor(x) || fabs(x) >= 1000) && fabs(x) < 1e15)
        snprintf(out, PLOT_LABEL, "%s%s", x < 0 ? "-" : "",
                 text_count(number, (uint64_t)(fabs(x) + 0.5)));
    else
        snprintf(out, PLOT_LABEL, "%.5g", x);
}
