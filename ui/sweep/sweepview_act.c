/* What is done to a sweep from its screen. */
#include "ui/sweep/sweepview_int.h"

#include "base/log.h"
#include "base/mem.h"
#include "ui/app/claim.h"
#include "ui/app/runkeys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_paused(const struct sweepview *v)
{
    return wire_sweep_is_paused(sweepview_is(v));
}

/* ---- going on ---- */

struct going { /* while the machine is claimed for it */
    struct sweepview *view;
    char *name;
    size_t asked; /* the cell that it is about */
    sweepview_deed *act;
};

static void begin_going(void *user, enum claim_how how, bool elsewhere)
{
    struct going *g = user;
    struct sweepview *v = g->view;
    size_t asked = v->asked; /* of a question that has come since */

    (void)elsewhere;
    if (how == CLAIM_NOW && sweepview_still_shown(v, g->name)) {
        sweepview_merge(v);
        v->asked = g->asked;
        if (sweepview_works(v))
            g->act(v);
        v->asked = asked;
    }
    free(g->name);
    free(g);
}

void sweepview_let_act(struct sweepview *v, sweepview_deed *act)
{
    struct going *g;

    if (!wire_sweep_has_paused(sweepview_is(v))) {
        act(v);
        return;
    }
    g = mem_new(1, sizeof *g);
    *g = (struct going){.view = v, .name = mem_text(v->name), .asked = v->asked, .act = act};
    claim_machine(v->app, false, begin_going, g); /* what is paused keeps its process */
}

static void tell(struct sweepview *v, enum wire_wish wish, const char *said)
{
    if (v->own)
        sweepview_send(v, (struct wire_command){.kind = WIRE_WISH, .wish = wish});
    else
        sweepview_control(v, wire_wish_line(wish), said);
}

/* Also where it was told to stop. */
static void let_go(struct sweepview *v)
{
    enum wire_wish was = sweepview_is(v)->wish;

    if (!is_paused(v) && !wire_wish_stops_later(was)) /* any more */
        return;
    sweepview_did(v, "go", "");
    tell(v, WIRE_WISH_RUN,
         was == WIRE_WISH_STOP_EPOCH   ? "to go on after this epoch too"
         : was == WIRE_WISH_STOP_CELLS ? "to begin further cells again"
                                       : "to go on");
}

static void pause_sweep(struct sweepview *v)
{
    if (!sweepview_works(v))
        return;
    if (is_paused(v)) {
        sweepview_let_act(v, let_go);
        return;
    }
    sweepview_did(v, "pause", "");
    tell(v, WIRE_WISH_PAUSE, "to pause");
}

/* ---- stops ---- */

enum { CANCEL = WIRE_WISHES }; /* an answer that is no wish */

static void stop(struct sweepview *v, enum wire_wish wish)
{
    bool cells = wish == WIRE_WISH_STOP_CELLS, epoch = wish == WIRE_WISH_STOP_EPOCH;

    sweepview_did(v, "stop", cells ? "--after-cells" : epoch ? "--after-epoch" : "");
    tell(v, wish,
         cells   ? "to stop after the running cells; R takes that back"
         : epoch ? "to stop after this epoch; R takes that back"
                 : "to stop now; R goes on with it");
    if (v->own && (cells || epoch))
        app_log_from(v->app, LOG_INFO, v->sweep->now->name,
                     cells ? "the sweep stops after the running cells"
                           : "stopping after this epoch; R takes that back");
}

static void stop_after_cells(struct sweepview *v)
{
    stop(v, WIRE_WISH_STOP_CELLS);
}

static void stop_after_epoch(struct sweepview *v)
{
    stop(v, WIRE_WISH_STOP_EPOCH);
}

static void stop_chosen(void *user, int answer)
{
    struct sweepview *v = user;
    int deed = answer < 0 ? CANCEL : v->choice[answer];

    if (deed == CANCEL || !sweepview_still_asked(v))
        return;
    sweepview_merge(v);
    if (!sweepview_works(v))
        return;
    if (deed == WIRE_WISH_STOP)
        stop(v, WIRE_WISH_STOP);
    else
        sweepview_let_act(v, deed == WIRE_WISH_STOP_CELLS   ? stop_after_cells
                             : deed == WIRE_WISH_STOP_EPOCH ? stop_after_epoch
                                                            : let_go);
}

static void offer(struct sweepview *v, const char **answers, int deed, const char *words)
{
    size_t n = 0;

    while (answers[n])
        n++;
    v->choice[n] = deed;
    answers[n] = words;
}

/* What waits for room on the disk comes to no end of an epoch; of a stop at the end of this epoch nothing but
 * one at once is sooner. */
static void stop_sweep(struct sweepview *v)
{
    const char *answers[SWEEPVIEW_CHOICES + 1] = {NULL};
    bool waits, stops, ends;
    struct text question = {0};

    if (!sweepview_works(v))
        return;
    waits = wire_sweep_lacks_room(sweepview_is(v));
    stops = !waits && wire_wish_stops_later(sweepview_is(v)->wish);
    ends = stops && sweepview_is(v)->wish == WIRE_WISH_STOP_EPOCH;
    sweepview_remember_asked(v);
    text_add(&question, waits   ? "Stop this sweep? It waits for room on the disk."
                        : ends  ? "It stops after this epoch. Something else?"
                        : stops ? "It stops after the running cells. Something else?"
                                : "Stop this sweep? What has no result yet is kept for later.");
    if (v->own)
        app_open(v->app, SCREEN_SETUP,
                 &(struct screen_request){.what = SCREEN_ADD_NEXT, .words = &question});
    if (stops)
        offer(v, answers, WIRE_WISH_RUN, RUNKEYS_SWEEP_BACK);
    else if (!waits)
        offer(v, answers, WIRE_WISH_STOP_CELLS, "after the running cells");
    if (!waits && !ends)
        offer(v, answers, WIRE_WISH_STOP_EPOCH, "end of this epoch");
    offer(v, answers, WIRE_WISH_STOP, "now; R goes on with it");
    offer(v, answers, CANCEL, "cancel");
    app_ask(v->app, text_str(&question), answers, stop_chosen, v);
    text_free(&question);
}

