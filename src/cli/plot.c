/* cli/plot.c: chorus plot RUN... */
#include "cli/cli.h"

#include "base/io.h"
#include "base/mem.h"
#include "cli/curves.h"
#include "cli/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wish {
    struct curves_wish curves;
    const char *frame, *file, *log, *kind;
    bool ascii;
    int columns, rows;
};

static const struct cli_usage usage = {
    "plot RUN... [--frame 120x40] [-o FILE.svg]",
    "Curves of loss and test accuracy, as text on stdout or as an SVG file; several runs overlaid.",
    "  --metric  loss, acc, or a column of epochs.csv: test_acc, ece, lr, images_per_second, ...\n"
    "  --x       epoch, step, images, model-images, seconds, device-seconds\n"
    "Training values are drawn half an epoch earlier: they are means over the epoch.\n"};

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

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n > m && !strcmp(s + n - m, end);
}

static bool check(struct wish *w)
{
    if (w->log && strcmp(w->log, "y") != 0) {
        cli_refuse("--log %s: only the y axis can be logarithmic: --log y", w->log);
        return false;
    }
    w->curves.log_y = w->log != NULL;
    if (w->kind && strcmp(w->kind, "curve") != 0) {
        cli_refuse("plot --kind %s is not part of this version; there is curve", w->kind);
        return false;
    }
    if (w->file && !ends_with(w->file, ".svg")) {
        cli_refuse("plot -o %s: this version writes .svg alone", w->file);
        return false;
    }
    if (w->file && w->frame) {
        cli_refuse("plot takes --frame for text or -o for a file, not both");
        return false;
    }
    return parse_frame(w);
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
    least = curves_least_rows(w->curves.metric, w->columns);
    if (w->rows >= least)
        return true;
    cli_refuse("--frame %s has fewer than the %d rows that loss and accuracy need above each "
               "other; from %d columns on they stand beside each other, and --metric draws one",
               w->frame, least, CURVES_BESIDE);
    return false;
}

static int draw(struct wish *w, const struct record_entry *runs, size_t count)
{
    struct err e;
    struct curves curves;
    struct text out = {0};
    int code;

    if (!w->file && !set_frame(w))
        return err_exit_code(ERR_INPUT);
    if (curves_make(&curves, runs, count, &w->curves, &e) != ERR_OK)
        return cli_fail(&e);
    if (w->file) {
        curves_svg(&curves, &out);
        code = 0;
        if (io_replace_file(w->file, out.s, out.n, &e) != ERR_OK)
            code = cli_fail(&e);
        else
            code = cli_printf("%s\n", w->file);
    } else {
        curves_text(&curves, w->columns, w->rows, w->ascii || !cli_utf8(),
                    cli_colours(STDOUT_FILENO), &out);
        code = cli_print(&out);
    }
    text_free(&out);
    curves_free(&curves);
    return code;
}

int cli_plot(int argc, char **argv)
{
    struct wish w = {0};
    const struct cli_option options[] = {
        {"--frame", "CxR", "size of the text, such as 120x40", &w.frame},
        {"--ascii", NULL, "no characters beyond ASCII", &w.ascii},
        {"-o", "FILE.svg", "write an SVG file instead", &w.file},
        {"--metric", "NAME", "loss, acc or a column of epochs.csv (loss and acc)",
         &w.curves.metric},
        {"--x", "NAME", "the x axis (epoch)", &w.curves.x},
        {"--log", "y", "logarithmic y axis", &w.log},
        {"--kind", "curve", NULL, &w.kind},
        {"--smooth", "N", NULL, NULL},
        {"--over", "KEY", NULL, NULL},
        {"--band", "sd", NULL, NULL},
        {"--size", "WxHmm", NULL, NULL},
        {"--mono", NULL, NULL, NULL},
        {NULL, NULL, NULL, NULL},
    };
    struct record_entry *runs;
    size_t count = 0;
    struct err e;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc < 2)
        return cli_refuse("plot needs a RUN, such as @ for the newest; `chorus ls` lists them");
    if (!check(&w))
        return err_exit_code(ERR_INPUT);
    runs = mem_new((size_t)argc, sizeof *runs);
    code = 0;
    for (int i = 1; i < argc && !code; i++) {
        if (cli_find_run(argv[i], &runs[count], &e) != ERR_OK)
            code = cli_fail(&e);
        else
            count++;
    }
    if (!code)
        code = draw(&w, runs, count);
    for (size_t i = 0; i < count; i++)
        record_free_entry(&runs[i]);
    free(runs);
    return code;
}
