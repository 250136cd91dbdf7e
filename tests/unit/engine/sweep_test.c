/* Sweeps: every cell once, whatever ends, dies, is stopped, skipped or computed by somebody else. */
#include "tests/unit/engine/sweep_kit.h"

#include "record/list.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "record/sweep/ledger.h"
#include "record/sweep/order.h"

static bool at_place(const struct record_run *run, int64_t batch, double lr)
{
    return run->spec.batch == batch && run->spec.lr == lr;
}

TEST(every_cell_is_run_once_and_one_at_a_time)
{
    struct kit k;
    struct wire_sweep_status status;
    struct record_cell *cells;
    struct record_run run, before = {0};
    struct sheet sheet;
    struct err e;
    char *path;
    size_t n;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    run_sweep(&k, "batch = 8, 16\nlr = 0.1, 0.2, 0.3\n", (struct wish){.grid = true}, &status);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(status.cells, 6);
    CHECK_INT(status.done, 6);
    CHECK(!status.counting);
    CHECK_INT(run_folders(&k), 6);
    CHECK_INT(lines_of(&k, "grid", ",running,"), 6);
    CHECK_INT(lines_of(&k, "grid", ",done,"), 6);
    cells = ledger_cells(&k, "grid", &n);
    CHECK_INT(n, 6);
    for (size_t i = 0; i < n; i++) {
        char *folder = io_path(k.results, cells[i].run);

        kit_read_run(folder, &run);
        CHECK_STR(run.sweep, "grid");
        CHECK_STR(run.cell, cells[i].cell);
        CHECK_INT(run.state, WIRE_DONE);
        CHECK_INT(run.shared, 1);
        CHECK(at_place(&run, i < 3 ? 8 : 16, 0.1 * (double)(i % 3 + 1)) ||
              fabs(run.spec.lr - 0.1 * (double)(i % 3 + 1)) < 1e-12);
        CHECK(strcmp(before.ended_utc, run.started_utc) <= 0); /* nothing beside it */
        before = run;
        free(folder);
    }
    free(cells);
    path = mem_textf("%s/sweeps/grid/sweep.csv", k.results);
    REQUIRE_OK(sheet_read(path, &sheet, &e));
    CHECK_INT(sheet.rows, 6);
    CHECK(sheet_column(&sheet, "batch") > 0 && sheet_column(&sheet, "lr") > 0);
    CHECK(sheet_number(&sheet, 5, sheet_column(&sheet, "batch")) == 16);
    CHECK(sheet_number(&sheet, 5, sheet_column(&sheet, "best_test_acc")) == run.best_test_acc);
    sheet_free(&sheet);
    free(path);
    kit_end(&k);
}

/* While the first cell computes: the second waits, and three devices cannot share 16 images. */
TEST(the_sheet_tells_what_waits_and_what_cannot_be)
{
    struct kit k;
    struct sheet s = {0};
    struct err e;
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;
    char *path;
    int state = 0;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    kit_hold(&k, (struct fake_script){0}, 5);
    begin_sweep(&k, "devices = 1, 3\nlr = 0.1, 0.2\n", (struct wish){.grid = true});
    path = mem_textf("%s/sweeps/grid/sweep.csv", k.results);
    while ((s.rows < 4 || strcmp(sheet_cell(&s, 0, state), "running") != 0) && clock_ns() < until) {
        clock_sleep_ms(1);
        sheet_free(&s);
        if (sheet_read(path, &s, &e) != ERR_OK)
            s = (struct sheet){0};
        state = sheet_column(&s, "state");
    }
    REQUIRE(s.rows == 4);
    CHECK_STR(sheet_cell(&s, 0, state), "running");
    CHECK_STR(sheet_cell(&s, 1, state), "waiting");
    CHECK_STR(sheet_cell(&s, 1, sheet_column(&s, "lr")), "0.2");
    CHECK_STR(sheet_cell(&s, 2, state), "skipped");
    CHECK_STR(sheet_cell(&s, 2, sheet_column(&s, "devices")), "3");
    CHECK(*sheet_cell(&s, 2, sheet_column(&s, "reason")));
    sheet_free(&s);
    free(path);
    fake_set_script(&(struct fake_script){0});
    kit_end(&k);
}

TEST(the_same_command_again_runs_what_is_missing)
{
    struct kit k;
    struct wire_sweep_status status;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    run_sweep(&k, "lr = 0.1, 0.2, 0.3, 0.4\n", (struct wish){.max_cells = 2}, &status);
    CHECK_INT(status.cells, 2);
    CHECK_INT(run_folders(&k), 2);
    run_sweep(&k, "lr = 0.1, 0.2, 0.3, 0.4\n", (struct wish){0}, &status);
    CHECK_INT(status.cells, 4);
    CHECK_INT(status.done, 4);
    CHECK_INT(run_folders(&k), 4);
    /* a longer list, and another process */
    kit_quit(&k);
    kit_engine(&k, 4096, 0);
    run_sweep(&k, "lr = 0.1, 0.2, 0.3, 0.4, 0.5\n", (struct wish){0}, &status);
    CHECK_INT(status.done, 5);
    CHECK_INT(run_folders(&k), 5);
    CHECK_INT(lines_of(&k, "grid", ",done,"), 5);
    kit_end(&k);
}

