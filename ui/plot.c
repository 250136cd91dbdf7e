/* ui/plot.c: curves as cells: layout, axes, lines of Braille dots or of ASCII characters. */
#include "ui/plot_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Series are told apart by these too, so that no colour is needed. */
static const uint32_t braille_marks[] = {0x25cf, 0x25b2, 0x25a0, 0x25c6, 0x25cb, 0x25b3};
static const char ascii_marks[] = "*+ox#@";
#define MARKS 6

struct canvas {
    const struct plot *p;
    struct plot_cell *cells;      /* (rows, columns) of the whole frame */
    int left, top, width, height; /* of the place for the curves, in cells */
    uint8_t *dots;                /* (height, width): Braille dots */
};

static void put(struct canvas *c, int row, int column, uint32_t code, int colour)
{
    if (row >= 0 && row < c->p->rows && column >= 0 && column < c->p->columns)
        c->cells[row * c->p->columns + column] = (struct plot_cell){code, colour};
}

/* The next character; an invalid byte counts as one of its own, shown as '?'. */
static uint32_t next_code(const char **s)
{
    const unsigned char *b = (const unsigned char *)*s;
    int more = b[0] < 0x80 ? 0 : b[0] >= 0xf0 && b[0] < 0xf5 ? 3 : b[0] >= 0xe0 ? 2 : 1;
    uint32_t code = more == 0 ? b[0] : b[0] & (0x3f >> more);

    if (b[0] >= 0x80 && (b[0] < 0xc2 || b[0] >= 0xf5)) {
        (*s)++;
        return '?';
    }
    for (int i = 1; i <= more; i++) {
        if ((b[i] & 0xc0) != 0x80) {
            (*s)++;
            return '?';
        }
        code = code << 6 | (b[i] & 0x3f);
    }
    *s += 1 + more;
    return code;
}

static void add_code(struct text *out, uint32_t code)
{
    char b[4];
    int n;

    if (code < 0x80) {
        b[0] = (char)code;
        n = 1;
    } else if (code < 0x800) {
        b[0] = (char)(0xc0 | code >> 6);
        n = 2;
    } else if (code < 0x10000) {
        b[0] = (char)(0xe0 | code >> 12);
        n = 3;
    } else {
        b[0] = (char)(0xf0 | code >> 18);
        n = 4;
    }
    for (int i = 1; i < n; i++)
        b[i] = (char)(0x80 | (code >> (6 * (n - 1 - i)) & 0x3f));
    text_add_n(out, b, (size_t)n);
}

/* Characters that take no column or two, or turn the direction, would move what stands behind. */
static uint32_t plain_code(uint32_t code, enum plot_level level)
{
    struct text t = {0}, clean = {0};
    bool fine;

    if (code >= 0x20 && code < 0x7f)
        return code;
    if (level == PLOT_ASCII)
        return '?';
    add_code(&t, code);
    text_add_clean(&clean, text_str(&t));
    fine = !strcmp(text_str(&t), text_str(&clean)) && text_width(text_str(&t)) == 1;
    text_free(&t);
    text_free(&clean);
    return fine ? code : '?';
}

/* Returns the column behind what was put, at most end. */
static int put_text(struct canvas *c, int row, int column, int end, const char *s, int colour)
{
    while (*s && column < end)
        put(c, row, column++, plain_code(next_code(&s), c->p->level), colour);
    return column;
}

static int length(const char *s)
{
    int n = 0;

    while (*s) {
        next_code(&s);
        n++;
    }
    return n;
}

/* By role as the colour is, so that a run looks the same in every plot. Where the colours begin
 * again the marks are one further on. */
uint32_t plot_mark(int colour, enum plot_level level)
{
    int mark = colour < 0 ? 0 : (colour + colour / PLOT_ROLES) % MARKS;

    return level == PLOT_ASCII ? (uint32_t)ascii_marks[mark] : braille_marks[mark];
}

static uint32_t mark_of(const struct plot *p, int series)
{
    return plot_mark(p->series[series].colour, p->level);
}

/* "●─ train" */
static int put_legend(struct canvas *c, int row, int column, int end, int series)
{
    const struct plot_series *s = &c->p->series[series];
    bool ascii = c->p->level == PLOT_ASCII;

    if (column + 3 > end)
        return end;
    put(c, row, column, c->p->count > 1 || ascii ? mark_of(c->p, series) : 0x2500, s->colour);
    put(c, row, column + 1, s->dashed ? (ascii ? ' ' : 0x254c) : (ascii ? '-' : 0x2500), s->colour);
    return put_text(c, row, column + 3, end, s->label ? s->label : "", -1);
}

