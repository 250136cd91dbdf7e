/* A sweep from its text to its end: its queue, what it tells. Who computes which cell stands in claim.c. */
#include "engine/sweep/sweep_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "record/start_weights.h"
#include "wire/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS 250000000u
#define PREPARE_NS                                                                                 \
    1000000000u /* for all cells to be known, before somebody is told the sweep's name */

void sweep_tell(struct sweep *s, enum log_level level, const char *fmt, ...)
{
    struct wire_event event = {.kind = WIRE_LOG, .run = s->number, .u.log.level = level};
    char line[1200];
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    event.slot = wire_slot_put(s->engine->wire, line, strlen(line) + 1);
    wire_post(s->engine->wire, &event);
}

static void show_cell(struct sweep *s, const struct cell *c)
{
    struct wire_cell cell = {.cell = (uint32_t)c->number,
                             .run = c->run ? c->run->number : 0,
                             .known = true,
                             .state = c->state,
                             .again = c->again,
                             .place = c->place,
                             .ended_as = c->ended_as,
                             .acc = c->acc,
                             .val_acc = c->val_acc,
                             .seconds = c->seconds};

    memcpy(cell.hash, c->hash, sizeof cell.hash);
    wire_set_cell(s->engine->wire, s->number, &cell);
    s->changed = true;
}

int sweep_at_once(const struct sweep *s)
{
    size_t cells = spec_sweep_cells(&s->spec);

    return cells < (size_t)s->jobs ? (int)cells : s->jobs;
}

void sweep_tell_crowding(struct sweep *s, const char *words)
{
    if (!s->crowding_told)
        sweep_tell(s, LOG_INFO, "%s", words);
    s->crowding_told = true;
}

void sweep_tell_cell(struct sweep *s, const struct cell *c)
{
    struct wire_event event = {.kind = WIRE_CELL, .run = s->number};
    const char *reason = c->reason && wire_state_is_final(c->state) ? c->reason : "";

    show_cell(s, c);
    event.u.cell.cell = (uint32_t)c->number;
    event.u.cell.run = c->run ? c->run->number : 0;
    event.u.cell.state = c->state;
    if (*reason)
        event.slot = wire_slot_put(s->engine->wire, reason, strlen(reason) + 1);
    wire_post(s->engine->wire, &event);
}

static void tell_status(struct sweep *s, enum wire_state state)
{
    struct wire_sweep_status *t = &s->status;
    int64_t *const of_state[] = {
        [WIRE_WAITING] = &t->waiting, [WIRE_RUNNING] = &t->running, [WIRE_PAUSED] = &t->running,
        [WIRE_STOPPED] = &t->stopped, [WIRE_DONE] = &t->done,       [WIRE_DIVERGED] = &t->diverged,
        [WIRE_OOM] = &t->oom,         [WIRE_FAILED] = &t->failed,   [WIRE_SKIPPED] = &t->skipped};

    for (size_t i = 0; i < MEM_COUNT(of_state); i++)
        *of_state[i] = 0;
    t->elsewhere = 0;
    for (size_t i = 0; i < s->seen; i++)
        ++*(s->cell[i].elsewhere ? &t->elsewhere : of_state[s->cell[i].state]);
    t->cells = (int64_t)s->seen;
    t->state = state;
    t->wish = s->wish;
    t->closing = sweep_ends_here(s);
    t->left_seconds = s->begun ? sweep_time_left(s) : NAN;
    snprintf(t->path, sizeof t->path, "%s", s->folder ? s->folder : "");
    wire_set_sweep(s->engine->wire, t);
    s->changed = false;
    s->status_ns = clock_ns();
}

static void see_cells(struct sweep *s)
{
    bool was = s->status.counting, ended, grown;
    size_t counted, twins;

    pthread_mutex_lock(&s->lock);
    counted = s->counted;
    twins = s->twins;
    ended = !s->counting;
    s->sheet_old |= s->seen < counted || (ended && !s->sheet_whole);
    s->status.left_out = (int64_t)s->left_out;
    s->status.counting = s->counting;
    pthread_mutex_unlock(&s->lock);
    for (grown = s->seen < counted; s->seen < counted; s->seen++) {
        struct cell *c = &s->cell[s->seen];

        c->place = (int64_t)s->seen;
        c->acc = c->val_acc = c->seconds = NAN;
        show_cell(s, c);
    }
    if (grown && s->orders)
        cell_order_apply(s);
    if (ended && twins && !s->twins_told) {
        sweep_tell(s, LOG_INFO,
                   twins == 1 ? "%s cell comes to the same as another one, settings and data, and "
                                "is run once with it"
                              : "%s cells come to the same as others, settings and data, and are "
                                "run once with them",
                   TEXT_COUNT(twins));
        s->twins_told = true;
    }
    s->status.counting = s->status.counting || s->looked < s->seen;
    s->changed |= s->status.counting != was;
}

