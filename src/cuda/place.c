/* cuda/place.c: one GPU's part of a session: its memory, its stream, what goes in and out. */
#include "cuda/cuda_int.h"
#include "cuda/dnn/dnn.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

/* later: what libraries will want of it too. */
static enum err_code refuse_memory(const struct cuda_place *p, size_t unused, size_t later,
                                   struct err *e)
{
    const struct backend_plan *plan = &p->session->plan;
    const struct cuda_layout *l = &p->layout;
    char all[TEXT_NUMBER_ROOM], left[TEXT_NUMBER_ROOM], work[TEXT_NUMBER_ROOM];
    char state[TEXT_NUMBER_ROOM], data[TEXT_NUMBER_ROOM], rest[TEXT_NUMBER_ROOM];
    struct text advice = {0};

    text_bytes(all, l->bytes + later);
    text_bytes(left, unused);
    if (l->bytes + later <= unused)
        return err_set(e, ERR_NOMEM,
                       "cuda: GPU %d gave no memory for %s though %s were free: another process "
                       "may have been quicker; try again, or free some",
                       p->share.gpu, all, left);
    cuda_need_advice(plan, p->number, p->session->places, unused, &advice);
    err_set(e, ERR_NOMEM,
            "cuda: GPU %d has %s free, this takes %s: %s for activations and gradients of %d "
            "images%s, %s for weights and their updates, %s for the data set, %s for libraries; %s",
            p->share.gpu, left, all, text_bytes(work, l->arena), l->images * l->models,
            l->models > 1 ? " of all members" : "", text_bytes(state, l->lasting),
            text_bytes(data, l->data_bytes), text_bytes(rest, later), text_str(&advice));
    text_free(&advice);
    return ERR_NOMEM;
}

static enum err_code take_memory(struct cuda_place *p, struct err *e)
{
    const struct cuda_rt *rt = cuda_rt();
    size_t later =
        cuda_need_libraries(&p->session->plan, &p->layout, p->session->places, p->dnn != NULL);
    size_t unused = 0, total = 0;
    void *memory = NULL;
    int error = rt->memory(&unused, &total);

    if (error)
        return cuda_rt_fail(e, error, "asking GPU %d for its memory", p->share.gpu);
    if (p->layout.bytes + later > unused)
        return refuse_memory(p, unused, later, e);
    error = rt->take(&memory, p->layout.bytes);
    if (error == CUDA_RT_NOMEM)
        return refuse_memory(p, unused, later, e);
    if (error)
        return cuda_rt_fail(e, error, "taking %zu bytes of GPU %d", p->layout.bytes, p->share.gpu);
    p->memory = memory;
    p->expected = p->layout.bytes + later;
    error = rt->set(p->memory, 0, p->layout.lasting, p->stream);
    return error ? cuda_rt_fail(e, error, "clearing memory of GPU %d", p->share.gpu) : ERR_OK;
}

/* Places of this process on each GPU: how many are there, and how many ever came. What is gone of a GPU is a
 * place's own, or another process's, where it found none there and none came. */
static atomic_uint here[CUDA_GPUS], came[CUDA_GPUS];

static void come(struct cuda_place *p)
{
    p->came = atomic_fetch_add(&came[p->share.gpu], 1) + 1;
    p->alone = atomic_fetch_add(&here[p->share.gpu], 1) == 0;
}

static void go(struct cuda_place *p)
{
    if (p->came)
        atomic_fetch_sub(&here[p->share.gpu], 1);
    p->came = 0;
}

void cuda_place_weigh(const struct cuda_place *p)
{
    char want[TEXT_NUMBER_ROOM], have[TEXT_NUMBER_ROOM];
    size_t unused, total;
    double taken, off;

    if (cuda_rt()->memory(&unused, &total) || unused > p->unused)
        return;
    taken = (double)(p->unused - unused);
    off = taken > (double)p->expected ? taken - (double)p->expected : (double)p->expected - taken;
    if (off <= 64e6 || off <= 0.15 * taken)
        return;
    text_bytes(want, p->expected);
    text_bytes(have, (uint64_t)taken);
    /* More: who waits for the rest counts on what is not there. */
    if (taken > (double)p->expected && p->alone && atomic_load(&came[p->share.gpu]) == p->came)
        log_say(LOG_WARN,
                "GPU %d: %s of its memory were expected to be taken, %s are gone (its context not "
                "counted): a run that was to have the rest may not fit; `nvidia-smi` tells whether "
                "another process has some",
                p->share.gpu, want, have);
    else
        log_say(LOG_INFO,
                "GPU %d: %s of its memory were expected to be taken, %s are gone (its context not "
                "counted)",
                p->share.gpu, want, have);
}

