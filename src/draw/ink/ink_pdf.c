/* draw/ink/ink_pdf.c: one page of PDF 1.4 with the base fonts that every reader has, so that words stay
 * words: they can be searched, copied and edited. No date, no random number: the same figure is the
 * same bytes. */
#include "draw/ink/ink.h"

#include "base/mem.h"
#include "draw/ink/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS (72 / 25.4 / INK_PER_MM) /* in a unit */

static void add_number(struct text *out, double x)
{
    char number[64], *end;
    size_t n;

    snprintf(number, sizeof number, "%.2f", x);
    if ((end = strchr(number, ',')))
        *end = '.'; /* of a locale */
    for (n = strlen(number); n && number[n - 1] == '0';)
        number[--n] = 0;
    if (n && number[n - 1] == '.')
        number[--n] = 0;
    text_addf(out, "%s ", strcmp(number, "-0") ? number : "0");
}

static void add_numbers(struct text *out, const double *x, int n, const char *operator)
{
    for (int i = 0; i < n; i++)
        add_number(out, x[i]);
    text_addf(out, "%s\n", operator);
}

/* part: 1 the colour itself, less: towards white. */
static void set_colour(struct ink *ink, unsigned rgb, double part, bool stroke)
{
    double c[3];

    for (int i = 0; i < 3; i++)
        c[i] = 1 - part * (1 - (double)(rgb >> (16 - 8 * i) & 255) / 255);
    add_numbers(&ink->page, c, 3, stroke ? "RG" : "rg");
}

static void add_path(struct ink *ink, const struct ink_point *points, size_t n, enum ink_kind kind,
                     int role)
{
    struct text *out = &ink->page;
    bool filled = kind == INK_BAND || kind == INK_MARK;

    if (kind == INK_AXIS || kind == INK_GRID)
        set_colour(ink, 0x222222, kind == INK_GRID ? 0.18 : 1, true);
    else
        set_colour(ink, ink_role(role, ink->mono), kind == INK_BAND ? 0.2 : 1, !filled);
    if (!filled) {
        add_number(out, kind == INK_GRID ? 0.8 : kind == INK_AXIS ? 1 : 1.6);
        text_add(out, kind == INK_DASHED ? "w [5 4] 0 d\n" : "w [] 0 d\n");
    }
    for (size_t i = 0; i < n; i++)
        add_numbers(out, (const double[]){points[i].x, points[i].y}, 2, points[i].move ? "m" : "l");
    text_add(out, filled ? "f\n" : "S\n");
}

static void add_box(struct ink *ink, double x, double y, double w, double h, double shade, int role)
{
    set_colour(ink, shade >= 0 ? ink_shade(shade) : ink_role(role, ink->mono), 1, false);
    add_numbers(&ink->page, (const double[]){x, y, w, h}, 4, "re");
    text_add(&ink->page, "f\n");
}

/* A character in WinAnsiEncoding, '?' where it has none there. */
static unsigned char ansi(unsigned code)
{
    static const struct {
        unsigned code, byte;
    } others[] = {{0x2013, 0x96}, {0x2014, 0x97}, {0x2018, 0x91}, {0x2019, 0x92}, {0x201c, 0x93},
                  {0x201d, 0x94}, {0x2022, 0x95}, {0x2026, 0x85}, {0x20ac, 0x80}, {0x2212, '-'}};

    if ((code >= 32 && code < 127) || (code >= 0xa0 && code < 0x100))
        return (unsigned char)code;
    for (size_t i = 0; i < MEM_COUNT(others); i++)
        if (others[i].code == code)
            return (unsigned char)others[i].byte;
    return '?';
}

static void add_string(struct text *out, const char *words)
{
    struct text clean = {0};

    text_add_clean(&clean, words);
    text_add(out, "(");
    for (const char *s = text_str(&clean); *s;) {
        unsigned char byte = ansi(words_next(&s));

        if (strchr("()\\", byte))
            text_add(out, "\\");
        text_add_n(out, &byte, 1);
    }
    text_add(out, ")");
    text_free(&clean);
}

static void add_words(struct ink *ink, double x, double y, enum ink_anchor anchor, bool bold,
                      enum ink_tone tone, const char *words)
{
    double width = ink_width(ink, words);

    set_colour(ink, tone == INK_LIGHT ? 0xffffff : 0x222222, 1, false);
    text_addf(&ink->page, "BT /F%d %g Tf 1 0 0 -1 ", bold ? 2 : 1, INK_FONT);
    add_numbers(&ink->page,
                (const double[]){anchor == INK_START    ? x
                                 : anchor == INK_MIDDLE ? x - width / 2
                                                        : x - width,
                                 y},
                2, "Tm");
    add_string(&ink->page, words);
    text_add(&ink->page, " Tj ET\n");
}

static void add_object(struct text *out, size_t *place, int number, const char *body)
{
    place[number] = out->n;
    text_addf(out, "%d 0 obj\n%s\nendobj\n", number, body);
}

static void finish(struct ink *ink)
{
    static const char font[] =
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica%s /Encoding /WinAnsiEncoding >>";
    struct text *out = ink->out, page = {0};
    size_t place[8] = {0}, begin = out->n, xref;
    char body[160];

    text_add(out, "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n");
    add_object(out, place, 1, "<< /Type /Catalog /Pages 2 0 R >>");
    add_object(out, place, 2, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
    text_add(&page, "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ");
    add_number(&page, ink->width * POINTS);
    add_number(&page, ink->height * POINTS);
    text_add(&page, "] /Contents 4 0 R /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>");
    add_object(out, place, 3, text_str(&page));
    place[4] = out->n;
    text_addf(out, "4 0 obj\n<< /Length %zu >>\nstream\n", ink->page.n);
    text_add_n(out, text_str(&ink->page), ink->page.n);
    text_add(out, "\nendstream\nendobj\n");
    snprintf(body, sizeof body, font, "");
    add_object(out, place, 5, body);
    snprintf(body, sizeof body, font, "-Bold");
    add_object(out, place, 6, body);
    xref = out->n - begin;
    text_add(out, "xref\n0 7\n0000000000 65535 f \n");
    for (int i = 1; i < 7; i++)
        text_addf(out, "%010zu 00000 n \n", place[i] - begin);
    text_addf(out, "trailer\n<< /Size 7 /Root 1 0 R >>\nstartxref\n%zu\n%%%%EOF\n", xref);
    text_free(&page);
    text_free(&ink->page);
}

void ink_begin_pdf(struct ink *ink, double width_mm, double height_mm, const char *title, bool mono,
                   struct text *out)
{
    static const struct ink_ops ops = {add_path, add_box, add_words, finish};

    (void)title; /* a figure inside a text has its caption there */
    *ink = (struct ink){.ops = &ops,
                        .out = out,
                        .width = width_mm * INK_PER_MM,
                        .height = height_mm * INK_PER_MM,
                        .mono = mono};
    text_addf(&ink->page, "%.6f ", POINTS);
    text_add(&ink->page, "0 0 ");
    text_addf(&ink->page, "%.6f ", -POINTS);
    text_add(&ink->page, "0 ");
    add_number(&ink->page, ink->height * POINTS);
    text_add(&ink->page, "cm 1 j 1 J\n");
}
