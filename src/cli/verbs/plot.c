/* cli/verbs/plot.c: chorus plot RUN... */
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/runs.h"
#include "cli/out/print.h"
#include "cli/out/report/figures.h"
#include "cli/out/results.h"
#include "cli/verbs.h"
#include "draw/ink/words.h"
#include "draw/plot/curves.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { KIND_CURVE, KIND_SCALING, KIND_BOARD, KIND_PREFIX, KIND_CONFUSION, KINDS };
static const char *const kinds[] = {"curve", "scaling", "board", "prefix", "confusion"};

struct wish {
    struct curves_wish curves;
    const char *frame, *level_name, *file, *log, *kind_name, *size, *smooth, *rows_key,
        *columns_key;
    enum kind kind;
    bool ascii, mono;
    enum plot_level level;
    int columns, rows;
    double width_mm, height_mm;
    char **word; /* (words): which runs */
    int words;
};

static const struct cli_usage usage = {
    "plot RUN... [--kind board] [--frame 120x40] [-o FILE.svg, .pdf or .tex]",
    "Figures of runs, as text on stdout or as SVG, PDF or pgfplots (FILE.tex with its FILE.csv).",
    "  --kind    curve      loss and accuracy; several runs overlaid\n"
    "            scaling    images per second and shares of time by devices\n"
    "            board      a metric over two keys, such as lr and batch, as coloured cells;\n"
    "                       +- over seeds alone\n"
    "            prefix     accuracy of k members of an ensemble, with the worst and best sets\n"
    "            confusion  labels against answers\n"
    "  --metric  loss, acc, or a column of epochs.csv: test_acc, ece, lr, images_per_second, ...\n"
    "  --x       epoch, step, images, model-images, seconds, device-seconds\n"
    "  --over    runs that differ in this key alone become one curve, their mean; --band sd or\n"
    "            range shows how far they lie apart\n"
    "Training values are drawn half an epoch earlier: they are means over the epoch.\n"};

/* FILE.csv of FILE.tex. The caller frees it. */
static char *csv_of(const char *tex)
{
    return mem_textf("%.*s.csv", (int)strlen(tex) - 4, tex);
}

/* Whether FILE.csv of FILE.tex may be written. */
static bool check_values(const char *file)
{
    char *csv;
    struct err e;
    bool may;

    if (!file || !text_has_ending_any_case(file, ".tex"))
        return true;
    csv = csv_of(file);
    may = cli_check_written("plot", "-o", csv, &e) == ERR_OK;
    if (!may) {
        err_context(&e, "%s keeps its values in %s", file, csv);
        cli_fail(&e);
    }
    free(csv);
    return may;
}

static bool parse_frame(struct wish *w)
{
    int end = 0;

    if (!w->frame)
        return true;
    if (sscanf(w->frame, "%4dx%4d%n", &w->columns, &w->rows, &end) == 2 && !w->frame[end] &&
        w->columns >= PLOT_LEAST_COLUMNS && w->columns <= 1000 && w->rows >= PLOT_LEAST_ROWS &&
        w->rows <= 1000)
        return true;
    cli_refuse("--frame %s is not COLUMNSxROWS from %dx%d to 1000x1000, such as 120x40", w->frame,
               PLOT_LEAST_COLUMNS, PLOT_LEAST_ROWS);
    return false;
}

/* A locale without UTF-8 has ASCII alone. */
static bool parse_level(struct wish *w)
{
    static const char *const names[] = {"braille", "ascii", "block"};
    int level = 0;

    while (w->level_name && level < 3 && strcmp(w->level_name, names[level]) != 0)
        level++;
    if (level == 3) {
        cli_refuse("--level %s is not braille, block or ascii", w->level_name);
        return false;
    }
    w->level = w->ascii || !cli_utf8() ? PLOT_ASCII : (enum plot_level)level;
    return true;
}

