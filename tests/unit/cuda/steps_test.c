/* The two ends of a step (cuda/launch/steps.h) on the twin: images against data_image, the loss against ref's
 * formulas written out, a network's end against its layers. */
#include "tests/unit/cuda/tensor.h"

#include "cuda/launch/conv.h"
#include "cuda/launch/steps.h"

#define SEEDS 2

/* ---- images ---- */

#define IMAGES 23

struct set {
    struct data_set set;
    uint8_t bytes[IMAGES * 32 * 32 * 3];
    float values[IMAGES * 32 * 32 * 3], lut[3 * 256];
    uint16_t labels[IMAGES];
    struct cuda_images on; /* the device */
};

static void make_set(struct set *s, int h, int w, int c, bool bytes)
{
    size_t n = (size_t)IMAGES * (size_t)h * (size_t)w * (size_t)c;
    uint32_t seed = 3;

    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        s->bytes[i] = (uint8_t)(seed >> 24);
        s->values[i] = (float)(int)(seed >> 8) / 3e6f;
    }
    for (int i = 0; i < 3 * 256; i++)
        s->lut[i] = (float)(i - 300) / 77;
    for (int i = 0; i < IMAGES; i++)
        s->labels[i] = (uint16_t)(i * 7 % 10);
    s->set.shape = (struct net_shape){h, w, c};
    s->set.train = (struct data_part){.count = IMAGES,
                                      .bytes = bytes ? s->bytes : NULL,
                                      .values = bytes ? NULL : s->values,
                                      .labels = s->labels};
    s->set.lut = bytes ? s->lut : NULL;
    s->on = (struct cuda_images){
        .bytes = bytes ? device_bytes(s->bytes, n) : NULL,
        .values = bytes ? NULL : device_bytes(s->values, n * sizeof(float)),
        .lut = device_bytes(s->lut, sizeof s->lut),
        .labels = device_bytes(s->labels, sizeof s->labels),
        .count = IMAGES,
        .h = h,
        .w = w,
        .c = c,
    };
}

static void check_pixels(const struct tensor *x, size_t from, const float *want, size_t n)
{
    double *got = malloc(x->models * x->n * sizeof *got);

    tensor_read(x, got);
    for (size_t i = 0; i < n; i++)
        if (got[from + i] != stored((double)want[i], x->half)) {
            TEST_FAILED("pixel %zu is %.9g, not %.9g", i, got[from + i], (double)want[i]);
            break;
        }
    free(got);
}

static void check_gather(int h, int w, int c, bool bytes, enum cuda_math math, unsigned augment,
                         size_t skip)
{
    enum { MODELS = 2, BATCH = 8, FIRST = 2, N = 5 };
    struct set *s = malloc(sizeof *s);
    struct dev_clock clock = {.step = 70, .batch = 1, .key = {0x1234u, 0x9876u}};
    struct rng_key epoch = {{0x1234u, 0x9876u}};
    size_t size = (size_t)h * (size_t)w * (size_t)c, order_stride = 2 * BATCH + 1;
    uint32_t order[MODELS * (2 * BATCH + 1)];
    uint16_t labels[MODELS * N];
    float image[32 * 32 * 3];
    struct tensor x;
    uint16_t *label;
    struct dev_clock *at;
    struct cuda_list l = {0};

    tensor_begin(augment + 1);
    make_set(s, h, w, c, bytes);
    for (size_t i = 0; i < MODELS * order_stride; i++)
        order[i] = (uint32_t)(i * 5 % IMAGES);
    x = tensor_new(math == CUDA_BF16, MODELS, N * size, skip, NULL);
    label = device_bytes(NULL, sizeof labels);
    at = device_bytes(&clock, sizeof clock);

    struct cuda_gather g = {.from = s->on,
                            .math = math,
                            .models = MODELS,
                            .n = N,
                            .batch = BATCH,
                            .first = FIRST,
                            .order = device_bytes(order, sizeof order),
                            .order_stride = order_stride,
                            .augment = augment,
                            .crop_pad = 3};

    cuda_gather(&l, &g, at, x.view, label);
    run_list(&l);
    device_read(labels, label, sizeof labels);
    for (size_t m = 0; m < MODELS; m++)
        for (size_t i = 0; i < N; i++) {
            uint64_t place = BATCH * clock.batch + FIRST + i;
            uint32_t which = order[m * order_stride + place];

            data_image_augmented(&s->set, &s->set.train, which, augment, 3, epoch, place, image);
            check_pixels(&x, (m * N + i) * size, image, size);
            CHECK_INT(labels[m * N + i], s->labels[which]);
        }

    clock.halted = 1; /* nothing is written any more */
    at = device_bytes(&clock, sizeof clock);
    x = tensor_new(math == CUDA_BF16, MODELS, N * size, skip, NULL);
    cuda_gather(&l, &g, at, x.view, label);
    run_list(&l);
    for (size_t i = 0; i < size; i++)
        image[i] = (float)TENSOR_GAP;
    check_pixels(&x, 0, image, size);
    free(s);
}

