/* A run of the engine from its start to each of its ends, and what stands in its files. */
#include "tests/unit/engine/help.h"

#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"

static double number(const struct sheet *s, size_t row, const char *column)
{
    int c = sheet_column(s, column);

    if (c < 0)
        TEST_FAILED("there is no column %s", column);
    return sheet_number(s, row, c);
}

static bool empty(const struct sheet *s, size_t row, const char *column)
{
    return !sheet_cell(s, row, sheet_column(s, column))[0];
}

static void read_sheet(const char *path, const char *file, struct sheet *s)
{
    struct err e;

    memset(s, 0, sizeof *s);
    if (record_read_sheet(path, file, s, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
}

/* One run with these settings; its folder's path and its run.csv. */
static void run_one(struct kit *k, struct spec *s, struct wire_status *status,
                    struct record_run *run)
{
    kit_engine(k, 4096, 0);
    kit_run(k, s, status);
    kit_quit(k);
    memset(run, 0, sizeof *run);
    if (status->path[0])
        kit_read_run(status->path, run);
}

TEST(data_parallel_writes_every_row)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    struct sheet epochs, steps, devices;

    kit_folder(&k);
    kit_spec(&k, &s, "devices=2", NULL);
    run_one(&k, &s, &status, &run);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_STR(status.reason, "");
    CHECK_INT(status.epoch, 3);
    CHECK_INT(status.step, 18);

    read_sheet(status.path, "epochs", &epochs);
    read_sheet(status.path, "steps", &steps);
    read_sheet(status.path, "devices", &devices);
    REQUIRE(epochs.rows == 3 && steps.rows == 6 && devices.rows == 6);
    /* every 4 updates and at each epoch's end: 4 6 8 12 16 18 */
    CHECK_INT(number(&steps, 1, "step"), 6);
    CHECK_INT(number(&steps, 3, "step"), 12);
    CHECK_INT(number(&steps, 4, "step"), 16);
    CHECK_INT(number(&steps, 4, "epoch"), 3);
    CHECK_INT(number(&steps, 4, "member"), 0);
    CHECK_INT(number(&steps, 4, "images"), 256);
    for (size_t i = 0; i < 3; i++) {
        size_t n = i + 1;

        CHECK_INT(number(&epochs, i, "epoch"), n);
        CHECK_INT(number(&epochs, i, "step"), 6 * n);
        CHECK_INT(number(&epochs, i, "images"), 96 * n);
        CHECK_INT(number(&epochs, i, "model_images"), 96 * n);
        CHECK(number(&epochs, i, "device_seconds") == number(&epochs, i, "train_seconds"));
        CHECK(number(&epochs, i, "train_seconds") > 0 && number(&epochs, i, "eval_seconds") > 0);
        CHECK(number(&epochs, i, "images_per_second") > 0);
        CHECK(empty(&epochs, i, "val_loss") && empty(&epochs, i, "val_acc"));
        CHECK(number(&epochs, i, "member_acc_mean") == number(&epochs, i, "test_acc"));
        CHECK(number(&epochs, i, "member_acc_min") == number(&epochs, i, "test_acc"));
        CHECK(number(&epochs, i, "member_loss_mean") == number(&epochs, i, "test_loss"));
        CHECK(number(&epochs, i, "disagreement") == 0);
        CHECK(number(&epochs, i, "lr") == 0.1);
        /* the two replicas' means make the epoch's */
        CHECK_NEAR(
            (number(&devices, 2 * i, "train_loss") + number(&devices, 2 * i + 1, "train_loss")) / 2,
            number(&epochs, i, "train_loss"), 1e-12);
        CHECK_INT(number(&devices, 2 * i + 1, "device"), 1);
        CHECK_INT(number(&devices, 2 * i + 1, "images"), 48 * n);
        CHECK(empty(&devices, i, "gpu_percent"));
        CHECK_STR(sheet_cell(&devices, i, sheet_column(&devices, "real")), "cpu");
        if (i) {
            CHECK(number(&epochs, i, "train_seconds") > number(&epochs, i - 1, "train_seconds"));
            CHECK(number(&epochs, i, "compute_seconds") >=
                  number(&epochs, i - 1, "compute_seconds"));
        }
    }
    /* the rows of steps make the epoch: 4 updates and 2, 2 and 4, 4 and 2 */
    CHECK_NEAR((4 * number(&steps, 0, "loss") + 2 * number(&steps, 1, "loss")) / 6,
               number(&epochs, 0, "train_loss"), 1e-12);
    CHECK_NEAR((2 * number(&steps, 2, "acc") + 4 * number(&steps, 3, "acc")) / 6,
               number(&epochs, 1, "train_acc"), 1e-12);

    CHECK_INT(run.state, WIRE_DONE);
    CHECK_INT(run.epochs_done, 3);
    CHECK_STR(run.spec.model, "tiny");
    CHECK_STR(run.best_by, "test");
    CHECK_STR(run.backend_used, "fake");
    CHECK_STR(run.version, "test");
    CHECK_INT(run.images, 288);
    CHECK_INT(run.batch_per_device, 8);
    CHECK_INT(run.shared, 1);
    CHECK_INT(run.real_devices, 1);
    CHECK(run.last_test_acc == number(&epochs, 2, "test_acc"));
    CHECK(run.train_seconds == number(&epochs, 2, "train_seconds"));
    CHECK(run.wall_seconds > run.train_seconds);
    CHECK(run.peak_memory_bytes > 1e6);
    CHECK(run.target_seconds == RECORD_EMPTY);
    CHECK(run.host[0] && run.started_utc[0] && run.ended_utc[0] && strlen(run.cell) == 16);
    CHECK(kit_has(status.path, "checkpoint.safetensors"));
    CHECK(kit_has(status.path, "best.safetensors"));
    CHECK(!kit_has(status.path, "members.csv"));
    CHECK_INT(k.events[WIRE_EPOCH], 3);
    CHECK_INT(k.events[WIRE_STARTED], 1);
    CHECK_INT(k.facts.steps_per_epoch, 6);
    CHECK_INT(k.facts.devices, 2);
    CHECK_STR(k.facts.path, status.path);
    CHECK_HAS(k.logs, "2 virtual devices");
    sheet_free(&epochs);
    sheet_free(&steps);
    sheet_free(&devices);
    kit_end(&k);
}

TEST(an_ensemble_writes_a_row_a_member)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    struct sheet epochs, steps, members, devices;

    kit_folder(&k);
    kit_spec(&k, &s, "mode=ensemble", "devices=2", "members=3", "epochs=2", NULL);
    run_one(&k, &s, &status, &run);
    CHECK_INT(status.state, WIRE_DONE);
    read_sheet(status.path, "epochs", &epochs);
    read_sheet(status.path, "steps", &steps);
    read_sheet(status.path, "members", &members);
    read_sheet(status.path, "devices", &devices);
    REQUIRE(epochs.rows == 2 && steps.rows == 12 && members.rows == 6 && devices.rows == 4);
    CHECK_INT(number(&members, 5, "member"), 2);
    CHECK_INT(number(&members, 5, "device"), 0);
    CHECK_INT(number(&members, 4, "device"), 1);
    CHECK_INT(number(&steps, 2, "member"), 2);
    CHECK_INT(number(&epochs, 1, "images"), 192);
    CHECK_INT(number(&epochs, 1, "model_images"), 576);
    /* device 0 has members 0 and 2 */
    CHECK_INT(number(&devices, 2, "images"), 384);
    CHECK_INT(number(&devices, 3, "images"), 192);
    for (size_t i = 0; i < 2; i++) {
        double loss[3], acc[3], least, most;

        for (size_t m = 0; m < 3; m++) {
            loss[m] = number(&members, 3 * i + m, "train_loss");
            acc[m] = number(&members, 3 * i + m, "test_acc");
        }
        least = fmin(acc[0], fmin(acc[1], acc[2]));
        most = fmax(acc[0], fmax(acc[1], acc[2]));
        CHECK_NEAR((loss[0] + loss[1] + loss[2]) / 3, number(&epochs, i, "train_loss"), 1e-12);
        CHECK_NEAR((loss[0] + loss[2]) / 2, number(&devices, 2 * i, "train_loss"), 1e-12);
        CHECK_NEAR((acc[0] + acc[1] + acc[2]) / 3, number(&epochs, i, "member_acc_mean"), 1e-12);
        CHECK(number(&epochs, i, "member_acc_min") == least);
        CHECK(number(&epochs, i, "member_acc_max") == most);
        CHECK(number(&members, 3 * i + 2, "prefix_acc") == number(&epochs, i, "test_acc"));
        CHECK(number(&members, 3 * i, "prefix_acc") == acc[0]);
        CHECK(number(&epochs, i, "disagreement") > 0);
    }
    CHECK_INT(run.model_images, 576);
    CHECK_INT(run.batch_per_device, 16);
    sheet_free(&epochs);
    sheet_free(&steps);
    sheet_free(&members);
    sheet_free(&devices);
    kit_end(&k);
}

