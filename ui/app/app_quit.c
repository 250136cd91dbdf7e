/* ui/app/app_quit.c: the key q: what is asked before the workbench goes. */
#include "ui/app/app_int.h"

#include "base/mem.h"
#include "record/queue/queue.h"
#include "record/working.h"
#include "ui/app/claim.h"
#include "ui/app/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATIENCE_MS 2000 /* without a word to whoever has the terminal again */

/* What comes true only later stands in the log too. */
static void say_and_log(struct app *app, enum grid_role role, const char *words)
{
    app_say(app, role, "%s", words);
    app_log(app, LOG_INFO, words);
}

/* What becomes of a sweep that was told to stop after its cells, where all is left running. */
static void add_stops(const struct app *app, struct text *words)
{
    size_t n;
    struct wire_sweep_status *sweep = wire_sweeps(app->config.wire, &n);
    bool cells = false;

    for (size_t i = 0; i < n; i++)
        cells |= !wire_state_ended(sweep[i].state) && sweep[i].wish == WIRE_WISH_STOP_CELLS;
    free(sweep);
    if (cells)
        text_add(words, " Left running, the sweep's running cells go on to their ends, and no "
                        "further one begins.");
}

static void send_to_engine(const struct app *app, enum wire_command_kind kind)
{
    if (app->config.wire)
        (void)wire_send(app->config.wire, &(struct wire_command){.kind = kind});
}

/* What waits in the queue stays there. */
static void leave_after_epoch(struct app *app)
{
    send_to_engine(app, WIRE_LEAVE);
    app->own->leaving = true;
    say_and_log(app, GRID_WARN, "leaving after this epoch; q takes that back");
}

static void leave_it_running(struct app *app)
{
    app->own->end = APP_DETACH;
    app->over = true;
}

static void claimed_after_epoch(void *user, enum claim_how how, bool elsewhere)
{
    (void)elsewhere;
    if (how == CLAIM_NOW)
        leave_after_epoch(user);
}

static void claimed_running(void *user, enum claim_how how, bool elsewhere)
{
    (void)elsewhere;
    if (how == CLAIM_NOW)
        leave_it_running(user);
}

static void leave(void *user, int answer)
{
    struct app *app = user;

    switch (answer) {
    case 0:
        if (feed_all_paused(app->feed)) /* which goes on by that */
            claim_machine(app, false, claimed_after_epoch, app);
        else
            leave_after_epoch(app);
        break;
    case 1:
        app->own->end = APP_STOP;
        app->over = true;
        break;
    case 2:
        if (feed_all_paused(app->feed))
            claim_machine(app, false, claimed_running, app);
        else
            leave_it_running(app);
        break;
    }
}

static void stay(struct app *app)
{
    send_to_engine(app, WIRE_STAY);
    app->own->leaving = false;
    say_and_log(app, GRID_TEXT, "taken back: what runs goes on after this epoch too");
}

static void leave_or_stay(void *user, int answer)
{
    struct app *app = user;

    if (answer == 0 && app->own->leaving)
        stay(app);
    else if (answer > 0)
        leave(app, answer);
}

/* Of what waits for room on the disk, for which there is no end of an epoch. */
static void leave_full(void *user, int answer)
{
    if (answer == 0 || answer == 1)
        leave(user, answer + 1);
}

static void leave_jobs(void *user, int answer)
{
    struct app *app = user;

    app->over |= answer == 0;
}

static void leave_queue(void *user, int answer)
{
    struct app *app = user;

    if (answer == 0)
        app->own->end = APP_DETACH;
    app->over |= answer == 0 || answer == 1;
}

static void leave_form(void *user, int answer)
{
    struct app *app = user;

    app->over |= answer == 1;
    if (answer == 0) {
        app_show(app, SCREEN_SETUP);
        app_open(app, SCREEN_SETUP, &(struct screen_request){.what = SCREEN_SAVE});
    }
}

/* Whether the form of Setup would be lost: words says so. */
static bool is_unsaved(const struct app *app, struct text *words)
{
    return app_open(app, SCREEN_SETUP,
                    &(struct screen_request){.what = SCREEN_IS_UNSAVED, .words = words});
}

/* Whether leaving would take more with it than what can go on from where it stopped. */
static bool would_lose(const struct app *app)
{
    struct text words = {0};
    bool lost = jobs_running(app->jobs) || is_unsaved(app, &words);

    text_free(&words);
    return lost;
}

/* answer: what a second Ctrl-C takes. */
static void add_interrupt(const struct app *app, struct text *words, const char *answer)
{
    if (!would_lose(app))
        text_addf(words, " Ctrl-C again %s.", answer);
}

