/* Sessions whose convolutions go through a twin of cuDNN: against the naive backend, repeated, captured
 * in graphs, with plans that are missing or kept, and with a library that fails. */
#include "base/io.h"
#include "cuda/dnn/dnn.h"
#include "tests/twin/cudnn.h"
#include "tests/parity/cuda_kit.h"

#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

static const char residual[] =
    "input auto\nconv 32 3 pad 1\nbatchnorm\nrelu\nresidual {\n conv 32 3 pad 1\n batchnorm\n relu\n"
    " conv 32 3 pad 1\n batchnorm\n}\nrelu\nresidual {\n conv 40 3 stride 2 pad 1\n batchnorm\n relu\n"
    " conv 40 3 pad 1 nobias\n batchnorm\n} shortcut {\n conv 40 1 stride 2\n}\nrelu\n"
    "globalavgpool\ndense 10\n";
static const struct net_shape residual_shape = {6, 6, 1};

static const char *cache; /* a folder */

static void begin(int gpus, bool dnn)
{
    setenv("CHORUS_CACHE", "off", 1);
    unsetenv("CHORUS_CUDNN");
    kit_twin(gpus);
    twin_dnn(dnn);
}

static void all_is_given_back(const char *what)
{
    struct twin_dnn_counts c = twin_dnn_counted();

    if (c.handles || c.descriptors)
        TEST_FAILED("%s: %d handles and %d descriptors are left", what, c.handles, c.descriptors);
    if (c.wrong[0])
        TEST_FAILED("%s: %s", what, c.wrong);
    if (twin_report()[0])
        TEST_FAILED("%s: %s", what, twin_report());
}

/* A pass that cuDNN has no plan for is our own kernels'. */
TEST(a_pass_without_a_plan)
{
    for (int off = 0; off < 3; off++) {
        struct kit b;
        struct twin_dnn_counts c;

        begin(1, true);
        twin_dnn_fail(TWIN_DNN_PLAN, off);
        REQUIRE(kit_open(&b, residual, residual_shape, 40, 6));
        kit_compare(&b, "a plan is missing", 2, &kit_tight);
        c = twin_dnn_counted();
        for (int pass = 0; pass < 3; pass++)
            CHECK((c.executed[pass] == 0) == (pass == off));
        all_is_given_back("a plan is missing");
        kit_close(&b);
    }
}

/* Two GPUs of one model, each with a handle of its own. */
TEST(two_gpus)
{
    struct kit b;

    begin(2, true);
    REQUIRE(kit_open(&b, residual, residual_shape, 40, 8));
    kit_devices(&b, 2);
    kit_compare(&b, "two GPUs", 2, &kit_tight);
    CHECK(twin_dnn_counted().executed[CUDA_DNN_WEIGHTS] > 0);
    all_is_given_back("two GPUs");
    kit_close(&b);
}

/* Without a library, or one that does not start, or one that is not wanted, or without memory for it,
 * our own kernels go on: the same bits. */
TEST(without_cudnn_our_own_kernels_go_on)
{
    struct kit b;
    uint64_t own = 0;

    for (int i = 0; i < 5; i++) {
        begin(1, i == 1 || i == 2 || i == 4);
        if (i == 2)
            twin_dnn_fail(TWIN_DNN_CREATE, 0);
        if (i == 1 || i == 3)
            setenv("CHORUS_CUDNN", "off", 1);
        REQUIRE(kit_open(&b, residual, residual_shape, 40, 4));
        b.plan.precision = SPEC_TF32;
        if (i == 4) {
            struct backend_estimate estimate;
            struct err e = {0};

            setenv("CHORUS_CUDNN", "off", 1);
            REQUIRE_OK(BE->estimate(&b.plan, &estimate, &e));
            unsetenv("CHORUS_CUDNN");
            size_t least = estimate.bytes[0];
            twin_limit_memory(least + ((size_t)64 << 20) + 1000); /* NVML sees these in use */
            REQUIRE_OK(BE->estimate(&b.plan, &estimate, &e));
            CHECK_STR(estimate.lacking, "");
            CHECK_INT(estimate.bytes[0], least);
            twin_limit_memory(least + 1000);
        }
        uint64_t hash = kit_run(&b, 8);
        if (i == 0)
            own = hash;
        CHECK(hash == own);
        CHECK_INT(twin_dnn_counted().executed[CUDA_DNN_FORWARD], 0);
        all_is_given_back("our own kernels");
        kit_close(&b);
    }
    unsetenv("CHORUS_CUDNN");
    begin(1, true);
    REQUIRE(kit_open(&b, residual, residual_shape, 40, 4));
    b.plan.precision = SPEC_TF32;
    CHECK(kit_run(&b, 8) != own); /* or nothing was compared above */
    kit_close(&b);
}

