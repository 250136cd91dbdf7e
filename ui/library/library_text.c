/* ui/library/library_text.c: strings held once, and values that are read from the runs' other files. */
#include "ui/library/library_int.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/columns.h"
#include "record/run/reader.h"
#include "record/stamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK   65536
#define FILL    256      /* values that one task reads */
#define FILL_NS 50000000 /* and the longest it may take: others wait behind it */

struct library_chunk {
    struct library_chunk *next;
    size_t n, room;
    char bytes[];
};

static void put_slot(const char **slot, size_t slots, const char *s)
{
    size_t i = hash_quick(s, strlen(s)) & (slots - 1);

    while (slot[i])
        i = (i + 1) & (slots - 1);
    slot[i] = s;
}

static void grow(struct library_pool *p)
{
    size_t slots = p->slots ? 2 * p->slots : 1024;
    const char **slot = mem_new(slots, sizeof *slot);

    for (size_t i = 0; i < p->slots; i++)
        if (p->slot[i])
            put_slot(slot, slots, p->slot[i]);
    free(p->slot);
    p->slot = slot;
    p->slots = slots;
}

const char *library_intern(struct library_pool *p, const char *s)
{
    size_t n = strlen(s) + 1, i;
    struct library_chunk *c = p->chunk;

    if (4 * (p->used + 1) > 3 * p->slots)
        grow(p);
    for (i = hash_quick(s, strlen(s)) & (p->slots - 1); p->slot[i]; i = (i + 1) & (p->slots - 1))
        if (!strcmp(p->slot[i], s))
            return p->slot[i];
    if (!c || c->room - c->n < n) {
        size_t room = n > CHUNK ? n : CHUNK;

        c = mem_new(1, sizeof *c + room);
        c->room = room;
        c->next = p->chunk;
        p->chunk = c;
    }
    memcpy(c->bytes + c->n, s, n);
    p->slot[i] = c->bytes + c->n;
    c->n += n;
    p->bytes += n;
    p->used++;
    return p->slot[i];
}

