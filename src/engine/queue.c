/* What waits in results/queue: an engine that may takes the first one whenever it has nothing to do.
 * The file goes when what was begun from it stands on the disk: a program that is killed before has
 * lost nothing, one that is killed behind it has a run to resume. A kill between the two leaves both:
 * who takes next goes on with that run (a sweep's name tells that it has begun). */
#include "engine/engine_int.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/queue/queue.h"
#include "record/run/reader.h"
#include "record/working.h"
#include "spec/sweep.h"
#include "wire/sweep.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS  900000000u  /* between two looks */
#define AGAIN_NS 5000000000u /* before what a full disk prevented is tried again */

struct queue {
    struct engine *engine;
    int fd;                    /* of the right to take; -1: not held */
    struct record_work *taker; /* tells others that this one takes as soon as it may */
    bool off;                  /* nothing more is taken */
    bool current;              /* shown.run is not over */
    bool pending;              /* item's file is still there */
    bool settled;              /* what a taker before this one may have left half done */
    struct record_queued item; /* the one taken last */
    uint64_t look_ns;          /* not before */
    uint64_t retry_ns;         /* the same of a file that could not be removed */
    uint64_t stamp;            /* of the folder when it was found empty */
    uint64_t told_waits;       /* id of an item that could not be begun, */
    uint64_t told_stays;       /* put aside, */
    uint64_t told_done;        /* or removed when it had begun */
    struct wire_queue shown;
};

struct queue *queue_new(struct engine *e)
{
    struct queue *q = mem_new(1, sizeof *q);

    q->engine = e;
    q->fd = -1;
    q->taker = record_taking_new(e->results);
    q->shown.state = WIRE_QUEUE_BUSY;
    wire_set_queue(e->wire, &q->shown);
    wire_poke(e->wire); /* the first look is at once */
    return q;
}

static void release(struct queue *q)
{
    record_queue_release(q->fd);
    q->fd = -1;
}

void queue_free(struct queue *q)
{
    if (!q)
        return;
    release(q);
    record_work_free(q->taker);
    record_queue_free_item(&q->item);
    free(q);
}

static void show_as(struct queue *q, enum wire_queue_state state, int64_t pid, bool lasts,
                    const char *reason)
{
    struct wire_queue *shown = &q->shown;

    if (shown->state == state && shown->pid == pid && shown->lasts == lasts &&
        !strcmp(shown->reason, reason))
        return;
    shown->state = state;
    shown->pid = pid;
    shown->lasts = lasts;
    snprintf(shown->reason, sizeof shown->reason, "%.511s", reason);
    wire_set_queue(q->engine->wire, shown);
}

static void show(struct queue *q, enum wire_queue_state state, int64_t pid, const char *reason)
{
    show_as(q, state, pid, false, reason);
}

/* Whether somebody must mend it; a full disk, or another program's lock, may pass. */
static bool lasts(const struct err *e)
{
    static const int errors[] = {EROFS, EACCES, EPERM, ENOENT, ENOTDIR, EISDIR, ELOOP, EINVAL, EIO};

    for (size_t i = 0; e->code == ERR_IO && i < MEM_COUNT(errors); i++)
        if (e->sys == errors[i])
            return true;
    return false;
}

/* Nothing is taken. */
static void hold(struct queue *q, const struct err *e)
{
    struct text words = {0};

    write_error_words(e, q->engine->results, 0, &words);
    show_as(q, WIRE_QUEUE_HELD, 0, lasts(e), text_str(&words));
    text_free(&words);
}

void queue_stop(struct engine *e)
{
    if (!e->queue)
        return;
    e->queue->off = true;
    record_work_set(e->queue->taker, NULL, 0);
    show(e->queue, WIRE_QUEUE_OFF, 0, "");
}

/* Not in a process that can compute no more. */
void queue_go(struct engine *e)
{
    if (!e->queue || !e->queue->off || engine_is_stuck(e))
        return;
    e->queue->off = false;
    record_work_set(e->queue->taker, "", 0);
    show(e->queue, WIRE_QUEUE_BUSY, 0, "");
}

