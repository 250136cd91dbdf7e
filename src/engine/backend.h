/* engine/backend.h: the table that a backend fills in. It is coarse: a session is opened from a plan
 * and runs whole spans of steps; no call per layer crosses it. A session is used by one thread at a
 * time; can and estimate may be called from any thread and open no device.
 *
 * The bytes of a run do not depend on how its steps are cut into spans. */
#ifndef CHORUS_ENGINE_BACKEND_H
#define CHORUS_ENGINE_BACKEND_H

#include "base/err.h"
#include "base/text.h"
#include "data/data.h"
#include "net/net.h"
#include "rng/rng.h"
#include "spec/spec.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct backend_plan {
    const struct net *net; /* both outlive the session */
    const struct data_set *data;
    enum spec_mode mode;
    enum spec_precision precision;
    enum spec_optimizer optimizer;
    double momentum, beta1, beta2, epsilon, weight_decay;
    double grad_clip; /* 0: none */
    bool sum_loss;    /* loss_reduction = sum */
    bool sync_bn;
    unsigned augment;
    int crop_pad;
    size_t batch;                    /* global */
    int devices;                     /* logical devices of this session, ... */
    int first_device, all_devices;   /* ... of how many in all processes (0 and devices today) */
    int members;                     /* models: 1 in data-parallel */
    const int *member_device;        /* (members): m mod devices */
    bool own_orders;                 /* members' spans have orders of their own */
    const struct rng_key *model_key; /* (members): each model's own key, for dropout */
    int threads;                     /* CPU threads */
    const int *gpu;                  /* (gpus) */
    int gpus;
    bool
        tune; /* a library's plans are chosen by their times, and written down for later sessions */
    /* Of a run that goes on: what plans() said when its checkpoint was written, for the same kind of them
     * again; NULL: whatever is best. */
    const char *plans;
};

/* Rows of results: in an ensemble a unit is a member, in data-parallel a replica (a device). */
static inline int backend_units(const struct backend_plan *p)
{
    return p->mode == SPEC_ENSEMBLE ? p->members : p->devices;
}

/* Bytes of one element of parameters and state: 8 in fp64, else 4 (bf16 has fp32 masters). */
static inline size_t backend_element(const struct backend_plan *p)
{
    return p->precision == SPEC_FP64 ? 8 : 4;
}

struct backend_span {
    uint64_t first_step;          /* t: updates done before the span, over the whole run */
    size_t count;                 /* steps, all within one epoch */
    size_t first_batch;           /* of the epoch: step i takes batch first_batch + i, whose images
                                     are order[m][batch * (first_batch + i) ...] */
    const uint32_t *const *order; /* (members): indices into data->train; the same pointer for all
                                     members unless member_order = own */
    /* The order of the epoch behind this one, of the same form, once it is made; else NULL. May be asked
     * while the steps run, by any thread. NULL: nobody knows it. */
    const uint32_t *const *(*next)(void *user);
    void *next_user;
    const double *lr;         /* (count) */
    struct rng_key order_key; /* the epoch's, for augmentation */
    const atomic_bool *stop;  /* read at least every 100 ms, obeyed before an update */
};

struct backend_step { /* of one step and unit */
    double loss_sum;  /* over the unit's images, each image's own loss whatever sum_loss says */
    uint32_t right;   /* right answers */
    bool not_finite;  /* the loss was not finite */
    uint64_t input_ns, compute_ns, reduce_ns, wait_ns;
};

enum backend_kind {
    BACKEND_PARAMS, /* (parameter_count) */
    BACKEND_STATS,  /* (stat_count) */
    BACKEND_SLOT1,  /* (parameter_count) momentum's trace, or Adam's first moment */
    BACKEND_SLOT2,  /* (parameter_count) Adam's second moment */
};
/* How many of the slots an optimizer has: sgd 0, momentum and nesterov 1, adam and adamw 2. */
static inline int backend_slots(enum spec_optimizer o)
{
    return o == SPEC_SGD ? 0 : o == SPEC_ADAM || o == SPEC_ADAMW ? 2 : 1;
}