TEST(images_are_those_of_data_image)
{
    static const int shapes[][3] = {{28, 28, 1}, {5, 7, 3}, {6, 4, 2}, {3, 3, 1}, {32, 32, 3}};

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned augment = 0; augment < 8; augment++)
            check_gather(shapes[i][0], shapes[i][1], shapes[i][2], (augment + i) % 3 != 0,
                         augment % 2 ? CUDA_BF16 : CUDA_FP32, augment, i == 2);
    check_gather(28, 28, 1, false, CUDA_TF32, 0, 0);
    check_gather(8, 8, 3, true, CUDA_BF16, 0, 0);
    check_gather(8, 8, 3, true, CUDA_FP32, 0, 1);
}

TEST(evaluation_takes_images_in_order_and_repeats_the_last)
{
    for (int bytes = 0; bytes < 2; bytes++) {
        struct set *s = malloc(sizeof *s);
        float image[28 * 28];
        uint32_t at = IMAGES - 3;
        struct tensor x;
        struct cuda_list l = {0};

        tensor_begin(1);
        make_set(s, 28, 28, 1, bytes);
        x = tensor_new(bytes, 1, 5 * 784, 0, NULL);
        cuda_gather_plain(&l, &s->on, bytes ? CUDA_BF16 : CUDA_FP32, 5,
                          device_bytes(&at, sizeof at), x.view);
        run_list(&l);
        for (size_t i = 0; i < 5; i++) {
            size_t which = at + i < IMAGES ? at + i : IMAGES - 1;

            data_image(&s->set, &s->set.train, which, image);
            check_pixels(&x, i * 784, image, 784);
        }
        free(s);
    }
}

/* ---- the loss ---- */

struct loss_case {
    int models, n, outputs, shards;
    enum cuda_math math;
    int wrong; /* the image whose logits are not finite; -1: none */
};

static void check_loss(const struct loss_case *k)
{
    struct cuda_loss c = {k->math, k->models, k->n, k->outputs, k->shards, 0.125f};
    size_t models = (size_t)k->models, images = (size_t)k->n, outputs = (size_t)k->outputs;
    size_t units = models * (size_t)k->shards, shard = images / (size_t)k->shards;
    size_t n = images * outputs, rows = 3;
    struct dev_clock clock = {.row = 1};
    double *z = eighths_new(models * n, 31), *dz = malloc(models * n * sizeof *dz);
    double *loss = calloc(units, sizeof *loss), *got = malloc(models * n * sizeof *got);
    unsigned *right = calloc(units, sizeof *right);
    uint16_t *label = malloc(models * images * sizeof *label);
    struct cuda_result *results = malloc(rows * units * sizeof *results), *before = NULL;
    float flag;
    bool half = k->math == CUDA_BF16;

    for (size_t i = 0; i < models * images; i++) {
        double *row = z + i * outputs, sum = 0, top;
        size_t best = 0, u = i / shard;

        label[i] = (uint16_t)(i * 3 % outputs);
        if ((int)i == k->wrong)
            row[outputs / 2] = i % 2 ? NAN : INFINITY;
        top = row[0];
        for (size_t j = 1; j < outputs; j++) {
            top = row[j] > top ? row[j] : top;
            best = row[j] > row[best] ? j : best;
        }
        for (size_t j = 0; j < outputs; j++)
            sum += exp(row[j] - top);
        for (size_t j = 0; j < outputs; j++)
            dz[i * outputs + j] = (exp(row[j] - top) / sum - (j == label[i])) * (double)c.weight;
        loss[u] += log(sum) - (row[label[i]] - top);
        right[u] += best == label[i];
    }
    for (int seed = 0; seed < 2 * SEEDS; seed++) {
        bool in_place = seed == 1, halted = seed >= SEEDS;
        struct cuda_list l = {0};
        struct tensor tz, tdz;
        struct cuda_result *there;
        float *tflag;

        tensor_begin((uint64_t)seed);
        tz = tensor_new(half, models, n, 0, z);
        tdz = tensor_new(half, models, n, 0, NULL);
        memset(results, 0x5a, rows * units * sizeof *results);
        there = device_bytes(results, rows * units * sizeof *results);
        flag = -1;
        tflag = device_bytes(&flag, sizeof flag);
        clock.halted = halted;
        cuda_loss(&l, &c, device_bytes(&clock, sizeof clock), tz.view,
                  device_bytes(label, models * images * sizeof *label), images,
                  in_place ? tz.view : tdz.view, there, tflag);
        run_list(&l);
        device_read(results, there, rows * units * sizeof *results);
        device_read(&flag, tflag, sizeof flag);
        if (halted) {
            CHECK(flag == -1);
            CHECK(results[units].right == 0x5a5a5a5au);
            continue;
        }
        tensor_read(in_place ? &tz : &tdz, got);
        for (size_t i = 0; i < models * n; i++)
            if (!(fabs(got[i] - dz[i]) <= 1e-7 + (half ? fabs(dz[i]) / 256 : 0)) &&
                !(isnan(got[i]) && isnan(dz[i]))) {
                TEST_FAILED("gradient %zu is %.9g, not %.9g", i, got[i], dz[i]);
                break;
            }
        for (size_t u = 0; u < units; u++) {
            const struct cuda_result *r = &results[units + u];

            if (isfinite(loss[u]))
                CHECK_NEAR(r->loss_sum, loss[u], 1e-6 * loss[u]);
            CHECK_INT(r->not_finite, !isfinite(loss[u]));
            CHECK_INT(r->right, right[u]);
        }
        CHECK(flag == (k->wrong >= 0));
        CHECK(results[0].right == 0x5a5a5a5au && results[2 * units].right == 0x5a5a5a5au);
        if (before)
            CHECK(k->wrong >= 0 || !memcmp(before, results + units, units * sizeof *results));
        else
            before =
                memcpy(malloc(units * sizeof *before), results + units, units * sizeof *before);
    }
    free(z);
    free(dz);
    free(loss);
    free(got);
    free(right);
    free(label);
    free(results);
    free(before);
}

