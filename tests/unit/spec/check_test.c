/* Keys against each other: what applies, what contradicts, what lapses. */
#include "tests/test.h"
#include "base/err.h"
#include "base/text.h"
#include "spec/spec.h"

static enum err_code check(const char *text, struct spec *s, struct err *e)
{
    spec_default(s);
    enum err_code code = spec_parse(s, text, strlen(text), "x.ini", e);
    return code == ERR_OK ? spec_check(s, e) : code;
}

static const struct {
    const char *text, *where, *part;
} bad[] = {
    {"members = 4\n", "x.ini:1: members = 4", "mode = data-parallel"},
    {"mode = data-parallel\nmembers = 1\n", "x.ini:2: members = 1", "only ensemble"},
    {"member_order = same\n", "x.ini:1: member_order", "ensemble"},
    {"mode = ensemble\nsync_bn = yes\n", "x.ini:2: sync_bn = yes", "data-parallel"},
    {"momentum = 0.9\n", "x.ini:1: momentum = 0.9", "optimizer = sgd"},
    {"optimizer = adam\nmomentum = 0.9\n", "x.ini:2: momentum", "momentum or nesterov"},
    {"beta1 = 0.9\n", "x.ini:1: beta1", "adam or adamw"},
    {"optimizer = nesterov\nbeta2 = 0.9\n", "x.ini:2: beta2", "optimizer = nesterov"},
    {"epsilon = 1e-8\n", "x.ini:1: epsilon", "adam or adamw"},
    {"lr_batch = 256\n", "x.ini:1: lr_batch", "lr_rule = none"},
    {"lr_min = 0.1\n", "x.ini:1: lr_min", "cosine"},
    {"schedule = step\nlr_min = 0\n", "x.ini:2: lr_min", "schedule = step"},
    {"step_epochs = 3\n", "x.ini:1: step_epochs", "schedule = constant"},
    {"schedule = cosine\nstep_factor = 0.1\n", "x.ini:2: step_factor", "only step"},
    {"weights = /w.safetensors\ninit = he\n", "x.ini:2: init = he", "weights"},
    {"devices = 3\n", "batch = 256", "255 and 258"},
    {"batch = 100\n\ndevices = 8\n", "x.ini:1: batch = 100", "96 and 104"},
    {"devices = 8\nbatch = 4\n", "x.ini:2: batch = 4", "smallest batch is 8"},
    {"devices = 1024\nbatch = 2147483647/device\n", "x.ini:2: batch", "2147483647"},
    {"mode = ensemble\nmembers = 2\ndevices = 4\n", "x.ini:3: devices = 4", "members (2)"},
    {"mode = ensemble\ndevices = 4\nmembers = 2\n", "x.ini:3: members = 2", "4 devices"},
    {"backend = cpu\ndevices = gpu:0\n", "x.ini:2: devices = gpu:0", "backend = cpu"},
    {"backend = ref\ndevices = gpu:0+1\n", "x.ini:2: devices = gpu:0+1", "backend = ref"},
    {"precision = fp64\n", "x.ini:1: precision = fp64", "ref"},
    {"backend = cpu\nprecision = fp64\n", "x.ini:2: precision = fp64", "ref"},
    {"warmup = 11\n", "x.ini:1: warmup = 11", "epochs = 10"},
    {"warmup = 3\nepochs = 2\n", "x.ini:2: epochs = 2", "warmup = 3"},
    {"schedule = cosine\nlr_min = 0.2\n", "x.ini:2: lr_min = 0.2", "0.1"},
    {"schedule = cosine\nlr_rule = linear\nbatch = 128\nlr_min = 0.06\n", "x.ini:4: lr_min",
     "0.05"},
    {"mode = ensemble\nshuffle = no\nmember_order = own\n", "x.ini:3: member_order", "shuffle"},
    {"threads = 512/device\ndevices = 5\nbatch = 250\n", "x.ini:1: threads",
     "over 5 devices that is 2560 threads, above 1024: at most 204/device"},
};

TEST(contradictions_are_refused_at_their_line)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct spec s;
        struct err e = {0};
        if (check(bad[i].text, &s, &e) != ERR_INPUT) {
            TEST_FAILED("taken: %s", bad[i].text);
            continue;
        }
        if (strncmp(e.text, bad[i].where, strlen(bad[i].where)) != 0)
            TEST_FAILED("\"%s\" does not begin with \"%s\"", e.text, bad[i].where);
        CHECK_HAS(e.text, bad[i].part);
    }
}