enum err_code cuda_place_pinned(const struct cuda_place *p, void **host, void **device,
                                size_t bytes, struct err *e)
{
    void *unused;
    int error = cuda_rt()->take_pinned(host, device ? device : &unused, bytes ? bytes : 1);

    return error
               ? cuda_rt_fail(e, error, "taking %zu bytes of the host's memory, pinned, for GPU %d",
                              bytes, p->share.gpu)
               : ERR_OK;
}

static enum err_code take_pinned(struct cuda_place *p, struct err *e)
{
    size_t order = (size_t)p->share.models * p->session->plan.data->train.count * sizeof *p->order;
    void *host, *device;

    TRY(cuda_place_pinned(p, &host, &device,
                          (size_t)CUDA_SPAN * (size_t)cuda_units(&p->share) * sizeof *p->result,
                          e));
    p->result = host;
    p->result_device = device;
    TRY(cuda_place_pinned(p, &host, NULL, sizeof *p->clock + CUDA_SPAN * sizeof *p->rate, e));
    p->clock = host;
    p->rate = (double *)(void *)(p->clock + 1);
    memset(p->clock, 0, sizeof *p->clock + CUDA_SPAN * sizeof *p->rate);
    TRY(cuda_place_pinned(p, &host, NULL, order, e));
    p->order = host;
    memset(p->order, 0, order);
    TRY(cuda_place_pinned(p, &host, NULL, order, e));
    p->next = host;
    TRY(cuda_place_pinned(p, &host, &device, CUDA_DEPTH * sizeof *p->chunk, e));
    p->chunk = host;
    p->chunk_device = device;
    return ERR_OK;
}

enum err_code cuda_place_bounce(struct cuda_place *p, size_t bytes, struct err *e)
{
    if (bytes <= p->bounce_bytes)
        return ERR_OK;
    cuda_rt()->give_pinned(p->bounce);
    p->bounce = NULL;
    p->bounce_bytes = 0;
    TRY(cuda_place_pinned(p, &p->bounce, NULL, bytes, e));
    p->bounce_bytes = bytes;
    return ERR_OK;
}

/* ---- copies ---- */

enum err_code cuda_place_copy(struct cuda_place *p, void *to, const void *from, size_t bytes,
                              const char *what, struct err *e)
{
    int error = bytes ? cuda_rt()->copy(to, from, bytes, p->stream) : 0;

    return error ? cuda_rt_fail(e, error, "copying %s to or from GPU %d", what, p->share.gpu)
                 : ERR_OK;
}

static enum err_code no_answer(const struct cuda_place *p, struct err *e)
{
    return err_set(e, ERR_STUCK,
                   "cuda: GPU %d did not answer for %g s; this process can compute no more on that "
                   "GPU",
                   p->share.gpu, cuda_limit_ms(p->session->hooks.limit_ms) / 1e3);
}

static enum err_code wait_alone(struct cuda_place *p, struct err *e)
{
    int error = cuda_wait_within(p->stream, cuda_limit_ms(p->session->hooks.limit_ms));

    if (error == CUDA_RT_NOT_READY)
        return no_answer(p, e);
    return error ? cuda_rt_fail(e, error, "waiting for GPU %d", p->share.gpu) : ERR_OK;
}

/* Where it gave up although the stream still has work, the GPU hangs. */
enum err_code cuda_place_wait(struct cuda_place *p, struct err *e)
{
    enum err_code code;

    if (p->lost)
        return err_set(e, ERR_STUCK, "cuda: GPU %d does not answer", p->share.gpu);
    code = p->group ? cuda_group_wait(p->group, p->number, p->stream, e) : wait_alone(p, e);
    if (code == ERR_STUCK && cuda_rt()->stream_query(p->stream) == CUDA_RT_NOT_READY)
        p->lost = true;
    return code;
}

/* (dropout layers; models, 2): each model's key of each layer, into which kernels fold the step. */
static enum err_code upload_keys(struct cuda_place *p, struct err *e)
{
    const struct backend_plan *plan = &p->session->plan;
    size_t room = (size_t)plan->net->layers * (size_t)p->share.models * 2, n = 0;
    uint32_t *key = mem_new(room + 1, sizeof *key);
    enum err_code code;

