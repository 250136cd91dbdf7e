/* ui/run/runview_stop.c: K: what is asked before a run is stopped, the answers, and how a stop is taken back. */
#include "ui/run/runview_int.h"

#include "base/mem.h"
#include "study/compare.h"
#include "ui/app/runkeys.h"

#include <stdlib.h>
#include <string.h>

enum { DROP = WIRE_WISHES, CANCEL }; /* answers that are no wishes */

/* What is told to a cell of this program is told to its sweep; another's sweep hears of no cell's stop. */
static void tell(struct runview *v, struct feed_run *run, enum wire_wish wish, const char *said)
{
    bool all = feed_is_cell(run) && (run->own || wish == WIRE_WISH_RUN);
    struct wire_sweep_status is = {0};
    const char *name = run->name;
    struct err e = {0};

    all = all && feed_sweep_of(v->app->feed, run, &is);
    if (all)
        name = is.name;
    app_did(v->app, wish == WIRE_WISH_RUN ? "go" : "stop", &name, 1,
            wish == WIRE_WISH_STOP_EPOCH   ? "--after-epoch"
            : wish == WIRE_WISH_STOP_CELLS ? "--after-cells"
                                           : "");
    runview_promise(v, run, said, false);
    if (run->own)
        runview_answer_for(v, run, feed_wish_all(v->app->feed, run, wish, &e), &e, said);
    else
        runview_tell(v, run, all ? name : NULL, wire_wish_line(wish), said);
}

static void stop_after_epoch(struct runview *v, struct feed_run *run)
{
    tell(v, run, WIRE_WISH_STOP_EPOCH,
         run->state == WIRE_PAUSED ? RUNVIEW_GOES_TO_STOP : RUNVIEW_STOPS_LATER);
}

static void stop_after_cells(struct runview *v, struct feed_run *run)
{
    tell(v, run, WIRE_WISH_STOP_CELLS, RUNVIEW_SWEEP_STOPS_LATER);
}

