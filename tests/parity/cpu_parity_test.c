/* The fast CPU backend against the naive one: layers, networks, modes, optimizers, each instruction
 * set that this machine has. */
#include "cpu/cpu_int.h"
#include "base/mem.h"
#include "tests/test.h"

#include <stdio.h>

static const char *const isas[] = {"avx512", "avx2", "base"};

struct bench { /* a net, data and a plan for both backends */
    struct net *net;
    struct data_set set;
    uint8_t *bytes;
    float lut[4 * 256];
    uint16_t labels[256];
    struct backend_plan plan;
    struct rng_key keys[16];
    int member_device[16];
    uint32_t order[256];
    const uint32_t *orders[16];
    struct rng_key order_key;
};

static bool bench_open(struct bench *b, const char *text, struct net_shape shape, size_t images,
                       size_t batch)
{
    struct err e = {0};
    struct net_wants wants = {.input = shape, .classes = 10};
    size_t pixels = (size_t)shape.h * (size_t)shape.w * (size_t)shape.c;

    *b = (struct bench){0};
    if (net_parse(&b->net, text, strlen(text), "test.net", &wants, &e)) {
        TEST_FAILED("%s", e.text);
        return false;
    }
    b->bytes = mem_new(images * pixels, 1);
    for (size_t i = 0; i < images * pixels; i++)
        b->bytes[i] = (uint8_t)(rng_bits_at(rng_key(7), i) >> 24);
    for (int c = 0; c < shape.c; c++) {
        for (int v = 0; v < 256; v++)
            b->lut[c * 256 + v] = (float)v / 255.0f;
    }
    for (size_t i = 0; i < images; i++) {
        b->labels[i] = (uint16_t)(rng_bits_at(rng_key(8), i) % 10);
        b->order[i] = (uint32_t)(images - 1 - i);
    }
    b->set.shape = shape;
    b->set.classes = 10;
    b->set.lut = b->lut;
    b->set.train = (struct data_part){.count = images, .bytes = b->bytes, .labels = b->labels};
    b->set.test = b->set.train;
    b->order_key = rng_key(99);
    for (int m = 0; m < 16; m++) {
        b->orders[m] = b->order;
        b->keys[m] = net_model_key(3, 16, m);
    }
    b->plan = (struct backend_plan){.net = b->net,
                                    .data = &b->set,
                                    .optimizer = SPEC_SGD,
                                    .momentum = 0.9,
                                    .beta1 = 0.9,
                                    .beta2 = 0.999,
                                    .epsilon = 1e-8,
                                    .batch = batch,
                                    .devices = 1,
                                    .all_devices = 1,
                                    .members = 1,
                                    .member_device = b->member_device,
                                    .model_key = b->keys,
                                    .threads = 2};
    return true;
}

static void bench_close(struct bench *b)
{
    net_free(b->net);
    free(b->bytes);
}

/* Opens a session with the initial weights of its members. */
static struct backend_session *session(const struct backend *be, struct bench *b)
{
    struct err e = {0};
    struct backend_session *s = NULL;
    size_t n = b->net->parameter_count, stats = b->net->stat_count;
    bool wide = b->plan.precision == SPEC_FP64;

    if (be->open(&b->plan, &s, &e)) {
        TEST_FAILED("%s: %s", be->name, e.text);
        return NULL;
    }
    float *param = mem_new(n, sizeof *param), *stat = mem_new(stats + 1, sizeof *stat);
    double *param64 = mem_new(n, 8), *stat64 = mem_new(stats + 1, 8);
    for (int m = 0; m < b->plan.members; m++) {
        net_init(b->net, SPEC_INIT_MODEL, 0, b->keys[m], param, stat);
        for (size_t i = 0; i < n; i++)
            param64[i] = (double)param[i];
        for (size_t i = 0; i < stats; i++)
            stat64[i] = (double)stat[i];
        if (be->state(s, m, BACKEND_PARAMS, true, wide ? (void *)param64 : param, &e) ||
            (stats && be->state(s, m, BACKEND_STATS, true, wide ? (void *)stat64 : stat, &e)))
            TEST_FAILED("%s: %s", be->name, e.text);
    }
    free(param);
    free(stat);
    free(param64);
    free(stat64);
    return s;
}

