/* ui/board.h: values over two axes as coloured cells: a sweep's accuracies, a confusion matrix. A pure
 * function from numbers to characters, to a screen's cells, or to ink. */
#ifndef CHORUS_UI_BOARD_H
#define CHORUS_UI_BOARD_H

#include "base/text.h"
#include "ui/grid.h"

#include <stdbool.h>

struct ink;

struct board {
    const char *title, *row_label, *column_label;
    int rows, columns;
    const char *const *row_name, *const *column_name;
    const double *value;      /* (rows, columns); nan: words alone */
    const char *const *words; /* (rows, columns): what stands in a cell */
};

/* Aligned text; colours: behind the values, on terminals that have 256. Cells wider than there is
 * room for lose their ends. */
void board_text(const struct board *b, int columns, bool colours, struct text *out);
void board_ink(const struct board *b, struct ink *ink, double left, double top, double width,
               double height);
/* Into a screen: as many cells as have room, those around the chosen one. */
struct board_view {
    int row, column;          /* the chosen cell; -1: none */
    int best;                 /* in bold: this cell, counted from 1; 0: none */
    const char *const *brief; /* (rows, columns): where words do not fit; or NULL */
    const bool *grey;         /* (rows, columns): a ground without a colour; or NULL */
    int least, least_brief;   /* columns that words have at least, and brief ones; 0: as they are */
    int top, left;            /* the first that is shown; the view's own */
    struct rect at;           /* of all cells that were drawn last, */
    int high, wide;           /* each of this size, */
    int rows, columns;        /* so many of them */
};
void board_grid(const struct board *b, struct grid *g, struct rect in, struct board_view *v);
/* The cell at a place of the grid, as drawn last. */
bool board_hit(const struct board_view *v, int row, int column, int *cell_row, int *cell_column);
/* The place of a value between the least and the largest of them, 0 to 1; -1 where it is none. */
double board_shade(const struct board *b, int cell);
/* The same of all cells: their range is looked for once. */
double board_shade_in(const struct board *b, int cell, double lo, double hi);
/* Those two; false: there is no value. */
bool board_range(const struct board *b, double *lo, double *hi);

#endif
