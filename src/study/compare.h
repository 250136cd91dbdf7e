/* study/compare.h: runs beside each other as a table: what differs, then results. */
#ifndef CHORUS_STUDY_COMPARE_H
#define CHORUS_STUDY_COMPARE_H

#include "study/budget.h"
#include "study/runs.h"
#include "study/table.h"

struct study_wish {
    const char *const *columns; /* results by study_value's names; NULL: those that apply */
    const char *over;           /* "seed": runs that differ in it alone are one row; NULL: none */
    bool equal;                 /* read all at an equal budget: */
    enum study_budget budget;
    const struct study_limit *limit; /* which; NULL: what the cheapest run cost */
    double target; /* accuracy whose crossing is told; 0: the runs' own target_acc, if any */
};

/* How gains stand in the table, in a note of it: who shows them otherwise says otherwise. */
#define STUDY_AS_FRACTIONS ", as fractions: 0.01 is one point"

enum err_code study_compare(const struct study_run *runs, size_t count,
                            const struct study_wish *wish, struct study_table *out,
                            struct err *e) MUST_USE;
/* A value as it stands in the files: a number where it is one, but for words that may look like one. */
void study_table_value(struct study_table *t, const struct study_run *run, const char *name);

/* What the values of a column are, by its name. */
enum study_kind study_kind_of(const char *column);

/* "lenet-7f3a" of "2026-11-20-101530-412-lenet-7f3a". */
const char *study_short_name(const char *run);

#endif
