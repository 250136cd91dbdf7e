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

static enum err_code wish_on_wire(struct feed *f, uint32_t number, enum wire_wish wish,
                                  struct err *e)
{
    return send_command(f, &(struct wire_command){.kind = WIRE_WISH, .run = number, .wish = wish},
                        e);
}

enum err_code feed_wish(struct feed *f, struct feed_run *run, enum wire_wish wish, struct err *e)
{
    TRY(check_live(run, e));
    return run->own ? wish_on_wire(f, run->number, wish, e)
                    : record_control(run->path, wire_wish_line(wish), e);
}

enum err_code feed_wish_all(struct feed *f, struct feed_run *run, enum wire_wish wish,
                            struct err *e)
{
    if (!run->own || !run->sweep)
        return feed_wish(f, run, wish, e);
    TRY(check_live(run, e));
    return wish_on_wire(f, run->sweep, wish, e);
}

bool feed_ends_epoch(const struct feed *f, const struct feed_run *run)
{
    struct wire_status status = {.wish = run->wish};

    if (!run->live || run->dead || (run->state != WIRE_RUNNING && run->state != WIRE_PAUSED))
        return false;
    if (run->own && !(f->wire && wire_status(f->wire, run->number, &status)))
        return false;
    return status.wish == WIRE_WISH_STOP_EPOCH;
}

bool feed_is_stopping(const struct feed *f, const struct feed_run *run)
{
    struct wire_status status;

    if (run->state != WIRE_RUNNING)
        return false;
    return feed_ends_epoch(f, run) ||
           (run->own && f->wire && wire_status(f->wire, run->number, &status) && status.closing);
}

bool feed_is_cell(const struct feed_run *run)
{
    return run->sweep || (!run->own && run->sweep_name[0]);
}

bool feed_stops_later(const struct feed *f, const struct feed_run *run)
{
    struct wire_sweep_status is;

    return feed_is_cell(run) ? feed_sweep_of(f, run, &is) && wire_wish_stops_later(is.wish)
                             : feed_ends_epoch(f, run);
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
           !wire_state_ended(is.state) && !wire_sweep_closes(&is) && is.state != WIRE_PAUSED;
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
