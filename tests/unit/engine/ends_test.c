/* How runs end before their epochs do, how they are extended, and which checkpoints they keep. */
#include "tests/unit/engine/help.h"

#include "record/run/reader.h"
#include "record/run/run.h"

static void run_one(struct kit *k, struct spec *s, struct wire_status *status,
                    struct record_run *run, struct sheet *epochs)
{
    struct err e;

    kit_engine(k, 4096, 0);
    kit_run(k, s, status);
    kit_quit(k);
    memset(run, 0, sizeof *run);
    memset(epochs, 0, sizeof *epochs);
    kit_read_run(status->path, run);
    if (record_read_sheet(status->path, "epochs", epochs, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
}

static double number(const struct sheet *s, size_t row, const char *column)
{
    return sheet_number(s, row, sheet_column(s, column));
}

TEST(max_steps_ends_within_an_epoch_evaluated)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    struct sheet epochs, steps;
    struct err e;

    kit_folder(&k);
    kit_spec(&k, &s, "max_steps=9", NULL);
    run_one(&k, &s, &status, &run, &epochs);
    CHECK_INT(run.state, WIRE_DONE);
    CHECK_HAS(run.reason, "max_steps = 9");
    CHECK_INT(status.step, 9);
    REQUIRE(epochs.rows == 2);
    CHECK_INT(number(&epochs, 1, "step"), 9);
    CHECK_INT(number(&epochs, 1, "images"), 144);
    CHECK(number(&epochs, 1, "test_acc") == run.last_test_acc);
    REQUIRE_OK(record_read_sheet(status.path, "steps", &steps, &e));
    CHECK_INT(number(&steps, steps.rows - 1, "step"), 9);
    CHECK_INT(number(&steps, steps.rows - 2, "step"), 8);
    sheet_free(&steps);
    sheet_free(&epochs);

    /* finished is finished, also with more epochs */
    kit_engine(&k, 256, 0);
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    CHECK_INT(k.refused_code, ERR_OK);
    CHECK_HAS(k.refused, "finished");
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(status.code, ERR_OK);
    kit_wait(&k, kit_resume(&k, status.path, 8), &status);
    CHECK_INT(k.refused_code, ERR_INPUT);
    CHECK_HAS(k.refused, "max_steps = 9");
    kit_quit(&k);
    kit_read_run(status.path, &run);
    CHECK_INT(run.state, WIRE_DONE);
    CHECK_INT(run.epochs_done, 2);
    kit_end(&k);
}

TEST(max_minutes_ends_soon_and_evaluated)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    struct sheet epochs;
    struct fake_script script = {.step_ms = 5};

    kit_folder(&k);
    fake_set_script(&script);
    kit_spec(&k, &s, "max_minutes=0.001", "epochs=100000", NULL);
    run_one(&k, &s, &status, &run, &epochs);
    CHECK_INT(run.state, WIRE_DONE);
    CHECK_HAS(run.reason, "max_minutes = 0.001");
    REQUIRE(epochs.rows > 0);
    CHECK_INT(run.epochs_done, epochs.rows);
    CHECK(run.train_seconds + run.eval_seconds >= 0.06);
    CHECK(number(&epochs, epochs.rows - 1, "test_acc") == run.last_test_acc);
    sheet_free(&epochs);
    kit_end(&k);
}

/* The first epoch behind which none of the next `patience` has a lesser loss; the count of rows
 * where the run should have ended. */
static size_t patient_rows(const struct sheet *epochs, const char *column, int patience)
{
    double least = INFINITY;
    int bad = 0;

    for (size_t i = 0; i < epochs->rows; i++) {
        double loss = number(epochs, i, column);

        bad = loss < least ? 0 : bad + 1;
        least = fmin(least, loss);
        if (bad == patience)
            return i + 1;
    }
    return epochs->rows + 1;
}

TEST(patience_counts_epochs_without_a_better_loss)
{
    static const char *const valids[] = {"valid=0", "valid=40"};
    static const char *const columns[] = {"test_loss", "val_loss"};

    for (int i = 0; i < 2; i++) {
        struct kit k;
        struct spec s;
        struct wire_status status;
        struct record_run run;
        struct sheet epochs;

        kit_folder(&k);
        kit_spec(&k, &s, "patience=2", "epochs=500", valids[i], NULL);
        run_one(&k, &s, &status, &run, &epochs);
        CHECK_INT(run.state, WIRE_DONE);
        CHECK_HAS(run.reason, "patience = 2");
        CHECK_INT(epochs.rows, patient_rows(&epochs, columns[i], 2));
        sheet_free(&epochs);
        kit_end(&k);
    }
}

