/* tests/parity/kit.h: what tests of a backend share: a net with made-up images and a plan, sessions
 * with initial weights, spans, and comparisons with the naive backend. */
#ifndef CHORUS_TESTS_PARITY_KIT_H
#define CHORUS_TESTS_PARITY_KIT_H

#include "base/mem.h"
#include "engine/backend.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Networks that have every kind of layer, and pairs that are made as one. */
struct kit_net {
    const char *name, *text;
    struct net_shape shape;
};
static const struct kit_net kit_nets[] = {
    {"dense", "input auto\ndense 37\nrelu\ndense 10\n", {7, 5, 3}},
    {"tanh", "input auto\ndense 50\ntanh\ndense 26\ntanh\ndense 10\n", {6, 6, 1}},
    {"conv", "input auto\nconv 7 3\nrelu\navgpool 2\nconv 13 2\nrelu\ndense 10\n", {11, 9, 1}},
    {"same",
     "input auto\nconv 9 3 same\nrelu\nmaxpool 2\nconv 12 5 same\nrelu\navgpool 3\n"
     "dense 10\n",
     {13, 12, 3}},
    {"strides",
     "input auto\nconv 6 4 same stride 2\nrelu\nconv 5 3 stride 3 pad 2\ntanh\n"
     "conv 11 1 stride 2 nobias\ndense 10\n",
     {15, 14, 2}},
    {"overlap",
     "input auto\nconv 4 3\nmaxpool 3 stride 2\nrelu\navgpool 3 stride 1\ndense 10\n",
     {14, 14, 1}},
    {"norm",
     "input auto\nconv 6 3 pad 1 nobias\nbatchnorm\nrelu\nconv 8 3\nbatchnorm\nrelu\n"
     "globalavgpool\ndense 10\n",
     {9, 9, 2}},
    {"residual",
     "input auto\nconv 6 3 pad 1\nrelu\nresidual {\n conv 12 3 stride 2 pad 1\n "
     "batchnorm\n relu\n conv 12 3 pad 1\n batchnorm\n} shortcut {\n conv 12 1 stride "
     "2\n}\nrelu\nresidual {\n conv 12 3 pad 1\n}\nrelu\nglobalavgpool\ndense 10\n",
     {10, 10, 1}},
    {"residuals of all kinds",
     "input auto\nresidual {\n conv 2 3 pad 1\n batchnorm\n}\nbatchnorm\nresidual {\n tanh\n "
     "residual {\n batchnorm\n } shortcut {\n conv 2 1\n batchnorm\n }\n dropout 0.2\n}\n"
     "residual {\n batchnorm\n}\ntanh\nresidual {\n relu\n}\navgpool 2\nrelu\ndense 10\nrelu\n",
     {6, 6, 2}},
    {"dropout",
     "input auto\nconv 5 3\nrelu\ndropout 0.3\ndense 33\nrelu\ndropout 0.5\ndense 10\n",
     {9, 8, 1}},
    {"dropout at both ends",
     "input auto\ndropout 0.1\nconv 5 3\ntanh\ndense 10\ndropout 0.2\n",
     {9, 8, 1}},
    {"pools with their convolutions",
     "input auto\nconv 6 3\nrelu\navgpool 2\nconv 10 2 same\nrelu\nmaxpool 2\nconv 4 2 pad 1\n"
     "avgpool 2\ndense 10\n",
     {17, 14, 2}},
    {"pools with tanh and without",
     "input auto\nconv 4 3\ntanh\nmaxpool 2\nconv 6 3 pad 1\nmaxpool 2\ntanh\nconv 8 2\ntanh\n"
     "avgpool 2\ndense 10\n",
     {21, 19, 1}},
    {"pools alone", "input auto\navgpool 2\nmaxpool 2\ndense 10\n", {9, 8, 2}},
    {"a shortcut that begins without parameters",
     "input auto\nresidual {\n conv 8 3 same\n relu\n conv 8 3 same\n} shortcut {\n "
     "dropout 0.2\n conv 8 1\n}\nrelu\ndense 10\n",
     {8, 8, 1}},
};

#define KIT_IMAGES  256
#define KIT_MEMBERS 16
#define KIT_STEPS   64

