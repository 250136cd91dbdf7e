/* draw/plot/plot.h: curves as cells: a pure function from series to characters. No curses in here: screens
 * draw the cells, verbs print them. Whatever is left 0 is what a plain figure wants. */
#ifndef CHORUS_DRAW_PLOT_PLOT_H
#define CHORUS_DRAW_PLOT_PLOT_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Thin curves lie below the others and carry few marks; thick ones lie above. */
enum plot_weight { PLOT_NORMAL, PLOT_THIN, PLOT_THICK };

struct plot_series {
    const char *label;   /* NULL: not in the legend, nor those behind it */
    const double *x, *y; /* (n); where y is not finite there is a gap */
    size_t n;
    int colour; /* role: 0, 1, 2, ...; from PLOT_ROLES on a colour comes again with another mark */
    bool dashed;
    enum plot_weight weight;
    const double *measured; /* (n): what is read off where y was smoothed; NULL: y */
};

struct plot_band {             /* an area behind the curves: a spread, least and most */
    const double *x, *lo, *hi; /* (n); a gap where one is not finite */
    size_t n;
    int colour;
};

enum plot_level { PLOT_BRAILLE, PLOT_ASCII, PLOT_BLOCK };
enum plot_unit { PLOT_NUMBER, PLOT_TIME }; /* time is in seconds; its labels: 1:30, 20 min, 2 h */

struct plot {
    const char *title, *x_label, *y_label;
    const char *note; /* how to read it, shown with the title: "smoothed over 5 points"; or NULL */
    const struct plot_series *series;
    int count;
    const struct plot_band *band; /* (bands) */
    int bands;
    bool log_y;
    bool per_cent; /* y is a part of one, and is labelled per cent */
    bool zero_y;   /* y begins at 0, for what is read as a proportion, such as speed */
    bool whole_x;  /* x counts something: no ticks between whole numbers */
    bool parts_x;  /* with whole_x: but where they are few, since half an epoch is something too */
    enum plot_unit x_unit;
    double x_lo, x_hi; /* only what lies between them, where x_lo < x_hi; y follows what is seen */
    int front;         /* the series drawn last, over all others: its index + 1; 0: none */
    int legend; /* rows that names may take, where curves are told apart elsewhere too; 0: a third */
    bool values; /* the legend shows each curve's last value, or that at the cursor */
    bool cursor; /* a rule at cursor_x, that x below it, and a mark on each curve */
    double cursor_x;
    const size_t *reads; /* (count): the point of each curve that the cursor reads, its n where it
                          * reads none; NULL: the last one at or before cursor_x */
    enum plot_level level;
    int columns, rows; /* of the whole frame, legend and axes included; a step needs them too */
};

#define PLOT_LEAST_COLUMNS 16
#define PLOT_LEAST_ROWS    5
#define PLOT_ROLES         6 /* colours of curves */

/* The roles of cells that are no curve's. */
#define PLOT_TEXT   (-1) /* and axes */
#define PLOT_CURSOR (-2)

struct plot_cell {
    uint32_t code; /* Unicode; 0: blank */
    int colour;    /* 0 to PLOT_ROLES - 1, or PLOT_TEXT, PLOT_CURSOR */
};

/* cells: (rows, columns). Too small a frame (below 16x5) gives blanks. */
void plot_draw(const struct plot *p, struct plot_cell *cells);
/* The cells as lines of text, with SGR colours where wanted, trailing blanks cut. */
void plot_text(const struct plot *p, bool colours, struct text *out);
/* What plot_text does with cells that several plots have been drawn into. */
void plot_cells_text(const struct plot_cell *cells, int columns, int rows, bool colours,
                     struct text *out);
/* Into a place of a page, in its units. */
struct ink;
void plot_ink(const struct plot *p, struct ink *ink, double left, double top, double width,
              double height);

/* The mark of a curve, for other places that name it, such as a row of a table. */
uint32_t plot_mark(int colour, enum plot_level level);

/* Whether the legend names all curves uncut. */
bool plot_legend_fits(const struct plot *p);

/* Round ticks: 4 to 6 of them within lo..hi. Returns how many; step is their distance. */
int plot_ticks(double lo, double hi, double ticks[8], double *step);

/* values: (count). What each curve reads at the cursor, shown or not: `reads`, or its last point at or
 * before cursor_x. nan before its first point, in a gap, and further after its last point than the last
 * two lie apart. */
void plot_read(const struct plot *p, double *values);
/* Where the cursor is after that many columns to the right (or left, below 0): always on a point,
 * the next one where none is so near; on those of the front series alone where there is one. Without
 * a cursor: on the last point. nan where there is no point. */
double plot_step_cursor(const struct plot *p, int columns);
/* The point next to a column of the frame, as a mouse chooses it; nan as above. */
double plot_cursor_at(const struct plot *p, int column);

/* An exponential mean that does not lean to its first value: weight 0 leaves values as they are,
 * near 1 it smooths much. What is not finite stays and counts for nothing. */
struct plot_mean {
    double weight; /* 0 to 1; all else begins as 0 */
    double value, share;
};
/* The weight of a mean over about so many points. */
double plot_mean_weight(double points);
double plot_mean_add(struct plot_mean *m, double value);
/* y_out: (n), may be the series' own y. Over all points: thinning comes when it is drawn. */
void plot_smooth(const struct plot_series *in, double weight, double *y_out);

#define PLOT_LABEL 24
/* An x in words, as precise as it counts: the cursor's. */
void plot_x_text(const struct plot *p, double x, char out[PLOT_LABEL]);

#endif
