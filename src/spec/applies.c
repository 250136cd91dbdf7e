/* spec/applies.c: which keys an experiment uses: some belong to settings of another key. */
#include "spec/spec_int.h"

#include "base/mem.h"

/* Keys that only some settings of another key use. */
static const struct {
    enum spec_id key, by;
    const char *with; /* the settings that use it */
} uses[] = {
    {KEY_MEMBERS, KEY_MODE, "ensemble"},
    {KEY_MEMBER_ORDER, KEY_MODE, "ensemble"},
    {KEY_SYNC_BN, KEY_MODE, "data-parallel"},
    {KEY_MOMENTUM, KEY_OPTIMIZER, "momentum or nesterov"},
    {KEY_BETA1, KEY_OPTIMIZER, "adam or adamw"},
    {KEY_BETA2, KEY_OPTIMIZER, "adam or adamw"},
    {KEY_EPSILON, KEY_OPTIMIZER, "adam or adamw"},
    {KEY_LR_BATCH, KEY_LR_RULE, "linear or sqrt"},
    {KEY_LR_MIN, KEY_SCHEDULE, "cosine"},
    {KEY_STEP_EPOCHS, KEY_SCHEDULE, "step"},
    {KEY_STEP_FACTOR, KEY_SCHEDULE, "step"},
    {KEY_INIT, KEY_WEIGHTS, "none"},
};

int spec_used_by(int key, const char **with)
{
    for (size_t i = 0; i < MEM_COUNT(uses); i++)
        if ((int)uses[i].key == key) {
            if (with)
                *with = uses[i].with;
            return (int)uses[i].by;
        }
    return -1;
}

bool spec_applies(const struct spec *s, int key)
{
    bool adam = s->optimizer == SPEC_ADAM || s->optimizer == SPEC_ADAMW;

    switch ((enum spec_id)key) {
    case KEY_MEMBERS:
    case KEY_MEMBER_ORDER:
        return s->mode == SPEC_ENSEMBLE;
    case KEY_SYNC_BN:
        return s->mode == SPEC_DATA_PARALLEL;
    case KEY_MOMENTUM:
        return s->optimizer == SPEC_MOMENTUM || s->optimizer == SPEC_NESTEROV;
    case KEY_BETA1:
    case KEY_BETA2:
    case KEY_EPSILON:
        return adam;
    case KEY_LR_BATCH:
        return s->lr_rule != SPEC_LR_NONE;
    case KEY_LR_MIN:
        return s->schedule == SPEC_COSINE;
    case KEY_STEP_EPOCHS:
    case KEY_STEP_FACTOR:
        return s->schedule == SPEC_STEP;
    case KEY_INIT:
        return !s->weights[0];
    default:
        return true;
    }
}
