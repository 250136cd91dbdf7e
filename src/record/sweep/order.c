/* results/sweeps/NAME/order.csv: the cells of a sweep in the order in which they were moved to run. */
#include "record/sweep/order.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "record/stamp.h"
#include "record/sweep/sweeps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *path_of(const char *results, const char *name)
{
    char *folder = record_sweep_folder(results, name), *path = io_path(folder, "order.csv");

    free(folder);
    return path;
}

struct record_stamp record_order_stamp(const char *results, const char *name)
{
    char *path = path_of(results, name);
    struct record_stamp stamp = {0};
    struct stat st;

    if (io.stat(path, &st) == 0)
        record_stamp_of(&stamp, &st);
    free(path);
    return stamp;
}

enum err_code record_order_write(const char *results, const char *name,
                                 const struct record_place *place, size_t n, struct err *e)
{
    char *path = path_of(results, name);
    struct text t = {0};
    enum err_code code;

    text_add(&t, "number,cell,waits\n");
    for (size_t i = 0; i < n; i++) {
        sheet_add_int(&t, (int64_t)place[i].number);
        sheet_add_text(&t, place[i].cell);
        sheet_add_text(&t, place[i].waits ? "yes" : "no");
        sheet_end_row(&t);
    }
    code = io_replace_own(path, text_str(&t), t.n, e);
    text_free(&t);
    free(path);
    return code;
}

enum err_code record_order_read(const char *results, const char *name, struct record_place **out,
                                size_t *n, struct err *e)
{
    char *path = path_of(results, name);
    struct sheet s;
    enum err_code code;

    *out = NULL;
    *n = 0;
    if (!io_exists(path)) {
        free(path);
        return ERR_OK;
    }
    code = sheet_read(path, &s, e);
    free(path);
    if (code != ERR_OK)
        return code;
    *out = mem_new(s.rows + 1, sizeof **out);
    for (size_t i = 0; i < s.rows; i++) {
        struct record_place *p = &(*out)[(*n)++];
        double number = sheet_number(&s, i, sheet_column(&s, "number"));

        p->number = number >= 0 && number < SPEC_MOST_CELLS ? (size_t)number : SIZE_MAX;
        snprintf(p->cell, sizeof p->cell, "%s", sheet_cell(&s, i, sheet_column(&s, "cell")));
        p->waits = !strcmp(sheet_cell(&s, i, sheet_column(&s, "waits")), "yes");
    }
    sheet_free(&s);
    return ERR_OK;
}

struct ranked {
    const char *cell;
    size_t rank, at;
};

static int by_cell(const void *a, const void *b)
{
    return strcmp(((const struct ranked *)a)->cell, ((const struct ranked *)b)->cell);
}

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

void record_order_rank(const struct record_place *place, size_t places, const char *const *cell,
                       size_t n, size_t *rank)
{
    struct ranked *known = mem_new(places + 1, sizeof *known);

    for (size_t i = 0; i < places; i++)
        known[i] = (struct ranked){.cell = place[i].cell, .rank = i};
    qsort(known, places, sizeof *known, by_cell);
    for (size_t i = 0; i < n; i++) {
        const struct ranked key = {.cell = cell[i]};
        const struct ranked *at = bsearch(&key, known, places, sizeof *known, by_cell);

        rank[i] = at ? at->rank : SIZE_MAX;
    }
    free(known);
}

size_t record_order_move(const size_t *rank, size_t n, size_t *slot, size_t *from)
{
    struct ranked *found = mem_new(n + 1, sizeof *found);
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        if (rank[i] == SIZE_MAX)
            continue;
        slot[count] = i;
        found[count++] = (struct ranked){.rank = rank[i], .at = i};
    }
    qsort(found, count, sizeof *found, by_rank);
    for (size_t i = 0; i < count; i++)
        from[i] = found[i].at;
    free(found);
    return count;
}
