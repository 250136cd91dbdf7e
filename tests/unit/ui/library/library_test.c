/* The list of all runs, looked at again and again. */
#include "tests/unit/ui/runs_kit.h"
#include "record/list.h"
#include "record/run/reader.h"
#include "ui/app/screens.h"

#include <sys/file.h>

static const struct library_run *at(struct kit *k, size_t i)
{
    size_t count;
    const struct library_run *runs = library_runs(k->app.library, &count);

    return i < count ? &runs[i] : NULL;
}

static size_t count_of(struct kit *k)
{
    size_t count;

    library_runs(k->app.library, &count);
    return count;
}

TEST(runs_are_text)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-120000-000-lenet-0002", "lr=0.2 best_test_acc=0.5");
    kit_run(&k, "2026-10-29-110000-000-lenet-0001", "lr=0.1 best_test_acc=0.25");
    kit_open(&k, NULL, 0);
    CHECK(library_ready(k.app.library));
    REQUIRE(count_of(&k) == 2);
    CHECK_STR(at(&k, 0)->name, "2026-10-29-110000-000-lenet-0001");
    CHECK_STR(library_cell(at(&k, 1), "lr"), "0.2");
    CHECK(library_number(at(&k, 1), "test_acc") == 0.5);
    CHECK(isnan(library_number(at(&k, 1), "val_acc")));
    CHECK(library_cell(at(&k, 0), "model") == library_cell(at(&k, 1), "model"));
    CHECK(library_find(k.app.library, "2026-10-29-120000-000-lenet-0002") == at(&k, 1));
    CHECK(!library_find(k.app.library, "2026-10-29-120000-000-lenet-0003"));
    kit_end(&k);
}

TEST(a_look_that_is_asked_for_during_another_comes_behind_it)
{
    struct kit k;
    struct pollfd over;

    kit_begin(&k);
    kit_open(&k, NULL, 0);
    library_tick(k.app.library, true);
    over = (struct pollfd){tasks_fd(k.app.tasks), POLLIN, 0};
    REQUIRE(poll(&over, 1, -1) == 1); /* it has read the folder, and was not taken yet */
    kit_run(&k, "2026-10-29-100000-000-a-0001", "");
    library_tick(k.app.library, true);
    kit_turn(&k, false);
    CHECK(count_of(&k) == 1);
    kit_end(&k);
}

TEST(states_are_of_now)
{
    struct kit k;
    char *path;
    int fd;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-a-0001", "state=running");
    kit_run(&k, "2026-10-29-100000-000-b-0002", "state=running");
    kit_run(&k, "2026-10-29-100000-000-c-0003", "state=done");
    kit_run(&k, "2026-10-29-100000-000-d-0004", "");
    kit_put(&k, "2026-10-29-100000-000-d-0004", "run.csv", "run,state\n");
    path = mem_textf("%s/2026-10-29-100000-000-b-0002/lock", k.folder);
    fd = open(path, O_CREAT | O_RDWR, 0666);
    REQUIRE(flock(fd, LOCK_EX) == 0);
    kit_open(&k, NULL, 0);
    REQUIRE(count_of(&k) == 4);
    CHECK(at(&k, 0)->dead && !at(&k, 0)->live);
    CHECK_STR(library_cell(at(&k, 0), "state"), "dead");
    CHECK(at(&k, 1)->live && !at(&k, 1)->dead);
    CHECK_STR(library_cell(at(&k, 1), "state"), "running");
    CHECK(!at(&k, 2)->dead);
    CHECK(at(&k, 3)->broken);
    CHECK_STR(library_cell(at(&k, 3), "state"), "broken");
    CHECK(strstr(at(&k, 3)->problem, "whole rows") != NULL);
    close(fd); /* its process is gone */
    kit_turn(&k, true);
    CHECK_STR(library_cell(at(&k, 1), "state"), "dead");
    free(path);
    kit_end(&k);
}

/* What its columns say may be said of any run: a model may be called "several". */
TEST(an_average_is_known_by_its_folder)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-a-0001", "mode=ensemble");
    kit_put(&k, "2026-10-29-100000-000-a-0001", "average.csv", "model\n");
    kit_run(&k, "2026-10-29-100000-000-b-0002", "mode=ensemble model=several");
    kit_open(&k, NULL, 0);
    REQUIRE(count_of(&k) == 2);
    CHECK(at(&k, 0)->average && !at(&k, 1)->average);
    kit_run(&k, "2026-10-29-100000-000-c-0003", "");
    kit_turn(&k, true); /* these are not read again */
    REQUIRE(count_of(&k) == 3);
    CHECK(at(&k, 0)->average && !at(&k, 1)->average && !at(&k, 2)->average);
    kit_end(&k);
}

