/* The CUDA backend, on a twin of the runtime, against the naive one: layers, networks, modes,
 * optimizers, precisions. */
#include "tests/parity/cuda_kit.h"
#include "tests/parity/random_net.h"

TEST(layers)
{
    kit_twin(1);
    for (size_t k = 0; k < MEM_COUNT(kit_nets); k++) {
        struct kit b;
        if (!kit_open(&b, kit_nets[k].text, kit_nets[k].shape, 60, 12))
            continue;
        kit_compare(&b, kit_nets[k].name, 3, &kit_tight);
        b.plan.batch = 3;
        kit_compare(&b, kit_nets[k].name, 2, &kit_tight);
        kit_close(&b);
    }
}

/* What is still there of the last batch is what was there; the last layer's output always is. */
static void compare_peeks(struct kit *b, struct backend_session *whole,
                          struct backend_session *tight, const char *what)
{
    for (int i = 0; i < b->net->layers; i++)
        for (int k = BACKEND_OUTPUT; k <= BACKEND_GRAD_OUTPUT; k++) {
            const struct net_shape *s = &b->net->layer[i].out;
            size_t n = b->plan.batch * (size_t)s->h * (size_t)s->w * (size_t)s->c;
            double *out = mem_new(2 * n, sizeof *out);
            enum backend_peek one = BACKEND_FUSED, two = BACKEND_FUSED;
            struct err e = {0};

            if (BE->peek(whole, 0, i, (enum backend_what)k, out, n, &one, &e) ||
                BE->peek(tight, 0, i, (enum backend_what)k, out + n, n, &two, &e))
                TEST_FAILED("%s: %s", what, e.text);
            if (two == BACKEND_PEEKED && (one != two || memcmp(out, out + n, n * sizeof *out)))
                TEST_FAILED("%s: %s %s is something else", what, k ? "gradient of" : "output of",
                            b->net->layer[i].name);
            if (i == b->net->layers - 1 && k == BACKEND_OUTPUT)
                CHECK_INT(two, BACKEND_PEEKED);
            free(out);
        }
}

/* Memory that is used twice within a step changes no bit. */
TEST(memory_used_twice)
{
    for (size_t k = 0; k < MEM_COUNT(kit_nets); k++) {
        struct kit b;
        struct backend_session *s[2];
        float *param[2];
        struct err e = {0};
        struct backend_step rows[8];

        kit_twin(1);
        if (!kit_open(&b, kit_nets[k].text, kit_nets[k].shape, 60, 8))
            continue;
        for (int i = 0; i < 2; i++) {
            cuda_hooks.keep = i == 0;
            s[i] = kit_session(BE, &b);
            param[i] = mem_new(b.net->parameter_count, sizeof **param);
            REQUIRE(s[i]);
            CHECK_INT(kit_train(BE, s[i], &b, 0, 3, rows), 3);
            REQUIRE_OK(BE->state(s[i], 0, BACKEND_PARAMS, false, param[i], &e));
        }
        if (memcmp(param[0], param[1], b.net->parameter_count * sizeof **param))
            TEST_FAILED("%s: other bits", kit_nets[k].name);
        compare_peeks(&b, s[0], s[1], kit_nets[k].name);
        for (int i = 0; i < 2; i++) {
            BE->close(s[i]);
            free(param[i]);
        }
        kit_close(&b);
    }
}

/* Nor does it change one where a pool is a kernel of its own: with windows all over the map sums are
 * taken in the same order. */
