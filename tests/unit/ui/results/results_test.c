/* The table of all runs: filter, order, folding, columns, and how it is drawn in all its states. */
#include "tests/unit/ui/runs_kit.h"

#include "record/run/run.h"
#include "record/run/writer.h"
#include "ui/app/app_int.h"
#include "ui/app/screens.h"
#include "ui/results/results_int.h"
#include "ui/app/runkeys.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

static struct results *of(struct kit *k)
{
    return k->state;
}

/* The names of the lines that stand for a run, by their last four digits. */
static const char *lines(struct kit *k)
{
    static char out[512];

    free(kit_draw(k, 22, 80));
    out[0] = 0;
    for (size_t i = 0; i < of(k)->view.lines; i++) {
        const struct results_line *line = &of(k)->view.line[i];
        const char *name = results_run(of(k), line)->name;

        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s%s", i ? " " : "",
                 line->kind == RESULTS_GROUP    ? "+"
                 : line->kind == RESULTS_MEMBER ? "m"
                                                : "",
                 results_hash(name));
    }
    return out;
}

static void some_runs(struct kit *k)
{
    kit_begin(k);
    kit_run(k, "2026-10-29-100000-000-lenet-0001", "seed=0 lr=0.1 best_test_acc=0.90 tags=paper");
    kit_run(k, "2026-10-29-100001-000-lenet-0002", "seed=1 lr=0.1 best_test_acc=0.92");
    kit_run(k, "2026-10-29-100002-000-lenet-0003", "seed=0 lr=0.2 best_test_acc=0.80 sweep=grid");
    kit_run(k, "2026-10-29-100003-000-lenet-0004", "seed=1 lr=0.2 best_test_acc=0.95 sweep=grid");
    kit_run(k, "2026-10-29-100004-000-cnn-0005", "model=cnn lr=0.2 state=diverged reason=nan");
    kit_open(k, &screen_results, SCREEN_RESULTS);
}

static void set_filter(void *results, const char *filter)
{
    struct key key = {.code = '/'};

    CHECK(screen_results.key(results, &key));
    key.code = 21; /* Ctrl-U */
    CHECK(screen_results.key(results, &key));
    for (; *filter; filter++) {
        key.code = (unsigned char)*filter;
        CHECK(screen_results.key(results, &key));
    }
    key.code = UI_ENTER;
    CHECK(screen_results.key(results, &key));
}

TEST(filters_are_those_of_verbs)
{
    static const struct {
        const char *filter, *want;
    } cases[] = {{"", "0005 0004 0003 0002 0001"},
                 {"lr=0.1", "0002 0001"},
                 {"lr!=0.1 seed=0", "0005 0003"},
                 {"test_acc=0.9..", "0004 0002 0001"},
                 {"cnn", "0005"},
                 {"grid", "0004 0003"},
                 {"grid cnn", "0005 0004 0003"},
                 {"@ @3", "0005 0003"},
                 {"@best", "0004"},
                 {"@best lr=0.1", "0002"},
                 {"state=diverged,dead", "0005"},
                 {"tags=paper", "0001"},
                 {"model=cnn seed=1", ""},
                 {"2026-10-29-100001-000-lenet-0002", "0002"}};
    struct kit k;

    some_runs(&k);
    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        set_filter(k.state, cases[i].filter);
        CHECK_STR(lines(&k), cases[i].want);
    }
    kit_end(&k);
}

TEST(the_best_is_that_of_verbs)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-lenet-0001",
            "best_test_acc=0.90 best_by=valid best_epoch=1");
    kit_put(&k, "2026-10-29-100000-000-lenet-0001", "epochs.csv", "epoch,val_acc\n1,0.8\n");
    kit_run(&k, "2026-10-29-100001-000-lenet-0002",
            "best_test_acc=0.85 best_by=valid best_epoch=1");
    kit_put(&k, "2026-10-29-100001-000-lenet-0002", "epochs.csv", "epoch,val_acc\n1,0.9\n");
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    set_filter(k.state, "@best");
    kit_turn(&k, true); /* what stands in epochs.csv is read by then */
    CHECK_STR(lines(&k), "0002");
    kit_run(&k, "2026-10-29-100002-000-lenet-0003", "best_test_acc=0.7 test_limit=64");
    kit_run(&k, "2026-10-29-100003-000-lenet-0004", "best_test_acc=0.6 test_limit=64");
    kit_turn(&k, true);
    CHECK_STR(lines(&k), "0003 0002"); /* of each test data */
    kit_end(&k);
}

TEST(a_wrong_filter_is_told_while_it_is_typed)
{
    struct kit k;

    some_runs(&k);
    kit_keys(&k, "/ 'bach=64");
    CHECK(kit_shows(&k, "bach=64: runs have no column bach; did you mean batch?"));
    kit_keys(&k, "Enter"); /* stays open */
    CHECK(k.screen->wants_text(k.state));
    kit_keys(&k, "Ctrl-U 'best_test_ac>9"); /* to the end, over two rows */
    CHECK(kit_shows(&k, "runs have no column best_test_ac; did you mean") &&
          kit_shows(&k, "best_test_acc?"));
    kit_keys(&k, "Ctrl-U 'lr=0.2");
    CHECK(kit_shows(&k, "3 of 5"));
    CHECK_STR(lines(&k), "0005 0004 0003");
    kit_keys(&k, "Backspace Backspace Backspace '0.1 Enter");
    CHECK(!k.screen->wants_text(k.state));
    CHECK_STR(lines(&k), "0002 0001");
    kit_keys(&k, "/ Ctrl-U 'last");
    CHECK(kit_shows(&k, "last alone is a part of names; as a column it needs a value:"));
    CHECK(kit_shows(&k, "/last_test_acc=VALUE, or < or > in place of =."));
    kit_keys(&k, "Ctrl-U 'train_acc");
    CHECK(kit_shows(&k, "/train_acc=VALUE, or <"));
    kit_keys(&k, "Ctrl-U 'none-such");
    CHECK(!kit_shows(&k, "needs a value"));
    kit_keys(&k, "Ctrl-U 'best_test_acc>91 Enter"); /* as per cent */
    CHECK_STR(lines(&k), "0004 0002");
    set_filter(k.state, "lr=0.1");
    kit_keys(&k, "/ 'xyz Esc"); /* what was there before */
    CHECK_STR(lines(&k), "0002 0001");
    kit_keys(&k, "Esc");
    CHECK_STR(lines(&k), "0005 0004 0003 0002 0001");
    kit_end(&k);
}

TEST(a_head_is_told_by_its_column)
{
    static const char *const cases[][2] = {
        {"seconds>1", "the column headed seconds is train_seconds: /train_seconds>1"},
        {"last>=0.9", "the column headed last is last_test_acc: /last_test_acc>=0.9"},
        {"best>0.9", "the column headed best is best_test_acc: /best_test_acc>0.9"},
        {"started=2026", "the column headed started is started_utc: /started_utc=2026"},
        {"age<1", "age counts from started_utc: /started_utc>2026-11-20 has what began since"},
        {"hash=0002", "a hash is the end of a run's whole name: /0002 finds it"}};
    struct kit k;

    some_runs(&k);
    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        char keys[64];

        snprintf(keys, sizeof keys, "/ Ctrl-U '%s", cases[i][0]);
        kit_keys(&k, keys);
        CHECK(kit_shows(&k, cases[i][1]));
        kit_keys(&k, "Esc");
    }
    set_filter(k.state, "train_seconds>1 started_utc>2026-11-20"); /* as it was told */
    CHECK_STR(lines(&k), "");
    CHECK(!kit_shows(&k, "name is what a run was called; one that"));
    set_filter(k.state, "epochs=4 lenet-0002"); /* a head that is a column too means that */
    CHECK_STR(lines(&k), "0002");
    set_filter(k.state, "name=lenet"); /* which those that were not called anything show there */
    CHECK(kit_shows(&k, "name is what a run was called; one that"));
    kit_end(&k);
}

