/* CSV data sets. */
#include "tests/unit/data/kit.h"

#include <fcntl.h>

static int opened;

static int count_open(const char *path, int flags, mode_t mode)
{
    opened += strstr(path, ".csv") != NULL;
    return open(path, flags, mode);
}

/* Opens one file of this text. */
static enum err_code open_text(const char *folder, const char *text, struct net_shape wanted,
                               struct data_set **set, struct err *e)
{
    struct data_places places = {NULL};
    char *path = io_path(folder, "set.csv");
    struct spec s = kit_spec(path);
    enum err_code code;

    s.normalize = SPEC_NORMALIZE_NONE;
    kit_text(folder, "set.csv", text);
    *set = NULL;
    e->text[0] = 0;
    code = data_open(set, &s, &places, wanted, e);
    free(path);
    return code;
}

static const struct net_shape nothing = {0, 0, 0};

TEST(label_first_without_header)
{
    char *folder = kit_folder();
    struct data_set *set;
    struct err e;

    REQUIRE_OK(open_text(folder,
                         "3,0.5,1\n1,-2,3e2\n3,5,6\n7,7,8\n1,9,10\n3,11,12\n"
                         "1,13,14\n3,15,16\n1,17,18\n7,19,20\n3,21,22\n1,23,24\n",
                         nothing, &set, &e));
    CHECK_INT(set->train.count, 10); /* twelve rows: the last sixth is the test set */
    CHECK_INT(set->test.count, 2);
    CHECK_INT(set->classes, 3);
    CHECK_INT(set->shape.h, 1);
    CHECK_INT(set->shape.w, 1);
    CHECK_INT(set->shape.c, 2);
    REQUIRE(set->train.values && !set->train.bytes && !set->lut && set->class_names);
    CHECK_STR(set->class_names[0], "1");
    CHECK_STR(set->class_names[1], "3");
    CHECK_STR(set->class_names[2], "7");
    CHECK_INT(set->train.labels[0], 1);
    CHECK_INT(set->train.labels[1], 0);
    CHECK_INT(set->train.labels[3], 2);
    CHECK(set->train.values[0] == 0.5f && set->train.values[2] == -2 &&
          set->train.values[3] == 300);
    CHECK_INT(set->test.labels[0], 1);
    CHECK(set->test.values[0] == 21 && set->test.values[3] == 24);
    data_close(set);
    kit_remove(folder);
}

TEST(label_column_by_name)
{
    char *folder = kit_folder();
    struct data_set *set;
    struct err e;

    REQUIRE_OK(open_text(
        folder, "a,label,b\r\n1,dog,2.5\r\n3,\"cat, big\",4\r\n5,dog,6\r\n\r\n7,Zebra,8\r\n",
        nothing, &set, &e));
    CHECK_INT(set->train.count, 3);
    CHECK_INT(set->test.count, 1);
    CHECK_INT(set->classes, 3);
    CHECK_STR(set->class_names[0], "Zebra"); /* by bytes */
    CHECK_STR(set->class_names[1], "cat, big");
    CHECK_STR(set->class_names[2], "dog");
    CHECK_INT(set->train.labels[0], 2);
    CHECK_INT(set->train.labels[1], 1);
    CHECK_INT(set->test.labels[0], 0);
    CHECK(set->train.values[0] == 1 && set->train.values[1] == 2.5f);
    CHECK(set->test.values[0] == 7 && set->test.values[1] == 8);
    data_close(set);
    kit_remove(folder);
}

TEST(header_is_detected)
{
    static const struct {
        const char *text;
        size_t rows;
    } cases[] = {
        {"class,x,y\n0,1,2\n1,3,4\n0,5,6\n", 3},     /* names only */
        {"0,1,2\n1,3,4\n0,5,6\n", 3},                /* none */
        {"label,0,1\n0,1,2\n1,3,4\n0,5,6\n", 3},     /* numbers as names, but a label */
        {"cat,1,2\ndog,3,4\ncat,5,6\n", 3},          /* labels in words are no header */
        {"\xef\xbb\xbflabel,x\n0,1\n1,3\n0,5\n", 3}, /* with a byte order mark */
        {"label,x\n0,1\n1,3\n0,5", 3},               /* last row without its newline */
    };
    char *folder = kit_folder();

    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        struct data_set *set;
        struct err e;

        REQUIRE_OK(open_text(folder, cases[i].text, nothing, &set, &e));
        CHECK_INT(set->train.count + set->test.count, cases[i].rows);
        data_close(set);
    }
    kit_remove(folder);
}

