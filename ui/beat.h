/* ui/beat.h: when the next frame may be drawn: at most twenty in any second, but a few at once for what
 * answers a key. Pure arithmetic. */
#ifndef CHORUS_UI_BEAT_H
#define CHORUS_UI_BEAT_H

#include <stdint.h>

#define BEAT_FRAMES 20 /* in any second, at most */

struct beat {
    uint64_t full_ns; /* when all frames are saved up again */
};

uint64_t beat_wait(const struct beat *b, uint64_t now_ns); /* 0: now */
void beat_drawn(struct beat *b, uint64_t now_ns);

#endif
