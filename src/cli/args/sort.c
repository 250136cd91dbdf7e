/* cli/args/sort.c: the order in which runs are listed. */
#include "cli/args/sort.h"

#include "base/mem.h"
#include "record/columns.h"
#include "record/run/reader.h"

#include <stdlib.h>
#include <string.h>

#define MOST_KEYS 8

struct sorted {
    const char *name;
    size_t place, keys;
    const bool *falling;
    struct record_key key[MOST_KEYS];
};

static int compare(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;

    for (size_t i = 0; i < x->keys; i++) {
        int order = record_compare_keys(&x->key[i], &y->key[i], x->falling[i]);
        if (order)
            return order;
    }
    return strcmp(x->name, y->name);
}

static struct record_key key_of(const struct record_entry *entry, const char *column)
{
    struct text value = {0};

    record_entry_value(entry, column, &value);
    return record_key_of(value.s);
}

static void sort(const struct record_entry *list, size_t count, const char *const *columns,
                 const bool *falling, size_t keys, size_t *order)
{
    struct sorted *s = mem_new(count + 1, sizeof *s);

    for (size_t i = 0; i < count; i++) {
        s[i].name = list[i].name;
        s[i].place = i;
        s[i].keys = keys;
        s[i].falling = falling;
        for (size_t k = 0; k < keys; k++)
            s[i].key[k] = key_of(&list[i], columns[k]);
    }
    qsort(s, count, sizeof *s, compare);
    for (size_t i = 0; i < count; i++) {
        order[i] = s[i].place;
        for (size_t k = 0; k < keys; k++)
            free((char *)s[i].key[k].value);
    }
    free(s);
}

void cli_order_runs(const struct record_entry *list, size_t count, size_t *order)
{
    sort(list, count, NULL, NULL, 0, order);
}

enum err_code cli_sort_runs(const struct record_entry *list, size_t count, const char *columns,
                            size_t *order, struct err *e)
{
    char *copy = mem_text(columns), *rest = copy;
    const char *column[MOST_KEYS];
    bool falling[MOST_KEYS];
    size_t keys = 0;
    enum err_code code = ERR_OK;

    for (char *word; code == ERR_OK && (word = strsep(&rest, ","));) {
        const char *near;
        if (keys == MOST_KEYS) {
            code = err_set(e, ERR_INPUT, "--sort takes at most %d columns", MOST_KEYS);
            break;
        }
        falling[keys] = *word == '-';
        column[keys] = word + (*word == '-' || *word == '+');
        if (!strcmp(column[keys], "age")) { /* what the list shows: the oldest began first */
            column[keys] = "started_utc";
            falling[keys] = !falling[keys];
        }
        if (!record_column_is(column[keys])) {
            near = record_column_nearest(column[keys]);
            code = err_set(e, ERR_INPUT, "--sort %s: runs have no column %s%s%s%s", columns,
                           column[keys], near ? "; did you mean " : ": `chorus ls --help`",
                           near ? near : "", near ? "?" : "");
        }
        keys++;
    }
    if (code == ERR_OK)
        sort(list, count, column, falling, keys, order);
    free(copy);
    return code;
}