/* number: of a run or sweep that it is about, or 0. */
static void tell(struct queue *q, uint32_t number, enum log_level level, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
static void tell(struct queue *q, uint32_t number, enum log_level level, const char *fmt, ...)
{
    struct wire_event event = {.kind = WIRE_LOG, .run = number, .u.log.level = level};
    char line[1400];
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    event.slot = wire_slot_put(q->engine->wire, line, strlen(line) + 1);
    wire_post(q->engine->wire, &event);
}

/* Out of the way of the others. What cannot even be renamed holds the queue, since it would be taken
 * again and again. */
static bool reject(struct queue *q, uint32_t number, const struct record_queued *item,
                   const char *why)
{
    struct err e = {0};

    if (record_queue_reject(q->engine->results, item, &e) != ERR_OK && e.code != ERR_INPUT) {
        if (q->told_stays != item->id)
            tell(q, number, LOG_ERROR, "%s cannot be used (%s) and stays in the way: %s",
                 item->file, why, e.text);
        q->told_stays = item->id;
        hold(q, &e);
        return false;
    }
    q->shown.rejected++;
    wire_set_queue(q->engine->wire, &q->shown);
    tell(q, number, LOG_WARN, "%s cannot be used and is out of the queue, as %s.bad: %s",
         item->file, item->file, why);
    return true;
}

/* What was begun stands: its file is no longer needed. */
static void remove_file(struct queue *q)
{
    struct err e = {0};

    if (clock_ns() < q->retry_ns)
        return;
    if (record_queue_remove(q->engine->results, &q->item, &e) == ERR_OK || e.code == ERR_INPUT) {
        q->pending = false;
        q->shown.waiting -= q->shown.waiting > 0;
        wire_set_queue(q->engine->wire, &q->shown);
        return;
    }
    if (q->told_done != q->item.id)
        tell(q, q->shown.run, LOG_ERROR, "%s: nothing more is taken until it is gone", e.text);
    q->told_done = q->item.id;
    q->retry_ns = clock_ns() + LOOK_NS;
    hold(q, &e);
}

static struct run *find_run(struct run *list, uint32_t number)
{
    while (list && list->number != number)
        list = list->next;
    return list;
}

/* It is over and no folder was made. */
static void judge(struct queue *q, enum err_code code, const char *why)
{
    q->pending = false;
    if (code == ERR_STOPPED && (q->engine->quitting || q->off))
        return; /* whoever takes next has it */
    if (code != ERR_IO) {
        (void)reject(q, q->shown.run, &q->item, why);
        return;
    }
    if (q->told_waits != q->item.id) /* once, however often it is tried again */
        tell(q, q->shown.run, LOG_ERROR, "%s: the queue waits until that can be done", why);
    q->told_waits = q->item.id;
    q->look_ns = clock_ns() + AGAIN_NS;
    show(q, WIRE_QUEUE_HELD, 0, why);
}

/* The one taken last: true while it waits or runs. */
static bool follow(struct queue *q)
{
    struct engine *e = q->engine;
    struct wire_sweep_status sweep = {0};
    struct wire_status run = {0};
    uint32_t number = q->shown.run;
    struct run *r = find_run(e->running, number);
    bool alive, stands;

    if (q->shown.sweep) {
        alive = sweep_find(e, number);
        (void)wire_sweep_status(e->wire, number, &sweep);
        stands = sweep.path[0];
    } else {
        alive = r || find_run(e->waiting, number);
        (void)wire_status(e->wire, number, &run);
        stands = r ? r->path[0] : run.path[0];
    }
    if (q->pending && stands)
        remove_file(q);
    else if (q->pending && !alive && q->shown.sweep)
        judge(q, sweep.code, sweep.reason);
    else if (q->pending && !alive)
        judge(q, run.code, run.reason);
    return alive;
}

static void add_run(struct queue *q, const struct wire_start *start, uint64_t item)
{
    struct engine *engine = q->engine;
    struct run *r, **end = &engine->waiting;

    q->shown.run = WIRE_OWN_RUNS + engine->own_runs++;
    q->shown.sweep = false;
    r = run_new(engine, q->shown.run, start);
    r->queued = true;
    r->item = item;
    r->turn = engine->turns++;
    while (*end)
        end = &(*end)->next;
    *end = r;
    run_status(r, ERR_OK, "");
}

static enum err_code begin_run(struct queue *q, const struct spec *spec, uint64_t item,
                               struct err *e)
{
    struct wire_start *start;

    TRY(spec_check(spec, e));
    start = mem_new(1, sizeof *start);
    start->spec = *spec;
    add_run(q, start, item);
    free(start);
    return ERR_OK;
}

static enum err_code begin_resume(struct queue *q, const struct spec *spec, const char *name,
                                  struct err *e)
{
    char *folder = io_path(q->engine->results, name);
    struct wire_start *start;
    enum err_code code = ERR_OK;

    if (!record_is_run(folder) || strlen(folder) >= sizeof start->resume) {
        code = err_set(e, ERR_INPUT, "there is no run %s any more", name);
    } else {
        start = mem_new(1, sizeof *start);
        start->epochs = spec->epochs;
        strcpy(start->resume, folder);
        add_run(q, start, 0);
        free(start);
    }
    free(folder);
    return code;
}

static enum err_code begin_sweep(struct queue *q, const struct record_queued *item,
                                 const struct spec_sweep *s,
                                 const struct record_queue_options *options, struct err *e)
{
    const char *name = options->name[0] ? options->name : item->name;
    struct engine *engine = q->engine;
    struct wire_sweep *start;
    uint32_t slot;
    size_t n;

    if (!name[0] || strlen(name) >= sizeof start->name)
        return err_set(e, ERR_INPUT, "the file's name gives its sweep none: NUMBER-NAME.ini");
    TRY(engine_check_sweep(engine->results, name, s, options->jobs, e));
    start = wire_sweep_new(s, name, &n);
    start->grid = options->grid;
    start->failed = options->failed;
    start->jobs = (int32_t)options->jobs;
    start->max_cells = options->max_cells;
    slot = wire_slot_put(engine->wire, start, n);
    free(start);
    if (!slot)
        return err_set(e, ERR_IO, "nobody reads what the engine says");
    q->shown.run = WIRE_OWN_RUNS + engine->own_runs++;
    q->shown.sweep = true;
    sweep_new(engine, q->shown.run, slot);
    return ERR_OK;
}

static enum err_code begin(struct queue *q, const struct record_queued *item, struct err *e)
{
    char *path = record_queue_path(q->engine->results, item);
    struct record_queue_options options;
    struct spec_sweep s;
    enum err_code code;

    spec_sweep_init(&s);
    code = item->broken ? err_set(e, ERR_INPUT, "%s", item->problem)
                        : record_queue_read_options(item->text, &options, e);
    if (code == ERR_OK)
        code = spec_sweep_parse(&s, item->text, item->n, path, e);
    if (code == ERR_OK)
        code = spec_sweep_close(&s, e);
    if (code == ERR_OK && options.resume[0])
        code = begin_resume(q, &s.base, options.resume, e);
    else if (code == ERR_OK)
        code = spec_sweep_varies(&s) ? begin_sweep(q, item, &s, &options, e)
                                     : begin_run(q, &s.base, item->id, e);
    spec_sweep_free(&s);
    free(path);
    return code;
}

static void tell_taken(struct queue *q)
{
    struct wire_event event = {
        .kind = WIRE_TAKEN, .run = q->shown.run, .u.taken.sweep = q->shown.sweep};

    event.slot = wire_slot_put(q->engine->wire, q->item.file, strlen(q->item.file) + 1);
    wire_post(q->engine->wire, &event);
}

/* item becomes q's: what is made of it has begun. */
static void keep(struct queue *q, const struct record_queued *item)
{
    record_queue_free_item(&q->item);
    q->item = *item;
    q->current = q->pending = true;
    q->shown.taken++;
    snprintf(q->shown.item, sizeof q->shown.item, "%.255s", item->file);
    q->shown.state = WIRE_QUEUE_BUSY;
    q->shown.reason[0] = 0;
    q->shown.pid = 0;
    wire_set_queue(q->engine->wire, &q->shown);
    tell_taken(q);
}

static bool wants_alone(const struct record_queued *item)
{
    struct record_queue_options options = {0};

    return !item->broken && item->text &&
           record_queue_read_options(item->text, &options, NULL) == ERR_OK && options.alone;
}

/* item becomes q's. Whether there is something to do at once. */
static bool take(struct queue *q, struct record_queued *item)
{
    struct err e = {0};
    enum err_code code;

    if (wants_alone(item) && !record_work_claim(q->engine->work)) {
        show(q, WIRE_QUEUE_HELD, 0, "another chorus has just begun on this machine");
        record_queue_free_item(item);
        return false;
    }
    if (record_queue_set_taken(q->engine->results, item->id, &e) != ERR_OK) {
        hold(q, &e);
        record_queue_free_item(item);
        return false;
    }
    code = begin(q, item, &e);
    if (code == ERR_OK) {
        keep(q, item);
        return true;
    }
    if (code == ERR_IO)
        hold(q, &e);
    else if (reject(q, 0, item, e.text))
        q->look_ns = 0;
    record_queue_free_item(item);
    return q->look_ns == 0;
}

/* The item that is noted as taken and waits still, with the run that was made of it. */
static enum err_code find_begun(struct queue *q, struct record_queued *item,
                                struct record_entry *run, bool *found, struct err *e)
{
    const char *results = q->engine->results;
    uint64_t id = record_queue_taken(results);
    struct record_queued *list;
    size_t n, at = 0;
    enum err_code code = ERR_OK;

    *found = false;
    if (!id)
        return ERR_OK;
    TRY(record_queue_list(results, &list, &n, e));
    while (at < n && list[at].id != id)
        at++;
    if (at < n)
        code = record_queue_find_run(results, id, run, found, e);
    if (*found) {
        *item = list[at];
        list[at] = (struct record_queued){0};
    }
    record_queue_free(list, n);
    return code;
}

/* A run that nobody works on is gone on with; one that has its end, or another owner, is not touched.
 * Either way its item has had its turn. False: that item is still in the way. */
static bool go_on(struct queue *q, struct record_queued *item, const struct record_entry *run)
{
    struct wire_start *start;
    struct err e = {0};

    if (!run->live && (run->dead || run->run.state == WIRE_WAITING)) {
        start = mem_new(1, sizeof *start);
        snprintf(start->resume, sizeof start->resume, "%s", run->folder);
        add_run(q, start, 0);
        free(start);
        keep(q, item);
        tell(q, q->shown.run, LOG_INFO, "%s had begun already: %s goes on", item->file, run->name);
        return true;
    }
    if (record_queue_remove(q->engine->results, item, &e) != ERR_OK && e.code != ERR_INPUT) {
        hold(q, &e);
        record_queue_free_item(item);
        return false;
    }
    tell(q, 0, LOG_INFO, "%s has had its run, %s, and is out of the queue", item->file, run->name);
    record_queue_free_item(item);
    return true;
}

/* A taker before this one may have been killed when a run stood and its item did not go yet. *begun: a
 * run goes on. False: not now. */
static bool settle(struct queue *q, bool *begun)
{
    struct record_queued item = {0};
    struct record_entry run = {0};
    struct err e = {0};
    bool found = false;

    *begun = false;
    if (q->settled)
        return true;
    if (find_begun(q, &item, &run, &found, &e) != ERR_OK) {
        hold(q, &e);
        return false;
    }
    q->settled = !found || go_on(q, &item, &run);
    *begun = q->current;
    if (found)
        record_free_entry(&run);
    return q->settled;
}

/* Another program that has a run in the same results, be it paused, or (anywhere) computes into any. */
static bool is_busy(struct queue *q, bool anywhere, int64_t *pid, char *reason, size_t room)
{
    struct record_working *list;
    size_t n = record_working_list(&list);
    bool busy = false;

    for (size_t i = 0; i < n && !busy; i++) {
        const struct record_working *w = &list[i];
        bool paused = record_working_paused(w);

        busy = (anywhere && !paused) || record_working_same(w->results, q->engine->results);
        if (!busy)
            continue;
        *pid = w->pid;
        if (paused)
            snprintf(reason, room, "process %lld has paused %s", (long long)w->pid, w->run);
        else
            snprintf(reason, room, "process %lld is at work%s%s", (long long)w->pid,
                     w->run[0] ? " on " : "", w->run);
    }
    free(list);
    return busy;
}

/* Whether this engine may take the item now; else it is shown who is before it. */
static bool may_take(struct queue *q, const struct record_queued *item)
{
    char reason[1200] = "";
    struct err e = {0};
    int64_t pid = 0;

    if (q->fd < 0) {
        q->settled = false;
        if (record_queue_own(q->engine->results, &q->fd, &pid, &e) == ERR_IO) {
            hold(q, &e);
            return false;
        }
        snprintf(reason, sizeof reason, "%s", q->fd < 0 ? e.text : "");
    }
    if (q->fd >= 0 && !is_busy(q, wants_alone(item), &pid, reason, sizeof reason))
        return true;
    show(q, WIRE_QUEUE_HELD, pid, reason);
    return false;
}

static bool read_first(struct queue *q, struct record_queued *item, bool *found)
{
    struct err e = {0};
    size_t count = 0;
    bool good = record_queue_first(q->engine->results, item, found, &count, &e) == ERR_OK;

    if (!good)
        hold(q, &e);
    if (good && q->shown.waiting != (int64_t)count) {
        q->shown.waiting = (int64_t)count;
        wire_set_queue(q->engine->wire, &q->shown);
    }
    return good;
}

static bool look(struct queue *q)
{
    uint64_t stamp = record_queue_stamp(q->engine->results);
    struct record_queued item = {0};
    bool found = false, begun = false;

    if ((q->shown.state == WIRE_QUEUE_EMPTY && stamp == q->stamp) || !read_first(q, &item, &found))
        return false;
    if (found && !may_take(q, &item)) {
        record_queue_free_item(&item);
        return false;
    }
    record_queue_free_item(&item);
    if (found && !settle(q, &begun))
        return false;
    if (begun)
        return true;
    /* Another one may have had it before the right to take was ours. */
    if (found && !read_first(q, &item, &found))
        return false;
    q->stamp = stamp;
    if (found)
        return take(q, &item);
    show(q, WIRE_QUEUE_EMPTY, 0, "");
    return false;
}

bool queue_work(struct engine *e)
{
    struct queue *q = e->queue;
    bool more = false, was;

    if (!q)
        return false;
    was = q->current;
    if (q->current || q->pending)
        q->current = follow(q);
    if (was && !q->current && q->shown.state == WIRE_QUEUE_BUSY)
        q->look_ns = 0; /* the next one's turn */
    if (q->off || e->quitting) {
        show(q, WIRE_QUEUE_OFF, 0, "");
    } else if (q->pending) {
        ; /* its file is to go first */
    } else if (e->running || e->waiting || e->sweeps) {
        show(q, WIRE_QUEUE_BUSY, 0, "");
    } else if (clock_ns() >= q->look_ns) {
        q->look_ns = clock_ns() + LOOK_NS;
        more = look(q);
    }
    if (!q->current && !q->pending)
        release(q);
    return more;
}
