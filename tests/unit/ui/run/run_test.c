/* The Run screen, drawn: nothing, a run as it goes, an ensemble, ends of all kinds, any size. */
#include "tests/unit/live/feed_kit.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "tests/unit/ui/other_kit.h"
#include "ui/app/app_int.h"
#include "ui/app/claim.h"
#include "ui/app/screens.h"
#include "ui/app/status.h"
#include "ui/run/runview_int.h"
#include "ui/screens.h"
#include "ui/setup/setup_int.h"

struct shown {
    struct kit k;
    struct app app;
    struct runview view;
    struct text text;
};

static bool is_told(struct shown *s, uint32_t run, enum wire_wish wish)
{
    struct wire_command command;

    return wire_next_command(s->k.wire, &command, 0) && command.kind == WIRE_WISH &&
           command.run == run && command.wish == wish;
}

static bool nothing_sent(struct shown *s)
{
    struct wire_command command;

    return !wire_next_command(s->k.wire, &command, 0);
}

static void open_view(struct shown *s)
{
    memset(s, 0, sizeof *s);
    kit_open(&s->k, 64);
    s->app.feed = s->k.feed;
    s->app.own = mem_new(1, sizeof *s->app.own);
    s->app.config.screens = ui_screens;
    s->app.shown = SCREEN_RUN;
    s->app.settings = settings_open("/dev/null/none");
    s->app.jobs = jobs_new("chorus", NULL, NULL);
    s->view.app = &s->app;
}

static void open_tasks(struct shown *s)
{
    s->app.tasks = tasks_new();
    tasks_patience(s->app.tasks, 20000);
    s->app.config.results = s->k.results;
    s->app.config.ns = kit_ns;
}

static void close_view(struct shown *s)
{
    if (s->app.tasks) {
        claim_close(&s->app);
        tasks_free(s->app.tasks);
    }
    runview_free_curves(&s->view);
    settings_close(s->app.settings);
    jobs_free(s->app.jobs);
    text_free(&s->text);
    text_free(&s->app.did);
    for (size_t i = 0; i < s->app.own->lines; i++) {
        free(s->app.own->line[i].from);
        free(s->app.own->line[i].text);
    }
    text_free(&s->app.own->question);
    text_free(&s->app.own->label);
    line_free(&s->app.own->typed);
    free(s->app.own);
    kit_close(&s->k);
}

static const char *draw(struct shown *s, int rows, int columns)
{
    struct grid g;

    grid_init(&g, rows, columns, false);
    runview_draw(&s->view, &g, grid_all(&g));
    text_clear(&s->text);
    grid_to_text(&g, &s->text);
    grid_free(&g);
    return text_str(&s->text);
}

static struct record_run *lenet(void)
{
    struct record_run *run = help_run();

    run->spec.epochs = 4;
    run->spec.batch = 10;
    snprintf(run->run, sizeof run->run, "lenet");
    return run;
}

/* With a run of this program, number 7, that goes: 100 steps an epoch. */
static struct record *open_going(struct shown *s, struct record_run *run)
{
    struct record *record;

    open_view(s);
    record = kit_run(&s->k, run);
    kit_started(&s->k, 7, record_folder(record), &run->spec, 100);
    kit_state(&s->k, 7, record_folder(record), WIRE_RUNNING, "");
    return record;
}

static void close_run(struct shown *s, struct record *record, struct record_run *run)
{
    record_close(record);
    free(run);
    close_view(s);
}

static void take(struct shown *s)
{
    for (int i = 0; i < 3; i++) {
        kit_pass(1);
        feed_take(s->k.feed, NULL, NULL);
        runview_run(&s->view);
    }
}

/* No size of a screen is an error, and none writes where it may not. */
static void draw_all_sizes(struct shown *s)
{
    for (int rows = 0; rows < 60; rows += rows < 25 ? 1 : 7)
        for (int columns = 0; columns < 200; columns += columns < 30 ? 1 : 17)
            draw(s, rows, columns);
}

TEST(nothing_has_run)
{
    struct shown s;

    open_view(&s);
    CHECK_HAS(draw(&s, 21, 80), "Nothing runs, and nothing has run here yet.");
    CHECK_HAS(draw(&s, 21, 80), "1 opens Setup");
    draw_all_sizes(&s);
    CHECK(!runview_key(&s.view, &(struct key){.code = 'p'}));
    close_view(&s);
}

TEST(a_run_as_it_goes)
{
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;

    open_view(&s);
    record = kit_run(&s.k, run);
    record_log(record, "a line of its log");
    kit_state(&s.k, 7, record_folder(record), WIRE_RUNNING, "");
    kit_started(&s.k, 7, record_folder(record), &run->spec, 100);
    take(&s);
    CHECK_HAS(draw(&s, 21, 80), "The first point comes with step 10");
    for (int i = 1; i <= 15; i++) {
        kit_step(record, 10 * i, 0, 2.0 / i);
        kit_told_step(&s.k, 7, 10 * i, i);
    }
    take(&s);
    CHECK_HAS(draw(&s, 21, 80), "training accuracy");
    kit_epoch(record, 1, 100, 0.5, 0.8123);
    wire_post(s.k.wire, &(struct wire_event){.kind = WIRE_EPOCH, .run = 7});
    take(&s);
    draw(&s, 21, 80);
    CHECK_HAS(text_str(&s.text), "running");
    CHECK_HAS(text_str(&s.text), "test accuracy");
    CHECK_HAS(text_str(&s.text), "best 0.8123 at epoch 1, picked on test");
    CHECK_HAS(text_str(&s.text), "epoch 2/4");
    CHECK_HAS(text_str(&s.text), " 50 %  1,234 img/s");
    CHECK_HAS(text_str(&s.text), " 37 %  31 s left"); /* 250 steps of 0.1 s, 3 evaluations of 2 s */
    CHECK_HAS(text_str(&s.text), "a line of its log");
    CHECK_HAS(text_str(&s.text), "cpu:0");
    draw(&s, 42, 160);
    CHECK_HAS(text_str(&s.text), "1 device · batch 10");
    CHECK_HAS(text_str(&s.text), "input ▓ compute ▆ reduce ▒ wait ░");
    for (int axis = 0; axis < FEED_AXES; axis++) {
        s.view.axis = axis;
        s.view.smooth = axis % 2 ? 5 : 0;
        s.view.log_y = axis > 2;
        CHECK_HAS(draw(&s, 21, 80), runview_axes[axis]);
    }
    draw_all_sizes(&s);
    close_run(&s, record, run);
}

TEST(a_run_that_waits_for_room_says_so_everywhere)
{
    struct wire_status status = {.run = 7, .state = WIRE_RUNNING, .code = ERR_IO};
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;

    record = open_going(&s, run);
    kit_told_step(&s.k, 7, 50, 5);
    kit_told_step(&s.k, 7, 100, 10);
    kit_epoch(record, 1, 100, 0.5, 0.8123);
    take(&s);
    CHECK_HAS(draw(&s, 21, 80), " left");
    CHECK_HAS(text_str(&s.text), " img/s");
    snprintf(status.path, sizeof status.path, "%s", record_folder(record));
    wire_set_status(s.k.wire, &status);
    CHECK(!strncmp(draw(&s, 21, 80), " waits for room  lenet", 22));
    CHECK(!strstr(strstr(text_str(&s.text), "waits for room") + 1, "waits for room"));
    CHECK(!strstr(text_str(&s.text), " left") && !strstr(text_str(&s.text), "running"));
    CHECK(!strstr(text_str(&s.text), " img/s"));
    runview_key(&s.view, &(struct key){.code = 'p'});
    CHECK_STR(s.app.own->said, "it pauses as soon as there is room on the disk");
    CHECK(is_told(&s, 7, WIRE_WISH_PAUSE));
    runview_key(&s.view, &(struct key){.code = 'p'}); /* it has not come to that */
    CHECK_STR(s.app.own->said, "it goes on as soon as there is room on the disk");
    CHECK(is_told(&s, 7, WIRE_WISH_RUN));
    runview_key(&s.view, &(struct key){.code = 'p'});
    CHECK(is_told(&s, 7, WIRE_WISH_PAUSE));
    draw_all_sizes(&s);
    close_run(&s, record, run);
}

