/* ui/app/runkeys.h: keys that mean a run on whatever screen shows something of it. */
#ifndef CHORUS_UI_APP_RUNKEYS_H
#define CHORUS_UI_APP_RUNKEYS_H

#include "ui/app/app.h"

/* What R says of a run, and of a sweep, that is at work and was told nothing. */
#define RUNKEYS_AT_WORK "It is at work already."
/* An answer of K where a sweep was told to stop. */
#define RUNKEYS_SWEEP_BACK "take the stop back: the sweep goes on"

/* e loads its experiment into Setup and goes there, r runs it again; p, K and R do what they do on Run, with
 * its questions, over the screen that is shown, and Run shows what goes on with R as soon as it does. False:
 * the key is none of these. */
bool runkeys_do(struct app *app, const char *name, int32_t code);
bool runkeys_is(int32_t code);
/* What p and R are called while it is at work: p lets go on what is paused, R takes a stop back that was told. */
void runkeys_hint(struct screen_key *hints, bool paused, bool stops);
/* Goes to Run, which shows it, or to Predict. */
void runkeys_watch(struct app *app, const char *name);
void runkeys_predict(struct app *app, const char *name);
/* Of a done run that something other than its epochs ended, such as max_steps. */
void runkeys_say_over(struct app *app, const char *reason);
/* W: its weights as a file, asks for the name; M: a single model for as many epochs as it cost. False:
 * another key. */
bool runkeys_make(struct app *app, const char *name, int32_t code);

#endif
