/* ui/plot_axis.c: ranges, round ticks, their labels, thinning. */
#include "ui/plot_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
    static const double liked[] = {1, 2, 5}, good[] = {2.5}, others[] = {1.5, 3, 4, 6, 7.5, 8};
    static const struct {
        const double *steps;
        int count;
    } lists[] = {{liked, 3}, {good, 1}, {others, 6}};
    double length = hi - lo, power = pow(10, floor(log10(length)) - 1);

    for (int list = 0; list < 3; list++) {
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

/* mantissas of each decade, or one power of every `every` decades */
static int log_series(double lo, double hi, const double *mantissa, int count, int every,
                      double ticks[8])
{
    int n = 0;

    for (int e = (int)floor(log10(lo)); e <= (int)ceil(log10(hi)); e++) {
        if (e % every)
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

static int log_ticks(double lo, double hi, double ticks[8], double *step)
{
    static const double m1[] = {1}, m13[] = {1, 3}, m125[] = {1, 2, 5};
    int n;

    *step = 0;
    for (int every = 1; every < 200; every++) {
        n = log_series(lo, hi, m1, 1, every, ticks);
        if (n >= 4 && n <= 6)
            return n;
        if (n < 4)
            break;
    }
    n = log_series(lo, hi, m13, 2, 1, ticks);
    if (n >= 4 && n <= 6)
        return n;
    n = log_series(lo, hi, m125, 3, 1, ticks);
    if (n >= 4 && n <= 6)
        return n;
    return plot_ticks(lo, hi, ticks, step);
}

/* One label by itself: few digits, thousands as k, M, G. */
static void label_alone(double v, char out[PLOT_LABEL])
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};

    if (fabs(v) >= 10000 && fabs(v) < 1e12) {
        for (int i = 0; i < 3; i++) {
            if (fabs(v) >= units[i].unit) {
                snprintf(out, PLOT_LABEL, "%.6g%s", v / units[i].unit, units[i].name);
                return;
            }
        }
    }
    snprintf(out, PLOT_LABEL, "%.6g", v);
}

/* All labels of an axis with as many digits behind the point as its step needs. */
static void label_ticks(struct plot_axis *a, double step)
{
    double largest = 0;
    int digits = 0;

    for (int i = 0; i < a->ticks; i++)
        largest = fmax(largest, fabs(a->tick[i]));
    while (step > 0 && digits < 7 &&
           fabs(step * pow(10, digits) - round(step * pow(10, digits))) >
               1e-6 * pow(10, digits) * step)
        digits++;
    for (int i = 0; i < a->ticks; i++) {
        if (step > 0 && digits < 7 && largest < 10000)
            snprintf(a->label[i], PLOT_LABEL, "%.*f", digits, a->tick[i]);
        else
            label_alone(a->tick[i], a->label[i]);
    }
}

static bool drawable(double v, bool log)
{
    return isfinite(v) && fabs(v) <= PLOT_LARGEST && !(log && v <= 0);
}

double plot_place(const struct plot_axis *a, double v)
{
    if (!drawable(v, a->log))
        return NAN;
    if (a->log)
        return (log10(v) - log10(a->lo)) / (log10(a->hi) - log10(a->lo));
    return (v - a->lo) / (a->hi - a->lo);
}

static void widen_constant(struct plot_axis *a)
{
    double pad = fabs(a->lo) > 1e-280 ? fabs(a->lo) * 0.1 : 1;

    if (a->hi - a->lo > 1e-9 * fmax(fabs(a->lo), fabs(a->hi)))
        return;
    if (a->log) {
        a->lo /= 2;
        a->hi *= 2;
    } else {
        a->lo -= pad;
        a->hi += pad;
    }
}

bool plot_axes(const struct plot *p, struct plot_axis *x, struct plot_axis *y)
{
    bool any = false;
    double step;

    *x = (struct plot_axis){.lo = INFINITY, .hi = -INFINITY};
    *y = (struct plot_axis){.lo = INFINITY, .hi = -INFINITY, .log = p->log_y};
    for (int i = 0; i < p->count; i++) {
        const struct plot_series *s = &p->series[i];

        for (size_t j = 0; j < s->n; j++) {
            if (!drawable(s->x[j], false) || !drawable(s->y[j], p->log_y))
                continue;
            any = true;
            x->lo = fmin(x->lo, s->x[j]);
            x->hi = fmax(x->hi, s->x[j]);
            y->lo = fmin(y->lo, s->y[j]);
            y->hi = fmax(y->hi, s->y[j]);
        }
    }
    for (int i = 0; i < p->bands; i++) {
        for (size_t j = 0; j < p->band[i].n; j++) {
            const double edge[2] = {p->band[i].lo[j], p->band[i].hi[j]};

            for (int k = 0; k < 2 && drawable(p->band[i].x[j], false); k++) {
                y->lo = drawable(edge[k], p->log_y) ? fmin(y->lo, edge[k]) : y->lo;
                y->hi = drawable(edge[k], p->log_y) ? fmax(y->hi, edge[k]) : y->hi;
            }
        }
    }
    if (!any)
        return false;
    /* Progress is counted from nothing; a loss that comes near to zero is read against zero. */
    if (x->lo > 0 && x->lo <= 0.5 * x->hi)
        x->lo = 0;
    if (!y->log && y->lo > 0 && y->lo <= 0.25 * y->hi)
        y->lo = 0;
    if (p->whole_x && x->lo == x->hi && x->lo > 0)
        x->lo = 0;
    widen_constant(x);
    widen_constant(y);
    x->ticks = p->whole_x ? whole_ticks(x->lo, x->hi, x->tick, &step)
                          : plot_ticks(x->lo, x->hi, x->tick, &step);
    label_ticks(x, step);
    y->ticks =
        y->log ? log_ticks(y->lo, y->hi, y->tick, &step) : plot_ticks(y->lo, y->hi, y->tick, &step);
    label_ticks(y, step);
    return true;
}

struct plot_point *plot_thin(const struct plot_series *s, const struct plot_axis *x,
                             const struct plot_axis *y, int columns, size_t *count)
{
    struct plot_point *out = NULL;
    size_t room = 0, n = 0;
    bool gap = true;

    for (size_t i = 0; i < s->n;) {
        double px = plot_place(x, s->x[i]), py = plot_place(y, s->y[i]);
        size_t pick[4] = {i, i, i, i}, last = i; /* first, smallest, largest, last */
        int column;

        if (isnan(px) || isnan(py)) {
            gap = true;
            i++;
            continue;
        }
        column = (int)(px * columns);
        while (last + 1 < s->n) {
            double qx = plot_place(x, s->x[last + 1]), qy = plot_place(y, s->y[last + 1]);

            if (isnan(qx) || isnan(qy) || (int)(qx * columns) != column)
                break;
            last++;
            if (s->y[last] < s->y[pick[1]])
                pick[1] = last;
            if (s->y[last] > s->y[pick[2]])
                pick[2] = last;
        }
        pick[3] = last;
        if (pick[1] > pick[2]) {
            size_t swap = pick[1];

            pick[1] = pick[2];
            pick[2] = swap;
        }
        for (int k = 0; k < 4; k++) {
            if (k && pick[k] == pick[k - 1])
                continue;
            out = mem_grow(out, &room, n + 1, sizeof *out);
            out[n++] = (struct plot_point){plot_place(x, s->x[pick[k]]),
                                           plot_place(y, s->y[pick[k]]), gap};
            gap = false;
        }
        i = last + 1;
    }
    *count = n;
    return out;
}
