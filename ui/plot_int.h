/* ui/plot_int.h: what text and SVG share: from series to ranges, ticks and labels. */
#ifndef CHORUS_UI_PLOT_INT_H
#define CHORUS_UI_PLOT_INT_H

#include "ui/plot.h"

/* Beyond this a difference of two values could overflow; nobody reads such a plot. */
#define PLOT_LARGEST 1e300

#define PLOT_TICKS 8
#define PLOT_LABEL 24

struct plot_axis {
    double lo, hi;
    bool log;
    int ticks;
    double tick[PLOT_TICKS];
    char label[PLOT_TICKS][PLOT_LABEL];
};

/* false: there is no point to draw. */
bool plot_axes(const struct plot *p, struct plot_axis *x, struct plot_axis *y);
/* Where a value lies on the axis, 0 to 1; nan where it cannot be drawn. */
double plot_place(const struct plot_axis *axis, double value);

struct plot_point {
    double x, y; /* places on the axes, 0 to 1 */
    bool gap;    /* no line leads here from the point before */
};
/* The points of a series that a picture of so many columns needs: of each run of points that fall
 * into one column the first, the smallest, the largest and the last. Freed by the caller. */
struct plot_point *plot_thin(const struct plot_series *s, const struct plot_axis *x,
                             const struct plot_axis *y, int columns, size_t *count);

#endif
