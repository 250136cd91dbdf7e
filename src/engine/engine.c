/* The engine thread: it obeys commands, keeps the queue of runs and lets one of them at a time have
 * the machine. It sleeps in wire_next_command; whoever has something for it pokes the wire. */
#include "engine/engine_int.h"

#include "base/clock.h"
#include "base/mem.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

int engine_thread(pthread_t *thread, void *(*main_function)(void *), void *user)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    for (size_t i = 0; i < MEM_COUNT(faults); i++)
        sigdelset(&all, faults[i]); /* blocked, they would end the program without a word */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(thread, NULL, main_function, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static struct run *find_run(struct engine *e, uint32_t number)
{
    if (e->current && e->current->number == number)
        return e->current;
    for (struct run *r = e->waiting; r; r = r->next)
        if (r->number == number)
            return r;
    return NULL;
}

static void state_of_waiting(struct run *r, enum wire_state state, enum err_code code)
{
    struct wire_event event = {
        .kind = WIRE_STATE, .run = r->number, .u.state = {.state = state, .code = code}};

    r->state = state;
    run_status(r, code, "");
    wire_post(r->engine->wire, &event);
}

static void start(struct engine *e, const struct wire_command *c)
{
    size_t n = 0;
    struct wire_start *start_of = wire_slot_take(e->wire, c->slot, &n);
    struct run *r, **end = &e->waiting;

    if (!start_of || n != sizeof *start_of) {
        run_refuse(e, c->run, ERR_FAILED, "a command to start a run came without its experiment");
    } else if (find_run(e, c->run)) {
        run_refuse(e, c->run, ERR_FAILED, "a run of this number waits or runs already");
    } else if (!memchr(start_of->resume, '\0', sizeof start_of->resume)) {
        run_refuse(e, c->run, ERR_INPUT, "the name of the run's folder is too long");
    } else {
        r = run_new(e, c->run, start_of);
        while (*end)
            end = &(*end)->next;
        *end = r;
        run_status(r, ERR_OK, "");
        if (e->current || e->waiting != r)
            state_of_waiting(r, WIRE_WAITING, ERR_OK);
    }
    free(start_of);
}

static void drop_waiting(struct engine *e, struct run *r)
{
    struct run **at = &e->waiting;

    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    state_of_waiting(r, WIRE_STOPPED, ERR_STOPPED);
    run_free(r);
}

static void pause_or_stop(struct engine *e, const struct wire_command *c)
{
    struct run *r = find_run(e, c->run);

    if (!r)
        run_refuse(e, c->run, ERR_FAILED, "this run neither runs nor waits");
    else if (r != e->current && c->kind == WIRE_STOP)
        drop_waiting(e, r);
    else if (r != e->current)
        run_refuse(e, c->run, ERR_FAILED, "this run has not begun yet: it waits for another one");
    else if (c->kind == WIRE_STOP)
        run_want(r, WISH_STOP, c->how);
    else
        run_want(r, c->kind == WIRE_PAUSE ? WISH_PAUSE : WISH_GO, WIRE_AFTER_STEP);
}

static void quit(struct engine *e)
{
    e->quitting = true;
    while (e->waiting)
        drop_waiting(e, e->waiting);
    if (e->current)
        run_want(e->current, WISH_STOP, WIRE_AFTER_STEP);
}

static void obey(struct engine *e, const struct wire_command *c)
{
    switch (c->kind) {
    case WIRE_START:
        if (e->quitting)
            run_refuse(e, c->run, ERR_STOPPED, "the engine is about to end");
        else
            start(e, c);
        return;
    case WIRE_PAUSE:
    case WIRE_GO:
    case WIRE_STOP:
        pause_or_stop(e, c);
        return;
    case WIRE_ASK:
        planner_ask(e->planner, c->run, c->slot);
        return;
    case WIRE_QUIT:
        quit(e);
        return;
    }
}

static void begin_next(struct engine *e)
{
    struct run *r = e->waiting;

    e->waiting = r->next;
    r->next = NULL;
    e->current = r;
    if (engine_thread(&r->thread, session_main, r)) {
        run_refuse(e, r->number, ERR_FAILED, "no thread could be started for this run");
        e->current = NULL;
        run_free(r);
    }
}

static void end_current(struct engine *e)
{
    pthread_join(e->current->thread, NULL);
    run_free(e->current);
    e->current = NULL;
    planner_learn(e->planner);
}

static void *engine_main(void *user)
{
    struct engine *e = user;
    struct wire_command c;
    bool more = false;

    while (!e->quitting || e->current) {
        if (wire_next_command(e->wire, &c, more ? 0 : e->current ? 100 : 1000))
            obey(e, &c);
        if (e->current) {
            more = run_work(e->current);
            run_tick(e->current);
            if (e->current->ended)
                end_current(e);
        }
        if (!e->current) {
            more = e->waiting != NULL;
            if (e->waiting)
                begin_next(e);
        }
    }
    planner_stop(e->planner);
    return NULL;
}

enum err_code engine_start(struct engine **out, const struct engine_config *config,
                           struct wire *wire, struct err *e)
{
    struct engine *engine = mem_new(1, sizeof *engine);

    *out = NULL;
    engine->config = *config;
    engine->wire = wire;
    engine->results = mem_text(config->results);
    engine->version = mem_text(config->version ? config->version : "");
    engine->data_dir = config->places.given ? mem_text(config->places.given) : NULL;
    engine->config.results = engine->results;
    engine->config.version = engine->version;
    engine->config.places.given = engine->data_dir;
    engine->planner = planner_start(engine);
    if (!engine->planner || engine_thread(&engine->thread, engine_main, engine)) {
        planner_stop(engine->planner);
        free(engine->results);
        free(engine->version);
        free(engine->data_dir);
        free(engine);
        return err_set(e, ERR_FAILED, "the engine's thread could not be started");
    }
    *out = engine;
    return ERR_OK;
}

void engine_join(struct engine *engine)
{
    if (!engine)
        return;
    pthread_join(engine->thread, NULL);
    free(engine->results);
    free(engine->version);
    free(engine->data_dir);
    free(engine);
}
