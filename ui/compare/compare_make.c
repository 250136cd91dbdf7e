/* ui/compare/compare_make.c: from runs to a table and curves. Everything is computed by study and curves; here
 * it is chosen, named and put beside each other. */
#include "ui/compare/compare_int.h"

#include "base/mem.h"
#include "study/compare.h"
#include "study/tables.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const compare_x_names[] = {"epoch",        "step",    "images",
                                       "model-images", "seconds", "device-seconds"};

/* In pairs: where there is room for two, they stand beside each other. */
static const char *const metrics[][2] = {{"test_loss", "test loss"},
                                         {"test_acc", "test accuracy"},
                                         {"val_loss", "validation loss"},
                                         {"val_acc", "validation accuracy"},
                                         {"train_loss", "training loss"},
                                         {"train_acc", "training accuracy"},
                                         {"ece", "calibration error of test"},
                                         {"disagreement", "disagreement of members"},
                                         {"lr", "learning rate"},
                                         {"images_per_second", "images per second"}};

int compare_metrics(void)
{
    return (int)MEM_COUNT(metrics);
}

const char *compare_metric(int i, const char **title)
{
    if (title)
        *title = metrics[i][1];
    return metrics[i][0];
}

int compare_first_metric(const struct compare *c)
{
    return c->wide ? c->metric & ~1 : c->metric;
}

bool compare_has_metric(const struct compare *c, int i)
{
    bool members = !strcmp(metrics[i][0], "disagreement"); /* 0 where there is one */

    for (size_t r = 0; c->set && r < c->set->count; r++)
        for (int row = 0; row <= c->set->run[r].last; row++) {
            double value = study_at(&c->set->run[r], row, metrics[i][0]);

            if (isfinite(value) && (value > 0 || !members))
                return true;
        }
    return false;
}

void compare_free_made(struct compare *c)
{
    study_table_free(&c->table);
    for (int p = 0; p < COMPARE_PANELS; p++) {
        curves_free(&c->curves[p]);
        free(c->series[p]);
        free(c->reads[p]);
        c->series[p] = NULL;
        c->reads[p] = NULL;
        memset(&c->plot[p], 0, sizeof c->plot[p]);
        c->missing[p][0] = 0;
    }
    for (size_t g = 0; c->label && g < c->groups; g++) {
        free(c->label[g]);
        free(c->brief[g]);
    }
    free(c->label);
    free(c->brief);
    free(c->plain);
    free(c->tail);
    free(c->of);
    free(c->twin);
    free(c->order);
    free(c->column);
    free(c->read);
    free(c->point);
    c->label = c->brief = NULL;
    c->plain = c->tail = NULL;
    c->of = c->order = c->twin = NULL;
    c->column = NULL;
    c->read = NULL;
    c->point = NULL;
    c->points = c->groups = 0;
    c->columns = c->panels = 0;
}

/* ---- the table ---- */

/* Two rows have different values in it; where it does not apply it has none. */
static bool tells_apart(const struct study_table *t, int column)
{
    const char *first = NULL;

    for (size_t i = 0; i < t->rows; i++) {
        const char *text = t->cell[i * t->columns + (size_t)column].text;

        if (*text && first && strcmp(text, first) != 0)
            return true;
        first = *text ? text : first;
    }
    return false;
}

/* What is equal in all of them, or follows from another setting, says nothing here. */
static bool is_idle(const struct study_table *t, int column)
{
    return study_is_setting(t->column[column].name) && !tells_apart(t, column);
}

/* The accuracy, or what scaling is about; settings, then what was asked for most, then the rest; the
 * state at the end. */
