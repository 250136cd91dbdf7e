/* Filters of runs: what they take, against a table made by hand, and what they refuse. */
#include "record/filter.h"
#include "record/columns.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "tests/unit/record/help.h"

TEST(what_a_filter_takes)
{
    static const struct {
        const char *filter, *value;
        bool takes;
    } cases[] = {
        {"model=cnn", "cnn", true},
        {"model=cnn,lenet", "lenet", true},
        {"model=cnn,lenet", "lenet2", false},
        {"model=cnn,lenet", "cnn,lenet", false},
        {"model=lenet", "/home/me/models/lenet.net", true},
        {"model=net", "/home/me/models/lenet.net", false},
        {"model=/home/me/models/lenet.net", "/home/me/models/lenet.net", true},
        {"data=train.csv", "/data/train.csv", true},
        {"data=../x", "../x", true},
        {"model!=cnn", "cnn", false},
        {"model!=cnn", "mlp", true},
        {"model!=cnn,mlp", "mlp", false},
        {"mode=ensemble", "ensemble", true},
        {"mode=ensemble", "data-parallel", false},
        /* numbers are numbers */
        {"lr=0.1", "0.1", true},
        {"lr=0.10", "1e-1", true},
        {"lr==0.1", "0.1", true},
        {"lr!=0.1", "0.1", false},
        {"lr!=0.1", "0.10000000000000002", true},
        {"lr=0.1,0.2..0.3", "0.25", true},
        {"lr=0.1,0.2..0.3", "0.15", false},
        {"lr!=0.2..0.3", "0.25", false},
        {"lr!=0.2..0.3", "0.31", true},
        {"batch=32", "32/device", false},
        {"batch=32/device", "32/device", true},
        {"seed<10", "9", true},
        {"seed<10", "10", false},
        {"seed<=10", "10", true},
        {"seed>9", "10", true},
        {"seed>10", "10", false},
        {"seed>=10", "10", true},
        {"test_acc=0.9..", "0.9", true},
        {"test_acc=0.9..", "0.8999", false},
        {"test_acc=0.9..", "inf", true},
        {"test_acc=..0.9", "0.9", true},
        {"test_acc=..0.9", "0.91", false},
        {"test_acc=0.9..0.9", "0.9", true},
        /* per cent, where nothing else can be meant */
        {"best_test_acc>90", "0.9001", true},
        {"best_test_acc>90", "0.9", false},
        {"test_acc=88.93", "0.8893", true},
        {"last.test_acc=90..95", "0.93", true},
        {"last.test_acc=90..95", "0.96", false},
        {"member_acc_min=..0.95", "0.93", true},
        {"disagreement<=5", "0.05", true},
        {"train_acc>=1", "0.99", false},
        {"train_acc>=100", "1", true},
        {"test_loss>2", "1.5", false},
        {"model.lost_acc>2", "1.5", false},
        {"test_loss=-1..1e3", "12", true},
        {"test_loss=..", "12", false}, /* see below: refused */
        {"test_loss>0.1", "nan", false},
        {"test_loss<0.1", "nan", false},
        {"test_loss=nan", "nan", true},
        {"test_loss=0..", "nan", false},
        /* what does not apply */
        {"test_acc=0.9..", "", false},
        {"test_acc<1", "", false},
        {"momentum!=0.9", "", true},
        {"momentum=", "", true},
        {"momentum=", "0.9", false},
        {"momentum!=", "0.9", true},
        {"momentum!=", "", false},
        {"momentum=,0.9", "0.9", true},
        {"momentum=,0.9", "", true},
        /* times, by as much of them as is given */
        {"started_utc=2026-11-20", "2026-11-20T10:15:30.412Z", true},
        {"started_utc=2026-11-20", "2026-11-21T10:15:30.412Z", false},
        {"started_utc=2026-11-20..", "2026-11-20T00:00:00.000Z", true},
        {"started_utc=..2026-11-20", "2026-11-20T23:59:59.999Z", true},
        {"started_utc=..2026-11-20", "2026-11-21T00:00:00.000Z", false},
        {"started_utc=2026-11-19..2026-11-20T12", "2026-11-20T12:30:00.000Z", true},
        {"started_utc=2026-11-19..2026-11-20T12", "2026-11-20T13:00:00.000Z", false},
        {"started_utc>2026-11-20", "2026-11-20T10:15:30.412Z", false},
        {"started_utc>2026-11-20", "2026-11-21T00:00:00.000Z", true},
        {"started_utc>=2026-11-20", "2026-11-20T00:00:00.000Z", true},
        {"started_utc<2026-11-20", "2026-11-19T23:00:00.000Z", true},
        {"ended_utc<2026-11-20", "", false},
        /* tags are a set, prose is searched */
        {"tags=paper", "draft paper", true},
        {"tags=paper", "papers", false},
        {"tags!=paper", "draft paper", false},
        {"tags!=paper", "", true},
        {"tags=paper,draft", "draft", true},
        {"tags=", "", true},
        {"note=seed", "The Seed that diverged", true},
        {"note=\"a, b\"", "with a, b and c", true},
        {"note=\"a, b\"", "with a and b", false},
        {"note=0.5..0.6", "0.55", false},
        {"state=done,stopped", "stopped", true},
        {"state=dead", "running", false},
        {"state!=done", "dead", true},
    };
    struct err e;

    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        struct record_filter f;
        if (!strcmp(cases[i].filter, "test_loss=..")) {
            CHECK_INT(record_filter_parse(&f, cases[i].filter, &e), ERR_INPUT);
            continue;
        }
        if (record_filter_parse(&f, cases[i].filter, &e) != ERR_OK) {
            TEST_FAILED("%s: %s", cases[i].filter, e.text);
            continue;
        }
        if (record_filter_match(&f, cases[i].value) != cases[i].takes)
            TEST_FAILED("%s takes '%s': %s", cases[i].filter, cases[i].value,
                        cases[i].takes ? "it does not" : "it does");
        record_filter_free(&f);
    }
}

