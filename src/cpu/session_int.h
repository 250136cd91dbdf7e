/* cpu/session_int.h: what the files of this room share beside the kernels: how a net's layers are done, the
 * models, the threads in their teams, and the session that holds it all. */
#ifndef CHORUS_CPU_SESSION_INT_H
#define CHORUS_CPU_SESSION_INT_H

#include "cpu/blocks.h"
#include "cpu/cpu_int.h"

#include <pthread.h>
#include <stdatomic.h>

/* One layer as this backend runs it. A convolution does the relu and the pool behind it too, a batch
 * norm and a residual's sum the relu. */
struct cpu_layer {
    struct net_layer l; /* the net's, its in and out cut down to what somebody looks at */
    int index;
    size_t in, out; /* elements an image */
    struct cpu_conv_layer conv;
    const struct cpu_conv_ops *ops; /* conv: the family of kernels that does it */
    int tail;                       /* the layer whose output this one writes: itself, or the last
                                       of those that it does in one step */
    bool fused;                     /* done by a convolution in front */
    bool cut;                       /* some of the net's outputs are never computed */
    bool first, first2;             /* nobody needs the gradient of its input, of src2 */
    bool idle;                      /* nor that of its output: no parameter here or in front */
    bool reader_rounds; /* training in bf16: its only reader rounds what it makes, and the
                                       gradient to that, on its way */
    bool in_place;      /* its output lies over its source's */
    bool grad_in_place; /* so does the gradient */
    bool add, add2;     /* gradient to src / src2 is added: a later layer wrote it */
    int shared_before;  /* dense, with units: how many such layers lie in front */
    bool units;         /* threads share out its units over all images, not the images */
    bool own_slice;     /* each thread sums its weights' gradient in a vector of its own */
    bool wait_forward,
        wait_backward;           /* a barrier stands in front: its input, or the gradient to its
                                         output, comes from several threads */
    size_t kernel, bias;         /* offsets in the flat vector of parameters, ... */
    size_t kernel_own, bias_own; /* ... and in a thread's own vector of gradients */
    size_t mean, var, norm;      /* batch norm: in the statistics; in the team's norm */
    size_t pack;                 /* conv: offset in a model's packed weights, ... */
    size_t pack_train;           /* ... when training; spared: in the arena */
    bool tiles;                  /* dense: multiplied on tiles */
    size_t tile;                 /* ... offset in a model's weights for them */
    bool boundary;               /* of the pictures: layers behind them write the gradient to it */
    bool again;                  /* spared: its output is computed again when going backward */
    bool merge;                  /* spared: its kernel's gradients are summed as soon as they are
                                    there */
    int redo_from, redo_to;      /* spared: what is computed again before it goes backward */
    const struct cpu_conv_ops *ops_train; /* conv: ops, or of few images cpu_conv_blocks */
    struct cpu_blocks blocks;             /* ... the cut */
    bool dealt;                           /* ... threads share out the groups of blocks */
};

#define CPU_NOWHERE SIZE_MAX

/* Where the numbers of a layer's tail lie in a worker's part of the arena, in floats. */
struct cpu_lease {
    size_t act, back, grad; /* output going forward and backward, gradient to it */
    size_t scratch, scratch_back;
};

/* Parameters whose gradient each thread sums in a vector of its own; own: floats of such ranges in
 * front of this one. */
struct cpu_range {
    size_t from, to, own;
};

struct cpu_model {                /* a member, or the one model of data-parallel */
    float *param, *slot1, *slot2; /* dense kernels behind pictures with rows in (c, h, w) order */
    float *rounded;               /* bf16: the weights that kernels read; else param itself */
    float *stat;
    float *packed; /* convolutions' */
    float *tiles;  /* dense layers' on tiles, packed */
    struct rng_key key;
};

struct cpu_team;

/* One thread's own: nobody else writes here. */
struct cpu_worker {
    struct cpu_team *team;
    int rank;
    float **act, **back;           /* (layers): outputs, and those that going backward reads */
    int base;                      /* the place of the first group there */
    int shift;                     /* groups of the batch in front of those in the team's buffers */
    float **grad;                  /* (layers): of the chunk at hand, where the team keeps none */
    int chunk;                     /* its first group's number in the batch */
    float **train, **evaluate;     /* (layers), spared: act, when training and when evaluating */
    float *arena;                  /* spared: its part, of the job at hand */
    const struct cpu_lease *lease; /* ... NULL: all of it is scratch */
    unsigned barriers, packed, merged; /* passed; and before the packed weights at hand were used */
    float *scratch;           /* of convolutions; of dense layers a gradient turned round */
    float *own;               /* rank > 0: gradients of this thread's images (session's ranges) */
    float *picture;           /* one image, (h, w, c) */
    struct cpu_norm *channel; /* (channels) */
    struct cpu_update update; /* the step at hand */
    double square;            /* of the gradient's slice, for clipping */
    const struct cpu_job *job;
    bool stopped;               /* an evaluation was given up */
    bool committed;             /* the step can be given up no more */
    const uint32_t *held_order; /* whose images lie in the team's buffer: nothing where NULL */
    size_t held_batch;
};

