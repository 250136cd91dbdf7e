/* Sweeps: lists and forms, the grid, zip, repeats, samples, the order, what is refused. */
#include "tests/test.h"
#include "base/mem.h"
#include "spec/sweep.h"

#include <ctype.h>
#include <unistd.h>

/* "KEY=VALUE" lines of a text as a file g.ini. */
static enum err_code read_text(struct spec_sweep *s, const char *text, struct err *e)
{
    enum err_code code;

    memset(e, 0, sizeof *e);
    spec_sweep_init(s);
    code = spec_sweep_parse(s, text, strlen(text), "dir/g.ini", e);
    if (code == ERR_OK)
        code = spec_sweep_close(s, e);
    return code;
}

static const char *values_of(const struct spec_sweep *s, const char *key)
{
    static struct text t;

    text_clear(&t);
    for (size_t a = 0; a < s->axes; a++)
        for (size_t i = 0; i < s->axis[a].values && !strcmp(s->axis[a].key, key); i++)
            text_addf(&t, "%s%s", i ? " " : "", s->axis[a].value[i]);
    return text_str(&t);
}

static const char *cell_value(const struct spec_sweep *s, size_t cell, const char *key)
{
    static struct text t;
    struct spec out;
    struct err e;

    text_clear(&t);
    if (spec_sweep_cell(s, cell, &out, &e) != ERR_OK)
        return "impossible";
    spec_value(&out, spec_key_find(key), &t);
    return text_str(&t);
}

TEST(lists_and_forms_by_hand)
{
    static const struct {
        const char *key, *list, *values;
    } good[] = {
        {"lr", "0.05, 0.1 ,0.2", "0.05 0.1 0.2"},
        {"lr", "5e-2,1e-1", "5e-2 1e-1"},
        {"lr", "0.50, .1", "0.50 .1"},
        {"optimizer", "sgd, adam", "sgd adam"},
        {"augment", "none, flip+crop:4", "none flip+crop:4"},
        {"data", "\"a,b.csv\", mnist", "\"a,b.csv\" mnist"},
        {"batch", "32/device, 64/device", "32/device 64/device"},
        {"model.width", "64, 128", "64 128"},
        {"lr", "lin:0.1:0.5:5", "0.1 0.2 0.3 0.4 0.5"},
        {"lr", "lin:1:0:3", "1 0.5 0"},
        {"lr", "step:0.1:0.7:0.2", "0.1 0.3 0.5 0.7"},
        {"lr", "step:0.3:0.1:-0.1", "0.3 0.2 0.1"},
        {"lr", "geom:1:16:5", "1 2 4 8 16"},
        {"lr", "geom:1e-3:1e-1:3", "1e-3 0.01 1e-1"},
        {"lr", "geom:0.01:1:5", "0.01 0.03162277660168379 0.1 0.31622776601683794 1"},
        {"batch", "geom:16:512:6", "16 32 64 128 256 512"},
        {"batch", "geom:10:100:3", "10 32 100"},
        {"epochs", "lin:1:10:4", "1 4 7 10"},
        {"epochs", "step:2:8:3", "2 5 8"},
        {"epochs", "0, lin:1:3:3, 10", "0 1 2 3 10"},
        {"devices", "step:1:4:1", "1 2 3 4"},
        {"model.width", "geom:16:128:4", "16 32 64 128"},
        {"model.rate", "lin:0:0.5:3", "0 0.25 0.5"},
        {"seed", "3, 1, 2", "3 1 2"},
        {"members", "1, 2", "1 2"},
        {"weights", "none, @2", "none @2"},
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct spec_sweep s;
        struct err e;

        spec_sweep_init(&s);
        if (spec_sweep_set(&s, good[i].key, good[i].list, "command line", NULL, &e) != ERR_OK)
            TEST_FAILED("%s = %s: %s", good[i].key, good[i].list, e.text);
        else
            CHECK_STR(values_of(&s, good[i].key), good[i].values);
        spec_sweep_free(&s);
    }
}

