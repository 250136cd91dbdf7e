/* tests/parity/cuda_conv_test.c: convolution and dense layers of the CUDA engine against loops in
 * double, on the emulator. Every tile is tried on every product, in each arithmetic, with inputs whose
 * sums are exact (bit for bit) and with others (within a bound), at addresses that allow wide copies
 * and at others. */
#include "cuda/launch/conv_plan.h"
#include "tests/twin/twin.h"
#include "tests/test.h"

#include <stdint.h>

#ifdef __SANITIZE_ADDRESS__
#define SHARE 3 /* of the shapes, one in so many: the emulator is slow */
#else
#define SHARE 1
#endif

static uint32_t dice_state = 1;

static int dice(int from, int to) /* both may come */
{
    dice_state = dice_state * 1664525u + 1013904223u;
    return from + (int)((dice_state >> 8) % (uint32_t)(to - from + 1));
}

/* ---- tensors: (models; count), each model's elements behind `skip` others ---- */

struct tensor {
    size_t models, count, stride, skip, size; /* size: bytes of an element */
    double *v;                                /* (models, count) */
    unsigned char *device;
};

static size_t bytes_of(const struct tensor *t)
{
    return (t->skip + t->models * t->stride + 8) * t->size;
}

static struct tensor tensor(size_t models, size_t count, size_t size, bool aligned)
{
    struct tensor t = {.models = models, .count = count, .size = size};

    t.stride = aligned ? (count + 7) / 8 * 8 : count + (size_t)dice(0, 3);
    t.skip = aligned ? 0 : (size_t)dice(0, 3);
    t.v = calloc(models * count, sizeof *t.v);
    if (cuda_rt()->take((void **)&t.device, bytes_of(&t)))
        abort();
    return t;
}

static void tensor_free(struct tensor *t)
{
    free(t->v); /* the device's part goes when the next shape resets the device */
}

static struct cuda_view view(const struct tensor *t, bool shared)
{
    return (struct cuda_view){t->device + t->skip * t->size, shared ? 0 : t->stride};
}

static double as_bf16(double v)
{
    float f = (float)v;
    uint32_t u;

    memcpy(&u, &f, 4);
    u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000u;
    memcpy(&f, &u, 4);
    return f;
}

static double stored(double v, size_t size)
{
    return size == 2 ? as_bf16(v) : (float)v;
}

static const unsigned char FRINGE = 0x5a; /* what lies around a tensor */

static void upload(struct tensor *t, struct cuda_stream *s)
{
    unsigned char *host = malloc(bytes_of(t));

    memset(host, FRINGE, bytes_of(t));
    for (size_t m = 0; m < t->models; m++)
        for (size_t i = 0; i < t->count; i++) {
            float f = (float)(t->v[m * t->count + i] = stored(t->v[m * t->count + i], t->size));
            uint32_t u;

            memcpy(&u, &f, 4);
            u >>= 8 * (4 - t->size);
            memcpy(host + (t->skip + m * t->stride + i) * t->size, &u, t->size);
        }
    cuda_rt()->copy(t->device, host, bytes_of(t), s);
    cuda_rt()->stream_wait(s);
    free(host);
}

/* What the device holds, and whether anything around the tensor was written. */
static double *download(const struct tensor *t, struct cuda_stream *s, bool *fringe)
{
    unsigned char *host = malloc(bytes_of(t));
    double *v = malloc(t->models * t->count * sizeof *v);

    cuda_rt()->copy(host, t->device, bytes_of(t), s);
    cuda_rt()->stream_wait(s);
    *fringe = false;
    for (size_t i = 0; i < bytes_of(t) / t->size; i++) {
        size_t m = i < t->skip ? 0 : (i - t->skip) / t->stride;
        size_t at = i < t->skip ? t->count : (i - t->skip) % t->stride;
        uint32_t u = 0;
        float f;

        if (m >= t->models || at >= t->count) {
            for (size_t b = 0; b < t->size; b++)
                *fringe |= host[i * t->size + b] != FRINGE;
            continue;
        }
        memcpy(&u, host + i * t->size, t->size);
        u <<= 8 * (4 - t->size);
        memcpy(&f, &u, 4);
        v[m * t->count + at] = f;
    }
    free(host);
    return v;
}

