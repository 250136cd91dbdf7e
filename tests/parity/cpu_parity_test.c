/* The fast CPU backend against the naive one: layers, networks, modes, optimizers, each instruction
 * set that this machine has. */
#include "cpu/session_int.h"
#include "tests/parity/kit.h"

#include <stdio.h>

static const char *const isas[] = {"avx512", "avx2", "base"};

static void compare(struct kit *b, const char *isa, const char *what, size_t steps, bool deep)
{
    struct kit_limits limits = kit_tight;
    char name[96];

    snprintf(name, sizeof name, "%s on %s", what, isa);
    limits.deep = deep || b->plan.members > 1;
    if (deep)
        limits.logits = 1e-3;
    kit_compare_with(&cpu_backend, b, name, steps, &limits);
}

static const char *force(const char *isa)
{
    setenv("CHORUS_ISA", isa, 1);
    return cpu_backend.isa();
}

/* Such as show what this backend does with lanes, cuts and several threads. */
static const struct kit_net more_nets[] = {
    {"wide tanh", "input auto\ndense 130\ntanh\ndense 66\ntanh\ndense 10\n", {8, 8, 1}},
    {"dropout in front of what is cut",
     "input auto\nconv 4 3\nrelu\nmaxpool 2\ndropout 0.25\nconv 5 3\nrelu\nmaxpool 2\n"
     "dropout 0.4\nrelu\navgpool 2\ndense 10\n",
     {28, 28, 1}},
    {"convolution between shared layers",
     "input auto\ndense 512\nconv 512 1\nrelu\ndense 560\nrelu\ndense 10\n",
     {26, 25, 1}},
};
#define NETS (MEM_COUNT(kit_nets) + MEM_COUNT(more_nets))

static const struct kit_net *net_at(size_t k)
{
    return k < MEM_COUNT(kit_nets) ? &kit_nets[k] : &more_nets[k - MEM_COUNT(kit_nets)];
}

TEST(layers_on_every_instruction_set)
{
    for (size_t i = 0; i < MEM_COUNT(isas); i++) {
        if (strcmp(force(isas[i]), isas[i])) {
            printf("  %s is not here\n", isas[i]);
            continue;
        }
        for (size_t k = 0; k < NETS; k++) {
            struct kit b;
            if (!kit_open(&b, net_at(k)->text, net_at(k)->shape, 120, 40))
                continue;
            cpu_lanes_wanted = (i + k) % 2 ? 8 : 16;
            compare(&b, isas[i], net_at(k)->name, 3, false);
            b.plan.batch = 3; /* fewer images than lanes */
            cpu_lanes_wanted = (i + k) % 2 ? 16 : 8;
            compare(&b, isas[i], net_at(k)->name, 2, false);
            cpu_lanes_wanted = 0;
            kit_close(&b);
        }
    }
    unsetenv("CHORUS_ISA");
}

/* Of pictures with four kinds of pixels many sums are equal: the gradient goes to the first. */
TEST(equal_maxima)
{
    static const char text[] = "input auto\nconv 3 1\nmaxpool 3 stride 2\ndense 10\n";

    for (size_t i = 0; i < MEM_COUNT(isas); i++) {
        struct kit b;
        if (strcmp(force(isas[i]), isas[i]))
            continue;
        REQUIRE(kit_open(&b, text, (struct net_shape){9, 8, 2}, 120, 40));
        for (size_t at = 0; at < 120 * 9 * 8 * 2; at++)
            b.bytes[at] &= 0xc0;
        compare(&b, isas[i], "equal maxima", 3, false);
        kit_close(&b);
    }
    unsetenv("CHORUS_ISA");
}

