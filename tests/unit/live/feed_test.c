/* Runs as they go: from events, from files that grow, after events were lost, of other processes. */
#include "draw/grid.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "record/working.h"
#include "tests/unit/live/feed_kit.h"
#include "ui/app/status.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static struct record_run *plain_run(int64_t epochs)
{
    struct record_run *run = help_run();

    run->spec.epochs = epochs;
    run->spec.batch = 10;
    snprintf(run->run, sizeof run->run, "lenet");
    return run;
}

TEST(numbers_are_read_as_the_c_library_reads_them)
{
    static const char *const words[] = {"0",
                                        "-0",
                                        "1",
                                        "0.1",
                                        "1e-05",
                                        "1e22",
                                        "123456.5",
                                        "0.30000000000000004",
                                        "inf",
                                        "-inf",
                                        "5e-324",
                                        "1.7976931348623157e+308",
                                        "12345678901234567890"};
    uint64_t bits = 1;

    for (size_t i = 0; i < MEM_COUNT(words); i++)
        CHECK(feed_number(words[i], strlen(words[i])) == strtod(words[i], NULL));
    CHECK(isnan(feed_number("", 0)));
    CHECK(isnan(feed_number("nan", 3)));
    CHECK(isnan(feed_number("1x", 2)));
    CHECK(isnan(feed_number("-", 1)));
    CHECK(isnan(feed_number(".", 1)));
    for (int i = 0; i < 20000; i++) {
        char word[TEXT_NUMBER_ROOM];
        double value;

        bits = bits * 6364136223846793005u + 1442695040888963407u;
        value = (double)(bits >> 20) / (double)(1ull << (bits & 63));
        text_double(word, value);
        if (feed_number(word, strlen(word)) != value)
            TEST_FAILED("%s is read as %.17g", word, feed_number(word, strlen(word)));
    }
}

TEST(a_run_of_this_process_by_events_and_rows)
{
    struct text words = {0};
    struct record_run *run = plain_run(4);
    struct feed_run *r;
    struct record *record;
    struct kit k;

    kit_open(&k, 64);
    record = kit_run(&k, run);
    kit_state(&k, 7, record_folder(record), WIRE_RUNNING, "");
    kit_started(&k, 7, record_folder(record), &run->spec, 100);
    CHECK(feed_take(k.feed, NULL, NULL));
    REQUIRE(feed_count(k.feed) == 1);
    r = feed_current(k.feed);
    feed_watch(k.feed, r);
    CHECK(r->own && r->live && r->known);
    CHECK_STR(r->name, run->run);
    CHECK(feed_busy(k.feed));
    status_add_busy(k.feed, &words);
    CHECK_STR(text_str(&words) + strcspn(text_str(&words), " "), " trains here, epoch 1 of 4.");
    text_free(&words);
    CHECK(isnan(r->left_seconds));

    kit_told_step(&k, 7, 50, 5);
    kit_told_step(&k, 7, 100, 10);
    kit_step(record, 50, 0, 0.9);
    kit_step(record, 100, 0, 0.6);
    kit_epoch(record, 1, 100, 0.5, 0.8);
    kit_pass(1);
    CHECK(feed_take(k.feed, NULL, NULL));
    CHECK_INT(r->step, 100);
    CHECK_INT(r->epoch, 1);
    CHECK_NEAR(r->epoch_share, 1, 0);
    CHECK_INT(r->epochs.n, 1);
    CHECK_NEAR(r->best_acc, 0.8, 1e-12);
    CHECK_INT(r->steps.n, 2);
    CHECK_NEAR(r->steps.loss[1], 0.6, 1e-12);
    /* 300 steps of 0.1 s, and 4 evaluations of 2 s: the first epoch's may still be under way */
    CHECK_NEAR(r->left_seconds, 300 * 0.1 + 4 * 2, 1e-9);
    CHECK_NEAR(r->run_share, 0.25, 1e-12);

    kit_epoch(record, 2, 100, 0.4, 0.79);
    kit_state(&k, 7, record_folder(record), WIRE_DIVERGED, "the loss is not finite at step 201");
    kit_pass(1);
    CHECK(feed_take(k.feed, NULL, NULL));
    CHECK(r->state == WIRE_DIVERGED && !r->live);
    CHECK_STR(r->reason, "the loss is not finite at step 201");
    CHECK_INT(r->epochs.n, 2);
    CHECK_INT(r->best_epoch, 1);
    CHECK(isnan(r->left_seconds));
    CHECK(!feed_busy(k.feed));
    kit_pass(10);
    feed_take(k.feed, NULL, NULL);
    kit_pass(10);
    CHECK(!feed_take(k.feed, NULL, NULL));
    record_close(record);
    free(run);
    kit_close(&k);
}

TEST(what_events_lost_stands_in_the_snapshot_and_in_files)
{
    struct record_run *run = plain_run(2);
    struct record *record;
    struct feed_run *r;
    struct kit k;

    kit_open(&k, 2);
    record = kit_run(&k, run);
    for (int i = 1; i < 10; i++)
        kit_told_step(&k, 3, i, i);
    kit_epoch(record, 1, 9, 0.5, 0.8);
    kit_started(&k, 3, record_folder(record), &run->spec, 9);
    kit_state(&k, 3, record_folder(record), WIRE_DONE, "");
    CHECK(feed_take(k.feed, NULL, NULL));
    REQUIRE(feed_count(k.feed) == 1);
    r = feed_at(k.feed, 0);
    CHECK(r->state == WIRE_DONE && r->known);
    CHECK_STR(r->path, record_folder(record));
    CHECK_INT(r->epochs.n, 1);
    CHECK_INT(r->facts.epochs, 2);
    record_close(record);
    free(run);
    kit_close(&k);
}

static uint64_t late_ns(void) /* whatever is done between two looks at it takes a millisecond */
{
    return kit_now += 1000000;
}

TEST(what_events_lost_of_many_runs_is_read_over_several_takes)
{
    enum { RUNS = 60 };
    struct kit k;
    size_t known = 0, takes = 0;

    kit_open(&k, 4);
    feed_set_clock(k.feed, late_ns);
    for (uint32_t i = 1; i <= RUNS; i++) {
        struct record_run *run = plain_run(1);
        struct record *r;

        snprintf(run->spec.name, sizeof run->spec.name, "r%u", i);
        r = kit_run(&k, run);
        kit_state(&k, i, record_folder(r), WIRE_RUNNING, ""); /* most of them are dropped */
        record_close(r);
        free(run);
    }
    while (known < RUNS && takes++ < 200) {
        uint64_t began = kit_now;

        (void)feed_take(k.feed, NULL, NULL);
        CHECK(kit_now - began < 200 * 1000000ull);
        known = 0;
        for (size_t i = 0; i < feed_count(k.feed); i++)
            known += feed_at(k.feed, i)->known;
    }
    CHECK_INT(known, RUNS);
    CHECK(takes > 3); /* not all at once */
    kit_close(&k);
}

TEST(a_run_of_another_process_live_ended_and_dead)
{
    struct record_run *run = plain_run(3);
    struct record *record;
    struct feed_run *r;
    struct err e;
    struct kit k;

    kit_open(&k, 4);
    record = kit_run(&k, run);
    record_log(record, "lenet on mnist: 1000 training images, 100 steps an epoch; cpu");
    kit_step(record, 40, 0, 2.0);
    kit_step(record, 50, 0, 1.0);
    r = feed_follow(k.feed, record_folder(record));
    feed_watch(k.feed, r);
    feed_take(k.feed, NULL, NULL);
    CHECK(r->live && !r->own && r->known && !r->dead);
    CHECK(r->state == WIRE_RUNNING);
    CHECK_INT(r->step, 50);
    CHECK_INT(r->facts.steps_per_epoch, 100); /* from its log: no epoch has ended */
    CHECK_NEAR(r->epoch_share, 0.5, 1e-12);
    CHECK_NEAR(r->loss, 1.0, 1e-12);
    CHECK_NEAR(r->left_seconds, 250 * 0.1, 1e-9);
    CHECK_INT(r->logs, 1);
    CHECK(feed_follow(k.feed, record_folder(record)) == r);
    CHECK(!feed_busy(k.feed));
    CHECK(feed_start_run(k.feed, &(struct wire_start){0}, &e) > 0);
    CHECK(feed_busy(k.feed));
    CHECK(feed_count(k.feed) == 2 && feed_find(k.feed, record_folder(record)) == r);

    REQUIRE_OK(feed_wish(k.feed, r, WIRE_WISH_PAUSE, &e));
    {
        char line[64];

        CHECK(record_next_control(record, line, sizeof line));
        CHECK_STR(line, "pause");
    }
    record_close(record); /* and run.csv still says running */
    for (int i = 0; i < 8; i++) {
        kit_pass(1);
        feed_take(k.feed, NULL, NULL);
    }
    CHECK(r->dead && !r->live);
    CHECK(isnan(r->left_seconds));
    CHECK(feed_wish(k.feed, r, WIRE_WISH_STOP, &e) == ERR_FAILED);
    CHECK_HAS(e.text, "its process is gone");
    free(run);
    kit_close(&k);
}

