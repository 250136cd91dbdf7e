/* Marked runs beside each other: what is loaded, focused, read at the cursor, equal, and drawn. */
#include "tests/unit/ui/runs_kit.h"

#include "study/compare.h"
#include "ui/app/app_int.h"
#include "ui/app/screens.h"
#include "ui/compare/compare_int.h"

static const double low[] = {0.25, 0.5, 0.5, 0.625}, high[] = {0.5, 0.625, 0.75, 0.875};

static void some_runs(struct kit *k)
{
    kit_begin(k);
    kit_run(k, "2026-10-29-100000-000-lenet-0001", "seed=0 lr=0.1 best_test_acc=0.625");
    kit_run(k, "2026-10-29-100001-000-lenet-0002", "seed=0 lr=0.2 best_test_acc=0.875");
    kit_run(k, "2026-10-29-100002-000-lenet-0003", "seed=1 lr=0.1 best_test_acc=0.625");
    kit_run(k, "2026-10-29-100003-000-lenet-0004", "seed=1 lr=0.2 best_test_acc=0.875");
    kit_run(k, "2026-10-29-100004-000-lenet-ens2-0005",
            "mode=ensemble devices=2 members=2 epochs=8 schedule=cosine best_test_acc=0.875");
    kit_epochs(k, "2026-10-29-100000-000-lenet-0001", 1, 4, low);
    kit_epochs(k, "2026-10-29-100001-000-lenet-0002", 1, 4, high);
    kit_epochs(k, "2026-10-29-100002-000-lenet-0003", 1, 4, low);
    kit_epochs(k, "2026-10-29-100003-000-lenet-0004", 1, 4, high);
    kit_epochs(k, "2026-10-29-100004-000-lenet-ens2-0005", 2, 4, high);
    kit_open(k, &screen_compare, SCREEN_COMPARE);
}

static void mark(struct kit *k, const char *part)
{
    size_t count;
    const struct library_run *runs = library_runs(k->app.library, &count);

    for (size_t i = 0; i < count; i++)
        if (strstr(runs[i].name, part))
            library_mark(k->app.library, runs[i].name, true);
    kit_turn(k, false);
}

static struct compare *of(struct kit *k)
{
    return k->state;
}

TEST(nothing_marked_says_how)
{
    struct kit k;

    some_runs(&k);
    CHECK(kit_shows(&k, "Nothing is marked."));
    CHECK(kit_shows(&k, "Space marks a run"));
    mark(&k, "-0001");
    CHECK(kit_shows(&k, "lenet-0001"));
    CHECK(kit_shows(&k, "picked on test"));
    kit_keys(&k, "d"); /* taken out again */
    CHECK(kit_shows(&k, "Nothing is marked."));
    kit_end(&k);
}

/* Its row may have no accuracy, and its state no room. */
TEST(a_run_without_a_good_end_is_told_of)
{
    struct kit k;

    some_runs(&k);
    kit_run(&k, "2026-10-29-100005-000-lenet-0006", "lr=5 state=diverged epochs_done=2");
    kit_run(&k, "2026-10-29-100006-000-lenet-0007", "lr=6 state=oom epochs_done=0");
    kit_run(&k, "2026-10-29-100007-000-lenet-0008", "lr=7 state=failed epochs_done=4");
    kit_epochs(&k, "2026-10-29-100005-000-lenet-0006", 1, 2, low);
    kit_epochs(&k, "2026-10-29-100006-000-lenet-0007", 1, 0, low);
    kit_epochs(&k, "2026-10-29-100007-000-lenet-0008", 1, 4, low);
    kit_turn(&k, true);
    mark(&k, "-0001");
    CHECK(!kit_shows(&k, "never the best"));
    mark(&k, "-0006");
    CHECK(kit_shows(&k, "lenet-0006 diverged in epoch 3 of 4: it is never the best"));
    kit_keys(&k, "o"); /* the table's note on repeats counts it */
    CHECK(!kit_shows(&k, "never the best"));
    kit_keys(&k, "o");
    mark(&k, "-0007");
    CHECK(kit_shows(&k, "lenet-0007 ran out of memory in epoch 1 of 4: it is never the best"));
    mark(&k, "-0008");
    CHECK(kit_shows(&k, "3 runs diverged, failed or ran out of memory: none of them is the best"));
    kit_end(&k);
}

/* Opened before the runs have been read: it fills itself. */
TEST(what_is_not_read_yet_is_no_empty_list)
{
    struct kit k;

    some_runs(&k);
    library_free(k.app.library);
    k.app.library = library_new(k.folder, k.app.tasks);
    library_mark(k.app.library, "2026-10-29-100000-000-lenet-0001", true);
    k.screen->show(k.state);
    CHECK(kit_shows(&k, "Reading the runs"));
    kit_turn(&k, true);
    CHECK(kit_shows(&k, "picked on test"));
    CHECK(kit_shows(&k, "lenet-0001"));
    kit_end(&k);
}

