/* cli/jobs/ask.h: the engine's planner, asked what experiments would mean and how long they would take. */
#ifndef CHORUS_CLI_JOBS_ASK_H
#define CHORUS_CLI_JOBS_ASK_H

#include "spec/spec.h"
#include "wire/wire.h"

#include <stdbool.h>

struct ask;

/* jobs: so many side by side have the machine together, where there are so many cells. NULL: there is no
 * engine to ask. */
struct ask *ask_start(int jobs, size_t cells);
void ask_end(struct ask *a);

#define ASK_MOST 32 /* questions on their way */
/* question: comes back with the answer. */
bool ask_send(struct ask *a, const struct spec *spec, uint32_t question);
/* The next answer, in whatever order; false: none came in time. */
bool ask_answer(struct ask *a, struct wire_plan *answer);
/* Asks until the planner has read all earlier runs that it learns from; false as above. */
bool ask_learned(struct ask *a, const struct spec *spec, struct wire_plan *answer);

#endif
