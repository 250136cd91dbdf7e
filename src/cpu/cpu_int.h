/* cpu/cpu_int.h: what the files of this room share. Layout of activations: batch in lanes. Sixteen
 * images are a group; a group's layer is [c][h][w][16 images] (dense layers: [unit][16 images]), so
 * that one vector holds one pixel of 16 images and all arithmetic is vertical, without padding of
 * channels. Lanes without an image hold zeros and receive zero gradients. */
#ifndef CHORUS_CPU_INT_H
#define CHORUS_CPU_INT_H

#include "cpu/conv.h"
#include "engine/backend.h"

#include <pthread.h>
#include <stdatomic.h>

#define CPU_LANES 16

struct cpu_conv { /* stride 1 or more over an input that is padded already */
    int cin, cout, k, stride;
    int in_h, in_w; /* with padding */
    int out_h, out_w;
};

struct cpu_update { /* a step of an optimizer: w -= lr * what it makes of g */
    enum spec_optimizer optimizer;
    float lr, scale; /* g = gradient * scale + coupled * w */
    float momentum, b1, b2, epsilon;
    float coupled, decoupled; /* weight decay: in the gradient, beside it (adamw) */
    float fix1, fix2;         /* adam: 1 - b1^t, 1 - b2^t */
};

/* One instruction set's kernels. All pointers are 64-byte aligned; groups lie behind each other. */
struct cpu_kernels {
    const char *name;
    const struct cpu_conv_ops *direct, *wino;
    /* Weights (k, k, cin, cout), or flipped for the input gradient, into the order that conv reads;
     * packed holds conv_packed floats. */
    size_t (*conv_packed)(const struct cpu_conv *c);
    void (*conv_pack)(const struct cpu_conv *c, const float *w, bool flipped, float *packed);
    /* out = (add ? out : bias) + conv(in); bias may be NULL. */
    void (*conv)(const struct cpu_conv *c, const float *packed, const float *bias, bool add,
                 const float *in, float *out);
    /* dw (k, k, cin, cout) += sum over groups, pixels and lanes of in * dout; db likewise. */
    void (*conv_weights)(const struct cpu_conv *c, int groups, const float *in, size_t in_group,
                         const float *dout, size_t dout_group, float *dw, float *db);
    /* y[g][n] = (add ? y : bias) + sum over k of x[g][k] * w[k * wk + n * wn]; one of wk and wn is
     * 1. x_group, y_group: floats from a group to the next, so that a thread can do some of the
     * units. bias may be NULL. */
    void (*dense)(int groups, int inputs, int outputs, const float *x, size_t x_group,
                  const float *w, size_t wk, size_t wn, const float *bias, bool add, float *y,
                  size_t y_group);
    /* turned[g][image][width] = dy[g][o][image], zeros behind outputs; width: a multiple of 16. */
    void (*turn)(int groups, int outputs, const float *dy, size_t dy_group, float *turned,
                 size_t width);
    /* dw[i * row + o] = (add ? itself : 0) + sum over images of x[g][i] * dy[g][o]. */
    void (*dense_weights)(int groups, int inputs, int outputs, const float *x, size_t x_group,
                          const float *turned, size_t width, float *dw, size_t row, bool add);
    /* db[o] = (add ? itself : 0) + sum over images */
    void (*bias_sums)(int groups, int outputs, const float *dy, size_t dy_group, float *db,
                      bool add);
    void (*relu)(size_t n, const float *x, float *y); /* n floats, a multiple of 16 */
    void (*relu_back)(size_t n, const float *y, const float *dy, bool add, float *dx);
    void (*tanh)(size_t n, const float *x, float *y);
    void (*tanh_back)(size_t n, const float *y, const float *dy, bool add, float *dx);
    void (*add)(size_t n, const float *a, const float *b, float *y);
    void (*copy)(size_t n, const float *x, bool add, float *y);
    /* pools of one group */
    void (*avgpool)(const struct net_layer *l, const float *x, float *y);
    void (*avgpool_back)(const struct net_layer *l, const float *dy, float *dx); /* adds */
    void (*maxpool)(const struct net_layer *l, const float *x, float *y);
    void (*maxpool_back)(const struct net_layer *l, const float *x, const float *y, const float *dy,
                         float *dx); /* adds */
    /* batch norm, one channel of one group: n pixels of 16 lanes, of which `lanes` hold images */
    void (*moments)(size_t n, int lanes, const float *x, double *mean, double *m2);
    void (*normalize)(size_t n, const float *x, float scale, float shift, float *y);
    void (*norm_sums)(size_t n, const float *x, const float *dy, float mean, float inverse,
                      double *sum_dy, double *sum_dy_x);
    void (*norm_back)(size_t n, int lanes, const float *x, const float *dy, float a, float b,
                      float c, bool add, float *dx); /* a * dy + b * x + c */
    /* keep[i]: bit per lane, of elements e = 0..size in (h, w, c) order of images first..first+15 */
    void (*dropout_mask)(struct rng_key key, uint64_t first, size_t size, uint32_t limit,
                         uint16_t *keep);
    void (*dropout)(const struct net_layer *l, const float *x, const uint16_t *keep, float scale,
                    bool add, float *y);
    /* Any n, pointers aligned to a float. Slots that the optimizer does not have may be NULL. */
    void (*update)(const struct cpu_update *u, float *param, float *slot1, float *slot2,
                   const float *gradient, size_t n);
    void (*add_into)(size_t n, float *sum, const float *more);
    double (*square)(size_t n, const float *x);             /* sum of squares, in a fixed order */
    void (*round_bf16)(size_t n, const float *x, float *y); /* to bf16's precision; y may be x */
    /* Softmax cross entropy of one group: gradient to the logits [classes][16] times scale, zero
     * in the lanes behind `lanes`; the images' losses, and whether they are right. */
    void (*loss)(int classes, const float *logits, const uint16_t *labels, int lanes, float scale,
                 float *gradient, float *image_loss, uint8_t *right);
    /* Bytes of 16 images of one channel through a table of 256: out [pixels][16]; NULL: zeros */
    void (*decode)(const uint8_t *const *image, size_t pixels, const float *lut, float *out);
};
extern const struct cpu_kernels cpu_kernels_avx512, cpu_kernels_avx2, cpu_kernels_base;

