/* What is found once for all questions of a look, counted; and that what changes is noticed in the next. */
#include "tests/unit/engine/help.h"
#include "engine/forecast/look.h"
#include "engine/plan.h"
#include "record/run/checkpoint.h"
#include "record/start_weights.h"

#include <fcntl.h>

static const struct data_places nowhere;
static int models_read, machine_read;

static int count_open(const char *path, int flags, mode_t mode)
{
    models_read += text_ends_with(path, "tiny.net");
    machine_read += text_ends_with(path, "meminfo");
    return open(path, flags, mode);
}

static struct look *look_at(const struct kit *k)
{
    static struct engine_config config;

    config = (struct engine_config){.results = k->results, .backends = kit_backends};
    return look_new(&config);
}

static enum err_code ask(struct look *l, uint32_t number, const struct spec *s,
                         uint64_t *parameters, struct err *e)
{
    struct plan *p;
    struct backend_estimate estimate;
    enum err_code code;

    look_begin(l, number);
    code = look_plan(l, &p, s, LOOK_HEADS, e);
    if (code != ERR_OK)
        return code;
    CHECK_INT(look_estimate(l, p, &estimate, e), ERR_OK);
    CHECK(estimate.bytes[0] > 0);
    CHECK_INT(look_results(l, e), ERR_OK);
    *parameters = p->net->parameter_count;
    plan_free(p);
    return code;
}

TEST(a_look_reads_once_what_all_its_questions_need)
{
    int (*real)(const char *, int, mode_t) = io.open;
    struct kit k;
    struct spec s;
    struct look *l;
    struct err e;
    uint64_t parameters, began = clock_ns(), seconds;

    kit_folder(&k);
    l = look_at(&k);
    io.open = count_open;
    models_read = machine_read = 0;
    for (int i = 0; i < 512; i++) {
        kit_spec(&k, &s, "backend=ref", NULL);
        s.batch = 1 + i % 96;
        s.epochs = 1 + i;
        REQUIRE_OK(ask(l, 7, &s, &parameters, &e));
    }
    seconds = (clock_ns() - began) / 1000000000;
    CHECK_INT(look_parsed(l), 1);
    CHECK(models_read >= 1 && models_read <= 1 + (int)seconds);
    CHECK(machine_read >= 1 && machine_read <= 1 + (int)seconds);
    models_read = machine_read = 0;
    REQUIRE_OK(ask(l, 8, &s, &parameters, &e)); /* the next look: read again, and the same text */
    CHECK_INT(models_read, 1);
    CHECK_INT(machine_read, 1);
    CHECK_INT(look_parsed(l), 1);
    REQUIRE_OK(ask(l, 0, &s, &parameters, &e));
    REQUIRE_OK(ask(l, 0, &s, &parameters, &e)); /* of no look */
    CHECK_INT(models_read, 3);
    io.open = real;
    look_free(l);
    kit_end(&k);
}

TEST(a_net_is_made_for_each_shape_and_value_that_tells_it_apart)
{
    struct kit k;
    struct spec s;
    struct look *l;
    struct err e;
    uint64_t parameters[2], again;

    kit_folder(&k);
    l = look_at(&k);
    kit_write(k.model, "param width 3\ninput auto\nconv $width 3\nglobalavgpool\ndense classes\n");
    for (int i = 0; i < 4; i++) {
        kit_spec(&k, &s, "backend=ref", i % 2 ? "model.width=5" : "model.width=4", NULL);
        REQUIRE_OK(ask(l, 1, &s, i < 2 ? &parameters[i] : &again, &e));
        CHECK(i < 2 || again == parameters[i % 2]);
    }
    CHECK(parameters[0] < parameters[1]);
    CHECK_INT(look_parsed(l), 2);
    look_free(l);
    kit_end(&k);
}

