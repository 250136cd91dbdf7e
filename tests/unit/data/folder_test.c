/* A folder of pictures by class as a data set: its parts, its order, what is refused and what is said. */
#include "tests/unit/data/kit.h"

#include <sys/stat.h>

static const struct net_shape nothing;

static struct data_set *must_open(const char *folder, struct net_shape wanted)
{
    struct spec s = kit_spec(folder);
    struct data_set *set = NULL;
    struct err e;

    if (data_open(&set, &s, &(struct data_places){0}, wanted, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    return set;
}

/* The order mixes classes evenly: of as many each, one after the other. */
TEST(the_images_of_idx)
{
    for (int c = 1; c <= 3; c += 2) {
        char *idx = kit_folder(), *top = kit_folder();
        struct data_set *a, *b;

        kit_set(idx, 12, 6, 4, 3, (uint32_t)c, 3, true);
        kit_pictures(top, "train", 12, 4, 3, c, 3);
        kit_pictures(top, "test", 6, 4, 3, c, 3);
        a = must_open(idx, nothing);
        b = must_open(top, nothing);
        REQUIRE(a && b);
        CHECK_STR(a->checksum, b->checksum);
        CHECK_INT(b->train.count, 12);
        CHECK_INT(b->test.count, 6);
        CHECK_INT(b->classes, 3);
        CHECK_STR(b->class_names[2], "c");
        CHECK(b->note == NULL);
        CHECK(!memcmp(a->train.bytes, b->train.bytes, (size_t)(12 * 12 * c)));
        data_close(a);
        data_close(b);
        kit_remove(idx);
        kit_remove(top);
    }
}

/* count pictures 0.pgm, 1.pgm, ... of 2x2 */
static void add_class(const char *top, const char *name, size_t count)
{
    char *class = kit_inner(top, name);

    for (size_t i = 0; i < count; i++) {
        char *file = mem_textf("%zu.pgm", i);

        kit_picture(class, file, i, 2, 2, 1);
        free(file);
    }
    free(class);
}

TEST(without_a_test_part_the_last_sixth)
{
    char *top = kit_folder();
    struct data_set *set;

    add_class(top, "many", 9);
    add_class(top, "some", 3);
    set = must_open(top, nothing);
    REQUIRE(set);
    CHECK_INT(set->train.count, 10);
    CHECK_INT(set->test.count, 2);
    /* at 1/18, 3/18, 5/18 and so on of the whole the many, at 1/6, 3/6, 5/6 the some; on one place
     * in the order of the classes */
    CHECK_INT(set->train.labels[0], 0);
    CHECK_INT(set->train.labels[1], 0);
    CHECK_INT(set->train.labels[2], 1);
    CHECK_INT(set->test.labels[0] + set->test.labels[1], 1);
    CHECK(set->train.bytes[0] == kit_byte(0, 0) && set->train.bytes[3] == kit_byte(0, 3));
    CHECK_HAS(set->note, "the last sixth of the pictures is the test set");
    data_close(set);
    kit_remove(top);
}

TEST(val_and_valid_are_the_test_set_where_there_is_none)
{
    char *top = kit_folder();
    struct data_set *set;

    kit_pictures(top, "train", 8, 2, 2, 1, 2);
    kit_pictures(top, "valid", 4, 2, 2, 1, 2);
    set = must_open(top, nothing);
    CHECK(set && set->test.count == 4);
    CHECK_HAS(set->note, "valid/ is the test set, as there is no test/");
    data_close(set);
    kit_pictures(top, "test", 6, 2, 2, 1, 2);
    set = must_open(top, nothing);
    CHECK(set && set->test.count == 6);
    CHECK_HAS(set->note, "valid/ is not read beside test/");
    data_close(set);
    kit_remove(top);
}

/* What is no picture is counted; links are followed; a class may be named train. */
TEST(what_lies_in_it)
{
    char *top = kit_folder(), *class, *away = kit_folder(), *from, *to;
    struct data_set *set;

    add_class(top, "train", 6);
    add_class(top, "bus", 6);
    class = io_path(top, "bus");
    kit_text(top, "README", "x");
    kit_text(class, ".hidden.pgm", "x");
    kit_text(class, "notes.txt", "x");
    add_class(away, "car", 3);
    from = io_path(away, "car");
    to = io_path(top, "car");
    REQUIRE(symlink(from, to) == 0);
    free(from);
    free(to);
    from = io_path(class, "5.pgm");
    to = io_path(class, "6.PGM");
    REQUIRE(symlink(from, to) == 0);
    set = must_open(top, nothing);
    REQUIRE(set);
    CHECK_INT(set->train.count + set->test.count, 6 + 7 + 3);
    CHECK_STR(set->class_names[1], "car");
    CHECK_HAS(set->note, "3 files that are no pictures or hidden are left out: ");
    data_close(set);
    free(from);
    free(to);
    free(class);
    kit_remove(top);
    kit_remove(away);
}

TEST(colours_and_sizes)
{
    char *top = kit_folder(), *class;
    struct spec s = kit_spec(top);
    struct data_set *set;

    add_class(top, "a", 6);
    add_class(top, "b", 6);
    class = io_path(top, "b");
    kit_picture(class, "0.pgm", 3, 2, 2, 3);
    set = must_open(top, nothing);
    REQUIRE(set);
    CHECK_INT(set->shape.c, 3);
    CHECK(set->train.bytes[0] == kit_byte(0, 0) && set->train.bytes[2] == kit_byte(0, 0));
    CHECK_INT(set->train.labels[1], 1);
    CHECK(set->train.bytes[12] == kit_byte(3, 0) && set->train.bytes[14] == kit_byte(3, 2));
    data_close(set);
    kit_picture(class, "4.pgm", 3, 4, 6, 1);
    CHECK_REFUSED(&s, "/b/4.pgm has 6x4 pixels (width x height), ");
    CHECK_REFUSED(&s, "/a/0.pgm 2x2: scale all to one size");
    set = must_open(top, (struct net_shape){2, 2, 1}); /* as the model asks */
    CHECK(set && set->shape.c == 1);
    data_close(set);
    free(class);
    kit_remove(top);
}

/* A set of two classes in which something is wrong. */
static void spoiled(const char *folder, const char *file, const char *words)
{
    char *top = kit_folder(), *inner;
    struct spec s = kit_spec(top);

    kit_pictures(top, "train", 6, 2, 2, 1, 2);
    kit_pictures(top, "test", 4, 2, 2, 1, 2);
    inner = kit_inner(top, folder);
    if (file)
        kit_text(inner, file, "no picture");
    CHECK_REFUSED(&s, words);
    free(inner);
    kit_remove(top);
}

TEST(what_is_refused)
{
    spoiled("train/c", NULL, "/train/c is the folder of a class and has no pictures");
    spoiled("train/c", "notes.txt", "/train/c is the folder of a class and has no pictures");
    spoiled("train/a/deep", NULL, "/train/a/deep is a folder in the folder of a class");
    spoiled("train/a", "x.JPEG", "/train/a/x.JPEG is no PNG, PGM or PPM");
    spoiled("train/b", "1.png", "/train/b/1.png is neither PNG nor PGM nor PPM");
    spoiled("test/b", "1.png", "/test/b/1.png is neither PNG nor PGM nor PPM");
    spoiled("train/b/1.png", NULL, "/train/b/1.png is not a file");
    spoiled("test/c", "1.png", "/train has no class c, which ");
    spoiled("test/\x1b[1m", "1.png", "has a control character in its name");
}

TEST(classes_of_both_parts)
{
    char *top = kit_folder();
    struct spec s = kit_spec(top);
    struct err e;
    struct data_set facts;

    kit_pictures(top, "train", 6, 2, 2, 1, 3);
    kit_pictures(top, "test", 4, 2, 2, 1, 2);
    CHECK_REFUSED(&s, "/test has no class c, which ");
    add_class(top, "test/c", 2);
    REQUIRE_OK(data_peek(&facts, &s, &(struct data_places){0}, nothing, &e));
    CHECK(facts.train.count == 6 && facts.test.count == 6 && facts.classes == 3 &&
          facts.shape.h == 2 && facts.shape.w == 2 && facts.shape.c == 1);
    kit_remove(top);
    top = kit_folder();
    s = kit_spec(top);
    add_class(top, "only", 5);
    CHECK_REFUSED(&s, "has one folder of a class");
    kit_remove(top);
}

TEST(idx_files_beside_folders)
{
    char *top = kit_folder();
    struct data_set *set;

    kit_set(top, 4, 2, 2, 2, 1, 2, false);
    add_class(top, "a", 3);
    add_class(top, "b", 3);
    set = must_open(top, nothing);
    REQUIRE(set);
    CHECK_INT(set->train.count, 4);
    CHECK_HAS(set->note, "its IDX files are the data set, its folders of pictures are not read");
    data_close(set);
    kit_remove(top);
}