TEST(best_is_chosen_on_validation_data_where_there_is_some)
{
    static const char *const valids[] = {"valid=0", "valid=40"};
    static const char *const columns[] = {"test_acc", "val_acc"};
    static const char *const losses[] = {"test_loss", "val_loss"};

    for (int i = 0; i < 2; i++) {
        struct kit k;
        struct spec s;
        struct wire_status status;
        struct record_run run;
        struct sheet epochs;
        struct safetensors file = {0};
        struct err e;
        size_t best = 0;
        char *path;

        kit_folder(&k);
        kit_spec(&k, &s, "epochs=12", "train_limit=136", valids[i], NULL);
        run_one(&k, &s, &status, &run, &epochs);
        REQUIRE(epochs.rows == 12);
        for (size_t r = 1; r < 12; r++)
            if (number(&epochs, r, columns[i]) > number(&epochs, best, columns[i]) ||
                (number(&epochs, r, columns[i]) == number(&epochs, best, columns[i]) &&
                 number(&epochs, r, losses[i]) < number(&epochs, best, losses[i])))
                best = r;
        CHECK_INT(run.best_epoch, best + 1);
        CHECK_STR(run.best_by, i ? "valid" : "test");
        CHECK(run.best_test_acc == number(&epochs, best, "test_acc"));
        CHECK(run.best_test_loss == number(&epochs, best, "test_loss"));
        path = io_path(status.path, "best.safetensors");
        REQUIRE_OK(safetensors_read(path, &file, &e));
        CHECK_INT(atoi(safetensors_note(&file, "chorus.epoch")), best + 1);
        safetensors_free(&file);
        free(path);
        sheet_free(&epochs);
        kit_end(&k);
    }
}

TEST(the_target_is_timed_where_it_is_crossed)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    struct sheet epochs;
    size_t row = 0;

    kit_folder(&k);
    kit_spec(&k, &s, "target_acc=0.6", "epochs=20", NULL);
    run_one(&k, &s, &status, &run, &epochs);
    REQUIRE(epochs.rows == 20); /* it does not end there */
    while (row < 20 && number(&epochs, row, "test_acc") < 0.6)
        row++;
    REQUIRE(row > 0 && row < 20);
    CHECK(run.target_seconds == number(&epochs, row, "train_seconds"));
    sheet_free(&epochs);
    kit_set(&s, "target_acc=0.999");
    run_one(&k, &s, &status, &run, &epochs);
    CHECK(run.target_seconds == RECORD_EMPTY);
    sheet_free(&epochs);
    kit_end(&k);
}

TEST(keep_says_which_checkpoints_stay)
{
    static const struct {
        const char *keep;
        bool last, best, two, three;
    } cases[] = {
        {"keep=last", true, false, false, false},
        {"keep=best", false, true, false, false},
        {"keep=all", false, false, true, true},
        {"keep=last+best+every:2", true, true, true, false},
    };

    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        struct kit k;
        struct spec s;
        struct wire_status status;
        struct record_run run;
        struct sheet epochs;

        kit_folder(&k);
        kit_spec(&k, &s, cases[i].keep, NULL);
        run_one(&k, &s, &status, &run, &epochs);
        CHECK_INT(run.state, WIRE_DONE);
        CHECK_INT(kit_has(status.path, "checkpoint.safetensors"), cases[i].last);
        CHECK_INT(kit_has(status.path, "best.safetensors"), cases[i].best);
        CHECK_INT(kit_has(status.path, "epoch-0002.safetensors"), cases[i].two);
        CHECK_INT(kit_has(status.path, "epoch-0003.safetensors"), cases[i].three);
        CHECK(cases[i].last || !kit_has(status.path, "checkpoint.prev.safetensors"));
        sheet_free(&epochs);
        kit_end(&k);
    }
}

/* 3 epochs and then 2 more are 5, where the schedule does not look at the end. */
TEST(more_epochs_extend_a_finished_run)
{
    struct kit k;
    struct spec s;
    struct wire_status first, whole;
    struct record_run run;
    struct sheet epochs;
    char *ini, *text;
    size_t n;
    struct err e;

    kit_folder(&k);
    kit_spec(&k, &s, "backend=ref", "optimizer=momentum", NULL);
    run_one(&k, &s, &first, &run, &epochs);
    sheet_free(&epochs);
    CHECK_INT(run.epochs_done, 3);
    kit_engine(&k, 256, 0);
    kit_wait(&k, kit_resume(&k, first.path, 2), &first);
    CHECK_INT(k.refused_code, ERR_INPUT);
    CHECK_HAS(k.refused, "3 epochs");
    kit_wait(&k, kit_resume(&k, first.path, 5), &first);
    CHECK_INT(first.state, WIRE_DONE);
    CHECK_HAS(k.logs, "extended from 3 to 5 epochs");
    kit_set(&s, "epochs=5");
    kit_run(&k, &s, &whole);
    kit_quit(&k);
    kit_same_runs(first.path, whole.path, false);
    kit_read_run(first.path, &run);
    CHECK_INT(run.spec.epochs, 5);
    CHECK_INT(run.epochs_done, 5);
    ini = io_path(first.path, "experiment.ini");
    REQUIRE_OK(io_read_file(ini, 1 << 20, &text, &n, &e));
    CHECK_HAS(text, "epochs = 5\n");
    free(text);
    free(ini);
    kit_end(&k);
}