TEST(a_model_that_changes_or_is_wrong_is_told_in_the_same_words)
{
    struct kit k;
    struct spec s;
    struct look *l;
    struct plan *p;
    struct err e, want;
    uint64_t before = 0, after = 0;
    static const char *const wrong[] = {"input 1 8 8\nconv 3 nine\ndense classes\n",
                                        "input 1 8\ndense classes\n", ""};

    kit_folder(&k);
    l = look_at(&k);
    kit_spec(&k, &s, "backend=ref", NULL);
    REQUIRE_OK(ask(l, 1, &s, &before, &e));
    kit_write(k.model, "input 1 8 8\ndense 20\ndense classes\n");
    REQUIRE_OK(ask(l, 2, &s, &after, &e));
    CHECK(before != after);
    for (size_t i = 0; i <= MEM_COUNT(wrong); i++) {
        if (i < MEM_COUNT(wrong))
            kit_write(k.model, wrong[i]);
        else
            unlink(k.model);
        CHECK_INT(plan_make(&p, &s, &nowhere, kit_backends, false, &want), ERR_INPUT);
        for (int turn = 0; turn < 2; turn++) {
            CHECK_INT(ask(l, 3 + (uint32_t)i, &s, &after, &e), ERR_INPUT);
            CHECK_STR(e.text, want.text);
        }
    }
    kit_write(k.model, "input 1 8 8\ndense 20\ndense classes\n");
    REQUIRE_OK(ask(l, 20, &s, &after, &e));
    look_free(l);
    kit_end(&k);
}

static size_t bytes_read;

static ssize_t count_read(int fd, void *to, size_t n)
{
    ssize_t got = read(fd, to, n);

    bytes_read += got > 0 ? (size_t)got : 0;
    return got;
}

/* All tensors of the net, but so many of the last. */
static void write_weights(const char *path, const struct net *net, int without)
{
    struct safetensors_tensor *t = mem_new((size_t)net->params, sizeof *t);
    float *zeros = mem_new(net->parameter_count, sizeof *zeros);
    struct err e;

    for (int i = 0; i < net->params - without; i++) {
        t[i] = (struct safetensors_tensor){
            .type = SAFETENSORS_F32, .dims = net->param[i].dims, .bytes = zeros};
        snprintf(t[i].name, sizeof t[i].name, "%s", net->param[i].name);
        for (int k = 0; k < t[i].dims; k++)
            t[i].shape[k] = net->param[i].shape[k];
    }
    REQUIRE_OK(safetensors_write(path, t, (size_t)(net->params - without), NULL, 0, &e));
    free(zeros);
    free(t);
}

TEST(weights_are_judged_by_their_header_in_the_words_of_a_start)
{
    static const char *const files[] = {"garbage", "empty.safetensors", "cut", "folder.safetensors",
                                        "other",   "none.safetensors"};
    ssize_t (*real)(int, void *, size_t) = io.read;
    struct record_weights to = {0};
    struct kit k;
    struct spec s;
    struct look *l;
    struct plan *p;
    struct err e = {0}, want;
    char *whole, *bytes;
    size_t n;

    kit_folder(&k);
    kit_write(k.model, "input 1 8 8\ndense 20000\ndense classes\n");
    whole = io_path(k.folder, "whole");
    l = look_at(&k);
    kit_spec(&k, &s, "backend=ref", NULL);
    look_begin(l, 1);
    REQUIRE_OK(look_plan(l, &p, &s, LOOK_HEADS, &e));
    REQUIRE_OK(record_weights_new(&to, p->net, 1, false, 4, 0, &e));
    write_weights(whole, p->net, 0);
    REQUIRE_OK(io_read_file(whole, 8 << 20, &bytes, &n, &e));
    CHECK(n > 5000000);
    for (size_t i = 0; i < MEM_COUNT(files); i++) {
        char *path = io_path(k.folder, files[i]);

        if (i == 0)
            kit_write(path, "no safetensors at all");
        else if (i == 1)
            kit_write(path, "");
        else if (i == 2)
            REQUIRE_OK(io_replace_file(path, bytes, n - 1, &e));
        else if (i == 3)
            mkdir(path, 0777);
        else if (i == 4)
            write_weights(path, p->net, 1);
        snprintf(p->spec.weights, sizeof p->spec.weights, "%s", path);
        want = e = (struct err){0};
        CHECK_INT(record_read_start(k.results, path, p->net, &to, &want), ERR_INPUT);
        CHECK_INT(look_weights(l, p, false, &e), ERR_INPUT);
        CHECK_STR(e.text, want.text);
        free(path);
    }
    snprintf(p->spec.weights, sizeof p->spec.weights, "%s", whole);
    io.read = count_read;
    bytes_read = 0;
    for (int i = 0; i < 512; i++)
        REQUIRE_OK(look_weights(l, p, false, &e));
    io.read = real;
    CHECK(bytes_read < 1000); /* once, and no more than the header */
    p->session.members = 3;   /* a single model starts each of them */
    REQUIRE_OK(look_weights(l, p, false, &e));
    plan_free(p);
    record_weights_free(&to);
    free(bytes);
    free(whole);
    look_free(l);
    kit_end(&k);
}

