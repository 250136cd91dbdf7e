/* cli/out/table.c: tables and numbers for people. */
#include "cli/out/table.h"

#include "base/loss.h"
#include "base/mem.h"
#include "base/text.h"
#include "record/run/run.h"
#include "spec/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_table_start(struct cli_table *t, const char *columns)
{
    char *copy = mem_text(columns), *rest = copy, *name;

    memset(t, 0, sizeof *t);
    for (const char *s = columns; s; s = strchr(s, '|'), s = s ? s + 1 : NULL)
        t->columns++;
    t->right = mem_new(t->columns, sizeof *t->right);
    for (size_t i = 0; (name = strsep(&rest, "|")); i++) {
        t->right[i] = name[0] == '-';
        cli_table_add(t, name + t->right[i]);
    }
    free(copy);
}

void cli_table_add(struct cli_table *t, const char *cell)
{
    t->cell = mem_grow(t->cell, &t->room, t->cells + 1, sizeof *t->cell);
    t->cell[t->cells] = (struct text){0};
    text_add_clean(&t->cell[t->cells++], cell);
}

void cli_table_addf(struct cli_table *t, const char *fmt, ...)
{
    char room[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(room, sizeof room, fmt, args);
    va_end(args);
    cli_table_add(t, room);
}

static int column_width(const struct cli_table *t, size_t column)
{
    int width = 0;

    for (size_t i = column; i < t->cells; i += t->columns) {
        int w = text_width(text_str(&t->cell[i]));

        width = w > width ? w : width;
    }
    return width;
}

int cli_table_width(const struct cli_table *t)
{
    int width = t->columns ? 2 * ((int)t->columns - 1) : 0;

    for (size_t i = 0; i < t->columns; i++)
        width += column_width(t, i);
    return width;
}

/* The place of a column by its head; t->columns where there is none. */
static size_t find_head(const struct cli_table *t, const char *head)
{
    size_t i = 0;

    while (i < t->columns && strcmp(text_str(&t->cell[i]), head) != 0)
        i++;
    return i;
}

static void drop_column(struct cli_table *t, size_t column)
{
    size_t kept = 0;

    text_addf(&t->dropped, "%s%s", t->dropped.n ? "|" : "", text_str(&t->cell[column]));
    for (size_t i = 0; i < t->cells; i++) {
        if (i % t->columns == column)
            text_free(&t->cell[i]);
        else
            t->cell[kept++] = t->cell[i];
    }
    t->cells = kept;
    t->columns--;
    for (size_t i = column; i < t->columns; i++)
        t->right[i] = t->right[i + 1];
}

/* Whole characters: what begins like one that is cut off belongs to it. */
void cli_cut(struct text *cell, int width, bool front)
{
    struct text out = {0};
    const char *s = text_str(cell);
    size_t n = cell->n, from = 0;

    if (text_width(s) <= width)
        return;
    if (front) {
        while (from < n && text_width(s + from) > width - 3)
            for (from++; (s[from] & 0xc0) == 0x80;)
                from++;
        text_add(&out, "...");
        text_add(&out, s + from);
    } else {
        for (n = 0; n < cell->n;) {
            size_t next = n + 1;

            while ((s[next] & 0xc0) == 0x80)
                next++;
            text_clear(&out);
            text_add_n(&out, s, next);
            if (text_width(text_str(&out)) > width - 3)
                break;
            n = next;
        }
        while (n > 0 && s[n - 1] == ' ')
            n--;
        text_clear(&out);
        text_add_n(&out, s, n);
        text_add(&out, "...");
    }
    text_free(cell);
    *cell = out;
}

#define LEAST_CUT 8 /* a cell is cut to no less */

void cli_table_fit(struct cli_table *t, int columns, const char *const *drop, const char *cut,
                   bool front)
{
    int width, over;
    size_t column;

    for (; drop && *drop && cli_table_width(t) > columns; drop++)
        if ((column = find_head(t, *drop)) < t->columns)
            drop_column(t, column);
    over = cli_table_width(t) - columns;
    if (over <= 0 || !cut || (column = find_head(t, cut)) == t->columns)
        return;
    width = column_width(t, column) - over;
    for (size_t i = column; i < t->cells; i += t->columns)
        cli_cut(&t->cell[i], width < LEAST_CUT ? LEAST_CUT : width, front);
}

void cli_table_dropped(const struct cli_table *t, int columns, const char *remedy, struct text *out)
{
    struct text line = {0};
    size_t names = 0, more = 0;
    char *copy = mem_text(text_str(&t->dropped)), *rest = copy;

    text_add(&line, "no room for ");
    for (const char *name; t->dropped.n && (name = strsep(&rest, "|"));) {
        if (names &&
            (more ||
             text_width(text_str(&line)) + text_width(name) + text_width(remedy) + 16 > columns))
            more++;
        else
            text_addf(&line, "%s%s", names++ ? ", " : "", name);
    }
    if (more)
        text_addf(&line, " and %zu more", more);
    if (names)
        text_addf(out, "%s: %s\n", text_str(&line), remedy);
    text_free(&line);
    free(copy);
}

void cli_table_text(const struct cli_table *t, struct text *out)
{
    int *width = mem_new(t->columns, sizeof *width);

    for (size_t i = 0; i < t->columns; i++)
        width[i] = column_width(t, i);
    for (size_t i = 0; i < t->cells; i++) {
        size_t column = i % t->columns;
        const char *s = text_str(&t->cell[i]);
        int blanks = width[column] - text_width(s);

        if (t->right[column])
            text_addf(out, "%*s", blanks, "");
        text_add(out, s);
        if (!t->right[column] && column + 1 < t->columns)
            text_addf(out, "%*s", blanks, "");
        if (column + 1 < t->columns) {
            text_add(out, "  ");
            continue;
        }
        while (out->n && out->s[out->n - 1] == ' ')
            out->s[--out->n] = 0;
        text_add(out, "\n");
    }
    free(width);
}

void cli_table_free(struct cli_table *t)
{
    for (size_t i = 0; i < t->cells; i++)
        text_free(&t->cell[i]);
    free(t->cell);
    free(t->right);
    text_free(&t->dropped);
    memset(t, 0, sizeof *t);
}

void cli_add_fraction(struct text *out, double value)
{
    char number[LOSS_ROOM];

    if (value != RECORD_EMPTY)
        text_add(out, loss_text(number, value));
}

void cli_add_model(struct text *out, const struct spec *spec)
{
    const char *slash = strrchr(spec->model, '/');
    const char *model = slash ? slash + 1 : spec->model;

    text_add_n(out, model, text_stem(model, ".net"));
}
