/* draw/plot/curves.c: from epochs.csv to series. Training values are means over an epoch while the weights
 * move, so they are drawn half an epoch earlier than what was measured at its end. */
#include "draw/plot/curves.h"

#include "base/mem.h"
#include "record/run/reader.h"
#include "study/runs.h"
#include "study/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *column, *label;
    bool whole, parts;
    enum plot_unit unit;
} axes[] = {
    {"epoch", "epoch", "epoch", true, true, PLOT_NUMBER},
    {"step", "step", "step", true, false, PLOT_NUMBER},
    {"images", "images", "images", true, false, PLOT_NUMBER},
    {"model-images", "model_images", "model-images", true, false, PLOT_NUMBER},
    {"seconds", "train_seconds", "seconds of training", false, false, PLOT_TIME},
    {"device-seconds", "device_seconds", "device-seconds", false, false, PLOT_TIME},
    {NULL, NULL, NULL, false, false, PLOT_NUMBER},
};

/* Runs that are drawn as one curve: the group's number stands in `of`. */
struct source {
    const struct study_run *runs;
    size_t count, group;
    const size_t *of;
    const struct curves_wish *wish;
    const char *x;    /* column */
    const char *name; /* NULL where there is one curve alone of each kind */
    int number;
};

static void smooth(double *y, size_t n, int64_t points)
{
    const struct plot_series s = {.y = y, .n = n};

    plot_smooth(&s, plot_mean_weight((double)points), y);
}

/* Training values are drawn half an epoch earlier. */
static bool is_early(const char *column)
{
    return !strncmp(column, "train_", 6) && strcmp(column, "train_seconds") != 0;
}

/* Point i of a curve: the means over the group's runs that have come so far. */
static bool read_point(const struct source *s, const char *column, int i, struct curves_line *l)
{
    double *value = mem_new(s->count, sizeof *value), *at = mem_new(s->count, sizeof *at);
    size_t runs = 0, values = 0;

    for (size_t r = 0; r < s->count; r++) {
        const struct study_run *run = &s->runs[r];
        double x, y;

        if (s->of[r] != s->group || i > run->last)
            continue;
        x = study_at(run, i, s->x);
        y = study_at(run, i, column);
        if (is_early(column))
            x -= 0.5 * (x - (i ? study_at(run, i - 1, s->x) : 0));
        at[runs++] = x;
        if (isfinite(y))
            value[values++] = y;
    }
    if (runs && !i)
        l->runs = runs;
    if (runs) {
        double sd = study_sd(value, values);

        l->at_end = runs;
        l->x[i] = study_mean(at, runs);
        l->y[i] = values == runs ? study_mean(value, values) : NAN;
        l->lo[i] = l->hi[i] = l->y[i];
        for (size_t k = 0; k < values; k++) {
            l->lo[i] = fmin(l->lo[i], value[k]);
            l->hi[i] = fmax(l->hi[i], value[k]);
        }
        if (s->wish->band && !strcmp(s->wish->band, "sd") && isfinite(sd)) {
            l->lo[i] = l->y[i] - sd;
            l->hi[i] = l->y[i] + sd;
        }
    }
    free(value);
    free(at);
    return runs > 0;
}

static void free_line(struct curves_line *l)
{
    free(l->label);
    free(l->x);
    free(l->y);
    free(l->measured);
    free(l->lo);
    free(l->hi);
}

