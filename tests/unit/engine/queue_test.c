/* Commands and the queue: order, pauses, stops, quitting, a reader that does not read, RUN/control,
 * folders made for later, and the planner's answers. */
#include "tests/unit/engine/help.h"
#include "wire/sweep.h"

#include "record/run/checkpoint.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"

static struct kit *here;

/* A command that is sent before a step, which then waits until it is obeyed. */
static struct wire_command sent;

static void send_command(const struct backend_span *span)
{
    wire_send(here->wire, &sent);
    for (int i = 0; i < 20000 && !atomic_load(span->stop); i++)
        clock_sleep_ms(1);
}

static void wait_state(struct kit *k, uint32_t run, enum wire_state state,
                       struct wire_status *status)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;

    while (!wire_status(k->wire, run, status) || status->state != state) {
        if (clock_ns() > until) {
            TEST_FAILED("run %u is not %s", run, wire_state_name(state));
            return;
        }
        clock_sleep_ms(1);
    }
}

TEST(runs_wait_for_each_other_in_order)
{
    struct kit k;
    struct spec s;
    struct wire_status first, second, third;
    struct record_run a, b;
    uint32_t run[3];

    kit_folder(&k);
    kit_hold(&k, (struct fake_script){0}, 1);
    kit_engine(&k, 4096, 0);
    kit_spec(&k, &s, NULL);
    for (int i = 0; i < 3; i++)
        run[i] = kit_start(&k, &s);
    wait_state(&k, run[2], WIRE_WAITING, &third);
    CHECK_STR(third.path, "");
    /* one that waits can be stopped, but not paused */
    kit_wish(&k, run[2], WIRE_WISH_PAUSE);
    kit_wish(&k, run[2], WIRE_WISH_STOP_NOW);
    kit_wait(&k, run[2], &third);
    CHECK_INT(third.state, WIRE_STOPPED);
    CHECK_STR(third.path, "");
    CHECK_HAS(k.refused, "waits");
    kit_let_go(&k, "");
    kit_wait(&k, run[0], &first);
    wait_state(&k, run[1], WIRE_DONE, &second);
    CHECK_INT(first.state, WIRE_DONE);
    kit_read_run(first.path, &a);
    kit_read_run(second.path, &b);
    CHECK(strcmp(a.ended_utc, b.started_utc) <= 0);
    kit_end(&k);
}

TEST(commands_for_nobody_are_refused)
{
    struct kit k;
    struct wire_status status;
    struct wire_command c = {.kind = WIRE_START, .run = 9};
    struct spec s;

    kit_folder(&k);
    kit_engine(&k, 64, 0);
    kit_wish(&k, 42, WIRE_WISH_STOP_NOW);
    wire_send(k.wire, &c); /* without its slot */
    kit_spec(&k, &s, "batch=97", NULL);
    kit_run(&k, &s, &status);
    CHECK_INT(status.state, WIRE_FAILED);
    CHECK_INT(status.code, ERR_INPUT);
    CHECK_HAS(status.reason, "batch = 97 is more than the 96 images");
    CHECK_INT(k.events[WIRE_REFUSED], 3);
    CHECK_HAS(k.refused, "batch = 97");
    CHECK(!io_exists(k.results)); /* nothing was written */
    kit_wait(&k, kit_resume(&k, "/no/such/run", 0), &status);
    CHECK_INT(k.refused_code, ERR_INPUT);
    kit_end(&k);
}

TEST(a_reader_that_never_reads_holds_nothing_up)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    struct fake_script slow = {.step_ms = 1};
    struct wire_event event;
    uint64_t taken = 0;

    kit_folder(&k);
    fake_set_script(&slow);
    kit_engine(&k, 2, 1);
    kit_spec(&k, &s, "epochs=40", "log_every=1", NULL);
    wait_state(&k, kit_start(&k, &s), WIRE_DONE, &status);
    kit_read_run(status.path, &run);
    CHECK_INT(run.epochs_done, 40);
    CHECK(wire_missed(k.wire) > 40);
    while (wire_take(k.wire, &event)) {
        taken++;
        free(wire_slot_take(k.wire, event.slot, NULL));
    }
    CHECK_INT(taken, 2);
    kit_end(&k);
}

