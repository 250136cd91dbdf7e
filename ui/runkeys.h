/* ui/runkeys.h: keys that mean a run on whatever screen shows something of it. */
#ifndef CHORUS_UI_RUNKEYS_H
#define CHORUS_UI_RUNKEYS_H

#include "ui/app.h"

/* e and r load its experiment into Setup; p, K and R as runkeys_press. False: the key is none of these. */
bool runkeys_do(struct app *app, const char *name, int32_t code);
bool runkeys_is(int32_t code);
/* p, K and R do what they do on Run, with its questions, over the screen that is shown; Run shows what
 * goes on with R as soon as it does. */
void runkeys_press(struct app *app, const char *name, int32_t code);
/* Of a done run that something other than its epochs ended, such as max_steps. */
void runkeys_say_over(struct app *app, const char *reason);
/* W: its weights as a file, asks for the name; M: a single model for as many epochs as it cost. False:
 * another key. */
bool runkeys_make(struct app *app, const char *name, int32_t code);

#endif
