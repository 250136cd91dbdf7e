/* Every file operation of the writer fails once, at each place in turn: the old content or the new
 * stands, nothing half is left under any name, and the error says so. Then the same with a disk that
 * is full in the middle of a write, and with one that fails for good. */
#include "base/log.h"
#include "base/process.h"
#include "record/file/disk.h"
#include "record/list.h"
#include "record/queue/queue.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "record/trash.h"
#include "tests/unit/record/help.h"

#include <errno.h>
#include <sys/file.h>

enum fault { FAULT_ONCE, FAULT_SHORT, FAULT_FOR_GOOD, FAULTS };

static struct io_table real;
static enum fault fault;
static long fault_at, operations; /* 0: no fault */
static bool fault_hit, disk_full;

/* Whether the operation that begins now fails. */
static bool fails(bool is_write)
{
    operations++;
    if (!fault_at)
        return false;
    if (is_write && disk_full) {
        disk_full = false;
        errno = ENOSPC;
        return true;
    }
    if (fault == FAULT_FOR_GOOD ? operations < fault_at : operations != fault_at)
        return false;
    if (fault == FAULT_SHORT && !is_write)
        return false;
    fault_hit = true;
    errno = is_write ? ENOSPC : EIO;
    return true;
}

static int fault_open(const char *path, int flags, mode_t mode)
{
    return fails(false) ? -1 : real.open(path, flags, mode);
}
static ssize_t fault_read(int fd, void *to, size_t n)
{
    return fails(false) ? -1 : real.read(fd, to, n);
}
static ssize_t fault_write(int fd, const void *from, size_t n)
{
    bool full = disk_full;

    if (!fails(true))
        return real.write(fd, from, n);
    if (fault != FAULT_SHORT || full || n < 2)
        return -1;
    disk_full = true;
    return real.write(fd, from, n / 2);
}
static off_t fault_seek(int fd, off_t offset, int whence)
{
    return fails(false) ? -1 : real.seek(fd, offset, whence);
}
/* Nothing here is about lost power, and the disk would be all that the tests wait for. */
static int no_sync(int fd)
{
    return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
}
static int fault_sync(int fd)
{
    return fails(false) ? -1 : real.sync(fd);
}
static int fault_truncate(int fd, off_t length)
{
    return fails(false) ? -1 : real.truncate(fd, length);
}
static int fault_close(int fd)
{
    bool failed = fails(false); /* the descriptor is gone all the same */
    int result = real.close(fd);

    if (!failed)
        return result;
    errno = EIO;
    return -1;
}
static int fault_rename(const char *from, const char *to)
{
    return fails(false) ? -1 : real.rename(from, to);
}
static int fault_unlink(const char *path)
{
    return fails(false) ? -1 : real.unlink(path);
}
static int fault_mkdir(const char *path, mode_t mode)
{
    return fails(false) ? -1 : real.mkdir(path, mode);
}
static int fault_rmdir(const char *path)
{
    return fails(false) ? -1 : real.rmdir(path);
}
static int fault_stat(const char *path, struct stat *st)
{
    return fails(false) ? -1 : real.stat(path, st);
}
static int fault_fstat(int fd, struct stat *st)
{
    return fails(false) ? -1 : real.fstat(fd, st);
}
static int fault_lock(int fd, int operation)
{
    return fails(false) ? -1 : real.lock(fd, operation);
}

static void arm(enum fault kind, long at)
{
    io = (struct io_table){fault_open,     fault_read,  fault_write,  fault_seek,   fault_sync,
                           fault_truncate, fault_close, fault_rename, fault_unlink, fault_mkdir,
                           fault_rmdir,    fault_stat,  fault_fstat,  fault_lock};
    fault = kind;
    fault_at = at;
    operations = 0;
    fault_hit = disk_full = false;
}

static void disarm(void)
{
    io = real;
}

