/* What set.c makes of a source: normalize, valid, checksum. */
#include "tests/unit/data/kit.h"

TEST(bytes_as_they_are_and_by_255)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct data_set *set;
    struct err e;
    float image[6];

    kit_set(folder, 12, 4, 3, 2, 1, 2, false);
    REQUIRE_OK(kit_open(&set, &s, &e));
    CHECK_INT(set->normalize, SPEC_NORMALIZE_255);
    for (int v = 0; v < 256; v++)
        CHECK(set->lut[v] == (float)v / 255.0f);
    data_image(set, &set->train, 5, image);
    for (size_t p = 0; p < 6; p++)
        CHECK(image[p] == (float)kit_byte(5, p) / 255.0f);
    data_close(set);

    s.normalize = SPEC_NORMALIZE_NONE;
    REQUIRE_OK(kit_open(&set, &s, &e));
    CHECK_INT(set->normalize, SPEC_NORMALIZE_NONE);
    data_image(set, &set->test, 3, image);
    for (size_t p = 0; p < 6; p++)
        CHECK(image[p] == (float)kit_byte(3, p));
    data_close(set);
    kit_remove(folder);
}

/* Every channel by the mean and deviation of the training images alone. */
TEST(standard_by_channel)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    double mean[3] = {0}, sd[3] = {0};
    struct data_set *set;
    struct err e;
    float image[18];

    kit_set(folder, 10, 4, 3, 2, 3, 2, false);
    s.normalize = SPEC_NORMALIZE_STANDARD;
    REQUIRE_OK(kit_open(&set, &s, &e));
    for (size_t c = 0; c < 3; c++) {
        for (size_t i = 0; i < 10; i++)
            for (size_t p = 0; p < 6; p++)
                mean[c] += kit_byte(i, p * 3 + c) / 60.0;
        for (size_t i = 0; i < 10; i++)
            for (size_t p = 0; p < 6; p++)
                sd[c] += pow(kit_byte(i, p * 3 + c) - mean[c], 2) / 60.0;
        sd[c] = sqrt(sd[c]);
    }
    data_image(set, &set->test, 3, image);
    for (size_t p = 0; p < 18; p++)
        CHECK_NEAR(image[p], (kit_byte(3, p) - mean[p % 3]) / sd[p % 3], 1e-6);
    data_close(set);
    kit_remove(folder);
}

TEST(standard_of_a_constant_channel)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct text t = {0};
    uint32_t dim[3] = {4, 1, 2};
    struct data_set *set;
    struct err e;
    float image[2];

    kit_set(folder, 4, 4, 1, 2, 1, 2, false);
    kit_head(&t, 8, 3, dim);
    text_add(&t, "AAAAAAAA");
    kit_put(folder, "train-images-idx3-ubyte", &t, false);
    s.normalize = SPEC_NORMALIZE_STANDARD;
    REQUIRE_OK(kit_open(&set, &s, &e));
    data_image(set, &set->train, 2, image);
    CHECK(image[0] == 0 && image[1] == 0);
    data_image(set, &set->test, 1, image);
    CHECK(image[0] == kit_byte(1, 0) - 65.0f);
    data_close(set);
    text_free(&t);
    kit_remove(folder);
}

/* The last ones of permutation(key(0), n), whatever the seed; training keeps the file's order. */
TEST(valid_is_the_end_of_a_permutation)
{
    enum { N = 50, HELD = 7 };
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    uint32_t order[N];
    bool out[N] = {false};
    struct data_set *set;
    struct err e;
    size_t to = 0;

    kit_set(folder, N + 5, 4, 3, 2, 1, 5, true);
    REQUIRE(rng_permutation(rng_key(0), N, order));
    s.train_limit = N; /* the limit comes first */
    s.valid = HELD;
    s.seed = 99;
    REQUIRE_OK(kit_open(&set, &s, &e));
    REQUIRE(set->valid.count == HELD && set->train.count == N - HELD);
    CHECK_INT(set->test.count, 4);
    for (size_t i = 0; i < HELD; i++) {
        size_t at = order[N - HELD + i];

        out[at] = true;
        CHECK_INT(set->valid.labels[i], at % 5);
        for (size_t p = 0; p < 6; p++)
            CHECK_INT(set->valid.bytes[i * 6 + p], kit_byte(at, p));
    }
    for (size_t i = 0; i < N; i++) {
        if (out[i])
            continue;
        CHECK_INT(set->train.labels[to], i % 5);
        for (size_t p = 0; p < 6; p++)
            CHECK_INT(set->train.bytes[to * 6 + p], kit_byte(i, p));
        to++;
    }
    data_close(set);
    kit_remove(folder);
}

