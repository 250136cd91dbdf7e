#include "ui/term/frame_rate.h"

#define SAVED    4 /* the most frames that come at once */
#define FRAME_NS (1000000000ull / (FRAME_RATE_FRAMES - SAVED))
#define QUIET_NS (1000000000ull / FRAME_RATE_UNASKED)

uint64_t frame_rate_wait(const struct frame_rate *b, uint64_t now_ns, bool asked)
{
    uint64_t from = b->full_ns > (SAVED - 1) * FRAME_NS ? b->full_ns - (SAVED - 1) * FRAME_NS : 0;

    if (!asked && b->drawn_ns && from < b->drawn_ns + QUIET_NS)
        from = b->drawn_ns + QUIET_NS;
    return from > now_ns ? from - now_ns : 0;
}

void frame_rate_drawn(struct frame_rate *b, uint64_t now_ns)
{
    b->full_ns = (b->full_ns > now_ns ? b->full_ns : now_ns) + FRAME_NS;
    b->drawn_ns = now_ns;
}
