/* cli/runs.h: how verbs speak of a run. */
#ifndef CHORUS_CLI_RUNS_H
#define CHORUS_CLI_RUNS_H

#include "base/text.h"
#include "record/reader.h"

/* "running", but "dead" where nobody is at work on it, "broken" where run.csv cannot be read. */
const char *cli_run_state(const struct record_entry *entry);
/* "lenet" of whatever path. */
void cli_add_model(struct text *out, const struct spec *spec);
/* The object of cli_json_run with folder, live and dead behind run.csv's names. */
void cli_json_entry(struct text *out, const struct record_entry *entry);

#endif
