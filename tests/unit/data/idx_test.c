/* IDX files, good and hostile. */
#include "tests/unit/data/kit.h"

#include <errno.h>
#include <sys/resource.h>

#define TRAIN_IMAGES "train-images-idx3-ubyte"
#define TRAIN_LABELS "train-labels-idx1-ubyte"
#define TEST_IMAGES  "t10k-images-idx3-ubyte"
#define TEST_LABELS  "t10k-labels-idx1-ubyte"

static void check_content(const struct data_set *set, size_t train, size_t test, int classes)
{
    size_t size = (size_t)set->shape.h * (size_t)set->shape.w * (size_t)set->shape.c;

    CHECK_INT(set->train.count, train);
    CHECK_INT(set->test.count, test);
    CHECK_INT(set->valid.count, 0);
    CHECK_INT(set->classes, classes);
    CHECK(set->train.values == NULL);
    for (size_t i = 0; i < train; i++) {
        CHECK_INT(set->train.labels[i], i % (size_t)classes);
        for (size_t p = 0; p < size; p++)
            if (set->train.bytes[i * size + p] != kit_byte(i, p))
                TEST_FAILED("training image %zu differs at %zu", i, p);
    }
    for (size_t i = 0; i < test; i++) {
        CHECK_INT(set->test.labels[i], i % (size_t)classes);
        for (size_t p = 0; p < size; p++)
            if (set->test.bytes[i * size + p] != kit_byte(i, p))
                TEST_FAILED("test image %zu differs at %zu", i, p);
    }
}

TEST(plain_and_gz_hold_the_same)
{
    char *folder[2] = {kit_folder(), kit_folder()};
    struct data_set *set[2] = {NULL, NULL};
    struct err e;

    for (int gz = 0; gz < 2; gz++) {
        struct spec s = kit_spec(folder[gz]);

        kit_set(folder[gz], 30, 12, 5, 4, 1, 3, gz);
        REQUIRE_OK(kit_open(&set[gz], &s, &e));
        check_content(set[gz], 30, 12, 3);
        CHECK_INT(set[gz]->shape.h, 5);
        CHECK_INT(set[gz]->shape.w, 4);
        CHECK_INT(set[gz]->shape.c, 1);
        CHECK(set[gz]->class_names == NULL);
        CHECK_STR(set[gz]->name, folder[gz]);
    }
    CHECK_STR(set[0]->checksum, set[1]->checksum);
    CHECK_INT(strlen(set[0]->checksum), 64);
    for (int gz = 0; gz < 2; gz++) {
        data_close(set[gz]);
        kit_remove(folder[gz]);
    }
}

TEST(large_gz_grows_past_its_first_block)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct data_set *set;
    struct err e;

    kit_set(folder, 3000, 10, 28, 28, 1, 10, true); /* 2.3 MB: beyond the first piece of 1 MiB */
    REQUIRE_OK(kit_open(&set, &s, &e));
    check_content(set, 3000, 10, 10);
    data_close(set);
    kit_remove(folder);
}

TEST(four_dimensions_are_channels_last)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct data_set *set;
    struct err e;

    kit_set(folder, 8, 4, 3, 5, 3, 2, false);
    REQUIRE_OK(kit_open(&set, &s, &e));
    CHECK_INT(set->shape.c, 3);
    check_content(set, 8, 4, 2);
    data_close(set);
    kit_remove(folder);
}

TEST(names_with_dots_and_of_either_kind)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct text t = {0};
    struct data_set *set;
    struct err e;

    kit_images(&t, 6, 2, 2, 1);
    kit_put(folder, "train-images.idx3-ubyte", &t, true);
    kit_put(folder, "test-images-idx3-ubyte", &t, false);
    text_clear(&t);
    kit_labels(&t, 6, 2);
    kit_put(folder, "train-labels.idx1-ubyte", &t, false);
    kit_put(folder, "test-labels.idx1-ubyte", &t, true);
    REQUIRE_OK(kit_open(&set, &s, &e));
    check_content(set, 6, 6, 2);
    data_close(set);
    text_free(&t);
    kit_remove(folder);
}

