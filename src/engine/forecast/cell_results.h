/* engine/forecast/cell_results.h: which cells of a sweep have a result already, before it goes on. */
#ifndef CHORUS_ENGINE_FORECAST_CELL_RESULTS_H
#define CHORUS_ENGINE_FORECAST_CELL_RESULTS_H

#include "wire/wire.h"

struct cell_results;

/* NULL: no cell has a result. failed: those without a good end are had anew. */
struct cell_results *cell_results_open(const char *results, const char *sweep, bool failed);
/* How the cell that goes by this plan_hash ended; WIRE_WAITING: it has no result. */
enum wire_state cell_results_look(const struct cell_results *d, const char hash[17]);
void cell_results_close(struct cell_results *d); /* may be NULL */

#endif
