/* The engine thread's side of a run: what its session's messages become, first on the disk, then on
 * the wire; and what is asked of it. */
#include "engine/engine_int.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/system/trace.h"
#include "record/file/disk.h"
#include "record/queue/queue.h"
#include "record/run/writer.h"
#include "record/sweep/sheet.h"
#include "record/working.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OTHERS_NS 200000000u  /* between two looks at who else computes on this machine */
#define SHEET_NS  3000000000u /* with a ledger that others hold */
#define TOLD_NS   250000000u  /* between two tries to tell a ledger that others hold */

struct run *run_new(struct engine *engine, uint32_t number, const struct wire_start *start)
{
    struct run *r = mem_new(1, sizeof *r);

    r->number = number;
    r->engine = engine;
    r->start = *start;
    r->state = WIRE_WAITING;
    snprintf(r->path, sizeof r->path, "%s", start->resume);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    atomic_init(&r->stop, false);
    return r;
}

void run_free(struct run *r)
{
    while (r->first) {
        struct message *m = r->first;

        r->first = m->next;
        message_free(m);
    }
    checkpoint_drop(r);
    record_close(r->record);
    while (r->rooms)
        record_weights_free(&r->room[--r->rooms]);
    plan_free(r->plan);
    text_free(&r->rows);
    free(r->named);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static void answer(struct run *r, bool go)
{
    pthread_mutex_lock(&r->lock);
    r->answer = go ? ANSWER_GO : ANSWER_END;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* ---- what it shall do ---- */

enum wire_wish run_wish(struct run *r)
{
    enum wire_wish wish;

    pthread_mutex_lock(&r->lock);
    wish = r->wish;
    pthread_mutex_unlock(&r->lock);
    return wish;
}

/* Who leaves lets an epoch end that is paused, too. */
enum wire_deed run_deed_locked(const struct run *r, enum wire_place at)
{
    bool leaves = atomic_load(&r->engine->leaving) && r->wish < WIRE_WISH_STOP_EPOCH;
    enum wire_deed deed = wire_wish_deed(leaves ? WIRE_WISH_STOP_EPOCH : r->wish, at);

    return r->part > deed ? r->part : deed;
}

enum wire_deed run_deed(struct run *r, enum wire_place at)
{
    enum wire_deed deed;

    pthread_mutex_lock(&r->lock);
    deed = run_deed_locked(r, at);
    pthread_mutex_unlock(&r->lock);
    return deed;
}

/* r->lock is held, and given back. Who asks for an end while the disk is full does not want to wait for
 * room. */
static void wake(struct run *r)
{
    bool stops = r->part || wire_wish_stops(r->wish);

    atomic_store(&r->stop, r->hold || run_deed_locked(r, WIRE_AT_STEP) != WIRE_GO_ON);
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    r->give_up |= stops && r->disk_full;
}

void run_hold(struct run *r, bool on)
{
    pthread_mutex_lock(&r->lock);
    r->hold = on;
    wake(r);
}

void run_set_wish(struct run *r, enum wire_wish wish)
{
    struct wire_status status;

    pthread_mutex_lock(&r->lock);
    (void)wire_wish_take(&r->wish, wire_wish_of_cell(wish), r->obeyed ? WIRE_AT_END : WIRE_AT_STEP);
    wake(r);
    if (!wire_status(r->engine->wire, r->number, &status))
        return;
    status.wish = r->wish;
    status.closing = r->part || atomic_load(&r->engine->leaving);
    wire_set_status(r->engine->wire, &status);
}

void run_end_part(struct run *r, enum wire_deed how)
{
    pthread_mutex_lock(&r->lock);
    if (r->part < how)
        r->part = how;
    wake(r);
}

void run_hand_over(struct run *r)
{
    r->handed_over = true;
    run_end_part(r, WIRE_END);
}

void run_skip(struct run *r)
{
    r->skip = true;
    run_end_part(r, WIRE_END);
}

/* The run never began, or goes on another day as it stood: nothing of it is touched. */
static void give_back(struct run *r, enum wire_state state, const struct err *why)
{
    record_close(r->record);
    r->record = NULL;
    r->state = state;
    /* told first: a reader that sees the end has the sentence */
    if (r->sweep)
        sweep_take_end(r, state, why);
    else
        run_refuse(r->engine, r->number, why->code, why->text);
    run_status(r, why->code, why->text);
    r->ended = true;
}

static void add_ini(const struct run *r, struct text *ini)
{
    if (r->item)
        record_queue_add_origin(ini, r->item);
    plan_add_ini(&r->plan->spec, ini);
}

enum err_code run_open_record(struct run *r, struct err *e)
{
    struct text ini = {0};
    enum err_code code;

    run_fill_row(r);
    if (r->resumed)
        return record_open(&r->record, r->start.resume, e);
    add_ini(r, &ini);
    code = record_create(&r->record, r->engine->results, &r->row, text_str(&ini),
                         r->plan->net->text, r->plan->spec.mode == SPEC_ENSEMBLE, e);
    text_free(&ini);
    if (code != ERR_OK)
        return record_say_elsewhere(r->engine->results, e);
    snprintf(r->path, sizeof r->path, "%s", record_folder(r->record));
    return ERR_OK;
}

/* The lock is given back before anybody is told that it could be had. */
static void close_and_tell(struct run *r, enum wire_state state, enum err_code code,
                           const char *reason)
{
    record_close(r->record);
    r->record = NULL;
    run_tell_state(r, state, code, reason);
    r->ended = true;
}

static void take_planned(struct run *r, const struct message *m)
{
    struct err e = {0};
    bool mine = true;

    if (m->error && m->error->code != ERR_STOPPED) {
        bool finished = m->error->code == ERR_OK;

        give_back(r, finished ? WIRE_DONE : WIRE_FAILED, m->error);
    } else if (run_deed(r, WIRE_AT_STEP) >= WIRE_END) {
        if (r->sweep)
            sweep_take_end(r, WIRE_STOPPED, &(struct err){.code = ERR_STOPPED});
        close_and_tell(r, WIRE_STOPPED, ERR_STOPPED, "stopped before it began");
    } else if ((r->sweep ? sweep_claim(r, &mine, &e) : run_open_record(r, &e)) != ERR_OK) {
        give_back(r, WIRE_FAILED, &e);
    } else if (!mine) {
        close_and_tell(r, WIRE_STOPPED, ERR_STOPPED, "another program has it");
    } else if (r->start.prepare_only) {
        run_tell_started(r);
        close_and_tell(r, WIRE_WAITING, ERR_OK, "");
    } else {
        run_status(r, ERR_OK, ""); /* whose the folder is, to who finds it before the start */
    }
    answer(r, !r->ended);
}

/* How many compute beside each other, those of other programs among them: each of them may see the
 * most so far. */
static void count_shared(struct engine *e)
{
    int64_t n = 0;

    for (struct run *r = e->running; r; r = r->next)
        n += r->opened && !r->ended && r->state != WIRE_PAUSED;
    for (struct run *r = e->running; r; r = r->next)
        if (r->opened && !r->ended && r->state != WIRE_PAUSED && r->row.shared < n + e->others)
            r->row.shared = n + e->others;
}

static void look_at_others(struct engine *e)
{
    struct record_working *list;
    size_t n = record_working_list(&list);

    e->others = 0;
    for (size_t i = 0; i < n; i++)
        e->others += list[i].runs;
    free(list);
    e->others_ns = clock_ns();
    count_shared(e);
}

static enum err_code write_ini(struct run *r, struct err *e)
{
    struct text ini = {0};
    enum err_code code;

    add_ini(r, &ini);
    code = record_write_ini(r->record, text_str(&ini), e);
    text_free(&ini);
    return code;
}

static enum err_code take_opened(struct run *r, const struct message *m, struct err *e)
{
    r->at = m->at;
    r->opened_ns = clock_ns();
    r->opened = true;
    snprintf(r->row.plans, sizeof r->row.plans, "%s", r->plans);
    look_at_others(r->engine);
    r->state = WIRE_RUNNING;
    /* Of checkpoints that hold no rows the file is believed. */
    if (r->resumed && (r->rows.n || !r->at.n.epoch))
        record_trust(r->record, &r->rows);
    TRY(run_write(r, e)); /* before rows are cut that run.csv names */
    if (r->resumed)
        TRY(record_cut(r->record, r->at.n.epoch, r->at.n.row_step, e));
    if (r->ini_differs)
        TRY(write_ini(r, e));
    run_tell_started(r);
    run_log_start(r);
    run_log_opened(r);
    run_tell_state(r, WIRE_RUNNING, ERR_OK, "");
    return ERR_OK;
}

/* What nobody looks at while it works is seen again at each epoch, and at the end. */
static enum err_code mend(struct run *r, struct err *e)
{
    struct text ini = {0}, names = {0};
    enum err_code code;

    add_ini(r, &ini);
    code = record_mend(r->record, text_str(&ini), r->plan->net->text, &names, e);
    if (names.n)
        run_log(r, LOG_WARN, "removed while the run works: %s; written again", text_str(&names));
    text_free(&names);
    text_free(&ini);
    return code;
}

static enum err_code add_epoch(struct run *r, const struct message *m, struct err *e)
{
    TRY(mend(r, e));
    TRY(record_add_epoch(r->record, m->epoch, e));
    run_log_epoch(r, m->epoch, m->at.n.best_epoch == m->epoch->epoch);
    return ERR_OK;
}

/* m->written counts the rows on disk, so that a full disk is tried again where it was left. The
 * epoch's own row is the last: whoever sees it finds the others. */
static enum err_code write_rows(struct run *r, struct message *m, struct err *e)
{
    size_t devices = m->steps, members = devices + m->devices, epoch = members + m->members;

    for (; m->written < epoch + (m->epoch != NULL); m->written++) {
        size_t i = m->written;

        if (i < devices)
            TRY(record_add_step(r->record, &m->step[i], e));
        else if (i < members)
            TRY(record_add_device(r->record, &m->device[i - devices], e));
        else if (i < epoch)
            TRY(record_add_member(r->record, &m->member[i - members], e));
        else
            TRY(add_epoch(r, m, e));
    }
    return ERR_OK;
}

static enum err_code take_rows(struct run *r, struct message *m, struct err *e)
{
    TRY(write_rows(r, m, e));
    r->at = m->at;
    run_status(r, ERR_OK, "");
    for (size_t i = 0; i < m->events; i++)
        wire_post(r->engine->wire, &m->event[i]);
    return ERR_OK;
}

static enum err_code take_snapshot(struct run *r, struct message *m, struct err *e)
{
    checkpoint_take(r, m);
    return m->urgent || checkpoint_is_due(r) ? checkpoint_flush(r, e) : ERR_OK;
}

static void log_end(struct run *r, enum wire_state state, const char *why)
{
    const char *name = wire_state_name(state);
    char line[1100];

    if (!strncmp(why, name, strlen(name))) /* "stopped at step 12" */
        snprintf(line, sizeof line, "%s", why);
    else
        snprintf(line, sizeof line, "%s%s%s", name, why[0] ? ": " : "", why);
    record_log(r->record, line);
}

/* A cell that went on by itself: its sweep's sheet tells of it too. False: others have its ledger, and
 * commands are to be heard before it is tried again. */
static bool tell_sweep(struct run *r)
{
    char *whole = realpath(r->path, NULL);                 /* "." too lies in a folder */
    char *results = io_folder_of(whole ? whole : r->path); /* not always those of this program */
    struct err e = {0};
    enum err_code code = record_sweep_take_run(results, &r->row, &e);

    free(results);
    free(whole);
    if (code == ERR_OK)
        return true;
    if (e.sys == EWOULDBLOCK && clock_ns() < r->sheet_until_ns) {
        r->retry_ns = clock_ns() + TOLD_NS;
        return false;
    }
    run_log(r, LOG_WARN, "the sheet of sweep %s could not be written: %s", r->row.sweep, e.text);
    return true;
}

static void end_when_told(struct run *r)
{
    if (!r->sweep && !tell_sweep(r))
        return;
    r->sheet_until_ns = 0;
    r->commands_end = !r->handed_over;
    close_and_tell(r, r->state, r->end_code, r->row.reason);
}

static void stopped_in_trouble(const struct run *r, struct err *why)
{
    struct text words = {0};

    write_error_add(r, &r->reason, &words);
    err_set(why, ERR_STOPPED, "stopped while it waited for room: %s", text_str(&words));
    text_free(&words);
}

static enum err_code take_ended(struct run *r, const struct message *m, struct err *e)
{
    enum wire_state state = m->state;
    struct err why = *m->error;
    bool retried;

    if (!r->opened && r->resumed && (why.code == ERR_INPUT || why.code == ERR_STOPPED)) {
        give_back(r, why.code == ERR_INPUT ? WIRE_FAILED : WIRE_STOPPED, &why);
        return ERR_OK;
    }
    if (r->failed && r->give_up) {
        state = WIRE_STOPPED;
        stopped_in_trouble(r, &why);
    } else if (r->failed) {
        state = r->reason.code == ERR_NOMEM ? WIRE_OOM : WIRE_FAILED;
        why = r->reason;
    } else {
        TRY(mend(r, e));
        TRY(checkpoint_flush(r, e));
        TRY(record_sync(r->record, e));
    }
    if (r->opened && !r->failed)
        r->at = m->at;
    if (r->skip && state == WIRE_STOPPED) {
        state = WIRE_SKIPPED;
        err_set(&why, ERR_STOPPED, "skipped by the user at step %lld", (long long)r->at.n.step);
    }
    if (why.code == ERR_STUCK)
        TRY(stuck_end(r, &state, &why, e));
    else if (r->halted && state == WIRE_STOPPED)
        why.code = ERR_STUCK;
    retried = state == WIRE_FAILED && sweep_tries_again(r, &why);
    if (retried)
        state = WIRE_STOPPED;
    r->state = state;
    snprintf(r->row.reason, sizeof r->row.reason, "%.511s", why.text);
    clock_utc(r->row.ended_utc, clock_wall());
    if (r->failed) {
        struct err again;

        if (run_write(r, &again) != ERR_OK && io_is_folder(r->path))
            run_log(r, r->give_up ? LOG_INFO : LOG_ERROR, "run.csv could not be written: %s",
                    again.text);
    } else {
        TRY(run_write(r, e));
        checkpoint_say_removed(r);
    }
    if (state == WIRE_DONE) {
        checkpoint_tidy(r);
        record_forget_restarts(r->record);
    }
    log_end(r, state, why.text);
    if (retried)
        sweep_try_again(r, &why);
    else if (r->sweep)
        sweep_take_end(r, state, &why);
    r->end_code = why.code;
    r->sheet_until_ns = clock_ns() + SHEET_NS;
    end_when_told(r);
    return ERR_OK;
}

static enum err_code take(struct run *r, struct message *m, struct err *e)
{
    if (r->failed && m->kind != MESSAGE_ENDED)
        return ERR_OK;
    switch (m->kind) {
    case MESSAGE_PLANNED:
        take_planned(r, m);
        return ERR_OK;
    case MESSAGE_OPENED:
        return take_opened(r, m, e);
    case MESSAGE_ROWS:
        return take_rows(r, m, e);
    case MESSAGE_SNAPSHOT:
        return take_snapshot(r, m, e);
    case MESSAGE_PAUSED:
    case MESSAGE_WENT_ON:
        r->at = m->at;
        r->state = m->kind == MESSAGE_PAUSED ? WIRE_PAUSED : WIRE_RUNNING;
        TRY(run_write(r, e));
        run_log(r, LOG_DEBUG,
                m->kind == MESSAGE_PAUSED ? "paused at step %lld" : "goes on at step %lld",
                (long long)r->at.n.step);
        run_tell_state(r, r->state, ERR_OK, "");
        return ERR_OK;
    case MESSAGE_ENDED:
        return take_ended(r, m, e);
    }
    return ERR_OK;
}

static struct message *first_message(struct run *r)
{
    struct message *m;

    pthread_mutex_lock(&r->lock);
    m = r->first;
    pthread_mutex_unlock(&r->lock);
    return m;
}

static void drop_first(struct run *r, struct message *m)
{
    pthread_mutex_lock(&r->lock);
    r->first = m->next;
    if (!r->first)
        r->last = NULL;
    r->messages--;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    message_free(m);
}

static bool work(struct run *r)
{
    struct err e = {0};
    int n = 0;

    if (r->disk_full && !write_error_try(r))
        return false;
    for (; n < 64 && !r->ended; n++) {
        struct message *m = first_message(r);

        if (m && take(r, m, &e) != ERR_OK) {
            write_error_take(r, &e);
            return !r->disk_full;
        }
        if (r->disk_full)
            write_error_over(r);
        if (!m)
            break;
        drop_first(r, m);
    }
    return n == 64;
}

bool run_work(struct run *r)
{
    bool more;

    trace_work(io_last_part(r->path));
    more = work(r);
    trace_work(NULL);
    return more;
}

static void obey_control(struct run *r)
{
    enum wire_wish wish;
    char line[64];

    while (record_next_control(r->record, line, sizeof line)) {
        if (r->sweep) /* what that was told before comes first: its "go" would end this pause */
            sweep_obey_control(r->sweep);
        if (wire_wish_find(line, &wish) && wish != WIRE_WISH_STOP_CELLS)
            run_set_wish(r, wish);
        else if (!strcmp(line, "skip") && r->sweep)
            run_skip(r);
        else
            run_log(r, LOG_WARN, "control asks for something unknown: %s", line);
    }
}

void run_tick(struct run *r)
{
    uint64_t now = clock_ns();
    struct err e = {0};

    if (!r->record || r->ended)
        return;
    if (r->sheet_until_ns) {
        if (now >= r->retry_ns)
            end_when_told(r);
        return;
    }
    if (now - r->control_ns >= 250000000) {
        r->control_ns = now;
        obey_control(r);
    }
    if (r->opened && now - r->engine->others_ns >= OTHERS_NS)
        look_at_others(r->engine);
    if (!r->disk_full && !r->failed && checkpoint_is_due(r) && checkpoint_flush(r, &e) != ERR_OK)
        write_error_take(r, &e);
}
