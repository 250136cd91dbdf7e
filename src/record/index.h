/* record/index.h: RESULTS/.index: the fields of every run.csv with what tells whether they are
 * still those of the file, so that a long list of runs takes one stat a run. Never needed: it may
 * be deleted at any time, a damaged one or one of another version is passed over and replaced, and
 * where it cannot be written there is none. Several programs may read and replace it at once. */
#ifndef CHORUS_RECORD_INDEX_H
#define CHORUS_RECORD_INDEX_H

#include "base/text.h"
#include "record/run/run.h"
#include "record/stamp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_index_row {
    const char *name; /* of the folder */
    struct record_stamp stamp;
    const char *cells[RECORD_COLUMNS];
};
struct record_index {
    char *bytes;
    struct record_index_row *row; /* by name */
    size_t rows;
};

/* Empty where there is none that can be used. */
void record_index_read(struct record_index *index, const char *results);
void record_index_free(struct record_index *index);
const struct record_index_row *record_index_find(const struct record_index *index,
                                                 const char *name);
const char *record_index_cell(const struct record_index_row *row, const char *column);

/* A new one: its rows are added in the order of their names, with the cells of record_read_cells or
 * as they stand in the old one. */
void record_index_add(struct text *out, const char *name, const struct record_stamp *stamp,
                      const struct text *cells);
void record_index_keep(struct text *out, const struct record_index_row *row);
void record_index_write(const char *results, const struct text *rows, size_t count);

#define RECORD_INDEX_LEAST 64 /* fewer runs are read as fast */
/* Whether it is worth writing: rows of the new one, changed against the old one. */
bool record_index_is_old(size_t rows, size_t changed);
#endif