TEST(a_missing_file_is_named)
{
    static const char *const names[] = {TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS};
    static const char *const words[] = {"training images", "training labels", "test images",
                                        "test labels"};

    for (int i = 0; i < 4; i++) {
        char *folder = kit_folder();
        char *path = io_path(folder, names[i]);
        struct spec s = kit_spec(folder);

        kit_set(folder, 4, 4, 2, 2, 1, 2, false);
        unlink(path);
        CHECK_REFUSED(&s, words[i]);
        CHECK_REFUSED(&s, folder);
        free(path);
        kit_remove(folder);
    }
}

/* Every length from nothing to one byte short, of images and labels, plain and packed. */
TEST(truncated_at_every_byte)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct text images = {0}, labels = {0};

    kit_set(folder, 4, 4, 3, 2, 1, 2, false);
    kit_images(&images, 4, 3, 2, 1);
    kit_labels(&labels, 4, 2);
    for (size_t n = 0; n < images.n; n++) {
        kit_write(folder, TRAIN_IMAGES, images.s, n);
        CHECK_REFUSED(&s, TRAIN_IMAGES);
        CHECK_REFUSED(&s, n < 16 ? "of its header" : "are missing");
    }
    kit_write(folder, TRAIN_IMAGES, images.s, images.n);
    for (size_t n = 0; n < labels.n; n++) {
        kit_write(folder, TEST_LABELS, labels.s, n);
        CHECK_REFUSED(&s, TEST_LABELS);
    }
    kit_remove(folder);

    folder = kit_folder();
    s = kit_spec(folder);
    kit_set(folder, 4, 4, 3, 2, 1, 2, true);
    for (size_t n = 0; n < images.n; n++) {
        struct text part = {0};

        text_add_n(&part, images.s, n);
        if (n == 0)
            text_add_n(&part, "", 0);
        kit_put(folder, TRAIN_IMAGES, &part, true);
        CHECK_REFUSED(&s, TRAIN_IMAGES ".gz");
        CHECK_REFUSED(&s, n < 16 ? "of its header" : "of its content");
        text_free(&part);
    }
    text_free(&images);
    text_free(&labels);
    kit_remove(folder);
}

/* The packed bytes themselves cut anywhere, the eight of the trailer among them. */
TEST(gz_cut_at_every_byte)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct text images = {0}, packed = {0};

    kit_set(folder, 4, 4, 3, 2, 1, 2, true);
    kit_images(&images, 4, 3, 2, 1);
    kit_gz(&packed, images.s, images.n);
    for (size_t n = 0; n < packed.n; n++) {
        kit_write(folder, TRAIN_IMAGES ".gz", packed.s, n);
        CHECK_REFUSED(&s, "cut off at byte");
    }
    text_free(&images);
    text_free(&packed);
    kit_remove(folder);
}

TEST(more_than_the_header_says)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct text images = {0}, packed = {0};

    kit_set(folder, 4, 4, 3, 2, 1, 2, false);
    kit_images(&images, 4, 3, 2, 1);
    text_add_n(&images, "x", 1);
    kit_put(folder, TRAIN_IMAGES, &images, false);
    CHECK_REFUSED(&s, "1 too many");
    kit_remove(folder);

    folder = kit_folder();
    s = kit_spec(folder);
    kit_set(folder, 4, 4, 3, 2, 1, 2, true);
    kit_put(folder, TRAIN_IMAGES, &images, true);
    CHECK_REFUSED(&s, "goes on behind byte 40");

    /* bytes behind the packed content, which gzread would not mention */
    images.n--;
    kit_gz(&packed, images.s, images.n);
    text_add_n(&packed, "garbage", 7);
    kit_write(folder, TRAIN_IMAGES ".gz", packed.s, packed.n);
    CHECK_REFUSED(&s, "bytes that are not gz follow");
    text_free(&images);
    text_free(&packed);
    kit_remove(folder);
}

