/* When frames are drawn: at once after a rest, and never more than twenty in a second. */
#include "tests/test.h"
#include "ui/beat.h"

#define MS 1000000ull

TEST(frames_come_at_once_after_a_rest)
{
    struct beat b = {0};
    uint64_t now = 5000 * MS;

    for (int key = 0; key < 20; key++) { /* each with an answer right behind it */
        CHECK_INT(beat_wait(&b, now), 0);
        beat_drawn(&b, now);
        CHECK_INT(beat_wait(&b, now + MS), 0);
        beat_drawn(&b, now + MS);
        now += 130 * MS;
    }
}

TEST(no_second_has_more_than_twenty)
{
    struct beat b = {0};
    uint64_t at[400], now = 1000 * MS;
    int n = 0, most = 0;

    for (; now < 11000 * MS; now += MS) {
        if (now > 4000 * MS && now < 6000 * MS) /* a rest, to save frames up */
            continue;
        if (!beat_wait(&b, now) && n < 400) {
            beat_drawn(&b, now);
            at[n++] = now;
        }
    }
    for (int i = 0; i < n; i++) {
        int in = 0;

        for (int k = i; k < n && at[k] < at[i] + 1000 * MS; k++)
            in++;
        most = in > most ? in : most;
    }
    CHECK(most <= BEAT_FRAMES);
    CHECK(n > 100); /* and it is no slide show */
}
