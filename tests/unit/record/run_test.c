/* A run's folder: what stands in it, word for word, and that it is whole for whoever reads along. */
#include "base/process.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "record/trash.h"
#include "tests/unit/record/help.h"

#include <locale.h>
#include <signal.h>
#include <sys/wait.h>

static const char epochs_head[] =
    "epoch,step,images,model_images,train_seconds,eval_seconds,device_seconds,train_loss,train_acc,"
    "val_loss,val_acc,test_loss,test_acc,member_acc_min,member_acc_mean,member_acc_max,member_loss_"
    "mean,ece,disagreement,lr,images_per_second,input_seconds,compute_seconds,reduce_seconds,wait_"
    "seconds,ended_utc\n";
static const char members_head[] =
    "epoch,member,device,train_loss,train_acc,test_loss,test_acc,prefix_acc,images_per_second\n";
static const char devices_head[] =
    "epoch,device,real,images,train_loss,train_acc,input_seconds,compute_seconds,reduce_seconds,"
    "wait_seconds,memory_bytes,gpu_percent,temperature_c,power_watts\n";
static const char steps_head[] = "step,epoch,member,images,train_seconds,loss,acc,lr\n";
static const char run_before[] =
    "run,sweep,cell,state,reason,pid,host,version,started_utc,ended_utc,";
static const char run_after[] =
    "backend_used,precision_used,isa,real_devices,threads_used,shared,lr_used,batch_per_device,"
    "parameters,flops_per_image,network_hash,data_hash,epochs_done,best_epoch,best_by,best_test_acc,"
    "best_test_loss,last_test_acc,last_test_loss,train_seconds,eval_seconds,wall_seconds,"
    "device_seconds,images,model_images,target_seconds,peak_memory_bytes,plans,epochs_check,"
    "tags,note\n";

static void check_file(const char *folder, const char *name, const char *want)
{
    char *have = help_text(folder, name);

    if (!have || strcmp(have, want))
        TEST_FAILED("%s is \"%s\", not \"%s\"", name, have ? have : "(missing)", want);
    free(have);
}

TEST(a_new_folder_has_every_file_and_header)
{
    struct err e = {0};
    char *top = help_folder(), *results = io_path(top, "a/b");
    struct record_run *run = help_run();
    struct record *r;
    struct text head = {0};
    char *csv;
    size_t n = 0;

    REQUIRE_OK(record_create(&r, results, run, "model = model.net\n", "dense classes\n", true, &e));
    CHECK_INT(help_count(results, ""), 1);
    CHECK_INT(help_count(results, run->run), 1);
    check_file(record_folder(r), "experiment.ini", "model = model.net\n");
    check_file(record_folder(r), "model.net", "dense classes\n");
    check_file(record_folder(r), "epochs.csv", epochs_head);
    check_file(record_folder(r), "members.csv", members_head);
    check_file(record_folder(r), "devices.csv", devices_head);
    check_file(record_folder(r), "steps.csv", steps_head);
    check_file(record_folder(r), "control", "\n");
    check_file(record_folder(r), "log.txt", "");
    text_add(&head, run_before);
    for (int i = 0; spec_keys[i].name; i++)
        text_addf(&head, "%s,", spec_keys[i].name);
    text_add(&head, run_after);
    csv = help_text(record_folder(r), "run.csv");
    REQUIRE(csv && strlen(csv) > head.n);
    CHECK(!strncmp(csv, head.s, head.n));
    for (const char *s = csv; *s; s++)
        n += *s == '\n';
    CHECK_INT(n, 2);
    free(csv);
    text_free(&head);
    record_close(r);

    run->started_utc[0] = 0;
    REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
    CHECK_INT(help_count(record_folder(r), "members.csv"), 0);
    CHECK_INT(help_count(results, ""), 2);
    record_close(r);
    free(run);
    free(results);
    help_remove(top);
}

