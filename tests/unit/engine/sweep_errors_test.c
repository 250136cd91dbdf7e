/* Sweeps whose ledger or disk is in trouble: what is waited for, what ends, and what is left. */
#include "tests/unit/engine/sweep_kit.h"

#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/sweep/ledger.h"
#include "record/trash.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

static const char keys[] = "batch = 16\nlr = 0.1, 0.2\n";

/* Writes to files of this name fail so. */
static _Atomic(const char *) bad_name;
static atomic_int bad_error, failures, most_failures; /* most: 0: always */
static atomic_bool bad_when_made;                     /* also in a folder that is being made */

static bool is_bad(int fd)
{
    char link[64], path[1024];
    const char *name = atomic_load(&bad_name);
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = name ? readlink(link, path, sizeof path - 1) : -1;
    if (n < 0)
        return false;
    path[n] = 0;
    return strstr(path, name) && (atomic_load(&bad_when_made) || !strstr(path, "/."));
}

static ssize_t failing_write(int fd, const void *from, size_t n)
{
    int most = atomic_load(&most_failures);

    if (!is_bad(fd) || (most && atomic_load(&failures) >= most))
        return write(fd, from, n);
    atomic_fetch_add(&failures, 1);
    errno = atomic_load(&bad_error);
    return -1;
}

static void fail_writes(const char *name, int error)
{
    atomic_store(&failures, 0);
    atomic_store(&bad_error, error);
    atomic_store(&bad_name, name);
}

static void fail_some_writes(const char *name, int error, int most, bool when_made)
{
    fail_writes(NULL, 0);
    atomic_store(&most_failures, most);
    atomic_store(&bad_when_made, when_made);
    fail_writes(name, error);
}

static void wait_failures(int n)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;

    while (atomic_load(&failures) < n && clock_ns() < until)
        clock_sleep_ms(1);
    CHECK(atomic_load(&failures) >= n);
}

/* After so many failures a rival takes the ledger as soon as the engine gives it back: as this file. */
static atomic_int rival, rival_after; /* rival: -1: it waits */

