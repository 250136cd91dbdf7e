#include "study/compare_int.h"

#include "base/mem.h"
#include "record/run/reader.h"
#include "study/compare.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Of no single model: to that they say nothing. */
static bool applies_to_ensembles(const struct study_run *runs, size_t count, const char *name)
{
    bool any = false;

    for (size_t i = 0; i < count && !any; i++)
        any = runs[i].entry->run.spec.mode == SPEC_ENSEMBLE && applies(&runs[i], 1, name);
    return any;
}

static void usual_results(struct study_columns *c, const struct study_run *runs, size_t count)
{
    static const char *const single[] = {"best_epoch", "val_acc",       "test_acc",     "test_loss",
                                         "train_loss", "last.test_acc", "train_seconds"};
    static const char *const ensemble[] = {
        "member_acc_mean", "member_acc_max", "gain_mean",    "gain_best",
        "last.gain_mean",  "last.gain_best", "disagreement", "ece"};

    for (size_t i = 0; i < MEM_COUNT(single); i++)
        if (applies(runs, count, single[i]))
            c->result[c->results++] = single[i];
    if (!any_ensemble(runs, count))
        return;
    for (size_t i = 0; i < MEM_COUNT(ensemble); i++) /* those that diverged at once have none */
        if (applies_to_ensembles(runs, count, ensemble[i]))
            c->result[c->results++] = ensemble[i];
    c->result[c->results++] = "model_images";
}