/* In front of all parameters no gradient is made; behind one, all are. */
TEST(gradients_that_nobody_needs)
{
    static const struct {
        const char *text;
        int layer;
        bool made;
    } nets[] = {
        {"input auto\ndropout 0.25\ndense 30\ntanh\ndense 10\n", 0, false},
        {"input auto\navgpool 2\ntanh\nconv 3 3\nrelu\ndense 10\n", 1, false},
        {"input auto\nresidual {\n tanh\n}\nrelu\ndense 700\ndense 10\n", 0, false},
        {"input auto\nmaxpool 2\nresidual {\n conv 2 1\n}\nbatchnorm\ndense 10\n", 0, false},
        {"input auto\ntanh\nresidual {\n batchnorm\n}\ntanh\ndense 10\n", 0, false},
        {"input auto\nbatchnorm\ntanh\ndense 30\ntanh\ndense 10\n", 0, true},
        {"input auto\ndense 30\ntanh\ndense 10\n", 0, true},
    };

    unsetenv("CHORUS_ISA");
    for (size_t k = 0; k < MEM_COUNT(nets); k++) {
        struct kit b;
        struct err e;
        struct backend_step rows[1];
        enum backend_peek peeked = BACKEND_FUSED;
        REQUIRE(kit_open(&b, nets[k].text, (struct net_shape){12, 12, 2}, 120, 40));
        compare(&b, cpu_backend.isa(), nets[k].text, 3, false);
        struct backend_session *s = kit_session(&cpu_backend, &b);
        CHECK_INT(kit_train(&cpu_backend, s, &b, 0, 1, rows), 1);
        struct net_shape out = b.net->layer[nets[k].layer].out;
        size_t n = b.plan.batch * (size_t)out.h * (size_t)out.w * (size_t)out.c;
        double *numbers = mem_new(n, sizeof *numbers);
        REQUIRE_OK(
            cpu_backend.peek(s, 0, nets[k].layer, BACKEND_GRAD_OUTPUT, numbers, n, &peeked, &e));
        CHECK((peeked == BACKEND_PEEKED) == nets[k].made);
        free(numbers);
        cpu_backend.close(s);
        kit_close(&b);
    }
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
        struct kit b;
        const char *text = net_builtin(whole[k].name);
        REQUIRE(text && kit_open(&b, text, (struct net_shape){28, 28, 1}, 60, whole[k].batch));
        compare(&b, cpu_backend.isa(), whole[k].name, whole[k].steps,
                !strcmp(whole[k].name, "resnet18"));
        kit_close(&b);
    }
}

TEST(optimizers)
{
    unsetenv("CHORUS_ISA");
    for (int o = SPEC_SGD; o <= SPEC_ADAMW; o++) {
        struct kit b;
        char name[32];
        REQUIRE(kit_open(&b, kit_nets[2].text, kit_nets[2].shape, 200, 24));
        snprintf(name, sizeof name, "optimizer %d", o);
        b.plan.optimizer = (enum spec_optimizer)o;
        b.plan.weight_decay = 0.01;
        compare(&b, "any", name, 8, false);
        b.plan.grad_clip = 0.05;
        b.plan.sum_loss = true;
        compare(&b, "any", name, 8, false);
        kit_close(&b);
    }
}

TEST(devices_members_and_augmentation)
{
    static const int devices[] = {1, 2, 4, 8};

    for (size_t k = 0; k < NETS; k++) {
        for (size_t d = 0; d < MEM_COUNT(devices); d++) {
            struct kit b;
            REQUIRE(kit_open(&b, net_at(k)->text, net_at(k)->shape, 200, 40));
            b.plan.devices = b.plan.all_devices = devices[d];
            compare(&b, "any", net_at(k)->name, 3, false);
            b.plan.sync_bn = true;
            b.plan.sum_loss = true;
            b.plan.augment = SPEC_FLIP | SPEC_CROP | SPEC_ERASE;
            b.plan.crop_pad = 2;
            compare(&b, "any", net_at(k)->name, 2, false);
            kit_close(&b);
        }
    }
    for (int members = 1; members <= 5; members++) {
        struct kit b;
        REQUIRE(kit_open(&b, kit_nets[6].text, kit_nets[6].shape, 200, 40));
        b.plan.mode = SPEC_ENSEMBLE;
        b.plan.members = members;
        b.plan.devices = b.plan.all_devices = members > 1 ? 2 : 1;
        b.plan.optimizer = SPEC_MOMENTUM;
        compare(&b, "any", "ensemble", 4, false);
        kit_close(&b);
    }
}

