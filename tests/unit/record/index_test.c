/* The index of a results folder: a list with it is the list without it, whatever happened to the
 * runs, to the index, or to the folder. */
#include "record/index.h"
#include "record/list.h"
#include "record/record_int.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "tests/unit/record/help.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>

#define RUNS 200

/* Runs as files alone, of settings that take turns in which keys they use. */
static void make_runs(const char *results, int from, int to)
{
    struct record_run *run = help_run();
    char name[40];

    for (int i = from; i < to; i++) {
        struct text text = {0};
        char *folder;
        snprintf(name, sizeof name, "2026-11-20-101530-412-r-%04x", i);
        snprintf(run->run, sizeof run->run, "%s", name);
        snprintf(run->note, sizeof run->note, "%s", i % 7 ? "" : "a \"note\", of\ntwo lines");
        run->spec.optimizer = i % 3 ? SPEC_SGD : i % 2 ? SPEC_ADAM : SPEC_MOMENTUM;
        run->spec.mode = i % 5 ? SPEC_DATA_PARALLEL : SPEC_ENSEMBLE;
        run->spec.lr = 0.001 * (i % 11 + 1);
        run->spec.seed = (uint64_t)i;
        run->spec.augment = i % 4 ? 0 : SPEC_FLIP;
        run->spec.gpus = i % 6 ? 0 : 2;
        run->spec.gpu[1] = 1;
        run->spec.devices = run->spec.gpus ? 2 : 1;
        run->best_test_acc = i % 9 ? (double)i / RUNS : RECORD_EMPTY;
        run->state = i % 13 ? WIRE_DONE : WIRE_RUNNING;
        folder = io_path(results, name);
        mkdir(folder, 0777);
        record_run_text(run, &text);
        help_put(folder, "run.csv", text.s, text.n);
        text_free(&text);
        free(folder);
    }
    free(run);
}

/* All that is known of the runs, as text. */
static char *all_of(const char *results)
{
    struct text text = {0};
    struct record_entry *list;
    size_t count;
    struct err e = {0};

    if (record_list(results, &list, &count, &e) != ERR_OK)
        return mem_text(e.text);
    for (size_t i = 0; i < count; i++) {
        text_addf(&text, "%s %s %d %d %llu %d\n", list[i].folder, list[i].name, list[i].live,
                  list[i].dead, (unsigned long long)list[i].run.spec.given, list[i].run.spec.gpus);
        if (list[i].broken)
            text_addf(&text, "broken: %s\n", list[i].problem);
        else
            record_run_text(&list[i].run, &text);
    }
    record_free_list(list, count);
    return text.s ? text.s : mem_text("");
}

static void drop_index(const char *results)
{
    char *path = io_path(results, ".index");

    unlink(path);
    free(path);
}

/* With the index, and without: the same. */
static void check_same(const char *results, const char *what)
{
    char *with = all_of(results), *without;

    drop_index(results);
    without = all_of(results);
    if (strcmp(with, without) != 0)
        TEST_FAILED("%s: the index shows other runs", what);
    free(with);
    free(without);
}

/* Folders of runs for all tests; left: what none of them took. */
static char *settled[7];
static size_t left;

static void remove_left(void)
{
    while (left)
        help_remove(settled[--left]);
}

/* The times of a file count two seconds after it was written: all folders wait for that at once. */
static char *settled_runs(void)
{
    if (!left) {
        for (; left < MEM_COUNT(settled); left++) {
            settled[left] = help_folder();
            make_runs(settled[left], 0, RUNS);
        }
        usleep(2300 * 1000);
        atexit(remove_left);
    }
    return settled[--left];
}

static int opens; /* of run.csv */
static struct io_table real;

static int counting_open(const char *path, int flags, mode_t mode)
{
    opens += strstr(path, "/run.csv") != NULL;
    return real.open(path, flags, mode);
}

static int opens_of_a_list(const char *results)
{
    real = io;
    io.open = counting_open;
    opens = 0;
    free(all_of(results));
    io = real;
    return opens;
}

