/* fake/fake.h: a backend without mathematics, for screens, queues and tests: losses, answers and
 * logits are formulas of the model's key and of the updates done. It learns: accuracy rises and loss
 * falls along a smooth curve. Its first parameter counts the updates (so initial weights must be
 * below 0.5 there); the others and the optimizer's slots move by a formula, so that a wrong state is
 * seen. What goes wrong is scripted. */
#ifndef CHORUS_FAKE_H
#define CHORUS_FAKE_H

#include <stdbool.h>
#include <stdint.h>

struct fake_script {
    int64_t diverge_at;  /* the loss of this step (from 1) is not a number; 0: never */
    int64_t fail_at;     /* this step fails; 0: never */
    bool oom;            /* open wants more memory than there is */
    bool broken;         /* open fails otherwise */
    int step_ms;         /* what a step takes */
    int evaluate_ms;     /* what an evaluation takes */
    double diverge_lr;   /* a step of at least this learning rate has no loss; 0: none does */
    int64_t oom_batch;   /* open wants more memory than there is for a batch of this or more; 0 */
    int64_t fail_batch;  /* open fails for exactly this batch; 0: for none */
    int64_t stuck_at;    /* this step is the last one of this process: ERR_STUCK; 0: none is */
    int64_t stuck_batch; /* only with exactly this batch; 0: with any */
    /* A file with a byte for each time that it shall be so, which is taken off; until there is the file
     * the step waits. "": always. */
    char stuck_file[256];
    char held_file
        [256]; /* a step that waits for it makes this one, and heeds no stop; "": it does */
    /* A file with a byte for each plan that may be made at once, which is taken off; the next waits until
     * the file is gone. "": none waits. */
    char plan_file[256];
};

/* For the sessions that are opened from now on, in this process. Without it they take the words of
 * CHORUS_FAKE_SCRIPT: "diverge=12 fail=7 oom broken step_ms=5 evaluate_ms=100 diverge_lr=10
 * oom_batch=64 fail_batch=32 stuck=12 stuck_batch=32 stuck_file=PATH held_file=PATH plan_file=PATH". */
void fake_set_script(const struct fake_script *script);

#endif
