/* ui/runview_tell.c: what a run is told: to pause, to go on, to stop. Whatever may wait is done by
 * tasks. */
#include "ui/runview_int.h"

#include "base/mem.h"
#include "record/sweeps.h"
#include "study/compare.h"
#include "ui/claim.h"
#include "ui/runkeys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EPOCHS 1000000 /* as of the key */

/* ---- another process ---- */

struct tell {
    struct runview *v;
    uint64_t id; /* of the run */
    char *path;
    char *results, *sweep; /* the sweep is told, not the run; NULL */
    char *line, *said;
    enum err_code code;
    struct err e;
};

static void tell_work(void *arg)
{
    struct tell *t = arg;

    t->code = t->sweep ? record_sweep_control(t->results, t->sweep, t->line, &t->e)
                       : record_control(t->path, t->line, &t->e);
}

/* What it was not told does not come true. */
static void break_promise(struct runview *v, uint64_t id)
{
    if (v->promise.id == id)
        v->promise.said = NULL;
}

static void tell_done(void *arg, bool dropped)
{
    struct tell *t = arg;

    if (!dropped && t->code != ERR_OK) {
        break_promise(t->v, t->id);
        app_say(t->v->app, GRID_BAD, "%s", t->e.text);
    } else if (!dropped) {
        app_say(t->v->app, GRID_WARN, "%s", t->said);
    }
    free(t->path);
    free(t->results);
    free(t->sweep);
    free(t->line);
    free(t->said);
    free(t);
}

static void tell(struct runview *v, const struct feed_run *run, const char *sweep, const char *line,
                 const char *said)
{
    struct tell *t = mem_new(1, sizeof *t);

    t->v = v;
    t->id = run->id;
    t->path = mem_text(run->path);
    t->results = mem_text(v->app->config.results);
    t->sweep = sweep ? mem_text(sweep) : NULL;
    t->line = mem_text(line);
    t->said = mem_text(said);
    tasks_add_slow(v->app->tasks, tell_work, tell_done, t);
}

static void tell_other(struct runview *v, const struct feed_run *run, const char *line,
                       const char *said)
{
    tell(v, run, NULL, line, said);
}

bool runview_at_work(const struct feed_run *run)
{
    return !wire_state_ended(run->state) && !run->dead && !run->broken;
}

bool runview_unread(const struct feed_run *run)
{
    return !run->own && !run->known && !run->broken && !run->removed;
}

bool runview_is_average(const struct feed_run *run)
{
    return run->averaged && run->facts.mode == SPEC_ENSEMBLE;
}

static void say_broken(struct runview *v, const struct feed_run *run)
{
    if (run->removed)
        app_say(v->app, GRID_WARN, FEED_REMOVED);
    else
        app_say(v->app, GRID_WARN, "it cannot be read: %s", run->reason);
}

static bool must_work(struct runview *v, const struct feed_run *run)
{
    if (runview_at_work(run))
        return true;
    if (run->broken)
        say_broken(v, run);
    else if (run->dead)
        app_say(v->app, GRID_WARN, "nobody runs it any more: its process is gone; R goes on");
    else if (run->state == WIRE_STOPPED)
        app_say(v->app, GRID_WARN, "it is stopped already; R goes on");
    else
        app_say(v->app, GRID_WARN, "it has ended: it is %s", wire_state_name(run->state));
    return false;
}

static void promise(struct runview *v, const struct feed_run *run, const char *said, bool pauses)
{
    v->promise.said = said;
    v->promise.id = run->id;
    v->promise.state = run->state;
    v->promise.pauses = pauses;
}

void runview_keep_promise(struct runview *v)
{
    const struct feed_run *run = v->promise.said ? feed_by_id(v->app->feed, v->promise.id) : NULL;

    if (!v->promise.said || (run && run->state == v->promise.state && !run->dead))
        return;
    app_unsay(v->app, v->promise.said);
    v->promise.said = NULL;
}

static void answer_for(struct runview *v, const struct feed_run *run, enum err_code code,
                       const struct err *e, const char *said)
{
    if (code != ERR_OK) {
        break_promise(v, run->id);
        app_say(v->app, GRID_BAD, "%s", e->text);
    } else {
        app_say(v->app, GRID_WARN, "%s", said);
    }
}

static void did(struct runview *v, const struct feed_run *run, const char *verb, const char *behind)
{
    const char *name = run->name;

    app_did(v->app, verb, &name, 1, behind);
}

static bool is_of_sweep(const struct feed_run *run)
{
    return run->sweep || (!run->own && run->sweep_name[0]);
}

