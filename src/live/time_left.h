/* live/time_left.h: how long what is left of a run will take, from how long steps and evaluations took. Pure
 * arithmetic, for screens and lines of text alike. Training and evaluation are counted apart, since
 * their shares differ between the beginning and the end of a run; nothing from before a resume counts. */
#ifndef CHORUS_LIVE_TIME_LEFT_H
#define CHORUS_LIVE_TIME_LEFT_H

#include "base/text.h"

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

#endif