/* Whatever its words would be by now; what was never sent is no pause to take back. */
TEST(a_pause_that_has_not_come_is_taken_back)
{
    struct wire_status status = {.run = 7, .state = WIRE_RUNNING, .code = ERR_IO};
    struct record_run *run = lenet();
    struct wire_command command;
    struct record *record;
    struct shown s;

    record = open_going(&s, run);
    take(&s);
    draw(&s, 21, 80);
    while (wire_send(s.k.wire,
                     &(struct wire_command){.kind = WIRE_WISH, .run = 9, .wish = WIRE_WISH_PAUSE}))
        continue;
    runview_key(&s.view, &(struct key){.code = 'p'});
    CHECK_STR(s.app.own->said, "the engine takes no commands");
    while (wire_next_command(s.k.wire, &command, 0))
        CHECK_INT(command.run, 9);
    runview_key(&s.view, &(struct key){.code = 'p'});
    CHECK_STR(s.app.own->said, "pausing after this step");
    CHECK(is_told(&s, 7, WIRE_WISH_PAUSE));
    snprintf(status.path, sizeof status.path, "%s", record_folder(record));
    wire_set_status(s.k.wire, &status); /* no room on the disk */
    runview_key(&s.view, &(struct key){.code = 'p'});
    CHECK(is_told(&s, 7, WIRE_WISH_RUN));
    close_run(&s, record, run);
}

static void row_of(const struct grid *g, int row, struct text *out)
{
    struct rect line = {row, 0, 1, g->columns};
    struct grid one;

    grid_init(&one, 1, g->columns, false);
    for (int column = 0; column < line.columns; column++)
        one.cell[column] = g->cell[row * g->columns + column];
    text_clear(out);
    grid_to_text(&one, out);
    grid_free(&one);
}

/* Of what is paused both that run on let it go on, and say so. */
TEST(what_is_paused_is_left_going_on_or_stopped)
{
    struct wire_sweep_status sweep = {.sweep = 9, .state = WIRE_RUNNING, .name = "board"};
    struct record_run *run = lenet();
    struct setup *setup = mem_new(1, sizeof *setup);
    struct record *record;
    struct shown s;

    open_view(&s);
    open_tasks(&s);
    s.app.screen[SCREEN_SETUP] = setup;
    setup->app = &s.app;
    record = kit_run(&s.k, run);
    kit_started(&s.k, 7, record_folder(record), &run->spec, 100);
    kit_state(&s.k, 7, record_folder(record), WIRE_PAUSED, "");
    take(&s);
    runview_ask_stop(&s.view, runview_run(&s.view));
    CHECK_STR(s.app.own->answer[0], "after this epoch: it goes on to its end, and stops there");
    s.app.own->on_answer(s.app.own->user, 0);
    CHECK_STR(s.app.own->said, "it goes on to the end of this epoch, and stops; R takes that back");
    popup_close(&s.app);
    free(s.view.told);
    s.view.told = NULL;
    app_quit(&s.app);
    CHECK_HAS(text_str(&s.app.own->question), "What runs here is paused.");
    REQUIRE(s.app.own->answers == 4);
    CHECK_STR(s.app.own->answer[0], "after this epoch: go on to its end, stop then, and leave");
    CHECK_STR(s.app.own->answer[2], "let it go on, without this terminal");
    CHECK_INT(quit_interrupt(&s.app), 1);
    popup_close(&s.app);
    sweep.running = 1; /* which computes beside it */
    wire_set_sweep(s.k.wire, &sweep);
    app_quit(&s.app);
    CHECK_HAS(text_str(&s.app.own->question), "The sweep board trains here, cell ");
    popup_close(&s.app);
    sweep.paused = 1;
    wire_set_sweep(s.k.wire, &sweep);
    app_quit(&s.app);
    CHECK_HAS(text_str(&s.app.own->question), "What runs here is paused.");
    popup_close(&s.app);
    record_close(record);
    free(setup);
    free(run);
    close_view(&s);
}

/* Where it waits for room on the disk an end that comes by itself is none to choose. */
TEST(what_waits_for_room_is_stopped_at_once_or_not_at_all)
{
    struct wire_status status = {.run = 7, .state = WIRE_RUNNING, .code = ERR_IO};
    struct wire_sweep_status sweep = {.sweep = 9, .state = WIRE_RUNNING, .name = "board"};
    struct record_run *run = lenet();
    struct setup *setup = mem_new(1, sizeof *setup);
    struct record *record;
    struct shown s;

    open_view(&s);
    s.app.screen[SCREEN_SETUP] = setup;
    setup->app = &s.app;
    record = kit_run(&s.k, run);
    kit_state(&s.k, 7, record_folder(record), WIRE_RUNNING, "");
    kit_started(&s.k, 7, record_folder(record), &run->spec, 100);
    take(&s);
    app_quit(&s.app);
    CHECK_HAS(text_str(&s.app.own->question), " trains here, epoch 1 of 4. How do you");
    popup_close(&s.app);
    snprintf(status.path, sizeof status.path, "%s", record_folder(record));
    wire_set_status(s.k.wire, &status);
    app_quit(&s.app);
    CHECK_HAS(text_str(&s.app.own->question), "What runs waits for room on the disk.");
    REQUIRE(s.app.own->answers == 3);
    CHECK_STR(s.app.own->answer[0], "stop it now: R goes on with it from its last checkpoint");
    CHECK_INT(quit_interrupt(&s.app), APP_ANSWERS); /* which loses the steps since: not unasked */
    s.app.own->on_answer(s.app.own->user, 0);
    CHECK(s.app.over && s.app.own->end == APP_STOP);
    s.app.own->on_answer(s.app.own->user, 1);
    CHECK(s.app.own->end == APP_DETACH);
    popup_close(&s.app);
    runview_ask_stop(&s.view, runview_run(&s.view));
    CHECK_HAS(text_str(&s.app.own->question), "? It waits for room on the disk.");
    REQUIRE(s.app.own->answers == 2);
    CHECK_STR(s.app.own->answer[0], "now; R goes on from its last checkpoint");
    s.app.own->on_answer(s.app.own->user, 0);
    CHECK(is_told(&s, 7, WIRE_WISH_STOP));
    popup_close(&s.app);
    wire_set_sweep(s.k.wire, &sweep);
    runview_run(&s.view)->sweep = 9;
    runview_ask_stop(&s.view, runview_run(&s.view));
    REQUIRE(s.app.own->answers == 2);
    CHECK_STR(s.app.own->answer[0], "stop the sweep now; R on Sweep goes on with it");
    s.app.own->on_answer(s.app.own->user, 0);
    CHECK(is_told(&s, 9, WIRE_WISH_STOP));
    popup_close(&s.app);
    record_close(record);
    free(s.view.told);
    free(setup);
    free(run);
    close_view(&s);
}

/* It has rows of its own, above the keys; what runs is told below them. */
TEST(that_the_disk_is_full_hides_neither_keys_nor_data)
{
    struct wire_status status = {.run = 7, .state = WIRE_RUNNING, .code = ERR_IO};
    struct record_run *run = lenet();
    struct text row = {0};
    struct record *record;
    struct shown s;
    struct grid g;

    open_view(&s);
    s.app.screen[SCREEN_RUN] = &s.view;
    record = kit_run(&s.k, run);
    kit_state(&s.k, 7, record_folder(record), WIRE_RUNNING, "");
    kit_started(&s.k, 7, record_folder(record), &run->spec, 100);
    take(&s);
    grid_init(&g, 24, 80, false);
    CHECK_INT(bar_trouble(&s.app, &g), 0);
    snprintf(status.path, sizeof status.path, "%s", record_folder(record));
    snprintf(
        status.reason, sizeof status.reason,
        "the disk is full in .../one/of/forty/letters/or/a/few/more (12 kB free, 1.5 MB wanted)");
    wire_set_status(s.k.wire, &status);
    CHECK_INT(bar_trouble(&s.app, &g), 2);
    bar_bottom(&s.app, &g);
    row_of(&g, 20, &row);
    CHECK(!strncmp(text_str(&row), " the disk is full in ", 21));
    row_of(&g, 21, &row);
    CHECK_HAS(text_str(&row), "stop it with K on Run");
    row_of(&g, 22, &row);
    CHECK(!strncmp(text_str(&row), " p pause  K stop  x axis", 24));
    row_of(&g, 23, &row);
    CHECK(!strncmp(text_str(&row), " ‖ waits  lenet", strlen(" ‖ waits  lenet")));
    snprintf(status.reason, sizeof status.reason, "%0*d", 400, 0); /* never most of the screen */
    wire_set_status(s.k.wire, &status);
    CHECK_INT(bar_trouble(&s.app, &g), 6);
    grid_free(&g);
    text_free(&row);
    close_run(&s, record, run);
}

