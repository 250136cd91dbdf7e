/* From an experiment as written to one that is resolved. */
#include "tests/unit/engine/help.h"
#include "engine/forecast/look.h"
#include "engine/plan.h"

static const struct data_places nowhere;

static enum err_code make(struct plan **p, const struct spec *s, struct err *e)
{
    return plan_make(p, s, &nowhere, kit_backends, true, e);
}

static const char *ini_of(const struct plan *p)
{
    static struct text ini;

    text_clear(&ini);
    plan_add_ini(&p->spec, &ini);
    return text_str(&ini);
}

TEST(everything_is_resolved)
{
    struct kit k;
    struct spec s;
    struct plan *p;
    struct err e;

    kit_folder(&k);
    kit_spec(&k, &s, "backend=auto", "devices=3", "batch=8/device", "threads=2/device",
             "lr_rule=sqrt", "lr_batch=6", "valid=25%", "precision=tf32", NULL);
    REQUIRE_OK(make(&p, &s, &e));
    CHECK_INT(p->spec.backend, SPEC_REF); /* the first that can */
    CHECK(p->backend == &kit_ref);
    CHECK_INT(p->spec.batch, 24);
    CHECK(!p->spec.batch_per_device);
    CHECK_INT(p->batch_per_device, 8);
    CHECK_INT(p->spec.threads, 6);
    CHECK_INT(p->spec.threads_kind, SPEC_THREADS_COUNT);
    CHECK_INT(p->spec.normalize, SPEC_NORMALIZE_255);
    CHECK_INT(p->train_images, 72);
    CHECK_INT(p->valid_images, 24);
    CHECK_INT(p->test_images, 40);
    CHECK_INT(p->steps_per_epoch, 3);
    CHECK_INT(p->dropped, 0);
    CHECK_INT(p->total_steps, 9);
    CHECK_NEAR(p->base_lr, 0.2, 1e-15);
    CHECK_STR(p->precision_used, "fp32"); /* tf32 on a CPU is fp32, named so */
    CHECK_INT(p->session.precision, SPEC_FP32);
    CHECK_INT(p->session.members, 1);
    CHECK_INT(p->session.devices, 3);
    CHECK_INT(p->session.all_devices, 3);
    CHECK_INT(backend_units(&p->session), 3);
    CHECK_HAS(ini_of(p), "model = model.net\n");
    CHECK_HAS(ini_of(p), "batch = 24\n");
    CHECK_HAS(ini_of(p), "threads = 6\n");
    CHECK_HAS(ini_of(p), "backend = ref\n");
    CHECK(!strstr(ini_of(p), "members"));
    CHECK(!strstr(ini_of(p), "momentum"));
    plan_free(p);
    kit_end(&k);
}

TEST(more_threads_than_cores_are_told_of)
{
    char words[PLAN_CROWDING_ROOM], wanted[PLAN_CROWDING_ROOM];
    struct kit k;
    struct spec s;
    struct plan *p;
    struct err e;
    int cores = plan_cores();

    kit_folder(&k);
    kit_spec(&k, &s, "backend=cpu", "threads=all", NULL);
    REQUIRE_OK(make(&p, &s, &e));
    CHECK_STR(plan_crowding(p, 1, plan_cores(), words), "");
    p->session.threads = cores + 1;
    snprintf(wanted, sizeof wanted, "%d threads on %d core%s: threads = all is faster", cores + 1,
             cores, cores == 1 ? "" : "s");
    CHECK_STR(plan_crowding(p, 1, plan_cores(), words), wanted);
    p->session.threads = cores > 1 ? cores : 2;
    snprintf(wanted, sizeof wanted, "2 cells of %d threads each on %d core%s: ", p->session.threads,
             cores, cores == 1 ? "" : "s");
    CHECK_HAS(plan_crowding(p, 2, plan_cores(), words), wanted);
    p->session.threads = cores > 1 ? cores / 2 : 1; /* what threads = all would be */
    CHECK_STR(plan_crowding(p, 2, plan_cores(), words), "");
    p->session.threads = 1; /* fewer are none */
    CHECK_STR(plan_crowding(p, 2 * cores, plan_cores(), words), "");
    plan_free(p);
    kit_end(&k);
}

TEST(an_ensemble_has_as_many_members_as_devices_unless_told)
{
    struct kit k;
    struct spec s;
    struct plan *p;
    struct err e;

    kit_folder(&k);
    kit_spec(&k, &s, "mode=ensemble", "devices=2", "threads=all", "seed=5", NULL);
    REQUIRE_OK(make(&p, &s, &e));
    CHECK_INT(p->session.members, 2);
    CHECK_INT(p->batch_per_device, 16);
    CHECK(p->spec.threads >= 1);
    CHECK_HAS(ini_of(p), "members = 2\n");
    plan_free(p);
    kit_set(&s, "members=5");
    REQUIRE_OK(make(&p, &s, &e));
    CHECK_INT(p->session.members, 5);
    CHECK_INT(p->session.member_device[4], 0);
    CHECK_INT(p->session.member_device[3], 1);
    for (int m = 0; m < 5; m++) {
        struct rng_key key = net_model_key(5, 5, m);

        CHECK(!memcmp(&p->session.model_key[m], &key, sizeof key));
    }
    plan_free(p);
    kit_end(&k);
}

static int two_gpus(struct err *why)
{
    (void)why;
    return 2;
}

TEST(a_large_state_has_one_copy_where_training_takes_the_same_memory)
{
    struct backend gpu = {.gpus = two_gpus};
    struct kit k;
    struct spec s;
    struct plan *p;
    struct err e;

    kit_folder(&k);
    kit_spec(&k, &s, "mode=ensemble", "members=2", NULL);
    REQUIRE_OK(make(&p, &s, &e));
    CHECK_INT(plan_state_copies(p->backend, &p->session), 2);
    p->session.members = 100000;
    CHECK_INT(plan_state_copies(p->backend, &p->session), 1);
    CHECK_INT(plan_state_copies(&gpu, &p->session), 2);
    plan_free(p);
    kit_end(&k);
}

