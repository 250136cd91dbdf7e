/* cuda/need.c: how much of a GPU's memory a session will take, said before one is opened: its own block
 * is counted to the byte; what the driver and the libraries take besides is by what was seen of them. */
#include "cuda/cuda_int.h"
#include "cuda/dnn/dnn.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

#define MB ((size_t)1 << 20)

/* Memory is given out in pages of so much. */
#define PAGE (2 * MB)
/* Kernels are loaded when they are first needed; all of this part's are no more than this. */
#define KERNELS (8 * MB)
/* A node of a graph: its arguments and how it is started. */
#define NODE 1024
/* cuDNN's handle and the kernels of its plans. */
#define DNN (48 * MB)
/* NCCL: what each of its channels keeps for each neighbour in its three ways to send, how many channels
 * it takes between GPUs of a kind that has NVLink, and what it begins with. */
#define NCCL_CHANNEL  (5 * MB)
#define NCCL_CHANNELS 16
#define NCCL_BASE     (32 * MB)
/* A step takes no less than this many seconds for each operation, as net->flops counts them (an H200's
 * tensor cores do 989e12 a second in bf16), nor for each kernel. */
#define LEAST_FLOP   1e-15
#define LEAST_LAUNCH 1.5e-6

static size_t most_steps(const struct backend_plan *plan, const struct cuda_layout *l, size_t nodes)
{
    double work = plan->net->flops * (double)l->images * (double)l->models * LEAST_FLOP;
    double wait = (double)nodes * LEAST_LAUNCH, ms = 1e3 * (work > wait ? work : wait);
    size_t largest = 1;

    while (largest < (size_t)1 << (CUDA_GRAPHS - 1) && ms * 2 * (double)largest <= CUDA_GRAPH_MS)
        largest *= 2;
    return 2 * largest - 1; /* of all graphs, each twice as long as the one before */
}

static size_t group_bytes(int places)
{
    size_t neighbours = places > 2 ? 4 : 2; /* in its ring, and in its tree */

    return NCCL_BASE + NCCL_CHANNELS * NCCL_CHANNEL * neighbours;
}

size_t cuda_need_libraries(const struct backend_plan *plan, const struct cuda_layout *l, int places,
                           bool dnn)
{
    size_t nodes = 8 + 5 * (size_t)l->pieces.n, bytes = KERNELS; /* forwards, and three backwards */

    if (plan->mode != SPEC_ENSEMBLE && places > 1)
        bytes += group_bytes(places);
    if (dnn)
        bytes += DNN;
    return bytes + most_steps(plan, l, nodes) * nodes * NODE;
}

/* dnn: cuDNN does what suits it. */
static enum err_code need_of(const struct backend_plan *plan, const struct cuda_share *share,
                             int places, bool dnn, struct cuda_need *out, struct err *e)
{
    struct cuda_gpu_facts facts;
    struct cuda_layout l;
    enum err_code code = cuda_layout_make(&l, plan, share, e);

    *out = (struct cuda_need){0};
    if (code == ERR_OK) {
        size_t scratch = dnn ? cuda_dnn_expected(plan->net, &l) : 0;

        cuda_layout_scratch(&l, scratch);
        out->libraries = cuda_need_libraries(plan, &l, places, scratch > 0);
        out->block = cuda_round(l.bytes, PAGE);
        if (cuda_rt()->facts(share->gpu, &facts) == 0)
            out->context = facts.context;
    }
    cuda_layout_free(&l);
    return code;
}

enum err_code cuda_need_within(const struct backend_plan *plan, struct cuda_share *share,
                               int places, size_t room, struct cuda_need *out, struct err *e)
{
    static const struct {
        bool dnn, streams;
    } ways[] = {{true, false}, {true, true}, {false, false}, {false, true}};
    bool streams = false, any = false;

    for (size_t i = cuda_dnn_wanted(plan) ? 0 : 2; i < MEM_COUNT(ways); i++) {
        struct cuda_need need;

        share->streams = ways[i].streams;
        if (cuda_hooks.stream && !share->streams)
            continue;
        TRY(need_of(plan, share, places, ways[i].dnn, &need, e));
        if (!any || need.block + need.libraries < out->block + out->libraries) {
            *out = need;
            streams = share->streams;
        }
        any = true;
        if (out->block + out->libraries <= room)
            break;
    }
    share->streams = streams;
    return ERR_OK;
}

/* Whether the same experiment fits there with another batch. */
static bool with_batch(struct backend_plan plan, size_t batch, int place, size_t room)
{
    struct cuda_share *share = mem_new(CUDA_PLACES, sizeof *share);
    int gpu[CUDA_GPUS], usable = cuda_usable_gpus(gpu, NULL), places;
    struct cuda_need need;
    bool fits;

    plan.batch = batch;
    fits = usable && cuda_share(&plan, gpu, usable, share, &places, NULL) == ERR_OK &&
           place < places &&
           cuda_need_within(&plan, &share[place], places, room, &need, NULL) == ERR_OK &&
           need.block + need.libraries <= room;
    free(share);
    return fits;
}

size_t cuda_need_batch(const struct backend_plan *plan, int place, size_t room)
{
    for (size_t batch = plan->batch / 2; batch > 0; batch /= 2) {
        if (plan->mode != SPEC_ENSEMBLE)
            batch -= batch % (size_t)plan->devices;
        if (batch && with_batch(*plan, batch, place, room))
            return batch;
    }
    return 0;
}

void cuda_need_advice(const struct backend_plan *plan, int place, int places, size_t room,
                      struct text *out)
{
    size_t batch = cuda_need_batch(plan, place, room);
    bool bf16 = plan->precision == SPEC_BF16, many = plan->mode == SPEC_ENSEMBLE;

    if (batch)
        text_addf(out, "a batch of %zu would fit", batch);
    else
        text_add(out, "no smaller batch would fit");
    if (many && plan->members > 1)
        text_add(out, "; fewer members need less");
    else if (places < plan->devices)
        text_add(out, "; more GPUs need less each");
    if (!bf16)
        text_add(out, "; precision = bf16 needs less");
}
