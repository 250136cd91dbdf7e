#include "draw/tile.h"

#include <string.h>

int tile_lines(const struct tile *t)
{
    return (t->h + 1) / 2;
}

/* The grey of a pixel; black below the image. */
static int grey(const struct tile *t, int y, int x)
{
    const uint8_t *v;

    if (y >= t->h)
        return 0;
    v = t->bytes + (y * t->w + x) * t->c;
    return t->c == 3 ? (299 * v[0] + 587 * v[1] + 114 * v[2]) / 1000 : v[0];
}

uint8_t tile_colour(const uint8_t v[3])
{
    if (v[0] != v[1] || v[1] != v[2])
        return (uint8_t)(16 + 36 * (v[0] * 5 / 255) + 6 * (v[1] * 5 / 255) + v[2] * 5 / 255);
    return (uint8_t)(v[0] < 8 ? 16 : v[0] > 246 ? 231 : 232 + (v[0] - 8) * 23 / 238);
}

static int colour(const struct tile *t, int y, int x)
{
    const uint8_t *v = t->bytes + (y * t->w + x) * t->c;

    if (y >= t->h)
        return 16;
    return tile_colour(t->c == 3 ? v : (const uint8_t[3]){v[0], v[0], v[0]});
}

void tile_add_line(const struct tile *t, int line, bool colours, struct text *out)
{
    static const char ramp[] = " .:-=+*#%@";
    int fore = -1, back = -1;

    for (int x = 0; x < t->w; x++) {
        if (!colours) {
            int mean = (grey(t, 2 * line, x) + grey(t, 2 * line + 1, x)) / 2;

            text_add_n(out, ramp + mean * 9 / 255, 1);
            continue;
        }
        if (colour(t, 2 * line, x) != fore || colour(t, 2 * line + 1, x) != back) {
            fore = colour(t, 2 * line, x);
            back = colour(t, 2 * line + 1, x);
            text_addf(out, "\033[38;5;%d;48;5;%dm", fore, back);
        }
        text_add(out, "\xe2\x96\x80"); /* upper half block */
    }
    if (colours)
        text_add(out, "\033[0m");
}
