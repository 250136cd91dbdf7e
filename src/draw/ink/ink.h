/* draw/ink/ink.h: what figures are drawn with: lines, marks, boxes and words on a page whose unit is a
 * quarter of a millimetre, y downwards; as SVG or as PDF. Both are deterministic and fetch nothing. */
#ifndef CHORUS_DRAW_INK_INK_H
#define CHORUS_DRAW_INK_INK_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

#define INK_PER_MM 4.0
#define INK_FONT   11.0 /* the height of words: 2.75 mm, 7.8 points */
#define INK_ROLES  6    /* colours that curves take in turn */
#define INK_SHADES 9    /* of the scale of boards, between which other programs go on their own */

enum ink_anchor { INK_START, INK_MIDDLE, INK_END };
enum ink_kind {
    INK_LINE,   /* a curve, in the colour of its role; round ends */
    INK_DASHED, /* the same in dashes */
    INK_AXIS,
    INK_GRID,
    INK_BAND, /* a filled area in a light tone of the role */
    INK_MARK  /* a filled shape */
};
enum ink_tone { INK_PLAIN, INK_DARK, INK_LIGHT }; /* dark and light: on a shaded box */

struct ink_point {
    double x, y;
    bool move; /* no line leads here */
};

struct ink_ops;
struct ink {
    const struct ink_ops *ops;
    struct text *out;
    struct text page; /* PDF: what the page holds, until its length is known */
    double width, height;
    bool mono; /* black alone: roles differ by marks and dashes */
    bool wide; /* whoever shows it chooses the font */
};
struct ink_ops {
    void (*path)(struct ink *ink, const struct ink_point *points, size_t n, enum ink_kind kind,
                 int role);
    /* A filled box. shade: 0 to 1 along the scale of boards, or below 0: in the role's colour. */
    void (*box)(struct ink *ink, double x, double y, double w, double h, double shade, int role);
    void (*words)(struct ink *ink, double x, double y, enum ink_anchor anchor, bool bold,
                  enum ink_tone tone, const char *words);
    void (*finish)(struct ink *ink);
};

/* title: for those who cannot see it, and for the window's head. */
void ink_begin_svg(struct ink *ink, double width_mm, double height_mm, const char *title, bool mono,
                   struct text *out);
void ink_begin_pdf(struct ink *ink, double width_mm, double height_mm, const char *title, bool mono,
                   struct text *out);
void ink_finish(struct ink *ink);

void ink_path(struct ink *ink, const struct ink_point *points, size_t n, enum ink_kind kind,
              int role);
void ink_line(struct ink *ink, double x0, double y0, double x1, double y1, enum ink_kind kind,
              int role);
/* A role's own shape, so that no colour is needed. */
void ink_mark(struct ink *ink, double x, double y, int role);
void ink_box(struct ink *ink, double x, double y, double w, double h, double shade, int role);
void ink_words(struct ink *ink, double x, double y, enum ink_anchor anchor, const char *words);
void ink_title(struct ink *ink, double x, double y, const char *words);
/* A title and below it how to read the figure, cut to the width. Returns the height that they take. */
double ink_heading(struct ink *ink, double x, double y, double width, const char *title,
                   const char *note);
/* A label cut to a width, with dots in place of its end. */
void ink_fit(const struct ink *ink, const char *label, double width, struct text *out);
/* On a box of that shade: dark or light, so that it can be read. */
void ink_words_on(struct ink *ink, double x, double y, double shade, const char *words);
/* Of words as they are drawn: in a PDF exactly, in an SVG in the widest of the fonts it may get. */
double ink_width(const struct ink *ink, const char *words);

/* The scale of boards from dark (0) to light (1), readable in grey and by the colour-blind: 0xRRGGBB. */
unsigned ink_shade(double shade);
bool ink_shade_is_dark(double shade); /* words on it are white */
unsigned ink_role(int role, bool mono);

#endif
