/* ui/library/library.c: looks by the thread of tasks, and what the main thread sees of them. */
#include "ui/library/library.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/look.h"
#include "record/run/run.h"
#include "record/stamp.h"
#include "ui/library/library_int.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_WAIT_NS 1000000000u
#define WAIT_SHARE    20            /* a look takes at most one part in so many of the time */
#define SPARE_BYTES   (1024 * 1024) /* texts of runs that are not what they were any more */

struct look { /* the task; the list `old` is only read */
    struct library *library;
    char *results;
    const struct library_list *old;
    struct library_list *list;
    size_t at;                   /* where the run would stand in the old list */
    bool changed, failed, there; /* there: the folder is */
    struct err e;
    uint64_t began_ns;
};

static size_t column_count;
static pthread_once_t columns_counted = PTHREAD_ONCE_INIT;

static void count_columns(void)
{
    while (record_run_columns[column_count])
        column_count++;
}

/* Of run.csv. */
static size_t columns(void)
{
    pthread_once(&columns_counted, count_columns);
    return column_count;
}

static void free_list(struct library_list *list)
{
    if (!list)
        return;
    free(list->run);
    free(list->stamp);
    free(list->cells);
    free(list);
}

/* ---- the task ---- */

/* Runs come in the order of their names, as they stand in the old list. */
static const struct library_run *find_old(struct look *look, const char *name)
{
    const struct library_list *old = look->old;

    while (old && look->at < old->count && strcmp(old->run[look->at].name, name) < 0)
        look->at++;
    return old && look->at < old->count && !strcmp(old->run[look->at].name, name)
               ? &old->run[look->at]
               : NULL;
}

static bool is_known(void *user, const char *name, const struct record_stamp *stamp,
                     enum wire_state *state, bool *dead)
{
    struct look *look = user;
    const struct library_run *run = find_old(look, name);

    if (!run || !record_stamp_same(stamp, &look->old->stamp[look->at]))
        return false;
    *state = run->broken ? WIRE_FAILED : run->state;
    *dead = run->dead;
    return true;
}

static void take_cells(struct library_list *list, struct library_run *run, const char *const *cells)
{
    size_t n = columns();
    const char **to = &list->cells[(list->count - 1) * n];

    for (size_t i = 0; i < n; i++) {
        const char *text = cells ? cells[i] : "";
        /* Most of a run is as in the one before it. */
        bool again = list->count > 1 && !strcmp(text, (to - n)[i]);

        to[i] = again ? (to - n)[i] : library_intern(list->pool, text);
    }
    run->cell = to;
}

static bool is_average(const char *results, const struct record_look *seen)
{
    char *path = mem_textf("%s/%s/" RECORD_AVERAGE, results, seen->name);
    bool is = !strcmp(seen->cells[library_field("mode")], "ensemble") && io_exists(path);

    free(path);
    return is;
}

static void take_seen(void *user, const struct record_look *seen)
{
    struct look *look = user;
    struct library_list *list = look->list;
    const struct library_run *old = find_old(look, seen->name);
    bool same = old && record_stamp_same(&seen->stamp, &look->old->stamp[look->at]);
    size_t n = columns(), had = list->room;
    size_t state = (size_t)library_field("state"), name = (size_t)library_field("run");
    struct library_run run = {.live = seen->live, .dead = seen->dead};

    list->run = mem_grow(list->run, &list->room, list->count + 1, sizeof *list->run);
    if (list->room != had) {
        list->stamp = mem_resize(list->stamp, list->room, sizeof *list->stamp);
        list->cells = mem_resize(list->cells, list->room * n, sizeof *list->cells);
    }
    list->stamp[list->count++] = seen->stamp;
    run.name = library_intern(list->pool, seen->name);
    run.problem = library_intern(list->pool, seen->problem ? seen->problem : "");
    run.broken = seen->problem != NULL;
    run.state = WIRE_FAILED;
    if (!seen->cells && !seen->problem && old) { /* as it was */
        run.state = old->state;
        run.broken = old->broken;
        run.problem = library_intern(list->pool, old->problem);
        run.average = old->average;
        if (list->pool == look->old->pool)
            memcpy(&list->cells[(list->count - 1) * n], old->cell, n * sizeof *list->cells);
        else
            take_cells(list, &run, old->cell);
    } else {
        take_cells(list, &run, seen->cells);
        if (seen->cells && !wire_state_find(seen->cells[state], &run.state))
            run.broken = true;
        run.average = seen->cells && is_average(look->results, seen);
    }
    list->cells[(list->count - 1) * n + state] =
        library_intern(list->pool, run.broken ? "broken"
                                   : run.dead ? "dead"
                                              : wire_state_name(run.state));
    list->cells[(list->count - 1) * n + name] = run.name;
    look->changed = look->changed || !same || run.live != old->live || run.dead != old->dead;
    list->run[list->count - 1] = run;
}

