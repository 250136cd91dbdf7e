/* Where spans are cut, pauses, stops and kills leave no trace in any file but the times. */
#include "tests/unit/engine/help.h"

#include "record/list.h"
#include "record/run/reader.h"
#include "record/run/run.h"

#include <signal.h>
#include <sys/wait.h>

struct kind { /* of run */
    const char *name;
    const char *setting[10];
    bool members;
};

static const struct kind kinds[] = {
    {"fake", {"backend=fake", "devices=2"}, false},
    {"fake ensemble", {"backend=fake", "mode=ensemble", "devices=2", "members=3"}, true},
    {"ref", {"backend=ref", "optimizer=momentum", "devices=2", "augment=flip+crop:1"}, false},
    {"cpu", {"backend=cpu", "optimizer=nesterov", "devices=2", "threads=2", "sync_bn=yes"}, false},
    {"cpu ensemble",
     {"backend=cpu", "mode=ensemble", "devices=2", "members=3", "optimizer=adam", "lr=0.01",
      "threads=2"},
     true},
    {"ref fp64",
     {"backend=ref", "optimizer=adam", "lr=0.01", "precision=fp64", "valid=20", "train_limit=116"},
     false},
    {"ref ensemble",
     {"backend=ref", "mode=ensemble", "devices=2", "members=3", "optimizer=adamw", "lr=0.01",
      "member_order=own", "schedule=cosine"},
     true},
};

/* Under a sanitizer time is dear: the two kinds that hold the most. */
static bool skips(const struct kind *kind)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return !kind->members;
#else
    (void)kind;
    return false;
#endif
}

static void spec_of(struct kit *k, const struct kind *kind, struct spec *s)
{
    kit_spec(k, s, NULL);
    for (int i = 0; i < 10 && kind->setting[i]; i++)
        kit_set(s, kind->setting[i]);
}

/* The unbroken run of a kind, a step a span. */
static void plain(struct kit *k, const struct kind *kind, char path[1024])
{
    struct spec s;
    struct wire_status status;

    kit_engine(k, 256, 1);
    spec_of(k, kind, &s);
    kit_run(k, &s, &status);
    kit_quit(k);
    CHECK_INT(status.state, WIRE_DONE);
    memcpy(path, status.path, sizeof status.path);
}

static void each_kind(void (*test)(struct kit *k, const struct kind *kind, const char *path))
{
    for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
        struct kit k;
        char path[1024];
        int before = test_failures;

        if (skips(&kinds[i]))
            continue;
        kit_folder(&k);
        plain(&k, &kinds[i], path);
        test(&k, &kinds[i], path);
        kit_end(&k);
        if (test_failures > before)
            printf("  in: %s\n", kinds[i].name);
    }
}

static void spans(struct kit *k, const struct kind *kind, const char *path)
{
    static const int lengths[] = {4, 0};

    for (size_t i = 0; i < MEM_COUNT(lengths); i++) {
        struct spec s;
        struct wire_status status;

        kit_engine(k, 256, lengths[i]);
        spec_of(k, kind, &s);
        kit_run(k, &s, &status);
        kit_quit(k);
        CHECK_INT(status.state, WIRE_DONE);
        kit_same_runs(path, status.path, kind->members);
    }
}

TEST(spans_leave_no_trace)
{
    each_kind(spans);
}

/* What happens at kit_at: a command is sent and the span waits until it is obeyed. */
static struct kit *here;
static struct wire_command sent;

static void send_command(const struct backend_span *span)
{
    wire_send(here->wire, &sent);
    for (int i = 0; i < 20000 && !atomic_load(span->stop); i++)
        clock_sleep_ms(1);
}

static bool go_when_paused(struct kit *k, const struct wire_event *event)
{
    if (event->kind == WIRE_STATE && event->u.state.state == WIRE_PAUSED) {
        k->mark++;
        kit_wish(k, event->run, WIRE_WISH_RUN);
    }
    return false;
}

static void pauses(struct kit *k, const struct kind *kind, const char *path)
{
    static const int steps[] = {5, 6};

    for (size_t i = 0; i < MEM_COUNT(steps); i++) {
        struct spec s;
        struct wire_status status;

        kit_engine(k, 256, 0);
        spec_of(k, kind, &s);
        here = k;
        k->mark = 0;
        k->on_event = go_when_paused;
        kit_happen = send_command;
        sent =
            (struct wire_command){.kind = WIRE_WISH, .run = k->runs + 1, .wish = WIRE_WISH_PAUSE};
        atomic_store(&kit_at, steps[i]);
        kit_run(k, &s, &status);
        k->on_event = NULL;
        kit_quit(k);
        CHECK_INT(k->mark, 1);
        CHECK_INT(status.state, WIRE_DONE);
        kit_same_runs(path, status.path, kind->members);
    }
}

