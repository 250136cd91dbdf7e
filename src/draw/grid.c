/* draw/grid.c: drawing into cells. Every function clips to its rectangle and to the grid, so that no
 * size of a terminal is an error. */
#include "draw/grid.h"

#include "base/mem.h"
#include "draw/plot/plot.h"
#include "draw/ink/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

void grid_init(struct grid *g, int rows, int columns, bool ascii)
{
    *g = (struct grid){.rows = rows < 0 ? 0 : rows,
                       .columns = columns < 0 ? 0 : columns,
                       .ascii = ascii,
                       .cursor_row = -1};
    g->cell = mem_new((size_t)g->rows * (size_t)g->columns + 1, sizeof *g->cell);
}

void grid_free(struct grid *g)
{
    free(g->cell);
    *g = (struct grid){.cursor_row = -1};
}

void grid_clear(struct grid *g)
{
    memset(g->cell, 0, (size_t)g->rows * (size_t)g->columns * sizeof *g->cell);
    g->cursor_row = -1;
}

struct rect grid_all(const struct grid *g)
{
    return (struct rect){0, 0, g->rows, g->columns};
}

static int within(int value, int most)
{
    return value < 0 ? 0 : value > most ? (most < 0 ? 0 : most) : value;
}

struct rect rect_inner(struct rect r)
{
    return rect_before(rect_behind(rect_above(rect_below(r, 1), 1), 1), 1);
}

struct rect rect_top(struct rect r, int rows)
{
    r.rows = within(rows, r.rows);
    return r;
}

struct rect rect_bottom(struct rect r, int rows)
{
    return rect_below(r, r.rows - within(rows, r.rows));
}

struct rect rect_below(struct rect r, int rows)
{
    rows = within(rows, r.rows);
    return (struct rect){r.row + rows, r.column, within(r.rows - rows, r.rows), r.columns};
}

struct rect rect_above(struct rect r, int rows)
{
    return rect_top(r, r.rows - within(rows, r.rows));
}

struct rect rect_left(struct rect r, int columns)
{
    r.columns = within(columns, r.columns);
    return r;
}

struct rect rect_right(struct rect r, int columns)
{
    return rect_behind(r, r.columns - within(columns, r.columns));
}

struct rect rect_behind(struct rect r, int columns)
{
    columns = within(columns, r.columns);
    return (struct rect){r.row, r.column + columns, r.rows, within(r.columns - columns, r.columns)};
}

struct rect rect_before(struct rect r, int columns)
{
    return rect_left(r, r.columns - within(columns, r.columns));
}

bool rect_holds(struct rect r, int row, int column)
{
    return row >= r.row && row < r.row + r.rows && column >= r.column &&
           column < r.column + r.columns;
}

/* The cell at a place of `in`; NULL where there is none to draw into. */
static struct grid_cell *cell_at(struct grid *g, struct rect in, int row, int column)
{
    if (row < 0 || row >= in.rows || column < 0 || column >= in.columns)
        return NULL;
    row += in.row;
    column += in.column;
    if (row < 0 || row >= g->rows || column < 0 || column >= g->columns)
        return NULL;
    return &g->cell[row * g->columns + column];
}

/* Half of a wide character is none. */
static void set(struct grid *g, struct grid_cell *cell, uint32_t code, int role, int style)
{
    int column = (int)((cell - g->cell) % g->columns);

    if (cell->code == GRID_TAIL && column > 0)
        cell[-1].code = ' ';
    if (column + 1 < g->columns && cell[1].code == GRID_TAIL && code != GRID_TAIL)
        cell[1].code = ' ';
    *cell = (struct grid_cell){.code = code, .role = (uint8_t)role, .style = (uint8_t)style};
}

int grid_put(struct grid *g, struct rect in, int row, int column, uint32_t code, int role,
             int style)
{
    struct grid_cell *cell = cell_at(g, in, row, column);

    if (cell)
        set(g, cell, code, role, style);
    return column + 1;
}