/* Its settings, layers and data tell a cell: other lists, other orders, another number in the grid. */
TEST(which_cells_have_a_result_is_told_beforehand)
{
    struct kit k;
    struct wire_sweep_status status;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    ask_sweep(&k, "lr = 0.1, 0.2\n", (struct wish){0});
    CHECK_INT(k.forecast.with_result, 0);
    fake_set_script(&(struct fake_script){.diverge_lr = 0.35});
    run_sweep(&k, "lr = 0.1, 0.2, 0.4\nbatch = 8, 16\n",
              (struct wish){.max_cells = 5, .grid = true}, &status);
    fake_set_script(&(struct fake_script){0});
    CHECK_INT(status.done, 4);
    CHECK_INT(status.diverged, 1);
    ask_sweep(&k, "lr = 0.3, 0.2, 0.1, 0.4\nbatch = 16, 8\n", (struct wish){0});
    CHECK_INT(k.forecast.with_result, 5);
    CHECK_INT(k.forecast.runs, 3);
    CHECK_STR(fates_of(&k, "lr = 0.3, 0.2, 0.1, 0.4\nbatch = 16, 8\n", (struct wish){0}),
              "rrhhhhrh"); /* 0.4, 8 */
    ask_sweep(&k, "lr = 0.3, 0.2, 0.1, 0.4\nbatch = 16, 8\n", (struct wish){.failed = true});
    CHECK_INT(k.forecast.with_result, 4);
    CHECK_STR(
        fates_of(&k, "lr = 0.3, 0.2, 0.1, 0.4\nbatch = 16, 8\n", (struct wish){.failed = true}),
        "rrhhhhrr");
    ask_sweep(&k, "lr = 0.1, 0.2\nepochs = 3\n", (struct wish){0});
    CHECK_INT(k.forecast.with_result, 0);
    ask_sweep(&k, "lr = 0.1, 0.2\n", (struct wish){.name = "other"});
    CHECK_INT(k.forecast.with_result, 0);
    kit_end(&k);
}

/* What has a result is known before its turn comes. */
TEST(results_that_are_there_are_told_at_once)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    size_t live[CELLS], known = 0;
    uint64_t until;
    uint32_t sweep;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    run_sweep(&k, "lr = 0.1, 0.2\n", (struct wish){.grid = true}, &status);
    kit_hold(&k, (struct fake_script){0}, 5);
    sweep = begin_sweep(&k, "lr = 0.4, 0.5, 0.1, 0.2\n", (struct wish){.grid = true});
    wait_live(&k, sweep, 1, cells, live);
    until = clock_ns() + KIT_WAIT_MS * 1000000ull;
    while (wire_sweep_status(k.wire, sweep, &status) && status.counting && clock_ns() < until)
        clock_sleep_ms(1);
    CHECK_INT(status.done, 2);
    CHECK_INT(status.running, 1);
    CHECK_INT(status.waiting, 1);
    CHECK_INT(wire_cells(k.wire, sweep, cells, CELLS), 4);
    for (size_t i = 0; i < 4; i++)
        known += cells[i].again && cells[i].state == WIRE_DONE && isfinite(cells[i].acc);
    CHECK_INT(known, 2);
    kit_end(&k);
}

TEST(bad_ends_are_results_and_the_sweep_goes_on)
{
    struct kit k;
    struct wire_sweep_status status;
    struct fake_script script = {.diverge_lr = 10, .oom_batch = 32, .fail_batch = 12};
    struct record_cell *cells;
    size_t n;

    kit_folder(&k);
    fake_set_script(&script);
    kit_engine(&k, 4096, 0);
    run_sweep(&k, "batch = 8, 12, 32\nlr = 0.1, 50\n", (struct wish){0}, &status);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(status.done, 1);
    CHECK_INT(status.diverged, 1);
    CHECK_INT(status.oom, 2);
    CHECK_INT(status.failed, 2);
    CHECK_INT(run_folders(&k), 6);
    cells = ledger_cells(&k, "grid", &n);
    for (size_t i = 0; i < n; i++)
        CHECK(cells[i].state == WIRE_DONE || cells[i].reason[0]);
    free(cells);
    /* results they are: again, nothing is run */
    run_sweep(&k, "batch = 8, 12, 32\nlr = 0.1, 50\n", (struct wish){0}, &status);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(status.oom, 2);
    CHECK_INT(run_folders(&k), 6);
    /* but with --failed, when the reasons are gone */
    clock_sleep_ms(2);
    fake_set_script(&(struct fake_script){0});
    run_sweep(&k, "batch = 8, 12, 32\nlr = 0.1, 50\n", (struct wish){.failed = true}, &status);
    CHECK_INT(status.done, 6);
    CHECK_INT(run_folders(&k), 11);
    kit_end(&k);
}

TEST(failed_again_is_once_again)
{
    struct kit k;
    struct wire_sweep_status status;

    kit_folder(&k);
    fake_set_script(&(struct fake_script){.diverge_lr = 10});
    kit_engine(&k, 4096, 0);
    run_sweep(&k, "lr = 0.1, 50\n", (struct wish){0}, &status);
    clock_sleep_ms(2);
    run_sweep(&k, "lr = 0.1, 50\n", (struct wish){.failed = true}, &status);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(status.diverged, 1);
    CHECK_INT(run_folders(&k), 3);
    kit_end(&k);
}

TEST(jobs_run_side_by_side_and_say_so)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    struct record_entry *list;
    size_t live[CELLS], n;
    int64_t most = 0;
    uint32_t sweep;

    kit_folder(&k);
    kit_hold(&k, (struct fake_script){0}, 5);
    kit_engine(&k, 4096, 0);
    sweep = begin_sweep(&k, "batch = 8\nthreads = 1\nlr = 0.1, 0.2, 0.3, 0.4, 0.5, 0.6\n",
                        (struct wish){.jobs = 3});
    wait_live(&k, sweep, 3, cells, live);
    kit_let_go(&k, "");
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.done, 6);
    REQUIRE(record_list(k.results, &list, &n, NULL) == ERR_OK);
    for (size_t i = 0; i < n; i++)
        most = list[i].run.shared > most ? list[i].run.shared : most;
    CHECK_INT(most, 3);
    record_free_list(list, n);

    fake_set_script(&(struct fake_script){0});
    /* where devices vary, seconds are compared: one at a time, whatever is asked for */
    run_sweep(&k, "batch = 8\ndevices = 1, 2, 4\n", (struct wish){.name = "dev", .jobs = 3},
              &status);
    CHECK_INT(status.done, 3);
    CHECK_HAS(k.logs, "one cell at a time");
    REQUIRE(record_list(k.results, &list, &n, NULL) == ERR_OK);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].run.sweep, "dev"))
            CHECK_INT(list[i].run.shared, 1);
    record_free_list(list, n);
    kit_end(&k);
}