static int estimates;

static enum err_code count_estimate(const struct backend_plan *p, struct backend_estimate *out,
                                    struct err *e)
{
    estimates++;
    return cpu_backend.estimate(p, out, e);
}

TEST(what_a_cell_would_hold_is_computed_once)
{
    static const char *const text[] = {"input 1 8 8\ndense 20\ndense classes\n",
                                       "input 1 8 8\ndense 50\ndense classes\n"};
    struct backend_estimate remembered, now;
    struct kit k;
    struct spec s;
    struct look *l;
    struct plan *p, *other;
    struct err e;
    uint64_t parameters;
    size_t bytes[2];

    kit_folder(&k);
    l = look_at(&k);
    kit_spec(&k, &s, "backend=cpu", NULL);
    kit_cpu.estimate = count_estimate;
    estimates = 0;
    for (int i = 0; i < 2; i++) {
        kit_write(k.model, text[i]);
        for (uint32_t look = 1; look <= 3; look++)
            for (int64_t batch = 1; batch <= 32; batch++) {
                s.batch = batch;
                s.epochs = look;
                REQUIRE_OK(ask(l, 10 * (uint32_t)i + look, &s, &parameters, &e));
            }
        CHECK_INT(estimates, 32 * (i + 1));
        look_begin(l, 10 * (uint32_t)i + 4);
        REQUIRE_OK(look_plan(l, &p, &s, LOOK_HEADS, &e));
        REQUIRE_OK(look_plan(l, &other, &s, LOOK_HEADS, &e));
        REQUIRE_OK(look_estimate(l, p, &remembered, &e));
        REQUIRE_OK(look_estimate(l, other, &now, &e)); /* the same, at another place in memory */
        CHECK_INT(estimates, 32 * (i + 1));
        plan_free(other);
        kit_cpu.estimate = cpu_backend.estimate;
        REQUIRE_OK(plan_estimate(p, &now, &e));
        kit_cpu.estimate = count_estimate;
        CHECK_INT(remembered.places, now.places);
        CHECK(remembered.bytes[0] == now.bytes[0]);
        bytes[i] = now.bytes[0];
        plan_free(p);
    }
    CHECK(bytes[0] < bytes[1]);
    kit_cpu.estimate = cpu_backend.estimate;
    look_free(l);
    kit_end(&k);
}