TEST(pauses_leave_no_trace)
{
    each_kind(pauses);
}

#define HALF_MS 800

static void send_behind_half_a_step(const struct backend_span *span)
{
    clock_sleep_ms(HALF_MS);
    send_command(span);
}

/* It is made again: images per second fall at no pause, and as of an evaluation its time counts once. */
TEST(half_a_step_before_a_pause_is_no_time_of_training)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;

    kit_folder(&k);
    kit_engine(&k, 256, 1);
    kit_spec(&k, &s, NULL);
    here = &k;
    k.mark = 0;
    k.on_event = go_when_paused;
    kit_happen = send_behind_half_a_step;
    sent = (struct wire_command){.kind = WIRE_WISH, .run = k.runs + 1, .wish = WIRE_WISH_PAUSE};
    atomic_store(&kit_at, 5);
    kit_run(&k, &s, &status);
    CHECK_INT(k.mark, 1);
    kit_read_run(status.path, &run);
    CHECK(run.train_seconds > 0 && run.train_seconds < HALF_MS / 1000.0);
    kit_end(&k);
}

/* Stops at a step, resumes in an engine of its own, stops again, ... */
static void stops(struct kit *k, const struct kind *kind, const char *path)
{
    static const int steps[] = {0, 5, 6, 14};
    struct spec s;
    struct wire_status status = {0};
    struct record_run run;

    for (size_t i = 0; i <= MEM_COUNT(steps); i++) {
        bool last = i == MEM_COUNT(steps);

        kit_engine(k, 256, 0);
        here = k;
        kit_happen = send_command;
        sent = (struct wire_command){.kind = WIRE_WISH, .run = k->runs + 1, .wish = WIRE_WISH_STOP};
        atomic_store(&kit_at, last ? -1 : steps[i]);
        if (i == 0) {
            spec_of(k, kind, &s);
            kit_run(k, &s, &status);
        } else {
            char folder[1024];

            memcpy(folder, status.path, sizeof folder);
            kit_wait(k, kit_resume(k, folder, 0), &status);
        }
        kit_quit(k);
        CHECK_INT(status.state, last ? WIRE_DONE : WIRE_STOPPED);
        CHECK_INT(status.code, last ? ERR_OK : ERR_STOPPED);
        kit_read_run(status.path, &run);
        CHECK_INT(run.state, status.state);
        if (!last)
            CHECK_INT(run.images, 16 * steps[i]);
    }
    kit_same_runs(path, status.path, kind->members);
}

TEST(stops_and_resumes_leave_no_trace)
{
    each_kind(stops);
}

static int grace_ms;

/* Some have written everything by then, others next to nothing. */
static void die(const struct backend_span *span)
{
    (void)span;
    clock_sleep_ms(grace_ms);
    raise(SIGKILL);
}

/* The path of the one run in the folder that is not `but`. */
static void other_run(struct kit *k, const char *but, char path[1024])
{
    struct record_entry *list;
    size_t count;
    struct err e;

    path[0] = '\0';
    if (record_list(k->results, &list, &count, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].folder, but) && list[i].run.state != WIRE_DONE) {
            CHECK(!list[i].live);
            snprintf(path, 1024, "%s", list[i].folder);
        }
    record_free_list(list, count);
}

/* A process of its own that kills itself before the update behind a step. keep=all makes every
 * epoch a checkpoint at once, without it they are at most one a second. */
static void run_and_die(struct kit *k, const struct kind *kind, int step, bool keep_all)
{
    pid_t child;
    int how;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        struct spec s;
        struct wire_status status;

        kit_engine(k, 256, 0);
        kit_happen = die;
        atomic_store(&kit_at, step);
        spec_of(k, kind, &s);
        if (keep_all)
            kit_set(&s, "keep=all+last+best");
        kit_run(k, &s, &status);
        _exit(0);
    }
    waitpid(child, &how, 0);
    CHECK(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
}