/* The rule that the command line has, for all who start one. */
TEST(a_sweep_goes_on_as_it_was_begun_or_not_at_all)
{
    static const char *const keys = "batch = 8, 16\n", *const longer =
                                                           "batch = 8, 16\nepochs = 3\n";
    struct kit k;
    struct wire_sweep_status status;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    run_sweep(&k, keys, (struct wish){0}, &status);
    CHECK_INT(status.state, WIRE_DONE);
    run_sweep(&k, keys, (struct wish){.jobs = 2}, &status);
    CHECK_INT(status.state, WIRE_FAILED);
    CHECK_INT(status.code, ERR_INPUT);
    CHECK_HAS(status.reason, "was begun with --jobs 1, not 2");
    run_sweep(&k, longer, (struct wish){0}, &status);
    CHECK_INT(status.code, ERR_INPUT);
    CHECK_HAS(status.reason, "epochs = 2, not 3: --name gives this one a name of its own");
    CHECK_INT(run_folders(&k), 2);
    run_sweep(&k, keys, (struct wish){.jobs = 1}, &status);
    CHECK_INT(status.state, WIRE_DONE);
    kit_end(&k);
}

/* One value of such a key, or several of another, keep nobody from running side by side. */
TEST(seconds_are_compared_where_what_computes_varies)
{
    static const struct {
        const char *line;
        bool alone;
        int of_three; /* that were asked for */
    } cases[] = {{"devices = 1, 2", true, 1},
                 {"threads = 1, 2", true, 1},
                 {"mode = ensemble\nmembers = 2, 4", true, 1},
                 {"backend = cpu, ref", true, 1},
                 {"mode = data-parallel, ensemble", true, 1},
                 {"devices = 2", false, 1},
                 {"lr = 0.1, 0.2", false, 3},
                 {"batch = 32, 64", false, 3},
                 {"repeats = 3", false, 3}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct spec_sweep s;
        struct err e;

        spec_sweep_init(&s);
        REQUIRE_OK(spec_sweep_parse(&s, cases[i].line, strlen(cases[i].line), "g.ini", &e));
        REQUIRE_OK(spec_sweep_close(&s, &e));
        if (spec_sweep_runs_alone(&s) != cases[i].alone)
            TEST_FAILED("%s", cases[i].line);
        CHECK_INT(spec_sweep_jobs(&s, 3), cases[i].of_three);
        CHECK_INT(spec_sweep_jobs(&s, 0), 1);
        spec_sweep_free(&s);
    }
}

/* Which GPUs each session was opened on: bits. */
static atomic_uint opened_on[8];
static atomic_int opened;
static enum err_code (*open_fake)(const struct backend_plan *plan, struct backend_session **out,
                                  struct err *e);

static int four_gpus(struct err *why)
{
    (void)why;
    return 4;
}

/* Four that can be used, and one before them that cannot. */
static enum err_code behind_the_first(int gpu, struct err *why)
{
    if (gpu >= 1 && gpu <= 4)
        return ERR_OK;
    return err_set(why, ERR_FAILED, "GPU %d cannot be used", gpu);
}

static enum err_code note_open(const struct backend_plan *plan, struct backend_session **out,
                               struct err *e)
{
    unsigned bits = 0;

    for (int i = 0; i < plan->gpus; i++)
        bits |= 1u << plan->gpu[i];
    atomic_store(&opened_on[atomic_fetch_add(&opened, 1) % 8], bits);
    return open_fake(plan, out, e);
}

/* A sweep whose first cells go on when so many of them are open. */
static void run_when_open(struct kit *k, int jobs, const char *keys, struct wish wish,
                          struct wire_sweep_status *status)
{
    uint32_t sweep;

    atomic_store(&opened, 0);
    kit_hold(k, (struct fake_script){0}, 5);
    wish.jobs = jobs;
    sweep = begin_sweep(k, keys, wish);
    for (int i = 0; i < 20000 && atomic_load(&opened) < jobs; i++)
        clock_sleep_ms(1);
    kit_let_go(k, "");
    (void)wait_sweep(k, sweep, status);
}

TEST(jobs_side_by_side_have_a_GPU_each)
{
    struct kit k;
    struct wire_sweep_status status;
    unsigned seen = 0, counts[32] = {0};

    kit_folder(&k);
    open_fake = kit_fake.open;
    kit_fake.open = note_open;
    kit_fake.gpus = four_gpus;
    kit_fake.gpu = behind_the_first;
    kit_engine(&k, 4096, 0);
    run_when_open(&k, 4, "batch = 8\nlr = 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8\n",
                  (struct wish){0}, &status);
    CHECK_INT(status.done, 8);
    for (int i = 0; i < 8; i++) {
        seen |= opened_on[i];
        counts[opened_on[i] & 31]++;
    }
    CHECK_INT(seen, 30);                                          /* all four, ... */
    CHECK_INT(counts[2] + counts[4] + counts[8] + counts[16], 8); /* ... each session on one */
    /* The first four run at the same time, on four GPUs. */
    CHECK_INT(opened_on[0] | opened_on[1] | opened_on[2] | opened_on[3], 30);

    /* Two jobs of two devices have two GPUs each. */
    run_when_open(&k, 2, "batch = 8\ndevices = 2\nlr = 0.1, 0.2\n", (struct wish){.name = "two"},
                  &status);
    CHECK_INT(status.done, 2);
    CHECK_INT(opened_on[0] | opened_on[1], 30);
    CHECK_INT(opened_on[0] & opened_on[1], 0);
    kit_fake.gpus = NULL;
    kit_fake.gpu = NULL;
    kit_fake.open = open_fake;
    fake_set_script(&(struct fake_script){0});
    kit_end(&k);
}

/* Stops a sweep while its cells are held. */
static void stop_it(struct kit *k, const char *keys, struct wish wish, enum wire_wish how,
                    struct wire_sweep_status *status)
{
    struct wire_cell cells[CELLS];
    size_t live[CELLS];
    uint32_t sweep = begin_sweep(k, keys, wish);

    wait_live(k, sweep, wish.jobs ? (size_t)wish.jobs : 1, cells, live);
    kit_wish(k, sweep, how);
    if (how == WIRE_WISH_STOP_CELLS) {
        wait_closing(k, sweep);
        kit_let_go(k, "");
    }
    wait_sweep(k, sweep, status);
}

