/* CSV data sets: a label and numbers a row. As long as every number is an integer from 0 to 255 rows
 * are kept as bytes, so that a set of images takes no more memory than it would as IDX. */
#include "data/data_int.h"

#include "base/mem.h"
#include "base/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The labels met so far, each once; a hash table of numbers into the list. */
struct label {
    char *text;
    bool in_train;
    size_t line; /* where it was met first */
    const char *path;
};
struct labels {
    struct label *list;
    size_t count, room;
    uint32_t *slot; /* number + 1; 0: empty */
    size_t slots;   /* a power of two */
};

/* The rows of one file. */
struct grid {
    size_t rows, columns; /* columns without the label's */
    size_t room, label_room;
    uint8_t *bytes; /* (rows, columns); NULL once a value did not fit */
    double *numbers;
    uint32_t *label; /* (rows): numbers into the list of labels */
    char **names;    /* (columns), the header's, NULL where there is none */
};

struct csv_reader {
    const char *path;
    struct labels *labels;
    struct grid *grid;
    size_t fields, label_column;
    bool started, train;
    enum err_code code;
    struct err *e;
};

static void labels_free(struct labels *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->list[i].text);
    free(l->list);
    free(l->slot);
}

static size_t label_slot(const struct labels *l, const char *text)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a */

    for (const char *c = text; *c; c++)
        h = (h ^ (uint8_t)*c) * 1099511628211u;
    h ^= h >> 32;
    for (size_t at = h & (l->slots - 1);; at = (at + 1) & (l->slots - 1))
        if (!l->slot[at] || !strcmp(l->list[l->slot[at] - 1].text, text))
            return at;
}

static void labels_rehash(struct labels *l)
{
    l->slots = l->slots ? 2 * l->slots : 64;
    free(l->slot);
    l->slot = mem_new(l->slots, sizeof *l->slot);
    for (size_t i = 0; i < l->count; i++)
        l->slot[label_slot(l, l->list[i].text)] = (uint32_t)(i + 1);
}

static uint32_t label_number(struct csv_reader *r, const char *text, size_t line)
{
    struct labels *l = r->labels;
    size_t at;

    if (2 * (l->count + 1) > l->slots)
        labels_rehash(l);
    at = label_slot(l, text);
    if (!l->slot[at]) {
        l->list = mem_grow(l->list, &l->room, l->count + 1, sizeof *l->list);
        l->list[l->count++] = (struct label){mem_text(text), r->train, line, r->path};
        l->slot[at] = (uint32_t)l->count;
    }
    return l->slot[at] - 1;
}

static void grid_free(struct grid *g)
{
    free(g->bytes);
    free(g->numbers);
    free(g->label);
    for (size_t i = 0; g->names && i < g->columns; i++)
        free(g->names[i]);
    free(g->names);
    *g = (struct grid){0};
}

static enum err_code no_memory(const char *path, size_t rows, struct err *e)
{
    return err_set(e, ERR_NOMEM, "%s: no memory for its rows behind row %zu", path, rows);
}

/* Room for one row more, in whichever form the rows have. */
static enum err_code grid_grow(struct csv_reader *r)
{
    struct grid *g = r->grid;
    size_t width = g->numbers ? sizeof *g->numbers : 1, room;
    void *more;

    if (g->rows < g->room)
        return ERR_OK;
    room = g->room ? 2 * g->room : 256;
    more =
        reallocarray(g->numbers ? (void *)g->numbers : (void *)g->bytes, room, g->columns * width);
    if (!more)
        return no_memory(r->path, g->rows, r->e);
    if (g->numbers)
        g->numbers = more;
    else
        g->bytes = more;
    more = reallocarray(g->label, room, sizeof *g->label);
    if (!more)
        return no_memory(r->path, g->rows, r->e);
    g->label = more;
    g->room = room;
    return ERR_OK;
}

/* Bytes become numbers; filled: how many values there are so far. */
static enum err_code grid_widen(struct grid *g, size_t filled, const char *path, struct err *e)
{
    double *numbers;

    if (g->numbers)
        return ERR_OK;
    numbers = reallocarray(NULL, g->room, g->columns * sizeof *numbers);
    if (!numbers)
        return no_memory(path, g->rows, e);
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

static bool is_number(const char *s)
{
    double value;

    return text_to_double(s, &value) && isfinite(value);
}

/* A field of a file, safe to print and not too long. */
static const char *shown(const char *field, char out[64])
{
    struct text clean = {0};

    text_add_clean(&clean, field);
    snprintf(out, 64, "%.48s%s", text_str(&clean), clean.n > 48 ? "..." : "");
    text_free(&clean);
    return out;
}

static enum err_code header_row(struct csv_reader *r, size_t count, char **fields)
{
    struct grid *g = r->grid;
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
        numbers += is_number(fields[i]);
    *header = named || numbers == 0;
    return *header ? header_row(r, count, fields) : ERR_OK;
}

static enum err_code value_cell(struct csv_reader *r, size_t line, size_t column, const char *s,
                                size_t to)
{
    struct grid *g = r->grid;
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
                       line, column + 1, shown(s, clean),
                       g->rows == 0 && !g->names
                           ? "; a header row names its label column label, or has no numbers"
                           : "");
    }
    TRY(grid_widen(g, to, r->path, r->e));
    g->numbers[to] = value;
    return ERR_OK;
}

