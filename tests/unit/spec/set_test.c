/* Every key of an experiment: what it takes, what it gives back, what it refuses and how. */
#include "tests/test.h"
#include "base/err.h"
#include "base/text.h"
#include "spec/spec.h"

#include <sys/stat.h>
#include <unistd.h>

/* Values as they are given, and as spec_value gives them back (NULL: the same). */
static const struct {
    const char *key, *value, *back;
} good[] = {
    {"name", "run-1_a.B", NULL},
    {"name", "\"quoted\"", "quoted"},
    {"model", "cnn", NULL},
    {"model", "/m/a.net", NULL},
    {"model", "\"/m,n/#1.net\"", NULL},
    {"data", "fashion-mnist", NULL},
    {"data", "mnist", NULL},
    {"data", "synthetic", NULL},
    {"data", "/d/train.csv:/d/test.csv", NULL},
    {"data", "/d/idx", NULL},
    {"data", "no-such-name", NULL},
    {"normalize", "255", NULL},
    {"normalize", "standard", NULL},
    {"normalize", "none", NULL},
    {"valid", "0", NULL},
    {"valid", "5000", NULL},
    {"valid", "10%", NULL},
    {"valid", "2.5 %", "2.5%"},
    {"valid", "0%", "0"},
    {"mode", "data-parallel", NULL},
    {"mode", "ensemble", NULL},
    {"backend", "auto", NULL},
    {"backend", "cpu", NULL},
    {"backend", "cuda", NULL},
    {"backend", "ref", NULL},
    {"devices", "1", NULL},
    {"devices", "1024", NULL},
    {"devices", "gpu:0", NULL},
    {"devices", "gpu:3+1+1023", NULL},
    {"threads", "all", NULL},
    {"threads", "7", NULL},
    {"threads", "2/device", NULL},
    {"members", "1", NULL},
    {"members", "4096", NULL},
    {"batch", "1", NULL},
    {"batch", "2147483647", NULL},
    {"batch", "32/device", NULL},
    {"batch", "32 /device", "32/device"},
    {"epochs", "0", NULL},
    {"epochs", "1000000", NULL},
    {"optimizer", "sgd", NULL},
    {"optimizer", "momentum", NULL},
    {"optimizer", "nesterov", NULL},
    {"optimizer", "adam", NULL},
    {"optimizer", "adamw", NULL},
    {"momentum", "0", NULL},
    {"momentum", "0.99", NULL},
    {"beta1", "0.5", NULL},
    {"beta2", "0.9999", NULL},
    {"epsilon", "1e-8", "1e-08"},
    {"epsilon", "1", NULL},
    {"weight_decay", "0.01", NULL},
    {"lr", "0", NULL},
    {"lr", "-0", "0"},
    {"lr", "0.1", NULL},
    {"lr", "1e9", "1000000000"},
    {"lr", "1e30", "1e+30"},
    {"lr", "0.30000000000000004", NULL},
    {"lr_rule", "none", NULL},
    {"lr_rule", "linear", NULL},
    {"lr_rule", "sqrt", NULL},
    {"lr_batch", "128", NULL},
    {"schedule", "constant", NULL},
    {"schedule", "cosine", NULL},
    {"schedule", "step", NULL},
    {"warmup", "0.5", NULL},
    {"lr_min", "0.001", NULL},
    {"step_epochs", "2.5", NULL},
    {"step_factor", "0.5", NULL},
    {"step_factor", "1", NULL},
    {"grad_clip", "1.5", NULL},
    {"grad_clip", "none", ""},
    {"loss_reduction", "mean", NULL},
    {"loss_reduction", "sum", NULL},
    {"shuffle", "yes", NULL},
    {"shuffle", "no", NULL},
    {"member_order", "same", NULL},
    {"member_order", "own", NULL},
    {"init", "model", NULL},
    {"init", "normal:0.01", NULL},
    {"init", "normal:0.01:bias", NULL},
    {"init", "lecun", NULL},
    {"init", "he", NULL},
    {"init", "xavier", NULL},
    {"weights", "none", ""},
    {"weights", "/w/best.safetensors", NULL},
    {"weights", "@2", NULL},
    {"weights", "7f3a", NULL},
    {"precision", "fp32", NULL},
    {"precision", "tf32", NULL},
    {"precision", "bf16", NULL},
    {"precision", "fp64", NULL},
    {"sync_bn", "no", NULL},
    {"sync_bn", "yes", NULL},
    {"augment", "none", NULL},
    {"augment", "flip", NULL},
    {"augment", "erase+crop:4+flip", "flip+crop:4+erase"},
    {"augment", "flip + crop:2", "flip+crop:2"},
    {"seed", "0", NULL},
    {"seed", "9223372036854775807", NULL},
    {"repeats", "1", NULL},
    {"train_limit", "1", NULL},
    {"train_limit", "all", ""},
    {"test_limit", "500", NULL},
    {"test_limit", "all", ""},
    {"log_every", "1", NULL},
    {"keep", "last", NULL},
    {"keep", "every:5+best", "best+every:5"},
    {"keep", "all", NULL},
    {"target_acc", "0.9", NULL},
    {"target_acc", "1", NULL},
    {"target_acc", "none", ""},
    {"max_steps", "1000", NULL},
    {"max_steps", "none", ""},
    {"max_minutes", "0.5", NULL},
    {"max_minutes", "none", ""},
    {"patience", "3", NULL},
    {"patience", "none", ""},
    {"on_end", "none", ""},
    {"on_end", "echo $CHORUS_RUN", NULL},
    {"on_end", "\"mail -s \"\"a, b\"\" me\"", NULL},
};

