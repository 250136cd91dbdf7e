/* cli/out/report/report_files.c: files of a report: tables and figures in each of their forms. */
#include "cli/out/report/report.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define BROAD 9 /* columns: a table of more is printed across the paper */

char *report_draft(const struct report *r, const char *name)
{
    char *path = io_path(r->folder, name), *draft = io_temporary(path);

    free(path);
    return draft;
}

static enum err_code write_draft(const char *path, const struct text *bytes, struct err *e)
{
    int fd;
    enum err_code code;

    TRY(io_open_own(path, O_WRONLY | O_CREAT | O_TRUNC, &fd, e));
    code = io_write_all(fd, text_str(bytes), bytes->n, path, e);
    if (io.sync(fd) && !code)
        code = err_errno(e, "cannot sync %s", path);
    if (io.close(fd) && !code)
        code = err_errno(e, "cannot close %s", path);
    return code;
}

enum err_code report_write(struct report *r, const char *name, const struct text *bytes,
                           struct err *e)
{
    char *path = report_draft(r, name), sum[65];
    enum err_code code = write_draft(path, bytes, e);
    struct hash_sha256 h;
    uint8_t raw[32];

    hash_sha256_start(&h);
    hash_sha256_add(&h, text_str(bytes), bytes->n);
    hash_sha256_end(&h, raw);
    hash_hex(sum, raw, sizeof raw);
    text_addf(&r->files, "%s  %s\n", sum, name);
    r->name = mem_grow(r->name, &r->name_room, r->names + 1, sizeof *r->name);
    r->name[r->names++] = mem_text(name);
    free(path);
    return code;
}

enum err_code report_add_table(struct report *r, const char *name, const char *title,
                               const struct study_table *t, struct err *e)
{
    static const char *const forms[] = {"csv", "md", "tex"};
    const struct study_style style = {.narrow = true};
    struct text out = {0};
    enum err_code code = ERR_OK;

    for (size_t i = 0; i < MEM_COUNT(forms) && code == ERR_OK; i++) {
        char *file = mem_textf("tables/%s.%s", name, forms[i]);

        text_clear(&out);
        study_table_write(t, forms[i], &style, &out);
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
    char *base = mem_textf("%s.csv", name), *drawn = mem_textf("%s-gnuplot.svg", name);
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
    figure_gnuplot(&f, csv, drawn, &r->script);
    text_free(&out);
    free(svg);
    free(pdf);
    free(tex);
    free(csv);
    free(base);
    free(drawn);
    return code;
}
