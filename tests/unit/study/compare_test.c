/* Comparisons of runs whose files are written here, against values worked out by hand. */
#include "study/scaling.h"
#include "record/run/run.h"
#include "study/compare.h"
#include "study/tables.h"
#include "tests/unit/study/kit.h"

TEST(values_at_the_best_epoch_and_at_the_last)
{
    struct kit k;
    struct text value = {0};

    begin(&k);
    add(&k, "lr=0.1", 3, (double[]){0.5, 0.75, 0.625});
    if (open_all(&k)) {
        CHECK(study_number(k.runs, "test_acc") == 0.75);
        CHECK(study_number(k.runs, "test_loss") == 0.25); /* the other metric at that epoch */
        CHECK(study_number(k.runs, "last.test_acc") == 0.625);
        CHECK(study_number(k.runs, "lr") == 0.1); /* the key, not the epoch's */
        CHECK(study_number(k.runs, "train_seconds") != 10);
        CHECK(study_value(k.runs, "gain_mean", &value) && value.n == 0);
        CHECK(!study_value(k.runs, "test_ac", &value));
        CHECK_STR(study_name_near(k.runs, "test_ac"), "test_acc");
        CHECK(study_name_near(k.runs, "test_acc") == NULL);
    }
    text_free(&value);
    end(&k);
}

TEST(only_what_differs)
{
    struct kit k;
    struct study_table t;
    struct study_wish wish = {0};
    struct err e;

    begin(&k);
    add(&k, "lr=0.1 name=a log_every=5", 1, (double[]){0.5});
    add(&k, "lr=0.2 name=b log_every=7", 1, (double[]){0.25});
    if (open_all(&k)) {
        REQUIRE_OK(study_compare(k.runs, k.count, &wish, &t, &e));
        CHECK_STR(t.column[2].name, "lr");
        CHECK_STR(t.column[3].name, "best_epoch");
        CHECK_STR(cell(&t, 0, "lr"), "0.1");
        CHECK_STR(cell(&t, 1, "test_acc"), "0.25");
        CHECK(study_table_cell(&t, 0, study_table_find(&t, "test_acc"))->best);
        CHECK_HAS(text_str(&t.note), "picked on test");
        study_table_free(&t);
    }
    end(&k);
}

TEST(what_really_ran_differs_too)
{
    struct kit k;
    size_t found;
    const char **names;

    begin(&k);
    strcpy(add(&k, "lr=0.1", 1, (double[]){0.5})->isa, "avx512");
    strcpy(add(&k, "lr=0.1", 1, (double[]){0.5})->isa, "avx2");
    if (open_all(&k)) {
        names = study_differences(k.runs, k.count, &found);
        CHECK_INT(found, 1);
        CHECK_STR(names[0], "isa");
        free(names);
    }
    end(&k);
}

/* member_order and sync_bn have a value in one mode alone, which is the usual one; members says more. */
TEST(what_has_no_effect_does_not_differ)
{
    struct kit k;
    size_t found;
    const char **names;

    begin(&k);
    add(&k, "lr=0.1", 1, (double[]){0.5});
    add(&k, "lr=0.1 mode=ensemble members=4", 1, (double[]){0.5});
    add(&k, "lr=0.1 optimizer=momentum", 1, (double[]){0.5});
    add(&k, "lr=0.1 schedule=cosine lr_min=0.01", 1, (double[]){0.5});
    if (open_all(&k)) {
        names = study_differences(k.runs, k.count, &found);
        CHECK_INT(found, 5);
        CHECK(found == 5 && !strcmp(names[0], "mode") && !strcmp(names[1], "members") &&
              !strcmp(names[2], "optimizer") && !strcmp(names[3], "schedule") &&
              !strcmp(names[4], "lr_min"));
        free(names);
    }
    end(&k);
}

TEST(what_is_not_limited_is_all)
{
    struct kit k;
    struct study_table t;
    struct err e;

    begin(&k);
    add(&k, "train_limit=600 grad_clip=1", 1, (double[]){0.5});
    add(&k, "", 1, (double[]){0.5});
    if (open_all(&k)) {
        REQUIRE_OK(study_compare(k.runs, k.count, &(struct study_wish){0}, &t, &e));
        CHECK_STR(cell(&t, 0, "train_limit"), "600");
        CHECK_STR(cell(&t, 1, "train_limit"), "all");
        CHECK_STR(cell(&t, 1, "grad_clip"), "none");
        study_table_free(&t);
    }
    end(&k);
}

