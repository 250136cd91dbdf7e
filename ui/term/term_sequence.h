/* ui/term/term_sequence.h: a key that terminfo does not know of this TERM, as Ctrl-Left of screen-256color or
 * Home of vt100, is no Esc with letters behind it. */
#ifndef CHORUS_UI_TERM_TERM_SEQUENCE_H
#define CHORUS_UI_TERM_TERM_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Behind Esc. False: Esc alone. Else the key's code, or 0: it means nothing. */
bool term_take_sequence(int tty, int32_t *code);

#endif
