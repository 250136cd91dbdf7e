/* study/compare_int.h: what the files of a comparison share. */
#ifndef CHORUS_STUDY_COMPARE_INT_H
#define CHORUS_STUDY_COMPARE_INT_H

#include "study/compare.h"

#define STUDY_CROSSINGS 4
/* Of the crossing of a target, and what of epochs.csv they hold. */
extern const char *const study_crossings[STUDY_CROSSINGS][2];

struct study_columns {
    const char **setting;
    size_t settings;
    const char *result[32];
    size_t results;
    const char *choice; /* study_choice of the runs */
    double target;      /* whose crossing is told; 0: none */
};

void study_crossing_columns(struct study_table *t, const struct study_columns *c, bool spread);
/* A row for the runs that differ in `over` alone. */
void study_compare_groups(const struct study_run *runs, size_t count, const struct study_columns *c,
                          const char *over, struct study_table *t);

#endif