TEST(what_is_refused)
{
    static const struct {
        const char *filter, *words;
    } cases[] = {
        {"modle=cnn", "did you mean model?"},
        {"tst_acc=0.9..", "did you mean test_acc?"},
        {"last.tst_acc=1", "did you mean last.test_acc?"},
        {"loss<0.3", "did you mean test_loss?"},
        {"acc>90", "did you mean test_acc?"},
        {"accuracy>90", "did you mean test_acc?"},
        {"last.model=cnn", "no column last.model"},
        {"qqqqqqqqqqqq=1", "no column qqqqqqqqqqqq: any of run.csv and epochs.csv will do"},
        {"model.=3", "no column model."},
        {"state=doen", "did you mean done?"},
        {"state=asleep", "no run is ever asleep"},
        {"lr>abc", "'abc' is no number"},
        {"test_acc>90%", "'90%' is no number such as in lr<0.1 or test_acc>90"},
        {"lr>", "'' is no number such as in"},
        {"lr<0.1,0.2", "several values"},
        {"lr>0.1..0.2", "range goes with ="},
        {"lr=0.2..0.1", "ends below its beginning"},
        {"lr=abc", "lr = abc"},
        {"mode=ensembel", "ensembel"},
        {"test_acc=good", "neither a number nor a range"},
        {"test_acc=0.5..x", "neither a number nor a range"},
        {"best_epoch=one", "neither a number nor a range"},
        {"started_utc=monday", "is no time"},
        {"started_utc=..", "is no range of times"},
        {"started_utc>", "is no time"},
        {"word", "is no filter"},
        {"=3", "is no filter"},
    };
    struct record_filter f;
    struct err e;

    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        e = (struct err){0};
        if (record_filter_parse(&f, cases[i].filter, &e) != ERR_INPUT) {
            TEST_FAILED("%s is taken", cases[i].filter);
            record_filter_free(&f);
        }
        CHECK_HAS(e.text, cases[i].words);
    }
    CHECK(!record_filter_is("word") && !record_filter_is("=3") && !record_filter_is("a!b"));
    CHECK(record_filter_is("a!=b") && record_filter_is("a<b") && record_filter_is("a="));
}

