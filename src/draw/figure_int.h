/* draw/figure_int.h: what the forms of a figure share. */
#ifndef CHORUS_DRAW_FIGURE_INT_H
#define CHORUS_DRAW_FIGURE_INT_H

#include "draw/figure.h"

/* Its title with what must be read with it. */
void figure_add_title(const struct figure_panel *p, struct text *out);
/* Where the CSV has a curve's x, counted from 0; its y is next to it. pair: a series, or a band counted on
 * behind the series. */
int figure_column(const struct figure *f, int panel, int pair);

#endif