TEST(labels_in_numbers_are_one_by_value)
{
    char *folder = kit_folder();
    struct data_set *set;
    struct err e;

    REQUIRE_OK(open_text(folder, "10,1\n9,2\n1e1,3\n9.0,4\n-1,5\n10.0,6\n", nothing, &set, &e));
    CHECK_INT(set->classes, 3);
    CHECK_STR(set->class_names[0], "-1");
    CHECK_STR(set->class_names[1], "9");
    CHECK_STR(set->class_names[2], "10");
    CHECK_INT(set->train.labels[0], 2);
    CHECK_INT(set->train.labels[2], 2);
    CHECK_INT(set->train.labels[3], 1);
    CHECK_INT(set->test.labels[0], 2);
    data_close(set);
    kit_remove(folder);
}

TEST(two_files)
{
    char *folder = kit_folder();
    char *path = mem_textf("%s/a.csv:%s/b.csv", folder, folder);
    struct spec s = kit_spec(path);
    struct data_set *set;
    struct err e;

    s.normalize = SPEC_NORMALIZE_NONE;
    kit_text(folder, "a.csv", "label,x,y\nb,1,2\na,3,4\n");
    kit_text(folder, "b.csv", "x,y,label\n5,6,a\n7,8,b\n9,10,a\n");
    REQUIRE_OK(kit_open(&set, &s, &e));
    CHECK_INT(set->train.count, 2);
    CHECK_INT(set->test.count, 3);
    CHECK_INT(set->train.labels[0], 1);
    CHECK_INT(set->test.labels[0], 0);
    CHECK(set->test.values[5] == 10);
    data_close(set);
    s.test_limit = 2;
    s.train_limit = 1;
    REQUIRE_OK(kit_open(&set, &s, &e));
    CHECK_INT(set->train.count, 1);
    CHECK_INT(set->test.count, 2);
    data_close(set);
    s.test_limit = 4;
    CHECK_REFUSED(&s, "test_limit = 4");
    s.test_limit = 0;
    s.train_limit = 0;

    kit_text(folder, "b.csv", "label,x,y\nb,1,2\nc,3,4\n");
    CHECK_REFUSED(&s, "b.csv:3: the label \"c\" is on no training row");
    kit_text(folder, "b.csv", "label,y,x\nb,1,2\n");
    CHECK_REFUSED(&s, "value 1 is named \"y\", in ");
    kit_text(folder, "b.csv", "b,1,2,3\na,3,4,5\n");
    CHECK_REFUSED(&s, "b.csv: 3 columns beside the label");
    kit_text(folder, "b.csv", "");
    CHECK_REFUSED(&s, "b.csv: the file is empty");
    free(path);
    path = mem_textf("%s/a.csv:%s/none.csv", folder, folder);
    s = kit_spec(path);
    CHECK_REFUSED(&s, "there is no file");
    CHECK_REFUSED(&s, "none.csv");
    free(path);
    kit_remove(folder);
}

TEST(standard_by_column)
{
    char *folder = kit_folder(), *path = io_path(folder, "set.csv");
    struct spec s = kit_spec(path);
    struct data_set *set;
    struct err e;

    /* training rows: 1 3 5 -> mean 3, sd sqrt(8/3); a constant column of tenths */
    kit_text(folder, "set.csv", "a,1,0.1\nb,3,0.1\na,5,0.1\nb,9,0.6\n");
    REQUIRE_OK(kit_open(&set, &s, &e));
    CHECK_INT(set->normalize, SPEC_NORMALIZE_STANDARD);
    CHECK_NEAR(set->train.values[0], -2 / sqrt(8 / 3.0), 1e-6);
    CHECK_NEAR(set->train.values[2], 0, 1e-6);
    CHECK_NEAR(set->test.values[0], 6 / sqrt(8 / 3.0), 1e-6);
    CHECK_NEAR(set->train.values[1], 0, 1e-6);
    CHECK_NEAR(set->test.values[1], 0.5, 1e-6);
    data_close(set);
    s.normalize = SPEC_NORMALIZE_255;
    REQUIRE_OK(kit_open(&set, &s, &e));
    CHECK(set->train.values[0] == (float)(1 / 255.0));
    data_close(set);
    free(path);
    kit_remove(folder);
}

/* n columns counting up, `last` as the last value of the first row */
static char *wide(size_t n, size_t rows, const char *last)
{
    struct text t = {0};

    for (size_t r = 0; r < rows; r++) {
        text_addf(&t, "%zu", r % 2);
        for (size_t i = 0; i < n; i++) {
            if (r == 0 && i == n - 1)
                text_addf(&t, ",%s", last);
            else
                text_addf(&t, ",%zu", (r + i) % 256);
        }
        text_add(&t, "\n");
    }
    return t.s;
}

