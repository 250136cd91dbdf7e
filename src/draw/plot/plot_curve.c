/* draw/plot/plot_curve.c: lines as dots of cells (Braille), as quarters of them or as characters; marks;
 * bands. */
#include "draw/plot/plot_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARK_EVERY 10 /* columns between the marks of a curve, at least */
#define THIN_EVERY 24 /* the same of a thin one, */
#define THIN_APART 3  /* whose marks stand so far from those of the next, at least */
#define MOST_THIN  24 /* of more the marks would hide the curves */
#define MOST_NAMED 24 /* of more not each can have a mark of its own */

/* The dots of all cells of the place for curves. A cell has one colour: that of whose dots came
 * last. */
struct dots {
    struct plot_canvas *c;
    int wide, high; /* in dots */
    uint8_t *set;   /* (height, width) of cells: a bit a dot, all of a column from the top down */
    int *owner;     /* a series */
    int *mark;      /* (height, width) of cells: a series + 1 whose mark stands there; 0: none */
    bool over;      /* what is drawn now hides what was there */
};

/* Dots y0..y1 of one column of dots. */
static void set_dots(struct dots *d, int x, int y0, int y1, int series)
{
    const struct plot_canvas *c = d->c;
    int down = c->down, column = x / c->across, shift = x % c->across * down;

    if (x < 0 || x >= d->wide || y1 < 0 || y0 >= d->high)
        return;
    y0 = y0 < 0 ? 0 : y0;
    y1 = y1 >= d->high ? d->high - 1 : y1;
    for (int row = y0 / down; row <= y1 / down; row++) {
        int cell = row * c->width + column, from = y0 - row * down, to = y1 - row * down;
        unsigned bits = (1u << down) - 1;

        bits &= ~0u << (from < 0 ? 0 : from);
        bits &= to >= down - 1 ? ~0u : (1u << (to + 1)) - 1;
        if (d->over && d->owner[cell] != series)
            d->set[cell] = 0;
        d->set[cell] |= (uint8_t)(bits << shift);
        d->owner[cell] = series;
    }
}

/* A thick pen is two dots wide both ways, so that curves are thick at every slope. */
static void set_pen(struct dots *d, int x, int y0, int y1, int series, bool thick)
{
    set_dots(d, x, y0, thick ? y1 + 1 : y1, series);
    if (thick)
        set_dots(d, x + 1, y0, y1 + 1, series);
}

/* Bresenham. *walked counts dots over the whole series, so that dashes go on over its points. */
static void draw_line(struct dots *d, int x0, int y0, int x1, int y1, int series, long *walked)
{
    const struct plot_series *s = &d->c->p->series[series];
    int dx = abs(x1 - x0), dy = abs(y1 - y0), sx = x0 < x1 ? 1 : -1, sy = y0 < y1 ? 1 : -1;
    int error = dx - dy, on = d->c->across == 1 ? 2 : d->c->down == 2 ? 3 : 4;
    bool thick = s->weight == PLOT_THICK && d->c->across > 1;

    if (x0 == x1 && !s->dashed) {
        set_pen(d, x0, y0 < y1 ? y0 : y1, y0 < y1 ? y1 : y0, series, thick);
        return;
    }
    for (;; (*walked)++) {
        int twice = 2 * error;

        if (!s->dashed || *walked % (2 * on - 1) < on)
            set_pen(d, x0, y0, y0, series, thick);
        if (x0 == x1 && y0 == y1)
            return;
        if (twice > -dy) {
            error -= dy;
            x0 += sx;
        }
        if (twice < dx) {
            error += dx;
            y0 += sy;
        }
    }
}

/* No line leads to it or from it. */
static bool is_alone(const struct plot_curve *curve, size_t i)
{
    return curve->point[i].gap && (i + 1 == curve->n || curve->point[i + 1].gap);
}

