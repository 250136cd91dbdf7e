/* cuDNN's plans for an H200 that is described, not here: every convolution of ResNet-18 at batch 256, in
 * every precision. Skipped where there is no cuDNN. */
#include "cuda/cuda_int.h"
#include "cuda/dnn.h"
#include "cuda/dnn_turn_args.h"
#include "cuda/twin/twin.h"

#include "base/mem.h"
#include "net/net.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

static const char h200[] =
    "{\"cudaDeviceId\": 0, \"deviceVer\": 900, \"driverVer\": 13000, \"isTccDriver\": 0, "
    "\"l2CacheSize\": 62914560, \"maxCtasPerSM\": 32, \"maxRegistersPerSM\": 65536, "
    "\"maxSharedMemoryPerBlock\": 49152, \"maxSharedMemoryPerBlockOptin\": 232448, "
    "\"maxThreadsPerBlock\": 1024, \"maxThreadsPerSM\": 2048, \"memClockRateKHz\": 3201000, "
    "\"multiProcessorCount\": 132, \"pciDeviceId\": 9013, \"regsPerBlock\": 65536, "
    "\"reservedSharedMemoryPerBlock\": 1024, \"smClockRateKHz\": 1980000, \"supportCoopLaunch\": "
    "1, \"totalGlobalMem\": 150120824832, \"warpSize\": 32, \"maxGridSize\": [2147483647, 65535, "
    "65535], \"maxBlockSize\": [1024, 1024, 64], \"deviceName\": \"NVIDIA H200\"}";

static bool here(struct cuda_dnn_for *who, struct err *e)
{
    *who = (struct cuda_dnn_for){0};
    return cuda_dnn_api(e) && cuda_dnn_describe(h200, &who->device, e) == ERR_OK;
}

static void forget(struct cuda_dnn_for *who)
{
    cuda_dnn_api(NULL)->discard(who->device);
}

/* A plan is built, kept as text, and built again from the text. */
static void plan_twice(const struct cuda_dnn_for *who, const struct cuda_conv *c,
                       enum cuda_dnn_pass pass)
{
    struct cuda_dnn_plan plan, again;
    char name[96], *json = NULL;
    size_t bytes = 0;
    struct err e = {0};

    cuda_dnn_name(c, pass, name);
    if (cuda_dnn_plan_make(&plan, who, c, pass, (size_t)256 << 20, &e) != ERR_OK) {
        /* Without tensor cores some gradients of strided layers are not there: ours are taken. */
        if (c->math == CUDA_FP32 && pass == CUDA_DNN_INPUT && c->stride > 1)
            return;
        TEST_FAILED("%s", e.text);
        return;
    }
    CHECK(plan.usable >= 1 && plan.usable <= plan.candidates);
    if (cuda_dnn_plan_save(&plan, &json, &bytes, &e) != ERR_OK) {
        TEST_FAILED("%s: %s", name, e.text);
    } else if (cuda_dnn_plan_load(&again, who, json, bytes, &e) != ERR_OK) {
        TEST_FAILED("%s: %s", name, e.text);
    } else {
        CHECK(again.workspace == plan.workspace);
        cuda_dnn_plan_free(&again);
    }
    printf("   %s: engine %lld of %d, %d would do, workspace %zu, kept in %zu bytes\n", name,
           (long long)plan.engine, plan.candidates, plan.usable, plan.workspace, bytes);
    free(json);
    cuda_dnn_plan_free(&plan);
}

static void resnet(enum cuda_math math)
{
    struct net_wants wants = {.input = {28, 28, 1}, .classes = 10};
    struct cuda_dnn_for who;
    struct net *net;
    struct err e = {0};

    if (!here(&who, &e))
        SKIP("cuDNN is not here");
    REQUIRE_OK(net_open(&net, "resnet18", &wants, &e));
    for (int i = 0; i < net->layers; i++) {
        const struct net_layer *l = &net->layer[i];
        bool seen = false;

        for (int j = 0; j < i && l->op == NET_CONV; j++) {
            const struct net_layer *o = &net->layer[j];

            seen = seen || (o->op == NET_CONV && o->k == l->k && o->stride == l->stride &&
                            o->in.h == l->in.h && o->in.c == l->in.c && o->out.c == l->out.c);
        }
        /* The first layer, of one channel, is our own kernels' and has no gradient of images. */
        if (l->op != NET_CONV || seen || l->src == NET_IMAGES)
            continue;
        struct cuda_conv c = cuda_conv_of(l, 1, 256, math);
        for (int pass = 0; pass < CUDA_DNN_PASSES; pass++)
            plan_twice(&who, &c, (enum cuda_dnn_pass)pass);
    }
    net_free(net);
    forget(&who);
}

