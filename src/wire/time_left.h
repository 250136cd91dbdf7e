/* wire/time_left.h: how long what is left will take: of a run, from how long its steps and evaluations took,
 * and of runs side by side. Pure arithmetic, for the engine, screens and lines of text alike. Training and
 * evaluation are counted apart, since their shares differ between the beginning and the end of a run;
 * nothing from before a resume counts. */
#ifndef CHORUS_WIRE_TIME_LEFT_H
#define CHORUS_WIRE_TIME_LEFT_H

#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

struct time_left {
    double step_seconds; /* a step of training, smoothed; 0: unknown */
    double eval_seconds; /* an evaluation; 0: unknown */
    int64_t last_step;
    double last_seconds; /* of training, cumulative; below 0: none seen yet */
};

void time_left_start(struct time_left *p, int64_t steps_done);
/* train_seconds: cumulative. */
void time_left_step(struct time_left *p, int64_t step, double train_seconds);
void time_left_evaluation(struct time_left *p, double seconds);
/* nan: unknown. */
double time_left_seconds(const struct time_left *p, int64_t steps, int64_t evaluations);
/* "9 s", "1:12": what is left is not known better. */
void time_left_add_span(struct text *out, double seconds);
/* "1:12 left"; nothing where it is not known. */
void time_left_add(struct text *out, double seconds);

struct time_left_runs { /* all zeros: none */
    double seconds, longest;
    size_t runs, unknown; /* unknown: those of the runs whose time nobody knows */
};
/* So many more; seconds: of each, nan: unknown. */
void time_left_count(struct time_left_runs *t, double seconds, size_t runs);
/* Side by side they are no sooner over than the longest of them; those unknown are taken for the mean. nan: all
 * are. */
double time_left_side_by_side(const struct time_left_runs *t, int jobs);

#endif
