#include "study/table_int.h"

#include "base/loss.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "record/run/run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void study_table_column(struct study_table *t, const char *name, enum study_kind kind, bool spread)
{
    t->column = mem_grow(t->column, &t->column_room, t->columns + 1, sizeof *t->column);
    t->column[t->columns++] = (struct study_column){mem_text(name), kind, spread, 0};
}

static void add(struct study_table *t, char *text, double value, double sd)
{
    t->cell = mem_grow(t->cell, &t->cell_room, t->cells + 1, sizeof *t->cell);
    t->cell[t->cells++] = (struct study_cell){text, value, sd, false};
    t->rows = t->cells / t->columns;
}

void study_table_word(struct study_table *t, const char *text)
{
    add(t, mem_text(text), NAN, NAN);
}

void study_table_empty(struct study_table *t)
{
    add(t, mem_text(""), NAN, NAN);
}

/* A number that does not apply is empty; one that is not finite is a result and stands there. */
void study_table_number(struct study_table *t, double value)
{
    study_table_mean(t, value, NAN);
}

void study_table_mean(struct study_table *t, double mean, double sd)
{
    char number[TEXT_NUMBER_ROOM];

    if (mean == RECORD_EMPTY)
        study_table_empty(t);
    else
        add(t, mem_text(text_double(number, mean)), mean, sd);
}

