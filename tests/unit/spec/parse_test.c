/* The INI text: its grammar, its errors, that what is written reads back, and that nothing hurts. */
#include "tests/test.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "rng/rng.h"
#include "spec/spec.h"

#include <sys/stat.h>
#include <unistd.h>

static enum err_code parse(struct spec *s, const char *text, struct err *e)
{
    return spec_parse(s, text, strlen(text), "dir/x.ini", e);
}

TEST(a_file_with_everything_that_is_allowed)
{
    struct spec s;
    struct err e;

    spec_default(&s);
    REQUIRE_OK(parse(&s,
                     "\xef\xbb\xbf# a comment\r\n"
                     "\r\n"
                     "   \t \n"
                     "lr=0.5\r\n"
                     "\tbatch  =  64   # behind a value\n"
                     "model = \"/nets/a,b #1 \"\"x\"\".net\" # quoted\n"
                     "model.width = 32\n"
                     "epochs = 3#close\n"
                     "shuffle = no",
                     &e));
    CHECK(s.lr == 0.5);
    CHECK_INT(s.batch, 64);
    CHECK_STR(s.model, "/nets/a,b #1 \"x\".net");
    CHECK_STR(s.param[0].value, "32");
    CHECK_INT(s.epochs, 3);
    CHECK(!s.shuffle);
    CHECK_STR(s.file, "dir/x.ini");
    CHECK_INT(s.line[spec_key_find("lr")], 4);
    CHECK_INT(s.line[spec_key_find("shuffle")], 9);
    CHECK_INT(s.line[spec_key_find("seed")], 0);
}

TEST(text_before_and_behind_a_file_can_be_set_over_it)
{
    struct spec s;
    struct err e;

    spec_default(&s);
    REQUIRE_OK(spec_set(&s, "lr", "0.3", NULL, NULL, &e));
    REQUIRE_OK(parse(&s, "lr = 0.5\nbatch = 32\n", &e));
    REQUIRE_OK(spec_set(&s, "batch", "16", NULL, NULL, &e));
    CHECK(s.lr == 0.5);
    CHECK_INT(s.batch, 16);
    CHECK_INT(s.line[spec_key_find("batch")], 0);
}

