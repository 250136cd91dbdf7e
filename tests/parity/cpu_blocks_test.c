/* Convolutions of few images, whose pictures are cut into blocks that fill the lanes, against plain
 * loops in double: outputs, the bits that let gradients pass, all gradients; by each family of each
 * instruction set that this machine has, in cuts of any size. And sessions: which of them take blocks,
 * that they evaluate with the weights of the last step, as other kernels read them, and that spared
 * memory lies as kernels want it. */
#include "cpu/session_int.h"
#include "rng/rng.h"
#include "tests/parity/made_run.h"

#define LIMIT 3e-5 /* of the largest number: Winograd's, of 5 x 5 taps */

static uint64_t drawn;

static int among(int from, int to)
{
    return from + (int)(rng_bits_at(rng_key(815), drawn++) % (uint32_t)(to - from + 1));
}

static float *numbers(size_t n)
{
    float *p = mem_try(n + 1, sizeof *p);

    for (size_t i = 0; i < n; i++)
        p[i] = (float)(rng_bits_at(rng_key(815), drawn++) >> 8) / (float)(1 << 23) - 1;
    return p;
}

/* A layer of few images, the numbers that go in, and what comes out. */
struct trial {
    struct cpu_conv_layer c;
    struct cpu_blocks b;
    const char *isa;
    size_t lanes, images;
    size_t nin, nout, nconv, nw; /* of an image */
    float *in, *dy, *w, *bias, *out, *dx, *dw, *db;
    uint16_t *pass;
};

static size_t tap_of(const struct cpu_conv_layer *c, int ky, int kx, int i, int o)
{
    return ((size_t)(ky * c->k + kx) * (size_t)c->cin + (size_t)i) * (size_t)c->cout + (size_t)o;
}

/* The bit of an output of the convolution, as blocks hold it. */
static bool passes(const struct trial *t, size_t image, int o, int y, int x)
{
    const struct cpu_blocks *b = &t->b;
    const struct cpu_conv_layer *p = &b->part;
    int block = y / p->conv_h * b->across + x / p->conv_w;
    int lane = block * b->images + (int)image, group = lane / b->lanes;
    size_t at = ((size_t)(group * p->cout + o) * (size_t)p->conv_h + (size_t)(y % p->conv_h)) *
                    (size_t)p->conv_w +
                (size_t)(x % p->conv_w);

    return !t->pass || (t->pass[at] >> lane % b->lanes & 1);
}

static void compare(const struct trial *t, const char *what, const float *got, const double *want,
                    size_t n)
{
    const struct cpu_conv_layer *c = &t->c, *p = &t->b.part;
    double top = 1e-20, worst = 0;

    for (size_t i = 0; i < n; i++)
        top = fmax(top, fabs(want[i]));
    for (size_t i = 0; i < n; i++) {
        double off = fabs((double)got[i] - want[i]);
        worst = off <= worst ? worst : off;
        if (off != off)
            break;
    }
    if (!(worst <= LIMIT * top))
        TEST_FAILED("%s, %s: off by %.3g of the largest (%zu images of %zu, %d -> %d, k %d, stride "
                    "%d, pads %d %d, in %d x %d, conv %d x %d, pool %d%s%s, blocks %d x %d in %d)",
                    t->isa, what, worst / top, t->images, t->lanes, c->cin, c->cout, c->k,
                    c->stride, c->pad_top, c->pad_left, c->in_h, c->in_w, c->conv_h, c->conv_w,
                    c->pool, c->max ? " max" : "", c->relu ? ", relu" : "", p->conv_h, p->conv_w,
                    t->b.lanes);
}

/* Of [n][lanes] the images' numbers as [n], one after the other; the other lanes hold `others`, or
 * zeros where that is NULL. */
static void compare_images(const struct trial *t, const char *what, const float *got,
                           const double *want, size_t n, const float *others)
{
    float *own = mem_new(n * t->images, sizeof *own);
    size_t wrong = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t l = 0; l < t->lanes; l++) {
            if (l < t->images)
                own[l * n + i] = got[i * t->lanes + l];
            else
                wrong += got[i * t->lanes + l] != (others ? others[i * t->lanes + l] : 0);
        }
    }
    compare(t, what, own, want, n * t->images);
    if (wrong)
        TEST_FAILED("%s, %s: %zu numbers in lanes without an image changed", t->isa, what, wrong);
    free(own);
}