/* lr 0.1: 0.8, 0.9, 0.85; lr 0.2: 0.7, 0.85, 0.8: differences -0.1, -0.05, -0.05. */
TEST(groups_over_seeds_by_hand)
{
    struct kit k;
    struct study_table t;
    struct study_wish wish = {.over = "seed"};
    struct err e;

    begin(&k);
    add(&k, "lr=0.1 seed=1", 1, (double[]){0.8});
    add(&k, "lr=0.2 seed=1", 1, (double[]){0.7});
    add(&k, "lr=0.2 seed=3", 1, (double[]){0.8}); /* not in the order of the others */
    add(&k, "lr=0.1 seed=2", 1, (double[]){0.9});
    add(&k, "lr=0.2 seed=2", 1, (double[]){0.85});
    add(&k, "lr=0.1 seed=3", 1, (double[]){0.85});
    if (open_all(&k)) {
        const struct study_cell *acc;
        double sd = sqrt((0.05 * 0.05 + 0.05 * 0.05) / 2), mean = -0.2 / 3;
        double reach = 4.302653 * sqrt((pow(mean + 0.1, 2) + 2 * pow(mean + 0.05, 2)) / 2 / 3);

        REQUIRE_OK(study_compare(k.runs, k.count, &wish, &t, &e));
        CHECK_INT(t.rows, 2);
        CHECK_STR(cell(&t, 0, "n"), "3");
        acc = study_table_cell(&t, 0, study_table_find(&t, "test_acc"));
        CHECK_NEAR(acc->value, 0.85, 1e-12);
        CHECK_NEAR(acc->sd, sd, 1e-12);
        CHECK_STR(cell(&t, 0, "difference"), ""); /* the best one itself */
        CHECK_STR(cell(&t, 1, "difference_n"), "3");
        CHECK(!strstr(text_str(&t.note), "smaller n"));
        CHECK_NEAR(atof(cell(&t, 1, "difference")), mean, 1e-12);
        CHECK_NEAR(atof(cell(&t, 1, "difference_lo")), mean - reach, 1e-5);
        CHECK_NEAR(atof(cell(&t, 1, "difference_hi")), mean + reach, 1e-5);
        CHECK_INT(study_table_find(&t, "seed"), -1);
        study_table_free(&t);
    }
    end(&k);
}

TEST(groups_of_which_one_lacks_runs)
{
    struct kit k;
    struct study_table t;
    struct study_wish wish = {.over = "seed"};
    struct err e;

    begin(&k);
    add(&k, "lr=0.1 seed=1", 1, (double[]){0.8});
    add(&k, "lr=0.1 seed=2", 1, (double[]){0.4});
    add(&k, "lr=0.2 seed=1", 1, (double[]){0.7});
    if (open_all(&k)) {
        REQUIRE_OK(study_compare(k.runs, k.count, &wish, &t, &e));
        CHECK_STR(cell(&t, 0, "difference_n"), "1"); /* its mean is the lower one, 0.6 */
        CHECK_NEAR(atof(cell(&t, 0, "difference")), 0.1, 1e-12);
        CHECK_STR(cell(&t, 0, "difference_lo"), "");
        CHECK_HAS(text_str(&t.note), "rows with a smaller n lack runs");
        study_table_free(&t);
    }
    end(&k);
}

/* The same settings and the same seed give the same run: its twin is no second measurement. */
TEST(a_run_done_twice_counts_once)
{
    static const double low[] = {0.7, 0.85, 0.8}, high[] = {0.8, 0.9, 0.85};
    struct kit k;
    struct study_table once, twice;
    struct study_wish wish = {.over = "seed"};
    struct err e;

    begin(&k);
    for (int i = 0; i < 12; i++) {
        char settings[64];

        snprintf(settings, sizeof settings, "lr=%s seed=%d name=%s", i % 2 ? "0.2" : "0.1",
                 i / 2 % 3, i < 6 ? "s1" : "s2");
        add(&k, settings, 1, i % 2 ? &low[i / 2 % 3] : &high[i / 2 % 3]);
    }
    if (open_all(&k)) {
        REQUIRE_OK(study_compare(k.runs, 6, &wish, &once, &e));
        REQUIRE_OK(study_compare(k.runs, 12, &wish, &twice, &e));
        CHECK_INT(twice.rows, 2);
        CHECK_STR(cell(&twice, 0, "n"), "3");
        CHECK_STR(cell(&twice, 1, "difference_n"), "3");
        CHECK_STR(cell(&twice, 1, "difference_lo"), cell(&once, 1, "difference_lo"));
        CHECK_STR(cell(&twice, 1, "difference_hi"), cell(&once, 1, "difference_hi"));
        CHECK_NEAR(study_table_cell(&twice, 0, study_table_find(&twice, "test_acc"))->sd,
                   study_table_cell(&once, 0, study_table_find(&once, "test_acc"))->sd, 1e-15);
        CHECK_HAS(text_str(&twice.note), "6 runs repeat another");
        CHECK(!strstr(text_str(&once.note), "repeat another"));
        study_table_free(&once);
        study_table_free(&twice);
    }
    end(&k);
}

/* Of twins the one that came to its end counts. */
TEST(a_twin_that_failed_does_not_stand_for_the_run)
{
    struct kit k;
    struct study_table t;
    struct study_wish wish = {.over = "seed"};
    struct err e;

    begin(&k);
    add(&k, "seed=1", 1, (double[]){0.5})->state = WIRE_FAILED;
    add(&k, "seed=1", 1, (double[]){0.75});
    add(&k, "seed=2", 1, (double[]){0.25});
    if (open_all(&k)) {
        REQUIRE_OK(study_compare(k.runs, k.count, &wish, &t, &e));
        CHECK_STR(cell(&t, 0, "n"), "2");
        CHECK_STR(cell(&t, 0, "test_acc"), "0.5");
        CHECK_HAS(text_str(&t.note), "1 run is not done");
        CHECK(!strstr(text_str(&t.note), "repeat another"));
        study_table_free(&t);
    }
    end(&k);
}