TEST(a_stopped_sweep_goes_on_in_its_own_folders)
{
    static const char keys[] = "batch = 8\nthreads = 1\nlr = 0.1, 0.2, 0.3\n";
    struct kit k, whole;
    struct wire_sweep_status status;
    struct record_cell *a, *b;
    size_t n, m;

    kit_folder(&k);
    kit_hold(&k, (struct fake_script){0}, 5);
    kit_engine(&k, 4096, 0);
    stop_it(&k, keys, (struct wish){.grid = true, .jobs = 2}, WIRE_WISH_STOP, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_INT(status.stopped, 2);
    CHECK_HAS(status.reason, "3 of 3 cells have no result");
    CHECK_INT(run_folders(&k), 2);
    kit_quit(&k);
    fake_set_script(&(struct fake_script){0});
    kit_engine(&k, 4096, 0);
    run_sweep(&k, keys, (struct wish){.grid = true, .jobs = 2}, &status);
    CHECK_INT(status.done, 3);
    CHECK_INT(run_folders(&k), 3);

    kit_folder(&whole);
    kit_engine(&whole, 4096, 0);
    strcpy(whole.model, k.model); /* the same path is the same text */
    run_sweep(&whole, keys, (struct wish){.grid = true, .jobs = 2}, &status);
    a = ledger_cells(&k, "grid", &n);
    b = ledger_cells(&whole, "grid", &m);
    CHECK_INT(n, 3);
    CHECK_INT(m, 3);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            char *x = io_path(k.results, a[i].run), *y = io_path(whole.results, b[j].run);

            if (!strcmp(a[i].cell, b[j].cell))
                kit_same_runs(x, y, false);
            free(x);
            free(y);
        }
    free(a);
    free(b);
    kit_end(&whole);
    kit_end(&k);
}

static uint32_t begin_live(struct kit *k, const char *keys, struct wish wish,
                           struct wire_cell *cells, size_t *live)
{
    uint32_t sweep;

    kit_engine(k, 4096, 0);
    sweep = begin_sweep(k, keys, wish);
    wait_live(k, sweep, 1, cells, live);
    return sweep;
}

/* Begins one whose cell goes on as soon as the test lets it. */
static uint32_t begin_held(struct kit *k, const char *keys, struct wish wish,
                           struct wire_cell *cells, size_t *live)
{
    kit_folder(k);
    kit_hold(k, (struct fake_script){0}, 5);
    return begin_live(k, keys, wish, cells, live);
}

/* One whose cell comes to no end while the test goes on. */
static uint32_t begin_slow(struct kit *k, const char *keys, struct wire_cell *cells, size_t *live)
{
    kit_folder(k);
    fake_set_script(&(struct fake_script){.step_ms = 10});
    return begin_live(k, keys, (struct wish){0}, cells, live);
}

TEST(a_stop_may_let_the_running_cells_end)
{
    struct kit k;
    struct wire_sweep_status status;

    kit_folder(&k);
    kit_hold(&k, (struct fake_script){0}, 5);
    kit_engine(&k, 4096, 0);
    stop_it(&k, "batch = 8\nlr = 0.1, 0.2, 0.3\n", (struct wish){0}, WIRE_WISH_STOP_CELLS, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_INT(status.done, 1);
    CHECK_INT(status.waiting, 2);
    CHECK_INT(run_folders(&k), 1);
    kit_end(&k);
}

TEST(a_paused_cell_goes_on_where_cells_that_run_shall_end)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    struct wire_status run = {0};
    size_t live[CELLS];
    uint32_t sweep;

    sweep = begin_held(&k, "batch = 8\nlr = 0.1, 0.2\n", (struct wish){0}, cells, live);
    kit_wish(&k, cells[live[0]].run, WIRE_WISH_PAUSE);
    for (int i = 0; i < 20000 && run.state != WIRE_PAUSED; i++, clock_sleep_ms(1))
        (void)wire_status(k.wire, cells[live[0]].run, &run);
    kit_let_go(&k, "");
    CHECK(wire_sweep_status(k.wire, sweep, &status) && !wire_sweep_closes(&status));
    kit_wish(&k, sweep, WIRE_WISH_STOP_CELLS);
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK(wire_sweep_closes(&status));
    CHECK_INT(status.done, 1);
    CHECK_INT(status.waiting, 1);
    kit_end(&k);
}

/* What the engine tells of it, here and in the file that others read. */
static void wait_standing(struct kit *k, uint32_t sweep, const char *words,
                          struct wire_sweep_status *status)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;

    while (!(wire_sweep_status(k->wire, sweep, status) &&
             !strcmp(wire_sweep_words(status, false), words)) &&
           clock_ns() < until)
        clock_sleep_ms(1);
    CHECK_STR(wire_sweep_words(status, false), words);
}

TEST(a_stop_after_the_cells_is_taken_back)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    size_t live[CELLS];
    uint32_t sweep;

    sweep = begin_slow(&k, "batch = 8\nepochs = 1000\nlr = 0.1, 0.2, 0.3\n", cells, live);
    kit_wish(&k, sweep, WIRE_WISH_STOP_CELLS);
    kit_wish(&k, sweep, WIRE_WISH_PAUSE);
    for (int i = 0; i < 20000 && !(wire_sweep_status(k.wire, sweep, &status) && status.paused); i++)
        clock_sleep_ms(1);
    CHECK_STR(wire_sweep_words(&status, false), "paused"); /* the stop is forgotten */
    CHECK(wire_sweep_rests(&status));
    kit_wish(&k, sweep, WIRE_WISH_STOP_CELLS);
    wait_standing(&k, sweep, "stopping: no further cell begins", &status);
    kit_wish(&k, sweep, WIRE_WISH_RUN);
    wait_standing(&k, sweep, "running", &status);
    CHECK(!wire_sweep_closes(&status) && status.wish == WIRE_WISH_RUN);
    cell_command(&k, WIRE_SKIP, sweep, cells[live[0]].cell, 0); /* the next one begins */
    for (int i = 0; i < 20000 && !(wire_sweep_status(k.wire, sweep, &status) && status.skipped &&
                                   status.running);
         i++)
        clock_sleep_ms(1);
    CHECK(status.skipped == 1 && status.running == 1);
    kit_end(&k);
}