/* A real shell parts the line that ':' shows into the words of the filter, and does nothing else. */
TEST(the_command_line_of_a_filter_is_safe_in_a_shell)
{
    static const char *const filters[][2] = {
        {"lr<0.1", "<ls><lr<0.1>"},
        {"test_acc>0.9 lr=0.1", "<ls><test_acc>0.9><lr=0.1>"},
        {"\"a b\" * ; $(id)&", "<ls><a b><*><;><$(id)&>"},
        {"", "<ls>"},
    };
    struct kit k;

    some_runs(&k);
    for (size_t i = 0; i < MEM_COUNT(filters); i++) {
        struct text shell = {0};
        char *command, got[200] = "";
        FILE *f;

        set_filter(k.state, filters[i][0]);
        free(kit_draw(&k, 22, 80));
        command = kit_command(&k);
        text_addf(&shell, "printf '<%%s>' %s", command);
        REQUIRE((f = popen(text_str(&shell), "r")) != NULL);
        got[fread(got, 1, sizeof got - 1, f)] = 0;
        CHECK_INT(pclose(f), 0);
        CHECK_STR(got, filters[i][1]);
        CHECK(access("0.9", F_OK) != 0);
        free(command);
        text_free(&shell);
    }
    kit_end(&k);
}

TEST(order_by_a_chosen_column)
{
    struct kit k;
    char *command;

    some_runs(&k);
    kit_keys(&k, "s Right Right Enter"); /* accuracies fall at first; none comes last */
    CHECK_STR(lines(&k), "0004 0002 0001 0003 0005");
    command = kit_command(&k);
    CHECK_STR(command, "ls --sort -best_test_acc");
    free(command);
    kit_keys(&k, "Enter");
    CHECK_STR(lines(&k), "0003 0001 0002 0004 0005");
    kit_keys(&k, "Esc S");
    CHECK_STR(lines(&k), "0004 0002 0001 0003 0005");
    kit_keys(&k, "s Right Enter Esc"); /* age: the newest first */
    CHECK_STR(lines(&k), "0005 0004 0003 0002 0001");
    kit_keys(&k, "S");
    CHECK_STR(lines(&k), "0001 0002 0003 0004 0005");
    kit_end(&k);
}

/* What verbs take for the chosen group. */
static const char *named(struct kit *k)
{
    static struct text out;

    text_clear(&out);
    screen_results.runs(k->state, &out);
    return text_str(&out);
}

/* 0.90 and 0.92: mean 0.91, standard deviation 0.02 / sqrt 2 = 0.0141. */
TEST(repeats_fold_to_their_mean)
{
    struct kit k;

    some_runs(&k);
    kit_keys(&k, "v");
    CHECK_STR(lines(&k), "0005 +0004 +0002");
    CHECK(kit_shows(&k, "▸ 2 runs          0.9100 ±0.0141"));
    kit_run(&k, "2026-10-29-100001-500-lenet-0006",
            "seed=2 lr=0.1 best_test_acc=0.1 state=diverged");
    kit_turn(&k, true); /* is no part of the mean */
    CHECK(kit_shows(&k, "▸ 3 runs          0.9100 ±0.0141"));
    help_remove(io_path(k.folder, "2026-10-29-100001-500-lenet-0006"));
    kit_turn(&k, true);
    kit_keys(&k, "Down Down Enter");
    CHECK_STR(lines(&k), "0005 +0004 +0002 0002 0001");
    CHECK_HAS(named(&k), "-0002 ");
    CHECK_HAS(named(&k), "-0001");
    kit_keys(&k, "Down Space Up Up"); /* one of the two */
    CHECK(kit_shows(&k, "~▾ 2 runs "));
    CHECK(kit_shows(&k, "*│ done "));
    kit_keys(&k, "Enter");
    CHECK_STR(lines(&k), "0005 +0004 +0002");
    kit_keys(&k, "Space"); /* all of it */
    CHECK_INT(library_marks(k.app.library), 2);
    CHECK(kit_shows(&k, "*▸ 2 runs "));
    kit_keys(&k, "v"); /* and the sweep as one */
    CHECK_STR(lines(&k), "0005 +0004 +0002");
    CHECK(kit_shows(&k, "sweeps and repeats folded"));
    /* the mean over its settings is of none of them */
    CHECK(kit_shows(&k, "▸ 2 runs             best 0.9500 "));
    kit_keys(&k, "Home Down");
    CHECK(kit_shows(&k, "2 runs of the sweep grid"));
    CHECK_STR(named(&k), "grid");
    CHECK(!screen_results.run(k.state));
    CHECK(kit_shows(&k,
                    "best accuracy: 0.9500 of 0004; mean 0.8750, standard deviation 0.1061, n 2;"));
    kit_end(&k);
}

TEST(what_a_sweep_measured_has_no_mean_over_its_settings)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-lenet-0001", "sweep=grid last_test_acc=0.5 seed=0");
    kit_run(&k, "2026-10-29-100001-000-lenet-0002", "sweep=grid last_test_acc=0.7 seed=1");
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    kit_keys(&k, "v");
    CHECK(kit_shows(&k, "  0.6000  "));
    kit_keys(&k, "v");
    CHECK(!kit_shows(&k, "  0.6000  "));
    CHECK(kit_shows(&k, "4/4     ·"));
    kit_end(&k);
}

/* As in compare: where a run was computed is no setting of it, parameters of its model are. */
TEST(what_folds_differs_in_conditions_alone)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-lenet-0001", "best_test_acc=0.9 network_hash=#1");
    kit_run(&k, "2026-10-29-100001-000-lenet-0002",
            "seed=1 best_test_acc=0.9 network_hash=#1 shared=2 threads_used=1 isa=avx2 host=other");
    kit_run(&k, "2026-10-29-100002-000-lenet-0003", "seed=2 best_test_acc=0.8 network_hash=#2");
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    kit_keys(&k, "v");
    CHECK_STR(lines(&k), "0003 +0002");
    kit_end(&k);
}

/* The same run again says nothing of chance: it counts once, as in compare, and that is said. */
TEST(runs_of_one_seed_are_no_repeats)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-lenet-0001", "seed=3 best_test_acc=0.9");
    kit_run(&k, "2026-10-29-100001-000-lenet-0002", "seed=3 best_test_acc=0.9");
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    kit_keys(&k, "v");
    CHECK(kit_shows(&k, "▸ 2 runs                  0.9000   "));
    CHECK(!kit_shows(&k, "±0.0"));
    CHECK(kit_shows(&k, "2 runs of one seed: the same settings again"));
    CHECK(kit_shows(&k, "mean 0.9000, n 1 (1 the same result again);"));
    kit_run(&k, "2026-10-29-100002-000-lenet-0003", "seed=4 best_test_acc=0.8");
    kit_turn(&k, true);
    CHECK(kit_shows(&k, "mean 0.8500, standard deviation 0.0707, n 2 (1 the same "));
    kit_end(&k);
}

