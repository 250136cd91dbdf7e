/* cpu/peek.c: the values of the last batch, for tests. */
#include "cpu/cpu_int.h"

#include "base/mem.h"

#include <stdlib.h>

static void peek_tensor(const struct backend_session *s, const struct cpu_team *t, int tensor,
                        double *out)
{
    const struct net_tensor *p = &s->plan.net->param[tensor];
    float *copy = mem_new(p->count, sizeof *copy);

    cpu_copy_tensor(s, p, t->worker[0].dparam + p->offset, copy, false);
    for (size_t i = 0; i < p->count; i++)
        out[i] = (double)copy[i];
    free(copy);
}

static void peek_pixels(const struct backend_session *s, const struct cpu_team *t, int layer,
                        bool gradient, double *out)
{
    const struct cpu_layer *c = &s->layer[layer];
    int channels = c->l->out.c, pixels = c->l->out.h * c->l->out.w;

    for (int r = 0; r < t->size; r++) {
        int from, to;
        cpu_share(s->batch_groups, t->size, r, &from, &to);
        const float *held = gradient ? t->worker[r].grad[layer] : t->worker[r].act[layer];
        for (int g = from; g < to; g++, held += c->out * CPU_LANES) {
            size_t first;
            int lanes;
            cpu_group(s, g, &first, &lanes);
            for (int lane = 0; lane < lanes; lane++) {
                double *image = out + (first + (size_t)lane) * c->out;
                for (int ch = 0; ch < channels; ch++) {
                    for (int i = 0; i < pixels; i++)
                        image[i * channels + ch] =
                            (double)held[(ch * pixels + i) * CPU_LANES + lane];
                }
            }
        }
    }
}

enum err_code cpu_peek(struct backend_session *s, int member, int layer, enum backend_what what,
                       double *out, size_t n, enum backend_peek *answer, struct err *e)
{
    const struct cpu_team *t = &s->team[s->teams > 1 ? member % s->teams : 0];
    bool latest = member + t->model_step >= s->plan.members, pixels, kept;
    size_t want;

    *answer = BACKEND_FUSED;
    if (!s->trained)
        return err_set(e, ERR_FAILED, "peek: no batch was trained last");
    if (layer < 0 || layer >= s->layers)
        return err_set(e, ERR_FAILED, "peek: layer %d of %d", layer, s->layers);
    const struct cpu_layer *c = &s->layer[layer];
    pixels = what == BACKEND_OUTPUT || what == BACKEND_GRAD_OUTPUT;
    int tensor = what == BACKEND_GRAD_KERNEL ? c->l->kernel : c->l->bias;
    if (!pixels && tensor < 0)
        return err_set(e, ERR_FAILED, "peek: %s has no such tensor", c->l->name);
    want = pixels ? s->plan.batch * c->out : s->plan.net->param[tensor].count;
    if (n != want)
        return err_set(e, ERR_FAILED, "peek: %s has %zu numbers there, not %zu", c->l->name, want,
                       n);
    kept = latest && (s->whole || !pixels);
    for (int i = 0; what == BACKEND_OUTPUT && i < s->layers; i++)
        kept = kept && !(s->layer[i].in_place && s->layer[i].l->src == layer);
    if (!kept)
        return ERR_OK;
    if (pixels)
        peek_pixels(s, t, layer, what == BACKEND_GRAD_OUTPUT, out);
    else
        peek_tensor(s, t, tensor, out);
    *answer = BACKEND_PEEKED;
    return ERR_OK;
}