TEST(every_error_names_file_and_line)
{
    static const struct {
        const char *text, *where, *part;
    } bad[] = {
        {"lr", "dir/x.ini:1: ", "key = value"},
        {"\n\nlr 0.1\n", "dir/x.ini:3: ", "lr 0.1"},
        {"= 0.1", "dir/x.ini:1: ", "no key"},
        {"lr =\n", "dir/x.ini:1: lr", "no value"},
        {"lr = # nothing\n", "dir/x.ini:1: lr", "no value"},
        {"# one\n[model]\nlr = 1\n", "dir/x.ini:2: ", "[model]"},
        {"lr = 0.1\nbatch = 8\nlr = 0.2\n", "dir/x.ini:3: lr", "line 1"},
        {"model.w = 1\nmodel.w = 2\n", "dir/x.ini:2: model.w", "line 1"},
        {"lr = 0.1\nepoch = 2\n", "dir/x.ini:2: ", "did you mean epochs?"},
        {"LR = 0.1\n", "dir/x.ini:1: ", "no key LR"},
        {"lr : 0.1\n", "dir/x.ini:1: ", "'='"},
        {"lr = 0.1 ; comment\n", "dir/x.ini:1: lr", "no number"},
        {"lr = 0.1 // comment\n", "dir/x.ini:1: lr", "no number"},
        {"lr == 0.1\n", "dir/x.ini:1: lr", "no number"},
        {"batch = 64, 128\n", "dir/x.ini:1: batch", "sweep"},
        {"samples = 40\n", "dir/x.ini:1: samples", "sweep"},
        {"zip = devices, batch\n", "dir/x.ini:1: zip", "sweep"},
        {"repeats = 5\n", "dir/x.ini:1: repeats", "sweep"},
        {"data = \"a,b\n", "dir/x.ini:1: data", "closing quote"},
        {"lr = 0.1\rbatch = 2\n", "dir/x.ini:1: lr", "control character"},
        {"lr = 0.1\x01\n", "dir/x.ini:1: lr", "control character"},
        {"\x1b[2J = 1\n", "dir/x.ini:1: ", "^["},
        {"\x89PNG\r\n\x1a\n", "dir/x.ini:1: ", "\\x89PNG"},
        {"{\"lr\": 0.1}", "dir/x.ini:1: ", "'='"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct spec s;
        struct err e = {0};
        spec_default(&s);
        if (parse(&s, bad[i].text, &e) != ERR_INPUT) {
            TEST_FAILED("no error in: %s", bad[i].text);
            continue;
        }
        if (strncmp(e.text, bad[i].where, strlen(bad[i].where)) != 0)
            TEST_FAILED("\"%s\" does not begin with \"%s\"", e.text, bad[i].where);
        CHECK_HAS(e.text, bad[i].part);
        CHECK(!strpbrk(e.text, "\n\r\x1b\x89"));
    }
}

TEST(bytes_that_are_no_text)
{
    struct spec s;
    struct err e;

    spec_default(&s);
    CHECK_INT(spec_parse(&s, "lr = 0.1\nba\0tch = 2\n", 20, "x.ini", &e), ERR_INPUT);
    CHECK_HAS(e.text, "x.ini:2: there is a byte 0");
    CHECK_INT(spec_parse(&s, "\xff\xfel\0r\0", 6, "x.ini", &e), ERR_INPUT); /* UTF-16 */
    CHECK_HAS(e.text, "x.ini:1: ");
    REQUIRE_OK(spec_parse(&s, "", 0, "x.ini", &e));
    REQUIRE_OK(spec_parse(&s, "\xef\xbb\xbf", 3, "x.ini", &e));
}

TEST(lines_may_be_64_KiB_long_and_no_longer)
{
    struct spec s;
    struct err e;
    size_t n = 65536;
    char *text = mem_new(n + 32, 1);

    memset(text, ' ', n);
    memcpy(text, "lr = 0.25 #", 11);
    memcpy(text + n, "\nbatch = 8\n", 11);
    spec_default(&s);
    REQUIRE_OK(spec_parse(&s, text, n + 11, "x.ini", &e));
    CHECK(s.lr == 0.25);
    CHECK_INT(s.batch, 8);
    memcpy(text + n, " \nbatch = 8\n", 12);
    CHECK_INT(spec_parse(&s, text, n + 12, "x.ini", &e), ERR_INPUT);
    CHECK_HAS(e.text, "x.ini:1: the line has 65537 bytes");
    free(text);
}

TEST(files_that_are_not_there_or_not_files)
{
    struct spec s;
    struct err e;
    char folder[] = "/tmp/chorus-spec-XXXXXX", path[128];

    REQUIRE(mkdtemp(folder));
    spec_default(&s);
    snprintf(path, sizeof path, "%s/none.ini", folder);
    CHECK_INT(spec_read(&s, path, &e), ERR_INPUT);
    CHECK_HAS(e.text, "none.ini");
    CHECK_INT(spec_read(&s, folder, &e), ERR_INPUT);
    CHECK_HAS(e.text, "folder");

    snprintf(path, sizeof path, "%s/some.ini", folder);
    FILE *f = fopen(path, "w");
    REQUIRE(f);
    fputs("model = own.net\nlr = 1\n", f);
    fclose(f);
    REQUIRE_OK(spec_read(&s, path, &e));
    char want[128];
    snprintf(want, sizeof want, "%s/own.net", folder);
    CHECK_STR(s.model, want);

    REQUIRE(truncate(path, 5 << 20) == 0);
    CHECK_INT(spec_read(&s, path, &e), ERR_INPUT);
    CHECK_HAS(e.text, "some.ini");
    unlink(path);
    rmdir(folder);
}

static char *written(const struct spec *s)
{
    struct text t = {0};

    spec_write(s, &t);
    return t.s;
}

static bool round_trip(const struct spec *s)
{
    struct spec again;
    struct err e;
    char *first = written(s), *second = NULL;

    spec_default(&again);
    if (spec_parse(&again, first, strlen(first), "/x.ini", &e) != ERR_OK) {
        TEST_FAILED("%s in\n%s", e.text, first);
    } else if (spec_check(&again, &e) != ERR_OK && spec_check(s, &e) == ERR_OK) {
        TEST_FAILED("what was right is wrong once written:\n%s", first);
    } else {
        second = written(&again);
        if (strcmp(first, second) != 0)
            TEST_FAILED("wrote\n%sand then\n%s", first, second);
    }
    bool same = second && !strcmp(first, second);
    free(first);
    free(second);
    return same;
}

TEST(what_is_written_reads_back)
{
    struct spec s;
    struct err e;

    spec_default(&s);
    CHECK(round_trip(&s));
    REQUIRE_OK(parse(&s,
                     "name = n\nmodel = \"/a b/#,.net\"\nmodel.width = \"a,b\"\n"
                     "data = \"/x,y/train.csv:/x,y/test.csv\"\nnormalize = none\nvalid = 12.5%\n"
                     "mode = ensemble\nbackend = cuda\ndevices = gpu:0+2\nthreads = 3/device\n"
                     "members = 5\nbatch = 16/device\nepochs = 7\noptimizer = nesterov\n"
                     "momentum = 0.875\nweight_decay = 1e-5\nlr = 0.30000000000000004\n"
                     "lr_rule = sqrt\nlr_batch = 100\nschedule = cosine\nwarmup = 0.3\n"
                     "lr_min = 1e-300\ngrad_clip = 3\nloss_reduction = sum\nshuffle = yes\n"
                     "member_order = own\nweights = /w/a.safetensors\nprecision = bf16\n"
                     "augment = crop:3+erase\nseed = 9223372036854775807\ntrain_limit = 99\n"
                     "test_limit = 98\nlog_every = 3\nkeep = last+every:4\ntarget_acc = 0.9\n"
                     "max_steps = 1000\nmax_minutes = 2.5\npatience = 4\n",
                     &e));
    REQUIRE_OK(spec_check(&s, &e));
    CHECK(round_trip(&s));

    char *text = written(&s);
    CHECK_HAS(text, "model = \"/a b/#,.net\"\nmodel.width = \"a,b\"\n");
    CHECK_HAS(text, "lr = 0.30000000000000004\n");
    CHECK_HAS(text, "devices = gpu:0+2\n");
    CHECK(!strstr(text, "beta1"));       /* not of nesterov */
    CHECK(!strstr(text, "sync_bn"));     /* not of an ensemble */
    CHECK(!strstr(text, "step_factor")); /* not of cosine */
    CHECK(!strstr(text, "init"));        /* not with weights */
    CHECK(!strstr(text, "on_end"));
    free(text);

    struct spec again;
    spec_default(&again);
    text = written(&s);
    REQUIRE_OK(spec_parse(&again, text, strlen(text), "dir/x.ini", &e));
    again.given = s.given;
    memcpy(again.line, s.line, sizeof s.line);
    again.param[0].line = s.param[0].line;
    CHECK(!memcmp(&again, &s, sizeof s));
    free(text);
}

/* A small generator of our own tests' needs. */
static uint32_t dice(uint64_t *at, uint32_t below)
{
    return rng_bits_at(rng_key(2026), (*at)++) % below;
}

static const char *const values[] = {
    "0",     "1",        "2",     "0.5",        "1e-3",   "100",           "sgd",   "adamw",
    "adam",  "nesterov", "yes",   "no",         "none",   "all",           "own",   "same",
    "step",  "cosine",   "sum",   "ensemble",   "linear", "data-parallel", "gpu:1", "4/device",
    "he",    "normal:2", "fp64",  "flip",       "10%",    "last+every:2",  "ref",   "crop:2+flip",
    "\"a\"", "\"#,\"",   "x.net", "a.csv:b.csv"};

TEST(random_experiments_read_back)
{
    uint64_t at = 0;
    int right = 0;

    for (int i = 0; i < 4000; i++) {
        struct spec s;
        struct err e;
        spec_default(&s);
        int n = (int)dice(&at, 12);
        for (int j = 0; j < n; j++) {
            const char *value = values[dice(&at, sizeof values / sizeof *values)];
            if (spec_set(&s, spec_keys[dice(&at, SPEC_KEYS)].name, value, NULL, "/f", &e) == ERR_OK)
                right++;
        }
        if (!round_trip(&s))
            return;
    }
    CHECK(right > 2000);
}

TEST(mutated_files_end_in_an_error_or_in_an_experiment)
{
    static const char seed_text[] =
        "# comment\nmodel = \"/a,b.net\" # c\nmodel.width = 64\nlr = 0.1\nbatch = 32/device\n"
        "devices = gpu:0+1\naugment = flip+crop:2\nkeep = last+every:3\ndata = a.csv:b.csv\n"
        "init = normal:0.1:bias\nvalid = 10%\nthreads = 2/device\nseed = 7\nschedule = cosine\n";
    uint64_t at = 1 << 20;
    int taken = 0, refused = 0;

    for (int i = 0; i < 20000; i++) {
        char text[sizeof seed_text + 64];
        size_t n = sizeof seed_text - 1;
        struct spec s;
        struct err e = {0};

        memcpy(text, seed_text, n);
        int changes = 1 + (int)dice(&at, 4);
        for (int j = 0; j < changes && n; j++) {
            size_t p = dice(&at, (uint32_t)n);
            switch (dice(&at, 5)) {
            case 0:
                text[p] = (char)dice(&at, 256);
                break;
            case 1:
                text[p] = "=#\"\n\r,+:%/ []\0"[dice(&at, 14)];
                break;
            case 2: /* cut out */
                memmove(text + p, text + p + 1, n - p - 1);
                n--;
                break;
            case 3: /* cut off */
                n = p + 1;
                break;
            default: /* put in */
                memmove(text + p + 1, text + p, n - p);
                n++;
                text[p] = "0123456789abcdef=#\"\n"[dice(&at, 20)];
                break;
            }
        }
        char *exact = mem_text_n(text, n); /* of its own, so that a sanitizer sees its end */
        spec_default(&s);
        if (spec_parse(&s, exact, n, "x.ini", &e) == ERR_OK) {
            taken++;
            if (!round_trip(&s)) {
                free(exact);
                return;
            }
        } else {
            refused++;
            CHECK(e.code == ERR_INPUT);
            CHECK(!strncmp(e.text, "x.ini:", 6));
            CHECK(!strchr(e.text, '\n'));
        }
        free(exact);
    }
    CHECK(taken > 500);
    CHECK(refused > 5000);
}
