/* ui/run/runview_plots.c: a run's rows as the curves of its two plots. */
#include "ui/run/runview_int.h"

#include "base/mem.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WHOLE_NAMES 60 /* columns of a panel: an axis' whole name has room between its labels */

/* The mean in the colour of the whole ensemble, with a mark that none of the first nine members has:
 * they have the colours from 2 on. */
enum { COLOUR_TRAIN, COLOUR_TEST, COLOUR_VALID, COLOUR_MEAN = 5 * GRID_SERIES_COLOURS + 1 };

const char *const runview_axes[] = {"epoch",   "step",           "images", "model-images",
                                    "seconds", "device-seconds", NULL};

void runview_free_curves(struct runview *v)
{
    free(v->steps.x);
    free(v->steps.loss);
    free(v->steps.acc);
    free(v->middle);
    v->middle = NULL;
    v->middles = 0;
    v->steps = (struct runview_steps){0};
}

/* Where a step lies on the axis. */
static double step_at(const struct feed_run *run, int axis, double step, double seconds)
{
    const struct wire_facts *f = &run->facts;

    switch (axis) {
    case FEED_EPOCH:
        return f->steps_per_epoch > 0 ? step / (double)f->steps_per_epoch : NAN;
    case FEED_STEP:
        return step;
    case FEED_IMAGES:
        return step * (double)f->batch;
    case FEED_MODEL_IMAGES:
        return step * (double)f->batch * (f->members > 1 ? f->members : 1);
    case FEED_SECONDS:
        return seconds;
    default:
        return seconds * (f->real_devices > 1 ? f->real_devices : 1);
    }
}

/* Values are smoothed each once, over all rows; thinning comes when they are drawn. */
static void make_steps(struct runview *v, const struct feed_run *run)
{
    struct runview_steps *s = &v->steps;
    const struct feed_steps *from = &run->steps;
    double weight = v->smooth > 1 ? plot_mean_weight((double)v->smooth) : 0;

    if (s->id != run->id || s->cut != run->cut || s->axis != v->axis || s->points != v->smooth ||
        s->epoch_steps != run->facts.steps_per_epoch || s->n > from->n) {
        s->id = run->id;
        s->cut = run->cut;
        s->axis = v->axis;
        s->points = v->smooth;
        s->epoch_steps = run->facts.steps_per_epoch;
        s->n = 0;
    }
    if (!s->n)
        s->loss_mean = s->acc_mean = (struct plot_mean){.weight = weight};
    if (from->n > s->room) {
        s->room = from->room;
        s->x = mem_resize(s->x, s->room, sizeof *s->x);
        s->loss = mem_resize(s->loss, s->room, sizeof *s->loss);
        s->acc = mem_resize(s->acc, s->room, sizeof *s->acc);
    }
    /* The newest one may still lack rows of some members: it is made when it is complete. */
    for (; s->n < from->n; s->n++) {
        size_t i = s->n;

        if (i + 1 == from->n && from->count < run->facts.members)
            break;
        s->x[i] = step_at(run, v->axis, from->step[i], from->seconds[i]);
        s->loss[i] = plot_mean_add(&s->loss_mean, from->loss[i]);
        s->acc[i] = plot_mean_add(&s->acc_mean, from->acc[i]);
    }
}

/* A mean over an epoch belongs into its middle. */
static const double *make_middles(struct runview *v, const struct feed_run *run)
{
    const struct feed_epochs *e = &run->epochs;

    if (e->room > v->middles) {
        v->middles = e->room;
        v->middle = mem_resize(v->middle, v->middles, sizeof *v->middle);
    }
    for (size_t i = 0; i < e->n; i++)
        v->middle[i] = (e->x[v->axis][i] + (i ? e->x[v->axis][i - 1] : 0)) / 2;
    return v->middle;
}

static bool any_finite(const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isfinite(y[i]))
            return true;
    return false;
}

static struct plot_series *add(struct runview_panel *to, const char *label, const double *x,
                               const double *y, size_t n, int colour)
{
    struct plot_series *s = &to->series[to->plot.count];

    if (!n || to->plot.count == RUNVIEW_SERIES || !any_finite(y, n))
        return NULL;
    *s = (struct plot_series){.label = label, .x = x, .y = y, .n = n, .colour = colour};
    to->plot.count++;
    return s;
}

/* A smooth curve stands for these values, which are told. */
static void measured(struct runview *v, struct runview_panel *to, struct plot_series *s,
                     const double *y)
{
    if (!s)
        return;
    s->measured = y;
    if (v->smooth > 1) {
        snprintf(to->note, sizeof to->note, "%s smoothed over %lld rows", s->label,
                 (long long)v->smooth);
        to->plot.note = to->note;
    }
}

static void begin(struct runview *v, struct runview_panel *to)
{
    bool time = v->axis == FEED_SECONDS || v->axis == FEED_DEVICE_SECONDS;
    bool narrow = to->in.columns < WHOLE_NAMES;

    to->plot = (struct plot){.series = to->series,
                             .x_label = v->axis == FEED_SECONDS ? "time"
                                        : v->axis == FEED_DEVICE_SECONDS
                                            ? (narrow ? "device-s" : "device-seconds")
                                            : runview_axes[v->axis],
                             .log_y = v->log_y,
                             .whole_x = !time,
                             .parts_x = v->axis == FEED_EPOCH,
                             .x_unit = time ? PLOT_TIME : PLOT_NUMBER,
                             .values = true,
                             .columns = to->in.columns,
                             .rows = to->in.rows,
                             .cursor = v->cursor,
                             .cursor_x = v->cursor_x};
}