TEST(a_stop_says_what_the_queue_begins_then)
{
    struct wire_queue queue = {.state = WIRE_QUEUE_BUSY};
    struct record_queued waits[] = {{.name = (char *)"broken", .broken = true},
                                    {.name = (char *)"second"}};
    struct setup *setup = mem_new(1, sizeof *setup);
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;

    open_view(&s);
    s.app.config.wire = s.k.wire;
    s.app.screen[SCREEN_SETUP] = setup;
    setup->app = &s.app;
    record = kit_run(&s.k, run);
    kit_state(&s.k, 7, record_folder(record), WIRE_RUNNING, "");
    kit_started(&s.k, 7, record_folder(record), &run->spec, 100);
    wire_set_queue(s.k.wire, &queue);
    take(&s);
    for (size_t n = 0; n <= 2; n++) {
        setup->queued = waits;
        setup->queue = n;
        runview_ask_stop(&s.view, runview_run(&s.view));
        if (n < 2) /* nothing that can begin */
            CHECK(!strstr(text_str(&s.app.own->question), "queue"));
        else
            CHECK_HAS(text_str(&s.app.own->question),
                      "? Once it is stopped the queue goes on with second.");
        popup_close(&s.app);
    }
    queue.state = WIRE_QUEUE_HELD;
    wire_set_queue(s.k.wire, &queue);
    runview_ask_stop(&s.view, runview_run(&s.view));
    CHECK(!strstr(text_str(&s.app.own->question), "queue"));
    popup_close(&s.app);
    record_close(record);
    free(s.view.told);
    free(setup);
    free(run);
    close_view(&s);
}

TEST(a_long_backend_stays_in_its_column)
{
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;
    struct feed_run *r;

    record = open_going(&s, run);
    take(&s);
    r = runview_run(&s.view);
    snprintf(r->facts.backend, sizeof r->facts.backend, "another_programs_accelerator");
    r->unit[0].device = 12;
    r->unit[0].loss = 0.5;
    CHECK_HAS(draw(&s, 30, 80), "anothe…:12    0.5000");
    draw_all_sizes(&s);
    close_run(&s, record, run);
}

/* As `run --tui` begins: the wire holds the start before there is a screen, and the library finds the
 * folder while the data are being prepared. */
TEST(a_run_that_the_wire_held_is_shown_and_its_own)
{
    struct wire_start *start = mem_new(1, sizeof *start);
    struct record_run *run = lenet();
    struct wire_status status = {.run = 1, .state = WIRE_WAITING};
    struct record *record;
    struct text line = {0};
    struct shown s;

    open_view(&s);
    snprintf(start->spec.name, sizeof start->spec.name, "heavy");
    feed_expect(s.k.feed, 1, start);
    record = kit_run(&s.k, run);
    feed_follow(s.k.feed, record_folder(record)); /* found before the wire knows whose it is */
    take(&s);
    CHECK_HAS(draw(&s, 21, 80), "starting  heavy  data and model are being prepared");
    snprintf(status.path, sizeof status.path, "%s", record_folder(record));
    wire_set_status(s.k.wire, &status);
    take(&s);
    CHECK_INT(feed_count(s.k.feed), 1);
    CHECK(feed_follow(s.k.feed, record_folder(record))->own);
    CHECK_HAS(draw(&s, 21, 80), "data and model are being prepared");
    status_add(s.k.feed, &line, 80);
    CHECK_HAS(text_str(&line), "starting");
    CHECK(!strstr(text_str(&line), "elsewhere"));
    text_free(&line);
    record_close(record);
    free(run);
    free(start);
    close_view(&s);
}

TEST(curves_are_made_by_hand_calculation)
{
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;
    struct feed_run *r;
    double read[4];

    record = open_going(&s, run);
    for (int i = 1; i <= 3; i++)
        kit_step(record, 50 * i, 0, i);
    kit_epoch(record, 1, 100, 0.5, 0.8);
    take(&s);
    r = runview_run(&s.view);
    runview_make(&s.view, r);
    REQUIRE(s.view.loss.plot.count == 2 && s.view.acc.plot.count == 2);
    CHECK_INT(s.view.loss.series[0].n, 3);
    CHECK_NEAR(s.view.loss.series[0].x[2], 1.5, 1e-12);
    CHECK_NEAR(s.view.acc.series[0].x[0], 0.5, 1e-12); /* a mean over an epoch: in its middle */
    CHECK_NEAR(s.view.acc.series[0].y[0], 0.7, 1e-12);
    CHECK(s.view.acc.series[1].weight == PLOT_THICK);
    s.view.axis = FEED_SECONDS;
    runview_make(&s.view, r);
    CHECK_NEAR(s.view.loss.series[0].x[2], 15, 1e-12);
    s.view.axis = FEED_IMAGES;
    s.view.zoom = 1;
    runview_make(&s.view, r);
    CHECK_NEAR(s.view.loss.series[0].x[2], 1500, 1e-9);
    CHECK_NEAR(s.view.loss.plot.x_lo, 1000, 1e-9); /* of 2 epochs of 1,000 images */
    CHECK_NEAR(s.view.loss.plot.x_hi, 2000, 1e-9);
    s.view.smooth = 5;
    runview_make(&s.view, r);
    CHECK_NEAR(s.view.loss.series[0].y[0], 1, 1e-12);
    CHECK(s.view.loss.series[0].y[2] > 1 && s.view.loss.series[0].y[2] < 3);
    s.view.loss.plot.cursor_x = 1500;
    plot_read(&s.view.loss.plot, read); /* numbers stay as they were measured */
    CHECK_NEAR(read[0], 3, 1e-12);
    close_run(&s, record, run);
}

TEST(an_ensemble_of_eight)
{
    struct record_run *run = lenet();
    struct record_member row = {.train_loss = 0.5, .train_acc = 0.8, .test_loss = 0.6};
    struct record *record;
    struct shown s;
    struct err e;

    open_view(&s);
    run->spec.mode = SPEC_ENSEMBLE;
    run->spec.members = 8;
    run->spec.devices = 4;
    record = kit_run(&s.k, run);
    kit_started(&s.k, 7, record_folder(record), &run->spec, 10);
    for (int epoch = 1; epoch <= 2; epoch++) {
        for (int m = 0; m < 8; m++) {
            row.epoch = epoch;
            row.member = m;
            row.device = m % 4;
            row.test_acc = 0.7 + 0.01 * m;
            row.prefix_acc = 0.75;
            REQUIRE_OK(record_add_member(record, &row, &e));
        }
        kit_epoch(record, epoch, 10, 0.5, 0.9);
    }
    take(&s);
    draw(&s, 21, 80);
    CHECK_HAS(text_str(&s.text), " running  lenet-ens8-");
    CHECK_HAS(text_str(&s.text), "  gain +1.00 points over mean, +0.50 over best");
    draw(&s, 13, 60);
    CHECK_HAS(text_str(&s.text), " running  lenet-ens8-");
    CHECK_HAS(text_str(&s.text), "  gain +1.00 points over mean");
    draw(&s, 21, 100);
    CHECK_HAS(text_str(&s.text),
              "gain +1.00 points over mean (0.8900), +0.50 over best, 8x the training");
    CHECK_HAS(text_str(&s.text), "mean");
    CHECK_HAS(text_str(&s.text), "ensemble");
    CHECK_HAS(text_str(&s.text), "prefix");
    draw(&s, 42, 160);
    CHECK_HAS(text_str(&s.text),
              "gain +1.00 points over the mean member (0.8900), +0.50 over the best, "
              "at 8x the training");
    runview_run(&s.view)->gain_best = -0.005;
    CHECK_HAS(draw(&s, 21, 80), "  gain +1.00 points over mean, 0.50 below best");
    draw(&s, 42, 160);
    CHECK_HAS(text_str(&s.text), "over the mean member (0.8900), 0.50 below the best, at 8x");
    CHECK_HAS(text_str(&s.text), "8 members on 4 virtual devices");
    CHECK_HAS(text_str(&s.text), "0.7700"); /* of the last member */
    CHECK_INT(s.view.acc.plot.count, 10);   /* the whole, the mean, the members */
    CHECK_HAS(draw(&s, 13, 60), "┤");       /* the least screen */
    CHECK_HAS(text_str(&s.text), "members");
    CHECK_HAS(text_str(&s.text), " 7 more: Up, Down ");
    CHECK_HAS(text_str(&s.text), "  1,000 img/s ");
    runview_run(&s.view)->images_per_second = 1234567; /* a unit is whole or not there */
    CHECK_HAS(draw(&s, 13, 60), "  1,234,567/s ");
    kit_state(&s.k, 7, record_folder(record), WIRE_STOPPED, "stopped at step 20");
    take(&s);
    draw(&s, 21, 80);
    CHECK_HAS(text_str(&s.text), " stopped  lenet-ens8-");
    CHECK_HAS(text_str(&s.text), "  at step 20: R goes on  gain +1.00");
    kit_state(&s.k, 7, record_folder(record), WIRE_DONE, "patience = 1 epoch");
    take(&s);
    runview_run(&s.view)->best_epoch = 1; /* what was gained is told of the last one */
    draw(&s, 42, 160);
    CHECK_HAS(text_str(&s.text), "at epoch 2: gain +1.00 points over the mean member (0.8900)");
    CHECK(strstr(strstr(text_str(&s.text), "  run █"), "█ 100 %"));
    CHECK_HAS(text_str(&s.text), " epoch 2/");
    draw_all_sizes(&s);
    close_run(&s, record, run);
}

