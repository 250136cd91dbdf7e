/* study/compare_names.c: how runs, columns and values of a comparison are named. */
#include "study/compare.h"

#include "base/mem.h"
#include "study/compare_int.h"

#include <ctype.h>
#include <math.h>
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

    if (TEXT_IS_AMONG(name, words))
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

    return TEXT_IS_AMONG(name, words);
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

const char *const study_crossings[STUDY_CROSSINGS][2] = {
    {"target_epoch", "epoch"},
    {"target_seconds", "train_seconds"},
    {"target_model_images", "model_images"},
    {"target_device_seconds", "device_seconds"}};

void study_crossing_columns(struct study_table *t, const struct study_columns *c, bool spread)
{
    if (!(c->target > 0))
        return;
    if (spread)
        study_table_column(t, "target_n", STUDY_COUNT, false);
    for (size_t i = 0; i < STUDY_CROSSINGS; i++)
        study_table_column(t, study_crossings[i][0], study_kind_of(study_crossings[i][1]), spread);
    study_table_note(t,
                     "target_*: the first epoch at whose end %s was %g or more, and what it had "
                     "cost; empty where it never was%s",
                     c->choice, c->target,
                     spread ? "; target_n: how many of the runs came to it" : "");
}