static int rank(const struct compare *c, int column)
{
    static const char *const first[] = {"run", "n", "read_at"};
    static const char *const scaling[] = {"devices", "images_per_second", "speed_up", "efficiency",
                                          "mark"};
    static const char *const main[] = {
        "test_acc",  "difference_n", "difference", "difference_lo", "difference_hi",
        "gain_mean", "gain_best",    "best_epoch", "last.test_acc", "test_loss"};
    const char *name = c->table.column[column].name;

    for (size_t i = 0; i < MEM_COUNT(first); i++)
        if (!strcmp(name, first[i]))
            return (int)i;
    for (size_t i = 0; c->scaling && i < MEM_COUNT(scaling); i++)
        if (!strcmp(name, scaling[i]))
            return 10 + (int)i;
    if (!strcmp(name, "state") || !strcmp(name, "schedule_ended"))
        return 1000;
    if (!strcmp(name, "test_acc"))
        return 1;
    if (study_is_setting(name)) /* what mode a run has its name says too, and it is wide */
        return strcmp(name, "mode") != 0 ? 100 : 101;
    for (size_t i = 0; i < MEM_COUNT(main); i++)
        if (!strcmp(name, main[i]))
            return 200 + (int)i;
    return 300;
}

static void order_columns(struct compare *c)
{
    const struct study_table *t = &c->table;

    c->column = mem_new(t->columns + 1, sizeof *c->column);
    c->columns = 0;
    for (int i = 0; i < (int)t->columns; i++) {
        int at = c->columns;

        if (is_idle(t, i))
            continue;
        while (at > 0 && rank(c, c->column[at - 1]) > rank(c, i)) {
            c->column[at] = c->column[at - 1];
            at--;
        }
        c->column[at] = i;
        c->columns++;
    }
}

/* By accuracy, falling, where that is wished; what has none comes last. */
static void order_rows(struct compare *c)
{
    struct study_table *t = &c->table;
    int acc = study_table_find(t, "test_acc");

    c->order = mem_new(t->rows + 1, sizeof *c->order);
    for (size_t i = 0; i < t->rows; i++) {
        double value = acc >= 0 ? study_table_cell(t, i, acc)->value : NAN;
        size_t at = i;

        while (c->sorted && acc >= 0 && at > 0) {
            double other = study_table_cell(t, c->order[at - 1], acc)->value;

            if (!(value > other || (isnan(other) && !isnan(value))))
                break;
            c->order[at] = c->order[at - 1];
            at--;
        }
        c->order[at] = i;
    }
}

static void make_table(struct compare *c)
{
    const struct compare_set *set = c->set;
    struct study_wish wish = {.over = c->over ? "seed" : NULL,
                              .equal = c->equal.on,
                              .budget = c->equal.budget,
                              .target = c->target};
    struct err e = {0};

    c->wrong[0] = 0;
    if (c->scaling) {
        study_scaling_table(set->run, set->count, &c->table);
        c->points = study_scaling(set->run, set->count, &c->point);
    } else if (study_compare(set->run, set->count, &wish, &c->table, &e) != ERR_OK) {
        snprintf(c->wrong, sizeof c->wrong, "%.599s", e.text);
    }
    order_columns(c);
    order_rows(c);
}

/* ---- curves ---- */

const char *compare_axis(const struct compare *c)
{
    static const char *const of[STUDY_BUDGETS] = {"epoch", "model-images", "seconds",
                                                  "device-seconds"};

    return c->equal.on ? of[c->equal.budget] : compare_x_names[c->x];
}

static void make_curves(struct compare *c, int panel, int metric)
{
    struct curves_wish wish = {.metric = metrics[metric][0],
                               .x = compare_axis(c),
                               .log_y = c->log_y,
                               .smooth = c->smooth,
                               .over = c->over ? "seed" : NULL,
                               .band = c->over ? "sd" : NULL};
    struct curves *of = &c->curves[panel];
    struct plot *p = &c->plot[panel];
    struct err e = {0};

    bool share = study_kind_of(metrics[metric][0]) == STUDY_SHARE;

    snprintf(c->title[panel], sizeof c->title[panel], "%s%s", metrics[metric][1],
             share ? share_unit() : "");
    if (curves_of(of, c->set->run, c->set->count, &wish, &e) != ERR_OK) {
        bool log = c->log_y && compare_has_metric(c, metric);

        snprintf(c->missing[panel], sizeof c->missing[panel],
                 log ? "No value above 0, so none has a logarithm: y."
                     : "No run has a value of %s.",
                 metrics[metric][1]);
        return;
    }
    *p = of->panel[0];
    p->title = NULL;
    p->per_cent = share && share_in_per_cent();
    c->series[panel] = mem_new((size_t)p->count + 1, sizeof *c->series[panel]);
    c->reads[panel] = mem_new((size_t)p->count + 1, sizeof *c->reads[panel]);
    memcpy(c->series[panel], p->series, (size_t)p->count * sizeof *c->series[panel]);
    p->series = c->series[panel];
    for (int i = 0; i < p->count; i++) {
        c->series[panel][i].label = c->label[of->line[i].group];
        c->series[panel][i].colour = (int)of->line[i].group;
        c->series[panel][i].dashed = false;
    }
}

