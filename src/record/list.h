/* record/list.h: the runs of a results folder. */
#ifndef CHORUS_RECORD_LIST_H
#define CHORUS_RECORD_LIST_H

#include "record/run/reader.h"

/* All runs of a results folder, oldest first. An empty or missing folder is an empty list. */
enum err_code record_list(const char *results, struct record_entry **out, size_t *count,
                          struct err *e) MUST_USE;

/* The name of the newest run of this cell that is done; false where there is none. Only runs whose
 * file holds the cell's text are read as runs: this is asked at every start. */
bool record_find_done(const char *results, const char *cell, char *name, size_t room);

#endif