/* As it will be drawn: what is measured is that. */
static void add_shown(const struct grid *g, struct text *out, const char *text)
{
    struct text clean = {0};

    text_add_clean(&clean, text);
    if (g->ascii)
        words_add_plain(out, text_str(&clean));
    else
        text_add(out, text_str(&clean));
    text_free(&clean);
}

static int put_shown(struct grid *g, struct rect in, int row, int column, int role, int style,
                     const char *s)
{
    while (*s) {
        uint32_t code = words_next(&s);
        int width = words_width(code);
        struct grid_cell *cell = cell_at(g, in, row, column);

        if (width < 1)
            continue;
        if (width == 2 && !cell_at(g, in, row, column + 1)) { /* half of it would stand outside */
            if (cell)
                set(g, cell, ' ', role, style);
        } else if (cell) {
            set(g, cell, code, role, style);
            if (width == 2)
                set(g, cell + 1, GRID_TAIL, role, style);
        }
        column += width;
    }
    return column;
}

static int put_text(struct grid *g, struct rect in, int row, int column, int role, int style,
                    const char *text)
{
    struct text shown = {0};

    add_shown(g, &shown, text);
    column = put_shown(g, in, row, column, role, style, text_str(&shown));
    text_free(&shown);
    return column;
}

int grid_text(struct grid *g, struct rect in, int row, int column, int role, const char *text)
{
    return put_text(g, in, row, column, role, 0, text);
}

int grid_bold(struct grid *g, struct rect in, int row, int column, int role, const char *text)
{
    return put_text(g, in, row, column, role, GRID_BOLD, text);
}

int grid_textf(struct grid *g, struct rect in, int row, int column, int role, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return grid_text(g, in, row, column, role, text);
}

/* The first byte of the last `columns` of a clean text; *width: of what is left. */
static const char *tail_of(const char *s, int columns, int *width)
{
    *width = text_width(s);
    while (*s && *width > columns) {
        *width -= words_width(words_next(&s));
    }
    return s;
}

void grid_right(struct grid *g, struct rect in, int row, int end, int role, const char *text)
{
    struct text shown = {0};
    const char *s;
    int width;

    add_shown(g, &shown, text);
    s = tail_of(text_str(&shown), end, &width);
    put_shown(g, in, row, end - width, role, 0, s);
    text_free(&shown);
}

int grid_cut(struct grid *g, struct rect in, int row, int column, int columns, int role, bool front,
             const char *text)
{
    struct text shown = {0};
    struct rect part = in;
    int width, end;
    const char *s;

    if (columns <= 0)
        return column;
    add_shown(g, &shown, text);
    s = text_str(&shown);
    width = text_width(s);
    if (width <= columns) {
        end = put_shown(g, in, row, column, role, 0, s);
    } else if (front) {
        s = tail_of(s, columns - 1, &width);
        grid_text(g, in, row, column, role, "…");
        end = put_shown(g, in, row, column + columns - width, role, 0, s);
    } else {
        part.columns = within(column + columns - 1, in.columns);
        put_shown(g, part, row, column, role, 0, s);
        grid_text(g, in, row, column + columns - 1, role, "…");
        end = column + columns;
    }
    text_free(&shown);
    return end;
}

bool grid_shows_column(struct rect in, int at, int width, bool words)
{
    return at + width <= in.columns || (words && in.columns - at >= GRID_LEAST_CUT);
}

/* How many bytes of a clean text fit into one row, a break at a blank where there is one, but not
 * behind "±": it stands with its number. */
static size_t line_of(const char *s, int columns)
{
    const char *at = s, *blank = NULL;
    int width = 0;

    while (*at && *at != '\n') {
        const char *before = at;
        int one = words_width(words_next(&at));

        if (*before == ' ' && !(before >= s + 2 && !memcmp(before - 2, "±", 2)))
            blank = before;
        if (width + one > columns && before > s)
            return (size_t)((blank && blank > s ? blank : before) - s);
        width += one;
    }
    return (size_t)(at - s);
}

