/* cli/jobs/job.h: the main thread of a command that computes: an engine is started, what it computes is followed as
 * lines, signals are obeyed, and the exit code says what became of it. */
#ifndef CHORUS_CLI_JOBS_JOB_H
#define CHORUS_CLI_JOBS_JOB_H

#include "cli/jobs/sweep.h"
#include "wire/wire.h"

#include <stdbool.h>

struct engine;

/* What the command computes: a run, or a sweep, or neither; queue: then what waits in results/queue, to its end. */
struct job {
    const struct wire_start *run;
    const struct spec_sweep *sweep; /* closed; it varies */
    const struct sweep_wish *wish;  /* of the sweep */
    bool queue;
    bool bad_before; /* the exit code knows already of something without a good end */
    bool quiet, json;
    bool background; /* makes its folder alone, and leaves the rest to a process of its own */
};

/* Says how everything ended that was computed, prints a folder (a sweep: its table) for each, and returns the
 * exit code. */
int job_run(const struct job *job);
/* Of a workbench whose terminal is gone: what runs and waits in this engine, which takes from the queue,
 * and then the queue, to their end. Ends the engine and frees the wire. */
int job_rest(struct wire *wire, struct engine *engine);

#endif