/* A name says the same of a network, or of data, before and after it was edited. */
TEST(files_of_one_name_that_differ_are_two_settings)
{
    struct kit k;
    struct study_table t;
    struct err e;
    size_t of[4];
    bool again[4];

    begin(&k);
    strcpy(add(&k, "seed=1", 1, (double[]){0.5})->network_hash, "#00000001");
    strcpy(add(&k, "seed=2", 1, (double[]){0.25})->network_hash, "#00000001");
    strcpy(add(&k, "seed=2", 1, (double[]){0.75})->network_hash, "#00000002");
    strcpy(add(&k, "seed=2", 1, (double[]){0.625})->network_hash, "#00000002");
    if (open_all(&k)) {
        CHECK_INT(study_groups(k.runs, k.count, "seed", of), 2);
        study_repeats(k.runs, k.count, again);
        CHECK(!again[0] && !again[1] && !again[2] && again[3]);
        REQUIRE_OK(study_compare(k.runs, k.count, &(struct study_wish){0}, &t, &e));
        CHECK_STR(cell(&t, 2, "network_hash"), "#00000002");
        CHECK_HAS(text_str(&t.note), "network_hash: a network of one name was not the same");
        study_table_free(&t);
    }
    end(&k);
}

/* data_hash is of the training images too: fewer of these are no other test. */
TEST(runs_on_fewer_training_images_have_the_same_test)
{
    struct kit k;

    begin(&k);
    strcpy(add(&k, "train_limit=600", 1, (double[]){0.5})->data_hash, "#00000001");
    strcpy(add(&k, "train_limit=300", 1, (double[]){0.5})->data_hash, "#00000002");
    strcpy(add(&k, "train_limit=600", 1, (double[]){0.5})->data_hash, "#00000003");
    if (open_all(&k)) {
        CHECK(study_same_test(&k.runs[0], &k.runs[1]));
        CHECK(study_all_same_test(k.runs, 2));
        CHECK(!study_same_test(&k.runs[0], &k.runs[2]));
    }
    end(&k);
}

/* Nothing is known of the data of an average of runs that differ in it. */
TEST(several_data_are_no_other_data)
{
    struct kit k;
    struct study_table t;
    struct err e;

    begin(&k);
    strcpy(add(&k, "seed=1", 1, (double[]){0.5})->data_hash, "#00000001");
    strcpy(add(&k, "seed=2", 1, (double[]){0.5})->data_hash, RECORD_SEVERAL);
    if (open_all(&k)) {
        CHECK(study_same_test(&k.runs[0], &k.runs[1]));
        REQUIRE_OK(study_compare(k.runs, k.count, &(struct study_wish){0}, &t, &e));
        CHECK_INT(study_table_find(&t, "data_hash"), -1);
        study_table_free(&t);
    }
    end(&k);
}

/* Where keys say that it is another network, or other data, the hash says nothing more; a run of a
 * version that wrote none may be of the same. */
TEST(hashes_that_keys_explain_are_left_out)
{
    struct kit k;
    const char **names;
    size_t found;

    begin(&k);
    strcpy(add(&k, "model=lenet", 1, (double[]){0.5})->network_hash, "#00000001");
    strcpy(add(&k, "model=cnn", 1, (double[]){0.5})->network_hash, "#00000002");
    strcpy(add(&k, "model=cnn", 1, (double[]){0.5})->network_hash, RECORD_SEVERAL);
    strcpy(add(&k, "model=cnn train_limit=600", 1, (double[]){0.5})->data_hash, "#00000003");
    strcpy(add(&k, "model=cnn", 1, (double[]){0.5})->data_hash, "#00000004");
    if (open_all(&k)) {
        names = study_differences(k.runs, k.count, &found);
        CHECK_INT(found, 2);
        CHECK_STR(names[0], "model");
        CHECK_STR(names[1], "train_limit");
        free(names);
    }
    end(&k);
}

/* Where a cell ran, and beside what, is no setting of it: the accuracies are of one row. */
TEST(shared_and_the_machine_split_no_row)
{
    struct kit k;
    struct study_table t;
    struct study_wish wish = {.over = "seed"};
    struct record_run *run;
    size_t of[3];
    struct err e;

    begin(&k);
    add(&k, "seed=1", 1, (double[]){0.5})->shared = 2;
    add(&k, "seed=2", 1, (double[]){0.25});
    run = add(&k, "seed=3", 1, (double[]){0.75});
    strcpy(run->host, "other");
    strcpy(run->isa, "avx2");
    run->threads_used = 3;
    if (open_all(&k)) {
        CHECK_INT(study_groups(k.runs, k.count, "seed", of), 1);
        REQUIRE_OK(study_compare(k.runs, k.count, &wish, &t, &e));
        CHECK_INT(t.rows, 1);
        CHECK_STR(cell(&t, 0, "n"), "3");
        CHECK_STR(cell(&t, 0, "shared"), "2, 1");
        CHECK_HAS(text_str(&t.note), "shared: ");
        study_table_free(&t);
        wish.over = NULL;
        REQUIRE_OK(study_compare(k.runs, 1, &wish, &t, &e));
        CHECK_HAS(text_str(&t.note), "computed beside others");
        study_table_free(&t);
        REQUIRE_OK(study_compare(k.runs + 1, 1, &wish, &t, &e));
        CHECK(!strstr(text_str(&t.note), "beside others"));
        study_table_free(&t);
    }
    end(&k);
}

