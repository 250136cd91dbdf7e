/* ui/widgets/line.h: a line of text that is typed: with a cursor, edited by keys. */
#ifndef CHORUS_UI_WIDGETS_LINE_H
#define CHORUS_UI_WIDGETS_LINE_H

#include "draw/grid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_MOST 8192 /* bytes that can be typed: from there on keys are dropped */

struct line_edit {
    struct text text;
    size_t at;     /* bytes in front of the cursor */
    bool selected; /* all of it: what is typed takes its place */
};

void line_free(struct line_edit *l);
void line_set(struct line_edit *l, const char *text); /* the cursor at its end */
/* A key of ui/term/key.h by its code; false: it is none for a line. *changed: the text is another. */
bool line_key(struct line_edit *l, int32_t code, bool *changed);
/* In the first row of a field, whose cursor stays in sight. */
void line_draw(const struct line_edit *l, struct grid *g, struct rect field);

#endif