/* Of a line such as "  p    pauses, or goes on": the column of its second part, where further rows
 * begin. 0: none. */
static int hang_of(const char *s, int columns)
{
    const char *gap = *s == ' ' ? strstr(s + strspn(s, " "), "  ") : NULL;
    char *head;
    int width;

    if (!gap)
        return 0;
    head = mem_text_n(s, (size_t)(gap - s) + strspn(gap, " "));
    width = text_width(head);
    free(head);
    return width < columns / 2 ? width : 0;
}

/* What of a clean line stands in one row; of the last row an ellipsis says that more comes behind it.
 * Returns where the next row goes on. */
static const char *put_row(struct grid *g, struct rect in, int row, int column, int role,
                           const char *s, bool more)
{
    size_t part = line_of(s, in.columns - column), next = part + strspn(s + part, " ");
    bool cut = row == in.rows - 1 && (s[next] || more);
    char *piece = cut && !s[next] ? mem_textf("%s…", s) : mem_text_n(s, cut ? strlen(s) : part);

    if (cut)
        grid_cut(g, in, row, column, in.columns - column, role, false, piece);
    else
        put_shown(g, in, row, column, role, 0, piece);
    free(piece);
    return s + next;
}

int grid_words(struct grid *g, struct rect in, int row, int role, const char *text)
{
    int rows = 0;

    while (*text && in.columns > 0) { /* line by line, since a clean text has no newlines */
        size_t n = strcspn(text, "\n");
        char *line = mem_text_n(text, n);
        struct text shown = {0};
        int column = 0, hang;
        const char *s;

        add_shown(g, &shown, line);
        free(line);
        text += n + (text[n] == '\n');
        s = text_str(&shown);
        hang = hang_of(s, in.columns);
        do {
            s = put_row(g, in, row + rows++, column, role, s, *text);
            column = hang;
        } while (*s);
        text_free(&shown);
    }
    return rows;
}

int grid_count_rows(struct grid *g, int columns, const char *text)
{
    return grid_words(g, (struct rect){0, 0, 0, columns}, 0, GRID_TEXT,
                      text); /* of which none is seen */
}

void grid_paint(struct grid *g, struct rect in, int row, int column, int columns, int role)
{
    for (int i = 0; i < columns; i++) {
        struct grid_cell *cell = cell_at(g, in, row, column + i);

        if (cell)
            cell->role = (uint8_t)role;
    }
}

void grid_fill(struct grid *g, struct rect in, int role)
{
    for (int row = 0; row < in.rows; row++)
        for (int column = 0; column < in.columns; column++)
            grid_put(g, in, row, column, ' ', role, 0);
}

struct rect grid_frame(struct grid *g, struct rect in, const char *title, bool focus)
{
    static const uint32_t fine[] = {0x256d, 0x256e, 0x2570, 0x256f, 0x2500, 0x2502};
    static const uint32_t coarse[] = {'+', '+', '+', '+', '-', '|'};
    const uint32_t *line = g->ascii ? coarse : fine;
    int role = focus ? GRID_FOCUS : GRID_BORDER, right = in.columns - 1, bottom = in.rows - 1;

    if (in.rows < 2 || in.columns < 2)
        return rect_inner(in);
    for (int column = 1; column < right; column++) {
        grid_put(g, in, 0, column, line[4], role, 0);
        grid_put(g, in, bottom, column, line[4], role, 0);
    }
    for (int row = 1; row < bottom; row++) {
        grid_put(g, in, row, 0, line[5], role, 0);
        grid_put(g, in, row, right, line[5], role, 0);
    }
    grid_put(g, in, 0, 0, line[0], role, 0);
    grid_put(g, in, 0, right, line[1], role, 0);
    grid_put(g, in, bottom, 0, line[2], role, 0);
    grid_put(g, in, bottom, right, line[3], role, 0);
    if (title && *title && in.columns > 6) {
        int end =
            grid_cut(g, in, 0, 2, in.columns - 5, focus ? GRID_FOCUS : GRID_HEAD, false, title);

        grid_put(g, in, 0, 1, ' ', role, 0);
        grid_put(g, in, 0, end, ' ', role, 0);
    }
    return rect_inner(in);
}