static atomic_bool arrived;

static void arrive(const struct backend_span *span)
{
    atomic_store(&arrived, true);
    for (int i = 0; i < 20000 && !atomic_load(span->stop); i++)
        clock_sleep_ms(1);
}

TEST(quitting_stops_what_runs_and_it_can_be_resumed)
{
    struct kit k;
    struct spec s;
    struct wire_status status, whole;
    struct record_run run;
    uint32_t number;

    kit_folder(&k);
    atomic_store(&arrived, false);
    kit_happen = arrive;
    atomic_store(&kit_at, 8);
    kit_engine(&k, 64, 0);
    kit_spec(&k, &s, "epochs=4", NULL);
    number = kit_start(&k, &s);
    kit_start(&k, &s); /* this one never begins */
    wait_state(&k, number, WIRE_RUNNING, &status);
    for (int i = 0; i < 20000 && !atomic_load(&arrived); i++)
        clock_sleep_ms(1);
    kit_quit(&k);
    kit_read_run(status.path, &run);
    CHECK_INT(run.state, WIRE_STOPPED);
    CHECK(kit_has(status.path, "checkpoint.safetensors"));
    kit_engine(&k, 64, 0);
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    kit_run(&k, &s, &whole);
    kit_same_runs(status.path, whole.path, false);
    kit_end(&k);
}

TEST(quitting_while_it_begins_leaves_nothing_running)
{
    for (int ms = 0; ms < 12; ms += 2) {
        struct kit k;
        struct spec s;

        kit_folder(&k);
        kit_engine(&k, 64, 0);
        kit_spec(&k, &s, "epochs=1000000", NULL);
        kit_start(&k, &s);
        clock_sleep_ms(ms);
        kit_end(&k);
        CHECK(k.engine == NULL);
    }
}

/* Where the run stands when a command was given behind step 8: the second epoch's second update. */
static void stop_at_8(struct kit *k, const char *setting, enum wire_wish how,
                      struct wire_status *status, struct record_run *run)
{
    struct spec s;

    kit_engine(k, 256, 0);
    here = k;
    kit_happen = send_command;
    kit_spec(k, &s, setting, NULL);
    sent = (struct wire_command){.kind = WIRE_WISH, .run = k->runs + 1, .wish = how};
    atomic_store(&kit_at, 8);
    kit_run(k, &s, status);
    kit_quit(k);
    kit_read_run(status->path, run);
}

static int64_t checkpoint_step(const char *path)
{
    struct safetensors file;
    struct err e;
    int64_t step = -1;
    bool found;

    if (record_read_checkpoint(path, &file, &found, &e) == ERR_OK && found) {
        if (!record_unpack_int(&file, RECORD_NOTE_STEP, &step))
            TEST_FAILED("the checkpoint does not say its step");
        safetensors_free(&file);
    }
    return step;
}

static atomic_bool answered;
static bool taken_back;

static bool hear_refusal(struct kit *k, const struct wire_event *event)
{
    (void)k;
    if (event->kind == WIRE_REFUSED)
        atomic_store(&answered, true);
    return false;
}

/* A command for nobody is answered behind the one before it. */
static void stop_after_epoch(const struct backend_span *span)
{
    (void)span;
    wire_send(here->wire, &sent);
    if (taken_back)
        kit_wish(here, sent.run, WIRE_WISH_RUN);
    kit_wish(here, 42, WIRE_WISH_STOP_NOW);
    for (int i = 0; i < 20000 && !atomic_load(&answered); i++)
        clock_sleep_ms(1);
}

