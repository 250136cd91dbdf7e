/* ui/term/term_keys.h: keys of a terminal that curses reads. */
#ifndef CHORUS_UI_TERM_TERM_KEYS_H
#define CHORUS_UI_TERM_TERM_KEYS_H

#include "ui/term/key.h"

struct term_keys {
    struct key_clicks clicks;
    struct key mouse[8]; /* what curses told at once: as much as it keeps; */
    size_t mice;         /* so many wait, the oldest last */
    bool pasting;
    uint64_t pasted_ns; /* when a piece came last */
};

/* False: none waits. UI_RESIZE comes without the size. */
bool term_keys_next(struct term_keys *t, int tty, struct key *key);

#endif