static int lock_and_lose(int fd, int operation)
{
    int code = flock(fd, operation), wanted = -1;

    if (operation == LOCK_UN && atomic_load(&failures) >= atomic_load(&rival_after) &&
        atomic_load(&rival) < 0) {
        char link[64];

        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if ((fd = open(link, O_RDWR)) >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
            atomic_compare_exchange_strong(&rival, &wanted, fd);
    }
    return code;
}

static void let_rival_in(int after)
{
    atomic_store(&rival_after, after);
    atomic_store(&rival, -1);
}

static void begin(struct kit *k)
{
    kit_folder(k);
    fail_some_writes(NULL, 0, 0, true);
    atomic_store(&rival, 0);
    io.write = failing_write; /* before the engine's threads are there */
    io.lock = lock_and_lose;
    kit_engine(k, 4096, 0);
}

static void end(struct kit *k)
{
    kit_end(k);
    io.write = write;
    io.lock = flock;
}

static void hear_all(struct kit *k)
{
    struct wire_event event;

    while (wire_take(k->wire, &event))
        kit_hear(k, &event);
}

/* Its header is written, so that a sweep begins. */
static void make_ledger(struct kit *k)
{
    struct record_ledger *l;
    struct err e;

    if (record_ledger_open(&l, k->results, "grid", &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    record_ledger_close(l);
}

/* Claims cannot be written. */
static uint32_t begin_on_a_full_ledger(struct kit *k)
{
    make_ledger(k);
    fail_writes("ledger.csv", ENOSPC);
    return begin_sweep(k, keys, (struct wish){.grid = true});
}

TEST(a_claim_that_cannot_be_written_leaves_one_folder)
{
    struct kit k;
    struct wire_sweep_status status;
    uint32_t sweep;

    begin(&k);
    sweep = begin_on_a_full_ledger(&k);
    wait_failures(4); /* tried again and again */
    CHECK_INT(run_folders(&k), 1);
    hear_all(&k);
    CHECK_HAS(k.logs, "ledger.csv: No space left on device: the sweep waits until there is room");
    CHECK_HAS(k.logs, "chorus stop grid ends it");
    for (int i = 0; wire_sweep_status(k.wire, sweep, &status) && !status.code && i < 2000; i++)
        clock_sleep_ms(1);
    CHECK_INT(status.code, ERR_IO); /* for whoever looks later */
    CHECK_HAS(status.reason, "the disk is full in ");
    fail_writes(NULL, 0);
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.code, ERR_OK);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(status.done, 2);
    CHECK_INT(run_folders(&k), 2);
    CHECK_HAS(k.logs, "there is room on the disk again");
    end(&k);
}

TEST(a_cell_without_room_is_told_of_as_its_sweeps_trouble)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    size_t live[CELLS];
    uint32_t sweep;

    fake_set_script(&(struct fake_script){.step_ms = 10});
    begin(&k);
    sweep = begin_sweep(&k, "epochs = 1000\nlr = 0.1, 0.2\n", (struct wish){.grid = true});
    wait_live(&k, sweep, 1, cells, live);
    fail_writes("steps.csv", ENOSPC);
    for (int i = 0; i < 20000 && !(wire_sweep_status(k.wire, sweep, &status) && status.full); i++)
        clock_sleep_ms(1);
    CHECK(status.full && status.running == 1);
    CHECK_STR(wire_sweep_words(&status, false), "waits for room");
    fail_writes(NULL, 0);
    for (int i = 0; i < 20000 && wire_sweep_status(k.wire, sweep, &status) && status.full; i++)
        clock_sleep_ms(1);
    CHECK_STR(wire_sweep_words(&status, false), "running");
    end(&k);
}

TEST(a_cell_that_one_error_ended_is_tried_once_more)
{
    static const int errors[] = {EIO, EAGAIN, EMFILE};
    struct kit k;
    struct wire_sweep_status status;

    for (size_t i = 0; i < 2 * MEM_COUNT(errors); i++) {
        begin(&k);
        fail_some_writes("steps.csv", errors[i / 2], 1, i % 2);
        run_sweep(&k, keys, (struct wish){.grid = true}, &status);
        CHECK_INT(status.state, WIRE_DONE);
        CHECK_INT(status.done, 2);
        CHECK_INT(run_folders(&k), 2);
        hear_all(&k);
        CHECK_HAS(k.logs, "steps.csv: ");
        CHECK_HAS(k.logs, ": it is tried once more");
        end(&k);
    }
}

TEST(a_cell_that_fails_again_counts_as_failed)
{
    struct kit k;
    struct wire_sweep_status status;

    begin(&k);
    fail_some_writes("steps.csv", EIO, 0, false);
    run_sweep(&k, keys, (struct wish){.grid = true}, &status);
    CHECK_INT(status.failed, 2);
    CHECK_INT(atomic_load(&failures), 4);
    CHECK_INT(run_folders(&k), 2);
    end(&k);
}

TEST(a_start_that_finds_no_room_leaves_nothing)
{
    static const char *const names[] = {"ledger.csv", "control", "sweep.ini"};
    struct kit k;
    struct wire_sweep_status status;
    char *folder;

    begin(&k);
    folder = mem_textf("%s/sweeps/grid", k.results);
    for (size_t i = 0; i < MEM_COUNT(names); i++) {
        fail_writes(names[i], ENOSPC);
        run_sweep(&k, keys, (struct wish){.grid = true}, &status);
        CHECK_INT(status.state, WIRE_FAILED);
        CHECK_INT(status.code, ERR_IO);
        CHECK(!io_exists(folder));
    }
    free(folder);
    fail_writes(NULL, 0);
    run_sweep(&k, keys, (struct wish){.grid = true}, &status);
    CHECK_INT(status.state, WIRE_DONE);
    end(&k);
}

static int open_no_sweep(const char *path, int flags, mode_t mode)
{
    if (flags & (O_WRONLY | O_RDWR | O_CREAT) && strstr(path, "/sweeps/")) {
        errno = EROFS;
        return -1;
    }
    return open(path, flags, mode);
}

TEST(a_sweep_that_can_only_be_read_says_so_as_everything_does)
{
    int (*real)(const char *, int, mode_t) = io.open;
    struct kit k;
    struct wire_sweep_status status;
    char *want;

    kit_folder(&k);
    make_ledger(&k);
    io.open = open_no_sweep; /* before the engine's threads are there */
    kit_engine(&k, 4096, 0);
    run_sweep(&k, keys, (struct wish){.grid = true}, &status);
    want = mem_textf("nothing can be written in %s: Read-only file system", k.results);
    CHECK_STR(status.reason, want);
    free(want);
    kit_end(&k);
    io.open = real;
}

static void wait_for_words(struct kit *k, const char *words)
{
    uint64_t begun = clock_ns();

    while (!strstr(k->logs, words) && clock_ns() - begun < KIT_WAIT_MS * 1000000ull) {
        hear_all(k);
        clock_sleep_ms(5);
    }
    CHECK_HAS(k->logs, words);
}

/* Else what it opens could be taken away with what the other one made. */
TEST(a_start_opens_nothing_while_another_start_has_the_ledger)
{
    struct kit k;
    struct wire_sweep_status status;
    char *folder;
    uint32_t sweep;

    begin(&k);
    let_rival_in(0);
    folder = mem_textf("%s/sweeps/grid", k.results);
    sweep = begin_sweep(&k, keys, (struct wish){.grid = true});
    wait_for_words(&k, "the sweep waits until it is free");
    CHECK(kit_has(folder, "ledger.csv") && !kit_has(folder, "control"));
    CHECK(!kit_has(folder, "work"));
    close(atomic_load(&rival));
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.done, 2);
    free(folder);
    end(&k);
}