TEST(a_list_with_an_index_is_the_list_without)
{
    char *results = settled_runs(), *folder, *other;

    CHECK_INT(opens_of_a_list(results), RUNS);
    CHECK_INT(help_count(results, ".index"), 1);
    CHECK_INT(opens_of_a_list(results), 0);
    check_same(results, "nothing happened");

    /* One is written anew, one is gone, one is new, one is broken; each beside an index that knows
     * the state before. */
    free(all_of(results));
    folder = io_path(results, "2026-11-20-101530-412-r-0009");
    help_put(folder, "run.csv", "run,state\na,failed\n", 19);
    CHECK_INT(opens_of_a_list(results), 1);
    check_same(results, "one was written");
    free(all_of(results));
    help_put(folder, "run.csv", "run,state\na,fai", 15);
    check_same(results, "one is broken");
    free(all_of(results));
    help_empty(folder);
    check_same(results, "one is empty");
    rmdir(folder);
    free(all_of(results));
    make_runs(results, RUNS, RUNS + 3);
    check_same(results, "three are new");
    free(all_of(results));
    other = io_path(results, "2026-11-20-101530-412-r-0008");
    rename(other, folder); /* the same file under another name */
    check_same(results, "one was renamed");
    free(other);
    free(folder);
    help_remove(results);
}

TEST(a_file_of_the_same_size_and_time_is_another)
{
    char *results = settled_runs(), *folder = io_path(results, "2026-11-20-101530-412-r-0003");
    char *path = io_path(folder, "run.csv"), *text = NULL, *lr;
    struct timespec times[2];
    size_t n;
    struct err e = {0};
    struct stat st;

    free(all_of(results));
    REQUIRE_OK(io_read_file(path, 1 << 20, &text, &n, &e));
    REQUIRE(stat(path, &st) == 0);
    times[0] = st.st_atim;
    times[1] = st.st_mtim;
    lr = strstr(text, ",0.004,");
    REQUIRE(lr);
    lr[1] = '7';
    help_put(folder, "run.csv", text, n);
    REQUIRE(utimensat(AT_FDCWD, path, times, 0) == 0);
    check_same(results, "the time of a change was set back");
    free(text);
    free(path);
    free(folder);
    help_remove(results);
}

TEST(a_damaged_index_is_passed_over)
{
    static const char *const whole[] = {"", "x", "chorus-index 1\n", "chorus-index 2\n0\n"};
    char *results = settled_runs(), *good = all_of(results), *bytes, *got, *copy;
    char *path = io_path(results, ".index");
    struct record_index index;
    size_t n;
    struct err e = {0};

    REQUIRE_OK(io_read_file(path, 1 << 26, &bytes, &n, &e));
    copy = mem_text_n(bytes, n);
    for (size_t i = 0; i < MEM_COUNT(whole); i++) {
        help_put(results, ".index", whole[i], strlen(whole[i]));
        record_index_read(&index, results);
        CHECK_INT(index.rows, 0);
        record_index_free(&index);
        got = all_of(results);
        CHECK(!strcmp(got, good));
        free(got);
    }
    for (size_t i = 0; i < 300; i++) {
        size_t at = i * 7919 % n; /* anywhere, and in the head */
        memcpy(copy, bytes, n);
        copy[i < 90 ? i : at] ^= 0x10;
        help_put(results, ".index", copy, i % 3 ? n : at);
        record_index_read(&index, results);
        CHECK_INT(index.rows, 0);
        record_index_free(&index);
    }
    CHECK_INT(opens_of_a_list(results), RUNS); /* it is made anew */
    CHECK_INT(opens_of_a_list(results), 0);
    unlink(path);
    REQUIRE(mkdir(path, 0777) == 0); /* it cannot be written */
    got = all_of(results);
    CHECK(!strcmp(got, good));
    CHECK_INT(help_count(results, ".index"), 1);
    free(got);
    free(copy);
    free(bytes);
    free(good);
    free(path);
    help_remove(results);
}

static ssize_t no_write(int fd, const void *from, size_t n)
{
    (void)fd;
    (void)from;
    (void)n;
    errno = ENOSPC;
    return -1;
}