TEST(a_wrong_list_is_one_sentence_and_changes_nothing)
{
    static const struct {
        const char *key, *list, *part;
    } bad[] = {
        {"lr", "0.1, x", "g.ini:3: lr = x: it is no number; allowed: a finite number"},
        {"lr", "0.1,", "a value of the list is missing"},
        {"lr", ",0.1", "a value of the list is missing"},
        {"lr", "0.1,,0.2", "a value of the list is missing"},
        {"lr", ",", "a value of the list is missing"},
        {"lr", "0.1, nan", "lr = nan: it is not finite"},
        {"lr", "0.1, inf", "not finite"},
        {"lr", "0.1, -1", "out of range"},
        {"lr", "0.1, 0.10", "0.1 stands in it twice"},
        {"lr", "0.1, 0.2, 1e-1", "0.1 stands in it twice"},
        {"lr", "0.1, \"\"", "there is no value"},
        {"lr", "0.1, \"0.2", "closing quote"},
        {"batch", "32/device, 32 /device", "32/device stands in it twice"},
        {"weights", "none, none", "none stands in it twice"},
        {"model.width", "64, 64", "64 stands in it twice"},
        {"optimizer", "sgd, adm", "did you mean adam?"},
        {"optimizer", "lin:1:2:3", "optimizer = 1"},
        {"name", "a, b", "it takes one value; put quotes"},
        {"repeats", "2, 3", "it takes one number; allowed"},
        {"keep", "last, best", "it takes one value; allowed"},
        {"target_acc", "0.8, 0.9", "it takes one number; allowed"},
        {"lr", "geom:0.1:1", "needs 3 values behind geom:; the form is geom:A:B:N"},
        {"lr", "geom:0.1:1:3:4", "needs 3 values behind geom:; the form is geom:A:B:N"},
        {"lr", "geom:", "needs 3 values behind geom:; the form is geom:A:B:N"},
        {"lr", "geom:0:1:3", "above 0"},
        {"lr", "geom:0.1:1:1", "no count from 2 to 1000000"},
        {"lr", "geom:0.1:1:1e3", "'1e3' is no count"},
        {"lr", "geom:0.1:1:99999999999999999999", "is no count"},
        {"lr", "geom:0.1:0.1:3", "both ends are 0.1"},
        {"lr", "lin:nan:1:3", "'nan' is no finite number"},
        {"lr", "lin:0:inf:3", "'inf' is no finite number"},
        {"lr", "lin:-1:1:3", "lr = -1: it is out of range"},
        {"lr", "lin:0::3", "'' is no finite number"},
        {"lr", "step:0.1:1:0.2", "they come to 0.9 and 1.1"},
        {"lr", "step:0.1:1:0", "its step is 0"},
        {"lr", "step:0.1:1:-0.1", "lead from 0.1 away from 1"},
        {"lr", "step:0:1:1e-9", "more than 1000000 values"},
        {"lr", "step:0.5:0.5:0.1", "one value alone"},
        {"epochs", "lin:1:3:9", "stands in it twice"},
        {"epochs", "lin:0.5:3:3", "epochs = 0.5"},
        {"epochs", "step:1:2:0.5", "epochs = 1.5"},
        {"lr", "loguniform:0:1", "above 0"},
        {"lr", "loguniform:1:0.1", "the second above the first"},
        {"lr", "loguniform:0.1:1, 2", "stands alone"},
        {"lr", "2, loguniform:0.1:1", "stands alone"},
        {"samples", "0", "g.ini:3: samples = 0: allowed: a count from 1 to 10000"},
        {"samples", "10001", "samples = 10001"},
        {"samples", "2, 3", "samples = 2, 3"},
        {"samples", "", "samples"},
        {"zip", "", "zip = ''"},
        {"repeats", "0", "the least is 1"},
        {"repeats", "1000001", "the most is 1000000"},
        {"repeats", "x", "no whole number"},
        {"repeats", "", "no value"},
        {"epoch", "1, 2", "did you mean epochs?"},
        {"on_end", "a, b", "it takes one value"},
        {"model.a b", "1, 2", "letters"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct spec_sweep s;
        struct spec before;
        struct err e = {0};

        spec_sweep_init(&s);
        REQUIRE_OK(spec_sweep_set(&s, "lr", "0.3, 0.4", NULL, NULL, &e));
        before = s.base;
        if (spec_sweep_set(&s, bad[i].key, bad[i].list, "g.ini:3", NULL, &e) != ERR_INPUT) {
            TEST_FAILED("%s = %s was taken", bad[i].key, bad[i].list);
        } else {
            CHECK_HAS(e.text, bad[i].part);
            CHECK(!strncmp(e.text, "g.ini:3: ", 9));
            CHECK(!memcmp(&before, &s.base, sizeof before));
            CHECK_INT(s.axes, 1);
            CHECK_STR(values_of(&s, "lr"), "0.3 0.4");
        }
        spec_sweep_free(&s);
    }
}

TEST(the_grid_is_the_product_first_key_slowest)
{
    struct spec_sweep s;
    struct err e;
    size_t place[4];

    REQUIRE_OK(
        read_text(&s, "lr = 0.1, 0.2\nbatch = 64, 128, 256\nepochs = 3\nrepeats = 2\nseed=5", &e));
    CHECK(spec_sweep_varies(&s));
    CHECK_INT(spec_sweep_cells(&s), 12);
    for (size_t i = 0; i < 12; i++) {
        static const char *const lr[] = {"0.1", "0.2"}, *const batch[] = {"64", "128", "256"};

        CHECK_STR(cell_value(&s, i, "lr"), lr[i / 6]);
        CHECK_STR(cell_value(&s, i, "batch"), batch[i / 2 % 3]);
        CHECK_STR(cell_value(&s, i, "seed"), i % 2 ? "6" : "5");
        CHECK_STR(cell_value(&s, i, "repeats"), "1");
        CHECK_STR(cell_value(&s, i, "epochs"), "3");
    }
    for (size_t i = 0; i < 12; i++) {
        spec_sweep_place(&s, i, place);
        CHECK_INT(spec_sweep_at(&s, place), i);
    }
    spec_sweep_place(&s, 9, place);
    CHECK(place[0] == 1 && place[1] == 1 && place[2] == 1);
    spec_sweep_free(&s);

    REQUIRE_OK(read_text(&s, "lr = 0.2\nrepeats = 1\n", &e));
    CHECK(!spec_sweep_varies(&s));
    CHECK_INT(spec_sweep_cells(&s), 1);
    CHECK_STR(cell_value(&s, 0, "lr"), "0.2");
    spec_sweep_free(&s);
}

TEST(zip_walks_lists_together)
{
    struct spec_sweep s;
    struct err e;

    REQUIRE_OK(read_text(&s,
                         "devices = 1, 2\nepochs = 1, 2, 3\nbatch = 256, 512\nlr = 0.1, 0.2\n"
                         "zip = devices, batch,lr\n",
                         &e));
    CHECK_INT(spec_sweep_cells(&s), 6);
    for (size_t i = 0; i < 6; i++) {
        CHECK_STR(cell_value(&s, i, "devices"), i < 3 ? "1" : "2");
        CHECK_STR(cell_value(&s, i, "batch"), i < 3 ? "256" : "512");
        CHECK_STR(cell_value(&s, i, "lr"), i < 3 ? "0.1" : "0.2");
    }
    for (size_t i = 0; i < spec_sweep_cells(&s); i++) {
        size_t place[8];

        spec_sweep_place(&s, i, place);
        CHECK_INT(spec_sweep_at(&s, place), i);
    }
    spec_sweep_free(&s);
}

TEST(what_only_the_whole_can_tell)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"lr = 1, 2\nbatch = 1, 2, 3\nzip = lr, batch\n", "g.ini:3: zip = lr, batch: lr has 2"},
        {"lr = 1, 2\nzip = lr, batch\n", "g.ini:2: zip = lr, batch: batch is no list"},
        {"lr = 1, 2\nzip = lr, lr\n", "lr stands in it twice"},
        {"lr = 1, 2\nzip = lr, foo\n", "there is no key foo"},
        {"lr = 1, 2\nbatch = 1, 2\nzip = lr,, batch\n", "a name is missing"},
        {"lr = loguniform:1:2\nbatch = 1, 2\nsamples = 2\nzip = lr, batch\n", "drawn"},
        {"lr = loguniform:1:2\n", "g.ini:1: lr = loguniform:1:2: how many"},
        {"epochs = loguniform:1:3\nsamples = 4\n", "no 4 different values; samples = 3 fit"},
        {"seed = 1, 2\nrepeats = 2\n", "g.ini:2: repeats = 2: seed = 1, 2 varies already"},
        {"seed = 9223372036854775807\nrepeats = 2\n", "leave the range of seeds"},
        {"lr = lin:0:1:1000\nwarmup = lin:0:1:1000\nmomentum = lin:0:0.5:1000\n",
         "lr 1000 x warmup 1000 x momentum 1000 come to 1,000,000,000 cells"},
        {"lr = lin:0:1:1000\nrepeats = 1001\n", "1,001,000 cells"},
        {"optimizer = sgd, adam\nmomentum = 0.5\n",
         "g.ini:2: momentum = 0.5: no value of optimizer uses it, only momentum or nesterov"},
        {"lr = 0.1, 0.2\nlr = 0.3\n", "g.ini:2: lr stands in line 1 already"},
        {"samples = 2\nsamples = 3\n", "g.ini:2: samples stands in line 1 already"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct spec_sweep s;
        struct err e = {0};

        if (read_text(&s, bad[i].text, &e) != ERR_INPUT)
            TEST_FAILED("taken: %s", bad[i].text);
        else
            CHECK_HAS(e.text, bad[i].part);
        CHECK(!strncmp(e.text, "dir/g.ini", 9));
        spec_sweep_free(&s);
    }
}

