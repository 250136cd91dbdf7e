/* cli/report.c: chorus report RUN... -o DIR: one folder that goes into a paper. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "cli/export.h"
#include "cli/report.h"
#include "cli/results.h"
#include "cli/version.h"
#include "study/compare.h"
#include "study/runs.h"
#include "ui/curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_usage usage = {
    "report RUN... -o DIR [--title TEXT]",
    "A folder for a report: a page that needs nothing else, figures, tables, the CSVs, a manifest.",
    "  index.html     the page: light and dark, prints well; opens without a network\n"
    "  tables/        each as CSV, Markdown and LaTeX (booktabs; a wide one also takes graphicx, and\n"
    "                 says below it what is the same in all rows)\n"
    "  figures/       each as SVG, PDF and pgfplots with its CSV\n"
    "  epochs.csv     every epoch of every run, with its settings\n"
    "  plot.gp        a gnuplot script that draws loss and accuracy again from epochs.csv\n"
    "  networks/      what was trained, as model = networks/NAME.net in the manifest's settings\n"
    "  manifest.txt   the command, versions, machine, settings and seeds, a checksum of each file\n"};

#define BROAD 9 /* columns: a table of more is printed across the paper */

/* ---- files ---- */

enum err_code report_write(struct report *r, const char *name, const struct text *bytes,
                           struct err *e)
{
    char *path = io_path(r->folder, name), sum[65];
    enum err_code code = io_replace_file(path, text_str(bytes), bytes->n, e);
    struct hash_sha256 h;
    uint8_t raw[32];

    hash_sha256_start(&h);
    hash_sha256_add(&h, text_str(bytes), bytes->n);
    hash_sha256_end(&h, raw);
    hash_hex(sum, raw, sizeof raw);
    text_addf(&r->files, "%s  %s\n", sum, name);
    free(path);
    return code;
}

static enum err_code make_folder(const struct report *r, const char *name, struct err *e)
{
    char *path = io_path(r->folder, name);
    enum err_code code = io_make_folders(path, e);

    free(path);
    return code;
}

enum err_code report_add_table(struct report *r, const char *name, const char *title,
                               const struct study_table *t, struct err *e)
{
    static const struct {
        const char *end;
        void (*form)(const struct study_table *, const struct study_style *, struct text *);
    } forms[] = {{"md", study_table_md}, {"tex", study_table_tex}};
    const struct study_style style = {.narrow = true};
    struct text out = {0};
    char *file = mem_textf("tables/%s.csv", name);
    enum err_code code;

    study_table_csv(t, &out);
    code = report_write(r, file, &out, e);
    free(file);
    for (size_t i = 0; i < MEM_COUNT(forms) && code == ERR_OK; i++) {
        text_clear(&out);
        forms[i].form(t, &style, &out);
        file = mem_textf("tables/%s.%s", name, forms[i].end);
        code = report_write(r, file, &out, e);
        free(file);
    }
    text_free(&out);
    text_addf(&r->page, "<section id=\"%s\"%s><h2>%s</h2>\n<div class=\"wide\">", name,
              t->columns > BROAD ? " class=\"broad\"" : "", title);
    study_table_html(t, NULL, &r->page);
    text_add(&r->page, "</div></section>\n");
    return code;
}

/* Lines as one paragraph. */
static void add_lines(struct text *out, const char *lines)
{
    char *copy = mem_text(lines), *rest = copy, *line;

    while ((line = strsep(&rest, "\n"))) {
        text_add_html(out, line);
        text_add(out, *line && rest && *rest ? " " : "");
    }
    free(copy);
}

enum err_code report_add_figure(struct report *r, const char *name, const char *title,
                                const struct figure_panel *panel, int panels, double height_mm,
                                const char *note, struct err *e)
{
    struct figure f = {panel, panels, panels == 2 ? 180 : 120, height_mm, false};
    struct text out = {0};
    char *svg = mem_textf("figures/%s.svg", name), *pdf = mem_textf("figures/%s.pdf", name);
    char *tex = mem_textf("figures/%s.tex", name), *csv = mem_textf("figures/%s.csv", name);
    char *base = mem_textf("%s.csv", name);
    enum err_code code;

    figure_svg(&f, &out);
    code = report_write(r, svg, &out, e);
    text_addf(&r->page, "<section id=\"%s\"><h2>%s</h2>\n<figure>", name, title);
    text_add(&r->page, text_str(&out));
    if (*note) {
        text_add(&r->page, "<figcaption>");
        add_lines(&r->page, note);
        text_add(&r->page, "</figcaption>");
    }
    text_add(&r->page, "</figure></section>\n");
    text_clear(&out);
    figure_pdf(&f, &out);
    if (code == ERR_OK)
        code = report_write(r, pdf, &out, e);
    text_clear(&out);
    figure_tex(&f, base, &out);
    if (code == ERR_OK)
        code = report_write(r, tex, &out, e);
    text_clear(&out);
    figure_csv(&f, &out);
    if (code == ERR_OK)
        code = report_write(r, csv, &out, e);
    text_free(&out);
    free(svg);
    free(pdf);
    free(tex);
    free(csv);
    free(base);
    return code;
}

