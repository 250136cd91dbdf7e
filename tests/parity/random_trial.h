/* tests/parity/random_trial.h: a random network with images, weights and a plan, and what a backend
 * makes of it in two steps of training and an evaluation. The same number gives the same trial for
 * ever. */
#ifndef CHORUS_TESTS_RANDOM_TRIAL_H
#define CHORUS_TESTS_RANDOM_TRIAL_H

#include "tests/parity/random_net.h"

#include "base/mem.h"
#include "engine/backend.h"
#include "tests/test.h"

#define SEED       2026
#define STEP_FLOPS 0.25e9 /* of the naive backend, for one step */
#define STEP_ROOM  4e6    /* elements of all outputs of a batch */
#define MEMBERS    8
#define STEPS      2

struct trial {
    int number;
    struct random_net r;
    struct net *net;
    struct data_set set;
    struct backend_plan plan;
    size_t images, pixels, count; /* count: evaluated */
    uint32_t *version;            /* (images): of the draw of an image */
    bool *bright;                 /* (images): drawn without the black */
    uint8_t *bytes;
    float *values, lut[5 * 256];
    uint16_t *labels;
    uint32_t *order;
    const uint32_t *orders[MEMBERS];
    struct rng_key keys[MEMBERS], data_key;
    int member_device[MEMBERS];
    double lr;
    bool black; /* no biases, and images on a background of zeros, as drawings have it: there a
                   convolution's sums are exactly zero, and a rectifier must see that */
    float *params, *stats; /* the first ones, (members, count) */
};

/* What a backend made of it, all as doubles. */
struct seen {
    struct backend_step rows[STEPS][MEMBERS];
    double *tensor[4]; /* by enum backend_what: all layers behind each other; (members) */
    bool *there[4];    /* (members, layers) */
    double *params[STEPS], *slot[STEPS][2], *stats[STEPS], *logits;
};

/* ---- the images: coarse shapes and noise, so that they differ after any pooling too ---- */

static inline void draw_image(struct trial *t, size_t i)
{
    struct draw d = {rng_fold_in(rng_fold_in(t->data_key, (uint32_t)i), t->version[i]), 0};
    struct net_shape s = t->set.shape;
    double coarse[4][4][5];

    int edge[4] = {draw_int(&d, 0, s.h / 2), draw_int(&d, s.h / 2 + 1, s.h),
                   draw_int(&d, 0, s.w / 2), draw_int(&d, s.w / 2 + 1, s.w)};
    for (int c = 0; c < 16 * 5; c++)
        (&coarse[0][0][0])[c] = draw_unit(&d);
    for (int y = 0; y < s.h; y++) {
        for (int x = 0; x < s.w; x++) {
            for (int c = 0; c < s.c; c++) {
                double v = 0.7 * coarse[4 * y / s.h][4 * x / s.w][c] + 0.3 * draw_unit(&d);
                size_t at = i * t->pixels + (size_t)((y * s.w + x) * s.c + c);
                if (t->black && !t->bright[i] &&
                    (y < edge[0] || y >= edge[1] || x < edge[2] || x >= edge[3]))
                    v = t->bytes ? 0 : 0.5;
                if (t->bytes)
                    t->bytes[at] = (uint8_t)(255 * v);
                else
                    t->values[at] = (float)(2 * v - 1);
            }
        }
    }
}

/* ---- a trial ---- */

static inline void draw_weights(struct trial *t, struct rng_key key)
{
    const struct net *net = t->net;

    for (int m = 0; m < t->plan.members; m++) {
        struct rng_key own = rng_fold_in(key, (uint32_t)m);
        float *params = t->params + (size_t)m * net->parameter_count;
        float *stats = t->stats + (size_t)m * net->stat_count;
        for (int i = 0; i < net->params; i++) {
            const struct net_tensor *p = &net->param[i];
            float wide = sqrtf(4.5f / (float)p->fan_in); /* between lecun and he */
            bool scale = p->kind == NET_SCALE;
            if (t->black && p->kind == NET_BIAS)
                continue;
            rng_uniform(rng_fold_in(own, (uint32_t)i), p->count,
                        scale                   ? 0.5f
                        : p->kind == NET_KERNEL ? -wide
                                                : -0.2f,
                        scale                   ? 1.5f
                        : p->kind == NET_KERNEL ? wide
                                                : 0.2f,
                        params + p->offset);
        }
        for (int i = 0; i < net->stats; i++) {
            const struct net_tensor *p = &net->stat[i];
            bool var = p->kind == NET_VAR;
            rng_uniform(rng_fold_in(own, 10000 + (uint32_t)i), p->count, var ? 0.5f : -0.2f,
                        var ? 1.5f : 0.2f, stats + p->offset);
        }
    }
}

