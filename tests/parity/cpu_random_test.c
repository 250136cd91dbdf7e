/* The fast CPU backend against the naive one in double on random networks: two steps of training and
 * an evaluation of each, on every instruction set that this machine has and in every precision that
 * it can. CHORUS_TEST_NETWORKS says how many networks (60); a failing one is printed with its number,
 * CHORUS_TEST_ONLY=NUMBER runs it alone and tells more, and CHORUS_ISA=NAME keeps to one set.
 *
 * Limits. What a layer may add to the error of its output, as a share of the tensor's largest value:
 * 2e-5 a convolution that Winograd may serve (3x3 and 5x5, stride 1), 4e-6 (some thirty roundings)
 * any other layer that sums, 2e-7 (two) the rest. An output may be off by the sum over all layers in
 * front of it and itself, a gradient by twice the sum over the whole network. Where the naive backend
 * in float is off by more than a fortieth of the difference, the network itself is ill-conditioned
 * and that number proves nothing; such cases are counted.
 *
 * A rectifier or a maximum that decides about two numbers at rounding distance may decide otherwise,
 * and gradients jump. So where only gradients are off, the images whose gradients are off most are
 * replaced by others, if one of their decisions was in doubt; what is wrong with a kernel stays wrong
 * with the new ones. Equal numbers out of a black background, which a maximum cannot tell apart, are
 * got rid of with the black; zeros are not, for those must be zeros in every kernel.
 *
 * Others come from pads, and from places where a rectifier let nothing pass: a batch norm makes them
 * equal numbers that are no zeros, and Winograd rounds them differently from place to place. Which of
 * them a maximum takes says only where in front of it the gradient goes: the windows hold the same
 * numbers, so weights and biases have the same gradients, and what comes out is the same. So the
 * pixels' gradients in front of such a maximum are not judged for such an image where they are off;
 * all else is. A network where that was done counts as ill-conditioned.
 *
 * Networks with batch norm or residuals run once more with memory spared, as large ones do: what is
 * computed again must be the same bytes, so all that comes out is.
 *
 * bf16 has limits in the mean square, where such jumps count little: 1 % a layer that sums for an
 * output, 10 % and 3 % a layer for gradients; and a network is ill-conditioned where rounding nothing
 * but weights and images to bf16 does a twentieth of the difference, or where a batch norm takes away
 * a mean so large that what bf16 rounded off the input becomes 16 times as large beside the rest. */
#include "tests/parity/random_net.h"

#include "base/mem.h"
#include "cpu/team.h"
#include "engine/backend.h"
#include "tests/test.h"

#include <time.h>

#define NETWORKS    60
#define SEED        2026
#define STEP_FLOPS  0.25e9 /* of the naive backend, for one step */
#define STEP_ROOM   4e6    /* elements of all outputs of a batch */
#define MEMBERS     4
#define STEPS       2
#define REDRAWS     6
#define MOST_SPREAD 16

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
    double *params[STEPS], *slot[2], *stats, *logits;
};

/* ---- the images: coarse shapes and noise, so that they differ after any pooling too ---- */

static void draw_image(struct trial *t, size_t i)
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

static void draw_weights(struct trial *t, struct rng_key key)
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