TEST(losses_and_their_gradient)
{
    static const struct loss_case cases[] = {
        {1, 256, 10, 1, CUDA_FP32, -1}, {1, 24, 10, 4, CUDA_FP32, -1},
        {3, 10, 3, 1, CUDA_BF16, -1},   {1, 600, 10, 2, CUDA_TF32, 7},
        {2, 9, 100, 3, CUDA_FP32, -1},  {1, 5, 257, 1, CUDA_BF16, 2},
        {1, 4, 2, 1, CUDA_FP32, 3},     {40, 6, 10, 1, CUDA_FP32, 11},
        {2, 130, 65, 1, CUDA_FP32, 5},  {1, 8, 64, 8, CUDA_BF16, -1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_loss(&cases[i]);
}

/* ---- the end of a network ---- */

struct tail_case {
    int models, n, c, outputs, shards;
    enum cuda_math math;
    enum cuda_act act;
    int wrong; /* the image whose logits are not finite; -1: none */
};

struct tail_side { /* what both ways give out */
    struct tensor z, dz, dx;
    struct cuda_result *results;
    float *flag;
};

static struct tail_side side_new(const struct tail_case *k)
{
    bool half = k->math == CUDA_BF16;
    size_t models = (size_t)k->models, n = (size_t)k->n;
    float flag = -1;

    return (struct tail_side){
        .z = tensor_new(half, models, n * (size_t)k->outputs, 0, NULL),
        .dz = tensor_new(half, models, n * (size_t)k->outputs, 0, NULL),
        .dx = tensor_new(half, models, n * (size_t)k->c, 0, NULL),
        .results = device_bytes(NULL, 2 * models * (size_t)k->shards * sizeof(struct cuda_result)),
        .flag = device_bytes(&flag, sizeof flag),
    };
}

static void near_tensors(const char *what, const struct tensor *a, const struct tensor *b,
                         double limit)
{
    size_t n = a->models * a->n;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);

    tensor_read(a, x);
    tensor_read(b, y);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i] - y[i]) <= limit * (fabs(y[i]) + 1)) && !same_value(x[i], y[i])) {
            TEST_FAILED("%s: %zu is %.9g, not %.9g", what, i, x[i], y[i]);
            break;
        }
    free(x);
    free(y);
}

