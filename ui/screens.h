/* ui/screens.h: the screens of the workbench, in their order. */
#ifndef CHORUS_UI_SCREENS_H
#define CHORUS_UI_SCREENS_H

#include "ui/app/app.h"

extern const struct screen *const ui_screens[SCREENS];

#endif
