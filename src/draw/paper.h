/* draw/paper.h: what 'w' writes: a copy of what is seen, made at once. Another thread makes text of it,
 * since a table of ten thousand runs and curves of a million points take longer than a key may. A figure
 * says in its notes how its values were changed; a CSV has the measured values. */
#ifndef CHORUS_DRAW_PAPER_H
#define CHORUS_DRAW_PAPER_H

#include "base/err.h"
#include "base/text.h"
#include "draw/plot/plot.h"
#include "study/table.h"

#define PAPER_PLOTS 2

struct paper {                /* all zeros is an empty one */
    struct text text;         /* what needs no making, in front of all else */
    struct study_table table; /* to be written where it has columns */
    struct plot plot[PAPER_PLOTS];
    int plots;
    char *csv_name;   /* where tex finds the values of the plots */
    char *file;       /* a file of the results that is copied as it is */
    const char *what; /* what was written, for the answer: "the curves"; or NULL */
};

/* A copy of all that it points to. */
void paper_add_plot(struct paper *p, const struct plot *plot, const char *title);
/* As "csv", "md", "tex", "html", "json", "svg", "pdf": those that a table or plots have. */
enum err_code paper_write(const struct paper *p, const char *form, struct text *out,
                          struct err *e) MUST_USE;
void paper_free(struct paper *p);

#endif