TEST(columns_are_what_differs)
{
    struct kit k;
    const struct results_view *v;
    char names[256] = "";

    some_runs(&k);
    set_filter(k.state, "lenet");
    free(kit_draw(&k, 22, 80));
    v = &of(&k)->view;
    for (int i = 0; i < v->columns; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", v->column[i].name);
    CHECK_STR(names, "run lr seed epochs_done last_test_acc train_seconds tags sweep ");
    kit_end(&k);
}

/* A network that was edited under its name has a column; one of another name says so itself. */
TEST(a_hash_is_a_column_where_names_do_not_tell)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-lenet-0001", "network_hash=#1");
    kit_run(&k, "2026-10-29-100001-000-cnn-0002", "model=cnn network_hash=#2");
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    CHECK(kit_shows(&k, " model"));
    CHECK(!kit_shows(&k, "network_hash"));
    kit_run(&k, "2026-10-29-100002-000-lenet-0003", "network_hash=#3");
    kit_turn(&k, true);
    CHECK(!kit_shows(&k, "network_hash")); /* parameters may tell: they are asked for now */
    kit_turn(&k, true);
    CHECK(kit_shows(&k, " network_hash"));
    CHECK(!kit_shows(&k, "data_hash"));
    kit_end(&k);
}

/* Of its own a network is another one where its parameters are, which only experiment.ini says. */
TEST(parameters_of_a_model_explain_its_hash_and_more_than_any_number_of_networks_is_looked_at)
{
    struct kit k;
    char name[64], values[64];

    kit_begin(&k);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "2026-10-29-1000%02d-000-mlp-%04d", i, i);
        snprintf(values, sizeof values, "model=net%d network_hash=#%d", i, i);
        kit_run(&k, name, values);
    }
    kit_run(&k, "2026-10-29-110000-000-mlp-aaa1", "model=mlp network_hash=#a");
    kit_put(&k, "2026-10-29-110000-000-mlp-aaa1", "experiment.ini",
            "model = mlp\nmodel.width = 8\n");
    kit_run(&k, "2026-10-29-110000-000-mlp-aaa2", "model=mlp network_hash=#b");
    kit_put(&k, "2026-10-29-110000-000-mlp-aaa2", "experiment.ini",
            "model = mlp\nmodel.width = 16\n");
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    kit_turn(&k, true);
    CHECK(!kit_shows(&k, "network_hash"));
    kit_run(&k, "2026-10-29-110000-000-mlp-aaa3", "model=mlp network_hash=#c");
    kit_put(&k, "2026-10-29-110000-000-mlp-aaa3", "experiment.ini",
            "model = mlp\nmodel.width = 16\n");
    kit_turn(&k, true);
    kit_turn(&k, true);
    CHECK(kit_shows(&k, "network_hash"));
    kit_end(&k);
}

/* 10^-1.5, as a sweep makes it; and what is not limited is all of it, which differs from a number. */
TEST(computed_numbers_are_short_and_no_limit_is_all)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-lenet-0001", "lr=0.03162277660168379 train_limit=600");
    kit_run(&k, "2026-10-29-100001-000-lenet-0002", "lr=0.1");
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    CHECK(kit_shows(&k, " 0.03162 "));
    CHECK(kit_shows(&k, " train_limit"));
    CHECK(kit_shows(&k, "  all  "));
    CHECK(!kit_shows(&k, "test_limit"));
    kit_end(&k);
}

TEST(marks_are_of_the_runs_that_are_shown)
{
    struct kit k;

    some_runs(&k);
    kit_keys(&k, "Down Space");
    CHECK(library_marked(k.app.library, "2026-10-29-100003-000-lenet-0004"));
    CHECK_INT(of(&k)->at, 2);
    set_filter(k.state, "lr=0.1");
    kit_keys(&k, "*");
    CHECK_INT(library_marks(k.app.library), 3);
    kit_keys(&k, "*");
    CHECK_INT(library_marks(k.app.library), 1);
    CHECK(kit_shows(&k, "1 marked"));
    kit_end(&k);
}

TEST(tags_are_typed_as_for_the_verb)
{
    static const char *const cases[][2] = {{"+paper -draft", "tag +paper -draft"},
                                           {"  paper  ", "tag +paper"},
                                           {"", "tag"},
                                           {"+paper, a b", NULL},
                                           {"+", NULL},
                                           {"+a=b", NULL}};

    for (size_t i = 0; i < MEM_COUNT(cases); i++) {
        struct text line = {0};
        struct err e = {0};

        if (cases[i][1]) {
            REQUIRE_OK(results_tag_line(cases[i][0], &line, &e));
            CHECK_STR(text_str(&line), cases[i][1]);
        } else {
            CHECK(results_tag_line(cases[i][0], &line, &e) == ERR_INPUT);
        }
        text_free(&line);
    }
}

/* What no run has room for is refused while it can be typed again; to take away it takes none. */
TEST(tags_without_room_are_refused_as_typed)
{
    char words[2][300];
    struct text line = {0};
    struct err e = {0};

    memset(words, 'x', sizeof words);
    words[0][128] = words[1][128] = ' ';
    words[0][255] = words[1][256] = '\0'; /* 255 bytes, and 256 */
    REQUIRE_OK(results_tag_line(words[0], &line, &e));
    CHECK(results_tag_line(words[1], &line, &e) == ERR_INPUT);
    CHECK(strstr(e.text, "take up to 255 bytes, these have 256"));
    words[1][129] = '-';
    REQUIRE_OK(results_tag_line(words[1], &line, &e));
    text_free(&line);
}

/* Left and opened again: with the same settings, the same runs are marked, and in this folder alone. */
TEST(marks_are_kept)
{
    struct kit k;
    struct app *app = &k.app;

    some_runs(&k);
    kit_keys(&k, "Space Down Space");
    CHECK_INT(library_marks(app->library), 2);
    k.screen->close(k.state);
    library_free(app->library);
    app->library = library_new(k.folder, app->tasks);
    k.state = k.screen->open(app);
    kit_turn(&k, true);
    CHECK_INT(library_marks(app->library), 2);
    CHECK(library_marked(app->library, "2026-10-29-100004-000-cnn-0005"));
    CHECK(library_marked(app->library, "2026-10-29-100002-000-lenet-0003"));
    kit_keys(&k, "* *"); /* none, and that is kept too */
    k.screen->close(k.state);
    CHECK_STR(settings_get(app->settings, "marks.folders", "none"), "none");
    app->config.results = "/";
    library_mark(app->library, "2026-10-29-100004-000-cnn-0005", true);
    k.state = k.screen->open(app);
    k.screen->close(k.state);
    CHECK_STR(settings_get(app->settings, "marks.folders", "none"), "none");
    app->config.results = k.folder;
    k.state = k.screen->open(app);
    kit_end(&k);
}

/* So many runs with names of so many bytes, all marked, left and opened again: how many are marked. */
static size_t marks_after(struct kit *k, int runs, int bytes)
{
    struct app *app = &k->app;
    char *settings;

    kit_begin(k);
    settings = io_path(k->folder, ".settings");
    for (int i = 0; i < runs; i++) {
        char name[256];

        snprintf(name, sizeof name, "2026-10-29-100000-000-%0*d", bytes - 22, i);
        kit_run(k, name, "seed=0");
    }
    kit_open(k, &screen_results, SCREEN_RESULTS);
    app->own = mem_new(1, sizeof *app->own);
    free(kit_draw(k, 22, 80));
    kit_keys(k, "*");
    CHECK_INT(library_marks(app->library), runs);
    k->screen->close(k->state);
    settings_close(app->settings);
    library_free(app->library);
    app->settings = settings_open(settings);
    app->library = library_new(k->folder, app->tasks);
    k->state = k->screen->open(app);
    kit_turn(k, true);
    free(settings);
    return library_marks(app->library);
}

TEST(marks_of_many_runs_are_kept)
{
    struct kit k;

    CHECK_INT(marks_after(&k, 1000, 40), 1000);
    CHECK_STR(k.app.own->said, "");
    free(k.app.own);
    kit_end(&k);
}