/* What the convolution is, and where it is clearly positive or not. */
static void check_forward(const struct trial *t, double *conv)
{
    const struct cpu_conv_layer *c = &t->c;
    double *out = mem_new(t->nout * t->images, sizeof *out);
    size_t wrong = 0;

    for (size_t image = 0; image < t->images; image++) {
        double *to = conv + image * t->nconv;
        for (int o = 0; o < c->cout; o++) {
            for (int y = 0; y < c->conv_h; y++) {
                for (int x = 0; x < c->conv_w; x++, to++) {
                    *to = (double)t->bias[o];
                    for (int tap = 0; tap < c->k * c->k; tap++) {
                        int iy = y * c->stride + tap / c->k - c->pad_top;
                        int ix = x * c->stride + tap % c->k - c->pad_left;
                        for (int i = 0;
                             i < c->cin && iy >= 0 && ix >= 0 && iy < c->in_h && ix < c->in_w; i++)
                            *to +=
                                (double)
                                    t->in[(size_t)((i * c->in_h + iy) * c->in_w + ix) * t->lanes +
                                          image] *
                                (double)t->w[tap_of(c, tap / c->k, tap % c->k, i, o)];
                    }
                    bool let = passes(t, image, o, y, x);
                    wrong += c->relu && *to < -1e-3 && let;
                    wrong += c->relu && *to > 1e-3 && !let && !(c->pool > 1 && c->max);
                    if (c->relu && *to < 0)
                        *to = 0;
                }
            }
        }
    }
    for (size_t i = 0; i < t->nout * t->images; i++) {
        int p = c->pool, w = c->conv_w / p, h = c->conv_h / p;
        size_t x = i % (size_t)w, y = i / (size_t)w % (size_t)h, plane = i / (size_t)(w * h);
        for (int q = 0; q < p * p; q++) {
            double v = conv[(plane * (size_t)c->conv_h + y * (size_t)p + (size_t)(q / p)) *
                                (size_t)c->conv_w +
                            x * (size_t)p + (size_t)(q % p)];
            if (c->max)
                out[i] = q && out[i] > v ? out[i] : v;
            else
                out[i] += v / (p * p);
        }
    }
    if (wrong)
        TEST_FAILED("%s: %zu bits are wrong", t->isa, wrong);
    compare_images(t, "out", t->out, out, t->nout, NULL);
    free(out);
}

static void check_backward(const struct trial *t, bool add, const float *dx0)
{
    const struct cpu_conv_layer *c = &t->c;
    double *dx = mem_new(t->nin * t->images, sizeof *dx), *dw = mem_new(t->nw, sizeof *dw);
    double *db = mem_new((size_t)c->cout, sizeof *db);
    int p = c->pool;

    for (size_t i = 0; i < t->nw; i++)
        dw[i] = 0.5;
    for (size_t image = 0; image < t->images; image++) {
        for (size_t i = 0; i < t->nin && add; i++)
            dx[image * t->nin + i] = (double)dx0[i * t->lanes + image];
        for (int at = 0; at < (int)t->nconv; at++) {
            int x = at % c->conv_w, y = at / c->conv_w % c->conv_h, o = at / c->conv_w / c->conv_h;
            size_t cell = (size_t)((o * (c->conv_h / p) + y / p) * (c->conv_w / p) + x / p);
            double d = (double)t->dy[cell * t->lanes + image] / (c->max ? 1 : p * p);
            if (!passes(t, image, o, y, x))
                continue;
            db[o] += d;
            for (int tap = 0; tap < c->k * c->k; tap++) {
                int iy = y * c->stride + tap / c->k - c->pad_top;
                int ix = x * c->stride + tap % c->k - c->pad_left;
                for (int i = 0; i < c->cin && iy >= 0 && ix >= 0 && iy < c->in_h && ix < c->in_w;
                     i++) {
                    size_t from = (size_t)((i * c->in_h + iy) * c->in_w + ix);
                    size_t weight = tap_of(c, tap / c->k, tap % c->k, i, o);
                    dw[weight] += d * (double)t->in[from * t->lanes + image];
                    dx[image * t->nin + from] += d * (double)t->w[weight];
                }
            }
        }
    }
    compare(t, "dw", t->dw, dw, t->nw);
    compare(t, "db", t->db, db, (size_t)c->cout);
    compare_images(t, add ? "dx added" : "dx", t->dx, dx, t->nin, add ? dx0 : NULL);
    free(dx);
    free(dw);
    free(db);
}

