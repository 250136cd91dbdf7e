/* ui/app/status.h: what is at work, in words. */
#ifndef CHORUS_UI_APP_STATUS_H
#define CHORUS_UI_APP_STATUS_H

#include "live/feed.h"

/* What runs, how far it is, the best so far, the time left, in at most so many columns: what matters
 * less goes first. */
void status_add(struct feed *f, struct text *out, int columns);
/* What is busy, as a sentence: "first-a000 trains here, epoch 2 of 4." */
void status_add_busy(struct feed *f, struct text *out);
/* What cannot go on here just now but will by itself, as on a full disk: a sentence. False: nothing. */
bool status_add_trouble(const struct feed *f, struct text *out);

#endif