TEST(the_command_line_overrides_the_lists_of_a_file)
{
    static const char file[] = "lr = 0.1, 0.2\nbatch = 64, 128\ndevices = 1, 2\nepochs = 5\n"
                               "zip = lr, batch, devices\n";
    struct spec_sweep s;
    struct err e;

    spec_sweep_init(&s);
    REQUIRE_OK(spec_sweep_parse(&s, file, strlen(file), "g.ini", &e));
    REQUIRE_OK(spec_sweep_set(&s, "lr", "0.7", "command line", NULL, &e));
    REQUIRE_OK(spec_sweep_set(&s, "epochs", "1, 2, 3", "command line", NULL, &e));
    REQUIRE_OK(spec_sweep_close(&s, &e));
    CHECK_STR(values_of(&s, "lr"), "");
    CHECK_INT(spec_sweep_cells(&s), 6);
    CHECK_STR(s.zip, "batch, devices");
    CHECK_STR(cell_value(&s, 5, "lr"), "0.7");
    CHECK_STR(cell_value(&s, 5, "devices"), "2");
    CHECK_STR(cell_value(&s, 5, "epochs"), "3");
    spec_sweep_free(&s);

    spec_sweep_init(&s);
    REQUIRE_OK(spec_sweep_parse(&s, file, strlen(file), "g.ini", &e));
    REQUIRE_OK(spec_sweep_set(&s, "lr", "0.7", "command line", NULL, &e));
    REQUIRE_OK(spec_sweep_set(&s, "batch", "8", "command line", NULL, &e));
    REQUIRE_OK(spec_sweep_close(&s, &e));
    CHECK_INT(spec_sweep_cells(&s), 2);
    CHECK(!s.zip);
    spec_sweep_free(&s);

    spec_sweep_init(&s);
    REQUIRE_OK(spec_sweep_parse(&s, "lr = loguniform:1:2\nsamples = 3\n", 32, "g.ini", &e));
    REQUIRE_OK(spec_sweep_set(&s, "lr", "0.7", "command line", NULL, &e));
    REQUIRE_OK(spec_sweep_close(&s, &e));
    CHECK(!spec_sweep_varies(&s));
    spec_sweep_free(&s);
    spec_sweep_init(&s);
    REQUIRE_OK(spec_sweep_set(&s, "samples", "3", "command line", NULL, &e));
    CHECK_INT(spec_sweep_close(&s, &e), ERR_INPUT);
    CHECK_HAS(e.text, "command line: samples = 3: no value is loguniform");
    spec_sweep_free(&s);
}

