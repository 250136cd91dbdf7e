/* What each launch of a step takes on a GPU, in the rows of tests/bench/gpu.py: a JSON object per launch, with
 * the blocks and slabs of each product in it, then one for the step. A word on the command line picks rows.
 * On the twin four images, and a small net in place of all but lenet. */
#include "cuda/dnn/dnn_abi.h"
#include "cuda/kernels/products/side_args.h"
#include "tests/parity/cuda_kit.h"

static const struct row {
    const char *name, *net;
    enum spec_precision precision;
    enum spec_optimizer optimizer;
    size_t batch;
    int members;
} rows[] = {{"lenet", "lenet", SPEC_TF32, SPEC_SGD, 256, 1},
            {"cnn", "cnn", SPEC_TF32, SPEC_MOMENTUM, 256, 1},
            {"cnn-ensemble", "cnn", SPEC_TF32, SPEC_MOMENTUM, 128, 8},
            {"mlp", "mlp", SPEC_TF32, SPEC_SGD, 200, 1},
            {"resnet18-bf16", "resnet18", SPEC_BF16, SPEC_SGD, 256, 1},
            {"resnet18-tf32", "resnet18", SPEC_TF32, SPEC_SGD, 256, 1}};

static const char small[] = "input auto\nconv 6 3\nrelu\navgpool 2\ndense 24\nrelu\ndense 10\n";

static int repeats(void)
{
    return kit_on_twin() ? 1 : 20;
}

/* Microseconds of one launch of the graph, behind another one; negative: it could not be told. */
static double graph_us(struct cuda_place *p, struct cuda_graph *g)
{
    const struct cuda_rt *rt = cuda_rt();
    struct err e = {0};
    float ms = -1;

    if (rt->graph_launch(g, p->stream) || rt->event_record(p->event[0], p->stream) ||
        rt->graph_launch(g, p->stream) || rt->event_record(p->event[1], p->stream) ||
        cuda_place_wait(p, &e) || rt->event_ms(p->event[0], p->event[1], &ms))
        TEST_FAILED("%s%s", e.text, twin_report());
    return (double)ms * 1e3;
}

/* Of a launch among its like, as in a graph of steps. */
static double launch_us(struct cuda_place *p, struct cuda_launch *at)
{
    const struct cuda_rt *rt = cuda_rt();
    const struct cuda_list one = {.at = at, .n = 1};
    struct cuda_graph *g = NULL;
    struct err e = {0};
    double us = -1;
    int error = rt->capture_begin(p->stream);

    for (int i = 0; i < repeats() && !error; i++)
        error = (int)cuda_list_run(&one, p->share.gpu, p->stream, &e);
    if (rt->capture_end(p->stream, &g) || error)
        TEST_FAILED("a launch that is not captured: %s%s", e.text, twin_report());
    else
        us = graph_us(p, g) / repeats();
    rt->graph_close(g);
    return us;
}

/* ---- the products of a launch ---- */

/* The tiles of a launch of two products: its name does not hold them. */
static const struct {
    const char *kernel, *tile[2];
} pairs[] = {{"k_side_conv_input_32x32", {"32x32", "32x32"}},
             {"k_side_conv_input_64x64", {"64x64", "32x32"}},
             {"k_side_block_input", {"128x32", "64x64"}},
             {"k_side_conv_weights", {"64x64", "64x64"}},
             {"k_side_block_weights", {"32x32", "32x32"}}};

static const char *const *tiles_of(const char *kernel)
{
    char name[80];

    snprintf(name, sizeof name, "%s", kernel);
    for (char *math; (math = strstr(name, "_tf32")) || (math = strstr(name, "_bf16"));)
        memmove(math, math + 5, strlen(math + 5) + 1);
    for (size_t i = 0; i < MEM_COUNT(pairs); i++)
        if (!strcmp(pairs[i].kernel, name))
            return pairs[i].tile;
    return NULL;
}

