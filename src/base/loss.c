#include "base/loss.h"

#include <math.h>
#include <stdio.h>

const char *loss_text(char out[LOSS_ROOM], double loss)
{
    double size = fabs(loss);

    if (size >= 100000 && isfinite(loss))
        snprintf(out, LOSS_ROOM, "%.2e", loss);
    else
        text_fixed(out, loss, size < LOSS_LARGE ? 4 : 1);
    return out;
}
