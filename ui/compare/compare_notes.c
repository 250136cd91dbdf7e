/* ui/compare/compare_notes.c: what must be said below the table. */
#include "ui/compare/compare_int.h"

#include "draw/ink/words.h"
#include "record/run/run.h"
#include "study/compare.h"
#include "study/members.h"
#include "study/tables.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST  24 /* columns of a name */
#define LONG  60 /* of settings in a sentence */
#define TWINS 4  /* that are named */
#define SETS  2  /* of twins that are named */
#define BAD   2  /* that are named, of those without a good end */
#define PICKS "best epochs "

static double cell_value(const struct compare *c, size_t row, const char *column)
{
    struct study_table *t = (struct study_table *)&c->table;
    int at = study_table_find(t, column);

    return at >= 0 && row < t->rows ? study_table_cell(t, row, at)->value : NAN;
}

/* At an equal budget: the best of the others, which have the same test; the row itself where there is none. */
static size_t best_other(const struct compare *c, size_t row)
{
    double best = -INFINITY;
    size_t which = row;

    for (size_t i = 0; i < c->table.rows; i++) {
        double acc = cell_value(c, i, "test_acc");

        if (i != row && acc > best && study_same_test(&c->set->run[row], &c->set->run[i])) {
            best = acc;
            which = i;
        }
    }
    return which;
}

static size_t focused(const struct compare *c)
{
    return c->row < c->table.rows ? c->order[c->row] : 0;
}

static void add_distance(const struct compare *c, size_t row, struct text *out)
{
    double own = cell_value(c, row, "test_acc");
    size_t which = best_other(c, row);

    if (which == row || !isfinite(own))
        return;
    text_addf(out, "%s: %s points against %s at equal %s\n", c->label[row],
              STUDY_POINTS(own - cell_value(c, which, "test_acc")), c->label[which],
              study_budget_name[c->equal.budget]);
}

/* A name has no more settings than tell all runs apart; whatever else differs has its part in the distance. */
static void add_differences(const struct compare *c, size_t row, struct text *out)
{
    size_t which = best_other(c, row), found;
    const struct study_run two[] = {c->set->run[row], c->set->run[which]};
    const char **differ;

    if (which == row)
        return;
    differ = study_differences(two, 2, &found);
    for (size_t i = 0; i < found && found > 1; i++)
        text_addf(out, "%s%s", i ? ", " : "these two differ in ", differ[i]);
    text_add(out, found > 1 ? "\n" : "");
    free(differ);
}

/* Of the focused row: what an ensemble gained, what a setting is behind the best. */
static void add_focused(const struct compare *c, struct text *out)
{
    size_t row = focused(c);
    double lo = cell_value(c, row, "difference_lo"), hi = cell_value(c, row, "difference_hi");
    double difference = cell_value(c, row, "difference");
    const struct study_run *run = row < c->set->count ? &c->set->run[row] : NULL;

    if (c->equal.on && row < c->groups) {
        add_distance(c, row, out);
    } else if (c->over && isfinite(difference)) {
        text_addf(out, "%s: %s points against the best", c->label[row], STUDY_POINTS(difference));
        if (isfinite(lo))
            text_addf(out, ", 95 %% interval %s to %s over pairs of seeds: %s", STUDY_POINTS(lo),
                      STUDY_POINTS(hi), lo <= 0 && hi >= 0 ? "may be chance" : "more than chance");
        else
            text_add(out, "; one pair of seeds says nothing about chance");
        text_add(out, "\n");
    } else if (!c->over && !c->scaling && run && run->entry->run.spec.mode == SPEC_ENSEMBLE &&
               isfinite(study_number(run, "gain_mean"))) {
        int members = run->entry->run.spec.members > 0 ? run->entry->run.spec.members
                                                       : run->entry->run.spec.devices;

        text_addf(out, "%s: at epoch %.0f a gain of %s points over the mean member (",
                  c->label[row], (double)run->entry->run.best_epoch,
                  STUDY_POINTS(study_number(run, "gain_mean")));
        share_tell(out, study_number(run, "member_acc_mean"));
        text_add(out, "), ");
        study_add_gain(out, study_number(run, "gain_best"), "the best");
        text_add(out, ", at ");
        study_add_brief_cost(out, members,
                             study_is_average(run) ? study_unlike(&run->entry->run)
                                                   : (struct study_unlike){0});
        text_add(out, "\n");
    }
}

/* "a, b, c" of those whose curves lie under that one. */
static void add_twins_of(const struct compare *c, size_t g, struct text *out)
{
    bool settings = c->groups < c->set->count;
    size_t n = 0;

    for (size_t k = g; k < c->groups; k++)
        if (c->twin[k] == g && n++ < TWINS) {
            text_add(out, n > 1 ? ", " : "");
            words_add_cut(out, settings ? c->label[k] : c->plain[k], settings ? LONG : MOST, false);
        }
    if (n > TWINS)
        text_addf(out, " and %s more", TEXT_COUNT(n - TWINS));
    text_add(out, ": the same curve\n");
}

