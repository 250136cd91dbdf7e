/* The planner: a thread of its own that answers questions within 50 ms, whatever trains. It reads
 * headers of data, texts of models and earlier runs' run.csv; it never touches a session. Between
 * questions it reads the newest runs, to know how long such a run takes here. Other programs' runs end
 * too: a question that comes a while after the last one looks at the results again. */
#include "engine/engine_int.h"
#include "engine/forecast/forecast.h"
#include "engine/forecast/look.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/file/disk.h"
#include "record/run/reader.h"
#include "record/stamp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUESTIONS     64
#define RUNS_MAX      500      /* the newest runs are read, no more */
#define READING_NS    25000000 /* of the time for an answer, for reading runs not read yet */
#define AGAIN_NS      1000000000u
#define LISTING_SHARE 20 /* of the time, no more than one part goes into looking again */

struct lesson { /* what a run told; its name is the folder's */
    char *name;
    struct record_stamp stamp; /* of its run.csv */
    bool tells;
    struct experience x;
};

struct planner {
    struct engine *engine;
    pthread_t thread;
    char host[128];

    /* Guarded by lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct question {
        uint32_t number, slot, look;
        int jobs, cells; /* side by side; at the same time */
    } ask[QUESTIONS];
    size_t first, count;
    bool learn, end;

    /* The planner thread's alone. */
    char **names; /* of runs, oldest first */
    size_t names_count, names_left;
    struct experience *known;
    size_t known_count, known_room;
    struct lesson *lesson,
        *before; /* newest first; before: of the last look, what is not read again */
    size_t lessons, lessons_room, befores, before_at;
    uint64_t listed_ns, listing_ns; /* when that was, and how long it took */
    bool stale;                     /* runs have ended since */
    struct look *look;
};

static void free_lessons(struct lesson *lesson, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(lesson[i].name);
    free(lesson);
}

static void list_runs(struct planner *p)
{
    uint64_t start = clock_ns();

    free_lessons(p->before, p->befores);
    p->before = p->lesson;
    p->befores = p->lessons;
    p->lesson = NULL;
    p->lessons = p->lessons_room = p->before_at = 0;
    io_free_names(p->names, p->names_count);
    p->names = NULL;
    p->names_count = p->known_count = 0;
    if (io_list_folder(p->engine->results, &p->names, &p->names_count, NULL) != ERR_OK)
        p->names_count = 0;
    p->names_left = p->names_count;
    p->stale = false;
    p->listed_ns = clock_ns();
    p->listing_ns = p->listed_ns - start;
}

static void look_again(struct planner *p)
{
    uint64_t since = clock_ns() - p->listed_ns;

    if ((p->stale || since >= AGAIN_NS) && since >= LISTING_SHARE * p->listing_ns)
        list_runs(p);
}

/* Both lists are in the order of the names. */
static const struct lesson *find_before(struct planner *p, const char *name)
{
    while (p->before_at < p->befores && strcmp(p->before[p->before_at].name, name) > 0)
        p->before_at++;
    if (p->before_at == p->befores || strcmp(p->before[p->before_at].name, name) != 0)
        return NULL;
    return &p->before[p->before_at];
}

static bool learn_from(const struct planner *p, const char *folder, struct experience *x)
{
    struct record_entry entry;
    bool tells;

    if (!record_is_run(folder) || record_read_entry(folder, &entry, NULL) != ERR_OK)
        return false;
    tells = !entry.broken && (!entry.run.host[0] || !strcmp(entry.run.host, p->host)) &&
            forecast_learn(x, &entry.run);
    if (tells)
        forecast_weigh(x);
    record_free_entry(&entry);
    return tells;
}

static void learn_run(struct planner *p, const char *name, const char *folder)
{
    char *csv = io_path(folder, "run.csv");
    struct lesson l = {.tells = false};
    const struct lesson *old = find_before(p, name);
    double now = clock_wall();
    struct stat st;

    if (io.stat(csv, &st) == 0) {
        record_stamp_of(&l.stamp, &st);
        if (old && record_stamp_same(&old->stamp, &l.stamp))
            l = *old;
        else
            l.tells = learn_from(p, folder, &l.x);
        if (l.tells) {
            p->known = mem_grow(p->known, &p->known_room, p->known_count + 1, sizeof *p->known);
            p->known[p->known_count++] = l.x;
        }
        if (record_stamp_settled(&l.stamp, now)) {
            l.name = mem_text(name);
            p->lesson = mem_grow(p->lesson, &p->lessons_room, p->lessons + 1, sizeof l);
            p->lesson[p->lessons++] = l;
        }
    }
    free(csv);
}

/* Reads one run, the newest that was not read yet. Returns whether there are more. */
static bool read_run(struct planner *p)
{
    char *folder;

    if (p->names_left == 0 || p->names_count - p->names_left >= RUNS_MAX)
        return false;
    folder = io_path(p->engine->results, p->names[--p->names_left]);
    learn_run(p, p->names[p->names_left], folder);
    free(folder);
    return p->names_left > 0;
}

static double expected_seconds(const struct planner *p, const struct plan *plan, int *guessed)
{
    const struct spec *s = &plan->spec;
    int64_t steps = plan->total_steps;
    double seconds;
    struct forecast_ask ask = {
        .backend = plan->backend->name,
        .isa = plan_isa(plan),
        .precision = plan->precision_used,
        .data = s->data,
        .flops = plan->net->flops,
        .parameters = (double)plan->net->parameter_count,
        .batch = (double)s->batch,
        .threads = s->threads > 0 ? s->threads : 1,
        .members = plan->session.members,
        .test_images = (double)plan->test_images,
        .valid_images = (double)plan->valid_images,
        .test_limit = s->test_limit,
    };

    if (s->max_steps && s->max_steps < steps)
        steps = s->max_steps;
    ask.model_images = (double)steps * ask.batch * ask.members;
    ask.evaluations =
        plan->steps_per_epoch > 0 ? ceil((double)steps / (double)plan->steps_per_epoch) : 0;
    seconds = forecast_seconds(p->known, p->known_count, &ask, guessed);
    return s->max_minutes > 0 && seconds > 60 * s->max_minutes ? 60 * s->max_minutes : seconds;
}

