/* draw/theme.h: roles as colours: one table for terminals of 256 colours, of 8, and for pictures. */
#ifndef CHORUS_DRAW_THEME_H
#define CHORUS_DRAW_THEME_H

#include "draw/grid.h"

enum { THEME_BOLD = 1, THEME_REVERSE = 2, THEME_DIM = 4, THEME_UNDERLINE = 8 };

struct theme_role {
    short text, ground; /* of 256 colours; -1: the terminal's own */
    short text8, ground8;
    int style;  /* of a terminal with colours */
    int style8; /* of one with 8 */
    int mono;   /* of one without */
};

const struct theme_role *theme_role(bool light, int role);
unsigned theme_rgb(short colour); /* of 256: 0xRRGGBB */

#endif
