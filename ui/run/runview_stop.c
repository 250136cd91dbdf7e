/* ui/run/runview_stop.c: K: what is asked before a run is stopped, the answers, and how a stop is taken back. */
#include "ui/run/runview_int.h"

#include "base/mem.h"
#include "study/compare.h"
#include "ui/app/runkeys.h"

#include <stdlib.h>
#include <string.h>

/* What is told to a cell of this program's sweep stops the sweep. */
static void did_stop(struct runview *v, const struct feed_run *run, enum wire_wish wish)
{
    const char *behind = wish == WIRE_WISH_STOP_EPOCH   ? "--after-epoch"
                         : wish == WIRE_WISH_STOP_CELLS ? "--after-cells"
                                                        : "";
    struct text sweep = {0};
    const char *name = run->name;

    if (run->own)
        feed_add_name(v->app->feed, run->sweep, &sweep);
    if (sweep.n)
        name = text_str(&sweep);
    app_did(v->app, "stop", &name, 1, behind);
    text_free(&sweep);
}

static void stop_with(struct runview *v, struct feed_run *run, enum wire_wish wish,
                      const char *said)
{
    struct err e = {0};

    did_stop(v, run, wish);
    runview_promise(v, run, said, false);
    if (run->own)
        runview_answer_for(v, run, feed_wish_all(v->app->feed, run, wish, &e), &e, said);
    else
        runview_tell_other(v, run, wire_wish_line(wish), said);
}

static void stop_after_epoch(struct runview *v, struct feed_run *run)
{
    stop_with(v, run, WIRE_WISH_STOP_EPOCH,
              run->state == WIRE_WAITING  ? "taking it out"
              : run->state == WIRE_PAUSED ? RUNVIEW_GOES_TO_STOP
                                          : RUNVIEW_STOPS_LATER);
}

static void stop_after_cells(struct runview *v, struct feed_run *run)
{
    stop_with(v, run, WIRE_WISH_STOP_CELLS, RUNVIEW_SWEEP_STOPS_LATER);
}

static void stop_run(void *user, int answer)
{
    struct runview *v = user;
    struct feed_run *run = runview_run(v);

    if (answer < 0 || answer > 1 || !runview_same_run(v) || !runview_must_work(v, run))
        return;
    if (answer == 0)
        runview_let_act(v, run, stop_after_epoch);
    else
        stop_with(v, run, WIRE_WISH_STOP, "stopping after this step; R goes on with it");
}

static void drop_cell(struct runview *v, struct feed_run *run)
{
    struct err e = {0};

    runview_did(v, run, "stop", "--skip");
    if (run->own)
        runview_answer_for(v, run, feed_skip(v->app->feed, run, &e), &e, "dropping this cell");
    else
        runview_tell_other(v, run, "skip", "dropping this cell");
}

static void stop_cell(void *user, int answer)
{
    struct runview *v = user;
    struct feed_run *run = runview_run(v);

    if (answer < 0 || answer > 2 || !runview_same_run(v) || !runview_must_work(v, run))
        return;
    if (answer == 0 && run->own)
        runview_let_act(v, run, stop_after_cells);
    else if (answer == 1 && feed_goes_on(v->app->feed, run)) /* another one begins in its place */
        runview_let_act(v, run, drop_cell);
    else if (answer == 1)
        drop_cell(v, run);
    else if (answer == 2 && run->own)
        stop_with(v, run, WIRE_WISH_STOP, "stopping the sweep; R on Sweep goes on with it");
    else if (answer == 2)
        stop_with(v, run, WIRE_WISH_STOP,
                  feed_goes_on(v->app->feed, run)
                      ? "stopping this cell; the sweep goes on with the next one"
                      : "stopping this cell; R goes on with it");
}

/* A cell's stop is its sweep's. */
static void take_stop_back(struct runview *v, struct feed_run *run)
{
    struct wire_sweep_status is = {0};
    bool cell = feed_is_cell(run);
    const char *said = RUNVIEW_TAKEN_BACK, *name = cell ? is.name : run->name;
    struct err e = {0};

    if (cell && !feed_sweep_of(v->app->feed, run, &is))
        return;
    if (is.wish == WIRE_WISH_STOP_CELLS)
        said = "the sweep goes on: further cells begin";
    app_did(v->app, "go", &name, 1, "");
    if (!cell)
        runview_promise(v, run, said, false);
    if (run->own)
        runview_answer_for(v, run, feed_wish_all(v->app->feed, run, WIRE_WISH_RUN, &e), &e, said);
    else
        runview_tell(v, run, cell ? is.name : NULL, wire_wish_line(WIRE_WISH_RUN), said);
}

void runview_let_go(struct runview *v, struct feed_run *run)
{
    runview_let_act(v, run, take_stop_back);
}

