/* ui/results_live.c: what is known of a run at work before its run.csv, which is written now and then,
 * tells of it. */
#include "ui/results_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct feed_run *results_live(const struct results *r, const struct library_run *run)
{
    bool known = run->live && r->app->feed;
    char *folder = known ? library_folder(r->app->library, run->name) : NULL;
    const struct feed_run *at = folder ? feed_find(r->app->feed, folder) : NULL;

    free(folder);
    return at;
}

/* Test loss of its best epoch; nan: unknown. */
static double best_loss(const struct feed_run *at)
{
    for (size_t i = at->epochs.n; i-- > 0;)
        if (at->epochs.x[FEED_EPOCH][i] == (double)at->best_epoch)
            return at->epochs.y[FEED_TEST_LOSS][i];
    return NAN;
}

static double newest(const struct feed_run *at, const char *column)
{
    const struct feed_epochs *e = &at->epochs;
    size_t last = e->n - 1;
    const struct {
        const char *column;
        double value;
    } told[] = {{"epochs_done", e->x[FEED_EPOCH][last]},
                {"train_seconds", e->x[FEED_SECONDS][last]},
                {"last_test_acc", e->y[FEED_TEST_ACC][last]},
                {"last.test_acc", e->y[FEED_TEST_ACC][last]},
                {"last_test_loss", e->y[FEED_TEST_LOSS][last]},
                {"best_test_acc", at->best_acc},
                {"best_test_loss", best_loss(at)},
                {"best_epoch", (double)at->best_epoch}};

    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (!strcmp(told[i].column, column))
            return told[i].value;
    return NAN;
}

const char *results_newest(const struct results *r, const struct library_run *run,
                           const char *column, char out[TEXT_NUMBER_ROOM])
{
    const struct feed_run *at = results_live(r, run);
    double value;

    if (!at || !at->epochs.n || newest(at, "epochs_done") <= library_number(run, "epochs_done"))
        return NULL;
    value = newest(at, column);
    return isfinite(value) ? text_double(out, value) : NULL;
}

const char *results_raw(const struct results *r, const struct library_run *run, const char *column,
                        char out[TEXT_NUMBER_ROOM])
{
    const char *raw = results_newest(r, run, column, out);

    return raw ? raw : library_cell(run, column);
}
