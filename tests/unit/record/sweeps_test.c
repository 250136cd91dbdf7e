#include "base/io.h"
#include "base/mem.h"
#include "record/stamp.h"
#include "record/sweep/order.h"
#include "record/sweep/sweeps.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

static char *results, *folder;

static void start(void)
{
    struct err e;

    results = mem_textf("%s/sweeps-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(results))
        abort();
    folder = record_sweep_folder(results, "board");
    REQUIRE_OK(io_make_folders(folder, &e));
}

static void put(const char *name, const char *text)
{
    char *path = io_path(folder, name);

    if (io_replace_file(path, text, strlen(text), NULL) != ERR_OK)
        abort();
    free(path);
}

static void finish(void)
{
    char *command = mem_textf("rm -rf '%s'", results);

    if (system(command) != 0)
        printf("  %s stays\n", results);
    free(command);
    free(folder);
    free(results);
}

TEST(what_a_sweep_walks_and_was_begun_with_is_read)
{
    struct record_queue_options options = {0};
    struct spec_sweep s;
    struct err e;

    start();
    put("sweep.ini", "# options: --order grid --max-cells 5 --jobs 2\nlr = 0.1, 0.2, 0.3\n"
                     "repeats = 2\n");
    spec_sweep_init(&s);
    REQUIRE_OK(record_sweep_read(results, "board", &s, &options, &e));
    CHECK_INT(spec_sweep_cells(&s), 6);
    CHECK(options.grid);
    CHECK_INT(options.max_cells, 5);
    CHECK_INT(options.jobs, 2);
    spec_sweep_free(&s);
    put("sweep.ini", "# options: --order\nlr = 0.1, 0.2\n");
    spec_sweep_init(&s);
    CHECK_INT(record_sweep_read(results, "board", &s, &options, &e), ERR_INPUT);
    CHECK_HAS(e.text, "sweep.ini:1: its options cannot be read");
    CHECK_INT(record_sweep_read(results, "none", &s, &options, &e), ERR_INPUT);
    CHECK_HAS(e.text, "none/sweep.ini");
    spec_sweep_free(&s);
    finish();
}

static int open_to_read(const char *path, int flags, mode_t mode)
{
    if ((flags & O_ACCMODE) == O_RDONLY)
        return open(path, flags, mode);
    errno = EROFS;
    return -1;
}

TEST(those_at_work_are_noticed)
{
    int (*real)(const char *, int, mode_t) = io.open;
    char *path;
    int fd;

    start();
    path = io_path(folder, "work");
    CHECK(!record_sweep_live(results, "board"));
    fd = open(path, O_RDWR | O_CREAT, 0666);
    CHECK(!record_sweep_live(results, "board")); /* a file that is left over */
    REQUIRE(flock(fd, LOCK_SH) == 0);
    CHECK(record_sweep_live(results, "board"));
    CHECK(record_sweep_live(results, "board")); /* to look takes nothing away */
    io.open = open_to_read;
    CHECK(record_sweep_live(results, "board"));
    io.open = real;
    close(fd);
    CHECK(!record_sweep_live(results, "board"));
    free(path);
    finish();
}

TEST(any_file_that_was_written_makes_another_stamp)
{
    static const char *const files[] = {"sweep.ini", "ledger.csv", "sweep.csv", "ledger.csv"};
    uint64_t was = 0;

    start();
    CHECK(!record_sweep_stamp(results, "board"));
    for (size_t i = 0; i < MEM_COUNT(files); i++) {
        uint64_t now;

        put(files[i], i < 3 ? "a line\n" : "a line\nand another\n");
        now = record_sweep_stamp(results, "board");
        CHECK(now != was);
        CHECK(record_sweep_stamp(results, "board") == now);
        was = now;
    }
    put("control", "pause\n");
    CHECK(record_sweep_stamp(results, "board") == was);
    finish();
}

TEST(a_line_that_cannot_be_left_says_so_as_everything_does)
{
    int (*real)(const char *, int, mode_t) = io.open;
    struct err e;
    char *want;

    start();
    want = mem_textf("nothing can be written in %s: Read-only file system", results);
    io.open = open_to_read;
    CHECK_INT(record_sweep_control(results, "board", "pause", &e), ERR_IO);
    io.open = real;
    CHECK_STR(e.text, want);
    free(want);
    finish();
}

TEST(lines_for_those_at_work_come_behind_each_other)
{
    char *path, *bytes;
    struct err e;
    size_t n;

    start();
    path = io_path(folder, "control");
    REQUIRE_OK(record_sweep_control(results, "board", "pause", &e));
    REQUIRE_OK(record_sweep_control(results, "board", "stop cells", &e));
    REQUIRE_OK(io_read_file(path, 4096, &bytes, &n, &e));
    CHECK_STR(bytes, "pause\nstop cells\n");
    free(bytes);
    CHECK_INT(record_sweep_control(results, "none", "go", &e), ERR_IO);
    free(path);
    finish();
}

TEST(an_order_that_is_written_anew_has_another_stamp)
{
    struct record_place place = {.number = 1, .cell = "0123456789abcdef", .waits = true};
    struct record_stamp none = {0}, first, again;
    struct err e;

    start();
    first = record_order_stamp(results, "board");
    CHECK(record_stamp_same(&first, &none));
    REQUIRE_OK(record_order_write(results, "board", &place, 1, &e));
    first = record_order_stamp(results, "board");
    CHECK(!record_stamp_same(&first, &none));
    again = record_order_stamp(results, "board");
    CHECK(record_stamp_same(&first, &again));
    REQUIRE_OK(record_order_write(results, "board", &place, 1, &e)); /* to the same */
    again = record_order_stamp(results, "board");
    CHECK(!record_stamp_same(&first, &again));
    finish();
}
