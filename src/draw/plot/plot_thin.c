/* draw/plot/plot_thin.c: of many points those that a picture needs. Curves of 100,000 points are drawn many
 * times a second: each point is looked at once, with a comparison or two. */
#include "draw/plot/plot_int.h"

#include "base/mem.h"

#include <math.h>

bool plot_drawable(double v, bool log)
{
    return fabs(v) <= PLOT_LARGEST && !(log && v <= 0); /* false for nan too */
}

static bool can_draw(const struct plot_series *s, size_t i, bool log)
{
    return plot_drawable(s->x[i], false) && plot_drawable(s->y[i], log);
}

/* Neither nan nor falling. Four at a time, so that the loop does not wait for its own result. */
static bool is_sorted(const double *x, size_t n)
{
    size_t i = 0;

    for (; i + 5 <= n; i += 4) {
        int fine = (x[i] <= x[i + 1]) & (x[i + 1] <= x[i + 2]) & (x[i + 2] <= x[i + 3]) &
                   (x[i + 3] <= x[i + 4]);

        if (!fine)
            return false;
    }
    for (; i + 1 < n; i++)
        if (!(x[i] <= x[i + 1]))
            return false;
    return !n || (plot_drawable(x[0], false) && plot_drawable(x[n - 1], false));
}

struct plot_extent plot_extent(const struct plot_series *s, bool log)
{
    struct plot_extent e = {INFINITY, -INFINITY, is_sorted(s->x, s->n)};
    size_t first = 0, last = s->n;

    if (!e.sorted) {
        for (size_t i = 0; i < s->n; i++) {
            if (!can_draw(s, i, log))
                continue;
            e.lo = fmin(e.lo, s->x[i]);
            e.hi = fmax(e.hi, s->x[i]);
        }
        return e;
    }
    while (first < s->n && !can_draw(s, first, log))
        first++;
    while (last > first && !can_draw(s, last - 1, log))
        last--;
    if (first < last) {
        e.lo = s->x[first];
        e.hi = s->x[last - 1];
    }
    return e;
}

static inline double less(double a, double b)
{
    return a < b ? a : b;
}

static inline double more(double a, double b)
{
    return a > b ? a : b;
}

/* Least and most of n > 0 values; false: one of them is nan. Comparisons with nan are false, so that
 * nan never becomes least or most; its own difference shows it (an infinity is seen in most). Two
 * chains of each, so that no value waits for the one before it. */
static bool find_values(const double *y, size_t n, double *least, double *most)
{
    double lo = INFINITY, hi = -INFINITY, odd = 0, low = lo, high = hi, strange = 0;
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        double a = y[i], b = y[i + 1], c = y[i + 2], d = y[i + 3];

        lo = less(a, lo);
        hi = more(a, hi);
        low = less(b, low);
        high = more(b, high);
        odd += (a - a) + (c - c);
        lo = less(c, lo);
        hi = more(c, hi);
        low = less(d, low);
        high = more(d, high);
        strange += (b - b) + (d - d);
    }
    for (; i < n; i++) {
        lo = less(y[i], lo);
        hi = more(y[i], hi);
        odd += y[i] - y[i];
    }
    *least = less(lo, low);
    *most = more(hi, high);
    return odd + strange == 0;
}

/* Where they are: they are looked for in the one block each that holds them. */
static bool find_ends(const double *y, size_t n, size_t *least, size_t *most)
{
    enum { BLOCK = 64 };
    double lo = INFINITY, hi = -INFINITY;

    *least = *most = 0;
    for (size_t i = 0; i < n; i += BLOCK) {
        double low, high;

        if (!find_values(y + i, n - i < BLOCK ? n - i : BLOCK, &low, &high))
            return false;
        if (low < lo) {
            lo = low;
            *least = i;
        }
        if (high > hi) {
            hi = high;
            *most = i;
        }
    }
    while (y[*least] != lo)
        ++*least;
    while (y[*most] != hi)
        ++*most;
    return true;
}

struct thin {
    const struct plot_series *s;
    bool log;
    double lo, hi;
    struct plot_point *out;
    size_t n, room;
    bool gap; /* before the next point */
};

static void add_point(struct thin *t, double x, double y)
{
    t->out = mem_grow(t->out, &t->room, t->n + 1, sizeof *t->out);
    t->out[t->n++] = (struct plot_point){x, y, t->gap};
    t->gap = false;
}

/* Points that lie in one column with no gap between them: pick holds the first, the smallest, the
 * largest and the last. */
static void add_picks(struct thin *t, size_t pick[4])
{
    if (pick[1] > pick[2]) {
        size_t swap = pick[1];

        pick[1] = pick[2];
        pick[2] = swap;
    }
    for (int k = 0; k < 4; k++)
        if (k == 0 || pick[k] != pick[k - 1])
            add_point(t, t->s->x[pick[k]], t->s->y[pick[k]]);
}

