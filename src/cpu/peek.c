/* cpu/peek.c: the values of the last batch, for tests. */
#include "cpu/session_int.h"

#include "base/mem.h"

#include <stdlib.h>

static void peek_tensor(const struct backend_session *s, const struct cpu_team *t, int tensor,
                        double *out)
{
    const struct net_tensor *p = &s->plan.net->param[tensor];
    float *copy = mem_new(p->count, sizeof *copy);

    cpu_copy_tensor(s, p, t->dparam + p->offset, copy, false);
    for (size_t i = 0; i < p->count; i++)
        out[i] = (double)copy[i];
    free(copy);
}

/* A group of the pixels; held: the team's, or NULL where each worker has those of its groups. */
static const float *group_of(const struct backend_session *s, const struct cpu_team *t,
                             const float *held, int layer, bool gradient, int g)
{
    if (held)
        return held + (size_t)g * s->layer[layer].out * s->lanes;
    const struct cpu_worker *w = t->worker;
    for (int from, to; w < t->worker + t->size; w++) {
        cpu_share(s->batch_groups, t->size, w->rank, &from, &to);
        if (g >= from && g < to)
            break;
    }
    return gradient ? cpu_grad(w, layer, g) : cpu_act(w, layer, g);
}

static void peek_pixels(const struct backend_session *s, const struct cpu_team *t,
                        const float *held, int layer, bool gradient, double *out)
{
    const struct cpu_layer *c = &s->layer[layer];
    int channels = c->l.out.c, pixels = c->l.out.h * c->l.out.w;

    for (int g = 0; g < s->batch_groups; g++) {
        const float *group = group_of(s, t, held, layer, gradient, g);
        size_t first;
        int lanes;
        cpu_group(s, g, &first, &lanes);
        for (int lane = 0; lane < lanes; lane++) {
            double *image = out + (first + (size_t)lane) * c->out;
            for (int ch = 0; ch < channels; ch++) {
                for (int i = 0; i < pixels; i++)
                    image[i * channels + ch] =
                        (double)group[(size_t)(ch * pixels + i) * s->lanes + (size_t)lane];
            }
        }
    }
}

/* Where the whole layer's numbers lie, NULL where they lie nowhere or something else lies there,
 * as another piece of the batch. */
static const float *pixels_of(const struct backend_session *s, const struct cpu_team *t, int layer,
                              bool gradient)
{
    if (s->layer[layer].cut || s->piece)
        return NULL;
    for (int i = 0; i < s->layers; i++) {
        const struct cpu_layer *c = &s->layer[i];
        if (!gradient && c->in_place && c->l.src == layer)
            return NULL;
        if (gradient && c->grad_in_place && c->tail == layer)
            return NULL;
    }
    return gradient ? t->grad[layer] : t->act[layer];
}

enum err_code cpu_peek(struct backend_session *s, int member, int layer, enum backend_what what,
                       double *out, size_t n, enum backend_peek *answer, struct err *e)
{
    const struct cpu_team *t = &s->team[s->teams > 1 ? member % s->teams : 0];
    bool latest = member + t->model_step >= s->plan.members;

    *answer = BACKEND_FUSED;
    if (!s->trained)
        return err_set(e, ERR_FAILED, "peek: no batch was trained last");
    if (layer < 0 || layer >= s->layers)
        return err_set(e, ERR_FAILED, "peek: layer %d of %d", layer, s->layers);
    const struct net_layer *l = &s->plan.net->layer[layer];
    bool pixels = what == BACKEND_OUTPUT || what == BACKEND_GRAD_OUTPUT;
    int tensor = what == BACKEND_GRAD_KERNEL ? l->kernel : l->bias;
    if (!pixels && tensor < 0)
        return err_set(e, ERR_FAILED, "peek: %s has no such tensor", l->name);
    size_t want = pixels ? s->plan.batch * (size_t)l->out.h * (size_t)l->out.w * (size_t)l->out.c
                         : s->plan.net->param[tensor].count;
    if (n != want)
        return err_set(e, ERR_FAILED, "peek: %s has %zu numbers there, not %zu", l->name, want, n);
    if (!latest)
        return ERR_OK;
    if (pixels) {
        bool gradient = what == BACKEND_GRAD_OUTPUT;
        const float *held = s->spare ? NULL : pixels_of(s, t, layer, gradient);
        if (s->spare ? s->given_back || layer < s->layers - 1
                     : !held) /* spared: only the logits stay */
            return ERR_OK;
        peek_pixels(s, t, held, layer, gradient, out);
    } else {
        peek_tensor(s, t, tensor, out);
    }
    *answer = BACKEND_PEEKED;
    return ERR_OK;
}
