/* ui/run/runview_command.c: how a run is told what to do, what is said of that, and that it pauses or goes on.
 * Whatever may wait is done by tasks. */
#include "ui/run/runview_int.h"

#include "base/log.h"
#include "base/mem.h"
#include "record/run/reader.h"
#include "record/sweep/sweeps.h"
#include "ui/app/claim.h"
#include "ui/app/runkeys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EPOCHS 1000000 /* as of the key */

/* ---- another process ---- */

struct tell {
    struct runview *v;
    uint64_t id; /* of the run */
    char *path, *name;
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

/* What comes true only later, and may be taken back, stands in the log too; of a sweep its engine says
 * what is taken back. */
static void log_later(struct runview *v, const char *name, const char *said)
{
    static const char *const later[] = {RUNVIEW_STOPS_LATER, RUNVIEW_GOES_TO_STOP,
                                        RUNVIEW_SWEEP_STOPS_LATER, RUNVIEW_TAKEN_BACK};

    for (size_t i = 0; i < MEM_COUNT(later); i++)
        if (!strcmp(said, later[i]))
            app_log_from(v->app, LOG_INFO, name, said);
}

static void tell_done(void *arg, bool dropped)
{
    struct tell *t = arg;

    if (!dropped && t->code != ERR_OK) {
        break_promise(t->v, t->id);
        app_say(t->v->app, GRID_BAD, "%s", t->e.text);
    } else if (!dropped) {
        app_say(t->v->app, GRID_WARN, "%s", t->said);
        log_later(t->v, t->name, t->said);
    }
    free(t->path);
    free(t->name);
    free(t->results);
    free(t->sweep);
    free(t->line);
    free(t->said);
    free(t);
}

void runview_tell(struct runview *v, const struct feed_run *run, const char *sweep,
                  const char *line, const char *said)
{
    struct tell *t = mem_new(1, sizeof *t);

    t->v = v;
    t->id = run->id;
    t->path = mem_text(run->path);
    t->name = mem_text(sweep ? sweep : run->name);
    t->results = mem_text(v->app->config.results);
    t->sweep = sweep ? mem_text(sweep) : NULL;
    t->line = mem_text(line);
    t->said = mem_text(said);
    tasks_add_slow(v->app->tasks, tell_work, tell_done, t);
}

void runview_tell_other(struct runview *v, const struct feed_run *run, const char *line,
                        const char *said)
{
    runview_tell(v, run, NULL, line, said);
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

bool runview_must_work(struct runview *v, const struct feed_run *run)
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
        app_say(v->app, GRID_WARN, "it has ended: it is %s", wire_state_words(run->state));
    return false;
}

void runview_promise(struct runview *v, const struct feed_run *run, const char *said, bool pauses)
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

void runview_answer_for(struct runview *v, const struct feed_run *run, enum err_code code,
                        const struct err *e, const char *said)
{
    if (code != ERR_OK) {
        break_promise(v, run->id);
        app_say(v->app, GRID_BAD, "%s", e->text);
    } else {
        app_say(v->app, GRID_WARN, "%s", said);
        if (!feed_is_cell(run))
            log_later(v, run->name, said);
        else if (strcmp(said, RUNVIEW_TAKEN_BACK) != 0)
            log_later(v, run->sweep_name[0] ? run->sweep_name : run->name, said);
    }
}

void runview_did(struct runview *v, const struct feed_run *run, const char *verb,
                 const char *behind)
{
    const char *name = run->name;

    app_did(v->app, verb, &name, 1, behind);
}

bool runview_same_run(struct runview *v)
{
    struct feed_run *run = runview_run(v);

    if (run && v->told && !strcmp(v->told, run->path))
        return true;
    app_say(v->app, GRID_WARN, "nothing was done: another run is shown now");
    return false;
}

/* A cell is not its sweep, which may be paused itself. */
static const char *pause_words(const struct runview *v, const struct feed_run *run, bool go)
{
    if (feed_lacks_room(v->app->feed, run))
        return go ? "it goes on as soon as there is room on the disk"
                  : "it pauses as soon as there is room on the disk";
    if (feed_is_cell(run))
        return go ? "this cell goes on; where its sweep is paused too, p on Sweep lets that go on"
                  : "pausing this cell alone after this step; p on Sweep pauses all of it";
    return go ? "going on" : "pausing after this step";
}

/* ---- going on ---- */

struct going { /* while the machine is claimed for it */
    struct runview *v;
    char *path;
    int64_t epochs;   /* 0: as many as it has */
    runview_act *act; /* NULL: it ended, and is begun again */
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
                feed_is_cell(run)
                    ? "it goes on, this cell alone; R on Sweep goes on with all of them"
                    : "it goes on");
    } else {
        app_say(v->app, GRID_BAD, "%s", e.text);
    }
    free(start);
}

