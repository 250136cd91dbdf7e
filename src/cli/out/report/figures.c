#include "cli/out/report/figures_int.h"

#include "base/mem.h"
#include "cli/out/report/predictions.h"
#include "draw/plot/curves.h"
#include "record/run/reader.h"
#include "study/compare.h"
#include "study/confusion.h"
#include "study/members.h"
#include "study/scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double *figures_vector(struct figures *f, size_t n)
{
    double *v = mem_new(n + 1, sizeof *v);

    f->vector = mem_grow(f->vector, &f->vector_room, f->vectors + 1, sizeof *f->vector);
    f->vector[f->vectors++] = v;
    return v;
}

const char *figures_keep(struct figures *f, char *word)
{
    f->word = mem_grow(f->word, &f->word_room, f->words + 1, sizeof *f->word);
    f->word[f->words++] = word;
    return word;
}

/* x and y: the figure's. */
static struct plot_series *add_series(struct figures *f, int panel, const char *label,
                                      const double *x, const double *y, size_t n)
{
    struct plot *p = &f->plot[panel];
    struct plot_series *s;

    f->series[panel] = mem_resize(f->series[panel], (size_t)p->count + 1, sizeof *s);
    s = &f->series[panel][p->count];
    *s = (struct plot_series){.label = label, .x = x, .y = y, .n = n, .colour = p->count};
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

static const char *marks_of(const struct study_point *p, size_t n)
{
    bool is_virtual = false, shared = false;

    for (size_t i = 0; i < n; i++) {
        is_virtual |= p[i].is_virtual;
        shared |= p[i].shared;
    }
    return is_virtual && shared ? "virtual or shared" : is_virtual ? "virtual" : "shared";
}

static void scale_setting(struct figures *f, const struct study_point *p, size_t n,
                          const char *label)
{
    double *x = figures_vector(f, 2 * n), *y = figures_vector(f, 2 * n);
    double *marked_x = figures_vector(f, 2 * n), *marked = figures_vector(f, 2 * n);
    double *ideal = figures_vector(f, n);
    size_t count = study_scaling_line(p, n, p->setting, true, false, x, y);
    size_t marks = study_scaling_line(p, n, p->setting, false, false, marked_x, marked);

    for (size_t i = 0; i < count; i++) /* by the speed of the fewest devices that count */
        ideal[i] = y[0] * x[i] / x[0];
    if (count)
        add_series(f, 0, label, x, y, count);
    if (count > 1)
        add_series(f, 0, "ideal", x, ideal, count)->dashed = true;
    if (marks)
        add_series(f, 0, figures_keep(f, mem_textf("%s, %s", label, marks_of(p, n))), marked_x,
                   marked, marks)
            ->dashed = true;
}

/* Of each number of devices the point that counts, where one does; the others stand alone. */
static void scale_shares(struct figures *f, const struct study_point *p, size_t n)
{
    static const char *const names[] = {"compute", "reduce", "wait", "input"};

    for (int k = 0; k < 4; k++) {
        double *x = figures_vector(f, 2 * n), *y = figures_vector(f, 2 * n);
        struct plot_series *s = add_series(f, 1, names[k], x, y, 0);

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

/* Settings on one number of devices alone tell nothing of more of them. Returns how many points stay. */
static size_t keep_scaled(struct figures *f, struct study_point *p, size_t points)
{
    size_t kept = 0, settings = 0, alone = 0;

    for (size_t i = 0, n; i < points; i += n) {
        for (n = 1; i + n < points && p[i + n].setting == p[i].setting;)
            n++;
        if (p[i].devices == p[i + n - 1].devices) {
            alone++;
            continue;
        }
        for (size_t k = 0; k < n; k++) {
            p[kept] = p[i + k];
            p[kept++].setting = settings;
        }
        settings++;
    }
    if (alone)
        text_addf(&f->note, "%s setting%s on one number of devices alone %s left out.\n",
                  TEXT_COUNT(alone), text_s(alone), alone == 1 ? "is" : "are");
    return kept;
}

static void draw_scaling(struct figures *f, const struct study_run *runs,
                         const struct study_point *p, size_t points)
{
    struct text *name = setting_names(runs, p, points);
    const char *first = text_str(&name[0]);
    bool marked = false;

    set_plot(f, 0, "images per second", "devices");
    set_plot(f, 1, "share of the devices' time", "devices");
    f->plot[0].zero_y = f->plot[1].zero_y = true;
    for (size_t i = 0, n; i < points; i += n) {
        for (n = 1; i + n < points && p[i + n].setting == p[i].setting;)
            n++;
        scale_setting(f, p + i, n, figures_keep(f, name[p[i].setting].s));
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
    if (p[points - 1].setting)
        text_addf(&f->note, "The shares of time are those of %s.\n", first);
    free(name); /* the words are the figure's now */
}

enum err_code figures_scaling(struct figures *f, const struct study_run *runs, size_t count,
                              struct err *e)
{
    struct study_point *p;
    size_t all = study_scaling(runs, count, &p), points;

    *f = (struct figures){0};
    points = keep_scaled(f, p, all);
    if (points)
        draw_scaling(f, runs, p, points);
    free(p);
    if (points)
        return ERR_OK;
    figures_free(f);
    if (!all)
        return err_set(e, ERR_INPUT, "none of these runs has a whole epoch: there is no speed yet");
    return err_set(e, ERR_INPUT,
                   "none of these runs has another beside it that differs in the number of devices "
                   "alone: scaling takes such, as devices=1,2,4 makes them");
}

/* ---- ensembles ---- */

void figures_prefix_start(struct figures *f)
{
    *f = (struct figures){0};
    set_plot(f, 0, "accuracy of k members", "members");
    text_add(&f->note, "Mean over the sets of k members (their averaged probabilities); the band "
                       "reaches from the worst set to the best.\n");
}

static void note_sample(struct figures *f, const struct study_members *s)
{
    static const char note[] =
        "Where there are more than 256 sets, mean and band are those of a sample "
        "of them from a fixed seed.\n";
    bool sampled = false;

    for (int k = 0; k < s->members; k++)
        sampled |= s->of[k].sampled;
    if (sampled && !strstr(text_str(&f->note), note))
        text_add(&f->note, note);
}

void figures_prefix_add(struct figures *f, const char *run, const struct study_members *s)
{
    size_t n = (size_t)s->members;
    double *x = figures_vector(f, n), *y = figures_vector(f, n);
    double *lo = figures_vector(f, n), *hi = figures_vector(f, n);

    note_sample(f, s);
    add_series(f, 0, figures_keep(f, mem_text(study_short_name(run))), x, y, n);
    for (int k = 0; k < s->members; k++) {
        x[k] = k + 1;
        y[k] = s->of[k].mean;
        lo[k] = s->of[k].least;
        hi[k] = s->of[k].most;
    }
    f->band[0] = mem_resize(f->band[0], (size_t)f->plot[0].bands + 1, sizeof *f->band[0]);
    f->band[0][f->plot[0].bands] = (struct plot_band){x, lo, hi, n, f->plot[0].bands};
    f->plot[0].bands++;
    f->plot[0].band = f->band[0];
}

static enum err_code add_prefix(struct figures *f, const struct record_entry *run, struct err *e)
{
    struct study_answers p;
    struct study_members s;

    TRY(predictions_get(&p, run, e));
    study_members(&s, &p);
    figures_prefix_add(f, run->name, &s);
    study_members_free(&s);
    study_answers_free(&p);
    return ERR_OK;
}

enum err_code figures_prefix(struct figures *f, const struct study_run *runs, size_t count,
                             struct err *e)
{
    size_t ensembles = 0;

    figures_prefix_start(f);
    for (size_t i = 0; i < count; i++) {
        enum err_code code;

        if (runs[i].entry->run.spec.mode != SPEC_ENSEMBLE)
            continue;
        ensembles++;
        code = add_prefix(f, runs[i].entry, e);
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

enum err_code figures_confusion(struct figures *f, const struct study_run *run, struct err *e)
{
    struct study_answers p;
    struct study_confusion c;
    struct study_table t = {0};
    int n;
    const char **names, **words;
    double *value;
    bool foreign = false;

    *f = (struct figures){0};
    TRY(predictions_get(&p, run->entry, e));
    n = p.classes;
    study_answers_confusion(&p, NULL, n, &c);
    study_confusion_table(&c, p.class_names, &t);
    names = mem_new((size_t)n + 1, sizeof *names);
    words = mem_new((size_t)n * (size_t)n + 1, sizeof *words);
    value = figures_vector(f, (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++) {
        const char *name = study_table_cell(&t, (size_t)i, 0)->text;

        foreign |= is_foreign(name);
        names[i] = figures_keep(f, is_foreign(name) ? mem_textf("%d %s", i, name) : mem_text(name));
    }
    if (foreign)
        text_add(&f->note, "Letters that are not Latin stand as ? in PDF and LaTeX: the number in "
                           "front tells the class.\n");
    for (int i = 0; i < n * n; i++) {
        value[i] = (double)c.count[i];
        words[i] = figures_keep(f, mem_textf("%llu", (unsigned long long)c.count[i]));
    }
    figures_keep(f, (char *)names);
    figures_keep(f, (char *)words);
    f->board = (struct board){.title = "label against answer",
                              .row_label = "label",
                              .column_label = "answer",
                              .rows = n,
                              .columns = n,
                              .row_name = names,
                              .column_name = names,
                              .value = value,
                              .words = words,
                              .by_magnitude = true};
    f->panel[0] = (struct figure_panel){.board = &f->board};
    f->panels = 1;
    study_table_free(&t);
    study_confusion_free(&c);
    study_answers_free(&p);
    return ERR_OK;
}
