/* draw/ink/ink_svg.c: a self-contained SVG document: real text, colours of its own for light and dark
 * grounds. */
#include "draw/ink/ink.h"

static const char style[] =
    "<style>\n"
    "svg { color-scheme: light dark; color: #222; background: #fff;\n"
    "      font-family: system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif; font-size: 11px }\n"
    "text { fill: currentColor }\n"
    "text.dark { fill: #111 }\n"
    "text.light { fill: #fff }\n"
    ".ground { fill: #fff }\n"
    ".axis { stroke: currentColor; stroke-width: 1; fill: none }\n"
    ".grid { stroke: currentColor; stroke-opacity: .15; stroke-width: .8; fill: none }\n"
    ".line { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round }\n"
    ".band { fill: currentColor; fill-opacity: .18; stroke: none !important }\n"
    ".mark { fill: currentColor; stroke: none !important }\n";

static const char dark[] = "@media (prefers-color-scheme: dark) {\n"
                           "  svg { color: #ddd; background: #151515 }\n"
                           "  .ground { fill: #151515 }\n";

/* Lighter tones of the roles for dark ground. */
static const unsigned light_role[INK_ROLES] = {0x56b4e9, 0xff8c42, 0x3ccf9f,
                                               0xe39ac4, 0xf0e442, 0x9fd3f2};

static void add_path(struct ink *ink, const struct ink_point *points, size_t n, enum ink_kind kind,
                     int role)
{
    static const char *const names[] = {"line", "line", "axis", "grid", "band", "mark"};
    bool closed = kind == INK_BAND || kind == INK_MARK;

    text_addf(ink->out, "<path class=\"%s", names[kind]);
    if (kind != INK_AXIS && kind != INK_GRID)
        text_addf(ink->out, " c%d", role % INK_ROLES);
    text_addf(ink->out, "\"%s d=\"", kind == INK_DASHED ? " stroke-dasharray=\"5 4\"" : "");
    for (size_t i = 0; i < n; i++)
        text_addf(ink->out, "%s%.1f %.1f", points[i].move ? "M" : "L", points[i].x, points[i].y);
    text_addf(ink->out, "%s\"/>\n", closed ? "z" : "");
}

static void add_box(struct ink *ink, double x, double y, double w, double h, double shade, int role)
{
    text_addf(ink->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", x, y, w, h);
    if (shade >= 0)
        text_addf(ink->out, " fill=\"#%06x\"/>\n", ink_shade(shade));
    else
        text_addf(ink->out, " class=\"mark c%d\"/>\n", role % INK_ROLES);
}

static void add_words(struct ink *ink, double x, double y, enum ink_anchor anchor, bool bold,
                      enum ink_tone tone, const char *words)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    static const char *const tones[] = {"", " class=\"dark\"", " class=\"light\""};

    text_addf(ink->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s%s>", x, y,
              anchors[anchor], bold ? " font-weight=\"bold\"" : "", tones[tone]);
    text_add_html(ink->out, words);
    text_add(ink->out, "</text>\n");
}

static void finish(struct ink *ink)
{
    text_add(ink->out, "</svg>\n");
}

static void add_style(struct ink *ink)
{
    text_add(ink->out, style);
    for (int i = 0; i < INK_ROLES; i++)
        text_addf(ink->out, ".c%d { stroke: #%06x; color: #%06x }\n", i, ink_role(i, ink->mono),
                  ink_role(i, ink->mono));
    if (ink->mono) { /* for print: black on white whatever the screen prefers */
        text_add(ink->out, "svg { color-scheme: light; color: #000 }\n</style>\n");
        return;
    }
    text_add(ink->out, dark);
    for (int i = 0; i < INK_ROLES; i++)
        text_addf(ink->out, "  .c%d { stroke: #%06x; color: #%06x }\n", i, light_role[i],
                  light_role[i]);
    text_add(ink->out, "}\n</style>\n");
}

void ink_begin_svg(struct ink *ink, double width_mm, double height_mm, const char *title, bool mono,
                   struct text *out)
{
    static const struct ink_ops ops = {add_path, add_box, add_words, finish};

    *ink = (struct ink){.ops = &ops,
                        .out = out,
                        .width = width_mm * INK_PER_MM,
                        .height = height_mm * INK_PER_MM,
                        .mono = mono,
                        .wide = true};
    text_addf(out,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%gmm\" height=\"%gmm\" "
              "viewBox=\"0 0 %g %g\" role=\"img\">\n<title>",
              width_mm, height_mm, ink->width, ink->height);
    text_add_html(out, title);
    text_add(out, "</title>\n");
    add_style(ink);
    text_addf(out, "<rect class=\"ground\" width=\"%g\" height=\"%g\"/>\n", ink->width,
              ink->height);
}
