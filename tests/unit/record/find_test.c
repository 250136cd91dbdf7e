/* Lists of runs and RUN names. */
#include "record/best.h"
#include "record/find.h"
#include "record/list.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "tests/unit/record/help.h"

#include <errno.h>

/* A finished run; its name goes to name. */
static void add_run(const char *results, const char *label, double best, enum wire_state state,
                    char name[256])
{
    struct err e = {0};
    struct record_run *run = help_run();
    struct record *r;

    snprintf(run->spec.name, sizeof run->spec.name, "%s", label);
    run->best_test_acc = best;
    run->state = state;
    REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
    snprintf(name, 256, "%s", run->run);
    record_close(r);
    free(run);
    usleep(2000); /* the next one is later by its name */
}

static void check_found(const char *results, const char *name, const char *want)
{
    struct err e = {0};
    struct record_entry entry;

    if (record_find(results, name, &entry, &e) != ERR_OK) {
        TEST_FAILED("%s: %s", name, e.text);
        return;
    }
    if (strcmp(entry.name, want) != 0)
        TEST_FAILED("%s is %s, not %s", name, entry.name, want);
    record_free_entry(&entry);
}

static void check_refused(const char *results, const char *name, const char *sentence)
{
    struct err e = {0};
    struct record_entry entry;

    if (record_find(results, name, &entry, &e) == ERR_OK) {
        TEST_FAILED("'%s' is %s", name, entry.name);
        record_free_entry(&entry);
        return;
    }
    CHECK_INT(e.code, ERR_INPUT);
    CHECK_HAS(e.text, name);
    CHECK_HAS(e.text, sentence);
}

TEST(names_of_runs)
{
    char *results = help_folder(), names[8][256], path[600];

    add_run(results, "alpha", 0.5, WIRE_DONE, names[0]);
    add_run(results, "beta", 0.9, WIRE_DONE, names[1]);
    add_run(results, "gamma", NAN, WIRE_DIVERGED, names[2]);
    add_run(results, "alpha-two", RECORD_EMPTY, WIRE_STOPPED, names[3]);
    add_run(results, "beta", INFINITY, WIRE_DONE, names[4]);
    check_found(results, "@", names[4]);
    check_found(results, "@1", names[4]);
    check_found(results, "@2", names[3]);
    check_found(results, "@5", names[0]);
    check_found(results, "@best", names[1]);
    check_found(results, "gamma", names[2]);
    check_found(results, names[0], names[0]);
    check_found(results, "alpha-two", names[3]);
    snprintf(path, sizeof path, "%s/%s", results, names[2]);
    check_found(results, path, names[2]);
    check_found(NULL, path, names[2]);
    snprintf(path, sizeof path, "%s/%s//", results, names[2]);
    check_found(results, path, names[2]);

    check_refused(results, "@6", "holds 5");
    check_refused(results, "@0", "names no run");
    check_refused(results, "@-1", "names no run");
    check_refused(results, "@99999999999999999999", "names no run");
    check_refused(results, "@bets", "names no run");
    check_refused(results, "", "is empty");
    check_refused(results, "beta", names[1]);
    check_refused(results, "beta", names[4]);
    check_refused(results, "beta", "2 runs");
    check_refused(results, "delta", results);
    check_refused(results, "no/such/folder", "there is no file or folder");
    snprintf(path, sizeof path, "%s/sweeps/none", results);
    check_refused(results, path, "there is no sweep");
    check_refused(results, "model=cnn", "no run matches 'model=cnn': there are 5 runs");
    check_refused(results, "lr!=0.5", "matches 5 runs");
    check_refused(results, "test_ac>0.9", "did you mean test_acc?");
    check_refused(results, "test_acc<abc", "is no number");
    check_found(results, "test_acc<0.9", names[0]);
    check_found(results, "state=stopped", names[3]);
    for (int i = 5; i < 8; i++)
        add_run(results, "alpha", 0.1, WIRE_DONE, names[i]);
    check_refused(results, "alpha", "4 runs");
    add_run(results, "alpha", 0.1, WIRE_DONE, path);
    check_refused(results, "alph", "6 runs");
    check_refused(results, "alph", ", ...");
    help_remove(results);
}