TEST(a_stop_after_the_epoch_is_taken_back)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_status run;
    struct wire_cell cells[CELLS];
    size_t live[CELLS];
    uint32_t sweep;

    sweep = begin_held(&k, "batch = 8\nepochs = 3\nlr = 0.1, 0.2\n", (struct wish){0}, cells, live);
    kit_wish(&k, sweep, WIRE_WISH_STOP_EPOCH);
    wait_standing(&k, sweep, "stopping after this epoch", &status);
    CHECK_INT(status.wish, WIRE_WISH_STOP_EPOCH);
    CHECK(wire_status(k.wire, cells[live[0]].run, &run) && run.wish == WIRE_WISH_STOP_EPOCH);
    kit_wish(&k, sweep, WIRE_WISH_RUN);
    wait_standing(&k, sweep, "running", &status);
    CHECK(status.wish == WIRE_WISH_RUN && wire_status(k.wire, cells[live[0]].run, &run));
    CHECK_INT(run.wish, WIRE_WISH_RUN);
    kit_let_go(&k, "");
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(status.done, 2);
    kit_end(&k);
}

/* A cell that has stopped with it goes on too, in its own folder. */
TEST(the_last_word_to_a_sweep_wins_until_it_has_stopped)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS] = {0};
    struct text keys = {0};
    size_t live[CELLS];
    uint32_t sweep;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    kit_hold(&k, (struct fake_script){.stuck_batch = 8}, 5);
    /* the sweep is not over before its cell's command is */
    text_addf(&keys, "batch = 8, 16\non_end = while test ! -e %s/end; do sleep 0.01; done\n",
              k.folder);
    sweep = begin_sweep(&k, text_str(&keys), (struct wish){.grid = true});
    wait_live(&k, sweep, 1, cells, live);
    kit_wish(&k, sweep, WIRE_WISH_STOP);
    for (int i = 0; i < 20000 && cells[0].state != WIRE_STOPPED; i++, clock_sleep_ms(1))
        (void)wire_cells(k.wire, sweep, cells, CELLS);
    CHECK_INT(cells[0].state, WIRE_STOPPED);
    kit_wish(&k, sweep, WIRE_WISH_STOP_EPOCH);
    kit_wish(&k, sweep, WIRE_WISH_RUN);
    wait_standing(&k, sweep, "running", &status);
    kit_let_go(&k, "");
    text_clear(&keys);
    text_addf(&keys, "%s/end", k.folder);
    kit_write(text_str(&keys), "");
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(status.done, 2);
    CHECK_INT(run_folders(&k), 2);
    text_free(&keys);
    kit_end(&k);
}

TEST(a_sweep_that_stands_still_before_its_stop_is_called_paused)
{
    struct wire_sweep_status status = {
        .state = WIRE_RUNNING, .wish = WIRE_WISH_STOP, .cells = 3, .running = 2, .paused = 2};

    CHECK_STR(wire_sweep_words(&status, false), "paused, then stops");
    CHECK_STR(wire_sweep_words(&status, true), "paused");
    status.paused = 1; /* the other one still comes to its epoch's end */
    CHECK_STR(wire_sweep_words(&status, false), "stopping: no further cell begins");
    CHECK_STR(wire_sweep_words(&status, true), "stopping");
}

TEST(a_cell_that_is_let_go_on_leaves_its_sweep_paused)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    size_t live[CELLS];
    uint32_t sweep;
    double left;

    sweep = begin_slow(&k, "batch = 8\nepochs = 1000\nlr = 0.1, 0.2, 0.3\n", cells, live);
    kit_wish(&k, sweep, WIRE_WISH_PAUSE);
    wait_standing(&k, sweep, "paused", &status);
    CHECK_INT(status.paused, 1);
    kit_wish(&k, cells[live[0]].run, WIRE_WISH_RUN);
    wait_standing(&k, sweep, "paused: no further cell begins", &status);
    CHECK(wire_sweep_is_paused(&status));
    CHECK_INT(status.paused, 0);
    CHECK_INT(status.running, 1);
    kit_wish(&k, sweep, WIRE_WISH_RUN);
    wait_standing(&k, sweep, "running", &status);
    left = status.left_seconds;
    kit_wish(&k, sweep, WIRE_WISH_STOP_CELLS); /* then two of them are no longer to come */
    wait_standing(&k, sweep, "stopping: no further cell begins", &status);
    for (int i = 0; i < 60000 && status.left_seconds >= left; i++, clock_sleep_ms(1))
        (void)wire_sweep_status(k.wire, sweep,
                                &status); /* of so few steps it is no more than a guess */
    CHECK(isnan(left) || status.left_seconds < left);
    kit_end(&k);
}

TEST(cells_are_skipped_dropped_and_moved)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    struct record_cell *ledger;
    struct record_run run;
    size_t live[CELLS], n;
    uint32_t sweep;

    sweep = begin_held(&k, "batch = 16\nlr = 0.1, 0.2, 0.3, 0.4, 0.5\n",
                       (struct wish){.grid = true}, cells, live);
    CHECK_INT(live[0], 0);
    cell_command(&k, WIRE_MOVE, sweep, 4, -2); /* 1 2 3 4 becomes 1 4 2 3 */
    cell_command(&k, WIRE_MOVE, sweep, 1, +1); /* and 4 1 2 3 */
    cell_command(&k, WIRE_SKIP, sweep, 2, 0);
    cell_command(&k, WIRE_SKIP, sweep, 0, 0); /* which runs */
    cell_command(&k, WIRE_SKIP, sweep, 77, 0);
    wait_skipped(&k, sweep, 2);
    kit_let_go(&k, "");
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.state, WIRE_DONE); /* skipped is a result */
    CHECK_INT(status.done, 3);
    CHECK_INT(status.skipped, 2);
    CHECK_HAS(k.refused, "no such cell");
    ledger = ledger_cells(&k, "grid", &n);
    REQUIRE(n == 5);
    for (size_t i = 0; i < n; i++) {
        char *folder = io_path(k.results, ledger[i].run);

        if (ledger[i].state == WIRE_SKIPPED && !ledger[i].run[0]) {
            CHECK_HAS(ledger[i].reason, "dropped by the user");
        } else {
            kit_read_run(folder, &run);
            CHECK_INT(run.state, ledger[i].state);
            if (run.state == WIRE_SKIPPED)
                CHECK(run.spec.lr == 0.1 && strstr(run.reason, "skipped by the user at step"));
        }
        free(folder);
    }
    free(ledger);
    wire_cells(k.wire, sweep, cells, CELLS);
    CHECK_INT(cells[2].state, WIRE_SKIPPED);
    CHECK_INT(cells[4].state, WIRE_DONE);
    { /* in the order in which they began */
        struct record_entry *list;
        double want[] = {0.1, 0.5, 0.2, 0.4};

        REQUIRE(record_list(k.results, &list, &n, NULL) == ERR_OK && n == 4);
        for (size_t i = 0; i < n; i++)
            CHECK_NEAR(list[i].run.spec.lr, want[i], 1e-12);
        record_free_list(list, n);
    }
    kit_end(&k);
}

