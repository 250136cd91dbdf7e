/* How many launches a step has, and that work done in another kernel's launch changes no bit. */
#include "tests/parity/cuda_kit.h"

#include "cuda/kernels/norm_args.h"

static const struct net_shape picture = {28, 28, 1};

static const struct {
    const char *name;
    size_t launches;
} small[] = {{"lenet", 7}, {"cnn", 7}, {"mlp", 5}};

/* Of the same kinds, for what is computed here. */
static const char *const tiny[] = {
    "input auto\nconv 6 3\nrelu\navgpool 2\nconv 10 3\nrelu\nmaxpool 2\ndense 24\nrelu\n"
    "dense 10\n",
    "input auto\ndense 40\ntanh\ndense 30\ntanh\ndense 10\n"};

static const struct {
    const char *name;
    int members, devices;
} modes[] = {{"alone", 1, 1}, {"an ensemble", 2, 1}, {"virtual devices", 1, 2}};

static void set_mode(struct kit *b, size_t mode)
{
    if (modes[mode].members > 1)
        kit_ensemble(b, modes[mode].members, 1, true);
    else
        kit_devices(b, modes[mode].devices);
}

/* At batches that a GPU is given: the kernels' costs decide what goes side by side. */
TEST(launches_of_a_step)
{
    struct cuda_gpu_facts facts;

    if (cuda_rt()->facts(0, &facts) || facts.processors != 132)
        SKIP("another GPU's kernels have other costs");
    for (size_t k = 0; k < MEM_COUNT(small); k++)
        for (size_t mode = 0; mode < MEM_COUNT(modes); mode++)
            for (int i = 0; i < 4; i++) {
                size_t batch = i % 2 ? 128 : 256, launches;
                struct backend_session *s;
                struct kit b;

                kit_twin(1);
                REQUIRE(kit_open(&b, net_builtin(small[k].name), picture, KIT_IMAGES, batch));
                b.plan.precision = i < 2 ? SPEC_TF32 : SPEC_BF16;
                b.plan.optimizer = i % 2 ? SPEC_ADAM : SPEC_MOMENTUM;
                set_mode(&b, mode);
                s = kit_session(BE, &b);
                REQUIRE(s);
                cuda_program_make(&s->place[0], mode == 1);
                launches = s->place[0].program.step.n;
                CHECK_INT(s->place[0].program.begin.n, 1);
                if (launches != small[k].launches)
                    TEST_FAILED("%s, %s, batch %zu, precision %d: %zu launches a step, not %zu",
                                small[k].name, modes[mode].name, batch, b.plan.precision, launches,
                                small[k].launches);
                for (size_t at = 0; getenv("CHORUS_CONV_PLANS") && at < launches; at++) {
                    const struct cuda_launch *l = &s->place[0].program.step.at[at];

                    printf("  %s %zu: %s, %u x %u x %u\n", small[k].name, batch, l->kernel->name,
                           l->grid[0], l->grid[1], l->grid[2]);
                }
                cuda_program_free(&s->place[0].program);
                BE->close(s);
                kit_close(&b);
            }
}

/* With one group the sums' kernels write what enters the running statistics, and the gradients. */
TEST(batch_norm_has_no_launch_for_values_of_channels)
{
    const char *text = "input auto\nconv 6 3\nbatchnorm\nrelu\ndense 10\n";

    for (size_t mode = 0; mode < MEM_COUNT(modes); mode++) {
        const struct cuda_list *l;
        struct backend_session *s;
        size_t small_ones = 0;
        struct kit b;

        kit_twin(1);
        REQUIRE(kit_open(&b, text, (struct net_shape){8, 8, 1}, KIT_IMAGES, 4));
        set_mode(&b, mode);
        s = kit_session(BE, &b);
        REQUIRE(s);
        cuda_program_make(&s->place[0], mode == 1);
        l = &s->place[0].program.step;
        for (size_t i = 0; i < l->n; i++)
            small_ones += l->at[i].kernel == &k_norm_small;
        CHECK_INT(small_ones, modes[mode].devices > 1 ? 2 : 0);
        cuda_program_free(&s->place[0].program);
        BE->close(s);
        kit_close(&b);
    }
}

/* What stands in front of the first parameter goes forward alone. */
TEST(gradients_that_reach_no_parameter_are_not_made)
{
    static const struct {
        const char *text;
        size_t front; /* launches of layers without parameters, all of them in front */
    } nets[] = {
        {"input auto\nmaxpool 2\nconv 6 3\ndense 10\n", 1},
        {"input auto\nrelu\navgpool 3 stride 2\ntanh\ndense 10\n", 3},
        {"input auto\ndropout 0.3\nglobalavgpool\ndense 10\n", 2},
        {"input auto\nmaxpool 2\nresidual {\nrelu\ntanh\n}\nrelu\nconv 4 3\ndense 10\n", 4}};

    for (size_t k = 0; k < MEM_COUNT(nets); k++)
        for (size_t mode = 0; mode < MEM_COUNT(modes); mode++) {
            struct backend_session *s;
            size_t front = 0;
            struct kit b;

            kit_twin(1);
            REQUIRE(kit_open(&b, nets[k].text, (struct net_shape){8, 8, 2}, 60, 12));
            set_mode(&b, mode);
            s = kit_session(BE, &b);
            REQUIRE(s);
            cuda_program_make(&s->place[0], mode == 1);
            for (size_t i = 0; i < s->place[0].program.step.n; i++) {
                const char *name = s->place[0].program.step.at[i].kernel->name + strlen("k_");

                front += !strncmp(name, "pool", 4) || !strncmp(name, "act", 3) ||
                         !strncmp(name, "dropout", 7) || !strncmp(name, "add", 3);
            }
            if (front != nets[k].front)
                TEST_FAILED("net %zu, %s: %zu launches in front", k, modes[mode].name, front);
            cuda_program_free(&s->place[0].program);
            BE->close(s);
            kit_compare(&b, nets[k].text, 3, &kit_tight);
            kit_close(&b);
        }
}

