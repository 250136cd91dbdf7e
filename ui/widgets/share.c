#include "ui/widgets/share.h"

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
    text_add_fixed(out, in_per_cent ? 100 * share : share, in_per_cent ? 2 : 4);
}

void share_tell(struct text *out, double share)
{
    share_add(out, share);
    text_add(out, isfinite(share) ? share_unit() : "");
}
