/* draw/grid_svg.c: a screen as a picture: text as text, frames and bars as the shapes that they are, so
 * that it looks the same whatever fonts there are. */
#include "draw/grid.h"
#include "draw/theme.h"

#define W 8.4 /* of a cell, in pixels */
#define H 18.0

static unsigned text_colour(bool light, const struct grid_cell *cell)
{
    const struct theme_role *r = theme_role(light, cell->role);

    return r->text >= 0 ? theme_rgb(r->text) : light ? 0x1c1c1c : 0xd4d4d4;
}

static bool is_braille(uint32_t code)
{
    return code > 0x2800 && code < 0x2900;
}

static bool is_shade(uint32_t code)
{
    return code >= 0x2591 && code <= 0x2593;
}

static void add_braille(struct text *out, int row, int column, uint32_t code)
{
    static const uint8_t bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 2; x++)
            if (code & bit[y][x])
                text_addf(out, "<circle cx='%.1f' cy='%.1f'/>", (column + 0.25 + x * 0.5) * W,
                          (row + (y + 0.5) / 4) * H);
}

/* Blocks and lines; false: a character. */
static bool add_shape(struct text *out, int row, int column, uint32_t code)
{
    double x = column * W, y = row * H, w = W, h = H;

    if (code >= 0x2589 && code <= 0x258f)
        w = W * (double)(0x2590 - code) / 8;
    else if (code >= 0x2581 && code <= 0x2587)
        y += H - (h = H * (double)(code - 0x2580) / 8);
    else if (code == 0x2580)
        h = H / 2;
    else if (code == 0x2590)
        x += w = W / 2;
    else if (code != 0x2588)
        return false;
    text_addf(out, "<rect x='%.1f' y='%.1f' width='%.2f' height='%.2f'/>", x, y, w + 0.1, h + 0.1);
    return true;
}

static bool add_frame(struct text *out, int row, int column, uint32_t code)
{
    double x = (column + 0.5) * W, y = (row + 0.5) * H, l = column * W, r = l + W, t = row * H,
           b = t + H;
    const char *stroke = "<path fill='none' stroke='currentColor' d='";

    switch (code) {
    case 0x2500:
        text_addf(out, "%sM%.1f %.1fH%.1f'/>", stroke, l, y, r);
        return true;
    case 0x2502:
        text_addf(out, "%sM%.1f %.1fV%.1f'/>", stroke, x, t, b);
        return true;
    case 0x256d:
        text_addf(out, "%sM%.1f %.1fV%.1fQ%.1f %.1f %.1f %.1f'/>", stroke, x, b, y + 4, x, y, r, y);
        return true;
    case 0x256e:
        text_addf(out, "%sM%.1f %.1fV%.1fQ%.1f %.1f %.1f %.1f'/>", stroke, x, b, y + 4, x, y, l, y);
        return true;
    case 0x2570:
        text_addf(out, "%sM%.1f %.1fV%.1fQ%.1f %.1f %.1f %.1f'/>", stroke, x, t, y - 4, x, y, r, y);
        return true;
    case 0x256f:
        text_addf(out, "%sM%.1f %.1fV%.1fQ%.1f %.1f %.1f %.1f'/>", stroke, x, t, y - 4, x, y, l, y);
        return true;
    default:
        return false;
    }
}

static void add_character(struct text *out, uint32_t code)
{
    char one[2] = {(char)code, 0};

    if (code < 0x80)
        text_add_html(out, one);
    else
        text_addf(out, "&#x%x;", (unsigned)code);
}

/* Cells of one look beside each other are one piece of text, as long as it stands in the grid. */
static int add_words(struct text *out, const struct grid *g, int row, int column)
{
    const struct grid_cell *cell = &g->cell[row * g->columns];
    int end = column;

    while (end < g->columns && cell[end].role == cell[column].role &&
           cell[end].style == cell[column].style && cell[end].code > ' ' &&
           !(cell[end].code >= 0x2500 && cell[end].code < 0x25a0) && !is_braille(cell[end].code))
        end++;
    if (end == column)
        return column + 1;
    text_addf(out, "<text x='%.1f' y='%.1f' textLength='%.1f'%s>", column * W, (row + 0.74) * H,
              (end - column) * W, cell[column].style & GRID_BOLD ? " font-weight='bold'" : "");
    for (int i = column; i < end; i++)
        if (cell[i].code != GRID_TAIL)
            add_character(out, cell[i].code);
    text_add(out, "</text>");
    return end;
}

/* Two pixels of an image. */
static void add_pixels(struct text *out, int row, int column, const struct grid_cell *cell)
{
    const uint8_t colour[2] = {cell->above, cell->below};

    for (int i = 0; i < 2; i++)
        text_addf(out, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='#%06x'/>",
                  column * W, row * H + i * H / 2, W + 0.2, H / 2 + 0.2, theme_rgb(colour[i]));
    text_add(out, "\n");
}

static void add_row(struct text *out, const struct grid *g, bool light, int row)
{
    static const char *const opacity[] = {" opacity='.25'", " opacity='.5'", " opacity='.75'"};
    const struct grid_cell *cell = &g->cell[row * g->columns];

    for (int column = 0, end; column < g->columns; column = end) {
        const struct theme_role *r = theme_role(light, cell[column].role);

        end = column + 1;
        if (cell[column].role == GRID_PIXEL) {
            add_pixels(out, row, column, &cell[column]);
            continue;
        }
        while (end < g->columns && cell[end].role == cell[column].role)
            end++;
        if (r->ground >= 0)
            text_addf(out, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='#%06x'/>\n",
                      column * W, row * H, (end - column) * W + 0.2, H + 0.2, theme_rgb(r->ground));
        text_addf(out, "<g fill='#%06x' color='#%06x'>", text_colour(light, &cell[column]),
                  text_colour(light, &cell[column]));
        for (int i = column; i < end;) {
            uint32_t code = cell[i].code;

            int from = i;

            while (i < end && cell[i].code == code && (code == 0x2588 || is_shade(code)))
                i++; /* one rectangle: seams between cells would show */
            if (i > from) {
                text_addf(out, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f'%s/>", from * W,
                          row * H, (i - from) * W, H, is_shade(code) ? opacity[code - 0x2591] : "");
            } else if (is_braille(code)) {
                add_braille(out, row, i++, code);
            } else if (code >= 0x2500 && code < 0x25a0) {
                if (!add_shape(out, row, i, code) && !add_frame(out, row, i, code)) {
                    text_addf(out, "<text x='%.1f' y='%.1f'>", i * W, (row + 0.74) * H);
                    add_character(out, code);
                    text_add(out, "</text>");
                }
                i++;
            } else {
                i = add_words(out, g, row, i);
            }
        }
        text_add(out, "</g>\n");
    }
}

void grid_to_svg(const struct grid *g, bool light, const char *title, struct text *out)
{
    text_addf(out,
              "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
              "viewBox='0 0 %.0f %.0f' font-family='DejaVu Sans Mono,Menlo,Consolas,monospace' "
              "font-size='14'>\n<title>",
              g->columns * W + 16, g->rows * H + 16, g->columns * W + 16, g->rows * H + 16);
    text_add_html(out, title);
    text_addf(out,
              "</title>\n<style>circle{r:1.3px}</style>\n<rect width='100%%' height='100%%' rx='6' "
              "fill='%s'/>\n<g transform='translate(8 8)'>\n",
              light ? "#ffffff" : "#121418");
    for (int row = 0; row < g->rows; row++)
        add_row(out, g, light, row);
    text_add(out, "</g>\n</svg>\n");
}
