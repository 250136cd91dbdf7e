/* What is said of a session's memory before it is opened, against what is gone then: on the twin, and
 * on a GPU, where NVML tells, as the driver and the libraries take their part there too. */
#include "tests/parity/cuda_kit.h"

#include "base/log.h"
#include "base/text.h"
#include "cuda/gauge.h"

static bool on_gpu(void)
{
    return strcmp(cuda_rt()->name, "twin") != 0;
}

/* Of the first GPU. The twin of NVML knows nothing of the twin's memory. */
static size_t free_now(void)
{
    size_t unused = 0, total;

    if (!(on_gpu() && cuda_gauge_free(0, &unused)) && cuda_rt()->use(0) == 0)
        cuda_rt()->memory(&unused, &total);
    return unused;
}

static const struct {
    const char *name;
    int precision, members;
    size_t batch, few;                        /* few: on the twin, which touches it all */
} of[] = {{"resnet18", SPEC_BF16, 1, 256, 8}, /* the first finds no context: all is counted */
          {"lenet", SPEC_TF32, 1, 256, 64},
          {"cnn", SPEC_TF32, 8, 128, 16},
          {"mlp", SPEC_FP32, 1, 200, 200},
          {"resnet18", SPEC_TF32, 1, 256, 8}};

TEST(the_estimate_is_what_is_taken)
{
    struct cuda_gpu_facts facts = {0};

    kit_twin(1);
    REQUIRE(cuda_rt()->facts(0, &facts) == 0);
    for (size_t i = 0; i < MEM_COUNT(of); i++) {
        struct kit b;
        struct err e = {0};
        struct backend_estimate estimate;
        struct backend_session *s = NULL;
        double before, gone, said;

        kit_twin(1);
        cuda_hooks.keep = false;
        cuda_hooks.cold = !on_gpu();
        REQUIRE(kit_open(&b, net_builtin(of[i].name), (struct net_shape){28, 28, 1}, KIT_IMAGES,
                         on_gpu() ? of[i].batch : of[i].few));
        b.plan.precision = (enum spec_precision)of[i].precision;
        b.plan.optimizer = SPEC_MOMENTUM;
        if (of[i].members > 1)
            kit_ensemble(&b, of[i].members, 1, false);
        before = (double)free_now();
        REQUIRE_OK(BE->estimate(&b.plan, &estimate, &e));
        REQUIRE_OK(BE->open(&b.plan, &s, &e));
        gone = before - (double)free_now();
        said = (double)estimate.bytes[0] - (i ? (double)facts.context : 0);
        printf("  %s, batch %zu, %d members: %.1f MB said, %.1f MB gone%s\n", of[i].name,
               b.plan.batch, of[i].members, said * 1e-6, gone * 1e-6,
               i ? ", with the context there" : "");
        CHECK_INT(estimate.places, 1);
        CHECK_NEAR(said, gone, fmax(0.15 * gone, 64e6));
        CHECK(estimate.bytes[0] > b.net->parameter_count * 12 * (size_t)of[i].members);
        BE->close(s);
        if (!on_gpu())
            CHECK_INT(free_now(), before);
        kit_close(&b);
    }
}

static int warned, told;

static void count_lines(void *user, enum log_level level, const char *line)
{
    (void)user;
    if (!strstr(line, " of its memory were expected to be taken, "))
        return;
    told++;
    warned += level == LOG_WARN && strstr(line, "a run that was to have the rest may not fit");
}

/* What others will not find, where nobody knows of it; less, or what is another session's, is no warning. */
TEST(memory_that_is_gone_beyond_the_estimate_is_told)
{
    static const struct {
        bool more, second; /* 200 MB are taken besides; there is another session */
        int warned, told;
    } cases[] = {
        {true, false, 1, 1}, {false, false, 0, 1}, {true, true, 0, 1}, {true, false, 1, 1}};
    struct kit b;

    if (on_gpu())
        SKIP("other processes may take memory of a GPU");
    kit_twin(1);
    cuda_hooks.keep = false;
    REQUIRE(kit_open(&b, net_builtin("lenet"), (struct net_shape){28, 28, 1}, KIT_IMAGES, 8));
    log_to(count_lines, NULL);
    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        struct backend_session *first = kit_session(BE, &b), *second = NULL;
        struct cuda_place *p = first ? &first->place[0] : NULL;
        void *more = NULL;

        REQUIRE(first);
        if (cases[i].second)
            REQUIRE(second = kit_session(BE, &b));
        if (cases[i].more)
            CHECK_INT(cuda_rt()->take(&more, (size_t)200 << 20), 0);
        p->expected = cases[i].more ? 2000000 : 1 << 30; /* the twin's libraries take nothing */
        warned = told = 0;
        cuda_place_weigh(p);
        CHECK_INT(warned, cases[i].warned);
        CHECK_INT(told, cases[i].told);
        cuda_rt()->give(more);
        BE->close(second);
        warned = told = 0;
        if (second) { /* it came later: what is gone may be what it left */
            p->expected = 1 << 30;
            cuda_place_weigh(p);
            CHECK_INT(warned, 0);
            CHECK_INT(told, 1);
        }
        BE->close(first);
    }
    log_to(NULL, NULL);
    kit_close(&b);
}