TEST(what_cannot_be_is_said_in_a_sentence)
{
    static const struct {
        const char *a, *b;
        enum err_code code;
        const char *says;
    } cases[] = {
        {"batch=100", "devices=1", ERR_INPUT, "batch = 100 is more than the 96 images"},
        {"valid=90", "devices=1", ERR_INPUT, "batch = 16 is more than the 6 images left"},
        {"valid=96", "devices=1", ERR_INPUT, "valid = 96"},
        {"devices=3", "seed=1", ERR_INPUT, "15 and 18"},
        {"train_limit=60001", "seed=1", ERR_INPUT, "60001"},
        {"test_limit=10001", "seed=1", ERR_INPUT, "10001"},
        {"backend=cuda", "seed=1", ERR_FAILED, "backend = cuda: no CUDA device here"},
        {"backend=auto", "devices=gpu:0+2", ERR_FAILED, "no CUDA device here"},
        {"precision=bf16", "seed=1", ERR_INPUT, "bf16"},
        {"data=/no/such/folder", "seed=1", ERR_INPUT, "/no/such/folder"},
        {"model=/no/such/model.net", "seed=1", ERR_INPUT, "/no/such/model.net"},
    };
    struct kit k;

    kit_folder(&k);
    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        struct spec s;
        struct plan *p;
        struct err e = {0};

        kit_spec(&k, &s, cases[i].a, cases[i].b, NULL);
        CHECK_INT(make(&p, &s, &e), cases[i].code);
        CHECK(p == NULL);
        CHECK_HAS(e.text, cases[i].says);
        if (!strstr(cases[i].a, "limit") && !strstr(cases[i].a, "valid=96")) {
            struct err peeked = {0};

            CHECK_INT(plan_make(&p, &s, &nowhere, kit_backends, false, &peeked), cases[i].code);
            CHECK_STR(peeked.text, e.text); /* the planner says the same */
        }
    }
    kit_end(&k);
}

TEST(the_hash_knows_what_determines_results)
{
    static const char *const same[] = {"log_every=1", "keep=all", "target_acc=0.5", "name=other"};
    static const char *const other[] = {"seed=1",        "lr=0.2",     "batch=8",  "epochs=4",
                                        "test_limit=39", "shuffle=no", "devices=2"};
    struct kit k;
    struct spec s;
    struct plan *p;
    struct err e;
    char first[17], hash[17];

    kit_folder(&k);
    kit_spec(&k, &s, NULL);
    REQUIRE_OK(make(&p, &s, &e));
    plan_hash(p, first);
    plan_free(p);
    CHECK_INT(strlen(first), 16);
    for (size_t i = 0; i < MEM_COUNT(same) + MEM_COUNT(other); i++) {
        bool equal = i < MEM_COUNT(same);

        kit_spec(&k, &s, equal ? same[i] : other[i - MEM_COUNT(same)], NULL);
        REQUIRE_OK(make(&p, &s, &e));
        plan_hash(p, hash);
        if (!strcmp(first, hash) != equal)
            TEST_FAILED("%s", equal ? same[i] : other[i - MEM_COUNT(same)]);
        plan_free(p);
    }
    /* a comment in the model changes nothing, a layer does */
    kit_write(k.model, "# another comment\ninput 1 8 8\nconv 3 3\nbatchnorm\nrelu\navgpool 2\n"
                       "dropout 0.2\ndense classes\n");
    kit_spec(&k, &s, NULL);
    REQUIRE_OK(make(&p, &s, &e));
    plan_hash(p, hash);
    CHECK_STR(hash, first);
    plan_free(p);
    kit_write(k.model, "input 1 8 8\nconv 3 3\nbatchnorm\nrelu\navgpool 2\ndropout 0.1\n"
                       "dense classes\n");
    REQUIRE_OK(make(&p, &s, &e));
    plan_hash(p, hash);
    CHECK(strcmp(hash, first) != 0);
    plan_free(p);
    kit_end(&k);
}

static const uint8_t *bytes_of(struct look *l, struct kit *k, const char *seed)
{
    struct spec s;
    struct plan *p;
    struct err e;
    const uint8_t *bytes;

    kit_spec(k, &s, seed, NULL);
    if (look_plan(l, &p, &s, LOOK_SUMS, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
        return NULL;
    }
    bytes = p->session.data->train.bytes;
    plan_free(p);
    return bytes;
}

TEST(four_data_sets_that_take_turns_are_opened_once)
{
    static const char *const seed[] = {"seed=1", "seed=2", "seed=3", "seed=4"};
    const struct engine_config config = {.results = "nowhere", .backends = kit_backends};
    struct look *l = look_new(&config);
    const uint8_t *first[MEM_COUNT(seed)];
    struct kit k;

    kit_folder(&k);
    for (size_t i = 0; i < MEM_COUNT(seed); i++) {
        first[i] = bytes_of(l, &k, seed[i]);
        for (size_t other = 0; other < i; other++)
            CHECK(first[other] != first[i]);
    }
    for (size_t i = 0; i < MEM_COUNT(seed); i++)
        CHECK(bytes_of(l, &k, seed[i]) == first[i]);
    (void)bytes_of(l, &k, "seed=5"); /* where the first one was, used longest ago */
    CHECK(bytes_of(l, &k, seed[3]) == first[3]);
    CHECK(bytes_of(l, &k, seed[1]) == first[1]);
    look_free(l);
    kit_end(&k);
}