TEST(what_lapses_behind_the_file_is_not_written_again)
{
    static const char file[] = "optimizer = momentum\nmomentum = 0.8, 0.9\nlr = 1, 2\n"
                               "zip = momentum, lr\nschedule = cosine\nlr_min = 0.1\n";
    static const struct {
        const char *key, *value;
    } later[] = {{"optimizer", "sgd"}, {"optimizer", "sgd, adam"}};

    for (size_t i = 0; i < 2; i++) {
        struct spec_sweep s, t;
        struct text once = {0};
        struct spec cell;
        struct err e;

        spec_sweep_init(&s);
        REQUIRE_OK(spec_sweep_parse(&s, file, strlen(file), "g.ini", &e));
        REQUIRE_OK(spec_sweep_set(&s, later[i].key, later[i].value, "command line", NULL, &e));
        REQUIRE_OK(spec_sweep_set(&s, "schedule", "constant", "command line", NULL, &e));
        REQUIRE_OK(spec_sweep_close(&s, &e));
        CHECK_INT(spec_sweep_cells(&s), i ? 4 : 2);
        REQUIRE_OK(spec_sweep_cell(&s, 1, &cell, &e));
        spec_sweep_write(&s, &once);
        CHECK(!strstr(text_str(&once), "momentum"));
        CHECK(!strstr(text_str(&once), "lr_min"));
        REQUIRE_OK(read_text(&t, text_str(&once), &e));
        CHECK_INT(spec_sweep_cells(&t), i ? 4 : 2);
        REQUIRE_OK(spec_sweep_cell(&t, 1, &cell, &e));
        spec_sweep_free(&s);
        spec_sweep_free(&t);
        text_free(&once);
    }
}

