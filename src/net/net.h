/* net/net.h: a network as a table of layers: parsed from text, shapes inferred, parameters laid out
 * in one flat vector in Flax's layouts, drawn by Flax's keys. Activations are (image, h, w, c). */
#ifndef CHORUS_NET_H
#define CHORUS_NET_H

#include "base/err.h"
#include "base/text.h"
#include "rng/rng.h"
#include "spec/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum net_op {
    NET_CONV,
    NET_DENSE,
    NET_RELU,
    NET_TANH,
    NET_AVGPOOL,
    NET_MAXPOOL,
    NET_GLOBALAVGPOOL,
    NET_BATCHNORM,
    NET_DROPOUT,
    NET_ADD, /* the end of a residual block: src + src2 */
};

struct net_shape {
    int h, w, c;
};

#define NET_IMAGES (-1) /* as src: the layer reads the images */
#define NET_NONE   (-2)

struct net_layer {
    enum net_op op;
    int src, src2; /* layers that it reads, both in front of it; src2 is NET_NONE but for NET_ADD */
    struct net_shape in, out;
    int k, stride;                                /* conv: kernel; pools: window */
    int pad_top, pad_bottom, pad_left, pad_right; /* conv */
    double rate;                                  /* dropout */
    int dropout;      /* dropout: its number in the file from 0, for its key; else -1 */
    int kernel, bias; /* tensors: kernel or batch norm's scale, bias; NET_NONE where it has none */
    int mean, var;    /* stats tensors of batch norm; NET_NONE elsewhere */
    char name[64];    /* as Flax names it: "Conv_0", "Residual_0/Conv_1"; "relu at line 7" */
    int line;         /* in the model's text */
    bool learns;      /* it has parameters, or one in front of it: its output needs a gradient */
    double flops;     /* its part of net->flops */
};

struct net_tensor {
    char name[96]; /* "Conv_0/kernel"; stats: "batch_stats/BatchNorm_0/mean" */
    int layer;
    int dims;
    size_t shape[4];      /* conv kernel (h, w, in, out); dense (in, out); others (c) */
    size_t offset, count; /* place in the flat vector, in elements */
    uint32_t fold;        /* what its key folds in, by keys.md */
    size_t fan_in, fan_out;
    enum { NET_KERNEL, NET_BIAS, NET_SCALE, NET_MEAN, NET_VAR } kind;
};

struct net {
    char *text;    /* the source, as it goes into the run folder */
    char name[64]; /* "lenet" */
    struct net_shape input;
    int classes; /* numbers that the last layer gives: as many as the data has classes, or more */
    struct net_layer *layer;
    int layers;
    struct net_tensor *param; /* one flat vector of parameter_count elements */
    int params;
    size_t parameter_count;
    struct net_tensor *stat; /* batch norm's running mean and variance: another flat vector */
    int stats;
    size_t stat_count;
    enum spec_init init; /* what the text says, never SPEC_INIT_MODEL */
    double init_std;
    double flops; /* an image: forward + weights' gradients + inputs' gradients but the first
                             layer's, 2 a multiply-add, as docs/design.md counts */
    double flops_forward; /* an image */
};

/* What a model text is read with. */
struct net_wants {
    struct net_shape input;  /* of the data; h = 0: none known, 28 28 1 where the text says auto */
    int classes;             /* of the data; 0: none known, 10 */
    const struct spec *spec; /* its model.NAME values; may be NULL */
};

/* file names the text in errors, which name the line, the layer and both shapes. The text may use
 * only its own params; an unknown model.NAME is an error. Fewer outputs than classes is one too. */
enum err_code net_parse(struct net **out, const char *text, size_t n, const char *file,
                        const struct net_wants *wants, struct err *e) MUST_USE;
/* By docs/design.md: a built-in name, a name in ./models, or a path (with a slash, or ending .net). */
enum err_code net_open(struct net **out, const char *model, const struct net_wants *wants,
                       struct err *e) MUST_USE;
/* The file that a model's name or path means; NULL: it is built in. The caller frees it. */
char *net_file(const char *model);
/* The text of a model as it is found then, and the name of its file for messages; the caller frees
 * both. */
enum err_code net_find(const char *model, char **text, size_t *n, char **file,
                       struct err *e) MUST_USE;
void net_free(struct net *net);

/* The input shape that a model's text demands; all 0 where it says auto. Used before data is opened
 * (synthetic takes its shape from the model). */
enum err_code net_demands(const char *model, struct net_shape *shape, struct err *e) MUST_USE;
enum err_code net_read_demands(const char *text, size_t n, const char *file,
                               struct net_shape *shape, struct err *e) MUST_USE;

/* Initial parameters by Flax's rules in float32. Kernels: lecun and he are truncated normals of
 * variance 1 and 2 / fan_in, xavier is uniform in +- sqrt(6 / (fan_in + fan_out)), normal is N(0,
 * init_std). Biases are 0 (SPEC_INIT_NORMAL_BIAS: drawn too), batch norm's scales 1, its biases and
 * means 0, its variances 1. SPEC_INIT_MODEL: what the text says, init_std unused.
 * params (parameter_count), stats (stat_count; may be NULL where there are none). key: that of the
 * model itself (init, or split(init)[member]). */
void net_init(const struct net *net, enum spec_init init, double init_std, struct rng_key key,
              float *params, float *stats);
/* The key of model m of an ensemble of `members`, or with 0 that of a single model: an ensemble of one
 * starts as member 0 of a larger one does, so that ensembles of 1, 2, 4, ... can be compared. */
struct rng_key net_model_key(uint64_t seed, int members, int m);
/* The key from which epoch (from 1) draws its order. */
struct rng_key net_order_key(uint64_t seed, int64_t epoch);

const char *net_op_name(enum net_op op);
void net_shape_text(const struct net_shape *s, char out[48]); /* "28x28x1" */

/* Models built into the program, as spec_builtin. */
const char *net_builtin(const char *name);
const char *net_builtin_name(int i);

#endif
