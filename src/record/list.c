/* Lists of runs: one look at each run.csv, and its content from the index where that is known. */
#include "record/list.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/index.h"
#include "record/look.h"
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
    struct record_entry *list;
    size_t count;
    const char *const *before; /* cells of the last one, where the index has them */
};

static void begin(void *user, size_t most)
{
    struct listing *l = user;

    l->list = mem_new(most + 1, sizeof *l->list);
}

/* Most of a run is as the one before has it. */
static bool take_cells(struct listing *l, const struct record_look *run, struct record_run *out)
{
    const char *const *like = run->indexed ? l->before : NULL;

    return record_take_cells(out, run->cells, like ? &l->list[l->count - 1].run : NULL, like,
                             NULL) == ERR_OK;
}

static void seen(void *user, const struct record_look *run)
{
    struct listing *l = user;
    struct record_entry *entry = &l->list[l->count];

    entry->folder = io_path(l->results, run->name);
    entry->name = mem_text(run->name);
    entry->live = run->live;
    entry->dead = run->dead;
    entry->broken = !run->cells || !take_cells(l, run, &entry->run);
    if (run->problem)
        snprintf(entry->problem, sizeof entry->problem, "%.255s", run->problem);
    l->before = run->indexed && !entry->broken ? run->cells : NULL;
    l->count++;
}

enum err_code record_list(const char *results, struct record_entry **out, size_t *count,
                          struct err *e)
{
    struct listing l = {.results = results};
    const struct record_looker looker = {.first = true, .begin = begin, .seen = seen, .user = &l};
    struct err why = {0};
    enum err_code code = record_look(results, &looker, &why);

    if (code != ERR_OK && why.sys == ENOTDIR)
        err_set(&why, ERR_INPUT, "results cannot lie in %s: it is no folder", results);
    if (code != ERR_OK && e)
        *e = why;
    *out = l.list;
    *count = l.count;
    return why.code;
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
