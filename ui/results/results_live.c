/* ui/results/results_live.c: what is known of a run at work, and of one that this program has ended, before its
 * run.csv, which is written now and then and looked at later still, tells of it. */
#include "ui/results/results_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct feed_run *results_live(const struct results *r, const struct library_run *run)
{
    const struct feed_run *at = r->app->feed ? feed_find(r->app->feed, run->name) : NULL;

    return at && (run->live || at->own) ? at : NULL;
}

struct results_standing results_standing(const struct results *r, const struct library_run *run)
{
    const struct feed_run *at = results_live(r, run);
    bool own = at && at->own && !run->broken;
    struct results_standing is = {.state = own ? at->state : run->state,
                                  .works = own ? at->live : run->live,
                                  .dead = !own && run->dead,
                                  .reason = own ? at->reason : library_cell(run, "reason")};

    if (run->broken || is.dead)
        is.words = library_cell(run, "state");
    else if (at && feed_lacks_room(r->app->feed, at))
        is.words = WIRE_NO_ROOM;
    else if (at && feed_starts(r->app->feed, at))
        is.words = "starting";
    else if (at && feed_is_stopping(r->app->feed, at))
        is.words = "stopping";
    else
        is.words = wire_state_name(is.state);
    is.stops = is.works && at && feed_stops_later(r->app->feed, at);
    return is;
}

/* That of the library which the feed's is. */
static const struct library_run *listed(const struct results *r, const struct feed_run *at)
{
    return at->path[0] ? library_find(r->app->library, at->name) : NULL;
}

bool *results_are_live(const struct results *r, const struct library_run *runs, size_t count)
{
    bool *are = mem_new(count + 1, sizeof *are);

    for (size_t i = 0; r->app->feed && i < feed_count(r->app->feed); i++) {
        const struct library_run *run = listed(r, feed_at(r->app->feed, i));

        if (run && results_live(r, run))
            are[run - runs] = true;
    }
    return are;
}

size_t results_running(const struct results *r, const struct library_run *runs, size_t count)
{
    bool *live = results_are_live(r, runs, count);
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct results_standing is = {.state = runs[i].state, .works = runs[i].live};

        if (live[i])
            is = results_standing(r, &runs[i]);
        n += is.works && is.state == WIRE_RUNNING;
    }
    free(live);
    return n;
}

uint64_t results_told(const struct results *r)
{
    uint64_t told = 0;

    for (size_t i = 0; r->app->feed && i < feed_count(r->app->feed); i++) {
        const struct feed_run *at = feed_at(r->app->feed, i);

        if (at->own)
            told = told * 31 + at->id * 64 + (uint64_t)at->state * 2 +
                   (at->live && feed_stops_later(r->app->feed, at));
    }
    return told;
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
    bool own = at && at->own && !run->broken;
    double value;

    if (own && !strcmp(column, "state"))
        return wire_state_name(at->state);
    if (own && !strcmp(column, "reason"))
        return at->reason;
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