static size_t train(const struct backend *be, struct backend_session *s, struct bench *b,
                    size_t first, size_t steps, struct backend_step *rows)
{
    struct err e = {0};
    double lr[64];
    atomic_bool stop = false;
    size_t done = 0;
    struct backend_span span = {.first_step = first,
                                .count = steps,
                                .first_batch = first,
                                .order = b->orders,
                                .lr = lr,
                                .order_key = b->order_key,
                                .stop = &stop};

    for (size_t i = 0; i < steps; i++)
        lr[i] = b->plan.optimizer >= SPEC_ADAM ? 0.002 : 0.05;
    if (be->train(s, &span, rows, &done, &e))
        TEST_FAILED("%s: %s", be->name, e.text);
    return done;
}

/* Largest difference, in units of the largest value, which is at least `least`. */
static double distance(const double *a, const double *b, size_t n, double least)
{
    double top = least, worst = 0;

    for (size_t i = 0; i < n; i++) {
        top = fmax(top, fabs(b[i]));
        worst = fmax(worst, fabs(a[i] - b[i]));
    }
    return worst / top;
}

#define LIMIT 2e-5 /* of a tensor's largest value: float rounding over some thousand products */

static void compare_layers(struct bench *b, struct backend_session *fast,
                           struct backend_session *slow, const char *what)
{
    static const char *const names[] = {"output", "gradient", "kernel's gradient",
                                        "bias's gradient"};
    int seen = 0;

    for (int i = 0; i < b->net->layers; i++) {
        const struct net_layer *l = &b->net->layer[i];
        double kernel_top = 1e-30; /* a bias in front of batch norm has no gradient but rounding */
        for (int k = BACKEND_OUTPUT; k <= BACKEND_GRAD_BIAS; k++) {
            int tensor = k == BACKEND_GRAD_KERNEL ? l->kernel : l->bias;
            struct err e = {0};
            enum backend_peek peeked, also;
            if (k >= BACKEND_GRAD_KERNEL && tensor < 0)
                continue;
            size_t n = k < BACKEND_GRAD_KERNEL
                           ? b->plan.batch * (size_t)l->out.h * (size_t)l->out.w * (size_t)l->out.c
                           : b->net->param[tensor].count;
            double *got = mem_new(n, sizeof *got), *want = mem_new(n, sizeof *want);
            if (cpu_backend.peek(fast, 0, i, (enum backend_what)k, got, n, &peeked, &e) ||
                ref_backend.peek(slow, 0, i, (enum backend_what)k, want, n, &also, &e)) {
                TEST_FAILED("%s: %s", what, e.text);
            } else if (peeked == BACKEND_PEEKED) {
                double d = distance(got, want, n, k == BACKEND_GRAD_BIAS ? kernel_top : 1e-30);
                seen++;
                for (size_t j = 0; k == BACKEND_GRAD_KERNEL && j < n; j++)
                    kernel_top = fmax(kernel_top, fabs(want[j]));
                if (!(d <= LIMIT))
                    TEST_FAILED("%s: %s of %s is off by %g of its largest", what, names[k], l->name,
                                d);
            }
            free(got);
            free(want);
        }
    }
    CHECK(seen > 2);
}

static void compare_rows(const struct backend_step *got, const struct backend_step *want, size_t n,
                         double limit, const char *what)
{
    for (size_t i = 0; i < n; i++) {
        double off = fabs(got[i].loss_sum - want[i].loss_sum) / fabs(want[i].loss_sum);
        if (!(off <= limit))
            TEST_FAILED("%s: loss %zu is %.9g, not %.9g", what, i, got[i].loss_sum,
                        want[i].loss_sum);
        CHECK(abs((int)got[i].right - (int)want[i].right) <= 1);
    }
}

