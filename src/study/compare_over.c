/* Runs that differ in one key as one row: mean and deviation, and the difference to the best row. */
#include "study/compare_int.h"

#include "base/mem.h"
#include "record/best.h"
#include "study/compare.h"
#include "study/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct group {
    const struct study_run *runs;
    const size_t *of;
    const bool *again; /* of study_repeats */
    size_t count, number;
};

/* A run that diverged, failed or is not at its end yet is no result to take a mean over, and one that
 * was done twice is one result. */
static bool counts(const struct group *g, size_t i)
{
    return g->of[i] == g->number && g->runs[i].entry->run.state == WIRE_DONE && !g->again[i];
}

static size_t values_of(const struct group *g, const char *name, double *out)
{
    size_t n = 0;

    for (size_t i = 0; i < g->count; i++) {
        double value = counts(g, i) ? study_number(&g->runs[i], name) : NAN;

        if (isfinite(value))
            out[n++] = value;
    }
    return n;
}

static void add_mean(struct study_table *t, const double *x, size_t n)
{
    if (n)
        study_table_mean(t, study_mean(x, n), study_sd(x, n));
    else
        study_table_empty(t);
}

static bool same_value(const struct study_run *a, const struct study_run *b, const char *name)
{
    char *x = study_text(a, name), *y = study_text(b, name);
    bool same = !strcmp(x, y);

    free(x);
    free(y);
    return same;
}

/* Pairs of runs of two groups whose `over` is the same, with their accuracies. */
static size_t pairs_of(const struct group *a, const struct group *b, const char *over, double *x,
                       double *y)
{
    size_t n = 0;

    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = 0; counts(a, i) && j < b->count; j++) {
            if (!counts(b, j) || !same_value(&a->runs[i], &b->runs[j], over))
                continue;
            x[n] = study_number(&a->runs[i], "test_acc");
            y[n] = study_number(&b->runs[j], "test_acc");
            n += isfinite(x[n]) && isfinite(y[n]);
            break;
        }
    }
    return n;
}

/* By the mean of what runs are chosen by: validation, where all of them have it. */
static size_t best_group(struct group all, size_t groups, const char *choice)
{
    double *x = mem_new(all.count, sizeof *x);
    struct record_choice *of = mem_new(groups + 1, sizeof *of);
    size_t best;
    bool by_valid;

    for (all.number = 0; all.number < groups; all.number++)
        of[all.number] = (struct record_choice){.acc = study_mean(x, values_of(&all, choice, x)),
                                                .val_acc = NAN};
    best = record_best(of, groups, &by_valid);
    free(of);
    free(x);
    return best < groups ? best : 0;
}

static void add_difference(struct study_table *t, const struct group *g, const struct group *best,
                           const char *over, double *x, double *y)
{
    struct study_interval i;
    size_t pairs;

    if (g->number == best->number || !study_all_same_test(g->runs, g->count)) {
        for (int k = 0; k < 4; k++)
            study_table_empty(t);
        return;
    }
    pairs = pairs_of(g, best, over, x, y);
    i = study_paired(x, y, pairs);
    study_table_number(t, (double)pairs);
    for (int k = 0; k < 3; k++) {
        double value = k == 0 ? i.mean : k == 1 ? i.lo : i.hi;

        if (isfinite(value))
            study_table_number(t, value);
        else
            study_table_empty(t);
    }
}

/* Of its runs' states those are told too that are no part of n. */
static bool is_told(const struct group *g, size_t i, const char *name)
{
    return !strcmp(name, "state") ? g->of[i] == g->number : counts(g, i);
}

/* Whether no run that is told before run i has its value. */
static bool is_new(const struct group *g, size_t i, const char *name)
{
    for (size_t k = 0; k < i; k++)
        if (is_told(g, k, name) && same_value(&g->runs[i], &g->runs[k], name))
            return false;
    return true;
}

/* What has no mean: of its runs each value once, "1, 2". */
static void add_values(struct study_table *t, const struct group *g, const char *name)
{
    struct text all = {0};

    for (size_t i = 0; i < g->count; i++)
        if (is_told(g, i, name) && is_new(g, i, name)) {
            text_add(&all, all.n ? ", " : "");
            study_value(&g->runs[i], name, &all);
        }
    study_table_word(t, text_str(&all));
    text_free(&all);
}

static bool holds_words(const struct study_run *runs, size_t count, const char *name)
{
    struct text value = {0};
    bool words = false;
    double number;

    for (size_t i = 0; i < count && !words; i++) {
        text_clear(&value);
        study_value(&runs[i], name, &value);
        words = value.n && !text_to_double(text_str(&value), &number);
    }
    text_free(&value);
    return words;
}

/* The first that counts; where none does, the first. */
static size_t first_of(const struct group *g)
{
    size_t first = 0;

    while (first < g->count && !counts(g, first))
        first++;
    if (first == g->count)
        for (first = 0; g->of[first] != g->number;)
            first++;
    return first;
}