static bool is_ours(void (*to)(void *user, int answer))
{
    return to == leave || to == leave_or_stay || to == leave_full || to == leave_queue ||
           to == leave_jobs || to == leave_form || to == begun_leave;
}

bool quit_asks(const struct app *app)
{
    return app->own->popup == POPUP_ASK && is_ours(app->own->on_answer);
}

int quit_interrupt(struct app *app)
{
    void (*to)(void *user, int answer) = app->own->on_answer;

    if (!is_ours(to))
        return -1;
    if (to == begun_leave && !would_lose(app))
        return 0;
    if ((to == leave || to == leave_or_stay || to == leave_queue) && !would_lose(app))
        return 1; /* stops it now, or keeps what waits */
    app_say(app, GRID_WARN, "Ctrl-C alone leaves only where nothing would be lost: choose");
    return APP_ANSWERS;
}

/* How many experiments wait. Where nothing runs here and no other process takes from them, nobody would
 * if this program went: something else computes into these results first. */
struct waiting {
    struct app *app;
    char *results;
    size_t n;
    bool others;         /* another process takes from it */
    struct begun *begun; /* behind ':', then what of it computes still */
};

static void count_waiting(void *arg)
{
    struct waiting *s = arg;
    struct record_queued item = {0};
    bool found = false;
    int64_t owner;
    size_t n = 0;

    s->begun = begun_look(s->begun, s->results);
    if (record_queue_first(s->results, &item, &found, &n, NULL) != ERR_OK || !found)
        return;
    record_queue_free_item(&item);
    s->n = n;
    owner = record_queue_owner(s->results); /* this one, too, while it looks whether it may */
    s->others = record_taking_pid(s->results) || (owner && owner != getpid());
}

static void ask_about_queue(struct app *app, size_t n, const char *words)
{
    static const char *const answers[] = {
        "leave a process that takes from it, without this terminal", "keep it for later, and leave",
        "cancel", NULL};
    struct wire_queue queue = {0};
    struct text question = {0};

    wire_queue(app->config.wire, &queue);
    text_addf(&question, "%s%s%s experiment%s wait%s in the queue", words, *words ? " " : "",
              TEXT_COUNT(n), text_s(n), n == 1 ? "s" : "");
    if (queue.state == WIRE_QUEUE_HELD && !queue.pid && queue.reason[0])
        text_addf(&question, " (%s)", TEXT_CLEAN(queue.reason));
    else
        text_add(&question, ", behind what another program computes");
    text_add(&question, "; nobody else would take from it.");
    add_interrupt(app, &question, "keeps it, and leaves");
    app_ask(app, text_str(&question), answers, leave_queue, app);
    text_free(&question);
}

/* Such a process would end at once: somebody has to mend first why nothing is taken. */
static bool queue_stands(const struct app *app)
{
    struct wire_queue queue = {0};

    if (app->config.wire)
        wire_queue(app->config.wire, &queue);
    return queue.state == WIRE_QUEUE_HELD && queue.lasts;
}

/* Those that leaving would end. True: one of them works, and is not only being checked. */
static bool tell_jobs(const struct app *app, struct text *words)
{
    bool works = jobs_running(app->jobs) > train_tell(app, words);

    if (works)
        text_addf(words, "%sA command still works; the Log screen says which.",
                  words->n ? " " : "");
    return works;
}

/* Nothing runs here. begun: behind ':', which is taken where it is asked about; NULL: it is not known. */
static void quit_idle(struct app *app, size_t waiting, struct begun **begun)
{
    static const char *const jobs[] = {"leave and end it", "cancel", NULL};
    static const char *const check[] = {"leave without it", "cancel", NULL};
    static const char *const form[] = {"save them first", "leave without them", "cancel", NULL};
    struct text words = {0};
    bool unsaved = is_unsaved(app, &words);

    if ((waiting && !queue_stands(app)) || jobs_running(app->jobs))
        begun_tell(app, begun ? *begun : NULL, &words);
    if (waiting && !queue_stands(app)) {
        (void)tell_jobs(app, &words);
        ask_about_queue(app, waiting, text_str(&words));
    } else if (jobs_running(app->jobs)) {
        bool works = tell_jobs(app, &words);

        app_ask(app, text_str(&words), works ? jobs : check, leave_jobs, app);
    } else if (begun && *begun) {
        begun_ask(app, *begun, text_str(&words));
        *begun = NULL;
    } else if (unsaved) {
        app_ask(app, text_str(&words), form, leave_form, app);
    } else {
        app->over = true;
    }
    text_free(&words);
}

