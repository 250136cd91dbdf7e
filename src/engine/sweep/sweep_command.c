/* What a sweep is told while it goes on: by the wire, and by lines of its control file. */
#include "engine/sweep/sweep_int.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void want_all(struct sweep *s, enum run_wish wish, enum wire_how how)
{
    for (struct run *r = s->engine->running; r; r = r->next)
        if (r->sweep == s)
            run_want(r, wish, how);
}

static bool any_wants_pause(const struct sweep *s)
{
    bool any = false;

    for (struct run *r = s->engine->running; r && !any; r = r->next)
        any = r->sweep == s && run_wants(r, WISH_PAUSE);
    return any;
}

static void stop(struct sweep *s, enum wire_how how)
{
    bool after_cells = how == WIRE_AFTER_CELLS;

    if (!after_cells) {
        s->after_epoch = how == WIRE_AFTER_EPOCH && (s->course != SWEEP_ENDS || s->after_epoch);
        s->course = SWEEP_ENDS;
    } else if (s->course != SWEEP_ENDS) {
        s->course = SWEEP_AFTER_CELLS;
    }
    s->paused = false;
    /* a paused one ends only if it goes on */
    want_all(s, after_cells ? WISH_GO : WISH_STOP, after_cells ? WIRE_AFTER_STEP : how);
}

/* What is paused goes on; where nothing is, cells begin again that a stop would have kept from it: not
 * in a process that can compute no more. */
static void go(struct sweep *s)
{
    if ((s->course == SWEEP_AFTER_CELLS || s->after_epoch) && !s->paused && !any_wants_pause(s) &&
        !engine_is_stuck(s->engine)) {
        s->course = SWEEP_GOES_ON;
        sweep_tell(s, LOG_INFO, "it goes on: the stop after %s is taken back",
                   s->after_epoch ? "this epoch" : "the running cells");
        s->after_epoch = false;
    }
    s->paused = false;
    want_all(s, WISH_GO, WIRE_AFTER_STEP);
}

static struct cell *find_cell(struct sweep *s, uint32_t number)
{
    for (size_t i = 0; i < s->seen; i++)
        if (s->cell[i].number == number)
            return &s->cell[i];
    return NULL;
}

static void skip_cell(struct sweep *s, struct cell *c)
{
    if (c->state == WIRE_WAITING) {
        claim_skip(s, c);
    } else if (c->run && !wire_state_is_final(c->state)) {
        run_skip(c->run);
    } else {
        run_refuse(s->engine, s->number, ERR_FAILED,
                   c->elsewhere ? "another program computes this cell" : "this cell has ended");
    }
}

/* Changes places with the waiting cell next to it, so many times. */
static void move_cell(struct sweep *s, struct cell *c, int32_t by)
{
    if (c->state != WIRE_WAITING) {
        run_refuse(s->engine, s->number, ERR_FAILED,
                   wire_state_is_final(c->state) ? "this cell has ended"
                                                 : "this cell runs already");
        return;
    }
    s->moved = s->order_old = true;
    for (; by; by += by < 0 ? 1 : -1) {
        struct cell *other = NULL;
        int64_t place = c->place;

        for (size_t i = 0; i < s->seen; i++) {
            struct cell *o = &s->cell[i];

            if (o->state == WIRE_WAITING &&
                (by < 0 ? o->place < place && (!other || o->place > other->place)
                        : o->place > place && (!other || o->place < other->place)))
                other = o;
        }
        if (!other)
            break;
        c->place = other->place;
        other->place = place;
        sweep_tell_cell(s, other);
    }
    sweep_tell_cell(s, c);
}

void sweep_command(struct sweep *s, const struct wire_command *command)
{
    struct cell *c;

    switch (command->kind) {
    case WIRE_STOP:
        stop(s, command->how);
        break;
    case WIRE_PAUSE:
        s->paused = true;
        want_all(s, WISH_PAUSE, WIRE_AFTER_STEP);
        break;
    case WIRE_GO:
        go(s);
        break;
    default:
        c = find_cell(s, command->cell);
        if (!c)
            run_refuse(s->engine, s->number, ERR_FAILED, "the sweep has no such cell");
        else if (command->kind == WIRE_SKIP)
            skip_cell(s, c);
        else
            move_cell(s, c, command->by);
        break;
    }
    s->changed = true;
}

/* "skip 12" and "move 12 -1", of a cell by its number: what does not wait or run here any more is not
 * meant. False: it is no such line. */
static bool obey_cell_line(struct sweep *s, const char *line)
{
    struct wire_command command = {.run = s->number};
    struct cell *c;
    char more;

    if (sscanf(line, "skip %" SCNu32 "%c", &command.cell, &more) == 1)
        command.kind = WIRE_SKIP;
    else if (sscanf(line, "move %" SCNu32 " %" SCNd32 "%c", &command.cell, &command.by, &more) == 2)
        command.kind = WIRE_MOVE;
    else
        return false;
    c = find_cell(s, command.cell);
    if (c && (c->state == WIRE_WAITING ||
              (command.kind == WIRE_SKIP && c->run && !wire_state_is_final(c->state))))
        sweep_command(s, &command);
    if (command.kind == WIRE_MOVE)
        s->order_old = true; /* who asked waits for the answer, where nothing moved too */
    return true;
}

void sweep_halt(struct sweep *s)
{
    if (!s->begun)
        return;
    if (s->course == SWEEP_GOES_ON)
        s->course = SWEEP_HALTED;
    s->paused = false;
    s->changed = true;
}

void sweep_obey_control(struct sweep *s)
{
    static const struct {
        const char *line;
        enum wire_command_kind kind;
        enum wire_how how;
    } lines[] = {
        {"pause", WIRE_PAUSE, 0},
        {"go", WIRE_GO, 0},
        {"stop step", WIRE_STOP, WIRE_AFTER_STEP},
        {"stop epoch", WIRE_STOP, WIRE_AFTER_EPOCH},
        {"stop cells", WIRE_STOP, WIRE_AFTER_CELLS},
        {"stop now", WIRE_STOP, WIRE_NOW},
    };
    char line[64];

    while (book_next_control(s, line, sizeof line)) {
        size_t i = 0;

        while (i < MEM_COUNT(lines) && strcmp(lines[i].line, line) != 0)
            i++;
        if (!line[0])
            continue;
        if (i < MEM_COUNT(lines)) {
            struct wire_command c = {.kind = lines[i].kind, .how = lines[i].how};

            sweep_command(s, &c);
        } else if (!obey_cell_line(s, line)) {
            sweep_tell(s, LOG_WARN, "control asks for something unknown: %s", line);
        }
    }
}