enum how_far { GO_ON, GO_TO_END, TRY_FAILED }; /* to its end: whatever --max-cells left, too */

struct starting { /* a sweep, while the machine is claimed for it */
    struct sweepview *view;
    struct wire_sweep *start;
    size_t bytes;
    char option[48]; /* of the command that does the same */
};

static void begin_sweep(void *user, enum claim_how how, bool elsewhere)
{
    struct starting *b = user;
    struct sweepview *v = b->view;
    struct err e;

    (void)elsewhere;
    if (how == CLAIM_NOW && !feed_start_sweep(v->app->feed, b->start, b->bytes, &e)) {
        app_say(v->app, GRID_BAD, "%s", e.text);
    } else if (how == CLAIM_NOW) {
        const char *name = b->start->name;

        app_did(v->app, "resume", &name, 1, b->option);
        app_say(v->app, GRID_GOOD, "%s goes on.", name);
        v->failed_again = b->start->failed;
        v->merged_ns = 0;
    }
    free(b->start);
    free(b);
}

/* Behind what runs here already. */
static void queue_sweep(struct sweepview *v, const struct record_queue_options *o)
{
    struct record_queue_options options = *o;

    snprintf(options.name, sizeof options.name, "%s", v->sweep->now->name);
    options.alone = false;
    app_open(v->app, SCREEN_SETUP,
             &(struct screen_request){
                 .what = SCREEN_QUEUE_SWEEP, .sweep = &v->sweep->now->spec, .options = &options});
}

static void start_sweep(struct sweepview *v, enum how_far far)
{
    const struct sweepview_sweep *s = v->sweep;
    struct record_queue_options options = s->now->options;
    struct starting *b;
    struct wire_sweep *start;

    options.failed = far == TRY_FAILED;
    if (far == GO_TO_END)
        options.max_cells = (int64_t)live_sweep_possible(s->now);
    if (feed_busy(v->app->feed)) {
        queue_sweep(v, &options);
        return;
    }
    b = mem_new(1, sizeof *b);
    b->view = v;
    b->start = start = wire_sweep_new(&s->now->spec, s->now->name, &b->bytes);
    start->grid = options.grid;
    start->failed = options.failed;
    start->jobs = (int32_t)options.jobs;
    start->max_cells = options.max_cells;
    if (far == TRY_FAILED)
        snprintf(b->option, sizeof b->option, "--failed");
    else if (far == GO_TO_END)
        snprintf(b->option, sizeof b->option, "--max-cells %lld", (long long)options.max_cells);
    claim_machine(v->app, false, begin_sweep, b);
}

static void rest_chosen(void *user, int answer)
{
    struct sweepview *v = user;

    if (answer == 0 && sweepview_still_asked(v))
        start_sweep(v, GO_TO_END);
}

static void ask_for_rest(struct sweepview *v)
{
    static const char *const answers[] = {"the rest too", "cancel", NULL};
    struct text question = {0};

    text_add(&question, "What was asked for is done; ");
    sweepview_add_beyond(v->sweep, &question);
    text_add(&question, ". Go on with the rest?");
    sweepview_remember_asked(v);
    app_ask(v->app, text_str(&question), answers, rest_chosen, v);
    text_free(&question);
}

static void go_on(struct sweepview *v)
{
    bool lives = v->own || v->sweep->now->live;

    if (lives && (is_paused(v) || wire_wish_stops_later(sweepview_is(v)->wish)))
        sweepview_let_act(v, let_go);
    else if (lives)
        app_say(v->app, GRID_DIM, RUNKEYS_AT_WORK);
    else if (live_sweep_open(v->sweep->now))
        start_sweep(v, GO_ON);
    else if (live_sweep_beyond(v->sweep->now))
        ask_for_rest(v);
    else
        app_say(
            v->app, GRID_DIM,
            "No cell waits: each has its result, or was dropped; F trains those again that have no "
            "good end.");
}

static void again_chosen(void *user, int answer)
{
    struct sweepview *v = user;

    if (answer == 0 && sweepview_still_asked(v))
        start_sweep(v, TRY_FAILED);
}

static void failed_again(struct sweepview *v)
{
    static const char *const answers[] = {"train them again", "cancel", NULL};
    size_t n = live_sweep_failed(v->sweep->now, false);
    struct text words = {0};

    if (v->own || v->sweep->now->live) {
        app_say(v->app, GRID_DIM, "It is at work: stop it first, or wait for its end.");
        return;
    }
    if (n)
        text_addf(&words, "Train %s cell%s without a good end again?", TEXT_COUNT(n), text_s(n));
    else
        text_add(&words, "No cell failed, diverged, ran out of memory or was dropped.");
    sweepview_add_failed_beyond(v->sweep, &words);
    sweepview_remember_asked(v);
    if (n)
        app_ask(v->app, text_str(&words), answers, again_chosen, v);
    else
        app_say(v->app, GRID_DIM, "%s", text_str(&words));
    text_free(&words);
}

bool sweepview_act(struct sweepview *v, int32_t code)
{
    switch (code) {
    case 'p':
        pause_sweep(v);
        return true;
    case 'K':
        stop_sweep(v);
        return true;
    case 'R':
        go_on(v);
        return true;
    case 'F':
        failed_again(v);
        return true;
    default:
        return false;
    }
}
