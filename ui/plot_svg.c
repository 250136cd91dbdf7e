/* ui/plot_svg.c: plots as a self-contained SVG document: real text, colours of its own for light and
 * dark grounds, nothing fetched from anywhere. */
#include "ui/plot_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_PER_MM 4.0 /* so that a font size of 11 is 2.75 mm, 7.8 points */
#define FONT         11.0
#define COLOURS      6

/* Okabe and Ito's colours, told apart by the colour-blind; lighter ones on dark ground. */
static const char style[] =
    "<style>\n"
    "svg { color-scheme: light dark; color: #222; background: #fff;\n"
    "      font-family: system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif; font-size: 11px }\n"
    "text { fill: currentColor }\n"
    ".ground { fill: #fff }\n"
    ".axis { stroke: currentColor; stroke-width: 1; fill: none }\n"
    ".grid { stroke: currentColor; stroke-opacity: .15; stroke-width: .8; fill: none }\n"
    ".line { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round }\n"
    ".c0 { stroke: #0072b2; color: #0072b2 }\n"
    ".c1 { stroke: #d55e00; color: #d55e00 }\n"
    ".c2 { stroke: #009e73; color: #009e73 }\n"
    ".c3 { stroke: #b35a8c; color: #b35a8c }\n"
    ".c4 { stroke: #b37400; color: #b37400 }\n"
    ".c5 { stroke: #2b8cbe; color: #2b8cbe }\n"
    ".mark { fill: currentColor; stroke: none }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  svg { color: #ddd; background: #151515 }\n"
    "  .ground { fill: #151515 }\n"
    "  .c0 { stroke: #56b4e9; color: #56b4e9 }\n"
    "  .c1 { stroke: #ff8c42; color: #ff8c42 }\n"
    "  .c2 { stroke: #3ccf9f; color: #3ccf9f }\n"
    "  .c3 { stroke: #e39ac4; color: #e39ac4 }\n"
    "  .c4 { stroke: #f0b94a; color: #f0b94a }\n"
    "  .c5 { stroke: #9fd3f2; color: #9fd3f2 }\n"
    "}\n"
    "</style>\n";

struct box {
    double left, top, width, height;
};

static void add_escaped(struct text *out, const char *s)
{
    struct text clean = {0};

    text_add_clean(&clean, s ? s : "");
    for (const char *c = text_str(&clean); *c; c++) {
        if (*c == '&')
            text_add(out, "&amp;");
        else if (*c == '<')
            text_add(out, "&lt;");
        else if (*c == '>')
            text_add(out, "&gt;");
        else if (*c == '"')
            text_add(out, "&quot;");
        else
            text_add_n(out, c, 1);
    }
    text_free(&clean);
}

static void add_words(struct text *out, double x, double y, const char *anchor, const char *words)
{
    if (!words || !*words)
        return;
    text_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    add_escaped(out, words);
    text_add(out, "</text>\n");
}

static double words_width(const char *s)
{
    return 0.58 * FONT * text_width(s ? s : "");
}

/* By role as the colour is, so that a run looks the same in every plot. */
static void add_mark(struct text *out, double x, double y, int role)
{
    text_addf(out, "<path class=\"mark c%d\" d=\"", role % COLOURS);
    switch (role % 4) {
    case 0:
        text_addf(out, "M%.1f %.1fa2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0 -5.2 0z", x - 2.6, y);
        break;
    case 1:
        text_addf(out, "M%.1f %.1fl3.2 5.6h-6.4z", x, y - 3.5);
        break;
    case 2:
        text_addf(out, "M%.1f %.1fh5v5h-5z", x - 2.5, y - 2.5);
        break;
    default:
        text_addf(out, "M%.1f %.1fl3.3 3.3l-3.3 3.3l-3.3 -3.3z", x, y - 3.3);
    }
    text_add(out, "\"/>\n");
}

static void add_line_class(struct text *out, const struct plot_series *s)
{
    text_addf(out, "<path class=\"line c%d\"%s d=\"", s->colour % COLOURS,
              s->dashed ? " stroke-dasharray=\"5 4\"" : "");
}

/* The legend stands above the curves and wraps; returns the height that it takes. */
static double add_legend(struct text *out, const struct plot *p, const struct box *b, double y)
{
    double x = b->left, lines = 1;

    for (int i = 0; i < p->count; i++) {
        const struct plot_series *s = &p->series[i];
        double width = 26 + words_width(s->label);

        if (x > b->left && x + width > b->left + b->width) {
            x = b->left;
            y += FONT * 1.3;
            lines++;
        }
        add_line_class(out, s);
        text_addf(out, "M%.1f %.1fh18\"/>\n", x, y - 0.35 * FONT);
        add_mark(out, x + 9, y - 0.35 * FONT, s->colour);
        add_words(out, x + 23, y, "start", s->label);
        x += width + 12;
    }
    return lines * FONT * 1.3;
}

