/* draw/plot/plot_axis.c: the ranges of both axes, and places on them. */
#include "draw/plot/plot_int.h"

#include "base/mem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double plot_place(const struct plot_axis *a, double v)
{
    if (!plot_drawable(v, a->log))
        return NAN;
    return ((a->log ? log10(v) : v) - a->from) / a->length;
}

static void widen_constant(struct plot_axis *a)
{
    double pad = fabs(a->lo) > 1e-280 ? fabs(a->lo) * 0.1 : 0;

    if (a->hi - a->lo > 1e-9 * fmax(fabs(a->lo), fabs(a->hi)))
        return;
    if (a->log) {
        a->lo = fmax(a->lo / 2, DBL_TRUE_MIN);
        a->hi *= 2;
    } else {
        a->lo -= pad;
        a->hi += pad > 0 ? pad : 1;
    }
}

static void set_length(struct plot_axis *a)
{
    a->from = a->log ? log10(a->lo) : a->lo;
    a->length = (a->log ? log10(a->hi) : a->hi) - a->from;
}

void plot_label_x(const struct plot *p, int most, struct plot_axis *x)
{
    plot_label_axis(x,
                    !p->whole_x  ? PLOT_ANY
                    : p->parts_x ? PLOT_PARTS
                                 : PLOT_WHOLE,
                    p->x_unit, most);
}

static void set_x(const struct plot *p, const struct plot_extent *all, struct plot_axis *x)
{
    x->lo = all->lo;
    x->hi = all->hi;
    if (p->x_lo < p->x_hi && plot_drawable(p->x_lo, false) && plot_drawable(p->x_hi, false)) {
        x->lo = p->x_lo;
        x->hi = p->x_hi;
    } else {
        /* Progress is counted from nothing. What an epoch's middle stands for is its whole. */
        bool counted = p->whole_x || p->x_unit == PLOT_TIME;

        if (x->lo > 0 && (x->lo <= 0.5 * x->hi || (counted && x->lo == x->hi)))
            x->lo = 0;
        if (p->whole_x && x->hi < 1e9)
            x->hi = ceil(x->hi);
    }
    widen_constant(x);
    set_length(x);
    plot_label_x(p, 6, x);
}

static void add_value(struct plot_axis *y, double v)
{
    if (!plot_drawable(v, y->log))
        return;
    y->lo = v < y->lo ? v : y->lo;
    y->hi = v > y->hi ? v : y->hi;
}

static void set_y(const struct plot *p, const struct plot_view *v, struct plot_axis *y)
{
    for (int i = 0; i < v->curves; i++)
        for (size_t j = 0; j < v->curve[i].n; j++)
            add_value(y, v->curve[i].point[j].y);
    for (int i = 0; i < p->bands; i++) {
        for (size_t j = 0; j < p->band[i].n; j++) {
            double x = p->band[i].x[j];

            if (!(x >= v->x.lo && x <= v->x.hi))
                continue;
            add_value(y, p->band[i].lo[j]);
            add_value(y, p->band[i].hi[j]);
        }
    }
    /* A loss that comes near to zero is read against zero. */
    if (!y->log && y->lo > 0 && (p->zero_y || y->lo <= 0.25 * y->hi))
        y->lo = 0;
    widen_constant(y);
    set_length(y);
    plot_label_axis(y, PLOT_ANY, PLOT_NUMBER, 6);
}

bool plot_look(const struct plot *p, int columns, struct plot_view *v)
{
    struct plot_extent all = {INFINITY, -INFINITY, true};
    size_t points = 0;

    *v = (struct plot_view){
        .y = {.lo = INFINITY, .hi = -INFINITY, .log = p->log_y, .per_cent = p->per_cent}};
    v->curve = mem_new((size_t)p->count + 1, sizeof *v->curve);
    v->curves = p->count;
    for (int i = 0; i < p->count; i++) {
        struct plot_extent one = plot_extent(&p->series[i], p->log_y);

        v->curve[i].sorted = one.sorted;
        all.lo = fmin(all.lo, one.lo);
        all.hi = fmax(all.hi, one.hi);
    }
    if (all.lo > all.hi)
        return false;
    set_x(p, &all, &v->x);
    for (int i = 0; i < p->count; i++) {
        struct plot_curve *c = &v->curve[i];

        c->point = plot_thin(&p->series[i], c->sorted, p->log_y, v->x.lo, v->x.hi,
                             columns < 1 ? 1 : columns, &c->n);
        points += c->n;
    }
    if (!points)
        return false;
    set_y(p, v, &v->y);
    for (int i = 0; i < p->count; i++) {
        for (size_t j = 0; j < v->curve[i].n; j++) {
            struct plot_point *point = &v->curve[i].point[j];

            point->x = plot_place(&v->x, point->x);
            point->y = plot_place(&v->y, point->y);
        }
    }
    return true;
}

void plot_view_free(struct plot_view *v)
{
    for (int i = 0; i < v->curves; i++)
        free(v->curve[i].point);
    free(v->curve);
}