/* What runs is what the program of a step says, and the images of a span's first step. */
TEST(kernels_that_run)
{
    if (!kit_on_twin())
        SKIP("a GPU does not count what runs");
    for (size_t k = 0; k < MEM_COUNT(tiny); k++) {
        struct kit b;
        struct backend_step rows[3 * 2];
        struct backend_session *s;

        kit_twin(1);
        REQUIRE(kit_open(&b, tiny[k], (struct net_shape){14, 14, 1}, 64, 16));
        set_mode(&b, 1);
        s = kit_session(BE, &b);
        REQUIRE(s);
        for (size_t steps = 1; steps <= 3; steps += 2) {
            uint64_t before = twin_counted().kernels;

            CHECK_INT(kit_train(BE, s, &b, 0, steps, rows), steps);
            CHECK_INT(twin_counted().kernels - before,
                      steps * s->place[0].program.step.n + s->place[0].program.begin.n);
        }
        CHECK_INT(s->place[0].program.begin.n, 1);
        BE->close(s);
        if (twin_report()[0])
            TEST_FAILED("%s", twin_report());
        kit_close(&b);
    }
}

static void state_of(const struct kit *b, struct backend_session *s, int member, float *out)
{
    struct err e = {0};
    size_t n = b->net->parameter_count;

    for (int kind = BACKEND_PARAMS; kind <= BACKEND_SLOT2; kind++) {
        if (kind == BACKEND_STATS || kind - BACKEND_STATS > backend_slots(b->plan.optimizer))
            continue;
        CHECK_INT(BE->state(s, member, (enum backend_kind)kind, false, out, &e), ERR_OK);
        out += n;
    }
}

/* Weights that the gradients' kernels update are those that a kernel behind them all makes, by every
 * optimizer, in every arithmetic. */
TEST(updates_within_the_gradients_are_those_behind_them)
{
    static const char text[] = "input auto\nconv 6 3\nrelu\navgpool 2\nconv 10 2\ndense 23\ntanh\n"
                               "dense 10\n";

    for (int o = SPEC_SGD; o <= SPEC_ADAMW; o++)
        for (int p = SPEC_FP32; p <= SPEC_BF16; p++) {
            struct kit b;
            float *state[2];

            if (p != SPEC_FP32 && p != SPEC_TF32 && p != SPEC_BF16)
                continue;
            kit_twin(1);
            REQUIRE(kit_open(&b, text, (struct net_shape){13, 11, 2}, 200, 50));
            b.plan.precision = (enum spec_precision)p;
            b.plan.optimizer = (enum spec_optimizer)o;
            b.plan.weight_decay = o % 2 ? 0.01 : 0;
            kit_ensemble(&b, 1 + o % 3, 1, false);
            size_t n = b.net->parameter_count;
            for (int i = 0; i < 2; i++) {
                struct backend_step rows[3 * 4];

                cuda_hooks.late = i == 0;
                twin_seed((uint64_t)i + 3);
                struct backend_session *s = kit_session(BE, &b);
                state[i] = mem_new(3 * n, sizeof *state[i]);
                REQUIRE(s);
                CHECK_INT(kit_train(BE, s, &b, 0, 3, rows), 3);
                state_of(&b, s, o % 3, state[i]);
                BE->close(s);
            }
            if (memcmp(state[0], state[1], 3 * n * sizeof *state[0]))
                TEST_FAILED("optimizer %d, precision %d: other bits", o, p);
            if (twin_report()[0])
                TEST_FAILED("%s", twin_report());
            free(state[0]);
            free(state[1]);
            kit_close(&b);
        }
}

/* Whether work goes side by side, and images are fetched a step ahead, changes no answer: losses, and
 * weights but for the order of sums. */
TEST(side_by_side_as_one_by_one)
{
    for (size_t k = 0; k < MEM_COUNT(tiny); k++)
        for (int own = 0; own < 2; own++) {
            struct kit b;
            struct backend_step rows[2][6 * 2];
            size_t launches[2] = {0, 0};

            kit_twin(1);
            REQUIRE(kit_open(&b, tiny[k], (struct net_shape){14, 14, 1}, 64, 16));
            b.plan.augment = own ? SPEC_FLIP | SPEC_CROP : 0;
            b.plan.crop_pad = 2;
            kit_ensemble(&b, 2, 1, own);
            for (int i = 0; i < 2; i++) {
                cuda_hooks.alone = i == 0;
                cuda_hooks.keep = i == 0;
                cuda_hooks.graph = i ? 2 : 0;
                twin_seed((uint64_t)i + 11);
                struct backend_session *s = kit_session(BE, &b);
                REQUIRE(s);
                CHECK_INT(kit_train(BE, s, &b, 0, 3, rows[i]), 3);
                CHECK_INT(kit_train(BE, s, &b, 3, 1, rows[i] + 3 * 2), 1); /* an epoch ends */
                CHECK_INT(kit_train(BE, s, &b, 1, 2, rows[i] + 4 * 2), 2);
                launches[i] = s->place[0].program.step.n;
                BE->close(s);
            }
            CHECK(launches[1] + 2 < launches[0]);
            kit_compare_rows(rows[1], rows[0], 6 * 2, 1e-5, 0, tiny[k]);
            if (twin_report()[0])
                TEST_FAILED("%s", twin_report());
            kit_close(&b);
        }
}
