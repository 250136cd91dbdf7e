/* draw/theme.c: the colours. Curves take those of Okabe and Ito, which the colour-blind can tell apart,
 * moved to the nearest of the 256 and made darker on light grounds. */
#include "draw/theme.h"

#define R(text, ground, text8, ground8, style, style8, mono)                                       \
    {                                                                                              \
        text, ground, text8, ground8, style, style8, mono                                          \
    }

static const struct theme_role dark[GRID_SHADE] = {
    [GRID_TEXT] = R(-1, -1, -1, -1, 0, 0, 0),
    [GRID_DIM] = R(245, -1, -1, -1, 0, THEME_DIM, THEME_DIM),
    [GRID_HEAD] = R(250, -1, -1, -1, 0, THEME_BOLD, THEME_BOLD),
    [GRID_BORDER] = R(240, -1, -1, -1, 0, THEME_DIM, THEME_DIM),
    [GRID_FOCUS] = R(75, -1, 6, -1, 0, 0, THEME_BOLD),
    [GRID_KEY] = R(75, -1, 6, -1, 0, THEME_BOLD, THEME_BOLD),
    [GRID_CHOSEN] = R(255, 24, 7, 4, 0, THEME_BOLD, THEME_REVERSE),
    [GRID_FIELD] = R(16, 153, 0, 6, 0, 0, THEME_REVERSE),
    [GRID_MARKED] = R(221, -1, 3, -1, 0, THEME_BOLD, THEME_BOLD),
    [GRID_GOOD] = R(78, -1, 2, -1, 0, 0, 0),
    [GRID_WARN] = R(221, -1, 3, -1, 0, 0, THEME_BOLD),
    [GRID_BAD] = R(203, -1, 1, -1, 0, THEME_BOLD, THEME_BOLD),
    [GRID_BAR] = R(75, -1, 6, -1, 0, 0, 0),
    [GRID_REST] = R(238, -1, -1, -1, 0, THEME_DIM, THEME_DIM),
    [GRID_TITLE] = R(231, 24, 7, 4, THEME_BOLD, THEME_BOLD, THEME_REVERSE),
    [GRID_STATUS] = R(252, 236, 7, -1, 0, 0, 0),
    [GRID_RULE] = R(221, -1, 3, -1, 0, 0, THEME_BOLD),
    [GRID_PIXEL] = R(-1, -1, -1, -1, 0, 0, 0),
    [GRID_SERIES + 0] = R(75, -1, 6, -1, 0, 0, 0),
    [GRID_SERIES + 1] = R(214, -1, 3, -1, 0, 0, 0),
    [GRID_SERIES + 2] = R(42, -1, 2, -1, 0, 0, 0),
    [GRID_SERIES + 3] = R(175, -1, 5, -1, 0, 0, 0),
    [GRID_SERIES + 4] = R(202, -1, 1, -1, 0, 0, 0),
    [GRID_SERIES + 5] = R(252, -1, 7, -1, 0, 0, 0),
};

static const struct theme_role light[GRID_SHADE] = {
    [GRID_TEXT] = R(-1, -1, -1, -1, 0, 0, 0),
    [GRID_DIM] = R(241, -1, -1, -1, 0, THEME_DIM, THEME_DIM),
    [GRID_HEAD] = R(238, -1, -1, -1, THEME_BOLD, THEME_BOLD, THEME_BOLD),
    [GRID_BORDER] = R(250, -1, -1, -1, 0, THEME_DIM, THEME_DIM),
    [GRID_FOCUS] = R(25, -1, 4, -1, 0, 0, THEME_BOLD),
    [GRID_KEY] = R(25, -1, 4, -1, THEME_BOLD, THEME_BOLD, THEME_BOLD),
    [GRID_CHOSEN] = R(231, 25, 7, 4, 0, THEME_BOLD, THEME_REVERSE),
    [GRID_FIELD] = R(16, 153, 0, 6, 0, 0, THEME_REVERSE),
    [GRID_MARKED] = R(94, -1, 5, -1, THEME_BOLD, THEME_BOLD, THEME_BOLD),
    [GRID_GOOD] = R(22, -1, 2, -1, 0, 0, 0),
    [GRID_WARN] = R(94, -1, 5, -1, 0, 0, THEME_BOLD),
    [GRID_BAD] = R(124, -1, 1, -1, THEME_BOLD, THEME_BOLD, THEME_BOLD),
    [GRID_BAR] = R(25, -1, 4, -1, 0, 0, 0),
    [GRID_REST] = R(252, -1, -1, -1, 0, THEME_DIM, THEME_DIM),
    [GRID_TITLE] = R(231, 25, 7, 4, THEME_BOLD, THEME_BOLD, THEME_REVERSE),
    [GRID_STATUS] = R(235, 254, 0, -1, 0, 0, 0),
    [GRID_RULE] = R(130, -1, 5, -1, 0, 0, THEME_BOLD),
    [GRID_PIXEL] = R(-1, -1, -1, -1, 0, 0, 0),
    [GRID_SERIES + 0] = R(25, -1, 4, -1, 0, 0, 0),
    [GRID_SERIES + 1] = R(136, -1, 1, -1, 0, 0, 0),
    [GRID_SERIES + 2] = R(29, -1, 2, -1, 0, 0, 0),
    [GRID_SERIES + 3] = R(132, -1, 5, -1, 0, 0, 0),
    [GRID_SERIES + 4] = R(124, -1, 6, -1, 0, 0, 0),
    [GRID_SERIES + 5] = R(236, -1, 0, -1, 0, 0, 0),
};

const struct theme_role *theme_role(bool is_light, int role)
{
    static struct theme_role shade[GRID_SHADES];

    if (role < 0 || role >= GRID_ROLES)
        role = GRID_TEXT;
    if (role < GRID_SHADE)
        return is_light ? &light[role] : &dark[role];
    role -= GRID_SHADE;
    if (!shade[0].ground) {
        /* One hue from light to dark, so that their order is seen; no two alike, none of them a
         * grey. */
        static const short many[] = {230, 195, 159, 153, 117, 81, 75, 39,
                                     33,  32,  26,  25,  20,  19, 18, 17};
        static const short eight[] = {4, 4, 4, 4, 6, 6, 6, 6, 2, 2, 2, 2, 3, 3, 3, 3};

        /* High is light on either ground, as in figures. */
        for (int i = 0; i < GRID_SHADES; i++) {
            int place = GRID_SHADES - 1 - i;

            shade[i] = (struct theme_role){.text = place < 10 ? 16 : 231,
                                           .ground = many[place],
                                           .text8 = i < 4 ? 7 : 0,
                                           .ground8 = eight[i]};
        }
    }
    return &shade[role];
}

unsigned theme_rgb(short colour)
{
    static const unsigned first[16] = {0x000000, 0xcd3131, 0x0dbc79, 0xe5e510, 0x2472c8, 0xbc3fbc,
                                       0x11a8cd, 0xe5e5e5, 0x666666, 0xf14c4c, 0x23d18b, 0xf5f543,
                                       0x3b8eea, 0xd670d6, 0x29b8db, 0xffffff};
    static const unsigned level[6] = {0, 95, 135, 175, 215, 255};

    if (colour < 16)
        return first[colour < 0 ? 7 : colour];
    if (colour < 232) {
        int i = colour - 16;

        return level[i / 36] << 16 | level[i / 6 % 6] << 8 | level[i % 6];
    }
    return (unsigned)(8 + 10 * (colour - 232)) * 0x010101u;
}