enum backend_what {
    BACKEND_OUTPUT,      /* of the layer, of the last batch: (batch, h, w, c) */
    BACKEND_GRAD_OUTPUT, /* of the loss with respect to it, the same shape */
    BACKEND_GRAD_KERNEL, /* after the mean over devices, before clipping and weight decay */
    BACKEND_GRAD_BIAS,
};
enum backend_peek { BACKEND_PEEKED, BACKEND_FUSED };

struct backend_estimate {
    int places;       /* GPUs, or 1 for the CPU's memory */
    size_t bytes[64]; /* of each place: parameters, state, activations, data, what libraries take */
    /* Of a place that has too little, where that is known: */
    size_t unused;     /* bytes that are free there now, where lacking says that they do not do */
    bool never;        /* it would be too little were nothing else there */
    char lacking[300]; /* which, how much, and what would fit: one sentence; "" */
};

struct backend_gauge {                      /* of a GPU while it works; nan: unknown */
    int gpu;                                /* its number */
    double percent, memory, celsius, watts; /* memory: bytes in use on it */
};

struct backend_session;

struct backend {
    const char *name; /* "cpu" */

    /* How many GPUs there are to compute on; 0 and why. ERR_INPUT: none was to be expected, ERR_FAILED:
     * a user would want to know. NULL where the backend computes on the CPU. Any thread. */
    int (*gpus)(struct err *why);
    /* Whether the GPU of this number is one of them: others may lie between. Where gpus is. */
    enum err_code (*gpu)(int gpu, struct err *why);

    /* Whether such a session could run; if not, the reason in words (layer, line, precision). */
    enum err_code (*can)(const struct backend_plan *plan, struct err *e);
    enum err_code (*estimate)(const struct backend_plan *plan, struct backend_estimate *out,
                              struct err *e);
    /* What runs: "avx512", "scalar float"; the best there is. Never NULL. And what runs a precision,
     * where that is not always the same, or NULL. */
    const char *(*isa)(void);
    const char *(*isa_in)(enum spec_precision precision);

    /* Parameters are all zero until state sets them. */
    enum err_code (*open)(const struct backend_plan *plan, struct backend_session **out,
                          struct err *e);
    void (*close)(struct backend_session *s); /* NULL is fine */

    /* Runs the span's steps in order. results: (count, units). *done: steps whose update was made.
     * A step whose loss is not finite still counts as done and ends the span. A stop is no error. */
    enum err_code (*train)(struct backend_session *s, const struct backend_span *span,
                           struct backend_step *results, size_t *done, struct err *e);
    /* logits: (members, count, classes), running statistics used. stop: may be NULL; obeyed with
     * ERR_STOPPED. */
    enum err_code (*evaluate)(struct backend_session *s, const struct data_part *part, size_t first,
                              size_t count, const atomic_bool *stop, float *logits, struct err *e);
    /* Copies out of (set = false) or into the session, in Flax's layouts, elements as
     * backend_element says. */
    enum err_code (*state)(struct backend_session *s, int member, enum backend_kind kind, bool set,
                           void *buffer, struct err *e);
    /* Of the last training batch, for tests: as doubles. n must be the exact count; activations of
     * data-parallel hold the whole global batch. *answer: a layer inside a fused group may answer
     * BACKEND_FUSED, the group's last one never does. */
    enum err_code (*peek)(struct backend_session *s, int member, int layer, enum backend_what what,
                          double *out, size_t n, enum backend_peek *answer, struct err *e);
    /* What the GPU of a logical device says of itself; takes a few ms. NULL on the CPU. */
    void (*gauge)(struct backend_session *s, int device, struct backend_gauge *out);
    /* How an open session computes, where more decides than the machine and the plan: a library's
     * choices, one line; "" where it has made none. NULL: there are no such choices. */
    void (*plans)(struct backend_session *s, struct text *out);
};

extern const struct backend ref_backend;
extern const struct backend cpu_backend;
extern const struct backend fake_backend;

#endif