TEST(the_name_is_time_label_and_hash)
{
    static const struct {
        const char *name, *model;
        enum spec_mode mode;
        int devices, members;
        const char *label;
    } table[] = {
        {"", "cnn", SPEC_DATA_PARALLEL, 1, 0, "-cnn-"},
        {"", "cnn", SPEC_DATA_PARALLEL, 8, 0, "-cnn-dp8-"},
        {"", "cnn", SPEC_ENSEMBLE, 2, 4, "-cnn-ens4-"},
        {"", "cnn", SPEC_ENSEMBLE, 3, 0, "-cnn-ens3-"},
        {"", "/a/b/my net.net", SPEC_DATA_PARALLEL, 1, 0, "-my-net-"},
        {"two words", "cnn", SPEC_DATA_PARALLEL, 1, 0, "-two-words-"},
        {"../../etc/passwd", "cnn", SPEC_DATA_PARALLEL, 1, 0, "-etc-passwd-"},
        {"...", "cnn", SPEC_DATA_PARALLEL, 1, 0, "-run-"},
        {"a\033[31m\nb=c", "cnn", SPEC_DATA_PARALLEL, 1, 0, "-a-31m-b-c-"},
    };
    struct err e = {0};
    char *results = help_folder();

    for (size_t i = 0; i < MEM_COUNT(table); i++) {
        struct record_run *run = help_run();
        struct record *r;
        size_t n;
        snprintf(run->spec.name, sizeof run->spec.name, "%s", table[i].name);
        snprintf(run->spec.model, sizeof run->spec.model, "%s", table[i].model);
        run->spec.mode = table[i].mode;
        run->spec.devices = table[i].devices;
        run->spec.members = table[i].members;
        REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
        CHECK_HAS(run->run, table[i].label);
        n = strlen(run->run);
        CHECK_INT(n, strlen("2026-11-20-101530-412") + strlen(table[i].label) + 4);
        CHECK_INT(strspn(run->run, "0123456789-"), 22 + strspn(run->run + 22, "0123456789-"));
        CHECK_INT(strspn(run->run + n - 4, "0123456789abcdef"), 4);
        CHECK(run->started_utc[0] && run->pid == getpid());
        record_close(r);
        free(run);
    }
    help_remove(results);
}

/* ResNet-18's, tuned, on three GPUs that are not alike. */
TEST(plans_of_three_places_have_room)
{
    struct err e = {0};
    char *results = help_folder();
    struct record_run *run = help_run();
    struct record_entry entry;
    struct record *r;
    char place[258];

    memset(place, '6', sizeof place - 1);
    place[sizeof place - 1] = '\0';
    snprintf(run->plans, sizeof run->plans, "%s | %s | %s", place, place, place);
    REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
    REQUIRE_OK(record_read_entry(record_folder(r), &entry, &e));
    CHECK_INT(strlen(entry.run.plans), 3 * 257 + 2 * 3);
    CHECK_STR(entry.run.plans, run->plans);
    record_free_entry(&entry);
    record_close(r);
    free(run);
    help_remove(results);
}

TEST(runs_of_one_moment_do_not_meet)
{
    struct err e = {0};
    char *results = help_folder();

    for (int i = 0; i < 20; i++) {
        struct record_run *run = help_run();
        struct record *r;
        REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
        record_close(r);
        free(run);
    }
    CHECK_INT(help_count(results, ""), 20);
    help_remove(results);
}

