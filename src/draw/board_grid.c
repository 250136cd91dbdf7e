/* A board on a screen. Cells are as wide as the longest of their words, and as high as there is room
 * for; what does not fit is scrolled. */
#include "draw/board.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_HIGH  7
#define LEAST_WIDE 5
#define AIR        8 /* beside the longest words, where there is room */

static int longest(const char *const *words, int n, int least)
{
    for (int i = 0; i < n; i++)
        if (words[i] && text_width(words[i]) > least)
            least = text_width(words[i]);
    return least;
}

static int names_width(const struct board *b, int room)
{
    int width = longest(b->row_name, b->rows, b->row_label ? text_width(b->row_label) : 0);

    return width > room / 3 ? room / 3 : width;
}

/* As wide as all words, else as there is room for, but not narrower than brief ones are. */
static int cell_width(const struct board *b, const struct board_view *v, int room)
{
    const char *const *brief = v->brief ? v->brief : b->words;
    int cells = b->rows * b->columns, even = room / b->columns;
    int whole = longest(b->words, cells, longest(b->column_name, b->columns, v->least)) + 2;
    int brief_least = v->least_brief > LEAST_WIDE - 1 ? v->least_brief : LEAST_WIDE - 1;
    int least = longest(brief, cells, brief_least) + 1;
    int width = even < whole + AIR ? even : whole + AIR;

    width = width > least ? width : least;
    return width < room ? width : room;
}

static int scrolled(int first, int chosen, int shown, int count)
{
    size_t from = first > 0 ? (size_t)first : 0;

    return (int)grid_first(from, chosen < 0 ? from : (size_t)chosen, (size_t)count, shown);
}

#define MARKS 8

/* What a colour says, for whoever sees none. */
static uint32_t mark_of(const struct grid *g, double share)
{
    int i = (int)fmin(fmax(share, 0) * MARKS, MARKS - 1);

    return g->ascii ? (uint32_t) ".:-=+%#@"[i] : 0x2581u + (uint32_t)i;
}

static double share_of(const struct board_scale *s, double value)
{
    if (s->hi <= s->lo)
        return value < s->lo ? 0 : 0.5;
    return fmin(fmax((value - s->lo) / (s->hi - s->lo), 0), 1);
}

static int shade_of(double share)
{
    return GRID_SHADE + (int)fmin(share * GRID_SHADES, GRID_SHADES - 1);
}

static int role_of(const struct board *b, const struct board_view *v, const struct board_scale *s,
                   int cell)
{
    double level = board_level(b, cell);

    if (v->grey && v->grey[cell])
        return GRID_STATUS;
    if (!isfinite(level))
        return GRID_DIM;
    return shade_of(share_of(s, level));
}

/* Whether all values have room for a mark behind them: a board has all of them or none. */
static bool has_marks(const struct board *b, const struct board_view *v)
{
    for (int i = 0; v->legend && i < b->rows * b->columns; i++) {
        const char *words = b->words[i] ? b->words[i] : "";

        if (!isfinite(board_level(b, i)))
            continue;
        if (text_width(words) > v->wide - 1 && v->brief && v->brief[i])
            words = v->brief[i];
        if (text_width(words) + 2 > v->wide - 1)
            return false;
    }
    return v->legend;
}

/* Of a cell, what its ground takes: neighbours of one colour are told apart by what lies between them. */
static struct rect ground_of(struct rect cell)
{
    return (struct rect){cell.row, cell.column, cell.rows > 1 ? cell.rows - 1 : 1,
                         cell.columns - 1};
}

static void draw_cell(const struct board *b, struct grid *g, struct rect at, int cell,
                      const struct board_view *v, const struct board_scale *s, bool marks)
{
    const char *words = b->words[cell] ? b->words[cell] : "";
    bool chosen = cell == v->row * b->columns + v->column && v->row >= 0 && v->column >= 0;
    struct rect box = ground_of(at), line = {at.row, at.column, 1, box.columns};
    int role = role_of(b, v, s, cell), width = box.columns, n;

    if (text_width(words) > width && v->brief && v->brief[cell])
        words = v->brief[cell];
    if (role != GRID_DIM)
        grid_fill(g, box, role);
    if (chosen && role == GRID_DIM)
        role = GRID_TEXT;
    marks = marks && isfinite(board_level(b, cell));
    n = text_width(words) + 2 * marks;
    line.row += (at.rows - 1) / 2;
    n = n < width ? (width - n) / 2 : 0;
    n = grid_cut(g, line, 0, n, width - n, role, false, words);
    if (marks)
        grid_put(g, line, 0, n + 1, mark_of(g, share_of(s, board_level(b, cell))), role, 0);
    for (int i = 0; i < width && (chosen || cell + 1 == v->best); i++) {
        int column = line.column + i;

        if (line.row >= 0 && line.row < g->rows && column >= 0 && column < g->columns)
            g->cell[line.row * g->columns + column].style |= GRID_BOLD;
    }
}

/* The chosen cell stands between two bars, whatever its colour is. */
static void draw_cursor(struct grid *g, struct rect in, const struct board_view *v)
{
    int row = v->at.row - in.row + (v->row - v->top) * v->high;
    int column = v->at.column - in.column + (v->column - v->left) * v->wide;
    struct rect ground = ground_of((struct rect){row, column, v->high, v->wide});

    if (v->row < v->top || v->row >= v->top + v->rows || v->column < v->left ||
        v->column >= v->left + v->columns)
        return;
    for (int i = 0; i < ground.rows; i++) {
        grid_put(g, in, row + i, column - 1, g->ascii ? '[' : 0x2503, GRID_RULE, 0);
        grid_put(g, in, row + i, column + ground.columns, g->ascii ? ']' : 0x2503, GRID_RULE, 0);
    }
}

