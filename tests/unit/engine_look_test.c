/* What is found once for all questions of a look, counted; and that what changes is noticed in the next. */
#include "tests/unit/engine_help.h"
#include "engine/look.h"
#include "engine/plan.h"

#include <fcntl.h>

static const struct data_places nowhere;
static int models_read, machine_read;

static int count_open(const char *path, int flags, mode_t mode)
{
    models_read += text_ends_with(path, "tiny.net");
    machine_read += text_ends_with(path, "meminfo");
    return open(path, flags, mode);
}

static enum err_code ask(struct look *l, uint32_t number, const struct spec *s,
                         uint64_t *parameters, struct err *e)
{
    struct plan_source from;
    struct plan *p;
    enum err_code code;

    look_begin(l, number);
    from = look_source(l);
    code = plan_make_with(&p, s, &nowhere, kit_backends, &from, e);
    if (code != ERR_OK)
        return code;
    CHECK(look_machine(l).all > 0);
    CHECK_INT(look_results(l, e), ERR_OK);
    *parameters = p->net->parameter_count;
    plan_free(p);
    return code;
}

TEST(a_look_reads_once_what_all_its_questions_need)
{
    int (*real)(const char *, int, mode_t) = io.open;
    struct kit k;
    struct spec s;
    struct look *l;
    struct err e;
    uint64_t parameters, began = clock_ns(), seconds;

    kit_folder(&k);
    l = look_new(k.results);
    io.open = count_open;
    models_read = machine_read = 0;
    for (int i = 0; i < 512; i++) {
        kit_spec(&k, &s, "backend=ref", NULL);
        s.batch = 1 + i % 96;
        s.epochs = 1 + i;
        REQUIRE_OK(ask(l, 7, &s, &parameters, &e));
    }
    seconds = (clock_ns() - began) / 1000000000;
    CHECK_INT(look_parsed(l), 1);
    CHECK(models_read >= 1 && models_read <= 1 + (int)seconds);
    CHECK(machine_read >= 1 && machine_read <= 1 + (int)seconds);
    models_read = machine_read = 0;
    REQUIRE_OK(ask(l, 8, &s, &parameters, &e)); /* the next look: read again, and the same text */
    CHECK_INT(models_read, 1);
    CHECK_INT(machine_read, 1);
    CHECK_INT(look_parsed(l), 1);
    REQUIRE_OK(ask(l, 0, &s, &parameters, &e));
    REQUIRE_OK(ask(l, 0, &s, &parameters, &e)); /* of no look */
    CHECK_INT(models_read, 3);
    io.open = real;
    look_free(l);
    kit_end(&k);
}

TEST(a_net_is_made_for_each_shape_and_value_that_tells_it_apart)
{
    struct kit k;
    struct spec s;
    struct look *l;
    struct err e;
    uint64_t parameters[2], again;

    kit_folder(&k);
    l = look_new(k.results);
    kit_write(k.model, "param width 3\ninput auto\nconv $width 3\nglobalavgpool\ndense classes\n");
    for (int i = 0; i < 4; i++) {
        kit_spec(&k, &s, "backend=ref", i % 2 ? "model.width=5" : "model.width=4", NULL);
        REQUIRE_OK(ask(l, 1, &s, i < 2 ? &parameters[i] : &again, &e));
        CHECK(i < 2 || again == parameters[i % 2]);
    }
    CHECK(parameters[0] < parameters[1]);
    CHECK_INT(look_parsed(l), 2);
    look_free(l);
    kit_end(&k);
}

TEST(a_model_that_changes_or_is_wrong_is_told_in_the_same_words)
{
    struct kit k;
    struct spec s;
    struct look *l;
    struct plan *p;
    struct err e, want;
    uint64_t before = 0, after = 0;
    static const char *const wrong[] = {"input 1 8 8\nconv 3 nine\ndense classes\n",
                                        "input 1 8\ndense classes\n", ""};

    kit_folder(&k);
    l = look_new(k.results);
    kit_spec(&k, &s, "backend=ref", NULL);
    REQUIRE_OK(ask(l, 1, &s, &before, &e));
    kit_write(k.model, "input 1 8 8\ndense 20\ndense classes\n");
    REQUIRE_OK(ask(l, 2, &s, &after, &e));
    CHECK(before != after);
    for (size_t i = 0; i <= MEM_COUNT(wrong); i++) {
        if (i < MEM_COUNT(wrong))
            kit_write(k.model, wrong[i]);
        else
            unlink(k.model);
        CHECK_INT(plan_make(&p, &s, &nowhere, kit_backends, false, &want), ERR_INPUT);
        for (int turn = 0; turn < 2; turn++) {
            CHECK_INT(ask(l, 3 + (uint32_t)i, &s, &after, &e), ERR_INPUT);
            CHECK_STR(e.text, want.text);
        }
    }
    kit_write(k.model, "input 1 8 8\ndense 20\ndense classes\n");
    REQUIRE_OK(ask(l, 20, &s, &after, &e));
    look_free(l);
    kit_end(&k);
}
