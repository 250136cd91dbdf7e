/* draw/ink/ink.c: what SVG and PDF share: widths of words, colours, marks. */
#include "draw/ink/ink.h"

#include "base/mem.h"
#include "draw/ink/words.h"

#include <math.h>
#include <string.h>

/* Helvetica's widths in thousandths of its size, from the blank to '~'. */
static const short widths[95] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

/* DejaVu Sans's, the widest that browsers take where nothing else is installed. */
static const short wide_widths[95] = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};

double ink_width(const struct ink *ink, const char *words)
{
    const short *width = ink->wide ? wide_widths : widths;
    double sum = 0;

    for (const char *s = words ? words : ""; *s;) {
        uint32_t c = words_next(&s);

        sum += c >= 32 && c < 127 ? width[c - 32] : c >= 0x1100 ? 1000 : ink->wide ? 780 : 600;
    }
    return sum / 1000 * INK_FONT;
}

/* Okabe and Ito's colours, told apart by the colour-blind, a little darker where white ground asks; the
 * last two are darker still, or they would be the second and the first to some eyes. */
unsigned ink_role(int role, bool mono)
{
    static const unsigned colours[INK_ROLES] = {0x0072b2, 0xd55e00, 0x009e73,
                                                0xb35a8c, 0x6b4c00, 0x332288};

    return mono ? 0x000000 : colours[(unsigned)role % INK_ROLES];
}

/* Between five fixed points of a scale whose lightness rises evenly, to a yellow that shows on white. */
unsigned ink_shade(double shade)
{
    static const double at[5][3] = {{0x25, 0x2f, 0x6b},
                                    {0x2f, 0x74, 0xa6},
                                    {0x5b, 0xb4, 0xb8},
                                    {0xb5, 0xdf, 0xc0},
                                    {0xf7, 0xf3, 0xb0}};
    double place = fmin(fmax(shade, 0), 1) * 4;
    int from = place >= 4 ? 3 : (int)place;
    unsigned colour = 0;

    for (int i = 0; i < 3; i++) {
        double part = at[from][i] + (place - from) * (at[from + 1][i] - at[from][i]);

        colour = colour << 8 | (unsigned)lround(part);
    }
    return colour;
}

bool ink_shade_is_dark(double shade)
{
    return shade < 0.45;
}

void ink_path(struct ink *ink, const struct ink_point *points, size_t n, enum ink_kind kind,
              int role)
{
    if (n)
        ink->ops->path(ink, points, n, kind, role);
}

void ink_line(struct ink *ink, double x0, double y0, double x1, double y1, enum ink_kind kind,
              int role)
{
    const struct ink_point two[] = {{x0, y0, true}, {x1, y1, false}};

    ink->ops->path(ink, two, 2, kind, role);
}

void ink_box(struct ink *ink, double x, double y, double w, double h, double shade, int role)
{
    ink->ops->box(ink, x, y, w, h, shade, role);
}

void ink_words(struct ink *ink, double x, double y, enum ink_anchor anchor, const char *words)
{
    if (words && *words)
        ink->ops->words(ink, x, y, anchor, false, INK_PLAIN, words);
}

void ink_title(struct ink *ink, double x, double y, const char *words)
{
    if (words && *words)
        ink->ops->words(ink, x, y, INK_START, true, INK_PLAIN, words);
}

void ink_fit(const struct ink *ink, const char *label, double width, struct text *out)
{
    text_clear(out);
    text_add(out, label ? label : "");
    if (ink_width(ink, text_str(out)) <= width)
        return;
    while (out->n && ink_width(ink, text_str(out)) + ink_width(ink, "...") > width) {
        while (out->n && (out->s[out->n - 1] & 0xc0) == 0x80)
            out->s[--out->n] = 0;
        out->s[out->n ? --out->n : 0] = 0;
    }
    text_add(out, "...");
}

double ink_heading(struct ink *ink, double x, double y, double width, const char *title,
                   const char *note)
{
    double height = 0;
    struct text fitting = {0};

    if (title && *title) {
        ink_title(ink, x, y, title);
        height += 1.5 * INK_FONT;
    }
    if (note && *note) {
        ink_fit(ink, note, width, &fitting);
        ink_words(ink, x, y + height, INK_START, text_str(&fitting));
        height += 1.5 * INK_FONT;
    }
    text_free(&fitting);
    return height;
}

void ink_words_on(struct ink *ink, double x, double y, double shade, const char *words)
{
    ink->ops->words(ink, x, y, INK_MIDDLE, false, ink_shade_is_dark(shade) ? INK_LIGHT : INK_DARK,
                    words);
}

void ink_mark(struct ink *ink, double x, double y, int role)
{
    static const struct ink_point triangle[] = {
        {0, -3.5, true}, {3.2, 2.1, false}, {-3.2, 2.1, false}};
    static const struct ink_point square[] = {
        {-2.5, -2.5, true}, {2.5, -2.5, false}, {2.5, 2.5, false}, {-2.5, 2.5, false}};
    static const struct ink_point diamond[] = {
        {0, -3.3, true}, {3.3, 0, false}, {0, 3.3, false}, {-3.3, 0, false}};
    struct ink_point at[12];
    const struct ink_point *shape = role % 4 == 1 ? triangle : role % 4 == 2 ? square : diamond;
    size_t n = role % 4 == 0 ? MEM_COUNT(at) : role % 4 == 1 ? 3 : 4;

    for (size_t i = 0; i < n; i++) {
        double turn = 2 * M_PI * (double)i / (double)n;

        if (role % 4 == 0)
            at[i] = (struct ink_point){2.7 * cos(turn), 2.7 * sin(turn), i == 0};
        else
            at[i] = shape[i];
        at[i].x += x;
        at[i].y += y;
    }
    ink->ops->path(ink, at, n, INK_MARK, role);
}

void ink_finish(struct ink *ink)
{
    ink->ops->finish(ink);
}
