/* draw/figure_int.h: what the forms of a figure share. */
#ifndef CHORUS_DRAW_FIGURE_INT_H
#define CHORUS_DRAW_FIGURE_INT_H

#include "draw/figure.h"
#include "draw/ink/words.h"

/* "loss, smoothed over 5 points" */
static inline void figure_add_title(const struct figure_panel *p, struct text *out)
{
    if (p->board)
        words_add_title(out, p->board->title, p->board->note);
    else
        words_add_title(out, p->plot->title ? p->plot->title : p->plot->y_label, p->plot->note);
}
/* Where the CSV has a curve's x, counted from 0; its y is next to it. pair: a series; bands are
 * counted after all series. */
int figure_column(const struct figure *f, int panel, int pair);

#endif
