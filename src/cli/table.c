/* cli/table.c: tables, numbers and JSON for people and programs. */
#include "cli/cli.h"

#include "base/mem.h"

#include <math.h>
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

void cli_table_text(const struct cli_table *t, struct text *out)
{
    int *width = mem_new(t->columns, sizeof *width);

    for (size_t i = 0; i < t->cells; i++) {
        int w = text_width(text_str(&t->cell[i]));

        if (w > width[i % t->columns])
            width[i % t->columns] = w;
    }
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
    memset(t, 0, sizeof *t);
}

void cli_add_fraction(struct text *out, double value)
{
    if (value == RECORD_EMPTY)
        return;
    if (isfinite(value))
        text_addf(out, "%.4f", value);
    else
        text_add(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

/* JSON's own number syntax: what text_to_double takes besides ("nan", "+1", "1.", "007") is text. */
static bool is_json_number(const char *s)
{
    double value;
    const char *digits = s + (*s == '-');

    if (!text_to_double(s, &value) || !isfinite(value))
        return false;
    if (*digits < '0' || *digits > '9' || (*digits == '0' && digits[1] >= '0' && digits[1] <= '9'))
        return false;
    for (const char *dot = strchr(s, '.'); dot;)
        return dot[1] >= '0' && dot[1] <= '9';
    return true;
}

void cli_json_field(struct text *out, const char *name, const char *value)
{
    text_add_json(out, name);
    text_add(out, ": ");
    if (!*value || !strcmp(value, "nan") || !strcmp(value, "inf") || !strcmp(value, "-inf"))
        text_add(out, "null");
    else if (is_json_number(value))
        text_add(out, value);
    else
        text_add_json(out, value);
}

/* Columns whose values are names, even where a name happens to look like a number. */
static bool is_name(const char *column)
{
    static const char *const names[] = {"run",  "sweep", "cell", "reason", "host", "version",
                                        "name", "model", "data", "tags",   "note", NULL};

    for (const char *const *n = names; *n; n++)
        if (!strcmp(*n, column))
            return true;
    return false;
}

void cli_json_run(struct text *out, const struct record_run *run)
{
    struct text value = {0};

    text_add(out, "{");
    for (const char *const *column = record_run_columns; *column; column++) {
        text_clear(&value);
        record_run_value(run, *column, &value);
        if (column != record_run_columns)
            text_add(out, ", ");
        if (is_name(*column) && value.n) {
            text_add_json(out, *column);
            text_add(out, ": ");
            text_add_json(out, text_str(&value));
        } else {
            cli_json_field(out, *column, text_str(&value));
        }
    }
    text_add(out, "}");
    text_free(&value);
}

enum err_code cli_find_run(const char *name, struct record_entry *out, struct err *e)
{
    return record_find(cli_results(), name ? name : "@", out, e);
}
