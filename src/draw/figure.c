#include "draw/figure.h"

#include "base/mem.h"
#include "draw/figure_int.h"
#include "draw/ink/ink.h"
#include "draw/ink/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

    for (int i = 0; i < f->panels; i++) {
        text_add(&title, i ? "; " : "");
        figure_add_title(&f->panel[i], &title);
    }
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
    struct board_scale scale;

    if (board_find_scale(b, &scale) && scale.hi > scale.lo)
        text_addf(out, ", point meta min=%s, point meta max=%s", text_double(least, scale.lo),
                  text_double(most, scale.hi));
}

static void tex_axis(const struct figure *f, const struct figure_panel *p, int number,
                     struct text *out)
{
    const struct board *b = p->board;
    struct text title = {0};

    figure_add_title(p, &title);
    text_addf(out,
              "\\begin{axis}[\n  width=%.1fmm, height=%.1fmm, scale only axis, at={(%.1fmm,0)},\n"
              "  title={",
              f->width_mm / f->panels - (b ? 40 : 22), f->height_mm - 26,
              number * f->width_mm / f->panels);
    text_add_tex(out, text_str(&title));
    text_free(&title);
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
            "ytick={0,...,%d}, colorbar, colorbar style={width=3mm, font=\\footnotesize%s}",
            b->columns - 1, b->rows - 1,
            b->by_magnitude ? ", yticklabel={$10^{\\pgfmathprintnumber{\\tick}}$}" : "");
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

/* By the place of its columns: pgfplots does not know quotes, which names may have. */
static void tex_table(int column, const char *csv, struct text *out)
{
    text_addf(out,
              " table[col sep=comma, header=false, skip first n=1, x index=%d, y index=%d] {%s}",
              column, column + 1, csv);
}

static void tex_curves(const struct figure *f, int panel, const char *csv, struct text *out)
{
    const struct plot *p = f->panel[panel].plot;
    bool mono = f->mono;
    char colour[32] = "black";

    for (int b = 0; b < p->bands; b++) {
        if (!mono)
            snprintf(colour, sizeof colour, "chorus%d", p->band[b].colour % INK_ROLES);
        text_addf(out, "\\addplot[draw=none, fill=%s, fill opacity=0.18, forget plot]", colour);
        tex_table(figure_column(f, panel, p->count + b), csv, out);
        text_add(out, ";\n");
    }
    for (int s = 0; s < p->count; s++) {
        tex_role(&p->series[s], mono, out);
        tex_table(figure_column(f, panel, s), csv, out);
        text_add(out, ";\n\\addlegendentry{");
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
    struct board_scale scale;

    board_find_scale(b, &scale);
    text_addf(out,
              "\\addplot[matrix plot*, mesh/cols=%d, point meta=explicit] table[col sep=comma, "
              "x=p%d_column, y=p%d_row, meta=p%d_%s] {%s};\n",
              b->columns, panel, panel, panel, figure_level_name(b), csv);
    for (int i = 0; i < b->rows * b->columns; i++) {
        double shade = board_shade_in(b, i, &scale);

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
            tex_curves(f, i, csv_name, out);
        text_add(out, "\\end{axis}\n");
    }
    text_add(out, "\\end{tikzpicture}\n");
}