TEST(settings_that_belong_together_are_taken)
{
    static const char *const fine[] = {
        "",
        "mode = ensemble\ndevices = 4\nmembers = 6\nmember_order = own\n",
        "mode = ensemble\ndevices = 8\nbatch = 100\n",
        "devices = 8\nbatch = 32/device\nsync_bn = yes\n",
        "devices = 7\nbatch = 1/device\n",
        "devices = 2\nthreads = 512/device\n",
        "optimizer = momentum\nmomentum = 0.5\n",
        "optimizer = adam\nbeta1 = 0.8\nbeta2 = 0.99\nepsilon = 1e-6\nweight_decay = 0.1\n",
        "lr_rule = linear\nlr_batch = 64\n",
        "schedule = cosine\nwarmup = 10\nlr_min = 0.1\n",
        "schedule = step\nstep_epochs = 0.5\nstep_factor = 1\n",
        "epochs = 0\nwarmup = 5\n",
        "backend = ref\nprecision = fp64\n",
        "devices = gpu:0+1\n",
        "backend = cuda\ndevices = gpu:2\nprecision = bf16\n",
        "weights = @\n",
        "lr = 0\n",
        "seed = 9223372036854775807\n",
    };

    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        struct spec s;
        struct err e = {0};
        if (check(fine[i], &s, &e) != ERR_OK)
            TEST_FAILED("%s in %s", e.text, fine[i]);
    }
}

TEST(a_key_of_the_file_lapses_where_the_command_line_changes_what_used_it)
{
    static const char text[] = "mode = ensemble\nmembers = 4\nmember_order = own\n"
                               "optimizer = momentum\nmomentum = 0.8\nschedule = step\n"
                               "step_factor = 0.5\n";
    struct spec s;
    struct err e;
    struct text t = {0};

    REQUIRE_OK(check(text, &s, &e));
    REQUIRE_OK(spec_set(&s, "mode", "data-parallel", "command line", NULL, &e));
    REQUIRE_OK(spec_set(&s, "optimizer", "adam", "command line", NULL, &e));
    REQUIRE_OK(spec_set(&s, "schedule", "constant", "command line", NULL, &e));
    REQUIRE_OK(spec_check(&s, &e));
    spec_write(&s, &t);
    CHECK(!strstr(text_str(&t), "members"));
    CHECK(!strstr(text_str(&t), "\nmomentum ="));
    CHECK(!strstr(text_str(&t), "step_factor"));
    text_free(&t);

    /* given on the command line too, it is an error */
    REQUIRE_OK(spec_set(&s, "momentum", "0.9", "command line", NULL, &e));
    CHECK_INT(spec_check(&s, &e), ERR_INPUT);
    CHECK(!strncmp(e.text, "momentum = 0.9: ", 16));

    /* an error inside the file stays one, whatever else the command line changes */
    spec_default(&s);
    REQUIRE_OK(spec_parse(&s, "members = 4\n", 12, "x.ini", &e));
    REQUIRE_OK(spec_set(&s, "optimizer", "adam", "command line", NULL, &e));
    CHECK_INT(spec_check(&s, &e), ERR_INPUT);
    CHECK(!strncmp(e.text, "x.ini:1: members = 4: ", 22));
}

TEST(a_contradiction_of_the_command_line_stands_at_no_line)
{
    struct spec s;
    struct err e;

    spec_default(&s);
    REQUIRE_OK(spec_parse(&s, "batch = 100\n", 12, "x.ini", &e));
    REQUIRE_OK(spec_set(&s, "batch", "101", "command line", NULL, &e));
    REQUIRE_OK(spec_set(&s, "devices", "2", "command line", NULL, &e));
    CHECK_INT(spec_check(&s, &e), ERR_INPUT);
    CHECK(!strncmp(e.text, "batch = 101: ", 13));
}

TEST(keys_apply_where_something_uses_them)
{
    static const struct {
        const char *key, *none, *set, *to;
    } cases[] = {
        {"members", "mode", "mode", "ensemble"},
        {"member_order", "mode", "mode", "ensemble"},
        {"momentum", "optimizer", "optimizer", "momentum"},
        {"momentum", "optimizer", "optimizer", "nesterov"},
        {"beta1", "optimizer", "optimizer", "adam"},
        {"beta2", "optimizer", "optimizer", "adamw"},
        {"epsilon", "optimizer", "optimizer", "adamw"},
        {"lr_batch", "lr_rule", "lr_rule", "sqrt"},
        {"lr_min", "schedule", "schedule", "cosine"},
        {"step_epochs", "schedule", "schedule", "step"},
        {"step_factor", "schedule", "schedule", "step"},
    };
    struct spec s;
    struct err e;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int key = spec_key_find(cases[i].key);
        spec_default(&s);
        CHECK(!spec_applies(&s, key));
        REQUIRE_OK(spec_set(&s, cases[i].set, cases[i].to, NULL, NULL, &e));
        CHECK(spec_applies(&s, key));
    }
    spec_default(&s);
    CHECK(spec_applies(&s, spec_key_find("sync_bn")));
    CHECK(spec_applies(&s, spec_key_find("init")));
    s.mode = SPEC_ENSEMBLE;
    strcpy(s.weights, "@");
    CHECK(!spec_applies(&s, spec_key_find("sync_bn")));
    CHECK(!spec_applies(&s, spec_key_find("init")));
    CHECK(spec_applies(&s, spec_key_find("lr")));
}