TEST(two_programs_share_a_sweep)
{
    static const char keys[] = "batch = 16\nlr = 0.1, 0.2, 0.3, 0.4, 0.5, 0.6\n";
    struct kit a, b;
    struct wire_sweep_status x, y;
    char *own;
    uint32_t one, two;

    kit_folder(&a);
    kit_folder(&b);
    own = b.results;
    b.results = mem_text(a.results);
    strcpy(b.model, a.model);
    fake_set_script(&(struct fake_script){.step_ms = 5});
    kit_engine(&a, 4096, 0);
    kit_engine(&b, 4096, 0);
    one = begin_sweep(&a, keys, (struct wish){0});
    two = begin_sweep(&b, keys, (struct wish){0});
    wait_sweep(&a, one, &x);
    wait_sweep(&b, two, &y);
    CHECK_INT(x.state, WIRE_DONE);
    CHECK_INT(y.state, WIRE_DONE);
    CHECK_STR(y.reason, "");
    CHECK_INT(x.done, 6);
    CHECK_INT(y.done, 6);
    CHECK_INT(run_folders(&a), 6);
    CHECK_INT(lines_of(&a, "grid", ",running,"), 6);
    CHECK_INT(lines_of(&a, "grid", ",done,"), 6);
    free(b.results);
    b.results = own;
    kit_end(&b);
    kit_end(&a);
}

TEST(a_cell_that_another_program_leaves_is_taken_over)
{
    static const char keys[] = "batch = 16\nlr = 0.1, 0.2\n";
    struct kit a, b;
    struct wire_sweep_status x, y;
    struct wire_cell cells[CELLS];
    size_t live[CELLS];
    char *own;
    uint32_t one, two;

    kit_folder(&a);
    kit_folder(&b);
    own = b.results;
    b.results = mem_text(a.results);
    strcpy(b.model, a.model);
    kit_hold(&a, (struct fake_script){0}, 5); /* what a opens now waits */
    kit_engine(&a, 4096, 0);
    one = begin_sweep(&a, keys, (struct wish){.grid = true});
    wait_live(&a, one, 1, cells, live);
    fake_set_script(&(struct fake_script){0});
    kit_engine(&b, 4096, 0);
    two = begin_sweep(&b, keys, (struct wish){.grid = true});
    memset(&y, 0, sizeof y);
    for (int i = 0; i < 20000 && y.done < 1 && !wire_state_ended(y.state); i++, clock_sleep_ms(2))
        (void)wire_sweep_status(b.wire, two, &y);
    CHECK_INT(y.elsewhere, 1); /* it is left to a, and waited for */
    kit_wish(&a, one, WIRE_WISH_STOP);
    wait_sweep(&a, one, &x);
    CHECK_INT(x.state, WIRE_STOPPED);
    wait_sweep(&b, two, &y);
    CHECK_INT(y.done, 2);
    CHECK_INT(run_folders(&a), 2);
    free(b.results);
    b.results = own;
    kit_end(&b);
    kit_end(&a);
}

/* A program that died: between its folder and its claim, and between the end of a run and its line. */
TEST(what_a_dead_program_left_is_gone_on_with)
{
    static const char keys[] = "batch = 16\nlr = 0.1, 0.2, 0.3\n";
    struct kit k;
    struct wire_sweep_status status;
    struct record_cell *cells;
    struct record_ledger *l;
    struct err e;
    char *path;
    size_t n;

    kit_folder(&k);
    fake_set_script(&(struct fake_script){0});
    kit_engine(&k, 4096, 0);
    run_sweep(&k, keys, (struct wish){.grid = true}, &status);
    CHECK_INT(status.done, 3);
    cells = ledger_cells(&k, "grid", &n);
    REQUIRE(n == 3);
    /* the ledger as such programs leave it: nothing of the first, a claim of the second */
    path = mem_textf("%s/sweeps/grid/ledger.csv", k.results);
    unlink(path);
    free(path);
    path = mem_textf("%s/%s", k.results, cells[0].run);
    {
        struct record *r;
        struct record_run row;

        kit_read_run(path, &row);
        row.state = WIRE_WAITING;
        REQUIRE_OK(record_open(&r, path, &e));
        REQUIRE_OK(record_cut(r, 0, 0, &e));
        REQUIRE_OK(record_write_run(r, &row, &e));
        record_close(r);
    }
    free(path);
    REQUIRE_OK(record_ledger_open(&l, k.results, "grid", &e));
    REQUIRE_OK(record_ledger_begin(l, &e));
    REQUIRE_OK(record_ledger_add(l, cells[1].cell, cells[1].run, WIRE_RUNNING, "", &e));
    REQUIRE_OK(record_ledger_add(l, cells[2].cell, "2020-01-01-gone-1234", WIRE_RUNNING, "", &e));
    record_ledger_end(l);
    record_ledger_close(l);
    free(cells);
    run_sweep(&k, keys, (struct wish){.grid = true}, &status);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(status.done, 3);
    CHECK_INT(run_folders(&k), 4); /* the third one's folder was gone, by its line */
    CHECK_INT(lines_of(&k, "grid", ",done,"), 3);
    kit_end(&k);
}

