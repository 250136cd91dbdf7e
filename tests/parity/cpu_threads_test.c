/* The CPU backend's threads: how often they wait for each other in a step, that a span which is
 * stopped anywhere is a whole number of steps, and that no step depends on who is late. The thread
 * sanitizer watches this program too, so the nets are small. */
#include "tests/parity/made_run.h"

#include "base/clock.h"
#include "cpu/session_int.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <time.h>

/* Its first dense layer has so many weights that threads share out its units. */
#define SHARED                                                                                     \
    "input auto\nconv 3 3 same\nrelu\nmaxpool 2\ndense 1800\nrelu\ndense 8\ntanh\ndense classes\n"
/* The same at the end of a net, where the loss reads what all threads wrote. */
#define LAST "input auto\nconv 8 3 same\ntanh\ndense 512\ntanh\ndense 512\nrelu\n"
#define NORMED                                                                                     \
    "input auto\nconv 5 3 same\nbatchnorm\nrelu\nresidual {\nconv 6 3 stride 2 pad 1\nbatchnorm\n" \
    "} shortcut {\nconv 6 1 stride 2\n}\nrelu\nglobalavgpool\ndense classes\n"
/* And one whose gradient comes image by image, in front of one whose comes unit by unit. */
#define MIXED "input auto\ndense 700\nrelu\ndense 640\ndense classes\n"
/* No thread waits for another inside a step. */
#define APART                                                                                      \
    "input auto\nconv 4 3 same\nrelu\nmaxpool 2\ndropout 0.3\nconv 6 3\ntanh\ndense 40\nrelu\n"    \
    "dropout 0.2\ndense classes\n"
static const struct net_shape small = {14, 14, 1}, large = {28, 28, 1};

/* ---- how many images a group has ---- */

static size_t lanes_of(size_t batch, int threads, int members)
{
    struct made_run r;
    size_t lanes = 0;

    if (!made_plan(&r, "input auto\ndense classes\n", small, batch, 1))
        return 0;
    r.plan.threads = threads;
    r.plan.members = members;
    r.plan.mode = members > 1 ? SPEC_ENSEMBLE : SPEC_DATA_PARALLEL;
    if (made_open(&r, &cpu_backend)) {
        lanes = r.s->lanes;
        made_close(&r, &cpu_backend);
    }
    return lanes;
}

/* Of eight where threads take less time with them: few images leave few lanes empty, and every thread
 * has some. With AVX-512 that hangs on the processor. */
TEST(groups_are_as_large_as_the_batch_wants)
{
    static const struct {
        size_t batch;
        int threads, members;
        size_t lanes, lanes_avx2;
    } cases[] = {
        {1, 1, 1, 8, 8},     {8, 1, 1, 8, 8},     {9, 1, 1, 16, 16},
        {16, 1, 1, 16, 16},  {17, 1, 1, 16, 8},   {24, 1, 1, 16, 8},
        {25, 1, 1, 16, 16},  {256, 1, 1, 16, 16}, {3, 2, 1, 8, 8},
        {9, 2, 1, 8, 8},     {16, 2, 1, 8, 8},    {17, 2, 1, 16, 16},
        {32, 2, 1, 16, 16},  {48, 2, 1, 16, 8},   {64, 2, 1, 16, 16},
        {256, 2, 1, 16, 16}, {64, 8, 1, 8, 8},    {128, 8, 1, 16, 16},
        {16, 2, 3, 16, 16},  {16, 2, 4, 16, 16}, /* each thread has models of its own, with all images */
        {16, 4, 3, 8, 8},    {64, 2, 3, 16, 16},
    };
    for (int avx2 = 0; avx2 < 2; avx2++) {
        setenv("CHORUS_ISA", avx2 ? "avx2" : "avx512", 1);
        const struct cpu_kernels *k = cpu_kernels_choose(SPEC_FP32);
        for (size_t i = 0; k && i < MEM_COUNT(cases); i++) {
            size_t want = avx2 ? cases[i].lanes_avx2 : cpu_halves_pay() ? cases[i].lanes : 16;
            size_t lanes = lanes_of(cases[i].batch, cases[i].threads, cases[i].members);
            if (lanes != want)
                TEST_FAILED("batch %zu on %d threads, %d members, %s: groups of %zu, not %zu",
                            cases[i].batch, cases[i].threads, cases[i].members, k->name, lanes,
                            want);
        }
    }
    unsetenv("CHORUS_ISA");
}

