/* Sessions of the CUDA backend on several GPUs of its twin, and what they do with GPUs beside steps. */
#include "tests/parity/cuda_kit.h"

#include "tests/twin/nccl.h"

static const char small[] = "input auto\nconv 5 3\nrelu\nmaxpool 2\nbatchnorm\ndropout 0.2\n"
                            "dense 17\ntanh\ndense 10\n";
static const char plain[] = "input auto\ndense 12\nrelu\ndense 10\n";
static const struct net_shape shape = {9, 8, 1};

static void step_hash(struct kit *b, struct backend_step *rows, uint64_t *hash)
{
    *hash = kit_steps(b, 3, rows);
    CHECK_STR(twin_report(), "");
    CHECK_STR(twin_nccl_counted().wrong, "");
}

/* One model on 2 and 4 GPUs, with 1, 2 or 3 virtual devices each: as on one GPU, but for the order in
 * which gradients are added. */
TEST(data_parallel_on_several_gpus)
{
    static const struct {
        int gpus, devices;
    } of[] = {{2, 4}, {3, 3}, {2, 3}};

    if (!kit_on_twin())
        SKIP("there are as many GPUs as there are");
    for (size_t i = 0; i < MEM_COUNT(of); i++)
        for (int synced = 0; synced < 2; synced++) {
            struct kit b;
            struct backend_step one[8 * 6], many[8 * 6], again[8 * 6];
            uint64_t hash, twice;
            char name[64];

            kit_twin(1);
            REQUIRE(kit_open(&b, small, shape, 100, 12));
            snprintf(name, sizeof name, "%d devices on %d GPUs%s", of[i].devices, of[i].gpus,
                     synced ? ", synchronised" : "");
            kit_devices(&b, of[i].devices);
            b.plan.sync_bn = synced;
            b.plan.optimizer = SPEC_MOMENTUM;
            b.plan.augment = SPEC_FLIP | SPEC_CROP;
            b.plan.crop_pad = 1;
            step_hash(&b, one, &hash);
            kit_twin(of[i].gpus);
            cuda_hooks.graph = 2;
            cuda_hooks.cold = false;
            step_hash(&b, many, &hash);
            kit_compare_rows(many, one, 8 * (size_t)of[i].devices, 1e-4, 1, name);
            twin_seed(77);
            step_hash(&b, again, &twice);
            CHECK(hash == twice);
            kit_twin(of[i].gpus);
            kit_compare(&b, name, 3, &kit_tight);
            kit_close(&b);
        }
}

/* Making one may wait for all GPUs, and a sum waits there for one that has not come so far. */
TEST(no_graph_is_made_while_a_gpu_may_wait_for_another)
{
    if (!kit_on_twin())
        SKIP("a GPU does not tell");
    for (int synced = 0; synced < 2; synced++) {
        struct backend_step rows[8 * 4];
        struct kit b;

        kit_twin(2);
        cuda_hooks.cold = cuda_hooks.keep = false;
        REQUIRE(kit_open(&b, small, shape, 100, 12));
        kit_devices(&b, 4);
        b.plan.sync_bn = synced;
        struct backend_session *s = kit_session(BE, &b);
        REQUIRE(s);
        CHECK(twin_counted().graphs >= 2);
        CHECK_INT(kit_train(BE, s, &b, 0, 8, rows), 8);
        CHECK_INT(twin_counted().early_graphs, 0);
        BE->close(s);
        kit_close(&b);
    }
}

static struct race {
    atomic_bool stop, slow_may; /* slow_may: GPU 0 may go on */
    int started;                /* steps of GPU 1 */
} race;

/* Called behind each step that was started. GPU 0 stays behind its first until GPU 1 has started two and
 * the flag is up. */
static const uint32_t *const *raise_between(void *user)
{
    (void)user;
    if (twin_gpu_in_use() == 0) {
        while (!atomic_load(&race.slow_may))
            sched_yield();
    } else if (++race.started == 2) {
        atomic_store(&race.stop, true);
        atomic_store(&race.slow_may, true);
    }
    return NULL;
}

/* A sum that one GPU alone begins would wait for the others without an end. */
TEST(a_stop_is_obeyed_by_all_gpus_behind_the_same_step)
{
    struct kit b;
    struct err e = {0};
    double lr[8];
    struct backend_step rows[8 * 2], whole[8 * 2];
    size_t done = 99;

    if (!kit_on_twin())
        SKIP("there are as many GPUs as there are");
    kit_twin(2);
    cuda_hooks.graph = 1;
    cuda_hooks.limit_ms = 2000;
    REQUIRE(kit_open(&b, plain, shape, 100, 10));
    kit_devices(&b, 2);
    uint64_t hash = kit_steps(&b, 8, whole);
    struct backend_session *s = kit_session(BE, &b);
    REQUIRE(s);
    race = (struct race){0};
    for (int i = 0; i < 8; i++)
        lr[i] = 0.05;
    struct backend_span span = {.count = 8,
                                .order = b.orders,
                                .lr = lr,
                                .order_key = b.order_key,
                                .stop = &race.stop,
                                .next = raise_between};
    REQUIRE_OK(BE->train(s, &span, rows, &done, &e));
    CHECK_INT(done, 2);
    CHECK_INT(kit_train(BE, s, &b, 2, 6, rows + 4), 6);
    for (int i = 0; i < 16; i++)
        CHECK(rows[i].loss_sum == whole[i].loss_sum);
    CHECK(kit_fingerprint(&b, s) == hash);
    BE->close(s);
    kit_close(&b);
}

TEST(an_ensemble_on_several_gpus)
{
    if (!kit_on_twin())
        SKIP("there are as many GPUs as there are");
    for (int own = 0; own < 2; own++) {
        struct kit b;
        struct backend_step one[8 * 5], many[8 * 5];
        uint64_t hash, other;

        kit_twin(1);
        REQUIRE(kit_open(&b, small, shape, 100, 12));
        kit_ensemble(&b, 5, 3, own);
        b.plan.optimizer = SPEC_ADAM;
        step_hash(&b, one, &hash);
        kit_twin(3);
        cuda_hooks.graph = 2;
        step_hash(&b, many, &other);
        CHECK(hash == other); /* members need nobody else */
        for (int i = 0; i < 8 * 5; i++)
            CHECK(one[i].loss_sum == many[i].loss_sum);
        kit_twin(3);
        b.plan.optimizer = SPEC_MOMENTUM; /* adam makes rounding of small gradients large */
        kit_compare(&b, "5 members on 3 GPUs", 3, &kit_tight);
        kit_close(&b);
    }
}

/* To ask whether a GPU is free that one process has alone is to reset it. */
TEST(a_gpu_in_use_is_not_tried)
{
    struct kit b;
    struct err e = {0};

    if (!kit_on_twin())
        SKIP("a GPU is shared or not as its owner says");
    kit_twin(1);
    REQUIRE(kit_open(&b, plain, shape, 60, 16));
    struct backend_session *s = kit_session(BE, &b);
    REQUIRE(s);
    twin_set_alone("/nowhere/held");
    CHECK_INT(BE->can(&b.plan, &e), ERR_OK);
    CHECK_STR(twin_report(), "");
    twin_set_alone("");
    BE->close(s);
    kit_close(&b);
}
