/* ui/term/key.h: what a person pressed, whatever the terminal sent for it. */
#ifndef CHORUS_UI_TERM_KEY_H
#define CHORUS_UI_TERM_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UI_KEYS = 0x200000, /* below: a character (Unicode), Ctrl-A as 1 */
    UI_UP,
    UI_DOWN,
    UI_LEFT,
    UI_RIGHT,
    UI_HOME,
    UI_END,
    UI_PAGE_UP,
    UI_PAGE_DOWN,
    UI_INSERT,
    UI_DELETE,
    UI_BACKSPACE,
    UI_ENTER,
    UI_ESC,
    UI_TAB,
    UI_BACKTAB,
    UI_F1, /* .. UI_F1 + 11 */
    UI_F12 = UI_F1 + 11,
    UI_CLICK, /* row and column of the grid; again: the second of two quick ones */
    UI_WHEEL_UP,
    UI_WHEEL_DOWN,
    UI_RESIZE, /* row and column: the new size */
    UI_PASTE,  /* what comes next is pasted, until UI_PASTED; */
    UI_PASTED  /* both stay in the terminal's room */
};

struct key {
    int32_t code;
    int row, column;
    bool again;
    bool pasted; /* not pressed: a piece of a text that was pasted */
};

/* "a", "Enter", "Ctrl-L", "F5", "Up", "Space": as scripts of keys and the help write them. */
bool key_parse(const char *word, struct key *key);

/* Of the clicks of one mouse. */
struct key_clicks {
    bool one; /* the last one was not the second of two quick ones */
    uint64_t ms;
    int row, column;
};
/* Whether one there and now is the second of two quick ones; a third one is the first again. */
bool key_clicks_again(struct key_clicks *c, int row, int column, uint64_t ms);

/* How far a key moves in a list of so many rows seen at once: the arrows, j and k and the wheel by one,
 * pages, and Home, End, g and G by KEY_FAR. 0: it does not. */
#define KEY_FAR 100000000
int key_list_move(int32_t code, int page);

#endif