/* What texts of today's runs take, as far as it matters: whether it is half of the pool. */
static bool has_waste(const struct library_list *list)
{
    size_t bytes = 0, n = columns();

    if (list->pool->bytes < 2 * (size_t)SPARE_BYTES)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        bytes += strlen(list->run[i].name) + 1;
        for (size_t k = 0; k < n; k++)
            if (!i || list->run[i].cell[k] != list->run[i - 1].cell[k])
                bytes += strlen(list->run[i].cell[k]) + 1;
    }
    return list->pool->bytes > 2 * bytes + SPARE_BYTES;
}

static void do_look(void *arg)
{
    struct look *look = arg;
    struct record_looker looker = {.first = !look->old || !look->old->count,
                                   .known = is_known,
                                   .seen = take_seen,
                                   .user = look};
    struct library_list *list = look->list;

    look->began_ns = clock_ns();
    /* Only looks write into the pool, and there is one at a time. */
    list->pool =
        look->old && !has_waste(look->old) ? look->old->pool : mem_new(1, sizeof *list->pool);
    look->failed = record_look(look->results, &looker, &look->e) != ERR_OK;
    look->there = io_exists(look->results);
    if (look->failed)
        list->count = 0; /* nothing is known of today's */
    look->changed = look->changed || !look->old || list->count != look->old->count;
    for (size_t i = 0; i < list->count; i++) /* it may have moved while it grew */
        list->run[i].cell = &list->cells[i * columns()];
}

static void drop_list(struct library_list *list, const struct library_list *other)
{
    if (list && list->pool && (!other || list->pool != other->pool)) {
        library_free_pool(list->pool);
        free(list->pool);
    }
    free_list(list);
}

static void done_look(void *arg, bool dropped)
{
    struct look *look = arg;
    struct library *l = look->library;
    struct library_list *old = l->list;

    l->looking = false;
    if (!dropped && look->changed) {
        l->list = look->list;
        library_carry_extras(l, old);
        drop_list(old, l->list);
        l->turn++;
    } else {
        drop_list(look->list, old);
    }
    if (!dropped) {
        bool gone = l->was_there && !look->there;
        char *before = l->problem;

        l->was_there = l->was_there || look->there;
        l->problem =
            look->failed ? mem_text(look->e.text)
            : gone ? mem_textf("%s is not there any more: it was moved or removed; a run that is "
                               "started makes it anew, --results DIR names another folder",
                               look->results)
                   : NULL;
        l->turn += !l->ready || strcmp(before ? before : "", l->problem ? l->problem : "") != 0;
        free(before);
        l->ready = true;
        l->looked_ns = clock_ns();
        l->took_ns = l->looked_ns - look->began_ns;
    }
    free(look->results);
    free(look);
    if (!dropped && l->again)
        library_tick(l, true);
}

/* ---- the main thread ---- */

struct library *library_new(const char *results, struct tasks *tasks)
{
    struct library *l = mem_new(1, sizeof *l);

    l->results = mem_text(results);
    l->tasks = tasks;
    return l;
}

