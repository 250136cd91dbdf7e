/* cli/report.c: chorus report RUN... -o DIR: one folder that goes into a paper. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "ui/curves.h"
#include "cli/export.h"
#include "cli/figures.h"
#include "cli/predictions.h"
#include "cli/version.h"
#include "study/compare.h"
#include "study/members.h"
#include "study/runs.h"
#include "ui/figure.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_usage usage = {
    "report RUN... -o DIR [--title TEXT]",
    "A folder for a report: a page that needs nothing else, figures, tables, the CSVs, a manifest.",
    "  index.html     the page: light and dark, prints well; opens without a network\n"
    "  tables/        each as CSV, Markdown and LaTeX (booktabs)\n"
    "  figures/       each as SVG, PDF and pgfplots with its CSV\n"
    "  epochs.csv     every epoch of every run, with its settings\n"
    "  plot.gp        a gnuplot script that draws the curves again from epochs.csv\n"
    "  manifest.txt   the command, versions, machine, settings and seeds, a checksum of each file\n"};

/* How the manifest begins, by which a report's folder is known again: "made TIME by chorus VERSION" */
#define MADE "made "
#define BY   " by chorus "

struct report {
    const char *folder, *title;
    const struct record_entry *run;
    size_t runs;
    int argc;
    char **argv;
    struct text page, files; /* of manifest.txt: "SHA-256  name" */
};

/* ---- files ---- */

