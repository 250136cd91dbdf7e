/* What ends a step (cuda/launch/steps.h) on the twin: updates against ref's formulas written out, the clock,
 * copies in bf16, means over virtual devices. */
#include "tests/unit/cuda/tensor.h"

#include "cuda/launch/steps.h"

struct update_case {
    int models;
    size_t n, stats;
    enum spec_optimizer optimizer;
    double decay, clip;
    uint64_t step;
    bool half;
    size_t skip;
    double scale; /* of the gradient */
};

struct state { /* of all models, as ref keeps them: floats */
    float *g, *p, *s1, *s2, *batch, *running;
};

static float *floats_new(size_t n, uint32_t seed, double scale)
{
    float *v = malloc((n ? n : 1) * sizeof *v);

    for (size_t i = 0; i < n; i++)
        v[i] = (float)(eighths(&seed) * scale * (1 + (double)i * 1e-3));
    return v;
}

static struct state state_new(const struct update_case *k)
{
    size_t n = (size_t)k->models * k->n, stats = (size_t)k->models * k->stats;
    struct state s = {floats_new(n, 41, k->scale), floats_new(n, 42, 0.3),
                      floats_new(n, 43, 0.1),      floats_new(n, 44, 0.1),
                      floats_new(stats, 45, 1),    floats_new(stats, 46, 1)};

    for (size_t i = 0; i < n; i++)
        s.s2[i] = fabsf(s.s2[i]);
    return s;
}

static void state_free(struct state *s)
{
    float *all[] = {s->g, s->p, s->s1, s->s2, s->batch, s->running};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* ref_update.inc, in float. */
static void update_in_float(const struct cuda_update *u, const struct update_case *k, double rate,
                            struct state *s)
{
    float lr = (float)rate, decay = (float)u->weight_decay, momentum = (float)u->momentum;
    float beta1 = (float)u->beta1, beta2 = (float)u->beta2, epsilon = (float)u->epsilon;
    float rest1 = (float)(1 - u->beta1), rest2 = (float)(1 - u->beta2);
    float correct1 = (float)(1 - pow(u->beta1, (double)k->step + 1));
    float correct2 = (float)(1 - pow(u->beta2, (double)k->step + 1));

    for (size_t m = 0; m < (size_t)k->models; m++) {
        double sum = 0;
        float norm;

        for (size_t i = m * k->n; i < (m + 1) * k->n; i++)
            sum += (double)s->g[i] * (double)s->g[i];
        norm = (float)sqrt(sum);
        for (size_t i = m * k->n; i < (m + 1) * k->n; i++) {
            float g = s->g[i], step = 0, *s1 = &s->s1[i], *s2 = &s->s2[i];

            if (u->grad_clip > 0 && !(norm < (float)u->grad_clip))
                g = g / norm * (float)u->grad_clip;
            if (u->weight_decay != 0 && u->optimizer != SPEC_ADAMW)
                g += decay * s->p[i];
            switch (u->optimizer) {
            case SPEC_SGD:
                step = g;
                break;
            case SPEC_MOMENTUM:
                step = *s1 = g + momentum * *s1;
                break;
            case SPEC_NESTEROV:
                *s1 = g + momentum * *s1;
                step = g + momentum * *s1;
                break;
            case SPEC_ADAM:
            case SPEC_ADAMW:
                *s1 = rest1 * g + beta1 * *s1;
                *s2 = rest2 * (g * g) + beta2 * *s2;
                step = *s1 / correct1 / (sqrtf(*s2 / correct2) + epsilon);
                if (u->optimizer == SPEC_ADAMW)
                    step += decay * s->p[i];
                break;
            }
            s->p[i] -= lr * step;
        }
    }
    for (size_t i = 0; i < (size_t)k->models * k->stats; i++)
        s->running[i] = 0.9f * s->running[i] + 0.1f * s->batch[i];
}

static struct tensor from_floats(const struct update_case *k, size_t n, size_t skip, const float *v)
{
    double *d = malloc(((size_t)k->models * n + 1) * sizeof *d);
    struct tensor t;

    for (size_t i = 0; i < (size_t)k->models * n; i++)
        d[i] = (double)v[i];
    t = tensor_new(false, (size_t)k->models, n, skip, d);
    free(d);
    return t;
}

/* A GPU's compiler makes one rounding of a product and a sum: off by a rounding of what was there, `was`,
 * where they take each other away. */
static void near_floats(const char *what, const struct tensor *t, const float *want,
                        const float *was)
{
    size_t n = t->models * t->n;
    double *got = malloc((n + 1) * sizeof *got);

    tensor_read(t, got);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - (double)want[i]) <=
              4e-7 * (fabs((double)want[i]) + fabs((double)was[i])) + 5e-8) &&
            !same_value(got[i], (double)want[i])) {
            TEST_FAILED("%s: %zu is %.9g, not %.9g", what, i, got[i], (double)want[i]);
            break;
        }
    free(got);
}

