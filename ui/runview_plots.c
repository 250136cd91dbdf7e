/* ui/runview_plots.c: a run's points as the curves of its two plots. */
#include "ui/runview_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const runview_axes[] = {"epoch",   "step",           "images", "model-images",
                                    "seconds", "device-seconds", NULL};

static const double *axis_of(const struct feed_points *p, int x)
{
    const double *const all[] = {p->epoch,        p->step,    p->images,
                                 p->model_images, p->seconds, p->device_seconds};

    return all[x];
}

void runview_forget(struct runview *v)
{
    struct runview_smooth *both[] = {&v->step_loss, &v->step_acc};

    for (int i = 0; i < 2; i++) {
        free(both[i]->y);
        *both[i] = (struct runview_smooth){0};
    }
}

/* All points are smoothed, each once; thinning comes when it is drawn. */
static const double *smoothed(struct runview_smooth *s, const struct feed_points *p, int64_t over)
{
    double weight = plot_mean_weight((double)over);

    if (s->of != p || s->mean.weight != weight || s->n > p->n) {
        s->of = p;
        s->n = 0;
        s->mean = (struct plot_mean){.weight = weight};
    }
    s->y = mem_grow(s->y, &s->room, p->n, sizeof *s->y);
    for (; s->n < p->n; s->n++)
        s->y[s->n] = plot_mean_add(&s->mean, p->value[s->n]);
    return s->y;
}

static struct plot_series *add(struct runview *v, struct runview_plot *to,
                               const struct feed_points *p, const char *label, int colour)
{
    struct plot_series *s;

    if (!p->n || to->plot.count == RUNVIEW_SERIES)
        return NULL;
    s = &to->series[to->plot.count];
    snprintf(to->label[to->plot.count], sizeof to->label[0], "%s", label);
    *s = (struct plot_series){.label = to->label[to->plot.count],
                              .x = axis_of(p, v->x),
                              .y = p->value,
                              .n = p->n,
                              .colour = colour};
    to->plot.count++;
    return s;
}

static void begin(struct runview *v, struct runview_plot *to)
{
    bool time = v->x >= 4;

    to->plot =
        (struct plot){.series = to->series,
                      .x_label = time ? v->x == 4 ? "time" : "device time" : runview_axes[v->x],
                      .log_y = v->log_y,
                      .whole_x = !time,
                      .x_unit = time ? PLOT_TIME : PLOT_NUMBER,
                      .values = true,
                      .cursor = v->cursor,
                      .cursor_x = v->cursor_x};
}

static void add_members(struct runview *v, const struct feed_run *run)
{
    for (size_t i = 0; i < run->units && i < 64; i++) {
        char label[32];
        struct plot_series *s;

        snprintf(label, sizeof label, "%zu", i);
        s = add(v, &v->acc, &run->unit[i].acc_at, label, 2 + (int)i);
        if (s)
            s->weight = PLOT_THIN;
    }
}

void runview_make(struct runview *v, const struct feed_run *run)
{
    bool ensemble = run->spec.mode == SPEC_ENSEMBLE;
    struct plot_series *s;
    char label[32];

    begin(v, &v->loss);
    begin(v, &v->acc);
    if (v->smooth)
        snprintf(label, sizeof label, "train, mean of %lld", (long long)v->smooth);
    else
        snprintf(label, sizeof label, "train");
    s = add(v, &v->loss, &run->step_loss, label, 0);
    if (s && v->smooth)
        s->y = smoothed(&v->step_loss, &run->step_loss, v->smooth);
    add(v, &v->loss, &run->val_loss, "validation", 2);
    if ((s = add(v, &v->loss, &run->test_loss, "test", 1))) {
        s->weight = PLOT_THICK;
        v->loss.plot.front = v->loss.plot.count;
    }
    if (ensemble) {
        add_members(v, run);
        if ((s = add(v, &v->acc, &run->member_mean, "mean", 0)))
            s->dashed = true;
    } else {
        add(v, &v->acc, &run->train_acc, "train", 0);
    }
    add(v, &v->acc, &run->val_acc, "validation", 2);
    if ((s = add(v, &v->acc, &run->test_acc, ensemble ? "ensemble" : "test", 1))) {
        s->weight = PLOT_THICK;
        v->acc.plot.front = v->acc.plot.count;
    }
}