/* So many that each took a row would leave none to the other notes: the table marks them. */
static void add_twins(const struct compare *c, struct text *out)
{
    size_t sets = 0, all = 0;

    for (size_t g = 0; g < c->groups; g++) {
        all += compare_has_twin(c, g);
        sets += c->twin[g] == g && compare_has_twin(c, g);
    }
    if (sets > SETS) {
        text_addf(out, "%s %s, marked =, have the same curve each\n", TEXT_COUNT(sets),
                  all == 2 * sets ? "pairs" : "groups");
        return;
    }
    for (size_t g = 0; g < c->groups; g++)
        if (c->twin[g] == g && compare_has_twin(c, g))
            add_twins_of(c, g, out);
}

/* Their accuracies, where they have any, are from before that. */
static void add_bad(const struct compare *c, struct text *out)
{
    static const char *const did[] = {
        [WIRE_DIVERGED] = "diverged", [WIRE_OOM] = "ran out of memory", [WIRE_FAILED] = "failed"};
    size_t bad = 0;

    for (size_t i = 0; i < c->set->count; i++)
        bad += wire_state_is_bad(c->set->run[i].entry->run.state);
    if (bad > BAD)
        text_addf(out, "%s runs diverged, failed or ran out of memory: none of them is the best\n",
                  TEXT_COUNT(bad));
    for (size_t i = 0; i < c->set->count && bad <= BAD; i++) {
        const struct record_run *run = &c->set->run[i].entry->run;

        if (!wire_state_is_bad(run->state))
            continue;
        words_add_cut(out, c->plain[i], MOST, false);
        text_addf(out, " %s in epoch %lld of %lld: it is never the best\n", did[run->state],
                  (long long)run->epochs_done + (run->epochs_done < run->spec.epochs),
                  (long long)run->spec.epochs);
    }
}

static void add_note(const char *line, size_t n, struct text *out)
{
    const char *units = strstr(line, STUDY_AS_FRACTIONS);

    if (share_in_per_cent() && units && units < line + n) {
        text_add_n(out, line, (size_t)(units - line));
        text_add(out, ", in points");
        n -= (size_t)(units - line) + sizeof STUDY_AS_FRACTIONS - 1;
        line = units + sizeof STUDY_AS_FRACTIONS - 1;
    }
    text_add_n(out, line, n);
    text_add(out, "\n");
}

/* Of the table's own those about what epochs were picked on, or all others. */
static void add_own(const struct compare *c, bool picks, struct text *out)
{
    const char *line = text_str(&c->table.note);

    while (*line) {
        size_t n = strcspn(line, "\n");

        if (!strncmp(line, PICKS, sizeof PICKS - 1) == picks)
            add_note(line, n, out);
        line += n + (line[n] == '\n');
    }
}

static void add_changed(const struct compare *c, struct text *out)
{
    const struct study_run *first = NULL;
    size_t n = 0;

    for (size_t i = c->set->count; i-- > 0;)
        if (c->set->run[i].changed) {
            first = &c->set->run[i];
            n++;
        }
    if (n > 1)
        text_addf(out, "%s and %s more: ", first->entry->name, TEXT_COUNT(n - 1));
    else if (n)
        text_addf(out, "%s: ", first->entry->name);
    text_add(out, n ? "epochs.csv was changed since it was written\n" : "");
}

/* What has no room is cut at the end: first what no accuracy may be read without. */
static void add_notes(const struct compare *c, struct text *out)
{
    add_own(c, true, out);
    if (!c->over) /* else the table's own note counts them */
        add_bad(c, out);
    add_focused(c, out);
    add_twins(c, out);
    if (c->set->left_out)
        text_addf(out, "%s\n", c->set->problem);
    add_changed(c, out);
    if (!c->scaling && c->panels)
        curves_add_short(&c->curves[0], c->label, out);
    add_own(c, false, out);
    if (c->equal.on && focused(c) < c->groups)
        add_differences(c, focused(c), out);
}

void compare_show_notes(struct compare *c)
{
    struct text notes = {0};

    if (c->set && c->set->count)
        add_notes(c, &notes);
    if (notes.n)
        app_page(c->app, "notes", text_str(&notes));
    text_free(&notes);
}

int compare_draw_notes(const struct compare *c, struct grid *g, struct rect in)
{
    struct text notes = {0};
    int rows;

    add_notes(c, &notes);
    rows = grid_words(g, rect_behind(rect_before(in, 1), 1), 0, GRID_DIM, text_str(&notes));
    text_free(&notes);
    return rows;
}
