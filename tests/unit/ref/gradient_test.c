/* Every layer's gradient against finite differences in double. */
#include "tests/unit/ref/kit.h"

/* The loss at the parameters p: the mean over devices of each device's mean or summed loss. The
 * step has a learning rate of 0 and always the same number, so dropout's masks stay. */
static double loss_at(struct kit *k, double *p)
{
    struct backend_step rows[KIT_MEMBERS];
    struct err e;
    double sum = 0;

    if (ref_backend.state(k->s, 0, BACKEND_PARAMS, true, p, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    k->lr = 0;
    CHECK_INT(kit_train(k, 3, 1, rows, NULL), 1);
    for (int i = 0; i < k->plan.devices; i++)
        sum += rows[i].loss_sum;
    return sum / (k->plan.sum_loss ? (double)k->plan.devices : (double)k->plan.batch);
}

/* Checks up to 24 elements of every tensor. */
static void check_parameters(struct kit *k, double *p)
{
    const double h = 1e-5;

    for (int i = 0; i < k->net->params; i++) {
        const struct net_tensor *t = &k->net->param[i];
        size_t stride = t->count / 24 + 1;
        double *g = malloc(t->count * sizeof *g);
        enum backend_what what = t->kind == NET_BIAS ? BACKEND_GRAD_BIAS : BACKEND_GRAD_KERNEL;
        enum backend_peek answer;
        struct err e;

        loss_at(k, p);
        if (ref_backend.peek(k->s, 0, t->layer, what, g, t->count, &answer, &e) != ERR_OK)
            TEST_FAILED("%s", e.text);
        CHECK_INT(answer, BACKEND_PEEKED);
        for (size_t at = 0; at < t->count; at += stride) {
            double *x = &p[t->offset + at], keep = *x, up, down, slope;

            *x = keep + h;
            up = loss_at(k, p);
            *x = keep - h;
            down = loss_at(k, p);
            *x = keep;
            slope = (up - down) / (2 * h);
            if (!(fabs(slope - g[at]) <= 2e-8 + 2e-6 * fabs(slope)))
                TEST_FAILED("%s[%zu]: gradient %.12g, finite difference %.12g", t->name, at, g[at],
                            slope);
        }
        free(g);
    }
}

/* Where a layer has a bias, its gradient is the sum of the gradient to the output. */
static void check_outputs(struct kit *k, double *p)
{
    loss_at(k, p);
    for (int i = 0; i < k->net->layers; i++) {
        const struct net_layer *l = &k->net->layer[i];
        size_t channels = (size_t)l->out.c;
        size_t n = k->plan.batch * (size_t)l->out.h * (size_t)l->out.w * channels;
        double *g = calloc(n, sizeof *g), *b = calloc(channels, sizeof *b);
        enum backend_peek answer;
        struct err e;

        if (l->bias != NET_NONE) {
            CHECK(ref_backend.peek(k->s, 0, i, BACKEND_GRAD_OUTPUT, g, n, &answer, &e) == ERR_OK);
            CHECK(ref_backend.peek(k->s, 0, i, BACKEND_GRAD_BIAS, b, channels, &answer, &e) ==
                  ERR_OK);
            for (size_t at = 0; at < n; at++)
                b[at % channels] -= g[at];
            for (size_t c = 0; c < channels; c++)
                CHECK_NEAR(b[c], 0, 1e-12);
        }
        free(g);
        free(b);
    }
}

struct gradient_case {
    const char *name, *text;
    int devices;
    bool sum, sync;
};

static const struct gradient_case cases[] = {
    {"dense", "input 2 3 4\ndense 7\ntanh\ndense classes\n", 1, false, false},
    {"dense, summed loss", "input 1 3 4\ndense 7\nrelu\ndense classes\n", 1, true, false},
    {"dense, 4 devices", "input 1 3 4\ndense 7\nrelu\ndense classes\n", 4, false, false},
    {"dense, 2 devices, summed", "input 1 3 4\ndense 7\nrelu\ndense classes\n", 2, true, false},
    {"conv", "input 2 7 6\nconv 3 3\nconv 4 2\ndense classes\n", 1, false, false},
    {"conv 1x1 without bias", "input 3 5 5\nconv 4 1 nobias\ntanh\nconv 5 1\ndense classes\n", 1,
     false, false},
    {"conv same", "input 1 6 5\nconv 3 3 same\nrelu\nconv 2 5 same\ndense classes\n", 2, false,
     false},
    {"conv same, even kernel", "input 2 5 6\nconv 3 2 same\nconv 2 4 same\ndense classes\n", 1,
     false, false},
    {"conv same, stride",
     "input 1 9 8\nconv 3 3 same stride 2\nconv 4 3 same stride 3\n"
     "dense classes\n",
     1, false, false},
    {"conv pad and stride",
     "input 2 8 9\nconv 3 3 pad 2 stride 2\nconv 4 2 pad 1 stride 3\n"
     "dense classes\n",
     1, false, false},
    {"conv with more padding than kernel",
     "input 1 4 4\nconv 2 2 pad 3\ntanh\nconv 2 3 pad 2\n"
     "dense classes\n",
     1, false, false},
    {"tanh", "input 1 5 5\nconv 3 2\ntanh\nconv 3 2\ntanh\ndense classes\n", 1, false, false},
    {"avgpool", "input 1 9 8\nconv 3 2\navgpool 2\nconv 3 2\navgpool 2 stride 1\ndense classes\n",
     1, false, false},
    {"avgpool, gaps", "input 1 9 9\nconv 3 2\navgpool 2 stride 3\ndense classes\n", 2, false,
     false},
    {"maxpool", "input 1 9 8\nconv 3 2\nmaxpool 2\nconv 3 2\nmaxpool 2 stride 1\ndense classes\n",
     1, false, false},
    {"maxpool, overlapping", "input 1 9 9\nconv 3 2\nmaxpool 3 stride 2\ndense classes\n", 2, false,
     false},
    {"globalavgpool", "input 1 6 7\nconv 4 3\nrelu\nglobalavgpool\ndense classes\n", 1, false,
     false},
    {"batchnorm", "input 1 5 6\nconv 3 2\nbatchnorm\ntanh\nconv 3 2\nbatchnorm\ndense classes\n", 1,
     false, false},
    {"batchnorm of the images", "input 2 4 4\nbatchnorm\nconv 3 2\ndense classes\n", 2, false,
     false},
    {"batchnorm after dense", "input 1 3 3\ndense 6\nbatchnorm\nrelu\ndense classes\n", 1, false,
     false},
    {"batchnorm, 4 devices",
     "input 1 5 6\nconv 3 2\nbatchnorm\ntanh\nconv 3 2\nbatchnorm\n"
     "dense classes\n",
     4, false, false},
    {"batchnorm, 4 devices, synchronised",
     "input 1 5 6\nconv 3 2\nbatchnorm\ntanh\nconv 3 2\n"
     "batchnorm\ndense classes\n",
     4, false, true},
    {"batchnorm, synchronised, summed", "input 1 5 5\nconv 3 2\nbatchnorm\ntanh\ndense classes\n",
     2, true, true},
    {"dropout",
     "input 1 5 5\nconv 4 2\ndropout 0.4\nrelu\ndense 9\ntanh\ndropout 0.25\n"
     "dense classes\n",
     2, false, false},
    {"dropout of the images", "input 1 5 5\ndropout 0.3\nconv 4 2\ndense classes\n", 1, false,
     false},
    {"residual",
     "input 1 6 6\nconv 3 3 same\nresidual {\nconv 3 3 same\nrelu\nconv 3 3 same\n}\n"
     "relu\ndense classes\n",
     1, false, false},
    {"residual with shortcut",
     "input 2 6 6\nresidual {\nconv 4 3 stride 2 pad 1\nbatchnorm\ntanh\n"
     "conv 4 3 pad 1\nbatchnorm\n} shortcut {\nconv 4 1 stride 2\n}\nrelu\n"
     "residual {\nconv 4 3 pad 1\n}\nglobalavgpool\ndense classes\n",
     2, false, false},
    {"residual of the images", "input 2 4 4\nresidual {\nconv 2 3 same\n}\ntanh\ndense classes\n",
     1, false, false},
    {"no parameters in front", "input 1 6 6\nmaxpool 2\ntanh\ndense classes\n", 1, false, false},
};

TEST(gradients_are_finite_differences)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gradient_case *c = &cases[i];
        struct kit k;
        int before = test_failures;
        double *p;

        if (!kit_make(&k, c->text, 8))
            continue;
        k.plan.devices = c->devices;
        k.plan.sum_loss = c->sum;
        k.plan.sync_bn = c->sync;
        if (kit_open(&k)) {
            p = kit_state(&k, 0, BACKEND_PARAMS);
            check_parameters(&k, p);
            check_outputs(&k, p);
            free(p);
        }
        kit_free(&k);
        if (test_failures != before)
            printf("  in the case: %s\n", c->name);
    }
}