    for (int i = 0; i < plan->net->layers; i++) {
        const struct net_layer *l = &plan->net->layer[i];

        for (int m = 0; l->op == NET_DROPOUT && m < p->share.models; m++) {
            int member = plan->mode == SPEC_ENSEMBLE ? p->share.model[m] : 0;
            struct rng_key k =
                rng_fold_in(plan->model_key[member], 0x80000000u + (uint32_t)l->dropout);

            key[n++] = k.w[0];
            key[n++] = k.w[1];
        }
    }
    code =
        cuda_place_copy(p, p->memory + p->layout.key, key, n * sizeof *key, "keys of dropout", e);
    if (code == ERR_OK)
        code = cuda_place_wait(p, e);
    free(key);
    return code;
}

/* ---- open and close ---- */

static enum err_code open_stream(struct cuda_place *p, struct err *e)
{
    const struct cuda_rt *rt = cuda_rt();
    int error = rt->use(p->share.gpu);
    size_t total;

    come(p);
    if (!error)
        error = rt->stream_open(&p->stream);
    for (size_t i = 0; !error && i < MEM_COUNT(p->event); i++)
        error = rt->event_open(&p->event[i]);
    for (size_t i = 0; !error && i < MEM_COUNT(p->paced); i++)
        error = rt->event_open(&p->paced[i]);
    if (!error)
        error = rt->memory(&p->unused, &total);
    return error ? cuda_rt_fail(e, error, "opening GPU %d", p->share.gpu) : ERR_OK;
}

/* What lies where, as much as is free now allows. */
static enum err_code make_layout(struct cuda_place *p, struct err *e)
{
    const struct backend_plan *plan = &p->session->plan;
    struct cuda_need need;

    TRY(cuda_need_within(plan, &p->share, p->session->places, p->unused, &need, e));
    return cuda_layout_make(&p->layout, plan, &p->share, e);
}

enum err_code cuda_place_open(struct cuda_place *p, struct err *e)
{
    TRY(open_stream(p, e));
    TRY(make_layout(p, e));
    if (!cuda_place_plan(p)) {
        p->lost = true;
        return no_answer(p, e);
    }
    TRY(take_memory(p, e));
    TRY(take_pinned(p, e));
    if (p->group)
        TRY(cuda_group_join(p->group, p->number, p->share.gpu, e));
    TRY(upload_keys(p, e));
    return cuda_data_upload(p, e);
}

static void close_graphs(struct cuda_place *p)
{
    for (size_t i = 0; i < MEM_COUNT(p->graph); i++) {
        if (p->graph[i])
            cuda_rt()->graph_close(p->graph[i]);
        p->graph[i] = NULL;
    }
}

enum err_code cuda_place_program(struct cuda_place *p, bool own, struct err *e)
{
    if (p->programmed && p->own == own)
        return ERR_OK;
    TRY(cuda_place_wait(p, e));
    close_graphs(p);
    cuda_program_free(&p->program);
    cuda_program_make(p, own);
    TRY(cuda_list_load(&p->program.step, p->share.gpu, e));
    TRY(cuda_list_load(&p->program.begin, p->share.gpu, e));
    TRY(cuda_list_load(&p->program.evaluate, p->share.gpu, e));
    if (p->dnn)
        TRY(cuda_dnn_load(p->dnn, e));
    p->programmed = true;
    p->own = own;
    return ERR_OK;
}

/* Graphs go before their communicator, which waits for them otherwise. */
static void close_device(struct cuda_place *p)
{
    const struct cuda_rt *rt = cuda_rt();

    close_graphs(p);
    cuda_place_unplan(p);
    if (p->group)
        cuda_group_leave(p->group, p->number);
    for (size_t i = 0; i < MEM_COUNT(p->event); i++)
        if (p->event[i])
            rt->event_close(p->event[i]);
    for (size_t i = 0; i < MEM_COUNT(p->paced); i++)
        if (p->paced[i])
            rt->event_close(p->paced[i]);
    rt->give(p->memory);
    rt->give_pinned(p->result);
    rt->give_pinned(p->clock);
    rt->give_pinned(p->order);
    rt->give_pinned(p->next);
    rt->give_pinned(p->chunk);
    rt->give_pinned(p->bounce);
    if (p->number == 0) /* all places have ended */
        rt->give_pinned(p->session->streamed);
    if (p->stream)
        rt->stream_close(p->stream);
    go(p);
}

void cuda_place_end(struct cuda_place *p)
{
    if (!p->stream)
        return;
    cuda_rt()->use(p->share.gpu);
    (void)cuda_place_wait(p, NULL);
    if (p->lost)
        log_say(
            LOG_WARN,
            "GPU %d does not answer: what was taken of GPUs stays taken until this process ends",
            p->share.gpu);
}

void cuda_place_close(struct cuda_place *p)
{
    if (!p->session->lost)
        close_device(p);
    cuda_program_free(&p->program);
    cuda_layout_free(&p->layout);
}
