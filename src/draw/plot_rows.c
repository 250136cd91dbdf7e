/* draw/plot_rows.c: ticks of y on their rows. At unequal distances they would read as another scale, so
 * the range is stretched until a step is a whole number of rows; of the steps that people read well that
 * one is taken which costs the curves least. Powers stand where they stand. */
#include "draw/plot_int.h"

#include <math.h>
#include <string.h>

#define EVEN 1e-6 /* of a row */

/* Dots between the least and the largest place. */
static double dots_of(const struct plot_canvas *c)
{
    return c->down * c->height - 1;
}

/* Where the range may lie that is longer now: so that what must be seen is in its middle, at its bottom,
 * at its top. */
enum place { IN_MIDDLE, AT_BOTTOM, AT_TOP, PLACES };

/* The axis as its ticks want it: a step is as many rows as it has room for, and the first tick lies on a
 * dot where it can. Zero at the bottom stays there. false: they have no room. */
static bool stretch(const struct plot_canvas *c, const struct plot_axis *from, enum place place,
                    struct plot_axis *to)
{
    double dots = dots_of(c), rows = floor(from->step / from->length * dots / c->down + EVEN);
    double length = fmax(from->step * dots / (c->down * rows), from->length);
    double least = (from->tick[0] - from->lo) * dots / length; /* of the first tick, in dots */
    double most = (from->tick[0] - from->hi + length) * dots / length, at;

    if (from->ticks < 1 || rows < 1 || !isfinite(length))
        return false;
    if (from->lo >= 0)
        most = fmin(most, from->tick[0] * dots / length);
    at = place == IN_MIDDLE ? floor((least + most) / 2 + 0.5) : place == AT_BOTTOM ? least : most;
    at = fmin(fmax(at, least), most);
    *to = *from;
    to->lo = to->from = from->lo == 0 ? 0 : from->tick[0] - at * length / dots;
    to->length = length;
    to->hi = to->lo + length;
    return plot_label_within(to);
}

/* How many there are at least, where there is room. */
static int least_ticks(const struct plot_canvas *c)
{
    return c->height >= PLOT_FOUR_ROWS ? 4 : c->height > 1 ? 2 : 1;
}

/* What a step costs: the part of the frame that curves lose, and more for a number that is less round:
 * a third of a low frame is given for 0.5 and 1 in the place of 0.375 and 0.75. */
static double cost_of(const struct plot_axis *before, const struct plot_axis *after, int round)
{
    static const double odd[] = {2, 0.45, 0.3, 0.15, 0};

    return after->length / before->length - 1 + odd[round];
}

/* With the ticks of one, where that costs less. */
static void try_ticks(const struct plot_canvas *c, const struct plot_axis *one, int round,
                      struct plot_axis *best, double *cost)
{
    struct plot_axis now;
    bool better = false;

    for (int place = 0; place < PLACES && !better; place++) {
        if (!stretch(c, one, (enum place)place, &now) || now.ticks < least_ticks(c) ||
            now.ticks > 6)
            continue;
        better = cost_of(one, &now, round) < *cost - EVEN;
    }
    if (better) {
        *cost = cost_of(one, &now, round);
        *best = now;
    }
}

static bool choose_even(const struct plot_canvas *c, struct plot_axis *y)
{
    struct plot_axis one = *y, best = *y;
    double cost = INFINITY;

    if (!(y->step > 0))
        return false;
    for (int k = 0, n; (n = plot_label_step(&one, k)) >= 0; k++)
        if (n < PLOT_TICKS)
            try_ticks(c, &one, plot_label_round(&one, k), &best, &cost);
    *y = best;
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
    int rows[PLOT_TICKS], least = c->height, most = 0;

    if (y->ticks < 4 || y->ticks > 6)
        return 0;
    for (int i = 0; i < y->ticks; i++)
        rows[i] = plot_row(c, plot_place(y, y->tick[i]));
    for (int i = 1; i < y->ticks; i++) {
        int distance = rows[i - 1] - rows[i];

        least = distance < least ? distance : least;
        most = distance > most ? distance : most;
    }
    return least < 1 ? 0 : 3 + (least > 1 ? 2 : 0) + (least == most);
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

    if (y->log || !choose_even(c, y)) {
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