static int legend_length(const struct plot *p, int series)
{
    return 3 + length(p->series[series].label ? p->series[series].label : "");
}

static int legend_total(const struct plot *p)
{
    int n = 0;

    for (int i = 0; i < p->count; i++)
        n += legend_length(p, i) + (i ? 2 : 0);
    return n;
}

/* Title and legend; returns the rows that they take. */
static int draw_head(struct canvas *c)
{
    const struct plot *p = c->p;
    const char *title = p->title ? p->title : p->y_label ? p->y_label : "";
    int row = 0, column, total = legend_total(p), used = 1;

    column = put_text(c, 0, 0, p->columns, title, -1);
    if (!total)
        return *title ? 1 : 0;
    if (column + (column ? 2 : 0) + total <= p->columns) {
        column = p->columns - total;
    } else {
        row = *title ? 1 : 0;
        column = 0;
    }
    for (int i = 0; i < p->count; i++) {
        int n = legend_length(p, i), most = 1 + (p->rows - PLOT_LEAST_ROWS) / 3;

        if (column && column + n > p->columns) {
            row++;
            column = 0;
        }
        if (row >= most)
            break;
        column = put_legend(c, row, column, p->columns, i) + 2;
        used = row + 1;
    }
    return used;
}

/* Which ticks have labels: every stride-th from *first on. Where rows are few, ticks at equal
 * distances fall into rows at unequal ones, which reads as another scale: then fewer of them. */
static int choose_ticks(const int *rows, int n, bool log, int *first)
{
    int best = 1, most = 0, span = 0, least = n > 1 ? rows[0] - rows[1] : 0;

    *first = 0;
    for (int i = 1; i < n; i++)
        least = rows[i - 1] - rows[i] < least ? rows[i - 1] - rows[i] : least;
    if (log || least > 1)
        return 1;
    for (int stride = 1; stride < n; stride++) {
        for (int offset = 0; offset < stride && offset + stride < n; offset++) {
            int distance = rows[offset] - rows[offset + stride], count = 1;

            for (int i = offset + stride; i < n; i += stride)
                count = rows[i - stride] - rows[i] == distance ? count + 1 : -n;
            if (distance < 1 || count < most || (count == most && distance * count <= span))
                continue;
            most = count;
            span = distance * count;
            best = stride;
            *first = offset;
        }
    }
    return most ? best : n; /* all in one row: one of them */
}

static void draw_y_axis(struct canvas *c, const struct plot_axis *y)
{
    bool ascii = c->p->level == PLOT_ASCII;
    int rows[PLOT_TICKS], first, stride, taken = -1;

    for (int i = 0; i < c->height; i++)
        put(c, c->top + i, c->left - 1, ascii ? '|' : 0x2502, -1);
    for (int i = 0; i < y->ticks; i++)
        rows[i] = c->top + (int)lround((1 - plot_place(y, y->tick[i])) * (4 * c->height - 1)) / 4;
    stride = choose_ticks(rows, y->ticks, y->log, &first);
    for (int i = y->ticks - 1; i >= 0; i--) {
        /* ticks go from the top down: two of them in one row of a low frame */
        if (i < first || (i - first) % stride || rows[i] <= taken)
            continue;
        taken = rows[i];
        put_text(c, taken, c->left - 1 - length(y->label[i]), c->left - 1, y->label[i], -1);
        put(c, taken, c->left - 1, ascii ? '+' : 0x2524, -1);
    }
}

/* At the end, or in the middle of the last gap between the labels that it fits into with a blank on
 * both sides; else in place of the last label but one. ends: columns (from, behind) of the labels. */
static void draw_x_name(struct canvas *c, int row, const int (*ends)[2], int labels)
{
    const char *name = c->p->x_label ? c->p->x_label : "";
    int n = length(name), end = c->p->columns, left, right;

    if (!n || !labels)
        return;
    left = ends[labels - 1][1];
    if (end - left >= n + 1) {
        put_text(c, row, end - n, end, name, -1);
        return;
    }
    for (int i = labels - 1; i > 0; i--) {
        left = ends[i - 1][1];
        right = ends[i][0];
        if (right - left >= n + 2) {
            put_text(c, row, left + (right - left - n) / 2, end, name, -1);
            return;
        }
    }
    if (labels < 3)
        return;
    left = ends[labels - 3][1];
    right = ends[labels - 1][0];
    if (right - left < n + 2)
        return;
    for (int i = left; i < right; i++)
        put(c, row, i, 0, -1);
    put_text(c, row, left + (right - left - n) / 2, end, name, -1);
}