static bool hints(struct shown *s, const char *what)
{
    for (const struct screen_key *k = runview_hints(&s->view); k->keys; k++)
        if (!strcmp(k->hint, what))
            return true;
    return false;
}

static const char *command_of(struct shown *s)
{
    text_clear(&s->text);
    runview_command(&s->view, &s->text);
    return text_str(&s->text);
}

TEST(only_keys_that_do_something_are_offered)
{
    struct record_run *run = lenet();
    struct record *record, *other;
    struct shown s;

    open_view(&s);
    CHECK(!runview_hints(&s.view)->keys); /* nothing has run */
    record = kit_run(&s.k, run);
    kit_state(&s.k, 7, record_folder(record), WIRE_RUNNING, "");
    kit_started(&s.k, 7, record_folder(record), &run->spec, 100);
    take(&s);
    CHECK(hints(&s, "pause") && hints(&s, "stop") && !hints(&s, "next"));
    snprintf(run->run, sizeof run->run, "other");
    other = kit_run(&s.k, run);
    feed_follow(s.k.feed, record_folder(other));
    CHECK(hints(&s, "next"));
    kit_state(&s.k, 7, record_folder(record), WIRE_WAITING, "");
    take(&s);
    CHECK(hints(&s, "stop") && !hints(&s, "pause"));
    record_close(other);
    close_run(&s, record, run);
}

TEST(ends_say_why_and_what_can_be_done)
{
    static const struct {
        enum wire_state state;
        const char *reason, *want[3];
    } cases[] = {
        {WIRE_DONE, "", {"done", "best 0.8000 at epoch 1", "of training"}},
        {WIRE_STOPPED, "", {"stopped", "at step 100: R goes on", "100 %"}},
        {WIRE_STOPPED, "stopped at step 103", {"stopped", "at step 103: R goes on", "100 %"}},
        {WIRE_PAUSED, "", {"paused", "p goes on", "epoch 1/4"}},
        {WIRE_DIVERGED,
         "the loss is not finite at step 123: try a smaller lr",
         {"diverged", "the loss is not finite at step 123", "r runs it again"}},
        {WIRE_OOM, "device 0 wanted 12.3 GB", {"out of memory", "12.3 GB", "e edits it"}},
        {WIRE_FAILED, "the disk is full", {"failed", "the disk is full", "r runs it again"}},
    };

    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        struct record_run *run = lenet();
        struct record *record;
        struct shown s;

        open_view(&s);
        record = kit_run(&s.k, run);
        kit_started(&s.k, 7, record_folder(record), &run->spec, 100);
        kit_epoch(record, 1, 100, 0.5, 0.8);
        kit_told_step(&s.k, 7, 100, 10);
        kit_state(&s.k, 7, record_folder(record), cases[i].state, cases[i].reason);
        take(&s);
        draw(&s, 21, 80);
        for (int k = 0; k < 3; k++)
            CHECK_HAS(text_str(&s.text), cases[i].want[k]);
        CHECK(!strstr(text_str(&s.text), " left"));
        CHECK_STR(runview_hints(&s.view)->hint, cases[i].state == WIRE_PAUSED ? "go on" : "again");
        CHECK(hints(&s, "go on") == (cases[i].state <= WIRE_DONE)); /* R refuses what failed */
        runview_run(&s.view)->reason[0] = '\0'; /* as of one whose process died */
        s.app.dirty = false;
        draw(&s, 21, 80);
        CHECK(!s.app.dirty); /* a picture that asks for the next would never rest */
        draw_all_sizes(&s);
        record_close(record);
        free(run);
        close_view(&s);
    }
}

TEST(what_a_file_says_cannot_drive_the_terminal)
{
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;

    open_view(&s);
    record = kit_run(&s.k, run);
    record_log(record, "a log line \033]0;title\007 and a very long one ......................."
                       "......................................................................");
    kit_started(&s.k, 7, record_folder(record), &run->spec, 100);
    kit_state(&s.k, 7, record_folder(record), WIRE_FAILED, "why \033[2J not");
    take(&s);
    draw(&s, 30, 100);
    CHECK(!strchr(text_str(&s.text), '\033'));
    CHECK_HAS(text_str(&s.text), "why ^[[2J not");
    CHECK_HAS(text_str(&s.text), "^[]0;title");
    close_run(&s, record, run);
}

TEST(keys_choose_axis_scale_smoothing_cursor_and_window)
{
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;

    record = open_going(&s, run);
    for (int i = 1; i <= 20; i++)
        kit_step(record, 10 * i, 0, 2.0 / i);
    take(&s);
    draw(&s, 21, 80);
    runview_key(&s.view, &(struct key){.code = 'x'});
    CHECK_STR(settings_get(s.app.settings, "run.x", ""), "step");
    runview_key(&s.view, &(struct key){.code = 'y'});
    CHECK(s.view.log_y && !settings_get(s.app.settings, "run.log", NULL));
    runview_key(&s.view, &(struct key){.code = 'm'});
    CHECK_INT(s.view.smooth, 5);
    runview_key(&s.view, &(struct key){.code = '['});
    CHECK(s.view.cursor);
    CHECK_NEAR(s.view.cursor_x, 200, 1e-9);
    runview_key(&s.view, &(struct key){.code = UI_LEFT});
    CHECK(s.view.cursor_x < 200);
    runview_key(&s.view, &(struct key){.code = '+'});
    CHECK_INT(s.view.zoom, 1);
    CHECK_HAS(draw(&s, 21, 80), "loss, log, zoomed");
    runview_key(&s.view, &(struct key){.code = UI_ESC});
    CHECK(!s.view.cursor && s.view.zoom == 1);
    runview_key(&s.view, &(struct key){.code = UI_ESC});
    CHECK_INT(s.view.zoom, 0);
    CHECK(!runview_key(&s.view, &(struct key){.code = UI_ESC}));
    runview_key(&s.view, &(struct key){.code = 'm'});
    CHECK_HAS(draw(&s, 21, 80), " rows");
    runview_run(&s.view)->reading = true; /* half a curve does not look like all of it */
    CHECK_HAS(draw(&s, 21, 80), "reading");
    runview_run(&s.view)->reading = false;
    draw(&s, 21, 80);
    CHECK(runview_key(&s.view, &(struct key){.code = UI_CLICK, .row = 8, .column = 36}));
    CHECK(s.view.cursor && s.view.cursor_x >= 150);
    CHECK(runview_key(&s.view, &(struct key){.code = UI_CLICK, .row = 8, .column = 47}));
    CHECK(s.view.cursor && s.view.cursor_x <= 60);
    CHECK(!runview_key(&s.view, &(struct key){.code = UI_CLICK, .row = 20, .column = 3}));
    runview_key(&s.view, &(struct key){.code = 'n'});
    CHECK_STR(s.app.own->said, "there is no other run to show");
    runview_key(&s.view, &(struct key){.code = 'p'});
    CHECK_STR(s.app.own->said, "pausing after this step");
    runview_keep_promise(&s.view);
    CHECK_STR(s.app.own->said, "pausing after this step");
    kit_state(&s.k, 7, record_folder(record), WIRE_PAUSED, "");
    take(&s);
    runview_keep_promise(&s.view); /* the keys to go on stand there again */
    CHECK_STR(s.app.own->said, "");
    close_run(&s, record, run);
}

TEST(a_key_waits_until_its_run_is_read)
{
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;

    open_view(&s);
    run->state = WIRE_DONE;
    run->spec.epochs = 1;
    record = kit_run(&s.k, run);
    screen_run_watch(&s.view, record_folder(record));
    screen_run_press(&s.view, 'R');
    record_close(record);
    CHECK_HAS(draw(&s, 21, 80), "reading  lenet");
    CHECK(!strstr(text_str(&s.text), "it waits for"));
    runview_press_now(&s.view);
    CHECK(s.app.own->popup == POPUP_NONE);
    take(&s);
    runview_press_now(&s.view);
    CHECK(s.app.own->popup == POPUP_PROMPT);
    CHECK_HAS(text_str(&s.app.own->label), "it is done with 1 epoch; go on to");
    popup_close(&s.app);
    runview_press_now(&s.view); /* once */
    CHECK(s.app.own->popup == POPUP_NONE);
    free(s.view.told);
    free(run);
    close_view(&s);
}