/* A single model of four epochs against an ensemble of two for three: equal epochs are three, equal
 * model-images 400: all of the single, two epochs of the ensemble. */
TEST(equal_budgets_by_hand)
{
    struct kit k;
    struct study_reading r;

    begin(&k);
    add(&k, "schedule=cosine", 4, (double[]){0.1, 0.2, 0.3, 0.4});
    add(&k, "mode=ensemble devices=2 members=2 schedule=cosine", 3, (double[]){0.5, 0.6, 0.7});
    if (open_all(&k)) {
        CHECK(study_least_cost(k.runs, 2, STUDY_EPOCHS).cost == 3);
        CHECK(study_least_cost(k.runs, 2, STUDY_MODEL_IMAGES).cost == 400);
        study_read_at(&k.runs[0], &(struct study_limit){STUDY_EPOCHS, 3, 0}, &r);
        CHECK_INT(r.row, 2);
        CHECK(!r.ended);
        CHECK_STR(r.where, "epoch 3 of 4, lr still 0.085");
        CHECK(r.moving);
        study_read_at(&k.runs[1], &(struct study_limit){STUDY_EPOCHS, 3, 0}, &r);
        CHECK(r.ended);
        CHECK_STR(r.where, "epoch 3, its end");
        study_read_at(&k.runs[0], &(struct study_limit){STUDY_MODEL_IMAGES, 400, 0}, &r);
        CHECK(r.ended && r.row == 3);
        study_read_at(&k.runs[1], &(struct study_limit){STUDY_MODEL_IMAGES, 400, 0}, &r);
        CHECK(!r.ended && r.row == 1 && r.cost == 400);
        study_read_at(&k.runs[1], &(struct study_limit){STUDY_MODEL_IMAGES, 100, 0}, &r);
        CHECK_INT(r.row, -1);
        CHECK_STR(r.where, "its first epoch costs more");
        /* 40 seconds of one device, 30 of two */
        CHECK(study_least_cost(k.runs, 2, STUDY_SECONDS).cost == 30);
        study_read_at(&k.runs[0], &(struct study_limit){STUDY_SECONDS, 30, 0}, &r);
        CHECK(!r.ended && r.row == 2 && r.cost == 30);
        CHECK(study_least_cost(k.runs, 2, STUDY_DEVICE_SECONDS).cost == 40);
        study_read_at(&k.runs[1], &(struct study_limit){STUDY_DEVICE_SECONDS, 40, 0}, &r);
        CHECK(!r.ended && r.row == 1 && r.cost == 40);
        k.runs[1].last = -1; /* diverged in its first epoch, say: no measure for the others */
        CHECK(study_least_cost(k.runs, 2, STUDY_EPOCHS).cost == 4);
        study_read_at(&k.runs[1], &(struct study_limit){STUDY_EPOCHS, 4, 0}, &r);
        CHECK_INT(r.row, -1);
        CHECK_STR(r.where, "done, no whole epoch");
        CHECK(isnan(study_least_cost(k.runs + 1, 1, STUDY_EPOCHS).cost));
    }
    end(&k);
}

/* Of two runs that cost the same the one with the shorter epochs sets what is granted. */
TEST(equal_budgets_do_not_depend_on_the_order_of_runs)
{
    struct kit k;
    struct study_run turned[2];

    begin(&k);
    add(&k, "", 4, (double[]){0.1, 0.2, 0.3, 0.4});
    add(&k, "mode=ensemble devices=2 members=2", 2, (double[]){0.5, 0.6});
    if (open_all(&k)) {
        turned[0] = k.runs[1];
        turned[1] = k.runs[0];
        CHECK(study_least_cost(k.runs, 2, STUDY_MODEL_IMAGES).slack == 50);
        CHECK(study_least_cost(turned, 2, STUDY_MODEL_IMAGES).slack == 50);
    }
    end(&k);
}

