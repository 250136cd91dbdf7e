/* cli/jobs/take.h: the main thread of a process that takes from results/queue until it is empty. */
#ifndef CHORUS_CLI_WORK_TAKE_H
#define CHORUS_CLI_WORK_TAKE_H

#include "cli/jobs/sweep.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* bad_before: the exit code knows already of something without a good end.
 * Each says how what it took ended, prints a folder (a sweep: its table) for each, and returns the exit
 * code. */
int take_queue(bool bad_before, bool quiet, bool json);
/* First the run that is asked for, then the queue. */
int take_after_run(const struct wire_start *start, int64_t max_steps, bool bad_before, bool quiet,
                   bool json);
int take_after_sweep(const struct spec_sweep *s, const struct sweep_wish *wish);
/* Of a workbench whose terminal is gone: what runs and waits in this engine, which takes from the queue,
 * and then the queue, to their end. Ends the engine and frees the wire. */
int take_rest(struct wire *wire, struct engine *engine);

#endif
