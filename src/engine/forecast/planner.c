/* The planner: a thread of its own that answers what a request would cost, whatever trains: within 50 ms by
 * heads of data, and then once more, with which cells have a result. It never touches a session. Only
 * the newest question is of interest, and another one ends what is computed for that before. Between
 * questions it reads the newest runs, to know how long such a run takes here. Other programs' runs end
 * too: a question that comes a while after the last one looks at the results again. */
#include "engine/engine_int.h"
#include "engine/forecast/finder.h"
#include "engine/forecast/forecast.h"
#include "engine/forecast/past.h"
#include "wire/sweep.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READING_NS 25000000u /* of the time for an answer, for reading runs not read yet */
#define SLICE_NS   4000000u  /* for looking at cells, before those seen are priced and told of */
#define TELL_NS    50000000u /* between answers that are not the last */
#define MOST_NAMED 20000     /* cells: of larger sweeps nobody is told which have a result */

struct planner {
    struct engine *engine;
    pthread_t thread;
    atomic_bool stop; /* what is computed is not of interest any more */

    /* Guarded by lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t question, slot; /* slot 0: none waits */
    uint32_t answering;      /* the question that was taken last */
    bool learn, end;

    /* The planner thread's alone. */
    struct look *look;
    uint32_t looks;
    struct past *past;
    struct forecast *forecast; /* of the question that is answered */
    struct past_beside beside;
};

static void price(void *user, const struct spec *spec, struct wire_plan *out)
{
    struct planner *p = user;

    look_begin(p->look, p->looks);
    past_price_spec(p->past, p->look, spec, p->beside, out);
}

static void post(struct planner *p, struct wire_forecast *out)
{
    struct wire_event event = {.kind = WIRE_FORECAST, .run = p->answering};

    if (atomic_load(&p->stop))
        return;
    out->question = p->answering;
    event.slot = wire_slot_put(p->engine->wire, out, sizeof *out);
    wire_post(p->engine->wire, &event);
}

static void tell(struct planner *p, bool final)
{
    struct wire_forecast *out = mem_new(1, sizeof *out);

    forecast_sum(p->forecast, out);
    out->final = final;
    post(p, out);
    free(out);
}

/* The first kinds of cells are told of before all cells are seen. */
static void price_kinds(struct planner *p)
{
    uint64_t told = clock_ns();
    bool all = false;

    for (bool first = true; !all && !atomic_load(&p->stop); first = false) {
        all = forecast_walk(p->forecast, SLICE_NS, &p->stop);
        while (!atomic_load(&p->stop) && forecast_ask(p->forecast, price, p))
            if (clock_ns() - told > TELL_NS) {
                tell(p, false);
                told = clock_ns();
            }
        if (!all && (first || clock_ns() - told > TELL_NS)) {
            tell(p, false);
            told = clock_ns();
        }
    }
}

/* A cell is named by its data too, which must be opened for that. */
static void find_results(struct planner *p, struct finder *finder, size_t cells)
{
    for (size_t i = 0; i < cells && !atomic_load(&p->stop); i++) {
        struct found found;

        finder_look(finder, i, &found);
        plan_free(found.plan);
        if (found.is == FOUND && wire_state_is_final(found.state))
            forecast_has(p->forecast, i, found.state);
    }
}

static void learn_all(struct planner *p)
{
    while (!atomic_load(&p->stop) && past_read(p->past))
        ;
    forecast_ask_again(p->forecast);
    price_kinds(p);
}

static void forecast(struct planner *p, const struct wire_sweep *from, struct spec_sweep *sweep)
{
    size_t cells = spec_sweep_varies(sweep) ? spec_sweep_cells(sweep) : 1;
    struct look *look = look_new(&p->engine->config); /* it opens data, and goes with them */
    struct finder *finder = NULL;
    struct spec_sweep same;
    bool more, results;

    spec_sweep_copy(&same, sweep);
    if (cells > 1 && cells <= MOST_NAMED)
        finder = finder_open(look, &same, from->name, from->failed, false);
    results = finder && finder_has_results(finder);
    p->forecast = forecast_new(sweep, &(struct forecast_wish){.jobs = from->jobs,
                                                              .max_cells = from->max_cells,
                                                              .grid = from->grid,
                                                              .kinds = FORECAST_KINDS});
    more = past_read_for(p->past, READING_NS);
    price_kinds(p);
    if (results || more)
        tell(p, false);
    if (more)
        learn_all(p);
    if (results)
        find_results(p, finder, cells);
    tell(p, true);
    forecast_free(p->forecast);
    p->forecast = NULL;
    finder_close(finder);
    look_free(look);
    spec_sweep_free(&same);
}

static void answer(struct planner *p, uint32_t slot, bool learn)
{
    size_t n = 0;
    struct wire_sweep *from = wire_slot_take(p->engine->wire, slot, &n);
    struct spec_sweep sweep;
    struct err e = {0};
    cpu_set_t before;
    int jobs;

    spec_sweep_init(&sweep);
    if (wire_sweep_read(from, n, &sweep, &e) == ERR_OK && spec_sweep_close(&sweep, &e) == ERR_OK) {
        jobs = spec_sweep_jobs(&sweep, from->jobs);
        p->beside = past_beside(spec_sweep_cells(&sweep), jobs);
        p->looks += p->looks == UINT32_MAX ? 2 : 1;
        past_renew(p->past, learn);
        cores_take(0, jobs, &before); /* threads = all are those of its share */
        forecast(p, from, &sweep);
        cores_give_back(&before);
    } else {
        struct wire_forecast *out = mem_new(1, sizeof *out);

        out->complete = out->final = true;
        snprintf(out->problem, sizeof out->problem, "%s", e.text);
        post(p, out);
        free(out);
    }
    spec_sweep_free(&sweep);
    free(from);
}

static void *planner_main(void *user)
{
    struct planner *p = user;
    bool more = true;

    p->past = past_open(p->engine->results);
    pthread_mutex_lock(&p->lock);
    while (!p->end) {
        uint32_t slot = p->slot;
        bool learn = p->learn;

        if (!slot && !more) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        if (slot) {
            p->slot = 0;
            p->learn = false;
            p->answering = p->question;
            atomic_store(&p->stop, false);
        }
        pthread_mutex_unlock(&p->lock);
        if (slot)
            answer(p, slot, learn);
        more = slot || past_read(p->past);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct planner *planner_start(struct engine *engine)
{
    struct planner *p = mem_new(1, sizeof *p);

    p->engine = engine;
    p->look = look_new(&engine->config);
    atomic_init(&p->stop, false);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    if (engine_thread(&p->thread, planner_main, p)) {
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->lock);
        look_free(p->look);
        free(p);
        return NULL;
    }
    return p;
}

void planner_ask(struct planner *p, const struct wire_command *c)
{
    pthread_mutex_lock(&p->lock);
    if (p->slot)
        free(wire_slot_take(p->engine->wire, p->slot, NULL));
    p->question = c->run;
    p->slot = c->slot;
    if (p->question != p->answering) /* else it would never be answered, asked again and again */
        atomic_store(&p->stop, true);
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

void planner_learn(struct planner *p)
{
    pthread_mutex_lock(&p->lock);
    p->learn = true;
    pthread_mutex_unlock(&p->lock);
}

void planner_stop(struct planner *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->end = true;
    atomic_store(&p->stop, true);
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    if (p->slot)
        free(wire_slot_take(p->engine->wire, p->slot, NULL));
    past_close(p->past);
    look_free(p->look);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