static void draw_heads(const struct board *b, struct grid *g, struct rect in, int names,
                       const struct board_view *v)
{
    struct rect heads = rect_behind(in, names + 1);

    grid_cut(g, heads, 0, 0, heads.columns, GRID_DIM, false,
             b->column_label ? b->column_label : "");
    grid_cut(g, in, 1, 0, names, GRID_DIM, false, b->row_label ? b->row_label : "");
    for (int c = 0; c < v->columns; c++) {
        const char *name = b->column_name[v->left + c];
        int n = text_width(name), width = v->wide - 1;
        bool here = v->left + c == v->column;

        n = n < width ? (width - n) / 2 : 0;
        grid_cut(g, heads, 1, c * v->wide + n, width - n, here ? GRID_FOCUS : GRID_HEAD, false,
                 name);
    }
    for (int r = 0; r < v->rows; r++) {
        const char *name = b->row_name[v->top + r];
        struct rect line = rect_left(in, names);
        int row = 2 + r * v->high + (v->high - 1) / 2, n = text_width(name);

        grid_cut(g, line, row, n < names ? names - n : 0, names,
                 v->top + r == v->row ? GRID_FOCUS : GRID_HEAD, false, name);
    }
}

/* From the least to the largest value: each mark that cells have too, and before it, where there is room, its
 * ground. Where there is none for either it goes: values are numbers too. Before it the note. */
static void draw_legend(const struct board *b, struct grid *g, struct rect in, const char *note,
                        const struct board_scale *s, bool marks)
{
    int from = text_width(b->column_label ? b->column_label : "") + 2, end = in.columns - 5;
    int each = 2, width, rest, at, digits = b->per_cent ? 2 : 4;
    double unit = b->per_cent ? 100 : 1;
    char lo[32], hi[32];
    bool shown;

    snprintf(lo, sizeof lo, "%s%.*f", !s->below ? "" : g->ascii ? "<" : "≤", digits, unit * s->lo);
    snprintf(hi, sizeof hi, "%.*f", digits, unit * s->hi);
    width = text_width(lo) + text_width(hi) + 2;
    if (from + width + each * MARKS > end)
        each = 1;
    width += each * MARKS;
    shown = s->hi > s->lo && from + width <= end;
    rest = shown ? end - width - 2 : end;
    if (note && from + text_width(note) <= rest)
        grid_text(g, in, 0, rest - text_width(note), GRID_DIM, note);
    if (!shown)
        return;
    at = grid_text(g, in, 0, end - width, GRID_DIM, lo) + 1;
    for (int i = 0; i < each * MARKS; i++) {
        double share = (i + 0.5) / (each * MARKS);
        bool mark = marks && (each == 1 || i % 2);

        grid_put(g, in, 0, at++, mark ? mark_of(g, share) : ' ', shade_of(share), 0);
    }
    grid_text(g, in, 0, at + 1, GRID_DIM, hi);
}

/* What lies beyond the edges. */
static void draw_more(const struct board *b, struct grid *g, struct rect in,
                      const struct board_view *v)
{
    int end = in.columns;

    if (v->left + v->columns < b->columns)
        end -= 1, grid_text(g, in, 0, end, GRID_KEY, "→");
    if (v->left > 0)
        end -= 1, grid_text(g, in, 0, end, GRID_KEY, "←");
    if (v->top + v->rows < b->rows)
        end -= 1, grid_text(g, in, 0, end, GRID_KEY, "↓");
    if (v->top > 0)
        grid_text(g, in, 0, end - 1, GRID_KEY, "↑");
}

void board_grid(const struct board *b, struct grid *g, struct rect in, struct board_view *v)
{
    int names = names_width(b, in.columns), room = in.columns - names - 1;
    struct board_scale scale;
    bool marks;

    board_find_scale(b, &scale);
    v->rows = v->columns = 0;
    if (!b->rows || !b->columns || in.rows < 3 || room < LEAST_WIDE)
        return;
    v->wide = cell_width(b, v, room);
    v->columns = room / v->wide < b->columns ? room / v->wide : b->columns;
    v->high = (in.rows - 2) / b->rows;
    v->high = v->high < 1 ? 1 : v->high > MOST_HIGH ? MOST_HIGH : v->high;
    v->rows = (in.rows - 2) / v->high < b->rows ? (in.rows - 2) / v->high : b->rows;
    v->top = scrolled(v->top, v->row, v->rows, b->rows);
    v->left = scrolled(v->left, v->column, v->columns, b->columns);
    v->at =
        (struct rect){in.row + 2, in.column + names + 1, v->rows * v->high, v->columns * v->wide};
    draw_heads(b, g, in, names, v);
    marks = has_marks(b, v);
    if (v->legend)
        draw_legend(b, g, rect_behind(in, names + 1), v->note, &scale, marks);
    for (int r = 0; r < v->rows; r++) {
        for (int c = 0; c < v->columns; c++) {
            struct rect at = {v->at.row + r * v->high, v->at.column + c * v->wide, v->high,
                              v->wide};

            draw_cell(b, g, at, (v->top + r) * b->columns + v->left + c, v, &scale, marks);
        }
    }
    draw_cursor(g, in, v);
    draw_more(b, g, in, v);
}

bool board_hit(const struct board_view *v, int row, int column, int *cell_row, int *cell_column)
{
    if (!v->rows || !v->columns || !rect_holds(v->at, row, column))
        return false;
    *cell_row = v->top + (row - v->at.row) / v->high;
    *cell_column = v->left + (column - v->at.column) / v->wide;
    return true;
}
