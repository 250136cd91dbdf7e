/* ui/app/screens.h: all screens there are. Each is defined in its own room, which nobody else knows. */
#ifndef CHORUS_UI_APP_SCREENS_H
#define CHORUS_UI_APP_SCREENS_H

#include "ui/app/app.h"

extern const struct screen screen_setup, screen_run, screen_results, screen_compare, screen_sweep,
    screen_predict, screen_log;

#endif
