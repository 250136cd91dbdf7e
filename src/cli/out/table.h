/* cli/out/table.h: tables and numbers for people. */
#ifndef CHORUS_CLI_OUT_TABLE_H
#define CHORUS_CLI_OUT_TABLE_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct spec;

/* Tables for people. Cells are cleaned for a terminal by cli_table_add. */
struct cli_table {
    struct text *cell; /* (rows, columns) */
    size_t columns, cells, room;
    bool *right;         /* (columns): aligned right */
    struct text dropped; /* heads that cli_table_fit took away, '|' between */
};
/* columns: "name|-accuracy|-seconds" is the head row; '-' in front: aligned right. */
void cli_table_start(struct cli_table *t, const char *columns);
void cli_table_add(struct cli_table *t, const char *cell); /* row by row */
void cli_table_addf(struct cli_table *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Makes the table at most that wide: takes columns away by their heads, in this order (ends with
 * NULL), then cuts the cells of one column (NULL: none), at the front or at the end. */
void cli_table_fit(struct cli_table *t, int columns, const char *const *drop, const char *cut,
                   bool front);
/* To at most so many columns, 3 of them for "..." where something is left out. */
void cli_cut(struct text *cell, int width, bool front);
/* The line below that names what fit left out; nothing where that is nothing. */
void cli_table_dropped(const struct cli_table *t, int columns, const char *remedy,
                       struct text *out);
int cli_table_width(const struct cli_table *t);
void cli_table_text(const struct cli_table *t, struct text *out); /* and trailing blanks cut */
void cli_table_free(struct cli_table *t);

/* Numbers for people: "0.9071", "" where it does not apply, "nan". */
void cli_add_fraction(struct text *out, double value);

/* "lenet" of whatever path. */
void cli_add_model(struct text *out, const struct spec *spec);

#endif
