/* cuda/launch/steps.h: the two ends of a step: images in, losses out, the update, the clock. */
#ifndef CHORUS_CUDA_LAUNCH_STEPS_H
#define CHORUS_CUDA_LAUNCH_STEPS_H

#include "cuda/kernels/gather_args.h"
#include "cuda/launch/launch.h"
#include "cuda/kernels/update_args.h"
#include "engine/backend.h"

struct cuda_gather {
    struct cuda_images from;
    enum cuda_math math;
    int models;            /* 1 where all models take the same images */
    int n;                 /* images of this place and model */
    size_t batch, first;   /* global batch, and where this place's images begin in it */
    const uint32_t *order; /* device (models; order_stride) */
    size_t order_stride;
    unsigned augment;
    int crop_pad;
    /* Elements between the places of even and of odd batches; 0: all have one place. */
    size_t x_turn, label_turn;
};
/* Images order[batch * clock->batch + first + i] into x (n, h, w, c), their labels into label
 * (models; n), exactly as data_image and data_image_augmented give them (then rounded to bf16 where
 * that is the storage). */
void cuda_gather(struct cuda_list *l, const struct cuda_gather *g, const struct dev_clock *clock,
                 struct cuda_view x, uint16_t *label);
/* The same for a kernel that gathers besides its own work (cuda/launch/side.h). */
struct gather_args cuda_gather_args(const struct cuda_gather *g, const struct dev_clock *clock,
                                    struct cuda_view x, uint16_t *label);
/* Images *at, *at + 1, ... of a part for evaluation; what lies behind count repeats the last. at: on
 * the device. */
void cuda_gather_plain(struct cuda_list *l, const struct cuda_images *from, enum cuda_math math,
                       int n, const uint32_t *at, struct cuda_view x);

struct cuda_loss {
    enum cuda_math math;
    int models, n, outputs;
    int shards; /* units of a model on this place: virtual devices; 1 in an ensemble */
    float
        weight; /* of an image's loss in the gradient: 1 / (shard * all devices), or 1 / all devices
                      where the loss is a sum */
};
/* logits z (models; n, outputs) -> dz and a row of results (units) at results[clock->row * units];
 * units: models * shards. Sums in a fixed order, in double. *flag: how many units' losses were not
 * finite; it is reduced over all places together with the gradients. */
void cuda_loss(struct cuda_list *l, const struct cuda_loss *c, const struct dev_clock *clock,
               struct cuda_view z, const uint16_t *label, size_t label_stride, struct cuda_view dz,
               struct cuda_result *results, float *flag);

/* The last dense layer, of few outputs, and the loss as one kernel: z = x weight + bias, then as
 * cuda_loss; dx, if it goes anywhere, as cuda_conv_input gives it, gated by x where `gated`. */
struct cuda_tail {
    enum cuda_math math;
    int models, n, c, outputs, shards;
    enum cuda_act act;
    bool gated;
    float weight; /* as cuda_loss has it */
};
struct cuda_tail_at {
    struct cuda_view x, weight, bias, z, dz, dx; /* bias and dx may be NULL */
    const uint16_t *label;
    size_t label_stride, label_turn; /* label_turn: as cuda_gather has it */
    void *scratch;                   /* cuda_tail_scratch bytes */
    uint32_t *turns;                 /* cuda_tail_turns bytes; 0, and 0 again behind it */
};
bool cuda_tail_can(const struct cuda_tail *t);
size_t cuda_tail_scratch(const struct cuda_tail *t);
size_t cuda_tail_turns(const struct cuda_tail *t);
void cuda_tail(struct cuda_list *l, const struct cuda_tail *t, const struct dev_clock *clock,
               const struct cuda_tail_at *at, struct cuda_result *results, float *flag);

struct cuda_update {
    int models;
    size_t n; /* parameters of a model */
    enum spec_optimizer optimizer;
    double momentum, beta1, beta2, epsilon, weight_decay, grad_clip; /* grad_clip 0: none */
    size_t stats; /* running statistics of a model */
};
/* One update of every parameter by ref/ref_update.inc's formulas from the mean gradient; the bf16
 * copy where there is one; running = 0.9 running + 0.1 batch. Nothing where clock->halted. lr: pinned
 * or on the device, read at clock->row. scratch: of cuda_update_scratch bytes, for the norm. */
size_t cuda_update_scratch(const struct cuda_update *u);
void cuda_update(struct cuda_list *l, const struct cuda_update *u, const struct dev_clock *clock,
                 const double *lr, void *scratch, struct cuda_view gradient,
                 struct cuda_view params, struct cuda_view slot1, struct cuda_view slot2,
                 struct cuda_view half, struct cuda_view batch_stats, struct cuda_view running);
/* The same by whoever ends a gradient (cuda/launch/conv.h), of what lies as the gradient does: one stride for
 * all. Without clipping, which needs the norm of all gradients, and without running statistics. */
struct update_here cuda_update_here(const struct cuda_update *u, const struct dev_clock *clock,
                                    const double *lr, const void *gradient, void *params,
                                    void *slot1, void *slot2, void *half);
/* The last kernel of a step: where *flag (over all places) is not 0, the clock halts; step, batch, row
 * and done go on (not once halted: the step that was not finite is the last that counts). */
void cuda_tick(struct cuda_list *l, struct dev_clock *clock, const float *flag);
/* half = bf16(params), n a model. */
void cuda_halve(struct cuda_list *l, int models, size_t n, struct cuda_view params,
                struct cuda_view half);

/* Mean over virtual devices with gradients of their own (for tests): to[i] = sum over parts in the
 * tree of ref_update.inc, times factor. parts: (parts; n). */
void cuda_mean_parts(struct cuda_list *l, int parts, size_t n, double factor, const float *from,
                     float *to);

#endif