/* By so many threads, one after the other, each with its share of the blocks' groups and a scratch of
 * its own. */
static void forward_shared(struct trial *t, int threads, const float *packed, float *const *scratch)
{
    memset(t->out, 0, t->nout * t->lanes * sizeof *t->out);
    for (int r = threads; r-- > 0;) {
        int from, to;
        cpu_share(t->b.groups, threads, r, &from, &to);
        if (from < to)
            cpu_blocks_forward(&t->c, from, to, t->w, packed, t->bias, t->in, t->out, t->pass,
                               scratch[r]);
    }
}

static void backward_shared(struct trial *t, int threads, const float *packed, bool add,
                            float *const *scratch)
{
    int from, to, first, last;

    for (int r = threads; r-- > 0;) {
        cpu_share(t->b.groups, threads, r, &from, &to);
        if (from < to)
            cpu_blocks_backward(&t->c, from, to, packed, t->in, t->dy, t->pass, true, t->dw, t->db,
                                scratch[r]);
    }
    for (int part = 0; part < threads; part++) {
        cpu_share(t->c.cin, threads, part, &first, &last);
        for (int r = 0; r < threads; r++) {
            cpu_share(t->b.groups, threads, r, &from, &to);
            cpu_blocks_give(&t->c, from, to, scratch[r], first, last, add, t->dx);
        }
    }
}

static void run(struct trial *t, int threads, bool add)
{
    const struct cpu_conv_ops *ops = &cpu_conv_blocks;
    struct cpu_conv_layer *c = &t->c;
    size_t ns = ops->scratch(c, 1, true), np = ops->packed(c, true), bits = cpu_blocks_bits(&t->b);
    float *packed = numbers(np), *dx0 = numbers(t->nin * t->lanes);
    float *scratch[] = {numbers(ns), numbers(ns), numbers(ns)};

    t->out = numbers(t->nout * t->lanes);
    t->dx = numbers(t->nin * t->lanes);
    t->dw = mem_new(t->nw, sizeof *t->dw);
    t->db = mem_new((size_t)c->cout, sizeof *t->db);
    t->pass = cpu_conv_masks(c) ? mem_new(bits + 1, sizeof *t->pass) : NULL;
    if (t->pass)
        t->pass[bits] = 0xbeef;
    for (size_t i = 0; i < t->nw; i++)
        t->dw[i] = 0.5f;
    memcpy(t->dx, dx0, t->nin * t->lanes * sizeof *t->dx);
    for (int part = 0; part < 2; part++)
        ops->pack(c, true, t->w, packed, part, 2);
    double *conv = mem_new(t->nconv * t->images, sizeof *conv);
    if (threads > 1)
        forward_shared(t, threads, packed, scratch);
    else
        ops->forward(c, 1, t->w, packed, t->bias, t->in, t->out, t->pass, scratch[0]);
    check_forward(t, conv);
    if (threads > 1)
        backward_shared(t, threads, packed, add, scratch);
    else
        ops->backward(c, 1, packed, t->in, t->dy, t->pass, t->dx, add, t->dw, t->db, scratch[0]);
    check_backward(t, add, dx0);
    if (t->pass)
        CHECK_INT(t->pass[bits], 0xbeef);
    free(t->out);
    free(t->dx);
    free(t->dw);
    free(t->db);
    free(t->pass);
    free(conv);
    free(packed);
    for (int i = 0; i < 3; i++)
        free(scratch[i]);
    free(dx0);
}

