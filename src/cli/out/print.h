/* cli/out/print.h: what goes to stdout and stderr, and the terminal that shows it. */
#ifndef CHORUS_CLI_OUT_PRINT_H
#define CHORUS_CLI_OUT_PRINT_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>

/* Prints "chorus: TEXT" on stderr and returns the exit code that belongs to the error. */
int cli_fail(const struct err *e);
/* The same from a format: a bad command, exit 2. */
int cli_refuse(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* A line on stderr. A stderr that is gone is no error. What is printed, here and on stdout, goes through
 * text_add_printed: no text from a file drives a terminal. TEXT_CLEAN is for words, which stay on one
 * line, text_add_clean for texts whose width counts. */
void cli_talk(const char *fmt, ...) PRINTF_LIKE(1, 2);
void cli_talk_drawn(const struct text *t); /* keeps the colours of a drawing */
/* Writes to stdout. A stdout that is gone or full is told once on stderr; returns 0 or 1, the
 * exit code of a verb that does nothing but print. */
int cli_print(const struct text *t) MUST_USE;
int cli_print_drawn(const struct text *t) MUST_USE; /* keeps the colours of a drawing */
bool cli_print_failed(void); /* that was told: not where a reader had enough */
int cli_printf(const char *fmt, ...) PRINTF_LIKE(1, 2);

bool cli_terminal(int fd);
int cli_columns(int fd); /* width of the terminal, 80 where it does not say */
int cli_limit(int fd);   /* the same, INT_MAX where fd is no terminal: what a line may take */
/* Lines broken at blanks where they are longer; what is broken off begins after so many blanks. */
void cli_add_lines(struct text *out, const char *lines, int columns, int indent);
bool cli_colours(int fd); /* a terminal, NO_COLOR not set, TERM not dumb */
bool cli_utf8(void);      /* the locale's character set */

/* The lines of stderr that are redrawn in place. */
void live_start(void); /* locale and log; once, from main */
/* One line or several, none wider than the terminal; only where cli_terminal(2). NULL or "": takes
 * them away. */
void live_draw(const char *lines);
int live_rows(int fd); /* of the terminal, 24 where it does not say */

#endif