/* Runs the scenario with the fault at each place until it gets through without meeting it. */
static void at_every_place(void (*scenario)(enum fault kind, long at))
{
    log_to(NULL, NULL);
    io.sync = no_sync;
    real = io;
    for (int kind = 0; kind < FAULTS; kind++) {
        long at = 1;
        do {
            int before = test_failures;
            scenario((enum fault)kind, at);
            if (test_failures > before)
                printf("    with fault %d at operation %ld\n", kind, at);
        } while (operations >= at++);
        if (at < 4)
            TEST_FAILED("fault %d: only %ld operations were seen", kind, at);
    }
}

static struct record_epoch epoch_row(int64_t epoch)
{
    return (struct record_epoch){.epoch = epoch, .step = epoch, .ended_utc = "now"};
}

static struct record *new_run(char **results)
{
    struct err e = {0};
    struct record_run *run = help_run();
    struct record *r = NULL;

    *results = help_folder();
    if (record_create(&r, *results, run, "epochs = 1\n", "", true, &e) != ERR_OK) {
        printf("%s\n", e.text);
        exit(1);
    }
    free(run);
    return r;
}

static enum err_code save(struct record *r, const char *as, float value, struct err *e)
{
    float numbers[64];
    struct safetensors_tensor t = {
        .name = "params/a", .type = SAFETENSORS_F32, .dims = 1, .shape = {64}, .bytes = numbers};
    struct safetensors_note note = {"chorus.step", "1"};

    for (int i = 0; i < 64; i++)
        numbers[i] = value;
    return record_checkpoint(r, as, &t, 1, &note, 1, e);
}