TEST(runs_of_a_sweep_stand_in_the_order_of_their_settings)
{
    static const char *const settings[] = {"batch=64 lr=0.1", "batch=256 lr=0.02 train_limit=70",
                                           "batch=64 lr=0.02 train_limit=100", "batch=64 lr=1e9",
                                           "batch=64 lr=0.02 train_limit=70"};
    static const char *const sorted[] = {"0004", "0002", "0000", "0003", "0001"};
    struct kit k;

    begin(&k);
    for (size_t i = 0; i < MEM_COUNT(settings); i++)
        strcpy(add(&k, settings[i], 1, (double[]){0.1 * (double)i})->sweep, "board");
    if (open_all(&k)) {
        strcpy(k.entry[2].run.sweep, "other");
        study_order(k.entry, k.runs, k.count);
        CHECK_STR(k.entry[4].name, "2026-11-20-101530-412-lenet-0004");
        strcpy(k.entry[2].run.sweep, "board");
        study_order(k.entry, k.runs, k.count);
        for (size_t i = 0; i < k.count; i++) {
            CHECK_HAS(k.entry[i].name, sorted[i]);
            CHECK(k.runs[i].entry == &k.entry[i]);
        }
        CHECK(study_number(&k.runs[1], "test_acc") == 0.2);
    }
    end(&k);
}

TEST(what_diverged_or_failed_is_never_the_best)
{
    const enum wire_state bad[] = {WIRE_DIVERGED, WIRE_OOM, WIRE_FAILED};

    for (size_t i = 0; i < MEM_COUNT(bad); i++) {
        struct kit k;
        struct study_table t;
        struct study_wish wish = {.equal = true, .budget = STUDY_EPOCHS};
        struct err e;

        begin(&k);
        add(&k, "lr=0.1", 2, (double[]){0.5, 0.6});
        add(&k, "lr=0.2", 2, (double[]){0.5, 0.8})->state = bad[i];
        add(&k, "lr=0.3", 2, (double[]){0.5, 0.4});
        REQUIRE(open_all(&k));
        for (int equal = 0; equal < 2; equal++) {
            wish.equal = equal;
            REQUIRE_OK(study_compare(k.runs, k.count, &wish, &t, &e));
            CHECK_STR(cell(&t, 1, "state"), wire_state_name(bad[i]));
            CHECK(study_table_cell(&t, 0, study_table_find(&t, "test_acc"))->best);
            CHECK(!study_table_cell(&t, 1, study_table_find(&t, "test_acc"))->best);
            study_table_free(&t);
        }
        k.entry[1].run.state = WIRE_DONE;
        REQUIRE_OK(study_compare(k.runs, k.count, &wish, &t, &e));
        CHECK_STR(cell(&t, 1, "state"), "(no such column)");
        study_table_free(&t);
        end(&k);
    }
}

/* Where an ensemble and a run of another kind end both; other seeds of it are none, nor is a run that
 * is cut there. */