static const char *status(struct kit *k, struct text *out)
{
    text_clear(out);
    status_add(k->feed, out, 78);
    return text_str(out);
}

TEST(what_another_reader_found_dead_is_dead_at_the_next_look)
{
    struct record_run *run = plain_run(3);
    struct text line = {0};
    struct record *record;
    struct feed_run *r;
    struct kit k;

    kit_open(&k, 4);
    record = kit_run(&k, run);
    kit_epoch(record, 1, 100, 0.5, 0.8123);
    r = feed_follow(k.feed, record_folder(record));
    feed_take(k.feed, NULL, NULL);
    feed_found_dead(r); /* its lock was only handed on */
    feed_take(k.feed, NULL, NULL);
    CHECK(r->live && !r->dead);
    CHECK_HAS(status(&k, &line), "running elsewhere");
    CHECK_HAS(text_str(&line), "best 0.8123");
    record_close(record);
    feed_found_dead(r);
    feed_take(k.feed, NULL, NULL); /* at once, by no clock */
    CHECK(r->dead && !r->live);
    CHECK_HAS(status(&k, &line), "✗ dead  ");
    CHECK(!strstr(text_str(&line), "best") && !strstr(text_str(&line), "epoch"));
    text_free(&line);
    free(run);
    kit_close(&k);
}

TEST(what_cannot_be_read_neither_waits_nor_has_a_best)
{
    struct record_run *run = plain_run(3);
    struct text line = {0};
    struct record *record;
    struct feed_run *r;
    struct kit k;

    kit_open(&k, 4);
    record = kit_run(&k, run);
    kit_epoch(record, 1, 100, 0.5, 0.8123);
    r = feed_follow(k.feed, record_folder(record));
    record_close(record);
    help_put(r->path, "run.csv", "no\n", 3);
    feed_take(k.feed, NULL, NULL);
    CHECK(r->broken);
    CHECK_HAS(status(&k, &line), "✗ broken  ");
    CHECK(!strstr(text_str(&line), "best") && !strstr(text_str(&line), "waiting"));
    text_free(&line);
    free(run);
    kit_close(&k);
}

TEST(a_pause_is_at_the_step_that_the_log_names)
{
    struct record_run *run = plain_run(3);
    struct wire_status status = {.run = 7, .state = WIRE_PAUSED, .step = 54};
    struct record *record;
    struct feed_run *r;
    struct err e;
    struct kit k;

    kit_open(&k, 16);
    record = kit_run(&k, run);
    kit_started(&k, 7, record_folder(record), &run->spec, 100);
    kit_told_step(&k, 7, 50, 5); /* the steps behind it are told of in files alone */
    feed_take(k.feed, NULL, NULL);
    kit_state(&k, 7, record_folder(record), WIRE_PAUSED, "");
    snprintf(status.path, sizeof status.path, "%s", record_folder(record));
    wire_set_status(k.wire, &status);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(feed_current(k.feed)->step, 54);
    feed_free(k.feed);
    k.feed = feed_new(NULL, k.results); /* and as another program sees it */
    feed_set_clock(k.feed, kit_ns);
    kit_step(record, 50, 0, 1);
    run->state = WIRE_PAUSED;
    run->images = 540;
    REQUIRE_OK(record_write_run(record, run, &e));
    r = feed_follow(k.feed, record_folder(record));
    feed_watch(k.feed, r);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(r->step, 54);
    run->state = WIRE_STOPPED; /* a stop too */
    run->images = 560;
    run->train_seconds = 5.75;
    REQUIRE_OK(record_write_run(record, run, &e));
    record_close(record);
    kit_pass(3);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(r->step, 56);
    CHECK_NEAR(r->train_seconds, 5.75, 1e-12);
    free(run);
    kit_close(&k);
}

TEST(what_another_program_removes_is_not_broken_for_good)
{
    struct record_run *run = plain_run(3);
    struct text line = {0};
    struct record *record;
    struct feed_run *r;
    struct err e;
    struct kit k;

    kit_open(&k, 4);
    record = kit_run(&k, run);
    run->state = WIRE_DONE;
    REQUIRE_OK(record_write_run(record, run, &e));
    r = feed_follow(k.feed, record_folder(record));
    feed_watch(k.feed, r);
    record_close(record);
    feed_take(k.feed, NULL, NULL);
    CHECK_HAS(status(&k, &line), "done");
    help_empty(r->path);
    CHECK_INT(rmdir(r->path), 0);
    kit_pass(3);
    feed_take(k.feed, NULL, NULL);
    CHECK(r->removed && r->broken);
    CHECK_STR(status(&k, &line), "nothing runs");
    feed_watch(k.feed, NULL);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(feed_count(k.feed), 0);
    text_free(&line);
    free(run);
    kit_close(&k);
}

static uint64_t slow_ns(void) /* each look at it takes three milliseconds */
{
    return kit_now += 3000000;
}

TEST(a_long_file_is_read_in_slices_and_never_twice)
{
    enum { ROWS = 60000 };
    struct record_run *run = plain_run(1);
    struct record *record;
    struct text rows = {0};
    struct feed_run *r;
    size_t before = 0;
    int turns = 0;
    char *path;
    struct kit k;
    FILE *file;

    kit_open(&k, 4);
    feed_set_clock(k.feed, slow_ns);
    record = kit_run(&k, run);
    path = io_path(record_folder(record), "steps.csv");
    for (int i = 1; i <= ROWS; i++)
        text_addf(&rows, "%d,1,0,%d,%d.5,0.%06d,0.5,0.1\n", i, i * 10, i, i);
    file = fopen(path, "a");
    REQUIRE(file && fwrite(rows.s, 1, rows.n, file) == rows.n && !fclose(file));
    r = feed_follow(k.feed, record_folder(record));
    feed_watch(k.feed, r);
    for (; turns < 1000; turns++) {
        feed_take(k.feed, NULL, NULL);
        CHECK(r->steps.n - before < ROWS / 4);
        before = r->steps.n;
        if (r->steps.n && !r->reading)
            break;
        kit_pass(1);
    }
    CHECK(turns > 4);
    CHECK_INT(r->steps.n, ROWS);
    for (int i = 0; i < ROWS; i++)
        if (r->steps.step[i] != i + 1 || r->steps.seconds[i] != i + 1.5)
            TEST_FAILED("row %d has step %g at %g", i, r->steps.step[i], r->steps.seconds[i]);
    file = fopen(path, "a"); /* a torn row is read when it is whole */
    fputs("60001,1,0,6", file);
    fclose(file);
    kit_pass(1);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(r->steps.n, ROWS);
    file = fopen(path, "a");
    fputs("00010,7.5,0.25,0.5,0.1\n", file);
    fclose(file);
    kit_pass(1);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(r->steps.n, ROWS + 1);
    CHECK_NEAR(r->steps.loss[ROWS], 0.25, 1e-12);
    text_free(&rows);
    free(path);
    record_close(record);
    free(run);
    kit_close(&k);
}

TEST(rows_that_a_resume_cuts_are_forgotten)
{
    struct record_run *run = plain_run(3);
    struct record *record;
    struct feed_run *r;
    uint64_t cut;
    struct err e;
    struct kit k;

    kit_open(&k, 4);
    record = kit_run(&k, run);
    for (int i = 1; i <= 6; i++)
        kit_step(record, i, 0, 1.0 / i);
    kit_epoch(record, 1, 3, 0.5, 0.8);
    kit_epoch(record, 2, 3, 0.4, 0.9);
    r = feed_follow(k.feed, record_folder(record));
    feed_watch(k.feed, r);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(r->steps.n, 6);
    CHECK_NEAR(r->best_acc, 0.9, 1e-12);
    cut = r->cut;
    REQUIRE_OK(record_cut(record, 1, 3, &e));
    for (int i = 4; i <= 8; i++) /* the file is longer than before when it is looked at again */
        kit_step(record, i, 0, 7);
    kit_epoch(record, 2, 3, 0.45, 0.7);
    kit_pass(1);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(r->steps.n, 8);
    CHECK_NEAR(r->steps.loss[2], 1.0 / 3, 1e-12);
    CHECK_NEAR(r->steps.loss[4], 7, 0);
    CHECK_INT(r->epochs.n, 2);
    CHECK_NEAR(r->best_acc, 0.8, 1e-12);
    CHECK(r->cut > cut);
    record_close(record);
    free(run);
    kit_close(&k);
}

