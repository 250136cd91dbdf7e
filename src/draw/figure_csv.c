/* draw/figure_csv.c: the values of a figure as CSV: two columns for each curve and for each band, whose
 * outline they are; a board's are pP_column, pP_row, pP_value and, by magnitude, pP_level. */
#include "base/mem.h"
#include "base/sheet.h"
#include "draw/figure_int.h"
#include "study/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* "loss: test"; of names that come again the second is "loss: test (2)". */
static void add_series_name(const struct figure_panel *p, int series, struct text *out)
{
    const char *label = p->plot->series[series].label;
    int before = 0;

    for (int i = 0; label && i < series; i++)
        before += p->plot->series[i].label && !strcmp(p->plot->series[i].label, label);
    figure_add_title(p, out);
    if (label)
        text_addf(out, ": %s", label);
    if (before || !label)
        text_addf(out, " (%d)", label ? before + 1 : series + 1);
}

static void add_band_name(const struct figure_panel *p, int band, struct text *out)
{
    int series = 0;

    while (series < p->plot->count && p->plot->series[series].colour != p->plot->band[band].colour)
        series++;
    text_add(out, "band of ");
    if (series < p->plot->count)
        add_series_name(p, series, out);
    else
        text_addf(out, "%d", band + 1);
}

/* A curve's name is that of the legend, and so is its x: "epoch of loss: test". */
static void add_pair(const struct figure_panel *p, const char *name, struct text *row)
{
    const char *x = p->plot->x_label;
    struct text of = {0};

    text_addf(&of, "%s of %s", x && *x ? x : "x", name);
    study_add_field(row, text_str(&of));
    study_add_field(row, name);
    text_free(&of);
}

static void add_head(const struct figure_panel *p, int panel, struct text *row)
{
    static const char *const board[] = {"column", "row", "value", "level"};
    struct text name = {0};

    for (int i = 0; p->board && i < 3 + p->board->by_magnitude; i++) {
        text_clear(&name);
        text_addf(&name, "p%d_%s", panel, board[i]);
        sheet_add_text(row, text_str(&name));
    }
    for (int i = 0; !p->board && i < p->plot->count + p->plot->bands; i++) {
        text_clear(&name);
        if (i < p->plot->count)
            add_series_name(p, i, &name);
        else
            add_band_name(p, i - p->plot->count, &name);
        add_pair(p, text_str(&name), row);
    }
    text_free(&name);
}

int figure_column(const struct figure *f, int panel, int pair)
{
    int column = 2 * pair;

    for (int i = 0; i < panel; i++) {
        const struct board *b = f->panel[i].board;

        column += b ? 3 + b->by_magnitude : 2 * (f->panel[i].plot->count + f->panel[i].plot->bands);
    }
    return column;
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
