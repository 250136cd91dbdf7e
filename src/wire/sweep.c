#include "wire/sweep.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wire_sweep *wire_sweep_new(const struct spec_sweep *s, const char *name, size_t *n)
{
    struct wire_sweep *start;
    struct text text = {0};

    spec_sweep_write(s, &text);
    *n = sizeof *start + text.n + 1;
    start = mem_new(1, *n);
    snprintf(start->name, sizeof start->name, "%s", name);
    memcpy(start->text, text_str(&text), text.n);
    text_free(&text);
    return start;
}

enum err_code wire_sweep_read(const struct wire_sweep *from, size_t n, struct spec_sweep *s,
                              struct err *e)
{
    size_t room = from && n > sizeof *from ? n - sizeof *from : 0;

    if (!room || from->text[room - 1])
        return err_set(e, ERR_FAILED, "a command came without the text of its sweep");
    if (!memchr(from->name, '\0', sizeof from->name) || !from->name[0] || from->name[0] == '.' ||
        strchr(from->name, '/'))
        return err_set(e, ERR_INPUT, "the name of the sweep is not fit for a folder");
    TRY(spec_sweep_parse(s, from->text, strlen(from->text), "sweep.ini", e));
    /* The text is nobody's file: its lines say nothing to whoever reads an error. */
    s->base.file[0] = '\0';
    memset(s->base.line, 0, sizeof s->base.line);
    for (size_t i = 0; i < s->axes; i++) {
        free(s->axis[i].where);
        s->axis[i].where = NULL;
    }
    return ERR_OK;
}

int64_t wire_sweep_ended(const struct wire_sweep_status *s)
{
    return s->done + s->diverged + s->oom + s->failed + s->skipped;
}

int64_t wire_sweep_at(const struct wire_sweep_status *s)
{
    int64_t under_way = s->running + s->elsewhere;
    int64_t at = wire_sweep_ended(s) + (under_way > 1 ? under_way : 1);

    return at < s->cells ? at : s->cells;
}

int64_t wire_sweep_works(const struct wire_sweep_status *s)
{
    return s->running - s->paused + s->elsewhere;
}

bool wire_sweep_lacks_room(const struct wire_sweep_status *s)
{
    return !wire_state_ended(s->state) && (s->full || s->code == ERR_IO);
}

bool wire_sweep_is_paused(const struct wire_sweep_status *s)
{
    return s->state == WIRE_PAUSED || (s->paused && !wire_sweep_works(s));
}

bool wire_sweep_has_paused(const struct wire_sweep_status *s)
{
    return s->state == WIRE_PAUSED || s->paused;
}

bool wire_sweep_closes(const struct wire_sweep_status *s)
{
    return s->closing || wire_wish_stops(s->wish);
}

bool wire_sweep_rests(const struct wire_sweep_status *s)
{
    return wire_sweep_lacks_room(s) || (wire_sweep_is_paused(s) && !wire_sweep_works(s));
}

static const char *words_without_room(const struct wire_sweep_status *s)
{
    if (s->wish == WIRE_WISH_STOP_CELLS)
        return WIRE_LACKS_ROOM ", then stops after the running cells";
    if (wire_sweep_closes(s))
        return WIRE_LACKS_ROOM ", then stops";
    return s->state == WIRE_PAUSED ? WIRE_LACKS_ROOM ", then pauses" : WIRE_LACKS_ROOM;
}

/* Cells that were paused alone come to no end. */
static const char *words_of_stop(const struct wire_sweep_status *s, bool brief)
{
    if (s->paused && !wire_sweep_works(s))
        return brief ? "paused" : "paused, then stops";
    return brief                             ? "stopping"
           : s->wish == WIRE_WISH_STOP_EPOCH ? "stopping after this epoch"
                                             : "stopping: no further cell begins";
}

const char *wire_sweep_words(const struct wire_sweep_status *s, bool brief)
{
    if (wire_state_ended(s->state))
        return wire_state_name(s->state);
    if (wire_sweep_lacks_room(s))
        return brief ? WIRE_LACKS_ROOM : words_without_room(s);
    if (wire_sweep_closes(s))
        return words_of_stop(s, brief);
    if (wire_sweep_is_paused(s))
        return brief || !wire_sweep_works(s) ? "paused" : "paused: no further cell begins";
    if (s->counting && !s->running && s->state == WIRE_RUNNING)
        return "starting";
    return wire_state_name(s->state);
}