void study_table_note(struct study_table *t, const char *fmt, ...)
{
    char line[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    text_addf(&t->note, "%s\n", line);
}

void study_table_shorten(struct study_table *t)
{
    const char **words = mem_new(t->rows + 1, sizeof *words);

    for (size_t c = 0; c < t->columns; c++) {
        for (size_t r = 0; r < t->rows; r++)
            words[r] = study_table_cell(t, r, (int)c)->text;
        if (t->column[c].kind == STUDY_TEXT)
            t->column[c].digits = text_least_digits(words, t->rows);
    }
    free(words);
}

void study_table_free(struct study_table *t)
{
    for (size_t i = 0; i < t->columns; i++)
        free(t->column[i].name);
    for (size_t i = 0; i < t->cells; i++)
        free(t->cell[i].text);
    free(t->column);
    free(t->cell);
    text_free(&t->note);
    memset(t, 0, sizeof *t);
}

int study_table_find(const struct study_table *t, const char *name)
{
    for (size_t i = 0; i < t->columns; i++)
        if (!strcmp(t->column[i].name, name))
            return (int)i;
    return -1;
}

struct study_cell *study_table_cell(const struct study_table *t, size_t row, int column)
{
    return &t->cell[row * t->columns + (size_t)column];
}

static int compare_cells(const struct study_cell *a, const struct study_cell *b, bool falling)
{
    bool a_empty = !*a->text || (isnan(a->value) && !strcmp(a->text, "nan"));
    bool b_empty = !*b->text || (isnan(b->value) && !strcmp(b->text, "nan"));
    int order;

    if (a_empty || b_empty)
        return a_empty - b_empty;
    if (isnan(a->value) || isnan(b->value))
        order = strcmp(a->text, b->text);
    else
        order = (a->value > b->value) - (a->value < b->value);
    return falling ? -order : order;
}

void study_table_sort(struct study_table *t, int column, bool falling)
{
    size_t bytes = t->columns * sizeof *t->cell;
    struct study_cell *held = mem_new(t->columns, sizeof *held);

    for (size_t i = 1; i < t->rows; i++) { /* by insertion: tables are read by people */
        size_t to = i;

        memcpy(held, &t->cell[i * t->columns], bytes);
        while (to > 0 &&
               compare_cells(&held[column], study_table_cell(t, to - 1, column), falling) < 0)
            to--;
        memmove(&t->cell[(to + 1) * t->columns], &t->cell[to * t->columns], (i - to) * bytes);
        memcpy(&t->cell[to * t->columns], held, bytes);
    }
    free(held);
}

static int digits_of(enum study_kind kind, double value, const struct study_style *style)
{
    if (kind == STUDY_TIME)
        return fabs(value) >= 10 ? 1 : 2;
    return style && style->digits ? style->digits : 4;
}

void study_cell_text(const struct study_table *t, size_t row, int column,
                     const struct study_style *style, struct text *out)
{
    const struct study_cell *c = study_table_cell(t, row, column);
    enum study_kind kind = t->column[column].kind;
    char number[TEXT_NUMBER_ROOM];

    if (!*c->text || kind == STUDY_TEXT || (isnan(c->value) && strcmp(c->text, "nan") != 0)) {
        if (kind == STUDY_TEXT && t->column[column].digits)
            text_add_short(out, c->text, t->column[column].digits);
        else
            text_add(out, c->text);
        return;
    }
    if (kind == STUDY_COUNT && isnan(c->sd) && c->value >= 0 && c->value == floor(c->value) &&
        c->value < 1e15)
        text_add(out, text_count(number, (uint64_t)c->value));
    else if (kind == STUDY_COUNT)
        text_add_fixed(out, c->value, 1);
    else if (kind == STUDY_NUMBER)
        text_addf(out, "%s", isnan(c->sd) ? c->text : text_float(number, (float)c->value));
    else if (kind == STUDY_LOSS && fabs(c->value) >= LOSS_LARGE)
        text_add(out, loss_text(number, c->value));
    else
        text_add_fixed(out, c->value, digits_of(kind, c->value, style));
    if (isnan(c->sd))
        return;
    text_add(out, " ± ");
    if (kind == STUDY_LOSS && fabs(c->sd) >= LOSS_LARGE)
        text_add(out, loss_text(number, c->sd));
    else
        text_add_fixed(out, c->sd, kind == STUDY_COUNT ? 1 : digits_of(kind, c->value, style));
}

const char *study_table_head(const struct study_table *t, int column,
                             const struct study_style *style)
{
    const char *name = t->column[column].name;
    size_t n = strlen(name);

    for (size_t i = 0; style && style->head && style->head[i]; i++)
        if (!strncmp(style->head[i], name, n) && style->head[i][n] == '=')
            return style->head[i] + n + 1;
    return name;
}

void study_table_csv(const struct study_table *t, struct text *out)
{
    struct text row = {0};

    for (size_t c = 0; c < t->columns; c++) {
        study_add_field(&row, t->column[c].name);
        if (t->column[c].spread) {
            struct text name = {0};

            text_addf(&name, "%s_sd", t->column[c].name);
            study_add_field(&row, text_str(&name));
            text_free(&name);
        }
    }
    sheet_end_row(&row);
    for (size_t i = 0; i < t->cells; i++) {
        const struct study_cell *cell = &t->cell[i];

        if (isnan(cell->value))
            study_add_field(&row, cell->text);
        else
            sheet_add_text(&row, cell->text);
        if (t->column[i % t->columns].spread && isnan(cell->sd))
            sheet_add_empty(&row);
        else if (t->column[i % t->columns].spread)
            sheet_add_double(&row, cell->sd);
        if (i % t->columns == t->columns - 1)
            sheet_end_row(&row);
    }
    text_add_n(out, text_str(&row), row.n);
    text_free(&row);
}

void study_table_json(const struct study_table *t, struct text *out)
{
    text_add(out, "[");
    for (size_t i = 0; i < t->cells; i++) {
        const struct study_cell *cell = &t->cell[i];
        const struct study_column *column = &t->column[i % t->columns];
        bool first = i % t->columns == 0;

        text_add(out, first ? i ? ",\n {" : "\n {" : ", ");
        text_add_json(out, column->name);
        text_add(out, ": ");
        if (!*cell->text)
            text_add(out, "null");
        else if (isfinite(cell->value))
            text_add(out, cell->text);
        else if (isnan(cell->value) && strcmp(cell->text, "nan") != 0)
            text_add_json(out, cell->text);
        else
            text_add(out, "null");
        if (column->spread) {
            text_addf(out, ", \"%s_sd\": ", column->name);
            text_add_json_double(out, cell->sd);
        }
        if (i % t->columns == t->columns - 1)
            text_add(out, "}");
    }
    text_add(out, t->cells ? "\n]\n" : "]\n");
}

/* The table's notes, each between those and in the letters of a form. */
void study_table_notes(const struct study_table *t, const char *before, const char *after,
                       void (*add_words)(struct text *out, const char *words), struct text *out)
{
    char *notes = mem_text(text_str(&t->note)), *rest = notes, *line;

    while ((line = strsep(&rest, "\n"))) {
        if (!*line)
            continue;
        text_add(out, before);
        add_words(out, line);
        text_add(out, after);
    }
    free(notes);
}

static void add_md(struct text *out, const char *word)
{
    struct text clean = {0};

    text_add_clean(&clean, word);
    for (const char *s = text_str(&clean); *s; s++) {
        if (strchr("|\\`*_<>[]", *s))
            text_add(out, "\\");
        text_add_n(out, s, 1);
    }
    text_free(&clean);
}

void study_table_md(const struct study_table *t, const struct study_style *style, struct text *out)
{
    struct text word = {0};

    for (size_t c = 0; c < t->columns; c++) {
        text_add(out, "| ");
        add_md(out, study_table_head(t, (int)c, style));
        text_add(out, c + 1 == t->columns ? " |\n" : " ");
    }
    for (size_t c = 0; c < t->columns; c++)
        text_addf(out, "|%s%s", t->column[c].kind == STUDY_TEXT ? "---" : "--:",
                  c + 1 == t->columns ? "|\n" : "");
    for (size_t i = 0; i < t->cells; i++) {
        text_clear(&word);
        study_cell_text(t, i / t->columns, (int)(i % t->columns), style, &word);
        text_add(out, t->cell[i].best ? "| **" : "| ");
        add_md(out, text_str(&word));
        text_add(out, t->cell[i].best ? "** " : " ");
        if (i % t->columns == t->columns - 1)
            text_add(out, "|\n");
    }
    study_table_notes(t, "\n", "\n", add_md, out);
    text_free(&word);
}

/* On paper a wide table needs heads that may be broken. */
static void add_html_head(struct text *out, const char *head)
{
    struct text safe = {0};

    text_add_html(&safe, head);
    for (const char *s = text_str(&safe); *s; s++) {
        text_add_n(out, s, 1);
        text_add(out, *s == '_' ? "<wbr>" : "");
    }
    text_free(&safe);
}

void study_table_html(const struct study_table *t, const struct study_style *style,
                      struct text *out)
{
    struct text word = {0};

    text_add(out, "<table>\n<thead><tr>");
    for (size_t c = 0; c < t->columns; c++) {
        text_add(out, t->column[c].kind == STUDY_TEXT ? "<th>" : "<th class=\"n\">");
        add_html_head(out, study_table_head(t, (int)c, style));
        text_add(out, "</th>");
    }
    text_add(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < t->cells; i++) {
        size_t c = i % t->columns;

        text_clear(&word);
        study_cell_text(t, i / t->columns, (int)c, style, &word);
        text_addf(out, "%s<td%s>%s", c == 0 ? "<tr>" : "",
                  t->column[c].kind == STUDY_TEXT ? "" : " class=\"n\"",
                  t->cell[i].best ? "<b>" : "");
        text_add_html(out, text_str(&word));
        text_addf(out, "%s</td>%s", t->cell[i].best ? "</b>" : "",
                  c == t->columns - 1 ? "</tr>\n" : "");
    }
    text_add(out, "</tbody></table>\n");
    study_table_notes(t, "<p class=\"note\">", "</p>\n", text_add_html, out);
    text_free(&word);
}

void study_add_field(struct text *row, const char *word)
{
    struct text guarded = {0};

    if (*word && strchr("=+-@\t\r\n", *word)) { /* quotes do not stop a spreadsheet */
        text_addf(&guarded, "'%s", word);
        sheet_add_text(row, text_str(&guarded));
    } else {
        sheet_add_text(row, word);
    }
    text_free(&guarded);
}