static const struct {
    const char *key, *value, *part; /* of the error; NULL: the key's own "allowed: ..." is enough */
} bad[] = {
    {"name", "a/b", NULL},
    {"name", "../up", "begin"},
    {"name", ".hidden", "begin"},
    {"name", "-n", "begin"},
    {"name", "two words", NULL},
    {"name",
     "gr\xc3\xb6\xc3\x9f"
     "e",
     NULL},
    {"name", "0123456789012345678901234567890123456789012345678901234567890123456789", "70"},
    {"name", "a\nb", "control"},
    {"model", "", "no value"},
    {"model", "\"\"", "no value"},
    {"model", "a\x1b[2J.net", "control"},
    {"model", "cnn, lenet", "sweep"},
    {"data", "", "no value"},
    {"data", "train.csv:", "missing behind"},
    {"data", "mnist,fashion-mnist", "sweep"},
    {"normalize", "256", NULL},
    {"normalize", "auto", NULL},
    {"normalize", "standart", "did you mean standard?"},
    {"valid", "-1", NULL},
    {"valid", "1.5", NULL},
    {"valid", "100%", NULL},
    {"valid", "-1%", NULL},
    {"valid", "nan%", NULL},
    {"valid", "%", NULL},
    {"valid", "2147483648", NULL},
    {"valid", "5000 images", NULL},
    {"mode", "ensamble", "did you mean ensemble?"},
    {"mode", "Ensemble", "did you mean ensemble?"},
    {"mode", "both", NULL},
    {"mode", "data-parallel, ensemble", "sweep"},
    {"backend", "gpu", NULL},
    {"backend", "CPU", NULL},
    {"devices", "0", NULL},
    {"devices", "-4", NULL},
    {"devices", "1025", NULL},
    {"devices", "2.0", NULL},
    {"devices", "two", NULL},
    {"devices", "gpu:", NULL},
    {"devices", "gpu:0+", NULL},
    {"devices", "gpu:a", NULL},
    {"devices", "gpu:-1", NULL},
    {"devices", "gpu:1024", NULL},
    {"devices", "gpu:0+1+0", "GPU 0 is named twice"},
    {"devices", "gpu:0,2", "sweep"},
    {"devices", "1, 2, 4", "sweep"},
    {"threads", "0", NULL},
    {"threads", "1025", NULL},
    {"threads", "some", NULL},
    {"threads", "0/device", NULL},
    {"threads", "/device", NULL},
    {"threads", "all/device", NULL},
    {"members", "0", NULL},
    {"members", "4097", NULL},
    {"members", "devices", NULL},
    {"batch", "0", NULL},
    {"batch", "-256", NULL},
    {"batch", "2147483648", NULL},
    {"batch", "99999999999999999999", NULL},
    {"batch", "0x100", NULL},
    {"batch", "1e3", NULL},
    {"batch", "32/devices", NULL},
    {"batch", "0/device", NULL},
    {"batch", "256 # comment", NULL},
    {"batch", "64,128", "sweep"},
    {"epochs", "-1", NULL},
    {"epochs", "1000001", NULL},
    {"epochs", "2.5", NULL},
    {"epochs", "ten", NULL},
    {"optimizer", "adm", "did you mean adam?"},
    {"optimizer", "rmsprop", NULL},
    {"momentum", "1", NULL},
    {"momentum", "-0.1", NULL},
    {"momentum", "0,9", "sweep"},
    {"beta1", "1", NULL},
    {"beta2", "1.001", NULL},
    {"epsilon", "0", NULL},
    {"epsilon", "2", NULL},
    {"weight_decay", "-1e-4", NULL},
    {"weight_decay", "1001", NULL},
    {"lr", "", "no value"},
    {"lr", "-0.1", NULL},
    {"lr", "nan", "not finite"},
    {"lr", "inf", "not finite"},
    {"lr", "-inf", "not finite"},
    {"lr", "1e999", NULL},
    {"lr", "0.1.2", NULL},
    {"lr", "0x1p-3", NULL},
    {"lr", "fast", "no number"},
    {"lr", "geom:0.01:1:5", "sweep"},
    {"lr", "lin:0.1:1:10", "sweep"},
    {"lr", "step:0.1:1:0.1", "sweep"},
    {"lr", "loguniform:1e-4:1", "sweep"},
    {"lr", "\"0.1", "closing quote"},
    {"lr", "0.1\"", "middle"},
    {"lr", "\"0.1\" x", "behind the closing quote"},
    {"lr_rule", "cubic", NULL},
    {"lr_batch", "0", NULL},
    {"schedule", "cos", NULL},
    {"schedule", "cosin", "did you mean cosine?"},
    {"warmup", "-1", NULL},
    {"warmup", "1e7", NULL},
    {"lr_min", "-1", NULL},
    {"step_epochs", "0", NULL},
    {"step_factor", "0", NULL},
    {"step_factor", "1.5", NULL},
    {"grad_clip", "0", NULL},
    {"grad_clip", "-1", NULL},
    {"grad_clip", "inf", NULL},
    {"loss_reduction", "total", NULL},
    {"shuffle", "true", "neither yes nor no"},
    {"shuffle", "1", NULL},
    {"member_order", "different", NULL},
    {"init", "normal", NULL},
    {"init", "normal:", NULL},
    {"init", "normal:0", NULL},
    {"init", "normal:-1", NULL},
    {"init", "normal:inf", NULL},
    {"init", "normal:0.1:biased", NULL},
    {"init", "normal:0.1:bias:bias", NULL},
    {"init", "zeros", NULL},
    {"weights", "", "no value"},
    {"precision", "fp16", NULL},
    {"precision", "double", NULL},
    {"sync_bn", "maybe", NULL},
    {"augment", "rotate", NULL},
    {"augment", "flip+flip", "twice"},
    {"augment", "flip+", NULL},
    {"augment", "+flip", NULL},
    {"augment", "crop", NULL},
    {"augment", "crop:", NULL},
    {"augment", "crop:0", NULL},
    {"augment", "crop:257", NULL},
    {"augment", "none+flip", NULL},
    {"seed", "-1", NULL},
    {"seed", "9223372036854775808", NULL},
    {"seed", "1.0", NULL},
    {"seed", "1, 2, 3", "sweep"},
    {"repeats", "0", NULL},
    {"repeats", "3", "sweep"},
    {"train_limit", "0", NULL},
    {"train_limit", "none", NULL},
    {"train_limit", "-5", NULL},
    {"test_limit", "0", NULL},
    {"log_every", "0", NULL},
    {"keep", "first", NULL},
    {"keep", "last+last", "twice"},
    {"keep", "every", NULL},
    {"keep", "every:0", NULL},
    {"keep", "every:x", NULL},
    {"keep", "last+", NULL},
    {"target_acc", "0", NULL},
    {"target_acc", "90", NULL},
    {"target_acc", "90%", NULL},
    {"max_steps", "0", NULL},
    {"max_steps", "9223372036854775808", NULL},
    {"max_minutes", "0", NULL},
    {"max_minutes", "soon", NULL},
    {"patience", "0", NULL},
    {"patience", "1.5", NULL},
    {"on_end", "echo \"done", "quote"},
};

