/* cli/export.h: every epoch of runs as one CSV, for whoever wants it besides the verb. */
#ifndef CHORUS_CLI_EXPORT_H
#define CHORUS_CLI_EXPORT_H

#include "base/err.h"
#include "base/text.h"
#include "record/reader.h"

enum err_code export_epochs(const struct record_entry *runs, size_t count, struct text *out,
                            struct err *e) MUST_USE;

#endif
