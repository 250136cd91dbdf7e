/* The book of a sweep: lines whole or none, whatever else stands in the file, and each cell once
 * however many programs there are. */
#include "base/clock.h"
#include "base/log.h"
#include "base/sheet.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "record/sweep/ledger.h"
#include "record/sweep/sheet.h"
#include "tests/unit/record/help.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/wait.h>

static char *results;
static struct record_ledger *ledger;

/* Nothing here is about lost power, and the disk would be all that the tests wait for. */
static int no_sync(int fd)
{
    return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
}

static bool open_one(struct err *e)
{
    io.sync = no_sync;
    if (!results)
        results = help_folder();
    help_empty(results);
    ledger = NULL;
    if (record_ledger_open(&ledger, results, "grid", e) == ERR_OK)
        return true;
    TEST_FAILED("%s", e->text);
    return false;
}

static void close_one(void)
{
    record_ledger_close(ledger);
    ledger = NULL;
    help_remove(results);
    results = NULL;
}

static void reopen(void)
{
    struct err e;

    record_ledger_close(ledger);
    if (record_ledger_open(&ledger, results, "grid", &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
}

static char *ledger_text(void)
{
    char *folder = mem_textf("%s/sweeps/grid", results), *text = help_text(folder, "ledger.csv");

    free(folder);
    return text;
}

static void put_ledger(const char *bytes, size_t n)
{
    char *folder = mem_textf("%s/sweeps/grid", results);

    help_put(folder, "ledger.csv", bytes, n);
    free(folder);
}

/* A run's folder; returns its lock, taken where it is owned. */
static int make_run(const char *name, bool owned)
{
    char *folder = io_path(results, name), *lock = io_path(folder, "lock");
    int fd;

    mkdir(folder, 0777);
    help_put(folder, "run.csv", "run,state\n", 10);
    fd = open(lock, O_RDWR | O_CREAT, 0666);
    if (fd < 0 || (owned && flock(fd, LOCK_EX | LOCK_NB) < 0))
        TEST_FAILED("%s: %s", lock, strerror(errno));
    free(folder);
    free(lock);
    return fd;
}

static enum record_claim look(const char *cell, bool again)
{
    struct record_cell found;

    return record_ledger_look(ledger, cell, again, &found);
}

TEST(a_cell_stands_where_its_newest_line_says)
{
    struct err e = {0};
    struct record_cell found, *all;
    size_t n;
    int lock;

    if (!open_one(&e))
        return;
    CHECK_INT(look("aa", false), RECORD_CLAIM_NEW);
    REQUIRE_OK(record_ledger_begin(ledger, &e));
    lock = make_run("run-1", true);
    REQUIRE_OK(record_ledger_add(ledger, "aa", "run-1", WIRE_RUNNING, "", &e));
    record_ledger_end(ledger);
    CHECK_INT(record_ledger_look(ledger, "aa", false, &found), RECORD_CLAIM_OTHER);
    CHECK_STR(found.run, "run-1");
    CHECK(found.owned);
    CHECK(strlen(found.time) == strlen("2026-11-20T10:15:30.412Z"));
    close(lock);
    CHECK_INT(look("aa", false), RECORD_CLAIM_RESUME);
    REQUIRE_OK(record_ledger_add(ledger, "aa", "run-1", WIRE_STOPPED, "by the user", &e));
    CHECK_INT(look("aa", false), RECORD_CLAIM_RESUME);
    lock = make_run("run-1", true); /* `resume RUN` has it */
    CHECK_INT(look("aa", false), RECORD_CLAIM_OTHER);
    close(lock);
    REQUIRE_OK(record_ledger_add(ledger, "aa", "run-1", WIRE_DONE, "", &e));
    CHECK_INT(look("aa", false), RECORD_CLAIM_ENDED);
    CHECK_INT(look("aa", true), RECORD_CLAIM_ENDED);

    /* A line without a run that says waiting takes the cell back. */
    REQUIRE_OK(record_ledger_add(ledger, "zz", "", WIRE_SKIPPED, "no data", &e));
    CHECK_INT(look("zz", false), RECORD_CLAIM_ENDED);
    REQUIRE_OK(record_ledger_add(ledger, "zz", "", WIRE_WAITING, "", &e));
    CHECK_INT(look("zz", false), RECORD_CLAIM_NEW);
    REQUIRE_OK(record_ledger_cells(ledger, &all, &n, &e));
    CHECK_INT(n, 1);
    free(all);

    for (int s = WIRE_DIVERGED; s <= WIRE_SKIPPED; s++) {
        REQUIRE_OK(record_ledger_add(ledger, "bb", "", (enum wire_state)s, "it, \"said\" so", &e));
        CHECK_INT(look("bb", false), RECORD_CLAIM_ENDED);
        CHECK_INT(look("bb", true), RECORD_CLAIM_NEW);
    }
    reopen();
    CHECK_INT(look("aa", false), RECORD_CLAIM_ENDED);
    REQUIRE_OK(record_ledger_cells(ledger, &all, &n, &e));
    CHECK_INT(n, 2);
    CHECK_STR(all[0].cell, "aa");
    CHECK_STR(all[1].cell, "bb");
    CHECK_STR(all[1].reason, "it, \"said\" so");
    CHECK_INT(all[1].state, WIRE_SKIPPED);
    free(all);

    /* rm: the run is gone, and its result with it */
    char *gone = io_path(results, "run-1");
    help_empty(gone);
    rmdir(gone);
    free(gone);
    CHECK_INT(look("aa", false), RECORD_CLAIM_NEW);
    REQUIRE_OK(record_ledger_cells(ledger, &all, &n, &e));
    CHECK_INT(all[0].state, WIRE_WAITING);
    CHECK_STR(all[0].run, "");
    free(all);
    close_one();
}

TEST(a_torn_line_is_cut_and_foreign_ones_are_passed_over)
{
    static const char bytes[] = "time,cell,run,state,reason\n"
                                "2026-11-20T10:15:30.412Z,aa,run-1,done,\n"
                                "\xff\xfe\x00garbage\n"
                                ",,,,,,,\n"
                                "2026,bb,run-2,flying,\n"
                                "2026,../x,run-2,done,\n"
                                "2026,bb,../../etc,done,\n"
                                "2026,cc,run-3,failed,\"no \"\"memory\"\", none\"\n"
                                "2026,dd,run-4,done,\"open quote\n"
                                "\x00\x00\x00\x00"
                                "2026,ee,,skipped,zeros in front\n"
                                "2026,ff,run-5,done,windows\r\n"
                                "2026,gg,run-6,done";
    struct err e = {0};
    struct record_cell *all;
    size_t n;
    char *text;

    if (!open_one(&e))
        return;
    for (int i = 1; i < 8; i++) {
        char run[16];

        snprintf(run, sizeof run, "run-%d", i);
        close(make_run(run, false));
    }
    record_ledger_close(ledger);
    put_ledger(bytes, sizeof bytes - 1);
    log_to(NULL, NULL);
    REQUIRE_OK(record_ledger_open(&ledger, results, "grid", &e));
    REQUIRE_OK(record_ledger_cells(ledger, &all, &n, &e));
    CHECK_INT(n, 4);
    CHECK_STR(all[0].cell, "aa");
    CHECK_STR(all[1].cell, "cc");
    CHECK_STR(all[1].reason, "no \"memory\", none");
    CHECK_STR(all[2].cell, "ee");
    CHECK_STR(all[3].reason, "windows");
    free(all);
    REQUIRE_OK(record_ledger_add(ledger, "gg", "run-7", WIRE_FAILED, "line\nbreak\ttab", &e));
    text = ledger_text();
    CHECK_INT(memcmp(text, bytes, sizeof bytes - 1 - strlen("2026,gg,run-6,done")), 0);
    CHECK(!memmem(text, sizeof bytes + 60, "run-6", 5));
    free(text);
    reopen();
    REQUIRE_OK(record_ledger_cells(ledger, &all, &n, &e));
    CHECK_INT(n, 5);
    CHECK_STR(all[4].run, "run-7");
    CHECK_STR(all[4].reason, "line break tab");
    free(all);
    close_one();
}

/* Any file at all: it opens, and takes a line that is read back. */
TEST(whatever_stands_in_the_file_a_new_line_is_read_back)
{
    unsigned seed = 7;
    struct err e = {0};
    static const char alphabet[] = "a,\"\n\r\0 2done,running\n\xff";

    log_to(NULL, NULL);
    for (int round = 0; round < 300; round++) {
        char bytes[200];
        struct record_cell found;

        if (!open_one(&e))
            return;
        record_ledger_close(ledger);
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1103515245 + 12345;
            bytes[i] = alphabet[seed / 65536 % (sizeof alphabet - 1)];
        }
        put_ledger(bytes, (size_t)round % sizeof bytes);
        REQUIRE_OK(record_ledger_open(&ledger, results, "grid", &e));
        REQUIRE_OK(record_ledger_add(ledger, "c1", "", WIRE_SKIPPED, "r", &e));
        reopen();
        CHECK_INT(record_ledger_look(ledger, "c1", false, &found), RECORD_CLAIM_ENDED);
        CHECK_STR(found.reason, "r");
        record_ledger_close(ledger);
        ledger = NULL;
    }
    close_one();
}

/* ---- several programs ---- */

#define CELLS 200

/* Claims what nobody has, as an engine does: the run's folder is made, and owned, under the ledger's
 * lock. Returns how many it got, or -1. */
static int claim_all(int who)
{
    struct record_ledger *mine;
    struct err e;
    int got = 0;

    if (record_ledger_open(&mine, results, "grid", &e) != ERR_OK)
        return -1;
    for (int i = 0; i < CELLS; i++) {
        struct record_cell found;
        char cell[16], run[32];
        int lock;

        snprintf(cell, sizeof cell, "cell%04d", who % 2 ? CELLS - 1 - i : i);
        if (record_ledger_begin(mine, &e) != ERR_OK)
            return -1;
        if (record_ledger_look(mine, cell, false, &found) != RECORD_CLAIM_NEW) {
            record_ledger_end(mine);
            continue;
        }
        snprintf(run, sizeof run, "run-%s-%d", cell, who);
        lock = make_run(run, true);
        if (record_ledger_add(mine, cell, run, WIRE_RUNNING, "", &e) != ERR_OK)
            return -1;
        record_ledger_end(mine);
        clock_sleep_ms(2); /* computes */
        got++;
        if (record_ledger_add(mine, cell, run, WIRE_DONE, "", &e) != ERR_OK)
            return -1;
        close(lock);
    }
    record_ledger_close(mine);
    return got;
}

TEST(three_programs_have_each_cell_once)
{
    struct err e = {0};
    struct record_cell *all;
    size_t n, lines = 0;
    pid_t child[3];
    char *text;
    int workers = 0;

    if (!open_one(&e))
        return;
    for (int who = 0; who < 3; who++) {
        child[who] = fork();
        if (child[who] == 0) {
            int got = claim_all(who);

            _exit(got < 0 ? 255 : got > 0);
        }
    }
    for (int who = 0; who < 3; who++) {
        int status = 0;

        waitpid(child[who], &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 255);
        workers += WEXITSTATUS(status) == 1;
    }
    CHECK(workers >= 2); /* two begin at opposite ends */
    REQUIRE_OK(record_ledger_cells(ledger, &all, &n, &e));
    CHECK_INT(n, CELLS);
    for (size_t i = 0; i < n; i++)
        CHECK_INT(all[i].state, WIRE_DONE);
    free(all);
    text = ledger_text();
    for (char *p = text; *p; p++)
        lines += *p == '\n';
    CHECK_INT(lines, 1 + 2 * CELLS);
    CHECK_INT(help_count(results, "run-"), CELLS);
    free(text);
    close_one();
}

TEST(a_line_of_another_program_is_seen_at_the_next_begin)
{
    struct err e = {0};
    struct record_ledger *other;

    if (!open_one(&e))
        return;
    REQUIRE_OK(record_ledger_open(&other, results, "grid", &e));
    REQUIRE_OK(record_ledger_add(other, "aa", "", WIRE_SKIPPED, "", &e));
    REQUIRE_OK(record_ledger_begin(ledger, &e));
    CHECK_INT(look("aa", false), RECORD_CLAIM_ENDED);
    record_ledger_end(ledger);

    /* the folder is removed under both: the next one makes it anew */
    char *folder = mem_textf("%s/sweeps/grid", results);
    help_empty(folder);
    rmdir(folder);
    free(folder);
    REQUIRE_OK(record_ledger_add(other, "bb", "", WIRE_SKIPPED, "", &e));
    REQUIRE_OK(record_ledger_begin(ledger, &e));
    CHECK_INT(look("aa", false), RECORD_CLAIM_NEW);
    CHECK_INT(look("bb", false), RECORD_CLAIM_ENDED);
    record_ledger_end(ledger);
    record_ledger_close(other);
    close_one();
}

/* ---- a full disk ---- */

static struct io_table real;
static size_t room_left;

static ssize_t small_write(int fd, const void *from, size_t n)
{
    size_t most = n < room_left ? n : room_left;

    if (!most) {
        errno = ENOSPC;
        return -1;
    }
    room_left -= most;
    return real.write(fd, from, most);
}

static int no_truncate(int fd, off_t length)
{
    (void)fd;
    (void)length;
    errno = EIO;
    return -1;
}

TEST(a_full_disk_takes_a_whole_line_or_none)
{
    struct err e = {0};
    struct record_cell *all;
    size_t n;
    char *before, *after;

    if (!open_one(&e))
        return;
    REQUIRE_OK(record_ledger_add(ledger, "aa", "", WIRE_SKIPPED, "first", &e));
    real = io;
    for (size_t room = 0; room < 40; room++) {
        before = ledger_text();
        io.write = small_write;
        room_left = room;
        CHECK_INT(record_ledger_add(ledger, "bb", "", WIRE_SKIPPED, "a long reason", &e), ERR_IO);
        CHECK_HAS(e.text, "ledger.csv");
        CHECK_HAS(e.text, "No space left");
        io = real;
        after = ledger_text();
        CHECK_STR(after, before);
        free(before);
        free(after);
        CHECK_INT(look("bb", false), RECORD_CLAIM_NEW);
    }
    /* what could not be taken back is cut by whoever comes next */
    log_to(NULL, NULL);
    io.write = small_write;
    io.truncate = no_truncate;
    room_left = 20;
    CHECK_INT(record_ledger_add(ledger, "bb", "", WIRE_SKIPPED, "", &e), ERR_IO);
    io = real;
    REQUIRE_OK(record_ledger_add(ledger, "cc", "", WIRE_SKIPPED, "", &e));
    reopen();
    REQUIRE_OK(record_ledger_cells(ledger, &all, &n, &e));
    CHECK_INT(n, 2);
    CHECK_STR(all[1].cell, "cc");
    free(all);
    close_one();
}

TEST(what_is_no_cell_no_run_and_no_name_is_refused)
{
    static const char *const names[] = {"", ".", "..", "a/b", ".hidden", "/abs"};
    struct err e = {0};
    struct record_ledger *l;

    if (!open_one(&e))
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_INT(record_ledger_open(&l, results, names[i], &e), ERR_INPUT);
    CHECK_INT(record_ledger_add(ledger, "", "r", WIRE_DONE, "", &e), ERR_FAILED);
    CHECK_INT(record_ledger_add(ledger, "a,b\n", "../r", WIRE_DONE, "", &e), ERR_FAILED);
    CHECK_INT(record_ledger_add(ledger, "a", "../r", WIRE_DONE, "", &e), ERR_FAILED);
    close_one();
}

/* ---- sweep.csv and the list of sweeps ---- */

TEST(the_sheet_has_a_row_a_cell_with_what_its_run_came_to)
{
    static const char *const keys[] = {"lr", "model.width", NULL};
    struct err e = {0};
    struct sheet s = {0};
    struct record *r;
    struct record_run *run = help_run();
    char *path;

    if (!open_one(&e))
        return;
    path = mem_textf("%s/sweeps/grid/sweep.csv", results);
    record_ledger_expect(ledger, "c1", (const char *const[]){"0.050", "8", NULL}, NULL);
    record_ledger_expect(ledger, "c2", (const char *const[]){"0.1", "8", NULL}, NULL);
    record_ledger_expect(ledger, "c3", (const char *const[]){"9", "8", NULL}, "8 is too many");
    run->spec.lr = 0.25;
    run->state = WIRE_DONE;
    run->best_test_acc = 0.75;
    run->best_epoch = 3;
    REQUIRE_OK(spec_set(&run->spec, "model.width", "16", NULL, NULL, &e));
    REQUIRE_OK(record_create(&r, results, run, "lr = 0.25\n", "input auto\n", false, &e));
    record_close(r);
    REQUIRE_OK(record_ledger_add(ledger, "c9", run->run, WIRE_DONE, "", &e));
    REQUIRE_OK(record_ledger_add(ledger, "c2", "", WIRE_FAILED, "out, of luck", &e));
    for (int again = 0; again < 2; again++) { /* the second from what the first kept */
        REQUIRE_OK(record_ledger_write_sheet(ledger, keys,
                                             again ? RECORD_TOLD_ALL : RECORD_TOLD_SOME, &e));
        REQUIRE_OK(sheet_read(path, &s, &e));
        CHECK_INT(s.rows, 4);
        CHECK_STR(sheet_cell(&s, 0, sheet_column(&s, "cell")), "c1");
        CHECK_STR(sheet_cell(&s, 0, sheet_column(&s, "state")), "waiting");
        CHECK_STR(sheet_cell(&s, 0, sheet_column(&s, "lr")), "0.050");
        CHECK_STR(sheet_cell(&s, 0, sheet_column(&s, "best_test_acc")), "");
        CHECK_STR(sheet_cell(&s, 1, sheet_column(&s, "reason")), "out, of luck");
        CHECK_STR(sheet_cell(&s, 2, sheet_column(&s, "state")), "skipped");
        CHECK_STR(sheet_cell(&s, 2, sheet_column(&s, "reason")), "8 is too many");
        CHECK_STR(sheet_cell(&s, 2, sheet_column(&s, "lr")), "9");
        CHECK_STR(sheet_cell(&s, 3, sheet_column(&s, "run")), run->run);
        CHECK_STR(sheet_cell(&s, 3, sheet_column(&s, "lr")), "0.25");
        CHECK_STR(sheet_cell(&s, 3, sheet_column(&s, "best_test_acc")), "0.75");
        CHECK_STR(sheet_cell(&s, 3, sheet_column(&s, "best_epoch")), "3");
        CHECK_STR(sheet_cell(&s, 2, sheet_column(&s, "listed")), again ? "yes" : "so far");
        CHECK_STR(sheet_cell(&s, 3, sheet_column(&s, "listed")), again ? "no" : "");
        sheet_free(&s);
    }
    /* another list of keys, another header */
    REQUIRE_OK(record_ledger_write_sheet(ledger, (const char *const[]){"epochs", NULL},
                                         RECORD_TOLD_ASKED, &e));
    REQUIRE_OK(sheet_read(path, &s, &e));
    CHECK_INT(sheet_column(&s, "lr"), -1);
    CHECK_STR(sheet_cell(&s, 3, sheet_column(&s, "epochs")), "10");
    sheet_free(&s);
    free(path);
    free(run);
    close_one();
}

/* Of the cells that were named alone, by whoever's lines. */
TEST(results_are_counted_as_lines_are_read)
{
    struct err e = {0};
    struct record_ledger *other;

    if (!open_one(&e))
        return;
    REQUIRE_OK(record_ledger_open(&other, results, "grid", &e));
    REQUIRE_OK(record_ledger_add(ledger, "c1", "", WIRE_FAILED, "", &e));
    REQUIRE_OK(record_ledger_add(ledger, "foreign", "", WIRE_FAILED, "", &e));
    record_ledger_count(ledger, "c1", true);
    record_ledger_count(ledger, "c2", false);
    record_ledger_count(ledger, "c3", false);
    CHECK_INT(record_ledger_ended(ledger), 1);
    REQUIRE_OK(record_ledger_add(other, "c2", "", WIRE_DIVERGED, "", &e));
    REQUIRE_OK(record_ledger_add(other, "another", "", WIRE_FAILED, "", &e));
    REQUIRE_OK(record_ledger_add(ledger, "c3", "", WIRE_STOPPED, "", &e));
    CHECK_INT(record_ledger_ended(ledger), 2);
    record_ledger_count(ledger, "c1", false); /* to be had anew */
    CHECK_INT(record_ledger_ended(ledger), 1);
    REQUIRE_OK(record_ledger_add(ledger, "c1", "", WIRE_DONE, "", &e));
    REQUIRE_OK(record_ledger_add(ledger, "c1", "", WIRE_DONE, "", &e));
    CHECK_INT(record_ledger_ended(ledger), 2);
    REQUIRE_OK(record_ledger_add(other, "c2", "", WIRE_WAITING, "", &e));
    put_ledger("", 0); /* all of them anew */
    REQUIRE_OK(record_ledger_add(ledger, "c3", "", WIRE_SKIPPED, "", &e));
    CHECK_INT(record_ledger_ended(ledger), 1);
    record_ledger_close(other);
    close_one();
}

TEST(sweeps_are_listed_by_name)
{
    struct err e = {0};
    struct record_ledger *other;
    char **names, *stray;
    size_t n;

    if (!open_one(&e))
        return;
    REQUIRE_OK(record_ledger_open(&other, results, "alpha", &e));
    record_ledger_close(other);
    stray = mem_textf("%s/sweeps/empty", results);
    mkdir(stray, 0777);
    free(stray);
    REQUIRE_OK(record_sweeps(results, &names, &n, &e));
    CHECK_INT(n, 2);
    CHECK_STR(names[0], "alpha");
    CHECK_STR(names[1], "grid");
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
    REQUIRE_OK(record_sweeps("/no/such/folder", &names, &n, &e));
    CHECK_INT(n, 0);
    free(names);
    close_one();
}