TEST(every_key_takes_what_it_says_and_gives_it_back)
{
    unsigned long long seen = 0;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct spec s, again;
        struct err e = {0};
        struct text value = {0}, second = {0};
        int key = spec_key_find(good[i].key);

        REQUIRE(key >= 0);
        seen |= 1ull << key;
        spec_default(&s);
        if (spec_set(&s, good[i].key, good[i].value, "test", NULL, &e) != ERR_OK) {
            TEST_FAILED("%s = %s: %s", good[i].key, good[i].value, e.text);
            continue;
        }
        CHECK(s.given >> key & 1);
        spec_value(&s, key, &value);
        const char *want = good[i].back ? good[i].back : good[i].value;
        if (strcmp(text_str(&value), want) != 0)
            TEST_FAILED("%s = %s came back as \"%s\"", good[i].key, good[i].value,
                        text_str(&value));
        if (value.n) {
            spec_default(&again);
            REQUIRE_OK(spec_set(&again, good[i].key, text_str(&value), "test", NULL, &e));
            spec_value(&again, key, &second);
            CHECK_STR(text_str(&second), text_str(&value));
        }
        text_free(&value);
        text_free(&second);
    }
    for (int k = 0; k < SPEC_KEYS; k++)
        if (!(seen >> k & 1))
            TEST_FAILED("no good value of %s was tried", spec_keys[k].name);
}

