/* ui/term/term_keys.c: what curses reads, as keys of ui/term/key.h; what is pasted is told from what is pressed. */
#include "ui/term/term_keys.h"

#include "base/clock.h"
#include "base/mem.h"
#include "ui/term/term_sequence.h"

#include <ncurses.h>

#define PASTE_NS 1000000000u /* without a word of it: what is pasted has ended */

static bool of_mouse(const MEVENT *event, struct key *key)
{
    *key = (struct key){.code = event->bstate & BUTTON4_PRESSED   ? UI_WHEEL_UP
                                : event->bstate & BUTTON5_PRESSED ? UI_WHEEL_DOWN
                                : event->bstate & BUTTON1_PRESSED ? UI_CLICK
                                                                  : 0,
                        .row = event->y,
                        .column = event->x};
    return key->code;
}

/* One key of curses is all that the mouse did until nothing more came: over a slow line both clicks of a
 * double one. It gives the newest first. */
static void take_mouse(struct term_keys *t)
{
    MEVENT event;

    t->mice = 0;
    while (t->mice < MEM_COUNT(t->mouse) && getmouse(&event) == OK)
        t->mice += of_mouse(&event, &t->mouse[t->mice]);
}

/* Whether a key is one of the two around a pasted text; of what is between them it says so. */
static bool take_bracket(struct term_keys *t, struct key *key)
{
    uint64_t now = clock_ns();

    if (key->code == UI_PASTE || key->code == UI_PASTED) {
        t->pasting = key->code == UI_PASTE;
        t->pasted_ns = now;
        return true;
    }
    t->pasting &= now - t->pasted_ns < PASTE_NS; /* else its end was lost */
    if (t->pasting)
        t->pasted_ns = now;
    key->pasted = t->pasting;
    return false;
}

static bool next_key(struct term_keys *t, int tty, struct key *key)
{
    static const struct {
        int curses;
        int32_t code;
    } keys[] = {{KEY_UP, UI_UP},         {KEY_DOWN, UI_DOWN},           {KEY_LEFT, UI_LEFT},
                {KEY_RIGHT, UI_RIGHT},   {KEY_HOME, UI_HOME},           {KEY_END, UI_END},
                {KEY_PPAGE, UI_PAGE_UP}, {KEY_NPAGE, UI_PAGE_DOWN},     {KEY_IC, UI_INSERT},
                {KEY_DC, UI_DELETE},     {KEY_BACKSPACE, UI_BACKSPACE}, {KEY_ENTER, UI_ENTER},
                {KEY_BTAB, UI_BACKTAB}};
    wint_t code;
    int kind;

    for (;;) {
        if (t->mice) {
            *key = t->mouse[--t->mice];
            key->again = key->code == UI_CLICK &&
                         key_clicks_again(&t->clicks, key->row, key->column, clock_ns() / 1000000);
            return true;
        }
        *key = (struct key){0};
        kind = get_wch(&code);
        if (kind == ERR)
            return false;
        if (kind == KEY_CODE_YES && code == KEY_RESIZE) {
            key->code = UI_RESIZE;
            return true;
        }
        if (kind == KEY_CODE_YES && code == KEY_MOUSE) {
            take_mouse(t);
            continue;
        }
        if (kind == KEY_CODE_YES && code >= KEY_F(1) && code <= KEY_F(12)) {
            key->code = UI_F1 + (int32_t)(code - KEY_F(1));
            return true;
        }
        if (kind == OK && code == 27 && term_take_sequence(tty, &key->code)) {
            if (key->code)
                return true;
            continue;
        }
        for (size_t i = 0; kind == KEY_CODE_YES && i < MEM_COUNT(keys); i++)
            if ((int)code == keys[i].curses)
                key->code = keys[i].code;
        if (kind == OK)
            key->code = code == '\r' || code == '\n' ? UI_ENTER
                        : code == '\t'               ? UI_TAB
                        : code == 27                 ? UI_ESC
                        : code == 127 || code == 8   ? UI_BACKSPACE
                                                     : (int32_t)code;
        if (key->code)
            return true;
    }
}

bool term_keys_next(struct term_keys *t, int tty, struct key *key)
{
    while (next_key(t, tty, key))
        if (!take_bracket(t, key))
            return true;
    return false;
}
