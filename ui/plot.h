/* ui/plot.h: curves as cells: a pure function from series to characters. No curses in here: screens
 * draw the cells, verbs print them. */
#ifndef CHORUS_UI_PLOT_H
#define CHORUS_UI_PLOT_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plot_series {
    const char *label;
    const double *x, *y; /* (n); where y is not finite there is a gap */
    size_t n;
    int colour; /* role: 0, 1, 2, ... */
    bool dashed;
};

struct plot_band {             /* an area behind the curves: a spread, least and most */
    const double *x, *lo, *hi; /* (n); a gap where one is not finite */
    size_t n;
    int colour;
};

enum plot_level { PLOT_BRAILLE, PLOT_ASCII };

struct plot {
    const char *title, *x_label, *y_label;
    const struct plot_series *series;
    int count;
    const struct plot_band *band; /* (bands) */
    int bands;
    bool log_y;
    bool whole_x; /* x counts something: no ticks between whole numbers */
    enum plot_level level;
    int columns, rows; /* of the whole frame, legend and axes included */
};

#define PLOT_LEAST_COLUMNS 16
#define PLOT_LEAST_ROWS    5

struct plot_cell {
    uint32_t code; /* Unicode; 0: blank */
    int colour;    /* -1: text and axes */
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

/* Round ticks: 4 to 6 of them within lo..hi. Returns how many; step is their distance. */
int plot_ticks(double lo, double hi, double ticks[8], double *step);

#endif