TEST(every_key_refuses_bad_values_in_one_sentence_and_stays_as_it_was)
{
    unsigned long long seen = 0;

    REQUIRE(sizeof bad / sizeof *bad >= 100);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct spec s, before;
        struct err e = {0};
        int key = spec_key_find(bad[i].key);

        REQUIRE(key >= 0);
        seen |= 1ull << key;
        spec_default(&s);
        before = s;
        enum err_code code = spec_set(&s, bad[i].key, bad[i].value, "a.ini:7", NULL, &e);
        if (code != ERR_INPUT) {
            TEST_FAILED("%s = %s was taken", bad[i].key, bad[i].value);
            continue;
        }
        CHECK(e.code == ERR_INPUT);
        CHECK(!memcmp(&s, &before, sizeof s));
        CHECK(!strncmp(e.text, "a.ini:7: ", 9));
        CHECK_HAS(e.text, bad[i].key);
        CHECK(!strpbrk(e.text, "\n\r\x1b"));
        if (bad[i].part)
            CHECK_HAS(e.text, bad[i].part);
        if (!bad[i].part || strcmp(bad[i].part, "sweep") != 0)
            CHECK_HAS(e.text, spec_keys[key].values);
        if (!strpbrk(bad[i].value, "\n\x1b\xc3") && strcmp(bad[i].value, "\"\"") != 0)
            CHECK_HAS(e.text, bad[i].value);
    }
    for (int k = 0; k < SPEC_KEYS; k++)
        if (!(seen >> k & 1))
            TEST_FAILED("no bad value of %s was tried", spec_keys[k].name);
}

