/* ledger.csv: each cell comes up once and with names that lead out of no folder; whoever opens it to write reads the
 * same cells, cuts a torn line, and finds the line that it adds. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/mem.h"
#include "record/sweep/ledger.h"

#include <stdlib.h>
#include <string.h>

#define PATH "/r/sweeps/s/ledger.csv"

static void check_cells(const struct record_cell *cell, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        MUST(*cell[i].cell && !strpbrk(cell[i].cell, "/\n "));
        MUST(cell[i].run[0] != '.' && !strpbrk(cell[i].run, "/\n "));
        for (size_t k = 0; n < 50 && k < i; k++)
            MUST(strcmp(cell[k].cell, cell[i].cell) != 0);
    }
}

/* The cells of it; the caller frees them. */
static struct record_cell *read_cells(struct record_ledger *l, size_t *n)
{
    struct record_cell *cells;
    struct err e = {0};

    MUST(record_ledger_cells(l, &cells, n, &e) == ERR_OK);
    check_cells(cells, *n);
    return cells;
}

static void write_one(struct record_ledger *l)
{
    struct record_cell found;
    struct err e = {0};

    MUST(record_ledger_add(l, "0123456789abcdef", "", WIRE_FAILED, "a \"reason\"", &e) == ERR_OK);
    MUST(record_ledger_look(l, "0123456789abcdef", false, &found) == RECORD_CLAIM_ENDED);
    MUST_BE(found.reason, "a \"reason\"");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct record_ledger *l;
    struct record_cell *cells, *again;
    size_t count, count_again;
    struct err e = {0};

    fuzz_begin();
    fuzz_put(PATH, bytes, n);
    MUST(record_ledger_open_to_read(&l, "/r", "s", &e) == ERR_OK);
    cells = read_cells(l, &count);
    record_ledger_close(l);
    MUST(record_ledger_open(&l, "/r", "s", &e) == ERR_OK);
    again = read_cells(l, &count_again);
    MUST(count == count_again && !memcmp(cells, again, count * sizeof *cells));
    write_one(l);
    record_ledger_close(l);
    free(cells);
    free(again);
    return 0;
}
