/* cli/out/report/averaged.h: the models that stand in a run, each known by what determines it, and average.csv, in
 * which the folder of an average keeps them. */
#ifndef CHORUS_CLI_OUT_REPORT_AVERAGED_H
#define CHORUS_CLI_OUT_REPORT_AVERAGED_H

#include "record/run/reader.h"

#include <stdbool.h>

struct averaged_model {
    char run[256]; /* that trained it */
    int member;    /* of it; -1: it is a single model */
    char id[17];   /* the same for models that only rounding tells apart; "": nobody knows it */
};
struct averaged {
    int models;
    struct averaged_model *model; /* (models) */
};

/* Those of a run of so many. */
void averaged_of(struct averaged *a, const struct record_entry *run, int models);
/* The file of an average; false where the folder has none. */
bool averaged_read(struct averaged *a, const char *folder);
enum err_code averaged_write(const struct averaged *a, const char *folder, struct err *e) MUST_USE;
void averaged_free(struct averaged *a);
/* Refuses weights of another time than the end for an average: it was not trained, and has no other. */
enum err_code averaged_check_at(const struct record_entry *run, const char *at,
                                struct err *e) MUST_USE;
/* The first sixteen digits of its SHA-256. */
void averaged_hash(const struct text *t, char out[17]);
/* "member 2 of RUN" */
void averaged_add_name(const struct averaged_model *model, struct text *out);

#endif