static void draw_x_axis(struct canvas *c, const struct plot_axis *x)
{
    bool ascii = c->p->level == PLOT_ASCII;
    int bottom = c->top + c->height, end = c->p->columns, behind = c->left - 1;
    int ends[PLOT_TICKS][2], labels = 0;

    put(c, bottom, c->left - 1, ascii ? '+' : 0x2514, -1);
    for (int i = c->left; i < end; i++)
        put(c, bottom, i, ascii ? '-' : 0x2500, -1);
    for (int i = 0; i < x->ticks; i++) {
        int column = c->left + (int)lround(plot_place(x, x->tick[i]) * (2 * c->width - 1)) / 2;
        int n = length(x->label[i]), from = column - n / 2;

        put(c, bottom, column, ascii ? '+' : 0x252c, -1);
        if (from + n > end)
            from = end - n;
        if (from < behind + 1)
            continue;
        behind = put_text(c, bottom + 1, from, end, x->label[i], -1);
        ends[labels][0] = from;
        ends[labels++][1] = behind;
    }
    draw_x_name(c, bottom + 1, ends, labels);
}

static void set_dot(struct canvas *c, int x, int y, int series)
{
    /* dots of a cell by row and column, as Unicode numbers them */
    static const uint8_t bit[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    int row, column;

    if (c->p->level == PLOT_ASCII) {
        put(c, c->top + y, c->left + x, mark_of(c->p, series), c->p->series[series].colour);
        return;
    }
    row = y / 4;
    column = x / 2;
    c->dots[row * c->width + column] |= bit[y % 4][x % 2];
    put(c, c->top + row, c->left + column, 0x2800u + c->dots[row * c->width + column],
        c->p->series[series].colour);
}

/* Bresenham. *walked counts dots over the whole series, so that dashes go on over its points. */
static void draw_line(struct canvas *c, int x0, int y0, int x1, int y1, int series, long *walked)
{
    int dx = abs(x1 - x0), dy = abs(y1 - y0), sx = x0 < x1 ? 1 : -1, sy = y0 < y1 ? 1 : -1;
    int error = dx - dy, on = c->p->level == PLOT_ASCII ? 2 : 4;

    for (;; (*walked)++) {
        int twice = 2 * error;

        if (!c->p->series[series].dashed || *walked % (2 * on - 1) < on)
            set_dot(c, x0, y0, series);
        if (x0 == x1 && y0 == y1)
            return;
        if (twice > -dy) {
            error -= dy;
            x0 += sx;
        }
        if (twice < dx) {
            error += dx;
            y0 += sy;
        }
    }
}

static void draw_series(struct canvas *c, int series, const struct plot_point *points, size_t n)
{
    bool ascii = c->p->level == PLOT_ASCII;
    int wide = ascii ? c->width : 2 * c->width, high = ascii ? c->height : 4 * c->height;
    int last_x = 0, last_y = 0;
    long walked = 0;

    for (size_t i = 0; i < n; i++) {
        int px = (int)lround(points[i].x * (wide - 1));
        int py = (int)lround((1 - points[i].y) * (high - 1));

        if (points[i].gap)
            set_dot(c, px, py, series);
        else
            draw_line(c, last_x, last_y, px, py, series, &walked);
        last_x = px;
        last_y = py;
    }
}

/* A mark at most every ten columns, and on every point that no line makes visible. */
static void draw_marks(struct canvas *c, int series, const struct plot_point *points, size_t n)
{
    int marked = -1000;

    for (size_t i = 0; i < n; i++) {
        int column = (int)lround(points[i].x * (2 * c->width - 1)) / 2;
        int row = (int)lround((1 - points[i].y) * (4 * c->height - 1)) / 4;
        bool alone = points[i].gap && (i + 1 == n || points[i + 1].gap);

        if (!alone && (c->p->count == 1 || column < marked + 10))
            continue;
        marked = column;
        put(c, c->top + row, c->left + column, mark_of(c->p, series), c->p->series[series].colour);
    }
}

/* The value of a band's edge at column place at (0 to 1), between its points; nan outside. */
static double edge_at(const struct plot_band *b, const double *edge, const struct plot_axis *x,
                      double at)
{
    for (size_t i = 0; i + 1 < b->n; i++) {
        double from = plot_place(x, b->x[i]), to = plot_place(x, b->x[i + 1]);

        if (from <= at && at <= to && to > from)
            return edge[i] + (at - from) / (to - from) * (edge[i + 1] - edge[i]);
    }
    return NAN;
}

/* A light ground wherever the middle of a cell lies within the band; curves are drawn over it. */
static void draw_band(struct canvas *c, const struct plot_band *b, const struct plot_axis *x,
                      const struct plot_axis *y)
{
    for (int column = 0; column < c->width; column++) {
        double at = (column + 0.5) / c->width;
        double lo = plot_place(y, edge_at(b, b->lo, x, at));
        double hi = plot_place(y, edge_at(b, b->hi, x, at));

        for (int row = 0; row < c->height; row++) {
            double middle = 1 - (row + 0.5) / c->height;

            if (lo <= middle && middle <= hi)
                put(c, c->top + row, c->left + column, c->p->level == PLOT_ASCII ? ':' : 0x2591,
                    b->colour);
        }
    }
}

/* All lines first, so that none hides a mark. */
static void draw_curves(struct canvas *c, const struct plot_axis *x, const struct plot_axis *y)
{
    int wide = c->p->level == PLOT_ASCII ? c->width : 2 * c->width, count = c->p->count;
    struct plot_point **points = mem_new((size_t)count, sizeof(struct plot_point *));
    size_t *n = mem_new((size_t)count, sizeof *n);

    for (int i = 0; i < count; i++) {
        points[i] = plot_thin(&c->p->series[i], x, y, wide, &n[i]);
        draw_series(c, i, points[i], n[i]);
    }
    for (int i = 0; i < count; i++) {
        if (c->p->level != PLOT_ASCII)
            draw_marks(c, i, points[i], n[i]);
        free(points[i]);
    }
    free(points);
    free(n);
}

void plot_draw(const struct plot *p, struct plot_cell *cells)
{
    struct canvas c = {.p = p, .cells = cells};
    struct plot_axis x, y;
    int label = 0;

    if (p->columns < 1 || p->rows < 1)
        return;
    for (int i = 0; i < p->rows * p->columns; i++)
        cells[i] = (struct plot_cell){0, -1};
    if (p->columns < PLOT_LEAST_COLUMNS || p->rows < PLOT_LEAST_ROWS)
        return;
    if (!plot_axes(p, &x, &y)) {
        static const char nothing[] = "no values yet";

        draw_head(&c);
        put_text(&c, p->rows / 2, (p->columns - (int)sizeof nothing + 1) / 2, p->columns, nothing,
                 -1);
        return;
    }
    c.top = draw_head(&c);
    c.height = p->rows - c.top - 2;
    for (int i = 0; i < y.ticks; i++)
        if (length(y.label[i]) > label)
            label = length(y.label[i]);
    if (label > p->columns / 2)
        label = p->columns / 2;
    c.left = label + 1;
    c.width = p->columns - c.left;
    c.dots = mem_new((size_t)c.width * (size_t)c.height, 1);
    for (int i = 0; i < p->bands; i++)
        draw_band(&c, &p->band[i], &x, &y);
    draw_y_axis(&c, &y);
    draw_x_axis(&c, &x);
    draw_curves(&c, &x, &y);
    free(c.dots);
}

void plot_cells_text(const struct plot_cell *cells, int columns, int rows, bool colours,
                     struct text *out)
{
    /* By role: readable on light and dark grounds, present in eight colours. */
    static const int sgr[] = {36, 35, 32, 33, 34, 31};

    for (int r = 0; r < rows; r++) {
        const struct plot_cell *row = cells + (size_t)r * (size_t)columns;
        int end = columns, colour = -1;

        while (end > 0 && (!row[end - 1].code || row[end - 1].code == ' '))
            end--;
        for (int i = 0; i < end; i++) {
            if (colours && row[i].colour != colour) {
                colour = row[i].colour;
                if (colour < 0)
                    text_add(out, "\033[0m");
                else
                    text_addf(out, "\033[%dm", sgr[colour % 6]);
            }
            add_code(out, row[i].code ? row[i].code : ' ');
        }
        text_add(out, colour >= 0 ? "\033[0m\n" : "\n");
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
