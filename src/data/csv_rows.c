/* Reading the rows of a CSV data set: where the label stands, and numbers. */
#include "data/csv_int.h"

#include "base/mem.h"
#include "base/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct csv_reader {
    const char *path;
    struct csv_labels *labels;
    struct csv_grid *grid;
    size_t fields, label_column;
    bool started, train;
    enum err_code code;
    struct err *e;
};

void csv_labels_free(struct csv_labels *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->list[i].text);
    free(l->list);
    free(l->slot);
}

static size_t label_slot(const struct csv_labels *l, const char *text)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a */

    for (const char *c = text; *c; c++)
        h = (h ^ (uint8_t)*c) * 1099511628211u;
    h ^= h >> 32;
    for (size_t at = h & (l->slots - 1);; at = (at + 1) & (l->slots - 1))
        if (!l->slot[at] || !strcmp(l->list[l->slot[at] - 1].text, text))
            return at;
}

static void labels_rehash(struct csv_labels *l)
{
    l->slots = l->slots ? 2 * l->slots : 64;
    free(l->slot);
    l->slot = mem_new(l->slots, sizeof *l->slot);
    for (size_t i = 0; i < l->count; i++)
        l->slot[label_slot(l, l->list[i].text)] = (uint32_t)(i + 1);
}

static uint32_t label_number(struct csv_reader *r, const char *text, size_t line)
{
    struct csv_labels *l = r->labels;
    size_t at;

    if (2 * (l->count + 1) > l->slots)
        labels_rehash(l);
    at = label_slot(l, text);
    if (!l->slot[at]) {
        l->list = mem_grow(l->list, &l->room, l->count + 1, sizeof *l->list);
        l->list[l->count++] = (struct csv_label){mem_text(text), r->train, line, r->path};
        l->slot[at] = (uint32_t)l->count;
    }
    return l->slot[at] - 1;
}

void csv_grid_free(struct csv_grid *g)
{
    free(g->bytes);
    free(g->numbers);
    free(g->label);
    for (size_t i = 0; g->names && i < g->columns; i++)
        free(g->names[i]);
    free(g->names);
    *g = (struct csv_grid){0};
}

enum err_code csv_no_memory(const char *path, size_t rows, struct err *e)
{
    return err_set(e, ERR_NOMEM, "%s: no memory for its rows behind row %zu", path, rows);
}

/* Room for one row more, in whichever form the rows have. */
static enum err_code grid_grow(struct csv_reader *r)
{
    struct csv_grid *g = r->grid;
    size_t width = g->numbers ? sizeof *g->numbers : 1, room;
    void *more;

    if (g->rows < g->room)
        return ERR_OK;
    room = g->room ? 2 * g->room : 256;
    more =
        reallocarray(g->numbers ? (void *)g->numbers : (void *)g->bytes, room, g->columns * width);
    if (!more)
        return csv_no_memory(r->path, g->rows, r->e);
    if (g->numbers)
        g->numbers = more;
    else
        g->bytes = more;
    more = reallocarray(g->label, room, sizeof *g->label);
    if (!more)
        return csv_no_memory(r->path, g->rows, r->e);
    g->label = more;
    g->room = room;
    return ERR_OK;
}

enum err_code csv_grid_widen(struct csv_grid *g, size_t filled, const char *path, struct err *e)
{
    double *numbers;

    if (g->numbers)
        return ERR_OK;
    numbers = reallocarray(NULL, g->room, g->columns * sizeof *numbers);
    if (!numbers)
        return csv_no_memory(path, g->rows, e);
    for (size_t i = 0; i < filled; i++)
        numbers[i] = g->bytes[i];
    free(g->bytes);
    g->bytes = NULL;
    g->numbers = numbers;
    return ERR_OK;
}

static bool small_integer(const char *s, int *value)
{
    int v = 0;

    if (!*s)
        return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '9' || v > 255)
            return false;
        v = v * 10 + (*s - '0');
    }
    *value = v;
    return v <= 255;
}

bool csv_is_number(const char *s)
{
    double value;

    return text_to_double(s, &value) && isfinite(value);
}

const char *csv_shown(const char *field, char out[64])
{
    struct text clean = {0};

    text_add_clean(&clean, field);
    snprintf(out, 64, "%.48s%s", text_str(&clean), clean.n > 48 ? "..." : "");
    text_free(&clean);
    return out;
}

static enum err_code header_row(struct csv_reader *r, size_t count, char **fields)
{
    struct csv_grid *g = r->grid;
    size_t to = 0;