/* Against the layer, the loss and the gradient one by one. */
static void check_tail(const struct tail_case *k, bool halted)
{
    size_t models = (size_t)k->models, n = (size_t)k->n, c = (size_t)k->c;
    size_t outputs = (size_t)k->outputs, units = models * (size_t)k->shards;
    bool half = k->math == CUDA_BF16;
    double *x = eighths_new(models * n * c, 3), *w = eighths_new(models * c * outputs, 4);
    double *b = eighths_new(models * outputs, 5);
    uint16_t *label = malloc(models * n * sizeof *label);
    struct dev_clock clock = {.row = 1, .halted = halted};
    const struct cuda_conv conv = {.models = k->models,
                                   .n = k->n,
                                   .h = 1,
                                   .w = 1,
                                   .c = k->c,
                                   .oh = 1,
                                   .ow = 1,
                                   .oc = k->outputs,
                                   .k = 1,
                                   .stride = 1,
                                   .math = half ? CUDA_BF16 : CUDA_FP32};
    const struct cuda_loss loss = {k->math, k->models, k->n, k->outputs, k->shards, 0.125f};
    const struct cuda_tail tail = {k->math,   k->models, k->n, k->c,  k->outputs,
                                   k->shards, k->act,    true, 0.125f};
    struct tensor tx, tw, tb;
    struct tail_side at[2];
    struct dev_clock *now;
    uint16_t *labels;
    uint32_t *turns;
    struct cuda_list l = {0};

    for (size_t i = 0; i < models * n; i++)
        label[i] = (uint16_t)(i * 3 % outputs);
    for (size_t i = 0; i < models * n * c; i++) /* what an activation gives out */
        x[i] = k->act == CUDA_RELU ? fmax(x[i], 0) : x[i] / 2;
    if (k->wrong >= 0)
        x[(size_t)k->wrong * c + c / 2] = k->wrong % 2 ? (double)NAN : (double)INFINITY;
    tensor_begin(5 + (uint64_t)k->n);
    tx = tensor_new(half, models, n * c, 0, x);
    tw = tensor_new(half, models, c * outputs, 0, w);
    tb = tensor_new(false, models, outputs, 0, b);
    now = device_bytes(&clock, sizeof clock);
    labels = device_bytes(label, models * n * sizeof *label);
    turns = device_zeros(cuda_tail_turns(&tail));
    for (int i = 0; i < 2; i++)
        at[i] = side_new(k);
    if (!halted)
        cuda_conv_forward(&l, &conv, tx.view, tw.view, tb.view, CUDA_LINEAR, at[0].z.view);
    cuda_loss(&l, &loss, now, at[0].z.view, labels, n, at[0].dz.view, at[0].results, at[0].flag);
    if (!halted)
        cuda_conv_input(&l, &conv, at[0].dz.view, tw.view, tx.view, k->act, false, at[0].dx.view);
    for (int twice = 0; twice < 2; twice++) { /* turns are as they were */
        const struct cuda_tail_at to = {
            .x = tx.view,
            .weight = tw.view,
            .bias = tb.view,
            .z = at[1].z.view,
            .dz = at[1].dz.view,
            .dx = at[1].dx.view,
            .label = labels,
            .label_stride = n,
            .scratch = device_bytes(NULL, cuda_tail_scratch(&tail)),
            .turns = turns,
        };

        CHECK(cuda_tail_can(&tail));
        cuda_tail(&l, &tail, now, &to, at[1].results, at[1].flag);
    }
    run_list(&l);
    near_tensors("logits", &at[1].z, &at[0].z, half ? 0.01 : 1e-6);
    near_tensors("gradient of logits", &at[1].dz, &at[0].dz, half ? 0.01 : 1e-6);
    near_tensors("gradient of the input", &at[1].dx, &at[0].dx, half ? 0.02 : 1e-6);
    struct cuda_result *rows = malloc(4 * units * sizeof *rows);
    float flag[2];
    for (int i = 0; i < 2; i++) {
        device_read(rows + 2 * units * (size_t)i, at[i].results, 2 * units * sizeof *rows);
        device_read(&flag[i], at[i].flag, sizeof flag[i]);
    }
    CHECK(flag[0] == flag[1]);
    for (size_t u = units; u < 2 * units && !halted; u++) {
        const struct cuda_result *want = &rows[u], *got = &rows[2 * units + u];

        CHECK_INT(got->right, want->right);
        CHECK_INT(got->not_finite, want->not_finite);
        if (!want->not_finite)
            CHECK_NEAR(got->loss_sum, want->loss_sum, (half ? 1e-3 : 1e-6) * want->loss_sum);
    }
    free(rows);
    free(x);
    free(w);
    free(b);
    free(label);
}

TEST(the_end_of_a_network_is_its_layers_one_by_one)
{
    static const struct tail_case cases[] = {{1, 8, 128, 10, 1, CUDA_FP32, CUDA_RELU, -1},
                                             {2, 7, 33, 10, 1, CUDA_TF32, CUDA_TANH, -1},
                                             {1, 12, 300, 16, 4, CUDA_FP32, CUDA_RELU, -1},
                                             {3, 5, 129, 3, 1, CUDA_BF16, CUDA_RELU, -1},
                                             {1, 9, 1, 2, 3, CUDA_FP32, CUDA_LINEAR, -1},
                                             {2, 6, 40, 7, 2, CUDA_FP32, CUDA_RELU, 4},
                                             {5, 3, 64, 10, 1, CUDA_BF16, CUDA_TANH, 7},
                                             {1, 260, 20, 10, 1, CUDA_FP32, CUDA_RELU, -1}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_tail(&cases[i], false);
    check_tail(&cases[1], true);
}