/* One layer by one family, in the cut that is taken and in one of any size. */
static void try_family(struct trial *t, const struct cpu_conv_ops *ops, int lanes)
{
    struct cpu_conv_layer *c = &t->c;
    int h = among(1, c->conv_h / c->pool) * c->pool, w = among(1, c->conv_w / c->pool) * c->pool;
    int images = (int)t->images, apart = (int)t->lanes;

    c->blocks = &t->b;
    if (cpu_blocks_cut(&t->b, c, ops, lanes, images, apart, among(1, 3), true) < INFINITY)
        run(t, 1, false);
    t->b = cpu_blocks_of(c, ops, lanes, images, apart, h, w);
    if (ops->can(&t->b.part))
        run(t, among(1, 3), among(0, 1));
}

static void try_layer(const struct cpu_conv_layer *c, int images)
{
    static const char *const isas[] = {"avx512", "avx2", "base"};
    int floats = c->k * c->k * c->cin;

    for (size_t i = 0; i < MEM_COUNT(isas); i++) {
        setenv("CHORUS_ISA", isas[i], 1);
        const struct cpu_kernels *k = cpu_kernels_choose(SPEC_FP32);
        for (; k; k = k->half) {
            struct trial t = {.c = *c,
                              .isa = isas[i],
                              .images = (size_t)images,
                              .lanes = images < 8 && among(0, 1) ? 8 : 16,
                              .nin = (size_t)(c->cin * c->in_h * c->in_w),
                              .nconv = (size_t)(c->cout * c->conv_h * c->conv_w),
                              .nw = (size_t)(floats * c->cout)};
            t.nout = t.nconv / (size_t)(c->pool * c->pool);
            t.in = numbers(t.nin * t.lanes);
            t.dy = numbers(t.nout * t.lanes);
            t.w = numbers(t.nw);
            t.bias = numbers((size_t)c->cout);
            try_family(&t, k->direct, k->lanes);
            try_family(&t, k->wino, k->lanes);
            try_family(&t, k->taps, k->lanes);
            free(t.in);
            free(t.dy);
            free(t.w);
            free(t.bias);
        }
    }
    unsetenv("CHORUS_ISA");
}

static void random_layers(int layers, int seed)
{
    drawn = (uint64_t)seed << 32;
    for (int n = 0; n < layers;) {
        struct cpu_conv_layer c = {.cin = among(1, 9),
                                   .cout = among(1, 18),
                                   .k = among(1, 7),
                                   .stride = among(1, 3),
                                   .in_h = among(1, 20),
                                   .in_w = among(1, 20),
                                   .relu = among(0, 1),
                                   .pool = among(0, 1) ? 1 : among(2, 4),
                                   .max = among(0, 1)};
        if (among(0, 2)) /* Winograd's */
            c.stride = 1, c.k = among(0, 2) ? 3 : 5;
        c.pad_top = among(0, c.k - 1);
        c.pad_left = among(0, c.k - 1);
        int high = c.in_h + c.pad_top + among(0, c.k - 1) - c.k;
        int wide = c.in_w + c.pad_left + among(0, c.k - 1) - c.k;
        if (high < 0 || wide < 0)
            continue;
        c.conv_h = (high / c.stride + 1) / c.pool * c.pool;
        c.conv_w = (wide / c.stride + 1) / c.pool * c.pool;
        if (!c.conv_h || !c.conv_w)
            continue;
        try_layer(&c, among(1, 7));
        n++;
    }
}

TEST(random_layers_of_few_images)
{
    random_layers(40, 1);
}

TEST(more_random_layers_of_few_images)
{
    if (!getenv("CHORUS_TEST_ALL"))
        SKIP("CHORUS_TEST_ALL=1 runs it");
    random_layers(1500, 2);
}

/* ---- sessions ---- */

static const struct net_shape picture = {28, 28, 1};

/* Lanes of a layer's groups that have something to do, when training. */
static double busy(const struct backend_session *s, const struct cpu_layer *c)
{
    const struct cpu_blocks *b = c->conv.blocks;

    return b ? (double)(b->down * b->across * b->images) / (b->groups * b->lanes)
             : (double)s->plan.batch / (double)((size_t)s->batch_groups * s->lanes);
}

