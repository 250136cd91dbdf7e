/* Lists of runs: one look at each run.csv, and its content from the index where that is known. */
#include "record/list.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/index.h"
#include "record/record_int.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/stamp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listing {
    const char *results;
    double now;
    struct record_index old;
    struct text rows; /* of the new index */
    size_t kept, added;
    const struct record_index_row *before; /* of the run that was read last from the index, */
    const struct record_run *before_run;   /* and what came of it */
};

bool record_is_run_name(const char *name)
{
    return name[0] != '.' && strcmp(name, "sweeps") != 0 && strcmp(name, "queue") != 0 &&
           strcmp(name, "trash") != 0;
}

static bool take_known(struct listing *l, const struct record_index_row *row,
                       struct record_entry *entry)
{
    if (record_take_cells(&entry->run, row->cells, l->before_run,
                          l->before ? l->before->cells : NULL, NULL) != ERR_OK)
        return false;
    l->before = row;
    l->before_run = &entry->run;
    record_index_keep(&l->rows, row);
    l->kept++;
    return true;
}

static void read_new(struct listing *l, const char *path, const struct record_stamp *stamp,
                     struct record_entry *entry)
{
    struct text cells = {0};
    struct err e = {0};

    if (record_read_cells(path, &entry->run, &cells, &e) != ERR_OK) {
        entry->broken = true;
        snprintf(entry->problem, sizeof entry->problem, "%.255s", e.text);
    } else if (record_stamp_settled(stamp, l->now)) {
        record_index_add(&l->rows, entry->name, stamp, &cells);
        l->added++;
    }
    text_free(&cells);
}

/* The index's cells are not this entry's any more. */
static void forget_before(struct listing *l)
{
    l->before = NULL;
    l->before_run = NULL;
}

/* Nobody is asked for the lock of a run that has ended. */
static void see_owner(struct listing *l, const char *path, const struct record_stamp *stamp,
                      struct record_entry *entry)
{
    bool works = entry->run.state == WIRE_RUNNING || entry->run.state == WIRE_PAUSED;
    struct record_entry again;
    struct record_stamp later;
    struct stat st;

    if (entry->broken || (!works && entry->run.state != WIRE_WAITING))
        return;
    entry->live = record_is_owned(entry->folder);
    if (!works || entry->live)
        return;
    entry->dead = true;
    if (io.stat(path, &st) == 0) {
        record_stamp_of(&later, &st);
        if (record_stamp_same(&later, stamp)) {
            if (record_catch_up(entry->folder, &entry->run))
                forget_before(l);
            return;
        }
    }
    /* It ended, or somebody took it up, between the two looks. */
    if (record_read_entry(entry->folder, &again, NULL) == ERR_OK) {
        record_free_entry(entry);
        *entry = again;
        forget_before(l);
    }
}

/* False: it is no run. */
static bool take_entry(struct listing *l, const char *name, struct record_entry *entry)
{
    char *folder = io_path(l->results, name), *path = io_path(folder, "run.csv");
    const struct record_index_row *row = NULL;
    struct record_stamp stamp;
    struct stat st;
    bool is = io.stat(path, &st) == 0;

    if (is) {
        entry->folder = folder;
        entry->name = mem_text(name);
        record_stamp_of(&stamp, &st);
        row = record_index_find(&l->old, name);
        if (row && !record_stamp_same(&row->stamp, &stamp))
            row = NULL;
        if (!row || !take_known(l, row, entry))
            read_new(l, path, &stamp, entry);
        see_owner(l, path, &stamp, entry);
    } else {
        is = record_read_entry(folder, entry, NULL) == ERR_OK;
        free(folder);
    }
    free(path);
    return is;
}

enum err_code record_list(const char *results, struct record_entry **out, size_t *count,
                          struct err *e)
{
    struct listing l = {.results = results, .now = clock_wall()};
    struct err why = {0};
    char **names = NULL;
    size_t n = 0, rows;

    *out = NULL;
    *count = 0;
    if (io_list_if_there(results, &names, &n, &why) != ERR_OK && why.sys == ENOTDIR)
        err_set(&why, ERR_INPUT, "results cannot lie in %s: it is no folder", results);
    if (why.code != ERR_OK && e)
        *e = why;
    if (why.code != ERR_OK)
        return why.code;
    *out = mem_new(n + 1, sizeof **out);
    if (n >= RECORD_INDEX_LEAST)
        record_index_read(&l.old, results);
    for (size_t i = 0; i < n; i++) { /* sorted by name, and names begin with the time */
        if (record_is_run_name(names[i]))
            *count += take_entry(&l, names[i], &(*out)[*count]);
    }
    rows = l.kept + l.added;
    if (record_index_is_old(rows, l.added + (l.old.rows - l.kept)))
        record_index_write(results, &l.rows, rows);
    record_index_free(&l.old);
    text_free(&l.rows);
    io_free_names(names, n);
    return ERR_OK;
}

static bool is_done(const struct record_index *index, const char *folder, const char *name,
                    const char *cell)
{
    const struct record_index_row *row = record_index_find(index, name);
    char *path = io_path(folder, "run.csv"), *text = NULL;
    struct record_stamp stamp;
    struct record_entry entry;
    struct stat st;
    bool done;
    size_t n;

    if (row && io.stat(path, &st) == 0) {
        record_stamp_of(&stamp, &st);
        if (record_stamp_same(&stamp, &row->stamp)) {
            free(path);
            return !strcmp(record_index_cell(row, "cell"), cell) &&
                   !strcmp(record_index_cell(row, "state"), wire_state_name(WIRE_DONE));
        }
    }
    done = io_read_file(path, 1 << 20, &text, &n, NULL) == ERR_OK &&
           memmem(text, n, cell, strlen(cell));
    free(text);
    free(path);
    if (!done || record_read_entry(folder, &entry, NULL) != ERR_OK)
        return false;
    done = !entry.broken && entry.run.state == WIRE_DONE && !strcmp(entry.run.cell, cell);
    record_free_entry(&entry);
    return done;
}

bool record_find_done(const char *results, const char *cell, char *name, size_t room)
{
    struct record_index index = {0};
    char **names = NULL;
    size_t n = 0;
    bool found = false;

    if (io_list_if_there(results, &names, &n, NULL) != ERR_OK)
        return false;
    if (n >= RECORD_INDEX_LEAST)
        record_index_read(&index, results);
    for (size_t i = n; i-- > 0 && !found;) {
        char *folder = io_path(results, names[i]);

        found = record_is_run_name(names[i]) && is_done(&index, folder, names[i], cell);
        if (found)
            snprintf(name, room, "%s", names[i]);
        free(folder);
    }
    record_index_free(&index);
    io_free_names(names, n);
    return found;
}