struct kit { /* a net, data and a plan for both backends */
    struct net *net;
    struct data_set set;
    uint8_t *bytes;
    float lut[5 * 256];
    uint16_t labels[KIT_IMAGES];
    struct backend_plan plan;
    struct rng_key keys[KIT_MEMBERS];
    int member_device[KIT_MEMBERS];
    uint32_t order[KIT_MEMBERS][KIT_IMAGES];
    const uint32_t *orders[KIT_MEMBERS];
    struct rng_key order_key;
};

static inline bool kit_open(struct kit *b, const char *text, struct net_shape shape, size_t images,
                            size_t batch)
{
    struct err e = {0};
    struct net_wants wants = {.input = shape, .classes = 10};
    size_t pixels = (size_t)shape.h * (size_t)shape.w * (size_t)shape.c;

    *b = (struct kit){0};
    if (net_parse(&b->net, text, strlen(text), "test.net", &wants, &e)) {
        TEST_FAILED("%s", e.text);
        return false;
    }
    b->bytes = mem_new(images * pixels, 1);
    for (size_t i = 0; i < images * pixels; i++)
        b->bytes[i] = (uint8_t)(rng_bits_at(rng_key(7), i) >> 24);
    /* Means of such pixels are exact: whoever takes the maximum of equal ones sees that they are. */
    for (int i = 0; i < shape.c * 256; i++)
        b->lut[i] = (float)(i % 256) / 256.0f;
    for (int m = 0; m < KIT_MEMBERS; m++) {
        for (size_t i = 0; i < images; i++)
            b->order[m][i] = (uint32_t)((images - 1 - i + (size_t)m * 5) % images);
        b->orders[m] = b->order[0];
        b->keys[m] = net_model_key(3, KIT_MEMBERS, m);
    }
    for (size_t i = 0; i < images; i++)
        b->labels[i] = (uint16_t)(rng_bits_at(rng_key(8), i) % 10);
    b->set.shape = shape;
    b->set.classes = 10;
    b->set.lut = b->lut;
    b->set.train = (struct data_part){.count = images, .bytes = b->bytes, .labels = b->labels};
    b->set.test = b->set.train;
    b->order_key = rng_key(99);
    b->plan = (struct backend_plan){.net = b->net,
                                    .data = &b->set,
                                    .optimizer = SPEC_SGD,
                                    .momentum = 0.9,
                                    .beta1 = 0.9,
                                    .beta2 = 0.999,
                                    .epsilon = 1e-8,
                                    .batch = batch,
                                    .devices = 1,
                                    .all_devices = 1,
                                    .members = 1,
                                    .member_device = b->member_device,
                                    .model_key = b->keys,
                                    .threads = 2};
    return true;
}

static inline void kit_close(struct kit *b)
{
    net_free(b->net);
    free(b->bytes);
}

static inline void kit_devices(struct kit *b, int devices)
{
    b->plan.devices = b->plan.all_devices = devices;
    for (int m = 0; m < KIT_MEMBERS; m++)
        b->member_device[m] = m % devices;
}

static inline void kit_ensemble(struct kit *b, int members, int devices, bool own)
{
    b->plan.mode = SPEC_ENSEMBLE;
    b->plan.members = members;
    b->plan.own_orders = own && members > 1;
    kit_devices(b, devices);
    for (int m = 0; m < KIT_MEMBERS; m++)
        b->orders[m] = b->order[own ? m : 0];
}

/* Opens a session with the initial weights of its members. */
static inline struct backend_session *kit_session(const struct backend *be, struct kit *b)
{
    struct err e = {0};
    struct backend_session *s = NULL;
    size_t n = b->net->parameter_count, stats = b->net->stat_count;
    bool wide = b->plan.precision == SPEC_FP64;

    if (be->open(&b->plan, &s, &e)) {
        TEST_FAILED("%s: %s", be->name, e.text);
        return NULL;
    }
    float *param = mem_new(n, sizeof *param), *stat = mem_new(stats + 1, sizeof *stat);
    double *param64 = mem_new(n, 8), *stat64 = mem_new(stats + 1, 8);
    for (int m = 0; m < b->plan.members; m++) {
        net_init(b->net, SPEC_INIT_MODEL, 0, b->keys[m], param, stat);
        for (size_t i = 0; i < n; i++)
            param64[i] = (double)param[i];
        for (size_t i = 0; i < stats; i++)
            stat64[i] = (double)stat[i];
        if (be->state(s, m, BACKEND_PARAMS, true, wide ? (void *)param64 : param, &e) ||
            (stats && be->state(s, m, BACKEND_STATS, true, wide ? (void *)stat64 : stat, &e)))
            TEST_FAILED("%s: %s", be->name, e.text);
    }
    free(param);
    free(stat);
    free(param64);
    free(stat64);
    return s;
}