/* ---- units for some threads only ---- */

/* Many inputs and ten units: threads behind the first have none, and the step is the same. */
TEST(a_shared_layer_of_few_units)
{
    static const struct net_shape wide = {164, 164, 1};
    static const char *const isas[] = {"avx512", "avx2", "base"};
    static const size_t batches[] = {3, 32};

    for (size_t i = 0; i < 2 * MEM_COUNT(isas); i++) {
        float *params[2] = {NULL, NULL};
        setenv("CHORUS_ISA", isas[i / 2], 1);
        for (int many = 0; many < 2 && cpu_kernels_choose(SPEC_FP32); many++) {
            struct made_run r;
            REQUIRE(made_plan(&r, "input auto\ndense classes\n", wide, batches[i % 2], 2));
            r.plan.threads = many ? 3 : 1;
            REQUIRE(made_open(&r, &cpu_backend));
            CHECK(r.s->layer[0].units && made_train(&r, &cpu_backend, 2));
            params[many] = made_params(&r, &cpu_backend, 0);
            if (many)
                CHECK(!memcmp(params[0], params[1], r.net->parameter_count * sizeof(float)));
            made_close(&r, &cpu_backend);
        }
        free(params[0]);
        free(params[1]);
    }
    unsetenv("CHORUS_ISA");
}

/* ---- how many barriers ---- */

static unsigned phases(const struct backend_session *s)
{
    unsigned all = 0;

    for (int t = 0; t < s->teams; t++)
        all += atomic_load(&s->team[t].phase);
    return all;
}

/* Barriers of one step, without those around a span. */
static unsigned barriers(struct made_run *r)
{
    unsigned from = phases(r->s), once, thrice;

    CHECK_INT(made_train(r, &cpu_backend, 1), 1);
    once = phases(r->s) - from;
    CHECK_INT(made_train(r, &cpu_backend, 3), 3);
    thrice = phases(r->s) - from - once;
    CHECK((thrice - once) % 2 == 0);
    return (thrice - once) / 2;
}

static void count_barriers(const char *name, size_t batch, unsigned most)
{
    struct made_run r;

    if (!made_plan(&r, name, large, batch, 4) || !made_open(&r, &cpu_backend))
        return;
    unsigned n = barriers(&r);
    printf("  %s: %u barriers a step\n", strchr(name, '\n') ? "made.net" : name, n);
    if (n > most)
        TEST_FAILED("%u barriers a step, more than %u", n, most);
    CHECK(n >= 2); /* all gradients before the update, all weights before the next step */
    made_close(&r, &cpu_backend);
}

/* All gradients; all weights; all of them packed for convolutions. */
TEST(three_barriers_where_every_thread_has_its_own_images)
{
    count_barriers("lenet", 32, 3);
}

/* And around each layer whose units are shared out: what it reads is whole, and what it wrote. */
TEST(barriers_of_shared_dense_layers)
{
    count_barriers("cnn", 32, 8);
    count_barriers("mlp", 32, 8);
}

/* And around the sums of a batch norm, of which the net has two. */
TEST(barriers_of_batch_norm)
{
    count_barriers(NORMED, 32, 3 + 2 * 4);
}

TEST(members_with_threads_of_their_own_never_wait)
{
    static const char *const nets[] = {"lenet", SHARED, NORMED};

    for (size_t i = 0; i < 2 * MEM_COUNT(nets); i++) {
        struct made_run r;
        REQUIRE(made_plan(&r, nets[i / 2], large, 16, 4));
        r.plan.mode = SPEC_ENSEMBLE;
        r.plan.members =
            i % 2 ? 5 : 4; /* a single group leaves a thread idle for longer than five models do */
        REQUIRE(made_open(&r, &cpu_backend));
        CHECK_INT(r.s->teams, 2);
        CHECK_INT(barriers(&r), 0);
        CHECK_INT(phases(r.s), 0);
        made_close(&r, &cpu_backend);
    }
}

/* ---- whatever the threads' order, the numbers are the same ---- */

struct late { /* sets a run's stop flag after some time */
    struct made_run *r;
    uint64_t ns;
    atomic_bool done;
};

