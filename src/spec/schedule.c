#include "spec/spec.h"

#include <math.h>

int64_t spec_batch(const struct spec *s)
{
    return s->batch_per_device ? s->batch * s->devices : s->batch;
}

double spec_base_lr(const struct spec *s, int64_t batch)
{
    double ratio = (double)batch / (double)s->lr_batch;

    switch (s->lr_rule) {
    case SPEC_LR_LINEAR:
        return s->lr * ratio;
    case SPEC_LR_SQRT:
        return s->lr * sqrt(ratio);
    case SPEC_LR_NONE:
        break;
    }
    return s->lr;
}

double spec_lr_at(const struct spec *s, double base_lr, int64_t t, int64_t steps_per_epoch)
{
    double steps = (double)steps_per_epoch, done = (double)t;
    double all = (double)s->epochs * steps; /* T */
    double warm = s->warmup * steps;        /* W */

    if (done < warm)
        return base_lr * (done + 1) / warm;
    switch (s->schedule) {
    case SPEC_COSINE: {
        double part = done < all ? (done - warm) / (all - warm) : 1;
        return s->lr_min + (base_lr - s->lr_min) / 2 * (1 + cos(acos(-1) * part));
    }
    case SPEC_STEP:
        return base_lr * pow(s->step_factor, floor(done / (steps * s->step_epochs)));
    case SPEC_CONSTANT:
        break;
    }
    return base_lr;
}