TEST(costs_at_which_two_kinds_end)
{
    static const double acc[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    struct kit k;
    struct study_limit *limit;

    begin(&k);
    add(&k, "mode=ensemble devices=4 members=4", 1, acc);
    add(&k, "mode=ensemble devices=3 members=3", 2, acc);
    add(&k, "mode=ensemble devices=3 members=3 seed=1", 2, acc);
    add(&k, "", 6, acc);
    add(&k, "mode=ensemble devices=2 members=2", 2, acc);
    if (open_all(&k)) {
        CHECK_INT(study_common_costs(k.runs, 3, STUDY_MODEL_IMAGES, &limit), 0);
        free(limit);
        CHECK_INT(study_common_costs(k.runs, 4, STUDY_MODEL_IMAGES, &limit), 1);
        CHECK(limit[0].cost == 600);
        free(limit);
        REQUIRE(study_common_costs(k.runs, 5, STUDY_MODEL_IMAGES, &limit) == 2);
        CHECK(limit[0].cost == 400 && limit[1].cost == 600);
        free(limit);
    }
    end(&k);
}

/* A run of whole epochs that was to cost what another cost misses it by half an epoch at most, up or
 * down; twice the cost is never called equal. */
TEST(an_end_within_half_an_epoch_is_equal)
{
    struct kit k;
    struct study_table t;
    struct study_wish wish = {.equal = true, .budget = STUDY_MODEL_IMAGES};
    struct study_limit limit;
    struct study_reading r;
    struct err e;

    begin(&k);
    add(&k, "", 5, (double[]){0.1, 0.2, 0.3, 0.4, 0.5});
    add(&k, "mode=ensemble devices=3 members=3", 2, (double[]){0.5, 0.6});
    if (open_all(&k)) {
        limit = study_least_cost(k.runs, 2, STUDY_MODEL_IMAGES);
        CHECK(limit.cost == 500 && limit.slack == 50);
        study_read_at(&k.runs[1], &limit, &r);
        CHECK(r.row == 0 && !r.ended && r.over == 0); /* 600: a whole epoch of the single beyond */
        limit.cost = 550;
        study_read_at(&k.runs[1], &limit, &r);
        CHECK(r.row == 1 && r.ended && r.cost == 600 && r.over == 50);
        limit.slack = 150; /* the ensemble's own half, beyond which the single was rounded up */
        limit.cost = 450;
        study_read_at(&k.runs[0], &limit, &r);
        CHECK(r.row == 4 && r.ended && r.over == 50);
        limit.cost = 449;
        study_read_at(&k.runs[0], &limit, &r);
        CHECK(r.row == 3 && !r.ended && r.over == 0);
        limit.cost = 450;
        k.entry[0].run.state = WIRE_RUNNING; /* its last row is no end */
        study_read_at(&k.runs[0], &limit, &r);
        CHECK(r.row == 3 && r.over == 0);
    }
    end(&k);
    begin(&k);
    add(&k, "mode=ensemble devices=3 members=3", 1, (double[]){0.5});
    add(&k, "mode=ensemble devices=2 members=2", 2, (double[]){0.1, 0.2});
    if (open_all(&k)) {
        REQUIRE_OK(study_compare(k.runs, 1, &wish, &t, &e));
        CHECK(!strstr(text_str(&t.note), "beyond"));
        study_table_free(&t);
        REQUIRE_OK(study_compare(k.runs, 2, &wish, &t, &e));
        CHECK_STR(cell(&t, 1, "read_at"), "epoch 2, its end");
        CHECK_STR(cell(&t, 1, "model_images"), "400");
        CHECK_HAS(text_str(&t.note), "the most is 100 beyond");
        study_table_free(&t);
    }
    end(&k);
}

/* Beside short runs an ensemble is read at its end, and they at theirs; of a larger ensemble an epoch. */
TEST(what_the_cheapest_ensemble_cost)
{
    struct kit k;
    struct study_table t;
    struct study_wish wish = {.equal = true, .budget = STUDY_MODEL_IMAGES};
    struct study_limit limit;
    struct err e;

    begin(&k);
    add(&k, "", 1, (double[]){0.1});
    add(&k, "mode=ensemble members=1", 1, (double[]){0.1});
    add(&k, "mode=ensemble devices=3 members=3", 2, (double[]){0.5, 0.6});
    add(&k, "", 9, (double[]){0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.7, 0.8, 0.9});
    add(&k, "mode=ensemble devices=8 members=8", 2, (double[]){0.5, 0.6});
    if (open_all(&k)) {
        CHECK(isnan(study_ensemble_cost(k.runs, 2, STUDY_MODEL_IMAGES).cost));
        limit = study_ensemble_cost(k.runs, 4, STUDY_MODEL_IMAGES);
        CHECK(limit.cost == 600 && limit.slack == 150);
        wish.limit = &limit;
        REQUIRE_OK(study_compare(k.runs, 4, &wish, &t, &e));
        CHECK_STR(cell(&t, 0, "read_at"), "epoch 1, its end, spent only 100");
        CHECK_STR(cell(&t, 2, "read_at"), "epoch 2, its end");
        CHECK_STR(cell(&t, 3, "read_at"), "epoch 6 of 9, lr constant");
        CHECK(!strstr(text_str(&t.note), "schedule")); /* a constant one has no end to miss */
        study_table_free(&t);
        limit = study_ensemble_cost(k.runs, 5, STUDY_MODEL_IMAGES);
        CHECK(limit.cost == 800);
        REQUIRE_OK(study_compare(k.runs, 5, &wish, &t, &e));
        CHECK_STR(cell(&t, 2, "read_at"), "epoch 2, its end, spent only 600");
        CHECK_STR(cell(&t, 4, "read_at"), "epoch 1 of 2, lr constant");
        study_table_free(&t);
    }
    end(&k);
}

/* A limit that ends a run does not end its schedule, which goes by the epochs that were asked for. */
TEST(a_run_cut_by_a_limit_had_not_ended_its_schedule)
{
    struct kit k;
    struct study_reading r;

    begin(&k);
    strcpy(add(&k, "schedule=cosine epochs=20 max_steps=60", 3, (double[]){0.1, 0.2, 0.3})->reason,
           "max_steps = 60");
    strcpy(add(&k, "epochs=20 patience=2", 3, (double[]){0.1, 0.2, 0.3})->reason,
           "patience = 2 epochs without a better loss");
    strcpy(add(&k, "schedule=cosine epochs=3 max_steps=25", 3, (double[]){0.1, 0.2, 0.3})->reason,
           "max_steps = 25"); /* within its last epoch */
    add(&k, "schedule=cosine epochs=3 max_steps=30", 3, (double[]){0.1, 0.2, 0.3});
    if (open_all(&k)) {
        study_read_at(&k.runs[0], &(struct study_limit){STUDY_EPOCHS, 3, 0}, &r);
        CHECK(!r.ended && r.row == 2);
        CHECK_STR(r.where, "epoch 3 of 20, ended by max_steps, lr still 0.085");
        study_read_at(&k.runs[0], &(struct study_limit){STUDY_EPOCHS, 2, 0}, &r);
        CHECK_STR(r.where, "epoch 2 of 20, lr still 0.085");
        study_read_at(&k.runs[1], &(struct study_limit){STUDY_EPOCHS, 3, 0}, &r);
        CHECK(!r.ended);
        CHECK_STR(r.where, "epoch 3 of 20, ended by patience, lr constant");
        study_read_at(&k.runs[2], &(struct study_limit){STUDY_EPOCHS, 3, 0}, &r);
        CHECK(!r.ended);
        CHECK_STR(r.where, "epoch 3 of 3, ended by max_steps, lr still 0.085");
        study_read_at(&k.runs[3], &(struct study_limit){STUDY_EPOCHS, 3, 0}, &r);
        CHECK(r.ended);
        CHECK_STR(r.where, "epoch 3, its end");
    }
    end(&k);
}

TEST(gain_of_an_ensemble)
{
    struct kit k;

    begin(&k);
    add(&k, "mode=ensemble devices=2", 2, (double[]){0.5, 0.7});
    if (open_all(&k)) {
        CHECK_NEAR(study_number(k.runs, "gain_mean"), 0.02, 1e-12);
        CHECK_NEAR(study_number(k.runs, "gain_best"), 0.01, 1e-12);
    }
    end(&k);
}

TEST(crossing_of_a_target)
{
    struct kit k;
    struct study_table t;
    struct study_wish wish = {.target = 0.6};
    struct err e;

    begin(&k);
    add(&k, "lr=0.1", 3, (double[]){0.5, 0.6, 0.7});
    add(&k, "lr=0.2", 3, (double[]){0.5, 0.55, 0.58});
    if (open_all(&k)) {
        REQUIRE_OK(study_compare(k.runs, k.count, &wish, &t, &e));
        CHECK_STR(cell(&t, 0, "target_epoch"), "2");
        CHECK_STR(cell(&t, 0, "target_seconds"), "20");
        CHECK_STR(cell(&t, 0, "target_device_seconds"), "20");
        CHECK_STR(cell(&t, 1, "target_seconds"), "");
        study_table_free(&t);
    }
    end(&k);
}

/* One, two and four real devices, eight virtual ones on four, and sixteen beside another run: 10, 10, ... images a second come
 * from the files alone, so every speed-up is 1 and efficiencies are 1, 1/2, 1/4. */
TEST(scaling_by_hand)
{
    static const int devices[] = {4, 1, 8, 2, 16}, real[] = {4, 1, 4, 2, 16};
    struct study_table t = {0};
    struct study_point *p;
    struct kit k;

    begin(&k);
    for (int i = 0; i < 5; i++) {
        struct record_run *run;
        char settings[64];

        snprintf(settings, sizeof settings, "devices=%d", devices[i]);
        run = add(&k, settings, 2, (double[]){0.5, 0.6});
        run->real_devices = real[i];
        run->shared = 1 + (i == 4);
    }
    if (open_all(&k)) {
        CHECK_INT(study_scaling(k.runs, k.count, &p), 5);
        CHECK(p[0].devices == 1 && p[3].devices == 8 && p[3].is_virtual && !p[2].is_virtual);
        CHECK_NEAR(p[0].images_per_second, 10, 1e-12);
        CHECK(p[1].speed_up == 1 && p[1].efficiency == 0.5 && p[2].efficiency == 0.25);
        CHECK(isnan(p[3].speed_up) && isnan(p[3].efficiency));
        CHECK(p[4].shared && isnan(p[4].speed_up) && isnan(p[4].efficiency));
        CHECK_NEAR(p[0].wait, 0.5, 1e-12);
        CHECK_NEAR(p[0].compute, 0.4, 1e-12);
        CHECK_NEAR(p[0].input, 0.1, 1e-12);
        CHECK(p[0].reduce == 0);
        free(p);
        study_scaling_table(k.runs, k.count, &t);
        CHECK_STR(cell(&t, 2, "mark"), "");
        CHECK_STR(cell(&t, 2, "efficiency"), "0.25");
        CHECK_STR(cell(&t, 3, "mark"), "virtual");
        CHECK_STR(cell(&t, 3, "efficiency"), "");
        CHECK_STR(cell(&t, 4, "mark"), "shared");
        CHECK_STR(cell(&t, 4, "speed_up"), "");
        study_table_free(&t);
    }
    end(&k);
}

/* On validation the first is best, on test the second; the accuracies in the table are of test. */
TEST(rows_are_chosen_on_validation_where_there_is_some)
{
    struct study_wish wish = {.over = "seed"};
    struct study_table t;
    struct kit k;
    struct err e;

    begin(&k);
    for (int seed = 1; seed <= 2; seed++) {
        add(&k, seed == 1 ? "lr=0.1 valid=10 seed=1" : "lr=0.1 valid=10 seed=2", 1,
            (double[]){0.25 + 0.01 * seed});
        add(&k, seed == 1 ? "lr=0.2 valid=10 seed=1" : "lr=0.2 valid=10 seed=2", 1,
            (double[]){0.5 + 0.02 * seed});
    }
    if (open_all(&k) && study_compare(k.runs, k.count, &wish, &t, &e) == ERR_OK) {
        CHECK(study_table_cell(&t, 0, study_table_find(&t, "val_acc"))->best);
        CHECK(!study_table_cell(&t, 1, study_table_find(&t, "val_acc"))->best);
        CHECK_STR(cell(&t, 0, "difference"), ""); /* it is the one that the other is held against */
        CHECK(strtod(cell(&t, 1, "difference"), NULL) > 0.25);
        CHECK(strstr(text_str(&t.note), "row with the highest val_acc,") != NULL);
        CHECK(strstr(text_str(&t.note), "picked on test)") == NULL);
        study_table_free(&t);
    }
    end(&k);
}

TEST(one_run_without_validation_makes_test_the_choice)
{
    struct study_wish wish = {.target = 0.4};
    struct study_table t;
    struct kit k;
    struct err e;

    begin(&k);
    add(&k, "lr=0.1 valid=10", 2, (double[]){0.25, 0.5});
    add(&k, "lr=0.2", 2, (double[]){0.35, 0.45});
    if (open_all(&k) && study_compare(k.runs, k.count, &wish, &t, &e) == ERR_OK) {
        /* by validation the first run came to 0.4 in its first epoch */
        CHECK_STR(cell(&t, 0, "target_epoch"), "2");
        CHECK_STR(cell(&t, 1, "target_epoch"), "2");
        CHECK(strstr(text_str(&t.note), "at whose end test_acc was 0.4 or more") != NULL);
        CHECK(strstr(text_str(&t.note), "highest test_acc: it is picked on test") != NULL);
        CHECK(study_table_cell(&t, 1, study_table_find(&t, "test_acc"))->best);
        study_table_free(&t);
    }
    end(&k);
}

TEST(a_target_is_crossed_on_validation_where_all_have_it)
{
    struct study_wish wish = {.target = 0.7};
    struct study_table t;
    struct kit k;
    struct err e;

    begin(&k);
    add(&k, "lr=0.1 valid=10", 2, (double[]){0.25, 0.75});
    if (open_all(&k) && study_compare(k.runs, k.count, &wish, &t, &e) == ERR_OK) {
        CHECK_STR(cell(&t, 0, "target_epoch"), "1");
        CHECK(strstr(text_str(&t.note), "at whose end val_acc was 0.7 or more") != NULL);
        study_table_free(&t);
    }
    end(&k);
}

/* Beside a single model, whose members' accuracy is its own. */
TEST(no_gains_where_no_ensemble_has_one)
{
    static const char *const none[] = {"gain_mean", "last.gain_best", "member_acc_mean",
                                       "disagreement"};
    struct study_wish wish = {0};
    struct study_table t;
    struct kit k;
    struct err e;

    begin(&k);
    add(&k, "lr=0.1", 2, (double[]){0.5, 0.75});
    add(&k, "mode=ensemble members=2 devices=2", 0, NULL);
    if (open_all(&k) && study_compare(k.runs, k.count, &wish, &t, &e) == ERR_OK) {
        for (size_t i = 0; i < MEM_COUNT(none); i++)
            CHECK_INT(study_table_find(&t, none[i]), -1);
        CHECK(study_table_find(&t, "model_images") >= 0);
        CHECK(!strstr(text_str(&t.note), "gain_"));
        study_table_free(&t);
    }
    end(&k);
}

TEST(gains_at_the_best_epoch_and_at_the_last)
{
    struct study_wish wish = {0};
    struct study_table t;
    struct kit k;
    struct err e;

    begin(&k);
    add(&k, "mode=ensemble members=2 devices=2", 3, (double[]){0.5, 0.75, 0.625});
    if (open_all(&k) && study_compare(k.runs, k.count, &wish, &t, &e) == ERR_OK) {
        CHECK_NEAR(study_number(k.runs, "gain_mean"), 0.02, 1e-12);
        CHECK_NEAR(study_number(k.runs, "last.gain_best"), 0.01, 1e-12);
        CHECK(study_table_find(&t, "last.gain_mean") > study_table_find(&t, "gain_mean"));
        CHECK(strstr(text_str(&t.note), "gain_* at best_epoch, last.gain_* at the last epoch") !=
              NULL);
        study_table_free(&t);
    }
    end(&k);
}

/* Setting 0 has devices 1, 2, 2 (virtual), 4 (shared), setting 1 has one point. */
TEST(points_off_a_scaling_curve_stand_alone)
{
    static const struct study_point p[] = {
        {.devices = 1, .images_per_second = 100, .speed_up = 1},
        {.devices = 2, .images_per_second = 180, .speed_up = 1.8},
        {.devices = 2, .images_per_second = 90, .is_virtual = true},
        {.setting = 1, .devices = 3, .images_per_second = 70, .speed_up = 1},
        {.devices = 4, .images_per_second = 120, .shared = true}};
    double x[10], y[10];

    CHECK_INT(study_scaling_line(p, 5, 0, true, false, x, y), 2);
    CHECK(x[0] == 1 && y[0] == 100 && x[1] == 2 && y[1] == 180);
    CHECK_INT(study_scaling_line(p, 5, 0, true, true, x, y), 2);
    CHECK(y[0] == 1 && y[1] == 1.8);
    CHECK_INT(study_scaling_line(p, 5, 0, false, false, x, y), 3);
    CHECK(x[0] == 2 && y[0] == 90 && x[1] == 2 && isnan(y[1]) && x[2] == 4 && y[2] == 120);
    CHECK_INT(study_scaling_line(p, 5, 1, true, false, x, y), 1);
    CHECK_INT(study_scaling_line(p, 5, 1, false, false, x, y), 0);
}
