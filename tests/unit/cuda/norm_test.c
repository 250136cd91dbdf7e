/* Batch norm of cuda/launch/layers.h against plain loops in double. */
#include "tests/unit/cuda/tensor.h"

#include "cuda/launch/layers.h"

#define SEEDS 2

struct norm_case {
    int models, n, h, w, c, groups;
    double centre, scale; /* of the values: eighths times scale, about centre */
};

static const struct norm_case cases[] = {
    {1, 8, 4, 4, 16, 1, 0, 1},     {2, 6, 5, 3, 5, 3, 0.5, 1}, {1, 4, 7, 7, 64, 2, 2, 1},
    {3, 2, 3, 3, 20, 1, 0, 1},     {1, 2, 1, 1, 8, 2, 0, 1}, /* one value a group */
    {1, 4, 1, 3, 2056, 2, 0, 1},                             /* channels for more than one tile */
    {1, 16, 28, 28, 3, 1, 1, 1},                             /* many rows */
    {1, 8, 14, 14, 8, 1, 1000, 1}, {2, 2, 9, 7, 40, 2, -3, 8}, {1, 1, 1, 1, 1, 1, 0, 1},
};

struct norm_run { /* a case in one math, as doubles: what it reads and what must come out */
    struct cuda_shape s;
    struct cuda_norm b;
    size_t n, all, c, groups, rows, stats; /* elements; rows of a group; statistics of a model */
    bool half;
    double *x, *x2, *dy, *old, *scale, *bias; /* scale and bias: (models, c) */
    double *mean_var, *sums;                  /* (models; groups, 2, c) */
};

static struct norm_run run_of(const struct norm_case *k, enum cuda_math math)
{
    struct norm_run r = {.s = {k->models, k->n, k->h, k->w, k->c, math}, .b = {k->groups}};
    size_t models = (size_t)k->models;

    r.c = (size_t)k->c;
    r.groups = (size_t)k->groups;
    r.n = (size_t)k->n * (size_t)k->h * (size_t)k->w * r.c;
    r.all = r.n * models;
    r.rows = r.n / r.c / r.groups;
    r.stats = r.groups * 2 * r.c;
    r.half = math == CUDA_BF16;
    r.x = eighths_new(r.all, 21);
    r.x2 = eighths_new(r.all, 22);
    r.dy = eighths_new(r.all, 23);
    r.old = eighths_new(r.all, 24);
    r.scale = eighths_new(models * r.c, 25);
    r.bias = eighths_new(models * r.c, 26);
    r.mean_var = calloc(models * r.stats, sizeof(double));
    r.sums = calloc(models * r.stats, sizeof(double));
    for (size_t i = 0; i < r.all; i++)
        r.x[i] = stored(r.x[i] * k->scale + k->centre, r.half);
    for (size_t i = 0; i < models * r.groups; i++) {
        double *mean = r.mean_var + i * 2 * r.c, *var = mean + r.c, *dscale = r.sums + i * 2 * r.c;
        const double *x = r.x + i * r.rows * r.c, *dy = r.dy + i * r.rows * r.c;

        for (size_t j = 0; j < r.rows * r.c; j++)
            mean[j % r.c] += x[j] / (double)r.rows;
        for (size_t j = 0; j < r.rows * r.c; j++)
            var[j % r.c] += (x[j] - mean[j % r.c]) * (x[j] - mean[j % r.c]) / (double)r.rows;
        for (size_t j = 0; j < r.rows * r.c; j++) {
            size_t c = j % r.c;

            dscale[c] += dy[j] * (x[j] - mean[c]) / sqrt(var[c] + 1e-5);
            dscale[r.c + c] += dy[j];
        }
    }
    return r;
}

static void run_free(struct norm_run *r)
{
    double *all[] = {r->x, r->x2, r->dy, r->old, r->scale, r->bias, r->mean_var, r->sums};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static struct tensor given(const struct norm_run *r, size_t skip, const double *v)
{
    return tensor_new(r->half, (size_t)r->s.models, r->n, skip, v);
}

static struct tensor floats(const struct norm_run *r, size_t n, const double *v)
{
    return tensor_new(false, (size_t)r->s.models, n, 0, v);
}

/* limit: of each value, beside what storing in bf16 costs. */
static void compare(const char *what, const struct tensor *t, const double *want, double limit)
{
    size_t n = t->models * t->n;
    double *got = malloc(n * sizeof *got);

    tensor_read(t, got);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= limit + (t->half ? fabs(want[i]) / 256 : 0)) &&
            !(isnan(got[i]) && isnan(want[i]))) {
            TEST_FAILED("%s: %zu is %.9g, not %.9g", what, i, got[i], want[i]);
            break;
        }
    free(got);
}

