#include "cli/figures.h"

#include "base/io.h"
#include "base/mem.h"
#include "cli/predictions.h"
#include "study/compare.h"
#include "study/confusion.h"
#include "study/members.h"
#include "study/runs.h"
#include "study/scaling.h"
#include "study/stats.h"
#include "ui/curves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *vector(struct figures *f, size_t n)
{
    double *v = mem_new(n + 1, sizeof *v);

    f->vector = mem_grow(f->vector, &f->vector_room, f->vectors + 1, sizeof *f->vector);
    f->vector[f->vectors++] = v;
    return v;
}

/* Takes the word over. */
static const char *keep(struct figures *f, char *word)
{
    f->word = mem_grow(f->word, &f->word_room, f->words + 1, sizeof *f->word);
    f->word[f->words++] = word;
    return word;
}

static struct plot_series *add_series(struct figures *f, int panel, const char *label, size_t n,
                                      double **x, double **y)
{
    struct plot *p = &f->plot[panel];
    struct plot_series *s;

    f->series[panel] = mem_resize(f->series[panel], (size_t)p->count + 1, sizeof *s);
    *x = vector(f, n);
    *y = vector(f, n);
    s = &f->series[panel][p->count];
    *s = (struct plot_series){.label = label, .x = *x, .y = *y, .n = n, .colour = p->count};
    p->count++;
    p->series = f->series[panel];
    return s;
}

static void set_plot(struct figures *f, int panel, const char *title, const char *x_label)
{
    f->plot[panel] = (struct plot){.title = title, .x_label = x_label, .whole_x = true};
    f->panel[panel] = (struct figure_panel){.plot = &f->plot[panel]};
    f->panels = panel + 1;
}

void figures_free(struct figures *f)
{
    for (size_t i = 0; i < f->vectors; i++)
        free(f->vector[i]);
    for (size_t i = 0; i < f->words; i++)
        free(f->word[i]);
    free(f->vector);
    free(f->word);
    for (int i = 0; i < 2; i++) {
        free(f->series[i]);
        free(f->band[i]);
    }
    text_free(&f->note);
    *f = (struct figures){0};
}

/* ---- scaling ---- */

/* How many of them count, or how many do not. */
static size_t points_that(const struct study_point *p, size_t n, bool count)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += study_point_counts(&p[i]) == count;
    return found;
}

static const char *marks_of(const struct study_point *p, size_t n)
{
    bool is_virtual = false, shared = false;

    for (size_t i = 0; i < n; i++) {
        is_virtual |= p[i].is_virtual;
        shared |= p[i].shared;
    }
    return is_virtual && shared ? "virtual or shared" : is_virtual ? "virtual" : "shared";
}

/* Points that do not count are no part of a curve: each stands alone, between gaps. */
static void scale_marked(struct figures *f, const struct study_point *p, size_t n,
                         const char *label)
{
    size_t marked = points_that(p, n, false), at = 0;
    struct plot_series *s;
    double *x, *y;

    if (!marked)
        return;
    s = add_series(f, 0, keep(f, mem_textf("%s, %s", label, marks_of(p, n))), 2 * marked - 1, &x,
                   &y);
    s->dashed = true;
    for (size_t i = 0; i < n; i++) {
        if (study_point_counts(&p[i]))
            continue;
        if (at) {
            x[at] = x[at - 1];
            y[at++] = NAN;
        }
        x[at] = (double)p[i].devices;
        y[at++] = p[i].images_per_second;
    }
}

/* By the speed of the fewest devices that count. */
static void scale_ideal(struct figures *f, const struct study_point *p, size_t n)
{
    struct plot_series *ideal;
    double *x, *y;
    size_t at = 0;

    if (points_that(p, n, true) < 2)
        return;
    ideal = add_series(f, 0, "ideal", points_that(p, n, true), &x, &y);
    ideal->dashed = true;
    for (size_t i = 0; i < n; i++) {
        if (!study_point_counts(&p[i]))
            continue;
        x[at] = (double)p[i].devices;
        y[at] = at ? y[0] * x[at] / x[0] : p[i].images_per_second;
        at++;
    }
}

