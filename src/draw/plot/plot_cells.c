/* draw/plot/plot_cells.c: characters into cells, and cells as text. */
#include "draw/plot/plot_int.h"

#include "base/mem.h"
#include "draw/ink/words.h"

#include <stdlib.h>
#include <string.h>

/* Series are told apart by these too, so that no colour is needed: each of three rounds of colours has
 * its own. */
static const uint32_t marks[] = {0x25cf, 0x25b2, 0x25a0, 0x25c6, 0x25cb, 0x25b3,
                                 0x25a1, 0x25c7, 0x25bc, 0x25bd, 0x25d0, 0x25d1,
                                 0x25d2, 0x25d3, 0x25c8, 0x25c9, 0x25c4, 0x25ba};
static const char ascii_marks[] = "*+ox#@%&$svwzunmea";

/* By role as the colour is, so that a run looks the same in every plot. */
uint32_t plot_mark(int colour, enum plot_level level)
{
    size_t n = MEM_COUNT(marks), i = colour < 0 ? 0 : (size_t)(colour + colour / (int)n) % n;

    return level == PLOT_ASCII ? (uint32_t)ascii_marks[i] : marks[i];
}

int plot_role(const struct plot_series *s)
{
    return s->colour < 0 ? 0 : s->colour % PLOT_ROLES;
}

void plot_put(struct plot_canvas *c, int row, int column, uint32_t code, int colour)
{
    if (c->cells && row >= 0 && row < c->p->rows && column >= 0 && column < c->p->columns)
        c->cells[row * c->p->columns + column] = (struct plot_cell){code, colour};
}

/* Characters that take no column or two, or turn the direction, would move what stands behind. */
static uint32_t plain_code(uint32_t code, enum plot_level level)
{
    struct text t = {0}, clean = {0};
    bool fine;

    if (code >= 0x20 && code < 0x7f)
        return code;
    if (level == PLOT_ASCII)
        return code < 0x80 ? '?' : (uint32_t)words_plain(code);
    words_add_code(&t, code);
    text_add_clean(&clean, text_str(&t));
    fine = !strcmp(text_str(&t), text_str(&clean)) && text_width(text_str(&t)) == 1;
    text_free(&t);
    text_free(&clean);
    return fine ? code : '?';
}

int plot_put_text(struct plot_canvas *c, int row, int column, int end, const char *s, int colour)
{
    while (*s && column < end)
        plot_put(c, row, column++, plain_code(words_next(&s), c->p->level), colour);
    return column;
}

int plot_put_cut(struct plot_canvas *c, int row, int column, int room, const char *s)
{
    int n = plot_length(s), front = room / 2, behind = room - 1 - front, at = column;

    if (n <= room)
        return plot_put_text(c, row, column, column + n, s, PLOT_TEXT);
    for (int i = 0; i < n && room > 0; i++) {
        uint32_t code = plain_code(words_next(&s), c->p->level);

        if (i == front)
            plot_put(c, row, at++, c->p->level == PLOT_ASCII ? '~' : 0x2026, PLOT_TEXT);
        else if (i < front || i >= n - behind)
            plot_put(c, row, at++, code, PLOT_TEXT);
    }
    return at;
}

int plot_length(const char *s)
{
    int n = 0;

    while (*s) {
        words_next(&s);
        n++;
    }
    return n;
}

void plot_cells_text(const struct plot_cell *cells, int columns, int rows, bool colours,
                     struct text *out)
{
    /* By role: readable on light and dark grounds, present in eight colours. */
    static const int sgr[] = {36, 35, 32, 33, 34, 31};

    for (int r = 0; r < rows; r++) {
        const struct plot_cell *row = cells + (size_t)r * (size_t)columns;
        int end = columns, colour = PLOT_TEXT;

        while (end > 0 && (!row[end - 1].code || row[end - 1].code == ' '))
            end--;
        for (int i = 0; i < end; i++) {
            int role = row[i].colour < 0 ? PLOT_TEXT : row[i].colour;

            if (colours && role != colour) {
                colour = role;
                if (colour < 0)
                    text_add(out, "\033[0m");
                else
                    text_addf(out, "\033[%dm", sgr[colour % PLOT_ROLES]);
            }
            words_add_code(out, row[i].code ? row[i].code : ' ');
        }
        text_add(out, colour != PLOT_TEXT ? "\033[0m\n" : "\n");
    }
}

void plot_text(const struct plot *p, bool colours, struct text *out)
{
    struct plot_cell *cells;

    if (p->columns < 1 || p->rows < 1)
        return;
    cells = mem_new((size_t)p->columns * (size_t)p->rows, sizeof *cells);
    plot_draw(p, cells);
    plot_cells_text(cells, p->columns, p->rows, colours, out);
    free(cells);
}