/* The best that this machine has, or what CHORUS_ISA names (NULL where the machine lacks it). */
const struct cpu_kernels *cpu_kernels_choose(void);

/* One layer as this backend runs it. */
struct cpu_layer {
    const struct net_layer *l;
    size_t in, out;       /* elements an image */
    struct cpu_conv conv; /* conv: forward */
    struct cpu_conv back; /* conv: the input gradient as a convolution of the spread-out gradient */
    bool padded;          /* conv: the input is copied into a frame of zeros first */
    bool first;           /* nobody needs the gradient of its input */
    bool in_place;        /* relu over its source's output */
    bool add, add2;       /* gradient to src / src2 is added: a later layer wrote there already */
    size_t kernel, bias;  /* offsets in the flat vector */
    size_t mean, var;
    size_t pack, pack_back; /* offsets in a model's packed weights */
};

struct cpu_model {                /* a member, or the one model of data-parallel */
    float *param, *slot1, *slot2; /* dense kernels behind pictures with rows in (c, h, w) order */
    float *stat;
    float *packed;
    struct rng_key key;
};

struct cpu_team;

/* One thread's own: nobody else writes here. Buffers of a layer hold `groups` groups. */
struct cpu_worker {
    struct cpu_team *team;
    int rank;
    int groups;          /* how many at a time */
    float *images;       /* [groups][c][h][w][16] */
    float **act, **grad; /* (layers): outputs, and gradients to them */
    float **frame;       /* (layers): padded inputs of convolutions; frames are zero for ever */
    uint16_t **keep;     /* (layers): dropout's masks */
    float *spread;       /* one group's gradient with zeros between and around */
    float *scratch;      /* dense: a gradient turned round */
    float *dparam;       /* gradient of this thread's images */
    float *picture;      /* one image, (h, w, c) */
    double square;       /* of the gradient's slice, for clipping */
    const uint32_t *held_order; /* what `images` holds: nothing where NULL */
    size_t held_batch;
};