TEST(shapes)
{
    static const struct {
        size_t columns;
        const char *last;
        struct net_shape wanted, is;
        bool bytes;
    } cases[] = {
        {64, "255", {0, 0, 0}, {8, 8, 1}, true},
        {64, "256", {0, 0, 0}, {1, 1, 64}, false}, /* one value beyond a byte */
        {64, "1.5", {0, 0, 0}, {1, 1, 64}, false},
        {64, "-1", {0, 0, 0}, {1, 1, 64}, false},
        {65, "1", {0, 0, 0}, {1, 1, 65}, false}, /* no square */
        {49, "1", {0, 0, 0}, {1, 1, 49}, false}, /* a square, but a small one */
        {784, "7", {0, 0, 0}, {28, 28, 1}, true},
        {64, "1", {4, 16, 1}, {4, 16, 1}, true},
        {64, "0.5", {4, 16, 1}, {4, 16, 1}, false},
        {12, "1", {2, 2, 3}, {2, 2, 3}, true},
        {64, "1", {1, 1, 64}, {1, 1, 64}, false},  /* a table is scaled by column */
        {64, "1", {28, 28, 1}, {1, 1, 64}, false}, /* the model will say so */
    };
    char *folder = kit_folder();

    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        char *text = wide(cases[i].columns, 3, cases[i].last);
        struct data_set *set;
        struct err e;

        REQUIRE_OK(open_text(folder, text, cases[i].wanted, &set, &e));
        CHECK_INT(set->shape.h, cases[i].is.h);
        CHECK_INT(set->shape.w, cases[i].is.w);
        CHECK_INT(set->shape.c, cases[i].is.c);
        CHECK_INT(set->train.bytes != NULL, cases[i].bytes);
        CHECK_INT(set->lut != NULL, cases[i].bytes);
        CHECK_INT(set->test.bytes != NULL, cases[i].bytes);
        data_close(set);
        free(text);
    }
    kit_remove(folder);
}

/* Values come channel by channel and are kept pixel by pixel. */
TEST(channels_first_become_last)
{
    static const char *const rows[] = {
        "0,1,2,3,4,5,6,11,12,13,14,15,16\n1,21,22,23,24,25,26,31,32,33,34,35,36\n"
        "0,1,1,1,1,1,1,2,2,2,2,2,2\n",
        "0,1,2,3,4,5,6,11,12,13,14,15,16.5\n1,21,22,23,24,25,26,31,32,33,34,35,36\n"
        "0,1,1,1,1,1,1,2,2,2,2,2,2\n"};
    char *folder = kit_folder();

    for (int numbers = 0; numbers < 2; numbers++) {
        struct data_set *set;
        struct err e;
        float image[12];

        REQUIRE_OK(open_text(folder, rows[numbers], (struct net_shape){2, 3, 2}, &set, &e));
        CHECK_INT(set->train.bytes == NULL, numbers);
        data_image(set, &set->train, 1, image);
        for (int p = 0; p < 6; p++) {
            CHECK(image[2 * p] == (float)(21 + p));
            CHECK(image[2 * p + 1] == (float)(31 + p));
        }
        data_image(set, &set->test, 0, image);
        CHECK(image[0] == 1 && image[1] == 2);
        data_close(set);
    }
    kit_remove(folder);
}