TEST(gz_of_several_members)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct text images = {0}, packed = {0};
    struct data_set *set;
    struct err e;

    kit_set(folder, 4, 4, 3, 2, 1, 2, true);
    kit_images(&images, 4, 3, 2, 1);
    kit_gz(&packed, images.s, 10);
    kit_gz(&packed, images.s, 0);
    kit_gz(&packed, images.s + 10, images.n - 10);
    kit_write(folder, TRAIN_IMAGES ".gz", packed.s, packed.n);
    REQUIRE_OK(kit_open(&set, &s, &e));
    check_content(set, 4, 4, 2);
    data_close(set);
    text_free(&images);
    text_free(&packed);
    kit_remove(folder);
}

TEST(gz_by_name_and_gz_by_content)
{
    char *folder = kit_folder(), *path;
    struct spec s = kit_spec(folder);
    struct text images = {0}, packed = {0};

    kit_set(folder, 4, 4, 3, 2, 1, 2, true);
    kit_images(&images, 4, 3, 2, 1);
    kit_gz(&packed, images.s, images.n);
    kit_write(folder, TRAIN_IMAGES ".gz", images.s, images.n);
    CHECK_REFUSED(&s, "damaged gz at byte");
    path = io_path(folder, TRAIN_IMAGES ".gz");
    unlink(path);
    free(path);
    kit_write(folder, TRAIN_IMAGES, packed.s, packed.n);
    CHECK_REFUSED(&s, "a name that ends in .gz");
    text_free(&images);
    text_free(&packed);
    kit_remove(folder);
}

TEST(gz_with_a_wrong_checksum)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct text images = {0}, packed = {0};

    kit_set(folder, 4, 4, 3, 2, 1, 2, true);
    kit_images(&images, 4, 3, 2, 1);
    kit_gz(&packed, images.s, images.n);
    packed.s[packed.n - 8] ^= 1;
    kit_write(folder, TRAIN_IMAGES ".gz", packed.s, packed.n);
    CHECK_REFUSED(&s, "incorrect data check");
    packed.s[packed.n - 8] ^= 1;
    packed.s[packed.n - 1] ^= 1;
    kit_write(folder, TRAIN_IMAGES ".gz", packed.s, packed.n);
    CHECK_REFUSED(&s, "incorrect length check");
    text_free(&images);
    text_free(&packed);
    kit_remove(folder);
}

