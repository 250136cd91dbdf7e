/* cuDNN's plans for an H200 that is described, not here: every convolution of ResNet-18 at batch 256, in
 * every precision. Skipped where there is no cuDNN. */
#include "cuda/cuda_int.h"
#include "cuda/dnn/dnn.h"
#include "cuda/dnn/dnn_turn_args.h"
#include "tests/twin/twin.h"

#include "base/log.h"
#include "base/mem.h"
#include "net/net.h"
#include "tests/test.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Of 8 images, from 64 channels to 64, in tf32. */
static struct cuda_conv small_conv(int side, int k)
{
    int pad = k / 2;

    return (struct cuda_conv){.models = 1,
                              .n = 8,
                              .h = side,
                              .w = side,
                              .c = 64,
                              .oh = side,
                              .ow = side,
                              .oc = 64,
                              .k = k,
                              .stride = 1,
                              .pad_top = pad,
                              .pad_left = pad,
                              .pad_bottom = pad,
                              .pad_right = pad,
                              .math = CUDA_TF32};
}

/* What the library itself says of the engine that a plan took. */
static void has_the_notes(const struct cuda_dnn_plan *plan, enum cuda_math math, const char *name)
{
    const struct cuda_dnn_api *api = cuda_dnn_api(NULL);
    dnn_descriptor config = NULL, engine = NULL;
    int64_t n = 0, count = 0, index = -1;
    int notes[32];
    bool tensor_core = false;

    REQUIRE(!api->descriptor(DNN_ENGINECFG_DESCRIPTOR, &config));
    REQUIRE(!api->descriptor(DNN_ENGINE_DESCRIPTOR, &engine));
    CHECK(!api->get(plan->plan, DNN_EXECUTION_PLAN_ENGINE_CONFIG, DNN_TYPE_BACKEND_DESCRIPTOR, 1,
                    &n, &config));
    CHECK(!api->get(config, DNN_ENGINECFG_ENGINE, DNN_TYPE_BACKEND_DESCRIPTOR, 1, &n, &engine));
    CHECK(!api->get(engine, DNN_ENGINE_GLOBAL_INDEX, DNN_TYPE_INT64, 1, &n, &index));
    CHECK(!api->get(engine, DNN_ENGINE_NUMERICAL_NOTE, DNN_TYPE_NUMERICAL_NOTE, 32, &count, notes));
    for (int64_t i = 0; i < count; i++) {
        tensor_core = tensor_core || notes[i] == DNN_NOTE_TENSOR_CORE;
        if (notes[i] == DNN_NOTE_NONDETERMINISTIC)
            TEST_FAILED("%s: engine %lld has other bits each time", name, (long long)index);
    }
    if (tensor_core != (math != CUDA_FP32) || index != plan->engine)
        TEST_FAILED("%s: engine %lld (%lld) %s tensor cores", name, (long long)plan->engine,
                    (long long)index, tensor_core ? "has" : "has no");
    api->discard(engine);
    api->discard(config);
}

#define LOOKED_AT 8

/* All that might be timed, too. */
static void look_at_notes(const struct cuda_dnn_for *who, const struct cuda_conv *c,
                          enum cuda_dnn_pass pass, const char *name)
{
    struct cuda_dnn_plan plan[LOOKED_AT];
    int n = cuda_dnn_plans_make(plan, LOOKED_AT, who, c, pass, (size_t)256 << 20, NULL);

    CHECK(n >= 1);
    for (int i = 0; i < n; i++) {
        has_the_notes(&plan[i], c->math, name);
        cuda_dnn_plan_mark(&plan[i]);
        for (int j = 0; j < i; j++)
            if (strcmp(plan[i].mark, plan[j].mark) == 0)
                TEST_FAILED("%s: plans %d and %d have one mark, %s", name, j, i, plan[i].mark);
    }
    for (int i = 0; i < n; i++)
        cuda_dnn_plan_free(&plan[i]);
}

/* A plan is built, kept as text, and built again from the text. */
static void plan_twice(const struct cuda_dnn_for *who, const struct cuda_conv *c,
                       enum cuda_dnn_pass pass)
{
    struct cuda_dnn_plan plan, again;
    char name[CUDA_DNN_NAME], *json = NULL;
    size_t bytes = 0;
    struct err e = {0};

