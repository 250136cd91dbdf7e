/* Reading the rows of a CSV data set: where the label stands, and numbers. The label is the column
 * that the header names label, else the first; a table that is meant otherwise is refused rather than
 * learned from, as soon as its first column shows it. */
#include "data/csv_int.h"

#include "base/hash.h"
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
    bool started, train, named; /* named: by the header */
    char *name;                 /* of the label's column, NULL without a header */
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
    for (size_t at = hash_quick(text, strlen(text)) & (l->slots - 1);;
         at = (at + 1) & (l->slots - 1))
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

static bool is_fraction(const char *s)
{
    double value;

    return text_to_double(s, &value) && isfinite(value) && value != floor(value);
}

const char *csv_shown(const char *field, char out[64])
{
    const char *clean = TEXT_CLEAN(field);

    snprintf(out, 64, "%.48s%s", clean, strlen(clean) > 48 ? "..." : "");
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
    r->name = mem_text(fields[r->label_column]);
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
        return err_set(
            r->e, ERR_INPUT,
            "%s:%zu: one column%s; a row is a label and at least one number, with commas "
            "between them",
            r->path, line,
            !count                    ? ""
            : strchr(fields[0], ';')  ? ", with semicolons in it"
            : strchr(fields[0], '\t') ? ", with tabs in it"
                                      : "");
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
    r->named = named;
    *header = named || numbers == 0;
    return *header ? header_row(r, count, fields) : ERR_OK;
}

/* "column 5 (species)" */
static void add_column(const struct csv_reader *r, struct text *out, size_t column)
{
    const struct csv_grid *g = r->grid;
    char clean[64];

    text_addf(out, "column %zu", column + 1);
    if (r->name)
        text_addf(out, " (%s)",
                  csv_shown(column == r->label_column
                                ? r->name
                                : g->names[column - (column > r->label_column)],
                            clean));
}

/* What to do where the first column was taken for the label's and is not. fields: of a row, to see
 * whether the last column could be it; NULL: not known. */
static const char *say_next(const struct csv_reader *r, char **fields, struct text *out)
{
    const char *last = fields ? fields[r->fields - 1] : "";

    text_add(out, r->name ? "name the label's column label in line 1"
                          : "give the file a first row of names, with label over the label's");
    if (*last && !is_fraction(last)) {
        text_add(out, ": ");
        add_column(r, out, r->fields - 1);
        text_add(out, " may be it");
    }
    return text_str(out);
}

static enum err_code refuse_fraction(struct csv_reader *r, size_t line, char **fields)
{
    struct text which = {0}, next = {0};
    char clean[64];
    enum err_code code;

    add_column(r, &which, r->label_column);
    if (!r->named)
        text_add(&which, ", taken for the label because no column is named label,");
    code = err_set(r->e, ERR_INPUT, "%s:%zu: %s is %s; a label is a word or a whole number%s%s",
                   r->path, line, text_str(&which), csv_shown(fields[r->label_column], clean),
                   r->named ? "" : ". Next: ", r->named ? "" : say_next(r, fields, &next));
    text_free(&which);
    text_free(&next);
    return code;
}

/* What tables write where they have no number. */
static bool is_missing(const char *field)
{
    static const char *const words[] = {"",     "nan", "na",  "n/a",     "null",
                                        "none", "?",   "inf", "infinity"};
    const char *word = field + (*field == '-' || *field == '+');
    bool is = false;

    for (size_t i = 0; i < MEM_COUNT(words) && !is; i++)
        is = !strcasecmp(word, words[i]);
    return is;
}

static enum err_code refuse_value(struct csv_reader *r, size_t line, size_t column, char **fields)
{
    struct text which = {0}, next = {0};
    char clean[64];
    bool missing = is_missing(fields[column]);
    enum err_code code;

    if (missing)
        text_add(&next, ": a missing value cannot be trained on; give it a number or leave out the "
                        "row");
    else if (!r->named)
        text_addf(&next, "; column %zu was taken for the label: ", r->label_column + 1);
    add_column(r, &which, column);
    code = err_set(r->e, ERR_INPUT, "%s:%zu: %s is \"%s\", not a number%s", r->path, line,
                   text_str(&which), csv_shown(fields[column], clean),
                   missing    ? text_str(&next)
                   : r->named ? ""
                              : say_next(r, fields, &next));
    text_free(&which);
    text_free(&next);
    return code;
}

/* A first column of nothing but different values numbers the rows, or is a measurement. */
static enum err_code check_classes(struct csv_reader *r)
{
    struct text which = {0}, next = {0};
    size_t classes = r->labels->count, rows = r->grid->rows;
    enum err_code code;

    if (r->named || !r->train || rows < 20 || 2 * classes <= rows)
        return ERR_OK;
    add_column(r, &which, r->label_column);
    code =
        err_set(r->e, ERR_INPUT,
                "%s: %s, taken for the label because no column is named label, has %zu different "
                "values in %zu rows. Next: %s",
                r->path, text_str(&which), classes, rows, say_next(r, NULL, &next));
    text_free(&which);
    text_free(&next);
    return code;
}

/* Training computes in floats, whatever they are scaled by before. */
static enum err_code refuse_huge(struct csv_reader *r, size_t line, size_t column, char **fields)
{
    struct text which = {0};
    char clean[64];
    enum err_code code;

    add_column(r, &which, column);
    code =
        err_set(r->e, ERR_INPUT, "%s:%zu: %s is %s, too large for a float, whose largest is 3.4e38",
                r->path, line, text_str(&which), csv_shown(fields[column], clean));
    text_free(&which);
    return code;
}

static enum err_code value_cell(struct csv_reader *r, size_t line, size_t column, char **fields,
                                size_t to)
{
    struct csv_grid *g = r->grid;
    const char *s = fields[column];
    double value;
    int small;

    if (small_integer(s, &small)) {
        if (g->bytes)
            g->bytes[to] = (uint8_t)small;
        else
            g->numbers[to] = small;
        return ERR_OK;
    }
    if (!text_to_double(s, &value) || !isfinite(value))
        return refuse_value(r, line, column, fields);
    if (!isfinite((float)value))
        return refuse_huge(r, line, column, fields);
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
    if (is_fraction(fields[r->label_column]))
        return refuse_fraction(r, line, fields);
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
            TRY(value_cell(r, line, i, fields, to++));
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

    enum err_code code = sheet_scan(path, NULL, on_row, &r, e);

    if (code == ERR_OK)
        code = r.code;
    if (code == ERR_OK && !r.started)
        code = err_set(e, ERR_INPUT, "%s: the file is empty", path);
    if (code == ERR_OK && g->rows == 0)
        code = err_set(e, ERR_INPUT, "%s: a header row and nothing below it", path);
    if (code == ERR_OK)
        code = check_classes(&r);
    free(r.name);
    return code;
}

/* The first row, and no more. */
static bool on_first(void *user, size_t line, size_t count, char **fields, const size_t *lengths)
{
    struct csv_reader *r = user;
    bool header;

    (void)lengths;
    r->code = first_row(r, line, count, fields, &header);
    return false;
}

enum err_code data_csv_label(const char *path, char **words, struct err *e)
{
    struct csv_grid grid = {0};
    struct csv_reader r = {.path = path, .grid = &grid, .e = e};
    struct text out = {0};
    enum err_code code = sheet_scan(path, NULL, on_first, &r, e);

    if (code == ERR_OK)
        code = r.code;
    if (code == ERR_OK && r.started) {
        add_column(&r, &out, r.label_column);
        *words = out.s;
    }
    csv_grid_free(&grid);
    free(r.name);
    return code;
}