static size_t found_by(const char *results, const char *name, bool listing)
{
    struct err e = {0};
    char *names[] = {(char *)name};
    struct record_entry *list;
    size_t count;

    if (record_find_all(results, names, 1, listing, &list, &count, &e) != ERR_OK) {
        CHECK_HAS(e.text, "is part of the names of");
        return 0;
    }
    record_free_list(list, count);
    return count;
}

TEST(what_failed_is_never_the_best)
{
    char *results = help_folder(), names[4][256];

    add_run(results, "sound", 0.5, WIRE_STOPPED, names[0]);
    add_run(results, "failed", 0.9, WIRE_FAILED, names[1]);
    add_run(results, "full", 0.9, WIRE_OOM, names[2]);
    add_run(results, "apart", 0.9, WIRE_DIVERGED, names[3]);
    check_found(results, "@best", names[0]);
    help_remove(results);
}

TEST(each_test_data_has_its_own_best)
{
    struct record_choice of[] = {
        {.on = {"mnist", "#1", 0, 64}, .acc = 0.5, .val_acc = NAN},
        {.on = {"mnist", "#1", 0, 128}, .acc = 0.6, .val_acc = 0.7},
        {.on = {"mnist", "#1", 0, 128}, .acc = 0.7, .val_acc = 0.6},
        {.on = {"mnist", "#1", 0, 64}, .acc = 0.4, .val_acc = 0.9},
        {.on = {"mnist", "#1", 0, 64}, .acc = NAN, .val_acc = NAN},
        {.on = {"mnist", "#2", 0, 64}, .acc = 0.3, .val_acc = NAN}, /* the files had changed */
        {.on = {"mnist", "#3", 600, 64}, .acc = 0.45, .val_acc = NAN}};
    bool best[7], want[7] = {true, true, false, false, false, true, false};

    record_find_best(of, 7, best);
    for (int i = 0; i < 7; i++)
        if (best[i] != want[i])
            TEST_FAILED("run %d is%s the best", i, best[i] ? "" : " not");
}

TEST(the_best_cell_is_picked_on_validation_where_all_have_it)
{
    struct wire_cell cells[] = {
        {.known = true, .state = WIRE_DONE, .acc = NAN, .val_acc = NAN}, /* of no epochs */
        {.known = true, .state = WIRE_DONE, .acc = 0.9, .val_acc = 0.7},
        {.known = true, .state = WIRE_DONE, .acc = 0.8, .val_acc = 0.75},
        {.known = true, .state = WIRE_DIVERGED, .acc = 0.95, .val_acc = 0.95},
        {.known = true, .state = WIRE_RUNNING, .acc = NAN, .val_acc = NAN}};
    bool by_valid;

    CHECK_INT(record_best_cell(cells, 5, &by_valid), 2);
    CHECK(by_valid);
    cells[2].val_acc = NAN;
    CHECK_INT(record_best_cell(cells, 5, &by_valid), 1);
    CHECK(!by_valid);
    CHECK_INT(record_best_cell(cells, 1, &by_valid), 1);
}

/* Against a rule that is as plain as can be. */
TEST(the_best_is_the_first_that_none_exceeds)
{
    struct record_choice of[6];
    bool by_valid;

    for (unsigned code = 0; code < 4096 * 4; code++) {
        size_t best, want = 6;
        bool valid = true;

        for (unsigned i = 0; i < 6; i++) { /* each has neither, one, or both of two values */
            unsigned has = code * 2654435761U >> (3 * i) & 7;

            of[i].acc = has & 1 ? 0.25 + 0.5 * (has >> 2) : NAN;
            of[i].val_acc = code & 1 || has & 2 ? 0.75 - 0.5 * (has >> 2) : NAN;
            valid = valid && (!(has & 1) || isfinite(of[i].val_acc));
        }
        best = record_best(of, 6, &by_valid);
        for (size_t i = 6; i-- > 0;) {
            bool exceeded = !isfinite(of[i].acc);

            for (size_t k = 0; k < 6; k++)
                exceeded |= isfinite(of[k].acc) &&
                            (valid ? of[k].val_acc > of[i].val_acc : of[k].acc > of[i].acc);
            want = exceeded ? want : i;
        }
        CHECK_INT(best, want);
        CHECK_INT(by_valid, valid);
    }
}

