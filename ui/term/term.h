/* ui/term/term.h: the terminal: taken with newterm on /dev/tty, drawn to from a grid, given back whatever
 * happens. The only user of curses; the main thread alone. */
#ifndef CHORUS_UI_TERM_TERM_H
#define CHORUS_UI_TERM_TERM_H

#include "base/err.h"
#include "draw/grid.h"
#include "ui/term/key.h"

#include <stdbool.h>

struct term;

struct term_options {
    bool ascii, no_mouse, no_colour;
    const char *theme; /* "dark", "light", "mono" */
    const char *log;   /* what a crash names: where the last words are; NULL */
};

/* An error says why this terminal cannot show the workbench. What is printed on 1 and 2 from now on
 * can be read from term_talk_fd. */
enum err_code term_open(struct term **out, const struct term_options *options,
                        struct err *e) MUST_USE;
void term_close(struct term *t);
void term_size(const struct term *t, int *rows, int *columns);
bool term_ascii(const struct term *t);  /* wished for, or the locale has no UTF-8 */
bool term_blocks(const struct term *t); /* its font has no Braille */
void term_draw(struct term *t, const struct grid *g);
bool term_key(struct term *t, struct key *key); /* false: none waits */
bool term_more(const struct term *t);           /* another one is here */
int term_fd(const struct term *t);
int term_talk_fd(const struct term *t);
void term_theme(struct term *t, const char *theme);
void term_redraw(struct term *t);  /* all of it, whatever it shows now */
void term_suspend(struct term *t); /* Ctrl-Z: stops this process, and goes on after fg */
/* Asked before keys are read and before anything is drawn. After a stop, by Ctrl-Z or by whatever signal,
 * the terminal is taken anew as soon as this program is the one in front. */
enum term_place {
    TERM_HERE,
    TERM_AWAY, /* another one is in front: it has the keys and the picture */
    TERM_BACK  /* taken anew just now, perhaps in another size */
};
enum term_place term_place(struct term *t);

#endif