static enum err_code data_row(struct csv_reader *r, size_t line, size_t count, char **fields)
{
    struct grid *g = r->grid;
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

static enum err_code read_grid(struct grid *g, const char *path, struct labels *labels, bool train,
                               struct err *e)
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

/* Labels as classes: numbers by value ("1" and "1.0" are one), other labels by bytes. */
struct class_key {
    const char *text;
    double value;
    bool numeric;
    uint32_t label;
};

static int class_order(const void *a, const void *b)
{
    const struct class_key *x = a, *y = b;

    if (x->numeric)
        return (x->value > y->value) - (x->value < y->value);
    return strcmp(x->text, y->text);
}

/* class_of: (labels) number of a label to its class. train_only: a class that no training row has is
 * an error. */
static enum err_code make_classes(struct data_raw *raw, const struct labels *l, uint16_t *class_of,
                                  bool train_only, const char *path, struct err *e)
{
    struct class_key *key = mem_new(l->count, sizeof *key);
    bool numeric = true, *in_train = mem_new(l->count, sizeof *in_train);
    enum err_code code = ERR_OK;
    char clean[64], number[TEXT_NUMBER_ROOM];

    for (size_t i = 0; i < l->count && numeric; i++)
        numeric = is_number(l->list[i].text);
    for (size_t i = 0; i < l->count; i++) {
        key[i] = (struct class_key){l->list[i].text, 0, numeric, (uint32_t)i};
        if (numeric && !text_to_double(l->list[i].text, &key[i].value))
            key[i].value = 0;
    }
    qsort(key, l->count, sizeof *key, class_order);
    raw->class_names = mem_new(l->count, sizeof *raw->class_names);
    for (size_t i = 0; i < l->count; i++) {
        if (i == 0 || class_order(&key[i - 1], &key[i]))
            raw->class_names[raw->classes++] =
                mem_text(numeric ? text_double(number, key[i].value) : key[i].text);
        class_of[key[i].label] = (uint16_t)(raw->classes - 1);
        in_train[raw->classes - 1] |= l->list[key[i].label].in_train;
    }
    if (raw->classes < 2) {
        code = err_set(
            e, ERR_INPUT,
            "%s: every row has the label \"%s\": one class; a model needs two to tell apart", path,
            shown(key[0].text, clean));
    }
    for (size_t i = 0; i < l->count && train_only && code == ERR_OK; i++) {
        if (!in_train[class_of[i]])
            code = err_set(e, ERR_INPUT, "%s:%zu: the label \"%s\" is on no training row",
                           l->list[i].path, l->list[i].line, shown(l->list[i].text, clean));
    }
    free(key);
    free(in_train);
    return code;
}

static enum err_code same_columns(const struct grid *a, const struct grid *b, const char *train,
                                  const char *test, struct err *e)
{
    char x[64], y[64];

    if (a->columns != b->columns) {
        return err_set(e, ERR_INPUT, "%s: %zu columns beside the label, %s has %zu", test,
                       b->columns, train, a->columns);
    }
    for (size_t i = 0; a->names && b->names && i < a->columns; i++) {
        if (strcmp(a->names[i], b->names[i]))
            return err_set(e, ERR_INPUT, "%s:1: value %zu is named \"%s\", in %s \"%s\"", test,
                           i + 1, shown(b->names[i], y), train, shown(a->names[i], x));
    }
    return ERR_OK;
}

/* Values of one image come as (c, h, w) and are kept as (h, w, c). */
static enum err_code to_channels_last(struct grid *g, const struct net_shape *shape,
                                      const char *path, struct err *e)
{
    size_t pixels = (size_t)shape->h * (size_t)shape->w, channels = (size_t)shape->c;
    size_t width = g->bytes ? 1 : sizeof *g->numbers, size = pixels * channels;
    char *row, *all = g->bytes ? (char *)g->bytes : (char *)g->numbers;

    if (pixels == 1 || channels == 1)
        return ERR_OK;
    row = mem_try(size, width);
    if (!row)
        return no_memory(path, 0, e);
    for (size_t i = 0; i < g->rows; i++) {
        char *at = all + i * size * width;

        memcpy(row, at, size * width);
        for (size_t c = 0; c < channels; c++)
            for (size_t p = 0; p < pixels; p++)
                memcpy(at + (p * channels + c) * width, row + (c * pixels + p) * width, width);
    }
    free(row);
    return ERR_OK;
}

static enum err_code settle_shape(struct data_raw *raw, struct grid *train, struct grid *test,
                                  struct net_shape wanted, const char *path, struct err *e)
{
    size_t columns = train->columns, side = (size_t)(sqrt((double)columns) + 0.5), volume;
    bool bytes = train->bytes && (!test->rows || test->bytes);

