/* Who computes a cell: the ledger is looked at again whenever one is to begin, since other programs
 * may work on the same sweep; it is claimed behind its plan (sweep_claim), so that nobody waits for a
 * data set under the ledger's lock. */
#include "engine/sweep/sweep_int.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/columns.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/sweep/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND  1000000000u
#define LOOK_NS 50000000u /* of reading results that are there, before commands are heard again */

/* A cell is as it is now by the ledger: who computed it does not matter. */
static void take_found(struct sweep *s, struct cell *c, const struct record_cell *found)
{
    char *folder = io_path(s->engine->results, found->run);
    struct record_entry entry;

    c->state = found->state;
    c->elsewhere = false;
    c->again = true;
    free(c->reason);
    c->reason = found->reason[0] ? mem_text(found->reason) : NULL;
    snprintf(c->folder, sizeof c->folder, "%s", found->run);
    if (found->run[0] && record_read_entry(folder, &entry, NULL) == ERR_OK) {
        const struct record_run *run = &entry.run;

        if (!entry.broken && run->best_test_acc != RECORD_EMPTY)
            c->acc = run->best_test_acc;
        c->val_acc = record_entry_valid_acc(&entry);
        if (!entry.broken)
            c->seconds = run->train_seconds + run->eval_seconds;
        record_free_entry(&entry);
    }
    free(folder);
    if (c->state == WIRE_DONE && c->kind >= 0 && c->seconds > 0) {
        pthread_mutex_lock(&s->lock);
        s->kind[c->kind].seconds += c->seconds;
        s->kind[c->kind].done++;
        pthread_mutex_unlock(&s->lock);
    }
    sweep_tell_cell(s, c);
}

static bool begin_ledger(struct sweep *s)
{
    struct err e = {0};

    if (record_ledger_begin(s->ledger, &e) != ERR_OK) {
        sweep_wait_for(s, &e);
        return false;
    }
    if (s->busy)
        sweep_wait_over(s);
    return true;
}

/* What the ledger says, under its lock. --failed has a result anew that is older than the command. */
static enum record_claim look(struct sweep *s, const struct cell *c, struct record_cell *found)
{
    enum record_claim how = record_ledger_look(s->ledger, c->hash, false, found);

    if (how == RECORD_CLAIM_ENDED && s->failed && found->state != WIRE_DONE &&
        strcmp(found->time, s->begun_utc) < 0)
        how = RECORD_CLAIM_NEW;
    record_ledger_count(s->ledger, c->hash, how == RECORD_CLAIM_ENDED);
    return how;
}

/* Under the ledger's lock, which counts the results of all cells that were looked at, whoever computes
 * them. What has its result is told at once, and not when its turn would come. */
static void look_at_next(struct sweep *s)
{
    struct cell *c = &s->cell[s->looked++];
    struct record_cell found = {0};

    if (look(s, c, &found) == RECORD_CLAIM_ENDED && c->state == WIRE_WAITING)
        take_found(s, c, &found);
}

void claim_save(struct sweep *s)
{
    struct err e = {0};
    bool good = true;

    /* An end has its number when all cells were looked at: that may take long, claim_take_ended does it
     * by and by. */
    if (!s->unsaved || !s->ledger || (s->looked < s->seen && !sweep_closes(s)) || !begin_ledger(s))
        return;
    while (s->looked < s->seen)
        look_at_next(s);
    for (size_t i = 0; good && i < s->seen; i++) {
        struct cell *c = &s->cell[i];

        if (!c->unsaved)
            continue;
        good = record_ledger_add(s->ledger, c->hash, c->folder, c->state,
                                 c->reason ? c->reason : "", &e) == ERR_OK;
        c->unsaved = !good;
        s->unsaved -= good;
        s->sheet_old = true;
        if (good) {
            c->ended_as = record_ledger_ended(s->ledger);
            sweep_tell_cell(s, c);
        }
    }
    record_ledger_end(s->ledger);
    if (good)
        sweep_wait_over(s);
    else
        sweep_wait_for(s, &e);
}

