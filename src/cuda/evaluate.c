/* cuda/evaluate.c: logits of images in their order. The places of data-parallel hold the same model
 * and share the images; those of an ensemble hold other members and see all. While a chunk is computed
 * the one before is fetched. */
#include "cuda/cuda_int.h"

#include "base/mem.h"

#include <string.h>

struct evaluation {
    const struct data_part *part;
    size_t first, count;
    const atomic_bool *stop;
    float *logits; /* (members, count, classes) */
};

struct chunks { /* one place's */
    struct cuda_images images;
    void *own;       /* memory of a part that is not the session's, or NULL */
    size_t from, to; /* of the evaluation's images */
    size_t outputs, stride,
        bytes;          /* logits of an image, of a model, of a chunk in the bounce buffer */
    const char *logits; /* on the device, of the first model */
};

/* ---- the images ---- */

static int held_part(const struct backend_session *s, const struct data_part *part)
{
    const struct data_part *held[3] = {&s->plan.data->train, &s->plan.data->valid,
                                       &s->plan.data->test};

    for (int k = 2; k >= 0; k--)
        if (held[k]->count == part->count && held[k]->bytes == part->bytes &&
            held[k]->values == part->values)
            return k;
    return -1;
}

/* Images that the session did not upload, for the time of this evaluation. */
static enum err_code borrow(struct cuda_place *p, const struct evaluation *v, struct chunks *c,
                            struct err *e)
{
    const struct data_set *set = p->session->plan.data;
    size_t pixels = (size_t)set->shape.h * (size_t)set->shape.w * (size_t)set->shape.c;
    size_t element = v->part->bytes ? 1 : sizeof(float);
    const char *from =
        v->part->bytes ? (const char *)v->part->bytes : (const char *)(const void *)v->part->values;
    size_t bytes = v->count * pixels * element;
    int error = cuda_rt()->take(&c->own, bytes ? bytes : 1);

    if (error)
        return cuda_rt_fail(e, error, "taking %zu bytes for images of GPU %d", bytes, p->share.gpu);
    c->images = p->part[2];
    c->images.bytes = v->part->bytes ? c->own : NULL;
    c->images.values = v->part->bytes ? NULL : c->own;
    c->images.count = v->count;
    return cuda_place_copy(p, c->own, from + v->first * pixels * element, bytes, "images", e);
}

/* ---- chunks ---- */

static float as_float(const void *p, size_t i, enum cuda_math math)
{
    uint32_t bits;
    float value;

    if (math != CUDA_BF16)
        return ((const float *)p)[i];
    bits = (uint32_t)((const uint16_t *)p)[i] << 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Chunk i lies in the bounce buffer. */
static void hand_out(const struct cuda_place *p, const struct evaluation *v, const struct chunks *c,
                     size_t i)
{
    const struct cuda_layout *l = &p->layout;
    size_t classes = (size_t)p->session->plan.net->classes, chunk = (size_t)l->evaluate;
    size_t at = c->from + i * chunk, n = c->to - at < chunk ? c->to - at : chunk;
    const char *slot = (const char *)p->bounce + i % CUDA_DEPTH * c->bytes;

    for (int m = 0; m < l->models; m++) {
        int member = p->session->plan.mode == SPEC_ENSEMBLE ? p->share.model[m] : 0;
        float *to = v->logits + ((size_t)member * v->count + at) * classes;

        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < classes; k++)
                to[j * classes + k] =
                    as_float(slot, (size_t)m * c->stride + j * c->outputs + k, l->math);
    }
}