TEST(impossible_cells_say_why_with_file_and_line)
{
    struct spec_sweep s;
    struct spec cell;
    struct err e;
    size_t possible = 0;

    REQUIRE_OK(read_text(&s, "# two\nbatch = 100, 96\ndevices = 1, 8\n", &e));
    CHECK_INT(spec_sweep_cells(&s), 4);
    CHECK_INT(spec_sweep_cell(&s, 1, &cell, &e), ERR_INPUT);
    CHECK_STR(e.text,
              "dir/g.ini:2: batch = 100: 8 devices do not divide it; the nearest batches are "
              "96 and 104");
    for (size_t i = 0; i < 4; i++)
        possible += spec_sweep_cell(&s, i, &cell, &e) == ERR_OK;
    CHECK_INT(possible, 3);
    spec_sweep_free(&s);
}

TEST(keys_lapse_where_another_key_varies)
{
    struct spec_sweep s;
    struct spec cell;
    struct err e;

    REQUIRE_OK(
        read_text(&s, "mode = data-parallel, ensemble\nmembers = 4\nmember_order = own\n", &e));
    REQUIRE_OK(spec_sweep_cell(&s, 0, &cell, &e));
    CHECK(!spec_applies(&cell, spec_key_find("members")));
    REQUIRE_OK(spec_check(&cell, &e));
    REQUIRE_OK(spec_sweep_cell(&s, 1, &cell, &e));
    CHECK_INT(cell.members, 4);
    CHECK(cell.member_order == SPEC_OWN);
    spec_sweep_free(&s);

    /* the twins of a single model are left out: 1 + 3 cells */
    REQUIRE_OK(read_text(&s, "mode = data-parallel, ensemble\nmembers = 1, 2, 4\n", &e));
    CHECK_INT(spec_sweep_cells(&s), 6);
    REQUIRE_OK(spec_sweep_cell(&s, 0, &cell, &e));
    CHECK_INT(spec_sweep_cell(&s, 1, &cell, &e), ERR_INPUT);
    CHECK_HAS(e.text, "dir/g.ini:2: members = 2: mode = data-parallel does not use it, so this is "
                      "the cell of members = 1");
    CHECK_INT(spec_sweep_cell(&s, 2, &cell, &e), ERR_INPUT);
    for (size_t i = 3; i < 6; i++)
        REQUIRE_OK(spec_sweep_cell(&s, i, &cell, &e));
    spec_sweep_free(&s);

    /* weight_decay follows the optimizer of each cell unless it was given */
    REQUIRE_OK(read_text(&s, "optimizer = adamw, sgd, momentum\nmomentum = 0.8\n", &e));
    CHECK_STR(cell_value(&s, 0, "weight_decay"), "0.0001");
    CHECK_STR(cell_value(&s, 1, "weight_decay"), "0");
    CHECK_STR(cell_value(&s, 2, "momentum"), "0.8");
    spec_sweep_free(&s);

    /* a key that lapses everywhere because of one fixed value stays the error that it is */
    REQUIRE_OK(read_text(&s, "momentum = 0.8, 0.9\n", &e));
    CHECK_INT(spec_sweep_cell(&s, 0, &cell, &e), ERR_INPUT);
    CHECK_HAS(e.text, "g.ini:1: momentum = 0.8: optimizer = sgd does not use it");
    spec_sweep_free(&s);
}

