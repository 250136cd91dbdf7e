/* cuda/cuda_int.h: how a session is made. A *place* is a GPU with a thread, a stream, a clock and its
 * memory; it holds whole models (an ensemble's members that sit on it) or shards of the one model's
 * batch (virtual devices of data-parallel, one behind the other in one batch). Its program is a list
 * of launches for a step, captured as graphs of several steps. */
#ifndef CHORUS_CUDA_INT_H
#define CHORUS_CUDA_INT_H

#include "cuda/launch/block.h"
#include "cuda/comm/comm.h"
#include "cuda/launch/conv.h"
#include "cuda/gauge.h"
#include "cuda/launch/layers.h"
#include "cuda/part.h"
#include "cuda/rt/rt.h"
#include "cuda/launch/side.h"
#include "cuda/launch/steps.h"

#include <pthread.h>

#define CUDA_PLACES   64
#define CUDA_MODELS   1024 /* of a place */
#define CUDA_SPAN     1024 /* steps whose results have room at a time */
#define CUDA_DEPTH    2    /* graphs under way at a time, and chunks of evaluation */
#define CUDA_GRAPHS   7    /* of 1, 2, 4, ... 64 steps */
#define CUDA_GRAPH_MS 20   /* a graph takes no longer, so that a pause is prompt */
#define CUDA_PIXELS   2e9  /* that a convolution's kernels count, of all images of a launch */

/* Whether the kernels of this build run on such a GPU; else why not, in words. */
bool cuda_gpu_fits(const struct cuda_gpu_facts *facts, char *why, size_t room);
/* For the calling thread, to compute on: from then on it is this process's until its end. */
int cuda_gpu_use(int gpu);
/* 0, or an error of the runtime, and why it cannot be used. The thread's GPU in use may be another one
 * behind it. */
int cuda_gpu_usable(int gpu, struct cuda_gpu_facts *facts, char *why, size_t room);

/* The table that the part gives out, reached by the program through cuda/load.h's. */
extern const struct backend cuda_session_backend;

/* What tests choose; all zero otherwise. Read when a session opens. */
struct cuda_hooks {
    bool separate; /* each virtual device of a place has a gradient of its own, then their mean */
    bool keep;     /* no memory of activations and gradients is used twice: peek sees them all */
    bool cold;     /* no step is tried when a session opens */
    bool apart;    /* a pool behind a convolution is a kernel of its own */
    bool alone;    /* no two products share a launch */
    bool late;     /* parameters are updated behind all gradients */
    int in_turn;   /* members: 1 one after another, -1 all in each launch, 0 as fills the GPU */
    bool stream;   /* images of training stay in the host's memory though they would fit */
    int graph;     /* steps of the largest graph, a power of two; 0: as many as CUDA_GRAPH_MS has */
    int limit_ms;  /* how long a GPU may take to answer; 0: a minute */
};
extern struct cuda_hooks cuda_hooks;

/* ---- who sits where (share.c): pure ---- */

struct cuda_share { /* of one place */
    int gpu;
    int models, shards;     /* an ensemble's members here; virtual devices of data-parallel here */
    int model[CUDA_MODELS]; /* (models) numbers of members */
    int first_shard;        /* the first virtual device's number */
    int images,
        first_image; /* of each model's batch: shards * (batch / devices); an ensemble: all */
    bool streams;    /* images of training stay in the host's memory, and each step reads its own */
};
/* gpu: (usable) numbers of GPUs that can be used. The places are those of plan->gpu, else as many of
 * gpu as there are devices. Device d of D sits on place d * places / D. */
enum err_code cuda_share(const struct backend_plan *plan, const int *gpu, int usable,
                         struct cuda_share *out, int *places, struct err *e);
/* The place of a logical device. */
int cuda_place_of(const struct backend_plan *plan, int device, int places);
/* Numbers of the GPUs that can be used; 0 and why. */
int cuda_usable_gpus(int gpu[CUDA_GPUS], struct err *why);

/* Units of results that a place has, and the number of the first in the session's order. */
static inline int cuda_units(const struct cuda_share *s)
{
    return s->models * s->shards;
}

/* ---- what one kernel makes of several layers (pieces.c): pure ---- */

/* CUDA_LINEAR: the layer is no activation. */
enum cuda_act cuda_act_of(enum net_op op);

