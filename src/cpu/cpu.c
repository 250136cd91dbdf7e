/* cpu/cpu.c: the table: sessions are opened, spoken to and closed here. */
#include "cpu/session_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const char *cpu_isa_in(enum spec_precision precision)
{
    const struct cpu_kernels *k = cpu_kernels_choose(precision);
    const struct cpu_tiles *tiles = precision == SPEC_BF16 ? cpu_tiles_choose() : NULL;
    return !k ? "none" : tiles ? tiles->name : k->name;
}

static const char *cpu_isa(void)
{
    return cpu_isa_in(SPEC_BF16);
}

static enum err_code cpu_can(const struct backend_plan *p, struct err *e)
{
    if (!cpu_kernels_choose(p->precision))
        return err_set(e, ERR_INPUT,
                       "CHORUS_ISA=%s: this processor or this program has no such kernels (amx, "
                       "avx512bf16-dot, avx512bf16, avx512, avx2 and base are known); without "
                       "CHORUS_ISA the best that is here is taken",
                       getenv("CHORUS_ISA"));
    if (p->precision == SPEC_BF16 && !cpu_has_bf16())
        return err_set(e, ERR_INPUT,
                       "precision = bf16: this processor has no instructions for it (avx512_bf16); "
                       "use precision = fp32");
    if (p->precision == SPEC_FP64)
        return err_set(e, ERR_INPUT, "precision = fp64 needs backend = ref");
    return ERR_OK;
}

static void cpu_close(struct backend_session *s)
{
    if (!s)
        return;
    cpu_stop_threads(s);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->wake);
    pthread_cond_destroy(&s->done);
    for (size_t i = 0; i < s->pieces; i++)
        free(s->memory[i]);
    free(s->memory);
    free(s->layer);
    free(s->range);
    free(s);
}

static int threads_of(const struct backend_plan *p)
{
    return p->threads < 1 ? 1 : p->threads;
}

static struct backend_session *session_new(const struct backend_plan *plan)
{
    struct backend_session *s = mem_new(1, sizeof *s);

    s->plan = *plan;
    s->k = s->whole_k = cpu_kernels_choose(plan->precision);
    s->bf16 = plan->precision == SPEC_BF16;
    s->tiles = s->bf16 ? cpu_tiles_choose() : NULL;
    s->layers = plan->net->layers;
    s->params = plan->net->parameter_count;
    s->stats = plan->net->stat_count;
    s->threads = threads_of(plan);
    s->layer = mem_new((size_t)s->layers, sizeof *s->layer);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->wake, NULL);
    pthread_cond_init(&s->done, NULL);
    cpu_lay_out(s);
    return s;
}

static enum err_code cpu_open(const struct backend_plan *plan, struct backend_session **out,
                              struct err *e)
{
    *out = NULL;
    TRY(cpu_can(plan, e));
    struct backend_session *s = session_new(plan);
    cpu_equip_models(s);
    cpu_equip_teams(s);
    if (s->failed_bytes) {
        size_t bytes = s->failed_bytes;
        cpu_close(s);
        return err_set(e, ERR_NOMEM,
                       "out of memory: %zu bytes more were wanted for batch = %zu, members = %d, "
                       "threads = %d; try a smaller batch",
                       bytes, plan->batch, plan->members, plan->threads);
    }
    if (!cpu_start_threads(s)) {
        cpu_close(s);
        return err_set(e, ERR_FAILED, "cannot start %d threads", plan->threads);
    }
    *out = s;
    return ERR_OK;
}

#define THREAD                                                                                     \
    65536 /* bytes of its stack that it comes to use, its tables, the allocator's for it */

static enum err_code cpu_estimate(const struct backend_plan *p, struct backend_estimate *out,
                                  struct err *e)
{
    TRY(cpu_can(p, e));
    struct backend_session *s = session_new(p);
    s->counting = true;
    cpu_equip_models(s);
    cpu_equip_teams(s);
    double bytes = s->counted + (double)(s->threads - 1) * THREAD;
    if (p->data) {
        const struct net_shape *shape = &p->data->shape;
        double images = (double)p->data->train.count + (double)p->data->valid.count +
                        (double)p->data->test.count;
        bytes += images * shape->h * shape->w * shape->c * (double)data_element(p->data);
    }
    *out = (struct backend_estimate){.places = 1};
    out->bytes[0] = bytes < 1e18 ? (size_t)bytes : (size_t)1e18;
    cpu_close(s);
    return ERR_OK;
}

static enum err_code cpu_run_train(struct backend_session *s, const struct backend_span *span,
                                   struct backend_step *results, size_t *done, struct err *e)
{
    (void)e;
    s->packed = false;
    cpu_run_job(s, (struct cpu_job){
                       .kind = CPU_TRAIN, .span = span, .results = results, .stop = span->stop});
    s->given_back = false;
    *done = (size_t)(s->furthest + 1);
    s->trained = s->trained || *done;
    return ERR_OK;
}

static enum err_code cpu_run_evaluate(struct backend_session *s, const struct data_part *part,
                                      size_t first, size_t count, const atomic_bool *stop,
                                      float *logits, struct err *e)
{
    s->trained = s->given_back = false; /* the buffers hold other images from here on */
    cpu_run_job(s, (struct cpu_job){.kind = CPU_EVALUATE,
                                    .part = part,
                                    .first = first,
                                    .count = count,
                                    .stop = stop,
                                    .logits = logits});
    s->packed = true;
    if (s->ending)
        return err_set(e, ERR_STOPPED, "stopped while evaluating");
    return ERR_OK;
}

static enum err_code cpu_state(struct backend_session *s, int member, enum backend_kind kind,
                               bool set, void *buffer, struct err *e)
{
    if (member < 0 || member >= s->plan.members)
        return err_set(e, ERR_FAILED, "member %d of %d was asked for", member, s->plan.members);
    struct cpu_model *m = &s->model[member];
    float *flat = kind == BACKEND_PARAMS  ? m->param
                  : kind == BACKEND_SLOT1 ? m->slot1
                  : kind == BACKEND_SLOT2 ? m->slot2
                                          : m->stat;
    if (!flat)
        return err_set(e, ERR_FAILED, "this optimizer has no such state");
    if (s->spare && !set) /* who reads a large session's state takes memory for it */
        cpu_spare_give_back(s);
    if (kind == BACKEND_STATS) {
        memcpy(set ? (void *)flat : buffer, set ? buffer : (void *)flat, s->stats * sizeof *flat);
        return ERR_OK;
    }
    for (int i = 0; i < s->plan.net->params; i++) {
        const struct net_tensor *t = &s->plan.net->param[i];
        cpu_copy_tensor(s, t, flat + t->offset, (float *)buffer + t->offset, set);
    }
    if (set && kind == BACKEND_PARAMS) {
        s->packed = false;
        cpu_run_job(s, (struct cpu_job){.kind = CPU_PACK, .model = member});
    }
    return ERR_OK;
}

const struct backend cpu_backend = {
    .name = "cpu",
    .can = cpu_can,
    .estimate = cpu_estimate,
    .isa = cpu_isa,
    .isa_in = cpu_isa_in,
    .open = cpu_open,
    .close = cpu_close,
    .train = cpu_run_train,
    .evaluate = cpu_run_evaluate,
    .state = cpu_state,
    .peek = cpu_peek,
};