/* Batch, devices, members, threads: also fewer images than a group has lanes, and more threads than
 * there are groups, images, units or cores. False where batch norm would see too few values. */
static inline bool draw_plan(struct trial *t, struct draw *d)
{
    struct backend_plan *p = &t->plan;
    bool ensemble = draw_chance(d, 20);
    double most;

    p->net = t->net;
    p->data = &t->set;
    p->member_device = t->member_device;
    p->model_key = t->keys;
    p->mode = ensemble ? SPEC_ENSEMBLE : SPEC_DATA_PARALLEL;
    p->devices = draw_chance(d, 50) ? 1 : draw_int(d, 2, draw_chance(d, 75) ? 3 : MEMBERS);
    int most_members = draw_chance(d, 75) && p->devices < 4 ? 4 : MEMBERS;
    p->members = ensemble ? draw_int(d, p->devices, most_members) : 1;
    p->threads = draw_chance(d, 60)                     ? draw_int(d, 1, 3)
                 : p->devices > 1 && draw_chance(d, 50) ? p->devices * draw_int(d, 1, 2)
                                                        : draw_int(d, 4, 8);
    p->optimizer =
        (enum spec_optimizer)(draw_chance(d, 40) ? 0 : draw_int(d, SPEC_SGD, SPEC_ADAMW));
    p->momentum = 0.9;
    p->beta1 = 0.9;
    p->beta2 = 0.99;
    p->sync_bn = draw_chance(d, 30);
    p->sum_loss = draw_chance(d, 20);
    if (draw_chance(d, 25))
        p->weight_decay = 0.01;
    if (draw_chance(d, 25))
        p->grad_clip = 0.02 * pow(100, draw_unit(d));
    if (draw_chance(d, 15)) {
        p->augment = (unsigned)draw_int(d, 1, 7);
        p->crop_pad = draw_int(d, 1, 3);
    }

    most = STEP_FLOPS / t->net->flops;
    most = fmin(most, STEP_ROOM / (t->r.outputs + (double)t->pixels)) / p->members;
    int batch = draw_int(d, 1, draw_chance(d, t->r.odd ? 60 : 20) ? 15 : 100);
    int unit = ensemble ? 1 : p->devices;
    batch = batch > most ? (int)most : batch;
    batch -= batch % unit;
    if (batch % 16 == 0 && batch > unit)
        batch -= unit;
    if (batch < unit)
        batch = unit;
    int apart = ensemble || p->sync_bn ? 1 : p->devices;
    p->batch = (size_t)batch;
    p->all_devices = p->devices;
    /* Adam's root of a tiny gradient is all rounding: a large epsilon keeps it a function of it. */
    p->epsilon = 0.02 * (p->sum_loss ? batch / unit : 1);
    t->lr = p->optimizer >= SPEC_ADAM ? 0.003 : 0.05 / (p->sum_loss ? batch / unit : 1);
    return !t->r.normed || batch / apart * t->r.norm_pixels >= 24;
}

/* How many images are evaluated: now and then more than the threads' buffers hold. */
static inline int draw_count(const struct trial *t, struct draw *d)
{
    double most = STEP_FLOPS / t->net->flops_forward / t->plan.members;
    int count = draw_chance(d, 85) ? draw_int(d, 1, 21) : draw_int(d, 22, 400);

    return count > most && count > 21 ? 21 : count;
}

static inline uint64_t trial_seed(void)
{
    const char *seed = getenv("CHORUS_TEST_SEED");

    return seed ? (uint64_t)atoll(seed) : SEED;
}