struct cuda_piece {
    int head, tail; /* layers: the one whose work it is; the one whose output it writes */
    int x, x2;      /* pieces that it reads, or NET_IMAGES; x2: what is added, else NET_NONE */
    int pool; /* the pool of 2 x 2 that is made with the convolution, tail then, or NET_NONE */
    enum cuda_act act;
    bool gated; /* whoever reads it multiplies its gradient by act' */
    int same;   /* the piece whose gradient's memory becomes this one's; -1: it has its own */
};
struct cuda_pieces {
    struct cuda_piece *at; /* in the order of their tails: what is read comes first */
    int n;
    int *of; /* (layers): the piece that a layer belongs to */
};
/* apart: cuda_hooks.apart. */
void cuda_pieces_make(struct cuda_pieces *out, const struct net *net, bool keep, bool apart);
/* Whether a piece's gradient has to be multiplied by act': the mask of a pool knows relu's. */
static inline bool cuda_piece_derives(const struct cuda_piece *p)
{
    return p->act == CUDA_TANH || (p->act == CUDA_RELU && p->pool < 0);
}

/* Whether anybody wants the gradient of what a piece makes: the loss's is made for any. */
static inline bool cuda_piece_learns(const struct net *net, const struct cuda_pieces *p, int piece)
{
    return piece == p->n - 1 || (piece >= 0 && net->layer[p->at[piece].tail].learns);
}

void cuda_pieces_free(struct cuda_pieces *p);

/* ---- memory of a place (layout.c): one block, offsets from its start ---- */

struct cuda_slot { /* of bytes that are needed for a part of a step only */
    size_t bytes;
    int from, to; /* when: both ends included */
    size_t at;    /* offset */
    bool intact;  /* nothing else is written there later */
};
/* Gives each slot a place; returns how many bytes all of them take. */
size_t cuda_slots_place(struct cuda_slot *slot, int n, bool keep);

struct cuda_layout {
    enum cuda_math math;
    int models, images;
    int groups; /* of batch norm, on this place */
    struct cuda_pieces pieces;
    /* Elements of a model: each tensor begins at a multiple of CUDA_ALIGN, mean and variance of a
     * batch norm lie behind each other. What lies between is 0 and stays it. */
    size_t params, stats;
    size_t *param_at, *stat_at; /* (net->params), (net->stats) */
    size_t reduce; /* elements summed over places: gradients, batch statistics, flag; fp32 */
    /* byte offsets */
    size_t param, half, gradient, batch_stats, flag, slot[2], running;
    size_t parts; /* (shards; params): each virtual device's gradient, where they are separate */
    size_t order, next; /* of this epoch and of the one behind it: (models; training images) */
    size_t label, clock, rate, key; /* rate: (CUDA_SPAN) doubles; key: (dropouts; models, 2) */
    size_t norm_stats, norm_sums;   /* (pieces of batch norm; models, groups, 2, c) */
    size_t *norm_at;                /* (pieces): bytes from either */
    size_t scratch, scratch_bytes;
    size_t turns, turn_bytes; /* the clock's turn in front: CUDA_TICK_TURN bytes */
    bool sides; /* two weights' gradients may go side by side, each with half of both */
    size_t half_scratch, half_turns;
    size_t pixel_turn, label_turn; /* elements between this batch and the next, if both are there */
    size_t data, data_bytes;       /* images and labels (data.c) */
    /* All of the first model. */
    struct cuda_slot pixels, *out, *grad; /* of training; (pieces) */
    struct cuda_slot *mask;               /* (pieces): of pools, a byte an output */
    struct cuda_slot eval_pixels, *eval_out;
    size_t arena, between; /* bytes; between: from a model's part to the next one's */
    int evaluate;          /* images of a chunk of evaluation */
    size_t lasting;        /* what is neither data nor arena */
    size_t bytes;          /* the whole */
};
#define CUDA_ALIGN     64
#define CUDA_TICK_TURN 256
static inline size_t cuda_round(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}
/* Elements between two models' tensors of n elements. */
static inline size_t cuda_stride(size_t n)
{
    return cuda_round(n, CUDA_ALIGN);
}
enum err_code cuda_layout_make(struct cuda_layout *out, const struct backend_plan *plan,
                               const struct cuda_share *share, struct err *e);
