/* ref/ref.c: the naive backend's table: what it can do, what it needs, and which precision runs. */
#include "base/mem.h"
#include "base/text.h"
#include "ref/ref_int.h"

#include <stdlib.h>
#include <string.h>

static enum err_code ref_can(const struct backend_plan *plan, struct err *e)
{
    const struct net *net = plan->net;
    size_t outputs;

    if (plan->precision == SPEC_BF16)
        return err_set(e, ERR_INPUT,
                       "backend ref computes in fp32 and fp64, not in bf16: take precision = fp32");
    if (plan->gpus > 0)
        return err_set(e, ERR_INPUT,
                       "backend ref computes on the CPU: take devices = %d instead of GPU numbers",
                       plan->gpus);
    if (plan->devices < 1 || plan->first_device != 0 ||
        (plan->all_devices != 0 && plan->all_devices != plan->devices))
        return err_set(e, ERR_INPUT,
                       "backend ref holds all devices of a run in one process, not %d of %d",
                       plan->devices, plan->all_devices);
    if (plan->mode == SPEC_ENSEMBLE ? plan->members < plan->devices : plan->members != 1)
        return err_set(e, ERR_INPUT, "backend ref cannot place %d members on %d devices",
                       plan->members, plan->devices);
    if (plan->batch < 1 || plan->batch % (size_t)ref_parts(plan) != 0)
        return err_set(e, ERR_INPUT,
                       "a batch of %zu images does not divide among %d devices: take a multiple",
                       plan->batch, plan->devices);
    if (net->layers < 1)
        return err_set(e, ERR_INPUT, "model %s has no layer to train", net->name);
    outputs = ref_size(&net->layer[net->layers - 1].out);
    if (net->classes < 1 || outputs < (size_t)net->classes || net->classes < plan->data->classes)
        return err_set(e, ERR_INPUT, "model %s has %zu outputs for %d classes", net->name, outputs,
                       plan->data->classes);
    if (plan->data->shape.h != net->input.h || plan->data->shape.w != net->input.w ||
        plan->data->shape.c != net->input.c) {
        char have[48], want[48];

        net_shape_text(&plan->data->shape, have);
        net_shape_text(&net->input, want);
        return err_set(e, ERR_INPUT, "model %s takes images of %s, the data's are %s", net->name,
                       want, have);
    }
    return ERR_OK;
}

/* a * b + c, or the largest size where that is too large to count. */
static size_t times_plus(size_t a, size_t b, size_t c)
{
    size_t product, sum;

    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(product, c, &sum))
        return SIZE_MAX;
    return sum;
}

static enum err_code ref_estimate(const struct backend_plan *plan, struct backend_estimate *out,
                                  struct err *e)
{
    const struct net *net = plan->net;
    const struct data_set *data = plan->data;
    size_t element = backend_element(plan), pixels = ref_size(&net->input), outputs = 0;
    size_t images = data->train.count + data->valid.count + data->test.count;
    size_t parts = (size_t)ref_parts(plan), groups = (size_t)ref_groups(plan);
    size_t copies = 1 + (size_t)backend_slots(plan->optimizer) + parts;
    size_t model, all;

    TRY(ref_can(plan, e));
    memset(out, 0, sizeof *out);
    for (int i = 0; i < net->layers; i++)
        outputs = times_plus(1, ref_size(&net->layer[i].out), outputs);
    model = times_plus(copies, net->parameter_count, times_plus(1 + groups, net->stat_count, 0));
    model = times_plus(plan->batch, times_plus(2, outputs, pixels), model);
    all = times_plus((size_t)ref_models(plan), model, 0);
    all = times_plus(REF_EVALUATE, times_plus(1, outputs, pixels), all);
    all = times_plus(all, element, 0);
    out->places = 1;
    out->bytes[0] =
        times_plus(images, pixels * (data->lut || data->train.bytes ? 1 : sizeof(float)), all);
    return ERR_OK;
}

static const char *ref_isa(void)
{
    return "plain C, one thread";
}

static void ref_close(struct backend_session *s)
{
    if (!s)
        return;
    s->ops->close(s);
    free(s->model_key);
    free(s->member_device);
    free(s);
}

static enum err_code ref_open(const struct backend_plan *plan, struct backend_session **out,
                              struct err *e)
{
    struct backend_session *s;
    size_t models = (size_t)ref_models(plan);
    enum err_code code;

    *out = NULL;
    TRY(ref_can(plan, e));
    s = mem_new(1, sizeof *s);
    s->ops = plan->precision == SPEC_FP64 ? &ref_double_ops : &ref_float_ops;
    s->plan = *plan;
    s->model_key = mem_new(models, sizeof *s->model_key);
    memcpy(s->model_key, plan->model_key, models * sizeof *s->model_key);
    s->plan.model_key = s->model_key;
    s->plan.member_device = NULL;
    if (plan->member_device) {
        s->member_device = mem_new(models, sizeof *s->member_device);
        memcpy(s->member_device, plan->member_device, models * sizeof *s->member_device);
        s->plan.member_device = s->member_device;
    }
    s->plan.gpu = NULL;
    code = s->ops->open(s, e);
    if (code != ERR_OK) {
        ref_close(s);
        return code;
    }
    *out = s;
    return ERR_OK;
}

static enum err_code ref_train(struct backend_session *s, const struct backend_span *span,
                               struct backend_step *results, size_t *done, struct err *e)
{
    return s->ops->train(s, span, results, done, e);
}

static enum err_code ref_evaluate(struct backend_session *s, const struct data_part *part,
                                  size_t first, size_t count, const atomic_bool *stop,
                                  float *logits, struct err *e)
{
    return s->ops->evaluate(s, part, first, count, stop, logits, e);
}

static enum err_code ref_state(struct backend_session *s, int member, enum backend_kind kind,
                               bool set, void *buffer, struct err *e)
{
    return s->ops->state(s, member, kind, set, buffer, e);
}

static enum err_code ref_peek(struct backend_session *s, int member, int layer,
                              enum backend_what what, double *out, size_t n,
                              enum backend_peek *answer, struct err *e)
{
    *answer = BACKEND_PEEKED; /* nothing is fused here */
    return s->ops->peek(s, member, layer, what, out, n, e);
}

const struct backend ref_backend = {
    .name = "ref",
    .can = ref_can,
    .estimate = ref_estimate,
    .isa = ref_isa,
    .open = ref_open,
    .close = ref_close,
    .train = ref_train,
    .evaluate = ref_evaluate,
    .state = ref_state,
    .peek = ref_peek,
};