/* A number that is too large is larger than what it has. */
TEST(a_number_of_epochs_that_cannot_be_is_told_what_can)
{
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;

    open_view(&s);
    run->state = WIRE_DONE;
    record = kit_run(&s.k, run);
    screen_run_watch(&s.view, record_folder(record));
    record_close(record);
    take(&s);
    runview_key(&s.view, &(struct key){.code = 'R'});
    CHECK(s.app.own->popup == POPUP_PROMPT);
    line_set(&s.app.own->typed, "99999999999");
    popup_key(&s.app, &(struct key){.code = UI_ENTER});
    CHECK_HAS(s.app.own->said,
              "99999999999: it has 4 epochs; a whole number from 5 to 1000000 goes on");
    CHECK(s.app.own->popup == POPUP_PROMPT); /* to be mended: what is typed next is text */
    CHECK_STR(text_str(&s.app.own->typed.text), "99999999999");
    CHECK_STR(text_str(&s.app.own->label), "it is done with 4 epochs; go on to");
    popup_key(&s.app, &(struct key){.code = UI_BACKSPACE});
    CHECK_STR(s.app.own->said, "");
    popup_key(&s.app, &(struct key){.code = UI_ENTER});
    CHECK_STR(text_str(&s.app.own->typed.text), "9999999999");
    popup_key(&s.app, &(struct key){.code = UI_ESC});
    CHECK(s.app.own->popup == POPUP_NONE);
    free(s.view.told);
    free(run);
    close_view(&s);
}

/* The two lines at the bottom and what lies over the screen. */
static const char *draw_below(struct shown *s, int columns)
{
    struct grid *g = &s->app.own->grid;

    grid_free(g);
    grid_init(g, 24, columns, false);
    bar_bottom(&s->app, g);
    popup_draw(&s->app, g);
    text_clear(&s->text);
    grid_to_text(g, &s->text);
    return text_str(&s->text);
}

/* Presses what a hint says where it stands. */
static void click_on(struct shown *s, const char *hint)
{
    const char *found = strstr(text_str(&s->text), hint), *row = found;
    char *before;

    REQUIRE(found);
    while (row > text_str(&s->text) && row[-1] != '\n')
        row--;
    before = mem_text_n(row, (size_t)(found - row));
    popup_key(&s->app, &(struct key){.code = UI_CLICK, .row = 22, .column = text_width(before)});
    free(before);
}

static int answered;

static void take_answer(void *user, int answer)
{
    (void)user;
    answered = answer;
}

static char entered[80];

static void take_words(void *user, const char *text)
{
    (void)user;
    snprintf(entered, sizeof entered, "%s", text ? text : "nothing");
}

static void complete_nothing(const char *text, struct text *more, struct text *several)
{
    (void)text;
    (void)more;
    (void)several;
}

TEST(under_a_question_stands_what_its_keys_do)
{
    static const char *const answers[] = {"first", "second", NULL};
    struct shown s;

    open_view(&s);
    s.app.screen[SCREEN_RUN] = &s.view;
    CHECK_HAS(draw_below(&s, 80), "? help");
    app_ask(&s.app, "What now?", answers, take_answer, NULL);
    CHECK_HAS(draw_below(&s, 80), " ↑↓ choose  Enter takes it  Esc leaves\n");
    CHECK(!strstr(text_str(&s.text), "? help"));
    click_on(&s, "↓ choose");
    click_on(&s, "Enter takes it");
    CHECK_INT(answered, 1);
    app_ask(&s.app, "What now?", answers, take_answer, NULL);
    draw_below(&s, 80);
    click_on(&s, "Esc leaves");
    CHECK_INT(answered, -1);
    CHECK(s.app.own->popup == POPUP_NONE);

    app_prompt(&s.app, "name", "x", take_words, NULL, NULL);
    CHECK_HAS(draw_below(&s, 80), "Enter takes it  Esc leaves\n");
    click_on(&s, "Enter takes it");
    CHECK_STR(entered, "x");
    app_prompt(&s.app, "name", "x", take_words, complete_nothing, NULL);
    popup_offer(&s.app, "x");
    popup_offer(&s.app, "y");
    CHECK_HAS(draw_below(&s, 80), "Enter takes it  Esc leaves  Tab completes  ↑↓ others\n");
    click_on(&s, "↓ others");
    CHECK_STR(text_str(&s.app.own->typed.text), "y");
    line_set(&s.app.own->typed, "a text that leaves less room");
    CHECK_HAS(draw_below(&s, 80), "Enter takes it  Esc leaves\n");
    line_set(&s.app.own->typed,
             "a text that is so long that nothing at all stands beside it in a line");
    CHECK(!strstr(draw_below(&s, 80), "Enter"));
    line_set(&s.app.own->typed, "y");
    draw_below(&s, 80);
    click_on(&s, "Esc leaves");
    CHECK_STR(entered, "nothing");
    grid_free(&s.app.own->grid);
    close_view(&s);
}

TEST(what_max_steps_ended_is_offered_no_epochs)
{
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;

    open_view(&s);
    run->state = WIRE_DONE;
    snprintf(run->reason, sizeof run->reason, "max_steps = 50");
    record = kit_run(&s.k, run);
    screen_run_watch(&s.view, record_folder(record));
    record_close(record);
    take(&s);
    draw(&s, 21, 80);
    CHECK(!hints(&s, "go on"));
    runview_key(&s.view, &(struct key){.code = 'R'});
    CHECK(s.app.own->popup == POPUP_NONE);
    CHECK_HAS(s.app.own->said, "ended by max_steps = 50: more epochs change nothing");
    free(run);
    close_view(&s);
}

/* What another program computes is not known to wait before it has been looked at. */
TEST(a_stop_of_a_run_that_is_not_read_waits_too)
{
    struct feed_sweep pair = {.is = {.state = WIRE_RUNNING, .name = "pair", .waiting = 1}};
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;

    open_view(&s);
    run->state = WIRE_RUNNING;
    snprintf(run->sweep, sizeof run->sweep, "pair");
    record = kit_run(&s.k, run);
    screen_run_watch(&s.view, record_folder(record));
    runview_key(&s.view, &(struct key){.code = 'K'});
    CHECK(s.app.own->popup == POPUP_NONE);
    CHECK_STR(s.app.own->said, "its files are being read; K follows");
    take(&s);
    runview_press_now(&s.view);
    CHECK(s.app.own->popup == POPUP_ASK);
    CHECK_HAS(text_str(&s.app.own->question), "a cell of the sweep pair");
    CHECK_STR(s.app.own->answer[1], "drop this cell alone"); /* of its sweep nothing is known */
    CHECK_STR(s.app.own->answer[2], "stop it now: R goes on with it");
    popup_close(&s.app);
    feed_set_elsewhere(s.k.feed, &pair);
    runview_key(&s.view, &(struct key){.code = 'K'});
    CHECK_STR(s.app.own->answer[1], "drop this cell, the sweep goes on");
    CHECK_STR(s.app.own->answer[2], "stop it now: R goes on with it, the sweep with the next");
    popup_close(&s.app);
    pair.is.waiting = 0; /* it is the last one */
    feed_set_elsewhere(s.k.feed, &pair);
    runview_key(&s.view, &(struct key){.code = 'K'});
    CHECK_STR(s.app.own->answer[1], "drop this cell alone");
    CHECK_STR(s.app.own->answer[2], "stop it now: R goes on with it");
    popup_close(&s.app);
    pair.is.waiting = 1;
    pair.is.closing = true;
    feed_set_elsewhere(s.k.feed, &pair);
    runview_key(&s.view, &(struct key){.code = 'K'});
    CHECK_STR(s.app.own->answer[0], "cancel");
    CHECK_STR(s.app.own->answer[2], "stop it now: R goes on with it");
    popup_close(&s.app);
    CHECK(!hints(&s, "go on"));
    pair.is.wish = WIRE_WISH_STOP_CELLS;
    feed_set_elsewhere(s.k.feed, &pair);
    CHECK(hints(&s, "take stop back"));
    runview_key(&s.view, &(struct key){.code = 'K'});
    CHECK_HAS(text_str(&s.app.own->question), "The sweep was told to stop already.");
    CHECK_STR(s.app.own->answer[0], "take the stop back: the sweep goes on");
    CHECK_STR(s.app.own->answer[3], "cancel");
    popup_close(&s.app);
    record_close(record);
    free(s.view.told);
    free(run);
    close_view(&s);
}

