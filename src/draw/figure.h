/* draw/figure.h: a figure for a report: plots and boards beside each other, in all forms that papers
 * and screens take. */
#ifndef CHORUS_DRAW_FIGURE_H
#define CHORUS_DRAW_FIGURE_H

#include "draw/board.h"
#include "draw/plot/plot.h"

struct figure_panel { /* one of the two */
    const struct plot *plot;
    const struct board *board;
};
struct figure {
    const struct figure_panel *panel;
    int panels;
    double width_mm, height_mm;
    bool mono;
};

void figure_svg(const struct figure *f, struct text *out);
void figure_pdf(const struct figure *f, struct text *out);
/* For pgfplots: a tikzpicture that reads its values from the CSV whose name it is given. */
void figure_tex(const struct figure *f, const char *csv_name, struct text *out);
/* Curves by the names of the legend, with the panel in front: "epoch of loss: test,loss: test". */
void figure_csv(const struct figure *f, struct text *out);
/* What its column of a board's colours is called: "level", or "value" where they follow that. */
const char *figure_level_name(const struct board *b);
/* Lines of a gnuplot script that draw it as SVG from the CSV. */
void figure_gnuplot(const struct figure *f, const char *csv, const char *svg, struct text *out);

#endif
