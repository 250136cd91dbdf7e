/* cli/work/queue_int.h: what listing the queue and adding to it have in common. */
#ifndef CHORUS_CLI_WORK_QUEUE_INT_H
#define CHORUS_CLI_WORK_QUEUE_INT_H

#include "base/text.h"
#include "cli/work/queue.h"
#include "record/queue/queue.h"

#include <stdbool.h>
#include <stdint.h>

void queue_add_model(struct text *out, const struct spec *s);
/* An item as --json has it. */
void queue_add_object(struct text *out, const struct record_queued *item);
/* Whether it waits until no other chorus computes on this machine. */
bool queue_wants_alone(const struct record_queued *item);
/* The process that computes on these results, or elsewhere on this machine; 0: none. */
int64_t queue_at_work(bool elsewhere);
/* Who takes from the queue, on stderr. */
void queue_say_taker(const struct record_queued *first);

#endif
