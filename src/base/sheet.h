/* base/sheet.h: CSV, written and read: the only user of libcsv (whose names take the prefix csv_).
 * RFC 4180 but with LF; a field is quoted only where it must be; reading is strict. */
#ifndef CHORUS_BASE_SHEET_H
#define CHORUS_BASE_SHEET_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writing: fields are appended to a text, the comma put in front of all but the first of a row. */
void sheet_add_text(struct text *row, const char *field);
void sheet_add_double(struct text *row, double value);
void sheet_add_int(struct text *row, int64_t value);
void sheet_add_empty(struct text *row);
void sheet_end_row(struct text *row); /* LF */

/* Reading by row. fields[i] is terminated; line counts from 1. Returning false stops the scan,
 * which is then no error by itself. */
typedef bool sheet_row_fn(void *user, size_t line, size_t count, char **fields,
                          const size_t *lengths);
struct sheet_limits {
    size_t field_bytes, columns; /* 0: 64 KiB and 100,000 */
    bool whole_rows;             /* true: a last row without its LF is left out, not an error */
};
enum err_code sheet_scan(const char *path, const struct sheet_limits *limits, sheet_row_fn *fn,
                         void *user, struct err *e) MUST_USE;

/* A whole small file with a header row: every row must be as long as the header. A last row without
 * its LF is torn and left out. */
struct sheet {
    size_t columns, rows;
    char **names; /* (columns) */
    char **cells; /* (rows, columns) */
};
enum err_code sheet_read(const char *path, struct sheet *s, struct err *e) MUST_USE;
void sheet_free(struct sheet *s);
int sheet_column(const struct sheet *s, const char *name);             /* -1 where there is none */
const char *sheet_cell(const struct sheet *s, size_t row, int column); /* "" for column -1 */
double sheet_number(const struct sheet *s, size_t row, int column);    /* nan where not a number */
/* The same as a whole number; none where an int64_t cannot hold it. */
int64_t sheet_whole(const struct sheet *s, size_t row, int column, int64_t none);

#endif