TEST(given_runs_stay_until_marks_change)
{
    static const char *const names[] = {"2026-10-29-100000-000-lenet-0001",
                                        "2026-10-29-100001-000-lenet-0002"};
    struct kit k;

    some_runs(&k);
    screen_compare_runs(k.state, names, 2, "cell lr 0.1");
    kit_turn(&k, false);
    CHECK(kit_shows(&k, "2 runs, what differs and what came of it"));
    CHECK(kit_shows(&k, " cell lr 0.1 "));
    CHECK(!kit_shows(&k, "not the marked"));
    CHECK(kit_shows(&k, "lenet-0002"));
    mark(&k, "-0003");
    CHECK(kit_shows(&k, "lenet-0003"));
    CHECK_INT(of(&k)->count, 1);
    screen_compare_runs(k.state, names, 2,
                        "cell lr 0.1, batch 32"); /* not what Results says is marked */
    kit_turn(&k, false);
    CHECK(kit_shows(&k, "2 runs ──"));
    CHECK(kit_shows(&k, " cell lr 0.1, batch 32, not the marked runs "));
    CHECK_STR(screen_compare.hints(k.state)->hint, "the marked runs");
    kit_keys(&k, "] Esc");
    CHECK_INT(of(&k)->count, 2);
    kit_keys(&k, "Esc");
    kit_turn(&k, false);
    CHECK_INT(of(&k)->count, 1);
    CHECK(kit_shows(&k, "lenet-0003"));
    CHECK(!kit_shows(&k, "cell lr"));
    kit_end(&k);
}

TEST(focus_and_cursor)
{
    struct kit k;
    char *text;

    some_runs(&k);
    mark(&k, "-000-lenet-0");
    text = kit_draw(&k, 22, 80);
    CHECK(strstr(text, "lr=0.1 seed=0") != NULL); /* names are what differs */
    CHECK(strstr(text, "model=") == NULL);
    free(text);
    CHECK_INT(of(&k)->plot[0].front, 1);
    kit_keys(&k, "Down");
    CHECK_INT(of(&k)->plot[0].front, 2);
    CHECK(of(&k)->series[0][1].weight == PLOT_THICK);
    CHECK_STR(of(&k)->focus, "2026-10-29-100001-000-lenet-0002");
    kit_keys(&k, "["); /* on the last point */
    CHECK(of(&k)->cursor_x == 4);
    kit_keys(&k, "[");
    CHECK(of(&k)->cursor_x == 3);
    CHECK(of(&k)->read[0] == 0.5);
    CHECK(of(&k)->read[1] == 0.75);
    CHECK(kit_shows(&k, "at 3"));
    kit_keys(&k, "m"); /* a smooth curve, and what was measured beside its name and in the table */
    CHECK(kit_shows(&k, "at 3"));
    CHECK(of(&k)->series[0][1].y[2] < 0.75);
    CHECK(of(&k)->read[1] == 0.75);
    kit_keys(&k, "Esc");
    text = kit_draw(&k, 22, 80);
    CHECK(strstr(text, "smoothed over 3 points") != NULL);
    CHECK(strstr(text, "lr=0.2 seed=0 0.8750") != NULL);
    free(text);
    CHECK(!of(&k)->plot[0].cursor);
    kit_end(&k);
}

TEST(names_of_one_plot_are_of_one_kind)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-a-0001", "model=tiny best_test_acc=0.625");
    kit_run(&k, "2026-10-29-100001-000-b-0002", "model=lenet best_test_acc=0.875");
    kit_run(&k, "2026-10-29-100002-000-b-0003", "model=lenet best_test_acc=0.625");
    kit_epochs(&k, "2026-10-29-100000-000-a-0001", 1, 4, low);
    kit_epochs(&k, "2026-10-29-100001-000-b-0002", 1, 4, high);
    kit_epochs(&k, "2026-10-29-100002-000-b-0003", 1, 4, low);
    kit_open(&k, &screen_compare, SCREEN_COMPARE);
    mark(&k, "2026");
    CHECK(kit_shows(&k, "model=tiny"));
    CHECK_STR(of(&k)->label[0], "model=tiny");
    CHECK_STR(of(&k)->label[1], "model=lenet 0002");
    CHECK_STR(of(&k)->label[2], "model=lenet 0003");
    kit_end(&k);
}

TEST(repeats_are_one_row)
{
    struct kit k;

    some_runs(&k);
    mark(&k, "-000-lenet-0");
    kit_keys(&k, "o");
    CHECK(kit_shows(&k, "2 settings of 4 runs"));
    CHECK(kit_shows(&k, "0.6250 ± 0.0000"));
    CHECK(kit_shows(&k, "-25.00 points against the best")); /* the first row is focused */
    CHECK_INT(of(&k)->plot[0].count, 2);
    CHECK_INT(of(&k)->plot[0].bands, 2);
    kit_end(&k);
}