/* The bits of a tensor are those of the first run, kept in *first. */
static void repeat(const char *what, const struct tensor *t, double **first)
{
    size_t n = t->models * t->n;
    double *got = malloc(n * sizeof *got);

    tensor_read(t, got);
    if (!*first) {
        *first = got;
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (!same_value(got[i], (*first)[i])) {
            TEST_FAILED("%s: %zu is %.9g, and %.9g before", what, i, got[i], (*first)[i]);
            break;
        }
    free(got);
}

static void *scratch_of(const struct norm_run *r)
{
    return device_bytes(NULL, cuda_norm_scratch(&r->s, &r->b));
}

static struct cuda_norm_stats stats_of(const struct norm_run *r, const struct tensor *t)
{
    struct cuda_view mean = t->view, var = {(float *)t->view.p + r->c, t->view.stride};

    return (struct cuda_norm_stats){mean, var, 2 * r->c};
}

static double largest(const double *v, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fabs(v[i]) > most ? fabs(v[i]) : most;
    return most;
}

TEST(statistics_of_groups_are_those_of_the_values)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int math = 0; math < CUDA_MATHS; math += 2) {
            struct norm_run r = run_of(&cases[i], (enum cuda_math)math);
            size_t all = r.stats * (size_t)r.s.models;
            double *first = NULL;

            for (int seed = 0; seed < SEEDS; seed++) {
                struct cuda_list l = {0};
                struct tensor x, stats;

                tensor_begin((uint64_t)seed);
                x = given(&r, 0, r.x);
                stats = floats(&r, r.stats, NULL);
                cuda_norm_statistics(&l, &r.s, &r.b, x.view, scratch_of(&r), stats.view);
                run_list(&l);
                compare("statistics", &stats, r.mean_var, 3e-7 * largest(r.mean_var, all));
                repeat("statistics", &stats, &first);
            }
            free(first);
            run_free(&r);
        }
}

/* Sums of eighths over 2^k values are exact: the statistics are the rounded true ones. */
TEST(exact_statistics_agree_bit_for_bit)
{
    static const struct norm_case exact[] = {
        {2, 8, 4, 4, 16, 2, 0, 1}, {1, 16, 8, 8, 5, 1, 2, 1}, {1, 4, 4, 8, 72, 4, -1, 1}};

    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        for (int math = 0; math < CUDA_MATHS; math += 2) {
            struct norm_run r = run_of(&exact[i], (enum cuda_math)math);
            size_t all = r.stats * (size_t)r.s.models;
            double *got = malloc(all * sizeof *got);
            struct tensor x, stats;
            struct cuda_list l = {0};

            tensor_begin(1);
            x = given(&r, 1, r.x); /* one channel a thread */
            stats = floats(&r, r.stats, NULL);
            cuda_norm_statistics(&l, &r.s, &r.b, x.view, scratch_of(&r), stats.view);
            run_list(&l);
            tensor_read(&stats, got);
            for (size_t j = 0; j < all; j++)
                if (got[j] != stored(r.mean_var[j], false)) {
                    TEST_FAILED("%zu is %.9g, not %.9g", j, got[j], r.mean_var[j]);
                    break;
                }
            free(got);
            run_free(&r);
        }
}