static void *stop_later(void *user)
{
    struct late *l = user;
    uint64_t end = clock_ns() + l->ns;

    while (clock_ns() < end && !atomic_load(&l->done))
        nanosleep(&(struct timespec){0, 20000}, NULL);
    atomic_store(&l->r->stop, true);
    return NULL;
}

static bool same_params(struct made_run *a, struct made_run *b)
{
    bool same = true;

    for (int m = 0; m < a->plan.members; m++) {
        float *x = made_params(a, &cpu_backend, m), *y = made_params(b, &cpu_backend, m);
        same = same && !memcmp(x, y, a->net->parameter_count * sizeof *x);
        free(x);
        free(y);
    }
    return same;
}

/* Two runs of the same plan make the same steps, one of them stopped again and again wherever it may
 * be; then their weights are the same to the bit. */
static void compare_stopped_of(size_t batch, const char *text, struct net_shape shape,
                               enum spec_mode mode, int devices, int members, int threads)
{
    struct made_run calm, hurried;
    size_t batches = 6, stops = 0;
    uint64_t step_ns;

    for (int k = 0; k < 2; k++) {
        struct made_run *r = k ? &hurried : &calm;
        REQUIRE(made_plan(r, text, shape, batch, batches));
        r->plan.mode = mode;
        r->plan.devices = devices;
        r->plan.members = members;
        r->plan.threads = threads;
        r->plan.optimizer = SPEC_MOMENTUM;
        REQUIRE(made_open(r, &cpu_backend));
    }
    step_ns = clock_ns();
    CHECK_INT(made_train(&calm, &cpu_backend, batches), batches);
    step_ns = (clock_ns() - step_ns) / batches;
    for (int turn = 0; hurried.step < batches && turn < 200; turn++) {
        /* from nothing to two steps, in steps of a thirteenth; at last whatever it takes by now */
        struct late l = {.r = &hurried,
                         .ns = turn < 100 ? step_ns * (uint64_t)(turn * 5 % 27) / 13
                                          : 4 * step_ns << (turn - 100) / 10};
        pthread_t thread;

        atomic_store(&hurried.stop, false);
        REQUIRE(pthread_create(&thread, NULL, stop_later, &l) == 0);
        size_t want = batches - hurried.step, done = made_train(&hurried, &cpu_backend, want);
        stops += done < want;
        atomic_store(&l.done, true);
        pthread_join(thread, NULL);
    }
    CHECK_INT(hurried.step, batches);
    if (stops == 0)
        test_skipped = "no stop came in time: the machine is busy";
    CHECK(same_params(&calm, &hurried));
    made_close(&calm, &cpu_backend);
    made_close(&hurried, &cpu_backend);
}

static void compare_stopped(const char *text, struct net_shape shape, enum spec_mode mode,
                            int devices, int members, int threads)
{
    compare_stopped_of(48, text, shape, mode, devices, members, threads);
}

TEST(stopped_on_2_threads)
{
    compare_stopped(SHARED, small, SPEC_DATA_PARALLEL, 1, 1, 2);
}

TEST(stopped_on_3_threads_and_4_devices)
{
    compare_stopped(SHARED, small, SPEC_DATA_PARALLEL, 4, 1, 3);
}

TEST(stopped_with_batch_norm_on_3_threads_and_2_devices)
{
    compare_stopped(NORMED, small, SPEC_DATA_PARALLEL, 2, 1, 3);
}

TEST(stopped_ensemble_whose_members_have_their_own_threads)
{
    compare_stopped(SHARED, small, SPEC_ENSEMBLE, 1, 4, 2);
}

TEST(stopped_ensemble_whose_threads_have_one_member_and_two)
{
    compare_stopped(NORMED, small, SPEC_ENSEMBLE, 3, 3, 2);
}

TEST(stopped_ensemble_whose_threads_share_each_member)
{
    compare_stopped_of(64, NORMED, small, SPEC_ENSEMBLE, 3, 3, 2);
}

TEST(stopped_with_the_loss_behind_a_shared_layer)
{
    compare_stopped(LAST, small, SPEC_DATA_PARALLEL, 1, 1, 2);
}

TEST(stopped_between_gradients_by_image_and_by_unit)
{
    compare_stopped(MIXED, large, SPEC_DATA_PARALLEL, 1, 1, 2);
}

