/* live/feed_command.c: what runs are told: over the wire where they are ours, through their control file
 * else; and starts. */
#include "live/feed_int.h"

#include "record/run/reader.h"

#include <stdlib.h>
#include <string.h>

static enum err_code send_command(struct feed *f, const struct wire_command *command, struct err *e)
{
    if (!f->wire || !wire_send(f->wire, command))
        return err_set(e, ERR_FAILED, "the engine takes no commands");
    return ERR_OK;
}

static enum err_code check_live(const struct feed_run *run, struct err *e)
{
    if (run->own && run->live)
        return ERR_OK;
    if (!run->own && run->path[0] && !run->dead)
        return ERR_OK; /* its lock says whether somebody is there */
    if (run->dead)
        return err_set(e, ERR_FAILED, "nobody runs it any more: its process is gone; R goes on");
    return err_set(e, ERR_FAILED, "nobody runs it: it is %s", wire_state_words(run->state));
}

enum err_code feed_pause(struct feed *f, struct feed_run *run, bool go, struct err *e)
{
    TRY(check_live(run, e));
    if (!run->own)
        return record_control(run->path, go ? "go" : "pause", e);
    return send_command(
        f, &(struct wire_command){.kind = go ? WIRE_GO : WIRE_PAUSE, .run = run->number}, e);
}

enum err_code feed_stop(struct feed *f, struct feed_run *run, enum wire_how how, struct err *e)
{
    TRY(check_live(run, e));
    if (!run->own)
        return record_control(run->path,
                              how == WIRE_AFTER_EPOCH   ? "stop epoch"
                              : how == WIRE_NOW         ? "stop now"
                              : how == WIRE_AFTER_CELLS ? "stop cells"
                                                        : "stop step",
                              e);
    return send_command(f,
                        &(struct wire_command){.kind = WIRE_STOP,
                                               .run = run->sweep ? run->sweep : run->number,
                                               .how = how},
                        e);
}

bool feed_ends_epoch(const struct feed *f, const struct feed_run *run)
{
    struct wire_status status;

    if (!run->live || run->dead || (run->state != WIRE_RUNNING && run->state != WIRE_PAUSED))
        return false;
    return run->own ? f->wire && wire_status(f->wire, run->number, &status) && status.after_epoch
                    : run->standing == RECORD_WORK_ENDS;
}

const char *feed_ending(const struct feed *f, const struct feed_run *run)
{
    if (!feed_ends_epoch(f, run))
        return NULL;
    return run->state == WIRE_PAUSED ? "paused, then stops" : "stopping";
}

bool feed_is_cell(const struct feed_run *run)
{
    return run->sweep || (!run->own && run->sweep_name[0]);
}

bool feed_stops_later(const struct feed *f, const struct feed_run *run)
{
    struct wire_sweep_status is;

    return feed_is_cell(run) ? feed_sweep_of(f, run, &is) && wire_sweep_stops_later(&is)
                             : feed_ends_epoch(f, run);
}

static enum err_code let_sweep_go(struct feed *f, const struct feed_run *cell, struct err *e)
{
    return send_command(f, &(struct wire_command){.kind = WIRE_GO, .run = cell->sweep}, e);
}

/* The first one ends the pause. */
enum err_code feed_take_stop_back(struct feed *f, struct feed_run *run, struct err *e)
{
    struct wire_sweep_status is;

    if (run->own && run->sweep) {
        if (feed_sweep_of(f, run, &is) && !wire_sweep_takes_back(&is))
            TRY(let_sweep_go(f, run, e));
        return let_sweep_go(f, run, e);
    }
    if (run->state == WIRE_PAUSED)
        TRY(feed_pause(f, run, true, e));
    return feed_pause(f, run, true, e);
}

bool feed_sweep_of(const struct feed *f, const struct feed_run *cell, struct wire_sweep_status *out)
{
    if (cell->own)
        return f->wire && cell->sweep && wire_sweep_status(f->wire, cell->sweep, out);
    *out = f->elsewhere.is;
    return cell->sweep_name[0] && !strcmp(out->name, cell->sweep_name) &&
           !wire_state_ended(out->state);
}

bool feed_goes_on(const struct feed *f, const struct feed_run *cell)
{
    struct wire_sweep_status is;

    return feed_sweep_of(f, cell, &is) && (is.waiting || is.counting) &&
           !wire_state_ended(is.state) && !is.closing && is.state != WIRE_PAUSED;
}

enum err_code feed_skip(struct feed *f, struct feed_run *run, struct err *e)
{
    TRY(check_live(run, e));
    if (!run->own)
        return record_control(run->path, "skip", e);
    return send_command(
        f, &(struct wire_command){.kind = WIRE_SKIP, .run = run->sweep, .cell = run->cell}, e);
}

static uint32_t send_start(struct feed *f, enum wire_command_kind kind, const void *bytes, size_t n,
                           struct err *e)
{
    struct wire_command command = {.kind = kind, .run = f->last_number + 1};

    if (f->wire && wire_send_with(f->wire, command, bytes, n))
        return ++f->last_number;
    err_set(e, ERR_FAILED, "the engine takes no commands%s",
            f->wire ? ": it is too busy with others" : "");
    return 0;
}

void feed_expect(struct feed *f, uint32_t number, const struct wire_start *start)
{
    struct feed_run *run = feed_have_number(f, number);

    run->spec = start->spec;
    if (start->resume[0])
        feed_set_path(run, start->resume);
}

void feed_expect_sweep(struct feed *f, uint32_t number)
{
    f->sweep_begun = number;
}

uint32_t feed_start_run(struct feed *f, const struct wire_start *start, struct err *e)
{
    uint32_t number = send_start(f, WIRE_START, start, sizeof *start, e);

    if (number)
        feed_expect(f, number, start);
    return number;
}

uint32_t feed_start_sweep(struct feed *f, const struct wire_sweep *sweep, size_t bytes,
                          struct err *e)
{
    uint32_t number = send_start(f, WIRE_SWEEP, sweep, bytes, e);

    if (number)
        feed_expect_sweep(f, number);
    return number;
}
