/* What a sweep's cells are: a thread of its own plans one after the other, in the order in which they
 * will run, without opening a device. Data sets are opened once for all cells that train on them. */
#include "engine/forecast/finder.h"
#include "engine/forecast/past.h"
#include "engine/sweep/sweep_int.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/list.h"
#include "record/run/reader.h"
#include "record/run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POKE_NS    50000000
#define READING_NS 25000000u /* for earlier runs, before the first cell */

struct counter {
    struct sweep *s;
    struct look *look;
    struct finder *finder;
    struct past *past;
    uint64_t poked_ns;
};

/* What names one that is no experiment at all: its place in the lists. */
static void hash_of_values(const struct spec_sweep *s, size_t number, char out[17])
{
    size_t *place = mem_new(s->axes + 1, sizeof *place);
    struct text t = {0};

    spec_sweep_place(s, number, place);
    for (size_t a = 0; a < s->axes; a++)
        text_addf(&t, "%s = %s\n", s->axis[a].key, s->axis[a].value[place[a]]);
    hash_digits(out, 17, text_str(&t), t.n);
    text_free(&t);
    free(place);
}

/* The kind of a cell; kinds: there is none like it yet. */
static size_t find_kind(const struct sweep *s, const struct kind *k)
{
    size_t i = 0;

    while (i < s->kinds && (s->kind[i].cost != k->cost || s->kind[i].batch != k->batch ||
                            s->kind[i].devices != k->devices || s->kind[i].members != k->members ||
                            s->kind[i].threads != k->threads || s->kind[i].backend != k->backend))
        i++;
    return i;
}

/* The engine thread reads kinds under the lock. */
static int kind_of(struct counter *c, const struct plan *p)
{
    const struct spec *spec = &p->spec;
    struct wire_plan *price;
    struct sweep *s = c->s;
    struct kind k = {.batch = spec->batch,
                     .steps = p->total_steps,
                     .epochs = spec->epochs,
                     .devices = spec->devices,
                     .members = p->session.members,
                     .threads = spec->threads,
                     .backend = p->backend};
    size_t kind;

    if (spec->max_steps && spec->max_steps < k.steps)
        k.steps = spec->max_steps;
    k.cost = (double)k.steps * (double)k.batch * k.members * p->net->flops /
             (k.threads > 0 ? k.threads : 1);
    kind = find_kind(s, &k);
    if (kind < s->kinds)
        return (int)kind;
    price = mem_new(1, sizeof *price);
    past_price(c->past, c->look, p, past_beside(1, 1), price);
    k.forecast = price->seconds;
    free(price);
    pthread_mutex_lock(&s->lock);
    s->kind = mem_grow(s->kind, &s->kind_room, s->kinds + 1, sizeof *s->kind);
    s->kind[s->kinds++] = k;
    pthread_mutex_unlock(&s->lock);
    return (int)kind;
}

/* Of GPUs the backend itself knows. */
static bool is_too_large(struct counter *c, const struct plan *p)
{
    struct backend_estimate estimate = {0};

    return !p->backend->gpus && look_estimate(c->look, p, &estimate, NULL) == ERR_OK &&
           estimate.never;
}

static void add(struct counter *c, size_t number, const struct found *found)
{
    struct sweep *s = c->s;
    struct cell *cell = &s->cell[s->counted];
    uint64_t now = clock_ns();

    cell->number = number;
    memcpy(cell->hash, found->hash, 17);
    memcpy(cell->bare, found->bare, 17);
    cell->too_large = found->plan && is_too_large(c, found->plan);
    cell->kind = found->plan ? kind_of(c, found->plan) : -1;
    pthread_mutex_lock(&s->lock);
    if (!found->plan) {
        cell->why = found->e.code;
        cell->reason = mem_text(found->e.text);
        if (s->first.code == ERR_OK)
            s->first = found->e;
    }
    s->planned += found->plan != NULL;
    s->counted++;
    pthread_mutex_unlock(&s->lock);
    if (now - c->poked_ns > POKE_NS) {
        c->poked_ns = now;
        wire_poke(s->engine->wire);
    }
}

