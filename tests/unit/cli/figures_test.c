/* What figures and curves show of runs whose files are written here. */
#include "cli/out/report/figures.h"
#include "draw/plot/curves.h"
#include "record/run/run.h"
#include "study/scaling.h"
#include "tests/unit/study/kit.h"

TEST(a_run_done_twice_is_once_in_a_curve)
{
    struct kit k;
    struct curves c;
    struct curves_wish wish = {.metric = "test_acc", .over = "seed", .band = "sd"};
    struct err e;

    begin(&k);
    add(&k, "seed=1", 2, (double[]){0.5, 0.75});
    add(&k, "seed=1 name=b", 2, (double[]){0.5, 0.75});
    add(&k, "seed=2", 2, (double[]){0.25, 0.25});
    if (open_all(&k)) {
        REQUIRE_OK(curves_of(&c, k.runs, k.count, &wish, &e));
        CHECK_INT(c.lines, 1);
        CHECK_INT(c.line[0].runs, 2);
        CHECK(c.line[0].y[1] == 0.5);
        curves_free(&c);
    }
    end(&k);
}

TEST(a_run_done_twice_is_once_in_a_cell)
{
    struct kit k;
    struct figures f;
    struct err e;

    begin(&k);
    add(&k, "lr=0.1 batch=50 seed=1", 1, (double[]){0.5});
    add(&k, "lr=0.1 batch=50 seed=1 name=b", 1, (double[]){0.5});
    add(&k, "lr=0.1 batch=50 seed=2", 1, (double[]){0.25});
    add(&k, "lr=0.2 batch=100 seed=1", 1, (double[]){0.75});
    if (open_all(&k)) {
        REQUIRE_OK(figures_board(&f, k.runs, k.count, "test_acc", "lr", "batch", &e));
        CHECK_STR(f.board.words[0], "0.3750 ± 0.1768");
        CHECK_STR(f.board.words[3], "0.7500");
        figures_free(&f);
    }
    end(&k);
}

TEST(a_board_says_what_its_colours_do_not)
{
    struct kit k;
    struct figures f;
    struct err e;

    begin(&k);
    add(&k, "lr=0.1 batch=50", 1, (double[]){0.90});
    add(&k, "lr=0.1 batch=100", 1, (double[]){0.91});
    add(&k, "lr=0.2 batch=50", 1, (double[]){0.93});
    add(&k, "lr=0.2 batch=100", 1, (double[]){0.1});
    if (open_all(&k)) {
        REQUIRE_OK(figures_board(&f, k.runs, k.count, "test_acc", "lr", "batch", &e));
        CHECK_HAS(text_str(&f.note), "Colours run from 0.9000 to 0.9300; what is far below shares");
        figures_free(&f);
        k.entry[3].run.best_epoch = 0; /* none */
        k.runs[3].best = -1;
        REQUIRE_OK(figures_board(&f, k.runs, k.count, "test_acc", "lr", "batch", &e));
        CHECK(!strstr(text_str(&f.note), "Colours"));
        figures_free(&f);
    }
    end(&k);
}

/* 0.25 and 0.5 on one device, 0.3 more on two: the devices' 0.3 is no noise of seeds. */
TEST(a_cell_spreads_over_seeds_alone)
{
    struct kit k;
    struct figures f;
    struct err e;

    begin(&k);
    add(&k, "lr=0.1 batch=50 seed=1", 1, (double[]){0.25});
    add(&k, "lr=0.1 batch=50 seed=2", 1, (double[]){0.5});
    add(&k, "lr=0.1 batch=50 seed=1 devices=2", 1, (double[]){0.55});
    add(&k, "lr=0.1 batch=50 seed=2 devices=2", 1, (double[]){0.8});
    add(&k, "lr=0.2 batch=100 seed=1", 1, (double[]){0.5});
    add(&k, "lr=0.2 batch=100 seed=1 devices=2", 1, (double[]){0.75});
    if (open_all(&k)) {
        REQUIRE_OK(figures_board(&f, k.runs, k.count, "test_acc", "lr", "batch", &e));
        CHECK_STR(f.board.words[0], "0.5250 ± 0.1768");
        CHECK_STR(f.board.words[3], "0.6250");
        CHECK(strstr(text_str(&f.note), "over seeds alone, n = 1 to 2 runs of a setting"));
        figures_free(&f);
    }
    end(&k);
}

static const struct plot_series *series_named(const struct plot *p, const char *part)
{
    for (int i = 0; i < p->count; i++)
        if (strstr(p->series[i].label, part))
            return &p->series[i];
    return NULL;
}