/* Of boxes that offered to take the stop back, which may have been done meanwhile. */
static void take_back_if_asked(struct runview *v)
{
    struct feed_run *run = runview_run(v);

    if (runview_same_run(v) && runview_must_work(v, run) && feed_stops_later(v->app->feed, run))
        runview_let_go(v, run);
}

static void stop_run_again(void *user, int answer)
{
    if (answer == 0)
        take_back_if_asked(user);
    else
        stop_run(user, answer);
}

/* Of what waits for room on the disk, which comes to no end of an epoch. */
static void stop_full(void *user, int answer)
{
    struct runview *v = user;
    struct feed_run *run = runview_run(v);

    if (answer == 0 && runview_same_run(v) && runview_must_work(v, run))
        stop_with(v, run, WIRE_WISH_STOP, "stopping; R goes on from its last checkpoint");
}

static void stop_full_cell(void *user, int answer)
{
    if (answer == 0)
        stop_cell(user, 2);
}

static void stop_cell_again(void *user, int answer)
{
    if (answer == 0)
        take_back_if_asked(user);
    else
        stop_cell(user, answer);
}

#define STOP_SWEEP "stop the sweep now; R on Sweep goes on with it"

static void ask_stop_of_cell(struct runview *v, const struct feed_run *run, const char *question)
{
    static const char *const full[] = {STOP_SWEEP, "cancel", NULL};
    bool goes_on = feed_goes_on(v->app->feed, run), stops = feed_stops_later(v->app->feed, run);
    const char *drop = goes_on ? "drop this cell, the sweep goes on" : "drop this cell alone";
    const char *stop = goes_on ? "stop it now: R goes on with it, the sweep with the next"
                               : "stop it now: R goes on with it";
    /* what gives something up is not the first: Enter takes that */
    const char *const cell[] = {stops ? RUNKEYS_SWEEP_BACK : "after the running cells", drop,
                                STOP_SWEEP, "cancel", NULL};
    const char *const foreign[] = {stops ? RUNKEYS_SWEEP_BACK : "cancel", drop, stop,
                                   stops ? "cancel" : NULL, NULL};

    if (run->own && feed_lacks_room(v->app->feed, run))
        app_ask(v->app, question, full, stop_full_cell, v);
    else
        app_ask(v->app, question, run->own ? cell : foreign, stops ? stop_cell_again : stop_cell,
                v);
}

static void ask_stop_of_run(struct runview *v, const struct feed_run *run, const char *question)
{
    static const char *const plain[] = {"after this epoch", "now; R goes on with it", "cancel",
                                        NULL};
    static const char *const paused[] = {"after this epoch: it goes on to its end, and stops there",
                                         "now; R goes on with it", "cancel", NULL};
    static const char *const again[] = {"take the stop back: it goes on", "now; R goes on with it",
                                        "cancel", NULL};
    static const char *const waits[] = {"take it out", "cancel", NULL};
    static const char *const full[] = {"now; R goes on from its last checkpoint", "cancel", NULL};

    if (feed_lacks_room(v->app->feed, run))
        app_ask(v->app, question, full, stop_full, v);
    else if (feed_stops_later(v->app->feed, run))
        app_ask(v->app, question, again, stop_run_again, v);
    else
        app_ask(v->app, question,
                run->state == WIRE_WAITING  ? waits
                : run->state == WIRE_PAUSED ? paused
                                            : plain,
                stop_run, v);
}

void runview_ask_stop(struct runview *v, struct feed_run *run)
{
    static void (*const earlier[])(void *user, int answer) = {
        stop_run, stop_run_again, stop_full, stop_cell, stop_cell_again, stop_full_cell};
    bool of_sweep = feed_is_cell(run);
    struct text question = {0};

    if (!runview_must_work(v, run))
        return;
    free(v->told);
    v->told = mem_text(run->path);
    text_add(&question, "Stop ");
    text_add_clean(&question, run->name[0] ? study_short_name(run->name) : "the run that waits");
    if (of_sweep && run->sweep_name[0]) {
        text_add(&question, ", a cell of the sweep ");
        text_add_clean(&question, run->sweep_name);
    }
    text_add(&question, "?");
    if (feed_lacks_room(v->app->feed, run))
        text_add(&question, " It waits for room on the disk.");
    else if (feed_stops_later(v->app->feed, run))
        text_add(&question, of_sweep ? " The sweep was told to stop already."
                                     : " It stops after this epoch already.");
    if (run->own && run->state != WIRE_WAITING)
        app_open(v->app, SCREEN_SETUP,
                 &(struct screen_request){.what = SCREEN_ADD_NEXT, .words = &question});
    for (size_t i = 0; i < MEM_COUNT(earlier); i++)
        app_ask_end(v->app, earlier[i]);
    if (of_sweep)
        ask_stop_of_cell(v, run, text_str(&question));
    else
        ask_stop_of_run(v, run, text_str(&question));
    text_free(&question);
}