TEST(run_csv_says_what_was_put_in)
{
    struct err e = {0};
    char *results = help_folder();
    struct record_run *run = help_run();
    struct record *r;
    struct record_entry back;
    struct text a = {0}, b = {0};

    snprintf(run->reason, sizeof run->reason, "it said \"no\", twice;\nthen stopped");
    snprintf(run->note, sizeof run->note, " blank in front, h\u00e9");
    run->state = WIRE_DIVERGED;
    run->best_epoch = 7;
    run->best_test_acc = 0.1 + 0.2;
    run->last_test_loss = INFINITY;
    run->last_test_acc = NAN;
    run->spec.mode = SPEC_ENSEMBLE;
    run->spec.members = 4;
    run->spec.lr = 1e-7;
    run->spec.seed = UINT64_C(9007199254740993);
    run->flops_per_image = 13260000;
    run->images = INT64_C(9223372036854775807);
    REQUIRE_OK(record_create(&r, results, run, "", "", true, &e));
    REQUIRE_OK(record_read_entry(record_folder(r), &back, &e));
    CHECK(!back.broken && back.live && !back.dead);
    for (int i = 0; record_run_columns[i]; i++) {
        text_clear(&a);
        text_clear(&b);
        record_run_value(run, record_run_columns[i], &a);
        record_run_value(&back.run, record_run_columns[i], &b);
        if (strcmp(text_str(&a), text_str(&b)))
            TEST_FAILED("%s: \"%s\" became \"%s\"", record_run_columns[i], text_str(&a),
                        text_str(&b));
    }
    CHECK_STR(back.run.reason, run->reason);
    CHECK(back.run.best_test_acc == 0.1 + 0.2);
    CHECK(isinf(back.run.last_test_loss) && isnan(back.run.last_test_acc));
    CHECK(back.run.best_test_loss == RECORD_EMPTY);
    CHECK(back.run.spec.seed == UINT64_C(9007199254740993));
    CHECK_INT(back.run.images, INT64_MAX);
    record_free_entry(&back);

    run->state = WIRE_DONE;
    run->epochs_done = 3;
    REQUIRE_OK(record_write_run(r, run, &e));
    REQUIRE_OK(record_read_entry(record_folder(r), &back, &e));
    CHECK_INT(back.run.state, WIRE_DONE);
    CHECK_INT(back.run.epochs_done, 3);
    CHECK_INT(help_count(record_folder(r), "run.csv"), 1);
    record_free_entry(&back);
    text_free(&a);
    text_free(&b);
    record_close(r);
    free(run);
    help_remove(results);
}

static struct record_epoch some_epoch(int64_t epoch)
{
    return (struct record_epoch){.epoch = epoch,
                                 .step = epoch * 234,
                                 .images = epoch * 59904,
                                 .model_images = epoch * 59904,
                                 .train_seconds = 1.5,
                                 .eval_seconds = 0.25,
                                 .device_seconds = 1.5,
                                 .train_loss = 0.1,
                                 .train_acc = 0.9,
                                 .val_loss = RECORD_EMPTY,
                                 .val_acc = RECORD_EMPTY,
                                 .test_loss = 1e-7,
                                 .test_acc = 0.5,
                                 .member_acc_min = 0.5,
                                 .member_acc_mean = 0.5,
                                 .member_acc_max = 0.5,
                                 .member_loss_mean = 1e-7,
                                 .ece = 0.3,
                                 .lr = 0.1,
                                 .images_per_second = 39936,
                                 .ended_utc = "2026-11-20T10:15:30.412Z"};
}

static void add_rows(struct record *r, int64_t epoch)
{
    struct err e = {0};
    struct record_epoch row = some_epoch(epoch);
    struct record_member member = {epoch, 1, 0, 0.5, NAN, INFINITY, 0.25, 0.125, 1234.5};
    struct record_device device = {.epoch = epoch,
                                   .device = 3,
                                   .real = "cpu",
                                   .images = 7,
                                   .train_loss = -0.0,
                                   .train_acc = 1,
                                   .memory_bytes = 1e9,
                                   .gpu_percent = RECORD_EMPTY,
                                   .temperature_c = RECORD_EMPTY,
                                   .power_watts = RECORD_EMPTY};

    for (int64_t step = epoch * 10 - 5; step <= epoch * 10; step += 5) {
        struct record_step s = {step, epoch, 0, step * 256, 0.5, 2.302585, 0.1, 0.05};
        REQUIRE_OK(record_add_step(r, &s, &e));
    }
    REQUIRE_OK(record_add_member(r, &member, &e));
    REQUIRE_OK(record_add_device(r, &device, &e));
    REQUIRE_OK(record_add_epoch(r, &row, &e));
}