TEST(a_list_needs_no_room_for_an_index)
{
    char *results = settled_runs(), *good, *got;

    real = io;
    io.write = no_write;
    good = all_of(results);
    io = real;
    CHECK_INT(help_count(results, ".index"), 0);
    got = all_of(results);
    CHECK(!strcmp(got, good));
    free(got);
    free(good);
    help_remove(results);
}

TEST(few_runs_and_new_ones_have_no_index)
{
    char *results = help_folder();

    make_runs(results, 0, RUNS); /* just written: a change might not show yet */
    free(all_of(results));
    CHECK_INT(help_count(results, ".index"), 0);
    help_empty(results);
    make_runs(results, 0, 20);
    usleep(2300 * 1000);
    free(all_of(results));
    CHECK_INT(help_count(results, ".index"), 0);
    help_remove(results);
}

/* Several programs list, write runs and throw the index away at once: each sees whole runs. */
TEST(several_programs_use_it_at_once)
{
    char *results = settled_runs();
    struct record_entry *list;
    size_t count;
    struct err e = {0};
    pid_t child[4];
    int status;

    for (int c = 0; c < 4; c++) {
        child[c] = fork();
        if (child[c] == 0) {
            for (int i = 0; i < 30; i++) {
                if (c == 0)
                    make_runs(results, RUNS + i, RUNS + i + 1);
                if (c == 1 && i % 4 == 0)
                    drop_index(results);
                if (record_list(results, &list, &count, &e) != ERR_OK || count < RUNS)
                    _exit(1);
                record_free_list(list, count);
            }
            _exit(0);
        }
    }
    for (int c = 0; c < 4; c++) {
        waitpid(child[c], &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    check_same(results, "after all");
    CHECK_INT(help_count(results, ".tmp"), 0);
    help_remove(results);
}

/* Each parsed by itself, and each from the row before it: the same. */
TEST(a_run_like_the_one_before)
{
    char *results = settled_runs();
    struct record_index index;
    struct record_run *run = mem_new(1, sizeof *run), *like = mem_new(1, sizeof *like);
    struct record_run *before = mem_new(1, sizeof *before);
    struct text a = {0}, b = {0};
    struct err e = {0};

    free(all_of(results));
    record_index_read(&index, results);
    REQUIRE(index.rows == RUNS);
    for (size_t i = 1; i < index.rows; i++) {
        const char *const *then = index.row[i - 1].cells, *const *cells = index.row[i].cells;
        REQUIRE_OK(record_take_cells(before, then, NULL, NULL, &e));
        REQUIRE_OK(record_take_cells(run, cells, NULL, NULL, &e));
        REQUIRE_OK(record_take_cells(like, cells, before, then, &e));
        text_clear(&a);
        text_clear(&b);
        record_run_text(run, &a);
        record_run_text(like, &b);
        CHECK_STR(a.s, b.s);
        text_clear(&a);
        text_clear(&b);
        spec_write(&run->spec, &a);
        spec_write(&like->spec, &b);
        CHECK_STR(a.s, b.s);
        CHECK(run->spec.given == like->spec.given && run->spec.gpus == like->spec.gpus);
    }
    record_index_free(&index);
    text_free(&a);
    text_free(&b);
    free(run);
    free(like);
    free(before);
    help_remove(results);
}

TEST(the_newest_done_run_of_a_cell_by_the_index)
{
    char *results = settled_runs(), *folder = io_path(results, "2026-11-20-101530-412-r-0010");
    char name[256];

    help_put(folder, "run.csv", "run,state,cell\na,done,00ff00ff00ff00ff\n", 39);
    usleep(2300 * 1000);
    free(all_of(results));
    CHECK(record_find_done(results, "00ff00ff00ff00ff", name, sizeof name));
    CHECK_STR(name, "2026-11-20-101530-412-r-0010");
    help_put(folder, "run.csv", "run,state,cell\na,failed,00ff00ff00ff00ff\n", 41);
    CHECK(!record_find_done(results, "00ff00ff00ff00ff", name, sizeof name));
    free(folder);
    help_remove(results);
}
