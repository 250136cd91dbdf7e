/* cli/args/sort.h: the order in which runs are listed. */
#ifndef CHORUS_CLI_ARGS_SORT_H
#define CHORUS_CLI_ARGS_SORT_H

#include "record/run/reader.h"

/* Orders runs by columns: "best_test_acc", "-test_acc,lr" (falling), whatever record_column_is
 * knows; what is empty or no number comes last. order: (count) places in the list, to be filled in.
 * ERR_INPUT names a column that there is none of. */
enum err_code cli_sort_runs(const struct record_entry *list, size_t count, const char *columns,
                            size_t *order, struct err *e) MUST_USE;
/* By their names, that is by when they began. */
void cli_order_runs(const struct record_entry *list, size_t count, size_t *order);

#endif
