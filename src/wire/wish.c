#include "wire/wish.h"

#include <string.h>

static const char *const lines[WIRE_WISHES] = {[WIRE_WISH_RUN] = "go",
                                               [WIRE_WISH_PAUSE] = "pause",
                                               [WIRE_WISH_STOP_CELLS] = "stop cells",
                                               [WIRE_WISH_STOP_EPOCH] = "stop epoch",
                                               [WIRE_WISH_STOP] = "stop step",
                                               [WIRE_WISH_STOP_NOW] = "stop now"};

const char *wire_wish_line(enum wire_wish wish)
{
    return lines[wish];
}

bool wire_wish_find(const char *line, enum wire_wish *wish)
{
    for (int i = 0; i < WIRE_WISHES; i++)
        if (!strcmp(lines[i], line)) {
            *wish = (enum wire_wish)i;
            return true;
        }
    return false;
}

const char *wire_wish_words(enum wire_wish wish)
{
    static const char *const words[WIRE_WISHES] = {[WIRE_WISH_RUN] = "run",
                                                   [WIRE_WISH_PAUSE] = "pause",
                                                   [WIRE_WISH_STOP_CELLS] =
                                                       "stop after the running cells",
                                                   [WIRE_WISH_STOP_EPOCH] = "stop after this epoch",
                                                   [WIRE_WISH_STOP] = "stop after this step",
                                                   [WIRE_WISH_STOP_NOW] = "stop at once"};

    return words[wish];
}

bool wire_wish_stops(enum wire_wish wish)
{
    return wish >= WIRE_WISH_STOP_CELLS;
}

bool wire_wish_stops_later(enum wire_wish wish)
{
    return wish == WIRE_WISH_STOP_CELLS || wish == WIRE_WISH_STOP_EPOCH;
}

enum wire_wish wire_wish_of_cell(enum wire_wish of_sweep)
{
    return of_sweep == WIRE_WISH_STOP_CELLS ? WIRE_WISH_RUN : of_sweep;
}

enum wire_deed wire_wish_deed(enum wire_wish wish, enum wire_place at)
{
    if (at == WIRE_AT_END || wish == WIRE_WISH_STOP)
        return WIRE_END;
    if (wish == WIRE_WISH_STOP_NOW)
        return at == WIRE_AT_BEGIN ? WIRE_END : WIRE_END_NOW;
    if (wish == WIRE_WISH_PAUSE)
        return WIRE_HOLD;
    if (wish == WIRE_WISH_STOP_EPOCH)
        return at == WIRE_AT_STEP ? WIRE_GO_ON : WIRE_END;
    return wish == WIRE_WISH_STOP_CELLS && at == WIRE_AT_BEGIN ? WIRE_END : WIRE_GO_ON;
}

bool wire_wish_take(enum wire_wish *wish, enum wire_wish word, enum wire_place at)
{
    if (at == WIRE_AT_END)
        return false;
    *wish = word;
    return true;
}