/* A column as a series; nothing where no value is finite. */
static void add_line(struct curves *c, int panel, const struct source *s, const char *column,
                     const char *what, int colour, bool dashed)
{
    struct curves_line line = {
        .panel = panel, .group = s->group, .colour = colour, .dashed = dashed};
    int rows = 0;
    bool any = false;

    for (size_t r = 0; r < s->count; r++)
        if (s->of[r] == s->group && s->runs[r].last + 1 > rows)
            rows = s->runs[r].last + 1;
    line.x = mem_new((size_t)rows + 1, sizeof *line.x);
    line.y = mem_new((size_t)rows + 1, sizeof *line.y);
    line.lo = mem_new((size_t)rows + 1, sizeof *line.lo);
    line.hi = mem_new((size_t)rows + 1, sizeof *line.hi);
    line.nowhere = true;
    for (; (int)line.n < rows && read_point(s, column, (int)line.n, &line); line.n++) {
        any |= isfinite(line.y[line.n]);
        line.nowhere &= !isfinite(line.y[line.n]) || !isfinite(line.x[line.n]);
    }
    if (!any) {
        free_line(&line);
        return;
    }
    if (s->wish->smooth > 1) {
        line.measured = mem_new(line.n, sizeof *line.measured);
        memcpy(line.measured, line.y, line.n * sizeof *line.measured);
        smooth(line.y, line.n, s->wish->smooth);
        smooth(line.lo, line.n, s->wish->smooth);
        smooth(line.hi, line.n, s->wish->smooth);
    }
    line.label = s->name ? mem_textf("%s%s%s", s->name, *what ? " " : "", what) : mem_text(what);
    c->line = mem_grow(c->line, &c->room, c->lines + 1, sizeof *c->line);
    c->line[c->lines++] = line;
}

static bool has_members(const struct source *s)
{
    /* One model has no members to tell apart: their mean would hide the curve itself. */
    for (size_t r = 0; r < s->count; r++)
        for (int i = 0; s->of[r] == s->group && i <= s->runs[r].last; i++)
            if (study_at(&s->runs[r], i, "disagreement") > 0)
                return true;
    return false;
}

static void add_source(struct curves *c, const struct source *s)
{
    const char *metric = s->wish->metric;
    bool alone = !s->name; /* then its curves differ by colour */
    int panel = 0;

    if (metric && !strcmp(metric, "disagreement") && !has_members(s))
        return;
    if (metric && strcmp(metric, "loss") != 0 && strcmp(metric, "acc") != 0) {
        add_line(c, 0, s, metric, alone ? metric : "", s->number, false);
        return;
    }
    if (!metric || !strcmp(metric, "loss")) {
        add_line(c, panel, s, "train_loss", "train", s->number, !alone);
        add_line(c, panel, s, "val_loss", "valid", alone ? 2 : s->number, false);
        add_line(c, panel, s, "test_loss", "test", alone ? 1 : s->number, false);
        panel++;
    }
    if (!metric || !strcmp(metric, "acc")) {
        if (alone && has_members(s))
            add_line(c, panel, s, "member_acc_mean", "mean member", 3, true);
        add_line(c, panel, s, "val_acc", "valid", alone ? 2 : s->number, false);
        add_line(c, panel, s, "test_acc", "test", alone ? 1 : s->number, false);
    }
}

static enum err_code check_column(const struct sheet *s, const char *metric, struct err *e)
{
    const char **words;
    const char *near;
    size_t n = 0;
    enum err_code code;

    if (!metric || !strcmp(metric, "loss") || !strcmp(metric, "acc"))
        return ERR_OK;
    if (sheet_column(s, metric) >= 0 && strcmp(metric, "ended_utc") != 0)
        return ERR_OK;
    words = mem_new(s->columns + 3, sizeof *words);
    for (size_t i = 0; i < s->columns; i++)
        if (strcmp(s->names[i], "ended_utc") != 0) /* a time is no number */
            words[n++] = s->names[i];
    words[n++] = "loss";
    words[n++] = "acc";
    near = text_nearest(metric, words);
    if (near)
        code = err_set(e, ERR_INPUT, "--metric %s is no column of epochs.csv; did you mean %s?",
                       metric, near);
    else
        code = err_set(e, ERR_INPUT,
                       "--metric %s is not loss, acc or a column of epochs.csv such as test_acc",
                       metric);
    free(words);
    return code;
}