static inline bool trial_open(struct trial *t, int number)
{
    struct err e = {0};

    for (uint32_t turn = 0;; turn++) {
        struct rng_key key =
            rng_fold_in(rng_fold_in(rng_key(trial_seed()), (uint32_t)number), turn);
        struct draw d = {.key = rng_fold_in(key, 1)};
        struct net_wants wants;

        *t = (struct trial){.number = number, .data_key = rng_fold_in(key, 2)};
        random_make(&t->r, rng_fold_in(key, 0), number);
        wants = (struct net_wants){.input = t->r.input, .classes = t->r.classes};
        if (net_parse(&t->net, text_str(&t->r.text), t->r.text.n, "random.net", &wants, &e)) {
            TEST_FAILED("network %d: %s\n%s", number, e.text, text_str(&t->r.text));
            text_free(&t->r.text);
            return false;
        }
        t->pixels = (size_t)(t->r.input.h * t->r.input.w * t->r.input.c);
        if (draw_plan(t, &d)) {
            bool bytes = draw_chance(&d, 60);
            t->black = draw_chance(&d, 30) || number == RANDOM_ZEROS;
            t->count = (size_t)draw_count(t, &d);
            t->images = STEPS * t->plan.batch + 24;
            t->images = t->count < t->images ? t->images : t->count + 1;
            if (bytes)
                t->bytes = mem_new(t->images * t->pixels, 1);
            else
                t->values = mem_new(t->images * t->pixels, sizeof *t->values);
            break;
        }
        net_free(t->net);
        text_free(&t->r.text);
    }
    t->labels = mem_new(t->images, sizeof *t->labels);
    t->order = mem_new(t->images, sizeof *t->order);
    t->version = mem_new(t->images, sizeof *t->version);
    t->bright = mem_new(t->images, sizeof *t->bright);
    for (int i = 0; i < 5 * 256; i++)
        t->lut[i] = (float)(i % 256 - (t->black ? 0 : 100 + i / 256)) / 110.0f;
    t->set = (struct data_set){.shape = t->r.input, .classes = t->r.classes};
    t->set.lut = t->bytes ? t->lut : NULL;
    t->set.train = (struct data_part){t->images, t->bytes, t->values, t->labels};
    t->set.test = t->set.train;
    for (size_t i = 0; i < t->images; i++) {
        t->labels[i] = (uint16_t)(rng_bits_at(t->data_key, i) % (uint32_t)(t->r.classes));
        t->order[i] = (uint32_t)(t->images - 1 - i);
        draw_image(t, i);
    }
    for (int m = 0; m < MEMBERS; m++) {
        t->orders[m] = t->order;
        t->keys[m] = rng_fold_in(t->data_key, 77 + (uint32_t)m);
        t->member_device[m] = m % t->plan.devices;
    }
    size_t members = (size_t)t->plan.members;
    t->params = mem_new(members * t->net->parameter_count, sizeof *t->params);
    t->stats = mem_new(members * t->net->stat_count + 1, sizeof *t->stats);
    draw_weights(t, rng_fold_in(t->data_key, 76));
    return true;
}

static inline void trial_close(struct trial *t)
{
    net_free(t->net);
    text_free(&t->r.text);
    free(t->bytes);
    free(t->values);
    free(t->labels);
    free(t->order);
    free(t->version);
    free(t->bright);
    free(t->params);
    free(t->stats);
}

static inline void trial_print(const struct trial *t)
{
    const struct backend_plan *p = &t->plan;
    struct text optimizer = {0};
    struct spec spec;
    char shape[48];

    spec_default(&spec);
    spec.optimizer = p->optimizer;
    spec_value(&spec, spec_key_find("optimizer"), &optimizer);
    net_shape_text(&t->r.input, shape);
    printf(
        "  network %d (CHORUS_TEST_ONLY=%d): %s, %d classes, batch %zu, %d devices, %d members%s, "
        "%d threads, %s%s%s, weight_decay %g, grad_clip %g, augment %u, %s%s, %.1f MFLOP an image, "
        "%zu parameters\n",
        t->number, t->number, shape, t->r.classes, p->batch, p->devices, p->members,
        p->mode == SPEC_ENSEMBLE ? " in an ensemble" : "", p->threads, text_str(&optimizer),
        p->sum_loss ? ", summed loss" : "", p->sync_bn ? ", sync_bn" : "", p->weight_decay,
        p->grad_clip, p->augment, t->bytes ? "bytes" : "floats", t->black ? " on black" : "",
        t->net->flops / 1e6, t->net->parameter_count);
    printf("%s", text_str(&t->r.text));
    text_free(&optimizer);
}

/* ---- running it ---- */

static inline size_t outputs_of(const struct net_layer *l)
{
    return (size_t)l->out.h * (size_t)l->out.w * (size_t)l->out.c;
}