static void end_cell(struct sweep *s, struct cell *c, enum wire_state state, const char *reason)
{
    char *copy = reason[0] ? mem_text(reason) : NULL;

    free(c->reason);
    c->reason = copy;
    c->state = state;
    c->elsewhere = false;
    if (!c->unsaved)
        s->unsaved++;
    c->unsaved = true;
    sweep_tell_cell(s, c);
}

void claim_keep_ends(struct sweep *s)
{
    struct record_cell found;
    struct err e;

    if (!s->failed || !s->ledger || record_ledger_begin(s->ledger, &e) != ERR_OK)
        return;
    for (size_t i = 0; i < s->seen; i++) {
        struct cell *c = &s->cell[i];

        if (c->state == WIRE_WAITING &&
            record_ledger_look(s->ledger, c->hash, false, &found) == RECORD_CLAIM_ENDED)
            take_found(s, c, &found);
    }
    record_ledger_end(s->ledger);
}

/* A run that the ledger calls unfinished: true where its own file knows how it ended, because its
 * owner died in between. *usable: it can be gone on with. */
static bool knows_end(struct sweep *s, struct record_cell *found, bool *usable)
{
    char *folder = io_path(s->engine->results, found->run);
    struct record_entry entry;
    bool ended = false;

    *usable = false;
    if (found->run[0] && record_read_entry(folder, &entry, NULL) == ERR_OK) {
        *usable = !entry.broken;
        ended = !entry.broken && wire_state_is_final(entry.run.state) &&
                !(s->failed && entry.run.state != WIRE_DONE);
        if (!entry.broken && wire_state_is_final(entry.run.state) && !ended)
            *usable = false;
        found->state = entry.run.state;
        snprintf(found->reason, sizeof found->reason, "%s", entry.run.reason);
        record_free_entry(&entry);
    }
    free(folder);
    return ended;
}

void claim_take_ended(struct sweep *s)
{
    uint64_t until = clock_ns() + LOOK_NS;

    if (s->looked == s->seen || sweep_closes(s) || clock_ns() < s->hold_ns || !begin_ledger(s))
        return;
    while (s->looked < s->seen && clock_ns() < until)
        look_at_next(s);
    record_ledger_end(s->ledger);
    wire_poke(s->engine->wire); /* there is more to do, but commands wait too */
}

struct cell *claim_next_waiting(struct sweep *s)
{
    struct cell *next = NULL;

    /* As long as nobody moved one they wait in their order, and most of a long sweep has ended. */
    while (s->first_waiting < s->seen && s->cell[s->first_waiting].state != WIRE_WAITING)
        s->first_waiting++;
    if (!s->moved)
        return s->first_waiting < s->seen ? &s->cell[s->first_waiting] : NULL;
    for (size_t i = s->first_waiting; i < s->seen; i++)
        if (s->cell[i].state == WIRE_WAITING && (!next || s->cell[i].place < next->place))
            next = &s->cell[i];
    return next;
}

static void leave_to_other(struct sweep *s, struct cell *c)
{
    c->state = WIRE_RUNNING;
    c->elsewhere = true;
    sweep_tell_cell(s, c);
}

/* Under the ledger's lock. Returns whether the cell is to be run: from[] is the name of the run to
 * go on with, or empty. Where not, it is something else than waiting now. */
static bool is_ours(struct sweep *s, struct cell *c, char from[256])
{
    struct record_cell found = {0};
    bool usable = false;
    const char *orphan;

    from[0] = '\0';
    c->how = look(s, c, &found);
    snprintf(c->before, sizeof c->before, "%s", found.run);
    switch (c->how) {
    case RECORD_CLAIM_ENDED:
        take_found(s, c, &found);
        return false;
    case RECORD_CLAIM_OTHER:
        leave_to_other(s, c);
        return false;
    case RECORD_CLAIM_RESUME:
        if (knows_end(s, &found, &usable)) {
            take_found(s, c, &found);
            c->unsaved = true;
            s->unsaved++;
            return false;
        }
        if (usable)
            memcpy(from, found.run, sizeof found.run);
        break;
    case RECORD_CLAIM_NEW:
        orphan = book_orphan(s, c->hash);
        if (orphan)
            snprintf(from, 256, "%s", orphan);
        break;
    }
    if (c->kind < 0) {
        end_cell(s, c,
                 c->why == ERR_INPUT   ? WIRE_SKIPPED
                 : c->why == ERR_NOMEM ? WIRE_OOM
                                       : WIRE_FAILED,
                 c->reason);
        return false;
    }
    return true;
}

