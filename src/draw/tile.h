/* draw/tile.h: a small image in a terminal's cells: two pixels a cell in half blocks where there are
 * colours, else a ramp of characters. A pure function. */
#ifndef CHORUS_DRAW_TILE_H
#define CHORUS_DRAW_TILE_H

#include "base/text.h"
#include "draw/grid.h"

#include <stdbool.h>
#include <stdint.h>

struct tile {
    const uint8_t *bytes; /* (h, w, c), c 1 or 3 */
    int h, w, c;
};

/* Lines that tile_add_line knows: half as many as pixels, rounded up. */
int tile_lines(const struct tile *t);
/* Appends one line of the image, as wide as it has pixels, without a newline. colours: of 256. */
void tile_add_line(const struct tile *t, int line, bool colours, struct text *out);

/* The nearest of xterm's 256 colours: one of 24 greys, or of the cube of 6 x 6 x 6. */
uint8_t tile_colour(const uint8_t rgb[3]);
/* Into a screen: as large as whole multiples of its pixels fit, or made smaller by averaging. Returns
 * what it took of `in`, from its upper left corner. */
struct rect tile_grid(const struct tile *t, struct grid *g, struct rect in);

#endif
