/* draw/plot/curves.h: the curves of runs as plots: what `plot` prints, a run shows at its end, and screens
 * compare. */
#ifndef CHORUS_DRAW_PLOT_CURVES_H
#define CHORUS_DRAW_PLOT_CURVES_H

#include "draw/plot/plot.h"
#include "record/run/reader.h"
#include "study/runs.h"

struct curves_wish {
    const char *metric; /* "loss", "acc", a column of epochs.csv; NULL: loss and accuracy */
    const char *x;      /* "epoch", "step", "images", "seconds", ...; NULL: epoch */
    bool log_y;
    int64_t smooth; /* a mean over about so many points; 0: none */
    /* a key: runs that differ in it alone are one curve, their mean; NULL: none */
    const char *over;
    const char *band; /* with over: "sd", "range" or NULL for none */
};

struct curves_line {
    int panel, colour;
    size_t group; /* a run, or with over a group of study_groups */
    bool dashed;
    bool nowhere; /* it has values, but no place of them on the x axis, and is not drawn */
    char *label;
    double *x, *y, *lo, *hi; /* lo and hi: a band */
    double *measured;        /* y before it was smoothed; NULL: it is not */
    size_t n, runs, at_end;  /* runs that its mean is of, at first and at its last point */
};
struct curves {
    struct plot panel[2];
    int panels;
    /* What the series of the panels are made of, one after another; then those that are nowhere. */
    struct curves_line *line;
    size_t lines, room;
    struct plot_series *series[2];
    struct plot_band *band[2];
    char note[48]; /* of both panels: "smoothed over 5 points" */
};

enum err_code curves_make(struct curves *c, const struct record_entry *runs, size_t count,
                          const struct curves_wish *wish, struct err *e) MUST_USE;
/* The same of runs that are open already. Nothing in it points into them. */
enum err_code curves_of(struct curves *c, const struct study_run *runs, size_t count,
                        const struct curves_wish *wish, struct err *e) MUST_USE;
/* Groups whose mean is of fewer runs towards its end, since some ended earlier, and those that have no
 * place on the x axis: a sentence, a line each. label: (groups), or NULL for the curves' own. */
void curves_add_short(const struct curves *c, char *const *label, struct text *out);
/* What tells groups of runs from each other: "lr=0.1 batch=64", nothing where nothing does. A key that
 * separates no two groups which the others leave alike says nothing new, but for the model; over (or
 * NULL) is left out, and so is a key where it does not apply. names: (groups), empty; the caller
 * frees them. */
void curves_name_groups(const struct study_run *runs, size_t count, const size_t *of, size_t groups,
                        const char *over, struct text *names);
#define CURVES_NAMED 500 /* nobody reads the names of more, and each is held against all others */
/* Runs that these names do not tell apart go by their folders: (count), one a run. */
void curves_name_alike(const struct study_run *runs, size_t count, struct text *names);
/* The same of single runs, for legends: (count), by their folders where nothing tells them apart. The
 * caller frees all of it. */
char **curves_names(const struct study_run *runs, size_t count);
/* Beside each other where the frame is wide, else above each other. */
#define CURVES_BESIDE 90 /* columns */
/* The fewest rows of a frame of so many columns into which these curves can be drawn. */
int curves_least_rows(const char *metric, int columns);
void curves_text(struct curves *c, int columns, int rows, enum plot_level level, bool colours,
                 struct text *out);
void curves_free(struct curves *c);
#endif
