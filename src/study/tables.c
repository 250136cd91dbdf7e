/* Scaling and ensembles as tables. */
#include "base/mem.h"
#include "record/run/run.h"
#include "study/compare.h"
#include "study/members.h"
#include "study/scaling.h"
#include "study/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_or_empty(struct study_table *t, double value)
{
    if (isnan(value))
        study_table_empty(t);
    else
        study_table_number(t, value);
}

void study_scaling_table(const struct study_run *runs, size_t count, struct study_table *t)
{
    static const struct {
        const char *name;
        enum study_kind kind;
    } columns[] = {{"devices", STUDY_COUNT},  {"real_devices", STUDY_COUNT},
                   {"runs", STUDY_COUNT},     {"images_per_second", STUDY_COUNT},
                   {"speed_up", STUDY_SHARE}, {"efficiency", STUDY_SHARE},
                   {"input", STUDY_SHARE},    {"compute", STUDY_SHARE},
                   {"reduce", STUDY_SHARE},   {"wait", STUDY_SHARE},
                   {"mark", STUDY_TEXT}};
    struct study_point *p;
    size_t points = study_scaling(runs, count, &p), settings;
    const char **setting = study_scaling_differences(runs, p, points, &settings);
    bool marked = false;

    study_table_column(t, "run", STUDY_TEXT, false);
    for (size_t i = 0; i < settings; i++)
        study_table_column(t, setting[i], STUDY_TEXT, false);
    for (size_t i = 0; i < MEM_COUNT(columns); i++)
        study_table_column(t, columns[i].name, columns[i].kind, false);
    for (size_t i = 0; i < points; i++) {
        const struct study_run *run = &runs[p[i].run];

        study_table_word(t, study_short_name(run->entry->name));
        for (size_t k = 0; k < settings; k++)
            study_table_value(t, run, setting[k]);
        study_table_number(t, (double)p[i].devices);
        study_table_number(t, (double)p[i].real_devices);
        study_table_number(t, (double)p[i].runs);
        add_or_empty(t, p[i].images_per_second);
        add_or_empty(t, p[i].speed_up);
        add_or_empty(t, p[i].efficiency);
        add_or_empty(t, p[i].input);
        add_or_empty(t, p[i].compute);
        add_or_empty(t, p[i].reduce);
        add_or_empty(t, p[i].wait);
        study_table_word(t, p[i].is_virtual && p[i].shared ? "virtual, shared"
                            : p[i].is_virtual              ? "virtual"
                            : p[i].shared                  ? "shared"
                                                           : "");
        marked |= p[i].is_virtual || p[i].shared;
    }
    study_table_note(t, "images_per_second: of all members, in training; speed_up over the fewest "
                        "real devices; efficiency: speed_up per device");
    if (marked)
        study_table_note(t, "virtual devices share the real ones, shared runs computed beside "
                            "others: neither has a speed-up or an efficiency");
    study_table_shorten(t);
    free(setting);
    free(p);
}

static void add_model(struct study_table *t, const struct study_model *m)
{
    study_table_number(t, m->acc);
    study_table_number(t, m->nll);
    study_table_number(t, m->ece);
}

void study_members_from(struct study_members *s, const struct study_run *run)
{
    if (study_is_average(run)) { /* its end is all that there is of it */
        s->unlike = study_unlike(&run->entry->run);
        return;
    }
    s->epoch = run->entry->run.epochs_done;
    s->at_best = (struct study_gain){
        run->best < 0 ? 0 : run->entry->run.best_epoch, !strcmp(run->entry->run.best_by, "test"),
        study_number(run, "gain_mean"), study_number(run, "gain_best")};
}

struct study_unlike study_unlike(const struct record_run *average)
{
    return (struct study_unlike){record_run_is_several(average, "images"),
                                 average->flops_per_image == RECORD_EMPTY};
}

void study_add_cost(struct text *out, int members, struct study_unlike unlike)
{
    if (!unlike.length && !unlike.size) {
        text_addf(out, "%d times the training of one", members);
        return;
    }
    text_add(out, "the training of ");
    if (members == 2)
        text_add(out, "both");
    else
        text_addf(out, "all %d", members);
    text_addf(out, ", which differ in %s%s%s", unlike.length ? "length" : "",
              unlike.length && unlike.size ? " and " : "", unlike.size ? "size" : "");
}

void study_add_brief_cost(struct text *out, int members, struct study_unlike unlike)
{
    if (unlike.length || unlike.size)
        study_add_cost(out, members, unlike);
    else
        text_addf(out, "%dx the training", members);
}

