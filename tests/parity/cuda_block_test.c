/* tests/parity/cuda_block_test.c: blocks of convolution, activation and pool against the same layers one
 * by one, on the emulator. Sums are exact, so that they agree bit for bit. */
#include "cuda/launch/block.h"
#include "cuda/kernels/products/block_args.h"
#include "cuda/launch/conv_plan.h"
#include "cuda/launch/layers.h"
#include "tests/unit/cuda/tensor.h"

#ifdef __SANITIZE_ADDRESS__
#define SHARE 2 /* of the shapes, one in so many: the emulator is slow */
#else
#define SHARE 1
#endif

struct shape {
    int models, n, h, w, c, oc, k, stride, pad;
};

static const struct shape shapes[] = {
    {1, 3, 9, 8, 1, 6, 3, 1, 0},                                 /* a row is left over, 7 x 6 */
    {2, 2, 8, 9, 3, 20, 3, 1, 1},                                /* a column is, 8 x 9 */
    {1, 2, 13, 13, 8, 34, 5, 1, 2}, {3, 5, 6, 7, 2, 2, 2, 1, 0}, /* 5 x 6 */
    {1, 2, 11, 12, 4, 40, 3, 2, 1}, {2, 1, 3, 3, 5, 8, 2, 1, 0}, /* one window, nothing left over */
    {1, 40, 4, 4, 16, 72, 3, 1, 1}, {2, 9, 7, 5, 10, 50, 4, 1, 0}, /* 4 x 2 */
    {1, 1, 5, 5, 1, 130, 2, 3, 1},                                 /* 2 x 2, dy of many channels */
};

struct work {
    struct cuda_block b;
    struct cuda_conv c;
    struct cuda_shape map;
    struct cuda_pool pool;
    enum cuda_act act;
    bool half, add;
    size_t full, pooled, pixels, weights; /* elements of a model */
    struct tensor x, weight, bias, y, mask, dy;
};

static void same(const struct work *w, const char *what, const struct tensor *got,
                 const struct tensor *want)
{
    size_t n = got->models * got->n;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);

    tensor_read(got, a);
    tensor_read(want, b);
    for (size_t i = 0; i < n; i++)
        if (!same_value(a[i], b[i])) {
            TEST_FAILED("%s, math %d, act %d, %s, tile %d, %dx%dx%d -> %dx%dx%d, k %d: %zu of %zu "
                        "is %.9g, not %.9g",
                        what, w->c.math, w->act, w->b.max ? "max" : "average", w->b.tile, w->c.h,
                        w->c.w, w->c.c, w->c.oh, w->c.ow, w->c.oc, w->c.k, i, n, a[i], b[i]);
            break;
        }
    free(a);
    free(b);
}

static struct tensor fresh(size_t models, size_t n, bool half, size_t skip, uint32_t seed)
{
    double *v = eighths_new(models * n, seed);
    struct tensor t;

    t = tensor_new(half, models, n, skip, v);
    free(v);
    return t;
}

/* Bytes for each element of a pooled map, `skip` of them in front. */
static struct cuda_view bytes(const struct work *w, size_t skip)
{
    size_t stride = (w->pooled + 1) / 2 * 2;
    char *p = device_bytes(NULL, skip + stride * (size_t)w->c.models + 64);

    return (struct cuda_view){p + skip, stride};
}

