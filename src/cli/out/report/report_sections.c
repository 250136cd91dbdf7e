/* What is worth a section of a report. */
#include "cli/out/report/report.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/out/print.h"
#include "cli/out/report/figures.h"
#include "cli/out/report/predictions.h"
#include "draw/plot/curves.h"
#include "spec/spec.h"
#include "study/compare.h"
#include "study/members.h"
#include "study/scaling.h"
#include "study/tables.h"
#include "wire/wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool differ_in(const struct study_run *runs, size_t count, const char *key)
{
    size_t found;
    const char **names = study_differences(runs, count, &found);
    bool in = text_is_among(key, names, found);

    free(names);
    return in;
}

static size_t keys_that_differ(const struct study_run *runs, size_t count)
{
    size_t found, keys = 0;
    const char **names = study_differences(runs, count, &found);

    for (size_t i = 0; i < found; i++)
        keys += spec_key_find(names[i]) >= 0 && strcmp(names[i], "seed") != 0;
    free(names);
    return keys;
}

static size_t ensembles_of(const struct report *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->runs; i++)
        n += r->run[i].run.spec.mode == SPEC_ENSEMBLE;
    return n;
}

static enum err_code add_comparison(struct report *r, const struct study_run *runs,
                                    const struct study_wish *wish, const char *name,
                                    const char *title, struct err *e)
{
    struct study_table t;
    enum err_code code;

    TRY(study_compare(runs, r->runs, wish, &t, e));
    code = report_add_table(r, name, title, &t, e);
    study_table_free(&t);
    return code;
}

/* One run that came apart would press all others to the floor. */
static bool spreads(const struct curves *c, int panel)
{
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < c->lines; i++)
        for (size_t k = 0; c->line[i].panel == panel && k < c->line[i].n; k++) {
            double y = c->line[i].y[k];

            least = isfinite(y) ? fmin(least, y) : least;
            most = isfinite(y) ? fmax(most, y) : most;
        }
    return least > 0 && most > 100 * least;
}

static enum err_code add_curves(struct report *r, const struct study_run *runs, struct err *e)
{
    bool seeds = differ_in(runs, r->runs, "seed");
    const struct curves_wish wish = {.metric = r->runs > 6 ? "acc" : NULL,
                                     .over = seeds ? "seed" : NULL,
                                     .band = seeds ? "sd" : NULL};
    struct text caption = {0}, fewer = {0};
    struct curves c;
    struct figure_panel panel[2];
    enum err_code code;

    TRY(curves_of(&c, runs, r->runs, &wish, e));
    for (int i = 0; i < c.panels; i++) {
        c.panel[i].log_y = spreads(&c, i);
        if (c.panel[i].log_y)
            text_addf(&caption, "The %s is on a logarithmic scale. ", c.panel[i].title);
        panel[i] = (struct figure_panel){.plot = &c.panel[i]};
    }
    if (seeds)
        text_add(&caption, "Means over seeds; the bands are one standard deviation wide to each "
                           "side. ");
    text_add(&caption, "Training values are means over an epoch, drawn at its middle.");
    curves_add_short(&c, NULL, &fewer);
    for (const char *at = text_str(&fewer); *at; at += strcspn(at, "\n") + 1)
        text_addf(&caption, " %.*s.", (int)strcspn(at, "\n"), at);
    text_free(&fewer);
    code = report_add_figure(r, "curves", "Curves", panel, c.panels, r->runs > 6 ? 110 : 80,
                             text_str(&caption), e);
    text_free(&caption);
    curves_free(&c);
    return code;
}

static enum err_code add_made(struct report *r, enum err_code made, struct figures *f,
                              const char *name, const char *title, double height_mm, struct err *e)
{
    enum err_code code;

    TRY(made);
    code = report_add_figure(r, name, title, f->panel, f->panels, height_mm, text_str(&f->note), e);
    figures_free(f);
    return code;
}

static enum err_code add_scaling(struct report *r, const struct study_run *runs, struct err *e)
{
    struct figures f;
    struct study_table t = {0};
    enum err_code code;

    TRY(add_made(r, figures_scaling(&f, runs, r->runs, e), &f, "scaling", "Scaling", 80, e));
    study_scaling_table(runs, r->runs, &t);
    code = report_add_table(r, "scaling", "Speed by devices", &t, e);
    study_table_free(&t);
    return code;
}

static enum err_code add_members(struct report *r, const char *run, const struct study_members *s,
                                 struct err *e)
{
    struct study_table members = {0}, subsets = {0}, pairs = {0};
    struct text name = {0}, title = {0};
    enum err_code code;

    study_members_table(s, &members);
    study_subsets_table(s, &subsets);
    study_pairs_table(s, &pairs);
    text_addf(&name, "members-%s", study_short_name(run));
    text_addf(&title, "Members of %s", study_short_name(run));
    code = report_add_table(r, text_str(&name), text_str(&title), &members, e);
    text_clear(&name);
    text_clear(&title);
    text_addf(&name, "subsets-%s", study_short_name(run));
    text_addf(&title, "How many members %s needs", study_short_name(run));
    if (code == ERR_OK)
        code = report_add_table(r, text_str(&name), text_str(&title), &subsets, e);
    text_clear(&name);
    text_clear(&title);
    text_addf(&name, "pairs-%s", study_short_name(run));
    text_addf(&title, "Disagreement between members of %s", study_short_name(run));
    if (code == ERR_OK && s->members > 2)
        code = report_add_table(r, text_str(&name), text_str(&title), &pairs, e);
    study_table_free(&members);
    study_table_free(&subsets);
    study_table_free(&pairs);
    text_free(&name);
    text_free(&title);
    return code;
}

