/* What lies behind the names in the Setup screen's form is looked at while nobody presses a key. */
#include "tests/unit/ui/setup/setup_kit.h"

#include "data/data.h"
#include "ui/app/screens.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Into the file that is there: its folder does not show it. */
static void write_file(const char *path, const char *text)
{
    struct err e = {0};
    char *folder = io_folder_of(path);
    FILE *f = NULL;

    if (io_make_folders(folder, &e) != ERR_OK || !(f = fopen(path, "w")) || fputs(text, f) < 0 ||
        fclose(f))
        TEST_FAILED("%s: %s", path, e.text);
    free(folder);
}

static void choose(const char *key)
{
    setup_choose(kit.setup, (size_t)form_find(&kit.setup->form, key));
}

static uint64_t state_of(const char *data)
{
    return data_state(data, &(struct data_places){"sets"});
}

static void start(void)
{
    kit_start();
    kit.ns = clock_ns();
    kit.app.config.data_state = state_of;
}

/* Seconds pass, and nobody presses a key. Returns how often it was asked what the form means. */
static int wait_seconds(int seconds)
{
    int before = kit.asked;

    for (int i = 0; i < 10 * seconds; i++) {
        kit.ns += 100000000;
        screen_setup.tick(kit.setup);
        kit_settle();
    }
    return kit.asked - before;
}

/* So long ago that a change has other times. */
static void make_old(const char *path)
{
    const struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};

    CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* What was written just now counts as another file once it cannot change unseen any more. */
static void settle(void)
{
    usleep(50000);
    wait_seconds(3);
}

/* Where a disk was slow, what it said holds for a while. */
static void check_noticed(const char *what)
{
    int asked = 0;

    for (int i = 0; i < 100 && !asked; i++) {
        if (i)
            usleep(50000);
        asked = wait_seconds(2);
    }
    if (!asked)
        TEST_FAILED("%s was not noticed", what);
    settle();
}

TEST(a_file_that_the_form_names_is_looked_at_while_nobody_presses_a_key)
{
    start();
    write_file("own.net", "param width 3\ninput auto\ndense $width\ndense classes\n");
    write_file("start", "weights");
    make_old("own.net");
    choose("model");
    kit_keys("Enter own.net Enter");
    choose("weights");
    kit_keys("Enter ./start Enter");
    CHECK(form_find(&kit.setup->form, "model.width") >= 0);
    settle();
    CHECK_INT(wait_seconds(5), 0);
    write_file("own.net", "param depth 3\ninput auto\ndense $depth\ndense classes\n");
    check_noticed("another model");
    CHECK(form_find(&kit.setup->form, "model.width") < 0);
    CHECK(form_find(&kit.setup->form, "model.depth") >= 0);
    unlink("start");
    check_noticed("weights that are gone");
    unlink("own.net");
    check_noticed("a model that is gone");
    write_file("own.net", "input auto\ndense classes\n");
    make_old("own.net");
    wait_seconds(3);
    kit_keys(
        "Enter none Enter"); /* what goes right behind a change is not taken for what was there */
    screen_setup.tick(kit.setup);
    kit_settle();
    unlink("own.net");
    check_noticed("a model that is gone again");
    kit_end();
}

TEST(both_files_of_a_pair_are_looked_at)
{
    static const char *const file[] = {"train.csv", "test.csv"};

    start();
    for (int i = 0; i < 2; i++) {
        write_file(file[i], "a,label\n1,0\n2,1\n");
        make_old(file[i]);
    }
    choose("data");
    kit_keys("Enter ./train.csv:./test.csv Enter");
    settle();
    CHECK_INT(wait_seconds(3), 0);
    for (int i = 0; i < 2; i++) {
        write_file(file[i], "a,label\n1,0\n2,1\n3,1\n");
        check_noticed("more rows");
        unlink(file[i]);
        check_noticed("a file that is gone");
        write_file(file[i], "a,label\n1,0\n2,1\n"); /* without one nobody reads the other */
        check_noticed("a file that is back");
    }
    kit_end();
}

/* A file that is missing comes, one is written over in its place, one goes: the folder itself shows
 * that of none of them for sure. */
TEST(files_in_a_folder_of_data_are_looked_at)
{
    static const char *const file[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                       "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"};
    char path[4][64];

    start();
    for (int i = 0; i < 4; i++) {
        snprintf(path[i], sizeof path[i], "set/%s", file[i]);
        if (i > 0)
            write_file(path[i], "old");
    }
    choose("data");
    kit_keys("Enter ./set Enter");
    settle();
    CHECK_INT(wait_seconds(3), 0);
    write_file(path[0], "old");
    check_noticed("a file that was missing");
    for (int i = 0; i < 4; i++) {
        write_file(path[i], "new");
        check_noticed(file[i]);
    }
    write_file("set/notes.txt", "nothing that is read");
    CHECK_INT(wait_seconds(3), 0);
    unlink(path[2]);
    check_noticed("a file that is gone");
    kit_end();
}

TEST(pictures_in_a_folder_of_data_are_looked_at)
{
    start();
    write_file("set/cat/1.png", "old");
    write_file("set/cat/2.png", "old");
    write_file("set/dog/1.png", "old");
    choose("data");
    kit_keys("Enter ./set Enter");
    settle();
    CHECK_INT(wait_seconds(3), 0);
    write_file("set/cat/2.png", "new");
    check_noticed("a picture that was written over");
    write_file("set/dog/2.png", "old");
    check_noticed("a picture more");
    write_file("set/cow/1.jpg", "no picture that can be read");
    check_noticed("a class more");
    unlink("set/cow/1.jpg");
    check_noticed("a class that has none");
    kit_end();
}

/* A set that has a name lies in one of several places. */
TEST(a_set_that_comes_by_its_name_is_noticed)
{
    start();
    choose("data");
    kit_keys("Enter mnist Enter");
    settle();
    CHECK_INT(wait_seconds(3), 0);
    write_file("sets/mnist/train-images-idx3-ubyte.gz", "new");
    write_file("sets/mnist/train-labels-idx1-ubyte.gz", "new");
    write_file("sets/mnist/t10k-images-idx3-ubyte.gz", "new");
    write_file("sets/mnist/t10k-labels-idx1-ubyte.gz", "new");
    check_noticed("a set that has come");
    kit_end();
}

/* However many the form names, and wherever we are: the last of them too. */
TEST(many_files_are_looked_at)
{
    enum { MANY = 100 }; /* each key typed in the list looks at all of them */
    struct text list = {0};
    char path[32];

    start();
    text_add(&list, "Enter ");
    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof path, "d/%d", i);
        write_file(path, "a,label\n1,0\n2,1\n");
        text_addf(&list, "%s%s", i ? "," : "", path);
    }
    text_add(&list, " Enter");
    choose("data");
    kit_keys(text_str(&list));
    CHECK_INT(spec_sweep_cells(&kit.setup->form.sweep), MANY);
    settle();
    CHECK_INT(wait_seconds(3), 0);
    write_file(path, "a,label\n1,0\n2,1\n3,1\n");
    check_noticed("a change to the last");
    if (getenv("CHORUS_TEST_ALL"))
        printf("looking at %d files took %.2f ms\n", MANY, (double)kit.setup->named_took_ns * 1e-6);
    text_free(&list);
    kit_end();
}