TEST(an_execution_that_fails_ends_in_words)
{
    for (long n = 1; n < 40; n += 13)
        for (int warm = 0; warm < 2; warm++) {
            struct backend_session *s = NULL;
            struct backend_step rows[8];
            struct err e = {0};
            struct kit b;
            double lr[4] = {0.05, 0.05, 0.05, 0.05};
            atomic_bool stop = false;
            size_t done = 0;

            begin(1, true);
            twin_quiet(true);
            cuda_hooks.cold = !warm;
            REQUIRE(kit_open(&b, residual, residual_shape, 40, 4));
            b.plan.precision = SPEC_BF16;
            twin_dnn_fail(TWIN_DNN_EXECUTE, n);
            struct backend_span span = {
                .count = 4, .order = b.orders, .lr = lr, .order_key = b.order_key, .stop = &stop};
            enum err_code code = BE->open(&b.plan, &s, &e);
            if (code == ERR_OK)
                code = BE->train(s, &span, rows, &done, &e);
            CHECK_INT(code, ERR_FAILED);
            CHECK_HAS(e.text,
                      "cuDNN cannot compute a convolution on GPU 0 (engine 11, status 5000): the "
                      "twin was told to fail; CHORUS_CUDNN=off takes chorus's own kernels");
            BE->close(s);
            CHECK_INT(twin_dnn_counted().handles, 0);
            CHECK_INT(twin_dnn_counted().descriptors, 0);
            CHECK_STR(twin_dnn_counted().wrong, "");
            twin_quiet(false);
            kit_close(&b);
        }
}

static void said_is(const char *said, const char *expected)
{
    if (strncmp(said, expected, strlen(expected)) != 0)
        TEST_FAILED("plans are said to be \"%s\", not \"%s\"", said, expected);
}

TEST(engines_are_named)
{
    static const enum spec_precision precisions[] = {SPEC_FP32, SPEC_BF16};
    static const char *const lines[] = {
        "cudnn 91900: 3/3/3/3 3/3/3/3 3/-/3/3 3/3/3/3 3/-/3/3",
        "cudnn 91900: 11/11/11/11 11/11/11/11 11/11/11/11 11/11/11/11 11/11/11/11",
    };

    for (int i = 0; i < 3; i++) {
        struct text t = {0};
        struct kit b;

        begin(1, i < 2);
        REQUIRE(kit_open(&b, residual, residual_shape, 40, 4));
        b.plan.precision = precisions[i % 2];
        struct backend_session *s = kit_session(BE, &b);
        REQUIRE(s);
        BE->plans(s, &t);
        said_is(text_str(&t), i < 2 ? lines[i] : "");
        CHECK_INT(t.n, i < 2 ? strlen(lines[i]) + strlen(" #12345678") : 0);
        BE->close(s);
        text_free(&t);
        kit_close(&b);
    }
}

/* What is kept in a cache under names that match, of libraries that match. */
static int kept_in(const char *where, const char *libraries, const char *names)
{
    char *pattern = mem_textf("%s/plans/%s/%s", where, libraries, names);
    glob_t g;
    int n = glob(pattern, 0, NULL, &g) ? 0 : (int)g.gl_pathc;

    globfree(&g);
    free(pattern);
    return n;
}

/* Plans are kept in the cache, and what is damaged there is made anew. */
TEST(plans_are_kept)
{
    char folder[] = "/tmp/chorus-plans-XXXXXX";
    uint64_t first = 0;
    char *spoil;

    REQUIRE(mkdtemp(folder));
    for (int i = 0; i < 3; i++) {
        struct kit b;
        struct twin_dnn_counts c;

        begin(1, true);
        setenv("CHORUS_CACHE", folder, 1);
        REQUIRE(kit_open(&b, residual, residual_shape, 40, 4));
        b.plan.precision = SPEC_TF32;
        uint64_t hash = kit_run(&b, 8);
        first = i == 0 ? hash : first;
        CHECK(hash == first);
        c = twin_dnn_counted();
        CHECK(kept_in(folder, "*-driver580-65-06-cudnn91900", "*") > 0);
        CHECK((c.made > 0) == (i != 1)); /* layers of one shape share them in a session too */
        CHECK(c.loaded > 0);
        kit_close(&b);
        if (i == 1) { /* one file is cut */
            spoil =
                mem_textf("for f in %s/plans/*/forward*; do printf '11\\n{' >\"$f\"; done", folder);
            CHECK(system(spoil) == 0);
            free(spoil);
        }
    }
    spoil = mem_textf("rm -r %s", folder);
    CHECK(system(spoil) == 0);
    free(spoil);
    setenv("CHORUS_CACHE", "off", 1);
}

