/* order.csv, the order that a sweep's cells were moved to: what is read and written again is the same. */
#include "tests/torture/fuzz/fuzz.h"

#include "record/sweep/order.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct record_place *first, *second;
    size_t places, again;
    struct err e = {0};

    fuzz_begin();
    fuzz_put("/r/sweeps/s/order.csv", bytes, n);
    if (fuzz_taken(record_order_read("/r", "s", &first, &places, &e), &e)) {
        MUST(record_order_write("/r", "s", first, places, &e) == ERR_OK);
        MUST(record_order_read("/r", "s", &second, &again, &e) == ERR_OK);
        MUST(places == again);
        for (size_t i = 0; i < places; i++) {
            MUST(first[i].number == second[i].number && first[i].waits == second[i].waits);
            MUST(!strcmp(first[i].cell, second[i].cell));
        }
        free(second);
    }
    free(first);
    return 0;
}
