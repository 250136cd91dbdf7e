/* cli/jobs/sweep.h: a sweep on its way to the engine, and its exit code. */
#ifndef CHORUS_CLI_JOBS_SWEEP_H
#define CHORUS_CLI_JOBS_SWEEP_H

#include "cli/sweeps/sweep_wish.h"
#include "spec/sweep.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

int sweep_exit_code(const struct wire_sweep_status *status);

/* What is left out is told before anything runs; what all cells lack is an error. */
enum err_code sweep_say_left_out(const struct spec_sweep *s, bool quiet, struct err *e) MUST_USE;

/* The message that starts it, n bytes, freed by the caller. */
struct wire_sweep *sweep_message(const struct spec_sweep *s, const struct sweep_wish *wish,
                                 size_t *n);
/* Asks for it, as DRIVE_RUN. False: no commands are taken. */
bool sweep_send(struct wire *wire, const struct spec_sweep *s, const struct sweep_wish *wish);
/* It was stopped by what this process cannot mend: another one goes on with it. */
bool sweep_is_stuck(const struct wire_sweep_status *status);

#endif