/* Batch, devices, members; false where batch norm would see too few values. */
static bool draw_plan(struct trial *t, struct draw *d)
{
    struct backend_plan *p = &t->plan;
    bool ensemble = draw_chance(d, 20);
    double most;

    p->net = t->net;
    p->data = &t->set;
    p->member_device = t->member_device;
    p->model_key = t->keys;
    p->mode = ensemble ? SPEC_ENSEMBLE : SPEC_DATA_PARALLEL;
    p->devices = draw_chance(d, 50) ? 1 : draw_int(d, 2, 3);
    p->members = ensemble ? draw_int(d, p->devices, MEMBERS) : 1;
    p->threads = draw_int(d, 1, 3);
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
    int batch = draw_int(d, 1, 100), unit = ensemble ? 1 : p->devices;
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

static bool trial_open(struct trial *t, int number)
{
    struct err e = {0};

    for (uint32_t turn = 0;; turn++) {
        struct rng_key key = rng_fold_in(rng_fold_in(rng_key(SEED), (uint32_t)number), turn);
        struct draw d = {.key = rng_fold_in(key, 1)};
        struct net_wants wants;

        *t = (struct trial){.number = number, .data_key = rng_fold_in(key, 2)};
        random_make(&t->r, rng_fold_in(key, 0));
        wants = (struct net_wants){.input = t->r.input, .classes = t->r.classes};
        if (net_parse(&t->net, text_str(&t->r.text), t->r.text.n, "random.net", &wants, &e)) {
            TEST_FAILED("network %d: %s\n%s", number, e.text, text_str(&t->r.text));
            text_free(&t->r.text);
            return false;
        }
        t->pixels = (size_t)(t->r.input.h * t->r.input.w * t->r.input.c);
        if (draw_plan(t, &d)) {
            bool bytes = draw_chance(&d, 60);
            t->black = draw_chance(&d, 30);
            t->count = (size_t)draw_int(&d, 3, 21);
            t->images = STEPS * t->plan.batch + 24;
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

static void trial_close(struct trial *t)
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

static void trial_print(const struct trial *t)
{
    static const char *const optimizers[] = {"sgd", "momentum", "nesterov", "adam", "adamw"};
    const struct backend_plan *p = &t->plan;
    char shape[48];

    net_shape_text(&t->r.input, shape);
    printf(
        "  network %d (CHORUS_TEST_ONLY=%d): %s, %d classes, batch %zu, %d devices, %d members%s, "
        "%d threads, %s%s%s, weight_decay %g, grad_clip %g, augment %u, %s%s, %.1f MFLOP an image, "
        "%zu parameters\n",
        t->number, t->number, shape, t->r.classes, p->batch, p->devices, p->members,
        p->mode == SPEC_ENSEMBLE ? " in an ensemble" : "", p->threads, optimizers[p->optimizer],
        p->sum_loss ? ", summed loss" : "", p->sync_bn ? ", sync_bn" : "", p->weight_decay,
        p->grad_clip, p->augment, t->bytes ? "bytes" : "floats", t->black ? " on black" : "",
        t->net->flops / 1e6, t->net->parameter_count);
    printf("%s", text_str(&t->r.text));
}

/* ---- running it ---- */

static size_t outputs_of(const struct net_layer *l)
{
    return (size_t)l->out.h * (size_t)l->out.w * (size_t)l->out.c;
}

static size_t tensor_size(const struct trial *t, int what, int layer)
{
    const struct net_layer *l = &t->net->layer[layer];

    if (what == BACKEND_OUTPUT || what == BACKEND_GRAD_OUTPUT)
        return t->plan.batch * outputs_of(l);
    int tensor = what == BACKEND_GRAD_KERNEL ? l->kernel : l->bias;
    return tensor < 0 ? 0 : t->net->param[tensor].count;
}

/* Where the layer's numbers start among those of all layers, or with layer = layers their sum. */
static size_t tensor_at(const struct trial *t, int what, int layer)
{
    size_t at = 0;

    for (int i = 0; i < layer; i++)
        at += tensor_size(t, what, i);
    return at;
}

static void move_state(const struct backend *be, struct backend_session *s, const struct trial *t,
                       enum backend_kind kind, bool wide, const float *set, double *get)
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

static void peek_all(const struct backend *be, struct backend_session *s, const struct trial *t,
                     struct seen *seen)
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

static bool observe(const struct backend *be, struct trial *t, enum spec_precision precision,
                    struct seen *seen)
{
    struct err e = {0};
    struct backend_session *s = NULL;
    size_t n = (size_t)t->plan.members * t->net->parameter_count, done = 0;
    size_t logits = (size_t)t->plan.members * t->count * (size_t)t->net->classes;
    bool wide = precision == SPEC_FP64;
    atomic_bool stop = false;

    *seen = (struct seen){0};
    t->plan.precision = precision;
    if (be->open(&t->plan, &s, &e)) {
        TEST_FAILED("%s: %s", be->name, e.text);
        return false;
    }
    move_state(be, s, t, BACKEND_PARAMS, wide, t->params, NULL);
    move_state(be, s, t, BACKEND_STATS, wide, t->stats, NULL);
    for (int i = 0; i < STEPS; i++) {
        struct backend_span span = {.first_step = (uint64_t)i,
                                    .count = 1,
                                    .first_batch = (size_t)i,
                                    .order = t->orders,
                                    .lr = &t->lr,
                                    .order_key = t->data_key,
                                    .stop = &stop};
        if (be->train(s, &span, seen->rows[i], &done, &e) || done != 1)
            TEST_FAILED("%s: step %d: %s", be->name, i + 1, e.text);
        if (i == 0)
            peek_all(be, s, t, seen);
        seen->params[i] = mem_new(n + 1, sizeof(double));
        move_state(be, s, t, BACKEND_PARAMS, wide, NULL, seen->params[i]);
    }
    for (int i = 0; i < backend_slots(t->plan.optimizer); i++) {
        seen->slot[i] = mem_new(n + 1, sizeof(double));
        move_state(be, s, t, i ? BACKEND_SLOT2 : BACKEND_SLOT1, wide, NULL, seen->slot[i]);
    }
    seen->stats = mem_new((size_t)t->plan.members * t->net->stat_count + 1, sizeof(double));
    move_state(be, s, t, BACKEND_STATS, wide, NULL, seen->stats);
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

/* Bytes of what came out; of what is peeked, where both answer. */
static bool same_seen(const struct trial *t, const struct seen *a, const struct seen *b)
{
    size_t members = (size_t)t->plan.members, n = members * t->net->parameter_count;
    size_t units = (size_t)backend_units(&t->plan);
    bool same = !memcmp(a->stats, b->stats, members * t->net->stat_count * sizeof *a->stats) &&
                !memcmp(a->logits, b->logits,
                        members * t->count * (size_t)t->net->classes * sizeof *a->logits);

    for (int i = 0; i < STEPS; i++) {
        same = same && !memcmp(a->params[i], b->params[i], n * sizeof **a->params);
        for (size_t u = 0; u < units; u++)
            same = same && a->rows[i][u].loss_sum == b->rows[i][u].loss_sum &&
                   a->rows[i][u].right == b->rows[i][u].right;
    }
    for (int i = 0; i < backend_slots(t->plan.optimizer); i++)
        same = same && !memcmp(a->slot[i], b->slot[i], n * sizeof **a->slot);
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

static float half_of(float x) /* rounded to bf16, ties to even */
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void round_all(float *a, size_t n)
{
    for (size_t i = 0; a && i < n; i++)
        a[i] = half_of(a[i]);
}

/* The naive backend in float, or with half in double from weights and images rounded to bf16: the
 * least that either precision must do to the numbers. */
static void observe_rough(struct trial *t, bool half, struct seen *seen)
{
    size_t n = (size_t)t->plan.members * t->net->parameter_count, pixels = t->images * t->pixels;
    struct trial own = *t;

    if (!half) {
        observe(&ref_backend, t, SPEC_FP32, seen);
        return;
    }
    own.plan.data = &own.set;
    own.params = mem_new(n, sizeof(float));
    memcpy(own.params, t->params, n * sizeof(float));
    round_all(own.params, n);
    round_all(own.lut, MEM_COUNT(own.lut));
    own.set.lut = t->bytes ? own.lut : NULL;
    if (t->values) {
        own.values = mem_new(pixels, sizeof(float));
        memcpy(own.values, t->values, pixels * sizeof(float));
        round_all(own.values, pixels);
        own.set.train.values = own.set.test.values = own.values;
    }
    observe(&ref_backend, &own, SPEC_FP64, seen);
    free(own.params);
    if (t->values)
        free(own.values);
}

static void seen_free(struct seen *seen)
{
    for (int i = 0; i < 4; i++) {
        free(seen->tensor[i]);
        free(seen->there[i]);
    }
    for (int i = 0; i < STEPS; i++)
        free(seen->params[i]);
    free(seen->slot[0]);
    free(seen->slot[1]);
    free(seen->stats);
    free(seen->logits);
    *seen = (struct seen){0};
}

/* ---- judging it ---- */

enum part { FORWARD, BACKWARD, SECOND, PARTS }; /* SECOND: what depends on step 2 */

struct verdict {
    struct trial *t;
    const struct seen *got, *want, *rough; /* rough: of observe_rough, or NULL */
    bool half;                             /* bf16 */
    bool tell;
    int bad[PARTS], ill;
    double share[PARTS]; /* of its limit, the largest */
    struct text words;
    double *slack;     /* (members, params): see find_slack */
    double spread;     /* bf16: see find_spread */
    double *image_off; /* (batch): largest gradient's distance, in units of its limit */
    int *tied;         /* (batch): the last maximum of equal numbers but zero, or 0: none */
    bool leave;        /* pixels' gradients in front of those are not judged */
};

/* Layers from 0 to last that sum, each by what it may add. */
static double forward_limit(const struct verdict *v, int last)
{
    double limit = v->half ? 0.01 : 2e-6;

    for (int i = 0; i <= last; i++) {
        const struct net_layer *l = &v->t->net->layer[i];
        bool sums = l->op == NET_CONV || l->op == NET_DENSE || l->op == NET_BATCHNORM;
        if (v->half)
            limit += sums ? 0.01 : 0.002;
        else if (l->op == NET_CONV && l->stride == 1 && (l->k == 3 || l->k == 5))
            limit += 2e-5;
        else
            limit += sums ? 4e-6 : 2e-7;
    }
    return limit;
}

static double backward_limit(const struct verdict *v)
{
    double all = forward_limit(v, v->t->net->layers - 1);

    return v->half ? 0.1 + 3 * all : 2 * all;
}

static double top_of(const double *a, size_t n, double least)
{
    for (size_t i = 0; i < n; i++)
        least = fmax(least, fabs(a[i]));
    return least;
}

/* The largest difference in units of the largest value; with half the same in the mean square. */
static double distance(const double *a, const double *b, size_t n, double least, bool half)
{
    double top = top_of(b, n, least), worst = 0, sum = 0, all = 0;

    for (size_t i = 0; i < n; i++) {
        double off = fabs(a[i] - b[i]);
        if (!(off <= 1e300))
            return INFINITY;
        worst = fmax(worst, off);
        sum += off * off;
        all += b[i] * b[i];
    }
    if (half)
        return sqrt(sum / fmax(all, least * least * (double)n));
    return worst / top;
}

/* least: the least that counts as the largest value. */
static void judge(struct verdict *v, enum part part, const char *what, const char *of, int member,
                  const double *got, const double *want, const double *rough, size_t n,
                  double least, double limit)
{
    double d = distance(got, want, n, least, v->half);

    if (d <= limit) {
        v->share[part] = fmax(v->share[part], d / limit);
        return;
    }
    if ((v->spread > MOST_SPREAD && isfinite(d)) ||
        (v->rough && rough &&
         d <= (v->half ? 20 : 40) * distance(rough, want, n, least, v->half))) {
        if (v->ill++ < 4 && v->tell)
            printf("    ill-conditioned: %s of %s, member %d: off by %.3g, limit %.3g\n", what, of,
                   member, d, limit);
        return;
    }
    if (v->bad[FORWARD] + v->bad[BACKWARD] + v->bad[SECOND] < 8)
        text_addf(&v->words, "    %s of %s, member %d: off by %.3g, limit %.3g\n", what, of, member,
                  d, limit);
    v->bad[part]++;
}

static double mean_square(const double *a, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * a[i];
    return n ? sum / (double)n : 0;
}

/* How much smaller a gradient is than a sum of as many products with random signs would be: in front
 * of batch norm some are nothing but what rounding leaves of such sums. */
static void find_slack(struct verdict *v)
{
    const struct trial *t = v->t;
    const struct net *net = t->net;

    for (int k = 0; k < t->plan.members * net->params; k++) {
        const struct net_tensor *p = &net->param[k % net->params];
        const struct net_layer *l = &net->layer[p->layer];
        size_t m = (size_t)(k / net->params), out = tensor_size(t, BACKEND_OUTPUT, p->layer);
        int what = p->kind == NET_BIAS ? BACKEND_GRAD_BIAS : BACKEND_GRAD_KERNEL;
        const double *g = v->want->tensor[what] + m * tensor_at(t, what, net->layers) +
                          tensor_at(t, what, p->layer);
        const double *dy = v->want->tensor[BACKEND_GRAD_OUTPUT] +
                           m * tensor_at(t, BACKEND_GRAD_OUTPUT, net->layers) +
                           tensor_at(t, BACKEND_GRAD_OUTPUT, p->layer);
        double terms = (double)(out / (size_t)l->out.c), x = 1;
        if (p->kind == NET_KERNEL && l->src >= 0)
            x = mean_square(v->want->tensor[BACKEND_OUTPUT] +
                                m * tensor_at(t, BACKEND_OUTPUT, net->layers) +
                                tensor_at(t, BACKEND_OUTPUT, l->src),
                            tensor_size(t, BACKEND_OUTPUT, l->src));
        double natural = terms * mean_square(dy, out) * x, own = mean_square(g, p->count);
        v->slack[k] = own < natural ? sqrt(natural / fmax(own, 1e-60)) : 1;
    }
}

/* The largest factor by which a batch norm makes an error of its input larger against what is left of
 * the input when the mean is gone. */
static void find_spread(struct verdict *v)
{
    const struct net *net = v->t->net;
    size_t all = tensor_at(v->t, BACKEND_OUTPUT, net->layers);

    v->spread = 1;
    for (int k = 0; k < v->t->plan.members * net->layers; k++) {
        const struct net_layer *l = &net->layer[k % net->layers];
        if (l->op != NET_BATCHNORM || l->src < 0)
            continue;
        size_t n = tensor_size(v->t, BACKEND_OUTPUT, l->src), c = (size_t)l->in.c;
        const double *x = v->want->tensor[BACKEND_OUTPUT] + (size_t)(k / net->layers) * all +
                          tensor_at(v->t, BACKEND_OUTPUT, l->src);
        for (size_t i = 0; i < c; i++) {
            double mean = 0, square = 0;
            for (size_t j = i; j < n; j += c)
                mean += x[j] * (double)c / (double)n;
            for (size_t j = i; j < n; j += c)
                square += (x[j] - mean) * (x[j] - mean) * (double)c / (double)n;
            v->spread = fmax(v->spread, sqrt(1 + mean * mean / (square + 1e-5)));
        }
    }
}

/* A layer's gradients, where they cannot be told as they should be. */
static const double *without_tied(const struct verdict *v, int layer, const double *got,
                                  const double *want, size_t n, double *room)
{
    size_t each = outputs_of(&v->t->net->layer[layer]);

    for (size_t j = 0; j < n; j++)
        room[j] = layer < v->tied[j / each] ? want[j] : got[j];
    return room;
}

static void judge_layers(struct verdict *v, int m)
{
    static const char *const names[] = {"output", "gradient", "kernel's gradient",
                                        "bias's gradient"};
    const struct trial *t = v->t;
    const struct net *net = t->net;
    size_t pixels = 0;

    for (int i = 0; i < net->layers; i++) {
        size_t n = tensor_size(t, BACKEND_GRAD_OUTPUT, i);
        pixels = n > pixels ? n : pixels;
    }
    double *room = v->leave ? mem_new(pixels, sizeof *room) : NULL;
    for (int i = 0; i < net->layers; i++) {
        double least = 1e-30; /* a bias in front of batch norm has no gradient but rounding */
        for (int what = 0; what < 4; what++) {
            size_t n = tensor_size(t, what, i);
            size_t at = (size_t)m * tensor_at(t, what, net->layers) + tensor_at(t, what, i);
            const double *got = v->got->tensor[what] + at, *want = v->want->tensor[what] + at;
            double limit = what == BACKEND_OUTPUT ? forward_limit(v, i) : backward_limit(v);
            if (!n || !v->got->there[what][m * net->layers + i])
                continue;
            if (what == BACKEND_GRAD_OUTPUT && v->leave)
                got = without_tied(v, i, got, want, n, room);
            if (what >= BACKEND_GRAD_KERNEL)
                limit *=
                    v->slack[m * net->params + (what == BACKEND_GRAD_KERNEL ? net->layer[i].kernel
                                                                            : net->layer[i].bias)];
            judge(v, what == BACKEND_OUTPUT ? FORWARD : BACKWARD, names[what], net->layer[i].name,
                  m, got, want, v->rough ? v->rough->tensor[what] + at : NULL, n,
                  what == BACKEND_GRAD_BIAS ? least : 1e-30, limit);
            if (what == BACKEND_GRAD_KERNEL)
                least = top_of(want, n, least);
            size_t each = outputs_of(&net->layer[i]);
            double top = top_of(want, n, 1e-30);
            for (size_t j = 0; what == BACKEND_GRAD_OUTPUT && j < n; j++) {
                double off = fabs(got[j] - want[j]) / top / limit;
                v->image_off[j / each] = fmax(v->image_off[j / each], off);
            }
        }
    }
    free(room);
}

/* How the parameters moved in the first step or in both. */
static void judge_moves(struct verdict *v, int m, int step)
{
    const struct trial *t = v->t;
    size_t all = t->net->parameter_count, base = (size_t)m * all;
    double kernel = 1e-30; /* how far the kernel moved to which a bias belongs */
    double *got = mem_new(all, sizeof *got), *want = mem_new(all, sizeof *want);
    double *rough = mem_new(all, sizeof *rough);

    for (size_t i = 0; i < all; i++) {
        double first = (double)t->params[base + i];
        got[i] = v->got->params[step][base + i] - first;
        want[i] = v->want->params[step][base + i] - first;
        if (v->half)
            first = (double)half_of((float)first);
        rough[i] = v->rough ? v->rough->params[step][base + i] - first : 0;
    }
    for (int i = 0; i < t->net->params; i++) {
        const struct net_tensor *p = &t->net->param[i];
        double moved = top_of(want + p->offset, p->count, p->kind == NET_BIAS ? kernel : 1e-30);
        double limit = backward_limit(v) * v->slack[m * t->net->params + i];
        double size = 0;
        for (size_t j = 0; j < p->count; j++)
            size = fmax(size, fabs((double)t->params[base + p->offset + j]));
        /* the slope of g / (|g| + epsilon) against that of its largest values */
        if (t->plan.optimizer >= SPEC_ADAM && !v->half) {
            int what = p->kind == NET_BIAS ? BACKEND_GRAD_BIAS : BACKEND_GRAD_KERNEL;
            const double *g = v->want->tensor[what] +
                              (size_t)m * tensor_at(t, what, t->net->layers) +
                              tensor_at(t, what, p->layer);
            limit *= 1 + top_of(g, p->count, 0) / t->plan.epsilon;
        }
        /* over a black area bf16 rounds equal gradients to one side; a bias, zero before, sums them */
        bool black = v->half && t->black && step && p->kind == NET_BIAS;
        judge(v, step ? SECOND : BACKWARD, step ? "two steps" : "step", p->name, m, got + p->offset,
              want + p->offset, rough + p->offset, p->count, p->kind == NET_BIAS ? kernel : 1e-30,
              limit * (black  ? 12
                       : step ? 3
                              : 1) +
                  3e-7 * size / moved);
        kernel = moved;
    }
    free(got);
    free(want);
    free(rough);
}

static void judge_state(struct verdict *v, int m)
{
    const struct trial *t = v->t;
    const struct net *net = t->net;
    size_t base = (size_t)m * net->parameter_count, stats = (size_t)m * net->stat_count;
    double limit = backward_limit(v);

    for (int k = 0; k < backend_slots(t->plan.optimizer); k++) {
        const double *want = v->want->slot[k] + base;
        double least = top_of(want, net->parameter_count, 1e-30) * (k ? 1e-4 : 1e-2);
        for (int i = 0; i < net->params; i++) {
            const struct net_tensor *p = &net->param[i];
            judge(v, SECOND, k ? "second slot" : "first slot", p->name, m,
                  v->got->slot[k] + base + p->offset, want + p->offset,
                  v->rough ? v->rough->slot[k] + base + p->offset : NULL, p->count, least,
                  6 * limit * v->slack[m * net->params + i]);
        }
    }
    for (int i = 0; i < net->stats; i++) {
        const struct net_tensor *p = &net->stat[i];
        judge(v, SECOND, "statistics", p->name, m, v->got->stats + stats + p->offset,
              v->want->stats + stats + p->offset,
              v->rough ? v->rough->stats + stats + p->offset : NULL, p->count, 1e-30,
              forward_limit(v, p->layer) + limit);
    }
    size_t n = t->count * (size_t)net->classes;
    judge(v, SECOND, "logits", "the evaluation", m, v->got->logits + (size_t)m * n,
          v->want->logits + (size_t)m * n, v->rough ? v->rough->logits + (size_t)m * n : NULL, n,
          1e-30, 2 * limit);
}

static void judge_rows(struct verdict *v)
{
    const struct trial *t = v->t;
    const struct net *net = t->net;
    int units = backend_units(&t->plan), last = net->layers - 1;
    size_t outputs = tensor_at(t, BACKEND_OUTPUT, last), n = t->plan.batch * (size_t)net->classes;

    for (int step = 0; step < STEPS; step++) {
        for (int u = 0; u < units; u++) {
            const struct backend_step *got = &v->got->rows[step][u],
                                      *want = &v->want->rows[step][u];
            size_t m = t->plan.mode == SPEC_ENSEMBLE ? (size_t)u : 0;
            double images = (double)t->plan.batch / (t->plan.mode == SPEC_ENSEMBLE ? 1 : units);
            double top = top_of(v->want->tensor[BACKEND_OUTPUT] +
                                    m * tensor_at(t, BACKEND_OUTPUT, net->layers) + outputs,
                                n, 1);
            double limit = step ? 2 * backward_limit(v) : 2 * forward_limit(v, last);
            double rough = v->rough ? v->rough->rows[step][u].loss_sum : 0;
            /* an image's loss moves by at most twice as much as its logits */
            judge(v, step ? SECOND : FORWARD, step ? "loss of step 2" : "loss", "the network", u,
                  &got->loss_sum, &want->loss_sum, &rough, 1, images * top, limit);
            if (abs((int)got->right - (int)want->right) > (v->half ? 1 + (int)images / 4 : 1)) {
                text_addf(&v->words, "    step %d, unit %d: %u right, not %u\n", step + 1, u,
                          got->right, want->right);
                v->bad[step ? SECOND : FORWARD]++;
            }
        }
    }
}

static void judge_all(struct verdict *v)
{
    for (int i = 0; i < PARTS; i++)
        v->bad[i] = 0;
    v->ill = 0;
    text_clear(&v->words);
    memset(v->image_off, 0, v->t->plan.batch * sizeof *v->image_off);
    find_slack(v);
    if (v->half)
        find_spread(v);
    judge_rows(v);
    for (int m = 0; m < v->t->plan.members; m++) {
        judge_layers(v, m);
        judge_moves(v, m, 0);
        judge_moves(v, m, 1);
        judge_state(v, m);
    }
}

/* ---- decisions in doubt ---- */

/* For each image of the batch the smallest distance of a decision of a rectifier or a maximum from
 * its turn, in units of the layer's largest value; tied: the last maximum of equal numbers but zero,
 * or 0. */
static void find_margins(const struct trial *t, const struct seen *want, double *margin, int *tied)
{
    const struct net *net = t->net;
    size_t all = tensor_at(t, BACKEND_OUTPUT, net->layers);

    for (size_t j = 0; j < t->plan.batch; j++) {
        margin[j] = 1;
        tied[j] = 0;
    }
    for (int k = 0; k < t->plan.members * net->layers; k++) {
        const struct net_layer *l = &net->layer[k % net->layers];
        if ((l->op != NET_RELU && l->op != NET_MAXPOOL) || l->src < 0)
            continue;
        size_t each = (size_t)l->in.h * (size_t)l->in.w * (size_t)l->in.c;
        const double *x = want->tensor[BACKEND_OUTPUT] + (size_t)(k / net->layers) * all +
                          tensor_at(t, BACKEND_OUTPUT, l->src);
        double top = top_of(x, t->plan.batch * each, 1e-30);
        for (size_t j = 0; j < t->plan.batch; j++, x += each) {
            for (size_t i = 0; l->op == NET_RELU && i < each; i++)
                margin[j] = fmin(margin[j], fabs(x[i]) / top);
            for (size_t o = 0; l->op == NET_MAXPOOL && o < outputs_of(l); o++) {
                int c = (int)o % l->out.c, q = (int)o / l->out.c % l->out.w,
                    r = (int)o / l->out.c / l->out.w;
                double first = -INFINITY, second = -INFINITY;
                for (int w = 0; w < l->k * l->k; w++) {
                    double value =
                        x[((r * l->stride + w / l->k) * l->in.w + q * l->stride + w % l->k) *
                              l->in.c +
                          c];
                    second = value > first ? first : fmax(second, value);
                    first = fmax(first, value);
                }
                margin[j] = fmin(margin[j], (first - second) / top);
                if (first - second < 1e-12 * top && fabs(first) > 1e-12 * top &&
                    tied[j] < k % net->layers)
                    tied[j] = k % net->layers;
            }
        }
    }
}

/* What no other images help: judged again without the places that cannot be told. */
static void leave_tied(struct verdict *v)
{
    double *margin = mem_new(v->t->plan.batch, sizeof *margin);
    int left = 0;

    find_margins(v->t, v->want, margin, v->tied);
    for (size_t j = 0; j < v->t->plan.batch; j++)
        left += v->tied[j] > 0;
    free(margin);
    if (!left)
        return;
    v->leave = true;
    judge_all(v);
    v->leave = false;
    v->ill++;
    if (v->tell)
        printf("    equal numbers in front of a maximum: %d images\n", left);
}

/* The images for which some rectifier's output is zero in one of both and not in the other, and their
 * number. The outputs themselves agree, so rounding decided. */
static int find_flipped(const struct verdict *v, bool *flipped)
{
    const struct trial *t = v->t;
    const struct net *net = t->net;
    int n = 0;

    for (int k = 0; k < t->plan.members * net->layers; k++) {
        int i = k % net->layers;
        size_t at = (size_t)(k / net->layers) * tensor_at(t, BACKEND_OUTPUT, net->layers) +
                    tensor_at(t, BACKEND_OUTPUT, i);
        const double *got = v->got->tensor[BACKEND_OUTPUT] + at;
        const double *want = v->want->tensor[BACKEND_OUTPUT] + at;
        size_t each = outputs_of(&net->layer[i]);
        if (net->layer[i].op != NET_RELU || !v->got->there[BACKEND_OUTPUT][k])
            continue;
        for (size_t j = 0; j < t->plan.batch * each; j++) {
            if (!(got[j] > 0) == !(want[j] > 0) || flipped[j / each])
                continue;
            flipped[j / each] = true;
            n++;
        }
    }
    return n;
}

/* Replaces images that may explain what is off: those that were decided otherwise, or else those whose
 * gradients are off most; false where none may. */
static bool redraw(struct verdict *v)
{
    struct trial *t = v->t;
    bool *flipped = mem_new(t->plan.batch, sizeof *flipped);
    bool known = !v->half && find_flipped(v, flipped);
    double *margin = mem_new(t->plan.batch, sizeof *margin);
    double most = top_of(v->image_off, t->plan.batch, 0);
    bool any = false;

    find_margins(t, v->want, margin, v->tied);
    for (size_t j = 0; j < t->plan.batch; j++) {
        bool first = v->bad[BACKWARD] && margin[j] < (v->half ? 0.05 : 2e-4) &&
                     (known ? flipped[j] : v->image_off[j] >= 0.25 * most);
        bool second = !v->bad[BACKWARD] && v->bad[SECOND];
        uint32_t image = t->order[second ? t->plan.batch + j : j];
        if (!first && !second)
            continue;
        t->version[image]++;
        t->bright[image] = t->bright[image] || (first && v->tied[j]);
        draw_image(t, image);
        any = true;
    }
    free(margin);
    free(flipped);
    return any;
}

/* ---- all of them ---- */

static const struct way {
    const char *isa;
    enum spec_precision precision;
    const char *name;
} ways[] = {
    {"avx512", SPEC_FP32, "avx512"},
    {"avx2", SPEC_FP32, "avx2"},
    {"base", SPEC_FP32, "base"},
    {"amx", SPEC_BF16, "amx in bf16"},
    {"avx512bf16", SPEC_BF16, "avx512bf16 in bf16"},
    {"avx512", SPEC_BF16, "avx512 in bf16"},
    {"avx2", SPEC_BF16, "avx2 in bf16"},
    {"base", SPEC_BF16, "base in bf16"},
    {"amx-emulated", SPEC_BF16, "emulated amx in bf16"},
    {"avx512bf16-dot", SPEC_BF16, "products of bf16"},
};
#define WAYS ((int)MEM_COUNT(ways))

static struct tally {
    bool here;
    int networks, failed, redrawn, ill;
    double share[PARTS], seconds;
} tally[WAYS];

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* only: the instruction set that the caller asks for, or NULL. */
static bool force(const struct way *w, const struct trial *t, const char *only)
{
    struct backend_plan plan = t->plan;
    struct err e;

    if (only && strcmp(only, w->isa))
        return false;
    setenv("CHORUS_ISA", w->isa, 1);
    plan.precision = w->precision;
    return !strcmp(cpu_backend.isa(), w->isa) && cpu_backend.can(&plan, &e) == ERR_OK;
}

static void check_spared(struct trial *t, int way, const struct seen *got)
{
    struct seen spared;
    size_t from = cpu_spare_from;

    cpu_spare_from = 0;
    if (observe(&cpu_backend, t, ways[way].precision, &spared)) {
        if (!same_seen(t, got, &spared)) {
            TEST_FAILED("%s: network %d gives other numbers with memory spared", ways[way].name,
                        t->number);
            trial_print(t);
        }
        seen_free(&spared);
    }
    cpu_spare_from = from;
}

/* want and rough are those of t's images as they are; made anew where images were replaced. */
static void run_way(struct trial *t, int way, struct seen *want, struct seen *both, bool tell)
{
    struct tally *sum = &tally[way];
    struct verdict v = {.t = t, .half = ways[way].precision == SPEC_BF16, .tell = tell};
    bool again = true, redrawn = false;
    struct seen *rough = &both[v.half];

    v.image_off = mem_new(t->plan.batch, sizeof *v.image_off);
    v.tied = mem_new(t->plan.batch, sizeof *v.tied);
    v.slack = mem_new((size_t)(t->plan.members * t->net->params), sizeof *v.slack);
    for (int turn = 0; again && turn <= REDRAWS; turn++) {
        struct seen got;
        double begin = seconds();

        again = false;
        if (!want->logits && !observe(&ref_backend, t, SPEC_FP64, want))
            break;
        begin = seconds();
        if (!observe(&cpu_backend, t, ways[way].precision, &got)) {
            v.bad[FORWARD] = 1;
            break;
        }
        sum->seconds += seconds() - begin;
        if (!turn)
            check_spared(t, way, &got);
        v.got = &got;
        v.want = want;
        v.rough = NULL;
        judge_all(&v);
        if (v.bad[FORWARD] + v.bad[BACKWARD] + v.bad[SECOND]) {
            if (!rough->logits)
                observe_rough(t, v.half, rough);
            v.rough = rough;
            judge_all(&v);
        }
        if (turn == REDRAWS && !v.bad[FORWARD] && v.bad[BACKWARD])
            leave_tied(&v);
        if (tell)
            printf("  %s, turn %d: forward %.3f, backward %.3f, second step %.3f of the limits, %d "
                   "ill-conditioned\n%s",
                   ways[way].name, turn, v.share[FORWARD], v.share[BACKWARD], v.share[SECOND],
                   v.ill, text_str(&v.words));
        if (!v.bad[FORWARD] && v.bad[BACKWARD] + v.bad[SECOND] && turn < REDRAWS && redraw(&v)) {
            seen_free(want);
            seen_free(&both[0]);
            seen_free(&both[1]);
            again = redrawn = true;
        }
        seen_free(&got);
    }
    sum->here = true;
    sum->networks++;
    sum->redrawn += redrawn;
    sum->ill += v.ill > 0;
    for (int i = 0; i < PARTS; i++)
        sum->share[i] = fmax(sum->share[i], v.share[i]);
    if (v.bad[FORWARD] + v.bad[BACKWARD] + v.bad[SECOND]) {
        if (sum->failed++ < 5) {
            printf("  %s:\n%s", ways[way].name, text_str(&v.words));
            trial_print(t);
        } else {
            printf("  %s: network %d too\n", ways[way].name, t->number);
        }
    }
    text_free(&v.words);
    free(v.image_off);
    free(v.tied);
    free(v.slack);
}

static void run_network(int number, bool tell, const char *isa)
{
    struct trial t;
    struct seen want = {0}, rough[2] = {0}; /* rough: in float, from bf16 */

    if (!trial_open(&t, number))
        return;
    if (tell)
        trial_print(&t);
    for (int way = 0; way < WAYS; way++) {
        if (force(&ways[way], &t, isa))
            run_way(&t, way, &want, rough, tell);
    }
    unsetenv("CHORUS_ISA");
    seen_free(&want);
    seen_free(&rough[0]);
    seen_free(&rough[1]);
    trial_close(&t);
}

/* The naive backend's numbers serve all instruction sets, so the first test runs all. */
static void run_all(void)
{
    static bool done;
    const char *only = getenv("CHORUS_TEST_ONLY"), *many = getenv("CHORUS_TEST_NETWORKS");
    int n = many && atoi(many) > 0 ? atoi(many) : NETWORKS;

    if (done)
        return;
    done = true;
    char *isa = getenv("CHORUS_ISA") ? mem_text(getenv("CHORUS_ISA")) : NULL;
    if (only)
        run_network(atoi(only), true, isa);
    for (int i = 0; i < n && !only; i++)
        run_network(i, false, isa);
    free(isa);
}

static void check_way(int way)
{
    const struct tally *sum = &tally[way];

    run_all();
    if (!sum->here)
        SKIP("this machine or this program has it not");
    printf(
        "  %s: %d networks in %.1f s of its own; forward %.2f, backward %.2f, second step %.2f of "
        "the limits; images replaced in %d, ill-conditioned numbers in %d\n",
        ways[way].name, sum->networks, sum->seconds, sum->share[FORWARD], sum->share[BACKWARD],
        sum->share[SECOND], sum->redrawn, sum->ill);
    if (sum->failed)
        TEST_FAILED("%d of %d networks are wrong", sum->failed, sum->networks);
    /* else the ways out are no exceptions any more */
    if (sum->networks >= 20) {
        CHECK(sum->redrawn <= sum->networks / 4);
        CHECK(sum->ill <= sum->networks / 4);
    }
}

TEST(random_networks_on_avx512)
{
    check_way(0);
}

TEST(random_networks_on_avx2)
{
    check_way(1);
}

TEST(random_networks_on_base)
{
    check_way(2);
}

TEST(random_networks_on_amx_in_bf16)
{
    check_way(3);
}

TEST(random_networks_on_avx512bf16_in_bf16)
{
    check_way(4);
}

TEST(random_networks_on_avx512_in_bf16)
{
    check_way(5);
}

TEST(random_networks_on_avx2_in_bf16)
{
    check_way(6);
}

TEST(random_networks_on_base_in_bf16)
{
    check_way(7);
}

TEST(random_networks_on_emulated_amx_in_bf16)
{
    check_way(8);
}

TEST(random_networks_on_products_of_bf16)
{
    check_way(9);
}
