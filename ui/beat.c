#include "ui/beat.h"

#define SAVED    4 /* the most frames that come at once */
#define FRAME_NS (1000000000ull / (BEAT_FRAMES - SAVED))

uint64_t beat_wait(const struct beat *b, uint64_t now_ns)
{
    uint64_t saved_by =
        b->full_ns > (SAVED - 1) * FRAME_NS ? b->full_ns - (SAVED - 1) * FRAME_NS : 0;

    return saved_by > now_ns ? saved_by - now_ns : 0;
}

void beat_drawn(struct beat *b, uint64_t now_ns)
{
    b->full_ns = (b->full_ns > now_ns ? b->full_ns : now_ns) + FRAME_NS;
}