TEST(what_cannot_be_planned_is_skipped_or_refused)
{
    struct kit k;
    struct wire_sweep_status status;
    struct record_cell *cells;
    size_t n, skipped = 0;
    char *sweeps;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    sweeps = io_path(k.results, "sweeps");
    run_sweep(&k, "batch = 97, 98\n", (struct wish){0}, &status);
    CHECK_INT(status.state, WIRE_FAILED);
    CHECK_INT(status.code, ERR_INPUT);
    CHECK_HAS(k.refused, "more than the 96 images");
    CHECK(!io_exists(sweeps));
    free(sweeps);
    /* 100 is impossible on 8 devices and left out; 104 is more than there are images */
    run_sweep(&k, "batch = 100, 104, 16\ndevices = 8\n", (struct wish){0}, &status);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(status.left_out, 1);
    CHECK_INT(status.cells, 2);
    CHECK_INT(status.done, 1);
    CHECK_INT(status.skipped, 1);
    cells = ledger_cells(&k, "grid", &n);
    CHECK_INT(n, 2);
    for (size_t i = 0; i < n; i++)
        if (cells[i].state == WIRE_SKIPPED) {
            skipped++;
            CHECK_HAS(cells[i].reason, "more than the 96 images");
        }
    CHECK_INT(skipped, 1);
    free(cells);
    run_sweep(&k, "lr = 0.1, fast\n", (struct wish){0}, &status);
    CHECK_HAS(k.refused, "fast");
    kit_end(&k);
}

static void control(struct kit *k, const char *line)
{
    char *path = mem_textf("%s/sweeps/grid/control", k->results);
    FILE *f = fopen(path, "a");

    if (!f || fprintf(f, "%s\n", line) < 0 || fclose(f))
        TEST_FAILED("%s cannot be written", path);
    free(path);
}

static bool wait_state(struct kit *k, uint32_t sweep, enum wire_state state)
{
    struct wire_sweep_status status = {0};

    for (int i = 0; i < 20000; i++, clock_sleep_ms(1))
        if (wire_sweep_status(k->wire, sweep, &status) && status.state == state)
            return true;
    TEST_FAILED("the sweep is %s", wire_state_name(status.state));
    return false;
}

TEST(lines_in_a_sweeps_control_are_obeyed)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    struct wire_status run;
    size_t live[CELLS];
    uint32_t sweep;

    sweep = begin_held(&k, "batch = 8\nlr = 0.1, 0.2\nepochs = 4\n", (struct wish){.grid = true},
                       cells, live);
    control(&k, "jump");
    control(&k, "pause");
    wait_state(&k, sweep, WIRE_PAUSED);
    for (int i = 0;
         i < 5000 && !(wire_status(k.wire, cells[live[0]].run, &run) && run.state == WIRE_PAUSED);
         i++)
        clock_sleep_ms(1);
    CHECK_INT(run.state, WIRE_PAUSED);
    control(&k, "go");
    wait_state(&k, sweep, WIRE_RUNNING);
    control(&k, "stop step");
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_INT(status.stopped, 1);
    CHECK_INT(status.waiting, 1);
    CHECK_HAS(k.logs, "jump");
    /* what was said to another one is not obeyed again */
    fake_set_script(&(struct fake_script){0});
    run_sweep(&k, "batch = 8\nlr = 0.1, 0.2\nepochs = 4\n", (struct wish){.grid = true}, &status);
    CHECK_INT(status.done, 2);
    CHECK_INT(run_folders(&k), 2);
    kit_end(&k);
}

/* Each has a file of its own, which are read at different times. */
TEST(what_a_cell_is_told_behind_its_sweep_stands)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    struct record_entry *list;
    struct wire_status run;
    size_t live[CELLS], n;
    struct err e;
    uint32_t sweep = begin_held(&k, "batch = 8\nlr = 0.1, 0.2\nepochs = 4\n",
                                (struct wish){.grid = true}, cells, live);

    REQUIRE_OK(record_list(k.results, &list, &n, &e));
    for (int i = 0; i < 5; i++) {
        clock_sleep_ms(130 * i);
        control(&k, "go");
        REQUIRE_OK(record_control(list[0].folder, "pause", &e));
        clock_sleep_ms(700);
        CHECK(wire_status(k.wire, cells[live[0]].run, &run) && run.state == WIRE_PAUSED);
        REQUIRE_OK(record_control(list[0].folder, "go", &e));
    }
    for (int i = 0; i < 20000 && run.state != WIRE_RUNNING; i++, clock_sleep_ms(1))
        CHECK(wire_status(k.wire, cells[live[0]].run, &run)); /* it has heard that */
    control(&k, "stop step");
    wait_sweep(&k, sweep, &status);
    record_free_list(list, n);
    fake_set_script(&(struct fake_script){0});
    kit_end(&k);
}

TEST(the_order_that_cells_were_moved_to_outlives_a_stop)
{
    static const char keys[] = "batch = 16\nlr = 0.1, 0.2, 0.3, 0.4, 0.5\n";
    static const double want[] = {0.1, 0.5, 0.3, 0.2, 0.4};
    struct record_place *place = NULL;
    struct err e;
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    struct record_entry *list;
    size_t live[CELLS], n;
    uint32_t sweep;

    sweep = begin_held(&k, keys, (struct wish){.grid = true}, cells, live);
    cell_command(&k, WIRE_MOVE, sweep, 4, -3);
    cell_command(&k, WIRE_MOVE, sweep, 1, +1);
    kit_wish(&k, sweep, WIRE_WISH_STOP);
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.waiting, 4);
    kit_quit(&k);
    fake_set_script(&(struct fake_script){0});
    kit_engine(&k, 4096, 0);
    run_sweep(&k, keys, (struct wish){.grid = true}, &status);
    CHECK_INT(status.done, 5);
    REQUIRE(record_list(k.results, &list, &n, NULL) == ERR_OK && n == 5);
    for (size_t i = 0; i < n; i++)
        CHECK_NEAR(list[i].run.spec.lr, want[i], 1e-12);
    record_free_list(list, n);
    REQUIRE_OK(record_order_read(k.results, "grid", &place, &n, &e));
    CHECK_INT(n, 5);
    for (size_t i = 0; i < n; i++)
        CHECK(!place[i].waits);
    free(place);
    kit_end(&k);
}