/* What its cells that run have come to since. */
static void see_runs(struct sweep *s)
{
    struct wire_sweep_status *t = &s->status;
    int64_t paused = 0;
    bool full = false;

    for (const struct run *r = s->engine->running; r; r = r->next) {
        bool mine = r->sweep == s && s->cell[r->cell].state == WIRE_RUNNING;

        paused += mine && r->state == WIRE_PAUSED;
        full |= mine && r->disk_full;
    }
    s->changed |= t->paused != paused || t->full != full;
    t->paused = paused;
    t->full = full;
}

static void refuse(struct sweep *s, enum err_code code, const char *text)
{
    s->status.code = code;
    snprintf(s->status.reason, sizeof s->status.reason, "%.511s", text);
    run_refuse(s->engine, s->number, code, text);
    tell_status(s, code == ERR_STOPPED ? WIRE_STOPPED : WIRE_FAILED);
}

/* Nothing is written before there is a cell that can be run. False: there is none, it is over. */
static bool open_book(struct sweep *s)
{
    struct err e = {0}, first;
    bool any, none;

    pthread_mutex_lock(&s->lock);
    any = s->planned > 0;
    none = !s->counting && s->planned == 0;
    first = s->first;
    pthread_mutex_unlock(&s->lock);
    if (sweep_closes(s))
        refuse(s, ERR_STOPPED, "stopped before the sweep began");
    else if (none)
        refuse(s, first.code ? first.code : ERR_INPUT, first.text);
    else if (!any || clock_ns() < s->hold_ns || book_open(s, &e) == ERR_OK)
        return true;
    else if (e.code == ERR_FAILED && e.sys == EWOULDBLOCK)
        return sweep_wait_for(s, &e), true;
    else
        refuse(s, e.code, e.text);
    return false;
}

static bool is_over(const struct sweep *s)
{
    if (s->live || (s->unsaved && !sweep_closes(s)))
        return false;
    if (sweep_closes(s))
        return true;
    return !s->status.counting && !s->status.waiting && !s->status.elsewhere;
}

static void finish(struct sweep *s)
{
    struct wire_event event = {.kind = WIRE_STATE, .run = s->number};
    struct wire_sweep_status *t = &s->status;
    int64_t open = t->waiting + t->elsewhere + t->stopped;

    book_write_sheet(s, true);
    if (s->orders) /* it tells what waits, too */
        cell_order_write(s);
    if (s->held_told) { /* what it waited for is no matter any more */
        t->code = ERR_OK;
        t->reason[0] = '\0';
    }
    if (s->trouble.code) {
        t->code = s->trouble.code;
        snprintf(t->reason, sizeof t->reason, "%.511s", s->trouble.text);
    } else if (open || t->counting) {
        t->code = s->halted && !wire_wish_stops(s->wish) ? ERR_STUCK : ERR_STOPPED;
        snprintf(t->reason, sizeof t->reason, "stopped: %s%s of %s%s cell%s %s", TEXT_COUNT(open),
                 t->counting ? "+" : "", TEXT_COUNT(t->cells), t->counting ? "+" : "",
                 t->cells == 1 && !t->counting ? "" : "s",
                 s->failed ? (open == 1 ? "is still to be run" : "are still to be run")
                           : (open == 1 ? "has no result yet" : "have no result yet"));
    }
    claim_keep_ends(s);
    event.u.state.state = t->code ? WIRE_STOPPED : WIRE_DONE;
    event.u.state.code = t->code;
    tell_status(s, event.u.state.state);
    wire_post(s->engine->wire, &event);
}

static bool is_counting(struct sweep *s)
{
    bool counting;

    pthread_mutex_lock(&s->lock);
    counting = s->counting || s->seen < s->counted;
    pthread_mutex_unlock(&s->lock);
    return counting;
}

/* Who hears of a cell's end knows how many there are. */
static void tell_count(struct sweep *s, enum wire_state state)
{
    s->status.counting = is_counting(s) || s->looked < s->seen;
    if (s->changed)
        tell_status(s, state);
}

static enum wire_state state_now(const struct sweep *s)
{
    return sweep_is_held(s) ? WIRE_PAUSED : WIRE_RUNNING;
}