/* Points from..end - 1 of one column, some of which may not be drawable. */
static void add_runs(struct thin *t, size_t from, size_t end)
{
    const double *y = t->s->y;

    for (size_t i = from; i < end; i++) {
        size_t pick[4] = {i, i, i, i};

        if (!can_draw(t->s, i, t->log)) {
            t->gap = true;
            continue;
        }
        for (; i + 1 < end && can_draw(t->s, i + 1, t->log); i++) {
            pick[1] = y[i + 1] < y[pick[1]] ? i + 1 : pick[1];
            pick[2] = y[i + 1] > y[pick[2]] ? i + 1 : pick[2];
        }
        pick[3] = i;
        add_picks(t, pick);
    }
}

static void add_column(struct thin *t, size_t from, size_t end)
{
    const double *y = t->s->y;
    size_t least, most;

    if (end - from < 8 || !find_ends(y + from, end - from, &least, &most) ||
        !plot_drawable(y[from + least], t->log) || !plot_drawable(y[from + most], t->log)) {
        add_runs(t, from, end);
        return;
    }
    add_picks(t, (size_t[4]){from, from + least, from + most, end - 1});
}

/* Where the line from point i to point j enters or leaves what lies between lo and hi. */
static void add_crossings(struct thin *t, size_t i, size_t j)
{
    const double *x = t->s->x, *y = t->s->y;
    const double edge[2] = {x[i] < x[j] ? t->lo : t->hi, x[i] < x[j] ? t->hi : t->lo};

    if (!can_draw(t->s, i, t->log) || !can_draw(t->s, j, t->log) || x[i] == x[j])
        return;
    for (int k = 0; k < 2; k++) {
        double part = (edge[k] - x[i]) / (x[j] - x[i]);

        if (!(part > 0 && part < 1))
            continue;
        add_point(t, edge[k],
                  t->log ? exp(log(y[i]) + part * (log(y[j]) - log(y[i])))
                         : y[i] + part * (y[j] - y[i]));
        t->gap |= k == 1; /* it leaves: no line leads on */
    }
}

/* The first point from `from` on whose x is not below (or, with behind, is above) v. */
static size_t find_x(const double *x, size_t from, size_t end, double v, bool behind)
{
    size_t step = 1;

    /* The next border is near: steps that double find the part to halve. */
    while (from + step < end && (behind ? x[from + step] <= v : x[from + step] < v)) {
        from += step;
        step *= 2;
    }
    if (from + step < end)
        end = from + step;
    while (from < end) {
        size_t middle = from + (end - from) / 2;

        if (behind ? x[middle] <= v : x[middle] < v)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

static void thin_sorted(struct thin *t, int columns)
{
    const struct plot_series *s = t->s;
    size_t from = find_x(s->x, 0, s->n, t->lo, false);
    size_t end = find_x(s->x, from, s->n, t->hi, true);

    if (from && from < s->n)
        add_crossings(t, from - 1, from);
    for (int k = 1; k <= columns && from < end; k++) {
        double border = t->lo + (t->hi - t->lo) * k / columns;
        size_t next = k == columns ? end : find_x(s->x, from, end, border, false);

        if (next > from)
            add_column(t, from, next);
        from = next;
    }
    /* Where nothing lies between, the line that crosses both has been drawn above. */
    if (end && end < s->n && s->x[end - 1] >= t->lo)
        add_crossings(t, end - 1, end);
}

static int column_of(const struct thin *t, size_t i, int columns)
{
    double x = t->s->x[i];

    if (!plot_drawable(x, false))
        return -2;
    if (x < t->lo || x > t->hi)
        return x < t->lo ? -1 : columns + 1;
    return (int)((x - t->lo) / (t->hi - t->lo) * columns);
}

static void thin_any(struct thin *t, int columns)
{
    for (size_t from = 0, end; from < t->s->n; from = end) {
        int column = column_of(t, from, columns), next = column;

        for (end = from + 1; end < t->s->n && (next = column_of(t, end, columns)) == column; end++)
            ;
        if (column >= 0 && column <= columns)
            add_runs(t, from, end);
        else
            t->gap = true;
        if (end < t->s->n && next != column)
            add_crossings(t, end - 1, end);
    }
}

struct plot_point *plot_thin(const struct plot_series *s, bool sorted, bool log, double lo,
                             double hi, int columns, size_t *count)
{
    struct thin t = {.s = s, .log = log, .lo = lo, .hi = hi, .gap = true};

    (sorted ? thin_sorted : thin_any)(&t, columns);
    *count = t.n;
    return t.out;
}
