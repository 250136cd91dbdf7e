/* cli/out/report/predictions.h: what the models of a run say of the test images: computed from a checkpoint, kept
 * in the run's folder as predictions.safetensors, read back. */
#ifndef CHORUS_CLI_OUT_REPORT_PREDICTIONS_H
#define CHORUS_CLI_OUT_REPORT_PREDICTIONS_H

#include "base/err.h"
#include "record/run/reader.h"
#include "study/answers.h"

#include <stdbool.h>

/* at: "best", "last" or an epoch's number; NULL: the last. Needs the data. */
enum err_code predictions_make(struct study_answers *p, const struct record_entry *run,
                               const char *at, struct err *e) MUST_USE;
/* Of picture files instead of the test images; their labels are all 0. */
enum err_code predictions_of_pictures(struct study_answers *p, const struct record_entry *run,
                                      const char *at, int count, char **files, bool invert,
                                      struct err *e) MUST_USE;
/* Those of the run's last epoch: the kept ones where they are of it, else made and kept. A folder that
 * cannot be written to is no error. */
enum err_code predictions_get(struct study_answers *p, const struct record_entry *run,
                              struct err *e) MUST_USE;
/* Where they are kept. The caller frees it. */
char *predictions_path(const struct record_entry *run);

#endif
