/* ui/beat.h: when the next frame may be drawn: at most twenty in any second, but a few at once for what
 * answers a key, and eight a second of what nobody has asked for: each takes a processor from the threads
 * that train. Pure arithmetic. */
#ifndef CHORUS_UI_BEAT_H
#define CHORUS_UI_BEAT_H

#include <stdbool.h>
#include <stdint.h>

#define BEAT_FRAMES  20 /* in any second, at most */
#define BEAT_UNASKED 8  /* of a picture that moves by itself */

struct beat {
    uint64_t full_ns;  /* when all frames are saved up again */
    uint64_t drawn_ns; /* the last one */
};

/* 0: now. asked: a person has done something just now. */
uint64_t beat_wait(const struct beat *b, uint64_t now_ns, bool asked);
void beat_drawn(struct beat *b, uint64_t now_ns);

#endif
