/* study/table_int.h: what the files that write tables share. */
#ifndef CHORUS_STUDY_TABLE_INT_H
#define CHORUS_STUDY_TABLE_INT_H

#include "study/table.h"

/* A paragraph for each of the table's notes. */
void study_table_notes(const struct study_table *t, const char *before, const char *after,
                       void (*add_words)(struct text *out, const char *words), struct text *out);

#endif