static inline size_t tensor_size(const struct trial *t, int what, int layer)
{
    const struct net_layer *l = &t->net->layer[layer];

    if (what == BACKEND_OUTPUT || what == BACKEND_GRAD_OUTPUT)
        return t->plan.batch * outputs_of(l);
    int tensor = what == BACKEND_GRAD_KERNEL ? l->kernel : l->bias;
    return tensor < 0 ? 0 : t->net->param[tensor].count;
}

/* Where the layer's numbers start among those of all layers, or with layer = layers their sum. */
static inline size_t tensor_at(const struct trial *t, int what, int layer)
{
    size_t at = 0;

    for (int i = 0; i < layer; i++)
        at += tensor_size(t, what, i);
    return at;
}

static inline void move_state(const struct backend *be, struct backend_session *s,
                              const struct trial *t, enum backend_kind kind, bool wide,
                              const float *set, double *get)
{
    size_t n = kind == BACKEND_STATS ? t->net->stat_count : t->net->parameter_count;
    double *own = mem_new(n + 1, sizeof *own);
    float *narrow = (float *)own;
    struct err e = {0};

    for (int m = 0; m < t->plan.members && n; m++) {
        for (size_t i = 0; set && i < n; i++) {
            if (wide)
                own[i] = (double)set[(size_t)m * n + i];
            else
                narrow[i] = set[(size_t)m * n + i];
        }
        if (be->state(s, m, kind, set != NULL, own, &e))
            TEST_FAILED("%s: %s", be->name, e.text);
        for (size_t i = 0; get && i < n; i++)
            get[(size_t)m * n + i] = wide ? own[i] : (double)narrow[i];
    }
    free(own);
}

static inline void peek_all(const struct backend *be, struct backend_session *s,
                            const struct trial *t, struct seen *seen)
{
    for (int what = 0; what < 4; what++) {
        size_t all = tensor_at(t, what, t->net->layers);
        seen->tensor[what] = mem_new((size_t)t->plan.members * all + 1, sizeof(double));
        seen->there[what] = mem_new((size_t)(t->plan.members * t->net->layers), sizeof(bool));
        for (int m = 0; m < t->plan.members; m++) {
            double *at = seen->tensor[what] + (size_t)m * all;
            for (int i = 0; i < t->net->layers; i++) {
                enum backend_peek answer = BACKEND_FUSED;
                struct err e = {0};
                size_t n = tensor_size(t, what, i);
                if (n && be->peek(s, m, i, (enum backend_what)what, at, n, &answer, &e))
                    TEST_FAILED("%s: %s", be->name, e.text);
                seen->there[what][m * t->net->layers + i] = answer == BACKEND_PEEKED;
                at += n;
            }
        }
    }
}

/* What a session begins with: t's weights, or all that another had after its first step. */
static inline void set_out(const struct backend *be, struct backend_session *s,
                           const struct trial *t, bool wide, const struct seen *from)
{
    size_t n = (size_t)t->plan.members * t->net->parameter_count;
    size_t stats = (size_t)t->plan.members * t->net->stat_count;

    if (!from) {
        move_state(be, s, t, BACKEND_PARAMS, wide, t->params, NULL);
        move_state(be, s, t, BACKEND_STATS, wide, t->stats, NULL);
        return;
    }
    float *own = mem_new((n > stats ? n : stats) + 1, sizeof *own);
    for (int kind = 0; kind < 2 + backend_slots(t->plan.optimizer); kind++) {
        const double *a = kind == 0   ? from->params[0]
                          : kind == 1 ? from->stats[0]
                                      : from->slot[0][kind - 2];
        for (size_t i = 0; i < (kind == 1 ? stats : n); i++)
            own[i] = (float)a[i]; /* as it was */
        move_state(be, s, t,
                   kind == 0   ? BACKEND_PARAMS
                   : kind == 1 ? BACKEND_STATS
                   : kind == 2 ? BACKEND_SLOT1
                               : BACKEND_SLOT2,
                   wide, own, NULL);
    }
    free(own);
}

static inline void read_state(const struct backend *be, struct backend_session *s,
                              const struct trial *t, bool wide, int step, struct seen *seen)
{
    size_t n = (size_t)t->plan.members * t->net->parameter_count;

    seen->params[step] = mem_new(n + 1, sizeof(double));
    move_state(be, s, t, BACKEND_PARAMS, wide, NULL, seen->params[step]);
    for (int i = 0; i < backend_slots(t->plan.optimizer); i++) {
        seen->slot[step][i] = mem_new(n + 1, sizeof(double));
        move_state(be, s, t, i ? BACKEND_SLOT2 : BACKEND_SLOT1, wide, NULL, seen->slot[step][i]);
    }
    seen->stats[step] = mem_new((size_t)t->plan.members * t->net->stat_count + 1, sizeof(double));
    move_state(be, s, t, BACKEND_STATS, wide, NULL, seen->stats[step]);
}

