/* record/best.h: which of several runs is the best. Pure: what is known of them in, an answer out. */
#ifndef CHORUS_RECORD_BEST_H
#define CHORUS_RECORD_BEST_H

#include "record/run/run.h"
#include "record/run/writer.h"

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
    bool may; /* it may be the best: it has an accuracy, and came to no bad end */
    bool by_valid;
    struct record_tested on;
    double test_acc, valid_acc; /* nan: not known */
};
/* The best of each test data: by validation where all of these that may be it have it, so that test
 * images choose nothing; else by test. Of equals the first. best: (n) */
void record_find_best(const struct record_choice *of, size_t n, bool *best);

#endif