void claim_skip(struct sweep *s, struct cell *c)
{
    bool open = s->ledger && begin_ledger(s);
    char from[256];

    if (!open || is_ours(s, c, from)) {
        if (open && c->how == RECORD_CLAIM_RESUME)
            memcpy(c->folder, c->before, sizeof c->folder); /* what there is of it stays its run */
        end_cell(s, c, WIRE_SKIPPED, "dropped by the user before it began");
    }
    if (open)
        record_ledger_end(s->ledger);
    claim_save(s);
}

static int free_job(const struct sweep *s)
{
    int job = 0;

    while (job < s->jobs && s->job[job])
        job++;
    return job;
}

static void try_again(struct sweep *s, struct cell *c, const char *why)
{
    c->retried = true;
    s->hold_ns = clock_ns() + SECOND;
    sweep_tell(s, LOG_WARN, "cell %zu: %s: it is tried once more", c->number, why);
}

bool sweep_tries_again(const struct run *r, const struct err *why)
{
    return (why->sys == EIO || why->sys == EAGAIN || why->sys == EMFILE) && r->sweep &&
           !r->sweep->cell[r->cell].retried;
}

void sweep_try_again(struct run *r, const struct err *why)
{
    try_again(r->sweep, &r->sweep->cell[r->cell], why->text);
}

static void start_cell(struct sweep *s, struct cell *c, const char *from)
{
    struct engine *e = s->engine;
    struct wire_start *start = mem_new(1, sizeof *start);
    char *folder = io_path(e->results, from);
    struct err err = {0};
    struct run *r;

    if (*from)
        snprintf(start->resume, sizeof start->resume, "%s", folder);
    else if (spec_sweep_cell(&s->spec, c->number, &start->spec, &err) != ERR_OK)
        end_cell(s, c, WIRE_SKIPPED, err.text);
    free(folder);
    if (c->state == WIRE_WAITING) {
        r = run_new(e, WIRE_OWN_RUNS + e->own_runs++, start);
        r->sweep = s;
        r->cell = (size_t)(c - s->cell);
        r->share = free_job(s);
        r->shares = s->jobs > 1 ? s->jobs : 0;
        if (engine_begin(e, r)) {
            s->job[r->share] = true;
            s->live++;
            c->run = r;
            c->state = WIRE_RUNNING;
            sweep_tell_cell(s, c);
        } else if (!c->retried) {
            try_again(s, c, "no thread could be started for this run");
        } else {
            end_cell(s, c, WIRE_FAILED, "no thread could be started for this run");
        }
    }
    free(start);
}

/* Cells that other programs have, or have ended, while this one waits for its turn. */
static void see_others(struct sweep *s)
{
    for (size_t i = s->first_waiting; i < s->seen; i++) {
        struct cell *c = &s->cell[i];
        struct record_cell found = {0};
        enum record_claim how;

        if (c->state != WIRE_WAITING)
            continue;
        how = look(s, c, &found);
        if (how == RECORD_CLAIM_ENDED)
            take_found(s, c, &found);
        else if (how == RECORD_CLAIM_OTHER)
            leave_to_other(s, c);
        s->sheet_old |= c->state != WIRE_WAITING;
    }
}

/* Under the ledger's lock: true where a cell that another program computes is to end first, which is
 * looked at again in a second. */
static bool wait_for_others(struct sweep *s)
{
    char run[256];

    if (!s->alone || !record_ledger_is_worked_on(s->ledger, run))
        return false;
    s->turn_ns = clock_ns() + SECOND;
    see_others(s);
    if (!s->turn_told)
        sweep_tell(s, LOG_INFO,
                   "waits for %s, which another program computes: where devices, threads, mode, "
                   "members or backend vary, cells run one at a time, so that their seconds can be "
                   "compared (with --jobs it would not wait)",
                   run);
    s->turn_told = true;
    return true;
}