void library_free_pool(struct library_pool *p)
{
    for (struct library_chunk *c = p->chunk, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(p->slot);
    memset(p, 0, sizeof *p);
}

/* ---- values of other files ---- */

struct fill_one {
    char *folder, *name, column[64];
    struct record_stamp stamp;
    struct text value;
    bool read;
};
struct fill { /* the task */
    struct library *library;
    struct fill_one *one;
    size_t count;
};

static void do_fill(void *arg)
{
    struct fill *f = arg;
    uint64_t from = clock_ns();
    struct record_entry entry;
    const char *held = NULL;

    for (size_t i = 0; i < f->count && clock_ns() - from < FILL_NS; i++) {
        struct fill_one *o = &f->one[i];

        if (!held || strcmp(held, o->folder) != 0) {
            if (held)
                record_free_entry(&entry);
            held = record_read_entry(o->folder, &entry, NULL) == ERR_OK ? o->folder : NULL;
        }
        if (held)
            record_entry_value(&entry, o->column, &o->value);
        o->read = true;
    }
    if (held)
        record_free_entry(&entry);
}

static void take_value(struct library *l, const struct fill_one *o)
{
    size_t at = library_place(l->list, o->name);

    if (!l->list || at == l->list->count || !record_stamp_same(&o->stamp, &l->list->stamp[at]))
        return;
    for (size_t k = 0; k < l->extras; k++) {
        struct library_extra *x = &l->extra[k];

        if (strcmp(x->column, o->column) != 0 || x->value[at])
            continue;
        x->value[at] = library_intern(&l->extra_pool, text_str(&o->value));
        x->left--;
    }
}

static void done_fill(void *arg, bool dropped)
{
    struct fill *f = arg;
    struct library *l = f->library;

    l->filling = false;
    for (size_t i = 0; i < f->count; i++) {
        struct fill_one *o = &f->one[i];

        if (!dropped && o->read)
            take_value(l, o);
        text_free(&o->value);
        free(o->folder);
        free(o->name);
    }
    if (!dropped) {
        l->turn++;
        library_fill_extras(l);
    }
    free(f->one);
    free(f);
}

void library_fill_extras(struct library *l)
{
    struct fill *f;
    size_t left = 0;

    for (size_t k = 0; k < l->extras; k++)
        left += l->extra[k].left;
    if (!left || !l->list || l->filling)
        return;
    f = mem_new(1, sizeof *f);
    f->library = l;
    f->one = mem_new(FILL, sizeof *f->one);
    for (size_t i = l->list->count; i-- > 0 && f->count < FILL;) { /* the newest first */
        for (size_t k = 0; k < l->extras && f->count < FILL; k++) {
            struct fill_one *o = &f->one[f->count];

            if (l->extra[k].value[i])
                continue;
            o->name = mem_text(l->list->run[i].name);
            o->folder = io_path(l->results, o->name);
            o->stamp = l->list->stamp[i];
            memcpy(o->column, l->extra[k].column, sizeof o->column);
            f->count++;
        }
    }
    l->filling = true;
    tasks_add(l->tasks, do_fill, done_fill, f);
}

static struct library_extra *want(struct library *l, const char *column)
{
    struct library_extra *x;

    for (size_t k = 0; k < l->extras; k++)
        if (!strcmp(l->extra[k].column, column))
            return &l->extra[k];
    if (l->extras == LIBRARY_EXTRAS) { /* the one that was asked for first */
        free(l->extra[0].value);
        memmove(l->extra, l->extra + 1, --l->extras * sizeof *l->extra);
    }
    x = &l->extra[l->extras++];
    memset(x, 0, sizeof *x);
    snprintf(x->column, sizeof x->column, "%s", column);
    x->left = l->list->count;
    x->value = mem_new(x->left + 1, sizeof *x->value);
    return x;
}

const char *library_value(struct library *l, const struct library_run *run, const char *column)
{
    int field = library_field(column);

    if (field >= 0)
        return run->cell[field];
    if (run->broken || strlen(column) >= sizeof l->extra->column || !record_column_is(column))
        return "";
    return want(l, column)->value[run - l->list->run];
}

void library_carry_extras(struct library *l, const struct library_list *old)
{
    const struct library_list *list = l->list;

    for (size_t k = 0; k < l->extras; k++) {
        struct library_extra *x = &l->extra[k];
        const char **value = mem_new(list->count + 1, sizeof *value);
        size_t at = 0;

        x->left = list->count;
        for (size_t i = 0; old && i < list->count; i++) {
            while (at < old->count && strcmp(old->run[at].name, list->run[i].name) < 0)
                at++;
            if (at < old->count && x->value[at] && !strcmp(old->run[at].name, list->run[i].name) &&
                record_stamp_same(&old->stamp[at], &list->stamp[i])) {
                value[i] = x->value[at];
                x->left--;
            }
        }
        free(x->value);
        x->value = value;
    }
}

void library_free_extras(struct library *l)
{
    for (size_t k = 0; k < l->extras; k++)
        free(l->extra[k].value);
    library_free_pool(&l->extra_pool);
}

size_t library_place(const struct library_list *list, const char *name)
{
    size_t low = 0, high = list ? list->count : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(list->run[middle].name, name);

        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return list ? list->count : 0;
}

int library_field(const char *column)
{
    static const char *const held[][2] = {
        {"test_acc", "best_test_acc"},      {"test_loss", "best_test_loss"},
        {"best.test_acc", "best_test_acc"}, {"best.test_loss", "best_test_loss"},
        {"last.test_acc", "last_test_acc"}, {"last.test_loss", "last_test_loss"}};

    for (size_t i = 0; i < MEM_COUNT(held); i++)
        if (!strcmp(held[i][0], column))
            column = held[i][1];
    for (size_t i = 0; i < RECORD_COLUMNS; i++)
        if (record_run_columns[i] == column || !strcmp(record_run_columns[i], column))
            return (int)i;
    return -1;
}
