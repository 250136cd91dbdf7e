/* ui/runview_int.h: what the files of the screen Run share. */
#ifndef CHORUS_UI_RUNVIEW_INT_H
#define CHORUS_UI_RUNVIEW_INT_H

#include "ui/app.h"
#include "ui/plot.h"

#define RUNVIEW_SERIES 80 /* of a plot: members, their mean, the whole, train, validation */

struct runview_smooth { /* a curve's smoothed values, made further as it grows */
    double *y;
    size_t n, room;
    struct plot_mean mean;
    const void *of; /* whose values they are */
};

struct runview_plot {
    struct plot plot;
    struct plot_series series[RUNVIEW_SERIES];
    char label[RUNVIEW_SERIES][32];
};

struct runview {
    struct app *app;
    char path[1024]; /* of the run that was chosen; empty: the one that computes */
    int x;           /* runview_axes */
    int64_t smooth;  /* over so many points; 0: not */
    bool log_y, cursor;
    double cursor_x;
    struct runview_smooth step_loss, step_acc;
    struct runview_plot loss, acc;
    uint64_t drawn; /* the run's count of changes */
    const void *drawn_run;
    int unit_first; /* the members' table, scrolled */
};

extern const char *const runview_axes[];         /* "epoch", "step", ... NULL */
struct feed_run *runview_run(struct runview *v); /* NULL: none */
/* Series of the two plots, from the points that there are. */
void runview_make(struct runview *v, const struct feed_run *run);
void runview_forget(struct runview *v); /* what was smoothed */
void runview_draw(void *screen, struct grid *g, struct rect in);

#endif