/* A mean of 10000 and a deviation of 1: the squares' sum alone would lose everything. */
TEST(variance_is_exact_far_from_zero)
{
    struct norm_case k = {1, 64, 16, 16, 4, 1, 10000, 0.5};
    struct norm_run r = run_of(&k, CUDA_FP32);
    double *got = malloc(r.stats * sizeof *got);
    struct tensor x, stats;
    struct cuda_list l = {0};

    for (size_t i = 0; i < 40 * r.c; i++) /* and the first rows lie apart from all others */
        r.x[i] = 0;
    memset(r.mean_var, 0, r.stats * sizeof(double));
    for (size_t i = 0; i < r.n; i++)
        r.mean_var[i % r.c] += r.x[i] / (double)r.rows;
    for (size_t i = 0; i < r.n; i++) {
        double d = r.x[i] - r.mean_var[i % r.c];

        r.mean_var[r.c + i % r.c] += d * d / (double)r.rows;
    }
    tensor_begin(1);
    x = given(&r, 0, r.x);
    stats = floats(&r, r.stats, NULL);
    cuda_norm_statistics(&l, &r.s, &r.b, x.view, scratch_of(&r), stats.view);
    run_list(&l);
    tensor_read(&stats, got);
    for (size_t i = 0; i < r.stats; i++)
        CHECK_NEAR(got[i], r.mean_var[i], 1e-6 * r.mean_var[i]);
    free(got);
    run_free(&r);
}

TEST(what_is_not_a_number_shows_in_its_channel_and_group_alone)
{
    struct norm_case k = {1, 4, 5, 5, 16, 2, 0, 1};
    struct norm_run r = run_of(&k, CUDA_FP32);
    double *got = malloc(r.stats * sizeof *got);
    struct tensor x, stats;
    struct cuda_list l = {0};

    r.x[r.rows * r.c + 7 * r.c + 3] = NAN; /* group 1, channel 3 */
    tensor_begin(1);
    x = given(&r, 0, r.x);
    stats = floats(&r, r.stats, NULL);
    cuda_norm_statistics(&l, &r.s, &r.b, x.view, scratch_of(&r), stats.view);
    run_list(&l);
    tensor_read(&stats, got);
    for (size_t i = 0; i < r.stats; i++)
        CHECK_INT(isnan(got[i]), i / (2 * r.c) == 1 && i % r.c == 3);
    free(got);
    run_free(&r);
}

static void check_forward(const struct norm_run *r, enum cuda_act act, bool residual, size_t skip)
{
    double *want = malloc(r->all * sizeof *want), *first = NULL;

    for (size_t i = 0; i < r->all; i++) {
        size_t m = i / r->n, c = i % r->c, g = i / (r->rows * r->c);
        const double *stats = r->mean_var + g * 2 * r->c + c;
        double y = (r->x[i] - stats[0]) / sqrt(stats[r->c] + 1e-5) * r->scale[m * r->c + c] +
                   r->bias[m * r->c + c] + (residual ? r->x2[i] : 0);

        want[i] = act == CUDA_RELU ? y < 0 ? 0 : y : act == CUDA_TANH ? tanh(y) : y;
    }
    for (int seed = 0; seed < SEEDS; seed++) {
        struct cuda_list l = {0};
        struct tensor x, x2, y, stats, scale, bias;
        struct cuda_norm_stats of;
        struct cuda_view none = {0};

        tensor_begin((uint64_t)seed);
        x = given(r, skip, r->x);
        x2 = given(r, skip, r->x2);
        y = given(r, skip, NULL);
        stats = floats(r, r->stats, r->mean_var);
        scale = floats(r, r->c, r->scale);
        bias = floats(r, r->c, r->bias);
        of = stats_of(r, &stats);
        cuda_norm_forward(&l, &r->s, &r->b, x.view, &of, scale.view, bias.view,
                          residual ? x2.view : none, act, y.view);
        run_list(&l);
        compare("output", &y, want, 4e-6 * (1 + largest(want, r->all)));
        repeat("output", &y, &first);
    }
    free(want);
    free(first);
}

TEST(forward_scales_by_its_groups_statistics)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int math = 0; math < CUDA_MATHS; math += 2) {
            struct norm_run r = run_of(&cases[i], (enum cuda_math)math);

            if (cases[i].centre < 100) /* (x - mean) in fp32 has what x has */
                for (int act = CUDA_LINEAR; act <= CUDA_TANH; act++)
                    check_forward(&r, (enum cuda_act)act, (act + math) % 2, i % 3 == 1);
            run_free(&r);
        }
}