/* A cell is not its sweep, which may be paused itself. */
static const char *pause_words(const struct runview *v, const struct feed_run *run, bool go)
{
    if (feed_lacks_room(v->app->feed, run))
        return go ? "it goes on as soon as there is room on the disk"
                  : "it pauses as soon as there is room on the disk";
    if (is_of_sweep(run))
        return go ? "this cell goes on; where its sweep is paused too, p on Sweep lets that go on"
                  : "pausing this cell alone after this step; p on Sweep pauses all of it";
    return go ? "going on" : "pausing after this step";
}

/* ---- stopping ---- */

#define TAKEN_BACK "it goes on: the stop after this epoch is taken back"

/* What a key lets compute again. */
enum going_how {
    GOING_ON,   /* it ended */
    GOING_LET,  /* it is paused, */
    GOING_BACK, /* and does not stop after its epoch any more */
};
static void claim_and_go(struct runview *v, const struct feed_run *run, enum going_how how,
                         int64_t epochs);

/* What is told to a cell of this program's sweep stops the sweep. */
static void did_stop(struct runview *v, const struct feed_run *run, enum wire_how how)
{
    const char *behind = how == WIRE_AFTER_EPOCH   ? "--after-epoch"
                         : how == WIRE_AFTER_CELLS ? "--after-cells"
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

static void stop_with(struct runview *v, enum wire_how how, const char *said)
{
    struct feed_run *run = runview_run(v);
    struct err e = {0};

    if (!run || !must_work(v, run))
        return;
    did_stop(v, run, how);
    promise(v, run, said, false);
    if (run->own)
        answer_for(v, run, feed_stop(v->app->feed, run, how, &e), &e, said);
    else
        tell_other(v, run, how == WIRE_AFTER_EPOCH ? "stop epoch" : "stop step", said);
}

/* Whether the run that was asked about is still the one that is shown; else that is said. */
static bool same_run(struct runview *v)
{
    struct feed_run *run = runview_run(v);

    if (run && v->told && !strcmp(v->told, run->path))
        return true;
    app_say(v->app, GRID_WARN, "nothing was done: another run is shown now");
    return false;
}

static void stop_run(void *user, int answer)
{
    struct runview *v = user;

    if (answer < 0 || answer > 1 || !same_run(v))
        return;
    if (answer == 0)
        stop_with(v, WIRE_AFTER_EPOCH,
                  runview_run(v)->state == WIRE_WAITING
                      ? "taking it out"
                      : "stopping after this epoch; R takes that back");
    else
        stop_with(v, WIRE_AFTER_STEP, "stopping after this step; R goes on with it");
}

/* That of its sweep, where it is a cell of one. */
bool runview_takes_back(const struct runview *v, const struct feed_run *run)
{
    struct wire_sweep_status is;

    return is_of_sweep(run) ? feed_sweep_of(v->app->feed, run, &is) && wire_sweep_takes_back(&is)
                            : feed_ends_epoch(v->app->feed, run);
}

static void take_sweeps_stop_back(struct runview *v, const struct feed_run *run)
{
    struct wire_sweep_status is;
    struct err e = {0};
    const char *said, *sweep = is.name;

    if (!feed_sweep_of(v->app->feed, run, &is))
        return;
    said = is.after_epoch ? TAKEN_BACK : "the sweep goes on: further cells begin";
    app_did(v->app, "go", &sweep, 1, "");
    if (run->own)
        answer_for(v, run, feed_go_on(v->app->feed, run, &e), &e, said);
    else
        tell(v, run, sweep, "go", said);
}

static void stop_cell(void *user, int answer)
{
    struct runview *v = user;
    struct feed_run *run = runview_run(v);
    struct err e = {0};

    if (answer < 0 || answer > 2 || !same_run(v) || !must_work(v, run))
        return;
    if (answer == 1)
        did(v, run, "stop", "--skip");
    if (answer == 0 && run->own)
        stop_with(v, WIRE_AFTER_CELLS, "the sweep stops after its running cells");
    else if (answer == 1 && run->own)
        answer_for(v, run, feed_skip(v->app->feed, run, &e), &e, "dropping this cell");
    else if (answer == 1)
        tell_other(v, run, "skip", "dropping this cell");
    else if (answer == 2 && run->own)
        stop_with(v, WIRE_AFTER_STEP, "stopping the sweep; R on Sweep goes on with it");
    else if (answer == 2)
        stop_with(v, WIRE_AFTER_STEP,
                  feed_goes_on(v->app->feed, run)
                      ? "stopping this cell; the sweep goes on with the next one"
                      : "stopping this cell; R goes on with it");
}

static void take_stop_back(struct runview *v, struct feed_run *run)
{
    struct err e = {0};

    if (is_of_sweep(run)) {
        take_sweeps_stop_back(v, run);
        return;
    }
    if (run->own && run->state == WIRE_PAUSED) {
        claim_and_go(v, run, GOING_BACK, 0);
        return;
    }
    did(v, run, "go", "");
    promise(v, run, TAKEN_BACK, false);
    if (run->own)
        answer_for(v, run, feed_take_stop_back(v->app->feed, run, &e), &e, TAKEN_BACK);
    else /* the first one ends the pause */
        tell_other(v, run, run->state == WIRE_PAUSED ? "go\ngo" : "go", TAKEN_BACK);
}

/* Of boxes that offered to take the stop back, which may have been done meanwhile. */
static void take_back_if_asked(struct runview *v)
{
    struct feed_run *run = runview_run(v);

    if (same_run(v) && must_work(v, run) && runview_takes_back(v, run))
        take_stop_back(v, run);
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

    if (answer == 0 && same_run(v))
        stop_with(v, WIRE_AFTER_STEP, "stopping; R goes on from its last checkpoint");
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
    bool goes_on = feed_goes_on(v->app->feed, run), stops = runview_takes_back(v, run);
    const char *drop = goes_on ? "drop this cell, the sweep goes on" : "drop this cell alone";
    const char *stop = goes_on ? "stop it now: R goes on with it, the sweep with the next"
                               : "stop it now: R goes on with it";
    /* what gives something up is not the first: Enter takes that */
    const char *const cell[] = {stops ? RUNKEYS_SWEEP_BACK
                                      : "running cells to their end, then no more",
                                drop, STOP_SWEEP, "cancel", NULL};
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
    static const char *const again[] = {"take the stop back: it goes on", "now; R goes on with it",
                                        "cancel", NULL};
    static const char *const waits[] = {"take it out", "cancel", NULL};
    static const char *const full[] = {"now; R goes on from its last checkpoint", "cancel", NULL};

    if (feed_lacks_room(v->app->feed, run))
        app_ask(v->app, question, full, stop_full, v);
    else if (runview_takes_back(v, run))
        app_ask(v->app, question, again, stop_run_again, v);
    else
        app_ask(v->app, question, run->state == WIRE_WAITING ? waits : plain, stop_run, v);
}

void runview_ask_stop(struct runview *v, struct feed_run *run)
{
    static void (*const earlier[])(void *user, int answer) = {
        stop_run, stop_run_again, stop_full, stop_cell, stop_cell_again, stop_full_cell};
    bool of_sweep = is_of_sweep(run);
    struct text question = {0};

    if (!must_work(v, run))
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
    else if (runview_takes_back(v, run))
        text_add(&question, of_sweep ? " The sweep was told to stop already."
                            : run->state == WIRE_PAUSED
                                ? " It is paused, and stops at the end of this epoch."
                                : " It stops after this epoch already.");
    if (run->own && run->state != WIRE_WAITING)
        screen_setup_add_next(v->app->screen[SCREEN_SETUP], &question);
    for (size_t i = 0; i < MEM_COUNT(earlier); i++)
        app_ask_end(v->app, earlier[i]);
    if (of_sweep)
        ask_stop_of_cell(v, run, text_str(&question));
    else
        ask_stop_of_run(v, run, text_str(&question));
    text_free(&question);
}

struct going { /* while the machine is claimed for it */
    struct runview *v;
    char *path;
    int64_t epochs; /* 0: as many as it has */
    enum going_how how;
};

static void send_start(struct runview *v, const struct feed_run *run, int64_t epochs)
{
    struct wire_start *start = mem_new(1, sizeof *start);
    const char *name = run->name;
    char more[40] = "";
    struct err e = {0};

    start->spec = run->spec;
    start->epochs = epochs;
    snprintf(start->resume, sizeof start->resume, "%s", run->path);
    if (epochs)
        snprintf(more, sizeof more, "epochs=%lld", (long long)epochs);
    if (feed_start_run(v->app->feed, start, &e)) {
        v->pinned = false;
        app_did(v->app, "resume", &name, 1, more);
        if (v->app->shown != SCREEN_RUN)
            app_show(v->app, SCREEN_RUN);
        app_say(v->app, GRID_GOOD, "%s",
                is_of_sweep(run)
                    ? "it goes on, this cell alone; R on Sweep goes on with all of them"
                    : "it goes on");
    } else {
        app_say(v->app, GRID_BAD, "%s", e.text);
    }
    free(start);
}

static void begin_going(void *user, enum claim_how how, bool elsewhere)
{
    struct going *g = user;
    struct feed_run *run = feed_find(g->v->app->feed, g->path);
    struct err e = {0};

    if (how == CLAIM_BEHIND) {
        screen_setup_queue_run(g->v->app->screen[SCREEN_SETUP], g->path, g->epochs, elsewhere);
    } else if (how == CLAIM_NOW && run && g->how == GOING_ON) {
        send_start(g->v, run, g->epochs);
    } else if (how == CLAIM_NOW && run && run->state == WIRE_PAUSED) {
        const char *said = g->how == GOING_BACK ? TAKEN_BACK : pause_words(g->v, run, true);

        did(g->v, run, "go", "");
        promise(g->v, run, said, false);
        answer_for(g->v, run,
                   g->how == GOING_BACK ? feed_take_stop_back(g->v->app->feed, run, &e)
                                        : feed_pause(g->v->app->feed, run, true, &e),
                   &e, said);
    }
    free(g->path);
    free(g);
}

/* Behind what runs here already it waits in the queue, where it is seen and can be taken out. */
static void claim_and_go(struct runview *v, const struct feed_run *run, enum going_how how,
                         int64_t epochs)
{
    struct going *g;

    if (how == GOING_ON && feed_busy(v->app->feed)) {
        screen_setup_queue_run(v->app->screen[SCREEN_SETUP], run->path, epochs, false);
        return;
    }
    g = mem_new(1, sizeof *g);
    *g = (struct going){.v = v, .path = mem_text(run->path), .epochs = epochs, .how = how};
    claim_machine(v->app, how == GOING_ON, begin_going, g); /* what is paused keeps its process */
}

/* ---- pausing ---- */

/* It has not come to it: its step takes long, or it waits for room. */
static bool is_to_pause(const struct runview *v, const struct feed_run *run)
{
    return v->promise.said && v->promise.pauses && v->promise.id == run->id &&
           v->promise.state == run->state;
}

void runview_pause(struct runview *v, struct feed_run *run)
{
    bool paused = run->state == WIRE_PAUSED, go = paused || is_to_pause(v, run);
    const char *said = pause_words(v, run, go);
    struct err e = {0};

    if (!must_work(v, run))
        return;
    if (run->state == WIRE_WAITING) {
        app_say(v->app, GRID_WARN, "it has not begun yet: it waits for another one");
        return;
    }
    if (paused && run->own) {
        claim_and_go(v, run, GOING_LET, 0);
        return;
    }
    did(v, run, go ? "go" : "pause", "");
    promise(v, run, said, !go);
    if (run->own)
        answer_for(v, run, feed_pause(v->app->feed, run, go, &e), &e, said);
    else
        tell_other(v, run, go ? "go" : "pause", said);
}

/* ---- more epochs ---- */

static bool must_be_trained(struct runview *v, const struct feed_run *run)
{
    if (!runview_is_average(run))
        return true;
    app_say(v->app, GRID_WARN,
            "It is an average of runs, which cannot be trained on: go on with the runs themselves "
            "and average them again.");
    return false;
}

static void take_epochs(void *user, const char *text)
{
    struct runview *v = user;
    const struct feed_run *run = runview_run(v);
    int64_t epochs;

    if (!text || !*text || !same_run(v) || !must_be_trained(v, run)) /* its rows came meanwhile */
        return;
    if (!text_to_int(text, &epochs) || epochs <= run->spec.epochs || epochs > MOST_EPOCHS)
        app_say(v->app, GRID_BAD,
                "%.40s: it has %lld epoch%s; a whole number from %lld to %d goes on", text,
                (long long)run->spec.epochs, text_s(run->spec.epochs),
                (long long)run->spec.epochs + 1, MOST_EPOCHS);
    else
        claim_and_go(v, run, GOING_ON, epochs);
}

static void ask_epochs(struct runview *v, const struct feed_run *run)
{
    char label[80], more[32];

    free(v->told);
    v->told = mem_text(run->path);
    snprintf(label, sizeof label, "it is done with %lld epoch%s; go on to",
             (long long)run->spec.epochs, text_s(run->spec.epochs));
    snprintf(more, sizeof more, "%lld", (long long)(2 * run->spec.epochs));
    app_prompt(v->app, label, run->spec.epochs ? more : "1", take_epochs, NULL, v);
}

void runview_resume(struct runview *v, struct feed_run *run)
{
    if (runview_at_work(run) && runview_takes_back(v, run)) {
        take_stop_back(v, run);
        return;
    }
    if (runview_at_work(run)) {
        app_say(v->app, GRID_DIM, run->state == WIRE_PAUSED ? RUNKEYS_PAUSED : RUNKEYS_AT_WORK);
        return;
    }
    if (run->broken) {
        say_broken(v, run);
        return;
    }
    if (!run->path[0]) {
        app_say(v->app, GRID_WARN, RUNVIEW_NEVER);
        return;
    }
    if (!run->dead && run->state == WIRE_DONE) {
        if (run->reason[0])
            runkeys_say_over(v->app, run->reason);
        else if (must_be_trained(v, run))
            ask_epochs(v, run);
        return;
    }
    if (!run->dead && run->state != WIRE_STOPPED) {
        app_say(v->app, GRID_WARN, "it is %s: r runs its experiment again",
                wire_state_name(run->state));
        return;
    }
    claim_and_go(v, run, GOING_ON, 0);
}