static long peak_kilobytes(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

TEST(hostile_lengths)
{
    static const struct {
        int type, dims;
        uint32_t dim[4];
        const char *says;
    } bad[] = {
        {8, 3, {0, 28, 28}, "dimension 1 at byte 4 is 0"},
        {8, 3, {4, 0, 28}, "dimension 2 at byte 8 is 0"},
        {8, 3, {4, 28, 0}, "dimension 3 at byte 12 is 0"},
        {8, 3, {0xffffffff, 0xffffffff, 0xffffffff}, "more than 8 GiB"},
        {8, 4, {0x80000000, 0x80000000, 0x80000000, 0x80000000}, "more than 8 GiB"},
        {8, 4, {0x10000, 0x10000, 0x10000, 0x10000}, "more than 8 GiB"}, /* 2^64: 0 if it wraps */
        {8, 3, {0x40000000, 2, 2}, "= 4294967296 bytes"},
        {8, 3, {0x7fffffff, 1, 1}, "= 2147483647 bytes"},
        {8, 3, {60000, 28, 28}, "= 47040000 bytes"},
        {9, 3, {4, 3, 2}, "signed bytes"},
        {0x0b, 3, {4, 3, 2}, "16-bit integers"},
        {0x0c, 3, {4, 3, 2}, "32-bit integers"},
        {0x0d, 3, {4, 3, 2}, "floats"},
        {0x0e, 3, {4, 3, 2}, "doubles"},
        {0x42, 3, {4, 3, 2}, "unknown element type 0x42"},
        {8, 0, {0}, "byte 3 says 0"},
        {8, 1, {4}, "byte 3 says 1"},
        {8, 2, {4, 6}, "byte 3 says 2"},
        {8, 5, {4, 6}, "byte 3 says 5"},
        {8, 255, {4, 6}, "byte 3 says 255"},
        {8, 3, {4, 100000, 1}, "400000 bytes"},
    };
    char *plain = kit_folder(), *gz = kit_folder();
    struct spec s = kit_spec(plain), z = kit_spec(gz);
    long before;

    kit_set(plain, 4, 4, 3, 2, 1, 2, false);
    kit_set(gz, 4, 4, 3, 2, 1, 2, true);
    before = peak_kilobytes();
    for (size_t i = 0; i < MEM_COUNT(bad); i++) {
        struct text t = {0};

        kit_head(&t, bad[i].type, bad[i].dims > 4 ? 4 : bad[i].dims, bad[i].dim);
        t.s[3] = (char)bad[i].dims;
        text_add_n(&t, "0123456789abcdef0123456789abcdef", 24);
        kit_put(plain, TRAIN_IMAGES, &t, false);
        CHECK_REFUSED(&s, bad[i].says);
        kit_put(gz, TRAIN_IMAGES, &t, true);
        CHECK_REFUSED(&z, bad[i].says);
        text_free(&t);
    }
    /* nothing of the gigabytes promised was touched */
    CHECK(peak_kilobytes() - before < 64 * 1024);
    kit_remove(plain);
    kit_remove(gz);
}

/* A gz that could hold what it promises by its size, and does not: memory follows what arrives. */
TEST(a_gz_that_promises_more_than_it_holds)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    uint32_t dim[3] = {60000, 64, 64}; /* 246 MB */
    struct text t = {0};
    long before;

    kit_set(folder, 4, 4, 3, 2, 1, 2, true);
    kit_head(&t, 8, 3, dim);
    for (uint32_t i = 0, x = 1; i < 300000; i++, x = x * 1664525 + 1013904223) {
        uint8_t b = (uint8_t)(x >> 24);

        text_add_n(&t, &b, 1);
    }
    kit_put(folder, TRAIN_IMAGES, &t, true);
    text_clear(&t);
    kit_labels(&t, 60000, 2);
    kit_put(folder, TRAIN_LABELS, &t, true);
    before = peak_kilobytes();
    CHECK_REFUSED(&s, "ends at byte 300016 of its content");
    CHECK(peak_kilobytes() - before < 64 * 1024);
    text_free(&t);
    kit_remove(folder);
}

TEST(labels_that_do_not_fit)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct text t = {0};
    uint32_t n = 4;

    kit_set(folder, 4, 4, 3, 2, 1, 2, false);
    kit_labels(&t, 5, 2);
    kit_put(folder, TRAIN_LABELS, &t, false);
    CHECK_REFUSED(&s, "5 labels for the 4 images");
    text_clear(&t);
    kit_labels(&t, 4, 1);
    kit_put(folder, TRAIN_LABELS, &t, false);
    CHECK_REFUSED(&s, "one class");
    text_clear(&t);
    kit_labels(&t, 4, 2);
    kit_put(folder, TRAIN_LABELS, &t, false);
    text_clear(&t);
    kit_head(&t, 8, 1, &n);
    text_add_n(&t, "\0\1\2\0", 4);
    kit_put(folder, TEST_LABELS, &t, false);
    CHECK_REFUSED(&s, "label 2 at byte 10 of its content");
    text_clear(&t);
    kit_images(&t, 4, 2, 3, 1);
    kit_put(folder, TEST_IMAGES, &t, false);
    CHECK_REFUSED(&s, "its images are 2x3x1");
    text_clear(&t);
    kit_images(&t, 4, 3, 2, 1);
    kit_put(folder, TRAIN_LABELS, &t, false);
    CHECK_REFUSED(&s, "labels have one dimension");
    text_free(&t);
    kit_remove(folder);
}

