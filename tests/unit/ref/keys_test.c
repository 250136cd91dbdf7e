/* What depends on nothing but keys: dropout, augmentation, members; and the optimizers by hand. */
#include "tests/unit/ref/kit.h"

/* ---- dropout ---- */

TEST(dropout_follows_its_keys_on_any_number_of_devices)
{
    const double rate = 0.4;
    const size_t size = 4 * 4 * 3;

    for (int devices = 1; devices <= 4; devices *= 2) {
        struct kit k;
        struct backend_step rows[2 * KIT_MEMBERS];
        double *x = calloc(8 * size, sizeof *x), *y = calloc(8 * size, sizeof *y);
        enum backend_peek answer;
        struct err e;
        int kept = 0;

        REQUIRE(
            kit_make(&k, "input 1 5 5\ndropout 0.1\nconv 3 2\ndropout 0.4\ndense classes\n", 8));
        k.plan.devices = devices;
        REQUIRE(kit_open(&k));
        CHECK_INT(kit_train(&k, 6, 2, rows, NULL), 2);
        REQUIRE_OK(ref_backend.peek(k.s, 0, 1, BACKEND_OUTPUT, x, 8 * size, &answer, &e));
        REQUIRE_OK(ref_backend.peek(k.s, 0, 2, BACKEND_OUTPUT, y, 8 * size, &answer, &e));
        for (size_t i = 0; i < 8 * size; i++) {
            /* the second dropout of the text, its eighth update */
            struct rng_key key = rng_fold_in(rng_fold_in(k.key[0], 0x80000001u), 7);
            bool stays = (double)rng_bits_at(key, i) >= rate * 4294967296.0;

            CHECK_NEAR(y[i], stays ? x[i] / (1 - rate) : 0, 1e-15);
            kept += stays;
        }
        CHECK(kept > 8 * 48 * 0.5 && kept < 8 * 48 * 0.7);
        free(x);
        free(y);
        kit_free(&k);
    }
}

/* ---- augmentation ---- */

TEST(augmentation_does_not_depend_on_devices_or_members)
{
    struct kit k[3];
    double *y[3];
    float image[64];
    enum backend_peek answer;
    struct err e;

    for (int i = 0; i < 3; i++) {
        struct backend_step rows[3 * KIT_MEMBERS];

        /* One 1x1 filter of weight 1 shows the images themselves. */
        REQUIRE(kit_make(&k[i], "input 1 8 8\nconv 1 1 nobias\ndense classes\n", 8));
        k[i].plan.augment = SPEC_FLIP | SPEC_CROP | SPEC_ERASE;
        k[i].plan.crop_pad = 2;
        k[i].lr = 0;
        k[i].plan.devices = i == 1 ? 4 : 1;
        if (i == 2) {
            k[i].plan.mode = SPEC_ENSEMBLE;
            k[i].plan.members = 2;
        }
        REQUIRE(kit_open(&k[i]));
        for (int m = 0; m < k[i].plan.members; m++) {
            double *p = kit_state(&k[i], m, BACKEND_PARAMS);

            p[k[i].net->param[k[i].net->layer[0].kernel].offset] = 1;
            REQUIRE_OK(ref_backend.state(k[i].s, m, BACKEND_PARAMS, true, p, &e));
            free(p);
        }
        CHECK_INT(kit_train(&k[i], 2, 2, rows, NULL), 2);
        y[i] = calloc(8 * 64, sizeof **y);
        REQUIRE_OK(
            ref_backend.peek(k[i].s, i == 2 ? 1 : 0, 0, BACKEND_OUTPUT, y[i], 8 * 64, &answer, &e));
    }
    CHECK(!memcmp(y[0], y[1], 8 * 64 * sizeof **y));
    CHECK(!memcmp(y[0], y[2], 8 * 64 * sizeof **y));
    for (size_t j = 0; j < 8; j++) {
        data_image_augmented(&k[0].data, &k[0].data.train, k[0].order[3 * 8 + j], k[0].plan.augment,
                             2, rng_key(5), 3 * 8 + j, image);
        for (size_t i = 0; i < 64; i++)
            CHECK((double)image[i] == y[0][j * 64 + i]);
    }
    for (int i = 0; i < 3; i++) {
        free(y[i]);
        kit_free(&k[i]);
    }
}

/* ---- members ---- */

