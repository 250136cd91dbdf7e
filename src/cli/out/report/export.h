/* cli/out/report/export.h: every epoch of runs as one CSV. */
#ifndef CHORUS_CLI_OUT_REPORT_EXPORT_H
#define CHORUS_CLI_OUT_REPORT_EXPORT_H

#include "base/io.h"
#include "base/text.h"
#include "record/run/params.h"
#include "record/run/reader.h"
#include "study/runs.h"

struct export_job {
    const char *file, *metric; /* which CSV; of --wide */
    bool to_file;
    struct io_draft draft;
    struct text out; /* what is not written yet */
    char **names;    /* (columns) of the file, from the first run that has it */
    size_t columns;
    size_t runs, rows;           /* that were written */
    struct record_params params; /* names alone, of all runs' models: behind the keys */
};
/* To that path ("-" or NULL: stdout); wide: a row an epoch, a column a run, of the metric. Returns the exit
 * code. */
int export_write(struct export_job *x, const char *path, const struct record_entry *runs,
                 size_t count, bool wide);
void export_free(struct export_job *x);

void export_epochs(const struct study_run *runs, size_t count, struct text *out);

#endif