/* Two equal maxima in a window: the first one gets the gradient. */
TEST(maxpool_gives_the_gradient_to_the_first_maximum)
{
    struct kit k;
    struct backend_step row;
    enum backend_peek answer;
    struct err e;
    double y[4 * 16], g[4 * 16], pooled[4 * 4];

    REQUIRE(kit_make(&k, "input 1 4 4\nrelu\nmaxpool 2\ndense classes\n", 4));
    memset((void *)k.data.train.values, 0, KIT_IMAGES * 16 * sizeof(float));
    REQUIRE(kit_open(&k));
    CHECK_INT(kit_train(&k, 0, 1, &row, NULL), 1);
    REQUIRE_OK(ref_backend.peek(k.s, 0, 0, BACKEND_OUTPUT, y, 64, &answer, &e));
    REQUIRE_OK(ref_backend.peek(k.s, 0, 0, BACKEND_GRAD_OUTPUT, g, 64, &answer, &e));
    REQUIRE_OK(ref_backend.peek(k.s, 0, 1, BACKEND_GRAD_OUTPUT, pooled, 16, &answer, &e));
    for (int j = 0; j < 4; j++)
        for (int r = 0; r < 4; r++)
            for (int q = 0; q < 4; q++) {
                double want = r % 2 || q % 2 ? 0 : pooled[j * 4 + r / 2 * 2 + q / 2];

                CHECK(g[j * 16 + r * 4 + q] == want);
                CHECK(y[j * 16 + r * 4 + q] == 0);
            }
    CHECK(fabs(pooled[0]) > 1e-6);
    kit_free(&k);
}