void cuda_layout_free(struct cuda_layout *l);
/* Before the memory is taken: scratch of at least so many bytes, behind all else if it must grow. */
void cuda_layout_scratch(struct cuda_layout *l, size_t bytes);
/* What a layer is to a kernel, for n images. */
struct cuda_conv cuda_conv_of(const struct net_layer *l, int models, int n, enum cuda_math math);
struct cuda_block cuda_block_of(const struct net *net, const struct cuda_piece *p, int models,
                                int n, enum cuda_math math);
struct cuda_shape cuda_shape_of(const struct net_layer *l, int models, int n, enum cuda_math math);

/* ---- what is taken of a GPU besides (need.c) ---- */

/* By a session of that plan on one of `places` GPUs; bytes that are gone once it is open. */
struct cuda_need {
    size_t block;     /* layout.bytes, cuDNN's scratch included where it will be used */
    size_t context;   /* of the process, gone before anything is asked for */
    size_t libraries; /* kernels that are loaded, graphs, NCCL's buffers, cuDNN */
};
/* Where so much is free beside the context: share->streams is set where all but the images of training
 * would fit, and they do not; then cuDNN is done without. What fits in no way needs the least of all. */
enum err_code cuda_need_within(const struct backend_plan *plan, struct cuda_share *share,
                               int places, size_t room, struct cuda_need *out, struct err *e);
/* What of it that layout does not hold. dnn: cuDNN will be used. */
size_t cuda_need_libraries(const struct backend_plan *plan, const struct cuda_layout *l, int places,
                           bool dnn);
static inline size_t cuda_need_all(const struct cuda_need *n)
{
    return n->block + n->context + n->libraries;
}
/* The largest batch of half, a quarter, ... as many images that would fit into so much beside the
 * context; 0: none. */
size_t cuda_need_batch(const struct backend_plan *plan, int place, size_t room);
/* "a batch of 128 would fit; ..." */
void cuda_need_advice(const struct backend_plan *plan, int place, int places, size_t room,
                      struct text *out);

/* ---- the program of a place (program.c, program_forward.c, program_back.c) ---- */

struct cuda_place;

struct cuda_sum { /* floats that are summed over all places in the middle of a step */
    struct cuda_place *place;
    float *buffer;
    size_t count;
};

struct cuda_program {
    struct cuda_list step;  /* gather, forward, loss, backward, [sum over places], update, tick */
    size_t cut[3];          /* launches of the step: where computing, reducing, updating begin */
    struct cuda_list begin; /* where not empty: the images of a span's first step, then each step
                                  fetches those of the next */
    struct cuda_list evaluate; /* forward of layout.evaluate images, without their gathering */
    bool in_turn;              /* a member's launches stand behind another's; else each has all */
    struct cuda_sum *sum;      /* (sums) */
    int sums;
};
/* own: each model takes its own images. */
void cuda_program_make(struct cuda_place *p, bool own);
void cuda_program_free(struct cuda_program *p);

/* For the two halves. */
struct cuda_writer {
    struct cuda_place *p;
    const struct net *net;
    struct cuda_list *list;
    int n;             /* images */
    int model, models; /* which of the place's: so many from that one on */
    bool training;     /* or evaluation: other memory, running statistics, no dropout */
    bool own;
    bool ahead;                       /* each step fetches the images of the next */
    bool tail;                        /* the last piece and the loss are one kernel */
    const struct update_here *update; /* by the gradients' kernels; NULL: one behind them all */
    size_t weights;                   /* where the list stood behind the last gradient's launch */
};
/* From the writer's first model on: tensors that lie stride elements behind each other; what is needed
 * for a part of a step; floats. */
struct cuda_view cuda_write_view(const struct cuda_writer *w, size_t offset, size_t stride,
                                 size_t element);
struct cuda_view cuda_write_slot(const struct cuda_writer *w, const struct cuda_slot *s,
                                 size_t element);
struct cuda_view cuda_write_floats(const struct cuda_writer *w, size_t offset, size_t stride);
struct cuda_view cuda_write_gradient(const struct cuda_writer *w, int piece);
struct cuda_view cuda_write_tensor(const struct cuda_writer *w, int piece); /* or NET_IMAGES */
struct cuda_view cuda_write_mask(const struct cuda_writer *w, int piece);   /* none in evaluation */
struct cuda_view cuda_write_weight(const struct cuda_writer *w, int tensor);
struct cuda_view cuda_write_param(const struct cuda_writer *w, int tensor); /* fp32 */
struct cuda_norm_stats cuda_write_stats(const struct cuda_writer *w, int piece);
struct cuda_turn cuda_write_turn(const struct cuda_writer *w); /* of the images */
void cuda_write_sum(const struct cuda_writer *w, float *buffer, size_t count);
double cuda_write_count(const struct cuda_writer *w, const struct net_layer *norm);
bool cuda_write_synced(const struct cuda_writer *w); /* batch norm over several places */
void cuda_write_dropout(const struct cuda_writer *w, int piece, struct cuda_view from, bool add,
                        struct cuda_view to);