TEST(samples_lie_between_the_ends_and_more_of_them_begin_alike)
{
    struct spec_sweep few, many;
    struct err e;
    double below = 0;

    REQUIRE_OK(read_text(&few,
                         "lr = loguniform:1e-4:1\nweight_decay = loguniform:1e-6:1e-2\n"
                         "samples = 5\n",
                         &e));
    REQUIRE_OK(read_text(&many,
                         "lr = loguniform:1e-4:1\nweight_decay = loguniform:1e-6:1e-2\n"
                         "samples = 1000\n",
                         &e));
    CHECK_INT(spec_sweep_cells(&few), 5);
    CHECK_INT(spec_sweep_cells(&many), 1000);
    for (int i = 0; i < 5; i++) {
        CHECK_STR(few.axis[0].value[i], many.axis[0].value[i]);
        CHECK_STR(few.axis[1].value[i], many.axis[1].value[i]);
    }
    for (int i = 0; i < 1000; i++) {
        double lr = 0, decay = 0;

        CHECK(text_to_double(many.axis[0].value[i], &lr) && lr >= 1e-4 && lr <= 1);
        CHECK(text_to_double(many.axis[1].value[i], &decay) && decay >= 1e-6 && decay <= 1e-2);
        CHECK(strlen(many.axis[0].value[i]) <= 9);
        below += lr < 1e-2; /* half of them: 1e-2 is the middle of the logarithms */
        for (int j = 0; j < i; j++)
            CHECK(strcmp(many.axis[0].value[i], many.axis[0].value[j]) != 0);
    }
    CHECK_NEAR(below, 500, 64); /* four standard deviations */
    spec_sweep_free(&few);
    spec_sweep_free(&many);

    REQUIRE_OK(read_text(&few, "batch = loguniform:1:8\nsamples = 8\n", &e));
    for (int i = 0; i < 8; i++) { /* all of them, each once */
        char number[16];
        struct text all = {0};

        text_addf(&all, " %s ", values_of(&few, "batch"));
        snprintf(number, sizeof number, " %d ", i + 1);
        CHECK_HAS(text_str(&all), number);
        text_free(&all);
    }
    spec_sweep_free(&few);
}

TEST(spread_takes_corners_and_centre_first)
{
    struct spec_sweep s;
    struct err e;
    size_t order[200], seen[200] = {0};

    REQUIRE_OK(read_text(&s, "lr = lin:0:1:5\nbatch = 1, 2, 3, 4, 5\n", &e));
    spec_sweep_spread(&s, order);
    CHECK_INT(order[0], 0); /* a corner and the one opposite, */
    CHECK_INT(order[1], 24);
    CHECK(order[2] == 4 || order[2] == 20);
    CHECK_INT(order[2] + order[3], 24);
    CHECK_INT(order[4], 12);    /* the centre, */
    for (int i = 5; i < 9; i++) /* the middles of the sides */
        CHECK(order[i] == 2 || order[i] == 10 || order[i] == 14 || order[i] == 22);
    for (int i = 0; i < 25; i++)
        seen[order[i]]++;
    for (int i = 0; i < 25; i++)
        CHECK_INT(seen[i], 1);
    spec_sweep_free(&s);

    /* how far the farthest cell is from one that has run: never more than twice the best possible */
    REQUIRE_OK(read_text(&s, "lr = lin:0:1:13\nwarmup = lin:0:1:13\n", &e));
    spec_sweep_spread(&s, order);
    for (size_t ran = 5; ran < 169; ran++) {
        double farthest = 0;

        for (size_t i = 0; i < 169; i++) {
            double nearest = 1e9;

            for (size_t j = 0; j < ran; j++)
                nearest = fmin(nearest, hypot((double)(i / 13) - (double)(order[j] / 13),
                                              (double)(i % 13) - (double)(order[j] % 13)));
            farthest = fmax(farthest, nearest);
        }
        /* cells as discs: area of one is at least that of the square over the number of them */
        CHECK(farthest <= 3 * 12 / sqrt(3.14 * (double)ran) + 1);
    }
    spec_sweep_free(&s);

    /* repeats: the whole board of the first seed, then of the next */
    REQUIRE_OK(read_text(&s, "lr = 1, 2, 3\nbatch = 1, 2, 3\nrepeats = 3\n", &e));
    spec_sweep_spread(&s, order);
    for (size_t i = 0; i < 27; i++) {
        CHECK_INT(order[i] % 3, i / 9);
        CHECK_INT(order[i] / 3, order[i % 9] / 3);
    }
    spec_sweep_free(&s);
}