static bool parse_size(struct wish *w)
{
    int end = 0;

    if (!w->size)
        return true;
    if (sscanf(w->size, "%5lfx%5lf%n", &w->width_mm, &w->height_mm, &end) == 2 &&
        (!w->size[end] || !strcmp(w->size + end, "mm")) && w->width_mm >= 20 &&
        w->width_mm <= 1000 && w->height_mm >= 20 && w->height_mm <= 1000)
        return true;
    cli_refuse("--size %s is not WIDTHxHEIGHTmm from 20x20mm to 1000x1000mm, such as 84x60mm",
               w->size);
    return false;
}

static bool check_kind(struct wish *w)
{
    int kind = 0;

    while (w->kind_name && kind < KINDS && strcmp(w->kind_name, kinds[kind]) != 0)
        kind++;
    if (kind == KINDS) {
        cli_refuse("--kind %s is not curve, scaling, board, prefix or confusion", w->kind_name);
        return false;
    }
    w->kind = (enum kind)kind;
    if (kind != KIND_CURVE &&
        (w->log || w->curves.x || w->smooth || w->curves.over || w->curves.band)) {
        cli_refuse("--x, --log, --smooth, --over and --band belong to --kind curve, not to %s",
                   kinds[kind]);
        return false;
    }
    if (kind != KIND_CURVE && kind != KIND_BOARD && w->curves.metric) {
        cli_refuse("--metric belongs to --kind curve and board, not to %s", kinds[kind]);
        return false;
    }
    if (kind != KIND_BOARD && (w->rows_key || w->columns_key)) {
        cli_refuse("--down and --across belong to --kind board");
        return false;
    }
    if (w->rows_key && w->columns_key && !strcmp(w->rows_key, w->columns_key)) {
        cli_refuse("--down and --across are both %s: a board needs two keys", w->rows_key);
        return false;
    }
    return true;
}

static bool check(struct wish *w)
{
    const char *band = w->curves.band;

    if (w->log && strcmp(w->log, "y") != 0) {
        cli_refuse("--log %s: only the y axis can be logarithmic: --log y", w->log);
        return false;
    }
    w->curves.log_y = w->log != NULL;
    if (!check_kind(w) || !cli_number("--smooth", w->smooth, 1, 1000000, &w->curves.smooth))
        return false;
    if (w->curves.over && spec_key_find(w->curves.over) < 0) {
        cli_refuse("--over %s is no key of an experiment; most often it is --over seed",
                   w->curves.over);
        return false;
    }
    if (band && strcmp(band, "sd") != 0 && strcmp(band, "range") != 0) {
        cli_refuse("--band %s is neither sd nor range", band);
        return false;
    }
    if (band && !w->curves.over) {
        cli_refuse("--band needs --over KEY, whose runs it is a spread of");
        return false;
    }
    if (w->file && !text_has_ending_any_case(w->file, ".svg") &&
        !text_has_ending_any_case(w->file, ".pdf") && !text_has_ending_any_case(w->file, ".tex")) {
        cli_refuse("plot -o %s: a figure's name ends in .svg, .pdf or .tex", w->file);
        return false;
    }
    if (w->file && w->frame) {
        cli_refuse("plot takes --frame for text or -o for a file, not both");
        return false;
    }
    if (!w->file && (w->size || w->mono)) {
        cli_refuse("--size and --mono are for files: plot -o FILE.svg, .pdf or .tex");
        return false;
    }
    return check_values(w->file) && parse_size(w) && parse_frame(w) && parse_level(w);
}

/* The frame that was asked for, or that of the terminal; false: the curves do not fit into it. */
static bool set_frame(struct wish *w)
{
    int least;

    if (!w->frame) {
        w->columns = cli_columns(STDOUT_FILENO);
        w->rows = cli_terminal(STDOUT_FILENO) ? live_rows(STDOUT_FILENO) - 2 : 24;
        w->columns = w->columns < PLOT_LEAST_COLUMNS ? PLOT_LEAST_COLUMNS
                     : w->columns > 160              ? 160
                                                     : w->columns;
        w->rows = w->rows < 10 ? 10 : w->rows > 40 ? 40 : w->rows;
    }
    least = curves_least_rows(w->kind == KIND_CURVE ? w->curves.metric : "", w->columns);
    if (w->rows >= least)
        return true;
    cli_refuse("--frame %s has fewer than the %d rows that loss and accuracy need above each "
               "other; from %d columns on they stand beside each other, and --metric draws one",
               w->frame, least, CURVES_BESIDE);
    return false;
}

