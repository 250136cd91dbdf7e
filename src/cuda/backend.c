/* cuda/backend.c: the table. */
#include "cuda/cuda_int.h"
#include "cuda/gauge.h"

#include <math.h>
#include <stdio.h>

/* The GPU that comes first: all of a session are of one kind, or its slowest decides. */
static const char *isa(void)
{
    static _Thread_local char name[128];
    struct cuda_gpu_facts facts;
    int gpu[CUDA_GPUS];

    if (!cuda_usable_gpus(gpu, NULL) || cuda_rt()->facts(gpu[0], &facts))
        return "no GPU";
    snprintf(name, sizeof name, "%s, sm_%d%d", facts.name, facts.major, facts.minor);
    return name;
}

static void gauge(struct backend_session *s, int device, struct backend_gauge *out)
{
    const struct cuda_share *share = &s->place[cuda_place_of(&s->plan, device, s->places)].share;
    struct cuda_gauge g = {NAN, NAN, NAN, NAN, NAN};

    cuda_gauge_read(share->gpu, &g);
    *out = (struct backend_gauge){.gpu = share->gpu,
                                  .percent = g.percent,
                                  .memory = g.memory_used,
                                  .celsius = g.celsius,
                                  .watts = g.watts};
}

const struct backend cuda_session_backend = {
    .name = "cuda",
    .can = cuda_can,
    .estimate = cuda_estimate,
    .isa = isa,
    .open = cuda_open,
    .close = cuda_close,
    .train = cuda_train,
    .evaluate = cuda_evaluate,
    .state = cuda_state,
    .peek = cuda_peek,
    .gauge = gauge,
    .plans = cuda_plans,
};