/* The same axes with the same values, the same cells. */
static void check_same(const struct spec_sweep *a, const struct spec_sweep *b)
{
    struct text x = {0}, y = {0};
    struct err e;

    CHECK_INT(b->axes, a->axes);
    CHECK_INT(spec_sweep_cells(b), spec_sweep_cells(a));
    for (size_t i = 0; i < spec_sweep_cells(a); i++) {
        struct spec s, t;
        enum err_code code = spec_sweep_cell(a, i, &s, &e);

        CHECK_INT(spec_sweep_cell(b, i, &t, &e), code);
        text_clear(&x);
        text_clear(&y);
        if (code == ERR_OK) {
            spec_write(&s, &x);
            spec_write(&t, &y);
            CHECK_STR(text_str(&y), text_str(&x));
        }
    }
    text_free(&x);
    text_free(&y);
}

TEST(what_is_written_reads_back_as_the_same_sweep)
{
    static const char *const texts[] = {
        "lr = 0.1, 0.20\nbatch = geom:16:64:3\ndata = synthetic\n",
        "devices = 1, 2\nbatch = 256, 512\nlr = 0.1, 0.2\nzip = devices, batch, lr\nrepeats = 3\n",
        "lr = loguniform:1e-3:1\nweight_decay = loguniform:1e-5:1e-2\nsamples = 7\nseed = 4\n",
        "optimizer = sgd, momentum, adam, adamw\nmomentum = 0.8, 0.95\nbeta2 = 0.99\n",
        "data = \"a,b.csv\", c.csv, mnist\nmodel = x.net, cnn\nmodel.k = 3\nmodel.width = 8, 16\n",
        "mode = ensemble, data-parallel\nmembers = 2, 4\nweights = none, \"w,1.safetensors\"\n",
        "lr = 0.3\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct spec_sweep s, t;
        struct text once = {0}, twice = {0};
        struct err e;

        REQUIRE_OK(read_text(&s, texts[i], &e));
        spec_sweep_write(&s, &once);
        spec_sweep_init(&t);
        REQUIRE_OK(spec_sweep_parse(&t, text_str(&once), once.n, "/elsewhere/h.ini", &e));
        REQUIRE_OK(spec_sweep_close(&t, &e));
        check_same(&s, &t);
        spec_sweep_write(&t, &twice);
        CHECK_STR(text_str(&twice), text_str(&once));
        spec_sweep_free(&s);
        spec_sweep_free(&t);
        text_free(&once);
        text_free(&twice);
    }
}

TEST(hostile_texts_end_in_a_sentence_or_a_sweep)
{
    static const char *const pieces[] = {
        "lr",  "=",           ",",       "0.1",     "\"",   "geom:", ":",      "1e9",  "-1",
        "nan", "zip",         "samples", "\n",      " ",    "#",     "step:",  "lin:", "batch",
        "5",   "loguniform:", "model.w", "repeats", "seed", "inf",   "1e-300", "0"};
    unsigned seed = 1;

    for (int round = 0; round < 20000; round++) {
        struct spec_sweep s;
        struct text t = {0};
        struct err e;

        if (round % 3 == 0)
            text_add(&t, "lr = ");
        for (int i = 0; i < 4 + round % 9; i++) {
            seed = seed * 1103515245 + 12345;
            text_add(&t, pieces[seed / 65536 % (sizeof pieces / sizeof *pieces)]);
        }
        if (read_text(&s, text_str(&t), &e) != ERR_OK)
            CHECK(e.code == ERR_INPUT && strlen(e.text) > 10);
        spec_sweep_free(&s);
        text_free(&t);
    }
}

TEST(a_line_of_64_KiB_and_as_many_values_as_fit)
{
    struct spec_sweep s;
    struct text t = {0};
    struct err e;

    text_add(&t, "seed = 0");
    for (int i = 1; t.n < 65000; i++)
        text_addf(&t, ",%d", i);
    REQUIRE_OK(read_text(&s, text_str(&t), &e));
    CHECK(spec_sweep_cells(&s) > 10000);
    CHECK_STR(cell_value(&s, 12000, "seed"), "12000");
    spec_sweep_free(&s);
    text_add(&t, ",0");
    CHECK_INT(read_text(&s, text_str(&t), &e), ERR_INPUT);
    CHECK_HAS(e.text, "0 stands in it twice");
    CHECK(strlen(e.text) < 400);
    spec_sweep_free(&s);
    text_free(&t);
}

