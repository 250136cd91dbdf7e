/* base/text.h: growing text, numbers as text and back (the same bytes in every locale), and text
 * that is safe to show on a terminal. */
#ifndef CHORUS_BASE_TEXT_H
#define CHORUS_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text { /* all zeros is empty; s is terminated once anything was added */
    char *s;
    size_t n, room;
};

void text_add(struct text *t, const char *s);
void text_add_n(struct text *t, const void *s, size_t n);
void text_addf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_addv(struct text *t, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));
void text_clear(struct text *t); /* keeps the memory */
void text_free(struct text *t);
const char *text_str(const struct text *t); /* "" where empty */

/* Shortest digits that read back to the same double or float; "nan", "inf", "-inf". */
#define TEXT_NUMBER_ROOM 40
const char *text_double(char out[TEXT_NUMBER_ROOM], double value);
const char *text_float(char out[TEXT_NUMBER_ROOM], float value);

/* Numbers that were computed ("0.03162277660168379"), for people: in as many digits as tell those of
 * a list apart, three at least; words, and numbers of up to six digits, are left as they are. */
int text_least_digits(const char *const *values, size_t n);
void text_add_short(struct text *t, const char *value, int digits);

/* The whole of s must be the number: no spaces, no trailing characters, '.' as the point in every
 * locale, no hexadecimal. text_to_double takes "nan", "inf", "-inf" too. */
bool text_to_double(const char *s, double *value);
bool text_to_int(const char *s, int64_t *value);
bool text_to_uint(const char *s, uint64_t *value);

/* Behind the noun: "s", but where there is one. */
static inline const char *text_s(int64_t n)
{
    return n == 1 ? "" : "s";
}
/* The value with so many digits after the point. Halves are rounded away from 0, and a value that lies
 * within a thousandth of the last digit below a half counts as one: two sums of the same accuracies,
 * or a float and its double, show the same digits. No "-0.00". */
const char *text_fixed(char out[TEXT_NUMBER_ROOM], double value, int digits);
void text_add_fixed(struct text *t, double value, int digits);
/* "60,000" */
const char *text_count(char out[TEXT_NUMBER_ROOM], uint64_t value);
/* The same as an argument of one call: it goes with the block that the call stands in. */
#define TEXT_COUNT(value) text_count((char[TEXT_NUMBER_ROOM]){0}, (uint64_t)(value))
/* "12.3 MB": powers of 1,000 */
const char *text_bytes(char out[TEXT_NUMBER_ROOM], uint64_t bytes);

/* Whether s ends in these very characters; whether a file's name has this ending, in whatever case,
 * behind at least one character. */
bool text_ends_with(const char *s, const char *end);
bool text_has_ending_any_case(const char *name, const char *ending);
/* The bytes before that end: all of s where it ends otherwise, or is nothing else. */
size_t text_stem(const char *s, const char *end);

/* Whether s is one of n words; of all in an array. */
bool text_is_among(const char *s, const char *const *words, size_t n);
#define TEXT_IS_AMONG(s, words) text_is_among(s, words, sizeof(words) / sizeof *(words))

/* Trims spaces and tabs at both ends, in place; returns the first character kept. */
char *text_trim(char *s);
/* The word of the NULL-ended list nearest to s, NULL where none is near enough to suggest. */
const char *text_nearest(const char *s, const char *const *words);

/* Appends s with everything that could drive a terminal made visible: control characters as ^X,
 * invalid UTF-8 as \xHH, direction overrides and zero-width characters as <U+202E>. */
void text_add_clean(struct text *t, const char *s);
bool text_is_clean(const char *s); /* which leaves it as it is */
/* What text_add_clean appends of s. A text that does not fit is cut at a whole character and ends in
 * "...". */
#define TEXT_CLEAN_ROOM 4096
const char *text_clean(char out[TEXT_CLEAN_ROOM], const char *s);
/* The same as an argument of one call: it goes with the block that the call stands in. */
#define TEXT_CLEAN(s) text_clean((char[TEXT_CLEAN_ROOM]){0}, s)
bool text_is_utf8(const char *s);
/* The same for n bytes that are printed: ends of lines and tabs stay, and so do bytes of other
 * character sets, because names of files may have them. colours: those of drawings stay too. A 0 byte
 * follows the n bytes. */
void text_add_printed(struct text *t, const char *s, size_t n, bool colours);
/* Columns that s (UTF-8) takes on a terminal; invalid bytes count one each. */
int text_width(const char *s);

/* The same as a part of an HTML or SVG document, also inside an attribute; of a LaTeX one. */
void text_add_html(struct text *t, const char *s);
void text_add_tex(struct text *t, const char *s);

/* Appends s as a JSON string with its quotes; what could drive a terminal is escaped. */
void text_add_json(struct text *t, const char *s);
void text_add_json_double(struct text *t, double value); /* null where not finite */

#endif