static void kills(struct kit *k, const struct kind *kind, const char *path)
{
    static const int steps[] = {3, 8, 11, 17};
    struct wire_status status;

    for (size_t i = 0; i < MEM_COUNT(steps); i++) {
        char dead[1024];

        grace_ms = i ? 50 : 0;
        run_and_die(k, kind, steps[i], i % 2);
        other_run(k, path, dead);
        REQUIRE(dead[0]);
        kit_engine(k, 256, 0);
        kit_wait(k, kit_resume(k, dead, 0), &status);
        kit_quit(k);
        CHECK_INT(status.state, WIRE_DONE);
        kit_same_runs(path, dead, kind->members);
    }
}

TEST(kills_leave_no_trace)
{
    each_kind(kills);
}

/* While it evaluates, a stop is obeyed at once and a pause within the evaluation; both evaluate anew
 * behind it. */
TEST(an_evaluation_that_is_broken_off_is_made_again)
{
    struct kit k;
    struct spec s;
    char path[1024];
    struct wire_status status;
    struct fake_script slow = {.evaluate_ms = 60000}, quick = {0};
    uint32_t run;

    kit_folder(&k);
    plain(&k, &kinds[0], path);
    fake_set_script(&slow);
    kit_engine(&k, 256, 0);
    spec_of(&k, &kinds[0], &s);
    run = kit_start(&k, &s);
    while (!wire_status(k.wire, run, &status) || status.step < 6)
        clock_sleep_ms(1);
    kit_wish(&k, run, WIRE_WISH_PAUSE);
    while (status.state != WIRE_PAUSED)
        wire_status(k.wire, run, &status);
    kit_wish(&k, run, WIRE_WISH_RUN);
    while (status.state != WIRE_RUNNING)
        wire_status(k.wire, run, &status);
    kit_wish(&k, run, WIRE_WISH_STOP);
    kit_wait(&k, run, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_INT(status.step, 6);
    CHECK_INT(status.epoch, 0);
    fake_set_script(&quick);
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    kit_quit(&k);
    CHECK_INT(status.state, WIRE_DONE);
    kit_same_runs(path, status.path, false);
    kit_end(&k);
}

/* Threads are part of what bytes are promised for. */
TEST(a_resume_under_other_conditions_says_so)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    char *path, *text, *at;
    size_t n;
    struct err e;

    kit_folder(&k);
    kit_engine(&k, 256, 0);
    here = &k;
    kit_happen = send_command;
    sent = (struct wire_command){.kind = WIRE_WISH, .run = 1, .wish = WIRE_WISH_STOP};
    atomic_store(&kit_at, 8);
    kit_spec(&k, &s, NULL);
    kit_run(&k, &s, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    path = io_path(status.path, "experiment.ini");
    REQUIRE_OK(io_read_file(path, 1 << 20, &text, &n, &e));
    at = strstr(text, "threads = 1");
    REQUIRE(at);
    at[10] = '2';
    kit_write(path, text);
    free(text);
    free(path);
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_HAS(k.logs, "bytes may differ");
    CHECK_HAS(k.logs, "threads = 2");
    CHECK_HAS(k.logs, "not those that this run began with");
    kit_end(&k);
}

/* `from` becomes `to`, which is as long, where it stands first. */
static void change(const char *folder, const char *name, const char *from, const char *to)
{
    char *path = io_path(folder, name), *text, *at;
    struct err e;
    size_t n;

    REQUIRE_OK(io_read_file(path, 1 << 20, &text, &n, &e));
    at = strstr(text, from);
    REQUIRE(at);
    memcpy(at, to, strlen(to));
    kit_write(path, text);
    free(text);
    free(path);
}

/* A checkpoint that no longer fits leaves the run as it was: what its files say of it fits together. */
TEST(a_checkpoint_of_another_batch_is_refused)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;

    kit_folder(&k);
    kit_engine(&k, 256, 0);
    here = &k;
    kit_happen = send_command;
    sent = (struct wire_command){.kind = WIRE_WISH, .run = 1, .wish = WIRE_WISH_STOP};
    atomic_store(&kit_at, 8);
    kit_spec(&k, &s, NULL);
    kit_run(&k, &s, &status);
    change(status.path, "experiment.ini", "batch = 16", "batch = 19");
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    CHECK_HAS(k.refused, "batch is 19 there and 16 in run.csv");
    change(status.path, "run.csv", ",16,", ",19,");
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    CHECK_INT(k.refused_code, ERR_INPUT);
    CHECK_HAS(k.refused, "step 8, epoch 2, batch 2");
    kit_read_run(status.path, &run);
    CHECK_INT(run.state, WIRE_STOPPED);
    CHECK_INT(run.spec.batch, 19);
    kit_end(&k);
}