/* Multiples of 1/8 within 1: all sums of the tests are exact. Or anything within 1. */
static void fill(struct tensor *t, bool exact)
{
    for (size_t i = 0; i < t->models * t->count; i++)
        t->v[i] = exact ? dice(-8, 8) / 8. : dice(-1000000, 1000000) / 1e6;
}

/* ---- the loops ---- */

struct work {
    struct cuda_conv c;
    bool shared, exact, aligned, biased, gated, add;
    enum cuda_act act;
    struct tensor x, weight, bias, y, dy, dx, dweight, dbias;
    double *size; /* (like the result) sums of absolute terms: what an error is measured by */
};

static size_t x_at(const struct cuda_conv *c, int image, int r, int q)
{
    return (((size_t)image * (size_t)c->h + (size_t)r) * (size_t)c->w + (size_t)q) * (size_t)c->c;
}

/* Calls each(work, model, index of x, of y, of the kernel's tap) for every pixel of y and each of its
 * taps that lies inside the image. */
typedef void each_tap(struct work *w, size_t model, size_t x, size_t y, size_t tap);
static void each(struct work *w, each_tap *f)
{
    const struct cuda_conv *c = &w->c;

    for (int m = 0; m < c->models; m++)
        for (int p = 0; p < c->n * c->oh * c->ow; p++)
            for (int tap = 0; tap < c->k * c->k; tap++) {
                int r = p / c->ow % c->oh * c->stride + tap / c->k - c->pad_top;
                int q = p % c->ow * c->stride + tap % c->k - c->pad_left;

                if (r >= 0 && r < c->h && q >= 0 && q < c->w)
                    f(w, (size_t)m, x_at(c, p / c->ow / c->oh, r, q), (size_t)p * (size_t)c->oc,
                      (size_t)tap * (size_t)c->c * (size_t)c->oc);
            }
}

static void term(double *sum, double *size, double v)
{
    *sum += v;
    *size += fabs(v);
}

static void forward_tap(struct work *w, size_t m, size_t x, size_t y, size_t tap)
{
    const double *from = w->x.v + (w->shared ? 0 : m) * w->x.count + x;
    const double *weight = w->weight.v + m * w->weight.count + tap;
    size_t ic = (size_t)w->c.c, oc = (size_t)w->c.oc;

    y += m * w->y.count;
    for (size_t i = 0; i < ic; i++)
        for (size_t o = 0; o < oc; o++)
            term(&w->y.v[y + o], &w->size[y + o], from[i] * weight[i * oc + o]);
}

static void input_tap(struct work *w, size_t m, size_t x, size_t y, size_t tap)
{
    const double *dy = w->dy.v + m * w->dy.count + y;
    const double *weight = w->weight.v + m * w->weight.count + tap;
    size_t ic = (size_t)w->c.c, oc = (size_t)w->c.oc;

    x += m * w->dx.count;
    for (size_t i = 0; i < ic; i++)
        for (size_t o = 0; o < oc; o++)
            term(&w->dx.v[x + i], &w->size[x + i], dy[o] * weight[i * oc + o]);
}

static void weights_tap(struct work *w, size_t m, size_t x, size_t y, size_t tap)
{
    const double *from = w->x.v + (w->shared ? 0 : m) * w->x.count + x;
    const double *dy = w->dy.v + m * w->dy.count + y;
    size_t ic = (size_t)w->c.c, oc = (size_t)w->c.oc;

    tap += m * w->dweight.count;
    for (size_t i = 0; i < ic; i++)
        for (size_t o = 0; o < oc; o++)
            term(&w->dweight.v[tap + i * oc + o], &w->size[tap + i * oc + o], from[i] * dy[o]);
}

/* ---- what came out ---- */

static const char *const math_name[CUDA_MATHS] = {"fp32", "tf32", "bf16"};