    for (size_t i = 0; i < count; i++) {
        if (!fields[i][0]) {
            return err_set(
                r->e, ERR_INPUT,
                "%s:1: column %zu has no name; if it only numbers the rows, write the file "
                "without it",
                r->path, i + 1);
        }
    }
    g->names = mem_new(count - 1, sizeof *g->names);
    for (size_t i = 0; i < count; i++)
        if (i != r->label_column)
            g->names[to++] = mem_text(fields[i]);
    return ERR_OK;
}

/* The first row is a header if it has a column named label, or if none of its values is a number. */
static enum err_code first_row(struct csv_reader *r, size_t line, size_t count, char **fields,
                               bool *header)
{
    size_t numbers = 0;
    bool named = false;

    *header = false;
    r->started = true;
    r->fields = count;
    r->grid->columns = count - 1;
    if (count < 2) {
        return err_set(r->e, ERR_INPUT,
                       "%s:%zu: one column; a row is a label and at least one number, with commas "
                       "between them",
                       r->path, line);
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i], "label"))
            continue;
        if (named) {
            return err_set(r->e, ERR_INPUT, "%s:%zu: columns %zu and %zu are both named label",
                           r->path, line, r->label_column + 1, i + 1);
        }
        named = true;
        r->label_column = i;
    }
    for (size_t i = 1; i < count; i++)
        numbers += csv_is_number(fields[i]);
    *header = named || numbers == 0;
    return *header ? header_row(r, count, fields) : ERR_OK;
}

static enum err_code value_cell(struct csv_reader *r, size_t line, size_t column, const char *s,
                                size_t to)
{
    struct csv_grid *g = r->grid;
    char clean[64];
    double value;
    int small;

    if (small_integer(s, &small)) {
        if (g->bytes)
            g->bytes[to] = (uint8_t)small;
        else
            g->numbers[to] = small;
        return ERR_OK;
    }
    if (!text_to_double(s, &value) || !isfinite(value)) {
        return err_set(r->e, ERR_INPUT, "%s:%zu: column %zu is \"%s\", not a number%s", r->path,
                       line, column + 1, csv_shown(s, clean),
                       g->rows == 0 && !g->names
                           ? "; a header row names its label column label, or has no numbers"
                           : "");
    }
    TRY(csv_grid_widen(g, to, r->path, r->e));
    g->numbers[to] = value;
    return ERR_OK;
}

static enum err_code data_row(struct csv_reader *r, size_t line, size_t count, char **fields)
{
    struct csv_grid *g = r->grid;
    size_t to = g->rows * g->columns;

    if (count != r->fields) {
        return err_set(r->e, ERR_INPUT, "%s:%zu: %zu columns, the first row has %zu", r->path, line,
                       count, r->fields);
    }
    if (!fields[r->label_column][0])
        return err_set(r->e, ERR_INPUT, "%s:%zu: the label in column %zu is empty", r->path, line,
                       r->label_column + 1);
    TRY(grid_grow(r));
    g->label[g->rows] = label_number(r, fields[r->label_column], line);
    if (r->labels->count > DATA_CLASSES_MAX) {
        return err_set(
            r->e, ERR_INPUT,
            "%s:%zu: more than %d different labels in column %zu: is it the label's column?",
            r->path, line, DATA_CLASSES_MAX, r->label_column + 1);
    }
    for (size_t i = 0; i < count; i++)
        if (i != r->label_column)
            TRY(value_cell(r, line, i, fields[i], to++));
    if (++g->rows > DATA_COUNT_MAX)
        return err_set(r->e, ERR_INPUT, "%s: more than %u rows", r->path, DATA_COUNT_MAX);
    return ERR_OK;
}

static bool on_row(void *user, size_t line, size_t count, char **fields, const size_t *lengths)
{
    struct csv_reader *r = user;
    bool header = false;

    (void)lengths;
    if (!r->started)
        r->code = first_row(r, line, count, fields, &header);
    if (r->code == ERR_OK && !header)
        r->code = data_row(r, line, count, fields);
    return r->code == ERR_OK;
}

enum err_code csv_grid_read(struct csv_grid *g, const char *path, struct csv_labels *labels,
                            bool train, struct err *e)
{
    struct csv_reader r = {.path = path, .labels = labels, .grid = g, .train = train, .e = e};

    TRY(sheet_scan(path, NULL, on_row, &r, e));
    TRY(r.code);
    if (!r.started)
        return err_set(e, ERR_INPUT, "%s: the file is empty", path);
    if (g->rows == 0)
        return err_set(e, ERR_INPUT, "%s: a header row and nothing below it", path);
    return ERR_OK;
}
