/* CSV data sets: rows become images of classes. */
#include "data/csv_int.h"

#include "base/io.h"
#include "base/mem.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
static enum err_code make_classes(struct data_raw *raw, const struct csv_labels *l,
                                  uint16_t *class_of, bool train_only, const char *path,
                                  struct err *e)
{
    struct class_key *key = mem_new(l->count, sizeof *key);
    bool numeric = true, *in_train = mem_new(l->count, sizeof *in_train);
    enum err_code code = ERR_OK;
    char clean[64], number[TEXT_NUMBER_ROOM];

    for (size_t i = 0; i < l->count && numeric; i++)
        numeric = csv_is_number(l->list[i].text);
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
            csv_shown(key[0].text, clean));
    }
    for (size_t i = 0; i < l->count && train_only && code == ERR_OK; i++) {
        if (!in_train[class_of[i]])
            code = err_set(e, ERR_INPUT, "%s:%zu: the label \"%s\" is on no training row",
                           l->list[i].path, l->list[i].line, csv_shown(l->list[i].text, clean));
    }
    free(key);
    free(in_train);
    return code;
}

static enum err_code same_columns(const struct csv_grid *a, const struct csv_grid *b,
                                  const char *train, const char *test, struct err *e)
{
    char x[64], y[64];

    if (a->columns != b->columns) {
        return err_set(e, ERR_INPUT, "%s: %zu columns beside the label, %s has %zu", test,
                       b->columns, train, a->columns);
    }
    for (size_t i = 0; a->names && b->names && i < a->columns; i++) {
        if (strcmp(a->names[i], b->names[i]))
            return err_set(e, ERR_INPUT, "%s:1: value %zu is named \"%s\", in %s \"%s\"", test,
                           i + 1, csv_shown(b->names[i], y), train, csv_shown(a->names[i], x));
    }
    return ERR_OK;
}