/* What its files do not tell, whether it failed or not, is not made up. */
TEST(keys_say_that_a_run_cannot_be_read)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-lenet-0001", "state=done");
    kit_put(&k, "2026-10-29-100000-000-lenet-0001", "run.csv", "no table");
    kit_open(&k, NULL, SCREEN_LOG);
    k.app.own = mem_new(1, sizeof *k.app.own);
    k.app.feed = feed_new(NULL, k.folder);
    for (const char *key = "pKR"; *key; key++) {
        k.app.own->said[0] = 0;
        CHECK(runkeys_do(&k.app, "2026-10-29-100000-000-lenet-0001", *key));
        CHECK_HAS(k.app.own->said, "It cannot be read: ");
        CHECK_HAS(k.app.own->said, "run.csv has no header row");
    }
    feed_free(k.app.feed);
    free(k.app.own);
    kit_end(&k);
}

/* Enter keeps them: marks are older than this session, and the cursor stands on another run. */
TEST(the_trash_names_what_it_would_take)
{
    struct kit k;
    struct app *app = &k.app;

    some_runs(&k);
    app->own = mem_new(1, sizeof *app->own);
    app->screen[SCREEN_RESULTS] = k.state;
    free(kit_draw(&k, 22, 80));
    CHECK(results_act(of(&k), 'd'));
    CHECK_STR(text_str(&app->own->question), "Move 0005 to the folder trash?");
    popup_close(app);
    kit_keys(&k, "*");
    CHECK(results_act(of(&k), 'd'));
    CHECK_HAS(text_str(&app->own->question),
              "Move the marked 5 runs (0001, 0002, 0003 and 2 more)");
    CHECK_STR(app->own->answer[0], "keep");
    app->own->on_answer(app->own->user, 0);
    CHECK_STR(text_str(&app->did), "");
    popup_close(app);
    text_free(&app->own->question);
    free(app->own);
    kit_end(&k);
}

static struct app_int *open_asking(struct kit *k)
{
    some_runs(k);
    k->app.own = mem_new(1, sizeof *k->app.own);
    k->app.screen[SCREEN_RESULTS] = k->state;
    free(kit_draw(k, 22, 80));
    return k->app.own;
}

static void end_asking(struct kit *k)
{
    popup_close(&k->app);
    text_free(&k->app.own->question);
    text_free(&k->app.own->label);
    text_free(&k->app.did);
    text_free(&k->app.about);
    for (int i = 0; i < k->app.own->answers; i++)
        free(k->app.own->answer[i]);
    line_free(&k->app.own->typed);
    free(k->app.own);
    kit_end(k);
}

/* The newest four are marked, of which the filter hides two. */
static struct app_int *open_with_hidden(struct kit *k)
{
    struct app_int *own = open_asking(k);

    kit_keys(k, "Space Space Space Space");
    set_filter(k->state, "lr=0.2 lenet");
    return own;
}

TEST(marks_that_a_filter_hides_are_counted)
{
    struct kit k;

    open_with_hidden(&k);
    CHECK(kit_shows(&k, "4 marked, 2 of them hidden by the filter"));
    kit_keys(&k, "*"); /* those in sight */
    CHECK(kit_shows(&k, "2 marked, 2 of them hidden by the filter"));
    set_filter(k.state, "");
    CHECK(kit_shows(&k, "2 marked"));
    CHECK(!kit_shows(&k, "hidden"));
    end_asking(&k);
}

TEST(what_is_done_to_marked_runs_asks_where_a_filter_hides_some)
{
    static const char *const deeds[][2] = {{"t", "Tag the 4 marked runs?"},
                                           {"d", "Move the 4 marked runs to the folder trash?"},
                                           {"E", "Average the 4 marked runs?"},
                                           {"x", "Write the 4 marked runs into files?"}};
    struct kit k;
    struct app_int *own = open_with_hidden(&k);

    for (size_t i = 0; i < MEM_COUNT(deeds); i++) {
        kit_keys(&k, deeds[i][0]);
        REQUIRE(own->popup == POPUP_ASK);
        CHECK_HAS(text_str(&own->question), deeds[i][1]);
        CHECK_HAS(text_str(&own->question), " The filter hides 2 of them.");
        REQUIRE(own->answers == 3);
        CHECK_STR(own->answer[0], "only the 2 shown");
        CHECK_STR(own->answer[1], "all 4");
        CHECK_STR(own->answer[2], "cancel");
        popup_key(&k.app, &(struct key){.code = 'c'});
        CHECK(own->popup == POPUP_NONE);
    }
    end_asking(&k);
}

TEST(and_does_it_to_those_that_are_meant)
{
    struct kit k;
    struct app_int *own = open_with_hidden(&k);

    kit_keys(&k, "d");
    popup_key(&k.app, &(struct key){.code = 'o'});
    CHECK_HAS(text_str(&own->question), "Move the marked 2 runs (0003, 0004) to");
    popup_key(&k.app, &(struct key){.code = 't'});
    CHECK_STR(text_str(&k.app.did),
              "rm 2026-10-29-100002-000-lenet-0003 2026-10-29-100003-000-lenet-0004");
    kit_turn(&k, true);
    kit_keys(&k, "t"); /* the two that are left are hidden, and no line is there */
    CHECK_STR(text_str(&own->question), "Tag the 2 marked runs? The filter hides all of them.");
    REQUIRE(own->answers == 2);
    CHECK_STR(own->answer[0], "cancel");
    popup_key(&k.app, &(struct key){.code = 'a'});
    CHECK_HAS(text_str(&own->label), "tags of 2 runs");
    end_asking(&k);
}

TEST(a_single_hidden_mark_is_asked_about_too)
{
    struct kit k;
    struct app_int *own = open_asking(&k);

    kit_keys(&k, "Space");
    set_filter(k.state, "lenet-0001");
    kit_keys(&k, "t");
    CHECK_STR(text_str(&own->question), "Tag the marked run? The filter hides it.");
    CHECK_STR(own->answer[0], "cancel");
    CHECK_STR(own->answer[1], "anyway");
    popup_key(&k.app, &(struct key){.code = 'c'});
    CHECK(own->popup == POPUP_NONE);
    end_asking(&k);
}

/* Results beside Run, of a run that another program is at work on. */
struct run_kit {
    struct kit kit;
    int lock;
};

static void open_with_run(struct run_kit *k, const char *name, const char *values)
{
    struct app *app = &k->kit.app;
    char *path;

    kit_begin(&k->kit);
    kit_run(&k->kit, name, values);
    path = mem_textf("%s/%s/lock", k->kit.folder, name);
    k->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    REQUIRE(k->lock >= 0 && flock(k->lock, LOCK_EX) == 0);
    free(path);
    kit_put(&k->kit, name, "control", "");
    kit_open(&k->kit, &screen_results, SCREEN_RESULTS);
    app->own = mem_new(1, sizeof *app->own);
    app->feed = feed_new(NULL, k->kit.folder);
    app->screen[SCREEN_RESULTS] = k->kit.state;
    app->screen[SCREEN_RUN] = screen_run.open(app);
}

/* Its files are read first. */
static void press_until_said(struct run_kit *k, int32_t code)
{
    struct app *app = &k->kit.app;

    app->own->said[0] = 0;
    free(kit_draw(&k->kit, 22, 80));
    CHECK(results_act(of(&k->kit), code));
    for (int i = 0; i < 200 && !app->own->said[0] && app->own->popup == POPUP_NONE; i++) {
        (void)feed_take(app->feed, NULL, NULL);
        (void)screen_run.tick(app->screen[SCREEN_RUN]);
        kit_turn(&k->kit, false);
    }
}

