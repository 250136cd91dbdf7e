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

size_t record_best(const struct record_choice *of, size_t n, bool *by_valid)
{
    size_t best = n;

    *by_valid = true;
    for (size_t i = 0; i < n; i++)
        *by_valid &= !isfinite(of[i].acc) || isfinite(of[i].val_acc);
    for (size_t i = 0; i < n; i++)
        if (isfinite(of[i].acc) && (best == n || (*by_valid ? of[i].val_acc > of[best].val_acc
                                                            : of[i].acc > of[best].acc)))
            best = i;
    return best;
}

size_t record_best_cell(const struct wire_cell *cells, size_t n, bool *by_valid)
{
    struct record_choice *of = mem_new(n + 1, sizeof *of);
    size_t best;

    for (size_t i = 0; i < n; i++) {
        of[i].acc = cells[i].known && cells[i].state == WIRE_DONE ? cells[i].acc : NAN;
        of[i].val_acc = cells[i].val_acc;
    }
    best = record_best(of, n, by_valid);
    free(of);
    return best;
}

void record_find_best(const struct record_choice *of, size_t n, bool *best)
{
    struct record_choice *mine = mem_new(n + 1, sizeof *mine);
    bool *left = mem_new(n + 1, sizeof *left), by_valid;

    for (size_t i = 0; i < n; i++) {
        best[i] = false;
        left[i] = isfinite(of[i].acc);
    }
    for (size_t first = 0; first < n; first++) {
        if (!left[first])
            continue;
        for (size_t i = 0; i < n; i++) {
            bool same = left[i] && record_tested_same(&of[first].on, &of[i].on);

            mine[i] = (struct record_choice){same ? of[i].acc : NAN, of[i].val_acc, of[i].on};
            left[i] &= !same;
        }
        best[record_best(mine, n, &by_valid)] = true;
    }
    free(left);
    free(mine);
}