static enum err_code write_tex(const struct wish *w, const struct figure *f, struct err *e)
{
    struct text tex = {0}, values = {0};
    char *csv = csv_of(w->file), *slash = strrchr(csv, '/');
    enum err_code code;

    figure_tex(f, slash ? slash + 1 : csv, &tex);
    figure_csv(f, &values);
    code = io_replace_file(csv, values.s, values.n, e);
    if (code == ERR_OK)
        code = io_replace_file(w->file, tex.s, tex.n, e);
    text_free(&tex);
    text_free(&values);
    free(csv);
    return code;
}

static int write_figure(const struct wish *w, struct figure f)
{
    struct text out = {0};
    enum err_code code;
    struct err e;

    f.width_mm = w->width_mm > 0 ? w->width_mm : f.panels == 2 ? 210 : 120;
    f.height_mm = w->width_mm > 0 ? w->height_mm : 80;
    f.mono = w->mono;
    if (text_has_ending_any_case(w->file, ".tex")) {
        code = write_tex(w, &f, &e);
    } else {
        (text_has_ending_any_case(w->file, ".pdf") ? figure_pdf : figure_svg)(&f, &out);
        code = io_replace_file(w->file, out.s, out.n, &e);
    }
    text_free(&out);
    if (code != ERR_OK)
        return cli_fail(&e);
    return cli_printf("%s\n", w->file);
}

static bool any_point(const struct curves *c)
{
    for (size_t i = 0; i < c->lines; i++)
        for (size_t j = 0; j < c->line[i].n; j++)
            if (isfinite(c->line[i].y[j]))
                return true;
    return false;
}

/* Of a run that works there may be some soon. */
static void say_empty(const struct study_run *runs, size_t count)
{
    const struct record_run *run = &runs[0].entry->run;

    if (count == 1 && run->state == WIRE_DIVERGED && !run->epochs_done)
        cli_talk("%s diverged in its first epoch, which left no point to draw: %s", run->run,
                 run->reason);
    else
        cli_talk("nothing is drawn: no epoch of %s has a value of it yet",
                 count == 1 ? run->run : "these runs");
}

static int draw_curves(struct wish *w, const struct study_run *runs, size_t count)
{
    struct err e;
    struct curves c;
    struct text out = {0};
    int code;

    if (!w->file && !set_frame(w))
        return err_exit_code(ERR_INPUT);
    if (curves_of(&c, runs, count, &w->curves, &e) != ERR_OK)
        return cli_fail(&e);
    if (w->file) {
        const struct figure_panel panel[2] = {{.plot = &c.panel[0]}, {.plot = &c.panel[1]}};

        code = write_figure(w, (struct figure){.panel = panel, .panels = c.panels});
    } else {
        curves_text(&c, w->columns, w->rows, w->level, cli_colours(STDOUT_FILENO), &out);
        code = cli_print_drawn(&out);
    }
    if (!any_point(&c))
        say_empty(runs, count);
    text_clear(&out);
    curves_add_short(&c, NULL, &out);
    if (out.n)
        cli_talk("%.*s", (int)out.n - 1, text_str(&out));
    text_free(&out);
    curves_free(&c);
    return code;
}

static enum err_code make(struct figures *f, const struct wish *w, const struct study_run *runs,
                          size_t count, struct err *e)
{
    switch (w->kind) {
    case KIND_SCALING:
        return figures_scaling(f, runs, count, e);
    case KIND_BOARD:
        return figures_board(f, runs, count, w->curves.metric, w->rows_key, w->columns_key, e);
    case KIND_PREFIX:
        return figures_prefix(f, runs, count, e);
    default:
        break;
    }
    if (count != 1)
        return err_set(e, ERR_INPUT, "--kind confusion takes one run, not %s", TEXT_COUNT(count));
    return figures_confusion(f, runs, e);
}