static void close_with_run(struct run_kit *k)
{
    struct app *app = &k->kit.app;

    screen_run.close(app->screen[SCREEN_RUN]);
    feed_free(app->feed);
    text_free(&app->did);
    text_free(&app->own->question);
    free(app->own);
    close(k->lock);
    kit_end(&k->kit);
}

/* Whatever runs it, a key means what it means on Run, and the list stays. */
TEST(a_cell_is_stopped_and_paused_as_on_run)
{
    static const char name[] = "2026-10-29-100000-000-lenet-0001";
    struct run_kit k;

    open_with_run(&k, name, "state=running sweep=board");
    press_until_said(&k, 'K');
    CHECK(k.kit.app.own->popup == POPUP_ASK);
    CHECK_HAS(text_str(&k.kit.app.own->question), "Stop lenet-0001, a cell of the sweep board?");
    CHECK_STR(k.kit.app.own->answer[2], "stop it now: R goes on with it");
    popup_close(&k.kit.app);
    press_until_said(&k, 'p');
    CHECK_STR(k.kit.app.own->said,
              "pausing this cell alone after this step; p on Sweep pauses all of it");
    CHECK_STR(text_str(&k.kit.app.did), "pause 2026-10-29-100000-000-lenet-0001");
    CHECK_INT(k.kit.app.shown, SCREEN_RESULTS);
    close_with_run(&k);
}

/* Its run.csv is written now and then; the line of status tells of each epoch. */
TEST(a_run_at_work_is_shown_at_its_newest_epoch)
{
    static const char name[] = "2026-10-29-100000-000-lenet-0001";
    struct run_kit k;
    char *folder;

    open_with_run(&k, name, "state=running epochs=20 epochs_done=1 best_epoch=1 best_test_acc=0.5");
    kit_epochs(&k.kit, name, 1, 3, (const double[]){0.5, 0.75, 0.625});
    CHECK(kit_shows(&k.kit, "running  0001   0.5000"));
    CHECK(kit_shows(&k.kit, " 1/20 "));
    folder = library_folder(k.kit.app.library, name);
    feed_follow(k.kit.app.feed, folder);
    (void)feed_take(k.kit.app.feed, NULL, NULL);
    CHECK(kit_shows(&k.kit, "running  0001   0.7500"));
    CHECK(kit_shows(&k.kit, " 3/20  0.6250 "));
    CHECK(kit_shows(&k.kit, "best 0.7500 at epoch 2, picked on test; last 0.6250; 3 of 20 epochs"));
    /* and has its place by that, though its run.csv is worse */
    kit_run(&k.kit, "2026-10-29-100001-000-lenet-0002", "best_test_acc=0.625");
    snprintf(of(&k.kit)->sort, sizeof of(&k.kit)->sort, "-best_test_acc");
    kit_turn(&k.kit, true);
    free(kit_draw(&k.kit, 22, 80));
    CHECK_STR(results_run(of(&k.kit), &of(&k.kit)->view.line[0])->name, name);
    free(folder);
    close_with_run(&k);
}

static void check_hints(struct kit *k, const char *want)
{
    struct text shown = {0};

    for (const struct screen_key *h = screen_results.hints(k->state); h->keys; h++)
        text_addf(&shown, "%s ", h->keys);
    CHECK_HAS(text_str(&shown), want);
    text_free(&shown);
}

static void tell_state(struct wire *wire, const char *folder, enum wire_state state,
                       enum wire_wish wish)
{
    struct wire_event event = {.kind = WIRE_STATE, .run = 7, .u.state.state = state};
    struct wire_status status = {.run = 7, .state = state, .wish = wish};

    snprintf(status.path, sizeof status.path, "%s", folder);
    wire_set_status(wire, &status);
    wire_post(wire, &event);
}

static const char *hint_of(struct kit *k, const char *keys)
{
    const struct screen_key *h = screen_results.hints(k->state);

    while (h->keys && strcmp(h->keys, keys) != 0)
        h++;
    return h->keys ? h->hint : "";
}

/* While a column is chosen, keys mean that. */
TEST(hints_say_how_the_order_is_chosen)
{
    struct kit k;

    some_runs(&k);
    free(kit_draw(&k, 22, 80));
    kit_keys(&k, "s");
    CHECK_STR(hint_of(&k, "Left Right"), "column");
    CHECK_STR(hint_of(&k, "Enter"), "sort or turn");
    CHECK_STR(hint_of(&k, "s"), "same");
    CHECK_STR(hint_of(&k, "Esc"), "leave");
    CHECK_STR(hint_of(&k, "Space"), "");
    kit_keys(&k, "Esc");
    check_hints(&k, "Enter Space / s ");
    kit_end(&k);
}

TEST(an_empty_list_offers_what_can_be_done)
{
    struct kit k;

    some_runs(&k);
    set_filter(k.state, "lr=7");
    CHECK_STR(lines(&k), "");
    check_hints(&k, "/ Esc ");
    CHECK_STR(hint_of(&k, "Enter"), "");
    CHECK_STR(hint_of(&k, "Space"), "");
    kit_keys(&k, "s"); /* no column is seen */
    check_hints(&k, "/ Esc ");
    kit_keys(&k, "Esc");
    CHECK_STR(lines(&k), "0005 0004 0003 0002 0001");
    CHECK_STR(hint_of(&k, "Enter"), "open");
    kit_end(&k);
}

TEST(a_list_of_no_runs_offers_nothing_to_be_done_to_one)
{
    struct kit k;

    kit_begin(&k);
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    CHECK(kit_shows(&k, "No runs yet."));
    CHECK(!screen_results.hints(k.state)->keys);
    kit_end(&k);
}

/* Whether a line of ':' begins so. */
static bool is_offered(struct run_kit *k, const char *words)
{
    struct app_int *own = k->kit.app.own;
    bool is = false;

    command_show(&k->kit.app);
    for (size_t i = 0; i < own->offers; i++)
        is |= !strncmp(own->offer[i], words, strlen(words));
    popup_close(&k->kit.app);
    text_free(&own->label);
    line_free(&own->typed);
    return is;
}

