/* Checkpoints and start weights: exact bytes there and back, and nothing taken for what it is not. */
#include "base/log.h"
#include "net/net.h"
#include "record/run/checkpoint.h"
#include "record/run/export.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "record/start_weights.h"
#include "tests/unit/record/help.h"

static const char model[] = "input 2 5 5\nconv 3 2\nbatchnorm\nrelu\ndense classes\n";

static struct net *make_net(const char *text)
{
    struct net_wants wants = {.input = {5, 5, 2}, .classes = 4};
    struct err e = {0};
    struct net *net = NULL;

    if (net_parse(&net, text, strlen(text), "model.net", &wants, &e) != ERR_OK) {
        printf("%s\n", e.text);
        exit(1);
    }
    return net;
}

static void fill(void *vector, size_t n, size_t element, double from)
{
    for (size_t i = 0; i < n; i++) {
        if (element == 8)
            ((double *)vector)[i] = from + (double)i / 3;
        else
            ((float *)vector)[i] = (float)(from + (double)i / 3);
    }
}

static struct record_weights make_weights(const struct net *net, int members, bool ensemble,
                                          size_t element, int slots)
{
    struct record_weights w;
    struct err e = {0};

    if (record_weights_new(&w, net, members, ensemble, element, slots, &e) != ERR_OK) {
        printf("%s\n", e.text);
        exit(1);
    }
    fill(w.params, (size_t)members * net->parameter_count, element, 0.1);
    fill(w.stats, (size_t)members * net->stat_count, element, -100.1);
    for (int i = 0; i < slots; i++)
        fill(w.slot[i], (size_t)members * net->parameter_count, element, 1e3 + i);
    return w;
}

static struct record *new_run(char **results)
{
    struct err e = {0};
    struct record_run *run = help_run();
    struct record *r = NULL;

    *results = help_folder();
    if (record_create(&r, *results, run, "", model, false, &e) != ERR_OK) {
        printf("%s\n", e.text);
        exit(1);
    }
    free(run);
    return r;
}

static void save(struct record *r, const char *as, const struct record_weights *w,
                 const struct net *net, int64_t epoch)
{
    static const double sums[3] = {0.1, 0.2, 1e300};
    static const size_t shape[1] = {3};
    struct record_pack p = {0};
    struct err e = {0};

    REQUIRE_OK(record_pack_weights(&p, w, net, &e));
    REQUIRE_OK(record_pack_tensor(&p, "engine/sums", SAFETENSORS_F64, 1, shape, sums, &e));
    record_pack_int(&p, RECORD_NOTE_EPOCH, epoch);
    record_pack_note(&p, "chorus.words", "two words");
    REQUIRE_OK(record_checkpoint(r, as, p.tensor, p.tensors, p.note, p.notes, &e));
    record_pack_free(&p);
}

TEST(weights_come_back_exactly)
{
    static const struct {
        int members;
        bool ensemble;
        size_t element;
        int slots;
    } table[] = {
        {1, false, 4, 0}, {1, false, 8, 2}, {3, true, 4, 1}, {1, true, 4, 2}, {2, true, 8, 2}};

    for (size_t i = 0; i < MEM_COUNT(table); i++) {
        struct err e = {0};
        struct net *net = make_net(model);
        struct record_weights w = make_weights(net, table[i].members, table[i].ensemble,
                                               table[i].element, table[i].slots);
        struct record_weights back;
        size_t params = (size_t)w.members * net->parameter_count * w.element;
        size_t stats = (size_t)w.members * net->stat_count * w.element;
        struct safetensors s;
        char *results;
        struct record *r = new_run(&results);
        bool found;
        int64_t n;
        double sums[3];

        save(r, "checkpoint", &w, net, 7);
        REQUIRE_OK(record_read_checkpoint(record_folder(r), &s, &found, &e));
        REQUIRE(found);
        REQUIRE_OK(record_weights_new(&back, net, w.members, w.ensemble, w.element, w.slots, &e));
        REQUIRE_OK(record_unpack_weights(&s, "a", net, &back, &e));
        CHECK(!memcmp(w.params, back.params, params));
        CHECK(!memcmp(w.stats, back.stats, stats));
        for (int k = 0; k < w.slots; k++)
            CHECK(!memcmp(w.slot[k], back.slot[k], params));
        CHECK(record_unpack_int(&s, RECORD_NOTE_EPOCH, &n) && n == 7);
        CHECK(!record_unpack_int(&s, "chorus.words", &n));
        CHECK(!record_unpack_int(&s, "none", &n));
        CHECK_STR(safetensors_note(&s, RECORD_NOTE_INPUT), "5 5 2");
        CHECK_STR(safetensors_note(&s, RECORD_NOTE_CLASSES), "4");
        REQUIRE(safetensors_find(&s, "engine/sums"));
        memcpy(sums, safetensors_find(&s, "engine/sums")->bytes, sizeof sums);
        CHECK(sums[2] == 1e300);
        safetensors_free(&s);
        record_weights_free(&w);
        record_weights_free(&back);
        record_close(r);
        net_free(net);
        help_remove(results);
    }
}