TEST(a_run_with_its_own_experiment_gives_the_same_numbers)
{
    struct kit k;
    struct spec s;
    struct wire_status first, second;
    struct record_run run;
    struct err e;
    char *path;

    kit_folder(&k);
    kit_spec(&k, &s, "backend=ref", "optimizer=adamw", "lr_rule=linear", "batch=8/device",
             "devices=2", "weight_decay=0.001", "schedule=cosine", "warmup=1", "valid=10%", NULL);
    run_one(&k, &s, &first, &run);
    CHECK_INT(first.state, WIRE_DONE);
    CHECK_NEAR(run.lr_used, 0.1 * 16 / 256, 1e-15);
    path = io_path(first.path, "experiment.ini");
    spec_default(&s);
    REQUIRE_OK(spec_read(&s, path, &e));
    free(path);
    run_one(&k, &s, &second, &run);
    CHECK_INT(second.state, WIRE_DONE);
    CHECK(strcmp(first.path, second.path) != 0);
    kit_same_runs(first.path, second.path, false);
    CHECK_STR(run.spec.model, "tiny"); /* not "model", as the copy is called */
    /* an earlier run of the same settings is named */
    CHECK(k.facts.equal_run[0] && strstr(first.path, k.facts.equal_run));
    kit_end(&k);
}