TEST(pools_apart)
{
    static const char *const even[] = {
        "input auto\nconv 6 3\nrelu\navgpool 2\nconv 10 3 pad 1\nrelu\nmaxpool 2\ndense 10\n",
        "input auto\nconv 8 3\ntanh\nmaxpool 2\nconv 4 3 pad 1\navgpool 2\ntanh\ndense 10\n"};

    for (size_t k = 0; k < MEM_COUNT(even); k++)
        for (int devices = 1; devices <= 4; devices += 3) {
            struct kit b;
            float *param[2] = {0};
            uint64_t kernels[2];
            struct err e = {0};
            struct backend_step rows[8];

            kit_twin(1);
            REQUIRE(kit_open(&b, even[k], (struct net_shape){10, 10, 2}, 60, 8));
            if (devices > 1)
                kit_ensemble(&b, devices, 1, false);
            for (int i = 0; i < 2; i++) {
                cuda_hooks.apart = i == 0;
                cuda_hooks.alone = true; /* or other tiles go beside others */
                struct backend_session *s = kit_session(BE, &b);
                param[i] = mem_new(b.net->parameter_count, sizeof **param);
                REQUIRE(s);
                kernels[i] = twin_counted().kernels;
                CHECK_INT(kit_train(BE, s, &b, 0, 1, rows), 1);
                kernels[i] = twin_counted().kernels - kernels[i];
                REQUIRE_OK(BE->state(s, devices - 1, BACKEND_PARAMS, false, param[i], &e));
                BE->close(s);
            }
            if (kernels[0]) /* a GPU does not count them */
                CHECK(kernels[1] < kernels[0]);
            for (size_t i = 0; i < b.net->parameter_count; i++)
                if (param[0][i] != param[1][i]) {
                    TEST_FAILED("net %zu: parameter %zu is %.9g, not %.9g", k, i,
                                (double)param[1][i], (double)param[0][i]);
                    break;
                }
            free(param[0]);
            free(param[1]);
            kit_close(&b);
        }
}

static const struct { /* of models/, as large as they are, on few images: all here takes its time */
    const char *name;
    size_t batch, steps, images;
} whole[] = {{"lenet", 8, 2, 24},
             {"cnn", 4, 1, 8},
             {"mlp", 8, 2, 24},
             {"small", 6, 2, 24},
             {"resnet18", 2, 1, 6}};

TEST(networks)
{
    kit_twin(1);
    for (size_t k = 0; k < MEM_COUNT(whole); k++) {
        struct kit b;
        const char *text = net_builtin(whole[k].name);
        struct kit_limits limits = kit_tight;

        limits.deep = !strcmp(whole[k].name, "resnet18");
        if (limits.deep)
            limits.logits = 2e-3;
        REQUIRE(text &&
                kit_open(&b, text, (struct net_shape){28, 28, 1}, whole[k].images, whole[k].batch));
        kit_compare(&b, whole[k].name, whole[k].steps, &limits);
        kit_close(&b);
    }
}

/* Operands of 10 bits (tf32) and 7 (bf16), rounded: off by 2^-11 and 2^-8 each, less in sums. Gradients
 * pass relus whose input rounding put on the other side of 0, some in a hundred. */
TEST(precisions)
{
    static const struct kit_limits tf32 = {2e-3, 8e-2, 5e-3, 2e-2, 2, true, false};
    static const struct kit_limits bf16 = {3e-2, 0.4, 4e-2, 1.5e-1, 4, true, false};

    kit_twin(1);
    for (size_t k = 0; k < MEM_COUNT(kit_nets); k++) {
        struct kit b;
        char name[80];

        if (!kit_open(&b, kit_nets[k].text, kit_nets[k].shape, 60, 12))
            continue;
        b.plan.precision = SPEC_TF32;
        snprintf(name, sizeof name, "%s in tf32", kit_nets[k].name);
        kit_compare(&b, name, 2, &tf32);
        b.plan.precision = SPEC_BF16;
        snprintf(name, sizeof name, "%s in bf16", kit_nets[k].name);
        kit_compare(&b, name, 2, &bf16);
        kit_close(&b);
    }
}

TEST(optimizers)
{
    kit_twin(1);
    for (int o = SPEC_SGD; o <= SPEC_ADAMW; o++) {
        struct kit b;
        char name[32];
        REQUIRE(kit_open(&b, kit_nets[2].text, kit_nets[2].shape, 100, 12));
        snprintf(name, sizeof name, "optimizer %d", o);
        b.plan.optimizer = (enum spec_optimizer)o;
        b.plan.weight_decay = 0.01;
        kit_compare(&b, name, 6, &kit_tight);
        b.plan.grad_clip = 0.05;
        b.plan.sum_loss = true;
        kit_compare(&b, name, 6, &kit_tight);
        kit_close(&b);
    }
}

