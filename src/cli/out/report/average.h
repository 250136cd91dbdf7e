/* cli/out/report/average.h: runs whose models are averaged, and the folder that keeps what came of it. */
#ifndef CHORUS_CLI_OUT_REPORT_AVERAGE_H
#define CHORUS_CLI_OUT_REPORT_AVERAGE_H

#include "cli/out/report/averaged.h"
#include "cli/out/report/predictions.h"
#include "record/run/reader.h"
#include "study/members.h"

struct average {
    const struct record_entry *run;
    size_t runs;
    struct study_answers *part; /* (runs) */
    struct averaged *models;    /* (runs): whose answers those are */
    struct study_answers all;
    struct study_members study;
};

/* Under which the average stands: the last of any of the runs. */
int64_t average_last_epoch(const struct average *a);
/* The folder of the same average, if there is one. */
bool average_find_earlier(const struct average *a, struct text *folder);
enum err_code average_write_run(const struct average *a, struct text *folder,
                                struct err *e) MUST_USE;

#endif