/* run.csv is written once a second; what its process did since stands in epochs.csv. */
TEST(a_dead_run_has_done_what_its_epochs_say)
{
    static const double acc[] = {0.5, 0.4, 0.7, 0.6};
    const char *name = "2026-10-29-100000-000-a-0001";
    struct record_entry entry, *list;
    struct err e = {0};
    struct kit k;
    char *path;
    size_t n;
    int fd;

    kit_begin(&k);
    kit_run(&k, name,
            "state=running epochs_done=2 best_epoch=1 best_test_acc=0.5 best_test_loss=0.5 "
            "last_test_acc=0.4 images=200");
    kit_epochs(&k, name, 1, 4, acc);
    path = mem_textf("%s/%s/lock", k.folder, name);
    fd = open(path, O_CREAT | O_RDWR, 0666);
    REQUIRE(flock(fd, LOCK_EX) == 0);
    kit_open(&k, NULL, 0);
    CHECK_STR(library_cell(at(&k, 0), "epochs_done"), "2");
    close(fd);
    kit_turn(&k, true);
    CHECK_STR(library_cell(at(&k, 0), "state"), "dead");
    CHECK_STR(library_cell(at(&k, 0), "epochs_done"), "4");
    CHECK_STR(library_cell(at(&k, 0), "best_epoch"), "3");
    CHECK_STR(library_cell(at(&k, 0), "best_test_acc"), "0.7");
    CHECK_STR(library_cell(at(&k, 0), "last_test_acc"), "0.6");
    CHECK_STR(library_cell(at(&k, 0), "images"), "400");
    CHECK_STR(library_cell(at(&k, 0), "lr"), "0.1");
    kit_turn(&k, true);
    CHECK_STR(library_cell(at(&k, 0), "epochs_done"), "4");
    REQUIRE_OK(record_list(k.folder, &list, &n, &e));
    REQUIRE(n == 1);
    CHECK_INT(list[0].run.epochs_done, 4);
    CHECK_NEAR(list[0].run.best_test_acc, 0.7, 1e-12);
    record_free_list(list, n);
    free(path);
    path = io_path(k.folder, name);
    REQUIRE_OK(record_read_entry(path, &entry, &e));
    CHECK_INT(entry.run.best_epoch, 3);
    CHECK_NEAR(entry.run.last_test_acc, 0.6, 1e-12);
    record_free_entry(&entry);
    free(path);
    kit_end(&k);
}

TEST(looks_see_what_changed)
{
    struct kit k;
    uint64_t turn;
    char *folder;

    kit_begin(&k);
    for (int i = 0; i < 70; i++) { /* enough for an index */
        char name[64], values[64];

        snprintf(name, sizeof name, "2026-10-29-100000-000-many-%04x", i);
        snprintf(values, sizeof values, "seed=%d best_test_acc=0.%02d", i, i + 10);
        kit_run(&k, name, values);
    }
    kit_open(&k, NULL, 0);
    REQUIRE(count_of(&k) == 70);
    turn = library_turn(k.app.library);
    kit_turn(&k, true);
    CHECK(library_turn(k.app.library) == turn);

    kit_run(&k, "2026-10-29-100001-000-new-ffff", "seed=7");
    kit_run(&k, "2026-10-29-100000-000-many-0003", "seed=3 best_test_acc=0.999");
    kit_turn(&k, true);
    CHECK(library_turn(k.app.library) > turn);
    REQUIRE(count_of(&k) == 71);
    CHECK_STR(at(&k, 70)->name, "2026-10-29-100001-000-new-ffff");
    CHECK_STR(library_cell(at(&k, 3), "best_test_acc"), "0.999");
    CHECK_STR(library_cell(at(&k, 4), "best_test_acc"), "0.14");

    folder = io_path(k.folder, "2026-10-29-100000-000-many-0000");
    help_remove(folder);
    kit_turn(&k, true);
    REQUIRE(count_of(&k) == 70);
    CHECK_STR(library_cell(at(&k, 0), "seed"), "1");
    kit_end(&k);
}

