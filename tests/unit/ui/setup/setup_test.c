/* The Setup screen: what is drawn at both sizes, what keys do, and what is started. */
#include "tests/unit/ui/setup/setup_kit.h"

#include "record/run/run.h"
#include "record/run/writer.h"
#include "tests/unit/ui/other_kit.h"
#include "ui/app/screens.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/stat.h>

static void write_file(const char *path, const char *text)
{
    struct err e = {0};
    char *folder = io_folder_of(path);

    if (io_make_folders(folder, &e) != ERR_OK ||
        io_replace_file(path, text, strlen(text), &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    free(folder);
}

static void choose(const char *key)
{
    setup_choose(kit.setup, (size_t)form_find(&kit.setup->form, key));
}

static const char *text_of(const char *key)
{
    int i = form_find(&kit.setup->form, key);

    return i >= 0 ? kit.setup->form.field[i].text : NULL;
}

/* The line of the picture that holds a word; "" where none does. */
static const char *line_with(const char *picture, const char *word)
{
    static char line[2000];
    const char *at = strstr(picture, word), *start = at, *end;

    if (!at)
        return "";
    while (start > picture && start[-1] != '\n')
        start--;
    end = strchr(at, '\n');
    snprintf(line, sizeof line, "%.*s", (int)(end - start), start);
    return line;
}

TEST(the_first_start_is_one_key_away_from_a_run)
{
    kit_start();
    kit_keys("r");
    CHECK_INT(kit.runs, 1);
    CHECK_INT(kit.shown, SCREEN_RUN);
    CHECK_STR(kit.started.spec.model, "lenet");
    CHECK_NEAR(kit.started.spec.lr, 0.002, 0);
    CHECK_INT(kit.started.spec.epochs, 2);
    CHECK_STR(kit_command(), "run first");
    kit_end();
}

TEST(what_matters_shows_at_80_by_24)
{
    static const char *const want[] = {"model",
                                       "devices",
                                       "batch ",
                                       "epochs",
                                       "lr ",
                                       "steps an epoch",
                                       "468",
                                       "0.002",
                                       "129,068",
                                       "12.3 MB",
                                       "one run",
                                       "119,808",
                                       "expected time",
                                       "1.20 s",
                                       "learning rate",
                                       "batch a device",
                                       "images dropped",
                                       "96",
                                       "1.28e+12"};

    kit_start();
    for (size_t i = 0; i < MEM_COUNT(want); i++)
        CHECK_HAS(kit_draw(21, 80), want[i]);
    for (int b = 0; spec_builtin_name(b); b++) {
        static const char *const keys[] = {"model", "devices", "batch", "epochs", "lr"};

        setup_load_builtin(kit.setup, spec_builtin_name(b));
        kit_settle();
        (void)kit_draw(21, 80);
        CHECK_INT(kit.setup->first, 0);
        for (size_t k = 0; k < MEM_COUNT(keys); k++) {
            size_t row[SETUP_ROWS], n = setup_rows(kit.setup, row);
            bool seen = false;

            for (int l = 0; l < SETUP_LINES; l++)
                seen = seen ||
                       (kit.setup->line_row[l] >= 0 && (size_t)kit.setup->line_row[l] < n &&
                        !strcmp(kit.setup->form.field[row[kit.setup->line_row[l]]].key, keys[k]));
            if (!seen)
                TEST_FAILED("%s: %s does not show", spec_builtin_name(b), keys[k]);
        }
    }
    kit_end();
}

TEST(a_time_that_is_a_guess_says_so)
{
    kit_start();
    CHECK_HAS(kit_draw(21, 80), "expected time    1.20 s");
    kit.guessed_from = 2;
    setup_load_builtin(kit.setup, spec_builtin_name(0));
    kit_settle();
    CHECK_HAS(kit_draw(21, 80), "expected time    ~");
    kit_end();
}

TEST(more_threads_than_cores_are_told_of)
{
    kit_start();
    CHECK(!strstr(kit_draw(21, 80), "threads = all"));
    choose("threads");
    kit_keys("Enter 9 Enter Esc");
    kit_settle();
    CHECK_HAS(kit_draw(21, 80), " 9 threads on 8 cores: threads = all is faster ");
    CHECK_HAS(kit_draw(42, 160), "9 threads on 8 cores: threads = all");
    kit_keys("v");
    CHECK_HAS(kit.page, "\n9 threads on 8 cores: threads = all is faster\n");
    kit_end();
}

TEST(cells_that_have_more_threads_than_cores_together_are_told_of)
{
    kit_start();
    choose("lr");
    kit_keys("Enter 0.1,0.2 Enter");
    choose("threads");
    kit_keys("Enter 5 Enter Esc");
    kit_settle();
    CHECK(!strstr(kit_draw(21, 80), "is faster"));
    kit_keys("o");
    kit.entered(kit.user, "--jobs 3");
    kit_settle();
    CHECK_HAS(kit_draw(42, 160), "2 cells of 5 threads each on 8 cores: threads = all");
    kit_end();
}

TEST(at_160_by_45_there_are_three_panels)
{
    const char *picture;

    kit_start();
    picture = kit_draw(42, 160);
    CHECK_HAS(picture, "╭ experiments");
    CHECK_HAS(picture, "╭ what it means");
    CHECK_HAS(picture, "each of them      28x28x1 ");
    CHECK_HAS(picture, "A first look: LeNet learns");
    kit_keys("v");
    CHECK_HAS(kit.page, "\nA first look: LeNet learns");
    CHECK(!strstr(kit.page, "# "));
    kit_end();
}

TEST(a_page_that_is_open_takes_what_the_planner_answers)
{
    kit_start();
    choose("batch");
    for (const char *c = "\n250\n"; *c; c++)
        screen_setup.key(kit.setup, &(struct key){.code = *c == '\n' ? UI_ENTER : *c});
    screen_setup.key(kit.setup, &(struct key){.code = UI_ESC});
    screen_setup.key(kit.setup, &(struct key){.code = 'v'});
    CHECK(!strstr(kit.page, "129,068"));
    kit_settle();
    CHECK_HAS(kit.page, "129,068");
    kit_end();
}

TEST(a_field_is_typed_over_checked_and_taken)
{
    kit_start();
    choose("lr");
    CHECK(!screen_setup.wants_text(kit.setup));
    kit_keys("Enter");
    CHECK(screen_setup.wants_text(kit.setup));
    CHECK_HAS(kit_draw(21, 80), "0.002");
    kit_keys("0 .");
    CHECK_STR(text_str(&kit.setup->line.text), "0.");
    kit_keys("x");
    CHECK_HAS(kit_draw(42, 160), "lr = 0.x: it is no number; allowed: a finite number from 0");
    kit_keys("Enter"); /* it stays open */
    CHECK(screen_setup.wants_text(kit.setup));
    kit_keys("Backspace 5");
    CHECK_HAS(kit_draw(42, 160), "learning rate     0.5"); /* with the key that was typed */
    kit_keys("Tab");
    CHECK_STR(text_of("lr"), "0.5");
    CHECK_STR(kit.setup->at, "optimizer"); /* the next is open */
    CHECK(screen_setup.wants_text(kit.setup));
    kit_keys("s g d Esc");
    CHECK(!screen_setup.wants_text(kit.setup));
    CHECK_STR(text_of("optimizer"), "adam"); /* the old value is back */
    CHECK_STR(kit_command(), "run first lr=0.5");
    CHECK_HAS(line_with(kit_draw(21, 80), "0.5 "), "*lr");
    choose("lr");
    kit_keys("u");
    CHECK_STR(text_of("lr"), "0.002");
    CHECK_STR(kit_command(), "run first");
    kit_keys("Enter 0 . 3 Enter"); /* takes it, and no field is open: arrows move again */
    CHECK(!screen_setup.wants_text(kit.setup));
    CHECK_STR(kit.setup->at, "lr");
    kit_keys("Down Up Up");
    CHECK_STR(text_of("optimizer"), "adam");
    CHECK_STR(text_of("lr"), "0.3");
    kit_end();
}

TEST(a_field_opened_and_left_is_no_change)
{
    kit_start();
    choose("seed");
    kit_keys("z Enter Enter Esc");
    choose("max_steps"); /* default: none */
    kit_keys("Enter Enter Esc");
    CHECK(!form_dirty(&kit.setup->form));
    kit_keys("r");
    CHECK(kit.runs == 1);
    kit_end();
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void at_gate(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

static void passed(void *arg, bool dropped)
{
    (void)arg;
    (void)dropped;
}

static void begun(void *user, enum claim_how how, bool elsewhere)
{
    (void)elsewhere;
    *(int *)user += how == CLAIM_NOW;
}

TEST(a_start_that_still_looks_around_is_not_begun_twice)
{
    int begins = 0;

    kit_start();
    tasks_patience(kit.app.tasks, 0);
    pthread_mutex_lock(&gate);
    (void)tasks_try(kit.app.tasks, at_gate, passed, NULL);
    claim_machine(&kit.app, true, begun, &begins);
    screen_setup.key(kit.setup, &(struct key){.code = 'r'});
    CHECK_INT(kit.runs, 0);
    CHECK_HAS(kit.said, "it starts already");
    pthread_mutex_unlock(&gate);
    kit_settle();
    CHECK_INT(begins, 1);
    tasks_patience(kit.app.tasks, 20000);
    kit_keys("r r");
    CHECK_INT(kit.runs, 2); /* each looked around for itself */
    kit_end();
}

TEST(a_file_that_takes_long_to_read_is_told)
{
    kit_start();
    write_file("experiments/mine.ini", "batch = 64\n");
    kit.said[0] = 0;
    setup_load_path(kit.setup, "experiments/mine.ini");
    CHECK_STR(kit.said, "");
    tasks_patience(kit.app.tasks, 0);
    pthread_mutex_lock(&gate);
    (void)tasks_try(kit.app.tasks, at_gate, passed, NULL);
    setup_load_path(kit.setup, "experiments/mine.ini");
    CHECK_STR(kit.said, "reading experiments/mine.ini ...");
    pthread_mutex_unlock(&gate);
    kit_settle();
    CHECK_STR(kit.said, "experiments/mine.ini is read");
    kit_end();
}

static sem_t behind;

static void post(void *arg)
{
    (void)arg;
    sem_post(&behind);
}

static void read_it_first(void)
{
    kit.before_said = NULL;
    pthread_mutex_unlock(&gate);
    (void)tasks_try(kit.app.tasks, post, passed, NULL);
    sem_wait(&behind);
}

TEST(a_file_is_read_while_it_is_told)
{
    kit_start();
    write_file("experiments/mine.ini", "batch = 64\n");
    tasks_patience(kit.app.tasks, 0);
    pthread_mutex_lock(&gate);
    (void)tasks_try(kit.app.tasks, at_gate, passed, NULL);
    sem_init(&behind, 0, 0);
    kit.before_said = read_it_first;
    setup_load_path(kit.setup, "./experiments/mine.ini"); /* the list has it by another path */
    CHECK_STR(kit.said, "reading ./experiments/mine.ini ...");
    kit_settle();
    CHECK_STR(kit.said, "experiments/mine.ini is read");
    sem_destroy(&behind);
    kit_end();
}

TEST(choices_are_stepped_through_and_chosen_from_a_list)
{
    kit_start();
    choose("optimizer");
    kit_keys("Right");
    CHECK_STR(text_of("optimizer"), "adamw");
    kit_keys("Left Left");
    CHECK_STR(text_of("optimizer"), "nesterov");
    kit_keys("Enter");
    CHECK_HAS(kit_draw(30, 80), "adamw"); /* all of them are seen */
    kit_keys("Down Down");
    CHECK_STR(text_of("optimizer"), "adamw");
    kit_keys("Esc");
    CHECK_STR(text_of("optimizer"), "nesterov");
    choose("model");
    kit_keys("Enter m Tab"); /* the names of models are completed */
    CHECK_STR(text_str(&kit.setup->line.text), "mlp");
    kit_keys("Enter");
    CHECK_STR(text_of("model"), "mlp");
    kit_keys("Esc");
    CHECK(form_find(&kit.setup->form, "model.width") >= 0);
    kit_end();
}

TEST(a_sweep_says_its_cells_and_what_it_leaves_out)
{
    kit_start();
    choose("batch");
    kit_keys("Enter 100,128 Enter Esc");
    choose("devices");
    kit_keys("Enter 1,8 Enter Esc");
    choose("lr");
    kit_keys("Enter geom:0.01:1:5 Enter Esc");
    CHECK_HAS(kit_draw(21, 80), "15 of 20");
    CHECK_HAS(kit_draw(21, 80), "5 left out: v says why");
    CHECK_HAS(kit_draw(21, 80), "5 values");
    CHECK_HAS(kit_draw(42, 160), "8 devices do not divide it");
    CHECK_HAS(kit_draw(42, 160), "devices           1–8, fake ");
    CHECK_HAS(kit_draw(33, 116), "devices           1–8, fake ");
    CHECK_HAS(kit_draw(33, 116), "threads           2 ");
    CHECK_HAS(kit_draw(33, 116), "test images       10,000 ");
    kit_keys("v");
    CHECK_HAS(kit.page, "left out of 20 cells:\n     5  batch = 100: 8 devices do not divide it");
    CHECK_STR(kit_command(), "run first batch=100,128 devices=1,8 lr=geom:0.01:1:5");
    kit_keys("r");
    REQUIRE(kit.sweep != NULL);
    CHECK_STR(kit.sweep->name, "first");
    CHECK_HAS(kit.sweep->text, "lr = geom:0.01:1:5\n");
    kit_end();
}

TEST(a_sweep_that_has_results_costs_what_is_missing)
{
    kit_start();
    choose("epochs");
    kit_keys("Enter 1,2,3,4 Enter Esc");
    choose("lr");
    kit_keys("Enter 0.1,0.2,0.3 Enter Esc");
    CHECK_HAS(kit_draw(42, 160), "12  ");
    CHECK_HAS(kit_draw(42, 160), "expected time     18 s"); /* 30 epochs */
    kit.had_count = 5;
    for (uint32_t i = 0; i < 5; i++) /* 1, 1, 1, 4, 4 epochs; one diverged, one was dropped */
        kit.had[i] = (struct kit_had){i < 3 ? i : 6 + i, i == 3   ? WIRE_DIVERGED
                                                         : i == 4 ? WIRE_SKIPPED
                                                                  : WIRE_DONE};
    screen_setup.show(kit.setup);
    kit_settle();
    CHECK_HAS(kit_draw(42, 160), "cells to run      7 of 12, 4 have results");
    CHECK_HAS(kit_draw(42, 160), "expected time     11 s"); /* 19 */
    CHECK_HAS(kit_draw(42, 160), "     1 skipped before: --failed tries it again");
    CHECK_HAS(kit_draw(21, 80), "cells to run     7 of 12 ");
    kit_keys("v");
    CHECK_HAS(kit.page, "skipped:\n     1  skipped before: --failed tries it again\n");
    kit_end();
}

TEST(where_all_have_results_nothing_is_a_problem)
{
    kit_start();
    choose("lr");
    kit.had_count = 2;
    kit.had[0] = (struct kit_had){0, WIRE_DONE};
    kit.had[1] = (struct kit_had){1, WIRE_DONE};
    kit_keys("Enter 0.1,0.2 Enter Esc");
    CHECK(!setup_problem(kit.setup));
    CHECK_HAS(kit_draw(42, 140), "cells to run      none, all 2 have results");
    CHECK_HAS(kit_draw(21, 80), "cells to run     none ");
    CHECK_HAS(kit_draw(21, 80), "─ all have results ─");
    CHECK_HAS(kit_draw(42, 160), "expected time     none");
    CHECK_HAS(kit_draw(42, 160), "129,068"); /* what they are is told all the same */
    kit_end();
}

TEST(a_result_that_comes_while_one_looks_is_counted)
{
    struct wire_event event = {.kind = WIRE_CELL, .run = 7, .u.cell.state = WIRE_DONE};

    kit_start();
    kit.ns = 1;
    choose("lr");
    kit_keys("Enter 0.1,0.2 Enter Esc");
    kit.had_count = 1;
    kit.had[0] = (struct kit_had){1, WIRE_DONE};
    kit.app.shown = SCREEN_SETUP;
    screen_setup.event(kit.setup, &event, NULL, 0);
    (void)screen_setup.tick(kit.setup);
    kit_settle();
    CHECK(!strstr(kit_draw(42, 160), "a result")); /* not before a second has gone */
    kit.ns += 1000000000;
    (void)screen_setup.tick(kit.setup);
    kit_settle();
    CHECK_HAS(kit_draw(42, 160), "1 of 2, 1 has a result");
    kit_end();
}

TEST(a_count_that_is_lost_is_asked_for_again)
{
    struct wire_command command;
    size_t asked = 0;

    kit_start();
    kit.ns = 1;
    choose("lr");
    kit_keys("Enter 0.1,0.2 Enter");
    kit_settle();
    screen_setup.show(kit.setup);
    while (wire_next_command(kit.app.config.wire, &command, 0)) {
        free(wire_slot_take(kit.app.config.wire, command.slot, NULL));
        asked += command.kind == WIRE_ASK;
    }
    CHECK_INT(asked, 1);
    kit.had_count = 1;
    kit.had[0] = (struct kit_had){1, WIRE_DONE};
    kit.ns += 5000000000;
    (void)screen_setup.tick(kit.setup);
    kit_settle();
    CHECK(!strstr(kit_draw(42, 160), "a result")); /* it may take a while */
    kit.ns += 6000000000;
    (void)screen_setup.tick(kit.setup);
    kit_settle();
    CHECK_HAS(kit_draw(42, 160), "1 of 2, 1 has a result");
    kit.ns += 20000000000;
    (void)screen_setup.tick(kit.setup);
    CHECK(!wire_next_command(kit.app.config.wire, &command, 0)); /* the answer came */
    kit_end();
}

/* Where it is asked once more, the sums come first, and which cells have a result later. */
TEST(what_was_known_stays_until_the_next_answer_is_whole)
{
    struct wire_event event = {.kind = WIRE_FORECAST};
    struct wire_forecast *part = mem_new(1, sizeof *part);

    kit_start();
    choose("lr");
    kit.had_count = 1;
    kit.had[0] = (struct kit_had){1, WIRE_DONE};
    kit_keys("Enter 0.1,0.2 Enter Esc");
    CHECK_HAS(kit_draw(42, 160), "1 of 2, 1 has a result");
    *part = kit.setup->sum;
    part->with_result = 0;
    part->runs = 2;
    part->final = false;
    screen_setup.event(kit.setup, &event, part, sizeof *part);
    CHECK_HAS(kit_draw(42, 160), "1 of 2, 1 has a result");
    part->question++; /* of another form */
    part->final = true;
    screen_setup.event(kit.setup, &event, part, sizeof *part);
    CHECK_HAS(kit_draw(42, 160), "1 of 2, 1 has a result");
    part->question--;
    screen_setup.event(kit.setup, &event, part, sizeof *part);
    CHECK(!strstr(kit_draw(42, 160), "has a result"));
    free(part);
    kit_end();
}

TEST(what_other_programs_end_is_counted_and_learnt_from)
{
    char *file;

    kit_start();
    kit.ns = 1;
    kit.guessed_from = 3;
    kit.app.shown = SCREEN_SETUP;
    choose("lr");
    kit_keys("Enter 0.1,0.2 Enter Esc");
    kit_settle();
    CHECK_HAS(kit_draw(42, 160), "expected time     ~");
    kit.had_count = 1;
    kit.had[0] = (struct kit_had){1, WIRE_DONE};
    kit.guessed_from = 0;
    kit.ns += 5000000000;
    (void)screen_setup.tick(kit.setup);
    kit_settle();
    CHECK(!strstr(kit_draw(42, 160), "to run")); /* nobody asks where nothing has changed */
    file = mem_textf("%s/sweeps/first/ledger.csv", kit.folder);
    write_file(file, "another cell has ended\n");
    for (int i = 0; i < 2; i++) {
        kit.ns += 1000000000;
        (void)screen_setup.tick(kit.setup);
        kit_settle();
    }
    (void)screen_setup.tick(kit.setup);
    kit_settle();
    CHECK_HAS(kit_draw(42, 160), "1 of 2, 1 has a result");
    CHECK(!strstr(kit_draw(42, 160), "expected time     ~"));
    free(file);
    kit_end();
}

static void put_run(const char *name, const char *state)
{
    char *folder = mem_textf("%s/%s", kit.folder, name), *file = mem_textf("%s/run.csv", folder);
    char *row = mem_textf("run,state\n%s,%s\n", name, state);

    if (mkdir(folder, 0777))
        TEST_FAILED("%s cannot be made", folder);
    write_file(file, row);
    free(row);
    free(file);
    free(folder);
}

TEST(a_single_run_learns_from_what_other_programs_end)
{
    kit_start();
    kit.ns = 1;
    kit.guessed_from = 3;
    kit.app.shown = SCREEN_SETUP;
    kit.app.library = library_new(kit.folder, kit.app.tasks);
    put_run("2026-11-20-101530-412-lenet-0001", "stopped");
    choose("lr");
    kit_keys("Enter 0.2 Enter Esc");
    kit_settle();
    CHECK_HAS(kit_draw(42, 160), "expected time     ~");
    kit.guessed_from = 0;
    for (int i = 0; i < 4; i++) {
        if (i == 2)
            put_run("2026-11-20-101530-413-lenet-0002", "done");
        library_tick(kit.app.library, true);
        kit_settle();
        kit.ns += 5000000000;
        (void)screen_setup.tick(kit.setup);
        kit_settle();
        if (i == 1)
            CHECK_HAS(kit_draw(42, 160), "expected time     ~"); /* nothing has ended */
    }
    CHECK(!strstr(kit_draw(42, 160), "expected time     ~"));
    kit_end();
}

/* The form's experiment with these lists, as a sweep of before. */
static void put_sweep(const char *where, const char *lr, const char *batch)
{
    char *file = io_path(kit.folder, where);
    const char *first = spec_builtin("first");
    struct spec_sweep s;
    struct text t = {0};
    struct err e = {0};

    spec_sweep_init(&s);
    if (spec_sweep_parse(&s, first, strlen(first), "first", &e) != ERR_OK ||
        spec_sweep_set(&s, "lr", lr, NULL, NULL, &e) != ERR_OK ||
        (batch && spec_sweep_set(&s, "batch", batch, NULL, NULL, &e) != ERR_OK) ||
        spec_sweep_close(&s, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    spec_sweep_write(&s, &t);
    write_file(file, text_str(&t));
    text_free(&t);
    spec_sweep_free(&s);
    free(file);
}

TEST(another_sweep_of_that_name_is_not_gone_on_with_unasked)
{
    kit_start();
    put_sweep("sweeps/first/sweep.ini", "1, 2", NULL);
    choose("lr");
    kit_keys("Enter 0.1,0.2 Enter Esc r");
    CHECK_HAS(kit.question, "There is a sweep named first with other values");
    CHECK_INT(kit.runs, 0);
    kit.chosen(kit.user, 0);
    CHECK_STR(kit.sweep->name, "first-2");
    CHECK_STR(kit_command(), "run first lr=0.1,0.2 --name first-2");
    kit_end();
}

TEST(what_adds_to_a_sweep_may_go_on_in_it)
{
    kit_start();
    put_sweep("sweeps/first/sweep.ini", "1, 2", NULL);
    choose("lr");
    kit_keys("Enter 0.1,0.2 Enter Esc r");
    CHECK_HAS(kit.question, "[under a new name] [on in that one] [cancel]");
    kit.chosen(kit.user, 1);
    CHECK_INT(kit.runs, 1);
    CHECK_STR(kit.sweep->name, "first");
    kit_end();
}

/* A start would refuse it. */
TEST(what_does_not_is_offered_a_name_alone)
{
    static const struct {
        const char *batch, *why;
    } cases[] = {
        {"64",
         "The sweep first was begun with batch = 64, not 128 (a list, batch=64,128, would add "
         "to it). Run this one as first-2? [under a new name] [cancel]"},
        {"64, 128", "The sweep first walks lr, batch, and these lists walk lr. Run this one as "
                    "first-2? [under a new name] [cancel]"}};

    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        kit_start();
        put_sweep("sweeps/first/sweep.ini", "0.1, 0.2", cases[i].batch);
        choose("lr");
        kit_keys("Enter 0.1,0.2 Enter Esc r");
        CHECK_STR(kit.question, cases[i].why);
        kit.chosen(kit.user, 1);
        CHECK_INT(kit.runs, 0);
        kit_end();
    }
}

TEST(nor_is_one_that_waits_in_the_queue)
{
    char *file;

    kit_start();
    put_sweep("queue/0001-first.ini", "1, 2", NULL);
    file = mem_textf("%s/queue/0002-other.ini", kit.folder);
    write_file(file, "# options: --name first-2\nlr = 1, 2\n");
    choose("lr");
    kit_keys("Enter 0.1,0.2 Enter Esc r");
    CHECK_HAS(kit.question, "There is a sweep named first with other values");
    kit.chosen(kit.user, 0);
    CHECK_STR(kit.sweep->name, "first-3");
    free(file);
    kit_end();
}

/* Its cells would be other ones, so going on in it is not offered. */
TEST(one_begun_with_other_jobs_is_not_gone_on_with)
{
    char *file;

    kit_start();
    file = mem_textf("%s/sweeps/first/sweep.ini", kit.folder);
    write_file(file, "# options: --jobs 3\nlr = 0.1, 0.2\n");
    choose("lr");
    kit_keys("Enter 0.1,0.2 Enter Esc o");
    kit.entered(kit.user, "--name first --jobs 2");
    kit_keys("r");
    CHECK_HAS(kit.question, "The sweep first was begun with --jobs 3, not 2 (a cell's share of");
    CHECK_HAS(kit.question, "anew). Run this one as first-2? [under a new name] [cancel]");
    CHECK_INT(kit.runs, 0);
    kit.chosen(kit.user, 1);
    CHECK_INT(kit.runs, 0);
    kit.chosen(kit.user, 0);
    CHECK_STR(kit.sweep->name, "first-2");
    free(file);
    kit_end();
}

TEST(an_ensemble_is_compared_with_a_longer_single_model)
{
    kit_start();
    choose("mode");
    kit_keys("Right");
    choose("devices");
    kit_keys("Right Right");
    CHECK_HAS(kit_draw(21, 80), "costs as much as 8 epochs alone");
    CHECK_HAS(line_with(kit_draw(42, 160), "costs as much as"), "8 epochs alone");
    kit_end();
}

TEST(what_contradicts_itself_is_told_at_its_field)
{
    kit_start();
    choose("devices");
    kit_keys("Enter 3 Enter Esc");
    CHECK_HAS(kit_draw(21, 80), "3 devices do not divide it");
    kit_keys("r");
    CHECK_INT(kit.runs, 0);
    CHECK_INT(kit.said_role, GRID_BAD);
    CHECK_HAS(kit.said, "batch = 128: 3 devices do not divide it; the nearest batches are 126 and");
    kit_end();
}

TEST(missing_data_are_a_key_away)
{
    kit_start();
    kit.refuse_data = true;
    screen_setup.show(kit.setup);
    kit_settle();
    CHECK_HAS(kit_draw(21, 80), "f fetches them");
    CHECK_HAS(kit_draw(42, 160), "y takes made-up images");
    CHECK_HAS(kit_draw(42, 160), "╭ why it cannot run");
    kit_keys("r");
    CHECK_HAS(kit.said, "fashion-mnist is not here: f fetches it, y takes made-up images");
    CHECK_INT(kit.runs, 0);
    kit_keys("y r");
    CHECK_INT(kit.runs, 1);
    CHECK_STR(kit.started.spec.data, "synthetic");
    kit_end();
}

/* What a start was refused for is asked again by it: it may have been mended outside. */
TEST(what_was_mended_elsewhere_is_seen_by_the_next_start)
{
    kit_start();
    kit.refuse_data = true;
    screen_setup.show(kit.setup);
    kit_settle();
    CHECK_HAS(kit_draw(42, 160), "why it cannot run");
    kit_keys("r");
    CHECK_INT(kit.runs, 0);
    CHECK_HAS(kit.said, "fashion-mnist is not here");
    kit.refuse_data = false;
    kit_keys("r");
    CHECK_INT(kit.runs, 1);
    CHECK_HAS(kit_draw(42, 160), "what it means");
    kit_end();
}

TEST(changes_are_not_lost_to_a_file)
{
    kit_start();
    choose("lr");
    kit_keys("Right BackTab g Enter");
    CHECK_HAS(kit.question, "The form has changes to first that are not saved. Load the defaults");
    CHECK_STR(text_of("lr"), "0.005");
    kit.chosen(kit.user, 2);
    CHECK_STR(text_of("lr"), "0.005");
    kit_keys("Enter");
    kit.chosen(kit.user, 0);
    CHECK(!text_of("lr"));
    CHECK_STR(kit_command(), "run");
    kit_end();
}

TEST(what_leaving_would_lose_is_known)
{
    struct text words = {0};

    kit_start();
    CHECK(!screen_setup_unsaved(kit.setup, &words));
    choose("model");
    kit_keys("Right Right");
    REQUIRE(screen_setup_unsaved(kit.setup, &words));
    CHECK_STR(text_str(&words), "The form has changes to first that are not saved.");
    kit_keys("r"); /* what is run is kept with its run */
    CHECK(kit.runs == 1);
    text_clear(&words);
    CHECK(!screen_setup_unsaved(kit.setup, &words));
    kit_keys("Right");
    CHECK(screen_setup_unsaved(kit.setup, &words));
    kit_keys("u");
    text_clear(&words);
    CHECK(!screen_setup_unsaved(kit.setup, &words));
    text_free(&words);
    kit_end();
}

TEST(a_list_of_choices_leaves_its_field_in_sight)
{
    kit_start();
    choose("model");
    kit_keys("Enter");
    for (int rows = 12; rows <= 30; rows++) {
        CHECK_HAS(kit_draw(rows, 80), " model           lenet ");
        CHECK_HAS(kit_draw(rows, 80), " cnn  ");
    }
    kit_end();
}

TEST(the_form_is_saved_and_not_over_another_file_unasked)
{
    char *text;
    size_t n;
    struct err e = {0};

    kit_start();
    write_file("experiments/mine.ini", "# A first look\nlr = 3 # large\n");
    choose("lr");
    kit_keys("Right S");
    CHECK_STR(kit.prompt, "save as: experiments/first.ini");
    kit.entered(kit.user, "mine");
    CHECK_HAS(kit.question,
              "experiments/mine.ini is there already, and 1 comment in it would be lost. "
              "[replace it] [cancel]");
    kit.chosen(kit.user, 1);
    kit_settle();
    REQUIRE_OK(io_read_file("experiments/mine.ini", 1000, &text, &n, &e));
    CHECK_HAS(text, "lr = 3 # large\n");
    free(text);
    kit.entered(kit.user, "new");
    kit_settle();
    REQUIRE_OK(io_read_file("experiments/new.ini", 10000, &text, &n, &e));
    CHECK_HAS(text, "lr = 0.005\n");
    CHECK_HAS(text, "# A first look");
    free(text);
    CHECK(!form_dirty(&kit.setup->form));
    kit_keys("S");
    kit.entered(kit.user, "nowhere/new");
    kit_settle();
    CHECK_HAS(kit.said, "there is no folder nowhere");
    CHECK(!io_exists("nowhere"));
    CHECK_STR(kit.prompt, "save as: nowhere/new"); /* to be mended */
    kit_keys("L");
    CHECK_STR(kit.prompt, "load the file: ");
    kit.entered(kit.user, "nothere.ini");
    kit_settle();
    CHECK_HAS(kit.said, "cannot open ./nothere.ini");
    CHECK_STR(kit.prompt, "load the file: nothere.ini");
    kit_keys("S");
    kit.entered(kit.user, "./experiments");
    kit_settle();
    CHECK_HAS(kit.said, "./experiments is a folder: name a file in it, as ./experiments/NAME.ini");
    kit.entered(kit.user, "./experiments/");
    kit_settle();
    CHECK_HAS(kit.said, "as ./experiments/NAME.ini");
    CHECK(!io_exists("experiments.ini"));
    CHECK_STR(kit_command(), "run experiments/new.ini");
    CHECK_HAS(kit_draw(21, 80), "● new");
    kit_keys("D");
    CHECK_STR(kit.prompt, "duplicate as: experiments/new-2.ini");
    kit_end();
}

TEST(a_file_that_lies_elsewhere_is_loaded_by_its_path)
{
    kit_start();
    write_file("elsewhere.ini", "batch = 64\n");
    kit_keys("L");
    CHECK_STR(kit.prompt, "load the file: ");
    kit.entered(kit.user, " elsewhere.ini ");
    kit_settle();
    CHECK_STR(kit_command(), "run ./elsewhere.ini");
    kit_keys("S");
    CHECK_STR(kit.prompt, "save as: ./elsewhere.ini");
    kit.entered(kit.user, NULL);
    kit_keys("L");
    kit.entered(kit.user, "nowhere.ini");
    kit_settle();
    CHECK_HAS(kit.said, "nowhere.ini");
    CHECK_STR(kit_command(), "run ./elsewhere.ini");
    kit_keys("L");
    kit.entered(kit.user, NULL);
    kit_settle();
    CHECK_STR(kit_command(), "run ./elsewhere.ini");
    unlink("elsewhere.ini");
    kit_end();
}

TEST(a_file_of_the_list_is_marked_there_by_whatever_path_it_was_loaded_or_saved)
{
    char *whole;

    kit_start();
    whole = io_path(kit.folder, "experiments/mine.ini");
    write_file("experiments/mine.ini", "batch = 64\n");
    setup_list_files(kit.setup);
    kit_settle();
    kit_keys("L");
    kit.entered(kit.user, whole);
    kit_settle();
    CHECK_HAS(kit_draw(42, 160), "● mine");
    CHECK_STR(kit_command(), "run experiments/mine.ini");
    setup_load_builtin(kit.setup, "first");
    kit_keys("L");
    kit.entered(kit.user, "./experiments/mine.ini");
    kit_settle();
    CHECK_HAS(kit_draw(42, 160), "● mine");
    free(whole);
    whole = io_path(kit.folder, "experiments/new.ini");
    kit_keys("S");
    kit.entered(kit.user, whole);
    kit_settle();
    CHECK_HAS(kit.said, "written to experiments/new.ini");
    CHECK_HAS(kit_draw(42, 160), "● new");
    free(whole);
    kit_end();
}

static void look_again(void)
{
    setup_list_files(kit.setup);
    kit_settle();
}

TEST(a_file_that_is_another_one_by_now_is_told_and_not_written_over_unasked)
{
    kit_start();
    write_file("experiments/mine.ini", "batch = 64\n");
    setup_load_path(kit.setup, "experiments/mine.ini");
    kit_settle();
    CHECK_STR(kit_command(), "run experiments/mine.ini");
    kit.said[0] = 0;
    look_again();
    CHECK_STR(kit.said, "");
    write_file("experiments/mine.ini", "batch = 65\n");
    look_again();
    CHECK_HAS(kit.said, "experiments/mine.ini was changed elsewhere: the form has it as it was");
    CHECK_HAS(kit_draw(42, 160), "experiments/mine.ini, changed elsewhere");
    CHECK_STR(kit_command(), "run batch=64"); /* the file's name would start something else */
    kit.said[0] = 0;
    look_again();
    CHECK_STR(kit.said, ""); /* once */
    kit_keys("S");
    kit.entered(kit.user, "mine");
    CHECK_HAS(kit.question,
              "is there already, changed since the form was loaded from it. [replace");
    kit.chosen(kit.user, 0);
    kit_settle();
    look_again();
    CHECK_HAS(kit.said, "written to experiments/mine.ini");
    CHECK_STR(kit_command(), "run experiments/mine.ini");
    kit_end();
}

TEST(what_was_in_a_file_that_is_gone_is_not_lost_unasked)
{
    struct text words = {0};

    kit_start();
    write_file("experiments/mine.ini", "batch = 64\n");
    setup_load_path(kit.setup, "experiments/mine.ini");
    kit_settle();
    unlink("experiments/mine.ini");
    look_again();
    CHECK_HAS(kit.said, "experiments/mine.ini is gone: the form alone has it now");
    CHECK_HAS(kit_draw(42, 160), "experiments/mine.ini, which is gone");
    CHECK_STR(kit_command(), "run batch=64");
    CHECK(screen_setup_unsaved(kit.setup, &words));
    CHECK_STR(text_str(&words), "The form has what was in experiments/mine.ini, which is gone.");
    kit_keys("Tab g Enter");
    CHECK_HAS(kit.question, "which is gone. Load the defaults over it?");
    kit.chosen(kit.user, 1);
    CHECK_STR(kit.prompt, "save as: experiments/mine.ini");
    kit.entered(kit.user, "mine");
    kit_settle();
    look_again();
    CHECK(io_exists("experiments/mine.ini"));
    CHECK(!screen_setup_unsaved(kit.setup, &words));
    text_free(&words);
    kit_end();
}

static ssize_t no_room(int fd, const void *bytes, size_t n)
{
    (void)fd;
    (void)bytes;
    (void)n;
    errno = ENOSPC;
    return -1;
}

TEST(names_and_disks_that_do_not_take_it_are_told_and_nothing_is_left)
{
    char longest[256] = {0};
    struct io_table real = io;

    kit_start();
    kit_keys("S");
    io.write = no_room;
    kit.entered(kit.user, "mine");
    kit_settle();
    io = real;
    CHECK_HAS(kit.said, "cannot write experiments/mine.ini: No space left on device");
    CHECK(!io_exists("experiments"));
    kit.entered(kit.user, "..");
    kit_settle();
    CHECK_HAS(kit.said, "experiments/...ini would be hidden, here too");
    memset(longest, 'x', 237);
    kit.entered(kit.user, longest);
    kit_settle();
    CHECK_STR(kit.said, "a name of 241 bytes is too long: 240 are possible");
    CHECK(!io_exists("experiments"));
    longest[236] = 0;
    kit.entered(kit.user, longest);
    kit_settle();
    CHECK_HAS(kit.said, "written to experiments/xxx");
    kit_end();
}

TEST(a_second_file_that_is_there_does_not_take_the_place_of_the_one_asked_about)
{
    kit_start();
    write_file("experiments/one.ini", "lr = 3\n");
    write_file("experiments/two.ini", "lr = 4\n");
    kit_keys("S");
    kit.entered(kit.user, "one");
    CHECK_HAS(kit.question, "experiments/one.ini is there already");
    kit_keys("S");
    kit.entered(kit.user, "two");
    CHECK_HAS(kit.said, "experiments/two.ini is there already, and stays as it is");
    CHECK_HAS(kit.question, "experiments/one.ini is there already");
    kit.chosen(kit.user, 0);
    kit_settle();
    CHECK_HAS(kit.said, "written to experiments/one.ini");
    kit_end();
}

TEST(a_path_may_begin_at_home)
{
    kit_start();
    setenv("HOME", kit.folder, 1);
    kit_keys("S");
    kit.entered(kit.user, "~/mine");
    kit_settle();
    CHECK_HAS(kit.said, "/mine.ini");
    CHECK(io_exists("mine.ini"));
    kit_end();
}

TEST(a_broken_file_says_its_line_and_the_form_keeps_the_rest)
{
    kit_start();
    write_file("bad.ini", "lr = 0.3\nbatch = many\nlr = 0.4\nepochs = 4\n");
    setup_load_path(kit.setup, "bad.ini");
    kit_settle();
    CHECK_HAS(kit.said, "bad.ini:2: batch = many");
    CHECK_HAS(kit.said, "v shows all");
    CHECK_STR(text_of("epochs"), "4");
    CHECK_STR(kit.setup->at, "batch");
    CHECK_HAS(kit_draw(21, 80), "bad.ini:2: batch = many");
    CHECK_HAS(kit_draw(42, 160), "lr stands in a line above already");
    write_file("torn.ini", "epochs = 3\nlr 0.1\n");
    setup_load_path(kit.setup, "torn.ini");
    kit_settle();
    kit_keys("r");
    CHECK_INT(kit.runs, 0); /* a default in place of what was meant is not trained unasked */
    CHECK_HAS(kit.question, "torn.ini:2");
    CHECK_HAS(kit.question, "[run it without] [show all of them] [cancel]");
    kit.chosen(kit.user, 0);
    CHECK_INT(kit.runs, 1);
    setup_load_path(kit.setup, "none.ini");
    CHECK_HAS(kit.said, "none.ini");
    CHECK_STR(text_of("epochs"), "3");
    write_file("letter.ini", "Dear reader,\nmodle = lenet\n");
    setup_load_path(kit.setup, "letter.ini"); /* defaults would stand for all of it */
    kit_settle();
    CHECK_HAS(kit.said, "letter.ini:1");
    CHECK_HAS(kit.said, "the form stays as it was");
    CHECK_STR(text_of("epochs"), "3");
    CHECK_STR(kit.setup->form.path, "torn.ini");
    kit_end();
}

TEST(a_run_is_loaded_and_run_again)
{
    kit_start();
    write_file("2026-11-20-101530-412-lenet-7f3a/experiment.ini",
               "model = model.net\nlr = 0.7\nbatch = 256\n");
    write_file("2026-11-20-101530-412-lenet-7f3a/model.net", net_builtin("lenet"));
    screen_setup_load(kit.setup, "2026-11-20-101530-412-lenet-7f3a", false);
    kit_settle();
    CHECK_STR(kit.setup->form.sweep.base.model, "lenet");
    CHECK_STR(text_of("lr"), "0.7");
    CHECK(!form_dirty(&kit.setup->form));
    CHECK_INT(kit.runs, 0);
    choose("lr");
    kit_keys("Left");
    CHECK_STR(kit_command(), "run 2026-11-20-101530-412-lenet-7f3a lr=0.5");
    kit_keys("u");
    screen_setup_load(kit.setup, "2026-11-20-101530-412-lenet-7f3a", true);
    CHECK_INT(kit.runs, 1);
    CHECK_NEAR(kit.started.spec.lr, 0.7, 0);
    kit_end();
}

TEST(an_average_of_different_settings_is_no_experiment)
{
    struct record_run run = {.state = WIRE_DONE, .note = "mine"};
    struct record *record = NULL;
    struct err e = {0};

    kit_start();
    spec_default(&run.spec);
    record_run_set_several(&run, "lr");
    REQUIRE_OK(
        record_create(&record, ".", &run, "model = lenet\nlr = 0.7\n", "# net\n", false, &e));
    for (int again = 0; again < 2; again++) {
        kit.said[0] = 0;
        screen_setup_load(kit.setup, record_folder(record), again);
        kit_settle();
        CHECK_HAS(kit.said,
                  "is an average of runs of different settings (lr), which no experiment");
    }
    CHECK_INT(kit.runs, 0);
    CHECK(strcmp(text_of("lr"), "0.7") != 0);
    record_close(record);
    kit_end();
}

TEST(what_runs_already_is_queued_behind)
{
    struct record_queued *list;
    size_t n;
    struct err e = {0};

    kit_start();
    kit.busy = true;
    kit_keys("r");
    CHECK_STR(kit.question,
              "lenet-a35b trains here. When should this start? [after it, in the queue] [cancel]");
    kit.busy = false; /* it ends while the question stands */
    kit_watch();
    CHECK_HAS(kit.question, "What ran here has ended meanwhile: this can start now. [at once]");
    kit.busy = true; /* and another one begins */
    kit.chosen(kit.user, 0);
    CHECK_HAS(kit.question, "[after it, in the queue] [cancel]");
    kit.busy = false;
    kit_watch();
    kit.chosen(kit.user, 0);
    kit_settle();
    CHECK_INT(kit.runs, 1);
    kit.busy = true;
    kit_keys("r");
    kit.chosen(kit.user, 0);
    kit_settle();
    CHECK_INT(kit.runs, 1);
    CHECK_STR(kit.said, "Queued: first starts after lenet-a35b. 1 in the queue (1 shows it).");
    choose("lr");
    kit_keys("Enter 0.1,0.2 Enter Esc r");
    kit.chosen(kit.user, 0);
    kit_settle();
    REQUIRE_OK(record_queue_list(kit.folder, &list, &n, &e));
    CHECK_INT(n, 2);
    CHECK_HAS(list[0].text, "optimizer = adam\n");
    CHECK_HAS(list[1].text, "# options: --name first");
    CHECK_HAS(list[1].text, "lr = 0.1,0.2\n");
    record_queue_free(list, n);

    kit.queued = 0;
    kit.app.shown = SCREEN_RUN; /* it is counted there too */
    screen_setup.tick(kit.setup);
    kit_settle();
    CHECK_INT(kit.setup->queue, 2);
    CHECK_INT(kit.queued, 2);
    kit.app.shown = SCREEN_SETUP;
    CHECK_HAS(kit_draw(21, 80), "queue, 2");
    kit_keys("Tab"); /* from the form to the queue */
    CHECK_INT(kit.setup->pane, SETUP_QUEUE);
    kit_keys("Down +");
    screen_setup.tick(kit.setup);
    kit_settle();
    CHECK_HAS(kit.setup->queued[0].text, "# options");
    CHECK_INT(kit.setup->queue_at, 0); /* it goes with what was chosen */
    kit.said[0] = 0;
    kit_keys("+");
    CHECK_HAS(kit.said, "is the first of the queue already");
    kit_keys("Down -");
    CHECK_HAS(kit.said, "is the last of the queue already");
    kit.said[0] = 0; /* what was typed ahead is meant of where a move leaves it */
    kit_keys("Up - +");
    kit_settle();
    CHECK_STR(kit.said, "");
    screen_setup.tick(kit.setup);
    kit_settle();
    CHECK_HAS(kit.setup->queued[0].text, "# options");
    CHECK_INT(kit.setup->queue_at, 0);
    kit_keys("d");
    CHECK_HAS(kit.question,
              "first with lr=0.1,0.2 (2 runs) waits in the queue, number 1. [take it out]");
    kit.chosen(kit.user, 0);
    kit_settle();
    screen_setup.tick(kit.setup);
    kit_settle();
    CHECK_INT(kit.setup->queue, 1);
    kit_keys("Enter"); /* into the form, which has changes */
    CHECK_HAS(kit.question, "Load first over them?");
    kit.chosen(kit.user, 0);
    kit_settle();
    CHECK_STR(text_of("lr"), "0.002");
    CHECK(!form_dirty(&kit.setup->form)); /* it waits */
    CHECK_INT(kit.setup->pane, SETUP_FORM);
    kit_end();
}

TEST(what_was_promised_of_the_queue_ends_when_it_is_taken)
{
    struct record_queued *list;
    struct err e = {0};
    size_t n;

    kit_start();
    kit.busy = true;
    kit_keys("r");
    kit.chosen(kit.user, 0);
    kit_settle();
    screen_setup.tick(kit.setup);
    kit_settle();
    CHECK_INT(kit.setup->queue, 1);
    CHECK_STR(kit.said, "Queued: first starts after lenet-a35b. 1 in the queue (1 shows it).");
    REQUIRE_OK(record_queue_list(kit.folder, &list, &n, &e));
    REQUIRE(n == 1);
    REQUIRE_OK(record_queue_remove(kit.folder, &list[0], &e));
    record_queue_free(list, n);
    screen_setup.tick(kit.setup);
    kit_settle();
    CHECK_INT(kit.setup->queue, 0);
    CHECK_STR(kit.said, "");
    kit_end();
}

/* Text of a sweep of three cells of which two are asked for. */
#define CUT_SHORT                                                                                  \
    "# options: --name mx --order grid --max-cells 2 --jobs 2 --failed\n"                          \
    "# a remark\nmodel = lenet\nepochs = 1,2,3\nbatch = 256\ntrain_limit = 2000\n"

static void check_cut_short(const char *options)
{
    CHECK_INT(kit.setup->sweep.grid, 1);
    CHECK_INT(kit.setup->sweep.max_cells, 2);
    CHECK_INT(kit.setup->sweep.jobs, 2);
    CHECK_HAS(kit_command(), options);
    CHECK_STR(kit.setup->form.remark, "# a remark\n");
    kit_keys("o");
    CHECK_HAS(kit.prompt, options);
}

TEST(what_comes_from_the_queue_keeps_its_options)
{
    struct record_queued *list;
    size_t n;
    struct err e = {0};

    kit_start();
    REQUIRE_OK(record_queue_add(kit.folder, CUT_SHORT, "mx", NULL, &e));
    kit_watch();
    kit_keys("Tab Enter");
    check_cut_short("--name mx --order grid --max-cells 2 --jobs 2 --failed");
    CHECK_HAS(kit_draw(21, 80), "mx, from the queue ──");
    CHECK_INT(kit.setup->sum.runs, 2);
    CHECK_HAS(kit_draw(42, 160), "2 of 3, --max-cells");
    kit.entered(kit.user, "--name mx --order grid --jobs 2 --failed");
    kit_settle();
    CHECK_INT(kit.setup->sum.runs, 3);
    kit.entered(kit.user, "--name mx --order grid --max-cells 2 --jobs 2 --failed");
    kit_settle();
    CHECK_HAS(kit_draw(42, 160), "train_limit");
    CHECK(!form_changed(&kit.setup->form, (size_t)form_find(&kit.setup->form, "epochs")));
    choose("epochs");
    kit_keys("Enter 1,2,4 Enter Esc");
    CHECK_HAS(kit_draw(21, 80), "mx, from the queue · 1 change");
    kit_keys("u");
    kit.busy = true;
    REQUIRE_OK(record_queue_list(kit.folder, &list, &n, &e));
    REQUIRE_OK(record_queue_remove(kit.folder, &list[0], &e)); /* else it waits already */
    record_queue_free(list, n);
    kit_keys("r");
    kit.chosen(kit.user, 0);
    kit_settle();
    REQUIRE_OK(record_queue_list(kit.folder, &list, &n, &e));
    REQUIRE(n == 1);
    CHECK(!strncmp(
        list[0].text,
        "# options: --name mx --order grid --max-cells 2 --jobs 2 --failed\n# a remark\n", 77));
    CHECK(!strstr(list[0].text + 1, "# options"));
    record_queue_free(list, n);
    kit_end();
}

TEST(what_goes_on_in_the_queue_is_a_new_run_in_the_form)
{
    struct err e = {0};

    kit_start();
    REQUIRE_OK(record_queue_add(
        kit.folder,
        "# options: --resume 2026-11-20-101530-412-lenet-7f3a\nmodel = lenet\nepochs = 3\n",
        "lenet-7f3a", NULL, &e));
    kit_watch();
    CHECK_STR(kit.setup->queue_label[0], "goes on");
    kit_keys("Tab Enter");
    CHECK_HAS(kit.said, "from here r starts a new run");
    CHECK_STR(kit.setup->sweep.resume, "");
    kit_keys("r");
    CHECK_HAS(kit.question, "goes on with lenet-7f3a from where it stopped");
    kit.chosen(kit.user, 1);
    kit_settle();
    CHECK_INT(kit.runs, 0);
    kit_keys("r");
    kit.chosen(kit.user, 0);
    kit_settle();
    CHECK_INT(kit.runs, 1);
    CHECK_STR(kit.started.resume, "");
    CHECK_INT(kit.started.spec.epochs, 3);
    kit_end();
}

TEST(a_sweep_that_waits_is_not_queued_again)
{
    struct record_queued *list;
    size_t n;
    struct err e = {0};

    kit_start();
    kit.busy = true;
    REQUIRE_OK(record_queue_add(kit.folder, "# options: --name mx\nlr = 0.1,0.2\nmodel = lenet\n",
                                "mx", NULL, &e));
    screen_setup.tick(kit.setup);
    kit_settle();
    kit.setup->pane = SETUP_QUEUE;
    kit_keys("Enter");
    kit_settle();
    kit_keys("r");
    kit_settle();
    CHECK_HAS(kit.question, "[after it, in the queue]");
    kit.chosen(kit.user, 0);
    kit_settle();
    CHECK_HAS(kit.said, "mx waits already, number 1 of the queue (1 shows it)");
    kit.setup->pane = SETUP_FORM;
    choose("lr"); /* other lists are another sweep */
    kit_keys("Enter 0.3,0.4 Enter Esc");
    setup_queue_add(kit.setup, false);
    kit_settle();
    REQUIRE_OK(record_queue_list(kit.folder, &list, &n, &e));
    CHECK_INT(n, 2);
    record_queue_free(list, n);
    kit_end();
}

static void tell_of_sweep(enum wire_event_kind kind, uint32_t cell_run)
{
    struct wire_event event = {.kind = kind, .run = kit.runs};

    if (kind == WIRE_STATE)
        event.u.state.state = WIRE_DONE;
    else
        event.u.cell.run = cell_run;
    screen_setup.event(kit.setup, &event, NULL, 0);
}

TEST(a_sweep_with_nothing_to_run_says_so)
{
    struct wire_sweep_status status = {
        .state = WIRE_DONE, .name = "first", .cells = 3, .done = 1, .diverged = 1, .skipped = 1};

    kit_start();
    choose("lr");
    kit_keys("Enter 0.1,0.2,0.3 Enter Esc");
    for (int i = 0; i < 2; i++) {
        kit_keys("r");
        kit_settle();
        CHECK_INT(kit.shown, SCREEN_RUN);
        kit.said[0] = 0;
        status.sweep = kit.runs;
        wire_set_sweep(kit.app.config.wire, &status);
        tell_of_sweep(WIRE_CELL, i ? WIRE_OWN_RUNS : 0);
        tell_of_sweep(WIRE_STATE, 0);
        CHECK_INT(kit.shown, i ? SCREEN_RUN : SCREEN_SETUP);
        CHECK_STR(kit.said, i ? ""
                              : "first: 2 of 3 cells have a result already, 1 skipped (--failed "
                                "tries it again), 0 to run");
    }
    kit_end();
}

/* Whoever takes it may be quicker than the answer, which names no file that is gone. */
TEST(what_a_command_has_queued_is_said_as_it_is_by_then)
{
    struct record_queued items[2] = {{0}};
    char *path;
    struct err e;

    kit_start();
    for (int i = 0; i < 2; i++)
        REQUIRE_OK(record_queue_add(kit.folder, "epochs = 3\n", i ? "mx" : "lenet", &items[i], &e));
    path = record_queue_path(kit.folder, &items[1]);
    screen_setup_say_queued(kit.setup, path);
    kit_settle();
    CHECK_STR(kit.said, "Queued: mx starts when its turn comes. 2 in the queue (1 shows them).");
    kit.busy = true;
    screen_setup_say_queued(kit.setup, path);
    kit_settle();
    CHECK_STR(kit.said, "Queued: mx starts after lenet-a35b. 2 in the queue (1 shows them).");
    REQUIRE_OK(record_queue_remove(kit.folder, &items[1], &e));
    screen_setup_say_queued(kit.setup, path);
    kit_settle();
    CHECK_STR(kit.said, "Out of the queue already: mx starts now (2 shows it).");
    CHECK_STR(kit.logged, kit.said);
    for (int i = 0; i < 2; i++)
        record_queue_free_item(&items[i]);
    free(path);
    kit_end();
}

TEST(what_goes_on_behind_another_waits_in_the_queue)
{
    static const char name[] = "2026-11-20-101530-412-lenet-7f3a";
    struct record_queue_options options = {.name = "mx", .grid = true, .max_cells = 2};
    char *folder, *file = mem_textf("%s/experiment.ini", name);
    struct record_queued *list;
    struct spec_sweep sweep;
    size_t n;
    struct err e = {0};

    kit_start();
    folder = io_path(kit.folder, name);
    write_file(file, "model = lenet\nepochs = 3\n");
    kit.busy = true;
    for (int i = 0; i < 2; i++) {
        screen_setup_queue_run(kit.setup, folder, 5, false);
        kit_settle();
        CHECK_HAS(kit.said, i ? "lenet-7f3a waits already, number 1 of the queue"
                              : "Queued: lenet-7f3a starts after lenet-a35b. 1 in the queue (1");
        CHECK_HAS(kit.logged, "Queued: lenet-7f3a starts after lenet-a35b.");
    }
    spec_sweep_init(&sweep);
    REQUIRE_OK(spec_sweep_set(&sweep, "lr", "0.1,0.2,0.3", NULL, NULL, &e));
    REQUIRE_OK(spec_sweep_close(&sweep, &e));
    for (int i = 0; i < 2; i++) {
        screen_setup_queue_sweep(kit.setup, &sweep, &options);
        kit_settle();
        CHECK_HAS(kit.said,
                  i ? "mx waits already, number 2"
                    : "Queued: mx starts after lenet-a35b. 2 in the queue (1 shows them)");
    }
    REQUIRE_OK(record_queue_list(kit.folder, &list, &n, &e));
    REQUIRE(n == 2);
    CHECK_HAS(list[0].text,
              "# options: --resume 2026-11-20-101530-412-lenet-7f3a --order spread\n");
    CHECK_HAS(list[0].text, "epochs = 5\n");
    CHECK_HAS(list[1].text, "# options: --name mx --order grid --max-cells 2\n");
    kit_watch();
    CHECK_STR(kit.setup->queue_label[0], "goes on");
    CHECK_INT(kit.runs, 0);
    record_queue_free(list, n);
    spec_sweep_free(&sweep);
    free(folder);
    free(file);
    kit_end();
}

/* As `chorus queue` shows and takes them, also when the first one has begun. */
TEST(the_queue_is_numbered_as_the_command_numbers_it)
{
    struct record_queued *list;
    struct text verbs = {0};
    size_t n;
    struct err e = {0};

    kit_start();
    for (int i = 0; i < 3; i++)
        REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.3\n", (const char *[]){"a", "b", "c"}[i],
                                    NULL, &e));
    REQUIRE_OK(record_queue_list(kit.folder, &list, &n, &e));
    REQUIRE_OK(record_queue_remove(kit.folder, &list[0], &e));
    record_queue_free(list, n);
    kit_watch();
    kit_keys("Tab");
    CHECK_HAS(kit_draw(21, 80), " 2 b ");
    CHECK_HAS(kit_draw(21, 80), " 3 c ");
    kit_keys("Down");
    CHECK_STR(kit_command(), "queue");
    screen_setup.offers(kit.setup, &verbs);
    CHECK_STR(text_str(&verbs), "queue move 3 -1\nqueue move 3 1\nqueue rm 3\n");
    kit_keys("d");
    CHECK_HAS(kit.question, "c waits in the queue, number 3. [take it out]");
    text_free(&verbs);
    kit_end();
}

/* Its turn may come while it is asked whether to take it out. */
TEST(what_was_asked_about_is_taken_out_of_the_queue_and_no_other)
{
    struct record_queued *list;
    size_t n;
    struct err e = {0};

    kit_start();
    for (int i = 0; i < 3; i++)
        REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.3\n", (const char *[]){"a", "b", "c"}[i],
                                    NULL, &e));
    kit_watch();
    kit_keys("Tab d");
    CHECK_HAS(kit.question, "a waits in the queue, number 1.");
    REQUIRE_OK(record_queue_list(kit.folder, &list, &n, &e));
    REQUIRE_OK(record_queue_remove(kit.folder, &list[0], &e));
    record_queue_free(list, n);
    kit_watch();
    kit.chosen(kit.user, 0);
    kit_watch();
    CHECK_STR(kit.said, "That one waits in the queue no more.");
    CHECK_INT(kit.setup->queue, 2);
    CHECK_STR(kit.setup->queued[0].name, "b");
    kit_keys("Down d");
    CHECK_HAS(kit.question, "c waits in the queue, number 3.");
    kit.setup->queue_at = 0; /* as a look at the queue may do */
    kit.chosen(kit.user, 0);
    kit_watch();
    CHECK_INT(kit.setup->queue, 1);
    CHECK_STR(kit.setup->queued[0].name, "b");
    kit_end();
}

TEST(alone_in_the_queue_stays_alone)
{
    struct record_queued *list;
    size_t n;
    struct err e = {0};

    kit_start();
    REQUIRE_OK(record_queue_add(kit.folder, "# options: --order spread --alone\nlr = 0.3\n", "one",
                                NULL, &e));
    kit_watch();
    kit_keys("Tab Enter");
    kit.busy = true;
    choose("lr");
    kit_keys("Enter 0.4 Enter Esc r");
    kit.chosen(kit.user, 0);
    kit_settle();
    REQUIRE_OK(record_queue_list(kit.folder, &list, &n, &e));
    REQUIRE(n == 2);
    CHECK_STR(list[1].text, "# options: --order spread --alone\nlr = 0.4\n");
    record_queue_free(list, n);
    kit_end();
}

TEST(what_is_wrong_in_a_file_is_said_once)
{
    const char *picture;

    kit_start();
    write_file("bad.ini", "batch = 100\ndevices = 8\n");
    setup_load_path(kit.setup, "bad.ini");
    kit_settle();
    picture = kit_draw(42, 160);
    CHECK_HAS(picture, "batch = 100: 8 devices do not divide it");
    CHECK(!strstr(picture, "could not be taken"));
    write_file("bad.ini", "batch = 100\ndevices = 8\nno = 1\n");
    setup_load_path(kit.setup, "bad.ini");
    kit_settle();
    CHECK_HAS(kit_draw(42, 160), "could not be taken from the file");
    kit_end();
}

static size_t count_queued(void)
{
    struct record_queued *list;
    size_t n = 0;

    CHECK(record_queue_list(kit.folder, &list, &n, NULL) == ERR_OK);
    record_queue_free(list, n);
    return n;
}

TEST(what_waits_is_run_once_when_it_is_started_from_the_form)
{
    struct wire_event event = {.kind = WIRE_STARTED};
    struct err e = {0};

    kit_start();
    REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.3\n", "one", NULL, &e));
    kit_watch();
    kit_keys("Tab Enter");
    kit.busy = true;
    kit_keys("r");
    kit.chosen(kit.user, 0);
    kit_settle();
    CHECK_HAS(kit.said, "one waits already, number 1 of the queue");
    CHECK_INT(count_queued(), 1);
    kit.busy = false;
    kit_keys("r");
    CHECK_INT(kit.runs, 1);
    CHECK_INT(count_queued(), 1); /* it may be refused */
    event.run = kit.runs;
    screen_setup.event(kit.setup, &event, NULL, 0);
    kit_settle();
    CHECK_INT(count_queued(), 0);
    kit_end();
}

TEST(what_is_saved_with_changes_leaves_what_waits)
{
    struct wire_event event = {.kind = WIRE_STARTED};
    struct err e = {0};

    kit_start();
    REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.3\n", "one", NULL, &e));
    kit_watch();
    kit_keys("Tab Enter");
    choose("lr");
    kit_keys("Right S");
    kit.entered(kit.user, "mine");
    kit_settle();
    kit_keys("r");
    kit_settle();
    CHECK_INT(kit.runs, 1);
    event.run = kit.runs;
    screen_setup.event(kit.setup, &event, NULL, 0);
    kit_settle();
    CHECK_INT(count_queued(), 1);
    kit_end();
}

/* As another program does it: the run is there, the item is not. */
static void begin_elsewhere(const char *run)
{
    struct text text = {0};
    struct record_queued *list;
    struct err e = {0};
    char *path = mem_textf("%s/%s/experiment.ini", kit.folder, run);
    size_t n;

    REQUIRE_OK(record_queue_list(kit.folder, &list, &n, &e));
    REQUIRE(n > 0);
    record_queue_add_origin(&text, list[0].id);
    text_add(&text, list[0].text);
    write_file(path, text_str(&text));
    REQUIRE_OK(record_queue_remove(kit.folder, &list[0], &e));
    record_queue_free(list, n);
    text_free(&text);
    free(path);
    path = mem_textf("%s/%s/run.csv", kit.folder, run);
    write_file(path, "");
    free(path);
}

TEST(what_another_program_has_begun_is_not_run_again_unasked)
{
    struct err e = {0};

    kit_start();
    REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.3\n", "one", NULL, &e));
    REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.4\n", "two", NULL, &e));
    kit_watch();
    kit_keys("Tab Enter");
    CHECK_HAS(kit.said, "r takes it out of the queue; with changes it is another one");
    CHECK_HAS(kit_draw(21, 80), "one, from the queue ──");
    begin_elsewhere("2026-11-23-080910-530-one-4a28");
    kit_keys("r"); /* before anybody has looked */
    kit_settle();
    CHECK_HAS(kit.question, "That one of the queue has begun: one-4a28. From here");
    CHECK_INT(kit.runs, 0);
    kit_watch();
    CHECK_HAS(kit_draw(21, 80), "one, was in the queue ──");
    kit.question[0] = 0;
    kit_keys("r");
    kit_settle();
    CHECK_HAS(kit.question, "[run it once more] [cancel]");
    kit.chosen(kit.user, 0);
    kit_settle();
    CHECK_INT(kit.runs, 1);
    kit.question[0] = 0;
    kit_keys("Tab Enter"); /* with its run it is kept */
    kit_settle();
    CHECK_STR(kit.question, "");
    CHECK_STR(text_of("lr"), "0.4");
    kit.app.shown = SCREEN_SETUP;
    begin_elsewhere("2026-11-23-080911-530-two-4a29");
    kit_watch();
    kit_settle();
    CHECK_STR(kit.said, "That one of the queue has begun: two-4a29");
    choose("lr");
    kit_keys("Enter 0.5 Enter Esc r"); /* another one */
    kit_settle();
    CHECK_INT(kit.runs, 2);
    kit_end();
}

TEST(what_was_taken_out_of_the_queue_is_not_lost_from_the_form_unasked)
{
    struct err e = {0};

    kit_start();
    REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.3\n", "one", NULL, &e));
    REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.4\n", "two", NULL, &e));
    kit_watch();
    kit_keys("Tab Enter Tab d");
    kit.chosen(kit.user, 0);
    kit_settle();
    kit_watch();
    kit_settle();
    kit_keys("Enter");
    kit_settle();
    CHECK_HAS(kit.question,
              "The form has what was one in the queue, which is not saved. Load two over it?");
    kit.chosen(kit.user, 0);
    CHECK_STR(text_of("lr"), "0.4");
    kit_end();
}

TEST(a_sweep_of_the_results_is_loaded_with_its_options)
{
    kit_start();
    write_file("sweeps/mx/sweep.ini", CUT_SHORT);
    screen_setup_load_sweep(kit.setup, "mx");
    kit_settle();
    check_cut_short("--name mx --order grid --max-cells 2 --jobs 2");
    CHECK(!kit.setup->sweep.failed); /* what is loaded is the sweep, not its repair */
    kit_keys("S");                   /* the record of what ran stays as it is */
    CHECK_STR(kit.prompt, "save as: experiments/mx.ini");
    kit.entered(kit.user, NULL);
    kit_keys("r");
    CHECK_STR(kit.question, ""); /* it is that very sweep */
    REQUIRE(kit.sweep != NULL);
    CHECK_STR(kit.sweep->name, "mx");
    CHECK_INT(kit.sweep->max_cells, 2);
    CHECK_INT(kit.sweep->jobs, 2);
    CHECK(kit.sweep->grid);
    setup_load_path(kit.setup, "sweeps/mx/sweep.ini");
    kit_settle();
    CHECK_INT(kit.setup->sweep.max_cells, 0);
    kit_end();
}

TEST(what_tells_items_apart_stands_before_what_they_share)
{
    struct err e = {0};

    kit_start();
    REQUIRE_OK(
        record_queue_add(kit.folder, "# options: --alone\noptimizer = adam\n", "mlp", NULL, &e));
    REQUIRE_OK(record_queue_add(kit.folder, "# options: --alone\nmodel = mlp\n", "mlp", NULL, &e));
    kit_watch();
    CHECK_STR(kit.setup->queue_label[0], "model=lenet optimizer=adam, alone");
    CHECK_HAS(kit_draw(21, 80), "1 mlp model=lenet…");
    kit_end();
}

TEST(a_sweep_in_the_queue_says_how_many_runs_it_is)
{
    struct err e = {0};

    kit_start();
    REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.1, 0.2\n", "first", NULL, &e));
    REQUIRE_OK(record_queue_add(
        kit.folder, "# options: --name grid --alone --max-cells 3\nlr = 0.1, 0.2\nseed = 1, 2\n",
        "grid", NULL, &e));
    REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.1\n", "one", NULL, &e));
    kit_watch();
    CHECK_STR(kit.setup->queue_label[0], "2 runs");
    CHECK_STR(kit.setup->queue_label[1], "3 runs, alone");
    CHECK_STR(kit.setup->queue_label[2], "");
    CHECK_HAS(kit_draw(21, 80), "1 first 2 runs");
    kit_end();
}

TEST(panes_have_hints_of_their_own)
{
    kit_start();
    CHECK_STR(screen_setup.hints(kit.setup)[0].hint, "run");
    kit.setup->pane = SETUP_FILES;
    CHECK_STR(screen_setup.hints(kit.setup)[0].hint, "load the file");
    kit.setup->pane = SETUP_QUEUE;
    CHECK_STR(screen_setup.hints(kit.setup)[1].hint, "move");
    kit.setup->pane = SETUP_FORM;
    choose("lr");
    kit_keys("Enter");
    CHECK_STR(screen_setup.hints(kit.setup)[1].hint, "opens the next");
    kit_keys("Esc");
    choose("optimizer");
    kit_keys("Enter");
    CHECK_STR(screen_setup.hints(kit.setup)[1].hint, "choose");
    kit_keys("Esc");
    choose("data");
    kit_keys("Enter");
    CHECK_STR(screen_setup.hints(kit.setup)[1].hint, "completes");
    kit_end();
}

/* Role of the first cell of a word on the screen that was drawn last. */
static int role_at(const char *picture, const char *word)
{
    const char *at = strstr(picture, word), *start = at;
    int row = 0, column;

    if (!at)
        return -1;
    while (start > picture && start[-1] != '\n')
        start--;
    for (const char *p = picture; p < start; p++)
        row += *p == '\n';
    char *before = mem_text_n(start, (size_t)(at - start));
    column = text_width(before);
    free(before);
    return kit.grid.cell[row * kit.grid.columns + column].role;
}

TEST(what_is_of_the_form_before_is_grey)
{
    kit_start();
    CHECK_INT(role_at(kit_draw(42, 160), "129,068"), GRID_TEXT);
    choose("lr");
    kit_keys("Enter 0.x");
    CHECK_INT(role_at(kit_draw(42, 160), "129,068"), GRID_DIM);
    CHECK_HAS(kit_draw(21, 80), "as it was before");
    kit_keys("Esc");
    CHECK_INT(role_at(kit_draw(21, 80), "129,068"), GRID_TEXT);
    CHECK(!strstr(kit_draw(21, 80), "as it was before"));
    choose("batch"); /* the form before is that before the field was opened, not one on the way */
    CHECK_HAS(kit_draw(42, 160), "468");
    kit_keys("Enter 64");
    CHECK_HAS(kit_draw(42, 160), "937");
    kit_keys("x");
    CHECK_HAS(kit_draw(42, 160), "468");
    kit_keys("Ctrl-U");
    kit_keys("32");
    CHECK_HAS(kit_draw(42, 160), "1,875");
    kit_keys("x");
    CHECK_HAS(kit_draw(42, 160), "468");
    kit_keys("Backspace");
    CHECK_HAS(kit_draw(42, 160), "1,875");
    kit_keys("Esc");
    CHECK_HAS(kit_draw(42, 160), "468");
    kit_end();
}

TEST(an_emptied_field_says_whose_default_it_takes)
{
    kit_start();
    choose("lr");
    kit_keys("Enter Backspace Enter Esc");
    CHECK_HAS(kit.said, "lr = 0.1, which is the default, not the 0.002 of first; u takes it back");
    kit.said[0] = 0;
    kit_keys("u d");
    CHECK_HAS(kit.said, "lr = 0.1, which is the default");
    kit.said[0] = 0;
    kit_keys("d");
    CHECK_STR(kit.said, "");
    kit_end();
}

TEST(the_default_that_a_file_says_is_no_change)
{
    kit_start();
    write_file("said.ini", "lr = 0.10\nbatch = 64\n");
    setup_load_path(kit.setup, "said.ini");
    kit_settle();
    choose("lr");
    kit_keys("d");
    CHECK(!form_dirty(&kit.setup->form));
    kit_keys("Enter Backspace 0.5 Enter");
    CHECK(form_dirty(&kit.setup->form));
    kit_keys("d");
    CHECK(!form_dirty(&kit.setup->form));
    CHECK_STR(text_of("lr"), "0.10");
    choose("batch");
    kit_keys("d");
    CHECK(form_dirty(&kit.setup->form));
    kit_end();
}

TEST(what_pops_up_leaves_no_half_of_a_row)
{
    const char *picture;

    kit_start();
    choose("optimizer");
    kit_keys("z Enter");
    picture = kit_draw(21, 80);
    /* files, an edge, blanks, the choice, blanks, the edge */
    CHECK_INT(strspn(strstr(line_with(picture, " adamw "), "││") + strlen("││"), " "), 28);
    kit_end();
}

TEST(a_range_of_rates_has_room_at_80_columns)
{
    kit_start();
    choose("lr");
    kit_keys("Enter geom:0.001:0.05:3 Enter Esc");
    CHECK_HAS(kit_draw(21, 80), "0.001–0.05");
    CHECK(!strstr(line_with(kit_draw(21, 80), "0.001–0.05"), "…"));
    kit_end();
}

TEST(a_name_with_a_number_gets_the_next_one)
{
    char *file;

    CHECK_INT(setup_stem("first"), 5);
    CHECK_INT(setup_stem("first-2"), 5);
    CHECK_INT(setup_stem("-2"), 2);
    CHECK_INT(setup_stem("at-2024"), 7);
    kit_start();
    for (int i = 1; i < 3; i++) {
        file = mem_textf("%s/sweeps/first%s/sweep.ini", kit.folder, i > 1 ? "-2" : "");
        write_file(file, "lr = 1, 2\n");
        free(file);
    }
    choose("lr");
    kit_keys("Enter 0.1,0.2 Enter Esc r");
    kit.chosen(kit.user, 0);
    CHECK_STR(kit.sweep->name, "first-3");
    file = mem_textf("%s/sweeps/first-3/sweep.ini", kit.folder);
    write_file(file, "lr = 1, 2\n");
    free(file);
    kit_keys("r");
    kit.chosen(kit.user, 0);
    CHECK_STR(kit.sweep->name, "first-4");
    kit.busy = true;
    kit_keys("u r"); /* no sweep any more: its name is none of a run */
    kit.chosen(kit.user, 0);
    kit_settle();
    screen_setup.tick(kit.setup);
    kit_settle();
    REQUIRE(kit.setup->queue == 1);
    CHECK_STR(kit.setup->queued[0].name, "first");
    kit_end();
}

TEST(another_program_at_work_is_noticed)
{
    static const char run[] = "/r/2026-11-20-101530-412-cnn-7f3a";
    const char *was = getenv("CHORUS_CACHE");
    char *before = mem_text(was ? was : "off"), *cache;
    pid_t child;
    int end;

    kit_start();
    cache = io_path(kit.folder, "cache");
    setenv("CHORUS_CACHE", cache, 1);
    child = other_program(kit.folder, run, &end);
    kit_keys("r");
    CHECK_HAS(kit.question, "computes 2026-11-20-101530-412-cnn-7f3a on this machine. Running");
    CHECK_HAS(kit.question, "[after it, in the queue] [now, next to it] [cancel]");
    kit.chosen(kit.user, 1);
    CHECK_INT(kit.runs, 1);
    kit_keys("r");
    CHECK_HAS(kit.question, "[after it, in the queue]");
    end_program(child, end);
    kit.ns = clock_ns() + 1000000000u;
    claim_tick(
        &kit.app); /* the question is about nobody any more, and stands: keys are under way */
    kit_settle();
    CHECK_STR(kit.question, "The other chorus has ended meanwhile: this can start now. "
                            "[after what waits in the queue] [now] [cancel]");
    CHECK_INT(kit.runs, 1);
    child = other_program(kit.folder, run, &end); /* others begin while somebody thinks */
    kit.ns += 1000000000u;
    claim_tick(&kit.app);
    kit_settle();
    CHECK_HAS(kit.question, "computes 2026-11-20-101530-412-cnn-7f3a on this machine. Running");
    end_program(child, end);
    kit.ns += 1000000000u;
    claim_tick(&kit.app);
    kit_settle();
    child = other_program(kit.folder, run, &end); /* or at the very moment of the answer */
    kit.chosen(kit.user, 1);
    kit_settle();
    CHECK_HAS(kit.question, "[after it, in the queue] [now, next to it] [cancel]");
    CHECK_INT(kit.runs, 1);
    end_program(child, end);
    kit.ns += 1000000000u;
    claim_tick(&kit.app);
    kit_settle();
    CHECK_HAS(kit.question, "[now]");
    kit.ns += 1000000000u;
    claim_tick(&kit.app);
    kit.chosen(kit.user, 1); /* while it is looked */
    kit_settle();
    CHECK_INT(kit.runs, 2);
    claim_drop(&kit.app);
    kit.ns = 0;

    child = other_program("/", run, &end);
    kit_keys("r");
    CHECK_HAS(kit.question, "[after it, in the queue] [now, next to it] [cancel]");
    CHECK_HAS(kit.question, "with its results in another folder");
    CHECK_HAS(kit.question, "it waits until that has ended, also without this terminal");
    kit.chosen(kit.user, -1);
    CHECK_INT(kit.runs, 2);
    kit_keys("r");
    kit.chosen(kit.user, 0);
    kit_settle();
    screen_setup.tick(kit.setup);
    kit_settle();
    REQUIRE(kit.setup->queue == 1);
    CHECK(!strncmp(kit.setup->queued[0].text, "# options: --order spread --alone\n", 34));
    CHECK_STR(kit.setup->queue_label[0], "alone");
    CHECK_INT(kit.runs, 2);
    end_program(child, end);
    setenv("CHORUS_CACHE", before, 1);
    free(before);
    free(cache);
    kit_end();
}

TEST(what_the_others_take_while_somebody_is_asked_is_not_begun_twice)
{
    static const char run[] = "/r/2026-11-20-101530-412-cnn-7f3a";
    const char *was = getenv("CHORUS_CACHE");
    char *before = mem_text(was ? was : "off"), *cache;
    struct err e = {0};
    pid_t child;
    int end;

    kit_start();
    cache = io_path(kit.folder, "cache");
    setenv("CHORUS_CACHE", cache, 1);
    child = other_program(kit.folder, run, &end);
    REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.3\n", "one", NULL, &e));
    kit_watch();
    kit_keys("Tab Enter r");
    CHECK_HAS(kit.question, "[after it, in the queue] [now, next to it] [cancel]");
    begin_elsewhere("2026-11-23-080910-530-one-4a28");
    kit.chosen(kit.user, 1);
    kit_settle();
    CHECK_HAS(kit.question, "That one of the queue has begun: one-4a28. From here");
    CHECK_INT(kit.runs, 0);
    end_program(child, end);
    setenv("CHORUS_CACHE", before, 1);
    free(before);
    free(cache);
    kit_end();
}

/* Begun so short a time ago that nobody has looked since: whoever claims the machine first has it. */
TEST(who_begins_at_the_same_time_is_asked)
{
    const char *was = getenv("CHORUS_CACHE");
    char *before = mem_text(was ? was : "off"), *cache, byte;
    int told[2], answer[2], status;
    pid_t child;

    kit_start();
    cache = io_path(kit.folder, "cache");
    setenv("CHORUS_CACHE", cache, 1);
    REQUIRE(pipe(told) == 0 && pipe(answer) == 0);
    child = fork();
    if (child == 0) {
        struct record_work *w = record_work_new(kit.folder);
        bool first = record_work_claim(w), second;

        (void)!write(told[1], first ? "y" : "n", 1);
        (void)!read(answer[0], &byte, 1);
        record_work_free(w);
        (void)!write(told[1], "-", 1);
        (void)!read(answer[0], &byte, 1);
        w = record_work_new(kit.folder);
        second = record_work_claim(w);
        (void)!write(told[1], second ? "y" : "n", 1);
        _exit(0);
    }
    REQUIRE(read(told[0], &byte, 1) == 1 && byte == 'y');
    kit_keys("r");
    CHECK_HAS(kit.question, "[after it, in the queue] [now, next to it] [cancel]");
    CHECK_INT(kit.runs, 0);
    kit.chosen(kit.user, -1);
    REQUIRE(write(answer[1], "g", 1) == 1 && read(told[0], &byte, 1) == 1);
    kit_keys("r");
    CHECK_INT(kit.runs, 1);
    REQUIRE(write(answer[1], "g", 1) == 1 && read(told[0], &byte, 1) == 1);
    CHECK_INT(byte, 'n'); /* it is ours by now */
    waitpid(child, &status, 0);
    setenv("CHORUS_CACHE", before, 1);
    free(before);
    free(cache);
    kit_end();
}

TEST(a_refusal_brings_the_form_back)
{
    struct wire_event event = {.kind = WIRE_REFUSED, .run = 1};

    kit_start();
    kit_keys("r");
    screen_setup.event(kit.setup, &event, "there is no room on the disk", 29);
    CHECK_INT(kit.shown, SCREEN_SETUP);
    CHECK_STR(kit.said, "there is no room on the disk");
    kit_end();
}

TEST(keys_are_text_in_an_open_field_alone)
{
    kit_start();
    choose("name");
    kit_keys("z Enter r u n 7");
    CHECK_INT(kit.runs, 0);
    kit_keys("Enter Esc");
    CHECK_STR(text_of("name"), "run7");
    kit_end();
}

TEST(all_keys_are_there_unfolded)
{
    kit_start();
    kit_keys("z");
    for (int k = 0; spec_keys[k].name; k++)
        CHECK_HAS(kit_draw(70, 160), spec_keys[k].name);
    CHECK_HAS(kit_draw(70, 160), "zip");
    CHECK_HAS(kit_draw(70, 160), "samples");
    kit_keys("G");
    CHECK_HAS(kit_draw(21, 80), "on_end");
    kit_keys("g");
    CHECK_HAS(kit_draw(21, 80), "fashion-mnist");
    kit_end();
}

TEST(a_long_name_leaves_room_for_what_has_changed)
{
    const char *name = "a-name-as-long-as-those-of-runs-with-their-time-and-hash-0001.ini";

    kit_start();
    write_file(name, "lr = 0.1\n");
    setup_load_path(kit.setup, name);
    kit_settle();
    kit_keys("Down Down Right");
    CHECK_HAS(kit_draw(21, 80), "0001.ini · 1 change  z shows all keys ─");
    kit_end();
}

/* Keys never go to what is not drawn. */
TEST(narrow_the_pane_that_has_the_keys_is_seen)
{
    kit_start();
    CHECK_HAS(kit_draw(13, 60), " lr ");
    CHECK(!strstr(kit_draw(13, 60), "experiments"));
    kit_keys("Tab");
    CHECK_HAS(kit_draw(13, 60), "╭ experiments");
    CHECK_HAS(kit_draw(13, 60), "cells  "); /* of what it means that which matters most */
    CHECK_HAS(kit_draw(13, 60), "expected time  ");
    CHECK(!strstr(kit_draw(13, 60), "steps an epoch"));
    CHECK_HAS(kit_draw(13, 60), "● first");
    CHECK(!strstr(kit_draw(13, 60), " lr "));
    CHECK_HAS(kit_draw(21, 80), " lr ");
    kit_keys("Tab");
    CHECK_HAS(kit_draw(13, 60), " lr ");
    kit_end();
}

/* What Enter opens and the help is about can be seen, and what is typed there. */
TEST(folding_keeps_the_field_under_the_cursor)
{
    kit_start();
    kit_keys("z G z");
    CHECK_HAS(kit_draw(21, 80), "on_end");
    CHECK(!strstr(kit_draw(21, 80), "max_minutes"));
    kit_keys("Enter tr");
    CHECK_HAS(kit_draw(21, 80), "on_end          tr");
    kit_keys("Esc Up");
    CHECK(!strstr(kit_draw(21, 80), "on_end"));
    kit_end();
}

TEST(no_size_is_too_small_and_no_name_too_long)
{
    char name[200];

    kit_start();
    for (int i = 0; i < 2; i++) {
        for (int rows = 0; rows < 50; rows += rows < 8 ? 1 : 7)
            for (int columns = 0; columns < 170; columns += columns < 8 ? 1 : 13)
                (void)kit_draw(rows, columns);
        kit_keys("z G Enter"); /* the same with a field open */
    }
    kit_keys("Esc");
    memset(name, 'x', sizeof name);
    memcpy(name, "bad\x1b[31m\xe2\x80\xae", 11);
    strcpy(name + 190, ".ini");
    write_file(name, "lr = 0.1 # fine\nname = \x1b[2J\n");
    setup_load_path(kit.setup, name);
    kit_settle();
    CHECK(!strchr(kit_draw(21, 80), '\x1b'));
    CHECK(!strchr(kit_draw(42, 160), '\x1b'));
    CHECK(!strstr(kit_draw(42, 160), "\xe2\x80\xae"));
    kit_end();
}

TEST(a_click_chooses_and_a_second_one_opens)
{
    struct key key = {.code = UI_CLICK};

    kit_start();
    (void)kit_draw(21, 80);
    key.row = kit.setup->places.rows.row + 7;
    key.column = kit.setup->places.rows.column + 20;
    CHECK(screen_setup.key(kit.setup, &key));
    CHECK_STR(kit.setup->at, "lr");
    key.again = true;
    screen_setup.key(kit.setup, &key);
    CHECK(screen_setup.wants_text(kit.setup));
    kit_keys("Esc");
    key = (struct key){
        .code = UI_CLICK, .row = kit.setup->places.file_rows.row + 2, .again = true, .column = 4};
    screen_setup.key(kit.setup, &key);
    CHECK_STR(kit.setup->form.source, kit.setup->file[2].name);
    kit_end();
}

static void click_row(int row, int column)
{
    (void)kit_draw(21, 80);
    screen_setup.key(kit.setup, &(struct key){.code = UI_CLICK, .row = row, .column = column});
    kit_settle();
}

TEST(what_a_field_has_no_room_for_is_not_dropped_without_a_word)
{
    char list[LINE_MOST] = {0};

    kit_start();
    memset(list, '1', sizeof list - 1);
    choose("lr");
    kit_keys("Enter");
    kit.said[0] = 0;
    line_set(&kit.setup->line, list);
    kit_keys("2");
    CHECK_STR(kit.said, "");
    kit_keys("3");
    CHECK_INT(kit.setup->line.text.n, LINE_MOST);
    CHECK_HAS(kit.said, "A field takes 8192 bytes");
    kit_end();
}

TEST(what_is_pasted_is_looked_at_once)
{
    uint64_t turn;

    kit_start();
    choose("lr");
    kit_keys("Enter");
    turn = kit.setup->form.turn;
    kit.app.typed_ahead = true;
    kit_keys("0.1,0.2,0.3");
    CHECK_INT(kit.setup->form.turn, turn);
    kit.app.typed_ahead = false;
    kit_keys("4");
    CHECK_INT(kit.setup->form.turn, turn + 1);
    CHECK_STR(text_of("lr"), "0.1,0.2,0.34");
    kit.app.typed_ahead = true; /* and left behind, as by F3 */
    kit_keys("5");
    screen_setup.tick(kit.setup); /* between pieces of a long text */
    CHECK_STR(text_of("lr"), "0.1,0.2,0.34");
    kit.app.typed_ahead = false;
    screen_setup.tick(kit.setup);
    CHECK_STR(text_of("lr"), "0.1,0.2,0.345");
    kit_keys("6 Enter");
    CHECK_STR(text_of("lr"), "0.1,0.2,0.3456");
    CHECK(!screen_setup.wants_text(kit.setup));
    kit_end();
}

TEST(a_click_beside_an_open_field_takes_it_where_it_can_be)
{
    struct rect rows, choices;

    kit_start();
    (void)kit_draw(21, 80);
    rows = kit.setup->places.rows;
    choose("lr");
    kit_keys("Enter 0.5");
    click_row(rows.row + 7, rows.column + 20); /* on itself */
    CHECK(screen_setup.wants_text(kit.setup));
    click_row(rows.row + 5, rows.column + 20);
    CHECK(!screen_setup.wants_text(kit.setup));
    CHECK_STR(text_of("lr"), "0.5");
    CHECK_STR(kit.setup->at, "batch");
    kit_keys("Enter x");
    click_row(rows.row + 7, rows.column + 20);
    CHECK(screen_setup.wants_text(kit.setup)); /* what is wrong is seen, and not lost */
    CHECK_STR(kit.setup->at, "batch");
    kit_keys("Esc");
    choose("model");
    kit_keys("Enter");
    (void)kit_draw(21, 80);
    choices = kit.setup->places.choices;
    click_row(choices.row + 3, choices.column + 2);
    CHECK(!screen_setup.wants_text(kit.setup));
    CHECK_STR(text_of("model"), "mlp");
    kit_end();
}

/* Of keys and clicks that come in one go none waits for the drawing of what those before it did. */
TEST(a_click_finds_no_choices_of_the_field_before)
{
    static const char *const fields[] = {"model",
                                         "init"}; /* behind these: other choices, and none */
    struct rect choices;

    for (size_t i = 0; i < MEM_COUNT(fields); i++) {
        kit_start();
        choose(fields[i]);
        kit_keys("Enter");
        (void)kit_draw(42, 160);
        choices = kit.setup->places.choices;
        REQUIRE(choices.rows > 1);
        kit_keys("Tab");
        REQUIRE(screen_setup.wants_text(kit.setup));
        screen_setup.key(
            kit.setup,
            &(struct key){.code = UI_CLICK, .row = choices.row + 1, .column = choices.column + 2});
        CHECK_STR(kit_command(), "run first");
        kit_end();
    }
}

static void set_field(const char *key, const char *value)
{
    struct err e = {0};

    if (form_set(&kit.setup->form, (size_t)form_find(&kit.setup->form, key), value, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
}

/* A list of a thousand in one field and the last digit of another in the next. */
static double last_key_ms(const char *list, const char *typed, int32_t last)
{
    uint64_t start;

    set_field("lr", list);
    choose("seed");
    kit_keys("Enter");
    line_set(&kit.setup->line, typed);
    start = clock_ns();
    screen_setup.key(kit.setup, &(struct key){.code = last});
    return (double)(clock_ns() - start) / 1e6;
}

TEST(a_sweep_of_a_million_cells_keeps_nobody_waiting)
{
    double ms;

    kit_start();
    printf("  a key, 1,000 cells: %.1f ms\n", last_key_ms("lin:1:2:10", "step:1:100:", '1'));
    kit_settle();
    CHECK_INT(kit.setup->sum.cells, 1000);
    CHECK(kit.setup->sum.complete);
    kit_keys("Esc");
    set_field("schedule", "cosine"); /* is each cell's rate above the least? */
    set_field("lr_min", "0.1");
    ms = last_key_ms("lin:1:2:1000", "step:1:1000:", '1');
    printf("  a key, 1,000,000 cells: %.1f ms\n", ms);
    CHECK_INT(kit.setup->sum.cells, 1000000);
    kit_keys("Esc"); /* the thread, which has what that key left, is told to stop */
    CHECK_INT(kit.setup->sum.cells, 1000);
    CHECK_STR(kit_command(), "run first lr=lin:1:2:1000 schedule=cosine lr_min=0.1");
    kit_end();
}

TEST(running_a_run_again_leaves_the_form_as_it_is)
{
    kit_start();
    write_file("2026-11-20-101530-412-lenet-7f3a/experiment.ini", "model = mlp\nlr = 0.7\n");
    choose("lr");
    kit_keys("Right");
    screen_setup_load(kit.setup, "2026-11-20-101530-412-lenet-7f3a", true);
    CHECK_INT(kit.runs, 1);
    CHECK_STR(kit.started.spec.model, "mlp");
    CHECK_STR(text_of("lr"), "0.005");
    kit.busy = true;
    screen_setup_load(kit.setup, "2026-11-20-101530-412-lenet-7f3a", true);
    CHECK_HAS(kit.question, "after it, in the queue");
    kit.chosen(kit.user, 0);
    kit_settle();
    screen_setup.tick(kit.setup);
    kit_settle();
    CHECK_INT(kit.setup->queue, 1);
    CHECK_HAS(kit.setup->queued[0].text, "lr = 0.7\n");
    kit.busy = false;
    kit_keys("r"); /* the form's turn again */
    CHECK_STR(kit.started.spec.model, "lenet");
    kit_end();
}

TEST(random_keys_clicks_and_sizes_do_no_harm)
{
    static const int32_t special[] = {UI_UP,    UI_DOWN,   UI_LEFT, UI_RIGHT,     UI_ENTER,
                                      UI_ENTER, UI_ESC,    UI_TAB,  UI_BACKTAB,   UI_BACKSPACE,
                                      UI_HOME,  UI_DELETE, UI_END,  UI_PAGE_DOWN, UI_WHEEL_UP};
    uint64_t state = 11;

    kit_start();
    write_file("experiments/one.ini", "lr = 0.1, 0.2\nzip = lr\nbatch = x\n");
    for (int i = 0; i < 6000; i++) {
        struct key key = {0};
        uint64_t draw;

        state = state * 6364136223846793005u + 1442695040888963407u;
        draw = state >> 33;
        if (draw % 10 < 4)
            key.code = special[draw / 16 % MEM_COUNT(special)];
        else if (draw % 10 < 9)
            key.code = ' ' + (int32_t)(draw / 16 % 95);
        else
            key = (struct key){.code = UI_CLICK,
                               .row = (int)(draw / 16 % 22),
                               .column = (int)(draw / 512 % 80),
                               .again = draw & 1024};
        screen_setup.key(kit.setup, &key);
        if (kit.chosen && draw % 3 == 0) {
            kit.chosen(kit.user, (int)(draw / 64 % 4) - 1);
            kit.chosen = NULL;
        }
        if (i % 16 == 0)
            (void)kit_draw((int)(draw / 8 % 50), (int)(draw / 512 % 170));
        if (i % 64 == 0) {
            screen_setup.tick(kit.setup);
            kit_settle();
            (void)kit_command();
        }
    }
    kit_settle();
    kit_end();
}