const char *study_points(char out[TEXT_NUMBER_ROOM], double difference)
{
    char number[TEXT_NUMBER_ROOM];

    text_fixed(number, 100 * difference, 2);
    snprintf(out, TEXT_NUMBER_ROOM, "%s%.38s", *number == '-' ? "" : "+", number);
    return out;
}

void study_add_gain(struct text *out, double gain, const char *over)
{
    const char *points = STUDY_POINTS(gain);

    text_addf(out, *points == '-' ? "%s below %s" : "%s over %s", points + (*points == '-'), over);
}

void study_members_table(const struct study_members *s, struct study_table *t)
{
    struct text cost = {0}, best = {0};
    char when[64] = "at each run's last epoch";
    char name[16], number[TEXT_NUMBER_ROOM];

    study_table_column(t, "model", STUDY_TEXT, false);
    study_table_column(t, "test_acc", STUDY_SHARE, false);
    study_table_column(t, "nll", STUDY_LOSS, false);
    study_table_column(t, "ece", STUDY_SHARE, false);
    study_table_column(t, "prefix_acc", STUDY_SHARE, false);
    for (int m = 0; m < s->members; m++) {
        snprintf(name, sizeof name, "%d", m);
        study_table_word(t, name);
        add_model(t, &s->member[m]);
        study_table_number(t, s->prefix[m]);
    }
    study_table_word(t, "mean member");
    add_model(t, &s->mean);
    study_table_empty(t);
    study_add_cost(&cost, s->members, s->unlike);
    study_add_gain(&best, s->gain_best, "the best one");
    study_table_word(t, "ensemble");
    add_model(t, &s->whole);
    study_table_empty(t);
    if (s->epoch > 0)
        snprintf(when, sizeof when, "at the last epoch, %lld,", (long long)s->epoch);
    study_table_note(t,
                     "ensemble: the mean of the members' probabilities; %s its gain is %s "
                     "points over the mean member, %s (member %d, picked on test), at %s; a point "
                     "is 0.01 of test_acc",
                     when, STUDY_POINTS(s->gain_mean), text_str(&best), s->best, text_str(&cost));
    text_clear(&best);
    study_add_gain(&best, s->at_best.best, "the best one");
    if (s->at_best.epoch > 0)
        study_table_note(t,
                         "at the best epoch, %lld (picked on %s), its gain was %s points over "
                         "the mean member, %s then",
                         (long long)s->at_best.epoch, s->at_best.on_test ? "test" : "validation",
                         STUDY_POINTS(s->at_best.mean), text_str(&best));
    text_free(&best);
    text_free(&cost);
    study_table_note(t,
                     "disagreement %s: the share of test images on which two members' answers "
                     "differ, mean over pairs",
                     text_fixed(number, s->disagreement, 4));
    study_table_note(
        t,
        "nll: mean of -log of the label's probability, from the logits; ece: 15 equal bins of the "
        "highest probability; prefix_acc: of members 0 to this one, averaged");
}

void study_subsets_table(const struct study_members *s, struct study_table *t)
{
    bool sampled = false;

    study_table_column(t, "members", STUDY_COUNT, false);
    study_table_column(t, "test_acc", STUDY_SHARE, false);
    study_table_column(t, "least", STUDY_SHARE, false);
    study_table_column(t, "most", STUDY_SHARE, false);
    study_table_column(t, "sets", STUDY_COUNT, false);
    for (int k = 1; k <= s->members; k++) {
        const struct study_subsets *of = &s->of[k - 1];

        study_table_number(t, k);
        study_table_number(t, of->mean);
        study_table_number(t, of->least);
        study_table_number(t, of->most);
        study_table_number(t, (double)of->sets);
        sampled |= of->sampled;
    }
    study_table_note(
        t, "test_acc: of k members' averaged probabilities, mean over the sets of k%s",
        sampled ? "; where there are more than 256 sets, over a sample from a fixed seed" : "");
}

void study_pairs_table(const struct study_members *s, struct study_table *t)
{
    char name[16];

    study_table_column(t, "member", STUDY_TEXT, false);
    for (int m = 0; m < s->members; m++) {
        snprintf(name, sizeof name, "%d", m);
        study_table_column(t, name, STUDY_SHARE, false);
    }
    for (int m = 0; m < s->members; m++) {
        snprintf(name, sizeof name, "%d", m);
        study_table_word(t, name);
        for (int k = 0; k < s->members; k++)
            if (k == m)
                study_table_empty(t);
            else
                study_table_number(t, s->differ[m * s->members + k]);
    }
    study_table_note(t,
                     "disagreement: the share of test images on which two members' answers differ");
}