TEST(a_sweep_is_called_after_what_it_is_made_from)
{
    static const char *const names[][2] = {{"experiments/lr.ini", "lr"},
                                           {"models/wide.net", "wide"},
                                           {"/a b/ a b(2).ini", "a-b-2-"},
                                           {"..-x", "x"},
                                           {"ü.ini", "sweep"},
                                           {".ini", "ini"}};
    static const char *const runs[][2] = {{"2026-11-20-101530-412-lenet-7f3a", "lenet"},
                                          {"short", "short"}};
    char name[SPEC_NAME];

    for (size_t i = 0; i < MEM_COUNT(names); i++) {
        spec_sweep_name_after(names[i][0], name);
        CHECK_STR(name, names[i][1]);
    }
    for (size_t i = 0; i < MEM_COUNT(runs); i++) {
        spec_sweep_name_after_run(runs[i][0], name);
        CHECK_STR(name, runs[i][1]);
    }
}

TEST(a_list_that_was_checked_before_is_the_same_list)
{
    struct spec_sweep set, checked, copy;
    struct spec_axis list;
    struct err e;

    spec_sweep_init(&set);
    spec_sweep_init(&checked);
    CHECK_INT(spec_list_length("geom:0.001:1:5000"), 5000);
    CHECK_INT(spec_list_length("step:0:1000:0.5"), 2000);
    CHECK_INT(spec_list_length(" 1, lin:2:3:40, \"4,5\""), 42);
    CHECK_INT(spec_list_length("0.1"), 0);
    REQUIRE(spec_sweep_set(&set, "lr", "geom:0.001:1:5000", NULL, NULL, &e) == ERR_OK);
    REQUIRE(spec_list_check(&list, "lr", "geom:0.001:1:5000", &e) == ERR_OK);
    REQUIRE(spec_sweep_set_checked(&checked, &list, &e) == ERR_OK);
    spec_sweep_copy(&copy, &checked);
    spec_sweep_free(&checked);
    spec_axis_free(&list);
    REQUIRE(copy.axes == 1 && copy.axis[0].values == set.axis[0].values);
    for (size_t i = 0; i < copy.axis[0].values; i++)
        if (strcmp(copy.axis[0].value[i], set.axis[0].value[i]) != 0)
            TEST_FAILED("value %zu is %s, not %s", i, copy.axis[0].value[i], set.axis[0].value[i]);
    CHECK(copy.base.lr == set.base.lr);
    REQUIRE(spec_sweep_close(&set, &e) == ERR_OK);
    CHECK_INT(copy.axis[0].digits, set.axis[0].digits); /* found when it was checked */
    CHECK_INT(spec_list_check(&list, "zip", "lr, batch", &e), ERR_INPUT);
    CHECK_STR(e.text, "zip takes no list of values");
    spec_axis_free(&list);
    spec_sweep_free(&copy);
    spec_sweep_free(&set);
}

/* However many walk together: each takes as much memory as cells do. */
TEST(lists_have_no_more_values_together_than_a_sweep_has_cells)
{
    struct spec_sweep s;
    struct spec_axis list;
    struct err e;

    CHECK_INT(read_text(&s,
                        "seed = step:1:600000:1\nmax_steps = step:1:600000:1\n"
                        "zip = seed, max_steps\n",
                        &e),
              ERR_INPUT);
    CHECK_STR(e.text, "dir/g.ini:2: max_steps: with its 600,000 values the lists of the sweep have "
                      "1,200,000, and 1,000,000 are possible; shorten them");
    CHECK_INT(s.axes, 1); /* as it was */
    REQUIRE_OK(spec_list_check(&list, "max_steps", "step:1:400001:1", &e));
    CHECK_INT(spec_sweep_set_checked(&s, &list, &e), ERR_INPUT);
    CHECK_HAS(e.text, "max_steps: with its 400,001 values the lists of the sweep have 1,000,001");
    spec_axis_free(&list);
    REQUIRE_OK(spec_sweep_set(&s, "seed", "step:1:900000:1", NULL, NULL, &e)); /* in its place */
    spec_sweep_free(&s);
}
