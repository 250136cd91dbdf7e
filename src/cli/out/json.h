/* cli/out/json.h: runs as JSON, for programs. */
#ifndef CHORUS_CLI_OUT_JSON_H
#define CHORUS_CLI_OUT_JSON_H

#include "base/text.h"
#include "record/run/reader.h"

#include <stdbool.h>

/* Prints a run: its folder, or an object with the names of run.csv, where numbers stay numbers and "" is
 * null. Returns the exit code. */
int cli_print_run(const struct record_entry *entry, bool json);
/* "name": value, by the same rule; the comma in front is the caller's. */
void cli_json_field(struct text *out, const char *name, const char *value);

/* The object of cli_print_run with folder, live and dead behind run.csv's names. */
void cli_json_entry(struct text *out, const struct record_entry *entry);

#endif