/* The wire knows it before run.csv does, and long before that is looked at. */
TEST(a_run_of_this_program_is_shown_as_the_wire_tells)
{
    static const char name[] = "2026-10-29-100000-000-lenet-0001";
    struct wire *wire = wire_new(16);
    struct run_kit k;
    char *folder;

    open_with_run(&k, name, "state=running epochs=4 epochs_done=0 best_epoch=0");
    feed_free(k.kit.app.feed);
    k.kit.app.feed = feed_new(wire, k.kit.folder);
    folder = library_folder(k.kit.app.library, name);
    tell_state(wire, folder, WIRE_RUNNING, WIRE_WISH_RUN);
    (void)feed_take(k.kit.app.feed, NULL, NULL);
    CHECK(kit_shows(&k.kit, "running  0001") && kit_shows(&k.kit, "1 running"));
    CHECK_STR(hint_of(&k.kit, "p"), "pause");
    CHECK(!screen_results.tick(k.kit.state));
    tell_state(wire, folder, WIRE_RUNNING, WIRE_WISH_STOP_EPOCH);
    CHECK(screen_results.tick(k.kit.state)); /* no event tells of that */
    CHECK(kit_shows(&k.kit, "stopping 0001"));
    CHECK(kit_shows(&k.kit, "it stops after this epoch: R takes that back"));
    CHECK_STR(hint_of(&k.kit, "R"), "take stop back");
    tell_state(wire, folder, WIRE_PAUSED, WIRE_WISH_PAUSE);
    (void)feed_take(k.kit.app.feed, NULL, NULL);
    CHECK(screen_results.tick(k.kit.state));
    CHECK(kit_shows(&k.kit, "paused   0001"));
    CHECK(!kit_shows(&k.kit, "it stops after this epoch")); /* a pause forgets it */
    CHECK_STR(hint_of(&k.kit, "p"), "go on");
    CHECK_STR(hint_of(&k.kit, "R"), "");
    CHECK_INT(of(&k.kit)->view.running, 0);
    CHECK(is_offered(&k, "go ") && !is_offered(&k, "pause "));
    CHECK(is_offered(&k, "go 2026-10-29-100000-000-lenet-0001"));
    set_filter(k.kit.state, "state=running");
    CHECK_STR(lines(&k.kit), "");
    set_filter(k.kit.state, "state=paused");
    CHECK_STR(lines(&k.kit), "0001");
    tell_state(wire, folder, WIRE_PAUSED, false);
    free(kit_draw(&k.kit, 22, 80));
    CHECK(!screen_results.tick(k.kit.state)); /* it rests */
    CHECK_STR(hint_of(&k.kit, "p"), "go on");
    CHECK_STR(hint_of(&k.kit, "R"), "");
    kit_epochs(&k.kit, name, 1, 4, (const double[]){0.5, 0.75, 0.625, 0.8});
    tell_state(wire, folder, WIRE_DONE, false); /* run.csv and the lock say otherwise still */
    for (int i = 0; i < 3; i++)
        (void)feed_take(k.kit.app.feed, NULL, NULL);
    CHECK_STR(lines(&k.kit), "");
    set_filter(k.kit.state, "state=done last.test_acc=0.8");
    CHECK(kit_shows(&k.kit, "done     0001   0.8000"));
    CHECK(kit_shows(&k.kit, " 4/4  0.8000 "));
    check_hints(&k.kit, "e R r ");
    CHECK(is_offered(&k, "resume ") && !is_offered(&k, "stop "));
    free(folder);
    close_with_run(&k);
    wire_free(wire);
}

/* First stands what fits: Enter takes it. The letters mean the same in both orders. */
TEST(the_single_model_is_trained_now_or_after_what_runs)
{
    static const char name[] = "2026-10-29-100000-000-lenet-0001";
    struct wire *wire = wire_new(16);
    struct kit k;
    struct app_int *own = open_asking(&k);
    char *folder = library_folder(k.app.library, name);

    k.app.jobs = jobs_new("/bin/true", NULL, NULL);
    k.app.feed = feed_new(wire, k.folder);
    CHECK(runkeys_make(&k.app, name, 'M'));
    CHECK_HAS(text_str(&own->question), "as make the cost of 2026-10-29-100000-000-lenet-0001?");
    REQUIRE(own->answers == 3);
    CHECK_STR(own->answer[0], "now");
    CHECK_STR(own->answer[1], "after what waits in the queue");
    popup_key(&k.app, &(struct key){.code = UI_ENTER});
    CHECK_STR(text_str(&k.app.did), "run --match 2026-10-29-100000-000-lenet-0001");
    train_close(&k.app);
    tell_state(wire, folder, WIRE_RUNNING, WIRE_WISH_RUN);
    (void)feed_take(k.app.feed, NULL, NULL);
    CHECK(runkeys_make(&k.app, name, 'M'));
    CHECK_HAS(text_str(&own->question), "0001? lenet-0001 trains here");
    REQUIRE(own->answers == 3);
    CHECK_STR(own->answer[0], "after it, in the queue");
    CHECK_STR(own->answer[1], "now, next to it");
    popup_key(&k.app, &(struct key){.code = 'n'});
    CHECK_STR(text_str(&k.app.did), "run --match 2026-10-29-100000-000-lenet-0001 --background");
    CHECK(runkeys_make(&k.app, name, 'M'));
    popup_key(&k.app, &(struct key){.code = UI_ENTER});
    CHECK_STR(text_str(&k.app.did), "run --match 2026-10-29-100000-000-lenet-0001 --queue");
    jobs_free(k.app.jobs);
    feed_free(k.app.feed);
    free(folder);
    end_asking(&k);
    wire_free(wire);
}

/* Wherever the order puts it; 2 shows what is under the cursor. */
TEST(the_cursor_begins_at_what_runs)
{
    static const char name[] = "2026-10-29-100001-000-lenet-0002";
    struct run_kit k;
    struct kit *kit = &k.kit;

    open_with_run(&k, name, "state=running best_test_acc=0.1");
    kit_run(kit, "2026-10-29-100000-000-lenet-0001", "best_test_acc=0.9");
    kit_run(kit, "2026-10-29-100002-000-lenet-0003", "best_test_acc=0.8");
    snprintf(of(kit)->sort, sizeof of(kit)->sort, "-best_test_acc");
    kit_turn(kit, true);
    CHECK_STR(lines(kit), "0001 0003 0002");
    CHECK_STR(screen_results.run(kit->state), name);
    kit_run(kit, "2026-10-29-100003-000-lenet-0004", "best_test_acc=0.7");
    flock(k.lock, LOCK_UN);
    kit_turn(kit, true);
    CHECK_STR(lines(kit), "0001 0003 0004 0002"); /* it does not go away under one's eyes */
    CHECK_STR(screen_results.run(kit->state), name);
    screen_results.show(kit->state); /* nothing runs */
    CHECK_STR(lines(kit), "0001 0003 0004 0002");
    CHECK_STR(results_hash(screen_results.run(kit->state)), "0001");
    kit_keys(kit, "Down");
    REQUIRE(flock(k.lock, LOCK_EX) == 0);
    kit_turn(kit, true);
    screen_results.show(kit->state); /* but one was chosen */
    CHECK_STR(lines(kit), "0001 0003 0004 0002");
    CHECK_STR(results_hash(screen_results.run(kit->state)), "0003");
    close_with_run(&k);
}

/* What is asked before a run goes on is asked where the key was pressed. */
TEST(more_epochs_are_asked_for_over_the_list)
{
    struct run_kit k;

    open_with_run(&k, "2026-10-29-100000-000-lenet-0001", "");
    flock(k.lock, LOCK_UN);
    kit_turn(&k.kit, true);
    press_until_said(&k, 'R');
    CHECK(k.kit.app.own->popup == POPUP_PROMPT);
    CHECK_STR(text_str(&k.kit.app.own->label), "it is done with 4 epochs; go on to");
    CHECK_INT(k.kit.app.shown, SCREEN_RESULTS);
    popup_close(&k.kit.app);
    text_free(&k.kit.app.own->label);
    line_free(&k.kit.app.own->typed);
    close_with_run(&k);
}

TEST(parameters_are_counted_in_thousands)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-lenet-0001", "parameters=1498");
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    CHECK(kit_shows(&k, "1,498"));
    kit_end(&k);
}

/* A megabyte of names holds them all but for the oldest, and that is said. */
TEST(marks_that_are_too_many_are_told)
{
    struct kit k;
    size_t fit = (1 << 20) / 241;

    CHECK_INT(marks_after(&k, 4500, 240), fit);
    CHECK(strstr(k.app.own->said, "4,500 runs are marked"));
    CHECK(strstr(k.app.own->said, "newest 4,350"));
    free(k.app.own);
    kit_end(&k);
}

/* The chosen line is a run, not a place: it stays when others come. */
TEST(the_cursor_stays_on_its_run)
{
    struct kit k;

    some_runs(&k);
    kit_keys(&k, "Down Down");
    CHECK_STR(results_hash(results_run(of(&k), results_chosen(of(&k)))->name), "0003");
    kit_run(&k, "2026-10-29-110000-000-new-0009", "");
    kit_turn(&k, true);
    CHECK_STR(lines(&k), "0009 0005 0004 0003 0002 0001");
    CHECK_STR(results_hash(results_run(of(&k), results_chosen(of(&k)))->name), "0003");
    kit_end(&k);
}

