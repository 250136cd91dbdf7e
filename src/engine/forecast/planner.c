/* The planner: a thread of its own that answers what a request would cost, whatever trains: within 50 ms, by
 * heads of data. It never touches a session. Between questions it reads the newest runs, to know how
 * long such a run takes here. Other programs' runs end too: a question that comes a while after the
 * last one looks at the results again. Which cells have a result is found by a second thread: their
 * data must be opened for that, which takes longer than anybody waits for an answer. Only the newest
 * question is of interest, and another one ends what is computed for the one before. */
#include "engine/engine_int.h"
#include "engine/forecast/finder.h"
#include "engine/forecast/forecast.h"
#include "engine/forecast/past.h"
#include "record/sweep/sweeps.h"
#include "wire/sweep.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READING_NS 25000000u /* of the time for an answer, for reading runs not read yet */
#define SLICE_NS   4000000u  /* for looking at cells, before those seen are priced and told of */
#define TELL_NS    50000000u /* between answers that are not the last */
#define MOST_NAMED 20000     /* cells: of larger sweeps nobody is told which have a result */

struct job {
    uint32_t question, slot; /* slot 0: it was taken */
    char name[128];
    bool failed;
    int jobs; /* side by side */
    size_t cells;
    struct spec_sweep sweep;
    struct forecast *forecast;
};

struct worker { /* a thread that has the newest job alone */
    struct planner *planner;
    bool (*work)(struct planner *p,
                 struct job *job); /* job NULL: none waits. Whether there is more */
    pthread_t thread;
    bool begun;
    atomic_bool stop; /* the job that it has is not of interest any more */

    /* Guarded by lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *next;  /* NULL: none waits */
    uint32_t question; /* of the job that was taken last */
    bool end;
};

struct planner {
    struct engine *engine;
    struct worker answers, results;
    atomic_bool learn; /* runs have ended */

    /* The first worker's alone. */
    struct look *look;
    uint32_t looks;
    struct past *past;
    struct past_beside beside;
};

/* ---- workers ---- */

static void free_job(struct planner *p, struct job *job)
{
    if (!job)
        return;
    if (job->slot)
        free(wire_slot_take(p->engine->wire, job->slot, NULL));
    forecast_free(job->forecast);
    spec_sweep_free(&job->sweep);
    free(job);
}

