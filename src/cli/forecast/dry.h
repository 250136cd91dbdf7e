/* cli/forecast/dry.h: run --dry-run. */
#ifndef CHORUS_CLI_FORECAST_DRY_H
#define CHORUS_CLI_FORECAST_DRY_H

#include "cli/jobs/sweep.h"
#include "spec/spec.h"

/* Prints the experiment as it would run, and what it means, as an experiment file or an object. Writes
 * nothing. Returns the exit code. */
int dry_run(const struct spec *spec, bool json);
/* The same of a sweep: behind its text how many cells there are, which are left out and why, the order
 * of the others and how long they should take. */
int dry_sweep(const struct spec_sweep *s, const struct sweep_wish *wish);

/* "12 min, by earlier runs on this machine", or "about 12 min (a guess from 3 runs of other sizes)". */
void dry_add_span(struct text *out, double seconds, const char *of, int guessed_from);

#endif
