/* cli/sweeps/sweeps.h: sweeps that have a folder, by their names. */
#ifndef CHORUS_CLI_SWEEPS_SWEEPS_H
#define CHORUS_CLI_SWEEPS_SWEEPS_H

#include "base/err.h"
#include "cli/sweeps/sweep_wish.h"
#include "live/sweep.h"
#include "engine/forecast/forecast.h"
#include "spec/sweep.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

char *sweeps_folder(const char *name); /* the caller frees it */
/* Whether the word names a sweep of the results folder: by its name, or by the path of its folder or
 * sheet. name: the name. A run of that very name goes before. */
bool sweeps_find(const char *word, char name[128]);
/* "there is no sweep WORD", with some that there are; returns the exit code. */
int sweeps_refuse(const char *word);
/* "nobody works on the sweep NAME", and what is to be done; returns the exit code. */
int sweeps_refuse_idle(const char *name);
/* "batch=64 lr=0.1" of a cell; one value. Numbers that were computed are cut to what tells them apart. */
void sweeps_add_label(const struct spec_sweep *s, size_t cell, struct text *out);
void sweeps_add_value(const struct spec_axis *axis, size_t which, struct text *out);
/* "3 of 8 cells have a result already, 1 skipped (--failed tries it again)"; plus: "+" where cells are still
 * counted. */
void sweeps_add_before(struct text *out, int64_t results, int64_t skipped, int64_t cells,
                       const char *plus);
/* Where the weights that its cells start from were written after some had ended: a cell is known by their
 * place, not by what they are. */
void sweeps_say_weights(const char *name);
/* Whether any program is at work on it. */
bool sweeps_live(const char *name);
/* How it stands, as a program that works on it tells; false: none does. */
bool sweeps_standing(const char *name, struct wire_sweep_status *out);
/* "paused: no further cell begins; cell 2 of 6, 27 s left". */
void sweeps_add_standing(const struct wire_sweep_status *s, struct text *out);
/* The same in a sentence of its own. */
void sweeps_say_standing(const char *name, const struct wire_sweep_status *is);
/* The sweep as it was started, closed; wish is filled in but for name and how to talk. s must be
 * initialised. */
enum err_code sweeps_read(const char *name, struct spec_sweep *s, struct sweep_wish *wish,
                          struct err *e) MUST_USE;
/* Whether s may go on with the sweep of that name, if there is one: it walks all of
 * its keys, with as many cells side by side (whose share of the threads is part of a cell). */
enum err_code sweeps_check_same(const char *name, const struct spec_sweep *s, int64_t jobs,
                                struct err *e) MUST_USE;
/* The same of those that wait in the queue. */
enum err_code sweeps_check_queued(const char *name, const struct spec_sweep *s, int64_t jobs,
                                  struct err *e) MUST_USE;
/* As it is now, by its files, freed by live_sweep_free. Where it cannot be read it has a problem. */
struct live_sweep *sweeps_open(const char *name);
/* What its keys tell of its cells, in the order of the lists; cells: of each. forecast_free frees it. */
struct forecast *sweeps_walk(const struct spec_sweep *s, bool cells);
/* A sweep that --max-cells cut short: how many cells of its grid that leaves out,
 * and how to have them. */
void sweeps_say_cut(const char *name);
/* Cells that have neither a result nor were skipped; of one that is open. */
int64_t sweeps_left(const struct live_sweep *s);
/* The unfinished sweep on which somebody worked last and nobody does now. */
bool sweeps_newest_unfinished(char name[128], char newest[32]);
/* One line for all programs that work on it. */
enum err_code sweeps_control(const char *name, const char *line, struct err *e) MUST_USE;

/* sweep.csv's path, or an object, on stdout. */
bool sweeps_has_table(const char *name); /* whether that file is there */
int sweeps_print(const char *name, bool json, const char *state);

#endif