TEST(names_and_shapes_are_flax_s)
{
    static const struct {
        const char *name;
        int dims;
        size_t shape[5];
    } want[] = {{"params/Conv_0/kernel", 5, {3, 2, 2, 2, 3}},
                {"params/Conv_0/bias", 2, {3, 3}},
                {"params/BatchNorm_0/scale", 2, {3, 3}},
                {"params/BatchNorm_0/bias", 2, {3, 3}},
                {"params/Dense_0/kernel", 3, {3, 48, 4}},
                {"params/Dense_0/bias", 2, {3, 4}},
                {"batch_stats/BatchNorm_0/mean", 2, {3, 3}},
                {"batch_stats/BatchNorm_0/var", 2, {3, 3}},
                {"slot1/Dense_0/bias", 2, {3, 4}}};
    struct err e = {0};
    struct net *net = make_net(model);
    struct record_weights w = make_weights(net, 3, true, 4, 1);
    struct record_pack p = {0};

    REQUIRE_OK(record_pack_weights(&p, &w, net, &e));
    CHECK_INT(p.tensors, 6 + 2 + 6);
    for (size_t i = 0; i < MEM_COUNT(want); i++) {
        struct safetensors s = {.tensor = p.tensor, .tensors = p.tensors};
        const struct safetensors_tensor *t = safetensors_find(&s, want[i].name);
        if (!t) {
            TEST_FAILED("there is no %s", want[i].name);
            continue;
        }
        CHECK_INT(t->dims, want[i].dims);
        for (int d = 0; d < t->dims && d < 5; d++)
            CHECK_INT(t->shape[d], want[i].shape[d]);
    }
    /* a piece a member, where it lies in the member's vector */
    {
        struct safetensors s = {.tensor = p.tensor, .tensors = p.tensors};
        const struct safetensors_tensor *bias = safetensors_find(&s, "params/Dense_0/bias");
        const float *vector = record_weights_params(&w, net, 2);
        int last = net->params - 1;
        while (strcmp(net->param[last].name, "Dense_0/bias") != 0)
            last--;
        CHECK_INT(bias->pieces, 3);
        CHECK((const char *)bias->bytes + 2 * bias->apart ==
              (const char *)(vector + net->param[last].offset));
    }
    record_pack_free(&p);
    record_weights_free(&w);
    net_free(net);
}

TEST(a_checkpoint_of_another_model_is_refused)
{
    static const struct {
        const char *text, *sentence;
        int members;
        bool ensemble;
        size_t element;
        int slots;
    } table[] = {
        {"input auto\nconv 4 2\nbatchnorm\nrelu\ndense classes\n", "(2, 2, 2, 3)", 1, false, 4, 1},
        {"input auto\nconv 3 2\nrelu\ndense 5\nrelu\ndense classes\n", "(48, 4)", 1, false, 4, 1},
        {"input auto\nconv 3 2\nbatchnorm\nrelu\ndense 4\nrelu\ndense classes\n", "Dense_1", 1,
         false, 4, 1},
        {model, "needs F64", 1, false, 8, 1},
        {model, "needs F32 (2, 2, 2, 2, 3)", 2, true, 4, 1},
        {model, "needs F32 (1, 2, 2, 2, 3)", 1, true, 4, 1},
        {model, "'slot2/Conv_0/kernel'", 1, false, 4, 2},
    };
    struct err e = {0};
    struct net *net = make_net(model);
    struct record_weights w = make_weights(net, 1, false, 4, 1);
    struct safetensors s;
    char *results;
    struct record *r = new_run(&results);
    bool found;

    save(r, "checkpoint", &w, net, 1);
    REQUIRE_OK(record_read_checkpoint(record_folder(r), &s, &found, &e));
    for (size_t i = 0; i < MEM_COUNT(table); i++) {
        struct net *other = make_net(table[i].text);
        struct record_weights back = make_weights(other, table[i].members, table[i].ensemble,
                                                  table[i].element, table[i].slots);
        CHECK_INT(record_unpack_weights(&s, "the.file", other, &back, &e), ERR_INPUT);
        CHECK_HAS(e.text, "the.file");
        CHECK_HAS(e.text, table[i].sentence);
        record_weights_free(&back);
        net_free(other);
    }
    safetensors_free(&s);
    record_weights_free(&w);
    record_close(r);
    net_free(net);
    help_remove(results);
}

