/* cli/out/report/report.c: the folder of a report: its files, its page, and how they take the place of an
 * earlier one. */
#include "cli/out/report/report.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/out/report/export.h"
#include "cli/version.h"
#include "study/runs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static const char *const inside[] = {"tables", "figures", "networks"};

static enum err_code make_folder(const struct report *r, const char *name, struct err *e)
{
    char *path = io_path(r->folder, name);
    enum err_code code = io_make_folders(path, e);

    free(path);
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
              "</h1>\n<p class=\"note\">%s run%s, %.10s. What made this page stands in "
              "<a href=\"manifest.txt\">manifest.txt</a>; every table and figure lies beside "
              "it in other forms.</p>\n",
              TEXT_COUNT(r->runs), text_s(r->runs), now);
    text_add(&out, text_str(&r->page));
    text_addf(&out, "<footer>chorus %s</footer>\n</body>\n</html>\n", chorus_version);
    code = report_write(r, "index.html", &out, e);
    text_free(&out);
    return code;
}

/* ---- what goes with it ---- */

static enum err_code write_gnuplot(struct report *r, struct err *e)
{
    struct text out = {0};
    enum err_code code;

    text_add(&out, "# Draws the figures again, from figures/NAME.csv: gnuplot plot.gp makes\n"
                   "# NAME-gnuplot.svg of each.\n");
    text_add(&out, text_str(&r->script));
    code = report_write(r, "plot.gp", &out, e);
    text_free(&out);
    return code;
}

static enum err_code write_epochs(struct report *r, const struct study_run *runs, struct err *e)
{
    struct text bytes = {0};
    enum err_code code;

    export_epochs(runs, r->runs, &bytes);
    code = report_write(r, "epochs.csv", &bytes, e);
    text_free(&bytes);
    return code;
}

/* Nothing lies there but what a report left that was killed before it had claimed the folder. */
static bool is_bare(const char *folder)
{
    char **names;
    size_t count;
    bool bare = io_list_if_there(folder, &names, &count, NULL) == ERR_OK;

    for (size_t i = 0; i < count && bare; i++)
        bare = io_is_of_dead(names[i]);
    io_free_names(names, count);
    return bare;
}

static enum err_code check_folder(const struct report *r, bool may, struct err *e)
{
    if (io_exists(r->folder) && !io_is_folder(r->folder))
        return err_set(e, ERR_INPUT, "%s is a file: -o names the folder that report writes",
                       r->folder);
    return may ? ERR_OK
               : err_set(e, ERR_INPUT,
                         "%s holds other files, and no report of chorus: name a new folder with "
                         "-o, or add the report to these files with --force",
                         r->folder);
}

/* Before the first file takes its place: some of this report beside some of an earlier one are none. */
static enum err_code check_places(const struct report *r, struct err *e)
{
    enum err_code code = ERR_OK;

    for (size_t i = 0; i < r->names && code == ERR_OK; i++) {
        char *path = io_path(r->folder, r->name[i]);

        if (io_is_folder(path))
            code = err_set(e, ERR_INPUT,
                           "%s is a folder, and the report has a file of that name: move it away, "
                           "or name another folder with -o",
                           path);
        free(path);
    }
    return code;
}

/* The manifest, which was written last, goes first: if the program is killed here, the next report removes the
 * files that it lists. */
static enum err_code put_in_place(const struct report *r, struct err *e)
{
    enum err_code code = ERR_OK;

    for (size_t i = r->names; i-- && code == ERR_OK;) {
        char *path = io_path(r->folder, r->name[i]), *new = report_draft(r, r->name[i]);

        if (io.rename(new, path) < 0)
            code = err_errno(e, "cannot put %s in its place", path);
        free(path);
        free(new);
    }
    return code;
}

/* No half report stays: its files would stand in the way of the next try, or among those of an earlier
 * one. bare: nothing lay there, so those in their places are this one's too. */
static void remove_half(const struct report *r, bool bare, bool folder)
{
    for (size_t i = 0; i < r->names; i++) {
        char *path = io_path(r->folder, r->name[i]), *new = report_draft(r, r->name[i]);

        io.unlink(new);
        if (bare)
            io.unlink(path);
        free(path);
        free(new);
    }
    for (size_t i = 0; i < MEM_COUNT(inside); i++) {
        char *path = io_path(r->folder, inside[i]);

        io.rmdir(path);
        free(path);
    }
    if (bare)
        report_unclaim(r);
    if (folder)
        io.rmdir(r->folder);
}

/* Those of reports whose programs were killed. */
static void remove_drafts(const struct report *r)
{
    io_remove_leftovers(r->folder, io_is_of_dead);
    for (size_t i = 0; i < MEM_COUNT(inside); i++) {
        char *path = io_path(r->folder, inside[i]);

        io_remove_leftovers(path, io_is_of_dead);
        free(path);
    }
}

static enum err_code fill_folder(struct report *r, const struct study_run *runs, struct err *e)
{
    TRY(make_folder(r, "tables", e));
    TRY(make_folder(r, "figures", e));
    TRY(make_folder(r, "networks", e));
    TRY(report_sections(r, runs, e));
    TRY(write_epochs(r, runs, e));
    TRY(write_gnuplot(r, e));
    TRY(write_page(r, e));
    return report_manifest(r, e);
}

enum err_code report_make(struct report *r, const struct study_run *runs, struct err *e)
{
    bool is_new = !io_exists(r->folder), bare = is_bare(r->folder);
    char *old = report_read_manifest(r->folder);
    enum err_code code = check_folder(r, old || bare || r->force, e);

    if (code == ERR_OK) {
        remove_drafts(r);
        if (bare)
            code = report_claim(r, e);
        if (code == ERR_OK)
            code = fill_folder(r, runs, e);
        if (code == ERR_OK)
            code = check_places(r, e);
        if (code == ERR_OK && old) /* while their manifest lists them */
            report_remove_old(r, old);
        if (code == ERR_OK)
            code = put_in_place(r, e);
        if (code != ERR_OK)
            remove_half(r, bare, is_new);
    }
    free(old);
    return code;
}
