/* draw/ink/words.h: the characters of a text (UTF-8): one by one, one more, and a long text shortened. */
#ifndef CHORUS_DRAW_INK_WORDS_H
#define CHORUS_DRAW_INK_WORDS_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void words_code(char out[5], uint32_t code);
void words_add_code(struct text *out, uint32_t code);
/* The character at *s, which is moved behind it; of bytes that are none the first alone, as '?'. */
uint32_t words_next(const char **s);
/* The byte at which the character before the one at `at` begins, and the one behind it. */
size_t words_before(const char *s, size_t at);
size_t words_behind(const char *s, size_t at);
/* The clean text in so many columns, its middle left out where it is longer: of names both ends
 * tell. */
void words_add_cut(struct text *out, const char *s, int columns, bool ascii);
int words_width(uint32_t code); /* in columns */
/* What is read for a character where there is ASCII alone; '?': nothing is. */
char words_plain(uint32_t code);
/* A clean text in ASCII, as wide but for a "±" without a number behind a blank: "0.8 ± 0.1" as "0.8 +-0.1",
 * "± is" as "+- is". */
void words_add_plain(struct text *out, const char *s);
/* "loss, smoothed over 5 points"; without a title nothing. Both may be NULL. */
void words_add_title(struct text *out, const char *title, const char *note);

#endif