static void draw_series(struct dots *d, int series, const struct plot_curve *curve)
{
    int last_x = 0, last_y = 0;
    long walked = 0;

    for (size_t i = 0; i < curve->n; i++) {
        int x = (int)(curve->point[i].x * (d->wide - 1) + 0.5);
        int y = (int)((1 - curve->point[i].y) * (d->high - 1) + 0.5);

        if (curve->point[i].gap)
            last_x = x, last_y = y;
        if (is_alone(curve, i)) /* a mark stands there, and a thick pen would be seen beside it */
            set_dots(d, x, y, y, series);
        else
            draw_line(d, last_x, last_y, x, y, series, &walked);
        last_x = x;
        last_y = y;
    }
}

static void put_mark(struct dots *d, int series, int row, int column)
{
    struct plot_canvas *c = d->c;
    const struct plot_series *s = &c->p->series[series];
    int y = row - c->top, x = column - c->left;

    if (y >= 0 && y < c->height && x >= 0 && x < c->width)
        d->mark[y * c->width + x] = series + 1;
    plot_put(c, row, column, plot_mark(s->colour, c->p->level), plot_role(s));
}

/* A mark at most every ten columns, on thin curves at their end, and on every point that no line makes
 * visible. */
static void draw_marks(struct dots *d, int series, const struct plot_curve *curve)
{
    const struct plot *p = d->c->p;
    bool thin = p->series[series].weight == PLOT_THIN;
    int next = -1000;

    for (size_t i = 0; i < curve->n; i++) {
        const struct plot_point *point = &curve->point[i];
        bool last = i + 1 == curve->n, alone = is_alone(curve, i);
        int column = plot_column(d->c, point->x), row = plot_row(d->c, point->y);

        if (!alone && (p->count == 1 || (thin ? !last : column < next)))
            continue;
        next = column + MARK_EVERY;
        put_mark(d, series, row, column);
    }
}

/* In this column, where the curve is seen and none is yet. */
static bool mark_column(struct dots *d, int series, int column)
{
    const struct plot_canvas *c = d->c;

    for (int row = 0; row < c->height; row++) {
        int cell = row * c->width + column;

        if (d->set[cell] && d->owner[cell] == series && !d->mark[cell]) {
            put_mark(d, series, c->top + row, c->left + column);
            return true;
        }
    }
    return false;
}

/* Thin curves are many and often end in the same cells: each has marks on its way too, in columns of
 * its own. */
static void mark_thin(struct dots *d, const int *order, int n)
{
    const struct plot *p = d->c->p;
    int thin = 0, width = d->c->width, every;

    while (thin < n && p->series[order[thin]].weight == PLOT_THIN)
        thin++;
    if (thin > MOST_THIN || p->count == 1)
        return;
    every = thin * THIN_APART > THIN_EVERY ? thin * THIN_APART : THIN_EVERY;
    every = every < width ? every : width;
    for (int i = 0; i < thin; i++)
        for (int from = i * every / thin; from < width; from += every) {
            int end = from + every < width ? from + every : width, column = from;

            while (column < end && !mark_column(d, order[i], column))
                column++;
        }
}

/* The series + 1 that a cell tells by its character; 0: none. */
static int named_in(const struct dots *d, int cell)
{
    const struct plot *p = d->c->p;

    if (d->mark[cell] || p->level != PLOT_ASCII || !d->set[cell])
        return d->mark[cell];
    return p->series[d->owner[cell]].weight == PLOT_THIN ? 0 : d->owner[cell] + 1;
}

/* How well a mark stands in a cell of a curve's way: 0: it would take the only one of another curve. */
static int worth_of(const struct dots *d, int cell, int series, const int *named)
{
    int other = named_in(d, cell);

    if (other)
        return named[other - 1] > 1 ? 1 : 0;
    return d->set[cell] && d->owner[cell] == series ? 3 : 2;
}

/* The best cell of a curve's way, the first from a column on, behind the last column from the first; -1:
 * none. */
static int cell_for_mark(const struct dots *d, const struct dots *way, int series, int from,
                         const int *named)
{
    const struct plot_canvas *c = d->c;
    int best = -1, worth = 0;

    for (int i = 0; i < c->width; i++)
        for (int row = 0; row < c->height; row++) {
            int cell = row * c->width + (from + i) % c->width;
            int here = way->set[cell] ? worth_of(d, cell, series, named) : 0;

            if (here > worth) {
                best = cell;
                worth = here;
            }
        }
    return best;
}