static void compare_logits(struct bench *b, struct backend_session *fast,
                           struct backend_session *slow, double limit, const char *what)
{
    struct err e = {0};
    size_t count = b->plan.batch < 37 ? b->plan.batch + 1 : 37,
           n = count * 10 * (size_t)b->plan.members;
    float *a = mem_new(n, sizeof *a), *c = mem_new(n, sizeof *c);
    double *got = mem_new(n, sizeof *got), *want = mem_new(n, sizeof *want);

    if (cpu_backend.evaluate(fast, &b->set.test, 3, count, NULL, a, &e) ||
        ref_backend.evaluate(slow, &b->set.test, 3, count, NULL, c, &e))
        TEST_FAILED("%s: %s", what, e.text);
    for (size_t i = 0; i < n; i++) {
        got[i] = (double)a[i];
        want[i] = (double)c[i];
    }
    double d = distance(got, want, n, 1e-30);
    if (!(d <= limit))
        TEST_FAILED("%s: logits are off by %g of the largest", what, d);
    free(a);
    free(c);
    free(got);
    free(want);
}

/* One step compared layer by layer, then more steps by their losses and logits. Of a deep net only
 * these: some relu always lies within rounding of 0, and its gradient is there or not. */
static void compare(struct bench *b, const char *isa, const char *what, size_t steps, bool deep)
{
    struct backend_step got[64] = {0}, want[64] = {0};
    size_t units = (size_t)backend_units(&b->plan);
    char name[96];

    snprintf(name, sizeof name, "%s on %s", what, isa);
    struct backend_session *fast = session(&cpu_backend, b);
    b->plan.precision = SPEC_FP64;
    struct backend_session *slow = session(&ref_backend, b);
    b->plan.precision = SPEC_FP32;
    if (fast && slow) {
        CHECK_INT(train(&cpu_backend, fast, b, 0, 1, got), 1);
        train(&ref_backend, slow, b, 0, 1, want);
        if (b->plan.members == 1 && !deep)
            compare_layers(b, fast, slow, name);
        if (steps > 1) {
            train(&cpu_backend, fast, b, 1, steps - 1, got + units);
            train(&ref_backend, slow, b, 1, steps - 1, want + units);
        }
        compare_rows(got, want, steps * units, 1e-4, name);
        compare_logits(b, fast, slow, deep ? 1e-3 : 10 * LIMIT, name);
    }
    cpu_backend.close(fast);
    ref_backend.close(slow);
}

static const char *force(const char *isa)
{
    setenv("CHORUS_ISA", isa, 1);
    return cpu_backend.isa();
}

static const struct {
    const char *name, *text;
    struct net_shape shape;
} nets[] = {
    {"dense", "input auto\ndense 37\nrelu\ndense 10\n", {7, 5, 3}},
    {"tanh", "input auto\ndense 130\ntanh\ndense 66\ntanh\ndense 10\n", {8, 8, 1}},
    {"conv", "input auto\nconv 7 3\nrelu\navgpool 2\nconv 13 2\nrelu\ndense 10\n", {11, 9, 1}},
    {"same",
     "input auto\nconv 9 3 same\nrelu\nmaxpool 2\nconv 12 5 same\nrelu\navgpool 3\n"
     "dense 10\n",
     {13, 12, 3}},
    {"strides",
     "input auto\nconv 6 4 same stride 2\nrelu\nconv 5 3 stride 3 pad 2\ntanh\n"
     "conv 11 1 stride 2 nobias\ndense 10\n",
     {15, 14, 2}},
    {"overlap",
     "input auto\nconv 4 3\nmaxpool 3 stride 2\nrelu\navgpool 3 stride 1\ndense 10\n",
     {14, 14, 1}},
    {"norm",
     "input auto\nconv 6 3 pad 1 nobias\nbatchnorm\nrelu\nconv 8 3\nbatchnorm\nrelu\n"
     "globalavgpool\ndense 10\n",
     {9, 9, 2}},
    {"residual",
     "input auto\nconv 6 3 pad 1\nrelu\nresidual {\n conv 12 3 stride 2 pad 1\n "
     "batchnorm\n relu\n conv 12 3 pad 1\n batchnorm\n} shortcut {\n conv 12 1 stride "
     "2\n}\nrelu\nresidual {\n conv 12 3 pad 1\n}\nrelu\nglobalavgpool\ndense 10\n",
     {10, 10, 1}},
    {"dropout",
     "input auto\nconv 5 3\nrelu\ndropout 0.3\ndense 33\nrelu\ndropout 0.5\ndense 10\n",
     {9, 8, 1}},
    {"dropout in front of what is cut",
     "input auto\nconv 4 3\nrelu\nmaxpool 2\ndropout 0.25\nconv 5 3\nrelu\nmaxpool 2\n"
     "dropout 0.4\nrelu\navgpool 2\ndense 10\n",
     {28, 28, 1}},
    {"convolution between shared layers",
     "input auto\ndense 512\nconv 512 1\nrelu\ndense 560\nrelu\ndense 10\n",
     {26, 25, 1}},
};

