/* cli/dry_ended.h: which cells of a sweep have a result already. */
#ifndef CHORUS_CLI_DRY_ENDED_H
#define CHORUS_CLI_DRY_ENDED_H

#include "cli/sweep.h"

struct dry_ended;

/* NULL: there is no such sweep yet, and no cell of it has a result. */
struct dry_ended *dry_ended_open(const struct sweep_wish *wish);
/* By what names a cell in the ledger: its data are opened for that. Threads are those of the caller. */
bool dry_ended_has(struct dry_ended *d, const struct spec *cell);
void dry_ended_close(struct dry_ended *d);

#endif