/* In a look of its own. */
static size_t train_rows(struct look *l, const struct spec *s)
{
    struct spec any = *s;
    struct plan *p;
    struct err e = {0};
    size_t count = 0;

    strcpy(any.model, "linear"); /* of images of whatever size */
    any.batch = 1;
    look_begin(l, 0);
    if (look_plan(l, &p, &any, LOOK_HEADS, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    else
        count = p->session.data->train.count;
    plan_free(p);
    return count;
}

TEST(what_changes_in_either_file_of_a_pair_is_noticed)
{
    struct kit k;
    struct spec s;
    struct look *l;
    char *train, *test;

    kit_folder(&k);
    kit_spec(&k, &s, NULL);
    l = look_at(&k);
    train = io_path(k.folder, "train:one.csv");
    test = io_path(k.folder, "test.csv");
    s.train_limit = 0;
    s.test_limit = 0;
    snprintf(s.data, sizeof s.data, "%s:%s", train, test);
    kit_write(train, "a,label\n1,0\n2,1\n");
    kit_write(test, "a,label\n1,0\n2,1\n");
    CHECK_INT(train_rows(l, &s), 2);
    kit_write(train, "a,label\n1,0\n2,1\n3,1\n");
    for (int i = 0; i < 200 && train_rows(l, &s) != 3;
         i++) /* a look that took long is kept for a while */
        clock_sleep_ms(50);
    CHECK_INT(train_rows(l, &s), 3);
    free(train);
    free(test);
    look_free(l);
    kit_end(&k);
}

static int tables_read;

static int count_tables(const char *path, int flags, mode_t mode)
{
    tables_read += text_ends_with(path, ".csv");
    return open(path, flags, mode);
}

/* Each kind of a sweep's cells may be of other data. */
TEST(what_is_known_of_data_is_remembered_of_as_many_as_a_sweep_has)
{
    int (*real)(const char *, int, mode_t) = io.open;
    uint64_t began = clock_ns();
    struct kit k;
    struct spec s;
    struct look *l;

    kit_folder(&k);
    kit_spec(&k, &s, NULL);
    l = look_at(&k);
    s.train_limit = s.test_limit = 0;
    io.open = count_tables;
    for (int i = 0; i < 1200; i++) {
        snprintf(s.data, sizeof s.data, "%s/%d.csv", k.folder, i % 400);
        if (i < 400)
            kit_write(s.data, "a,label\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n7,0\n8,1\n9,0\n1,1\n");
        else
            CHECK(train_rows(l, &s) > 0);
        if (i == 399)
            clock_sleep_ms(50); /* from then on none can change unseen */
        if (i == 799)
            tables_read = 0;
    }
    io.open = real;
    /* What is believed is so for ten seconds. */
    CHECK(tables_read < 40 || clock_ns() - began > 10000000000u);
    look_free(l);
    kit_end(&k);
}

static void write_idx(const char *folder, const char *name, int dims, uint8_t count)
{
    const uint8_t head[16] = {0, 0, 8, (uint8_t)dims, 0, 0, 0, count, 0, 0, 0, 1, 0, 0, 0, 1};
    char *path = io_path(folder, name);
    FILE *f = fopen(path, "wb");

    CHECK(f && fwrite(head, 1, dims == 3 ? 16 : 8, f) > 0);
    for (int i = 0; i < count; i++)
        CHECK(f && fputc(i % 2, f) == i % 2);
    CHECK(f && fclose(f) == 0);
    free(path);
}

/* Written over in its place, which its folder does not show. */
TEST(what_changes_in_a_folder_is_noticed)
{
    struct kit k;
    struct spec s;
    struct look *l;

    kit_folder(&k);
    kit_spec(&k, &s, NULL);
    l = look_at(&k);
    s.train_limit = 0;
    s.test_limit = 0;
    snprintf(s.data, sizeof s.data, "%s", k.folder);
    for (uint8_t n = 4; n <= 5; n++) {
        write_idx(k.folder, "train-images-idx3-ubyte", 3, n);
        write_idx(k.folder, "train-labels-idx1-ubyte", 1, n);
        write_idx(k.folder, "t10k-images-idx3-ubyte", 3, 4);
        write_idx(k.folder, "t10k-labels-idx1-ubyte", 1, 4);
        CHECK_INT(train_rows(l, &s), n);
    }
    look_free(l);
    kit_end(&k);
}
