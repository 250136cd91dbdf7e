/* Which cells of a sweep have a result already. A cell is named by its data too, which must be opened
 * for that: the planner, whose answers are waited for, has no time for it, so this thread does it. It
 * begins with the first question; only the newest one is of interest. */
#include "engine/forecast/cell_results.h"
#include "engine/engine_int.h"
#include "engine/forecast/preview.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct cell_counter {
    struct engine *engine;
    pthread_t thread;
    atomic_bool stop; /* what is being counted is not of interest any more */

    /* Guarded by lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t question, slot; /* slot 0: none waits */
    uint32_t counting;       /* the question that was taken last */
    bool end;
};

static struct wire_counted *add(struct wire_counted *list, size_t *room, uint32_t cell,
                                enum wire_state state)
{
    if (list->cells == *room) {
        *room = 2 * *room + 64;
        list = mem_resize(list, 1, sizeof *list + *room * sizeof *list->cell);
    }
    list->cell[list->cells++] = (struct wire_ended){cell, state};
    return list;
}

/* The threads of a cell are those of its share of the machine. */
static struct wire_counted *look_at_cells(struct cell_counter *t, const struct spec_sweep *sweep,
                                          const struct cell_results *ended,
                                          struct wire_counted *out)
{
    struct preview *preview = preview_open(&t->engine->config, true);
    struct spec *cell = mem_new(1, sizeof *cell);
    size_t cells = spec_sweep_cells(sweep), room = 0;

    for (size_t i = 0; i < cells && !atomic_load(&t->stop); i++) {
        enum wire_state state = WIRE_WAITING;
        struct plan *plan = NULL;
        char hash[17];

        if (spec_sweep_cell(sweep, i, cell, NULL) == ERR_OK &&
            preview_plan(preview, &plan, cell, NULL) == ERR_OK) {
            plan_hash(plan, hash);
            state = cell_results_look(ended, hash);
        }
        plan_free(plan);
        if (wire_state_is_final(state))
            out = add(out, &room, (uint32_t)i, state);
    }
    free(cell);
    preview_close(preview);
    return out;
}

static struct wire_counted *count(struct cell_counter *t, const struct wire_sweep *from,
                                  struct wire_counted *out)
{
    struct cell_results *ended = cell_results_open(t->engine->results, from->name, from->failed);
    struct spec_sweep sweep;
    struct err e = {0};
    cpu_set_t before;

    spec_sweep_init(&sweep);
    if (ended &&
        spec_sweep_parse(&sweep, from->text, strlen(from->text), "sweep.ini", &e) == ERR_OK &&
        spec_sweep_close(&sweep, &e) == ERR_OK) {
        cores_take(0, spec_sweep_jobs(&sweep, from->jobs), &before);
        out = look_at_cells(t, &sweep, ended, out);
        cores_give_back(&before);
    }
    spec_sweep_free(&sweep);
    cell_results_close(ended);
    return out;
}

static void answer(struct cell_counter *t, uint32_t question, uint32_t slot)
{
    struct wire *wire = t->engine->wire;
    struct wire_event event = {.kind = WIRE_COUNTED, .run = question};
    struct wire_counted *out = mem_new(1, sizeof *out);
    size_t n = 0;
    struct wire_sweep *from = wire_slot_take(wire, slot, &n);

    out->question = question;
    if (from && n > sizeof *from && !from->text[n - sizeof *from - 1])
        out = count(t, from, out);
    free(from);
    if (!atomic_load(&t->stop)) {
        event.slot = wire_slot_put(wire, out, sizeof *out + out->cells * sizeof *out->cell);
        wire_post(wire, &event);
    }
    free(out);
}

static void *cell_counter_main(void *user)
{
    struct cell_counter *t = user;

    pthread_mutex_lock(&t->lock);
    while (!t->end) {
        uint32_t question = t->question, slot = t->slot;

        if (!slot) {
            pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        t->slot = 0;
        t->counting = question;
        atomic_store(&t->stop, false);
        pthread_mutex_unlock(&t->lock);
        answer(t, question, slot);
        pthread_mutex_lock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static bool start(struct engine *e)
{
    struct cell_counter *t = mem_new(1, sizeof *t);

    t->engine = e;
    atomic_init(&t->stop, false);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    if (engine_thread(&t->thread, cell_counter_main, t)) {
        pthread_cond_destroy(&t->changed);
        pthread_mutex_destroy(&t->lock);
        free(t);
        return false;
    }
    e->cell_counter = t;
    return true;
}

void cell_counter_ask(struct engine *e, uint32_t question, uint32_t slot)
{
    struct cell_counter *t;

    if (!e->cell_counter && !start(e)) {
        free(wire_slot_take(e->wire, slot, NULL));
        return;
    }
    t = e->cell_counter;
    pthread_mutex_lock(&t->lock);
    if (t->slot)
        free(wire_slot_take(e->wire, t->slot, NULL));
    t->question = question;
    t->slot = slot;
    if (question != t->counting) /* else it would never be answered, asked again and again */
        atomic_store(&t->stop, true);
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

void cell_counter_stop(struct engine *e)
{
    struct cell_counter *t = e->cell_counter;

    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->end = true;
    atomic_store(&t->stop, true);
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    if (t->slot)
        free(wire_slot_take(e->wire, t->slot, NULL));
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
    e->cell_counter = NULL;
}