static void add_group(struct study_table *t, const struct group *g, const struct group *best,
                      const struct study_columns *c, const char *over)
{
    double *x = mem_new(g->count, sizeof *x), *y = mem_new(g->count, sizeof *y);
    size_t first = first_of(g), n = 0;

    for (size_t i = 0; i < g->count; i++)
        n += counts(g, i);
    study_table_word(t, study_short_name(g->runs[first].entry->name));
    study_table_number(t, (double)n);
    for (size_t k = 0; k < c->settings; k++)
        if (study_is_condition(c->setting[k]))
            add_values(t, g, c->setting[k]);
        else if (strcmp(c->setting[k], over) != 0)
            study_table_value(t, &g->runs[first], c->setting[k]);
    for (size_t k = 0; k < c->results; k++)
        if (holds_words(g->runs, g->count, c->result[k]))
            add_values(t, g, c->result[k]);
        else
            add_mean(t, x, values_of(g, c->result[k], x));
    add_difference(t, g, best, over, x, y);
    for (size_t k = 0; c->target > 0 && k < STUDY_CROSSINGS; k++) {
        size_t crossed = 0;

        for (size_t i = 0; i < g->count; i++) {
            int row = counts(g, i) ? study_crossing(&g->runs[i], c->choice, c->target) : -1;

            if (row >= 0)
                x[crossed++] = study_at(&g->runs[i], row, study_crossings[k][1]);
        }
        if (k == 0)
            study_table_number(t, (double)crossed);
        add_mean(t, x, crossed);
    }
    free(x);
    free(y);
}

/* Whether all groups have as many runs that count. */
static bool same_counts(const struct group *all, size_t groups)
{
    size_t first = 0;

    for (size_t k = 0; k < groups; k++) {
        struct group g = *all;
        size_t n = 0;

        g.number = k;
        for (size_t i = 0; i < g.count; i++)
            n += counts(&g, i);
        if (k == 0)
            first = n;
        else if (n != first)
            return false;
    }
    return true;
}

void study_compare_groups(const struct study_run *runs, size_t count, const struct study_columns *c,
                          const char *over, struct study_table *t)
{
    size_t *of = mem_new(count, sizeof *of);
    bool *again = mem_new(count, sizeof *again);
    size_t groups = study_groups(runs, count, over, of), left_out = 0, repeats = 0;
    struct group best = {runs, of, again, count, 0};

    study_repeats(runs, count, again);
    best.number = best_group(best, groups, c->choice);
    study_table_column(t, "run", STUDY_TEXT, false);
    study_table_column(t, "n", STUDY_COUNT, false);
    for (size_t k = 0; k < c->settings; k++)
        if (strcmp(c->setting[k], over) != 0)
            study_table_column(t, c->setting[k], STUDY_TEXT, false);
    for (size_t k = 0; k < c->results; k++)
        if (holds_words(runs, count, c->result[k]))
            study_table_column(t, c->result[k], STUDY_TEXT, false);
        else
            study_table_column(t, c->result[k], study_kind_of(c->result[k]), true);
    study_table_column(t, "difference_n", STUDY_COUNT, false);
    study_table_column(t, "difference", STUDY_SHARE, false);
    study_table_column(t, "difference_lo", STUDY_SHARE, false);
    study_table_column(t, "difference_hi", STUDY_SHARE, false);
    study_crossing_columns(t, c, true);
    for (size_t g = 0; g < groups; g++) {
        struct group group = {runs, of, again, count, g};

        add_group(t, &group, &best, c, over);
    }
    for (size_t i = 0; i < count; i++) {
        left_out += runs[i].entry->run.state != WIRE_DONE;
        repeats += runs[i].entry->run.state == WIRE_DONE && again[i];
    }
    study_table_note(t, "mean and standard deviation over %s; n: how many runs; run: the first",
                     over);
    if (!same_counts(&best, groups))
        study_table_note(t,
                         "rows with a smaller n lack runs, and their means are of other %ss: the "
                         "difference over pairs is the fairer comparison",
                         over);
    if (left_out)
        study_table_note(t,
                         "%s run%s not done (diverged, failed, running, ...): no part of n and "
                         "of the means",
                         TEXT_COUNT(left_out), left_out == 1 ? " is" : "s are");
    if (repeats)
        study_table_note(t,
                         "%s run%s another, settings and seed: the same result counts once in n "
                         "and in the means",
                         TEXT_COUNT(repeats), repeats == 1 ? " repeats" : "s repeat");
    if (study_all_same_test(runs, count))
        study_table_note(
            t,
            "difference: of test_acc to the row with the highest %s%s, over pairs of the "
            "same %s, with its 95 %% interval (Student's t; it takes two pairs); one that holds "
            "0 may be chance",
            c->choice, strcmp(c->choice, "test_acc") ? "" : " (picked on test)", over);
    free(again);
    free(of);
}
