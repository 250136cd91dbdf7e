/* cuda/launch/layers.h: all layers but convolution and dense: pools, activations, batch norm, dropout, sums.
 * Formulas are those of ref/ref_layers.inc. Activations (models; n, h, w, c) in the storage of `math`.
 * Backward functions write dx, or add to it where `add` is set. No atomics on floats: the same call
 * gives the same bits. */
#ifndef CHORUS_CUDA_LAUNCH_LAYERS_H
#define CHORUS_CUDA_LAUNCH_LAYERS_H

#include "cuda/launch/launch.h"

struct cuda_shape { /* what a layer reads, for all models of a place */
    int models;
    int n, h, w, c;
    enum cuda_math math;
};

void cuda_act_forward(struct cuda_list *l, const struct cuda_shape *s, enum cuda_act act,
                      struct cuda_view x, struct cuda_view y);
/* y: what forward gave out. dx may be dy. */
void cuda_act_backward(struct cuda_list *l, const struct cuda_shape *s, enum cuda_act act,
                       struct cuda_view y, struct cuda_view dy, bool add, struct cuda_view dx);

struct cuda_pool {
    int k, stride, oh, ow;
    bool max;
};
void cuda_pool_forward(struct cuda_list *l, const struct cuda_shape *s, const struct cuda_pool *p,
                       struct cuda_view x, struct cuda_view y);
/* x: what forward read (max alone, else NULL). Where windows overlap the sums are taken in a fixed
 * order (gathered from dx's side). gate, act: as cuda_conv_input, of what the pool read. */
void cuda_pool_backward(struct cuda_list *l, const struct cuda_shape *s, const struct cuda_pool *p,
                        struct cuda_view x, struct cuda_view dy, struct cuda_view gate,
                        enum cuda_act act, bool add, struct cuda_view dx);
void cuda_mean_forward(struct cuda_list *l, const struct cuda_shape *s, struct cuda_view x,
                       struct cuda_view y); /* globalavgpool */
void cuda_mean_backward(struct cuda_list *l, const struct cuda_shape *s, struct cuda_view dy,
                        struct cuda_view gate, enum cuda_act act, bool add, struct cuda_view dx);

/* y = x + x2 (residual), then act. */
void cuda_add_forward(struct cuda_list *l, const struct cuda_shape *s, struct cuda_view x,
                      struct cuda_view x2, enum cuda_act act, struct cuda_view y);
/* to += from, or to = from where add is not set. */
void cuda_add_to(struct cuda_list *l, const struct cuda_shape *s, struct cuda_view from, bool add,
                 struct cuda_view to);

/* Dropout, forward and (from dy to dx) backward. key: device, (models, 2): fold_in(model's key,
 * 0x80000000 + the layer's number); the kernel folds in clock->step. first: place of image 0 of this
 * place in the model's global batch. */
void cuda_dropout(struct cuda_list *l, const struct cuda_shape *s, double rate, const uint32_t *key,
                  const struct dev_clock *clock, size_t first, struct cuda_view from, bool add,
                  struct cuda_view to);

/* ---- batch norm. Statistics are taken in groups of images (a group a virtual device, or one over
 * all of a place). stats: fp32 (models; groups, 2, c): mean, then biased variance. ---- */

struct cuda_norm {
    int groups; /* divides n */
    /* Where not NULL, cuda_norm_statistics does what cuda_norm_batch_mean does (out, factor) and
     * cuda_norm_back_sums what cuda_norm_gradient does, with one group in no launch of its own. */
    struct cuda_view mean_stats, dscale, dbias;
    double mean_factor;
};
/* Bytes of scratch for the sums' parts; as cuda_conv_scratch. */
size_t cuda_norm_scratch(const struct cuda_shape *s, const struct cuda_norm *b);
/* Mean and biased variance of each group, finished: mean first, then squares about it (or any way as
 * exact), in a fixed order. */
void cuda_norm_statistics(struct cuda_list *l, const struct cuda_shape *s,
                          const struct cuda_norm *b, struct cuda_view x, void *scratch,
                          struct cuda_view stats);
/* Synchronised over several places: mean first, then variance about it. sums: (models; c) fp32, to be
 * summed over all places between the two halves; count: values of a channel over all places. */
void cuda_norm_sum(struct cuda_list *l, const struct cuda_shape *s, struct cuda_view x,
                   void *scratch, struct cuda_view sums);
void cuda_norm_mean(struct cuda_list *l, const struct cuda_shape *s, double count,
                    struct cuda_view sums, struct cuda_view stats);
void cuda_norm_squares(struct cuda_list *l, const struct cuda_shape *s, struct cuda_view x,
                       void *scratch, struct cuda_view stats, struct cuda_view sums);
void cuda_norm_variance(struct cuda_list *l, const struct cuda_shape *s, double count,
                        struct cuda_view sums, struct cuda_view stats);
/* y = act((x - mean) / sqrt(var + 1e-5) * scale + bias (+ x2)). x2 may be NULL (a residual sum fused).
 * stats with stride and groups as above; in evaluation groups = 1 and stats = the running ones:
 * mean and var are given apart. */
struct cuda_norm_stats {
    struct cuda_view mean, var; /* fp32 (models; groups, ...) */
    size_t group_stride;        /* elements between groups; 0: all the same */
};
void cuda_norm_forward(struct cuda_list *l, const struct cuda_shape *s, const struct cuda_norm *b,
                       struct cuda_view x, const struct cuda_norm_stats *stats,
                       struct cuda_view scale, struct cuda_view bias, struct cuda_view x2,
                       enum cuda_act act, struct cuda_view y);
/* sums: fp32 (models; groups, 2, c): dscale and dbias of each group: sum dy * xhat, sum dy. */
void cuda_norm_back_sums(struct cuda_list *l, const struct cuda_shape *s, const struct cuda_norm *b,
                         struct cuda_view x, const struct cuda_norm_stats *stats,
                         struct cuda_view dy, void *scratch, struct cuda_view sums);
/* dx from dy, where sums are over `count` values a channel (all places where synchronised). */
void cuda_norm_back_input(struct cuda_list *l, const struct cuda_shape *s,
                          const struct cuda_norm *b, double count, struct cuda_view x,
                          const struct cuda_norm_stats *stats, struct cuda_view scale,
                          struct cuda_view sums, struct cuda_view dy, bool add,
                          struct cuda_view dx);
/* Gradients of scale and bias: the groups' sums added in order. */
void cuda_norm_gradient(struct cuda_list *l, const struct cuda_shape *s, const struct cuda_norm *b,
                        struct cuda_view sums, struct cuda_view dscale, struct cuda_view dbias);
/* batch statistics of all groups of this place, added up and times factor (1 / all devices), to
 * out (models; 2, c): what enters the running ones once summed over places. */
void cuda_norm_batch_mean(struct cuda_list *l, const struct cuda_shape *s,
                          const struct cuda_norm *b, double factor,
                          const struct cuda_norm_stats *stats, struct cuda_view out);

#endif
