/* A session of the CPU backend on made-up images, for tests of its threads: one call opens it with
 * weights from a seed, one makes steps. All members go through the images in their own order. */
#ifndef CHORUS_TESTS_PARITY_MADE_RUN_H
#define CHORUS_TESTS_PARITY_MADE_RUN_H

#include "base/mem.h"
#include "engine/backend.h"
#include "tests/test.h"

#define MADE_MEMBERS 16

struct made_run {
    struct net *net;
    struct data_set set;
    struct backend_plan plan; /* the caller may change it between made_plan and made_open */
    struct backend_session *s;
    float lut[256];
    uint32_t *order;
    const uint32_t *orders[MADE_MEMBERS];
    struct rng_key key[MADE_MEMBERS];
    int place[MADE_MEMBERS];
    struct backend_step *rows; /* (most steps of a call, units) */
    double *lr;
    size_t most; /* batches of an epoch */
    size_t step; /* made so far */
    atomic_bool stop;
};

/* text: the name of a built-in net, or layers if it has more lines than one. batches: of an epoch. */
static inline bool made_plan(struct made_run *r, const char *text, struct net_shape shape,
                             size_t batch, size_t batches)
{
    struct net_wants wants = {.input = shape, .classes = 10};
    size_t pixels = (size_t)shape.h * (size_t)shape.w * (size_t)shape.c, images = batch * batches;
    struct err e = {0};

    *r = (struct made_run){.most = batches};
    if (strchr(text, '\n') ? net_parse(&r->net, text, strlen(text), "made.net", &wants, &e)
                           : net_open(&r->net, text, &wants, &e)) {
        TEST_FAILED("%s", e.text);
        return false;
    }
    uint8_t *bytes = mem_new(images * pixels, 1);
    uint16_t *labels = mem_new(images, sizeof *labels);
    r->order = mem_new(images, sizeof *r->order);
    for (size_t i = 0; i < images * pixels; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    for (size_t i = 0; i < images; i++) {
        labels[i] = (uint16_t)(i * 7 % 10);
        r->order[i] = (uint32_t)(images - 1 - i);
    }
    for (int i = 0; i < 256; i++)
        r->lut[i] = (float)i / 255.0f;
    for (int m = 0; m < MADE_MEMBERS; m++) {
        r->orders[m] = r->order;
        r->key[m] = rng_fold_in(rng_key(5), (uint32_t)m);
    }
    r->lr = mem_new(batches, sizeof *r->lr);
    for (size_t i = 0; i < batches; i++)
        r->lr[i] = 0.01;
    r->set = (struct data_set){.shape = shape, .classes = 10, .lut = r->lut};
    r->set.train = (struct data_part){.count = images, .bytes = bytes, .labels = labels};
    r->plan = (struct backend_plan){.net = r->net,
                                    .data = &r->set,
                                    .momentum = 0.9,
                                    .beta1 = 0.9,
                                    .beta2 = 0.999,
                                    .epsilon = 1e-8,
                                    .batch = batch,
                                    .devices = 1,
                                    .all_devices = 1,
                                    .members = 1,
                                    .member_device = r->place,
                                    .model_key = r->key,
                                    .threads = 2};
    return true;
}

static inline bool made_open(struct made_run *r, const struct backend *be)
{
    size_t n = r->net->parameter_count, stats = r->net->stat_count;
    float *param = mem_new(n + stats + 1, sizeof *param);
    struct err e = {0};
    bool good = be->open(&r->plan, &r->s, &e) == ERR_OK;

    r->plan.all_devices = r->plan.devices;
    r->rows = mem_new(r->most * (size_t)backend_units(&r->plan), sizeof *r->rows);
    for (int m = 0; m < r->plan.members && good; m++) {
        net_init(r->net, SPEC_INIT_MODEL, 0, r->key[m], param, param + n);
        good = be->state(r->s, m, BACKEND_PARAMS, true, param, &e) == ERR_OK &&
               (!stats || be->state(r->s, m, BACKEND_STATS, true, param + n, &e) == ERR_OK);
    }
    if (!good)
        TEST_FAILED("%s", e.text);
    free(param);
    return good;
}

/* Returns how many steps were made; the rows are from r->rows on. */
static inline size_t made_train(struct made_run *r, const struct backend *be, size_t count)
{
    struct backend_span span = {.first_step = r->step,
                                .count = count,
                                .first_batch = r->step % r->most,
                                .order = r->orders,
                                .lr = r->lr,
                                .stop = &r->stop};
    size_t done = 0;
    struct err e = {0};

    if (be->train(r->s, &span, r->rows, &done, &e))
        TEST_FAILED("%s", e.text);
    r->step += done;
    return done;
}

/* The parameters of a member, freed by the caller. */
static inline float *made_params(struct made_run *r, const struct backend *be, int member)
{
    float *param = mem_new(r->net->parameter_count + 1, sizeof *param);
    struct err e = {0};

    if (be->state(r->s, member, BACKEND_PARAMS, false, param, &e))
        TEST_FAILED("%s", e.text);
    return param;
}

static inline void made_close(struct made_run *r, const struct backend *be)
{
    be->close(r->s);
    net_free(r->net);
    free((void *)r->set.train.bytes);
    free((void *)r->set.train.labels);
    free(r->order);
    free(r->lr);
    free(r->rows);
}

#endif