struct cuda_pool cuda_pool_of(const struct net_layer *l);
void cuda_write_piece(const struct cuda_writer *w, int piece); /* forwards */
void cuda_write_back(struct cuda_writer *w);

/* ---- a place (place.c) ---- */

struct cuda_shares_of_time {   /* of a step: what was seen the last time that it was measured */
    double input, reduce, all; /* milliseconds; 0: never seen */
};

struct cuda_place {
    struct backend_session *session;
    int number; /* rank */
    struct cuda_share share;
    struct cuda_layout layout;
    struct cuda_program program;
    bool programmed, own;
    char *memory;                               /* layout.bytes */
    struct cuda_images part[3];                 /* train, valid, test, on the device */
    struct cuda_result *result, *result_device; /* pinned: (CUDA_SPAN, units) */
    struct dev_clock *clock; /* pinned: what goes to the device, and comes back */
    double *rate;            /* pinned, behind clock: (CUDA_SPAN) */
    uint32_t *order, *next;  /* pinned: (models; training images), as there */
    const uint32_t *sent;    /* whose copy next is; NULL: nobody's */
    void *bounce;            /* pinned: state and logits on their way */
    size_t bounce_bytes;
    uint32_t *chunk, *chunk_device; /* pinned: (CUDA_DEPTH) images of evaluation */
    struct cuda_stream *stream;
    struct cuda_dnn *dnn;              /* NULL: all convolutions are our own kernels' */
    struct cuda_dnn_layer **dnn_layer, /* (layers), NULL where our own kernels do all */
        **dnn_evaluate;                /* those of evaluation's chunks, forwards alone */
    struct cuda_event *event[6], *paced[CUDA_DEPTH];
    struct cuda_graph *graph[CUDA_GRAPHS];
    struct cuda_group *group; /* NULL with one place, and in an ensemble */
    struct cuda_shares_of_time times;

    pthread_t thread; /* of its own where there are several places */
    bool started;
    struct err error;
    enum err_code code; /* of the last job */
    /* of a span */
    size_t done;
    double busy_ms, wall_ms;
    double step_ms;          /* of a graph of one step, when the session opened */
    size_t unused, expected; /* bytes: free before it took any, and what it was to take */
    unsigned came;           /* its number among this process's on that GPU, from 1; 0: it went */
    bool alone;              /* when it came */
    bool lost;               /* the GPU does not answer any more */
    struct cuda_gauge gauge; /* what it said of itself, and when; 0: never */
    uint64_t gauged;
};

enum err_code cuda_place_open(struct cuda_place *p, struct err *e);
void cuda_place_end(struct cuda_place *p); /* waits for what is under way */
void cuda_place_close(
    struct cuda_place *p); /* after all have ended; what is not open is left out */
/* Once all is open: says where much more or less of its memory is gone than was said before; a warning where
 * it is more, and no other session of this process may have it. */
void cuda_place_weigh(const struct cuda_place *p);
/* The step's list, made anew where models begin to take images of their own, or cease to. */
enum err_code cuda_place_program(struct cuda_place *p, bool own, struct err *e);
/* Until paced[i] has passed (span.c). */
enum err_code cuda_place_pace(struct cuda_place *p, int i, struct err *e);
/* Until all that was put into the stream is done. */
enum err_code cuda_place_wait(struct cuda_place *p, struct err *e);
enum err_code cuda_place_copy(struct cuda_place *p, void *to, const void *from, size_t bytes,
                              const char *what, struct err *e);
enum err_code cuda_place_bounce(struct cuda_place *p, size_t bytes, struct err *e);
enum err_code cuda_place_pinned(const struct cuda_place *p, void **host, void **device,
                                size_t bytes, struct err *e);
