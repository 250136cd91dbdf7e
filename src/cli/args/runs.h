/* cli/args/runs.h: the runs that RUN operands name. */
#ifndef CHORUS_CLI_ARGS_RUNS_H
#define CHORUS_CLI_ARGS_RUNS_H

#include "record/run/reader.h"

/* The run that a RUN operand names (NULL: the newest). Freed by record_free_entry. */
enum err_code cli_find_run(const char *name, struct record_entry *out, struct err *e) MUST_USE;
/* The runs that RUN operands and filters name, at least one where there are names (without names: all
 * there are). Freed by record_free_list. */
enum err_code cli_find_runs(int count, char **names, struct record_entry **out, size_t *found,
                            struct err *e) MUST_USE;

#endif
