/* study/tables.h: scaling and ensembles as tables, and what averaging cost and brought in words. */
#ifndef CHORUS_STUDY_TABLES_H
#define CHORUS_STUDY_TABLES_H

#include "study/members.h"
#include "study/runs.h"
#include "study/table.h"

/* study_scaling as a table. */
void study_scaling_table(const struct study_run *runs, size_t count, struct study_table *out);

/* Whose they are: their epoch, its last, and what its files say of its best one. */
void study_members_from(struct study_members *s, const struct study_run *run);
/* A row a member, their mean and the whole; then a row for each number of members. */
void study_members_table(const struct study_members *s, struct study_table *out);
void study_subsets_table(const struct study_members *s, struct study_table *out);
/* A row and a column a member: their disagreement. */
void study_pairs_table(const struct study_members *s, struct study_table *out);

struct study_unlike study_unlike(const struct record_run *average);
/* "4 times the training of one", or where they differ "the training of all 4, which differ in length". */
void study_add_cost(struct text *out, int members, struct study_unlike unlike);
/* The same in few columns: "4x the training". */
void study_add_brief_cost(struct text *out, int members, struct study_unlike unlike);
/* A difference of two shares in points of 100: "+1.17"; as an argument of one call. */
const char *study_points(char out[TEXT_NUMBER_ROOM], double difference);
#define STUDY_POINTS(difference) study_points((char[TEXT_NUMBER_ROOM]){0}, difference)
/* A gain in points, and over what: "+0.30 over the best", "0.50 below the best". */
void study_add_gain(struct text *out, double gain, const char *over);

#endif
