/* The same numbers for the same experiment: cell by cell, as --dry-run prints them; by kinds of cells over the
 * wire, as Setup shows them; and of the sweep as it runs, its order and the time that is left. */
#include "tests/unit/engine/sweep_kit.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dry {
    struct wire_forecast sum;
    size_t order[CELLS]; /* (wanted) numbers of cells that would run, in their order */
    size_t wanted;
};

static void look_at_cells(const struct kit *k, const char *keys, struct wish wish, struct dry *out)
{
    struct forecast *f = forecast_of(k, keys, wish);
    const struct forecast_cell *cell = forecast_cells(f, NULL);

    memset(out, 0, sizeof *out);
    forecast_sum(f, &out->sum);
    for (size_t i = 0; i < out->sum.cells && i < CELLS; i++)
        if (cell[i].fate == WIRE_RUNS)
            out->order[out->wanted++] = cell[i].number;
    forecast_free(f);
}

static void same_range(const char *name, struct wire_range a, struct wire_range b)
{
    if (!(isnan(a.lo) && isnan(b.lo)) && (a.lo != b.lo || a.hi != b.hi))
        TEST_FAILED("%s: %g to %g, and %g to %g", name, a.lo, a.hi, b.lo, b.hi);
}

static void same_sums(const struct wire_forecast *a, const struct wire_forecast *b)
{
    CHECK(a->complete && b->complete);
    CHECK_INT(a->cells, b->cells);
    CHECK_INT(a->left_out, b->left_out);
    CHECK_INT(a->skipped, b->skipped);
    CHECK_INT(a->with_result, b->with_result);
    CHECK_INT(a->too_large, b->too_large);
    CHECK_INT(a->runs, b->runs);
    CHECK_INT(a->unknown, b->unknown);
    CHECK_INT(a->guessed_from, b->guessed_from);
    CHECK_NEAR(a->seconds / b->seconds, 1, 1e-9);
    CHECK_NEAR(a->model_images, b->model_images, 0);
    CHECK_NEAR(a->flops, b->flops, 0);
    same_range("steps per epoch", a->steps, b->steps);
    same_range("images dropped", a->dropped, b->dropped);
    same_range("batch per device", a->per_device, b->per_device);
    same_range("parameters", a->parameters, b->parameters);
    same_range("memory", a->bytes, b->bytes);
    same_range("learning rate", a->lr, b->lr);
    same_range("training images", a->images, b->images);
}

static int by_place(const void *a, const void *b)
{
    const struct wire_cell *x = a, *y = b;
    int64_t at[2] = {x->run ? -1 : x->place, y->run ? -1 : y->place};

    return (at[0] > at[1]) - (at[0] < at[1]);
}

static bool is_wanted(const struct dry *dry, uint32_t cell)
{
    for (size_t i = 0; i < dry->wanted; i++)
        if (dry->order[i] == cell)
            return true;
    return false;
}

/* The cells that run or wait, as the sweep has them while none has made a step. It skips one that cannot
 * begin when its turn comes. */
static void same_order(struct kit *k, uint32_t sweep, size_t jobs, const struct dry *dry)
{
    struct wire_cell cells[CELLS];
    size_t n = wire_cells(k->wire, sweep, cells, CELLS), open = 0;

    for (size_t i = 0; i < n; i++)
        if (cells[i].known && is_wanted(dry, cells[i].cell) &&
            (cells[i].state == WIRE_WAITING || cells[i].state == WIRE_RUNNING))
            cells[open++] = cells[i];
    CHECK_INT(open, dry->wanted);
    qsort(cells, open, sizeof *cells, by_place);
    for (size_t i = 0; i < open && i < dry->wanted; i++) {
        bool same = cells[i].cell == dry->order[i];

        for (size_t j = 0; i < jobs && j < jobs; j++) /* those that run have no order */
            same = same || cells[i].cell == dry->order[j];
        if (!same)
            TEST_FAILED("cell %u comes %zu., not cell %zu", cells[i].cell, i + 1, dry->order[i]);
    }
}

static void check_agree(struct kit *k, const char *keys, struct wish wish)
{
    size_t jobs = wish.jobs > 1 ? (size_t)wish.jobs : 1;
    struct wire_sweep_status status = {0};
    struct dry *dry = mem_new(1, sizeof *dry);
    uint32_t sweep;

    look_at_cells(k, keys, wish, dry);
    ask_sweep(k, keys, wish);
    same_sums(&dry->sum, &k->forecast);
    CHECK(dry->sum.seconds > 0);
    kit_hold(k, (struct fake_script){0}, 1);
    sweep = begin_sweep(k, keys, wish);
    for (int i = 0; i < KIT_WAIT_MS; i++, clock_sleep_ms(1))
        if (wire_sweep_status(k->wire, sweep, &status) && !status.counting &&
            status.running == (int64_t)jobs)
            break;
    CHECK_INT(status.running, jobs);
    if (!dry->sum.with_result) /* else what its own cells took tells more */
        CHECK_NEAR(status.left_seconds / dry->sum.seconds, 1, 1e-9);
    CHECK(status.left_seconds > 0);
    same_order(k, sweep, jobs, dry);
    kit_let_go(k, "");
    wait_sweep(k, sweep, &status);
    CHECK_INT(status.done, dry->sum.runs + dry->sum.with_result);
    CHECK_INT(status.skipped, dry->sum.skipped);
    CHECK_INT(status.left_out, wish.max_cells ? status.left_out : (int64_t)dry->sum.left_out);
    free(dry);
}

TEST(a_dry_run_setup_and_the_sweep_tell_the_same)
{
    struct wire_sweep_status status;
    struct kit k;

    kit_folder(&k);
    fake_set_script(&(struct fake_script){.step_ms = 2});
    kit_engine(&k, 4096, 0);
    run_sweep(&k, "batch = 8, 16\nepochs = 20\n", (struct wish){.name = "learn"}, &status);
    CHECK_INT(status.done, 2);
    check_agree(&k, "lr = 0.1, 0.2, 0.4\nepochs = 20, 40\n", (struct wish){.name = "all"});
    check_agree(&k, "lr = 0.1, 0.2, 0.4\nepochs = 20, 40, 60\n",
                (struct wish){.name = "all"}); /* six have a result */
    check_agree(&k, "lr = 0.1, 0.2, 0.4\nepochs = 20, 40\n",
                (struct wish){.name = "cut", .max_cells = 4, .jobs = 2});
    check_agree(&k, "seed = 1, 2\nepochs = 20, 60\nbatch = 16, 24, 32\n",
                (struct wish){.name = "listed", .grid = true});
    /* 3 devices divide no batch, and there are 96 images. */
    check_agree(&k, "lr = 0.1, 0.2\nepochs = 20\nbatch = 16, 32, 200\ndevices = 1, 3\n",
                (struct wish){.name = "impossible"});
    kit_end(&k);
}
