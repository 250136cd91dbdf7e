/* A figure as a part of a gnuplot script, which draws it from its CSV. */
#include "draw/figure.h"

#include "base/mem.h"
#include "draw/figure_int.h"
#include "draw/ink/ink.h"

#include <math.h>

#define TITLE 20 /* points that the title of a curve is high */

/* Between single quotes nothing but a quote means anything else. */
static void add_word(struct text *out, const char *word)
{
    struct text clean = {0};

    text_add_clean(&clean, word ? word : "");
    text_add(out, "'");
    for (const char *s = text_str(&clean); *s; s++)
        text_add_n(out, *s == '\'' ? "''" : s, *s == '\'' ? 2 : 1);
    text_add(out, "'");
    text_free(&clean);
}

static void add_setting(struct text *out, const char *name, const char *word)
{
    text_addf(out, "set %s ", name);
    add_word(out, word);
    text_add(out, " noenhanced\n");
}

static void widen(double *lo, double *hi, const double *y, size_t n, bool log)
{
    for (size_t i = 0; i < n; i++)
        if (isfinite(y[i]) && (!log || y[i] > 0)) {
            *lo = fmin(*lo, y[i]);
            *hi = fmax(*hi, y[i]);
        }
}

/* gnuplot's own range has no air above and below the curves. */
static void add_range(const struct plot *p, struct text *out)
{
    double lo = p->zero_y ? 0 : INFINITY, hi = -INFINITY, air;
    char from[TEXT_NUMBER_ROOM], to[TEXT_NUMBER_ROOM];

    for (int s = 0; s < p->count; s++)
        widen(&lo, &hi, p->series[s].y, p->series[s].n, p->log_y);
    for (int b = 0; b < p->bands; b++) {
        widen(&lo, &hi, p->band[b].lo, p->band[b].n, p->log_y);
        widen(&lo, &hi, p->band[b].hi, p->band[b].n, p->log_y);
    }
    text_addf(out, "%sset logscale y\n", p->log_y ? "" : "un");
    if (!(lo <= hi))
        return;
    air = 0.05 * (hi > lo ? hi - lo : fabs(hi) > 0 ? fabs(hi) : 1);
    text_double(from, p->log_y ? lo / 1.2 : p->zero_y ? 0 : lo - air);
    text_double(to, p->log_y ? hi * 1.2 : hi + air);
    text_addf(out, "set yrange [%s:%s]\n", from, to);
}

/* gnuplot counts columns from 1. */
static void add_columns(struct text *out, const char *csv, int column)
{
    add_word(out, csv);
    text_addf(out, " skip 1 using %d:%d", column + 1, column + 2);
}

static void add_curves(const struct figure *f, int panel, const char *csv, struct text *out)
{
    static const int marks[] = {7, 9, 5, 13}; /* the shapes of ink_mark */
    const struct plot *p = f->panel[panel].plot;
    bool mono = f->mono;

    add_range(p, out);
    text_add(out, "set xrange [0:*]\nset grid\nset key below left Left reverse vertical samplen 2 "
                  "noenhanced\nplot");
    for (int b = 0; b < p->bands; b++) {
        text_add(out, b ? ", \\\n  " : " \\\n  ");
        add_columns(out, csv, figure_column(f, panel, p->count + b));
        text_addf(out,
                  " with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor "
                  "rgb '#%06X' notitle",
                  ink_role(p->band[b].colour, mono));
    }
    for (int s = 0; s < p->count; s++) {
        const struct plot_series *series = &p->series[s];

        text_add(out, s || p->bands ? ", \\\n  " : " \\\n  ");
        add_columns(out, csv, figure_column(f, panel, s));
        text_addf(out,
                  " with linespoints linecolor rgb '#%06X' pointtype %d pointsize 0.5 dashtype %d "
                  "title ",
                  ink_role(series->colour, mono), marks[series->colour % 4],
                  series->dashed ? 2 : 1);
        add_word(out, series->label);
    }
    text_add(out, p->count || p->bands ? "\n" : " NaN notitle\n");
}

