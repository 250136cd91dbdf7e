#include "draw/board.h"

#include "base/mem.h"
#include "draw/ink/ink.h"
#include "draw/ink/words.h"
#include "study/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FAR_BELOW 10 /* medians of the distances to the median */

bool board_scale(const double *value, size_t n, struct board_scale *out)
{
    double *x = mem_new(n + 1, sizeof *x), middle, spread, least = -INFINITY;
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(value[i]))
            x[kept++] = value[i];
    *out = (struct board_scale){.lo = INFINITY, .hi = -INFINITY};
    middle = study_median(x, kept);
    for (size_t i = 0; i < kept; i++)
        x[i] = fabs(x[i] - middle);
    spread = study_median(x, kept);
    if (spread > 0)
        least = middle - FAR_BELOW * spread;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(value[i]))
            continue;
        out->below |= value[i] < least;
        if (value[i] >= least)
            out->lo = fmin(out->lo, value[i]);
        out->hi = fmax(out->hi, value[i]);
    }
    free(x);
    return kept > 0;
}

double board_level(const struct board *b, int cell)
{
    double value = b->value[cell];

    if (!b->by_magnitude)
        return value;
    return value > 0 ? log10(value) : NAN;
}

bool board_find_scale(const struct board *b, struct board_scale *out)
{
    *out = b->scale;
    if (out->hi > out->lo ||
        (b->far_below && board_scale(b->value, (size_t)b->rows * (size_t)b->columns, out)))
        return true;
    *out = (struct board_scale){.lo = INFINITY, .hi = -INFINITY};
    for (int i = 0; i < b->rows * b->columns; i++) {
        double level = board_level(b, i);

        if (!isfinite(level))
            continue;
        out->lo = fmin(out->lo, level);
        out->hi = fmax(out->hi, level);
    }
    return out->hi >= out->lo;
}

double board_shade_in(const struct board *b, int cell, const struct board_scale *s)
{
    double level = board_level(b, cell);

    if (!isfinite(level))
        return -1;
    return s->hi > s->lo ? fmax(0, (level - s->lo) / (s->hi - s->lo)) : 0.5;
}

/* ---- text ---- */

/* s in exactly so many columns: cut at its end, or with blanks in front. */
static void add_right(struct text *out, const char *s, int width)
{
    struct text kept = {0}, clean = {0};

    text_add_clean(&clean, s);
    for (const char *c = text_str(&clean); *c;) {
        size_t n = 1;

        while ((c[n] & 0xc0) == 0x80)
            n++;
        text_add_n(&kept, c, n);
        if (text_width(text_str(&kept)) > width) {
            kept.s[kept.n -= n] = 0;
            break;
        }
        c += n;
    }
    text_addf(out, "%*s%s", width - text_width(text_str(&kept)), "", text_str(&kept));
    text_free(&kept);
    text_free(&clean);
}

/* The nearest of xterm's 216 colours. */
static int cube_colour(unsigned rgb)
{
    int part[3];

    for (int i = 0; i < 3; i++) {
        int level = (int)(rgb >> (16 - 8 * i) & 255);

        part[i] = level < 48 ? 0 : level < 115 ? 1 : (level - 35) / 40;
    }
    return 16 + 36 * part[0] + 6 * part[1] + part[2];
}

static int name_width(const struct board *b)
{
    int width = text_width(b->row_label ? b->row_label : "");

    for (int r = 0; r < b->rows; r++)
        width = text_width(b->row_name[r]) > width ? text_width(b->row_name[r]) : width;
    return width;
}

static int cell_width(const struct board *b, int room)
{
    int width = 0;

    for (int c = 0; c < b->columns; c++)
        width = text_width(b->column_name[c]) > width ? text_width(b->column_name[c]) : width;
    for (int i = 0; i < b->rows * b->columns; i++)
        width = text_width(b->words[i]) > width ? text_width(b->words[i]) : width;
    width = width + 2 > room / b->columns ? room / b->columns - 2 : width;
    return width < 3 ? 3 : width;
}

