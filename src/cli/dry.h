/* cli/dry.h: run --dry-run. */
#ifndef CHORUS_CLI_DRY_H
#define CHORUS_CLI_DRY_H

#include "spec/spec.h"

/* Prints the experiment as it would run, and what it means, as an experiment file. Writes nothing.
 * Returns the exit code. */
int dry_run(const struct spec *spec, bool json);

#endif
