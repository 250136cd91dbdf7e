/* Networks whose convolutions go through cuDNN, against the naive backend: on a twin of the library, and
 * on a GPU through the library itself. */
#include "cuda/dnn/dnn_abi.h"
#include "tests/twin/cudnn.h"
#include "tests/parity/cuda_kit.h"

static const char residual[] =
    "input auto\nconv 32 3 pad 1\nbatchnorm\nrelu\nresidual {\n conv 32 3 pad 1\n batchnorm\n relu\n"
    " conv 32 3 pad 1\n batchnorm\n}\nrelu\nresidual {\n conv 40 3 stride 2 pad 1\n batchnorm\n relu\n"
    " conv 40 3 pad 1 nobias\n batchnorm\n} shortcut {\n conv 40 1 stride 2\n}\nrelu\n"
    "globalavgpool\ndense 10\n";
static const struct kit_net nets[] = {
    {"residual", residual, {6, 6, 1}},
    {"biases and gates",
     "input auto\nconv 32 3\nrelu\nconv 40 3 pad 1\ntanh\nconv 32 2 same\nrelu\nconv 32 1 nobias\n"
     "relu\ndense 10\n",
     {7, 6, 2}},
    {"gradients added behind a gate",
     "input auto\nconv 32 2\nrelu\nresidual {\n conv 48 3 pad 1\n} shortcut {\n conv 48 1\n}\nrelu\n"
     "residual {\n conv 48 3 pad 1\n}\ntanh\ndense 10\n",
     {6, 5, 1}},
};
static const struct {
    enum spec_precision of;
    const char *name;
    struct kit_limits limits;
} precisions[] = {{SPEC_FP32, "fp32", {2e-5, 2e-5, 1e-4, 2e-4, 1, false, false}},
                  {SPEC_TF32, "tf32", {2e-3, 8e-2, 5e-3, 2e-2, 2, true, false}},
                  {SPEC_BF16, "bf16", {3e-2, 0.4, 4e-2, 1.5e-1, 4, true, false}}};

static void begin(void)
{
    unsetenv("CHORUS_CUDNN");
    kit_twin(1);
    twin_dnn(true);
}

/* Which engines compute is said where nobody counts them. */
static void went_through(struct kit *b, const char *name)
{
    struct twin_dnn_counts c = twin_dnn_counted();
    struct backend_session *s = kit_on_twin() ? NULL : kit_session(BE, b);
    struct text engines = {0};

    for (int pass = 0; kit_on_twin() && pass < 3; pass++)
        if (!c.executed[pass])
            TEST_FAILED("%s: pass %d did not go through cuDNN", name, pass);
    if (c.wrong[0])
        TEST_FAILED("%s: %s", name, c.wrong);
    if (!s)
        return;
    BE->plans(s, &engines);
    BE->close(s);
    printf("  %s: %s\n", name, text_str(&engines));
    if (strncmp(text_str(&engines), "cudnn ", 6) != 0)
        TEST_FAILED("%s: no convolution goes through cuDNN", name);
    text_free(&engines);
}

static void nothing_is_left(const char *name)
{
    if (twin_dnn_counted().handles || twin_dnn_counted().descriptors)
        TEST_FAILED("%s: handles or descriptors are left", name);
    if (twin_dnn_counted().wrong[0] || twin_report()[0])
        TEST_FAILED("%s: %s%s", name, twin_dnn_counted().wrong, twin_report());
}

static void compare(struct kit *b, const char *net, const char *how, size_t precision)
{
    char name[80];

    b->plan.precision = precisions[precision].of;
    snprintf(name, sizeof name, "%s%s in %s", net, how, precisions[precision].name);
    kit_compare(b, name, 2, &precisions[precision].limits);
    went_through(b, name);
    nothing_is_left(name);
}

/* in_turn: three members, each alone in its launches and in cuDNN's. */
static void compare_all(bool in_turn)
{
    for (size_t k = 0; k < MEM_COUNT(nets); k++)
        for (size_t p = 0; p < MEM_COUNT(precisions); p++) {
            struct kit b;

            begin();
            if (!cuda_dnn_version())
                SKIP("cuDNN is not here");
            REQUIRE(kit_open(&b, nets[k].text, nets[k].shape, 40, 6));
            if (in_turn) {
                cuda_hooks.in_turn = 1;
                cuda_hooks.keep = p % 2;
                kit_ensemble(&b, 3, 1, k == 1);
                b.plan.optimizer = SPEC_MOMENTUM;
            }
            compare(&b, nets[k].name, in_turn ? ", members in turn," : "", p);
            kit_close(&b);
        }
}

TEST(networks_in_all_precisions)
{
    compare_all(false);
}

/* What lies behind the last member is somebody else's. */
TEST(members_one_after_another)
{
    compare_all(true);
}

TEST(bits_repeat_in_graphs_of_any_size)
{
    static const struct {
        size_t cut;
        int graph;
        bool cold;
    } ways[] = {{8, 0, true}, {8, 8, false}, {3, 4, false}, {1, 1, false}};

    for (int members = 1; members <= 3; members += 2)
        for (int p = 0; p < 2; p++) {
            struct kit b;
            uint64_t first = 0;

            for (size_t i = 0; i < MEM_COUNT(ways); i++) {
                begin();
                cuda_hooks.keep = i % 2;
                cuda_hooks.cold = ways[i].cold;
                cuda_hooks.graph = ways[i].graph;
                twin_seed(i + 3);
                if (!cuda_dnn_version())
                    SKIP("cuDNN is not here");
                REQUIRE(kit_open(&b, nets[0].text, nets[0].shape, 40, 4));
                b.plan.precision = p ? SPEC_BF16 : SPEC_TF32;
                if (members > 1)
                    kit_ensemble(&b, members, 1, true);
                uint64_t hash = kit_run(&b, ways[i].cut);
                if (i == 0)
                    first = hash;
                if (hash != first)
                    TEST_FAILED("other bits in spans of %zu and graphs of %d", ways[i].cut,
                                ways[i].graph);
                if (!ways[i].cold && kit_on_twin())
                    CHECK(twin_counted().graph_launches > 0);
                nothing_is_left("graphs");
                kit_close(&b);
            }
        }
}
