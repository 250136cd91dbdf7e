/* What a form means: cells counted and left out, and answers added up, against counts by hand. */
#include "tests/test.h"

#include "base/mem.h"
#include "ui/setup/account.h"

static struct survey *of(const char *text)
{
    struct spec_sweep s;
    struct err e = {0};

    spec_sweep_init(&s);
    if (spec_sweep_parse(&s, text, strlen(text), "made.ini", &e) != ERR_OK ||
        spec_sweep_close(&s, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    return survey_new(&s);
}

/* As the planner would: 60,000 images, a second for 100,000 model-images. */
static struct wire_plan answer(const struct spec *s)
{
    struct wire_plan p = {.images = 60000, .batch = spec_batch(s), .flops_per_image = 1000};

    p.members = s->mode == SPEC_ENSEMBLE ? (s->members ? s->members : s->devices) : 1;
    p.batch_per_device = s->mode == SPEC_ENSEMBLE ? p.batch : p.batch / s->devices;
    p.steps_per_epoch = p.images / p.batch;
    p.dropped = p.images % p.batch;
    p.parameters = 129068;
    p.seconds = (double)(p.steps_per_epoch * s->epochs * p.batch * p.members) / 100000;
    return p;
}

static int answer_all(struct account *a)
{
    int asked = 0;

    for (int k; (k = account_next(a)) >= 0; asked++) {
        struct wire_plan p = answer(a->kind[k].spec);

        account_answer(a, (size_t)k, &p);
    }
    return asked;
}

TEST(one_experiment_is_a_survey_of_one)
{
    struct survey *v = of("epochs = 2\nbatch = 250\nlr = 0.3\n");
    struct account a = {0};
    struct account_sum sum;

    CHECK(survey_look(v, UINT64_MAX, NULL));
    account_update(&a, v);
    account_sum(&a, &sum);
    CHECK(!sum.complete && !sum.plan && sum.runs == 1 && isnan(sum.seconds));
    CHECK_NEAR(sum.lr.lo, 0.3, 0);
    CHECK_INT(answer_all(&a), 1);
    account_sum(&a, &sum);
    CHECK(sum.complete && sum.plan);
    CHECK_NEAR(sum.steps.lo, 240, 0);
    CHECK_NEAR(sum.model_images, 120000, 0);
    CHECK_NEAR(sum.flops, 1.2e8, 0);
    CHECK_NEAR(sum.seconds, 1.2, 1e-12);
    CHECK(isnan(sum.as_one.lo));
    account_free(&a);
    survey_free(v);
}

TEST(cells_that_cost_the_same_are_asked_about_once)
{
    struct survey *v =
        of("epochs = 1\nbatch = 100, 200\nlr = 0.05, 0.1, 0.2\ndevices = 1, 3\nrepeats = 4\n");
    struct account a = {0};
    struct account_sum sum;

    CHECK(survey_look(v, UINT64_MAX, NULL));
    account_update(&a, v);
    CHECK_INT(a.cells, 48);
    CHECK_INT(a.left_out, 24); /* 3 devices divide neither batch */
    CHECK_INT(a.reasons, 2);
    CHECK_INT(a.reason[0].cells, 12);
    CHECK_HAS(a.reason[0].text, "batch = 100: 3 devices do not divide it");
    CHECK_INT(answer_all(&a), 2); /* by batch alone */
    account_sum(&a, &sum);
    CHECK_INT(sum.runs, 24);
    CHECK_INT(sum.left_out, 24);
    CHECK_NEAR(sum.model_images, 24 * 60000.0, 0);
    CHECK_NEAR(sum.lr.lo, 0.05, 0);
    CHECK_NEAR(sum.lr.hi, 0.2, 0);
    CHECK_NEAR(sum.steps.lo, 300, 0);
    CHECK_NEAR(sum.steps.hi, 600, 0);
    account_free(&a);
    survey_free(v);
}

/* Each cell made and checked by itself, as a sweep does it. */
static void check_by_hand(const char *text, size_t made)
{
    struct survey *v = of(text);
    struct spec_sweep s;
    struct spec cell;
    struct account a = {0};
    struct account_sum sum;
    struct err e = {0};
    size_t cells, left_out = 0, reasons = 0;
    double lo = INFINITY, hi = -INFINITY, images = 0;

    CHECK(survey_look(v, UINT64_MAX, NULL));
    CHECK_INT(survey_made(v), made);
    account_update(&a, v);
    answer_all(&a);
    account_sum(&a, &sum);
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
    CHECK_INT(a.cells, cells);
    CHECK_INT(sum.left_out, left_out);
    CHECK_INT(sum.runs, cells - left_out);
    CHECK_NEAR(sum.lr.lo, lo, 0);
    CHECK_NEAR(sum.lr.hi, hi, 0);
    CHECK_NEAR(sum.model_images, images, 0);
    for (size_t i = 0; i < a.reasons; i++)
        reasons += a.reason[i].cells;
    CHECK_INT(reasons, left_out);
    account_free(&a);
    survey_free(v);
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
        struct survey *v = of("epochs = 1, 2, 9\nbatch = 100\nlr = lin:0.1:0.3:3\n");
        struct account a = {0};
        struct account_sum sum;

        survey_cut(v, grid ? 3 : 4, grid);
        CHECK(survey_look(v, UINT64_MAX, NULL));
        account_update(&a, v);
        answer_all(&a);
        account_sum(&a, &sum);
        CHECK_INT(a.cells, 9);
        CHECK_INT(sum.runs, grid ? 3 : 4);
        CHECK_INT(sum.left_out, 0);
        CHECK_NEAR(sum.model_images, images[grid], 0);
        account_free(&a);
        survey_free(v);
    }
}

TEST(a_cut_sweep_takes_another_cell_for_one_that_is_refused)
{
    struct survey *v = of("batch = 100, 200, 300\nepochs = 1\n");
    struct wire_plan no = {.code = ERR_INPUT, .error = "no"};
    struct account a = {0};
    struct account_sum sum;

    survey_cut(v, 2, true);
    CHECK(survey_look(v, UINT64_MAX, NULL));
    account_update(&a, v);
    account_answer(&a, 0, &no);
    answer_all(&a);
    account_sum(&a, &sum);
    CHECK_INT(sum.runs, 2);
    CHECK_INT(sum.skipped, 1);
    CHECK_NEAR(sum.steps.hi, 300, 0);
    CHECK_NEAR(sum.steps.lo, 200, 0);
    account_free(&a);
    survey_free(v);
}

/* 0.6, 0.6, 1.2, 1.2, 5.4 and 5.4 seconds. */
TEST(side_by_side_they_are_sooner_over_but_no_sooner_than_the_longest)
{
    static const double seconds[] = {14.4, 14.4, 7.2, 5.4};
    static const int jobs[] = {0, 1, 2, 8};

    for (size_t i = 0; i < MEM_COUNT(jobs); i++) {
        struct survey *v = of("epochs = 1, 2, 9\nlr = 0.1, 0.2\nbatch = 100\n");
        struct account a = {.jobs = jobs[i]};
        struct account_sum sum;

        CHECK(survey_look(v, UINT64_MAX, NULL));
        account_update(&a, v);
        answer_all(&a);
        account_sum(&a, &sum);
        CHECK_NEAR(sum.seconds, seconds[i], 1e-9);
        account_free(&a);
        survey_free(v);
    }
}

TEST(cells_with_a_result_cost_nothing_and_count_among_the_first)
{
    static const struct wire_ended had[] = {{0, WIRE_DONE}, {4, WIRE_OOM}, {5, WIRE_SKIPPED}};

    for (int most = 0; most < 5; most += 4) {
        struct survey *v = of("epochs = 1, 2, 9\nbatch = 100, 200\n");
        struct account a = {0};
        struct account_sum sum;

        survey_cut(v, most, true);
        CHECK(survey_look(v, UINT64_MAX, NULL));
        account_update(&a, v);
        answer_all(&a);
        account_had(&a, had, MEM_COUNT(had));
        account_sum(&a, &sum);
        CHECK_INT(sum.runs, 3);
        CHECK_INT(sum.had, most ? 1 : 2);
        CHECK_INT(sum.skipped, most ? 0 : 1);
        CHECK_INT(sum.cut, most != 0);
        CHECK_NEAR(sum.model_images, (1 + 2 + 2) * 60000.0, 0);
        CHECK_NEAR(sum.seconds, 3, 1e-9);
        account_had(&a, had, 0);
        account_sum(&a, &sum);
        CHECK_INT(sum.runs, most ? 4 : 6);
        account_free(&a);
        survey_free(v);
    }
}

/* A cell for which the memory has no room is one that was tried, as the sweep has it. */
TEST(what_is_too_large_is_a_result_and_what_cannot_begin_is_skipped)
{
    struct survey *v = of("batch = 100, 200, 300, 400\nepochs = 1\n");
    struct wire_plan no = {.code = ERR_INPUT, .error = "no"},
                     large = {.code = ERR_NOMEM, .error = "large"};
    struct account a = {0};
    struct account_sum sum;

    survey_cut(v, 2, true);
    CHECK(survey_look(v, UINT64_MAX, NULL));
    account_update(&a, v);
    account_answer(&a, 0, &no);
    account_answer(&a, 1, &large);
    answer_all(&a);
    account_sum(&a, &sum);
    CHECK_INT(sum.skipped, 1);
    CHECK_INT(sum.too_large, 1);
    CHECK_INT(sum.runs, 1);
    CHECK_INT(sum.left_out, 0);
    CHECK(sum.cut && !sum.problem);
    CHECK_NEAR(sum.steps.lo, 200, 0);
    CHECK_NEAR(sum.steps.hi, 200, 0);
    CHECK_INT(a.reason[0].fate, SURVEY_SKIPPED);
    CHECK_INT(a.reason[1].fate, SURVEY_TOO_LARGE);
    account_free(&a);
    survey_free(v);
}

TEST(an_ensemble_costs_as_much_as_a_longer_single_model)
{
    struct survey *v = of("mode = ensemble\ndevices = 4\nepochs = 10\nbatch = 100\n");
    struct account a = {0};
    struct account_sum sum;

    survey_look(v, UINT64_MAX, NULL);
    account_update(&a, v);
    answer_all(&a);
    account_sum(&a, &sum);
    CHECK_NEAR(sum.as_one.lo, 40, 0);
    CHECK_NEAR(sum.members.hi, 4, 0);
    CHECK_NEAR(sum.model_images, 2400000, 0);
    account_free(&a);
    survey_free(v);
}

TEST(what_the_planner_refuses_is_skipped)
{
    struct survey *v = of("batch = 100, 70000\n");
    struct account a = {0};
    struct account_sum sum;

    survey_look(v, UINT64_MAX, NULL);
    account_update(&a, v);
    for (int k; (k = account_next(&a)) >= 0;) {
        struct wire_plan p = answer(a.kind[k].spec);

        if (p.batch > 60000) {
            p.code = ERR_INPUT;
            strcpy(p.error, "batch = 70000: there are 60000 images");
        }
        account_answer(&a, (size_t)k, &p);
    }
    account_sum(&a, &sum);
    CHECK(sum.complete && !sum.problem);
    CHECK_INT(sum.runs, 1);
    CHECK_INT(sum.skipped, 1);
    account_update(&a, v); /* the reason stays */
    CHECK_INT(a.reasons, 1);
    CHECK_STR(a.reason[0].text, "batch = 70000: there are 60000 images");
    account_free(&a);
    survey_free(v);
}

TEST(where_nothing_can_run_the_reason_is_told)
{
    struct survey *v = of("devices = 3, 6\nbatch = 100\n");
    struct account a = {0};
    struct account_sum sum;

    survey_look(v, UINT64_MAX, NULL);
    account_update(&a, v);
    account_sum(&a, &sum);
    CHECK_INT(sum.runs, 0);
    CHECK_HAS(sum.problem, "3 devices do not divide it");
    account_free(&a);
    survey_free(v);
}

/* However many there are, it is one of them. */
TEST(where_each_cell_has_its_own_reason_one_is_told)
{
    struct survey *v = of("batch = step:1:100:1\n");
    struct account a = {0};
    struct account_sum sum;
    struct wire_plan no = {.code = ERR_INPUT};

    CHECK(survey_look(v, UINT64_MAX, NULL));
    account_update(&a, v);
    for (int k; (k = account_next(&a)) >= 0;) {
        snprintf(no.error, sizeof no.error, "no image of %d is there", k);
        account_answer(&a, (size_t)k, &no);
    }
    account_sum(&a, &sum);
    REQUIRE(sum.problem);
    CHECK_STR(sum.problem, "no image of 0 is there");
    account_free(&a);
    survey_free(v);
}

TEST(a_survey_can_be_stopped_and_goes_on)
{
    struct survey *v = of("lr = lin:0.1:1:100\nseed = step:1:200:1\n");
    struct account a = {0};
    atomic_bool stop;

    atomic_init(&stop, true);
    CHECK(!survey_look(v, UINT64_MAX, &stop));
    account_update(&a, v);
    CHECK(a.seen > 0 && a.seen < a.cells);
    CHECK_INT(a.kinds, 1);
    CHECK(!survey_look(v, 0, NULL));
    CHECK(survey_look(v, UINT64_MAX, NULL));
    account_update(&a, v);
    CHECK_INT(a.seen, 20000);
    CHECK_INT(a.kind[0].cells, 20000);
    account_free(&a);
    survey_free(v);
}

TEST(more_kinds_than_there_are_places_for_are_counted)
{
    struct survey *v = of("train_limit = step:1000:1999:1\n");
    struct account a = {0};
    struct account_sum sum;

    CHECK(survey_look(v, UINT64_MAX, NULL));
    account_update(&a, v);
    CHECK_INT(a.kinds, SURVEY_KINDS);
    CHECK_INT(a.other, 1000 - SURVEY_KINDS);
    answer_all(&a);
    account_sum(&a, &sum);
    CHECK_INT(sum.runs, 1000);
    CHECK_INT(sum.unknown, 1000 - SURVEY_KINDS);
    account_free(&a);
    survey_free(v);
}

/* Of 60 reasons, and one of another fate that comes when no place is free. */
TEST(reasons_without_a_place_stay_with_their_fate)
{
    struct survey *v = of("batch = step:101:160:1\ndevices = 1, 2\ntrain_limit = 1000, 2000\n");
    struct wire_plan no = {.code = ERR_INPUT, .error = "no"},
                     large = {.code = ERR_NOMEM, .error = "large"};
    size_t cells[SURVEY_FATES] = {0};
    struct account a = {0};

    CHECK(survey_look(v, UINT64_MAX, NULL));
    account_update(&a, v);
    account_answer(&a, 0, &no);
    account_answer(&a, 1, &large);
    for (size_t i = 0; i < a.reasons; i++)
        cells[a.reason[i].fate] += a.reason[i].cells;
    CHECK(a.reasons <= SURVEY_REASONS);
    CHECK_INT(cells[SURVEY_OUT], 60);
    CHECK_INT(cells[SURVEY_SKIPPED], 1);
    CHECK_INT(cells[SURVEY_TOO_LARGE], 1);
    account_free(&a);
    survey_free(v);
}

/* The list of lr walks behind another one that stands first, and a list between them does not. */
TEST(lists_that_walk_together_keep_their_pace)
{
    struct survey *v = of("zip = seed, lr\nseed = 1, 2, 3\nbatch = 100, 200\nlr = 0.1, 0.4, 0.2\n"
                          "devices = 1, 3\nepochs = 1\n");
    struct account a = {0};
    struct account_sum sum;

    CHECK(survey_look(v, UINT64_MAX, NULL));
    account_update(&a, v);
    account_sum(&a, &sum);
    CHECK_INT(a.cells, 12);
    CHECK_INT(a.left_out, 6); /* 3 devices divide neither batch */
    CHECK_NEAR(sum.lr.lo, 0.1, 0);
    CHECK_NEAR(sum.lr.hi, 0.4, 0);
    CHECK_INT(survey_made(v), 4);
    account_free(&a);
    survey_free(v);
}