/* Where curves run together, marks of those drawn last lie on all others': what has none left gets one
 * more, each in columns of its own. */
static void mark_hidden(struct dots *d, const struct plot_view *v, const int *order, int n)
{
    struct plot_canvas *c = d->c;
    size_t cells = (size_t)c->width * (size_t)c->height;
    struct dots way = *d;
    int *named;

    if (n < 2 || n > MOST_NAMED)
        return;
    named = mem_new((size_t)n, sizeof *named);
    for (size_t i = 0; i < cells; i++)
        if (named_in(d, (int)i))
            named[named_in(d, (int)i) - 1]++;
    way.set = mem_new(cells, 1);
    way.owner = mem_new(cells, sizeof *way.owner);
    for (int i = 0; i < n; i++) {
        int cell, was;

        if (named[order[i]])
            continue;
        memset(way.set, 0, cells);
        draw_series(&way, order[i], &v->curve[order[i]]);
        cell = cell_for_mark(d, &way, order[i], (2 * i + 1) * c->width / (2 * n), named);
        if (cell < 0)
            continue;
        was = named_in(d, cell);
        if (was)
            named[was - 1]--;
        put_mark(d, order[i], c->top + cell / c->width, c->left + cell % c->width);
        named[order[i]]++;
    }
    free(way.set);
    free(way.owner);
    free(named);
}

/* The bits of set_dots as the characters' own. */
static uint32_t braille_of(unsigned bits)
{
    static const uint8_t bit[8] = {1, 2, 4, 64, 8, 16, 32, 128};
    uint32_t code = 0x2800;

    for (int i = 0; i < 8; i++)
        code |= bits >> i & 1 ? bit[i] : 0u;
    return code;
}

/* Bits: upper left, lower left, upper right, lower right. */
static const uint32_t quarters[16] = {0,      0x2598, 0x2596, 0x258c, 0x259d, 0x2580,
                                      0x259e, 0x259b, 0x2597, 0x259a, 0x2584, 0x2599,
                                      0x2590, 0x259c, 0x259f, 0x2588};

static void put_dots(const struct dots *d)
{
    struct plot_canvas *c = d->c;

    for (int row = 0; row < c->height; row++) {
        for (int column = 0; column < c->width; column++) {
            int cell = row * c->width + column;
            const struct plot_series *s = &c->p->series[d->owner[cell]];
            unsigned bits = d->set[cell];
            uint32_t code;

            if (!bits)
                continue;
            if (c->down == 4)
                code = braille_of(bits);
            else if (c->down == 2)
                code = quarters[bits];
            else
                code = s->weight == PLOT_THIN ? '.' : plot_mark(s->colour, c->p->level);
            plot_put(c, c->top + row, c->left + column, code, plot_role(s));
        }
    }
}

int plot_order(const struct plot *p, int *order)
{
    static const enum plot_weight weights[] = {PLOT_THIN, PLOT_NORMAL, PLOT_THICK};
    int n = 0;

    for (size_t w = 0; w < MEM_COUNT(weights); w++)
        for (int i = 0; i < p->count; i++)
            if (p->series[i].weight == weights[w] && i != p->front - 1)
                order[n++] = i;
    if (p->front >= 1 && p->front <= p->count)
        order[n++] = p->front - 1;
    return n;
}

/* All lines first, so that none hides a mark; last the marks of curves that are no more than one. */
void plot_draw_curves(struct plot_canvas *c, const struct plot_view *v)
{
    const struct plot *p = c->p;
    size_t cells = (size_t)c->width * (size_t)c->height;
    struct dots d = {.c = c, .wide = c->across * c->width, .high = c->down * c->height};
    int *order = mem_new((size_t)p->count, sizeof *order), n = plot_order(p, order);
    bool crowd = p->count > PLOT_ROLES;

    d.set = mem_new(cells, 1);
    d.owner = mem_new(cells, sizeof *d.owner);
    d.mark = mem_new(cells, sizeof *d.mark);
    for (int i = 0; i < n; i++) {
        /* the dots of so many would fill cells and be no curve's */
        d.over = order[i] == p->front - 1 || (crowd && !p->series[order[i]].dashed);
        draw_series(&d, order[i], &v->curve[order[i]]);
    }
    put_dots(&d);
    mark_thin(&d, order, n);
    for (int alone = 0; alone <= 1; alone++)
        for (int i = 0; i < n; i++)
            if ((v->curve[order[i]].n == 1) == alone &&
                (alone || p->level != PLOT_ASCII || p->series[order[i]].weight == PLOT_THIN))
                draw_marks(&d, order[i], &v->curve[order[i]]);
    mark_hidden(&d, v, order, n);
    free(d.set);
    free(d.owner);
    free(d.mark);
    free(order);
}

