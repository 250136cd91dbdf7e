/* ref/ref_int.h: what the two precisions of the naive backend share. The arithmetic itself is in the
 * .inc files, written once in terms of REAL and compiled by ref_float.c and ref_double.c. */
#ifndef CHORUS_REF_INT_H
#define CHORUS_REF_INT_H

#include "engine/backend.h"

/* The half of the table that needs a session: one set of functions a precision. */
struct ref_ops {
    enum err_code (*open)(struct backend_session *s, struct err *e);
    void (*close)(struct backend_session *s);
    enum err_code (*train)(struct backend_session *s, const struct backend_span *span,
                           struct backend_step *results, size_t *done, struct err *e);
    enum err_code (*evaluate)(struct backend_session *s, const struct data_part *part, size_t first,
                              size_t count, const atomic_bool *stop, float *logits, struct err *e);
    enum err_code (*state)(struct backend_session *s, int member, enum backend_kind kind, bool set,
                           void *buffer, struct err *e);
    enum err_code (*peek)(struct backend_session *s, int member, int layer, enum backend_what what,
                          double *out, size_t n, struct err *e);
};
extern const struct ref_ops ref_float_ops, ref_double_ops;

struct ref_core; /* models and memory: each precision has its own */

struct backend_session {
    const struct ref_ops *ops;
    struct backend_plan plan;  /* its arrays are the two below */
    struct rng_key *model_key; /* (members) */
    int *member_device;        /* (members) */
    struct ref_core *core;
};

/* Images that evaluation takes through the network at a time. */
#define REF_EVALUATE 32

static inline size_t ref_size(const struct net_shape *s)
{
    return (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

/* Devices that share one model's batch: all of them in data-parallel, one in an ensemble. */
static inline int ref_parts(const struct backend_plan *p)
{
    return p->mode == SPEC_ENSEMBLE ? 1 : p->devices;
}

static inline int ref_models(const struct backend_plan *p)
{
    return p->mode == SPEC_ENSEMBLE ? p->members : 1;
}

/* Sets of batch statistics a step and model: one a device, or one over all devices. */
static inline int ref_groups(const struct backend_plan *p)
{
    return p->sync_bn ? 1 : ref_parts(p);
}

static inline bool ref_stopped(const atomic_bool *stop)
{
    return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

#endif