TEST(marks_stand_by_names)
{
    struct kit k;
    const char **names;
    size_t count;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-a-0001", "");
    kit_run(&k, "2026-10-29-100001-000-b-0002", "");
    kit_open(&k, NULL, 0);
    library_mark(k.app.library, "2026-10-29-100001-000-b-0002", true);
    library_mark(k.app.library, "2026-10-29-100000-000-a-0001", true);
    library_mark(k.app.library, "2026-10-29-100009-000-gone-0009", true);
    kit_run(&k, "2026-10-29-095959-000-0-0000", "");
    kit_turn(&k, true);
    CHECK_INT(library_marks(k.app.library), 2);
    CHECK(library_marked(k.app.library, "2026-10-29-100000-000-a-0001"));
    CHECK(!library_marked(k.app.library, "2026-10-29-095959-000-0-0000"));
    names = library_marked_names(k.app.library, &count);
    REQUIRE(count == 2);
    CHECK_STR(names[0], "2026-10-29-100000-000-a-0001");
    CHECK_STR(names[1], "2026-10-29-100001-000-b-0002");
    free(names);
    library_mark(k.app.library, "2026-10-29-100000-000-a-0001", false);
    CHECK_INT(library_marks(k.app.library), 1);
    kit_end(&k);
}

TEST(values_of_other_files_come_later)
{
    static const double acc[] = {0.25, 0.5, 0.75, 0.625};
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-a-0001", "best_epoch=3");
    kit_epochs(&k, "2026-10-29-100000-000-a-0001", 1, 4, acc);
    kit_run(&k, "2026-10-29-100001-000-b-0002", "");
    kit_open(&k, NULL, 0);
    CHECK(!library_value(k.app.library, at(&k, 0), "train_acc"));
    CHECK(!library_value(k.app.library, at(&k, 0), "last.train_acc"));
    CHECK_STR(library_value(k.app.library, at(&k, 0), "no_such_column"), "");
    kit_turn(&k, true);
    kit_turn(&k, true);
    CHECK_STR(library_value(k.app.library, at(&k, 0), "train_acc"), "0.7400");
    CHECK_STR(library_value(k.app.library, at(&k, 0), "last.train_acc"), "0.6150");
    CHECK_STR(library_value(k.app.library, at(&k, 1), "train_acc"), "");
    kit_end(&k);
}

TEST(a_folder_that_is_not_there_is_empty)
{
    struct kit k;

    kit_begin(&k);
    rmdir(k.folder);
    kit_open(&k, NULL, 0);
    CHECK(library_ready(k.app.library));
    CHECK(count_of(&k) == 0);
    CHECK(!library_problem(k.app.library));
    kit_end(&k);
}

/* Runs that are gone with their folder are not shown as if they were there. */
TEST(a_folder_that_goes_is_told)
{
    struct kit k;
    uint64_t turn;
    char *away;
    int fd;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-120000-000-lenet-0002", "lr=0.2 best_test_acc=0.5");
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    CHECK(count_of(&k) == 1);
    away = mem_textf("%s-away", k.folder);
    REQUIRE(rename(k.folder, away) == 0);
    kit_turn(&k, true);
    CHECK(count_of(&k) == 0);
    REQUIRE(library_problem(k.app.library) != NULL);
    CHECK_HAS(library_problem(k.app.library), "is not there any more: it was moved or removed");
    CHECK(
        kit_shows(&k, "removed")); /* a word, for lines break where the folder's length wants it */
    CHECK(!kit_shows(&k, "No runs yet"));
    turn = library_turn(k.app.library);
    kit_turn(&k, true);
    CHECK(library_turn(k.app.library) == turn);    /* nothing is read anew while it is so */
    fd = open(k.folder, O_CREAT | O_WRONLY, 0666); /* nor where it cannot be read */
    REQUIRE(fd >= 0);
    close(fd);
    kit_turn(&k, true);
    CHECK(count_of(&k) == 0);
    CHECK_HAS(library_problem(k.app.library), "cannot open folder");
    CHECK(kit_shows(&k, "cannot"));
    REQUIRE(unlink(k.folder) == 0 && rename(away, k.folder) == 0);
    kit_turn(&k, true);
    CHECK(count_of(&k) == 1);
    CHECK(!library_problem(k.app.library));
    free(away);
    kit_end(&k);
}
