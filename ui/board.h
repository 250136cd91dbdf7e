/* ui/board.h: values over two axes as coloured cells: a sweep's accuracies, a confusion matrix. A pure
 * function from numbers to characters, or to ink. */
#ifndef CHORUS_UI_BOARD_H
#define CHORUS_UI_BOARD_H

#include "base/text.h"

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
/* The place of a value between the least and the largest of them, 0 to 1; -1 where it is none. */
double board_shade(const struct board *b, int cell);

#endif