static void scale_setting(struct figures *f, const struct study_point *p, size_t n,
                          const char *label)
{
    size_t count = points_that(p, n, true), at = 0;
    double *x, *y;

    if (count)
        add_series(f, 0, label, count, &x, &y);
    for (size_t i = 0; i < n; i++) {
        if (!study_point_counts(&p[i]))
            continue;
        x[at] = (double)p[i].devices;
        y[at++] = p[i].images_per_second;
    }
    scale_ideal(f, p, n);
    scale_marked(f, p, n, label);
}

/* Of each number of devices the point that counts, where one does; the others stand alone. */
static void scale_shares(struct figures *f, const struct study_point *p, size_t n)
{
    static const char *const names[] = {"compute", "reduce", "wait", "input"};

    for (int k = 0; k < 4; k++) {
        double *x, *y;
        struct plot_series *s = add_series(f, 1, names[k], 2 * n, &x, &y);

        s->n = 0;
        for (size_t i = 0; i < n; i++) {
            const double share[] = {p[i].compute, p[i].reduce, p[i].wait, p[i].input};

            if (i && p[i].devices == p[i - 1].devices)
                continue;
            if (s->n && !(study_point_counts(&p[i]) && study_point_counts(&p[i - 1]))) {
                x[s->n] = x[s->n - 1];
                y[s->n++] = NAN;
            }
            x[s->n] = (double)p[i].devices;
            y[s->n++] = share[k];
        }
    }
}

/* What tells the settings apart ("batch=64 lr=0.1"), the run where nothing does. */
static struct text *setting_names(const struct study_run *runs, const struct study_point *p,
                                  size_t points)
{
    size_t settings = points ? p[points - 1].setting + 1 : 0;
    struct study_run *first = mem_new(settings + 1, sizeof *first); /* their sheets are borrowed */
    struct text *name = mem_new(settings + 1, sizeof *name);
    size_t *of = mem_new(settings + 1, sizeof *of);

    for (size_t i = points; i-- > 0;)
        first[p[i].setting] = runs[p[i].run];
    for (size_t i = 0; i < settings; i++)
        of[i] = i;
    curves_name_groups(first, settings, of, settings, "devices", name);
    for (size_t i = 0; i < settings; i++)
        if (!name[i].n)
            text_add(&name[i], study_short_name(first[i].entry->name));
    free(first);
    free(of);
    return name;
}

enum err_code figures_scaling(struct figures *f, const struct record_entry *entry, size_t count,
                              struct err *e)
{
    struct study_run *runs;
    struct study_point *p;
    struct text *name;
    size_t points;
    bool marked = false;

    *f = (struct figures){0};
    TRY(study_open(&runs, entry, count, e));
    points = study_scaling(runs, count, &p);
    name = setting_names(runs, p, points);
    set_plot(f, 0, "images per second", "devices");
    set_plot(f, 1, "share of the devices' time", "devices");
    f->plot[0].zero_y = f->plot[1].zero_y = true;
    for (size_t i = 0, n; i < points; i += n) {
        for (n = 1; i + n < points && p[i + n].setting == p[i].setting;)
            n++;
        scale_setting(f, p + i, n, keep(f, name[p[i].setting].s));
        if (i == 0)
            scale_shares(f, p, n);
    }
    for (size_t i = 0; i < points; i++)
        marked |= p[i].is_virtual || p[i].shared;
    if (marked)
        text_add(&f->note,
                 "Points off the curves are of virtual devices, which share the real ones, "
                 "or of shared runs, which computed beside others: they say nothing of "
                 "speed-up.\n");
    free(name); /* the words are the figure's now */
    free(p);
    study_close(runs, count);
    if (points)
        return ERR_OK;
    figures_free(f);
    return err_set(e, ERR_INPUT, "none of these runs has a whole epoch: there is no speed yet");
}

/* ---- board ---- */

struct values { /* of a key, in the order of numbers, words as they come */
    char **text;
    size_t n, room;
};

static int by_number(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    double p, q;

    if (text_to_double(x, &p) && text_to_double(y, &q))
        return (p > q) - (p < q);
    return strcmp(x, y);
}

