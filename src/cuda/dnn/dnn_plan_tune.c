/* cuda/dnn/dnn_plan_tune.c: which of several plans is the quickest on the GPU that is here. */
#include "cuda/cuda_int.h"
#include "cuda/dnn/dnn_plan.h"

#define ROUNDS 3
#define TIMES  10   /* executions a round */
#define CLEAR  0.97 /* of the first plan's time: what takes more is not worth other bits */

struct bed { /* what a plan is timed on */
    const struct cuda_dnn_api *api;
    const struct cuda_dnn_for *who;
    struct cuda_stream *stream;
    struct cuda_event *event[2];
    char *memory;
    void *address[3]; /* X, W, Y */
    void *workspace;
    int limit_ms;
    bool hangs;
};

static size_t room_of(size_t elements, const struct cuda_conv *c)
{
    return cuda_round(elements * cuda_element(c->math), 256);
}

/* False where the GPU has no memory for it. */
static bool open_bed(struct bed *b, const struct cuda_conv *c, size_t workspace)
{
    const struct cuda_rt *rt = cuda_rt();
    size_t n = (size_t)c->n, in = (size_t)c->c, out = (size_t)c->oc;
    size_t bytes[3] = {room_of(n * (size_t)c->h * (size_t)c->w * in, c),
                       room_of((size_t)c->k * (size_t)c->k * in * out, c),
                       room_of(n * (size_t)c->oh * (size_t)c->ow * out, c)};
    size_t all = bytes[0] + bytes[1] + bytes[2] + cuda_round(workspace, 256);
    void *memory = NULL;

    if (rt->take(&memory, all))
        return false;
    b->memory = memory;
    b->workspace = memory;
    b->address[0] = b->memory + cuda_round(workspace, 256);
    b->address[1] = (char *)b->address[0] + bytes[0];
    b->address[2] = (char *)b->address[1] + bytes[1];
    /* No zeros, which some GPUs multiply quicker: 0.0115 in fp32 as in bf16. */
    return !rt->set(b->memory, 0x3c, all, b->stream) && !rt->event_open(&b->event[0]) &&
           !rt->event_open(&b->event[1]);
}

/* Whether all is done, without an error. */
static bool settle(struct bed *b)
{
    int error = b->hangs ? CUDA_RT_NOT_READY : cuda_wait_within(b->stream, b->limit_ms);

    b->hangs = error == CUDA_RT_NOT_READY;
    return !error;
}

static void close_bed(struct bed *b)
{
    const struct cuda_rt *rt = cuda_rt();

    (void)settle(b);
    if (b->hangs) /* to give anything back would wait for it */
        return;
    for (int i = 0; i < 2; i++)
        if (b->event[i])
            rt->event_close(b->event[i]);
    rt->give(b->memory);
}

/* Milliseconds; negative: it cannot be told. */
static double round_of(struct bed *b, const struct cuda_dnn_plan *plan, dnn_descriptor pack)
{
    const struct cuda_rt *rt = cuda_rt();
    bool good = !rt->event_record(b->event[0], b->stream);
    float ms = -1;

    for (int i = 0; i < TIMES && good; i++)
        good = !b->api->execute(b->who->handle, plan->plan, pack);
    good = good && !rt->event_record(b->event[1], b->stream) && settle(b) &&
           !rt->event_ms(b->event[0], b->event[1], &ms);
    return good ? (double)ms : -1;
}

/* The best of some rounds, behind one execution that loads what is loaded late. */
static double time_of(struct bed *b, const struct cuda_dnn_plan *plan)
{
    const int64_t uids[3] = {CUDA_DNN_X, CUDA_DNN_W, CUDA_DNN_Y};
    dnn_descriptor pack = NULL;
    double best = -1;

    if (b->api->descriptor(DNN_VARIANT_PACK_DESCRIPTOR, &pack))
        return -1;
    b->api->set(pack, DNN_VARIANT_PACK_DATA_POINTERS, DNN_TYPE_VOID_PTR, 3, b->address);
    b->api->set(pack, DNN_VARIANT_PACK_UNIQUE_IDS, DNN_TYPE_INT64, 3, uids);
    b->api->set(pack, DNN_VARIANT_PACK_WORKSPACE, DNN_TYPE_VOID_PTR, 1, &b->workspace);
    if (!b->api->finalize(pack) && !b->api->execute(b->who->handle, plan->plan, pack))
        for (int i = 0; i < ROUNDS && !b->hangs; i++) {
            double ms = round_of(b, plan, pack);

            best = ms >= 0 && (best < 0 || ms < best) ? ms : best;
        }
    (void)settle(b);
    if (!b->hangs)
        b->api->discard(pack);
    return best;
}

int cuda_dnn_quickest(const struct cuda_dnn_for *who, struct cuda_stream *s, int limit_ms,
                      const struct cuda_conv *c, const struct cuda_dnn_plan *plan, int n)
{
    struct bed b = {.api = cuda_dnn_api(NULL), .who = who, .stream = s, .limit_ms = limit_ms};
    size_t workspace = 0;
    double best = 0;
    int found = CUDA_DNN_UNTIMED;

    for (int i = 0; i < n; i++)
        workspace = plan[i].workspace > workspace ? plan[i].workspace : workspace;
    if (n < 2 || !b.api)
        return found;
    if (open_bed(&b, c, workspace))
        for (int i = 0; i < n && !b.hangs; i++) {
            double ms = time_of(&b, &plan[i]);

            if (ms >= 0 && (found < 0 || ms < best)) {
                best = i == 0 ? ms * CLEAR : ms;
                found = i;
            }
        }
    close_bed(&b);
    return b.hangs ? CUDA_DNN_NO_ANSWER : found;
}
