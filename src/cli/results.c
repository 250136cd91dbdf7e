#include "cli/results.h"

#include "base/io.h"
#include "cli/cli.h"

#include <limits.h>
#include <string.h>

/* Columns are left out from the right until a line holds, then the runs' names are cut. Returns how
 * many were left out. */
static size_t fit(struct cli_table *t, int columns)
{
    const char *drop[64];
    size_t n = 0, before = t->columns;

    for (size_t i = t->columns; i-- > 2 && n + 1 < sizeof drop / sizeof *drop;)
        drop[n++] = text_str(&t->cell[i]);
    drop[n] = NULL;
    cli_table_fit(t, columns, drop, text_str(&t->cell[0]), false);
    return before - t->columns;
}

void cli_study_text(const struct study_table *t, const struct study_style *style, int fd,
                    struct text *out)
{
    struct cli_table table;
    struct text heads = {0}, cell = {0};
    size_t left_out;

    for (size_t c = 0; c < t->columns; c++)
        text_addf(&heads, "%s%s%s", c ? "|" : "", t->column[c].kind == STUDY_TEXT ? "" : "-",
                  study_table_head(t, (int)c, style));
    cli_table_start(&table, text_str(&heads));
    for (size_t i = 0; i < t->cells; i++) {
        text_clear(&cell);
        study_cell_text(t, i / t->columns, (int)(i % t->columns), style, &cell);
        cli_table_add(&table, text_str(&cell));
    }
    left_out = fit(&table, fd < 0 ? INT_MAX : cli_limit(fd));
    cli_table_text(&table, out);
    cli_table_free(&table);
    if (t->note.n || left_out)
        text_add(out, "\n");
    if (left_out)
        text_addf(out, "%zu columns have no room here: --cols chooses, a pipe shows all\n",
                  left_out);
    text_add(out, text_str(&t->note));
    text_free(&heads);
    text_free(&cell);
}

int cli_write_out(const char *file, const struct text *out)
{
    struct err e;

    if (!file || !strcmp(file, "-"))
        return cli_print(out);
    if (io_replace_file(file, text_str(out), out->n, &e) != ERR_OK)
        return cli_fail(&e);
    return cli_printf("%s\n", file);
}
