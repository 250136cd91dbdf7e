/* draw/plot/plot_paper.c: a plot on a page. */
#include "draw/ink/ink.h"
#include "draw/plot/plot_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define FONT INK_FONT

struct box {
    double left, top, width, height;
};

/* The legend stands above the curves and wraps, at most over two fifths of the plot; returns the
 * height that it takes. */
static double draw_legend(struct ink *ink, const struct plot *p, const struct box *b, double y)
{
    double x = b->left, lines = 1, most = fmax(1, floor(0.4 * b->height / (1.3 * FONT)));
    struct text label = {0};

    for (int i = 0; i < p->count; i++) {
        const struct plot_series *s = &p->series[i];
        double width;

        ink_fit(ink, s->label, b->width - 26, &label);
        width = 26 + ink_width(ink, text_str(&label));
        if (x > b->left && x + width > b->left + b->width) {
            if (lines == most) {
                text_clear(&label);
                text_addf(&label, "and %d more", p->count - i);
                ink_words(ink, b->left, y + FONT * 1.3, INK_START, text_str(&label));
                lines++;
                break;
            }
            x = b->left;
            y += FONT * 1.3;
            lines++;
        }
        ink_line(ink, x, y - 0.35 * FONT, x + 18, y - 0.35 * FONT,
                 s->dashed ? INK_DASHED : INK_LINE, s->colour);
        ink_mark(ink, x + 9, y - 0.35 * FONT, s->colour);
        ink_words(ink, x + 23, y, INK_START, text_str(&label));
        x += width + 12;
    }
    text_free(&label);
    return lines * FONT * 1.3;
}

static void draw_series(struct ink *ink, const struct plot *p, int series, const struct box *b,
                        const struct plot_curve *curve)
{
    const struct plot_series *s = &p->series[series];
    const struct plot_point *points = curve->point;
    size_t n = curve->n;
    struct ink_point *path = mem_new(n + 1, sizeof *path);
    double marked = -INFINITY;

    for (size_t i = 0; i < n; i++)
        path[i] = (struct ink_point){b->left + points[i].x * b->width,
                                     b->top + (1 - points[i].y) * b->height, points[i].gap};
    ink_path(ink, path, n, s->dashed ? INK_DASHED : INK_LINE, s->colour);
    for (size_t i = 0; i < n; i++) {
        bool alone = points[i].gap && (i + 1 == n || points[i + 1].gap);

        if (!alone && (p->count == 1 || path[i].x < marked + 40))
            continue;
        marked = path[i].x;
        ink_mark(ink, path[i].x, path[i].y, s->colour);
    }
    free(path);
}

/* Forth along the upper edge, back along the lower one; a gap ends one area and begins the next. */
static void draw_band(struct ink *ink, const struct plot_band *band, const struct box *b,
                      const struct plot_axis *x, const struct plot_axis *y)
{
    struct ink_point *path = mem_new(2 * band->n + 1, sizeof *path);

    for (size_t from = 0, to; from < band->n; from = to + 1) {
        size_t n = 0;

        for (to = from;
             to < band->n && band->x[to] >= x->lo && band->x[to] <= x->hi &&
             isfinite(plot_place(y, band->lo[to])) && isfinite(plot_place(y, band->hi[to]));
             to++)
            path[n++] = (struct ink_point){b->left + plot_place(x, band->x[to]) * b->width,
                                           b->top + (1 - plot_place(y, band->hi[to])) * b->height,
                                           to == from};
        for (size_t i = to; i-- > from;)
            path[n++] =
                (struct ink_point){b->left + plot_place(x, band->x[i]) * b->width,
                                   b->top + (1 - plot_place(y, band->lo[i])) * b->height, false};
        if (n > 2)
            ink_path(ink, path, n, INK_BAND, band->colour);
    }
    free(path);
}

static void draw_axes(struct ink *ink, const struct plot *p, const struct box *b,
                      const struct plot_axis *x, const struct plot_axis *y)
{
    double bottom = b->top + b->height, right = b->left + b->width;

    for (int i = 0; i < y->ticks; i++) {
        double at = b->top + (1 - plot_place(y, y->tick[i])) * b->height;

        ink_line(ink, b->left, at, right, at, INK_GRID, 0);
        ink_words(ink, b->left - 6, at + 0.35 * FONT, INK_END, y->label[i]);
    }
    ink_path(ink,
             (const struct ink_point[]){
                 {b->left, b->top, true}, {b->left, bottom, false}, {right, bottom, false}},
             3, INK_AXIS, 0);
    for (int i = 0; i < x->ticks; i++) {
        double at = b->left + plot_place(x, x->tick[i]) * b->width;

        ink_line(ink, at, bottom, at, bottom + 4, INK_AXIS, 0);
        ink_words(ink, at, bottom + 5 + FONT, INK_MIDDLE, x->label[i]);
    }
    ink_words(ink, b->left + b->width / 2, bottom + 8 + 2.2 * FONT, INK_MIDDLE, p->x_label);
}

void plot_ink(const struct plot *p, struct ink *ink, double left, double top, double width,
              double height)
{
    struct box b = {left, top, width, height};
    struct plot_view v;
    bool any = plot_look(p, (int)fmax(width, 1), &v);
    struct plot_canvas dots = {.p = p, .down = 1, .height = (int)fmax(height, 1)};
    double label = 0, head = b.top + 1.6 * FONT;
    int *order = mem_new((size_t)p->count + 1, sizeof *order), n;
    const char *title = p->title ? p->title : p->y_label;

    if (any)
        plot_choose_rows(&dots, &v);
    for (int i = 0; any && i < v.y.ticks; i++)
        label = fmax(label, ink_width(ink, v.y.label[i]));
    b.left += label + 14;
    b.width -= label + 14 + 12;
    head += ink_heading(ink, b.left, head, b.width, title, p->note);
    head += draw_legend(ink, p, &b, head) - FONT * 0.5;
    b.height -= head - b.top + 3.4 * FONT;
    b.top = head;
    if (b.width >= 20 && b.height >= 20 && any) {
        for (int i = 0; i < p->bands; i++)
            draw_band(ink, &p->band[i], &b, &v.x, &v.y);
        draw_axes(ink, p, &b, &v.x, &v.y);
        n = plot_order(p, order);
        for (int i = 0; i < n; i++)
            draw_series(ink, p, order[i], &b, &v.curve[order[i]]);
    } else if (!any && b.width >= 20 && b.height >= 20) {
        ink_words(ink, b.left + b.width / 2, b.top + b.height / 2, INK_MIDDLE, "no values yet");
    }
    free(order);
    plot_view_free(&v);
}
