/* results/queue/ and who is at work: order, moves, several programs at a time, names and files that
 * nobody asked for, and a kill or a failure at every file operation. */
#include "record/queue/queue.h"
#include "record/working.h"
#include "base/clock.h"
#include "tests/unit/record/help.h"
#include "wire/sweep.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/file.h>
#include <sys/wait.h>

/* The texts in the order of the queue: "a b c". */
static char *order(const char *results)
{
    struct record_queued *list;
    struct text t = {0};
    struct err e;
    size_t n;

    if (record_queue_list(results, &list, &n, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
        return mem_text("");
    }
    for (size_t i = 0; i < n; i++)
        text_addf(&t, "%s%s", i ? " " : "", list[i].broken ? "?" : list[i].text);
    record_queue_free(list, n);
    if (!t.s)
        text_add(&t, "");
    return t.s;
}

#define CHECK_ORDER(results, want)                                                                 \
    do {                                                                                           \
        char *order_ = order(results);                                                             \
        CHECK_STR(order_, want);                                                                   \
        free(order_);                                                                              \
    } while (0)

static void add(const char *results, const char *text, const char *name)
{
    struct err e;

    REQUIRE_OK(record_queue_add(results, text, name, NULL, &e));
}

/* The item of that text; file NULL: there is none. */
static struct record_queued item_of(const char *results, const char *text)
{
    struct record_queued *list, item = {0};
    struct err e;
    size_t n;

    if (record_queue_list(results, &list, &n, &e) != ERR_OK)
        return item;
    for (size_t i = 0; i < n; i++)
        if (!list[i].broken && !strcmp(list[i].text, text) && !item.file) {
            item = list[i];
            list[i] = (struct record_queued){0};
        }
    record_queue_free(list, n);
    return item;
}

static void move(const char *results, const char *text, int64_t by)
{
    struct record_queued item = item_of(results, text);
    struct err e;

    if (!item.file)
        TEST_FAILED("%s is not there", text);
    else if (record_queue_move(results, &item, by, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    record_queue_free_item(&item);
}

TEST(items_come_in_the_order_in_which_they_were_added)
{
    char *folder = help_folder(), *results = io_path(folder, "results");
    struct record_queued *list, first;
    struct err e;
    bool found = true;
    size_t n = 9;

    REQUIRE_OK(record_queue_list(results, &list, &n, &e)); /* nothing is there, not even results */
    CHECK_INT(n, 0);
    record_queue_free(list, n);
    REQUIRE_OK(record_queue_first(results, &first, &found, &n, &e));
    CHECK(!found);
    CHECK(!io_exists(results)); /* who looks makes nothing */
    add(results, "a", "lenet");
    add(results, "b", "lenet");
    add(results, "c", "a board");
    REQUIRE_OK(record_queue_list(results, &list, &n, &e));
    CHECK_INT(n, 3);
    REQUIRE(n == 3);
    CHECK_STR(list[0].file, "0001-lenet.ini");
    CHECK_STR(list[1].file, "0002-lenet.ini");
    CHECK_STR(list[2].file, "0003-a-board.ini");
    CHECK_STR(list[2].name, "a-board");
    CHECK_INT(list[2].number, 3);
    CHECK_STR(list[1].text, "b");
    CHECK_INT(list[1].n, 1);
    CHECK(list[0].id && list[0].id != list[1].id);
    REQUIRE_OK(record_queue_first(results, &first, &found, &n, &e));
    CHECK(found && n == 3 && first.id == list[0].id);
    CHECK_STR(first.text, "a");
    record_queue_free_item(&first);
    /* numbers go on behind the last one, whatever was taken away before it */
    REQUIRE_OK(record_queue_remove(results, &list[0], &e));
    add(results, "d", "d");
    CHECK_ORDER(results, "b c d");
    CHECK_INT(record_queue_remove(results, &list[0], &e), ERR_INPUT);
    CHECK_HAS(e.text, "0001-lenet.ini is not in the queue");
    record_queue_free(list, n);
    free(results);
    help_remove(folder);
}

TEST(items_move_by_places_and_to_the_ends)
{
    char *folder = help_folder();
    const char *texts[] = {"a", "b", "c", "d", "e"};

    for (int i = 0; i < 5; i++)
        add(folder, texts[i], "same");
    move(folder, "a", 1);
    CHECK_ORDER(folder, "b a c d e");
    move(folder, "e", -2);
    CHECK_ORDER(folder, "b a e c d");
    move(folder, "d", -1000000);
    CHECK_ORDER(folder, "d b a e c");
    move(folder, "b", INT64_MAX);
    CHECK_ORDER(folder, "d a e c b");
    move(folder, "b", INT64_MIN);
    CHECK_ORDER(folder, "b d a e c");
    move(folder, "b", -1);
    move(folder, "c", 1);
    move(folder, "e", 0);
    CHECK_ORDER(folder, "b d a e c");
    help_remove(folder);
}

/* All pairs of places of queues of up to four: against taking out and putting in. */
TEST(every_move_of_a_short_queue_is_right)
{
    for (int n = 1; n <= 4; n++)
        for (int from = 0; from < n; from++)
            for (int to = 0; to < n; to++) {
                char *folder = help_folder(), want[16] = "", left[8] = "";
                int k = 0;

                for (int i = 0; i < n; i++)
                    add(folder, (char[2]){(char)('a' + i), 0}, "x");
                for (int i = 0; i < n; i++)
                    if (i != from)
                        left[k++] = (char)('a' + i);
                k = 0;
                for (int i = 0; i < n; i++) {
                    want[2 * i] = i == to ? (char)('a' + from) : left[k++];
                    want[2 * i + 1] = i + 1 < n ? ' ' : 0;
                }
                move(folder, (char[2]){(char)('a' + from), 0}, to - from);
                CHECK_ORDER(folder, want);
                help_remove(folder);
            }
}

TEST(an_item_is_found_again_behind_a_move_but_not_behind_another_file)
{
    char *folder = help_folder(), *queue = io_path(folder, "queue");
    struct record_queued a, b;
    struct err e;

    add(folder, "a", "x");
    add(folder, "b", "x");
    a = item_of(folder, "a");
    b = item_of(folder, "b");
    move(folder, "b", -1); /* now b has the name that a had */
    REQUIRE_OK(record_queue_remove(folder, &a, &e));
    CHECK_ORDER(folder, "b");
    help_put(queue, "0001-x.ini.new", "edited", 6);
    {
        char *from = io_path(queue, "0001-x.ini.new"), *to = io_path(queue, "0001-x.ini");

        CHECK(rename(from, to) == 0);
        free(from);
        free(to);
    }
    CHECK_INT(record_queue_remove(folder, &b, &e), ERR_INPUT);
    CHECK_ORDER(folder, "edited");
    record_queue_free_item(&a);
    record_queue_free_item(&b);
    free(queue);
    help_remove(folder);
}

TEST(names_become_fit_for_files)
{
    static const struct {
        const char *name, *file;
    } names[] = {
        {"", "0001-run.ini"},
        {"..", "0002-run.ini"},
        {"../../etc/passwd", "0003-etc-passwd.ini"},
        {"-rf /", "0004-rf.ini"},
        {".hidden", "0005-hidden.ini"},
        {"a\nb\033[31mc", "0006-a-b-31mc.ini"},
        {"gr\xc3\xb6\xc3\x9f"
         "e \xe2\x80\xae",
         "0007-gr-e.ini"},
        {"lenet.ini", "0008-lenet.ini.ini"},
        {"0007-x", "0009-0007-x.ini"},
    };
    char *folder = help_folder(), name[400];
    struct record_queued item;
    struct err e;

    for (size_t i = 0; i < MEM_COUNT(names); i++) {
        REQUIRE_OK(record_queue_add(folder, "x", names[i].name, &item, &e));
        CHECK_STR(item.file, names[i].file);
        CHECK_INT(item.number, i + 1);
        record_queue_free_item(&item);
    }
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    REQUIRE_OK(record_queue_add(folder, "x", name, &item, &e));
    CHECK_INT(strlen(item.name), 64);
    record_queue_free_item(&item);
    help_remove(folder);
}

/* Who takes may be on another machine that has the same folder, where its process cannot be asked for. */
TEST(what_a_taker_writes_is_removed_by_the_next_one_alone)
{
    char *folder = help_folder(), *queue = io_path(folder, "queue");
    struct err e;

    add(folder, "a", "x");
    help_put(queue, ".taken.tmp-2147483647", "half", 4); /* a process that no machine has */
    add(folder, "b", "y");
    CHECK_INT(help_count(queue, ".taken.tmp-"), 1);
    REQUIRE_OK(record_queue_set_taken(folder, 7, &e));
    CHECK_INT(help_count(queue, ".taken.tmp-"), 0);
    CHECK_INT(record_queue_taken(folder), 7);
    free(queue);
    help_remove(folder);
}

TEST(files_that_programs_did_not_write_do_no_harm)
{
    char *folder = help_folder(), *queue = io_path(folder, "queue"), *path, *big;
    struct record_queued *list;
    struct err e;
    size_t n;

    add(folder, "a", "x");
    help_put(queue, ".0002-draft.ini", "draft", 5);
    help_put(queue, "0002-x.ini.tmp-77", "half", 4);
    help_put(queue, "notes.txt", "notes", 5);
    help_put(queue, "by-hand.ini", "hand", 4);
    help_put(queue, "0001-also.ini", "also", 4);
    help_put(queue, "123456789012-x.ini", "long", 4);
    path = io_path(queue, "0002-folder.ini");
    mkdir(path, 0777);
    free(path);
    big = mem_new((4 << 20) + 2, 1);
    memset(big, ' ', (4 << 20) + 1);
    help_put(queue, "0003-big.ini", big, (4 << 20) + 1);
    free(big);
    REQUIRE_OK(record_queue_list(folder, &list, &n, &e));
    CHECK_INT(n, 6);
    REQUIRE(n == 6);
    CHECK_STR(list[0].text, "also"); /* of one number, by name */
    CHECK_STR(list[1].text, "a");
    CHECK(list[2].broken);
    CHECK_HAS(list[2].problem, "is a folder");
    CHECK(list[3].broken);
    CHECK_HAS(list[3].problem, "4194305 bytes");
    CHECK_STR(list[4].text, "long"); /* without a number, behind the others */
    CHECK_INT(list[4].number, 0);
    CHECK_STR(list[5].text, "hand");
    CHECK_STR(list[5].name, "by-hand");
    /* a move gives all a number of their own */
    REQUIRE_OK(record_queue_move(folder, &list[5], -4, &e));
    CHECK_ORDER(folder, "also hand a ? ? long");
    /* a broken one can be put aside, twice under one name */
    REQUIRE_OK(record_queue_reject(folder, &list[3], &e));
    record_queue_free(list, n);
    CHECK_ORDER(folder, "also hand a ? long");
    CHECK_INT(help_count(queue, "-big.ini.bad"), 1);
    add(folder, "b", "b"); /* and what a killed one left is gone */
    CHECK_INT(help_count(queue, ".tmp-"), 0);
    CHECK_ORDER(folder, "also hand a ? long b");
    CHECK_INT(record_queue_add(folder, "x", "x", NULL, &e), ERR_OK);
    free(queue);
    help_remove(folder);
}

TEST(what_is_rejected_overwrites_nothing)
{
    char *folder = help_folder(), *queue = io_path(folder, "queue"), *text;
    struct err e;

    for (int i = 0; i < 3; i++) {
        struct record_queued item;
        char name[2] = {(char)('a' + i), 0};

        REQUIRE_OK(record_queue_add(folder, name, "x", &item, &e));
        CHECK_STR(item.file, "0001-x.ini");
        REQUIRE_OK(record_queue_reject(folder, &item, &e));
        record_queue_free_item(&item);
    }
    CHECK_ORDER(folder, "");
    text = help_text(queue, "0001-x.ini.bad");
    CHECK_STR(text, "a");
    free(text);
    text = help_text(queue, "0001-x.ini.bad-3");
    CHECK_STR(text, "c");
    free(text);
    free(queue);
    help_remove(folder);
}

TEST(adders_in_several_processes_never_get_one_number)
{
    enum { ADDERS = 4, EACH = 12 };
    char *folder = help_folder();
    int last[ADDERS];
    struct record_queued *list;
    pid_t child[ADDERS + 1];
    struct err e;
    size_t n;

    add(folder, "9 0", "start");
    for (int c = 0; c <= ADDERS; c++) {
        child[c] = fork();
        if (child[c] == 0) {
            bool good = true;

            for (int i = 0; i < EACH && good; i++) {
                char *text = mem_textf("%d %d", c, i);

                if (c < ADDERS) {
                    good = record_queue_add(folder, text, "same", NULL, &e) == ERR_OK;
                } else { /* and one that moves the first one about, and has it first again */
                    struct record_queued item = item_of(folder, "9 0");

                    good = item.file && record_queue_move(folder, &item, 3, &e) == ERR_OK &&
                           record_queue_move(folder, &item, -1000, &e) == ERR_OK;
                    record_queue_free_item(&item);
                }
                free(text);
            }
            _exit(good ? 0 : 1);
        }
    }
    for (int c = 0; c <= ADDERS; c++) {
        int status = 1;

        waitpid(child[c], &status, 0);
        CHECK_INT(status, 0);
    }
    memset(last, -1, sizeof last);
    REQUIRE_OK(record_queue_list(folder, &list, &n, &e));
    CHECK_INT(n, ADDERS * EACH + 1);
    for (size_t i = 0; i < n; i++) {
        int c = -1, k = -1;

        CHECK(i == 0 || list[i].number > list[i - 1].number);
        CHECK(sscanf(list[i].text, "%d %d", &c, &k) == 2);
        if (c == 9)
            CHECK_INT(i, 0);
        else if (c >= 0 && c < ADDERS)
            CHECK_INT(k, ++last[c]); /* each one's in their order */
    }
    record_queue_free(list, n);
    help_remove(folder);
}

/* ---- failures and kills ---- */

static struct io_table real;
static int at, operations; /* the operation that fails, from 1 */
static bool kills;

static bool fails(int error)
{
    if (++operations != at)
        return false;
    if (kills)
        _exit(77);
    errno = error;
    return true;
}

static int fault_open(const char *path, int flags, mode_t mode)
{
    return fails(EACCES) ? -1 : real.open(path, flags, mode);
}
static ssize_t fault_write(int fd, const void *from, size_t n)
{
    return fails(ENOSPC) ? -1 : real.write(fd, from, n);
}
static int fault_sync(int fd)
{
    return fails(EIO) ? -1 : real.sync(fd);
}
static int fault_close(int fd)
{
    bool failed = fails(EIO);
    int result = real.close(fd);

    return failed ? -1 : result;
}
static int fault_rename(const char *from, const char *to)
{
    return fails(EIO) ? -1 : real.rename(from, to);
}
static int fault_unlink(const char *path)
{
    return fails(EIO) ? -1 : real.unlink(path);
}
static int fault_mkdir(const char *path, mode_t mode)
{
    return fails(EACCES) ? -1 : real.mkdir(path, mode);
}
static int fault_lock(int fd, int operation)
{
    return fails(ENOLCK) ? -1 : real.lock(fd, operation);
}

static void break_at(int operation, bool kill)
{
    real = io;
    at = operation;
    operations = 0;
    kills = kill;
    io.open = fault_open;
    io.write = fault_write;
    io.sync = fault_sync;
    io.close = fault_close;
    io.rename = fault_rename;
    io.unlink = fault_unlink;
    io.mkdir = fault_mkdir;
    io.lock = fault_lock;
}

enum what { ADD, MOVE_UP, MOVE_DOWN, REMOVE, REJECT, WHATS };

static enum err_code change(const char *folder, enum what what, const struct record_queued *item,
                            struct err *e)
{
    switch (what) {
    case ADD:
        return record_queue_add(folder, "new", "x", NULL, e);
    case MOVE_UP:
        return record_queue_move(folder, item, -2, e);
    case MOVE_DOWN:
        return record_queue_move(folder, item, 1, e);
    case REMOVE:
        return record_queue_remove(folder, item, e);
    default:
        return record_queue_reject(folder, item, e);
    }
}

static size_t count_of(const char *have, const char *word)
{
    size_t n = 0;

    for (const char *p = have; (p = strstr(p, word)); p += strlen(word))
        n++;
    return n;
}

/* Whether everything stands where it may: what was not to be changed once, the rest as it should. */
static void check_whole(const char *folder, enum what what, int operation, bool done, bool failed)
{
    static const char *const wanted[] = {"a b c d new", "c a b d", "a b d c", "a b d", "a b d"};
    char *have = order(folder);
    size_t c = count_of(have, "c"), new = count_of(have, "new");

    if (done && strcmp(have, wanted[what]) != 0)
        TEST_FAILED("change %d, operation %d: %s", what, operation, have);
    if (count_of(have, "a") != 1 || count_of(have, "b") != 1 || count_of(have, "d") != 1 ||
        (what != REMOVE && what != REJECT ? c != 1 : c > 1) || new > 1 || strchr(have, '?'))
        TEST_FAILED("change %d, operation %d: it left %s", what, operation, have);
    if (what == ADD && failed && new)
        TEST_FAILED("operation %d: it failed, and the item is there", operation);
    free(have);
}

static int run_all(enum what what, bool kill)
{
    int operation = 0;
    bool over = false;

    while (!over && operation < 200) {
        char *folder = help_folder();
        struct record_queued item;
        enum err_code code = ERR_OK;
        struct err e = {0};
        int status = 0;
        pid_t child;

        for (int i = 0; i < 4; i++)
            add(folder, (char[2]){(char)('a' + i), 0}, "x");
        item = item_of(folder, "c");
        operation++;
        if (kill) {
            child = fork();
            if (child == 0) {
                break_at(operation, true);
                code = change(folder, what, &item, &e);
                _exit(code == ERR_OK ? 0 : 1);
            }
            waitpid(child, &status, 0);
            over = WEXITSTATUS(status) != 77;
            CHECK(!over || status == 0);
            check_whole(folder, what, operation, over, false);
        } else {
            break_at(operation, false);
            code = change(folder, what, &item, &e);
            io = real;
            over = operations < operation;
            check_whole(folder, what, operation, code == ERR_OK, code != ERR_OK);
            CHECK(code == ERR_OK || strstr(e.text, "cannot ") ||
                  strstr(e.text, "nothing can be written in "));
        }
        add(folder, "last", "y"); /* and it can be gone on with */
        {
            char *have = order(folder);

            CHECK(strlen(have) > 5 && !strcmp(have + strlen(have) - 5, " last"));
            free(have);
        }
        record_queue_free_item(&item);
        help_remove(folder);
    }
    return operation;
}

TEST(a_failure_at_any_operation_loses_nothing)
{
    for (enum what what = 0; what < WHATS; what++)
        CHECK(run_all(what, false) > 6);
}

TEST(a_kill_at_any_operation_loses_nothing)
{
    for (enum what what = 0; what < WHATS; what++)
        CHECK(run_all(what, true) > 6);
}

static ssize_t no_room(int fd, const void *from, size_t n)
{
    (void)fd, (void)from, (void)n;
    errno = ENOSPC;
    return -1;
}

TEST(a_full_disk_and_a_folder_that_cannot_be_written_are_told)
{
    char *folder = help_folder(), *file = io_path(folder, "file");
    struct err e = {0};

    real = io;
    io.write = no_room;
    CHECK_INT(record_queue_add(folder, "x", "x", NULL, &e), ERR_IO);
    io = real;
    CHECK_HAS(e.text, "No space left on device; make room, or --results DIR keeps runs in another");
    CHECK_ORDER(folder, "");
    help_put(folder, "file", "", 0);
    CHECK_INT(record_queue_add(file, "x", "x", NULL, &e), ERR_IO);
    CHECK_HAS(e.text, "file/queue: Not a directory");
    free(file);
    help_remove(folder);
}

/* ---- the right to take, the stamp, the options ---- */

TEST(one_process_at_a_time_may_take)
{
    char *folder = help_folder();
    int fd = -1, second = -1, pipe_[2], status;
    int64_t owner = 5;
    struct err e;
    char byte;
    pid_t child;

    CHECK_INT(record_queue_owner(folder), 0);
    REQUIRE_OK(record_queue_own(folder, &fd, &owner, &e));
    CHECK_INT(owner, 0);
    CHECK_INT(record_queue_owner(folder), getpid());
    CHECK_INT(record_queue_own(folder, &second, &owner, &e), ERR_FAILED);
    CHECK_INT(second, -1);
    CHECK_INT(owner, getpid());
    CHECK_HAS(e.text, "takes from the queue");
    record_queue_release(fd);
    CHECK_INT(record_queue_owner(folder), 0);
    CHECK(pipe(pipe_) == 0);
    child = fork();
    if (child == 0) {
        bool good = record_queue_own(folder, &fd, NULL, &e) == ERR_OK;

        if (write(pipe_[1], good ? "y" : "n", 1) == 1)
            pause();
        _exit(1);
    }
    CHECK(read(pipe_[0], &byte, 1) == 1 && byte == 'y');
    CHECK_INT(record_queue_own(folder, &fd, &owner, &e), ERR_FAILED);
    CHECK_INT(owner, child);
    CHECK_INT(record_queue_owner(folder), child);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    CHECK_INT(record_queue_owner(folder), 0);
    REQUIRE_OK(record_queue_own(folder, &fd, NULL, &e));
    record_queue_release(fd);
    close(pipe_[0]);
    close(pipe_[1]);
    help_remove(folder);
}

TEST(the_stamp_tells_of_every_change)
{
    char *folder = help_folder(), *queue = io_path(folder, "queue");
    struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    uint64_t stamp;

    CHECK_INT(record_queue_stamp(folder), 0);
    add(folder, "a", "a");
    /* just now: another change might carry the same time */
    CHECK(record_queue_stamp(folder) != record_queue_stamp(folder));
    CHECK(utimensat(AT_FDCWD, queue, old, 0) == 0);
    stamp = record_queue_stamp(folder);
    CHECK(stamp && record_queue_stamp(folder) == stamp);
    add(folder, "b", "b");
    CHECK(record_queue_stamp(folder) != stamp);
    free(queue);
    help_remove(folder);
}

TEST(options_read_back)
{
    struct record_queue_options o = {.name = "board",
                                     .grid = true,
                                     .failed = true,
                                     .max_cells = 12,
                                     .jobs = 2},
                                back;
    struct text t = {0};
    struct err e;

    record_queue_add_options(&t, &o);
    text_add(&t, "lr = 0.1, 0.2\n");
    CHECK_STR(t.s, "# options: --name board --order grid --max-cells 12 --jobs 2 --failed\n"
                   "lr = 0.1, 0.2\n");
    REQUIRE_OK(record_queue_read_options(t.s, &back, &e));
    CHECK_STR(back.name, "board");
    CHECK(back.grid && back.failed && back.max_cells == 12 && back.jobs == 2);
    CHECK(!back.alone);
    text_clear(&t);
    record_queue_add_options(&t, &(struct record_queue_options){.alone = true});
    CHECK_STR(t.s, "# options: --order spread --alone\n");
    REQUIRE_OK(record_queue_read_options(t.s, &back, &e));
    CHECK(back.alone && !back.failed);
    text_clear(&t);
    record_queue_add_options(&t, &(struct record_queue_options){.resume = "2026-a"});
    CHECK_STR(t.s, "# options: --resume 2026-a --order spread\n");
    REQUIRE_OK(record_queue_read_options(t.s, &back, &e));
    CHECK_STR(back.resume, "2026-a");
    CHECK_INT(record_queue_read_options("# options: --resume ../x\n", &back, &e), ERR_INPUT);
    text_free(&t);
    REQUIRE_OK(record_queue_read_options("lr = 0.1\n# options: --jobs 2\n", &back, &e));
    CHECK(!back.name[0] && !back.jobs && !back.grid && !back.failed);
    CHECK_INT(record_queue_read_options("# options: --jobs\n", &back, &e), ERR_INPUT);
    CHECK_INT(record_queue_read_options("# options: --jobs -1\n", &back, &e), ERR_INPUT);
    CHECK_INT(record_queue_read_options("# options: --order up\n", &back, &e), ERR_INPUT);
    CHECK_INT(record_queue_read_options("# options: --name ../x\n", &back, &e), ERR_INPUT);
    CHECK_INT(record_queue_read_options("# options: --what 1\n", &back, &e), ERR_INPUT);
    CHECK_HAS(e.text, "line 1");
}

/* ---- who is at work ---- */

/* Several programs that wait for the same end see it at the same time: one of them has the machine. */
TEST(of_several_that_want_to_be_alone_one_begins)
{
    char *folder = help_folder(), *cache = io_path(folder, "cache"), *before;
    struct holders {
        atomic_int now, doubles, claims;
    } *h = mmap(NULL, sizeof *h, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct record_work *own;
    int status;

    REQUIRE(h != MAP_FAILED);
    before = getenv("CHORUS_CACHE") ? mem_text(getenv("CHORUS_CACHE")) : NULL;
    setenv("CHORUS_CACHE", cache, 1);
    for (int i = 0; i < 8; i++) {
        if (fork() == 0) {
            struct record_work *w = record_work_new(folder);

            for (int k = 0; k < 200; k++) {
                if (!record_work_claim(w))
                    continue;
                atomic_fetch_add(&h->claims, 1);
                if (atomic_fetch_add(&h->now, 1) > 0)
                    atomic_fetch_add(&h->doubles, 1);
                clock_sleep_ms(1);
                atomic_fetch_sub(&h->now, 1);
                record_work_set(w, NULL, 0);
            }
            _exit(0);
        }
    }
    while (waitpid(-1, &status, 0) > 0)
        ;
    CHECK(atomic_load(&h->claims) > 0);
    CHECK_INT(atomic_load(&h->doubles), 0);
    munmap(h, sizeof *h);
    own = record_work_new(folder);
    CHECK(record_work_claim(own)); /* all of them have gone */
    record_work_free(own);
    if (before)
        setenv("CHORUS_CACHE", before, 1);
    else
        unsetenv("CHORUS_CACHE");
    free(before);
    free(cache);
    help_remove(folder);
}

TEST(who_is_at_work_is_seen_while_it_lives)
{
    char *folder = help_folder(), *cache = io_path(folder, "cache"), *before, *working;
    char *results = io_path(folder, "results"), *run = io_path(results, "a-run"), *real_run;
    struct wire_sweep_status sweep = {.name = "a b",
                                      .state = WIRE_PAUSED,
                                      .closing = true,
                                      .wish = WIRE_WISH_STOP_CELLS,
                                      .cells = 12,
                                      .running = 2,
                                      .paused = 1,
                                      .done = 3,
                                      .skipped = 1,
                                      .waiting = 6,
                                      .left_seconds = NAN},
                             told;
    struct record_working *list;
    enum wire_wish wish;
    struct record_work *own;
    int pipe_[2], seen[2], status;
    pid_t child;
    char byte;

    before = getenv("CHORUS_CACHE") ? mem_text(getenv("CHORUS_CACHE")) : NULL;
    setenv("CHORUS_CACHE", cache, 1);
    working = io_path(cache, "working");
    mkdir(results, 0777);
    mkdir(run, 0777);
    real_run = realpath(run, NULL);
    CHECK_INT(record_working_list(&list), 0);
    free(list);
    CHECK(!io_exists(cache));
    own = record_work_new(results);
    record_work_set(own, run, 1);
    CHECK_INT(help_count(working, "-"), 1);
    CHECK_INT(record_working_list(&list), 0); /* not our own */
    free(list);
    CHECK(pipe(pipe_) == 0 && pipe(seen) == 0);
    child = fork();
    if (child == 0) {
        struct record_work *w = record_work_new(results);

        record_work_set(w, "", 0);
        record_work_set(w, run, 1);
        record_work_set_wish(w, true, WIRE_WISH_PAUSE);
        record_work_set_sweep(w, &sweep);
        if (write(pipe_[1], "y", 1) != 1 || read(seen[0], &byte, 1) != 1)
            _exit(1);
        record_work_set_wish(w, false, WIRE_WISH_STOP_EPOCH);
        sweep.wish = WIRE_WISH_STOP_EPOCH;
        record_work_set_sweep(w, &sweep);
        if (write(pipe_[1], "e", 1) != 1 || read(seen[0], &byte, 1) != 1)
            _exit(1);
        record_work_set(w, run, 0);
        sweep.state = WIRE_RUNNING;
        sweep.left_seconds = 0.2;
        record_work_set_sweep(w, &sweep);
        if (write(pipe_[1], "p", 1) == 1)
            pause();
        _exit(1);
    }
    CHECK(read(pipe_[0], &byte, 1) == 1);
    CHECK_INT(record_working_list(&list), 1);
    if (list) {
        CHECK_INT(list[0].pid, child);
        CHECK_STR(list[0].run, real_run);
        CHECK(record_working_same(list[0].results, results));
        CHECK(!record_working_same(list[0].results, folder));
        CHECK(record_working_same("/not/made/yet", "/not/made/yet"));
        CHECK(!record_working_same("/not/made/yet", "/not/made") && !record_working_same("", ""));
        CHECK(list[0].full && list[0].wish == WIRE_WISH_PAUSE && list[0].runs == 1);
    }
    free(list);
    CHECK(record_working_full(run, &wish) && wish == WIRE_WISH_PAUSE);
    CHECK(!record_working_full(results, &wish) && wish == WIRE_WISH_RUN);
    CHECK(!record_working_sweep(results, "b", &told) &&
          !record_working_sweep(folder, "a b", &told));
    CHECK(record_working_sweep(results, "a b", &told));
    CHECK(told.state == WIRE_PAUSED && told.closing && told.wish == WIRE_WISH_STOP_CELLS &&
          !told.full);
    CHECK(told.cells == 12 && told.running == 2 && told.paused == 1 && told.waiting == 6);
    CHECK(wire_sweep_ended(&told) == 4 && isnan(told.left_seconds));
    CHECK(write(seen[1], "s", 1) == 1);
    CHECK(read(pipe_[0], &byte, 1) == 1);
    CHECK(!record_working_full(run, &wish) && wish == WIRE_WISH_STOP_EPOCH);
    CHECK(record_working_sweep(results, "a b", &told));
    CHECK(told.closing && told.wish == WIRE_WISH_STOP_EPOCH);
    CHECK(write(seen[1], "s", 1) == 1);
    CHECK(read(pipe_[0], &byte, 1) == 1); /* paused: it has its results, and not the machine */
    CHECK_INT(record_working_list(&list), 1);
    CHECK_INT(list ? list[0].runs : -1, 0);
    free(list);
    CHECK(record_working_sweep(results, "a b", &told));
    CHECK(told.state == WIRE_RUNNING && told.left_seconds == 1);
    /* also while it is paused */
    CHECK(!record_working_full(run, &wish) && wish == WIRE_WISH_STOP_EPOCH);
    CHECK_INT(record_computing_list(&list), 0);
    free(list);
    CHECK(record_work_claim(own));
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    CHECK_INT(help_count(working, "-"), 2);
    CHECK(!record_working_sweep(results, "a b", &told));
    CHECK_INT(record_working_list(&list), 0);
    free(list);
    CHECK_INT(help_count(working, "-"), 1); /* the dead one's file is gone */
    record_work_set(own, NULL, 0);
    CHECK_INT(help_count(working, "-"), 0);
    record_work_set(own, "", 0); /* and again */
    CHECK_INT(help_count(working, "-"), 1);
    record_work_free(own);
    CHECK_INT(help_count(working, "-"), 0);
    /* nothing of it is needed */
    setenv("CHORUS_CACHE", "/proc/nowhere", 1);
    own = record_work_new(results);
    record_work_set(own, run, 1);
    CHECK_INT(record_working_list(&list), 0);
    record_work_free(own);
    setenv("CHORUS_CACHE", "off", 1);
    own = record_work_new(results);
    record_work_set(own, run, 1);
    record_work_free(own);
    if (before)
        setenv("CHORUS_CACHE", before, 1);
    else
        unsetenv("CHORUS_CACHE");
    close(seen[0]);
    close(seen[1]);
    close(pipe_[0]);
    close(pipe_[1]);
    free(before);
    free(real_run);
    free(working);
    free(cache);
    free(run);
    free(results);
    help_remove(folder);
}

TEST(what_a_dead_taker_left_is_removed_by_the_next_one)
{
    char *results = help_folder(), *cache = help_folder(), *taking = io_path(cache, "taking");
    char *before = getenv("CHORUS_CACHE") ? mem_text(getenv("CHORUS_CACHE")) : NULL;
    struct record_work *own;
    pid_t child;

    setenv("CHORUS_CACHE", cache, 1);
    child = fork();
    if (child == 0) {
        (void)record_taking_new(results);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    CHECK_INT(help_count(taking, ""), 1);
    own = record_taking_new(results);
    CHECK_INT(help_count(taking, ""), 1);
    record_work_free(own);
    CHECK_INT(help_count(taking, ""), 0);
    if (before)
        setenv("CHORUS_CACHE", before, 1);
    else
        unsetenv("CHORUS_CACHE");
    free(before);
    free(taking);
    help_remove(cache);
    help_remove(results);
}

static int unseen(const char *path, struct stat *st)
{
    return strstr(path, ".ini") ? (errno = EIO, -1) : real.stat(path, st);
}

TEST(a_queue_that_cannot_be_looked_at_is_not_empty)
{
    char *folder = help_folder();
    struct record_queued *list;
    struct err e = {0};
    size_t n;

    REQUIRE_OK(record_queue_list(folder, &list, &n, &e));
    CHECK_INT(n, 0);
    record_queue_free(list, n);
    REQUIRE_OK(record_queue_add(folder, "lr = 0.1", "a", NULL, &e));
    real = io;
    io.stat = unseen;
    CHECK_INT(record_queue_list(folder, &list, &n, &e), ERR_IO);
    CHECK_INT(n, 0);
    io = real;
    help_remove(folder);
}

static ssize_t unread(int fd, void *to, size_t n)
{
    (void)fd;
    (void)to;
    (void)n;
    errno = EIO;
    return -1;
}

TEST(an_item_that_the_disk_hides_is_not_broken)
{
    char *folder = help_folder();
    struct record_queued item = {0};
    struct err e = {0};
    bool found;
    size_t n;

    REQUIRE_OK(record_queue_add(folder, "lr = 0.1", "a", NULL, &e));
    real = io;
    io.read = unread;
    CHECK_INT(record_queue_first(folder, &item, &found, &n, &e), ERR_IO);
    CHECK(!found);
    io = real;
    REQUIRE_OK(record_queue_first(folder, &item, &found, &n, &e));
    CHECK(found && !item.broken);
    record_queue_free_item(&item);
    help_remove(folder);
}

TEST(items_of_one_name_tell_what_differs)
{
    struct record_queued list[] = {
        {.name = "a", .text = "# options: --name a\nlr = 0.1\nbatch = 64\nepochs = 2\n"},
        {.name = "a", .text = "lr=0.2\nepochs = 2\n"},
        {.name = "b", .text = "lr = 0.3\n"},
        {.name = "a", .broken = true},
        {.name = "c", .text = "lr = 0.2\nvalid = 0\nmode = data-parallel\n"},
        {.name = "c", .text = "lr = 0.2\n"},
    };
    static const char *const want[] = {"batch=64 lr=0.1", "batch=256 lr=0.2", "", "", "", ""};
    char **label;

    for (size_t i = 0; i < MEM_COUNT(list); i++) {
        list[i].file = (char *)"1.ini";
        list[i].n = list[i].text ? strlen(list[i].text) : 0;
    }
    label = record_queue_labels(list, MEM_COUNT(list));
    for (size_t i = 0; i < MEM_COUNT(list); i++)
        CHECK_STR(label[i], want[i]);
    record_queue_free_labels(label, MEM_COUNT(list));
}
