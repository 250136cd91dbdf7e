/* When frames are drawn: at once after a rest, and never more than twenty in a second. */
#include "tests/test.h"
#include "ui/term/frame_rate.h"

#define MS 1000000ull

TEST(frames_come_at_once_after_a_rest)
{
    struct frame_rate b = {0};
    uint64_t now = 5000 * MS;

    for (int key = 0; key < 20; key++) { /* each with an answer right behind it */
        CHECK_INT(frame_rate_wait(&b, now, true), 0);
        frame_rate_drawn(&b, now);
        CHECK_INT(frame_rate_wait(&b, now + MS, true), 0);
        frame_rate_drawn(&b, now + MS);
        now += 130 * MS;
    }
}

/* The most frames of any second; how many there were: *n. */
static int most_of(bool asked, int *n)
{
    struct frame_rate b = {0};
    uint64_t at[400], now = 1000 * MS;
    int most = 0;

    for (*n = 0; now < 11000 * MS; now += MS) {
        if (now > 4000 * MS && now < 6000 * MS) /* a rest, to save frames up */
            continue;
        if (!frame_rate_wait(&b, now, asked) && *n < 400) {
            frame_rate_drawn(&b, now);
            at[(*n)++] = now;
        }
    }
    for (int i = 0; i < *n; i++) {
        int in = 0;

        for (int k = i; k < *n && at[k] < at[i] + 1000 * MS; k++)
            in++;
        most = in > most ? in : most;
    }
    return most;
}

TEST(no_second_has_more_than_twenty)
{
    int n;

    CHECK(most_of(true, &n) <= FRAME_RATE_FRAMES);
    CHECK(n > 100); /* and it is no slide show */
}

TEST(what_moves_by_itself_takes_fewer)
{
    struct frame_rate b = {0};
    int n;

    CHECK_INT(most_of(false, &n), FRAME_RATE_UNASKED);
    CHECK(n > 50);
    CHECK_INT(frame_rate_wait(&b, MS, false), 0); /* the first one at once */
    frame_rate_drawn(&b, MS);
    CHECK(frame_rate_wait(&b, 2 * MS, false) > 100 * MS);
    CHECK_INT(frame_rate_wait(&b, 2 * MS, true), 0); /* and what answers a key */
}