TEST(layers_on_every_instruction_set)
{
    for (size_t i = 0; i < MEM_COUNT(isas); i++) {
        if (strcmp(force(isas[i]), isas[i])) {
            printf("  %s is not here\n", isas[i]);
            continue;
        }
        for (size_t k = 0; k < MEM_COUNT(nets); k++) {
            struct bench b;
            if (!bench_open(&b, nets[k].text, nets[k].shape, 120, 40))
                continue;
            compare(&b, isas[i], nets[k].name, 3, false);
            b.plan.batch = 3; /* fewer images than lanes */
            compare(&b, isas[i], nets[k].name, 2, false);
            bench_close(&b);
        }
    }
    unsetenv("CHORUS_ISA");
}

/* The networks of models/, as large as they are, on few images: ref takes its time. */
TEST(networks)
{
    static const struct {
        const char *name;
        size_t batch, steps;
    } whole[] = {{"lenet", 20, 3}, {"cnn", 8, 2}, {"mlp", 20, 3}, {"resnet18", 3, 1}};

    unsetenv("CHORUS_ISA");
    for (size_t k = 0; k < MEM_COUNT(whole); k++) {
        struct bench b;
        const char *text = net_builtin(whole[k].name);
        REQUIRE(text && bench_open(&b, text, (struct net_shape){28, 28, 1}, 60, whole[k].batch));
        compare(&b, cpu_backend.isa(), whole[k].name, whole[k].steps,
                !strcmp(whole[k].name, "resnet18"));
        bench_close(&b);
    }
}

TEST(optimizers)
{
    unsetenv("CHORUS_ISA");
    for (int o = SPEC_SGD; o <= SPEC_ADAMW; o++) {
        struct bench b;
        char name[32];
        REQUIRE(bench_open(&b, nets[2].text, nets[2].shape, 200, 24));
        snprintf(name, sizeof name, "optimizer %d", o);
        b.plan.optimizer = (enum spec_optimizer)o;
        b.plan.weight_decay = 0.01;
        compare(&b, "any", name, 8, false);
        b.plan.grad_clip = 0.05;
        b.plan.sum_loss = true;
        compare(&b, "any", name, 8, false);
        bench_close(&b);
    }
}

TEST(devices_members_and_augmentation)
{
    static const int devices[] = {1, 2, 4, 8};

    for (size_t k = 0; k < MEM_COUNT(nets); k++) {
        for (size_t d = 0; d < MEM_COUNT(devices); d++) {
            struct bench b;
            REQUIRE(bench_open(&b, nets[k].text, nets[k].shape, 200, 40));
            b.plan.devices = b.plan.all_devices = devices[d];
            compare(&b, "any", nets[k].name, 3, false);
            b.plan.sync_bn = true;
            b.plan.sum_loss = true;
            b.plan.augment = SPEC_FLIP | SPEC_CROP | SPEC_ERASE;
            b.plan.crop_pad = 2;
            compare(&b, "any", nets[k].name, 2, false);
            bench_close(&b);
        }
    }
    for (int members = 1; members <= 5; members++) {
        struct bench b;
        REQUIRE(bench_open(&b, nets[6].text, nets[6].shape, 200, 40));
        b.plan.mode = SPEC_ENSEMBLE;
        b.plan.members = members;
        b.plan.devices = b.plan.all_devices = members > 1 ? 2 : 1;
        b.plan.optimizer = SPEC_MOMENTUM;
        compare(&b, "any", "ensemble", 4, false);
        bench_close(&b);
    }
}