/* Member m of 4, on 2 devices, is bit for bit the model that trains alone from the same key. */
TEST(a_member_equals_a_model_that_trains_alone)
{
    for (int precision = 0; precision < 2; precision++) {
        struct kit all = {0};
        struct backend_step rows[5 * 4], row[5];

        for (int m = -1; m < 4; m++) {
            struct kit k;

            REQUIRE(kit_make(&k,
                             "input 1 6 6\nconv 3 3\nbatchnorm\nrelu\ndropout 0.2\n"
                             "dense classes\n",
                             8));
            k.plan.precision = precision ? SPEC_FP64 : SPEC_FP32;
            k.plan.optimizer = SPEC_ADAM;
            if (m < 0) {
                k.plan.mode = SPEC_ENSEMBLE;
                k.plan.members = 4;
                k.plan.devices = 2;
            } else {
                k.key[0] = net_model_key(3, 4, m);
            }
            REQUIRE(kit_open(&k));
            CHECK_INT(kit_train(&k, 0, 5, m < 0 ? rows : row, NULL), 5);
            if (m < 0) {
                all = k; /* only its state is read from now on */
                continue;
            }
            for (int kind = 0; kind < 4; kind++) {
                void *a = kit_state(&all, m, (enum backend_kind)kind);
                void *b = kit_state(&k, 0, (enum backend_kind)kind);
                size_t n = kind == BACKEND_STATS ? k.net->stat_count : k.net->parameter_count;

                CHECK(!memcmp(a, b, n * kit_element(&k)));
                free(a);
                free(b);
            }
            for (int i = 0; i < 5; i++) {
                CHECK(rows[i * 4 + m].loss_sum == row[i].loss_sum);
                CHECK_INT(rows[i * 4 + m].right, row[i].right);
            }
            kit_free(&k);
        }
        CHECK(rows[0].loss_sum != rows[1].loss_sum);
        kit_free(&all);
    }
}

TEST(members_with_their_own_orders_see_their_own_images)
{
    struct kit k, alone;
    struct backend_step rows[3 * 2], row[3];
    uint32_t own[KIT_IMAGES];

    REQUIRE(kit_make(&k, "input 1 4 4\ndense classes\n", 8));
    REQUIRE(kit_make(&alone, "input 1 4 4\ndense classes\n", 8));
    k.plan.mode = SPEC_ENSEMBLE;
    k.plan.members = 2;
    alone.key[0] = net_model_key(3, 2, 1);
    REQUIRE(kit_open(&k));
    REQUIRE(kit_open(&alone));
    for (uint32_t i = 0; i < KIT_IMAGES; i++)
        own[i] = KIT_IMAGES - 1 - i;
    k.orders[1] = alone.orders[0] = own;
    CHECK_INT(kit_train(&k, 0, 3, rows, NULL), 3);
    CHECK_INT(kit_train(&alone, 0, 3, row, NULL), 3);
    for (int i = 0; i < 3; i++)
        CHECK(rows[i * 2 + 1].loss_sum == row[i].loss_sum);
    kit_free(&k);
    kit_free(&alone);
}

/* ---- optimizers, two steps by hand ---- */

/* The gradient of one parameter, from peek, before clipping and decay. */
static void gradient_of(struct kit *k, double *g)
{
    enum backend_peek answer;
    struct err e;

    for (int i = 0; i < k->net->params; i++) {
        const struct net_tensor *t = &k->net->param[i];

        if (ref_backend.peek(k->s, 0, t->layer,
                             t->kind == NET_BIAS ? BACKEND_GRAD_BIAS : BACKEND_GRAD_KERNEL,
                             g + t->offset, t->count, &answer, &e) != ERR_OK)
            TEST_FAILED("%s", e.text);
    }
}

struct by_hand {
    enum spec_optimizer optimizer;
    double decay, clip;
};