TEST(a_start_that_fails_leaves_what_another_start_has_opened)
{
    struct kit k;
    struct wire_sweep_status status;
    char *folder;

    begin(&k);
    let_rival_in(1);
    folder = mem_textf("%s/sweeps/grid", k.results);
    fail_writes("sweep.ini", ENOSPC);
    run_sweep(&k, keys, (struct wish){.grid = true}, &status);
    CHECK_INT(status.code, ERR_IO);
    CHECK(atomic_load(&rival) >= 0);
    CHECK(kit_has(folder, "ledger.csv") && kit_has(folder, "control") && kit_has(folder, "work"));
    close(atomic_load(&rival));
    free(folder);
    end(&k);
}

TEST(a_stop_ends_the_wait_for_a_full_disk)
{
    struct kit k;
    struct wire_sweep_status status;
    uint32_t sweep;

    begin(&k);
    sweep = begin_on_a_full_ledger(&k);
    wait_failures(2);
    kit_wish(&k, sweep, WIRE_WISH_STOP);
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_INT(status.code, ERR_STOPPED);
    fail_writes(NULL, 0);
    run_sweep(&k, keys, (struct wish){.grid = true}, &status);
    CHECK_INT(status.done, 2);
    CHECK_INT(run_folders(&k), 2); /* the one that was made is gone on with */
    end(&k);
}

