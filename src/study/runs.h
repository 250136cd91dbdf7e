/* study/runs.h: runs with their epochs read, and what is asked of them: a value by its name, what
 * differs, which of them are the same setting from other seeds. */
#ifndef CHORUS_STUDY_RUNS_H
#define CHORUS_STUDY_RUNS_H

#include "base/err.h"
#include "base/sheet.h"
#include "record/run/params.h"
#include "record/run/reader.h"

#include <stdbool.h>
#include <stddef.h>

struct study_run {
    const struct record_entry *entry; /* the caller's */
    struct sheet epochs;
    struct record_params params; /* of its model */
    int best, last;              /* rows of epochs; -1: none */
    bool changed;                /* epochs.csv is not what was written: say so */
};

/* One for each of the entries, which must outlive them and be whole. */
enum err_code study_open(struct study_run **out, const struct record_entry *entry, size_t count,
                         struct err *e) MUST_USE;
void study_close(struct study_run *runs, size_t count);

/* A value by its name: a column of run.csv, "model.NAME", a parameter of the model (all of them:
 * RECORD_ALL_PARAMS), or a column of epochs.csv at the best epoch, "last.COLUMN" at the last; also
 * "gain_mean", "gain_best" (of an ensemble, at the best epoch; "last." in front: at the last),
 * "picked" (what best was chosen on). Empty where it does not apply, the word for it where there is
 * none of it (study_none). False: there is no such name. */
bool study_value(const struct study_run *run, const char *name, struct text *out);
/* The same as a text of its own, which the caller frees; "" for a name that there is not. */
char *study_text(const struct study_run *run, const char *name);
/* The same as a number; nan where it is empty or a word. */
double study_number(const struct study_run *run, const char *name);
/* A column of epochs.csv in a row; nan without. */
double study_at(const struct study_run *run, int row, const char *column);
/* NULL where the name is known, else the known name nearest to it ("" where none is near). */
const char *study_name_near(const struct study_run *run, const char *name);

/* What an empty value of a key says: "all" of train_limit, "none" of grad_clip; "" where it says
 * that the key does not apply, and of what is no key. */
const char *study_none(const char *name);

/* What tells two runs apart: the keys that determine what is computed, and what it ran on. */
bool study_is_setting(const char *name);
/* Of network_hash and data_hash, which name what keys choose: those keys. Two runs in which they
 * are the same and the hash is not had files of one name and other contents. Ends with NULL; NULL
 * for every other name. */
const char *const *study_chosen_by(const char *name);
/* Whether two runs of one choice (the values of those keys) have different hashes. Where none was
 * written, or an average is of several, nobody knows. Their order is changed. */
struct study_hashed {
    const char *choice, *hash;
};
bool study_hash_has_changed(struct study_hashed *of, size_t count);
/* Whether it is an average of other runs, which was never trained itself. */
bool study_is_average(const struct study_run *run);
bool study_entry_is_average(const struct record_entry *entry); /* whose epochs.csv is read for it */
/* Whether two runs, or all of them, were tested on the same data: their accuracies say which is
 * better. */
bool study_same_test(const struct study_run *a, const struct study_run *b);
bool study_all_same_test(const struct study_run *runs, size_t count);
/* ERR_INPUT for an average of runs whose settings differ, but for the seed: no experiment trains
 * it. */
enum err_code study_check_trainable(const struct record_entry *entry, struct err *e) MUST_USE;
/* The settings that are not the same in all the runs, as names for study_value, in run.csv's order:
 * keys of the experiment, the model's parameters behind the model, then what was really used (a
 * hash only where study_chosen_by does not explain it). Names of keys that change nothing (name,
 * log_every, keep, target_acc, on_end) are left out. Ends with NULL; the caller frees the array,
 * whose names last as long as the runs. */
const char **study_differences(const struct study_run *runs, size_t count, size_t *found);

/* Runs of one sweep by the settings in which they differ, numbers by their size; others stay as
 * they are. */
void study_order(struct record_entry *entry, struct study_run *runs, size_t count);

/* Where a run was computed and beside what: it changes its seconds, but is no setting of it. */
bool study_is_condition(const char *name);

/* group[i]: the number of run i's group, counted from 0 as they come up: runs whose settings are
 * the same but for `over` (a key, such as seed) and for conditions. Returns how many groups there
 * are. */
size_t study_groups(const struct study_run *runs, size_t count, const char *over, size_t *group);
/* again[i]: another of the runs has the same settings and the same seed, which give the same
 * result: it stands for run i, which tells nothing more. Of such runs the first that is done
 * stands. Runs from `weights` whose results differ are no repeats: they started from others. */
void study_repeats(const struct study_run *runs, size_t count, bool *again);
/* As study_groups for runs in which these values (of study_value) are the same. */
size_t study_group_by(const struct study_run *runs, size_t count, const char *const *names,
                      size_t found, size_t *group);

/* What these runs are chosen by among each other: "val_acc" where the best epoch of all of them was
 * picked on validation data, else "test_acc". */
const char *study_choice(const struct study_run *runs, size_t count);
/* The first epoch at whose end an accuracy, a column of epochs.csv, was at least that: a row, or
 * -1; of an average of runs nobody knows it, since its end alone was evaluated. */
int study_crossing(const struct study_run *run, const char *column, double accuracy);

#endif