/* What the session computes with plans kept in the folder, or in none. */
static uint64_t run_of(const char *net, const char *folder)
{
    struct kit b;
    uint64_t hash;

    begin(1, true);
    setenv("CHORUS_CACHE", folder, 1);
    if (!kit_open(&b, net, (struct net_shape){7, 7, 1}, 40, 4)) {
        TEST_FAILED("it cannot be opened: %s", net);
        return 0;
    }
    b.plan.precision = SPEC_TF32;
    hash = kit_run(&b, 8);
    all_is_given_back(net);
    kit_close(&b);
    setenv("CHORUS_CACHE", "off", 1);
    return hash;
}

/* Convolutions that differ in what lies behind the image alone, or in what comes out, in one cache and
 * in one network. */
TEST(a_kept_plan_is_of_its_own_convolution_alone)
{
    static const char *const nets[] = {
        "input auto\nconv 32 1\nrelu\nconv 32 2 same\nrelu\nglobalavgpool\ndense 10\n",
        "input auto\nconv 32 1\nrelu\nconv 32 2\nrelu\nglobalavgpool\ndense 10\n",
        "input auto\navgpool 2\nconv 32 1\nconv 32 2 same\nrelu\nconv 32 2\ndense 10\n",
        "input auto\nconv 32 2\nrelu\nconv 32 3 same stride 2\nrelu\nglobalavgpool\ndense 10\n",
        "input auto\nconv 32 2\nrelu\nconv 32 3 stride 2\nrelu\nglobalavgpool\ndense 10\n",
    };
    char folder[] = "/tmp/chorus-plans-XXXXXX", *remove;

    REQUIRE(mkdtemp(folder));
    for (size_t i = 0; i < MEM_COUNT(nets); i++)
        if (run_of(nets[i], folder) != run_of(nets[i], "off"))
            TEST_FAILED("other bits with the plans that were kept: %s", nets[i]);
    remove = mem_textf("rm -r %s", folder);
    CHECK(system(remove) == 0);
    free(remove);
}

static void plans_of(struct kit *b, bool tune, int slow, char out[256])
{
    struct backend_session *s;
    struct text t = {0};

    twin_dnn_slow(slow, 3);
    setenv("CHORUS_CACHE", cache, 1);
    b->plan.tune = tune;
    s = kit_session(BE, b);
    setenv("CHORUS_CACHE", "off", 1);
    out[0] = 0;
    if (!s)
        return;
    BE->plans(s, &t);
    snprintf(out, 256, "%s", text_str(&t));
    text_free(&t);
    BE->close(s);
    all_is_given_back("plans");
}

static const char alike[] = "input auto\nconv 32 1\nrelu\nconv 32 1\nrelu\nconv 32 1\ndense 10\n";

/* A cache of its own, where nothing is kept yet. */
static bool open_alike(struct kit *b, char *folder)
{
    cache = mkdtemp(folder);
    begin(1, true);
    if (!cache || !kit_open(b, alike, (struct net_shape){4, 3, 1}, 40, 4))
        return false;
    b->plan.precision = SPEC_TF32;
    return true;
}

static void close_alike(struct kit *b)
{
    char *remove = mem_textf("rm -r %s", cache);

    CHECK(system(remove) == 0);
    free(remove);
    kit_close(b);
}

static int kept(const char *names)
{
    return kept_in(cache, "*", names);
}

/* Only who asks for it has plans timed; whoever comes later takes them, and says so. cuDNN names 11
 * first. */
