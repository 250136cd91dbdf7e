/* cli/sweeps/listed.h: which cells of a ledger are those that the sweep's lists name, with its networks and data
 * as they were when somebody worked on it last. Under one name there may be others too: of other lists,
 * or of data that have changed since. */
#ifndef CHORUS_CLI_SWEEPS_LISTED_H
#define CHORUS_CLI_SWEEPS_LISTED_H

#include <stdbool.h>
#include <stddef.h>

struct listed; /* by its sweep.csv; what that does not tell of counts as the sweep's own */

/* cut: by --max-cells, so that its sheet tells of those alone that it was cut to. */
struct listed *listed_open(const char *sweep, bool cut);
bool listed_has(const struct listed *l, const char *cell);
/* Rows of others that have a run; of a sweep that was cut nobody knows. */
size_t listed_others(const struct listed *l);
void listed_close(struct listed *l);

#endif