/* A set known by name has its own number of classes. */
TEST(labels_of_a_known_set)
{
    char *folder = kit_folder(), *mnist = io_path(folder, "mnist");
    struct data_places places = {folder};
    struct spec s = kit_spec("mnist");
    struct text t = {0};
    struct data_set *set;
    struct err e;

    REQUIRE_OK(io_make_folders(mnist, &e));
    kit_set(mnist, 40, 10, 3, 2, 1, 3, true);
    REQUIRE_OK(data_open(&set, &s, &places, (struct net_shape){0, 0, 0}, &e));
    CHECK_INT(set->classes, 10);
    CHECK_STR(set->name, "mnist");
    data_close(set);
    kit_labels(&t, 40, 11);
    kit_put(mnist, TRAIN_LABELS, &t, true);
    CHECK_INT(data_open(&set, &s, &places, (struct net_shape){0, 0, 0}, &e), ERR_INPUT);
    CHECK_HAS(e.text, "label 10 at byte 18");
    text_free(&t);
    free(mnist);
    kit_remove(folder);
}

TEST(limits)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct text images = {0}, packed = {0};
    struct data_set *set;
    struct err e;

    kit_set(folder, 30, 12, 3, 2, 1, 3, true);
    s.train_limit = 7;
    s.test_limit = 12;
    REQUIRE_OK(kit_open(&set, &s, &e));
    check_content(set, 7, 12, 3); /* classes are those of all labels */
    data_close(set);
    s.train_limit = 1;
    REQUIRE_OK(kit_open(&set, &s, &e));
    check_content(set, 1, 12, 3);
    data_close(set);
    s.train_limit = 31;
    CHECK_REFUSED(&s, "train_limit = 31");
    CHECK_REFUSED(&s, "30 training images");
    s.train_limit = 30;
    s.test_limit = 13;
    CHECK_REFUSED(&s, "test_limit = 13");

    /* damage behind the part that is wanted is damage */
    s.train_limit = 1;
    s.test_limit = 1;
    kit_images(&images, 30, 3, 2, 1);
    kit_gz(&packed, images.s, images.n);
    packed.s[packed.n - 8] ^= 1;
    kit_write(folder, TRAIN_IMAGES ".gz", packed.s, packed.n);
    CHECK_REFUSED(&s, "incorrect data check");
    text_free(&images);
    text_free(&packed);
    kit_remove(folder);
}

TEST(peek_knows_as_much_without_the_images)
{
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    struct data_places places = {NULL};
    struct text images = {0}, packed = {0};
    struct data_set facts;
    struct err e;

    kit_set(folder, 30, 12, 3, 2, 1, 3, true);
    s.valid = 20;
    s.valid_per_cent = true;
    s.train_limit = 20;
    REQUIRE_OK(data_peek(&facts, &s, &places, (struct net_shape){0, 0, 0}, &e));
    CHECK_INT(facts.train.count, 16);
    CHECK_INT(facts.valid.count, 4);
    CHECK_INT(facts.test.count, 12);
    CHECK_INT(facts.classes, 3);
    CHECK_INT(facts.shape.h, 3);
    CHECK_INT(facts.shape.w, 2);
    CHECK_INT(facts.normalize, SPEC_NORMALIZE_255);
    s.train_limit = 31;
    CHECK_INT(data_peek(&facts, &s, &places, (struct net_shape){0, 0, 0}, &e), ERR_INPUT);
    CHECK_HAS(e.text, "train_limit");

    /* only open sees what is wrong with the images themselves */
    s.train_limit = 0;
    kit_images(&images, 30, 3, 2, 1);
    kit_gz(&packed, images.s, images.n);
    packed.s[packed.n - 8] ^= 1;
    kit_write(folder, TRAIN_IMAGES ".gz", packed.s, packed.n);
    CHECK_INT(data_peek(&facts, &s, &places, (struct net_shape){0, 0, 0}, &e), ERR_OK);
    CHECK_REFUSED(&s, "incorrect data check");
    text_free(&images);
    text_free(&packed);
    kit_remove(folder);
}

