/* What an experiment means before it runs: cells counted and left out, and prices added up, against counts by
 * hand. */
#include "tests/test.h"

#include "base/mem.h"
#include "engine/forecast/forecast.h"

#include <math.h>

static struct forecast *of_wish(const char *text, struct forecast_wish wish)
{
    struct spec_sweep s;
    struct err e = {0};

    spec_sweep_init(&s);
    if (spec_sweep_parse(&s, text, strlen(text), "made.ini", &e) != ERR_OK ||
        spec_sweep_close(&s, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    wish.kinds = FORECAST_KINDS;
    return forecast_new(&s, &wish);
}

static struct forecast *of(const char *text)
{
    return of_wish(text, (struct forecast_wish){0});
}

static struct {
    const char *error;
    enum err_code code;
} refused[8]; /* of the kinds that are asked about, in their order; code ERR_OK: it is not */
static int asked;

/* As the planner would: 60,000 images, a second for 100,000 model-images. */
static void price(void *user, const struct spec *s, struct wire_plan *out)
{
    int64_t most = user ? *(int64_t *)user : INT64_MAX;
    struct wire_plan p = {.images = 60000,
                          .batch = spec_batch(s),
                          .epochs = s->epochs,
                          .flops_per_image = 1000,
                          .parameters = 129068};

    p.ensemble = s->mode == SPEC_ENSEMBLE;
    p.members = p.ensemble ? (s->members ? s->members : s->devices) : 1;
    p.batch_per_device = p.ensemble ? p.batch : p.batch / s->devices;
    p.steps_per_epoch = p.images / p.batch;
    p.dropped = p.images % p.batch;
    p.model_images = (double)(p.steps_per_epoch * s->epochs * p.batch * p.members);
    p.seconds = p.model_images / 100000;
    if (p.batch > most) {
        p.code = ERR_INPUT;
        snprintf(p.error, sizeof p.error, "batch = %lld: there are %lld images", (long long)p.batch,
                 (long long)most);
    } else if (asked < (int)MEM_COUNT(refused) && refused[asked].code) {
        p.code = refused[asked].code;
        snprintf(p.error, sizeof p.error, "%s", refused[asked].error);
    }
    asked++;
    *out = p;
}

static void refuse_two(void)
{
    refused[0].code = ERR_INPUT;
    refused[0].error = "no";
    refused[1].code = ERR_NOMEM;
    refused[1].error = "large";
}

static int ask_all(struct forecast *f, void *user)
{
    asked = 0;
    while (forecast_ask(f, price, user))
        ;
    memset(refused, 0, sizeof refused);
    return asked;
}

TEST(one_experiment_is_a_forecast_of_one)
{
    struct forecast *f = of("epochs = 2\nbatch = 250\nlr = 0.3\n");
    struct wire_forecast sum;

    CHECK(forecast_walk(f, UINT64_MAX, NULL));
    forecast_sum(f, &sum);
    CHECK(!sum.complete && !sum.planned && sum.runs == 1 && isnan(sum.seconds));
    CHECK_NEAR(sum.lr.lo, 0.3, 0);
    CHECK_INT(ask_all(f, NULL), 1);
    forecast_sum(f, &sum);
    CHECK(sum.complete && sum.planned);
    CHECK_NEAR(sum.steps.lo, 240, 0);
    CHECK_NEAR(sum.model_images, 120000, 0);
    CHECK_NEAR(sum.flops, 1.2e8, 0);
    CHECK_NEAR(sum.seconds, 1.2, 1e-12);
    CHECK(isnan(sum.as_one.lo));
    forecast_free(f);
}

TEST(cells_that_cost_the_same_are_asked_about_once)
{
    struct forecast *f =
        of("epochs = 1\nbatch = 100, 200\nlr = 0.05, 0.1, 0.2\ndevices = 1, 3\nrepeats = 4\n");
    struct wire_forecast sum;

    CHECK(forecast_walk(f, UINT64_MAX, NULL));
    forecast_sum(f, &sum);
    CHECK_INT(sum.cells, 48);
    CHECK_INT(sum.left_out, 24); /* 3 devices divide neither batch */
    CHECK_INT(sum.reasons, 2);
    CHECK_INT(sum.reason[0].cells, 12);
    CHECK_HAS(sum.reason[0].text, "batch = 100: 3 devices do not divide it");
    CHECK_INT(ask_all(f, NULL), 2); /* by batch alone */
    forecast_sum(f, &sum);
    CHECK_INT(sum.runs, 24);
    CHECK_INT(sum.left_out, 24);
    CHECK_NEAR(sum.model_images, 24 * 60000.0, 0);
    CHECK_NEAR(sum.lr.lo, 0.05, 0);
    CHECK_NEAR(sum.lr.hi, 0.2, 0);
    CHECK_NEAR(sum.steps.lo, 300, 0);
    CHECK_NEAR(sum.steps.hi, 600, 0);
    forecast_free(f);
}

/* Each cell made and checked by itself, as a sweep does it. */
static void check_by_hand(const char *text, size_t made)
{
    struct forecast *f = of(text);
    struct spec_sweep s;
    struct spec cell;
    struct wire_forecast sum;
    struct err e = {0};
    size_t cells, left_out = 0, reasons = 0;
    double lo = INFINITY, hi = -INFINITY, images = 0;

    CHECK(forecast_walk(f, UINT64_MAX, NULL));
    CHECK_INT(forecast_made(f), made);
    ask_all(f, NULL);
    forecast_sum(f, &sum);
    spec_sweep_init(&s);
    REQUIRE_OK(spec_sweep_parse(&s, text, strlen(text), "made.ini", &e));
    REQUIRE_OK(spec_sweep_close(&s, &e));
    cells = spec_sweep_cells(&s);
    for (size_t i = 0; i < cells; i++) {
        double lr;

        if (spec_sweep_cell(&s, i, &cell, &e) != ERR_OK) {
            left_out++;
            continue;
        }
        lr = spec_base_lr(&cell, spec_batch(&cell));
        lo = fmin(lo, lr);
        hi = fmax(hi, lr);
        images += (double)(60000 / spec_batch(&cell) * spec_batch(&cell) * cell.epochs);
    }
    CHECK_INT(sum.cells, cells);
    CHECK_INT(sum.left_out, left_out);
    CHECK_INT(sum.runs, cells - left_out);
    CHECK_NEAR(sum.lr.lo, lo, 0);
    CHECK_NEAR(sum.lr.hi, hi, 0);
    CHECK_NEAR(sum.model_images, images, 0);
    for (size_t i = 0; i < sum.reasons; i++)
        reasons += sum.reason[i].cells;
    CHECK_INT(reasons, left_out);
    forecast_free(f);
    spec_sweep_free(&s);
}

/* Ten thousand cells at a keystroke: what they differ by may be known to change nothing but the learning rate. */
TEST(of_cells_that_are_alike_one_is_made)
{
    check_by_hand("epochs = 1\nbatch = 100, 200\nlr = lin:0.01:1:1000\nrepeats = 5\n", 2);
    check_by_hand("epochs = 1, 2\nbatch = 100, 250\ndevices = 1, 3\nlr = geom:0.001:1:50\n", 8);
    check_by_hand("epochs = 1\nbatch = 100, 200\nlr_rule = sqrt\nlr = \"0.25\", 0.5, 0.1\n", 2);
    check_by_hand("epochs = 1\noptimizer = momentum\nmomentum = lin:0:0.9:10\nlr = 0.1, 0.2\n", 1);
    check_by_hand("epochs = 1\nschedule = step\nstep_epochs = 1, 2\nstep_factor = 0.1, 0.5\n", 1);
    check_by_hand("epochs = 1\ndata = synthetic\nseed = step:1:500:1\nweight_decay = 0, 1e-4\n", 1);
    check_by_hand("epochs = 1\nschedule = cosine\nlr_min = lin:0:0.1:10\nlr = lin:0.1:1:10\n", 1);
    check_by_hand("epochs = 1\nschedule = cosine\nlr_min = 0.01, 0.1\nseed = 1, 2\n", 1);
    check_by_hand("epochs = 1\nsamples = 40\nlr = loguniform:0.01:1\n"
                  "grad_clip = loguniform:0.1:9\n",
                  1);
}

/* There their values decide which cells are possible, or walk with what costs. */
TEST(cells_that_what_is_alike_elsewhere_tells_apart_are_all_made)
{
    check_by_hand("epochs = 1\noptimizer = sgd, momentum\nmomentum = 0.5, 0.9\nlr = 0.1, 1\n", 4);
    check_by_hand("epochs = 1\nschedule = cosine\nlr_min = 0.1\nlr = 0.01, 0.05, 0.2, 1\n", 4);
    check_by_hand("epochs = 1\nschedule = cosine\nlr_min = 0, 0.1\nlr = 0.01, 0.05, 0.2, 1\n", 8);
    check_by_hand("epochs = 1\nschedule = cosine\nlr_min = 0, \"0.1\"\nlr = 0.05, 0.2\n", 4);
    check_by_hand("epochs = 1\nschedule = cosine\nlr_rule = linear\nlr_batch = 200\nbatch = 100\n"
                  "lr_min = 0.08\nlr = 0.1, 0.2\n",
                  2);
    check_by_hand("epochs = 1\nschedule = constant, cosine\nlr_min = 0.01, 0.02\nlr = 1, 2\n", 4);
    check_by_hand("epochs = 1\nlr = 0.1, 0.2, 0.4\nbatch = 100, 200, 400\nzip = lr, batch\n", 3);
}

/* In spread order the corners come first, in the grid's order epochs = 1. */
TEST(of_a_sweep_that_is_cut_the_first_cells_are_counted)
{
    static const double images[] = {2 * 60000.0 * (1 + 9), 3 * 60000.0};

    for (int grid = 0; grid < 2; grid++) {
        struct forecast *f =
            of_wish("epochs = 1, 2, 9\nbatch = 100\nlr = lin:0.1:0.3:3\n",
                    (struct forecast_wish){.max_cells = grid ? 3 : 4, .grid = grid});
        struct wire_forecast sum;

        CHECK(forecast_walk(f, UINT64_MAX, NULL));
        ask_all(f, NULL);
        forecast_sum(f, &sum);
        CHECK_INT(sum.cells, 9);
        CHECK_INT(sum.runs, grid ? 3 : 4);
        CHECK_INT(sum.left_out, 0);
        CHECK_NEAR(sum.model_images, images[grid], 0);
        forecast_free(f);
    }
}

TEST(a_cut_sweep_takes_another_cell_for_one_that_is_refused)
{
    struct forecast *f = of_wish("batch = 100, 200, 300\nepochs = 1\n",
                                 (struct forecast_wish){.max_cells = 2, .grid = true});
    struct wire_forecast sum;

    CHECK(forecast_walk(f, UINT64_MAX, NULL));
    refused[0].code = ERR_INPUT;
    refused[0].error = "no";
    ask_all(f, NULL);
    forecast_sum(f, &sum);
    CHECK_INT(sum.runs, 2);
    CHECK_INT(sum.skipped, 1);
    CHECK_NEAR(sum.steps.hi, 300, 0);
    CHECK_NEAR(sum.steps.lo, 200, 0);
    forecast_free(f);
}

/* 0.6, 0.6, 1.2, 1.2, 5.4 and 5.4 seconds. */
TEST(side_by_side_they_are_sooner_over_but_no_sooner_than_the_longest)
{
    static const double seconds[] = {14.4, 14.4, 7.2, 5.4};
    static const int jobs[] = {0, 1, 2, 8};

    for (size_t i = 0; i < MEM_COUNT(jobs); i++) {
        struct forecast *f = of_wish("epochs = 1, 2, 9\nlr = 0.1, 0.2\nbatch = 100\n",
                                     (struct forecast_wish){.jobs = jobs[i]});
        struct wire_forecast sum;

        CHECK(forecast_walk(f, UINT64_MAX, NULL));
        ask_all(f, NULL);
        forecast_sum(f, &sum);
        CHECK_NEAR(sum.seconds, seconds[i], 1e-9);
        forecast_free(f);
    }
}

TEST(cells_with_a_result_cost_nothing_and_count_among_the_first)
{
    for (int most = 0; most < 5; most += 4) {
        struct forecast *f = of_wish("epochs = 1, 2, 9\nbatch = 100, 200\n",
                                     (struct forecast_wish){.max_cells = most, .grid = true});
        struct wire_forecast sum;

        CHECK(forecast_walk(f, UINT64_MAX, NULL));
        ask_all(f, NULL);
        forecast_sum(f, &sum);
        CHECK_INT(sum.runs, most ? 4 : 6);
        forecast_has(f, 0, WIRE_DONE);
        forecast_has(f, 4, WIRE_OOM);
        forecast_has(f, 5, WIRE_SKIPPED);
        forecast_sum(f, &sum);
        CHECK_INT(sum.runs, 3);
        CHECK_INT(sum.with_result, most ? 1 : 2);
        CHECK_INT(sum.skipped, most ? 0 : 1);
        CHECK_INT(sum.cut, most != 0);
        CHECK_NEAR(sum.model_images, (1 + 2 + 2) * 60000.0, 0);
        CHECK_NEAR(sum.seconds, 3, 1e-9);
        forecast_free(f);
    }
}

/* A cell for which the memory has no room is one that was tried, as the sweep has it. */
TEST(what_is_too_large_is_a_result_and_what_cannot_begin_is_skipped)
{
    struct forecast *f = of_wish("batch = 100, 200, 300, 400\nepochs = 1\n",
                                 (struct forecast_wish){.max_cells = 2, .grid = true});
    struct wire_forecast sum;

    CHECK(forecast_walk(f, UINT64_MAX, NULL));
    refuse_two();
    ask_all(f, NULL);
    forecast_sum(f, &sum);
    CHECK_INT(sum.skipped, 1);
    CHECK_INT(sum.too_large, 1);
    CHECK_INT(sum.runs, 1);
    CHECK_INT(sum.left_out, 0);
    CHECK(sum.cut && !sum.problem[0]);
    CHECK_NEAR(sum.steps.lo, 200, 0);
    CHECK_NEAR(sum.steps.hi, 200, 0);
    CHECK_INT(sum.reason[0].fate, WIRE_NO_START);
    CHECK_INT(sum.reason[1].fate, WIRE_TOO_LARGE);
    forecast_free(f);
}

TEST(an_ensemble_costs_as_much_as_a_longer_single_model)
{
    struct forecast *f = of("mode = ensemble\ndevices = 4\nepochs = 10\nbatch = 100\n");
    struct wire_forecast sum;

    forecast_walk(f, UINT64_MAX, NULL);
    ask_all(f, NULL);
    forecast_sum(f, &sum);
    CHECK_NEAR(sum.as_one.lo, 40, 0);
    CHECK_INT(sum.plan.members, 4);
    CHECK_NEAR(sum.model_images, 2400000, 0);
    forecast_free(f);
}

TEST(what_the_planner_refuses_is_skipped)
{
    struct forecast *f = of("batch = 100, 70000\n");
    struct wire_forecast sum;
    int64_t images = 60000;

    CHECK(forecast_walk(f, UINT64_MAX, NULL));
    ask_all(f, &images);
    forecast_sum(f, &sum);
    CHECK(sum.complete && !sum.problem[0]);
    CHECK_INT(sum.runs, 1);
    CHECK_INT(sum.skipped, 1);
    forecast_sum(f, &sum); /* as often as one likes */
    CHECK_INT(sum.reasons, 1);
    CHECK_STR(sum.reason[0].text, "batch = 70000: there are 60000 images");
    forecast_free(f);
}

TEST(where_nothing_can_run_the_reason_is_told)
{
    struct forecast *f = of("devices = 3, 6\nbatch = 100\n");
    struct wire_forecast sum;

    forecast_walk(f, UINT64_MAX, NULL);
    forecast_sum(f, &sum);
    CHECK_INT(sum.runs, 0);
    CHECK_HAS(sum.problem, "3 devices do not divide it");
    forecast_free(f);
}

/* However many there are, it is one of them. */
TEST(where_each_cell_has_its_own_reason_one_is_told)
{
    struct forecast *f = of("batch = step:1:100:1\n");
    struct wire_forecast sum;
    int64_t images = 0;

    CHECK(forecast_walk(f, UINT64_MAX, NULL));
    ask_all(f, &images);
    forecast_sum(f, &sum);
    CHECK_STR(sum.problem, "batch = 1: there are 0 images");
    forecast_free(f);
}

TEST(a_walk_can_be_stopped_and_goes_on)
{
    struct forecast *f = of("lr = lin:0.1:1:100\nseed = step:1:200:1\n");
    struct wire_forecast sum;
    atomic_bool stop;

    atomic_init(&stop, true);
    CHECK(!forecast_walk(f, UINT64_MAX, &stop));
    CHECK_INT(ask_all(f, NULL), 1);
    forecast_sum(f, &sum);
    CHECK(!sum.complete && sum.planned);
    CHECK(sum.runs > 0 && sum.runs < sum.cells);
    CHECK(!forecast_walk(f, 0, NULL));
    CHECK(forecast_walk(f, UINT64_MAX, NULL));
    CHECK_INT(ask_all(f, NULL), 0);
    forecast_sum(f, &sum);
    CHECK(sum.complete);
    CHECK_INT(sum.runs, 20000);
    forecast_free(f);
}

TEST(more_kinds_than_there_are_places_for_are_counted)
{
    struct forecast *f = of("train_limit = step:1000:1999:1\n");
    struct wire_forecast sum;

    CHECK(forecast_walk(f, UINT64_MAX, NULL));
    CHECK_INT(ask_all(f, NULL), FORECAST_KINDS);
    forecast_sum(f, &sum);
    CHECK_INT(sum.runs, 1000);
    CHECK_INT(sum.unknown, 1000 - FORECAST_KINDS);
    forecast_free(f);
}

/* What was known holds until it is asked about once more. */
TEST(what_is_asked_about_once_more_keeps_its_price_until_then)
{
    struct forecast *f = of("epochs = 1, 2\nbatch = 100\n");
    struct wire_forecast sum;

    CHECK(forecast_walk(f, UINT64_MAX, NULL));
    CHECK_INT(ask_all(f, NULL), 2);
    forecast_ask_again(f);
    forecast_sum(f, &sum);
    CHECK(sum.complete);
    CHECK_NEAR(sum.seconds, 1.8, 1e-9);
    CHECK_INT(ask_all(f, NULL), 2);
    forecast_free(f);
}

/* Of 60 reasons, and one of another fate that comes when no place is free. */
TEST(reasons_without_a_place_stay_with_their_fate)
{
    struct forecast *f = of("batch = step:101:160:1\ndevices = 1, 2\ntrain_limit = 1000, 2000\n");
    struct wire_forecast sum;
    size_t cells[WIRE_FATES] = {0};

    CHECK(forecast_walk(f, UINT64_MAX, NULL));
    refuse_two();
    ask_all(f, NULL);
    forecast_sum(f, &sum);
    for (size_t i = 0; i < sum.reasons; i++)
        cells[sum.reason[i].fate] += sum.reason[i].cells;
    CHECK(sum.reasons <= WIRE_REASONS);
    CHECK_INT(cells[WIRE_LEFT_OUT], 60);
    CHECK_INT(cells[WIRE_NO_START], 1);
    CHECK_INT(cells[WIRE_TOO_LARGE], 1);
    forecast_free(f);
}

/* The list of lr walks behind another one that stands first, and a list between them does not. */
TEST(lists_that_walk_together_keep_their_pace)
{
    struct forecast *f = of("zip = seed, lr\nseed = 1, 2, 3\nbatch = 100, 200\nlr = 0.1, 0.4, 0.2\n"
                            "devices = 1, 3\nepochs = 1\n");
    struct wire_forecast sum;

    CHECK(forecast_walk(f, UINT64_MAX, NULL));
    forecast_sum(f, &sum);
    CHECK_INT(sum.cells, 12);
    CHECK_INT(sum.left_out, 6); /* 3 devices divide neither batch */
    CHECK_NEAR(sum.lr.lo, 0.1, 0);
    CHECK_NEAR(sum.lr.hi, 0.4, 0);
    CHECK_INT(forecast_made(f), 4);
    forecast_free(f);
}
