/* What the key `data` means, and where sets are looked for. */
#include "tests/unit/data/kit.h"

#include "data/places.h"

#include <sys/stat.h>

static char *saved_xdg, *saved_home;

static void environment(const char *xdg, const char *home)
{
    if (!saved_home && getenv("HOME"))
        saved_home = mem_text(getenv("HOME"));
    if (!saved_xdg && getenv("XDG_DATA_HOME"))
        saved_xdg = mem_text(getenv("XDG_DATA_HOME"));
    if (xdg)
        setenv("XDG_DATA_HOME", xdg, 1);
    else
        unsetenv("XDG_DATA_HOME");
    if (home)
        setenv("HOME", home, 1);
    else
        unsetenv("HOME");
}

static void environment_back(void)
{
    if (saved_xdg)
        setenv("XDG_DATA_HOME", saved_xdg, 1);
    else
        unsetenv("XDG_DATA_HOME");
    if (saved_home)
        setenv("HOME", saved_home, 1);
    else
        unsetenv("HOME");
}

TEST(a_missing_set_names_where_and_how)
{
    char *folder = kit_folder();
    struct data_places places = {folder};
    struct data_found found;
    struct err e;

    environment("/nowhere/xdg", "/nowhere/home");
    CHECK_INT(data_find(&found, "mnist", &places, &e), ERR_INPUT);
    CHECK_HAS(e.text, "data set mnist is not here (looked in ");
    CHECK_HAS(e.text, folder);
    CHECK_HAS(e.text,
              "/usr/share/datasets/mnist, /nowhere/xdg/chorus/mnist): chorus data fetch mnist");
    if (!io_exists("/usr/share/datasets/fashion-mnist")) {
        CHECK_INT(data_find(&found, "fashion-mnist", &places, &e), ERR_INPUT);
        CHECK_HAS(e.text, "apt install dataset-fashion-mnist or chorus data fetch fashion-mnist");
    }
    environment_back();
    kit_remove(folder);
}

TEST(the_users_own_place)
{
    char *folder;
    struct err e;

    environment("/xdg", "/home/me");
    REQUIRE_OK(data_place_of_user("mnist", &folder, &e));
    CHECK_STR(folder, "/xdg/chorus/mnist");
    free(folder);
    environment(NULL, "/home/me");
    REQUIRE_OK(data_place_of_user("mnist", &folder, &e));
    CHECK_STR(folder, "/home/me/.local/share/chorus/mnist");
    free(folder);
    environment("", "/home/me"); /* empty and relative ones are to be ignored */
    REQUIRE_OK(data_place_of_user("mnist", &folder, &e));
    CHECK_STR(folder, "/home/me/.local/share/chorus/mnist");
    free(folder);
    environment("relative", NULL);
    CHECK_INT(data_place_of_user("mnist", &folder, &e), ERR_INPUT);
    CHECK_HAS(e.text, "--data-dir");
    environment_back();
}

TEST(first_place_wins_and_must_be_whole)
{
    char *given = kit_folder(), *xdg = kit_folder();
    char *a = io_path(given, "mnist"), *b = mem_textf("%s/chorus/mnist", xdg);
    char *part = io_path(a, "t10k-labels-idx1-ubyte.gz");
    struct data_places places = {given};
    struct data_found found;
    struct err e;

    environment(xdg, NULL);
    REQUIRE_OK(io_make_folders(a, &e));
    REQUIRE_OK(io_make_folders(b, &e));
    kit_set(a, 4, 4, 2, 2, 1, 2, true);
    kit_set(b, 4, 4, 2, 2, 1, 2, true);
    REQUIRE_OK(data_find(&found, "mnist", &places, &e));
    CHECK_STR(found.folder, a);
    CHECK(found.known && !strcmp(found.known->name, "mnist"));
    data_found_free(&found);

    unlink(part);
    REQUIRE_OK(data_find(&found, "mnist", &places, &e));
    CHECK_STR(found.folder, b);
    data_found_free(&found);

    free(part);
    part = io_path(b, "train-images-idx3-ubyte.gz");
    unlink(part);
    CHECK_INT(data_find(&found, "mnist", &places, &e), ERR_INPUT);
    CHECK_HAS(e.text, "lacks the test labels");
    CHECK_HAS(e.text, "lacks the training images");
    CHECK_HAS(e.text, "chorus data fetch mnist");

    /* the folder of the set itself may be given, but only under the set's name */
    kit_set(a, 4, 4, 2, 2, 1, 2, true);
    places.given = a;
    REQUIRE_OK(data_find(&found, "mnist", &places, &e));
    CHECK_STR(found.folder, a);
    data_found_free(&found);
    environment_back();
    free(a);
    free(b);
    free(part);
    kit_remove(given);
    kit_remove(xdg);
}

TEST(a_set_under_another_name_is_not_taken)
{
    char *given = kit_folder(), *a = io_path(given, "mnist");
    struct data_places places = {a};
    char **folders;
    size_t count;
    struct err e;

    REQUIRE_OK(io_make_folders(a, &e));
    data_places_list("fashion-mnist", &places, &folders, &count);
    for (size_t i = 0; i < count; i++)
        CHECK(strcmp(folders[i], a) != 0);
    io_free_names(folders, count);
    free(a);
    kit_remove(given);
}

/* What lies in it nobody knows. */
TEST(a_folder_that_may_not_be_read_is_not_called_empty)
{
    bool root = !geteuid();
    struct data_found found;
    struct stat st;
    struct err e;
    char *folder;

    if (root && (seteuid(65534) || seteuid(0)))
        SKIP("root may not become another user here");
    folder = kit_folder();
    REQUIRE(!chmod(folder, root ? 0700 : 0300));
    REQUIRE(!root || !seteuid(65534));
    if (!stat(folder, &st)) { /* else what lies above it is closed already */
        CHECK_INT(data_find(&found, folder, NULL, &e), ERR_IO);
        CHECK_HAS(e.text, "cannot open folder");
        CHECK_HAS(e.text, "Permission denied");
    }
    REQUIRE(!root || !seteuid(0));
    REQUIRE(!chmod(folder, 0700));
    kit_remove(folder);
}