TEST(defaults_are_those_of_the_table)
{
    struct spec s, t;
    struct err e;

    spec_default(&s);
    CHECK_INT(s.given, 0);
    for (int k = 0; k < SPEC_KEYS; k++) {
        struct text value = {0};
        spec_value(&s, k, &value);
        t = s;
        bool in_words = strchr(spec_keys[k].fallback, ' ') != NULL;
        if (value.n)
            CHECK_STR(text_str(&value), spec_keys[k].fallback);
        if (!in_words)
            REQUIRE_OK(spec_set(&t, spec_keys[k].name, spec_keys[k].fallback, NULL, NULL, &e));
        text_clear(&value);
        spec_value(&t, k, &value);
        CHECK_STR(text_str(&value), value.n ? spec_keys[k].fallback : "");
        CHECK(value.n || in_words || !strcmp(spec_keys[k].fallback, "none") ||
              !strcmp(spec_keys[k].fallback, "all"));
        CHECK(spec_keys[k].help && strlen(spec_keys[k].help) > 10);
        CHECK(!strchr(spec_keys[k].help, '\n'));
        text_free(&value);
    }
    CHECK(spec_keys[SPEC_KEYS].name == NULL);
    CHECK_INT(spec_key_find("model.width"), spec_key_find("model"));
    CHECK_INT(spec_key_find("models"), -1);
    CHECK_INT(spec_key_find(""), -1);
}

