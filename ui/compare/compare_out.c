/* ui/compare/compare_out.c: what is seen as a command line, as tables and as figures. */
#include "ui/compare/compare_int.h"

#include "base/mem.h"
#include "study/compare.h"
#include "study/table.h"

#include <stdlib.h>
#include <string.h>

const char *const compare_forms[] = {"csv", "md", "tex", "html", "svg", "pdf", NULL};

/* The short name, where it is part of no other run's. */
static void add_name(const struct compare *c, const char *name, struct text *out)
{
    const char *brief = study_short_name(name);
    const struct library_run *runs;
    size_t count, found = 0;

    runs = library_runs(c->app->library, &count);
    for (size_t i = 0; i < count && found < 2; i++)
        found += strstr(runs[i].name, brief) != NULL;
    text_add(out, " ");
    jobs_add_word(out, found == 1 ? brief : name);
}

/* Of all, each behind a blank. Among thousands of runs that takes long, and the key ':' wants them thrice. */
static const char *all_names(struct compare *c)
{
    uint64_t turn = library_turn(c->app->library);
    struct text of = {0};

    for (size_t i = 0; i < c->count; i++)
        text_addf(&of, "%s\n", c->name[i]);
    if (turn == c->words_turn && !strcmp(text_str(&of), text_str(&c->words_of))) {
        text_free(&of);
        return text_str(&c->words);
    }
    text_clear(&c->words);
    for (size_t i = 0; i < c->count; i++)
        add_name(c, c->name[i], &c->words);
    text_free(&c->words_of);
    c->words_of = of;
    c->words_turn = turn;
    return text_str(&c->words);
}

static void add_plot(const struct compare *c, struct text *out)
{
    if (c->scaling) {
        text_add(out, " --kind scaling");
        return;
    }
    text_addf(out, " --metric %s", compare_metric(c->metric, NULL));
    if (strcmp(compare_axis(c), "epoch") != 0)
        text_addf(out, " --x %s", compare_axis(c));
    if (c->log_y)
        text_add(out, " --log y");
    if (c->smooth)
        text_addf(out, " --smooth %d", c->smooth);
    if (c->over)
        text_add(out, " --over seed --band sd");
}

static void add_table(const struct compare *c, struct text *out)
{
    char number[TEXT_NUMBER_ROOM];

    if (c->scaling)
        text_add(out, " --scaling");
    else if (c->equal.on)
        text_addf(out, " --equal %s", study_budget_name[c->equal.budget]);
    else if (c->over)
        text_add(out, " --over seed");
    if (c->target > 0 && !c->scaling && !c->equal.on)
        text_addf(out, " --target %s", text_double(number, c->target));
    if (c->sorted && !c->scaling)
        text_add(out, " --sort -test_acc");
}

static void add_pane(struct compare *c, bool table, struct text *out)
{
    text_add(out, table ? "compare" : "plot");
    text_add(out, all_names(c));
    if (table)
        add_table(c, out);
    else
        add_plot(c, out);
}

/* Of the pane that keys go to. */
void compare_command(void *screen, struct text *out)
{
    struct compare *c = screen;

    if (c->count)
        add_pane(c, c->table_pane, out);
    else
        text_add(out, "ls"); /* neither verb does without a run */
}

void compare_offers(void *screen, struct text *lines)
{
    struct compare *c = screen;

    if (c->count)
        add_pane(c, !c->table_pane, lines);
}

void compare_runs(void *screen, struct text *out)
{
    struct compare *c = screen;

    if (c->count)
        text_add(out, all_names(c) + 1);
}

