/* record/sweep/sweeps.h: sweeps as their folders tell of them: results/sweeps/NAME with sweep.ini (what they
 * walk), ledger.csv, sweep.csv, and two files for all programs that work on one: work, which they
 * lock, and control, whose lines they obey. */
#ifndef CHORUS_RECORD_SWEEP_SWEEPS_H
#define CHORUS_RECORD_SWEEP_SWEEPS_H

#include "base/err.h"
#include "record/queue/queue.h"
#include "record/run/reader.h"
#include "spec/sweep.h"

#include <stdbool.h>

/* The caller frees it. */
char *record_sweep_folder(const char *results, const char *name);
/* s must be initialised; it is closed. options: those that it was begun with. */
enum err_code record_sweep_read(const char *results, const char *name, struct spec_sweep *s,
                                struct record_queue_options *options, struct err *e) MUST_USE;
/* The sweep that waits in the queue as this item, closed, with its name among the options. s must be
 * initialised. False: it is a single run, or cannot be read. */
bool record_sweep_waits(const struct record_queued *item, struct spec_sweep *s,
                        struct record_queue_options *options);
/* Why a cell that a person dropped is not run. */
#define RECORD_DROPPED_BEFORE "skipped before: --failed tries it again"
/* Another one where any of its files has been written since; 0: there is none of them. */
uint64_t record_sweep_stamp(const char *results, const char *name);
/* Whether any program is at work on it. */
bool record_sweep_live(const char *results, const char *name);
/* One line for all programs that work on it: "pause", "go", "stop step", "stop epoch", "stop cells",
 * "stop now". */
enum err_code record_sweep_control(const char *results, const char *name, const char *line,
                                   struct err *e) MUST_USE;

#endif
