/* ui/term/frame_rate.h: when the next frame may be drawn: at most twenty in any second, but a few at once for what
 * answers a key, and eight a second of what nobody has asked for: each takes a processor from the threads
 * that train. Pure arithmetic. */
#ifndef CHORUS_UI_TERM_FRAME_RATE_H
#define CHORUS_UI_TERM_FRAME_RATE_H

#include <stdbool.h>
#include <stdint.h>

#define FRAME_RATE_FRAMES  20 /* in any second, at most */
#define FRAME_RATE_UNASKED 8  /* of a picture that moves by itself */

struct frame_rate {
    uint64_t full_ns;  /* when all frames are saved up again */
    uint64_t drawn_ns; /* the last one */
};

/* 0: now. asked: a person has done something just now. */
uint64_t frame_rate_wait(const struct frame_rate *b, uint64_t now_ns, bool asked);
void frame_rate_drawn(struct frame_rate *b, uint64_t now_ns);

#endif
