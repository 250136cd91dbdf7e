/* cuda/session.c: a session is places that do the same jobs: one on the caller's thread, several each
 * on a thread of its own. */
#include "cuda/cuda_int.h"
#include "cuda/gauge.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/system/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cuda_hooks cuda_hooks;

/* ---- jobs ---- */

static enum err_code end_job(struct cuda_place *p, void *arg, struct err *e)
{
    (void)arg;
    (void)e;
    cuda_place_end(p);
    return ERR_OK;
}

static enum err_code close_job(struct cuda_place *p, void *arg, struct err *e)
{
    (void)arg;
    (void)e;
    cuda_place_close(p);
    return ERR_OK;
}

/* What a library says may only be how it heard of a GPU that computes no more. */
static void find_stuck(struct cuda_place *p)
{
    struct err behind;
    int error =
        p->code == ERR_FAILED && p->stream ? cuda_rt()->stream_query(p->stream) : CUDA_RT_OK;

    if (!cuda_rt_sticks(error))
        return;
    cuda_rt_fail(&behind, error, "behind it on GPU %d", p->share.gpu);
    err_context(&behind, "%s", p->error.text);
    p->error = behind;
    p->code = ERR_STUCK;
}

/* Closing goes on where a GPU gives nothing but errors. */
static void do_job(struct cuda_place *p, cuda_job *job, void *arg)
{
    int error = cuda_gpu_use(p->share.gpu);

    p->error = (struct err){0};
    p->code = error && job != close_job && job != end_job
                  ? cuda_rt_fail(&p->error, error, "using GPU %d", p->share.gpu)
                  : job(p, arg, &p->error);
    find_stuck(p);
    if (p->code != ERR_OK && p->code != ERR_STOPPED && p->group)
        cuda_group_fail(p->group, p->number, &p->error);
}