static void add_series(struct text *out, const struct plot *p, int series, const struct box *b,
                       const struct plot_axis *x, const struct plot_axis *y)
{
    const struct plot_series *s = &p->series[series];
    size_t n;
    struct plot_point *points = plot_thin(s, x, y, (int)b->width, &n);
    double marked = -INFINITY;

    if (!n)
        return;
    add_line_class(out, s);
    for (size_t i = 0; i < n; i++)
        text_addf(out, "%s%.1f %.1f", points[i].gap ? "M" : "L", b->left + points[i].x * b->width,
                  b->top + (1 - points[i].y) * b->height);
    text_add(out, "\"/>\n");
    for (size_t i = 0; i < n; i++) {
        double px = b->left + points[i].x * b->width;
        bool alone = points[i].gap && (i + 1 == n || points[i + 1].gap);

        if (!alone && (p->count == 1 || px < marked + 40))
            continue;
        marked = px;
        add_mark(out, px, b->top + (1 - points[i].y) * b->height, s->colour);
    }
    free(points);
}

static void add_axes(struct text *out, const struct plot *p, const struct box *b,
                     const struct plot_axis *x, const struct plot_axis *y)
{
    double bottom = b->top + b->height;

    for (int i = 0; i < y->ticks; i++) {
        double at = b->top + (1 - plot_place(y, y->tick[i])) * b->height;

        text_addf(out, "<path class=\"grid\" d=\"M%.1f %.1fh%.1f\"/>\n", b->left, at, b->width);
        add_words(out, b->left - 6, at + 0.35 * FONT, "end", y->label[i]);
    }
    text_addf(out, "<path class=\"axis\" d=\"M%.1f %.1fv%.1fh%.1f", b->left, b->top, b->height,
              b->width);
    for (int i = 0; i < x->ticks; i++)
        text_addf(out, "M%.1f %.1fv4", b->left + plot_place(x, x->tick[i]) * b->width, bottom);
    text_add(out, "\"/>\n");
    for (int i = 0; i < x->ticks; i++)
        add_words(out, b->left + plot_place(x, x->tick[i]) * b->width, bottom + 5 + FONT, "middle",
                  x->label[i]);
    add_words(out, b->left + b->width / 2, bottom + 8 + 2.2 * FONT, "middle", p->x_label);
}

static void add_plot(struct text *out, const struct plot *p, struct box b)
{
    struct plot_axis x, y;
    bool any = plot_axes(p, &x, &y);
    double label = 0, head = b.top + 1.6 * FONT;
    const char *title = p->title ? p->title : p->y_label;

    for (int i = 0; any && i < y.ticks; i++)
        label = fmax(label, words_width(y.label[i]));
    b.left += label + 14;
    b.width -= label + 14 + 12;
    if (title && *title) {
        text_addf(out, "<text x=\"%.1f\" y=\"%.1f\" font-weight=\"bold\">", b.left, head);
        add_escaped(out, title);
        text_add(out, "</text>\n");
        head += FONT * 1.5;
    }
    head += add_legend(out, p, &b, head) - FONT * 0.5;
    b.height -= head - b.top + 3.4 * FONT;
    b.top = head;
    if (b.width < 20 || b.height < 20)
        return;
    if (!any) {
        add_words(out, b.left + b.width / 2, b.top + b.height / 2, "middle", "no values yet");
        return;
    }
    add_axes(out, p, &b, &x, &y);
    for (int i = 0; i < p->count; i++)
        add_series(out, p, i, &b, &x, &y);
}

void plot_svg_panels(const struct plot *panels, int count, double width_mm, double height_mm,
                     struct text *out)
{
    double width = width_mm * UNITS_PER_MM, height = height_mm * UNITS_PER_MM;

    text_addf(out,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%gmm\" height=\"%gmm\" "
              "viewBox=\"0 0 %g %g\" role=\"img\">\n",
              width_mm, height_mm, width, height);
    text_add(out, "<title>");
    for (int i = 0; i < count; i++) {
        text_add(out, i ? ", " : "");
        add_escaped(out, panels[i].title ? panels[i].title : panels[i].y_label);
    }
    text_add(out, "</title>\n");
    text_add(out, style);
    text_addf(out, "<rect class=\"ground\" width=\"%g\" height=\"%g\"/>\n", width, height);
    for (int i = 0; i < count; i++)
        add_plot(out, &panels[i], (struct box){i * width / count, 0, width / count, height});
    text_add(out, "</svg>\n");
}

void plot_svg(const struct plot *p, double width_mm, double height_mm, struct text *out)
{
    plot_svg_panels(p, 1, width_mm, height_mm, out);
}
