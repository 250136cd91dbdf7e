/* ui/pace.h: how long what is left of a run will take, from how long steps and evaluations took. Pure
 * arithmetic, for screens and lines of text alike. Training and evaluation are counted apart, since
 * their shares differ between the beginning and the end of a run; nothing from before a resume counts. */
#ifndef CHORUS_UI_PACE_H
#define CHORUS_UI_PACE_H

#include <stdint.h>

struct pace {
    double step_seconds; /* a step of training, smoothed; 0: unknown */
    double eval_seconds; /* an evaluation; 0: unknown */
    int64_t last_step;
    double last_seconds; /* of training, cumulative; below 0: none seen yet */
};

void pace_start(struct pace *p, int64_t steps_done);
/* train_seconds: cumulative. */
void pace_step(struct pace *p, int64_t step, double train_seconds);
void pace_evaluation(struct pace *p, double seconds);
/* nan: unknown. */
double pace_left(const struct pace *p, int64_t steps, int64_t evaluations);

#endif