/* Images per second, and the speed-up, by devices: a curve a setting, and beside it what says
 * nothing of speed-up. */
static void make_scaling(struct compare *c, int panel)
{
    struct curves *of = &c->curves[panel];
    struct plot *p = &c->plot[panel];
    size_t settings = 0;

    snprintf(c->title[panel], sizeof c->title[panel], "%s",
             panel ? "speed-up over real devices" : "images per second");
    for (size_t i = 0; i < c->points; i++)
        settings = c->point[i].setting + 1 > settings ? c->point[i].setting + 1 : settings;
    c->series[panel] = mem_new(2 * settings + 1, sizeof *c->series[panel]);
    for (size_t s = 0; s < 2 * settings; s++) {
        bool counts = s < settings;
        struct curves_line line = {.group = s % settings,
                                   .dashed = !counts,
                                   .x = mem_new(2 * c->points, sizeof *line.x),
                                   .y = mem_new(2 * c->points, sizeof *line.y)};

        line.n = study_scaling_line(c->point, c->points, line.group, counts, panel, line.x, line.y);
        if (!line.n || (panel && s >= settings)) {
            free(line.x);
            free(line.y);
            continue;
        }
        of->line = mem_grow(of->line, &of->room, of->lines + 1, sizeof *of->line);
        of->line[of->lines++] = line;
        c->series[panel][p->count++] = (struct plot_series){.x = line.x,
                                                            .y = line.y,
                                                            .n = line.n,
                                                            .colour = (int)line.group,
                                                            .dashed = line.dashed};
    }
    p->series = c->series[panel];
    p->x_label = "devices";
    p->whole_x = true;
}

static bool has_point(const struct plot *p)
{
    for (int i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->series[i].n; k++)
            if (isfinite(p->series[i].y[k]))
                return true;
    return false;
}

static void make_plots(struct compare *c)
{
    c->panels = c->wide ? 2 : 1;
    for (int i = 0; i < c->panels; i++) {
        if (c->scaling)
            make_scaling(c, i);
        else
            make_curves(c, i, compare_first_metric(c) + i);
        if (!c->missing[i][0] && !has_point(&c->plot[i])) {
            snprintf(c->missing[i], sizeof c->missing[i], "%s",
                     c->scaling
                         ? "Only real devices that compute alone have a speed-up; these runs "
                           "have none beside each other."
                         : "No run has ended its first epoch yet.");
            c->plot[i].count = 0;
        }
    }
}

static const struct curves_line *line_of(const struct curves *of, size_t group)
{
    for (size_t i = 0; i < of->lines; i++)
        if (of->line[i].group == group)
            return &of->line[i];
    return NULL;
}

