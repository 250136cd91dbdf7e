#include "draw/figure.h"

#include "base/mem.h"
#include "base/sheet.h"
#include "draw/ink.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *title_of(const struct figure_panel *p)
{
    const char *title = p->board         ? p->board->title
                        : p->plot->title ? p->plot->title
                                         : p->plot->y_label;

    return title ? title : "";
}

static void draw(const struct figure *f, struct ink *ink)
{
    for (int i = 0; i < f->panels; i++) {
        const struct figure_panel *p = &f->panel[i];
        double width = ink->width / f->panels;

        if (p->board)
            board_ink(p->board, ink, i * width, 0, width, ink->height);
        else
            plot_ink(p->plot, ink, i * width, 0, width, ink->height);
    }
    ink_finish(ink);
}

static void draw_with(const struct figure *f, bool pdf, struct text *out)
{
    struct text title = {0};
    struct ink ink;

    for (int i = 0; i < f->panels; i++)
        text_addf(&title, "%s%s", i ? ", " : "", title_of(&f->panel[i]));
    (pdf ? ink_begin_pdf : ink_begin_svg)(&ink, f->width_mm, f->height_mm, text_str(&title),
                                          f->mono, out);
    draw(f, &ink);
    text_free(&title);
}

void figure_svg(const struct figure *f, struct text *out)
{
    draw_with(f, false, out);
}

void figure_pdf(const struct figure *f, struct text *out)
{
    draw_with(f, true, out);
}

/* ---- pgfplots ---- */

#define TEX_LETTER 1.8 /* mm, of a letter in a legend */

/* Names in the CSV: series s of panel p is pPsS_x and pPsS_y; band b is pPbB_x and pPbB_y, the outline of
 * its areas; a board's are pP_column, pP_row, pP_value and, by magnitude, pP_level. */
static void add_names(struct text *out, const char *option, const char *const *names, int n)
{
    text_addf(out, ",\n  %s={", option);
    for (int i = 0; i < n; i++) {
        text_add(out, i ? ",{" : "{");
        text_add_tex(out, names[i]);
        text_add(out, "}");
    }
    text_add(out, "}");
}

/* Below its own plot, where no other panel is, one or two entries beside each other; names longer than
 * the plot is wide are broken. */
static void tex_legend(const struct figure *f, const struct plot *p, struct text *out)
{
    double room = f->width_mm / f->panels - 22;
    size_t longest = 0;

    for (int s = 0; s < p->count; s++)
        if (p->series[s].label && strlen(p->series[s].label) > longest)
            longest = strlen(p->series[s].label);
    text_addf(out,
              ",\n  legend columns=%d, legend cell align=left, legend style={at={(0.5,-0.2)}, "
              "anchor=north, font=\\footnotesize%s",
              2 * (TEX_LETTER * (double)longest + 12) < room ? 2 : 1, f->mono ? "" : ", draw=none");
    if (TEX_LETTER * (double)longest + 12 > room)
        text_addf(out, ", nodes={text width=%.1fmm}", room - 12);
    text_add(out, "}");
}

/* What colours run between: a value far below the others takes the least one's. */
static void tex_range(const struct board *b, struct text *out)
{
    char least[TEXT_NUMBER_ROOM], most[TEXT_NUMBER_ROOM];
    double lo, hi;

    if (board_range(b, &lo, &hi) && hi > lo)
        text_addf(out, ", point meta min=%s, point meta max=%s", text_double(least, lo),
                  text_double(most, hi));
}

static void tex_axis(const struct figure *f, const struct figure_panel *p, int number,
                     struct text *out)
{
    const struct board *b = p->board;

    text_addf(out,
              "\\begin{axis}[\n  width=%.1fmm, height=%.1fmm, scale only axis, at={(%.1fmm,0)},\n"
              "  title={",
              f->width_mm / f->panels - 22, f->height_mm - 26, number * f->width_mm / f->panels);
    text_add_tex(out, title_of(p));
    text_add(out, "}, xlabel={");
    text_add_tex(out, b ? b->column_label : p->plot->x_label);
    text_add(out, "}, ylabel={");
    text_add_tex(out, b ? b->row_label : "");
    text_add(out, "}");
    if (!b) {
        text_addf(out, ",\n  unbounded coords=jump, grid=major%s%s",
                  p->plot->log_y    ? ", ymode=log"
                  : p->plot->zero_y ? ", ymin=0"
                                    : "",
                  f->mono ? ", cycle list name=linestyles*" : "");
        tex_legend(f, p->plot, out);
    } else {
        text_addf(
            out,
            ",\n  colormap name=chorus, enlargelimits=false, y dir=reverse, xtick={0,...,%d}, "
            "ytick={0,...,%d}",
            b->columns - 1, b->rows - 1);
        tex_range(b, out);
        add_names(out, "xticklabels", b->column_name, b->columns);
        add_names(out, "yticklabels", b->row_name, b->rows);
    }
    text_add(out, "]\n");
}