TEST(divergence_ends_at_its_step)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    struct sheet steps, epochs;
    struct fake_script script = {.diverge_at = 14};

    kit_folder(&k);
    fake_set_script(&script);
    kit_spec(&k, &s, NULL);
    run_one(&k, &s, &status, &run);
    CHECK_INT(status.state, WIRE_DIVERGED);
    CHECK_INT(status.code, ERR_DIVERGED);
    CHECK_HAS(status.reason, "step 14 (epoch 3, lr 0.1)");
    CHECK_STR(run.reason, status.reason);
    CHECK_INT(run.state, WIRE_DIVERGED);
    CHECK_INT(run.epochs_done, 2);
    read_sheet(status.path, "steps", &steps);
    read_sheet(status.path, "epochs", &epochs);
    REQUIRE(steps.rows == 5 && epochs.rows == 2);
    CHECK_INT(number(&steps, 4, "step"), 14);
    CHECK_STR(sheet_cell(&steps, 4, sheet_column(&steps, "loss")), "nan");
    sheet_free(&steps);
    sheet_free(&epochs);
    /* the last good checkpoint is that of epoch 2 */
    {
        struct safetensors file;
        struct err e;
        bool found;

        REQUIRE_OK(record_read_checkpoint(status.path, &file, &found, &e));
        REQUIRE(found);
        CHECK_STR(safetensors_note(&file, "chorus.epoch"), "2");
        CHECK_STR(safetensors_note(&file, "chorus.step"), "12");
        safetensors_free(&file);
    }
    /* it would diverge again */
    kit_engine(&k, 256, 0);
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    kit_quit(&k);
    CHECK_INT(k.refused_code, ERR_DIVERGED);
    CHECK_HAS(k.refused, "diverged");
    kit_end(&k);
}