/* Rounding of operands and of what is stored. */
static double unit(enum cuda_math m)
{
    return m == CUDA_FP32 ? 1e-6 : m == CUDA_TF32 ? 1.0 / 1024 : 1.0 / 128;
}

static void compare(struct work *w, const char *what, const struct tensor *got_in,
                    const double *size, double unit_of, struct cuda_stream *s)
{
    bool fringe;
    double *got = download(got_in, s, &fringe);
    const struct cuda_conv *c = &w->c;

    for (size_t i = 0; i < got_in->models * got_in->count; i++) {
        double want = stored(got_in->v[i], got_in->size);
        double limit = w->exact && w->act != CUDA_TANH
                           ? 0
                           : unit_of * (fabs(want) + (size ? size[i] : fabs(want)) + 1e-3);

        if (fabs(got[i] - want) <= limit)
            continue;
        TEST_FAILED("%s, %s, %d models, %d x %dx%dx%d -> %dx%dx%d, k %d, stride %d, pad %d %d: "
                    "%zu of %zu is %.9g, not %.9g",
                    what, math_name[c->math], c->models, c->n, c->h, c->w, c->c, c->oh, c->ow,
                    c->oc, c->k, c->stride, c->pad_top, c->pad_left, i,
                    got_in->models * got_in->count, got[i], want);
        break;
    }
    if (fringe)
        TEST_FAILED("%s, %s: wrote around what it owns", what, math_name[c->math]);
    free(got);
}