/* Reads that come in drops, or fail. */
static int reads, fail_at;

static ssize_t drops(int fd, void *to, size_t n)
{
    reads++;
    if (reads == fail_at) {
        errno = EIO;
        return -1;
    }
    return read(fd, to, n < 5 ? n : 5);
}

TEST(reads_that_stutter_or_fail)
{
    ssize_t (*real_read)(int, void *, size_t) = io.read;
    char *folder[2] = {kit_folder(), kit_folder()};
    struct data_set *set;
    struct err e;

    for (int gz = 0; gz < 2; gz++) {
        struct spec s = kit_spec(folder[gz]);
        int all;

        kit_set(folder[gz], 6, 4, 3, 2, 1, 2, gz);
        io.read = drops;
        reads = 0;
        fail_at = -1;
        REQUIRE_OK(kit_open(&set, &s, &e));
        check_content(set, 6, 4, 2);
        data_close(set);
        all = reads;
        CHECK(all > 20);
        for (fail_at = 1; fail_at <= all; fail_at++) {
            reads = 0;
            CHECK_INT(kit_open(&set, &s, &e), ERR_IO);
            CHECK_HAS(e.text, "cannot be read: ");
            CHECK_HAS(e.text, folder[gz]);
            CHECK(set == NULL);
        }
        io.read = real_read;
        kit_remove(folder[gz]);
    }
}

/* Any byte of any file changed: an answer, right or wrong, and never more than that. */
TEST(mutated)
{
    static const char *const names[] = {TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS};
    struct text good[4] = {{0}, {0}, {0}, {0}};
    char *folder = kit_folder();
    struct spec s = kit_spec(folder);
    uint32_t x = 20261120;
    int refused = 0, taken = 0;

    kit_set(folder, 6, 4, 3, 2, 1, 2, true);
    kit_images(&good[0], 6, 3, 2, 1);
    kit_labels(&good[1], 6, 2);
    kit_images(&good[2], 4, 3, 2, 1);
    kit_labels(&good[3], 4, 2);
    for (int round = 0; round < 1500; round++) {
        int f = round % 4;
        struct text bad = {0};
        char *gz = mem_textf("%s.gz", names[f]);
        struct data_set *set;
        struct err e;
        enum err_code code;

        if (round % 3) /* in the content, mostly in its header */
            text_add_n(&bad, good[f].s, good[f].n);
        else
            kit_gz(&bad, good[f].s, good[f].n);
        for (int k = 0; k < 1 + round % 3; k++) {
            x = x * 1664525 + 1013904223;
            bad.s[(x >> 8) % (round % 3 && x & 64 ? 16 < bad.n ? 16 : bad.n : bad.n)] ^=
                (char)(1u << (x >> 28 & 7));
        }
        if (round % 3)
            kit_put(folder, names[f], &bad, true);
        else
            kit_write(folder, gz, bad.s, bad.n);
        code = kit_open(&set, &s, &e);
        if (code == ERR_OK)
            taken++;
        else
            refused++;
        CHECK(code == ERR_OK || (code == ERR_INPUT && e.text[0] && !set));
        data_close(set);
        kit_put(folder, names[f], &good[f], true);
        text_free(&bad);
        free(gz);
    }
    CHECK(refused > 300);
    CHECK(taken > 10);
    for (int f = 0; f < 4; f++)
        text_free(&good[f]);
    kit_remove(folder);
}