TEST(virtual_devices)
{
    static const int devices[] = {2, 4, 8};

    for (int separate = 0; separate < 2; separate++) {
        kit_twin(1);
        cuda_hooks.separate = separate;
        for (size_t k = 0; k < MEM_COUNT(kit_nets); k++) {
            for (size_t d = 0; d < MEM_COUNT(devices); d++) {
                struct kit b;
                char name[80];
                REQUIRE(kit_open(&b, kit_nets[k].text, kit_nets[k].shape, 60, 16));
                snprintf(name, sizeof name, "%s on %d%s", kit_nets[k].name, devices[d],
                         separate ? " with their own gradients" : "");
                kit_devices(&b, devices[d]);
                kit_compare(&b, name, 2, &kit_tight);
                b.plan.sync_bn = true;
                b.plan.sum_loss = true;
                b.plan.augment = SPEC_FLIP | SPEC_CROP | SPEC_ERASE;
                b.plan.crop_pad = 2;
                if (d == 0)
                    kit_compare(&b, name, 2, &kit_tight);
                kit_close(&b);
            }
        }
    }
}

TEST(ensembles)
{
    kit_twin(1);
    for (int own = 0; own < 2; own++)
        for (int members = 1; members <= 5; members += 2) {
            struct kit b;
            char name[64];
            static const size_t of[] = {6, 9};

            for (size_t k = 0; k < 2; k++) {
                REQUIRE(kit_open(&b, kit_nets[of[k]].text, kit_nets[of[k]].shape, 60, 12));
                snprintf(name, sizeof name, "%d members%s", members, own ? " of own orders" : "");
                kit_ensemble(&b, members, members > 1 ? 2 : 1, own);
                b.plan.optimizer = SPEC_MOMENTUM;
                b.plan.augment = own ? SPEC_FLIP | SPEC_CROP : 0;
                b.plan.crop_pad = 1;
                kit_compare(&b, name, 3, &kit_tight);
                kit_close(&b);
            }
        }
}

#define RANDOM_NETS 12

/* Networks that nobody thought of: their kinds of layers, sizes and residual blocks are drawn. */
TEST(random_networks)
{
    static const struct kit_limits plain = {1e-4, 1e-3, 1e-4, 5e-4, 1, true, false};
    static const struct kit_limits normed = {1e-4, 1e-3, 1e-3, 5e-3, 1, true, true};
    int seen = 0, most = RANDOM_NETS;

    if (getenv("CHORUS_RANDOM_NETS"))
        most = atoi(getenv("CHORUS_RANDOM_NETS"));
    kit_twin(1);
    for (uint32_t i = 0; seen < most && i < 40 * (uint32_t)most; i++) {
        struct random_net r;
        struct kit b;
        char name[32];

        random_make(&r, rng_fold_in(rng_key(2026), i), (int)i);
        if (r.flops > 1.5e6 || r.outputs > 20000 || r.input.h * r.input.w > 600) {
            text_free(&r.text);
            continue;
        }
        seen++;
        snprintf(name, sizeof name, "network %u", i);
        if (kit_open(&b, text_str(&r.text), r.input, 40, 8)) {
            b.plan.optimizer = (enum spec_optimizer)(i % 3);
            /* a mean over few pixels makes rounding large */
            kit_devices(&b, r.normed ? 1 : 1 << i % 3);
            cuda_hooks.separate = i % 2;
            int failures = test_failures;
            kit_compare(&b, name, 2, r.normed ? &normed : &plain);
            if (test_failures > failures)
                printf("%s", text_str(&r.text));
            kit_close(&b);
        }
        text_free(&r.text);
    }
    CHECK_INT(seen, most);
}
