/* wire/sweep.h: the message that starts a sweep, and what its status means: the numbers and words that all
 * screens and verbs have of it, be it of this process or read from another one's file (record/working.h). */
#ifndef CHORUS_WIRE_SWEEP_H
#define CHORUS_WIRE_SWEEP_H

#include "spec/sweep.h"
#include "wire/wire.h"

/* To start it under that name, n bytes; how it is walked the caller fills in, and frees it. */
struct wire_sweep *wire_sweep_new(const struct spec_sweep *s, const char *name, size_t *n);
/* The sweep of a message of n bytes, as somebody else wrote it; it is not closed yet. s: as spec_sweep_init
 * leaves it. */
enum err_code wire_sweep_read(const struct wire_sweep *from, size_t n, struct spec_sweep *s,
                              struct err *e) MUST_USE;
/* Cells that have a result, or were dropped. */
int64_t wire_sweep_ended(const struct wire_sweep_status *s);
/* The cell that it is at, from 1: of several that run the last one, between two the next. */
int64_t wire_sweep_at(const struct wire_sweep_status *s);
/* Cells that compute, whoever has them. */
int64_t wire_sweep_works(const struct wire_sweep_status *s);
bool wire_sweep_lacks_room(const struct wire_sweep_status *s);
/* It is itself, or each of its cells that are at work. */
bool wire_sweep_is_paused(const struct wire_sweep_status *s);
/* It is itself, or any of its cells: who lets it go on needs the machine for it. */
bool wire_sweep_has_paused(const struct wire_sweep_status *s);
/* No further cell begins here, and it stops. */
bool wire_sweep_closes(const struct wire_sweep_status *s);
/* Nothing of it computes before somebody lets it go on or makes room: no time is left that passes. */
bool wire_sweep_rests(const struct wire_sweep_status *s);
/* How it stands, and what it was told beside that: "running", "paused: no further cell begins", "waits for
 * room, then pauses"; brief: its first words. Constant texts. */
const char *wire_sweep_words(const struct wire_sweep_status *s, bool brief);

#define WIRE_LACKS_ROOM "waits for room"
#define WIRE_NO_ROOM    "no room" /* the same in a cell of a table */

#endif