/* In evaluation all images use the running statistics, which lie apart. */
TEST(evaluation_uses_statistics_of_one_group)
{
    struct norm_case k = {2, 3, 4, 4, 8, 1, 0, 1};
    struct norm_run r = run_of(&k, CUDA_FP32);
    double mean[16], var[16], *want = malloc(r.all * sizeof *want);
    struct tensor x, y, tmean, tvar, scale, bias;
    struct cuda_norm_stats of;
    struct cuda_list l = {0};

    for (size_t i = 0; i < 16; i++) {
        mean[i] = (double)i / 8;
        var[i] = 1 + (double)i / 4;
    }
    for (size_t i = 0; i < r.all; i++) {
        size_t at = i / r.n * r.c + i % r.c;
        want[i] = (r.x[i] - mean[at]) / sqrt(var[at] + 1e-5) * r.scale[at] + r.bias[at];
    }
    tensor_begin(1);
    x = given(&r, 0, r.x);
    y = given(&r, 0, NULL);
    tmean = floats(&r, r.c, mean);
    tvar = floats(&r, r.c, var);
    scale = floats(&r, r.c, r.scale);
    bias = floats(&r, r.c, r.bias);
    of = (struct cuda_norm_stats){tmean.view, tvar.view, 0};
    cuda_norm_forward(&l, &r.s, &r.b, x.view, &of, scale.view, bias.view, (struct cuda_view){0},
                      CUDA_LINEAR, y.view);
    run_list(&l);
    compare("output", &y, want, 1e-5);
    free(want);
    run_free(&r);
}

static void check_backward(const struct norm_run *r, bool add, size_t skip)
{
    size_t models = (size_t)r->s.models;
    double *dx = malloc(r->all * sizeof *dx), *first = NULL, *sums_first = NULL;
    double *dscale = calloc(models * r->c, sizeof *dscale),
           *dbias = calloc(models * r->c, sizeof *dbias);

    for (size_t i = 0; i < r->all; i++) {
        size_t m = i / r->n, c = i % r->c, g = i / (r->rows * r->c);
        const double *stats = r->mean_var + g * 2 * r->c + c, *sums = r->sums + g * 2 * r->c + c;
        double root = 1 / sqrt(stats[r->c] + 1e-5), count = (double)r->rows;

        dx[i] =
            r->scale[m * r->c + c] * root *
                (r->dy[i] - sums[r->c] / count - (r->x[i] - stats[0]) * root * (sums[0] / count)) +
            (add ? r->old[i] : 0);
    }
    for (size_t i = 0; i < models * r->groups; i++)
        for (size_t c = 0; c < r->c; c++) {
            dscale[i / r->groups * r->c + c] += r->sums[i * 2 * r->c + c];
            dbias[i / r->groups * r->c + c] += r->sums[i * 2 * r->c + r->c + c];
        }
    for (int seed = 0; seed < SEEDS; seed++) {
        struct cuda_list l = {0};
        struct tensor x, dy, to, stats, scale, sums, tdscale, tdbias;
        struct cuda_norm_stats of;
        struct cuda_norm b;
        double most = 1 + largest(r->sums, models * r->stats);

        tensor_begin((uint64_t)seed);
        x = given(r, skip, r->x);
        dy = given(r, skip, r->dy);
        to = given(r, skip, add ? r->old : NULL);
        stats = floats(r, r->stats, r->mean_var);
        scale = floats(r, r->c, r->scale);
        sums = floats(r, r->stats, NULL);
        tdscale = floats(r, r->c, NULL);
        tdbias = floats(r, r->c, NULL);
        of = stats_of(r, &stats);
        b = r->b;
        if (seed) { /* at once, or by themselves below */
            b.dscale = tdscale.view;
            b.dbias = tdbias.view;
        }
        cuda_norm_back_sums(&l, &r->s, &b, x.view, &of, dy.view, scratch_of(r), sums.view);
        run_list(&l);
        compare("sums", &sums, r->sums, 2e-6 * most);
        repeat("sums", &sums, &sums_first);
        cuda_norm_back_input(&l, &r->s, &r->b, (double)r->rows, x.view, &of, scale.view, sums.view,
                             dy.view, add, to.view);
        if (!seed)
            cuda_norm_gradient(&l, &r->s, &r->b, sums.view, tdscale.view, tdbias.view);
        run_list(&l);
        /* Few values have a variance near 0: they are many times as large. */
        compare("input's gradient", &to, dx, 1e-5 * (1 + largest(dx, r->all)));
        repeat("input's gradient", &to, &first);
        compare("scale's gradient", &tdscale, dscale, 4e-6 * most);
        compare("bias's gradient", &tdbias, dbias, 4e-6 * most);
    }
    free(dx);
    free(first);
    free(sums_first);
    free(dscale);
    free(dbias);
}

