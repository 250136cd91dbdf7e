/* Predict, opened before the runs have been read: it says so, and takes one as soon as it can. */
#include "ui_runs_kit.h"

#include "ui/predictview_int.h"

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
