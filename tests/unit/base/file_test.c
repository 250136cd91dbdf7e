#include "base/io.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/sheet.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder_new(void)
{
    const char *top = getenv("TMPDIR");
    char *path = mem_textf("%s/chorus-base-XXXXXX", top ? top : "/tmp");

    if (!mkdtemp(path))
        exit(1);
    return path;
}

static void folder_remove(char *path)
{
    char **names;
    size_t n;

    if (io_list_folder(path, &names, &n, NULL) == ERR_OK) {
        for (size_t i = 0; i < n; i++) {
            char *file = io_path(path, names[i]);
            unlink(file);
            free(file);
        }
        io_free_names(names, n);
    }
    rmdir(path);
    free(path);
}

static char *file_with(const char *folder, const char *bytes, size_t n)
{
    char *path = io_path(folder, "file");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd))
        exit(1);
    return path;
}

TEST(files_are_read_whole_and_bounded)
{
    struct err e = {0};
    char *folder = folder_new(), *bytes, *path = file_with(folder, "hello", 5);
    size_t n;

    REQUIRE_OK(io_read_file(path, 5, &bytes, &n, &e));
    CHECK_INT(n, 5);
    CHECK_STR(bytes, "hello");
    free(bytes);
    CHECK_INT(io_read_file(path, 4, &bytes, &n, &e), ERR_INPUT);
    CHECK_HAS(e.text, "5 bytes");
    CHECK_INT(io_read_file(folder, 4, &bytes, &n, &e), ERR_INPUT);
    CHECK_HAS(e.text, "folder");
    CHECK_INT(io_read_file("/nonexistent/x", 4, &bytes, &n, &e), ERR_INPUT);
    CHECK_INT(e.sys, ENOENT);
    CHECK_INT(io_read_file("/dev/zero", 4, &bytes, &n, &e), ERR_INPUT);
    free(path);
    folder_remove(folder);
}

static int failing_call, calls;
static int fail_now(void)
{
    if (++calls != failing_call)
        return 0;
    errno = ENOSPC;
    return 1;
}
static struct io_table real;
static int failing_open(const char *path, int flags, mode_t mode)
{
    return fail_now() ? -1 : real.open(path, flags, mode);
}
static ssize_t failing_write(int fd, const void *from, size_t n)
{
    return fail_now() ? -1 : real.write(fd, from, n > 3 ? 3 : n); /* short writes, too */
}
static int failing_sync(int fd)
{
    return fail_now() ? -1 : real.sync(fd);
}
static int failing_rename(const char *from, const char *to)
{
    return fail_now() ? -1 : real.rename(from, to);
}

TEST(a_replaced_file_is_old_or_new_whatever_fails)
{
    char *folder = folder_new(), *path = file_with(folder, "old", 3);
    bool done = false;

    real = io;
    for (failing_call = 1; !done && failing_call < 50; failing_call++) {
        struct err e = {0};
        char *bytes, **names;
        size_t n, files;

        free(path);
        path = file_with(folder, "old", 3);
        calls = 0;
        io.open = failing_open;
        io.write = failing_write;
        io.sync = failing_sync;
        io.rename = failing_rename;
        enum err_code code = io_replace_file(path, "new content", 11, &e);
        io = real;
        done = calls < failing_call;
        REQUIRE(io_read_file(path, 100, &bytes, &n, &e) == ERR_OK);
        if (code == ERR_OK)
            CHECK_STR(bytes, "new content");
        else
            CHECK(!strcmp(bytes, "old") || !strcmp(bytes, "new content"));
        CHECK(done == (code == ERR_OK));
        free(bytes);
        REQUIRE(io_list_folder(folder, &names, &files, &e) == ERR_OK);
        CHECK_INT(files, 1); /* nothing temporary is left */
        io_free_names(names, files);
    }
    CHECK(done && failing_call > 5);
    free(path);
    folder_remove(folder);
}

