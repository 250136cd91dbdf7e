/* A disk that is full makes training wait; one that fails ends it; nothing is lost either way. */
#include "engine/engine_int.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "tests/unit/engine/help.h"

#include <errno.h>

/* Every write that is not to log.txt fails so, while it is set. */
static atomic_int write_error;
static atomic_int failures;

/* No write ends while it is set. */
static atomic_bool slow;
static atomic_int best_files; /* written */

static ssize_t failing_write(int fd, const void *from, size_t n)
{
    int error = atomic_load(&write_error);

    while (atomic_load(&slow))
        clock_sleep_ms(1);
    if (error) {
        atomic_fetch_add(&failures, 1);
        errno = error;
        return -1;
    }
    return write(fd, from, n);
}

static void fill_disk(const struct backend_span *span)
{
    (void)span;
    atomic_store(&write_error, ENOSPC);
}

static void break_disk(const struct backend_span *span)
{
    (void)span;
    atomic_store(&write_error, EIO);
}

static int counting_rename(const char *from, const char *to)
{
    size_t n = strlen(to), ending = strlen("/best.safetensors");

    if (n > ending && !strcmp(to + n - ending, "/best.safetensors"))
        atomic_fetch_add(&best_files, 1);
    return rename(from, to);
}

static void end_the_slowness(const struct backend_span *span)
{
    (void)span;
    atomic_store(&slow, false);
}

/* Until five epochs later. */
static void slow_down(const struct backend_span *span)
{
    atomic_store(&slow, true);
    kit_happen = end_the_slowness;
    atomic_store(&kit_at, (long long)span->first_step + 30);
}

static void wait_failures(int n)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;

    while (atomic_load(&failures) < n && clock_ns() < until)
        clock_sleep_ms(1);
    CHECK(atomic_load(&failures) >= n);
}

/* The snapshot says that it waits for the disk. */
static void wait_told(struct kit *k, uint32_t number, struct wire_status *status)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;

    while (wire_status(k->wire, number, status) && status->code != ERR_IO && clock_ns() < until)
        clock_sleep_ms(1);
    CHECK_INT(status->code, ERR_IO);
}

static void begin(struct kit *k, struct spec *s, void (*happen)(const struct backend_span *),
                  int at)
{
    kit_folder(k);
    io.write = failing_write; /* before the engine's threads are there */
    atomic_store(&failures, 0);
    kit_engine(k, 4096, 1);
    kit_spec(k, s, "log_every=1", NULL);
    kit_happen = happen;
    atomic_store(&kit_at, at);
}

static void finish(struct kit *k)
{
    kit_end(k);
    io.write = write;
}

TEST(a_full_disk_is_told_in_a_few_words)
{
    struct err e = {.code = ERR_IO, .sys = EDQUOT};
    struct text words = {0};

    CHECK(write_error_is_full(&e));
    write_error_words(&e, "results", 1500000, &words);
    CHECK_STR(text_str(&words), "your quota is used up in results (1.5 MB wanted)");
    text_clear(&words);
    write_error_words(&e, "/home/somebody/with/a/very/long/way/to/her/results", 0, &words);
    CHECK_STR(text_str(&words), "your quota is used up in .../with/a/very/long/way/to/her/results");
    e.sys = ENOSPC;
    text_clear(&words);
    write_error_words(&e, "/dev/null/none", 0, &words); /* nobody knows how much is free */
    CHECK_STR(text_str(&words), "the disk is full in /dev/null/none");
    text_clear(&words);
    write_error_words(&e, "/proc", 1510000, &words); /* where nothing can be written */
    CHECK_STR(text_str(&words), "the disk is full in /proc (0 bytes free, 1.6 MB wanted)");
    text_clear(&words);
    write_error_words(&e, "/proc", 0, &words);
    CHECK_STR(text_str(&words), "the disk is full in /proc (0 bytes free)");
    text_clear(&words);
    write_error_words(&e, "/", 2000, &words); /* as much is free: not bytes are what lacks */
    CHECK_STR(text_str(&words), "the disk is full in / (2.0 kB wanted)");
    e.sys = EFBIG;
    CHECK(write_error_is_full(&e));
    text_clear(&words);
    write_error_words(&e, "results", 1500000, &words);
    CHECK_STR(text_str(&words), "a file exceeds the limit on its size (ulimit -f) in results");
    text_free(&words);
}