TEST(a_run_that_is_prepared_says_so)
{
    struct wire_start *start = mem_new(1, sizeof *start);
    struct wire_event event = {.kind = WIRE_REFUSED};
    struct shown s;
    struct err e;

    open_view(&s);
    start->spec.epochs = 4;
    snprintf(start->spec.name, sizeof start->spec.name, "first");
    event.run = feed_start_run(s.k.feed, start, &e);
    CHECK_HAS(draw(&s, 21, 80), "starting  first  data and model are being prepared");
    CHECK_HAS(text_str(&s.text), "epoch 1/4");
    CHECK(hints(&s, "stop") && !hints(&s, "edit"));
    CHECK_STR(command_of(&s), "");
    event.slot = wire_slot_put(s.k.wire, "no such weights", 16);
    wire_post(s.k.wire, &event);
    take(&s);
    app_say(&s.app, GRID_BAD, "no such weights");
    CHECK_HAS(draw(&s, 21, 80), "no such weights; it did not start: 1 opens Setup");
    CHECK_STR(s.app.own->said, "");       /* once is enough */
    CHECK(!runview_hints(&s.view)->keys); /* there is nothing that a key could take */
    CHECK_STR(command_of(&s), "");
    for (const char *key = "RPerWM "; *key; key++) {
        s.app.own->said[0] = '\0';
        runview_key(&s.view, &(struct key){.code = *key});
        CHECK_HAS(s.app.own->said, "it did not start, and has no folder: 1 opens Setup");
    }
    app_say(&s.app, GRID_BAD, "something else");
    CHECK_HAS(draw(&s, 21, 80), "failed  first");
    CHECK_STR(s.app.own->said, "something else");
    free(start);
    close_view(&s);
}

TEST(the_run_that_was_just_started_is_shown)
{
    struct record_run *run = lenet();
    struct wire_start *start = mem_new(1, sizeof *start);
    struct record *record;
    struct shown s;
    struct err e;

    open_view(&s);
    run->state = WIRE_DONE;
    record = kit_run(&s.k, run);
    screen_run_watch(&s.view, record_folder(record));
    screen_run.show(&s.view);
    record_close(record);
    take(&s);
    CHECK(s.view.pinned);
    feed_start_run(s.k.feed, start, &e);
    take(&s);
    CHECK(runview_run(&s.view) ==
          feed_at(s.k.feed, 0)); /* it was chosen, and stays on the screen */
    screen_run.show(&s.view);
    CHECK(runview_run(&s.view) == feed_at(s.k.feed, 1));
    free(start);
    free(run);
    close_view(&s);
}

/* The sweep stops, not the cell alone: the line of `:` says so too, and R for the sweep is on Sweep. */
TEST(a_cells_stop_is_its_sweeps)
{
    struct wire_sweep_status status = {.sweep = 9, .state = WIRE_RUNNING, .name = "board"};
    struct record_run *run = lenet();
    struct wire_command command;
    struct record *record;
    struct shown s;

    record = open_going(&s, run);
    wire_set_sweep(s.k.wire, &status);
    take(&s);
    runview_run(&s.view)->sweep = 9;
    runview_ask_stop(&s.view, runview_run(&s.view));
    REQUIRE(s.app.own->answers == 4);
    CHECK_STR(s.app.own->answer[2], "stop the sweep now; R on Sweep goes on with it");
    s.app.own->on_answer(s.app.own->user, 0);
    CHECK_STR(text_str(&s.app.did), "stop board --after-cells");
    REQUIRE(s.app.own->lines == 1);
    CHECK_STR(app_log_line(&s.app, 0)->text, "the sweep stops after the running cells");
    s.app.own->on_answer(s.app.own->user, 2);
    CHECK_STR(text_str(&s.app.did), "stop board");
    status.wish = WIRE_WISH_STOP_CELLS;
    wire_set_sweep(s.k.wire, &status);
    runview_ask_stop(&s.view, runview_run(&s.view));
    CHECK_STR(s.app.own->answer[0], "take the stop back: the sweep goes on");
    while (wire_next_command(s.k.wire, &command, 0))
        ;
    s.app.own->on_answer(s.app.own->user, 0);
    CHECK(is_told(&s, 9, WIRE_WISH_RUN));
    CHECK_STR(text_str(&s.app.did), "go board");
    status.wish = WIRE_WISH_RUN; /* taken back elsewhere while the box stands */
    wire_set_sweep(s.k.wire, &status);
    s.app.own->on_answer(s.app.own->user, 0);
    CHECK(!wire_next_command(s.k.wire, &command, 0));
    runview_ask_stop(&s.view, runview_run(&s.view));
    CHECK_STR(s.app.own->answer[0], "after the running cells");
    status.wish = WIRE_WISH_STOP_CELLS; /* told elsewhere while it stands */
    wire_set_sweep(s.k.wire, &status);
    s.app.own->on_answer(s.app.own->user, 0);
    CHECK(is_told(&s, 9, WIRE_WISH_STOP_CELLS));
    status.running = 2;
    status.paused = 1; /* alone: that goes on too */
    wire_set_sweep(s.k.wire, &status);
    runview_ask_stop(&s.view, runview_run(&s.view));
    CHECK_STR(s.app.own->answer[0], "take the stop back: the sweep goes on");
    s.view.told[0] = 'x'; /* the cell has ended, another one is shown */
    s.app.own->said[0] = '\0';
    s.app.own->on_answer(s.app.own->user, 3);
    CHECK_STR(s.app.own->said, "");
    s.app.own->on_answer(s.app.own->user, 2);
    CHECK_STR(s.app.own->said, "nothing was done: another run is shown now");
    for (int i = 0; i < s.app.own->answers; i++)
        free(s.app.own->answer[i]);
    free(s.view.told);
    close_run(&s, record, run);
}

/* By K and by R, and as the line of `:` says; of this process's as of another's. */
TEST(a_stop_after_the_epoch_is_taken_back)
{
    struct wire_status status = {.run = 7, .state = WIRE_RUNNING, .wish = WIRE_WISH_STOP_EPOCH};
    struct record_run *run = lenet();
    struct wire_command command;
    struct record *record;
    struct shown s;

    record = open_going(&s, run);
    take(&s);
    CHECK(!strncmp(draw(&s, 21, 80), " running  lenet", 15) && !hints(&s, "go on"));
    runview_ask_stop(&s.view, runview_run(&s.view));
    CHECK_STR(s.app.own->answer[0], "after this epoch");
    s.app.own->on_answer(s.app.own->user, 0);
    CHECK(is_told(&s, 7, WIRE_WISH_STOP_EPOCH));
    REQUIRE(s.app.own->lines == 1);
    CHECK_STR(app_log_line(&s.app, 0)->text, "stopping after this epoch; R takes that back");
    CHECK_STR(app_log_line(&s.app, 0)->from, runview_run(&s.view)->name);
    snprintf(status.path, sizeof status.path, "%s", record_folder(record));
    wire_set_status(s.k.wire, &status); /* the engine has heard of it */
    CHECK(!strncmp(draw(&s, 21, 80), " stopping  lenet", 16) && hints(&s, "take stop back"));
    CHECK(!hints(&s, "go on"));
    runview_ask_stop(&s.view, runview_run(&s.view));
    CHECK_HAS(text_str(&s.app.own->question), "? It stops after this epoch already.");
    REQUIRE(s.app.own->answers == 3);
    CHECK_STR(s.app.own->answer[0], "take the stop back: it goes on");
    s.app.own->on_answer(s.app.own->user, 0);
    CHECK(is_told(&s, 7, WIRE_WISH_RUN));
    CHECK_HAS(text_str(&s.app.did), "go ");
    REQUIRE(s.app.own->lines == 2);
    CHECK_STR(app_log_line(&s.app, 0)->text, "it goes on: the stop after this epoch is taken back");
    runview_resume(&s.view, runview_run(&s.view));
    CHECK(is_told(&s, 7, WIRE_WISH_RUN));
    s.app.own->on_answer(s.app.own->user, 1);
    CHECK(is_told(&s, 7, WIRE_WISH_STOP));
    status.wish = WIRE_WISH_RUN; /* taken back elsewhere while the box stands */
    wire_set_status(s.k.wire, &status);
    s.app.own->on_answer(s.app.own->user, 0);
    CHECK(!wire_next_command(s.k.wire, &command, 0));
    runview_resume(&s.view, runview_run(&s.view));
    CHECK_STR(s.app.own->said, "It is at work already.");
    status.closing = true; /* the program leaves after this epoch */
    wire_set_status(s.k.wire, &status);
    CHECK(!strncmp(draw(&s, 21, 80), " stopping  lenet", 16) && !hints(&s, "take stop back"));
    status.closing = false;
    status.state = WIRE_PAUSED; /* which forgets a stop */
    status.wish = WIRE_WISH_PAUSE;
    wire_set_status(s.k.wire, &status);
    kit_state(&s.k, 7, record_folder(record), WIRE_PAUSED, "");
    take(&s);
    CHECK(hints(&s, "go on") && !hints(&s, "take stop back"));
    CHECK_HAS(draw(&s, 21, 80), "p goes on");
    runview_run(&s.view)->own = false;
    CHECK(!hints(&s, "take stop back"));
    runview_run(&s.view)->wish = WIRE_WISH_STOP_EPOCH; /* and has not gone on yet */
    CHECK(hints(&s, "take stop back"));
    popup_close(&s.app);
    record_close(record);
    free(s.view.told);
    free(run);
    close_view(&s);
}