static void hear(int signal)
{
    (void)signal;
}

/* Without SA_RESTART, as some file systems have it. */
TEST(a_signal_interrupts_no_read)
{
    struct sigaction action = {.sa_handler = hear}, before;
    struct itimerval soon = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    char byte = 0;
    int ends[2];

    REQUIRE(pipe(ends) == 0);
    sigaction(SIGALRM, &action, &before);
    if (fork() == 0) {
        usleep(50000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    setitimer(ITIMER_REAL, &soon, NULL);
    CHECK_INT(io.read(ends[0], &byte, 1), 1);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    CHECK_INT(byte, 'x');
    CHECK(wait(NULL) > 0);
    close(ends[0]);
    close(ends[1]);
}

static int failing_stat(const char *path, struct stat *st)
{
    (void)path;
    (void)st;
    errno = EIO;
    return -1;
}

static int failing_fstat(int fd, struct stat *st)
{
    (void)fd;
    (void)st;
    errno = EIO;
    return -1;
}

TEST(what_cannot_be_looked_at_is_not_called_absent)
{
    struct err e = {0};
    char *folder = folder_new(), *path = file_with(folder, "a,b\n1,2\n", 8), **names;
    char *nothing = io_path(folder, "nothing");
    struct sheet sheet;
    size_t n;

    real = io;
    io.stat = failing_stat;
    io.fstat = failing_fstat;
    CHECK(io_exists(path));
    CHECK_INT(sheet_read(path, &sheet, &e), ERR_IO);
    CHECK_HAS(e.text, "cannot look at");
    CHECK_INT(io_make_folders(folder, &e), ERR_IO);
    CHECK_HAS(e.text, "cannot look at");
    io = real;
    CHECK(!io_exists(nothing));
    REQUIRE_OK(io_list_if_there(nothing, &names, &n, &e));
    CHECK_INT(n, 0);
    CHECK_INT(io_list_if_there(path, &names, &n, &e), ERR_IO);
    free(nothing);
    free(path);
    folder_remove(folder);
}

TEST(a_link_stays_a_link_and_a_device_a_device)
{
    struct err e = {0};
    char *folder = folder_new(), *path = file_with(folder, "old", 3), *bytes;
    char *link = io_path(folder, "link"), *far = io_path(folder, "far");
    struct stat st;
    size_t n;

    REQUIRE(symlink("file", link) == 0 && symlink("not-there-yet", far) == 0);
    REQUIRE_OK(io_replace_file(link, "new", 3, &e));
    CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    REQUIRE_OK(io_read_file(path, 10, &bytes, &n, &e));
    CHECK_STR(bytes, "new");
    free(bytes);
    REQUIRE_OK(io_replace_file(far, "far", 3, &e));
    CHECK(lstat(far, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK_INT(io_replace_file("/dev/null", "x", 1, &e), ERR_INPUT);
    CHECK_INT(io_replace_file("/dev/stdout", "x", 1, &e), ERR_INPUT);
    CHECK_HAS(e.text, "not a regular file");
    CHECK_INT(io_replace_file(folder, "x", 1, &e), ERR_INPUT);
    unlink(far);
    REQUIRE(symlink("/dev/stdout", far) == 0);
    CHECK_INT(io_replace_file(far, "x", 1, &e), ERR_INPUT);
    if (io_is_folder("/dev/shm")) {
        char *shared = mem_textf("/dev/shm/chorus-base-%ld", (long)getpid());
        REQUIRE_OK(io_replace_file(shared, "x", 1, &e));
        CHECK_INT(unlink(shared), 0);
        free(shared);
    }
    unlink(far);
    REQUIRE(symlink("far", far) == 0);
    CHECK_INT(io_replace_file(far, "x", 1, &e), ERR_INPUT);
    free(path);
    free(link);
    free(far);
    folder_remove(folder);
}

TEST(files_of_results_are_never_written_through_a_link)
{
    struct err e = {0};
    char *folder = folder_new(), *path = file_with(folder, "precious", 8), *bytes;
    char *link = io_path(folder, "link"), *pipe = io_path(folder, "pipe");
    struct stat st;
    size_t n;
    int fd;

    REQUIRE(symlink("file", link) == 0 && mkfifo(pipe, 0600) == 0);
    CHECK_INT(io_open_own(link, O_RDWR | O_CREAT | O_TRUNC, &fd, &e), ERR_IO);
    CHECK_INT(fd, -1);
    CHECK_HAS(e.text, "is a link");
    CHECK_INT(io_open_own(pipe, O_RDONLY, &fd, &e), ERR_IO);
    CHECK_INT(fd, -1);
    CHECK_HAS(e.text, "not a regular file");
    CHECK_INT(io_open_own(pipe, O_WRONLY | O_APPEND, &fd, &e), ERR_IO);
    CHECK_INT(io_open_own("/dev/null", O_WRONLY, &fd, NULL), ERR_IO);
    REQUIRE_OK(io_open_own(path, O_RDWR, &fd, &e));
    close(fd);
    REQUIRE_OK(io_replace_own(link, "new", 3, &e));
    REQUIRE_OK(io_replace_own(pipe, "new", 3, &e));
    CHECK(lstat(link, &st) == 0 && S_ISREG(st.st_mode));
    CHECK(lstat(pipe, &st) == 0 && S_ISREG(st.st_mode));
    REQUIRE_OK(io_read_file(path, 10, &bytes, &n, &e));
    CHECK_STR(bytes, "precious");
    free(bytes);
    free(path);
    free(link);
    free(pipe);
    folder_remove(folder);
}

static pid_t dead_process(void)
{
    pid_t child = fork();

    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
    return child;
}

static void leave(const char *folder, const char *name)
{
    char *path = io_path(folder, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    if (fd < 0 || close(fd))
        exit(1);
    free(path);
}

TEST(a_process_that_ended_is_dead_before_its_parent_asks)
{
    char *mark = process_mark(), *child;
    pid_t pid = fork();
    siginfo_t how;

    if (!pid)
        _exit(0);
    child = mem_textf("%.*s-%ld", (int)(strrchr(mark, '-') - mark), mark, (long)pid);
    REQUIRE(waitid(P_PID, (id_t)pid, &how, WEXITED | WNOWAIT) == 0);
    CHECK(process_is_dead(child));
    waitpid(pid, NULL, 0);
    free(child);
    free(mark);
}

TEST(the_mark_of_a_process_says_whether_it_is_dead)
{
    char *mark = process_mark(), *host = mem_text_n(mark, (size_t)(strrchr(mark, '-') - mark));
    char *dead = mem_textf("%s-%ld", host, (long)dead_process());
    char *more = mem_textf("%s-7", dead), *other = mem_textf("x%s", dead);

    CHECK_INT(process_pid(mark), getpid());
    CHECK(!process_is_dead(mark));
    CHECK(!strpbrk(host, "-./") && strlen(host) <= 16);
    CHECK(process_is_dead(dead) && process_is_dead(more));
    CHECK_INT(process_pid(other), 0); /* another machine's: nobody here knows */
    CHECK(!process_is_dead(other) && !process_is_dead("") && !process_is_dead("notes"));
    free(mark);
    free(host);
    free(dead);
    free(more);
    free(other);
}

TEST(the_next_write_removes_drafts_of_dead_processes)
{
    struct err e = {0};
    char *folder = folder_new(), *path = io_path(folder, "a.csv"), *mark = process_mark();
    char *host = mem_text_n(mark, (size_t)(strrchr(mark, '-') - mark)), **names;
    char *dead = mem_textf("a.csv.tmp-%s-%ld", host, (long)dead_process());
    char *of_other = mem_textf("b%s", dead), *live = mem_textf("a.csv.tmp-%s-1", host);
    size_t n;

    leave(folder, dead);
    leave(folder, of_other);
    leave(folder, live);
    leave(folder, "a.csv.tmp-notes");
    REQUIRE_OK(io_replace_file(path, "x", 1, &e));
    REQUIRE(io_list_folder(folder, &names, &n, &e) == ERR_OK);
    CHECK_INT(n, 4);
    for (size_t i = 0; i < n; i++)
        CHECK(strcmp(names[i], dead) != 0);
    io_free_names(names, n);
    free(path);
    free(mark);
    free(host);
    free(dead);
    free(of_other);
    free(live);
    folder_remove(folder);
}

static int synced_folders;

static int count_sync(int fd)
{
    (void)fd;
    synced_folders++;
    return 0;
}

/* Else what is synced in them is lost with their names where power is lost. */
TEST(names_of_new_folders_are_on_the_disk)
{
    struct err e = {0};
    char *folder = folder_new(), *deep = mem_textf("%s/a/b", folder);
    real = io;
    io.sync = count_sync;
    synced_folders = 0;
    REQUIRE_OK(io_make_folders(deep, &e));
    CHECK_INT(synced_folders, 2);
    REQUIRE_OK(io_make_folders(deep, &e));
    CHECK_INT(synced_folders, 2);
    io = real;
    free(deep);
    folder_remove(folder);
}

TEST(folders_are_made_and_listed)
{
    struct err e = {0};
    char *folder = folder_new(), *deep = mem_textf("%s/a/b//c/", folder);
    char **names;
    size_t n;

    REQUIRE_OK(io_make_folders(deep, &e));
    REQUIRE_OK(io_make_folders(deep, &e));
    CHECK(io_is_folder(deep));
    REQUIRE_OK(io_list_folder(folder, &names, &n, &e));
    CHECK_INT(n, 1);
    CHECK_STR(names[0], "a");
    io_free_names(names, n);
    free(deep);
    char *file = file_with(folder, "x", 1), *below = mem_textf("%s/y", file);
    CHECK(io_make_folders(file, &e) != ERR_OK);
    CHECK(io_make_folders(below, &e) != ERR_OK);
    free(below);
    free(file);
    char *part = io_folder_of("a/b");

    CHECK_STR(io_last_part("a/b"), "b");
    CHECK_STR(io_last_part("b"), "b");
    CHECK_STR(io_last_part("a/"), "");
    CHECK_STR(part, "a");
    free(part);
    part = io_folder_of("/b");
    CHECK_STR(part, "/");
    free(part);
    deep = mem_textf("rm -r '%s/a'", folder);
    CHECK_INT(system(deep), 0);
    free(deep);
    folder_remove(folder);
}

TEST(rows_are_quoted_only_where_they_must)
{
    struct text t = {0};

    sheet_add_text(&t, "plain");
    sheet_add_text(&t, "a,b");
    sheet_add_text(&t, "say \"hi\"");
    sheet_add_text(&t, " lead");
    sheet_add_empty(&t);
    sheet_add_double(&t, 0.25);
    sheet_add_int(&t, -7);
    sheet_end_row(&t);
    sheet_add_text(&t, "next");
    sheet_end_row(&t);
    CHECK_STR(t.s, "plain,\"a,b\",\"say \"\"hi\"\"\",\" lead\",,0.25,-7\nnext\n");
    text_free(&t);
}

static enum err_code read_sheet(const char *bytes, size_t n, struct sheet *s, struct err *e)
{
    char *folder = folder_new(), *path = file_with(folder, bytes, n);
    enum err_code code = sheet_read(path, s, e);

    free(path);
    folder_remove(folder);
    return code;
}

TEST(sheets_read_back_what_was_written)
{
    struct err e = {0};
    struct sheet s;
    struct text t = {0};
    static const char *const odd[] = {"a,b", "\"", "x\ny", " lead", "trail ", "", "\xc3\xa9"};

    text_add(&t, "one,two\n");
    for (size_t i = 0; i < MEM_COUNT(odd); i++) {
        sheet_add_int(&t, (int64_t)i);
        sheet_add_text(&t, odd[i]);
        sheet_end_row(&t);
    }
    REQUIRE_OK(read_sheet(t.s, t.n, &s, &e));
    CHECK_INT(s.rows, MEM_COUNT(odd));
    for (size_t i = 0; i < s.rows && i < MEM_COUNT(odd); i++) {
        CHECK_STR(sheet_cell(&s, i, sheet_column(&s, "two")), odd[i]);
        CHECK_NEAR(sheet_number(&s, i, 0), (double)i, 0);
    }
    CHECK_INT(sheet_column(&s, "three"), -1);
    CHECK_STR(sheet_cell(&s, 0, -1), "");
    sheet_free(&s);
    text_free(&t);
}

TEST(a_torn_last_line_is_left_out_at_every_byte)
{
    static const char whole[] = "a,b\n1,\"x,y\"\n2,zz\n";
    struct err e = {0};

    for (size_t n = 4; n <= strlen(whole); n++) {
        struct sheet s;
        size_t lines = 0;
        for (size_t i = 0; i < n; i++)
            lines += whole[i] == '\n';
        for (size_t zeros = 0; zeros <= 3; zeros += 3) { /* as power that is lost leaves them */
            char bytes[sizeof whole + 3] = {0};

            if (zeros && whole[n - 1] == '"') /* no column of rows that are added is quoted */
                continue;
            memcpy(bytes, whole, n);
            if (read_sheet(bytes, n + zeros, &s, &e) != ERR_OK) {
                TEST_FAILED("%zu bytes, %zu zeros: %s", n, zeros, e.text);
                continue;
            }
            CHECK_INT(s.rows, lines - 1);
            sheet_free(&s);
        }
    }
}

TEST(malformed_sheets_are_refused)
{
    static const struct {
        const char *bytes, *says;
        size_t n;
    } bad[] = {
        {"", "header", 0},
        {"a,b\n1\n", ":2: the row has 1", 6},
        {"a,b\n1,2\n3,x\"y\n5,6\n", ":3:", 18},
        {"a,b\n1,\0\n", "0 byte", 8},
        {"a,b\n1,\002\"x\"\n", "field 2: this is no text file", 11},
        {"a,b\n1,x\"x\"\n", "field 2: a quote is out of place", 11},
        {"a,b\n\"x\ny\",1\n7\n", ":4: the row has 1", 14},
    };

    for (size_t i = 0; i < MEM_COUNT(bad); i++) {
        struct err e = {0};
        struct sheet s;
        if (read_sheet(bad[i].bytes, bad[i].n, &s, &e) == ERR_OK) {
            TEST_FAILED("case %zu was taken", i);
            sheet_free(&s);
        } else {
            CHECK_HAS(e.text, bad[i].says);
        }
    }
}

static bool count_row(void *user, size_t line, size_t count, char **fields, const size_t *lengths)
{
    (void)line, (void)fields, (void)lengths;
    *(size_t *)user += count;
    return true;
}

TEST(a_missing_quote_does_not_swallow_the_file)
{
    struct err e = {0};
    char *folder = folder_new(), *path = file_with(folder, "a,b\n\"1,2\n3,4\n", 13);
    size_t fields = 0;

    CHECK_INT(sheet_scan(path, NULL, count_row, &fields, &e), ERR_INPUT);
    CHECK_HAS(e.text, "quote");
    struct text big = {0};
    text_add(&big, "a,");
    for (int i = 0; i < 10000; i++)
        text_add(&big, "0123456789");
    free(path);
    path = file_with(folder, big.s, big.n);
    CHECK_INT(sheet_scan(path, NULL, count_row, &fields, &e), ERR_INPUT);
    CHECK_HAS(e.text, "65536");
    text_free(&big);
    free(path);
    folder_remove(folder);
}