void library_free(struct library *l)
{
    if (!l)
        return;
    library_free_extras(l);
    drop_list(l->list, NULL);
    for (size_t i = 0; i < l->marks; i++)
        free(l->mark[i]);
    free(l->mark);
    free(l->problem);
    free(l->results);
    free(l);
}

void library_tick(struct library *l, bool at_once)
{
    uint64_t wait = l->took_ns * WAIT_SHARE;
    struct look *look;

    if (wait < LEAST_WAIT_NS)
        wait = LEAST_WAIT_NS;
    if (!l->filling)
        library_fill_extras(l);
    l->again = l->looking && (l->again || at_once); /* it may have read what has changed since */
    if (l->looking || (l->ready && !at_once && clock_ns() - l->looked_ns < wait))
        return;
    look = mem_new(1, sizeof *look);
    look->library = l;
    look->results = mem_text(l->results);
    look->old = l->list;
    look->list = mem_new(1, sizeof *look->list);
    l->looking = true;
    tasks_add(l->tasks, do_look, done_look, look);
}

bool library_ready(const struct library *l)
{
    return l->ready;
}

const struct library_run *library_runs(const struct library *l, size_t *count)
{
    *count = l->list ? l->list->count : 0;
    return l->list ? l->list->run : NULL;
}

uint64_t library_turn(const struct library *l)
{
    return l->turn;
}

const char *library_problem(const struct library *l)
{
    return l->problem;
}

const struct library_run *library_find(const struct library *l, const char *name)
{
    size_t at = library_place(l->list, name);

    return l->list && at < l->list->count ? &l->list->run[at] : NULL;
}

const char *library_cell(const struct library_run *run, const char *column)
{
    int field = library_field(column);

    return field >= 0 ? run->cell[field] : "";
}

double library_number(const struct library_run *run, const char *column)
{
    double value;

    return text_to_double(library_cell(run, column), &value) ? value : NAN;
}

char *library_folder(const struct library *l, const char *name)
{
    return io_path(l->results, name);
}

/* ---- marks ---- */

/* Where the name stands, or would stand. */
static size_t mark_place(const struct library *l, const char *name, bool *there)
{
    size_t low = 0, high = l->marks;

    *there = false;
    while (low < high && !*there) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(l->mark[middle], name);

        if (order < 0)
            low = middle + 1;
        else
            high = middle;
        if (order == 0) {
            *there = true;
            low = middle;
        }
    }
    return low;
}

bool library_marked(const struct library *l, const char *name)
{
    bool there;

    mark_place(l, name, &there);
    return there;
}

void library_mark(struct library *l, const char *name, bool marked)
{
    bool there;
    size_t at = mark_place(l, name, &there);

    if (there == marked)
        return;
    l->marks_turn++;
    if (marked) {
        l->mark = mem_grow(l->mark, &l->mark_room, l->marks + 1, sizeof *l->mark);
        memmove(&l->mark[at + 1], &l->mark[at], (l->marks - at) * sizeof *l->mark);
        l->mark[at] = mem_text(name);
        l->marks++;
    } else {
        free(l->mark[at]);
        l->marks--;
        memmove(&l->mark[at], &l->mark[at + 1], (l->marks - at) * sizeof *l->mark);
    }
}

size_t library_marks(const struct library *l)
{
    struct library *own = (struct library *)l; /* what is only remembered */

    if (l->there_turn == l->turn && l->there_marks_turn == l->marks_turn)
        return l->there;
    own->there = 0;
    for (size_t i = 0; i < l->marks; i++)
        own->there += library_find(l, l->mark[i]) != NULL;
    own->there_turn = l->turn;
    own->there_marks_turn = l->marks_turn;
    return l->there;
}

uint64_t library_marks_turn(const struct library *l)
{
    return l->marks_turn;
}

const char **library_marked_names(const struct library *l, size_t *count)
{
    const char **names = mem_new(l->marks + 1, sizeof *names);

    *count = 0;
    for (size_t i = 0; i < l->marks; i++) {
        const struct library_run *run = library_find(l, l->mark[i]);

        if (run)
            names[(*count)++] = run->name;
    }
    return names;
}