/* The value of the newest whole checkpoint, -1 where there is none. */
static float saved(const char *folder)
{
    struct err e = {0};
    struct safetensors s;
    bool found;
    float value = -1;

    if (record_read_checkpoint(folder, &s, &found, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
    } else if (found) {
        value = ((const float *)s.tensor[0].bytes)[0];
        safetensors_free(&s);
    }
    return value;
}

static void checkpoint_with_fault(enum fault kind, long at)
{
    struct err e = {0};
    char *results;
    struct record *r = new_run(&results);
    enum err_code code;
    float now;

    REQUIRE_OK(save(r, "checkpoint", 1, &e));
    REQUIRE_OK(save(r, "checkpoint", 2, &e));
    arm(kind, at);
    code = save(r, "checkpoint", 3, &e);
    disarm();
    now = saved(record_folder(r));
    if (code == ERR_OK) {
        CHECK(now == 3);
    } else {
        CHECK_INT(code, ERR_IO);
        CHECK_HAS(e.text, record_folder(r));
        CHECK(now == 2 || now == 3);
    }
    if (kind != FAULT_FOR_GOOD)
        CHECK_INT(help_count(record_folder(r), ".tmp"), 0);
    REQUIRE_OK(save(r, "checkpoint", 4, &e)); /* and the next one goes through */
    CHECK(saved(record_folder(r)) == 4);
    record_close(r);
    help_remove(results);
}

TEST(checkpoint)
{
    at_every_place(checkpoint_with_fault);
}

static void first_checkpoint_with_fault(enum fault kind, long at)
{
    struct err e = {0};
    char *results;
    struct record *r = new_run(&results);
    enum err_code code;
    float now;

    arm(kind, at);
    code = save(r, "checkpoint", 3, &e);
    disarm();
    now = saved(record_folder(r));
    CHECK(code == ERR_OK ? now == 3 : now == -1 || now == 3);
    record_close(r);
    help_remove(results);
}

TEST(first_checkpoint)
{
    at_every_place(first_checkpoint_with_fault);
}

static void best_with_fault(enum fault kind, long at)
{
    struct err e = {0};
    char *results, *path;
    struct record *r = new_run(&results);
    struct safetensors s;
    enum err_code code;

    REQUIRE_OK(save(r, "best", 1, &e));
    arm(kind, at);
    code = save(r, "best", 2, &e);
    disarm();
    path = io_path(record_folder(r), "best.safetensors");
    REQUIRE_OK(safetensors_read(path, &s, &e));
    CHECK(((const float *)s.tensor[0].bytes)[63] == 2 || code != ERR_OK);
    if (kind != FAULT_FOR_GOOD)
        CHECK_INT(help_count(record_folder(r), ".tmp"), 0);
    safetensors_free(&s);
    free(path);
    record_close(r);
    help_remove(results);
}

TEST(best)
{
    at_every_place(best_with_fault);
}

static void export_with_fault(enum fault kind, long at)
{
    static const float one[2] = {1, 1}, two[2] = {2, 2};
    struct safetensors_tensor t = {
        .name = "a", .type = SAFETENSORS_F32, .dims = 1, .shape = {2}, .bytes = one};
    struct err e = {0};
    char *folder = help_folder(), *path = io_path(folder, "w.safetensors");
    struct safetensors s;
    enum err_code code;

    REQUIRE_OK(safetensors_write(path, &t, 1, NULL, 0, &e));
    t.bytes = two;
    arm(kind, at);
    code = safetensors_write(path, &t, 1, NULL, 0, &e);
    disarm();
    REQUIRE_OK(safetensors_read(path, &s, &e));
    CHECK(((const float *)s.tensor[0].bytes)[1] == 2 || code != ERR_OK);
    if (kind != FAULT_FOR_GOOD)
        CHECK_INT(help_count(folder, ""), 1);
    safetensors_free(&s);
    free(path);
    help_remove(folder);
}

TEST(exported_file)
{
    at_every_place(export_with_fault);
}

static void run_csv_with_fault(enum fault kind, long at)
{
    struct err e = {0};
    char *results;
    struct record *r = new_run(&results);
    struct record_run *run = help_run();
    struct record_entry entry;
    enum err_code code;

    run->epochs_done = 5;
    arm(kind, at);
    code = record_write_run(r, run, &e);
    disarm();
    REQUIRE_OK(record_read_entry(record_folder(r), &entry, &e));
    CHECK(!entry.broken);
    CHECK(entry.run.epochs_done == 5 || (code != ERR_OK && entry.run.epochs_done == 0));
    if (kind != FAULT_FOR_GOOD)
        CHECK_INT(help_count(record_folder(r), ".tmp"), 0);
    record_free_entry(&entry);
    free(run);
    record_close(r);
    help_remove(results);
}

TEST(run_csv)
{
    at_every_place(run_csv_with_fault);
}

static void create_with_fault(enum fault kind, long at)
{
    struct err e = {0};
    char *results = help_folder();
    struct record_run *run = help_run();
    struct record *r;
    struct record_entry *list;
    size_t count;
    enum err_code code;

    arm(kind, at);
    code = record_create(&r, results, run, "epochs = 1\n", "", true, &e);
    disarm();
    CHECK((code == ERR_OK) == (r != NULL));
    if (code == ERR_OK)
        CHECK_INT(help_count(record_folder(r), ""), 10);
    else if (kind != FAULT_FOR_GOOD)
        CHECK_INT(help_count(results, ""), 0);
    REQUIRE_OK(record_list(results, &list, &count, &e));
    for (size_t i = 0; i < count; i++) {
        CHECK(!list[i].broken); /* whoever lists sees whole runs */
        CHECK_INT(help_count(list[i].folder, ""), 10);
    }
    CHECK(count == 1 || code != ERR_OK);
    record_free_list(list, count);
    record_close(r);
    free(run);
    help_remove(results);
}

TEST(new_folder)
{
    at_every_place(create_with_fault);
}

static bool has_text(const char *folder, const char *name, const char *want)
{
    char *have = help_text(folder, name);
    bool has = have && !strcmp(have, want);

    free(have);
    return has;
}

static void remove_inputs(const char *folder)
{
    static const char *const names[] = {"experiment.ini", "model.net", "lock"};

    for (size_t i = 0; i < MEM_COUNT(names); i++) {
        char *path = io_path(folder, names[i]);

        CHECK_INT(unlink(path), 0);
        free(path);
    }
}

static void mend_with_fault(enum fault kind, long at)
{
    struct err e = {0};
    struct text names = {0};
    char *results;
    struct record *r = new_run(&results), *second;
    const char *folder = record_folder(r);
    enum err_code code;

    remove_inputs(folder);
    arm(kind, at);
    code = record_mend(r, "epochs = 1\n", "relu\n", &names, &e);
    disarm();
    CHECK(code == ERR_OK || strstr(e.text, folder));
    CHECK(!strstr(text_str(&names), "experiment.ini") ||
          has_text(folder, "experiment.ini", "epochs = 1\n"));
    CHECK(!strstr(text_str(&names), "model.net") || has_text(folder, "model.net", "relu\n"));
    if (!fault_hit) {
        CHECK_STR(text_str(&names), "experiment.ini, model.net");
        CHECK_INT(record_open(&second, folder, &e), ERR_FAILED);
        CHECK_HAS(e.text, "is at work already");
    }
    text_free(&names);
    record_close(r);
    help_remove(results);
}

/* The removed lock file hides the owner, so that its new model.net alone keeps a second one out. */
TEST(inputs_that_were_removed)
{
    at_every_place(mend_with_fault);
}

static void rows_with_fault(enum fault kind, long at)
{
    struct err e = {0};
    char *results, *head, *have, *folder;
    struct record *r = new_run(&results);
    struct text want = {0};

    folder = mem_text(record_folder(r));
    head = help_text(folder, "epochs.csv");
    text_add(&want, head);
    arm(kind, at);
    for (int i = 1; i <= 6; i++) {
        struct record_epoch row = epoch_row(i);
        if (i == 6)
            disarm(); /* there is room again */
        if (record_add_epoch(r, &row, &e) == ERR_OK) {
            text_addf(&want, "%d,%d,0,0%s,now\n", i, i,
                      ",0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
        } else {
            CHECK_INT(e.code, ERR_IO);
            CHECK_HAS(e.text, "epochs.csv");
        }
    }
    have = help_text(folder, "epochs.csv");
    CHECK_STR(have, text_str(&want));
    text_free(&want);
    free(have);
    free(head);
    free(folder);
    record_close(r);
    help_remove(results);
}

TEST(rows)
{
    at_every_place(rows_with_fault);
}

/* Predictions of a run are kept by programs that do not own it, and may be written as it goes on. */
TEST(drafts_of_predictions_stay_while_their_program_lives)
{
    char *results, *folder, *mark = process_mark(), *dead = mem_text(mark), *mine;
    struct record *r = new_run(&results);
    struct err e;

    folder = mem_text(record_folder(r));
    record_close(r);
    *strrchr(dead, '-') = 0;
    mine = mem_textf(".predictions.safetensors.tmp-%s", mark);
    help_put(folder, mine, "half", 4);
    free(mark);
    mark = dead;
    dead = mem_textf(".predictions.safetensors.tmp-%s-2147483647", mark); /* no process has it */
    help_put(folder, dead, "half", 4);
    help_put(folder, ".checkpoint.safetensors.tmp", "half", 4);
    REQUIRE_OK(record_open(&r, folder, &e));
    CHECK_INT(help_count(folder, ".tmp"), 1);
    CHECK_INT(help_count(folder, mine), 1);
    record_close(r);
    free(mine);
    free(mark);
    free(dead);
    free(folder);
    help_remove(results);
}

static void reopen_with_fault(enum fault kind, long at)
{
    struct err e = {0};
    char *results, *folder, *want, *torn, *have;
    struct record *r = new_run(&results);
    struct record_epoch row = epoch_row(1), newer = epoch_row(2);
    enum err_code code;

    REQUIRE_OK(record_add_epoch(r, &row, &e));
    folder = mem_text(record_folder(r));
    want = help_text(folder, "epochs.csv");
    REQUIRE_OK(record_add_epoch(r, &newer, &e));
    record_close(r);
    have = help_text(folder, "epochs.csv");
    torn = mem_textf("%s3,3,0", have);
    help_put(folder, "epochs.csv", torn, strlen(torn));
    help_put(folder, "run.csv.tmp-1", "half", 4);
    free(have);

    arm(kind, at);
    code = record_open(&r, folder, &e);
    if (code == ERR_OK)
        code = record_cut(r, 1, 1, &e);
    disarm();
    if (code != ERR_OK) {
        CHECK(e.code == ERR_IO || e.code == ERR_INPUT || e.code == ERR_FAILED);
        record_close(r);
        CHECK(!record_is_owned(folder));
        REQUIRE_OK(record_open(&r, folder, &e));
        REQUIRE_OK(record_cut(r, 1, 1, &e));
    }
    have = help_text(folder, "epochs.csv");
    CHECK_STR(have, want);
    record_close(r);
    free(have);
    free(want);
    free(torn);
    free(folder);
    help_remove(results);
}

TEST(going_on)
{
    at_every_place(reopen_with_fault);
}

static void read_with_fault(enum fault kind, long at)
{
    struct err e = {0};
    char *results;
    struct record *r = new_run(&results);
    struct safetensors s;
    bool found = false;
    enum err_code code;

    REQUIRE_OK(save(r, "checkpoint", 1, &e));
    REQUIRE_OK(save(r, "checkpoint", 2, &e));
    arm(kind, at);
    code = record_read_checkpoint(record_folder(r), &s, &found, &e);
    disarm();
    /* never "there is none": that would begin at step 0 and cut every row */
    CHECK(found == (code == ERR_OK));
    if (found) {
        float value = ((const float *)s.tensor[0].bytes)[0];
        CHECK(value == 2 || (fault_hit && value == 1));
        safetensors_free(&s);
    }
    record_close(r);
    help_remove(results);
}

TEST(reading_a_checkpoint)
{
    at_every_place(read_with_fault);
}

static void control_with_fault(enum fault kind, long at)
{
    struct err e = {0};
    char *results, line[32];
    struct record *r = new_run(&results);
    enum err_code code;

    arm(kind, at);
    code = record_control(record_folder(r), "pause", &e);
    disarm();
    if (code == ERR_OK) {
        REQUIRE(record_next_control(r, line, sizeof line));
        CHECK_STR(line, "pause");
    }
    REQUIRE_OK(record_control(record_folder(r), "go", &e));
    arm(kind, at);
    while (record_next_control(r, line, sizeof line))
        ;
    disarm();
    while (record_next_control(r, line, sizeof line))
        ;
    CHECK(!record_next_control(r, line, sizeof line));
    record_close(r);
    help_remove(results);
}

TEST(control)
{
    at_every_place(control_with_fault);
}

static int read_only_open(const char *path, int flags, mode_t mode)
{
    if ((flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT) {
        errno = EROFS;
        return -1;
    }
    return real.open(path, flags, mode);
}

static int read_only_mkdir(const char *path, mode_t mode)
{
    (void)mode;
    errno = io_exists(path) ? EEXIST : EROFS;
    return -1;
}

static int forbidden_mkdir(const char *path, mode_t mode)
{
    (void)mode;
    errno = io_exists(path) ? EEXIST : EACCES;
    return -1;
}

static int forbidden_rename(const char *from, const char *to)
{
    (void)from;
    (void)to;
    errno = EROFS;
    return -1;
}

static int forbidden_epochs(const char *path, int flags, mode_t mode)
{
    if (strstr(path, "/epochs.csv") && (flags & O_ACCMODE) != O_RDONLY) {
        errno = EACCES;
        return -1;
    }
    return real.open(path, flags, mode);
}

/* One sentence whatever is tried; --results helps only what is not there yet. */
TEST(results_that_can_only_be_read)
{
    static const char *const elsewhere = "; --results DIR keeps runs in another folder";
    struct err e = {0};
    char *results, *to, *want;
    struct record *r = new_run(&results);
    char *folder = mem_text(record_folder(r));
    struct record_run *run = help_run();
    struct record_entry entry;

    record_close(r);
    REQUIRE_OK(record_read_entry(folder, &entry, &e));
    real = io;
    io.open = read_only_open;
    io.mkdir = read_only_mkdir;
    want = mem_textf("nothing can be written in %s: Read-only file system", results);
    CHECK_INT(record_remove(&entry, &to, &e), ERR_IO);
    CHECK_STR(e.text, want);
    CHECK_INT(record_edit(folder, "tag +paper", &e), ERR_IO);
    CHECK_STR(e.text, want);
    CHECK_INT(record_open(&r, folder, &e), ERR_IO);
    CHECK_STR(e.text, want);
    free(want);
    want = mem_textf("nothing can be written in %s: Read-only file system%s", results, elsewhere);
    CHECK_INT(record_queue_add(results, "epochs = 1\n", "more", NULL, &e), ERR_IO);
    CHECK_STR(e.text, want);
    CHECK(record_create(&r, results, run, "epochs = 1\n", "", false, &e) != ERR_OK);
    CHECK_HAS(e.text, results);
    CHECK(!strstr(e.text, elsewhere));
    CHECK_INT(record_say_elsewhere(results, &e), ERR_IO);
    CHECK_STR(e.text, want);
    free(want);
    io = real;
    free(run);
    record_free_entry(&entry);
    free(folder);
    help_remove(results);
}

/* The run may be changed, the folder that it lies in may not. */
TEST(results_that_no_run_can_leave)
{
    struct err e = {0};
    char *results, *to, *want;
    struct record *r = new_run(&results);
    char *folder = mem_text(record_folder(r));
    struct record_entry entry;

    record_close(r);
    REQUIRE_OK(record_read_entry(folder, &entry, &e));
    real = io;
    io.mkdir = forbidden_mkdir;
    want = mem_textf("cannot make folder %s/trash: Permission denied", results);
    CHECK_INT(record_remove(&entry, &to, &e), ERR_IO);
    CHECK_STR(e.text, want);
    free(want);
    io = real;
    io.rename = forbidden_rename;
    want = mem_textf("nothing can be written in %s: Read-only file system", results);
    CHECK_INT(record_remove(&entry, &to, &e), ERR_IO);
    CHECK_STR(e.text, want);
    io = real;
    free(want);
    record_free_entry(&entry);
    free(folder);
    help_remove(results);
}

/* A run of this user in results of another one is named. */
TEST(what_only_another_user_may_write_to)
{
    if (!geteuid() && (seteuid(65534) || seteuid(0)))
        SKIP("root may not become another user here");

    struct err e = {0};
    char *results, *want, *to;
    struct record *r = new_run(&results);
    char *folder = mem_text(record_folder(r)), *lock = io_path(folder, "lock");
    char *control = io_path(folder, "control");
    struct record_entry entry;
    bool root = !geteuid();

    REQUIRE_OK(record_read_entry(folder, &entry, &e));
    REQUIRE(!chmod(lock, 0444) && !chmod(control, 0444));
    REQUIRE(!chmod(folder, 0555) && !chmod(results, 0555));
    REQUIRE(!root || !seteuid(65534));
    if (!faccessat(AT_FDCWD, folder, R_OK | X_OK, AT_EACCESS)) {
        want = mem_textf("nothing can be written in %s: Permission denied", results);
        CHECK_INT(record_control(folder, "pause", &e), ERR_IO);
        CHECK_STR(e.text, want);
        CHECK_INT(record_edit(folder, "tag +paper", &e), ERR_IO); /* its owner cannot be told */
        CHECK_STR(e.text, want);
        record_close(r);
        CHECK_INT(record_edit(folder, "tag +paper", &e), ERR_IO);
        CHECK_STR(e.text, want);
        CHECK_INT(record_remove(&entry, &to, &e), ERR_IO);
        CHECK_STR(e.text, want);
        CHECK_INT(record_open(&r, folder, &e), ERR_IO);
        CHECK_STR(e.text, want);
        CHECK_INT(record_queue_add(results, "epochs = 1\n", "more", NULL, &e), ERR_IO);
        CHECK(!strncmp(e.text, want, strlen(want)));
        CHECK_HAS(e.text, "; --results DIR keeps runs in another folder");
        free(want);
        REQUIRE((!root || !seteuid(0)) && !chmod(folder, 0777));
        REQUIRE(!root || !seteuid(65534));
        want = mem_textf("cannot open %s: Permission denied", lock);
        CHECK_INT(record_edit(folder, "tag +paper", &e),
                  ERR_IO); /* a file of it alone is protected */
        CHECK_STR(e.text, want);
        free(want);
        REQUIRE((!root || !seteuid(0)) && !chmod(lock, 0666));
        REQUIRE(!root || !seteuid(65534));
        want = mem_textf("nothing can be written in %s: Permission denied", results);
        CHECK_INT(record_remove(&entry, &to, &e), ERR_IO);
        CHECK_STR(e.text, want);
        free(want);
        REQUIRE((!root || !seteuid(0)) && !chmod(lock, 0444) && !chmod(folder, 0555) &&
                !chmod(results, 0777));
        REQUIRE(!root || !seteuid(65534));
        want = mem_textf("nothing can be written in %s: Permission denied", folder);
        CHECK_INT(record_edit(folder, "tag +paper", &e), ERR_IO);
        CHECK_STR(e.text, want);
        free(want);
    } else {
        record_close(r);
    }
    REQUIRE(!root || !seteuid(0));
    REQUIRE(!chmod(folder, 0755) && !chmod(results, 0755));
    record_free_entry(&entry);
    free(control);
    free(lock);
    free(folder);
    help_remove(results);
}

static int busy_locks;

static int busy_lock(int fd, int what)
{
    if (busy_locks > 0) {
        busy_locks--;
        errno = EWOULDBLOCK;
        return -1;
    }
    return real.lock(fd, what);
}

TEST(an_edit_outlasts_a_control_that_others_are_writing)
{
    struct err e = {0};
    char *results;
    struct record *r = new_run(&results);
    char *folder = mem_text(record_folder(r));
    struct record_entry entry;

    record_close(r);
    real = io;
    io.lock = busy_lock;
    busy_locks = 110; /* more than one line is tried for */
    REQUIRE_OK(record_edit(folder, "tag +paper", &e));
    CHECK_INT(busy_locks, 0);
    io = real;
    REQUIRE_OK(record_read_entry(folder, &entry, &e));
    CHECK_HAS(entry.run.tags, "paper");
    record_free_entry(&entry);
    free(folder);
    help_remove(results);
}

TEST(a_file_that_can_only_be_read_is_named)
{
    struct err e = {0};
    char *results, *want;
    struct record *r = new_run(&results);
    char *folder = mem_text(record_folder(r));

    record_close(r);
    real = io;
    io.open = forbidden_epochs;
    want = mem_textf("cannot open %s/epochs.csv: Permission denied", folder);
    CHECK_INT(record_open(&r, folder, &e), ERR_IO);
    CHECK_STR(e.text, want);
    io = real;
    free(want);
    free(folder);
    help_remove(results);
}

TEST(a_full_disk_has_the_same_advice)
{
    struct err e = {.code = ERR_IO, .sys = ENOSPC, .text = "cannot write x"};

    CHECK_INT(record_say_elsewhere("results", &e), ERR_IO);
    CHECK_STR(e.text, "nothing can be written in results: No space left on device; make room, or "
                      "--results DIR keeps runs in another folder");
    e = (struct err){.code = ERR_IO, .sys = ENOENT, .text = "cannot make folder x"};
    CHECK_INT(record_say_elsewhere("results", &e), ERR_IO);
    CHECK_STR(e.text, "cannot make folder x; --results DIR keeps runs in another folder");
}