TEST(resnet18_in_bf16)
{
    resnet(CUDA_BF16);
}

TEST(resnet18_in_tf32)
{
    resnet(CUDA_TF32);
}

TEST(resnet18_in_true_fp32)
{
    resnet(CUDA_FP32);
}

TEST(what_cannot_be_is_said)
{
    struct cuda_conv c = {.models = 1,
                          .n = 8,
                          .h = 9,
                          .w = 9,
                          .c = 64,
                          .oh = 9,
                          .ow = 9,
                          .oc = 64,
                          .k = 3,
                          .stride = 1,
                          .pad_top = 1,
                          .pad_left = 1,
                          .math = CUDA_TF32};
    struct cuda_dnn_plan plan;
    struct cuda_dnn_for who;
    struct err e = {0};
    dnn_descriptor d;

    if (!here(&who, &e))
        SKIP("cuDNN is not here");
    c.h = 0;
    CHECK(cuda_dnn_plan_make(&plan, &who, &c, CUDA_DNN_FORWARD, (size_t)1 << 28, &e) == ERR_FAILED);
    CHECK_HAS(e.text, "forward-n8-0x9x64-64-3x3-s1-p1.1-tf32");
    CHECK(cuda_dnn_plan_load(&plan, &who, "{}", 2, &e) == ERR_FAILED);
    CHECK_HAS(e.text, "a plan that was kept");
    CHECK(cuda_dnn_describe("{\"deviceVer\": 900}", &d, &e) == ERR_FAILED);
    forget(&who);
}

/* What turns weights from Flax's order to cuDNN's and back. */
static void turn(const struct dev_kernel *kernel, int rows, int columns, bool half, bool half_out)
{
    const struct cuda_rt *rt = cuda_rt();
    size_t n = (size_t)rows * (size_t)columns, in = half ? 2 : 4, out = half_out ? 2 : 4;
    unsigned char *from = mem_new(n, in), *to = mem_new(n, out);
    struct k_turn a = {NULL, NULL, rows, columns};
    unsigned grid[3] = {(unsigned)(columns + 31) / 32, (unsigned)(rows + 31) / 32, 1};
    struct cuda_stream *s;
    void *x, *y;

    for (size_t i = 0; i < n; i++) { /* bf16 is the upper half of a float */
        float value = (float)(i % 256);
        uint32_t bits;

        memcpy(&bits, &value, 4);
        if (half)
            ((uint16_t *)(void *)from)[i] = (uint16_t)(bits >> 16);
        else
            ((uint32_t *)(void *)from)[i] = bits;
    }
    CHECK(!rt->stream_open(&s) && !rt->take(&x, n * in) && !rt->take(&y, n * out));
    CHECK(!rt->copy(x, from, n * in, s));
    a.from = x;
    a.to = y;
    CHECK(!rt->launch(kernel, grid, (unsigned)kernel->threads, 32 * 33 * 4, &a, sizeof a, s));
    CHECK(!rt->copy(to, y, n * out, s) && !rt->stream_wait(s));
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            size_t at = (size_t)c * (size_t)rows + (size_t)r;
            uint32_t bits = half_out ? (uint32_t)((uint16_t *)(void *)to)[at] << 16
                                     : ((uint32_t *)(void *)to)[at];
            float got;

            memcpy(&got, &bits, 4);
            CHECK(got == (float)(((size_t)r * (size_t)columns + (size_t)c) % 256));
        }
    rt->give(x);
    rt->give(y);
    rt->stream_close(s);
    free(from);
    free(to);
}

TEST(weights_are_turned)
{
    twin_reset(1);
    CHECK(!cuda_rt()->use(0));
    turn(&k_turn_f32, 9 * 3, 70, false, false);
    turn(&k_turn_b16, 64, 33, true, true);
    turn(&k_turn_b16_to_f32, 1, 5, true, false);
}

/* Layers of one image channel, or few, are not cuDNN's. */
TEST(small_layers_are_our_own)
{
    struct cuda_conv c = {.h = 28, .w = 28, .c = 1, .oc = 64};

    CHECK(!cuda_dnn_suits(&c));
    c.c = 64;
    CHECK(cuda_dnn_suits(&c));
    c.oc = 50;
    CHECK(!cuda_dnn_suits(&c));
}