static void set_panels(struct curves *c, const struct curves_wish *wish, int axis)
{
    const char *metric = wish->metric;

    c->panels = metric ? 1 : 2;
    if (wish->smooth > 1)
        snprintf(c->note, sizeof c->note, "smoothed over %lld points", (long long)wish->smooth);
    for (int i = 0; i < c->panels; i++) {
        struct plot *p = &c->panel[i];

        if (metric && strcmp(metric, "loss") != 0 && strcmp(metric, "acc") != 0)
            p->title = metric;
        else
            p->title = (metric && !strcmp(metric, "acc")) || i == 1 ? "accuracy" : "loss";
        p->note = c->note[0] ? c->note : NULL;
        p->x_label = axes[axis].label;
        p->whole_x = axes[axis].whole;
        p->parts_x = axes[axis].parts;
        p->x_unit = axes[axis].unit;
        p->log_y = wish->log_y;
        c->series[i] = mem_new(c->lines + 1, sizeof *c->series[i]);
        c->band[i] = mem_new(c->lines + 1, sizeof *c->band[i]);
        p->series = c->series[i];
        p->band = c->band[i];
        for (size_t j = 0; j < c->lines; j++) {
            const struct curves_line *l = &c->line[j];

            if (l->panel != i || l->nowhere)
                continue;
            c->series[i][p->count++] = (struct plot_series){.label = l->label,
                                                            .x = l->x,
                                                            .y = l->y,
                                                            .measured = l->measured,
                                                            .n = l->n,
                                                            .colour = l->colour,
                                                            .dashed = l->dashed};
            if (wish->band)
                c->band[i][p->bands++] = (struct plot_band){l->x, l->lo, l->hi, l->n, l->colour};
        }
    }
}

/* What was asked for must be there; a run without a whole epoch has nothing of anything yet. */
static enum err_code check_values(const struct curves *c, size_t runs,
                                  const struct curves_wish *wish, struct err *e)
{
    bool above = false;

    if (wish->metric && !c->lines)
        return err_set(e, ERR_INPUT, "--metric %s: the column has no value in %s", wish->metric,
                       runs == 1 ? "this run" : "any of these runs");
    for (size_t i = 0; i < c->lines; i++)
        for (size_t j = 0; j < c->line[i].n; j++)
            above |= isfinite(c->line[i].y[j]) && c->line[i].y[j] > 0;
    if (wish->log_y && c->lines && !above)
        return err_set(e, ERR_INPUT, "--log y: %s has no value above 0, so none has a logarithm",
                       wish->metric ? wish->metric : "loss and accuracy");
    return ERR_OK;
}

static void add_all(struct curves *c, const struct study_run *runs, size_t count,
                    const struct curves_wish *wish, int axis)
{
    size_t *of = mem_new(count + 1, sizeof *of), groups = count, first, end;
    bool *again = mem_new(count + 1, sizeof *again);
    struct text *names;

    for (size_t i = 0; i < count; i++)
        of[i] = i;
    if (wish->over)
        groups = study_groups(runs, count, wish->over, of);
    names = mem_new(groups + 1, sizeof *names);
    if (wish->over || groups <= CURVES_NAMED)
        curves_name_groups(runs, count, of, groups, wish->over, names);
    if (!wish->over)
        curves_name_alike(runs, groups, names);
    if (wish->over)
        study_repeats(runs, count, again);
    for (size_t i = 0; i < count; i++) /* a run done twice is one of the mean */
        of[i] = again[i] ? groups : of[i];
    for (size_t g = 0; g < groups; g++) {
        if (wish->over && !names[g].n)
            text_addf(&names[g], "mean over %s", wish->over);
        /* a thousand groups are not looked for among all runs at every point */
        for (first = 0; first < count && of[first] != g;)
            first++;
        for (end = count; end > first && of[end - 1] != g;)
            end--;
        add_source(c, &(struct source){runs + first, end - first, g, of + first, wish,
                                       axes[axis].column, groups > 1 ? text_str(&names[g]) : NULL,
                                       (int)g});
        text_free(&names[g]);
    }
    free(names);
    free(again);
    free(of);
}