/* Threads that share the steps of one model at a time. Outputs' buffers hold `places` groups, those of
 * gradients and masks a batch's: when training, group g of the batch lies at place g. Of a batch in pieces
 * they hold a piece of each thread's, and g lies at g - shift of its worker; images are a batch's always. */
struct cpu_team {
    struct backend_session *s;
    int size, first_model, model_step; /* models first_model, + model_step, ... are this team's */
    int places;
    float *images;           /* [places, or a batch's groups][c][h][w][lanes] */
    float **act, **grad;     /* (layers): outputs, and gradients to them; NULL: done in one step
                                  with others, or in the workers' own buffers */
    uint16_t **keep, **pass; /* (layers): dropout's masks; conv.h's, by convolution */
    float *dparam;           /* the gradient; rank 0 sums its images' here */
    float *arena;            /* spared: packed weights of the layer at hand and the workers' parts;
                                  when evaluating, those of all layers and other parts */
    struct cpu_worker *worker; /* (size) */
    atomic_int arrived;
    atomic_uint phase;
    atomic_bool abandon; /* the step is given up: set by whoever saw the stop flag */
    bool go;             /* rank 0's word to the others: the next step is made */
    double *sums;        /* batch norm: (segments, channels, 2), by whoever has the group */
    double *norm;        /* of all batch norms: (spans, channels) mean and variance of the batch */
    float *next_stat;    /* running statistics after the step, if it is made */
    float *image_loss;   /* (batch) */
    uint8_t *image_right;
};

struct cpu_job { /* what the threads are woken for */
    enum { CPU_TRAIN, CPU_EVALUATE, CPU_PACK, CPU_QUIT } kind;
    const struct backend_span *span;
    struct backend_step *results;
    const struct data_part *part;
    size_t first, count;
    const atomic_bool *stop;
    float *logits;
    int model; /* to pack */
};

struct backend_session {
    struct backend_plan plan;
    const struct cpu_kernels *whole_k; /* of 16 lanes */
    const struct cpu_kernels *k;       /* the same, or half of them */
    size_t lanes;                      /* images of a group */
    const struct cpu_tiles *tiles;     /* bf16: where there are some */
    struct cpu_layer *layer;
    int layers;
    int pictures; /* layers in front of the first that wants all images at once: run chunk by chunk */
    int chunk;    /* groups at a time there */
    int piece;    /* groups that a thread takes forward and backward at a time; 0: all */
    bool dealt;   /* some layers are: all threads go through the only group's layers together */
    bool spare;   /* all memory of activations does, and they are computed again: spare.c */
    bool whole;   /* ... which are all: the team keeps their gradients too, for peek */
    bool bf16;
    struct cpu_model *model; /* (members) */
    size_t packed_count, tile_count, params, stats;
    size_t norm_count, channels; /* batch norms' channels: of all, of the widest */
    struct cpu_range *range;     /* (ranges) */
    int ranges;
    size_t own_count; /* floats of all ranges */
    size_t own_room;  /* floats of a thread's own vector, ... */
    size_t own_kept;  /* ... of which so many are kept until the step's end */
    struct cpu_lease *lease, *lease_evaluate; /* (layers), spared */
    int *redo;                                /* tails to be computed again, in order */
    size_t part, part_evaluate; /* spared: floats of a worker's part of the arena, ... */
    size_t part_helper;         /* ... when training, of one without groups, ... */
    size_t slot;                /* ... and of packed weights when training: of the largest layer
                                   and of those that are computed again */
    int batch_groups;           /* of a global batch */
    int spans; /* parts of the batch that have statistics of their own: devices, or 1 */
    struct cpu_team *team;
    int teams, threads;
    pthread_t *thread;
    int started;
    pthread_mutex_t lock; /* guards job_number, running, ending, furthest */
    pthread_cond_t wake, done;
    unsigned job_number;
    int running;
    bool ending;        /* no team may begin a step beyond `furthest` */
    int64_t furthest;   /* step of the span that some team has begun; -1 */
    struct cpu_job job; /* written by the session's user while no thread runs */
    void **memory;      /* all that was allocated */
    size_t pieces, memory_room, failed_bytes;
    bool counting; /* an estimate: pieces are counted, not taken */
    double counted;
    bool given_back; /* spared: the arena holds nothing */
    bool packed;     /* for evaluating, too, where that takes other kernels */
    bool trained;    /* a batch was trained: peek has something to show */
};