static void run(struct cuda_list *l, struct cuda_stream *s)
{
    struct err e = {0};

    if (cuda_list_run(l, 0, s, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    if (cuda_rt()->stream_wait(s))
        TEST_FAILED("%s", twin_report());
    cuda_list_free(l);
}

static void forward(struct work *w, const struct conv_plan *p, struct cuda_stream *s)
{
    struct cuda_list l = {0};
    size_t all = w->y.models * w->y.count;

    w->size = calloc(all, sizeof *w->size);
    memset(w->y.v, 0, all * sizeof *w->y.v);
    upload(&w->y, s);
    each(w, forward_tap);
    for (size_t i = 0; i < all; i++) {
        double v = w->y.v[i];

        if (w->biased)
            v += w->bias.v[i / w->y.count * w->bias.count + i % (size_t)w->c.oc];
        w->y.v[i] = w->act == CUDA_RELU ? (v < 0 ? 0 : v) : w->act == CUDA_TANH ? tanh(v) : v;
    }
    conv_forward_by(&l, &w->c, p, view(&w->x, w->shared), view(&w->weight, false),
                    w->biased ? view(&w->bias, false) : (struct cuda_view){0}, w->act,
                    view(&w->y, false));
    run(&l, s);
    compare(w, "forward", &w->y, w->size, unit(w->c.math), s);
    free(w->size);
}

static void input(struct work *w, const struct conv_plan *p, struct cuda_stream *s)
{
    struct cuda_list l = {0};
    size_t all = w->dx.models * w->dx.count;
    double *before;

    w->size = calloc(all, sizeof *w->size);
    fill(&w->dx, w->exact);
    upload(&w->dx, s);
    before = malloc(all * sizeof *before);
    memcpy(before, w->dx.v, all * sizeof *before);
    memset(w->dx.v, 0, all * sizeof *before);
    each(w, input_tap);
    for (size_t i = 0; i < all; i++) {
        size_t model = i / w->dx.count;
        double y = w->x.v[(w->shared ? 0 : model) * w->x.count + i % w->dx.count];

        if (w->gated)
            w->dx.v[i] *= w->act == CUDA_RELU ? y > 0 : w->act == CUDA_TANH ? 1 - y * y : 1;
        if (w->add) {
            w->dx.v[i] += before[i];
            w->size[i] += fabs(before[i]);
        }
    }
    conv_input_by(&l, &w->c, p, view(&w->dy, false), view(&w->weight, false),
                  w->gated ? view(&w->x, w->shared) : (struct cuda_view){0}, w->act, w->add,
                  view(&w->dx, false));
    run(&l, s);
    compare(w, "input", &w->dx, w->size, unit(w->c.math), s);
    free(before);
    free(w->size);
}

/* Where the weights' gradient goes; turns begin at 0, and must be 0 again behind it. */
static struct cuda_weights weights_to(struct work *w, bool biased, size_t scratch, size_t turns,
                                      struct cuda_stream *s)
{
    struct cuda_weights to = {.dweight = view(&w->dweight, false)};
    void *p = NULL;

    if (biased)
        to.dbias = view(&w->dbias, false);
    if (cuda_rt()->take(&to.scratch, scratch + 256) || cuda_rt()->take(&p, turns + 256) ||
        cuda_rt()->set(p, 0, turns + 256, s))
        abort();
    to.turns = p;
    return to;
}

static void check_turns(const struct cuda_weights *to, size_t bytes, struct cuda_stream *s)
{
    unsigned char *left = malloc(bytes + 1);

    if (cuda_rt()->copy(left, to->turns, bytes, s) || cuda_rt()->stream_wait(s))
        TEST_FAILED("%s", twin_report());
    for (size_t i = 0; i < bytes; i++)
        CHECK(left[i] == 0);
    free(left);
    cuda_rt()->give(to->turns);
    cuda_rt()->give(to->scratch);
}

static void weights(struct work *w, const struct conv_plan *p, struct cuda_stream *s)
{
    struct cuda_list l = {0};
    size_t all = w->dweight.models * w->dweight.count, oc = (size_t)w->c.oc;
    struct cuda_weights to;

    w->size = calloc(all, sizeof *w->size);
    memset(w->dweight.v, 0, all * sizeof *w->dweight.v);
    memset(w->dbias.v, 0, w->dbias.models * oc * sizeof *w->dbias.v);
    upload(&w->dweight, s);
    upload(&w->dbias, s);
    each(w, weights_tap);
    for (size_t i = 0; w->biased && i < w->dy.models * w->dy.count; i++)
        w->dbias.v[i / w->dy.count * oc + i % oc] += w->dy.v[i];
    to = weights_to(w, w->biased, conv_scratch_by(&w->c, p), conv_turns_by(&w->c, p), s);
    conv_weights_by(&l, &w->c, p, view(&w->x, w->shared), view(&w->dy, false), &to);
    run(&l, s);
    check_turns(&to, conv_turns_by(&w->c, p), s);
    compare(w, "weights", &w->dweight, w->size, w->c.math == CUDA_BF16 ? 1e-6 : unit(w->c.math), s);
    if (w->biased)
        compare(w, "biases", &w->dbias, NULL, 1e-4, s);
    free(w->size);
}

/* ---- shapes ---- */

static void work_open(struct work *w, struct cuda_stream *s)
{
    const struct cuda_conv *c = &w->c;
    size_t models = (size_t)c->models, element = cuda_element(c->math), oc = (size_t)c->oc;
    size_t in = x_at(c, c->n, 0, 0), out = (size_t)c->n * (size_t)c->oh * (size_t)c->ow * oc;
    size_t kernel = (size_t)c->k * (size_t)c->k * (size_t)c->c * oc;

    w->x = tensor(w->shared ? 1 : models, in, element, w->aligned);
    w->weight = tensor(models, kernel, element, w->aligned);
    w->bias = tensor(models, oc, 4, w->aligned);
    w->y = tensor(models, out, element, w->aligned);
    w->dy = tensor(models, out, element, w->aligned);
    w->dx = tensor(models, in, element, w->aligned);
    w->dweight = tensor(models, kernel, 4, w->aligned);
    w->dbias = tensor(models, oc, 4, w->aligned);
    fill(&w->x, w->exact);
    fill(&w->weight, w->exact);
    fill(&w->bias, w->exact);
    fill(&w->dy, w->exact);
    upload(&w->x, s);
    upload(&w->weight, s);
    upload(&w->bias, s);
    upload(&w->dy, s);
}

static void work_close(struct work *w)
{
    struct tensor *all[] = {&w->x,  &w->weight, &w->bias,    &w->y,
                            &w->dy, &w->dx,     &w->dweight, &w->dbias};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tensor_free(all[i]);
}

static struct conv_plan plan(const struct conv_tile_facts *tile, const struct work *w,
                             enum conv_op op, size_t parts)
{
    size_t depth = conv_size_of(&w->c, op).depth;
    struct conv_plan p = {tile, 1, depth};

    if (op == CONV_WEIGHTS && parts > 1) {
        p.chunk = ((depth + parts - 1) / parts + 127) / 128 * 128;
        p.parts = (depth + p.chunk - 1) / p.chunk;
    }
    return p;
}

/* All three products by a tile; or by the plan made for the shape, where tile is NULL. */
static void try_all(struct work *w, const struct conv_tile_facts *tile, size_t parts)
{
    struct conv_plan p;
    struct cuda_stream *s;

    REQUIRE(!cuda_rt()->stream_open(&s));
    work_open(w, s);
    p = tile ? plan(tile, w, CONV_FORWARD, 1) : conv_plan_of(&w->c, CONV_FORWARD);
    forward(w, &p, s);
    p = tile ? plan(tile, w, CONV_INPUT, 1) : conv_plan_of(&w->c, CONV_INPUT);
    input(w, &p, s);
    p = tile ? plan(tile, w, CONV_WEIGHTS, parts) : conv_plan_of(&w->c, CONV_WEIGHTS);
    weights(w, &p, s);
    work_close(w);
    cuda_rt()->stream_close(s);
}

static struct work any_shape(enum cuda_math math)
{
    struct work w = {0};
    struct cuda_conv *c = &w.c;
    bool dense = dice(0, 3) == 0;

    w.aligned = dice(0, 1);
    w.exact = dice(0, 2) > 0;
    w.biased = dice(0, 2) > 0;
    w.gated = dice(0, 2) > 0;
    w.add = dice(0, 1);
    w.act = (enum cuda_act)dice(0, 2);
    c->math = math;
    c->models = dice(1, 3);
    w.shared = c->models > 1 && dice(0, 1);
    c->k = dense ? 1 : dice(1, 7);
    c->stride = dense ? 1 : dice(1, 3);
    c->h = dense ? 1 : dice(c->k > 2 ? c->k - 2 : 1, 11);
    c->w = dense ? 1 : dice(c->k > 2 ? c->k - 2 : 1, 11);
    c->pad_top = c->k > 1 ? dice(c->h < c->k ? 1 : 0, 2) : 0;
    c->pad_left = c->k > 1 ? dice(c->w < c->k ? 1 : 0, 2) : 0;
    /* The other sides' padding may differ by one. */
    c->oh = (c->h + 2 * c->pad_top - c->k) / c->stride + 1;
    c->ow = (c->w + 2 * c->pad_left - c->k) / c->stride + 1;
    c->c = dense ? dice(1, 300) : dice(0, 2) ? dice(1, 24) : dice(1, 4) * 8;
    c->oc = dice(0, 2) ? dice(1, 70) : dice(1, 8) * 8;
    c->n = dense ? dice(1, 70) : dice(1, 5);
    /* The emulator is slow. */
    while ((double)c->models * c->n * c->oh * c->ow * c->oc * c->k * c->k * c->c > 3e6) {
        if (c->oc > 8)
            c->oc = c->oc / 16 * 8 + (c->oc & 7 ? 3 : 0);
        else if (c->n > 1)
            c->n--;
        else
            c->c = c->c / 2 + 1;
        if (c->oc <= 8 && c->n == 1 && c->c <= 2)
            break;
    }
    return w;
}

static void any_shapes(enum cuda_math math, uint32_t seed, int count)
{
    dice_state = seed;
    for (int i = 0; i < count; i++) {
        struct work w = any_shape(math);

        twin_reset(1);
        twin_seed(seed + (uint32_t)i);
        try_all(&w, i % 6 == 5 ? NULL : &conv_tiles[i % 6], (size_t)dice(1, 4));
    }
}

/* Shared memory of a product's launch by a tile; its depth in slabs is given, too. */
static size_t bytes_of_launch(const struct conv_tile_facts *t, const struct work *w,
                              enum conv_op op, size_t *slabs)
{
    const struct cuda_view none = {NULL, 0};
    const struct cuda_weights to = {.dweight = none};
    struct conv_plan p = plan(t, w, op, 1);
    size_t slab = (size_t)CONV_SLAB((int)cuda_element(w->c.math), t->slices), bytes;
    struct cuda_list l = {0};

    *slabs = (conv_size_of(&w->c, op).depth + slab - 1) / slab;
    if (op == CONV_FORWARD)
        conv_forward_by(&l, &w->c, &p, none, none, none, CUDA_LINEAR, none);
    else if (op == CONV_INPUT)
        conv_input_by(&l, &w->c, &p, none, none, none, CUDA_LINEAR, false, none);
    else
        conv_weights_by(&l, &w->c, &p, none, none, &to);
    bytes = l.at[0].shared;
    cuda_list_free(&l);
    return bytes;
}

/* A product of fewer slabs than there are stages has memory for its slabs alone, so that more blocks fit
 * onto a processor: the emulator watches what lies behind. */
TEST(a_shallow_product_takes_memory_for_its_slabs_alone)
{
    static const int sides[] = {3, 20, 40, 70};

    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        for (int tile = 0; tile < CONV_TILE_COUNT; tile++)
            for (int math = 0; math < CUDA_MATHS; math++) {
                const struct conv_tile_facts *t = &conv_tiles[tile];
                struct work w = {
                    .aligned = i % 2 == 0, .exact = true, .biased = true, .gated = true};

                w.c = (struct cuda_conv){.models = 2,
                                         .n = sides[i],
                                         .h = 1,
                                         .w = 1,
                                         .c = sides[i],
                                         .oh = 1,
                                         .ow = 1,
                                         .oc = sides[i],
                                         .k = 1,
                                         .stride = 1,
                                         .math = (enum cuda_math)math};
                twin_reset(1);
                twin_seed((uint64_t)tile + 1);
                try_all(&w, t, 1);
                for (int op = 0; op < CONV_OPS; op++) {
                    size_t slabs, bytes = bytes_of_launch(t, &w, (enum conv_op)op, &slabs);
                    size_t one = conv_tile_shared(t, (enum conv_op)op, w.c.math, 1);
                    size_t all = conv_tile_shared(t, (enum conv_op)op, w.c.math, 100000);
                    size_t stages = (size_t)t->stages, stage = (all - one) / (stages - 1);

                    CHECK(one < all / 2);
                    CHECK_INT(bytes, one + ((slabs < stages ? slabs : stages) - 1) * stage);
                }
            }
}

TEST(any_shape_in_fp32_is_as_loops_have_it)
{
    any_shapes(CUDA_FP32, 11, 60 / SHARE);
}

TEST(any_shape_in_tf32_is_as_loops_have_it)
{
    any_shapes(CUDA_TF32, 12, 60 / SHARE);
}

TEST(any_shape_in_bf16_is_as_loops_have_it)
{
    any_shapes(CUDA_BF16, 13, 60 / SHARE);
}

/* ---- the layers of the models that come with the program, fewer images ---- */

struct layer {
    int h, c, k, stride, pad, oc, images;
};
static const struct layer lenet[] = {{28, 1, 3, 1, 0, 20, 5},
                                     {13, 20, 5, 1, 0, 50, 3},
                                     {1, 1250, 1, 1, 0, 128, 37},
                                     {1, 128, 1, 1, 0, 10, 37}};
static const struct layer cnn[] = {{28, 1, 3, 1, 1, 32, 4},
                                   {14, 32, 3, 1, 1, 64, 3},
                                   {1, 3136, 1, 1, 0, 256, 9},
                                   {1, 256, 1, 1, 0, 10, 33}};
static const struct layer mlp[] = {{1, 784, 1, 1, 0, 128, 40}, {1, 1024, 1, 1, 0, 10, 40}};
static const struct layer resnet18[] = {
    {28, 1, 3, 1, 1, 64, 2},   {28, 64, 3, 1, 1, 64, 1},   {28, 64, 3, 2, 1, 128, 1},
    {28, 64, 1, 2, 0, 128, 2}, {14, 128, 3, 1, 1, 128, 1}, {14, 128, 1, 2, 0, 256, 2},
    {7, 256, 3, 2, 1, 64, 2},  {4, 512, 3, 1, 1, 32, 2},   {4, 32, 3, 1, 1, 512, 2}};

static struct cuda_conv layer_conv(const struct layer *at, enum cuda_math math, int models)
{
    int out = (at->h + 2 * at->pad - at->k) / at->stride + 1;

    return (struct cuda_conv){.models = models,
                              .n = at->images,
                              .h = at->h,
                              .w = at->h,
                              .c = at->c,
                              .oh = out,
                              .ow = out,
                              .oc = at->oc,
                              .k = at->k,
                              .stride = at->stride,
                              .pad_top = at->pad,
                              .pad_left = at->pad,
                              .math = math};
}

static void try_layers(const struct layer *at, size_t count, int models)
{
    for (size_t i = 0; i < count; i += SHARE)
        for (int math = i % 2 ? CUDA_FP32 : CUDA_TF32; math < CUDA_MATHS; math++) {
            struct work w = {.c = layer_conv(&at[i], (enum cuda_math)math, models),
                             .shared = i == 0,
                             .exact = true,
                             .aligned = true,
                             .biased = true,
                             .gated = i > 0,
                             .act = CUDA_RELU};

            if (math == CUDA_FP32 && at[i].c > 300)
                continue;
            twin_reset(1);
            try_all(&w, NULL, 1);
        }
}

TEST(layers_of_lenet_are_exact)
{
    try_layers(lenet, sizeof lenet / sizeof *lenet, 2);
}

TEST(layers_of_cnn_are_exact)
{
    try_layers(cnn, sizeof cnn / sizeof *cnn, 2);
}

TEST(layers_of_mlp_are_exact)
{
    try_layers(mlp, sizeof mlp / sizeof *mlp, 1);
}

TEST(layers_of_resnet18_are_exact)
{
    try_layers(resnet18, sizeof resnet18 / sizeof *resnet18, 1);
}

/* ---- the same bits ---- */

/* All results of a layer, of model `first` of those with the same inputs in a row of models. */
static void results(const struct layer *at, enum cuda_math math, int models, uint64_t seed,
                    double *out[4], size_t count[4])
{
    struct work w = {.c = layer_conv(at, math, models), .aligned = true};
    struct cuda_list l = {0};
    struct cuda_stream *s;
    struct tensor *made[4] = {&w.y, &w.dx, &w.dweight, &w.dbias};
    struct cuda_weights to;
    bool fringe;

    twin_reset(1);
    twin_seed(seed);
    dice_state = 77;
    if (cuda_rt()->stream_open(&s))
        abort();
    work_open(&w, s);
    for (int t = 0; t < 4; t++) /* each model has what the first one has */
        for (size_t m = 0; m < (size_t)models; m++) {
            struct tensor *in = (struct tensor *[]){&w.x, &w.weight, &w.bias, &w.dy}[t];

            dice_state = 100 + (uint32_t)t;
            for (size_t i = 0; i < in->count; i++)
                in->v[m * in->count + i] = dice(-1000000, 1000000) / 1e6;
            upload(in, s);
        }
    for (int t = 0; t < 4; t++)
        upload(made[t], s);
    to = weights_to(&w, true, cuda_conv_scratch(&w.c), cuda_conv_turns(&w.c), s);
    cuda_conv_forward(&l, &w.c, view(&w.x, false), view(&w.weight, false), view(&w.bias, false),
                      CUDA_TANH, view(&w.y, false));
    cuda_conv_input(&l, &w.c, view(&w.dy, false), view(&w.weight, false), view(&w.x, false),
                    CUDA_TANH, true, view(&w.dx, false));
    cuda_conv_weights(&l, &w.c, view(&w.x, false), view(&w.dy, false), &to);
    run(&l, s);
    check_turns(&to, cuda_conv_turns(&w.c), s);
    for (int t = 0; t < 4; t++) {
        out[t] = download(made[t], s, &fringe);
        count[t] = made[t]->count;
    }
    work_close(&w);
    cuda_rt()->stream_close(s);
}

/* The same call gives the same bits, whatever runs first; a model's do not depend on how many others
 * share the call. */
static void same_bits(const struct layer *at, enum cuda_math math)
{
    double *once[4], *again[4], *among[4];
    size_t count[4];

    results(at, math, 1, 1, once, count);
    results(at, math, 1, 987654321, again, count);
    results(at, math, 3, 5, among, count);
    for (int t = 0; t < 4; t++) {
        CHECK(!memcmp(once[t], again[t], count[t] * sizeof *once[t]));
        for (size_t m = 0; m < 3; m++)
            CHECK(!memcmp(once[t], among[t] + m * count[t], count[t] * sizeof *once[t]));
        free(once[t]);
        free(again[t]);
        free(among[t]);
    }
}

TEST(the_same_call_gives_the_same_bits)
{
    static const struct layer at[] = {
        {20, 3, 5, 1, 2, 20, 9}, {9, 17, 3, 2, 1, 24, 4}, {1, 300, 1, 1, 0, 70, 40}};

    for (size_t i = 0; i < sizeof at / sizeof *at; i += SHARE)
        for (int math = 0; math < CUDA_MATHS; math++)
            same_bits(&at[i], (enum cuda_math)math);
}

/* ---- plans ---- */

TEST(plans_fill_the_processors_and_fit_their_memory)
{
    static const struct layer all[] = {
        {28, 1, 3, 1, 1, 64, 256},    {28, 64, 3, 1, 1, 64, 256},   {28, 64, 3, 2, 1, 128, 256},
        {14, 128, 3, 1, 1, 128, 256}, {7, 256, 3, 1, 1, 256, 256},  {4, 512, 3, 1, 1, 512, 256},
        {13, 20, 5, 1, 0, 50, 256},   {14, 32, 3, 1, 1, 64, 256},   {1, 1250, 1, 1, 0, 128, 256},
        {1, 3136, 1, 1, 0, 256, 256}, {1, 784, 1, 1, 0, 1024, 200}, {1, 1024, 1, 1, 0, 1024, 200},
        {1, 1024, 1, 1, 0, 10, 200}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int op = 0; op < CONV_OPS; op++)
            for (int math = 0; math < CUDA_MATHS; math++) {
                struct cuda_conv c = layer_conv(&all[i], (enum cuda_math)math, 1);
                struct conv_size s = conv_size_of(&c, (enum conv_op)op);
                struct conv_plan p = conv_plan_of(&c, (enum conv_op)op);
                size_t blocks = (s.rows + (size_t)p.tile->rows - 1) / (size_t)p.tile->rows *
                                ((s.cols + (size_t)p.tile->cols - 1) / (size_t)p.tile->cols) *
                                (size_t)s.remainders * p.parts;
                size_t shared = conv_tile_shared(p.tile, (enum conv_op)op, c.math, s.depth);

                CHECK(shared <= 99 * 1024);
                CHECK((p.parts - 1) * p.chunk < s.depth && p.parts * p.chunk >= s.depth);
                CHECK(p.parts == 1 || p.chunk % 128 == 0);
                /* Small tiles where large ones would leave processors idle. */
                CHECK(blocks >= 60 || p.tile->rows == 32);
                if (getenv("CHORUS_CONV_PLANS"))
                    printf("  %dx%dx%d k%d s%d -> %d, %s %s: %d x %d, %zu parts, %zu blocks\n", c.h,
                           c.w, c.c, c.k, c.stride, c.oc, math_name[math],
                           op == CONV_FORWARD ? "forward"
                           : op == CONV_INPUT ? "input"
                                              : "weights",
                           p.tile->rows, p.tile->cols, p.parts, blocks);
            }
}