TEST(a_stop_comes_at_once_or_after_the_epoch)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;

    kit_folder(&k);
    stop_at_8(&k, "epochs=3", WIRE_WISH_STOP, &status, &run);
    CHECK_INT(status.step, 8);
    CHECK_INT(run.epochs_done, 1);
    CHECK_INT(run.state, WIRE_STOPPED);
    CHECK_INT(checkpoint_step(status.path), 8);
    stop_at_8(&k, "epochs=3", WIRE_WISH_STOP_NOW, &status, &run);
    CHECK_INT(status.step, 8);
    CHECK_INT(checkpoint_step(status.path), 6); /* the last epoch's: nothing of its own */

    kit_engine(&k, 256, 0);
    kit_spec(&k, &s, NULL);
    kit_happen = stop_after_epoch;
    k.on_event = hear_refusal;
    sent =
        (struct wire_command){.kind = WIRE_WISH, .run = k.runs + 1, .wish = WIRE_WISH_STOP_EPOCH};
    atomic_store(&kit_at, 8);
    kit_run(&k, &s, &status);
    kit_quit(&k);
    kit_read_run(status.path, &run);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_INT(status.step, 12);
    CHECK_INT(run.epochs_done, 2);
    CHECK_HAS(run.reason, "after epoch 2");

    taken_back = true;
    atomic_store(&answered, false);
    kit_engine(&k, 256, 0);
    kit_happen = stop_after_epoch;
    k.on_event = hear_refusal;
    sent.run = k.runs + 1;
    atomic_store(&kit_at, 8);
    kit_run(&k, &s, &status);
    kit_quit(&k);
    taken_back = false;
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(status.step, 18);
    kit_end(&k);
}

static void sleep_long(const struct backend_span *span)
{
    for (int i = 0; i < 20000 && !atomic_load(span->stop); i++)
        clock_sleep_ms(1);
}

static void control(struct kit *k, const char *path, const char *line)
{
    struct err e;

    if (record_control(path, line, &e) != ERR_OK)
        TEST_FAILED("%s: %s", line, e.text);
    (void)k;
}

TEST(lines_in_control_are_obeyed)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    struct wire_event event;
    uint32_t number;
    struct err e;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    kit_spec(&k, &s, NULL);
    kit_happen = sleep_long;
    atomic_store(&kit_at, 8);
    number = kit_start(&k, &s);
    wait_state(&k, number, WIRE_RUNNING, &status);
    control(&k, status.path, "jump");
    control(&k, status.path, "pause");
    wait_state(&k, number, WIRE_PAUSED, &status);
    CHECK_INT(status.step, 8);
    kit_read_run(status.path, &run);
    CHECK_INT(run.state, WIRE_PAUSED);
    CHECK(kit_has(status.path, "checkpoint.safetensors"));
    kit_happen = sleep_long;
    atomic_store(&kit_at, 10);
    control(&k, status.path, "go");
    wait_state(&k, number, WIRE_RUNNING, &status);
    control(&k, status.path, "stop step");
    wait_state(&k, number, WIRE_STOPPED, &status);
    CHECK_INT(status.step, 10);
    while (wire_take(k.wire, &event))
        kit_hear(&k, &event);
    CHECK_HAS(k.logs, "jump");
    CHECK_INT(record_control(status.path, "go", &e), ERR_FAILED); /* nobody owns it */
    kit_end(&k);
}

TEST(who_leaves_after_the_epoch_changes_no_wish)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    uint32_t number;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    kit_hold(&k, (struct fake_script){0}, 8);
    kit_spec(&k, &s, NULL);
    number = kit_start(&k, &s);
    wait_state(&k, number, WIRE_RUNNING, &status);
    kit_wish(&k, number, WIRE_WISH_PAUSE);
    wait_state(&k, number, WIRE_PAUSED, &status);
    CHECK(!status.closing);
    kit_send(&k, WIRE_LEAVE, 0);
    wait_state(&k, number, WIRE_RUNNING, &status); /* to the end of its epoch */
    CHECK(status.wish == WIRE_WISH_PAUSE && status.closing);
    kit_send(&k, WIRE_STAY, 0);
    wait_state(&k, number, WIRE_PAUSED, &status); /* as it was */
    CHECK(status.wish == WIRE_WISH_PAUSE && !status.closing);
    kit_send(&k, WIRE_LEAVE, 0);
    wait_state(&k, number, WIRE_RUNNING, &status);
    kit_let_go(&k, "");
    wait_state(&k, number, WIRE_STOPPED, &status);
    CHECK_INT(status.wish, WIRE_WISH_PAUSE);
    CHECK_HAS(status.reason, "after epoch ");
    CHECK_INT(status.step % 6, 0);
    kit_end(&k);
}