void grid_frame_right(struct grid *g, struct rect frame, int role, const char *text)
{
    struct text words = {0};

    if (frame.columns < 8)
        return;
    text_addf(&words, " %s ", text);
    grid_right(g, rect_behind(frame, 2), 0, frame.columns - 4, role, text_str(&words));
    text_free(&words);
}

int grid_bar(struct grid *g, struct rect in, int row, int column, int columns, double share,
             int role)
{
    double full = isfinite(share) ? fmin(fmax(share, 0), 1) * columns : 0;
    int whole = (int)full, part = (int)((full - whole) * 8);

    for (int i = 0; i < columns; i++) {
        if (i < whole)
            grid_put(g, in, row, column + i, g->ascii ? '#' : 0x2588, role, 0);
        else if (i == whole && part && !g->ascii)
            grid_put(g, in, row, column + i, 0x2590 - (uint32_t)part, role, 0);
        else
            grid_put(g, in, row, column + i, g->ascii ? '.' : 0x2591, GRID_REST, 0);
    }
    return column + (columns > 0 ? columns : 0);
}

int grid_hint(struct grid *g, struct rect in, int row, int column, const char *key,
              const char *what)
{
    column = grid_bold(g, in, row, column, GRID_KEY, key);
    return grid_text(g, in, row, column + 1, GRID_DIM, what) + 2;
}

size_t grid_first(size_t first, size_t at, size_t count, int rows)
{
    size_t room = rows > 0 ? (size_t)rows : 1;

    if (at < first)
        first = at;
    if (at >= first + room)
        first = at - room + 1;
    if (first + room > count)
        first = count > room ? count - room : 0;
    return first;
}

void grid_scroll(struct grid *g, struct rect in, int first, int shown, int count)
{
    int length, from;

    if (count <= shown || in.rows < 2 || shown < 1)
        return;
    length = in.rows * shown / count;
    if (length < 1)
        length = 1;
    from = count > shown ? (int)((int64_t)(in.rows - length) * first / (count - shown)) : 0;
    for (int row = 0; row < in.rows; row++)
        if (row >= from && row < from + length)
            grid_put(g, in, row, in.columns - 1, g->ascii ? '#' : 0x2590, GRID_DIM, 0);
}

void grid_plot(struct grid *g, struct rect in, const struct plot *p)
{
    struct plot own = *p;
    struct plot_cell *cells;

    if (in.rows < 1 || in.columns < 1)
        return;
    own.rows = in.rows;
    own.columns = in.columns;
    own.level = g->ascii ? PLOT_ASCII : g->blocks ? PLOT_BLOCK : PLOT_BRAILLE;
    cells = mem_new((size_t)in.rows * (size_t)in.columns, sizeof *cells);
    plot_draw(&own, cells);
    for (int row = 0; row < in.rows; row++) {
        for (int column = 0; column < in.columns; column++) {
            const struct plot_cell *from = &cells[row * in.columns + column];
            int role = from->colour >= 0 ? GRID_SERIES + from->colour % GRID_SERIES_COLOURS
                       : from->colour == PLOT_CURSOR ? GRID_RULE
                                                     : GRID_DIM;

            if (from->code)
                grid_put(g, in, row, column, from->code, role, 0);
        }
    }
    free(cells);
}

void grid_to_text(const struct grid *g, struct text *out)
{
    for (int row = 0; row < g->rows; row++) {
        const struct grid_cell *cell = &g->cell[row * g->columns];
        int end = g->columns;

        while (end > 0 && (cell[end - 1].code == 0 || cell[end - 1].code == ' '))
            end--;
        for (int column = 0; column < end; column++)
            if (cell[column].code != GRID_TAIL)
                words_add_code(out, cell[column].code ? cell[column].code : ' ');
        text_add(out, "\n");
    }
}
