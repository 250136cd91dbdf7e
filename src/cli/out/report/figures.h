/* cli/out/report/figures.h: the figures that `plot` and `report` draw besides curves, made from runs. */
#ifndef CHORUS_CLI_OUT_REPORT_FIGURES_H
#define CHORUS_CLI_OUT_REPORT_FIGURES_H

#include "draw/figure.h"
#include "study/members.h"
#include "study/runs.h"

struct figures { /* what a figure is made of; the panels point into it */
    struct figure_panel panel[2];
    int panels;
    struct plot plot[2];
    struct plot_series *series[2];
    struct plot_band *band[2];
    struct board board;
    double **vector; /* (vectors): all that series point to */
    char **word;     /* (words) */
    size_t vectors, vector_room, words, word_room;
    struct text note; /* what must be read with it, a line each */
};

/* Images per second over the devices with the ideal line; shares of the devices' time. */
enum err_code figures_scaling(struct figures *f, const struct study_run *runs, size_t count,
                              struct err *e) MUST_USE;
/* metric over two keys that vary (rows, columns; NULL: the two with most values, lr and batch first; one
 * alone has no other side); the mean over all other differences, ± what seeds alone spread. */
enum err_code figures_board(struct figures *f, const struct study_run *runs, size_t count,
                            const char *metric, const char *rows, const char *columns,
                            struct err *e) MUST_USE;
/* Accuracy of k members of an ensemble, a curve a run. */
enum err_code figures_prefix(struct figures *f, const struct study_run *runs, size_t count,
                             struct err *e) MUST_USE;
/* The same from members that are known: begun, then a curve a run. */
void figures_prefix_start(struct figures *f);
void figures_prefix_add(struct figures *f, const char *run, const struct study_members *s);
enum err_code figures_confusion(struct figures *f, const struct study_run *run,
                                struct err *e) MUST_USE;
void figures_free(struct figures *f);

#endif
