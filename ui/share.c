#include "ui/share.h"

#include <math.h>

static bool in_per_cent; /* the main thread's */

void share_choose(bool per_cent)
{
    in_per_cent = per_cent;
}

bool share_in_per_cent(void)
{
    return in_per_cent;
}

const char *share_unit(void)
{
    return in_per_cent ? " %" : "";
}

void share_add(struct text *out, double share)
{
    share = text_without_minus_zero(share, 4);
    if (!isfinite(share))
        text_add(out, isnan(share) ? "nan" : share > 0 ? "inf" : "-inf");
    else
        text_addf(out, in_per_cent ? "%.2f" : "%.4f", in_per_cent ? 100 * share : share);
}

void share_tell(struct text *out, double share)
{
    share_add(out, share);
    text_add(out, isfinite(share) ? share_unit() : "");
}
