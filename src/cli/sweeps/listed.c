#include "cli/sweeps/listed.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "cli/sweeps/sweeps.h"
#include "record/sweep/sheet.h"

#include <stdlib.h>
#include <string.h>

struct listed {
    struct sheet sheet;
    const char **other; /* (others) sorted */
    size_t others, runs;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct listed *listed_open(const char *sweep, bool cut)
{
    struct listed *l = mem_new(1, sizeof *l);
    char *folder = sweeps_folder(sweep), *path = io_path(folder, "sweep.csv");
    struct sheet *s = &l->sheet;
    int column;

    if (sheet_read(path, s, NULL) != ERR_OK)
        *s = (struct sheet){0};
    column = sheet_column(s, RECORD_LISTED);
    l->other = mem_new(s->rows + 1, sizeof *l->other);
    for (size_t r = 0; column >= 0 && r < s->rows; r++) {
        const char *told = sheet_cell(s, r, column);
        bool no = !strcmp(told, "no");

        if (no || (cut && !*told))
            l->other[l->others++] = sheet_cell(s, r, sheet_column(s, "cell"));
        l->runs += no && *sheet_cell(s, r, sheet_column(s, "run"));
    }
    qsort(l->other, l->others, sizeof *l->other, by_text);
    free(path);
    free(folder);
    return l;
}

bool listed_has(const struct listed *l, const char *cell)
{
    return !l->others || !bsearch(&cell, l->other, l->others, sizeof *l->other, by_text);
}

size_t listed_others(const struct listed *l)
{
    return l->runs;
}

void listed_close(struct listed *l)
{
    if (!l)
        return;
    sheet_free(&l->sheet);
    free(l->other);
    free(l);
}