void board_text(const struct board *b, int columns, bool colours, struct text *out)
{
    int names = name_width(b), width;
    struct board_scale scale;

    if (!b->rows || !b->columns)
        return;
    board_find_scale(b, &scale);
    if (names > columns / 3)
        names = columns / 3;
    width = cell_width(b, columns - names);
    words_add_title(out, b->title, b->note);
    text_add(out, b->title && *b->title ? "\n" : "");
    text_addf(out, "%*s  %s\n", names, "", b->column_label ? b->column_label : "");
    add_right(out, b->row_label ? b->row_label : "", names);
    for (int c = 0; c < b->columns; c++) {
        text_add(out, "  ");
        add_right(out, b->column_name[c], width);
    }
    text_add(out, "\n");
    for (int r = 0; r < b->rows; r++) {
        add_right(out, b->row_name[r], names);
        for (int c = 0; c < b->columns; c++) {
            int i = r * b->columns + c;
            double shade = board_shade_in(b, i, &scale);

            text_add(out, " ");
            if (colours && shade >= 0)
                text_addf(out, "\033[48;5;%d;38;5;%dm", cube_colour(ink_shade(shade)),
                          ink_shade_is_dark(shade) ? 231 : 16);
            text_add(out, " ");
            add_right(out, b->words[i], width);
            if (colours && shade >= 0)
                text_add(out, "\033[0m");
        }
        text_add(out, "\n");
    }
}

/* ---- ink ---- */

#define SCALE_WIDE 6.0 /* of each of its shades */

/* An end of the scale in the digits of the words. */
static void add_end(const struct board *b, double level, struct text *out)
{
    double value = b->by_magnitude ? pow(10, level) : b->per_cent ? 100 * level : level;

    text_add_fixed(out, value, b->by_magnitude ? 0 : b->per_cent ? 2 : fabs(value) < 10 ? 4 : 1);
}

/* What colours mean, above bottom; returns the height that it takes: none where all are one. */
static double ink_scale(const struct board *b, struct ink *ink, double x, double bottom)
{
    struct board_scale scale;
    struct text lo = {0}, hi = {0};

    if (!board_find_scale(b, &scale) || !(scale.hi > scale.lo))
        return 0;
    add_end(b, scale.lo, &lo);
    text_add(&lo, scale.below ? " or less" : "");
    add_end(b, scale.hi, &hi);
    text_add(&hi, b->by_magnitude ? ", by logarithms" : "");
    ink_words(ink, x, bottom, INK_START, text_str(&lo));
    x += ink_width(ink, text_str(&lo)) + 6;
    for (int i = 0; i < GRID_SHADES; i++)
        ink_box(ink, x + i * SCALE_WIDE, bottom - 0.8 * INK_FONT, SCALE_WIDE, 0.9 * INK_FONT,
                i / (GRID_SHADES - 1.0), 0);
    ink_words(ink, x + GRID_SHADES * SCALE_WIDE + 6, bottom, INK_START, text_str(&hi));
    text_free(&lo);
    text_free(&hi);
    return 1.5 * INK_FONT;
}

void board_ink(const struct board *b, struct ink *ink, double left, double top, double width,
               double height)
{
    double names = ink_width(ink, b->row_label), cell_w, cell_h, x, y = top + 1.6 * INK_FONT;
    struct board_scale scale;

    if (!b->rows || !b->columns)
        return;
    board_find_scale(b, &scale);
    for (int r = 0; r < b->rows; r++)
        names = fmax(names, ink_width(ink, b->row_name[r]));
    x = left + names + 16;
    cell_w = (left + width - 12 - x) / b->columns;
    y += ink_heading(ink, x, y, left + width - x, b->title, b->note);
    ink_words(ink, x + cell_w * b->columns / 2, y, INK_MIDDLE, b->column_label);
    y += 1.4 * INK_FONT;
    ink_words(ink, x - 8, y, INK_END, b->row_label);
    for (int c = 0; c < b->columns; c++)
        ink_words(ink, x + (c + 0.5) * cell_w, y, INK_MIDDLE, b->column_name[c]);
    y += 0.6 * INK_FONT;
    cell_h = (top + height - 8 - ink_scale(b, ink, x, top + height - 8) - y) / b->rows;
    for (int i = 0; i < b->rows * b->columns; i++) {
        double shade = board_shade_in(b, i, &scale);
        double cx = x + i % b->columns * cell_w, cy = y + (double)(i / b->columns) * cell_h;
        double line = cy + cell_h / 2 + 0.35 * INK_FONT;

        if (i % b->columns == 0)
            ink_words(ink, x - 8, line, INK_END, b->row_name[i / b->columns]);
        if (shade >= 0) {
            ink_box(ink, cx + 0.5, cy + 0.5, cell_w - 1, cell_h - 1, shade, 0);
            if (ink_width(ink, b->words[i]) < cell_w)
                ink_words_on(ink, cx + cell_w / 2, line, shade, b->words[i]);
        } else {
            ink_words(ink, cx + cell_w / 2, line, INK_MIDDLE, b->words[i]);
        }
    }
}