void curves_add_short(const struct curves *c, char *const *label, struct text *out)
{
    for (size_t i = 0; i < c->lines; i++) {
        const struct curves_line *l = &c->line[i];

        const char *name = label ? label[l->group] : l->label;

        if (i && c->line[i - 1].group == l->group)
            continue;
        if (l->nowhere)
            text_addf(out,
                      "%s: not drawn, since it is an average of runs that are not equally far on "
                      "this axis (%s)\n",
                      name, c->panel[0].x_label);
        else if (l->at_end < l->runs)
            text_addf(
                out,
                "%s: the mean of %s runs, at the end of the curve of %s; the others have fewer epochs\n",
                name, TEXT_COUNT(l->runs), TEXT_COUNT(l->at_end));
    }
}

/* Series i of a single panel is line i. */
static void put_drawn_first(struct curves *c)
{
    struct curves_line *all = mem_new(c->lines + 1, sizeof *all);
    size_t n = 0;

    for (int nowhere = 0; nowhere <= 1; nowhere++)
        for (size_t i = 0; i < c->lines; i++)
            if (c->line[i].nowhere == nowhere)
                all[n++] = c->line[i];
    free(c->line);
    c->line = all;
    c->room = n + 1;
}

static enum err_code make(struct curves *c, const struct study_run *runs, size_t count,
                          const struct curves_wish *wish, int axis, struct err *e)
{
    bool any = false;

    for (size_t i = 0; i < count; i++) {
        TRY(check_column(&runs[i].epochs, wish->metric, e));
        any |= runs[i].last >= 0;
    }
    add_all(c, runs, count, wish, axis);
    put_drawn_first(c);
    set_panels(c, wish, axis);
    return any ? check_values(c, count, wish, e) : ERR_OK;
}

enum err_code curves_of(struct curves *c, const struct study_run *runs, size_t count,
                        const struct curves_wish *wish, struct err *e)
{
    enum err_code code;
    int axis = 0;

    memset(c, 0, sizeof *c);
    while (wish->x && axes[axis].name && strcmp(axes[axis].name, wish->x) != 0)
        axis++;
    if (!axes[axis].name)
        return err_set(e, ERR_INPUT,
                       "--x %s is not epoch, step, images, model-images, seconds or device-seconds",
                       wish->x);
    code = make(c, runs, count, wish, axis, e);
    if (code != ERR_OK)
        curves_free(c);
    return code;
}

enum err_code curves_make(struct curves *c, const struct record_entry *runs, size_t count,
                          const struct curves_wish *wish, struct err *e)
{
    struct study_run *study;
    enum err_code code;

    memset(c, 0, sizeof *c);
    TRY(study_open(&study, runs, count, e));
    code = curves_of(c, study, count, wish, e);
    study_close(study, count);
    return code;
}

int curves_least_rows(const char *metric, int columns)
{
    return metric || columns >= CURVES_BESIDE ? PLOT_LEAST_ROWS : 2 * PLOT_LEAST_ROWS;
}

void curves_text(struct curves *c, int columns, int rows, enum plot_level level, bool colours,
                 struct text *out)
{
    bool beside = c->panels == 2 && columns >= CURVES_BESIDE;
    int gap = 2, width = beside ? (columns - gap) / 2 : columns;
    int height = c->panels == 2 && !beside ? rows / 2 : rows;
    struct plot_cell *all, *one;

    all = mem_new((size_t)columns * (size_t)rows, sizeof *all);
    one = mem_new((size_t)width * (size_t)height, sizeof *one);
    for (int i = 0; i < columns * rows; i++)
        all[i].colour = -1;
    for (int i = 0; i < c->panels; i++) {
        int top = beside ? 0 : i * height, left = beside ? i * (width + gap) : 0;

        c->panel[i].columns = width;
        c->panel[i].rows = height;
        c->panel[i].level = level;
        plot_draw(&c->panel[i], one);
        for (int r = 0; r < height; r++)
            memcpy(all + (top + r) * columns + left, one + r * width, (size_t)width * sizeof *one);
    }
    plot_cells_text(all, columns, rows, colours, out);
    free(all);
    free(one);
}

void curves_free(struct curves *c)
{
    for (size_t i = 0; i < c->lines; i++)
        free_line(&c->line[i]);
    free(c->line);
    for (int i = 0; i < 2; i++) {
        free(c->series[i]);
        free(c->band[i]);
    }
    memset(c, 0, sizeof *c);
}