/* What a curve does not say itself: "smoothed over 3 points, at equal model-images: 120,000". */
static void add_note(const struct compare *c, const struct plot *p, bool raw, struct text *out)
{
    char number[TEXT_NUMBER_ROOM];

    if (c->scaling)
        return;
    text_add(out, !c->over ? "" : raw ? "mean over seed" : "mean and sd over seed");
    if (p->note)
        text_addf(out, "%s%s", out->n ? ", " : "", p->note);
    if (!c->equal.on || raw) /* all points are there, on both sides of it */
        return;
    study_budget_text(number, c->equal.budget,
                      study_least_cost(c->set->run, c->set->count, c->equal.budget).cost);
    text_addf(out, "%sat equal %s: %s%s", out->n ? ", " : "", study_budget_name[c->equal.budget],
              number, c->equal.budget >= STUDY_SECONDS ? " s" : "");
}

/* For a CSV: the two ends of each band as curves of their own, where the band has a width. */
static void take_band_ends(struct plot *p)
{
    struct plot_series *all = mem_new((size_t)(p->count + 2 * p->bands) + 1, sizeof *all);
    int n = 0;

    for (int i = 0; i < p->count; i++) {
        const struct plot_series *s = &p->series[i];
        const struct plot_band *b = i < p->bands ? &p->band[i] : NULL;

        all[n++] = *s;
        if (!b || b->x != s->x || !memcmp(b->lo, b->hi, b->n * sizeof *b->lo))
            continue;
        all[n] = all[n + 1] = *s;
        all[n].y = b->lo;
        all[n++].label = mem_textf("%s, less one sd", s->label);
        all[n].y = b->hi;
        all[n++].label = mem_textf("%s, plus one sd", s->label);
    }
    p->series = all;
    p->count = n;
    p->bands = 0;
}

static void free_band_ends(const struct plot *p)
{
    for (int i = 1; i < p->count; i++)
        if (p->series[i].x == p->series[i - 1].x)
            free((char *)p->series[i].label);
    free((struct plot_series *)p->series);
}

/* raw: values of accuracies are parts of one whatever the screen shows. */
static void add_panel(struct compare *c, int panel, bool raw, struct paper *out)
{
    struct plot plot = c->plot[panel];
    const char *title = c->title[panel];
    struct text note = {0};

    if (!plot.count)
        return;
    if (c->scaling) /* the screen's are as short as its legend */
        compare_name_scaling(c, panel, 0);
    else if (raw)
        compare_metric(compare_first_metric(c) + panel, &title);
    add_note(c, &plot, raw, &note);
    plot.note = text_str(&note);
    if (raw)
        take_band_ends(&plot);
    paper_add_plot(out, &plot, title);
    if (raw)
        free_band_ends(&plot);
    text_free(&note);
}

/* raw: as they were measured. */
static enum err_code add_curves(struct compare *c, bool raw, struct paper *out, struct err *e)
{
    int smooth = c->smooth;

    c->stale |= raw && smooth;
    c->smooth = raw ? 0 : smooth;
    compare_renew(c);
    for (int i = 0; i < c->panels; i++)
        add_panel(c, i, raw, out);
    c->stale |= c->smooth != smooth;
    c->smooth = smooth;
    out->what = raw ? "the curves (Tab chooses the table)" : NULL;
    return out->plots ? ERR_OK : err_set(e, ERR_INPUT, "%s", c->missing[0]);
}

enum err_code compare_write(void *screen, const char *form, struct paper *out, struct err *e)
{
    struct compare *c = screen;

    if (!c->set || !c->set->count)
        return err_set(e, ERR_INPUT, "there is no run to compare: Space marks runs on Results");
    compare_renew(c);
    if (!strcmp(form, "svg") || !strcmp(form, "pdf") || (!strcmp(form, "csv") && !c->table_pane))
        return add_curves(c, !strcmp(form, "csv"), out, e);
    if (c->wrong[0])
        return err_set(e, ERR_INPUT, "%s", c->wrong);
    out->what = strcmp(form, "csv") ? "the table" : "the table (Tab chooses the curves)";
    /* it has a row a run, and of these there are few */
    study_table_write(&c->table, form, &(struct study_style){0}, &out->text);
    return ERR_OK;
}