/* Ensembles whose weights or data are gone are left out. */
static enum err_code add_all_members(struct report *r, const struct study_run *runs, struct err *e)
{
    struct study_members *s = mem_new(r->runs, sizeof *s);
    struct figures f;
    enum err_code code = ERR_OK;
    size_t known = 0;

    figures_prefix_start(&f);
    for (size_t i = 0; i < r->runs; i++) {
        struct study_answers p;
        struct err why;

        if (r->run[i].run.spec.mode != SPEC_ENSEMBLE)
            continue;
        if (predictions_get(&p, &r->run[i], &why) != ERR_OK) {
            cli_talk("%s: its members are left out: %s", r->run[i].name, why.text);
            continue;
        }
        study_members(&s[i], &p);
        study_members_from(&s[i], &runs[i]);
        study_answers_free(&p);
        figures_prefix_add(&f, r->run[i].name, &s[i]);
        known++;
    }
    if (known)
        code = report_add_figure(r, "prefix", "Accuracy of k members", f.panel, f.panels, 80,
                                 text_str(&f.note), e);
    figures_free(&f);
    for (size_t i = 0; i < r->runs; i++) {
        if (s[i].members > 1 && code == ERR_OK) /* of one there is nothing to average */
            code = add_members(r, r->run[i].name, &s[i], e);
        study_members_free(&s[i]);
    }
    free(s);
    return code;
}

static enum err_code add_equal_at(struct report *r, const struct study_run *runs, size_t n,
                                  const struct study_limit *limit, bool first, struct err *e)
{
    const struct study_wish wish = {.equal = true, .budget = limit->budget, .limit = limit};
    struct study_table t;
    struct text name = {0}, title = {0};
    char number[TEXT_NUMBER_ROOM];
    enum err_code code;

    study_budget_text(number, limit->budget, limit->cost);
    text_add(&name, "equal");
    if (!first)
        text_addf(&name, "-%.0f", limit->cost);
    text_addf(&title, "Single models and ensembles at %s model-images", number);
    code = study_compare(runs, n, &wish, &t, e);
    if (code == ERR_OK && n < r->runs)
        study_table_note(&t, "%s run%s left out: diverged, out of memory or failed",
                         TEXT_COUNT(r->runs - n), r->runs - n == 1 ? " is" : "s are");
    if (code == ERR_OK)
        code = report_add_table(r, text_str(&name), text_str(&title), &t, e);
    study_table_free(&t);
    text_free(&name);
    text_free(&title);
    return code;
}

/* Wherever an ensemble and a run of another kind ended at the same cost, as --match makes them; else
 * within the cost of the cheapest ensemble. What came apart is no measure of anything. */
static enum err_code add_equal(struct report *r, const struct study_run *runs, struct err *e)
{
    struct study_run *sound = mem_new(r->runs, sizeof *sound); /* what they hold is the runs' */
    struct study_limit *limit;
    enum err_code code = ERR_OK;
    size_t n = 0, limits;

    for (size_t i = 0; i < r->runs; i++)
        if (!wire_state_is_bad(r->run[i].run.state))
            sound[n++] = runs[i];
    limits = study_common_costs(sound, n, STUDY_MODEL_IMAGES, &limit);
    if (!limits)
        limit[limits++] = study_ensemble_cost(sound, n, STUDY_MODEL_IMAGES);
    for (size_t i = 0; i < limits && code == ERR_OK && !isnan(limit[i].cost); i++)
        code = add_equal_at(r, sound, n, &limit[i], i == 0, e);
    free(limit);
    free(sound);
    return code;
}

static enum err_code add_ensembles(struct report *r, const struct study_run *runs, struct err *e)
{
    size_t ensembles = ensembles_of(r);

    if (!ensembles)
        return ERR_OK;
    TRY(add_all_members(r, runs, e));
    return ensembles == r->runs ? ERR_OK : add_equal(r, runs, e);
}

/* The page is handed in by itself: it says what was trained. */
static enum err_code add_what(struct report *r, const struct study_run *runs, struct err *e)
{
    struct study_table settings = {0}, about = {0};
    enum err_code code;

    report_settings(runs, r->runs, &settings);
    report_runs(runs, r->runs, &about);
    code = report_add_table(
        r, "settings", r->runs == 1 ? "What was trained" : "What was trained: the same in all runs",
        &settings, e);
    if (code == ERR_OK)
        code = report_add_table(r, "notes", "When, and notes", &about, e);
    study_table_free(&settings);
    study_table_free(&about);
    return code;
}

enum err_code report_sections(struct report *r, const struct study_run *runs, struct err *e)
{
    struct figures f;

    TRY(add_curves(r, runs, e));
    if (differ_in(runs, r->runs, "seed"))
        TRY(add_comparison(r, runs, &(struct study_wish){.over = "seed"}, "seeds",
                           "Mean and deviation over seeds", e));
    if (r->runs >= 4 && keys_that_differ(runs, r->runs) >= 2)
        TRY(add_made(r, figures_board(&f, runs, r->runs, "test_acc", NULL, NULL, e), &f, "board",
                     "Test accuracy", 80, e));
    if (study_can_scale(runs, r->runs))
        TRY(add_scaling(r, runs, e));
    TRY(add_ensembles(r, runs, e));
    TRY(add_comparison(r, runs, &(struct study_wish){0}, "runs", "All runs", e));
    return add_what(r, runs, e);
}
