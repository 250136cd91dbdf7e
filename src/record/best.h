/* record/best.h: which of several runs is the best. Pure: what is known of them in, an answer out. */
#ifndef CHORUS_RECORD_BEST_H
#define CHORUS_RECORD_BEST_H

#include "record/run/run.h"
#include "record/run/writer.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stddef.h>

struct record_tested {            /* what a run was tested on */
    const char *data, *data_hash; /* data_hash "": not known, or several */
    int64_t train_limit, test_limit;
};
struct record_tested record_tested_of(const struct record_run *run);
/* Whether it is the same: then their accuracies say which run is better. */
bool record_tested_same(const struct record_tested *a, const struct record_tested *b);

struct record_choice {
    double acc,
        val_acc; /* on test and on validation data; nan: none. Without acc it is never the best */
    struct record_tested on; /* for record_find_best alone */
};
/* The best: by validation where all that may be it have it (*by_valid), so that test images choose nothing;
 * else by test. Of equals the first; n: there is none. */
size_t record_best(const struct record_choice *of, size_t n, bool *by_valid);
/* The same of a sweep's cells, of those that are done. */
size_t record_best_cell(const struct wire_cell *cells, size_t n, bool *by_valid);
/* The best of each test data. best: (n) */
void record_find_best(const struct record_choice *of, size_t n, bool *best);

#endif