TEST(an_extended_cosine_says_that_the_rate_jumps)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    struct sheet epochs;

    kit_folder(&k);
    kit_spec(&k, &s, "schedule=cosine", NULL);
    run_one(&k, &s, &status, &run, &epochs);
    sheet_free(&epochs);
    kit_engine(&k, 256, 0);
    kit_wait(&k, kit_resume(&k, status.path, 6), &status);
    kit_quit(&k);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_HAS(k.logs, "schedule = cosine now ends at epoch 6");
    kit_end(&k);
}

/* From a file and from a run: the second run begins where the first one ended. */
TEST(start_weights_come_from_a_run_or_a_file)
{
    struct kit k;
    struct spec s;
    struct wire_status first, again;
    struct record_run run, one;
    struct sheet epochs;
    char setting[1200];

    kit_folder(&k);
    kit_spec(&k, &s, "backend=ref", NULL);
    run_one(&k, &s, &first, &one, &epochs);
    sheet_free(&epochs);
    for (int i = 0; i < 2; i++) {
        kit_spec(&k, &s, "backend=ref", "epochs=0", NULL);
        snprintf(setting, sizeof setting, "weights=%s%s", first.path,
                 i ? "/checkpoint.safetensors" : "");
        kit_set(&s, setting);
        run_one(&k, &s, &again, &run, &epochs);
        CHECK_INT(again.state, WIRE_DONE);
        CHECK(run.last_test_loss == one.last_test_loss);
        CHECK(run.last_test_acc == one.last_test_acc);
        kit_same_weights(first.path, again.path, "checkpoint.safetensors");
        sheet_free(&epochs);
    }
    /* what does not fit is refused, and nothing is written */
    kit_engine(&k, 256, 0);
    kit_write(k.model, "input 1 8 8\ndense classes\n");
    kit_wait(&k, kit_start(&k, &s), &again);
    kit_quit(&k);
    CHECK_INT(k.refused_code, ERR_INPUT);
    CHECK_HAS(k.refused, "Dense_0");
    CHECK_STR(again.path, "");
    kit_end(&k);
}

static atomic_int opening; /* 1: a backend is being opened; 2: it may go on */

static enum err_code open_slowly(const struct backend_plan *plan, struct backend_session **out,
                                 struct err *e)
{
    atomic_store(&opening, 1);
    while (atomic_load(&opening) != 2)
        clock_sleep_ms(1);
    return fake_backend.open(plan, out, e);
}

/* Starts it, or (path) goes on with it, and stops it while its backend is being opened. */
static void stop_opening(struct kit *k, const struct spec *s, const char *path,
                         struct wire_status *status)
{
    uint32_t run;
    struct wire_event event;

    atomic_store(&opening, 0);
    kit_fake.open = open_slowly;
    k->refused[0] = '\0';
    run = path ? kit_resume(k, path, 0) : kit_start(k, s);
    while (atomic_load(&opening) != 1)
        clock_sleep_ms(1);
    kit_wish(k, run, WIRE_WISH_STOP);
    kit_wish(k, 999, WIRE_WISH_STOP); /* refused when the one before was obeyed */
    while (!k->refused[0]) {
        while (wire_take(k->wire, &event))
            kit_hear(k, &event);
        clock_sleep_ms(1);
    }
    atomic_store(&opening, 2);
    kit_wait(k, run, status);
    kit_fake.open = fake_backend.open;
}

TEST(a_stop_is_heard_while_a_run_is_opened)
{
    struct kit k;
    struct spec s;
    struct wire_status status, whole;
    struct record_run run, again;
    uint32_t number;

    kit_folder(&k);
    kit_engine(&k, 4096, 1);
    kit_spec(&k, &s, NULL);
    stop_opening(&k, &s, NULL, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_INT(status.code, ERR_STOPPED);
    CHECK_STR(status.reason, "stopped before its first step");
    CHECK(!record_has_checkpoint(status.path));
    kit_read_run(status.path, &run);
    CHECK_INT(run.state, WIRE_STOPPED);

    /* one that goes on stays where it stood */
    kit_hold(&k, (struct fake_script){0}, 8);
    number = kit_resume(&k, status.path, 0);
    while (!wire_status(k.wire, number, &whole) || whole.epoch < 1)
        clock_sleep_ms(1);
    kit_wish(&k, number, WIRE_WISH_STOP);
    kit_wait(&k, number, &whole);
    kit_read_run(status.path, &run);
    CHECK(run.epochs_done >= 1);
    stop_opening(&k, NULL, status.path, &whole);
    CHECK_INT(whole.state, WIRE_STOPPED);
    kit_read_run(status.path, &again);
    CHECK_INT(again.state, WIRE_STOPPED);
    CHECK_INT(again.epochs_done, run.epochs_done);
    CHECK_STR(again.reason, run.reason);
    fake_set_script(&(struct fake_script){0});
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    CHECK_INT(status.state, WIRE_DONE);
    kit_run(&k, &s, &whole);
    kit_same_runs(status.path, whole.path, false);
    kit_end(&k);
}
