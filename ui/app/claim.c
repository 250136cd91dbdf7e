#include "ui/app/claim.h"

#include "base/clock.h"
#include "base/mem.h"
#include "record/working.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_NS 5000000000u /* a start has shown itself by then */
#define LOOK_NS 500000000u  /* between two looks whether those who are asked about still compute */
#define TRIES   20          /* who claims at this very moment is seen a millisecond later */

struct claim {
    struct app *app;
    bool queue, asking, looking; /* a question stands; a task looks again */
    bool ended, again; /* nobody computes any more; to be claimed once that task is back */
    uint64_t looked_ns;
    claim_begin *begin; /* NULL: it was called */
    void *user;

    char *results;
    struct record_work *work;     /* ours */
    struct record_working *other; /* (others) */
    size_t others, here;          /* here: with results that are ours */
    bool got;
    bool elsewhere; /* what is asked about */
};

/* ---- the answers ---- */

static void add_answer(struct claim_answers *a, const char *words, enum claim_how how)
{
    a->words[a->count] = words;
    a->how[a->count++] = how;
}

struct claim_answers claim_answers(const struct claim_choice *c)
{
    struct claim_answers a = {.count = 0};
    bool waits = c->busy && !c->over;
    const char *queued = waits ? "after it, in the queue" : "after what waits in the queue";

    if (c->busy && c->queue && (c->now || waits))
        add_answer(&a, queued, CLAIM_BEHIND);
    else if (c->busy && c->queue)
        add_answer(&a, "at once", CLAIM_NOW);
    if (c->now)
        add_answer(&a, waits ? "now, next to it" : "now", CLAIM_NOW);
    if (!c->busy && c->queue)
        add_answer(&a, queued, CLAIM_BEHIND);
    add_answer(&a, "cancel", CLAIM_NOT);
    return a;
}

enum claim_how claim_answered(const struct claim_choice *c, int answer)
{
    return answer < 0 ? CLAIM_NOT : claim_answers(c).how[answer];
}

/* ---- the claim ---- */

static void free_claim(struct claim *c)
{
    record_work_free(c->work);
    free(c->other);
    free(c->results);
    free(c);
}

/* Those of our results first. */
static void sort_others(struct claim *c)
{
    c->here = 0;
    for (size_t i = 0; i < c->others; i++)
        if (record_working_same(c->other[i].results, c->results)) {
            struct record_working w = c->other[c->here];

            c->other[c->here++] = c->other[i];
            c->other[i] = w;
        }
}

static void work(void *arg)
{
    struct claim *c = arg;

    c->others = 0;
    if (!c->work)
        c->work = record_work_new(c->results);
    for (int tries = 0; tries < TRIES && !c->others; tries++) {
        c->got = record_work_claim(c->work);
        if (c->got)
            return;
        free(c->other);
        c->others = record_computing_list(&c->other);
        if (!c->others)
            clock_sleep_ms(1);
    }
    c->got = !c->others; /* nobody is seen: there is no place for claims */
    sort_others(c);
}

/* Claims nothing: whoever begins elsewhere while a person thinks need not ask. */
static void look(void *arg)
{
    struct claim *c = arg;

    free(c->other);
    c->others = record_computing_list(&c->other);
    sort_others(c);
}

static void begin(struct claim *c, enum claim_how how)
{
    claim_begin *call = c->begin;

    c->begin = NULL;
    c->asking = false;
    if (call)
        call(c->user, how, c->elsewhere);
}

static void end(struct claim *c, enum claim_how how)
{
    c->app->claiming = NULL;
    begin(c, how);
    free_claim(c);
}

static void done(void *arg, bool dropped);

static void claim_now(struct claim *c)
{
    c->again = false;
    (void)tasks_try(c->app->tasks, work, done, c);
}

static struct claim_choice choice_of(const struct claim *c)
{
    return (struct claim_choice){.busy = true, .over = c->ended, .queue = c->queue, .now = true};
}

