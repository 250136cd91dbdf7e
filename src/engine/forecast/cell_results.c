/* Cells are named by their settings, layers and data, as the sweep itself does it: a ledger under the
 * same name may be of other ones. */
#include "engine/forecast/cell_results.h"

#include "base/mem.h"
#include "record/sweep/ledger.h"

#include <stdlib.h>
#include <string.h>

struct cell_results {
    struct record_cell *list; /* (count) those with a result, by their hashes */
    size_t count;
};

static int by_cell(const void *a, const void *b)
{
    return strcmp(((const struct record_cell *)a)->cell, ((const struct record_cell *)b)->cell);
}

struct cell_results *cell_results_open(const char *results, const char *sweep, bool failed)
{
    struct record_ledger *ledger = NULL;
    struct cell_results *d = mem_new(1, sizeof *d);
    size_t n = 0;

    if (record_ledger_open_to_read(&ledger, results, sweep, NULL) == ERR_OK &&
        record_ledger_cells(ledger, &d->list, &n, NULL) == ERR_OK)
        for (size_t i = 0; i < n; i++)
            if (failed ? d->list[i].state == WIRE_DONE : wire_state_is_final(d->list[i].state))
                d->list[d->count++] = d->list[i];
    record_ledger_close(ledger);
    if (d->count) {
        qsort(d->list, d->count, sizeof *d->list, by_cell);
        return d;
    }
    cell_results_close(d);
    return NULL;
}

enum wire_state cell_results_look(const struct cell_results *d, const char hash[17])
{
    const struct record_cell *found;
    struct record_cell key = {0};

    memcpy(key.cell, hash, 17);
    found = bsearch(&key, d->list, d->count, sizeof key, by_cell);
    return found ? found->state : WIRE_WAITING;
}

void cell_results_close(struct cell_results *d)
{
    if (!d)
        return;
    free(d->list);
    free(d);
}