static void keep(struct kit *k, const char *what, const char *value)
{
    char name[RESULTS_KEPT];

    settings_set(k->app.settings, results_kept_as(k->state, what, name), value);
}

static const char *kept(struct kit *k, const char *what)
{
    char name[RESULTS_KEPT];

    return settings_get(k->app.settings, results_kept_as(k->state, what, name), "");
}

TEST(each_results_folder_has_news_of_its_own)
{
    char name[RESULTS_KEPT], *folder;
    struct kit k;
    void *other;

    kit_begin(&k);
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    keep(&k, "looked", "2026-10-29T13:15:00.000Z");
    folder = io_path(k.folder, "other");
    k.app.config.results = folder;
    other = screen_results.open(&k.app);
    CHECK_STR(settings_get(k.app.settings, results_kept_as(other, "looked", name), "none"), "none");
    screen_results.close(other);
    k.app.config.results = k.folder;
    CHECK_STR(kept(&k, "looked"), "2026-10-29T13:15:00.000Z");
    for (int i = 0; i < 30; i++) { /* of so many folders the last are remembered */
        snprintf(name, sizeof name, "x.%d", i);
        settings_set(k.app.settings, name, "y");
        results_list_folder(k.app.settings, "x", name, true);
    }
    CHECK_STR(settings_get(k.app.settings, "x.9", ""), "");
    CHECK_STR(settings_get(k.app.settings, "x.10", ""), "y");
    free(folder);
    kit_end(&k);
}

TEST(news_name_no_best_over_different_tests)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-a-0001",
            "ended_utc=2026-10-29T13:30:00.000Z best_test_acc=0.5");
    kit_run(&k, "2026-10-29-100000-000-b-0002",
            "ended_utc=2026-10-29T13:30:00.000Z best_test_acc=0.75 test_limit=100");
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    keep(&k, "looked", "2026-10-29T13:15:00.000Z");
    keep(&k, "seen", NULL);
    k.screen->show(k.state);
    CHECK(kit_shows(&k, "since you last looked 2 runs ended: 2 done"));
    CHECK(!kit_shows(&k, "2 done; best"));
    kit_end(&k);
}

TEST(news_since_the_last_look)
{
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-a-0001",
            "ended_utc=2026-10-29T13:00:00.000Z best_test_acc=0.5");
    kit_run(&k, "2026-10-29-100000-000-b-0002",
            "ended_utc=2026-10-29T13:30:00.000Z best_test_acc=0.75");
    kit_run(&k, "2026-10-29-100000-000-c-0003", "ended_utc=2026-10-29T13:31:00.000Z state=oom");
    kit_put(&k, "2026-10-29-100000-000-a-0001", "x", "");
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    CHECK(kit_shows(&k, "3 runs in"));
    keep(&k, "looked", "2026-10-29T13:15:00.000Z");
    keep(&k, "seen", NULL);
    k.screen->show(k.state);
    CHECK(kit_shows(
        &k, "since you last looked 2 runs ended: 1 done, 1 out of memory; best 0.7500 0002"));
    char *key = mem_textf("%016llx ", /* its end was seen on Run */
                          (unsigned long long)results_key("run", "2026-10-29-100000-000-c-0003"));
    keep(&k, "seen", key);
    free(key);
    k.screen->show(k.state);
    CHECK(kit_shows(&k, "since you last looked 1 run ended: 1 done; best 0.7500 0002"));
    k.app.shown = SCREEN_LOG; /* left: from now on */
    k.screen->tick(k.state);
    CHECK_STR(kept(&k, "looked"), "2026-10-29T14:00:00.000Z");
    CHECK_STR(kept(&k, "seen"), "");
    kit_end(&k);
}

TEST(any_number_of_runs_is_remembered)
{
    struct results_set s = {0}, back = {0};
    struct text text = {0};
    char run[32];
    size_t missing = 0;

    for (int i = 10000; i-- > 0;) {
        snprintf(run, sizeof run, "run-%d", i / 2); /* each twice */
        results_set_add(&s, run);
    }
    results_set_sort(&s);
    CHECK_INT(s.count, 5000);
    results_set_write(&s, &text);
    results_set_read(&back, text_str(&text));
    CHECK_INT(back.count, 5000);
    for (int i = 0; i < 5000; i++) {
        snprintf(run, sizeof run, "run-%d", i);
        missing += !results_set_has(&back, run);
    }
    CHECK_INT(missing, 0);
    CHECK(!results_set_has(&back, "run-5000"));
    results_set_read(&back, "");
    CHECK(!results_set_has(&back, "run-0"));
    text_free(&text);
    results_set_free(&s);
    results_set_free(&back);
}

TEST(who_died_since_the_last_look_is_told)
{
    static const char *const values[] = {"state=running started_utc=2026-10-29T12:00:00.000Z",
                                         "state=running started_utc=2026-10-29T13:30:00.000Z"};
    char *folder;
    struct kit k;
    int lock;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-long-0001", "state=running");
    kit_run(&k, "2026-10-29-100000-000-old-0002", values[0]); /* dead before */
    folder = io_path(k.folder, "2026-10-29-100000-000-long-0001/lock");
    lock = open(folder, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    CHECK(lock >= 0 && flock(lock, LOCK_EX) == 0);
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    k.app.shown = SCREEN_LOG;
    k.screen->tick(k.state);
    keep(&k, "looked", "2026-10-29T13:15:00.000Z");
    close(lock);
    kit_run(&k, "2026-10-29-100000-000-new-0003", values[1]);
    k.app.shown = SCREEN_RESULTS;
    k.screen->show(k.state);
    kit_turn(&k, true);
    CHECK(kit_shows(&k, "since you last looked 2 runs ended: 2 dead"));
    k.app.shown = SCREEN_LOG;
    k.screen->tick(k.state);
    k.app.shown = SCREEN_RESULTS;
    k.screen->show(k.state); /* told once */
    CHECK(kit_shows(&k, "3 runs in"));
    free(folder);
    kit_end(&k);
}

TEST(an_ensemble_unfolds_to_its_members)
{
    static const char members[] =
        "epoch,member,device,train_loss,train_acc,test_loss,test_acc,prefix_acc,images_per_second\n"
        "1,0,0,1,0.1,1,0.1,0.1,5\n1,1,0,1,0.1,1,0.1,0.1,5\n"
        "2,0,0,0.5,0.6,0.5,0.61,0.61,5\n2,1,1,0.5,0.6,0.5,0.63,0.64,5\n";
    struct kit k;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-e-0001",
            "mode=ensemble devices=2 members=2 best_test_acc=0.64");
    kit_put(&k, "2026-10-29-100000-000-e-0001", "members.csv", members);
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    kit_keys(&k, "u");
    CHECK_STR(lines(&k), "0001"); /* they are being read */
    kit_turn(&k, false);
    CHECK_STR(lines(&k), "0001 m0001 m0001");
    CHECK(kit_shows(&k, "member      1   0.6300"));
    CHECK(kit_shows(&k, "at epoch 2; device 1"));
    kit_keys(&k, "Down u");
    CHECK_STR(lines(&k), "0001");
    kit_end(&k);
}

