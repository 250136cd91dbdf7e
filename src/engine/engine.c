/* The engine thread: it obeys commands, keeps the queue of runs and sweeps and lets one of them at a
 * time have the machine. It sleeps in wire_next_command; whoever has something for it pokes the wire. */
#include "engine/engine_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/system/thread.h"
#include "record/run/writer.h"
#include "record/working.h"

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
    failed = thread_start(thread, main_function, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static struct run *find_in(struct run *list, uint32_t number)
{
    while (list && list->number != number)
        list = list->next;
    return list;
}

static bool is_taken(struct engine *e, uint32_t number)
{
    return find_in(e->running, number) || find_in(e->waiting, number) || sweep_find(e, number);
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
    } else if (is_taken(e, c->run)) {
        run_refuse(e, c->run, ERR_FAILED, "a run of this number waits or runs already");
    } else if (!memchr(start_of->resume, '\0', sizeof start_of->resume)) {
        run_refuse(e, c->run, ERR_INPUT, "the name of the run's folder is too long");
    } else {
        r = run_new(e, c->run, start_of);
        r->turn = e->turns++;
        while (*end)
            end = &(*end)->next;
        *end = r;
        run_status(r, ERR_OK, "");
        if (e->running || e->sweeps || e->waiting != r)
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

static void obey_of_run(struct engine *e, const struct wire_command *c)
{
    struct run *r = find_in(e->running, c->run), *waits = find_in(e->waiting, c->run);

    if (!r && !waits)
        run_refuse(e, c->run, ERR_FAILED, "this run neither runs nor waits");
    else if (r && c->kind == WIRE_HAND_OVER)
        run_hand_over(r);
    else if (r)
        run_set_wish(r, c->wish);
    else if (c->kind == WIRE_HAND_OVER || wire_wish_deed(c->wish, WIRE_AT_BEGIN) >= WIRE_END)
        drop_waiting(e, waits);
    else
        run_refuse(e, c->run, ERR_FAILED, "this run has not begun yet: it waits for another one");
}

static void obey_of_sweep(struct engine *e, struct sweep *s, const struct wire_command *c)
{
    if (c->kind == WIRE_WISH) {
        sweep_set_wish(s, c->wish);
        return;
    }
    sweep_end_part(s);
    for (struct run *r = e->running; r; r = r->next)
        if (r->sweep == s)
            run_hand_over(r);
}

static void quit(struct engine *e, const struct wire_command *c)
{
    struct sweep *sweep = sweep_find(e, c->run);

    e->quitting = true;
    while (e->waiting)
        drop_waiting(e, e->waiting);
    for (struct sweep *s = e->sweeps; s; s = sweep_next(s))
        sweep_end_part(s);
    for (struct run *r = e->running; r; r = r->next) {
        bool cut = c->now && (r->number == c->run || (sweep && r->sweep == sweep));

        run_end_part(r, cut ? WIRE_END_NOW : WIRE_END);
        if (c->now)
            on_end_stop(r);
    }
}

static void leave(struct engine *e, bool leaves)
{
    if (leaves)
        queue_stop(e);
    else
        queue_go(e);
    atomic_store(&e->leaving, leaves);
    while (leaves && e->waiting)
        drop_waiting(e, e->waiting);
    for (struct run *r = e->running; r; r = r->next)
        run_set_wish(r, run_wish(r)); /* which it obeys otherwise now */
}

static void obey(struct engine *e, const struct wire_command *c)
{
    struct sweep *sweep = sweep_find(e, c->run);

    switch (c->kind) {
    case WIRE_START:
        if (e->quitting)
            run_refuse(e, c->run, ERR_STOPPED, "the engine is about to end");
        else
            start(e, c);
        return;
    case WIRE_SWEEP:
        if (e->quitting)
            run_refuse(e, c->run, ERR_STOPPED, "the engine is about to end");
        else if (is_taken(e, c->run))
            run_refuse(e, c->run, ERR_FAILED, "a run of this number waits or runs already");
        else
            sweep_new(e, c->run, c->slot);
        return;
    case WIRE_WISH:
    case WIRE_HAND_OVER:
        if (c->kind == WIRE_HAND_OVER)
            queue_stop(e);
        if (sweep)
            obey_of_sweep(e, sweep, c);
        else
            obey_of_run(e, c);
        return;
    case WIRE_SKIP:
    case WIRE_MOVE:
        if (sweep)
            sweep_command(sweep, c);
        else
            run_refuse(e, c->run, ERR_FAILED, "this sweep neither runs nor waits");
        return;
    case WIRE_ASK:
        planner_ask(e->planner, c);
        return;
    case WIRE_CLOSE:
        queue_stop(e);
        return;
    case WIRE_LEAVE:
    case WIRE_STAY:
        leave(e, c->kind == WIRE_LEAVE);
        return;
    case WIRE_QUIT:
        quit(e, c);
        return;
    }
}

bool engine_begin(struct engine *e, struct run *r)
{
    r->begun_ns = clock_ns();
    if (engine_thread(&r->thread, session_main, r)) {
        run_free(r);
        return false;
    }
    r->next = e->running;
    e->running = r;
    return true;
}

static void begin_next(struct engine *e)
{
    struct run *r = e->waiting;
    uint32_t number = r->number;

    e->waiting = r->next;
    r->next = NULL;
    if (!engine_begin(e, r)) {
        static const char why[] = "no thread could be started for this run";
        struct wire_status status = {.run = number, .state = WIRE_FAILED, .code = ERR_FAILED};

        strcpy(status.reason, why); /* for the queue, which refuses what it began */
        run_refuse(e, number, ERR_FAILED, why);
        wire_set_status(e->wire, &status);
    }
}

/* Whether the run is out of the way: ended, and the command behind its end too. */
static bool is_gone(struct run *r)
{
    if (!r->ended)
        return false;
    if (!r->joined)
        pthread_join(r->thread, NULL);
    r->joined = true;
    return !on_end_runs(r);
}

/* Returns whether there is more to do at once. */
static bool work_on_runs(struct engine *e)
{
    struct run **at = &e->running;
    bool more = false;

    while (*at) {
        struct run *r = *at;

        more |= run_work(r);
        run_tick(r);
        if (!is_gone(r)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        more = true; /* there is room for another one */
        if (r->sweep)
            sweep_forget(r);
        planner_learn(e->planner);
        run_free(r);
    }
    return more;
}

/* Runs have the machine one at a time; a sweep has it with all its cells, and gives it away while it
 * only waits for another program's. */
static bool work_on_sweeps(struct engine *e)
{
    struct sweep *s = e->sweeps;
    bool free_for_it = !e->waiting || sweep_is_before(s, e->waiting);

    for (struct run *r = e->running; r; r = r->next)
        free_for_it = free_for_it && r->sweep == s;
    if (sweep_work(s, free_for_it))
        return false;
    e->sweeps = sweep_next(s);
    sweep_free(s);
    return true;
}

/* What others on this machine see of it. Whoever waits for its end is not to take a moment between two
 * cells, or between two that waited here, for that. */
static void show_work(struct engine *e)
{
    const char *path = NULL, *paused = NULL;
    int runs = 0;
    enum wire_wish wish = WIRE_WISH_RUN, wish_of_paused = WIRE_WISH_PAUSE;
    bool full = false;

    for (struct run *r = e->running; r; r = r->next) {
        bool works = !r->ended && r->state != WIRE_PAUSED;

        if (works && !full) {
            path = r->path;
            wish = run_wish(r);
        }
        full |= works && r->disk_full && path == r->path;
        runs += works && r->path[0];
        if (!r->ended && r->state == WIRE_PAUSED) {
            paused = r->path;
            wish_of_paused = run_wish(r);
        }
    }
    if (!path && !paused && !e->quitting &&
        ((e->sweeps && sweep_goes_on(e->sweeps)) || (e->waiting && !e->running)))
        path = "";
    if (!paused && e->sweeps) /* none of its cells is at work */
        paused = sweep_held(e->sweeps);
    if (!path && paused && paused[0] && !e->quitting) {
        path = paused; /* its turn is not over: nobody is to take what waits behind it */
        wish = wish_of_paused;
    }
    record_work_set_wish(e->work, full, wish);
    record_work_set_sweep(e->work, e->sweeps ? sweep_told(e->sweeps) : NULL);
    record_work_set(e->work, path, runs);
}

static void *engine_main(void *user)
{
    struct engine *e = user;
    struct wire_command c;
    bool more = false;

    while (!e->quitting || e->running || e->sweeps) {
        int patience = more ? 0 : e->running || e->sweeps ? 100 : 1000;

        if (wire_next_command(e->wire, &c, patience))
            obey(e, &c);
        more = work_on_runs(e);
        if (e->sweeps)
            more |= work_on_sweeps(e);
        if (!e->running && e->waiting &&
            !(e->sweeps && sweep_is_before(e->sweeps, e->waiting) && sweep_has_work(e->sweeps)))
            begin_next(e);
        more |= queue_work(e);
        show_work(e);
    }
    queue_free(e->queue);
    record_work_free(e->work);
    planner_stop(e->planner);
    atomic_store(&e->over, true);
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
    engine->queue = config->queue ? queue_new(engine) : NULL;
    record_remove_begun(engine->results);
    engine->work = record_work_new(engine->results);
    engine->planner = planner_start(engine);
    if (!engine->planner || engine_thread(&engine->thread, engine_main, engine)) {
        planner_stop(engine->planner);
        queue_free(engine->queue);
        record_work_free(engine->work);
        free(engine->results);
        free(engine->version);
        free(engine->data_dir);
        free(engine);
        return err_set(e, ERR_FAILED, "the engine's thread could not be started");
    }
    *out = engine;
    return ERR_OK;
}

bool engine_is_stuck(struct engine *engine)
{
    return atomic_load(&engine->stuck);
}

bool engine_is_over(struct engine *engine)
{
    return atomic_load(&engine->over);
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
