/* engine/ended.h: which cells of a sweep have a result already, before it goes on. */
#ifndef CHORUS_ENGINE_ENDED_H
#define CHORUS_ENGINE_ENDED_H

#include "wire/wire.h"

struct ended;

/* NULL: no cell has a result. failed: those without a good end are had anew. */
struct ended *ended_open(const char *results, const char *sweep, bool failed);
/* How the cell that goes by this plan_hash ended; WIRE_WAITING: it has no result. */
enum wire_state ended_look(const struct ended *d, const char hash[17]);
void ended_close(struct ended *d); /* may be NULL */

#endif
