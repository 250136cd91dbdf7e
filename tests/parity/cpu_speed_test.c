/* How much faster the CPU backend is than the naive one, by a ratio within one run: the best of
 * three turns each, taken in turn. And whether what it chooses kernels by agrees with what was measured. */
#include "base/clock.h"
#include "base/mem.h"
#include "cpu/cpu_int.h"
#include "engine/backend.h"
#include "tests/test.h"

#include <stdlib.h>

struct race {
    struct net *net;
    struct data_set set;
    struct backend_plan plan;
    uint32_t order[256];
    const uint32_t *orders[1];
    uint16_t labels[256];
    float lut[256];
    struct rng_key key;
    int device;
};

/* Seconds an image for one step of `images`, the best so far. */
static double lap(const struct backend *be, struct race *r, size_t images, double best)
{
    struct err e = {0};
    struct backend_session *s = NULL;
    struct backend_step row;
    size_t done = 0;
    double lr = 0.1;
    atomic_bool stop = false;
    struct backend_span span = {.count = 1, .order = r->orders, .lr = &lr, .stop = &stop};

    r->plan.batch = images;
    if (be->open(&r->plan, &s, &e)) {
        TEST_FAILED("%s: %s", be->name, e.text);
        return best;
    }
    float *param = mem_new(r->net->parameter_count, sizeof *param);
    net_init(r->net, SPEC_INIT_MODEL, 0, r->key, param, NULL);
    CHECK(be->state(s, 0, BACKEND_PARAMS, true, param, &e) == ERR_OK);
    uint64_t begin = clock_ns();
    CHECK(be->train(s, &span, &row, &done, &e) == ERR_OK && done == 1);
    double seconds = (double)(clock_ns() - begin) * 1e-9 / (double)images;
    be->close(s);
    free(param);
    return seconds < best ? seconds : best;
}

TEST(lenet_at_least_ten_times_as_fast_as_ref)
{
    static struct race r;
    struct err e = {0};
    struct net_wants wants = {.input = {28, 28, 1}, .classes = 10};
    uint8_t *bytes = mem_new(256 * 784, 1);
    double fast = 1e9, slow = 1e9;

    REQUIRE_OK(net_open(&r.net, "lenet", &wants, &e));
    for (size_t i = 0; i < 256 * 784; i++)
        bytes[i] = (uint8_t)(i * 37);
    for (int i = 0; i < 256; i++) {
        r.order[i] = (uint32_t)i;
        r.labels[i] = (uint16_t)(i % 10);
        r.lut[i] = (float)i / 255.0f;
    }
    r.orders[0] = r.order;
    r.key = rng_key(1);
    r.set = (struct data_set){.shape = {28, 28, 1}, .classes = 10, .lut = r.lut};
    r.set.train = (struct data_part){.count = 256, .bytes = bytes, .labels = r.labels};
    r.plan = (struct backend_plan){.net = r.net,
                                   .data = &r.set,
                                   .devices = 1,
                                   .all_devices = 1,
                                   .members = 1,
                                   .member_device = &r.device,
                                   .model_key = &r.key,
                                   .threads = 2};
    for (int turn = 0; turn < 3; turn++) {
        fast = lap(&cpu_backend, &r, 256, fast);
        slow = lap(&ref_backend, &r, 16, slow);
    }
    printf("  lenet, %s, 2 threads: %.1f times ref\n", cpu_backend.isa(), slow / fast);
    CHECK(slow >= 10 * fast);
    net_free(r.net);
    free(bytes);
}

#if defined(__x86_64__)
/* Which family takes less time for one layer, as measured on Zen 5, 265 GFLOP/s, with two groups on one
 * thread: shares of the peak, of the plain arithmetic. Ratios of a fifth and more. */
TEST(costs_tell_which_family_is_faster)
{
    static const struct {
        int h, w, cin, cout, k, pad;
        bool first;
        double direct, wino;
    } layers[] = {
        {12, 12, 3, 1024, 5, 2, true, 0.77, 0.41}, {12, 12, 3, 700, 5, 2, true, 0.77, 0.63},
        {36, 5, 1024, 6, 3, 2, false, 0.50, 0.35}, {16, 16, 384, 6, 3, 1, false, 0.54, 0.44},
        {16, 16, 128, 8, 3, 1, false, 0.72, 1.16}, {16, 16, 512, 16, 3, 1, false, 0.69, 0.84},
        {16, 16, 512, 32, 3, 1, false, 0.74, 1.1}, {16, 16, 512, 8, 5, 2, false, 0.66, 0.92},
        {16, 16, 256, 32, 5, 2, false, 0.84, 2.9}, {16, 16, 8, 512, 3, 1, false, 0.59, 1.47},
        {16, 16, 32, 512, 3, 1, false, 0.78, 2.4}, {14, 14, 32, 64, 3, 1, false, 0.84, 2.3},
        {16, 16, 128, 128, 3, 1, false, 0.8, 2.5}, {8, 8, 256, 256, 3, 1, false, 0.82, 2.4},
        {4, 4, 512, 512, 3, 1, false, 0.67, 2.07}, {16, 16, 64, 64, 5, 2, false, 0.84, 3.6},
    };

    setenv("CHORUS_ISA", "avx512", 1);
    bool here = cpu_kernels_choose(SPEC_FP32) == &cpu_kernels_avx512;
    unsetenv("CHORUS_ISA");
    if (!here)
        SKIP("this processor has no AVX-512");
    for (size_t i = 0; i < MEM_COUNT(layers); i++) {
        const struct cpu_kernels *k = &cpu_kernels_avx512;
        struct cpu_conv_layer c = {.cin = layers[i].cin,
                                   .cout = layers[i].cout,
                                   .k = layers[i].k,
                                   .stride = 1,
                                   .pad_top = layers[i].pad,
                                   .pad_left = layers[i].pad,
                                   .in_h = layers[i].h,
                                   .in_w = layers[i].w,
                                   .conv_h = layers[i].h + 2 * layers[i].pad - layers[i].k + 1,
                                   .conv_w = layers[i].w + 2 * layers[i].pad - layers[i].k + 1,
                                   .pool = 1};
        double direct = k->direct->cost(&c, !layers[i].first);
        double wino = k->wino->cost(&c, !layers[i].first);
        if ((direct < wino) != (layers[i].direct > layers[i].wino))
            TEST_FAILED("%dx%d, %d to %d, kernels of %d: direct costs %.3g, Winograd %.3g", c.in_h,
                        c.in_w, c.cin, c.cout, c.k, direct, wino);
    }
}
#endif
