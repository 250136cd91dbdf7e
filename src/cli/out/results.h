/* cli/out/results.h: what the verbs on results share: tables of study on a terminal. */
#ifndef CHORUS_CLI_OUT_RESULTS_H
#define CHORUS_CLI_OUT_RESULTS_H

#include "record/run/reader.h"
#include "study/runs.h"
#include "study/table.h"

/* For people. fd: where it goes, whose width it keeps to; -1: a file, as wide as it is. */
void cli_study_text(const struct study_table *t, const struct study_style *style, int fd,
                    struct text *out);
/* What a verb made: to this file, whose name goes to stdout then, or (NULL and "-") to stdout itself. Returns
 * the exit code. */
int cli_write_out(const char *file, const struct text *out);

/* One bad file does not keep the other runs back. */
void results_say_left_out(const struct record_entry *run, const struct err *why);
/* Whose epochs.csv was changed since it was written, in one line. order: (count) places in the list; NULL: all as
 * they are. */
void results_say_changed(const struct record_entry *list, const size_t *order, size_t count);
/* Takes those out of the list whose run.csv cannot be read, with a sentence each that names file
 * and line: one bad run does not keep the others from being looked at. ERR_INPUT where none is
 * left. */
enum err_code results_leave_out(struct record_entry *list, size_t *count, struct err *e) MUST_USE;
/* The same of those whose epochs.csv cannot be read either; what is left is open, for
 * study_close. */
enum err_code results_open_runs(struct record_entry *list, size_t *count, struct study_run **runs,
                                struct err *e) MUST_USE;

#endif