TEST(optimizers_make_two_steps_as_by_hand)
{
    static const struct by_hand cases[] = {
        {SPEC_SGD, 0, 0},        {SPEC_MOMENTUM, 0, 0},      {SPEC_NESTEROV, 0, 0},
        {SPEC_ADAM, 0, 0},       {SPEC_ADAMW, 0, 0},         {SPEC_SGD, 0.1, 0},
        {SPEC_MOMENTUM, 0.1, 0}, {SPEC_ADAM, 0.1, 0},        {SPEC_ADAMW, 0.1, 0},
        {SPEC_SGD, 0, 0.05},     {SPEC_NESTEROV, 0.1, 0.05}, {SPEC_ADAMW, 0.1, 0.05},
        {SPEC_SGD, 0, 1e6},
    };

    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        const struct by_hand *c = &cases[at];
        struct kit k;
        struct backend_step rows[4];
        size_t n;
        double *p, *g, *m, *v;

        REQUIRE(kit_make(&k, "input 1 4 4\ndense 6\ntanh\ndense classes\n", 8));
        k.plan.optimizer = c->optimizer;
        k.plan.weight_decay = c->decay;
        k.plan.grad_clip = c->clip;
        k.plan.devices = 2;
        REQUIRE(kit_open(&k));
        n = k.net->parameter_count;
        p = kit_state(&k, 0, BACKEND_PARAMS);
        g = calloc(n, sizeof *g);
        m = calloc(n, sizeof *m);
        v = calloc(n, sizeof *v);
        for (size_t t = 0; t < 2; t++) {
            double lr = 0.1 / (double)(1 + t), norm = 0, *got;

            CHECK_INT(kit_train(&k, t, 1, rows, NULL), 1);
            gradient_of(&k, g);
            for (size_t i = 0; i < n; i++)
                norm += g[i] * g[i];
            norm = sqrt(norm);
            CHECK(norm > 0.05 && norm < 1e6);
            got = kit_state(&k, 0, BACKEND_PARAMS);
            for (size_t i = 0; i < n; i++) {
                double slope = g[i], step = 0;

                if (c->clip && norm > c->clip)
                    slope *= c->clip / norm;
                if (c->optimizer != SPEC_ADAMW)
                    slope += c->decay * p[i];
                if (c->optimizer == SPEC_SGD) {
                    step = slope;
                } else if (c->optimizer == SPEC_MOMENTUM || c->optimizer == SPEC_NESTEROV) {
                    m[i] = slope + 0.9 * m[i];
                    step = c->optimizer == SPEC_NESTEROV ? slope + 0.9 * m[i] : m[i];
                } else {
                    m[i] = 0.9 * m[i] + 0.1 * slope;
                    v[i] = 0.999 * v[i] + 0.001 * slope * slope;
                    step = m[i] / (1 - pow(0.9, (double)t + 1)) /
                           (sqrt(v[i] / (1 - pow(0.999, (double)t + 1))) + 1e-8);
                    if (c->optimizer == SPEC_ADAMW)
                        step += c->decay * p[i];
                }
                p[i] -= lr * step;
                if (!(fabs(p[i] - got[i]) <= 1e-12))
                    TEST_FAILED("case %zu, step %zu, parameter %zu is %.15g, not %.15g", at, t, i,
                                got[i], p[i]);
                p[i] = got[i];
            }
            free(got);
        }
        free(p);
        free(g);
        free(m);
        free(v);
        kit_free(&k);
    }
}

/* ---- what is not a number, and what is refused ---- */

TEST(a_loss_that_is_not_finite_ends_the_span_at_its_step)
{
    static const char *const texts[] = {
        "input 1 6 6\nconv 3 3\nrelu\nmaxpool 2\ndense classes\n",
        "input 1 6 6\nconv 3 3\ntanh\navgpool 2\nbatchnorm\nglobalavgpool\ndense classes\n",
    };

    for (int precision = 0; precision < 2; precision++)
        for (size_t i = 0; i < 2; i++) {
            struct kit k;
            struct backend_step rows[6];
            float *images;

            REQUIRE(kit_make(&k, texts[i], 8));
            k.plan.precision = precision ? SPEC_FP64 : SPEC_FP32;
            REQUIRE(kit_open(&k));
            /* the last pixel of an image of the third batch */
            images = (float *)k.data.train.values;
            images[k.order[2 * 8 + 5] * 36 + 35] = NAN;
            CHECK_INT(kit_train(&k, 0, 6, rows, NULL), 3);
            CHECK(!rows[0].not_finite && !rows[1].not_finite && rows[2].not_finite);
            CHECK(isnan(rows[2].loss_sum));
            kit_free(&k);
        }
}

TEST(one_member_that_diverges_is_named)
{
    struct kit k;
    struct backend_step rows[2 * 3];
    double *p;
    struct err e;

    REQUIRE(kit_make(&k, "input 1 4 4\ndense classes\n", 8));
    k.plan.mode = SPEC_ENSEMBLE;
    k.plan.members = 3;
    REQUIRE(kit_open(&k));
    p = kit_state(&k, 1, BACKEND_PARAMS);
    p[0] = INFINITY;
    REQUIRE_OK(ref_backend.state(k.s, 1, BACKEND_PARAMS, true, p, &e));
    free(p);
    CHECK_INT(kit_train(&k, 0, 2, rows, NULL), 1);
    CHECK(!rows[0].not_finite && rows[1].not_finite && !rows[2].not_finite);
    kit_free(&k);
}

