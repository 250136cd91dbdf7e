/* What a run or a sweep does, whatever it was told before. */
#include "tests/test.h"
#include "wire/wish.h"

#define RUN   WIRE_WISH_RUN
#define PAUSE WIRE_WISH_PAUSE
#define CELLS WIRE_WISH_STOP_CELLS
#define EPOCH WIRE_WISH_STOP_EPOCH
#define STOP  WIRE_WISH_STOP
#define NOW   WIRE_WISH_STOP_NOW

/* What it stands at: what follows from each wish. */
static const struct {
    const char *state; /* for who reads a failure's line number */
    enum wire_place at;
    enum wire_deed deed[WIRE_WISHES];
} table[] = {
    {"waiting",
     WIRE_AT_BEGIN,
     {[RUN] = WIRE_GO_ON,
      [PAUSE] = WIRE_HOLD,
      [CELLS] = WIRE_END,
      [EPOCH] = WIRE_END,
      [STOP] = WIRE_END,
      [NOW] = WIRE_END}},
    {"between cells",
     WIRE_AT_BEGIN,
     {[RUN] = WIRE_GO_ON,
      [PAUSE] = WIRE_HOLD,
      [CELLS] = WIRE_END,
      [EPOCH] = WIRE_END,
      [STOP] = WIRE_END,
      [NOW] = WIRE_END}},
    {"running",
     WIRE_AT_STEP,
     {[RUN] = WIRE_GO_ON,
      [PAUSE] = WIRE_HOLD,
      [CELLS] = WIRE_GO_ON,
      [EPOCH] = WIRE_GO_ON,
      [STOP] = WIRE_END,
      [NOW] = WIRE_END_NOW}},
    {"paused",
     WIRE_AT_STEP,
     {[RUN] = WIRE_GO_ON,
      [PAUSE] = WIRE_HOLD,
      [CELLS] = WIRE_GO_ON,
      [EPOCH] = WIRE_GO_ON,
      [STOP] = WIRE_END,
      [NOW] = WIRE_END_NOW}},
    {"evaluating",
     WIRE_AT_STEP,
     {[RUN] = WIRE_GO_ON,
      [PAUSE] = WIRE_HOLD,
      [CELLS] = WIRE_GO_ON,
      [EPOCH] = WIRE_GO_ON,
      [STOP] = WIRE_END,
      [NOW] = WIRE_END_NOW}},
    {"at the end of an epoch",
     WIRE_AT_EPOCH,
     {[RUN] = WIRE_GO_ON,
      [PAUSE] = WIRE_HOLD,
      [CELLS] = WIRE_GO_ON,
      [EPOCH] = WIRE_END,
      [STOP] = WIRE_END,
      [NOW] = WIRE_END_NOW}},
    {"ending",
     WIRE_AT_END,
     {[RUN] = WIRE_END,
      [PAUSE] = WIRE_END,
      [CELLS] = WIRE_END,
      [EPOCH] = WIRE_END,
      [STOP] = WIRE_END,
      [NOW] = WIRE_END}},
};

TEST(the_last_of_two_words_says_what_is_done_until_a_stop_was_obeyed)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (int before = 0; before < WIRE_WISHES; before++)
            for (int word = 0; word < WIRE_WISHES; word++) {
                bool final = table[i].at == WIRE_AT_END;
                enum wire_wish wish = (enum wire_wish)before;

                CHECK(wire_wish_take(&wish, (enum wire_wish)word, table[i].at) != final);
                CHECK_INT(wish, final ? before : word);
                CHECK_INT(wire_wish_deed(wish, table[i].at), table[i].deed[final ? before : word]);
                /* twice is once */
                CHECK(wire_wish_take(&wish, (enum wire_wish)word, table[i].at) != final);
                CHECK_INT(wish, final ? before : word);
            }
}

TEST(what_a_sweep_is_told_its_cells_are_told_too)
{
    for (int i = 0; i < WIRE_WISHES; i++)
        CHECK_INT(wire_wish_of_cell((enum wire_wish)i), i == CELLS ? RUN : i);
}

TEST(each_wish_has_a_line_of_its_own)
{
    enum wire_wish wish = RUN;

    for (int i = 0; i < WIRE_WISHES; i++) {
        CHECK(wire_wish_find(wire_wish_line((enum wire_wish)i), &wish));
        CHECK_INT(wish, i);
        CHECK_INT(wire_wish_stops(wish), i >= CELLS);
        CHECK_INT(wire_wish_stops_later(wish), i == CELLS || i == EPOCH);
    }
    CHECK(!wire_wish_find("stop", &wish) && !wire_wish_find("", &wish));
    CHECK_INT(wish, NOW);
}