static char *value_of(const struct study_run *run, const char *key)
{
    struct text value = {0};

    if (*key)
        study_value(run, key, &value);
    return value.s ? value.s : mem_text("");
}

static size_t place_of(const struct values *v, const char *text)
{
    size_t i = 0;

    while (i < v->n && strcmp(v->text[i], text) != 0)
        i++;
    return i;
}

static struct values values_of(const struct study_run *runs, size_t count, const char *key)
{
    struct values v = {0};

    for (size_t i = 0; i < count; i++) {
        char *text = value_of(&runs[i], key);

        if (place_of(&v, text) < v.n) {
            free(text);
            continue;
        }
        v.text = mem_grow(v.text, &v.room, v.n + 1, sizeof *v.text);
        v.text[v.n++] = text;
    }
    if (v.n)
        qsort(v.text, v.n, sizeof *v.text, by_number);
    return v;
}

static void free_values(struct values *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->text[i]);
    free(v->text);
}

/* lr down and batch across where both vary, else the two keys with most values. "": no key is left
 * for that side. */
static enum err_code choose_keys(const struct study_run *runs, size_t count, const char **rows,
                                 const char **columns, struct err *e)
{
    static const char *const liked[] = {"lr", "batch"};
    const char *best[2] = {*rows, *columns};
    bool free_sides = !*rows && !*columns;
    size_t found;
    const char **names = study_differences(runs, count, &found);

    for (int k = 0; k < 2; k++) {
        size_t most = 1;

        for (size_t i = 0; i < found && !best[k]; i++)
            if (!strcmp(names[i], liked[k]))
                best[k] = names[i];
        if (best[k])
            continue;
        for (size_t i = 0; i < found; i++) {
            struct values v = values_of(runs, count, names[i]);
            bool taken = (best[0] && !strcmp(best[0], names[i])) ||
                         (best[1] && !strcmp(best[1], names[i])) || !strcmp(names[i], "seed") ||
                         (!best[1 - k] && !strcmp(names[i], liked[1 - k])) ||
                         spec_key_find(names[i]) < 0;

            if (!taken && v.n > most) {
                most = v.n;
                best[k] = names[i];
            }
            free_values(&v);
        }
    }
    free(names);
    if (free_sides && !best[0]) {
        best[0] = best[1];
        best[1] = NULL;
    }
    *rows = best[0] ? best[0] : "";
    *columns = best[1] ? best[1] : "";
    if (best[0] || best[1])
        return ERR_OK;
    return err_set(e, ERR_INPUT,
                   "these runs do not differ in any key: a board needs two that vary, such as lr "
                   "and batch");
}

struct cells { /* of a board: where each of its runs stands */
    const struct study_run *runs;
    size_t count, settings;
    size_t *cell, *setting; /* (count); runs of one setting differ in their seeds alone */
    bool *again;            /* (count): done twice, a run counts once */
    size_t least, most;     /* results of a setting, where there are any */
};

/* Of n results and their settings: within each setting, that nothing but seeds spreads them. nan: no
 * setting has two. */
static double sd_over_seeds(struct cells *c, const double *x, const size_t *setting, size_t n)
{
    double *sum = mem_new(c->settings + 1, sizeof *sum), squares = 0;
    size_t *of = mem_new(c->settings + 1, sizeof *of), freedom = n;

    for (size_t i = 0; i < n; i++) {
        sum[setting[i]] += x[i];
        of[setting[i]]++;
    }
    for (size_t i = 0; i < n; i++) {
        double off = x[i] - sum[setting[i]] / (double)of[setting[i]];

        squares += off * off;
    }
    for (size_t k = 0; k < c->settings; k++) {
        if (!of[k])
            continue;
        freedom--;
        c->least = of[k] < c->least ? of[k] : c->least;
        c->most = of[k] > c->most ? of[k] : c->most;
    }
    free(sum);
    free(of);
    return freedom ? sqrt(squares / (double)freedom) : NAN;
}