/* The data set on the device (data.c): its bytes there; its upload, which fills in place.part. */
size_t cuda_data_place(const struct backend_plan *plan, bool streams);
size_t cuda_data_streamed(const struct backend_plan *plan); /* bytes of the images of training */
enum err_code cuda_data_upload(struct cuda_place *p, struct err *e);

/* ---- convolutions through cuDNN (dnn_place.c) ---- */

/* Opens cuDNN where it is here, plans the layers that suit it, and makes room for it in the layout. False:
 * the GPU did not answer while plans were timed. */
bool cuda_place_plan(struct cuda_place *p);
void cuda_place_unplan(struct cuda_place *p);          /* after the graphs are closed */
bool cuda_dnn_wanted(const struct backend_plan *plan); /* and there is one */
/* Scratch that its plans are expected to need, before any is made; 0: no layer suits it. */
size_t cuda_dnn_expected(const struct net *net, const struct cuda_layout *l);
/* As cuda_conv_*, of a layer of the net: false and nothing written where cuDNN does not do it. */
bool cuda_write_dnn_forward(const struct cuda_writer *w, int layer, struct cuda_view x,
                            enum cuda_act act, struct cuda_view y);
bool cuda_write_dnn_weights(const struct cuda_writer *w, int layer, struct cuda_view x,
                            struct cuda_view dy, struct cuda_view dweight, struct cuda_view dbias);
bool cuda_write_dnn_input(const struct cuda_writer *w, int layer, struct cuda_view dy,
                          struct cuda_view gate, enum cuda_act act, bool add, struct cuda_view dx);

/* ---- a session (session.c) ---- */

typedef enum err_code cuda_job(struct cuda_place *p, void *arg, struct err *e);

struct backend_session {
    struct backend_plan plan; /* its arrays are the two below */
    struct rng_key *model_key;
    int *member_device;
    struct cuda_hooks hooks;
    int places;
    struct cuda_place *place;
    bool lost;         /* a GPU is: nothing is freed on any, whose driver may wait for it */
    bool trained;      /* peek has something to see */
    int largest;       /* graphs have up to 1 << largest steps */
    uint64_t measured; /* when a step was measured part by part; 0: never */
    void *streamed;    /* pinned: images of training for the places that stream; under the lock */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    cuda_job *job; /* under the lock */
    void *arg;
    uint64_t jobs;
    int running;
    bool closing;

    const atomic_bool *stop; /* of the span that runs */
    size_t allowed;          /* graphs of it that may start; under the lock */
    bool stopped;
};

/* The same work on all places, each in its thread; the first error that sticks, else the first. */
enum err_code cuda_session_all(struct backend_session *s, cuda_job *job, void *arg, struct err *e);
/* Whether graph i of a span may start: the same answer to all places. */
bool cuda_session_may(struct backend_session *s, size_t i);
/* Which place holds a member, and as its how many-th model. */
struct cuda_place *cuda_session_place(struct backend_session *s, int member, int *model);

enum err_code cuda_can(const struct backend_plan *plan, struct err *e);
enum err_code cuda_estimate(const struct backend_plan *plan, struct backend_estimate *out,
                            struct err *e);
enum err_code cuda_open(const struct backend_plan *plan, struct backend_session **out,
                        struct err *e);
void cuda_close(struct backend_session *s);
enum err_code cuda_train(struct backend_session *s, const struct backend_span *span,
                         struct backend_step *results, size_t *done, struct err *e);
enum err_code cuda_evaluate(struct backend_session *s, const struct data_part *part, size_t first,
                            size_t count, const atomic_bool *stop, float *logits, struct err *e);
enum err_code cuda_state(struct backend_session *s, int member, enum backend_kind kind, bool set,
                         void *buffer, struct err *e);
void cuda_plans(struct backend_session *s, struct text *out);
enum err_code cuda_peek(struct backend_session *s, int member, int layer, enum backend_what what,
                        double *out, size_t n, enum backend_peek *answer, struct err *e);
/* Before the first span (span.c): loads all, on all GPUs before one of them waits for another; tries a
 * step that changes nothing; chooses how many steps graphs have; captures them. */
enum err_code cuda_load(struct cuda_place *p, void *arg, struct err *e);
enum err_code cuda_warm(struct cuda_place *p, void *arg, struct err *e);
void cuda_choose_graphs(struct backend_session *s);
enum err_code cuda_capture_all(struct cuda_place *p, void *arg, struct err *e);

#endif
