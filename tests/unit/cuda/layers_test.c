/* Activations, pools, sums and dropout of cuda/launch/layers.h against plain loops in double; what is exact in
 * fp32 must agree bit for bit. norm_test.c has batch norm. */
#include "tests/unit/cuda/tensor.h"

#include "cuda/launch/layers.h"
#include "rng/rng.h"

#include <float.h>

/* Everything twice, under different orders of blocks and warps: the bits must be the same. */
#define SEEDS 2

struct frame { /* one case in one of its runs */
    struct cuda_shape s;
    bool half;
    size_t skip;
    struct cuda_list list;
};

static size_t size_of(const struct cuda_shape *s)
{
    return (size_t)s->n * (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

static double act_in_double(enum cuda_act act, double x)
{
    return act == CUDA_RELU ? x < 0 ? 0 : x : act == CUDA_TANH ? tanh(x) : x;
}

static double slope(enum cuda_act act, double y, double dy)
{
    return act == CUDA_RELU ? y > 0 ? dy : 0 : act == CUDA_TANH ? dy * (1 - y * y) : dy;
}

/* limit: 0 where the numbers are exact before they are stored. */
static bool agree(const char *what, const double *got, const double *want, size_t n, bool half,
                  double limit)
{
    for (size_t i = 0; i < n; i++) {
        double room = limit + (half ? fabs(want[i]) / 256 : 0);

        if (limit > 0 ? !(fabs(got[i] - want[i]) <= room) && !(isnan(got[i]) && isnan(want[i]))
                      : !same_value(got[i], stored(want[i], half))) {
            TEST_FAILED("%s: %zu is %.9g, not %.9g", what, i, got[i], want[i]);
            return false;
        }
    }
    return true;
}

/* What `to` holds after the list, which must be the same under all seeds: kept in *first. */
static void finish(const char *what, struct frame *f, struct tensor *to, double **first,
                   const double *want, double limit)
{
    size_t n = to->models * to->n;
    double *got = malloc(n * sizeof *got);

    run_list(&f->list);
    tensor_read(to, got);
    agree(what, got, want, n, f->half, limit);
    if (*first) {
        for (size_t i = 0; i < n; i++)
            if (!same_value(got[i], (*first)[i])) {
                TEST_FAILED("%s: %zu is %.9g, and %.9g before", what, i, got[i], (*first)[i]);
                break;
            }
        free(got);
    } else {
        *first = got;
    }
}

static struct frame frame_of(struct cuda_shape s, int seed, size_t skip)
{
    tensor_begin((uint64_t)seed + 1);
    return (struct frame){.s = s, .half = s.math == CUDA_BF16, .skip = skip};
}

static struct tensor given(const struct frame *f, size_t n, const double *v)
{
    return tensor_new(f->half, (size_t)f->s.models, n, f->skip, v);
}

/* ---- activations and sums ---- */

static void check_act(struct cuda_shape s, enum cuda_act act, bool add, bool in_place, size_t skip)
{
    size_t n = size_of(&s), all = n * (size_t)s.models;
    double *x = eighths_new(all, 1), *dy = eighths_new(all, 2), *old = eighths_new(all, 3);
    double *want = malloc(all * sizeof *want), *back = malloc(all * sizeof *back);
    double *one = NULL, *two = NULL, *three = NULL, limit = act == CUDA_TANH ? 1e-6 : 0;

    x[all / 2] = NAN;
    for (size_t i = 0; i < all; i++) {
        double y = act_in_double(act, x[i]);

        want[i] = y;
        back[i] = slope(act, stored(y, s.math == CUDA_BF16), dy[i]) + (add ? old[i] : 0);
    }
    for (int seed = 0; seed < SEEDS; seed++) {
        struct frame f = frame_of(s, seed, skip);
        struct tensor tx = given(&f, n, x), ty = given(&f, n, NULL), tdy = given(&f, n, dy);
        struct tensor tdx = given(&f, n, old);

        cuda_act_forward(&f.list, &s, act, tx.view, ty.view);
        finish("activation", &f, &ty, &one, want, limit);
        cuda_act_backward(&f.list, &s, act, ty.view, tdy.view, add && !in_place,
                          in_place ? tdy.view : tdx.view);
        if (!in_place)
            finish("its gradient", &f, &tdx, &two, back, limit * 4);
        else if (!add)
            finish("its gradient in place", &f, &tdy, &two, back, limit * 4);
        else
            run_list(&f.list);

        /* y = act(x + old), and old += x */
        tx = given(&f, n, x);
        tdx = given(&f, n, old);
        for (size_t i = 0; i < all; i++)
            want[i] = act_in_double(act, x[i] + old[i]);
        cuda_add_forward(&f.list, &s, tx.view, tdx.view, act, ty.view);
        finish("sum", &f, &ty, &three, want, limit);
        free(three);
        three = NULL;
        for (size_t i = 0; i < all; i++)
            want[i] = x[i] + (add ? old[i] : 0);
        cuda_add_to(&f.list, &s, tx.view, add, tdx.view);
        finish("sum in place", &f, &tdx, &three, want, 0);
        free(three);
        three = NULL;
        for (size_t i = 0; i < all; i++)
            want[i] = act_in_double(act, x[i]);
    }
    free(x);
    free(dy);
    free(old);
    free(want);
    free(back);
    free(one);
    free(two);
}

TEST(activations_and_sums_are_the_formulas)
{
    static const enum cuda_act acts[] = {CUDA_LINEAR, CUDA_RELU, CUDA_TANH};

    for (int i = 0; i < 3; i++)
        for (int math = 0; math < CUDA_MATHS; math++)
            for (int add = 0; add < 2; add++) {
                struct cuda_shape odd = {3, 3, 5, 7, 3, (enum cuda_math)math};
                struct cuda_shape even = {2, 4, 4, 4, 16, (enum cuda_math)math};

                check_act(odd, acts[i], add, false, 0);
                check_act(odd, acts[i], add, true, 1);
                check_act(even, acts[i], add, false, 0);
            }
}

/* ---- pools ---- */

struct pool_case {
    int models, n, h, w, c, k, stride;
};

static const struct pool_case pools[] = {
    {1, 2, 8, 8, 8, 2, 2},                          /* the usual */
    {2, 3, 7, 9, 5, 2, 2},                          /* a row and a column that no window has */
    {1, 2, 9, 9, 20, 3, 2},                         /* windows overlap */
    {2, 1, 6, 5, 4, 3, 1},  {1, 2, 8, 7, 16, 2, 3}, /* pixels between windows */
    {1, 1, 5, 5, 1, 5, 5},                          /* one window */
    {1, 1, 4, 6, 3, 1, 1},  {1, 1, 9, 5, 8, 4, 3},
};

static size_t spot(const struct pool_case *p, int h, int w, size_t image, int r, int q, int c)
{
    return ((image * (size_t)h + (size_t)r) * (size_t)w + (size_t)q) * (size_t)p->c + (size_t)c;
}

static size_t first_maximum(const struct pool_case *p, const double *x, size_t image, int r, int q,
                            int c)
{
    size_t best = spot(p, p->h, p->w, image, r * p->stride, q * p->stride, c);

    for (int i = 0; i < p->k * p->k; i++) {
        size_t at =
            spot(p, p->h, p->w, image, r * p->stride + i / p->k, q * p->stride + i % p->k, c);

        if (x[at] > x[best] || (isnan(x[at]) && !isnan(x[best])))
            best = at;
    }
    return best;
}

/* y from x, and dx from dy, of all models' images one behind the other. */
static void pool_in_double(const struct pool_case *p, int oh, int ow, bool max, const double *x,
                           const double *dy, double *y, double *dx)
{
    size_t images = (size_t)p->models * (size_t)p->n;

    memset(dx, 0, images * spot(p, p->h, p->w, 1, 0, 0, 0) * sizeof *dx);
    for (size_t image = 0; image < images; image++)
        for (int r = 0; r < oh; r++)
            for (int q = 0; q < ow; q++)
                for (int c = 0; c < p->c; c++) {
                    size_t to = spot(p, oh, ow, image, r, q, c);

                    y[to] = 0;
                    if (max) {
                        size_t best = first_maximum(p, x, image, r, q, c);

                        y[to] = x[best];
                        dx[best] += dy[to];
                    }
                    for (int i = 0; !max && i < p->k * p->k; i++) {
                        size_t at = spot(p, p->h, p->w, image, r * p->stride + i / p->k,
                                         q * p->stride + i % p->k, c);

                        y[to] += x[at] / (p->k * p->k);
                        dx[at] += dy[to] / (p->k * p->k);
                    }
                }
}

static void check_pool(const struct pool_case *p, enum cuda_math math, bool max, enum cuda_act act,
                       bool add, size_t skip)
{
    struct cuda_shape s = {p->models, p->n, p->h, p->w, p->c, math};
    struct cuda_pool pool = {p->k, p->stride, (p->h - p->k) / p->stride + 1,
                             (p->w - p->k) / p->stride + 1, max};
    size_t n = size_of(&s), all = n * (size_t)s.models;
    size_t out = (size_t)s.n * (size_t)pool.oh * (size_t)pool.ow * (size_t)s.c;
    double *x = eighths_new(all, 5), *dy = eighths_new(out * (size_t)s.models, 6);
    double *old = eighths_new(all, 7), *y = malloc(out * (size_t)s.models * sizeof *y);
    double *dx = malloc(all * sizeof *dx), *one = NULL, *two = NULL;
    bool exact = act != CUDA_TANH && (max || (p->k & (p->k - 1)) == 0);

    if (act == CUDA_TANH)
        for (size_t i = 0; i < all; i++)
            x[i] = stored(tanh(x[i]), math == CUDA_BF16);
    if (max)
        x[all / 3] = x[all / 2] = NAN;
    pool_in_double(p, pool.oh, pool.ow, max, x, dy, y, dx);
    for (size_t i = 0; i < all; i++)
        dx[i] = slope(act, x[i], dx[i]) + (add ? old[i] : 0);
    for (int seed = 0; seed < SEEDS; seed++) {
        struct frame f = frame_of(s, seed, skip);
        struct tensor tx = given(&f, n, x), ty = given(&f, out, NULL), tdy = given(&f, out, dy);
        struct tensor tdx = given(&f, n, add ? old : NULL);
        struct cuda_view none = {0};

        cuda_pool_forward(&f.list, &s, &pool, tx.view, ty.view);
        finish("pool", &f, &ty, &one, y, exact ? 0 : 1e-6);
        cuda_pool_backward(&f.list, &s, &pool, max ? tx.view : none, tdy.view,
                           act == CUDA_LINEAR ? none : tx.view, act, add, tdx.view);
        finish("its gradient", &f, &tdx, &two, dx, exact ? 0 : 1e-5);
    }
    free(x);
    free(dy);
    free(old);
    free(y);
    free(dx);
    free(one);
    free(two);
}

TEST(pools_take_windows_that_lie_apart_or_overlap)
{
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
        for (int math = 0; math < CUDA_MATHS; math += 2)
            for (int max = 0; max < 2; max++)
                for (int act = CUDA_LINEAR; act <= CUDA_TANH; act++)
                    check_pool(&pools[i], (enum cuda_math)math, max, (enum cuda_act)act,
                               (act + max) % 2, act == CUDA_RELU);
}

TEST(a_mean_over_the_image_and_its_gradient)
{
    static const struct pool_case cases[] = {
        {2, 3, 4, 4, 16, 0, 0}, {1, 2, 7, 7, 5, 0, 0}, {3, 2, 1, 1, 8, 0, 0}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int math = 0; math < CUDA_MATHS; math++)
            for (int add = 0; add < 2; add++) {
                const struct pool_case *p = &cases[i];
                struct cuda_shape s = {p->models, p->n, p->h, p->w, p->c, (enum cuda_math)math};
                size_t n = size_of(&s), all = n * (size_t)s.models;
                size_t pixels = (size_t)p->h * (size_t)p->w, out = n / pixels;
                double *x = eighths_new(all, 8), *dy = eighths_new(out * (size_t)s.models, 9);
                double *old = eighths_new(all, 10), *one = NULL, *two = NULL;
                double *y = calloc(out * (size_t)s.models, sizeof *y);
                double *dx = malloc(all * sizeof *dx), limit = pixels & (pixels - 1) ? 1e-6 : 0;

                for (size_t j = 0; j < all; j++) {
                    size_t at = j / (pixels * (size_t)p->c) * (size_t)p->c + j % (size_t)p->c;

                    y[at] += x[j] / (double)pixels;
                    dx[j] = (x[j] > 0 ? dy[at] / (double)pixels : 0) + (add ? old[j] : 0);
                }
                for (int seed = 0; seed < SEEDS; seed++) {
                    struct frame f = frame_of(s, seed, (size_t)add);
                    struct tensor tx = given(&f, n, x), ty = given(&f, out, NULL);
                    struct tensor tdy = given(&f, out, dy), tdx = given(&f, n, old);

                    cuda_mean_forward(&f.list, &s, tx.view, ty.view);
                    finish("mean", &f, &ty, &one, y, limit);
                    cuda_mean_backward(&f.list, &s, tdy.view, tx.view, CUDA_RELU, add, tdx.view);
                    finish("its gradient", &f, &tdx, &two, dx, limit);
                }
                free(x);
                free(dy);
                free(old);
                free(y);
                free(dx);
                free(one);
                free(two);
            }
}

/* ---- dropout ---- */

static void check_dropout(struct cuda_shape s, double rate, uint64_t step, size_t first, bool add,
                          size_t skip)
{
    size_t image = (size_t)s.h * (size_t)s.w * (size_t)s.c, n = size_of(&s);
    size_t all = n * (size_t)s.models;
    double *x = eighths_new(all, 11), *old = eighths_new(all, 12);
    double *want = malloc(all * sizeof *want), *one = NULL;
    struct dev_clock clock = {.step = step};
    uint32_t keys[8][2];

    x[0] = 2; /* never 0, so that it tells whether it stayed */
    for (size_t m = 0; m < (size_t)s.models; m++) {
        struct rng_key layer = rng_fold_in(rng_key(40 + m), 0x80000003u), key;

        memcpy(keys[m], layer.w, sizeof keys[m]);
        key = rng_fold_in(layer, (uint32_t)step);
        for (size_t i = 0; i < n; i++) {
            double *to = &want[m * n + i], from = x[m * n + i] += x[m * n + i] == 0;

            *to = (double)rng_bits_at(key, first * image + i) >= rate * 4294967296.0
                      ? (double)((float)from / (float)(1 - rate))
                      : 0;
            *to += add ? old[m * n + i] : 0;
            *to = (double)(float)*to;
        }
    }
    for (int seed = 0; seed < SEEDS; seed++) {
        struct frame f = frame_of(s, seed, skip);
        struct tensor tx = given(&f, n, x), ty = given(&f, n, old);
        uint32_t *key = device_bytes(keys, sizeof keys);
        struct dev_clock *at = device_bytes(&clock, sizeof clock);

        cuda_dropout(&f.list, &s, rate, key, at, first, tx.view, add, ty.view);
        finish("dropout", &f, &ty, &one, want, 0);
    }
    free(x);
    free(old);
    free(want);
    free(one);
}

TEST(dropout_has_the_bits_of_the_reference)
{
    static const double rates[] = {0, 0.1, 0.25, 0.5, 0.999};

    for (int i = 0; i < 5; i++)
        for (int math = 0; math < CUDA_MATHS; math += 2) {
            struct cuda_shape odd = {3, 3, 5, 3, 7, (enum cuda_math)math};
            struct cuda_shape even = {1, 5, 1, 1, 128, (enum cuda_math)math};

            check_dropout(odd, rates[i], 17, 0, i % 2, 0);
            check_dropout(odd, rates[i], (uint64_t)5 << 32 | 3, 64, false, 1);
            check_dropout(even, rates[i], 0, (size_t)1 << 27, true, 0);
        }
}