/* What stands in a cell: the mean and the deviation, or why there is none. */
static char *cell_words(struct cells *c, size_t at, const char *metric, double *mean)
{
    double *x = mem_new(c->count, sizeof *x), sd;
    size_t *setting = mem_new(c->count, sizeof *setting), n = 0;
    const char *state = "";
    char room[64];

    for (size_t i = 0; i < c->count; i++) {
        const struct record_entry *entry = c->runs[i].entry;
        double value;

        if (c->cell[i] != at || c->again[i])
            continue;
        value = study_number(&c->runs[i], metric);
        if (entry->run.state == WIRE_DONE && isfinite(value)) {
            setting[n] = c->setting[i];
            x[n++] = value;
        } else {
            state = entry->dead ? "dead" : wire_state_name(entry->run.state);
        }
    }
    *mean = n ? study_mean(x, n) : NAN;
    sd = sd_over_seeds(c, x, setting, n);
    if (!n)
        snprintf(room, sizeof room, "%s", state);
    else if (isnan(sd))
        snprintf(room, sizeof room, fabs(*mean) < 10 ? "%.4f" : "%.1f", *mean);
    else
        snprintf(room, sizeof room, fabs(*mean) < 10 ? "%.4f ± %.4f" : "%.1f ± %.1f", *mean, sd);
    free(x);
    free(setting);
    return mem_text(room);
}

/* Computed numbers as short as they differ. */
static void short_names(struct figures *f, const struct values *v, const char **names)
{
    int digits = text_least_digits((const char *const *)v->text, v->n);

    for (size_t i = 0; i < v->n; i++) {
        struct text t = {0};

        text_add(&t, "");
        text_add_short(&t, v->text[i], digits);
        names[i] = keep(f, t.s);
    }
}

static void note_spread(struct figures *f, const struct cells *c)
{
    if (c->most < 2)
        return;
    text_addf(&f->note, "± is one standard deviation over seeds alone, n = %zu", c->least);
    if (c->least < c->most)
        text_addf(&f->note, " to %zu", c->most);
    text_add(&f->note, " runs of a setting.\n");
}

