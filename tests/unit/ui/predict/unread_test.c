/* What is not read yet: Predict says so and takes a run as soon as it can; Log reads what was chosen last. */
#include "tests/unit/ui/runs_kit.h"

#include "ui/app/app_int.h"
#include "ui/app/screens.h"
#include "ui/predict/predictview_int.h"

static void hear(void *user, const char *verb, const char *line)
{
    (void)user;
    (void)verb;
    (void)line;
}

TEST(a_run_is_taken_when_the_runs_have_come)
{
    struct kit k;
    struct predictview *v;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-lenet-0001", "seed=0");
    k.app.jobs = jobs_new("/bin/false", hear, NULL);
    kit_open(&k, NULL, SCREEN_PREDICT);
    library_free(k.app.library);
    k.app.library = library_new(k.folder, k.app.tasks);
    k.screen = &screen_predict;
    k.state = v = screen_predict.open(&k.app);
    screen_predict.show(v);
    CHECK(kit_shows(&k, "Reading the runs"));
    CHECK(!v->run);
    kit_turn(&k, true);
    REQUIRE(v->run);
    CHECK_STR(v->run, "2026-10-29-100000-000-lenet-0001");
    kit_end(&k);
    jobs_free(k.app.jobs);
}

TEST(the_first_epoch_is_waited_for)
{
    struct kit k;
    struct predictview *v;

    kit_begin(&k);
    kit_run(&k, "2026-10-29-100000-000-lenet-0001", "epochs_done=0 state=stopped");
    k.app.jobs = jobs_new("/bin/false", hear, NULL);
    kit_open(&k, &screen_predict, SCREEN_PREDICT);
    v = k.state;
    CHECK(kit_shows(&k, "none has trained an epoch yet"));
    kit_run(&k, "2026-10-29-100000-000-lenet-0001", "epochs_done=1 state=stopped epochs=40");
    kit_turn(&k, true);
    CHECK(v->run != NULL);
    kit_end(&k);
    jobs_free(k.app.jobs);
}

/* No clock passes here: nothing is looked at again for its age. */
TEST(a_log_chosen_while_another_is_read_is_the_next_to_be_read)
{
    static const char *const runs[] = {"2026-10-29-100000-000-lenet-0001",
                                       "2026-10-29-100000-000-lenet-0002"};
    struct kit k;

    kit_begin(&k);
    k.app.own = mem_new(1, sizeof *k.app.own);
    for (int i = 0; i < 2; i++) {
        kit_run(&k, runs[i], "seed=0");
        kit_put(&k, runs[i], "log.txt", i ? "words of the second\n" : "words of the first\n");
        app_log_from(&k.app, LOG_INFO, runs[i], "done");
    }
    kit_open(&k, &screen_log, SCREEN_LOG);
    CHECK(kit_shows(&k, "2 lines"));
    kit_keys(&k, "Up L");
    CHECK(kit_shows(&k, "words of the first"));
    kit_keys(&k, "L");
    CHECK(kit_shows(&k, "2 lines"));
    kit_keys(&k, "Up L L L"); /* the first again, and before it is there the newest */
    CHECK(kit_shows(&k, "words of the second"));
    kit_end(&k);
    for (size_t i = 0; i < k.app.own->lines; i++) {
        free(k.app.own->line[i].from);
        free(k.app.own->line[i].text);
    }
    free(k.app.own);
}