struct cpu_team { /* threads that share the steps of one model at a time */
    struct backend_session *s;
    int size, first_model, model_step; /* models first_model, + model_step, ... are this team's */
    struct cpu_worker *worker;         /* (size) */
    atomic_int arrived;
    atomic_uint phase;
    atomic_bool abandon; /* the step is given up: set by whoever saw the stop flag */
    bool go, finite;     /* rank 0's words to the others, each with a barrier behind it */
    double *sums, *norm; /* batch norm: (groups, channels, 2), by whoever has the group */
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
};

struct backend_session {
    struct backend_plan plan;
    const struct cpu_kernels *k;
    struct cpu_layer *layer;
    int layers;
    struct cpu_model *model; /* (members) */
    size_t packed_count, params, stats;
    bool norm;           /* the net has batch norm */
    bool split;          /* batch norm per device: groups end at the devices' borders */
    int batch_groups;    /* of a global batch */
    size_t group_images; /* split: images a device; else the batch */
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
    bool trained; /* a batch was trained: peek has something to show */
    bool whole;   /* every worker holds all its groups at once: peek sees all layers */
};

/* What a layer reads: images or another layer's output. */
static inline float *cpu_source(const struct cpu_worker *w, int src)
{
    return src == NET_IMAGES ? w->images : w->act[src];
}

/* norm.c: compute is false in an abandoned step and for a worker without groups. */
void cpu_norm_forward(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                      float *y, int from, int n, bool training, bool compute);
void cpu_norm_backward(struct cpu_worker *w, const struct cpu_model *m, const struct cpu_layer *c,
                       const float *dy, float *dx, int from, int n, bool compute);

/* layout.c */
void cpu_lay_out(struct backend_session *s);
size_t cpu_group_floats(const struct backend_session *s); /* that a worker needs for one group */
int cpu_groups_at_a_time(const struct backend_session *s, int share);
void *cpu_take(struct backend_session *s, size_t count, size_t size); /* freed with the session */
void cpu_equip_models(struct backend_session *s);
void cpu_arrange(struct backend_session *s); /* teams, workers and their buffers */

/* threads.c */
bool cpu_start_threads(struct backend_session *s);
void cpu_run_job(struct backend_session *s, struct cpu_job job); /* returns when all are done */
void cpu_stop_threads(struct backend_session *s);

/* A tensor of a flat vector out to Flax's layout, or in from it. */
void cpu_copy_tensor(const struct backend_session *s, const struct net_tensor *t, float *flat,
                     float *theirs, bool set);
enum err_code cpu_peek(struct backend_session *s, int member, int layer, enum backend_what what,
                       double *out, size_t n, enum backend_peek *answer, struct err *e);

/* team.c and step.c. Images of group g of a batch: *first within the batch, *lanes of them. */
void cpu_group(const struct backend_session *s, int g, size_t *first, int *lanes);
/* The groups of a worker: [*from, *to). */
void cpu_share(int groups, int size, int rank, int *from, int *to);
void cpu_barrier(struct cpu_worker *w);
void cpu_train(struct cpu_worker *w, const struct cpu_job *job);
void cpu_evaluate(struct cpu_worker *w, const struct cpu_job *job);
/* Forward over groups [0, n) in w's buffers; training uses batch statistics. */
void cpu_forward(struct cpu_worker *w, const struct cpu_model *m, int from, int n, bool training,
                 uint64_t step);
void cpu_backward(struct cpu_worker *w, const struct cpu_model *m, int from, int n);
void cpu_pack(struct cpu_worker *w, struct cpu_model *m);
void cpu_update(struct cpu_worker *w, struct cpu_model *m, double lr, uint64_t step);

#endif