/* Numbers against a comparison of doubles, the naive way. */
TEST(ranges_against_numbers)
{
    static const double numbers[] = {-1, -0.0, 0, 1e-300, 0.1, 0.1 + 1e-17, 1, 1e300, INFINITY};
    char a[TEXT_NUMBER_ROOM], b[TEXT_NUMBER_ROOM], c[TEXT_NUMBER_ROOM], text[200];
    struct err e = {0};

    for (size_t i = 0; i < MEM_COUNT(numbers); i++)
        for (size_t j = i; j < MEM_COUNT(numbers); j++)
            for (size_t k = 0; k < MEM_COUNT(numbers); k++) {
                struct record_filter f;
                snprintf(text, sizeof text, "test_loss=%s..%s", text_double(a, numbers[i]),
                         text_double(b, numbers[j]));
                REQUIRE_OK(record_filter_parse(&f, text, &e));
                CHECK(record_filter_match(&f, text_double(c, numbers[k])) ==
                      (numbers[k] >= numbers[i] && numbers[k] <= numbers[j]));
                record_filter_free(&f);
            }
}

static void check_value(const struct record_entry *entry, const char *column, const char *want)
{
    struct text got = {0};

    record_entry_value(entry, column, &got);
    if (strcmp(text_str(&got), want) != 0)
        TEST_FAILED("%s is '%s', not '%s'", column, text_str(&got), want);
    text_free(&got);
}

/* A metric is its value at the best epoch, which need not be the last. */
TEST(values_of_a_run)
{
    struct err e = {0};
    char *results = help_folder();
    struct record_run *run = help_run();
    struct record_epoch row = {.ece = 0.25, .val_acc = RECORD_EMPTY};
    struct record_entry entry;
    struct record *r;

    run->state = WIRE_RUNNING;
    run->best_epoch = 2;
    run->best_test_acc = 0.9;
    run->last_test_acc = 0.8;
    snprintf(run->spec.model, sizeof run->spec.model, "mlp");
    snprintf(run->spec.name, sizeof run->spec.name, "x");
    REQUIRE_OK(record_create(&r, results, run, "model = mlp\nmodel.width = 64\n", "", false, &e));
    for (row.epoch = 1; row.epoch <= 3; row.epoch++, row.ece += 0.5)
        REQUIRE_OK(record_add_epoch(r, &row, &e));
    REQUIRE_OK(record_find(results, "@", &entry, &e));
    check_value(&entry, "test_acc", "0.9");
    check_value(&entry, "best.test_acc", "0.9");
    check_value(&entry, "last.test_acc", "0.8");
    check_value(&entry, "ece", "0.75");
    check_value(&entry, "best.ece", "0.75");
    check_value(&entry, "last.ece", "1.25");
    check_value(&entry, "val_acc", "");
    check_value(&entry, "lr", "0.1"); /* the key, not the epoch's */
    check_value(&entry, "last.epoch", "3");
    check_value(&entry, "model.width", "64");
    check_value(&entry, "model.depth", "");
    check_value(&entry, "state", "running");
    record_free_entry(&entry);
    record_close(r);
    REQUIRE_OK(record_find(results, "state=dead", &entry, &e));
    check_value(&entry, "state", "dead");
    record_free_entry(&entry);
    free(run);
    help_remove(results);
}

/* Rising and falling numbers come before words, and what is empty or nan comes last. */
TEST(values_are_sorted_as_numbers_then_words)
{
    static const char *const rising[] = {"-1e3", "0.5", "9", "10", "a", "b", "", "nan", NULL};
    static const char *const falling[] = {"10", "9", "0.5", "-1e3", "b", "a", "nan", ""};

    for (int down = 0; down < 2; down++)
        for (int i = 0; i < 8; i++)
            for (int k = 0; k < 8; k++) {
                const char *const *in = down ? falling : rising;
                struct record_key a = record_key_of(in[i]), b = record_key_of(in[k]);
                int want = i >= 6 && k >= 6 ? 0 : (i > k) - (i < k);
                int got = record_compare_keys(&a, &b, down);

                CHECK_INT((got > 0) - (got < 0), want);
            }
    CHECK_INT(record_key_of(NULL).kind, RECORD_NOTHING);
}
