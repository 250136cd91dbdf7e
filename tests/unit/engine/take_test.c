/* What an engine takes from results/queue: in which order, when not, and what becomes of the files. */
#include "tests/unit/engine/help.h"

#include "record/columns.h"
#include "record/list.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/sweep/ledger.h"
#include "record/queue/queue.h"
#include "record/working.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

/* An experiment of the fake backend called `name`, with more lines behind it. */
static void queue_add(struct kit *k, const char *name, const char *more)
{
    struct text t = {0};
    struct spec *s = mem_new(1, sizeof *s);
    struct err e;

    kit_spec(k, s, NULL);
    kit_set(s, "lr=0.05");
    snprintf(s->name, sizeof s->name, "%s", name);
    spec_write(s, &t);
    if (!strncmp(more, "# options", 9)) {
        char *text = mem_textf("%s%s", more, text_str(&t));

        text_free(&t);
        text_add(&t, text);
        free(text);
    } else {
        text_add(&t, more);
    }
    if (record_queue_add(k->results, text_str(&t), name, NULL, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    text_free(&t);
    free(s);
}

/* keys: lr and batch, one of them a list. */
static void queue_sweep(struct kit *k, const char *options, const char *name, const char *keys)
{
    char *text = mem_textf("%smodel = %s\ndata = synthetic\ntrain_limit = 96\ntest_limit = 40\n"
                           "epochs = 1\nbackend = fake\nthreads = 1\n%s\n",
                           options, k->model, keys);
    struct err e;

    if (record_queue_add(k->results, text, name, NULL, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    free(text);
}

static void hear_all(struct kit *k)
{
    struct wire_event event;

    while (wire_take(k->wire, &event))
        kit_hear(k, &event);
}

/* Until the queue is in that state, and (taken) so many were taken. */
static struct wire_queue wait_queue(struct kit *k, enum wire_queue_state state, int64_t taken)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;
    struct wire_queue q = {0};

    do {
        hear_all(k);
        wire_queue(k->wire, &q);
        if (clock_ns() > until) {
            TEST_FAILED("the queue is in state %d (%s), %lld were taken", q.state, q.reason,
                        (long long)q.taken);
            return q;
        }
        clock_sleep_ms(2);
    } while (q.state != state || q.taken < taken);
    hear_all(k);
    return q;
}

static void wait_running(struct kit *k, uint32_t run, struct wire_status *status)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;

    while (!wire_status(k->wire, run, status) || status->state != WIRE_RUNNING) {
        if (clock_ns() > until) {
            TEST_FAILED("run %u does not run", run);
            return;
        }
        hear_all(k);
        clock_sleep_ms(1);
    }
}

/* The names of all runs, the oldest first, with their states: "a:done b:done". */
static char *runs_of(const char *results)
{
    struct record_entry *list;
    struct text t = {0};
    size_t n = 0;
    struct err e;

    if (record_list(results, &list, &n, &e) != ERR_OK)
        n = 0;
    for (size_t i = 0; i < n; i++)
        text_addf(&t, "%s%s:%s", i ? " " : "", list[i].run.spec.name, record_entry_state(&list[i]));
    if (n)
        record_free_list(list, n);
    text_add(&t, "");
    return t.s ? t.s : mem_text("");
}

#define CHECK_RUNS(k, want)                                                                        \
    do {                                                                                           \
        char *runs_ = runs_of((k)->results);                                                       \
        CHECK_STR(runs_, want);                                                                    \
        free(runs_);                                                                               \
    } while (0)

static size_t left_in_queue(struct kit *k)
{
    struct record_queued *list;
    struct err e;
    size_t n = 0;

    if (record_queue_list(k->results, &list, &n, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    record_queue_free(list, n);
    return n;
}

TEST(what_waits_is_taken_in_its_order)
{
    struct kit k;
    struct wire_queue q;
    struct wire_status status;

    kit_folder(&k);
    k.queue = true;
    queue_add(&k, "b", "");
    queue_add(&k, "a", "");
    queue_add(&k, "c", "");
    kit_engine(&k, 4096, 0);
    q = wait_queue(&k, WIRE_QUEUE_EMPTY, 3);
    CHECK_RUNS(&k, "b:done a:done c:done");
    CHECK_INT(left_in_queue(&k), 0);
    CHECK_INT(q.taken, 3);
    CHECK_INT(q.rejected, 0);
    CHECK_INT(q.waiting, 0);
    CHECK(q.run >= WIRE_OWN_RUNS && !q.sweep);
    CHECK_STR(q.item, "0003-c.ini");
    CHECK(wire_status(k.wire, q.run, &status));
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(k.events[WIRE_TAKEN], 3);
    CHECK_INT(k.events[WIRE_STARTED], 3);
    CHECK(k.facts.queued);
    CHECK_INT(record_queue_owner(k.results), 0);
    /* one that comes later is noticed */
    queue_add(&k, "d", "");
    wait_queue(&k, WIRE_QUEUE_EMPTY, 4);
    CHECK_RUNS(&k, "b:done a:done c:done d:done");
    kit_end(&k);
}

TEST(an_engine_without_a_queue_leaves_it_alone)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct wire_queue q;

    kit_folder(&k);
    queue_add(&k, "a", "");
    kit_engine(&k, 4096, 0);
    kit_spec(&k, &s, "name=own", NULL);
    kit_run(&k, &s, &status);
    CHECK(!k.facts.queued);
    wire_queue(k.wire, &q);
    CHECK_INT(q.state, WIRE_QUEUE_OFF);
    CHECK_INT(left_in_queue(&k), 1);
    kit_end(&k);
}

TEST(what_cannot_be_used_is_put_aside_and_the_next_is_taken)
{
    static const char *const bad[] = {"0002-word.ini.bad", "0003-batch.ini.bad",
                                      "0004-folder.ini.bad", "0005-options.ini.bad"};
    struct kit k;
    struct wire_queue q;
    char *queue, *path;

    kit_folder(&k);
    k.queue = true;
    queue = io_path(k.results, "queue");
    path = io_path(queue, "0004-folder.ini");
    queue_add(&k, "a", "");
    queue_add(&k, "word", "nonsense = 1\n");
    queue_add(&k, "batch", "");
    {
        struct record_queued *list;
        struct err e;
        size_t n;
        FILE *f;
        char *batch = io_path(queue, "0003-batch.ini");

        REQUIRE_OK(record_queue_list(k.results, &list, &n, &e));
        f = fopen(batch, "w");
        fprintf(f, "model = %s\ndata = synthetic\ntrain_limit = 96\nbatch = 97\nbackend = fake\n",
                k.model);
        fclose(f);
        free(batch);
        record_queue_free(list, n);
    }
    mkdir(path, 0777);
    queue_add(&k, "options", "# options: --colour red\n");
    queue_add(&k, "z", "");
    kit_engine(&k, 4096, 0);
    q = wait_queue(&k, WIRE_QUEUE_EMPTY, 3);
    CHECK_RUNS(&k, "a:done z:done");
    CHECK_INT(q.rejected, 4);
    CHECK_INT(q.taken, 3); /* that 97 is too many only the data tell */
    for (size_t i = 0; i < MEM_COUNT(bad); i++)
        CHECK(kit_has(queue, bad[i]));
    CHECK_HAS(k.logs, "0002-word.ini cannot be used and is out of the queue");
    CHECK_HAS(k.logs, "nonsense");
    CHECK_HAS(k.logs, "batch = 97 is more than the 96 images");
    CHECK_HAS(k.logs, "is a folder");
    CHECK_HAS(k.logs, "its options (line 1) cannot be read");
    free(path);
    free(queue);
    kit_end(&k);
}

TEST(lists_of_values_make_a_sweep)
{
    struct kit k;
    struct wire_queue q;
    struct wire_sweep_status sweep;
    char *path;

    kit_folder(&k);
    k.queue = true;
    queue_sweep(&k, "", "rates", "batch = 16\nlr = 0.1, 0.2, 0.4");
    queue_sweep(&k, "# options: --name board --order grid --max-cells 2\n", "x",
                "batch = 16\nlr = 0.1, 0.2, 0.4");
    queue_add(&k, "behind", "");
    kit_engine(&k, 4096, 0);
    k.events[WIRE_TAKEN] = 0;
    q = wait_queue(&k, WIRE_QUEUE_EMPTY, 3);
    CHECK_INT(k.events[WIRE_TAKEN], 3);
    CHECK(!q.sweep);
    CHECK(wire_sweep_status(k.wire, WIRE_OWN_RUNS, &sweep));
    CHECK_STR(sweep.name, "rates");
    CHECK_INT(sweep.state, WIRE_DONE);
    CHECK_INT(sweep.done, 3);
    path = io_path(k.results, "sweeps/board/sweep.csv");
    CHECK(io_exists(path));
    free(path);
    CHECK_INT(left_in_queue(&k), 0);
    {
        /* board's cells are those of rates but for the sweep's name: each sweep has its own ledger */
        char *runs = runs_of(k.results);
        size_t n = 0;

        for (const char *p = runs; (p = strstr(p, ":done")); p++)
            n++;
        CHECK_INT(n, 3 + 2 + 1);
        CHECK_HAS(runs, "behind:done");
        CHECK(!strcmp(runs + strlen(runs) - strlen("behind:done"), "behind:done"));
        free(runs);
    }
    /* other keys under the name of a sweep that is there would spoil its table */
    k.logs[0] = 0;
    queue_sweep(&k, "# options: --name board\n", "x", "lr = 0.1\nbatch = 16, 32");
    q = wait_queue(&k, WIRE_QUEUE_EMPTY, 3);
    while (!q.rejected)
        q = wait_queue(&k, WIRE_QUEUE_EMPTY, 3);
    CHECK_HAS(k.logs, "the sweep board walks lr");
    CHECK_INT(q.rejected, 1);
    kit_end(&k);
}

TEST(a_sweep_that_cannot_begin_is_put_aside)
{
    struct kit k;
    struct wire_queue q;

    kit_folder(&k);
    k.queue = true;
    queue_sweep(&k, "", "none", "lr = 0.1\nbatch = 1000, 2000");
    queue_add(&k, "z", "");
    kit_engine(&k, 4096, 0);
    q = wait_queue(&k, WIRE_QUEUE_EMPTY, 2);
    CHECK_INT(q.rejected, 1);
    CHECK_RUNS(&k, "z:done");
    CHECK_HAS(k.logs, "0001-none.ini cannot be used");
    kit_end(&k);
}

TEST(two_engines_take_each_one_once)
{
    struct kit k[2];
    struct fake_script slow = {.step_ms = 1};
    size_t taken = 0;
    uint64_t until;
    char *runs;

    kit_folder(&k[0]);
    fake_set_script(&slow);
    k[0].queue = true;
    for (int i = 0; i < 8; i++)
        queue_add(&k[0], (char[2]){(char)('a' + i), 0}, "");
    k[1] = k[0];
    for (int i = 0; i < 2; i++)
        kit_engine(&k[i], 4096, 0);
    until = clock_ns() + KIT_WAIT_MS * 1000000ull;
    while (taken < 8 && clock_ns() < until) {
        struct wire_queue q;

        taken = 0;
        for (int i = 0; i < 2; i++) {
            hear_all(&k[i]);
            wire_queue(k[i].wire, &q);
            taken += (size_t)q.taken;
        }
        clock_sleep_ms(2);
    }
    for (int i = 0; i < 2; i++)
        wait_queue(&k[i], WIRE_QUEUE_EMPTY, 0);
    CHECK_INT(taken, 8);
    runs = runs_of(k[0].results);
    CHECK_STR(runs, "a:done b:done c:done d:done e:done f:done g:done h:done");
    free(runs);
    kit_quit(&k[1]);
    kit_end(&k[0]);
}

TEST(a_stop_of_what_runs_goes_on_to_the_next)
{
    struct kit k;
    struct wire_queue q;
    struct wire_status status;
    struct fake_script fast = {0};

    kit_folder(&k);
    k.queue = true;
    kit_hold(&k, fast, 5);
    queue_add(&k, "a", "");
    queue_add(&k, "b", "");
    kit_engine(&k, 4096, 0);
    q = wait_queue(&k, WIRE_QUEUE_BUSY, 1);
    wait_running(&k, q.run, &status);
    CHECK_INT(left_in_queue(&k), 1); /* it stands: its file is gone */
    CHECK(record_queue_owner(k.results) == getpid());
    fake_set_script(&fast);
    kit_wish(&k, q.run, WIRE_WISH_STOP);
    wait_queue(&k, WIRE_QUEUE_EMPTY, 2);
    CHECK_RUNS(&k, "a:stopped b:done");
    kit_end(&k);
}

TEST(a_run_that_was_stopped_goes_on_in_its_turn)
{
    struct kit k;
    struct wire_queue q;
    struct wire_status status;
    struct record_run run;
    char *options;
    struct fake_script fast = {0};

    kit_folder(&k);
    k.queue = true;
    kit_hold(&k, fast, 5);
    queue_add(&k, "a", "");
    kit_engine(&k, 4096, 0);
    q = wait_queue(&k, WIRE_QUEUE_BUSY, 1);
    wait_running(&k, q.run, &status);
    options = mem_textf("# options: --resume %s --order spread\n", strrchr(status.path, '/') + 1);
    queue_add(&k, "b", "");
    queue_add(&k, "a", options);
    fake_set_script(&fast);
    kit_wish(&k, q.run, WIRE_WISH_STOP);
    wait_queue(&k, WIRE_QUEUE_EMPTY, 3);
    CHECK_RUNS(&k, "a:done b:done"); /* two runs, not three */
    kit_read_run(status.path, &run);
    CHECK_INT(run.epochs_done, run.spec.epochs);
    queue_add(&k, "a", options); /* somebody else was quicker: it has its end */
    queue_add(&k, "x", "# options: --resume none\n");
    queue_add(&k, "z", "");
    q = wait_queue(&k, WIRE_QUEUE_EMPTY, 5);
    CHECK_RUNS(&k, "a:done b:done z:done");
    CHECK_INT(q.rejected, 1);
    CHECK_HAS(k.logs, "there is no run none any more");
    CHECK_INT(left_in_queue(&k), 0);
    free(options);
    kit_end(&k);
}

TEST(the_users_own_runs_come_first)
{
    struct kit k;
    struct spec s;
    struct wire_status own = {0};
    uint32_t run;

    kit_folder(&k);
    k.queue = true;
    kit_hold(&k, (struct fake_script){0}, 5);
    queue_add(&k, "a", "");
    kit_engine(&k, 4096, 0);
    wait_queue(&k, WIRE_QUEUE_BUSY, 1);
    queue_add(&k, "b", "");
    kit_spec(&k, &s, "name=own", NULL);
    run = kit_start(&k, &s);
    for (int i = 0; i < 20000 && !wire_status(k.wire, run, &own); i++)
        clock_sleep_ms(1);
    CHECK_INT(own.state, WIRE_WAITING);
    kit_let_go(&k, "");
    wait_queue(&k, WIRE_QUEUE_EMPTY, 2);
    CHECK_RUNS(&k, "a:done own:done b:done");
    kit_end(&k);
}

TEST(quitting_leaves_the_rest_in_the_queue)
{
    struct kit k;
    struct wire_queue q;
    struct wire_status status;

    kit_folder(&k);
    k.queue = true;
    kit_hold(&k, (struct fake_script){0}, 5);
    for (int i = 0; i < 3; i++)
        queue_add(&k, (char[2]){(char)('a' + i), 0}, "");
    kit_engine(&k, 4096, 0);
    q = wait_queue(&k, WIRE_QUEUE_BUSY, 1);
    wait_running(&k, q.run, &status);
    kit_quit(&k);
    CHECK_RUNS(&k, "a:stopped");
    CHECK_INT(left_in_queue(&k), 2);
    fake_set_script(&(struct fake_script){0});
    kit_engine(&k, 4096, 0);
    wait_queue(&k, WIRE_QUEUE_EMPTY, 2);
    CHECK_RUNS(&k, "a:stopped b:done c:done");
    kit_end(&k);
}

TEST(a_run_that_is_handed_over_ends_the_taking)
{
    struct kit k;
    struct wire_queue q;
    struct wire_status status;

    kit_folder(&k);
    k.queue = true;
    kit_hold(&k, (struct fake_script){0}, 5);
    queue_add(&k, "a", "");
    queue_add(&k, "b", "");
    kit_engine(&k, 4096, 0);
    q = wait_queue(&k, WIRE_QUEUE_BUSY, 1);
    wait_running(&k, q.run, &status);
    kit_send(&k, WIRE_HAND_OVER, q.run);
    wait_queue(&k, WIRE_QUEUE_OFF, 1);
    kit_wait(&k, q.run, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    clock_sleep_ms(1500); /* longer than it would need to look again */
    q = wait_queue(&k, WIRE_QUEUE_OFF, 1);
    CHECK_INT(q.taken, 1);
    CHECK_INT(left_in_queue(&k), 1);
    CHECK_INT(record_queue_owner(k.results), 0);
    kit_end(&k);
}

/* A process that shows itself at work on these results, until it is killed. */
static pid_t work_elsewhere(const char *results)
{
    int ends[2];
    char byte;
    pid_t child;

    if (pipe(ends))
        return -1;
    child = fork();
    if (child == 0) {
        struct record_work *w = record_work_new(results);

        record_work_set(w, "/a/run", 1);
        if (write(ends[1], "y", 1) == 1)
            pause();
        _exit(1);
    }
    if (read(ends[0], &byte, 1) != 1)
        TEST_FAILED("no process");
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void end_work(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* The kit's own cache, in whose folder programs are seen to be at work; the user's is put back. */
struct own_cache {
    char *before, *working;
};

static void cache_begin(struct kit *k, struct own_cache *c)
{
    const char *was = getenv("CHORUS_CACHE");
    char *folder = io_path(k->folder, "cache");

    c->before = mem_text(was ? was : "off");
    c->working = io_path(folder, "working");
    setenv("CHORUS_CACHE", folder, 1);
    free(folder);
}

static void cache_end(struct kit *k, struct own_cache *c)
{
    kit_quit(k);
    setenv("CHORUS_CACHE", c->before, 1);
    free(c->before);
    free(c->working);
    kit_end(k);
}

TEST(another_program_at_work_on_these_results_comes_first)
{
    struct kit k;
    struct wire_queue q;
    char *other;
    pid_t there, elsewhere;
    struct own_cache cache;

    kit_folder(&k);
    cache_begin(&k, &cache);
    k.queue = true;
    queue_add(&k, "a", "");
    other = io_path(k.folder, "other");
    mkdir(other, 0777);
    elsewhere = work_elsewhere(other);
    there = work_elsewhere(k.results);
    kit_engine(&k, 4096, 0);
    q = wait_queue(&k, WIRE_QUEUE_HELD, 0);
    CHECK_INT(q.pid, there);
    CHECK_HAS(q.reason, "is at work on /a/run");
    CHECK_INT(q.waiting, 1);
    CHECK_INT(record_queue_owner(k.results), 0); /* who else could take may */
    end_work(there);
    wait_queue(&k, WIRE_QUEUE_EMPTY, 1);
    CHECK_RUNS(&k, "a:done");
    end_work(elsewhere);
    free(other);
    cache_end(&k, &cache);
}

/* What wants to be alone waits for programs with other results too, in its place of the queue. */
TEST(what_wants_to_be_alone_waits_for_every_other_program)
{
    struct kit k;
    struct wire_queue q;
    char *other;
    pid_t elsewhere;
    struct own_cache cache;

    kit_folder(&k);
    cache_begin(&k, &cache);
    k.queue = true;
    queue_add(&k, "a", "");
    queue_add(&k, "b", "# options: --order spread --alone\n");
    queue_add(&k, "c", "");
    other = io_path(k.folder, "other");
    mkdir(other, 0777);
    elsewhere = work_elsewhere(other);
    kit_engine(&k, 4096, 0);
    q = wait_queue(&k, WIRE_QUEUE_HELD, 1);
    CHECK_INT(q.pid, elsewhere);
    CHECK_HAS(q.reason, "is at work on /a/run");
    CHECK_INT(q.waiting, 2);
    CHECK_RUNS(&k, "a:done");
    end_work(elsewhere);
    wait_queue(&k, WIRE_QUEUE_EMPTY, 3);
    CHECK_RUNS(&k, "a:done b:done c:done");
    free(other);
    cache_end(&k, &cache);
}

/* Whoever waits for its end is not to take a moment between two cells for it. */
TEST(a_sweep_is_at_work_between_its_cells_too)
{
    struct kit k;
    struct own_cache cache;
    struct fake_script slow = {.step_ms = 1};
    struct wire_sweep_status sweep;
    struct wire_queue q = {0};
    bool begun = false;
    int gaps = 0;
    char **names;
    struct err e;
    size_t n;

    kit_folder(&k);
    cache_begin(&k, &cache);
    fake_set_script(&slow);
    k.queue = true;
    queue_sweep(&k, "", "board", "batch = 16\nlr = 0.1, 0.2, 0.3\non_end = sleep 0.1");
    queue_add(&k, "behind", "");
    kit_engine(&k, 4096, 0);
    for (uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull; clock_ns() < until;) {
        hear_all(&k);
        wire_queue(k.wire, &q);
        n = 0;
        if (io_exists(cache.working) && io_list_folder(cache.working, &names, &n, &e) == ERR_OK)
            io_free_names(names, n);
        if (q.state == WIRE_QUEUE_EMPTY)
            break;
        /* behind the last cell there is its command's end, of which nothing is asked */
        gaps += begun && !n && wire_sweep_status(k.wire, WIRE_OWN_RUNS, &sweep) && sweep.waiting;
        begun |= n > 0;
    }
    CHECK(begun);
    CHECK_INT(q.taken, 2);
    CHECK_INT(q.rejected, 0);
    CHECK_INT(gaps, 0);
    cache_end(&k, &cache);
}

/* Others see an engine at work while a run trains, and that it has one while it is paused. */
TEST(an_engine_shows_that_it_is_at_work)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct fake_script slow = {.step_ms = 10};
    struct own_cache cache;
    char *path;
    uint64_t until;
    uint32_t run;
    size_t n = 0, size;
    bool paused = false;
    char **names;
    struct err e;

    kit_folder(&k);
    cache_begin(&k, &cache);
    fake_set_script(&slow);
    kit_engine(&k, 4096, 0);
    kit_spec(&k, &s, "epochs=50", NULL);
    run = kit_start(&k, &s);
    wait_running(&k, run, &status);
    REQUIRE_OK(io_list_folder(cache.working, &names, &n, &e));
    CHECK_INT(n, 1);
    io_free_names(names, n);
    kit_wish(&k, run, WIRE_WISH_PAUSE);
    until = clock_ns() + KIT_WAIT_MS * 1000000ull;
    do {
        char *bytes = NULL;

        clock_sleep_ms(5);
        REQUIRE_OK(io_list_folder(cache.working, &names, &n, &e));
        CHECK_INT(n, 1);
        path = io_path(cache.working, names[0]);
        if (io_read_file(path, 4096, &bytes, &size, &e) == ERR_OK)
            paused = strstr(bytes, "\n0\n") != NULL;
        free(bytes);
        free(path);
        io_free_names(names, n);
    } while (!paused && clock_ns() < until);
    CHECK(paused); /* its turn is not over */
    cache_end(&k, &cache);
}

static atomic_bool no_room;
static int (*real_mkdir)(const char *path, mode_t mode);

static int full_mkdir(const char *path, mode_t mode)
{
    if (atomic_load(&no_room) && (strstr(path, "/.2") || strstr(path, "/sweeps/"))) {
        errno = ENOSPC;
        return -1;
    }
    return real_mkdir(path, mode);
}

static atomic_int no_unlink; /* the error that removing from the queue ends with; 0: none */

static int failing_unlink(const char *path)
{
    int error = strstr(path, "/queue/0") ? atomic_load(&no_unlink) : 0;

    if (!error)
        return unlink(path);
    errno = error;
    return -1;
}

static void wait_words(struct kit *k, const char *words)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;

    while (!strstr(k->logs, words) && clock_ns() < until) {
        hear_all(k);
        clock_sleep_ms(2);
    }
    CHECK_HAS(k->logs, words);
}

/* What keeps it from beginning is told, and then what keeps it from going. */
TEST(a_full_disk_spoils_no_file)
{
    struct kit k;
    struct wire_queue q;

    kit_folder(&k);
    k.queue = true;
    real_mkdir = io.mkdir;
    io.mkdir = full_mkdir;
    io.unlink = failing_unlink;
    atomic_store(&no_room, true);
    queue_add(&k, "a", "");
    kit_engine(&k, 4096, 0);
    q = wait_queue(&k, WIRE_QUEUE_HELD, 1);
    CHECK_HAS(q.reason, "No space left");
    CHECK_INT(q.rejected, 0);
    CHECK_INT(left_in_queue(&k), 1);
    CHECK_HAS(k.logs, "the queue waits until that can be done");
    atomic_store(&no_unlink, EWOULDBLOCK);
    atomic_store(&no_room, false);
    wait_words(&k, "nothing more is taken until it is gone");
    q = wait_queue(&k, WIRE_QUEUE_HELD, 2);
    CHECK(!q.lasts); /* a lock that another program has passes */
    atomic_store(&no_unlink, EACCES);
    while (!q.lasts && strstr(q.reason, strerror(EWOULDBLOCK)))
        q = wait_queue(&k, WIRE_QUEUE_HELD, 2);
    CHECK(q.lasts);
    atomic_store(&no_unlink, 0);
    wait_queue(&k, WIRE_QUEUE_EMPTY, 2);
    CHECK_RUNS(&k, "a:done");
    CHECK_INT(left_in_queue(&k), 0);
    kit_end(&k);
    io.mkdir = real_mkdir;
    io.unlink = unlink;
}

/* Its folder was made and taken away again: it is not what the file was for. */
TEST(a_sweep_that_finds_no_room_stays_in_the_queue)
{
    struct kit k;
    struct wire_queue q;

    kit_folder(&k);
    k.queue = true;
    real_mkdir = io.mkdir;
    io.mkdir = full_mkdir;
    atomic_store(&no_room, true);
    queue_sweep(&k, "", "board", "batch = 16\nlr = 0.1, 0.2");
    kit_engine(&k, 4096, 0);
    q = wait_queue(&k, WIRE_QUEUE_HELD, 1);
    CHECK_HAS(q.reason, "No space left");
    CHECK_INT(q.rejected, 0);
    CHECK_INT(left_in_queue(&k), 1);
    kit_end(&k);
    io.mkdir = real_mkdir;
}

/* Its ledger is another program's while this one leaves: nothing was begun. */
TEST(a_sweep_that_waits_for_its_ledger_stays_in_the_queue)
{
    struct kit k;
    struct record_ledger *l;
    struct wire_sweep_status sweep;
    struct err e;

    kit_folder(&k);
    k.queue = true;
    REQUIRE_OK(record_ledger_open(&l, k.results, "board", &e));
    REQUIRE_OK(record_ledger_begin(l, &e));
    queue_sweep(&k, "", "board", "batch = 16\nlr = 0.1, 0.2");
    kit_engine(&k, 4096, 0);
    wait_words(&k, "the sweep waits until it is free");
    kit_quit(&k);
    CHECK_INT(left_in_queue(&k), 1);
    record_ledger_end(l);
    record_ledger_close(l);
    kit_engine(&k, 4096, 0);
    wait_queue(&k, WIRE_QUEUE_EMPTY, 1);
    CHECK(wire_sweep_status(k.wire, WIRE_OWN_RUNS, &sweep));
    CHECK_INT(sweep.done, 2);
    CHECK_INT(left_in_queue(&k), 0);
    kit_end(&k);
}

static int (*real_open)(const char *path, int flags, mode_t mode);

static int read_only_open(const char *path, int flags, mode_t mode)
{
    if (flags & (O_WRONLY | O_RDWR | O_CREAT) && strstr(path, "/queue/")) {
        errno = EROFS;
        return -1;
    }
    return real_open(path, flags, mode);
}

TEST(what_can_only_be_read_holds_the_queue_until_that_is_mended)
{
    struct kit k;
    struct wire_queue q;

    kit_folder(&k);
    k.queue = true;
    queue_add(&k, "a", "");
    real_open = io.open;
    io.open = read_only_open;
    kit_engine(&k, 4096, 0);
    q = wait_queue(&k, WIRE_QUEUE_HELD, 0);
    CHECK(q.lasts);
    CHECK_HAS(q.reason, "nothing can be written in ");
    CHECK_HAS(q.reason, "/results: Read-only file system");
    io.open = real_open;
    wait_queue(&k, WIRE_QUEUE_EMPTY, 1);
    CHECK_RUNS(&k, "a:done");
    kit_end(&k);
}

static ssize_t full_write(int fd, const void *from, size_t n)
{
    if (atomic_load(&no_room)) {
        errno = ENOSPC;
        return -1;
    }
    return write(fd, from, n);
}

/* Before anything is begun: what is taken must stand on the disk first. */
TEST(a_full_disk_holds_the_queue)
{
    struct kit k;
    struct wire_queue q;

    kit_folder(&k);
    k.queue = true;
    queue_add(&k, "a", "");
    io.write = full_write;
    atomic_store(&no_room, true);
    kit_engine(&k, 4096, 0);
    q = wait_queue(&k, WIRE_QUEUE_HELD, 0);
    CHECK_HAS(q.reason, "the disk is full in ");
    CHECK_INT(q.pid, 0);
    CHECK(!q.lasts);
    atomic_store(&no_room, false);
    wait_queue(&k, WIRE_QUEUE_EMPTY, 1);
    CHECK_RUNS(&k, "a:done");
    kit_end(&k);
    io.write = write;
}

/* ---- kills ---- */

static struct io_table whole;
static atomic_int left; /* operations until the kill */

/* As kill -9 leaves the files: all threads end here. */
static void one_less(void)
{
    if (atomic_fetch_sub(&left, 1) == 1)
        _exit(77);
}

static int kill_open(const char *path, int flags, mode_t mode)
{
    one_less();
    return whole.open(path, flags, mode);
}
static ssize_t kill_write(int fd, const void *from, size_t n)
{
    one_less();
    return whole.write(fd, from, n);
}
static int kill_sync(int fd)
{
    one_less();
    return whole.sync(fd);
}
static int kill_rename(const char *from, const char *to)
{
    one_less();
    return whole.rename(from, to);
}
static int kill_unlink(const char *path)
{
    one_less();
    return whole.unlink(path);
}
static int kill_mkdir(const char *path, mode_t mode)
{
    one_less();
    return whole.mkdir(path, mode);
}

static void kill_at(int operation)
{
    whole = io;
    atomic_store(&left, operation);
    io.open = kill_open;
    io.write = kill_write;
    io.sync = kill_sync;
    io.rename = kill_rename;
    io.unlink = kill_unlink;
    io.mkdir = kill_mkdir;
}

/* Takes until nothing is left. */
static void take_all(struct kit *k)
{
    k->queue = true;
    kit_engine(k, 4096, 0);
    wait_queue(k, WIRE_QUEUE_EMPTY, 0);
    kit_quit(k);
}

/* A taker that is killed there; false: it came to its end before. */
static bool take_and_die(struct kit *k, int operation)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        kill_at(operation);
        take_all(k);
        _exit(0);
    }
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 0));
    return WEXITSTATUS(status) == 77;
}

