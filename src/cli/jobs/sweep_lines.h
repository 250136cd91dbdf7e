/* cli/jobs/sweep_lines.h: a sweep as lines: one for each cell that ends, on a terminal one for each that runs, and
 * what became of it all. Of this process it comes from the engine's snapshot, so that nothing is lost where
 * events are; of another program from the sweep's files. */
#ifndef CHORUS_CLI_JOBS_SWEEP_LINES_H
#define CHORUS_CLI_JOBS_SWEEP_LINES_H

#include "cli/sweeps/sweep_wish.h"
#include "live/feed.h"
#include "live/sweep.h"

struct sweep_lines;

/* This process's, by its number. s and wish stay the caller's. */
struct sweep_lines *sweep_lines_own(struct feed *feed, struct wire *wire, uint32_t number,
                                    const struct spec_sweep *s, const struct sweep_wish *wish);
/* Another program's. */
struct sweep_lines *sweep_lines_other(struct feed *feed, const struct sweep_wish *wish);
/* Takes an event, with what came with it. */
void sweep_lines_event(struct sweep_lines *w, const struct wire_event *ev, const char *text);
/* Says what is new; soon: whatever was looked at a moment ago. missed: events were dropped, maybe those of
 * cells' ends. */
void sweep_lines_look(struct sweep_lines *w, bool soon, bool missed);
/* The lines of what runs, where there is a terminal for them. */
void sweep_lines_draw(struct sweep_lines *w);
bool sweep_lines_wait(const struct sweep_lines *w); /* a look is due in a moment */
const struct wire_sweep_status *sweep_lines_status(const struct sweep_lines *w);
int64_t sweep_lines_ended(
    const struct sweep_lines *w); /* cells whose end was said or known before */
/* What became of it all, and how to go on. */
void sweep_lines_summary(struct sweep_lines *w);
void sweep_lines_free(struct sweep_lines *w); /* takes the lines of what runs away */

#endif