TEST(few_images_fill_the_lanes)
{
    static const char *const isas[] = {"avx512", "avx2", "base"}, *const nets[] = {"lenet", "cnn"};
    struct made_run r;

    for (size_t i = 0; i < MEM_COUNT(isas) * MEM_COUNT(nets) * 16; i++) {
        size_t batch = i % 16 + 1;
        const char *isa = isas[i / 16 % 3], *net = nets[i / 48];
        setenv("CHORUS_ISA", isa, 1);
        if (!cpu_kernels_choose(SPEC_FP32) || !made_plan(&r, net, picture, batch, 1))
            continue;
        r.plan.threads = 1;
        if (made_open(&r, &cpu_backend)) {
            for (int l = 0; l < r.s->layers; l++) {
                const struct cpu_layer *c = &r.s->layer[l];
                if (c->l.op == NET_CONV && (batch < 4 || batch == 16) && busy(r.s, c) < 0.6)
                    TEST_FAILED("%s of %s, batch %zu: %.2f of the lanes have work", isa, net, batch,
                                busy(r.s, c));
                if (batch >= r.s->lanes)
                    CHECK(!c->conv.blocks);
            }
        }
        made_close(&r, &cpu_backend);
    }
    unsetenv("CHORUS_ISA");
}

static float *evaluated(struct made_run *r)
{
    struct err e = {0};
    float *logits = mem_new(r->set.train.count * (size_t)r->net->classes, sizeof *logits);

    if (cpu_backend.evaluate(r->s, &r->set.train, 0, r->set.train.count, NULL, logits, &e))
        TEST_FAILED("%s", e.text);
    return logits;
}

/* After each step what a session evaluates to is what a new one of its weights does. */
TEST(evaluations_see_the_last_step)
{
    struct made_run r, other;

    REQUIRE(made_plan(&r, "lenet", picture, 2, 3) && made_plan(&other, "lenet", picture, 2, 3));
    REQUIRE(made_open(&r, &cpu_backend) && made_open(&other, &cpu_backend));
    size_t bytes = r.set.train.count * 10 * sizeof(float);
    for (int step = 0; step < 3; step++) {
        struct err e = {0};
        REQUIRE(made_train(&r, &cpu_backend, 1));
        float *param = made_params(&r, &cpu_backend, 0);
        REQUIRE_OK(cpu_backend.state(other.s, 0, BACKEND_PARAMS, true, param, &e));
        float *got = evaluated(&r), *want = evaluated(&other);
        CHECK(!memcmp(got, want, bytes));
        free(got);
        free(want);
        free(param);
    }
    made_close(&r, &cpu_backend);
    made_close(&other, &cpu_backend);
}

/* With memory spared outputs of 8 lanes and odd sizes lie in front of what kernels of 16 lanes read. */
TEST(spared_memory_lies_in_whole_lines)
{
    static const char layers[] = "input auto\n"
                                 "conv 5 3 pad 1\nbatchnorm\nrelu\n"
                                 "residual {\n conv 5 3 pad 1\n batchnorm\n}\nrelu\n"
                                 "conv 3 2\nbatchnorm\nrelu\n"
                                 "conv 7 3 same\nbatchnorm\nrelu\n"
                                 "globalavgpool\ndense 11\n";
    size_t from = cpu_spare_from;
    struct made_run r;

    cpu_spare_from = 0;
    for (size_t batch = 1; batch <= 16; batch++) {
        REQUIRE(made_plan(&r, layers, picture, batch, 1));
        r.plan.threads = 1 + (int)batch % 3;
        REQUIRE(made_open(&r, &cpu_backend));
        CHECK(r.s->spare);
        for (int l = 0; l < r.s->layers; l++) {
            const struct cpu_lease *both[] = {&r.s->lease[l], &r.s->lease_evaluate[l]};
            for (int i = 0; i < 2; i++) {
                const size_t at[] = {both[i]->act, both[i]->back, both[i]->grad, both[i]->scratch,
                                     both[i]->scratch_back};
                for (size_t k = 0; k < MEM_COUNT(at); k++)
                    if (at[k] != CPU_NOWHERE && at[k] % CPU_LANES)
                        TEST_FAILED("batch %zu, layer %d: a piece begins at float %zu", batch, l,
                                    at[k]);
            }
        }
        CHECK(r.s->part % CPU_LANES == 0 && r.s->part_evaluate % CPU_LANES == 0);
        REQUIRE(made_train(&r, &cpu_backend, 1));
        free(evaluated(&r));
        made_close(&r, &cpu_backend);
    }
    cpu_spare_from = from;
}