/* others: another process takes from the queue. begun: as above, but only told. */
static void quit_busy(struct app *app, size_t waiting, bool others, const struct begun *begun)
{
    static const char *const answers[] = {
        "after this epoch: stop then, and leave", "now: stop what runs; R goes on with it",
        "leave it running, without this terminal", "cancel", NULL};
    static const char *const full[] = {
        "stop it now: R goes on with it from its last checkpoint",
        "leave it waiting from its last checkpoint, without this terminal", "cancel", NULL};
    static const char *const paused[] = {"after this epoch: go on to its end, stop then, and leave",
                                         "now: stop it; R goes on with it",
                                         "let it go on, without this terminal", "cancel", NULL};
    static const char *const leaving[] = {
        "take it back: stay, and what runs goes on", "now: stop what runs; R goes on with it",
        "leave it running, without this terminal", "cancel", NULL};
    struct feed_work work = feed_work(app->feed);
    bool waits = work.no_room && !work.goes_on && !work.paused;
    bool rests = feed_all_paused(app->feed);
    bool leaves = app->own->leaving && !waits && !rests;
    struct text words = {0};

    if (is_unsaved(app, &words))
        text_add(&words, " ");
    if (waits || rests || leaves)
        text_add(&words, waits   ? "What runs waits for room on the disk."
                         : rests ? "What runs here is paused."
                                 : "chorus leaves as soon as what runs has ended its epoch.");
    else
        status_add_busy(app->feed, &words);
    text_add(&words, " How do you want to leave?");
    add_stops(app, &words);
    begun_tell(app, begun, &words);
    (void)tell_jobs(app, &words);
    if (waiting)
        text_addf(&words, " Where it is stopped, %s queued experiment%s with the %s.",
                  TEXT_COUNT(waiting), waiting == 1 ? " begins" : "s begin",
                  others ? "other chorus that is open" : "next chorus");
    if (!waits)
        add_interrupt(app, &words, "stops it now");
    app_ask(app, text_str(&words),
            waits    ? full
            : rests  ? paused
            : leaves ? leaving
                     : answers,
            waits    ? leave_full
            : leaves ? leave_or_stay
                     : leave,
            app);
    text_free(&words);
}

static void waiting_counted(void *arg, bool dropped)
{
    struct waiting *s = arg;
    struct app *app = s->app;
    bool wanted = !dropped && app->own->quitting && app->own->popup == POPUP_NONE;

    app->own->quitting = false;
    if (wanted) {
        app->own->said[0] = 0;
        if (feed_busy(app->feed)) /* it may have begun meanwhile */
            quit_busy(app, s->n, s->others, s->begun);
        else
            quit_idle(app, s->others ? 0 : s->n, &s->begun);
    }
    begun_free(s->begun);
    free(s->results);
    free(s);
}

/* Whatever it came to has been said. */
static void end_of_jobs(struct app *app)
{
    app_ask_end(app, leave_jobs);
    if (!app->own->said[0])
        app_say(app, GRID_TEXT, "The command has ended by itself; q leaves.");
}

void quit_tick(struct app *app)
{
    if (app->own->popup == POPUP_ASK && app->own->on_answer == leave_jobs &&
        !jobs_running(app->jobs) && !train_begins(app))
        end_of_jobs(app);
    train_tick(app);
    if (app->own->popup != POPUP_ASK || feed_busy(app->feed) ||
        (app->own->on_answer != leave && app->own->on_answer != leave_full &&
         app->own->on_answer != leave_or_stay))
        return;
    app_ask_end(app, app->own->on_answer);
    app_say(app, GRID_GOOD, "What ran has ended by itself; q leaves.");
}

void quit_tasks(struct app *app)
{
    void (*late)(bool is) = app->config.signals.late;
    bool is_late = !tasks_end(app->tasks, PATIENCE_MS) && late;

    if (is_late)
        late(true);
    tasks_free(app->tasks);
    if (is_late)
        late(false);
}

void app_quit(struct app *app)
{
    bool busy = feed_busy(app->feed);
    struct waiting *s;

    if (app->config.wire && !app->own->quitting) {
        app->own->quitting = true;
        app_say(app, GRID_DIM, "looking whether something waits in the queue; q again %s",
                busy ? "asks at once" : "leaves it");
        s = mem_new(1, sizeof *s);
        *s = (struct waiting){
            .app = app, .results = mem_text(app->config.results), .begun = begun_copy(app)};
        (void)tasks_try(app->tasks, count_waiting, waiting_counted, s);
        return;
    }
    app->own->quitting = false;
    if (busy)
        quit_busy(app, 0, false, NULL);
    else
        quit_idle(app, 0, NULL);
}