TEST(plans_that_are_tuned)
{
    char folder[] = "/tmp/chorus-plans-XXXXXX", said[256];
    struct kit b;

    REQUIRE(open_alike(&b, folder));
    plans_of(&b, false, 11, said);
    said_is(said, "cudnn 91900: 11/11/11/11");
    begin(1, true);
    plans_of(&b, true, 11, said);
    said_is(said, "cudnn 91900 tuned: 13/13/13/13");
    begin(1, true);
    plans_of(&b, false, 11, said);
    said_is(said, "cudnn 91900 tuned: 13/13/13/13");
    CHECK_INT(twin_dnn_counted().made, 0); /* all are kept ones */

    /* A run that goes on has the kind that it had. */
    static const struct {
        const char *had, *has;
    } goes_on[] = {{"cudnn 91900: 11/11/11/11", "cudnn 91900: 11/11/11/11"},
                   {"cudnn 91900 tuned: 13/13/13/13", "cudnn 91900 tuned: 13/13/13/13"},
                   {"", ""}};
    for (size_t i = 0; i < MEM_COUNT(goes_on); i++) {
        begin(1, true);
        b.plan.plans = goes_on[i].had;
        plans_of(&b, false, 11, said);
        if (goes_on[i].has[0])
            said_is(said, goes_on[i].has);
        else
            CHECK_STR(said, "");
    }
    b.plan.plans = NULL;

    b.plan.batch = 5; /* another shape is another plan */
    begin(1, true);
    plans_of(&b, false, 11, said);
    said_is(said, "cudnn 91900 tuned: 11/11/11/13");
    close_alike(&b);
}

/* As it would have been kept, if its checksum is made anew. */
static void change_kept(const char *how, const char *names, bool sum)
{
    char *command = mem_textf("for f in %s/plans/*/%s; do sed -i '%s' \"$f\" && if %s; then "
                              "{ sed 1d \"$f\" | sha256sum | cut -c-64 && sed 1d \"$f\"; } >a && "
                              "mv a \"$f\" || exit; fi; done",
                              cache, names, how, sum ? "true" : "false");
    char *there = mem_textf("cd %s && %s", cache, command);

    CHECK(system(there) == 0);
    free(there);
    free(command);
}

/* cuDNN builds a plan of whatever its text is of. */
TEST(a_kept_plan_that_is_not_what_was_kept_is_made_anew)
{
    static const struct {
        const char *names, *how;
        bool sum;
        int made; /* of the four */
    } cases[] = {
        {"*", "", false, 0},
        {"*", "", true, 0}, /* or what follows would prove nothing */
        {"weights*", "s/, 0\\]}$/, 1]}/", false, 1},
        {"weights*", "s/^11$/13/", false, 1},
        {"weights*", "2s/weights/forward/", true, 1},
        {"weights*", "2s/-cudnn91900/-cudnn91800/", true, 1},
        {"*", "1s/[0-9]/a/", false, 4},
        {"*", "1s/.$//", false, 4},
        {"*", "2,$d", false, 4},
        {"*", "2,$d", true, 4},
    };
    char folder[] = "/tmp/chorus-plans-XXXXXX", first[256], said[256], *copy;
    long tries; /* until one is not too large */
    struct kit b;

    REQUIRE(open_alike(&b, folder));
    plans_of(&b, false, 11, first);
    CHECK_INT(kept("*"), 4);
    tries = twin_dnn_counted().made / 4;
    CHECK(tries > 0);
    for (size_t i = 0; i < MEM_COUNT(cases) + 1; i++) {
        if (i < MEM_COUNT(cases)) {
            change_kept(cases[i].how, cases[i].names, cases[i].sum);
        } else { /* one file under another's name */
            copy = mem_textf("cd %s/plans/* && cp forward-n4-* $(echo input-n4-*)", folder);
            CHECK(system(copy) == 0);
            free(copy);
        }
        for (int again = 0; again < 2; again++) {
            begin(1, true);
            plans_of(&b, false, 11, said);
            CHECK_STR(said, first);
            CHECK_INT(twin_dnn_counted().made,
                      again ? 0 : tries * (i < MEM_COUNT(cases) ? cases[i].made : 1));
        }
    }
    begin(1, true); /* of those that were picked by their times: the first choice is taken */
    plans_of(&b, true, 11, said);
    change_kept("s/, 0\\]}$/, 1]}/", "*.tuned", false);
    begin(1, true);
    plans_of(&b, false, 11, said);
    CHECK_STR(said, first);
    close_alike(&b);
}