static void check_update(const struct update_case *k, bool halted)
{
    struct cuda_update u = {.models = k->models,
                            .n = k->n,
                            .optimizer = k->optimizer,
                            .momentum = 0.9,
                            .beta1 = 0.9,
                            .beta2 = 0.999,
                            .epsilon = 1e-8,
                            .weight_decay = k->decay,
                            .grad_clip = k->clip,
                            .stats = k->stats};
    struct state s = state_new(k), was = state_new(k);
    struct dev_clock clock = {.step = k->step, .row = 2, .halted = halted};
    double lr[3] = {5, 6, 0.05}, *halves = malloc((size_t)k->models * k->n * sizeof *halves);
    int slots = backend_slots(k->optimizer);
    struct tensor g, p, s1, s2, batch, running, half, again;
    struct cuda_view none = {0};
    struct cuda_list l = {0};

    tensor_begin(k->step + 1);
    g = from_floats(k, k->n, k->skip, s.g);
    p = from_floats(k, k->n, k->skip, s.p);
    s1 = from_floats(k, k->n, k->skip, s.s1);
    s2 = from_floats(k, k->n, k->skip, s.s2);
    batch = from_floats(k, k->stats, 0, s.batch);
    running = from_floats(k, k->stats, 0, s.running);
    half = tensor_new(true, (size_t)k->models, k->n, k->skip, NULL);
    cuda_update(&l, &u, device_bytes(&clock, sizeof clock), device_bytes(lr, sizeof lr),
                device_bytes(NULL, cuda_update_scratch(&u)), g.view, p.view,
                slots > 0 ? s1.view : none, slots > 1 ? s2.view : none, k->half ? half.view : none,
                batch.view, running.view);
    run_list(&l);
    if (!halted)
        update_in_float(&u, k, lr[2], &s);
    near_floats("parameters", &p, s.p, was.p);
    near_floats("first slot", &s1, s.s1, was.s1);
    near_floats("second slot", &s2, s.s2, was.s2);
    near_floats("running statistics", &running, s.running, was.running);

    /* The copy is what is there, rounded; or still what it was. */
    again = tensor_new(true, (size_t)k->models, k->n, k->skip, NULL);
    if (k->half && !halted)
        cuda_halve(&l, k->models, k->n, p.view, again.view);
    run_list(&l);
    tensor_read(&again, halves);
    {
        double *got = malloc((size_t)k->models * k->n * sizeof *got);
        double *whole = malloc((size_t)k->models * k->n * sizeof *whole);

        tensor_read(&half, got);
        tensor_read(&p, whole);
        for (size_t i = 0; i < (size_t)k->models * k->n; i++) {
            double want = k->half && !halted ? stored(whole[i], true) : stored(TENSOR_GAP, true);

            if (!same_value(got[i], want) || !same_value(halves[i], want)) {
                TEST_FAILED("copy %zu is %g and %g, not %g", i, got[i], halves[i], want);
                break;
            }
        }
        free(got);
        free(whole);
    }
    free(halves);
    state_free(&s);
    state_free(&was);
}

