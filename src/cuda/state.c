/* cuda/state.c: parameters, running statistics and slots, in and out. On the device each tensor begins
 * at a round address; Flax's layouts are the host's. */
#include "cuda/cuda_int.h"

#include <string.h>

struct state_work {
    enum backend_kind kind;
    bool set;
    void *buffer;
    int model;                     /* of the place */
    const struct cuda_place *only; /* the place that is meant; NULL: all */
};

/* Byte offset of a model's numbers, and how many they are with what lies between tensors. */
static size_t where(const struct cuda_layout *l, const struct state_work *w, size_t *elements)
{
    size_t at;

    *elements = w->kind == BACKEND_STATS ? l->stats : l->params;
    switch (w->kind) {
    case BACKEND_PARAMS:
        at = l->param;
        break;
    case BACKEND_STATS:
        at = l->running;
        break;
    case BACKEND_SLOT1:
        at = l->slot[0];
        break;
    default:
        at = l->slot[1];
        break;
    }
    return at == SIZE_MAX ? at : at + (size_t)w->model * *elements * sizeof(float);
}

/* Between the caller's floats and those of the bounce buffer. */
static void move(const struct cuda_place *p, const struct state_work *w)
{
    const struct net *net = p->session->plan.net;
    bool stats = w->kind == BACKEND_STATS;
    const struct net_tensor *tensor = stats ? net->stat : net->param;
    const size_t *at = stats ? p->layout.stat_at : p->layout.param_at;

    for (int i = 0; i < (stats ? net->stats : net->params); i++) {
        float *host = (float *)w->buffer + tensor[i].offset, *here = (float *)p->bounce + at[i];

        memcpy(w->set ? here : host, w->set ? host : here, tensor[i].count * sizeof *host);
    }
}

/* The bf16 copy of a model's weights. */
static enum err_code halve(struct cuda_place *p, int model, struct err *e)
{
    const struct cuda_layout *l = &p->layout;
    size_t at = (size_t)model * l->params;
    struct cuda_list list = {0};
    enum err_code code;

    cuda_halve(&list, 1, l->params,
               (struct cuda_view){p->memory + l->param + at * sizeof(float), l->params},
               (struct cuda_view){p->memory + l->half + at * 2, l->params});
    code = cuda_list_run(&list, p->share.gpu, p->stream, e);
    cuda_list_free(&list);
    return code == ERR_OK ? cuda_place_wait(p, e) : code;
}

static enum err_code state_job(struct cuda_place *p, void *arg, struct err *e)
{
    const struct state_work *w = arg;
    size_t elements, at = where(&p->layout, w, &elements);

    if (w->only && w->only != p)
        return ERR_OK;
    if (!elements)
        return ERR_OK;
    TRY(cuda_place_bounce(p, elements * sizeof(float), e));
    if (w->set) {
        memset(p->bounce, 0, elements * sizeof(float));
        move(p, w);
        TRY(cuda_place_copy(p, p->memory + at, p->bounce, elements * sizeof(float), "state", e));
        TRY(cuda_place_wait(p, e));
        return w->kind == BACKEND_PARAMS && p->layout.half != SIZE_MAX ? halve(p, w->model, e)
                                                                       : ERR_OK;
    }
    TRY(cuda_place_copy(p, p->bounce, p->memory + at, elements * sizeof(float), "state", e));
    TRY(cuda_place_wait(p, e));
    move(p, w);
    return ERR_OK;
}

enum err_code cuda_state(struct backend_session *s, int member, enum backend_kind kind, bool set,
                         void *buffer, struct err *e)
{
    struct state_work w = {.kind = kind, .set = set, .buffer = buffer};
    bool ensemble = s->plan.mode == SPEC_ENSEMBLE;
    int slot = kind == BACKEND_SLOT1 ? 1 : kind == BACKEND_SLOT2 ? 2 : 0;
    const struct cuda_place *p = cuda_session_place(s, member, &w.model);

    if (!p)
        return err_set(e, ERR_FAILED, "backend cuda has no member %d: there are %d", member,
                       ensemble ? s->plan.members : 1);
    if (slot > backend_slots(s->plan.optimizer))
        return err_set(e, ERR_FAILED, "this optimizer keeps %d slots a parameter, not %d",
                       backend_slots(s->plan.optimizer), slot);
    w.only = set && !ensemble ? NULL : p; /* replicas are set all alike, and are all alike */
    return cuda_session_all(s, state_job, &w, e);
}
