/* draw/plot/plot_read.c: what curves read at an x, and the steps of a cursor from point to point. */
#include "draw/plot/plot_int.h"

#include <math.h>

/* What a step is a part of where the frame is not known. */
#define UNKNOWN_COLUMNS 80

/* How far behind its last point a curve still reads: as far as its last two lie apart; a single
 * point as far as it lies from 0, where counting began. */
static double reach_behind(const struct plot_series *s, size_t last)
{
    for (size_t i = last; i-- > 0;)
        if (s->x[i] < s->x[last])
            return s->x[last] - s->x[i];
    return fabs(s->x[last]);
}

/* The last of the points with the greatest x that is not above x. */
static size_t point_before(const struct plot_series *s, bool sorted, double x, bool *ended)
{
    size_t at = s->n, from = 0, end = s->n;

    while (sorted && from < end) {
        size_t middle = from + (end - from) / 2;

        if (s->x[middle] <= x)
            from = middle + 1;
        else
            end = middle;
    }
    if (sorted) {
        *ended = from == s->n;
        return from ? from - 1 : s->n;
    }
    *ended = true;
    for (size_t i = 0; i < s->n; i++) {
        if (s->x[i] <= x && (at == s->n || s->x[i] >= s->x[at]))
            at = i;
        *ended &= !(s->x[i] > x);
    }
    return at;
}

static size_t point_at(const struct plot_series *s, bool sorted, double x)
{
    bool ended;
    size_t at = point_before(s, sorted, x, &ended);

    if (at == s->n || !plot_drawable(s->x[at], false) || !isfinite(s->y[at]))
        return s->n;
    return ended && x > s->x[at] && x - s->x[at] >= reach_behind(s, at) ? s->n : at;
}

size_t plot_point_read(const struct plot *p, int series, bool sorted)
{
    const struct plot_series *s = &p->series[series];

    if (p->reads)
        return p->reads[series] < s->n && isfinite(s->y[p->reads[series]]) ? p->reads[series]
                                                                           : s->n;
    return point_at(s, sorted, p->cursor_x);
}

double plot_value(const struct plot_series *s, size_t at)
{
    return s->measured ? s->measured[at] : s->y[at];
}

void plot_read(const struct plot *p, double *values)
{
    for (int i = 0; i < p->count; i++) {
        const struct plot_series *s = &p->series[i];
        size_t at = plot_point_read(p, i, plot_extent(s, false).sorted);

        values[i] = at < s->n ? plot_value(s, at) : NAN;
    }
}

/* What a step looks for among the points that are seen. */
struct search {
    const struct plot *p;
    double lo, hi;
    bool whole; /* on whole numbers alone */
};

static bool is_stop(const struct search *q, const struct plot_series *s, size_t i)
{
    double x = s->x[i];

    return x >= q->lo && x <= q->hi && plot_drawable(s->y[i], q->p->log_y) &&
           (!q->whole || x == floor(x));
}

/* The greatest x of a point within from..to, or the smallest; nan: there is none. */
static double find_stop(const struct search *q, double from, double to, bool greatest)
{
    const struct plot *p = q->p;
    bool front = p->front >= 1 && p->front <= p->count;
    double best = NAN;

    for (int k = 0; k < p->count; k++) {
        const struct plot_series *s = &p->series[k];

        if (front && k != p->front - 1)
            continue;
        for (size_t i = 0; i < s->n; i++)
            if (s->x[i] >= from && s->x[i] <= to && is_stop(q, s, i) &&
                (isnan(best) || (greatest ? s->x[i] > best : s->x[i] < best)))
                best = s->x[i];
    }
    return best;
}

static double nearest_stop(const struct search *q, double x)
{
    double left = find_stop(q, -INFINITY, x, true), right = find_stop(q, x, INFINITY, false);

    if (isnan(left) || isnan(right))
        return isnan(left) ? right : left;
    return right - x < x - left ? right : left;
}

static double step_from(const struct search *q, double x, double way)
{
    double to = x + way, stop;

    if (way > 0) {
        stop = find_stop(q, nextafter(x, INFINITY), to, true);
        stop = isnan(stop) ? find_stop(q, nextafter(x, INFINITY), INFINITY, false) : stop;
    } else {
        stop = find_stop(q, to, nextafter(x, -INFINITY), false);
        stop = isnan(stop) ? find_stop(q, -INFINITY, nextafter(x, -INFINITY), true) : stop;
    }
    return isnan(stop) || way == 0 ? nearest_stop(q, x) : stop;
}

/* The points that a cursor stands on, and how wide a column is. false: there are none. */
static bool begin_search(const struct plot *p, struct search *q, struct plot_canvas *c,
                         struct plot_axis *x)
{
    struct plot_view v;
    bool any = plot_look(p, 2 * p->columns, &v);

    if (any && !plot_lay_out(c, &v))
        c->width = UNKNOWN_COLUMNS;
    *x = v.x;
    plot_view_free(&v);
    if (!any)
        return false;
    *q = (struct search){p, x->lo, x->hi, p->whole_x};
    if (isnan(find_stop(q, q->lo, q->hi, false)))
        q->whole = false;
    return true;
}

double plot_step_cursor(const struct plot *p, int columns)
{
    struct plot_canvas c = {.p = p};
    struct search q;
    struct plot_axis x;

    if (!begin_search(p, &q, &c, &x))
        return NAN;
    if (!p->cursor || !isfinite(p->cursor_x))
        return find_stop(&q, q.lo, q.hi, true);
    return step_from(&q, p->cursor_x, columns * (x.hi - x.lo) / c.width);
}

double plot_cursor_at(const struct plot *p, int column)
{
    struct plot_canvas c = {.p = p};
    struct search q;
    struct plot_axis x;
    double place;

    if (!begin_search(p, &q, &c, &x))
        return NAN;
    place = (column - c.left + 0.5) / c.width;
    return nearest_stop(&q, x.lo + (x.hi - x.lo) * fmin(fmax(place, 0), 1));
}