/* Panels above each other: each keeps its width. */
static void add_panels(struct figures *f, const struct wish *w, struct text *out)
{
    for (int i = 0; i < f->panels; i++) {
        struct plot *p = &f->plot[i];

        if (f->panel[i].board) {
            board_text(f->panel[i].board, w->columns, cli_colours(STDOUT_FILENO), out);
            continue;
        }
        p->columns = w->columns;
        p->rows = w->rows / f->panels;
        p->level = w->level;
        plot_text(p, cli_colours(STDOUT_FILENO), out);
    }
    text_add(out, text_str(&f->note));
}

/* Boards and notes have no levels. */
static int print_text(const struct wish *w, const struct text *t)
{
    struct text plain = {0};
    int code;

    if (w->level == PLOT_ASCII)
        words_add_plain(&plain, text_str(t));
    code = cli_print_drawn(w->level == PLOT_ASCII ? &plain : t);
    text_free(&plain);
    return code;
}

/* "where devices=1, batch=64": by what the words on the command line chose the runs of a board. */
static void add_where(const struct wish *w, struct text *out)
{
    for (int i = 0; i < w->words; i++)
        if (record_is_filter(w->word[i]))
            text_addf(out, "%s%s", out->n ? ", " : "where ", w->word[i]);
}

static int draw_figure(struct wish *w, const struct study_run *runs, size_t count)
{
    struct figures f;
    struct text out = {0}, where = {0};
    struct err e;
    int code;

    if (!w->file && !set_frame(w))
        return err_exit_code(ERR_INPUT);
    if (make(&f, w, runs, count, &e) != ERR_OK)
        return cli_fail(&e);
    add_where(w, &where);
    f.board.note = text_str(&where);
    if (w->file) {
        code = write_figure(w, (struct figure){.panel = f.panel, .panels = f.panels});
        if (f.note.n)
            cli_talk("%.*s", (int)f.note.n - 1, text_str(&f.note));
    } else {
        add_panels(&f, w, &out);
        code = print_text(w, &out);
    }
    text_free(&out);
    text_free(&where);
    figures_free(&f);
    return code;
}

int cli_plot(int argc, char **argv)
{
    struct wish w = {0};
    const struct cli_option options[] = {
        {"--frame", "CxR", "size of the text, such as 120x40", &w.frame},
        {"--level", "WORD", "of the text's curves: braille, block, ascii (braille)", &w.level_name},
        {"--ascii", NULL, "no characters beyond ASCII: --level ascii", &w.ascii},
        {"-o", cli_written, "write FILE.svg, FILE.pdf or FILE.tex instead", &w.file},
        {"--kind", "KIND", "curve, scaling, board, prefix, confusion (curve)", &w.kind_name},
        {"--metric", "NAME", "loss, acc or a column of epochs.csv (loss and acc)",
         &w.curves.metric},
        {"--x", "NAME", "the x axis (epoch)", &w.curves.x},
        {"--log", "y", "logarithmic y axis", &w.log},
        {"--smooth", "N", "an exponential mean over about N points", &w.smooth},
        {"--over", "KEY", "the mean over runs that differ in KEY alone (seed)", &w.curves.over},
        {"--band", "WHAT", "with --over: sd, or range (least to most)", &w.curves.band},
        {"--down", "KEY", "the rows of a board", &w.rows_key},
        {"--across", "KEY", "its columns", &w.columns_key},
        {"--size", "WxHmm", "of a file's figure, such as 84x60mm", &w.size},
        {"--mono", NULL, "black alone", &w.mono},
        {NULL, NULL, NULL, NULL},
    };
    struct record_entry *entry;
    struct study_run *runs;
    size_t count;
    struct err e;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc < 2)
        return cli_refuse("plot needs a RUN, such as @ for the newest; `chorus ls` lists them");
    if (!check(&w))
        return err_exit_code(ERR_INPUT);
    w.word = argv + 1;
    w.words = argc - 1;
    if (cli_find_runs(argc - 1, argv + 1, &entry, &count, &e) != ERR_OK)
        return cli_fail(&e);
    if (results_open_runs(entry, &count, &runs, &e) != ERR_OK)
        code = cli_fail(&e);
    else
        code = (w.kind == KIND_CURVE ? draw_curves : draw_figure)(&w, runs, count);
    study_close(runs, count);
    record_free_list(entry, count);
    return code;
}