static inline size_t kit_train(const struct backend *be, struct backend_session *s, struct kit *b,
                               size_t first, size_t steps, struct backend_step *rows)
{
    struct err e = {0};
    double lr[KIT_STEPS];
    atomic_bool stop = false;
    size_t done = 0;
    struct backend_span span = {.first_step = first,
                                .count = steps,
                                .first_batch = first,
                                .order = b->orders,
                                .lr = lr,
                                .order_key = b->order_key,
                                .stop = &stop};

    for (size_t i = 0; i < steps; i++)
        lr[i] = b->plan.optimizer >= SPEC_ADAM ? 0.002 : 0.05;
    if (be->train(s, &span, rows, &done, &e))
        TEST_FAILED("%s: %s", be->name, e.text);
    return done;
}

/* What a comparison allows, of a tensor's largest value; rms: of its root mean square, which sees past
 * the few values in front of a relu or a maximum that rounding puts on the other side. */
struct kit_limits {
    double outputs, gradients, losses, logits;
    int right; /* answers */
    bool rms;
    bool deep; /* layers are not compared: some relu always lies within rounding of 0 */
};
static const struct kit_limits kit_tight = {2e-5, 2e-5, 1e-4, 2e-4, 1, false, false};

/* Root mean square of the differences, in units of that of the values, which is at least `least`. */
static inline double kit_rms(const double *a, const double *b, size_t n, double least)
{
    double off = 0, all = 0;

    for (size_t i = 0; i < n; i++) {
        off += (a[i] - b[i]) * (a[i] - b[i]);
        all += b[i] * b[i];
    }
    return sqrt(off / (double)n) / fmax(sqrt(all / (double)n), least);
}

/* Largest difference, in units of the largest value, which is at least `least`. */
static inline double kit_distance(const double *a, const double *b, size_t n, double least)
{
    double top = least, worst = 0;

    for (size_t i = 0; i < n; i++) {
        top = fmax(top, fabs(b[i]));
        worst = fabs(a[i] - b[i]) <= worst ? worst : fabs(a[i] - b[i]);
    }
    return worst / top;
}

/* The largest gradient of either parameter of a batch norm: both are sums of the same gradients, and in
 * units of the smaller one, which may be almost nothing, rounding is no measure. Of
 * other layers almost nothing. */
static inline double kit_norm_top(struct backend_session *slow, int member,
                                  const struct net_layer *l, int i)
{
    double top = 1e-30;

    for (int k = BACKEND_GRAD_KERNEL; l->op == NET_BATCHNORM && k <= BACKEND_GRAD_BIAS; k++) {
        struct err e = {0};
        enum backend_peek peeked = BACKEND_FUSED;
        size_t n = (size_t)l->in.c;
        double *want = mem_new(n, sizeof *want);
        CHECK(!ref_backend.peek(slow, member, i, (enum backend_what)k, want, n, &peeked, &e));
        for (size_t j = 0; j < n; j++)
            top = fmax(top, fabs(want[j]));
        free(want);
    }
    return top;
}

static inline void kit_compare_layers(const struct backend *be, struct kit *b,
                                      struct backend_session *fast, struct backend_session *slow,
                                      int member, const struct kit_limits *limits, const char *what)
{
    static const char *const names[] = {"output", "gradient", "kernel's gradient",
                                        "bias's gradient"};
    int seen[4] = {0};

    for (int i = 0; i < b->net->layers; i++) {
        const struct net_layer *l = &b->net->layer[i];
        /* a bias in front of batch norm has no gradient but rounding */
        double kernel_top = kit_norm_top(slow, member, l, i);
        for (int k = BACKEND_OUTPUT; k <= BACKEND_GRAD_BIAS; k++) {
            int tensor = k == BACKEND_GRAD_KERNEL ? l->kernel : l->bias;
            struct err e = {0};
            enum backend_peek peeked = BACKEND_FUSED, also;
            if (k >= BACKEND_GRAD_KERNEL && tensor < 0)
                continue;
            size_t n = k < BACKEND_GRAD_KERNEL
                           ? b->plan.batch * (size_t)l->out.h * (size_t)l->out.w * (size_t)l->out.c
                           : b->net->param[tensor].count;
            double *got = mem_new(n, sizeof *got), *want = mem_new(n, sizeof *want);
            if (be->peek(fast, member, i, (enum backend_what)k, got, n, &peeked, &e) ||
                ref_backend.peek(slow, member, i, (enum backend_what)k, want, n, &also, &e)) {
                TEST_FAILED("%s: %s", what, e.text);
            } else if (peeked == BACKEND_PEEKED) {
                double least = k >= BACKEND_GRAD_KERNEL ? kernel_top : 1e-30;
                double d =
                    limits->rms ? kit_rms(got, want, n, least) : kit_distance(got, want, n, least);
                seen[k]++;
                for (size_t j = 0; k == BACKEND_GRAD_KERNEL && j < n; j++)
                    kernel_top = fmax(kernel_top, fabs(want[j]));
                if (!(d <= (k == BACKEND_OUTPUT ? limits->outputs : limits->gradients)))
                    TEST_FAILED("%s: %s of %s is off by %g of its size", what, names[k], l->name,
                                d);
            }
            free(got);
            free(want);
        }
    }
    for (int k = 0; k < 4; k++)
        CHECK(seen[k] > 0);
}

