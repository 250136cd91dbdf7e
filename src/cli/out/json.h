/* cli/out/json.h: runs as JSON, for programs. */
#ifndef CHORUS_CLI_OUT_JSON_H
#define CHORUS_CLI_OUT_JSON_H

#include "base/text.h"
#include "record/run/reader.h"
#include "record/run/run.h"

/* JSON: one run as an object with run.csv's names; numbers stay numbers, "" is null. */
void cli_json_run(struct text *out, const struct record_run *run);
/* "name": value, by the same rule; the comma in front is the caller's. */
void cli_json_field(struct text *out, const char *name, const char *value);

/* The object of cli_json_run with folder, live and dead behind run.csv's names. */
void cli_json_entry(struct text *out, const struct record_entry *entry);

#endif