/* R goes on with whatever stands still, as p does with what is paused. */
TEST(r_lets_what_is_paused_go_on)
{
    struct wire_sweep_status sweep = {.sweep = 9,
                                      .state = WIRE_PAUSED,
                                      .name = "board",
                                      .wish = WIRE_WISH_STOP_CELLS,
                                      .running = 1,
                                      .paused = 1};
    struct record_run *run = lenet();
    struct wire_command command;
    struct record *record;
    struct shown s;

    record = open_going(&s, run);
    open_tasks(&s);
    kit_state(&s.k, 7, record_folder(record), WIRE_PAUSED, "");
    take(&s);
    runview_key(&s.view, &(struct key){.code = 'R'});
    CHECK(is_told(&s, 7, WIRE_WISH_RUN));
    CHECK(!wire_next_command(s.k.wire, &command, 0));
    CHECK_STR(s.app.own->said, "going on");
    runview_run(&s.view)->sweep = 9; /* a stop is its sweep's, and so is what takes that back */
    wire_set_sweep(s.k.wire, &sweep);
    CHECK(hints(&s, "go on") && hints(&s, "take stop back"));
    runview_key(&s.view, &(struct key){.code = 'R'});
    CHECK(is_told(&s, 9, WIRE_WISH_RUN));
    CHECK(!wire_next_command(s.k.wire, &command, 0));
    CHECK_STR(s.app.own->said, "the sweep goes on: further cells begin");
    close_run(&s, record, run);
}

static bool asks_of_other(struct shown *s)
{
    return s->app.own->popup == POPUP_ASK &&
           strstr(text_str(&s->app.own->question), "Another chorus (process") != NULL;
}

static void answer(struct shown *s, int which)
{
    void (*to)(void *user, int answer) = s->app.own->on_answer;
    void *user = s->app.own->user;

    popup_close(&s->app);
    to(user, which);
}

static bool was_sent(struct shown *s, enum wire_command_kind kind, uint32_t run)
{
    struct wire_command command;

    return wire_next_command(s->k.wire, &command, 0) && command.kind == kind && command.run == run;
}

/* What comes true only later, and its taking back, stand in the log, as those of K do. */
TEST(that_chorus_leaves_after_this_epoch_stands_in_the_log)
{
    struct wire_sweep_status sweep = {
        .sweep = 9, .state = WIRE_RUNNING, .name = "board", .running = 1};
    struct record_run *run = lenet();
    struct setup *setup = mem_new(1, sizeof *setup);
    struct record *record;
    struct shown s;

    record = open_going(&s, run);
    s.app.screen[SCREEN_SETUP] = setup;
    setup->app = &s.app;
    s.app.config.wire = s.k.wire;
    s.app.own->quitting = true; /* nothing waits */
    wire_set_sweep(s.k.wire, &sweep);
    take(&s);
    app_quit(&s.app);
    answer(&s, 0);
    CHECK(was_sent(&s, WIRE_LEAVE, 0) && nothing_sent(&s)); /* that is no wish */
    REQUIRE(s.app.own->leaving && s.app.own->lines == 1);
    s.app.own->quitting = true;
    CHECK_STR(app_log_line(&s.app, 0)->text, "leaving after this epoch; q takes that back");
    app_quit(&s.app);
    answer(&s, 0);
    REQUIRE(!s.app.own->leaving && s.app.own->lines == 2);
    CHECK_STR(app_log_line(&s.app, 0)->text, "taken back: what runs goes on after this epoch too");
    CHECK(was_sent(&s, WIRE_STAY, 0) && nothing_sent(&s));
    free(setup);
    close_run(&s, record, run);
}

/* Where another program has taken the machine meanwhile, whatever key it was. */
TEST(whatever_lets_a_paused_run_go_on_asks_first)
{
    struct wire_status status = {.run = 7, .state = WIRE_PAUSED, .wish = WIRE_WISH_STOP_EPOCH};
    struct wire_sweep_status sweep = {
        .sweep = 9, .state = WIRE_PAUSED, .name = "board", .running = 1, .paused = 1};
    const char *was = getenv("CHORUS_CACHE");
    char *before = mem_text(was ? was : "off"), *cache;
    struct record_run *run = lenet();
    struct setup *setup = mem_new(1, sizeof *setup);
    struct wire_command command;
    struct record *record;
    struct shown s;
    pid_t child;
    int end;

    record = open_going(&s, run);
    cache = io_path(s.k.results, ".cache");
    setenv("CHORUS_CACHE", cache, 1);
    child = other_program(s.k.results, "/r/other", &end);
    open_tasks(&s);
    s.app.screen[SCREEN_SETUP] = setup;
    setup->app = &s.app;
    kit_state(&s.k, 7, record_folder(record), WIRE_PAUSED, "");
    take(&s);
    for (int stops = 0; stops < 2; stops++) {
        for (const char *key = "pR"; *key; key++) {
            runview_key(&s.view, &(struct key){.code = *key});
            CHECK(asks_of_other(&s));
            answer(&s, 1);
            CHECK(!wire_next_command(s.k.wire, &command, 0));
        }
        snprintf(status.path, sizeof status.path, "%s", record_folder(record));
        wire_set_status(s.k.wire, &status);
    }
    runview_key(&s.view, &(struct key){.code = 'R'});
    answer(&s, 0);
    CHECK(is_told(&s, 7, WIRE_WISH_RUN) && nothing_sent(&s));
    CHECK_HAS(text_str(&s.app.did), "go ");
    claim_drop(&s.app);
    status.wish = WIRE_WISH_PAUSE;
    wire_set_status(s.k.wire, &status);
    runview_key(&s.view, &(struct key){.code = 'K'});
    answer(&s, 0);
    CHECK(asks_of_other(&s) && !wire_next_command(s.k.wire, &command, 0));
    answer(&s, 0);
    CHECK(is_told(&s, 7, WIRE_WISH_STOP_EPOCH));
    CHECK_STR(s.app.own->said, "it goes on to the end of this epoch, and stops; R takes that back");
    claim_drop(&s.app);
    for (int i = 0; i < 3; i += 2) { /* after this epoch; without this terminal */
        app_quit(&s.app);
        answer(&s, i);
        CHECK(asks_of_other(&s));
        answer(&s, 1);
        CHECK(!s.app.over && !s.app.own->leaving && !wire_next_command(s.k.wire, &command, 0));
    }
    runview_run(&s.view)->sweep = 9;
    wire_set_sweep(s.k.wire, &sweep);
    runview_key(&s.view, &(struct key){.code = 'K'});
    CHECK_STR(s.app.own->answer[0], "after the running cells");
    answer(&s, 0);
    CHECK(asks_of_other(&s));
    answer(&s, 1);
    runview_key(&s.view, &(struct key){.code = 'K'});
    answer(&s, 1);
    CHECK(was_sent(&s, WIRE_SKIP, 9)); /* none begins: the sweep is paused, too */
    sweep.state = WIRE_RUNNING;
    sweep.waiting = 1;
    wire_set_sweep(s.k.wire, &sweep);
    runview_key(&s.view, &(struct key){.code = 'K'});
    answer(&s, 1);
    CHECK(asks_of_other(&s));
    answer(&s, 0);
    CHECK(was_sent(&s, WIRE_SKIP, 9));
    claim_drop(&s.app);
    sweep.state = WIRE_PAUSED;
    sweep.wish = WIRE_WISH_STOP_CELLS;
    wire_set_sweep(s.k.wire, &sweep);
    runview_key(&s.view, &(struct key){.code = 'R'});
    CHECK(asks_of_other(&s) && !wire_next_command(s.k.wire, &command, 0));
    answer(&s, 0);
    CHECK(is_told(&s, 9, WIRE_WISH_RUN) && nothing_sent(&s));
    CHECK_STR(text_str(&s.app.did), "go board");
    claim_drop(&s.app);
    sweep.paused = 0; /* it computes beside the other one already */
    sweep.state = WIRE_RUNNING;
    wire_set_sweep(s.k.wire, &sweep);
    kit_state(&s.k, 7, record_folder(record), WIRE_RUNNING, "");
    take(&s);
    runview_key(&s.view, &(struct key){.code = 'R'});
    CHECK(is_told(&s, 9, WIRE_WISH_RUN));
    runview_run(&s.view)->own = false; /* nor does one that a third program holds */
    runview_run(&s.view)->sweep = 0;
    runview_run(&s.view)->state = WIRE_PAUSED;
    runview_key(&s.view, &(struct key){.code = 'p'});
    CHECK(asks_of_other(&s));
    answer(&s, 1);
    end_program(child, end);
    setenv("CHORUS_CACHE", before, 1);
    free(before);
    free(cache);
    free(s.view.told);
    free(setup);
    close_run(&s, record, run);
}

