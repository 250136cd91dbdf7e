#include "engine/forecast/past.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "engine/forecast/experience.h"
#include "record/list.h"
#include "record/run/reader.h"
#include "record/stamp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNS_MAX      500 /* the newest runs are read, no more */
#define AGAIN_NS      1000000000u
#define LISTING_SHARE 20 /* of the time, no more than one part goes into looking again */

struct lesson { /* what a run told; its name is the folder's */
    char *name;
    struct record_stamp stamp; /* of its run.csv */
    bool tells;
    struct experience x;
};

struct past {
    const char *results;
    char host[128];
    char **names; /* of runs, oldest first */
    size_t names_count, names_left;
    struct experience *known;
    size_t known_count, known_room;
    struct lesson *lesson,
        *before; /* newest first; before: of the last look, what is not read again */
    size_t lessons, lessons_room, befores, before_at;
    uint64_t listed_ns, listing_ns; /* when that was, and how long it took */
    bool stale;                     /* runs have ended since */
};

static void free_lessons(struct lesson *lesson, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(lesson[i].name);
    free(lesson);
}

static void list_runs(struct past *p)
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
    if (io_list_folder(p->results, &p->names, &p->names_count, NULL) != ERR_OK)
        p->names_count = 0;
    p->names_left = p->names_count;
    p->stale = false;
    p->listed_ns = clock_ns();
    p->listing_ns = p->listed_ns - start;
}

void past_renew(struct past *p, bool ended)
{
    uint64_t since = clock_ns() - p->listed_ns;

    p->stale |= ended;
    if ((p->stale || since >= AGAIN_NS) && since >= LISTING_SHARE * p->listing_ns)
        list_runs(p);
}

/* Both lists are in the order of the names. */
static const struct lesson *find_before(struct past *p, const char *name)
{
    while (p->before_at < p->befores && strcmp(p->before[p->before_at].name, name) > 0)
        p->before_at++;
    if (p->before_at == p->befores || strcmp(p->before[p->before_at].name, name) != 0)
        return NULL;
    return &p->before[p->before_at];
}

static bool learn_from(const struct past *p, const char *folder, struct experience *x)
{
    struct record_entry entry;
    bool tells;

    if (!record_is_run(folder) || record_read_entry(folder, &entry, NULL) != ERR_OK)
        return false;
    tells = !entry.broken && (!entry.run.host[0] || !strcmp(entry.run.host, p->host)) &&
            experience_learn(x, &entry.run);
    if (tells)
        experience_weigh(x);
    record_free_entry(&entry);
    return tells;
}

static void learn_run(struct past *p, const char *name, const char *folder)
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

bool past_read(struct past *p)
{
    char *folder;

    if (p->names_left == 0 || p->names_count - p->names_left >= RUNS_MAX)
        return false;
    folder = io_path(p->results, p->names[--p->names_left]);
    learn_run(p, p->names[p->names_left], folder);
    free(folder);
    return p->names_left > 0;
}

bool past_read_for(struct past *p, uint64_t ns)
{
    uint64_t start = clock_ns();
    bool more = true;

    while (more && clock_ns() - start < ns)
        more = past_read(p);
    return more;
}

struct past *past_open(const char *results)
{
    struct past *p = mem_new(1, sizeof *p);

    p->results = results;
    gethostname(p->host, sizeof p->host - 1);
    list_runs(p);
    return p;
}

void past_close(struct past *p)
{
    if (!p)
        return;
    io_free_names(p->names, p->names_count);
    free_lessons(p->lesson, p->lessons);
    free_lessons(p->before, p->befores);
    free(p->known);
    free(p);
}

static double expected_seconds(const struct past *p, const struct plan *plan, int *guessed)
{
    const struct spec *s = &plan->spec;
    int64_t steps = plan->total_steps;
    double seconds;
    struct experience_ask ask = {
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
    seconds = experience_seconds(p->known, p->known_count, &ask, guessed);
    return s->max_minutes > 0 && seconds > 60 * s->max_minutes ? 60 * s->max_minutes : seconds;
}

/* What no GPU, or the memory here, can hold is refused; what is too much only now may have room when it
 * starts. */
static enum err_code fill_memory(struct look *l, const struct plan *plan, struct wire_plan *out,
                                 struct err *e)
{
    struct backend_estimate estimate = {0};
    uint64_t bytes = 0;

    if (look_estimate(l, plan, &estimate, NULL) != ERR_OK)
        return ERR_OK;
    for (int i = 0; i < estimate.places; i++) {
        bytes += estimate.bytes[i];
        if (i < 64 && estimate.bytes[i] > out->most_bytes)
            out->most_bytes = estimate.bytes[i];
    }
    out->places = estimate.places;
    out->bytes_per_device = bytes / (uint64_t)plan->spec.devices;
    out->unused_bytes = estimate.unused;
    snprintf(out->lacking, sizeof out->lacking, "%s", estimate.lacking);
    return estimate.never ? err_set(e, ERR_NOMEM, "%s", estimate.lacking) : ERR_OK;
}

/* Images that all models together are trained on. */
static double model_images(const struct plan *p)
{
    int models = p->session.mode == SPEC_ENSEMBLE ? p->session.members : 1;
    int64_t most = p->spec.max_steps;
    int64_t steps = most && most < p->total_steps ? most : p->total_steps;

    return (double)steps * (double)p->session.batch * models;
}

static void fill_answer(const struct past *p, const struct plan *plan, struct wire_plan *out)
{
    int guessed;

    out->images = plan->train_images;
    out->test_images = plan->test_images;
    out->dropped = plan->dropped;
    out->steps_per_epoch = plan->steps_per_epoch;
    out->batch = plan->spec.batch;
    out->batch_per_device = plan->batch_per_device;
    out->epochs = plan->spec.epochs;
    out->ensemble = plan->session.mode == SPEC_ENSEMBLE;
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
    out->model_images = model_images(plan);
    out->lr = plan->base_lr;
    out->seconds = expected_seconds(p, plan, &guessed);
    out->guessed_from = guessed;
    snprintf(out->backend, sizeof out->backend, "%s", plan->backend->name);
}

struct past_beside past_beside(size_t cells, int jobs)
{
    return (struct past_beside){cells < (size_t)jobs ? (int)cells : jobs, plan_cores()};
}

void past_price(const struct past *p, struct look *l, const struct plan *plan,
                struct past_beside beside, struct wire_plan *out)
{
    struct err e = {0};

    *out = (struct wire_plan){.seconds = NAN};
    out->code = look_weights(l, plan, p->names_count > RUNS_MAX, &e);
    if (out->code == ERR_OK)
        out->code = look_results(l, &e);
    if (out->code == ERR_OK)
        out->code = fill_memory(l, plan, out, &e);
    if (out->code == ERR_OK)
        fill_answer(p, plan, out);
    else
        snprintf(out->error, sizeof out->error, "%s", e.text);
    _Static_assert(sizeof out->crowding == PLAN_CROWDING_ROOM, "it takes the whole sentence");
    if (out->code == ERR_OK)
        (void)plan_crowding(plan, beside.cells, beside.cores, out->crowding);
}

void past_price_spec(const struct past *p, struct look *l, const struct spec *spec,
                     struct past_beside beside, struct wire_plan *out)
{
    struct plan *plan;
    struct err e = {0};

    *out = (struct wire_plan){.seconds = NAN};
    out->code = look_plan(l, &plan, spec, LOOK_HEADS, &e);
    if (out->code == ERR_OK)
        past_price(p, l, plan, beside, out);
    else
        snprintf(out->error, sizeof out->error, "%s", e.text);
    plan_free(plan);
}