/* Values of one image come as (c, h, w) and are kept as (h, w, c). */
static enum err_code to_channels_last(struct csv_grid *g, const struct net_shape *shape,
                                      const char *path, struct err *e)
{
    size_t pixels = (size_t)shape->h * (size_t)shape->w, channels = (size_t)shape->c;
    size_t width = g->bytes ? 1 : sizeof *g->numbers, size = pixels * channels;
    char *row, *all = g->bytes ? (char *)g->bytes : (char *)g->numbers;

    if (pixels == 1 || channels == 1)
        return ERR_OK;
    row = mem_try(size, width);
    if (!row)
        return csv_no_memory(path, 0, e);
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

/* What a scan tells of a set, without its rows. */
struct csv_facts {
    size_t columns, train, test;
    int classes;
    bool bytes; /* every value is one */
};

/* The shape, and whether values are kept as bytes. Bytes of something without a side are numbers
 * like any other, to be scaled by column. */
static struct net_shape choose_shape(const struct csv_facts *f, struct net_shape wanted,
                                     bool *bytes)
{
    size_t side = (size_t)(sqrt((double)f->columns) + 0.5), volume;
    struct net_shape shape = {1, 1, (int)f->columns};

    if (wanted.h > 0 && !__builtin_mul_overflow((size_t)wanted.h, (size_t)wanted.w, &volume) &&
        !__builtin_mul_overflow(volume, (size_t)wanted.c, &volume) && volume == f->columns)
        shape = wanted;
    else if (wanted.h <= 0 && f->bytes && side >= 8 && side * side == f->columns)
        shape = (struct net_shape){(int)side, (int)side, 1};
    *bytes = f->bytes && (shape.h > 1 || shape.w > 1);
    return shape;
}

static enum err_code settle_shape(struct data_raw *raw, struct csv_grid *train,
                                  struct csv_grid *test, const struct csv_facts *facts,
                                  struct net_shape wanted, const char *path, struct err *e)
{
    raw->shape = choose_shape(facts, wanted, &raw->bytes);
    if (!raw->bytes) {
        TRY(csv_grid_widen(train, train->rows * facts->columns, path, e));
        if (test->rows)
            TRY(csv_grid_widen(test, test->rows * facts->columns, path, e));
    }
    TRY(to_channels_last(train, &raw->shape, path, e));
    return test->rows ? to_channels_last(test, &raw->shape, path, e) : ERR_OK;
}

/* The last set that was read: whoever asks again and again what an experiment would mean must not
 * wait for a scan each time. A file that was changed since is another one. */
static struct {
    pthread_mutex_t lock;
    char *train, *test; /* paths; test may be NULL */
    struct stat train_was, test_was;
    struct csv_facts facts;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool same_file(const char *path, const struct stat *was)
{
    struct stat now;

    return io.stat(path, &now) == 0 && now.st_dev == was->st_dev && now.st_ino == was->st_ino &&
           now.st_size == was->st_size && now.st_mtim.tv_sec == was->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

static bool recall(const struct data_found *found, struct csv_facts *facts)
{
    bool known;

    pthread_mutex_lock(&last.lock);
    known = last.train && !strcmp(last.train, found->train) && !last.test == !found->test &&
            (!last.test || !strcmp(last.test, found->test)) &&
            same_file(last.train, &last.train_was) &&
            (!last.test || same_file(last.test, &last.test_was));
    if (known)
        *facts = last.facts;
    pthread_mutex_unlock(&last.lock);
    return known;
}

/* The files as they were before they were read. */
static void remember(const struct data_found *found, const struct stat *train_was,
                     const struct stat *test_was, const struct csv_facts *facts)
{
    pthread_mutex_lock(&last.lock);
    free(last.train);
    free(last.test);
    last.train = mem_text(found->train);
    last.test = found->test ? mem_text(found->test) : NULL;
    last.train_was = *train_was;
    last.test_was = *test_was;
    last.facts = *facts;
    pthread_mutex_unlock(&last.lock);
}

/* `count` rows of g from `first` on as a part; memory is handed over where they start at 0. */
static enum err_code take_rows(struct data_raw_part *part, struct csv_grid *g, size_t first,
                               const uint16_t *class_of, const char *path, struct err *e)
{
    size_t width = g->bytes ? 1 : sizeof *g->numbers, count = part->count;
    char *from = g->bytes ? (char *)g->bytes : (char *)g->numbers, *to = from;

    part->labels = mem_try(count, sizeof *part->labels);
    if (first > 0) {
        to = mem_try(count, g->columns * width);
        if (to)
            memcpy(to, from + first * g->columns * width, count * g->columns * width);
    }
    if (!to || !part->labels) {
        if (first > 0)
            free(to);
        return csv_no_memory(path, first, e);
    }
    for (size_t i = 0; i < count; i++)
        part->labels[i] = class_of[g->label[first + i]];
    if (g->bytes)
        part->bytes = (uint8_t *)to;
    else
        part->numbers = (double *)(void *)to;
    if (first == 0) { /* and gives back what is not part of it */
        void *less = reallocarray(to, count, g->columns * width);

        if (g->bytes)
            part->bytes = less ? less : part->bytes;
        else
            part->numbers = less ? less : part->numbers;
        g->bytes = NULL;
        g->numbers = NULL;
    }
    return ERR_OK;
}

/* What is being made into a set. */
struct csv_load {
    struct csv_grid train, test;
    struct csv_labels labels;
    uint16_t *class_of; /* (labels) */
    struct csv_facts facts;
};

static enum err_code scan(struct csv_load *l, struct data_raw *raw, const struct data_found *found,
                          struct err *e)
{
    struct stat train_was, test_was;
    bool known = io.stat(found->train, &train_was) == 0 &&
                 io.stat(found->test ? found->test : found->train, &test_was) == 0;
    size_t held;

    TRY(csv_grid_read(&l->train, found->train, &l->labels, true, e));
    if (found->test) {
        TRY(csv_grid_read(&l->test, found->test, &l->labels, false, e));
        TRY(same_columns(&l->train, &l->test, found->train, found->test, e));
    } else if (l->train.rows < 2) {
        return err_set(e, ERR_INPUT, "%s: one row; training and test need one each", found->train);
    }
    l->class_of = mem_new(l->labels.count, sizeof *l->class_of);
    TRY(make_classes(raw, &l->labels, l->class_of, found->test != NULL, found->train, e));
    held = l->train.rows < 12 ? 1 : l->train.rows / 6;
    l->facts = (struct csv_facts){
        .columns = l->train.columns,
        .train = found->test ? l->train.rows : l->train.rows - held,
        .test = found->test ? l->test.rows : held,
        .classes = raw->classes,
        .bytes = l->train.bytes && (!found->test || l->test.bytes),
    };
    if (known)
        remember(found, &train_was, &test_was, &l->facts);
    return ERR_OK;
}

static enum err_code limit_both(struct data_raw *raw, const struct csv_facts *facts,
                                int64_t train_limit, int64_t test_limit, const char *name,
                                struct err *e)
{
    raw->train.all = facts->train;
    raw->test.all = facts->test;
    TRY(data_limit("train_limit", train_limit, facts->train, "training", name, &raw->train.count,
                   e));
    return data_limit("test_limit", test_limit, facts->test, "test", name, &raw->test.count, e);
}

static enum err_code load(struct csv_load *l, struct data_raw *raw, const struct data_found *found,
                          int64_t train_limit, int64_t test_limit, struct net_shape wanted,
                          const char *name, struct err *e)
{
    TRY(scan(l, raw, found, e));
    TRY(limit_both(raw, &l->facts, train_limit, test_limit, name, e));
    TRY(settle_shape(raw, &l->train, &l->test, &l->facts, wanted, found->train, e));
    if (raw->shape.h == 1 && raw->shape.w == 1) {
        raw->column_names = l->train.names;
        l->train.names = NULL;
    }
    if (found->test)
        TRY(take_rows(&raw->test, &l->test, 0, l->class_of, found->test, e));
    else
        TRY(take_rows(&raw->test, &l->train, l->facts.train, l->class_of, found->train, e));
    return take_rows(&raw->train, &l->train, 0, l->class_of, found->train, e);
}

enum err_code data_csv_load(struct data_raw *raw, const struct data_found *found,
                            int64_t train_limit, int64_t test_limit, struct net_shape wanted,
                            bool peek, const char *name, struct err *e)
{
    struct csv_load l = {.class_of = NULL};
    enum err_code code;

    if (peek && recall(found, &l.facts)) {
        raw->classes = l.facts.classes;
        raw->shape = choose_shape(&l.facts, wanted, &raw->bytes);
        return limit_both(raw, &l.facts, train_limit, test_limit, name, e);
    }
    code = load(&l, raw, found, train_limit, test_limit, wanted, name, e);
    free(l.class_of);
    csv_labels_free(&l.labels);
    csv_grid_free(&l.train);
    csv_grid_free(&l.test);
    return code;
}