/* What no GPU, or the memory here, can hold is refused; what is too much only now may have room when it
 * starts. */
static enum err_code fill_memory(struct planner *p, const struct plan *plan, struct wire_plan *out,
                                 struct err *e)
{
    struct backend_estimate estimate = {0};
    uint64_t bytes = 0;

    if (look_estimate(p->look, plan, &estimate, NULL) != ERR_OK)
        return ERR_OK;
    for (int i = 0; i < estimate.places; i++)
        bytes += estimate.bytes[i];
    out->bytes_per_device = bytes / (uint64_t)plan->spec.devices;
    out->unused_bytes = estimate.unused;
    out->lacking = estimate.lacking[0] != '\0';
    return estimate.never ? err_set(e, ERR_NOMEM, "%s", estimate.lacking) : ERR_OK;
}

static void fill_answer(struct planner *p, const struct plan *plan, struct wire_plan *out)
{
    int guessed;

    out->images = plan->train_images;
    out->test_images = plan->test_images;
    out->dropped = plan->dropped;
    out->steps_per_epoch = plan->steps_per_epoch;
    out->batch = plan->spec.batch;
    out->batch_per_device = plan->batch_per_device;
    out->h = plan->net->input.h;
    out->w = plan->net->input.w;
    out->c = plan->net->input.c;
    out->classes = plan->net->classes;
    out->devices = plan->spec.devices;
    out->real_devices = plan->real_devices;
    out->members = plan->session.members;
    out->threads = plan->spec.threads;
    out->parameters = plan->net->parameter_count;
    out->flops_per_image = plan->net->flops;
    out->lr = plan->base_lr;
    out->seconds = expected_seconds(p, plan, &guessed);
    out->guessed_from = guessed;
    snprintf(out->backend, sizeof out->backend, "%s", plan->backend->name);
}

static void answer(struct planner *p, const struct question *q)
{
    struct wire *wire = p->engine->wire;
    struct wire_event event = {.kind = WIRE_PLAN, .run = q->number};
    struct wire_plan out = {.question = q->number, .seconds = NAN};
    uint64_t start = clock_ns();
    struct err e = {0};
    struct plan *plan = NULL;
    size_t n = 0;
    struct spec *spec = wire_slot_take(wire, q->slot, &n);
    struct plan_source source = look_source(p->look);
    cpu_set_t before;

    look_begin(p->look, q->look);
    look_again(p);
    while (read_run(p) && clock_ns() - start < READING_NS)
        ;
    CPU_ZERO(&before);
    if (q->jobs > 1)
        cores_take(0, q->jobs, &before); /* threads = all are those of its share */
    if (!spec || n != sizeof *spec)
        out.code = err_set(&e, ERR_FAILED, "a question came without its experiment");
    else
        out.code = plan_make_with(&plan, spec, &p->engine->config.places,
                                  p->engine->config.backends, &source, &e);
    if (out.code == ERR_OK)
        out.code = look_weights(p->look, plan, p->names_count > RUNS_MAX, &e);
    if (out.code == ERR_OK)
        out.code = look_results(p->look, &e);
    if (out.code == ERR_OK)
        out.code = fill_memory(p, plan, &out, &e);
    if (out.code == ERR_OK)
        fill_answer(p, plan, &out);
    else
        snprintf(out.error, sizeof out.error, "%s", e.text);
    cores_give_back(&before);
    _Static_assert(sizeof out.crowding == PLAN_CROWDING_ROOM, "it takes the whole sentence");
    if (out.code == ERR_OK)
        (void)plan_crowding(plan, q->cells, out.crowding);
    plan_free(plan);
    free(spec);
    event.slot = wire_slot_put(wire, &out, sizeof out);
    wire_post(wire, &event);
}

static void *planner_main(void *user)
{
    struct planner *p = user;
    bool more = true;

    list_runs(p);
    pthread_mutex_lock(&p->lock);
    while (!p->end) {
        if (p->count) {
            struct question question = p->ask[p->first];

            p->first = (p->first + 1) % QUESTIONS;
            p->count--;
            p->stale |= p->learn;
            p->learn = false;
            pthread_mutex_unlock(&p->lock);
            answer(p, &question);
            more = true;
        } else if (more) {
            pthread_mutex_unlock(&p->lock);
            more = read_run(p);
        } else {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct planner *planner_start(struct engine *engine)
{
    struct planner *p = mem_new(1, sizeof *p);

    p->engine = engine;
    p->look = look_new(engine->results);
    gethostname(p->host, sizeof p->host - 1);
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
    int cells = (int64_t)c->cell < c->by ? (int)c->cell : c->by;
    bool full;

    pthread_mutex_lock(&p->lock);
    full = p->count == QUESTIONS;
    if (!full)
        p->ask[(p->first + p->count++) % QUESTIONS] =
            (struct question){c->run, c->slot, c->look, c->by, cells};
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (full) {
        free(wire_slot_take(p->engine->wire, c->slot, NULL));
        run_refuse(p->engine, c->run, ERR_FAILED, "too many questions wait for an answer");
    }
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
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    io_free_names(p->names, p->names_count);
    free_lessons(p->lesson, p->lessons);
    free_lessons(p->before, p->befores);
    free(p->known);
    look_free(p->look);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