/* It goes on when its turn comes. */
static void queue(const struct runview *v, const char *path, int64_t epochs, bool alone)
{
    app_open(v->app, SCREEN_SETUP,
             &(struct screen_request){
                 .what = SCREEN_QUEUE_RUN, .name = path, .epochs = epochs, .alone = alone});
}

static void begin_going(void *user, enum claim_how how, bool elsewhere)
{
    struct going *g = user;
    struct feed_run *run = feed_find(g->v->app->feed, g->path);

    if (how == CLAIM_BEHIND)
        queue(g->v, g->path, g->epochs, elsewhere);
    else if (how == CLAIM_NOW && run && !g->act)
        send_start(g->v, run, g->epochs);
    else if (how == CLAIM_NOW && run && runview_must_work(g->v, run))
        g->act(g->v, run);
    free(g->path);
    free(g);
}

static void claim_for(struct runview *v, const struct feed_run *run, int64_t epochs,
                      runview_act *act)
{
    struct going *g = mem_new(1, sizeof *g);

    *g = (struct going){.v = v, .path = mem_text(run->path), .epochs = epochs, .act = act};
    claim_machine(v->app, !act, begin_going, g); /* what is paused keeps its process */
}

/* Behind what runs here already it waits in the queue, where it is seen and can be taken out. */
static void begin_again(struct runview *v, const struct feed_run *run, int64_t epochs)
{
    if (feed_busy(v->app->feed))
        queue(v, run->path, epochs, false);
    else
        claim_for(v, run, epochs, NULL);
}

void runview_let_act(struct runview *v, struct feed_run *run, runview_act *act)
{
    struct wire_sweep_status is;
    bool paused = run->state == WIRE_PAUSED ||
                  (feed_sweep_of(v->app->feed, run, &is) && wire_sweep_has_paused(&is));

    if (paused)
        claim_for(v, run, 0, act);
    else
        act(v, run);
}

/* ---- pausing ---- */

/* It has not come to it: its step takes long, or it waits for room. */
static bool is_to_pause(const struct runview *v, const struct feed_run *run)
{
    return v->promise.said && v->promise.pauses && v->promise.id == run->id &&
           v->promise.state == run->state;
}

static void tell_pause(struct runview *v, struct feed_run *run, bool go)
{
    enum wire_wish wish = go ? WIRE_WISH_RUN : WIRE_WISH_PAUSE;
    const char *said = pause_words(v, run, go), *line = wire_wish_line(wish); /* the verb, too */
    struct err e = {0};

    runview_did(v, run, line, "");
    runview_promise(v, run, said, !go);
    if (run->own)
        runview_answer_for(v, run, feed_wish(v->app->feed, run, wish, &e), &e, said);
    else
        runview_tell_other(v, run, line, said);
}

/* What went on meanwhile may have been told to stop. */
static void let_go(struct runview *v, struct feed_run *run)
{
    if (run->state == WIRE_PAUSED)
        tell_pause(v, run, true);
}

void runview_pause(struct runview *v, struct feed_run *run)
{
    if (!runview_must_work(v, run))
        return;
    if (run->state == WIRE_WAITING)
        app_say(v->app, GRID_WARN, "it has not begun yet: it waits for another one");
    else if (run->state == WIRE_PAUSED)
        runview_let_act(v, run, let_go);
    else
        tell_pause(v, run, is_to_pause(v, run));
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

    if (!text || !*text || !runview_same_run(v) ||
        !must_be_trained(v, run)) /* its rows came meanwhile */
        return;
    if (!text_to_int(text, &epochs) || epochs <= run->spec.epochs || epochs > MOST_EPOCHS) {
        app_prompt_again(v->app, text);
        app_say(v->app, GRID_BAD,
                "%.40s: it has %lld epoch%s; a whole number from %lld to %d goes on", text,
                (long long)run->spec.epochs, text_s(run->spec.epochs),
                (long long)run->spec.epochs + 1, MOST_EPOCHS);
    } else {
        begin_again(v, run, epochs);
    }
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

/* It may have been told to pause, or to stop later. */
static void go_on_at_work(struct runview *v, struct feed_run *run)
{
    if (feed_stops_later(v->app->feed, run))
        runview_let_go(v, run);
    else if (run->state == WIRE_WAITING && !run->own && !run->live) /* nobody ever began it */
        begin_again(v, run, 0);
    else if (run->state == WIRE_PAUSED || run->state == WIRE_WAITING || is_to_pause(v, run))
        runview_pause(v, run); /* as p: that lets it go on, or says why not */
    else
        app_say(v->app, GRID_DIM, RUNKEYS_AT_WORK);
}

void runview_resume(struct runview *v, struct feed_run *run)
{
    if (runview_at_work(run)) {
        go_on_at_work(v, run);
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
                wire_state_words(run->state));
        return;
    }
    begin_again(v, run, 0);
}
