/* cpu/update.c: the gradients of all threads, summed in a fixed order, and the step along them. */
#include "cpu/cpu_int.h"

#include <math.h>
#include <string.h>

/* Weights in the order that the kernels read them; layers are dealt out to the team. */
void cpu_pack(struct cpu_worker *w, struct cpu_model *m)
{
    struct backend_session *s = w->team->s;
    int turn = 0;

    for (int i = 0; i < s->layers; i++) {
        const struct cpu_layer *c = &s->layer[i];
        if (c->l->op != NET_CONV)
            continue;
        if (turn++ % w->team->size == w->rank)
            s->k->conv_pack(&c->conv, m->param + c->kernel, false, m->packed + c->pack);
        if (!c->first && turn++ % w->team->size == w->rank)
            s->k->conv_pack(&c->back, m->param + c->kernel, true, m->packed + c->pack_back);
    }
}

/* Sums the threads' gradients of this worker's slice of the parameters, always in the same order,
 * into the first thread's. */
static double reduce(struct cpu_worker *w, size_t from, size_t to)
{
    struct cpu_team *t = w->team;
    float *sum = t->worker[0].dparam;
    double square = 0;

    for (int r = 1; r < t->size; r++) {
        const float *more = t->worker[r].dparam;
        for (size_t i = from; i < to; i++)
            sum[i] += more[i];
    }
    if (t->s->plan.grad_clip > 0) {
        for (size_t i = from; i < to; i++)
            square += (double)sum[i] * (double)sum[i];
    }
    return square;
}

static void update_slice(const struct backend_plan *p, struct cpu_model *m, const float *gradient,
                         float scale, double lr_, uint64_t step, size_t from, size_t to)
{
    float lr = (float)lr_, decay = (float)p->weight_decay, momentum = (float)p->momentum;
    float b1 = (float)p->beta1, b2 = (float)p->beta2, epsilon = (float)p->epsilon;
    float fix1 = (float)(1 - pow(p->beta1, (double)(step + 1)));
    float fix2 = (float)(1 - pow(p->beta2, (double)(step + 1)));
    float coupled = p->optimizer == SPEC_ADAMW ? 0 : decay;

    for (size_t i = from; i < to; i++) {
        float w = m->param[i], g = gradient[i] * scale + coupled * w, v;
        switch (p->optimizer) {
        case SPEC_SGD:
            w -= lr * g;
            break;
        case SPEC_MOMENTUM:
            v = m->slot1[i] = g + momentum * m->slot1[i];
            w -= lr * v;
            break;
        case SPEC_NESTEROV:
            v = m->slot1[i] = g + momentum * m->slot1[i];
            w -= lr * (g + momentum * v);
            break;
        case SPEC_ADAM:
        case SPEC_ADAMW:
            m->slot1[i] = b1 * m->slot1[i] + (1 - b1) * g;
            m->slot2[i] = b2 * m->slot2[i] + (1 - b2) * g * g;
            v = (m->slot1[i] / fix1) / (sqrtf(m->slot2[i] / fix2) + epsilon);
            if (p->optimizer == SPEC_ADAMW)
                v += decay * w;
            w -= lr * v;
            break;
        }
        m->param[i] = w;
    }
}

/* Called by the whole team after a barrier; ends with one. */
void cpu_update(struct cpu_worker *w, struct cpu_model *m, double lr, uint64_t step)
{
    struct cpu_team *t = w->team;
    struct backend_session *s = t->s;
    size_t slice = (s->params / (size_t)t->size + CPU_LANES) / CPU_LANES * CPU_LANES;
    size_t from = slice * (size_t)w->rank < s->params ? slice * (size_t)w->rank : s->params;
    size_t to = from + slice < s->params ? from + slice : s->params;
    float scale = 1;

    w->square = reduce(w, from, to);
    if (s->plan.grad_clip > 0) {
        double square = 0;
        cpu_barrier(w);
        for (int r = 0; r < t->size; r++)
            square += t->worker[r].square;
        if (sqrt(square) > s->plan.grad_clip)
            scale = (float)(s->plan.grad_clip / sqrt(square));
    }
    update_slice(&s->plan, m, t->worker[0].dparam, scale, lr, step, from, to);
    if (w->rank == 0 && s->stats)
        memcpy(m->stat, t->next_stat, s->stats * sizeof *m->stat);
    cpu_barrier(w);
    cpu_pack(w, m);
    cpu_barrier(w);
}