/* What a killed one had begun and no item stands for any more is a person's to resume. */
static void resume_dead(struct kit *k)
{
    struct record_entry *list;
    struct wire_status status;
    size_t n;
    struct err e;

    REQUIRE_OK(record_list(k->results, &list, &n, &e));
    k->queue = false;
    kit_engine(k, 4096, 0);
    for (size_t i = 0; i < n; i++)
        if (list[i].dead || (!list[i].broken && list[i].run.state == WIRE_WAITING))
            kit_wait(k, kit_resume(k, list[i].folder, 0), &status);
    kit_quit(k);
    record_free_list(list, n);
}

TEST(a_kill_at_any_operation_has_each_taken_once)
{
    bool killed = true;
    int operation = 0, gone = 0;

#ifdef __SANITIZE_THREAD__
    SKIP("a process that dies between threads is no case of the thread sanitizer");
#endif
    while (killed && operation < 2000) {
        struct kit k;
        char *runs;

        kit_folder(&k);
        queue_add(&k, "a", "");
        queue_add(&k, "b", "");
        /* every one until a run stands and its item is gone; then some */
        operation += gone < 3 ? 1 : 1 + operation / 6;
        killed = take_and_die(&k, operation);
        gone += left_in_queue(&k) < 2;
        take_all(&k);
        resume_dead(&k);
        runs = runs_of(k.results);
        if (strcmp(runs, "a:done b:done") != 0)
            TEST_FAILED("killed at operation %d: %s", operation, runs);
        CHECK_INT(left_in_queue(&k), 0);
        free(runs);
        kit_end(&k);
    }
    CHECK(!killed && gone > 3);
}

TEST(a_kill_at_any_operation_has_a_sweep_once)
{
    bool killed = true;
    int operation = 0;

#ifdef __SANITIZE_THREAD__
    SKIP("a process that dies between threads is no case of the thread sanitizer");
#endif
    while (killed && operation < 2000) {
        struct kit k;
        char *runs;

        kit_folder(&k);
        queue_sweep(&k, "", "rates", "batch = 16\nlr = 0.1, 0.2");
        queue_add(&k, "z", "");
        operation += 1 + operation / 12;
        killed = take_and_die(&k, operation);
        take_all(&k);
        runs = runs_of(k.results);
        CHECK_INT(left_in_queue(&k), 0);
        if (strstr(runs, "z:") != strrchr(runs, 'z') || !strstr(runs, "z:"))
            TEST_FAILED("killed at operation %d: %s", operation, runs);
        free(runs);
        kit_end(&k);
    }
    CHECK(!killed);
}
