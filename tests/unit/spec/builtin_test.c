/* The experiments that are built into the program: all there, all right, as their references say. */
#include "tests/test.h"
#include "base/err.h"
#include "base/text.h"
#include "net/net.h"
#include "spec/sweep.h"

/* The experiment, or a sweep's first cell. */
static bool read_builtin(struct spec *s, const char *name)
{
    const char *text = spec_builtin(name);
    struct spec_sweep sweep;
    struct err e;
    bool right;

    if (!text) {
        TEST_FAILED("there is no experiment %s", name);
        return false;
    }
    spec_sweep_init(&sweep);
    right = spec_sweep_parse(&sweep, text, strlen(text), name, &e) == ERR_OK &&
            spec_sweep_close(&sweep, &e) == ERR_OK && spec_sweep_cell(&sweep, 0, s, &e) == ERR_OK &&
            spec_check(s, &e) == ERR_OK;
    if (!right)
        TEST_FAILED("%s", e.text);
    spec_sweep_free(&sweep);
    return right;
}

TEST(all_of_them_are_right_and_use_what_is_built_in)
{
    int n = 0;

    for (; spec_builtin_name(n); n++) {
        struct spec s;
        const char *name = spec_builtin_name(n), *text = spec_builtin(name);

        if (!read_builtin(&s, name))
            continue;
        if (!net_builtin(s.model))
            TEST_FAILED("%s: no model %s is built in", name, s.model);
        CHECK(!strchr(s.data, '/'));
        CHECK(text[0] == '#'); /* says what it is */
    }
    CHECK_INT(n, 15);
    CHECK(spec_builtin("no-such-experiment") == NULL);
    CHECK(spec_builtin("") == NULL);
    CHECK(spec_builtin_name(-1) == NULL);
}

TEST(the_references_have_their_own_settings)
{
    struct spec s;

    REQUIRE(read_builtin(&s, "pyprobml-cnn"));
    CHECK_STR(s.model, "cnn");
    CHECK_STR(s.data, "fashion-mnist");
    CHECK_INT(s.devices, 8);
    CHECK_INT(spec_batch(&s), 256);
    CHECK(s.batch_per_device && s.batch == 32);
    CHECK(s.optimizer == SPEC_ADAM && s.lr == 0.2);
    CHECK(s.loss_reduction == SPEC_SUM && !s.shuffle);
    CHECK(s.epochs == 5 && s.seed == 0 && s.mode == SPEC_DATA_PARALLEL);

    struct spec first = s;
    REQUIRE(read_builtin(&s, "pyprobml-cnn-lr001"));
    CHECK(s.lr == 0.001);
    struct text a = {0}, b = {0};
    s.lr = first.lr;
    spec_write(&first, &a);
    spec_write(&s, &b);
    CHECK_STR(text_str(&b), text_str(&a));
    text_free(&a);
    text_free(&b);

    REQUIRE(read_builtin(&s, "djl-resnet18-1"));
    CHECK_STR(s.model, "resnet18");
    CHECK_STR(s.data, "fashion-mnist");
    CHECK(s.devices == 1 && s.batch == 256 && s.lr == 0.1 && s.epochs == 10);
    CHECK(s.optimizer == SPEC_SGD && s.shuffle && s.init == SPEC_INIT_MODEL && !s.train_limit);
    REQUIRE(read_builtin(&s, "djl-resnet18-2"));
    CHECK_STR(s.model, "resnet18");
    CHECK(s.devices == 2 && s.batch == 512 && s.lr == 0.2 && s.epochs == 10);
    CHECK(s.optimizer == SPEC_SGD && !s.sync_bn && !s.train_limit);

    REQUIRE(read_builtin(&s, "dali-mlp"));
    CHECK_STR(s.model, "mlp");
    CHECK_STR(s.data, "mnist");
    CHECK(s.optimizer == SPEC_SGD && s.lr == 0.001 && s.batch == 200 && s.epochs == 5);
    CHECK(s.normalize == SPEC_NORMALIZE_255);

    REQUIRE(read_builtin(&s, "d2l-lenet-1"));
    CHECK_STR(s.model, "lenet");
    CHECK_STR(s.data, "fashion-mnist");
    CHECK(s.devices == 1 && s.batch == 256 && s.lr == 0.2 && s.epochs == 10);
    CHECK(s.optimizer == SPEC_SGD && s.init == SPEC_INIT_MODEL);
    REQUIRE(read_builtin(&s, "d2l-lenet-2"));
    CHECK_STR(s.model, "lenet");
    CHECK(s.devices == 2 && s.batch == 256 && s.lr == 0.2 && s.epochs == 10);

    REQUIRE(read_builtin(&s, "flax-ensemble"));
    CHECK_STR(s.model, "cnn");
    CHECK_STR(s.data, "mnist");
    CHECK(s.mode == SPEC_ENSEMBLE && s.devices == 8 && (s.members == 0 || s.members == 8));
    CHECK(s.optimizer == SPEC_MOMENTUM && s.momentum == 0.9 && s.lr == 0.1);
    CHECK(s.batch == 128 && s.epochs == 10 && s.seed == 0 && s.member_order == SPEC_SAME);
    CHECK(s.weight_decay == 0);

    REQUIRE(read_builtin(&s, "first"));
    CHECK_STR(s.model, "lenet");
    CHECK_STR(s.data, "fashion-mnist");
    CHECK_INT(s.epochs, 2);
}