static void *place_main(void *arg)
{
    struct cuda_place *p = arg;
    struct backend_session *s = p->session;
    uint64_t seen = 0;

    pthread_mutex_lock(&s->lock);
    for (;;) {
        cuda_job *job;
        void *with;

        while (s->jobs == seen && !s->closing)
            pthread_cond_wait(&s->changed, &s->lock);
        if (s->jobs == seen)
            break;
        seen = s->jobs;
        job = s->job;
        with = s->arg;
        pthread_mutex_unlock(&s->lock);
        do_job(p, job, with);
        pthread_mutex_lock(&s->lock);
        if (--s->running == 0)
            pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Whose error is the cause: one that is not only told by the group. */
static enum err_code first_error(const struct backend_session *s, struct err *e)
{
    const struct cuda_place *first = NULL;

    for (int i = 0; i < s->places; i++)
        if (s->place[i].code != ERR_OK &&
            (!first || (first->code != ERR_STUCK && s->place[i].code == ERR_STUCK)))
            first = &s->place[i];
    if (first && e)
        *e = first->error;
    return first ? first->code : ERR_OK;
}

enum err_code cuda_session_all(struct backend_session *s, cuda_job *job, void *arg, struct err *e)
{
    if (s->places == 1) {
        do_job(&s->place[0], job, arg);
        return first_error(s, e);
    }
    pthread_mutex_lock(&s->lock);
    s->job = job;
    s->arg = arg;
    s->running = s->places;
    s->jobs++;
    pthread_cond_broadcast(&s->changed);
    while (s->running > 0)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return first_error(s, e);
}

bool cuda_session_may(struct backend_session *s, size_t i)
{
    bool may;

    pthread_mutex_lock(&s->lock);
    if (i >= s->allowed && !s->stopped) {
        s->stopped = s->stop && atomic_load_explicit(s->stop, memory_order_relaxed);
        s->allowed += !s->stopped;
    }
    may = i < s->allowed;
    pthread_mutex_unlock(&s->lock);
    return may;
}

struct cuda_place *cuda_session_place(struct backend_session *s, int member, int *model)
{
    *model = 0;
    if (s->plan.mode != SPEC_ENSEMBLE)
        return member == 0 ? &s->place[0] : NULL;
    for (int i = 0; i < s->places; i++)
        for (*model = 0; *model < s->place[i].share.models; ++*model)
            if (s->place[i].share.model[*model] == member)
                return &s->place[i];
    return NULL;
}

/* ---- what is asked before it is opened ---- */

static enum err_code check_model(const struct backend_plan *plan, struct err *e)
{
    const struct net *net = plan->net;
    const struct net_shape *have = &plan->data->shape, *want = &net->input;
    size_t outputs;

    if (net->layers < 1)
        return err_set(e, ERR_INPUT, "model %s has no layer to train", net->name);
    const struct net_shape *out = &net->layer[net->layers - 1].out;
    outputs = (size_t)out->h * (size_t)out->w * (size_t)out->c;
    if (net->classes < 1 || outputs < (size_t)net->classes || net->classes < plan->data->classes)
        return err_set(e, ERR_INPUT, "model %s has %zu outputs for %d classes", net->name, outputs,
                       plan->data->classes);
    if (have->h == want->h && have->w == want->w && have->c == want->c)
        return ERR_OK;
    return err_set(e, ERR_INPUT, "model %s takes images of %dx%dx%d, the data's are %dx%dx%d",
                   net->name, want->h, want->w, want->c, have->h, have->w, have->c);
}

/* Kernels count pixels, and blocks along a grid's second side, in numbers that have an end. */
static enum err_code check_sizes(const struct backend_plan *plan, struct err *e)
{
    for (int i = 0; i < plan->net->layers; i++) {
        const struct net_layer *l = &plan->net->layer[i];
        double in = (double)l->in.h * l->in.w, out = (double)l->out.h * l->out.w;
        double pixels = (double)plan->batch * (in > out ? in : out);
        double kernel = (double)l->k * l->k * (l->in.c > l->out.c ? l->in.c : l->out.c);

        if (l->op == NET_DENSE) { /* an image is one pixel there */
            kernel = in * l->in.c;
            pixels = (double)plan->batch;
        }
        if (l->op != NET_CONV && l->op != NET_DENSE)
            continue;
        if (pixels >= CUDA_PIXELS || kernel >= 2e9 || l->out.c >= 2e9)
            return err_set(
                e, ERR_INPUT,
                "backend cuda: %s sees %.0f pixels of %zu images at once, at most 2e9: a "
                "smaller batch or smaller images",
                l->name, pixels, plan->batch);
        if (l->op == NET_CONV && l->stride > 255)
            return err_set(e, ERR_INPUT, "backend cuda: %s has stride %d, at most 255", l->name,
                           l->stride);
    }
    return ERR_OK;
}

/* *share: (CUDA_PLACES), freed by the caller where all is well. */
static enum err_code check(const struct backend_plan *plan, struct cuda_share **share, int *places,
                           struct err *e)
{
    int gpu[CUDA_GPUS], usable;
    enum err_code code;
    struct err why = {0};

    if (plan->precision == SPEC_FP64)
        return err_set(e, ERR_INPUT,
                       "backend cuda computes in fp32, tf32 and bf16: fp64 is for backend = ref");
    TRY(check_model(plan, e));
    TRY(check_sizes(plan, e));
    usable = cuda_usable_gpus(gpu, &why);
    if (!usable)
        return err_set(e, why.code, "%s", why.text);
    *share = mem_new(CUDA_PLACES, sizeof **share);
    code = cuda_share(plan, gpu, usable, *share, places, e);
    if (code == ERR_OK && *places > 1 && plan->mode != SPEC_ENSEMBLE && !cuda_nccl(&why))
        code = err_set(e, ERR_FAILED,
                       "one model on %d GPUs needs NCCL: %s; devices = gpu:%d takes one", *places,
                       why.text, (*share)[0].gpu);
    if (code == ERR_OK)
        return ERR_OK;
    free(*share);
    *share = NULL;
    return code;
}

enum err_code cuda_can(const struct backend_plan *plan, struct err *e)
{
    struct cuda_share *share;
    int places;

    TRY(check(plan, &share, &places, e));
    free(share);
    return ERR_OK;
}

/* What other processes have there may go, or more may come: only what the GPU cannot have is certain. */
static void compare_with_free(const struct backend_plan *plan, int place, int gpu,
                              const struct cuda_need *need, size_t unused, size_t memory,
                              struct backend_estimate *out)
{
    char all[TEXT_NUMBER_ROOM], room[TEXT_NUMBER_ROOM];
    size_t wanted = cuda_need_all(need);
    struct text advice = {0};

    if (wanted <= unused)
        return;
    out->unused = unused;
    out->never = wanted > memory;
    cuda_need_advice(plan, place, out->places, unused > need->context ? unused - need->context : 0,
                     &advice);
    snprintf(out->lacking, sizeof out->lacking, "GPU %d has %s %s, this takes %s: %.200s", gpu,
             text_bytes(room, out->never ? memory : unused), out->never ? "in all" : "free",
             text_bytes(all, wanted), text_str(&advice));
    text_free(&advice);
}

/* Beside the context of this process. */
static size_t room_of(size_t unused, const struct cuda_gpu_facts *facts)
{
    return unused > facts->context ? unused - facts->context : unused;
}

static enum err_code estimate_place(const struct backend_plan *plan, int place,
                                    struct cuda_share *share, struct backend_estimate *out,
                                    struct err *e)
{
    struct cuda_gpu_facts facts = {0};
    struct cuda_need need;
    bool known = cuda_rt()->facts(share->gpu, &facts) == 0;
    size_t unused = SIZE_MAX;

    if (known && (!cuda_gauge_free(share->gpu, &unused) || unused > facts.memory))
        unused = facts.memory;
    TRY(cuda_need_within(plan, share, out->places, room_of(unused, &facts), &need, e));
    if (cuda_need_all(&need) > unused) /* what it would take were nothing else there */
        TRY(cuda_need_within(plan, share, out->places, room_of(facts.memory, &facts), &need, e));
    out->bytes[place] = cuda_need_all(&need);
    if (known && !out->lacking[0])
        compare_with_free(plan, place, share->gpu, &need, unused, facts.memory, out);
    return ERR_OK;
}

enum err_code cuda_estimate(const struct backend_plan *plan, struct backend_estimate *out,
                            struct err *e)
{
    struct cuda_share *share;
    enum err_code code = ERR_OK;

    memset(out, 0, sizeof *out);
    TRY(check(plan, &share, &out->places, e));
    for (int i = 0; i < out->places && code == ERR_OK; i++)
        code = estimate_place(plan, i, &share[i], out, e);
    free(share);
    return code;
}

/* ---- open and close ---- */

static void copy_plan(struct backend_session *s, const struct backend_plan *plan)
{
    size_t models = plan->mode == SPEC_ENSEMBLE ? (size_t)plan->members : 1;

    s->plan = *plan;
    s->model_key = mem_new(models, sizeof *s->model_key);
    memcpy(s->model_key, plan->model_key, models * sizeof *s->model_key);
    s->plan.model_key = s->model_key;
    s->plan.member_device = NULL;
    s->plan.gpu = NULL;
}

static enum err_code open_job(struct cuda_place *p, void *arg, struct err *e)
{
    (void)arg;
    return cuda_place_open(p, e);
}

static enum err_code weigh_job(struct cuda_place *p, void *arg, struct err *e)
{
    (void)arg;
    (void)e;
    cuda_place_weigh(p);
    return ERR_OK;
}

static enum err_code open_places(struct backend_session *s, const struct cuda_share *share,
                                 struct err *e)
{
    struct cuda_group *group = NULL;

    for (int i = 0; i < s->places; i++) {
        struct cuda_place *p = &s->place[i];

        p->session = s;
        p->number = i;
        p->share = share[i];
    }
    if (s->places > 1 && s->plan.mode != SPEC_ENSEMBLE) {
        TRY(cuda_group_open(&group, s->places, s->hooks.limit_ms, e));
        for (int i = 0; i < s->places; i++)
            s->place[i].group = group;
    }
    for (int i = 0; s->places > 1 && i < s->places; i++) {
        if (thread_start(&s->place[i].thread, place_main, &s->place[i]))
            return err_set(e, ERR_FAILED, "cuda: no thread for GPU %d", s->place[i].share.gpu);
        s->place[i].started = true;
    }
    TRY(cuda_session_all(s, open_job, NULL, e));
    /* What libraries load late must not be loaded while a step is captured. */
    for (int i = 0; i < s->places; i++)
        s->hooks.cold = s->hooks.cold && !(s->place[i].dnn && strcmp(cuda_rt()->name, "twin"));
    TRY(cuda_session_all(s, cuda_load, NULL, e));
    if (!s->hooks.cold)
        TRY(cuda_session_all(s, cuda_warm, NULL, e));
    cuda_choose_graphs(s);
    if (!s->hooks.cold) {
        TRY(cuda_session_all(s, cuda_capture_all, NULL, e));
        (void)cuda_session_all(s, weigh_job, NULL, NULL);
    }
    return ERR_OK;
}

enum err_code cuda_open(const struct backend_plan *plan, struct backend_session **out,
                        struct err *e)
{
    struct backend_session *s;
    struct cuda_share *share;
    enum err_code code;
    int places;

    *out = NULL;
    TRY(check(plan, &share, &places, e));
    s = mem_new(1, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->hooks = cuda_hooks;
    s->places = places;
    s->place = mem_new((size_t)places, sizeof *s->place);
    copy_plan(s, plan);
    code = open_places(s, share, e);
    free(share);
    if (code != ERR_OK) {
        cuda_close(s);
        return code;
    }
    *out = s;
    return ERR_OK;
}

static void end_threads(struct backend_session *s)
{
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < s->places; i++)
        if (s->place[i].started)
            pthread_join(s->place[i].thread, NULL);
}

void cuda_close(struct backend_session *s)
{
    struct cuda_group *group;

    if (!s)
        return;
    group = s->place[0].group;
    if (s->places == 1 || s->place[s->places - 1].started) {
        (void)cuda_session_all(s, end_job, NULL, NULL);
        for (int i = 0; i < s->places; i++)
            s->lost = s->lost || s->place[i].lost;
        (void)cuda_session_all(s, close_job, NULL, NULL);
    }
    end_threads(s);
    for (int i = 0; i < s->places; i++)
        cuda_layout_free(&s->place[i].layout);
    if (!s->lost) /* else its aborts may never come back */
        cuda_group_close(group);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s->model_key);
    free(s->place);
    free(s);
}