/* "1" of a torn row once took all epochs behind the first away. */
TEST(a_row_that_is_not_as_long_as_its_header_is_left_out_and_told)
{
    struct record_run *run = plain_run(3);
    struct record *record;
    struct text words = {0};
    struct feed_run *r;
    struct kit k;
    char *path;
    FILE *f;

    kit_open(&k, 4);
    record = kit_run(&k, run);
    for (int i = 1; i <= 3; i++)
        kit_epoch(record, i, 3, 0.5, 0.7);
    path = io_path(record_folder(record), "epochs.csv");
    f = fopen(path, "a");
    REQUIRE(f);
    fprintf(f, "1\n4,12,13\n");
    fclose(f);
    kit_epoch(record, 5, 3, 0.5, 0.7);
    help_put(record_folder(record), "steps.csv", "step,epoch\n1\n", 13);
    r = feed_follow(k.feed, record_folder(record));
    feed_watch(k.feed, r);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(r->epochs.n, 4);
    CHECK_NEAR(r->epochs.x[FEED_EPOCH][3], 5, 0);
    CHECK_INT(feed_add_left_out(r, &words), 3);
    CHECK_STR(text_str(&words),
              "2 rows of epochs.csv are left out: the first, line 5, has 1 field, "
              "the header 26; so is 1 of steps.csv");
    text_free(&words);
    free(path);
    record_close(record);
    free(run);
    kit_close(&k);
}

/* As of a file that somebody has added columns to. */
TEST(rows_longer_than_what_is_read_of_them_are_taken)
{
    struct record_run *run = plain_run(2);
    struct record *record;
    struct text wide = {0};
    struct feed_run *r;
    struct kit k;
    struct err e;
    char *path, *bytes;
    size_t n;

    kit_open(&k, 4);
    record = kit_run(&k, run);
    for (int i = 1; i <= 2; i++)
        kit_epoch(record, i, 3, 0.5, 0.7);
    path = io_path(record_folder(record), "epochs.csv");
    REQUIRE_OK(io_read_file(path, 1 << 20, &bytes, &n, &e));
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; bytes[i] == '\n' && j < 70; j++)
            text_addf(&wide, ",%d", j);
        text_add_n(&wide, bytes + i, 1);
    }
    REQUIRE_OK(io_replace_file(path, text_str(&wide), wide.n, &e));
    r = feed_follow(k.feed, record_folder(record));
    feed_watch(k.feed, r);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(r->epochs.n, 2);
    CHECK_INT(feed_add_left_out(r, &wide), 0);
    free(path);
    free(bytes);
    text_free(&wide);
    record_close(record);
    free(run);
    kit_close(&k);
}

/* Its run.csv is looked at less often than its rows: the last of these come after it. */
TEST(what_is_ended_again_after_a_resume_is_read_to_its_end)
{
    struct record_run *run = plain_run(2);
    struct record *record;
    struct feed_run *r;
    struct err e;
    struct kit k;
    char *folder;

    kit_open(&k, 4);
    run->state = WIRE_STOPPED;
    record = kit_run(&k, run);
    kit_epoch(record, 1, 10, 0.5, 0.8);
    record_close(record);
    folder = io_path(k.results, run->run);
    r = feed_follow(k.feed, folder);
    free(folder);
    feed_watch(k.feed, r);
    for (int i = 0; i < 3; i++) {
        feed_take(k.feed, NULL, NULL);
        kit_pass(3);
    }
    CHECK(!r->live && r->files->settled);
    REQUIRE_OK(record_open(&record, r->path, &e));
    run->state = WIRE_RUNNING;
    REQUIRE_OK(record_write_run(record, run, &e));
    feed_take(k.feed, NULL, NULL);
    CHECK(r->live);
    kit_pass(0.4);
    feed_take(k.feed, NULL, NULL);
    kit_epoch(record, 2, 10, 0.4, 0.9);
    run->state = WIRE_DONE;
    REQUIRE_OK(record_write_run(record, run, &e));
    record_close(record);
    kit_pass(0.15);
    feed_take(k.feed, NULL, NULL);
    CHECK(!r->live);
    CHECK_INT(r->epochs.n, 1);
    kit_pass(0.3);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(r->epochs.n, 2);
    free(run);
    kit_close(&k);
}

TEST(members_of_an_ensemble)
{
    struct record_run *run = plain_run(2);
    struct record_member row = {.epoch = 1, .train_loss = 0.5, .train_acc = 0.8, .test_loss = 0.6};
    struct record_device device = {
        .epoch = 1, .real = "cpu", .compute_seconds = 3, .wait_seconds = 1};
    struct record *record;
    struct feed_run *r;
    struct err e;
    struct kit k;

    kit_open(&k, 4);
    run->spec.mode = SPEC_ENSEMBLE;
    run->spec.members = 3;
    run->spec.devices = 2;
    record = kit_run(&k, run);
    for (int m = 0; m < 3; m++)
        kit_step(record, 5, m, 1.0 + m);
    kit_step(record, 10, 0, 9);
    for (int d = 0; d < 2; d++) {
        device.device = d;
        REQUIRE_OK(record_add_device(record, &device, &e));
    }
    for (int m = 0; m < 3; m++) {
        row.member = m;
        row.device = m % 2;
        row.test_acc = 0.7 + 0.01 * m;
        row.prefix_acc = 0.75;
        REQUIRE_OK(record_add_member(record, &row, &e));
    }
    kit_epoch(record, 1, 10, 0.5, 0.8);
    r = feed_follow(k.feed, record_folder(record));
    feed_watch(k.feed, r);
    feed_take(k.feed, NULL, NULL);
    kit_pass(1);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(r->units, 3);
    CHECK_INT(r->steps.n, 2);
    CHECK_NEAR(r->steps.loss[0], 2, 1e-12);
    CHECK_INT(r->unit[2].n, 1);
    CHECK_NEAR(r->unit[2].test_acc, 0.72, 1e-12);
    CHECK_NEAR(r->unit[2].prefix, 0.75, 1e-12);
    CHECK_INT(r->unit[2].device, 0);
    CHECK_NEAR(r->unit[1].compute, 0.75, 1e-12);
    CHECK_NEAR(r->gain_mean, 0.01, 1e-12);
    CHECK_NEAR(r->gain_best, 0.005, 1e-12);
    record_close(record);
    free(run);
    kit_close(&k);
}

/* What it is made of was trained elsewhere: no steps, one row of its last epoch. */
TEST(an_average_of_runs_is_done_in_whole)
{
    struct record_run *run = plain_run(10); /* as it stands where they had several */
    struct record_epoch row = {.epoch = 3,
                               .step = RECORD_NO_COUNT,
                               .images = RECORD_NO_COUNT,
                               .test_loss = 0.5,
                               .test_acc = 0.8,
                               .member_acc_mean = 0.75,
                               .member_acc_max = 0.79,
                               .lr = RECORD_EMPTY};
    struct record *record;
    struct feed_run *r;
    struct kit k;

    kit_open(&k, 4);
    run->spec.mode = SPEC_ENSEMBLE;
    run->spec.members = 3;
    run->epochs_done = 3;
    record_run_set_several(run, "epochs");
    record_run_set_several(run, "images");
    record = kit_run(&k, run);
    REQUIRE(record_add_epoch(record, &row, NULL) == ERR_OK);
    run->state = WIRE_DONE;
    REQUIRE(record_write_run(record, run, NULL) == ERR_OK);
    r = feed_follow(k.feed, record_folder(record));
    record_close(record);
    feed_watch(k.feed, r);
    feed_take(k.feed, NULL, NULL);
    kit_pass(1);
    feed_take(k.feed, NULL, NULL);
    CHECK(r->state == WIRE_DONE);
    CHECK_INT(r->epoch, 3);
    CHECK_INT(r->facts.epochs, 3);
    CHECK(r->averaged && r->unlike.length);
    CHECK_NEAR(r->epoch_share, 1, 0);
    CHECK_NEAR(r->run_share, 1, 0);
    CHECK_NEAR(r->gain_mean, 0.05, 1e-12);
    free(run);
    kit_close(&k);
}