/* The depth of a tile's slab; 0: there is no such tile. */
static unsigned slab_of(const char *tile, bool bf16)
{
#define TILE(NAME, ROWS, COLS, SLICES, STAGES, ...)                                                \
    if (!strcmp(tile, #NAME))                                                                      \
        return CONV_SLAB(bf16 ? 2 : 4, SLICES);
    CONV_TILES(TILE, )
#undef TILE
    return 0;
}

static void tell_job(const char *before, const struct conv_args *c, unsigned blocks, unsigned slab)
{
    unsigned depth = c->chunk < c->depth ? c->chunk : c->depth;

    CHECK(blocks > 0 && slab > 0);
    printf("%s{\"blocks\": %u, \"slabs\": %u, \"rows\": %u, \"cols\": %u, \"depth\": %u}", before,
           blocks, slab ? (depth + slab - 1) / slab : 0, c->rows, c->cols, c->depth);
}

static void tell_pair(const struct cuda_launch *at, bool bf16)
{
    const char *const *tile = tiles_of(at->kernel->name);
    struct side_args s;

    REQUIRE(tile);
    memcpy(&s, at->args, sizeof s);
    tell_job("", &s.job[0].conv, s.first[0], slab_of(tile[0], bf16));
    tell_job(", ", &s.job[1].conv, s.first[1] - s.first[0], slab_of(tile[1], bf16));
}

/* Blocks of one model. */
static void tell_jobs(const struct cuda_launch *at, bool bf16)
{
    const char *name = at->kernel->name;
    struct conv_args c;

    if (!strncmp(name, "k_side_", 7)) {
        tell_pair(at, bf16);
    } else if (!strncmp(name, "k_conv_", 7) || !strncmp(name, "k_block_", 8)) {
        memcpy(&c, at->args, sizeof c);
        tell_job("", &c, at->grid[0] * at->grid[1], slab_of(strrchr(name, '_') + 1, bf16));
    }
}

/* ---- a row ---- */

static void tell_launch(const struct row *r, size_t i, const struct cuda_launch *at, double us)
{
    printf("{\"row\": \"%s\", \"cudnn\": %d, \"launch\": %zu, \"us\": %.2f, ", r->name,
           cuda_dnn_version(), i, us);
    if (at->kernel) {
        printf(
            "\"kernel\": \"%s\", \"grid\": [%u, %u, %u], \"threads\": %u, \"shared\": %zu, \"jobs\": [",
            at->kernel->name, at->grid[0], at->grid[1], at->grid[2], at->block, at->shared);
        tell_jobs(at, r->precision == SPEC_BF16);
        printf("]}\n");
    } else {
        printf("\"kernel\": null}\n");
    }
}

/* Returns the sum of all launches. */
static double look_at(struct cuda_place *p, const struct row *r)
{
    double sum = 0;

    for (size_t i = 0; i < p->program.step.n; i++) {
        struct cuda_launch *at = &p->program.step.at[i];
        double us = launch_us(p, at);

        sum += us;
        tell_launch(r, i, at, us);
    }
    return sum;
}

static void look_at_step(struct cuda_place *p, const struct row *r)
{
    uint64_t kernels = twin_counted().kernels;
    double sum = look_at(p, r), step = graph_us(p, p->graph[0]);

    printf(
        "{\"row\": \"%s\", \"cudnn\": %d, \"launches\": %zu, \"sum_us\": %.1f, \"step_us\": %.1f}\n",
        r->name, cuda_dnn_version(), p->program.step.n, sum, step);
    if (kit_on_twin())
        CHECK_INT(twin_counted().kernels - kernels,
                  (2 * (size_t)repeats() + 2) * p->program.step.n);
    else
        CHECK(sum > 0 && step > 0.3 * sum && step < 3 * sum);
}

static void measure(const struct row *r)
{
    struct backend_session *s;
    struct backend_step results[8];
    struct kit b;

    kit_twin(1);
    cuda_hooks.keep = cuda_hooks.cold = false;
    cuda_hooks.graph = 1;
    REQUIRE(kit_open(&b, kit_on_twin() && r > rows ? small : net_builtin(r->net),
                     (struct net_shape){28, 28, 1}, KIT_IMAGES, kit_on_twin() ? 4 : r->batch));
    b.plan.precision = r->precision;
    b.plan.optimizer = r->optimizer;
    if (r->members > 1)
        kit_ensemble(&b, kit_on_twin() ? 2 : r->members, 1, false);
    s = kit_session(BE, &b);
    REQUIRE(s);
    CHECK_INT(kit_train(BE, s, &b, 0, 1, results), 1);
    look_at_step(&s->place[0], r);
    BE->close(s);
    if (twin_report()[0])
        TEST_FAILED("%s", twin_report());
    kit_close(&b);
}

TEST(row_0_lenet)
{
    measure(&rows[0]);
}

TEST(row_1_cnn)
{
    measure(&rows[1]);
}

TEST(row_2_cnn_ensemble)
{
    measure(&rows[2]);
}

TEST(row_3_mlp)
{
    measure(&rows[3]);
}

TEST(row_4_resnet18_bf16)
{
    measure(&rows[4]);
}

TEST(row_5_resnet18_tf32)
{
    measure(&rows[5]);
}
