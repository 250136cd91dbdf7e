/* cli/curves.h: the curves of runs as plots: what `plot` prints and a run shows at its end. */
#ifndef CHORUS_CLI_CURVES_H
#define CHORUS_CLI_CURVES_H

#include "record/reader.h"
#include "ui/plot.h"

struct curves_wish {
    const char *metric; /* "loss", "acc", a column of epochs.csv; NULL: loss and accuracy */
    const char *x;      /* "epoch", "step", "images", "seconds", ...; NULL: epoch */
    bool log_y;
    int64_t smooth; /* points of a running mean; 0: none */
    const char
        *over; /* a key: runs that differ in it alone are one curve, their mean; NULL: none */
    const char *band; /* with over: "sd", "range" or NULL for none */
};

struct curves {
    struct plot panel[2];
    int panels;
    struct curves_line *line; /* what the series of the panels are made of */
    size_t lines, room;
    struct plot_series *series[2];
    struct plot_band *band[2];
};

enum err_code curves_make(struct curves *c, const struct record_entry *runs, size_t count,
                          const struct curves_wish *wish, struct err *e) MUST_USE;
/* Beside each other where the frame is wide, else above each other. */
#define CURVES_BESIDE 90 /* columns */
/* The fewest rows of a frame of so many columns into which these curves can be drawn. */
int curves_least_rows(const char *metric, int columns);
void curves_text(struct curves *c, int columns, int rows, bool ascii, bool colours,
                 struct text *out);
void curves_free(struct curves *c);

/* The mean of the values around each, n of them or fewer at the ends; gaps stay gaps and count for
 * nothing. Over all points, before any is left out of a picture. */
void curves_smooth(double *y, size_t count, size_t n);

#endif
