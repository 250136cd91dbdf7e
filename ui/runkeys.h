/* ui/runkeys.h: keys that mean a run on whatever screen shows something of it. */
#ifndef CHORUS_UI_RUNKEYS_H
#define CHORUS_UI_RUNKEYS_H

#include "ui/app.h"

/* e and r load its experiment into Setup; p, K and R do on Run what they do there, where it is shown
 * from then on. False: the key is none of these. */
bool runkeys_do(struct app *app, const char *name, int32_t code);
bool runkeys_is(int32_t code);
/* p and K do what they do on Run, with its questions, over the screen that is shown. */
void runkeys_press(struct app *app, const char *name, int32_t code);
/* W: its weights as a file, asks for the name; M: a single model for as many epochs as it cost. False:
 * another key. */
bool runkeys_make(struct app *app, const char *name, int32_t code);

#endif
