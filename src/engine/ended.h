/* engine/ended.h: which cells of a sweep have a result already, before it goes on. */
#ifndef CHORUS_ENGINE_ENDED_H
#define CHORUS_ENGINE_ENDED_H

#include "engine/engine.h"

struct ended;

/* NULL: no cell has a result. failed: those without a good end are had anew. */
struct ended *ended_open(const struct engine_config *config, const char *sweep, bool failed);
/* How the cell ended; WIRE_WAITING: it has no result. By what names a cell in the ledger: its data are
 * opened for that. Threads are those of the caller. */
enum wire_state ended_look(struct ended *d, const struct spec *cell);
void ended_close(struct ended *d); /* may be NULL */

#endif
