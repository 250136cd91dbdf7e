/* cuda/backend.c: the table. */
#include "cuda/cuda_int.h"

#include "base/clock.h"

#include <stdio.h>

#define GAUGE_NS 200000000u /* for so long an answer will do */

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

/* What it says is some tenths of a second old itself, and takes longer to ask for than a small network's
 * epoch; devices that share a GPU share the answer. */
static void gauge(struct backend_session *s, int device, struct backend_gauge *out)
{
    struct cuda_place *p = &s->place[cuda_place_of(&s->plan, device, s->places)];
    uint64_t now = clock_ns();

    if (!p->gauged || now - p->gauged > GAUGE_NS) {
        cuda_gauge_read(p->share.gpu, &p->gauge);
        p->gauged = now;
    }
    *out = (struct backend_gauge){.gpu = p->share.gpu,
                                  .percent = p->gauge.percent,
                                  .memory = p->gauge.memory_used,
                                  .celsius = p->gauge.celsius,
                                  .watts = p->gauge.watts};
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
