/* base/loss.h: a loss as people read it, everywhere with the same digits. */
#ifndef CHORUS_BASE_LOSS_H
#define CHORUS_BASE_LOSS_H

#include "base/text.h"

#define LOSS_ROOM  TEXT_NUMBER_ROOM
#define LOSS_LARGE 1000 /* from here on fewer digits */
/* "0.3033"; one that has left all bounds "1234.5", "4.12e+14"; "nan", "inf", "-inf". */
const char *loss_text(char out[LOSS_ROOM], double loss);

#endif
