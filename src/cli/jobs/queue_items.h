/* cli/jobs/queue_items.h: what waits in the queue, in words, and who takes from it. */
#ifndef CHORUS_CLI_JOBS_QUEUE_ITEMS_H
#define CHORUS_CLI_JOBS_QUEUE_ITEMS_H

#include "base/text.h"
#include "cli/jobs/queue.h"
#include "cli/jobs/queue_items.h"
#include "record/queue/queue.h"

#include <stdbool.h>
#include <stdint.h>

void queue_add_model(struct text *out, const struct spec *s);
/* All empty where there are none. */
struct record_queue_options queue_options(const struct record_queued *item);
/* *kind: "run", "sweep" or "broken"; *cells: of a sweep. */
void queue_describe(const struct record_queued *item, struct text *out, const char **kind,
                    size_t *cells);
/* An item as --json has it. */
void queue_add_object(struct text *out, const struct record_queued *item);
/* Whether it waits until no other chorus computes on this machine. */
bool queue_wants_alone(const struct record_queued *item);
/* The process that computes on these results, or elsewhere on this machine; 0: none. */
int64_t queue_at_work(bool elsewhere);
/* Who takes from the queue, on stderr. */
void queue_say_taker(const struct record_queued *first);

#endif