static enum err_code start_chunk(struct cuda_place *p, const struct evaluation *v,
                                 const struct chunks *c, size_t i, struct err *e)
{
    const struct cuda_layout *l = &p->layout;
    const struct cuda_writer w = {.p = p, .net = p->session->plan.net, .n = l->evaluate};
    size_t one = c->bytes / (size_t)l->models;
    int slot = (int)(i % CUDA_DEPTH), error;
    struct cuda_list gather = {0};
    enum err_code code;

    p->chunk[slot] = (uint32_t)((c->own ? 0 : v->first) + c->from + i * (size_t)l->evaluate);
    cuda_gather_plain(&gather, &c->images, l->math, l->evaluate, p->chunk_device + slot,
                      cuda_write_tensor(&w, NET_IMAGES));
    code = cuda_list_run(&gather, p->share.gpu, p->stream, e);
    cuda_list_free(&gather);
    TRY(code);
    TRY(cuda_list_run(&p->program.evaluate, p->share.gpu, p->stream, e));
    error = cuda_rt()->copy_rows((char *)p->bounce + (size_t)slot * c->bytes, one, c->logits,
                                 l->between, one, (size_t)l->models, p->stream);
    if (!error)
        error = cuda_rt()->event_record(p->paced[slot], p->stream);
    return error ? cuda_rt_fail(e, error, "evaluating on GPU %d", p->share.gpu) : ERR_OK;
}

static enum err_code run_chunks(struct cuda_place *p, const struct evaluation *v,
                                const struct chunks *c, struct err *e)
{
    size_t chunk = (size_t)p->layout.evaluate, n = (c->to - c->from + chunk - 1) / chunk;

    for (size_t i = 0; i < n + CUDA_DEPTH; i++) {
        if (i >= CUDA_DEPTH && i - CUDA_DEPTH < n) {
            TRY(cuda_place_pace(p, (int)(i % CUDA_DEPTH), e));
            hand_out(p, v, c, i - CUDA_DEPTH);
        }
        if (v->stop && atomic_load_explicit(v->stop, memory_order_relaxed))
            return err_set(e, ERR_STOPPED, "evaluation was stopped");
        if (i < n)
            TRY(start_chunk(p, v, c, i, e));
    }
    return ERR_OK;
}

static enum err_code evaluate_job(struct cuda_place *p, void *arg, struct err *e)
{
    const struct evaluation *v = arg;
    const struct backend_session *s = p->session;
    const struct net *net = s->plan.net;
    const struct net_shape *out = &net->layer[net->layers - 1].out;
    const struct cuda_writer w = {.p = p, .net = net, .n = p->layout.evaluate};
    bool all = s->plan.mode == SPEC_ENSEMBLE;
    int held = held_part(s, v->part);
    struct chunks c = {.from = all ? 0 : v->count * (size_t)p->number / (size_t)s->places,
                       .to =
                           all ? v->count : v->count * (size_t)(p->number + 1) / (size_t)s->places};
    enum err_code code = cuda_place_program(p, p->own, e);

    c.outputs = (size_t)out->h * (size_t)out->w * (size_t)out->c;
    c.stride = cuda_stride((size_t)p->layout.evaluate * c.outputs);
    c.bytes = (size_t)p->layout.models * c.stride * cuda_element(p->layout.math);
    c.logits = cuda_write_tensor(&w, p->layout.pieces.n - 1).p;
    if (code == ERR_OK)
        code = cuda_place_bounce(p, CUDA_DEPTH * c.bytes, e);
    if (code == ERR_OK && held >= 0)
        c.images = p->part[held];
    else if (code == ERR_OK)
        code = borrow(p, v, &c, e);
    if (code == ERR_OK)
        code = run_chunks(p, v, &c, e);
    if (code == ERR_OK || code == ERR_STOPPED) {
        struct err waited;

        if (cuda_place_wait(p, &waited) != ERR_OK) {
            code = waited.code;
            *e = waited;
        }
    }
    if (!p->lost) /* to give anything back would wait for it */
        cuda_rt()->give(c.own);
    return code;
}

enum err_code cuda_evaluate(struct backend_session *s, const struct data_part *part, size_t first,
                            size_t count, const atomic_bool *stop, float *logits, struct err *e)
{
    struct evaluation v = {
        .part = part, .first = first, .count = count, .stop = stop, .logits = logits};

    s->trained = false; /* its activations lie where evaluation works */
    return count ? cuda_session_all(s, evaluate_job, &v, e) : ERR_OK;
}