/* One of two repeats ended after two of four epochs: behind that the mean is of the other alone. */
TEST(a_mean_that_loses_runs_says_so)
{
    const double acc[] = {0.2, 0.4, 0.6, 0.8};
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-lenet-0001", "seed=0 best_test_acc=0.8");
    kit_run(&k, "2026-10-29-100001-000-lenet-0002", "seed=1 best_test_acc=0.4 state=stopped");
    kit_epochs(&k, "2026-10-29-100000-000-lenet-0001", 1, 4, acc);
    kit_epochs(&k, "2026-10-29-100001-000-lenet-0002", 1, 2, acc);
    kit_open(&k, &screen_compare, SCREEN_COMPARE);
    mark(&k, "-000-lenet-0");
    CHECK(!kit_shows(&k, "the mean of 2 runs"));
    kit_keys(&k, "o");
    CHECK(kit_shows(&k, "the mean of 2 runs, at the end of the curve of 1;"));
    kit_end(&k);
}

/* The single model spent 400 model-images, which the ensemble had at its second epoch. */
/* One and two devices alone, two beside another run, four on two. */
TEST(points_that_say_nothing_of_speed_up_are_off_the_curve)
{
    static const char *const runs[] = {"devices=1", "devices=2 real_devices=2",
                                       "devices=2 real_devices=2 shared=2",
                                       "devices=4 real_devices=2"};
    struct kit k;

    kit_begin(&k);
    for (int i = 0; i < 4; i++) {
        char name[] = "2026-10-29-100000-000-cnn-0000";

        name[sizeof name - 2] = (char)('0' + i);
        kit_run(&k, name, runs[i]);
        kit_epochs(&k, name, 1, 4, low);
    }
    kit_open(&k, &screen_compare, SCREEN_COMPARE);
    mark(&k, "-cnn-");
    kit_keys(&k, "v");
    CHECK(kit_shows(&k, "virtual or shared"));
    CHECK_INT(of(&k)->points, 4);
    CHECK_INT(of(&k)->plot[0].count, 2);
    if (of(&k)->plot[0].count == 2) {
        const struct plot_series *s = of(&k)->plot[0].series;

        CHECK(s[0].n == 2 && s[0].x[1] == 2);
        CHECK(s[1].n == 3 && s[1].x[0] == 2 && isnan(s[1].y[1]) && s[1].x[2] == 4);
    }
    kit_end(&k);
}

TEST(an_average_of_unequal_runs_costs_no_number_of_trainings)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-lenet-ens3-0001",
            "mode=ensemble members=3 epochs=several seed=several best_test_acc=0.875 "
            "flops_per_image=100");
    kit_epochs(&k, "2026-10-29-100000-000-lenet-ens3-0001", 3, 4, high);
    kit_open(&k, &screen_compare, SCREEN_COMPARE);
    mark(&k, "-0001");
    CHECK(kit_shows(&k, "the training of all 3, which differ in"));
    kit_end(&k);
}

TEST(without_a_run_the_command_is_one_that_works)
{
    struct kit k;
    char *command;

    some_runs(&k);
    command = kit_command(&k);
    CHECK_STR(command, "ls");
    free(command);
    kit_end(&k);
}

static void check_command(struct kit *k, const char *want)
{
    char *command = kit_command(k);

    CHECK_STR(command, want);
    free(command);
}

TEST(names_of_the_command_are_as_short_as_they_mean_one_run)
{
    struct kit k;

    some_runs(&k);
    mark(&k, "-0002");
    check_command(&k, "plot lenet-0002 --metric test_acc");
    mark(&k, "-0003");
    check_command(&k, "plot lenet-0002 lenet-0003 --metric test_acc");
    kit_run(&k, "2026-10-29-100005-000-lenet-0002-b-0006", "best_test_acc=0.5");
    kit_turn(&k, true);
    check_command(&k, "plot 2026-10-29-100001-000-lenet-0002 lenet-0003 --metric test_acc");
    mark(&k, "-0001");
    check_command(&k,
                  "plot lenet-0001 2026-10-29-100001-000-lenet-0002 lenet-0003 --metric test_acc");
    kit_end(&k);
}

TEST(a_distance_is_not_of_one_setting_where_several_differ)
{
    struct kit k;
    char *screen;

    some_runs(&k);
    mark(&k, "-0002");
    mark(&k, "-0005");
    kit_keys(&k, "Down b b");
    screen = kit_draw(&k, 45, 160);
    CHECK_HAS(screen, "these two differ in mode, devices, members, epochs, lr, schedule");
    free(screen);
    kit_end(&k);
}

