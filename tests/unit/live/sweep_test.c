#include "tests/test.h"

#include "live/sweep.h"

#include <math.h>
#include <string.h>
#include <time.h>

static struct live_sweep *sweep_of(const char *text)
{
    struct spec_sweep spec;
    struct err e;

    spec_sweep_init(&spec);
    if (spec_sweep_parse(&spec, text, strlen(text), "sweep.ini", &e) != ERR_OK ||
        spec_sweep_close(&spec, &e) != ERR_OK)
        return NULL;
    return live_sweep_new("board", &spec, 20000);
}

#define VALUES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The cell with these values, which somebody knows from now on. */
static struct live_cell *set(struct live_sweep *s, const char *const *values, enum wire_state state)
{
    struct live_cell *c = &s->cell[live_sweep_find(s, values)];

    c->known = true;
    c->state = state;
    return c;
}

TEST(resolved_values_find_their_cells)
{
    struct live_sweep *s = sweep_of("devices = 1, 2\nbatch = 32/device, 128\n"
                                    "lr = 0.10, 2e-1\n");

    REQUIRE(s && s->cells == 8);
    CHECK_INT(live_sweep_find(s, VALUES("2", "64", "0.2")),
              spec_sweep_at(&s->spec, (const size_t[]){1, 0, 1}));
    CHECK_INT(live_sweep_find(s, VALUES("2", "77", "0.2")),
              s->cells); /* either batch could be it */
    CHECK_INT(live_sweep_find(s, VALUES("3", "128", "0.2")), s->cells);
    live_sweep_free(s);
}

/* A table of so many rows is read whenever it changes: its cells are not found by walking the list. */
TEST(cells_of_a_long_list_are_found_at_once)
{
    struct live_sweep *s = sweep_of("lr = lin:0.001:0.1:20000\n");
    size_t found = 0;
    clock_t start;

    REQUIRE(s && s->cells == 20000);
    start = clock();
    for (size_t i = 0; i < s->cells; i++)
        found += live_sweep_find(s, VALUES(s->spec.axis[0].value[i])) == i;
    CHECK_INT(found, s->cells);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    CHECK_INT(live_sweep_find(s, VALUES("1e-3")), 0);
    CHECK_INT(live_sweep_find(s, VALUES("0.00100001")), s->cells);
    CHECK_INT(live_sweep_find(s, VALUES("nan")), s->cells);
    CHECK_INT(live_sweep_find(s, VALUES("")), s->cells);
    live_sweep_free(s);
}

TEST(what_is_left_is_told_from_what_has_ended)
{
    struct live_sweep *s = sweep_of("lr = 1, 2, 3, 4\n");

    REQUIRE(s);
    CHECK(isnan(live_sweep_left_seconds(s)));
    set(s, VALUES("1"), WIRE_DONE);
    s->cell[0].seconds = 10;
    set(s, VALUES("2"), WIRE_RUNNING);
    s->cell[1].share = 0.25;
    set(s, VALUES("3"), WIRE_WAITING);
    set(s, VALUES("4"), WIRE_WAITING);
    CHECK_NEAR(live_sweep_left_seconds(s), 10 * 0.75 + 20, 1e-9);
    s->cell[3].known = false; /* nobody asked for it */
    CHECK_NEAR(live_sweep_left_seconds(s), 10 * 0.75 + 10, 1e-9);
    live_sweep_free(s);
}

TEST(too_many_cells_are_a_problem)
{
    struct live_sweep *s = sweep_of("lr = lin:0.001:0.1:20001\n");

    REQUIRE(s);
    CHECK_HAS(s->problem, "20,001 cells");
    CHECK_INT(s->cells, 0);
    live_sweep_free(s);
}