/* Returns whether one began. */
bool claim_next(struct sweep *s)
{
    uint64_t until = clock_ns() + LOOK_NS;
    struct cell *c;
    char from[256];
    bool ours = false;

    if (sweep_closes(s) || sweep_is_held(s) || s->live >= (size_t)s->jobs ||
        clock_ns() < s->hold_ns || clock_ns() < s->turn_ns || !claim_next_waiting(s) ||
        !begin_ledger(s))
        return false;
    if (wait_for_others(s)) {
        record_ledger_end(s->ledger);
        claim_save(s);
        return false;
    }
    while (!ours && (c = claim_next_waiting(s)) && clock_ns() < until)
        ours = is_ours(s, c, from);
    if (!ours && c)
        wire_poke(s->engine->wire); /* there are more, but commands wait too */
    record_ledger_end(s->ledger);
    if (ours)
        start_cell(s, c, from);
    claim_save(s);
    return ours;
}

/* Those of other programs: ended, or free again because their program died or was stopped. */
void claim_look_elsewhere(struct sweep *s)
{
    uint64_t now = clock_ns();
    bool any = false;

    for (size_t i = 0; i < s->seen && !any; i++)
        any = s->cell[i].elsewhere;
    if (!any || now < s->look_ns || sweep_closes(s) || !begin_ledger(s))
        return;
    s->look_ns = now + SECOND;
    for (size_t i = 0; i < s->seen; i++) {
        struct cell *c = &s->cell[i];
        struct record_cell found = {0};
        enum record_claim how;

        if (!c->elsewhere)
            continue;
        how = look(s, c, &found);
        if (how == RECORD_CLAIM_OTHER)
            continue;
        c->elsewhere = false;
        c->state = WIRE_WAITING;
        s->first_waiting = 0;
        if (how == RECORD_CLAIM_ENDED)
            take_found(s, c, &found);
        else
            sweep_tell_cell(s, c);
        s->sheet_old = true;
    }
    record_ledger_end(s->ledger);
}

static void claim_failed(struct run *r, const struct err *e)
{
    if (sweep_tries_again(r, e))
        sweep_try_again(r, e);
    else
        sweep_wait_for(r->sweep, e);
}

/* The folder is there, and owned, before the ledger says so: a claim without an owner is a dead
 * program's. */
static enum err_code make_claim(struct run *r, struct err *e)
{
    struct sweep *s = r->sweep;
    struct cell *c = &s->cell[r->cell];
    enum err_code code = run_open_record(r, e);
    const char *slash;

    if (code != ERR_OK) {
        /* a folder of its own that is broken, or taken up by somebody, is the cell's matter alone */
        s->unclaimed = write_error_is_full(e) || !r->resumed || record_is_owned(r->path);
        if (write_error_is_full(e) || !r->resumed)
            claim_failed(r, e);
        return code;
    }
    slash = strrchr(r->path, '/');
    snprintf(c->folder, sizeof c->folder, "%.255s", slash ? slash + 1 : r->path);
    code = record_ledger_add(s->ledger, c->hash, c->folder, WIRE_RUNNING, "", e);
    if (code == ERR_OK) {
        s->sheet_old = true; /* it waits no more */
        sweep_wait_over(s);
        return ERR_OK;
    }
    if (!r->resumed) /* tried again, it goes on in the folder that was made */
        book_add_orphan(s, c->hash, c->folder);
    c->folder[0] = '\0';
    s->unclaimed = true;
    claim_failed(r, e);
    return code;
}

enum err_code sweep_claim(struct run *r, bool *mine, struct err *e)
{
    struct sweep *s = r->sweep;
    struct cell *c = &s->cell[r->cell];
    struct record_cell found = {0};
    enum err_code code = record_ledger_begin(s->ledger, e);

    if (code != ERR_OK) {
        s->unclaimed = true;
        sweep_wait_for(s, e);
        return code;
    }
    *mine = look(s, c, &found) == c->how && !strcmp(found.run, c->before) && !wait_for_others(s);
    if (*mine)
        code = make_claim(r, e);
    record_ledger_end(s->ledger);
    if (*mine && code == ERR_OK && strcmp(r->hash, c->hash) != 0 && !r->resumed)
        sweep_tell(s, LOG_WARN, "the data of cell %zu have changed since the sweep began",
                   c->number);
    return code;
}

