#include "tests/test.h"

#include "base/text.h"
#include "cli/out/json.h"
#include "cli/out/progress.h"
#include "cli/out/table.h"
#include "cli/jobs/sweep_lines.h"
#include "spec/spec.h"
#include "study/compare.h"
#include "wire/wire.h"

static struct progress_view running(void)
{
    return (struct progress_view){.step = 585,
                                  .steps = 2340,
                                  .epoch = 3,
                                  .epochs = 10,
                                  .steps_per_epoch = 234,
                                  .loss = 0.41234,
                                  .acc = 0.8512,
                                  .images_per_second = 12340.4,
                                  .left_seconds = 72};
}

static const char *line(const struct progress_view *v, int columns, bool utf8)
{
    static struct text t;

    text_clear(&t);
    progress_line(v, columns, utf8, &t);
    return text_str(&t);
}

TEST(bar)
{
    struct progress_view v = running();

    CHECK_STR(line(&v, 120, true), "epoch 3/10 ███████▌░░░░░░░░░░░░░░░░░░░░░░  25 %  loss 0.4123  "
                                   "acc 0.8512  12,340 img/s  1:12 left");
    CHECK_STR(line(&v, 120, false), "epoch 3/10 #######-----------------------  25 %  loss 0.4123  "
                                    "acc 0.8512  12,340 img/s  1:12 left");
}

/* The cursor must stay on the line, however narrow; less important parts go first. */
TEST(width)
{
    struct progress_view v = running();

    for (int columns = 1; columns < 200; columns++) {
        CHECK(text_width(line(&v, columns, true)) < columns);
        if (columns >= 22)
            CHECK_HAS(line(&v, columns, true), "epoch 3/10");
        if (columns >= 50)
            CHECK_HAS(line(&v, columns, true), "left");
        if (columns >= 80) {
            CHECK_HAS(line(&v, columns, true), "img/s");
            CHECK_HAS(line(&v, columns, true), "░");
        }
    }
    CHECK_STR(line(&v, 3, true), "");
}

TEST(unknown_parts_are_left_out)
{
    struct progress_view v = running();

    v.loss = v.acc = v.left_seconds = NAN;
    v.images_per_second = 0;
    CHECK_STR(line(&v, 80, false), "epoch 3/10 #######-----------------------  25 %");
    v.doing = "paused";
    CHECK_STR(line(&v, 80, false), "epoch 3/10  paused #######-----------------------  25 %");
    v.steps = 0;
    v.doing = NULL;
    CHECK_STR(line(&v, 80, false), "epoch 3/10 ------------------------------   0 %");
}

TEST(values_out_of_range)
{
    struct progress_view v = running();

    v.step = 5000;
    CHECK_HAS(line(&v, 100, false), "100 %");
    v.left_seconds = 0.01;
    CHECK_HAS(line(&v, 120, false), "1 s left");
    v.left_seconds = INFINITY;
    CHECK(!strstr(line(&v, 120, false), "left"));
    v.loss = INFINITY;
    CHECK_HAS(line(&v, 120, false), "loss inf");
}

static const char *epoch_in(const struct progress_row *row, int members, int columns)
{
    static struct text t;

    text_clear(&t);
    progress_epoch_line(row, 10, members, columns, &t);
    return text_str(&t);
}

static const char *epoch(const struct progress_row *row, int members)
{
    return epoch_in(row, members, 1000);
}

TEST(epoch_lines)
{
    struct progress_row row = {.epoch = 3,
                               .train_loss = 0.28114,
                               .train_acc = 0.8971,
                               .val_loss = NAN,
                               .val_acc = NAN,
                               .test_loss = 0.3,
                               .test_acc = 0.9071,
                               .images_per_second = 12340,
                               .train_seconds = 4.9,
                               .eval_seconds = 0.1};

    CHECK_STR(epoch(&row, 1), "epoch 3/10  train loss 0.2811 acc 0.8971  test loss 0.3000 acc "
                              "0.9071  12,340 img/s  5.00 s");
    row.val_loss = 0.31;
    row.val_acc = 0.9;
    row.member_acc_min = 0.89;
    row.member_acc_max = 0.91;
    CHECK_STR(epoch(&row, 8),
              "epoch 3/10  train loss 0.2811 acc 0.8971  valid loss 0.3100 acc 0.9000  test loss "
              "0.3000 acc 0.9071 (members 0.8900 to 0.9100)  12,340 img/s  5.00 s");
    row.train_loss = NAN;
    CHECK_HAS(epoch(&row, 1), "train loss nan");
}