TEST(rows_are_written_as_the_columns_say)
{
    struct err e = {0};
    char *results = help_folder(), *want;
    struct record_run *run = help_run();
    struct record *r;
    const char *row_2 = "2,468,119808,119808,1.5,0.25,1.5,0.1,0.9,,,1e-07,0.5,0.5,0.5,0.5,1e-07,"
                        "0.3,0,0.1,39936,0,0,0,0,2026-11-20T10:15:30.412Z\n";

    REQUIRE_OK(record_create(&r, results, run, "", "", true, &e));
    setlocale(LC_ALL, "de_DE.UTF-8"); /* a comma as the point, where the machine knows it */
    add_rows(r, 2);
    setlocale(LC_ALL, "C");
    want = mem_textf("%s%s", epochs_head, row_2);
    check_file(record_folder(r), "epochs.csv", want);
    free(want);
    want = mem_textf("%s2,1,0,0.5,nan,inf,0.25,0.125,1234.5\n", members_head);
    check_file(record_folder(r), "members.csv", want);
    free(want);
    want = mem_textf("%s2,3,cpu,7,-0,1,0,0,0,0,1000000000,,,\n", devices_head);
    check_file(record_folder(r), "devices.csv", want);
    free(want);
    want = mem_textf("%s15,2,0,3840,0.5,2.302585,0.1,0.05\n20,2,0,5120,0.5,2.302585,0.1,0.05\n",
                     steps_head);
    check_file(record_folder(r), "steps.csv", want);
    free(want);
    REQUIRE_OK(record_sync(r, &e));
    record_close(r);
    free(run);
    help_remove(results);
}

TEST(a_single_model_has_no_members)
{
    struct err e = {0};
    char *results = help_folder();
    struct record_run *run = help_run();
    struct record_member member = {.epoch = 1};
    struct record *r;

    REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
    CHECK_INT(record_add_member(r, &member, &e), ERR_FAILED);
    CHECK_HAS(e.text, "members.csv");
    record_close(r);
    free(run);
    help_remove(results);
}

TEST(rows_newer_than_the_checkpoint_are_cut)
{
    struct err e = {0};
    char *results = help_folder(), *folder, *whole[4], *now;
    static const char *const names[4] = {"epochs.csv", "members.csv", "devices.csv", "steps.csv"};
    struct record_run *run = help_run();
    struct record *r;

    REQUIRE_OK(record_create(&r, results, run, "", "", true, &e));
    add_rows(r, 1);
    add_rows(r, 2);
    for (int i = 0; i < 4; i++)
        whole[i] = help_text(record_folder(r), names[i]);
    add_rows(r, 3);
    folder = mem_text(record_folder(r));
    record_close(r);

    REQUIRE_OK(record_open(&r, folder, &e));
    REQUIRE_OK(record_cut(r, 2, 20, &e));
    for (int i = 0; i < 4; i++)
        check_file(folder, names[i], whole[i]);
    REQUIRE_OK(record_cut(r, 2, 17, &e)); /* in the middle of an epoch */
    now = help_text(folder, "steps.csv");
    REQUIRE(now);
    CHECK_HAS(now, "\n15,2,");
    CHECK(!strstr(now, "\n20,2,"));
    free(now);
    check_file(folder, "epochs.csv", whole[0]);
    REQUIRE_OK(record_cut(r, 0, 0, &e));
    check_file(folder, "epochs.csv", epochs_head);
    check_file(folder, "steps.csv", steps_head);
    add_rows(r, 1);
    add_rows(r, 2);
    for (int i = 0; i < 4; i++)
        check_file(folder, names[i], whole[i]);
    record_close(r);
    for (int i = 0; i < 4; i++)
        free(whole[i]);
    free(folder);
    free(run);
    help_remove(results);
}

TEST(a_torn_last_line_is_cut_wherever_it_is_torn)
{
    struct err e = {0};
    char *results = help_folder(), *folder, *one, *two;
    struct record_run *run = help_run();
    struct record *r;
    size_t first, all;

    REQUIRE_OK(record_create(&r, results, run, "", "", true, &e));
    add_rows(r, 1);
    folder = mem_text(record_folder(r));
    one = help_text(folder, "epochs.csv");
    add_rows(r, 2);
    two = help_text(folder, "epochs.csv");
    record_close(r);
    first = strlen(one);
    all = strlen(two);
    for (size_t n = 0; n < all; n++) {
        help_put(folder, "epochs.csv", two, n);
        REQUIRE_OK(record_open(&r, folder, &e));
        check_file(folder, "epochs.csv", n < first ? epochs_head : one);
        record_close(r);
    }
    /* longer than one read of the search for its beginning */
    {
        struct text t = {0};
        text_add(&t, one);
        for (int i = 0; i < 10000; i++)
            text_add(&t, "7");
        help_put(folder, "epochs.csv", t.s, t.n);
        text_free(&t);
        REQUIRE_OK(record_open(&r, folder, &e));
        check_file(folder, "epochs.csv", one);
        record_close(r);
    }
    free(one);
    free(two);
    free(folder);
    free(run);
    help_remove(results);
}

