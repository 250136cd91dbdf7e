/* What a sweep is told while it goes on: by the wire, and by lines of its control file. */
#include "engine/sweep/sweep_int.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What another process goes on with begins no cell here any more. */
void sweep_set_wish(struct sweep *s, enum wire_wish wish)
{
    bool later = wire_wish_stops_later(s->wish);

    if (s->halted && !wire_wish_stops(wish))
        return;
    if (wish == WIRE_WISH_RUN && later)
        sweep_tell(s, LOG_INFO, "it goes on: the %s is taken back", wire_wish_words(s->wish));
    s->wish = wish;
    s->changed = true;
    for (struct run *r = s->engine->running; r; r = r->next)
        if (r->sweep == s)
            run_set_wish(r, wish);
    if (!wire_wish_stops(wish))
        claim_again(s);
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
    struct cell *c = find_cell(s, command->cell);

    if (!c)
        run_refuse(s->engine, s->number, ERR_FAILED, "the sweep has no such cell");
    else if (command->kind == WIRE_SKIP)
        skip_cell(s, c);
    else
        move_cell(s, c, command->by);
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

void sweep_end_part(struct sweep *s)
{
    s->ends = s->changed = true;
    for (struct run *r = s->engine->running; r; r = r->next)
        if (r->sweep == s)
            run_end_part(r, WIRE_END);
}

void sweep_halt(struct sweep *s)
{
    if (!s->begun)
        return;
    s->halted |= !s->ends;
    s->ends = s->changed = true;
}

void sweep_obey_control(struct sweep *s)
{
    enum wire_wish wish;
    char line[64];

    while (book_next_control(s, line, sizeof line)) {
        if (wire_wish_find(line, &wish))
            sweep_set_wish(s, wish);
        else if (line[0] && !obey_cell_line(s, line))
            sweep_tell(s, LOG_WARN, "control asks for something unknown: %s", line);
    }
}