static inline void kit_compare_rows(const struct backend_step *got, const struct backend_step *want,
                                    size_t n, double limit, int more, const char *what)
{
    for (size_t i = 0; i < n; i++) {
        double off = fabs(got[i].loss_sum - want[i].loss_sum) / fabs(want[i].loss_sum);
        if (!(off <= limit))
            TEST_FAILED("%s: loss %zu is %.9g, not %.9g", what, i, got[i].loss_sum,
                        want[i].loss_sum);
        if (abs((int)got[i].right - (int)want[i].right) > more)
            TEST_FAILED("%s: %u right answers in row %zu, not %u", what, got[i].right, i,
                        want[i].right);
    }
}

static inline void kit_compare_logits(const struct backend *be, struct kit *b,
                                      struct backend_session *fast, struct backend_session *slow,
                                      double limit, const char *what)
{
    struct err e = {0};
    size_t most = b->set.test.count - 3 < 37 ? b->set.test.count - 3 : 37;
    size_t count = b->plan.batch < most ? b->plan.batch + 1 : most;
    size_t n = count * (size_t)b->net->classes * (size_t)b->plan.members;
    float *a = mem_new(n, sizeof *a), *c = mem_new(n, sizeof *c);
    double *got = mem_new(n, sizeof *got), *want = mem_new(n, sizeof *want);

    if (be->evaluate(fast, &b->set.test, 3, count, NULL, a, &e) ||
        ref_backend.evaluate(slow, &b->set.test, 3, count, NULL, c, &e))
        TEST_FAILED("%s: %s", what, e.text);
    for (size_t i = 0; i < n; i++) {
        got[i] = (double)a[i];
        want[i] = (double)c[i];
    }
    double d = kit_distance(got, want, n, 1e-30);
    if (!(d <= limit))
        TEST_FAILED("%s: logits are off by %g of the largest", what, d);
    free(a);
    free(c);
    free(got);
    free(want);
}

/* One step compared layer by layer, then more steps by their losses and logits; ref computes in
 * fp64. */
static inline void kit_compare_with(const struct backend *be, struct kit *b, const char *what,
                                    size_t steps, const struct kit_limits *limits)
{
    struct backend_step got[KIT_STEPS * 8] = {0}, want[KIT_STEPS * 8] = {0};
    size_t units = (size_t)backend_units(&b->plan);
    enum spec_precision precision = b->plan.precision;
    struct backend_session *fast = kit_session(be, b);

    b->plan.precision = SPEC_FP64;
    struct backend_session *slow = kit_session(&ref_backend, b);
    b->plan.precision = precision;
    if (fast && slow) {
        CHECK_INT(kit_train(be, fast, b, 0, 1, got), 1);
        kit_train(&ref_backend, slow, b, 0, 1, want);
        for (int m = 0; m < b->plan.members && !limits->deep; m++)
            kit_compare_layers(be, b, fast, slow, m, limits, what);
        if (steps > 1) {
            CHECK_INT(kit_train(be, fast, b, 1, steps - 1, got + units), steps - 1);
            kit_train(&ref_backend, slow, b, 1, steps - 1, want + units);
        }
        kit_compare_rows(got, want, steps * units, limits->losses, limits->right, what);
        kit_compare_logits(be, b, fast, slow, limits->logits, what);
    }
    be->close(fast);
    ref_backend.close(slow);
}

#endif