TEST(rows_that_are_no_rows_are_not_passed_over)
{
    static const char lost[] = "\0\0\0\0\n10,1,0,1,1,1,1,1\n";
    struct err e = {0};
    char *results = help_folder(), *folder, *one, *bad;
    struct record_run *run = help_run();
    struct record *r;
    struct text zeros = {0};

    REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
    folder = mem_text(record_folder(r));
    one = mem_textf("%s5,1,0,1,1,1,1,1\n", steps_head);
    text_add(&zeros, one);
    text_add_n(&zeros, lost, sizeof lost - 1);
    record_close(r);

    help_put(folder, "steps.csv", zeros.s, zeros.n); /* as power that was lost leaves it */
    REQUIRE_OK(record_open(&r, folder, &e));
    REQUIRE_OK(record_cut(r, 1, 10, &e));
    check_file(folder, "steps.csv", one);
    record_close(r);

    bad = mem_textf("%sfive,1,0,1,1,1,1,1\n10,1,0,1,1,1,1,1\n", steps_head);
    help_put(folder, "steps.csv", bad, strlen(bad));
    REQUIRE_OK(record_open(&r, folder, &e));
    CHECK_INT(record_cut(r, 1, 10, &e), ERR_INPUT);
    CHECK_HAS(e.text, "steps.csv:2");
    check_file(folder, "steps.csv", bad);
    record_close(r);

    help_put(folder, "steps.csv", "a,b\n1,2\n", 8);
    CHECK_INT(record_open(&r, folder, &e), ERR_INPUT);
    CHECK_HAS(e.text, "other columns");
    check_file(folder, "steps.csv", "a,b\n1,2\n");
    CHECK(!record_is_owned(folder)); /* a refused open lets go of the lock */
    free(bad);
    free(one);
    free(folder);
    free(run);
    text_free(&zeros);
    help_remove(results);
}

TEST(a_run_has_one_owner)
{
    struct err e = {0};
    char *results = help_folder(), *folder;
    struct record_run *run = help_run();
    struct record *r, *other;
    struct record_entry entry;
    char pid[32];

    REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
    folder = mem_text(record_folder(r));
    CHECK(record_is_owned(folder));
    CHECK_INT(record_open(&other, folder, &e), ERR_FAILED);
    CHECK_HAS(e.text, folder);
    snprintf(pid, sizeof pid, "process %ld on ", (long)getpid());
    CHECK_HAS(e.text, pid);
    record_close(r);
    CHECK(!record_is_owned(folder));
    REQUIRE_OK(record_read_entry(folder, &entry, &e));
    CHECK(entry.dead && !entry.live); /* run.csv says running, nobody holds the lock */
    record_free_entry(&entry);
    REQUIRE_OK(record_open(&other, folder, &e));
    REQUIRE_OK(record_read_entry(folder, &entry, &e));
    CHECK(!entry.dead && entry.live);
    record_free_entry(&entry);
    record_close(other);

    CHECK_INT(record_open(&other, results, &e), ERR_INPUT);
    CHECK_HAS(e.text, "no run.csv");
    CHECK_INT(help_count(results, "lock"), 0);
    free(folder);
    free(run);
    help_remove(results);
}