/* A role's colour and mark, as in the other forms. */
static void tex_role(const struct plot_series *s, bool mono, struct text *out)
{
    static const char *const marks[] = {"*", "triangle*", "square*", "diamond*"};

    text_add(out, mono ? "\\addplot+[" : "\\addplot[");
    if (!mono)
        text_addf(out, "chorus%d, mark=%s, mark options={solid}, ", s->colour % INK_ROLES,
                  marks[s->colour % 4]);
    text_addf(out, "mark size=1.2pt%s]", s->dashed ? ", dashed" : "");
}

/* The scale of boards, as in the other forms. */
static void tex_scale(struct text *out)
{
    text_add(out, "\\pgfplotsset{colormap={chorus}{");
    for (int i = 0; i < INK_SHADES; i++) {
        unsigned rgb = ink_shade((double)i / (INK_SHADES - 1));

        text_addf(out, "%srgb255=(%u,%u,%u)", i ? " " : "", rgb >> 16, rgb >> 8 & 255, rgb & 255);
    }
    text_add(out, "}}\n");
}

static void tex_colours(struct text *out)
{
    for (int i = 0; i < INK_ROLES; i++)
        text_addf(out, "\\definecolor{chorus%d}{HTML}{%06X}\n", i, ink_role(i, false));
}

static void tex_curves(const struct plot *p, int panel, const char *csv, bool mono,
                       struct text *out)
{
    char colour[32] = "black";

    for (int b = 0; b < p->bands; b++) {
        if (!mono)
            snprintf(colour, sizeof colour, "chorus%d", p->band[b].colour % INK_ROLES);
        text_addf(out,
                  "\\addplot[draw=none, fill=%s, fill opacity=0.18, forget plot] table[col "
                  "sep=comma, x=p%db%d_x, y=p%db%d_y] {%s};\n",
                  colour, panel, b, panel, b, csv);
    }
    for (int s = 0; s < p->count; s++) {
        tex_role(&p->series[s], mono, out);
        text_addf(out, " table[col sep=comma, x=p%ds%d_x, y=p%ds%d_y] {%s};\n\\addlegendentry{",
                  panel, s, panel, s, csv);
        text_add_tex(out, p->series[s].label);
        text_add(out, "}\n");
    }
}

const char *figure_level_name(const struct board *b)
{
    return b->by_magnitude ? "level" : "value";
}

static void tex_board(const struct board *b, int panel, const char *csv, struct text *out)
{
    double lo, hi;

    board_range(b, &lo, &hi);
    text_addf(out,
              "\\addplot[matrix plot*, mesh/cols=%d, point meta=explicit] table[col sep=comma, "
              "x=p%d_column, y=p%d_row, meta=p%d_%s] {%s};\n",
              b->columns, panel, panel, panel, figure_level_name(b), csv);
    for (int i = 0; i < b->rows * b->columns; i++) {
        double shade = board_shade_in(b, i, lo, hi);

        text_addf(out, "\\node[font=\\tiny, text=%s] at (axis cs:%d,%d) {",
                  ink_shade_is_dark(shade) ? "white" : "black", i % b->columns, i / b->columns);
        text_add_tex(out, b->words[i]);
        text_add(out, "};\n");
    }
}

void figure_tex(const struct figure *f, const char *csv_name, struct text *out)
{
    text_add(out, "% \\usepackage{pgfplots} \\pgfplotsset{compat=1.17}\n\\begin{tikzpicture}\n");
    if (!f->mono)
        tex_colours(out);
    if (f->panel[0].board)
        tex_scale(out);
    for (int i = 0; i < f->panels; i++) {
        tex_axis(f, &f->panel[i], i, out);
        if (f->panel[i].board)
            tex_board(f->panel[i].board, i, csv_name, out);
        else
            tex_curves(f->panel[i].plot, i, csv_name, f->mono, out);
        text_add(out, "\\end{axis}\n");
    }
    text_add(out, "\\end{tikzpicture}\n");
}

/* ---- the values themselves ---- */

struct outline { /* of a band's areas: forth along the upper edge, back along the lower one */
    double *x, *y;
    size_t n;
};

static struct outline outline_of(const struct plot_band *b, bool log_y)
{
    struct outline o = {mem_new(3 * b->n + 1, sizeof(double)),
                        mem_new(3 * b->n + 1, sizeof(double)), 0};