/* ---- the page ---- */

static const char page_head[] =
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    ":root { color-scheme: light dark; --ground: #fff; --ink: #1c1c1c; --soft: #666; --rule: #ddd }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  :root { --ground: #151515; --ink: #ddd; --soft: #999; --rule: #333 }\n"
    "}\n"
    "body { background: var(--ground); color: var(--ink); margin: 2.5rem auto; max-width: 60rem;\n"
    "       padding: 0 1rem; font: 15px/1.5 system-ui, 'DejaVu Sans', sans-serif }\n"
    "h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2.2rem }\n"
    "table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums }\n"
    "th, td { padding: .2rem .6rem; text-align: left; white-space: nowrap }\n"
    "th { border-bottom: 1px solid var(--ink); font-weight: 600 } td { border-bottom: 1px solid "
    "var(--rule) }\n"
    ".n { text-align: right } .wide { overflow-x: auto }\n"
    ".note, figcaption, footer { color: var(--soft); font-size: .85rem; margin: .3rem 0 }\n"
    "figure { margin: 0 } figure svg { max-width: 100%; height: auto }\n"
    "@media print {\n"
    "  @page { size: A4; margin: 15mm } @page wide { size: A4 landscape }\n"
    "  body { margin: 0; padding: 0; max-width: none; font-size: 10pt }\n"
    "  h2 { break-after: avoid } p.note { break-before: avoid } figure, tr { break-inside: avoid }\n"
    "  section.broad { page: wide }\n"
    "  .wide { overflow-x: visible } .broad table { font-size: 6.5pt }\n"
    "  .broad th, .broad td { padding: .1rem .2rem; white-space: normal }\n"
    "  .broad td:first-child { white-space: nowrap }\n"
    "}\n"
    "</style>\n";

static enum err_code write_page(struct report *r, struct err *e)
{
    struct text out = {0};
    char now[CLOCK_UTC_ROOM];
    enum err_code code;

    clock_utc(now, clock_wall());
    text_add(&out,
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    text_add_html(&out, r->title);
    text_add(&out, "</title>\n<link rel=\"icon\" href=\"data:,\">\n");
    text_add(&out, page_head);
    text_add(&out, "</head>\n<body>\n<h1>");
    text_add_html(&out, r->title);
    text_addf(&out,
              "</h1>\n<p class=\"note\">%zu run%s, %.10s. What made this page stands in "
              "<a href=\"manifest.txt\">manifest.txt</a>; every table and figure lies beside "
              "it in other forms.</p>\n",
              r->runs, r->runs == 1 ? "" : "s", now);
    text_add(&out, text_str(&r->page));
    text_addf(&out, "<footer>chorus %s</footer>\n</body>\n</html>\n", chorus_version);
    code = report_write(r, "index.html", &out, e);
    text_free(&out);
    return code;
}

/* ---- what goes with it ---- */

/* Between single quotes nothing but a quote means anything else. */
static void add_gnuplot(struct text *out, const char *word)
{
    struct text clean = {0};

    text_add_clean(&clean, word);
    text_add(out, "'");
    for (const char *s = text_str(&clean); *s; s++)
        text_add_n(out, *s == '\'' ? "''" : s, *s == '\'' ? 2 : 1);
    text_add(out, "'");
    text_free(&clean);
}

/* The axis of the page's own figure: gnuplot's own range has no air above and below the curves. */
static void add_gnuplot_panel(const struct report *r, const char *title, const char *column,
                              const struct report_range *y, struct text *out)
{
    char lo[TEXT_NUMBER_ROOM], hi[TEXT_NUMBER_ROOM];
    double air = 0.05 * (y->hi > y->lo ? y->hi - y->lo : fabs(y->hi) > 0 ? fabs(y->hi) : 1);

    text_addf(out, "set title '%s'\n%sset logscale y\n", title, y->log ? "" : "un");
    if (y->lo <= y->hi)
        text_addf(out, "set yrange [%s:%s]\n", text_double(lo, y->log ? y->lo / 1.2 : y->lo - air),
                  text_double(hi, y->log ? y->hi * 1.2 : y->hi + air));
    text_add(out, "plot \\\n");
    for (size_t i = 0; i < r->runs; i++) {
        text_add(out, "  'epochs.csv' using (strcol('run') eq ");
        add_gnuplot(out, r->run[i].run.run);
        text_addf(out, " ? column('epoch') : 1/0):(column('%s')) with linespoints title ", column);
        add_gnuplot(out, r->label && r->label[i] ? r->label[i] : study_short_name(r->run[i].name));
        text_addf(out, " noenhanced%s\n", i + 1 < r->runs ? ", \\" : "");
    }
}

static enum err_code write_gnuplot(struct report *r, struct err *e)
{
    struct text out = {0};
    enum err_code code;

