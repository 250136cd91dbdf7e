/* cli/args/runs.h: how verbs speak of a run. */
#ifndef CHORUS_CLI_ARGS_RUNS_H
#define CHORUS_CLI_ARGS_RUNS_H

#include "base/text.h"
#include "record/run/reader.h"

/* "lenet" of whatever path. */
void cli_add_model(struct text *out, const struct spec *spec);
/* The object of cli_json_run with folder, live and dead behind run.csv's names. */
void cli_json_entry(struct text *out, const struct record_entry *entry);

/* Orders runs by columns: "best_test_acc", "-test_acc,lr" (falling), whatever record_column_is
 * knows; what is empty or no number comes last. order: (count) places in the list, to be filled in.
 * ERR_INPUT names a column that there is none of. */
enum err_code cli_sort_runs(const struct record_entry *list, size_t count, const char *columns,
                            size_t *order, struct err *e) MUST_USE;
/* By their names, that is by when they began. */
void cli_order_runs(const struct record_entry *list, size_t count, size_t *order);

/* A moment in UTC as people write it: today, yesterday, 3h, 2d (ago), 2026-11-20, 2026-11-20T10:15.
 * */
bool cli_moment(const char *text, double now, double *wall);

#endif