/* They have no names: the table below tells of them. */
static void add_members(struct runview *v, const struct feed_run *run)
{
    for (size_t i = 0; i < run->units && i < RUNVIEW_MEMBERS; i++) {
        const struct feed_unit *u = &run->unit[i];
        size_t n = u->n < run->epochs.n ? u->n : run->epochs.n;
        struct plot_series *s;

        if ((s = add(&v->loss, NULL, run->epochs.x[v->axis], u->test_loss_at, n, 2 + (int)i)))
            s->weight = PLOT_THIN;
        if ((s = add(&v->acc, NULL, run->epochs.x[v->axis], u->test_acc_at, n, 2 + (int)i)))
            s->weight = PLOT_THIN;
    }
}

static void add_whole(struct runview *v, const struct feed_run *run, bool ensemble)
{
    const struct feed_epochs *e = &run->epochs;
    const double *x = e->x[v->axis];
    struct plot_series *s;

    if ((s = add(&v->loss, ensemble ? "ensemble" : "test", x, e->y[FEED_TEST_LOSS], e->n,
                 COLOUR_TEST))) {
        s->weight = PLOT_THICK;
        v->loss.plot.front = v->loss.plot.count;
    }
    if ((s = add(&v->acc, ensemble ? "ensemble" : "test", x, e->y[FEED_TEST_ACC], e->n,
                 COLOUR_TEST))) {
        s->weight = PLOT_THICK;
        v->acc.plot.front = v->acc.plot.count;
    }
    if (ensemble) {
        if ((s = add(&v->loss, "mean", x, e->y[FEED_MEMBER_LOSS], e->n, COLOUR_MEAN)))
            s->dashed = true;
        if ((s = add(&v->acc, "mean", x, e->y[FEED_MEMBER_MEAN], e->n, COLOUR_MEAN)))
            s->dashed = true;
    }
    add(&v->loss, "valid", x, e->y[FEED_VAL_LOSS], e->n, COLOUR_VALID);
    add(&v->acc, "valid", x, e->y[FEED_VAL_ACC], e->n, COLOUR_VALID);
}

/* Both plots show the same part of the axis: around the cursor, or the newest, or all of it up to the
 * end of the epoch that runs, so that the axis does not crawl. */
static void set_window(struct runview *v, const struct feed_run *run)
{
    struct runview_panel *both[] = {&v->loss, &v->acc};
    double epoch = step_at(run, v->axis, (double)run->facts.steps_per_epoch, NAN);
    double most = 0, width, lo;

    for (int k = 0; k < 2; k++)
        for (int i = 0; i < both[k]->plot.count; i++) {
            const struct plot_series *s = &both[k]->series[i];

            if (s->x[s->n - 1] > most)
                most = s->x[s->n - 1];
        }
    if (isfinite(epoch) && epoch > 0)
        most = ceil(most / epoch - 1e-9) * epoch;
    if (!(most > 0))
        return;
    width = most / (double)(1 << v->zoom);
    lo = v->cursor ? fmin(fmax(v->cursor_x - width / 2, 0), most - width) : most - width;
    for (int k = 0; k < 2; k++) {
        both[k]->plot.x_lo = lo;
        both[k]->plot.x_hi = lo + width;
    }
}

void runview_make(struct runview *v, const struct feed_run *run)
{
    bool ensemble = run->facts.mode == SPEC_ENSEMBLE;
    const struct feed_epochs *e = &run->epochs;
    bool both = !ensemble || !e->n; /* plots have such a curve */
    const char *train_loss = both ? "train loss" : "train", *train_acc = "train acc";
    const char *step_loss =
        both ? "train steps" : "steps"; /* the rows below tell of whole epochs */

    make_steps(v, run);
    begin(v, &v->loss);
    begin(v, &v->acc);
    v->acc.plot.per_cent = share_in_per_cent();
    /* A short run has rows of epochs alone, or next to. */
    if (v->steps.n < e->n)
        add(&v->loss, train_loss, make_middles(v, run), e->y[FEED_TRAIN_LOSS], e->n, COLOUR_TRAIN);
    else
        measured(v, &v->loss,
                 add(&v->loss, step_loss, v->steps.x, v->steps.loss, v->steps.n, COLOUR_TRAIN),
                 run->steps.loss);
    /* Until the first epoch has ended, what training says of accuracy is all there is. */
    if (!e->n)
        measured(v, &v->acc,
                 add(&v->acc, train_acc, v->steps.x, v->steps.acc, v->steps.n, COLOUR_TRAIN),
                 run->steps.acc);
    else if (!ensemble)
        add(&v->acc, train_acc, make_middles(v, run), e->y[FEED_TRAIN_ACC], e->n, COLOUR_TRAIN);
    if (e->n)
        add_whole(v, run, ensemble);
    if (ensemble)
        add_members(v, run);
    set_window(v, run);
}