TEST(what_is_wrong_is_named_with_its_line)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "set.csv: the file is empty"},
        {"\n\n\n", "set.csv: the file is empty"},
        {"label,x\n", "nothing below it"},
        {"1\n2\n", "set.csv:1: one column"},
        {"label\n1\n", "set.csv:1: one column; a row is"},
        {"label;x\n1;2\n", "set.csv:1: one column, with semicolons in it; a row is"},
        {"1\t2\n", "set.csv:1: one column, with tabs in it; a row is"},
        {"1,2,3\n1,2\n", "set.csv:2: 2 columns, the first row has 3"},
        {"1,2,3\n2,1,2,3\n", "set.csv:2: 4 columns, the first row has 3"},
        {"1,2,3\n\n2,1,x\n", "set.csv:3: column 3 is \"x\", not a number"},
        {"1,2,3\n2,,3\n", "set.csv:2: column 2 is \"\", not a number"},
        {"1,2,3\n2,nan,3\n", "set.csv:2: column 2 is \"nan\""},
        {"1,2,3\n2,-inf,3\n", "\"-inf\", not a number: a missing value cannot be trained on"},
        {"1,2,nan\n2,1,3\n", "set.csv:1: column 3 is \"nan\", not a number: a missing value"},
        {"1,2,3\n2,1e999,3\n", "not a number"},
        {"1,2,3\n2,0x10,3\n", "not a number"},
        {"1,2,3\n2,\"1,5\",3\n", "\"1,5\", not a number"},
        {"1,2,three\n2,1,3\n", "set.csv:1: column 3 is \"three\""},
        {"x,y,kind\n5.1,2,0\n4,3,1\n", "set.csv:2: column 1 (x), taken for the label because no "
                                       "column is named label, is 5.1"},
        {"x,y,kind\n5.1,2,0\n4,3,1\n", "label in line 1: column 3 (kind) may be it"},
        {"x,y,kind\n5,2,0\n4.5,3,1\n", "set.csv:3: column 1 (x)"},
        {"5,2,0\n4.5,3,1\n", "label over the label's: column 3 may be it"},
        {"x,label\n5,0\n4,0.5\n", "set.csv:3: column 2 (label) is 0.5; a label is a word or"},
        {"x,y,kind\n5,2,dog\n", "column 3 (kind) is \"dog\", not a number; column 1 was taken for "
                                "the label: name the label's column label in line 1"},
        {"1,2,3\n,1,3\n", "set.csv:2: the label in column 1 is empty"},
        {"1,2,3\n1,5,6\n1,7,8\n", "every row has the label \"1\""},
        {"1,2,3\n1.0,5,6\n", "one class"},
        {"1,2\n", "one row"},
        {"label,x,label\n1,2,3\n", "columns 1 and 3 are both named label"},
        {",x,label\n0,2,3\n", "set.csv:1: column 1 has no name"},
        {"1,2,3\n2,\"5,6\n", "set.csv:2"},
        {"1,2,3\n2,5\"6,7\n", "set.csv:2"},
        {"1,2,3\n2,\x1b[31m,7\n", "^["},
    };
    char *folder = kit_folder();

    for (size_t i = 0; i < MEM_COUNT(bad); i++) {
        struct data_set *set;
        struct err e;

        CHECK_INT(open_text(folder, bad[i].text, nothing, &set, &e), ERR_INPUT);
        CHECK_HAS(e.text, bad[i].says);
        CHECK(!strchr(e.text, '\n') && !strchr(e.text, '\x1b'));
        CHECK(set == NULL);
        data_close(set);
    }
    kit_remove(folder);
}

TEST(numbers_too_large_for_a_float)
{
    char *folder = kit_folder();
    struct data_set *set;
    struct err e;

    CHECK_INT(open_text(folder, "1,1e300\n2,3\n1,5\n", nothing, &set, &e), ERR_INPUT);
    CHECK_HAS(e.text, "too large for a float");
    kit_remove(folder);
}

TEST(too_many_labels)
{
    char *folder = kit_folder();
    struct text t = {0};
    struct data_set *set;
    struct err e;

    for (int i = 0; i < 65540; i++)
        text_addf(&t, "%d,1.5\n", i);
    CHECK_INT(open_text(folder, t.s, nothing, &set, &e), ERR_INPUT);
    CHECK_HAS(e.text, "set.csv:65536: more than 65535 different labels");
    text_free(&t);
    kit_remove(folder);
}

TEST(a_first_column_that_numbers_the_rows_is_no_label)
{
    char *folder = kit_folder();
    struct text t = {0};
    struct data_set *set;
    struct err e;

    for (int i = 0; i < 60; i++)
        text_addf(&t, "%s%d,1.5,%d\n", i ? "" : "id,x,kind\n", i, i % 3);
    CHECK_INT(open_text(folder, t.s, nothing, &set, &e), ERR_INPUT);
    CHECK_HAS(e.text, "column 1 (id), taken for the label because no column is named label, has 60 "
                      "different values in 60 rows");
    CHECK_HAS(e.text, "name the label's column label in line 1");
    text_free(&t);
    /* named by its header, it is what the user says */
    for (int i = 0; i < 60; i++)
        text_addf(&t, "%s%d,1.5,%d\n", i ? "" : "label,x,kind\n", i % 40, i % 3);
    REQUIRE_OK(open_text(folder, t.s, nothing, &set, &e));
    CHECK_INT(set->classes, 40);
    data_close(set);
    text_free(&t);
    kit_remove(folder);
}

