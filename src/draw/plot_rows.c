/* draw/plot_rows.c: ticks of y on their rows. The range is stretched until multiples of a round step fall
 * on rows at equal distances; where that would leave much of the frame empty, distances differ by a row.
 * Powers stand where they stand. */
#include "draw/plot_int.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

/* The least and the largest distance of ticks, in rows; false: two are in one. */
static bool measure(const struct plot_canvas *c, const struct plot_axis *y, int *least, int *most)
{
    int last = 0;

    *least = c->height;
    *most = 0;
    for (int i = 0; i < y->ticks; i++) {
        int row = plot_row(c, plot_place(y, y->tick[i])), distance = last - row;

        last = row;
        if (i == 0)
            continue;
        *least = distance < *least ? distance : *least;
        *most = distance > *most ? distance : *most;
    }
    return *least > 0;
}

/* ---- round steps ---- */

/* The part of the frame that curves lose, and the part of a distance by which others differ, half of
 * it; one for each tick that lacks of four. */
static double cost_of(const struct plot_canvas *c, const struct plot_axis *seen,
                      const struct plot_axis *y)
{
    int least, most;

    if (y->ticks < 1 || y->ticks > 6 || !measure(c, y, &least, &most))
        return INFINITY;
    return 1 - seen->length / y->length +
           (most > least ? (most - least) / (double)(most + least) : 0) +
           (y->ticks < 4 ? 4 - y->ticks : 0);
}

/* So much longer, and of that a part below. Zero at the bottom stays there, and no axis of parts of one
 * goes beyond them. */
static void stretch(const struct plot_axis *seen, double longer, double below, struct plot_axis *y)
{
    bool part = seen->lo >= 0 && seen->hi <= 1;

    y->length = fmin(seen->length * (1 + longer), part ? 1 : INFINITY);
    y->lo = seen->lo - seen->length * longer * below;
    if (part && y->lo > 1 - y->length)
        y->lo = 1 - y->length;
    if (seen->lo >= 0 && y->lo < 0)
        y->lo = 0;
    y->from = y->lo;
    y->hi = y->lo + y->length;
}

/* false: none of them has ticks that can be told apart. */
static bool choose_round(const struct plot_canvas *c, struct plot_axis *y)
{
    static const double steps[] = {1, 2, 2.5, 5, 10, 20, 25, 50};
    const struct plot_axis seen = *y;
    struct plot_axis one = *y;
    double cost = INFINITY, power = pow(10, floor(log10(y->length)) - 1);

    if (!(y->step > 0))
        return false;
    for (double longer = 0; longer <= 0.6 && 1 - 1 / (1 + longer) < cost; longer += 0.01)
        for (size_t i = 0; i < MEM_COUNT(steps); i++)
            for (int below = 0; below <= (longer > 0 && seen.lo != 0 ? 8 : 0); below++) {
                double now;

                one.step = steps[i] * power;
                stretch(&seen, longer, below / 8.0, &one);
                if (!plot_tick_within(&one))
                    continue;
                now = cost_of(c, &seen, &one);
                if (now < cost - 1e-6) {
                    cost = now;
                    *y = one;
                }
            }
    if (isfinite(cost))
        plot_label_numbers(y);
    return isfinite(cost);
}

/* ---- powers ---- */

/* Those that have a row of their own, of several in one row the highest; how many they are. */
static int choose_some(const struct plot_canvas *c, struct plot_axis *y)
{
    int n = 0, ticks = y->ticks;

    for (int i = 0; i < ticks; i++) {
        if (i + 1 < ticks &&
            plot_row(c, plot_place(y, y->tick[i + 1])) == plot_row(c, plot_place(y, y->tick[i])))
            continue;
        y->tick[n] = y->tick[i];
        memmove(y->label[n++], y->label[i], PLOT_LABEL);
    }
    y->ticks = n;
    if (n < ticks)
        plot_label_again(y);
    return n;
}

/* How well powers fit into rows; 0: not four to six of them, or two in one row. */
static int fitness(const struct plot_canvas *c, const struct plot_axis *y)
{
    int least, most;

    if (y->ticks < 4 || y->ticks > 6 || !measure(c, y, &least, &most))
        return 0;
    return 3 + (least > 1 ? 2 : 0) + (least == most);
}

/* A frame that has room for four shall have them, though of a less common step. round: at least so. */
static bool choose_four(const struct plot_canvas *c, struct plot_axis *y, int round)
{
    struct plot_axis best = *y, one = *y;
    int most = fitness(c, y) ? fitness(c, y) + 3 : 0;

    for (int k = 0, n; (n = plot_label_step(&one, k)) >= 0; k++) {
        int fits = n >= 4 && n <= 6 && plot_label_round(&one, k) >= round ? fitness(c, &one) : 0;

        fits += fits ? plot_label_round(&one, k) : 0;
        if (fits <= most)
            continue;
        most = fits;
        best = one;
    }
    if (most)
        *y = best;
    return most > 0;
}

void plot_choose_rows(const struct plot_canvas *c, struct plot_view *v)
{
    struct plot_axis *y = &v->y, whole = *y;

    if (y->log || !choose_round(c, y)) {
        int kept = choose_some(c, y);

        /* with one left out of their midst they would be read wrongly */
        if ((kept < 4 || kept < whole.ticks) && c->height >= PLOT_FOUR_ROWS &&
            choose_four(c, &whole, kept < 4 ? 0 : 2))
            *y = whole;
        return;
    }
    for (int i = 0; i < v->curves; i++)
        for (size_t k = 0; k < v->curve[i].n; k++) {
            double *place = &v->curve[i].point[k].y;

            *place = (*place * whole.length + whole.from - y->from) / y->length;
        }
}