TEST(the_global_batch)
{
    struct spec s;
    struct err e;

    spec_default(&s);
    CHECK_INT(spec_batch(&s), 256);
    REQUIRE_OK(spec_set(&s, "devices", "8", NULL, NULL, &e));
    CHECK_INT(spec_batch(&s), 256);
    REQUIRE_OK(spec_set(&s, "batch", "32/device", NULL, NULL, &e));
    CHECK_INT(spec_batch(&s), 256);
    REQUIRE_OK(spec_set(&s, "devices", "gpu:0+1", NULL, NULL, &e));
    CHECK_INT(spec_batch(&s), 64);
    REQUIRE_OK(spec_set(&s, "devices", "3", NULL, NULL, &e));
    CHECK_INT(spec_batch(&s), 96);
    CHECK_INT(s.gpus, 0);
}

TEST(errors_of_other_rooms_get_the_line_of_the_key)
{
    struct spec s;
    struct err e;
    static const char text[] = "\nbatch = 9\nmodel.width = 3\ndata = mnist\n";

    spec_default(&s);
    REQUIRE_OK(spec_parse(&s, text, sizeof text - 1, "x.ini", &e));
    err_set(&e, ERR_INPUT, "batch = 9 is more than 8");
    spec_locate(&s, &e);
    CHECK_STR(e.text, "x.ini:2: batch = 9 is more than 8");
    spec_locate(&s, &e); /* no second time */
    CHECK_STR(e.text, "x.ini:2: batch = 9 is more than 8");
    err_set(&e, ERR_INPUT, "mlp.net: model.width: too small");
    spec_locate(&s, &e);
    CHECK_STR(e.text, "x.ini:3: mlp.net: model.width: too small");
    err_set(&e, ERR_INPUT, "data: none");
    spec_locate(&s, &e);
    CHECK_STR(e.text, "x.ini:4: data: none");
    err_set(&e, ERR_INPUT, "valid = 3 is much");
    spec_locate(&s, &e);
    CHECK_STR(e.text, "valid = 3 is much");
    err_set(&e, ERR_INPUT, "batches are odd");
    spec_locate(&s, &e);
    CHECK_STR(e.text, "batches are odd");
    err_set(&e, ERR_FAILED, "batch = 9: no memory");
    spec_locate(&s, &e);
    CHECK_STR(e.text, "batch = 9: no memory");
    REQUIRE_OK(spec_set(&s, "batch", "8", NULL, NULL, &e));
    REQUIRE_OK(spec_set(&s, "model.width", "8", NULL, NULL, &e));
    err_set(&e, ERR_INPUT, "batch = 9: x");
    spec_locate(&s, &e);
    CHECK_STR(e.text, "batch = 9: x");
    err_set(&e, ERR_INPUT, "model.width: x");
    spec_locate(&s, &e);
    CHECK_STR(e.text, "model.width: x");
}

TEST(a_path_beside_its_file_is_named_as_it_stands_there)
{
    static const char *const paths[] = {"./x.net", "x.net", "../x.net"};
    char *here = realpath(".", NULL);
    struct spec s;
    struct err e;

    for (int i = 0; i < 3; i++) {
        struct text text = {0}, want = {0};

        text_addf(&text, "model = %s\n", paths[i]);
        text_addf(&want, "./a.ini:1: model = %s: none", paths[i]);
        spec_default(&s);
        REQUIRE_OK(spec_parse(&s, text_str(&text), text.n, "./a.ini", &e));
        err_set(&e, ERR_INPUT, "model = %s: none", s.model);
        spec_locate(&s, &e);
        CHECK_STR(e.text, text_str(&want));
        text_free(&text);
        text_free(&want);
    }
    REQUIRE_OK(spec_set(&s, "model", "y.net", NULL, NULL, &e));
    err_set(&e, ERR_INPUT, "model = %s/y.net: none", here);
    spec_locate(&s, &e); /* in no file */
    CHECK_HAS(e.text, here);
    free(here);
}