/* The epoch of the checkpoint that is believed; -1: none, -2: an error. */
static int64_t believed(const char *folder, struct err *e)
{
    struct safetensors s;
    bool found;
    int64_t epoch = -1;

    if (record_read_checkpoint(folder, &s, &found, e) != ERR_OK)
        return -2;
    if (found) {
        record_unpack_int(&s, RECORD_NOTE_EPOCH, &epoch);
        safetensors_free(&s);
    }
    return epoch;
}

TEST(the_newest_whole_checkpoint_is_believed)
{
    struct err e = {0};
    struct net *net = make_net(model);
    struct record_weights w = make_weights(net, 1, false, 4, 0);
    char *results, *path, *prev;
    struct record *r = new_run(&results);
    const char *folder = record_folder(r);

    log_to(NULL, NULL);
    CHECK_INT(believed(folder, &e), -1);
    save(r, "checkpoint", &w, net, 1);
    CHECK_INT(believed(folder, &e), 1);
    CHECK_INT(help_count(folder, ".prev."), 0);
    save(r, "checkpoint", &w, net, 2);
    CHECK_INT(believed(folder, &e), 2);
    CHECK_INT(help_count(folder, ".prev."), 1);
    path = io_path(folder, "checkpoint.safetensors");
    prev = io_path(folder, "checkpoint.prev.safetensors");
    help_put(folder, "checkpoint.safetensors", "torn", 4);
    CHECK_INT(believed(folder, &e), 1);
    unlink(path); /* killed between the two renames */
    CHECK_INT(believed(folder, &e), 1);
    help_put(folder, "checkpoint.prev.safetensors", "", 0);
    CHECK_INT(believed(folder, &e), -2);
    CHECK_HAS(e.text, "checkpoint.prev.safetensors");
    save(r, "epoch-0003", &w, net, 3);
    save(r, "epoch-0012", &w, net, 12);
    save(r, "best", &w, net, 2);
    CHECK_INT(believed(folder, &e), 12);
    /* a file that another program wrote has no checksum and is no checkpoint */
    unlink(prev);
    help_put(folder, "checkpoint.safetensors", "\2\0\0\0\0\0\0\0{}", 10);
    CHECK_INT(believed(folder, &e), 12);
    free(path);
    free(prev);
    record_weights_free(&w);
    record_close(r);
    net_free(net);
    help_remove(results);
}

/* A damaged header may hide the checksum, which other programs' files do not have. */
TEST(weights_of_a_run_without_their_checksum_are_refused)
{
    struct err e = {0};
    struct net *net = make_net(model);
    struct record_weights w = make_weights(net, 1, false, 4, 0);
    char *results, *path, *bytes, *key;
    struct record *r = new_run(&results);
    struct safetensors s;
    size_t n;

    save(r, "best", &w, net, 1);
    path = io_path(record_folder(r), "best.safetensors");
    REQUIRE_OK(record_read_at(record_folder(r), "best", &s, &e));
    safetensors_free(&s);
    REQUIRE_OK(io_read_file(path, 1 << 20, &bytes, &n, &e));
    key = memmem(bytes, n, "sha256", 6);
    REQUIRE(key);
    key[5] = '7';
    help_put(record_folder(r), "best.safetensors", bytes, n);
    REQUIRE_OK(safetensors_read(path, &s, &e));
    safetensors_free(&s);
    CHECK_INT(record_read_at(record_folder(r), "best", &s, &e), ERR_INPUT);
    CHECK_HAS(e.text, "has no checksum of its contents");
    free(bytes);
    free(path);
    record_weights_free(&w);
    record_close(r);
    net_free(net);
    help_remove(results);
}

