/* cli/out/report/predictions_print.h: what is printed of predictions for programs. */
#ifndef CHORUS_CLI_OUT_REPORT_PREDICTIONS_PRINT_H
#define CHORUS_CLI_OUT_REPORT_PREDICTIONS_PRINT_H

#include "cli/out/report/predictions.h"
#include "record/run/reader.h"
#include "study/members.h"
#include "study/table.h"

struct predict_pick {
    size_t image;
    double key; /* the least first */
};

/* A row an image: label, prediction, the mean's probabilities, the members' answers, and where they are
 * wished for their probabilities. */
void predict_rows(const struct predictions *p, const struct predict_pick *pick, size_t count,
                  bool members, struct study_table *t);
/* Labels against answers, else a row a class. */
void predict_matrix(const struct predictions *p, bool confusion, struct study_table *t);
void predict_json(const struct predictions *p, const struct record_entry *run,
                  const struct study_members *s, const char *path, const struct predict_pick *pick,
                  size_t count, struct text *out);

#endif