/* The same by layers: y, dx and the gradients of weights and biases. */
static void compare(struct work *w, size_t skip, struct cuda_weights *to)
{
    size_t models = (size_t)w->c.models;
    struct cuda_list l = {0};
    struct cuda_view none = {0}, mask = bytes(w, skip);
    struct tensor map = fresh(models, w->full, w->half, skip, 4);
    struct tensor dmap = fresh(models, w->full, w->half, skip, 5);
    struct tensor y[2], dx[2], dw[2], db[2];

    for (int i = 0; i < 2; i++) {
        y[i] = fresh(models, w->pooled, w->half, skip, 7);
        dx[i] = fresh(models, w->pixels, w->half, skip, 8);
        dw[i] = fresh(models, w->weights, false, skip, 9);
        db[i] = fresh(models, (size_t)w->c.oc, false, skip, 10);
    }
    cuda_conv_forward(&l, &w->c, w->x.view, w->weight.view, w->bias.view, w->act, map.view);
    cuda_pool_forward(&l, &w->map, &w->pool, map.view, y[0].view);
    cuda_block_forward(&l, &w->b, w->x.view, w->weight.view, w->bias.view, w->act, y[1].view, none);
    run_list(&l);
    same(w, "forward without a mask", &y[1], &y[0]);
    cuda_block_forward(&l, &w->b, w->x.view, w->weight.view, w->bias.view, w->act, y[1].view, mask);
    run_list(&l);
    same(w, "forward", &y[1], &y[0]);

    cuda_pool_backward(&l, &w->map, &w->pool, w->b.max ? map.view : none, w->dy.view, map.view,
                       w->act == CUDA_TANH ? CUDA_LINEAR : w->act, false, dmap.view);
    to->dweight = dw[0].view;
    to->dbias = db[0].view;
    cuda_conv_weights(&l, &w->c, w->x.view, dmap.view, to);
    cuda_conv_input(&l, &w->c, dmap.view, w->weight.view, w->add ? w->x.view : none, CUDA_RELU,
                    w->add, dx[0].view);
    to->dweight = dw[1].view;
    to->dbias = db[1].view;
    cuda_block_weights(&l, &w->b, w->x.view, w->dy.view, mask, to);
    cuda_block_input(&l, &w->b, w->dy.view, mask, w->weight.view, w->add ? w->x.view : none,
                     CUDA_RELU, w->add, dx[1].view);
    run_list(&l);
    same(w, "weights", &dw[1], &dw[0]);
    same(w, "biases", &db[1], &db[0]);
    same(w, "input", &dx[1], &dx[0]);
    for (int i = 0; i < 2; i++) {
        tensor_free(&y[i]);
        tensor_free(&dx[i]);
        tensor_free(&dw[i]);
        tensor_free(&db[i]);
    }
    tensor_free(&map);
    tensor_free(&dmap);
    cuda_rt()->give((char *)mask.p - skip);
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void one(const struct shape *s, enum cuda_math math, enum cuda_act act, bool max, int tile,
                size_t skip)
{
    int oh = (s->h + 2 * s->pad - s->k) / s->stride + 1;
    int ow = (s->w + 2 * s->pad - s->k) / s->stride + 1;
    struct work w = {
        .c = {.models = s->models,
              .n = s->n,
              .h = s->h,
              .w = s->w,
              .c = s->c,
              .oh = oh,
              .ow = ow,
              .oc = s->oc,
              .k = s->k,
              .stride = s->stride,
              .pad_top = s->pad,
              .pad_left = s->pad,
              .math = math},
        .map = {s->models, s->n, oh, ow, s->oc, math},
        .pool = {2, 2, oh / 2, ow / 2, max},
        .act = act,
        .half = math == CUDA_BF16,
        .add = tile % 2 == 0,
    };
    size_t n = (size_t)s->n, models = (size_t)s->models;
    struct cuda_weights to = {0};

    w.b = (struct cuda_block){.conv = w.c, .max = max, .tile = tile};
    w.pixels = n * (size_t)(s->h * s->w * s->c);
    w.full = n * (size_t)(oh * ow * s->oc);
    w.pooled = n * (size_t)(oh / 2 * (ow / 2) * s->oc);
    w.weights = (size_t)(s->k * s->k * s->c * s->oc);
    tensor_begin(1 + (uint64_t)tile);
    to.scratch = device_bytes(NULL, most(cuda_block_scratch(&w.b), cuda_conv_scratch(&w.c)));
    to.turns = device_zeros(most(cuda_block_turns(&w.b), cuda_conv_turns(&w.c)));
    w.x = fresh(models, w.pixels, w.half, skip, 1);
    w.weight = fresh(models, w.weights, w.half, skip, 2);
    w.bias = fresh(models, (size_t)s->oc, false, skip, 3);
    /* gradients lie where pairs may be read */
    w.dy = fresh(models, w.pooled, w.half, models == 1 ? skip : 0, 11);
    if (models == 1)
        w.dy.view.stride = 0;
    compare(&w, skip, &to);
}

static const struct {
    enum cuda_act act;
    bool max;
} kinds[] = {{CUDA_RELU, false},
             {CUDA_RELU, true},
             {CUDA_LINEAR, false},
             {CUDA_LINEAR, true},
             {CUDA_TANH, true}};

TEST(as_layers_one_by_one)
{
    int turn = 0;

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int math = 0; math < CUDA_MATHS; math++)
            for (int kind = 0; kind < 5; kind++)
                if (turn++ % SHARE == 0)
                    one(&shapes[i], (enum cuda_math)math, kinds[kind].act, kinds[kind].max, 0, 0);
}

TEST(every_tile)
{
    int turn = 0;

    for (int tile = 1 + BLOCK_TILE; tile <= CONV_TILE_COUNT; tile++)
        for (int math = 0; math < CUDA_MATHS; math++)
            for (size_t i = tile % 3; i < sizeof shapes / sizeof *shapes; i += 3)
                if (turn++ % SHARE == 0)
                    one(&shapes[i], (enum cuda_math)math, CUDA_RELU, turn % 4 > 1, tile,
                        turn % 5 > 2 ? 2 : 0);
}