/* The bytes of a session's state after 8 steps, by a small hash. */
static uint64_t fingerprint(struct kit *b, size_t cut, struct backend_step *rows)
{
    struct err e = {0};
    struct backend_session *s = kit_session(&cpu_backend, b);
    size_t n = b->net->parameter_count, units = (size_t)backend_units(&b->plan);
    float *param = mem_new(n, sizeof *param);
    uint64_t hash = 1469598103934665603u;

    for (size_t at = 0; s && at < 8; at += cut) {
        size_t count = 8 - at < cut ? 8 - at : cut;
        CHECK_INT(kit_train(&cpu_backend, s, b, at, count, rows + at * units), count);
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

/* A relu in front of a maximum and one behind it are the same: both are done with the convolution. */
TEST(a_relu_and_a_maximum_in_either_order)
{
    static const char *const orders[] = {"relu\nmaxpool 2\n", "maxpool 2\nrelu\n"};

    for (size_t i = 0; i < MEM_COUNT(isas); i++) {
        uint64_t bytes[2];
        if (strcmp(force(isas[i]), isas[i]))
            continue;
        for (int k = 0; k < 2; k++) {
            struct backend_step rows[8];
            struct kit b;
            char text[160];
            snprintf(text, sizeof text, "input auto\nconv 8 3 same\n%sconv 32 3 same\n%sdense 10\n",
                     orders[k], orders[!k]);
            REQUIRE(kit_open(&b, text, (struct net_shape){13, 14, 2}, 200, 20));
            bytes[k] = fingerprint(&b, 8, rows);
            kit_close(&b);
        }
        CHECK(bytes[0] == bytes[1]);
    }
    unsetenv("CHORUS_ISA");
}

static void cut_spans(enum spec_precision precision)
{
    for (int members = 1; members <= 4; members++) {
        struct kit b;
        struct backend_step first[64], again[64];
        REQUIRE(kit_open(&b, kit_nets[7].text, kit_nets[7].shape, 200, 20));
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
        kit_close(&b);
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

TEST(bytes_repeat_in_bf16_without_tiles)
{
    static const char *const sets[] = {"avx512bf16-dot", "avx512bf16"};

    for (size_t i = 0; i < MEM_COUNT(sets); i++) {
        if (strcmp(force(sets[i]), sets[i])) {
            unsetenv("CHORUS_ISA");
            SKIP("this machine has no AVX-512 with bf16");
        }
        cut_spans(SPEC_BF16);
    }
    unsetenv("CHORUS_ISA");
}

/* A run that goes on elsewhere is told by the name whether its bytes may differ. */
TEST(other_products_have_another_name)
{
    static const char *const sets[] = {"avx512bf16-dot", "avx512bf16"};
    struct backend_step rows[8];
    uint64_t bytes[2];
    struct kit b;

    REQUIRE(kit_open(&b, kit_nets[2].text, kit_nets[2].shape, 200, 20));
    b.plan.precision = SPEC_BF16;
    for (size_t i = 0; i < MEM_COUNT(sets); i++) {
        if (strcmp(force(sets[i]), sets[i])) {
            unsetenv("CHORUS_ISA");
            kit_close(&b);
            SKIP("this machine has no AVX-512 with bf16");
        }
        bytes[i] = fingerprint(&b, 8, rows);
    }
    CHECK(bytes[0] != bytes[1]);
    unsetenv("CHORUS_ISA");
    kit_close(&b);
}

/* Large dense layers' weights for products of bf16 are packed as they are updated, or, where the
 * gradient's norm must be known first, behind that: the numbers are the same. */
TEST(weights_are_packed_as_they_are_updated)
{
    static const char *const sets[] = {"avx512bf16-dot", "amx-emulated"};
    struct kit b;

    for (size_t i = 0; i < MEM_COUNT(sets); i++) {
        struct backend_step first[8], again[8];
        if (strcmp(force(sets[i]), sets[i]))
            continue;
        REQUIRE(kit_open(&b, "input auto\ndense 400\nrelu\ndense 700\nrelu\ndense 10\n",
                         (struct net_shape){28, 28, 1}, 200, 20));
        b.plan.precision = SPEC_BF16;
        uint64_t at_once = fingerprint(&b, 8, first);
        b.plan.grad_clip = 1e30;
        CHECK(fingerprint(&b, 8, again) == at_once);
        CHECK(first[7].loss_sum == again[7].loss_sum);
        kit_close(&b);
    }
    unsetenv("CHORUS_ISA");
}

TEST(state_goes_in_and_out_unchanged)
{
    struct err e = {0};
    struct kit b;

    REQUIRE(kit_open(&b, kit_nets[3].text, kit_nets[3].shape, 64, 16));
    b.plan.optimizer = SPEC_ADAM;
    struct backend_session *s = kit_session(&cpu_backend, &b);
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
    kit_close(&b);
}

TEST(a_stop_is_obeyed_before_an_update)
{
    struct err e = {0};
    struct kit b;
    double lr[8] = {0};
    atomic_bool stop = true;
    struct backend_step rows[64];
    size_t done = 99;

    for (int members = 1; members <= 4; members += 3) {
        REQUIRE(kit_open(&b, kit_nets[0].text, kit_nets[0].shape, 200, 20));
        b.plan.mode = members > 1 ? SPEC_ENSEMBLE : SPEC_DATA_PARALLEL;
        b.plan.members = members;
        struct backend_session *s = kit_session(&cpu_backend, &b);
        struct backend_span span = {.count = 8, .order = b.orders, .lr = lr, .stop = &stop};
        REQUIRE(s && cpu_backend.train(s, &span, rows, &done, &e) == ERR_OK);
        CHECK_INT(done, 0);
        cpu_backend.close(s);
        kit_close(&b);
    }
}

TEST(a_loss_that_is_not_finite_ends_the_span)
{
    struct kit b;
    struct backend_step rows[64] = {0};
    struct err e = {0};

    REQUIRE(kit_open(&b, kit_nets[0].text, kit_nets[0].shape, 200, 20));
    struct backend_session *s = kit_session(&cpu_backend, &b);
    size_t n = b.net->parameter_count;
    float *param = mem_new(n, sizeof *param);
    REQUIRE(s && cpu_backend.state(s, 0, BACKEND_PARAMS, false, param, &e) == ERR_OK);
    param[0] = NAN;
    REQUIRE(cpu_backend.state(s, 0, BACKEND_PARAMS, true, param, &e) == ERR_OK);
    CHECK_INT(kit_train(&cpu_backend, s, &b, 0, 8, rows), 1);
    CHECK(rows[0].not_finite);
    cpu_backend.close(s);
    free(param);
    kit_close(&b);
}

TEST(what_it_cannot_do_is_said)
{
    struct err e = {0};
    struct kit b;

    REQUIRE(kit_open(&b, kit_nets[0].text, kit_nets[0].shape, 200, 20));
    b.plan.precision = SPEC_FP64;
    CHECK_INT(cpu_backend.can(&b.plan, &e), ERR_INPUT);
    CHECK_HAS(e.text, "ref");
    b.plan.precision = SPEC_FP32;
    setenv("CHORUS_ISA", "mmx", 1);
    CHECK_INT(cpu_backend.can(&b.plan, &e), ERR_INPUT);
    CHECK_HAS(e.text, "mmx");
    unsetenv("CHORUS_ISA");
    /* the name of what is used: floats go by avx512, bf16 by what is better for it */
    static const char *const sets[] = {"avx512bf16-dot", "avx512bf16", "avx512", "avx2", "base"};
    for (size_t i = 0; i < MEM_COUNT(sets); i++) {
        bool half = i < 2 && cpu_has_bf16();
        setenv("CHORUS_ISA", sets[i], 1);
        b.plan.precision = SPEC_FP32;
        if (cpu_backend.can(&b.plan, &e) == ERR_OK)
            CHECK_STR(cpu_backend.isa_in(SPEC_FP32), i > 1 ? sets[i] : "avx512");
        else
            CHECK(!half && i < 4);
        b.plan.precision = SPEC_BF16;
        if (cpu_backend.can(&b.plan, &e) == ERR_OK)
            CHECK_STR(cpu_backend.isa_in(SPEC_BF16), sets[i]);
        else
            CHECK(!cpu_has_bf16() || i < 4);
    }
    unsetenv("CHORUS_ISA");
    struct backend_estimate est;
    b.plan.precision = SPEC_FP32;
    CHECK_INT(cpu_backend.estimate(&b.plan, &est, &e), ERR_OK);
    CHECK(est.places == 1 && est.bytes[0] > b.net->parameter_count * 4);
    kit_close(&b);
}

/* A pause that is over before all threads have looked must not leave some of them with old logits. */
TEST(an_evaluation_that_was_stopped_says_so)
{
    struct err e = {0};
    struct kit b;
    float logits[40 * 10];
    atomic_bool stop = true;

    REQUIRE(kit_open(&b, kit_nets[0].text, kit_nets[0].shape, 200, 20));
    struct backend_session *s = kit_session(&cpu_backend, &b);
    REQUIRE(s);
    CHECK_INT(cpu_backend.evaluate(s, &b.set.test, 0, 40, &stop, logits, &e), ERR_STOPPED);
    stop = false;
    CHECK_INT(cpu_backend.evaluate(s, &b.set.test, 0, 40, &stop, logits, &e), ERR_OK);
    cpu_backend.close(s);
    kit_close(&b);
}