static enum err_code wished_results(struct study_columns *c, const struct study_run *runs,
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
static void drop_repeated(struct study_columns *c, const struct study_wish *wish)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->results; i++) {
        const char *name = c->result[i];
        bool there = !strcmp(name, "run") || (!wish->over && !strcmp(name, "state"));

        for (size_t k = 0; k < c->settings && !there; k++)
            there = !strcmp(name, c->setting[k]) && !(wish->over && !strcmp(name, wish->over));
        for (size_t k = 0; k < kept && !there; k++)
            there = !strcmp(name, c->result[k]);
        for (size_t k = 0; k < STUDY_CROSSINGS && c->target > 0 && !there; k++)
            there = !strcmp(name, study_crossings[k][0]);
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
        if (!runs[i].entry->run.epochs_done) /* nothing was picked */
            continue;
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

/* Every gain is told with its epoch. */
static void note_gains(struct study_table *t, const struct study_columns *c)
{
    bool best = false, last = false;

    for (size_t i = 0; i < c->results; i++) {
        best |= !strncmp(c->result[i], "gain_", 5);
        last |= !strncmp(c->result[i], "last.gain_", 10);
    }
    if (best || last)
        study_table_note(t,
                         "gain_mean, gain_best: test_acc of the averaged probabilities less that "
                         "of the mean member, of the best one (picked on test)" STUDY_AS_FRACTIONS
                         ";%s%s%s",
                         best ? " gain_* at best_epoch" : "", best && last ? "," : "",
                         last ? " last.gain_* at the last epoch" : "");
}

/* What makes a row the best one, where that is not test for all and said already. */
static void note_choice(struct study_table *t, const struct study_run *runs, size_t count,
                        const char *choice)
{
    size_t valid = 0;

    for (size_t i = 0; i < count; i++)
        valid += !strcmp(runs[i].entry->run.best_by, "valid");
    if (valid && t->rows > 1 && study_table_find(t, choice) >= 0)
        study_table_note(t, "the best row is the one with the highest %s%s", choice,
                         !strcmp(choice, "test_acc") ? ": it is picked on test" : "");
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

/* A name says the same of both files. */
static void note_hashes(struct study_table *t, const struct study_columns *c)
{
    for (size_t i = 0; i < c->settings; i++)
        if (study_chosen_by(c->setting[i]))
            study_table_note(t,
                             "%s: %s of one name was not the same in these runs: the file was "
                             "changed between them, or is another one",
                             c->setting[i],
                             !strcmp(c->setting[i], "data_hash") ? "data" : "a network");
}

/* Where a table has no states all of its runs are done. */
static bool is_bad(const struct study_table *t, size_t row)
{
    int column = study_table_find(t, "state");
    enum wire_state state;

    return column >= 0 && wire_state_find(study_table_cell(t, row, column)->text, &state) &&
           wire_state_is_bad(state);
}

static void mark_best(struct study_table *t, const char *name)
{
    int column = study_table_find(t, name);
    double best = -INFINITY;

    for (size_t i = 0; column >= 0 && i < t->rows; i++)
        if (!is_bad(t, i))
            best = fmax(best, study_table_cell(t, i, column)->value);
    for (size_t i = 0; column >= 0 && i < t->rows && t->rows > 1; i++)
        if (study_table_cell(t, i, column)->value == best && !is_bad(t, i))
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

/* ---- a row a run ---- */

static void add_state(struct study_table *t, const struct record_entry *entry)
{
    study_table_word(t, entry->dead ? "dead" : wire_state_name(entry->run.state));
}

static void add_rows(struct study_table *t, const struct study_run *runs, size_t count,
                     const struct study_columns *c)
{
    for (size_t i = 0; i < count; i++) {
        const struct study_run *run = &runs[i];
        int row = c->target > 0 ? study_crossing(run, c->choice, c->target) : -1;

        study_table_word(t, study_short_name(run->entry->name));
        add_state(t, run->entry);
        for (size_t k = 0; k < c->settings; k++)
            study_table_value(t, run, c->setting[k]);
        for (size_t k = 0; k < c->results; k++)
            study_table_value(t, run, c->result[k]);
        for (size_t k = 0; c->target > 0 && k < STUDY_CROSSINGS; k++) {
            if (row < 0)
                study_table_empty(t);
            else
                study_table_number(t, study_at(run, row, study_crossings[k][1]));
        }
    }
}

/* ---- at equal cost ---- */

static void note_limit(struct study_table *t, const struct study_limit *limit, double over)
{
    char number[TEXT_NUMBER_ROOM];

    study_budget_text(number, limit->budget, limit->cost);
    study_table_note(t, "each run is read at the end of its last epoch within %s %s", number,
                     strcmp(number, "1") || limit->budget ? study_budget_name[limit->budget]
                                                          : "epoch");
    if (!(over > 0))
        return;
    study_budget_text(number, limit->budget, over);
    study_table_note(
        t,
        "a run's end at most half an epoch beyond that counts as equal: the most is %s "
        "beyond, and the row says what was spent",
        number);
}

static bool all_done(const struct study_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (runs[i].entry->run.state != WIRE_DONE)
            return false;
    return true;
}

static enum err_code compare_equal(const struct study_run *runs, size_t count,
                                   const struct study_columns *c, const struct study_wish *wish,
                                   struct study_table *t, struct err *e)
{
    static const char *const at[] = {"val_acc",       "test_acc",        "test_loss",
                                     "train_loss",    "member_acc_mean", "model_images",
                                     "train_seconds", "device_seconds"};
    size_t first = strcmp(c->choice, at[0]) != 0; /* without validation there is no column of it */
    const struct study_limit limit =
        wish->limit ? *wish->limit : study_least_cost(runs, count, wish->budget);
    bool states = !all_done(runs, count);
    bool moving = false;
    double over = 0;

    if (isnan(limit.cost))
        return err_set(e, ERR_INPUT,
                       "none of these runs has a whole epoch yet: there is nothing to be equal to");
    study_table_column(t, "run", STUDY_TEXT, false);
    if (states)
        study_table_column(t, "state", STUDY_TEXT, false);
    for (size_t k = 0; k < c->settings; k++)
        study_table_column(t, c->setting[k], STUDY_TEXT, false);
    study_table_column(t, "read_at", STUDY_TEXT, false);
    study_table_column(t, "schedule_ended", STUDY_TEXT, false);
    for (size_t k = first; k < MEM_COUNT(at); k++)
        study_table_column(t, at[k], study_kind_of(at[k]), false);
    for (size_t i = 0; i < count; i++) {
        struct study_reading r;

        study_read_at(&runs[i], &limit, &r);
        over = fmax(over, r.over);
        moving |= r.moving;
        study_table_word(t, study_short_name(runs[i].entry->name));
        if (states)
            add_state(t, runs[i].entry);
        for (size_t k = 0; k < c->settings; k++)
            study_table_value(t, &runs[i], c->setting[k]);
        study_table_word(t, r.where);
        study_table_word(t, r.row < 0 ? "" : r.ended ? "yes" : "no");
        for (size_t k = first; k < MEM_COUNT(at); k++) {
            double value = study_at(&runs[i], r.row, at[k]);

            if (isnan(value))
                study_table_empty(t);
            else
                study_table_number(t, value);
        }
    }
    note_limit(t, &limit, over);
    if (moving)
        study_table_note(t, "where lr was still on its way, a schedule that ends there might have "
                            "done better");
    return ERR_OK;
}

/* They are evaluated once. */
static void note_averages(struct study_table *t, const struct study_run *runs, size_t count,
                          const struct study_columns *c)
{
    bool any = false;

    for (size_t i = 0; i < count && c->target > 0; i++)
        any |= study_is_average(&runs[i]);
    if (any)
        study_table_note(t, "target_* of an average of runs is empty too: its end alone was "
                            "evaluated, and nobody knows when it came to that");
}

static void compare_runs(const struct study_run *runs, size_t count, const struct study_columns *c,
                         struct study_table *t)
{
    study_table_column(t, "run", STUDY_TEXT, false);
    study_table_column(t, "state", STUDY_TEXT, false);
    for (size_t k = 0; k < c->settings; k++)
        study_table_column(t, c->setting[k], STUDY_TEXT, false);
    for (size_t k = 0; k < c->results; k++)
        study_table_column(t, c->result[k], study_kind_of(c->result[k]), false);
    study_crossing_columns(t, c, false);
    note_averages(t, runs, count, c);
    add_rows(t, runs, count, c);
}

/* What is best, and what is to be read with it, when all rows are there. */
static void tell(const struct study_run *runs, size_t count, const struct study_columns *c,
                 const struct study_wish *wish, struct study_table *t)
{
    bool same = study_all_same_test(runs, count);

    study_table_shorten(t);
    if (same)
        mark_best(t, c->choice);
    else
        study_table_note(t, "these runs were tested on different data (data, test_limit): their "
                            "accuracies and losses do not say which is better");
    note_hashes(t, c);
    note_shared(t, runs, count);
    if (!wish->equal) {
        note_picks(t, runs, count);
        note_gains(t, c);
    }
    if (same)
        note_choice(t, runs, count, c->choice);
}

enum err_code study_compare(const struct study_run *runs, size_t count,
                            const struct study_wish *wish, struct study_table *out, struct err *e)
{
    struct study_columns c = {.choice = study_choice(runs, count),
                              .target = target_of(runs, count, wish)};
    enum err_code code = ERR_OK;

    memset(out, 0, sizeof *out);
    if (!count)
        return err_set(e, ERR_INPUT, "there is no run to compare");
    if (wish->columns)
        TRY(wished_results(&c, runs, wish->columns, e));
    else
        usual_results(&c, runs, count);
    c.setting = study_differences(runs, count, &c.settings);
    drop_repeated(&c, wish);
    if (wish->equal)
        code = compare_equal(runs, count, &c, wish, out, e);
    else if (wish->over)
        study_compare_groups(runs, count, &c, wish->over, out);
    else
        compare_runs(runs, count, &c, out);
    if (code == ERR_OK)
        tell(runs, count, &c, wish, out);
    free(c.setting);
    return code;
}