TEST(the_line_of_status)
{
    struct record_run *run = plain_run(4);
    struct text line = {0};
    struct record *record;
    struct kit k;

    kit_open(&k, 64);
    status_add(k.feed, &line, 80);
    CHECK_STR(text_str(&line), "nothing runs");
    record = kit_run(&k, run);
    kit_state(&k, 7, record_folder(record), WIRE_RUNNING, "");
    kit_started(&k, 7, record_folder(record), &run->spec, 100);
    kit_told_step(&k, 7, 50, 5);
    kit_told_step(&k, 7, 200, 20);
    kit_epoch(record, 1, 100, 0.5, 0.8);
    feed_take(k.feed, NULL, NULL);
    for (int columns = 9; columns < 140; columns++) {
        text_clear(&line);
        status_add(k.feed, &line, columns);
        CHECK(text_width(text_str(&line)) <= columns);
        CHECK_HAS(text_str(&line), "running");
        if (columns == 78)
            CHECK_HAS(text_str(&line), "  50 %  best 0.8000, picked on test  26 s left");
    }
    CHECK_HAS(text_str(&line),
              "epoch 2/4  50 %  best 0.8000, picked on test  1,234 img/s  26 s left");
    kit_state(&k, 7, record_folder(record), WIRE_PAUSED, "");
    feed_take(k.feed, NULL, NULL);
    text_clear(&line);
    status_add(k.feed, &line, 140);
    CHECK_HAS(text_str(&line), "paused");
    CHECK(!strstr(text_str(&line), "left"));
    text_free(&line);
    record_close(record);
    free(run);
    kit_close(&k);
}

TEST(a_sweep_counts_its_cells)
{
    struct wire_sweep_status status = {.sweep = 9,
                                       .state = WIRE_RUNNING,
                                       .name = "board",
                                       .cells = 12,
                                       .done = 6,
                                       .diverged = 1,
                                       .running = 1,
                                       .waiting = 4,
                                       .left_seconds = 90};
    struct wire_event event = {.kind = WIRE_CELL, .run = 9};
    struct wire_cell cell = {
        .cell = 2, .known = true, .state = WIRE_DONE, .acc = 0.91, .val_acc = NAN};
    struct text line = {0};
    struct feed_run *r;
    struct err e;
    struct wire_command command;
    struct kit k;

    kit_open(&k, 64);
    wire_set_sweep(k.wire, &status);
    wire_set_cell(k.wire, 9, &cell);
    event.u.cell.cell = 3;
    event.u.cell.run = WIRE_OWN_RUNS;
    event.u.cell.state = WIRE_RUNNING;
    wire_post(k.wire, &event);
    feed_take(k.feed, NULL, NULL);
    REQUIRE(feed_count(k.feed) == 1);
    r = feed_at(k.feed, 0);
    CHECK_INT(r->sweep, 9);
    status_add(k.feed, &line, 100);
    CHECK_HAS(text_str(&line),
              "sweep  board  cell 8 of 12  best 0.9100, picked on test  1:30 left");
    feed_set_queued(k.feed, 1);
    text_clear(&line);
    status_add(k.feed, &line, 100);
    CHECK_HAS(text_str(&line), "picked on test  1:30 left  1 waits");
    feed_set_queued(k.feed, 0);
    cell.val_acc = 0.92;
    wire_set_cell(k.wire, 9, &cell);
    text_clear(&line);
    status_add(k.feed, &line, 100);
    CHECK_HAS(text_str(&line), "best 0.9100, picked on validation");
    CHECK(feed_busy(k.feed));
    text_clear(&line);
    status_add_busy(k.feed, &line);
    CHECK_STR(text_str(&line), "The sweep board trains here, cell 8 of 12.");
    REQUIRE_OK(
        feed_wish_all(k.feed, r, WIRE_WISH_STOP_CELLS, &e)); /* of the sweep, not of its cell */
    REQUIRE(wire_next_command(k.wire, &command, 0));
    CHECK_INT(command.run, 9);
    REQUIRE_OK(feed_skip(k.feed, r, &e));
    REQUIRE(wire_next_command(k.wire, &command, 0));
    CHECK(command.kind == WIRE_SKIP && command.cell == 3);
    text_free(&line);
    kit_close(&k);
}

static void refuse(struct kit *k, uint32_t number, const char *why)
{
    struct wire_event event = {.kind = WIRE_REFUSED, .run = number};

    event.slot = wire_slot_put(k->wire, why, strlen(why) + 1);
    wire_post(k->wire, &event);
}

static int rows_of(const char *words)
{
    struct grid none;
    int rows;

    grid_init(&none, 0, 0, false);
    rows = grid_words(&none, (struct rect){0, 0, 0, 78}, 0, GRID_TEXT, words);
    grid_free(&none);
    return rows;
}

static void check_work(struct kit *k, size_t goes_on, size_t paused, size_t no_room)
{
    struct feed_work work = feed_work(k->feed);

    CHECK_INT(work.goes_on, goes_on);
    CHECK_INT(work.paused, paused);
    CHECK_INT(work.no_room, no_room);
}

/* Told as long as it lasts, of a run and of a sweep that has no cell at work. */
TEST(what_waits_for_room_on_the_disk_is_told)
{
    struct wire_status status = {.run = 7, .state = WIRE_RUNNING};
    struct wire_sweep_status sweep = {.sweep = 9, .state = WIRE_RUNNING, .name = "board"};
    struct text line = {0};
    struct kit k;

    kit_open(&k, 64);
    kit_state(&k, 7, "", WIRE_RUNNING, "");
    wire_set_sweep(k.wire, &sweep);
    feed_take(k.feed, NULL, NULL);
    CHECK(!status_add_trouble(k.feed, &line));
    CHECK(!feed_has_trouble(k.feed, 7) && !feed_lacks_room(k.feed, feed_at(k.feed, 0)));
    status.code = ERR_IO;
    snprintf(
        status.reason, sizeof status.reason,
        "the disk is full in .../a/folder/of/forty/letters/and/one (12 kB free, 1.5 MB wanted)");
    wire_set_status(k.wire, &status);
    CHECK(status_add_trouble(k.feed, &line));
    CHECK_HAS(text_str(&line),
              "wanted): free some and it goes on by itself, or stop it with K on Run");
    CHECK_INT(rows_of(text_str(&line)), 2);
    CHECK(feed_has_trouble(k.feed, 7) && !feed_has_trouble(k.feed, 9));
    CHECK(feed_lacks_room(k.feed, feed_at(k.feed, 0)));
    text_clear(&line);
    status_add(k.feed, &line, 200);
    CHECK(!strncmp(text_str(&line), "‖ waits  ", strlen("‖ waits  ")));
    CHECK(!strstr(text_str(&line), "room")); /* that stands above it */
    CHECK(!strstr(text_str(&line), "running") && !strstr(text_str(&line), "left"));
    check_work(&k, 1, 0, 1);
    status.code = ERR_OK;
    wire_set_status(k.wire, &status);
    text_clear(&line);
    CHECK(!status_add_trouble(k.feed, &line));
    sweep.code = ERR_IO;
    snprintf(sweep.reason, sizeof sweep.reason, "the disk is full in results");
    wire_set_sweep(k.wire, &sweep);
    CHECK(status_add_trouble(k.feed, &line));
    CHECK_STR(text_str(&line),
              "the disk is full in results: free some and it goes on by itself, or "
              "stop it with K on Sweep");
    CHECK(feed_has_trouble(k.feed, 9));
    check_work(&k, 1, 0, 1); /* the run does not */
    status.code = ERR_IO;
    wire_set_status(k.wire, &status);
    check_work(&k, 0, 0, 2);
    status.code = ERR_OK;
    wire_set_status(k.wire, &status);
    sweep.code = ERR_FAILED;
    wire_set_sweep(k.wire, &sweep);
    text_clear(&line);
    CHECK(status_add_trouble(k.feed, &line)); /* a ledger that another program holds */
    CHECK_HAS(text_str(&line), ": it waits, and goes on by itself");
    kit_state(&k, 7, "", WIRE_PAUSED, "");
    feed_take(k.feed, NULL, NULL);
    check_work(&k, 1, 1, 0);
    sweep.running = sweep.paused = 1;
    wire_set_sweep(k.wire, &sweep);
    check_work(&k, 0, 2, 0);
    sweep.state = WIRE_STOPPED;
    wire_set_sweep(k.wire, &sweep);
    text_clear(&line);
    CHECK(!status_add_trouble(k.feed, &line));
    text_free(&line);
    kit_close(&k);
}

