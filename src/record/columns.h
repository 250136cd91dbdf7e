/* record/columns.h: the columns that runs are listed, filtered and sorted by. */
#ifndef CHORUS_RECORD_COLUMNS_H
#define CHORUS_RECORD_COLUMNS_H

#include "base/text.h"
#include "record/run/reader.h"

bool record_is_run_column(const char *name);

/* What runs are filtered and sorted by: run.csv's columns; those of epochs.csv, bare or as "best.X"
 * at the best epoch, as "last.X" at the last; "model.X", a parameter of the model,
 * RECORD_ALL_PARAMS, all of them. */
bool record_column_is(const char *name);
const char *record_column_nearest(const char *name); /* NULL: none is near */
/* Whether a column can hold the value; an error begins with text. */
enum err_code record_column_check(const char *column, const char *value, const char *text,
                                  struct err *e) MUST_USE;
/* "running", but "dead" where nobody is at work on it, "broken" where run.csv cannot be read. */
const char *record_entry_state(const struct record_entry *entry);
/* A column of record_column_is, empty where it does not apply; of a broken run only run and state.
 * */
void record_entry_value(const struct record_entry *entry, const char *column, struct text *out);
/* What runs are sorted by: numbers, then words, then what is empty, be it rising or falling. */
struct record_key {
    enum { RECORD_NUMBER, RECORD_WORD, RECORD_NOTHING } kind;
    double number;
    const char *value; /* the caller's */
};
struct record_key record_key_of(const char *value); /* NULL: nothing */
int record_compare_keys(const struct record_key *a, const struct record_key *b, bool falling);
/* On validation data at its best epoch, which was picked by it; nan without. */
double record_entry_valid_acc(const struct record_entry *entry);

#endif