static int (*real_open)(const char *path, int flags, mode_t mode);
static int weights_opened;

static int count_open(const char *path, int flags, mode_t mode)
{
    weights_opened += strstr(path, ".safetensors") != NULL;
    return real_open(path, flags, mode);
}

/* It may be many gigabytes. */
TEST(the_weights_of_the_last_epoch_are_read_once)
{
    struct err e = {0};
    struct net *net = make_net(model);
    struct record_weights w = make_weights(net, 1, false, 4, 0);
    struct record_run *run = help_run();
    char *results;
    struct record *r = new_run(&results);
    struct safetensors s;

    save(r, "epoch-0001", &w, net, 1);
    run->state = WIRE_DONE;
    run->epochs_done = 1;
    REQUIRE_OK(record_write_run(r, run, &e));
    real_open = io.open;
    io.open = count_open;
    CHECK_INT(record_read_at(record_folder(r), "1", &s, &e), ERR_OK);
    io.open = real_open;
    CHECK_INT(weights_opened, 1);
    safetensors_free(&s);
    free(run);
    record_weights_free(&w);
    record_close(r);
    net_free(net);
    help_remove(results);
}

TEST(every_flipped_bit_of_a_checkpoint_is_noticed)
{
    struct err e = {0};
    struct net *net = make_net("input auto\nglobalavgpool\ndense classes\n");
    struct record_weights w = make_weights(net, 1, false, 4, 0);
    char *results, *path, *bytes;
    struct record *r = new_run(&results);
    size_t n, passed = 0;

    log_to(NULL, NULL);
    save(r, "checkpoint", &w, net, 1);
    path = io_path(record_folder(r), "checkpoint.safetensors");
    REQUIRE_OK(io_read_file(path, 1 << 20, &bytes, &n, &e));
    for (size_t bit = 0; bit < 8 * n; bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        help_put(record_folder(r), "checkpoint.safetensors", bytes, n);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        if (believed(record_folder(r), &e) != -2 && passed++ < 5)
            TEST_FAILED("bit %zu of %zu can flip", bit, 8 * n);
    }
    CHECK_INT(passed, 0);
    free(bytes);
    free(path);
    record_weights_free(&w);
    record_close(r);
    net_free(net);
    help_remove(results);
}

/* Writes params and stats under their exported names. */
static void export(const char *path, const struct net *net, const struct record_weights *w)
{
    struct record_pack p = {0};
    struct err e = {0};

    REQUIRE_OK(record_pack_weights(&p, w, net, &e));
    for (size_t i = 0; i < p.tensors; i++) {
        char *name = p.tensor[i].name;
        if (!strncmp(name, "params/", 7))
            memmove(name, name + 7, strlen(name) - 6);
    }
    REQUIRE_OK(safetensors_write(path, p.tensor, p.tensors, NULL, 0, &e));
    record_pack_free(&p);
}