void plot_draw_readings(struct plot_canvas *c, const struct plot_view *v)
{
    const struct plot *p = c->p;
    int *order = mem_new((size_t)p->count, sizeof *order), n = plot_order(p, order);

    for (int i = 0; i < n; i++) {
        const struct plot_series *s = &p->series[order[i]];
        size_t at = plot_point_read(p, order[i], v->curve[order[i]].sorted);
        double x = at < s->n ? plot_place(&v->x, s->x[at]) : NAN;
        double y = at < s->n ? plot_place(&v->y, s->y[at]) : NAN;

        if (x >= 0 && x <= 1 && y >= 0 && y <= 1)
            plot_put(c, plot_row(c, y), plot_column(c, x), plot_mark(s->colour, p->level),
                     plot_role(s));
    }
    free(order);
}

/* Of each column of cells the least and most of a band: between its points at the column's middle,
 * and where points lie in it theirs. */
static void find_band(const struct plot_band *b, const struct plot_view *v, int width, double *lo,
                      double *hi)
{
    double last_x = NAN, last_lo = NAN, last_hi = NAN;

    for (int i = 0; i < width; i++) {
        lo[i] = INFINITY;
        hi[i] = -INFINITY;
    }
    for (size_t i = 0; i < b->n; i++) {
        double x = plot_place(&v->x, b->x[i]);
        double low = plot_place(&v->y, b->lo[i]), high = plot_place(&v->y, b->hi[i]);
        int from, to;

        if (isnan(x) || isnan(low) || isnan(high)) {
            last_x = NAN;
            continue;
        }
        if (x >= 0 && x <= 1 && !isnan(last_x)) {
            int at = (int)fmin(x * width, width - 1);

            lo[at] = fmin(lo[at], low);
            hi[at] = fmax(hi[at], high);
        }
        from = (int)ceil(fmin(fmax(last_x, 0), 1) * width - 0.5);
        to = x > last_x ? (int)floor(fmin(fmax(x, 0), 1) * width - 0.5)
                        : -1; /* not where last_x is nan */
        for (int k = from; k <= to; k++) {
            double part = ((k + 0.5) / width - last_x) / (x - last_x);

            lo[k] = fmin(lo[k], last_lo + part * (low - last_lo));
            hi[k] = fmax(hi[k], last_hi + part * (high - last_hi));
        }
        last_x = x;
        last_lo = low;
        last_hi = high;
    }
}

/* A light ground wherever the middle of a cell lies within the band; curves are drawn over it. */
void plot_draw_bands(struct plot_canvas *c, const struct plot_view *v)
{
    double *lo = mem_new((size_t)c->width, sizeof *lo), *hi = mem_new((size_t)c->width, sizeof *hi);

    for (int i = 0; i < c->p->bands; i++) {
        const struct plot_band *b = &c->p->band[i];
        int role = b->colour < 0 ? 0 : b->colour % PLOT_ROLES;

        find_band(b, v, c->width, lo, hi);
        for (int column = 0; column < c->width; column++) {
            for (int row = 0; row < c->height; row++) {
                double middle = 1 - (row + 0.5) / c->height;

                if (lo[column] <= middle && middle <= hi[column])
                    plot_put(c, c->top + row, c->left + column,
                             c->p->level == PLOT_ASCII ? ':' : 0x2591, role);
            }
        }
    }
    free(lo);
    free(hi);
}