    text_add(&out, "# Draws the curves again: gnuplot plot.gp makes curves-gnuplot.svg.\n"
                   "set datafile separator ','\nset terminal svg size 900,420\n"
                   "set output 'curves-gnuplot.svg'\nset xlabel 'epoch'\nset xrange [0:*]\n"
                   "set grid\nset multiplot layout 1,2\n");
    add_gnuplot_panel(r, "test loss", "test_loss", &r->loss, &out);
    add_gnuplot_panel(r, "test accuracy", "test_acc", &r->acc, &out);
    text_add(&out, "unset multiplot\n");
    code = report_write(r, "plot.gp", &out, e);
    text_free(&out);
    return code;
}

static enum err_code copy_epochs(struct report *r, struct err *e)
{
    struct text bytes = {0};
    enum err_code code = export_epochs(r->run, r->runs, &bytes, e);

    if (code == ERR_OK)
        code = report_write(r, "epochs.csv", &bytes, e);
    text_free(&bytes);
    return code;
}

/* What an earlier report left is replaced; anything else that lies there is somebody's. */
static enum err_code check_folder(const struct report *r, struct err *e)
{
    char **names = NULL;
    size_t count = 0;
    enum err_code code = ERR_OK;

    if (io_exists(r->folder) && !io_is_folder(r->folder))
        return err_set(e, ERR_INPUT, "%s is a file: -o names the folder that report writes",
                       r->folder);
    if (!report_is_one(r->folder) && io_exists(r->folder))
        code = io_list_folder(r->folder, &names, &count, e);
    if (code == ERR_OK && count)
        code = err_set(e, ERR_INPUT,
                       "%s holds other files, and no report of chorus (its manifest.txt says so): "
                       "-o names a new folder",
                       r->folder);
    io_free_names(names, count);
    return code;
}

/* No half report stays: its files would stand in the way of the next try. */
static void remove_half(const struct report *r, bool folder)
{
    static const char *const inside[] = {"tables", "figures", "networks"};
    char *files = mem_text(text_str(&r->files)), *rest = files, *line;

    while ((line = strsep(&rest, "\n"))) {
        char *path = *line ? io_path(r->folder, line + 66) : NULL;

        if (path)
            io.unlink(path);
        free(path);
    }
    for (size_t i = 0; i < MEM_COUNT(inside); i++) {
        char *path = io_path(r->folder, inside[i]);

        io.rmdir(path);
        free(path);
    }
    if (folder)
        io.rmdir(r->folder);
    free(files);
}

static enum err_code fill_folder(struct report *r, struct err *e)
{
    struct study_run *runs;
    enum err_code code;

    TRY(make_folder(r, "tables", e));
    TRY(make_folder(r, "figures", e));
    TRY(make_folder(r, "networks", e));
    TRY(study_open(&runs, r->run, r->runs, e));
    code = report_sections(r, runs, e);
    r->label = curves_names(runs, r->runs);
    r->loss = report_range_of(runs, r->runs, "test_loss");
    r->acc = report_range_of(runs, r->runs, "test_acc");
    study_close(runs, r->runs);
    TRY(code);
    TRY(copy_epochs(r, e));
    TRY(write_gnuplot(r, e));
    TRY(write_page(r, e));
    return report_manifest(r, e);
}

static enum err_code make_report(struct report *r, struct err *e)
{
    bool is_new = !io_exists(r->folder), earlier = report_is_one(r->folder);
    enum err_code code;

    TRY(check_folder(r, e));
    code = fill_folder(r, e);
    if (code != ERR_OK && !earlier)
        remove_half(r, is_new);
    return code;
}

int cli_report(int argc, char **argv)
{
    struct report r = {.argc = argc};
    const struct cli_option options[] = {
        {"-o", "DIR", "where to: a new folder, or one of an earlier report", &r.folder},
        {"--title", "TEXT", "the page's title", &r.title},
        {NULL, NULL, NULL, NULL},
    };
    char **given = mem_new((size_t)argc + 1, sizeof *given);
    struct record_entry *runs;
    struct err e;
    int code;

    memcpy(given, argv, (size_t)argc * sizeof *given);
    r.argv = given;
    code = cli_options(&usage, options, &argc, argv);
    if (code == CLI_ON && argc < 2)
        code = cli_refuse("report needs RUNs, such as a sweep's name; `chorus ls` lists them");
    else if (code == CLI_ON && !r.folder)
        code = cli_refuse("report needs -o DIR, the folder that it writes");
    else if (code == CLI_ON && cli_find_runs(argc - 1, argv + 1, &runs, &r.runs, &e) != ERR_OK)
        code = cli_fail(&e);
    if (code != CLI_ON) {
        free(given);
        return code;
    }
    if (results_leave_out(runs, &r.runs, "epochs", &e) != ERR_OK) {
        record_free_list(runs, r.runs);
        free(given);
        return cli_fail(&e);
    }
    r.run = runs;
    r.title = r.title ? r.title : r.runs == 1 ? runs[0].name : argv[1];
    if (make_report(&r, &e) != ERR_OK)
        code = cli_fail(&e);
    else
        code = cli_printf("%s/index.html\n", r.folder);
    for (size_t i = 0; r.label && i < r.runs; i++)
        free(r.label[i]);
    free(r.label);
    text_free(&r.page);
    text_free(&r.files);
    record_free_list(runs, r.runs);
    free(given);
    return code;
}