static void *worker_main(void *user)
{
    struct worker *w = user;
    bool more = true;

    pthread_mutex_lock(&w->lock);
    while (!w->end) {
        struct job *job = w->next;

        if (!job && !more) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        w->next = NULL;
        if (job) {
            w->question = job->question;
            atomic_store(&w->stop, false);
        }
        pthread_mutex_unlock(&w->lock);
        more = w->work(w->planner, job);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void worker_init(struct worker *w, struct planner *p,
                        bool (*work)(struct planner *, struct job *))
{
    w->planner = p;
    w->work = work;
    atomic_init(&w->stop, false);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
}

static bool worker_begin(struct worker *w)
{
    w->begun = w->begun || engine_thread(&w->thread, worker_main, w) == 0;
    return w->begun;
}

/* Takes the job, in place of one that waits; NULL: another question was asked. */
static void worker_give(struct worker *w, struct job *job, uint32_t question)
{
    pthread_mutex_lock(&w->lock);
    free_job(w->planner, w->next);
    w->next = job;
    if (w->question != question) /* else it would never be answered, asked again and again */
        atomic_store(&w->stop, true);
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void worker_end(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->end = true;
    atomic_store(&w->stop, true);
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    if (w->begun)
        pthread_join(w->thread, NULL);
    free_job(w->planner, w->next);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

/* ---- answers ---- */

static void post(struct worker *w, uint32_t question, struct wire_forecast *out)
{
    struct wire_event event = {.kind = WIRE_FORECAST, .run = question};
    struct wire *wire = w->planner->engine->wire;

    if (atomic_load(&w->stop))
        return;
    out->question = question;
    event.slot = wire_slot_put(wire, out, sizeof *out);
    wire_post(wire, &event);
}

static void tell(struct worker *w, const struct job *job, bool final)
{
    struct wire_forecast *out = mem_new(1, sizeof *out);

    forecast_sum(job->forecast, out);
    out->final = final;
    post(w, job->question, out);
    free(out);
}

static void price(void *user, const struct spec *spec, struct wire_plan *out)
{
    struct planner *p = user;

    look_begin(p->look, p->looks);
    past_price_spec(p->past, p->look, spec, p->beside, out);
}

/* The first kinds of cells are told of before all cells are seen. */
static void price_kinds(struct planner *p, struct job *job)
{
    struct worker *w = &p->answers;
    uint64_t told = clock_ns();
    bool all = false;

    for (bool first = true; !all && !atomic_load(&w->stop); first = false) {
        all = forecast_walk(job->forecast, SLICE_NS, &w->stop);
        while (!atomic_load(&w->stop) && forecast_ask(job->forecast, price, p))
            if (clock_ns() - told > TELL_NS) {
                tell(w, job, false);
                told = clock_ns();
            }
        if (!all && (first || clock_ns() - told > TELL_NS)) {
            tell(w, job, false);
            told = clock_ns();
        }
    }
}

static void learn_all(struct planner *p, struct job *job)
{
    while (!atomic_load(&p->answers.stop) && past_read(p->past))
        ;
    forecast_ask_again(job->forecast);
    price_kinds(p, job);
}

/* Whether any of its cells may have a result, which is to be found. */
static bool may_have_results(struct planner *p, const struct job *job)
{
    char *folder = record_sweep_folder(p->engine->results, job->name);
    char *ledger = io_path(folder, "ledger.csv");
    bool may = job->cells > 1 && job->cells <= MOST_NAMED && io_exists(ledger);

    free(folder);
    free(ledger);
    return may && worker_begin(&p->results);
}

/* Returns whether the job is somebody else's now. */
static bool forecast(struct planner *p, struct job *job, const struct wire_sweep *from)
{
    struct spec_sweep copy;
    bool more, results;

    results = may_have_results(p, job);
    spec_sweep_copy(&copy, &job->sweep);
    job->forecast = forecast_new(&copy, &(struct forecast_wish){.jobs = from->jobs,
                                                                .max_cells = from->max_cells,
                                                                .grid = from->grid,
                                                                .kinds = FORECAST_KINDS});
    more = past_read_for(p->past, READING_NS);
    price_kinds(p, job);
    if (results || more)
        tell(&p->answers, job, false);
    if (more)
        learn_all(p, job);
    if (results && !atomic_load(&p->answers.stop)) {
        worker_give(&p->results, job, job->question);
        return true;
    }
    tell(&p->answers, job, true);
    return false;
}

static bool answer(struct planner *p, struct job *job)
{
    size_t n = 0;
    struct wire_sweep *from;
    struct err e = {0};
    cpu_set_t before;
    bool given = false;

    if (!p->past)
        p->past = past_open(p->engine->results);
    if (!job)
        return past_read(p->past);
    from = wire_slot_take(p->engine->wire, job->slot, &n);
    job->slot = 0;
    spec_sweep_init(&job->sweep);
    if (wire_sweep_read(from, n, &job->sweep, &e) == ERR_OK &&
        spec_sweep_close(&job->sweep, &e) == ERR_OK) {
        memcpy(job->name, from->name, sizeof job->name);
        job->failed = from->failed;
        job->jobs = spec_sweep_jobs(&job->sweep, from->jobs);
        job->cells = spec_sweep_varies(&job->sweep) ? spec_sweep_cells(&job->sweep) : 1;
        p->beside = past_beside(job->cells, job->jobs);
        p->looks += p->looks == UINT32_MAX ? 2 : 1;
        past_renew(p->past, atomic_exchange(&p->learn, false));
        cores_take(0, job->jobs, &before); /* threads = all are those of its share */
        given = forecast(p, job, from);
        cores_give_back(&before);
    } else {
        struct wire_forecast *out = mem_new(1, sizeof *out);

        out->complete = out->final = true;
        snprintf(out->problem, sizeof out->problem, "%s", e.text);
        post(&p->answers, job->question, out);
        free(out);
    }
    if (!given)
        free_job(p, job);
    free(from);
    return true;
}

static void name_cells(struct worker *w, struct job *job)
{
    struct look *look = look_new(&w->planner->engine->config);
    struct finder *finder = finder_open(look, &job->sweep, job->name, job->failed, false);
    size_t cells = finder_has_results(finder) ? job->cells : 0;

    for (size_t i = 0; i < cells && !atomic_load(&w->stop); i++) {
        struct found found;

        finder_look(finder, i, &found);
        plan_free(found.plan);
        if (found.is == FOUND && wire_state_is_final(found.state))
            forecast_has(job->forecast, i, found.state);
    }
    finder_close(finder);
    look_free(look);
}

static bool find_results(struct planner *p, struct job *job)
{
    cpu_set_t before;

    if (!job)
        return false;
    cores_take(0, job->jobs, &before);
    name_cells(&p->results, job);
    cores_give_back(&before);
    tell(&p->results, job, true);
    free_job(p, job);
    return false;
}

struct planner *planner_start(struct engine *engine)
{
    struct planner *p = mem_new(1, sizeof *p);

    p->engine = engine;
    p->look = look_new(&engine->config);
    atomic_init(&p->learn, false);
    worker_init(&p->answers, p, answer);
    worker_init(&p->results, p, find_results);
    if (worker_begin(&p->answers))
        return p;
    planner_stop(p);
    return NULL;
}

void planner_ask(struct planner *p, const struct wire_command *c)
{
    struct job *job = mem_new(1, sizeof *job);

    job->question = c->run;
    job->slot = c->slot;
    worker_give(&p->results, NULL, c->run);
    worker_give(&p->answers, job, c->run);
}

void planner_learn(struct planner *p)
{
    atomic_store(&p->learn, true);
}

void planner_stop(struct planner *p)
{
    if (!p)
        return;
    worker_end(&p->answers);
    worker_end(&p->results);
    past_close(p->past);
    look_free(p->look);
    free(p);
}