    if (columns > 1u << 30)
        return err_set(e, ERR_INPUT, "%s: %zu columns are too many", path, columns);
    raw->shape = (struct net_shape){1, 1, (int)columns};
    if (wanted.h > 0 && !__builtin_mul_overflow((size_t)wanted.h, (size_t)wanted.w, &volume) &&
        !__builtin_mul_overflow(volume, (size_t)wanted.c, &volume) && volume == columns)
        raw->shape = wanted;
    else if (wanted.h <= 0 && bytes && side >= 8 && side * side == columns)
        raw->shape = (struct net_shape){(int)side, (int)side, 1};
    /* Bytes of something without a side are numbers like any other, to be scaled by column. */
    if (!bytes || raw->shape.h * raw->shape.w == 1) {
        TRY(grid_widen(train, train->rows * columns, path, e));
        if (test->rows)
            TRY(grid_widen(test, test->rows * columns, path, e));
    }
    TRY(to_channels_last(train, &raw->shape, path, e));
    return test->rows ? to_channels_last(test, &raw->shape, path, e) : ERR_OK;
}

/* `count` rows of g from `first` on as a part; memory is handed over where they start at 0. */
static enum err_code take_rows(struct data_raw_part *part, struct grid *g, size_t first, size_t all,
                               const uint16_t *class_of, const char *path, struct err *e)
{
    size_t width = g->bytes ? 1 : sizeof *g->numbers, count = part->count;
    char *from = g->bytes ? (char *)g->bytes : (char *)g->numbers, *to = from;

    part->all = all;
    part->labels = mem_try(count, sizeof *part->labels);
    if (first > 0) {
        to = mem_try(count, g->columns * width);
        if (to)
            memcpy(to, from + first * g->columns * width, count * g->columns * width);
    }
    if (!to || !part->labels) {
        if (first > 0)
            free(to);
        return no_memory(path, first, e);
    }
    for (size_t i = 0; i < count; i++)
        part->labels[i] = class_of[g->label[first + i]];
    if (g->bytes)
        part->bytes = (uint8_t *)to;
    else
        part->numbers = (double *)(void *)to;
    if (first == 0) {
        g->bytes = NULL;
        g->numbers = NULL;
    }
    return ERR_OK;
}

static enum err_code load_grids(struct data_raw *raw, const struct data_found *found,
                                struct grid *train, struct grid *test, struct labels *labels,
                                uint16_t **class_of, int64_t train_limit, int64_t test_limit,
                                struct net_shape wanted, const char *name, struct err *e)
{
    size_t train_rows, test_rows;

    TRY(read_grid(train, found->train, labels, true, e));
    if (found->test) {
        TRY(read_grid(test, found->test, labels, false, e));
        TRY(same_columns(train, test, found->train, found->test, e));
    } else if (train->rows < 2) {
        return err_set(e, ERR_INPUT, "%s: one row; training and test need one each", found->train);
    }
    test_rows = found->test ? test->rows : train->rows < 12 ? 1 : train->rows / 6;
    train_rows = found->test ? train->rows : train->rows - test_rows;
    *class_of = mem_new(labels->count, sizeof **class_of);
    TRY(make_classes(raw, labels, *class_of, found->test != NULL, found->train, e));
    TRY(settle_shape(raw, train, test, wanted, found->train, e));
    TRY(data_limit("train_limit", train_limit, train_rows, "training", name, &raw->train.count, e));
    TRY(data_limit("test_limit", test_limit, test_rows, "test", name, &raw->test.count, e));
    if (found->test)
        TRY(take_rows(&raw->test, test, 0, test_rows, *class_of, found->test, e));
    else
        TRY(take_rows(&raw->test, train, train_rows, test_rows, *class_of, found->train, e));
    return take_rows(&raw->train, train, 0, train_rows, *class_of, found->train, e);
}

enum err_code data_csv_load(struct data_raw *raw, const struct data_found *found,
                            int64_t train_limit, int64_t test_limit, struct net_shape wanted,
                            const char *name, struct err *e)
{
    struct grid train = {0}, test = {0};
    struct labels labels = {0};
    uint16_t *class_of = NULL;
    enum err_code code = load_grids(raw, found, &train, &test, &labels, &class_of, train_limit,
                                    test_limit, wanted, name, e);

    free(class_of);
    labels_free(&labels);
    grid_free(&train);
    grid_free(&test);
    return code;
}