/* Of few images the threads share out the blocks that pictures are cut into. */
TEST(stopped_where_threads_share_few_images)
{
    double meet = cpu_blocks_meet;

    cpu_blocks_meet = -1e12; /* share, whatever it costs */
    for (int threads = 1; threads <= 3; threads++) {
        struct made_run r;
        REQUIRE(made_plan(&r, SHARED, small, 6, 1));
        r.plan.threads = threads;
        REQUIRE(made_open(&r, &cpu_backend));
        CHECK(r.s->dealt == (threads > 1));
        made_close(&r, &cpu_backend);
        compare_stopped_of(6, SHARED, small, SPEC_DATA_PARALLEL, 1, 1, threads);
        compare_stopped_of(6, NORMED, small, SPEC_DATA_PARALLEL, 2, 1, threads);
    }
    compare_stopped_of(6, SHARED, small, SPEC_ENSEMBLE, 3, 3, 2);
    cpu_blocks_meet = meet;
}

/* And with memory spared, where each thread has its numbers in its own part: the same bytes. */
TEST(few_images_with_memory_spared)
{
    double meet = cpu_blocks_meet;
    size_t from = cpu_spare_from;
    struct made_run r[2];

    cpu_blocks_meet = -1e12; /* share, whatever it costs */
    for (int spare = 0; spare < 2; spare++) {
        cpu_spare_from = spare ? 0 : from;
        REQUIRE(made_plan(&r[spare], NORMED, small, 6, 4) && made_open(&r[spare], &cpu_backend));
        CHECK(r[spare].s->dealt && r[spare].s->spare == (spare == 1));
        CHECK_INT(made_train(&r[spare], &cpu_backend, 4), 4);
    }
    CHECK(same_params(&r[0], &r[1]));
    made_close(&r[0], &cpu_backend);
    made_close(&r[1], &cpu_backend);
    cpu_blocks_meet = meet;
    cpu_spare_from = from;
}

/* ---- pieces of a batch ---- */

/* Kernels, and how far numbers of later steps may lie apart: sums over images are taken in another order. */
static const struct way {
    const char *isa;
    enum spec_precision precision;
    double apart;
} ways[] = {
    {"base", SPEC_FP32, 1e-5},           {"avx2", SPEC_FP32, 1e-5},
    {"avx512", SPEC_FP32, 1e-5},         {"amx-emulated", SPEC_BF16, 1e-2},
    {"avx512bf16-dot", SPEC_BF16, 1e-2}, {"avx512bf16", SPEC_BF16, 1e-2},
};

/* Steps with pieces of so many groups, 0: of all. */
static bool open_pieces(struct made_run *r, const struct way *way, int piece, size_t batch,
                        int devices, int members, int threads)
{
    cpu_piece_wanted = piece ? piece : INT_MAX;
    bool good = made_plan(r, APART, small, batch, 4);
    r->plan.mode = members > 1 ? SPEC_ENSEMBLE : SPEC_DATA_PARALLEL;
    r->plan.devices = devices;
    r->plan.members = members;
    r->plan.threads = threads;
    r->plan.optimizer = SPEC_MOMENTUM;
    r->plan.precision = way->precision;
    good = good && made_open(r, &cpu_backend);
    cpu_piece_wanted = 0;
    return good;
}

static void compare_pieces(const struct way *way, int piece, size_t batch, int devices, int members,
                           int threads)
{
    struct made_run whole, cut;

    REQUIRE(open_pieces(&whole, way, 0, batch, devices, members, threads));
    REQUIRE(open_pieces(&cut, way, piece, batch, devices, members, threads));
    CHECK_INT(whole.s->piece, 0);
    CHECK_INT(cut.s->piece, piece);
    for (int step = 0; step < 4; step++) {
        CHECK_INT(made_train(&whole, &cpu_backend, 1), 1);
        CHECK_INT(made_train(&cut, &cpu_backend, 1), 1);
        for (int u = 0; u < backend_units(&cut.plan); u++) { /* the first: the same sums */
            double a = whole.rows[u].loss_sum, b = cut.rows[u].loss_sum;
            if (step ? !(fabs(a - b) <= way->apart * fabs(a)) : a != b)
                TEST_FAILED("%s, pieces of %d, batch %zu, %d devices, %d members, %d threads: step "
                            "%d loses %.9g, not %.9g",
                            way->isa, piece, batch, devices, members, threads, step, b, a);
        }
    }
    for (int m = 0; m < members; m++) {
        float *a = made_params(&whole, &cpu_backend, m), *b = made_params(&cut, &cpu_backend, m);
        for (size_t i = 0; i < cut.net->parameter_count; i++) {
            if (!(fabs((double)a[i] - (double)b[i]) <= way->apart))
                TEST_FAILED("%s, pieces of %d: weight %zu is %.9g, not %.9g", way->isa, piece, i,
                            (double)b[i], (double)a[i]);
        }
        free(a);
        free(b);
    }
    made_close(&whole, &cpu_backend);
    made_close(&cut, &cpu_backend);
}

