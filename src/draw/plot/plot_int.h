/* draw/plot/plot_int.h: what the files of plots share: from series to ranges, ticks and labels, then the
 * places of points, then cells. */
#ifndef CHORUS_DRAW_PLOT_PLOT_INT_H
#define CHORUS_DRAW_PLOT_PLOT_INT_H

#include "draw/plot/plot.h"

/* Beyond this a difference of two values could overflow; nobody reads such a plot. */
#define PLOT_LARGEST 1e300

#define PLOT_TICKS 8

struct plot_axis {
    double lo, hi;
    bool log, per_cent;  /* per_cent: labels say hundredths */
    double from, length; /* lo and hi - lo, or those of their logarithms */
    double step;         /* between ticks; 0: they are powers, or one */
    int ticks;
    double tick[PLOT_TICKS];
    char label[PLOT_TICKS][PLOT_LABEL];
};

/* A value that has a place on an axis. */
bool plot_drawable(double value, bool log);
/* Where a value lies on the axis, 0 to 1 within it; nan where it cannot be drawn. */
double plot_place(const struct plot_axis *axis, double value);

struct plot_point {
    double x, y; /* values, in a view places on the axes, 0 to 1 */
    bool gap;    /* no line leads here from the point before */
};
struct plot_curve {
    struct plot_point *point;
    size_t n;
    bool sorted; /* the series' x never falls */
};
/* What a picture is drawn from. */
struct plot_view {
    struct plot_axis x, y;
    struct plot_curve *curve; /* one of each series */
    int curves;
};

/* For a picture of so many columns or more exact ones. false: there is no point to draw. Freed in
 * either case. */
bool plot_look(const struct plot *p, int columns, struct plot_view *v);
void plot_view_free(struct plot_view *v);

/* Where the points of a series lie that can be drawn. */
struct plot_extent {
    double lo, hi; /* lo > hi: there is none */
    bool sorted;
};
struct plot_extent plot_extent(const struct plot_series *s, bool log);
/* The points between lo and hi that a picture of so many columns needs: of each run of points that
 * fall into one column the first, the smallest, the largest and the last; and where a line crosses lo
 * or hi. At most four a column where x is sorted and there are no gaps. Freed by the caller. */
struct plot_point *plot_thin(const struct plot_series *s, bool sorted, bool log, double lo,
                             double hi, int columns, size_t *count);

/* Where ticks may stand: anywhere, at whole numbers, at these before halves and quarters. */
enum plot_count { PLOT_ANY, PLOT_WHOLE, PLOT_PARTS };
/* Ticks and labels of an axis whose range stands: four to most (six, or less where labels have no room),
 * where there are such. */
void plot_label_axis(struct plot_axis *axis, enum plot_count count, enum plot_unit unit, int most);
void plot_label_x(const struct plot *p, int most, struct plot_axis *x);
/* Of a logarithmic one, without their labels. */
void plot_log_ticks(struct plot_axis *axis);
/* The index-th row of ticks that such an axis may have; their number may be above PLOT_TICKS. false: there
 * are no more. */
bool plot_log_row(struct plot_axis *axis, int index);
/* Multiples of step within lo..hi. Returns how many, though there is room for fewer. */
int plot_multiples(double lo, double hi, double step, double *ticks, int room);
/* Labels of the ticks that stand. */
void plot_label(struct plot_axis *axis, enum plot_unit unit);
/* A value by itself, as legends show it: four digits. */
void plot_number(double value, bool per_cent, char out[PLOT_LABEL]);

/* The point of a curve that the cursor reads, or its n; and what is read there. */
size_t plot_point_read(const struct plot *p, int series, bool sorted);
double plot_value(const struct plot_series *s, size_t at);
bool plot_has_cursor(const struct plot *p, const struct plot_axis *x); /* within what is seen */

/* The frame and the place for the curves in it, in cells. */
struct plot_canvas {
    const struct plot *p;
    struct plot_cell *cells; /* (rows, columns) of the whole frame */
    int left, top, width, height;
    int across, down; /* dots of a cell */
};

/* Finds where the labels of y end and what the head leaves, and has the ticks of y stand on rows. false:
 * no room for curves. */
bool plot_lay_out(struct plot_canvas *c, struct plot_view *v);
/* The ticks of y and its range, for the rows that there are; curves go along. */
void plot_choose_rows(const struct plot_canvas *c, struct plot_view *v);

void plot_put(struct plot_canvas *c, int row, int column, uint32_t code, int colour);
/* Returns the column behind what was put, at most end. */
int plot_put_text(struct plot_canvas *c, int row, int column, int end, const char *s, int colour);
/* In at most so many columns: names of runs differ at both ends, so what is too much goes from the
 * middle. Returns the column behind it. */
int plot_put_cut(struct plot_canvas *c, int row, int column, int room, const char *s);
int plot_length(const char *s); /* in cells, as plot_put_text puts it */
int plot_role(const struct plot_series *s);
/* The cell of a place on the axes. */
int plot_column(const struct plot_canvas *c, double place);
int plot_row(const struct plot_canvas *c, double place);

/* Series in the order that they are drawn in: thin curves first, the front one last. */
int plot_order(const struct plot *p, int *order);
/* Title and legend; v may be NULL. Returns the rows they take. */
int plot_draw_head(struct plot_canvas *c, const struct plot_view *v);
void plot_draw_bands(struct plot_canvas *c, const struct plot_view *v);
void plot_draw_curves(struct plot_canvas *c, const struct plot_view *v);
/* On each curve a mark where it is read at the cursor. */
void plot_draw_readings(struct plot_canvas *c, const struct plot_view *v);

#endif