static void chosen(void *user, int answer)
{
    struct app *app = user;
    struct claim *c = app->claiming;
    struct claim_choice choice;
    enum claim_how how;

    if (!c)
        return;
    choice = choice_of(c);
    how = claim_answered(&choice, answer);
    if (how == CLAIM_NOW && c->ended) { /* another one may begin at this very moment */
        c->asking = false;
        c->again = c->looking;
        if (!c->looking)
            claim_now(c);
    } else if (c->looking) {
        app->claiming = NULL; /* what looks holds it */
        begin(c, how);
    } else {
        end(c, how);
    }
}

static void add_question(struct claim *c, struct text *question)
{
    const struct record_working *w = c->other;
    const char *slash;

    if (c->ended) {
        text_add(question, "The other chorus has ended meanwhile: this can start now.");
        return;
    }
    slash = strrchr(w->run, '/');
    text_addf(question,
              "Another chorus (process %lld) computes %s on this machine%s. Running both at once "
              "slows both.%s",
              (long long)w->pid,
              TEXT_CLEAN(slash       ? slash + 1
                         : w->run[0] ? w->run
                                     : "a run"),
              c->here ? "" : ", with its results in another folder",
              c->queue ? " Queued, it waits until that has ended, also without this terminal."
                       : "");
}

static void ask(struct claim *c)
{
    struct claim_answers answers;
    struct claim_choice choice;
    struct text question = {0};
    bool stands = c->asking;

    c->ended = !c->others;
    c->elsewhere = c->here < c->others;
    c->asking = true;
    c->looked_ns = app_ns(c->app);
    choice = choice_of(c);
    answers = claim_answers(&choice);
    add_question(c, &question);
    if (stands)
        app_ask_renew(c->app, text_str(&question), answers.words, chosen);
    else
        app_ask(c->app, text_str(&question), answers.words, chosen, c->app);
    text_free(&question);
}

static void done(void *arg, bool dropped)
{
    struct claim *c = arg;
    struct app *app = c->app;

    if (dropped) {
        end(c, CLAIM_NOT);
    } else if (c->got) {
        claim_drop(app);
        app->claim = c->work;
        app->claim_ns = app_ns(app);
        c->work = NULL;
        end(c, CLAIM_NOW);
    } else {
        ask(c);
    }
}

static void looked(void *arg, bool dropped)
{
    struct claim *c = arg;

    c->looking = false;
    c->looked_ns = app_ns(c->app);
    if (!c->begin) /* answered meanwhile */
        free_claim(c);
    else if (!dropped && c->again)
        claim_now(c);
    else if (!dropped)
        ask(c);
}

void claim_machine(struct app *app, bool queue, claim_begin *call, void *user)
{
    struct claim *c = app->claiming;

    if (c) {
        app_say(app, c->asking ? GRID_WARN : GRID_DIM, "%s",
                c->asking ? CLAIM_ASKED : "it starts already");
        call(user, CLAIM_NOT, false);
        return;
    }
    c = mem_new(1, sizeof *c);
    *c = (struct claim){.app = app, .queue = queue, .begin = call, .user = user};
    c->results = mem_text(app->config.results);
    app->claiming = c;
    claim_now(c);
}

void claim_drop(struct app *app)
{
    record_work_free(app->claim);
    app->claim = NULL;
}

void claim_tick(struct app *app)
{
    struct claim *c = app->claiming;

    if (app->claim && app_ns(app) - app->claim_ns > KEPT_NS)
        claim_drop(app);
    if (!c || !c->asking || c->looking || app_ns(app) - c->looked_ns < LOOK_NS)
        return;
    c->looking = true;
    tasks_add_live(app->tasks, look, looked, c);
}

/* Behind the end of all tasks. */
void claim_close(struct app *app)
{
    if (app->claiming)
        end(app->claiming, CLAIM_NOT);
    claim_drop(app);
}