/* The group at a place of a layer's output (NET_IMAGES: of the images), or of the gradient to it. */
static inline float *cpu_act(const struct cpu_worker *w, int layer, int place)
{
    const struct cpu_team *t = w->team;
    const struct backend_session *s = t->s;

    if (layer == NET_IMAGES) {
        const struct net_shape *in = &s->plan.net->input;
        return t->images + (size_t)place * (size_t)in->h * (size_t)in->w * (size_t)in->c * s->lanes;
    }
    return w->act[layer] + (size_t)(place - w->base) * s->layer[layer].out * s->lanes;
}

/* The same going backward: it may lie elsewhere. */
static inline float *cpu_back(const struct cpu_worker *w, int layer, int place)
{
    if (layer == NET_IMAGES)
        return cpu_act(w, layer, place);
    const struct backend_session *s = w->team->s;
    return w->back[layer] + (size_t)(place - w->base) * s->layer[layer].out * s->lanes;
}

static inline float *cpu_grad(const struct cpu_worker *w, int layer, int place)
{
    const struct cpu_team *t = w->team;
    size_t floats = t->s->layer[layer].out * t->s->lanes;

    return t->grad[layer] ? t->grad[layer] + (size_t)(place - w->shift) * floats
                          : w->grad[layer] + (size_t)(place - w->chunk) * floats;
}

/* A convolution's bits of what passes, from a group on; NULL where it has none. */
static inline uint16_t *cpu_pass(const struct cpu_worker *w, const struct cpu_layer *c, int place)
{
    uint16_t *pass = w->team->pass[c->index];
    size_t bits = (size_t)c->conv.cout * (size_t)c->conv.conv_h * (size_t)c->conv.conv_w;

    return pass ? pass + (size_t)(place - w->shift) * bits : NULL;
}

/* A dropout's mask of a group. */
static inline uint16_t *cpu_keep(const struct cpu_worker *w, const struct cpu_layer *c, int place)
{
    return w->team->keep[c->index] + (size_t)(place - w->shift) * c->out;
}

/* Where a worker sums the gradient of a tensor. */
static inline float *cpu_sum(const struct cpu_worker *w, bool own_slice, size_t at, size_t own)
{
    return own_slice && w->rank > 0 ? w->own + own : w->team->dparam + at;
}

/* Units of a layer that a worker does where threads share them out: [*from, *to). */
void cpu_units(const struct cpu_worker *w, size_t units, int *from, int *to);

/* y = a + b, n floats, with the relu behind it where there is one; in bf16 rounded. */
void cpu_add_forward(const struct cpu_worker *w, const struct cpu_layer *c, size_t n,
                     const float *a, const float *b, float *y);

/* norm.c. Sums of a batch norm are held by segment: the lanes of one group that belong to one span. */
size_t cpu_norm_segments(const struct backend_session *s);
/* Over groups place, ..., place + n - 1; compute is false in an abandoned step and for a
 * worker without groups. */
void cpu_norm_forward(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                      int place, int n, bool training, bool compute);
/* Its output once more, from its input x and the batch's statistics. */
void cpu_norm_again(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                    int place, int n, const float *x);
void cpu_norm_backward(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                       int place, int n, bool compute);

/* layout.c: what is fused, cut, shared out, before any memory is taken. */
extern int cpu_lanes_wanted; /* 0: by the batch; tests change it */
extern int cpu_piece_wanted; /* groups; 0: by the net; tests change it */
void cpu_lay_out(struct backend_session *s);

/* spare_plan.c */
extern size_t cpu_spare_from; /* floats that a session holds before it spares: tests change it */
bool cpu_spares(const struct backend_session *s);
void cpu_spare_choose(struct backend_session *s); /* what is computed again, what is merged */
void cpu_spare_plan(struct backend_session *s);
/* The convolution that is computed again with the batch norm over it, in the same place; or NULL. */
const struct cpu_layer *cpu_spare_conv_below(const struct backend_session *s,
                                             const struct cpu_layer *c);