/* XLA's SAME: so many zeros in front of n pixels, the odd one behind. */
static int same_front(int n, int out, int k, int stride)
{
    int total = (out - 1) * stride + k - n;

    return total > 0 ? total / 2 : 0;
}

/* Rows and columns are padded differently here: 9 rows get 1 + 1 zeros, 8 columns 0 + 1. */
TEST(convolution_is_its_formula_where_rows_and_columns_differ)
{
    enum { H = 9, W = 8, C = 2, R = 5, Q = 4, O = 3, K = 3, S = 2 };
    struct kit k;
    struct backend_step row;
    enum backend_peek answer;
    struct err e;
    double y[4 * R * Q * O], *p;
    int top = same_front(H, R, K, S), left = same_front(W, Q, K, S);

    REQUIRE(kit_make(&k, "input 2 9 8\nconv 3 3 same stride 2\ndense classes\n", 4));
    k.lr = 0;
    REQUIRE(kit_open(&k));
    p = kit_state(&k, 0, BACKEND_PARAMS);
    CHECK_INT(kit_train(&k, 0, 1, &row, NULL), 1);
    REQUIRE_OK(ref_backend.peek(k.s, 0, 0, BACKEND_OUTPUT, y, 4 * R * Q * O, &answer, &e));
    CHECK(top == 1 && left == 0);
    for (int at = 0; at < 4 * R * Q * O; at++) {
        int o = at % O, q = at / O % Q, r = at / O / Q % R, j = at / O / Q / R;
        const float *x = k.data.train.values + k.order[j] * (H * W * C);
        double sum = p[k.net->param[k.net->layer[0].bias].offset + (size_t)o];

        for (int i = 0; i < K * K * C; i++) {
            int c = i % C, xq = q * S + i / C % K - left, xr = r * S + i / C / K - top;

            if (xq >= 0 && xq < W && xr >= 0 && xr < H)
                sum += (double)x[(xr * W + xq) * C + c] *
                       p[k.net->param[k.net->layer[0].kernel].offset + (size_t)(i * O + o)];
        }
        CHECK_NEAR(y[at], sum, 1e-13);
    }
    free(p);
    kit_free(&k);
}