TEST(what_it_may_be)
{
    char *above = kit_folder(), *folder = io_path(above, "train"), *inner = io_path(folder, "cats");
    char *path, *images;
    struct data_found found, found_alone;
    struct err e;

    REQUIRE_OK(io_make_folders(folder, &e));
    REQUIRE_OK(data_find(&found, "synthetic", NULL, &e));
    CHECK_INT(found.kind, DATA_SYNTHETIC);
    data_found_free(&found);

    CHECK_INT(data_find(&found, "", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "data is empty");
    CHECK_INT(data_find(&found, "fashon-mnist", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "did you mean fashion-mnist?");
    CHECK_INT(data_find(&found, "/nowhere/at/all", NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "/nowhere/at/all: there is no such file or folder");

    CHECK_INT(data_find(&found, folder, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "there is no data set in this folder");
    REQUIRE_OK(io_make_folders(inner, &e));
    CHECK_INT(data_find(&found, folder, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "there is no data set in this folder");
    kit_text(inner, "1.png", "");
    REQUIRE_OK(data_find(&found, folder, NULL, &e));
    CHECK_INT(found.kind, DATA_FOLDER);
    CHECK_STR(found.train, folder);
    path = io_path(inner, "1.png");
    CHECK_INT(data_find(&found_alone, path, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text,
              "1.png: one picture; give a folder that holds one of pictures for each class");
    free(path);
    CHECK(found.test == NULL);
    data_found_free(&found);
    REQUIRE_OK(data_find(&found, above, NULL, &e)); /* as it would stand beside test/ */
    CHECK_INT(found.kind, DATA_FOLDER);
    CHECK_STR(found.train, folder);
    data_found_free(&found);
    CHECK_INT(data_find(&found, inner, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "no folders of classes");
    kit_text(folder, "train-labels-idx1-ubyte", "");
    CHECK_INT(data_find(&found, folder, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "not a folder of IDX files: it lacks the training images (train-images-");
    images = io_path(folder, "train-images-idx3-ubyte.gz");
    REQUIRE_OK(io_make_folders(images, &e));
    CHECK_INT(data_find(&found, folder, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "the training images (");
    CHECK_HAS(e.text, "train-images-idx3-ubyte.gz is a folder), the test images (t10k-images-");
    free(images);

    /* a colon in a path is no pair as long as the file is there */
    kit_text(folder, "a:b.csv", "1,2\n");
    path = io_path(folder, "a:b.csv");
    REQUIRE_OK(data_find(&found, path, NULL, &e));
    CHECK_INT(found.kind, DATA_CSV);
    CHECK_STR(found.train, path);
    CHECK(found.test == NULL);
    data_found_free(&found);
    free(path);
    path = mem_textf("%s/a:b.csv:%s/a:b.csv", folder, folder);
    REQUIRE_OK(data_find(&found, path, NULL, &e));
    CHECK(found.train && found.test && !strcmp(found.train, found.test));
    data_found_free(&found);
    free(path);
    path = mem_textf("%s/none.csv:%s/a:b.csv", folder, folder);
    CHECK_INT(data_find(&found, path, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "there is no file");
    free(path);
    path = mem_textf("%s/a:b.csv:", folder);
    CHECK_INT(data_find(&found, path, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "the name is empty");
    free(path);
    path = mem_textf("%s:%s", inner, inner);
    CHECK_INT(data_find(&found, path, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "not folders");
    free(path);

    kit_text(folder, "train-images-idx3-ubyte", "x");
    path = io_path(folder, "train-images-idx3-ubyte");
    CHECK_INT(data_find(&found, path, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "give the folder");
    free(path);
    free(inner);
    free(folder);
    kit_remove(above);
}

/* A fifo under a file's name must not hold the program. */
TEST(a_fifo_is_no_file)
{
    char *folder = kit_folder(), *path = io_path(folder, "train-images-idx3-ubyte");
    struct spec s = kit_spec(folder);

    kit_set(folder, 4, 4, 2, 2, 1, 2, false);
    unlink(path);
    REQUIRE(mkfifo(path, 0600) == 0);
    CHECK_REFUSED(&s, "not a file");
    free(path);
    kit_remove(folder);
}

static int asked;

static int slow_stat(const char *path, struct stat *st)
{
    asked++;
    usleep(5000);
    return stat(path, st);
}

/* Whoever asks once a second is not at work all the time because a disk is slow. */
TEST(a_state_that_took_long_holds_for_a_while)
{
    int (*real)(const char *, struct stat *) = io.stat;
    char *folder = kit_folder(), *path = io_path(folder, "rows.csv");
    uint64_t state;
    int before;

    kit_text(folder, "rows.csv", "a,label\n1,0\n");
    usleep(50000); /* else it is another one once it cannot change unseen */
    state = data_state(path, NULL);
    io.stat = slow_stat;
    CHECK(data_state(path, NULL) == state);
    before = asked;
    CHECK(before > 0);
    for (int i = 0; i < 10; i++)
        CHECK(data_state(path, NULL) == state);
    CHECK_INT(asked, before);
    io.stat = real;
    kit_text(folder, "rows.csv", "a,label\n1,0\n2,1\n");
    for (int i = 0; i < 100 && data_state(path, NULL) == state; i++)
        usleep(50000);
    CHECK(data_state(path, NULL) != state);
    free(path);
    kit_remove(folder);
}