TEST(equal_budgets)
{
    struct kit k;
    char *command;

    some_runs(&k);
    mark(&k, "-0002");
    mark(&k, "-0005");
    CHECK(kit_shows(&k, "lenet-ens2-0005"));
    kit_keys(&k, "Down");
    CHECK(kit_shows(&k, "at epoch 4 a gain of +2.00 points over the mean member"));
    CHECK(kit_shows(&k, "(0.8550), +1.00 over the best, at 2x the training"));
    kit_keys(&k, "b b");
    CHECK(kit_shows(&k, "at equal model-images"));
    CHECK(kit_shows(&k, "0.6250  epoch 2 of 8, lr still 0.085"));
    CHECK(
        kit_shows(&k, "where lr was still on its way, a schedule that ends there might have done"));
    CHECK(kit_shows(&k, "0.8750  epoch 4, its end"));
    CHECK(kit_shows(&k, "mode=ensemble: -25.00 points against mode=data-parallel at equal"));
    CHECK(of(&k)->plot[0].cursor && of(&k)->plot[0].cursor_x == 400);
    command = kit_command(&k);
    CHECK_STR(command, "plot lenet-0002 lenet-ens2-0005 --metric test_acc --x model-images");
    free(command);
    kit_keys(&k, "Tab");
    command = kit_command(&k);
    CHECK_STR(command, "compare lenet-0002 lenet-ens2-0005 --equal model-images");
    free(command);
    kit_keys(&k, "Tab b b b a x");
    command = kit_command(&k);
    CHECK_STR(command, "plot lenet-0002 lenet-ens2-0005 --metric train_loss --x step");
    free(command);
    kit_end(&k);
}

/* ---- one number everywhere ---- */

#define RUNS 5
#define ROWS 9

struct costs { /* of a run, made up */
    int epochs, members;
    bool done;
    double at[ROWS][STUDY_BUDGETS], acc[ROWS];
};

static uint64_t state = 1;

static int draw(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)below);
}

static void make_run(struct kit *k, int number, struct costs *run)
{
    char name[64], values[160];
    int images = 20 + draw(60), tenths = 3 + draw(60), devices = 1 + draw(3);
    struct text t = {0};

    *run = (struct costs){.epochs = 1 + draw(ROWS), .members = 1 + draw(4), .done = draw(5) > 0};
    snprintf(name, sizeof name, "2026-10-29-1000%02d-000-lenet-%04d", number, number);
    snprintf(values, sizeof values,
             "mode=%s members=%d devices=%d lr=0.%d state=%s epochs=%d epochs_done=%d",
             run->members > 1 ? "ensemble" : "data-parallel", run->members, devices, number + 1,
             run->done ? "done" : "stopped", run->epochs + !run->done, run->epochs);
    kit_run(k, name, values);
    text_add(&t, "epoch,model_images,train_seconds,device_seconds,test_loss,test_acc\n");
    for (int i = 0; i < run->epochs; i++) {
        double seconds = (i ? run->at[i - 1][STUDY_SECONDS] : 0) + tenths / 10.0 + draw(5) / 100.0;

        run->at[i][STUDY_EPOCHS] = i + 1;
        run->at[i][STUDY_MODEL_IMAGES] = (double)images * run->members * (i + 1);
        run->at[i][STUDY_SECONDS] = seconds;
        run->at[i][STUDY_DEVICE_SECONDS] = seconds * devices;
        run->acc[i] = (1000 * (number + 1) + 10 * i + draw(10)) / 10000.0;
        text_addf(&t, "%d,%.17g,%.17g,%.17g,%.17g,%.17g\n", i + 1, run->at[i][STUDY_MODEL_IMAGES],
                  seconds, run->at[i][STUDY_DEVICE_SECONDS], 1 - run->acc[i], run->acc[i]);
    }
    kit_put(k, name, "epochs.csv", text_str(&t));
    text_free(&t);
}

static double half_epoch(const struct costs *run, int budget)
{
    int last = run->epochs - 1;

    return (run->at[last][budget] - (last ? run->at[last - 1][budget] : 0)) / 2;
}

/* The rule in a few words: the last epoch that ends within the cost; the end of a run that is done also
 * half an epoch later, of its own and of the cheapest run. */
static double acc_at(const struct costs *run, int budget, double cost, double slack)
{
    double acc = NAN, most = fmin(slack, half_epoch(run, budget));

    for (int i = 0; i < run->epochs; i++)
        if (run->at[i][budget] <= cost + (run->done && i == run->epochs - 1 ? most : 0))
            acc = run->acc[i];
    return acc;
}