TEST(the_best_of_different_test_data_is_no_one_run)
{
    char *results = help_folder(), names[2][256];
    struct record_run *run = help_run();
    struct err e = {0};
    struct record *r;

    add_run(results, "all", 0.9, WIRE_DONE, names[0]);
    run->best_test_acc = 0.5;
    run->state = WIRE_DONE;
    run->spec.test_limit = 64;
    REQUIRE_OK(record_create(&r, results, run, "", "", false, &e));
    snprintf(names[1], sizeof names[1], "%s", run->run);
    record_close(r);
    free(run);
    CHECK_INT(found_by(results, "@best", true), 2);
    check_refused(results, "@best", "one is needed, such as @best test_limit=");

    char *filtered[] = {"@best", "test_limit=64"};
    struct record_entry entry;
    REQUIRE_OK(record_find_one(results, filtered, 2, &entry, &e));
    CHECK_STR(entry.name, names[1]);
    record_free_entry(&entry);
    help_remove(results);
}

/* No digits of a hash, with which a name ends, hold a w. */
TEST(a_given_name_wins_over_parts_and_a_part_is_of_one_name)
{
    char *results = help_folder(), names[4][256];
    struct record_entry *list;
    struct err e = {0};
    size_t count;

    add_run(results, "w4", 0.5, WIRE_DONE, names[0]);
    add_run(results, "w4b", 0.5, WIRE_DONE, names[1]);
    add_run(results, "lenet-17w4", 0.5, WIRE_DONE, names[2]);
    check_found(results, "w4", names[0]);
    check_found(results, "w4b", names[1]);
    check_found(results, "net-17", names[2]);
    check_refused(results, "-w4", names[0]);
    check_refused(results, "-w4", names[1]);
    check_refused(results, "-w4", "is part of the names of 2 runs");
    CHECK_INT(found_by(results, "w4", false), 1);
    CHECK_INT(found_by(results, "-w4", false), 0);
    CHECK_INT(found_by(results, "-w4", true), 2);
    CHECK_INT(found_by(results, "name=w4,w4b", false), 2);

    char *both[] = {"name=w4b", "-w4"}; /* the one of those that the filter leaves */
    REQUIRE_OK(record_find_all(results, both, 2, false, &list, &count, &e));
    CHECK(count == 1 && !strcmp(list[0].name, names[1]));
    record_free_list(list, count);

    add_run(results, "w4", 0.5, WIRE_DONE, names[3]); /* both were given it */
    CHECK_INT(found_by(results, "w4", false), 2);
    check_refused(results, "w4", "is the name of 2 runs");
    help_remove(results);
}

TEST(an_empty_place_has_no_runs)
{
    struct err e = {0};
    char *top = help_folder(), *missing = io_path(top, "none"), *file = io_path(top, "file");
    struct record_entry *list, entry;
    size_t count;

    REQUIRE_OK(record_list(missing, &list, &count, &e));
    CHECK_INT(count, 0);
    record_free_list(list, count);
    REQUIRE_OK(record_list(top, &list, &count, &e));
    CHECK_INT(count, 0);
    record_free_list(list, count);
    check_refused(top, "@", "there is no run '@' in ");
    check_refused(top, "@", ", which holds none; chorus run first makes one");
    check_refused(top, "@best", ", which holds none");
    check_refused(top, "@all", ", which holds none");
    check_refused(top, "all", "chorus run first makes one");
    check_refused(missing, "@", "/none, which is not there; chorus run first makes one");
    check_refused(missing, "7f3a", "/none, which is not there");
    check_refused(missing, "lr=1", "0 runs in ");
    check_refused(missing, "lr=1", "/none, which is not there");
    CHECK_INT(record_find_unfinished(missing, &entry, &e), ERR_INPUT);
    CHECK_HAS(e.text, missing);
    help_put(top, "file", "x", 1);
    CHECK_INT(record_list(file, &list, &count, &e), ERR_INPUT);
    CHECK_HAS(e.text, file);
    free(missing);
    free(file);
    help_remove(top);
}

