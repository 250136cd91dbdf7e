/* The order that the user moved a sweep's cells to. */
#include "engine/sweep/sweep_int.h"

#include "base/mem.h"
#include "record/sweep/order.h"
#include "tests/unit/engine/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The cells of order.csv, one letter each. */
static void read_order(const struct kit *k, char out[16])
{
    struct record_place *place = NULL;
    struct err e;
    size_t n = 0;

    REQUIRE_OK(record_order_read(k->results, "grid", &place, &n, &e));
    for (size_t i = 0; i < n && i < 15; i++)
        out[i] = place[i].cell[0];
    out[n] = '\0';
    free(place);
}

/* Of a resumed sweep only the first cells are found yet when one of them is moved again. */
TEST(a_move_while_cells_are_counted_keeps_the_places_of_those_to_come)
{
    static const struct record_place earlier[] = {
        {4, "e", true}, {1, "b", true}, {3, "d", true}, {0, "a", true}, {2, "c", true}};
    struct cell cell[] = {{.number = 0, .hash = "a", .place = 1},
                          {.number = 1, .hash = "b", .place = 0},
                          {.number = 5, .hash = "f", .place = 2}};
    struct kit k;
    struct engine *engine = mem_new(1, sizeof *engine);
    struct sweep *s = mem_new(1, sizeof *s);
    struct err e;
    char *folder, order[16];

    kit_folder(&k);
    folder = mem_textf("%s/sweeps/grid", k.results);
    REQUIRE_OK(io_make_folders(folder, &e));
    REQUIRE_OK(record_order_write(k.results, "grid", earlier, MEM_COUNT(earlier), &e));
    engine->results = k.results;
    s->engine = engine;
    strcpy(s->name, "grid");
    s->cell = cell;
    s->seen = MEM_COUNT(cell);
    s->status.counting = true;
    cell_order_read(s);
    CHECK_INT(s->orders, 5);
    cell[0].place = 0;
    cell[1].place = 1;
    cell_order_write(s);
    read_order(&k, order);
    CHECK_STR(order, "eadbcf");
    cell[2].place = 0; /* and again: nothing is there twice */
    cell[0].place = 2;
    cell_order_write(s);
    read_order(&k, order);
    CHECK_STR(order, "efdbca");

    s->status.counting = false;
    s->cut = true; /* the others' turn comes without --max-cells */
    cell_order_write(s);
    read_order(&k, order);
    CHECK_STR(order, "efdbca");

    s->cut = false; /* the others are no cells of this sweep any more */
    cell_order_write(s);
    read_order(&k, order);
    CHECK_STR(order, "fba");
    free(s->order);
    free(s);
    free(engine);
    free(folder);
    kit_end(&k);
}
