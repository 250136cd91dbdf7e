/* cuda/peek.c: the numbers of the last batch, for tests. Of the layers that one kernel makes together
 * the last one's output is there; of their gradients that in front of the relu, so the first one's, or
 * that of the pool at the end. */
#include "cuda/cuda_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct peek_work {
    int model, layer;
    const struct cuda_place *only;
    enum backend_what what;
    double *out;
    bool fused;
};

static size_t size_of(const struct net_shape *s)
{
    return (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

/* n numbers of the device's memory, at a multiple of the stored element. */
static enum err_code fetch(struct cuda_place *p, size_t at, size_t n, size_t element, double *out,
                           struct err *e)
{
    TRY(cuda_place_bounce(p, n * element, e));
    TRY(cuda_place_copy(p, p->bounce, p->memory + at, n * element, "what is looked at", e));
    TRY(cuda_place_wait(p, e));
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        float value;

        if (element == 4) {
            value = ((const float *)p->bounce)[i];
        } else {
            bits = (uint32_t)((const uint16_t *)p->bounce)[i] << 16;
            memcpy(&value, &bits, sizeof value);
        }
        out[i] = (double)value;
    }
    return ERR_OK;
}

/* What lies in memory for a layer, NULL where that is nothing or something else. */
static const struct cuda_slot *slot_of(const struct cuda_place *p, const struct peek_work *w)
{
    const struct cuda_layout *l = &p->layout;
    const struct net *net = p->session->plan.net;
    int piece = l->pieces.of[w->layer];
    const struct cuda_piece *at = &l->pieces.at[piece];
    bool acted = at->act != CUDA_LINEAR;
    const struct cuda_slot *slot;

    if (w->what == BACKEND_OUTPUT) {
        slot = &l->out[piece];
        return w->layer == at->tail && slot->intact ? slot : NULL;
    }
    slot = &l->grad[piece];
    if (!cuda_piece_learns(net, &l->pieces, piece))
        return NULL;
    if (at->pool >= 0)
        return w->layer == at->pool && !cuda_piece_derives(at) && slot->intact ? slot : NULL;
    if (acted && cuda_act_of(net->layer[w->layer].op) != CUDA_LINEAR && w->layer == at->tail)
        return NULL;
    return slot->intact ? slot : NULL;
}

static enum err_code peek_job(struct cuda_place *p, void *arg, struct err *e)
{
    struct peek_work *w = arg;
    const struct cuda_layout *l = &p->layout;
    const struct net_layer *layer = &p->session->plan.net->layer[w->layer];
    size_t size = size_of(&layer->out), n = (size_t)l->images * size;
    const struct cuda_slot *slot;
    size_t element = cuda_element(l->math);
    int tensor = w->what == BACKEND_GRAD_KERNEL ? layer->kernel : layer->bias;

    if (w->only && w->only != p)
        return ERR_OK;
    if (w->what == BACKEND_GRAD_KERNEL || w->what == BACKEND_GRAD_BIAS)
        return fetch(p, l->gradient + ((size_t)w->model * l->params + l->param_at[tensor]) * 4,
                     p->session->plan.net->param[tensor].count, 4, w->out, e);
    slot = slot_of(p, w);
    if (!slot) {
        w->fused = true;
        return ERR_OK;
    }
    return fetch(p, slot->at + (size_t)w->model * l->between, n, element,
                 w->out + (size_t)p->share.first_image * size, e);
}

enum err_code cuda_peek(struct backend_session *s, int member, int layer, enum backend_what what,
                        double *out, size_t n, enum backend_peek *answer, struct err *e)
{
    struct peek_work w = {.layer = layer, .what = what, .out = out};
    bool activations = what == BACKEND_OUTPUT || what == BACKEND_GRAD_OUTPUT;
    const struct cuda_place *p = cuda_session_place(s, member, &w.model);
    const struct net_layer *l;
    size_t count;

    if (!p || layer < 0 || layer >= s->plan.net->layers)
        return err_set(e, ERR_FAILED, "backend cuda has no layer %d of member %d to look at", layer,
                       member);
    if (!s->trained)
        return err_set(
            e, ERR_FAILED,
            "there is nothing to look at before a training step, or after an evaluation");
    l = &s->plan.net->layer[layer];
    if (activations) {
        count = s->plan.batch * size_of(&l->out);
    } else {
        int tensor = what == BACKEND_GRAD_KERNEL ? l->kernel : l->bias;

        if (tensor == NET_NONE)
            return err_set(e, ERR_FAILED, "%s has no such parameter", l->name);
        count = s->plan.net->param[tensor].count;
    }
    if (n != count)
        return err_set(e, ERR_FAILED, "%s holds %zu values there, not %zu", l->name, count, n);
    w.only = activations && s->plan.mode != SPEC_ENSEMBLE ? NULL : p;
    if (s->places == 1) {
        TRY(cuda_session_all(s, peek_job, &w, e));
    } else {
        for (int i = 0; i < s->places; i++) { /* one after another: they share w.fused */
            w.only = activations && s->plan.mode != SPEC_ENSEMBLE ? &s->place[i] : p;
            TRY(cuda_session_all(s, peek_job, &w, e));
        }
    }
    *answer = w.fused ? BACKEND_FUSED : BACKEND_PEEKED;
    return ERR_OK;
}