static bool same_values(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

/* In all that is shown: one lies under the other. */
static bool same_curves(const struct compare *c, size_t a, size_t b)
{
    bool any = false;

    for (int p = 0; p < c->panels; p++) {
        const struct curves_line *x = line_of(&c->curves[p], a), *y = line_of(&c->curves[p], b);

        if (!x && !y)
            continue;
        if (!x || !y || x->n != y->n || !same_values(x->x, y->x, x->n) ||
            !same_values(x->y, y->y, x->n))
            return false;
        any = true;
    }
    return any;
}

static void find_twins(struct compare *c)
{
    c->twin = mem_new(c->groups + 1, sizeof *c->twin);
    for (size_t g = 0; g < c->groups; g++) {
        c->twin[g] = g;
        for (size_t k = 0; k < g && c->twin[g] == g && !c->scaling; k++)
            if (same_curves(c, k, g))
                c->twin[g] = c->twin[k];
    }
}

bool compare_has_twin(const struct compare *c, size_t group)
{
    for (size_t g = 0; group < c->groups && g < c->groups; g++)
        if (g != group && c->twin[g] == c->twin[group])
            return true;
    return false;
}

/* ---- focus and cursor ---- */

size_t compare_row_group(const struct compare *c, size_t row)
{
    size_t at = row < c->table.rows ? c->order[row] : c->table.rows;

    if (c->scaling)
        return at < c->points ? c->point[at].setting : c->groups;
    return at < c->groups ? at : c->groups;
}

/* The first run that a row stands for. */
static size_t row_run(const struct compare *c, size_t row)
{
    size_t group = compare_row_group(c, row), i = 0;

    if (c->scaling)
        return row < c->table.rows && c->order[row] < c->points ? c->point[c->order[row]].run
                                                                : c->set->count;
    while (i < c->set->count && c->of[i] != group)
        i++;
    return i;
}

/* At an equal budget a curve is read in the row that the table reads: a curve is one run, and its points
 * are the run's epochs. */
static void read_within(struct compare *c, int panel, const struct study_limit *limit)
{
    const struct curves *of = &c->curves[panel];
    struct study_reading r;

    for (int i = 0; i < c->plot[panel].count; i++) {
        study_read_at(&c->set->run[of->line[i].group], limit, &r);
        c->reads[panel][i] = r.row < 0 ? of->line[i].n : (size_t)r.row;
    }
    c->plot[panel].reads = c->reads[panel];
}

void compare_set_cursor(struct compare *c)
{
    struct study_limit limit = {.cost = NAN};

    if (!c->set)
        return;
    if (c->equal.on)
        limit = study_least_cost(c->set->run, c->set->count, c->equal.budget);
    if (c->cursor && c->cursor_x != limit.cost) /* only the budget grants half an epoch */
        limit = (struct study_limit){limit.budget, c->cursor_x, 0};
    for (int i = 0; i < c->panels; i++) {
        c->plot[i].cursor = !c->scaling && isfinite(limit.cost);
        c->plot[i].cursor_x = limit.cost;
        if (c->equal.on && c->plot[i].cursor)
            read_within(c, i, &limit);
    }
    free(c->read);
    c->read = mem_new(c->groups + 1, sizeof *c->read);
    for (size_t g = 0; g < c->groups; g++)
        c->read[g] = NAN;
    if (c->cursor && !c->scaling && c->plot[0].count) {
        double *value = mem_new((size_t)c->plot[0].count, sizeof *value);

        plot_read(&c->plot[0], value);
        for (int i = 0; i < c->plot[0].count; i++)
            c->read[c->curves[0].line[i].group] = value[i];
        free(value);
    }
}

void compare_focus(struct compare *c, size_t row)
{
    size_t group, run;

    if (!c->set || !c->table.rows)
        return;
    c->row = row < c->table.rows ? row : c->table.rows - 1;
    group = compare_row_group(c, c->row);
    run = row_run(c, c->row);
    if (run < c->set->count)
        snprintf(c->focus, sizeof c->focus, "%s", c->set->entry[run].name);
    for (int p = 0; p < c->panels; p++) {
        c->plot[p].front = 0;
        for (int i = 0; i < c->plot[p].count; i++) {
            bool is = c->curves[p].line[i].group == group;

            c->series[p][i].weight = is                                ? PLOT_THICK
                                     : c->plot[p].count > COMPARE_MANY ? PLOT_THIN
                                                                       : PLOT_NORMAL;
            if (is)
                c->plot[p].front = i + 1;
        }
    }
}

static void find_focus(struct compare *c)
{
    for (size_t row = 0; row < c->table.rows; row++) {
        size_t run = row_run(c, row);

        if (run < c->set->count && !strcmp(c->set->entry[run].name, c->focus)) {
            compare_focus(c, row);
            return;
        }
    }
    compare_focus(c, c->row);
}

static void make(struct compare *c)
{
    compare_free_made(c);
    c->stale = false;
    c->percent = share_in_per_cent();
    if (!c->set || !c->set->count)
        return;
    compare_name_groups(c);
    make_table(c);
    make_plots(c);
    find_twins(c);
    find_focus(c);
    compare_set_cursor(c);
}

void compare_renew(struct compare *c)
{
    if (c->stale || c->percent != share_in_per_cent())
        make(c);
}
