#include "study/compare.h"

#include "base/mem.h"
#include "study/stats.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *study_short_name(const char *run)
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

enum study_kind study_kind_of(const char *name)
{
    static const struct {
        const char *part;
        enum study_kind kind;
    } kinds[] = {
        {"acc", STUDY_SHARE},          {"gain_", STUDY_SHARE},  {"ece", STUDY_SHARE},
        {"disagreement", STUDY_SHARE}, {"loss", STUDY_LOSS},    {"images_per_second", STUDY_COUNT},
        {"seconds", STUDY_TIME},       {"images", STUDY_COUNT}, {"epoch", STUDY_COUNT},
        {"parameters", STUDY_COUNT},   {"bytes", STUDY_COUNT},  {"step", STUDY_COUNT}};
    static const char *const words[] = {"loss_reduction", "target_acc", "step_epochs",
                                        "step_factor",    "epochs",     "max_steps"};

    for (size_t i = 0; i < MEM_COUNT(words); i++)
        if (!strcmp(name, words[i]))
            return STUDY_NUMBER;
    for (size_t i = 0; i < MEM_COUNT(kinds); i++)
        if (strstr(name, kinds[i].part))
            return kinds[i].kind;
    return STUDY_NUMBER;
}

static bool is_word(const char *name)
{
    static const char *const words[] = {"run",  "sweep",   "cell", "reason",
                                        "host", "version", "tags", "note"};

    for (size_t i = 0; i < MEM_COUNT(words); i++)
        if (!strcmp(name, words[i]))
            return true;
    return false;
}

void study_table_value(struct study_table *t, const struct study_run *run, const char *name)
{
    struct text value = {0};
    double number;

    study_value(run, name, &value);
    if (value.n && !is_word(name) && text_to_double(text_str(&value), &number))
        study_table_number(t, number);
    else
        study_table_word(t, text_str(&value));
    text_free(&value);
}

/* ---- which columns ---- */

/* Of the crossing of a target, and what of epochs.csv they hold. */
static const char *const crossing[][2] = {{"target_epoch", "epoch"},
                                          {"target_seconds", "train_seconds"},
                                          {"target_model_images", "model_images"},
                                          {"target_device_seconds", "device_seconds"}};

struct columns {
    const char **setting;
    size_t settings;
    const char *result[32];
    size_t results;
};

static bool applies(const struct study_run *runs, size_t count, const char *name)
{
    bool any = false;

    for (size_t i = 0; i < count && !any; i++) {
        struct text value = {0};

        study_value(&runs[i], name, &value);
        any = value.n > 0;
        text_free(&value);
    }
    return any;
}

static bool any_ensemble(const struct study_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (runs[i].entry->run.spec.mode == SPEC_ENSEMBLE)
            return true;
    return false;
}

static void usual_results(struct columns *c, const struct study_run *runs, size_t count)
{
    static const char *const single[] = {"best_epoch", "val_acc",       "test_acc",     "test_loss",
                                         "train_loss", "last.test_acc", "train_seconds"};
    static const char *const ensemble[] = {"member_acc_mean", "member_acc_max", "gain_mean",
                                           "gain_best",       "disagreement",   "ece"};

    for (size_t i = 0; i < MEM_COUNT(single); i++)
        if (applies(runs, count, single[i]))
            c->result[c->results++] = single[i];
    if (!any_ensemble(runs, count))
        return;
    for (size_t i = 0; i < MEM_COUNT(ensemble); i++)
        c->result[c->results++] = ensemble[i];
    c->result[c->results++] = "model_images";
}

static enum err_code wished_results(struct columns *c, const struct study_run *runs,
                                    const char *const *names, struct err *e)
{
    for (size_t i = 0; names[i]; i++) {
        const char *near = study_name_near(&runs[0], names[i]);

        if (near && *near)
            return err_set(e, ERR_INPUT, "there is no column %s; did you mean %s?", names[i], near);
        if (near)
            return err_set(e, ERR_INPUT,
                           "there is no column %s: it is none of run.csv, nor of epochs.csv (whose "
                           "columns are read at the best epoch, last.COLUMN at the last)",
                           names[i]);
        if (c->results == MEM_COUNT(c->result))
            return err_set(e, ERR_INPUT, "more than %zu columns were asked for",
                           MEM_COUNT(c->result));
        c->result[c->results++] = names[i];
    }
    return ERR_OK;
}

/* No name stands twice: a CSV's readers rename the second. What was asked for and stands there
 * already stays where it is. */
