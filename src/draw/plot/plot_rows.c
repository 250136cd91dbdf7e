/* draw/plot/plot_rows.c: ticks of y on their rows. The range is stretched until round ticks fall on rows at
 * equal distances; where that would leave much of the frame empty, distances differ. */
#include "draw/plot/plot_int.h"

#include "base/mem.h"

#include <math.h>

/* The least and the largest distance of ticks, in rows; false: two are in one. */
static bool measure(const struct plot_canvas *c, const double *place, int ticks, int *least,
                    int *most)
{
    int last = 0;

    *least = c->height;
    *most = 0;
    for (int i = 0; i < ticks; i++) {
        int row = plot_row(c, place[i]), distance = last - row;

        last = row;
        if (i == 0)
            continue;
        *least = distance < *least ? distance : *least;
        *most = distance > *most ? distance : *most;
    }
    return *least > 0;
}

static double uneven(double least, double most)
{
    return most > least ? (most - least) / (most + least) : 0;
}

/* The same of their logarithms, which rows do not show where they are few; 1 more where half of the frame
 * has none. */
static double uneven_powers(const double *place, int ticks)
{
    double least = INFINITY, most = 0;

    for (int i = 1; i < ticks; i++) {
        double distance = place[i] - place[i - 1];

        least = fmin(least, distance);
        most = fmax(most, distance);
    }
    return uneven(least, most) + (place[ticks - 1] - place[0] < 0.5);
}

/* The part of the frame that curves lose, and the part of a distance by which others differ, half of
 * it; one for each tick that lacks of four. Powers are less bound to rows. INFINITY, too, where it would
 * not be below limit: most are not, and places cost a logarithm each. */
static double cost_of(const struct plot_canvas *c, const struct plot_axis *seen,
                      const struct plot_axis *y, double limit)
{
    double place[PLOT_TICKS], lost = 1 - seen->length / y->length;
    int least, most, lacking = y->ticks < 4 ? 4 - y->ticks : 0;

    if (y->ticks < 1 || y->ticks > 6 || lost + lacking >= limit)
        return INFINITY;
    for (int i = 0; i < y->ticks; i++)
        place[i] = plot_place(y, y->tick[i]);
    if (!measure(c, place, y->ticks, &least, &most))
        return INFINITY;
    return lost + (y->log ? 0.2 : 1) * uneven(least, most) +
           (y->log ? uneven_powers(place, y->ticks) : 0) + lacking;
}

/* So much longer, and of that a part below. Zero at the bottom stays there, and no axis of parts of one
 * goes beyond them. */
static void stretch(const struct plot_axis *seen, double longer, double below, struct plot_axis *y)
{
    bool part = seen->lo >= 0 && seen->hi <= 1;
    double bottom = seen->log || seen->lo < 0 ? -INFINITY : 0;
    double top = !part ? INFINITY : seen->log ? 0 : 1;

    *y = *seen;
    if (longer == 0)
        return;
    y->length = fmin(seen->length * (1 + longer), top - bottom);
    y->from = fmax(fmin(seen->from - seen->length * longer * below, top - y->length), bottom);
    y->lo = y->log ? pow(10, y->from) : y->from;
    y->hi = y->log ? pow(10, y->from + y->length) : y->from + y->length;
}

/* The index-th way of ticks in its range; power: of ten, to which steps belong. */
static bool tick(struct plot_axis *y, double power, int index)
{
    static const double steps[] = {1, 2, 2.5, 5, 10, 20, 25, 50};

    if (y->log)
        return plot_log_row(y, index);
    if (index >= (int)MEM_COUNT(steps))
        return false;
    y->step = steps[index] * power;
    y->ticks = plot_multiples(y->lo, y->hi, y->step, y->tick, PLOT_TICKS);
    return true;
}

/* false: none of them has ticks that can be told apart. */
static bool choose(const struct plot_canvas *c, struct plot_axis *y)
{
    const struct plot_axis seen = *y;
    struct plot_axis range[9];
    double cost = INFINITY, power = pow(10, floor(log10(y->length)) - 1);

    for (double longer = 0; longer <= 0.66 && 1 - 1 / (1 + longer) < cost; longer += 0.01) {
        int ranges = longer > 0 && seen.lo != 0 ? (int)MEM_COUNT(range) : 1;
        bool more = true;

        for (int below = 0; below < ranges; below++)
            stretch(&seen, longer, below / 8.0, &range[below]);
        for (int i = 0; more; i++)
            for (int below = 0; below < ranges && more; below++) {
                struct plot_axis *one = &range[below];
                double now;

                more = tick(one, power, i);
                now = more ? cost_of(c, &seen, one, cost - 1e-6) : INFINITY;
                if (now < cost - 1e-6) {
                    cost = now;
                    *y = *one;
                }
            }
    }
    return isfinite(cost);
}

void plot_choose_rows(const struct plot_canvas *c, struct plot_view *v)
{
    struct plot_axis *y = &v->y, whole = *y;

    if (!y->log && !(y->step > 0)) /* a single value */
        return;
    if (!choose(c, y)) {
        y->ticks = y->ticks > 0;
        return;
    }
    plot_label(y, PLOT_NUMBER);
    for (int i = 0; i < v->curves; i++)
        for (size_t k = 0; k < v->curve[i].n; k++) {
            double *place = &v->curve[i].point[k].y;

            *place = (*place * whole.length + whole.from - y->from) / y->length;
        }
}
