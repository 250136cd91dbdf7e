/* ui/app/app_hints.c: footers out of the table of keys. */
#include "ui/app/app.h"

#include <string.h>

const struct screen_key *screen_hints(struct screen_key hints[SCREEN_HINTS + 1],
                                      const struct screen_key *keys, const char *letters)
{
    int n = 0;

    for (; *letters && n < SCREEN_HINTS; letters++)
        for (const struct screen_key *k = keys; k->keys; k++)
            if (k->keys[0] == *letters && k->hint) {
                hints[n++] = *k;
                break;
            }
    hints[n] = (struct screen_key){NULL, NULL, NULL};
    return hints;
}

void screen_hint(struct screen_key *hints, const char *keys, const char *hint)
{
    for (; hints->keys; hints++)
        if (!strcmp(hints->keys, keys))
            hints->hint = hint;
}
