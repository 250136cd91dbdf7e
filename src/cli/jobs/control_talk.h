/* cli/jobs/control_talk.h: what pause, go and stop say of a run. */
#ifndef CHORUS_CLI_JOBS_CONTROL_TALK_H
#define CHORUS_CLI_JOBS_CONTROL_TALK_H

#include "record/run/reader.h"

#include <stdbool.h>

/* Whether the run is a cell of a sweep that somebody is at work on. */
bool control_in_live_sweep(const struct record_entry *entry);
/* A cell is not its sweep: which of the two is meant by this line, and how to mean the other. */
void control_say_of_cell(const struct record_entry *entry, const char *line);
/* Nobody is at work on it. Returns the exit code. */
int control_refuse_idle(const struct record_entry *entry, const char *verb);

#endif
