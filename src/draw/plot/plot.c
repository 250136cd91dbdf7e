/* draw/plot/plot.c: curves as cells: where everything stands, and the axes. */
#include "draw/plot/plot_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int plot_column(const struct plot_canvas *c, double place)
{
    return c->left + (int)lround(place * (c->across * c->width - 1)) / c->across;
}

int plot_row(const struct plot_canvas *c, double place)
{
    return c->top + (int)lround((1 - place) * (c->down * c->height - 1)) / c->down;
}

static void draw_y_axis(struct plot_canvas *c, const struct plot_axis *y)
{
    bool ascii = c->p->level == PLOT_ASCII;

    for (int i = 0; i < c->height; i++)
        plot_put(c, c->top + i, c->left - 1, ascii ? '|' : 0x2502, PLOT_TEXT);
    for (int i = 0; i < y->ticks; i++) {
        int row = plot_row(c, plot_place(y, y->tick[i]));
        int n = plot_length(y->label[i]), room = n < c->left - 1 ? n : c->left - 1;

        plot_put_cut(c, row, c->left - 1 - room, room, y->label[i]); /* only its end would lie */
        plot_put(c, row, c->left - 1, ascii ? '+' : 0x2524, PLOT_TEXT);
    }
}

struct span {
    int from, end; /* columns that a label below the x axis takes */
};

static uint32_t line_code(const struct plot_canvas *c)
{
    return c->p->level == PLOT_ASCII ? '-' : 0x2500;
}

/* In the line of the axis, where ticks stand wider apart than their labels. */
static bool name_in_line(struct plot_canvas *c, int row, const char *name, int n)
{
    const struct plot_cell *line = c->cells + (size_t)row * (size_t)c->p->columns;

    for (int end = c->p->columns, from; end > c->left; end = from - 1) {
        from = end;
        while (from > c->left && line[from - 1].code == line_code(c))
            from--;
        if (end - from < n)
            continue;
        if (end - from >= n + 2) {
            from += (end - from - n) / 2;
            plot_put(c, row, from - 1, ' ', PLOT_TEXT);
            plot_put(c, row, from + n, ' ', PLOT_TEXT);
        }
        plot_put_text(c, row, from, end, name, PLOT_TEXT);
        return true;
    }
    return false;
}

#define BESIDE_FIRST 8 /* blanks about a name behind the first label, or it is read as its unit */

static bool name_in_gap(struct plot_canvas *c, int row, const struct span *taken, int i, int blanks,
                        const char *name)
{
    int left = taken[i - 1].end, room = taken[i].from - left, n = plot_length(name);

    if (room < n + blanks)
        return false;
    plot_put_text(c, row, left + (room - n) / 2, c->p->columns, name, PLOT_TEXT);
    return true;
}

/* At the end, or in the middle of the last gap between the labels that it fits into with a blank on
 * both sides, or above them. */
static bool put_x_name(struct plot_canvas *c, int row, const struct span *taken, int labels,
                       const char *name)
{
    int n = plot_length(name), end = c->p->columns;

    if (end - taken[labels - 1].end >= n + 1) {
        plot_put_text(c, row, end - n, end, name, PLOT_TEXT);
        return true;
    }
    for (int i = labels - 1; i > 0; i--)
        if (name_in_gap(c, row, taken, i, i > 1 ? 2 : BESIDE_FIRST, name))
            return true;
    return name_in_line(c, row - 1, name, n) ||
           (labels > 1 && name_in_gap(c, row, taken, 1, 2, name));
}

/* Its first word where there is no room for more; or else in place of the last label but one, where four
 * remain. */
static void draw_x_name(struct plot_canvas *c, int row, const struct span *taken, int labels)
{
    const char *name = c->p->x_label ? c->p->x_label : "";
    int n = plot_length(name), left, right;
    char word[PLOT_LABEL];

    if (!n || !labels)
        return;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(name, " "), name);
    if (put_x_name(c, row, taken, labels, name) || put_x_name(c, row, taken, labels, word) ||
        labels < 5 || c->p->cursor)
        return;
    left = taken[labels - 3].end;
    right = taken[labels - 1].from;
    if (right - left < n + 2)
        return;
    for (int i = left; i < right; i++)
        plot_put(c, row, i, 0, PLOT_TEXT);
    plot_put_text(c, row, left + (right - left - n) / 2, c->p->columns, name, PLOT_TEXT);
}

bool plot_has_cursor(const struct plot *p, const struct plot_axis *x)
{
    return p->cursor && p->cursor_x >= x->lo && p->cursor_x <= x->hi;
}

/* The x of the cursor goes before labels that it would touch. */
static struct span draw_cursor_x(struct plot_canvas *c, int row, const struct plot_axis *x)
{
    char words[PLOT_LABEL];
    struct span s;
    int n;

    if (!plot_has_cursor(c->p, x))
        return (struct span){c->p->columns + 2, c->p->columns + 2};
    plot_x_text(c->p, c->p->cursor_x, words);
    n = plot_length(words);
    s.from = plot_column(c, plot_place(x, c->p->cursor_x)) - n / 2;
    if (s.from + n > c->p->columns)
        s.from = c->p->columns - n;
    if (s.from < 0)
        s.from = 0;
    s.end = plot_put_text(c, row, s.from, c->p->columns, words, PLOT_CURSOR);
    return s;
}

