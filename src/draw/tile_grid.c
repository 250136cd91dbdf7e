/* An image on a screen. A cell holds two pixels above each other, so that they are about square. */
#include "draw/tile.h"

#include <string.h>

struct span {
    int from, to;
};

/* Which of n pixels stand at place i of `out` places. */
static struct span span_of(int i, int out, int n)
{
    struct span s = {(int)((int64_t)i * n / out), (int)((int64_t)(i + 1) * n / out)};

    if (s.to <= s.from)
        s.to = s.from + 1;
    return s;
}

/* Their mean. */
static void mean_of(const struct tile *t, struct span y, struct span x, uint8_t rgb[3])
{
    int64_t sum[3] = {0}, n = 0;

    for (int row = y.from; row < y.to && row < t->h; row++) {
        for (int column = x.from; column < x.to && column < t->w; column++) {
            const uint8_t *v = t->bytes + ((int64_t)row * t->w + column) * t->c;

            for (int k = 0; k < 3; k++)
                sum[k] += v[t->c == 3 ? k : 0];
            n++;
        }
    }
    for (int k = 0; k < 3; k++)
        rgb[k] = (uint8_t)(n ? sum[k] / n : 0);
}

/* As bright as the eye sees it: 0 to 255. */
static int brightness(const uint8_t rgb[3])
{
    return (299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2]) / 1000;
}

/* Half blocks for terminals with colours, and a character of both pixels' brightness for others. */
static void put_pixels(struct grid *g, struct rect in, int row, int column, const uint8_t above[3],
                       const uint8_t below[3])
{
    static const char ramp[] = " .:-=+*#%@";
    static const uint32_t shades[] = {' ', 0x2591, 0x2592, 0x2593, 0x2588};
    int mean = (brightness(above) + brightness(below)) / 2, y = in.row + row,
        x = in.column + column;

    grid_put(g, in, row, column,
             g->ascii ? (uint32_t)ramp[mean * 9 / 255] : shades[(mean * 4 + 127) / 255], GRID_PIXEL,
             0);
    if (rect_holds(grid_all(g), y, x) && rect_holds(in, y, x)) {
        g->cell[y * g->columns + x].above = tile_colour(above);
        g->cell[y * g->columns + x].below = tile_colour(below);
    }
}

/* The size in pixels that fits best. */
static void fit(const struct tile *t, int wide, int high, int *out_w, int *out_h)
{
    int times = wide / t->w < high / t->h ? wide / t->w : high / t->h;

    if (times >= 1) {
        *out_w = t->w * times;
        *out_h = t->h * times;
    } else if ((int64_t)wide * t->h <= (int64_t)high * t->w) {
        *out_w = wide;
        *out_h = (int)((int64_t)wide * t->h / t->w);
    } else {
        *out_h = high;
        *out_w = (int)((int64_t)high * t->w / t->h);
    }
    *out_w = *out_w < 1 ? 1 : *out_w;
    *out_h = *out_h < 1 ? 1 : *out_h;
}

struct rect tile_grid(const struct tile *t, struct grid *g, struct rect in)
{
    struct rect took = in;
    int w, h;

    took.rows = took.columns = 0;
    if (in.rows < 1 || in.columns < 1 || t->w < 1 || t->h < 1)
        return took;
    fit(t, in.columns, 2 * in.rows, &w, &h);
    took.rows = (h + 1) / 2;
    took.columns = w;
    for (int row = 0; row < took.rows; row++) {
        for (int column = 0; column < w; column++) {
            struct span x = span_of(column, w, t->w);
            uint8_t above[3], below[3] = {0};

            mean_of(t, span_of(2 * row, h, t->h), x, above);
            if (2 * row + 1 < h)
                mean_of(t, span_of(2 * row + 1, h, t->h), x, below);
            put_pixels(g, took, row, column, above, below);
        }
    }
    return took;
}
