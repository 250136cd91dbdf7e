/* One look at all runs, for those who look again and again: a stat a run, and its content only where
 * that is another than before. */
#include "record/look.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/index.h"
#include "record/record_int.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/stamp.h"

#include <stdlib.h>
#include <string.h>

bool record_is_run_name(const char *name)
{
    return name[0] != '.' && strcmp(name, "sweeps") != 0 && strcmp(name, "queue") != 0 &&
           strcmp(name, "trash") != 0;
}

struct looking {
    const struct record_looker *looker;
    const char *results;
    double now;
    struct record_index old;
    struct text rows; /* of the new index */
    size_t kept, added;
    struct record_run *run; /* scratch: it is large */
};

struct one {
    struct record_look look;
    char *folder, *path;
    enum wire_state state;
    bool was_dead; /* as the caller holds it */
    const char *cell[RECORD_COLUMNS];
    struct text text, caught; /* what cell points into, where it is not the index */
    struct err e;
};

static bool claims_owner(enum wire_state state)
{
    return state == WIRE_RUNNING || state == WIRE_PAUSED;
}

static bool take_known(struct looking *l, struct one *o)
{
    const struct record_looker *who = l->looker;

    return who->known && record_stamp_settled(&o->look.stamp, l->now) &&
           who->known(who->user, o->look.name, &o->look.stamp, &o->state, &o->was_dead);
}

static bool take_indexed(struct looking *l, struct one *o)
{
    const struct record_index_row *row = record_index_find(&l->old, o->look.name);

    if (!row || !record_stamp_same(&row->stamp, &o->look.stamp) ||
        !wire_state_find(record_index_cell(row, "state"), &o->state))
        return false;
    o->look.cells = row->cells;
    o->look.indexed = true;
    record_index_keep(&l->rows, row);
    l->kept++;
    return true;
}

static void read_file(struct looking *l, struct one *o)
{
    const char *at;

    text_clear(&o->text);
    o->look.problem = NULL;
    o->look.cells = NULL;
    o->look.indexed = false;
    if (record_read_cells(o->path, l->run, &o->text, &o->e) != ERR_OK) {
        o->look.problem = o->e.text;
        o->state = WIRE_FAILED;
        return;
    }
    o->state = l->run->state;
    at = text_str(&o->text);
    for (size_t i = 0; i < RECORD_COLUMNS; i++, at += strlen(at) + 1)
        o->cell[i] = at;
    o->look.cells = o->cell;
}

static void take_file(struct looking *l, struct one *o)
{
    read_file(l, o);
    if (o->look.cells && l->looker->first && record_stamp_settled(&o->look.stamp, l->now)) {
        record_index_add(&l->rows, o->look.name, &o->look.stamp, &o->text);
        l->added++;
    }
}

/* What the caller holds of a dead run has it already. */
static void catch_up(struct looking *l, struct one *o)
{
    size_t at = 0;

    if (o->was_dead && !o->look.cells)
        return;
    if (!o->look.cells || record_take_cells(l->run, o->look.cells, NULL, NULL, NULL) != ERR_OK)
        read_file(l, o);
    if (!o->look.cells || !record_catch_up(o->folder, l->run))
        return;
    memmove(o->cell, o->look.cells, sizeof o->cell);
    o->look.cells = o->cell;
    o->look.indexed = false;
    for (int i = 0; record_caught_columns[i]; i++) {
        record_run_value(l->run, record_caught_columns[i], &o->caught);
        text_add_n(&o->caught, "", 1);
    }
    for (int i = 0; record_caught_columns[i]; i++) {
        for (size_t c = 0; c < RECORD_COLUMNS; c++)
            if (!strcmp(record_run_columns[c], record_caught_columns[i]))
                o->cell[c] = o->caught.s + at;
        at += strlen(o->caught.s + at) + 1;
    }
}

/* Nobody is asked for the lock of a run that has ended. */
static void see_owner(struct looking *l, struct one *o)
{
    struct record_stamp stamp = o->look.stamp;
    struct stat st;

    if (o->look.problem || (!claims_owner(o->state) && o->state != WIRE_WAITING))
        return;
    o->look.live = record_is_owned(o->folder);
    if (o->look.live || !claims_owner(o->state))
        return;
    o->look.dead = true;
    if (io.stat(o->path, &st) < 0)
        return;
    record_stamp_of(&o->look.stamp, &st);
    if (record_stamp_same(&o->look.stamp, &stamp)) {
        catch_up(l, o);
        return;
    }
    /* It ended, or somebody took it up, between the two looks. */
    read_file(l, o);
    o->look.live = record_is_owned(o->folder);
    o->look.dead = !o->look.problem && claims_owner(o->state) && !o->look.live;
}

static void look_at(struct looking *l, const char *name)
{
    struct one *o = mem_new(1, sizeof *o);
    struct stat st;

    o->look.name = name;
    o->folder = io_path(l->results, name);
    o->path = io_path(o->folder, "run.csv");
    if (io.stat(o->path, &st) == 0) {
        record_stamp_of(&o->look.stamp, &st);
        if (!take_known(l, o) && !take_indexed(l, o))
            take_file(l, o);
        see_owner(l, o);
        l->looker->seen(l->looker->user, &o->look);
    } else if (record_is_run(o->folder)) {
        take_file(l, o); /* to say why it cannot be read */
        l->looker->seen(l->looker->user, &o->look);
    }
    text_free(&o->text);
    text_free(&o->caught);
    free(o->folder);
    free(o->path);
    free(o);
}

enum err_code record_look(const char *results, const struct record_looker *looker, struct err *e)
{
    struct looking l = {.looker = looker, .results = results, .now = clock_wall()};
    char **names = NULL;
    size_t n = 0, rows;

    TRY(io_list_if_there(results, &names, &n, e));
    l.run = mem_new(1, sizeof *l.run);
    if (looker->first && n >= RECORD_INDEX_LEAST)
        record_index_read(&l.old, results);
    if (looker->begin)
        looker->begin(looker->user, n);
    for (size_t i = 0; i < n; i++) /* sorted by name, and names begin with the time */
        if (record_is_run_name(names[i]))
            look_at(&l, names[i]);
    rows = l.kept + l.added;
    if (looker->first && record_index_is_old(rows, l.added + (l.old.rows - l.kept)))
        record_index_write(results, &l.rows, rows);
    record_index_free(&l.old);
    text_free(&l.rows);
    free(l.run);
    io_free_names(names, n);
    return ERR_OK;
}