TEST(training_waits_until_there_is_room)
{
    for (int at = 0; at < 14; at += 6) {
        struct kit k;
        struct spec s;
        struct wire_status status, whole;
        uint32_t number;

        begin(&k, &s, fill_disk, at);
        number = kit_start(&k, &s);
        wait_failures(2);               /* also after it was tried again */
        wait_told(&k, number, &status); /* for whoever looks later */
        CHECK(!wire_state_ended(status.state));
        CHECK_HAS(status.reason, "the disk is full in ");
        CHECK(!strstr(status.reason, ".csv")); /* a screen has two rows for it */
        atomic_store(&write_error, 0);
        kit_wait(&k, number, &status);
        CHECK_INT(status.state, WIRE_DONE);
        CHECK_HAS(k.logs, " wanted): training waits until there is room");
        CHECK_HAS(k.logs, "there is room on the disk again");
        kit_run(&k, &s, &whole);
        kit_same_runs(status.path, whole.path, false);
        finish(&k);
    }
}

TEST(what_was_paused_meanwhile_stays_so_and_says_it)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    uint32_t number;

    begin(&k, &s, fill_disk, 6);
    number = kit_start(&k, &s);
    wait_failures(1);
    kit_wish(&k, number, WIRE_WISH_PAUSE);
    wait_failures(2);
    atomic_store(&write_error, 0);
    for (int i = 0; i < 5000 && !strstr(k.logs, "room on the disk again"); i++) {
        struct wire_event event;

        while (wire_take(k.wire, &event))
            kit_hear(&k, &event);
        clock_sleep_ms(1);
    }
    CHECK_HAS(k.logs, "there is room on the disk again: it is paused still");
    kit_wish(&k, number, WIRE_WISH_RUN);
    kit_wait(&k, number, &status);
    CHECK_INT(status.state, WIRE_DONE);
    finish(&k);
}

