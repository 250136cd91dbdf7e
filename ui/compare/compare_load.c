/* ui/compare/compare_load.c: the files of the runs that are compared, read by the thread of tasks. */
#include "ui/compare/compare_int.h"

#include "base/mem.h"
#include "record/run/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct load { /* the task */
    struct compare *compare;
    char **folder;
    size_t count;
    struct compare_set *set;
};

void compare_free_set(struct compare_set *set)
{
    if (!set)
        return;
    study_close(set->run, set->count);
    for (size_t i = 0; i < set->count; i++)
        record_free_entry(&set->entry[i]);
    free(set->entry);
    free(set);
}

static void leave_out(struct compare_set *set, const struct err *e)
{
    if (!set->left_out++)
        snprintf(set->problem, sizeof set->problem, "%.511s", e->text);
}

static void do_load(void *arg)
{
    struct load *l = arg;
    struct compare_set *set = l->set;

    for (size_t i = 0; i < l->count; i++) {
        struct record_entry *entry = &set->entry[set->count];
        struct study_run *one;
        struct err e = {0};

        if (record_read_entry(l->folder[i], entry, &e) != ERR_OK) {
            leave_out(set, &e);
            continue;
        }
        if (study_open(&one, entry, 1, &e) != ERR_OK) {
            leave_out(set, &e);
            record_free_entry(entry);
            continue;
        }
        set->live = set->live || entry->live;
        set->run[set->count++] = one[0];
        free(one);
    }
}

static void done_load(void *arg, bool dropped)
{
    struct load *l = arg;
    struct compare *c = l->compare;

    c->loading = false;
    if (dropped) {
        compare_free_set(l->set);
    } else {
        compare_free_made(c); /* it points into the set */
        compare_free_set(c->set);
        c->set = l->set;
        c->loaded_ns = app_ns(c->app);
        c->stale = true;
    }
    for (size_t i = 0; i < l->count; i++)
        free(l->folder[i]);
    free(l->folder);
    free(l);
}

void compare_load(struct compare *c)
{
    struct load *l;

    if (c->loading)
        return;
    c->reload = false;
    l = mem_new(1, sizeof *l);
    l->compare = c;
    l->set = mem_new(1, sizeof *l->set);
    l->set->entry = mem_new(c->count + 1, sizeof *l->set->entry);
    l->set->run = mem_new(c->count + 1, sizeof *l->set->run);
    l->folder = mem_new(c->count + 1, sizeof *l->folder);
    for (size_t i = 0; i < c->count; i++)
        l->folder[l->count++] = library_folder(c->app->library, c->name[i]);
    c->loading = true;
    tasks_add(c->app->tasks, do_load, done_load, l);
}

void compare_name(struct compare *c, const char *const *names, size_t count, bool given)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->name[i]);
    free(c->name);
    c->more = count > COMPARE_MOST ? count - COMPARE_MOST : 0;
    c->name = mem_new(count + 1, sizeof *c->name);
    c->count = 0;
    for (size_t i = c->more; i < count; i++) /* the newest stay */
        c->name[c->count++] = mem_text(names[i]);
    c->given = given;
    c->marks_turn = library_marks_turn(c->app->library);
    c->reload = true;
}
