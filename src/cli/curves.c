/* cli/curves.c: from epochs.csv to series. Training values are means over an epoch while the weights
 * move, so they are drawn half an epoch earlier than what was measured at its end. */
#include "cli/curves.h"

#include "base/mem.h"
#include "cli/cli.h"
#include "ui/figure.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct curves_line {
    int panel, colour;
    bool dashed;
    char *label;
    double *x, *y;
    size_t n;
};

static const struct {
    const char *name, *column, *label;
    bool whole;
} axes[] = {
    {"epoch", "epoch", "epoch", true},
    {"step", "step", "step", true},
    {"images", "images", "images", true},
    {"model-images", "model_images", "model-images", true},
    {"seconds", "train_seconds", "seconds of training", false},
    {"device-seconds", "device_seconds", "device-seconds", false},
    {NULL, NULL, NULL, false},
};

const char *curves_short_name(const char *run)
{
    const char *s = run;

    for (int dashes = 0; *s && dashes < 5; s++) {
        if (*s == '-')
            dashes++;
        else if (!isdigit((unsigned char)*s))
            return run;
    }
    return *s ? s : run;
}

/* A column as a series; nothing where no value is finite. */
static void add_line(struct curves *c, int panel, const struct sheet *s, int x, const char *column,
                     const char *label, int colour, bool dashed)
{
    int y = sheet_column(s, column);
    bool early = !strncmp(column, "train_", 6) && strcmp(column, "train_seconds") != 0, any = false;
    struct curves_line line = {.panel = panel, .colour = colour, .dashed = dashed};
    double before = 0;

    if (y < 0)
        return;
    line.x = mem_new(s->rows + 1, sizeof *line.x);
    line.y = mem_new(s->rows + 1, sizeof *line.y);
    for (size_t i = 0; i < s->rows; i++) {
        double at = sheet_number(s, i, x);

        line.x[i] = early ? at - 0.5 * (at - before) : at;
        line.y[i] = sheet_number(s, i, y);
        any |= isfinite(line.y[i]);
        before = at;
    }
    line.n = s->rows;
    if (!any) {
        free(line.x);
        free(line.y);
        return;
    }
    line.label = mem_text(label);
    c->line = mem_grow(c->line, &c->room, c->lines + 1, sizeof *c->line);
    c->line[c->lines++] = line;
}

static void add_named(struct curves *c, int panel, const struct sheet *s, int x, const char *column,
                      const char *run, const char *what, int colour, bool dashed)
{
    struct text label = {0};

    if (run)
        text_addf(&label, "%s%s%s", run, *what ? " " : "", what);
    else
        text_add(&label, what);
    add_line(c, panel, s, x, column, text_str(&label), colour, dashed);
    text_free(&label);
}

/* run: NULL where there is one run alone, whose curves then differ by colour. */
static void add_run(struct curves *c, const struct sheet *s, int x, const char *metric,
                    const char *run, int number)
{
    int panel = 0;

    if (metric && strcmp(metric, "loss") != 0 && strcmp(metric, "acc") != 0) {
        add_named(c, 0, s, x, metric, run, run ? "" : metric, number, false);
        return;
    }
    if (!metric || !strcmp(metric, "loss")) {
        add_named(c, panel, s, x, "train_loss", run, "train", number, run != NULL);
        add_named(c, panel, s, x, "val_loss", run, "valid", run ? number : 2, false);
        add_named(c, panel, s, x, "test_loss", run, "test", run ? number : 1, false);
        panel++;
    }
    if (!metric || !strcmp(metric, "acc")) {
        if (!run) {
            int mean = sheet_column(s, "disagreement");
            bool members = false;

            /* One model has no members to tell apart: their mean would hide the curve itself. */
            for (size_t i = 0; i < s->rows; i++)
                members |= sheet_number(s, i, mean) > 0;
            if (members)
                add_named(c, panel, s, x, "member_acc_mean", NULL, "mean member", 3, true);
        }
        add_named(c, panel, s, x, "val_acc", run, "valid", run ? number : 2, false);
        add_named(c, panel, s, x, "test_acc", run, "test", run ? number : 1, false);
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
    for (int i = 0; i < c->panels; i++) {
        struct plot *p = &c->panel[i];

        if (metric && strcmp(metric, "loss") != 0 && strcmp(metric, "acc") != 0)
            p->title = metric;
        else
            p->title = (metric && !strcmp(metric, "acc")) || i == 1 ? "accuracy" : "loss";
        p->x_label = axes[axis].label;
        p->whole_x = axes[axis].whole;
        p->log_y = wish->log_y;
        c->series[i] = mem_new(c->lines + 1, sizeof *c->series[i]);
        p->series = c->series[i];
        for (size_t j = 0; j < c->lines; j++) {
            const struct curves_line *l = &c->line[j];

            if (l->panel == i)
                c->series[i][p->count++] =
                    (struct plot_series){l->label, l->x, l->y, l->n, l->colour, l->dashed};
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

enum err_code curves_make(struct curves *c, const struct record_entry *runs, size_t count,
                          const struct curves_wish *wish, struct err *e)
{
    size_t rows = 0;
    int axis = 0;

    memset(c, 0, sizeof *c);
    while (wish->x && axes[axis].name && strcmp(axes[axis].name, wish->x) != 0)
        axis++;
    if (!axes[axis].name)
        return err_set(e, ERR_INPUT,
                       "--x %s is not epoch, step, images, model-images, seconds or device-seconds",
                       wish->x);
    for (size_t i = 0; i < count; i++) {
        struct sheet s;
        enum err_code code = record_read_sheet(runs[i].folder, "epochs", &s, e);

        if (code == ERR_OK) {
            code = check_column(&s, wish->metric, e);
            rows += s.rows;
            if (code == ERR_OK)
                add_run(c, &s, sheet_column(&s, axes[axis].column), wish->metric,
                        count > 1 ? curves_short_name(runs[i].name) : NULL, (int)i);
            sheet_free(&s);
        }
        if (code != ERR_OK) {
            curves_free(c);
            return code;
        }
    }
    set_panels(c, wish, axis);
    if (rows) {
        enum err_code code = check_values(c, count, wish, e);

        if (code != ERR_OK) {
            curves_free(c);
            return code;
        }
    }
    return ERR_OK;
}

int curves_least_rows(const char *metric, int columns)
{
    return metric || columns >= CURVES_BESIDE ? PLOT_LEAST_ROWS : 2 * PLOT_LEAST_ROWS;
}

void curves_text(struct curves *c, int columns, int rows, bool ascii, bool colours,
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
        c->panel[i].level = ascii ? PLOT_ASCII : PLOT_BRAILLE;
        plot_draw(&c->panel[i], one);
        for (int r = 0; r < height; r++)
            memcpy(all + (top + r) * columns + left, one + r * width, (size_t)width * sizeof *one);
    }
    plot_cells_text(all, columns, rows, colours, out);
    free(all);
    free(one);
}

void curves_svg(const struct curves *c, struct text *out)
{
    const struct figure_panel panel[2] = {{.plot = &c->panel[0]}, {.plot = &c->panel[1]}};

    figure_svg(&(struct figure){.panel = panel,
                                .panels = c->panels,
                                .width_mm = c->panels == 2 ? 210 : 120,
                                .height_mm = 80},
               out);
}

void curves_free(struct curves *c)
{
    for (size_t i = 0; i < c->lines; i++) {
        free(c->line[i].label);
        free(c->line[i].x);
        free(c->line[i].y);
    }
    free(c->line);
    free(c->series[0]);
    free(c->series[1]);
    memset(c, 0, sizeof *c);
}