/* from: the second step alone, from what it had after its first; tensors are the second step's then.
 * NULL: both, and tensors are the first step's. */
static inline bool observe_from(const struct backend *be, struct trial *t,
                                enum spec_precision precision, const struct seen *from,
                                struct seen *seen)
{
    struct err e = {0};
    struct backend_session *s = NULL;
    size_t done = 0;
    size_t logits = (size_t)t->plan.members * t->count * (size_t)t->net->classes;
    bool wide = precision == SPEC_FP64;
    atomic_bool stop = false;

    *seen = (struct seen){0};
    t->plan.precision = precision;
    if (be->open(&t->plan, &s, &e)) {
        TEST_FAILED("%s: %s", be->name, e.text);
        return false;
    }
    set_out(be, s, t, wide, from);
    for (int i = from ? 1 : 0; i < STEPS; i++) {
        struct backend_span span = {.first_step = (uint64_t)i,
                                    .count = 1,
                                    .first_batch = (size_t)i,
                                    .order = t->orders,
                                    .lr = &t->lr,
                                    .order_key = t->data_key,
                                    .stop = &stop};
        if (be->train(s, &span, seen->rows[i], &done, &e) || done != 1)
            TEST_FAILED("%s: step %d: %s", be->name, i + 1, e.text);
        if (i == 0 || from)
            peek_all(be, s, t, seen);
        read_state(be, s, t, wide, i, seen);
    }
    float *answers = mem_new(logits, sizeof *answers);
    seen->logits = mem_new(logits, sizeof(double));
    if (be->evaluate(s, &t->set.test, 1, t->count, NULL, answers, &e))
        TEST_FAILED("%s: %s", be->name, e.text);
    for (size_t i = 0; i < logits; i++)
        seen->logits[i] = (double)answers[i];
    free(answers);
    be->close(s);
    return true;
}

static inline bool observe(const struct backend *be, struct trial *t, enum spec_precision precision,
                           struct seen *seen)
{
    return observe_from(be, t, precision, NULL, seen);
}

/* Bytes of what came out; of what is peeked, where both answer. */
static inline bool same_seen(const struct trial *t, const struct seen *a, const struct seen *b)
{
    size_t members = (size_t)t->plan.members, n = members * t->net->parameter_count;
    size_t units = (size_t)backend_units(&t->plan);
    bool same = !memcmp(a->logits, b->logits,
                        members * t->count * (size_t)t->net->classes * sizeof *a->logits);

    for (int i = 0; i < STEPS; i++) {
        same = same && !memcmp(a->params[i], b->params[i], n * sizeof **a->params) &&
               !memcmp(a->stats[i], b->stats[i], members * t->net->stat_count * sizeof **a->stats);
        for (int k = 0; k < backend_slots(t->plan.optimizer); k++)
            same = same && !memcmp(a->slot[i][k], b->slot[i][k], n * sizeof **a->slot[i]);
        for (size_t u = 0; u < units; u++)
            same = same && a->rows[i][u].loss_sum == b->rows[i][u].loss_sum &&
                   a->rows[i][u].right == b->rows[i][u].right;
    }
    for (int what = 0; what < 4; what++) {
        size_t all = tensor_at(t, what, t->net->layers);
        for (int m = 0; m < t->plan.members; m++) {
            for (int i = 0; i < t->net->layers; i++) {
                size_t at = (size_t)m * all + tensor_at(t, what, i);
                int there = m * t->net->layers + i;
                if (a->there[what][there] && b->there[what][there])
                    same = same && !memcmp(a->tensor[what] + at, b->tensor[what] + at,
                                           tensor_size(t, what, i) * sizeof **a->tensor);
            }
        }
    }
    return same;
}

static inline void seen_free(struct seen *seen)
{
    for (int i = 0; i < 4; i++) {
        free(seen->tensor[i]);
        free(seen->there[i]);
    }
    for (int i = 0; i < STEPS; i++) {
        free(seen->params[i]);
        free(seen->slot[i][0]);
        free(seen->slot[i][1]);
        free(seen->stats[i]);
    }
    free(seen->logits);
    *seen = (struct seen){0};
}

#endif