TEST(backward_moves_mean_and_variance_too)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int math = 0; math < CUDA_MATHS; math += 2) {
            struct norm_run r = run_of(&cases[i], (enum cuda_math)math);

            if (cases[i].centre < 100)
                check_backward(&r, i % 2, i % 3 == 1);
            run_free(&r);
        }
}

/* Two places with half of the images each, whose sums are added up, have the statistics of one. */
TEST(halves_over_places_make_the_whole)
{
    struct norm_case k = {2, 6, 5, 4, 12, 1, 1, 1};
    struct norm_run r = run_of(&k, CUDA_FP32), part = r;
    size_t models = (size_t)k.models;
    double *sums = calloc(models * r.c, sizeof *sums), *got = malloc(models * r.c * sizeof *got);
    struct tensor x[2], stats, tsums;

    part.s.n = 3;
    tensor_begin(3);
    stats = floats(&r, r.stats, NULL);
    for (int i = 0; i < 2; i++) {
        x[i] = given(&r, 0, r.x);
        x[i].view.p = (float *)x[i].view.p + (size_t)i * r.n / 2;
    }
    for (int half = 0; half < 2; half++) {
        struct cuda_list l = {0};

        memset(sums, 0, models * r.c * sizeof *sums);
        for (int i = 0; i < 2; i++) {
            tsums = floats(&r, r.c, NULL);
            if (half == 0)
                cuda_norm_sum(&l, &part.s, x[i].view, scratch_of(&part), tsums.view);
            else
                cuda_norm_squares(&l, &part.s, x[i].view, scratch_of(&part), stats.view,
                                  tsums.view);
            run_list(&l);
            tensor_read(&tsums, got);
            for (size_t j = 0; j < models * r.c; j++)
                sums[j] += got[j];
        }
        tsums = floats(&r, r.c, sums);
        if (half == 0)
            cuda_norm_mean(&l, &part.s, (double)r.rows, tsums.view, stats.view);
        else
            cuda_norm_variance(&l, &part.s, (double)r.rows, tsums.view, stats.view);
        run_list(&l);
    }
    compare("statistics", &stats, r.mean_var, 1e-6);
    free(sums);
    free(got);
    run_free(&r);
}

/* By itself, and with the statistics at once. */
static void check_batch_mean(int groups, bool at_once)
{
    struct norm_case k = {2, 6, 3, 3, 10, groups, 0, 1};
    struct norm_run r = run_of(&k, CUDA_FP32);
    double want[2 * 20] = {0};
    struct tensor x, stats, out;
    struct cuda_norm_stats of;
    struct cuda_list l = {0};

    for (size_t i = 0; i < 2 * r.stats; i++)
        want[i / r.stats * 20 + i % 20] += r.mean_var[i] / 6;
    tensor_begin(1);
    x = given(&r, 0, r.x);
    stats = floats(&r, r.stats, at_once ? NULL : r.mean_var);
    out = floats(&r, 2 * r.c, NULL);
    if (at_once) {
        r.b.mean_stats = out.view;
        r.b.mean_factor = 1.0 / 6;
        cuda_norm_statistics(&l, &r.s, &r.b, x.view, scratch_of(&r), stats.view);
    } else {
        of = stats_of(&r, &stats);
        cuda_norm_batch_mean(&l, &r.s, &r.b, 1.0 / 6, &of, out.view);
    }
    run_list(&l);
    compare("statistics", &stats, r.mean_var, 1e-6);
    compare("mean", &out, want, 1e-6);
    run_free(&r);
}

TEST(batch_statistics_are_the_mean_over_groups)
{
    for (int groups = 1; groups <= 3; groups++)
        for (int at_once = 0; at_once < 2; at_once++)
            check_batch_mean(groups, at_once);
}
