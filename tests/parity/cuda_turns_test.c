/* Members one after another, where one fills the GPU, or all in each launch: the same answers. */
#include "tests/parity/cuda_kit.h"

/* Layer by layer, and memory that is used twice within a step. */
TEST(one_after_another_against_the_oracle)
{
    for (size_t k = 0; k < MEM_COUNT(kit_nets); k++) {
        struct kit b;
        char name[80];

        kit_twin(1);
        cuda_hooks.in_turn = 1;
        cuda_hooks.keep = k % 2;
        REQUIRE(kit_open(&b, kit_nets[k].text, kit_nets[k].shape, 60, 12));
        kit_ensemble(&b, 3, 1, k % 3 == 0);
        b.plan.optimizer = SPEC_MOMENTUM;
        b.plan.augment = k % 3 ? 0 : SPEC_FLIP;
        snprintf(name, sizeof name, "%s, members in turn", kit_nets[k].name);
        kit_compare(&b, name, 3, &kit_tight);
        kit_close(&b);
    }
}

static float *params_of(struct backend_session *s, const struct kit *b, int member)
{
    float *out = mem_new(b->net->parameter_count, sizeof *out);
    struct err e = {0};

    if (BE->state(s, member, BACKEND_PARAMS, false, out, &e))
        TEST_FAILED("%s", e.text);
    return out;
}

static bool near(const float *a, const float *b, size_t n, double limit)
{
    double top = 1e-30, worst = 0;

    for (size_t i = 0; i < n; i++) {
        top = fmax(top, fabs((double)b[i]));
        worst = fmax(worst, fabs((double)(a[i] - b[i])));
    }
    if (worst / top > limit)
        printf("  off by %g of %g\n", worst, top);
    return worst / top <= limit;
}

/* With nothing fused that cannot be in turn. */
TEST(in_turn_as_together)
{
    static const struct {
        enum spec_precision of;
        double losses, params, logits;
    } precisions[] = {
        {SPEC_FP32, 1e-5, 1e-4, 1e-4},
        /* One sum in another order, and others follow; tensor cores besides cut what they sum. */
        {SPEC_TF32, 1e-3, 5e-3, 1e-2},
        {SPEC_BF16, 4e-3, 2e-2, 4e-2}};

    for (size_t k = 0; k < MEM_COUNT(kit_nets); k++)
        for (int own = 0; own < 2; own++) {
            struct backend_step rows[2][4 * 3];
            float *param[2], logits[2][3 * 20 * 10];
            bool in_turn[2];
            struct kit b;

            kit_twin(1);
            REQUIRE(kit_open(&b, kit_nets[k].text, kit_nets[k].shape, 60, 12));
            b.plan.precision = precisions[k % 3].of;
            kit_ensemble(&b, 3, 1, own);
            for (int i = 0; i < 2; i++) {
                struct err e = {0};

                cuda_hooks = (struct cuda_hooks){
                    .cold = true, .late = true, .alone = true, .in_turn = i ? 1 : -1};
                struct backend_session *s = kit_session(BE, &b);
                REQUIRE(s);
                CHECK_INT(kit_train(BE, s, &b, 0, 4, rows[i]), 4);
                param[i] = params_of(s, &b, 2);
                in_turn[i] = s->place[0].program.in_turn;
                REQUIRE_OK(BE->evaluate(s, &b.set.test, 5, 20, NULL, logits[i], &e));
                BE->close(s);
            }
            CHECK(!in_turn[0] && in_turn[1]);
            kit_compare_rows(rows[1], rows[0], MEM_COUNT(rows[0]), precisions[k % 3].losses, 1,
                             kit_nets[k].name);
            CHECK(near(param[1], param[0], b.net->parameter_count, precisions[k % 3].params));
            CHECK(near(logits[1], logits[0], MEM_COUNT(logits[0]), precisions[k % 3].logits));
            free(param[0]);
            free(param[1]);
            if (twin_report()[0])
                TEST_FAILED("%s: %s", kit_nets[k].name, twin_report());
            kit_close(&b);
        }
}

/* The rule: blocks of a member against the GPU's processors. */
TEST(who_fills_the_GPU)
{
    static const struct {
        const char *text;
        size_t batch;
        int members;
        bool in_turn;
    } of[] = {
        {"input auto\nconv 64 3 pad 1\nrelu\nconv 64 3 pad 1\nrelu\nglobalavgpool\ndense 10\n", 128,
         3, true},
        {"input auto\nconv 64 3 pad 1\nrelu\nconv 64 3 pad 1\nrelu\nglobalavgpool\ndense 10\n", 128,
         1, false},
        {"input auto\nconv 64 3 pad 1\nrelu\nconv 64 3 pad 1\nrelu\nglobalavgpool\ndense 10\n", 2,
         3, false},
        {"input auto\ndense 128\nrelu\ndense 10\n", 128, 8, false},
    };

    for (size_t k = 0; k < MEM_COUNT(of); k++) {
        struct kit b;

        kit_twin(1);
        cuda_hooks.keep = false;
        REQUIRE(kit_open(&b, of[k].text, (struct net_shape){28, 28, 1}, KIT_IMAGES, of[k].batch));
        kit_ensemble(&b, of[k].members, 1, false);
        struct backend_session *s = kit_session(BE, &b);
        REQUIRE(s);
        cuda_program_make(&s->place[0], false);
        if (s->place[0].program.in_turn != of[k].in_turn)
            TEST_FAILED("net %zu: %d members %s", k, of[k].members,
                        of[k].in_turn ? "do not take turns" : "take turns");
        cuda_program_free(&s->place[0].program);
        BE->close(s);
        kit_close(&b);
    }
}