static void drop_repeated(struct columns *c, const struct study_wish *wish, double target)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->results; i++) {
        const char *name = c->result[i];
        bool there = !strcmp(name, "run") || (!wish->over && !strcmp(name, "state"));

        for (size_t k = 0; k < c->settings && !there; k++)
            there = !strcmp(name, c->setting[k]) && !(wish->over && !strcmp(name, wish->over));
        for (size_t k = 0; k < kept && !there; k++)
            there = !strcmp(name, c->result[k]);
        for (size_t k = 0; k < MEM_COUNT(crossing) && target > 0 && !there; k++)
            there = !strcmp(name, crossing[k][0]);
        if (!there)
            c->result[kept++] = name;
    }
    c->results = kept;
}

/* ---- what stands below the table ---- */

static void note_picks(struct study_table *t, const struct study_run *runs, size_t count)
{
    size_t test = 0, valid = 0;

    for (size_t i = 0; i < count; i++) {
        test += !strcmp(runs[i].entry->run.best_by, "test");
        valid += !strcmp(runs[i].entry->run.best_by, "valid");
    }
    if (test)
        study_table_note(t,
                         "best epochs %swere picked on test data: their accuracies are optimistic",
                         valid ? "of runs without validation data " : "");
    if (valid)
        study_table_note(t, "best epochs %swere picked on validation data",
                         test ? "of the others " : "");
}

/* Seconds that were taken beside other runs are no measure of a run. */
static void note_shared(struct study_table *t, const struct study_run *runs, size_t count)
{
    size_t shared = 0;

    for (size_t i = 0; i < count; i++)
        shared += runs[i].entry->run.shared > 1;
    if (shared == count)
        study_table_note(t,
                         "%s computed beside others: seconds are longer than those of a run "
                         "alone",
                         count == 1 ? "this run" : "all of these runs");
    else if (shared)
        study_table_note(t, "shared: how many runs computed at once, at most; where it is above 1 "
                            "seconds are longer than those of a run alone");
}

static bool has_diverged(const struct study_table *t, size_t row)
{
    int state = study_table_find(t, "state");

    return state >= 0 &&
           !strcmp(study_table_cell(t, row, state)->text, wire_state_name(WIRE_DIVERGED));
}

static void mark_best(struct study_table *t, const char *name)
{
    int column = study_table_find(t, name);
    double best = -INFINITY;

    for (size_t i = 0; column >= 0 && i < t->rows; i++)
        if (!has_diverged(t, i))
            best = fmax(best, study_table_cell(t, i, column)->value);
    for (size_t i = 0; column >= 0 && i < t->rows && t->rows > 1; i++)
        if (study_table_cell(t, i, column)->value == best && !has_diverged(t, i))
            study_table_cell(t, i, column)->best = true;
}

/* ---- the crossing of a target ---- */

static double target_of(const struct study_run *runs, size_t count, const struct study_wish *wish)
{
    double target = wish->target;

    for (size_t i = 0; i < count && !(target > 0); i++)
        target = runs[i].entry->run.spec.target_acc;
    return target;
}

static void crossing_columns(struct study_table *t, double target, bool spread)
{
    if (target > 0 && spread)
        study_table_column(t, "target_n", STUDY_COUNT, false);
    for (size_t i = 0; target > 0 && i < MEM_COUNT(crossing); i++)
        study_table_column(t, crossing[i][0], study_kind_of(crossing[i][1]), spread);
    if (target > 0)
        study_table_note(t,
                         "target_*: the first epoch at whose end the accuracy was %g or more, and "
                         "what it had cost; empty where it never was%s",
                         target, spread ? "; target_n: how many of the runs came to it" : "");
}

/* ---- a row a run ---- */

static void add_rows(struct study_table *t, const struct study_run *runs, size_t count,
                     const struct columns *c, double target)
{
    for (size_t i = 0; i < count; i++) {
        const struct study_run *run = &runs[i];
        int row = target > 0 ? study_crossing(run, target) : -1;

        study_table_word(t, study_short_name(run->entry->name));
        study_table_word(t, run->entry->dead ? "dead" : wire_state_name(run->entry->run.state));
        for (size_t k = 0; k < c->settings; k++)
            study_table_value(t, run, c->setting[k]);
        for (size_t k = 0; k < c->results; k++)
            study_table_value(t, run, c->result[k]);
        for (size_t k = 0; target > 0 && k < MEM_COUNT(crossing); k++) {
            if (row < 0)
                study_table_empty(t);
            else
                study_table_number(t, study_at(run, row, crossing[k][1]));
        }
    }
}

/* ---- a row a setting: mean and standard deviation over its runs ---- */

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