/* spare.c */
void cpu_spare_equip(struct backend_session *s, struct cpu_team *t);
void cpu_spare_begin(struct cpu_worker *w, bool training, int base);
/* Before a layer goes forward or backward: its scratch, its packed weights. Barriers stand inside. */
void cpu_spare_layer(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                     bool training, bool back);
/* What the layer reads going backward and nobody kept. */
void cpu_spare_again(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                     int place, int n);
void cpu_spare_pack_all(struct cpu_worker *w, const struct cpu_model *m);
void cpu_spare_merge(struct cpu_worker *w, const struct cpu_layer *c);
void cpu_spare_give_back(struct backend_session *s); /* the arena's pages, until the next job */

/* memory.c */
int cpu_groups_train(const struct backend_session *s, const struct cpu_team *t); /* of a worker */
int cpu_groups_each(const struct backend_session *s, const struct cpu_team *t);
/* Floats that a layer needs to go forward, or backward. */
size_t cpu_scratch(const struct backend_session *s, int layer, int groups, bool back);
void *cpu_take(struct backend_session *s, size_t count, size_t size); /* freed with the session */
/* The same, but with any contents: what is large is none of the process's until it is written. */
void *cpu_take_room(struct backend_session *s, size_t count, size_t size);
void *cpu_take_table(struct backend_session *s, size_t count, size_t size);
void cpu_equip_models(struct backend_session *s);
void cpu_equip_teams(struct backend_session *s); /* teams, workers and their buffers */

/* threads.c */
bool cpu_start_threads(struct backend_session *s);
void cpu_run_job(struct backend_session *s, struct cpu_job job); /* returns when all are done */
void cpu_stop_threads(struct backend_session *s);
void cpu_barrier(struct cpu_worker *w);
/* Images of group g of a batch: *first within the batch, *lanes of them. */
void cpu_group(const struct backend_session *s, int g, size_t *first, int *lanes);
/* The groups of a worker: [*from, *to). */
void cpu_share(int groups, int size, int rank, int *from, int *to);

/* A tensor of a flat vector out to Flax's layout, or in from it. */
void cpu_copy_tensor(const struct backend_session *s, const struct net_tensor *t, float *flat,
                     float *theirs, bool set);
enum err_code cpu_peek(struct backend_session *s, int member, int layer, enum backend_what what,
                       double *out, size_t n, enum backend_peek *answer, struct err *e);

/* team.c, images.c */
void cpu_train(struct cpu_worker *w, const struct cpu_job *job);
void cpu_evaluate(struct cpu_worker *w, const struct cpu_job *job);
/* Group of images index[0], ..., index[lanes - 1] of the part to a place; zeros in the other lanes.
 * span, first: for augmentation, the place of the first in the epoch; span NULL: none. */
void cpu_take_group(struct cpu_worker *w, const struct data_part *part, const uint32_t *index,
                    int lanes, const struct backend_span *span, uint64_t first, int place);

/* How numbers are rounded on their way; those to and from a layer's source, which leaves that to it or not. */
static inline enum cpu_rounding cpu_rounding(const struct backend_session *s)
{
    return s->bf16 ? s->k->rounding : CPU_ROUND_NOT;
}

static inline enum cpu_rounding cpu_rounding_below(const struct backend_session *s,
                                                   const struct cpu_layer *c)
{
    return c->l.src >= 0 && s->layer[c->l.src].reader_rounds ? cpu_rounding(s) : CPU_ROUND_NOT;
}

/* step.c: layers [from, to) over groups place, ..., place + n - 1. */
void cpu_forward(struct cpu_worker *w, const struct cpu_model *m, int from, int to, int place,
                 int n, bool training);
void cpu_backward(struct cpu_worker *w, struct cpu_model *m, int from, int to, int place, int n);
void cpu_look_for_stop(struct cpu_worker *w);
void cpu_draw_masks(struct cpu_worker *w, const struct cpu_model *m, int place, int n,
                    uint64_t step);

/* update.c */
void cpu_update_begin(struct cpu_worker *w, double lr, uint64_t step);
bool cpu_packs_at_once(const struct backend_session *s, const struct cpu_layer *c);
/* all: also what was packed as it was updated. */
void cpu_pack(struct cpu_worker *w, struct cpu_model *m, bool all);
/* What only an evaluation reads. */
void cpu_pack_to_evaluate(struct cpu_worker *w, struct cpu_model *m);
/* Parameters [from, from + n) along t->dparam, at once. */
void cpu_update_now(struct cpu_worker *w, struct cpu_model *m, size_t from, size_t n);
/* All that is left, by the whole team between two barriers. */
void cpu_update(struct cpu_worker *w, struct cpu_model *m);

#endif