TEST(unknown_keys_are_answered_with_the_nearest_or_with_where_all_are)
{
    struct spec s;
    struct err e;

    spec_default(&s);
    CHECK_INT(spec_set(&s, "epoch", "3", "command line", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "did you mean epochs?");
    CHECK_INT(spec_set(&s, "lrrule", "linear", "command line", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "did you mean lr_rule?");
    CHECK_INT(spec_set(&s, "learning-rate", "1", "command line", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "did you mean lr?");
    CHECK_INT(spec_set(&s, "batch_size", "1", "command line", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "did you mean batch?");
    CHECK_INT(spec_set(&s, "colour", "red", "command line", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "command line: there is no key colour");
    CHECK_HAS(e.text, "`chorus help keys`");
    CHECK(!strstr(e.text, "patience"));
    CHECK_INT(spec_set(&s, "LR", "1", "command line", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "did you mean lr?");
    CHECK_INT(spec_set(&s, "log-every", "1", "command line", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "did you mean log_every?");
    CHECK_INT(spec_set(&s, "lr", "", "command line", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "lr = '': there is no value");
    CHECK_INT(spec_set(&s, "", "red", "command line", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "key = value");
    CHECK_INT(spec_set(&s, "samples", "40", "command line", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "sweep");
    CHECK_INT(spec_set(&s, "zip", "devices, batch", "command line", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "sweep");
}

TEST(an_error_stays_short_whatever_the_value)
{
    struct spec s;
    struct err e;
    char *long_value = malloc(60001);

    REQUIRE(long_value);
    memset(long_value, 'x', 60000);
    long_value[60000] = 0;
    for (int k = 0; k < SPEC_KEYS; k++) {
        spec_default(&s);
        if (spec_set(&s, spec_keys[k].name, long_value, "f:1", NULL, &e) != ERR_INPUT)
            TEST_FAILED("%s took 60,000 letters", spec_keys[k].name);
        else
            CHECK(strlen(e.text) < 500);
    }
    CHECK_INT(spec_set(&s, long_value, "1", "f:1", NULL, &e), ERR_INPUT);
    CHECK(strlen(e.text) < 1000);
    CHECK_INT(spec_set(&s, "model.width", long_value, "f:1", NULL, &e), ERR_INPUT);
    CHECK(strlen(e.text) < 500);
    free(long_value);
}

TEST(what_is_no_text_is_shown_in_forty_columns)
{
    static const char garbage[] =
        "\x01\xfe\x02\xfd\x03\xfc\x04\xfb\x05\xfa\x06\xf9\x07\xf8\x08\xf7"
        "\x01\xfe\x02\xfd\x03\xfc\x04\xfb\x05\xfa\x06\xf9\x07\xf8\x08\xf7";
    struct spec s;
    struct err e;

    spec_default(&s);
    CHECK_INT(spec_set(&s, garbage, "1", "f:1", NULL, &e), ERR_INPUT);
    CHECK_STR(e.text, "f:1: there is no key ^A\\xFE^B\\xFD^C\\xFC^D\\xFB^E\\xFA^F\\xF9^G...; "
                      "`chorus help keys` lists them");
    CHECK_INT(spec_set(&s, "l\xffr", "1", "f:1", NULL, &e), ERR_INPUT);
    CHECK_STR(e.text, "f:1: there is no key l\\xFFr; `chorus help keys` lists them");
    CHECK_INT(spec_set(&s, "optimizer", garbage, "f:1", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "^G...: ");
    CHECK_INT(spec_parse(&s, garbage, sizeof garbage - 1, "f", &e), ERR_INPUT);
    CHECK_HAS(e.text, "^G...\" has no '='");
}

TEST(a_long_value_is_cut_between_characters)
{
    static const char letter[] = "\xc3\xa4"; /* two bytes, which 99 letters in front part at 100 */
    struct spec s;
    struct err e;
    char value[200] = "", want[200];

    memset(value, 'x', 99);
    for (int i = 0; i < 20; i++)
        strcat(value, letter);
    snprintf(want, sizeof want, " = %.101s...: ", value);
    spec_default(&s);
    CHECK_INT(spec_set(&s, "optimizer", value, "f:1", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, want);
}

TEST(parameters_of_a_model)
{
    struct spec s, before;
    struct err e;
    char name[32];

    spec_default(&s);
    REQUIRE_OK(spec_set(&s, "model.width", "64", NULL, NULL, &e));
    REQUIRE_OK(spec_set(&s, "model.depth", "3", NULL, NULL, &e));
    REQUIRE_OK(spec_set(&s, "model.width", "128", NULL, NULL, &e));
    CHECK_INT(s.params, 2);
    CHECK_STR(s.param[0].name, "width");
    CHECK_STR(s.param[0].value, "128");
    CHECK_STR(s.param[1].value, "3");

    before = s;
    CHECK_INT(spec_set(&s, "model.", "1", NULL, NULL, &e), ERR_INPUT);
    CHECK_INT(spec_set(&s, "model.a b", "1", NULL, NULL, &e), ERR_INPUT);
    CHECK_INT(spec_set(&s, "model.a.b", "1", NULL, NULL, &e), ERR_INPUT);
    CHECK_INT(spec_set(&s, "model.width", "", NULL, NULL, &e), ERR_INPUT);
    CHECK_INT(spec_set(&s, "model.width", "64, 128", NULL, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "sweep");
    CHECK_INT(spec_set(&s, "model.a234567890123456789012345678901x", "1", NULL, NULL, &e),
              ERR_INPUT);
    CHECK_INT(spec_set(&s, "model.width", "123456789012345678901234567890123", NULL, NULL, &e),
              ERR_INPUT);
    CHECK(!memcmp(&s, &before, sizeof s));
    for (int i = s.params; i < SPEC_PARAMS; i++) {
        snprintf(name, sizeof name, "model.p%d", i);
        REQUIRE_OK(spec_set(&s, name, "1", NULL, NULL, &e));
    }
    CHECK_INT(spec_set(&s, "model.more", "1", NULL, NULL, &e), ERR_INPUT);
    CHECK_INT(s.params, SPEC_PARAMS);
}

TEST(paths_are_relative_to_the_folder_that_is_given)
{
    struct spec s;
    struct err e;
    char here[4096], want[8192];

    REQUIRE(getcwd(here, sizeof here));
    spec_default(&s);
    REQUIRE_OK(spec_set(&s, "model", "mine.net", NULL, "/some/folder", &e));
    CHECK_STR(s.model, "/some/folder/mine.net");
    REQUIRE_OK(spec_set(&s, "model", "./nets/mine", NULL, "/some/folder", &e));
    CHECK_STR(s.model, "/some/folder/nets/mine");
    REQUIRE_OK(spec_set(&s, "model", "/abs/mine.net", NULL, "/some/folder", &e));
    CHECK_STR(s.model, "/abs/mine.net");
    REQUIRE_OK(spec_set(&s, "model", "cnn", NULL, "/some/folder", &e));
    CHECK_STR(s.model, "cnn");
    REQUIRE_OK(spec_set(&s, "data", "a.csv:sub/b.csv", NULL, "/some/folder", &e));
    CHECK_STR(s.data, "/some/folder/a.csv:/some/folder/sub/b.csv");
    REQUIRE_OK(spec_set(&s, "data", "../idx", NULL, "/some/folder", &e));
    CHECK_STR(s.data, "/some/folder/../idx");
    REQUIRE_OK(spec_set(&s, "data", "mnist", NULL, "/some/folder", &e));
    CHECK_STR(s.data, "mnist");
    REQUIRE_OK(spec_set(&s, "weights", "w.safetensors", NULL, "/some/folder", &e));
    CHECK_STR(s.weights, "/some/folder/w.safetensors");
    REQUIRE_OK(spec_set(&s, "weights", "@best", NULL, "/some/folder", &e));
    CHECK_STR(s.weights, "@best");

    /* no shell puts in the home folder for a file, a field or what stands behind a colon */
    setenv("HOME", "/home/me", 1);
    REQUIRE_OK(spec_set(&s, "model", "~/nets/mine.net", NULL, "/some/folder", &e));
    CHECK_STR(s.model, "/home/me/nets/mine.net");
    REQUIRE_OK(spec_set(&s, "data", "~/a.csv:~/b.csv", NULL, NULL, &e));
    CHECK_STR(s.data, "/home/me/a.csv:/home/me/b.csv");
    REQUIRE_OK(spec_set(&s, "data", "~me/a.csv", NULL, "/some/folder", &e));
    CHECK_STR(s.data, "/some/folder/~me/a.csv");

    REQUIRE_OK(spec_set(&s, "model", "mine.net", NULL, NULL, &e));
    snprintf(want, sizeof want, "%s/mine.net", here);
    CHECK_STR(s.model, want);
    REQUIRE_OK(spec_set(&s, "model", "mine.net", NULL, "sub", &e));
    snprintf(want, sizeof want, "%s/sub/mine.net", here);
    CHECK_STR(s.model, want);
    REQUIRE_OK(spec_set(&s, "data", "tests", NULL, NULL, &e)); /* there is such a folder */
    snprintf(want, sizeof want, "%s/tests", here);
    CHECK_STR(s.data, want);

    char long_path[1200];
    memset(long_path, 'p', sizeof long_path);
    memcpy(long_path, "/", 1);
    strcpy(long_path + 1100, ".net");
    CHECK_INT(spec_set(&s, "model", long_path, NULL, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "1104 bytes long");
    strcpy(long_path + 1000, "/");
    CHECK_INT(spec_set(&s, "weights", long_path, NULL, "/a/folder/that/is/long", &e), ERR_OK);
    CHECK_INT(spec_set(&s, "weights", long_path + 1, NULL, "/a/folder/that/is/too/long", &e),
              ERR_INPUT);
}

TEST(fake_is_for_tests_alone)
{
    struct spec s;
    struct err e;

    spec_default(&s);
    unsetenv("CHORUS_FAKE");
    CHECK_INT(spec_set(&s, "backend", "fake", NULL, NULL, &e), ERR_INPUT);
    CHECK(!strstr(spec_keys[spec_key_find("backend")].values, "fake"));
    setenv("CHORUS_FAKE", "1", 1);
    REQUIRE_OK(spec_set(&s, "backend", "fake", NULL, NULL, &e));
    CHECK_INT(s.backend, SPEC_FAKE);
    unsetenv("CHORUS_FAKE");
}

TEST(weight_decay_follows_the_optimizer_until_it_is_given)
{
    struct spec s;
    struct err e;

    spec_default(&s);
    REQUIRE_OK(spec_set(&s, "optimizer", "adamw", NULL, NULL, &e));
    CHECK(s.weight_decay == 1e-4);
    REQUIRE_OK(spec_set(&s, "optimizer", "adam", NULL, NULL, &e));
    CHECK(s.weight_decay == 0);
    REQUIRE_OK(spec_set(&s, "weight_decay", "0.02", NULL, NULL, &e));
    REQUIRE_OK(spec_set(&s, "optimizer", "adamw", NULL, NULL, &e));
    CHECK(s.weight_decay == 0.02);
}