/* Pairs of runs of two groups whose `over` is the same, with their accuracies. */
static size_t pairs_of(const struct group *a, const struct group *b, const char *over, double *x,
                       double *y)
{
    size_t n = 0;

    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = 0; counts(a, i) && j < b->count; j++) {
            struct text p = {0}, q = {0};
            bool pair;

            if (!counts(b, j))
                continue;
            study_value(&a->runs[i], over, &p);
            study_value(&b->runs[j], over, &q);
            pair = !strcmp(text_str(&p), text_str(&q));
            text_free(&p);
            text_free(&q);
            if (!pair)
                continue;
            x[n] = study_number(&a->runs[i], "test_acc");
            y[n] = study_number(&b->runs[j], "test_acc");
            n += isfinite(x[n]) && isfinite(y[n]);
            break;
        }
    }
    return n;
}

static size_t best_group(struct group all, size_t groups)
{
    double *x = mem_new(all.count, sizeof *x), best = -INFINITY;
    size_t which = 0;

    for (size_t g = 0; g < groups; g++) {
        size_t n;

        all.number = g;
        n = values_of(&all, "test_acc", x);
        if (n && study_mean(x, n) > best) {
            best = study_mean(x, n);
            which = g;
        }
    }
    free(x);
    return which;
}

static void add_difference(struct study_table *t, const struct group *g, const struct group *best,
                           const char *over, double *x, double *y)
{
    struct study_interval i;
    size_t pairs;

    if (g->number == best->number) {
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

/* Whether no run that counts before run i has its value. */
static bool is_new(const struct group *g, size_t i, const char *name, const char *value)
{
    bool is = true;

    for (size_t k = 0; k < i && is; k++) {
        struct text other = {0};

        if (!counts(g, k))
            continue;
        study_value(&g->runs[k], name, &other);
        is = strcmp(text_str(&other), value) != 0;
        text_free(&other);
    }
    return is;
}

/* What its runs were computed on and beside, each value once: "1, 2". */
static void add_conditions(struct study_table *t, const struct group *g, const char *name)
{
    struct text all = {0}, value = {0};

    for (size_t i = 0; i < g->count; i++) {
        if (!counts(g, i))
            continue;
        text_clear(&value);
        study_value(&g->runs[i], name, &value);
        if (is_new(g, i, name, text_str(&value)))
            text_addf(&all, "%s%s", all.n ? ", " : "", text_str(&value));
    }
    study_table_word(t, text_str(&all));
    text_free(&all);
    text_free(&value);
}

static void add_group(struct study_table *t, const struct group *g, const struct group *best,
                      const struct columns *c, const char *over, double target)
{
    double *x = mem_new(g->count, sizeof *x), *y = mem_new(g->count, sizeof *y);
    size_t first = 0, n = 0;

    while (g->of[first] != g->number)
        first++;
    for (size_t i = 0; i < g->count; i++)
        n += counts(g, i);
    study_table_word(t, study_short_name(g->runs[first].entry->name));
    study_table_number(t, (double)n);
    for (size_t k = 0; k < c->settings; k++)
        if (study_is_condition(c->setting[k]))
            add_conditions(t, g, c->setting[k]);
        else if (strcmp(c->setting[k], over) != 0)
            study_table_value(t, &g->runs[first], c->setting[k]);
    for (size_t k = 0; k < c->results; k++)
        add_mean(t, x, values_of(g, c->result[k], x));
    add_difference(t, g, best, over, x, y);
    for (size_t k = 0; target > 0 && k < MEM_COUNT(crossing); k++) {
        size_t crossed = 0;

        for (size_t i = 0; i < g->count; i++) {
            int row = counts(g, i) ? study_crossing(&g->runs[i], target) : -1;

            if (row >= 0)
                x[crossed++] = study_at(&g->runs[i], row, crossing[k][1]);
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

static void compare_groups(const struct study_run *runs, size_t count, const struct columns *c,
                           const char *over, double target, struct study_table *t)
{
    size_t *of = mem_new(count, sizeof *of);
    bool *again = mem_new(count, sizeof *again);
    size_t groups = study_groups(runs, count, over, of), left_out = 0, repeats = 0;
    struct group best = {runs, of, again, count, 0};

    study_repeats(runs, count, again);
    best.number = best_group(best, groups);
    study_table_column(t, "run", STUDY_TEXT, false);
    study_table_column(t, "n", STUDY_COUNT, false);
    for (size_t k = 0; k < c->settings; k++)
        if (strcmp(c->setting[k], over) != 0)
            study_table_column(t, c->setting[k], STUDY_TEXT, false);
    for (size_t k = 0; k < c->results; k++)
        study_table_column(t, c->result[k], study_kind_of(c->result[k]), true);
    study_table_column(t, "difference_n", STUDY_COUNT, false);
    study_table_column(t, "difference", STUDY_SHARE, false);
    study_table_column(t, "difference_lo", STUDY_SHARE, false);
    study_table_column(t, "difference_hi", STUDY_SHARE, false);
    crossing_columns(t, target, true);
    for (size_t g = 0; g < groups; g++) {
        struct group group = {runs, of, again, count, g};

        add_group(t, &group, &best, c, over, target);
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
                         "%zu run%s not done (diverged, failed, running, ...): no part of n and "
                         "of the means",
                         left_out, left_out == 1 ? " is" : "s are");
    if (repeats)
        study_table_note(t,
                         "%zu run%s another, settings and seed: the same result counts once in n "
                         "and in the means",
                         repeats, repeats == 1 ? " repeats" : "s repeat");
    study_table_note(
        t,
        "difference: of test_acc to the best row, over difference_n pairs of the same "
        "%s, with its 95 %% interval (Student's t; it takes two pairs); one that holds "
        "0 may be chance",
        over);
    free(again);
    free(of);
}

/* ---- at equal cost ---- */

static enum err_code compare_equal(const struct study_run *runs, size_t count,
                                   const struct columns *c, enum study_budget budget,
                                   struct study_table *t, struct err *e)
{
    static const char *const at[] = {"test_acc",        "test_loss",    "train_loss",
                                     "member_acc_mean", "model_images", "train_seconds",
                                     "device_seconds"};
    double cost = study_least_cost(runs, count, budget);
    char number[TEXT_NUMBER_ROOM];

    study_budget_text(number, budget, cost);
    if (isnan(cost))
        return err_set(e, ERR_INPUT,
                       "a run among them has no whole epoch yet: there is nothing to be equal to");
    study_table_column(t, "run", STUDY_TEXT, false);
    for (size_t k = 0; k < c->settings; k++)
        study_table_column(t, c->setting[k], STUDY_TEXT, false);
    study_table_column(t, "read_at", STUDY_TEXT, false);
    study_table_column(t, "schedule_ended", STUDY_TEXT, false);
    for (size_t k = 0; k < MEM_COUNT(at); k++)
        study_table_column(t, at[k], study_kind_of(at[k]), false);
    for (size_t i = 0; i < count; i++) {
        struct study_reading r;

        study_read_at(&runs[i], budget, cost, &r);
        study_table_word(t, study_short_name(runs[i].entry->name));
        for (size_t k = 0; k < c->settings; k++)
            study_table_value(t, &runs[i], c->setting[k]);
        study_table_word(t, r.where);
        study_table_word(t, r.row < 0 ? "" : r.ended ? "yes" : "no");
        for (size_t k = 0; k < MEM_COUNT(at); k++) {
            double value = study_at(&runs[i], r.row, at[k]);

            if (isnan(value))
                study_table_empty(t);
            else
                study_table_number(t, value);
        }
    }
    study_table_note(t, "each run is read at the end of its last epoch within %s %s", number,
                     study_budget_name[budget]);
    return ERR_OK;
}

static void compare_runs(const struct study_run *runs, size_t count, const struct columns *c,
                         double target, struct study_table *t)
{
    study_table_column(t, "run", STUDY_TEXT, false);
    study_table_column(t, "state", STUDY_TEXT, false);
    for (size_t k = 0; k < c->settings; k++)
        study_table_column(t, c->setting[k], STUDY_TEXT, false);
    for (size_t k = 0; k < c->results; k++)
        study_table_column(t, c->result[k], study_kind_of(c->result[k]), false);
    crossing_columns(t, target, false);
    add_rows(t, runs, count, c, target);
}

enum err_code study_compare(const struct study_run *runs, size_t count,
                            const struct study_wish *wish, struct study_table *out, struct err *e)
{
    struct columns c = {0};
    double target = target_of(runs, count, wish);
    enum err_code code = ERR_OK;

    memset(out, 0, sizeof *out);
    if (!count)
        return err_set(e, ERR_INPUT, "there is no run to compare");
    if (wish->columns)
        TRY(wished_results(&c, runs, wish->columns, e));
    else
        usual_results(&c, runs, count);
    c.setting = study_differences(runs, count, &c.settings);
    drop_repeated(&c, wish, target);
    if (wish->equal)
        code = compare_equal(runs, count, &c, wish->budget, out, e);
    else if (wish->over)
        compare_groups(runs, count, &c, wish->over, target, out);
    else
        compare_runs(runs, count, &c, target, out);
    free(c.setting);
    if (code != ERR_OK)
        return code;
    study_table_shorten(out);
    mark_best(out, "test_acc");
    note_shared(out, runs, count);
    if (!wish->equal)
        note_picks(out, runs, count);
    return ERR_OK;
}
