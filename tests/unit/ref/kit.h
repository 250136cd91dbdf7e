/* tests/unit/ref/kit.h: a small network on random images, and a session of the naive backend. */
#ifndef CHORUS_TESTS_UNIT_REF_KIT_H
#define CHORUS_TESTS_UNIT_REF_KIT_H

#include "engine/backend.h"
#include "tests/test.h"

#include <stdint.h>

#define KIT_MEMBERS 8
#define KIT_IMAGES  256

struct kit {
    struct net *net;
    struct data_set data;
    struct backend_plan plan;
    struct rng_key key[KIT_MEMBERS];
    int place[KIT_MEMBERS];
    uint32_t order[KIT_IMAGES];
    const uint32_t *orders[KIT_MEMBERS];
    double lr;
    struct backend_session *s;
};

/* Random images of the shape that the text's input line demands, and a plan in fp64: plain SGD, one
 * device. What a test wants otherwise it changes in k->plan before kit_open. */
static inline bool kit_make(struct kit *k, const char *text, size_t batch)
{
    struct net_wants wants = {.classes = 5};
    struct err e;
    float *values;
    uint16_t *labels;
    size_t size;

    memset(k, 0, sizeof *k);
    if (net_parse(&k->net, text, strlen(text), "test.net", &wants, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
        return false;
    }
    size = (size_t)k->net->input.h * (size_t)k->net->input.w * (size_t)k->net->input.c;
    values = malloc(KIT_IMAGES * size * sizeof *values);
    labels = malloc(KIT_IMAGES * sizeof *labels);
    rng_uniform(rng_key(77), KIT_IMAGES * size, -1, 1, values);
    for (uint32_t i = 0; i < KIT_IMAGES; i++) {
        labels[i] = (uint16_t)(rng_bits_at(rng_key(78), i) % 5);
        k->order[i] = (uint32_t)(((uint64_t)i * 37 + 11) % KIT_IMAGES);
    }
    k->data.shape = k->net->input;
    k->data.classes = 5;
    k->data.train = (struct data_part){KIT_IMAGES, NULL, values, labels};
    k->data.test = k->data.train;
    k->lr = 0.1;
    k->plan = (struct backend_plan){
        .net = k->net,
        .data = &k->data,
        .mode = SPEC_DATA_PARALLEL,
        .precision = SPEC_FP64,
        .optimizer = SPEC_SGD,
        .momentum = 0.9,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8,
        .batch = batch,
        .devices = 1,
        .members = 1,
        .member_device = k->place,
        .model_key = k->key,
        .threads = 1,
    };
    return true;
}

static inline size_t kit_element(const struct kit *k)
{
    return backend_element(&k->plan);
}

/* Sets one kind of a member's state from floats. */
static inline bool kit_set(struct kit *k, int member, enum backend_kind kind, const float *from,
                           size_t n)
{
    double *wide = malloc((n ? n : 1) * sizeof *wide);
    struct err e;
    enum err_code code;

    for (size_t i = 0; i < n; i++)
        wide[i] = (double)from[i];
    code = ref_backend.state(k->s, member, kind, true,
                             kit_element(k) == 8 ? (void *)wide : (void *)from, &e);
    free(wide);
    if (code != ERR_OK)
        TEST_FAILED("%s", e.text);
    return code == ERR_OK;
}

/* Opens the session; every member starts from initial weights of its own key, biases moved away from
 * zero so that they matter. */
static inline bool kit_open(struct kit *k)
{
    size_t n = k->net->parameter_count;
    float *params = malloc((n + 1) * sizeof *params), *shift = malloc((n + 1) * sizeof *shift);
    float *stats = malloc((k->net->stat_count + 1) * sizeof *stats);
    bool fine = true;
    struct err e;

    for (int m = 0; m < k->plan.members; m++) {
        k->orders[m] = k->order;
        k->place[m] = m % k->plan.devices;
        if (!k->key[m].w[0] && !k->key[m].w[1])
            k->key[m] = net_model_key(3, k->plan.mode == SPEC_ENSEMBLE ? k->plan.members : 0, m);
    }
    if (ref_backend.open(&k->plan, &k->s, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
        fine = false;
    }
    for (int m = 0; fine && m < k->plan.members; m++) {
        net_init(k->net, SPEC_INIT_LECUN, 0, k->key[m], params, stats);
        rng_uniform(rng_fold_in(k->key[m], 99), n, -0.1f, 0.1f, shift);
        for (size_t i = 0; i < n; i++)
            params[i] += shift[i];
        fine = kit_set(k, m, BACKEND_PARAMS, params, n) &&
               kit_set(k, m, BACKEND_STATS, stats, k->net->stat_count);
    }
    free(params);
    free(shift);
    free(stats);
    return fine;
}

/* Steps [first, first + count) of one epoch in a single span; results (count, units). Returns the
 * steps done. */
static inline size_t kit_train(struct kit *k, size_t first, size_t count,
                               struct backend_step *results, const atomic_bool *stop)
{
    double lr[64];
    struct backend_span span = {
        .first_step = first,
        .count = count,
        .first_batch = first,
        .order = k->orders,
        .lr = lr,
        .order_key = rng_key(5),
        .stop = stop,
    };
    size_t done = 0;
    struct err e;

    for (size_t i = 0; i < 64; i++)
        lr[i] = k->lr / (double)(1 + i + first);
    if (ref_backend.train(k->s, &span, results, &done, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    return done;
}

/* One kind of a member's state, to be freed. */
static inline void *kit_state(struct kit *k, int member, enum backend_kind kind)
{
    size_t n = kind == BACKEND_STATS ? k->net->stat_count : k->net->parameter_count;
    void *bytes = malloc((n + 1) * kit_element(k));
    struct err e;

    memset(bytes, 0, (n + 1) * kit_element(k));
    if (ref_backend.state(k->s, member, kind, false, bytes, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    return bytes;
}

/* Parameters, statistics and slots of all members, one behind the other, to be freed. */
static inline void *kit_everything(struct kit *k, size_t *bytes)
{
    size_t params = k->net->parameter_count * kit_element(k);
    size_t stats = k->net->stat_count * kit_element(k);
    int slots = backend_slots(k->plan.optimizer);
    size_t each = params * (size_t)(1 + slots) + stats;
    char *all = malloc(each * (size_t)k->plan.members + 1);

    for (int m = 0; m < k->plan.members; m++) {
        char *at = all + each * (size_t)m;
        const enum backend_kind kinds[] = {BACKEND_PARAMS, BACKEND_STATS, BACKEND_SLOT1,
                                           BACKEND_SLOT2};

        for (int i = 0; i < 2 + slots; i++) {
            void *part = kit_state(k, m, kinds[i]);
            size_t size = kinds[i] == BACKEND_STATS ? stats : params;

            memcpy(at, part, size);
            at += size;
            free(part);
        }
    }
    *bytes = each * (size_t)k->plan.members;
    return all;
}

/* Parameters and statistics as doubles; the largest difference of two sessions' parameters. */
static inline double kit_distance(struct kit *a, struct kit *b, enum backend_kind kind)
{
    double *x = kit_state(a, 0, kind), *y = kit_state(b, 0, kind), far = 0;
    size_t n = kind == BACKEND_STATS ? a->net->stat_count : a->net->parameter_count;

    for (size_t i = 0; i < n; i++)
        far = fmax(far, fabs(x[i] - y[i]));
    free(x);
    free(y);
    return far;
}

static inline void kit_free(struct kit *k)
{
    ref_backend.close(k->s);
    net_free(k->net);
    free((void *)k->data.train.values);
    free((void *)k->data.train.labels);
}

#endif