/* The run could not begin. Returns false where the cell has no result by that. */
static bool judge_refused(struct run *r, enum wire_state *state, const struct err *why)
{
    enum err_code code = why->code;
    struct record_entry entry;

    if (r->sweep->unclaimed) {
        r->sweep->unclaimed = false;
        return false;
    }
    if (r->resumed && (code == ERR_OK || code == ERR_DIVERGED) &&
        record_read_entry(r->start.resume, &entry, NULL) == ERR_OK) {
        *state = entry.run.state; /* another one ended it between two looks */
        record_free_entry(&entry);
        return wire_state_is_final(*state);
    }
    if (code == ERR_STOPPED || (r->start.resume[0] && record_is_owned(r->start.resume)))
        return false;
    if (sweep_tries_again(r, why)) {
        sweep_try_again(r, why);
        return false;
    }
    /* It could be planned when the sweep began: what it needs is no longer there. */
    *state = code == ERR_NOMEM ? WIRE_OOM : WIRE_FAILED;
    return true;
}

static void count_seconds(struct sweep *s, struct cell *c, const struct run *r)
{
    uint64_t before = r->opened_ns - r->begun_ns; /* the data, the backend */

    c->seconds = (double)(r->at.n.train_ns + r->at.n.eval_ns + (int64_t)before) * 1e-9;
    if (c->state != WIRE_DONE || c->kind < 0)
        return;
    pthread_mutex_lock(&s->lock);
    s->kind[c->kind].seconds += c->seconds;
    s->kind[c->kind].done++;
    pthread_mutex_unlock(&s->lock);
}

void claim_again(struct sweep *s)
{
    for (size_t i = 0; i < s->seen; i++) {
        struct cell *c = &s->cell[i];

        if (!c->with_all || c->run)
            continue;
        s->unsaved -= c->unsaved;
        c->with_all = c->unsaved = false;
        c->ended_as = 0;
        c->state = WIRE_WAITING;
        s->first_waiting = 0;
        sweep_tell_cell(s, c);
    }
}

void sweep_take_end(struct run *r, enum wire_state state, const struct err *why)
{
    const char *reason = why->text;
    struct sweep *s = r->sweep;
    struct cell *c = &s->cell[r->cell];

    if (!r->opened && r->record == NULL && r->skip) {
        state = WIRE_SKIPPED;
        reason = "skipped by the user before it began";
    } else if (!r->opened && r->record == NULL && !judge_refused(r, &state, why)) {
        return; /* sweep_forget makes it wait again */
    }
    if (!c->folder[0] && c->how == RECORD_CLAIM_RESUME)
        memcpy(c->folder, c->before, sizeof c->folder);
    if (r->opened && r->row.best_test_acc != RECORD_EMPTY)
        c->acc = r->row.best_test_acc;
    if (r->opened && r->plan->valid_images && r->at.x.best_acc != RECORD_EMPTY)
        c->val_acc = r->at.x.best_acc;
    c->state = state;
    c->with_all = state == WIRE_STOPPED && wire_wish_stops(s->wish);
    if (r->opened)
        count_seconds(s, c, r);
    end_cell(s, c, state, reason);
    claim_save(s);
}

void sweep_forget(struct run *r)
{
    struct sweep *s = r->sweep;
    struct cell *c = &s->cell[r->cell];

    s->job[r->share] = false;
    s->live--;
    c->run = NULL;
    if (c->state == WIRE_RUNNING) {
        c->state = WIRE_WAITING;
        s->first_waiting = 0;
    }
    /* of a sweep that stops after its cells they go on alone: what it is stays to be seen */
    if (s->wish != WIRE_WISH_STOP_CELLS || r->end_code != ERR_STUCK)
        wire_drop_status(s->engine->wire, r->number);
    sweep_tell_cell(s, c);
    if (!wire_wish_stops(s->wish))
        claim_again(s);
}