/* 1, 2 and 4 alone, 4 beside another run, 8 on 4: what runs beside another has a point of its own. */
TEST(a_shared_run_does_not_spoil_the_point_of_its_count)
{
    static const int devices[] = {1, 2, 4, 4, 8}, real[] = {1, 2, 4, 4, 4};
    const struct plot_series *s;
    struct study_point *p;
    struct figures f;
    struct kit k;
    struct err e;

    begin(&k);
    for (int i = 0; i < 5; i++) {
        struct record_run *run;
        char settings[64];

        snprintf(settings, sizeof settings, "devices=%d", devices[i]);
        run = add(&k, settings, 2, (double[]){0.5, 0.6});
        run->real_devices = real[i];
        run->shared = 1 + (i == 3);
    }
    if (open_all(&k)) {
        CHECK_INT(study_scaling(k.runs, k.count, &p), 5);
        CHECK(p[2].devices == 4 && !p[2].shared && p[2].runs == 1 && p[2].efficiency == 0.25);
        CHECK(p[3].devices == 4 && p[3].shared && isnan(p[3].efficiency));
        free(p);
        REQUIRE_OK(figures_scaling(&f, k.runs, k.count, &e));
        CHECK_INT(f.plot[0].count, 3);
        CHECK_INT(f.plot[0].series[0].n, 3);
        s = series_named(&f.plot[0], "ideal");
        CHECK(s && s->n == 3 && s->x[2] == 4);
        CHECK(s && fabs(s->y[2] - 40) < 1e-9); /* ten a second on one */
        s = series_named(&f.plot[0], "virtual or shared");
        CHECK(s && s->n == 3 && s->x[0] == 4 && isnan(s->y[1]) && s->x[2] == 8);
        s = &f.plot[1].series[0]; /* 1, 2, 4, a gap, 8 */
        CHECK(s->n == 5 && s->x[2] == 4 && isnan(s->y[3]) && s->x[4] == 8);
        figures_free(&f);
    }
    end(&k);
}

TEST(scaling_is_named_by_what_differs_among_what_scales)
{
    struct kit k;
    struct figures f;
    struct err e;

    begin(&k);
    add(&k, "batch=64 lr=0.1", 1, (double[]){0.5});
    add(&k, "batch=64 lr=0.1 devices=2", 1, (double[]){0.5});
    add(&k, "batch=64 lr=0.2", 1, (double[]){0.5});
    add(&k, "batch=64 lr=0.2 devices=2", 1, (double[]){0.5});
    add(&k, "batch=32 lr=0.1 optimizer=adam", 1, (double[]){0.5});
    for (size_t i = 0; i < k.count; i++)
        k.entry[i].run.real_devices = k.entry[i].run.spec.devices;
    if (open_all(&k)) {
        REQUIRE_OK(figures_scaling(&f, k.runs, k.count, &e));
        CHECK_INT(f.plot[0].count, 4);
        CHECK_STR(f.plot[0].series[0].label, "lr=0.1");
        CHECK_STR(f.plot[0].series[2].label, "lr=0.2");
        CHECK_HAS(text_str(&f.note), "1 setting on one number of devices alone is left out.");
        CHECK_HAS(text_str(&f.note), "The shares of time are those of lr=0.1.");
        figures_free(&f);
        CHECK(study_can_scale(k.runs, k.count) && !study_can_scale(k.runs, 1));
        CHECK(!study_can_scale(k.runs, 0) && !study_can_scale(k.runs + 3, 2));
        CHECK_INT(figures_scaling(&f, k.runs + 4, 1, &e), ERR_INPUT);
        CHECK_HAS(e.text, "devices=1,2,4");
    }
    end(&k);
}

/* Whoever has members is an ensemble; where a key does not apply it is not named. */
TEST(names_hold_no_more_than_tells_apart)
{
    static const char *const settings[] = {"lr=0.1 batch=50", "lr=0.2 batch=50",
                                           "lr=0.1 batch=50 mode=ensemble members=2",
                                           "lr=0.1 batch=50 mode=ensemble members=4"};
    struct kit k;
    char **names;

    begin(&k);
    for (size_t i = 0; i < MEM_COUNT(settings); i++)
        add(&k, settings[i], 1, (double[]){0.5});
    if (open_all(&k)) {
        names = curves_names(k.runs, k.count);
        CHECK_STR(names[0], "lr=0.1");
        CHECK_STR(names[1], "lr=0.2");
        CHECK_STR(names[3], "members=4 lr=0.1");
        for (size_t i = 0; i < k.count; i++)
            free(names[i]);
        free(names);
    }
    end(&k);
}