/* Before images are read it is known how many there are, and whether they are bytes. */
TEST(images_that_are_not_read_yet_are_counted_alike)
{
    struct data_set facts = {.shape = {28, 28, 1}, .classes = 10};
    struct backend_estimate read, peeked, floats;
    struct err e = {0};
    struct kit b;

    kit_twin(1);
    REQUIRE(kit_open(&b, net_builtin("lenet"), facts.shape, KIT_IMAGES, 64));
    b.set.train.count = facts.train.count = 60000;
    b.set.test.count = facts.test.count = 10000;
    REQUIRE_OK(BE->estimate(&b.plan, &read, &e));
    b.plan.data = &facts;
    REQUIRE_OK(BE->estimate(&b.plan, &peeked, &e));
    CHECK_INT(peeked.bytes[0], read.bytes[0]);
    facts.floats = true;
    REQUIRE_OK(BE->estimate(&b.plan, &floats, &e));
    CHECK_NEAR((double)(floats.bytes[0] - peeked.bytes[0]), 3.0 * 784 * 70000, 4e6);
    kit_close(&b);
}

static size_t libraries_of(struct kit *b, int places, bool dnn)
{
    struct cuda_share *share = mem_new(CUDA_PLACES, sizeof *share);
    const int gpu[4] = {0, 1, 2, 3};
    struct cuda_layout l = {0};
    struct err e = {0};
    size_t bytes = 0;
    int n;

    b->plan.devices = b->plan.all_devices = 4;
    if (cuda_share(&b->plan, gpu, 4, share, &n, &e) == ERR_OK &&
        cuda_layout_make(&l, &b->plan, share, &e) == ERR_OK)
        bytes = cuda_need_libraries(&b->plan, &l, places, dnn);
    else
        TEST_FAILED("%s", e.text);
    cuda_layout_free(&l);
    free(share);
    return bytes;
}

/* What was seen of NCCL and cuDNN, which the twin has not: a GPU has two neighbours in NCCL's ring, and
 * from three GPUs on two more in its tree. */
TEST(libraries_are_counted_where_they_are_used)
{
    const size_t mb = (size_t)1 << 20;
    struct kit b;
    size_t alone;

    kit_twin(4);
    REQUIRE(kit_open(&b, net_builtin("lenet"), (struct net_shape){28, 28, 1}, KIT_IMAGES, 64));
    alone = libraries_of(&b, 1, false);
    CHECK(alone > 8 * mb && alone < 16 * mb); /* kernels and graphs */
    CHECK_INT(libraries_of(&b, 1, true) - alone, 48 * mb);
    CHECK_INT(libraries_of(&b, 2, false) - alone, 192 * mb);
    CHECK_INT(libraries_of(&b, 3, false) - alone, 352 * mb);
    CHECK_INT(libraries_of(&b, 4, false) - alone, 352 * mb);
    kit_ensemble(&b, 4, 4, false);
    CHECK_INT(libraries_of(&b, 4, false), libraries_of(&b, 1, false));
    kit_close(&b);
}

struct graphs {          /* that are counted for a session's place on one GPU */
    size_t nodes, steps; /* of a step; of all of them: 64 + 32 + ... + 1 */
    double operations;   /* of a step */
};

static struct graphs graphs_of(const char *net, size_t images)
{
    struct graphs g = {0};
    struct cuda_pieces pieces;
    struct kit b;

    if (!kit_open(&b, net, (struct net_shape){28, 28, 1}, KIT_IMAGES, 4 * images))
        return g;
    cuda_pieces_make(&pieces, b.net, cuda_hooks.keep, cuda_hooks.apart);
    g.nodes = 8 + 5 * (size_t)pieces.n;
    g.steps = (libraries_of(&b, 1, false) - ((size_t)8 << 20)) / 1024 / g.nodes;
    g.operations = b.net->flops * (double)images;
    cuda_pieces_free(&pieces);
    kit_close(&b);
    return g;
}

/* A graph has as many steps as a GPU makes in 20 ms, up to 64: no GPU makes more than were counted. */
TEST(graphs_are_counted_as_the_fastest_gpu_makes_them)
{
    const double fastest = 989e12; /* operations a second, of an H200 in bf16 */
    struct text many = {0};
    struct graphs g;

    kit_twin(4);
    CHECK_INT(graphs_of(net_builtin("lenet"), 16).steps, 127);
    for (size_t images = 512; images <= 4096; images *= 2) {
        size_t longest = 1;

        g = graphs_of(net_builtin("resnet18"), images);
        while (2 * (double)longest * g.operations / fastest <= 20e-3)
            longest *= 2;
        CHECK_INT(g.steps, 2 * longest - 1);
    }
    /* Where there is little work a step takes as long as its kernels, a microsecond or two each. */
    text_add(&many, "input auto\n");
    for (int i = 0; i < 100; i++)
        text_add(&many, "dense 10\n");
    g = graphs_of(text_str(&many), 1);
    CHECK((g.steps + 1) / 2 * g.nodes > 5000 && (g.steps + 1) / 2 * g.nodes < 20000);
    text_free(&many);
}