/* An engine computes in many ways, and its number does not tell which: what is said differs. */
TEST(plans_of_one_engine_that_differ_are_told_apart)
{
    static const char *const changes[] = {"s/^11$/11/", "s/, 0\\]}$/, 1]}/"};
    char folder[] = "/tmp/chorus-plans-XXXXXX", first[256], said[256];
    struct kit b;

    REQUIRE(open_alike(&b, folder));
    plans_of(&b, false, 11, first);
    for (int i = 0; i < 2; i++) {
        change_kept(changes[i], "weights*", true);
        begin(1, true);
        plans_of(&b, false, 11, said);
        CHECK_INT(twin_dnn_counted().made, 0);
        said_is(said, "cudnn 91900: 11/11/11/11 11/11/11/11 #");
        CHECK((strcmp(said, first) == 0) == (i == 0));
    }
    begin(2, true); /* the same on both: the GPU's number is in their text, too */
    b.plan.devices = b.plan.all_devices = 2;
    plans_of(&b, false, 11, said);
    CHECK(!strchr(said, '|'));
    close_alike(&b);
}

/* The quickest of those that can be timed. */
TEST(a_plan_that_cannot_be_timed_is_not_the_quickest)
{
    char folder[] = "/tmp/chorus-plans-XXXXXX", said[256];
    struct kit b;

    REQUIRE(open_alike(&b, folder));
    twin_dnn_fail(TWIN_DNN_EXECUTE, 1);
    plans_of(&b, true, 13, said);
    said_is(said, "cudnn 91900 tuned: 13/11/11/11 13/11/11/11");
    close_alike(&b);
}

/* Without memory to time them in the first is taken, and not called tuned. */
TEST(what_is_not_timed_is_not_kept_as_tuned)
{
    char folder[] = "/tmp/chorus-plans-XXXXXX", said[256];
    struct kit b;

    REQUIRE(open_alike(&b, folder));
    twin_fail("take", 1, CUDA_RT_NOMEM);
    plans_of(&b, true, 11, said);
    said_is(said, "cudnn 91900 tuned: 11/13/13/13 11/13/13/13");
    CHECK_INT(kept("*"), 4);
    CHECK_INT(kept("*.tuned"), 3);
    CHECK_INT(kept("forward-n4-*.tuned"), 0);
    CHECK_INT(kept("forward-n4-*"), 1);

    begin(1, true); /* what was tuned before is better than nothing */
    plans_of(&b, true, 11, said);
    said_is(said, "cudnn 91900 tuned: 13/13/13/13");
    begin(1, true);
    twin_fail("take", 1, CUDA_RT_NOMEM);
    plans_of(&b, true, 11, said);
    said_is(said, "cudnn 91900 tuned: 13/13/13/13");
    close_alike(&b);
}

TEST(tuning_without_memory_or_choice)
{
    struct cuda_dnn_plan plan[2] = {{.workspace = 0}, {.workspace = (size_t)1 << 40}};
    struct cuda_conv c = {.models = 1,
                          .n = 2,
                          .h = 4,
                          .w = 4,
                          .c = 32,
                          .oh = 4,
                          .ow = 4,
                          .oc = 32,
                          .k = 1,
                          .stride = 1,
                          .math = CUDA_TF32};
    struct cuda_stream *s = NULL;
    struct cuda_dnn_for who = {0};

    begin(1, true);
    CHECK_INT(cuda_rt()->stream_open(&s), 0);
    CHECK_INT(cuda_dnn_quickest(&who, s, 1000, &c, plan, 2), CUDA_DNN_UNTIMED);
    CHECK_INT(cuda_dnn_quickest(&who, s, 1000, &c, plan, 1), CUDA_DNN_UNTIMED);
    CHECK_INT(cuda_rt()->stream_close(s), 0);
    CHECK_INT(twin_counted().blocks, 0);
}

/* The last test here: what it takes stays taken. */
TEST(a_gpu_that_hangs_ends_the_tuning)
{
    static const int after[] = {1, 2, 30, 150};

    for (size_t i = 0; i < MEM_COUNT(after); i++) {
        char folder[] = "/tmp/chorus-plans-XXXXXX";
        struct backend_session *s = NULL;
        struct err e = {0};
        struct kit b;

        REQUIRE(open_alike(&b, folder));
        cuda_hooks.limit_ms = 300;
        twin_dnn_fail(TWIN_DNN_HANG, after[i]);
        b.plan.tune = true;
        setenv("CHORUS_CACHE", cache, 1);
        CHECK_INT(BE->open(&b.plan, &s, &e), ERR_STUCK);
        setenv("CHORUS_CACHE", "off", 1);
        CHECK_HAS(e.text, "GPU 0 did not answer for 0.3 s");
        CHECK_HAS(e.text, "this process can compute no more on that GPU");
        CHECK_STR(twin_report(), "");
        BE->close(s);
        CHECK_STR(twin_report(), "");
        close_alike(&b);
    }
}