/* Nothing is wider than the terminal, and the test accuracy is the last to go. */
TEST(epoch_lines_of_narrow_terminals)
{
    struct progress_row row = {.epoch = 12345,
                               .train_loss = 0.28114,
                               .train_acc = 0.8971,
                               .val_loss = NAN,
                               .val_acc = NAN,
                               .test_loss = 0.3,
                               .test_acc = 0.9071,
                               .member_acc_min = 0.89,
                               .member_acc_max = 0.91,
                               .images_per_second = 12340,
                               .train_seconds = 4.9,
                               .eval_seconds = 0.1};

    for (int valid = 0; valid < 2; valid++) {
        for (int columns = 33; columns < 200; columns++) {
            CHECK(text_width(epoch_in(&row, 8, columns)) <= columns);
            CHECK_HAS(epoch_in(&row, 8, columns), "test");
            CHECK_HAS(epoch_in(&row, 8, columns), "acc 0.9071");
        }
        row.val_loss = 0.31;
        row.val_acc = 0.9;
    }
    row.epoch = 3;
    CHECK_STR(epoch_in(&row, 1, 80), "epoch 3/10  train 0.2811  valid 0.3100 acc 0.9000  "
                                     "test 0.3000 acc 0.9071");
    row.val_loss = row.val_acc = NAN;
    CHECK_STR(epoch_in(&row, 1, 80),
              "epoch 3/10  train loss 0.2811 acc 0.8971  test loss 0.3000 acc 0.9071  5.00 s");
}

TEST(short_names)
{
    CHECK_STR(study_short_name("2026-11-20-101530-412-cnn-ens4-7f3a"), "cnn-ens4-7f3a");
    CHECK_STR(study_short_name("my-run"), "my-run");
    CHECK_STR(study_short_name("2026-11-20-101530-412-"), "2026-11-20-101530-412-");
    CHECK_STR(study_short_name(""), "");
}

TEST(tables)
{
    struct cli_table t;
    struct text out = {0};

    cli_table_start(&t, "name|-acc|state");
    cli_table_add(&t, "l\033[1mx");
    cli_table_addf(&t, "%.2f", 0.5);
    cli_table_add(&t, "done");
    cli_table_add(&t, "größer");
    cli_table_add(&t, "");
    cli_table_add(&t, "");
    cli_table_text(&t, &out);
    CHECK_STR(text_str(&out), "name      acc  state\nl^[[1mx  0.50  done\ngrößer\n");
    cli_table_free(&t);
    text_free(&out);
}

/* "größer" is cut between characters, columns go by their heads. */
TEST(tables_of_narrow_terminals)
{
    static const char *const drop[] = {"nothing", "state", NULL};
    static const struct {
        int columns;
        bool front;
        const char *want;
    } cases[] = {
        {100, false, "name             acc  state\nein-größer-name  0.5  done\n"},
        {27, false, "name             acc  state\nein-größer-name  0.5  done\n"},
        {26, false, "name             acc\nein-größer-name  0.5\n"},
        {18, false, "name           acc\nein-größer...  0.5\n"},
        {15, false, "name        acc\nein-grö...  0.5\n"},
        {14, false, "name       acc\nein-gr...  0.5\n"},
        {16, true, "name         acc\n...ßer-name  0.5\n"},
        {1, true, "name      acc\n...-name  0.5\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cli_table t;
        struct text out = {0};

        cli_table_start(&t, "name|-acc|state");
        cli_table_add(&t, "ein-größer-name");
        cli_table_add(&t, "0.5");
        cli_table_add(&t, "done");
        cli_table_fit(&t, cases[i].columns, drop, "name", cases[i].front);
        cli_table_text(&t, &out);
        CHECK_STR(text_str(&out), cases[i].want);
        cli_table_free(&t);
        text_free(&out);
    }
}

TEST(json_fields)
{
    static const char *const cases[][2] = {
        {"1", "1"},           {"-0.5", "-0.5"},   {"1e-08", "1e-08"}, {"", "null"},
        {"nan", "null"},      {"-inf", "null"},   {"007", "\"007\""}, {"1.", "\"1.\""},
        {".5", "\".5\""},     {"yes", "\"yes\""}, {"0", "0"},         {"a\"b", "\"a\\\"b\""},
        {"1e5x", "\"1e5x\""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text t = {0}, want = {0};

        cli_json_field(&t, "k", cases[i][0]);
        text_addf(&want, "\"k\": %s", cases[i][1]);
        CHECK_STR(text_str(&t), text_str(&want));
        text_free(&t);
        text_free(&want);
    }
}

/* One that diverged waits for its event, which brings the reason; where events were dropped it may not
 * come any more. */
TEST(a_cell_whose_end_was_dropped_is_told)
{
    const struct wire_sweep_status status = {.sweep = 1, .state = WIRE_RUNNING, .cells = 2};
    const struct wire_cell diverged = {
        .known = true, .state = WIRE_DIVERGED, .ended_as = 1, .seconds = 1};
    const struct sweep_wish wish = {.name = "s", .quiet = true};
    struct wire *wire = wire_new(4);
    struct feed *feed = feed_new(wire, ".");
    struct spec_sweep spec;
    struct sweep_lines *w;

    spec_sweep_init(&spec);
    w = sweep_lines_own(feed, wire, 1, &spec, &wish);
    wire_set_sweep(wire, &status);
    wire_set_cell(wire, 1, &diverged);
    sweep_lines_look(w, true, false);
    CHECK_INT(sweep_lines_ended(w), 0);
    sweep_lines_look(w, true, true);
    CHECK_INT(sweep_lines_ended(w), 1);
    sweep_lines_free(w);
    spec_sweep_free(&spec);
    feed_free(feed);
    wire_free(wire);
}
