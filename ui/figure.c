#include "ui/figure.h"

#include "base/sheet.h"
#include "ui/ink.h"

#include <math.h>
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

/* Names in the CSV: series s of panel p is pPsS_x and pPsS_y; a board's are pP_column, pP_row and
 * pP_value. */
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
        text_addf(out,
                  ",\n  unbounded coords=jump, grid=major, legend pos=outer north east, "
                  "legend cell align=left%s%s",
                  p->plot->log_y ? ", ymode=log" : "",
                  f->mono ? ", cycle list name=linestyles*" : "");
    } else {
        text_addf(out,
                  ",\n  colormap/viridis, enlargelimits=false, y dir=reverse, xtick={0,...,%d}, "
                  "ytick={0,...,%d}",
                  b->columns - 1, b->rows - 1);
        add_names(out, "xticklabels", b->column_name, b->columns);
        add_names(out, "yticklabels", b->row_name, b->rows);
    }
    text_add(out, "]\n");
}

static void tex_curves(const struct plot *p, int panel, const char *csv, struct text *out)
{
    for (int s = 0; s < p->count; s++) {
        text_addf(out,
                  "\\addplot+[mark size=1.2pt%s] table[col sep=comma, x=p%ds%d_x, y=p%ds%d_y] "
                  "{%s};\n\\addlegendentry{",
                  p->series[s].dashed ? ", dashed" : "", panel, s, panel, s, csv);
        text_add_tex(out, p->series[s].label);
        text_add(out, "}\n");
    }
}

static void tex_board(const struct board *b, int panel, const char *csv, struct text *out)
{
    double lo, hi;

    board_range(b, &lo, &hi);
    text_addf(out,
              "\\addplot[matrix plot*, mesh/cols=%d, point meta=explicit] table[col sep=comma, "
              "x=p%d_column, y=p%d_row, meta=p%d_value] {%s};\n",
              b->columns, panel, panel, panel, csv);
    for (int i = 0; i < b->rows * b->columns; i++) {
        double shade = board_shade_in(b, i, lo, hi);

        text_addf(out, "\\node[font=\\tiny, text=%s] at (axis cs:%d,%d) {",
                  shade > 0.55 || shade < 0 ? "black" : "white", i % b->columns, i / b->columns);
        text_add_tex(out, b->words[i]);
        text_add(out, "};\n");
    }
}

void figure_tex(const struct figure *f, const char *csv_name, struct text *out)
{
    text_add(out, "% \\usepackage{pgfplots} \\pgfplotsset{compat=1.17}\n\\begin{tikzpicture}\n");
    for (int i = 0; i < f->panels; i++) {
        tex_axis(f, &f->panel[i], i, out);
        if (f->panel[i].board)
            tex_board(f->panel[i].board, i, csv_name, out);
        else
            tex_curves(f->panel[i].plot, i, csv_name, out);
        text_add(out, "\\end{axis}\n");
    }
    text_add(out, "\\end{tikzpicture}\n");
}

/* ---- the values themselves ---- */

static size_t most_rows(const struct figure *f)
{
    size_t most = 0;

    for (int i = 0; i < f->panels; i++) {
        const struct board *b = f->panel[i].board;

        if (b && (size_t)(b->rows * b->columns) > most)
            most = (size_t)(b->rows * b->columns);
        for (int s = 0; !b && s < f->panel[i].plot->count; s++)
            if (f->panel[i].plot->series[s].n > most)
                most = f->panel[i].plot->series[s].n;
    }
    return most;
}

static void add_head(const struct figure_panel *p, int panel, struct text *row)
{
    static const char *const board[] = {"column", "row", "value"};
    struct text name = {0};

    for (int i = 0; i < (p->board ? 3 : 2 * p->plot->count); i++) {
        text_clear(&name);
        if (p->board)
            text_addf(&name, "p%d_%s", panel, board[i]);
        else
            text_addf(&name, "p%ds%d_%c", panel, i / 2, "xy"[i % 2]);
        sheet_add_text(row, text_str(&name));
    }
    text_free(&name);
}

static void add_values(const struct figure_panel *p, size_t r, struct text *row)
{
    const struct board *b = p->board;

    if (b && r < (size_t)(b->rows * b->columns)) {
        sheet_add_int(row, (int64_t)r % b->columns);
        sheet_add_int(row, (int64_t)r / b->columns);
        sheet_add_double(row, b->value[r]);
    } else if (b) {
        for (int i = 0; i < 3; i++)
            sheet_add_text(row, "nan");
    }
    for (int s = 0; !b && s < p->plot->count; s++) {
        const struct plot_series *series = &p->plot->series[s];

        /* nan behind a shorter series' end: pgfplots takes no empty field */
        sheet_add_double(row, r < series->n ? series->x[r] : NAN);
        sheet_add_double(row, r < series->n ? series->y[r] : NAN);
    }
}

void figure_csv(const struct figure *f, struct text *out)
{
    struct text row = {0};
    size_t rows = most_rows(f);

    for (int i = 0; i < f->panels; i++)
        add_head(&f->panel[i], i, &row);
    sheet_end_row(&row);
    for (size_t r = 0; r < rows; r++) {
        for (int i = 0; i < f->panels; i++)
            add_values(&f->panel[i], r, &row);
        sheet_end_row(&row);
    }
    text_add_n(out, text_str(&row), row.n);
    text_free(&row);
}