static void add_tics(struct text *out, const char *axis, const char *const *names, int n)
{
    text_addf(out, "set %stics noenhanced scale 0 (", axis);
    for (int i = 0; i < n; i++) {
        text_add(out, i ? ", " : "");
        add_word(out, names[i]);
        text_addf(out, " %d", i);
    }
    text_add(out, ")\n");
}

static void add_board(const struct board *b, int panel, const char *csv, struct text *out)
{
    struct board_scale scale;
    char from[TEXT_NUMBER_ROOM], to[TEXT_NUMBER_ROOM];
    bool any = board_find_scale(b, &scale);

    text_addf(out, "unset logscale\nunset key\nunset grid\nset xrange [-0.5:%d.5]\n",
              b->columns - 1);
    text_addf(out, "set yrange [%d.5:-0.5]\n", b->rows - 1);
    add_tics(out, "x", b->column_name, b->columns);
    add_tics(out, "y", b->row_name, b->rows);
    text_add(out, "set palette defined (");
    for (int i = 0; i < INK_SHADES; i++)
        text_addf(out, "%s%d '#%06X'", i ? ", " : "", i, ink_shade((double)i / (INK_SHADES - 1)));
    text_add(out, ")\nunset label\n");
    if (any && scale.hi > scale.lo)
        text_addf(out, "set cbrange [%s:%s]\n", text_double(from, scale.lo),
                  text_double(to, scale.hi));
    for (int i = 0; i < b->rows * b->columns; i++) {
        double shade = board_shade_in(b, i, &scale);

        text_add(out, "set label ");
        add_word(out, b->words[i]);
        text_addf(out, " at %d,%d center front noenhanced textcolor rgb '%s'\n", i % b->columns,
                  i / b->columns, ink_shade_is_dark(shade) ? "white" : "black");
    }
    text_add(out, "plot ");
    add_word(out, csv);
    text_addf(out,
              " using (column('p%d_column')):(column('p%d_row')):(column('p%d_column') - 0.49):"
              "(column('p%d_column') + 0.49):(column('p%d_row') - 0.49):(column('p%d_row') + "
              "0.49):(column('p%d_%s')) with boxxyerror fillstyle solid noborder linecolor "
              "palette\n",
              panel, panel, panel, panel, panel, panel, panel, figure_level_name(b));
}

/* Titles of curves stand below them. */
static int lines_of_titles(const struct figure *f)
{
    int most = 0;

    for (int i = 0; i < f->panels; i++)
        if (f->panel[i].plot && f->panel[i].plot->count > most)
            most = f->panel[i].plot->count;
    return most;
}

void figure_gnuplot(const struct figure *f, const char *csv, const char *svg, struct text *out)
{
    text_addf(
        out,
        "\nreset\nset encoding utf8\nset datafile separator ','\nset terminal svg size %d,%d\n",
        (int)lround(INK_PER_MM * f->width_mm),
        (int)lround(INK_PER_MM * f->height_mm) + TITLE * lines_of_titles(f));
    text_add(out, "set output ");
    add_word(out, svg);
    text_addf(out, "\nset multiplot layout 1,%d\n", f->panels);
    for (int i = 0; i < f->panels; i++) {
        const struct board *b = f->panel[i].board;
        const struct plot *p = f->panel[i].plot;

        struct text title = {0};

        figure_add_title(&f->panel[i], &title);
        add_setting(out, "title", text_str(&title));
        text_free(&title);
        add_setting(out, "xlabel", b ? b->column_label : p->x_label);
        add_setting(out, "ylabel", b ? b->row_label : p->y_label);
        if (b)
            add_board(b, i, csv, out);
        else
            add_curves(f, i, csv, out);
    }
    text_add(out, "unset multiplot\nunset output\n");
}