TEST(a_broken_run_spoils_itself_alone)
{
    static const struct {
        const char *text, *problem;
    } bad[] = {
        {"", "run.csv"},
        {"run,state\n", "0 whole rows"},
        {"run,state\na,runn", "0 whole rows"},
        {"run,state\na,done\nb,done\n", "2 whole rows"},
        {"run,state\na,sleeping\n", "state holds 'sleeping'"},
        {"a,b\n1,2\n", "no columns run and state"},
        {"run,state,pid\na,done,x\n", "pid holds 'x'"},
        {"run,state,lr_used\na,done,0,1\n", "run.csv"},
        {"run,state,lr_used\na,done,one\n", "lr_used holds 'one'"},
        {"run,state,epochs\na,done,-3\n", "epochs"},
        {"run,state,note\na,done,\"open\n", "run.csv"},
    };
    struct err e = {0};
    char *results = help_folder(), name[256], other[256], *folder, *sub;
    struct record_entry *list;
    size_t count;

    add_run(results, "good", 0.5, WIRE_DONE, name);
    add_run(results, "bad", 0.5, WIRE_DONE, other);
    folder = io_path(results, other);
    for (size_t i = 0; i < MEM_COUNT(bad); i++) {
        help_put(folder, "run.csv", bad[i].text, strlen(bad[i].text));
        REQUIRE_OK(record_list(results, &list, &count, &e));
        CHECK_INT(count, 2);
        CHECK(!list[0].broken && list[1].broken);
        CHECK_STR(list[1].name, other);
        CHECK_HAS(list[1].problem, bad[i].problem);
        record_free_list(list, count);
    }
    /* what an older version did not know is not missed, what a newer one adds is passed over */
    help_put(folder, "run.csv", "run,future,state\na,x,done\n", 26);
    REQUIRE_OK(record_list(results, &list, &count, &e));
    CHECK(!list[1].broken && list[1].run.state == WIRE_DONE);
    CHECK(list[1].run.best_test_acc == RECORD_EMPTY);
    record_free_list(list, count);

    sub = io_path(results, "sweeps"); /* and what is no run is none */
    mkdir(sub, 0777);
    help_put(sub, "run.csv", "", 0);
    free(sub);
    sub = io_path(results, ".half");
    mkdir(sub, 0777);
    help_put(sub, "run.csv", "", 0);
    help_put(results, "file", "", 0);
    REQUIRE_OK(record_list(results, &list, &count, &e));
    CHECK_INT(count, 2);
    record_free_list(list, count);
    free(sub);
    free(folder);
    help_remove(results);
}

TEST(the_newest_unfinished_run_is_gone_on_with)
{
    struct err e = {0};
    char *results = help_folder(), stopped[256], name[256], *folder;
    struct record_entry entry;
    struct record *r;

    add_run(results, "done", 0.5, WIRE_DONE, name);
    CHECK_INT(record_find_unfinished(results, &entry, &e), ERR_INPUT);
    CHECK_HAS(e.text, "no unfinished run");
    add_run(results, "stopped", 0.5, WIRE_STOPPED, stopped);
    add_run(results, "diverged", 0.5, WIRE_DIVERGED, name);
    REQUIRE_OK(record_find_unfinished(results, &entry, &e));
    CHECK_STR(entry.name, stopped);
    record_free_entry(&entry);
    add_run(results, "dead", 0.5, WIRE_RUNNING, name);
    REQUIRE_OK(record_find_unfinished(results, &entry, &e));
    CHECK_STR(entry.name, name);
    CHECK(entry.dead);
    record_free_entry(&entry);
    folder = io_path(results, name);
    REQUIRE_OK(record_open(&r, folder, &e)); /* somebody is at work on it */
    REQUIRE_OK(record_find_unfinished(results, &entry, &e));
    CHECK_STR(entry.name, stopped);
    record_free_entry(&entry);
    record_close(r);
    free(folder);
    help_remove(results);
}
