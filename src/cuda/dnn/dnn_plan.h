/* cuda/dnn/dnn_plan.h: how cuDNN would compute a convolution: the first deterministic plan of its
 * heuristics with the arithmetic that was asked for. One is picked by timing only where that is asked
 * for, and then kept, so that the same machine gives the same bits. Plans can be kept as text and made
 * again from it. */
#ifndef CHORUS_CUDA_DNN_DNN_PLAN_H
#define CHORUS_CUDA_DNN_DNN_PLAN_H

#include "cuda/launch/conv.h"
#include "cuda/dnn/dnn_abi.h"

enum cuda_dnn_pass { CUDA_DNN_FORWARD, CUDA_DNN_INPUT, CUDA_DNN_WEIGHTS };
#define CUDA_DNN_PASSES 3

/* Unique numbers of the tensors: what an execution gives addresses for. Activations are (n, h, w, c),
 * weights (oc, k, k, c). */
enum { CUDA_DNN_X = 1, CUDA_DNN_W, CUDA_DNN_Y };

/* For whom: a GPU that is here (handle), or one that is described (device: see cuda_dnn_describe). */
struct cuda_dnn_for {
    void *handle;
    dnn_descriptor device;
};

struct cuda_dnn_plan {
    dnn_descriptor plan;
    int64_t engine;
    char mark[17]; /* what tells it from others of its engine; "" until cuda_dnn_plan_mark */
    size_t workspace;
    int candidates, usable; /* of the heuristics, and those of them that would do */
    bool tuned;             /* picked by its time */
    bool executed;          /* and with that loaded */
};

/* A GPU described in cuDNN's JSON, for plans without one. */
enum err_code cuda_dnn_describe(const char *json, dnn_descriptor *out, struct err *e);
/* most: bytes of workspace. Only models = 1 is looked at. */
enum err_code cuda_dnn_plan_make(struct cuda_dnn_plan *out, const struct cuda_dnn_for *who,
                                 const struct cuda_conv *c, enum cuda_dnn_pass pass, size_t most,
                                 struct err *e);
/* The first of them in cuDNN's order, `room` at most; returns how many, 0 and why. */
int cuda_dnn_plans_make(struct cuda_dnn_plan *out, int room, const struct cuda_dnn_for *who,
                        const struct cuda_conv *c, enum cuda_dnn_pass pass, size_t most,
                        struct err *e);
/* Times n plans of the same operation on the GPU of the handle and its stream (dnn_plan_tune.c), with memory
 * taken for that: the quickest one's number, the first one's where none is clearly quicker. Or that
 * none was timed (no memory for it, or no choice), or that the GPU did not answer for limit_ms: what it
 * computes on stays taken, the plans too. */
enum { CUDA_DNN_UNTIMED = -1, CUDA_DNN_NO_ANSWER = -2 };
int cuda_dnn_quickest(const struct cuda_dnn_for *who, struct cuda_stream *s, int limit_ms,
                      const struct cuda_conv *c, const struct cuda_dnn_plan *plan, int n);
/* The plan as text (freed by the caller), and again from it. */
enum err_code cuda_dnn_plan_save(const struct cuda_dnn_plan *p, char **json, size_t *bytes,
                                 struct err *e);
enum err_code cuda_dnn_plan_load(struct cuda_dnn_plan *out, const struct cuda_dnn_for *who,
                                 const char *json, size_t bytes, struct err *e);
/* An engine computes in many ways: tiles, parts of the depth. The mark is a hash of what cuDNN's text says
 * of them. */
void cuda_dnn_plan_mark(struct cuda_dnn_plan *p);
void cuda_dnn_plan_free(struct cuda_dnn_plan *p);

/* "forward-n256-28x28x64-28x28x64-3x3-s1-p1.1.1.1-bf16": the whole of what the plan is of, as part of a
 * file's name, for numbers of any length. */
#define CUDA_DNN_NAME 192
void cuda_dnn_name(const struct cuda_conv *c, enum cuda_dnn_pass pass, char out[CUDA_DNN_NAME]);

#endif