/* Who comes next would make a new file, whose lock nobody holds. */
TEST(a_deleted_lock_file_hides_no_owner)
{
    struct err e = {0};
    char *results = help_folder(), *folder, *lock, *to;
    struct record_run *run = help_run();
    struct record *r, *other;
    struct record_entry entry;

    REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
    folder = mem_text(record_folder(r));
    lock = io_path(folder, "lock");
    REQUIRE(!unlink(lock));
    CHECK_INT(record_open(&other, folder, &e), ERR_FAILED);
    CHECK_HAS(e.text, "at work already");
    CHECK(record_is_owned(folder));
    REQUIRE_OK(record_read_entry(folder, &entry, &e));
    CHECK(!entry.dead && entry.live);
    CHECK_INT(record_remove(&entry, &to, &e), ERR_FAILED);
    record_free_entry(&entry);
    CHECK(!io_exists(lock));
    record_close(r);
    CHECK(!record_is_owned(folder));
    REQUIRE_OK(record_open(&other, folder, &e));
    CHECK(io_exists(lock));
    record_close(other);
    free(lock);
    free(folder);
    free(run);
    help_remove(results);
}

TEST(a_killed_owner_leaves_no_lock)
{
    struct err e = {0};
    char *results = help_folder(), *folder;
    struct record_run *run = help_run();
    struct record *r;
    int ready[2], status;
    char byte;
    pid_t child;

    REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
    folder = mem_text(record_folder(r));
    record_close(r);
    REQUIRE(pipe(ready) == 0);
    child = fork();
    if (child == 0) {
        if (record_open(&r, folder, &e) != ERR_OK || write(ready[1], "x", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    REQUIRE(read(ready[0], &byte, 1) == 1);
    CHECK(record_is_owned(folder));
    CHECK_INT(record_open(&r, folder, &e), ERR_FAILED);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    CHECK(!record_is_owned(folder));
    REQUIRE_OK(record_open(&r, folder, &e));
    record_close(r);
    close(ready[0]);
    free(folder);
    free(run);
    help_remove(results);
}

TEST(who_asks_whether_a_run_lives_keeps_nobody_from_it)
{
    struct err e = {0};
    char *results = help_folder(), *folder;
    struct record_run *run = help_run();
    struct record *r;
    int status, failures = 0;
    pid_t child[3];

    REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
    folder = mem_text(record_folder(r));
    record_close(r);
    for (int i = 0; i < 3; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            for (;;) {
                (void)record_is_owned(folder);
                usleep(100);
            }
        }
    }
    for (int i = 0; i < 50; i++) {
        if (record_open(&r, folder, &e) == ERR_OK)
            record_close(r);
        else
            failures++;
    }
    for (int i = 0; i < 3; i++) {
        kill(child[i], SIGKILL);
        waitpid(child[i], &status, 0);
    }
    CHECK_INT(failures, 0);
    free(folder);
    free(run);
    help_remove(results);
}

TEST(control_carries_lines_to_the_owner)
{
    struct err e = {0};
    char *results = help_folder(), *folder, line[32];
    struct record_run *run = help_run();
    struct record *r;

    REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
    folder = mem_text(record_folder(r));
    CHECK(!record_next_control(r, line, sizeof line));
    REQUIRE_OK(record_control(folder, "pause", &e));
    REQUIRE_OK(record_control(folder, "stop epoch", &e));
    REQUIRE(record_next_control(r, line, sizeof line));
    CHECK_STR(line, "pause");
    REQUIRE(record_next_control(r, line, sizeof line));
    CHECK_STR(line, "stop epoch");
    CHECK(!record_next_control(r, line, sizeof line));
    REQUIRE_OK(record_control(folder, "go", &e));
    REQUIRE(record_next_control(r, line, sizeof line));
    CHECK_STR(line, "go");
    /* by hand, as from a shell: `echo`, with what editors leave, or more than there is room for */
    help_put(folder, "control", "\n  go \r\n\nstop now", 17);
    REQUIRE(record_next_control(r, line, sizeof line));
    CHECK_STR(line, "go");
    REQUIRE(record_next_control(r, line, sizeof line));
    CHECK_STR(line, "stop now");
    CHECK(!record_next_control(r, line, sizeof line));
    help_put(folder, "control", "pause\0go\n", 9);
    REQUIRE(record_next_control(r, line, 4));
    CHECK_STR(line, "pau");
    REQUIRE(record_next_control(r, line, sizeof line));
    CHECK_STR(line, "go");
    CHECK(!record_next_control(r, line, sizeof line));
    check_file(folder, "control", "\n"); /* keeps its place on a full disk */

    REQUIRE_OK(record_control(folder, "stop now", &e));
    record_close(r);
    CHECK_INT(record_control(folder, "pause", &e), ERR_FAILED);
    CHECK_HAS(e.text, "nobody runs ");
    REQUIRE_OK(record_open(&r, folder, &e)); /* the line was for the owner before */
    CHECK(!record_next_control(r, line, sizeof line));
    record_close(r);
    free(folder);
    free(run);
    help_remove(results);
}

TEST(the_log_keeps_one_line_a_line)
{
    struct err e = {0};
    char *results = help_folder(), *log;
    struct record_run *run = help_run();
    struct record *r;

    REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
    record_log(r, "began");
    record_log(r, "two\nlines");
    log = help_text(record_folder(r), "log.txt");
    REQUIRE(log);
    CHECK_HAS(log, "Z began\n");
    CHECK_HAS(log, "Z two lines\n");
    free(log);
    REQUIRE_OK(record_write_ini(r, "epochs = 20\n", &e));
    check_file(record_folder(r), "experiment.ini", "epochs = 20\n");
    record_close(r);
    free(run);
    help_remove(results);
}

static int die(const char *from, const char *to)
{
    (void)from;
    (void)to;
    _exit(9);
}

/* Makes a run's folder up to its rename, and dies. */
static pid_t begin_and_die(const char *results)
{
    struct err e = {0};
    struct record *r;
    pid_t child = fork();

    if (child == 0) {
        io.rename = die;
        _exit(record_create(&r, results, help_run(), "", "", true, &e) == ERR_OK);
    }
    waitpid(child, NULL, 0);
    return child;
}

TEST(what_dead_processes_began_is_removed_and_nothing_else)
{
    char *results = help_folder(), *other = help_folder(), *mark = process_mark(), *link, *live;
    pid_t dead = begin_and_die(results);

    CHECK_INT(help_count(results, "tmp-"), 1);
    live = mem_textf("%s/.b.tmp-%s", results, mark);
    *strrchr(mark, '-') = 0;
    link = mem_textf("%s/.a.tmp-%s-%ld", results, mark, (long)dead);
    help_put(other, "run.csv", "precious", 8);
    REQUIRE(symlink(other, link) == 0 && mkdir(live, 0777) == 0);
    record_remove_begun(results);
    CHECK_INT(help_count(results, "tmp-"), 2);
    CHECK(io_exists(live) && io_exists(link));
    check_file(other, "run.csv", "precious");
    free(mark);
    free(live);
    free(link);
    help_remove(other);
    help_remove(results);
}

TEST(a_reader_sees_only_whole_rows)
{
    struct err e = {0};
    char *results = help_folder(), *folder;
    struct record_run *run = help_run();
    struct record *r;
    pid_t child;
    int status;
    size_t rows = 0, reads = 0;

    REQUIRE_OK(record_create(&r, results, run, "", "", true, &e));
    folder = mem_text(record_folder(r));
    child = fork();
    if (child == 0) {
        for (int i = 1; i <= 300; i++)
            add_rows(r, i);
        _exit(0);
    }
    while (rows < 300 && reads++ < 1000000) {
        struct sheet s;
        REQUIRE_OK(record_read_sheet(folder, "epochs", &s, &e));
        if (s.rows < rows)
            TEST_FAILED("%zu rows became %zu", rows, s.rows);
        for (size_t i = rows; i < s.rows; i++) {
            if (sheet_number(&s, i, 0) != (double)i + 1 ||
                strcmp(sheet_cell(&s, i, sheet_column(&s, "ended_utc")),
                       "2026-11-20T10:15:30.412Z"))
                TEST_FAILED("row %zu is not whole", i);
        }
        rows = s.rows;
        sheet_free(&s);
    }
    waitpid(child, &status, 0);
    CHECK_INT(rows, 300);
    record_close(r);
    free(folder);
    free(run);
    help_remove(results);
}