static void least(const struct costs *runs, int budget, double *cost, double *slack)
{
    *cost = *slack = INFINITY;
    for (int i = 0; i < RUNS; i++) {
        double end = runs[i].at[runs[i].epochs - 1][budget], half = half_epoch(&runs[i], budget);

        if (end < *cost || (end == *cost && half < *slack)) {
            *cost = end;
            *slack = half;
        }
    }
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The values of legend and marks; of the column at the cursor; of the table; of `compare --equal`. */
static void check_places(struct compare *c, const struct costs *runs)
{
    struct study_wish wish = {.equal = true, .budget = c->equal.budget};
    double read[RUNS], cost, slack;
    struct study_table t;
    struct err e;

    least(runs, (int)c->equal.budget, &cost, &slack);
    if (c->cursor && c->cursor_x != cost) { /* anywhere else no end is granted more */
        cost = c->cursor_x;
        slack = 0;
    }
    CHECK(c->plot[0].cursor && c->plot[0].cursor_x == cost);
    plot_read(&c->plot[0], read);
    REQUIRE_OK(study_compare(c->set->run, c->set->count, &wish, &t, &e));
    for (int i = 0; i < RUNS; i++) {
        double want = acc_at(&runs[i], (int)c->equal.budget, cost, slack);
        size_t group = c->curves[0].line[i].group;

        CHECK_INT(group, i);
        if (!same(read[i], want) || (c->cursor && !same(c->read[i], want)))
            TEST_FAILED("run %d by %s: the curve reads %g, not %g", i,
                        study_budget_name[c->equal.budget], read[i], want);
        if (!c->cursor &&
            (!same(study_table_cell(&c->table, (size_t)i, study_table_find(&c->table, "test_acc"))
                       ->value,
                   want) ||
             !same(study_table_cell(&t, (size_t)i, study_table_find(&t, "test_acc"))->value, want)))
            TEST_FAILED("run %d by %s: not %g in the tables", i, study_budget_name[c->equal.budget],
                        want);
    }
    study_table_free(&t);
}

TEST(every_place_reads_a_run_at_the_same_epoch)
{
    for (int round = 0; round < 40; round++) {
        struct costs runs[RUNS];
        struct kit k;

        kit_begin(&k);
        for (int i = 0; i < RUNS; i++)
            make_run(&k, i, &runs[i]);
        kit_open(&k, &screen_compare, SCREEN_COMPARE);
        mark(&k, "lenet");
        for (int budget = 0; budget < STUDY_BUDGETS; budget++) {
            kit_keys(&k, "b");
            free(kit_draw(&k, 22, 80));
            check_places(of(&k), runs);
            for (int step = 0; step < 4; step++) {
                kit_keys(&k, draw(2) ? "[" : "]");
                check_places(of(&k), runs);
            }
        }
        kit_end(&k);
    }
}

/* An average of runs that are not equally far has no place on the axis of epochs. */
TEST(names_of_curves_stay_with_them_where_one_is_not_drawn)
{
    static const double middle[] = {0.3, 0.4, 0.5, 0.6};
    struct kit k;
    double read[2];

    some_runs(&k);
    kit_run(&k, "2026-10-29-100001-500-lenet-0006", "lr=0.3 best_test_acc=0.6");
    kit_epochs(&k, "2026-10-29-100001-500-lenet-0006", 1, 4, middle);
    kit_put(&k, "2026-10-29-100001-500-lenet-0006", "epochs.csv",
            "epoch,model_images,test_loss,test_acc\n,400,0.5,0.6\n");
    kit_turn(&k, true);
    mark(&k, "-0001");
    mark(&k, "-0002");
    mark(&k, "-0006");
    CHECK(kit_shows(&k, "lenet-0006"));
    CHECK_INT(of(&k)->plot[0].count, 2);
    kit_keys(&k, "]");
    REQUIRE(of(&k)->plot[0].count == 2);
    plot_read(&of(&k)->plot[0], read);
    for (size_t g = 0; g < 3; g++) {
        const char *name = of(&k)->set->run[g].entry->name;
        double want = strstr(name, "-0001") ? 0.625 : strstr(name, "-0002") ? 0.875 : NAN;

        if (!same(of(&k)->read[g], want))
            TEST_FAILED("%s reads %g", name, of(&k)->read[g]);
    }
    kit_end(&k);
}

TEST(broken_and_waiting_runs)
{
    struct kit k;
    char *text;

    some_runs(&k);
    kit_run(&k, "2026-10-29-110000-000-new-0006", "epochs_done=0 best_epoch= state=stopped");
    kit_put(&k, "2026-10-29-110000-000-new-0006", "epochs.csv", "epoch,test_acc\n");
    kit_run(&k, "2026-10-29-110001-000-bad-0007", "");
    kit_put(&k, "2026-10-29-110001-000-bad-0007", "run.csv", "run\n");
    kit_turn(&k, true);
    mark(&k, "-0006");
    CHECK(kit_shows(&k, "No run"));
    mark(&k, "-0007");
    CHECK(kit_shows(&k, "1 cannot be read"));
    mark(&k, "-0001");
    CHECK(kit_shows(&k, "lenet-0001"));
    CHECK_INT(of(&k)->set->count, 2);
    kit_keys(&k, "o"); /* in the least screen both titles are whole */
    text = kit_draw(&k, 13, 60);
    CHECK_HAS(text, "╭ mean ± sd ─");
    CHECK_HAS(text, "─ 1 cannot be read ─╮");
    free(text);
    kit_end(&k);
}

TEST(live_runs_are_followed)
{
    struct kit k;

    some_runs(&k);
    mark(&k, "-0001");
    CHECK_INT(of(&k)->set->run[0].last, 3);
    kit_epochs(&k, "2026-10-29-100000-000-lenet-0001", 1, 2, low);
    of(&k)->reload = true;
    kit_turn(&k, false);
    CHECK_INT(of(&k)->set->run[0].last, 1);
    kit_end(&k);
}

/* As by chorus rm; its mark is kept, should it come back. */
TEST(a_marked_run_that_is_removed_is_compared_no_more)
{
    struct kit k;
    char *folder, *trash;

    some_runs(&k);
    k.app.own = mem_new(1, sizeof *k.app.own);
    mark(&k, "-000-lenet-0");
    CHECK_INT(of(&k)->set->count, 4);
    folder = io_path(k.folder, "2026-10-29-100000-000-lenet-0001");
    trash = io_path(k.folder, ".trash");
    REQUIRE(rename(folder, trash) == 0);
    kit_turn(&k, true);
    CHECK_STR(k.app.own->said, "lenet-0001 is not there any more");
    CHECK(!kit_shows(&k, "lenet-0001"));
    CHECK(!kit_shows(&k, "cannot be read"));
    CHECK_INT(of(&k)->set->count, 3);
    REQUIRE(rename(trash, folder) == 0);
    kit_turn(&k, true);
    CHECK(kit_shows(&k, "lenet-0001"));
    CHECK_INT(of(&k)->set->count, 4);
    k.app.shown = SCREEN_RESULTS; /* where it is removed, and known to be */
    k.app.own->said[0] = 0;
    REQUIRE(rename(folder, trash) == 0);
    kit_turn(&k, true);
    k.app.shown = SCREEN_COMPARE;
    screen_compare.show(of(&k));
    kit_turn(&k, true);
    CHECK_STR(k.app.own->said, "");
    CHECK_INT(of(&k)->set->count, 3);
    free(k.app.own);
    free(folder);
    free(trash);
    kit_end(&k);
}

TEST(any_size_is_drawn)
{
    struct kit k;

    some_runs(&k);
    mark(&k, "000");
    for (int rows = 0; rows < 50; rows += rows < 8 ? 1 : 7)
        for (int columns = 0; columns < 220; columns += columns < 8 ? 1 : 29) {
            static const char *const keys[] = {"o", "v", "b", "Down", "Right", "Tab", "y", "s"};

            free(kit_draw(&k, rows, columns));
            kit_keys(&k, keys[(rows + columns) % (int)MEM_COUNT(keys)]);
        }
    kit_end(&k);
}

TEST(forms)
{
    struct kit k;
    struct text out = {0};
    struct err e = {0};

    some_runs(&k);
    CHECK(kit_write(k.screen, k.state, "csv", &out, &e) == ERR_INPUT);
    mark(&k, "-0001");
    mark(&k, "-0002");
    REQUIRE_OK(kit_write(k.screen, k.state, "csv", &out, &e));
    CHECK_HAS(text_str(&out), "\n1,0.25,1,0.5\n"); /* curves, which keys go to first */
    kit_keys(&k, "Tab");
    text_clear(&out);
    REQUIRE_OK(kit_write(k.screen, k.state, "csv", &out, &e));
    CHECK(strstr(text_str(&out), "lenet-0002,done,0.2,4,0.875,") != NULL);
    for (size_t i = 0; compare_forms[i]; i++) {
        text_clear(&out);
        REQUIRE_OK(kit_write(k.screen, k.state, compare_forms[i], &out, &e));
        CHECK(out.n > 100);
    }
    text_free(&out);
    kit_end(&k);
}

static int count_of(const char *text, const char *words)
{
    int n = 0;

    for (const char *at = text; (at = strstr(at, words)); at += strlen(words))
        n++;
    return n;
}

/* lenet-0001 and lenet-0003 have the same values, and so have 0002 and 0004. */
TEST(curves_that_lie_under_each_other_are_said_to)
{
    struct kit k;
    char *text;

    some_runs(&k);
    mark(&k, "-0001");
    mark(&k, "-0002");
    CHECK(!kit_shows(&k, "the same curve"));
    mark(&k, "-0003");
    CHECK(kit_shows(&k, "lenet-0001, lenet-0003: the same curve"));
    CHECK(kit_shows(&k, "●=lenet-0001"));
    CHECK(kit_shows(&k, "▲ lenet-0002"));
    CHECK(kit_shows(&k, "■=lenet-0003"));
    mark(&k, "-0004");
    CHECK(kit_shows(&k, "lenet-0002, lenet-0004: the same curve"));
    text = kit_draw(&k, 15, 80); /* one row for notes */
    CHECK_HAS(text, "best epochs were picked on test data: their accuracies are optimistic…\n");
    free(text);
    kit_end(&k);
}

/* Where the rows below the table do not hold them, i shows them whole. */
TEST(notes_without_room_are_a_key_away)
{
    struct kit k;
    char *text;

    some_runs(&k);
    k.app.own = mem_new(1, sizeof *k.app.own);
    mark(&k, "-0001");
    CHECK(!kit_shows(&k, "i: all notes"));
    mark(&k, "-000");
    CHECK(kit_shows(&k, "─ i: all notes ─"));
    text = kit_draw(&k, 22, 80);
    CHECK(!strstr(text, "gain_mean, gain_best"));
    free(text);
    kit_keys(&k, "i");
    CHECK(k.app.own->popup == POPUP_PAGE);
    CHECK_HAS(text_str(&k.app.own->page), "gain_mean, gain_best: test_acc of the averaged");
    CHECK_HAS(text_str(&k.app.own->page), "as fractions: 0.01 is one point");
    popup_close(&k.app);
    kit_keys(&k, "% i %");
    CHECK(!strstr(text_str(&k.app.own->page), "as fractions"));
    CHECK_HAS(text_str(&k.app.own->page), "(picked on test), in points;");
    popup_close(&k.app);
    text_free(&k.app.own->page);
    text_free(&k.app.own->label);
    free(k.app.own);
    kit_end(&k);
}

/* Three pairs named would leave no row of a small screen to what may not be missing. */
TEST(many_that_lie_under_each_other_are_counted)
{
    struct kit k;

    kit_begin(&k);
    for (int i = 0; i < 6; i++) {
        double values[] = {0.25 + 0.125 * (i / 2), 0.5, 0.5, 0.5};
        char name[64], settings[96];

        snprintf(name, sizeof name, "2026-10-29-10000%d-000-lenet-000%d", i, i);
        snprintf(settings, sizeof settings, "seed=%d lr=0.%d best_test_acc=0.5", i % 2, 1 + i / 2);
        kit_run(&k, name, settings);
        kit_epochs(&k, name, 1, 4, values);
    }
    kit_open(&k, &screen_compare, SCREEN_COMPARE);
    mark(&k, "lenet");
    CHECK(kit_shows(&k, "best epochs were picked on test data: their accuracies are optimistic"));
    CHECK(kit_shows(&k, "3 pairs, marked =, have the same curve each"));
    kit_end(&k);
}

/* Settings under their keys; what was computed in as many digits as tell it apart. */
TEST(settings_that_lie_under_each_other_have_their_keys)
{
    struct kit k;

    kit_begin(&k);
    for (int i = 0; i < 4; i++) {
        char name[64], settings[96];

        snprintf(name, sizeof name, "2026-10-29-10000%d-000-lenet-000%d", i, i);
        snprintf(settings, sizeof settings, "seed=%d lr=%s best_test_acc=0.625", i / 2,
                 i % 2 ? "0.2" : "0.03162277660168379");
        kit_run(&k, name, settings);
        kit_epochs(&k, name, 1, 4, low);
    }
    kit_open(&k, &screen_compare, SCREEN_COMPARE);
    mark(&k, "lenet");
    CHECK(kit_shows(&k, "0.0316 "));
    CHECK(!kit_shows(&k, "0.03162"));
    kit_keys(&k, "o");
    CHECK(kit_shows(&k, "lr=0.0316, lr=0.2: the same curve"));
    kit_end(&k);
}

/* What an ensemble has and a single model has not is no setting that tells two runs apart. */
TEST(settings_that_tell_nothing_apart_are_hidden)
{
    struct kit k;
    char *text;

    some_runs(&k);
    mark(&k, "-0001");
    mark(&k, "-0005");
    text = kit_draw(&k, 45, 300);
    CHECK(strstr(text, " mode ") != NULL);
    CHECK(strstr(text, " members ") == NULL); /* 2, or it does not apply */
    CHECK(strstr(text, " optimizer ") == NULL);
    free(text);
    kit_end(&k);
}

/* As much of it as there is room for, and never cut, with what each reads at its end. */
TEST(names_of_curves_tell_them_apart_at_80_columns)
{
    static const char *const value[] = {"─ 0002 0.8750", "─ 0003 0.6250", "─ 0004 0.8750",
                                        "─ ens2-0005 0.8750"};
    static const char *const name[] = {"─ lenet-0002 ", "─ lenet-0003 ", "─ lenet-0004 "};
    struct kit k;
    char *text;

    some_runs(&k);
    mark(&k, "-000-");
    text = kit_draw(&k, 22, 80);
    for (size_t i = 0; i < MEM_COUNT(value); i++)
        CHECK_INT(count_of(text, value[i]), 1);
    CHECK_HAS(text, "more columns: Tab, Right");
    free(text);
    text = kit_draw(&k, 16, 80);
    for (size_t i = 0; i < MEM_COUNT(name); i++)
        CHECK_INT(count_of(text, name[i]), 1);
    free(text);
    kit_end(&k);
}

/* Their names are in the table too: at 80x24 legends of many take one row. */
TEST(legends_of_many_leave_rows_to_the_curves)
{
    struct kit k;
    char *text, *row, run[64], lr[64];

    kit_begin(&k);
    for (int i = 0; i < 20; i++) {
        const double acc[] = {0.5, 0.5 + 0.001 * i};

        snprintf(run, sizeof run, "2026-10-29-1000%02d-000-lenet-%04x", i, i);
        snprintf(lr, sizeof lr, "lr=0.%d best_test_acc=0.5", 11 + i);
        kit_run(&k, run, lr);
        kit_epochs(&k, run, 1, 2, acc);
    }
    kit_open(&k, &screen_compare, SCREEN_COMPARE);
    mark(&k, "lenet");
    for (int scaling = 0; scaling < 2; scaling++) {
        text = kit_draw(&k, 21, 80);
        row = strchr(text, '\n') + 1;
        CHECK_HAS(row, "●━ 0000");
        CHECK_HAS(row, "─ 0001");
        CHECK(strstr(row, "+12│\n") && strstr(row, "+12│\n") < strchr(row, '\n'));
        CHECK(count_of(text, "┤") + count_of(text, "   │") >= 4);
        free(text);
        kit_keys(&k, "v");
    }
    kit_end(&k);
}

TEST(per_cent_stands_in_the_heads)
{
    struct kit k;
    char *text;

    some_runs(&k);
    mark(&k, "-000-");
    kit_keys(&k, "%");
    text = kit_draw(&k, 22, 80);
    CHECK_HAS(text, " test_acc % ");
    CHECK_HAS(text, " 62.50 ");
    CHECK_HAS(text, " test accuracy % ");
    CHECK_HAS(text, "●━ 0001 62.50 ");
    CHECK_HAS(text, "│80┤");
    free(text);
    kit_keys(&k, "] h");
    CHECK(kit_shows(&k, " test_acc % at 3 "));
    kit_keys(&k, "%");
    CHECK(kit_shows(&k, " test_acc at 3 "));
    kit_keys(&k, "% Esc");
    kit_keys(&k, "v");
    text = kit_draw(&k, 22, 120);
    CHECK_HAS(text, " speed_up ");
    CHECK(!strstr(text, " speed_up % "));
    free(text);
    kit_keys(&k, "v %");
    CHECK(kit_shows(&k, " test_acc "));
    kit_end(&k);
}

TEST(single_models_have_no_disagreement)
{
    struct kit k;
    char *text;
    bool seen[2] = {false, false};

    some_runs(&k);
    for (int with = 0; with < 2; with++) {
        mark(&k, with ? "-000-" : "-0001");
        for (int i = 0; i < compare_metrics(); i++) {
            text = kit_draw(&k, 22, 80);
            seen[with] = seen[with] || strstr(text, "disagreement of members");
            free(text);
            kit_keys(&k, "a");
        }
    }
    CHECK(!seen[0]);
    CHECK(seen[1]);
    kit_end(&k);
}

/* A long name goes before what says that it has no speed-up. */
TEST(the_legend_of_scaling_is_not_cut_in_the_middle)
{
    struct kit k;
    char *text, run[96], devices[96];
    struct text out = {0};
    struct err e;

    kit_begin(&k);
    for (int i = 1; i <= 4; i++) {
        snprintf(run, sizeof run, "2026-10-29-10000%d-000-a-name-as-long-as-a-setting-00%d1", i, i);
        snprintf(devices, sizeof devices, "lr=0.%d devices=2 real_devices=1 train_seconds=2", i);
        kit_run(&k, run, devices);
        kit_epochs(&k, run, 1, 2, (const double[]){0.5, 0.6});
    }
    kit_open(&k, &screen_compare, SCREEN_COMPARE);
    mark(&k, "setting");
    kit_keys(&k, "v");
    text = kit_draw(&k, 21, 80);
    CHECK_HAS(text, "0011, virtual or shared");
    CHECK_HAS(text, "0041, virtual or shared");
    CHECK_HAS(text, "speed_up"); /* before what tells the runs apart */
    CHECK_HAS(text, "more columns: Tab, Right ");
    free(text);
    REQUIRE_OK(kit_write(k.screen, k.state, "svg", &out, &e));
    CHECK_HAS(text_str(&out), "a-name-as-long-as-a-setting-0011, virtual or shared");
    text_free(&out);
    kit_keys(&k, "Tab Right Right Right Right Right Right Right Right Right Right Right Right");
    text = kit_draw(&k, 21, 80);
    CHECK_HAS(text, "more columns: Left ");
    free(text);
    text = kit_draw(&k, 42, 160);
    CHECK_HAS(text, "a-name-as-long-as-a-setting-0011, virtual or shared");
    free(text);
    kit_end(&k);
}

TEST(what_has_no_room_is_counted)
{
    struct kit k;
    char *text, run[64];

    kit_begin(&k);
    for (int i = 0; i < 70; i++) {
        const double acc[] = {0.5, 0.5 + 0.001 * i};

        snprintf(run, sizeof run, "2026-10-29-1000%02d-000-lenet-%04x", i % 60, i);
        snprintf(run + 15, sizeof run - 15, "%02d-%03d-lenet-%04x", i % 60, i, i);
        kit_run(&k, run, "best_test_acc=0.5");
        kit_epochs(&k, run, 1, 2, acc);
    }
    kit_open(&k, &screen_compare, SCREEN_COMPARE);
    mark(&k, "lenet");
    text = kit_draw(&k, 22, 80);
    CHECK_HAS(text, "╭ 64 runs ──");
    CHECK_HAS(text, "─ the newest of 70 that are marked ─╮");
    CHECK_HAS(text, "rows 1 to ");
    CHECK_HAS(text, " of 64");
    free(text);
    kit_end(&k);
}
