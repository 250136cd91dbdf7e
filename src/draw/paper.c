#include "draw/paper.h"

#include "base/io.h"
#include "base/mem.h"
#include "draw/figure.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t)1 << 30)

static const char *text_of(const char *text)
{
    return text ? mem_text(text) : NULL;
}

static const double *values_of(const double *from, size_t n)
{
    double *to = mem_new(n + 1, sizeof *to);

    if (n)
        memcpy(to, from, n * sizeof *to);
    return to;
}

void paper_add_plot(struct paper *p, const struct plot *plot, const char *title)
{
    struct plot *to = &p->plot[p->plots++];
    struct plot_series *series = mem_new((size_t)plot->count + 1, sizeof *series);
    struct plot_band *band = mem_new((size_t)plot->bands + 1, sizeof *band);

    *to = *plot;
    to->title = text_of(title);
    to->note = text_of(plot->note);
    to->x_label = text_of(plot->x_label);
    to->y_label = text_of(plot->y_label);
    to->cursor = to->values = false;
    for (int i = 0; i < plot->count; i++) {
        series[i] = plot->series[i];
        series[i].measured = NULL;
        series[i].label = text_of(plot->series[i].label);
        series[i].x = values_of(plot->series[i].x, series[i].n);
        series[i].y = values_of(plot->series[i].y, series[i].n);
    }
    for (int i = 0; i < plot->bands; i++) {
        band[i] = plot->band[i];
        band[i].x = values_of(plot->band[i].x, band[i].n);
        band[i].lo = values_of(plot->band[i].lo, band[i].n);
        band[i].hi = values_of(plot->band[i].hi, band[i].n);
    }
    to->series = series;
    to->band = band;
}

static void free_plot(struct plot *p)
{
    for (int i = 0; i < p->count; i++) {
        free((char *)p->series[i].label);
        free((double *)p->series[i].x);
        free((double *)p->series[i].y);
    }
    for (int i = 0; i < p->bands; i++) {
        free((double *)p->band[i].x);
        free((double *)p->band[i].lo);
        free((double *)p->band[i].hi);
    }
    free((struct plot_series *)p->series);
    free((struct plot_band *)p->band);
    free((char *)p->title);
    free((char *)p->note);
    free((char *)p->x_label);
    free((char *)p->y_label);
}

static void write_plots(const struct paper *p, const char *form, struct text *out)
{
    struct figure_panel panel[PAPER_PLOTS] = {{0}};
    struct figure f = {.panel = panel, .panels = p->plots, .height_mm = 80};

    for (int i = 0; i < p->plots; i++)
        panel[i].plot = &p->plot[i];
    f.width_mm = p->plots == 2 ? 210 : 120;
    if (!strcmp(form, "csv")) {
        figure_csv(&f, out);
    } else if (!strcmp(form, "tex")) {
        text_addf(out, "%% its values: write this screen as %s too, beside this file\n",
                  p->csv_name);
        figure_tex(&f, p->csv_name, out);
    } else {
        (strcmp(form, "pdf") ? figure_svg : figure_pdf)(&f, out);
    }
}

static enum err_code add_file(const char *path, struct text *out, struct err *e)
{
    char *bytes;
    size_t n;

    TRY(io_read_file(path, MOST_BYTES, &bytes, &n, e));
    text_add_n(out, bytes, n);
    free(bytes);
    return ERR_OK;
}

enum err_code paper_write(const struct paper *p, const char *form, struct text *out, struct err *e)
{
    if (p->file)
        TRY(add_file(p->file, out, e));
    text_add_n(out, text_str(&p->text), p->text.n);
    if (p->table.columns)
        study_table_write(&p->table, form, &(struct study_style){0}, out);
    if (p->plots)
        write_plots(p, form, out);
    return ERR_OK;
}

void paper_free(struct paper *p)
{
    text_free(&p->text);
    study_table_free(&p->table);
    free(p->csv_name);
    free(p->file);
    for (int i = 0; i < p->plots; i++)
        free_plot(&p->plot[i]);
    memset(p, 0, sizeof *p);
}