TEST(pieces_of_a_batch_make_the_same_step)
{
    for (size_t i = 0; i < MEM_COUNT(ways); i++) {
        const struct way *way = &ways[i];
        setenv("CHORUS_ISA", way->isa, 1);
        if (strcmp(cpu_backend.isa(), way->isa) || (way->precision == SPEC_BF16 && !cpu_has_bf16()))
            continue;
        for (int threads = 1; threads <= 3; threads++) {
            for (int piece = 1; piece <= 3; piece++) /* of 13 groups, the last with 8 images */
                compare_pieces(way, piece, 200, 1, 1, threads);
        }
        compare_pieces(way, 2, 208, 8, 1, 2);
        compare_pieces(way, 2, 100, 1, 3, 2);
        compare_pieces(way, 2, 100, 1, 4, 2);
    }
    unsetenv("CHORUS_ISA");
}

/* A large batch is cut without being told to, where no thread waits for another; not where one does. */
TEST(large_batches_go_piece_by_piece)
{
    static const char *const others[] = {SHARED, NORMED, MIXED};
    struct made_run r;

    REQUIRE(made_plan(&r, APART, small, 4096, 1) && made_open(&r, &cpu_backend));
    CHECK(r.s->piece >= 8 && r.s->piece < 128);
    made_close(&r, &cpu_backend);
    for (size_t i = 0; i < MEM_COUNT(others); i++) {
        cpu_piece_wanted = 1;
        REQUIRE(made_plan(&r, others[i], small, 256, 1) && made_open(&r, &cpu_backend));
        cpu_piece_wanted = 0;
        CHECK_INT(r.s->piece, 0);
        made_close(&r, &cpu_backend);
    }
}

TEST(stopped_between_pieces)
{
    cpu_piece_wanted = 2;
    compare_stopped_of(200, APART, small, SPEC_DATA_PARALLEL, 1, 1, 2);
    compare_stopped_of(200, APART, small, SPEC_ENSEMBLE, 3, 3, 2);
    cpu_piece_wanted = 0;
}

/* Members on threads of their own may be some steps further when one diverges, no more than that: the
 * rows in front are whole, and the step is the one at which one thread ends the span. */
TEST(one_member_diverges)
{
    struct backend_step first[2][4];

    for (int threads = 1; threads <= 2; threads++) {
        struct made_run r;
        struct err e = {0};
        REQUIRE(made_plan(&r, SHARED, small, 32, 8));
        r.plan.mode = SPEC_ENSEMBLE;
        r.plan.members = 4;
        r.plan.threads = threads;
        REQUIRE(made_open(&r, &cpu_backend));
        float *param = made_params(&r, &cpu_backend, 1);
        param[0] = NAN;
        CHECK(cpu_backend.state(r.s, 1, BACKEND_PARAMS, true, param, &e) == ERR_OK);
        size_t done = made_train(&r, &cpu_backend, 8);
        CHECK(threads == 1 ? done == 1 : done >= 1);
        for (size_t i = 0; i < 4 * done; i++) {
            CHECK(r.rows[i].not_finite == (i % 4 == 1));
            CHECK(isfinite(r.rows[i].loss_sum) == (i % 4 != 1));
        }
        memcpy(first[threads - 1], r.rows, sizeof first[0]);
        free(param);
        made_close(&r, &cpu_backend);
    }
    for (int m = 0; m < 4; m++)
        CHECK(m == 1 || (first[0][m].loss_sum == first[1][m].loss_sum &&
                         first[0][m].right == first[1][m].right));
}
