/* draw/board.h: values over two axes as coloured cells: a sweep's accuracies, a confusion matrix. A pure
 * function from numbers to characters, to a screen's cells, or to ink. */
#ifndef CHORUS_DRAW_BOARD_H
#define CHORUS_DRAW_BOARD_H

#include "base/text.h"
#include "draw/grid.h"

#include <stdbool.h>
#include <stddef.h>

struct ink;

/* What colours run between: from dark at lo to light at hi. */
struct board_scale {
    double lo, hi;
    bool below; /* there is a value below lo, which takes its colour */
};

struct board {
    const char *title, *row_label, *column_label;
    int rows, columns;
    const char *const *row_name, *const *column_name;
    const double *value;      /* (rows, columns); nan: words alone */
    const char *const *words; /* (rows, columns): what stands in a cell */
    bool far_below;           /* such values are coloured as the least of the others: board_scale */
    bool per_cent;            /* values are parts of one, and its words say them per cent */
    bool by_magnitude; /* coloured by logarithms: a diagonal of counts leaves the others colours */
    struct board_scale scale; /* of more than this board; lo and hi both 0: the board's own */
    const char *note;         /* what part it is of: "page devices = 1"; or NULL */
};

/* Aligned text; colours: behind the values, on terminals that have 256. Cells wider than there is
 * room for lose their ends. */
void board_text(const struct board *b, int columns, bool colours, struct text *out);
void board_ink(const struct board *b, struct ink *ink, double left, double top, double width,
               double height);
/* A value far below the others is as lo, so that it leaves them their colours. False: there is no finite
 * value. */
bool board_scale(const double *value, size_t n, struct board_scale *out);
/* Into a screen: as many cells as have room, those around the chosen one. */
struct board_view {
    int row, column;          /* the chosen cell; -1: none */
    int best;                 /* in bold: this cell, counted from 1; 0: none */
    const char *const *brief; /* (rows, columns): where words do not fit; or NULL */
    const bool *grey;         /* (rows, columns): a ground without a colour; or NULL */
    bool legend;              /* what colours mean stands above, with marks where all have room */
    const char *note;         /* before it, where there is room: what else words say; or NULL */
    int least, least_brief;   /* columns that words have at least, and brief ones; 0: as they are */
    int top, left;            /* the first that is shown; the view's own */
    struct rect at;           /* of all cells that were drawn last, */
    int high, wide;           /* each of this size, */
    int rows, columns;        /* so many of them */
};
void board_grid(const struct board *b, struct grid *g, struct rect in, struct board_view *v);
/* The cell at a place of the grid, as drawn last. */
bool board_hit(const struct board_view *v, int row, int column, int *cell_row, int *cell_column);
/* What a cell's colour follows: its value, or by magnitude the logarithm of one above 0; nan: none. */
double board_level(const struct board *b, int cell);
/* The board's scale, of levels: what it was given, or its least and largest; false: there is none. */
bool board_find_scale(const struct board *b, struct board_scale *out);
/* The place of a cell's level on a scale, 0 to 1; -1 where it has none. */
double board_shade_in(const struct board *b, int cell, const struct board_scale *s);

#endif