static void hear_all(struct kit *k)
{
    struct wire_event event;

    while (wire_take(k->wire, &event))
        kit_hear(k, &event);
}

/* What another program's person asks for: cells by their numbers, dropped or sooner. */
TEST(lines_in_a_sweeps_control_move_and_drop_cells)
{
    static const double want[] = {0.1, 0.4, 0.3};
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    struct record_entry *list;
    size_t live[CELLS], n;
    uint32_t sweep;

    sweep = begin_held(&k, "batch = 8\nlr = 0.1, 0.2, 0.3, 0.4\nepochs = 2\n",
                       (struct wish){.grid = true}, cells, live);
    CHECK_INT(live[0], 0);
    control(&k, "move 3 -1000000");
    control(&k, "skip 1");
    control(&k, "skip 99");
    control(&k, "move 2");
    for (int i = 0; i < 20000 && !strstr(k.logs, "unknown: move 2"); i++, clock_sleep_ms(1))
        hear_all(&k); /* of the last of them */
    CHECK_HAS(k.logs, "unknown: move 2");
    kit_let_go(&k, "");
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.done, 3);
    CHECK_INT(status.skipped, 1);
    (void)wire_cells(k.wire, sweep, cells, CELLS);
    CHECK_INT(cells[1].state, WIRE_SKIPPED);
    REQUIRE(record_list(k.results, &list, &n, NULL) == ERR_OK && n == 3);
    for (size_t i = 0; i < n; i++) /* in the order in which they began */
        CHECK_NEAR(list[i].run.spec.lr, want[i], 1e-12);
    record_free_list(list, n);
    kit_end(&k);
}

TEST(runs_and_sweeps_take_turns)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct wire_sweep_status sweep;
    struct record_run run;
    struct record_entry *list;
    uint32_t number, plain;
    size_t n;

    kit_folder(&k);
    fake_set_script(&(struct fake_script){.step_ms = 2});
    kit_engine(&k, 4096, 0);
    kit_spec(&k, &s, NULL);
    kit_start(&k, &s);
    number = begin_sweep(&k, "batch = 16\nlr = 0.1, 0.2\n", (struct wish){0});
    plain = kit_start(&k, &s);
    wait_sweep(&k, number, &sweep);
    kit_wait(&k, plain, &status);
    CHECK_INT(sweep.done, 2);
    kit_read_run(status.path, &run);
    CHECK_STR(run.sweep, "");
    REQUIRE(record_list(k.results, &list, &n, NULL) == ERR_OK && n == 4);
    for (size_t i = 1; i < n; i++) {
        CHECK(strcmp(list[i - 1].run.ended_utc, list[i].run.started_utc) <= 0);
        CHECK_STR(list[i].run.sweep, i < 3 ? "grid" : "");
    }
    record_free_list(list, n);
    kit_end(&k);
}

TEST(quitting_stops_a_sweep_so_that_it_can_go_on)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    size_t live[CELLS];

    kit_folder(&k);
    kit_hold(&k, (struct fake_script){0}, 5);
    kit_engine(&k, 4096, 0);
    wait_live(&k, begin_sweep(&k, "batch = 8\nlr = 0.1, 0.2\n", (struct wish){0}), 1, cells, live);
    begin_sweep(&k, "batch = 8\nlr = 0.3, 0.4\n", (struct wish){.name = "second"});
    kit_quit(&k);
    CHECK_INT(run_folders(&k), 1);
    CHECK_INT(lines_of(&k, "grid", ",stopped,"), 1);
    fake_set_script(&(struct fake_script){0});
    kit_engine(&k, 4096, 0);
    run_sweep(&k, "batch = 8\nlr = 0.1, 0.2\n", (struct wish){0}, &status);
    CHECK_INT(status.done, 2);
    CHECK_INT(run_folders(&k), 2);
    kit_end(&k);
}

TEST(a_sweep_can_be_prepared_for_later)
{
    struct kit k;
    struct wire_sweep_status status = {0};
    uint32_t sweep;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    sweep = begin_sweep(&k, "lr = 0.1, 0.2\n", (struct wish){.prepare = true, .jobs = 2});
    for (int i = 0; i < 20000 && !status.path[0]; i++, clock_sleep_ms(1))
        (void)wire_sweep_status(k.wire, sweep, &status);
    CHECK_INT(status.state, WIRE_WAITING);
    CHECK_INT(run_folders(&k), 0);
    CHECK(kit_has(status.path, "sweep.ini"));
    kit_end(&k);
}

/* Seeds cost the same, twice the epochs twice as much. */
TEST(time_left_comes_from_cells_of_like_cost)
{
    struct kit k;
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    uint32_t sweep;
    double left = NAN;
    bool held = false; /* what comes behind the second one */
    struct wire_status run;

    kit_folder(&k);
    fake_set_script(&(struct fake_script){.step_ms = 20});
    kit_engine(&k, 4096, 0);
    sweep =
        begin_sweep(&k, "batch = 16\nseed = 0, 1\nepochs = 2, 4\n", (struct wish){.grid = true});
    /* order: seed 0 with 2 and 4 epochs, seed 1 with 2 and 4: behind the second, 0.72 s are left */
    for (int i = 0; i < 60000 && isnan(left); i++, clock_sleep_ms(1)) {
        if (!held && wire_cells(k.wire, sweep, cells, CELLS) > 1 && cells[1].run &&
            wire_status(k.wire, cells[1].run, &run) && run.state == WIRE_RUNNING) {
            kit_hold(&k, (struct fake_script){.step_ms = 20}, 1);
            held = true;
        }
        if (wire_sweep_status(k.wire, sweep, &status) && status.done == 2)
            left = status.left_seconds;
    }
    wire_cells(k.wire, sweep, cells, CELLS);
    kit_let_go(&k, "");
    CHECK(left > 0 && cells[0].seconds > 0.2);
    CHECK_NEAR(left / (cells[0].seconds + cells[1].seconds), 1, 0.35);
    CHECK(cells[1].seconds > cells[0].seconds);
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.done, 4);
    CHECK_NEAR(status.left_seconds, 0, 1e-9);
    kit_end(&k);
}