static void leave_out(struct sweep *s, size_t number, const struct err *e, bool twin)
{
    struct left_out one = {.number = number};

    if (!twin) {
        hash_of_values(&s->spec, number, one.hash);
        one.reason = mem_text(e->text);
    }
    pthread_mutex_lock(&s->lock);
    if (!twin) {
        size_t n = s->left_out - s->twins;

        s->impossible = mem_grow(s->impossible, &s->impossible_room, n + 1, sizeof one);
        s->impossible[n] = one;
    }
    s->left_out++;
    s->twins += twin;
    if (s->first.code == ERR_OK)
        s->first = *e;
    pthread_mutex_unlock(&s->lock);
}

static void count_one(struct counter *c, size_t number)
{
    struct found found;

    finder_look(c->finder, number, &found);
    if (found.is == FOUND_TWIN)
        err_set(&found.e, ERR_INPUT, "another cell is the same");
    if (found.is == FOUND_TWIN || found.is == FOUND_IMPOSSIBLE)
        leave_out(c->s, number, &found.e, found.is == FOUND_TWIN);
    else
        add(c, number, &found);
    plan_free(found.plan);
}

/* Folders that a program made and died before it could write its claim: they hold nothing yet. */
static void find_orphans(struct sweep *s)
{
    char *folder = mem_textf("%s/sweeps/%s", s->engine->results, s->name);
    struct record_entry *list = NULL;
    size_t n = 0;

    if (io_exists(folder) && record_list(s->engine->results, &list, &n, NULL) != ERR_OK)
        n = 0;
    free(folder);
    for (size_t i = 0; i < n; i++) {
        const struct record_run *run = &list[i].run;

        if (!list[i].broken && !list[i].live && run->state == WIRE_WAITING &&
            !strcmp(run->sweep, s->name))
            book_add_orphan(s, run->cell, list[i].name);
    }
    record_free_list(list, n);
}

static void *count_all(void *user)
{
    struct sweep *s = user;
    struct counter *c = mem_new(1, sizeof *c);
    size_t n = spec_sweep_cells(&s->spec), *order = mem_new(n, sizeof *order);
    bool cut = false;

    c->s = s;
    c->look = look_new(&s->engine->config);
    c->finder = finder_open(c->look, &s->spec, NULL, false, true);
    c->past = past_open(s->engine->results);
    past_read_for(c->past, READING_NS);
    find_orphans(s);
    cores_take(0, s->jobs, NULL); /* threads = all must mean what it will mean */
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    if (!s->grid)
        spec_sweep_spread(&s->spec, order);
    for (size_t i = 0; i < n && !atomic_load(&s->stop); i++) {
        if (s->max_cells && s->planned >= (size_t)s->max_cells) {
            cut = true;
            break;
        }
        count_one(c, order[i]);
    }
    pthread_mutex_lock(&s->lock);
    s->counting = false;
    s->cut = cut;
    pthread_mutex_unlock(&s->lock);
    wire_poke(s->engine->wire);
    finder_close(c->finder);
    past_close(c->past);
    look_free(c->look);
    free(c);
    free(order);
    return NULL;
}

bool cells_start(struct sweep *s)
{
    s->cell = mem_new(spec_sweep_cells(&s->spec), sizeof *s->cell);
    pthread_mutex_init(&s->lock, NULL);
    atomic_init(&s->stop, false);
    s->counting = true;
    if (engine_thread(&s->thread, count_all, s) == 0)
        return true;
    pthread_mutex_destroy(&s->lock);
    free(s->cell);
    s->cell = NULL;
    return false;
}

void cells_stop(struct sweep *s)
{
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    pthread_mutex_destroy(&s->lock);
    for (size_t i = 0; i < s->counted; i++)
        free(s->cell[i].reason);
    for (size_t i = 0; i < s->left_out - s->twins; i++)
        free(s->impossible[i].reason);
    free(s->impossible);
    free(s->cell);
    free(s->kind);
    free(s->orphan);
}