static void stop_now(struct runview *v, struct feed_run *run)
{
    bool cell = feed_is_cell(run);

    tell(v, run, WIRE_WISH_STOP,
         cell && run->own ? "stopping the sweep; R on Sweep goes on with it"
         : cell && feed_goes_on(v->app->feed, run)
             ? "stopping this cell; the sweep goes on with the next one"
         : cell                               ? "stopping this cell; R goes on with it"
         : run->state == WIRE_WAITING         ? "taking it out"
         : feed_lacks_room(v->app->feed, run) ? "stopping; R goes on from its last checkpoint"
                                              : "stopping after this step; R goes on with it");
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

static void take_stop_back(struct runview *v, struct feed_run *run)
{
    struct wire_sweep_status is = {0};

    if (feed_is_cell(run) && !feed_sweep_of(v->app->feed, run, &is))
        return;
    tell(v, run, WIRE_WISH_RUN,
         is.wish == WIRE_WISH_STOP_CELLS ? "the sweep goes on: further cells begin"
                                         : RUNVIEW_TAKEN_BACK);
}

void runview_let_go(struct runview *v, struct feed_run *run)
{
    runview_let_act(v, run, take_stop_back);
}

/* What the box offered may have been done meanwhile. */
static void stop_chosen(void *user, int answer)
{
    struct runview *v = user;
    struct feed_run *run = runview_run(v);
    int deed = answer < 0 ? CANCEL : v->choice[answer];

    if (deed == CANCEL || !runview_same_run(v) || !runview_must_work(v, run))
        return;
    if (deed == WIRE_WISH_RUN && feed_stops_later(v->app->feed, run))
        runview_let_go(v, run);
    else if (deed == WIRE_WISH_STOP_EPOCH)
        runview_let_act(v, run, stop_after_epoch);
    else if (deed == WIRE_WISH_STOP_CELLS)
        runview_let_act(v, run, stop_after_cells);
    else if (deed == DROP && feed_goes_on(v->app->feed, run)) /* another one begins in its place */
        runview_let_act(v, run, drop_cell);
    else if (deed == DROP)
        drop_cell(v, run);
    else if (deed == WIRE_WISH_STOP)
        stop_now(v, run);
}

struct answers {
    const char *words[RUNVIEW_CHOICES + 1];
    int n;
};

static void offer(struct runview *v, struct answers *a, int deed, const char *words)
{
    v->choice[a->n] = deed;
    a->words[a->n++] = words;
}

#define STOP_SWEEP "stop the sweep now; R on Sweep goes on with it"

/* What gives something up is not the first: Enter takes that. */
static void offer_of_cell(struct runview *v, const struct feed_run *run, struct answers *a)
{
    bool goes_on = feed_goes_on(v->app->feed, run), stops = feed_stops_later(v->app->feed, run);

    if (run->own && feed_lacks_room(v->app->feed, run)) {
        offer(v, a, WIRE_WISH_STOP, STOP_SWEEP);
        offer(v, a, CANCEL, "cancel");
        return;
    }
    if (stops)
        offer(v, a, WIRE_WISH_RUN, RUNKEYS_SWEEP_BACK);
    else if (run->own)
        offer(v, a, WIRE_WISH_STOP_CELLS, "after the running cells");
    else
        offer(v, a, CANCEL, "cancel");
    offer(v, a, DROP, goes_on ? "drop this cell, the sweep goes on" : "drop this cell alone");
    offer(v, a, WIRE_WISH_STOP,
          run->own  ? STOP_SWEEP
          : goes_on ? "stop it now: R goes on with it, the sweep with the next"
                    : "stop it now: R goes on with it");
    if (run->own || stops)
        offer(v, a, CANCEL, "cancel");
}

static void offer_of_run(struct runview *v, const struct feed_run *run, struct answers *a)
{
    bool full = feed_lacks_room(v->app->feed, run);

    if (!full && feed_stops_later(v->app->feed, run))
        offer(v, a, WIRE_WISH_RUN, "take the stop back: it goes on");
    else if (!full && run->state != WIRE_WAITING)
        offer(v, a, WIRE_WISH_STOP_EPOCH,
              run->state == WIRE_PAUSED ? "after this epoch: it goes on to its end, and stops there"
                                        : "after this epoch");
    offer(v, a, WIRE_WISH_STOP,
          full                         ? "now; R goes on from its last checkpoint"
          : run->state == WIRE_WAITING ? "take it out"
                                       : "now; R goes on with it");
    offer(v, a, CANCEL, "cancel");
}

void runview_ask_stop(struct runview *v, struct feed_run *run)
{
    bool of_sweep = feed_is_cell(run);
    struct answers a = {0};
    struct text question = {0};

    if (!runview_must_work(v, run))
        return;
    free(v->told);
    v->told = mem_text(run->path);
    text_addf(&question, "Stop %s",
              TEXT_CLEAN(run->name[0] ? study_short_name(run->name) : "the run that waits"));
    if (of_sweep && run->sweep_name[0])
        text_addf(&question, ", a cell of the sweep %s", TEXT_CLEAN(run->sweep_name));
    text_add(&question, "?");
    if (feed_lacks_room(v->app->feed, run))
        text_add(&question, " It waits for room on the disk.");
    else if (feed_stops_later(v->app->feed, run))
        text_add(&question, of_sweep ? " The sweep was told to stop already."
                                     : " It stops after this epoch already.");
    if (run->own && run->state != WIRE_WAITING)
        app_open(v->app, SCREEN_SETUP,
                 &(struct screen_request){.what = SCREEN_ADD_NEXT, .words = &question});
    app_ask_end(v->app, stop_chosen);
    if (of_sweep)
        offer_of_cell(v, run, &a);
    else
        offer_of_run(v, run, &a);
    app_ask(v->app, text_str(&question), a.words, stop_chosen, v);
    text_free(&question);
}
