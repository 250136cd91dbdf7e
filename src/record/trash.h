/* record/trash.h: the trash of a results folder. */
#ifndef CHORUS_RECORD_TRASH_H
#define CHORUS_RECORD_TRASH_H

#include "record/run/reader.h"

/* Moves a run that nobody works on to the folder trash beside it. *to: where it is now; freed by
 * the caller. */
enum err_code record_remove(const struct record_entry *entry, char **to, struct err *e) MUST_USE;

#endif
