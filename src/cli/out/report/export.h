/* cli/out/report/export.h: every epoch of runs as one CSV, for whoever wants it besides the verb. */
#ifndef CHORUS_CLI_OUT_REPORT_EXPORT_H
#define CHORUS_CLI_OUT_REPORT_EXPORT_H

#include "base/text.h"
#include "study/runs.h"

void export_epochs(const struct study_run *runs, size_t count, struct text *out);

#endif