/* false: not all labels have room. */
static bool draw_x_axis(struct plot_canvas *c, const struct plot_axis *x)
{
    bool ascii = c->p->level == PLOT_ASCII, placed = false, all = true;
    int bottom = c->top + c->height, end = c->p->columns, behind = -1, labels = 0;
    struct span taken[PLOT_TICKS + 1], cursor = draw_cursor_x(c, bottom + 1, x);

    plot_put(c, bottom, c->left - 1, ascii ? '+' : 0x2514, PLOT_TEXT);
    for (int i = c->left; i < end; i++)
        plot_put(c, bottom, i, line_code(c), PLOT_TEXT);
    for (int i = 0; i < x->ticks; i++) {
        int column = plot_column(c, plot_place(x, x->tick[i]));
        int n = plot_length(x->label[i]), from = column - n / 2;

        plot_put(c, bottom, column, ascii ? '+' : 0x252c, PLOT_TEXT);
        if (from + n > end)
            from = end - n;
        if (!placed && cursor.from <= from + n) {
            taken[labels++] = cursor;
            placed = true;
        }
        if (from < behind + 1 || (from <= cursor.end && from + n >= cursor.from)) {
            all = false;
            continue;
        }
        behind = plot_put_text(c, bottom + 1, from, end, x->label[i], PLOT_TEXT);
        taken[labels++] = (struct span){from, behind};
    }
    if (!placed && cursor.from < end)
        taken[labels++] = cursor;
    if (plot_has_cursor(c->p, x)) /* before the name, which goes where the line is free */
        plot_put(c, bottom, plot_column(c, plot_place(x, c->p->cursor_x)), ascii ? '|' : 0x2534,
                 PLOT_CURSOR);
    draw_x_name(c, bottom + 1, taken, labels);
    return all;
}

/* Fewer ticks of x where the labels of all have no room. */
static void choose_columns(const struct plot_canvas *c, struct plot_axis *x)
{
    struct plot plain = *c->p; /* ticks stay where they are as the cursor moves */
    struct plot_canvas trial = *c;
    struct plot_axis fewer = *x;

    plain.cursor = false;
    plain.x_label = NULL;
    trial.p = &plain;
    trial.cells = NULL;
    for (int most = 5; most >= 4 && !draw_x_axis(&trial, x); most--) {
        plot_label_x(&plain, most, &fewer);
        if (fewer.ticks >= 4 && draw_x_axis(&trial, &fewer))
            *x = fewer;
    }
}

bool plot_lay_out(struct plot_canvas *c, struct plot_view *v)
{
    const struct plot *p = c->p;
    int label = 0;

    if (p->columns < PLOT_LEAST_COLUMNS || p->rows < PLOT_LEAST_ROWS)
        return false;
    c->across = p->level == PLOT_ASCII ? 1 : 2;
    c->down = p->level == PLOT_ASCII ? 1 : p->level == PLOT_BLOCK ? 2 : 4;
    c->top = plot_draw_head(c, v);
    c->height = p->rows - c->top - 2;
    plot_choose_rows(c, v);
    for (int i = 0; i < v->y.ticks; i++)
        if (plot_length(v->y.label[i]) > label)
            label = plot_length(v->y.label[i]);
    if (label > p->columns / 2)
        label = p->columns / 2;
    c->left = label + 1;
    c->width = p->columns - c->left;
    choose_columns(c, &v->x);
    return true;
}

static void draw_axes(struct plot_canvas *c, const struct plot_view *v)
{
    draw_y_axis(c, &v->y);
    draw_x_axis(c, &v->x);
}

/* Over the curves: it would be lost among many. */
static void draw_cursor(struct plot_canvas *c, const struct plot_view *v)
{
    bool ascii = c->p->level == PLOT_ASCII;
    int column = plot_column(c, plot_place(&v->x, c->p->cursor_x));

    for (int i = 0; i < c->height; i++)
        plot_put(c, c->top + i, column, ascii ? '|' : 0x2502, PLOT_CURSOR);
    plot_draw_readings(c, v);
}

static void draw_nothing(struct plot_canvas *c)
{
    const char *nothing = c->p->x_lo < c->p->x_hi ? "no values here" : "no values yet";
    int left = (c->p->columns - plot_length(nothing)) / 2;

    plot_draw_head(c, NULL);
    plot_put_text(c, c->p->rows / 2, left, c->p->columns, nothing, PLOT_TEXT);
}

void plot_draw(const struct plot *p, struct plot_cell *cells)
{
    struct plot_canvas c = {.p = p, .cells = cells};
    struct plot_view v;

    if (p->columns < 1 || p->rows < 1)
        return;
    for (int i = 0; i < p->rows * p->columns; i++)
        cells[i] = (struct plot_cell){0, PLOT_TEXT};
    if (p->columns < PLOT_LEAST_COLUMNS || p->rows < PLOT_LEAST_ROWS)
        return;
    if (!plot_look(p, 2 * p->columns, &v)) {
        draw_nothing(&c);
    } else if (plot_lay_out(&c, &v)) {
        plot_draw_bands(&c, &v);
        draw_axes(&c, &v);
        plot_draw_curves(&c, &v);
        if (plot_has_cursor(p, &v.x))
            draw_cursor(&c, &v);
    }
    plot_view_free(&v);
}
