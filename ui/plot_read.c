/* ui/plot_read.c: what curves read at an x. */
#include "ui/plot_int.h"

#include <math.h>

/* The last of the points with the greatest x that is not above x; n: there is none. */
static size_t point_before(const struct plot_series *s, double x)
{
    size_t best = s->n;

    for (size_t i = 0; i < s->n; i++)
        if (s->x[i] <= x && (best == s->n || s->x[i] >= s->x[best]))
            best = i;
    return best;
}

/* How far behind its last point a curve still reads: as far as its last two lie apart; a single
 * point as far as it lies from 0, where counting began. */
static double reach_behind(const struct plot_series *s, size_t last)
{
    for (size_t i = last; i-- > 0;)
        if (s->x[i] < s->x[last])
            return s->x[last] - s->x[i];
    return fabs(s->x[last]);
}

static bool ends_before(const struct plot_series *s, size_t at, double x)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->x[i] > x)
            return false;
    return x - s->x[at] >= reach_behind(s, at) && x > s->x[at];
}

void plot_read(const struct plot *p, double x, double *values)
{
    for (int i = 0; i < p->count; i++) {
        const struct plot_series *s = &p->series[i];
        size_t at = point_before(s, x);

        values[i] = at == s->n || ends_before(s, at, x) || !isfinite(s->y[at]) ? NAN : s->y[at];
    }
}