/* The bytes of a session's state after 8 steps, by a small hash. */
static uint64_t fingerprint(struct bench *b, size_t cut, struct backend_step *rows)
{
    struct err e = {0};
    struct backend_session *s = session(&cpu_backend, b);
    size_t n = b->net->parameter_count, units = (size_t)backend_units(&b->plan);
    float *param = mem_new(n, sizeof *param);
    uint64_t hash = 1469598103934665603u;

    for (size_t at = 0; s && at < 8; at += cut) {
        size_t count = 8 - at < cut ? 8 - at : cut;
        CHECK_INT(train(&cpu_backend, s, b, at, count, rows + at * units), count);
    }
    for (int m = 0; s && m < b->plan.members; m++) {
        CHECK(cpu_backend.state(s, m, BACKEND_PARAMS, false, param, &e) == ERR_OK);
        for (size_t i = 0; i < n * sizeof *param; i++)
            hash = (hash ^ ((unsigned char *)param)[i]) * 1099511628211u;
    }
    cpu_backend.close(s);
    free(param);
    return hash;
}

static void cut_spans(enum spec_precision precision)
{
    for (int members = 1; members <= 4; members++) {
        struct bench b;
        struct backend_step first[64], again[64];
        REQUIRE(bench_open(&b, nets[7].text, nets[7].shape, 200, 20));
        b.plan.precision = precision;
        b.plan.mode = members > 1 ? SPEC_ENSEMBLE : SPEC_DATA_PARALLEL;
        b.plan.members = members;
        b.plan.optimizer = SPEC_ADAM;
        uint64_t whole = fingerprint(&b, 8, first);
        for (size_t cut = 1; cut < 8; cut += 2) {
            CHECK(fingerprint(&b, cut, again) == whole);
            for (int i = 0; i < 8 * backend_units(&b.plan); i++)
                CHECK(first[i].loss_sum == again[i].loss_sum && first[i].right == again[i].right);
        }
        bench_close(&b);
    }
}

TEST(bytes_repeat_however_spans_are_cut)
{
    cut_spans(SPEC_FP32);
}

TEST(bytes_repeat_on_emulated_tiles)
{
    if (strcmp(force("amx-emulated"), "amx-emulated")) {
        unsetenv("CHORUS_ISA");
        SKIP("this machine has no AVX-512 with bf16");
    }
    cut_spans(SPEC_BF16);
    unsetenv("CHORUS_ISA");
}

TEST(state_goes_in_and_out_unchanged)
{
    struct err e = {0};
    struct bench b;

    REQUIRE(bench_open(&b, nets[3].text, nets[3].shape, 64, 16));
    b.plan.optimizer = SPEC_ADAM;
    struct backend_session *s = session(&cpu_backend, &b);
    size_t n = b.net->parameter_count;
    float *in = mem_new(n, sizeof *in), *out = mem_new(n, sizeof *out);
    for (size_t i = 0; i < n; i++)
        in[i] = (float)i;
    for (int kind = BACKEND_PARAMS; s && kind <= BACKEND_SLOT2; kind++) {
        if (kind == BACKEND_STATS)
            continue;
        CHECK(cpu_backend.state(s, 0, (enum backend_kind)kind, true, in, &e) == ERR_OK);
        CHECK(cpu_backend.state(s, 0, (enum backend_kind)kind, false, out, &e) == ERR_OK);
        CHECK(!memcmp(in, out, n * sizeof *in));
    }
    cpu_backend.close(s);
    free(in);
    free(out);
    bench_close(&b);
}