bool sweep_work(struct sweep *s, bool may_begin)
{
    uint64_t now = clock_ns();

    if (!s->begun && sweep_closes(s)) {
        refuse(s, ERR_STOPPED, "stopped before the sweep began");
        return false;
    }
    if (!s->begun && !may_begin)
        return true;
    if (!s->begun && !cells_start(s)) {
        refuse(s, ERR_FAILED, "no thread could be started for the sweep");
        return false;
    }
    s->begun = true;
    see_cells(s);
    if (!s->opened && !open_book(s))
        return false;
    if (!s->opened)
        return true;
    if (!s->opened_ns)
        s->opened_ns = now;
    if (s->prepare_only) {
        if (is_counting(s) && now - s->opened_ns < PREPARE_NS)
            return true;
        book_write_sheet(s, true); /* who is told its name finds it there */
        tell_status(s, WIRE_WAITING);
        return false;
    }
    if (now - s->control_ns >= TICK_NS) {
        s->control_ns = now;
        sweep_obey_control(s);
    }
    if (s->order_old)
        cell_order_write(s);
    claim_take_ended(s);
    if (now >= s->hold_ns)
        claim_save(s);
    claim_look_elsewhere(s);
    see_runs(s);
    tell_count(s, state_now(s));
    /* the first one in the user's order may be the last to be found */
    while (may_begin && !(s->orders && s->status.counting) && claim_next(s))
        ;
    book_write_sheet(s, false);
    if (s->changed || now - s->status_ns >= TICK_NS)
        tell_status(s, state_now(s));
    if (!is_over(s))
        return true;
    finish(s);
    return false;
}

bool sweep_has_work(struct sweep *s)
{
    return !s->begun || s->live ||
           (!sweep_closes(s) && (s->status.counting || claim_next_waiting(s)));
}

bool sweep_goes_on(struct sweep *s)
{
    return s->opened && !sweep_closes(s) && !sweep_is_held(s) && claim_next_waiting(s);
}

const char *sweep_held(const struct sweep *s)
{
    return s->opened && sweep_is_held(s) ? s->folder : NULL;
}

const struct wire_sweep_status *sweep_told(const struct sweep *s)
{
    return s->opened && !s->prepare_only ? &s->status : NULL;
}

bool sweep_is_before(const struct sweep *s, const struct run *r)
{
    return s->begun || s->turn < r->turn;
}

struct sweep *sweep_next(struct sweep *s)
{
    return s->next;
}

const char *sweep_name(const struct sweep *s)
{
    return s->name;
}

struct sweep *sweep_find(struct engine *e, uint32_t number)
{
    struct sweep *s = e->sweeps;

    while (s && s->number != number)
        s = s->next;
    return s;
}

static enum err_code read_sweep(struct sweep *s, const struct wire_sweep *from, size_t n,
                                struct err *e)
{
    if (n > sizeof *from)
        snprintf(s->name, sizeof s->name, "%.127s", from->name);
    TRY(wire_sweep_read(from, n, &s->spec, e));
    s->grid = from->grid;
    s->failed = from->failed;
    if (memchr(from->failed_before, '\0', sizeof from->failed_before) && from->failed_before[0])
        memcpy(s->begun_utc, from->failed_before, sizeof s->begun_utc);
    if (s->failed)
        memcpy(s->status.failed_before, s->begun_utc, sizeof s->status.failed_before);
    s->prepare_only = from->prepare_only;
    s->max_cells = from->max_cells;
    s->asked_jobs = from->jobs;
    TRY(record_name_weights(s->engine->results, &s->spec.base, e));
    TRY(spec_sweep_close(&s->spec, e));
    TRY(engine_check_sweep(s->engine->results, s->name, &s->spec, from->jobs, e));
    s->jobs = spec_sweep_jobs(&s->spec, from->jobs);
    s->alone = !from->jobs && spec_sweep_runs_alone(&s->spec);
    if (from->jobs > s->jobs)
        sweep_tell(s, LOG_INFO,
                   "one cell at a time: where devices, threads, mode, members or backend vary, "
                   "their seconds are compared");
    return ERR_OK;
}

void sweep_new(struct engine *e, uint32_t number, uint32_t slot)
{
    struct sweep *s = mem_new(1, sizeof *s), **end = &e->sweeps;
    struct wire_sweep *from;
    struct err err = {0};
    size_t n = 0;
    bool good;

    s->engine = e;
    s->number = s->status.sweep = number;
    s->work = s->control = -1;
    s->turn = e->turns++;
    clock_utc(s->begun_utc, clock_wall());
    spec_sweep_init(&s->spec);
    from = wire_slot_take(e->wire, slot, &n);
    good = read_sweep(s, from, from ? n : 0, &err) == ERR_OK;
    free(from);
    memcpy(s->status.name, s->name, sizeof s->status.name);
    if (!good) {
        refuse(s, err.code, err.text);
        sweep_free(s);
        return;
    }
    s->job = mem_new((size_t)s->jobs, sizeof *s->job);
    while (*end)
        end = &(*end)->next;
    *end = s;
    tell_status(s, WIRE_WAITING);
}

void sweep_free(struct sweep *s)
{
    if (s->begun)
        cells_stop(s);
    book_close(s);
    spec_sweep_free(&s->spec);
    free(s->job);
    free(s->order);
    free(s);
}