    for (size_t from = 0, to; from < b->n; from = to + 1) {
        for (to = from;
             to < b->n && isfinite(b->lo[to]) && isfinite(b->hi[to]) && (!log_y || b->lo[to] > 0);
             to++) {
            o.x[o.n] = b->x[to];
            o.y[o.n++] = b->hi[to];
        }
        for (size_t i = to; i-- > from;) {
            o.x[o.n] = b->x[i];
            o.y[o.n++] = b->lo[i];
        }
        if (to > from && to < b->n) { /* the next area begins behind a gap */
            o.x[o.n] = b->x[to];
            o.y[o.n++] = NAN;
        }
    }
    return o;
}

static size_t most_rows(const struct figure *f, struct outline *const *outline)
{
    size_t most = 0;

    for (int i = 0; i < f->panels; i++) {
        const struct board *b = f->panel[i].board;

        if (b && (size_t)(b->rows * b->columns) > most)
            most = (size_t)(b->rows * b->columns);
        for (int s = 0; !b && s < f->panel[i].plot->count; s++)
            if (f->panel[i].plot->series[s].n > most)
                most = f->panel[i].plot->series[s].n;
        for (int k = 0; !b && k < f->panel[i].plot->bands; k++)
            if (outline[i][k].n > most)
                most = outline[i][k].n;
    }
    return most;
}

static void add_head(const struct figure_panel *p, int panel, struct text *row)
{
    static const char *const board[] = {"column", "row", "value", "level"};
    struct text name = {0};

    for (int i = 0; i < (p->board ? 3 + p->board->by_magnitude : 2 * p->plot->count); i++) {
        text_clear(&name);
        if (p->board)
            text_addf(&name, "p%d_%s", panel, board[i]);
        else
            text_addf(&name, "p%ds%d_%c", panel, i / 2, "xy"[i % 2]);
        sheet_add_text(row, text_str(&name));
    }
    for (int i = 0; !p->board && i < 2 * p->plot->bands; i++) {
        text_clear(&name);
        text_addf(&name, "p%db%d_%c", panel, i / 2, "xy"[i % 2]);
        sheet_add_text(row, text_str(&name));
    }
    text_free(&name);
}

static void add_values(const struct figure_panel *p, const struct outline *outline, size_t r,
                       struct text *row)
{
    const struct board *b = p->board;

    if (b && r < (size_t)(b->rows * b->columns)) {
        sheet_add_int(row, (int64_t)r % b->columns);
        sheet_add_int(row, (int64_t)r / b->columns);
        sheet_add_double(row, b->value[r]);
        if (b->by_magnitude)
            sheet_add_double(row, board_level(b, (int)r));
    } else if (b) {
        for (int i = 0; i < 3 + b->by_magnitude; i++)
            sheet_add_text(row, "nan");
    }
    for (int s = 0; !b && s < p->plot->count; s++) {
        const struct plot_series *series = &p->plot->series[s];

        /* nan behind a shorter series' end: pgfplots takes no empty field */
        sheet_add_double(row, r < series->n ? series->x[r] : NAN);
        sheet_add_double(row, r < series->n ? series->y[r] : NAN);
    }
    for (int i = 0; !b && i < p->plot->bands; i++) {
        sheet_add_double(row, r < outline[i].n ? outline[i].x[r] : NAN);
        sheet_add_double(row, r < outline[i].n ? outline[i].y[r] : NAN);
    }
}

static struct outline **make_outlines(const struct figure *f)
{
    struct outline **all = mem_new((size_t)f->panels + 1, sizeof *all);

    for (int i = 0; i < f->panels; i++) {
        const struct plot *p = f->panel[i].plot;
        int bands = f->panel[i].board ? 0 : p->bands;

        all[i] = mem_new((size_t)bands + 1, sizeof *all[i]);
        for (int k = 0; k < bands; k++)
            all[i][k] = outline_of(&p->band[k], p->log_y);
    }
    return all;
}

static void free_outlines(struct outline **all, const struct figure *f)
{
    for (int i = 0; i < f->panels; i++) {
        for (int k = 0; !f->panel[i].board && k < f->panel[i].plot->bands; k++) {
            free(all[i][k].x);
            free(all[i][k].y);
        }
        free(all[i]);
    }
    free(all);
}

bool figure_is_csv(const char *text)
{
    return !strncmp(text, "p0s0_x,", 7) || !strncmp(text, "p0_column,", 10);
}

void figure_csv(const struct figure *f, struct text *out)
{
    struct text row = {0};
    struct outline **outline = make_outlines(f);
    size_t rows = most_rows(f, outline);

    for (int i = 0; i < f->panels; i++)
        add_head(&f->panel[i], i, &row);
    sheet_end_row(&row);
    for (size_t r = 0; r < rows; r++) {
        for (int i = 0; i < f->panels; i++)
            add_values(&f->panel[i], outline[i], r, &row);
        sheet_end_row(&row);
    }
    text_add_n(out, text_str(&row), row.n);
    free_outlines(outline, f);
    text_free(&row);
}