TEST(a_run_starts_from_a_file_or_a_run)
{
    struct err e = {0};
    struct net *net = make_net(model);
    size_t n = net->parameter_count;
    struct record_weights one = make_weights(net, 1, false, 4, 0);
    struct record_weights three = make_weights(net, 3, true, 8, 0);
    struct record_weights to;
    char *results, *file, *file_3;
    struct record *r = new_run(&results);

    file = io_path(results, "one.safetensors");
    file_3 = io_path(results, "three.safetensors");
    export(file, net, &one);
    export(file_3, net, &three);

    REQUIRE_OK(record_weights_new(&to, net, 1, false, 4, 0, &e));
    REQUIRE_OK(record_read_start(results, file, net, &to, &e));
    CHECK(!memcmp(to.params, one.params, n * 4));
    CHECK(!memcmp(to.stats, one.stats, net->stat_count * 4));
    CHECK_INT(record_read_start(results, file_3, net, &to, &e), ERR_INPUT);
    CHECK_HAS(e.text, "--member");
    record_weights_free(&to);

    REQUIRE_OK(record_weights_new(&to, net, 2, true, 8, 0, &e)); /* one for all, and wider */
    REQUIRE_OK(record_read_start(results, file, net, &to, &e));
    CHECK(((double *)to.params)[5] == (double)((float *)one.params)[5]);
    CHECK(!memcmp(to.params, (double *)to.params + n, n * 8));
    CHECK_INT(record_read_start(results, file_3, net, &to, &e), ERR_INPUT);
    CHECK_HAS(e.text, "3 members, this ensemble has 2");
    record_weights_free(&to);

    REQUIRE_OK(record_weights_new(&to, net, 3, true, 8, 0, &e));
    REQUIRE_OK(record_read_start(results, file_3, net, &to, &e));
    CHECK(!memcmp(to.params, three.params, 3 * n * 8));

    CHECK_INT(record_read_start(results, "@", net, &to, &e), ERR_INPUT);
    CHECK_HAS(e.text, "no checkpoint");
    save(r, "checkpoint", &three, net, 1);
    memset(to.params, 0, 3 * n * 8);
    REQUIRE_OK(record_read_start(results, "@", net, &to, &e));
    CHECK(!memcmp(to.params, three.params, 3 * n * 8));
    memset(to.params, 0, 3 * n * 8);
    REQUIRE_OK(record_read_start(NULL, record_folder(r), net, &to, &e));
    CHECK(!memcmp(to.params, three.params, 3 * n * 8));
    CHECK_INT(record_read_start(results, "nothing", net, &to, &e), ERR_INPUT);
    CHECK_INT(record_read_start(results, "nothing.safetensors", net, &to, &e), ERR_INPUT);
    CHECK_HAS(e.text, "nothing.safetensors");
    record_weights_free(&to);

    free(file);
    free(file_3);
    record_weights_free(&one);
    record_weights_free(&three);
    record_close(r);
    net_free(net);
    help_remove(results);
}

TEST(start_weights_of_another_model_are_refused)
{
    static const struct {
        const char *text, *sentence;
    } table[] = {
        {"input auto\nconv 4 2\nbatchnorm\nrelu\ndense classes\n",
         "(2, 2, 2, 3), this model needs (2, 2, 2, 4)"},
        {"input auto\nconv 3 2\nrelu\ndense classes\n", "which this model has not"},
        {"input auto\nconv 3 2\nbatchnorm\nrelu\ndense 4\nrelu\ndense classes\n",
         "no tensor 'Dense_1/"},
    };
    static const float numbers[2] = {1, 2};
    struct safetensors_tensor torch = {.name = "Conv_0.weight",
                                       .type = SAFETENSORS_F32,
                                       .dims = 1,
                                       .shape = {2},
                                       .bytes = numbers};
    struct safetensors_tensor wrong = {.name = "Conv_0/kernel",
                                       .type = SAFETENSORS_U16,
                                       .dims = 1,
                                       .shape = {4},
                                       .bytes = numbers};
    struct err e = {0};
    struct net *net = make_net(model);
    struct record_weights w = make_weights(net, 1, false, 4, 0);
    char *folder = help_folder(), *file = io_path(folder, "a.safetensors");

    export(file, net, &w);
    for (size_t i = 0; i < MEM_COUNT(table); i++) {
        struct net *other = make_net(table[i].text);
        struct record_weights to = make_weights(other, 1, false, 4, 0);
        CHECK_INT(record_read_start(NULL, file, other, &to, &e), ERR_INPUT);
        CHECK_HAS(e.text, file);
        CHECK_HAS(e.text, table[i].sentence);
        record_weights_free(&to);
        net_free(other);
    }
    REQUIRE_OK(safetensors_write(file, &torch, 1, NULL, 0, &e));
    CHECK_INT(record_read_start(NULL, file, net, &w, &e), ERR_INPUT);
    CHECK_HAS(e.text, "--layout torch");
    REQUIRE_OK(safetensors_write(file, &wrong, 1, NULL, 0, &e));
    CHECK_INT(record_read_start(NULL, file, net, &w, &e), ERR_INPUT);
    CHECK_HAS(e.text, "is U16, not F32 or F64");
    free(file);
    record_weights_free(&w);
    net_free(net);
    help_remove(folder);
}