/* A process at work on that run, for which there is no room. */
static pid_t lack_room_elsewhere(const char *results, const char *run)
{
    int ends[2];
    char byte;
    pid_t child;

    if (pipe(ends))
        return -1;
    child = fork();
    if (child == 0) {
        struct record_work *w = record_work_new(results);

        record_work_set_wish(w, true, WIRE_WISH_RUN);
        record_work_set(w, run, 1);
        if (write(ends[1], "y", 1) == 1)
            pause();
        _exit(1);
    }
    CHECK(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    close(ends[1]);
    return child;
}

TEST(what_waits_for_room_elsewhere_is_told_too)
{
    const char *was = getenv("CHORUS_CACHE");
    char *before = was ? mem_text(was) : NULL, *cache;
    struct record_run *run = plain_run(3);
    struct record *record;
    struct feed_run *r;
    struct text line = {0};
    struct kit k;
    pid_t other;

    kit_open(&k, 4);
    cache = io_path(k.results, "cache");
    setenv("CHORUS_CACHE", cache, 1);
    record = kit_run(&k, run);
    record_log(record, "lenet on mnist: 1000 training images, 100 steps an epoch; cpu");
    kit_step(record, 50, 0, 1.0);
    other = lack_room_elsewhere(k.results, record_folder(record));
    r = feed_follow(k.feed, record_folder(record));
    feed_watch(k.feed, r);
    feed_take(k.feed, NULL, NULL);
    CHECK(feed_lacks_room(k.feed, r));
    CHECK_HAS(status(&k, &line), "waits for room on the disk elsewhere");
    CHECK(!strstr(text_str(&line), " left"));
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    kit_pass(3);
    feed_take(k.feed, NULL, NULL);
    CHECK(!feed_lacks_room(k.feed, r));
    CHECK_HAS(status(&k, &line), "running elsewhere");
    record_close(record);
    if (before)
        setenv("CHORUS_CACHE", before, 1);
    else
        unsetenv("CHORUS_CACHE");
    text_free(&line);
    free(before);
    free(cache);
    free(run);
    kit_close(&k);
}

/* Where the disk is full a cell is begun anew each second, until it can. */
TEST(a_cell_that_cannot_begin_leaves_no_run)
{
    struct wire_sweep_status sweep = {.sweep = 9,
                                      .state = WIRE_RUNNING,
                                      .code = ERR_IO,
                                      .name = "board",
                                      .cells = 4,
                                      .left_seconds = 90};
    struct wire_event event = {.kind = WIRE_CELL, .run = 9, .u.cell.cell = 3};
    struct text line = {0};
    struct kit k;

    kit_open(&k, 64);
    wire_set_sweep(k.wire, &sweep);
    for (uint32_t i = 0; i < 3; i++) {
        struct wire_status status = {.run = WIRE_OWN_RUNS + i, .state = WIRE_WAITING};

        wire_set_status(k.wire, &status);
        event.u.cell.run = status.run;
        event.u.cell.state = WIRE_RUNNING;
        wire_post(k.wire, &event);
        feed_take(k.feed, NULL, NULL);
        CHECK_INT(feed_count(k.feed), 1);
        CHECK(!feed_current(k.feed)); /* nothing is to be seen of it */
        text_clear(&line);
        status_add(k.feed, &line, 100);
        CHECK_HAS(text_str(&line), "sweep waits  board  cell 1 of 4");
        CHECK(!strstr(text_str(&line), "left"));
        if (i == 1) /* a stop */
            kit_state(&k, status.run, "", WIRE_STOPPED, "stopped before it began");
        wire_drop_status(k.wire, status.run);
        event.u.cell.run = 0;
        event.u.cell.state = WIRE_WAITING;
        wire_post(k.wire, &event);
        feed_take(k.feed, NULL, NULL);
        CHECK_INT(feed_count(k.feed), 0);
    }
    sweep.state = WIRE_STOPPED;
    wire_set_sweep(k.wire, &sweep);
    CHECK(!feed_busy(k.feed));
    text_free(&line);
    kit_close(&k);
}

TEST(a_refused_start_is_over)
{
    struct wire_start *start = mem_new(1, sizeof *start);
    struct text line = {0};
    struct wire_status status;
    struct feed_run *r;
    struct kit k;
    struct err e;

    kit_open(&k, 64);
    snprintf(start->spec.name, sizeof start->spec.name, "first");
    status = (struct wire_status){.run = feed_start_run(k.feed, start, &e)};
    wire_set_status(k.wire, &status);
    CHECK(feed_busy(k.feed));
    r = feed_at(k.feed, 0);
    CHECK(feed_starts(k.feed, r));
    status_add(k.feed, &line, 80);
    CHECK_STR(text_str(&line), "○ starting  first");
    text_clear(&line);
    status_add_busy(k.feed, &line);
    CHECK_STR(text_str(&line), "first is about to start here.");
    /* Another command that is refused to it does not end it; nor does the next one's start begin. */
    refuse(&k, status.run, "this run has not begun yet");
    feed_take(k.feed, NULL, NULL);
    CHECK(feed_busy(k.feed) && r->live);
    feed_start_run(k.feed, start, &e);
    CHECK(!feed_starts(k.feed, feed_at(k.feed, 1)));
    /* The engine tells of it first, and sets the snapshot then. */
    refuse(&k, status.run, "w.safetensors cannot be read");
    feed_take(k.feed, NULL, NULL);
    status.state = WIRE_FAILED;
    wire_set_status(k.wire, &status);
    feed_take(k.feed, NULL, NULL);
    r = feed_at(k.feed, 0);
    CHECK(!r->live && r->state == WIRE_FAILED);
    CHECK_STR(r->reason, "w.safetensors cannot be read");
    CHECK(feed_starts(k.feed, feed_at(k.feed, 1)));
    refuse(&k, feed_at(k.feed, 1)->number, "the engine is about to end"); /* without a snapshot */
    feed_take(k.feed, NULL, NULL);
    CHECK(!feed_busy(k.feed));
    text_clear(&line);
    status_add(k.feed, &line, 80);
    CHECK_STR(text_str(&line), "✗ did not start  first");
    text_free(&line);
    free(start);
    kit_close(&k);
}

TEST(a_refused_resume_leaves_the_run_as_it_was)
{
    struct record_run *run = plain_run(4);
    struct wire_start *start = mem_new(1, sizeof *start);
    struct record *record;
    struct wire_status status;
    struct kit k;
    struct err e;

    kit_open(&k, 64);
    run->state = WIRE_STOPPED;
    record = kit_run(&k, run);
    snprintf(start->resume, sizeof start->resume, "%s", record_folder(record));
    record_close(record);
    status = (struct wire_status){.run = feed_start_run(k.feed, start, &e), .state = WIRE_FAILED};
    wire_set_status(k.wire, &status);
    refuse(&k, status.run, "its data are not there");
    feed_take(k.feed, NULL, NULL);
    kit_pass(1);
    feed_take(k.feed, NULL, NULL);
    CHECK(!feed_busy(k.feed));
    CHECK(feed_at(k.feed, 0)->state == WIRE_STOPPED && !feed_at(k.feed, 0)->live);
    free(start);
    free(run);
    kit_close(&k);
}

/* It is one run, whoever looks for the next one. */
TEST(a_run_that_goes_on_here_stands_once)
{
    struct record_run *run = plain_run(4);
    struct wire_start *start = mem_new(1, sizeof *start);
    struct record *record;
    struct kit k;
    struct err e;
    uint32_t number;

    kit_open(&k, 64);
    run->state = WIRE_STOPPED;
    record = kit_run(&k, run);
    kit_started(&k, 7, record_folder(record), &run->spec, 100);
    feed_take(k.feed, NULL, NULL);
    kit_state(&k, 7, record_folder(record), WIRE_STOPPED, "");
    feed_take(k.feed, NULL, NULL);
    feed_watch(k.feed, feed_at(k.feed, 0));
    snprintf(start->resume, sizeof start->resume, "%s", record_folder(record));
    number = feed_start_run(k.feed, start, &e);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(feed_count(k.feed), 1);
    CHECK_INT(feed_at(k.feed, 0)->number, number);
    CHECK(feed_at(k.feed, 0)->own && feed_at(k.feed, 0)->live);
    kit_started(&k, number, record_folder(record), &run->spec, 100);
    feed_take(k.feed, NULL, NULL);
    CHECK_INT(feed_count(k.feed), 1);
    feed_read_missed(k.feed); /* the snapshot has the one that stopped, too */
    CHECK_INT(feed_count(k.feed), 1);
    record_close(record);
    free(start);
    free(run);
    kit_close(&k);
}

/* Its cell's files are looked at less often than it is. */
TEST(a_sweep_that_ends_elsewhere_is_told_of_though_its_cell_seems_to_run)
{
    struct feed_sweep sweep = {.is = {.name = "board", .cells = 4, .done = 1}, .best = 0.9};
    struct record_run *run = plain_run(4);
    struct text line = {0};
    struct record *record;
    struct kit k;
    struct err e;

    kit_open(&k, 64);
    snprintf(run->sweep, sizeof run->sweep, "board");
    run->state = WIRE_RUNNING;
    record = kit_run(&k, run);
    feed_follow(k.feed, record_folder(record));
    feed_take(k.feed, NULL, NULL);
    sweep.is.state = WIRE_STOPPED;
    feed_set_elsewhere(k.feed, &sweep);
    feed_take(k.feed, NULL, NULL);
    CHECK_HAS(status(&k, &line), "running elsewhere");
    run->state = WIRE_STOPPED;
    REQUIRE_OK(record_write_run(record, run, &e));
    record_close(record);
    kit_pass(3);
    feed_take(k.feed, NULL, NULL);
    CHECK_HAS(status(&k, &line), "■ sweep stopped  board  1 of 4 cells");
    sweep.dead = true;
    feed_set_elsewhere(k.feed, &sweep);
    CHECK_HAS(status(&k, &line), "✗ sweep dead  board  1 of 4 cells");
    text_free(&line);
    free(run);
    kit_close(&k);
}

/* Another program's sweep is told of also where none of its cells is at work. */
TEST(a_sweep_elsewhere_runs_between_its_cells_too)
{
    struct feed_sweep sweep = {.is = {.name = "board",
                                      .state = WIRE_RUNNING,
                                      .cells = 12,
                                      .done = 7,
                                      .running = 1,
                                      .left_seconds = 90},
                               .best = 0.91};
    struct record_run *run = plain_run(4);
    struct record *record;
    struct text line = {0};
    struct kit k;
    struct err e;

    kit_open(&k, 64);
    feed_set_elsewhere(k.feed, &sweep);
    status_add(k.feed, &line, 100);
    CHECK_STR(text_str(&line),
              "● sweep elsewhere  board  cell 8 of 12  best 0.9100, picked on test  "
              "~1:30 left");
    snprintf(run->sweep, sizeof run->sweep, "board");
    run->state = WIRE_RUNNING;
    record = kit_run(&k, run);
    feed_follow(k.feed, record_folder(record));
    feed_take(k.feed, NULL, NULL);
    kit_pass(1);
    feed_take(k.feed, NULL, NULL);
    text_clear(&line);
    status_add(k.feed, &line, 120);
    CHECK_HAS(text_str(&line), "cell 8 of 12  best 0.9100, picked on test  ~1:30 left  ");
    CHECK_HAS(text_str(&line), ": epoch 1/4");
    for (int columns = 40; columns < 140; columns++) {
        text_clear(&line);
        status_add(k.feed, &line, columns);
        CHECK(text_width(text_str(&line)) <= columns);
        CHECK_HAS(text_str(&line), "sweep elsewhere");
        CHECK_HAS(text_str(&line), "cell 8 of 12");
    }
    sweep.is.done = 8; /* that one is over, the next one not begun */
    sweep.is.running = 0;
    feed_set_elsewhere(k.feed, &sweep);
    run->state = WIRE_DONE;
    REQUIRE_OK(record_write_run(record, run, &e));
    record_close(record);
    kit_pass(1);
    feed_take(k.feed, NULL, NULL);
    text_clear(&line);
    status_add(k.feed, &line, 100);
    CHECK_STR(text_str(&line),
              "● sweep elsewhere  board  cell 9 of 12  best 0.9100, picked on test  "
              "~1:30 left");
    sweep.is.state = WIRE_PAUSED;
    feed_set_elsewhere(k.feed, &sweep);
    text_clear(&line);
    status_add(k.feed, &line, 100);
    CHECK(
        !strncmp(text_str(&line), "‖ sweep paused elsewhere", strlen("‖ sweep paused elsewhere")));
    sweep.is.state = WIRE_DONE; /* its end is told until something else is at work */
    sweep.mean = true;
    sweep.is.done = 12;
    feed_set_elsewhere(k.feed, &sweep);
    text_clear(&line);
    status_add(k.feed, &line, 100);
    CHECK_STR(text_str(&line),
              "✓ sweep done  board  12 of 12 cells  best mean 0.9100, picked on test");
    sweep.is.done = 11;
    sweep.is.state = WIRE_STOPPED;
    feed_set_elsewhere(k.feed, &sweep);
    text_clear(&line);
    status_add(k.feed, &line, 100);
    CHECK_HAS(text_str(&line), "■ sweep stopped  board  11 of 12 cells");
    kit_started(&k, 7, "/other", &run->spec, 100);
    feed_take(k.feed, NULL, NULL);
    text_clear(&line);
    status_add(k.feed, &line, 100);
    CHECK_HAS(text_str(&line), "● running");
    kit_state(&k, 7, "/other", WIRE_DONE, "");
    feed_take(k.feed, NULL, NULL);
    text_clear(&line);
    status_add(k.feed, &line, 100);
    CHECK_HAS(text_str(&line), "✓ done");
    feed_set_elsewhere(k.feed, &sweep);
    kit_started(&k, 8, "/third", &run->spec, 100);
    feed_take(k.feed, NULL, NULL); /* whether the line is drawn meanwhile or not */
    kit_state(&k, 8, "/third", WIRE_DONE, "");
    feed_take(k.feed, NULL, NULL);
    text_clear(&line);
    status_add(k.feed, &line, 100);
    CHECK_HAS(text_str(&line), "✓ done");
    text_free(&line);
    free(run);
    kit_close(&k);
}

/* How a sweep stands is said in the same words of this program's and of another one's. */
TEST(a_sweep_is_told_of_alike_here_and_elsewhere)
{
    static const struct {
        struct wire_sweep_status is;
        const char *own, *other, *brief;
    } looks[] = {
        {{.state = WIRE_PAUSED, .running = 1},
         "● sweep paused: no further cell begins  board  cell 3 of 6  best 0.9000, picked on test  "
         "27 s left",
         "● sweep elsewhere  paused: no further cell begins  board  cell 3 of 6",
         "● sweep paused elsewhere"},
        {{.state = WIRE_PAUSED, .running = 1, .paused = 1},
         "‖ sweep paused  board  cell 3 of 6",
         "‖ sweep paused elsewhere  board  cell 3 of 6",
         "‖ sweep paused elsewhere"},
        {{.state = WIRE_RUNNING, .running = 1, .paused = 1},
         "‖ sweep paused  board  cell 3 of 6",
         "‖ sweep paused elsewhere  board  cell 3 of 6",
         "‖ sweep paused elsewhere"},
        {{.state = WIRE_RUNNING, .running = 1, .wish = WIRE_WISH_STOP_CELLS},
         "● sweep stopping: no further cell begins  board  cell 3 of 6",
         "● sweep elsewhere  stopping: no further cell begins  board",
         "● sweep stopping elsewhere"},
        {{.state = WIRE_RUNNING, .running = 1, .paused = 1, .wish = WIRE_WISH_STOP_CELLS},
         "‖ sweep paused, then stops  board  cell 3 of 6",
         "‖ sweep elsewhere  paused, then stops  board",
         "‖ sweep paused elsewhere"},
        {{.state = WIRE_PAUSED, .running = 1, .full = true},
         "‖ sweep waits, then pauses  board  cell 3 of 6",
         "‖ sweep elsewhere  waits for room, then pauses  board  cell 3 of 6",
         "‖ sweep waits for room on the disk elsewhere"},
        {{.state = WIRE_RUNNING, .running = 1, .full = true, .wish = WIRE_WISH_STOP_CELLS},
         "‖ sweep waits, then stops after the running cells  board  cell 3 of 6",
         "‖ sweep elsewhere  waits for room, then stops after the running cells  board",
         "‖ sweep waits for room on the disk elsewhere"},
        {{.state = WIRE_RUNNING, .running = 2, .full = true},
         "‖ sweep waits  board  cell 4 of 6  best 0.9000, picked on test",
         "‖ sweep waits for room on the disk elsewhere  board  cell 4 of 6",
         "‖ sweep waits for room on the disk elsewhere"},
    };
    struct wire_cell cell = {
        .cell = 1, .known = true, .state = WIRE_DONE, .acc = 0.9, .val_acc = NAN};
    struct text line = {0};

    for (size_t i = 0; i < MEM_COUNT(looks); i++) {
        struct feed_sweep other = {.is = looks[i].is, .told = true, .best = 0.9};
        struct kit k;

        kit_open(&k, 64);
        other.is.cells = 6;
        other.is.done = 2;
        other.is.left_seconds = 27;
        snprintf(other.is.name, sizeof other.is.name, "board");
        feed_set_elsewhere(k.feed, &other);
        text_clear(&line);
        status_add(k.feed, &line, 120);
        CHECK_HAS(text_str(&line), looks[i].other);
        CHECK(!strchr(text_str(&line), '~'));
        text_clear(&line);
        status_add(k.feed, &line, 60);
        CHECK_HAS(text_str(&line), looks[i].brief);
        other.is.sweep = 9;
        wire_set_sweep(k.wire, &other.is);
        wire_set_cell(k.wire, 9, &cell);
        text_clear(&line);
        status_add(k.feed, &line, 120);
        CHECK_HAS(text_str(&line), looks[i].own);
        kit_close(&k);
    }
    text_free(&line);
}

/* Until its files are read what has ended is a sweep still, and not its last cell. */
TEST(a_sweep_that_has_just_ended_here_is_told_of_at_once)
{
    struct wire_sweep_status is = {
        .sweep = 9, .state = WIRE_RUNNING, .name = "board", .path = "/board", .cells = 2};
    struct wire_event event = {.kind = WIRE_CELL, .run = 9, .u.cell.run = WIRE_OWN_RUNS};
    struct record_run *run = plain_run(2);
    struct text line = {0};
    struct record *record;
    struct kit k;

    kit_open(&k, 64);
    record = kit_run(&k, run);
    wire_set_sweep(k.wire, &is);
    event.u.cell.state = WIRE_RUNNING;
    wire_post(k.wire, &event);
    feed_take(k.feed, NULL, NULL);
    kit_state(&k, WIRE_OWN_RUNS, record_folder(record), WIRE_DONE, "");
    feed_take(k.feed, NULL, NULL);
    is.state = WIRE_DONE;
    is.done = 2;
    wire_set_sweep(k.wire, &is);
    CHECK_HAS(status(&k, &line), "✓ sweep done  board  2 of 2 cells");
    is.state = WIRE_STOPPED;
    is.counting = true; /* nobody knows of how many */
    wire_set_sweep(k.wire, &is);
    CHECK_HAS(status(&k, &line), "sweep stopped  board  2 of 2+ cells");
    record_close(record);
    free(run);
    text_free(&line);
    kit_close(&k);
}

TEST(the_line_says_what_waits_and_for_whom)
{
    struct wire_queue queue = {.state = WIRE_QUEUE_HELD, .pid = 4711};
    struct text line = {0};
    struct kit k;

    kit_open(&k, 64);
    wire_set_queue(k.wire, &queue);
    feed_set_queued(k.feed, 2);
    status_add(k.feed, &line, 80);
    CHECK_STR(text_str(&line), "nothing runs  2 wait until process 4711 has ended");
    text_clear(&line);
    status_add(k.feed, &line, 30);
    CHECK_STR(text_str(&line), "nothing runs");
    CHECK(!status_add_trouble(k.feed, &line)); /* it ends by itself */
    queue.pid = 0;
    snprintf(queue.reason, sizeof queue.reason, "the disk is full in results");
    wire_set_queue(k.wire, &queue);
    text_clear(&line);
    CHECK(status_add_trouble(k.feed, &line));
    CHECK_STR(text_str(&line), "the queue waits: the disk is full in results");
    text_free(&line);
    kit_close(&k);
}

TEST(what_runs_elsewhere_stands_before_what_ended_here)
{
    struct record_run *run = plain_run(4);
    struct record *ended, *record;
    struct text line = {0};
    struct kit k;

    kit_open(&k, 64);
    ended = kit_run(&k, run);
    kit_started(&k, 7, record_folder(ended), &run->spec, 100);
    kit_state(&k, 7, record_folder(ended), WIRE_DONE, "");
    snprintf(run->run, sizeof run->run, "other");
    run->state = WIRE_RUNNING;
    record = kit_run(&k, run);
    feed_follow(k.feed, record_folder(record));
    feed_take(k.feed, NULL, NULL);
    kit_pass(1);
    feed_take(k.feed, NULL, NULL);
    status_add(k.feed, &line, 80);
    CHECK_HAS(text_str(&line), "running elsewhere");
    text_free(&line);
    record_close(record);
    record_close(ended);
    free(run);
    kit_close(&k);
}

/* An epoch may take an hour: nobody has to look at Run for the status line to say how far it is. */
TEST(how_far_one_elsewhere_is_is_told_before_an_epoch_ends)
{
    struct record_run *run = plain_run(3);
    struct record *record;
    struct text line = {0};
    struct feed_run *r;
    struct kit k;

    kit_open(&k, 64);
    record = kit_run(&k, run);
    record_log(record, "lenet on mnist: 1000 training images, 100 steps an epoch; cpu");
    kit_step(record, 20, 0, 2.0);
    r = feed_follow(k.feed, record_folder(record));
    feed_take(k.feed, NULL, NULL);
    kit_step(record, 30, 0, 1.0);
    kit_pass(1);
    feed_take(k.feed, NULL, NULL);
    CHECK_HAS(status(&k, &line), "  epoch 1/3  10 %  100 img/s  27 s left");
    CHECK(!k.feed->watched && r->id == k.feed->told);
    feed_start_run(k.feed, &(struct wire_start){0}, NULL); /* what is ours is told of from now on */
    kit_pass(1);
    feed_take(k.feed, NULL, NULL);
    CHECK(r->id != k.feed->told);
    text_free(&line);
    record_close(record);
    free(run);
    kit_close(&k);
}

/* What was stopped here goes on in another program: its folder says so, no event does. */
TEST(what_another_program_goes_on_with_runs_elsewhere)
{
    struct record_run *run = plain_run(4);
    struct record *record;
    struct feed_run *r;
    struct text line = {0};
    struct kit k;
    struct err e;

    kit_open(&k, 64);
    run->state = WIRE_RUNNING;
    record = kit_run(&k, run);
    kit_started(&k, 7, record_folder(record), &run->spec, 100);
    feed_take(k.feed, NULL, NULL);
    r = feed_current(k.feed);
    r->sweep = 5;
    run->state = WIRE_STOPPED;
    snprintf(run->ended_utc, sizeof run->ended_utc, "2026-11-20T10:15:30.412Z");
    REQUIRE_OK(record_write_run(record, run, &e));
    record_close(record);
    kit_state(&k, 7, r->path, WIRE_STOPPED, "");
    for (int i = 0; i < 3; i++) {
        feed_take(k.feed, NULL, NULL);
        kit_pass(3);
    }
    CHECK(r->own && !r->live && r->state == WIRE_STOPPED);
    CHECK(feed_wish(k.feed, r, WIRE_WISH_PAUSE, &e) != ERR_OK);

    REQUIRE_OK(record_open(&record, r->path, &e));
    run->state = WIRE_RUNNING;
    run->ended_utc[0] = '\0';
    REQUIRE_OK(record_write_run(record, run, &e));
    CHECK(feed_take(k.feed, NULL, NULL));
    CHECK(!r->own && r->live && r->state == WIRE_RUNNING && !r->sweep);
    status_add(k.feed, &line, 80);
    CHECK_HAS(text_str(&line), "running elsewhere");
    CHECK(!feed_busy(k.feed));
    run->state = WIRE_DONE;
    REQUIRE_OK(record_write_run(record, run, &e));
    record_close(record);
    kit_pass(3);
    feed_take(k.feed, NULL, NULL);
    CHECK(!r->own && !r->live && r->state == WIRE_DONE);
    text_free(&line);
    free(run);
    kit_close(&k);
}

/* Also where nobody looked while it ran. */
TEST(what_another_program_finished_is_done)
{
    struct record_run *run = plain_run(4);
    struct record *record;
    struct feed_run *r;
    struct kit k;
    struct err e;

    kit_open(&k, 64);
    run->state = WIRE_STOPPED;
    snprintf(run->ended_utc, sizeof run->ended_utc, "2026-11-20T10:15:30.412Z");
    record = kit_run(&k, run);
    kit_started(&k, 7, record_folder(record), &run->spec, 100);
    kit_state(&k, 7, record_folder(record), WIRE_STOPPED, "");
    feed_take(k.feed, NULL, NULL);
    r = feed_current(k.feed);
    CHECK(r->own && r->state == WIRE_STOPPED);
    run->state = WIRE_DONE;
    REQUIRE_OK(record_write_run(record, run, &e));
    record_close(record);
    kit_pass(3);
    feed_take(k.feed, NULL, NULL);
    CHECK(!r->own && r->state == WIRE_DONE);
    free(run);
    kit_close(&k);
}

/* ---- a disk that does not answer ---- */

static pthread_t here;
static int asked_here; /* how often the disk was asked by this thread */

static int counted_open(const char *path, int flags, mode_t mode)
{
    asked_here += pthread_equal(pthread_self(), here);
    return open(path, flags, mode);
}

static int counted_stat(const char *path, struct stat *st)
{
    asked_here += pthread_equal(pthread_self(), here);
    return stat(path, st);
}

static void finish_look(struct tasks *tasks)
{
    while (!tasks_idle(tasks)) {
        struct pollfd fd = {.fd = tasks_fd(tasks), .events = POLLIN};

        poll(&fd, 1, 100);
        CHECK(!tasks_take(tasks)); /* what it read says itself whether there is anything to see */
    }
}

static void settle(struct kit *k, struct tasks *tasks)
{
    for (int i = 0; i < 3; i++) { /* what was read may ask for more */
        kit_pass(3);
        (void)feed_take(k->feed, NULL, NULL);
        finish_look(tasks);
        (void)feed_take(k->feed, NULL, NULL);
    }
}

TEST(files_are_read_by_another_thread)
{
    struct record_run *run = plain_run(3), *own = plain_run(3);
    int (*open_before)(const char *, int, mode_t) = io.open;
    int (*stat_before)(const char *, struct stat *) = io.stat;
    struct record *record, *mine;
    struct tasks *tasks = tasks_new();
    struct feed_run *r, *m;
    struct kit k;

    kit_open(&k, 16);
    feed_use_tasks(k.feed, tasks);
    record = kit_run(&k, run);
    kit_step(record, 40, 0, 2.0);
    kit_epoch(record, 1, 50, 0.5, 0.8);
    snprintf(own->spec.name, sizeof own->spec.name, "own");
    mine = kit_run(&k, own);
    kit_epoch(mine, 1, 50, 0.5, 0.7);
    here = pthread_self();
    io.open = counted_open;
    io.stat = counted_stat;
    r = feed_follow(k.feed, record_folder(record));
    feed_watch(k.feed, r);
    CHECK(feed_find(k.feed, record_folder(record)) == r);
    kit_state(&k, 7, record_folder(mine), WIRE_RUNNING, "");
    kit_started(&k, 7, record_folder(mine), &own->spec, 50);
    settle(&k, tasks);
    m = feed_at(k.feed, 1);
    CHECK(r->live && r->known && r->state == WIRE_RUNNING);
    CHECK_INT(r->steps.n, 1);
    CHECK_INT(r->epochs.n, 1);
    CHECK(m->own);
    CHECK_INT(m->epochs.n, 1);
    CHECK_INT(m->steps.n, 0); /* nobody looks at it */
    feed_watch(k.feed, m);
    (void)feed_take(k.feed, NULL, NULL); /* somebody reads, and it ends meanwhile */
    kit_epoch(mine, 2, 50, 0.4, 0.75);
    kit_state(&k, 7, record_folder(mine), WIRE_DONE, "");
    settle(&k, tasks);
    CHECK_INT(m->epochs.n, 2);
    CHECK(!m->live);
    CHECK_INT(asked_here, 0);
    io.open = open_before;
    io.stat = stat_before;
    record_close(record);
    record_close(mine);
    tasks_free(tasks);
    free(run);
    free(own);
    kit_close(&k);
}

/* Its events say when there is more: a screen that shows it comes to rest. */
TEST(a_paused_run_of_this_program_wakes_nobody)
{
    struct record_run *run = plain_run(3);
    struct tasks *tasks = tasks_new();
    struct record *record;
    struct kit k;

    kit_open(&k, 16);
    feed_use_tasks(k.feed, tasks);
    record = kit_run(&k, run);
    kit_step(record, 40, 0, 2.0);
    kit_state(&k, 7, record_folder(record), WIRE_RUNNING, "");
    kit_started(&k, 7, record_folder(record), &run->spec, 50);
    settle(&k, tasks);
    for (int watched = 0; watched < 2; watched++) {
        kit_state(&k, 7, record_folder(record), WIRE_PAUSED, "");
        feed_watch(k.feed, watched ? feed_at(k.feed, 0) : NULL);
        settle(&k, tasks);
        CHECK_INT(feed_at(k.feed, 0)->steps.n, watched);
        for (int i = 0; i < 5; i++) {
            kit_pass(1);
            CHECK(!feed_take(k.feed, NULL, NULL));
            CHECK(tasks_idle(tasks));
        }
    }
    record_close(record);
    tasks_free(tasks);
    free(run);
    kit_close(&k);
}

/* Or a screen that shows it would never come to rest. */
TEST(a_paused_run_of_another_program_is_looked_at_once_a_second)
{
    struct record_run *run = plain_run(3);
    struct tasks *tasks = tasks_new();
    struct record *record;
    struct feed_run *r;
    struct err e;
    struct kit k;
    int looks = 0;

    kit_open(&k, 16);
    feed_use_tasks(k.feed, tasks);
    run->state = WIRE_PAUSED;
    record = kit_run(&k, run);
    r = feed_follow(k.feed, record_folder(record));
    for (int watched = 0; watched < 2; watched++) {
        feed_watch(k.feed, watched ? r : NULL);
        settle(&k, tasks);
        CHECK(r->state == WIRE_PAUSED && r->live);
        looks = 0;
        for (int i = 0; i < 100; i++) {
            kit_pass(0.1);
            (void)feed_take(k.feed, NULL, NULL);
            looks += !tasks_idle(tasks);
            finish_look(tasks);
        }
        CHECK(looks >= 5 && looks <= 11);
    }
    run->state = WIRE_RUNNING;
    REQUIRE_OK(record_write_run(record, run, &e));
    for (int i = 0; i < 10; i++) {
        kit_pass(0.1);
        (void)feed_take(k.feed, NULL, NULL);
        finish_look(tasks);
    }
    CHECK(r->state == WIRE_RUNNING);
    record_close(record);
    tasks_free(tasks);
    free(run);
    kit_close(&k);
}

/* Before its folder has been looked at nobody says that it has none. */
TEST(what_has_just_ended_may_have_weights)
{
    struct record_run *run = plain_run(3);
    struct tasks *tasks = tasks_new();
    struct record *record;
    struct kit k;

    kit_open(&k, 16);
    feed_use_tasks(k.feed, tasks);
    record = kit_run(&k, run);
    kit_state(&k, 7, record_folder(record), WIRE_RUNNING, "");
    kit_started(&k, 7, record_folder(record), &run->spec, 50);
    settle(&k, tasks);
    kit_state(&k, 7, record_folder(record), WIRE_DONE, "");
    (void)feed_take(k.feed, NULL, NULL);
    CHECK(!feed_at(k.feed, 0)->live && feed_at(k.feed, 0)->weights);
    settle(&k, tasks);
    CHECK(!feed_at(k.feed, 0)->weights);
    record_close(record);
    tasks_free(tasks);
    free(run);
    kit_close(&k);
}

TEST(what_is_forgotten_while_it_is_read_is_read_again)
{
    struct record_run *run = plain_run(1);
    struct record_member row = {.epoch = 1, .test_acc = 0.7};
    struct wire_event log = {.kind = WIRE_LOG, .run = 7};
    struct tasks *tasks = tasks_new();
    struct record *record;
    struct feed_run *r;
    struct err e;
    struct kit k;

    kit_open(&k, 16);
    feed_use_tasks(k.feed, tasks);
    run->spec.mode = SPEC_ENSEMBLE;
    run->spec.members = run->spec.devices = 2;
    record = kit_run(&k, run);
    REQUIRE_OK(record_add_member(record, &row, &e));
    kit_state(&k, 7, record_folder(record), WIRE_RUNNING, "");
    kit_started(&k, 7, record_folder(record), &run->spec, 10);
    kit_state(&k, 7, record_folder(record), WIRE_DONE, "");
    (void)feed_take(k.feed, NULL, NULL);
    r = feed_at(k.feed, 0);
    feed_watch(k.feed, r);
    settle(&k, tasks);
    CHECK_INT(r->unit[0].n, 1);
    CHECK(r->files->settled);
    feed_watch(k.feed, NULL);
    feed_watch(k.feed, r);
    (void)feed_take(k.feed, NULL, NULL); /* somebody reads, and its end is told again meanwhile */
    kit_state(&k, 7, record_folder(record), WIRE_DONE, "");
    (void)feed_take(k.feed, NULL, NULL);
    CHECK_INT(r->unit[0].n, 0);
    settle(&k, tasks);
    CHECK_INT(r->unit[0].n, 1);
    CHECK(r->files->settled);
    record_log(record, "what on_end says");
    wire_post(k.wire, &log);
    settle(&k, tasks);
    CHECK_INT(r->logs, 1);
    record_close(record);
    tasks_free(tasks);
    free(run);
    kit_close(&k);
}