TEST(a_stop_is_obeyed_before_an_update)
{
    struct err e = {0};
    struct bench b;
    double lr[8] = {0};
    atomic_bool stop = true;
    struct backend_step rows[64];
    size_t done = 99;

    for (int members = 1; members <= 4; members += 3) {
        REQUIRE(bench_open(&b, nets[0].text, nets[0].shape, 200, 20));
        b.plan.mode = members > 1 ? SPEC_ENSEMBLE : SPEC_DATA_PARALLEL;
        b.plan.members = members;
        struct backend_session *s = session(&cpu_backend, &b);
        struct backend_span span = {.count = 8, .order = b.orders, .lr = lr, .stop = &stop};
        REQUIRE(s && cpu_backend.train(s, &span, rows, &done, &e) == ERR_OK);
        CHECK_INT(done, 0);
        cpu_backend.close(s);
        bench_close(&b);
    }
}

TEST(a_loss_that_is_not_finite_ends_the_span)
{
    struct bench b;
    struct backend_step rows[64] = {0};
    struct err e = {0};

    REQUIRE(bench_open(&b, nets[0].text, nets[0].shape, 200, 20));
    struct backend_session *s = session(&cpu_backend, &b);
    size_t n = b.net->parameter_count;
    float *param = mem_new(n, sizeof *param);
    REQUIRE(s && cpu_backend.state(s, 0, BACKEND_PARAMS, false, param, &e) == ERR_OK);
    param[0] = NAN;
    REQUIRE(cpu_backend.state(s, 0, BACKEND_PARAMS, true, param, &e) == ERR_OK);
    CHECK_INT(train(&cpu_backend, s, &b, 0, 8, rows), 1);
    CHECK(rows[0].not_finite);
    cpu_backend.close(s);
    free(param);
    bench_close(&b);
}

TEST(what_it_cannot_do_is_said)
{
    struct err e = {0};
    struct bench b;

    REQUIRE(bench_open(&b, nets[0].text, nets[0].shape, 200, 20));
    b.plan.precision = SPEC_FP64;
    CHECK_INT(cpu_backend.can(&b.plan, &e), ERR_INPUT);
    CHECK_HAS(e.text, "ref");
    b.plan.precision = SPEC_FP32;
    setenv("CHORUS_ISA", "mmx", 1);
    CHECK_INT(cpu_backend.can(&b.plan, &e), ERR_INPUT);
    CHECK_HAS(e.text, "mmx");
    unsetenv("CHORUS_ISA");
    /* the name of what is used: floats go by avx512, bf16 by what is better for it */
    static const char *const sets[] = {"avx512bf16", "avx512", "avx2", "base"};
    for (size_t i = 0; i < MEM_COUNT(sets); i++) {
        bool half = !i && cpu_has_bf16();
        setenv("CHORUS_ISA", sets[i], 1);
        b.plan.precision = SPEC_FP32;
        if (cpu_backend.can(&b.plan, &e) == ERR_OK)
            CHECK_STR(cpu_backend.isa_in(SPEC_FP32), i ? sets[i] : "avx512");
        else
            CHECK(!half && i < 3);
        b.plan.precision = SPEC_BF16;
        if (cpu_backend.can(&b.plan, &e) == ERR_OK)
            CHECK_STR(cpu_backend.isa_in(SPEC_BF16), sets[i]);
        else
            CHECK(!cpu_has_bf16() || i < 3);
    }
    unsetenv("CHORUS_ISA");
    struct backend_estimate est;
    b.plan.precision = SPEC_FP32;
    CHECK_INT(cpu_backend.estimate(&b.plan, &est, &e), ERR_OK);
    CHECK(est.places == 1 && est.bytes[0] > b.net->parameter_count * 4);
    bench_close(&b);
}

/* A pause that is over before all threads have looked must not leave some of them with old logits. */
TEST(an_evaluation_that_was_stopped_says_so)
{
    struct err e = {0};
    struct bench b;
    float logits[40 * 10];
    atomic_bool stop = true;

    REQUIRE(bench_open(&b, nets[0].text, nets[0].shape, 200, 20));
    struct backend_session *s = session(&cpu_backend, &b);
    REQUIRE(s);
    CHECK_INT(cpu_backend.evaluate(s, &b.set.test, 0, 40, &stop, logits, &e), ERR_STOPPED);
    stop = false;
    CHECK_INT(cpu_backend.evaluate(s, &b.set.test, 0, 40, &stop, logits, &e), ERR_OK);
    cpu_backend.close(s);
    bench_close(&b);
}