TEST(a_stop_ends_the_wait_and_the_run_can_be_resumed)
{
    struct kit k;
    struct spec s;
    struct wire_status status, whole;
    struct record_run run;
    uint32_t number;

    begin(&k, &s, fill_disk, 9);
    number = kit_start(&k, &s);
    wait_failures(1);
    kit_wish(&k, number, WIRE_WISH_STOP_NOW);
    kit_wait(&k, number, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_INT(status.code, ERR_STOPPED);
    CHECK_HAS(status.reason, "stopped while it waited for room: the disk is full in ");
    CHECK_HAS(k.logs, "chorus stop "); /* how, while it waited */
    atomic_store(&write_error, 0);
    kit_read_run(status.path, &run);
    CHECK(!wire_state_ended(run.state)); /* as it was written last */
    CHECK(!record_is_owned(status.path));
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    CHECK_INT(status.state, WIRE_DONE);
    kit_run(&k, &s, &whole);
    kit_same_runs(status.path, whole.path, false);
    finish(&k);
}

TEST(a_disk_that_fails_ends_the_run)
{
    struct kit k;
    struct spec s;
    struct wire_status status, whole;
    struct record_run run;

    begin(&k, &s, break_disk, 3); /* before the first checkpoint, at step 6 */
    kit_run(&k, &s, &status);
    CHECK_INT(status.state, WIRE_FAILED);
    CHECK_INT(status.code, ERR_IO);
    CHECK_HAS(status.reason, strerror(EIO));
    CHECK_HAS(k.logs, " begins it again: there is no checkpoint yet");
    atomic_store(&write_error, 0);
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    CHECK_INT(status.state, WIRE_DONE);
    kit_run(&k, &s, &whole);
    kit_same_runs(status.path, whole.path, false);
    kit_read_run(status.path, &run);
    atomic_store(&kit_at, run.images / run.spec.batch + 1);
    kit_wait(&k, kit_resume(&k, status.path, run.spec.epochs + 1), &status);
    CHECK_INT(status.state, WIRE_FAILED);
    CHECK_HAS(k.logs, "; chorus resume 20"); /* and the run's name */
    CHECK_HAS(k.logs, " goes on from its last checkpoint");
    atomic_store(&write_error, 0);
    finish(&k);
}

/* Each epoch is the best so far, and must be kept: a newer one takes the memory of one that waits. */
TEST(training_does_not_wait_for_a_disk_that_takes_its_time)
{
    struct kit k;
    struct spec s;
    struct wire_status status, whole;

    begin(&k, &s, slow_down, 7);
    kit_set(&s, "epochs=8");
    kit_run(&k, &s, &status);
    CHECK_INT(status.state, WIRE_DONE);
    kit_run(&k, &s, &whole);
    kit_same_runs(status.path, whole.path, false);
    kit_same_weights(status.path, whole.path, "best.safetensors");
    finish(&k);
}

static struct snapshot *snapshot_of(struct run *r, int64_t epoch)
{
    struct snapshot *s = mem_new(1, sizeof *s);

    s->of = r;
    s->at.n.epoch = epoch;
    return s;
}

static void keep_epoch(struct run *r, int64_t epoch, bool best)
{
    struct message m = {.kind = MESSAGE_SNAPSHOT, .best = best, .snapshot = snapshot_of(r, epoch)};

    checkpoint_take(r, &m);
}

/* How much room there is when the next epoch, the best or not, wants some. */
static int replaced(struct run *r, bool best)
{
    r->rooms = 0;
    checkpoint_replace(r, best);
    return r->rooms;
}

TEST(what_waits_is_replaced_by_what_says_the_same_and_more)
{
    struct plan *plan = mem_new(1, sizeof *plan);
    struct message sent = {.kind = MESSAGE_SNAPSHOT};
    struct run r = {.plan = plan};

    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.changed, NULL);
    plan->spec.keep = SPEC_KEEP_LAST | SPEC_KEEP_BEST;
    keep_epoch(&r, 5, true);
    CHECK_INT(replaced(&r, false), 0);
    CHECK_INT(replaced(&r, true), 1);
    CHECK(!r.best_wanted && !r.last_wanted);

    keep_epoch(&r, 6, true); /* the one behind it speaks of it: that one goes first */
    keep_epoch(&r, 7, false);
    CHECK_INT(replaced(&r, true), 1);
    CHECK(r.best_wanted && !r.last_wanted);
    sent.snapshot = snapshot_of(&r, 7);
    sent.urgent = true;
    r.first = r.last = &sent;
    CHECK_INT(replaced(&r, true), 0);
    sent.urgent = false;
    CHECK_INT(replaced(&r, false), 1);
    CHECK(!sent.snapshot && r.best_wanted);

    plan->spec.keep |= SPEC_KEEP_ALL;
    keep_epoch(&r, 8, true);
    CHECK_INT(replaced(&r, true), 0);
    checkpoint_drop(&r);
    CHECK(!r.best_wanted && !r.named_wanted && !r.last_wanted);
    pthread_cond_destroy(&r.changed);
    pthread_mutex_destroy(&r.lock);
    free(plan);
}

/* Of which there is one copy. */
TEST(a_large_state_is_written_once_a_second_too)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    uint64_t start;

    kit_folder(&k);
    kit_write(k.model, "input 1 8 8\ndense 2048\nrelu\ndense 2048\nrelu\ndense classes\n");
    io.rename = counting_rename;
    atomic_store(&best_files, 0);
    kit_engine(&k, 4096, 0);
    /* of so many test images each epoch has more right: none but the best waits for the disk */
    kit_spec(&k, &s, "epochs=8", "test_limit=1000", NULL);
    start = clock_ns();
    kit_run(&k, &s, &status);
    CHECK_INT(status.state, WIRE_DONE);
    kit_read_run(status.path, &run);
    CHECK_INT(run.best_epoch, 8);
    CHECK((uint64_t)atomic_load(&best_files) <= 2 + (clock_ns() - start) / 1000000000);
    kit_end(&k);
    io.rename = rename;
}

TEST(a_folder_that_cannot_be_made_is_refused)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    char **names;
    size_t n = 0;

    begin(&k, &s, NULL, -1);
    atomic_store(&write_error, ENOSPC);
    kit_run(&k, &s, &status);
    atomic_store(&write_error, 0);
    CHECK_INT(status.state, WIRE_FAILED);
    CHECK_INT(k.refused_code, ERR_IO);
    CHECK_STR(status.path, "");
    if (io_list_folder(k.results, &names, &n, NULL) == ERR_OK)
        io_free_names(names, n);
    CHECK_INT(n, 0);
    finish(&k);
}