TEST(a_disk_that_fails_ends_the_sweep_and_it_goes_on_another_day)
{
    struct kit k;
    struct wire_sweep_status status;

    begin(&k);
    make_ledger(&k);
    fail_writes("ledger.csv", EIO);
    run_sweep(&k, keys, (struct wish){.grid = true}, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_INT(status.code, ERR_IO);
    CHECK_HAS(status.reason, strerror(EIO));
    CHECK_HAS(k.logs, "chorus resume grid goes on");
    fail_writes(NULL, 0);
    run_sweep(&k, keys, (struct wish){.grid = true}, &status);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(run_folders(&k), 2);
    end(&k);
}

/* The lock of a ledger, as a program has it that was stopped with SIGSTOP. */
static int hold_ledger(struct kit *k)
{
    char *path = mem_textf("%s/sweeps/grid/ledger.csv", k->results);
    int fd = open(path, O_RDWR);

    if (fd < 0 || flock(fd, LOCK_EX) < 0)
        TEST_FAILED("%s: %s", path, strerror(errno));
    free(path);
    return fd;
}

TEST(a_ledger_that_a_stopped_program_holds_keeps_nobody_from_stopping)
{
    struct kit k;
    struct wire_sweep_status status;
    uint64_t begun;
    uint32_t sweep;
    int fd;

    begin(&k);
    make_ledger(&k);
    fd = hold_ledger(&k);
    sweep = begin_sweep(&k, keys, (struct wish){.grid = true});
    wait_for_words(&k, "the sweep waits until it is free");
    CHECK_HAS(k.logs, "another program holds");
    /* 30 s were waited for it, ten times as long as it takes to be told */
    begun = clock_ns();
    kit_wish(&k, sweep, WIRE_WISH_STOP);
    wait_sweep(&k, sweep, &status);
    CHECK(clock_ns() - begun < 15 * 1000000000ull);
    CHECK_INT(status.state, WIRE_STOPPED);
    sweep = begin_sweep(&k, keys, (struct wish){.grid = true});
    clock_sleep_ms(300);
    close(fd);
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.done, 2);
    end(&k);
}

static void read_first_row(struct kit *k, const char *column, char out[32])
{
    char *path = io_path(k->results, "sweeps/grid/sweep.csv");
    struct sheet s;

    out[0] = '\0';
    if (sheet_read(path, &s, NULL) == ERR_OK) {
        snprintf(out, 32, "%s", sheet_cell(&s, 0, sheet_column(&s, column)));
        sheet_free(&s);
    }
    free(path);
}

/* A cell that goes on by itself and ends while others have the ledger: its row is written when it is
 * free, and commands are heard until then. */
TEST(the_end_of_a_cell_gone_on_with_waits_for_the_ledger)
{
    struct kit k;
    struct wire_sweep_status sweep;
    struct wire_status first = {0}, second = {0};
    struct record_run run = {0};
    struct spec spec;
    uint32_t one, two;
    struct record_cell *cells;
    char state[32], *path;
    size_t n;
    int fd;

    begin(&k);
    run_sweep(&k, keys, (struct wish){.grid = true}, &sweep);
    CHECK_INT(sweep.done, 2);
    cells = ledger_cells(&k, "grid", &n);
    REQUIRE(n == 2);
    path = io_path(k.results, cells[0].run);
    free(cells);
    fd = hold_ledger(&k);
    kit_spec(&k, &spec, NULL);
    one = kit_resume(&k, path, 4);
    two = kit_start(&k, &spec);
    for (int i = 0; i < 10000 && (run.epochs_done < 4 || run.state != WIRE_DONE); i++) {
        clock_sleep_ms(2);
        kit_read_run(path, &run);
    }
    CHECK_INT(run.epochs_done, 4);
    kit_wish(&k, two, WIRE_WISH_STOP);
    kit_wait(&k, two, &second);
    CHECK_INT(second.state, WIRE_STOPPED);
    CHECK(wire_status(k.wire, one, &first) && !wire_state_ended(first.state));
    close(fd);
    kit_wait(&k, one, &first);
    CHECK_INT(first.state, WIRE_DONE);
    CHECK(!strstr(k.logs, "could not be written"));
    read_first_row(&k, "state", state);
    CHECK_STR(state, "waiting"); /* four epochs are no result of a cell of fewer */

    fd = hold_ledger(&k); /* for longer than anybody waits */
    kit_wait(&k, kit_resume(&k, path, 5), &first);
    CHECK_INT(first.state, WIRE_DONE);
    CHECK_HAS(k.logs, "the sheet of sweep grid could not be written: ");
    close(fd);
    free(path);
    end(&k);
}

