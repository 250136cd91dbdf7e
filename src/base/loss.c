#include "base/loss.h"

#include <math.h>
#include <stdio.h>

const char *loss_text(char out[LOSS_ROOM], double loss)
{
    double size = fabs(loss);

    if (!isfinite(loss))
        snprintf(out, LOSS_ROOM, "%s", isnan(loss) ? "nan" : loss > 0 ? "inf" : "-inf");
    else
        snprintf(out, LOSS_ROOM,
                 size < LOSS_LARGE ? "%.4f"
                 : size < 100000   ? "%.1f"
                                   : "%.2e",
                 loss);
    return out;
}