TEST(what_came_to_nothing_offers_neither_weights_nor_curves)
{
    static const char weights[] = "weights";
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;

    record = open_going(&s, run);
    kit_state(&s.k, 7, record_folder(record), WIRE_OOM, "device 0 wanted 12.3 GB");
    take(&s);
    CHECK(hints(&s, "again") && hints(&s, "edit"));
    CHECK(!hints(&s, "predictions") && !hints(&s, "axis") && !hints(&s, "match"));
    runview_key(&s.view, &(struct key){.code = 'P'});
    CHECK_STR(s.app.own->said, "it has no weights: it ended before its first checkpoint");
    CHECK_INT(s.app.shown, SCREEN_RUN);
    runview_key(&s.view, &(struct key){.code = 'M'});
    CHECK_STR(s.app.own->said, "it has no whole epoch whose cost could be matched");
    runview_key(&s.view, &(struct key){.code = 'R'});
    CHECK_STR(s.app.own->said, "it is out of memory: r runs its experiment again");
    help_put(record_folder(record), "checkpoint.safetensors", weights, sizeof weights);
    kit_epoch(record, 1, 100, 0.5, 0.8);
    wire_post(s.k.wire, &(struct wire_event){.kind = WIRE_EPOCH, .run = 7});
    feed_follow(s.k.feed, record_folder(record));
    take(&s);
    CHECK(hints(&s, "predictions") && hints(&s, "axis") && hints(&s, "match"));
    close_run(&s, record, run);
}

/* Its last rows are read a moment later: nobody says until then that it has none. */
TEST(what_has_just_ended_is_matched)
{
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;

    record = open_going(&s, run);
    take(&s);
    open_tasks(&s);
    feed_use_tasks(s.k.feed, s.app.tasks);
    kit_epoch(record, 1, 100, 0.5, 0.8);
    kit_state(&s.k, 7, record_folder(record), WIRE_STOPPED, "");
    feed_take(s.k.feed, NULL, NULL);
    CHECK(!runview_at_work(runview_run(&s.view)) && !runview_run(&s.view)->epochs.n);
    runview_key(&s.view, &(struct key){.code = 'M'});
    CHECK_HAS(text_str(&s.app.own->question), "as many epochs as make the cost of");
    popup_close(&s.app);
    text_free(&s.app.about);
    close_run(&s, record, run);
}

TEST(a_sweep_that_starts_is_shown_before_it_has_a_cell)
{
    struct wire_sweep_status status = {.state = WIRE_RUNNING, .cells = 4};
    struct wire_event cell = {.kind = WIRE_CELL};
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;

    open_view(&s);
    run->state = WIRE_DONE;
    record = kit_run(&s.k, run);
    screen_run_watch(&s.view, record_folder(record));
    record_close(record);
    take(&s);
    feed_expect_sweep(s.k.feed, 9);
    s.view.pinned = false;
    CHECK(!runview_run(&s.view));
    status.sweep = 9;
    snprintf(status.name, sizeof status.name, "board");
    wire_set_sweep(s.k.wire, &status);
    CHECK_HAS(draw(&s, 24, 80), "The sweep board is starting");
    status.code = ERR_IO;
    wire_set_sweep(s.k.wire, &status);
    CHECK_HAS(draw(&s, 24, 80), "The sweep board waits: its first cell cannot begin yet.");
    status.code = ERR_OK;
    wire_set_sweep(s.k.wire, &status);
    kit_state(&s.k, 8, "", WIRE_RUNNING, ""); /* it waits behind that */
    take(&s);
    CHECK(runview_run(&s.view) && runview_run(&s.view)->number == 8);
    kit_state(&s.k, 8, "", WIRE_DONE, "");
    take(&s);
    CHECK(!runview_run(&s.view));
    cell.run = 9;
    cell.u.cell.run = 10;
    wire_post(s.k.wire, &cell);
    take(&s);
    CHECK(runview_run(&s.view) && runview_run(&s.view)->number == 10);
    free(run);
    close_view(&s);
}

static enum err_code write_as(struct shown *s, const char *form, struct text *out, struct err *e)
{
    struct paper paper = {0};
    enum err_code code = runview_write(&s->view, form, &paper, e);

    paper.csv_name = mem_text("curves.csv");
    if (code == ERR_OK)
        code = paper_write(&paper, form, out, e);
    paper_free(&paper);
    return code;
}

TEST(what_is_seen_is_written_as_a_figure)
{
    struct record_run *run = lenet();
    struct text out = {0};
    struct record *record;
    struct shown s;
    struct err e;

    open_view(&s);
    CHECK(write_as(&s, "svg", &out, &e) == ERR_INPUT);
    kit_state(&s.k, 7, "", WIRE_WAITING, "");
    take(&s);
    CHECK(write_as(&s, "svg", &out, &e) == ERR_INPUT);
    CHECK_STR(e.text, "the run has no point to draw");
    record = kit_run(&s.k, run);
    kit_started(&s.k, 7, record_folder(record), &run->spec, 100);
    kit_epoch(record, 1, 100, 0.5, 0.8);
    kit_epoch(record, 2, 100, 0.25, 0.9);
    take(&s);
    runview_command(&s.view, &out);
    CHECK(!strncmp(text_str(&out), "watch ", 6));
    kit_state(&s.k, 7, record_folder(record), WIRE_DONE, "");
    take(&s);
    text_clear(&out);
    s.view.axis = FEED_SECONDS;
    s.view.log_y = true;
    s.view.smooth = 20; /* of steps: that of the verb would move the test values */
    runview_command(&s.view, &out);
    CHECK(!strncmp(text_str(&out), "plot ", 5));
    CHECK_HAS(text_str(&out), " --x seconds --log y");
    CHECK(!strstr(text_str(&out), "--smooth"));
    s.view.smooth = 0;
    s.view.axis = FEED_EPOCH;
    for (int i = 0; runview_forms[i]; i++) {
        static const char *const want[] = {
            "accuracy", "%PDF", "epoch of accuracy: test,accuracy: test\n", "screen as curves.csv"};

        text_clear(&out);
        REQUIRE_OK(write_as(&s, runview_forms[i], &out, &e));
        CHECK_HAS(text_str(&out), want[i]);
        if (i == 2) /* loss of training in the middle of the epoch, and of test at its end */
            CHECK_HAS(text_str(&out), "\n0.5,0.6,1,0.5,0.5,0.7");
    }
    text_free(&out);
    close_run(&s, record, run);
}

/* Beside a bar that still tells its shares apart, and as wide in each row. */
TEST(a_gpu_says_how_it_is_at_80_columns)
{
    struct record_run *run = lenet();
    struct record *record;
    struct shown s;
    struct err e;

    open_view(&s);
    run->spec.devices = 2;
    record = kit_run(&s.k, run);
    kit_started(&s.k, 7, record_folder(record), &run->spec, 100);
    for (int i = 0; i < 4; i++) {
        int device = i % 2, epoch = 1 + i / 2;
        struct record_device row = {.epoch = epoch,
                                    .device = device,
                                    .images = 500,
                                    .train_loss = 0.5,
                                    .train_acc = 0.8,
                                    .compute_seconds = 1,
                                    .memory_bytes = device ? 9.8e9 : 12.3e9,
                                    .gpu_percent = device ? 5 : 98,
                                    .temperature_c = 65,
                                    .power_watts = 480};

        snprintf(row.real, sizeof row.real, "gpu:%d", device);
        if (epoch == 2)
            row.memory_bytes = RECORD_EMPTY;
        REQUIRE_OK(record_add_device(record, &row, &e));
        if (device == 0)
            continue;
        kit_epoch(record, epoch, 100 * epoch, 0.5, 0.8);
        wire_post(s.k.wire, &(struct wire_event){.kind = WIRE_EPOCH, .run = 7});
        take(&s);
        if (epoch == 2)
            break;
        CHECK_HAS(draw(&s, 21, 100), "▆▆▆▆▆▆  GPU  98 %  12.3 GB   65 °C  480 W  │");
        CHECK_HAS(draw(&s, 21, 100), "▆▆▆▆▆▆  GPU   5 %   9.8 GB   65 °C  480 W  │");
        CHECK_HAS(draw(&s, 21, 80), "▆▆▆▆▆▆   98% 12.3 GB  65°C 480W  │");
        CHECK_HAS(draw(&s, 21, 80), "▆▆▆▆▆▆    5%  9.8 GB  65°C 480W  │");
        CHECK_HAS(draw(&s, 21, 70), "▆▆▆▆▆▆   98%  65°C 480W  │");
    }
    CHECK_HAS(draw(&s, 21, 80), "▆▆▆▆▆▆  GPU  98 %   65 °C  480 W  │");
    CHECK_HAS(draw(&s, 21, 80), "▆▆▆▆▆▆  GPU   5 %   65 °C  480 W  │");
    draw_all_sizes(&s);
    close_run(&s, record, run);
}
