/* cli/sweeps/cells.h: cells of a sweep that somebody works on, by the values that they have. */
#ifndef CHORUS_CLI_SWEEPS_CELLS_H
#define CHORUS_CLI_SWEEPS_CELLS_H

#include "base/text.h"

#include <stdint.h>

/* words: KEY=VALUE of keys that vary; all cells that have them are meant. They return exit codes. */
int cells_skip(const char *sweep, char **words, int count);
/* "2nd of 5" */
void cells_add_place(struct text *out, size_t place, size_t of);
/* By so many places later in the order of those that wait, or (below 0) earlier. */
int cells_move(const char *sweep, char **words, int count, int64_t by);

#endif