TEST(a_loss_too_large_diverges_in_earnest)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;

    kit_folder(&k);
    kit_spec(&k, &s, "backend=ref", "lr=1e40", "epochs=4", NULL);
    run_one(&k, &s, &status, &run);
    CHECK_INT(status.state, WIRE_DIVERGED);
    CHECK_INT(run.epochs_done, 0);
    CHECK_INT(run.best_epoch, 0);
    CHECK(run.best_test_acc == RECORD_EMPTY);
    CHECK(!kit_has(status.path, "best.safetensors"));
    kit_end(&k);
}

TEST(memory_and_failures_have_states_of_their_own)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    struct fake_script script = {.oom = true};

    kit_folder(&k);
    fake_set_script(&script);
    kit_spec(&k, &s, NULL);
    run_one(&k, &s, &status, &run);
    CHECK_INT(status.state, WIRE_OOM);
    CHECK_INT(run.state, WIRE_OOM);
    CHECK_INT(status.code, ERR_NOMEM);
    CHECK_HAS(run.reason, "1,000,000,000,000 bytes");

    script = (struct fake_script){.fail_at = 8};
    fake_set_script(&script);
    run_one(&k, &s, &status, &run);
    CHECK_INT(run.state, WIRE_FAILED);
    CHECK_INT(status.code, ERR_FAILED);
    CHECK_HAS(run.reason, "step 8");
    CHECK_INT(run.epochs_done, 1);

    /* mended, it goes on to the rows of an unbroken run */
    {
        struct wire_status whole;

        script = (struct fake_script){0};
        fake_set_script(&script);
        kit_engine(&k, 256, 0);
        kit_wait(&k, kit_resume(&k, status.path, 0), &status);
        CHECK_INT(status.state, WIRE_DONE);
        kit_run(&k, &s, &whole);
        kit_quit(&k);
        kit_same_runs(status.path, whole.path, false);
    }
    kit_end(&k);
}

TEST(zero_epochs_are_the_initial_weights_and_nothing_more)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    struct sheet epochs, steps;
    struct safetensors file;
    const struct safetensors_tensor *kernel;
    struct net_wants wants = {.input = {8, 8, 1}, .classes = 10};
    struct net *net;
    float *params, stats[6];
    struct err e;
    bool found;

    kit_folder(&k);
    kit_spec(&k, &s, "backend=ref", "epochs=0", NULL);
    run_one(&k, &s, &status, &run);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(run.epochs_done, 0);
    CHECK_INT(run.best_epoch, 0);
    CHECK(run.last_test_acc >= 0 && run.last_test_acc <= 1 && run.last_test_loss > 0);
    read_sheet(status.path, "epochs", &epochs);
    read_sheet(status.path, "steps", &steps);
    CHECK_INT(epochs.rows, 0);
    CHECK_INT(steps.rows, 0);
    sheet_free(&epochs);
    sheet_free(&steps);
    REQUIRE_OK(net_open(&net, k.model, &wants, &e));
    params = mem_new(net->parameter_count, sizeof *params);
    net_init(net, SPEC_INIT_MODEL, 0, net_model_key(0, 0, 0), params, stats);
    REQUIRE_OK(record_read_checkpoint(status.path, &file, &found, &e));
    REQUIRE(found);
    kernel = safetensors_find(&file, "params/Dense_0/kernel");
    REQUIRE(kernel);
    for (int i = 0; i < net->params; i++)
        if (!strcmp(net->param[i].name, "Dense_0/kernel"))
            CHECK(kernel->size == net->param[i].count * 4 &&
                  !memcmp(kernel->bytes, params + net->param[i].offset, kernel->size));
    safetensors_free(&file);
    free(params);
    net_free(net);

    /* and from there to a run that trained from the beginning */
    {
        struct wire_status whole;

        kit_engine(&k, 256, 0);
        kit_wait(&k, kit_resume(&k, status.path, 2), &status);
        CHECK_INT(status.state, WIRE_DONE);
        kit_set(&s, "epochs=2");
        kit_run(&k, &s, &whole);
        kit_quit(&k);
        kit_same_runs(status.path, whole.path, false);
    }
    kit_end(&k);
}