TEST(a_run_has_one_owner)
{
    struct kit k, other;
    struct spec s;
    struct wire_status status, refused;
    uint32_t number;

    kit_folder(&k);
    kit_engine(&k, 256, 0);
    kit_spec(&k, &s, NULL);
    kit_happen = sleep_long;
    atomic_store(&kit_at, 8);
    number = kit_start(&k, &s);
    wait_state(&k, number, WIRE_RUNNING, &status);
    kit_folder(&other);
    kit_engine(&other, 64, 0);
    kit_wait(&other, kit_resume(&other, status.path, 0), &refused);
    CHECK_INT(other.refused_code, ERR_FAILED);
    CHECK_HAS(other.refused, "process");
    kit_end(&other);
    kit_wish(&k, number, WIRE_WISH_STOP_NOW);
    kit_wait(&k, number, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    kit_end(&k);
}

TEST(a_prepared_run_waits_for_resume)
{
    struct kit k;
    struct wire_start *start = mem_new(1, sizeof *start);
    struct wire_status status, whole;
    struct record_run run;
    struct spec s;
    uint32_t number;

    kit_folder(&k);
    kit_engine(&k, 256, 0);
    kit_spec(&k, &s, NULL);
    start->spec = s;
    start->prepare_only = true;
    number = kit_begin(&k, start);
    while (!wire_status(k.wire, number, &status) || !status.path[0])
        clock_sleep_ms(1);
    CHECK_INT(status.state, WIRE_WAITING);
    kit_read_run(status.path, &run);
    CHECK_INT(run.state, WIRE_WAITING);
    CHECK(!record_is_owned(status.path));
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    CHECK_INT(status.state, WIRE_DONE);
    kit_run(&k, &s, &whole);
    kit_same_runs(status.path, whole.path, false);
    free(start);
    kit_end(&k);
}

static void ask_sweep_of(struct kit *k, const struct spec_sweep *sweep, uint32_t question, int jobs)
{
    struct wire_command c = {.kind = WIRE_ASK, .run = question};
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;
    struct wire_event event;
    size_t n;
    struct wire_sweep *message = wire_sweep_new(sweep, "asked", &n);

    message->jobs = jobs;
    (void)wire_send_with(k->wire, c, message, n);
    free(message);
    while (k->forecast.question != question && clock_ns() < until) {
        clock_sleep_ms(1);
        while (wire_take(k->wire, &event))
            kit_hear(k, &event);
    }
    CHECK_INT(k->forecast.question, question);
}

static void ask(struct kit *k, const struct spec *s, uint32_t question)
{
    struct spec_sweep sweep;

    spec_sweep_init(&sweep);
    sweep.base = *s;
    ask_sweep_of(k, &sweep, question, 0);
    spec_sweep_free(&sweep);
}

TEST(the_planner_plans_with_a_share_of_the_threads)
{
    struct spec_sweep sweep;
    struct kit k;
    struct spec s;
    struct err e;
    int all;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    kit_spec(&k, &s, "threads=all", NULL);
    ask(&k, &s, 1);
    all = k.plan.threads;
    spec_sweep_init(&sweep);
    sweep.base = s;
    REQUIRE_OK(spec_sweep_set(&sweep, "lr", "0.1, 0.2", NULL, NULL, &e));
    REQUIRE_OK(spec_sweep_close(&sweep, &e));
    ask_sweep_of(&k, &sweep, 2, 1000); /* more than there are: one each */
    CHECK_INT(k.plan.threads, 1);
    spec_sweep_free(&sweep);
    ask(&k, &s, 3);
    CHECK_INT(k.plan.threads, all);
    kit_end(&k);
}

TEST(the_planner_says_what_a_start_would_miss)
{
    struct kit k;
    struct spec s;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    kit_spec(&k, &s, "weights=/nonexistent/w.safetensors", NULL);
    ask(&k, &s, 1);
    CHECK_INT(k.plan.code, ERR_INPUT);
    CHECK_HAS(k.plan.error, "weights: cannot read /nonexistent/w.safetensors: No such file");
    kit_spec(&k, &s, "weights=nobody", NULL);
    ask(&k, &s, 2);
    CHECK(k.plan.code != ERR_OK);
    CHECK_HAS(k.plan.error, "weights");
    kit_spec(&k, &s, NULL);
    ask(&k, &s, 3);
    CHECK_INT(k.plan.code, ERR_OK);
    kit_end(&k);

    kit_folder(&k); /* results where a file is in the way */
    kit_engine(&k, 4096, 0);
    (void)rmdir(k.results);
    kit_write(k.results, "");
    kit_spec(&k, &s, NULL);
    ask(&k, &s, 4);
    CHECK(k.plan.code != ERR_OK);
    CHECK_HAS(k.plan.error, "is no folder");
    kit_end(&k);
}

/* Another program's, while this engine goes on. */
TEST(the_planner_learns_from_runs_that_others_end)
{
    struct kit k, other;
    struct spec s;
    struct wire_status status;
    char *folder;

    kit_folder(&k);
    kit_folder(&other);
    kit_engine(&k, 4096, 0);
    kit_spec(&k, &s, "batch=20", NULL);
    ask(&k, &s, 1);
    CHECK(isnan(k.plan.seconds));
    kit_engine(&other, 4096, 0);
    kit_run(&other, &s, &status);
    (void)mkdir(k.results, 0777);
    folder = io_path(k.results, strrchr(status.path, '/') + 1);
    CHECK(rename(status.path, folder) == 0);
    for (uint32_t q = 2; q < 10000 && !(k.plan.seconds > 0); q++)
        ask(&k, &s, q);
    CHECK(k.plan.seconds > 0);
    free(folder);
    kit_end(&other);
    kit_end(&k);
}

TEST(the_planner_answers_while_a_run_trains)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    uint32_t number;
    double once, again;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    kit_spec(&k, &s, "batch=20", "devices=2", NULL);
    ask(&k, &s, 5);
    CHECK_INT(k.plan.code, ERR_OK);
    CHECK(isnan(k.plan.seconds)); /* nothing is known here yet */
    CHECK_INT(k.plan.images, 96);
    CHECK_INT(k.plan.test_images, 40);
    CHECK_INT(k.plan.steps_per_epoch, 4);
    CHECK_INT(k.plan.dropped, 16);
    CHECK_INT(k.plan.batch, 20);
    CHECK_INT(k.plan.batch_per_device, 10);
    CHECK_INT(k.plan.h, 8);
    CHECK_INT(k.plan.classes, 10);
    CHECK_INT(k.plan.devices, 2);
    CHECK_INT(k.plan.real_devices, 1);
    CHECK_INT(k.plan.parameters, 30 + 6 + 270 + 10);
    CHECK(k.plan.bytes_per_device > 0);
    CHECK_STR(k.plan.backend, "fake");

    kit_set(&s, "batch=21");
    ask(&k, &s, 6);
    CHECK_INT(k.plan.code, ERR_INPUT);
    CHECK_HAS(k.plan.error, "20 and 22");
    kit_set(&s, "batch=20");
    kit_set(&s, "train_limit=70000");
    ask(&k, &s, 7);
    CHECK_INT(k.plan.code, ERR_INPUT);
    CHECK_HAS(k.plan.error, "70000");

    /* behind a run it knows how long another one takes: twice the epochs, twice the time, begun once */
    kit_set(&s, "train_limit=96");
    kit_run(&k, &s, &status);
    kit_read_run(status.path, &run);
    once = fmax(run.wall_seconds - run.train_seconds - run.eval_seconds, 0);
    for (uint32_t q = 8; q < 3000 && !(k.plan.seconds > 0); q++)
        ask(&k, &s, q);
    again = k.plan.seconds - once;
    CHECK(again > 0);
    kit_set(&s, "epochs=6");
    ask(&k, &s, 3000);
    CHECK_NEAR(k.plan.seconds, 2 * again + once, 1e-6 * k.plan.seconds);
    kit_set(&s, "max_minutes=1e-9");
    ask(&k, &s, 3500);
    CHECK_NEAR(k.plan.seconds, 6e-8, 1e-12);
    kit_set(&s, "max_minutes=none");

    /* a run that hangs in a step does not keep it from answering */
    kit_happen = sleep_long;
    atomic_store(&kit_at, 3);
    number = kit_start(&k, &s);
    wait_state(&k, number, WIRE_RUNNING, &status);
    ask(&k, &s, 4000);
    CHECK_INT(k.plan.code, ERR_OK);
    kit_end(&k);
}