TEST(what_ref_cannot_do_is_refused_in_words)
{
    struct kit k;
    struct backend_estimate estimate;
    struct backend_plan p;
    struct backend_session *s;
    struct err e;

    REQUIRE(kit_make(&k, "input 1 4 4\ndense classes\n", 8));
    CHECK(ref_backend.can(&k.plan, &e) == ERR_OK);

    p = k.plan, p.precision = SPEC_BF16;
    CHECK(ref_backend.can(&p, &e) == ERR_INPUT);
    CHECK_HAS(e.text, "bf16");
    CHECK(ref_backend.open(&p, &s, &e) == ERR_INPUT && !s);
    CHECK(ref_backend.estimate(&p, &estimate, &e) == ERR_INPUT);
    p = k.plan, p.precision = SPEC_TF32;
    CHECK(ref_backend.can(&p, &e) == ERR_OK);
    p = k.plan, p.devices = 3;
    CHECK(ref_backend.can(&p, &e) == ERR_INPUT);
    CHECK_HAS(e.text, "batch of 8");
    p = k.plan, p.mode = SPEC_ENSEMBLE, p.devices = 4, p.members = 3;
    CHECK(ref_backend.can(&p, &e) == ERR_INPUT);
    CHECK_HAS(e.text, "3 members on 4 devices");
    p = k.plan, p.all_devices = 4;
    CHECK(ref_backend.can(&p, &e) == ERR_INPUT);
    p = k.plan, p.gpus = 2;
    CHECK(ref_backend.can(&p, &e) == ERR_INPUT);
    CHECK_HAS(e.text, "CPU");
    k.data.classes = 6;
    CHECK(ref_backend.can(&k.plan, &e) == ERR_INPUT);
    CHECK_HAS(e.text, "5 outputs for 6 classes");
    k.data.classes = 5;
    k.data.shape.w = 5;
    CHECK(ref_backend.can(&k.plan, &e) == ERR_INPUT);
    CHECK_HAS(e.text, "4x5x1");
    kit_free(&k);
}

TEST(peek_answers_only_what_it_has)
{
    struct kit k;
    struct backend_step row;
    enum backend_peek answer;
    double out[8 * 5];
    struct err e;

    REQUIRE(kit_make(&k, "input 1 4 4\nrelu\ndense classes\n", 8));
    REQUIRE(kit_open(&k));
    CHECK(ref_backend.peek(k.s, 0, 1, BACKEND_OUTPUT, out, 40, &answer, &e) == ERR_FAILED);
    CHECK_INT(kit_train(&k, 0, 1, &row, NULL), 1);
    CHECK(ref_backend.peek(k.s, 0, 1, BACKEND_OUTPUT, out, 40, &answer, &e) == ERR_OK);
    CHECK_INT(answer, BACKEND_PEEKED);
    CHECK(ref_backend.peek(k.s, 0, 1, BACKEND_OUTPUT, out, 39, &answer, &e) == ERR_FAILED);
    CHECK(ref_backend.peek(k.s, 0, 2, BACKEND_OUTPUT, out, 40, &answer, &e) == ERR_FAILED);
    CHECK(ref_backend.peek(k.s, 1, 1, BACKEND_OUTPUT, out, 40, &answer, &e) == ERR_FAILED);
    CHECK(ref_backend.peek(k.s, 0, 0, BACKEND_GRAD_KERNEL, out, 1, &answer, &e) == ERR_FAILED);
    kit_free(&k);
}

/* The estimate knows the two large parts: what a model keeps, and what its batch leaves behind. */
TEST(estimates_grow_with_batch_members_and_precision)
{
    struct kit k;
    struct backend_estimate one, batch, members, wide;
    struct backend_plan p;
    struct err e;

    REQUIRE(kit_make(&k, "input 1 8 8\nconv 8 3 same\nrelu\ndense classes\n", 8));
    k.plan.precision = SPEC_FP32;
    REQUIRE_OK(ref_backend.estimate(&k.plan, &one, &e));
    CHECK_INT(one.places, 1);
    p = k.plan, p.batch = 16;
    REQUIRE_OK(ref_backend.estimate(&p, &batch, &e));
    CHECK_INT(batch.bytes[0] - one.bytes[0], 8 * 4 * (64 + 2 * (512 + 512 + 5)));
    p = k.plan, p.mode = SPEC_ENSEMBLE, p.members = 3;
    REQUIRE_OK(ref_backend.estimate(&p, &members, &e));
    CHECK(members.bytes[0] > one.bytes[0] + 2 * 4 * k.net->parameter_count);
    p = k.plan, p.precision = SPEC_FP64;
    REQUIRE_OK(ref_backend.estimate(&p, &wide, &e));
    CHECK(wide.bytes[0] > one.bytes[0] + 4 * 8 * 2 * 1029);
    kit_free(&k);
}
