/* ui/screens.c: the one place that knows every screen. */
#include "ui/screens.h"

#include "ui/app/screens.h"

const struct screen *const ui_screens[SCREENS] = {&screen_setup,   &screen_run,   &screen_results,
                                                  &screen_compare, &screen_sweep, &screen_predict,
                                                  &screen_log};