TEST(the_ledger_can_be_read_while_it_is_held)
{
    struct kit k;
    struct wire_sweep_status status;
    struct record_ledger *l;
    struct record_cell *cells;
    struct err e;
    size_t n;
    int fd;

    begin(&k);
    run_sweep(&k, keys, (struct wish){0}, &status);
    fd = hold_ledger(&k);
    REQUIRE_OK(record_ledger_open_to_read(&l, k.results, "grid", &e));
    REQUIRE_OK(record_ledger_cells(l, &cells, &n, &e));
    CHECK_INT(n, 2);
    free(cells);
    record_ledger_close(l);
    close(fd);
    CHECK_INT(record_ledger_open_to_read(&l, k.results, "none", &e), ERR_IO);
    CHECK_INT(e.sys, ENOENT);
    end(&k);
}

TEST(a_dropped_cell_keeps_the_run_that_it_began)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    struct record_cell *ledger;
    size_t live[CELLS], n;
    uint32_t sweep;

    begin(&k);
    kit_hold(&k, (struct fake_script){0}, 5);
    sweep = begin_sweep(&k, keys, (struct wish){.grid = true});
    wait_live(&k, sweep, 1, cells, live);
    kit_wish(&k, sweep, WIRE_WISH_STOP);
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.stopped, 1);
    /* the other cell goes first, and this one is dropped while it waits */
    kit_quit(&k);
    kit_engine(&k, 4096, 0);
    k.runs = 0;
    sweep = begin_sweep(&k, "batch = 16\nlr = 0.2, 0.1\n", (struct wish){.grid = true});
    wait_live(&k, sweep, 1, cells, live);
    cell_command(&k, WIRE_SKIP, sweep, 1, 0);
    wait_skipped(&k, sweep, 1);
    kit_let_go(&k, "");
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.skipped, 1);
    ledger = ledger_cells(&k, "grid", &n);
    REQUIRE(n == 2);
    CHECK_INT(ledger[0].state, WIRE_SKIPPED);
    CHECK(ledger[0].run[0] != 0);
    free(ledger);
    end(&k);
}

TEST(only_what_waits_is_moved)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS], after[CELLS];
    size_t live[CELLS];
    uint32_t sweep;

    begin(&k);
    kit_hold(&k, (struct fake_script){0}, 5);
    sweep = begin_sweep(&k, "batch = 16\nlr = 0.1, 0.2, 0.3\n", (struct wish){.grid = true});
    wait_live(&k, sweep, 1, cells, live);
    cell_command(&k, WIRE_MOVE, sweep, (uint32_t)live[0], +2);
    for (int i = 0; i < 20000 && !k.events[WIRE_REFUSED]; i++, clock_sleep_ms(1))
        hear_all(&k);
    kit_let_go(&k, "");
    wait_sweep(&k, sweep, &status);
    CHECK_HAS(k.refused, "runs already");
    wire_cells(k.wire, sweep, after, CELLS);
    for (size_t i = 0; i < 3; i++)
        CHECK_INT(after[i].place, cells[i].place);
    end(&k);
}

/* The trash is where `rm` puts a run: its cell is had anew, and is so by every account until then. */
TEST(a_cell_whose_run_is_removed_is_run_again)
{
    struct kit k;
    struct wire_sweep_status status;
    struct record_entry entry;
    struct record_cell *cells;
    struct err e;
    char *folder, *to = NULL;
    size_t n;

    begin(&k);
    run_sweep(&k, keys, (struct wish){.grid = true}, &status);
    cells = ledger_cells(&k, "grid", &n);
    REQUIRE(n == 2);
    folder = io_path(k.results, cells[0].run);
    REQUIRE_OK(record_read_entry(folder, &entry, &e));
    REQUIRE_OK(record_remove(&entry, &to, &e));
    record_free_entry(&entry);
    free(to);
    free(folder);
    free(cells);
    cells = ledger_cells(&k, "grid", &n);
    CHECK_INT(cells[0].state, WIRE_WAITING);
    CHECK_STR(cells[0].run, "");
    CHECK_INT(cells[1].state, WIRE_DONE);
    free(cells);
    run_sweep(&k, keys, (struct wish){.grid = true}, &status);
    CHECK_INT(status.done, 2);
    CHECK_INT(run_folders(&k), 2);
    CHECK_INT(lines_of(&k, "grid", ",done,"), 3);
    end(&k);
}