TEST(states_are_drawn)
{
    struct kit k;

    kit_begin(&k);
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    CHECK(kit_shows(&k, "No runs yet."));
    CHECK(kit_shows(&k, "Setup,"));
    kit_run(&k, "2026-10-29-100000-000-only-0001", "best_test_acc=0.912345 train_seconds=3");
    kit_turn(&k, true);
    CHECK(kit_shows(&k, "done     0001   0.9123      2 h"));
    CHECK(kit_shows(&k, "best 0.9123 at epoch 4, picked on test"));
    kit_keys(&k, "%");
    CHECK(kit_shows(&k, "done     0001    91.23      2 h"));
    CHECK(kit_shows(&k, "best 91.23 % at epoch 4, picked on test"));
    kit_keys(&k, "%");
    kit_run(&k, "2026-10-29-100001-000-dead-0002", "state=running");
    kit_run(&k, "2026-10-29-100002-000-x-0003", "state=diverged reason=loss_was_nan");
    kit_run(&k, "2026-10-29-100003-000-\033[31mred-0004", "");
    kit_run(&k, "2026-10-29-100004-000-a-name-that-somebody-made-so-long-that-it-fits-nowhere-0005",
            "best_test_acc=0.5 best_by=valid");
    kit_turn(&k, true);
    CHECK(kit_shows(&k, "dead     0002"));
    CHECK(kit_shows(&k, "^[[31mred"));
    CHECK(kit_shows(&k, "a-name-tha"));
    CHECK(kit_shows(&k, "0.5000v"));
    CHECK(kit_shows(&k, "t picked on test, v on validation"));
    kit_keys(&k, "G k"); /* the diverged one's reason stands below */
    CHECK(kit_shows(&k, "its process is gone: R goes on from its last checkpoint"));
    kit_keys(&k, "k");
    CHECK(kit_shows(&k, "loss_was_nan"));
    kit_end(&k);
}

/* Its run.csv says that it runs, and cannot be written. */
TEST(a_run_that_waits_for_room_says_so)
{
    struct wire_event event = {.kind = WIRE_STATE, .run = 7, .u.state.state = WIRE_RUNNING};
    struct wire_status status = {.run = 7, .state = WIRE_RUNNING};
    struct record_run *run = help_run();
    struct wire *wire = wire_new(8);
    struct record *record;
    struct err e;
    struct kit k;

    kit_begin(&k);
    snprintf(run->run, sizeof run->run, "full");
    REQUIRE_OK(record_create(&record, k.folder, run, "model = lenet\n", "# net\n", false, &e));
    snprintf(status.path, sizeof status.path, "%s", record_folder(record));
    wire_set_status(wire, &status);
    wire_post(wire, &event);
    k.app.feed = feed_new(wire, k.folder);
    feed_take(k.app.feed, NULL, NULL);
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    CHECK(kit_shows(&k, "running "));
    status.code = ERR_IO;
    wire_set_status(wire, &status);
    CHECK(kit_shows(&k, " no room "));
    CHECK(kit_shows(&k, " it waits for room on the disk"));
    feed_free(k.app.feed);
    wire_free(wire);
    record_close(record);
    free(run);
    kit_end(&k);
}

TEST(a_long_note_leaves_the_results_in_sight)
{
    struct kit k;
    char *text, words[700] = "best_test_acc=0.90 note=";

    kit_begin(&k);
    memset(words + strlen(words), 'x', 600);
    kit_run(&k, "2026-10-29-100000-000-lenet-0001", words);
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    text = kit_draw(&k, 22, 80);
    CHECK_HAS(text, "xxx…\n");
    CHECK_HAS(text, " best 0.9000 at epoch 4");
    free(text);
    kit_end(&k);
}

/* What is at work does not go on: it is paused and stopped. */
TEST(hints_are_keys_that_do_something_to_the_chosen_run)
{
    static const char name[] = "2026-10-29-100000-000-lenet-0001";
    struct kit k;
    char *path;
    int fd;

    kit_begin(&k);
    kit_run(&k, name, "state=stopped");
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    free(kit_draw(&k, 22, 80));
    check_hints(&k, "e R r ");
    path = mem_textf("%s/%s/lock", k.folder, name);
    fd = open(path, O_RDWR | O_CREAT, 0666);
    REQUIRE(fd >= 0 && flock(fd, LOCK_EX) == 0);
    kit_run(&k, name, "state=running");
    kit_turn(&k, true);
    free(kit_draw(&k, 22, 80));
    check_hints(&k, "Enter p K ");
    flock(fd, LOCK_UN);
    close(fd);
    kit_run(&k, name, "state=done");
    kit_turn(&k, true);
    free(kit_draw(&k, 22, 80));
    check_hints(&k, "e R r ");
    kit_run(&k, name, "state=diverged");
    kit_turn(&k, true);
    free(kit_draw(&k, 22, 80));
    check_hints(&k, "e r ");
    kit_run(&k, name, "state=done reason=max_steps");
    kit_turn(&k, true);
    free(kit_draw(&k, 22, 80));
    check_hints(&k, "e r ");
    k.app.own = mem_new(1, sizeof *k.app.own);
    kit_keys(&k, "R");
    CHECK_STR(k.app.own->said,
              "It is done, ended by max_steps: more epochs change nothing; r runs it again.");
    free(k.app.own);
    free(path);
    kit_end(&k);
}

/* Of a column of words no sliver is drawn, and what has no room is counted. */
TEST(columns_without_room_are_counted)
{
    struct kit k;
    char *text;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-lenet-0001", "lr=0.1 best_test_acc=0.90");
    kit_run(&k, "2026-10-29-100001-000-cnn-ens2-0002",
            "model=cnn mode=ensemble devices=2 members=2 lr=0.2 best_test_acc=0.92");
    kit_open(&k, &screen_results, SCREEN_RESULTS);
    for (int columns = 60; columns < 120; columns++) {
        text = kit_draw(&k, 22, columns);
        CHECK(!strstr(text, " d…") && !strstr(text, " da…") && !strstr(text, " dat…"));
        CHECK(!strstr(text, " m…") && !strstr(text, " m›"));
        free(text);
    }
    text = kit_draw(&k, 22, 80);
    CHECK_HAS(text, " lr "); /* the numbers before the mode, which names tell */
    CHECK_HAS(text, "›│");
    CHECK_HAS(text, " 3 more columns: Right ─╯");
    free(text);
    CHECK(!strstr(text = kit_draw(&k, 22, 160), "more column"));
    free(text);
    kit_end(&k);
}

TEST(any_size_is_drawn)
{
    struct kit k;

    some_runs(&k);
    for (int rows = 0; rows < 40; rows += rows < 8 ? 1 : 5)
        for (int columns = 0; columns < 200; columns += columns < 8 ? 1 : 23) {
            free(kit_draw(&k, rows, columns));
            kit_keys(&k, rows % 2 ? "Right Down v" : "Left Up");
        }
    CHECK(kit_shows(&k, "runs"));
    kit_end(&k);
}

TEST(what_is_written_is_what_is_seen)
{
    struct kit k;
    struct text out = {0};
    struct err e = {0};

    some_runs(&k);
    set_filter(k.state, "lr=0.1");
    REQUIRE_OK(kit_write(k.screen, k.state, "csv", &out, &e));
    CHECK(!strncmp(text_str(&out), "run,state,best_test_acc,seed,", 29));
    CHECK(strstr(text_str(&out), "\n2026-10-29-100001-000-lenet-0002,done,0.92,1,") != NULL);
    text_clear(&out);
    kit_keys(&k, "v");
    REQUIRE_OK(kit_write(k.screen, k.state, "csv", &out, &e));
    CHECK(!strncmp(text_str(&out), "run,n,best_test_acc,best_test_acc_sd,", 37));
    text_clear(&out);
    set_filter(k.state, "none-such");
    CHECK(kit_write(k.screen, k.state, "md", &out, &e) == ERR_INPUT);
    text_free(&out);
    kit_end(&k);
}
