/* A backend that can compute no more in its process: what becomes of the run, and of all else. */
#include "tests/unit/engine/sweep_kit.h"

#include "base/log.h"
#include "record/run/run.h"
#include "record/sweep/ledger.h"

static void script(int64_t at, int64_t batch)
{
    struct fake_script s = {.stuck_at = at, .stuck_batch = batch};

    fake_set_script(&s);
}

/* An engine as a new process has it. */
static void begin_anew(struct kit *k)
{
    kit_quit(k);
    kit_engine(k, 4096, 0);
}

static void make_spec(struct kit *k, struct spec *s)
{
    kit_spec(k, s, "lr=0.1", NULL);
}

TEST(it_stops_and_goes_on_from_its_last_checkpoint)
{
    struct wire_status whole, status;
    struct record_run run;
    struct spec s;
    struct kit k;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    make_spec(&k, &s);
    kit_run(&k, &s, &whole);
    script(9, 0); /* six steps are an epoch */
    kit_run(&k, &s, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_INT(status.code, ERR_STUCK);
    CHECK(engine_is_stuck(k.engine));
    CHECK_HAS(k.logs, "restart 1 of 3 goes on from the last checkpoint");
    kit_read_run(status.path, &run);
    CHECK_INT(run.state, WIRE_STOPPED);
    CHECK_INT(run.epochs_done, 1);
    script(0, 0);
    begin_anew(&k);
    CHECK(!engine_is_stuck(k.engine));
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(kit_same_sheet(whole.path, status.path, "epochs"), 3);
    CHECK(kit_same_sheet(whole.path, status.path, "steps") > 0);
    kit_same_weights(whole.path, status.path, "checkpoint.safetensors");
    kit_end(&k);
}

TEST(after_three_restarts_it_has_failed)
{
    struct wire_status status;
    struct spec s;
    struct kit k;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    make_spec(&k, &s);
    script(9, 0);
    kit_run(&k, &s, &status);
    for (int i = 2; i <= 4; i++) {
        CHECK_INT(status.state, WIRE_STOPPED);
        begin_anew(&k);
        kit_wait(&k, kit_resume(&k, status.path, 0), &status);
        CHECK_INT(status.code, ERR_STUCK);
    }
    CHECK_INT(status.state, WIRE_FAILED);
    CHECK_HAS(status.reason, "given up after 3 restarts");
    begin_anew(&k); /* whoever wants it again has three more */
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_HAS(status.reason, "restart 1 goes on");
    kit_end(&k);
}

TEST(cells_beside_it_stop_and_are_not_counted)
{
    struct wire_sweep_status status;
    struct wire_cell both[CELLS];
    struct record_cell *cells;
    struct kit k;
    size_t n, live[CELLS], stopped = 0;
    uint32_t sweep;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    kit_hold(&k, (struct fake_script){.stuck_batch = 16, .step_ms = 10}, 5);
    sweep = begin_sweep(&k, "batch = 8, 16\nepochs = 100\n", (struct wish){.jobs = 2});
    wait_live(&k, sweep, 2, both, live);
    kit_let_go(&k, " ");
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_INT(status.code, ERR_STUCK);
    cells = ledger_cells(&k, "grid", &n);
    for (size_t i = 0; i < n; i++) {
        char *folder = io_path(k.results, cells[i].run), *count = io_path(folder, "restarts");
        struct record_run run;

        kit_read_run(folder, &run);
        stopped += cells[i].state == WIRE_STOPPED;
        CHECK_INT(io_exists(count), run.spec.batch == 16);
        free(folder);
        free(count);
    }
    CHECK_INT(stopped, 2);
    free(cells);
    script(0, 0);
    begin_anew(&k);
    run_sweep(&k, "batch = 8, 16\nepochs = 100\n", (struct wish){.jobs = 2}, &status);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(status.done, 2);
    CHECK_INT(run_folders(&k), 2);
    kit_end(&k);
}

static bool go_behind(struct kit *k, const struct wire_event *event)
{
    if (event->kind == WIRE_LOG && event->u.log.level == LOG_WARN)
        kit_wish(k, 1, WIRE_WISH_RUN);
    return false;
}

TEST(cells_that_a_stop_left_running_go_on_alone)
{
    struct wire_sweep_status status;
    struct wire_cell cells[CELLS];
    struct wire_status *run;
    size_t n, live[CELLS];
    uint32_t sweep;
    struct kit k;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    kit_hold(&k, (struct fake_script){.stuck_batch = 8, .step_ms = 20}, 4);
    k.on_event = go_behind; /* which begins no cell in this process */
    sweep = begin_sweep(&k, "batch = 8, 16, 32\nepochs = 100\n", (struct wish){.jobs = 2});
    CHECK_INT(sweep, 1);
    wait_live(&k, sweep, 2, cells, live);
    kit_wish(&k, sweep, WIRE_WISH_STOP_CELLS);
    wait_closing(&k, sweep);
    kit_let_go(&k, " ");
    wait_sweep(&k, sweep, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_INT(status.code, ERR_STOPPED);
    CHECK_INT(status.wish, WIRE_WISH_STOP_CELLS);
    CHECK_INT(status.stopped, 2);
    CHECK_INT(status.waiting, 1);
    CHECK(engine_is_stuck(k.engine));
    run = wire_statuses(k.wire, &n);
    CHECK_INT(n, 2);
    for (size_t i = 0; i < n; i++) {
        CHECK_INT(run[i].state, WIRE_STOPPED);
        CHECK_INT(run[i].code, ERR_STUCK);
        CHECK(run[i].path[0]);
    }
    script(0, 0);
    k.on_event = NULL;
    begin_anew(&k);
    for (size_t i = 0; i < n; i++) {
        struct wire_status end;

        kit_wait(&k, kit_resume(&k, run[i].path, 0), &end);
        CHECK_INT(end.state, WIRE_DONE);
    }
    free(run);
    kit_end(&k);
}

/* A command for nobody is answered behind the one before it. */
static bool stop_it(struct kit *k, const struct wire_event *event)
{
    if (event->kind == WIRE_STARTED) {
        kit_wish(k, event->run, WIRE_WISH_STOP_EPOCH);
        kit_wish(k, 42, WIRE_WISH_STOP_NOW);
    }
    if (event->kind == WIRE_REFUSED)
        kit_let_go(k, " ");
    return false;
}

TEST(who_wanted_it_to_end_has_it_ended)
{
    struct wire_status status;
    struct spec s;
    struct kit k;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    make_spec(&k, &s);
    kit_hold(&k, (struct fake_script){0}, 4);
    k.on_event = stop_it;
    kit_run(&k, &s, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK_INT(status.code, ERR_STOPPED);
    CHECK(!engine_is_stuck(k.engine));
    kit_end(&k);
}