TEST(valid_counts)
{
    static const struct {
        double valid;
        bool per_cent;
        size_t held; /* 0: refused */
    } cases[] = {
        {1, false, 1},  {39, false, 39}, {40, false, 0},  {1e18, false, 0},
        {10, true, 4},  {2.5, true, 1},  {12.5, true, 5}, {0.3, true, 0},
        {97, true, 39}, {99, true, 0},   {100, true, 0},  {50, true, 20},
    };
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct data_places places = {NULL};
    struct data_set *set, facts;
    struct err e;

    kit_set(folder, 40, 4, 3, 2, 1, 2, false);
    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        s.valid = cases[i].valid;
        s.valid_per_cent = cases[i].per_cent;
        if (!cases[i].held) {
            CHECK_REFUSED(&s, "valid = ");
            CHECK_INT(data_peek(&facts, &s, &places, (struct net_shape){0, 0, 0}, &e), ERR_INPUT);
            continue;
        }
        REQUIRE_OK(kit_open(&set, &s, &e));
        CHECK_INT(set->valid.count, cases[i].held);
        CHECK_INT(set->train.count, 40 - cases[i].held);
        REQUIRE_OK(data_peek(&facts, &s, &places, (struct net_shape){0, 0, 0}, &e));
        CHECK_INT(facts.valid.count, cases[i].held);
        CHECK_INT(facts.train.count, 40 - cases[i].held);
        CHECK(data_element(&facts) == 1 && data_element(set) == 1 && !set->floats);
        data_close(set);
    }
    kit_remove(folder);
}

/* Held-out images say nothing about how training images are scaled. */
TEST(standard_is_without_valid)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct text t = {0};
    uint32_t dim[3] = {8, 1, 1}, order[8];
    struct data_set *set;
    struct err e;
    float image[1];

    kit_set(folder, 8, 4, 1, 1, 1, 2, false);
    REQUIRE(rng_permutation(rng_key(0), 8, order));
    kit_head(&t, 8, 3, dim);
    text_add_n(&t, "\0\0\0\0\0\0\0\0", 8);
    for (int i = 0; i < 8; i++)
        t.s[16 + i] = (char)(i == (int)order[7] ? 200 : 10 + 20 * (i % 2));
    kit_put(folder, "train-images-idx3-ubyte", &t, false);
    s.valid = 1;
    s.normalize = SPEC_NORMALIZE_STANDARD;
    REQUIRE_OK(kit_open(&set, &s, &e));
    double mean = 0, squares = 0;
    for (int i = 0; i < 7; i++)
        mean += set->train.bytes[i] / 7.0;
    for (int i = 0; i < 7; i++)
        squares += pow(set->train.bytes[i] - mean, 2) / 7;
    data_image(set, &set->valid, 0, image);
    CHECK_NEAR(image[0], (200 - mean) / sqrt(squares), 1e-5);
    data_close(set);
    text_free(&t);
    kit_remove(folder);
}

/* What training and testing see changes the checksum, how it is scaled or split does not. */
TEST(checksum)
{
    static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    char *folder = kit_folder(), first[65];
    struct spec s = kit_spec(folder);
    struct data_set *set;
    struct err e;

    kit_set(folder, 8, 4, 3, 2, 1, 2, false);
    REQUIRE_OK(kit_open(&set, &s, &e));
    memcpy(first, set->checksum, 65);
    data_close(set);
    s.normalize = SPEC_NORMALIZE_STANDARD;
    s.valid = 3;
    s.seed = 5;
    REQUIRE_OK(kit_open(&set, &s, &e));
    CHECK_STR(set->checksum, first);
    data_close(set);
    s.test_limit = 3;
    REQUIRE_OK(kit_open(&set, &s, &e));
    CHECK(strcmp(set->checksum, first) != 0);
    data_close(set);
    s.test_limit = 0;
    for (int f = 0; f < 4; f++) {
        char *path = io_path(folder, names[f]), *bytes;
        size_t n;

        REQUIRE_OK(io_read_file(path, 1000, &bytes, &n, &e));
        bytes[n - 1] ^= 1;
        kit_write(folder, names[f], bytes, n);
        REQUIRE_OK(kit_open(&set, &s, &e));
        CHECK(strcmp(set->checksum, first) != 0);
        data_close(set);
        bytes[n - 1] ^= 1;
        kit_write(folder, names[f], bytes, n);
        free(bytes);
        free(path);
    }
    REQUIRE_OK(kit_open(&set, &s, &e));
    CHECK_STR(set->checksum, first);
    data_close(set);
    kit_remove(folder);
}

/* The files that Debian ships, where they are installed. */
TEST(fashion_mnist)
{
    struct spec s = kit_spec("fashion-mnist");
    struct data_places places = {NULL};
    struct data_set *set, facts;
    struct err e;

    if (!io_exists("/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz"))
        SKIP("dataset-fashion-mnist is not installed");
    REQUIRE_OK(data_peek(&facts, &s, &places, (struct net_shape){0, 0, 0}, &e));
    REQUIRE_OK(kit_open(&set, &s, &e));
    CHECK_INT(facts.train.count, 60000);
    CHECK_INT(set->train.count, 60000);
    CHECK_INT(set->test.count, 10000);
    CHECK_INT(set->shape.h, 28);
    CHECK_INT(set->classes, 10);
    REQUIRE(set->class_names != NULL);
    CHECK_STR(set->class_names[9], "Ankle boot");
    CHECK_INT(set->train.labels[0], 9);
    CHECK_INT(set->test.labels[0], 9);
    CHECK_STR(set->checksum, "b77c5a71a61b8bb51947a14a59bccbe67025a545f12c5643346242aec25c3a4a");
    data_close(set);
}
