/* ui/widgets/share.h: how screens write accuracies and other parts of one, all of them: as fractions, or per cent,
 * as the key % chose. The main thread alone. */
#ifndef CHORUS_UI_WIDGETS_SHARE_H
#define CHORUS_UI_WIDGETS_SHARE_H

#include "base/text.h"

#include <stdbool.h>

void share_choose(bool per_cent);
bool share_in_per_cent(void);
/* "0.8893" or "88.93": a cell below a head that ends in share_unit. */
void share_add(struct text *out, double share);
const char *share_unit(void); /* " %", or "" */
/* "0.8893" or "88.93 %": in a sentence. */
void share_tell(struct text *out, double share);

#endif
