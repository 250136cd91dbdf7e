/* A metric over two keys of runs, as a board. */
#include "cli/out/report/figures_int.h"

#include "base/io.h"
#include "base/mem.h"
#include "record/run/reader.h"
#include "study/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        char *text = study_text(&runs[i], key);

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
        const char *other = best[1 - k] ? best[1 - k] : liked[1 - k];
        size_t most = 1;

        for (size_t i = 0; i < found && !(k ? *columns : *rows); i++) {
            struct values v = values_of(runs, count, names[i]);
            size_t worth = strcmp(names[i], liked[k]) ? v.n : count + 1;

            free_values(&v);
            if (worth > most && strcmp(names[i], other) != 0 && strcmp(names[i], "seed") != 0 &&
                spec_key_find(names[i]) >= 0) {
                most = worth;
                best[k] = names[i];
            }
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

/* Whether a run is one of those that its cell is a mean of. */
static bool counts(const struct cells *c, size_t i, const char *metric)
{
    return !c->again[i] && c->runs[i].entry->run.state == WIRE_DONE &&
           isfinite(study_number(&c->runs[i], metric));
}

/* What stands in a cell: the mean and the deviation, or why there is none. */
static char *cell_words(struct cells *c, size_t at, const char *metric, double *mean)
{
    double *x = mem_new(c->count, sizeof *x), sd;
    size_t *setting = mem_new(c->count, sizeof *setting), n = 0;
    const char *state = "";
    struct text words = {0};

    for (size_t i = 0; i < c->count; i++) {
        const struct record_entry *entry = c->runs[i].entry;

        if (c->cell[i] != at || c->again[i])
            continue;
        if (counts(c, i, metric)) {
            setting[n] = c->setting[i];
            x[n++] = study_number(&c->runs[i], metric);
        } else {
            state = entry->dead ? "dead" : wire_state_name(entry->run.state);
        }
    }
    *mean = n ? study_mean(x, n) : NAN;
    sd = sd_over_seeds(c, x, setting, n);
    text_add(&words, n ? "" : state);
    if (n)
        text_add_fixed(&words, *mean, fabs(*mean) < 10 ? 4 : 1);
    if (isfinite(sd)) {
        text_add(&words, " ± ");
        text_add_fixed(&words, sd, fabs(*mean) < 10 ? 4 : 1);
    }
    free(x);
    free(setting);
    return words.s;
}

/* Computed numbers as short as they differ. */
static void short_names(struct figures *f, const struct values *v, const char **names)
{
    int digits = text_least_digits((const char *const *)v->text, v->n);

    for (size_t i = 0; i < v->n; i++) {
        struct text t = {0};

        text_add(&t, "");
        text_add_short(&t, v->text[i], digits);
        names[i] = figures_keep(f, t.s);
    }
}

static void note_spread(struct figures *f, const struct cells *c)
{
    if (c->most < 2)
        return;
    text_addf(&f->note, "± is one standard deviation over seeds alone, n = %s",
              TEXT_COUNT(c->least));
    if (c->least < c->most)
        text_addf(&f->note, " to %s", TEXT_COUNT(c->most));
    text_add(&f->note, " runs of a setting.\n");
}

static void note_far_below(struct figures *f)
{
    struct board_scale scale;
    const struct board *b = &f->board;
    char lo[TEXT_NUMBER_ROOM], hi[TEXT_NUMBER_ROOM];

    if (board_scale(b->value, (size_t)b->rows * (size_t)b->columns, &scale) && scale.below)
        text_addf(&f->note, "Colours run from %s to %s; what is far below shares the least.\n",
                  text_fixed(lo, scale.lo, 4), text_fixed(hi, scale.hi, 4));
}

/* Whether any cell is a mean over different values of this setting. */
static bool differs_within(const struct cells *c, size_t cells, const char *metric,
                           const char *name)
{
    char **first = mem_new(cells + 1, sizeof *first);
    bool differs = false;

    for (size_t i = 0; i < c->count && !differs; i++) {
        char *value, **is = &first[c->cell[i]];

        if (!counts(c, i, metric))
            continue;
        value = study_text(&c->runs[i], name);
        differs = *is && strcmp(*is, value) != 0;
        if (*is)
            free(value);
        else
            *is = value;
    }
    io_free_names(first, cells);
    return differs;
}

/* What a cell is a mean over must be said. */
static void note_others(struct figures *f, const struct cells *c, size_t cells, const char *metric)
{
    size_t found, others = 0;
    const char **names = study_differences(c->runs, c->count, &found);

    for (size_t i = 0; i < found; i++)
        if (!study_is_condition(names[i]) && differs_within(c, cells, metric, names[i]))
            text_addf(&f->note, "%s%s", others++ ? ", " : "Cells are means over ", names[i]);
    text_add(&f->note, others ? ".\n" : "");
    free(names);
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
    double *value = figures_vector(f, cells);

    study_repeats(runs, count, place.again);
    place.settings = study_groups(runs, count, "seed", place.setting);
    for (size_t i = 0; i < count; i++) {
        char *r = study_text(&runs[i], rows), *c = study_text(&runs[i], columns);

        place.cell[i] = place_of(&down, r) * across.n + place_of(&across, c);
        free(r);
        free(c);
    }
    for (size_t i = 0; i < cells; i++)
        words[i] = figures_keep(f, cell_words(&place, i, metric, &value[i]));
    short_names(f, &down, row_name);
    short_names(f, &across, column_name);
    f->board = (struct board){.title = figures_keep(f, mem_text(metric)),
                              .row_label = figures_keep(f, mem_text(rows)),
                              .column_label = figures_keep(f, mem_text(columns)),
                              .rows = (int)down.n,
                              .columns = (int)across.n,
                              .row_name = row_name,
                              .column_name = column_name,
                              .value = value,
                              .words = words,
                              .far_below = true};
    figures_keep(f, (char *)row_name);
    figures_keep(f, (char *)column_name);
    figures_keep(f, (char *)words);
    f->panel[0] = (struct figure_panel){.board = &f->board};
    f->panels = 1;
    note_others(f, &place, cells, metric);
    note_spread(f, &place);
    note_far_below(f);
    free(place.again);
    free(place.cell);
    free(place.setting);
    free_values(&down);
    free_values(&across);
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

enum err_code figures_board(struct figures *f, const struct study_run *runs, size_t count,
                            const char *metric, const char *rows, const char *columns,
                            struct err *e)
{
    enum err_code code;

    *f = (struct figures){0};
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
        fill_board(f, runs, count, metric, rows, columns);
    if (code == ERR_OK)
        note_picks(f, runs, count);
    return code;
}