TEST(valid_of_rows)
{
    char *folder = kit_folder(), *path = io_path(folder, "set.csv");
    struct spec s = kit_spec(path);
    uint32_t order[10];
    struct text t = {0};
    struct data_set *set;
    struct err e;

    for (int i = 0; i < 12; i++)
        text_addf(&t, "%d,%d.5\n", i % 2, i);
    kit_text(folder, "set.csv", t.s);
    s.valid = 3;
    s.normalize = SPEC_NORMALIZE_NONE;
    REQUIRE_OK(kit_open(&set, &s, &e));
    REQUIRE(rng_permutation(rng_key(0), 10, order));
    CHECK_INT(set->train.count, 7);
    CHECK_INT(set->test.count, 2);
    for (int i = 0; i < 3; i++) {
        CHECK(set->valid.values[i] == (float)order[7 + i] + 0.5f);
        CHECK_INT(set->valid.labels[i], order[7 + i] % 2);
    }
    data_close(set);
    text_free(&t);
    free(path);
    kit_remove(folder);
}

TEST(peek_of_a_csv)
{
    char *folder = kit_folder(), *path = io_path(folder, "set.csv");
    struct spec s = kit_spec(path);
    struct data_places places = {NULL};
    struct data_set facts;
    struct err e;

    kit_text(folder, "set.csv", "a,1,2\nb,3,4\na,5,6\nc,7,8.5\n");
    REQUIRE_OK(data_peek(&facts, &s, &places, nothing, &e));
    CHECK_INT(facts.train.count, 3);
    CHECK_INT(facts.test.count, 1);
    CHECK_INT(facts.classes, 3);
    CHECK_INT(facts.shape.c, 2);
    CHECK_INT(facts.normalize, SPEC_NORMALIZE_STANDARD);
    CHECK(facts.floats && data_element(&facts) == sizeof(float));
    free(path);
    kit_remove(folder);
}

/* The planner asks at every key: a file that was read and has not changed is not read again. */
TEST(peek_does_not_read_twice)
{
    char *folder = kit_folder(), *path = io_path(folder, "set.csv");
    struct spec s = kit_spec(path);
    struct data_places places = {NULL};
    int (*real_open)(const char *, int, mode_t) = io.open;
    struct data_set facts;
    struct err e;

    kit_text(folder, "set.csv", "a,1,2\nb,3,4\na,5,6\nc,7,8.5\n");
    REQUIRE_OK(data_peek(&facts, &s, &places, nothing, &e));
    CHECK_INT(facts.train.count, 3);
    opened = 0;
    io.open = count_open;
    s.train_limit = 2;
    REQUIRE_OK(data_peek(&facts, &s, &places, (struct net_shape){1, 2, 1}, &e));
    CHECK_INT(opened, 0);
    CHECK_INT(facts.train.count, 2);
    CHECK_INT(facts.shape.w, 2);
    CHECK_INT(facts.classes, 3);
    s.train_limit = 4;
    CHECK_INT(data_peek(&facts, &s, &places, nothing, &e), ERR_INPUT);
    CHECK_HAS(e.text, "train_limit = 4");
    s.train_limit = 0;
    kit_text(folder, "set.csv", "a,1,2\nb,3,4\na,5,6\n");
    REQUIRE_OK(data_peek(&facts, &s, &places, nothing, &e));
    CHECK_INT(opened, 1);
    CHECK_INT(facts.train.count, 2);
    CHECK_INT(facts.classes, 2);
    io.open = real_open;
    free(path);
    kit_remove(folder);
}

TEST(mutated)
{
    static const char good[] = "label,x,y\n1,0.5,3\n2,7,\"4\"\n1,5,6e1\n2,9,-1\n1,3,2\n2,1,1\n";
    char *folder = kit_folder(), bad[sizeof good + 1];
    uint32_t x = 7;
    int refused = 0;

    for (int round = 0; round < 1500; round++) {
        size_t n = sizeof good - 1;
        struct data_set *set;
        struct err e;
        enum err_code code;

        memcpy(bad, good, sizeof good);
        for (int k = 0; k < 1 + round % 4; k++) {
            static const char marks[] = "\",\n\r;.0-e\xef\x01";

            x = x * 1664525 + 1013904223;
            bad[(x >> 8) % n] = marks[(x >> 24) % (sizeof marks - 1)];
        }
        if (round % 5 == 0)
            bad[(x >> 4) % n] = 0;
        code = open_text(folder, bad, nothing, &set, &e);
        refused += code != ERR_OK;
        CHECK(code == ERR_OK || (code == ERR_INPUT && e.text[0] && !set));
        data_close(set);
    }
    CHECK(refused > 300 && refused < 1500);
    kit_remove(folder);
}