    cuda_dnn_name(c, pass, name);
    if (cuda_dnn_plan_make(&plan, who, c, pass, (size_t)256 << 20, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
        return;
    }
    CHECK(plan.usable >= 1 && plan.usable <= plan.candidates);
    look_at_notes(who, c, pass, name);
    if (cuda_dnn_plan_save(&plan, &json, &bytes, &e) != ERR_OK) {
        TEST_FAILED("%s: %s", name, e.text);
    } else if (cuda_dnn_plan_load(&again, who, json, bytes, &e) != ERR_OK) {
        TEST_FAILED("%s: %s", name, e.text);
    } else {
        CHECK(again.workspace == plan.workspace);
        cuda_dnn_plan_mark(&plan);
        cuda_dnn_plan_mark(&again);
        CHECK_STR(again.mark, plan.mark);
        CHECK_INT(strlen(plan.mark), 16);
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

/* The second GPU of a machine, whose plans' texts have its number. */
TEST(plans_of_like_gpus_have_one_mark)
{
    struct cuda_conv c = small_conv(4, 1);
    struct cuda_dnn_plan plan[2];
    char *second = mem_text(h200), *number = strchr(second, '0'), *json[2];
    struct cuda_dnn_for who[2] = {{0}, {0}};
    size_t bytes[2];
    struct err e = {0};

    *number = '1';
    if (!here(&who[0], &e)) {
        free(second);
        SKIP("cuDNN is not here");
    }
    REQUIRE_OK(cuda_dnn_describe(second, &who[1].device, &e));
    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(cuda_dnn_plan_make(&plan[i], &who[i], &c, 0, 0x10000000, &e));
        REQUIRE_OK(cuda_dnn_plan_save(&plan[i], &json[i], &bytes[i], &e));
        cuda_dnn_plan_mark(&plan[i]);
    }
    CHECK(bytes[0] != bytes[1] || memcmp(json[0], json[1], bytes[0]) != 0);
    CHECK_STR(plan[0].mark, plan[1].mark);
    for (int i = 0; i < 2; i++) {
        free(json[i]);
        cuda_dnn_plan_free(&plan[i]);
        forget(&who[i]);
    }
    free(second);
}

TEST(what_cannot_be_is_said)
{
    struct cuda_conv c = small_conv(9, 3);
    struct cuda_dnn_plan plan;
    struct cuda_dnn_for who;
    struct err e = {0};
    dnn_descriptor d;

    if (!here(&who, &e))
        SKIP("cuDNN is not here");
    c.h = 0;
    CHECK(cuda_dnn_plan_make(&plan, &who, &c, CUDA_DNN_FORWARD, (size_t)1 << 28, &e) == ERR_FAILED);
    CHECK_HAS(e.text, "forward-n8-0x9x64-9x9x64-3x3-s1-p1.1.1.1-tf32");
    CHECK(cuda_dnn_plan_load(&plan, &who, "{}", 2, &e) == ERR_FAILED);
    CHECK_HAS(e.text, "a plan that was kept");
    CHECK(cuda_dnn_describe("{\"deviceVer\": 900}", &d, &e) == ERR_FAILED);
    forget(&who);
}

/* ---- a library that is there in part ---- */

static void print_line(void *user, enum log_level level, const char *line)
{
    (void)user;
    (void)level;
    printf("   told: %s\n", line);
}

/* What the next test starts, in surroundings of its own. */
TEST(a_plan_or_why_there_is_none)
{
    struct cuda_conv c = small_conv(4, 1);
    struct cuda_dnn_plan plan = {0};
    struct cuda_dnn_for who;
    struct err e = {0};

    log_to(print_line, NULL);
    if (here(&who, &e) && cuda_dnn_plan_make(&plan, &who, &c, 0, 0x10000000, &e) == ERR_OK)
        printf("   there is a plan\n");
    else
        printf("   %s\n", e.text);
    log_to(NULL, NULL);
    cuda_dnn_plan_free(&plan);
    if (who.device)
        forget(&who);
}

/* `$made` in a new folder, which has lib64 for a toolkit and is gone in the end; out: what a process says
 * that is given `$cudnn` there and finds no others: the loader's own folders are all that it knows
 * besides. */
static void said_of(const char *made, const char *cudnn, char out[2000])
{
    char folder[] = "/tmp/chorus-cudnn-XXXXXX", self[512] = "", *command;
    size_t n = 0;
    FILE *f;

    out[0] = '\0';
    REQUIRE(mkdtemp(folder) && readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    command = mem_textf("cd %s && mkdir lib64 && %s && PATH=/nowhere HOME=/nowhere VIRTUAL_ENV= "
                        "CONDA_PREFIX= PYTHONPATH= CUDA_HOME=%s CHORUS_CUDNN=%s/%s "
                        "/lib64/ld-linux-x86-64.so.2 --inhibit-cache %s a_plan_or_why 2>&1; "
                        "echo \"ended with $?\"; rm -r %s",
                        folder, made, folder, folder, cudnn, self, folder);
    f = popen(command, "r");
    if (f) {
        n = fread(out, 1, 1999, f);
        pclose(f);
    }
    out[n] = '\0';
    free(command);
}

/* Where links to the files are, and then `$after`. */
static void said_after(const char *files, const char *after, char out[2000])
{
    char *made =
        mem_textf("ln -s %s . && cp --remove-destination \"$(readlink libcudnn.so.9)\" . && "
                  "%s",
                  files, after);

    said_of(made, "", out);
    free(made);
}

static bool in_folders_of_the_system(const char *pattern)
{
    glob_t g;
    bool found = glob(pattern, 0, NULL, &g) == 0;

    globfree(&g);
    return found;
}

/* Where a library lies that this process has open. */
static bool lies_at(const char *name, char out[4096])
{
    void *library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    struct link_map *map;
    bool found = library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0;

    snprintf(out, 4096, "%s", found ? map->l_name : "");
    if (library)
        dlclose(library);
    return found;
}

#define HALF(part)                                                                                 \
    "cp --remove-destination $(readlink " part ".so.9) . && truncate -s 100000 " part ".so.9"

TEST(what_is_there_in_part_is_left_in_words)
{
    static const struct {
        const char *after, *said;
    } cases[] = {
        {"rm libcudnn_graph.so.9", "is not usable without its part libcudnn_graph.so.9: "},
        {"rm libcublasLt.so.*", "libcudnn_graph.so.9 is not usable without libcublasLt.so.1"},
        {"rm libcudnn_engines_precompiled.so.9", "cuDNN "},
        {"rm libcudnn_engines_runtime_compiled.so.9", "cuDNN "},
        {"rm libcudnn_heuristic.so.9", "cuDNN "},
        {"truncate -s 20000 libcudnn.so.9", "libcudnn.so.9: its end is missing: 20000 bytes of "},
        {HALF("libcudnn_graph"), "/libcudnn_graph.so.9: its end is missing: 100000 bytes of "},
        {HALF("libcudnn_heuristic"), "/libcudnn_heuristic.so.9: its end is missing: 100000 "},
        {"f=$(echo libcublasLt*) && head -c 9999 $f >a && mv a $f",
         "libcudnn_graph.so.9 is not usable without libcublasLt.so.1"},
    };
    char said[2000], graph[4096], cublas[4096], *files;

#ifdef __SANITIZE_ADDRESS__
    SKIP("a sanitizer is not started by the loader");
#endif
    if (access("/lib64/ld-linux-x86-64.so.2", X_OK) != 0 || !cuda_dnn_api(NULL))
        SKIP("cuDNN is not here");
    if (in_folders_of_the_system("/usr/lib/*-linux-gnu/libcu[db]*"))
        SKIP("cuDNN's parts are in the system's folders, where they are found always");
    REQUIRE(lies_at("libcudnn_graph.so.9", graph));
    REQUIRE(lies_at("libcublasLt.so.13", cublas) || lies_at("libcublasLt.so.12", cublas));
    files = mem_textf("%.*s/libcudnn*.so.9 %s", (int)(strrchr(graph, '/') - graph), graph, cublas);
    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        said_after(files, cases[i].after, said);
        CHECK_HAS(said, "1 passed, 0 failed, 0 skipped\nended with 0");
        CHECK_HAS(said, cases[i].said);
        CHECK(!strstr(said, "there is a plan"));
    }
    said_after(files, "rm libcudnn_adv.so.9", said); /* which is not needed */
    CHECK_HAS(said, "there is a plan");
    said_of("true", "gone", said);
    CHECK_HAS(said, "told: CHORUS_CUDNN = ");
    CHECK_HAS(said, "/gone: there is no such file; convolutions are chorus's own\n");
    /* What cuDNN itself would not find: in the toolkit, and beside what is no more than a link. */
    said_after(files, "mv libcublasLt.so.* lib64", said);
    CHECK_HAS(said, "there is a plan");
    free(files);
    files = mem_textf("ln -s %.*s/libcudnn.so.9 linked.so && ln -s %s lib64",
                      (int)(strrchr(graph, '/') - graph), graph, cublas);
    said_of(files, "linked.so", said);
    CHECK_HAS(said, "there is a plan");
    free(files);
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
    c.k = 3;
    CHECK(cuda_dnn_suits(&c));
    c.oc = 50;
    CHECK(!cuda_dnn_suits(&c));
    /* Nor are kernels whose weights take too many blocks to be turned. */
    c = (struct cuda_conv){.h = 40, .w = 40, .c = 2048, .oc = 32, .k = 32};
    CHECK(!cuda_dnn_suits(&c));
    c.k = 31;
    CHECK(cuda_dnn_suits(&c));
}