static enum err_code write_file(struct report *r, const char *name, const struct text *bytes,
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

static enum err_code add_table(struct report *r, const char *name, const char *title,
                               const struct study_table *t, struct err *e)
{
    static const struct {
        const char *end;
        void (*form)(const struct study_table *, const struct study_style *, struct text *);
    } forms[] = {{"md", study_table_md}, {"tex", study_table_tex}};
    struct text out = {0};
    char *file = mem_textf("tables/%s.csv", name);
    enum err_code code;

    study_table_csv(t, &out);
    code = write_file(r, file, &out, e);
    free(file);
    for (size_t i = 0; i < MEM_COUNT(forms) && code == ERR_OK; i++) {
        text_clear(&out);
        forms[i].form(t, NULL, &out);
        file = mem_textf("tables/%s.%s", name, forms[i].end);
        code = write_file(r, file, &out, e);
        free(file);
    }
    text_free(&out);
    text_addf(&r->page, "<section id=\"%s\"><h2>%s</h2>\n<div class=\"wide\">", name, title);
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

static enum err_code add_figure(struct report *r, const char *name, const char *title,
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
    code = write_file(r, svg, &out, e);
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
        code = write_file(r, pdf, &out, e);
    text_clear(&out);
    figure_tex(&f, base, &out);
    if (code == ERR_OK)
        code = write_file(r, tex, &out, e);
    text_clear(&out);
    figure_csv(&f, &out);
    if (code == ERR_OK)
        code = write_file(r, csv, &out, e);
    text_free(&out);
    free(svg);
    free(pdf);
    free(tex);
    free(csv);
    free(base);
    return code;
}

/* ---- what is worth a section ---- */

static bool differ_in(const struct study_run *runs, size_t count, const char *key)
{
    size_t found;
    const char **names = study_differences(runs, count, &found);
    bool in = false;

    for (size_t i = 0; i < found; i++)
        in |= !strcmp(names[i], key);
    free(names);
    return in;
}

static size_t keys_that_differ(const struct study_run *runs, size_t count)
{
    size_t found, keys = 0;
    const char **names = study_differences(runs, count, &found);

    for (size_t i = 0; i < found; i++)
        keys += spec_key_find(names[i]) >= 0 && strcmp(names[i], "seed") != 0;
    free(names);
    return keys;
}

static size_t ensembles_of(const struct report *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->runs; i++)
        n += r->run[i].run.spec.mode == SPEC_ENSEMBLE;
    return n;
}

static enum err_code add_comparison(struct report *r, const struct study_run *runs,
                                    const struct study_wish *wish, const char *name,
                                    const char *title, struct err *e)
{
    struct study_table t;
    enum err_code code;

    TRY(study_compare(runs, r->runs, wish, &t, e));
    code = add_table(r, name, title, &t, e);
    study_table_free(&t);
    return code;
}

static enum err_code add_curves(struct report *r, const struct study_run *runs, struct err *e)
{
    bool seeds = differ_in(runs, r->runs, "seed");
    const struct curves_wish wish = {.metric = r->runs > 6 ? "acc" : NULL,
                                     .over = seeds ? "seed" : NULL,
                                     .band = seeds ? "sd" : NULL};
    struct text caption = {0}, fewer = {0};
    struct curves c;
    struct figure_panel panel[2];
    enum err_code code;

    TRY(curves_make(&c, r->run, r->runs, &wish, e));
    for (int i = 0; i < c.panels; i++)
        panel[i] = (struct figure_panel){.plot = &c.panel[i]};
    if (seeds)
        text_add(&caption, "Means over seeds; the bands are one standard deviation wide to each "
                           "side. ");
    text_add(&caption, "Training values are means over an epoch, drawn at its middle.");
    curves_add_short(&c, NULL, &fewer);
    for (const char *at = text_str(&fewer); *at; at += strcspn(at, "\n") + 1)
        text_addf(&caption, " %.*s.", (int)strcspn(at, "\n"), at);
    text_free(&fewer);
    code = add_figure(r, "curves", "Curves", panel, c.panels, r->runs > 6 ? 110 : 80,
                      text_str(&caption), e);
    text_free(&caption);
    curves_free(&c);
    return code;
}

static enum err_code add_made(struct report *r, enum err_code made, struct figures *f,
                              const char *name, const char *title, double height_mm, struct err *e)
{
    enum err_code code;

    TRY(made);
    code = add_figure(r, name, title, f->panel, f->panels, height_mm, text_str(&f->note), e);
    figures_free(f);
    return code;
}

static enum err_code add_scaling(struct report *r, const struct study_run *runs, struct err *e)
{
    struct figures f;
    struct study_table t = {0};
    enum err_code code;

    if (!differ_in(runs, r->runs, "devices"))
        return ERR_OK;
    TRY(add_made(r, figures_scaling(&f, r->run, r->runs, e), &f, "scaling", "Scaling", 80, e));
    study_scaling_table(runs, r->runs, &t);
    code = add_table(r, "scaling", "Speed by devices", &t, e);
    study_table_free(&t);
    return code;
}

static enum err_code add_members(struct report *r, const char *run, const struct study_members *s,
                                 struct err *e)
{
    struct study_table members = {0}, subsets = {0}, pairs = {0};
    struct text name = {0}, title = {0};
    enum err_code code;

    study_members_table(s, &members);
    study_subsets_table(s, &subsets);
    study_pairs_table(s, &pairs);
    text_addf(&name, "members-%s", study_short_name(run));
    text_addf(&title, "Members of %s", study_short_name(run));
    code = add_table(r, text_str(&name), text_str(&title), &members, e);
    text_clear(&name);
    text_clear(&title);
    text_addf(&name, "subsets-%s", study_short_name(run));
    text_addf(&title, "How many members %s needs", study_short_name(run));
    if (code == ERR_OK)
        code = add_table(r, text_str(&name), text_str(&title), &subsets, e);
    text_clear(&name);
    text_clear(&title);
    text_addf(&name, "pairs-%s", study_short_name(run));
    text_addf(&title, "Disagreement between members of %s", study_short_name(run));
    if (code == ERR_OK && s->members > 2)
        code = add_table(r, text_str(&name), text_str(&title), &pairs, e);
    study_table_free(&members);
    study_table_free(&subsets);
    study_table_free(&pairs);
    text_free(&name);
    text_free(&title);
    return code;
}

/* Ensembles whose weights or data are gone are left out. */
static enum err_code add_all_members(struct report *r, struct err *e)
{
    struct study_members *s = mem_new(r->runs, sizeof *s);
    struct figures f;
    enum err_code code = ERR_OK;
    size_t known = 0;

    figures_prefix_start(&f);
    for (size_t i = 0; i < r->runs; i++) {
        struct predictions p;
        struct err why;

        if (r->run[i].run.spec.mode != SPEC_ENSEMBLE)
            continue;
        if (predictions_get(&p, &r->run[i], &why) != ERR_OK) {
            cli_talk("%s: its members are left out: %s", r->run[i].name, why.text);
            continue;
        }
        study_members(&s[i], p.p, p.members, p.n, p.classes, p.labels);
        predictions_free(&p);
        figures_prefix_add(&f, r->run[i].name, &s[i]);
        known++;
    }
    if (known)
        code = add_figure(r, "prefix", "Accuracy of k members", f.panel, f.panels, 80,
                          text_str(&f.note), e);
    figures_free(&f);
    for (size_t i = 0; i < r->runs; i++) {
        if (s[i].members && code == ERR_OK)
            code = add_members(r, r->run[i].name, &s[i], e);
        study_members_free(&s[i]);
    }
    free(s);
    return code;
}

static enum err_code add_ensembles(struct report *r, const struct study_run *runs, struct err *e)
{
    size_t ensembles = ensembles_of(r);

    if (!ensembles)
        return ERR_OK;
    TRY(add_all_members(r, e));
    if (ensembles == r->runs)
        return ERR_OK;
    return add_comparison(r, runs,
                          &(struct study_wish){.equal = true, .budget = STUDY_MODEL_IMAGES},
                          "equal", "Single models and ensembles at equal model-images", e);
}

static enum err_code add_sections(struct report *r, const struct study_run *runs, struct err *e)
{
    struct figures f;

    TRY(add_curves(r, runs, e));
    if (differ_in(runs, r->runs, "seed"))
        TRY(add_comparison(r, runs, &(struct study_wish){.over = "seed"}, "seeds",
                           "Mean and deviation over seeds", e));
    if (keys_that_differ(runs, r->runs) >= 2)
        TRY(add_made(r, figures_board(&f, r->run, r->runs, "test_acc", NULL, NULL, e), &f, "board",
                     "Test accuracy", 80, e));
    TRY(add_scaling(r, runs, e));
    TRY(add_ensembles(r, runs, e));
    return add_comparison(r, runs, &(struct study_wish){0}, "runs", "All runs", e);
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
    "@media print { body { margin: 0; max-width: none } section { break-inside: avoid } }\n"
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
    code = write_file(r, "index.html", &out, e);
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

static enum err_code write_gnuplot(struct report *r, struct err *e)
{
    struct text out = {0};
    enum err_code code;

    text_add(&out, "# Draws the curves again: gnuplot plot.gp makes curves-gnuplot.svg.\n"
                   "set datafile separator ','\nset terminal svg size 900,420\n"
                   "set output 'curves-gnuplot.svg'\nset key outside\nset xlabel 'epoch'\n"
                   "set ylabel 'test accuracy'\nset grid\nplot \\\n");
    for (size_t i = 0; i < r->runs; i++) {
        text_add(&out, "  'epochs.csv' using (strcol('run') eq ");
        add_gnuplot(&out, r->run[i].run.run);
        text_add(&out, " ? column('epoch') : 1/0):(column('test_acc')) with linespoints title ");
        add_gnuplot(&out, study_short_name(r->run[i].name));
        text_addf(&out, " noenhanced%s\n", i + 1 < r->runs ? ", \\" : "");
    }
    code = write_file(r, "plot.gp", &out, e);
    text_free(&out);
    return code;
}

static enum err_code write_manifest(struct report *r, struct err *e)
{
    struct text out = {0}, ini = {0};
    char now[CLOCK_UTC_ROOM];
    enum err_code code;
    char *path;

    clock_utc(now, clock_wall());
    text_addf(&out, MADE "%s" BY "%s\ncommand: chorus report", now, chorus_version);
    for (int i = 1; i < r->argc; i++) {
        text_add(&out, " ");
        text_add_clean(&out, r->argv[i]);
    }
    text_add(&out, "\n\nfiles (SHA-256)\n");
    text_add(&out, text_str(&r->files));
    for (size_t i = 0; i < r->runs; i++) {
        const struct record_run *run = &r->run[i].run;

        text_addf(&out, "\nrun %s\n", r->run[i].name);
        text_addf(&out, "# %s, seed %llu, %s on %s (%s, %s), chorus %s, %s to %s\n",
                  wire_state_name(run->state), (unsigned long long)run->spec.seed,
                  run->backend_used, run->host, run->isa, run->precision_used, run->version,
                  run->started_utc, run->ended_utc);
        text_clear(&ini);
        spec_write(&run->spec, &ini);
        text_add(&out, text_str(&ini));
    }
    path = io_path(r->folder, "manifest.txt");
    code = io_replace_file(path, text_str(&out), out.n, e);
    free(path);
    text_free(&out);
    text_free(&ini);
    return code;
}

static enum err_code copy_epochs(struct report *r, struct err *e)
{
    struct text bytes = {0};
    enum err_code code = export_epochs(r->run, r->runs, &bytes, e);

    if (code == ERR_OK)
        code = write_file(r, "epochs.csv", &bytes, e);
    text_free(&bytes);
    return code;
}

/* What an earlier report left is replaced; anything else that lies there is somebody's. */
static enum err_code check_folder(const struct report *r, struct err *e)
{
    char *path = io_path(r->folder, "manifest.txt"), *text = NULL, **names = NULL;
    size_t n = 0, count = 0;
    bool ours;
    enum err_code code = ERR_OK;

    ours = io_read_file(path, 16 << 20, &text, &n, NULL) == ERR_OK && !strncmp(text, MADE, 5) &&
           strstr(text, BY);
    if (!ours && io_exists(r->folder))
        code = io_list_folder(r->folder, &names, &count, e);
    if (code == ERR_OK && count)
        code = err_set(e, ERR_INPUT,
                       "%s holds other files, and no report of chorus (its manifest.txt says so): "
                       "-o names a new folder",
                       r->folder);
    io_free_names(names, count);
    free(text);
    free(path);
    return code;
}

static enum err_code make_report(struct report *r, struct err *e)
{
    struct study_run *runs;
    enum err_code code;

    TRY(check_folder(r, e));
    TRY(make_folder(r, "tables", e));
    TRY(make_folder(r, "figures", e));
    TRY(study_open(&runs, r->run, r->runs, e));
    code = add_sections(r, runs, e);
    study_close(runs, r->runs);
    TRY(code);
    TRY(copy_epochs(r, e));
    TRY(write_gnuplot(r, e));
    TRY(write_page(r, e));
    return write_manifest(r, e);
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
    r.run = runs;
    r.title = r.title ? r.title : r.runs == 1 ? runs[0].name : argv[1];
    if (make_report(&r, &e) != ERR_OK)
        code = cli_fail(&e);
    else
        code = cli_printf("%s/index.html\n", r.folder);
    text_free(&r.page);
    text_free(&r.files);
    record_free_list(runs, r.runs);
    free(given);
    return code;
}
