#include "record/best.h"

#include "base/mem.h"
#include "record/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct record_tested record_tested_of(const struct record_run *run)
{
    return (struct record_tested){.data = run->spec.data,
                                  .data_hash = record_run_data_hash(run),
                                  .train_limit = run->spec.train_limit,
                                  .test_limit = run->spec.test_limit};
}

bool record_tested_same(const struct record_tested *a, const struct record_tested *b)
{
    /* The hash is of what was trained on too, of as many images as that was. */
    bool hashed = *a->data_hash && *b->data_hash && a->train_limit == b->train_limit;

    return a->test_limit == b->test_limit &&
           !strcmp(hashed ? a->data_hash : a->data, hashed ? b->data_hash : b->data);
}

/* Of those that were tested on what the first of them was. */
static size_t best_of(const struct record_choice *of, size_t n, const bool *mine, size_t first)
{
    size_t best = first;
    double most = -INFINITY;
    bool valid = true;

    for (size_t i = first; i < n; i++)
        valid &= !mine[i] || of[i].by_valid;
    for (size_t i = first; i < n; i++) {
        double acc = valid ? of[i].valid_acc : of[i].test_acc;

        if (mine[i] && acc > most) {
            best = i;
            most = acc;
        }
    }
    return best;
}

void record_find_best(const struct record_choice *of, size_t n, bool *best)
{
    bool *left = mem_new(n + 1, sizeof *left), *mine = mem_new(n + 1, sizeof *mine);

    for (size_t i = 0; i < n; i++) {
        best[i] = false;
        left[i] = of[i].may;
    }
    for (size_t first = 0; first < n; first++) {
        if (!left[first])
            continue;
        for (size_t i = first; i < n; i++) {
            mine[i] = left[i] && record_tested_same(&of[first].on, &of[i].on);
            left[i] &= !mine[i];
        }
        best[best_of(of, n, mine, first)] = true;
    }
    free(left);
    free(mine);
}
