/* What each launch of a step takes on a GPU, at the batches that are measured there (tests/bench/gpu.py): a
 * line for each launch, and whether they add up to the step. On the twin a small net, for the same way. */
#include "tests/parity/cuda_kit.h"

#define REPEATS 20

static const struct {
    const char *net;
    enum spec_precision precision;
    enum spec_optimizer optimizer;
    size_t batch;
    int members;
} of[] = {{"lenet", SPEC_TF32, SPEC_SGD, 256, 1},    {"cnn", SPEC_TF32, SPEC_MOMENTUM, 256, 1},
          {"cnn", SPEC_TF32, SPEC_MOMENTUM, 128, 8}, {"mlp", SPEC_TF32, SPEC_SGD, 200, 1},
          {"resnet18", SPEC_BF16, SPEC_SGD, 256, 1}, {"resnet18", SPEC_TF32, SPEC_SGD, 256, 1}};

static const char small[] = "input auto\nconv 6 3\nrelu\navgpool 2\ndense 24\nrelu\ndense 10\n";

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

    for (int i = 0; i < REPEATS && !error; i++)
        error = (int)cuda_list_run(&one, p->share.gpu, p->stream, &e);
    if (rt->capture_end(p->stream, &g) || error)
        TEST_FAILED("a launch that is not captured: %s%s", e.text, twin_report());
    else
        us = graph_us(p, g) / REPEATS;
    rt->graph_close(g);
    return us;
}

/* Returns the sum of all launches. */
static double look_at(struct cuda_place *p, const char *name)
{
    double sum = 0;

    for (size_t i = 0; i < p->program.step.n; i++) {
        struct cuda_launch *at = &p->program.step.at[i];
        double us = launch_us(p, at);

        sum += us;
        if (at->kernel)
            printf("  %s: %s, %u x %u x %u blocks: %.2f us\n", name, at->kernel->name, at->grid[0],
                   at->grid[1], at->grid[2], us);
        else
            printf("  %s: a library's: %.2f us\n", name, us);
    }
    return sum;
}

static void one(const char *text, size_t i, size_t batch)
{
    struct backend_session *s;
    struct backend_step rows[8];
    struct kit b;
    char name[80];

    kit_twin(1);
    cuda_hooks.keep = cuda_hooks.cold = false;
    cuda_hooks.graph = 1;
    REQUIRE(kit_open(&b, text, (struct net_shape){28, 28, 1}, KIT_IMAGES, batch));
    b.plan.precision = of[i].precision;
    b.plan.optimizer = of[i].optimizer;
    if (of[i].members > 1)
        kit_ensemble(&b, of[i].members, 1, false);
    snprintf(name, sizeof name, "%s, %s, batch %zu, %d member%s", of[i].net,
             of[i].precision == SPEC_BF16 ? "bf16" : "tf32", batch, of[i].members,
             of[i].members > 1 ? "s" : "");
    s = kit_session(BE, &b);
    REQUIRE(s);
    CHECK_INT(kit_train(BE, s, &b, 0, 1, rows), 1);

    struct cuda_place *p = &s->place[0];
    uint64_t kernels = twin_counted().kernels;
    double sum = look_at(p, name), step = graph_us(p, p->graph[0]);

    printf("  %s: %zu launches, %.1f us by themselves, %.1f us a step\n", name, p->program.step.n,
           sum, step);
    if (kit_on_twin())
        CHECK_INT(twin_counted().kernels - kernels, (2 * REPEATS + 2) * p->program.step.n);
    else
        CHECK(sum > 0 && step > 0.3 * sum && step < 3 * sum);
    BE->close(s);
    if (twin_report()[0])
        TEST_FAILED("%s", twin_report());
    kit_close(&b);
}

TEST(launches_add_up_to_the_step)
{
    if (kit_on_twin()) {
        one(small, 0, 4);
        return;
    }
    for (size_t i = 0; i < MEM_COUNT(of); i++)
        one(net_builtin(of[i].net), i, of[i].batch);
}