static void fill_board(struct figures *f, const struct study_run *runs, size_t count,
                       const char *metric, const char *rows, const char *columns)
{
    struct values down = values_of(runs, count, rows), across = values_of(runs, count, columns);
    size_t cells = down.n * across.n;
    struct cells place = {.runs = runs,
                          .count = count,
                          .cell = mem_new(count, sizeof *place.cell),
                          .setting = mem_new(count, sizeof *place.setting),
                          .again = mem_new(count, sizeof *place.again),
                          .least = count};
    const char **row_name = mem_new(down.n + 1, sizeof *row_name);
    const char **column_name = mem_new(across.n + 1, sizeof *column_name);
    const char **words = mem_new(cells + 1, sizeof *words);
    double *value = vector(f, cells);

    study_repeats(runs, count, place.again);
    place.settings = study_groups(runs, count, "seed", place.setting);
    for (size_t i = 0; i < count; i++) {
        char *r = value_of(&runs[i], rows), *c = value_of(&runs[i], columns);

        place.cell[i] = place_of(&down, r) * across.n + place_of(&across, c);
        free(r);
        free(c);
    }
    for (size_t i = 0; i < cells; i++)
        words[i] = keep(f, cell_words(&place, i, metric, &value[i]));
    short_names(f, &down, row_name);
    short_names(f, &across, column_name);
    f->board = (struct board){keep(f, mem_text(metric)),
                              keep(f, mem_text(rows)),
                              keep(f, mem_text(columns)),
                              (int)down.n,
                              (int)across.n,
                              row_name,
                              column_name,
                              value,
                              words};
    keep(f, (char *)row_name);
    keep(f, (char *)column_name);
    keep(f, (char *)words);
    f->panel[0] = (struct figure_panel){.board = &f->board};
    f->panels = 1;
    note_spread(f, &place);
    free(place.again);
    free(place.cell);
    free(place.setting);
    free_values(&down);
    free_values(&across);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Whether any cell is a mean. */
static bool shares_a_cell(const struct study_run *runs, size_t count, const char *rows,
                          const char *columns)
{
    char **place = mem_new(count + 1, sizeof *place);
    bool shared = false;

    for (size_t i = 0; i < count; i++) {
        char *r = value_of(&runs[i], rows), *c = value_of(&runs[i], columns);

        place[i] = mem_textf("%s\n%s", r, c);
        free(r);
        free(c);
    }
    qsort(place, count, sizeof *place, by_bytes);
    for (size_t i = 1; i < count; i++)
        shared |= !strcmp(place[i - 1], place[i]);
    io_free_names(place, count);
    return shared;
}

/* What a cell is a mean over must be said. */
static void note_others(struct figures *f, const struct study_run *runs, size_t count,
                        const char *rows, const char *columns)
{
    size_t found, others = 0;
    const char **names = study_differences(runs, count, &found);

    if (!shares_a_cell(runs, count, rows, columns))
        found = 0;
    for (size_t i = 0; i < found; i++)
        if (strcmp(names[i], rows) != 0 && strcmp(names[i], columns) != 0)
            text_addf(&f->note, "%s%s", others++ ? ", " : "Cells are means over ", names[i]);
    text_add(&f->note, others ? ".\n" : "");
    free(names);
}

static void note_picks(struct figures *f, const struct study_run *runs, size_t count)
{
    size_t test = 0, valid = 0;

    for (size_t i = 0; i < count; i++) {
        test += !strcmp(runs[i].entry->run.best_by, "test");
        valid += !strcmp(runs[i].entry->run.best_by, "valid");
    }
    if (test)
        text_addf(&f->note, "Best epochs %swere picked on test data.\n",
                  valid ? "of runs without validation data " : "");
}

static enum err_code check_name(const struct study_run *run, const char *option, const char *name,
                                struct err *e)
{
    const char *near = name ? study_name_near(run, name) : NULL;

    if (!near)
        return ERR_OK;
    return err_set(e, ERR_INPUT, "%s %s is no column%s%s%s", option, name,
                   *near ? "; did you mean " : "", near, *near ? "?" : "");
}

/* A word has no mean and no colour. */
static enum err_code check_number(const struct study_run *runs, size_t count, const char *metric,
                                  struct err *e)
{
    struct text value = {0};
    bool word = false, number = false;

    for (size_t i = 0; i < count; i++) {
        double x;

        text_clear(&value);
        study_value(&runs[i], metric, &value);
        number |= value.n && text_to_double(text_str(&value), &x);
        word |= value.n && !text_to_double(text_str(&value), &x);
    }
    text_free(&value);
    if (!word || number)
        return ERR_OK;
    return err_set(e, ERR_INPUT, "--metric %s holds words: a board shows numbers, such as test_acc",
                   metric);
}

enum err_code figures_board(struct figures *f, const struct record_entry *entry, size_t count,
                            const char *metric, const char *rows, const char *columns,
                            struct err *e)
{
    struct study_run *runs;
    enum err_code code;

    *f = (struct figures){0};
    TRY(study_open(&runs, entry, count, e));
    metric = metric ? metric : "test_acc";
    code = check_name(&runs[0], "--metric", metric, e);
    if (code == ERR_OK)
        code = check_number(runs, count, metric, e);
    if (code == ERR_OK)
        code = check_name(&runs[0], "--down", rows, e);
    if (code == ERR_OK)
        code = check_name(&runs[0], "--across", columns, e);
    if (code == ERR_OK)
        code = choose_keys(runs, count, &rows, &columns, e);
    if (code == ERR_OK)
        note_others(f, runs, count, rows, columns);
    if (code == ERR_OK)
        fill_board(f, runs, count, metric, rows, columns);
    if (code == ERR_OK)
        note_picks(f, runs, count);
    study_close(runs, count);
    return code;
}

/* ---- ensembles ---- */

void figures_prefix_start(struct figures *f)
{
    *f = (struct figures){0};
    set_plot(f, 0, "accuracy of k members", "members");
    text_add(&f->note, "Mean over the sets of k members (their averaged probabilities); the band "
                       "reaches from the worst set to the best.\n");
}

void figures_prefix_add(struct figures *f, const char *run, const struct study_members *s)
{
    double *x, *y, *lo, *hi;

    add_series(f, 0, keep(f, mem_text(study_short_name(run))), (size_t)s->members, &x, &y);
    lo = vector(f, (size_t)s->members);
    hi = vector(f, (size_t)s->members);
    for (int k = 0; k < s->members; k++) {
        x[k] = k + 1;
        y[k] = s->of[k].mean;
        lo[k] = s->of[k].least;
        hi[k] = s->of[k].most;
    }
    f->band[0] = mem_resize(f->band[0], (size_t)f->plot[0].bands + 1, sizeof *f->band[0]);
    f->band[0][f->plot[0].bands] =
        (struct plot_band){x, lo, hi, (size_t)s->members, f->plot[0].bands};
    f->plot[0].bands++;
    f->plot[0].band = f->band[0];
}

static enum err_code add_prefix(struct figures *f, const struct record_entry *run, struct err *e)
{
    struct study_answers answers;
    struct predictions p;
    struct study_members s;

    TRY(predictions_get(&p, run, e));
    answers = predictions_answers(&p);
    study_members(&s, &answers);
    figures_prefix_add(f, run->name, &s);
    study_members_free(&s);
    predictions_free(&p);
    return ERR_OK;
}

enum err_code figures_prefix(struct figures *f, const struct record_entry *runs, size_t count,
                             struct err *e)
{
    size_t ensembles = 0;

    figures_prefix_start(f);
    for (size_t i = 0; i < count; i++) {
        enum err_code code;

        if (runs[i].broken || runs[i].run.spec.mode != SPEC_ENSEMBLE)
            continue;
        ensembles++;
        code = add_prefix(f, &runs[i], e);
        if (code != ERR_OK) {
            figures_free(f);
            return code;
        }
    }
    if (!ensembles) {
        figures_free(f);
        return err_set(e, ERR_INPUT,
                       "none of these runs is an ensemble: there are no members to "
                       "average; mode = ensemble trains one");
    }
    return ERR_OK;
}

/* Whether it has letters that neither LaTeX nor the fonts of every PDF reader know. */
static bool is_foreign(const char *name)
{
    struct text tex = {0};
    size_t asked = 0, got = 0;

    text_add_tex(&tex, name);
    for (const char *s = name; *s; s++)
        asked += *s == '?';
    for (const char *s = text_str(&tex); *s; s++)
        got += *s == '?';
    text_free(&tex);
    return got > asked;
}

enum err_code figures_confusion(struct figures *f, const struct record_entry *run, struct err *e)
{
    struct predictions p;
    struct study_confusion c;
    struct study_table t = {0};
    int *answers, n;
    const char **names, **words;
    double *value;
    bool foreign = false;

    *f = (struct figures){0};
    TRY(predictions_get(&p, run, e));
    n = p.classes;
    answers = mem_new(p.n, sizeof *answers);
    for (size_t i = 0; i < p.n; i++)
        answers[i] = predictions_answer(&p, -1, i);
    study_confusion(&c, p.labels, answers, p.n, n);
    study_confusion_table(&c, p.class_names, &t);
    names = mem_new((size_t)n + 1, sizeof *names);
    words = mem_new((size_t)n * (size_t)n + 1, sizeof *words);
    value = vector(f, (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++) {
        const char *name = study_table_cell(&t, (size_t)i, 0)->text;

        foreign |= is_foreign(name);
        names[i] = keep(f, is_foreign(name) ? mem_textf("%d %s", i, name) : mem_text(name));
    }
    if (foreign)
        text_add(&f->note, "Letters that are not Latin stand as ? in PDF and LaTeX: the number in "
                           "front tells the class.\n");
    for (int i = 0; i < n * n; i++) {
        value[i] = (double)c.count[i];
        words[i] = keep(f, mem_textf("%llu", (unsigned long long)c.count[i]));
    }
    keep(f, (char *)names);
    keep(f, (char *)words);
    f->board =
        (struct board){"label against answer", "label", "answer", n, n, names, names, value, words};
    f->panel[0] = (struct figure_panel){.board = &f->board};
    f->panels = 1;
    free(answers);
    study_table_free(&t);
    study_confusion_free(&c);
    predictions_free(&p);
    return ERR_OK;
}
