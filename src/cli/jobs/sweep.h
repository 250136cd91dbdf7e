/* cli/jobs/sweep.h: the main thread of `run` where an experiment's values are lists. */
#ifndef CHORUS_CLI_WORK_SWEEP_H
#define CHORUS_CLI_WORK_SWEEP_H

#include "cli/sweeps/sweep_wish.h"
#include "spec/sweep.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* s is closed and varies. Runs what is missing of it, says how each cell ended, and prints the path
 * of sweep.csv. Returns the exit code. */
int sweep_run(const struct spec_sweep *s, const struct sweep_wish *wish);
int sweep_exit_code(const struct wire_sweep_status *status);
/* `run --tui`: the same in the workbench, which shows it. */
int sweep_in_workbench(const struct spec_sweep *s, const struct sweep_wish *wish);

/* What is left out is told before anything runs; what all cells lack is an error. */
enum err_code sweep_say_left_out(const struct spec_sweep *s, bool quiet, struct err *e) MUST_USE;

/* sweep_run for whoever has the engine's events. s and wish stay the caller's, until sweep_end. */
struct sweeper;
struct sweeper *sweep_follow(struct wire *wire, uint32_t number, const struct spec_sweep *s,
                             const struct sweep_wish *wish);
enum err_code sweep_send(struct sweeper *w, struct err *e) MUST_USE; /* asks for it, as number */
void sweep_hear(struct sweeper *w, const struct wire_event *event);  /* takes its slot */
void sweep_draw(struct sweeper *w, bool missed);                     /* events were dropped */
/* It was stopped by what this process cannot mend: restart_program goes on with it. Then sweep_leave
 * frees w without a word. */
bool sweep_is_stuck(const struct wire_sweep_status *status);
void sweep_leave(struct sweeper *w);
/* It has ended, or is given up: says how, prints its table, frees w. Returns the exit code. */
int sweep_end(struct sweeper *w, bool gave_up);

#endif