TEST(updates_are_those_of_the_reference)
{
    for (int o = SPEC_SGD; o <= SPEC_ADAMW; o++) {
        const struct update_case cases[] = {
            {1, 1000, 40, (enum spec_optimizer)o, 0, 0, 0, false, 0, 1},
            {3, 77, 5, (enum spec_optimizer)o, 0.01, 0, 1, true, 0, 1},
            {2, 4099, 0, (enum spec_optimizer)o, 0.1, 1.5, 999, true, 1, 1},  /* clipped */
            {1, 300, 3, (enum spec_optimizer)o, 0, 1e6, 123456, false, 0, 1}, /* not clipped */
            {1, 64, 0, (enum spec_optimizer)o, 0, 0.5, 9, false, 0, 1e25},    /* squares overflow */
            {1, 5, 1, (enum spec_optimizer)o, 1e-4, 0, (uint64_t)1 << 40, true, 0, 1e-6},
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            check_update(&cases[i], false);
        check_update(&cases[2], true);
    }
}

/* A gradient that is not a number leaves no weight of its model a number once it is clipped. */
TEST(a_gradient_that_is_not_a_number_is_not_clipped_away)
{
    struct cuda_update u = {.models = 2, .n = 9, .optimizer = SPEC_SGD, .grad_clip = 1};
    struct dev_clock clock = {0};
    double lr = 0.1, g[18], p[18] = {0}, got[18];
    struct tensor tg, tp;
    struct cuda_view none = {0};
    struct cuda_list l = {0};

    for (int i = 0; i < 18; i++)
        g[i] = i == 4 ? NAN : 0.125;
    tensor_begin(1);
    tg = tensor_new(false, 2, 9, 0, g);
    tp = tensor_new(false, 2, 9, 0, p);
    cuda_update(&l, &u, device_bytes(&clock, sizeof clock), device_bytes(&lr, sizeof lr),
                device_bytes(NULL, cuda_update_scratch(&u)), tg.view, tp.view, none, none, none,
                none, none);
    run_list(&l);
    tensor_read(&tp, got);
    for (int i = 0; i < 18; i++)
        CHECK_INT(isnan(got[i]), i < 9);
}

/* ---- the clock, copies, means ---- */

TEST(the_clock_goes_on_until_a_loss_is_not_finite)
{
    struct dev_clock clock = {.step = 41, .batch = 3, .row = 0, .key = {1, 2}};
    static const float flags[] = {0, 0, 2, 0, 0};
    static const unsigned done[] = {1, 2, 3, 3, 3};

    tensor_begin(1);
    for (int i = 0; i < 5; i++) {
        struct dev_clock *at = device_bytes(&clock, sizeof clock);
        struct cuda_list l = {0};

        cuda_tick(&l, at, device_bytes(&flags[i], sizeof flags[i]));
        run_list(&l);
        device_read(&clock, at, sizeof clock);
        CHECK_INT(clock.step, 41 + done[i]);
        CHECK_INT(clock.batch, 3 + done[i]);
        CHECK_INT(clock.row, done[i]);
        CHECK_INT(clock.done, done[i]);
        CHECK_INT(clock.halted, i >= 2);
        CHECK(clock.key[0] == 1 && clock.key[1] == 2);
    }
}

TEST(weights_are_halved_to_the_nearest_even)
{
    static const double odd[] = {
        1 + 0x1p-8, 1 + 0x3p-8, 1 + 0x1p-8 + 0x1p-20, -3.14159, 0, -0.0, NAN, INFINITY, -INFINITY,
        3.4e38,     1e-40};
    size_t n = sizeof odd / sizeof *odd;
    double got[sizeof odd / sizeof *odd];
    struct tensor p, h;
    struct cuda_list l = {0};

    tensor_begin(1);
    p = tensor_new(false, 1, n, 0, odd);
    h = tensor_new(true, 1, n, 0, NULL);
    cuda_halve(&l, 1, n, p.view, h.view);
    run_list(&l);
    tensor_read(&h, got);
    for (size_t i = 0; i < n; i++)
        CHECK(same_value(got[i], stored(odd[i], true)));
    CHECK(got[0] == 1 && got[1] == 1 + 0x1p-6 && got[2] == 1 + 0x1p-7);
}

TEST(means_over_parts_are_taken_in_the_reference_tree)
{
    enum { N = 300 };

    for (int parts = 1; parts <= 17; parts++) {
        float *a = floats_new((size_t)parts * N, (uint32_t)parts, 0.1234567);
        float got[N], *to;
        const float *from;
        struct cuda_list l = {0};

        tensor_begin((uint64_t)parts);
        from = device_bytes(a, (size_t)parts * N * sizeof *a);
        to = device_bytes(NULL, sizeof got);
        cuda_mean_parts(&l, parts, N, 1.0 / parts, from, to);
        run_list(&l);
        device_read(got, to, sizeof got);
        for (int by = 1; by < parts; by *= 2)
            for (int i = 0; i + by < parts; i += 2 * by)
                for (int j = 0; j < N; j++)
                    a[i * N + j] += a[(i + by) * N + j];
        for (int j = 0; j < N; j++)
            CHECK(got[j] == a[j] * (float)(1.0 / parts));
        free(a);
    }
}
